"""Every row of a table of code sequences as an instruction of a HIP program, with something to wait for before each.

A thread stores to and loads from global memory and stores to local memory, so that all counters are busy, and then does
what the row is for.
"""

from collections.abc import Iterator
from itertools import count, product

from corpus.laws.c11 import LEGAL_ORDERS
from corpus.litmus.instructions import Barrier, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

SCOPES = (Scope.WARP, Scope.CTA, Scope.GPU, Scope.SYS)
FLAGS = {Region.GLOBAL: Loc("x"), Region.SHARED: Loc("y")}
ALONE = {Region.GLOBAL: "global-fence", Region.SHARED: "local-fence"}
LOCATIONS = tuple(
    Location(name, 0, region)
    for name, region in (("x", Region.GLOBAL), ("y", Region.SHARED), ("g", Region.GLOBAL), ("l", Region.SHARED))
)


def modes(kind: type[Instruction]) -> Iterator[Mode]:
    """The orders with scopes that an instruction may have; a relaxed fence is none."""
    orders = (order for order in LEGAL_ORDERS[kind] if kind is not Fence or order is not Order.RELAXED)
    return (Mode(*each) for each in product(orders, SCOPES))


def rows(name: str) -> Iterator[Instruction]:
    """The instructions of one of ``PROGRAMS``."""
    kind, _, memory = name.partition("-")
    registers = (f"r{number}" for number in count())
    match kind, Region(memory) if memory in list(Region) else None:
        case "loads", Region() as region:
            yield from (Load(next(registers), FLAGS[region], mode) for mode in (Mode(), *modes(Load)))
        case "stores", Region() as region:
            yield from (Store(FLAGS[region], 1, mode) for mode in (Mode(), *modes(Store)))
        case "updates", Region() as region:
            yield from (Rmw("add", next(registers), FLAGS[region], (0,), mode) for mode in modes(Rmw))
        case "reductions", Region() as region:
            yield from (Rmw("add", None, FLAGS[region], (1,), mode) for mode in modes(Rmw))
        case "exchanges", Region() as region:
            yield from (Rmw("cas", next(registers), FLAGS[region], (0, 1), mode) for mode in modes(Rmw))
        case "fences", region:
            tags = () if region is None else (ALONE[region],)
            yield from (Fence(Mode(mode.order, mode.scope, tags=tags)) for mode in modes(Fence))
        case "barriers", _:
            yield Barrier(0)


PROGRAMS = (
    *(f"{kind}-{memory}" for kind in ("loads", "stores", "updates", "reductions", "exchanges") for memory in FLAGS),
    "fences",
    "barriers",
)
"""What programs are of."""
SPACED = tuple(f"fences-{memory}" for memory in FLAGS)
"""Those that need clang 19."""


def busy(name: str) -> LitmusTest:
    """A program of one of ``PROGRAMS``."""
    code = list[Instruction]()
    for number, ins in enumerate(rows(name)):
        code += [Store(Loc("g"), 2), Load(f"g{number}", Loc("g")), Store(Loc("l"), 2), ins]
    asked = Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 1))
    return LitmusTest(name, (Thread(tuple(code), Place()),), LOCATIONS, asked)
