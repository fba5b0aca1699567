"""The rows of tables of instructions: what their notation says, and how an instruction without a row is refused."""

from __future__ import annotations

import pytest

from corpus.code.table import (
    BOTH,
    CONTROL,
    NOTHING,
    READS,
    REFUSED,
    WRITES,
    FormSlot,
    Lack,
    Refusal,
    Row,
    by_patterns,
    find,
    forms_in,
    kind,
    rows_of,
    table_of,
)

IS_WRONG = by_patterns({"r": kind("r[0-9]", "r1"), "n": kind("[0-9]+", "7"), "m": kind(r"\[r[0-9]\]", "[r1]")})
TABLE = table_of(
    [
        Row("ld", READS, "r m n@hint", "load", "weak? b32|b64 hint?"),
        Row("mov,movl", NOTHING, "r r|n", "move"),
        Row("mov", WRITES, "m r / m n n?", "store"),
        Row("add", BOTH, "r? r n*", "add", "up|down*"),
        Row("jump_*", CONTROL, "n*", "jump", "*", "no such jump"),
        Row("jump_far", CONTROL, "n", "far"),
        Row("tex", REFUSED, "", "", why="textures are not followed"),
    ]
)


def meaning(name: str, operands: str = "", words: str = "") -> str | Refusal:
    found = find(TABLE, name, operands.split(), IS_WRONG, tuple(words.split()))
    return found.meaning if isinstance(found, Row) else found


def test_the_notation_of_forms() -> None:
    assert forms_in("r|n m? / n*") == (
        (FormSlot(("r", "n")), FormSlot(("m",), "?")),
        (FormSlot(("n",), "*"),),
    )
    assert forms_in("n@hint") == ((FormSlot(("n",), "", "hint"),),) and forms_in("") == ((),)


@pytest.mark.parametrize(
    ("ins", "found"),
    [
        # rows of one name are tried in their order, and forms of a row
        (("mov", "r1 r2"), "move"),
        (("mov", "r1 7"), "move"),
        (("mov", "[r1] r2"), "store"),
        (("mov", "[r1] 7"), "store"),
        (("mov", "[r1] 7 7"), "store"),
        (("movl", "r1 r2"), "move"),
        # words stand in any order, each once, or any number of times
        (("ld", "r1 [r2]", "b32"), "load"),
        (("ld", "r1 [r2]", "b64 weak"), "load"),
        (("add", "r1 r2 7 7 7", "up down up"), "add"),
        # what may be left out is left out also where something stands behind it
        (("add", "r1"), "add"),
        (("add", "r1 7"), "add"),
        # an operand that stands where a word does
        (("ld", "r1 [r2] 7", "b32 hint"), "load"),
        # the longest beginning of a name that has a row, and a name before a beginning
        (("jump_near", "1 2", "any word"), "jump"),
        (("jump_far", "7"), "far"),
    ],
)
def test_an_instruction_has_the_row_that_fits(ins: tuple[str, ...], found: str) -> None:
    assert meaning(*ins) == found


@pytest.mark.parametrize(
    ("ins", "lack", "why", "misfit"),
    [
        (("sub",), Lack.NAME, "this instruction is not known", ""),
        (("jump",), Lack.NAME, "this instruction is not known", ""),
        (("jump_x:",), Lack.NAME, "this instruction is not known", ""),
        (("tex", "r1"), Lack.NAME, "textures are not followed", ""),
        (("ld", "r1 [r2]", "b16"), Lack.WORDS, "its modifier b16 is not known", ""),
        (("ld", "r1 [r2]", "weak"), Lack.TOGETHER, "its modifiers do not stand together", ""),
        (("ld", "r1 [r2]", "b32 b64"), Lack.TOGETHER, "its modifiers do not stand together", ""),
        (("ld", "r1 [r2]", "b32 hint"), Lack.OPERANDS, "its operands are none of those that are known", "expected 3"),
        (("ld", "r1 [r2] 7", "b32"), Lack.OPERANDS, "its operands are none of those that are known", "expected 2"),
        # the form is named that fits the most operands
        (("mov", "[r1] [r2]"), Lack.OPERANDS, "its operands are none of those that are known", "[r2] is of another"),
        (("mov", "r1 [r2]"), Lack.OPERANDS, "its operands are none of those that are known", "[r2] is of another"),
        (("mov", "[r1] 7 7 7"), Lack.OPERANDS, "its operands are none of those that are known", "expected 2 to 3"),
        (("jump_near", "r1"), Lack.OPERANDS, "no such jump", "r1 is of another kind"),
    ],
)
def test_what_has_no_row_is_refused_by_what_it_lacks(ins: tuple[str, ...], lack: Lack, why: str, misfit: str) -> None:
    found = meaning(*ins)
    assert isinstance(found, Refusal)
    assert (found.lack, found.why) == (lack, why) and found.misfit.startswith(misfit)


def test_every_row_stands_under_each_of_its_names() -> None:
    assert [name for name, row in rows_of(TABLE) if row.meaning == "move"] == ["mov", "movl"]
