"""Options of a launch of a kernel, which a comment line of the kernel's file may have as well.

Example: ``--grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from synth.requests import WARP, LaunchWords, check_not_empty

_OPTIONS = {
    "kernel": click.option("--kernel", metavar="NAME", help="Check only this kernel."),
    "grid": click.option("--grid", metavar="N", help="Number of blocks, such as 2 or 2x1x1."),
    "block": click.option("--block", metavar="N", help="Threads in a block, such as 32 or 8x4."),
    "cluster": click.option("--cluster", metavar="N", help="Blocks in a cluster."),
    "warp": click.option(
        "--warp", type=click.IntRange(*WARP), help="Threads in a warp.  [default: 32; without a launch, 1 and 32]"
    ),
    "arguments": click.option(
        "--arg",
        "arguments",
        multiple=True,
        metavar="NAME=VALUE",
        help="Value of a parameter: 4, [1,2,0], int[8] for zeros, &data; p.n=4 sets a field of a structure.",
    ),
    "first": click.option(
        "--first", multiple=True, metavar="LAUNCH", help="Launch this first, in the same stream: 'init --grid 2'."
    ),
    "expect": click.option(
        "--expect", metavar="CONDITION", help="Condition that must hold at the end: 'data[0] == 2'."
    ),
}

compiler_option = click.option(
    "--compiler-option",
    "-X",
    "compiler_options",
    multiple=True,
    metavar="WORD",
    help="Pass WORD to the compiler: -X -Ifolder.",
)


def launch_options(*without: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a launch, but for some by the names of their values; the command gets ``launch``, a
    ``LaunchWords``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(*args: Any, **kwargs: Any) -> Any:
            given: dict[str, Any] = {name: kwargs.pop(name) for name in _OPTIONS if name not in without}
            try:
                check_not_empty(given)
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            given |= {"expect": given["expect"] or ""} if "expect" in given else {}
            return command(*args, launch=LaunchWords(**given), **kwargs)

        for name, option in reversed(_OPTIONS.items()):
            call = call if name in without else option(call)
        return call

    return decorate
