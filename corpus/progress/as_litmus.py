"""Translates AXB programs to litmus tests and back. A progress test is then in the words of memory tests.

A thread of the program is a thread of its own CTA or workgroup, unless the program places it, for the progress of
workgroups is what is in question (Sorensen et al. 2021, section 6). Every access is relaxed and atomic at device scope,
so that all threads agree on the order of the accesses to a location. A branching instruction is a load or an exchange
into a register and a conditional jump past a ``goto`` to the AXB instruction's target. Each instruction has a label,
``LC<thread><instruction>``, and so has the end:

    LC00:
    atom.relaxed.gpu.exch r0, Mem0, 1
    bne r0, 1, LC01
    goto LC00
    LC01:

The final condition is the constant one, ``exists 0 == 0``: what is asked is whether the program ends. That is also how
Dartagnan's own ports of the published tests put it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from corpus.errors import InputError
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Branch, Comparison, Label, Load, Rmw, Store
from corpus.litmus.instructions import Instruction as LitmusInstruction
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread as LitmusThread
from corpus.progress.axb import Instruction, Program, Thread, placed
from corpus.syntax import LARGEST_LOCATION

RELAXED = Mode(Order.RELAXED, Scope.GPU)
"""The mode of every access to memory, in a language without storage classes."""

VULKAN_RELAXED = Mode(Order.RELAXED, Scope.GPU, tags=("sc0",))
"""The mode of every access to memory, in Vulkan, where each access has a storage class."""

_WHETHER_IT_ENDS = Condition(Quantifier.EXISTS, Atom("eq", 0, 0))
_RESULT = "r0"


def axb_test(program: Program, name: str, mode: Mode = RELAXED) -> LitmusTest:
    """Return the program as a litmus test whose accesses are done as ``mode`` says. Location 0 is called ``Mem0``."""
    threads = tuple(_thread(tid, thread, mode) for tid, thread in enumerate(program.threads))
    if program.places:
        threads = tuple(
            replace(thread, place=Place(*place)) for thread, place in zip(threads, program.places, strict=True)
        )
    return LitmusTest(name, threads, _locations(program.locations), _WHETHER_IT_ENDS)


@lru_cache
def _locations(number: int) -> tuple[Location, ...]:
    return tuple(Location(f"Mem{location}") for location in range(number))


@lru_cache(maxsize=1 << 12)  # the threads of a suite's programs are few and come again and again
def _thread(tid: int, thread: Thread, mode: Mode) -> LitmusThread:
    # All labels of a thread are equally long, so those of two threads never meet.
    width = len(str(len(thread)))
    labels = [f"LC{tid}{pc:0{width}}" for pc in range(len(thread) + 1)]
    body: list[LitmusInstruction] = []
    for pc, ins in enumerate(thread):
        body.append(Label(labels[pc]))
        location = Loc(f"Mem{ins.location}")
        if ins.is_store(pc):
            assert ins.exchange is not None
            body.append(Store(location, ins.exchange, mode))
            continue
        if ins.exchange is None:
            body.append(Load(_RESULT, location, mode))
        else:
            body.append(Rmw("exch", _RESULT, location, (ins.exchange,), mode))
        body += [
            Branch(labels[pc + 1], Comparison("ne", Reg(_RESULT), ins.check)),
            Branch(labels[ins.jump]),
        ]
    return LitmusThread((*body, Label(labels[-1])), Place(cta=tid))


def axb_program(test: LitmusTest) -> Program:
    """Return the program that ``axb_test`` made the test of, with either mode.

    Raises ``InputError`` that names the thread and the instruction, where there is none.
    """
    threads = tuple(_axb_thread(tid, thread.instructions) for tid, thread in enumerate(test.threads))
    try:
        program = placed(Program(threads), tuple(tuple(thread.place) for thread in test.threads))
    except ValueError as error:  # no thread, or one without an instruction
        raise InputError(f"expected an AXB program: {error}") from None
    modes = (ins.mode for ins in test.instructions if isinstance(ins, Load | Store | Rmw))
    made = axb_test(program, test.name, VULKAN_RELAXED if VULKAN_RELAXED in modes else RELAXED)
    for tid, (expected, found) in enumerate(zip(made.threads, test.threads, strict=True)):
        for ours, theirs in zip_longest(expected.instructions, found.instructions):
            if ours != theirs:
                raise _unexpected(tid, "the end" if ours is None else describe(ours), theirs)
        if expected.registers != found.registers:
            raise InputError(f"P{tid}: expected registers that start with 0")
    if (made.locations, made.condition) != (test.locations, test.condition):
        raise InputError(f"expected {len(made.locations)} locations that start with 0, and exists (0 == 0)")
    return program


def _axb_thread(tid: int, body: Sequence[LitmusInstruction]) -> Thread:
    labels = [ins.name for ins in body if isinstance(ins, Label)]
    rest = iter([ins for ins in body if not isinstance(ins, Label)])
    instructions: list[Instruction] = []
    for access in rest:
        location, exchange = _access(tid, access)
        if isinstance(access, Store):
            instructions.append(Instruction(location, 0, len(instructions) + 1, exchange))
            continue
        match (branch := next(rest, None)), (jump := next(rest, None)):
            case Branch(_, Comparison(_, _, int() as check)), Branch(label, None) if check >= 0 and label in labels:
                instructions.append(Instruction(location, check, labels.index(label), exchange))
            case Branch(_, Comparison(_, _, int() as check)), _ if check >= 0:
                raise _unexpected(tid, "goto", jump)
            case _:
                raise _unexpected(tid, "bne", branch)
    if len(labels) != len(instructions) + 1:
        raise InputError(f"P{tid}: expected a label for each of {len(instructions)} accesses and one at the end")
    return tuple(instructions)


def _access(tid: int, ins: LitmusInstruction) -> tuple[int, int | None]:
    """The location of an access and the number it stores."""
    match ins:
        case Load(address=Loc(name)):
            stored = None
        case Store(Loc(name), int() as stored) | Rmw("exch", _, Loc(name), (int() as stored,)):
            pass
        case _:
            raise _unexpected(tid, "a load, a store or an exchange of a number", ins)
    digits = name.removeprefix("Mem")
    if not (digits.isdecimal() and len(digits) <= len(str(LARGEST_LOCATION)) and int(digits) <= LARGEST_LOCATION):
        raise InputError(f"P{tid}: {describe(ins)}: expected a location from Mem0 to Mem{LARGEST_LOCATION}")
    if stored is not None and stored < 0:
        raise InputError(f"P{tid}: {describe(ins)}: expected a natural number")
    return int(digits), stored


def _unexpected(tid: int, expected: str, found: LitmusInstruction | None) -> InputError:
    return InputError(f"P{tid}: expected {expected}, found {'the end' if found is None else describe(found)}")
