"""The values that each read of a test can read, in any execution that is of interest.

Every value that a program computes comes from constants through at most as many reads as there are, unless values
justify themselves in a circle, out of thin air. Then anything would do, and what is of interest are the numbers that
the test speaks of. So the values of a read are those of the writes to its location, grown for as many rounds as there
are reads, from the constants of the program and its condition; around a comparison by size, the neighbours too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from corpus.litmus import Branch, LitmusTest, Load, Loc, Operand, Rmw, Store, atoms, operands, propositions
from oracle.events import Apply, Event, Expression, Kind, Read
from oracle.threads import Key, Path, TooManyError
from oracle.values import Address, Value, calculate, wrap

MOST_VALUES = 256
"""A read with more values than this is refused."""


def read_domains(test: LitmusTest, paths: Iterable[Path]) -> dict[Key, tuple[Value, ...]]:
    """The values of interest of each read of the given paths, sorted. Raises ``TooManyError`` above ``MOST_VALUES``."""
    events = {event.key: event for path in paths for event in path.events}
    written: dict[str, list[Expression]] = {location.name: [value_of(location.initial)] for location in test.locations}
    for event in events.values():
        if event.kind is Kind.WRITE and event.location is not None:
            written[event.location].append(event.value)
    reads = [event for event in events.values() if event.kind is Kind.READ]
    spoken = constants(test)
    domains: dict[Key, frozenset[Value]] = {read.key: spoken for read in reads}
    for _ in range(len(reads) + 1):
        grown = _grown(reads, written, domains)
        if grown == domains:
            break
        domains = grown
        if any(len(values) > MOST_VALUES for values in domains.values()):
            raise TooManyError(f"a read may have more than {MOST_VALUES} values")
    return {key: sort_values(values) for key, values in domains.items()}


def _grown(
    reads: Sequence[Event], written: Mapping[str, Sequence[Expression]], domains: Mapping[Key, frozenset[Value]]
) -> dict[Key, frozenset[Value]]:
    at = {
        location: frozenset[Value]().union(*(possible(expression, domains) for expression in expressions))
        for location, expressions in written.items()
    }
    return {read.key: domains[read.key] | at[read.location or ""] for read in reads}


def possible(expression: Expression, domains: Mapping[Key, Iterable[Value]]) -> frozenset[Value]:
    """The values that an expression has for some values of its reads."""
    match expression:
        case Read(key):
            return frozenset(domains[key])
        case Apply(operation, left, right):
            pairs = product(possible(left, domains), possible(right, domains))
            values = {calculate(operation, one, other) for one, other in pairs}
            return frozenset(value for value in values if value is not None)
        case _:
            return frozenset({expression})


def constants(test: LitmusTest) -> frozenset[Value]:
    """The values that a test speaks of, and the neighbours of those that it compares by size."""
    spoken: set[Value] = {value_of(location.initial) for location in test.locations}
    for thread in test.threads:
        spoken |= {value_of(value) for _, value in thread.registers}
        for ins in thread.instructions:
            values = operands(ins)[isinstance(ins, Load | Store | Rmw) :]  # an address that is used is no value
            spoken |= _with_neighbours(values, isinstance(ins, Branch) and ins.condition is not None)
    for proposition in propositions(test.condition):
        for atom in atoms(proposition):
            numbers = [term for term in (atom.left, atom.right) if isinstance(term, int)]
            spoken |= _with_neighbours(numbers, atom.operation not in ("eq", "ne"))
    return frozenset(spoken)


def _with_neighbours(terms: Iterable[Operand], near: bool) -> set[Value]:
    numbers = {term for term in terms if isinstance(term, int)}
    addresses = {Address(term.name) for term in terms if isinstance(term, Loc)}
    return addresses | numbers | ({wrap(number + step) for number in numbers for step in (-1, 1)} if near else set())


def value_of(operand: Operand) -> Value:
    """A constant operand as a value."""
    assert isinstance(operand, int | Loc)
    return Address(operand.name) if isinstance(operand, Loc) else operand


def sort_values(values: Iterable[Value]) -> tuple[Value, ...]:
    """Numbers by size, then addresses by name."""

    def rank(value: Value) -> tuple[bool, str, int]:
        return (True, value.location, value.offset) if isinstance(value, Address) else (False, "", value)

    return tuple(sorted(values, key=rank))
