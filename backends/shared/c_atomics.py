"""Renders what memory tests in OpenCL C, Metal and C++ share. That is atomics with C11's orders, and volatile
accesses.

**Weak accesses are volatile.** A plain access that races is undefined, and a compiler may remove, merge or move it
even where it does not race. As litmus7 does, a weak access is written as a volatile one: the compiler keeps each of
them, and their order among themselves. It may still move them across atomics and fences, as far as the language
lets it. What is seen of such a test is what machine and compiler make of it; the language promises nothing.

A volatile access of PTX, which its model takes as relaxed at system scope, is not what ``volatile`` is here, and is
refused; so are cache operators and tags.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from backends.shared.kernel import Kernel, MemoryWord
from corpus.laws.c11 import LEGAL_ORDERS, WORDS, failure_order, order_word
from corpus.litmus.test import Barrier, Fence, Load, Mode, Order, Region, Rmw, Scope, Store


class CAtomics(Kernel):
    """A language with C11's atomics. ``order_prefix`` goes before ``memory_order_..``; ``fetched`` are the operations
    that have an ``atomic_fetch_``; ``plain`` makes a volatile lvalue of a cell; ``tags`` are those that it can say.
    """

    weak_exchange: ClassVar[bool] = True
    tags: ClassVar[tuple[str, ...]] = ()
    plain: ClassVar[str] = "{}"
    order_prefix: ClassVar[str] = ""
    fetched: ClassVar[Sequence[str]]

    @abstractmethod
    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:
        """Return an atomic operation as an expression; ``arguments`` are values, then orders, then the scope."""

    @abstractmethod
    def expected(self) -> str:
        """Return the variable ``expected`` as an argument of a compare-exchange, which changes it."""

    @abstractmethod
    def scoped(self, thread: int, ins: Load | Store | Rmw | Fence) -> list[str]:
        """Return the argument for the instruction's scope, if the language has scopes."""

    @abstractmethod
    def fence_call(self, thread: int, ins: Fence, order: str) -> str:
        """Return the call of a fence whose order is legal in C11."""

    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, ins.mode):
            return f"{target} = {self.plain.format(cell.text)};"
        return f"{target} = {self.call('load', cell, self._ordering(thread, ins))};"

    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, ins.mode):
            return f"{self.plain.format(cell.text)} = {value};"
        return f"{self.call('store', cell, [value, *self._ordering(thread, ins)])};"

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, ins.mode):
            raise self.refuse(thread, ins, "has no rmw that is not atomic")
        kept = "" if target is None else f"{target} = "
        if ins.operation == "cas":
            orders = [self._order(ins.mode), self._order(Mode(failure_order(ins)))]
            arguments = [self.expected(), values[1], *orders, *self.scoped(thread, ins)]
            result = f" {kept}expected;" if kept else ""
            call = self.call(f"compare_exchange_{'strong' if ins.success is None else 'weak'}", cell, arguments)
            if ins.success is not None:
                result = f"{result} {self.register(thread, ins.success)} = succeeded;"
                call = self.syntax.constant("succeeded", self.syntax.choice(call, "1u", "0u")).removesuffix(";")
            return f"{{ {self.syntax.variable('expected', values[0])} {call};{result} }}"
        if ins.operation != "exch" and ins.operation not in self.fetched:
            raise self.refuse(thread, ins, f"has no atomic {ins.operation}")
        function = "exchange" if ins.operation == "exch" else f"fetch_{ins.operation}"
        return f"{kept}{self.call(function, cell, [values[0], *self._ordering(thread, ins)])};"

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        if ins.mode.order is Order.WEAK:
            raise self.refuse(thread, ins, "has no such fence")
        return self.fence_call(thread, ins, self._order(ins.mode))

    def _ordering(self, thread: int, ins: Load | Store | Rmw) -> list[str]:
        return [self._order(ins.mode), *self.scoped(thread, ins)]

    def _order(self, mode: Mode) -> str:
        return self.order_prefix + order_word(mode)

    def check_tags(self, thread: int, ins: Load | Store | Rmw | Fence) -> None:
        """Raise ``InputError`` for the first tag of an instruction that the language cannot say."""
        for tag in ins.mode.tags:
            if tag not in self.tags:
                raise self.refuse(thread, ins, f"has no word for {tag}")

    def _is_atomic(self, thread: int, ins: Load | Store | Rmw, mode: Mode) -> bool:
        """Whether an access is atomic, having checked that the language can say it."""
        if mode.volatile:
            raise self.refuse(thread, ins, "has volatile accesses, but they do not order threads as PTX's do")
        if mode.cache is not None:
            raise self.refuse(thread, ins, "has no cache operators")
        self.check_tags(thread, ins)
        if mode.order is Order.WEAK:
            if mode.scope is not None:
                raise self.refuse(thread, ins, "has no scopes at accesses that are not atomic")
            return False
        if mode.order not in LEGAL_ORDERS[type(ins)]:
            raise self.refuse(thread, ins, f"does not take {WORDS[mode.order]} here")
        return True


class SpacedAtomics(CAtomics):
    """A C language whose pointers say which memory they are of, and whose fences and barriers say which memory they
    order.

    ``spaces``: the word for each region; ``flags``: for what each tag orders; ``barrier_call``: a barrier, of ``{}``;
    ``group_word``: what it calls a work-group. A barrier is met by the whole work-group. There is one, so its number
    does not matter as long as the threads of a CTA agree; arriving without waiting, and a number of threads to wait
    for, are refused.
    """

    spaces: ClassVar[Mapping[Region, str]]
    flags: ClassVar[Mapping[str, str]]
    barrier_call: ClassVar[str]
    group_word: ClassVar[str] = "work-group"

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        kind = "atomic_int" if function in ("fetch_min", "fetch_max") else "atomic_uint"
        pointer = f"(volatile {self.spaces[cell.region]} {kind}*)&{cell.text}"
        return f"atomic_{function}_explicit({', '.join([pointer, *arguments])})"

    def expected(self) -> str:  # noqa: D102
        return "&expected"

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        flags = set()
        for thread, ins in barriers.items():
            if ins.arrive or ins.quorum is not None:
                raise self.refuse(
                    thread, ins, f"has only barriers where all threads of a {self.group_word} wait for all"
                )
            if ins.scope is not Scope.CTA or ins.mode.scope not in (None, Scope.CTA):
                raise self.refuse(thread, ins, f"has only barriers of a {self.group_word} here")
            flags.add(self.ordered(thread, ins))
        if len(flags) > 1:
            raise self.refuse(thread, ins, "has no barrier that orders other memory for one thread than for another")
        return f"{self.barrier_call.format(flags.pop())};"

    def ordered(self, thread: int, ins: Fence | Barrier) -> str:
        """Return the memory that a fence or barrier orders. Raises ``InputError`` where a tag has no word."""
        unknown = [tag for tag in ins.mode.tags if tag not in self.flags]
        if unknown:
            raise self.refuse(thread, ins, f"has no word for {unknown[0]}")
        return " | ".join(self.flags[tag] for tag in ins.mode.tags or self.flags)
