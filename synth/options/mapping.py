"""The option ``--mapping`` of ``compile`` and ``run``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from backends.shared.mapping import MAPPINGS

_Function = TypeVar("_Function", bound=Callable[..., Any])


def mapping_option(default: str) -> Callable[[_Function], _Function]:
    """``--mapping``, repeatable or ``all``; the command gets ``mappings``, names in the order of ``MAPPINGS``."""

    def names(_context: click.Context, _option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in MAPPINGS if name in given or "all" in given)

    return click.option(
        "--mapping",
        "mappings",
        type=click.Choice([*MAPPINGS, "all"]),
        multiple=True,
        default=(default,),
        show_default=True,
        callback=names,
        help="Which work-group runs which thread; may be given more than once.",
    )
