"""Variables of the stack that are registers: those of which nothing has the address, and which hold something when they
are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from corpus.code.llvm.blocks import RESULT_SLOT, Body, BodyBlock, BodyLine, alloca_type, is_lifetime, successors
from corpus.code.llvm.text import TextReader, TypeNames
from corpus.code.llvm.types import IntType, IrError, PointerType, Scalar, Type


class Promoted(NamedTuple):
    """A variable of the stack that is only read and written as a whole, and so is a register: its type."""

    type: Scalar


def promoted(body: Body, names: TypeNames) -> dict[str, Promoted]:
    """Return the variables of the stack whose addresses nothing has but loads and stores of the whole, and which are
    written before they are read on each way from where their lifetime begins.
    """
    found: dict[str, Promoted] = {}
    for line in body.lines:
        if line.name == "alloca":
            type, count = alloca_type(line, names)
            if isinstance(type, Scalar) and count is None:
                found[line.result] = Promoted(type)
    uses: Counter[str] = Counter()
    for line in body.lines:
        uses.update(word for word in line.words if word in found)
    for line in body.lines:
        for register, type in _whole_accesses(line, names):
            if register in found and _is_alike(found[register].type, type):
                uses[register] -= 1
        if is_lifetime(line):
            uses.subtract(word for word in line.words if word in found)
    whole = {register: variable for register, variable in found.items() if not uses[register]}
    unwritten = _read_unwritten(body, whole) - {word for word in whole if _is_result(body, word)}
    return {register: variable for register, variable in whole.items() if register not in unwritten}


def _is_result(body: Body, register: str) -> bool:
    """Decide whether a variable is what clang returns the result of a function by."""
    return register == RESULT_SLOT and register not in body.declared


def _read_unwritten(body: Body, variables: Collection[str]) -> set[str]:
    """Return those of variables that may be read where nothing has written them since their lifetime began."""
    bits = {register: 1 << number for number, register in enumerate(variables)}
    every = (1 << len(bits)) - 1
    changes = {block.label: _writing(block, bits) for block in body.blocks}
    following = successors(body)
    written = dict.fromkeys(changes, every) | {body.blocks[0].label: 0}
    waiting = [block.label for block in reversed(body.blocks)]
    while waiting:
        label = waiting.pop()
        keeps, sets, _, _ = changes[label]
        after = written[label] & keeps | sets
        for target in following[label]:
            if written[target] & ~after:
                written[target] &= after
                waiting.append(target)
    missing = 0
    for label, (_, _, needs, lacks) in changes.items():
        missing |= lacks | needs & ~written[label]
    return {register for register, bit in bits.items() if missing & bit}


def _writing(block: BodyBlock, bits: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Return, as sets of bits, which variables a block does not begin anew, which are written at its end, which it
    reads before it writes them or begins them anew, and which it reads when they are anew.
    """
    kept, sets, needs, lacks = -1, 0, 0, 0
    for line in block.lines:
        if line.name not in ("load", "store", "call"):
            continue
        bit = sum(bits[word] for word in line.words if word in bits)
        if not bit:
            continue
        if line.name == "store":
            sets |= bit
        elif line.name == "load":
            needs |= bit & kept & ~sets
            lacks |= bit & ~kept & ~sets
        else:
            kept, sets = kept & ~bit, sets & ~bit
    return kept, sets, needs, lacks


def _whole_accesses(line: BodyLine, names: TypeNames) -> Iterator[tuple[str, Type]]:
    """Yield the register of the address and the type of a load or store that is not atomic."""
    reader = TextReader(line.words, names)
    name = reader.next()
    if name not in ("load", "store") or reader.word == "atomic":
        return
    reader.take("volatile")
    try:
        type = reader.type() if name == "load" else reader.typed().type
        reader.expect(",")
        reader.type()
    except IrError:  # said where the line is translated
        return
    yield reader.word, type


def _is_alike(one: Scalar, other: Type) -> bool:
    """Decide whether an access of a type is of all of a variable: of its type, or of an address as a number."""
    wide = (PointerType(), IntType(64))
    return one == other or (one in wide and other in wide)
