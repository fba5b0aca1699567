"""``synth models`` lists the progress models and memory models that ship."""

from __future__ import annotations

import json
from dataclasses import asdict

import click
from rich.text import Text

from oracle.catalogue import catalogue, first_sentence
from synth.options.form import json_option
from synth.screen.console import plain_table, screen


@click.command(name="models")
@json_option("Print a JSON list with an object for each model, which gives its whole source.")
def command(as_json: bool) -> None:
    """List the built-in models: what each says, which programs it covers, and its source.

    Memory models answer ALLOWED or FORBIDDEN for a litmus test, progress models TERMINATES or MAY_HANG. The column
    words has what --vocabulary of synth memory --from takes. Your own model is a .cat file, named by its path, or a
    Python file for progress (docs/oracle.md).

    \b
    Examples:
      synth models
      synth models --json
      synth --format markdown models
      synth models | grep ptx
    """
    entries = catalogue()
    if as_json:
        click.echo(json.dumps([asdict(entry) for entry in entries], indent=2))
        return
    table = plain_table("model", "family", "as", "words", "what it says", "source")
    for entry in entries:
        description = Text(entry.says), Text(first_sentence(entry.source))
        table.add_row(entry.name, entry.family, entry.kind, entry.vocabulary or "-", *description)
    screen().print(table)
