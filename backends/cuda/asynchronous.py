"""States asynchronous operations in PTX and in machine code, and plans what a program does around them.

Instructions that take only shared memory of their own CTA say whose shared memory a location is in (``homes``). And
what a test does not wait for, its program waits for when the test is over, before the memory is used again
(``waits``). The bytes and arrivals of a test are known. So the program makes the bytes that an mbarrier expects those
that come, and arrives until the phase is whole: that phase completes when everything has come, and not before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from backends.shared.addresses import first_user
from corpus.laws import ptx
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Fence,
    Instruction,
    Load,
    Rmw,
    Store,
    is_asynchronous,
)
from corpus.litmus.locations import Loc, Operand, Region
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import BULK, CLUSTER, COPIES, PLAIN, Mode, Order, Scope
from corpus.litmus.test import LitmusTest

AMPERE, HOPPER, BLACKWELL = 80, 90, 100
"""Compute capabilities: of ``cp.async`` and mbarriers; of clusters and the async proxy; of their successors."""

TYPES: Mapping[str, str] = {"add": "u32", "min": "s32", "max": "s32"}
"""The PTX types of atomic operations; operations that are not listed have b32."""

LARGEST_CLUSTER = 8
"""The CTAs that a cluster has at most on every device (CUDA C++ Programming Guide, Thread Block Clusters)."""


@dataclass(frozen=True, slots=True)
class AsyncForm:
    """A form of the asynchronous operations that write memory (PTX ISA 9.1, 9.7.9.25): its words, and what ptxas makes
    of them. Operations have it that are of this group and mode, from a location of the region ``source``, or from a
    register, to one of the region ``target``; and that complete at an mbarrier or not, and reduce or not.
    """

    words: str
    machine: str
    group: str
    mode: Mode
    source: Region | None
    target: Region
    completes: bool = True
    reduces: bool = False

    def text(self, ins: AsyncOperation, size: int) -> str:
        """Return the instruction, whose operands are %0, the target, and %1 and %2. ``size``: the bytes of a copy of
        which nobody counts any.
        """
        words, operands = [self.words], ["[%0]", "%1" if self.source is None else "[%1]"]
        if self.group == BULK:
            words.append(ptx.COMPLETE_TX if self.completes else "bulk_group")
        if ins.operation is not None:
            words += [ins.operation, TYPES.get(ins.operation, "b32")]
        elif self.source is None:
            words.append("b32")
        if self.source is not None:
            operands.append(str(4 if self.group == COPIES else ins.count if self.completes else size))
        return f"{'.'.join(words)} {', '.join([*operands, *(['[%2]'] if self.completes else [])])};"

    def machine_words(self, ins: AsyncOperation) -> str:
        """Return the machine instruction of an operation."""
        return self.machine if ins.operation is None else f"{self.machine}.{ins.operation.upper()}"


_GLOBAL, _SHARED = Region.GLOBAL, Region.SHARED
_COPY, _REDUCTION, _REMOTE = ptx.BULK_COPY, ptx.BULK_REDUCTION, ptx.REMOTE_REDUCTION
_FORMS = (
    AsyncForm("cp.async.ca.shared.global", "LDGSTS.E", COPIES, PLAIN, _GLOBAL, _SHARED, False),
    AsyncForm("cp.async.bulk.shared::cluster.global", "UBLKCP.S.G", BULK, _COPY, _GLOBAL, _SHARED),
    AsyncForm("cp.async.bulk.shared::cluster.shared::cta", "UBLKCP.S.S", BULK, _COPY, _SHARED, _SHARED),
    AsyncForm("cp.async.bulk.global.shared::cta", "UBLKCP.G.S", BULK, _COPY, _SHARED, _GLOBAL, False),
    AsyncForm(
        "cp.reduce.async.bulk.shared::cluster.shared::cta",
        "UBLKRED.S.S",
        BULK,
        _REDUCTION,
        _SHARED,
        _SHARED,
        True,
        True,
    ),
    AsyncForm(
        "cp.reduce.async.bulk.global.shared::cta", "UBLKRED.G.S", BULK, _REDUCTION, _SHARED, _GLOBAL, False, True
    ),
    AsyncForm("st.async.shared::cluster", "STAS", BULK, _COPY, None, _SHARED),
    AsyncForm("red.async.relaxed.cluster.shared::cluster", "REDAS", BULK, _REMOTE, None, _SHARED, True, True),
)

PENDING_ARRIVALS: Mapping[str, tuple[str, str]] = {
    "arrive": ("cp.async.mbarrier.arrive", "ARRIVES.LDGSTSBAR.64.TRANSCNT"),
    "arrive.noinc": ("cp.async.mbarrier.arrive.noinc", "ARRIVES.LDGSTSBAR.64.ARVCNT"),
}
"""The words and the machine instruction of an arrival that waits for earlier ``cp.async``."""

PROXY_FENCES: Mapping[Mode, tuple[str, ...]] = {
    ptx.PROXY_FENCES[words]: machine
    for words, machine in {
        "fence.proxy.async": ("MEMBAR.ALL.GPU", "FENCE.VIEW.ASYNC.S"),
        "fence.proxy.async.global": ("FENCE.VIEW.ASYNC.G",),
        "fence.proxy.async.shared::cta": ("MEMBAR.ALL.CTA", "FENCE.VIEW.ASYNC.S"),
        "fence.proxy.async.shared::cluster": ("MEMBAR.ALL.GPU", "FENCE.VIEW.ASYNC.S"),
        "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster": (
            "MEMBAR.ALL.CTA",
            "FENCE.VIEW.ASYNC.S",
        ),
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster": (),
        "fence.mbarrier_init.release.cluster": (),
    }.items()
}
"""The fences that programs have, and what ptxas makes of them for sm_90a and sm_100a."""


def form_of(ins: AsyncOperation, regions: Mapping[str, Region]) -> AsyncForm | None:
    """Return the form of an operation that writes memory, given the regions of locations; None where PTX has none."""
    if not isinstance(ins.target, Loc) or ins.more:
        return None
    source = regions[ins.source.name] if isinstance(ins.source, Loc) else None
    moved = isinstance(ins.count, int) and (ins.count == 4 if source is None else ins.count % 16 == 0)
    shape = (ins.group, ins.mode, source, regions[ins.target.name], ins.barrier is not None, ins.operation is not None)
    fitting = (
        form
        for form in _FORMS
        if shape == (form.group, form.mode, form.source, form.target, form.completes, form.reduces)
    )
    return next(fitting, None) if moved or ins.barrier is None else None


def needed(ins: Instruction) -> int:
    """Return the compute capability that an instruction needs, 0 where that is none in particular."""
    match ins:
        case AsyncOperation(group=group) | AsyncGroup(operations=group):
            return AMPERE if group == COPIES else HOPPER
        case Fence(mode):
            return HOPPER if mode in PROXY_FENCES or mode.order in ptx.ONE_SIDED or CLUSTER in mode.tags else 0
        case Assign() | Store() if is_asynchronous(ins):
            return AMPERE
        case Load(mode=mode) | Rmw(mode=mode) if is_asynchronous(ins):
            counted = isinstance(ins, Rmw) and (ins.operation not in _AMPERES or ins.operands != (1,))
            return HOPPER if counted or mode.order is Order.RELAXED or CLUSTER in mode.tags else AMPERE
        case Load(mode=mode) | Store(mode=mode) | Rmw(mode=mode):
            return HOPPER if CLUSTER in mode.tags else 0
    return 0


_AMPERES = ("mbarrier.arrive", "mbarrier.arrive_drop")
"""What Ampere does to an mbarrier, one arrival at a time."""


def is_moved(ins: Instruction) -> bool:
    """Decide whether ptxas moves other accesses across an instruction of asynchronous operations."""
    return is_asynchronous(ins) or (isinstance(ins, Fence) and ins.mode in PROXY_FENCES)


def addresses(ins: Instruction) -> tuple[Operand, ...]:
    """Return the addresses of an instruction of asynchronous operations, that of an mbarrier last."""
    match ins:
        case AsyncOperation():
            return tuple(address for address in (ins.target, ins.source, ins.barrier) if address is not None)
        case Load(address=address) | Store(address=address) | Rmw(address=address):
            return (address,)
    return ()


def mbarriers(test: LitmusTest) -> frozenset[str]:
    """Return the names of the locations on which a test has operations of mbarriers."""
    found = (
        addresses(ins)[-1]
        for ins in test.instructions
        if addresses(ins) and is_asynchronous(ins) and (not isinstance(ins, AsyncOperation) or ins.barrier is not None)
    )
    return frozenset(address.name for address in found if isinstance(address, Loc))


def homes(test: LitmusTest) -> dict[str, int]:
    """Return a thread of the CTA whose shared memory a location is in, for each location.

    Raises ``InputError`` where instructions of two CTAs ask for one to be in their own.
    """
    found: dict[str, int] = {}
    for thread, ins in test.code:
        for name in _own(ins):
            if not is_home(test, found.setdefault(name, thread), thread):
                raise cannot_say(thread, ins, f"{name} is in shared memory of another CTA, and {OWN_ONLY}")
    for _, ins in test.code:
        if isinstance(ins, AsyncOperation) and isinstance(ins.target, Loc) and isinstance(ins.barrier, Loc):
            for one, other in ((ins.target.name, ins.barrier.name), (ins.barrier.name, ins.target.name)):
                if one in found:
                    found.setdefault(other, found[one])
    return {location.name: found.get(location.name, first_user(test, location.name)) for location in test.locations}


def is_home(test: LitmusTest, home: int, thread: int) -> bool:
    """Decide whether a thread is in the CTA of another."""
    return test.threads[home].place.shares(test.threads[thread].place, Scope.CTA)


OWN_ONLY = "PTX has this instruction for that of its own CTA only"
"""The reason for refusing what PTX ISA 9.1, 9.7.13.15.8 and 9.7.9.25, has no form ``.shared::cluster`` for."""


def _own(ins: Instruction) -> Iterator[str]:
    """The locations that have to be in shared memory of the own CTA, if they are in shared memory."""
    match ins:
        case AsyncOperation(group=group):
            given = (ins.target, ins.barrier) if group == COPIES else (ins.source,)
            yield from (address.name for address in given if isinstance(address, Loc))
        case Load(address=Loc(name)) | Store(address=Loc(name)) if is_asynchronous(ins):
            yield name


@dataclass(frozen=True, slots=True)
class PhaseWait:
    """How a program waits for all that completes at an mbarrier: ``expected`` more bytes are expected, or fewer; so
    many ``phases`` complete, and the next one does after so many ``arrivals``.
    """

    location: str
    expected: int
    phases: int
    arrivals: int


def waits(test: LitmusTest, straight: Collection[int]) -> list[PhaseWait]:
    """Return the waits for operations that complete at mbarriers. ``straight``: the ids of instructions that are in no
    branch and no loop.

    Raises ``InputError`` where the bytes or arrivals of an mbarrier are not known.
    """
    tracked = {
        ins.barrier.name for _, ins in test.code if isinstance(ins, AsyncOperation) and isinstance(ins.barrier, Loc)
    }
    return [_wait(test, location.name, straight) for location in test.locations if location.name in tracked]


def _wait(test: LitmusTest, name: str, straight: Collection[int]) -> PhaseWait:
    states = [held for location in test.locations if location.name == name and (held := initialised(location.initial))]
    counts = [held.expected for held in states]
    arrivals = sum(held.expected - held.pending for held in states)
    expected = sum(held.tx for held in states)
    for thread, ins in test.code:
        if isinstance(ins, Load | Assign) or not is_asynchronous(ins) or Loc(name) not in addresses(ins)[-1:]:
            continue
        match ins:
            case Store(value=int(bits)):
                counts.append(Mbarrier.of(bits).expected)
            case Rmw("mbarrier.arrive", operands=(int(counted),)):
                arrivals += counted
            case Rmw("mbarrier.arrive_expect", operands=(int(counted),)):
                arrivals, expected = arrivals + 1, expected + counted
            case Rmw("mbarrier.expect_tx", operands=(int(counted),)):
                expected += counted
            case Rmw("mbarrier.complete_tx", operands=(int(counted),)):
                expected -= counted
            case AsyncOperation(target=None):
                arrivals += ins.mbarrier == "arrive.noinc"
            case AsyncOperation(count=int(counted)):
                expected -= counted
            case _:
                raise cannot_say(
                    thread, ins, f"nobody knows when phases of {name} complete, to wait for them at the end"
                )
        if id(ins) not in straight:
            raise cannot_say(thread, ins, "it is in a branch, and nobody knows whether to wait for it at the end")
        if len(counts) > 1:
            raise cannot_say(thread, ins, f"{name} is initialised already")
    if not counts:
        raise cannot_say(
            *next((thread, ins) for thread, ins in test.code if Loc(name) in addresses(ins)[-1:]),
            f"nobody initialises {name}",
        )
    phases, begun = divmod(arrivals, counts[0])
    return PhaseWait(name, -expected, phases, counts[0] - begun)


def initialised(initial: int | Loc) -> Mbarrier | None:
    """Return the mbarrier that a value of memory is at the start, in its first phase: it waits for as many arrivals as
    it expects in each, or for bytes alone. None where it is no such mbarrier.
    """
    if not isinstance(initial, int):
        return None
    state = Mbarrier.of(initial)
    return state if state.expected and state == Mbarrier.expecting(state.pending, state.tx) else None
