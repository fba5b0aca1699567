"""How many verdicts it takes to find a promise again: in the order that inference asks for, and in a random order.

    python benchmarks/infer_promises.py
    python benchmarks/infer_promises.py --seeds 5 --bound 2x3

Each member of the family of promises gives its verdicts on the tests of all bounds, one by one, until all members that
fit agree on all tests. *Asked* is how many verdicts that takes where each next test is the one that ``synth infer``
would have run; *random* is the median over shuffled suites, with the least and the most. *Left* are the members of the
class.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from random import Random
from statistics import median

import measuring  # noqa: F401  so that packages are found by their names
from rich.console import Console
from rich.table import Table

from oracle.inference.classes import SketchTest, next_test
from oracle.inference.model_sets import ModelSet
from oracle.inference.promise_family import promise_family
from synth.inference.promises import PromiseJudge, bounds_up_to, parse_bound, suite_tests


def agreeing(fit: ModelSet, test: SketchTest, member: ModelSet) -> ModelSet:
    """The models of ``fit`` that say of a test what the member says."""
    return fit & test.allowing if member & test.allowing else fit - test.allowing


def verdicts_by_asking(valid: ModelSet, tests: Sequence[SketchTest], member: ModelSet) -> tuple[int, ModelSet]:
    """How many verdicts find a member where each next test is the best, and the class that is left."""
    fit, count = valid, 0
    while (test := next_test(fit, tests)) is not None:
        fit, count = agreeing(fit, test, member), count + 1
    return count, fit


def shuffled(valid: ModelSet, tests: Sequence[SketchTest], member: ModelSet, end: ModelSet, seed: int) -> int:
    """How many verdicts in a random order leave that class."""
    order = list(tests)
    Random(seed).shuffle(order)
    fit = valid
    for count, test in enumerate(order):
        if fit is end:
            return count
        fit = agreeing(fit, test, member)
    return len(order)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--bound", default="3x3")
    args = parser.parse_args()
    family = promise_family("progress")
    judge = PromiseJudge(family)
    bounds = bounds_up_to(parse_bound(args.bound))
    tests = [record.sketch for bound in bounds for record in suite_tests(judge, bound, ["device"])]
    table = Table("member", "tests", "asked", "random", "left", box=None)
    for model in family.models(family.valid):
        member = family.member(model.name)
        count, end = verdicts_by_asking(family.valid, tests, member)
        random = [shuffled(family.valid, tests, member, end, seed) for seed in range(args.seeds)]
        spread = f"{median(random):g} ({min(random)} to {max(random)})"
        table.add_row(model.name, str(len(tests)), str(count), spread, str(end.size))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
