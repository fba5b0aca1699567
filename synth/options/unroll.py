"""The option ``--unroll`` as every command that takes it spells it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from oracle.executions.bounds import UNROLL


def unroll_option(note: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--unroll``; its value is a number from 0 on. ``note`` goes before what it says of itself."""
    help_ = f"{note} how often each jump backwards is taken at most.".strip()
    return click.option(
        "--unroll",
        type=click.IntRange(min=0),
        default=UNROLL,
        show_default=True,
        metavar="N",
        help=help_[0].upper() + help_[1:],
    )
