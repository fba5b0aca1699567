"""Memory of a thread's own that others come to see: of who creates threads, and of addresses that are shown."""

from __future__ import annotations

from corpus.code import ir
from corpus.code.evaluation import evaluate
from corpus.code.launch.launch import ThreadIds
from corpus.code.places import CREATED, GONE, JOINED, NOBODY, Array, Cell, counter
from corpus.code.thread import FollowedThread, Moment, State, ThreadStart
from corpus.code.values import ArrayAddress, Unknown, Value
from corpus.litmus.instructions import Fence, Load, Rmw, Store

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
    for value in arguments:
        if not isinstance(value, int | ArrayAddress):
            raise thread.out.wrong("an argument that memory gives is not understood")
        if isinstance(value, ArrayAddress) and value.array.is_own and value.array.owner != GONE:
            raise ShownError(value.array)
    share_memory(thread, state)
    created = thread.creation
    before = created_before(thread, state)
    state.known[counter(CREATED)] = before + 1
    number = created.following + before
    ids = ThreadIds((number, 0, 0), (0, 0, 0))
    waits = any(isinstance(residual.instruction, _EFFECTS) for residual in thread.out.code)
    given = _given(thread, state, arguments)
    if before < len(created.started):  # on another way
        other = created.started[before]
        if (other.function.name, other.arguments, other.given) != (function.name, arguments, given) or (
            waits and not other.waits
        ):
            raise thread.out.wrong("a thread that is another one where memory decides so is not understood")
        both = {cell: value for cell, value in _steady(thread, state).items() if other.before.get(cell) == value}
        nothing = dict.fromkeys({*other.before, *_steady(thread, state)} - {*both}, Unknown("what one way leaves"))
        if any(map(_is_end, nothing)):
            raise thread.out.wrong("behind memory that is given back where memory decides so is not understood")
        created.started[before] = other._replace(before={**both, **nothing})
        return number
    created.started.append(ThreadStart(ids, function, arguments, waits, given, _steady(thread, state)))
    return number


def _steady(thread: FollowedThread, state: State) -> dict[Cell, Value]:
    """Return what is known of memory that others could write."""
    private = {array.name for array in thread.creation.private}
    every = ((home, value) for home, value in state.known.items() if isinstance(home, Cell) and home.depth == NOBODY)
    return {
        cell: value if isinstance(value, int | ArrayAddress) else Unknown("what others could see")
        for cell, value in every
        if cell.name not in private and (_is_end(cell) or (cell.size and cell.offset >= 0))
    }


def _is_end(cell: Cell) -> bool:
    """Decide whether a cell says that an object has been given back."""
    return cell.offset == -1 and not cell.size


def joined_counter(number: int) -> Cell:
    """Return the home of whether the thread at hand has joined another one."""
    return counter(f"{JOINED} {number}")


def moment_of(thread: FollowedThread, state: State) -> Moment:
    """Return when a thread is where it is."""
    created = thread.creation
    following = created.following + created_before(thread, state)
    joined = (number for number in range(1, MOST_CREATED + 1) if joined_counter(number) in state.known)
    return Moment(frozenset(joined), following)


def created_before(thread: FollowedThread, state: State) -> int:
    """Return how many threads the thread at hand has created on its way."""
    count = state.known.get(counter(CREATED), 0)
    if not isinstance(count, int):
        raise thread.out.wrong("as many threads as memory decides are not understood")
    return count


MOST_CREATED = 32
"""The threads that may be created."""

GIVEN_AWAY = -3
"""The place of the cell which says that an object was given to another thread."""


def _given(thread: FollowedThread, state: State, arguments: tuple[Value, ...]) -> dict[Array, dict[Cell, Value]]:
    """Give a new thread the objects that only the thread at hand has the addresses of, and that the arguments lead to;
    return these with what they hold. Raises ``ShownError`` of one that holds what memory decides.
    """
    private = thread.creation.private
    waiting = [value.array for value in arguments if isinstance(value, ArrayAddress) and value.array in private]
    found: dict[Array, dict[Cell, Value]] = {}
    for array in waiting:  # which become more
        if array in found:
            continue
        if Cell(NOBODY, array.name, GIVEN_AWAY, 0) in state.known:
            raise ShownError(array)
        found[array] = {cell: state.known[cell] for cell in state.cells_of(array)}
        for value in found[array].values():
            if isinstance(value, ArrayAddress) and value.array.is_own and value.array.owner != GONE:
                raise ShownError(value.array)
            if not isinstance(value, int | ArrayAddress | Unknown):
                raise ShownError(array)
            if isinstance(value, ArrayAddress) and value.array in private:
                waiting.append(value.array)
    for array, cells in found.items():
        for cell in cells:
            del state.known[cell]
        state.known[Cell(NOBODY, array.name, GIVEN_AWAY, 0)] = 1
    return found


def share_memory(thread: FollowedThread, state: State) -> None:
    """Share all memory with others: what it holds is where they begin."""
    created = thread.creation
    if not created.alone:
        return
    created.alone = False
    for variable in thread.module.variables.values():
        for offset, symbol in variable.addresses:
            created.image[Cell(NOBODY, variable.name, offset, 8)] = evaluate(thread, state, symbol)
    private = {array.name: array for array in created.private}
    cells = [home for home in state.known if isinstance(home, Cell) and home.depth == NOBODY]
    waiting = [cell for cell in cells if cell.name not in private]
    for cell in waiting:  # which become more
        value = state.known.pop(cell)
        if isinstance(value, ArrayAddress) and value.array in created.private:
            created.private.discard(value.array)
            waiting += [other for other in cells if other.name == value.array.name]
        if isinstance(value, ArrayAddress) and value.array.is_own:
            raise ShownError(value.array)
        created.image[cell] = value
