"""Memory of a thread's own that others come to see: of who creates threads, and of addresses that are shown."""

from __future__ import annotations

from corpus.code import ir
from corpus.code.evaluation import evaluate
from corpus.code.launch.launch import ThreadIds
from corpus.code.places import NOBODY, Array, Cell
from corpus.code.thread import FollowedThread, State, ThreadStart
from corpus.code.values import ArrayAddress, Value
from corpus.litmus.instructions import Branch, Fence, Load, Rmw, Store

_EFFECTS = Load | Store | Rmw | Fence
"""What a thread may have done before it creates another one, for which that one has to wait."""


class ShownError(Exception):
    """The error for memory of a thread's own whose address the thread shows to others: it has to be followed again."""

    def __init__(self, array: Array) -> None:
        super().__init__(array)
        self.array = array


def shown_error(thread: FollowedThread, array: Array) -> Exception:
    """Return the error for an address of the thread's own memory where others may get it."""
    if thread.grows:
        return ShownError(array)
    return thread.out.wrong("of an address in the thread's own memory is not understood")


def start_thread(
    thread: FollowedThread, state: State, function: ir.KernelFunction, arguments: tuple[Value, ...]
) -> int:
    """Create a thread and return its number."""
    instructions = [residual.instruction for residual in thread.out.code]
    if any(isinstance(ins, Branch) and ins.condition for ins in instructions):
        raise thread.out.wrong("a thread that is created where memory decides whether it is, is not understood")
    for value in arguments:
        if not isinstance(value, int | ArrayAddress):
            raise thread.out.wrong("an argument that memory gives is not understood")
        if isinstance(value, ArrayAddress) and value.array.is_own:
            raise ShownError(value.array)
    share_memory(thread, state)
    created = thread.creation
    number = created.following + len(created.started)
    ids = ThreadIds((number, 0, 0), (0, 0, 0))
    waits = any(isinstance(ins, _EFFECTS) for ins in instructions)
    created.started.append(ThreadStart(ids, function, arguments, waits))
    return number


def share_memory(thread: FollowedThread, state: State) -> None:
    """Share all memory with others: what it holds is where they begin."""
    created = thread.creation
    if not created.alone:
        return
    created.alone = False
    for variable in thread.module.variables.values():
        for offset, symbol in variable.addresses:
            created.image[Cell(NOBODY, variable.name, offset, 8)] = evaluate(thread, state, symbol)
    for cell in [home for home in state.known if isinstance(home, Cell) and home.depth == NOBODY]:
        value = state.known.pop(cell)
        if isinstance(value, ArrayAddress) and value.array.is_own:
            raise ShownError(value.array)
        created.image[cell] = value
