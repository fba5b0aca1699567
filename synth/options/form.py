"""The option ``--format`` as commands that print tables spell it: for a terminal, or for a document."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from synth.tables import FORMS, TABLE

Result = TypeVar("Result")

JSON = "json"
"""The form for programs."""

_KEY = "synth.form"


def table_option(function: Callable[..., Result]) -> Callable[..., Result]:
    """``--format``; the command itself need not know, for it is ``synth.screen`` that prints."""

    @click.option(
        "--format",
        "form",
        type=click.Choice(FORMS),
        default=TABLE,
        show_default=True,
        help="How tables are printed: for a terminal, or for a document. LaTeX needs booktabs.",
    )
    @wraps(function)
    def call(*args: Any, form: str, **kwargs: Any) -> Result:
        if form != TABLE and kwargs.get("as_json"):
            raise click.UsageError("--json prints no table: give it alone, or --format")
        print_as(form)
        return function(*args, **kwargs)

    return call


def form_options(help: str, *forms: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """``--format`` of one of these forms, and ``--json``; the command gets ``form``."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        shown = f"[{'|'.join(forms)}]"
        function = click.option("--json", "form", flag_value=JSON, help="JSON, for programs.")(function)
        return click.option("--format", "form", type=click.Choice([*forms, JSON]), metavar=shown, help=help)(function)

    return decorate


def print_as(form: str) -> None:
    """From now on the command at hand prints tables in this form."""
    click.get_current_context().meta[_KEY] = form


def printed_as() -> str:
    """The form in which the command at hand prints tables."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(_KEY, TABLE)) if context else TABLE
