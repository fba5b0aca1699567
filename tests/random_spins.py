"""Random small litmus tests with loops that wait: what the differential tests of hangs, and of locks, feed on.

A thread stores, loads, fences, branches and, once, goes round: until a load, or with ``writing`` an exchange or a
compare-and-swap, has read a certain value or another one. Modes and scopes are any, so that weak races are there, too.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from corpus.litmus.instructions import Assign, Branch, Comparison, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Reg
from corpus.litmus.orders import PLAIN, Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Proposition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from corpus.progress.axb import Instruction as AxbInstruction
from corpus.progress.axb import Program

_ORDERS = {
    Load: (Order.WEAK, Order.RELAXED, Order.ACQUIRE),
    Store: (Order.WEAK, Order.RELAXED, Order.RELEASE),
    Rmw: (Order.RELAXED, Order.ACQ_REL),
    Fence: (Order.SC, Order.ACQ_REL),
}


def random_spins(rng: Random, threads: int = 2, instructions: int = 3, writing: bool = False) -> LitmusTest:
    """A test of two locations, with at least one loop."""
    made = tuple(
        Thread(_body(rng, number, rng.randint(1, instructions), writing), Place(cta=rng.randint(0, 1)))
        for number in range(threads)
    )
    nothing = Condition(Quantifier.EXISTS, And(()))
    return LitmusTest("spins", made, (Location("x"), Location("y")), nothing)


def _body(rng: Random, thread: int, length: int, writing: bool) -> tuple[Instruction, ...]:
    end = f"E{thread}"
    body: list[Instruction] = []
    loops = 0
    for step in range(length):
        location, kind = Loc(rng.choice("xy")), rng.random()
        if not loops and (kind < 0.35 or (step == length - 1 and thread == 1)):
            loops += 1
            body += _loop(rng, f"L{thread}", location, writing and rng.random() < 0.5)
        elif kind < 0.6:
            body.append(Store(location, rng.choice((0, 1, 1, 2)), _mode(rng, Store)))
        elif kind < 0.75:
            body.append(Load("r1", location, _mode(rng, Load)))
        elif kind < 0.85:
            body.append(Fence(_mode(rng, Fence)))
        elif kind < 0.92:
            body.append(Store(location, Reg("r0"), _mode(rng, Store)))
        else:
            body.append(Branch(end, Comparison("eq", Reg("r1"), 0)))
    return (*body, Label(end))


def _loop(rng: Random, label: str, location: Loc, writes: bool) -> list[Instruction]:
    access: Instruction = Load("r0", location, _mode(rng, Load))
    if writes:
        access = Rmw("exch", "r0", location, (rng.randint(0, 1),), _mode(rng, Rmw))
        if rng.random() < 0.3:
            access = replace(access, operation="cas", operands=(rng.randint(0, 1), 1))
    body: list[Instruction] = [Label(label), access]
    if rng.random() < 0.2:
        body.append(Fence(_mode(rng, Fence)))
    if rng.random() < 0.15:
        body.append(Load("r2", Loc(rng.choice("xy")), _mode(rng, Load)))
    return [
        *body,
        Branch(label, Comparison(rng.choice(("eq", "ne")), Reg("r0"), rng.randint(0, 1))),
    ]


def _mode(rng: Random, kind: type) -> Mode:
    order = rng.choice(_ORDERS[kind])
    return PLAIN if order is Order.WEAK else Mode(order, rng.choice((Scope.GPU, Scope.GPU, Scope.CTA)))


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


def random_lock(rng: Random, threads: int) -> LitmusTest:
    """A test whose threads take a lock, read a location and write it, and give the lock back, each with any orders.

    It is taken by exchange or by compare-and-swap, once it is seen to be free or at once. A thread may do without it,
    or never give it back. The outcome is a value of the location, or what two threads have read.
    """
    made = []
    for number in range(threads):
        body = _taken(rng, f"L{number}") if rng.random() < 0.9 else []
        body.append(Load("r1", Loc("x"), _mode(rng, Load)))
        added = rng.random() < 0.6
        body += [Assign("r1", "add", (Reg("r1"), 1))] * added
        body.append(Store(Loc("x"), Reg("r1") if added else number + 1, _mode(rng, Store)))
        if rng.random() < 0.8:
            body.append(Store(Loc("l"), 0, _mode(rng, Store)))
        made.append(Thread(tuple(body), Place(cta=rng.randint(0, 1))))
    outcome: Proposition = Atom("eq", Loc("x"), rng.randint(1, threads))
    if rng.random() < 0.5:
        read = [FinalRegister(number, "r1") for number in rng.sample(range(threads), 2)]
        outcome = And(tuple(Atom("eq", term, rng.randint(0, 2)) for term in read))
    condition = Condition(Quantifier.EXISTS, outcome)
    return LitmusTest("lock", tuple(made), (Location("l"), Location("x")), condition)


def _taken(rng: Random, label: str) -> list[Instruction]:
    """The instructions that take a lock."""
    lock = Loc("l")
    exchange = Rmw("exch", "r0", lock, (1,), _mode(rng, Rmw))
    swap = Rmw("cas", "r0", lock, (0, 1), _mode(rng, Rmw))
    again = Branch(label, Comparison("ne", Reg("r0"), 0))
    look = [Load("r0", lock, _mode(rng, Load)), again] if rng.random() < 0.3 else []
    return [Label(label), *look, exchange if rng.random() < 0.5 else swap, again]
