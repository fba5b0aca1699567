"""The domains of reads: the values that each read of a test can read, in any execution that is of interest.

Reads depend on each other through what is written where they read. A value goes from the constants of the program
through each read at most once, unless values justify themselves in a cycle, out of thin air. Then any value would be
possible, and these are of interest: the numbers in the test and one number that is not in it; where it compares by
size, one number between each two of its numbers, one below and one above them all. So the values of a read are those of
the writes to its location. Where reads depend on each other in a cycle, the numbers of interest come first, and values
grow for as many rounds as the cycle has reads. Where a model forbids values out of thin air, no others are of interest
than those that come from what is written without reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product
from types import MappingProxyType

from corpus.graphs import components
from corpus.litmus.arithmetic import wrap
from corpus.litmus.instructions import Assign, Branch, Load, Rmw, Store, operands_of
from corpus.litmus.locations import Loc, Operand
from corpus.litmus.propositions import atoms_of, propositions
from corpus.litmus.test import LitmusTest
from oracle.cat.interpreter import Model
from oracle.cat.terms import Definition, Linearisation, ModelCheck, Name, Operation, Term
from oracle.executions.events import Apply, EventKind, Expression, Read, reads_in
from oracle.executions.steps import Key, TooManyValuesError
from oracle.executions.threads import Path
from oracle.executions.unrolled import Move
from oracle.executions.valuations import jointly
from oracle.executions.values import Address, Value, address_of, calculate

MOST_VALUES = 256
"""The limit of values of a read; a read with more is refused."""

_BY_SIZE = {"lt", "le", "gt", "ge"}


def read_domains(
    test: LitmusTest,
    ways: Iterable[Path | Move],
    merges: Mapping[Key, Sequence[Expression]] | None = None,
    grounded: bool = False,
    known: Mapping[Key, Sequence[Expression]] = MappingProxyType({}),
) -> dict[Key, tuple[Value, ...]]:
    """The values of interest of each read on the given ways, sorted, and of merges, given what each may be.

    ``grounded``: no value justifies itself. ``known``: reads that only read some of what is written to their location.
    Raises ``TooManyValuesError`` above ``MOST_VALUES``.
    """
    events = {event.key: event for way in ways for event in way.events}
    written: dict[str, list[Expression]] = {location.name: [value_of(location.initial)] for location in test.locations}
    for event in events.values():
        if event.kind is EventKind.WRITE and event.location is not None:
            written[event.location].append(event.value)
    sources: dict[Key, Sequence[Expression]] = {
        event.key: written[event.location or ""] for event in events.values() if event.kind is EventKind.READ
    }
    sources |= known
    sources |= merges or {}
    keys = list(sources)
    number = {key: index for index, key in enumerate(keys)}
    needed = {id(values): {number[key] for value in values for key in reads_in(value)} for values in sources.values()}
    depends = [sorted(needed[id(sources[key])]) for key in keys]
    spoken = constants(test)
    domains: dict[Key, frozenset[Value]] = {}
    for group in components(depends):
        circle = [keys[index] for index in group]
        circular = len(circle) > 1 or group[0] in depends[group[0]]
        domains |= {key: spoken if circular and not grounded else frozenset() for key in circle}
        for _ in circle:
            before = dict(domains)
            domains |= {key: domains[key] | _values_of(sources[key], domains) for key in circle}
            if any(len(domains[key]) > MOST_VALUES for key in circle):
                raise TooManyValuesError(f"a read may have more than {MOST_VALUES} values")
            if domains == before:
                break
    return {key: sort_values(values) for key, values in domains.items()}


def _values_of(written: Sequence[Expression], domains: Mapping[Key, frozenset[Value]]) -> frozenset[Value]:
    return frozenset[Value]().union(*(possible(expression, domains) for expression in written))


def possible(expression: Expression, domains: Mapping[Key, Collection[Value]]) -> frozenset[Value]:
    """The values that an expression may have, given the values that its reads may have."""
    match expression:
        case Read(key):
            return frozenset(domains[key])
        case Apply(operation, left, right):
            if (joint := jointly(expression, domains)) is not None:
                return frozenset(value for _, value in joint if value is not None)
            pairs = product(possible(left, domains), possible(right, domains))
            values = {calculate(operation, one, other) for one, other in pairs}
            return frozenset(value for value in values if value is not None)
        case _:
            return frozenset({expression})


def forbids_thin_air(model: Model) -> bool:
    """Whether a check of the model forbids that values justify themselves: ``acyclic rf | data``, and what else.

    It is known by its words alone: the names of a union, and of unions that have names.
    """
    unions: dict[str, frozenset[str]] = {}

    def united(term: Term) -> frozenset[str]:
        match term:
            case Name(name):
                return unions.get(name, frozenset({name}))
            case Operation("union", parts):
                return frozenset[str]().union(*map(united, parts))
        return frozenset()

    for statement in model.syntax.statements:
        match statement:
            case Definition(bindings, recursive):
                if recursive:
                    unions |= {binding.name: frozenset() for binding in bindings}
                unions |= {binding.name: united(binding.body) for binding in bindings}
            case Linearisation(name):
                unions[name] = frozenset()
            case ModelCheck("acyclic", body, negated=False, flag=False) if {"rf", "data"} <= united(body):
                return True
    return False


def constants(test: LitmusTest) -> frozenset[Value]:
    """The values in the text of a test and one new number; where the test compares by size, a new number in each
    gap."""
    spoken: set[Value] = {value_of(location.initial) for location in test.locations}
    compared: set[str] = set()
    for thread in test.threads:
        spoken |= {value_of(value) for _, value in thread.registers}
        for ins in thread.instructions:
            values = operands_of(ins)[
                isinstance(ins, Load | Store | Rmw) :
            ]  # the address of an access is no value of it
            spoken |= {value_of(value) for value in values if isinstance(value, int | Loc)}
            if isinstance(ins, Assign):
                compared.add(ins.operation)
            elif isinstance(ins, Branch) and ins.condition is not None:
                compared.add(ins.condition.operation)
    for proposition in propositions(test.condition):
        for atom in atoms_of(proposition):
            spoken |= {term for term in (atom.left, atom.right) if isinstance(term, int)}
            compared.add(atom.operation)
    numbers = {value for value in spoken if isinstance(value, int)} or {0}
    new = {wrap(max(numbers) + 1)}
    if not compared.isdisjoint(_BY_SIZE):
        new = {wrap(number + 1) for number in numbers} | {wrap(min(numbers) - 1)}
    return frozenset(spoken | new)


def value_of(operand: Operand) -> Value:
    """The value of a constant operand: a number, or the address of a location."""
    assert isinstance(operand, int | Loc)
    return address_of(operand.name) if isinstance(operand, Loc) else operand


def sort_values(values: Iterable[Value]) -> tuple[Value, ...]:
    """Values sorted: numbers by size, then addresses by name."""

    def rank(value: Value) -> tuple[bool, str, int]:
        return (True, value.location, value.offset) if isinstance(value, Address) else (False, "", value)

    return tuple(sorted(values, key=rank))
