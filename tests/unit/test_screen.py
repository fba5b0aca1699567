"""What a terminal gets to see: tables that fit, and names that it does not obey."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from pathlib import Path

import pytest
from commands import synth
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from synth.screen.console import Listing, plain_table, printable_lines, table_console
from synth.screen.narrow import parts_that_fit

MUTEX = Path(__file__).parents[2] / "examples" / "progress" / "mutex.axb"
STEERING = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"


def steers(text: str) -> bool:
    return not text.replace("\n", "").isprintable()


def test_tables_do_not_steer(capsys):
    table = plain_table("test", STEERING)
    table.add_row(Text(f"a{STEERING}b"), f"plain {STEERING}")
    console = table_console()
    console.print(table)
    console.print(f"line {STEERING}", markup=False, soft_wrap=True)
    out = capsys.readouterr().out
    assert not steers(out)
    assert r"a\x1b[2J" in out and r"line \x1b[2J\x1b]0;owned" in out


def test_a_table_keeps_its_own_colours(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    table_console().print(Text("H\x1b[5m", "red"))
    assert capsys.readouterr().out == "\x1b[31mH\\x1b[5m\x1b[0m\n"


def test_lines_stay_lines():
    assert printable_lines("a\n\x1b\n\n") == "a\n\\x1b\n\n"


@pytest.mark.parametrize("options", [[], ["-m", "hsa"]], ids=str)
def test_names_of_files_do_not_steer(tmp_path, options):
    name = str(tmp_path / f"{STEERING}.axb")
    shutil.copy(MUTEX, name)
    labelled = synth("label", name, *options)
    assert labelled.exit_code == 0 and "owned" in labelled.stdout and not steers(labelled.stdout)
    explained = synth("explain", name, "-m", "hsa-weak")
    assert explained.exit_code == 0 and not steers(explained.stdout)


WRONG = [["label", f"{STEERING}.axb"], ["label", "--format", STEERING, "x"], [STEERING]]


@pytest.mark.parametrize("words", WRONG, ids=repr)
def test_errors_do_not_steer(words):
    result = synth(*words)
    assert result.exit_code == 2 and "owned" in result.stderr and not steers(result.stderr)


WORDS = st.sampled_from(
    ["", "a", "MP+po", "hsa obe-weak lobe", "  two  spaces ", "é", "幅 の 字", "a\tb", "a\nb", "x" * 30]
)


@given(
    st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["T", ("?", "red")])), max_size=6),
    st.integers(30, 100),
    st.sampled_from([None, "truecolor"]),
)
def test_a_listing_is_the_table_that_rich_prints(rows, width, colours):
    def printed(listing: bool) -> str:
        file = io.StringIO()
        console = Console(file=file, width=width, color_system=colours, force_terminal=colours is not None)
        table = plain_table("test", "two words")
        table.add_column("mark\nweak", justify="center", no_wrap=True)
        if listing:
            Listing(table, lambda: iter(rows)).print_on(console)
        else:
            for row in rows:
                table.add_row(*(Text(cell) if isinstance(cell, str) else Text(*cell) for cell in row))
            for part, _ in parts_that_fit(table, console):
                console.print(part)
        return file.getvalue()

    assert printed(True) == printed(False)


@given(
    st.lists(st.lists(WORDS.filter(lambda word: "\t" not in word), min_size=4, max_size=4), max_size=4),
    st.lists(
        st.sampled_from(["sc", "thesis-strong-axiomatic", "allowed, not seen", "fair\nweak"]), min_size=4, max_size=4
    ),
    st.integers(24, 80),
    st.booleans(),
)
def test_whatever_its_width_a_table_has_all_its_words(rows, heads, width, wraps):
    """Names of rows are in each part; nothing is cut, and no line is wider than the screen."""
    table = plain_table("test")
    for head in heads:
        table.add_column(head, no_wrap=not wraps)
    for number, row in enumerate(rows):
        table.add_row(f"name{number}", *map(Text, row))
    file = io.StringIO()
    console = Console(file=file, width=width)
    parts = list(parts_that_fit(table, console))
    for part, _ in parts:
        console.print(part)
    lines = file.getvalue().splitlines()
    assert all(cell_len(line.rstrip()) <= width for line in lines)
    assert [number for _, columns in parts for number in columns[1:]] == [1, 2, 3, 4]
    assert all(sum(f"name{number}" in line for line in lines) == len(parts) for number in range(len(rows)))
    letters = Counter("".join(file.getvalue().split()))
    for word in (*heads, *(word for row in rows for word in row)):
        assert not Counter("".join(word.split())) - letters


def test_a_listing_does_not_steer(capsys):
    Listing(plain_table("test"), lambda: [(f"a{STEERING}b",)]).print_on(table_console())
    out = capsys.readouterr().out
    assert not steers(out) and r"a\x1b[2J" in out
