"""Classic shapes in the words of LLVM for AMD GPUs, each with an outcome that ``amdgpu`` forbids.

Each test hands something on by one release and one acquire, of accesses or fences, at the scope that its threads share;
ISA2 by two of them, at two scopes; store buffering is by seq_cst.
"""

from collections.abc import Iterator
from itertools import product

from corpus.litmus.test import (
    And,
    Atom,
    Condition,
    Fence,
    FinalRegister,
    LitmusTest,
    Load,
    Loc,
    Location,
    Mode,
    Order,
    Place,
    Quantifier,
    Region,
    Rmw,
    Scope,
    Store,
    Thread,
)

ALONE = Place()
OTHER = {
    Scope.WARP: Place(0, 0, 0, 0),
    Scope.CTA: Place(0, 0, 0, 1),
    Scope.GPU: Place(0, 0, 1, 0),
    Scope.SYS: Place(1, 0, 0, 0),
}
"""Another thread that a scope joins with the first, and no narrower one."""
JOINED = [
    *((scope, place, "gl" if scope in (Scope.WARP, Scope.CTA) else "g") for scope, place in OTHER.items()),
    (Scope.GPU, OTHER[Scope.CTA], "gl"),
    (Scope.SYS, OTHER[Scope.CTA], "gl"),
]
"""The scopes at which two threads synchronise, the place of the second, and the address spaces that both have."""
REGIONS = {"g": Region.GLOBAL, "l": Region.SHARED}
DATA = {"plain": lambda scope: Mode(), "relaxed": lambda scope: Mode(Order.RELAXED, scope)}
STYLES = ("access", "fence", "update")
STRONGER = ("sc", "acq_rel-update", "acq_rel-fence", "sc-fence")
"""Ways to synchronise: with the order that is asked for, and with a stronger one."""


def release(style, scope, location, number):
    """The instructions by which a thread releases and writes 1."""
    order, what = ordered(style, Order.RELEASE)
    if what == "fence":
        return [Fence(Mode(order, scope)), Store(Loc(location), 1, Mode(Order.RELAXED, scope))]
    if what == "update":
        return [Rmw("exch", f"u{number}", Loc(location), (1,), Mode(order, scope))]
    return [Store(Loc(location), 1, Mode(order, scope))]


def acquire(style, scope, location, register):
    """The instructions by which a thread reads and acquires."""
    order, what = ordered(style, Order.ACQUIRE)
    if what == "fence":
        return [Load(register, Loc(location), Mode(Order.RELAXED, scope)), Fence(Mode(order, scope))]
    if what == "update":
        return [Rmw("add", register, Loc(location), (0,), Mode(order, scope))]
    return [Load(register, Loc(location), Mode(order, scope))]


def ordered(style, order):
    """The order of a way to synchronise that is at least ``order``, and what it is: an access, an update or a fence."""
    word, _, what = style.rpartition("-")
    return {"": order, "acq_rel": Order.ACQ_REL, "sc": Order.SC}[word or ("sc" if what == "sc" else "")], what


def made(name, threads, spaces, true, flags=()):
    """A test of threads, each a place and code; ``true`` and ``flags`` are values of registers and locations."""

    def holds(values):
        return And(tuple(Atom("eq", term, value) for term, value in values))

    condition = Condition(Quantifier.EXISTS, holds(true), holds(flags) if flags else None)
    locations = tuple(Location(each, region=REGIONS[space]) for each, space in spaces.items())
    return LitmusTest(name, tuple(Thread(tuple(code), place) for place, code in threads), locations, condition)


def two_threads() -> Iterator[LitmusTest]:
    """MP, S, LB and SB, at each scope, in each address space, with each way to synchronise."""
    ways = [*product(STYLES, STYLES, DATA), *((style, style, "plain") for style in STRONGER)]
    for scope, there, spaces in JOINED:
        near = "-near" if there is OTHER[Scope.CTA] and scope is not Scope.CTA else ""
        for x, y, (out, into, kind) in product(spaces, spaces, ways):
            word = "-".join((scope.label + near, x + y, out, into, kind))
            mode, home = DATA[kind](scope), {"x": x, "y": y}
            before, after = release(out, scope, "y", 0), acquire(into, scope, "y", "r0")
            seen = [(FinalRegister(1, "r0"), 1)]
            mp = [(ALONE, [Store(Loc("x"), 1, mode), *before]), (there, [*after, Load("r1", Loc("x"), mode)])]
            yield made(f"MP-{word}", mp, home, [(FinalRegister(1, "r1"), 0)], seen)
            s = [(ALONE, [Store(Loc("x"), 2, mode), *before]), (there, [*after, Store(Loc("x"), 1, mode)])]
            yield made(f"S-{word}", s, home, [(Loc("x"), 2)], seen)
            lb = [(ALONE, [Load("r1", Loc("x"), mode), *before]), (there, [*after, Store(Loc("x"), 1, mode)])]
            yield made(f"LB-{word}", lb, home, [(FinalRegister(0, "r1"), 1)], seen)
        sc = Mode(Order.SC, scope)
        relaxed = Mode(Order.RELAXED, scope)
        for x, y, fences in product(spaces, spaces, (False, True)):
            mode, between = (relaxed, [Fence(sc)]) if fences else (sc, [])
            sb = [
                (ALONE, [Store(Loc("x"), 1, mode), *between, Load("r0", Loc("y"), mode)]),
                (there, [Store(Loc("y"), 1, mode), *between, Load("r0", Loc("x"), mode)]),
            ]
            ends = [(FinalRegister(0, "r0"), 0), (FinalRegister(1, "r0"), 0)]
            yield made(f"SB-{scope.label}{near}-{x}{y}-{'fence' if fences else 'access'}", sb, {"x": x, "y": y}, ends)


CHAINS = {
    (Scope.CTA, Scope.GPU): (Place(0, 0, 0, 1), Place(0, 0, 1, 0)),
    (Scope.GPU, Scope.CTA): (Place(0, 0, 1, 0), Place(0, 0, 1, 1)),
    (Scope.CTA, Scope.CTA): (Place(0, 0, 0, 1), Place(0, 0, 0, 2)),
    (Scope.GPU, Scope.GPU): (Place(0, 0, 1, 0), Place(0, 0, 2, 0)),
    (Scope.GPU, Scope.SYS): (Place(0, 0, 1, 0), Place(1, 0, 0, 0)),
    (Scope.CTA, Scope.SYS): (Place(0, 0, 0, 1), Place(1, 0, 0, 0)),
}
"""The places of the second and third thread of ISA2, by the scopes of the two steps."""


def three_threads() -> Iterator[LitmusTest]:
    """ISA2, of data in global memory: what one thread released to a second, the second releases to a third."""
    for (one, two), (middle, last) in CHAINS.items():
        for flag, style in product("gl" if one is Scope.CTA else "g", ("access", "fence")):
            code = [
                (ALONE, [Store(Loc("x"), 1), *release(style, one, "y", 0)]),
                (middle, [*acquire(style, one, "y", "r0"), *release(style, two, "z", 1)]),
                (last, [*acquire(style, two, "z", "r1"), Load("r2", Loc("x"))]),
            ]
            seen = [(FinalRegister(1, "r0"), 1), (FinalRegister(2, "r1"), 1)]
            word = f"ISA2-{one.label}-{two.label}-{flag}-{style}"
            yield made(word, code, {"x": "g", "y": flag, "z": "g"}, [(FinalRegister(2, "r2"), 0)], seen)


def shapes() -> list[LitmusTest]:
    """Every test."""
    return [*two_threads(), *three_threads()]
