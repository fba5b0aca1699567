"""Families of progress tests: programs that differ only in the values that they compare with and store.

A family is asked of the solver once. Which of its programs are tests is found by looking at all of them at once
(``oracle.progress.fast.batches``). Among the programs of five instructions and two values, some hundreds have equal
jumps and locations, and on average fifty of these are tests. So the solver is asked fifty times less, and one short
clause excludes a family.

A family has a test wherever the solver finds one, and all its tests are given with it. So when the solver finds no
other family, every test has been given, as when tests are asked for one by one. ``constraints.loop`` and the
refinements of ``constraints.progress`` decide that.

Symmetry: several images of a test may have its shape. The least is given: by everything but locations, and then by
locations. It satisfies the formula's order of equal threads, so its family is found.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

from constraints.formula import Clause, Formula
from constraints.progress import ProgramShape, ProgressEncoding, Solution
from corpus.progress.axb import Instruction, instructions
from oracle.progress.fast.batches import NO_EXCHANGE, Options, ProgramBatch, completions, fits, least_tests

MOST_PROGRAMS = 8192
"""The limit of programs in a family."""

_TOGETHER = 8 * MOST_PROGRAMS
"""The approximate number of programs that are looked at together: fewer take nearly as long."""

_PATIENCE = 0.5
"""The seconds that a family waits for others."""


@dataclass(frozen=True)
class ProgramFamily:
    """The AXB programs that one model of the formula stands for: those with its literals ``fixed``, which one clause
    excludes.

    They have the locations and jumps of ``solution``, which is one of them, and for each instruction one of its
    ``options``.
    """

    solution: Solution
    fixed: tuple[int, ...]
    options: tuple[Options, ...]

    def __len__(self) -> int:
        """Return the number of programs that the family stands for."""
        return prod(map(len, self.options))


class FamilyEncoding:
    """The formula of a shape, each of whose models is taken for its family; a case fixes some of its literals."""

    def __init__(self, encoding: ProgressEncoding, case: Iterable[int] = ()) -> None:
        self.encoding = encoding
        self.formula: Formula = encoding.formula
        self._case = frozenset(case)
        self._options = cache(self._options_of)

    def decode(self, model: Sequence[int]) -> ProgramFamily:
        """The family of programs that a model of the formula belongs to."""
        var, shape = self.formula.var, self.encoding.shape
        solution = self.encoding.decode(model)
        code = list(instructions(solution.program))
        testing = [(t, ins.location) for t, pc, ins in code if ins.branches(pc)]
        options: list[Options] = []
        for t, pc, ins in code:
            influences = any(other != t and location == ins.location for other, location in testing)
            options.append(self._options(t, pc, ins.branches(pc), influences))
        fixed = [var(kind, t, pc, value) for t, pc, ins in code for kind, value in _skeleton(ins)]
        for n, (t, pc, ins) in enumerate(code):
            if fits(shape.lengths) and prod(map(len, options)) <= MOST_PROGRAMS:
                break
            own = (ins.check, NO_EXCHANGE if ins.exchange is None else ins.exchange)
            options[n] = (own,)
            fixed += [var("check", t, pc, own[0]), var("write", t, pc, own[1])]
        return ProgramFamily(solution, tuple(fixed), tuple(options))

    def _options_of(self, t: int, pc: int, branches: bool, influences: bool) -> Options:
        values = self.encoding.shape.values
        checks = [c for c in range(values if branches else 1) if self._open("check", t, pc, c)]
        exchanges = [
            w
            for w in range(NO_EXCHANGE if branches else 0, values)
            if (influences or w == NO_EXCHANGE) and self._open("write", t, pc, w)
        ]
        return tuple(product(checks, exchanges))

    def _open(self, kind: str, t: int, pc: int, value: int) -> bool:
        """Whether the case leaves a field this value."""
        field = self.encoding.field(kind, t, pc)
        return field[value] in self._case or self._case.isdisjoint(field.values())

    def refine(self, model: Sequence[int], family: ProgramFamily) -> list[Clause]:
        """The refinements of the progress encoding, for the program of the family that the model is."""
        return self.encoding.refine(model, family.solution)

    def block(self, family: ProgramFamily) -> list[Clause]:
        """The one clause that excludes all programs of a family."""
        return [[-literal for literal in family.fixed]]


def _skeleton(ins: Instruction) -> list[tuple[str, int]]:
    return [("jump", ins.jump), ("location", ins.location)]


def together(families: Iterable[ProgramFamily]) -> Iterator[list[ProgramFamily]]:
    """Families in their order, batched: so many at once that they are looked at quickly, fewer where they come
    slowly."""
    gathered: list[ProgramFamily] = []
    begun = time.monotonic()
    for family in families:
        gathered.append(family)
        if sum(map(len, gathered)) >= _TOGETHER or time.monotonic() - begun > _PATIENCE:
            yield gathered
            gathered, begun = [], time.monotonic()
    if gathered:
        yield gathered


def found_in(families: Sequence[ProgramFamily], shape: ProgramShape) -> list[ProgramBatch]:
    """The progress tests of each family of a shape; of the images of a test under permutation of threads, the least."""
    sizes = shape.lengths, shape.locations, shape.values
    code = ([ins for _, _, ins in instructions(family.solution.program)] for family in families)
    return least_tests([completions(sizes, own, family.options) for own, family in zip(code, families, strict=True)])
