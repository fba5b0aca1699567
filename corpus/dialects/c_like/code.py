"""Reads the C code of a thread, the body of a function ``P0 (..) { .. }``, as neutral instructions.

The language is what herd and Dartagnan read of C, with C's expressions and ``do``. What C leaves to judgement is read
so:

- ``*x`` is a non-atomic access whatever the type of ``x``, as in herd; ``volatile`` is not kept.
- Atomics without ``_explicit`` are ``memory_order_seq_cst``. C11's legal orders (Lustig et al. 2019, Fig. 10a) are
  checked; ``memory_order_consume`` is acquire, and kept as it is written but where an exchange fails.
- ``atomic_compare_exchange_strong(x, &r, new)`` compares with the variable ``r`` and leaves the old value there, which
  is what C does: on success the two are equal. An assignment to ``r`` right before it is taken as the expected value,
  so that ``int r = 0;`` and the exchange are one instruction. ``&(int){0}`` is an expected value that nobody looks at
  afterwards. A location as the expected pointer is read, and written on failure, by non-atomic accesses, as in herd.
- An exchange that fails is a read of its failure order. A weak one may do so whatever it reads (C11 7.17.7.4p4).
- Operands of an operator, of an assignment, and arguments of a call are not sequenced (C11 6.5p2, 6.5.16p3 and
  6.5.2.2p10). A call is in no order with the other operand, either: that its body as a whole comes before or after is
  not kept, which may allow more.
- ``&&`` and ``||`` branch where what is on their right accesses memory or assigns; elsewhere they compute with truth
  values. ``? :`` branches.
- An array's element is a location where the index is known; an index that is computed is added to the address.

Gaps: structures, mutexes, ``switch``, shifts and herd's annotations (``__store{..}``) are not read; what is read of C
beyond litmus tests is ``corpus.code.c``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count
from typing import NamedTuple, TypeVar

from corpus.errors import InputError, did_you_mean
from corpus.lalr import Token, Tree
from corpus.laws.c11 import CONSUME, CONSUME_WORD, LEGAL_ORDERS, ORDERS, explicit_failure
from corpus.laws.opencl import FETCHED
from corpus.litmus.control_flow import negated
from corpus.litmus.instructions import (
    Assign,
    Branch,
    Comparison,
    Fence,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
    sequenced,
)
from corpus.litmus.locations import Loc, Operand, Reg, element, element_of
from corpus.litmus.orders import Mode, Order, Scope
from corpus.syntax import parse, subtrees, wrapped

_ATOMIC = re.compile(r"atomic_(load|store|exchange|compare_exchange_(?:strong|weak)|fetch_[a-z]+)(_explicit)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_SHORT = {"SCAS": "atomic_compare_exchange_strong", "WCAS": "atomic_compare_exchange_weak"}  # as herd has them
_OPERANDS = {"load": 1, "store": 2, "exchange": 2, "compare_exchange_strong": 3, "compare_exchange_weak": 3}
_FUNCTIONS = (
    *("min", "max", "atomic_thread_fence"),
    *(f"atomic_{name}" for name in _OPERANDS),
    *(f"atomic_{name}_explicit" for name in _OPERANDS),
    *(f"atomic_fetch_{name}" for name in FETCHED),
)
_FOREIGN = {
    "of another width than 32 bits": r"(__)?u?int(8|16|64|128)(_t)?|char|short|long",
    "a mutex's, for which it would take events of locks and their order; atomic_exchange in a loop takes a lock here": (
        r"(mtx_)?(try|un)?lock|mtx_t|mutex"
    ),
    "the Linux kernel's, for which it would take its memory model": (
        r"(READ|WRITE)_ONCE|smp_\w+|s?rcu_\w+|srcu_struct|synchronize_s?rcu\w*|spin(lock)?_\w+|(cmp)?xchg\w*|atomic_t"
        r"|atomic_(read|set|add|sub|inc|dec|and|or|xchg|cmpxchg)(_\w+)?|__\w+"
    ),
}
_COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}

_CHANGES = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "rem.s32", "&": "and", "|": "or", "^": "xor"}
_OPERATORS = ("add", "sub", "mul", "div", "rem", "and", "or", "xor", "compare")

_T = TypeVar("_T")

_GRAMMAR = "corpus.dialects.c_like.c"

_TERMINALS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "THREAD": "P0, P1, ..",
    "BASE": "a type",
    "QUALIFIER": "const or volatile",
    "SPACE": "an address space",
    "POINTER": "*",
    "LOGICAL_OR": "||",
    "LOGICAL_AND": "&&",
    "EQUALITY": "==",
    "RELATION": "<",
    "IF": "if",
    "ELSE": "else",
    "WHILE": "while",
    "DO": "do",
    "FOR": "for",
    "BREAK": "break",
    "CONTINUE": "continue",
    "RETURN": "return",
    "GOTO": "goto",
    "CHANGE": "+=",
    "STEP": "++",
    "PERCENT": "%",
    "QMARK": "?",
    "CIRCUMFLEX": "^",
    "SLASH": "/",
    "$END": "the end of the section",
}


_EFFECTS = ("call", "pointee", "element", "assign", "change", "step", "stepped", "choice")
"""Expressions that access memory, assign or branch."""


@dataclass(slots=True)
class _Exit:
    """Where statements leave for: its label, empty as long as none does."""

    label: str = ""


class _Loop(NamedTuple):
    """Where ``continue`` and ``break`` of a loop leave for."""

    again: _Exit
    end: _Exit


class CCode:
    """The reader of one thread's code, which lowers the syntax tree of a function to instructions."""

    scoped = False  # whether atomics take a scope after their order

    def __init__(
        self,
        error: Callable[[str, Token | Tree], InputError],
        path: str | None,
        function: Tree,
        registers: Mapping[str, Operand],
        locations: Container[str],
    ) -> None:
        self.error = error
        self._path = path
        self._block = subtrees(function)[-1]
        self._registers = registers
        self._locations = locations
        self._parameters = {
            str(token(parameter)) for parameter in subtrees(function, "parameter") if token(parameter) not in registers
        }
        self._mentioned = {str(token) for token in function.tokens()}
        self._mentioned |= set(registers)
        self._declared: list[set[str]] = []
        self._labels = 0
        self._placed: set[str] = set()
        self._jumps: list[Token] = []
        self._loops: list[_Loop] = []
        self._end = _Exit()
        self._operators = 0
        self._sides: tuple[int, ...] = ()
        self._out: list[Instruction] = []

    @classmethod
    @lru_cache(maxsize=1 << 12)
    def known(
        cls, function: str, registers: tuple[tuple[str, Operand], ...], locations: frozenset[str]
    ) -> tuple[Instruction, ...]:
        """Return the instructions of a function's text. Raises ``InputError``, without its place."""
        return cls(_nowhere, None, known_function(function), dict(registers), locations).instructions()

    def instructions(self) -> tuple[Instruction, ...]:
        """Return the instructions of the thread, in program order."""
        self._statement(self._block)
        self._leave(self._end)
        for label in self._jumps:
            if label not in self._placed:
                raise self.error(f"there is no label {label} here", label)
        return sequenced(self._out)

    def emit(self, ins: Instruction) -> None:
        """Add an instruction to the thread; it belongs to the operand that is being evaluated."""
        if self._sides and isinstance(ins, Load | Store | Rmw | Fence):
            ins = replace(ins, sides=self._sides)
        self._out.append(ins)

    def apart(self, *evaluations: Callable[[], _T]) -> list[_T]:
        """Evaluate operands that are not sequenced: the operands of an operator, or the arguments of a call."""
        outer, first = self._sides, self._operators
        self._operators += len(evaluations) - 1
        values = []
        for place, evaluate in enumerate(evaluations):
            # a, b, c are the operands of two operators, (a, b), c
            left = tuple(first + later for later in range(len(evaluations) - 1, place, -1))
            self._sides = (*outer, *left, *([-(first + place)] if place else []))
            values.append(evaluate())
        self._sides = outer
        return values

    def values(self, trees: Sequence[Tree]) -> list[Operand]:
        """Return the values of operands that are not sequenced."""
        return self.apart(*(partial(self.value, tree) for tree in trees))

    # statements

    def _statement(self, tree: Tree) -> None:
        parts = subtrees(tree)
        match tree.data:
            case "block":
                self._declared.append(set())
                for part in parts:
                    self._statement(part)
                self._declared.pop()
            case "effect":
                self._effect(parts[0])
            case "labelled":
                self.labelled(token(tree), parts[0] if parts else None)
            case "declaration":
                for declarator in parts[1:]:
                    self._declaration(declarator)
            case "branch":
                self._if(*parts)
            case "loop":
                head, end = self._label(), self._label()
                self.emit(Label(head))
                self._unless(self._condition(parts[0]), end)
                self._body(parts[1], _Loop(_Exit(head), _Exit(end)))
                self.emit(Branch(head))
                self.emit(Label(end))
            case "repeat":
                head, loop = self._label(), _Loop(_Exit(), _Exit())
                self.emit(Label(head))
                self._body(parts[0], loop)
                self._leave(loop.again)
                condition = self._condition(parts[1])
                if condition is not False:
                    self.emit(Branch(head, None if condition is True else condition))
                self._leave(loop.end)
            case "count":
                self._count(*parts)
            case "break" | "continue":
                if not self._loops:
                    raise self.error(f"expected a loop around {tree.data}", tree)
                loop = self._loops[-1]
                self._exit(loop.end if tree.data == "break" else loop.again)
            case "return":
                if parts:
                    self._effect(parts[0])
                self._exit(self._end)
            case "goto":
                self._jumps.append(token(tree))
                self.emit(Branch(str(token(tree))))

    def _body(self, tree: Tree, loop: _Loop) -> None:
        """Read the body of a loop, in which break and continue lead to labels of that loop."""
        self._loops.append(loop)
        self._statement(tree)
        self._loops.pop()

    def _count(self, first: Tree, until: Tree, following: Tree, body: Tree) -> None:
        """Read a ``for``, whose variables are those of a block of their own."""
        self._declared.append(set())
        parts = subtrees(first)
        if parts and parts[0].data == "type":
            for declarator in parts[1:]:
                self._declaration(declarator)
        elif parts:
            self._effect(parts[0])
        head, loop = self._label(), _Loop(_Exit(), _Exit(self._label()))
        self.emit(Label(head))
        for condition in subtrees(until):
            self._unless(self._condition(condition), loop.end.label)
        self._body(body, loop)
        self._leave(loop.again)
        for effect in subtrees(following):
            self._effect(effect)
        self.emit(Branch(head))
        self.emit(Label(loop.end.label))
        self._declared.pop()

    def _exit(self, place: _Exit) -> None:
        """Jump to where statements leave for, which gets a label then."""
        place.label = place.label or self._label()
        self.emit(Branch(place.label))

    def _leave(self, place: _Exit) -> None:
        """Put the label of where statements leave for, if any does."""
        if place.label:
            self.emit(Label(place.label))

    def _declaration(self, declarator: Tree) -> None:
        name = token(declarator)
        if name in self._parameters or any(name in block for block in self._declared):
            raise self.error(f"{name} is declared twice", name)
        self._declared[-1].add(str(name))
        for value in subtrees(declarator):
            self._into(str(name), value)

    def _if(self, condition: Tree, then: Tree, otherwise: Tree | None = None) -> None:
        if then.data == "goto" and otherwise is None:
            holds = self._condition(condition)
            self._jumps.append(token(then))
            if holds is not False:
                self.emit(Branch(str(token(then)), None if holds is True else holds))
            return
        target, end = self._label(), self._label()
        self._unless(self._condition(condition), target)
        self._statement(then)
        if otherwise is not None:
            self.emit(Branch(end))
        self.emit(Label(target))
        if otherwise is not None:
            self._statement(otherwise)
            self.emit(Label(end))

    def labelled(self, label: Token, statement: Tree | None) -> None:
        """Read a statement with a label; in OpenCL it may be the number of a barrier."""
        if label in self._placed:
            raise self.error(f"the label {label} is there twice", label)
        self._placed.add(str(label))
        self.emit(Label(str(label)))
        if statement is not None:
            self._statement(statement)

    def _unless(self, condition: Comparison | bool, label: str) -> None:
        if condition is not True:
            self.emit(Branch(label, None if condition is False else negated(condition)))

    def _condition(self, tree: Tree) -> Comparison | bool:
        """An expression whose truth matters; a literal is known."""
        parts = subtrees(tree)
        match tree.data:
            case "number":
                return wrapped(token(tree), self._path) != 0
            case "bracketed":
                return self._condition(parts[0])
            case "comma":
                self._effect(parts[0])
                return self._condition(parts[1])
            case "not":
                condition = self._condition(parts[0])
                return not condition if isinstance(condition, bool) else negated(condition)
            case "compare":
                left, right = self.values(parts)
                return Comparison(_COMPARISONS[token(tree)], left, right)
        return Comparison("ne", self.value(tree), 0)

    # expressions

    def _effect(self, tree: Tree) -> None:
        """Evaluate an expression whose value is not used."""
        match tree.data:
            case "call":
                self._call(tree, None)
            case "comma":
                for part in subtrees(tree):
                    self._effect(part)
            case "bracketed" | "cast":
                self._effect(subtrees(tree)[-1])
            case kind if kind in _OPERATORS:
                self.apart(*(partial(self._effect, part) for part in subtrees(tree)))
            case _:
                self.value(tree)

    def value(self, tree: Tree) -> Operand:
        """Evaluate an expression and return its value as an operand."""
        parts = subtrees(tree)
        match tree.data:
            case "name":
                return self._named(token(tree))
            case "number":
                return wrapped(token(tree), self._path)
            case "negative" if parts[0].data == "number":
                digits = token(parts[0])
                return wrapped(digits.with_word(f"-{digits}"), self._path)
            case "bracketed" | "cast":
                return self.value(parts[-1])
            case "comma":
                self._effect(parts[0])
                return self.value(parts[1])
            case "assign":
                return self._assign(*parts)
            case "change":
                return self._change(parts[0], token(tree)[0], parts[1])
            case "step":
                return self._change(parts[0], token(tree)[0], None)
            case "address" if parts[0].data in ("pointee", "element"):
                return self._address(parts[0])
            case "add" if parts[0].data == "name" and token(parts[0]) in self._parameters:
                return self._added(*parts)
        target = self.fresh()
        self._into(target, tree)
        return Reg(target)

    def _into(self, target: str, tree: Tree) -> None:
        """Emit the instructions that evaluate an expression into a register."""
        parts = subtrees(tree)
        match tree.data:
            case "add" | "sub" | "mul" | "div" | "and" | "or" | "xor":
                left, right = self.values(parts)
                self.emit(Assign(target, tree.data, (left, right)))
            case "rem":
                left, right = self.values(parts)
                self.emit(Assign(target, _CHANGES["%"], (left, right)))
            case "compare":
                left, right = self.values(parts)
                self.emit(Assign(target, _COMPARISONS[token(tree)], (left, right)))
            case "logical" if any(part.data in _EFFECTS for part in parts[1].trees()):
                end = self._label()
                self.emit(Assign(target, "ne", (self.value(parts[0]), 0)))
                known = Comparison("eq" if token(tree) == "&&" else "ne", Reg(target), 0)
                self.emit(Branch(end, known))
                self.emit(Assign(target, "ne", (self.value(parts[1]), 0)))
                self.emit(Label(end))
            case "choice":
                otherwise, end = self._label(), self._label()
                self._unless(self._condition(parts[0]), otherwise)
                self._into(target, parts[1])
                self.emit(Branch(end))
                self.emit(Label(otherwise))
                self._into(target, parts[2])
                self.emit(Label(end))
            case "stepped":
                self._change(parts[0], token(tree)[0], None, target)
            case "logical":
                left, right = map(self._truth, parts)  # in order
                self.emit(Assign(target, "and" if token(tree) == "&&" else "or", (left, right)))
            case "not":
                self.emit(Assign(target, "eq", (self.value(parts[0]), 0)))
            case "complement":
                self.emit(Assign(target, "xor", (self.value(parts[0]), -1)))
            case "negative" if parts[0].data != "number":
                self.emit(Assign(target, "sub", (0, self.value(parts[0]))))
            case "pointee" | "element":
                self.emit(Load(target, self._address(tree)))
            case "bracketed" | "cast":
                self._into(target, parts[-1])
            case "comma":
                self._effect(parts[0])
                self._into(target, parts[1])
            case "call":
                if not self._call(tree, target):
                    raise self.error(f"{token(tree)} has no value", tree)
            case "address" | "literal":
                raise self.error("only a compare-exchange takes the address of a variable", tree)
            case _:
                self.emit(Assign(target, "mov", (self.value(tree),)))

    def _truth(self, tree: Tree) -> Operand:
        """The value of an expression as 0 or 1."""
        if tree.data == "bracketed":
            return self._truth(subtrees(tree)[0])
        value = self.value(tree)
        if tree.data in ("compare", "logical", "not"):
            return value
        target = self.fresh()
        self.emit(Assign(target, "ne", (value, 0)))
        return Reg(target)

    def _assign(self, left: Tree, right: Tree) -> Operand:
        if left.data in ("pointee", "element"):
            value, address = self.apart(partial(self.value, right), partial(self._address, left))
            self.emit(Store(address, value))
            return value
        if left.data != "name":
            raise self.error("expected a variable or *location before =", left)
        name = self._variable(token(left))
        self._into(name, right)
        return Reg(name)

    def _change(self, left: Tree, sign: str, by: Tree | None, before: str | None = None) -> Operand:
        """Read ``left += by`` and the like, by 1 where there is no ``by``, and return the value; ``before`` gets what
        there was.
        """
        operation = _CHANGES[sign]
        while left.data == "bracketed":
            (left,) = subtrees(left)
        if left.data in ("pointee", "element"):
            value, address = self.apart(partial(self._by, by), partial(self._address, left))
            old, new = before or self.fresh(), self.fresh()
            self.emit(Load(old, address))
            self.emit(Assign(new, operation, (Reg(old), value)))
            self.emit(Store(address, Reg(new)))
            return Reg(new)
        if left.data != "name":
            raise self.error("expected a variable or *location here", left)
        value, name = self._by(by), self._variable(token(left))
        if before is not None:
            self.emit(Assign(before, "mov", (Reg(name),)))
        self.emit(Assign(name, operation, (Reg(name), value)))
        return Reg(name)

    def _by(self, tree: Tree | None) -> Operand:
        return 1 if tree is None else self.value(tree)

    def _address(self, tree: Tree) -> Operand:
        """Return the address that ``*p`` or ``p[i]`` denotes."""
        place, *index = subtrees(tree)
        if not index:
            return self.value(place)
        return self._added(place, index[0])

    def _added(self, place: Tree, index: Tree) -> Operand:
        """A pointer so many elements on; the element itself where array and index are known."""
        base, offset = self.values([place, index])
        if isinstance(base, Loc) and isinstance(offset, int):
            array, first = element_of(base.name)
            name = element(array, first + offset) if first + offset >= 0 else ""
            if name not in self._locations:
                raise self.error(f"expected an element of {array}, found {array}[{first + offset}]", index)
            return Loc(name)
        target = self.fresh()
        self.emit(Assign(target, "add", (base, offset)))
        return Reg(target)

    def _named(self, name: Token) -> Operand:
        return Loc(str(name)) if name in self._parameters else Reg(self._variable(name))

    def _variable(self, name: Token) -> str:
        if name in self._parameters:
            raise self.error(f"{name} is a location; expected *{name} or a variable", name)
        if name not in self._registers and not any(name in block for block in self._declared):
            raise self.error(f"{name} is not declared here", name)
        return str(name)

    # calls

    def _call(self, tree: Tree, target: str | None) -> bool:
        """A call, its value put into ``target``; whether it has one."""
        name, arguments = token(tree), subtrees(tree)
        if name in ("min", "max"):
            self.check_count(name, arguments, 2, 2)
            self.emit(Assign(target or self.fresh(), str(name), tuple(self.values(arguments))))
            return True
        atomic = _ATOMIC.fullmatch(_SHORT.get(name, name))
        if not atomic or (atomic[1].startswith("fetch_") and atomic[1][6:] not in FETCHED):
            return self.other_call(name, arguments, target)
        what, explicit = atomic[1], atomic[2] is not None
        operands = _OPERANDS.get(what, 2)
        orders = (2 if operands == 3 else 1) if explicit else 0
        self.check_count(name, arguments, operands + orders, operands + orders + (explicit and self.scoped))
        given, ordered, scope = arguments[:operands], arguments[operands:][:orders], arguments[operands + orders :]
        kind = {"load": Load, "store": Store}.get(what, Rmw)
        mode = self.mode(ordered[0], kind, self.scope(scope)) if explicit else Mode(Order.SC, self.scope(scope))
        if what.startswith("compare_exchange"):
            failure = self.order(ordered[1], Load) if explicit else None
            failing = explicit_failure(mode.order, failure)
            self._compare_exchange(given, mode, failing, target, what.endswith("weak"))
            return True
        if what == "load":
            self.emit(Load(target or self.fresh(), self.value(given[0]), mode))
            return True
        address, value = self.values(given)
        if what == "store":
            self.emit(Store(address, value, mode))
            return False
        self.emit(Rmw("exch" if what == "exchange" else what[6:], target, address, (value,), mode))
        return True

    def _compare_exchange(
        self, given: Sequence[Tree], mode: Mode, failure: Order | None, success: str | None, weak: bool
    ) -> None:
        (address, value), pointer = self.values([given[0], given[2]]), given[1]
        written = (success or self.fresh()) if weak else None
        success = None if weak else success
        old: str | None
        inner = subtrees(pointer)[0] if pointer.data == "address" else None
        if inner is None:
            place = self.value(pointer)
            old, expected = self.fresh(), Reg(self.fresh())
            self.emit(Load(expected.name, place))
            self.emit(Rmw("cas", old, address, (expected, value), mode, failure=failure, success=written))
            end = self._label()
            done = Comparison("eq", Reg(old), expected) if written is None else Comparison("ne", Reg(written), 0)
            self.emit(Branch(end, done))
            self.emit(Store(place, Reg(old)))
            self.emit(Label(end))
            compared: Operand = expected
        elif inner.data == "literal":
            compared = self.value(subtrees(inner)[1])
            old = None if success is None else self.fresh()
            self.emit(Rmw("cas", old, address, (compared, value), mode, failure=failure, success=written))
        elif inner.data == "name":
            old = self._variable(token(inner))
            compared = Reg(old)
            last = self._out[-1] if self._out else None
            if isinstance(last, Assign) and last.target == old and last.operation == "mov":
                if compared not in (address, value):
                    self._out.pop()
                    (compared,) = last.operands
            elif success is not None:
                compared = Reg(self.fresh())
                self.emit(Assign(compared.name, "mov", (Reg(old),)))
            self.emit(Rmw("cas", old, address, (compared, value), mode, failure=failure, success=written))
        else:
            raise self.error("expected the address of a variable", pointer)
        if success is not None:
            assert old is not None
            self.emit(Assign(success, "eq", (Reg(old), compared)))

    def other_call(self, name: Token, arguments: Sequence[Tree], target: str | None) -> bool:
        """Read a call of a function that is no atomic access, and return whether it has a value."""
        if name != "atomic_thread_fence":
            whose = _whose(name)
            hint = f"it is {whose}" if whose else did_you_mean(name, _FUNCTIONS)
            raise self.error(f"{name} is no function of this dialect{hint and f'; {hint}'}", name)
        self.check_count(name, arguments, 1, 1)
        self.emit(Fence(self.mode(arguments[0], Fence, Scope.SYS)))
        return False

    def check_count(self, name: Token, arguments: Sequence[Tree], least: int, most: int) -> None:
        """Raise ``InputError`` where a call has more or fewer arguments than its function."""
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} or {most}"
            raise self.error(f"expected {wanted} arguments of {name}, found {len(arguments)}", name)

    def mode(self, tree: Tree, kind: type[Instruction], scope: Scope | None) -> Mode:
        """Return the mode of an instruction of a kind, with its order and scope."""
        order = self.order(tree, kind)
        return Mode(order, scope, tags=(CONSUME,) if token(tree) == CONSUME_WORD else ())

    def order(self, tree: Tree, kind: type[Instruction]) -> Order:
        """Return the order of an instruction of a kind."""
        if not self.scoped and kind is not Store and tree.data == "name" and token(tree) == CONSUME_WORD:
            return Order.ACQUIRE
        legal = [word for word, order in ORDERS.items() if order in LEGAL_ORDERS[kind]]
        if tree.data != "name" or token(tree) not in legal:
            raise self.error(f"expected {' or '.join(legal)}", tree)
        return ORDERS[token(tree)]

    def scope(self, arguments: Sequence[Tree]) -> Scope | None:
        """Return the scope of an access, which its argument says if it has one; None is the scope of the thread
        itself.
        """
        return Scope.SYS

    def fresh(self) -> str:
        """Return a new register, which the code does not mention."""
        name = next(name for index in count() if (name := f"t{index}") not in self._mentioned)
        self._mentioned.add(name)
        return name

    def _label(self) -> str:
        while True:
            self._labels += 1
            if (name := f"LC{self._labels - 1}") not in self._mentioned:
                return name


@lru_cache(maxsize=1 << 10)  # the tests of a suite have functions in common
def known_function(text: str) -> Tree:
    """Return the syntax tree of one function. Raises ``InputError`` where the text is not exactly one function, or is
    wrong.
    """
    functions = subtrees(parsed("threads", text, None))
    if len(functions) != 1:
        raise InputError(f"expected one function, found {len(functions)}")
    return functions[0]


def _nowhere(message: str, place: Token | Tree) -> InputError:
    return InputError(message)


def parsed(start: str, text: str, path: str | None) -> Tree:
    """Return the syntax tree of an initial state (``state``) or of functions (``threads``). Raises ``InputError`` with
    its place.
    """
    try:
        return parse(_GRAMMAR, start, text, path, _TERMINALS)
    except InputError as error:
        lines, place = text.splitlines(), (error.column or 1) - 1
        line = lines[error.line - 1] if error.line and error.line <= len(lines) else ""
        around = [*_WORD.findall(line[:place])[-1:], *_WORD.findall(line[place:])[:1]]
        hint = next((f"; {word} is {whose}" for word in around if (whose := _whose(word))), "")
        raise replace(error, message=error.message + hint) from None


def _whose(name: str) -> str:
    """What a name is that C's programs know and these tests do not, and what it would take."""
    return next((what for what, pattern in _FOREIGN.items() if re.fullmatch(pattern, name)), "")


def token(tree: Tree) -> Token:
    """Return the first child of a tree that is a token."""
    return next(child for child in tree.children if isinstance(child, Token))
