"""``synth completion`` lets a shell complete names of commands, options and files."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from corpus.errors import InputError, printable
from corpus.files import write_atomically

SHELLS = ("bash", "zsh", "fish")


def _script(shell: str) -> str:
    """Return click's completion script for a shell."""
    found = get_completion_class(shell)
    assert found is not None, shell
    root = click.get_current_context().find_root().command
    return found(root, {}, "synth", "_SYNTH_COMPLETE").source().strip() + "\n"


def _place(shell: str) -> Path:
    """Return the user's file that the shell reads by itself, by the XDG base directories."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "synth",
        "zsh": data / "zsh" / "site-functions" / "_synth",
        "fish": settings / "fish" / "completions" / "synth.fish",
    }[shell]


_NOTES = {
    "bash": "new shells complete if bash-completion is installed",
    "zsh": "new shells complete if .zshrc says, before compinit: fpath+=({folder})",
    "fish": "new shells complete",
}


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS), required=False)
@click.option("--install", is_flag=True, help="Write the script where the shell looks for it, in your home folder.")
def command(shell: str | None, install: bool) -> None:
    """Print the script that lets a shell complete the words of synth, or install it.

    By default SHELL is your shell, from the variable SHELL. To try completion in this shell only: eval "$(synth
    completion)".

    \b
    Examples:
      synth completion bash
      synth completion zsh > _synth
    """
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise InputError(f"your shell is not one of {', '.join(SHELLS)}; name one")
    script = _script(shell)
    if not install:
        click.echo(script, nl=False)
        return
    path = _place(shell)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(path)) from None
    write_atomically(path, [script])
    click.echo(printable(f"{path}: {_NOTES[shell].format(folder=path.parent)}"))
