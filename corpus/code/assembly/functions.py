"""Makes a function of assembly one that the follower of ``corpus.code`` follows: instructions, blocks and meanings.

    ldr w8, [x0]        block 0    the row of ldr in the table of instructions
    cbz w8, .L1                    that of cbz in the table of jumps, which says where control is then
    str wzr, [x0, #256] block 1
    .L1: ret            block 2
                        block 3    where all ways that return end: the registers of the condition are stored

A place of the code is a number of an instruction. Behind the last one stand two that no text has: one to which no way
may lead, and one to which all returns do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache, partial

from corpus.code import ir
from corpus.code.assembly.joins import Blocks, JoinedBlocks, arrive, begin, next_block, write_loops
from corpus.code.assembly.language import Jump, MachineJump, MachineLanguage, Meaning
from corpus.code.assembly.memory import keep_results
from corpus.code.assembly.text import AssemblyCode, AssemblyLabel, AssemblyLine
from corpus.code.assembly.thread import (
    MEMORY,
    RESULTS,
    STACK,
    CompiledThread,
    ProcessorState,
    ProcessorThread,
    SumWriter,
)
from corpus.code.calls import go_back
from corpus.code.follower import follow_from
from corpus.code.functions import FunctionShape
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.table import CONTROL, Row
from corpus.code.thread import ControlRules, FollowedThread, KernelLanguage, PlaceRule, State
from corpus.code.thread import Meaning as FollowedMeaning
from corpus.code.values import Affine
from corpus.code.variants import follow_later
from corpus.errors import InputError
from corpus.graphs import components, topological
from corpus.litmus.instructions import Branch

_STAYS, _RETURNS = (ir.KernelInstruction(name, (), (), None, 0) for name in ("{no return}", "{return}"))
"""What stands behind the last instruction of a function, and where all returns lead to."""


def cut_function(language: MachineLanguage, name: str, code: AssemblyCode) -> tuple[ir.KernelFunction, Blocks]:
    """Return a function of a text, and its blocks, the last of which is where it returns.

    Raises ``InputError`` for jumps that are not understood.
    """
    body, starts, labels = list[AssemblyLine](), [0], dict[str, int]()
    jumps, closed = dict[int, tuple[AssemblyLine, MachineJump]](), False
    for line in code:
        if len(body) > starts[-1] and (closed or isinstance(line, AssemblyLabel)):
            starts.append(len(body))
        if isinstance(line, AssemblyLabel):
            labels[line.name], closed = len(starts) - 1, False
            continue
        body.append(line)
        closed = line.mnemonic in language.jumps
        if closed:
            row = _find_jump(language, (line.mnemonic, line.operands))
            if isinstance(row, str):
                raise InputError(f"{line}: {row}", line=line.line)
            jumps[len(starts) - 1] = line, row.meaning(line)
    end = len(starts)
    successors = [_successors(number, end, jumps.get(number), labels) for number in range(end)]
    places = {label: starts[number] for label, number in labels.items()}
    instructions = (*map(_instruction, body), _STAYS, _RETURNS)
    function = ir.KernelFunction(name, True, (), (), {}, (), instructions, places, {})
    return function, _order([*successors, ()], [*starts, len(body) + 1])


def _successors(
    number: int, end: int, found: tuple[AssemblyLine, MachineJump] | None, labels: Mapping[str, int]
) -> tuple[int, ...]:
    """Return the blocks that control goes to from one: where its jump leads to, if it is taken, and the next one."""
    if found is None:
        return (number + 1,) if number + 1 < end else ()
    line, jump = found
    if jump.target and jump.target not in labels:
        raise InputError(f"{line}: a jump out of the function", line=line.line)
    target = end if jump.target is None else labels[jump.target] if jump.target else number + 1
    return (target,) if jump.is_taken is None else (target, number + 1)


def _order(successors: Sequence[Sequence[int]], starts: Sequence[int]) -> Blocks:
    """Return the blocks of a function by the ways between them and the places where they begin."""
    order = topological(0, successors.__getitem__)
    ranks = {block: rank for rank, block in enumerate(order)}
    back = [(block, after) for block in order for after in successors[block] if ranks[after] <= ranks[block]]
    around = {block for group in components(successors) if len(group) > 1 for block in group}
    heads = frozenset(after for _, after in back)
    return Blocks(tuple(starts), tuple(order), heads, frozenset(around.union(of for of, to in back if of == to)))


def _instruction(line: AssemblyLine) -> ir.KernelInstruction:
    words = tuple(map(ir.WrittenOperand, line.operands))
    return ir.KernelInstruction(line.mnemonic, (), words, None, line.line, text=str(line))


def _line(ins: ir.KernelInstruction) -> AssemblyLine:
    return AssemblyLine(
        ins.line, ins.name, tuple(word.text for word in ins.operands if isinstance(word, ir.WrittenOperand))
    )


def _here(thread: FollowedThread, state: State) -> tuple[ProcessorThread, ProcessorState]:
    assert isinstance(thread, ProcessorThread) and isinstance(state, ProcessorState)
    return thread, state


@lru_cache(maxsize=1 << 14)
def _find_jump(language: MachineLanguage, line: tuple[str, tuple[str, ...]]) -> Row[Jump] | str:
    return language.row_of(language.jumps, AssemblyLine(0, *line))


@lru_cache(maxsize=1 << 14)
def _find_row(language: MachineLanguage, name: str, operands: tuple[str, ...]) -> Row[FollowedMeaning] | str:
    """Return the row of an instruction with what it does to a thread that is followed, or why it has none."""
    if name in (_STAYS.name, _RETURNS.name):
        return Row(name, CONTROL, "", _stay if name == _STAYS.name else _return)
    if name in language.jumps:
        jump = _find_jump(language, (name, operands))
        return jump if isinstance(jump, str) else Row(name, jump.effect, jump.operands, partial(_jump, jump.meaning))
    row = language.row_of(language.table, AssemblyLine(0, name, operands))
    return row if isinstance(row, str) else Row(name, row.effect, row.operands, partial(_do, row.meaning))


def _do(meaning: Meaning, thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow an instruction after which control is at the next one."""
    meaning(*_here(thread, state), _line(ins))
    return True


def _jump(meaning: Jump, thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow an instruction after which control may be elsewhere."""
    found = meaning(_line(ins))
    places, returns = state.function.labels, len(state.function.body or ()) - 1
    target = returns if found.target is None else places[found.target] if found.target else state.place
    taken = True if found.is_taken is None else found.is_taken(*_here(thread, state))
    if isinstance(taken, bool):
        state.place = target if taken else state.place
    else:
        thread.out.put(Branch(follow_later(thread, state.moved_to(target)), taken))
    return True


@cache
def followed_language(language: MachineLanguage) -> KernelLanguage:
    """Return a processor's language as the follower has languages."""
    return KernelLanguage(
        lambda ins, _: _find_row(language, ins.name, _line(ins).operands),
        lambda thread, name: None,
        language.name,
        control=ControlRules(places=PlaceRule(arrive, next_block)),
    )


def _stay(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    raise InputError("a function that does not return")


def _return(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Keep the registers that the condition asks for, and end."""
    keep_results(*_here(thread, state))
    return go_back(thread, state)


def follow_function(
    language: MachineLanguage,
    name: str,
    code: AssemblyCode,
    taken: Collection[str],
    compiled: CompiledThread,
) -> tuple[ProcessorThread, Mapping[str, str]]:
    """Return a thread that has been followed, and the registers that hold what its loops begin with, with what the
    processor calls these.

    ``taken`` are the names of the registers that the thread has in the test. Raises ``InputError`` for what is not
    understood.
    """
    function, blocks = cut_function(language, name, code)
    module = ir.Module("", "", language.name, {}, {name: function}, language.name)
    thread = ProcessorThread(
        module,
        function,
        KernelLaunch(warp=1),
        ThreadIds((0, 0, 0), (0, 0, 0)),
        followed_language(language),
        SumWriter(module, taken),
        exploration=JoinedBlocks(blocks=blocks),
        shapes={name: FunctionShape(frozenset(blocks.starts), (), {})},
        compiled=compiled,
    )
    state = ProcessorState(function)
    for register, array in ((language.stack, STACK), *zip(language.arguments, (MEMORY, RESULTS), strict=True)):
        state.put(register, Affine(array))
    follow_from(thread, *begin(thread, state))
    return thread, write_loops(thread)
