"""How a command prints, ``synth --format latex show suite`` for documents, and how its page of help is divided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


class Page(click.Command):
    """A command whose help shows a few options first, named in ``first`` by their long spellings.

    ``sections`` gives the options of sections below. All options that no section names stand in the last one.
    Example: ``@click.command(name="edges", cls=Page, first="--format")``.
    """

    def __init__(self, *args: Any, first: str, sections: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = {name: names.split() for name, names in {"Options": first, **(sections or {})}.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        for heading, rows in self.rows(ctx).items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def rows(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """Return the rows of each section, an option and its help each, in the order of the command."""
        placed = {name: heading for heading, names in self.sections.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*self.sections, "More options")}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and not isinstance(parameter, click.Argument):
                rows[next((placed[name] for name in parameter.opts if name in placed), "More options")].append(record)
        return {heading: there for heading, there in rows.items() if there}
