"""The functions of OpenCL C as code of kernels, by the names that clang gives them (OpenCL C 3.0, 6.15; Itanium C++
ABI).

    _Z13get_global_idj(0)                                     mov.b64 %1, %GlobalInvocationId.0
    _Z18work_group_barrierj12memory_scope(1, 2)               barrier, of acquire and release for the device
    _Z21atomic_store_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope(%p, 1, 3, 2)
                                                              store.release of the device

Orders, scopes and flags have to be constants. The table is a closed world: a function without a row is refused by name.
What is told of SPIR-V's translator is what it does with a function, where the specification leaves that open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from corpus.code import ir
from corpus.code.computations import COMPUTATIONS, PROMISES, UNCOMPUTED, Computation
from corpus.code.llvm.lowering import FunctionUse, Lowering, exchange
from corpus.laws.c11 import read_order, write_order
from corpus.laws.opencl import NO_MEMORY, barrier_mode, fence_mode, fence_tags
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.ptx_arithmetic import WIDTHS

ORDERS: Mapping[int, Order] = {0: Order.RELAXED, 2: Order.ACQUIRE, 3: Order.RELEASE, 4: Order.ACQ_REL, 5: Order.SC}
"""The orders by their numbers in clang's header."""

SCOPES: Mapping[int, Scope | None] = {0: None, 1: Scope.CTA, 2: Scope.GPU, 3: Scope.SYS, 4: Scope.WARP}
"""The scopes by their numbers in clang's header; that of a work-item is none."""

SYNC_SCOPES: Mapping[str, Scope | None] = {
    "": Scope.SYS,
    "all_svm_devices": Scope.SYS,
    "device": Scope.GPU,
    "workgroup": Scope.CTA,
    "subgroup": Scope.WARP,
    "singlethread": None,
}
"""The scopes of atomic instructions by their words."""

_VECTORS = {
    "get_global_id": "GlobalInvocationId",
    "get_local_id": "LocalInvocationId",
    "get_group_id": "WorkgroupId",
    "get_global_size": "GlobalSize",
    "get_local_size": "WorkgroupSize",
    "get_enqueued_local_size": "EnqueuedWorkgroupSize",
    "get_num_groups": "NumWorkgroups",
    "get_global_offset": "GlobalOffset",
}
_NUMBERS = {
    "get_work_dim": "WorkDim",
    "get_local_linear_id": "LocalInvocationIndex",
    "get_global_linear_id": "GlobalLinearId",
    "get_sub_group_size": "SubgroupSize",
    "get_max_sub_group_size": "SubgroupMaxSize",
    "get_num_sub_groups": "NumSubgroups",
    "get_enqueued_num_sub_groups": "NumEnqueuedSubgroups",
    "get_sub_group_id": "SubgroupId",
    "get_sub_group_local_id": "SubgroupLocalInvocationId",
}
"""The functions that give a built-in value, with an index and without."""


class _RefusedError(Exception):
    """The error for a use of a function that is not understood, and why."""


@dataclass(frozen=True)
class _Call:
    """A call of a function by its plain name; ``types`` are the codes of its parameters, as far as they are told."""

    out: Lowering
    use: FunctionUse
    name: str
    types: tuple[str, ...]

    def constant(self, number: int, what: str) -> int:
        """Return an argument that has to be a constant."""
        (found,) = self.use.arguments[number]
        if not isinstance(found, ir.Number):
            raise _RefusedError(f"{self.name}, {what} of which is no constant, is not understood")
        return found.value

    def order(self, number: int) -> Order:
        """Return an argument that is an order; without it that is sequentially consistent."""
        if number >= len(self.use.arguments):
            return Order.SC
        value = self.constant(number, "the order")
        if value not in ORDERS:
            raise _RefusedError(f"{self.name}: {value} is no order")
        return ORDERS[value]

    def scope(self, number: int, default: Scope) -> Scope | None:
        """Return an argument that is a scope."""
        if number >= len(self.use.arguments):
            return default
        value = self.constant(number, "the scope")
        if value not in SCOPES:
            raise _RefusedError(f"{self.name}: {value} is no scope")
        return SCOPES[value]

    def scalar(self, number: int) -> ir.Operand:
        """Return an argument that is one scalar."""
        parts = self.use.arguments[number]
        if len(parts) != 1:
            raise _RefusedError(f"{self.name} of a vector is not understood")
        return parts[0]

    def memory(self, number: int) -> ir.MemoryOperand:
        """Return the memory that an argument points to."""
        found = self.scalar(number)
        if not isinstance(found, ir.Register | ir.SymbolRef | ir.Number):
            raise _RefusedError(f"{self.name}: expected an address")
        return ir.MemoryOperand(found)

    @property
    def target(self) -> ir.Register:
        """The register of the result, which is one scalar."""
        if len(self.use.targets) != 1:
            raise _RefusedError(f"{self.name} of a vector is not understood")
        return self.use.targets[0]

    @property
    def kind(self) -> str:
        """The kind of the scalars of the result."""
        return self.out.registers.get(self.use.targets[0].name, "b32") if self.use.targets else "b32"

    def sign(self, number: int = 0) -> str:
        """Return how a parameter takes numbers, or what it points to: signed, unsigned or floating-point."""
        code = self.types[number][-1:] if number < len(self.types) else ""
        if not code or code not in _LETTERS:
            raise _RefusedError(f"{self.name} of this type is not understood")
        return _LETTERS[code]


_LETTERS = {**dict.fromkeys("acsilxn", "s"), **dict.fromkeys("htjmyob", "u"), **dict.fromkeys("fdD", "f")}
"""How the types take their bits, by their letters; D is the half, without its h."""

_TYPE_WIDTHS = {"c": 8, "a": 8, "h": 8, "s": 16, "t": 16, "i": 32, "j": 32, "l": 64, "m": 64, "f": 32, "d": 64, "D": 16}

_PARAMETER = re.compile(r"(?:P|U3AS\d|V|K|U7_Atomic|Dv\d+_)*(?:\d+|S\d*_|Dh|[a-z])")


def plain_name(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the name that the source has for a function, and the codes of its parameters."""
    found = re.match(r"_Z(\d+)", name)
    if found is None:
        return name, ()
    start = found.end()
    end = start + int(found[1])
    types, rest = [], name[end:]
    while rest:
        code = _PARAMETER.match(rest)
        if code is None:
            break
        text, rest = code[0], rest[code.end() :]
        if number := re.search(r"(?<![A-Z])(\d+)$", text):
            rest = rest[int(number[1]) :]
        types.append(text[:-1] if text.endswith("Dh") else text)
    return name[start:end], tuple(types)


def function(out: Lowering, use: FunctionUse) -> None:
    """Append what a function of OpenCL C does, or what says that it is not understood."""
    name, types = plain_name(re.sub(r"\.[fiv]\d+\w*$", "", use.name.removeprefix("llvm.")))
    out.origin = out.origin._replace(text=name)
    call = _Call(out, use, name, types)
    mark = len(out.code)
    try:
        _written(call)
    except _RefusedError as error:
        del out.code[mark:]
        out.refuse(str(error))


def _written(call: _Call) -> None:
    name = call.name
    if name in _VECTORS:
        _index(call)
    elif name in _NUMBERS:
        _built_in(call, f"%{_NUMBERS[name]}.0")
    elif name in _ROWS:
        _ROWS[name](call)
    elif found := _ATOMIC.fullmatch(name):
        _atomic(call, found[1])
    elif found := _OLD_ATOMIC.fullmatch(name):
        _old_atomic(call, found[1])
    elif found := _GROUP.fullmatch(name):
        _group(call, found)
    elif found := _CONVERT.fullmatch(name):
        _convert(call, found)
    elif found := _VECTOR_LOAD.fullmatch(name):
        _vector_access(call, found[1] == "load", int(found[2]))
    elif (rule := _computation(call)) is not None:
        _compute(call, *rule)
    elif name in _UNCOMPUTED:
        _uncomputed(call)
    else:
        raise _RefusedError(f"{name} is not understood")


# built-in values


def _built_in(call: _Call, name: str) -> None:
    call.out.put("mov", (call.kind,), (call.target, ir.Register(name)))


def _index(call: _Call) -> None:
    axis = call.constant(0, "the dimension")
    if axis < 3:
        _built_in(call, f"%{_VECTORS[call.name]}.{axis}")
        return
    beyond = int(call.name.removeprefix("get_") not in ("global_id", "local_id", "group_id", "global_offset"))
    call.out.put("mov", (call.kind,), (call.target, ir.Number(beyond)))


# barriers and fences


def _tags(call: _Call) -> tuple[str, ...] | None:
    flags = call.constant(0, "the memory")
    if flags & ~7:
        raise _RefusedError(f"{call.name}: the flags {flags:#x} are not understood")
    return fence_tags(bool(flags & 1), bool(flags & 2))


def _barrier(level: Scope) -> Callable[[_Call], None]:
    def written(call: _Call) -> None:
        mode = barrier_mode(call.scope(1, level), level, _tags(call))
        call.out.put("barrier", (level.label,), (), mode=mode)

    return written


def _fence(call: _Call) -> None:
    mode = fence_mode(call.order(1), call.scope(2, Scope.GPU), _tags(call))
    if mode is not None:
        call.out.put("fence", (), (), mode=mode)


def _old_fence(order: Order) -> Callable[[_Call], None]:
    """``mem_fence`` and its kin, which order for the work-group (SPIR-V's translator)."""

    def written(call: _Call) -> None:
        mode = fence_mode(order, Scope.CTA, _tags(call))
        if mode is not None:
            call.out.put("fence", (), (), mode=mode)

    return written


# atomics

_ATOMIC = re.compile(
    r"atomic_(init|load|store|exchange|compare_exchange_strong|compare_exchange_weak|flag_test_and_set|flag_clear"
    r"|fetch_(?:add|sub|or|xor|and|min|max))(?:_explicit)?"
)
_OLD_ATOMIC = re.compile(r"ato(?:mic|m)_(add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor)")

_FORMS = {"add": "", "sub": "", "min": "", "max": "", "and": "b", "or": "b", "xor": "b", "exch": "b"}
"""The operations, and how they take their operands, where the type does not say it."""


def _width(call: _Call) -> int:
    code = call.types[0][-1:] if call.types else ""
    if code not in _TYPE_WIDTHS:
        raise _RefusedError(f"{call.name} of this type is not understood")
    return _TYPE_WIDTHS[code]


def _in_memory(kind: str) -> str:
    return {"b8": "s8", "b16": "s16"}.get(kind, kind)


def _place(call: _Call) -> ir.MemoryOperand:
    """Return the memory of an atomic access, whose address has to be a multiple of its size."""
    address = call.memory(0)
    call.out.align(address, _width(call) // 8)
    return address


def _atomic(call: _Call, operation: str) -> None:
    """An atomic of OpenCL C 2.0: its orders and its scope stand behind its operands."""
    out, kind = call.out, f"b{_width(call)}"
    if operation == "init":
        out.align(call.memory(0), _width(call) // 8)
        out.put("store", (_in_memory(kind),), (call.memory(0), call.scalar(1)))
    elif operation == "load":
        mode = Mode(read_order(call.order(1)), call.scope(2, Scope.GPU))
        out.put("load", (_in_memory(kind),), (call.target, _place(call)), mode=mode)
    elif operation in ("store", "flag_clear"):
        given = operation == "store"
        mode = Mode(write_order(call.order(1 + given)), call.scope(2 + given, Scope.GPU))
        value = call.scalar(1) if given else ir.Number(0)
        out.put("store", (_in_memory(kind),), (_place(call), value), mode=mode)
    elif operation == "flag_test_and_set":
        old, mode = out.temporary("b32"), Mode(call.order(1), call.scope(2, Scope.GPU))
        out.put("update", ("exch", "b32"), (old, _place(call), ir.Number(1)), mode=mode)
        out.put("setp", ("ne", "s32"), (call.target, old, ir.Number(0)))
    elif operation.startswith("compare"):
        _compare_exchange(call, kind, operation.endswith("weak"))
    else:
        name = {"exchange": "exch"}.get(operation, operation.removeprefix("fetch_"))
        mode = Mode(call.order(2), call.scope(3, Scope.GPU))
        _update(call, name, call.scalar(1), mode)


def _update(call: _Call, name: str, value: ir.Operand, mode: Mode) -> None:
    sign = call.sign()
    form = _FORMS[name] or ("s" if name in ("add", "sub") and sign != "f" else sign)
    target = call.use.targets[0] if call.use.targets else ir.Register("_")
    call.out.put("update", (name, f"{form}{_width(call)}"), (target, _place(call), value), mode=mode)


def _compare_exchange(call: _Call, kind: str, weak: bool) -> None:
    """A comparison and exchange, which writes what was there to where the second argument points."""
    out, mode = call.out, Mode(call.order(3), call.scope(5, Scope.GPU))
    failure = call.order(4)
    held, old = out.temporary(kind), out.temporary(kind)
    done = call.use.targets[0] if call.use.targets and call.target.name != "_" else out.temporary("pred")
    expected = call.memory(1)
    out.align(expected, WIDTHS[kind] // 8)
    out.put("load", (_in_memory(kind),), (held, expected))
    exchange(out, (old, done), (_place(call), held, call.scalar(2)), kind, mode, failure, weak)
    out.put("store", (_in_memory(kind),), (expected, old))


def _old_atomic(call: _Call, operation: str) -> None:
    """An atomic of OpenCL C 1.x, which is relaxed and atomic for the device (6.15.12.8)."""
    mode = Mode(Order.RELAXED, Scope.GPU)
    if operation == "cmpxchg":
        width = f"b{_width(call)}"
        target = call.use.targets[0] if call.use.targets else ir.Register("_")
        call.out.put("update", ("cas", width), (target, _place(call), call.scalar(1), call.scalar(2)), mode=mode)
        return
    name = {"xchg": "exch", "inc": "add", "dec": "sub"}.get(operation, operation)
    _update(call, name, ir.Number(1) if operation in ("inc", "dec") else call.scalar(1), mode)


# groups

_GROUP = re.compile(
    r"(work_group|sub_group)_(?:non_uniform_)?(?:(all|any|all_equal|elect|broadcast|broadcast_first|shuffle|shuffle_xor"
    r"|shuffle_up|shuffle_down)|(reduce|scan_inclusive|scan_exclusive)_(add|mul|min|max|and|or|xor))"
)
_VERBS = {
    "all_equal": "equal",
    "broadcast": "lane",
    "broadcast_first": "first",
    "shuffle": "lane",
    "shuffle_xor": "xor",
    "shuffle_up": "up",
    "shuffle_down": "down",
}
_HOW = {"reduce": "Reduce", "scan_inclusive": "InclusiveScan", "scan_exclusive": "ExclusiveScan"}


def _group(call: _Call, found: re.Match[str]) -> None:
    """An operation that the threads of a work-group or subgroup do together."""
    out, level = call.out, Scope.CTA if found[1] == "work_group" else Scope.WARP
    verb = _VERBS.get(found[2] or "", found[2] or "")
    if level is Scope.CTA:  # all come to it, or none (OpenCL C 3.0, 6.15.16)
        out.put("barrier", (level.label,), (), mode=Mode(tags=(NO_MEMORY,)))
    if verb in ("all", "any", "equal", "elect"):
        decided = out.temporary("pred")
        value: ir.Operand = ir.Number(1)
        if verb in ("all", "any"):
            value = out.compute("setp.ne.s32", "pred", call.scalar(0), ir.Number(0))
        elif verb == "equal":
            value = call.scalar(0)
        out.put("group", (level.label, verb, "Reduce", "part0"), (decided, value))
        out.put("selp", (call.kind,), (call.target, ir.Number(1), ir.Number(0), decided))
        return
    if WIDTHS[call.kind] > 32:
        raise _RefusedError(f"{call.name} of more than 32 bits is not understood")
    if verb:
        if len(call.use.arguments) > 2:
            raise _RefusedError(f"{call.name} in several dimensions is not understood")
        more = [call.scalar(number) for number in range(1, len(call.use.arguments))]
        out.put("group", (level.label, verb, "Reduce", "part0"), (call.target, call.scalar(0), *more))
        return
    name, sign = found[4], call.sign()
    form = sign if sign == "f" or name in ("min", "max") else "b" if name in ("and", "or", "xor") else "s"
    opcode = f"{name}{'.lo' if name == 'mul' and sign != 'f' else ''}.{form}{WIDTHS[call.kind]}"
    words = (level.label, "fold", _HOW[found[3]], *opcode.split("."), "part0")
    out.put("group", words, (call.target, call.scalar(0)))


# computations

_INTEGERS = (
    *("abs", "min", "max", "add_sat", "sub_sat", "mul_hi", "mul24", "mad24", "mad_hi", "mad_sat", "abs_diff", "hadd"),
    *("rhadd", "clamp", "upsample"),
)
_REAL = {"min": "fmin_common", "max": "fmax_common", "clamp": "fclamp"}
_PLAIN = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "popcount", "clz", "ctz", "fmin", "fmax", "rotate", "fma")
_ALIKE = {"fmuladd": "mad", "mad": "mad", "bitselect": "bitselect", "ctlz": "clz", "cttz": "ctz"}
_UNCOMPUTED = frozenset(
    word for words in UNCOMPUTED.values() for word in words.split() if word not in ("shuffle", "shuffle2")
)


def _computation(call: _Call) -> tuple[Computation, str] | None:
    """Return the steps of a function that computes, and its name in the table of computations."""
    name = call.name
    if name in _INTEGERS:
        sign = call.sign()
        name = _REAL.get(name, "") if sign == "f" else f"{sign}_{name}"
    elif name not in _PLAIN:
        name = _ALIKE.get(name, "")
    return (COMPUTATIONS[name], name) if name in COMPUTATIONS else None


def _compute(call: _Call, rule: Computation, which: str) -> None:
    """Append the steps of a computation for each scalar of the result; an argument that is one scalar is for all."""
    real = call.types and call.types[0][-1:] in "fdD"
    for number, target in enumerate(call.use.targets):
        kind = call.out.registers.get(target.name, "b32")
        first = call.use.kinds[0]
        if real and first[0] == "b":
            raise _RefusedError(f"{call.name} of this type is not understood")
        given = [parts[number if len(parts) > 1 else 0] for parts in call.use.arguments]
        found = _steps(call, rule, kind, first, given)
        call.out.put("mov", (f"b{WIDTHS[kind]}" if kind != "pred" else kind,), (target, found[-1]))
        promise = PROMISES.get(which)
        if promise is not None:
            own = [given[place] for place in promise.operands]
            words = ("opencl", promise.name, f"{promise.sign}{WIDTHS[first]}")
            call.out.put("determined", words, (target, *own))


def _steps(call: _Call, rule: Computation, kind: str, first: str, given: Sequence[ir.Operand]) -> list[ir.Register]:
    steps: list[ir.Register] = []

    def operand(text: str) -> ir.Operand:
        if text[0] == "#":
            return ir.Number(int(text[1:]))
        if text[0] == "t":
            return steps[int(text[1:])]
        if int(text) >= len(given):
            raise _RefusedError(f"{call.name}: expected {int(text) + 1} arguments or more")
        return given[int(text)]

    for number, step in enumerate(rule):
        name, words = step.words(kind, first)
        operands = [operand(text) for text in step.given(first)]
        own = kind if number == len(rule) - 1 or "{r" in step.opcode else first
        result = "pred" if name == "setp" or "pred" in words else own
        target = call.out.temporary(result)
        call.out.put(name, words, (target, *operands))
        steps.append(target)
    return steps


def _uncomputed(call: _Call) -> None:
    """A function whose result nothing tells. One that is given an address may write there as well."""
    if any("P" in code for code in call.types):
        raise _RefusedError(f"{call.name} is not understood")
    for target in call.use.targets:
        call.out.put("untold", (), (target,))


def _print(call: _Call) -> None:
    """``printf``, whose result says whether it could print."""
    if "u64" in call.use.kinds[1:]:
        raise _RefusedError("printf of an address, or of a number of 64 bits, is not understood")
    for target in call.use.targets:
        call.out.put("untold", (), (target,))


def _nothing(call: _Call) -> None:
    """``prefetch``, which has no effect on what a kernel does (6.15.11)."""


def _select(call: _Call) -> None:
    """``select``: of scalars by whether the third is not 0, of vectors by its highest bit (6.15.6)."""
    one, other, chosen = call.use.arguments
    several = len(call.use.targets) > 1
    width = WIDTHS[call.use.kinds[2]]
    for number, target in enumerate(call.use.targets):
        test = f"setp.{'lt' if several else 'ne'}.s{width}"
        decided = call.out.compute(test, "pred", chosen[number], ir.Number(0))
        kind = f"b{WIDTHS[call.kind]}"
        call.out.put("selp", (kind,), (target, other[number], one[number], decided))


def _dot(call: _Call) -> None:
    """``dot``: the sum of the products of components."""
    one, other = call.use.arguments
    kind = call.kind
    products = [call.out.compute(f"mul.{kind}", kind, *pair) for pair in zip(one, other, strict=True)]
    found = reduce(lambda total, product: call.out.compute(f"add.{kind}", kind, total, product), products)
    call.out.put("mov", (f"b{WIDTHS[kind]}",), (call.target, found))


_CONVERT = re.compile(r"convert_(u?)(char|short|int|long|float|double|half)(?:\d+)?(_sat)?(_rte|_rtz|_rtp|_rtn)?")


def _convert(call: _Call, found: re.Match[str]) -> None:
    """``convert_int_sat`` and its kin (6.4.3); a mode of rounding is that of all where it is none."""
    if found[4] not in (None, "_rte" if found[2] in ("float", "double", "half") else "_rtz"):
        raise _RefusedError(f"{call.name}: its mode of rounding is not understood")
    of, real = call.sign(), found[2] in ("float", "double", "half")
    to = "f" if real else "u" if found[1] else "s"
    for target, value in zip(call.use.targets, call.use.arguments[0], strict=True):
        kind = call.out.registers.get(target.name, "b32")
        wide, narrow = WIDTHS[kind], WIDTHS[call.use.kinds[0]]
        if found[3] and (real or of == "f"):
            raise _RefusedError(f"{call.name} of this type is not understood")
        if to == of and wide == narrow:
            call.out.put("mov", (f"b{wide}",), (target, value))
            continue
        how = ("sat",) if found[3] else ("rn",) if to == "f" else ("rzi",) if of == "f" else ()
        sign = of if to != "f" and of != "f" and not found[3] else to
        call.out.put("cvt", (*how, f"{sign}{wide}", f"{of}{narrow}"), (target, value))


_VECTOR_LOAD = re.compile(r"v(load|store)(2|3|4|8|16)")


def _vector_access(call: _Call, read: bool, count: int) -> None:
    """``vload4(offset, p)`` and ``vstore4(value, offset, p)``: of as many scalars behind each other (6.15.9)."""
    out = call.out
    offset, pointer = (call.scalar(number) for number in ((0, 1) if read else (1, 2)))
    letter = (call.types[0] if not read else call.types[1])[-1:]
    if letter not in _TYPE_WIDTHS:
        raise _RefusedError(f"{call.name} of this type is not understood")
    size = _TYPE_WIDTHS[letter] // 8
    kind = _in_memory(f"{'f' if _LETTERS[letter] == 'f' else 'b'}{8 * size}")
    base: ir.Operand = pointer
    if offset != ir.Number(0):
        part = out.compute("mul.lo.s64", "u64", offset, ir.Number(size * count))
        base = out.compute("add.s64", "u64", pointer, part)
    assert isinstance(base, ir.Register | ir.SymbolRef | ir.Number)
    out.align(ir.MemoryOperand(base), size)
    for number in range(count):
        where = ir.MemoryOperand(base, number * size)
        if read:
            out.put("load", (kind,), (call.use.targets[number], where))
        else:
            out.put("store", (kind,), (where, call.use.arguments[0][number]))


_ROWS: Mapping[str, Callable[[_Call], None]] = {
    "barrier": _barrier(Scope.CTA),
    "work_group_barrier": _barrier(Scope.CTA),
    "sub_group_barrier": _barrier(Scope.WARP),
    "atomic_work_item_fence": _fence,
    "mem_fence": _old_fence(Order.ACQ_REL),
    "read_mem_fence": _old_fence(Order.ACQUIRE),
    "write_mem_fence": _old_fence(Order.RELEASE),
    "printf": _print,
    "prefetch": _nothing,
    "select": _select,
    "dot": _dot,
}
"""The other functions by name."""
