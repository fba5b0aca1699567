"""Prints a critical cycle on one line, and parses such a line."""

from __future__ import annotations

from corpus.cycles.cycle import Cycle
from corpus.cycles.edges import COMMUNICATION, all_annotations, all_edges
from corpus.litmus.test import Place, Region


def cycle_text(cycle: Cycle) -> str:
    """Print a cycle on one line: its edges, annotations, regions of events, and places of threads (GPU, queue, CTA,
    warp), as ``Rfe .. | Plain .. | global .. | 0.0.0.0 ..``.
    """
    parts = (
        (edge.name for edge in cycle.edges),
        (annotation.name for annotation in cycle.annotations),
        (region.value for region in cycle.regions),
        (".".join(map(str, place)) for place in cycle.places),
    )
    return " | ".join(map(" ".join, parts))


def parse_cycle(text: str) -> Cycle:
    """Return the cycle that ``cycle_text`` printed. Raises ``ValueError`` where the line denotes no cycle, as where all
    edges are communication, which only follows the order of memory.
    """
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
