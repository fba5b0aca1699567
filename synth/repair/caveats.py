"""The caveats of a repair: what its model may take for stronger than machines do.

    control dependencies   that order reads: the answer's tests are judged again where they order none
    what is not read       scopes, orders, cache operators, fences, .. that the model does not tell from stronger ones:
                           the answer is that for the stronger ones
    flags                  an allowed execution raises one, as of a race, of which most models promise nothing

Example: on cas-sl (Alglave et al. 2015, Fig. 9) one fence is enough under ptx-rmo, whose dependencies order the read of
``x`` behind the branch; the paper has one on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from constraints.repairs import RepairableProgram
from constraints.witnesses import violated
from corpus.executions.execution import OpKind
from corpus.laws.c11 import WEAKER
from corpus.laws.opencl import FENCED
from corpus.laws.ptx import PAST_L1
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.orders import DEFAULT_RMW, Mode, Order, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect
from oracle.cat.interpreter import Model
from oracle.cat.variants import branches_order_writes
from oracle.executions.events import EventKind as EventKind
from oracle.executions.vocabulary import Telling, telling
from oracle.executions.witness import CandidateExecution
from synth.memory.explanation import event_text
from synth.repair.fixing import RepairQuestion, flags_raised
from synth.repair.sites import KINDS, SitePlace, at_place, common_scope, has_all, is_expressible

Instructed = Load | Store | Rmw | Fence | Barrier


def caveats(tests: Sequence[LitmusTest], dialect: Dialect, question: RepairQuestion) -> tuple[str, ...]:
    """Return the caveats of the answer for these tests, repaired or weakened, a line each.

    Raises ``TooManyError`` where the tests are too large.
    """
    branches = (line for test in tests for line in _branches(test, question))
    return tuple(dict.fromkeys([*branches, *unread(tests, dialect, question.model), *_flags(tests, question)]))


def _branches(test: LitmusTest, question: RepairQuestion) -> Iterator[str]:
    """Yield a caveat where control dependencies to reads are needed, with those of an execution that they exclude."""
    model = question.model
    if not model.mentions("ctrl"):
        return
    options = (question.unroll, question.outcome, question.flags)
    program = RepairableProgram(test, branches_order_writes(model), (), (), *options)
    try:
        left = program.left(())
        execution = None if left is None else left.execution
    finally:
        program.close()
    if execution is None:
        return
    pairs = ", ".join(
        f"P{execution.events[read].thread}: {event_text(execution, read)} to {event_text(execution, later)}"
        for read, later in _branches_of(execution, model)
    )
    yield (
        f"rests on control dependencies to reads ({pairs}): {model.name} keeps these in order, and most processors do "
        "not"
    )


def _branches_of(execution: CandidateExecution, model: Model) -> list[tuple[int, int]]:
    """Return the control dependencies to reads in an execution's violation; all of the execution where it has none."""
    reads = {number for number, event in enumerate(execution.events) if event.kind is EventKind.READ}
    every = [(one, other) for one, other in execution.pairs("ctrl") if other in reads]
    results = [result.truth for result in model.judge(execution.base) if not result.check.flag]
    failed = next((number for number, truth in enumerate(results) if not truth), None)
    if failed is None:  # the execution raises a flag, or passes all checks
        return every
    violation = violated(model, failed, execution)
    steps = {(step.source, step.target) for step in (*violation.steps, *violation.aside)}
    return [pair for pair in every if pair in steps] or every


def unread(tests: Sequence[LitmusTest], dialect: Dialect, model: Model) -> Iterator[str]:
    """Yield what the model does not read of instructions, where it does not tell a word from a stronger one."""
    telling_words = telling([model], flags=True)
    found: dict[str, list[str]] = {}
    for test in tests:
        every = common_scope(test)
        for number, thread in enumerate(test.threads):
            for index, ins in enumerate(thread.instructions):
                if isinstance(ins, Instructed):
                    orders = _stronger(test, SitePlace(number, index, False), dialect)
                    for what in _unread_of(ins, telling_words, every, orders):
                        found.setdefault(what, []).append(f"P{number}: {dialect.statement(test, number, ins)}")
    for what in UNREAD:
        if what in found:
            yield f"{model.name} does not read {what}: {', '.join(dict.fromkeys(found[what]))}"


UNREAD = (
    "scopes, and these do not have all threads",
    "these orders",
    "volatile",
    "cache operators",
    "which memory a fence is for",
    "these fences",
    "these barriers",
)
"""The parts of an instruction that a model may not read."""


def _unread_of(ins: Instructed, words: Telling, every: Scope, orders: Sequence[Order]) -> Iterator[str]:
    """Yield what the model does not read of one instruction; ``orders``: the stronger ones that it may have."""
    kind, mode = KINDS[type(ins)], ins.mode
    scopes, these, volatile, caches, memory, fences, barriers = UNREAD
    if not words.reads(kind, mode):
        yield fences if kind is OpKind.FENCE else barriers
        return

    def same(other: Mode) -> bool:
        return words.of(kind, other) == words.of(kind, mode)

    if not has_all(mode, every) and same(replace(mode, scope=every)):
        yield scopes
    if any(same(replace(mode, order=order)) for order in orders):
        yield these
    if mode.volatile and same(replace(mode, volatile=False)):
        yield volatile
    if mode.cache not in (None, *PAST_L1) and same(replace(mode, cache=None)):
        yield caches
    if not set(mode.tags).isdisjoint(FENCED) and same(replace(mode, tags=())):
        yield memory


def _stronger(test: LitmusTest, place: SitePlace, dialect: Dialect) -> list[Order]:
    """Return the orders above that of an instruction, if it says one, that the dialect has there."""
    ins = test.threads[place.thread].instructions[place.position]
    if not isinstance(ins, Instructed) or (isinstance(ins, Rmw) and ins.mode == DEFAULT_RMW):
        return []
    above = [order for order, weaker in WEAKER.items() if ins.mode.order in weaker]
    return [order for order in above if is_expressible(at_place(test, place, replace(ins.mode, order=order)), dialect)]


def _flags(tests: Sequence[LitmusTest], question: RepairQuestion) -> Iterator[str]:
    """Yield a caveat where an allowed execution raises a flag."""
    if question.model.flags and not question.flags:
        names = dict.fromkeys(name for test in tests for name in flags_raised(test, question.model, question.unroll))
        if names:
            yield f"{question.model.name} flags {', '.join(names)}, and says nothing then of what the program does"
