"""Reads the machine code of a CUDA memory test as a litmus test: its accesses, orders, scopes and dependencies.

The kernel ``run`` of a file of ``backends.cuda.memory`` is followed for each thread of the test, from its first
instruction on, with the ids that the launch gives that thread in one instance (``corpus.code.follower``). So what does
not depend on shared memory is known: where the thread goes, and the addresses of its accesses, which are those of the
launch. What happens in the functions ``thread_N_K`` is the thread: accesses, fences, what is computed from what was
read, and branches on it. What the kernel stores to ``results`` are the final values of registers, and its barriers are
those of the test. Nothing is taken from the code of the test: an access that is swapped, dropped, merged or weaker
makes another program.

Example, of sm_90, where R2 is known to be the address of x, and R6 that of the first final value::

    LDG.E.STRONG.GPU R7, desc[UR4][R2.64]     ld.relaxed.gpu R7, x
    CCTL.IVALL                                fence.acquire.sys
    LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT       and R7, R7, 1
    RET.REL.NODEC R8 `(run)
    STG.E desc[UR4][R6.64], R7                mov r1, R7

What the instructions mean is said in ``corpus.code.sass.table`` and, of those that compute, in
``corpus.code.sass.computing``. The marks of accesses, which ``backends.cuda.optcheck`` needs, are zeros here.

Where an instruction depends on what was read, as a store with a guard, both ways are followed, and a labelled place of
the code once for each state of what is known there.

Assumed: of an address in global memory, the upper half is right; a lane votes alone. Gaps, which are errors in one
line: asynchronous operations and mbarriers, shared memory of another CTA (generic accesses), accesses of other sizes
than a word, final values of shared memory that the code has not read itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from corpus.code import ir
from corpus.code.follower import follow
from corpus.code.functions import FunctionShape
from corpus.code.passes.tidying import tidied
from corpus.code.refusals import NotUnderstoodError
from corpus.code.sass.fences import joined_fences
from corpus.code.sass.launch import CompiledLaunch
from corpus.code.sass.operands import CONSTANTS, operand_of
from corpus.code.sass.table import END, FINAL, row_of
from corpus.code.sass.text import SassInstruction, compute_capability, sass_functions
from corpus.code.thread import ControlRules, FollowedThread, KernelLanguage, new_thread
from corpus.code.values import Value
from corpus.errors import InputError
from corpus.litmus.instructions import (
    Assign,
    Branch,
    Instruction,
    Label,
    Load,
    Rmw,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

MOST_STEPS = 100_000
"""The most machine instructions that are followed for a thread."""

_KERNEL = re.compile(r"_Z3run\w*|run")
_REGISTERS = frozenset(f"{kind}{number}" for kind in ("R", "UR", "P", "UP") for number in range(1004))
_WIDTHS = {"R<": 32, "UR<": 32, "P<": 1, "UP<": 1}
"""The registers that a machine may have, as far as they can be written, and their bits."""


def _of_nothing(thread: FollowedThread, name: str) -> Value | None:
    """Return what a register gives that keeps nothing. Raises ``NotUnderstoodError`` for others, which decide here."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise thread.out.wrong(f"{name} is not understood")


SASS = KernelLanguage(row_of, _of_nothing, "ptx", control=ControlRules(machine=True))
"""Machine code of NVIDIA's GPUs: its predicates are those of branches."""


def read_sass(text: str, launch: CompiledLaunch, path: str | None = None) -> LitmusTest:
    """Return what machine code does, as a test with the locations, registers and condition of the test of the launch.

    ``text`` is what ``nvdisasm -c`` prints of the file that ``backends.cuda.memory`` wrote for the launch. Raises
    ``InputError`` where something is not understood.
    """
    module = _module_of(text, path)
    shapes = {name: _shape_of(function) for name, function in module.functions.items()}
    threads = []
    for number, thread in enumerate(launch.test.threads):
        followed = new_thread(
            module, module.kernels[0], launch, launch.ids(number), SASS, shapes=dict(shapes), most=MOST_STEPS
        )
        try:
            code = _code_of(followed, launch, number)
        except NotUnderstoodError as error:
            raise InputError(f"P{number}: {error.message}", path, error.line) from None
        threads.append(Thread(code, thread.place))
    return replace(launch.test, threads=tuple(threads))


def _code_of(thread: FollowedThread, launch: CompiledLaunch, number: int) -> tuple[Instruction, ...]:
    """Return what is left of a thread that is followed."""
    terms = [term for term in launch.terms if isinstance(term, FinalRegister) and term.thread == number]
    finals = frozenset(FINAL + term.register for term in terms)
    code = joined_fences(follow(thread))
    missing = finals - {name for left in code for name in registers_written(left.instruction)}
    if missing:
        raise InputError(
            f"P{number}:{min(missing)[1:]} is no final value of the machine code", thread.module.path or None
        )
    tidy = tidied([left._replace(origin=None) for left in code], finals, rounds=True)
    return _named(_renamed([left.instruction for left in tidy], finals))


# the module


def _module_of(text: str, path: str | None) -> ir.Module:
    """Return the functions of machine code as a module. Raises ``InputError`` where they are not those of one kernel
    called run, or their architecture is not said.
    """
    functions = sass_functions(text)
    kernels = [name for name in functions if _KERNEL.fullmatch(name)]
    if len(kernels) != 1:
        raise InputError(f"expected the machine code of one kernel called run, found {len(kernels)}", path)
    capability = compute_capability(text)
    if capability is None:
        raise InputError("expected the architecture of the machine code, such as .target sm_90", path)
    made = {name: _function_of(name, code, name == kernels[0]) for name, code in functions.items()}
    return ir.Module(path or "", "", f"sm_{capability}", {}, made, "sass")


def _function_of(name: str, code: Sequence[SassInstruction], entry: bool) -> ir.KernelFunction:
    end = ir.KernelInstruction(END, (), (), None, 0)
    body = (*map(_instruction_of, code), end)
    labels = {label: place for place, ins in enumerate(code) for label in ins.labels}
    return ir.KernelFunction(name, entry, (), (), {}, (), body, labels, {})


def _instruction_of(ins: SassInstruction) -> ir.KernelInstruction:
    opcode, *parts = ins.parts
    guard = None if ins.guard is None else ir.KernelGuard(ins.guard, ins.unless)
    return ir.KernelInstruction(
        opcode, tuple(parts), tuple(map(operand_of, ins.operands)), guard, ins.line, text=str(ins)
    )


def _shape_of(function: ir.KernelFunction) -> FunctionShape:
    """Return what is known of a function of a machine: other functions may need any register."""
    places = len(function.body or ()) + 1
    return FunctionShape(frozenset(function.labels.values()), (_REGISTERS,) * places, _WIDTHS)


# the names of registers


def _renamed(code: Sequence[Instruction], final: Collection[str]) -> tuple[Instruction, ...]:
    """Return code in which a register that is read once and only moved, as at the end, has the name it is moved to.

    Only code without branches is changed, where every value has one place.
    """
    if any(isinstance(ins, Branch | Label) for ins in code):
        return tuple(code)
    names: dict[str, str] = {}
    made: list[Instruction] = []
    count = 0
    for ins in code:
        new = map_operands(
            ins, lambda operand: Reg(names.get(operand.name, operand.name)) if isinstance(operand, Reg) else operand
        )
        match new:
            case Assign(target, "mov", (Reg(source),)) if target not in final:
                names[target] = source
                continue
        for target in registers_written(new):
            if target not in final:
                names[target] = f"s{count}"
                count += 1
                new = _with_target(new, names[target])
        made.append(new)
    return _given_back(made)


def _named(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return code in which final registers have their own names, and others none of these."""
    used = {name for ins in code for name in (*registers_read(ins), *registers_written(ins))}
    finals = {name.removeprefix(FINAL) for name in used if name.startswith(FINAL)}
    names = {name: name.removeprefix(FINAL) if name.startswith(FINAL) else name for name in used}
    for name in sorted(used & finals):
        while names[name] in used | finals:
            names[name] += "_"

    def named(ins: Instruction) -> Instruction:
        new = map_operands(ins, lambda operand: Reg(names[operand.name]) if isinstance(operand, Reg) else operand)
        return _with_target(new, names[registers_written(new)[0]]) if registers_written(new) else new

    return tuple(map(named, code))


def _with_target(ins: Instruction, target: str) -> Instruction:
    assert isinstance(ins, Load | Assign | Rmw)
    return replace(ins, target=target)


def _given_back(code: Sequence[Instruction]) -> tuple[Instruction, ...]:
    """Return code of single assignments where the first final register that a value is moved to has it at once."""
    moved: dict[str, str] = {}
    for ins in code:
        match ins:
            case Assign(target, "mov", (Reg(source),)):
                moved.setdefault(source, target)
    found: list[Instruction] = []
    for ins in code:
        match ins:
            case Assign(target, "mov", (Reg(source),)) if moved[source] == target:
                continue
        new = map_operands(
            ins, lambda operand: Reg(moved.get(operand.name, operand.name)) if isinstance(operand, Reg) else operand
        )
        for target in registers_written(new):
            if target in moved:
                new = _with_target(new, moved[target])
        found.append(new)
    return tuple(found)
