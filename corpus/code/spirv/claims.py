"""What annotations of SPIR-V text say of a launch and of its end, for the kernels that a module has.

``@Input: %data = {{1, 2}}`` is the argument ``data`` whose memory is the words 1 and 2, and ``@Output: forall
(%data[0][1] == 2)`` the expectation ``data[1] == 2``, where ``%data`` is a struct of an array of words.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from corpus.code.ir import Module
from corpus.code.launch.launch import Argument, ArrayArgument
from corpus.code.places import Array
from corpus.code.spirv.annotations import (
    AllClaims,
    AnnotatedClaim,
    AnyClaim,
    IndexedPlace,
    InputValue,
    NotClaim,
    PlaceComparison,
    SpirvAnnotations,
)
from corpus.code.spirv.types import SpirvTypes
from corpus.errors import InputError
from corpus.litmus.propositions import Quantifier


class SpirvHome(NamedTuple):
    """Where a variable is, or what a parameter of a kernel points to: the name of its memory, by the space of arrays
    and the name that the source has; the parameter that the launch gives it by, if it does; and its type. ``several``:
    it is an array of that type, which a pointer points to. ``value``: it is no memory, but a number or a struct, or the
    ``members`` of a block, each a parameter with the place and the number of its bytes.
    """

    array: Array
    parameter: str
    type: str
    several: bool = False
    value: bool = False
    members: tuple[tuple[str, int, int], ...] = ()


class ClaimedPlace(NamedTuple):
    """A number in memory that a claim names: the name of its memory, its place there, and what it is at the start."""

    array: Array
    offset: int
    start: int


class ClaimedComparison(NamedTuple):
    """A comparison of numbers in memory, or of one with a number."""

    operation: str
    left: ClaimedPlace | int
    right: ClaimedPlace | int

    def text(self, places: Mapping[tuple[Array, int], str]) -> str:
        """Return the comparison of locations; ``true`` or ``false`` where it is of none that anybody accesses."""
        left, right = (
            each if isinstance(each, int) else places.get((each.array, each.offset), each.start)
            for each in (self.left, self.right)
        )
        operation = self.operation
        if isinstance(left, int) and isinstance(right, int):
            return "true" if _COMPARED[operation](left, right) else "false"
        if isinstance(left, int):
            left, operation, right = right, _TURNED.get(operation, operation), left
        return f"{left} {operation} {right}"


_COMPARED: Mapping[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class SpirvExpectation(NamedTuple):
    """What annotations claim of the end: the words of an expectation, and comparisons between them."""

    parts: tuple[str | ClaimedComparison, ...]

    def text(self, names: Mapping[tuple[Array, int], str]) -> str:
        """Return the claim as an expectation of a program, which has these names for places in arrays."""
        return "".join(part if isinstance(part, str) else part.text(names) for part in self.parts)


def expectation(
    annotations: SpirvAnnotations, homes: Mapping[str, SpirvHome], types: SpirvTypes, path: str
) -> SpirvExpectation | None:
    """Return what annotations claim; None where they claim nothing. What a filter leaves out is claimed nothing of.

    Raises ``InputError`` where a claim names what is not in memory.
    """
    if annotations.claim is None or annotations.quantifier is None:
        return None
    claims = _Claims(annotations, homes, types, path)
    parts = claims.parts(annotations.claim)
    if annotations.filter is not None:
        chosen = claims.parts(annotations.filter)
        every = annotations.quantifier is Quantifier.FORALL
        parts = ["not (", *chosen, ") || (", *parts, ")"] if every else ["(", *chosen, ") && (", *parts, ")"]
    return SpirvExpectation((f"{annotations.quantifier} (", *parts, ")"))


@dataclass(frozen=True, slots=True)
class _Claims:
    """The claims of annotations about variables, as parts of expectations."""

    annotations: SpirvAnnotations
    homes: Mapping[str, SpirvHome]
    types: SpirvTypes
    path: str

    def parts(self, claim: AnnotatedClaim) -> list[str | ClaimedComparison]:
        """Return the parts of a conjunction or disjunction, each as a condition."""
        match claim:
            case NotClaim(part):
                return ["not (", *self.parts(part), ")"]
            case AllClaims(claims) | AnyClaim(claims):
                sign = " && " if isinstance(claim, AllClaims) else " || "
                found: list[str | ClaimedComparison] = []
                for each in claims:
                    found += [sign if found else "", "(", *self.parts(each), ")"]
                return found
            case PlaceComparison(operation, left, right):
                return [ClaimedComparison(operation, self._term(left), self._term(right))]

    def _term(self, term: IndexedPlace | int) -> ClaimedPlace | int:
        if isinstance(term, int):
            return term
        home = self.homes.get(term.name)
        if home is None or home.value or home.array.space == "local":
            raise InputError(f"@Output: expected a variable in memory, found %{term.name}", self.path)
        offset, type, indices = 0, home.type, list(term.indices)
        if home.several:
            first = indices.pop(0) if indices else 0
            offset += first * self.types.apart(type)
        for index in indices:
            part = self.types.element(type, index)
            offset, type = offset + part.offset, part.type
        kind = self.types.of(type).scalar_kind
        if kind is None:
            raise InputError(f"@Output: expected a number of %{term.name}, found more than one", self.path)
        value = self.annotations.inputs.get(term.name)
        given = b"" if value is None else bytes_of(value, home, self.types, term.name, self.path)
        return ClaimedPlace(home.array, offset, ArrayArgument(data=given).initial(offset, self.types.size(type)))


def annotated(
    module: Module, annotations: SpirvAnnotations, homes: Mapping[str, SpirvHome], types: SpirvTypes
) -> tuple[Module, dict[str, Argument]]:
    """Return a module whose variables hold what annotations say, and the arguments that they give.

    Raises ``InputError`` where an input has not the shape of its type.
    """
    variables, arguments = dict(module.variables), dict[str, Argument]()
    assumed = [*module.assumed]
    for id, value in annotations.inputs.items():
        home = homes.get(id)
        if home is None:
            assumed.append(f"@Input of %{id} is ignored, as no variable or parameter of a kernel has that name")
            continue
        data = bytes_of(value, home, types, id, module.path)
        name = home.array.name
        for parameter, offset, size in home.members:
            arguments[parameter] = int.from_bytes(data[offset : offset + size], "little")
        if home.members:
            continue
        if home.value:
            arguments[home.parameter] = int.from_bytes(data, "little")
        elif home.parameter:
            arguments[home.parameter] = ArrayArgument(data=data)
        elif name in variables:
            variables[name] = replace(variables[name], initial=data)
    return replace(module, variables=variables, assumed=tuple(assumed)), arguments


def bytes_of(value: InputValue, home: SpirvHome, types: SpirvTypes, id: str, path: str) -> bytes:
    """Return the bytes that an input is in memory."""
    if home.several:
        parts = value if isinstance(value, tuple) else (value,)
        stride = types.apart(home.type)
        pairs = [(n * stride, each, home.type) for n, each in enumerate(parts)]
        found = bytearray(len(parts) * stride)
    else:
        pairs = [(0, value, home.type)]
        found = bytearray(0)
    for offset, each, type in pairs:
        for place, number, size in _numbers(each, type, types, id, path):
            start, end = offset + place, offset + place + size
            found.extend(bytes(max(0, end - len(found))))
            found[start:end] = (number % (1 << 8 * size)).to_bytes(size, "little")
    return bytes(found)


def _numbers(value: InputValue, type: str, types: SpirvTypes, id: str, path: str) -> Iterator[tuple[int, int, int]]:
    """Yield the place, the number, and the bytes of each scalar of an input."""
    kind = types.of(type).scalar_kind
    if isinstance(value, int):
        if kind is None:
            raise InputError(f"@Input: expected values in braces for %{id}, found {value}", path)
        yield 0, value, types.size(type)
        return
    length = types.length(type) if kind is None else 0
    if length is not None and len(value) > length:
        raise InputError(f"@Input: expected {length} values for a part of %{id}, found {len(value)}", path)
    for number, each in enumerate(value):
        part = types.element(type, number)
        for place, inner, size in _numbers(each, part.type, types, id, path):
            yield part.offset + place, inner, size
