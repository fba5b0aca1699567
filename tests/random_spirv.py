"""Random small kernels, each as a text of SPIR-V and as a litmus test, which are written side by side.

The text has ids of threads, a switch to each thread's code, access chains, semantics as numbers, phis and functions.
The litmus test has none of that, and its modes are written here from what a dialect's words mean. A kernel is a
function of the generator's state alone, so a seed names it. What threads have read they write to a buffer ``out``.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region, element
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

LAUNCHES = ((2, 1, 32), (2, 1, 32), (1, 2, 32), (1, 2, 1), (3, 1, 32))
"""Work-groups, threads in each, threads in a subgroup."""

RESULTS = 3
"""The results that a thread may have."""

SCOPES = {1: Scope.GPU, 2: Scope.CTA, 3: Scope.WARP, 5: Scope.QUEUE}
CL_SCOPES = {0: Scope.SYS, 1: Scope.GPU, 2: Scope.CTA, 3: Scope.WARP}
ORDERS = {0x0: Order.RELAXED, 0x2: Order.ACQUIRE, 0x4: Order.RELEASE, 0x8: Order.ACQ_REL, 0x10: Order.SC}
SEMANTICS = ((0x40, "semsc0"), (0x100, "semsc1"), (0x2000, "semav"), (0x4000, "semvis"))
UPDATES = {"IAdd": "add", "ISub": "sub", "And": "and", "Or": "or", "Xor": "xor", "SMin": "min", "SMax": "max"}
UNSIGNED = {"UMin": "min.u32", "UMax": "max.u32"}

VULKAN_HEAD = """
OpCapability Shader
OpCapability VulkanMemoryModel
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "k" %group %lane %x %z %out %s
OpDecorate %words ArrayStride 4
OpDecorate %box Block
OpMemberDecorate %box 0 Offset 0
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %z DescriptorSet 0
OpDecorate %z Binding 1
OpDecorate %out DescriptorSet 1
OpDecorate %out Binding 0
"""
CL_HEAD = """
OpCapability Kernel
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "k" %group %lane
"""
TYPES = """
OpDecorate %group BuiltIn WorkgroupId
OpDecorate %lane BuiltIn LocalInvocationIndex
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%v3 = OpTypeVector %uint 3
%in_uint = OpTypePointer Input %uint
%in_v3 = OpTypePointer Input %v3
%group = OpVariable %in_v3 Input
%lane = OpVariable %in_uint Input
%shared = OpTypePointer Workgroup %uint
"""


@dataclass(frozen=True)
class RandomSpirv:
    """A kernel as SPIR-V, its launch as options, and the litmus test that means the same under ``model``."""

    text: str
    launch: tuple[str, ...]
    test: LitmusTest
    model: str


def random_spirv(rng: Random, accesses: int = 5) -> RandomSpirv:
    """A kernel of two or three threads that have so many accesses in all, or one more; the same for the same state."""
    blocks, size, warp = rng.choice(LAUNCHES)
    vulkan = rng.random() < 0.6
    constants: dict[int, None] = {}
    writers = [_ThreadWriter(rng, n, n // size, size, vulkan, constants) for n in range(blocks * size)]
    meets = size > 1 and rng.random() < 0.6
    for turn in range(accesses):
        writers[turn % len(writers)].step()
        if meets and turn == len(writers) - 1:
            said = writers[0].semantics()
            for writer in writers:
                writer.barrier(said)
    for writer in writers:
        writer.results()
    initial = {"x": (rng.choice((0, 0, 1, -1)), 0), "z": (rng.choice((0, 0, 7)),)}
    text = _vulkan_text(writers, constants, size) if vulkan else _opencl_text(writers, constants, size)
    options = [f"--grid={blocks}", f"--block={size}", f"--warp={warp}"]
    options += [f"--arg={name}=[{','.join(map(str, values))}]" for name, values in initial.items()]
    places = [Place(0, 0, n // size, n % size // warp) for n in range(len(writers))]
    threads = [Thread(tuple(w.code), place) for w, place in zip(writers, places, strict=True)]
    locations = [Location(element(name, n), value) for name in initial for n, value in enumerate(initial[name])]
    locations += [Location(f"s_b{block}", 0, Region.SHARED) for block in range(blocks)]
    locations += [Location(element("out", n)) for n in range(RESULTS * len(writers))]
    condition = Condition(Quantifier.EXISTS, And(()))
    test = LitmusTest("k", tuple(threads), tuple(locations), condition)
    return RandomSpirv(text, tuple(options), test, "vulkan" if vulkan else "opencl")


def _vulkan_text(writers: list[_ThreadWriter], constants: dict[int, None], size: int) -> str:
    lines = [VULKAN_HEAD, TYPES, *_constants(constants, size, len(writers))]
    lines += ["%words = OpTypeRuntimeArray %uint", "%box = OpTypeStruct %words"]
    lines += ["%box_ptr = OpTypePointer StorageBuffer %box", "%ptr = OpTypePointer StorageBuffer %uint"]
    lines += [f"%{name} = OpVariable %box_ptr StorageBuffer" for name in ("x", "z", "out")]
    lines += ["%s = OpVariable %shared Workgroup", "%kernel = OpTypeFunction %void"]
    return "\n".join([*lines, "%main = OpFunction %void None %kernel", *_body(writers, size)])


def _opencl_text(writers: list[_ThreadWriter], constants: dict[int, None], size: int) -> str:
    lines = [CL_HEAD, TYPES, *_constants(constants, size, len(writers)), "%ptr = OpTypePointer CrossWorkgroup %uint"]
    lines += ["%generic = OpTypePointer Generic %uint", "%kernel = OpTypeFunction %void %ptr %ptr %ptr %shared"]
    lines += ["%main = OpFunction %void None %kernel"]
    lines += [f"%{name} = OpFunctionParameter %ptr" for name in ("x", "z", "out")]
    return "\n".join([*lines, "%s = OpFunctionParameter %shared", *_body(writers, size)])


def _constants(constants: dict[int, None], size: int, threads: int) -> list[str]:
    return [f"%c{n} = OpConstant %uint {n}" for n in sorted({*constants, *range(RESULTS * threads), size})]


def _body(writers: list[_ThreadWriter], size: int) -> list[str]:
    lines = ["%start = OpLabel", "%g_at = OpAccessChain %in_uint %group %c0", "%g = OpLoad %uint %g_at"]
    lines += ["%l = OpLoad %uint %lane", f"%first = OpIMul %uint %g %c{size}", "%number = OpIAdd %uint %first %l"]
    cases = " ".join(f"{n} %T{n}" for n in range(len(writers)))
    lines += [f"OpSwitch %number %none {cases}", "%none = OpLabel", "OpReturn"]
    common = any("%B_common" in line for writer in writers for line in writer.lines)
    targets = []
    for n, writer in enumerate(writers):
        own = [*writer.lines]
        if common:
            at = own.index("OpBranch %B_common")
            targets.append((n, own[at + 1 :]))
            own = own[: at + 1]
        lines += [f"%T{n} = OpLabel", *own, *([] if common else ["OpReturn"])]
    if common:  # all threads come to one barrier, and go on each its own way
        barrier = next(writer.common for writer in writers if writer.common)
        cases = " ".join(f"{n} %R{n}" for n, _ in targets)
        lines += ["%B_common = OpLabel", barrier, f"OpSwitch %number %none {cases}"]
        for n, rest in targets:
            lines += [f"%R{n} = OpLabel", *rest, "OpReturn"]
    return [*lines, "OpFunctionEnd"]


class _ThreadWriter:
    """Writes a thread twice: ``lines`` of SPIR-V and ``code`` of a litmus test."""

    def __init__(
        self, rng: Random, number: int, block: int, size: int, vulkan: bool, constants: dict[int, None]
    ) -> None:
        self._rng, self._number, self._block, self._size = rng, number, block, size
        self._vulkan, self._constants = vulkan, constants
        self._made = 0
        self._read: list[str] = []
        self.lines: list[str] = []
        self.code: list[Instruction] = []
        self.common = ""

    def step(self) -> None:
        """Write an access with what may stand around it, or a fence with an access behind it."""
        if self.code and self._rng.random() < 0.3:
            self._fence()
        if not self._read or self._rng.random() < 0.75:
            self._rng.choice((self._load, self._store, self._store, self._update, self._exchange, self._compare))()
        else:
            self._rng.choice((self._branch, self._phi))()

    def results(self) -> None:
        """Write what was read to the thread's part of ``out``."""
        for place, value in enumerate(self._read[:RESULTS]):
            at = RESULTS * self._number + place
            mode = Mode(tags=("sc0",)) if self._vulkan else Mode()
            pointer = self._pointer("out", at)
            self._say(f"OpStore {pointer} %{value}", Store(Loc(element("out", at)), Reg(value), mode))

    def _say(self, line: str, *code: Instruction) -> None:
        self.lines.append(line)
        self.code += code

    def _new(self) -> str:
        self._made += 1
        return f"t{self._number}_{self._made}"

    def _constant(self, number: int) -> str:
        number &= 0xFFFFFFFF
        self._constants[number] = None
        return f"%c{number}"

    # places and modes

    def _pointer(self, array: str, index: int) -> str:
        """The pointer to an element, by an index that is computed now and then."""
        if array == "s":
            return "%s"
        name, given = self._new(), self._constant(index)
        if self._rng.random() < 0.4:
            computed = self._new()
            self.lines.append(f"%{computed} = OpIAdd %uint {given} %c0")
            given = f"%{computed}"
        if self._vulkan:
            self.lines.append(f"%{name} = OpAccessChain %ptr %{array} %c0 {given}")
        else:
            self.lines.append(f"%{name} = OpInBoundsPtrAccessChain %ptr %{array} {given}")
            if self._rng.random() < 0.3:
                generic = self._new()
                self.lines.append(f"%{generic} = OpPtrCastToGeneric %generic %{name}")
                name = generic
        return f"%{name}"

    def _place(self) -> tuple[str, Loc, str]:
        """A location: its pointer, as a litmus test has it, and its storage class in Vulkan."""
        name, index = self._rng.choice((("x", 0), ("x", 0), ("x", 1), ("z", 0), *([("s", 0)] * (self._size > 1))))
        location = Loc(f"s_b{self._block}" if name == "s" else element(name, index))
        return self._pointer(name, index), location, "sc1" if name == "s" else "sc0"

    def _scope(self) -> tuple[int, Scope]:
        scopes = SCOPES if self._vulkan else CL_SCOPES
        number = self._rng.choice([1, 1, *scopes])
        return number, scopes[number]

    def semantics(self, orders: tuple[int, ...] = (0x2, 0x4, 0x8, 0x8)) -> tuple[int, int, Mode]:
        """A scope and memory semantics as numbers, and the mode without a storage class of an access."""
        number, scope = self._scope()
        bits = self._rng.choice(orders if self._vulkan else tuple(each for each in (*orders, 0x10)))
        order, tags = ORDERS[bits], list[str]()
        if self._vulkan and bits:
            for bit, tag in SEMANTICS:
                if self._rng.random() < 0.6 and tag not in tags:
                    bits |= bit
                    tags.append(tag)
        return number, bits, Mode(order, scope, tags=tuple(sorted(tags)))

    def _atomic(self, orders: tuple[int, ...], home: str) -> tuple[str, Mode]:
        """The operands of an atomic access behind its pointer, and its mode."""
        number, bits, mode = self.semantics(orders)
        tags = tuple(sorted((*mode.tags, home))) if self._vulkan else ()
        return f"{self._constant(number)} {self._constant(bits)}", Mode(mode.order, mode.scope, tags=tags)

    def _plain(self, write: bool, home: str) -> tuple[str, Mode]:
        """The memory operands of an access that is not atomic, and its mode."""
        if not self._vulkan:
            return self._rng.choice(("", "Aligned 4", "Volatile")), Mode()
        way = self._rng.random()
        if way < 0.3:
            return self._rng.choice(("", "Volatile")), Mode(tags=(home,))
        if way < 0.6:
            return "NonPrivatePointer", Mode(tags=("nonpriv", home))
        number, scope = self._scope()
        word, tag = ("MakePointerAvailable", "av") if write else ("MakePointerVisible", "vis")
        return f"{word}|NonPrivatePointer {self._constant(number)}", Mode(
            Order.WEAK, scope, tags=tuple(sorted((tag, home)))
        )

    def _value(self) -> tuple[str, Operand]:
        """A number, or what was read, perhaps with something added."""
        if not self._read or self._rng.random() < 0.6:
            number = self._rng.choice((1, 1, 2, 3, -1))
            return self._constant(number), number
        source = self._rng.choice(self._read)
        if self._rng.random() < 0.5:
            return f"%{source}", Reg(source)
        total = self._new()
        self._say(f"%{total} = OpIAdd %uint %{source} {self._constant(1)}", Assign(total, "add", (Reg(source), 1)))
        return f"%{total}", Reg(total)

    # accesses

    def _load(self) -> None:
        pointer, location, home = self._place()
        target = self._new()
        if self._rng.random() < 0.5:
            operands, mode = self._plain(False, home)
            line = f"%{target} = OpLoad %uint {pointer} {operands}"
        else:
            operands, mode = self._atomic((0x0, 0x2), home)
            line = f"%{target} = OpAtomicLoad %uint {pointer} {operands}"
        self._read.append(target)
        self._say(line, Load(target, location, mode))

    def _store(self) -> None:
        pointer, location, home = self._place()
        text, value = self._value()
        if self._rng.random() < 0.5:
            operands, mode = self._plain(True, home)
            line = f"OpStore {pointer} {text} {operands}"
        else:
            operands, mode = self._atomic((0x0, 0x4), home)
            line = f"OpAtomicStore {pointer} {operands} {text}"
        self._say(line, Store(location, value, mode))

    def _update(self) -> None:
        pointer, location, home = self._place()
        name = self._rng.choice([*UPDATES, *UNSIGNED, "IIncrement"])
        operands, mode = self._atomic((0x0, 0x2, 0x4, 0x8), home)
        target = self._new()
        text, value = ("", 1) if name == "IIncrement" else self._value()
        operation = "add" if name == "IIncrement" else UPDATES.get(name) or UNSIGNED[name]
        self._read.append(target)
        line = f"%{target} = OpAtomic{name} %uint {pointer} {operands} {text}"
        self._say(line, Rmw(operation, target, location, (value,), mode))

    def _exchange(self) -> None:
        pointer, location, home = self._place()
        operands, mode = self._atomic((0x0, 0x2, 0x4, 0x8), home)
        target, (text, value) = self._new(), self._value()
        self._read.append(target)
        line = f"%{target} = OpAtomicExchange %uint {pointer} {operands} {text}"
        self._say(line, Rmw("exch", target, location, (value,), mode))

    def _compare(self) -> None:
        pointer, location, home = self._place()
        operands, mode = self._atomic((0x0, 0x2, 0x4, 0x8), home)
        target, (text, value) = self._new(), self._value()
        reads = {Order.ACQ_REL: Order.ACQUIRE, Order.RELEASE: Order.RELAXED}.get(mode.order, mode.order)
        failure = None if reads is Order.RELAXED else Order.RELAXED
        self._read.append(target)
        line = f"%{target} = OpAtomicCompareExchange %uint {pointer} {operands} {self._constant(0)} {text} %c0"
        self._say(line, Rmw("cas", target, location, (0, value), mode, failure=failure))

    def _fence(self) -> None:
        number, bits, mode = self.semantics()
        if not self._vulkan:
            memory, tags = self._rng.choice(((0x100, ("local-fence",)), (0x200, ("global-fence",)), (0x300, ())))
            bits, mode = bits | memory, Mode(mode.order, mode.scope, tags=tags)
        self._say(f"OpMemoryBarrier {self._constant(number)} {self._constant(bits)}", Fence(mode))

    def barrier(self, said: tuple[int, int, Mode]) -> None:
        """Write the barrier of the work-group, which is one instruction that all threads come to."""
        number, bits, mode = said
        if not self._vulkan:
            number, bits, mode = 2, 0x310, Mode()
        line = f"OpControlBarrier {self._constant(2)} {self._constant(number)} {self._constant(bits)}"
        self.common = line
        self._say("OpBranch %B_common", Barrier(0, quorum=self._size, mode=mode))

    # what is around them

    def _asked(self) -> tuple[str, Comparison]:
        register = self._rng.choice(self._read)
        name, sign = self._rng.choice((("OpIEqual", "eq"), ("OpINotEqual", "ne"), ("OpSLessThan", "lt")))
        number, predicate = self._rng.choice((0, 0, 1, 2)), self._new()
        self.lines.append(f"%{predicate} = {name} %bool %{register} {self._constant(number)}")
        return predicate, Comparison(sign, Reg(register), number)

    def _branch(self) -> None:
        """A branch around an access; what is read there is not known behind it."""
        predicate, asked = self._asked()
        inside, behind, known = self._new(), self._new(), list(self._read)
        self._say(f"OpBranchConditional %{predicate} %{behind} %{inside}", Branch(behind, asked))
        self.lines.append(f"%{inside} = OpLabel")
        self._rng.choice((self._store, self._load, self._update))()
        self._say(f"OpBranch %{behind}", Label(behind))
        self.lines.append(f"%{behind} = OpLabel")
        self._read = known

    def _phi(self) -> None:
        """A value that depends on which way was taken."""
        predicate, asked = self._asked()
        before, yes, no, behind, target = (self._new() for _ in range(5))
        self.lines += [f"OpBranch %{before}", f"%{before} = OpLabel"]
        one, other = self._rng.choice((1, 2)), self._rng.choice(self._read)
        self.lines += [f"OpBranchConditional %{predicate} %{yes} %{no}", f"%{yes} = OpLabel", f"OpBranch %{behind}"]
        self.lines += [f"%{no} = OpLabel", f"OpBranch %{behind}", f"%{behind} = OpLabel"]
        self.lines.append(f"%{target} = OpPhi %uint {self._constant(one)} %{yes} %{other} %{no}")
        self.code += [Assign(target, "mov", (one,)), Branch(behind, asked)]
        self.code += [Assign(target, "mov", (Reg(other),)), Label(behind)]
        self._read.append(target)
