"""Repairs of the examples: what is changed, what it costs, variables and clauses of a test, time and memory.

    python benchmarks/repairs.py                       locks, queues and the classic shapes that their model allows
    python benchmarks/repairs.py --model ptx-6.0       of one model alone
    python benchmarks/repairs.py --seconds 60          at most so many seconds of the clock a test

One process for each test. "repair" is the cheapest: how many changes, and what they cost by the table of the test's
language. "seconds" are of CPU, reasons included; memory is the peak of the process in 10^6 bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measuring import apart
from rich.console import Console
from rich.table import Table

from corpus.dialects.registry import dialect_of, parse_litmus
from corpus.errors import InputError
from corpus.files import read_text
from oracle.consistency import resolve_consistency_models
from oracle.executions.bounds import UNROLL
from synth.commands.fix import WHAT
from synth.memory.judging import judge_with
from synth.repair.costs import TARGETS, read_costs
from synth.repair.fixing import Fixing, RepairQuestion, model_named
from synth.repair.sites import Direction
from synth.requests import AUTO

EXAMPLES = Path(__file__).parents[1] / "examples"
FAMILIES = {
    "ptx-rmo": ("GPU_PTX", ("cas-sl", "exch-sl", "sl-future", "dlb-mp", "dlb-lb", "mp-L1", "mp-inter", "sb-inter")),
    "ptx-6.0": ("PTX", ("mp-weak", "mp-relaxed", "sb-acq-rel", "iriw-acquire", "isa2-rmw-sc-compiled-norelease", "*")),
    "rc11": ("C", ("c-mp-rlx", "c-sb-rel-acq", "c-iriw-rel-acq", "c-lb-rlx", "c-wrc-rel-acq")),
    "rc11-scoped": ("OPENCL", ("cl-mp-wg-scope", "cl-mp-local-flag", "cl-sb-sc-fences-wg", "cl-iriw-sc-wg", "*")),
    "opencl": ("OPENCL", ("cl-mp-wg-scope", "cl-mp-local-flag", "cl-sb-sc-fences-wg", "cl-iriw-sc-wg", "*")),
    "vulkan": ("VULKAN", ("vulkan/lb", "vulkan/sb", "vulkan/iriw", "vulkan/isa2-rmw", "*")),
}
"""By model: the language of its tests, and those of examples/memory; ``*`` stands for those of examples/locks."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=FAMILIES, action="append")
    parser.add_argument("--seconds", type=int, default=120)
    given = parser.parse_args()
    table = Table("test", "model", "repair", "cost", "seconds", "MB", box=None)
    for column in table.columns[3:]:
        column.justify = "right"
    for model in given.model or FAMILIES:
        for path in tests(model):
            found = apart(repaired, path, model, seconds=given.seconds)
            if found is None:
                table.add_row(path.stem, model, f"more than {given.seconds} s")
            elif (row := found[0]) is not None:
                table.add_row(path.stem, model, *row, *found[1].cells)
    Console(width=160).print(table)


def tests(model: str) -> list[Path]:
    """The files of a family that are there, in its language."""
    language, names = FAMILIES[model]
    found = [EXAMPLES / "memory" / f"{name}.litmus" for name in names if name != "*"]
    found += sorted((EXAMPLES / "locks").glob("*.litmus")) if "*" in names else []
    return [path for path in found if path.exists() and dialect_of(read_text(path)).language == language]


def repaired(path: Path, name: str) -> tuple[str, str] | None:
    """What is changed and what that costs; None of a test that is right."""
    text, model = read_text(path), model_named(name)
    dialect = dialect_of(text)
    test = parse_litmus(text)
    (judging,) = resolve_consistency_models([name])
    shown = judge_with(test, judging, AUTO, UNROLL)
    if shown.condition is None or (shown.answer == "FORBIDDEN" and test.condition.quantifier != "forall"):
        return None
    costs = read_costs(dialect.name if dialect.name in TARGETS else "ptx")
    try:
        with Fixing(
            [test], dialect, RepairQuestion(model, UNROLL, True, False), costs, Direction.STRONGER, WHAT
        ) as fixing:
            cheapest = next(iter(fixing), None)
    except InputError as error:
        return error.message[:60], ""
    changes = "; ".join(change.text.split(" -> ")[-1] for change in cheapest.changes) if cheapest else "none"
    return changes, str(cheapest.cost) if cheapest else ""


if __name__ == "__main__":
    main()
