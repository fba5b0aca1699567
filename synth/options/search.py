"""The options of a synthesis that do not change what it finds, as every command that searches spells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from constraints.solvers import SOLVERS
from synth.options.cluster import jobs_options
from synth.options.numbers import Seconds


def run_options(default_solver: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--time-limit``, ``--solver``, ``--jobs``, ``--cluster`` and ``--resume``."""
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
        jobs_options,
        click.option("--resume", is_flag=True, help="Go on with what an earlier run did not finish."),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
