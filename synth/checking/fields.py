"""Arguments that are fields of structures, as ``--arg`` names them: ``p.n=4``, ``p.q.v=[1,2]``, ``p.data=[0,0]``, and
``p+8=4`` by the byte where a field begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from corpus.code.ir import Field, KernelFunction, Variable
from corpus.code.launch.launch import Argument, ArrayArgument
from corpus.errors import InputError
from synth.checking.sources import KernelFile, names_of

SHOWN = 24
"""The names that a message has."""


_IS_ELEMENT = re.compile(r"(?:\[\d+\])+|\.(?:[xyzw]|s[0-9a-f])")
"""How the elements of an array and the components of a vector are called, behind it."""


def fielded(
    file: KernelFile, kernel: KernelFunction, given: Iterable[tuple[str, Argument]]
) -> Iterator[tuple[str, Argument]]:
    """Yield arguments, of which those of structures are those of fields, each by the name that the source has.

    Raises ``InputError`` where one does not fit its field, or is of a structure as a whole.
    """
    for name, value in given:
        root, behind, parameter = _split(file, kernel, name)
        if parameter is None or not parameter.fields or (not behind and _is_map(parameter, value)):
            yield name, value
            continue
        found = _named(parameter, behind)
        if not found:
            there = shown_names([root + field.name for field in parameter.fields])
            raise InputError(f"--arg: expected a field of {root}, which has {there}; found {name}", str(file.path))
        exact = next((field for field in found if field.name == behind), None)
        if exact is None and behind.startswith("+"):
            exact = _only(file, root, name, found)
        if exact is not None:
            yield root + exact.name, _fitting(file, root + exact.name, exact, value)
        else:
            yield from _listed(file, root, name, found, value)


def has_fields_of(file: KernelFile, kernel: KernelFunction, name: str) -> bool:
    """Return whether a name begins with that of a structure of a kernel, whose fields are known."""
    _, _, parameter = _split(file, kernel, name)
    return parameter is not None and bool(parameter.fields)


def check_apart(file: KernelFile, kernel: KernelFunction, arguments: Iterable[str]) -> None:
    """Raise ``InputError`` where two arguments are fields of the same bytes, as those of a union are."""
    given, names = set(arguments), names_of(file, kernel)
    number = len(kernel.declared)
    for parameter in kernel.declared:
        found: list[tuple[str, Field]] = []
        for member in parameter.fields:
            if given.intersection((names[number], kernel.parameters[number].name)):
                for other, field in found:
                    if field.overlaps(member):
                        both = f"{other} and {names[number]}"
                        raise InputError(f"--arg: {both} are of the same bytes: one can be given", str(file.path))
                found.append((names[number], member))
            number += 1


def shown_names(names: Sequence[str]) -> str:
    """Return names as a list, the elements of an array as one."""
    found = list(dict.fromkeys(re.sub(r"\[\d+\]", "[..]", name) for name in names))
    return ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "")


def _split(file: KernelFile, kernel: KernelFunction, name: str) -> tuple[str, str, Variable | None]:
    """Return the name of the parameter that an argument begins with, as the source has it, what is behind that, and the
    parameter; None where there is none.
    """
    names = names_of(file, kernel)
    for number, parameter in enumerate(kernel.declared):
        for own in (names[number] if names else "", parameter.name, str(number)):
            if own and name.startswith(own) and (name == own or name[len(own)] in ".[+"):
                return names[number] if names else parameter.name, name[len(own) :], parameter
    return "", "", None


def _named(parameter: Variable, behind: str) -> list[Field]:
    """Return the field of a name, those that begin at a place, or those of an array or structure in it, in order."""
    if not behind:  # a list gives the elements of an array, or the components of a vector
        return (
            [*parameter.fields] if all(map(_IS_ELEMENT.fullmatch, (field.name for field in parameter.fields))) else []
        )
    exact = [field for field in parameter.fields if field.name == behind]
    if exact:
        return exact
    if place := re.fullmatch(r"\+(\d{1,9})", behind):
        return [field for field in parameter.fields if field.start == 8 * int(place[1])]
    return [field for field in parameter.fields if behind and field.name.startswith((f"{behind}.", f"{behind}["))]


def _only(file: KernelFile, root: str, name: str, found: Sequence[Field]) -> Field:
    if len(found) > 1:
        there = shown_names([root + field.name for field in found])
        raise InputError(f"--arg: {name}: several fields begin there: {there}", str(file.path))
    return found[0]


def _is_map(parameter: Variable, value: Argument) -> bool:
    """Return whether a value is the memory of a tensor map, which is the structure itself (CUDA driver API, 128 bytes
    at a multiple of 64).
    """
    return isinstance(value, ArrayArgument) and parameter.size == 128 and parameter.align >= 64


def _fitting(file: KernelFile, name: str, field: Field, value: Argument) -> Argument:
    """Return the value of a field. Raises ``InputError`` where it does not fit."""
    bits = f"{field.bits // 8} bytes" if field.bits % 8 == 0 and field.start % 8 == 0 else f"{field.bits} bits"
    if isinstance(value, int):
        if not -(1 << field.bits - 1) <= value < 1 << field.bits:
            raise InputError(f"--arg: {name} has {bits.replace('1 bytes', '1 byte')}, found {value}", str(file.path))
        return value
    if not field.pointer:
        raise InputError(f"--arg: {name} is a number of {bits.replace('1 bytes', '1 byte')}", str(file.path))
    plain = isinstance(value, ArrayArgument) and value.data is None and value.size is None
    return replace(value, size=field.element) if isinstance(value, ArrayArgument) and plain else value


def _listed(
    file: KernelFile, root: str, name: str, found: Sequence[Field], value: Argument
) -> Iterator[tuple[str, Argument]]:
    """Yield the numbers of an array or structure in a structure, which a list gives in their order; zeros behind."""
    numbers = not any(field.pointer for field in found)
    apart = all(not one.overlaps(other) for one, other in pairwise(found))
    if not isinstance(value, ArrayArgument) or value.data is not None or not numbers or not apart:
        there = shown_names([root + field.name for field in found])
        raise InputError(f"--arg: {name}: expected one of its fields, which are {there}", str(file.path))
    count = max(len(value.values), value.count or 0)
    if count > len(found):
        raise InputError(f"--arg: {name} has {len(found)} numbers, found {count}", str(file.path))
    for number, member in enumerate(found):
        own = value.values[number] if number < len(value.values) else 0
        yield root + member.name, _fitting(file, root + member.name, member, own)
