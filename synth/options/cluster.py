"""``--jobs`` and ``--cluster``: where work is done that is spread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from synth.options.numbers import JOBS
from synth.pool import Jobs, cores

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


cluster_option = click.option(
    "--cluster", type=ClusterAddress(), metavar="ADDRESS", help="A scheduler of Dask's, or local[:N]: docs/scale.md."
)


def jobs_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--jobs`` and ``--cluster``."""
    command = cluster_option(command)
    return click.option("--jobs", "-j", type=JOBS, help="Processes; as many as cores when not given.")(command)


@contextmanager
def workplaces(jobs: int | None, cluster: str | None, cut: bool = False) -> Iterator[Jobs]:
    """Where work is done: so many processes, as many as there are cores, or a cluster. Raises ``InputError``.

    ``cut``: one process, which finds tests in a fixed order, so that a suite that is cut is the same each time.
    """
    if cluster is None:
        yield 1 if cut else jobs or cores()
        return
    if cut:
        raise click.UsageError("--max-tests is for one process, and goes without --cluster")
    if jobs is not None:
        raise click.UsageError("--jobs is of this machine, and goes without --cluster")
    from synth.cluster import connected  # takes its time to be loaded

    with connected(cluster) as found:
        yield found
