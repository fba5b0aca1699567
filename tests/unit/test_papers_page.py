"""docs/papers.md: its commands are those that there are, name files that ship, and the quick ones work as typed."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from commands import parse, synth

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
HEAD = ["figure", "what it shows", "command", "seconds", "what agrees or differs"]
NO_COMMAND = "no command yet"
FINDINGS = ("compare",)
"""Commands that find something there, so that their exit code is 1."""


class Row(NamedTuple):
    """A row of a table of the page."""

    paper: str
    figure: str
    commands: list[str]
    instead: str
    """What stands where a command would, without the commands."""
    seconds: str

    @property
    def name(self) -> str:
        return f"{self.paper}, {self.figure}"

    @property
    def quick(self) -> bool:
        return bool(self.commands) and re.fullmatch(r"[01]\.\d", self.seconds) is not None


def rows() -> Iterator[Row]:
    for section in PAGE.split("\n## ")[1:]:
        paper, _, text = section.partition("\n")
        for line in re.findall(r"^\| (.*) \|$", text, re.MULTILINE):
            cells = [cell.strip() for cell in line.split("|")]
            assert len(cells) == len(HEAD), line
            figure, _, command, seconds, _ = cells
            if cells != HEAD:
                yield Row(paper, figure, re.findall("`([^`]*)`", command), re.sub("`[^`]*`,? ?", "", command), seconds)


ROWS = list(rows())
COMMANDS = sorted({command for row in ROWS for command in row.commands})


def words(command: str, folder: Path) -> list[str]:
    """The words of a command as a shell gives them in that folder, patterns of files replaced by the files."""
    found = []
    for word in shlex.split(command):
        files = sorted(folder.glob(word)) if word.startswith("examples/") else None
        assert files != [], word
        found += [word] if files is None else [file.relative_to(folder).as_posix() for file in files]
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one_of_synth_and_names_files_that_ship(command: str) -> None:
    program, name, *rest = words(command, ROOT)
    assert program == "synth"
    parse(name, *rest)
    assert all((ROOT / word).exists() for word in re.findall(r"\bexamples/[^\s{}'*]+(?=[\s']|$)", command))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_a_command_or_says_that_there_is_none(row: Row) -> None:
    if row.commands:
        assert not row.instead and re.match(r"\d|about ", row.seconds)
    elif row.instead == NO_COMMAND:
        assert not row.seconds
    else:
        (other,) = re.findall(r"^the command of (.*)$", row.instead)
        assert any(each.commands for each in ROWS if (each.paper, each.figure) == (row.paper, other))


def test_every_table_and_figure_has_a_row() -> None:
    numbers = {
        "Alglave et al. 2015": [*(f"Table {n}" for n in range(1, 7)), *(f"Fig. {n}" for n in range(1, 17))],
        "Sorensen and Donaldson 2016": [*(f"Table {n}" for n in range(1, 7)), *(f"Fig. {n}" for n in range(1, 6))],
        "Sorensen 2013": [
            *("Table 1.1", "Table 4.1", "Table 4.2", "Fig. 1.1", "Fig. 1.2", "Fig. 2.1", "Fig. 2.2"),
            *(f"Fig. 3.{n}" for n in range(1, 7)),
            *("Fig. 4.1", "Fig. 4.2"),
        ],
        "Lustig, Sahasrabuddhe and Giroux 2019": [
            *("Table 1", "Fig. 17a", "Fig. 17b"),
            *(f"Fig. {n}" for n in range(1, 17)),
        ],
        "Sorensen et al. 2021": [
            *(f"Table {n}" for n in range(1, 6)),
            *(f"Fig. {n}" for n in range(1, 13)),
            *("Listing 1", "Listing 2"),
        ],
    }
    listed = {paper: [row.figure for row in ROWS if row.paper == paper] for paper in numbers}
    listed["Sorensen and Donaldson 2016"].remove("Algorithm 1")
    assert {paper: sorted(figures) for paper, figures in listed.items()} == {
        paper: sorted(figures) for paper, figures in numbers.items()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples alone."""
    made = tmp_path_factory.mktemp("papers")
    shutil.copytree(ROOT / "examples", made / "examples")
    return made


QUICK = [row for row in ROWS if row.quick and not any(command == "synth devices" for command in row.commands)]


@pytest.mark.parametrize("row", QUICK, ids=lambda row: row.name)
def test_quick_commands_work_as_typed(row: Row, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for command in row.commands:
        _, name, *rest = words(command, folder)
        result = synth(name, *rest)
        assert result.exit_code == (name in FINDINGS), (command, result.output[-500:])


def test_no_two_rows_write_to_one_name() -> None:
    written = [name for row in ROWS for command in row.commands for name in re.findall(r"-(?:o|-svg) (\S+)", command)]
    assert len(written) > 10
    assert sorted(written) == sorted(set(written))


def test_most_rows_are_tried() -> None:
    assert len(QUICK) >= 40
