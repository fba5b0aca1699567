"""Renders memory tests in CUDA. Every access and fence of a test is one instruction of inline PTX, word for word.

Weak accesses, cache operators, ``volatile``, orders and scopes are PTX's own, so a test in one of its dialects is run
as it is written; ``membar.gl`` is ``fence.sc.gpu``, its newer name. The code is for sm_75 and later, or, as it
then says, for sm_90: ``fence.acquire``, ``fence.release``, clusters and the async proxy need that. Fences of other
proxies are refused, for there are no accesses through any. Accesses name their state space; an address in shared memory
has 32 bits. Shared memory of another CTA of the cluster is ``.shared::cluster``, at the address that ``mapa`` gives.
Addresses are counted in bytes, so that a test that adds ``r & 0x80000000`` to one (Alglave et al. 2015, section 4.5)
does so in the machine code: scaled by 4, that bit would be shifted out of 32.

**Made for optcheck** (``backends.cuda.optcheck``, which says why). The code of each thread, up to each of its
barriers, is a function ``thread_N_K`` that is not inlined and does nothing else: it takes the thread's registers and
returns them. To the address of access k it adds ``zero[k]``, a word of constant memory that is always 0; the compiler
cannot know that, so it can neither merge two accesses of one location nor drop a store that the next one overwrites.
Nor does ptxas keep the order of two accesses of which one is weak. Between them stands ``keep_order``, an ``exit`` that
is never taken: one predicated instruction, across which ptxas was not seen to move an access. Each asks for a word of
its own, or ptxas would know the answer from the first one. And a weak load
whose register nobody asks for is dead: so ``run`` stores such registers where ``zero`` is not 0, which is never.

**Asynchronous operations** (``backends.cuda.asynchronous``) copy the cell of a location (``backends.shared.layout``),
whose first word is its value. A register that an arrival tells the phase has 64 bits, and only waits may ask for it.
Before a test, a fence of the async proxy follows the initial values. After it, each thread waits for its groups, and
the CTA of an mbarrier for what completes there; the mbarrier is then no longer one. Final values are read after that.

Each thread of a CTA waits at a barrier for the instances of all of them, with ``barrier.sync`` or, where the test says
``bar.arrive``, without waiting. Barriers are numbered from 1, for ``__syncthreads()`` is barrier 0, and threads without
a barrier in the test come to it while others are still at theirs: an H100 ends such a launch with an illegal
instruction. Gap: threads that the layout adds to fill work-groups take no part in barriers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

from backends.cuda.asynchronous import (
    BLACKWELL,
    HOPPER,
    LARGEST_CLUSTER,
    OWN_ONLY,
    PENDING_ARRIVALS,
    PROXY_FENCES,
    TYPES,
    addresses,
    form_of,
    homes,
    initialised,
    is_moved,
    mbarriers,
    needed,
    waits,
)
from backends.cuda.optcheck import numbered
from backends.cuda.progress import CUDA_RUNTIME
from backends.shared.kernel import MemoryWord
from backends.shared.layout import Layout
from backends.shared.runtime import RuntimeKernel
from corpus.errors import InputError
from corpus.laws import ptx
from corpus.litmus.describe import cannot_say, describe
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Fence,
    Instruction,
    Load,
    Rmw,
    Store,
    is_asynchronous,
    registers_read,
    registers_written,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region
from corpus.litmus.mbarrier import Mbarrier
from corpus.litmus.orders import BULK, CLUSTER, COPIES, MBARRIER, Order, Scope
from corpus.litmus.propositions import FinalRegister

_POINTERS = {Region.GLOBAL: "l", Region.SHARED: "r"}
"""The constraints of addresses: 64 bits, 32 bits."""
_SHARED_BYTES = 48 << 10
"""The shared memory that a CTA has if it asks for no more (CUDA C++ Programming Guide, compute capabilities)."""
_ACCESSES = (Load, Store, Rmw, AsyncOperation)

_FILL = """\
// A location: all words of its cell.
__device__ inline void fill(std::uint32_t* const cell, const std::uint32_t value) {
    for (std::uint32_t word = 0; word < CELL_WORDS; ++word) cell[word] = value;
}

"""
_AWAIT = """\
// Waits until the phase of an mbarrier is complete that has this parity.
__device__ inline void await(const std::uint32_t mbarrier, const std::uint32_t parity) {
    std::uint32_t complete;
    do {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(complete) : "r"(mbarrier), "r"(parity) : "memory");
    } while (complete == 0u);
}

"""
_CLUSTERED = """\
// A barrier of the whole cluster, which orders memory.
__device__ inline void meet_in_cluster() {
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" : : : "memory");
}

// Where another CTA of the cluster has what this one has at an address in shared memory.
__device__ inline std::uint32_t mapped(const std::uint32_t address, const std::uint32_t rank) {
    std::uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank) : "memory");
    return there;
}

"""


_HELPERS = """\
$constants

// Always 0, but only the host knows: the marks of accesses, and the questions whether to go on.
__constant__ std::uint32_t zero[$zeros];

__device__ inline void keep_order(const std::uint32_t word) {
    asm volatile("{ .reg .pred never; setp.ne.u32 never, %0, 0; @never exit; }" : : "r"(word) : "memory");
}

// Memory as a thread of the test sees it: the address of a byte.
struct Globals {
    std::uint64_t base;
    __device__ std::uint64_t operator[](const std::uint32_t offset) const { return base + offset; }
};
struct Shareds {
    std::uint32_t base;
    __device__ std::uint32_t operator[](const std::uint32_t offset) const { return base + offset; }
};

$helpers$functions

"""
_RUN = """\
    __shared__ ${aligned}std::uint32_t local_memory[SHARED_WORDS];
    const Globals globals{__cvta_generic_to_global(memory)};
    const Shareds shareds{std::uint32_t(__cvta_generic_to_shared(local_memory))};
$peers$run"""


class CudaKernel(RuntimeKernel):
    """A memory test as ``NAME.cu``: compile with ``nvcc -O2 -arch=sm_75`` or newer; run as ``NAME [iterations]``."""

    title = "CUDA"
    marked: ClassVar[bool] = True
    """Whether accesses have marks, and stay in their order, as the module says."""
    clusters = True
    counts_barriers = True
    arrays: ClassVar[Mapping[Region, str]] = {Region.GLOBAL: "globals", Region.SHARED: "shareds"}
    add = "atomicAdd(&{cell}, {value})"
    claim = "atomicCAS(&{cell}, 0u, {value})"
    peek = "atomicAdd(&{cell}, 0u)"
    text = CUDA_RUNTIME.memory_file(_HELPERS, _RUN, "${cluster}")

    def __init__(self, layout: Layout) -> None:
        # Equal instructions are different accesses, and have different marks: make them different objects.
        threads = (
            replace(thread, instructions=tuple(map(replace, thread.instructions))) for thread in layout.test.threads
        )
        super().__init__(replace(layout, test=replace(layout.test, threads=tuple(threads))))
        self._marks = {
            id(self.test.threads[thread].instructions[place]): mark
            for (thread, place), mark in numbered(self.test).items()
        }
        self._keeps = [number for thread in self.test.threads for number in _keeps(thread.instructions)]
        self._regions = {location.name: location.region for location in self.test.locations}
        names = (ins.name for ins in self.test.instructions if isinstance(ins, Barrier))
        self._barriers = {
            name: n for n, name in enumerate(sorted({name for name in names if isinstance(name, int)}), 1)
        }
        self._check_words()
        self._mbarriers = mbarriers(self.test)
        self._homes = homes(self.test)
        straight = [id(ins) for thread in self._phases for code, _ in thread for ins in code]
        self._waits = waits(self.test, straight)
        self._tokens = [self._phase_registers(thread) for thread in range(len(self.test.threads))]
        self._check_memory(straight)

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        words = self._words(thread, ins, ptx.LOAD, cell)
        return self._access(thread, ins, f"ld{words}.u32 %0, [%1];", f'"=r"({target})', [cell])

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        words = self._words(thread, ins, ptx.STORE, cell)
        return self._access(thread, ins, f"st{words}.u32 [%0], %1;", "", [cell], f'"r"({value})')

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if ins.operation not in ptx.OPERATIONS:
            raise cannot_say(thread, ins, f"PTX has no atomic {ins.operation}")
        if ins.failure is not None:
            raise cannot_say(thread, ins, "PTX has one order for an exchange, whether or not it fails")
        words = f"{self._words(thread, ins, ptx.ATOM, cell)}.{ins.operation}.{TYPES.get(ins.operation, 'b32')}"
        reduces = target is None and ins.operation in ptx.REDUCTIONS and ins.mode.order in ptx.RED_ORDERS
        first = 0 if target is None else 1
        places = ", ".join([f"[%{first}]", *(f"%{first + 1 + number}" for number in range(len(values)))])
        result = "" if reduces else "_, " if target is None else "%0, "
        outputs = "" if target is None else f'"=r"({target})'
        text = f"{'red' if reduces else 'atom'}{words} {result}{places};"
        return self._access(thread, ins, text, outputs, [cell], *(f'"r"({value})' for value in values))

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        refuse = partial(cannot_say, thread, ins)
        if ins.mode in PROXY_FENCES:
            return self._kept(ins, _asm(f"{ptx.PROXY_FENCE_WORDS[ins.mode]};", "", ""))
        if ins.mode.order is Order.WEAK:
            raise refuse("PTX has this fence only for accesses through proxies, which CUDA code here has not")
        # OpenCL's fence of global memory is any fence where there is no other memory.
        mode = (
            replace(ins.mode, tags=()) if ins.mode.tags == ("global-fence",) and not self.layout.shareds else ins.mode
        )
        return _asm(f"fence{ptx.mode_words(mode, ptx.FENCE, refuse)};", "", "")

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        lines = []
        for thread, ins in barriers.items():
            if not isinstance(ins.name, int) or not 0 <= ins.name < 16:
                raise cannot_say(thread, ins, "PTX has barriers 0 to 15")
            if self._barriers[ins.name] > 15:
                raise cannot_say(thread, ins, "PTX has 16 barriers, one of which is taken here")
            if ins.scope is not Scope.CTA or ins.mode != type(ins.mode)():
                raise cannot_say(thread, ins, "PTX has barriers with nothing but a number of threads")
            if ins.quorum not in (None, len(barriers)):
                raise cannot_say(thread, ins, f"{len(barriers)} threads of its CTA come to it")
            name = "arrive" if ins.arrive else "sync"
            awaited = len(barriers) * self.layout.counted
            call = _asm(f"barrier.{name} {self._barriers[ins.name]}, {awaited};", "", "")
            lines.append(f"if (position == {self.layout.positions[thread]}u) {call}")
        return " ".join(lines)

    def asynchronous(self, thread: int, ins: Instruction) -> str:  # noqa: D102
        cells = [self.cell(thread, ins, address) for address in addresses(ins)]
        match ins:
            case AsyncGroup():
                return self._kept(ins, _asm(f"{describe(ins)};", "", ""))
            case Assign(target, operation, (token, _)):
                given = self._token(thread, ins, token)
                return _asm(f"{operation}.b64 %0, %1;", f'"=r"({self.register(thread, target)})', given)
            case AsyncOperation():
                return self._operation(thread, ins, cells)
            case Load() | Store() | Rmw():
                return self._on_mbarrier(thread, ins, cells[0])
        raise self.refuse(thread, ins, "has no such instruction")

    def _operation(self, thread: int, ins: AsyncOperation, cells: Sequence[MemoryWord]) -> str:
        homes = [self._home(address) for address in (ins.target, ins.barrier) if self._home(address) is not None]
        if len(set(homes)) > 1:
            raise cannot_say(thread, ins, "PTX has it with an mbarrier in the shared memory of the target")
        if ins.target is None:
            words, _ = PENDING_ARRIVALS[ins.mbarrier]
            return self._access(thread, ins, f"{words}.shared.b64 [%0];", "", cells)
        form = form_of(ins, self._regions)
        if form is None:
            size = "multiples of 16 bytes" if ins.source is not None else "4 bytes"
            spaces = " to ".join(str(cell.region) for cell in reversed(cells[: 1 if ins.source is None else 2]))
            done = "at an mbarrier" if ins.barrier is not None else "in groups"
            raise cannot_say(thread, ins, f"PTX has none from {spaces} memory, of {size}, that complete {done}")
        local = [cell for cell in cells[1:2] if ins.source is not None] if ins.group == BULK else cells
        if any(cell.remote for cell in local):
            raise cannot_say(thread, ins, f"shared memory of another CTA: {OWN_ONLY}")
        operands = [self._address(ins, cell) for cell in cells]
        if ins.source is None:
            operands.insert(1, f'"r"({self.value(thread, ins.value)})')
        text = form.text(ins, 4 * self.layout.cell)
        return self._kept(ins, _asm(text, "", ", ".join(operands)))

    def _on_mbarrier(self, thread: int, ins: Load | Store | Rmw, cell: MemoryWord) -> str:
        if cell.region is not Region.SHARED:
            raise cannot_say(thread, ins, "PTX has mbarriers in shared memory only")
        if cell.remote and not isinstance(ins, Rmw):
            raise cannot_say(thread, ins, f"shared memory of another CTA: {OWN_ONLY}")
        space = ".shared::cluster.b64" if cell.remote else ".shared::cta.b64"
        match ins:
            case Store(value=int(bits)):
                text = f"mbarrier.init{space} [%0], {Mbarrier.of(bits).expected};"
                return self._access(thread, ins, text, "", [cell])
            case Load(target, phase=Reg() | int() as phase):
                words = f"mbarrier.test_wait{'.parity' * ins.parity}"
                test = f"{self._ordered(thread, ins, words)}{space} complete, [%1], %2"
                text = f"{{ .reg .pred complete; {test}; selp.u32 %0, 1, 0, complete; }}"
                awaited = f'"r"({self.value(thread, phase)})' if ins.parity else self._token(thread, ins, phase)
                return self._access(thread, ins, text, f'"=r"({self.register(thread, target)})', [cell], awaited)
            case Rmw(operation, target, _, (counted,)):
                words = self._ordered(thread, ins, ptx.MBARRIER_ARRIVALS.get(operation, operation)) + space
                single = counted == 1 and operation in ("mbarrier.arrive", "mbarrier.arrive_drop")
                tells = target is not None and not cell.remote
                first = int(tells)
                given = [] if isinstance(counted, int) else [f'"r"({self.value(thread, counted)})']
                number = [] if single else [f"%{first + 1}" if given else str(counted)]
                state = [] if target is None else ["%0" if tells else "_"]
                text = f"{words} {', '.join([*state, f'[%{first}]', *number])};"
                output = f'"=l"({self.register(thread, target)})' if target is not None and tells else ""
                return self._access(thread, ins, text, output, [cell], *given)
        raise cannot_say(thread, ins, "PTX has no such operation on an mbarrier")

    def _ordered(self, thread: int, ins: Load | Rmw, words: str) -> str:
        """The words with the order and the scope of what is done to an mbarrier."""
        mode = replace(ins.mode, tags=tuple(tag for tag in ins.mode.tags if tag != MBARRIER))
        refuse = partial(cannot_say, thread, ins)
        if mode.scope not in (Scope.CTA, Scope.QUEUE) or words not in ptx.MBARRIER_ORDERS:
            raise refuse("PTX has it with the scope of a CTA or a cluster")
        rule = ptx.AccessRule(words, ptx.MBARRIER_ORDERS[words])
        return words + ptx.mode_words(mode, rule, refuse)

    def _phase_registers(self, thread: int) -> frozenset[str]:
        """The registers that arrivals tell a phase. Raises ``InputError`` where they are used as numbers."""
        code = self.test.threads[thread].instructions
        phases = {
            name for ins in code if isinstance(ins, Rmw) and is_asynchronous(ins) for name in registers_written(ins)
        }
        for ins in code:
            remote = (
                isinstance(ins, Rmw) and is_asynchronous(ins) and self._home(ins.address) != self.layout.ctas[thread]
            )
            if remote and any(set(registers_written(ins)) & set(registers_read(reader)) for reader in code):
                raise cannot_say(thread, ins, "PTX has arrivals at an mbarrier of another CTA that tell nothing")
            others = set(registers_read(ins)) if not is_asynchronous(ins) else set()
            others |= set(registers_written(ins)) if not (isinstance(ins, Rmw) and is_asynchronous(ins)) else set()
            if phases & others:
                raise cannot_say(thread, ins, f"{min(phases & others)} is the state of an mbarrier, and no number")
        for term in self.layout.terms:
            if isinstance(term, FinalRegister) and term.thread == thread and term.register in phases:
                raise InputError(
                    f"P{thread}:{term.register} is the state of an mbarrier, and outcomes are numbers here"
                )
        return frozenset(phases)

    def _token(self, thread: int, ins: Instruction, token: Operand) -> str:
        """The operand of an instruction that takes the state of an mbarrier."""
        if not isinstance(token, Reg) or token.name not in self._tokens[thread]:
            raise cannot_say(thread, ins, "the state of an mbarrier is what an arrival tells")
        return f'"l"({self.register(thread, token.name)})'

    def home(self, location: str) -> int:  # noqa: D102
        return self.layout.ctas[self._homes[location]]

    def _home(self, address: Operand | None) -> int | None:
        """The CTA whose shared memory a location is in, if it is in any."""
        shared = isinstance(address, Loc) and self._regions[address.name] is Region.SHARED
        return self.home(address.name) if isinstance(address, Loc) and shared else None

    def cell(self, thread: int, ins: Instruction, address: Operand) -> MemoryWord:  # noqa: D102
        if is_asynchronous(ins) and not isinstance(address, Loc):
            raise cannot_say(thread, ins, "it is asked for by the name of a location here, and not by a register")
        word = super().cell(thread, ins, address)
        if word.region is Region.GLOBAL:
            return word
        own, cluster = self.layout.ctas[thread], self.layout.cluster
        found = {self.home(name) for name in self.accessed(thread, address)}
        if found == {own}:
            return word
        if len(found) > 1 or min(found) // cluster != own // cluster:
            raise cannot_say(thread, ins, "the address is in shared memory of another CTA, in no cluster with this one")
        peer = f"peer{min(found) % cluster}"
        return replace(word, text=word.text.replace(self.arrays[Region.SHARED], peer, 1), remote=True)

    def _check_words(self) -> None:
        """Raises ``InputError`` where a test has what programs here have not: tensor cores, tensor maps, and barriers
        of clusters, to which the threads of other instances come, too."""
        for location in self.test.locations:
            if location.region not in (Region.GLOBAL, Region.SHARED):
                raise InputError(
                    f"{location.name} is in {location.region} memory: tensor cores are not in CUDA programs here"
                )
        for thread, ins in self.test.code:
            if isinstance(ins, AsyncOperation) and ins.tensor:
                raise cannot_say(thread, ins, "tensor maps are not in CUDA programs here")
            if isinstance(ins, Barrier) and CLUSTER in ins.mode.tags:
                raise cannot_say(thread, ins, "the barrier of a cluster is not in CUDA programs here")

    def _check_memory(self, straight: Sequence[int]) -> None:
        if self.layout.cluster > LARGEST_CLUSTER:
            raise InputError(f"a cluster of {self.layout.cluster} CTAs: expected at most {LARGEST_CLUSTER}")
        if 4 * self.layout.shared_words > _SHARED_BYTES:
            raise InputError(f"{4 * self.layout.shared_words} bytes of shared memory: a CTA has {_SHARED_BYTES}")
        for location in self.test.locations:
            if location.name in self._mbarriers and not (location.initial in (0, -1) or initialised(location.initial)):
                raise InputError(f"{location.name} is an mbarrier, and 0, -1 or in its first phase at the start here")
        for term in self.layout.terms:
            if isinstance(term, Loc) and term.name in self._mbarriers:
                raise InputError(f"{term.name} is an mbarrier, and outcomes are numbers here")
        for thread, ins in self.test.code:
            if isinstance(ins, Store) and is_asynchronous(ins) and id(ins) not in straight:
                raise cannot_say(thread, ins, "it is in a branch, and nobody knows what to do about it at the end")

    def sizes(self) -> dict[str, int]:
        """Return the constants of the launch, and the words of a cell where that is more than one."""
        return super().sizes() | ({"CELL_WORDS": self.layout.cell} if self.layout.cell > 1 else {})

    def put(self, location: Location, index: str, value: str) -> str:
        """Return the statement that gives a location its initial value, at an index into its array."""
        place = super().put(location, index, value)
        return place if self.layout.cell == 1 else f"fill(&{place.split(' = ')[0]}, {value})"

    def initialised(self) -> list[str]:  # noqa: D102
        lines = []
        for location in self.layout.shareds:
            if location.name in self._mbarriers and (state := initialised(location.initial)):
                words = [f"mbarrier.init.shared::cta.b64 [%0], {state.expected};"]
                if state.tx:
                    word = "expect_tx" if state.pending else "arrive.expect_tx"
                    state_word = "" if state.pending else "_, "
                    words.append(f"mbarrier.{word}.relaxed.cta.shared::cta.b64 {state_word}[%0], {state.tx};")
                init = _asm(" ".join(words), "", f'"r"({self._of_item(location)})')
                lines.append(f"if (cta == {self.home(location.name)}u && item < SLOTS) {init}")
        return [
            *lines,
            *(['asm volatile("fence.proxy.async;" : : : "memory");'] if self._uses(BULK) else []),
            f"{self._met};",
        ]

    def completed(self) -> list[str]:
        """Return the statements that wait for what a test has asked for: groups, and then what completes at
        mbarriers.
        """
        lines = ['asm volatile("cp.async.wait_all;" : : : "memory");'] if self._uses(COPIES) else []
        if self._uses(BULK):
            lines.append('asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" : : : "memory");')
        lines.append(f"{self._met};")
        waited = {wait.location: wait for wait in self._waits}
        held = [
            location
            for location in self.layout.shareds
            if location.name in self._mbarriers and self._is_initialised(location)
        ]
        for location in held:
            address = self._of_item(location)
            lines += [
                f"if (cta == {self.home(location.name)}u && item < SLOTS) {{ // {location.name}",
                f"    {self.syntax.constant('mbarrier', address)}",
            ]
            if location.name in waited:
                wait = waited[location.name]
                if wait.expected:
                    word = "expect_tx" if wait.expected > 0 else "complete_tx"
                    text = f"mbarrier.{word}.relaxed.cta.shared::cta.b64 [%0], {abs(wait.expected)};"
                    lines.append(f"    {_asm(text, '', _OBJECT)}")
                if wait.phases:
                    lines.append(f"    await(mbarrier, {(wait.phases - 1) % 2}u);")
                arrive = _asm("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }", "", _OBJECT)
                lines.append(f"    for (std::uint32_t number = 0; number < {wait.arrivals}u; ++number) {arrive}")
                lines.append(f"    await(mbarrier, {wait.phases % 2}u);")
            lines += [f"    {_asm('mbarrier.inval.shared::cta.b64 [%0];', '', _OBJECT)}", "}"]
        return lines if not waited else [*lines, f"{self._met};"]

    @property
    def _met(self) -> str:
        """The barrier of all that share memory."""
        return self.meet if self.layout.cluster == 1 else "meet_in_cluster()"

    def _uses(self, group: str) -> bool:
        code = self.test.instructions
        operations = {ins.group for ins in code if isinstance(ins, AsyncOperation)}
        return group in operations | {ins.operations for ins in code if isinstance(ins, AsyncGroup)}

    def _is_initialised(self, location: Location) -> bool:
        """Whether a location is an mbarrier at the end of the test."""
        stores = (ins for ins in self.test.instructions if isinstance(ins, Store) and is_asynchronous(ins))
        return bool(initialised(location.initial)) or any(ins.address == Loc(location.name) for ins in stores)

    def _of_item(self, location: Location) -> str:
        """The address that a location of the item's slot has, in shared memory."""
        return f"shareds[4u * {self.shared(self.layout.shareds.index(location))}]"

    def locations(self) -> list[str]:
        """Return the statements that say where each location of the instance is, in bytes."""
        return [line.replace(" = ", " = 4u * ", 1) for line in super().locations()]

    def registers(self, thread: int) -> list[str]:
        """Return the declaration of a thread's registers as one object, with their initial values."""
        initial = dict(self.test.threads[thread].registers)
        names = sorted(self.test.threads[thread].names)
        values = ", ".join(self.value(thread, initial.get(name, 0)) for name in names)
        return [f"Registers{thread} p{thread}{{{values}}};"]

    def register(self, thread: int, name: str) -> str:
        """Return the member of a struct that a register is, ``p0.reg_r1``."""
        return f"p{thread}.reg_{self._names[thread][name]}"

    def phases(self, thread: int) -> tuple[tuple[list[str], Barrier | None], ...]:
        """Return a call of the function of each phase, and a use of the registers that the condition does not
        ask for.
        """
        arrays = (*self.arrays.values(), *self._peers)
        given = ", ".join(
            [f"p{thread}", *arrays, *(self.address_variable(location.name) for location in self.test.locations)]
        )
        observed = {
            term.register for term in self.layout.terms if isinstance(term, FinalRegister) and term.thread == thread
        }
        others = [self.register(thread, name) for name in sorted(self.test.threads[thread].names - observed)]
        used = (
            [f"if (zero[{len(self._marks)}u] != 0u) results[0] = {' + '.join(others)};"]
            if others and self.marked
            else []
        )
        return tuple(
            ([f"p{thread} = thread_{thread}_{number}({given});", *(used if barrier is None else [])], barrier)
            for number, (_, barrier) in enumerate(super().phases(thread))
        )

    def functions(self) -> list[str]:
        """Return the registers of each thread, and a function for each of its phases."""
        lines = []
        addresses = [
            f"const {self.syntax.word} {self.address_variable(location.name)}" for location in self.test.locations
        ]
        for thread in range(len(self.test.threads)):
            own, names = f"Registers{thread}", sorted(self._names[thread])
            words = {name: "std::uint64_t" if name in self._tokens[thread] else self.syntax.word for name in names}
            fields = [f"{word} reg_{self._names[thread][name]};" for name, word in words.items()]
            lines.append(f"struct {own} {{{''.join(f' {declaration}' for declaration in fields)} }};")
            arrays = ["const Globals globals", *(f"const Shareds {name}" for name in ("shareds", *self._peers))]
            given = ", ".join([f"{own} p{thread}", *arrays, *addresses])
            for number, (code, _) in enumerate(super().phases(thread)):
                lines.append(f'extern "C" __device__ __noinline__ {own} thread_{thread}_{number}({given}) {{')
                lines += ["    " + line for line in [*code, f"return p{thread};"]]
                lines.append("}")
        return lines

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        return {
            **super().parts(),
            "needs": self._needs(),
            "helpers": self._helpers(),
            "cluster": f"__cluster_dims__({self.layout.cluster}, 1, 1) " if self._in_cluster else "",
            "aligned": "alignas(16) " if self.layout.cell > 1 else "",
            "peers": "".join(
                f"    [[maybe_unused]] const Shareds {name}{{mapped(shareds.base, {rank}u)}};\n"
                for rank, name in enumerate(self._peers)
            ),
            "zeros": len(self._marks) + 1 + len(self._keeps),
            "functions": "\n".join(self.functions()),
        }

    @property
    def _in_cluster(self) -> bool:
        """Whether the launch is one of clusters, be it of one CTA: an H100 ends what writes to the shared memory of a
        cluster, from a register or from shared memory, with an illegal instruction elsewhere.
        """
        operations = (ins for ins in self.test.instructions if isinstance(ins, AsyncOperation))
        forms = (form for ins in operations if (form := form_of(ins, self._regions)) is not None)
        return self.layout.cluster > 1 or any(
            form.group == BULK and form.target is Region.SHARED and form.source is not Region.GLOBAL for form in forms
        )

    @property
    def _peers(self) -> list[str]:
        """What the shared memory of each CTA of the cluster is called."""
        return [f"peer{rank}" for rank in range(self.layout.cluster)] if self.layout.cluster > 1 else []

    def _helpers(self) -> str:
        cell, clustered = self.layout.cell > 1, self.layout.cluster > 1
        return "".join([_FILL if cell else "", _AWAIT if self._waits else "", _CLUSTERED if clustered else ""])

    def _needs(self) -> str:
        """The compute capability that the program needs, and what it is compiled for where it is only checked."""
        least = max([HOPPER if self.layout.cluster > 1 else 0, *map(needed, self.test.instructions)])
        needs = f"// Needs sm_{least} or later.\n" if least else ""
        checked = f"// Checked for sm_{HOPPER}a and sm_{BLACKWELL}a.\n"
        return needs + checked if any(map(is_moved, self.test.instructions)) else needs

    def _words(self, thread: int, ins: Load | Store | Rmw, rule: ptx.AccessRule, cell: MemoryWord) -> str:
        return ptx.mode_words(ins.mode, rule, partial(cannot_say, thread, ins), _space(cell))

    def _access(
        self,
        thread: int,
        ins: Load | Store | Rmw | AsyncOperation,
        text: str,
        outputs: str,
        cells: Sequence[MemoryWord],
        *values: str,
    ) -> str:
        """An access to addresses with its mark; ``values`` are its further operands, as ``asm`` takes them."""
        inputs = ", ".join([*(self._address(ins, cell) for cell in cells), *values])
        return self._kept(ins, _asm(text, outputs, inputs))

    def _address(self, ins: Instruction, cell: MemoryWord) -> str:
        mark = f" + zero[{self._marks[id(ins)]}u]" if self.marked else ""
        return f'"{_POINTERS[cell.region]}"({cell.text.removesuffix("]")}{mark}])'

    def _kept(self, ins: Instruction, text: str) -> str:
        """An instruction with what keeps it behind the one before it, where ptxas would not."""
        if id(ins) not in self._keeps or not self.marked:
            return text
        return f"keep_order(zero[{len(self._marks) + 1 + self._keeps.index(id(ins))}u]); {text}"


def _keeps(code: Sequence[Instruction]) -> list[int]:
    """The ids of the instructions of a thread that ptxas does not keep behind the one before."""
    kept = [ins for ins in code if isinstance(ins, (*_ACCESSES, AsyncGroup, Fence, Barrier))]
    return [
        id(ins)
        for before, ins in pairwise(kept)
        if not isinstance(before, Barrier) and not _is_fence(before) and not _is_fence(ins)
        if _is_moved(before) or _is_moved(ins)
    ]


def _is_fence(ins: Instruction) -> bool:
    """Whether ptxas keeps all accesses on their side of an instruction."""
    return isinstance(ins, Fence) and not is_moved(ins)


def _is_moved(ins: Instruction) -> bool:
    """Whether ptxas does not keep an instruction where it is."""
    weak = isinstance(ins, Load | Store | Rmw) and ins.mode.order is Order.WEAK and not ins.mode.volatile
    return weak or is_moved(ins)


def _space(cell: MemoryWord) -> str:
    """The state space of a word, as an access has it."""
    return f".{cell.region}" if not cell.remote else ".shared::cluster"


def _asm(text: str, outputs: str, inputs: str) -> str:
    operands = f"{outputs} : {inputs}".strip()
    return f'asm volatile("{text}" : {operands} : "memory");'


_OBJECT = '"r"(mbarrier)'
