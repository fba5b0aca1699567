"""Writes tests of either family as JSON, for a runner that parses no litmus test. There is one object a test, with a
schema.

The object has everything that a runner needs: the threads with their places and instructions, each with its kind, the
locations, the condition, verdicts, and the test as text. With ``synth compile --json`` it has the program that was made
of it, too: the text of its kernels, the sizes of its launch and what is bound where. An example is in docs/formats.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from corpus.errors import InputError
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Fence,
    GroupOperation,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import Loc, Reg
from corpus.litmus.normal import litmus_digest
from corpus.litmus.propositions import And, Atom, FinalRegister, Not, Or
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program
from corpus.progress.text import program_of
from corpus.tagged import Coding
from corpus.test import Test

FORMAT = 1
"""Version of the format; it grows when a reader of the old one would fail."""

SCHEMA = "runner-test.schema.json"
"""The name of the file with the schema, which is in this package as well."""


@dataclass(frozen=True)
class Binding:
    """A buffer of a program: the number that it is bound to, and its size in words of 32 bits."""

    binding: int
    name: str
    words: int


@dataclass(frozen=True)
class Compiled:
    """The program that was made of a test: its language, its file with the text, and how it is launched.

    ``sizes`` are the constants of the program, such as the number of instances and of work-groups.
    """

    backend: str
    file: str
    text: str
    sizes: Mapping[str, int]
    bindings: tuple[Binding, ...] = ()


@dataclass(frozen=True)
class RunnerTest:
    """A test for a runner: ``test`` is what it does, ``text`` the same in its dialect; ``verdicts`` are by model."""

    format: int
    name: str
    digest: str
    test: LitmusTest | Program
    text: str
    verdicts: Mapping[str, str] = field(kw_only=True)
    compiled: Compiled | None = None


CODING = Coding(
    {
        Program: "axb",
        LitmusTest: "litmus",
        Load: "load",
        Store: "store",
        Rmw: "rmw",
        AsyncOperation: "asynchronous-operation",
        AsyncGroup: "asynchronous-group",
        Fence: "fence",
        Barrier: "barrier",
        GroupOperation: "group-operation",
        Assign: "assign",
        Branch: "branch",
        Label: "label",
        Reg: "register",
        Loc: "location",
        FinalRegister: "final-register",
        Atom: "comparison",
        Not: "not",
        And: "and",
        Or: "or",
    }
)


def of_progress(test: Test, compiled: Compiled | None = None) -> RunnerTest:
    """Return a progress test of a corpus as a test for a runner."""
    return RunnerTest(
        FORMAT, test.name, test.digest, program_of(test), test.text, verdicts=test.verdicts, compiled=compiled
    )


def of_litmus(
    name: str, test: LitmusTest, text: str, verdicts: Mapping[str, str], compiled: Compiled | None = None
) -> RunnerTest:
    """Return a litmus test as a test for a runner, called by the name of its file or as a corpus calls it."""
    return RunnerTest(FORMAT, name, litmus_digest(test), test, text, verdicts=verdicts, compiled=compiled)


def print_runner_test(test: RunnerTest) -> str:
    """Return the JSON text of a test for a runner, as a file has it."""
    return json.dumps(CODING.encode(test), ensure_ascii=False, indent=1) + "\n"


def parse_runner_test(text: str, path: str | None = None) -> RunnerTest:
    """Return the test that a JSON text denotes. Raises ``InputError`` with the place in it where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}", path) from None
    if isinstance(found, dict) and found.get("format") not in (None, FORMAT):
        raise InputError(f"format {found['format']}: this synth reads {FORMAT}", path)
    try:
        test: RunnerTest = CODING.decode(RunnerTest, found)
    except InputError as error:
        raise InputError(error.message.lstrip("."), path) from None
    return test


def schema() -> str:
    """Return the JSON Schema of tests for a runner, as a file has it."""
    return json.dumps(CODING.schema(RunnerTest), indent=1) + "\n"


def files(tests: Iterable[RunnerTest]) -> Iterator[tuple[str, str]]:
    """Return the name and text of a file for each test, and of the schema beside them."""
    for test in tests:
        yield f"{test.name}.json", print_runner_test(test)
    yield SCHEMA, schema()
