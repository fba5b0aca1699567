"""The pages as sessions: what a reader who types every command of a page has, does and sees.

A reader stands in a folder with what a checkout has, or in an empty one if the page begins with
``synth examples``. In the order of the page,

- a block whose sentence before ends in "`name`:" is written to that file;
- a block of ``console`` has commands behind ``$``, their further lines behind ``>``, and then all that they print,
  errors too; ``...`` stands for anything, in a line or in the place of several;
- an indented block that begins a line with ``synth`` has a command a line, and behind a blank line lines of what they
  print, others left out; ``..`` in a line stands for anything.

``python tests/tour.py [PAGE ..]`` walks pages and prints how many commands there are, what each page takes, the slowest
commands, and what is not run or not compared and why.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
OURS = sorted(page for page in (ROOT / "docs").rglob("*.md") if not {"adr", "results"} & {*page.parts})
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *OURS]
LINKED = ("oracle/models", "docs/results")
"""What a page may name besides the examples; no command writes there."""

_OPTIONS = re.compile(r"(?<=^synth )(--(format|memory) \S+ |--no-title )+")
"""Options of synth itself, before the name of a command."""

FIND = ("check", "compare", "compile", "diff", "infer", "map", "run", "validate")
"""Commands that exit with 1 if they find something."""

NOT_RUN = {
    r"docs/install.md: (make|pip) ": "installs software; tests/unit/test_distribution.py does",
    r"docs/install.md: synth completion --install": "writes to the home folder",
    "docs/oracle.md: synth label suite --model vendor-strong": "needs a package that is installed",
    "docs/add-a-language.md: synth check mp.toy": "needs the language of the page, with which another test runs it",
    r"docs/results.md: .* --suite published": "needs published tables",
    r"docs/scale.md: synth .* --jobs tcp:": "needs other machines",
    r"docs/scale.md: synth progress --threads 4 --instrs 6": "takes hours",
    r"docs/hardening.md: synth harden --places 8 --run '{folder}/app' -o peterson": "takes 7 minutes",
}
"""Commands that are not run, by page and a pattern of the command, and why."""

SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json"

PROGRAMS = {
    r"(^| )amber |--decode ": "amber",
    "--with dartagnan": "dartagnan",
    "(^| )herd7 |--with herd7|/herdtools7/": "herd7",
    "--platform SwiftShader": SWIFTSHADER,
    "^synth run .*--backend (cuda|hip)": "nvidia-smi",
}
"""Programs that are not of this project and are used by these commands."""

NOT_COMPARED = {
    r"^head -1 ": "one long line, which the page breaks",
    r"^synth (run|tune|harden|devices)\b|^synth infer .*--run": "tells of a device, and of chance",
    r"^synth (report|diff|score|import)\b": "tells of results of a device",
}
"""Commands that print what is not the same on every machine and every time, and why."""

SOURCES = {".cu": "cuda", ".comp": "glsl", ".hip": "hip"}
"""The back ends whose compilers read a kernel."""


class File(NamedTuple):
    """A block that the page tells to write to a file."""

    name: str
    text: str


class Step(NamedTuple):
    """Commands, and what the page shows of what they print."""

    line: int
    commands: tuple[str, ...]
    shown: str | None
    whole: bool
    """Whether all that is printed is shown, and not lines of it."""
    span: tuple[int, int]
    """Where the page shows it."""


class Ran(NamedTuple):
    """What came of a command."""

    status: int
    output: str


class Done(NamedTuple):
    """A command of a page, and what was made of it."""

    page: str
    line: int
    command: str
    seconds: float
    compared: bool
    left: str
    """Why it was not run."""


@dataclass
class Walk:
    """What came of a page: its commands, what is otherwise than it says, and the page with what was printed."""

    text: str
    done: list[Done] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


_FENCED = r"^```(?P<kind>\w*)\n(?P<fenced>.*?)^```$"
_INDENTED = r"(?<=\n\n)(?P<indented>(?: {4}[^\n]*\n)+(?:\n+(?: {4}[^\n]*\n)+)*)"
_BLOCK = re.compile(f"{_FENCED}|{_INDENTED}", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`([\w./+-]+\.\w+)`:\n+\Z")
_TYPED = re.compile(r"^\$ (?P<command>[^\n]*\n(?:> ?[^\n]*\n)*)(?P<shown>(?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)
_SHELL = re.compile(r"[|<>;&$`{}\[\]\\]")


def steps(text: str) -> Iterator[File | Step]:
    """Yield what a page tells its reader to write and to type."""
    for block in _BLOCK.finditer(text):
        fenced, start = block["fenced"], block.start()
        named = _NAMED.search(text, max(0, start - 200), start)
        body = fenced if fenced is not None else re.sub("^ {4}", "", block["indented"], flags=re.MULTILINE)
        if named:
            yield File(named[1], body)
        elif block["kind"] == "console":
            begun = block.start("fenced")
            for typed in _TYPED.finditer(fenced):
                command = re.sub(r"\n> ?", "\n", typed["command"]).rstrip("\n")
                span = begun + typed.start("shown"), begun + typed.end("shown")
                yield Step(text.count("\n", 0, begun + typed.start()) + 1, (command,), typed["shown"], True, span)
        elif fenced is None and re.search("^synth ", body, re.MULTILINE):
            yield from _typed_and_shown(body, text.count("\n", 0, start) + 1, (start, block.end()))


def _typed_and_shown(body: str, line: int, span: tuple[int, int]) -> Iterator[Step]:
    paragraphs = re.split(r"\n{2,}", body.rstrip("\n"))
    while paragraphs:
        typed, shown = paragraphs.pop(0), []
        while paragraphs and not re.search("^synth ", paragraphs[0], re.MULTILINE):
            shown.append(paragraphs.pop(0))
        commands = re.split(r"(?<!\\)\n", typed)
        yield Step(line, tuple(commands), "\n".join(shown) or None, False, span)
        line += typed.count("\n") + sum(each.count("\n") + 2 for each in shown) + 2


def otherwise(step: Step, printed: str) -> str | None:
    """What a page shows that was not printed: nothing if all of it was."""
    lines = [line.rstrip() for line in printed.splitlines()]
    if step.shown is None:
        return None
    if step.whole:
        same = doctest.OutputChecker().check_output(
            step.shown, "".join(f"{each}\n" for each in lines), doctest.ELLIPSIS
        )
        return None if same else step.shown
    rest = iter(lines)
    for line in step.shown.splitlines():
        pattern = re.compile(".*".join(map(re.escape, re.split(r"\.\.+", line.rstrip()))))
        if line.strip(" .") and not any(pattern.fullmatch(each) for each in rest):
            return line
    return None


def needs(command: str) -> set[tuple[str, bool]]:
    """The back ends whose compilers a command needs, and whether it needs devices too."""
    runs = re.match(r"synth (run|tune)\b|synth infer .*--run\b", command) is not None and "--decode" not in command
    found = {(backend, runs) for backend in re.findall(r"--backend (\w+)", command) if runs or "--check" in command}
    if command.startswith(("synth check", "synth fix")):
        found |= {(backend, False) for suffix, backend in SOURCES.items() if re.search(rf"\{suffix}\b", command)}
    return found | ({("cpp", True)} if re.search(r"\bg\+\+ ", command) else set())


def given(text: str, folder: Path) -> None:
    """Put into a folder what the reader of a page has."""
    if not re.search(r"^(?: {4}|\$ )synth examples\b", text, re.MULTILINE):
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
        for name in LINKED:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).symlink_to(ROOT / name)


def walk(
    page: str, text: str, run: Callable[[str], Ran], folder: Path, lacks: Callable[[str], str] = lambda command: ""
) -> Walk:
    """Do what a page says in a folder."""
    walked, printed = Walk(text), list[tuple[tuple[int, int], str]]()
    for step in steps(text):
        if isinstance(step, File):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_text(step.text, encoding="utf-8")
            continue
        output, left = "", False
        stable = step.whole or not any(_reason(NOT_COMPARED, each) for each in step.commands)
        compared = step.shown is not None and stable
        for command in step.commands:
            reason = _reason(NOT_RUN, f"{page}: {command}") or _program(command) or lacks(command)
            begun = time.monotonic()
            if not reason:
                ran = run(command)
                output += ran.output
                if not _right(command, ran, step.shown):
                    walked.wrong.append(f"{page}:{step.line}: {command}: exit code {ran.status}\n{ran.output[-1500:]}")
            left = left or (bool(reason) and command.startswith("synth"))
            took = time.monotonic() - begun
            walked.done.append(Done(page, step.line, command, took, compared and not left, reason))
        differs = otherwise(step, output) if compared and not left else None
        if differs is not None:
            walked.wrong.append(f"{page}:{step.line}: {command}: is not printed:\n{differs}\n-- but\n{output[-4000:]}")
            printed.append((step.span, "".join(f"{line.rstrip()}\n" for line in output.splitlines())))
    for (start, end), said in reversed(printed):
        walked.text = walked.text[:start] + said + walked.text[end:]
    return walked


def _reason(table: dict[str, str], command: str) -> str:
    plain = _OPTIONS.sub("", command)
    return next((reason for pattern, reason in table.items() if re.search(pattern, plain)), "")


def _program(command: str) -> str:
    """What a command needs that is not on the PATH."""
    program = _reason(PROGRAMS, command)
    return f"needs {program}" if program and not (shutil.which(program) or Path(program).exists()) else ""


def _right(command: str, ran: Ran, shown: str | None) -> bool:
    """Whether the exit code is the one to expect, which is 2 where the page shows an error."""
    found = _OPTIONS.sub("", command).startswith(tuple(f"synth {name} " for name in FIND))
    return "Traceback" not in ran.output and (
        ran.status == 0 or (ran.status == 1 and found) or (ran.status == 2 and (shown or "").startswith("synth: "))
    )


def shell(folder: Path, programs: Path) -> Callable[[str], Ran]:
    """What runs commands in a folder: those of synth in this process, for that is quicker, and all others in a shell
    for which ``programs`` is to have a synth.
    """
    program = programs / "synth"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m synth "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
    env = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT)}

    exported: dict[str, str] = {}

    def run(command: str) -> Ran:
        if variable := re.match(r"export (\w+)=(\S+)", command):
            exported[variable[1]] = variable[2]
            return Ran(0, "")
        plain = not exported and "--memory" not in command and not _SHELL.search(re.sub(r"'[^']*'", "", command))
        if command.startswith("synth ") and plain:
            from commands import synth

            words = shlex.split(command, comments=True)[1:]
            with contextlib.chdir(folder):
                result = synth(*(part for word in words for part in (sorted(glob(word)) if "*" in word else [word])))
            return Ran(result.exit_code, result.output)
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=folder,
            env=env | exported,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Ran(done.returncode, done.stdout)

    return run


def _processor() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


def main() -> None:
    """Walk pages, and print what they take."""
    done: list[Done] = []
    pages = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
    print(f"{'page':30}{'commands':>9}{'run':>5}{'compared':>9}{'clock':>7}{'CPU':>6}")
    for page in pages:
        name, text = page.relative_to(ROOT).as_posix(), page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
            given(text, Path(folder))
            begun = _processor()
            walked = walk(name, text, shell(Path(folder), Path(programs)), Path(folder))
        if walked.done:
            run = sum(not each.left for each in walked.done)
            figures = len(walked.done), run, sum(each.compared for each in walked.done)
            seconds = sum(each.seconds for each in walked.done), _processor() - begun
            print("{:30}{:9}{:5}{:9}{:7.0f}{:6.0f}".format(name, *figures, *seconds), flush=True)
        for wrong in walked.wrong:
            print(f"  {wrong}")
        done += walked.done
    run, compared = sum(not each.left for each in done), sum(each.compared for each in done)
    print(f"\n{len(done)} commands, {run} run, {compared} compared")
    print("\nThe slowest, in seconds:")
    for each in sorted(done, key=lambda each: -each.seconds)[:10]:
        print(f"{each.seconds:6.1f}  {each.page}:{each.line}: {each.command}")
    print(f"\nNot run: {sum(bool(each.left) for each in done)}")
    for each in done:
        if each.left:
            print(f"  {each.page}:{each.line}: {each.command}: {each.left}")


if __name__ == "__main__":
    main()
