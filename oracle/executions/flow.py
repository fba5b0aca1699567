"""The terms that the condition of a litmus test asks for, and the control flow of its threads in executions."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from corpus.litmus.flow import ThreadFlow, thread_flow
from corpus.litmus.instructions import Barrier, registers_written
from corpus.litmus.locations import Loc
from corpus.litmus.propositions import FinalRegister, Term, atoms_of, propositions
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread, unguarded


@lru_cache(maxsize=4)
def asked_terms(test: LitmusTest) -> tuple[Term, ...]:
    """The registers and locations whose final values the condition asks for, in the order of their mention."""
    named = [
        term
        for proposition in propositions(test.condition)
        for atom in atoms_of(proposition)
        for term in (atom.left, atom.right)
        if not isinstance(term, int)
    ]
    return tuple(dict.fromkeys((*named, *(term for term in test.condition.observed if not isinstance(term, int)))))


def asked_locations(test: LitmusTest) -> list[Loc]:
    """The locations whose final values the condition asks for."""
    return [term for term in asked_terms(test) if isinstance(term, Loc)]


def flow_of(test: LitmusTest, number: int) -> ThreadFlow:
    """The control flow of a thread each of whose predicates is a branch, in executions that have an end.

    At its end the registers that the condition asks for are needed. The thread may stay for ever at a barrier with a
    quorum if all that the condition asks of the thread is decided by then: a register that the thread would still write
    has no final value.
    """
    observed = frozenset(
        term.register for term in asked_terms(test) if isinstance(term, FinalRegister) and term.thread == number
    )
    return _flow_in_executions(unguarded(test.threads[number]), observed)


@lru_cache(maxsize=1 << 10)  # the tests of a suite have threads in common
def _flow_in_executions(thread: Thread, observed: frozenset[str]) -> ThreadFlow:
    flow = thread_flow(thread)
    staying = {
        place
        for place, ins in enumerate(flow.code)
        if isinstance(ins, Barrier) and ins.quorum is not None and not ins.arrive
        if observed.isdisjoint(
            name for later in flow.ahead[place + 1] - {flow.end} for name in registers_written(flow.code[later])
        )
    }
    return replace(flow, needed=observed, staying=frozenset(staying))
