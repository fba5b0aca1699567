"""How many verdicts it takes to find a model again: in the order that inference asks for, and in a random order.

    python benchmarks/infer.py                     every planted model
    python benchmarks/infer.py tso rc11 --seeds 5
    python benchmarks/infer.py --picture docs/pictures/infer.svg

A planted model is a filling of a sketch (tests/verdicts/planted_models.csv). Its verdicts on the tests of a suite, the
critical cycles of some edges and the examples of its language, are given one by one. It is found once all models that
fit agree on the whole suite: then they are one class. *Asked* is how many verdicts that takes where each next test is
the one that ``synth infer`` would have run; *random* is the median over shuffled suites, with the least and the most,
and *informative* the median where a test whose verdict follows from those before it is not run. *Models* are those of
the sketch, *left* those that are in the class in the end. Seconds are of one core, for judging the suite under all
models of the sketch at once.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import measuring  # noqa: F401  so that packages are found by their names
from rich.console import Console
from rich.table import Table

from oracle.inference.classes import SketchTest
from oracle.inference.resolution import resolve_sketch
from oracle.inference.sketch import Sketch
from synth.drawing.plotting import plot_svg
from synth.screen.pictures import write_picture

if TYPE_CHECKING:
    from synth.drawing.plotting import Figure

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

from tests.planted import PlantedModel, found_in, judged, planted_models, shuffled, verdicts_by_asking  # noqa: E402

TICKS = [5, 10, 20, 50, 100, 200, 500, 1000, 2000]


@dataclass(frozen=True)
class Effort:
    """How many verdicts it took to find a planted model: asked for, and of each order by chance with those that told
    anything new; ``left`` are the models of its class.
    """

    planted: PlantedModel
    sketch: Sketch
    tests: int
    by_asking: int
    by_chance: list[tuple[int, int]]
    left: int

    @property
    def counts(self) -> list[int]:
        """The verdicts that it took in each order by chance."""
        return [count for count, _ in self.by_chance]

    @property
    def row(self) -> list[str]:
        """The cells of the table."""
        return [
            self.planted.name,
            self.sketch.name,
            f"{self.sketch.valid.size:,}",
            f"{self.tests:,}",
            str(self.by_asking),
            f"{median(self.counts):,.0f} ({min(self.counts):,} to {max(self.counts):,})",
            f"{median(new for _, new in self.by_chance):.0f}",
            f"{self.left:,}",
        ]


def effort(planted: PlantedModel, sketch: Sketch, tests: Sequence[SketchTest], seeds: int) -> Effort:
    """Find a planted model again, once by asking and once for each seed."""
    values = sketch.values(planted.filling(sketch))
    end = found_in(sketch, tests, values)
    by_chance = [shuffled(sketch, tests, values, end, seed) for seed in range(seeds)]
    return Effort(planted, sketch, len(tests), verdicts_by_asking(sketch, tests, values), by_chance, end.size)


def figure(efforts: Sequence[Effort]) -> str:
    """Draw a line for each model from the least to the most verdicts by chance, and a point where it was asked."""

    def draw(made: Figure) -> None:
        axes = made.subplots()
        rows = range(len(efforts) - 1, -1, -1)
        chance = [model_effort.counts for model_effort in efforts]
        axes.hlines(rows, list(map(min, chance)), list(map(max, chance)), color="#9ba4b4", label="random, 20 orders")
        axes.plot([median(counts) for counts in chance], rows, "|", color="#46505f", markersize=9, label="their median")
        axes.plot([model_effort.by_asking for model_effort in efforts], rows, "o", color="#b3402a", label="asked")
        axes.set_xscale("log")
        axes.set_xticks(
            [5, 10, 20, 50, 100, 200, 500, 1000, 2000], ["5", "10", "20", "50", "100", "200", "500", "1000", "2000"]
        )
        axes.set_yticks(rows, [f"{model_effort.planted.name} ({model_effort.sketch.name})" for model_effort in efforts])
        axes.set_xlabel("verdicts until one class of models is left")
        made.legend(loc="outside upper center", ncols=3)

    return plot_svg(draw, (7, 0.28 * len(efforts) + 1), {"svg.hashsalt": "synth"}, layout="constrained")


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="planted models; all of them where none is named")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--picture", dest="svg", type=Path, help="where to draw the table")
    args = parser.parse_args()
    planted = [model for model in planted_models() if not args.models or model.name in args.models]
    efforts = []
    for name in dict.fromkeys(model.sketch for model in planted):
        sketch, began = resolve_sketch(name), time.process_time()
        tests = judged(sketch)
        print(f"{name}: {len(tests)} tests judged in {time.process_time() - began:.1f} s", file=sys.stderr)
        efforts += [effort(model, sketch, tests, args.seeds) for model in planted if model.sketch == name]
    table = Table("model", "sketch", "models", "tests", "asked", "random", "informative", "left", box=None)
    for figures in efforts:
        table.add_row(*figures.row)
    Console(width=120).print(table)
    if args.svg:
        write_picture(args.svg, figure(efforts))


if __name__ == "__main__":
    main()
