"""The checker of the tests of a progress suite: whether each belongs to it, and whether a test that was found is in it.

Tests are judged by the explicit oracle, one program at a time: well-formedness (``oracle.progress.wellformed``), the
verdicts of all models, minimality and behaviour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from struct import pack

from corpus.errors import InputError
from corpus.progress.axb import Program, digest, rename_locations
from corpus.progress.axb import thread_images as program_images
from corpus.progress.idioms import tags_of
from corpus.progress.text import print_axb, program_of
from corpus.test import Test
from oracle.certificates.refusal import RefusedError, unlike
from oracle.certificates.units import UnitShape
from oracle.progress.behaviour import Behaviour, digest_automaton, minimise, thread_images
from oracle.progress.lts import Lts, explore
from oracle.progress.models import Verdict, system_verdicts
from oracle.progress.reductions import is_minimal
from oracle.progress.wellformed import influences, terminating_with_a_cycle


@dataclass(frozen=True)
class ProgressClaim:
    """The claim of a progress suite: its bound and its criteria (``request`` in docs/corpus.md).

    ``distinguish``: the models that its tests tell apart, first the one under which they terminate.
    """

    threads: int
    instrs: int
    locs: int
    values: int
    minimal: bool
    behaviours: bool
    distinguish: tuple[str, ...]
    symmetric: bool

    @property
    def locations(self) -> int:
        """The greatest number of locations that a program within the bound can have."""
        return min(self.locs, self.instrs)

    def shapes(self) -> Iterator[UnitShape]:
        """Every shape within the bound: the lengths of threads, ascending."""
        for lengths in _ascending(self.threads, self.instrs, 1):
            yield UnitShape(lengths, self.locations, self.values)

    def key(self, judged: Judged) -> str:
        """The key that two programs share exactly when they count as one test of this suite."""
        if not self.behaviours:
            return digest(judged.program, self.symmetric)
        return digest_automaton(min(thread_images(judged.automaton)) if self.symmetric else judged.automaton)

    def lacks(self, judged: Judged) -> str:
        """The reason why a program is no test of this suite; empty where it is one."""
        if not (influences(judged.program) and terminating_with_a_cycle(judged.lts)):
            return "is not well formed, or cannot hang, or cannot end"
        if self.distinguish:
            passing, *failing = (judged.verdicts[name] for name in self.distinguish)
            if passing != Verdict.TERMINATES or any(verdict != Verdict.MAY_HANG for verdict in failing):
                return "does not tell the models apart"
        return "is not minimal" if self.minimal and not is_minimal(judged.program) else ""


@dataclass(frozen=True)
class Judged:
    """A program with the findings of the explicit oracle, each worked out when it is first asked for."""

    program: Program

    @cached_property
    def lts(self) -> Lts:
        """The labelled transition system of the program."""
        return explore(self.program)

    @cached_property
    def automaton(self) -> Behaviour:
        """The behaviour of the program: its minimal thread-labelled automaton."""
        return minimise(self.lts)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdicts of all progress models on the program, by name."""
        return system_verdicts(self.lts.successors)


def _ascending(threads: int, instrs: int, least: int) -> Iterator[tuple[int, ...]]:
    if threads == 1:
        yield from [(instrs,)] if instrs >= least else []
        return
    for first in range(least, instrs // threads + 1):
        yield from ((first, *rest) for rest in _ascending(threads - 1, instrs - first, first))


def place(program: Program) -> bytes:
    """The place of a program in the order of a corpus: by the lengths of its threads, then instruction by
    instruction."""
    numbers = [*map(len, program.threads)]
    for thread in program.threads:
        for ins in thread:
            numbers += [ins.location, 0 if ins.exchange is None else 1 + ins.exchange, ins.check, ins.jump]
    return pack(f">{len(numbers)}H", *numbers)


def check_test(claim: ProgressClaim, test: Test) -> tuple[str, bytes]:
    """The key of a test of a suite, and its place in it.

    Raises ``RefusedError`` with what is wrong in its record; its name is not checked, for it depends on other tests.
    """
    try:
        program = program_of(test)
    except InputError as error:
        raise RefusedError(f"{test.name}: the text is no program: {error.message}") from None
    if (len(program.threads), program.size) != (claim.threads, claim.instrs):
        raise RefusedError(
            f"{test.name}: of the bound {program.bound}, where {claim.threads}x{claim.instrs} was asked for"
        )
    if max(program.locations - claim.locations, program.values - claim.values) > 0:
        raise RefusedError(f"{test.name}: has more locations or values than were asked for")
    judged = Judged(program)
    if lack := claim.lacks(judged):
        raise RefusedError(f"{test.name}: {lack}")
    own = digest(program)
    should_be = {
        "text": print_axb(rename_locations(program)),
        "digest": own,
        "behaviour": digest_automaton(judged.automaton),
        "tags": tags_of(own),
        "bound": program.bound,
        "scopes": (),
        "reasons": {},
    }
    if line := unlike(test, judged.verdicts, should_be):
        raise RefusedError(line)
    return claim.key(judged), place(program)


def missing(claim: ProgressClaim, program: Program, present: Mapping[str, bytes]) -> Program | None:
    """An image of a program under permutation of its threads that should be in a suite and is not, if there is one.

    ``present`` are the places of the tests in the suite, by their keys. Of tests that count as one the suite holds the
    first: of the tests with one behaviour, the first in the suite's order; with symmetric threads, the least image of a
    program.
    """
    for judged in (Judged(image) for image, _ in program_images(program)):
        there, here = present.get(claim.key(judged)), place(judged.program)
        if there == here or (there is not None and there < here and not claim.symmetric):
            if claim.symmetric:
                return None
        elif not claim.lacks(judged):
            earlier = there is not None and there < here and claim.behaviours
            return None if earlier else judged.program
    return None
