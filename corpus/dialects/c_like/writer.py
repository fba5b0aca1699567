"""Prints litmus tests in C-like languages. ``corpus.dialects.c_like.reader`` reads the text back to an equal test.

This module prints C; its one subclass, OpenCL's, says what differs. Registers keep their names where C allows, and are
declared where they are first written, or at the top of the function. A location is an ``atomic_int`` where any thread
accesses it atomically. Predicates become ``if``; branches become ``if``, ``while`` and ``do``
(``corpus.litmus.control_flow``). Where one is of no such shape, all branches of its thread are ``goto``, which OpenCL
refuses. A loop that computes before it is left is ``while (r1 = .., r1 == 0)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from corpus.dialects.c_like.reader import c_places
from corpus.dialects.herd import WORDS as HERD_WORDS
from corpus.dialects.herd import herd_condition
from corpus.errors import InputError
from corpus.laws.c11 import CONSUME, LEGAL_ORDERS, failure_order, order_word
from corpus.laws.c11 import WORDS as ORDER_WORDS
from corpus.laws.opencl import FETCHED
from corpus.litmus.condition import print_condition, spell
from corpus.litmus.control_flow import DoWhile, If, Statement, While, structured
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import (
    Assign,
    Barrier,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    operands_of,
    registers_read,
    registers_written,
    sides_of,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region, element_of
from corpus.litmus.normal import without_predicates
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Condition, FinalRegister, Term
from corpus.litmus.test import LitmusTest, plain_locations
from corpus.litmus.threads import Thread

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}
_SIGNS |= {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "rem.s32": "%"}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = (
    "if else while do for break continue return goto "
    "int intptr_t atomic_int atomic_intptr_t const volatile restrict min max "
    "global local __global __local exists forall filter locations not true false"
)
WORDS = frozenset(_KEYWORDS.split())
"""Words of the dialects that are no names."""
_HERD_KEYWORDS = (  # lib/CLexer.mll
    "_Atomic atomic char long struct void int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t uintptr_t "
    "__int128_t __uint128_t __int128 __uint128 mtx_t spinlock_t atomic_t srcu_struct lock mtx_lock unlock mtx_unlock "
    "WCAS SCAS regions ATOMIC_INIT instr label"
)
_HERD_C_WORDS = frozenset(_HERD_KEYWORDS.split())


def print_c(test: LitmusTest) -> str:
    """The text of a test in C. Raises ``InputError`` that names what C cannot say."""
    return CWriter(test).text()


@dataclass(frozen=True, slots=True)
class Operands:
    """The statements of the two operands of an operator, which C may evaluate in either order: ``(left) +
    (right);``.
    """

    left: tuple[Line, ...]
    right: tuple[Line, ...]


Line = Statement | Operands


def _grouped(statements: Sequence[Statement], depth: int = 0) -> Iterator[Line]:
    """The statements with those of one expression as one, at this depth of operands and below."""
    waiting = list(statements)
    while waiting:
        first = waiting[0]
        if isinstance(first, If | While | DoWhile) or len(sides_of(first)) <= depth:
            yield waiting.pop(0)
            continue
        side = sides_of(first)[depth]
        places = {
            sign: [n for n, evaluation in enumerate(waiting) if sign * side in _sides(evaluation)] for sign in (1, -1)
        }
        middle, end = places[-1][0], places[-1][-1] + 1
        made = {
            name
            for evaluation in waiting[:middle]
            if isinstance(evaluation, Load | Rmw)
            for name in registers_written(evaluation)
        }
        while isinstance(before := waiting[middle - 1], Assign) and not made.intersection(registers_read(before)):
            middle -= 1  # what only the right operand uses
        left, right = waiting[:middle], waiting[middle:end]
        yield Operands(tuple(_grouped(left, depth + 1)), tuple(_grouped(right, depth + 1)))
        waiting = waiting[end:]


def _sides(statement: Statement) -> tuple[int, ...]:
    return () if isinstance(statement, If | While | DoWhile) else sides_of(statement)


class CWriter:
    """The printer of a test in the C dialect; the printer of OpenCL overrides the methods where OpenCL differs."""

    language = "C"
    title = "C"
    reserved: ClassVar[frozenset[str]] = WORDS | _HERD_C_WORDS | HERD_WORDS
    tags: ClassVar[tuple[str, ...]] = (CONSUME,)  # that it has words for
    jumps: ClassVar[bool] = True  # whether there is a goto
    address: ClassVar[str] = ""  # what is before a location whose address is an initial value

    def __init__(self, test: LitmusTest) -> None:
        self._test = test = without_predicates(test)
        self._names = [self._spelled(thread.names) for thread in test.threads]
        self._used = [
            {
                element_of(value.name)[0]
                for ins in thread.instructions
                for value in operands_of(ins)
                if isinstance(value, Loc)
            }
            for thread in test.threads
        ]
        self._plain = plain_locations(test)

    def text(self) -> str:
        """Return the text of the test, from its header to its condition."""
        test = self._test
        for location in test.locations:
            if not self._valid(element_of(location.name)[0]):
                raise InputError(f"{location.name}: {self.title} has no location of this name")
            if location.alias is not None:
                raise InputError(f"{location.name}: {self.title} has no aliases of locations")
        self.check_places([thread.place for thread in test.threads])
        threads = "\n".join("".join(self._thread(index)) for index in range(len(test.threads)))
        described = f'"{test.description}"\n' if test.description else ""
        state = " ".join(["{", *self._initial(), "}"])
        condition = print_condition(self.question(test.condition), self._term, "=")
        return f"{self.language} {test.name}\n{described}{state}\n\n{threads}\n{condition}"

    def statement(self, thread: int, ins: Instruction) -> str:
        """Return an instruction of a thread as C has it, on one line and without declarations."""
        own = {name: name for name in (*registers_read(ins), *registers_written(ins))}  # of predicates, too
        code = _Code(self, thread, own | self._names[thread], frozenset())
        match ins:
            case Branch(condition=Comparison() as condition):
                return f"if ({code.condition(condition, '')})"
            case Branch():
                return "the jump"
            case Label(name):
                rest = self._test.threads[thread].instructions
                below = rest[rest.index(ins) :] if ins in rest else ()
                back = any(isinstance(ins, Branch) and ins.label == name for ins in below)
                return "the loop" if back else "what follows the branch"
            case _:
                return " ".join(line.strip() for line in code.lines(ins, "")).removesuffix(";")

    # what OpenCL says differently

    def question(self, condition: Condition) -> Condition:
        """The condition as the dialect's readers take it."""
        return herd_condition(condition, self._known)

    def check_places(self, places: Sequence[Place]) -> None:
        """Raise ``InputError`` where the scope tree is not the one that a file of this dialect has."""
        if not same_tree(places, c_places(len(places))):
            raise InputError("C has no scope tree: expected each thread in a CTA of its own, all on one GPU")

    def header(self, place: Place) -> str:
        """What comes between a function's name and its parameters."""
        return ""

    def space(self, location: Location) -> str:
        """The address space in a parameter's type, with a blank after it."""
        if location.region is not Region.GLOBAL:
            raise InputError(f"{location.name}: C has no shared memory")
        return ""

    def scope(self, thread: int, ins: Instruction, scope: Scope | None) -> str:
        """Return the arguments that follow the memory order in a call."""
        if scope is None:
            raise cannot_say(thread, ins, "an atomic of C is of scope sys, and this one has none")
        if scope is not Scope.SYS:
            raise cannot_say(thread, ins, f"C has no scope {scope.label}, all its atomics are of scope sys")
        return ""

    def fence(self, thread: int, fence: Fence) -> str:
        """Return the call for a fence, whose memory order is legal."""
        for tag in fence.mode.tags:
            if tag not in self.tags:
                raise cannot_say(thread, fence, f"C has no word for {tag}")
        return f"atomic_thread_fence({order_word(fence.mode)}{self.scope(thread, fence, fence.mode.scope)})"

    def barrier(self, thread: int, barrier: Barrier) -> str:
        """Return the statement for a control barrier of the work-group."""
        raise cannot_say(thread, barrier, "C has no barriers")

    # the parts of a test

    def _initial(self) -> Iterator[str]:
        arrays: dict[str, list[str]] = {}
        for location in self._test.locations:
            arrays.setdefault(element_of(location.name)[0], []).append(self._content(location.initial))
        for name, values in arrays.items():
            yield f"{name} = {values[0]};" if len(values) == 1 else f"{name}[{len(values)}] = {{{', '.join(values)}}};"
        for index, thread in enumerate(self._test.threads):
            for name, value in thread.registers:
                yield f"{index}:{self._names[index][name]} = {self._content(value)};"

    def _valid(self, name: str) -> bool:
        return _IDENTIFIER.fullmatch(name) is not None and name not in self.reserved

    def _content(self, value: Operand) -> str:
        if isinstance(value, Loc) and element_of(value.name)[1]:
            raise InputError(f"{value.name}: {self.title} has no address of an element as an initial value here")
        return f"{self.address}{value.name}" if isinstance(value, Loc) else str(value)

    def _term(self, term: Term) -> str:
        known = self._known(term)
        if isinstance(known, FinalRegister):
            return f"{known.thread}:{self._names[known.thread][known.register]}"
        return spell(known)

    def _known(self, term: Term) -> Term:
        """The term, or 0 for a register that is nowhere written."""
        unwritten = isinstance(term, FinalRegister) and term.register not in self._names[term.thread]
        return 0 if unwritten else term

    def _spelled(self, registers: frozenset[str]) -> dict[str, str]:
        """A name for each register that is one in C and no location's."""
        taken = {location.name for location in self._test.locations}
        valid = {name for name in registers if self._valid(name) and name not in taken}
        taken |= valid
        fresh = (name for index in count() if (name := f"r{index}") not in taken)
        return {name: name if name in valid else next(fresh) for name in sorted(registers)}

    def labels(self, index: int) -> dict[str, str]:
        """A name for each label of a thread that is one in C."""
        labels = [ins.name for ins in self._test.threads[index].instructions if isinstance(ins, Label)]
        fresh = (name for n in count() if (name := f"L{n}") not in labels)
        return {name: name if self._valid(name) else next(fresh) for name in labels}

    def _thread(self, index: int) -> Iterator[str]:
        thread = self._test.threads[index]
        statements = self._statements(index, thread)
        parameters = [
            f"{self.space(location)}{'int' if location.name in self._plain else 'atomic_int'}* {location.name}"
            for location in self._test.locations
            if element_of(location.name)[1] == 0
            and (location.name in self._used[index] or (index == 0 and self._needs_mention(location)))
        ]
        yield f"P{index}{self.header(thread.place)} ({', '.join(parameters)}) {{\n"
        lines = tuple(_grouped(statements))
        inline = _declared_inline(lines, {name for name, _ in thread.registers})
        code = _Code(self, index, self._names[index], inline)
        for name in sorted(thread.names - inline, key=self._names[index].__getitem__):
            yield f"  {self.type_of(index, name)} {self._names[index][name]};\n"
        for line in lines:
            yield from code.lines(line, "  ")
        yield "}\n"

    def _statements(self, index: int, thread: Thread) -> tuple[Statement | Instruction, ...]:
        """The statements of a thread; where it branches in another shape than those of C, with jumps to labels."""
        try:
            return structured(index, thread)
        except InputError:
            if not self.jumps:
                raise
            return thread.instructions

    def type_of(self, thread: int, register: str) -> str:
        """The type of a register: a pointer where it is the address of an access."""
        accesses = (ins for ins in self._test.threads[thread].instructions if isinstance(ins, Load | Store | Rmw))
        orders = {ins.mode.order for ins in accesses if ins.address == Reg(register)}
        return "int" if not orders else "int*" if orders == {Order.WEAK} else "atomic_int*"

    def _needs_mention(self, location: Location) -> bool:
        """Whether only a parameter that nobody uses can tell the location's region, or that it is atomic."""
        needed = location.region is Region.SHARED or location.atomic is not None
        return needed and not any(location.name in used for used in self._used)


class _Code:
    """Prints the statements of one thread of a C-like test."""

    def __init__(self, writer: CWriter, thread: int, names: dict[str, str], inline: frozenset[str]) -> None:
        self._writer = writer
        self._thread = thread
        self._names = names
        self._undeclared = set(inline)
        self._labels = writer.labels(thread)

    def lines(self, statement: Line, indent: str) -> Iterator[str]:
        """A statement, or what an expression does, in lines."""
        match statement:
            case If(condition, then, otherwise):
                yield f"{indent}if ({self.condition(condition, '0')}) {{\n"
                yield from self._block(then, indent)
                if otherwise is not None:
                    yield f"{indent}}} else {{\n"
                    yield from self._block(otherwise, indent)
                yield f"{indent}}}\n"
            case While(evaluated, condition, body):
                parts = [part for line in _grouped(evaluated) for part in self._evaluations(line)]
                yield f"{indent}while ({', '.join([*parts, self.condition(condition, '1')])}) {{\n"
                yield from self._block(body, indent)
                yield f"{indent}}}\n"
            case DoWhile(body, condition):
                yield f"{indent}do {{\n"
                yield from self._block(body, indent)
                yield f"{indent}}} while ({self.condition(condition, '1')});\n"
            case Operands():
                yield "".join(f"{indent}{part};\n" for part in self._evaluations(statement))
            case Branch(label, condition):
                jump = f"goto {self._label(label)};"
                yield f"{indent}{jump if condition is None else f'if ({self.condition(condition, str())}) {jump}'}\n"
            case Label(name):
                yield f"{self._label(name)}: ;\n"
            case Barrier():
                yield f"{indent}{self._writer.barrier(self._thread, statement)};\n"
            case _:
                for expression in self._expressions(statement):
                    declared = ""
                    for target in self._undeclared.intersection(registers_written(statement)):
                        if expression.startswith(f"{self._names[target]} = "):
                            self._undeclared.remove(target)
                            declared = f"{self._writer.type_of(self._thread, target)} "
                    yield f"{indent}{declared}{expression};\n"

    def _label(self, name: str) -> str:
        """A label as C has it: its name, or its number among those of the thread whose names are none in C."""
        return self._labels[name]

    def _block(self, statements: Sequence[Statement], indent: str) -> Iterator[str]:
        for line in _grouped(statements):
            yield from self.lines(line, indent + "  ")

    def condition(self, condition: Comparison | None, literal: str) -> str:
        """A condition, or a literal where there is none."""
        if condition is None:
            return literal
        return f"{self._value(condition.left)} {_SIGNS[condition.operation]} {self._value(condition.right)}"

    def _evaluations(self, line: Line) -> Iterator[str]:
        """What is evaluated in an expression, one after the other."""
        match line:
            case Operands(left, right):
                sides = [", ".join(part for node in side for part in self._evaluations(node)) for side in (left, right)]
                yield f"({sides[0]}) + ({sides[1]})"
            case If() | While() | DoWhile() | Barrier():
                raise InputError(f"P{self._thread}: {self._writer.title} branches in no expression")
            case _:
                yield from self._expressions(line)

    def _expressions(self, ins: Instruction) -> Iterator[str]:
        """An instruction as expressions, one after the other."""
        match ins:
            case Load(target, address, mode):
                read = self._pointee(ins, address)
                if self._is_atomic(ins, mode):
                    read = f"atomic_load_explicit({self._address(ins, address)}, {self._order(ins, mode)})"
                yield f"{self._names[target]} = {read}"
            case Store(address, value, mode):
                if self._is_atomic(ins, mode):
                    arguments = f"{self._address(ins, address)}, {self._value(value)}, {self._order(ins, mode)}"
                    yield f"atomic_store_explicit({arguments})"
                else:
                    yield f"{self._pointee(ins, address)} = {self._value(value)}"
            case Rmw(operation, target, address, values, mode):
                if not self._is_atomic(ins, mode):
                    raise cannot_say(self._thread, ins, f"{self._writer.title} has no exchange that is not atomic")
                if operation == "cas":
                    yield from self._compare_exchange(ins)
                    return
                if operation != "exch" and operation not in FETCHED:
                    raise cannot_say(self._thread, ins, f"there is no atomic_fetch_{operation}")
                name = "exchange" if operation == "exch" else f"fetch_{operation}"
                arguments = f"{self._address(ins, address)}, {self._value(values[0])}, {self._order(ins, mode)}"
                kept = "" if target is None else f"{self._names[target]} = "
                yield f"{kept}atomic_{name}_explicit({arguments})"
            case Fence(mode):
                self._check(ins, mode)
                if mode.order is Order.WEAK:
                    raise cannot_say(self._thread, ins, f"{self._writer.title} has no such fence")
                yield self._writer.fence(self._thread, ins)
            case Assign(target, operation, values):
                yield f"{self._names[target]} = {self._computed(operation, [self._value(value) for value in values])}"
            case _:
                raise cannot_say(self._thread, ins, f"{self._writer.title} has no such instruction")

    def _compare_exchange(self, ins: Rmw) -> Iterator[str]:
        expected, new = ins.operands
        address, value = self._address(ins, ins.address), self._value(new)
        if ins.target is None:
            pointer = f"&(int){{{self._value(expected)}}}"
        else:
            name = self._names[ins.target]
            pointer = f"&{name}"
            clash = Reg(ins.target) in (ins.address, new)
            if clash and expected != Reg(ins.target):
                reason = "its result is the variable of the expected value, which it also uses"
                raise cannot_say(self._thread, ins, f"{self._writer.title} cannot say this exchange, {reason}")
            if not clash:
                yield f"{name} = {self._value(expected)}"
        failure = ORDER_WORDS[failure_order(ins)]
        scope = self._writer.scope(self._thread, ins, ins.mode.scope)
        success = order_word(ins.mode)
        kept = "" if ins.success is None else f"{self._names[ins.success]} = "
        name = f"atomic_compare_exchange_{'strong' if ins.success is None else 'weak'}_explicit"
        yield f"{kept}{name}({address}, {pointer}, {value}, {success}, {failure}{scope})"

    def _computed(self, operation: str, values: Sequence[str]) -> str:
        if operation == "mov":
            return values[0]
        if operation in ("min", "max"):
            return f"{operation}({', '.join(values)})"
        return f" {_SIGNS[operation]} ".join(values)

    def _is_atomic(self, ins: Instruction, mode: Mode) -> bool:
        """Whether an access is atomic, having checked that the dialect can say it."""
        self._check(ins, mode)
        language = self._writer.title
        for tag in mode.tags:
            if tag not in self._writer.tags:
                raise cannot_say(self._thread, ins, f"{language} has no word for {tag}")
        if mode.order is not Order.WEAK:
            if mode.order not in LEGAL_ORDERS[type(ins)]:
                raise cannot_say(self._thread, ins, f"{ORDER_WORDS[mode.order]} is not legal here")
            return True
        if mode.scope is not None:
            raise cannot_say(self._thread, ins, f"{language} has no scopes at accesses that are not atomic")
        return False

    def _check(self, ins: Instruction, mode: Mode) -> None:
        language = self._writer.title
        if mode.volatile:
            raise cannot_say(self._thread, ins, f"in {language}, volatile does not order threads")
        if mode.cache is not None:
            raise cannot_say(self._thread, ins, f"{language} has no cache operators")

    def _order(self, ins: Instruction, mode: Mode) -> str:
        return order_word(mode) + self._writer.scope(self._thread, ins, mode.scope)

    def _address(self, ins: Instruction, address: Operand) -> str:
        if isinstance(address, int):
            raise cannot_say(self._thread, ins, f"{self._writer.title} has no access at an address that is a number")
        return self._value(address)

    def _pointee(self, ins: Instruction, address: Operand) -> str:
        place = self._address(ins, address)
        return f"*({place})" if " " in place else f"*{place}"

    def _value(self, operand: Operand) -> str:
        if isinstance(operand, int):
            return str(operand)
        if isinstance(operand, Reg):
            return self._names[operand.name]
        array, index = element_of(operand.name)
        return f"{array} + {index}" if index else array


def same_tree(places: Sequence[Place], others: Sequence[Place]) -> bool:
    """Decide whether two lists of places describe one scope tree, however its groups are numbered."""
    pairs = list(zip(places, others, strict=True))
    return all(
        place.shares(second, scope) == other.shares(fourth, scope)
        for index, (place, other) in enumerate(pairs)
        for second, fourth in pairs[:index]
        for scope in Scope
    )


def _declared_inline(statements: Sequence[Line], initial: set[str]) -> frozenset[str]:
    """The registers whose first mention writes them, at the top of the function's blocks."""
    seen, inline = set(initial), set()
    for statement in statements:
        if isinstance(statement, If | While | DoWhile | Operands):
            seen |= set(_mentioned(statement))
        else:
            seen |= set(registers_read(statement))
            inline.update(set(registers_written(statement)) - seen)
            seen.update(registers_written(statement))
    return frozenset(inline)


def _mentioned(statement: Line) -> Iterator[str]:
    """Return the names of the registers that a statement mentions."""
    inner: Sequence[Line] = ()
    condition: Comparison | None = None
    match statement:
        case If(condition, then, otherwise):
            inner = then + (otherwise or ())
        case While(evaluated, condition, body):
            inner = evaluated + body
        case DoWhile(body, condition):
            inner = body
        case Operands(left, right):
            inner = left + right
        case _:
            yield from (*registers_read(statement), *registers_written(statement))
    if condition is not None:
        yield from (side.name for side in (condition.left, condition.right) if isinstance(side, Reg))
    for part in inner:
        yield from _mentioned(part)
