"""Memory that is known, byte by byte: what a thread has for itself, and all memory while it is alone.

    store i64 0x11, x        Cell(x, 0, 8) holds 0x11
    store i8 2, x+1          Cell(x, 0, 1) holds 0x11, Cell(x, 1, 1) holds 2, and Cells (x, 2, 1) to (x, 7, 1) hold 0
    load i32, x              0x211

Cells of an array have no byte in common. Where there is no cell, the variable holds what the module gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from corpus.code import ir
from corpus.code.arithmetic import packed, unpacked
from corpus.code.evaluation import define, evaluate
from corpus.code.places import Array, Cell, cell_of
from corpus.code.thread import FollowedThread, State
from corpus.code.values import Half, Partial, Symbol, Unknown, Value, bounds, cut, joined, plain_name


def unwritten(array: Array, offset: int) -> Unknown:
    """Return the value of a byte that nothing has written."""
    name = plain_name(array.name).rpartition(".")[2] if array.is_own else plain_name(array.name)
    return Unknown(f"{UNWRITTEN}{name or array.name} at byte {offset}")


UNWRITTEN = "memory that nothing has written: "
"""How the reason begins of values of such memory."""


POISONED = Unknown("a result that C leaves undefined")
"""The value of what the compiler has found to have none."""


NO_RESULT = Unknown(f"{UNWRITTEN}the result of a function that returns without one")
"""The value of a call of a function that comes to its end and gives nothing (C11 6.9.1p12)."""


def is_unwritten(value: Value) -> bool:
    """Decide whether a value is one of memory that nothing has written."""
    return isinstance(value, Unknown) and value.reason.startswith(UNWRITTEN)


def held(thread: FollowedThread, state: State, array: Array, offset: int, size: int) -> Value:
    """Return what so many bytes of known memory hold."""
    exact = state.known.get(cell_of(array, offset, size))
    if exact is not None:
        return exact
    thread.exploration.look_through(state)
    met = sorted((cell for cell in state.cells_of(array) if cell.meets(offset, size)), key=lambda cell: cell.offset)
    variable = thread.module.variables.get(array.name)
    if not met:
        return _at_start(thread, state, variable, array, offset, size)
    around = met[0]
    if around.offset <= offset and offset + size <= around.offset + around.size:
        return _inside(thread, state.known[around], around, offset, size)
    pieces: list[Value] = []
    for start, length, cell in _pieces(met, offset, size):
        if cell is None:
            pieces += [_at_start(thread, state, variable, array, start + n, 1) for n in range(length)]
        elif not size % 2 and met == [cell_of(array, offset + n, size // 2) for n in (0, size // 2)]:
            return packed(thread, [state.known.get(cell_of(array, offset + n, length), unwritten(array, offset + n))
                                   for n in (0, length)], 8 * size)  # fmt: skip
        else:
            whole = _inside(thread, state.known[cell], cell, start, length)
            pieces += unpacked(thread, whole, 8 * length, length) if length > 1 else [whole]
    return _assembled(thread, pieces)


def _assembled(thread: FollowedThread, pieces: list[Value]) -> Value:
    """Return bytes as one number. Padding is 0 beside what the running program has."""
    if all(isinstance(piece, int) for piece in pieces):
        return sum(piece << 8 * n for n, piece in enumerate(pieces) if isinstance(piece, int))
    rest = next((piece for piece in pieces if isinstance(piece, Unknown)), None)
    if rest is not None and all(isinstance(piece, int | Unknown | Partial) for piece in pieces):
        known = [bounds(piece) if isinstance(piece, int | Partial) else (0, 255) for piece in pieces]
        return joined([low for low, _ in known], [high for _, high in known], 8, rest)
    if any(isinstance(piece, Half) for piece in pieces):
        return Unknown("a part of an address")
    return packed(thread, [0 if isinstance(piece, Unknown) else piece for piece in pieces], 8 * len(pieces))


def _pieces(met: Iterable[Cell], offset: int, size: int) -> Iterator[tuple[int, int, Cell | None]]:
    """Yield the parts of so many bytes, each with the cell that it is in, if any."""
    place, end = offset, offset + size
    for cell in met:
        if cell.offset > place:
            yield place, cell.offset - place, None
            place = cell.offset
        stop = min(end, cell.offset + cell.size)
        yield place, stop - place, cell
        place = stop
    if place < end:
        yield place, end - place, None


def _at_start(
    thread: FollowedThread, state: State, variable: ir.Variable | None, array: Array, offset: int, size: int
) -> Value:
    """Return what a variable holds before the program begins; of others that nothing has written it."""
    if variable is None:
        return 0 if array in thread.creation.zeroed else unwritten(array, offset)
    for place, symbol in variable.addresses:
        if (place, 8) == (offset, size):
            return evaluate(thread, state, symbol)
        if place < offset + size and offset < place + 8:
            return Unknown(f"a part of an address that {variable.name} holds")
    data = variable.initial[offset : offset + size].ljust(size, b"\0")
    return int.from_bytes(data, "little")


def _inside(thread: FollowedThread, value: Value, cell: Cell, offset: int, size: int) -> Value:
    """Return so many bytes of what a cell holds."""
    start = offset - cell.offset
    if (start, size) == (0, cell.size):
        return value
    match value:
        case int() | Partial():
            return cut(value, 8 * start, 8 * size)
        case Unknown():
            return value
        case _ if cell.size % size == 0 and start % size == 0 and not isinstance(value, Half):
            if not isinstance(value, Symbol) and cell.size != 2 * size:
                return Unknown("a part of an address")
            return unpacked(thread, value, 8 * cell.size, cell.size // size)[start // size]
    return Unknown("a part of a value that the running program has")


def keep(thread: FollowedThread, state: State, array: Array, offset: int, size: int, value: Value) -> None:
    """Write so many bytes of known memory; what is left of cells that are written in part stays."""
    home = cell_of(array, offset, size)
    if isinstance(value, int):
        value &= (1 << 8 * size) - 1
    elif isinstance(value, Symbol) and value.width > 8 * size:
        value = replace(value, width=8 * size)
    if home not in state.known:
        thread.exploration.look_through(state)
        for cell in state.cells_of(array):
            if not cell.meets(offset, size):
                continue
            old = state.known.pop(cell)
            for start, end in ((cell.offset, offset), (offset + size, cell.offset + cell.size)):
                for n in range(start, end):
                    state.known[cell_of(array, n, 1)] = _inside(thread, old, cell, n, 1)
        variable = thread.module.variables.get(array.name)
        for place, _ in variable.addresses if variable else ():
            if place < offset + size and offset < place + 8 and (place < offset or place + 8 > offset + size):
                raise thread.out.wrong(f"a part of an address that {array.name} holds is written")
    define(thread, state, home, value)


def forget(state: State, array: Array) -> None:
    """Have nothing of an array written."""
    for cell in state.cells_of(array):
        del state.known[cell]
