"""The words of a launch in a comment line of a kernel are read as the command line reads its options."""

from __future__ import annotations

import click
import pytest

from synth.options.launch import launch_options
from synth.requests import LaunchWords, read_launch

LINES = (
    (),
    ("--grid", "2", "--block=32", "--arg", "n=4", "--arg=m=5", "--expect", "data[0] == 2"),
    ("--grid", "2", "--grid", "3", "--first", "a --grid 1", "--first", "b", "--cluster", "2", "--kernel", "k"),
    ("--warp", "32"),
    ("--warp", "0"),
    ("--warp", "x"),
    ("--warp", ""),
    ("--grid",),
    ("--grid", "--block"),
    ("--gird", "2"),
    ("--ker", "2"),
    ("--nothing-like-it=3",),
    ("-g", "2"),
    ("-grid=2",),
    ("-",),
    ("x", "--grid", "2", "y"),
    ("--grid", "1", "--", "--block", "2"),
    ("--grid", " "),
    ("--expect", "", "--block", ""),
    ("--arg", ""),
    ("--warp", "x", "more"),
)


def by_click(words: tuple[str, ...]) -> LaunchWords | str:
    """Return what click makes of words, or its message."""

    @launch_options()
    def launched(launch: LaunchWords) -> LaunchWords:
        return launch

    try:
        found = click.command("launch", add_help_option=False)(launched).main(list(words), standalone_mode=False)
    except click.ClickException as error:
        return error.format_message()
    assert isinstance(found, LaunchWords)
    return found


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_a_comment_line_is_read_as_the_command_line(words: tuple[str, ...]) -> None:
    try:
        found: LaunchWords | str = read_launch(words)
    except ValueError as error:
        found = str(error)
    assert found == by_click(words)
