"""Lists every dialect of litmus tests, and translates tests between dialects. It also reads tests in any of them."""

from __future__ import annotations

from collections import UserDict
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from corpus.errors import InputError
from corpus.files import read_text
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Assign, Instruction, Rmw, is_asynchronous, sides_of
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner, language, sections
from corpus.litmus.threads import Thread

_SHIPPED = {
    "aarch64": "assembly.dialect.AARCH64",
    "c": "c.C",
    "lisa": "lisa.dialect.LISA",
    "opencl": "opencl.OPENCL",
    "gpu-ptx": "gpu_ptx.dialect.GPU_PTX",
    "ppc": "assembly.dialect.PPC",
    "ptx": "dartagnan.ptx.PTX",
    "riscv": "assembly.dialect.RISCV",
    "vulkan": "dartagnan.vulkan.VULKAN",
    "x86-64": "assembly.dialect.X86_64",
}


class _Dialects(UserDict[str, Dialect]):
    """Dialects by name. One that ships is loaded when it is asked for: most commands need one."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = dict.fromkeys(_SHIPPED)

    def __getitem__(self, name: str) -> Dialect:
        if self.data[name] is None:
            module, _, constant = _SHIPPED[name].rpartition(".")
            self.data[name] = getattr(import_module(f"corpus.dialects.{module}"), constant)
        dialect: Dialect = self.data[name]
        return dialect


DIALECTS = _Dialects()
"""Every dialect by its name, as ``synth convert --to`` takes it."""

WHOLE = ("gpu-ptx", "opencl")
"""The dialects in which suites are written, those of devices: PTX has no sc accesses, OpenCL C no cache operators and
no volatile accesses. LISA has all of these, but no device does: a test of both could not be run.
"""


def dialect_of(text: str, path: str | None = None) -> Dialect:
    """Return the dialect that the first word of a test names. Raises ``InputError`` where it names none."""
    word = language(text, path)
    # The first words of those that ship are their names.
    likely = filter(None, [DIALECTS.get(word.lower().replace("_", "-"))])
    dialect = next(
        (
            dialect
            for dialect in chain(likely, DIALECTS.values())
            if word.upper() in (dialect.language.upper(), dialect.older)
        ),
        None,
    )
    if dialect is None:
        known = ", ".join(sorted(dialect.language for dialect in DIALECTS.values()))
        raise InputError(f"expected a litmus test in {known}, found {word}", path, 1, 1)
    return dialect


def parse_litmus(text: str, path: str | None = None, bell: str | None = None) -> LitmusTest:
    """Return the test that ``text`` denotes, in the dialect of its first word. LISA is read by the bell file of that
    path, if one is named. Raises ``InputError`` with line and column.
    """
    dialect = dialect_of(text, path)
    source = sections(text, path, dialect.c_comments)
    return dialect.parse(source if bell is None else replace(source, bell=bell))


def dialect_for(test: LitmusTest) -> tuple[Dialect, str]:
    """Return the first dialect of ``WHOLE`` that says all of a test, and the test's text in it.

    Raises ``InputError`` where neither does, with the reason of each. Such a test is to be left out; the work on other
    tests goes on.
    """
    reasons = []
    for dialect in map(DIALECTS.__getitem__, WHOLE):
        try:
            return dialect, printed(test, dialect)
        except InputError as error:
            reasons.append(f"{dialect.name}: {error.message}")
    raise InputError(f"no dialect of a device can say it ({'; '.join(reasons)})")


def runners() -> dict[str, tuple[Dialect, ForeignRunner]]:
    """Return every runner of litmus tests by its name, with the dialect that it takes."""
    every = ((runner.name, (dialect, runner)) for dialect in DIALECTS.values() for runner in dialect.runners)
    return dict(sorted(every))


def printed(test: LitmusTest, dialect: Dialect) -> str:
    """Return the text of the test in a dialect. Raises ``InputError`` that names what the dialect cannot say."""
    if test.synchronised and not dialect.synchronises:
        one, other = test.synchronised[0]
        raise InputError(f"P{one} synchronises with P{other} by the system, which {dialect.name} has no word for")
    if not dialect.c_comments:
        for number, thread in enumerate(test.threads):
            for ins, what in _of_c(thread):
                raise cannot_say(number, ins, f"{dialect.name} has no {what}")
    for number, ins in test.code:
        if is_asynchronous(ins):
            if not dialect.asynchronous:
                raise cannot_say(number, ins, f"{dialect.name} has no asynchronous operations and no mbarriers")
        elif isinstance(ins, Assign | Rmw) and "." in ins.operation and not dialect.opcodes:
            raise cannot_say(number, ins, f"{dialect.name} has no {ins.operation}")
    return dialect.print(test)


@lru_cache(maxsize=1 << 12)  # a suite has few threads
def _of_c(thread: Thread) -> list[tuple[Instruction, str]]:
    """The instructions that only C can say, and what they are."""
    found: list[tuple[Instruction, str]] = []
    for ins in thread.instructions:
        if sides_of(ins):
            found.append((ins, "operands that are evaluated in whichever order"))
        elif isinstance(ins, Rmw) and ins.success is not None:
            found.append((ins, "exchange that may fail for no reason"))
    return found


def translate(test: LitmusTest, dialect: Dialect) -> str:
    """Return the text of the test in a dialect, after the text was read back and found to be an equal test.

    Raises ``InputError`` that names what the dialect cannot say, or where its text would be another test.
    """
    text = printed(test, dialect)
    if litmus_digest(parse_litmus(text)) != litmus_digest(test):
        raise InputError(f"{dialect.name} would make it another test")
    return text


def read_litmus(path: Path) -> LitmusTest:
    """Return the test in a file. Raises ``InputError`` where the file cannot be read or is not a litmus test."""
    return parse_litmus(read_text(path), str(path))
