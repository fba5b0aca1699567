"""Calls of LLVM as instructions of the intermediate representation: of functions of the module, intrinsics, assembly.

call void @llvm.memset.p0.i64(ptr %1, i8 0, i64 8, i1 false)       memset _, %1, 0, 8
%2 = call ptr @malloc(i64 16)                                      @malloc %2, 16
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from corpus.code import ir
from corpus.code.llvm.accesses import memory
from corpus.code.llvm.arguments import HIDDEN, laid_out
from corpus.code.llvm.atomics import access_of
from corpus.code.llvm.lifetimes import BEGIN, DOUBT, END, LEFT
from corpus.code.llvm.memory import TABLE_OF
from corpus.code.llvm.steps import STEPS
from corpus.code.llvm.text import UNDEFINED, TextReader, TypedOperand, unquoted
from corpus.code.llvm.types import (
    IrError,
    OtherType,
    Scalar,
    Type,
)
from corpus.code.llvm.writing import FunctionTranslation, bits, emit, kind, new_register, results, scalars


@dataclass
class FunctionCall:
    """A call: the type of its result, what it calls, and its arguments, each with the type it is a copy of, or None.

    ``fixed``: how many arguments stand before the dots of what is called, None where that has none.
    """

    type: Type
    callee: str
    fixed: int | None = None
    arguments: list[TypedOperand] = field(default_factory=list)
    copies: list[Type | None] = field(default_factory=list)


def translate_call(out: FunctionTranslation, reader: TextReader) -> None:
    """Write a call, by what is called: a function with a body, one that is known by its name, or an intrinsic."""
    for _ in reader.attributes():
        if reader.word.isdigit():
            reader.next()
    begun = reader.place
    type = reader.type()
    if reader.word == "asm":
        _assembly(out, reader)
        return
    call = FunctionCall(type, reader.next(), _before_dots(reader.words[begun : reader.place - 1]))
    reader.expect("(")
    reader.listed(")", lambda: _argument(out, reader, call))
    for word in reader.words[reader.place :]:
        if word in ("[",):  # operands in bundles, as of funclet
            break
    if call.callee.startswith("%"):
        _called(out, call, ir.Register(call.callee))
        return
    if not call.callee.startswith("@"):
        raise IrError(f"a call of {call.callee} is not understood")
    name = out.module.aliased(unquoted(call.callee))
    name = next((other for timed, other in _TIMED.items() if re.match(timed, name)), name)
    if name.startswith("llvm."):
        _intrinsic(out, name, call)
    elif name == "__clang_call_terminate":
        _external(out, "_ZSt9terminatev", call)
    elif _OUTPUT.match(name):
        _external(out, "__synth_printed", call)
    elif name in out.defined:
        _called(out, call, ir.SymbolRef(name))
    else:
        _external(out, name, call)


def _before_dots(words: Sequence[str]) -> int | None:
    """Return how many parameters the type of a function has before its dots; None where it has none."""
    if "..." not in words:
        return None
    depth = count = 0
    for word in reversed(words[: words.index("...")]):
        depth += (word in (")", "]", "}", ">", "}>")) - (word in ("(", "[", "{", "<", "<{"))
        if depth < 0:
            break
        count += word == "," and depth == 0
    return count


_OUTPUT = re.compile(
    r"_ZNSt3__1(?:13basic_ostreamIcNS_11char_traitsIcEEE(?:ls|5flush|3put)|24__put_character_sequence|4endl|5flush"
    r"|ls.*basic_ostream)"
)
"""What writes to a stream of C++, and gives it."""


_TIMED: Mapping[str, str] = {
    "_ZNSt3__111this_thread(?:9sleep_for|11sleep_until)": (
        "_ZNSt3__111this_thread9sleep_forERKNS_6chrono8durationIxNS_5ratioILl1ELl1000000000EEEEE"
    ),
    "_ZNSt3__111timed_mutex14try_lock_until": "_ZNSt3__111timed_mutex8try_lockEv",
    "_ZNSt3__118shared_timed_mutex14try_lock_until": "_ZNSt3__118shared_timed_mutex8try_lockEv",
    "_ZNSt3__118shared_timed_mutex21try_lock_shared_until": "_ZNSt3__118shared_timed_mutex15try_lock_sharedEv",
    "_ZNSt3__118condition_variable(?:8wait_for|10wait_until).*status": "_ZNSt3__118condition_variable10wait_untilEv",
    r"_ZNSt3__14lockB\w+?INS_5mutexES1_EEvRT_RT0_$": "__synth_lock_both",
    r"_ZNSt3__14lockB\w+?INS_11unique_lockINS_5mutexEEES3_EEvRT_RT0_$": "__synth_lock_unique_both",
    "_ZNKSt3__117__assoc_sub_state(?:8wait_for|10wait_until)": "_ZNKSt3__117__assoc_sub_state10wait_untilEv",
}
"""Functions that wait for some time, by how their names begin, and those that do so whatever the time is; those that
take two locks, and those that do so without taking them by turns."""


def _argument(out: FunctionTranslation, reader: TextReader, call: FunctionCall) -> None:
    """Read an argument of a call. One that is passed by value is a copy, which the called function has."""
    type = reader.type()
    if isinstance(type, OtherType):
        while reader.word not in (",", ")", ""):
            if reader.word == "(":
                reader.skip_brackets()
            else:
                reader.next()
        return
    copied: Type | None = None
    while True:
        if reader.take("byval"):
            reader.expect("(")
            copied = reader.type()
            reader.expect(")")
        before = reader.place
        next(reader.attributes_before_operand(), None)
        if reader.place == before and reader.word != "byval":
            break
    operand = reader.operand(type)
    if copied is not None:
        size, align = out.module.names.layout.bytes(copied), out.module.names.layout.align(copied)
        out.count += 1
        name = f"{out.function.name}.copy'{out.count}"
        out.variables.append(ir.Variable(name, "local", "b8", size, align))
        copy = new_register(out, "u64")
        emit(out, "alloca", (), copy, ir.SymbolRef(name), ir.Number(1), ir.Number(size), ir.Number(align))
        emit(out, "memcpy", (), ir.Register("_"), copy, operand.operand, ir.Number(size))
        operand = TypedOperand(type, copy)
    call.arguments.append(operand)
    call.copies.append(copied)


def arguments_of(out: FunctionTranslation, call: FunctionCall) -> list[ir.Operand]:
    """Return the scalars of the arguments of a call."""
    return [part for argument in call.arguments for _, part in scalars(out, argument)]


def targets_of(out: FunctionTranslation, call: FunctionCall) -> list[ir.Register]:
    """Return the registers of the result of a call, one for each scalar."""
    if isinstance(call.type, OtherType):
        return []
    if not out.line.result:
        return [ir.Register("_") for _ in out.module.names.layout.leaves(call.type)]
    return results(out, call.type)


def _called(out: FunctionTranslation, call: FunctionCall, function: ir.Register | ir.SymbolRef) -> None:
    """Write a call of a function of the module, or of one by its address."""
    words = filter(None, [_access_of(out, function.name)]) if isinstance(function, ir.SymbolRef) else ()
    given = arguments_of(out, call)
    behind = None
    if call.fixed is not None and out.dialect is None:
        behind = laid_out(out, call.arguments, call.copies, call.fixed)
        given = arguments_of(out, replace(call, arguments=call.arguments[: call.fixed]))
        given.append(behind)
    emit(out, "call", tuple(words), ir.Vector(tuple(targets_of(out, call))), function, ir.Vector(tuple(given)))
    if behind is not None:
        emit(out, END, (), memory(behind))


def _access_of(out: FunctionTranslation, name: str) -> str:
    """Return what a function of the C++ library does that accesses an atomic object, or is a fence; else nothing."""
    text = out.module.functions.get(name)
    found = re.search(r"!dbg (![0-9]+)", text.head) if text is not None and name.startswith("_ZN") else None
    return access_of(out.debug, found[1]) if found else ""


def _external(out: FunctionTranslation, name: str, call: FunctionCall) -> None:
    """Write a call of a function that is known by its name, or not at all."""
    if out.dialect is not None:
        _used(out, name, call)
        return
    targets, given = targets_of(out, call), arguments_of(out, call)
    if name in _OF_TABLES and isinstance(given[0], ir.Register):
        out.count += 1
        table = ir.Register(f"{TABLE_OF}'{out.count}")
        out.registers[table.name] = "u64"
        emit(out, "load", ("u64", "align8"), table, memory(given[0]), ir.Number(64))
        given.append(table)
    emit(out, f"@{name}", (), targets[0] if targets else ir.Register("_"), *given)
    for target in targets[1:]:
        emit(out, "mov", ("u64",), target, UNDEFINED)


_OF_TABLES = ("__dynamic_cast", "__synth_virtual")
"""Functions that are given the table of their first argument, an object, besides."""


def _used(out: FunctionTranslation, name: str, call: FunctionCall) -> None:
    """Write a call in a kernel of a function that the language has: its name, the kinds of what its arguments are made
    of, the registers of its result, and its arguments.
    """
    given = [scalars(out, argument) for argument in call.arguments]
    kinds = [next((kind(out, scalar) for scalar, _ in parts), "") for parts in given]
    vectors = [ir.Vector(tuple(part for _, part in parts)) for parts in given]
    out.doing = name
    emit(out, "function", (name, *kinds), ir.Vector(tuple(targets_of(out, call))), *vectors)


_NOTHING = frozenset(
    (
        *("donothing", "sideeffect", "prefetch", "x86.sse2.pause", "aarch64.hint", "stackrestore"),
        *("var.annotation", "invariant.start", "invariant.end", "experimental.noalias.scope.decl"),
        *("dbg.declare", "dbg.value", "dbg.label", "pseudoprobe", "fake.use"),
    )
)
"""The intrinsics that do nothing which is asked about."""

_SAME = frozenset(
    (
        *("expect", "expect.with.probability", "threadlocal.address", "launder.invariant.group"),
        *("strip.invariant.group", "ssa.copy", "annotation", "ptr.annotation"),
    )
)
"""The intrinsics that give their first argument."""

_LIST = 24
"""The bytes of a ``va_list``: where the next arguments are among those of registers, in memory, and of registers."""

_MEMORY = ("memcpy", "memmove", "memset", "memcpy.inline", "memset.inline")

_COMPUTED: Mapping[str, tuple[str, str]] = {
    "umin": ("min", "u"),
    "umax": ("max", "u"),
    "smin": ("min", "s"),
    "smax": ("max", "s"),
    "ctpop": ("popc", "b"),
    "bitreverse": ("brev", "b"),
    "fabs": ("abs", "f"),
    "sqrt": ("sqrt.rn", "f"),
}
"""The intrinsics that compute, as instructions of PTX."""

_TYPES_BEHIND = re.compile(r"(?:\.(?:[pifv]\d+\w*|bf16|s_\w+|sl_\w+))+$")
"""The types at the end of the name of an intrinsic: ``.p0.p0.i64``."""


def _promise(out: FunctionTranslation, condition: ir.Operand) -> None:
    """Write that a thread may not go on where a condition does not hold."""
    if isinstance(condition, ir.Register):
        emit(out, "unreachable", (), guard=ir.KernelGuard(condition.name, unless=True))
    elif condition == ir.Number(0):
        emit(out, "unreachable", ())


def _intrinsic(out: FunctionTranslation, name: str, call: FunctionCall) -> None:
    plain = _TYPES_BEHIND.sub("", name.removeprefix("llvm."))
    given = arguments_of(out, call)
    if plain in _NOTHING:
        return
    if plain == "assume":
        _promise(out, given[0])
    elif plain in (BEGIN, END, DOUBT, LEFT):
        address = given[-1]
        if isinstance(address, ir.Register) and address.name not in out.promoted:
            emit(out, plain, (), memory(address))
    elif plain == "va_start":
        numbers, reals = (ir.Number(count) for count in out.taken)
        emit(out, plain, (), memory(given[0]), ir.Register(HIDDEN), numbers, reals)
    elif plain == "va_copy":
        emit(out, "memcpy", (), ir.Register("_"), *given, ir.Number(_LIST))
    elif plain == "va_end":
        emit(out, plain, (), memory(given[0]), ir.Number(_LIST))
    elif plain in _SAME:
        emit(out, "mov", (kind(out, call.type),), *targets_of(out, call), given[0])
    elif plain in _MEMORY:
        emit(out, plain.removesuffix(".inline"), (), ir.Register("_"), *given[:3])
    elif plain in _COMPUTED and isinstance(call.type, Scalar):
        operation, sign = _COMPUTED[plain]
        words = (operation, kind(out, call.type, sign))
        emit(out, "binary" if len(given) > 1 else "unary", words, *targets_of(out, call), *given)
    elif plain in STEPS and isinstance(call.type, Scalar):
        _in_steps(out, plain, call.type, given)
    elif plain in ("is.constant", "objectsize"):
        emit(out, "mov", (kind(out, call.type),), *targets_of(out, call), _of_nothing(plain, given))
    elif plain.endswith(".with.overflow"):
        targets = targets_of(out, call)
        emit(out, "overflow", (plain.partition(".")[0], kind(out, call.arguments[0].type)), *targets[:2], *given)
    elif plain == "ubsantrap" and given and given[0] in _UNDEFINED:
        emit(out, "undefined", (_UNDEFINED[given[0]],))
    elif plain in ("trap", "debugtrap", "ubsantrap"):
        emit(out, "@abort", (), ir.Register("_"))
    elif plain == "stacksave":
        emit(out, "mov", ("u64",), *targets_of(out, call), ir.Number(0))
    elif out.dialect is not None:
        _used(out, name, call)
    else:
        emit(out, f"@llvm.{plain}", (), *(targets_of(out, call) or [ir.Register("_")]), *given)


def _in_steps(out: FunctionTranslation, name: str, type: Scalar, given: Sequence[ir.Operand]) -> None:
    """Write the steps of an intrinsic that computes a number."""

    def step(operation: str, sign: str, *operands: ir.Operand, flag: str = "") -> ir.Register:
        form = kind(out, type, sign)
        target = new_register(out, form)
        words = (operation, form, *filter(None, [flag]))
        emit(out, "binary" if len(operands) > 1 else "unary", words, target, *operands)
        return target

    count, steps = STEPS[name]
    if len(given) != count:
        raise IrError(f"expected {count} operands of {name}")
    found = steps(step, bits(out, type), given)
    if out.line.result:
        emit(out, "mov", (kind(out, type),), *results(out, type), found)


def _of_nothing(name: str, given: Sequence[ir.Operand]) -> ir.Number:
    """What is said of what the compiler does not know: that it is no constant, and how large an object may be."""
    if name == "is.constant":
        return ir.Number(0)
    return ir.Number(0 if given[1] == ir.Number(1) else (1 << 64) - 1)


_UNDEFINED: Mapping[ir.Operand, str] = {
    ir.Number(5): "conversion",
    ir.Number(20): "left",
    ir.Number(24): "length",
}
"""Why clang has a thread stop where C leaves undefined what it does, by its numbers (SanitizerHandler.h)."""


_HINTS = re.compile(r"\s*(?:pause|rep;?\s*nop|nop|yield|isb|)\s*;?\s*")
"""The assembly that does nothing but wait, or keep the compiler from moving accesses."""


def _assembly(out: FunctionTranslation, reader: TextReader) -> None:
    text = next((word for word in reader.words[reader.place :] if word.startswith('"')), '""')[1:-1]
    if not _HINTS.fullmatch(text) or out.line.result:
        raise IrError(f"the assembly {text[:40]!r} is not understood")


CALLS: Mapping[str, Callable[[FunctionTranslation, TextReader], None]] = {
    "call": translate_call,
    "unreachable": lambda out, reader: emit(out, "unreachable", ()),
}
"""The instructions that call, or come to no other, by name, each with what translates it."""
