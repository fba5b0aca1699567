"""The pages: every command in them runs, one after the other, and prints what the page shows (tests/tour.py).

``pytest --promote`` writes what was printed where a console of a page differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from tour import NOT_RUN, PAGES, ROOT, File, Ran, Step, given, needs, otherwise, shell, steps, walk

GPUS = ("cuda", "hip")
"""Back ends whose devices are GPUs: where there is none, only what runs on them is left out of a page."""

QUICK = ("docs/repair.md", "docs/tutorial/conformance.md", "docs/tutorial/specification.md")
"""Pages that ``make test`` walks; all others are in ``make test-rest``."""


def commands(page: Path) -> list[str]:
    """All commands of a page."""
    every = steps(page.read_text(encoding="utf-8"))
    return [command for step in every if isinstance(step, Step) for command in step.commands]


def needed(page: Path) -> set[tuple[str, bool]]:
    """The back ends that a page needs, GPUs apart."""
    every = {need for command in commands(page) for need in needs(command)}
    return {(backend, runs) for backend, runs in every if not (runs and backend in GPUS)}


def pages(names: Iterable[str]) -> pytest.MarkDecorator:
    walked = [page for page in PAGES if commands(page) and (page.relative_to(ROOT).as_posix() in names)]
    cases = [
        pytest.param(page, marks=[pytest.mark.device] * bool(needed(page)), id=page.relative_to(ROOT).as_posix())
        for page in walked
    ]
    return pytest.mark.parametrize("page", cases)


@pytest.fixture
def follow(
    need: Callable[..., None], tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], None]:
    """``follow(page)`` types all that a page says, and holds what comes of it against the page."""

    def typed(page: Path) -> None:
        for backend, runs in sorted(needed(page)):
            need(backend, runs=runs)
        text = page.read_text(encoding="utf-8")
        folder, programs = tmp_path / "here", tmp_path / "programs"
        folder.mkdir()
        programs.mkdir()
        given(text, folder)
        there = {path.name for path in ROOT.iterdir()}
        walked = walk(page.relative_to(ROOT).as_posix(), text, shell(folder, programs), folder)
        pictures = [page.parent / name for name in re.findall(r"!\[[^\]]+\]\((\S+)\)", text)]
        drawn = [(picture, folder / picture.name) for picture in pictures if (folder / picture.name).exists()]
        if request.config.getoption("--promote"):
            page.write_text(walked.text, encoding="utf-8")
            for picture, here in drawn:
                picture.write_bytes(here.read_bytes())
        assert walked.wrong == []
        assert [picture for picture, here in drawn if picture.read_bytes() != here.read_bytes()] == []
        assert not {path.name for path in folder.iterdir()} & ({path.name for path in ROOT.iterdir()} - there)

    return typed


@pages(QUICK)
def test_the_commands_of_a_quick_page(page: Path, follow: Callable[[Path], None]) -> None:
    follow(page)


@pytest.mark.timeout(1800)  # a page of thirty commands, on a machine that is busy
@pages({page.relative_to(ROOT).as_posix() for page in PAGES} - {*QUICK})
def test_the_commands_of_a_page(page: Path, follow: Callable[[Path], None]) -> None:
    follow(page)


def test_few_commands_are_not_run() -> None:
    every = [f"{page.relative_to(ROOT).as_posix()}: {command}" for page in PAGES for command in commands(page)]
    assert len(every) > 290
    left = [command for command in every if any(re.search(pattern, command) for pattern in NOT_RUN)]
    assert len(left) < len(every) / 10
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, command) for command in left)] == []


PAGE = """\
Write `a/b.cat`:

    "b"
    x

    y

```console
$ cat <<E
> a
>  b
> E
a
...
$ synth d
1 ... 3
```

Then

    synth e   # comment
    f \\
      g

    1 .. 3

    6

    synth h
"""


def test_a_page_is_read() -> None:
    file, first, second, third, fourth = steps(PAGE)
    assert file == File("a/b.cat", '"b"\nx\n\ny\n')
    assert isinstance(first, Step) and first[:4] == (9, ("cat <<E\na\n b\nE",), "a\n...\n", True)
    assert isinstance(second, Step) and second[:4] == (15, ("synth d",), "1 ... 3\n", True)
    assert isinstance(third, Step) and third[:4] == (21, ("synth e   # comment", "f \\\n  g"), "1 .. 3\n6", False)
    assert isinstance(fourth, Step) and fourth[:4] == (29, ("synth h",), None, False)


def test_what_is_not_shown_is_found(tmp_path: Path) -> None:
    said = {"cat <<E\na\n b\nE": "a \n b\n", "synth d": "1 2 3\n", "f \\\n  g": "0\n1 2 3\n5\n6\n"}

    def run(command: str) -> Ran:
        return Ran(0, said.get(command, ""))

    assert walk("p", PAGE, run, tmp_path).wrong == []
    assert (tmp_path / "a" / "b.cat").read_text(encoding="utf-8") == '"b"\nx\n\ny\n'
    said["synth d"] = "1 2\n"
    walked = walk("p", PAGE, run, tmp_path)
    assert len(walked.wrong) == 1 and walked.text == PAGE.replace("1 ... 3", "1 2")
    said["f \\\n  g"] = "6\n1 2 3\n"
    assert len(walk("p", PAGE, run, tmp_path).wrong) == 2


@pytest.mark.parametrize(
    ("command", "status", "output", "right"),
    [
        ("synth check a.cu", 1, "", True),
        ("synth label a.cu", 1, "", False),
        ("synth check a.cu", 2, "", False),
        ("synth check a.cu", 0, "Traceback (most recent call last)", False),
    ],
)
def test_exit_codes(command: str, status: int, output: str, right: bool, tmp_path: Path) -> None:
    assert (walk("p", f"\n\n    {command}\n", lambda _: Ran(status, output), tmp_path).wrong == []) == right


def test_lines_of_what_is_printed() -> None:
    step = Step(1, (), "a .. d\n..\ne", False, (0, 0))
    assert otherwise(step, "x\na b c d\ny\ne  \n") is None
    assert otherwise(step, "e\na b c d\n") == "e"


def test_a_command_in_this_process_and_in_a_shell(tmp_path: Path) -> None:
    run = shell(tmp_path, tmp_path)
    assert run("synth show no-such").status == run("synth show no-such 2>&1").status == 2
    assert run("echo a > b && cat b") == Ran(0, "a\n")


def test_what_commands_need() -> None:
    assert needs("synth compile s --backend cuda -o c") == set()
    assert needs("synth compile s --backend cuda -o c --check") == {("cuda", False)}
    assert needs("synth run s --backend opencl") == {("opencl", True)}
    assert needs("synth fix kernel.cu") == {("cuda", False)}
