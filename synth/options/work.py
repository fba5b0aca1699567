"""Options of how long work may take, where it is done and by which solver: limits, processes, clusters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from synth.options.values import JOBS, Seconds
from synth.pool import Jobs, cores
from synth.worker import MEMORY, TIMEOUT, Limits

A_PART = "a part of the search, as events that are shared among threads in one way, may take. It is left then"
"""What a search limits."""


def limit_options(
    what: str, seconds: float | None = None, megabytes: int | None = None, whole: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--timeout`` and ``--memory``, by default ``seconds`` and ``megabytes``; the command gets ``limits``.

    ``what``: what goes on after "Seconds". ``whole``: the seconds are those of a whole task (``Limits``).
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(*args: Any, timeout: float | None, memory: int | None, **kwargs: Any) -> Any:
            return command(*args, limits=Limits(timeout, memory, whole), **kwargs)

        options = (
            click.option(
                TIMEOUT,
                type=Seconds(positive=True),
                default=seconds,
                show_default=seconds is not None,
                metavar="S",
                help=f"Seconds {what}.",
            ),
            click.option(
                MEMORY,
                type=click.IntRange(1, 2**24),
                default=megabytes,
                show_default=megabytes is not None,
                metavar="MB",
                help="Memory that it may take, likewise.",
            ),
        )
        for option in reversed(options):
            call = option(call)
        return call

    return decorate


ADDRESS = re.compile(r"local(:[1-9][0-9]{0,3})?|(?!local:)((tcp|tls)://)?([^\s:/]+|\[[0-9a-f:]+\]):([0-9]{1,5})")


class ClusterAddress(click.ParamType[str]):
    """A scheduler of Dask's, or ``local`` with the number of its workers."""

    name = "ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """What is given, where it may be one."""
        found = ADDRESS.fullmatch(value)
        if not found or int(found[5] or 1) not in range(1, 1 << 16):
            wanted = "HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT, local or local:N"
            self.fail(f"expected {wanted}, found '{value}'", param, ctx)
        return str(value)


scheduler_option = click.option(
    "--scheduler",
    type=ClusterAddress(),
    metavar="ADDRESS",
    help="A scheduler of Dask's, or local[:N]: docs/scale.md.",
)


def jobs_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--jobs`` and ``--scheduler`` to a command."""
    command = scheduler_option(command)
    return click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")(command)


@contextmanager
def workplaces(jobs: int | None, scheduler: str | None, cut: bool = False) -> Iterator[Jobs]:
    """Where work is done: so many processes, as many as there are cores, or a cluster. Raises ``InputError``.

    ``cut``: one process, which finds tests in a fixed order, so that a suite that is cut is the same each time.
    """
    if scheduler is None:
        yield 1 if cut else jobs or cores()
        return
    if cut:
        raise click.UsageError("--max-tests is for one process, and goes without --scheduler")
    if jobs is not None:
        raise click.UsageError("--jobs is of this machine, and goes without --scheduler")
    from synth.cluster import connected  # takes its time to be loaded

    with connected(scheduler) as found:
        yield found


def run_options(default_solver: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--time-limit``, ``--solver``, ``--jobs``, ``--scheduler`` and ``--resume`` to a command."""
    from constraints.solvers import SOLVERS  # other commands need no solver

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
