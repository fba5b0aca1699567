"""Help of a command in sections: the options that most users need come first, the others below them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click


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
