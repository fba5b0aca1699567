"""Options of a launch of a kernel, which a comment line of the kernel's file may have as well.

Example: ``--grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class LaunchWords:
    """What is said of a launch: a word for each option, None or empty where it is not given.

    ``first`` are the launches of the kernels that end before, each a kernel's name with its options.
    """

    kernel: str | None
    first: tuple[str, ...]
    grid: str | None
    block: str | None
    cluster: str | None
    warp: int
    arguments: tuple[str, ...]
    expect: str


_OPTIONS = (
    click.option("--kernel", metavar="NAME", help="Only this kernel."),
    click.option("--grid", metavar="N", help="Blocks, as 2 or 2x1x1."),
    click.option("--block", metavar="N", help="Threads of a block, as 32 or 8x4."),
    click.option("--cluster", metavar="N", help="Blocks of a cluster."),
    click.option("--warp", type=click.IntRange(1, 32), default=32, show_default=True, help="Threads of a warp."),
    click.option(
        "--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="4, [1,2,0], int[8] for zeros, &data."
    ),
    click.option("--first", multiple=True, metavar="LAUNCH", help="What the stream runs before: 'init --grid 2'."),
    click.option("--expect", default="", metavar="CONDITION", help="What holds at the end: 'data[0] == 2'."),
)


def launch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a launch; it gets ``launch``, a ``LaunchWords``."""

    @wraps(command)
    def call(*args: Any, **kwargs: Any) -> Any:
        words = LaunchWords(**{each.name: kwargs.pop(each.name) for each in fields(LaunchWords)})
        return command(*args, launch=words, **kwargs)

    for option in reversed(_OPTIONS):
        call = option(call)
    return call


def read_launch(words: Sequence[str]) -> LaunchWords:
    """Return what words say of a launch. Raises ``click.ClickException`` where they are no options of a launch."""

    @launch_options
    def said(launch: LaunchWords) -> LaunchWords:
        return launch

    found = click.command("launch", add_help_option=False)(said).main(list(words), standalone_mode=False)
    assert isinstance(found, LaunchWords)
    return found
