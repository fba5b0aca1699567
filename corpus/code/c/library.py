"""Functions of the library of C that are translated where they are called: atomics, threads, memory, and others.

Locks are functions of C in the headers of ``include``. What has no effect on what is asked is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pycparser import c_ast

from corpus.code import ir
from corpus.code.c.emission import MOST_UNROLLED, PLAIN, SEQ_CST, ObjectPlace, TypedValue
from corpus.code.c.expressions import Builtin, ExpressionTranslator
from corpus.code.c.types import (
    INT,
    SIZE,
    VOID,
    CArray,
    CPointer,
    CScalar,
    CType,
    plain,
    size,
    slots,
)
from corpus.laws.c11 import FETCHED

_Arguments = Sequence[c_ast.Node]
_ORDER = ir.Number(SEQ_CST)


def _check(at: ExpressionTranslator, name: str, given: _Arguments, wanted: int, node: c_ast.Node) -> None:
    if len(given) != wanted:
        raise at.names.expected(node, f"expected {wanted} arguments of {name}, found {len(given)}")


def _order(at: ExpressionTranslator, node: c_ast.Node) -> ir.Operand:
    return at.converted(at.value(node), INT).operand


def _object(at: ExpressionTranslator, pointer: c_ast.Node) -> ObjectPlace:
    """Return the object that an argument points to, as one of atomic type."""
    if isinstance(pointer, c_ast.UnaryOp) and pointer.op == "&":
        place = at.place(pointer.expr)
    else:
        place = at.pointed(at.value(pointer), pointer)
    if not isinstance(place.ctype, CScalar | CPointer):
        raise at.names.wrong(
            pointer, "an atomic access to an object that is no number and no pointer is not understood"
        )
    return place


def _load(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    explicit = name.endswith("_explicit") or name.startswith("__")
    _check(at, name, given, 1 + explicit, node)
    place = _object(at, given[0])
    return at.load(place, _order(at, given[1]) if explicit else _ORDER)


def _store(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
    explicit = name.endswith("_explicit") or name.startswith("__")
    _check(at, name, given, 2 + explicit, node)
    place, value = _object(at, given[0]), at.value(given[1])
    at.store(place, value, _order(at, given[2]) if explicit else _ORDER)


def _initialise(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
    _check(at, name, given, 2, node)
    at.store(_object(at, given[0]), at.value(given[1]), ir.Number(PLAIN))


def _update(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    explicit = name.endswith("_explicit") or name.startswith("__atomic")
    _check(at, name, given, 2 + explicit, node)
    words = re.findall(r"[a-z]+", name)
    operation = "exch" if "exchange" in words else next(word for word in words if word in FETCHED)
    place = _object(at, given[0])
    value = at.value(given[1])
    order = _order(at, given[2]) if explicit else _ORDER
    if operation != "exch" and isinstance(place.ctype, CScalar) and place.ctype.kind == "bool":
        raise at.names.expected(node, f"{name} is of no truth value")
    before = at.updated(place, operation, value, order, node)
    if name.endswith("_fetch"):
        sign = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}[operation]
        return at.converted(at.operated(sign, before, value, node), plain(place.ctype))
    return before


def _exchange_if(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    explicit = name.endswith("_explicit")
    builtin = name.startswith("__")
    _check(at, name, given, 6 if builtin else 3 + 2 * explicit, node)
    place = _object(at, given[0])
    if isinstance(given[1], c_ast.UnaryOp) and given[1].op == "&":
        expected = at.place(given[1].expr)
    else:
        expected = at.pointed(at.value(given[1]), given[1])
    wanted, new = at.load(expected), at.value(given[2])
    orders = given[-2:] if explicit or builtin else ()
    order, failing = (_order(at, each) for each in orders) if orders else (_ORDER, _ORDER)
    weak = bool(at.names.constant(given[3])) if builtin else "weak" in name
    if place.register is not None:
        raise at.names.wrong(node, "an atomic object in a register is not understood")
    before, done = at.exchanged_if(place, wanted, new, order, failing, weak)
    if expected.register is not None:
        at.store(expected, before)  # where it has been exchanged, the two are equal
    else:
        end = at.new_label()
        assert done.predicate is not None
        at.branch(end, done.predicate)
        at.store(expected, before, ir.Number(PLAIN))
        at.label(end)
    return done


def _swap(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    _check(at, name, given, 3, node)
    place = _object(at, given[0])
    before, done = at.exchanged_if(place, at.value(given[1]), at.value(given[2]), _ORDER, _ORDER, weak=False)
    return done if "bool" in name else before


def _fence(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
    order = _order(at, given[0]) if given else _ORDER
    if "signal" not in name:
        at.emit("fence", (), order)


def _create(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    posix = name.startswith("pthread")
    _check(at, name, given, 3 + posix, node)
    function, argument = given[-2:]
    code = at.value(function).operand
    value = at.converted(at.value(argument), CPointer(VOID)).operand
    thread = at.compute("create", "u64", code, value)
    at.store(_handle(at, given[0]), TypedValue(thread, CPointer(VOID, handle=True)))
    return TypedValue(ir.Number(0), INT)


def _handle(at: ExpressionTranslator, node: c_ast.Node) -> ObjectPlace:
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        return at.place(node.expr)
    return at.pointed(at.value(node), node)


def _join(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    _check(at, name, given, 2, node)
    thread = at.value(given[0]).operand
    if at.names.constant(given[1]) == 0 or _is_null(given[1]):
        at.emit("join", (), ir.Register("_"), thread)
        return TypedValue(ir.Number(0), INT)
    value = at.compute("join", "u64", thread)
    place = _handle(at, given[1])
    ctype: CType = CPointer(VOID) if name.startswith("pthread") else SIZE
    at.store(place, TypedValue(value, ctype))
    return TypedValue(ir.Number(0), INT)


def _is_null(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Cast) and isinstance(node.expr, c_ast.Constant) and node.expr.value == "0"


def _leave(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
    value = at.converted(at.value(given[0]), SIZE).operand if given else ir.Number(0)
    if "exit" in name and not name.startswith(("pthread", "thrd")):
        at.emit("assume", (), ir.SymbolRef(f"{name} ends the thread that calls it, and others go on"))
    at.emit("exit", (), value)


def _self(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    return TypedValue(at.compute("self", "u64"), CPointer(VOID, handle=True))


def _equal(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    _check(at, name, given, 2, node)
    one, other = (at.value(each).operand for each in given)
    return at.truth(at.compute("setp.eq.u64", "pred", one, other))


def _allocate(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    _check(at, name, given, 1 if name == "malloc" else 2, node)
    values = [at.converted(at.value(each), SIZE).operand for each in given]
    count = values[-1] if name != "calloc" else at.compute("mul.lo.u64", "u64", *values)
    target = at.new("u64")
    words = ("zero",) if name == "calloc" else ()
    at.emit("malloc", words, target, count, ir.Number(1), ir.Number(1))
    return TypedValue(target, CPointer(VOID))


def _free(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
    _check(at, name, given, 1, node)
    pointer = at.value(given[0])
    target = pointer.ctype.target if isinstance(pointer.ctype, CPointer) else VOID
    at.emit("free", (), pointer.operand, ir.Number(0 if target == VOID else slots(target)))


def _fill(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    """Translate ``memset`` and ``memcpy`` of whole objects."""
    _check(at, name, given, 3, node)
    pointer = at.value(given[0])
    target = pointer.ctype.target if isinstance(pointer.ctype, CPointer) else VOID
    typed = at.typeof(given[2])
    count = at.names.constant(given[2])
    if count is None:
        count = _bytes(at, given[2])
    filled = at.names.constant(given[1]) if name == "memset" else 0
    if typed == VOID or target == VOID or count is None or count % size(target) or filled != 0:
        raise at.names.wrong(node, f"{name} of anything but whole objects, or to a value but 0, is not understood")
    whole = CArray(target, count // size(target))
    if slots(whole) > MOST_UNROLLED:
        raise at.names.wrong(node, f"{name} of more than {MOST_UNROLLED} elements is not understood")
    place = ObjectPlace(whole, None, at.pointed(pointer, node).base)
    if name == "memset":
        at.initialise(place, c_ast.InitList([], node.coord))
    else:
        source = at.value(given[1])
        at.copy(place, ObjectPlace(whole, None, at.pointed(source, node).base))
    return pointer


def _bytes(at: ExpressionTranslator, node: c_ast.Node) -> int | None:
    """Return the value of ``sizeof`` of an expression, also times a constant; None where it is something else."""
    match node:
        case c_ast.UnaryOp(op="sizeof"):
            named = isinstance(node.expr, c_ast.Typename)
            return size(at.names.typed(node.expr) if named else at.typeof(node.expr))
        case c_ast.BinaryOp(op="*"):
            one, other = (at.names.constant(each) or _bytes(at, each) for each in (node.left, node.right))
            return None if one is None or other is None else one * other
    return None


def _fail(why: str) -> Builtin:
    def failing(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
        at.emit("fail", (why,))

    return failing


def _note(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> None:
    (text,) = given
    at.emit("assume", (), ir.SymbolRef(text.value[1:-1]))


def _nothing(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    for each in given:
        if not (isinstance(each, c_ast.Constant) or _is_null(each)):
            at.effect(each)
    return TypedValue(ir.Number(0), INT)


def _true(at: ExpressionTranslator, name: str, given: _Arguments, node: c_ast.FuncCall) -> TypedValue:
    return TypedValue(ir.Number(1), INT)


_FORMS = ("", "_explicit")

BUILTINS: Mapping[str, Builtin] = {
    **{f"atomic_load{form}": _load for form in _FORMS},
    **{f"atomic_store{form}": _store for form in _FORMS},
    **{f"atomic_exchange{form}": _update for form in _FORMS},
    **{f"atomic_fetch_{name}{form}": _update for name in FETCHED for form in _FORMS},
    **{f"atomic_compare_exchange_{kind}{form}": _exchange_if for kind in ("strong", "weak") for form in _FORMS},
    "__atomic_load_n": _load,
    "__atomic_store_n": _store,
    "__atomic_exchange_n": _update,
    **{f"__atomic_fetch_{name}": _update for name in FETCHED},
    **{f"__atomic_{name}_fetch": _update for name in FETCHED},
    "__atomic_compare_exchange_n": _exchange_if,
    "__atomic_thread_fence": _fence,
    "__atomic_signal_fence": _fence,
    **{f"__sync_fetch_and_{name}": _update for name in FETCHED},
    **{f"__sync_{name}_and_fetch": _update for name in FETCHED},
    "__sync_bool_compare_and_swap": _swap,
    "__sync_val_compare_and_swap": _swap,
    "__sync_synchronize": _fence,
    "atomic_init": _initialise,
    "atomic_thread_fence": _fence,
    "atomic_signal_fence": _fence,
    "atomic_is_lock_free": _true,
    "pthread_create": _create,
    "thrd_create": _create,
    "pthread_join": _join,
    "thrd_join": _join,
    "pthread_exit": _leave,
    "thrd_exit": _leave,
    "exit": _leave,
    "_Exit": _leave,
    "pthread_self": _self,
    "thrd_current": _self,
    "pthread_equal": _equal,
    "thrd_equal": _equal,
    "malloc": _allocate,
    "calloc": _allocate,
    "aligned_alloc": _allocate,
    "free": _free,
    "memset": _fill,
    "memcpy": _fill,
    "__assert_fail": _fail("assert"),
    "abort": _fail("abort"),
    "__builtin_trap": _fail("abort"),
    "__builtin_unreachable": _fail("abort"),
    "__assumed": _note,
    **dict.fromkeys(
        (
            *("__pause", "_mm_pause", "__builtin_ia32_pause", "sched_yield", "thrd_yield", "pthread_yield"),
            *("usleep", "sleep", "nanosleep", "thrd_sleep", "pthread_detach", "thrd_detach", "srand"),
            *("printf", "fprintf", "puts", "putchar", "fputs", "fflush", "perror"),
        ),
        _nothing,
    ),
}
"""The functions that are translated where they are called, by name."""
