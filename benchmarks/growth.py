"""How many tests a bound of `synth progress --all` has, and what they would take, from a sample of it.

    python benchmarks/growth.py                     bounds that are known, and the next ones
    python benchmarks/growth.py 2x6 --samples 1000

A sample is a way to choose every jump of a shape, drawn at random (seeded), which leaves a part of the bound that a
second is enough for. The parts are disjoint and together they are the bound, so the mean of a sample's tests, times the
number of parts, estimates the tests without bias; after the sign is its standard error. Seconds are of one core, for
search and judgement, without start-up of processes and without files. Few parts hold many tests, so that errors are
large where samples are few; what is known is beside them.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Iterator
from statistics import fmean, stdev

import measuring  # noqa: F401  so that packages are found by their names
from rich.console import Console
from rich.progress import track
from rich.table import Table

from constraints.progress import ProgramShape, ProgressEncoding
from constraints.solvers import DEFAULT_SOLVER
from synth.progress import synthesis
from synth.progress.synthesis import CubeUnit, ProgressSuiteRequest, encoding_of, partitions, run_unit
from synth.units import Parts

BOUNDS = ["2x4", "2x5", "3x5", "4x5", "2x6", "3x6", "4x6"]
KNOWN = {"2x4": 6610, "3x4": 4146, "2x5": 395_138, "3x5": 341_727, "4x5": 79_656}


def sampled(shape: ProgramShape, request: ProgressSuiteRequest, samples: int) -> tuple[int, list[tuple[int, float]]]:
    """How many parts there are, and of some the tests and the seconds."""
    chance = random.Random(str(shape.lengths))
    _, cubes, _ = encoding_of(shape)
    jumps = ProgressEncoding(shape).choices()[: sum(shape.lengths)]
    free = [range(len(choice)) for choice in jumps[len(cubes[0]) :]]
    found = []
    for _ in range(samples):
        unit = CubeUnit(shape, chance.randrange(len(cubes)), tuple(map(chance.choice, free)))
        began, tests = time.process_time(), 0
        for item in run_unit(unit, request, DEFAULT_SOLVER):
            tests += sum(len(suite.tests) for suite in item) if isinstance(item, list) else 0
            assert not isinstance(item, Parts)
        found.append((tests, time.process_time() - began))
    return len(cubes) * math.prod(map(len, free)), found


def estimates(bound: str, samples: int) -> Iterator[tuple[ProgramShape, float, float, float]]:
    """Of each shape of a bound the tests, their standard error, and seconds."""
    threads, instrs = map(int, bound.split("x"))
    request = ProgressSuiteRequest(threads, instrs, minimal=False, up_to="program")
    for lengths in partitions(threads, instrs):
        shape = ProgramShape(lengths, min(request.locs, instrs), request.values)
        parts, found = sampled(shape, request, samples)
        tests = [tests for tests, _ in found]
        seconds = fmean(seconds for _, seconds in found)
        yield shape, parts * fmean(tests), parts * stdev(tests) / math.sqrt(samples), parts * seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bounds", nargs="*", default=BOUNDS, metavar="NxK")
    parser.add_argument("--samples", type=int, default=200, help="Of each shape.")
    options = parser.parse_args()
    synthesis.MOST = sys.maxsize  # a sample is searched whole
    table = Table("bound", "shapes", title=f"{options.samples} samples of each shape")
    for heading in ("tests", "known", "core-hours"):
        table.add_column(heading, justify="right")
    for bound in track(options.bounds, console=Console(stderr=True)):
        found = list(estimates(bound, options.samples))
        tests = sum(count for _, count, _, _ in found)
        error = math.sqrt(sum(deviation**2 for _, _, deviation, _ in found))
        hours = sum(seconds for _, _, _, seconds in found) / 3600
        shapes = ", ".join(f"{'.'.join(map(str, shape.lengths))}: {count:,.0f}" for shape, count, _, _ in found)
        known = f"{KNOWN[bound]:,}" if bound in KNOWN else ""
        table.add_row(bound, shapes, f"{tests:,.0f} ± {error:,.0f}", known, f"{hours:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
