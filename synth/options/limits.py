"""``--timeout`` and ``--memory``: what one test, or one part of a search, may take."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from synth.options.numbers import Seconds
from synth.pool import MEMORY, TIMEOUT, Limits

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
