"""Walks the rows of tables of instructions: examples of their operands, form by form, and of their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from corpus.code.table import Effect, Form, Row, Table, forms_in, rows_of

MOST = 60
"""The most examples of the operands of a form."""


def operands_of(row: Row[Any], examples: Callable[[str], Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Yield operands that a row takes: of each form with all operands, then without those that may be left out."""
    for form in forms_in(row.operands):
        needed = tuple(slot for slot in form if not slot.is_optional)
        for slots in (form, needed) if needed != form else (form,):
            yield from islice(product(*_choices(slots, examples)), MOST)


def _choices(form: Form, examples: Callable[[str], Sequence[str]]) -> list[list[str]]:
    return [[example for kind in slot.kinds for example in examples(kind)] for slot in form]


def words_of(row: Row[Any]) -> list[str]:
    """Every word that a row may have."""
    return [word for form in forms_in(row.words) for slot in form for word in slot.kinds]


def understood(table: Table[Any]) -> list[tuple[str, Row[Any]]]:
    """The rows of a table by name, but for those that refuse their instructions."""
    return [(name, row) for name, row in rows_of(table) if row.effect is not Effect.REFUSED]
