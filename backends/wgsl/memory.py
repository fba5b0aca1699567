"""Renders memory tests in WGSL. It has relaxed atomics, plain accesses, and barriers of a workgroup.

- Atomics are relaxed, in storage at the scope of the queue family and in the workgroup's memory at that of the
  workgroup (WGSL, Memory Model, Scoped Operations). A test's scope is said where it includes the same threads.
- What is atomic is so by its type: a location has atomic accesses or plain ones, and those that are plain are in arrays
  of their own, ``plain_memory`` and ``plain_local_memory``.
- ``storageBarrier`` orders storage, ``workgroupBarrier`` the workgroup's memory; one after the other orders both. They
  are what orders memory: there are no fences, and no other orders.
- A compare-exchange of WGSL may fail for no reason. One that must not is tried again until it has a reason, so that a
  failure may take several relaxed reads where the test has one; no outcome comes of it that one could not give.

Tests may be OpenCL's or Vulkan's own (``backends.shared.shaders``): an access of a storage class has the scope
that WGSL's has, a plain one is for the workgroup, and a barrier names the classes that it orders.

WGSL refuses a constant that is out of range where a shader is made, so what a test computes from constants alone is
computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from backends.shared.atomics import Access
from backends.shared.kernel import MemoryWord
from backends.shared.layout import Layout
from backends.shared.shaders import ShaderAtomics
from backends.shared.syntax import WGSL
from corpus.errors import InputError
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Location, Region
from corpus.litmus.orders import Order, Scope

_SCOPES = {
    Region.GLOBAL: {Scope.QUEUE: "", Scope.GPU: ""},
    Region.SHARED: {Scope.CTA: ""},
}
"""The scopes of atomics by where they are; one launch is on one queue of one device."""
_BARRIERS = {Region.GLOBAL: "storageBarrier();", Region.SHARED: "workgroupBarrier();"}
_ORDERED = {
    "global-fence": Region.GLOBAL,
    "local-fence": Region.SHARED,
    "semsc0": Region.GLOBAL,
    "semsc1": Region.SHARED,
}

MOST_BYTES = 128 << 20
"""Bytes of a storage buffer that every device takes (WebGPU, Limits, maxStorageBufferBindingSize)."""


class WgslKernel(ShaderAtomics):
    """A memory test as ``NAME.wgsl``, run as ``python run_wgsl.py NAME.wgsl [iterations]``."""

    title = "WGSL"
    interface = "WebGPU"
    buffers: ClassVar[Mapping[str, str]] = {
        "memory": "WORDS",
        "plain_memory": "PLAIN_WORDS",
        "results": "RESULT_WORDS",
        "histogram": "HISTOGRAM_WORDS",
    }
    largest_group = 256
    syntax = WGSL
    group = "workgroup.x"
    item = "invocation.x"
    signed = "i32({})"
    unsigned = "u32({})"
    meet = "workgroupBarrier()"
    add = "atomicAdd(&{cell}, {value})"
    claim = "claim(row, {value})"
    peek = "atomicLoad(&{cell})"
    read = peek
    write = "atomicStore(&{cell}, {value})"
    scratch_load = peek
    scratch_store = write
    weak_exchange = True
    plain = "plain_{}"
    functions: ClassVar = {**ShaderAtomics.functions, "sub": "atomicSub", "cas": "atomicCompareExchangeWeak"}
    pointer = "&{}"
    no_volatile = "has no volatile accesses"
    group_word = "workgroup"
    group_barriers = "has only barriers of a workgroup"
    text = """\
// $name. Usage: python run_wgsl.py NAME.wgsl [iterations]
$test
$constants

@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> plain_memory: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
@group(0) @binding(3) var<storage, read_write> histogram: array<atomic<u32>>;
@group(0) @binding(4) var<uniform> seed: u32;
var<workgroup> local_memory: array<atomic<u32>, SHARED_WORDS>;
var<workgroup> plain_local_memory: array<u32, SHARED_WORDS>;

fn claim(row: u32, value: u32) -> u32 {
    var old = 0u;
    loop {
        let tried = atomicCompareExchangeWeak(&histogram[row], 0u, value);
        old = tried.old_value;
        if (tried.exchanged || old != 0u) { break; }
    }
    return old;
}

@compute @workgroup_size($size)
fn reset(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
$reset
}

@compute @workgroup_size(GROUP_SIZE)
fn run(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
$run
}

@compute @workgroup_size($size)
fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
$count
}
"""

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        if 4 * max(self.layout.words, self.layout.result_words) > MOST_BYTES:
            raise InputError(f"{layout.instances} instances need more than 128 MiB: WebGPU has no larger buffers")
        self._plain = self._plain_locations()

    def ordering(self, thread: int, ins: Access) -> list[str]:  # noqa: D102
        return []

    def exchange(self, thread: int, ins: Rmw, kept: str, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        call = self.call("cas", cell, ["expected", values[1]])
        result = f" {kept}tried.old_value;" if kept else ""
        if ins.success is not None:
            succeeded = f"{self.register(thread, ins.success)} = select(0u, 1u, tried.exchanged);"
            return f"{{ let expected = {values[0]}; let tried = {call};{result} {succeeded} }}"
        stop = "if (tried.exchanged || tried.old_value != expected)"
        return f"{{ let expected = {values[0]}; loop {{ let tried = {call};{result} {stop} {{ break; }} }} }}"

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        raise self.refuse(thread, ins, "has no fences: barriers order memory")

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        first, *others = (self._ordered(thread, ins) for thread, ins in barriers.items())
        if any(other != first for other in others):
            raise self.differing(*next(iter(barriers.items())))
        return " ".join(_BARRIERS[region] for region in Region if region in first)

    def put(self, location: Location, index: str, value: str) -> str:  # noqa: D102
        if location.name in self._plain:
            return f"{self.plain.format(self.arrays[location.region])}[{index}] = {value}"
        return super().put(location, index, value)

    def take(self, location: Location, index: str) -> str:  # noqa: D102
        if location.name in self._plain:
            return f"{self.plain.format(self.arrays[location.region])}[{index}]"
        return super().take(location, index)

    def sizes(self) -> dict[str, int]:  # noqa: D102
        plain = any(location.name in self._plain for location in self.layout.globals)
        return {"PLAIN_WORDS": self.layout.counters if plain else 1, **super().sizes()}

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        return {"size": min(256, self.layout.instances), **super().parts()}

    def _ordered(self, thread: int, ins: Barrier) -> frozenset[Region]:
        """Return the regions of memory that a barrier orders. Raises ``InputError`` where WGSL has no such barrier."""
        self.check_barrier(thread, ins, (None, Scope.CTA))
        if self._own and (ins.mode.order is not Order.ACQ_REL or {"semav", "semvis"} & set(ins.mode.tags)):
            raise self.refuse(thread, ins, "has only barriers that acquire and release, and make nothing available")
        unknown = [tag for tag in ins.mode.tags if tag not in _ORDERED]
        if unknown:
            raise self.refuse(thread, ins, f"has no barrier that orders {unknown[0]}")
        return frozenset(_ORDERED[tag] for tag in ins.mode.tags or ("global-fence", "local-fence"))

    def is_atomic(self, thread: int, ins: Access, cell: MemoryWord) -> bool:  # noqa: D102
        mode = ins.mode
        self.check_words(thread, ins, mode.tags if self._own else ())
        if mode.order is Order.WEAK:
            if self._own and not ({"av", "vis"} & set(mode.tags) and mode.scope is Scope.CTA):
                raise self.refuse(thread, ins, "has plain accesses for the workgroup alone")
            return False
        if mode.order is not Order.RELAXED:
            raise self.refuse(thread, ins, "has atomics that are relaxed, and no others")
        self.scope(thread, ins, _SCOPES[cell.region])
        return True

    def _plain_locations(self) -> frozenset[str]:
        """The locations without atomic accesses that have plain ones. Raises ``InputError`` where one has both."""
        found: dict[str, bool] = {}
        for number, ins in self.test.code:
            if not isinstance(ins, Load | Store | Rmw):
                continue
            for name in sorted(self.accessed(number, ins.address)):
                if found.setdefault(name, ins.mode.order is Order.WEAK) != (ins.mode.order is Order.WEAK):
                    raise cannot_say(number, ins, f"{name} has atomic and plain accesses, and WGSL has either")
        return frozenset(name for name, plain in found.items() if plain)
