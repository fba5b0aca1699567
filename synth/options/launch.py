"""Options of a launch of a kernel, which a comment line of the kernel's file may have as well.

Example: ``--grid 2 --block 32 --arg n=4 --expect 'data[0] == 2'``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class LaunchWords:
    """What is said of a launch: a word for each option, None or empty where it is not given.

    ``first`` are the launches of the kernels that end before, each a kernel's name with its options.
    """

    kernel: str | None = None
    first: tuple[str, ...] = ()
    grid: str | None = None
    block: str | None = None
    cluster: str | None = None
    warp: int | None = None
    arguments: tuple[str, ...] = ()
    expect: str = ""

    def over(self, said: LaunchWords) -> LaunchWords:
        """Return a comment line's options with those of the command line, which win, option by option.

        Each argument is an option by itself: of two for one parameter, the later one counts.
        """
        return LaunchWords(
            self.kernel or said.kernel,
            self.first or said.first,
            self.grid or said.grid,
            self.block or said.block,
            self.cluster or said.cluster,
            self.warp or said.warp,
            (*said.arguments, *self.arguments),
            self.expect or said.expect,
        )


_OPTIONS = {
    "kernel": click.option("--kernel", metavar="NAME", help="Check only this kernel."),
    "grid": click.option("--grid", metavar="N", help="Number of blocks, such as 2 or 2x1x1."),
    "block": click.option("--block", metavar="N", help="Threads in a block, such as 32 or 8x4."),
    "cluster": click.option("--cluster", metavar="N", help="Blocks in a cluster."),
    "warp": click.option(
        "--warp", type=click.IntRange(1, 32), help="Threads in a warp.  [default: 32; without a launch, 1 and 32]"
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

KERNELS = (".cu", ".cuh", ".ptx")
"""The ends of names of files that have kernels."""

SPIRV = (".spv", ".spvasm")
"""The ends of names of files of SPIR-V, binary and text."""

NOT_REPAIRED = (*SPIRV, ".comp", ".glsl", ".cl", ".hip", ".wgsl")
"""The ends of names of files whose kernels are SPIR-V, or are compiled to it: these are checked, and not repaired."""

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
            if empty := next(
                (name for name, value in given.items() if isinstance(value, str) and not value.strip()), ""
            ):
                raise click.UsageError(f"--{empty} is empty: give it a value, or leave it out")
            given |= {"expect": given["expect"] or ""} if "expect" in given else {}
            return command(*args, launch=LaunchWords(**given), **kwargs)

        for name, option in reversed(_OPTIONS.items()):
            call = call if name in without else option(call)
        return call

    return decorate


def read_launch(words: Sequence[str]) -> LaunchWords:
    """Return what words say of a launch. Raises ``ValueError``, which says why, where they are no options of one."""

    @launch_options()
    def said(launch: LaunchWords) -> LaunchWords:
        return launch

    try:
        found = click.command("launch", add_help_option=False)(said).main(list(words), standalone_mode=False)
    except click.ClickException as error:
        raise ValueError(error.format_message()) from None
    assert isinstance(found, LaunchWords)
    return found
