"""Places that addresses from memory lead to: of which objects, in which sizes, and memory that is given back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from corpus.code import ir
from corpus.code.launch.created import MOST_BEHIND, MOST_CELLS, OBJECTS, CreatedThreads, Pointers
from corpus.code.launch.facts import mixed_parts
from corpus.code.numbered import is_numbered, number_of, tables_of
from corpus.code.places import ANYWHERE, NOBODY, Array, ArrayPlace, array_place
from corpus.code.residual import GIVEN_BACK, Access, Residual, mark_of, object_mark
from corpus.code.thread import (
    Parts,
)
from corpus.code.values import ArrayAddress
from corpus.litmus.instructions import Assign, Branch, Comparison, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Operand, Reg
from corpus.litmus.orders import PLAIN, Order


def parts_of(found: CreatedThreads, known: Parts = MappingProxyType({})) -> Parts:
    """Return the parts of accesses, with those that are known: what is made of parts overlaps no more."""
    new = _parts(residual for _, code in found.followed for residual in code)
    return {array: _joined([*known.get(array, ()), *new.get(array, ())]) for array in (*known, *new)}


def _joined(parts: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return where accesses overlap with the parts that all of them are made of, from several rounds: an access of a
    later one may be of less than a part of an earlier one.
    """
    done: list[tuple[int, int, int]] = []
    for start, end, part in sorted(parts):
        first, last, other = done[-1] if done else (0, 0, 0)
        if start < last:
            done[-1] = (first, max(last, end), math.gcd(part, other, first, start, last, end))
        else:
            done.append((start, end, part))
    return done


def places_of_arrays(code: Iterable[Residual]) -> dict[Array, dict[tuple[int, int], bool]]:
    """Return the places and sizes of accesses of each array, and whether all of them are plain."""
    found: dict[Array, dict[tuple[int, int], bool]] = {}
    for residual in code:
        weak = isinstance(residual.instruction, Load | Store) and residual.instruction.mode == PLAIN
        for access in residual.accesses:
            places = found.setdefault(access.array, {})
            for place in places_of(access) if access.size else ():
                places[place] = places.get(place, True) and weak
    return found


def places_of(access: Access) -> Iterator[tuple[int, int]]:
    """Yield the places of an access, with its size: one, or those that its address may be computed to be."""
    if access.offset is not None:
        yield access.offset, access.size
    elif access.step:
        yield from ((place, access.size) for place in range(access.start, access.end, access.step))


def _parts(code: Iterable[Residual]) -> Parts:
    """Return where plain accesses of several sizes overlap, and the largest parts that all of these are made of."""
    found = {array: list(mixed_parts(places)) for array, places in places_of_arrays(code).items() if array != ANYWHERE}
    return {array: parts for array, parts in found.items() if parts}


def cells_of(found: CreatedThreads, pointed: Pointers) -> dict[Array, set[tuple[int, int]]]:
    """Return the places to which addresses from memory may lead, with the sizes that accesses by them have there.

    What is accessed by its name, or has been written before there were other threads, has the size that it has there.
    """
    every = [residual for _, code in found.followed for residual in code]
    begins = found.places = _pointed(found, pointed, every)
    accesses = (access for residual in every for access in residual.accesses if access.size)
    by_address = {(access.offset, access.size) for access in accesses if access.array == ANYWHERE}
    known = places_of_arrays(every)
    cells: dict[Array, set[tuple[int, int]]] = {}
    for array in sorted(begins):
        size = found.sizes.get(array, 0)
        own = {*known.get(array, ())}
        own |= {(cell.offset, cell.size) for cell in found.start if cell.name == array.name and cell.size}
        cells[array] = set(known.get(array, ()))
        for start in sorted(begins[array]):
            for offset, length in sorted(by_address, key=str):
                places = [start + offset] if offset is not None else range(start % length, size, length)
                for place in places[:MOST_CELLS]:
                    new = (place, length)
                    if size and size <= place <= size + MOST_BEHIND:
                        found.outside.setdefault(array, set()).add(new)
                    if place < 0 or (size and place + length > size) or new in cells[array]:
                        continue
                    if not any(place < other + wide and other < place + length for other, wide in own - {new}):
                        own.add(new)
                        cells[array].add(new)
    return cells


def _pointed(found: CreatedThreads, pointed: Pointers, code: Iterable[Residual]) -> dict[Array, set[int]]:
    """Return the places whose addresses are in memory, or are computed of such, by their arrays."""
    places: dict[Array, set[int]] = {}
    for residual in code:
        match residual.instruction:
            case Store(value=ArrayPlace() as place) | Assign(operands=(ArrayPlace() as place, *_)):
                places.setdefault(place.array, set()).add(place.offset)
            case Rmw(operands=operands):
                for operand in operands:
                    if isinstance(operand, ArrayPlace):
                        places.setdefault(operand.array, set()).add(operand.offset)
    for value in found.start.values():
        if isinstance(value, ArrayAddress):
            places.setdefault(value.array, set()).add(value.offset)
    for array, every in pointed.whole.items():
        for start, step, end in every:
            places.setdefault(array, set()).update(
                range(start, end or found.sizes.get(array, 0), step or 1)[:MOST_CELLS]
            )
    places = {array: every for array, every in places.items() if not is_numbered(array)}
    for array in sorted(places):
        waiting = list(places[array])
        while waiting and len(places[array]) < MOST_CELLS:
            start, size = waiting.pop(), found.sizes.get(array, 0)
            new = {start + move for move in pointed.moves if 0 <= start + move <= size} - places[array]
            places[array] |= new
            waiting += sorted(new)
    return places


def tables_in(module: ir.Module, found: CreatedThreads) -> frozenset[tuple[Array, int, ArrayAddress]]:
    """Return the tables of virtual functions whose addresses memory has that others may see, with the array and place;
    ``ANYWHERE`` where an address from memory, or a computed one, leads there.
    """
    tables = {number_of(module, address): address for address in tables_of(module)}
    every = set[tuple[Array, int, ArrayAddress]]()
    for residual in (residual for _, code in found.followed for residual in code):
        match residual.instruction:
            case Store(value=int(number)) if number in tables:
                for access in residual.accesses:
                    place = (access.array, access.offset) if access.offset is not None else (ANYWHERE, 0)
                    every.add((*place, tables[number]))
    for cell, value in found.start.items():
        if isinstance(value, ArrayAddress) and is_numbered(value.array):
            number = number_of(module, value)
            if number in tables:
                every.add((Array(OBJECTS, NOBODY, cell.name), cell.offset, tables[number]))
    return frozenset(every)


def with_releases(found: CreatedThreads, code: Sequence[Residual], leaks: bool) -> list[Residual]:
    """Return what is left of a thread in which memory that is given back is written where others may access it, and so
    is memory that is new, where others have its address. ``leaks``: it is noted which object is given back.
    """
    done: list[Residual] = []
    every = places_of_arrays(other for _, others in found.followed for other in others)
    for number, residual in enumerate(code):
        access = residual.access
        if access is None or access.size or not isinstance(residual.instruction, Store):
            done.append(residual)
            continue
        if access.array == ANYWHERE:
            behind = f"RELEASED{len(done)}"
            done += _checked_objects(found, residual, residual.instruction.address, behind)
            done += _noted_objects(found, residual, residual.instruction.address) if leaks else ()
            done += _released_by_address(found, residual, residual.instruction.address, every)
            done.append(Residual(Label(behind), residual.origin))
            continue
        places = {place for place in (*every.get(access.array, ()), *found.cells.get(access.array, ())) if place[1]}
        if access.created:
            done += _created(found, residual, access.array, places, code[number + 1 :])
            continue
        began = {(cell.offset, cell.size) for cell in found.start if cell.name == access.array.name and cell.size}
        for offset, size in sorted(places or began or {(0, 1)}):  # nobody uses it, and it may be given back twice
            store = Store(array_place(access.array, offset), 0)
            done.append(Residual(store, residual.origin, Access(access.array, offset, size, released=True)))
    return done


def _created(
    found: CreatedThreads,
    residual: Residual,
    array: Array,
    places: set[tuple[int, int]],
    following: Sequence[Residual],
) -> Iterator[Residual]:
    """Yield the writes to a new object, where others may access it by its address from memory, and to a variable that
    has been given back before. A place of an object that the thread writes anyway, before it sees what others do, needs
    none: what is not ordered behind that write races with it.
    """
    if array in found.made:
        places &= {*found.cells.get(array, ())}
        for other in following:
            if not _goes_on(other.instruction):
                break
            if isinstance(other.instruction, Store) and other.instruction.mode == PLAIN:
                places -= {(access.offset or 0, access.size) for access in other.accesses
                           if access.array == array and access.offset is not None}  # fmt: skip
    for offset, size in sorted(places):
        store = Store(array_place(array, offset), 0)
        yield Residual(store, residual.origin, Access(array, offset, size, created=True))


def _goes_on(ins: Instruction) -> bool:
    """Decide whether a thread goes on behind an instruction whatever others do, and sees nothing that orders it."""
    return isinstance(ins, Assign | Store) or (isinstance(ins, Load) and ins.mode.order in (PLAIN.order, Order.RELAXED))


def _checked_objects(found: CreatedThreads, residual: Residual, address: Operand, behind: str) -> Iterator[Residual]:
    """Yield what asks whether an address from memory that is given back is of no object of malloc, or of no beginning
    of one; nothing is given back then. ``behind``: the label behind that.
    """
    assert isinstance(address, Reg)
    origin, number = residual.origin, 0
    for array in sorted(found.places):
        for offset in sorted(found.places[array]):
            if array in found.made and offset == 0:
                continue
            going, flag = f"{behind}_{number}", f"{address.name}_freed_{number}"
            number += 1
            yield Residual(Assign(flag, "eq", (address, array_place(array, offset))), origin)
            yield Residual(Branch(going, Comparison("eq", Reg(flag), 0), checks=True), origin)
            yield Residual(Assign(mark_of("free", origin), "mov", (1,)), origin)
            yield Residual(Branch(behind), origin)
            yield Residual(Label(going), origin)


def _noted_objects(found: CreatedThreads, residual: Residual, address: Operand) -> Iterator[Residual]:
    """Yield what notes which object is given back by an address from memory."""
    assert isinstance(address, Reg)
    for number, array in enumerate(sorted(found.made & {*found.places})):
        flag, mark = f"{address.name}_gives_back_{number}", object_mark(GIVEN_BACK, array)
        yield Residual(Assign(flag, "eq", (address, array_place(array, 0))), residual.origin)
        yield Residual(Assign(mark, "or", (Reg(mark), Reg(flag))), residual.origin)


def _released_by_address(
    found: CreatedThreads, residual: Residual, address: Operand, known: Mapping[Array, Mapping[tuple[int, int], bool]]
) -> Iterator[Residual]:
    """Yield the writes to an object that is given back by an address from memory: to what each such object has."""
    made = [array for array in found.cells if array.space == OBJECTS and array in found.made]
    places = [{*known.get(array, ()), *found.cells.get(array, ())} for array in made]
    common = set.intersection(*places) if places else set[tuple[int, int]]()
    if not common or any(place != common for place in places):
        found.assumed["of memory that is given back by an address from memory, only what all objects have is"] = None
    assert isinstance(address, Reg)
    for offset, size in sorted(common):
        register = f"{address.name}_released_{offset}"
        yield Residual(Assign(register, "add", (address, offset)), residual.origin)
        yield Residual(Store(Reg(register), 0), residual.origin, Access(ANYWHERE, offset, size, released=True))
