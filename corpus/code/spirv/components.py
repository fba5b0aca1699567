"""Which components of vectors a function of OpenCL C accesses: each is a memory location of its own, as a scalar is
(OpenCL C 3.0, 3.3.4 and 6.3.7), though clang loads and stores whole vectors.

    v[i].x = 1;      %old = OpLoad %int4 %p;  %new = OpCompositeInsert %int4 %one %old 0;  OpStore %p %new

reads nothing and writes one component. A component that is loaded is read where something needs it; one that is stored
is written unless it is what the last load from the same pointer has found in its place, with nothing between that
writes memory, or is undefined. Where all components would stay, as in ``v = v``, the program itself stores them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from corpus.code.spirv.module import Enumerant, Id, SpirvFunction, SpirvInstruction, SpirvInteger, SpirvModule

MOST_STEPS = 100
"""The inserts and shuffles that one vector may be made by; of longer rows all components count."""

UNDEFINED = 0xFFFFFFFF
"""The number of a component of a shuffle that is undefined."""

_PURE = (
    *("OpComposite", "OpVector", "OpAccessChain", "OpInBounds", "OpPtrAccessChain", "OpBitcast", "OpLoad", "OpUndef"),
    *("OpIAdd", "OpISub", "OpIMul", "OpFAdd", "OpFSub", "OpFMul", "OpSConvert", "OpUConvert"),
)
"""How the names of instructions begin that may stand between a load and the store of what is left as it was."""


@dataclass
class VectorComponents:
    """The components of vectors that loads and stores of a function access, by the instruction. ``counts`` has the
    number of components of each type of vectors, ``globals`` what the module declares.
    """

    function: SpirvFunction
    counts: Mapping[str, int]
    globals: Mapping[str, SpirvInstruction]
    defined: dict[str, SpirvInstruction] = field(default_factory=dict)
    users: dict[str, list[SpirvInstruction]] = field(default_factory=dict)
    at: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, block in enumerate(self.function.blocks):
            for place, ins in enumerate(block.instructions):
                self.at[id(ins)] = (number, place)
                if ins.result is not None:
                    self.defined[ins.result] = ins
                for name in set(ins.ids):
                    self.users.setdefault(name, []).append(ins)

    def read(self, load: SpirvInstruction) -> frozenset[int] | None:
        """Return the components that a load reads; None where it reads all."""
        used = any(not _is_debugging(each) for each in self.users.get(load.result or "", ()))
        if load.result is None or load.type not in self.counts or not used:
            return None
        return self._needed(load.result, 0)

    def written(self, store: SpirvInstruction) -> frozenset[int] | None:
        """Return the components that a store writes; None where it writes all."""
        pointer, value = store.ids[:2]
        count = self._count(value)
        if not count:
            return None
        origins = {n: self._origin(store, pointer, value, n) for n in range(count)}
        new = frozenset(n for n, origin in origins.items() if origin == _Origin.NEW)
        return new or frozenset(n for n, origin in origins.items() if origin != _Origin.UNDEFINED)

    def _needed(self, vector: str, depth: int) -> frozenset[int] | None:
        """Return the components of a vector that something needs; None where that is all."""
        found: set[int] = set()
        for user in self.users.get(vector, ()):
            own = None if depth > MOST_STEPS else self._needs(user, vector, depth)
            if own is None:
                return None
            found |= own
        return frozenset(found)

    def _needs(self, user: SpirvInstruction, vector: str, depth: int) -> frozenset[int] | None:
        """Return the components of a vector that one instruction needs."""
        numbers, ids = user.numbers, user.ids
        match user.name:
            case "OpCompositeExtract":
                return frozenset(numbers[:1])
            case "OpCompositeInsert" if ids[1:] == [vector] and ids[0] != vector:
                made = self._needed(user.result or "", depth + 1)
                return None if made is None else made - {numbers[0]}
            case "OpVectorShuffle" if self._count(ids[0]):
                made = self._needed(user.result or "", depth + 1)
                own = frozenset(range(len(numbers))) if made is None else made
                return frozenset(of for n in own if (of := self._source(user, numbers[n], vector)) is not None)
            case "OpStore" if ids[1:] == [vector] and ids[0] != vector:
                return self.written(user)
            case _ if _is_debugging(user):
                return frozenset()
        return None

    def _source(self, shuffle: SpirvInstruction, number: int, vector: str) -> int | None:
        """Return the component of a vector that a shuffle takes for one of its own; None where it takes another."""
        one, other = shuffle.ids[:2]
        count = self._count(one)
        if number == UNDEFINED:
            return None
        if number < count:
            return number if one == vector else None
        return number - count if other == vector else None

    def _origin(self, store: SpirvInstruction, pointer: str, value: str, number: int) -> _Origin:
        """Return what a component of a value that is stored is made of."""
        own = number
        for _ in range(MOST_STEPS):
            made = self.defined.get(value)
            if made is None:
                break
            numbers, ids = made.numbers, made.ids
            match made.name:
                case "OpCompositeInsert" if len(numbers) == 1 and numbers[0] != number:
                    value = ids[1]
                case "OpVectorShuffle" if self._count(ids[0]) and number < len(numbers):
                    if numbers[number] == UNDEFINED:
                        return _Origin.UNDEFINED
                    first = self._count(ids[0])
                    taken = numbers[number]
                    value, number = (ids[0], taken) if taken < first else (ids[1], taken - first)
                case "OpLoad" if number == own and self._is_last(made, store, self._place(pointer)):
                    return _Origin.STAYS
                case _:
                    break
        return _Origin.NEW

    def _count(self, vector: str) -> int:
        """Return the number of components of a vector; 0 where it is none that is known."""
        made = self.defined.get(vector) or self.globals.get(vector)
        return self.counts.get(made.type or "", 0) if made else 0

    def _place(self, pointer: str) -> str:
        """Return the pointer that another one is a cast of."""
        seen = set[str]()  # one that is made of itself is refused where it is used
        while (made := self.defined.get(pointer)) is not None and made.name == "OpBitcast" and pointer not in seen:
            seen.add(pointer)
            pointer = made.ids[0]
        return pointer

    def _is_last(self, load: SpirvInstruction, store: SpirvInstruction, place: str) -> bool:
        """Return whether a load of a store's block is the last one from its place, with no write or wait since."""
        (block, first), (other, last) = self.at[id(load)], self.at[id(store)]
        if block != other or first >= last or self._from(load) != place:
            return False
        between = self.function.blocks[block].instructions[first + 1 : last]
        return all(each.name.startswith(_PURE) and self._from(each) != place for each in between)

    def _from(self, ins: SpirvInstruction) -> str | None:
        """Return the place that an instruction loads from; None where it is another instruction."""
        return self._place(ins.ids[0]) if ins.name == "OpLoad" else None


class _Origin(Enum):
    """What a component that is stored is made of."""

    NEW = auto()
    STAYS = auto()
    """It is what the place holds."""
    UNDEFINED = auto()


def _is_debugging(ins: SpirvInstruction) -> bool:
    """Return whether an instruction only tells a debugger something."""
    match ins.operands:
        case (Id(), Enumerant(which), *_) if ins.name == "OpExtInst":
            return which.startswith("Debug")
    return False


def has_own_components(module: SpirvModule) -> bool:
    """Return whether a module is compiled of OpenCL C, as it says."""
    return not module.languages.isdisjoint(_LANGUAGES)


_LANGUAGES = ("OpenCL_C", "OpenCL_CPP")


def vector_counts(module: SpirvModule) -> Iterator[tuple[str, int]]:
    """Yield the types of vectors with the number of their components."""
    for id, ins in module.globals.items():
        match ins:
            case SpirvInstruction("OpTypeVector", operands=(_, SpirvInteger(count), *_)):
                yield id, count
