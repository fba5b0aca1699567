"""README.md and the pages: short, with pictures that the commands draw, and commands and options that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from commands import parse, synth
from scripts import script

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
SHOWN = re.compile(r"^(?: {4}|\$ )(synth (?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)


def drawn() -> dict[str, str]:
    return dict(script("pictures").DRAWN)


def test_the_readme_is_short_and_its_pictures_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    pictures = re.findall(r"!\[[^\]]+\]\((\S+)\)", text)
    assert {Path(picture).name for picture in pictures} == {*drawn(), "report.png"}
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)


def test_the_first_program_and_its_answer_are_what_synth_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is the test that ships, without its description; the answer is that of the command below it."""
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    (program,) = (text for kind, text in blocks if not kind)
    shipped = (ROOT / "examples" / "memory" / "mp-weak.litmus").read_text(encoding="utf-8").splitlines()
    assert [line for line in shipped if not line.startswith('"')] == program.splitlines()
    (console,) = (text for kind, text in blocks if kind == "console")
    command, _, answer = console.partition("\n")
    result = synth(*shlex.split(command)[2:])
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.stdout.splitlines()] == answer.splitlines()


def all_drawn() -> dict[str, str]:
    return {**drawn(), **script("pictures").OF_PAGES}


@pytest.mark.parametrize(("name", "command"), all_drawn().items(), ids=list(all_drawn()))
def test_pictures_are_what_the_commands_draw(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(ROOT)
    out, kept = tmp_path / name, ROOT / "docs" / "pictures" / name
    result = synth(*shlex.split(command)[1:], "--picture", out)
    assert result.exit_code == 0, result.output
    if request.config.getoption("--promote"):
        kept.write_bytes(out.read_bytes())
    assert out.read_bytes() == kept.read_bytes()


def commands(text: str) -> list[list[str]]:
    """The words of each command of synth's that a page shows, without what a shell would do with its output."""
    lines = (match.replace("\\\n", " ") for match in SHOWN.findall(text))
    return [shlex.split(re.split(r" [|>] | +#", line)[0])[1:] for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_and_options_that_a_page_shows_are_there(page: Path) -> None:
    for name, *words in commands(page.read_text(encoding="utf-8")):
        if name == "--version":
            continue
        try:
            parse(name, *words)
        except click.UsageError as error:
            pytest.fail(f"synth {name} {' '.join(words)}: {error.format_message()}")


def test_the_check_of_commands_can_fail() -> None:
    (words,) = commands("    synth label a.axb --no-such \\\n        -m sc > out  # to be seen\n")
    assert words == ["label", "a.axb", "--no-such", "-m", "sc"]
    with pytest.raises(click.NoSuchOption):
        parse(*words)
