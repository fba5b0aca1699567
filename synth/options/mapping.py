"""The options ``--mapping`` and ``--placement`` of ``compile`` and ``run``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from backends.shared.mapping import DEVICE, MAPPINGS, PLACEMENTS

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
