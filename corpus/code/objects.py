"""What a program says of objects that it makes, for who asks which of them are never given back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from corpus.code.launch.created import OBJECTS
from corpus.code.locations import KernelArrays, LocationNames
from corpus.code.numbered import is_numbered
from corpus.code.places import NOBODY, Array
from corpus.code.values import ArrayAddress
from corpus.litmus.locations import element_of

Pointer = tuple[Array, int]
"""A place that holds an address: its array, and how many bytes it is behind the beginning."""


@dataclass(frozen=True)
class ProgramObjects:
    """Objects of a program: the registers that say which are made and given back, each with its thread (``marks``).

    ``made`` are the objects, ``roots`` the global variables. ``arrays`` has both by their names in the program.
    ``start`` has what places point to where threads begin, or at the end of a program without others.
    """

    marks: tuple[tuple[int, str], ...] = ()
    made: frozenset[Array] = frozenset()
    roots: frozenset[Array] = frozenset()
    arrays: Mapping[str, Array] = field(default_factory=dict)
    start: Mapping[Pointer, Array] = field(default_factory=dict)


NO_OBJECTS = ProgramObjects()


def objects_of(arrays: KernelArrays, names: LocationNames, marks: Sequence[tuple[int, str]]) -> ProgramObjects:
    """Return the objects of a program that is asked which are never given back, by its marks."""
    created = arrays.created
    start = {(Array(OBJECTS, NOBODY, cell.name), cell.offset): value.array for cell, value in created.start.items()
             if isinstance(value, ArrayAddress) and not is_numbered(value.array)}  # fmt: skip
    roots = {Array(OBJECTS, NOBODY, name) for name, variable in arrays.module.variables.items()
             if variable.space == OBJECTS}  # fmt: skip
    every = {*names.names, *created.made, *roots, *start.values()}
    stems = {element_of(names.locate(array, 0).name)[0]: arrays.shared(array) for array in every}
    return ProgramObjects(tuple(marks), frozenset(created.made), frozenset(roots), stems, start)
