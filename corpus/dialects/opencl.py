"""Reads and prints OpenCL litmus tests. They are C with scopes, work-groups, address spaces and barriers.

    OPENCL MP
    { x = 0; y = 0; }
    P0@wg 0, dev 0 (global int* x, global atomic_int* y) {
      *x = 1;
      atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
    }
    P1@wg 1, dev 0 (global int* x, global atomic_int* y) {
      int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
      int r1 = *x;
    }
    exists (1:r0 = 1 /\\ 1:r1 = 0)

The dialect is Dartagnan's; what is C in it is read and printed as C (``corpus.dialects.c_like``).

- An atomic without a scope is of scope device, as in the OpenCL C specification. ``memory_scope_work_item``, which
  orders a work-item with itself alone, is an order without a scope.
- ``P0@sg 1, wg 0, dev 0`` also places the thread in a sub-group, which Dartagnan does not know; without it, each
  thread is in a sub-group of its own. ``memory_scope_sub_group`` is scope warp.
- ``local`` memory is shared memory; a parameter without an address space is ``global``. Threads agree on it. Of local
  memory that threads of several work-groups name each work-group has an instance: that of the first thread's keeps the
  name, in the condition too, and ``y`` of work-group 1 is called ``y_wg1``.
- A fence or barrier that names one of ``CLK_GLOBAL_MEM_FENCE`` and ``CLK_LOCAL_MEM_FENCE`` has the tag ``global-fence``
  or ``local-fence``; what orders both has none, like a fence of a language that knows no such difference.
- ``barrier``, or ``work_group_barrier``, is a barrier of a CTA, ``sub_group_barrier`` one of a warp. ``B1:`` before it
  is its number, else 0. One with a memory scope that is not its own is a fence of order acq_rel and that scope, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from corpus.dialects.c_like.code import CCode, token
from corpus.dialects.c_like.reader import CReader
from corpus.dialects.c_like.writer import WORDS as C_WORDS
from corpus.dialects.c_like.writer import CWriter, same_tree
from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.laws.c11 import WORDS
from corpus.laws.opencl import BARRIERS, DEFAULT_SCOPE, MEMORY, SCOPE_WORDS, SCOPES, WORK_ITEM
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Barrier, Fence, Instruction
from corpus.litmus.locations import Loc, Location, Operand, Region, element, element_of
from corpus.litmus.normal import map_operands
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Condition
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner, Source
from corpus.litmus.threads import Thread
from corpus.syntax import LARGEST_LOCATION, number, subtrees


class _Code(CCode):
    scoped = True

    def scope(self, arguments: Sequence[Tree]) -> Scope | None:
        if not arguments:
            return DEFAULT_SCOPE
        (argument,) = arguments
        word = str(token(argument)) if argument.data == "name" else ""
        if word == WORK_ITEM:
            return None
        if word == "memory_scope_all_devices":  # OpenCL 3.0's name
            return Scope.SYS
        if word not in SCOPES:
            raise self.error(f"expected {' or '.join(SCOPES)}", argument)
        return SCOPES[word]

    def other_call(self, name: Token, arguments: Sequence[Tree], target: str | None) -> bool:
        if name in BARRIERS:
            self._barrier(name, arguments, 0)
        elif name == "atomic_work_item_fence":
            self.check_count(name, arguments, 3, 3)
            flags, order, scope = arguments
            self.emit(Fence(Mode(self.order(order, Fence), self.scope([scope]), tags=self._flags(flags))))
        else:
            raise self.error(f"{name} is no function of OpenCL litmus tests", name)
        return False

    def labelled(self, label: Token, statement: Tree | None) -> None:
        digits = label.lstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
        expression = subtrees(statement)[0] if statement is not None and statement.data == "effect" else None
        if expression is None or expression.data != "call" or token(expression) not in BARRIERS or not digits.isdigit():
            raise self.error("expected B0:, B1:, .. before a barrier", label)
        index = number(label.with_word(digits), self._path)
        self._barrier(token(expression), subtrees(expression), index)

    def _barrier(self, name: Token, arguments: Sequence[Tree], index: int) -> None:
        self.check_count(name, arguments, 1, 2)
        own, tags = BARRIERS[name], self._flags(arguments[0])
        scope = self.scope(arguments[1:]) if len(arguments) > 1 else own
        if scope is own:
            self.emit(Barrier(index, mode=Mode(tags=tags), scope=own))
        else:
            self.emit(Barrier(index, mode=Mode(Order.ACQ_REL, scope, tags=tags), scope=own))

    def _flags(self, tree: Tree) -> tuple[str, ...]:
        """The tag of a fence that orders one kind of memory."""
        if tree.data in ("or", "bracketed"):
            tags = {tag for part in subtrees(tree) for tag in self._flags(part) or MEMORY.values()}
        elif tree.data == "name" and token(tree) in MEMORY:
            tags = {MEMORY[token(tree)]}
        else:
            raise self.error(f"expected {' or '.join(MEMORY)}", tree)
        return () if len(tags) == len(MEMORY) else tuple(tags)


class _Reader(CReader):
    code = _Code

    def places(self, functions: Sequence[Tree]) -> list[Place]:
        groups = [self._groups(function) for function in functions]
        threads: Counter[tuple[int, int]] = Counter()
        places = []
        for function, group in zip(functions, groups, strict=True):
            if ("sg" in group) != ("sg" in groups[0]):
                raise self.error("expected a sub-group for every thread, or for none", function)
            workgroup = (group["dev"], group["wg"])
            places.append(Place(group["dev"], 0, group["wg"], group.get("sg", threads[workgroup])))
            threads[workgroup] += 1
        return places

    def _groups(self, function: Tree) -> dict[str, int]:
        """The numbers of a thread's groups: of ``wg``, ``dev`` and, where it is said, ``sg``."""
        numbers: dict[str, int] = {}
        for group in (tree for tree in function.trees() if tree.data == "group"):
            level, digits = (child for child in group.children if isinstance(child, Token))
            if level not in ("sg", "wg", "dev") or level in numbers:
                raise self.error(f"expected sg, wg or dev, each once, found {level}", level)
            numbers[str(level)] = number(digits, self._source.path, LARGEST_LOCATION)
        for wanted in ("wg", "dev"):
            if wanted not in numbers:
                name = token(function)
                raise self.error(f"expected {name}@wg 0, dev 0 or the like, found no {wanted}", name)
        return numbers

    def instances(
        self, threads: Sequence[Thread], locations: Sequence[Location]
    ) -> tuple[Sequence[Thread], Sequence[Location]]:
        shared = {location.name: location for location in locations if location.region is Region.SHARED}
        homes: dict[str, Place] = {}
        renamed: dict[str, Location] = {}
        moved: list[Thread] = []
        for thread in threads:

            def own(operand: Operand, here: Place = thread.place) -> Operand:
                if not isinstance(operand, Loc) or operand.name not in shared:
                    return operand
                array, index = element_of(operand.name)
                if homes.setdefault(array, here).shares(here, Scope.CTA):
                    return operand
                name = element(f"{array}_wg{here.cta}" + (f"_dev{here.gpu}" if here.gpu else ""), index)
                renamed[name] = replace(shared[operand.name], name=name)
                return Loc(name)

            body = tuple(map_operands(ins, own) for ins in thread.instructions)
            registers = tuple((name, own(value)) for name, value in thread.registers)
            moved.append(replace(thread, instructions=body, registers=registers))
        known = {location.name for location in locations}
        return moved, [*locations, *(location for name, location in sorted(renamed.items()) if name not in known)]

    def region(self, space: Token | None) -> Region:
        return Region.SHARED if space is not None and space.endswith("local") else Region.GLOBAL


class _Writer(CWriter):
    language = "OPENCL"
    title = "OpenCL"
    reserved = C_WORDS
    jumps = False
    tags = ()
    address = "&"

    def question(self, condition: Condition) -> Condition:
        return condition

    def check_places(self, places: Sequence[Place]) -> None:
        if any(place.queue != other.queue for place in places for other in places if place.gpu == other.gpu):
            raise InputError("OpenCL litmus tests have no queues: expected the threads of a device in one")
        own = [place._replace(warp=index) for index, place in enumerate(places)]
        self._sub_groups = not same_tree(places, own)

    def header(self, place: Place) -> str:
        sub_group = f"sg {place.warp}, " if self._sub_groups else ""
        return f"@{sub_group}wg {place.cta}, dev {place.gpu}"

    def space(self, location: Location) -> str:
        return "local " if location.region is Region.SHARED else "global "

    def scope(self, thread: int, ins: Instruction, scope: Scope | None) -> str:
        if scope is not None and scope not in SCOPE_WORDS:
            raise cannot_say(thread, ins, f"OpenCL has no atomics with a scope {scope.label}")
        return f", {WORK_ITEM if scope is None else SCOPE_WORDS[scope]}"

    def fence(self, thread: int, fence: Fence) -> str:
        flags = self._flags(thread, fence, fence.mode)
        order = WORDS[fence.mode.order] + self.scope(thread, fence, fence.mode.scope)
        return f"atomic_work_item_fence({flags}, {order})"

    def barrier(self, thread: int, barrier: Barrier) -> str:
        mode = barrier.mode
        plain = Barrier(barrier.number, mode=Mode(mode.order, mode.scope, tags=mode.tags), scope=barrier.scope)
        names = {Scope.CTA: "barrier", Scope.WARP: "sub_group_barrier"}
        if barrier != plain or not isinstance(barrier.number, int) or barrier.scope not in names:
            reason = "OpenCL's barriers have a number, and are of a work-group or a sub-group"
            raise cannot_say(thread, barrier, f"{reason}, without arrive, resource or quorum")
        if barrier.number < 0:
            raise cannot_say(thread, barrier, "OpenCL has no barrier with a negative number")
        label = f"B{barrier.number}: " if barrier.number else ""
        flags = self._flags(thread, barrier, mode)
        if mode == Mode(tags=mode.tags):
            return f"{label}{names[barrier.scope]}({flags})"
        if mode.order is not Order.ACQ_REL or mode.scope is barrier.scope:
            raise cannot_say(thread, barrier, "OpenCL's barriers have no order besides acq_rel of another scope")
        name = {Scope.CTA: "work_group_barrier", Scope.WARP: "sub_group_barrier"}[barrier.scope]
        return f"{label}{name}({flags}{self.scope(thread, barrier, mode.scope)})"

    def _flags(self, thread: int, ins: Instruction, mode: Mode) -> str:
        for tag in mode.tags:
            if tag not in MEMORY.values():
                raise cannot_say(thread, ins, f"OpenCL has no word for {tag}")
        return " | ".join(flag for flag, tag in MEMORY.items() if tag in mode.tags or not mode.tags)


def _read(source: Source) -> LitmusTest:
    return _Reader.read(source)


def _print(test: LitmusTest) -> str:
    return _Writer(test).text()


OPENCL = Dialect(
    "opencl",
    "OPENCL",
    _read,
    _print,
    c_comments=True,
    runners=(ForeignRunner("dartagnan-opencl"),),
    atomic_types=True,
    statement=lambda test, thread, ins: _Writer(test).statement(thread, ins),
)
"""Dartagnan's dialect of litmus tests for OpenCL."""
