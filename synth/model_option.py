"""The option ``--model`` as every command that takes it spells it, with shell completion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from oracle.progress import GUARANTEES, MODELS


class ModelName(click.types.StringParamType):
    """The name of a model or of a Python file that defines one; ``oracle.plugins`` says what it means."""

    name = "model"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Built-in names first, else a file."""
        names = [name for name in (*GUARANTEES, *MODELS) if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def model_option(required: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """``--model``, given once for each model; its value is a tuple of names."""
    default = "" if required else " Default: the twelve built-in models."
    return click.option(
        "-m",
        "--model",
        "models",
        type=ModelName(),
        multiple=True,
        required=required,
        metavar="MODEL",
        help="unfair, hsa, obe, hsa+obe, lobe or fair, with -weak or -strong (both where neither is said); or a "
        f"Python file that defines guarantee(running, stepped). May be repeated.{default}",
    )
