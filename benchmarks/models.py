"""Suites that come from models, and differences of models: variables, clauses, calls, tests, time and memory.

    python benchmarks/models.py                            what takes a minute
    python benchmarks/models.py tso:7 ptx-6.0:5 rc11:5     MODEL:EVENTS, the size alone
    python benchmarks/models.py sc/tso ptx-6.0/ptx-rmo     A/B, the smallest difference, both ways, up to 4 events
    python benchmarks/models.py tso:7 --criterion outcome --solver cadical153

One process for each row. "build" and "solve" are seconds of CPU of the formulas and of the solver with decoding and
blocking, summed over the splits of a size into threads; variables and clauses are those of the largest split before
anything is learned, "learned" counts clauses of refinements. Memory is the peak of the process in 10^6 bytes.
"""

from __future__ import annotations

import argparse
import time
from itertools import permutations

from measuring import apart
from rich.console import Console
from rich.table import Table

from constraints.loop import SolverEffort, solutions
from constraints.programs.criterion import Criterion
from constraints.programs.forbidden import Forbidden, SeparationQuestion, Shapes, splits
from constraints.solvers import DEFAULT_SOLVER
from corpus.executions.execution import Execution
from oracle.cat.interpreter import Model
from oracle.consistency import resolve_consistency_models
from oracle.executions.vocabulary import vocabulary_of
from synth.memory.suites import axiomatic, program_digest

QUICK = [
    *("tso:4", "tso:5", "tso:6", "tso:7", "sc:5", "rmo:5", "ptx-rmo:5", "rc11:4", "rc11-scoped:4"),
    *("ptx-6.0:3", "ptx-6.0:4", "sc/tso", "tso/rmo", "rmo/ptx-rmo", "ptx-rmo/ptx-6.0", "rc11/rc11-scoped"),
]
MOST_COMPARED = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cuts", nargs="*", default=QUICK, metavar="MODEL:EVENTS|A/B")
    parser.add_argument(
        "--criterion", choices=[criterion.value for criterion in Criterion], default=Criterion.EXECUTION.value
    )
    parser.add_argument("--solver", default=DEFAULT_SOLVER)
    given = parser.parse_args()
    table = Table("", "tests", "programs", "variables", "clauses", "calls", "learned", "build", "solve", "MB", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for cut in given.cuts:
        if "/" in cut:
            rows = [apart(compare, *both, given.solver) for both in permutations(cut.split("/"))]
        else:
            rows = [apart(suite, cut, Criterion(given.criterion), given.solver)]
        for row in rows:
            if row is None:
                table.add_row(cut, "failed")
            else:
                table.add_row(*row[0], row[1].cells[1])
    Console(width=120).print(table)


def models(*names: str) -> list[Model]:
    return [axiomatic(model) for model in resolve_consistency_models(names)]


def suite(cut: str, criterion: Criterion, solver: str) -> list[str]:
    name, _, events = cut.partition(":")
    (model,) = models(name)
    row = Row()
    for sizes in splits(int(events)):
        row.search(SeparationQuestion(model, criterion=criterion), sizes, solver)
    return [cut, *row.cells()]


def compare(first: str, second: str, solver: str) -> list[str]:
    allows, forbids = models(first, second)
    row = Row(words=[allows, forbids])
    for events in range(2, MOST_COMPARED + 1):
        for sizes in splits(events):
            row.search(SeparationQuestion(forbids, (allows,), minimal=False), sizes, solver)
        if row.tests:
            break
    return [f"{allows.name} > {forbids.name}: {events}", *row.cells()]


class Row:
    """What the searches of a row took together."""

    def __init__(self, words: list[Model] | None = None) -> None:
        self.models = words
        self.tests: list[Execution] = []
        self.variables = self.clauses = 0
        self.effort = SolverEffort()
        self.build = self.solve = 0.0

    def search(self, question: SeparationQuestion, sizes: tuple[int, ...], solver: str) -> None:
        words = vocabulary_of(self.models or [question.forbidden_by])
        started = time.process_time()
        encoding = Forbidden(question, words, sizes)
        self.build += time.process_time() - started
        self.variables = max(self.variables, encoding.formula.variables)
        self.clauses = max(self.clauses, len(encoding.formula.clauses))
        started = time.process_time()
        self.tests += solutions(encoding if question.minimal else Shapes(encoding), solver, effort=self.effort)
        self.solve += time.process_time() - started

    def cells(self) -> list[str]:
        programs = len(set(map(program_digest, self.tests)))
        numbers = (len(self.tests), programs, self.variables, self.clauses, self.effort.calls, self.effort.refinements)
        return [*(f"{number:,}" for number in numbers), f"{self.build:.2f}", f"{self.solve:.2f}"]


if __name__ == "__main__":
    main()
