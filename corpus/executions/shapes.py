"""Builds classic shapes in the words of LLVM for AMD GPUs, each with an outcome that ``amdgpu`` forbids.

Each test hands something on by one release and one acquire, of accesses or fences, at the scope that its threads share;
ISA2 by two of them, at two scopes; store buffering is by seq_cst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from corpus.litmus.instructions import Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Quantifier, Term
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

_ALONE = Place()
_OTHER = {
    Scope.WARP: Place(0, 0, 0, 0),
    Scope.CTA: Place(0, 0, 0, 1),
    Scope.GPU: Place(0, 0, 1, 0),
    Scope.SYS: Place(1, 0, 0, 0),
}
"""Another thread that a scope joins with the first, and no narrower one."""
_JOINED = [
    *((scope, place, "gl" if scope in (Scope.WARP, Scope.CTA) else "g") for scope, place in _OTHER.items()),
    (Scope.GPU, _OTHER[Scope.CTA], "gl"),
    (Scope.SYS, _OTHER[Scope.CTA], "gl"),
]
"""The scopes at which two threads synchronise, the place of the second, and the address spaces that both have."""
_REGIONS = {"g": Region.GLOBAL, "l": Region.SHARED}
_DATA: Mapping[str, Callable[[Scope], Mode]] = {
    "plain": lambda scope: Mode(),
    "relaxed": lambda scope: Mode(Order.RELAXED, scope),
}
_STYLES = ("access", "fence", "update")
_STRONGER = ("sc", "acq_rel-update", "acq_rel-fence", "sc-fence")
"""Ways to synchronise: with the order that is asked for, and with a stronger one."""


def _release(style: str, scope: Scope, location: str, number: int) -> list[Instruction]:
    """The instructions by which a thread releases and writes 1."""
    order, what = _ordered(style, Order.RELEASE)
    if what == "fence":
        return [Fence(Mode(order, scope)), Store(Loc(location), 1, Mode(Order.RELAXED, scope))]
    if what == "update":
        return [Rmw("exch", f"u{number}", Loc(location), (1,), Mode(order, scope))]
    return [Store(Loc(location), 1, Mode(order, scope))]


def _acquire(style: str, scope: Scope, location: str, register: str) -> list[Instruction]:
    """The instructions by which a thread reads and acquires."""
    order, what = _ordered(style, Order.ACQUIRE)
    if what == "fence":
        return [Load(register, Loc(location), Mode(Order.RELAXED, scope)), Fence(Mode(order, scope))]
    if what == "update":
        return [Rmw("add", register, Loc(location), (0,), Mode(order, scope))]
    return [Load(register, Loc(location), Mode(order, scope))]


def _ordered(style: str, order: Order) -> tuple[Order, str]:
    """The order of a way to synchronise that is at least ``order``, and what it is: an access, an update or a fence."""
    word, _, what = style.rpartition("-")
    return {"": order, "acq_rel": Order.ACQ_REL, "sc": Order.SC}[word or ("sc" if what == "sc" else "")], what


def _made(
    name: str,
    threads: Sequence[tuple[Place, Sequence[Instruction]]],
    spaces: Mapping[str, str],
    true: Sequence[tuple[Term, int]],
    flags: Sequence[tuple[Term, int]] = (),
) -> LitmusTest:
    """A test of threads, each a place and code; ``true`` and ``flags`` are values of registers and locations."""

    def holds(values: Sequence[tuple[Term, int]]) -> And:
        return And(tuple(Atom("eq", term, value) for term, value in values))

    condition = Condition(Quantifier.EXISTS, holds(true), holds(flags) if flags else None)
    locations = tuple(Location(name, region=_REGIONS[space]) for name, space in spaces.items())
    return LitmusTest(name, tuple(Thread(tuple(code), place) for place, code in threads), locations, condition)


def _two_threads() -> Iterator[LitmusTest]:
    """MP, S, LB and SB, at each scope, in each address space, with each way to synchronise."""
    ways = [*product(_STYLES, _STYLES, _DATA), *((style, style, "plain") for style in _STRONGER)]
    for scope, there, spaces in _JOINED:
        near = "-near" if there is _OTHER[Scope.CTA] and scope is not Scope.CTA else ""
        for x, y, (out, into, kind) in product(spaces, spaces, ways):
            word = "-".join((scope.label + near, x + y, out, into, kind))
            mode, home = _DATA[kind](scope), {"x": x, "y": y}
            before, after = _release(out, scope, "y", 0), _acquire(into, scope, "y", "r0")
            seen: list[tuple[Term, int]] = [(FinalRegister(1, "r0"), 1)]
            mp: list[tuple[Place, list[Instruction]]]
            mp = [(_ALONE, [Store(Loc("x"), 1, mode), *before]), (there, [*after, Load("r1", Loc("x"), mode)])]
            yield _made(f"MP-{word}", mp, home, [(FinalRegister(1, "r1"), 0)], seen)
            s = [(_ALONE, [Store(Loc("x"), 2, mode), *before]), (there, [*after, Store(Loc("x"), 1, mode)])]
            yield _made(f"S-{word}", s, home, [(Loc("x"), 2)], seen)
            lb = [(_ALONE, [Load("r1", Loc("x"), mode), *before]), (there, [*after, Store(Loc("x"), 1, mode)])]
            yield _made(f"LB-{word}", lb, home, [(FinalRegister(0, "r1"), 1)], seen)
        sc = Mode(Order.SC, scope)
        relaxed = Mode(Order.RELAXED, scope)
        for x, y, fences in product(spaces, spaces, (False, True)):
            mode, between = (relaxed, [Fence(sc)]) if fences else (sc, [])
            sb: list[tuple[Place, list[Instruction]]] = [
                (_ALONE, [Store(Loc("x"), 1, mode), *between, Load("r0", Loc("y"), mode)]),
                (there, [Store(Loc("y"), 1, mode), *between, Load("r0", Loc("x"), mode)]),
            ]
            ends: list[tuple[Term, int]] = [(FinalRegister(0, "r0"), 0), (FinalRegister(1, "r0"), 0)]
            yield _made(f"SB-{scope.label}{near}-{x}{y}-{'fence' if fences else 'access'}", sb, {"x": x, "y": y}, ends)


_CHAINS = {
    (Scope.CTA, Scope.GPU): (Place(0, 0, 0, 1), Place(0, 0, 1, 0)),
    (Scope.GPU, Scope.CTA): (Place(0, 0, 1, 0), Place(0, 0, 1, 1)),
    (Scope.CTA, Scope.CTA): (Place(0, 0, 0, 1), Place(0, 0, 0, 2)),
    (Scope.GPU, Scope.GPU): (Place(0, 0, 1, 0), Place(0, 0, 2, 0)),
    (Scope.GPU, Scope.SYS): (Place(0, 0, 1, 0), Place(1, 0, 0, 0)),
    (Scope.CTA, Scope.SYS): (Place(0, 0, 0, 1), Place(1, 0, 0, 0)),
}
"""The places of the second and third thread of ISA2, by the scopes of the two steps."""


def _three_threads() -> Iterator[LitmusTest]:
    """ISA2, of data in global memory: what one thread released to a second, the second releases to a third."""
    for (one, two), (middle, last) in _CHAINS.items():
        for flag, style in product("gl" if one is Scope.CTA else "g", ("access", "fence")):
            code = [
                (_ALONE, [Store(Loc("x"), 1), *_release(style, one, "y", 0)]),
                (middle, [*_acquire(style, one, "y", "r0"), *_release(style, two, "z", 1)]),
                (last, [*_acquire(style, two, "z", "r1"), Load("r2", Loc("x"))]),
            ]
            seen: list[tuple[Term, int]] = [(FinalRegister(1, "r0"), 1), (FinalRegister(2, "r1"), 1)]
            word = f"ISA2-{one.label}-{two.label}-{flag}-{style}"
            yield _made(word, code, {"x": "g", "y": flag, "z": "g"}, [(FinalRegister(2, "r2"), 0)], seen)


@cache
def shapes() -> tuple[LitmusTest, ...]:
    """Return every test, each under a name of its own."""
    return (*_two_threads(), *_three_threads())
