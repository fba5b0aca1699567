"""Tables of code sequences held against tests that a model forbids, and tables with one part of a row less.

    F.acquire.gpu without buffer_wbinvl1_vol: amdgpu/mp-fences reaches its outcome on gfx90a

A part is an instruction that is no access, a counter of one that waits for several, or a cache bit of an access.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from corpus.executions.sequences import RowKey, SequenceTable, translated
from corpus.laws.amdgpu import ACCESSES, MachineInstruction
from corpus.litmus.test import LitmusTest
from oracle.operational.amdgpu import FAMILIES, reaches


@dataclass(frozen=True)
class Deletion:
    """A table without a part of a row: the row, the part in words, and the table that is left."""

    row: RowKey
    part: str
    table: SequenceTable


def deletions(table: SequenceTable) -> Iterator[Deletion]:
    """Every table with one part of a row less, in the order of the rows."""
    for key, row in table.rows.items():
        for index, instruction in enumerate(row.sequence):
            for part, left in _smaller(instruction):
                sequence = (*row.sequence[:index], *left, *row.sequence[index + 1 :])
                rows = {**table.rows, key: replace(row, sequence=sequence)}
                yield Deletion(key, part, replace(table, rows=rows))


def _smaller(instruction: MachineInstruction) -> Iterator[tuple[str, tuple[MachineInstruction, ...]]]:
    """The parts of an instruction that can be left out, each with what is left of it."""
    access = instruction.opcode in ACCESSES
    if not access:
        yield instruction.text, ()
    if instruction.words and (access or len(instruction.words) > 1):
        for word in instruction.words:
            left = tuple(other for other in instruction.words if other != word)
            yield f"{word} of {instruction.text}", (replace(instruction, words=left),)


def is_reached(test: LitmusTest, table: SequenceTable) -> bool:
    """Whether the outcome that a test asks about can come about on the table's machine. Raises ``InputError`` where the
    table or the machine does not have what the test does."""
    return reaches(test, translated(test, table), FAMILIES[table.machine])
