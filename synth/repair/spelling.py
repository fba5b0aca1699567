"""How languages say the orders and scopes that a repair changes: CUDA C++, and PTX where that has more; C and C++.

make this store release at gpu scope (cuda::memory_order_release, cuda::thread_scope_device)
make this store release (memory_order_release)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.code.ir import KernelInstruction
from corpus.dialects.registry import DIALECTS
from corpus.errors import InputError
from corpus.executions.execution import OpKind
from corpus.laws import ptx
from corpus.laws.c11 import LEGAL_ORDERS, ORDERS
from corpus.litmus.instructions import AsyncOperation, Fence, Load, Rmw, Store, is_asynchronous
from corpus.litmus.orders import CLUSTER, MBARRIER, Mode, Order, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect
from synth.repair.sites import SiteModes

_Ordered = Load | Store | Rmw | Fence


@dataclass(frozen=True)
class SourceWords:
    """The words of a language: ``nouns`` of the instructions that may be changed, by their names; what a way to do an
    access is called, and how it is spelled; the dialect of litmus tests that have what the language can say, given the
    tests and whether blocks are in clusters; and the table of ``costs``.
    """

    nouns: Mapping[str, str]
    described: Callable[[Mode], str]
    spelled: Callable[[OpKind, Mode], str]
    dialect: Callable[[Sequence[LitmusTest], bool], Dialect]
    costs: str

    def noun_of(self, ins: KernelInstruction) -> str:
        """Return what an instruction is called that may be changed, nothing where it may not; of a call of the C++
        library, what that does.
        """
        return self.nouns.get("".join(ins.words) if ins.name == "call" else ins.name, "")


_KINDS = {OpKind.READ: "load", OpKind.WRITE: "store", OpKind.UPDATE: "atomic", OpKind.FENCE: "fence"}


def noun(site: SiteModes) -> str:
    """Return what an instruction that may be changed is called."""
    if any(mode is not None and MBARRIER in mode.tags for mode in site.modes):
        return "wait at an mbarrier" if site.kind is OpKind.READ else "arrival at an mbarrier"
    return _KINDS.get(site.kind, "barrier")


# CUDA C++ and PTX

_SCOPES = {Scope.CTA: "block", Scope.GPU: "gpu", Scope.SYS: "system"}
_CUDA_SCOPES = {Scope.CTA: "block", Scope.GPU: "device", Scope.SYS: "system"}
_CUDA_ORDERS = {Order.SC: "seq_cst"}
_THREADFENCE = {
    Scope.CTA: "__threadfence_block()",
    Scope.GPU: "__threadfence()",
    Scope.SYS: "__threadfence_system()",
}


def _described_in_ptx(mode: Mode) -> str:
    if mode in ptx.PROXY_FENCES.values():
        return "between the proxies"
    if CLUSTER in mode.tags:
        return f"{mode.order} at cluster scope"
    if mode.scope is None:
        return "volatile" if mode.volatile else "plain"
    return f"{mode.order} at {_SCOPES[mode.scope]} scope"


def _spelled_in_cuda(kind: OpKind, mode: Mode) -> str:
    """Return what CUDA C++ has for a way to do an access or a fence, or PTX where that has more."""
    for words, fence in ptx.PROXY_FENCES.items():
        if mode == fence:
            return words
    if MBARRIER in mode.tags:
        return f".{mode.order}.{CLUSTER if CLUSTER in mode.tags else mode.scope and mode.scope.label}"
    if mode.scope is None:
        return "volatile" if mode.volatile else "no atomic"
    if kind is OpKind.FENCE and mode.order is Order.SC and not mode.tags:
        return _THREADFENCE[mode.scope]
    order = f"cuda::memory_order_{_CUDA_ORDERS.get(mode.order, mode.order)}"
    scope = "cluster" if CLUSTER in mode.tags else _CUDA_SCOPES[mode.scope]
    given = f"{order}, cuda::thread_scope_{scope}"
    return f"cuda::atomic_thread_fence({given})" if kind is OpKind.FENCE else given


def _written(tests: Sequence[LitmusTest]) -> set[tuple[type, Mode]]:
    """Return the ways in which accesses and fences of tests are done as they are written."""
    return {(type(ins), ins.mode) for test in tests for ins in test.instructions if isinstance(ins, _Ordered)}


def _dialect_of_cuda(tests: Sequence[LitmusTest], clusters: bool) -> Dialect:
    """Return how kernels say accesses and fences: as they are written, and with orders and scopes as PTX has them."""
    written = _written(tests)
    moves = any(isinstance(ins, AsyncOperation) for test in tests for ins in test.instructions)
    proxies = {mode for words, mode in ptx.PROXY_FENCES.items() if moves and words.startswith(ptx.ASYNC_FENCE)}
    rules = {Load: ptx.LOAD, Store: ptx.STORE, Rmw: ptx.ATOM, Fence: ptx.FENCE}

    def check(test: LitmusTest) -> str:
        for ins in test.instructions:
            if not isinstance(ins, _Ordered) or (type(ins), ins.mode) in written:
                continue
            mode, rule = ins.mode, rules[type(ins)]
            if isinstance(ins, Rmw) and ins.target is None:
                rule = replace(rule, orders=ptx.RED_ORDERS)
            if mode.volatile or mode.cache or (CLUSTER in mode.tags and not clusters):
                raise InputError("kernels say orders and scopes")
            if is_asynchronous(ins) or mode in proxies:
                continue
            ptx.mode_words(mode, rule, InputError)
        return ""

    return replace(DIALECTS["gpu-ptx"], name="cuda", print=check, opcodes=True, asynchronous=True)


CUDA = SourceWords(
    {
        "ld": "load",
        "st": "store",
        "atom": "atomic",
        "red": "atomic",
        "fence": "fence",
        "membar": "fence",
        "cp": "copy",
        "mbarrier": "mbarrier operation",
    },
    _described_in_ptx,
    _spelled_in_cuda,
    _dialect_of_cuda,
    "cuda",
)
"""The words of CUDA C++. The accesses and fences of PTX can be changed; what others leave, as votes do, stays."""


# C and C++

_C_WORDS = {order: word for word, order in ORDERS.items()}


def _described_in_c(mode: Mode) -> str:
    return "plain" if mode.order is Order.WEAK else str(mode.order)


def _spelled_in_c(kind: OpKind, mode: Mode) -> str:
    if mode.order is Order.WEAK:
        return "no atomic"
    word = _C_WORDS[mode.order]
    return f"atomic_thread_fence({word})" if kind is OpKind.FENCE else word


def _dialect_of_c(tests: Sequence[LitmusTest], clusters: bool) -> Dialect:
    """Return how C says accesses and fences: with its orders; whether an object is atomic its type says, and stays."""
    written = _written(tests)

    def check(test: LitmusTest) -> str:
        for ins in test.instructions:
            if not isinstance(ins, _Ordered) or (type(ins), ins.mode) in written:
                continue
            if ins.mode.order not in LEGAL_ORDERS[type(ins)]:
                raise InputError("C says orders")
        return ""

    return replace(DIALECTS["c"], name="c", print=check, opcodes=True)


C = SourceWords(
    {"load": "load", "store": "store", "cmpxchg": "exchange", "atomicrmw": "atomic operation", "fence": "fence"},
    _described_in_c,
    _spelled_in_c,
    _dialect_of_c,
    "c",
)
"""The words of C. What functions of the library do stays."""


def order_word(mode: Mode) -> str:
    """Return the word for the order of a mode that is behind ``memory_order_``; nothing of a plain one."""
    return _C_WORDS.get(mode.order, "").removeprefix("memory_order_")


def _spelled_in_cpp(kind: OpKind, mode: Mode) -> str:
    text = _spelled_in_c(kind, mode)
    return text.replace("memory_order", "std::memory_order").replace("atomic_thread", "std::atomic_thread")


CPP = replace(C, spelled=_spelled_in_cpp)
"""The words of C++, where an access has what stands at its place (``synth.repair.rewriting``)."""
