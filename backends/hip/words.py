"""Says tests of Vulkan's dialect in the words of LLVM's languages for AMD's GPUs, as far as they are the same.

LLVM's AMDGPU memory model reads ``store atomic syncscope("agent") release`` as Vulkan's
``st.atom.rel.dv.sc0.semsc0.semsc1.semav`` (docs/amdgpu.md has the table): an order speaks for global and local memory,
makes available and makes visible. A fence or barrier may speak for one of the two. What HIP has no words for is
refused: private accesses, plain accesses that are made available or visible (``amdgcn-av``), orders that make nothing
available or visible, orders of an access that speak for one memory alone, images and output.
"""

from __future__ import annotations

from dataclasses import replace

from corpus.laws.vulkan import SEMANTICS, STORAGE
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Loc, Region
from corpus.litmus.normal import without_predicates
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.test import LitmusTest

GLOBAL_ALONE, LOCAL_ALONE = "global-fence", "local-fence"
"""The tags of a fence or barrier that orders one memory alone, as OpenCL's (``corpus.laws.opencl.MEMORY``)."""
BARE = "bare"
"""The tag of a barrier that orders no memory."""

_REGIONS = {"sc0": Region.GLOBAL, "sc1": Region.SHARED}
_SPEAKING = dict(zip(_REGIONS, SEMANTICS, strict=False))
_ACQUIRES = (Order.ACQUIRE, Order.ACQ_REL)
_RELEASES = (Order.RELEASE, Order.ACQ_REL)
_Said = Load | Store | Rmw | Fence | Barrier


def said_in_hip(test: LitmusTest) -> LitmusTest:
    """Return a test as HIP programs say it, instruction by instruction. Raises ``InputError`` that names the
    instruction that they cannot say, and the reason.
    """
    return without_predicates(in_llvm_words(test))


def in_llvm_words(test: LitmusTest) -> LitmusTest:
    """Return a test without storage classes, each location in the memory of its class; a test of another dialect as it
    is. Raises ``InputError`` that names the instruction and the reason.
    """
    instructions = test.code
    tags = {tag for _, ins in instructions if isinstance(ins, _Said) for tag in ins.mode.tags}
    if tags.isdisjoint({*STORAGE, *SEMANTICS}):
        return test
    homes: dict[str, str] = {}
    for index, ins in instructions:
        if isinstance(ins, Load | Store | Rmw):
            storage = next((tag for tag in ins.mode.tags if tag in STORAGE), "")
            if storage not in _REGIONS:
                raise cannot_say(index, ins, "HIP has global memory (sc0) and local memory (sc1)")
            named = [ins.address.name] if isinstance(ins.address, Loc) else []
            if any(homes.setdefault(name, storage) != storage for name in named):
                raise cannot_say(index, ins, "HIP has one memory for each location")
    threads = tuple(
        replace(
            thread,
            instructions=tuple(
                replace(ins, mode=_scoped(test, index, ins, _mode(index, ins, {*homes.values()})))
                if isinstance(ins, _Said)
                else ins
                for ins in thread.instructions
            ),
        )
        for index, thread in enumerate(test.threads)
    )
    locations = tuple(
        replace(location, region=_REGIONS[homes.get(location.name, "sc0")]) for location in test.locations
    )
    return replace(test, threads=threads, locations=locations)


def _mode(index: int, ins: _Said, used: set[str]) -> Mode:
    """How an instruction is done, without the words of Vulkan. ``used`` are the storage classes of the test."""
    mode, tags = ins.mode, {*ins.mode.tags}
    if isinstance(ins, Barrier) and mode.order is Order.WEAK:
        return replace(mode, tags=(BARE,))
    if mode.order is Order.WEAK:
        if tags & {"av", "vis"}:
            raise cannot_say(index, ins, "HIP has no plain accesses that are made available or visible")
        if "nonpriv" not in tags:
            raise cannot_say(index, ins, "HIP has no private accesses")
        return replace(mode, tags=())
    if mode.order is Order.RELAXED:
        return replace(mode, tags=())
    for word, orders in (("semav", _RELEASES), ("semvis", _ACQUIRES)):
        if mode.order in orders and word not in tags:
            raise cannot_say(index, ins, f"HIP has no order without {word}")
    spoken = {storage for storage in _REGIONS if _SPEAKING[storage] in tags}
    alone = (
        () if used <= spoken else tuple(GLOBAL_ALONE if storage == "sc0" else LOCAL_ALONE for storage in sorted(spoken))
    )
    if alone and isinstance(ins, Load | Store | Rmw):
        raise cannot_say(index, ins, "HIP has no order of an access that speaks for one memory alone")
    if not spoken:
        raise cannot_say(index, ins, "HIP has no order that speaks for neither global nor local memory")
    if isinstance(ins, Barrier):
        if mode.order is not Order.ACQ_REL or mode.scope is not Scope.CTA:
            raise cannot_say(
                index, ins, "HIP has barriers that acquire and release for the work-group, or order nothing"
            )
        return Mode(tags=alone)
    return replace(mode, tags=alone)


def _scoped(test: LitmusTest, index: int, ins: _Said, mode: Mode) -> Mode:
    """A mode whose scope HIP has: a queue family is said as a scope of the same threads."""
    if mode.scope is not Scope.QUEUE:
        return mode
    own = test.threads[index].place
    for scope in (Scope.CTA, Scope.GPU, Scope.SYS):
        if all(other.place.shares(own, scope) == other.place.shares(own, mode.scope) for other in test.threads):
            return replace(mode, scope=scope)
    raise cannot_say(index, ins, "HIP has no clusters, nor another scope of the same threads here")
