"""What loads, stores and atomics of PTX do when a thread is specialised (PTX ISA 9.1, 9.7.9 and 9.7.13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.kernels import ir
from corpus.kernels.computing import filled, moved, set_result
from corpus.kernels.memory import address_of, loaded, stored, updated
from corpus.kernels.specialiser import State, ThreadSpecialiser
from corpus.kernels.values import Held, Scaled
from corpus.litmus import test as litmus
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

SCOPES = {"cta": litmus.Scope.CTA, "gpu": litmus.Scope.GPU, "sys": litmus.Scope.SYS}
ORDERS = {
    "relaxed": litmus.Order.RELAXED,
    "acquire": litmus.Order.ACQUIRE,
    "release": litmus.Order.RELEASE,
    "acq_rel": litmus.Order.ACQ_REL,
    "sc": litmus.Order.SC,
}
MEMBARS = {"cta": litmus.Scope.CTA, "gl": litmus.Scope.GPU, "sys": litmus.Scope.SYS}


def access_mode(at: ThreadSpecialiser, words: Sequence[str], default: litmus.Mode) -> litmus.Mode:
    """Return how an access is done: its order and scope, or volatile."""
    if "volatile" in words:
        return litmus.Mode(volatile=True)
    if "mmio" in words:
        return litmus.Mode(litmus.Order.RELAXED, litmus.Scope.SYS)
    order = next((ORDERS[word] for word in words if word in ORDERS), None)
    tags: tuple[str, ...] = ()
    scope = next((SCOPES[word] for word in words if word in SCOPES), None)
    if "cluster" in words:
        scope, tags = litmus.Scope.QUEUE, (litmus.CLUSTER,)
    if order is None and scope is None:
        return default
    return litmus.Mode(order or default.order, scope or default.scope, tags=tags)


def _elements(words: Sequence[str]) -> tuple[int, int, str]:
    """Return the number of elements of an access, the bytes of each, and their type."""
    kind = type_of(words)
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    return count, WIDTHS[kind] // 8, kind


_PLAIN_WORDS = frozenset(
    (*ORDERS, *SCOPES, "cluster", "weak", "volatile", "mmio", "nc", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "noftz",
     "v2", "v4", "v8", "global", "shared", "local", "const", "param", "unified", *WIDTHS)
)  # fmt: skip
"""The words of accesses besides their operations; those with ``::`` are spaces and hints for caches."""


def _check_words(at: ThreadSpecialiser, ins: ir.KernelInstruction) -> None:
    """Refuse an access that is more than an access, such as ``st.async`` and ``st.bulk``."""
    for word in ins.words:
        stem = word.partition("::")[0]
        if word not in (*_PLAIN_WORDS, *_ATOMICS) and ("::" not in word or stem == "mbarrier"):
            raise at.wrong("is not understood")


def load(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``ld``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    _check_words(at, ins)
    count, size, kind = _elements(ins.words)
    _check_vector(at, state, source, count)
    targets = target.parts if isinstance(target, ir.Vector) else (target,)
    if "nc" in ins.words:
        at.assumed["ld.nc is read as a weak load, though it may go past the caches that the model is of"] = None
    mode = access_mode(at, ins.words, litmus.PLAIN)
    address = address_of(at, state, source)
    if count > 1 and isinstance(address, Scaled):  # an element may go where the address is
        address = replace(address, register=at.temporary("mov", litmus.Reg(address.register)))
    for number, part in enumerate(targets[:count]):
        value = loaded(at, state, moved(address, number * size), size, kind, mode)
        if value is None:
            return False
        set_result(at, state, part, filled(at, state, part, value, f"u{8 * size}" if kind[0] == "b" else kind))
    return True


def _check_vector(at: ThreadSpecialiser, state: State, operand: ir.Operand, count: int) -> None:
    if count > 1 and isinstance(address_of(at, state, operand), Held):
        raise at.wrong("with an address that was read from memory it is not understood")


def store(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """``st``, also of vectors, of which each element is an access."""
    target, source = ins.operands[:2]
    _check_words(at, ins)
    count, size, _ = _elements(ins.words)
    _check_vector(at, state, target, count)
    sources = source.parts if isinstance(source, ir.Vector) else (source,)
    address, mode = address_of(at, state, target), access_mode(at, ins.words, litmus.PLAIN)
    for number, part in enumerate(sources[:count]):
        here, value = moved(address, number * size), at.value(state, part, 8 * size)
        if not stored(at, state, here, size, value, mode):
            return False
    return True


def atomic(at: ThreadSpecialiser, state: State, ins: ir.KernelInstruction) -> bool:
    """Keep ``atom`` or ``red`` as an update of the residual program."""
    operands = [*ins.operands]
    target = None if ins.name == "red" else operands.pop(0)
    source, *given = operands
    _check_words(at, ins)
    count, _, kind = _elements(ins.words)
    operation = next((word for word in ins.words if word in _ATOMICS), None)
    if operation is None or count > 1:
        raise at.wrong("is not understood")
    given = given[: 2 if operation == "cas" else 1]  # a policy for caches may follow
    mode = access_mode(at, ins.words, litmus.DEFAULT_RMW)
    return updated(at, state, target, source, operation, kind, given, mode)


_ATOMICS = ("add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec")
