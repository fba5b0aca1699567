"""Renders memory tests in WGSL. It has relaxed atomics, plain accesses, and barriers of a workgroup.

- Atomics are relaxed, in storage at the scope of the queue family and in the workgroup's memory at that of the
  workgroup (WGSL, Memory Model, Scoped Operations). A test's scope is said where it includes the same threads.
- What is atomic is so by its type: a location has atomic accesses or plain ones, and those that are plain are in arrays
  of their own, ``plain_memory`` and ``plain_local_memory``.
- ``storageBarrier`` orders storage, ``workgroupBarrier`` the workgroup's memory; one after the other orders both. They
  are what orders memory: there are no fences, and no other orders.
- A compare-exchange of WGSL may fail for no reason. One that must not is tried again until it has a reason, so that a
  failure may take several relaxed reads where the test has one; no outcome comes of it that one could not give.

Tests may be OpenCL's or Vulkan's own (``backends.shared.storage_classes``): an access of a storage class has the scope
that WGSL's has, a plain one is for the workgroup, and a barrier names the classes that it orders.

WGSL refuses a constant that is out of range where a shader is made, so what a test computes from constants alone is
computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Template
from typing import ClassVar

from backends.shared.kernel import Kernel, MemoryWord, indented
from backends.shared.layout import Layout
from backends.shared.mapping import GROUPS
from backends.shared.storage_classes import in_memory
from backends.shared.syntax import WGSL, LanguageSyntax
from backends.wgsl.progress import HOST
from corpus.dialects.storage_classes import has_classes
from corpus.errors import InputError
from corpus.litmus.describe import cannot_say
from corpus.litmus.test import Barrier, Fence, Load, Location, Order, Region, Rmw, Scope, Store

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
_FUNCTIONS = {
    "exch": "atomicExchange",
    "add": "atomicAdd",
    "sub": "atomicSub",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
}

MOST_BYTES = 128 << 20
"""Bytes of a storage buffer that every device takes (WebGPU, Limits, maxStorageBufferBindingSize)."""

_FILE = Template("""\
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
""")


class WgslKernel(Kernel):
    """A memory test as ``NAME.wgsl``, run as ``python run_wgsl.py NAME.wgsl [iterations]``."""

    title: ClassVar[str] = "WGSL"
    buffers: ClassVar[Mapping[str, str]] = {
        "memory": "WORDS",
        "plain_memory": "PLAIN_WORDS",
        "results": "RESULT_WORDS",
        "histogram": "HISTOGRAM_WORDS",
    }
    largest_group: ClassVar[int | None] = 256
    syntax: ClassVar[LanguageSyntax] = WGSL
    group: ClassVar[str] = "workgroup.x"
    item: ClassVar[str] = "invocation.x"
    signed: ClassVar[str] = "i32({})"
    unsigned: ClassVar[str] = "u32({})"
    meet: ClassVar[str] = "workgroupBarrier()"
    add: ClassVar[str] = "atomicAdd(&{cell}, {value})"
    claim: ClassVar[str] = "claim(row, {value})"
    peek: ClassVar[str] = "atomicLoad(&{cell})"
    read: ClassVar[str] = peek
    write: ClassVar[str] = "atomicStore(&{cell}, {value})"
    scratch_load: ClassVar[str] = peek
    scratch_store: ClassVar[str] = write
    weak_exchange: ClassVar[bool] = True
    companions: ClassVar[Mapping[str, str]] = HOST
    plain: ClassVar[str] = "plain_"
    """The beginning of the names of the arrays that have plain accesses."""

    def __init__(self, layout: Layout) -> None:
        if layout.groups > GROUPS:
            raise InputError(f"{layout.groups} work-groups: WebGPU takes at most {GROUPS}; ask for fewer instances")
        self._own = has_classes(layout.test)
        super().__init__(replace(layout, test=in_memory(layout.test, self.title)) if self._own else layout)
        if 4 * max(self.layout.words, self.layout.result_words) > MOST_BYTES:
            raise InputError(f"{layout.instances} instances need more than 128 MiB: WebGPU has no larger buffers")
        self._plain = self._plain_locations()

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, cell.region):
            return f"{target} = {self.plain}{cell.text};"
        return f"{target} = atomicLoad(&{cell.text});"

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, cell.region):
            return f"{self.plain}{cell.text} = {value};"
        return f"atomicStore(&{cell.text}, {value});"

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, cell.region):
            raise self.refuse(thread, ins, "has no rmw that is not atomic")
        kept = "" if target is None else f"{target} = "
        if ins.operation == "cas":
            call = f"atomicCompareExchangeWeak(&{cell.text}, expected, {values[1]})"
            result = f" {kept}tried.old_value;" if kept else ""
            if ins.success is not None:
                succeeded = f"{self.register(thread, ins.success)} = select(0u, 1u, tried.exchanged);"
                return f"{{ let expected = {values[0]}; let tried = {call};{result} {succeeded} }}"
            stop = "if (tried.exchanged || tried.old_value != expected)"
            return f"{{ let expected = {values[0]}; loop {{ let tried = {call};{result} {stop} {{ break; }} }} }}"
        if ins.operation in ("min", "max"):
            raise self.refuse(thread, ins, "compares unsigned numbers here, and these are signed")
        if ins.operation not in _FUNCTIONS:
            raise self.refuse(thread, ins, f"has no atomic {ins.operation}")
        return f"{kept}{_FUNCTIONS[ins.operation]}(&{cell.text}, {values[0]});"

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        raise self.refuse(thread, ins, "has no fences: barriers order memory")

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        first, *others = (self._ordered(thread, ins) for thread, ins in barriers.items())
        if any(other != first for other in others):
            thread, ins = next(iter(barriers.items()))
            raise self.refuse(thread, ins, "has no barrier that orders other memory for one thread than for another")
        return " ".join(_BARRIERS[region] for region in Region if region in first)

    def put(self, location: Location, at: str, value: str) -> str:  # noqa: D102
        if location.name in self._plain:
            return f"{self.plain}{self.arrays[location.region]}[{at}] = {value}"
        return super().put(location, at, value)

    def take(self, location: Location, at: str) -> str:  # noqa: D102
        if location.name in self._plain:
            return f"{self.plain}{self.arrays[location.region]}[{at}]"
        return super().take(location, at)

    def sizes(self) -> dict[str, int]:  # noqa: D102
        plain = any(location.name in self._plain for location in self.layout.globals)
        return {"PLAIN_WORDS": self.layout.counters if plain else 1, **super().sizes()}

    def file(self, name: str) -> str:  # noqa: D102
        return _FILE.substitute(
            name=name,
            test=self.comment("// "),
            constants=self.constants(),
            size=min(256, self.layout.instances),
            reset=indented(self.reset()),
            run=indented(self.run()),
            count=indented(self.count()),
        )

    def _ordered(self, thread: int, ins: Barrier) -> frozenset[Region]:
        """Return the regions of memory that a barrier orders. Raises ``InputError`` where WGSL has no such barrier."""
        if ins.arrive or ins.quorum is not None:
            raise self.refuse(thread, ins, "has only barriers where all threads of a workgroup wait for all")
        if ins.scope is not Scope.CTA or ins.mode.scope not in (None, Scope.CTA):
            raise self.refuse(thread, ins, "has only barriers of a workgroup")
        if self._own and (ins.mode.order is not Order.ACQ_REL or {"semav", "semvis"} & set(ins.mode.tags)):
            raise self.refuse(thread, ins, "has only barriers that acquire and release, and make nothing available")
        unknown = [tag for tag in ins.mode.tags if tag not in _ORDERED]
        if unknown:
            raise self.refuse(thread, ins, f"has no barrier that orders {unknown[0]}")
        return frozenset(_ORDERED[tag] for tag in ins.mode.tags or ("global-fence", "local-fence"))

    def _is_atomic(self, thread: int, ins: Load | Store | Rmw, region: Region) -> bool:
        """Whether an access is atomic, having checked that WGSL has it."""
        mode = ins.mode
        if mode.volatile or mode.cache is not None:
            raise self.refuse(thread, ins, f"has no {'volatile accesses' if mode.volatile else 'cache operators'}")
        if mode.tags and not self._own:
            raise self.refuse(thread, ins, f"has no word for {mode.tags[0]}")
        if mode.order is Order.WEAK:
            if self._own and not ({"av", "vis"} & set(mode.tags) and mode.scope is Scope.CTA):
                raise self.refuse(thread, ins, "has plain accesses for the workgroup alone")
            return False
        if mode.order is not Order.RELAXED:
            raise self.refuse(thread, ins, "has atomics that are relaxed, and no others")
        self.scope(thread, ins, _SCOPES[region])
        return True

    def _plain_locations(self) -> frozenset[str]:
        """The locations without atomic accesses that have plain ones. Raises ``InputError`` where one has both."""
        found: dict[str, bool] = {}
        for number, thread in enumerate(self.test.threads):
            for ins in thread.instructions:
                if not isinstance(ins, Load | Store | Rmw):
                    continue
                for name in sorted(self.accessed(number, ins.address)):
                    if found.setdefault(name, ins.mode.order is Order.WEAK) != (ins.mode.order is Order.WEAK):
                        raise cannot_say(number, ins, f"{name} has atomic and plain accesses, and WGSL has either")
        return frozenset(name for name, plain in found.items() if plain)
