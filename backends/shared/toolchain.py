"""Runs compilers and probes. Each call is in a process group of its own, under a time-out, and never through a
shell.

A language's back end has a ``Compiler``, which answers four questions; what it calls goes through ``run``. A *probe* is
a trivial program that is really built, and run where it can be: a tool that lists itself is not a tool that works. Of
several devices, the first is used of which the probe has nothing to say.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol, TypeVar

from backends.shared.log import as_string
from backends.shared.mapping import launch
from backends.shared.process import endable, guard, on_path
from backends.shared.renderer import Renderer
from corpus.awaited import awaiting
from corpus.errors import InputError
from corpus.private import private_folder
from corpus.progress.axb import Instruction, Program

_HINT = "synth devices says what to install"

TIMEOUT = 300.0
"""Seconds that one compiler may take; far more than it needs."""

PROBE = Program(((Instruction(0, 0, 1, 1),),))
"""The program that probes run: a store, and the end."""

LOOP = Program(((Instruction(0, 0, 1, 1),), (Instruction(0, 0, 0),)))
"""The program that probes run on a GPU: thread 0 writes 1, and thread 1 waits for it."""

PROBE_TIMEOUT = 30.0
"""Seconds that a probe may take, on a machine that is busy: a trivial program takes one or two."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """The result of compiling a file. ``output`` is all that the compiler wrote, empty where it had nothing to say.

    ``names`` are the paths of files by the names that the compiler knew them by (``backends.shared.handing``).
    """

    file: Path
    ok: bool
    output: str
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Probed:
    """A compiler or device that was probed, and whether it works here.

    ``name`` and ``version`` are its own words (``version`` is empty where it is not there), ``purpose`` says what it is
    for; ``problem`` says in one line why it cannot be used and is empty where it can; ``install`` says what brings it.
    """

    name: str
    version: str
    purpose: str
    problem: str
    install: str

    @property
    def usable(self) -> bool:
        """A compiler or device is usable where the probe came to its end."""
        return not self.problem


class Compiler(Protocol):
    """The compiler of a language, which says what it lacks, compiles files and probes itself."""

    def missing(self) -> list[str]:
        """Return what this machine lacks to compile the language's files, each with the way to get it; empty if
        nothing.
        """

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a file that the back end wrote; ``binary`` keeps the program, if there is one.

        ``timeout`` is in seconds. Raises ``FileNotFoundError`` where a compiler is missing.
        """

    def probe(self) -> list[Probed]:
        """Return every compiler and device of the language, those that could be had too, each tried out here."""


def run(
    file: Path,
    command: Sequence[str | Path],
    folder: Path | None = None,
    timeout: float = TIMEOUT,
    environment: Mapping[str, str] | None = None,
    title: str | None = None,
) -> Compilation:
    """Run a compiler on a file, with ``environment`` added to ours; nothing that it started outlives the time-out.

    It works in ``folder``, or in a private one. ``title`` calls it by another name than its program's.

    Raises ``FileNotFoundError`` where the command is not there.
    """
    tool = title or Path(command[0]).name
    program = on_path(str(command[0]))
    if program is None:
        raise FileNotFoundError(f"no {tool}")
    with (
        private_folder("tool") as scratch,  # what a compiler that is killed leaves goes with it
        awaiting(f"{tool} {file.name}".strip()),
    ):
        within = os.path.abspath(folder or scratch)
        process = subprocess.Popen(
            [*guard(), os.path.abspath(program), *command[1:]],
            cwd=within,
            env={**os.environ, "PWD": within, "TMPDIR": str(scratch), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        with process, endable(process):
            try:
                printed, complained = process.communicate(timeout=timeout)
            except BaseException as error:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                return Compilation(file, False, f"{tool} took more than {timeout:g} seconds")
    output = (printed + complained).strip()
    if process.returncode < 0:
        output = f"{output}\n{tool} was ended by signal {-process.returncode}".strip()
    return Compilation(file, process.returncode == 0, output)


def version(command: Sequence[str | Path], pattern: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what the first group of ``pattern`` finds in a tool's words on its version, or "" where it finds
    nothing.
    """
    try:
        found = re.search(pattern, run(Path(), command, timeout=PROBE_TIMEOUT, environment=environment).output)
    except OSError:
        return ""
    return found[1] if found else ""


def which(*names: str) -> Path | None:
    """Return the first of these programs that is on PATH (``on_path``)."""
    return next((Path(found) for name in names if (found := on_path(name))), None)


def installed(package: str, name: str) -> Path | None:
    """Return a file that a Python package brought into this environment, whose path ends in ``name``; ``None`` where
    there is none.
    """
    try:
        files = metadata.files(package) or ()
    except metadata.PackageNotFoundError:
        return None
    return next((found for file in files if file.match(name) and (found := Path(file.locate())).is_file()), None)


def tried_on(compiler: Compiler, renderer: type[Renderer], suffix: str, environment: Mapping[str, str]) -> str:
    """Build a progress test whose loop ends and run it in an environment that shows one GPU; return why that GPU cannot
    be used, in one line, or "" where it works.
    """
    if lacking := compiler.missing():
        return f"no {lacking[0]}"
    with private_folder("probe") as folder:
        file, binary = Path(folder, f"probe{suffix}"), Path(folder, "program")
        file.write_text(renderer.render("probe", launch(LOOP)) + as_string("{}"), encoding="utf-8")
        done = compiler.compile(file, binary, timeout=PROBE_TIMEOUT)
        if done.ok:
            done = run(file, [binary, "1"], None, PROBE_TIMEOUT, environment, "a trivial program")
    return "" if done.ok else problem(done.output) or "a trivial program failed"


def problem(output: str) -> str:
    """Return the line of a compiler's complaint that says most: the first with "error:", else the last."""
    lines = [" ".join(line.split()) for line in output.splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"\berror:", line, re.IGNORECASE)), lines[-1] if lines else "")


def tried(compiler: Compiler, renderer: type[Renderer], suffix: str, runs: bool = False, ending: str = "") -> str:
    """Compile the smallest test of a language, ``ending`` after it, and run the program if it ``runs``; return the
    problem in one line, or "" where there is none.
    """
    with private_folder("probe") as folder:
        file, binary = Path(folder, f"probe{suffix}"), Path(folder, "program")
        file.write_text(renderer.render("probe", launch(PROBE, "plain")) + ending, encoding="utf-8")
        try:
            done = compiler.compile(file, binary, timeout=PROBE_TIMEOUT)
            if done.ok and runs:
                done = run(file, [binary, "1"], timeout=PROBE_TIMEOUT)
        except OSError as error:
            return f"{error.strerror or error}"
    return "" if done.ok else problem(done.output) or "it ended with an error"


def rows_of(
    script: Path, title: str, options: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> tuple[tuple[tuple[Any, ...], ...], str]:
    """Return the rows that a script prints, as JSON after ``devices``, or what went wrong, in one line."""
    done = run(script, [sys.executable, script, *options], None, PROBE_TIMEOUT, environment, title)
    line = next((line for line in done.output.splitlines() if line.startswith("devices [")), None)
    if not done.ok or line is None:
        return (), problem(done.output) or f"{title} failed"
    return tuple(tuple(row) for row in json.loads(line.removeprefix("devices "))), ""


class Named(Protocol):
    """A device that has a name in stable words."""

    @property
    def name(self) -> str: ...  # noqa: D102


Device = TypeVar("Device", bound=Named)


def first_usable(devices: Iterable[Device], probe: Callable[[Device], str]) -> tuple[Device | None, list[str]]:
    """Return the first device of which the probe has nothing to say, and what it said of those before it, a
    line each.
    """
    failures = list[str]()
    for device in devices:
        reason = probe(device)
        if not reason:
            return device, failures
        failures.append(f"{device.name}: {reason}")
    return None, failures


def first_named(
    devices: Iterable[Device], name: str | None, probe: Callable[[Device], str], reason: str
) -> tuple[Device | None, list[str]]:
    """Return the first usable device of those whose name contains ``name``, if given, and what is wrong with those
    before it, a line each; with none before it, the ``reason`` why there is no device at all, where one is given.
    """
    device, failures = first_usable((device for device in devices if name is None or name in device.name), probe)
    return device, failures if device or failures else list(filter(None, [reason]))


def device_of(found: tuple[Device | None, list[str]], wanted: str) -> Device:
    """Return the device that was found. Raises ``InputError`` where there is none: what was wanted, and why it is not
    had.
    """
    device, failures = found
    if device is None:
        why = f" that works: {'; '.join(failures)}" if failures else ""
        raise InputError(f"no {wanted}{why} ({_HINT})")
    return device


def lacking(found: tuple[Device | None, list[str]], wanted: str) -> list[str]:
    """Return what a machine lacks, each with the way to get it: nothing where a device was found."""
    device, failures = found
    return [] if device is not None else [f"{wanted} that works ({'; '.join([*failures, _HINT])})"]
