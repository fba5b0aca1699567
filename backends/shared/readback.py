"""Compiled tests, and what reads them back: the code that a compiler has made of a test, as a litmus test.

A reader gets a ``CompiledTest``: the code, the test that it was compiled from, and what the harness calls the locations
and registers of the test. ``memory[1]`` may be ``y``, and ``results`` the register ``r1`` of P1. It returns what the
code does as a litmus test of the same threads, whose locations and observed registers have the names of the test, so
that outcomes of the two can be compared. What it does not understand it names: ``InputError``, in one line. Nothing is
approximated: an instruction that may access memory or order accesses is understood or named.

A reader that leaves the harness's own names in its program calls ``as_in_test``, which gives it those of the test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from backends.shared.kernel import Kernel
from backends.shared.layout import Layout
from backends.shared.toolchain import Compilation, problem
from corpus.errors import InputError
from corpus.executions.sequences import MachineStep
from corpus.litmus.instructions import Assign, GroupOperation, Instruction, Label, Load, Rmw, Store, operands_of
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.normal import map_operands, observed_registers
from corpus.litmus.orders import Order
from corpus.litmus.propositions import FinalRegister, Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread, mbarriers_of


@dataclass(frozen=True)
class CompiledTest:
    """A test as a compiler has left it.

    ``test`` is what it was compiled from; its condition, with what that observes, names all that outcomes are made of.
    ``code`` is what the compiler wrote, text or binary, and ``path`` calls it in messages. ``names``: for each name of
    memory in the code, such as ``memory[1]`` or ``out_P1_r1``, the location of the test that lies there, or the
    register whose final value is stored there. ``layout`` is that of a kernel, which says the same, and ``kernel`` a
    pattern of the kernel's name in the code.
    """

    test: LitmusTest
    code: bytes
    names: Mapping[str, Term] = field(default_factory=dict)
    path: str = ""
    layout: Layout | None = None
    kernel: str = "run|main|_Z3run.*"

    @property
    def text(self) -> str:
        """The code as text."""
        return self.code.decode("utf-8", "replace")


class NotCompiledError(InputError):
    """The error for a test that a compiler refuses, or at which it fails, in the compiler's own words."""


CodeReader = Callable[[CompiledTest], LitmusTest]
"""What reads compiled tests. Raises ``InputError`` that says in one line what was not understood."""


MachineReader = Callable[[CompiledTest], tuple[tuple[MachineStep, ...], ...]]
"""What reads the code of each thread as a program of a machine. Raises ``InputError`` that says in one line what was
not understood."""


@dataclass(frozen=True)
class CodeLanguage:
    """A language of compiled tests: its name, the model that says what its programs may do, and its reader.

    ``programs``: for code that is a program of a machine, and no litmus test. Then ``model`` is the machine's name
    (``oracle.operational.amdgpu.FAMILIES``), and ``read`` gives the test, of whose instructions the programs are made.
    """

    name: str
    model: str
    read: CodeReader
    programs: MachineReader | None = None


@dataclass(frozen=True)
class TestCompiler:
    """A real compiler of tests, whose code is read back.

    ``name`` is how tables call it, ``language`` that of its code (``backends.code_languages``), ``source`` the model of
    the tests that it compiles. ``levels`` are its levels of optimisation, each a way to call it, ``-O2``. ``missing``
    is what this machine lacks to call it, each with the way to get it.

    ``compile(test, level, folder)`` writes what it needs into ``folder``. The test that it returns is the one given, or
    what that is in the words of ``source``. It raises ``InputError`` where the language cannot say the test, and
    ``NotCompiledError`` where the compiler refuses it, in one line. ``together`` compiles many tests at once, where
    that is quicker: None stands for each that ``compile`` is to be asked about.
    """

    name: str
    language: str
    source: str
    levels: Sequence[str]
    compile: Callable[[LitmusTest, str, Path], CompiledTest]
    missing: Callable[[], list[str]]
    together: Callable[[Sequence[LitmusTest], str, Path], Sequence[CompiledTest | None]] | None = None


def compiled_by(
    kernel: Kernel,
    test: LitmusTest,
    folder: Path,
    source: str,
    suffix: str,
    code_suffix: str,
    compile_file: Callable[[Path, Path], Compilation],
) -> CompiledTest:
    """Return a kernel of a test as a compiler leaves it, which is called as ``compile_file(file, code)``.

    ``source`` is its text. Raises ``NotCompiledError`` where it is refused.
    """
    file, code = folder / f"test{suffix}", folder / f"test{code_suffix}"
    file.write_text(source, encoding="utf-8")
    code.unlink(missing_ok=True)
    done = compile_file(file, code)
    if not done.ok or not code.is_file():
        raise NotCompiledError(refusal(done, folder), test.name)
    return CompiledTest(test, code.read_bytes(), path=test.name, layout=kernel.layout)


def refusal(done: Compilation, folder: Path) -> str:
    """Return why a compiler wrote nothing, in one line that is the same each time: without addresses, and where files
    lie.
    """
    line = problem(done.output).replace(f"{folder}/", "")
    return re.sub(r"\b0x[0-9a-f]+\b", "0x..", line) or "nothing is written"


def observed(test: LitmusTest) -> LitmusTest:
    """Return a test that observes the final values of the locations that it writes besides what it asks for."""
    names = mbarriers_of(test.threads) | {location.name for location in test.locations if location.alias is not None}
    stored = {
        ins.address.name for ins in test.instructions if isinstance(ins, Store | Rmw) and isinstance(ins.address, Loc)
    }
    also = tuple(Loc(name) for name in sorted(stored - names))
    every = tuple(dict.fromkeys((*test.condition.observed, *also)))
    return replace(test, condition=replace(test.condition, observed=every))


def as_in_test(program: LitmusTest, compiled: CompiledTest) -> LitmusTest:
    """Return a program, read from code with the harness's names, with the names of the test.

    ``program`` has the threads of the test, in order. A location that stands for a register of the test must only be
    stored to, by the thread of the register; such a store becomes a move. The condition is the test's. Raises
    ``InputError`` where a location of the program has no name in the test and threads share it, or a location that
    stands for a register is used in another way.
    """
    test, names = compiled.test, compiled.names
    if len(program.threads) != len(test.threads):
        raise InputError(f"expected {len(test.threads)} threads, found {len(program.threads)}", compiled.path)
    results = {name: term for name, term in names.items() if isinstance(term, FinalRegister)}
    known = {name: term.name for name, term in names.items() if isinstance(term, Loc)}
    observed = observed_registers(test.condition) if results or compiled.layout else {}
    threads = []
    for number, thread in enumerate(program.threads):
        kept = {*observed.get(number, ())}
        fresh = (name for n in count() if (name := f"t{n}") not in {*thread.names, *kept})
        apart = {name: next(fresh) for name in sorted(thread.names & kept)}
        body = tuple(_in_test(ins, number, results, known, apart, compiled.path) for ins in thread.instructions)
        given = tuple((apart.get(name, name), value) for name, value in thread.registers)
        threads.append(Thread(body, thread.place, given))
    own = {location.name: location for location in test.locations}
    others = [location for location in program.locations if location.name not in names]
    shared = [location for location in others if sum(location.name in thread.locations for thread in threads) > 1]
    if shared or any(location.name in own for location in others):
        name = (shared or [location for location in others if location.name in own])[0].name
        raise InputError(f"threads share {name}, which is no location of the test", compiled.path)
    return LitmusTest(test.name, tuple(threads), (*test.locations, *others), test.condition)


def _in_test(
    ins: Instruction,
    thread: int,
    results: Mapping[str, FinalRegister],
    known: Mapping[str, str],
    apart: Mapping[str, str],
    path: str,
) -> Instruction:
    """Return an instruction of a thread with the names of the test, registers that have one of its names set apart."""

    def named(operand: Operand) -> Operand:
        match operand:
            case Reg(name):
                return Reg(apart.get(name, name))
            case Loc(name):
                return Loc(known.get(name, name))
        return operand

    if isinstance(ins, Store) and isinstance(ins.address, Loc) and ins.address.name in results:
        kept = results[ins.address.name]
        if kept.thread == thread and ins.mode.order is Order.WEAK and ins.guard is None:
            return Assign(kept.register, "mov", (named(ins.value),))
    for operand in operands_of(ins):
        if isinstance(operand, Loc) and operand.name in results:
            kept = results[operand.name]
            what = f"P{thread} uses the memory in which the harness keeps P{kept.thread}:{kept.register}"
            raise InputError(what, path)
    return _with_targets(map_operands(ins, named), apart)


def _with_targets(ins: Instruction, apart: Mapping[str, str]) -> Instruction:
    """Return an instruction whose written registers, and its predicate, are set apart."""
    if not apart:
        return ins
    changes: dict[str, Any] = {}
    if isinstance(ins, Load | Assign | Rmw | GroupOperation) and ins.target is not None:
        changes["target"] = apart.get(ins.target, ins.target)
    if isinstance(ins, Rmw) and ins.success is not None:
        changes["success"] = apart.get(ins.success, ins.success)
    if not isinstance(ins, Label) and ins.guard is not None and ins.guard.register in apart:
        changes["guard"] = replace(ins.guard, register=apart[ins.guard.register])
    return replace(ins, **changes) if changes else ins
