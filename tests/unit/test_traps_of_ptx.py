"""Small kernels in PTX with one trap each: a word, a number or a rule decides what is found (traps_of_ptx.csv).

A row has a launch, what stands around the kernel, its body (``tests/ptx_text.py`` has the registers), an expectation,
what the ISA says is found (``?`` where the answer is UNKNOWN; ``refused``; nothing where all is SAFE), and why.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from ptx_text import kernel_text

from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.code.reading import ReadCode
from corpus.errors import InputError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check
from synth.checking.sources import KernelFile
from synth.checking.tasks import tasks_of
from synth.requests import read_launch

TABLE = Path(__file__).parents[1] / "verdicts" / "traps_of_ptx.csv"

with TABLE.open(encoding="utf-8", newline="") as _file:
    ROWS = list(csv.DictReader(_file))

BEGIN = {
    "threads": "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra T0; bra T1;\n",
    "blocks": "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra T0; bra T1;\n",
    "": "",
}
"""How a kernel begins whose two threads, or blocks, do what is behind ``T0`` and ``T1``."""


def found(row: dict[str, str]) -> str:
    """What is found, in the words of a row."""
    text = kernel_text(BEGIN[row["two"]] + row["body"], around=row["around"].replace("; ", ";\n") + "\n")
    try:
        file = KernelFile(Path("k.ptx"), ReadCode(read_ptx(text, "k.ptx")))
        (task,) = tasks_of(file, read_launch(row["launch"].split()))
        (model,) = resolve_consistency_models(["ptx"])
        program = program_of(task.file.module, task.kernel, task.launch)
        answers = check(program, model, row["expect"], 2, "fair").answers
    except InputError as error:
        return "refused" if error.line else error.message
    marks = {CheckAnswer.FOUND: "", CheckAnswer.UNKNOWN: "?"}
    return " ".join(sorted(name + marks[answer] for name, answer in answers.items() if answer in marks))


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_what_is_found(row: dict[str, str]) -> None:
    assert found(row) == row["found"], row["why"]


def test_each_row_says_why() -> None:
    assert len({row["name"] for row in ROWS}) == len(ROWS)
    assert all(row["why"] for row in ROWS)
