"""Models that go over the members of sets of events, which are evaluated for one execution at a time.

    let rec mapped s = match s with || {} -> {} || e ++ others -> ({e} * M) ++ mapped others end
    with last from mapped(W)

The expressions of such a model are no terms over events that are not known yet. So it is elaborated for one execution
at a time, statement by statement: a set that is taken apart is evaluated at that point, and its members are constants
of what follows. Where it chooses among the members of a set (``with x from S``), each choice is an execution of its
own, and a candidate is allowed if some choice passes every check.

Besides what other models may use there are ``classes-loc(S)`` and ``partition(S)``, the events of a set by location,
``classes(r)``, those that a relation connects, and ``linearisations(S, r)`` as a set of orders. Gaps: relations between
classes (``lift``), bisimulations, values (``different-values``). Methods that do not list executions say nothing of
such a model.

Source: herdtools7, ``lib/interpreter.ml``.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from corpus.files import read_text
from corpus.graphs import reachable
from corpus.lalr import Tree
from corpus.litmus.orders import ANNOTATED
from oracle.cat.algebra import Algebra, Candidates, Relation, Set, bits
from oracle.cat.base import Base
from oracle.cat.elaboration import Elaboration, reads_another
from oracle.cat.interpreter import CheckResult, Interpreter, Model, prelude
from oracle.cat.meanings import Group, Member, NameScope, NotOfTermsError, Orders, SetOfSets, Tags, Value, error
from oracle.cat.mentions import names_in
from oracle.cat.names import Resolver
from oracle.cat.syntax import MOST_BYTES, ModelFiles, read_afresh
from oracle.cat.terms import Call, Constant, Definition, FilePosition, Linearisation, ModelCheck, Name, Operation, Term
from oracle.executions.events import VOCABULARY
from oracle.executions.steps import TooManyError

MOST_CHOICES = 4096
"""The limit of choices in one candidate execution, and of orders of one set."""

_Choice = tuple[str, Sequence[Value], FilePosition]
"""A choice: the name that is bound, the set whose members it may be, and the position."""

Item = int | tuple[int, int]
"""A member: an event, or a pair of events."""


@dataclass(frozen=True)
class OverMembers(Model):
    """A model that goes over the members of sets of events.

    ``path`` is its file, ``bell`` a bell file that comes before it, and ``texts`` are those that it was read from, by
    their paths.
    """

    path: str
    bell: str | None
    texts: tuple[tuple[str, str], ...]

    @property
    def chosen_orders(self) -> list[Linearisation]:
        """The empty answer, since orders are chosen for each candidate execution when the model is evaluated."""
        return []

    def mentions(self, name: str) -> bool:
        """Whether the model may use a name of the base, which is assumed of every name."""
        return True

    def checks_mention(self, name: str, kind: str = "") -> bool:
        """Whether a required check may depend on a name of the base, which is assumed of every name."""
        return True

    def flags_mention(self, name: str, kind: str = "") -> bool:
        """Whether a flag may depend on a name of the base, which is assumed of every name."""
        return True

    def mentioned_at(self, name: str) -> FilePosition:
        """The position where the model takes the members of a set."""
        assert self.syntax.over_members is not None
        return self.syntax.over_members

    def judge(self, base: Base[Any]) -> list[CheckResult[Any]]:
        """The checks that some candidate fails, and the flags that one raises. Raises ``TooManyError``."""
        truths: dict[ModelCheck, int] = {}
        for candidate in self._candidates(base):
            failed, raised = self._judged(base, candidate)
            for check in [failed] if failed else raised:
                truths[check] = truths.get(check, 0) | 1 << candidate
        true = base.algebra.true
        return [CheckResult(check, where if check.flag else true & ~where, {}) for check, where in truths.items()]

    def allows(self, base: Base[Any]) -> bool:
        """Whether some candidate passes every check. Raises ``TooManyError``."""
        return any(self._judged(base, candidate)[0] is None for candidate in self._candidates(base))

    def _candidates(self, base: Base[Any]) -> Iterator[int]:
        """The candidates of a base, but for those whose reads read nothing: their values do not fit."""
        if not isinstance(base.algebra, Candidates):
            raise TooManyError(f"{self.name} goes over the members of sets, which takes executions to be listed")
        where = base.algebra.true
        reads, rf = base.value("R"), base.value("rf")
        if reads and isinstance(rf, tuple):
            where = 0
            for row in rf:
                for truth in row.values():
                    where |= truth
        return (candidate for candidate in range(where.bit_length()) if where >> candidate & 1)

    def _judged(self, base: Base[int], candidate: int) -> tuple[ModelCheck | None, tuple[ModelCheck, ...]]:
        """The first check that a candidate fails by the first choice, None where it passes all by some; its flags."""
        one = _One(base, candidate)
        seen = self.seen(one)
        failed: ModelCheck | None = None
        raised: dict[ModelCheck, None] = {}
        allowed = False
        choices: list[int] = []
        chosen_among: dict[tuple[int, ...], _Choice] = {}
        for _ in range(MOST_CHOICES):
            reading = _Reading(self, seen, one.constants, choices, chosen_among)
            check = reading.failed_check()
            failed = failed or check
            if check is None:
                allowed = True
                raised |= dict.fromkeys(reading.raised)
            choices = reading.next_choices()
            if not choices:
                return (None, tuple(raised)) if allowed else (failed, ())
        raise TooManyError(f"{self.name} has more than {MOST_CHOICES} ways to choose in one execution")


def over_members(model: Model, path: str, bell: str | None) -> OverMembers:
    """The model of a file that goes over members, after its check. Raises ``InputError`` where it is wrong."""
    _, files = read_afresh(read_text(Path(path), MOST_BYTES), path, bell)
    made = OverMembers(model.name, model.syntax, path, bell, tuple(files.texts.items()))
    made.judge(VOCABULARY)  # a base of no events
    return made


@dataclass(frozen=True)
class _One:
    """One candidate of a base, its truths 0 and 1. ``constants``: what names mean besides."""

    base: Base[int]
    candidate: int
    constants: dict[str, Set[int] | Relation[int]] = field(default_factory=dict)

    @cached_property
    def algebra(self) -> Algebra[int]:
        """The algebra of the one candidate, whose truths are 0 and 1."""
        return bits(1, self.base.algebra.size)

    def value(self, name: str) -> Set[int] | Relation[int] | None:
        """The set or relation of a name, None where the base has none."""
        if name in self.constants:
            return self.constants[name]
        value = self.base.value(name)
        return tuple(map(self._row, value)) if isinstance(value, tuple) else None if value is None else self._row(value)

    def _row(self, row: Mapping[int, int]) -> Mapping[int, int]:
        return {event: 1 for event, truth in row.items() if truth >> self.candidate & 1}


class _FailedError(Exception):
    """Ends the evaluation of an execution that fails a check."""

    def __init__(self, check: ModelCheck) -> None:
        super().__init__(check.name)
        self.check = check


@lru_cache(maxsize=4)
def _files(texts: tuple[tuple[str, str], ...]) -> ModelFiles:
    return ModelFiles(dict(texts))


class _Reading(Elaboration):
    """A model as it is read for one execution. ``raised``: its flags; ``choices``: numbers of members that are chosen.

    ``constants`` have the members of sets, by names that no model can spell; ``chosen_among`` has what a
    statement chooses among after some choices, once that is known.
    """

    deepest = 600  # a function that goes over a set calls itself for each member

    def __init__(
        self,
        model: OverMembers,
        base: Base[int],
        constants: dict[str, Set[int] | Relation[int]],
        choices: Sequence[int],
        chosen_among: dict[tuple[int, ...], _Choice],
    ) -> None:
        self._files = _files(model.texts)
        super().__init__(model.name, self._files.included)
        self._model = model
        self._constants = constants
        self._interpreter = Interpreter(base)
        self._resolver = Resolver({*VOCABULARY.sets, *VOCABULARY.relations, *prelude()})
        self._walked = 0
        self._choices = choices
        self._chosen_among = chosen_among
        self._choosing: tuple[int, ...] = ()
        self._taken: list[int] = []
        self._options: list[int] = []
        self.raised: list[ModelCheck] = []

    def failed_check(self) -> ModelCheck | None:
        """The first check that the execution fails, None where it passes all."""
        if self._model.syntax.one_event:
            self.statements.append(reads_another(FilePosition(self._model.path, 1, 1)))
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 20 * self.deepest))
        try:
            path, bell = self._model.path, self._model.bell
            self.read(self._files.tree(path), path, (self._files.tree(bell), bell) if bell else None)
        except _FailedError as failed:
            return failed.check
        finally:
            sys.setrecursionlimit(limit)
        return None

    def next_choices(self) -> list[int]:
        """The choices to take next; none where all have been taken."""
        taken = list(self._taken)
        while taken and taken[-1] + 1 >= self._options[len(taken) - 1]:
            taken.pop()
        return [*taken[:-1], taken[-1] + 1] if taken else []

    # Statements are walked as they come

    def _statement(self, tree: Tree, scope: NameScope) -> NameScope:
        scope = self._after(tree, scope)
        self._walk()
        return scope

    def _finish(self, position: FilePosition) -> None:
        self._walk()

    def _walk(self) -> None:
        while self._walked < len(self.statements):
            statement = self._resolver.statement(self.statements[self._walked])
            self._walked += 1
            if isinstance(statement, Definition):
                self._interpreter.bind(statement)
            elif isinstance(statement, ModelCheck):
                truth = self._interpreter.check(statement).truth
                if statement.flag:
                    self.raised += [statement] if truth else []
                elif not truth:
                    raise _FailedError(statement)

    def _linearised(self, name: str, position: FilePosition, orders: Orders, scope: NameScope) -> NameScope:
        return self._chosen(name, self._orders_as_family(orders), position, scope)

    def _choice(self, tree: Tree, scope: NameScope) -> NameScope:
        self._choosing = id(tree), *self._taken
        known = self._chosen_among.get(self._choosing)
        return super()._choice(tree, scope) if known is None else self._take(*known, scope)

    def _chosen(self, name: str, among: Value, position: FilePosition, scope: NameScope) -> NameScope:
        members = self._members(among, f"'with {name} from'", position)
        if not members:
            raise _FailedError(ModelCheck("empty", Constant("0", position), f"with-{name}", False, False, position))
        known = self._chosen_among[self._choosing] = name, members, position
        return self._take(*known, scope)

    def _take(self, name: str, members: Sequence[Value], position: FilePosition, scope: NameScope) -> NameScope:
        number = len(self._taken)
        self._taken.append(self._choices[number] if number < len(self._choices) else 0)
        self._options.append(len(members))
        chosen = members[self._taken[-1]]
        return self._bind(name, chosen.term if isinstance(chosen, Member) else chosen, position, scope)

    # Sets by their members

    def _items(self, value: Value, position: FilePosition) -> frozenset[Item]:
        """The events or pairs of a set or relation in this execution."""
        term = self._as_term(value, position)
        if self._parameters and names_in(term) & self._parameters:
            raise NotOfTermsError
        self._walk()
        found = self._interpreter.plain(self._resolver.term(term))
        if isinstance(found, tuple):
            return frozenset((one, other) for one, row in enumerate(found) for other in row)
        return frozenset(found)

    def _constant(self, items: frozenset[Item], position: FilePosition, is_pairs: bool) -> Term:
        """A set or relation by its members."""
        name = f"{ANNOTATED}{is_pairs} {_sorted(items)}"
        if name not in self._constants:
            rows: list[dict[int, int]] = [{} for _ in range(self._interpreter.size)]
            for one, other in (item for item in items if isinstance(item, tuple)):
                rows[one][other] = 1
            events = {item: 1 for item in items if isinstance(item, int)}
            self._constants[name] = tuple(rows) if is_pairs else events
        return Name(name, position)

    def _member(self, item: Item, position: FilePosition) -> Member:
        is_pair = isinstance(item, tuple)
        return Member(self._constant(frozenset([item]), position, is_pair), is_pair)

    def _members(self, value: Value, what: str, position: FilePosition) -> Sequence[Value]:
        match value:
            case Tags():
                return super()._members(value, what, position)
            case SetOfSets(members):
                return members
            case Orders():
                return self._orders_as_family(value).members
            case Member() | Group():
                raise error(f"expected a set, for {what} one", position)
        return [self._member(item, position) for item in _sorted(self._items(value, position))]

    def _some_of(self, value: Value, members: Sequence[Value]) -> Value:
        if isinstance(value, Tags):
            return super()._some_of(value, members)
        if isinstance(value, SetOfSets | Orders):
            return SetOfSets(tuple(members))
        position = self._as_term(value, _NOWHERE).position
        pairs = [member.is_pair for member in members if isinstance(member, Member)]
        items = frozenset[Item]().union(*(self._items(member, position) for member in members))
        return self._constant(items, position, pairs[0]) if pairs else Constant("0", position)

    def _added(self, one: Value, others: Value, position: FilePosition) -> Value:
        if isinstance(others, SetOfSets | Orders) or (others == Tags(()) and not isinstance(one, Member)):
            return self._family([one, *self._members(others, "'++' to", position)], position)
        items = self._items(others, position)
        new = self._as_item(one, position)
        if any(isinstance(item, tuple) != isinstance(new, tuple) for item in items):
            raise error("expected an event or a pair before '++', as in the set after it", position)
        return self._constant(items | {new}, position, isinstance(new, tuple))

    def _as_item(self, value: Value, position: FilePosition) -> Item:
        match value:
            case Member(term):
                (item,) = self._items(term, position)
                return item
            case Group((Member() as one, Member() as other)):
                first, second = self._as_item(one, position), self._as_item(other, position)
                if isinstance(first, int) and isinstance(second, int):
                    return first, second
        raise error("expected an event or a pair of events before '++'", position)

    def _made_of(self, values: Sequence[Value], position: FilePosition) -> Value:
        kinds = {value.is_pair if isinstance(value, Member) else None for value in values}
        if kinds in ({True}, {False}):
            items = frozenset(self._as_item(value, position) for value in values)
            return self._constant(items, position, kinds == {True})
        return self._family(values, position)

    def _family(self, values: Sequence[Value], position: FilePosition) -> SetOfSets:
        return SetOfSets(tuple({self._key(value, position): value for value in values}.values()))

    def _of_families(self, kind: str, values: Sequence[Value], position: FilePosition) -> Value:
        left, right = (
            {self._key(member, position): member for member in self._members(value, "an operator on", position)}
            for value in values
        )
        match kind:
            case "union":
                return SetOfSets(tuple((left | right).values()))
            case "intersection":
                return SetOfSets(tuple(member for key, member in left.items() if key in right))
            case "difference":
                return SetOfSets(tuple(member for key, member in left.items() if key not in right))
        raise error("expected a set or relation, found a set of such", position)

    def _compares(self, kind: str, left: Value, right: Value, position: FilePosition) -> bool:
        one, other = self._key(left, position), self._key(right, position)
        if kind == "equal":
            return one == other
        assert isinstance(other, frozenset)
        if kind == "subset":
            assert isinstance(one, frozenset)
            return one <= other
        return (self._as_item(left, position) if isinstance(left, Member | Group) else one) in other

    def _key(self, value: Value, position: FilePosition) -> Hashable:
        """A key that two values share if they are equal in this execution."""
        match value:
            case SetOfSets(members):
                return frozenset(self._key(member, position) for member in members)
            case Orders():
                return self._key(self._orders_as_family(value), position)
            case Group(members):
                return tuple(self._key(member, position) for member in members)
            case Tags(names):
                return frozenset(names)
            case Member() | Name() | Constant() | Operation() | Call():
                return self._items(value, position)
        return value

    # Functions

    def _of_members(self, name: str, given: Value, position: FilePosition) -> Value:
        match name:
            case "classes":
                pairs = self._items(given, position)
                events = {event for pair in pairs if isinstance(pair, tuple) for event in pair}
            case _:
                events = {event for event in self._items(given, position) if isinstance(event, int)}
                pairs = self._items(Name("loc", position), position)
        return SetOfSets(tuple(self._constant(frozenset(part), position, False) for part in _connected(events, pairs)))

    def _orders_as_family(self, orders: Orders) -> SetOfSets:
        if not orders.total or orders.events is None:
            position = orders.within.position
            raise error("expected 'with .. from' before what makes coherence orders", position)
        position = orders.events.position
        events = sorted(event for event in self._items(orders.events, position) if isinstance(event, int))
        held = _closed(self._items(orders.within, position))
        found: list[Value] = []
        for order in _linear(events, held):
            if len(found) == MOST_CHOICES:
                raise TooManyError(f"{len(events)} events are too many to list their orders")
            pairs = {(one, other) for number, one in enumerate(order) for other in order[number + 1 :]}
            found.append(self._constant(frozenset[Item](pairs), position, True))
        return SetOfSets(tuple(found))


_NOWHERE = FilePosition("", 0, 0)


def _sorted(items: frozenset[Item]) -> list[Item]:
    return sorted(items, key=lambda item: item if isinstance(item, tuple) else (item,))


def _closed(pairs: frozenset[Item]) -> frozenset[Item]:
    """Return the transitive closure of a set of pairs of events."""
    closed = {pair for pair in pairs if isinstance(pair, tuple)}
    while more := {(one, last) for one, other in closed for first, last in closed if other == first} - closed:
        closed |= more
    return frozenset(closed)


def _linear(events: Sequence[int], held: frozenset[Item]) -> Iterator[tuple[int, ...]]:
    """The orders of some events that hold a transitive relation."""
    if not events:
        yield ()
    for first in events:
        if not any((other, first) in held for other in events):
            rest = [event for event in events if event != first]
            yield from ((first, *order) for order in _linear(rest, held))


def _connected(events: set[int], pairs: frozenset[Item]) -> list[list[int]]:
    """The events that pairs connect, each with those it is connected to; those with no pair at all are left out."""
    near: dict[int, set[int]] = {}
    for pair in pairs:
        if isinstance(pair, tuple) and pair[0] in events and pair[1] in events:
            near.setdefault(pair[0], set()).add(pair[1])
            near.setdefault(pair[1], set()).add(pair[0])
    found: list[list[int]] = []
    left = set(near)
    while left:
        part = reachable([min(left)], near.__getitem__)
        found.append(sorted(part))
        left -= part.keys()
    return found
