"""The executions of a program as questions are asked of them, whatever finds them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, Self, TypeVar

from corpus.litmus.propositions import Proposition, Term
from oracle.executions.events import Event
from oracle.executions.stuck import Hang
from oracle.executions.values import Value
from oracle.executions.witness import CandidateExecution
from oracle.promises import Promise


class Invertible(Protocol):
    """What may be asked not to be so."""

    def __invert__(self) -> Self: ...


Query = TypeVar("Query", bound=Invertible)


class Search(Protocol[Query]):
    """Executions that a model allows, of which one is found that has all that is asked for: by a solver, or listed, or
    grown. ``ended``: those that have come to their end; ``all_ended``: those all of whose threads have.
    """

    flags: Mapping[str, Query]
    ended: Query
    all_ended: Query
    cut: bool

    def satisfied(self, proposition: Proposition, /) -> Query:
        """What asks for a final state that satisfies a proposition."""

    def leaves(self, finals: Mapping[Term, Value], /) -> Query:
        """What asks that some terms have these values in the end, of locations that the program observes."""

    def accesses(self, locations: Collection[str], /) -> Query:
        """What asks for an access of one of these locations."""

    def happens(self, is_meant: Callable[[Event], bool], /) -> Query:
        """What asks that a thread does what one of these events is."""

    def reads_from(self, is_meant: Callable[[Event], bool], /) -> Query:
        """What asks for a read of what one of these writes has written."""

    def after(self, is_meant: Callable[[Event], bool], is_new: Callable[[Event], bool], /) -> Query:
        """What asks for a read of what one of these writes has written, or for a write over it, before a new one."""

    def reads_initial(self, locations: Collection[str], /) -> Query:
        """What asks for a read of what nobody has written to one of these locations."""

    def find(self, questions: Sequence[Query], /) -> CandidateExecution | None:
        """One of the executions that have all that is asked for; None where there is none."""


class Whole(Search[Query], Protocol[Query]):
    """All executions of a program, those without an end, too: grown, or the ways through its states."""

    def never_ends(self) -> bool:
        """Whether a thread may wait for ever where all are run fairly, needed or not."""

    def hang(self, name: str, promise: Promise, strong: bool = False, /) -> Hang | None:
        """A hang under a progress model; None where there is none. Raises ``TooManyError`` where that is not known."""
