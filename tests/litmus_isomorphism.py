"""When two litmus tests are one up to names: of threads, locations, values, registers and labels.

Every order of the threads is tried. In each, what has a name is named by its first mention, so two tests are isomorphic
exactly where their least texts are one text. Values are renamed for each location by itself, and 0, with which memory
starts, stays. It uses the neutral representation and nothing else: neither normal forms nor digests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from corpus.litmus.instructions import Assign, Barrier, Branch, Fence, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.propositions import And, Atom, FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

Text = tuple[object, ...]


def least_text(test: LitmusTest) -> Text:
    """The same for two tests exactly where they are isomorphic."""
    return min((_Renamed(test, order).text() for order in permutations(range(len(test.threads)))), key=repr)


class _Renamed:
    """A test with its threads in some order, and names by first mention."""

    def __init__(self, test: LitmusTest, order: tuple[int, ...]) -> None:
        self._test = test
        self._order = order
        self._names: dict[tuple[object, ...], int] = {}
        self._regions = {location.name: location.region for location in test.locations}
        assert all(location.initial == 0 and location.alias is None for location in test.locations)

    def _name(self, *what: object) -> int:
        """The number of a name among those of its kind, in the order of first mention."""
        kind = what[:-1]
        return self._names.setdefault(what, sum(other[:-1] == kind for other in self._names))

    def text(self) -> Text:
        bodies = tuple(tuple(self._thread(number)) for number in self._order)
        return bodies, self._tree(), self._memory(), self._condition()

    def _tree(self) -> Text:
        """To each thread and level, the first thread of its group."""
        places = [self._test.threads[number].place for number in self._order]
        return tuple(
            tuple(next(n for n, other in enumerate(places) if other[:depth] == place[:depth]) for depth in (1, 2, 3, 4))
            for place in places
        )

    def _memory(self) -> Text:
        return tuple(sorted((self._name("location", name), str(region)) for name, region in self._regions.items()))

    def _condition(self) -> Text:
        condition = self._test.condition
        body = condition.proposition
        assert condition.filter is None and not condition.observed
        atoms = []
        for atom in body.parts if isinstance(body, And) else (body,):
            assert isinstance(atom, Atom) and isinstance(atom.right, int)
            match atom.left:
                case FinalRegister(thread, register):
                    loaded = next(
                        ins
                        for ins in self._test.threads[thread].instructions
                        if isinstance(ins, Load | Rmw) and ins.target == register
                    )
                    location = _location(self._test.threads[thread], loaded.address)
                    left = ("register", self._order.index(thread), self._name("register", thread, register))
                case Loc(location):
                    left = ("location", self._name("location", location))
            atoms.append((atom.operation, left, self._value(location, atom.right)))
        return str(condition.quantifier), tuple(sorted(atoms, key=repr))

    def _thread(self, number: int) -> Iterator[Text]:
        thread = self._test.threads[number]
        assert not thread.registers
        for ins in thread.instructions:
            yield tuple(self._instruction(number, thread, ins))

    def _instruction(self, number: int, thread: Thread, ins: Instruction) -> Iterator[object]:
        yield type(ins).__name__
        match ins:
            case Load(target, address, mode):
                yield from (self._operand(number, address), repr(mode), self._name("register", number, target))
            case Store(address, value, mode):
                where = _location(thread, address)
                yield from (self._operand(number, address), repr(mode), self._operand(number, value, where))
            case Rmw(operation, target, address, (value,), mode):
                where = _location(thread, address)
                yield from (operation, self._operand(number, address), repr(mode), self._operand(number, value, where))
                yield self._name("register", number, target)
            case Fence(mode):
                yield repr(mode)
            case Barrier(number=at, mode=mode, scope=scope):
                assert isinstance(at, int)
                yield from (self._name("barrier", at), repr(mode), str(scope))
            case Assign(target, operation, operands):
                where = _stored_at(thread, target)
                yield operation
                yield from (self._operand(number, operand, where) for operand in operands)
                yield self._name("register", number, target)
            case Branch(label, condition):
                assert condition is not None
                yield condition.operation
                yield from (self._operand(number, side) for side in (condition.left, condition.right))
                yield self._name("label", number, label)
            case Label(name):
                yield self._name("label", number, name)
            case _:
                raise AssertionError(f"no test of a cycle has {ins}")

    def _operand(self, number: int, operand: Operand, where: str | None = None) -> object:
        """An operand; ``where`` is the location that a number is a value of, None where it is of none."""
        match operand:
            case Reg(name):
                return "register", self._name("register", number, name)
            case Loc(name):
                return "location", self._name("location", name)
            case _:
                return self._value(where, operand)

    def _value(self, where: str | None, value: int) -> object:
        return value if where is None or value == 0 else ("value", self._name("value", where, value))


def _location(thread: Thread, address: Operand) -> str:
    """The location of an address: what was added to it, in a dependency, is 0."""
    if isinstance(address, Reg):
        address = next(
            operand
            for ins in thread.instructions
            if isinstance(ins, Assign) and ins.target == address.name
            for operand in ins.operands
            if isinstance(operand, Loc)
        )
    assert isinstance(address, Loc)
    return address.name


def _stored_at(thread: Thread, register: str) -> str | None:
    """The location that a register's value is stored at."""
    for ins in thread.instructions:
        if isinstance(ins, Store) and ins.value == Reg(register):
            return _location(thread, ins.address)
    return None
