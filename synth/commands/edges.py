"""``synth edges`` lists the edges of critical cycles."""

from __future__ import annotations

import click
from rich.table import Table

from corpus.cycles.edges import all_annotations, all_edges, describe_annotation, describe_edge
from synth.screen.console import screen


@click.command(name="edges")
def command() -> None:
    """List the edges and annotations that synth memory takes, each with a line that describes it.

    \b
    You can combine names:
      [A,B]          A, and then B
      A|B            either of the two
      RfeRel.gpuAcq.gpu   an edge with the annotations of its two accesses
      Wse            another name for Coe
      FenceScdWR     a fence at each of --scopes; likewise Rlx, Acq, Rel, Sc

    \b
    Examples:
      synth edges
      synth edges | grep Membar
    """
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, edge in all_edges().items():
        table.add_row(name, describe_edge(edge))
    for name, annotation in all_annotations().items():
        table.add_row(name, describe_annotation(annotation))
    screen().print(table)
