"""The interpreter of .cat models: it evaluates a model's definitions and checks over a relation algebra.

One interpreter serves both algebras (``oracle.cat.algebra``): with sets of candidates as truths it judges them, with
literals it writes clauses. A name means what the model last bound it to; else what the base says (``oracle.cat.base``);
else what its line in ``prelude.cat`` says, which is evaluated when a model first mentions it. ``domain(r)``, the events
that a relation leads from, is the one function that cannot be defined there.

A recursive definition is the least fixpoint, reached from nothing; it must not use its own name under ``~`` or to the
right of ``\\``, for there the least fixpoint need not exist.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from typing import Generic, cast

from corpus.errors import InputError
from corpus.files import folder_of
from oracle.cat.algebra import Relation, Set, T
from oracle.cat.base import Base, BaseNames
from oracle.cat.mentions import KINDS, Lines, joined, long_chains, meetings, names_in, names_reached, own_lines, reached
from oracle.cat.names import resolved
from oracle.cat.recursion import solved
from oracle.cat.syntax import read_cat
from oracle.cat.terms import (
    HOLE,
    Call,
    Constant,
    Definition,
    FilePosition,
    LetBinding,
    Linearisation,
    ModelCheck,
    ModelSyntax,
    Name,
    Operation,
    Term,
    alternative_name,
    bodies_of,
    subterms,
)
from oracle.cat.updates import OneEvent

MOST_DEEP = 200
"""The limit of nested operators and functions under evaluation."""

MOST_WAITING = 120
"""The approximate limit of nested operators and names that wait for a name to be evaluated when it is first asked
for."""

MOST_STEPS = 20_000
"""The limit of operators and functions that a model may apply in all, a recursion counted once."""


class _Nothing:
    """The value of ``0``: the empty set or the empty relation, whichever is needed."""


NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class _Function(Generic[T]):
    """A function with the names that its body sees; ``ships``: it is the prelude's."""

    binding: LetBinding
    names: Mapping[str, Meaning[T]]
    ships: bool = False


@dataclass(slots=True)
class _Later(Generic[T]):
    """A name whose value is evaluated when it is first asked for."""

    binding: LetBinding
    names: Mapping[str, Meaning[T]]
    value: Meaning[T] | None = None


Meaning = Relation[T] | Set[T] | _Function[T] | _Nothing


@dataclass(frozen=True, slots=True)
class CheckResult(Generic[T]):
    """The truth of a check: for a flag, that it is raised, else that an execution passes; ``value``: what was
    checked."""

    check: ModelCheck
    truth: T
    value: Relation[T] | Set[T]


@dataclass(frozen=True)
class Model:
    """A consistency model, all of whose names and types have been checked."""

    name: str
    syntax: ModelSyntax

    @property
    def partial_co(self) -> bool:
        """Whether the model lets writes to a location stay unordered in coherence order."""
        return self.syntax.partial_co

    @property
    def digest(self) -> str:
        """SHA-256 of all text that the model's meaning depends on: its file, the files that it includes, the
        prelude."""
        return sha256(f"{self.syntax.digest}{_prelude().digest}".encode()).hexdigest()

    @property
    def checks(self) -> list[ModelCheck]:
        """The checks that the model requires, in the order of the file; flags are not among them."""
        return [
            statement
            for statement in self.syntax.statements
            if isinstance(statement, ModelCheck) and not statement.flag
        ]

    def mentions(self, name: str) -> bool:
        """Whether the model uses a name of the base, itself or by lines of the prelude."""
        return name in self._mentioned

    @property
    def flags(self) -> list[ModelCheck]:
        """The checks that raise a flag, in the order of the file."""
        return [
            statement for statement in self.syntax.statements if isinstance(statement, ModelCheck) and statement.flag
        ]

    def checks_mention(self, name: str, kind: str = "") -> bool:
        """Whether a check that the model requires depends on a name of the base; flags do not count.

        ``kind``, one of ``R W F B``: only where the name is not intersected with another kind, as ``SC`` is in ``F &
        SC``.
        """
        return any(name in names and (not kind or kind in kinds) for names, kinds in self._required)

    def flags_mention(self, name: str, kind: str = "") -> bool:
        """Whether a flag depends on a name of the base.

        ``kind``, one of ``R W F B``: only where the name is not intersected with another kind, as ``SC`` is in ``F &
        SC``.
        """
        return any(name in names and (not kind or kind in kinds) for names, kinds in self._flagged)

    def checks_intersect(self, kind: str) -> list[frozenset[str]]:
        """For each intersection in a check that events of a kind may be in, the names in it; ``kind`` is one of ``R
        W F B``."""
        return [names for names, kinds in self._required if kind in kinds]

    @property
    def chooses_orders(self) -> bool:
        """Whether executions choose any order besides coherence."""
        return self.mentions("sync_fence") or bool(self.chosen_orders)

    @property
    def chosen_orders(self) -> list[Linearisation]:
        """The total orders that the model lets executions choose."""
        return [statement for statement in self.syntax.statements if isinstance(statement, Linearisation)]

    def linearised(self, base: Base[T]) -> Mapping[str, Set[T]]:
        """The events that each of the model's chosen orders orders, over a base that has chosen nothing yet."""
        orders = self.chosen_orders
        if not orders:
            return {}
        interpreter = Interpreter(self.seen(base))
        needed = names_reached([order.events for order in orders], self.own_lines, prelude())
        found: dict[str, Set[T]] = {}
        for statement in self.syntax.statements:
            if isinstance(statement, Linearisation):
                found[statement.name] = interpreter.set(statement.events)
            elif isinstance(statement, Definition) and any(binding.name in needed for binding in statement.bindings):
                interpreter.define(statement)
        return found

    def joins(self, names: Collection[str]) -> bool:
        """Whether the model's checks cannot tell some relations apart, since these stand only together, in one
        union."""
        return all(joined(body, frozenset(names)) for body in self._required_bodies)

    def mentioned_at(self, name: str) -> FilePosition:
        """The position where the model first uses a name of the base that it mentions."""
        return self._mentioned[name]

    @cached_property
    def _mentioned(self) -> Mapping[str, FilePosition]:
        first: dict[str, FilePosition] = {}
        own: set[str] = set()
        for statement in self.syntax.statements:
            bindings = statement.bindings if isinstance(statement, Definition) else ()
            defined = {binding.name for binding in bindings}
            hidden = own | {name for binding in bindings for name in binding.parameters}
            hidden |= defined if isinstance(statement, Definition) and statement.recursive else set()
            for part in (part for body in bodies_of(statement) for part in subterms(body)):
                if isinstance(part, Name | Call) and part.name not in hidden:
                    for base in _prelude_names(part.name):
                        first.setdefault(base, part.position)
            own |= defined
        return first

    @cached_property
    def _is_flat(self) -> bool:
        """Whether each name means one thing all over the model, wherever it stands."""
        mentioned: set[str] = set()
        for statement in self.syntax.statements:
            own = {binding.name for binding in statement.bindings} if isinstance(statement, Definition) else set()
            inside = {
                part.name for body in bodies_of(statement) for part in subterms(body) if isinstance(part, Name | Call)
            }
            if own & (mentioned if isinstance(statement, Definition) and statement.recursive else mentioned | inside):
                return False
            mentioned |= inside | own
        return True

    @cached_property
    def own_lines(self) -> Lines:
        """The definitions of the model's own names, by name."""
        return own_lines(self.syntax.statements)

    @cached_property
    def _required_bodies(self) -> list[Term]:
        return list(reached([check.body for check in self.checks], self.own_lines, prelude(), whole=True))

    @cached_property
    def _required(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        return self._meetings(self._required_bodies)

    @cached_property
    def _flagged(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        bodies: list[Term] = []
        for number, flag in enumerate(self.syntax.statements):
            if isinstance(flag, ModelCheck) and flag.flag:  # for a name defined later, the prelude's line counts
                above = own_lines(self.syntax.statements[:number])
                bodies += reached([flag.body], above, prelude(), whole=True)
        return self._meetings(bodies)

    def _meetings(self, bodies: Iterable[Term]) -> list[tuple[frozenset[str], frozenset[str]]]:
        bindings = [
            binding
            for statement in self.syntax.statements
            if isinstance(statement, Definition)
            for binding in statement.bindings
        ]
        own = {name for binding in bindings for name in (binding.name, *binding.parameters)}
        kinds = {name: found for name, found in KINDS.items() if name not in own}
        if self.syntax.one_event:  # an update is in both sets
            kinds |= dict.fromkeys({"R", "W"} & kinds.keys(), "RW")
        return [met for body in bodies for met in meetings(body, kinds)]

    def judge(self, base: Base[T]) -> list[CheckResult[T]]:
        """The result of every check, in the order of the file."""
        return Interpreter(self.seen(base)).run(self.syntax)

    def allows(self, base: Base[T]) -> bool:
        """Whether some execution passes every check that is no flag; only definitions on which that depends are
        evaluated."""
        return bool(self.passing(base))

    def passing(self, base: Base[T]) -> T:
        """The truth that every check holds which is no flag; only definitions on which that depends are evaluated."""
        return self._decision(base).passing(self.syntax)

    def raised(self, base: Base[T]) -> list[CheckResult[T]]:
        """The results of the flags that some execution raises, allowed or not; only definitions on which they depend
        are evaluated."""
        return self._decision(base).raised(self.syntax) if self.flags else []

    def _decision(self, base: Base[T]) -> _Decision[T]:
        return _Decision(self.seen(base), self._chains, self._is_flat)

    @cached_property
    def _chains(self) -> frozenset[int]:
        return long_chains(self.syntax, MOST_WAITING)

    def relations(self, base: Base[T]) -> Mapping[str, Meaning[T]]:
        """The value of every name that the model defines, for explanations."""
        interpreter = Interpreter(self.seen(base))
        interpreter.run(self.syntax)
        return interpreter.names

    def seen(self, base: Base[T]) -> Base[T]:
        """A base as the model reads it: for a model in which an update is one event, with one event an update."""
        return OneEvent(base) if self.syntax.one_event else base


def checked_model(name: str, syntax: ModelSyntax, vocabulary: BaseNames) -> Model:
    """The model of a syntax tree, once its names and types are known to be right.

    Raises ``InputError`` with line and column where a name is unknown, a set stands where a relation is due or the
    other way round, a recursion is not monotone, or evaluation goes beyond ``MOST_DEEP`` or ``MOST_STEPS``. Errors in a
    function, its names apart, show where it is applied.
    """
    model = Model(name, resolved(syntax, {*vocabulary.sets, *vocabulary.relations, *prelude()}))
    _check_orders(model, vocabulary)
    orders = (order.name for order in model.chosen_orders)
    _Trial(replace(vocabulary, relations={*vocabulary.relations, *orders})).run(model.syntax)
    return model


def _check_orders(model: Model, vocabulary: BaseNames) -> None:
    ships = {*vocabulary.sets, *vocabulary.relations, *prelude()}
    orders = [order.name for order in model.chosen_orders]
    for order in model.chosen_orders:
        if order.name in ships:
            raise _error(f"'{order.name}' has a meaning already: call the order otherwise", order.position)
        chosen = names_reached([order.events], model.own_lines, prelude()) & {*vocabulary.chosen, *orders}
        for name in sorted(chosen):
            message = f"expected a set that is known before anything runs, and this one hangs on '{name}'"
            raise _error(message, order.events.position)


@cache
def _prelude() -> ModelSyntax:
    return read_cat(str(folder_of("oracle.cat") / "prelude.cat"))


@cache
def prelude() -> Mapping[str, LetBinding]:
    """The lines of ``prelude.cat`` by the names that they define."""
    definitions = [statement for statement in _prelude().statements if isinstance(statement, Definition)]
    return {binding.name: binding for definition in definitions for binding in definition.bindings}


@cache
def _prelude_names(name: str) -> frozenset[str]:
    """A name, and those that it leads to by lines of the prelude."""
    lines = [prelude()[name].body] if name in prelude() else []
    return names_reached(lines, {}, prelude()) | {name}


class PreludeValues(Generic[T]):
    """A base together with the names that the prelude defines over it."""

    def __init__(self, base: Base[T]) -> None:
        self._interpreter = Interpreter(base)

    def value(self, name: str) -> Set[T] | Relation[T] | None:
        """The set or relation of a name, None where neither the base nor the prelude has it."""
        value = self._interpreter.value(name)
        return None if isinstance(value, _Function | _Nothing) else value


class Interpreter(Generic[T]):
    """The evaluation of a model, statement by statement. ``names``: what the model has defined so far."""

    _skips = False  # whether operands that cannot change the result are skipped

    def __init__(self, base: Base[T]) -> None:
        self._base = base
        self._algebra = base.algebra
        self._known: dict[str, Meaning[T] | None] = {}
        self.names: Mapping[str, Meaning[T]] = {}

    @property
    def size(self) -> int:
        """The number of events of the base."""
        return self._algebra.size

    def value(self, name: str) -> Meaning[T] | None:
        """The value of a name that the model does not define: the base's, else the prelude's."""
        if name not in self._known:
            self._known[name] = self._look_up(name)
        return self._known[name]

    def _look_up(self, name: str) -> Meaning[T] | None:
        value = self._base.value(name)
        binding = prelude().get(name)
        if value is not None or binding is None:
            return value
        return _Function(binding, {}, ships=True) if binding.parameters else self._eval(binding.body, {})

    def run(self, syntax: ModelSyntax) -> list[CheckResult[T]]:
        """Evaluates a model, and gives the results of its checks."""
        results = []
        for statement in syntax.statements:
            if isinstance(statement, ModelCheck):
                results.append(self.check(statement))
            else:
                self.bind(statement)
        return results

    def bind(self, statement: Definition | Linearisation) -> None:
        """Binds the names of a statement that is no check."""
        if isinstance(statement, Definition):
            self.define(statement)
        else:
            name = statement.name
            self.names = {**self.names, name: self._chosen(name, statement.position)}

    def define(self, definition: Definition) -> None:
        """Binds the names of a definition to the values of their bodies."""
        if definition.recursive:
            self.names = self._fixpoint(definition)
        else:
            self.names = {**self.names, **{binding.name: self._bound(binding) for binding in definition.bindings}}

    def set(self, term: Term) -> Set[T]:
        """The value of a term that is a set. Raises ``InputError`` where it is no set."""
        return self._set(self._eval(term, self.names), term.position)

    def plain(self, term: Term) -> Relation[T] | Set[T]:
        """The value of a term that is a set or relation; ``0`` is an empty set. Raises ``InputError`` where it is a
        function."""
        return _plain(self._eval(term, self.names), term.position)

    def _chosen(self, name: str, position: FilePosition) -> Meaning[T]:
        order = self._base.value(name)
        if order is None:
            raise _error(f"no order '{name}' can be chosen here, where programs are not known", position)
        return order

    def _bound(self, binding: LetBinding) -> Meaning[T]:
        if binding.parameters:
            return _Function(binding, self.names)
        return self._named(binding.name, self._eval(binding.body, self.names))

    def _named(self, name: str, value: Meaning[T]) -> Meaning[T]:
        return self._algebra.named(name, value) if isinstance(value, tuple) else value

    def check(self, check: ModelCheck) -> CheckResult[T]:
        """Evaluates a check: its truth, and the value that was checked."""
        algebra = self._algebra
        if check.kind == "irreflexive":  # for which no pair of two different events counts
            meaning = self._within(check.body, algebra.identity(algebra.everything()), self.names)
        else:
            meaning = self._eval(check.body, self.names)
        value: Relation[T] | Set[T]
        if check.kind == "empty":
            value = _plain(meaning, check.body.position)
            truth = algebra.is_empty(value)
        else:
            value = self._relation(meaning, check.body.position)
            positive = not (check.negated or check.flag)
            truth = algebra.is_acyclic(value, positive) if check.kind == "acyclic" else algebra.is_irreflexive(value)
        return CheckResult(check, algebra.negate(truth) if check.negated else truth, value)

    def _fixpoint(self, definition: Definition) -> Mapping[str, Meaning[T]]:
        recursive = {binding.name for binding in definition.bindings}
        for binding in definition.bindings:
            self._must_grow(binding.body, frozenset(recursive), self.names)
        terms = None if self._algebra.exact else solved(definition.bindings, names_in)
        if terms is None:
            names = self._iterated(definition)
        else:
            names = dict(self.names)
            for name, term in terms:
                names[name] = self._eval(term, names)
        return {**names, **{name: self._named(name, names[name]) for name in sorted(recursive)}}

    def _iterated(self, definition: Definition) -> dict[str, Meaning[T]]:
        """The names, those of the definition at their least fixpoint, reached round by round from nothing.

        Where equal truths may differ, a round that changes them need not mean that there is more. But what a round adds
        for good follows from something that the round before added: back to the first, that is a chain of facts, no two
        of them the same, of which each changed in its round. So rounds are over when there are more of them than facts
        that changed after the first. If no body takes a fact from one row to another, or if none takes it from one
        column to another, the chain is in one.
        """
        bodies = [binding.body for binding in definition.bindings]
        recursive = frozenset(binding.name for binding in definition.bindings)
        side = next((side for side in (0, 1) if all(_keeps(body, recursive, side) for body in bodies)), None)
        names: dict[str, Meaning[T]] = {**self.names, **dict.fromkeys(recursive, NOTHING)}
        chains: dict[int, set[tuple[str, tuple[int, int]]]] = {}
        rounds = 0
        while True:
            new = {binding.name: self._eval(binding.body, names) for binding in definition.bindings}
            if all(new[name] == names[name] for name in recursive):
                return names
            if rounds and not self._algebra.exact:
                for name in recursive:
                    before = _facts(names[name])
                    for fact, truth in _facts(new[name]).items():
                        if before.get(fact) is not truth:
                            chains.setdefault(0 if side is None else fact[side], set()).add((name, fact))
                if rounds > max(map(len, chains.values()), default=0):
                    return names
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
                function = self._function(name, names)
                for number, argument in enumerate(arguments):
                    self._must_grow(argument, recursive, names)
                    if isinstance(function, _Function) and names_in(argument) & recursive:
                        parameters = function.binding.parameters
                        if number < len(parameters):
                            self._must_grow(function.binding.body, frozenset({parameters[number]}), function.names)

    @staticmethod
    def _must_not_mention(term: Term, recursive: frozenset[str]) -> None:
        for name in sorted(names_in(term) & recursive):
            raise _error(
                f"'{name}' is defined by recursion and must not stand under ~ or to the right of \\", term.position
            )

    def _eval(self, term: Term, names: Mapping[str, Meaning[T]]) -> Meaning[T]:
        if isinstance(term, Name):
            value = names[term.name] if term.name in names else self.value(term.name)
            assert value is not None, term  # names are checked when a model is loaded
            if isinstance(value, _Later):
                if value.value is None:
                    value.value = self._eval(value.binding.body, value.names)
                return value.value
            return value
        if isinstance(term, Operation):
            if len(term.operands) == 1:
                return self._unary(term, self._eval(term.operands[0], names))
            one, other = term.operands
            if term.kind == "intersection" and (_composes(one) or _composes(other)):
                return self._met(term, names)
            if term.kind == "difference" and _composes(other) and not self._algebra.exact:
                left = self._eval(one, names)  # no more of the right side is evaluated than the left side has
                return self._binary(term, left, self._within(other, left, names))
            if term.kind == "compose":
                if isinstance(one, Operation) and one.kind == "identity":
                    events = self._set(self._eval(one.operands[0], names), one.operands[0].position)
                    if self._skips and not events:
                        return self._algebra.empty()
                    return self._algebra.from_set(events, self._relation(self._eval(other, names), other.position))
                if isinstance(other, Operation) and other.kind == "identity":
                    relation = self._relation(self._eval(one, names), one.position)
                    if self._skips and not any(relation):
                        return relation
                    events = self._set(self._eval(other.operands[0], names), other.operands[0].position)
                    return self._algebra.to_set(relation, events)
            left = self._eval(one, names)
            if self._skips and term.kind in _STRICT and _is_nothing(left):
                return self._algebra.empty() if term.kind == "product" else left
            return self._binary(term, left, self._eval(other, names))
        if isinstance(term, Call):
            return self._call(term, [self._eval(argument, names) for argument in term.arguments], names)
        return NOTHING if term.symbol == "0" else self._algebra.everything()

    def _met(self, term: Operation, names: Mapping[str, Meaning[T]]) -> Meaning[T]:
        """An intersection with a composition, of which no more is made than what the other side has, too."""
        one, other = term.operands
        if _composes(one) and not _composes(other):
            right = self._eval(other, names)
            return self._binary(term, self._within(one, right, names), right)
        left = self._eval(one, names)
        return self._binary(term, left, self._within(other, left, names))

    def _within(self, term: Term, bound: Meaning[T], names: Mapping[str, Meaning[T]]) -> Meaning[T]:
        """The value of a term, or as much of it as a relation has, too."""
        if isinstance(bound, tuple) and isinstance(term, Operation) and not self._algebra.on_demand:
            match term:
                case Operation("compose", (one, other)) if not any(map(_is_identity, term.operands)):
                    if _composes(one) and not self._algebra.exact:
                        right = self._relation(self._eval(other, names), other.position)
                        meaning = self._within(one, _leading(bound, right), names)
                        return self._algebra.compose_within(self._relation(meaning, one.position), right, bound)
                    left = self._relation(self._eval(one, names), one.position)
                    right = self._relation(self._eval(other, names), other.position)
                    return self._algebra.compose_within(left, right, bound)
                case Operation("union", (one, other)):
                    return self._binary(term, self._within(one, bound, names), self._within(other, bound, names))
        return self._eval(term, names)

    def _unary(self, term: Operation, value: Meaning[T]) -> Meaning[T]:
        algebra = self._algebra
        kind, position = term.kind, term.operands[0].position
        if kind == "identity":
            return algebra.identity(self._set(value, position))
        if kind != "complement":
            return cast("Meaning[T]", getattr(algebra, _ON_RELATIONS[kind])(self._relation(value, position)))
        if isinstance(value, _Nothing):
            raise _error("expected a set or a relation under ~, found 0, which may be either", term.position)
        value = _plain(value, position)
        if isinstance(value, tuple):
            return algebra.difference(algebra.universe(), value)
        return algebra.set_difference(algebra.everything(), value)

    def _binary(self, term: Operation, left: Meaning[T], right: Meaning[T]) -> Meaning[T]:
        algebra = self._algebra
        kind = term.kind
        if isinstance(left, tuple) and isinstance(right, tuple) and kind != "product":
            return cast("Meaning[T]", getattr(algebra, kind)(left, right))
        one, other = term.operands
        if kind == "product":
            return algebra.product(self._set(left, one.position), self._set(right, other.position))
        if kind == "compose":
            return algebra.compose(self._relation(left, one.position), self._relation(right, other.position))
        for value, operand in ((left, one), (right, other)):
            if isinstance(value, _Function):
                raise _error("expected a set or a relation, found a function", operand.position)
        if isinstance(right, _Nothing) or isinstance(left, _Nothing):
            return {"union": left if right is NOTHING else right, "intersection": NOTHING, "difference": left}[kind]
        if not isinstance(left, tuple) and not isinstance(right, tuple):
            return cast("Meaning[T]", getattr(algebra, f"set_{kind}")(left, right))
        # Of relations, ``_`` is all pairs, too.
        if isinstance(left, tuple) and _is_everything(other):
            return cast("Meaning[T]", getattr(algebra, kind)(left, algebra.universe()))
        if isinstance(right, tuple) and _is_everything(one):
            return cast("Meaning[T]", getattr(algebra, kind)(algebra.universe(), right))
        wanted, found = ("relation", "set") if isinstance(left, tuple) else ("set", "relation")
        raise _error(f"expected a {wanted}, as on the left, found a {found}", other.position)

    def _call(self, call: Call, values: list[Meaning[T]], names: Mapping[str, Meaning[T]]) -> Meaning[T]:
        name, position = call.name, call.position
        if name[0] == HOLE:
            return self._filled(call, values)
        function = self._function(name, names)
        if isinstance(function, _Function):
            parameters = function.binding.parameters
            _check_arity(name, len(parameters), values, position)
            names = {**function.names, **dict(zip(parameters, values, strict=True))}
            if function.ships:
                try:
                    return self._eval(function.binding.body, names)
                except InputError as error:  # the prelude is right, so its argument is wrong
                    wrong = call.arguments[0].position if len(parameters) == 1 else position
                    raise _error(error.message, wrong) from None
            return self._named(name, self._eval(function.binding.body, names))
        if function is not None or name != "domain":
            raise _error(f"expected a function, and '{name}' is none", position)
        _check_arity(name, 1, values, position)
        return self._algebra.domain(self._relation(values[0], call.arguments[0].position))

    def _filled(self, hole: Call, values: list[Meaning[T]]) -> Meaning[T]:
        """The union of the alternatives of a hole, each as true as it is that the hole is filled by it."""
        algebra = self._algebra
        filled: Meaning[T] = NOTHING
        for number, (value, term) in enumerate(zip(values, hole.arguments, strict=True)):
            where = self._set(self.value(alternative_name(hole.name, number)) or NOTHING, hole.position)
            value = _plain(value, term.position) if not isinstance(value, _Nothing) else value
            if isinstance(value, tuple):
                value = algebra.from_set(where, value)
            elif not isinstance(value, _Nothing):
                value = algebra.set_intersection(where, value)
            if number and not isinstance(filled, _Nothing) and not isinstance(value, _Nothing):
                if isinstance(filled, tuple) != isinstance(value, tuple):
                    wanted, found = ("relation", "set") if isinstance(filled, tuple) else ("set", "relation")
                    raise _error(f"expected a {wanted}, as in the alternatives before, found a {found}", term.position)
                unite = algebra.union if isinstance(filled, tuple) else algebra.set_union
                filled = cast("Meaning[T]", unite(filled, value))  # type: ignore[arg-type]
            elif not isinstance(value, _Nothing):
                filled = value
        return filled

    def _function(self, name: str, names: Mapping[str, Meaning[T]]) -> Meaning[T] | None:
        return names[name] if name in names else self.value(name)

    def _relation(self, value: Meaning[T], position: FilePosition) -> Relation[T]:
        if isinstance(value, tuple):
            return value
        if isinstance(value, _Nothing):
            return self._algebra.empty()
        raise _error(f"expected a relation, found a {'function' if isinstance(value, _Function) else 'set'}", position)

    def _set(self, value: Meaning[T], position: FilePosition) -> Set[T]:
        if isinstance(value, _Nothing):
            return {}
        if isinstance(value, tuple | _Function):
            raise _error(f"expected a set, found a {'relation' if isinstance(value, tuple) else 'function'}", position)
        return value


_ON_RELATIONS = {"inverse": "inverse", "plus": "closure", "star": "reflexive_closure", "optional": "reflexive"}


_STRICT = ("compose", "intersection", "difference", "product")
"""Operators whose result is empty if their first operand is empty."""


class _Decision(Interpreter[T]):
    """Finds out whether every check can hold at once, and evaluates only what that takes.

    A name is evaluated when it is first asked for; those in ``at_once``, by their definitions' numbers, when they are
    bound, so that few wait for each other. ``is_flat``: names that are defined later may be known before.
    """

    _skips = True

    def __init__(self, base: Base[T], at_once: Collection[int], is_flat: bool) -> None:
        super().__init__(base)
        self._at_once = at_once
        self._flat: dict[str, Meaning[T]] | None = {} if is_flat else None
        if self._flat is not None:
            self.names = self._flat

    def define(self, definition: Definition) -> None:
        """Binds the names of a definition, to be evaluated when they are first asked for."""
        if self._flat is None:
            super().define(definition)
        elif definition.recursive:
            self._flat.update(self._fixpoint(definition))
        else:
            for binding in definition.bindings:
                self._flat[binding.name] = self._bound(binding)

    def passing(self, syntax: ModelSyntax) -> T:
        """The truth that every check holds which is no flag; the checks end where that is known to be false."""
        among = self._algebra.true
        for check in self._checks(syntax):
            if not check.flag:
                among = among & self.check(check).truth
                if not among:
                    break
        return among

    def raised(self, syntax: ModelSyntax) -> list[CheckResult[T]]:
        """The results of those flags that some execution raises."""
        results = (self.check(check) for check in self._checks(syntax) if check.flag)
        return [result for result in results if result.truth]

    def _checks(self, syntax: ModelSyntax) -> Iterator[ModelCheck]:
        """Each check, once what stands before it is bound."""
        for number, statement in enumerate(syntax.statements):
            if isinstance(statement, ModelCheck):
                yield statement
            else:
                self.bind(statement)
                if number in self._at_once and isinstance(statement, Definition):
                    for binding in statement.bindings:
                        self._eval(Name(binding.name, binding.position), self.names)

    def _bound(self, binding: LetBinding) -> Meaning[T]:
        if binding.parameters:
            return _Function(binding, self.names)
        return cast("Meaning[T]", _Later(binding, self.names))  # only ``_eval`` sees it

    def _must_grow(self, term: Term, recursive: frozenset[str], names: Mapping[str, Meaning[T]]) -> None:
        """Does nothing, since the check that the model was loaded by has shown that recursions are monotone."""


class _Trial(Interpreter[int]):
    """An evaluation that is given up where it goes too far, so that no other one of the model does."""

    def __init__(self, vocabulary: BaseNames) -> None:
        super().__init__(vocabulary)
        self._steps = 0
        self._depth = 0

    def _eval(self, term: Term, names: Mapping[str, Meaning[int]]) -> Meaning[int]:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise _error(f"the model applies more than {MOST_STEPS} operators and functions", term.position)
        if self._depth > MOST_DEEP:
            raise _error(f"more than {MOST_DEEP} operators and functions within each other", term.position)
        self._depth += 1
        value = super()._eval(term, names)
        self._depth -= 1
        return value


def _is_nothing(value: Meaning[T]) -> bool:
    """Whether it is a set or relation, known to be empty."""
    return not any(value) if isinstance(value, tuple) else isinstance(value, dict) and not value


def _plain(value: Meaning[T], position: FilePosition) -> Relation[T] | Set[T]:
    if isinstance(value, _Function):
        raise _error("expected a set or a relation, found a function", position)
    return {} if isinstance(value, _Nothing) else value


def _facts(value: Meaning[T]) -> Mapping[tuple[int, int], T]:
    """The pairs of a relation, or the events of a set twice over, with their truths."""
    if isinstance(value, tuple):
        return {(event, other): truth for event, row in enumerate(value) for other, truth in row.items()}
    return {(event, event): truth for event, truth in value.items()} if isinstance(value, Mapping) else {}


def _leading(bound: Relation[T], right: Relation[T]) -> Relation[T]:
    """The pairs from which ``right`` leads on to a pair of ``bound``, with any truths."""
    return tuple(
        {middle: truth for middle, row in enumerate(right) for truth in [_common(wanted, row)] if truth is not None}
        for wanted in bound
    )


def _common(one: Mapping[int, T], other: Mapping[int, T]) -> T | None:
    return next((one[event] for event in one if event in other), None)


def _is_identity(term: Term) -> bool:
    return isinstance(term, Operation) and term.kind == "identity"


def _is_everything(term: Term) -> bool:
    return isinstance(term, Constant) and term.symbol == "_"


def _composes(term: Term) -> bool:
    """Whether a term is a composition of relations, or a union with one."""
    match term:
        case Operation("compose", operands):
            return not any(map(_is_identity, operands))
        case Operation("union", operands):
            return any(map(_composes, operands))
        case _:
            return False


def _keeps(term: Term, recursive: frozenset[str], side: int) -> bool:
    """Whether what a term has in a row depends on nothing but that row of the recursive names; side 1: in a column."""
    if not names_in(term) & recursive or isinstance(term, Name):
        return True
    if not isinstance(term, Operation):
        return False
    if term.kind == "compose":
        return _keeps(term.operands[side], recursive, side) and not names_in(term.operands[1 - side]) & recursive
    kept = term.kind in ("union", "intersection", "difference", "optional")
    return kept and all(_keeps(operand, recursive, side) for operand in term.operands)


def _check_arity(name: str, wanted: int, values: Sequence[object], position: FilePosition) -> None:
    if len(values) != wanted:
        raise _error(f"'{name}' takes {wanted} argument{'s' * (wanted != 1)}, found {len(values)}", position)


def _error(message: str, position: FilePosition) -> InputError:
    return InputError(message, position.path, position.line, position.column)
