"""Questions about the executions that a model allows, where these are few enough to be listed.

A question is a set of listed executions: those whose final state satisfies a proposition, those that raise a flag, or
those that access some locations. The same questions are asked of a solver by ``constraints.witnesses``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from corpus.litmus.propositions import Proposition, Term
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import CheckResult, Model
from oracle.executions.bounds import UNROLL
from oracle.executions.candidates import CandidateBatch
from oracle.executions.events import INITIAL, Event, EventKind
from oracle.executions.judge import is_complete, judged
from oracle.executions.threads import unroll_threads
from oracle.executions.values import Value
from oracle.executions.witness import CandidateExecution, execution_of


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """Executions of each batch, as the bits of a number."""

    masks: tuple[int, ...]

    def __invert__(self) -> ListedQuestion:
        return ListedQuestion(tuple(~mask for mask in self.masks))


class ListedExecutions:
    """The executions of a test that a model allows. ``flags`` are those that raise each flag of the model's.

    ``ended`` and ``all_ended``: all of them. ``cut``: loops were cut, and there may be others beyond.
    """

    def __init__(self, test: LitmusTest, model: Model, unroll: int = UNROLL) -> None:
        """List them. Raises ``TooManyError`` where they are too many, and ``InputError`` where an address is no
        location of the test, or the model says nothing of the test.
        """
        threads = unroll_threads(test, unroll)
        self._test = test
        self._batches: list[tuple[CandidateBatch, int, list[CheckResult[int]]]] = list(
            judged(test, threads, model, forbidden=False)
        )
        self.ended = self.all_ended = ListedQuestion(tuple(-1 for _ in self._batches))
        self.cut = any(thread.bounded for thread in threads) and not is_complete(test, threads, model)
        names = dict.fromkeys(check.name for check in model.flags)
        self.flags: Mapping[str, ListedQuestion] = {name: self._raising(name) for name in names}

    def satisfied(self, proposition: Proposition) -> ListedQuestion:
        """The executions whose final state satisfies a proposition, of terms that the test's condition names."""
        return self._of(lambda batch: batch.satisfying(proposition))

    def leaves(self, finals: Mapping[Term, Value]) -> ListedQuestion:
        """The executions in which some terms have these values in the end, of locations that are asked for."""

        def leaving(batch: CandidateBatch) -> int:
            found = batch.valid
            for term, value in finals.items():
                found &= batch.finals[term].get(value, 0)
            return found

        return self._of(leaving)

    def accesses(self, locations: Collection[str]) -> ListedQuestion:
        """The executions in which a thread accesses one of these locations."""
        return self.happens(lambda event: event.location in locations)

    def happens(self, is_meant: Callable[[Event], bool]) -> ListedQuestion:
        """The executions in which a thread does what one of these events is."""

        def happening(batch: CandidateBatch) -> int:
            there = any(event.thread != INITIAL and is_meant(event) for event in batch.base.events)
            return batch.valid if there else 0

        return self._of(happening)

    def reads_initial(self, locations: Collection[str]) -> ListedQuestion:
        """The executions in which a read of one of these locations reads what nobody has written."""

        def reading(batch: CandidateBatch) -> int:
            found = 0
            for event, row in zip(batch.base.events, batch.base.relation("rf"), strict=True):
                if event.thread == INITIAL and event.location in locations:
                    for mask in row.values():
                        found |= mask
            return found

        return self._of(reading)

    def reads_from(self, is_meant: Callable[[Event], bool]) -> ListedQuestion:
        """The executions in which what one of these writes has written is read."""
        return self._of(lambda batch: _behind(batch, is_meant, "rf", frozenset()))

    def after(self, is_meant: Callable[[Event], bool], is_new: Callable[[Event], bool]) -> ListedQuestion:
        """The executions in which what one of these writes has written is read, or is written over, and no write that
        is new stands between.
        """

        def following(batch: CandidateBatch) -> int:
            events = enumerate(batch.base.events)
            new = frozenset(number for number, event in events if event.thread != INITIAL and is_new(event))
            return _behind(batch, is_meant, "rf", new) | _behind(batch, is_meant, "co", new)

        return self._of(following)

    def find(self, questions: Sequence[ListedQuestion]) -> CandidateExecution | None:
        """One of them that all questions have; None where there is none."""
        for number, (batch, allowed, _) in enumerate(self._batches):
            for question in questions:
                allowed &= question.masks[number]
            if allowed:
                return execution_of(self._test, batch, (allowed & -allowed).bit_length() - 1)
        return None

    def _of(self, among: Callable[[CandidateBatch], int]) -> ListedQuestion:
        return ListedQuestion(tuple(among(batch) for batch, _, _ in self._batches))

    def _raising(self, name: str) -> ListedQuestion:
        found = []
        for _, _, results in self._batches:
            mask = 0
            for result in results:
                mask |= result.truth if result.check.flag and result.check.name == name else 0
            found.append(mask)
        return ListedQuestion(tuple(found))


def _behind(batch: CandidateBatch, is_meant: Callable[[Event], bool], relation: str, new: frozenset[int]) -> int:
    """Return the executions in which a relation leads from a write to another event, and to none before that is new."""
    found, rows = 0, batch.base.relation(relation)
    for event, row in zip(batch.base.events, rows, strict=True):
        if event.kind is not EventKind.WRITE or event.thread == INITIAL or not is_meant(event):
            continue
        for other, mask in row.items():
            if other in new:
                continue
            for one in new & {*row}:
                mask &= ~(row[one] & rows[one].get(other, 0))
            found |= mask
    return found
