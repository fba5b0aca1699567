"""The models of tests/verdicts/planted_models.csv: each as a filling of a sketch that ships."""

import csv
from dataclasses import dataclass
from pathlib import Path

from oracle.inference.resolution import resolve_sketch
from oracle.inference.sketch import Filling, Sketch

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
