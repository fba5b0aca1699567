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

A_PART = "for each part of the search, such as one way to divide events among threads, which is then left unfinished"
"""What a search limits."""


def limit_options(
    what: str,
    seconds: float | None = None,
    megabytes: int | None = None,
    whole: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--timeout``, by default ``seconds``; the command gets ``limits``.

    ``what``: what goes on after "Seconds". ``megabytes``: the memory, unless ``--memory`` says something else.
    ``whole``: the seconds are those of a whole task (``Limits``).
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(*args: Any, timeout: float | None, **kwargs: Any) -> Any:
            memory = click.get_current_context().meta.get(_MEMORY) or megabytes
            return command(*args, limits=Limits(timeout, memory, whole), **kwargs)

        return click.option(
            TIMEOUT,
            type=Seconds(positive=True),
            default=seconds,
            show_default=seconds is not None,
            metavar="S",
            help=f"Seconds {what}.",
        )(call)

    return decorate


_MEMORY = "synth.memory"


def _keep_memory(context: click.Context, _option: click.Parameter, megabytes: int | None) -> None:
    context.meta[_MEMORY] = megabytes


memory_option = click.option(
    MEMORY,
    type=click.IntRange(1, 2**24),
    metavar="MB",
    expose_value=False,
    callback=_keep_memory,
    help="Limit the memory of each piece of work whose seconds --timeout limits.  [default: 4096 for tests and "
    "kernels, no limit for searches]",
)
"""``--memory`` before a command; ``limit_options`` reads it."""


ADDRESS = re.compile(r"local(:[1-9][0-9]{0,3})?|(?!local:)((tcp|tls)://)?([^\s:/]+|\[[0-9a-f:]+\]):([0-9]{1,5})")


class Workplace(click.ParamType[int | str]):
    """So many processes of this machine, or the address of a cluster: a scheduler of Dask's, or ``local``."""

    name = "N|ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """A number, or else the address. Fails if it is neither."""
        if isinstance(value, int) or re.fullmatch(r"[+-]?[0-9]+", value):
            return JOBS.convert(value, param, ctx)
        found = ADDRESS.fullmatch(value)
        if not found or int(found[5] or 1) not in range(1, 1 << 16):
            wanted = "a number of processes, HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT, local or local:N"
            self.fail(f"expected {wanted}, found '{value}'", param, ctx)
        return str(value)


def jobs_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--jobs``; its value is a number of processes, or the address of a cluster, or None if it is not given."""
    return click.option(
        "--jobs",
        "-j",
        type=Workplace(),
        metavar="N|ADDRESS",
        help=f"{what} Or use a Dask cluster: the address of its scheduler, or local[:N] (docs/scale.md).",
    )


jobs_options = jobs_option("Use N processes; one for each core by default.")


@contextmanager
def workplaces(jobs: int | str | None, cut: bool = False) -> Iterator[Jobs]:
    """Open a block with the places where work is done: so many processes, as many as there are cores where ``jobs`` is
    None, or a cluster by the address of its scheduler.

    ``cut``: one process, which finds tests in a fixed order, so that a suite that is cut is always the same. Raises
    ``InputError`` where there is no such cluster, and ``UsageError`` for a cluster with ``cut``.
    """
    if not isinstance(jobs, str):
        yield 1 if cut else jobs or cores()
        return
    if cut:
        raise click.UsageError("--max-tests needs one process: leave out the cluster")
    from synth.cluster import connected  # takes its time to be loaded

    with connected(jobs) as found:
        yield found


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--time-limit`` and ``--jobs`` to a command."""
    return click.option("--time-limit", type=Seconds(), metavar="S", help="Stop after S seconds.")(
        jobs_options(command)
    )


def solver_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--solver`` to a command."""
    from constraints.solvers import DEFAULT_SOLVER, SOLVERS  # other commands need no solver

    return click.option(
        "--solver",
        type=click.Choice(SOLVERS),
        default=DEFAULT_SOLVER,
        show_default=True,
        metavar="NAME",
        help="Use this PySAT solver, or z3.",
    )(command)
