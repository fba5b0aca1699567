"""Reads the machine code of a CUDA memory test as a litmus test: its accesses, orders, scopes and dependencies.

The kernel ``run`` of a file of ``backends.cuda.memory`` is followed for each thread of the test, from its first
instruction on, with the ids that the launch gives that thread in one instance. So what does not depend on shared memory
is known: where the thread goes, and the addresses of its accesses, which are those of the launch. What happens in the
functions ``thread_N_K`` is the thread: accesses, fences, what is computed from what was read, and branches on it. What
the kernel stores to ``results`` are the final values of registers, and its barriers are those of the test. Nothing is
taken from the code of the test: an access that is swapped, dropped, merged or weaker makes another program.

Example, of sm_90, where R2 is known to be the address of x, and R6 that of the first final value::

    LDG.E.STRONG.GPU R7, desc[UR4][R2.64]     ld.relaxed.gpu R7, x
    CCTL.IVALL                                fence.acquire.sys
    LOP3.LUT R7, R7, 0x1, RZ, 0xc0, !PT       and R7, R7, 1
    RET.REL.NODEC R8 `(run)
    STG.E desc[UR4][R6.64], R7                mov r1, R7

What the instructions mean is said in ``corpus.code.sass.table`` and, of those that compute, in
``corpus.code.sass.computing``. The marks of accesses, which ``backends.cuda.optcheck`` needs, are zeros here.

Where an instruction depends on what was read, as a store with a guard, both ways are followed, and a labelled place of
the code once for each state of what is known there (``corpus.code.follower`` does so with kernels).

Assumed: of an address in global memory, the upper half is right; a lane votes alone. Gaps, which are errors in one
line: asynchronous operations and mbarriers, shared memory of another CTA (generic accesses), accesses of other sizes
than a word, final values of shared memory that the code has not read itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from corpus.code.passes.tidying import tidied
from corpus.code.residual import END, Residual
from corpus.code.sass.computing import row_of, sass_row, targets, wrong_operands
from corpus.code.sass.launch import CompiledLaunch
from corpus.code.sass.operands import MEMORY, NOWHERE, RESULTS, WORD, SassState, UndecidedError
from corpus.code.sass.table import FOLLOWED
from corpus.code.sass.text import SassInstruction, compute_capability, sass_functions
from corpus.code.sass.thread import OTHER_SIZES, SassThread
from corpus.code.sass.values import ALL
from corpus.errors import InputError
from corpus.litmus.instructions import (
    Assign,
    Branch,
    Comparison,
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

_FINAL = "="
"""The beginning of registers of the test while the code is followed: it sets them apart from those of the machine."""
_KERNEL = re.compile(r"_Z3run\w*|run")
_OF_MEMORY = re.compile(r"LD(?!C)|ST|AT|RED|SU|TEX|TLD|MEMBAR|FENCE|CCTL|SYNCS|UBLK|UTMA|ARRIVES|BAR|UCGABAR|QSPC")
"""The beginnings of opcodes that have to be understood in a thread."""
_OUTSIDE = "any? any? any? a R? R? any?"
"""The operands of an access of the kernel besides the test."""


def read_sass(text: str, launch: CompiledLaunch, path: str | None = None) -> LitmusTest:
    """Return what machine code does, as a test with the locations, registers and condition of the test of the launch.

    ``text`` is what ``nvdisasm -c`` prints of the file that ``backends.cuda.memory`` wrote for the launch. Raises
    ``InputError`` where something is not understood.
    """
    functions = sass_functions(text)
    kernels = [name for name in functions if _KERNEL.fullmatch(name)]
    if len(kernels) != 1:
        raise InputError(f"expected the machine code of one kernel called run, found {len(kernels)}", path)
    capability = compute_capability(text)
    if capability is None:
        raise InputError("expected the architecture of the machine code, such as .target sm_90", path)
    threads = []
    for number, thread in enumerate(launch.test.threads):
        follower = SassThread(functions, launch, number, capability, path)
        threads.append(Thread(_code_of(follower, kernels[0], path), thread.place))
    return replace(launch.test, threads=tuple(threads))


def _code_of(thread: SassThread, kernel: str, path: str | None) -> tuple[Instruction, ...]:
    """What is left of a thread that is followed through a kernel."""
    terms = [term for term in thread.launch.terms if isinstance(term, FinalRegister) and term.thread == thread.number]
    finals = frozenset(_FINAL + term.register for term in terms)
    _follow(thread, kernel)
    missing = finals - {name for ins in thread.code for name in registers_written(ins)}
    if missing:
        raise InputError(f"P{thread.number}:{min(missing)[1:]} is no final value of the machine code", path)
    tidy = tidied([Residual(ins, None) for ins in thread.code], finals, rounds=True)
    return _named(_renamed([left.instruction for left in tidy], finals))


# the way through the code


def _follow(thread: SassThread, kernel: str) -> None:
    """Follow a thread through a kernel, to its end."""
    labels: dict[object, str] = {}
    waiting = [(SassState(kernel), "L0")]
    made = steps = 0
    while waiting:
        state, name = waiting.pop()
        thread.put(Label(name))
        goes_on = True
        while goes_on:
            steps += 1
            if steps > MOST_STEPS:
                raise thread.wrong(f"more than {MOST_STEPS} instructions are followed")
            before, trial = len(thread.code), state.copy()
            try:
                goes_on = _step(thread, trial)
            except UndecidedError as undecided:  # both ways are followed, and the predicate is known on each
                del thread.code[before:]
                made += 1
                thread.put(Branch(f"F{made}", Comparison("ne", Reg(undecided.holder), 0)))
                other = state.copy()
                other.known[undecided.predicate], state.known[undecided.predicate] = 1, 0
                waiting.append((other, f"F{made}"))
                continue
            state = trial
            if goes_on and (ins := thread.next_in(state)) is not None and ins.labels:
                known = state.key in labels
                name = labels.setdefault(state.key, f"L{len(labels) + 1}")
                thread.put(Branch(name) if known else Label(name))
                goes_on = not known
            elif not goes_on:
                thread.put(Branch(END))
    thread.put(Label(END))


def _step(thread: SassThread, state: SassState) -> bool:
    """Do one instruction; return whether the thread goes on. Raises ``UndecidedError`` where the running program
    decides what it does.
    """
    ins = thread.here = thread.next_in(state)
    if ins is None:
        raise thread.wrong("the code ends without an EXIT")
    state.place += 1
    opcode, of_memory = ins.parts[0], _OF_MEMORY.match(ins.parts[0]) is not None
    if ins.guard is not None and thread.decided(state, ins.guard) == ins.unless:
        return True
    if of_memory and not state.calls and opcode not in ("LDL", "STL", "BAR"):
        _do_outside(thread, state, ins)
    elif opcode in FOLLOWED and (opcode != "BAR" or not state.calls):
        row = row_of(FOLLOWED, opcode, ins)
        if isinstance(row, str):
            raise thread.wrong(row)
        return row.meaning(thread, state, ins)
    elif of_memory:
        raise thread.wrong("is not understood")
    else:
        _compute(thread, state, ins)
    return True


def _compute(thread: SassThread, state: SassState, ins: SassInstruction) -> None:
    """What computes: nothing is known any more of what it writes, but for its results."""
    row = sass_row(ins)
    if isinstance(row, str):
        raise thread.wrong(row)
    results = row.meaning(thread.operands, state, ins) or []
    for target in targets(ins):
        state.known.pop(target, None)
    for target, value in results:
        if target not in NOWHERE:
            state.known[target] = thread.kept(target, value)


def _do_outside(thread: SassThread, state: SassState, ins: SassInstruction) -> None:
    """What the kernel does to memory besides the test: it stores results, and initial values of shared memory."""
    launch = thread.launch
    text = next((text for text in ins.operands if "[" in text and not text.startswith("c[")), None)
    address = None if ins.access is None or text is None else thread.operands.address(state, text)
    if ins.access is not None and (wrong := wrong_operands(ins, _OUTSIDE)):
        raise thread.wrong(wrong)
    if ins.access is not None and ins.access[1] != "shared":
        if not isinstance(address, int):
            raise thread.wrong("what the kernel accesses here is not understood")
        if (address - MEMORY) & ALL < WORD * launch.memory.words:
            raise thread.wrong("an access of the test is outside of the code of its thread")
        number, rest = divmod((address - RESULTS) & ALL, WORD * launch.instances)
        term = launch.terms[number] if number < len(launch.terms) else None
        if ins.access[0] == "store" and rest % WORD == 0 and isinstance(term, FinalRegister):
            if term.thread != thread.number or not OTHER_SIZES.isdisjoint(ins.parts):
                raise thread.wrong("final values of registers are not understood")
            value = thread.needed(thread.operands.value(state, ins.operands[-1]))
            thread.put(Assign(_FINAL + term.register, "mov", (value,)))
    for target in targets(ins) if ins.access is None or ins.access[0] != "store" else ():
        state.known.pop(target, None)


# the names of registers


def _renamed(code: Sequence[Instruction], final: Collection[str]) -> tuple[Instruction, ...]:
    """Return code in which a register that is read once and only moved, as at the end, has the name it is moved to.

    Only code without branches is changed, where every value has one place.
    """
    if any(isinstance(each, Branch | Label) for each in code):
        return tuple(code)
    names: dict[str, str] = {}
    made: list[Instruction] = []
    count = 0
    for ins in code:
        new = map_operands(ins, lambda each: Reg(names.get(each.name, each.name)) if isinstance(each, Reg) else each)
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
    finals = {name.removeprefix(_FINAL) for name in used if name.startswith(_FINAL)}
    names = {name: name.removeprefix(_FINAL) if name.startswith(_FINAL) else name for name in used}
    for name in sorted(used & finals):
        while names[name] in used | finals:
            names[name] += "_"

    def named(ins: Instruction) -> Instruction:
        new = map_operands(ins, lambda each: Reg(names[each.name]) if isinstance(each, Reg) else each)
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
        new = map_operands(ins, lambda each: Reg(moved.get(each.name, each.name)) if isinstance(each, Reg) else each)
        for target in registers_written(new):
            if target in moved:
                new = _with_target(new, moved[target])
        found.append(new)
    return tuple(found)
