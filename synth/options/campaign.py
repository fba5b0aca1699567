"""The options of a campaign: how many trials at a time, which of them, for how long, and where threads are placed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from backends.shared.mapping import DEVICE, MAPPINGS, PLACEMENTS
from synth.campaigns import RERUN, Campaign, Shard
from synth.options.values import Seconds
from synth.options.work import jobs_option


class _Shard(click.ParamType[Shard]):
    name = "i/n"

    def convert(self, value: str | Shard, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        return value if isinstance(value, Shard) else Shard.parse(value)


def campaign_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--jobs``, ``--shard``, ``--rerun`` and ``--time-limit`` as ``campaign`` and ``cluster``; ``--junit``."""

    def gathered(
        *arguments: Any,
        jobs: int | str | None,
        shard: Shard,
        rerun: str | None,
        time_limit: float | None,
        **others: Any,
    ) -> Any:
        here, cluster = (1, jobs) if isinstance(jobs, str) else (jobs or 1, None)
        campaign = Campaign(here, shard, rerun, time_limit)
        return command(*arguments, campaign=campaign, cluster=cluster, **others)

    gathered.__doc__ = command.__doc__
    gathered.__name__ = command.__name__
    if hasattr(command, "__click_params__"):
        gathered.__click_params__ = command.__click_params__  # type: ignore[attr-defined]
    options = (
        jobs_option("Run N trials at a time, each in its own process; 1 by default."),
        click.option(
            "--shard",
            type=_Shard(),
            default="1/1",
            metavar="I/N",
            help="Run part I of N of the tests: one part for each of N machines.",
        ),
        click.option(
            "--rerun",
            type=click.Choice(RERUN),
            help="Run again only the trials that have no line yet, that failed or that hung, or run all again.  "
            "[default: those without a result]",
        ),
        click.option("--time-limit", type=Seconds(), metavar="S", help="Start no trial after S seconds."),
        click.option(
            "--junit",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Write a JUnit report for a continuous-integration service.",
        ),
    )
    decorated: Callable[..., Any] = gathered
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


_Function = TypeVar("_Function", bound=Callable[..., Any])


def mapping_option(default: str) -> Callable[[_Function], _Function]:
    """``--mapping``, repeatable or ``all``; the command gets ``mappings``, names in the order of ``MAPPINGS``."""

    return _several(
        "--mapping", "mappings", MAPPINGS, default, "How threads are distributed over work-groups. Repeatable."
    )


def placement_option() -> Callable[[_Function], _Function]:
    """Add ``--placement`` to a command, which gets the chosen ``placements``."""
    words = "Put the threads of a progress test in separate work-groups, in one, or in one subgroup. Repeatable."
    return _several("--placement", "placements", PLACEMENTS, DEVICE.name, words)


def _several(
    option: str, parameter: str, every: Iterable[str], default: str, words: str
) -> Callable[[_Function], _Function]:
    def names(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in every if name in given or "all" in given)

    return click.option(
        option,
        parameter,
        type=click.Choice([*every, "all"]),
        multiple=True,
        default=(default,),
        show_default=True,
        callback=names,
        help=words,
    )
