"""Which components of vectors a kernel of OpenCL C accesses: each is a memory location of its own, as a scalar is
(OpenCL C 3.0, 3.3.4 and 6.3.7), though clang loads and stores whole vectors.

    %2 = load <2 x i32>, ptr %p;  %3 = insertelement <2 x i32> %2, i32 1, i64 0;  store <2 x i32> %3, ptr %p

reads nothing and writes one component. A component that is loaded is read where something needs it; one that is stored
is written unless it is what the last load from the same address has found in its place, with nothing between that
writes memory, or is undefined. Where all components would stay, as in ``v = v``, the program itself stores them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from corpus.code import ir
from corpus.code.llvm.blocks import Body, BodyLine
from corpus.code.llvm.text import UNDEFINED, TextReader, TypedOperand, TypeNames
from corpus.code.llvm.types import ArrayType, IrError

MOST_STEPS = 100
"""The inserts and shuffles that one vector may be made by; of longer rows all components count."""

_PURE = (
    *("insertelement", "extractelement", "shufflevector", "getelementptr", "addrspacecast", "bitcast", "load"),
    *("add", "sub", "mul", "fadd", "fsub", "fmul", "sext", "zext", "trunc"),
)
"""The instructions that may stand between a load and the store of what is left as it was."""

_STAYS, _UNDEFINED, _NEW = "stays", "undefined", "new"
"""What a component that is stored is made of: what the place holds, nothing, or something else."""


@dataclass
class BodyComponents:
    """The components of vectors that loads and stores of a function access, by their lines."""

    body: Body
    names: TypeNames
    defined: dict[str, BodyLine] = field(default_factory=dict)
    users: dict[str, list[BodyLine]] = field(default_factory=dict)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, block in enumerate(self.body.blocks):
            for place, line in enumerate(block.lines):
                self.places[line.line] = number, place
                self.defined[line.result] = line
                for word in {word for word in line.words if word.startswith("%")}:
                    self.users.setdefault(word, []).append(line)

    def read(self, load: BodyLine) -> frozenset[int] | None:
        """Return the components that a load reads; None where it reads all."""
        return self._needed(load.result, 0) if self.users.get(load.result) else None

    def written(self, store: BodyLine) -> frozenset[int] | None:
        """Return the components that a store writes; None where it writes all."""
        value, address = self._operands(store)
        if not isinstance(value.type, ArrayType) or not isinstance(value.operand, ir.Register):
            return None
        origins = {n: self._origin(store, address, value, n) for n in range(value.type.count)}
        new = frozenset(n for n, origin in origins.items() if origin == _NEW)
        return new or frozenset(n for n, origin in origins.items() if origin != _UNDEFINED)

    def _operands(self, line: BodyLine) -> list[TypedOperand]:
        """Return the operands of an insert, an extract, a shuffle or a store."""
        reader = TextReader(line.words, self.names)
        reader.next()
        reader.take("atomic", "volatile")
        found = [reader.typed()]
        while len(found) < (2 if line.name == "store" else 3) and reader.take(","):
            found.append(reader.typed())
        return found

    def _needed(self, vector: str, depth: int) -> frozenset[int] | None:
        """Return the components of a vector that something needs; None where that is all."""
        found: set[int] = set()
        for user in self.users.get(vector, ()):
            try:
                own = None if depth > MOST_STEPS else self._needs(user, vector, depth)
            except IrError:  # said where the line is translated
                return None
            if own is None:
                return None
            found |= own
        return frozenset(found)

    def _needs(self, user: BodyLine, vector: str, depth: int) -> frozenset[int] | None:
        """Return the components of a vector that one instruction needs."""
        if user.name not in ("extractelement", "insertelement", "shufflevector", "store"):
            return None
        one, other, *more = self._operands(user)
        here = ir.Register(vector)
        match user.name, more:
            case "extractelement", _:
                return frozenset([other.operand.value]) if isinstance(other.operand, ir.Number) else None
            case "insertelement", [TypedOperand(_, ir.Number(number))] if one.operand == here != other.operand:
                made = self._needed(user.result, depth + 1)
                return None if made is None else made - {number}
            case "shufflevector", [mask]:
                made = self._needed(user.result, depth + 1)
                own = frozenset(range(len(mask.parts))) if made is None else made
                taken = [_taken(one, mask, number) for number in own]
                return frozenset(n for which, n in filter(None, taken) if (one, other)[which].operand == here)
            case "store", _ if one.operand == here != other.operand:
                return self.written(user)
        return None

    def _origin(self, store: BodyLine, address: TypedOperand, value: TypedOperand, number: int) -> str:
        """Return what a component of a value that is stored is made of."""
        own = number
        for _ in range(MOST_STEPS):
            if not isinstance(value.operand, ir.Register):
                return _NEW
            if value.operand == UNDEFINED:  # a constant
                return _UNDEFINED if number < len(value.parts) and value.parts[number] == UNDEFINED else _NEW
            made = self.defined.get(value.operand.name)
            if made is None:
                return _NEW
            if made.name == "load":
                return _STAYS if number == own and self._is_last(made, store, address) else _NEW
            if made.name not in ("insertelement", "shufflevector"):
                return _NEW
            one, other, last = self._operands(made)
            if made.name == "insertelement":
                if not isinstance(last.operand, ir.Number) or last.operand.value == number:
                    return _NEW
                value = one
                continue
            taken = _taken(one, last, number)
            if taken is None:
                return _UNDEFINED
            value, number = (one, other)[taken[0]], taken[1]
        return _NEW

    def _is_last(self, load: BodyLine, store: BodyLine, address: TypedOperand) -> bool:
        """Return whether a load of a store's block is the last one from its address, with no write or wait since."""
        (block, first), (other, last) = self.places[load.line], self.places[store.line]
        place = self._address(load)
        if block != other or first >= last or place is None or place != address.operand:
            return False
        between = self.body.blocks[block].lines[first + 1 : last]
        return all(line.name in _PURE and self._address(line) != place for line in between)

    def _address(self, line: BodyLine) -> ir.Operand | None:
        """Return the address that a line loads from; None where it is another instruction."""
        if line.name != "load" or "atomic" in line.words[:2]:
            return None
        reader = TextReader(line.words, self.names)
        reader.next()
        reader.take("volatile")
        reader.type()
        reader.expect(",")
        return reader.typed().operand


def _taken(one: TypedOperand, mask: TypedOperand, number: int) -> tuple[int, int] | None:
    """Return which of two vectors a shuffle takes for a component, and its component there; None: it is undefined."""
    index = mask.parts[number] if number < len(mask.parts) else None
    if not isinstance(index, ir.Number) or not isinstance(one.type, ArrayType):
        return None
    first = one.type.count
    return (0, index.value) if index.value < first else (1, index.value - first)
