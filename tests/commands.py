"""Commands of ``synth``, run in this process as click's own tests run them."""

from typing import Any

import click
from click.testing import CliRunner, Result

from synth.commands.cli import COMMANDS, main


def synth(*words: object, **options: Any) -> Result:
    """What a command says and its exit status; ``options`` are click's. An error in the program is raised here."""
    return CliRunner().invoke(main, list(map(str, words)), prog_name="synth", catch_exceptions=False, **options)


def printed(*words: object, exit_code: int = 0) -> str:
    """What a command prints, where it ends with that status: on stdout where all is well, else on stderr."""
    result = synth(*words)
    assert result.exit_code == exit_code, result.output
    return result.stdout if exit_code == 0 else result.stderr


def in_form(form: str) -> list[str]:
    """Return the words that ask for a form: ``--json`` for JSON, else ``--format``."""
    return ["--json"] if form == "json" else ["--format", form]


def parse(*words: str) -> None:
    """Read the words of a command without running it: ``click.UsageError`` where it has no such option."""
    _, (name, *left), _ = main.make_parser(click.Context(main)).parse_args(list(words))
    assert name in COMMANDS, name
    command = main.get_command(click.Context(main), name)
    assert command is not None
    command.make_parser(click.Context(command, info_name=name)).parse_args(left)
