"""Renders memory tests in languages whose atomics are functions. OpenCL C, Metal and C++ share C11's orders besides.

**Weak accesses are volatile** in the languages of C. A plain access that races is undefined, and a compiler may remove,
merge or move it even where it does not race. As litmus7 does, a weak access is written as a volatile one: the compiler
keeps each of them, and their order among themselves. It may still move them across atomics and fences, as far as the
language lets it. What is seen of such a test is what machine and compiler make of it; the language promises nothing.

A volatile access of PTX, which its model takes as relaxed at system scope, is not what ``volatile`` is in any language
here, and is refused; so are cache operators and tags.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from backends.shared.kernel import Kernel, MemoryWord
from corpus.errors import InputError
from corpus.laws.c11 import FETCHED, LEGAL_ORDERS, WORDS, failure_order, order_word
from corpus.litmus.instructions import Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Order, Scope

Access = Load | Store | Rmw
"""What may be atomic or not."""


class Atomics(Kernel):
    """A language in which an atomic is a call of a function. Further attributes:

    - ``functions``: the function of ``load``, ``store`` and each operation of an rmw; ``lacks``: why there is none for
      others, where there is a reason; ``pointer``: a cell as an argument; ``plain``: as the lvalue of a weak access;
    - ``tags``: those of accesses that it can say; ``no_word``: the reason for refusing others; ``no_volatile``: that
      for refusing volatile accesses of PTX;
    - ``group_word``: what it calls a work-group; ``group_barriers``: the reason for refusing barriers of others.
    """

    functions: ClassVar[Mapping[str, str]]
    lacks: ClassVar[Mapping[str, str]] = {}
    pointer: ClassVar[str] = "{}"
    plain: ClassVar[str] = "{}"
    tags: ClassVar[Collection[str]] = ()
    no_word: ClassVar[str] = "has no word for {}"
    no_volatile: ClassVar[str]
    group_word: ClassVar[str] = "work-group"
    group_barriers: ClassVar[str] = "has only barriers of a {} here"

    @abstractmethod
    def is_atomic(self, thread: int, ins: Access, cell: MemoryWord) -> bool:
        """Return whether an access is atomic. Raises ``InputError`` where the language cannot say how it is done."""

    @abstractmethod
    def ordering(self, thread: int, ins: Access) -> list[str]:
        """Return the arguments for the order and the scope of an atomic access."""

    @abstractmethod
    def exchange(self, thread: int, ins: Rmw, kept: str, cell: MemoryWord, values: Sequence[str]) -> str:
        """Return the statements of a compare-exchange; ``kept`` is the beginning of an assignment of its result."""

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        if not self.is_atomic(thread, ins, cell):
            return f"{target} = {self.weak(thread, ins, cell)};"
        return f"{target} = {self.call('load', cell, self.ordering(thread, ins))};"

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        if not self.is_atomic(thread, ins, cell):
            return f"{self.weak(thread, ins, cell)} = {value};"
        return f"{self.call('store', cell, [value, *self.ordering(thread, ins)])};"

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if not self.is_atomic(thread, ins, cell):
            raise self.refuse(thread, ins, "has no rmw that is not atomic")
        kept = "" if target is None else f"{target} = "
        if ins.operation == "cas":
            return self.exchange(thread, ins, kept, cell, values)
        if ins.operation not in self.functions:
            raise self.refuse(thread, ins, self.lacks.get(ins.operation, f"has no atomic {ins.operation}"))
        return f"{kept}{self.call(ins.operation, cell, [values[0], *self.ordering(thread, ins)])};"

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:
        """Return the call of the function that ``functions`` has under a name."""
        return f"{self.functions[function]}({', '.join([self.pointer.format(cell.text), *arguments])})"

    def weak(self, thread: int, ins: Access, cell: MemoryWord) -> str:
        """Return the lvalue of a weak access."""
        return self.plain.format(cell.text)

    def check_words(self, thread: int, ins: Access | Fence, tags: Collection[str]) -> None:
        """Raise ``InputError`` for what is neither order nor scope: volatile, cache operators, further tags."""
        if ins.mode.volatile:
            raise self.refuse(thread, ins, self.no_volatile)
        if ins.mode.cache is not None:
            raise self.refuse(thread, ins, "has no cache operators")
        self.check_tags(thread, ins, tags)

    def check_tags(self, thread: int, ins: Access | Fence | Barrier, tags: Collection[str]) -> None:
        """Raise ``InputError`` for the first tag of an instruction that is not one of these."""
        for tag in ins.mode.tags:
            if tag not in tags:
                raise self.refuse(thread, ins, self.no_word.format(tag))

    def check_barrier(self, thread: int, ins: Barrier, scopes: Collection[Scope | None]) -> None:
        """Raise ``InputError`` for a barrier that not all threads of a work-group wait at for all, or whose memory has
        none of these scopes.
        """
        if ins.arrive or ins.quorum is not None:
            raise self.refuse(thread, ins, f"has only barriers where all threads of a {self.group_word} wait for all")
        if ins.scope is not Scope.CTA or ins.mode.scope not in scopes:
            raise self.refuse(thread, ins, self.group_barriers.format(self.group_word))

    def differing(self, thread: int, ins: Barrier) -> InputError:
        """Return the error for barriers of one work-group that are not alike."""
        return self.refuse(thread, ins, "has no barrier that orders other memory for one thread than for another")


BUILTIN_ORDERS: Mapping[Order, str] = {
    Order.RELAXED: "__ATOMIC_RELAXED",
    Order.ACQUIRE: "__ATOMIC_ACQUIRE",
    Order.RELEASE: "__ATOMIC_RELEASE",
    Order.ACQ_REL: "__ATOMIC_ACQ_REL",
    Order.SC: "__ATOMIC_SEQ_CST",
}
"""The orders by the macros of GCC and clang, for their builtin functions."""


class CAtomics(Atomics):
    """A language with C11's atomics. ``order_prefix`` goes before ``memory_order_..``; ``scopes`` are the words for
    scopes, which are empty where none is said; ``expected`` is the variable of that name as an argument of a
    compare-exchange, which changes it; ``fenced`` is a fence of ``{order}``, ``{scope}`` and, where it says them,
    ``{flags}``.
    """

    functions: ClassVar[Mapping[str, str]] = {
        **{name: name for name in ("load", "store")},
        "exch": "exchange",
        "cas": "compare_exchange_strong",
        "weak cas": "compare_exchange_weak",
        **{name: f"fetch_{name}" for name in FETCHED},
    }
    no_volatile = "has volatile accesses, but they do not order threads as PTX's do"
    weak_exchange = True
    order_prefix: ClassVar[str] = ""
    scopes: ClassVar[Mapping[Scope, str]]
    expected: ClassVar[str] = "&expected"
    fenced: ClassVar[str]

    def ordering(self, thread: int, ins: Access) -> list[str]:  # noqa: D102
        return [self.order(ins.mode), *self.scoped(thread, ins)]

    def exchange(self, thread: int, ins: Rmw, kept: str, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        orders = [self.order(ins.mode), self.order(Mode(failure_order(ins)))]
        arguments = [self.expected, values[1], *orders, *self.scoped(thread, ins)]
        call = self.call("cas" if ins.success is None else "weak cas", cell, arguments)
        result = f" {kept}expected;" if kept else ""
        if ins.success is not None:
            result = f"{result} {self.register(thread, ins.success)} = succeeded;"
            call = self.syntax.constant("succeeded", self.syntax.choice(call, "1u", "0u")).removesuffix(";")
        return f"{{ {self.syntax.variable('expected', values[0])} {call};{result} }}"

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        if ins.mode.order is Order.WEAK:
            raise self.refuse(thread, ins, "has no such fence")
        scope = self.scope(thread, ins, self.scopes)
        return f"{self.fenced.format(order=self.order(ins.mode), scope=scope, flags=self.ordered(thread, ins))};"

    @abstractmethod
    def ordered(self, thread: int, ins: Fence | Barrier) -> str:
        """Return the memory that a fence or barrier orders. Raises ``InputError`` where a tag has no word."""

    def order(self, mode: Mode) -> str:
        """Return the word for an order."""
        return self.order_prefix + order_word(mode)

    def is_atomic(self, thread: int, ins: Access, cell: MemoryWord) -> bool:  # noqa: D102
        self.check_words(thread, ins, self.tags)
        if ins.mode.order is Order.WEAK:
            if ins.mode.scope is not None:
                raise self.refuse(thread, ins, "has no scopes at accesses that are not atomic")
            return False
        if ins.mode.order not in LEGAL_ORDERS[type(ins)]:
            raise self.refuse(thread, ins, f"does not take {WORDS[ins.mode.order]} here")
        return True

    def scoped(self, thread: int, ins: Access) -> list[str]:
        """Return the argument for the scope of an atomic access, if the language says it."""
        word = self.scope(thread, ins, self.scopes)
        return [word] if word else []


class SpacedAtomics(CAtomics):
    """A C language whose pointers say which memory they are of, and whose fences and barriers say which memory they
    order.

    ``spaces``: the word for each region; ``flags``: for what each tag orders; ``barriers``: a barrier, of ``{}``. A
    barrier is met by the whole work-group. There is one, so its number does not matter as long as the threads of a CTA
    agree; arriving without waiting, and a number of threads to wait for, are refused.
    """

    functions: ClassVar[Mapping[str, str]] = {
        name: f"atomic_{word}_explicit"
        for name, word in {**CAtomics.functions, "min": "fetch_min", "max": "fetch_max"}.items()
    }
    spaces: ClassVar[Mapping[Region, str]]
    flags: ClassVar[Mapping[str, str]]
    barriers: ClassVar[str]
    scratch_load = "{cell}"
    scratch_store = "{cell} = {value}"

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        kind = "atomic_int" if function in ("min", "max") else "atomic_uint"
        pointer = f"(volatile {self.spaces[cell.region]} {kind}*)&{cell.text}"
        return f"{self.functions[function]}({', '.join([pointer, *arguments])})"

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        flags = set()
        for thread, ins in barriers.items():
            self.check_barrier(thread, ins, (None, Scope.CTA))
            flags.add(self.ordered(thread, ins))
        if len(flags) > 1:
            raise self.differing(thread, ins)
        return f"{self.barriers.format(flags.pop())};"

    def ordered(self, thread: int, ins: Fence | Barrier) -> str:  # noqa: D102
        self.check_tags(thread, ins, self.flags)
        return " | ".join(self.flags[tag] for tag in ins.mode.tags or self.flags)
