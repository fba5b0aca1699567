"""Reads the assembly of a compiled C litmus test as a litmus test in the words of the processor.

    P0:     stlr w8, [x0]   ..      P0: st.release.stlr x, 1 ..
    P1:     ldapr w8, [x8]  ..      P1: ld.acquire.ldapr r0, y ..

The test that is read has the locations, the initial values and the condition of the one that was compiled, and its
registers where the condition names them (``corpus.code.assembly.harness``). Its threads are what the functions do to
the memory that they share:

1. ``corpus.code.assembly.text`` splits the text into functions;
2. a function is followed from block to block (``corpus.code.follower``), each after all that lead to it
   (``corpus.code.assembly.joins``);
3. pairs of exclusive accesses become atomic operations, and with them the loops in which they are tried again
   (``corpus.code.assembly.exclusives``); other loops are refused;
4. computations that nobody needs are left out, and so are stores to ``results`` after which no other event comes. They
   are of one thread alone, so that nothing is ordered by them; one that is not last stays, as a store to a location of
   its own.

Nothing is approximated: what is not understood is refused with its line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from corpus.code.assembly.exclusives import drop_unread, join_exclusives
from corpus.code.assembly.functions import follow_function
from corpus.code.assembly.harness import CompiledNames, function_name
from corpus.code.assembly.language import MachineLanguage
from corpus.code.assembly.text import AssemblyCode, functions_of
from corpus.code.assembly.thread import CompiledThread, NumberRange
from corpus.code.residual import Residual
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Branch, Fence, Instruction, Label, Load, Rmw, Store, operands_of
from corpus.litmus.locations import Loc, Location, Operand, Reg
from corpus.litmus.normal import map_operands
from corpus.litmus.propositions import Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread


def read_assembly(
    language: MachineLanguage,
    text: str,
    test: LitmusTest,
    names: Mapping[str, Term],
    path: str = "",
    prefix: str = "",
) -> LitmusTest:
    """Return the test that the assembly of a compiled test is. ``names`` says what lies in the words of the two arrays,
    as ``corpus.code.assembly.harness.names_of`` does; ``prefix`` is what the names of its functions begin with.

    Raises ``InputError`` with the line of what is not understood.
    """
    try:
        return _read(language, text, test, CompiledNames.of(names), prefix)
    except InputError as error:
        raise InputError(error.message, path or None, error.line) from None


def _read(language: MachineLanguage, text: str, test: LitmusTest, names: CompiledNames, prefix: str) -> LitmusTest:
    functions = functions_of(text, language.comment)
    if not _has_negatives(test):
        found = _threads(language, functions, test, names, prefix, signless=True)
        if not _has_negatives(found):
            return found
    return _threads(language, functions, test, names, prefix, signless=False)


def _threads(
    language: MachineLanguage,
    functions: Mapping[str, AssemblyCode],
    test: LitmusTest,
    names: CompiledNames,
    prefix: str,
    signless: bool,
) -> LitmusTest:
    threads: list[Thread] = []
    kept: dict[str, None] = {}
    for index, thread in enumerate(test.threads):
        name = function_name(index, prefix)
        code = functions.get(name)
        if code is None:
            raise InputError(f"no function {name}")
        mine = _kept_in(test, names, index)
        body = _read_thread(language, name, code, names, thread, mine, signless)
        stored = {ins.address for ins in body if isinstance(ins, Store)}
        kept |= {name: None for name in mine.values() if Loc(name) in stored}
        threads.append(Thread(body, thread.place))
    locations = (*test.locations, *map(Location, kept))
    return replace(test, threads=tuple(threads), locations=locations)


def _kept_in(test: LitmusTest, names: CompiledNames, thread: int) -> Mapping[int, str]:
    """The location that stands for each word of ``results`` that is of a thread."""
    taken = {location.name for location in test.locations}
    found = {}
    for byte, term in names.results.items():
        if term.thread == thread:
            name = f"kept_{thread}_{byte}"
            while name in taken:
                name += "_"
            found[byte] = name
    return found


def _has_negatives(test: LitmusTest) -> bool:
    """Whether a value that memory holds may be less than 0: a number is, or sums may not fit into 31 bits."""
    every = [ins for thread in test.threads for ins in thread.instructions]
    changing = [ins for ins in every if not isinstance(ins, Assign | Rmw) or ins.operation != "and"]
    values = [operand for ins in changing for operand in operands_of(ins) if isinstance(operand, int)]
    values += [location.initial for location in test.locations if isinstance(location.initial, int)]
    values += [value for thread in test.threads for _, value in thread.registers if isinstance(value, int)]
    sums = [ins.operation for ins in every if isinstance(ins, Assign | Rmw)]
    longest = max((value.bit_length() for value in values), default=0) + sums.count("add")
    return bool({"sub", "mul"} & set(sums)) or longest > 31 or any(value < 0 for value in values)


def _read_thread(
    language: MachineLanguage,
    name: str,
    code: AssemblyCode,
    names: CompiledNames,
    thread: Thread,
    kept: Mapping[int, str],
    signless: bool,
) -> tuple[Instruction, ...]:
    """Return the code of one thread; ``kept`` are the locations that stand for its words of ``results``."""
    compiled = CompiledThread(names, kept, NumberRange(signless, language.signed))
    followed, joined = follow_function(language, name, code, thread.names, compiled)
    observed = {names.results[byte].register for byte in kept}
    found = join_exclusives(followed, joined, observed)
    return _renamed(_without_needless(found, observed, set(kept.values())), observed)


def _goes_on(code: Sequence[Instruction], place: int) -> bool:
    """Whether a jump leads to one of the labels right after it."""
    jump = code[place]
    if not isinstance(jump, Branch) or jump.condition is not None:
        return False
    labels = takewhile(lambda ins: isinstance(ins, Label), code[place + 1 :])
    return Label(jump.label) in labels


def _without_needless(
    code: Sequence[Residual], observed: Collection[str], private: Collection[str]
) -> list[Instruction]:
    """Return the instructions without those that nobody needs: stores to ``private`` locations after which there is no
    event, and computations.
    """
    kept, events = list[Instruction](), False
    for ins in (left.instruction for left in reversed(code)):
        if not events and isinstance(ins, Store) and ins.address in {Loc(name) for name in private}:
            continue
        events = events or isinstance(ins, Load | Store | Rmw | Fence)
        kept.append(ins)
    instructions = drop_unread(kept[::-1], observed)
    instructions = [ins for place, ins in enumerate(instructions) if not _goes_on(instructions, place)]
    named = {ins.label for ins in instructions if isinstance(ins, Branch)}
    return [ins for ins in instructions if not isinstance(ins, Label) or ins.name in named]


def _renamed(code: Sequence[Instruction], observed: Collection[str]) -> tuple[Instruction, ...]:
    """The code with registers named as the condition has them, where one move to its register is all that is left."""
    names: dict[str, str] = {}
    rest = list(code)
    for ins in code:
        match ins:
            case Assign(target, "mov", (Reg(name),)) if target in observed and name not in observed:
                if name not in names:
                    names[name] = target
                    rest.remove(ins)

    def operand(value: Operand) -> Operand:
        return Reg(names.get(value.name, value.name)) if isinstance(value, Reg) else value

    def renamed(ins: Instruction) -> Instruction:
        ins = map_operands(ins, operand)
        if isinstance(ins, Load | Assign | Rmw) and ins.target is not None:
            return replace(ins, target=names.get(ins.target, ins.target))
        return ins

    return tuple(map(renamed, rest))
