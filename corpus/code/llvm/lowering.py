"""Instructions of LLVM as those that every language of kernels has (``corpus.code.meaning``), so that kernels of LLVM
are followed as those of other languages are.

    load i32 %2, [%1], aligned to 4         aligned [%1], 4;  load.b32 %2, [%1]
    getelementptr %3, %1, 8, %2 of 4 bytes  shl.b64 %t, %2, 2;  add.s64 %t, %1, %t;  add.s64 %3, %t, 8
    compare.lt.s32 %4, %2, 5                setp.lt.s32 %4, %2, 5
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.code import ir
from corpus.code.doubts import NOT_UNDERSTOOD
from corpus.code.llvm.lifetimes import BEGIN, DOUBT, END, LEFT, UNTOLD_LIFETIME
from corpus.code.llvm.memory import ALIGNED
from corpus.code.llvm.steps import NONZERO
from corpus.code.llvm.text import UNDEFINED
from corpus.laws.c11 import read_order
from corpus.litmus.orders import PLAIN, Mode, Order
from corpus.litmus.ptx_arithmetic import WIDTHS, signed

MOST_COPIED = 1 << 16
"""The bytes that a copy, or a fill, may have."""

UNDEFINED_VALUE = ir.Register("%undefined.0")
"""The register of an undefined value, as kernels have it."""


NO_ORIGIN = ir.KernelInstruction("", (), (), None, 0)


@dataclass
class Lowering:
    """The code of a kernel or function so far. ``names`` are those of variables of the module, by their names in LLVM;
    ``arrays`` the registers that have the addresses of variables of the function, and ``pieces`` what those are made of
    that registers have the addresses of, as bytes where they begin and bytes.
    """

    names: Mapping[str, str]
    registers: dict[str, str]
    code: list[ir.KernelInstruction] = field(default_factory=list)
    arrays: set[str] = field(default_factory=set)
    pieces: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    origin: ir.KernelInstruction = NO_ORIGIN

    def put(
        self,
        name: str,
        words: Sequence[str],
        operands: Sequence[ir.Operand],
        guard: ir.KernelGuard | None = None,
        mode: Mode = PLAIN,
        failure: Order | None = None,
    ) -> None:
        """Append an instruction, at the place of the one that is lowered."""
        self.code.append(
            self.origin._replace(
                name=name, words=tuple(words), operands=tuple(operands), guard=guard, mode=mode, failure=failure
            )
        )

    def temporary(self, kind: str) -> ir.Register:
        """Return a register that nothing else uses."""
        name = f"%k'{len(self.registers)}"
        self.registers[name] = kind
        return ir.Register(name)

    def compute(self, opcode: str, kind: str, *operands: ir.Operand) -> ir.Register:
        """Append a computation into a register of its own, and return the register."""
        target = self.temporary(kind)
        name, *words = opcode.split(".")
        self.put(name, words, (target, *operands))
        return target

    def refuse(self, why: str) -> None:
        """Append an instruction that nobody understands."""
        self.put(NOT_UNDERSTOOD, (why,), ())

    def align(self, address: ir.Operand, bytes: int) -> None:
        """Ask that an address be a multiple of so many bytes, where it is not a variable's own."""
        base = address.base if isinstance(address, ir.MemoryOperand) else address
        if bytes > 1 and isinstance(base, ir.Register) and base.name not in self.arrays:
            self.put("aligned", (), (address, ir.Number(bytes)))


@dataclass(frozen=True)
class FunctionUse:
    """A call of a function that the language has: its name, the registers of its result, its arguments, each as the
    scalars that it is made of, and the kinds of these.
    """

    name: str
    targets: tuple[ir.Register, ...]
    arguments: tuple[tuple[ir.Operand, ...], ...]
    kinds: tuple[str, ...]


NOTHING: Mapping[str, Sequence[str]] = {}
"""What is known of the pieces of parameters where none is passed by its address."""

Library = Callable[[Lowering, FunctionUse], None]
"""What appends what a function of the language does."""


def lowered(
    function: ir.KernelFunction,
    names: Mapping[str, str],
    library: Library,
    taken: Collection[str] = (),
    pieces: Mapping[str, Sequence[str]] = NOTHING,
) -> ir.KernelFunction:
    """Return a function whose instructions are those of kernels; ``names`` are those of variables of the module, and
    ``taken`` those that no variable of the function may have besides, as parameters of the kernel have them.
    ``pieces``: what parameters are made of that are passed by their address.
    """
    registers = {name: as_bits(kind) for name, kind in function.registers.items()}
    own = _own_names(function, {*names.values(), *taken})
    out = Lowering({**names, **own}, registers, pieces={name: _pieces(words) for name, words in pieces.items()})
    places = []
    for ins in function.body or ():
        places.append(len(out.code))
        out.origin = ins._replace(operands=tuple(_operand(out, operand) for operand in ins.operands))
        if odd := _odd_kind(out.origin):
            out.refuse(f"numbers of {odd[1:]} bits are not understood")
        elif ins.name == "function":
            library(out, _use_of(out.origin))
        else:
            _LOWERED.get(ins.name, _as_it_is)(out, out.origin)
    places.append(len(out.code))
    labels = {name: places[place] for name, place in function.labels.items()}
    parameters, results = (
        tuple(replace(variable, type=as_bits(variable.type)) for variable in variables)
        for variables in (function.parameters, function.results)
    )
    return replace(
        function,
        parameters=parameters,
        results=results,
        registers=registers,
        variables=tuple(replace(variable, name=own[variable.name]) for variable in function.variables),
        body=tuple(out.code),
        labels=labels,
    )


def _odd_kind(ins: ir.KernelInstruction) -> str:
    """Return the kind of an access that no access of a kernel has; nothing where it is one of these."""
    if ins.name in ("load", "store") and len(ins.operands) == 3:
        return "" if as_bits(ins.words[0]) in WIDTHS else ins.words[0]
    if ins.name in ("cmpxchg", "atomicrmw") and isinstance(ins.operands[-1], ir.Number):
        kind = f"b{ins.operands[-1].value}"
        return "" if kind in ("b8", "b16", "b32", "b64") else kind
    return ""


def _own_names(function: ir.KernelFunction, others: Collection[str]) -> dict[str, str]:
    """Return names for the variables of a function that nothing else has, nor a parameter."""
    taken = {*others, *(variable.name.lstrip("%") for variable in function.parameters)}
    found: dict[str, str] = {}
    for variable in function.variables:
        plain = free = re.sub(r"\W", "_", variable.name.removeprefix(f"{function.name}.").lstrip("%"))
        number = 1
        while free in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(free)
        found[variable.name] = free
    return found


def _use_of(ins: ir.KernelInstruction) -> FunctionUse:
    name, *kinds = ins.words
    targets, *arguments = (operand.parts for operand in ins.operands if isinstance(operand, ir.Vector))
    registers = tuple(target for target in targets if isinstance(target, ir.Register))
    return FunctionUse(name, registers, tuple(arguments), tuple(map(as_bits, kinds)))


def as_bits(kind: str) -> str:
    """Return the kind of a register that has a number, as a number of so many bits."""
    return f"b{kind[1:]}" if kind[0] in "us" and kind != "u64" else kind


def _form(kind: str) -> str:
    """Return the kind of the bits of a scalar: ``b32`` of ``f32``."""
    return kind if kind == "pred" or kind not in WIDTHS else f"b{WIDTHS[kind]}"


def _operand(out: Lowering, operand: ir.Operand) -> ir.Operand:
    """Return an operand with the names that variables have."""
    match operand:
        case ir.SymbolRef(name, offset):
            return ir.SymbolRef(out.names.get(name, name), offset)
        case ir.MemoryOperand(ir.SymbolRef() as base, offset):
            return ir.MemoryOperand(_operand(out, base), offset)  # type: ignore[arg-type]
        case ir.Vector(parts):
            return ir.Vector(tuple(_operand(out, part) for part in parts))
        case _ if operand == UNDEFINED:
            return UNDEFINED_VALUE
    return operand


def _as_it_is(out: Lowering, ins: ir.KernelInstruction) -> None:
    out.code.append(ins)


# accesses


def _memory_kind(kind: str) -> str:
    """Return the kind that a scalar has in memory: small integers are read with their sign."""
    return {"b8": "s8", "b16": "s16"}.get(kind, kind)


def _load(out: Lowering, ins: ir.KernelInstruction) -> None:
    if len(ins.operands) == 2:
        _as_it_is(out, ins)
        return
    target, source, _ = ins.operands
    _align(out, ins, source)
    out.put("load", (_memory_kind(as_bits(ins.words[0])),), (target, source), mode=ins.mode)


def _store(out: Lowering, ins: ir.KernelInstruction) -> None:
    if len(ins.operands) == 2:
        _as_it_is(out, ins)
        return
    target, value, _ = ins.operands
    _align(out, ins, target)
    out.put("store", (_memory_kind(as_bits(ins.words[0])),), (target, value), mode=ins.mode)


def _align(out: Lowering, ins: ir.KernelInstruction, address: ir.Operand) -> None:
    for word in ins.words[1:]:
        if word.startswith(ALIGNED):
            out.align(address, int(word.removeprefix(ALIGNED)))


def exchange(
    out: Lowering,
    targets: tuple[ir.Operand, ir.Register],
    given: tuple[ir.Operand, ir.Operand, ir.Operand],
    kind: str,
    mode: Mode,
    failure: Order,
    weak: bool,
) -> None:
    """Append a comparison and exchange: what was there, and whether it is done; of an address, what is compared with,
    and what is written. A weak one may fail whatever it finds.
    """
    (old, done), (address, expected, new) = targets, given
    fails = read_order(failure)
    own = fails if fails is not read_order(mode.order) else None
    same = f"setp.eq.s{WIDTHS[kind]}".split(".")
    if not weak:
        out.put("update", ("cas", kind), (old, address, expected, new), mode=mode, failure=own)
        out.put(same[0], same[1:], (done, old, expected))
        return
    spurious = out.temporary("pred")
    out.put("spurious", (), (spurious,))
    out.put(
        "update",
        ("cas", kind),
        (old, address, expected, new),
        ir.KernelGuard(spurious.name, True),
        mode,
        own,
    )
    out.put("load", (_memory_kind(kind),), (old, address), ir.KernelGuard(spurious.name), replace(mode, order=fails))
    equal = out.compute(".".join(same), "pred", old, expected)
    out.put("selp", ("pred",), (done, ir.Number(0), equal, spurious))


def _cmpxchg(out: Lowering, ins: ir.KernelInstruction) -> None:
    both, address, expected, new, width = ins.operands
    assert isinstance(both, ir.Both) and isinstance(width, ir.Number) and isinstance(both.second, ir.Register)
    out.align(address, width.value // 8)
    failure = ins.failure if ins.failure is not None else read_order(ins.mode.order)
    exchange(
        out,
        (both.first, both.second),
        (address, expected, new),
        f"b{width.value}",
        ins.mode,
        failure,
        "weak" in ins.words,
    )


UPDATES: Mapping[str, tuple[str, str]] = {
    "xchg": ("exch", "b"),
    "add": ("add", "s"),
    "sub": ("sub", "s"),
    "and": ("and", "b"),
    "or": ("or", "b"),
    "xor": ("xor", "b"),
    "max": ("max", "s"),
    "min": ("min", "s"),
    "umax": ("max", "u"),
    "umin": ("min", "u"),
    "fadd": ("add", "f"),
    "fmax": ("max", "f"),
    "fmin": ("min", "f"),
}
"""The operations of ``atomicrmw``, and how they take their operands: as bits, signed, unsigned or floating-point."""


def _atomicrmw(out: Lowering, ins: ir.KernelInstruction) -> None:
    target, address, value, width = ins.operands
    assert isinstance(width, ir.Number)
    if ins.words[0] not in UPDATES:
        out.refuse(f"the atomic operation {ins.words[0]} is not understood")
        return
    operation, form = UPDATES[ins.words[0]]
    out.align(address, width.value // 8)
    out.put("update", (operation, f"{form}{width.value}"), (target, address, value), mode=ins.mode)


def _copy(out: Lowering, ins: ir.KernelInstruction) -> None:
    """``memcpy`` and ``memmove`` of so many bytes: by the scalars of what is copied, else by words."""
    _, to, source, count = ins.operands
    if not isinstance(count, ir.Number) or count.value > MOST_COPIED:
        out.refuse(f"of more than {MOST_COPIED:,} bytes, or of as many as are computed, is not understood")
        return
    assert isinstance(to, ir.Register | ir.SymbolRef) and isinstance(source, ir.Register | ir.SymbolRef)
    for place, width in _copied(out, (to, source), count.value):
        kind = f"b{8 * width}"
        held = out.temporary(kind)
        out.put("load", (_memory_kind(kind),), (held, ir.MemoryOperand(source, place)))
        out.put("store", (_memory_kind(kind),), (ir.MemoryOperand(to, place), held))


def _copied(out: Lowering, places: Sequence[ir.Operand], count: int) -> Sequence[tuple[int, int]]:
    """Return the parts by which so many bytes are copied, as bytes where they begin and bytes: the scalars of what is
    copied where these are known and are all there is, else words.
    """
    for place in places:
        pieces = out.pieces.get(place.name, ()) if isinstance(place, ir.Register) else ()
        if (
            pieces
            and pieces[-1][0] < count <= -(-(sum(pieces[-1])) // 8) * 8
            and all(n in (1, 2, 4, 8) for _, n in pieces)
        ):
            return pieces
    width = next(width for width in (4, 2, 1) if count % width == 0)
    return [(place, width) for place in range(0, count, width)]


def _pieces(words: Sequence[str]) -> tuple[tuple[int, int], ...]:
    found = (word.partition(":") for word in words)
    return tuple((int(place), int(size)) for place, _, size in found)


def _fill(out: Lowering, ins: ir.KernelInstruction) -> None:
    """``memset`` of so many bytes that are known, by words where they are words."""
    _, to, byte, count = ins.operands
    if not isinstance(count, ir.Number) or not isinstance(byte, ir.Number) or count.value > MOST_COPIED:
        out.refuse(f"of more than {MOST_COPIED:,} bytes, or of what is computed, is not understood")
        return
    assert isinstance(to, ir.Register | ir.SymbolRef)
    width = next(width for width in (4, 2, 1) if count.value % width == 0)
    number = int.from_bytes(bytes([byte.value & 255]) * width, "little")
    for place in range(0, count.value, width):
        out.put("store", (_memory_kind(f"b{8 * width}"),), (ir.MemoryOperand(to, place), ir.Number(number)))


def _alloca(out: Lowering, ins: ir.KernelInstruction) -> None:
    target, name, number, *_ = ins.operands
    assert isinstance(target, ir.Register)
    if number != ir.Number(1):
        out.refuse("a variable whose size is computed is not understood")
        return
    out.arrays.add(target.name)
    out.pieces[target.name] = _pieces(ins.words)
    out.put("mov", ("b64",), (target, name))


def _begin(out: Lowering, ins: ir.KernelInstruction) -> None:
    out.put("forget", (), ins.operands)


def _doubt(out: Lowering, ins: ir.KernelInstruction) -> None:
    out.put("forget", (UNTOLD_LIFETIME,), ins.operands)


# addresses


def _step(out: Lowering, ins: ir.KernelInstruction) -> None:
    """``getelementptr``: a sum of a base, bytes, and each index times its bytes; it has to be inside of its array."""
    target, base, offset, *steps = ins.operands
    assert isinstance(offset, ir.Number) and isinstance(target, ir.Register)
    whole = isinstance(base, ir.SymbolRef)
    constant, total = signed(offset.value, 64), None
    for place in range(0, len(steps), 3):
        index, apart, most = steps[place : place + 3]
        assert isinstance(apart, ir.Number) and isinstance(most, ir.Number)
        last = signed(most.value, 64)
        if isinstance(index, ir.Number):
            number = signed(index.value, 64)
            constant += apart.value * number
            if last >= 0 and not 0 <= number <= last:
                out.put("outside", (), ())
        else:
            if last >= 0 and not whole:
                beyond = out.compute("setp.gt.u64", "pred", index, ir.Number(last))
                out.put("outside", (), (), ir.KernelGuard(beyond.name))
            part = _times(out, index, apart.value)
            total = part if total is None else out.compute("add.s64", "u64", total, part)
        whole = whole and last < 0
    address = base if total is None else out.compute("add.s64", "u64", base, total)
    if constant:
        address = out.compute("add.s64", "u64", address, ir.Number(constant))
    out.put("mov", ("b64",), (target, address))


def _times(out: Lowering, index: ir.Operand, apart: int) -> ir.Operand:
    if apart and apart & apart - 1 == 0:
        return out.compute("shl.b64", "u64", index, ir.Number(apart.bit_length() - 1))
    return out.compute("mul.lo.s64", "u64", index, ir.Number(apart))


# arithmetic


def _move(out: Lowering, ins: ir.KernelInstruction) -> None:
    match ins.operands:
        case (ir.Register(target), ir.Register(source)):  # in another address space
            if source in out.arrays:
                out.arrays.add(target)
            if source in out.pieces:
                out.pieces[target] = out.pieces[source]
    out.put("mov", (_form(ins.words[0]),), ins.operands)


_NO_WRAP = {"nsw": ("signed", "s"), "nuw": ("unsigned", "u")}
"""What is not to overflow, by the flags that promise it."""


def _binary(out: Lowering, ins: ir.KernelInstruction) -> None:
    operation, kind, *flags = ins.words
    target, *given = ins.operands
    name, *how = operation.removesuffix(".rn").split(".")
    if kind not in WIDTHS:
        out.refuse(f"numbers of {kind[1:]} bits are not understood")
        return
    if kind == "pred":
        out.put({"add": "xor", "sub": "xor", "mul": "and"}.get(name, name), ("pred",), ins.operands)
        return
    out.put(name, (*how, kind), ins.operands)
    for flag in flags:
        if flag in _NO_WRAP and name in ("add", "sub", "mul"):
            language, sign = _NO_WRAP[flag]
            out.put("determined", (language, name, f"{sign}{WIDTHS[kind]}"), (target, *given))


def _unary(out: Lowering, ins: ir.KernelInstruction) -> None:
    operation, kind, *flags = ins.words
    name, *how = operation.split(".")
    out.put(name, (*how, kind), ins.operands)
    if NONZERO in flags:
        target, given = ins.operands
        out.put("determined", ("zeros", name, f"u{WIDTHS[kind]}"), (target, given, given))


def _compare(out: Lowering, ins: ir.KernelInstruction) -> None:
    name, kind = ins.words
    target, *given = ins.operands
    if kind == "pred":
        if name not in ("eq", "ne"):
            out.refuse("an order of truth values is not understood")
        elif name == "ne":
            out.put("xor", ("pred",), ins.operands)
        else:
            out.put("not", ("pred",), (target, out.compute("xor.pred", "pred", *given)))
    elif kind not in WIDTHS:
        out.refuse(f"numbers of {kind[1:]} bits are not understood")
    else:
        address = name in ("eq", "ne") and kind[0] == "u" and kind != "u64"
        out.put("setp", (name, f"s{kind[1:]}" if address else kind), ins.operands)


def _convert(out: Lowering, ins: ir.KernelInstruction) -> None:
    """``convert``: truth values become numbers by a choice, and numbers truth values by their lowest bit."""
    *how, to, of = ins.words
    target, source = ins.operands
    if (to not in WIDTHS) or (of not in WIDTHS):
        out.refuse(f"numbers of {to[1:]} or {of[1:]} bits are not understood")
    elif of == "pred" and to[0] != "f":
        every = (1 << WIDTHS[to]) - 1 if to[0] == "s" else 1
        out.put("selp", (_form(to),), (target, ir.Number(every), ir.Number(0), source))
    elif of == "pred":
        held = out.compute("selp.b32", "b32", ir.Number(1), ir.Number(0), source)
        out.put("cvt", (*how, to, "u32"), (target, held))
    elif to == "pred":
        width = WIDTHS[of]
        low = out.compute(f"and.b{width}", f"b{width}", source, ir.Number(1))
        out.put("setp", ("ne", f"s{width}"), (target, low, ir.Number(0)))
    else:
        out.put("cvt", (*how, to, of), ins.operands)


def _select(out: Lowering, ins: ir.KernelInstruction) -> None:
    out.put("selp", (_form(ins.words[0]),), ins.operands)


# control


def _unreachable(out: Lowering, ins: ir.KernelInstruction) -> None:
    out.put("trap", (), (), guard=ins.guard)


def _refused(out: Lowering, ins: ir.KernelInstruction) -> None:
    (message,) = ins.operands
    assert isinstance(message, ir.SymbolRef)
    out.refuse(message.name)


def _overflow(out: Lowering, ins: ir.KernelInstruction) -> None:
    """A sum or difference, and whether it overflows: unsigned, one is on the wrong side of the other; signed, the sum
    has another sign than both operands, and a difference another than the first, which has another than the second.
    """
    operation, kind = ins.words
    sign, name = operation[0], operation[1:]
    target, flag, one, other = ins.operands
    if name == "mul":
        out.refuse("a product that says whether it overflows is not understood")
        return
    plain, signed_kind = f"{sign}{WIDTHS[kind]}", f"s{WIDTHS[kind]}"
    bits = f"b{WIDTHS[kind]}"
    out.put(name, (plain,), (target, one, other))
    if sign == "u":
        less = (target, one) if name == "add" else (one, other)
        out.put("setp", ("lt", plain), (flag, *less))
        return
    turned = out.compute(f"xor.{bits}", bits, one, target)
    apart = out.compute(f"xor.{bits}", bits, other, target if name == "add" else one)
    both = out.compute(f"and.{bits}", bits, turned, apart)
    out.put("setp", ("lt", signed_kind), (flag, both, ir.Number(0)))


_LOWERED: Mapping[str, Callable[[Lowering, ir.KernelInstruction], None]] = {
    "load": _load,
    "store": _store,
    "cmpxchg": _cmpxchg,
    "atomicrmw": _atomicrmw,
    "memcpy": _copy,
    "memmove": _copy,
    "memset": _fill,
    "alloca": _alloca,
    BEGIN: _begin,
    END: _begin,
    DOUBT: _doubt,
    LEFT: _doubt,
    "getelementptr": _step,
    "mov": _move,
    "binary": _binary,
    "unary": _unary,
    "neg": _as_it_is,
    "compare": _compare,
    "convert": _convert,
    "select": _select,
    "unreachable": _unreachable,
    "@abort": _unreachable,
    "refused": _refused,
    "overflow": _overflow,
}
"""The instructions that kernels have in another form; what is not here is as it is."""
