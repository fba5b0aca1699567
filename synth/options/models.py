"""Options that name models and say how their verdicts are found: ``--model``, ``--method`` and ``--unroll``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from oracle.executions.bounds import UNROLL
from synth.requests import AUTO, ENUMERATE, SAT, SMT

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class ModelName(click.types.StringParamType):
    """A model by name or by its file; ``oracle.progress.plugins`` and ``oracle.consistency`` say what it means."""

    name = "model"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of built-in models, or else the names of files."""
        from click.shell_completion import CompletionItem

        from oracle.consistency import model_names
        from oracle.progress.models import GUARANTEES, MODELS

        names = [name for name in (*GUARANTEES, *MODELS, *model_names()) if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def models_option(help: str, into: str = "models", required: bool = False) -> Callable[..., Any]:
    """``--model``, given once for each model; its value is a tuple of names."""
    return click.option(
        "-m", "--model", into, type=ModelName(), multiple=True, required=required, metavar="MODEL", help=help
    )


def model_option(
    required: bool = False, memory: bool = False, note: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--model``, given once for each model; its value is a tuple of names. ``memory``: for litmus tests too; ``note``
    goes before what it says of itself.
    """
    default = "" if required else "  [default: all built-in models]"
    consistency = (
        " Litmus tests also take a consistency model (sc, ptx-6.0, opencl, vulkan ..; synth models lists them) or a "
        ".cat file. 'fair & rc11' asks whether the test may hang if fair schedules threads and memory follows rc11. "
        "'& lockstep', '& independent' or '& maximal' says how lanes of a subgroup step."
    )
    return models_option(
        f"{note} ".lstrip()
        + "unfair, hsa, obe, hsa+obe, lobe or fair, with -weak or -strong (both if you give neither); or a "
        "Python file that defines guarantee(running, stepped). hsa@workgroup promises progress to groups, "
        f"'hsa@workgroup & obe@subgroup' at two levels.{consistency * memory} Repeatable.{default}",
        required=required,
    )


method_option = click.option(
    "--method",
    type=click.Choice([AUTO, ENUMERATE, SAT, SMT]),
    default=AUTO,
    show_default=True,
    help="Litmus tests: list the executions, or ask a SAT solver or z3; auto lists them unless there are too many. "
    "Progress tests: sat and smt ask a solver, the others explore the states.",
)


def unroll_option(note: str = "") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--unroll``; its value is a number from 0 on. ``note`` goes before what it says of itself."""
    help_ = f"{note} follow each backward jump at most N times.".strip()
    return click.option(
        "--unroll",
        type=click.IntRange(min=0),
        default=UNROLL,
        show_default=True,
        metavar="N",
        help=help_[0].upper() + help_[1:],
    )
