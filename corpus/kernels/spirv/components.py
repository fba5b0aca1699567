"""Which components of vectors a function of OpenCL C accesses: each is a memory location of its own, as a scalar is
(OpenCL C 3.0, 3.3.4 and 6.3.7), though clang loads and stores whole vectors.

    v[i].x = 1;      %old = OpLoad %int4 %p;  %new = OpCompositeInsert %int4 %one %old 0;  OpStore %p %new

reads nothing and writes one component. A component that is loaded is read where something needs it; one that is stored
is written unless it is what has been loaded from the same pointer, with nothing between that accesses memory, or is
undefined.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from corpus.kernels.spirv.module import Enumerant, Id, SpirvFunction, SpirvInstruction, SpirvInteger, SpirvModule

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
                for name in {each.name for each in ins.operands if isinstance(each, Id)}:
                    self.users.setdefault(name, []).append(ins)

    def read(self, load: SpirvInstruction) -> frozenset[int] | None:
        """Return the components that a load reads; None where it reads all."""
        used = any(not _is_debugging(each) for each in self.users.get(load.result or "", ()))
        if load.result is None or load.type not in self.counts or not used:
            return None
        return self._needed(load.result, 0)

    def written(self, store: SpirvInstruction) -> frozenset[int] | None:
        """Return the components that a store writes; None where it writes all."""
        pointer, value = (each.name for each in store.operands[:2] if isinstance(each, Id))
        count = self._count(value)
        if not count:
            return None
        return frozenset(n for n in range(count) if not self._stays(store, pointer, value, n))

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
        numbers = [each.value for each in user.operands if isinstance(each, SpirvInteger)]
        ids = [each.name for each in user.operands if isinstance(each, Id)]
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
        one, other = (each.name for each in shuffle.operands[:2] if isinstance(each, Id))
        count = self._count(one)
        if number == UNDEFINED:
            return None
        if number < count:
            return number if one == vector else None
        return number - count if other == vector else None

    def _stays(self, store: SpirvInstruction, pointer: str, value: str, number: int) -> bool:
        """Return whether a component of a value that is stored is undefined, or is what was loaded from there."""
        own = number
        for _ in range(MOST_STEPS):
            made = self.defined.get(value)
            if made is None:
                return False
            numbers = [each.value for each in made.operands if isinstance(each, SpirvInteger)]
            ids = [each.name for each in made.operands if isinstance(each, Id)]
            match made.name:
                case "OpCompositeInsert" if len(numbers) == 1 and numbers[0] != number:
                    value = ids[1]
                case "OpVectorShuffle" if self._count(ids[0]) and number < len(numbers):
                    if numbers[number] == UNDEFINED:
                        return True
                    first = self._count(ids[0])
                    taken = numbers[number]
                    value, number = (ids[0], taken) if taken < first else (ids[1], taken - first)
                case "OpLoad":
                    same = self._place(ids[0]) == self._place(pointer)
                    return number == own and same and self._nothing_between(made, store)
                case _:
                    return False
        return False

    def _count(self, vector: str) -> int:
        """Return the number of components of a vector; 0 where it is none that is known."""
        made = self.defined.get(vector) or self.globals.get(vector)
        return self.counts.get(made.type or "", 0) if made else 0

    def _place(self, pointer: str) -> str:
        """Return the pointer that another one is a cast of."""
        while (made := self.defined.get(pointer)) is not None and made.name == "OpBitcast":
            pointer = next(each.name for each in made.operands if isinstance(each, Id))
        return pointer

    def _nothing_between(self, load: SpirvInstruction, store: SpirvInstruction) -> bool:
        """Return whether nothing that writes memory or waits stands between a load and a store of its block."""
        (block, first), (other, last) = self.at[id(load)], self.at[id(store)]
        between = self.function.blocks[block].instructions[first + 1 : last]
        return block == other and first < last and all(each.name.startswith(_PURE) for each in between)


def _is_debugging(ins: SpirvInstruction) -> bool:
    """Return whether an instruction only tells a debugger something."""
    match ins.operands:
        case (Id(), Enumerant(which), *_) if ins.name == "OpExtInst":
            return which.startswith("Debug")
    return False


def has_own_components(module: SpirvModule) -> bool:
    """Return whether a module is compiled of OpenCL C, as it says."""
    return any(
        Enumerant(name) in ins.operands for ins in module.others for name in _LANGUAGES if ins.name == "OpSource"
    )


_LANGUAGES = ("OpenCL_C", "OpenCL_CPP")


def vector_counts(module: SpirvModule) -> Iterator[tuple[str, int]]:
    """Yield the types of vectors with the number of their components."""
    for id, ins in module.globals.items():
        match ins:
            case SpirvInstruction("OpTypeVector", operands=(_, SpirvInteger(count), *_)):
                yield id, count
