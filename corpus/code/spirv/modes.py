"""How accesses, fences and barriers of SPIR-V are done, as modes of litmus tests (SPIR-V 1.6, 3.25 to 3.27, 2.16 and
2.18; the Vulkan specification, appendix Memory Model; the OpenCL SPIR-V Environment Specification).

``OpAtomicLoad %uint %x Device Acquire|UniformMemory`` of a storage buffer is ``ld.atom.acq.dv.sc0.semsc0``.

Under ``GLSL450``, which does not say what an access is in the Vulkan memory model, it is what spirv-opt's
``--upgrade-memory-model`` makes of it: accesses by way of what is ``Coherent`` or ``Volatile`` are not private, and
made available and visible to the queue family, those of work-group memory to the work-group; others are private.

Each of the memory models has a row in ``MEMORY_MODELS``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from corpus.laws.opencl import barrier_mode, fence_mode, fence_tags
from corpus.litmus.orders import PLAIN, Mode, Order, Scope

SCOPES: Mapping[int, Scope | None] = {
    0: Scope.SYS,
    1: Scope.GPU,
    2: Scope.CTA,
    3: Scope.WARP,
    4: None,
    5: Scope.QUEUE,
    6: None,
}
"""The levels of the scopes; that of one invocation, or of a call of a shader, is none."""

ORDERS = {0x2: Order.ACQUIRE, 0x4: Order.RELEASE, 0x8: Order.ACQ_REL, 0x10: Order.SC}

WORKGROUP_MEMORY, CROSS_WORKGROUP_MEMORY = 0x100, 0x200
"""The bits of memory semantics for the memory of a work-group, and of all of them."""

_SEMANTICS = {0x40: "semsc0", WORKGROUP_MEMORY: "semsc1", 0x800: "semsc2", 0x1000: "semsc3"}
_MADE = {0x2000: "semav", 0x4000: "semvis"}
KNOWN_SEMANTICS = sum((*ORDERS, *_SEMANTICS, *_MADE, CROSS_WORKGROUP_MEMORY, 0x80, 0x400, 0x8000))
"""The bits of memory semantics that are understood; those of the memory of subgroups, of atomic counters, and Volatile
change nothing.
"""

_CLASSES = {"Workgroup": "sc1", "Image": "sc2", "Output": "sc3"}
"""The storage classes of Vulkan's model but for that of buffers, ``sc0``."""


class SpirvAccess(NamedTuple):
    """An access that is not atomic: the storage class of its pointer, what its memory operands say, and whether it is
    by way of what is coherent.
    """

    storage: str
    available: Scope | None = None
    visible: Scope | None = None
    makes_available: bool = False
    makes_visible: bool = False
    non_private: bool = False
    coherent: bool = False


class SpirvSemantics(NamedTuple):
    """The scope and the memory semantics of an atomic access, a fence or a barrier."""

    scope: Scope | None
    bits: int

    @property
    def order(self) -> Order:
        """Return the memory order that memory semantics ask for (SPIR-V, 3.25)."""
        found = [order for bit, order in ORDERS.items() if self.bits & bit]
        return found[-1] if found else Order.RELAXED


class SpirvMemoryModel(NamedTuple):
    """How a memory model has accesses, atomic ones of a storage class, fences, and barriers of a level.

    ``name`` is that of the language of kernels; ``assumed`` what is taken for granted where it is not Vulkan's or
    OpenCL's own model.
    """

    name: str
    access: Callable[[SpirvAccess, bool], Mode]
    atomic: Callable[[SpirvSemantics, str, Order], Mode]
    fence: Callable[[SpirvSemantics], Mode | None]
    barrier: Callable[[SpirvSemantics, Scope], Mode]
    assumed: tuple[str, ...] = ()


def _vulkan_access(access: SpirvAccess, write: bool) -> Mode:
    home = _CLASSES.get(access.storage, "sc0")
    if write and access.makes_available:
        return Mode(Order.WEAK, access.available, tags=("av", home))
    if not write and access.makes_visible:
        return Mode(Order.WEAK, access.visible, tags=(home, "vis"))
    return Mode(tags=("nonpriv", home) if access.non_private else (home,))


def _glsl_access(access: SpirvAccess, write: bool) -> Mode:
    scope = Scope.CTA if access.storage == "Workgroup" else Scope.QUEUE if access.coherent else None
    if scope is None:
        return _vulkan_access(access, write)
    return _vulkan_access(
        access._replace(available=scope, visible=scope, makes_available=True, makes_visible=True), write
    )


def _vulkan_tags(bits: int) -> tuple[str, ...]:
    return tuple(sorted(tag for bit, tag in (_SEMANTICS | _MADE).items() if bits & bit))


def _without_sc(order: Order) -> Order:
    """Return an order of Vulkan, which has no sequential consistency."""
    return Order.ACQ_REL if order is Order.SC else order


def _vulkan_atomic(semantics: SpirvSemantics, storage: str, order: Order) -> Mode:
    tags = () if order is Order.RELAXED else _vulkan_tags(semantics.bits)
    return Mode(order, semantics.scope, tags=tuple(sorted((_CLASSES.get(storage, "sc0"), *tags))))


def _vulkan_fence(semantics: SpirvSemantics) -> Mode | None:
    order = _without_sc(semantics.order)
    return None if order is Order.RELAXED else Mode(order, semantics.scope, tags=_vulkan_tags(semantics.bits))


def _vulkan_barrier(semantics: SpirvSemantics, level: Scope) -> Mode:
    return _vulkan_fence(semantics) or PLAIN


def _opencl_tags(bits: int) -> tuple[str, ...] | None:
    return fence_tags(bool(bits & WORKGROUP_MEMORY), bool(bits & CROSS_WORKGROUP_MEMORY))


def _opencl_fence(semantics: SpirvSemantics) -> Mode | None:
    return fence_mode(semantics.order, semantics.scope, _opencl_tags(semantics.bits))


def _opencl_barrier(semantics: SpirvSemantics, level: Scope) -> Mode:
    """A barrier of OpenCL C is two fences of acquire and release, whose SPIR-V says SequentiallyConsistent."""
    tags = None if semantics.order is Order.RELAXED else _opencl_tags(semantics.bits)
    return barrier_mode(semantics.scope, level, tags)


def _opencl_atomic(semantics: SpirvSemantics, storage: str, order: Order) -> Mode:
    return Mode(order, semantics.scope)


def _vulkan(assumed: tuple[str, ...] = ()) -> SpirvMemoryModel:
    access = _glsl_access if assumed else _vulkan_access
    return SpirvMemoryModel("vulkan", access, _vulkan_atomic, _vulkan_fence, _vulkan_barrier, assumed)


MEMORY_MODELS: Mapping[str, SpirvMemoryModel] = {
    "Vulkan": _vulkan(),
    "GLSL450": _vulkan(
        (
            "the memory model GLSL450 is Vulkan's: accesses of buffers that are not coherent are private, others are "
            "made available and visible to the queue family, and those of work-group memory to the work-group",
        )
    ),
    "OpenCL": SpirvMemoryModel("opencl", lambda access, write: PLAIN, _opencl_atomic, _opencl_fence, _opencl_barrier),
}
"""The memory models that modules name (3.5); ``Simple`` is of modules without shared memory."""


def order_of(model: SpirvMemoryModel, semantics: SpirvSemantics) -> Order:
    """Return the order that memory semantics have in a memory model."""
    return _without_sc(semantics.order) if model.name == "vulkan" else semantics.order
