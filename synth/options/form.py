"""How a command prints: ``synth --format latex show suite`` for documents, ``synth show suite --json`` for programs."""

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

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    default=TABLE,
    show_default=True,
    help="Print tables for a terminal, or for a document. LaTeX needs the package booktabs.",
)
"""``--format`` before a command, which itself need not know of it, because ``synth.screen`` prints."""

titles_option = click.option("--no-title", "untitled", is_flag=True, help="Draw pictures without titles, for papers.")
"""``--no-title`` before a command, which need not know of it: ``synth.screen.pictures`` looks for it."""


def json_option(help: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """``--json``; the command gets ``as_json``."""

    def alone(_context: click.Context, _option: click.Parameter, given: bool) -> bool:
        if given and printed_as() != TABLE:
            raise click.UsageError("--json prints no table: give --json or --format, not both")
        return given

    return click.option("--json", "as_json", is_flag=True, callback=alone, help=help)


def form_options(help: str, *forms: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """``--format`` of one of these forms, and ``--json``; the command gets ``form``."""

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(function)
        def call(*args: Any, form: str | None, as_json: bool, **kwargs: Any) -> Result:
            if as_json and form is not None:
                raise click.UsageError("give --json or --format, not both")
            return function(*args, form=JSON if as_json else form, **kwargs)

        json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
        return click.option("--format", "form", type=click.Choice(forms), help=help)(json_flag(call))

    return decorate


def print_as(form: str) -> None:
    """From now on the command at hand prints tables in this form."""
    click.get_current_context().meta[_KEY] = form


def printed_as() -> str:
    """The form in which the command at hand prints tables."""
    context = click.get_current_context(silent=True)
    return str(context.meta.get(_KEY, TABLE)) if context else TABLE


def asks_json() -> bool:
    """Whether the command at hand was asked for JSON."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("as_json"))
