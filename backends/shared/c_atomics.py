"""What OpenCL C and C++ share as languages of memory tests: atomics with the orders of C11, and volatile accesses.

**Weak accesses are volatile.** A plain access that races is undefined, and a compiler may remove, merge or move it
even where it does not race. As litmus7 does, a weak access is written as a volatile one: the compiler keeps each of
them, and their order among themselves. It may still move them across atomics and fences, as far as the language
lets it. What is seen of such a test is what machine and compiler make of it; the language promises nothing.

A volatile access of PTX, which its model takes as relaxed at system scope, is not what ``volatile`` is here, and is
refused; so are cache operators and tags.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from backends.shared.kernel import Cell, Kernel
from corpus.laws.c11 import LEGAL_ORDERS, WORDS, failure_order, order_word
from corpus.litmus.test import Fence, Load, Mode, Order, Rmw, Store


class CAtomics(Kernel):
    """A language with C11's atomics. ``order_prefix`` goes before ``memory_order_..``; ``fetched`` are the operations
    that have an ``atomic_fetch_``; ``plain`` makes a volatile lvalue of a cell; ``tags`` are those that it can say."""

    weak_exchange: ClassVar[bool] = True
    tags: ClassVar[tuple[str, ...]] = ()
    plain: ClassVar[str] = "{}"
    order_prefix: ClassVar[str] = ""
    fetched: ClassVar[Sequence[str]]

    @abstractmethod
    def call(self, function: str, cell: Cell, arguments: Sequence[str]) -> str:
        """An atomic operation as an expression; ``arguments`` are values, then orders, then the scope."""

    @abstractmethod
    def expected(self) -> str:
        """The variable ``expected`` as an argument of a compare-exchange, which changes it."""

    @abstractmethod
    def scoped(self, thread: int, ins: Load | Store | Rmw | Fence) -> list[str]:
        """The argument for the instruction's scope, if the language has scopes."""

    @abstractmethod
    def fence_call(self, thread: int, ins: Fence, order: str) -> str:
        """A fence whose order is legal."""

    def load(self, thread: int, ins: Load, target: str, cell: Cell) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, ins.mode):
            return f"{target} = {self.plain.format(cell.text)};"
        return f"{target} = {self.call('load', cell, self._ordering(thread, ins))};"

    def store(self, thread: int, ins: Store, cell: Cell, value: str) -> str:  # noqa: D102
        if not self._is_atomic(thread, ins, ins.mode):
            return f"{self.plain.format(cell.text)} = {value};"
        return f"{self.call('store', cell, [value, *self._ordering(thread, ins)])};"

    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: Cell, values: Sequence[str]) -> str:  # noqa: D102
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
