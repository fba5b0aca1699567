"""Every instruction and word that the ISA names is fed once: it is understood, or refused by name (words_ptx.csv).

The table has the instructions of the PTX ISA 9.1 (chapter 9.7), and behind each the words that its syntax names; ``-``
stands for none. The counts of both are printed.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from instruction_rows import understood
from ptx_forms import instances, written
from ptx_text import HEADER

from corpus.code.follower import follow
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.places import SLOTS
from corpus.code.ptx.reader import read_ptx
from corpus.code.ptx.table import PTX, TABLE, row_of
from corpus.code.residual import Residual
from corpus.code.table import Effect, Row
from corpus.code.thread import Meaning, new_thread
from corpus.errors import InputError
from corpus.litmus.instructions import AsyncOperation, Barrier, Fence, Load, Rmw, Store

with (Path(__file__).parents[1] / "verdicts" / "words_ptx.csv").open(encoding="utf-8", newline="") as _file:
    NAMED = {row["instruction"]: row for row in csv.DictReader(_file)}

FORMS = {name for name, row in understood(TABLE)} - {"call"}
"""The instructions that are understood, by name."""

READS = Load | Rmw | AsyncOperation
WRITES = Store | Rmw | AsyncOperation

AROUND = """.shared .align 128 .b8 s[256];
.const .align 128 .b8 const_[256] = {1, 2, 3, 4, 5, 6, 7, 8};
.func f() { ret; }
"""
REGISTERS = (
    ".reg .pred %p<80>; .reg .b16 %h<80>; .reg .b32 %r<80>; .reg .b64 %d<80>; .reg .f32 %f<80>; .reg .b128 %q<80>;"
)
BEFORE = (
    "ld.param.u64 %x, [x]; ld.u32 %r5, [%x+252]; ld.u64 %d5, [%x+240]; ld.u16 %h5, [%x+238]; setp.ne.u32 %p5, %r5, 0;"
)


def left(code: str) -> list[Residual]:
    """What is left of a kernel with this code, whose registers hold what memory gives."""
    filled = " ".join(
        f"mov.b32 %r{n}, %r5; mov.b64 %d{n}, %d5; mov.b16 %h{n}, %h5; mov.b32 %f{n}, %r5; mov.pred %p{n}, %p5;"
        for n in (3, 4, 6, 7, 8)
    )
    local = ".local .align 128 .b8 local_[256]; "
    inside = f"{REGISTERS} .reg .b64 %x; {local}{BEFORE} {filled}\n{code}\nL: ret;"
    text = f"{HEADER}{AROUND}.entry k(.param .u64 x) {{ {inside} }}"
    module = read_ptx(text, "words.ptx")
    launch = KernelLaunch((1, 1, 1), (2, 1, 1))
    ids = ThreadIds((0, 0, 0), (0, 0, 0))
    return follow(new_thread(module, module.functions["k"], launch, ids, PTX))


def pairs(column: str) -> list[tuple[str, str]]:
    return [(name, word) for name, row in NAMED.items() for word in row[column].split()]


def test_the_table_has_every_instruction_and_the_counts_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert {*FORMS} <= {*NAMED}
    understood, refused = pairs("understood"), pairs("refused")
    with capsys.disabled():
        print(f"\nptx: {len(understood)} instructions and words understood, {len(refused)} refused")
    assert len(understood) > 700 and not {*understood} & {*refused}


def test_what_is_refused_is_refused_by_name() -> None:
    for name, word in pairs("refused"):
        code = f"{name}{'' if word == '-' else '.' + word} %r1, %r2;"
        with pytest.raises(InputError) as error:
            left(code)
        assert error.value.message.startswith(f"{name}{'' if word == '-' else '.' + word}: is not understood"), code


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", [name for name in NAMED if name in FORMS])
def test_what_is_understood_is_understood(name: str) -> None:
    """A form has each word, and what it does to memory is what its row says."""
    for word in NAMED[name]["understood"].split():
        found = list(instances(TABLE[name], None if word == "-" else word))
        assert found, (name, word)
        for row, words in found:
            code = written(name, row, words)
            module = read_ptx(f"{HEADER}{AROUND}.entry k(.param .u64 x) {{ {code}\nL: ret; }}", "words.ptx")
            (ins, *_) = module.functions["k"].body or ()
            assert isinstance(row_of(ins, _width), Row), (code, row_of(ins, _width))
            does_what_its_row_says(code, row)


def _width(register: str) -> int:
    return {"p": 1, "h": 16, "r": 32, "d": 64, "f": 32, "x": 64, "q": 128}[register[1]]


WITHOUT_A_MASK = re.compile(r"(vote|shfl)\.(?!sync)")
"""What is refused before any thread is followed."""


def does_what_its_row_says(code: str, row: Row[Meaning]) -> None:
    if WITHOUT_A_MASK.match(code):
        return
    try:
        after = left(code)
    except InputError:  # of these operands, at this place
        return
    with_it = [each for each in after if each.origin and each.origin.opcode == code.partition(" ")[0].rstrip(";")]
    memory = [each.instruction for each in with_it if each.accesses and SLOTS not in each.accesses[0].array]
    meets = [each for each in with_it if isinstance(each.instruction, Fence | Barrier)]
    assert not meets or row.effect in (Effect.ORDERS, Effect.BOTH), code
    if row.effect in (Effect.NOTHING, Effect.ORDERS, Effect.CONTROL):
        assert not memory, code
    stays = any(isinstance(ins, READS | WRITES) for ins in memory)
    own = any(space in code for space in (".const", ".local", ".param", "inval"))
    if row.effect in (Effect.READS, Effect.BOTH) and not own and "cp" not in code:
        assert stays and any(isinstance(ins, READS) for ins in memory), code
    if row.effect is Effect.WRITES and not own and "discard" not in code:
        assert any(isinstance(ins, WRITES) for ins in memory), code
    if row.effect is Effect.NOTHING and row.operands.startswith(("d", "D")):
        decides_what_is_stored(code)


def decides_what_is_stored(code: str) -> None:
    """What is stored is another value with the instruction than without: its result reaches memory, or is refused."""
    target = re.split(r"[\s,|{}]+", code)[1]
    kind = {1: "", 16: "b16", 32: "b32", 64: "b64"}[_width(target)]
    stored = f"st.{kind} [%x], {target};" if kind else f"selp.b32 %r60, 7, 9, {target}; st.b32 [%x], %r60;"
    try:
        before, after = left(f"nanosleep.u32 1; {stored}"), left(f"{code} {stored}")
    except InputError:  # memory would have to hold what nothing tells, or an address
        return
    assert [each.instruction for each in before] != [each.instruction for each in after], code
