"""How many verdicts it takes to find a model again: in the order that inference asks for, and in a random order.

    python benchmarks/infer.py                     every planted model
    python benchmarks/infer.py tso rc11 --seeds 5

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
from pathlib import Path
from statistics import median

import measuring  # noqa: F401  so that packages are found by their names
from rich.console import Console
from rich.table import Table

from oracle.inference.classes import SketchTest
from oracle.inference.resolution import resolve_sketch
from oracle.inference.sketch import Sketch

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))

from tests.planted import PlantedModel, asked, found_in, judged, planted_models, shuffled  # noqa: E402


def row(planted: PlantedModel, sketch: Sketch, tests: Sequence[SketchTest], seeds: int) -> list[str]:
    """The cells of a planted model in the table."""
    values = sketch.values(planted.filling(sketch))
    end = found_in(sketch, tests, values)
    orders = [shuffled(sketch, tests, values, end, seed) for seed in range(seeds)]
    counts = [count for count, _ in orders]
    return [
        planted.name,
        sketch.name,
        f"{sketch.valid.size:,}",
        f"{len(tests):,}",
        str(asked(sketch, tests, values)),
        f"{median(counts):.0f} ({min(counts)} to {max(counts)})",
        f"{median(new for _, new in orders):.0f}",
        f"{end.size:,}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="planted models; all of them where none is named")
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    planted = [each for each in planted_models() if not args.models or each.name in args.models]
    table = Table("model", "sketch", "models", "tests", "asked", "random", "informative", "left", box=None)
    for name in dict.fromkeys(each.sketch for each in planted):
        sketch, began = resolve_sketch(name), time.process_time()
        tests = judged(sketch)
        print(f"{name}: {len(tests)} tests judged in {time.process_time() - began:.1f} s", file=sys.stderr)
        for each in planted:
            if each.sketch == name:
                table.add_row(*row(each, sketch, tests, args.seeds))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
