"""What a .cat model says: its syntax tree walked over a relation algebra.

One walk serves both algebras (``oracle.cat.algebra``): with sets of candidates as truths it judges them, with literals
it becomes clauses. Names are those of ``oracle.executions.events``; besides, these functions are there from the start:

- ``domain(r)``, ``range(r)``: the events that a relation leads from, and to;
- ``fencerel(S)``: ``po; [S]; po``;
- ``RR(r) RW(r) RM(r) WR(r) ..``: the pairs of ``r`` from and to reads, writes or either (``M``), as in herd7.

A recursive definition is the least fixpoint, reached from nothing; it must not use its own name under ``~`` or to the
right of ``\\``, for there the least fixpoint need not exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Generic, cast

from corpus.errors import InputError
from oracle.cat.algebra import Relation, Set, T, bits
from oracle.cat.syntax import Binding, Call, Check, Constant, Definition, Name, Operation, Place, Syntax, Term, read_cat
from oracle.executions.events import RELATIONS, SETS, Base, Choices


class _Nothing:
    """``0``: empty, whatever it is to be."""


NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class _Function(Generic[T]):
    binding: Binding
    names: Mapping[str, Meaning[T]]


Meaning = Relation[T] | Set[T] | _Function[T] | _Nothing


@dataclass(frozen=True, slots=True)
class Result(Generic[T]):
    """How true a check is: for a flag that it is raised, else that an execution passes; ``value``: what was checked."""

    check: Check
    truth: T
    value: Relation[T] | Set[T]


@dataclass(frozen=True)
class Model:
    """A consistency model that every name and type has been checked of."""

    name: str
    syntax: Syntax

    @property
    def partial_co(self) -> bool:
        """Whether writes to a location may stay unordered."""
        return self.syntax.partial_co

    def mentions(self, name: str) -> bool:
        """Whether the model uses a base name."""
        return name in self._mentioned

    @cached_property
    def _mentioned(self) -> frozenset[str]:
        bodies = (
            body
            for statement in self.syntax.statements
            for body in ([statement.body] if isinstance(statement, Check) else [b.body for b in statement.bindings])
        )
        return frozenset[str]().union(*map(_names_in, bodies))

    def judge(self, base: Base[T]) -> list[Result[T]]:
        """The result of every check, in the order of the file."""
        return _Interpreter(base).run(self.syntax)

    def relations(self, base: Base[T]) -> Mapping[str, Meaning[T]]:
        """Every name that the model defines, for explanations."""
        interpreter = _Interpreter(base)
        interpreter.run(self.syntax)
        return interpreter.names


def load_model(path: str, name: str = "") -> Model:
    """The model in a .cat file, called ``name`` or by the file's stem.

    Raises ``InputError`` with line and column where a name is unknown, a set stands where a relation is due or the
    other way round, a recursion is not monotone, or a file cannot be read.
    """
    model = Model(name or Path(path).stem, read_cat(path))
    _check_functions(model.syntax)
    nothing = bits(1, 0)
    model.judge(Base(nothing, (), (), Choices((), (), ())))
    return model


def _check_functions(syntax: Syntax) -> None:
    """Raises where a function mentions an unknown name; whatever else is wrong with it shows when it is applied."""
    known = {*SETS, *RELATIONS}
    for statement in syntax.statements:
        for binding in statement.bindings if isinstance(statement, Definition) else ():
            for term in _subterms(binding.body):
                if isinstance(term, Name) and binding.parameters and term.name not in known.union(binding.parameters):
                    raise _unknown(term.name, term.place, sorted(known.union(binding.parameters)))
            known.add(binding.name)


class _Interpreter(Generic[T]):
    def __init__(self, base: Base[T]) -> None:
        self._base = base
        self._algebra = base.algebra
        self.names: Mapping[str, Meaning[T]] = {}

    def run(self, syntax: Syntax) -> list[Result[T]]:
        results = []
        for statement in syntax.statements:
            if isinstance(statement, Check):
                results.append(self._check(statement))
            elif statement.recursive:
                self.names = self._fixpoint(statement)
            else:
                (binding,) = statement.bindings
                self.names = {**self.names, binding.name: self._bound(binding)}
        return results

    def _bound(self, binding: Binding) -> Meaning[T]:
        if binding.parameters:
            return _Function(binding, self.names)
        return self._named(binding.name, self._eval(binding.body, self.names))

    def _named(self, name: str, value: Meaning[T]) -> Meaning[T]:
        return self._algebra.named(name, value) if isinstance(value, tuple) else value

    def _check(self, check: Check) -> Result[T]:
        algebra = self._algebra
        meaning = self._eval(check.body, self.names)
        value: Relation[T] | Set[T]
        if check.kind == "empty":
            value = _plain(meaning, check.body.place)
            truth = algebra.is_empty(value)
        else:
            value = self._relation(meaning, check.body.place)
            truth = algebra.is_acyclic(value) if check.kind == "acyclic" else algebra.is_irreflexive(value)
        return Result(check, algebra.negate(truth) if check.negated else truth, value)

    def _fixpoint(self, definition: Definition) -> Mapping[str, Meaning[T]]:
        recursive = {binding.name for binding in definition.bindings}
        for binding in definition.bindings:
            self._must_grow(binding.body, frozenset(recursive), self.names)
        names: dict[str, Meaning[T]] = {**self.names, **dict.fromkeys(recursive, NOTHING)}
        rounds = 0
        while True:
            new = {binding.name: self._eval(binding.body, names) for binding in definition.bindings}
            # A fact has a derivation no deeper than there are facts, so that many rounds are enough also where equal
            # truths are not seen to be equal.
            if all(new[name] == names[name] for name in recursive) or rounds > sum(map(_size, new.values())):
                return {**names, **{name: self._named(name, value) for name, value in new.items()}}
            names |= new
            rounds += 1

    def _must_grow(self, term: Term, recursive: frozenset[str], names: Mapping[str, Meaning[T]]) -> None:
        """Raises where a name in ``recursive`` stands where more of it could make the term smaller."""
        match term:
            case Operation("complement", (operand,)):
                self._must_not_mention(operand, recursive)
            case Operation("difference", (left, right)):
                self._must_grow(left, recursive, names)
                self._must_not_mention(right, recursive)
            case Operation(operands=operands):
                for operand in operands:
                    self._must_grow(operand, recursive, names)
            case Call(name, arguments):
                function = names.get(name)
                for number, argument in enumerate(arguments):
                    self._must_grow(argument, recursive, names)
                    if isinstance(function, _Function) and _names_in(argument) & recursive:
                        parameters = function.binding.parameters
                        if number < len(parameters):
                            self._must_grow(function.binding.body, frozenset({parameters[number]}), function.names)

    @staticmethod
    def _must_not_mention(term: Term, recursive: frozenset[str]) -> None:
        for name in sorted(_names_in(term) & recursive):
            raise _error(
                f"'{name}' is defined by recursion and must not stand under ~ or to the right of \\", term.place
            )

    def _eval(self, term: Term, names: Mapping[str, Meaning[T]]) -> Meaning[T]:
        match term:
            case Name(name, place):
                if name in names:
                    return names[name]
                value = self._base.value(name)
                if value is None:
                    raise _unknown(name, place, [*names, *SETS, *RELATIONS])
                return value
            case Constant(symbol):
                return NOTHING if symbol == "0" else self._algebra.everything()
            case Call():
                return self._call(term, [self._eval(argument, names) for argument in term.arguments], names)
            case Operation(kind, operands, place):
                return self._operation(kind, [self._eval(operand, names) for operand in operands], operands, place)

    def _operation(self, kind: str, values: Sequence[Meaning[T]], operands: Sequence[Term], place: Place) -> Meaning[T]:
        algebra = self._algebra
        if kind in ("product", "identity"):
            sets = [self._set(value, operand.place) for value, operand in zip(values, operands, strict=True)]
            return algebra.identity(sets[0]) if kind == "identity" else algebra.product(*sets)
        if kind in _ON_RELATIONS:
            pairs = [self._relation(value, operand.place) for value, operand in zip(values, operands, strict=True)]
            return (
                cast("Meaning[T]", getattr(algebra, _ON_RELATIONS[kind])(*pairs))
                if kind != "star"
                else algebra.reflexive(algebra.closure(pairs[0]))
            )
        for value, operand in zip(values, operands, strict=True):
            if isinstance(value, _Function):
                raise _error("expected a set or a relation, found a function", operand.place)
        if kind == "complement":
            (value,) = values
            if isinstance(value, _Nothing):
                raise _error("expected a set or a relation under ~, found 0, which may be either", place)
            if isinstance(value, tuple):
                return algebra.difference(algebra.universe(), value)
            return algebra.set_difference(algebra.everything(), _plain_set(value))
        left, right = values
        if isinstance(right, _Nothing) or isinstance(left, _Nothing):
            other = left if isinstance(right, _Nothing) else right
            return {"union": other, "intersection": NOTHING, "difference": left}[kind]
        if isinstance(left, tuple) != isinstance(right, tuple):
            wanted, found = ("relation", "set") if isinstance(left, tuple) else ("set", "relation")
            raise _error(f"expected a {wanted}, as on the left, found a {found}", operands[1].place)
        return cast("Meaning[T]", getattr(algebra, kind if isinstance(left, tuple) else f"set_{kind}")(left, right))

    def _call(self, call: Call, values: list[Meaning[T]], names: Mapping[str, Meaning[T]]) -> Meaning[T]:
        name, place = call.function, call.place
        function = names.get(name)
        if isinstance(function, _Function):
            parameters = function.binding.parameters
            _check_arity(name, len(parameters), values, place)
            names = {**function.names, **dict(zip(parameters, values, strict=True))}
            return self._named(name, self._eval(function.binding.body, names))
        if function is not None or self._base.value(name) is not None:
            raise _error(f"expected a function, and '{name}' is none", place)
        if name not in FUNCTIONS:
            raise _unknown(
                name, place, [*FUNCTIONS, *(n for n, value in names.items() if isinstance(value, _Function))]
            )
        _check_arity(name, 1, values, place)
        algebra = self._algebra
        if name == "fencerel":
            return self._base.separated_by(self._set(values[0], call.arguments[0].place))
        relation = self._relation(values[0], call.arguments[0].place)
        if name in ("domain", "range"):
            return algebra.domain(relation) if name == "domain" else algebra.range(relation)
        first, second = (algebra.identity(self._base.set(letter)) for letter in name)
        return algebra.compose(algebra.compose(first, relation), second)

    def _relation(self, value: Meaning[T], place: Place) -> Relation[T]:
        if isinstance(value, tuple):
            return value
        if isinstance(value, _Nothing):
            return self._algebra.empty()
        raise _error(f"expected a relation, found a {'function' if isinstance(value, _Function) else 'set'}", place)

    def _set(self, value: Meaning[T], place: Place) -> Set[T]:
        if isinstance(value, _Nothing):
            return {}
        if isinstance(value, tuple | _Function):
            raise _error(f"expected a set, found a {'relation' if isinstance(value, tuple) else 'function'}", place)
        return value


_ON_RELATIONS = {
    "compose": "compose",
    "inverse": "inverse",
    "plus": "closure",
    "star": "closure",
    "optional": "reflexive",
}

FUNCTIONS = ("domain", "range", "fencerel", *(a + b for a, b in product("RWM", repeat=2)))
"""The functions that are there from the start."""


def _plain(value: Meaning[T], place: Place) -> Relation[T] | Set[T]:
    if isinstance(value, _Function):
        raise _error("expected a set or a relation, found a function", place)
    return {} if isinstance(value, _Nothing) else value


def _plain_set(value: Meaning[T]) -> Set[T]:
    assert isinstance(value, Mapping)
    return value


def _size(value: Meaning[T]) -> int:
    return sum(map(len, value)) if isinstance(value, tuple) else len(value) if isinstance(value, Mapping) else 0


def _subterms(term: Term) -> Iterator[Term]:
    """A term and all that it is made of."""
    yield term
    if isinstance(term, Operation | Call):
        for part in term.operands if isinstance(term, Operation) else term.arguments:
            yield from _subterms(part)


def _names_in(term: Term) -> frozenset[str]:
    return frozenset(part.name for part in _subterms(term) if isinstance(part, Name))


def _check_arity(name: str, wanted: int, values: Sequence[object], place: Place) -> None:
    if len(values) != wanted:
        raise _error(f"'{name}' takes {wanted} argument{'s' * (wanted != 1)}, found {len(values)}", place)


def _error(message: str, place: Place) -> InputError:
    return InputError(message, place.path, place.line, place.column)


def _unknown(name: str, place: Place, known: Sequence[str]) -> InputError:
    near = get_close_matches(name, known)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return _error(f"unknown name '{name}'{hint}", place)
