"""The help of a command shows first what most users need, and each option once."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from synth.commands.cli import COMMANDS, main
from synth.options.form import Page

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorial").glob("*.md"))
MOST_FIRST = 7
"""Options above all others, at most."""

FEW = 5
"""Options that a command may have without sections."""


def page(name: str) -> tuple[click.Command, click.Context]:
    context = click.Context(main, info_name="synth")
    command = main.get_command(context, name)
    assert command is not None
    return command, click.Context(command, info_name=name, parent=context)


@pytest.mark.parametrize("name", COMMANDS)
def test_sections_name_options_of_the_command_and_each_option_has_one_row(name: str) -> None:
    command, context = page(name)
    options = [one for one in command.params if isinstance(one, click.Option)]
    if not isinstance(command, Page):
        assert len(options) <= FEW
        return
    spelled = {spelling for option in options for spelling in option.opts}
    named = [word for words in command.sections.values() for word in words]
    assert set(named) <= spelled and len(set(named)) == len(named)
    assert 0 < len(command.sections["Options"]) <= MOST_FIRST
    assert sum(map(len, command.rows(context).values())) == len(options) + 1  # --help


def test_the_options_of_the_tutorials_come_first() -> None:
    for tutorial in TUTORIALS:
        for line in re.sub(r"\\?\n> ?", " ", tutorial.read_text("utf-8")).splitlines():
            called = re.match(r"\$ synth (\S+)(.*)", line)
            command, _ = page(called[1]) if called else (None, None)
            if called and isinstance(command, Page):
                first = [one.opts for one in command.params if {*one.opts} & {*command.sections["Options"]}]
                for option in re.findall(r"(?<= )--?[a-z][a-z-]*", called[2]):
                    assert any(option in spellings for spellings in first), line
