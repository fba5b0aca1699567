"""Random small litmus tests with loops that wait: what the differential tests of hangs, and of locks, feed on.

A thread stores, loads, fences, branches and, once, goes round: until a load, or with ``writing`` an exchange or a
compare-and-swap, has read a certain value or another one. Modes and scopes are any, so that weak races are there, too.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from corpus.litmus import test as litmus
from corpus.progress.axb import Instruction as AxbInstruction
from corpus.progress.axb import Program

_ORDERS = {
    litmus.Load: (litmus.Order.WEAK, litmus.Order.RELAXED, litmus.Order.ACQUIRE),
    litmus.Store: (litmus.Order.WEAK, litmus.Order.RELAXED, litmus.Order.RELEASE),
    litmus.Rmw: (litmus.Order.RELAXED, litmus.Order.ACQ_REL),
    litmus.Fence: (litmus.Order.SC, litmus.Order.ACQ_REL),
}


def random_spins(rng: Random, threads: int = 2, instructions: int = 3, writing: bool = False) -> litmus.LitmusTest:
    """A test of two locations, with at least one loop."""
    made = tuple(
        litmus.Thread(_body(rng, number, rng.randint(1, instructions), writing), litmus.Place(cta=rng.randint(0, 1)))
        for number in range(threads)
    )
    nothing = litmus.Condition(litmus.Quantifier.EXISTS, litmus.And(()))
    return litmus.LitmusTest("spins", made, (litmus.Location("x"), litmus.Location("y")), nothing)


def _body(rng: Random, thread: int, length: int, writing: bool) -> tuple[litmus.Instruction, ...]:
    end = f"E{thread}"
    body: list[litmus.Instruction] = []
    loops = 0
    for step in range(length):
        location, kind = litmus.Loc(rng.choice("xy")), rng.random()
        if not loops and (kind < 0.35 or (step == length - 1 and thread == 1)):
            loops += 1
            body += _loop(rng, f"L{thread}", location, writing and rng.random() < 0.5)
        elif kind < 0.6:
            body.append(litmus.Store(location, rng.choice((0, 1, 1, 2)), _mode(rng, litmus.Store)))
        elif kind < 0.75:
            body.append(litmus.Load("r1", location, _mode(rng, litmus.Load)))
        elif kind < 0.85:
            body.append(litmus.Fence(_mode(rng, litmus.Fence)))
        elif kind < 0.92:
            body.append(litmus.Store(location, litmus.Reg("r0"), _mode(rng, litmus.Store)))
        else:
            body.append(litmus.Branch(end, litmus.Comparison("eq", litmus.Reg("r1"), 0)))
    return (*body, litmus.Label(end))


def _loop(rng: Random, label: str, location: litmus.Loc, writes: bool) -> list[litmus.Instruction]:
    access: litmus.Instruction = litmus.Load("r0", location, _mode(rng, litmus.Load))
    if writes:
        access = litmus.Rmw("exch", "r0", location, (rng.randint(0, 1),), _mode(rng, litmus.Rmw))
        if rng.random() < 0.3:
            access = replace(access, operation="cas", operands=(rng.randint(0, 1), 1))
    body: list[litmus.Instruction] = [litmus.Label(label), access]
    if rng.random() < 0.2:
        body.append(litmus.Fence(_mode(rng, litmus.Fence)))
    if rng.random() < 0.15:
        body.append(litmus.Load("r2", litmus.Loc(rng.choice("xy")), _mode(rng, litmus.Load)))
    return [
        *body,
        litmus.Branch(label, litmus.Comparison(rng.choice(("eq", "ne")), litmus.Reg("r0"), rng.randint(0, 1))),
    ]


def _mode(rng: Random, kind: type) -> litmus.Mode:
    order = rng.choice(_ORDERS[kind])
    return (
        litmus.PLAIN
        if order is litmus.Order.WEAK
        else litmus.Mode(order, rng.choice((litmus.Scope.GPU, litmus.Scope.GPU, litmus.Scope.CTA)))
    )


def random_axb(rng: Random, threads: int = 2, instructions: int = 2) -> Program:
    """An AXB program of one location."""
    return Program(tuple(_axb_thread(rng, rng.randint(1, instructions)) for _ in range(threads)))


def _axb_thread(rng: Random, length: int) -> tuple[AxbInstruction, ...]:
    body = []
    for pc in range(length):
        if rng.random() < 0.3:
            body.append(AxbInstruction(0, 0, pc + 1, rng.randint(0, 1)))
        else:
            jump = rng.choice([place for place in range(length + 1) if place != pc + 1])
            body.append(AxbInstruction(0, rng.randint(0, 1), jump, rng.choice((None, 0, 1))))
    return tuple(body)


def random_lock(rng: Random, threads: int) -> litmus.LitmusTest:
    """A test whose threads take a lock, read a location and write it, and give the lock back, each with any orders.

    It is taken by exchange or by compare-and-swap, once it is seen to be free or at once. A thread may do without it,
    or never give it back. The outcome is a value of the location, or what two threads have read.
    """
    made = []
    for number in range(threads):
        body = _taken(rng, f"L{number}") if rng.random() < 0.9 else []
        body.append(litmus.Load("r1", litmus.Loc("x"), _mode(rng, litmus.Load)))
        added = rng.random() < 0.6
        body += [litmus.Assign("r1", "add", (litmus.Reg("r1"), 1))] * added
        body.append(litmus.Store(litmus.Loc("x"), litmus.Reg("r1") if added else number + 1, _mode(rng, litmus.Store)))
        if rng.random() < 0.8:
            body.append(litmus.Store(litmus.Loc("l"), 0, _mode(rng, litmus.Store)))
        made.append(litmus.Thread(tuple(body), litmus.Place(cta=rng.randint(0, 1))))
    outcome: litmus.Proposition = litmus.Atom("eq", litmus.Loc("x"), rng.randint(1, threads))
    if rng.random() < 0.5:
        read = [litmus.FinalRegister(number, "r1") for number in rng.sample(range(threads), 2)]
        outcome = litmus.And(tuple(litmus.Atom("eq", term, rng.randint(0, 2)) for term in read))
    condition = litmus.Condition(litmus.Quantifier.EXISTS, outcome)
    return litmus.LitmusTest("lock", tuple(made), (litmus.Location("l"), litmus.Location("x")), condition)


def _taken(rng: Random, label: str) -> list[litmus.Instruction]:
    """The instructions that take a lock."""
    lock = litmus.Loc("l")
    exchange = litmus.Rmw("exch", "r0", lock, (1,), _mode(rng, litmus.Rmw))
    swap = litmus.Rmw("cas", "r0", lock, (0, 1), _mode(rng, litmus.Rmw))
    again = litmus.Branch(label, litmus.Comparison("ne", litmus.Reg("r0"), 0))
    look = [litmus.Load("r0", lock, _mode(rng, litmus.Load)), again] if rng.random() < 0.3 else []
    return [litmus.Label(label), *look, exchange if rng.random() < 0.5 else swap, again]
