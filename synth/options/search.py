"""The options of a synthesis that do not change what it finds, as every command that searches spells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from constraints.solvers import SOLVERS
from synth.options.numbers import JOBS, Seconds


def run_options(default_solver: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--time-limit``, ``--solver``, ``--jobs`` and ``--resume``."""
    options = (
        click.option("--time-limit", type=Seconds(), metavar="S", help="Stop after S seconds."),
        click.option(
            "--solver",
            type=click.Choice(SOLVERS),
            default=default_solver,
            show_default=True,
            metavar="NAME",
            help="A PySAT solver by its name, or z3.",
        ),
        click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given."),
        click.option("--resume", is_flag=True, help="Go on with what an earlier run did not finish."),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
