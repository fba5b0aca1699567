"""Hangs go on: with their rounds gone once and twice more, models that allow a hang allow what it becomes."""

from dataclasses import replace
from random import Random

import pytest

from constraints.stuck import find_hang_by_sat
from oracle.cat.algebra import bits
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.events import EventKind, ExecutionChoices, ProgramBase
from oracle.executions.judge import passing_checks
from oracle.executions.orders import to_order
from oracle.executions.stuck import ThreadEnding
from oracle.progress.models import GUARANTEES
from tests.random_spins import random_spins

MODELS = ("sc", "tso", "rmo", "ptx-rmo", "ptx-6.0", "rc11", "rc11-scoped", "vulkan", "opencl")
LATER = 1000
"""What is added to the number of an event that is done again."""


def gone_on(hang, model, more):
    """The base of the hang with so many more rounds of every thread that is stuck."""
    old = hang.execution.base
    events, pairs = list(old.events), lambda relation: {(a, b) for a, row in enumerate(relation) for b in row}
    keys = [event.key for event in events]
    reads_from = {keys[read]: keys[write] for write, read in pairs(old.choices.rf)}
    before = {(keys[one], keys[other]) for one, other in pairs(old.choices.co)}
    ordered = {name: {(keys[a], keys[b]) for a, b in pairs(order)} for name, order in old.choices.orders.items()}
    last = [sorted(parts[-1]) for parts in hang.rounds if parts]
    previous = {}
    for ending, parts in zip(hang.endings, hang.rounds, strict=True):
        if ending is ThreadEnding.CYCLES:
            first, second = (sorted(part, key=lambda key: key[1]) for part in parts)
            previous |= dict(zip(second, first, strict=True))
    by_key = {event.key: event for event in events}
    for _ in range(more):
        new = {key: (key[0], key[1] + LATER, *key[2:]) for row in last for key in row}
        shift = new | {first: second for second, first in previous.items()}
        again = []
        for key, later in new.items():
            event = by_key[key]
            moved = {
                name: frozenset(shift.get(source, source) for source in getattr(event, name))
                for name in ("addr", "data")
            }
            ctrl = event.ctrl | frozenset(shift.get(source, source) for source in event.ctrl)
            rmw = None if event.rmw is None else shift[event.rmw]
            again.append(replace(event, key=later, ctrl=ctrl, rmw=rmw, **moved))
            if key in reads_from:
                reads_from[later] = shift.get(reads_from[key], reads_from[key])
        for event in again:
            if event.kind is EventKind.WRITE:
                before |= {
                    (e.key, event.key)
                    for e in by_key.values()
                    if e.kind is EventKind.WRITE and e.location == event.location
                }
        back = {later: key for key, later in new.items()}
        before |= {(new[a], new[b]) for a, b in before if a in new and b in new}
        for order in ordered.values():
            order |= {(new[a], new[b]) for a, b in order if a in new and b in new}
        by_key |= {event.key: event for event in again}
        previous, last = (
            {later: back[later] for later in back if back[later] in previous},
            [[new[k] for k in row] for row in last],
        )
    events = sorted(by_key.values(), key=lambda event: event.key)
    index, algebra = {event.key: number for number, event in enumerate(events)}, bits(1, len(events))
    rf = algebra.pairs((index[write], index[read]) for read, write in reads_from.items())
    co = algebra.pairs((index[one], index[other]) for one, other in before)
    chosen = ExecutionChoices(rf, co, meet=algebra.empty())
    base = ProgramBase(algebra, events, old.places, chosen, old.synchronised)
    orders = {}
    for name, required in to_order(model, base).items():
        found = set()
        for one, other in required:
            a, b = events[one].key, events[other].key
            forward = (a, b) in ordered[name] or ((b, a) not in ordered[name] and a[1] // LATER < b[1] // LATER)
            found.add((one, other) if forward else (other, one))
        orders[name] = algebra.closure(algebra.pairs(found))
    return replace(base, choices=replace(chosen, orders=orders))


@pytest.mark.parametrize("writing", [False, True])
def test_hangs_go_on(writing):
    rng = Random(7 + writing)
    seen = set()
    for _ in range(25):
        test, name = random_spins(rng, writing=writing), rng.choice(MODELS)
        model = load_model(shipped_models()[name], name)
        hang = find_hang_by_sat(test, rng.choice(list(GUARANTEES.values())), model).hang
        if hang is None:
            continue
        for more in (0, 1, 2):
            base = gone_on(hang, model, more)
            assert passing_checks(1, model.judge(base)), (name, more, test)
        seen |= set(hang.endings)
    assert ThreadEnding.SPINS in seen
