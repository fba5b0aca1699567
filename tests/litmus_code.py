"""Litmus tests in few words, for tests: ``program("st x 1; cta; ld r1 x | ld r1 x", blocks=(0, 1), shared="x")``."""

from corpus.litmus.instructions import Fence, Load, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest, located
from corpus.litmus.threads import Thread

CTA = Fence(Mode(Order.SC, Scope.CTA))
GL = Fence(Mode(Order.SC, Scope.GPU))


def program(text, blocks=None, shared="", observed="", name="test"):
    """A test that observes every register it loads into, and the locations that ``observed`` names.

    Threads are parted by ``|``, instructions by ``;``. ``blocks`` are numbers of CTAs, one a thread (as given, one CTA
    for all); locations named in ``shared`` are in shared memory.
    """
    threads = [[_instruction(words) for words in part.split(";") if words.strip()] for part in text.split("|")]
    return litmus_test(threads, blocks or (0,) * len(threads), shared.split(), observed.split(), name)


def litmus_test(threads, blocks, shared=(), observed=(), name="test"):
    """The test of these instructions, a list a thread; other arguments as for ``program``, lists in place of texts."""
    placed = tuple(Thread(tuple(body), Place(cta=block)) for body, block in zip(threads, blocks, strict=True))
    regions = dict.fromkeys(shared, Region.SHARED)
    registers = sorted(
        {
            FinalRegister(number, ins.target)
            for number, body in enumerate(threads)
            for ins in body
            if isinstance(ins, Load)
        }
    )
    named = located(
        tuple(Location(at, region=regions.get(at, Region.GLOBAL)) for at in sorted({*shared, *observed})), placed
    )
    return LitmusTest(
        name,
        placed,
        tuple(sorted(named, key=lambda location: location.name)),
        Condition(Quantifier.EXISTS, And(()), observed=(*registers, *map(Loc, sorted(observed)))),
    )


def where(**values):
    """A proposition: ``where(P1_r1=1, x=2)``."""
    parts = []
    for name, value in values.items():
        thread, _, register = name.partition("_")
        term = FinalRegister(int(thread[1:]), register) if register else Loc(name)
        parts.append(Atom("eq", term, value))
    return And(tuple(parts))


def _instruction(words):
    match words.split():
        case ["ld", target, address]:
            return Load(target, Loc(address))
        case ["st", address, value]:
            return Store(Loc(address), int(value))
        case ["cta"]:
            return CTA
        case ["gl"]:
            return GL
        case _:
            raise ValueError(f"no instruction: {words}")
