"""Whether the tests of a progress suite are what it says, and whether a test that a search found must be in it.

Tests are judged by the explicit oracle, one program at a time: well-formedness (``oracle.progress.wellformed``), the
verdicts of all models, minimality and behaviour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

from corpus.errors import InputError
from corpus.progress.axb import Program, digest, rename_locations
from corpus.progress.idioms import tags_of
from corpus.progress.text import print_axb, program_of
from corpus.test import Test
from oracle.certificates.records import unlike
from oracle.certificates.refusal import RefusedError
from oracle.certificates.units import Shape
from oracle.progress.behaviour import Behaviour, digest_automaton, minimise, thread_images
from oracle.progress.lts import Lts, explore
from oracle.progress.models import MODELS, Verdict, system_verdicts
from oracle.progress.reductions import is_minimal
from oracle.progress.wellformed import influences, terminating_with_a_cycle


@dataclass(frozen=True)
class Asked:
    """What a suite is to hold, as its manifest says (``request`` in docs/corpus.md)."""

    threads: int
    instrs: int
    locs: int
    values: int
    minimal: bool
    behaviours: bool
    distinguish: tuple[str, ...]
    symmetric: bool

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Asked:
        """The request of a manifest. Raises ``RefusedError`` where it is none of a progress suite with fixed bounds."""
        border = request.get("distinguish") or ()
        numbers: list[Any] = [request.get(key) for key in ("threads", "instrs", "locs", "values")]
        flags: list[Any] = [request.get(key) for key in ("minimal", "symmetric_threads")]
        if request.get("kind") != "progress" or request.get("up_to") not in ("program", "behaviour"):
            raise RefusedError("the manifest has no request for progress tests")
        if not all(type(n) is int and n > 0 for n in numbers) or not all(isinstance(f, bool) for f in flags):
            raise RefusedError("the manifest does not say how many threads and instructions were asked for")
        if not isinstance(border, (list, tuple)) or not all(
            isinstance(name, str) and name in MODELS for name in border
        ):
            raise RefusedError("the manifest names a model that there is not")
        (threads, instrs, locs, values), (minimal, symmetric) = numbers, flags
        behaviours = request["up_to"] == "behaviour"
        return cls(threads, instrs, locs, values, minimal, behaviours, tuple(border), symmetric)

    @property
    def locations(self) -> int:
        """Locations that a program can have."""
        return min(self.locs, self.instrs)

    def shapes(self) -> Iterator[Shape]:
        """Every shape of the bound: ascending lengths of threads."""
        for lengths in _ascending(self.threads, self.instrs, 1):
            yield Shape(lengths, self.locations, self.values)

    def key(self, judged: Judged) -> str:
        """What two tests have in common that are one to this suite."""
        if not self.behaviours:
            return digest(judged.program, self.symmetric)
        return digest_automaton(min(thread_images(judged.automaton)) if self.symmetric else judged.automaton)

    def lacks(self, judged: Judged) -> str:
        """Why a program is no test of this suite; empty where it is one."""
        if not (influences(judged.program) and terminating_with_a_cycle(judged.lts)):
            return "is not well formed, or cannot hang, or cannot end"
        if self.distinguish:
            passing, *failing = (judged.verdicts[name] for name in self.distinguish)
            if passing != Verdict.TERMINATES or any(verdict != Verdict.MAY_HANG for verdict in failing):
                return "does not tell the models apart"
        return "is not minimal" if self.minimal and not is_minimal(judged.program) else ""


@dataclass(frozen=True)
class Judged:
    """A program, and what the explicit oracle says of it, each worked out when somebody asks."""

    program: Program

    @cached_property
    def lts(self) -> Lts:
        """Its transition system."""
        return explore(self.program)

    @cached_property
    def automaton(self) -> Behaviour:
        """Its behaviour."""
        return minimise(self.lts)

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """What all models say of it."""
        return system_verdicts(self.lts.successors)


def _ascending(threads: int, instrs: int, least: int) -> Iterator[tuple[int, ...]]:
    if threads == 1:
        yield from [(instrs,)] if instrs >= least else []
        return
    for first in range(least, instrs // threads + 1):
        yield from ((first, *rest) for rest in _ascending(threads - 1, instrs - first, first))


def check_test(asked: Asked, test: Test) -> str:
    """The key of a test of a suite. Raises ``RefusedError`` with what its record has and should not have."""
    try:
        program = program_of(test)
    except InputError as error:
        raise RefusedError(f"{test.name}: the text is no program: {error.message}") from None
    if (len(program.threads), program.size) != (asked.threads, asked.instrs):
        raise RefusedError(
            f"{test.name}: of the bound {program.bound}, where {asked.threads}x{asked.instrs} was asked for"
        )
    if max(program.locations - asked.locations, program.values - asked.values) > 0:
        raise RefusedError(f"{test.name}: has more locations or values than were asked for")
    judged = Judged(program)
    if lack := asked.lacks(judged):
        raise RefusedError(f"{test.name}: {lack}")
    own = digest(program)
    should_be = {
        "text": print_axb(rename_locations(program)),
        "digest": own,
        "behaviour": digest_automaton(judged.automaton),
        "tags": tags_of(own),
    }
    if line := unlike(test, judged.verdicts, should_be):
        raise RefusedError(line)
    return asked.key(judged)


def missing(asked: Asked, program: Program, present: frozenset[str]) -> Program | None:
    """An image of a program under permutation of its threads that is a test of the suite and not there; if any.

    ``present`` are the keys of the tests that are there.
    """
    images = {rename_locations(Program(order)) for order in permutations(program.threads)}
    for judged in map(Judged, sorted(images, key=lambda each: each.key)):
        if asked.key(judged) not in present and not asked.lacks(judged):
            return judged.program
    return None
