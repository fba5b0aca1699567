"""The models of tests/verdicts/planted_models.csv, each a filling of a sketch that ships, and how they are found again
from their verdicts on a suite: the critical cycles of some edges, and the examples of the sketch's language.
"""

import csv
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from oracle.inference.classes import SketchTest, next_test
from oracle.inference.model_sets import ModelSet
from oracle.inference.resolution import resolve_sketch
from oracle.inference.sketch import Filling, Sketch
from oracle.inference.verdicts import allowing

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).parent / "verdicts" / "planted_models.csv"


@dataclass(frozen=True)
class PlantedModel:
    """A row of the table: the switches that are absent, the alternative of each choice, and the model that this is."""

    name: str
    sketch: str
    absent: frozenset[str]
    chosen: dict[str, int]
    model: str

    def filling(self, sketch: Sketch) -> Filling:
        """The filling of the sketch, in which every other switch is present."""
        names = {hole.name for hole in sketch.holes}
        switches = {hole.name for hole in sketch.holes if hole.is_switch}
        assert self.absent <= switches and self.chosen.keys() == names - switches, self.name
        return tuple(
            int(hole.name not in self.absent) if hole.is_switch else self.chosen[hole.name] for hole in sketch.holes
        )

    def resolved(self) -> Sketch:
        """The sketch of the row."""
        return resolve_sketch(self.sketch)


def planted_models() -> list[PlantedModel]:
    """Every row of the table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            PlantedModel(
                row["name"],
                row["sketch"],
                frozenset(row["absent"].split()),
                {name: int(number) for name, number in (word.split("=") for word in row["chosen"].split())},
                row["model"],
            )
            for row in csv.DictReader(file)
        ]


# Suites

PO = "PodWW PodWR PodRW PodRR"
DEPENDENCIES = "DpAddrdR DpAddrdW DpDatadW DpCtrldR DpCtrldW"
COMMUNICATION = "Rfe Fre Coe"


def fences(*names: str) -> str:
    """The edges of fences between accesses of two locations."""
    return " ".join(f"{name}d{ends}" for name in names for ends in ("WW", "WR", "RW", "RR"))


@dataclass(frozen=True)
class Alphabet:
    """Edges, the sizes of their cycles, and other bounds."""

    edges: str
    sizes: range
    bounds: dict[str, Any] = field(default_factory=dict)


POWER = ROOT / "examples" / "inference"
FENCES = fences("FenceSc.sys.", "FenceAcqRel.sys.")
ORDERS = "Rlx.gpu Rel.gpu Acq.gpu"
OF_SCOPES = {"levels": ("cta", "gpu")}
OF_CTAS = {"levels": ("cta",)}

ALPHABETS = {
    "cpu": [
        Alphabet(f"{PO} PosRR {DEPENDENCIES} {FENCES} {COMMUNICATION}", range(3, 7)),
        Alphabet(
            f"[Rfi,PodRR] [Rfi,DpAddrdR] [Rfi,PodRW] [Rfi,FenceSc.sys.dRR] Rmw {FENCES} {COMMUNICATION}",
            range(3, 6),
            {"thread_accesses": 3},
        ),
    ],
    "power": [
        Alphabet((POWER / "power.edges").read_text(encoding="utf-8"), range(4, 7)),
        Alphabet((POWER / "power-ppo.edges").read_text(encoding="utf-8"), range(4, 8), {"thread_accesses": 4}),
    ],
    "gpu": [
        Alphabet(f"PosRR {PO} {fences('FenceSc.cta.', 'FenceSc.gpu.')} {COMMUNICATION}", range(3, 5), OF_SCOPES),
        Alphabet(f"PodWW PodRR {DEPENDENCIES} {fences('FenceSc.gpu.')} {COMMUNICATION}", range(4, 5), OF_SCOPES),
        Alphabet(f"DpAddrsR DpCtrlsR DpDatasW FenceSc.cta.sRR FenceSc.sys.sRR {COMMUNICATION}", range(3, 4), OF_SCOPES),
        Alphabet(f"PosRR PosRW PosWR PosWW {COMMUNICATION} Rlx.gpu Plain", range(3, 4), OF_SCOPES),
        Alphabet(f"PodWW DpAddrdR DpDatadW {fences('FenceSc.sys.')} {COMMUNICATION}", range(4, 5), OF_SCOPES),
        Alphabet(f"PodWW PodRR PosRR {COMMUNICATION} {ORDERS} Rel.cta Acq.cta Plain", range(3, 5), OF_CTAS),
        Alphabet(f"PodWW PodRR PodRW Rfe Fre Rmw {ORDERS}", range(5, 7)),
        Alphabet(f"FenceSc.gpu.dWR {fences('FenceAcqRel.gpu.')} {COMMUNICATION} Rlx.gpu Plain", range(4, 5)),
    ],
    "c11": [
        Alphabet(f"{PO} {COMMUNICATION} Rlx.sys Rel.sys Acq.sys Sc.sys Plain", range(3, 5)),
        Alphabet("PodWW PodRR PosWW Coi Rfe Fre Rlx.sys Rel.sys Acq.sys", range(5, 6), {"thread_accesses": 3}),
        Alphabet(f"{FENCES} {PO} {COMMUNICATION} Rlx.sys", range(4, 6)),
        Alphabet("PodWW PodRR Rfe Fre Rmw Rlx.sys Rel.sys Acq.sys", range(5, 7)),
    ],
}
"""The critical cycles of each sketch's suite."""

EXAMPLES = {
    "cpu": ["inference/x86/*", "inference/power/*", "memory/c-*"],
    "power": ["inference/power/*"],
    "gpu": ["inference/gpu/*", "memory/*"],
    "c11": ["inference/c11/*", "memory/c-*", "memory/c11/*"],
}
"""The examples of each sketch's suite."""


def suite(name: str) -> Iterator[LitmusTest]:
    """The tests of a sketch's suite."""
    for alphabet in ALPHABETS[name]:
        bounds = CycleBounds(parse_edges(alphabet.edges), **alphabet.bounds)
        for size in alphabet.sizes:
            yield from (litmus_test(oriented(cycle)) for cycle in cycles(bounds, size))
    for pattern in EXAMPLES[name]:
        for path in sorted((ROOT / "examples").glob(f"{pattern}.litmus")):
            yield read_litmus(path)


def judged(sketch: Sketch) -> list[SketchTest]:
    """The tests of a sketch's suite that some of its models allow and others do not."""
    found = []
    for test in suite(sketch.name):
        try:
            models = allowing(test, sketch)
        except InputError:
            continue  # the sketch does not speak of it
        if models and models is not sketch.valid:
            found.append(SketchTest(test.name, sum(len(thread.instructions) for thread in test.threads), models))
    return found


def agreeing(models: ModelSet, test: SketchTest, planted: Sequence[bool]) -> ModelSet:
    """The models that agree with a planted one on a test."""
    return models & test.allowing if planted in test.allowing else models - test.allowing


def found_in(sketch: Sketch, tests: Sequence[SketchTest], planted: Sequence[bool]) -> ModelSet:
    """The models that agree with a planted one on all tests."""
    models = sketch.valid
    for test in tests:
        models = agreeing(models, test, planted)
    return models


def verdicts_by_asking(sketch: Sketch, tests: Sequence[SketchTest], planted: Sequence[bool]) -> int:
    """How many verdicts it takes where each next test is chosen."""
    models, count = sketch.valid, 0
    while (test := next_test(models, tests)) is not None:
        models, count = agreeing(models, test, planted), count + 1
    return count


def shuffled(
    sketch: Sketch, tests: Sequence[SketchTest], planted: Sequence[bool], end: ModelSet, seed: int
) -> tuple[int, int]:
    """How many verdicts it takes in a random order, and how many of these say anything new."""
    order = random.Random(seed).sample(tests, len(tests))
    models, new = sketch.valid, 0
    for number, test in enumerate(order, 1):
        left = agreeing(models, test, planted)
        new += left is not models
        models = left
        if models is end:
            return number, new
    raise AssertionError("all tests leave the class of the planted model")
