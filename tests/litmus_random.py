"""Random small litmus tests: what the differential and the round-trip tests feed on.

A ``Profile`` says which features there are; a test is a function of the generator's state alone, so a seed names it.
Registers have one role each (number, address or predicate), so that dialects with typed registers can hold them, and
a location's users are in one CTA where it is shared. Everything else is free: dependencies that matter and some that do
not, branches that overlap, conditions that hold never, sometimes or always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from random import Random

from corpus.laws.c11 import FAILURE_ORDERS
from corpus.laws.ptx import CLUSTER_BARRIERS
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Guard,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    operands_of,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Alias, Loc, Location, Operand, Reg, Region
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import (
    And,
    Atom,
    Condition,
    FinalRegister,
    Not,
    Or,
    Proposition,
    Quantifier,
    Term,
    conjunction,
)
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC = Order
POINTER = "p"
"""The location that holds an address, where a profile has pointers."""


@dataclass(frozen=True)
class Profile:
    """Which features a random test may have. ``events`` bounds its memory events: an rmw is two, a loop runs twice."""

    name: str
    events: int = 6
    threads: int = 3
    instructions: int = 4
    locations: int = 3
    # memory; orders that are listed twice come twice as often
    loads: tuple[Order, ...] = (WEAK,)
    stores: tuple[Order, ...] = (WEAK,)
    rmws: tuple[Order, ...] = ()
    operations: tuple[str, ...] = ("exch", "cas", "add")
    failures: tuple[Order, ...] = ()  # of a cas, besides that of its success
    weak: bool = False  # compare-exchanges that may fail for no reason
    operands: bool = False  # of expressions, that are not sequenced
    reductions: bool = False
    fences: tuple[Order, ...] = ()
    scopes: tuple[Scope | None, ...] = (None,)
    rmw_scopes: tuple[Scope | None, ...] = ()  # where they are not ``scopes``
    volatile: bool = False
    load_caches: tuple[str, ...] = ()
    store_caches: tuple[str, ...] = ()
    barriers: bool = False
    quorums: bool = False  # barriers of some threads only, with names in registers, and barriers that do not wait
    proxies: bool = False  # accesses through proxies of PTX, their fences, and aliases
    levels: tuple[Scope, ...] = ()  # of WARP, CTA, QUEUE, GPU: where threads may be apart, or together
    shared: bool = False
    initial: bool = False  # initial values other than 0
    access_tags: tuple[tuple[str, ...], ...] = ((),)  # of every access
    weak_tags: tuple[tuple[str, ...], ...] = ((),)  # of weak accesses besides
    order_tags: tuple[tuple[str, ...], ...] = ((),)  # of ordered accesses besides, and of fences
    # computation
    arithmetic: tuple[str, ...] = ()
    addresses: bool = False  # computed addresses
    address_registers: bool = False  # registers that hold an address from the start
    pointers: bool = False  # addresses in memory
    predicates: bool = False
    branches: bool = False
    loops: bool = False
    comparisons: tuple[str, ...] = COMPARISONS


PLAIN = Profile("plain", locations=2, levels=(Scope.CTA,))
"""Loads and stores, nothing else."""

PTX_2015 = Profile(
    "ptx-2015",
    rmws=(RELAXED,),
    rmw_scopes=(Scope.GPU,),
    fences=(SC,),
    scopes=(Scope.CTA, Scope.GPU, Scope.SYS),
    volatile=True,
    load_caches=("ca", "cg"),
    store_caches=("cg",),
    levels=(Scope.WARP, Scope.CTA),
    shared=True,
    initial=True,
    arithmetic=("add", "and", "xor"),
    addresses=True,
    address_registers=True,
    predicates=True,
    branches=True,
    loops=True,
)

PTX_2019 = Profile(
    "ptx-2019",
    loads=(WEAK, RELAXED, ACQUIRE),
    stores=(WEAK, RELAXED, RELEASE),
    rmws=(RELAXED, ACQUIRE, RELEASE, ACQ_REL),
    reductions=True,
    fences=(SC, ACQ_REL),
    scopes=(Scope.CTA, Scope.GPU, Scope.SYS),
    barriers=True,
    levels=(Scope.CTA, Scope.GPU),
    initial=True,
    arithmetic=("add", "sub", "mul"),
    branches=True,
    loops=True,
)

C11 = Profile(
    "c11",
    loads=(WEAK, RELAXED, ACQUIRE, SC),
    stores=(WEAK, RELAXED, RELEASE, SC),
    rmws=(RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC),
    fences=(ACQUIRE, RELEASE, ACQ_REL, SC),
    scopes=(Scope.SYS,),
    initial=True,
    arithmetic=("add", "xor", "and"),
    branches=True,
)

PTX_BARRIERS = replace(PTX_2019, name="ptx-barriers", quorums=True, loops=False)

PTX_PROXIES = replace(
    PTX_2019,
    name="ptx-proxies",
    fences=(SC, ACQ_REL, ACQUIRE, RELEASE),
    rmws=(RELAXED, ACQ_REL),
    barriers=False,
    levels=(Scope.CTA,),
    locations=2,
    proxies=True,
    loops=False,
)

SCOPED_C = replace(
    C11,
    name="scoped-c",
    scopes=(Scope.CTA, Scope.GPU, Scope.SYS),
    barriers=True,
    levels=(Scope.CTA, Scope.GPU),
    shared=True,
)

C_WHOLE = replace(
    C11,
    name="c-whole",
    operations=("exch", "cas", "cas", "add"),
    failures=(RELAXED, ACQUIRE, SC),
    operands=True,
    weak=True,
)
OPENCL_WHOLE = replace(
    SCOPED_C, name="opencl-whole", operations=C_WHOLE.operations, failures=C_WHOLE.failures, operands=True, weak=True
)
"""What C and OpenCL have and other languages do not: failure orders, weak compare-exchanges, and operands that are not
sequenced."""

VULKAN = replace(
    PTX_2019,
    name="vulkan",
    operations=("exch", "add"),
    reductions=False,
    fences=(ACQUIRE, RELEASE, ACQ_REL),
    scopes=(Scope.WARP, Scope.CTA, Scope.QUEUE, Scope.GPU),
    levels=(Scope.WARP, Scope.CTA, Scope.QUEUE),
    access_tags=(("sc0",), ("sc1",)),
    weak_tags=((), ("nonpriv",)),
    order_tags=(("semsc0",), ("semsc0", "semsc1")),
)
"""Accesses with storage classes; of what an access makes available or visible there is nothing."""

ALL = replace(
    PTX_2015,
    name="all",
    loads=(WEAK, WEAK, RELAXED, ACQUIRE, SC),
    stores=(WEAK, WEAK, RELAXED, RELEASE, SC),
    rmws=(RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC),
    rmw_scopes=(),
    operations=("exch", "exch", "cas", "cas", "add", "add", "sub", "and", "or", "xor", "min", "max"),
    reductions=True,
    fences=(SC, SC, ACQ_REL, ACQUIRE, RELEASE),
    barriers=True,
    levels=(Scope.WARP, Scope.CTA, Scope.GPU),
    arithmetic=("add", "sub", "mul", "div", "and", "or", "xor", "min", "max"),
    pointers=True,
)
"""Whatever the neutral representation has but tags."""

LISA = replace(
    ALL,
    name="lisa",
    operations=("exch", "add", "and", "xor"),
    barriers=False,
    arithmetic=("add", "and", "xor"),
    comparisons=("eq", "ne"),
)
"""What herd7's LISA can compute and compare, with all of our annotations."""

AARCH64 = Profile(
    "aarch64",
    rmws=(RELAXED,),
    rmw_scopes=(Scope.GPU,),
    operations=("exch", "add", "or", "xor"),
    initial=True,
    arithmetic=("add", "and", "xor"),
    addresses=True,
    branches=True,
    loops=True,
    comparisons=("eq", "ne"),
)
PPC = replace(AARCH64, name="ppc", rmws=())
RISCV = replace(AARCH64, name="riscv", operations=("exch", "add", "and", "or", "xor"))
X86_64 = replace(AARCH64, name="x86-64", operations=("exch",), arithmetic=(), addresses=False)
"""What the assembly of processors can say without words of its own, which are modes with tags."""

DIALECTS = {
    "ptx": PTX_2019,
    "vulkan": VULKAN,
    "gpu-ptx": PTX_2015,
    "c": C11,
    "opencl": SCOPED_C,
    "lisa": LISA,
    "aarch64": AARCH64,
    "ppc": PPC,
    "riscv": RISCV,
    "x86-64": X86_64,
}
"""What the dialects of ``corpus.dialects`` were made for."""

PROFILES = (PLAIN, PTX_2015, PTX_2019, C11, SCOPED_C, VULKAN, LISA, ALL, PTX_BARRIERS, PTX_PROXIES)


def random_test(rng: Random, profile: Profile = ALL) -> LitmusTest:
    """A test with the features of ``profile``; the same for the same state of ``rng``."""
    names = tuple("xyz"[: rng.randint(1, profile.locations)])
    pointers = profile.pointers and rng.random() < 0.15
    count = min(profile.threads, rng.choice((1, 2, 2, 2, 2, 3, 3)))
    writers = [_ThreadWriter(rng, profile, names, pointers) for _ in range(count)]
    left = profile.events
    for turn in range(profile.instructions * count):
        waiting = max(0, count - 1 - turn)  # threads that have no step yet
        if turn < count or rng.random() < 0.7:
            left -= writers[turn % count].step(left - waiting)
        if left == 0:
            break
    for writer in writers:
        left -= writer.jumps(left)
    places = _places(rng, profile.levels, count)
    if profile.quorums and rng.random() < 0.7:
        places = [Place(warp=number) for number in range(count)]
    threads = tuple(writer.thread(place) for writer, place in zip(writers, places, strict=True))
    locations = _locations(rng, profile, names, threads)
    if pointers:
        locations += (Location(POINTER, Loc(rng.choice(names))),)
    results = [FinalRegister(number, name) for number, writer in enumerate(writers) for name in writer.results]
    return LitmusTest("random", threads, locations, _condition(rng, profile, results, names))


def vulkan_test(rng: Random, events: int = 5) -> LitmusTest:
    """A test that speaks of all that the Vulkan memory model does, most of it in a way that means something."""
    plain = replace(VULKAN, events=events, access_tags=((),), weak_tags=((),), order_tags=((),), loops=False)
    loads, stores = (WEAK, WEAK, RELAXED, ACQUIRE), (WEAK, WEAK, RELAXED, RELEASE)
    test = random_test(rng, replace(plain, loads=loads, stores=stores))
    threads = tuple(
        replace(thread, instructions=tuple(_dressed(rng, ins) for ins in thread.instructions))
        for thread in test.threads
    )
    pairs = ((0, 1), (1, 2))[: max(0, len(threads) - 1)] if rng.random() < 0.2 else ()
    return replace(test, threads=threads, synchronised=pairs)


def wgsl_test(rng: Random, events: int = 5) -> LitmusTest:
    """A test in Vulkan's words that says what WGSL can: y is in workgroup memory, x and z in storage, z is atomic."""
    plain = replace(VULKAN, events=events, access_tags=((),), weak_tags=((),), order_tags=((),), loops=False)
    test = random_test(rng, replace(plain, loads=(WEAK,), stores=(WEAK,), levels=(Scope.CTA,)))

    def said(ins: Instruction) -> Instruction:
        """The instruction with the mode that its location, or its kind, has in WGSL."""
        match ins:
            case Load(address=Loc(name)) | Store(address=Loc(name)) | Rmw(address=Loc(name)):
                if name == "z" or isinstance(ins, Rmw):
                    shared = name == "y"
                    mode = Mode(RELAXED, Scope.CTA if shared else Scope.QUEUE, tags=("sc1" if shared else "sc0",))
                else:
                    flow = "av" if isinstance(ins, Store) else "vis"
                    mode = Mode(WEAK, Scope.CTA, tags=tuple(sorted((flow, "sc1" if name == "y" else "sc0"))))
                return replace(ins, mode=mode)
            case Fence() | Barrier():
                tags = rng.choice((("semsc0",), ("semsc1",), ("semsc0", "semsc1")))
                return Barrier(0, mode=Mode(ACQ_REL, Scope.CTA, tags=tags))
        return ins

    threads = (replace(thread, instructions=tuple(map(said, thread.instructions))) for thread in test.threads)
    return replace(test, threads=tuple(threads))


def meeting_test(rng: Random) -> LitmusTest:
    """A test of two threads that meet at an mbarrier m: one writes d and arrives, in some order, twice at most; the
    other one waits, for whatever phase, and reads d."""
    cta = Mode(tags=("mbarrier",), scope=Scope.CTA)
    expected = rng.choice((1, 2, 2, 3))

    def arrival(count: int) -> Instruction:
        operation = rng.choice(("arrive", "arrive", "arrive_drop"))
        mode = replace(cta, order=rng.choice((RELEASE, RELEASE, RELAXED)))
        return Rmw(f"mbarrier.{operation}", "r0", Loc("m"), (count,), mode)

    counts = rng.choice(((expected,), (expected, 1), (expected, 1), (1, expected), (1, expected - 1)))
    writer = [arrival(count) for count in counts if count]
    writer.insert(rng.randrange(len(writer) + 1), Store(Loc("d"), 1))
    waits = replace(cta, order=rng.choice((ACQUIRE, ACQUIRE, RELAXED)))
    reader: list[Instruction] = [Load("r1", Loc("m"), waits, phase=rng.choice((0, 0, 1)), parity=True)]
    reader += rng.choice(([], [Fence(Mode(ACQUIRE, Scope.CTA))]))
    reader += [Load("r2", Loc("d"))]
    initial = Mbarrier(expected, expected).bits()
    locations = Location("d", 0, Region.SHARED), Location("m", initial, Region.SHARED)
    seen = conjunction((Atom("eq", FinalRegister(1, "r1"), 1), Atom("eq", FinalRegister(1, "r2"), 0)))
    threads = (Thread(tuple(body), Place(0, 0, 0, warp)) for warp, body in enumerate((writer, reader)))
    return LitmusTest("random", tuple(threads), locations, Condition(Quantifier.EXISTS, seen))


def asynchronous_test(rng: Random, events: int = 5) -> LitmusTest:
    """A test with asynchronous operations, about global g and h, shared d, e and the mbarrier m, without loops.

    One or two threads ask for operations and read what these bring; the mbarrier is initialised from the start, and the
    tensor map t is of g.
    """
    count = rng.choice((1, 1, 2))
    clusters = rng.random() < 0.5
    apart = rng.random() < 0.5
    threads, loaded = [], []
    left = events + 2
    for number in range(count):
        body: list[Instruction] = []
        for _ in range(rng.randint(2, 5)):
            tokens = [each.target for each in body if isinstance(each, Rmw) and each.target is not None]
            ins, cost = _asynchronous_step(rng, f"r{len(body)}", left, tokens)
            if cost <= left:
                body.append(ins)
                left -= cost
                loaded += [FinalRegister(number, name) for name in registers_written(ins)]
        place = Place(0, 0 if clusters else number * apart, number * apart, 0 if apart else number)
        threads.append(Thread(tuple(body), place))
    shared = ("d", "e", "m") if clusters or not apart else ()
    expected = rng.choice((1, 1, 2))
    locations = tuple(
        Location(
            name,
            Mbarrier(expected, expected).bits() if name == "m" else rng.choice((0, 0, 1)),
            Region.SHARED if name in shared else Region.GLOBAL,
        )
        for name in ("d", "e", "g", "h", "m")
    )
    locations = (*locations, Location("t", Loc("g")))
    terms: list[Term] = [*loaded, Loc("g"), Loc("d")]
    asked = rng.sample(terms, min(len(terms), rng.choice((1, 2, 2))))
    proposition = conjunction(Atom(rng.choice(("eq", "eq", "ne")), term, rng.choice((0, 1, 2))) for term in asked)
    return LitmusTest("random", tuple(threads), locations, Condition(Quantifier.EXISTS, proposition))


def _asynchronous_step(rng: Random, register: str, left: int, tokens: Sequence[str]) -> tuple[Instruction, int]:
    """An instruction, and how many events it is, but for those that no read can read from.

    ``tokens``: the registers that say which phase an arrival was in.
    """
    data, sources = ("d", "e"), ("g", "h")
    scope = rng.choice(
        (Mode(tags=("mbarrier",), scope=Scope.CTA), Mode(tags=("cluster", "mbarrier"), scope=Scope.QUEUE))
    )
    bulk = Mode(tags=("async",))
    m = Loc("m")

    def place(names: Sequence[str]) -> Loc:
        return Loc(rng.choice(names))

    match rng.randrange(15):
        case 0 | 1:
            return Store(place((*data, *sources)), rng.choice((1, 2))), 1
        case 2 | 3:
            return Load(register, place((*data, *sources))), 1
        case 4:
            tags = rng.choice((("async",), ("async", "global-fence"), ("async", "local-fence")))
            return Fence(Mode(tags=tags)), 0
        case 5:
            return AsyncOperation(place(data), place(sources), mode=bulk, barrier=m, count=16), 4
        case 6:
            return AsyncOperation(place(sources), place(data), mode=bulk), 2
        case 7:
            return AsyncOperation(place(data), place(sources), group="cp.async"), 2
        case 8:
            kind = rng.choice(("cp.async", "cp.async.bulk"))
            pending = rng.choice((None, None, 0, 0, 1))
            return AsyncGroup(kind, pending, kind == "cp.async.bulk" and pending is not None and rng.random() < 0.3), 0
        case 9:
            operation = rng.choice(("arrive", "arrive_expect", "arrive_expect", "arrive_drop"))
            operand = 16 if operation == "arrive_expect" else 1
            mode = replace(scope, order=rng.choice((RELEASE, RELEASE, RELAXED)))
            return Rmw(f"mbarrier.{operation}", register, m, (operand,), mode), 2
        case 10:
            mode = replace(scope, order=rng.choice((ACQUIRE, ACQUIRE, RELAXED)))
            if tokens and rng.random() < 0.5:
                return Load(register, m, mode, phase=Reg(rng.choice(tokens))), 1
            return Load(register, m, mode, phase=rng.choice((0, 0, 1)), parity=True), 1
        case 11:
            if rng.random() < 0.5:
                return AsyncOperation(Loc("t"), place(data), mode=bulk, tensor=True), 3
            return AsyncOperation(place(data), Loc("t"), mode=bulk, barrier=m, count=16, tensor=True), 5
        case 12:
            return Store(Loc("t"), Loc("h")), 1
        case 13:
            order, reach = rng.choice((RELEASE, ACQUIRE)), rng.choice((Scope.CTA, Scope.GPU))
            return Fence(Mode(order, reach, tags=("one-way", "tensormap"))), 0
        case _:
            noinc = rng.choice(("arrive", "arrive.noinc"))
            return AsyncOperation(None, barrier=m, mbarrier=noinc, count=1, group="cp.async"), 2 + 2 * (
                noinc == "arrive"
            )


def matrices_test(rng: Random, events: int = 7) -> LitmusTest:
    """A test with operations of tensor cores, by one or two threads of a CTA, without loops.

    Each thread has registers of its own for what operations give; shared s and u, and tensor memory t, are for both.
    """
    threads, loaded, left = [], [], events
    count = rng.choice((1, 1, 2))
    for number in range(count):
        body: list[Instruction] = []
        for _ in range(rng.randint(3, 7)):
            ins, cost = _matrix_step(rng, f"r{len(body)}", Loc(f"d{number}"))
            if cost <= left:
                body.append(ins)
                left -= cost
                loaded += [FinalRegister(number, name) for name in registers_written(ins)]
        threads.append(Thread(tuple(body), Place(0, 0, 0, number)))
    regions = {"t": Region.TENSOR, "d0": Region.REGISTER, "d1": Region.REGISTER}
    start = {"s": rng.choice((0, 1)), "u": 0, "t": 0, "d0": 0, "d1": 0, "m": Mbarrier(1, 1).bits()}
    locations = tuple(Location(name, value, regions.get(name, Region.SHARED)) for name, value in start.items())
    terms: list[Term] = [*loaded, Loc("t"), Loc("d0")]
    asked = rng.sample(terms, min(len(terms), rng.choice((1, 1, 2))))
    proposition = conjunction(Atom("eq", term, rng.choice((0, 1, 1, 2))) for term in asked)
    return LitmusTest("matrices", tuple(threads), locations, Condition(Quantifier.EXISTS, proposition))


def _matrix_step(rng: Random, register: str, own: Loc) -> tuple[Instruction, int]:
    """An instruction, and how many events it is that are read from or read."""
    t, m = Loc("t"), Loc("m")
    shared = Loc(rng.choice(("s", "s", "u")))
    added = rng.choice((None, None, "add"))
    match rng.randrange(16):
        case 0 | 1:
            return Store(rng.choice((shared, shared, own)), rng.choice((1, 2))), 1
        case 2 | 3:
            return Load(register, rng.choice((own, own, shared))), 1
        case 4 | 5:
            tags = (("async",), ("async", "register-fence"), ("before-sync",), ("after-sync",), ("after-sync",))
            return Fence(Mode(tags=rng.choice(tags))), 0
        case 6 | 7:
            product = Mode(tags=("async", "mma"))
            return AsyncOperation(own, shared, operation=added, mode=product, group="wgmma"), 2 + (added is not None)
        case 8:
            return AsyncGroup("wgmma", rng.choice((None, None, 0, 0, 1))), 0
        case 9:
            return AsyncGroup(rng.choice(("tcgen05.ld", "tcgen05.st")), 0), 0
        case 10:
            return AsyncOperation(own, t, mode=Mode(tags=("async", "tcgen05")), group="tcgen05.ld"), 2
        case 11:
            value = rng.choice((1, 2))
            return AsyncOperation(t, None, value, mode=Mode(tags=("async", "tcgen05")), group="tcgen05.st"), 1
        case 12:
            kind = rng.choice(("cp", "mma"))
            operation = added if kind == "mma" else None
            mode = Mode(tags=("async", kind, "tcgen05"))
            return AsyncOperation(t, shared, operation=operation, mode=mode, group="tcgen05"), 2 + (
                operation is not None
            )
        case 13:
            mode, noinc = Mode(tags=("tcgen05",)), "arrive.noinc"
            return AsyncOperation(None, mode=mode, barrier=m, mbarrier=noinc, count=1, group="tcgen05"), 2
        case 14:
            order = rng.choice((ACQUIRE, RELAXED))
            mode = Mode(order, Scope.CTA, tags=("mbarrier",))
            return Load(register, m, mode, phase=0, parity=True), 1
        case _:
            return Barrier(0), 0


def halves_test(rng: Random) -> LitmusTest:
    """A test with the halves of the barriers of clusters, whose threads mostly come to them equally often.

    Now and then a half is left out, or the two are the other way round, which may hang. No thread arrives twice before
    it waits, which is undefined.
    """
    count, phases = rng.choice((2, 2, 3)), rng.choice((1, 1, 2))
    apart, threads, loaded = rng.random() < 0.2, [], []
    for number in range(count):
        body: list[Instruction] = []
        for phase in range(phases):
            halves = [
                CLUSTER_BARRIERS[rng.choice(("barrier.cluster.arrive.release", "barrier.cluster.arrive.relaxed"))],
                CLUSTER_BARRIERS["barrier.cluster.wait.acquire"],
            ]
            if rng.random() < 0.1:
                halves = rng.choice((halves[phase < phases - 1 :][:1], [halves[1]], halves[::-1], halves * 2))
            for half in (*halves, None):
                for _ in range(rng.choice((0, 0, 1, 1))):
                    body.append(_around_halves(rng, f"r{phase}{len(body)}"))
                if half is not None:
                    body.append(half)
        loaded += [FinalRegister(number, name) for ins in body for name in registers_written(ins)]
        cta = rng.choice((0, number))
        cluster = number if apart and rng.random() < 0.5 else 0
        threads.append(Thread(tuple(body), Place(0, cluster, cta, number)))
    terms: list[Term] = [*loaded, Loc("x")]
    asked = rng.sample(terms, min(len(terms), rng.choice((1, 1, 2))))
    proposition = conjunction(Atom("eq", term, rng.choice((0, 1, 2))) for term in asked)
    return LitmusTest(
        "halves",
        tuple(threads),
        (Location("x"), Location("y")),
        Condition(Quantifier.EXISTS, proposition),
    )


def _around_halves(rng: Random, register: str) -> Instruction:
    where = Loc(rng.choice(("x", "x", "y")))
    match rng.randrange(6):
        case 0 | 1:
            return Store(where, rng.choice((1, 2)))
        case 2 | 3:
            return Load(register, where)
        case 4:
            cluster = Mode(rng.choice((ACQ_REL, RELEASE, SC)), Scope.QUEUE, tags=("cluster",))
            return Fence(rng.choice((cluster, cluster, Mode(ACQ_REL, Scope.CTA))))
        case _:
            return Barrier(0, quorum=rng.choice((None, 2)))


def _dressed(rng: Random, ins: Instruction) -> Instruction:
    """The instruction with a storage class, availability and visibility, and what its order speaks for."""
    if not isinstance(ins, Load | Store | Rmw | Fence | Barrier):
        return ins
    order, scope, tags = ins.mode.order, ins.mode.scope, set[str]()
    wide = (Scope.WARP, Scope.CTA, Scope.CTA, Scope.QUEUE, Scope.GPU, Scope.GPU)
    if isinstance(ins, Load | Store | Rmw):
        usual = "sc1" if ins.address == Loc("z") else "sc0"
        tags.add(usual if rng.random() < 0.9 else "sc1")
        if order is WEAK:
            flow = rng.choice((None, "nonpriv", "vis", "vis"))
            flow = "av" if flow == "vis" and isinstance(ins, Store) else flow
            scope = rng.choice(wide) if flow in ("vis", "av") else None
            tags |= {flow} if flow else set()
            return replace(ins, mode=Mode(order, scope, tags=tuple(sorted(tags))))
    elif isinstance(ins, Fence) and rng.random() < 0.2:
        return Fence(Mode(tags=(rng.choice(("avdevice", "visdevice")),)))
    elif isinstance(ins, Barrier):
        order = rng.choice((WEAK, ACQ_REL, ACQ_REL, ACQUIRE, RELEASE))
        if order is WEAK:
            return replace(ins, mode=Mode(scope=Scope.CTA))
    scope = rng.choice(wide)
    if order is not RELAXED:
        tags |= {"semsc0"} if rng.random() < 0.9 else {"semsc1"}
        tags |= {"semsc1"} if rng.random() < 0.4 else set()
        tags |= {"semav"} if order in (RELEASE, ACQ_REL) and rng.random() < 0.5 else set()
        tags |= {"semvis"} if order in (ACQUIRE, ACQ_REL) and rng.random() < 0.5 else set()
    return replace(ins, mode=Mode(order, scope, tags=tuple(sorted(tags))))


def _in_operands(rng: Random, body: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    """Some accesses in a row, which do not need each other, as the operands of an expression or of two."""
    for first in range(len(body)):
        row = list(takewhile(lambda ins: isinstance(ins, Load | Store | Rmw | Fence), body[first : first + 3]))
        made = [name for ins in row for name in registers_written(ins)]
        used = {name for ins in row for name in registers_read(ins)}
        if len(row) < 2 or used & set(made) or len(set(made)) < len(made) or any(ins.guard for ins in row):
            continue
        marks = rng.choice([((1, 2), (1, -2), (-1,)), ((1,), (-1, 2), (-1, -2))] if len(row) > 2 else [((1,), (-1,))])
        new = [replace(ins, sides=sides) for ins, sides in zip(row, marks, strict=True)]
        return (*body[:first], *new, *body[first + len(row) :])
    return body


class _ThreadWriter:
    """One thread in the making: a list of steps, each an instruction after what computes its operands."""

    def __init__(self, rng: Random, profile: Profile, names: tuple[str, ...], pointers: bool) -> None:
        self._rng = rng
        self._profile = profile
        self._names = names
        self._pointers = pointers
        self._steps: list[list[Instruction]] = []
        self._events: list[int] = []
        self._initial: list[tuple[str, Operand]] = []
        self._registers = 0
        self._labels = 0
        self._numbers: list[str] = []
        self.results: list[str] = []
        """Registers that loads and rmws write, for the condition."""

    def thread(self, place: Place) -> Thread:
        body = tuple(ins for step in self._steps for ins in step)
        if self._profile.operands:
            body = _in_operands(self._rng, body)
        return Thread(body, place, tuple(sorted(self._initial)))

    def step(self, left: int) -> int:
        """Add a step; the number of memory events that it has, at most ``left``."""
        profile, rng = self._profile, self._rng
        kinds = ["load", "store"] * 4 * (left >= 1) + ["rmw"] * 2 * (left >= 2 and profile.rmws != ())
        kinds += ["fence"] * 2 * (profile.fences != ()) + ["barrier"] * (profile.barriers + 3 * profile.quorums)
        kinds += ["compute"] * (profile.arithmetic != () and self._numbers != [])
        kinds += ["point"] * 4 * (self._pointers and left >= 1) + ["dereference"] * 4 * (self._pointers and left >= 2)
        if not kinds:
            return 0
        kind = rng.choice(kinds)
        step: list[Instruction] = []
        guard = self._guard(step)
        match kind:
            case "load":
                self._load(step, self._address(step), guard)
            case "store":
                value = self._value(step)
                step.append(Store(self._address(step), value, self._store_mode(), guard))
            case "rmw":
                self._rmw(step, guard)
            case "fence":
                step.append(Fence(self._mode(profile.fences), guard))
            case "barrier":
                step.append(self._barrier(guard) if profile.quorums else Barrier(rng.choice((0, 0, 1)), guard=guard))
            case "compute":
                self._compute(step, guard)
            case "point":
                step.append(Store(Loc(POINTER), Loc(rng.choice(self._names)), self._store_mode(), guard))
            case _:
                pointer = self._register()
                step.append(Load(pointer, Loc(POINTER), self._load_mode()))
                self._load(step, Reg(pointer), guard)
        self._steps.append(step)
        self._events.append({"load": 1, "store": 1, "rmw": 2, "point": 1, "dereference": 2}.get(kind, 0))
        return self._events[-1]

    def jumps(self, left: int) -> int:
        """Put branches between the steps; the number of memory events that a loop adds, at most ``left``."""
        profile, rng = self._profile, self._rng
        if profile.branches and self._numbers and rng.random() < 0.3:
            self._forward()
        if profile.loops and rng.random() < 0.1:
            first = rng.randrange(len(self._steps))
            last = rng.randint(first, len(self._steps) - 1)
            cost = sum(self._events[first : last + 1])
            if cost <= left:
                self._loop(first, last)
                return cost
        return 0

    def _forward(self) -> None:
        rng, steps = self._rng, self._steps
        for _ in range(rng.choice((1, 1, 2))):
            first = rng.randrange(len(steps))
            known = [name for step in steps[:first] for ins in step for name in _defined(ins) if name in self._numbers]
            if known:
                label = self._label()
                comparison = Comparison(
                    rng.choice(self._profile.comparisons), Reg(rng.choice(known)), rng.choice((0, 1))
                )
                last = rng.randint(first, len(steps) - 1)
                steps[first].insert(0, Branch(label, comparison if rng.random() < 0.9 else None))
                steps[last].append(Label(label))

    def _loop(self, first: int, last: int) -> None:
        """Do some steps twice, or a load until it gives a value: at most two times is enough to see every value."""
        label, steps = self._label(), self._steps
        load = steps[last][-1]
        steps[first].insert(0, Label(label))
        if isinstance(load, Load) and load.target in self._numbers and self._rng.random() < 0.5:
            steps[last].append(Branch(label, Comparison(self._rng.choice(("eq", "ne")), Reg(load.target), 0)))
            return
        counter = self._register()
        steps[last] += [Assign(counter, "add", (Reg(counter), 1)), Branch(label, Comparison("ne", Reg(counter), 2))]

    def _load(self, step: list[Instruction], address: Operand, guard: Guard | None) -> None:
        target = self._target()
        step.append(Load(target, address, self._load_mode(), guard))

    def _rmw(self, step: list[Instruction], guard: Guard | None) -> None:
        rng, profile = self._rng, self._profile
        operation = rng.choice(profile.operations)
        mode = self._mode(profile.rmws, profile.rmw_scopes or profile.scopes)
        values = (rng.choice((0, 0, 1)), self._value(step)) if operation == "cas" else (self._value(step),)
        address = self._address(step)
        reduction = profile.reductions and operation not in ("exch", "cas") and rng.random() < 0.3
        target = None if reduction else self._target()
        failures = profile.failures if operation == "cas" else ()
        failure = rng.choice((None, *failures)) if failures else None
        default = FAILURE_ORDERS[mode.order]
        success = self._target() if operation == "cas" and profile.weak and rng.random() < 0.5 else None
        kept = None if failure is default else failure
        step.append(Rmw(operation, target, address, values, mode, guard, kept, success))

    def _compute(self, step: list[Instruction], guard: Guard | None) -> None:
        rng = self._rng
        source = rng.choice(self._numbers)
        operand = rng.choice((1, 2, Reg(rng.choice(self._numbers))))
        target = source if rng.random() < 0.3 else self._register()
        step.append(Assign(target, rng.choice(self._profile.arithmetic), (Reg(source), operand), guard))
        self._numbers.append(target)

    def _load_mode(self) -> Mode:
        return self._mode(self._profile.loads, caches=self._profile.load_caches)

    def _store_mode(self) -> Mode:
        return self._mode(self._profile.stores, caches=self._profile.store_caches)

    def _mode(
        self, orders: Sequence[Order], scopes: Sequence[Scope | None] | None = None, caches: Sequence[str] = ()
    ) -> Mode:
        rng, profile = self._rng, self._profile
        order = rng.choice(orders)
        if profile.proxies and orders is not profile.rmws and rng.random() < 0.4:
            return self._through_proxy(orders)
        tags = () if orders is profile.fences else rng.choice(profile.access_tags)
        tags = tuple(sorted((*tags, *rng.choice(profile.weak_tags if order is WEAK else profile.order_tags))))
        if order is not WEAK:
            return Mode(order, rng.choice(scopes or profile.scopes), tags=tags)
        if profile.volatile and rng.random() < 0.2:
            return Mode(volatile=True, tags=tags)
        return Mode(cache=rng.choice(caches) if caches and rng.random() < 0.5 else None, tags=tags)

    def _through_proxy(self, orders: Sequence[Order]) -> Mode:
        """A weak access through a proxy, or a fence of one."""
        rng, profile = self._rng, self._profile
        if orders is profile.fences:
            return Mode(tags=(rng.choice(("surface", "surface", "texture", "alias", "alias")),))
        return Mode(tags=("surface" if orders is profile.stores else rng.choice(("surface", "surface", "texture")),))

    def _address(self, step: list[Instruction]) -> Operand:
        """A location, in one of the ways that the profile has to name it."""
        rng, location = self._rng, Loc(self._rng.choice(self._names))
        if self._profile.addresses and self._numbers and rng.random() < 0.25:
            address = self._register()
            step.append(Assign(address, "add", (location, Reg(self._zero(step)))))
            return Reg(address)
        if self._profile.address_registers and rng.random() < 0.25:
            held = [name for name, value in self._initial if value == location]
            if not held:
                held = [self._register()]
                self._initial.append((held[0], location))
            return Reg(held[0])
        return location

    def _zero(self, step: list[Instruction]) -> str:
        """A register that is 0 and depends on another."""
        source, zero = Reg(self._rng.choice(self._numbers)), self._register()
        operation = self._rng.choice([name for name in ("and", "xor") if name in self._profile.arithmetic])
        step.append(Assign(zero, operation, (source, 0 if operation == "and" else source)))
        return zero

    def _value(self, step: list[Instruction]) -> Operand:
        rng, constant = self._rng, self._rng.choice((1, 1, 1, 2, 2, 0))
        if not self._numbers or rng.random() < 0.6:
            return constant
        if "add" not in self._profile.arithmetic or rng.random() < 0.4:
            return Reg(rng.choice(self._numbers))
        zeros = {"and", "xor"} & set(self._profile.arithmetic)
        source = Reg(self._zero(step) if zeros and rng.random() < 0.5 else rng.choice(self._numbers))
        value = self._register()
        step.append(Assign(value, "add", (source, constant)))
        return Reg(value)

    def _barrier(self, guard: Guard | None) -> Barrier:
        rng, numbers = self._rng, [Reg(name) for name in self._numbers]
        resource = rng.choice((None, 0, 0, 1, *numbers))
        quorum = rng.choice((None, 2, 2, 2, 2, 3, 1, 4, *numbers))
        return Barrier(rng.choice((0, 0, 0, 1)), rng.random() < 0.2, resource, quorum, guard=guard)

    def _guard(self, step: list[Instruction]) -> Guard | None:
        if not self._profile.predicates or not self._numbers or self._rng.random() < 0.8:
            return None
        predicate = self._register()
        source = Reg(self._rng.choice(self._numbers))
        step.append(Assign(predicate, self._rng.choice(self._profile.comparisons), (source, self._rng.choice((0, 1)))))
        return Guard(predicate, self._rng.random() < 0.4)

    def _target(self) -> str:
        """A register for a result; mostly a fresh one, sometimes one that is overwritten."""
        if self.results and self._rng.random() < 0.1:
            return self._rng.choice(self.results)
        self.results.append(self._register())
        self._numbers.append(self.results[-1])
        return self.results[-1]

    def _register(self) -> str:
        self._registers += 1
        return f"r{self._registers - 1}"

    def _label(self) -> str:
        self._labels += 1
        return f"LC{self._labels - 1}"


def _defined(ins: Instruction) -> list[str]:
    return [ins.target] if isinstance(ins, Load | Rmw | Assign) and ins.target is not None else []


def _places(rng: Random, levels: Sequence[Scope], count: int) -> list[Place]:
    """A random scope tree: each thread in a group that is there, or in a new one, at each of the levels.

    Where the profile has no word for a level, all are in one queue and on one GPU, and each in its own CTA and warp.
    """
    places: list[Place] = []
    for _ in range(count):
        prefix: tuple[int, ...] = ()
        for scope in (Scope.GPU, Scope.QUEUE, Scope.CTA, Scope.WARP):
            groups = len({place[: scope.value] for place in places if place[: scope.value - 1] == prefix})
            if scope in levels:
                group = rng.randint(0, groups) if scope is not Scope.GPU or rng.random() < 0.3 else 0
            else:
                group = groups if scope in (Scope.CTA, Scope.WARP) else 0
            prefix += (group,)
        places.append(Place(*prefix))
    return places


def _locations(
    rng: Random, profile: Profile, names: tuple[str, ...], threads: tuple[Thread, ...]
) -> tuple[Location, ...]:
    """Locations with initial values; shared ones only where all their users are in one CTA."""
    locations = []
    for name in names:
        users = [thread.place for thread in threads if Loc(name) in _mentioned(thread)]
        together = all(users[0].shares(place, Scope.CTA) for place in users)
        pointed = any(Loc(POINTER) in _mentioned(thread) for thread in threads)
        shared = profile.shared and together and not pointed and rng.random() < 0.4
        initial = rng.choice((1, 2)) if profile.initial and rng.random() < 0.1 else 0
        if profile.proxies and locations and locations[0].name == names[0] and rng.random() < 0.6:
            locations.append(Location(name, alias=Alias(names[0], rng.choice((None, None, "surface")))))
            continue
        locations.append(Location(name, initial, Region.SHARED if shared else Region.GLOBAL))
    return tuple(locations)


def _mentioned(thread: Thread) -> list[Operand]:
    return [value for _, value in thread.registers] + [
        value for ins in thread.instructions for value in operands_of(ins)
    ]


def _condition(rng: Random, profile: Profile, results: list[FinalRegister], names: tuple[str, ...]) -> Condition:
    weights = [Quantifier.EXISTS] * 4 + [Quantifier.NOT_EXISTS, Quantifier.FORALL]
    observed: list[Term] = [*results, *map(Loc, names)] if rng.random() < 0.1 else []
    return Condition(
        rng.choice(weights),
        _proposition(rng, profile, results, names),
        _atom(rng, profile, results, names) if rng.random() < 0.1 else None,
        tuple(observed),
    )


def _proposition(rng: Random, profile: Profile, results: list[FinalRegister], names: tuple[str, ...]) -> Proposition:
    """Mostly a conjunction over all results, as people write; sometimes anything."""
    if results and rng.random() < 0.6:
        parts = tuple(Atom("eq", term, rng.choice((0, 0, 1, 1, 2))) for term in results)
        return parts[0] if len(parts) == 1 else And(parts)
    count = rng.choice((1, 2, 2, 3))
    some = tuple(_atom(rng, profile, results, names) for _ in range(count))
    mixed = tuple(Not(part) if rng.random() < 0.15 else part for part in some)
    if count == 1:
        return mixed[0]
    if count == 3 and rng.random() < 0.5:
        return And((Or(mixed[:2]), mixed[2])) if rng.random() < 0.5 else Or((And(mixed[:2]), mixed[2]))
    joined = rng.choice((And, Or))(mixed)
    return Not(joined) if rng.random() < 0.15 else joined


def _atom(rng: Random, profile: Profile, results: list[FinalRegister], names: tuple[str, ...]) -> Atom:
    terms: list[Term] = [*results * 2, *map(Loc, names)]
    left = rng.choice(terms)
    right: Term = rng.choice((0, 1, 1, 2)) if rng.random() < 0.9 else rng.choice(terms)
    return Atom("eq" if rng.random() < 0.7 else rng.choice(profile.comparisons), left, right)
