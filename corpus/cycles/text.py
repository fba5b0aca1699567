"""A critical cycle on one line, and back."""

from __future__ import annotations

from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import COMMUNICATION, all_annotations, all_edges
from corpus.litmus.test import Place, Region


def cycle_text(cycle: Cycle) -> str:
    """Edges; annotations and regions of events; places of threads (GPU, queue, CTA, warp): ``Rfe .. | Plain .. |
    global .. | 0.0.0.0 ..``."""
    parts = (
        (edge.name for edge in cycle.edges),
        (annotation.name for annotation in cycle.annotations),
        (region.value for region in cycle.regions),
        (".".join(map(str, place)) for place in cycle.places),
    )
    return " | ".join(map(" ".join, parts))


def parse_cycle(text: str) -> Cycle:
    """The cycle that ``cycle_text`` printed. Raises ``ValueError`` where it is none, as where there is communication
    alone, which only goes on in the order of memory."""
    try:
        edges, annotations, regions, places = (part.split(" ") for part in text.split(" | "))
        cycle = Cycle(
            tuple(all_edges()[name] for name in edges),
            tuple(all_annotations()[name] for name in annotations),
            tuple(map(Region, regions)),
            tuple(Place(*map(int, place.split("."))) for place in places),
        )
    except (KeyError, TypeError):
        raise ValueError("not a cycle") from None
    whole = len(cycle.edges) == len(cycle.annotations) == len(cycle.regions) and not cycle.edges[-1].internal
    whole = whole and any(edge.kind not in COMMUNICATION for edge in cycle.edges)
    if not whole or len(cycle.threads()) != len(cycle.places) or cycle_text(cycle) != text:
        raise ValueError("not a cycle")
    return cycle
