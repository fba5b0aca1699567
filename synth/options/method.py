"""The option ``--method``: how verdicts of consistency models are found (``synth.memory.judging``)."""

from __future__ import annotations

import click

ENUMERATE, SAT, SMT = "enumerate", "sat", "smt"
"""Ways to the verdict of a model that is a .cat file."""

AUTO = "auto"
"""Enumeration where an estimate of the executions is small; else SAT, and where values are too many for it, SMT."""

method_option = click.option(
    "--method",
    type=click.Choice([AUTO, ENUMERATE, SAT, SMT]),
    default=AUTO,
    show_default=True,
    help="Litmus tests: list the executions, or ask a SAT solver, or z3. auto lists them where they are not too many.",
)
