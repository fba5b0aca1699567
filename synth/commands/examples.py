"""``synth examples`` writes the examples that ship into a folder of the user's."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from corpus.errors import InputError, printable
from corpus.files import folder_of, new_folder


def _shipped() -> Path:
    """Return the folder of examples: within the package where it is installed (by ``setup.py``), beside it in a
    checkout.
    """
    package = folder_of("synth")
    for folder in (package / "examples", package.parent / "examples"):
        if (folder / "progress" / "mutex.axb").is_file():
            return folder
    raise InputError("this installation has no examples; the repository and the wheel have them")


@click.command(name="examples")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("examples"),
    show_default=True,
    metavar="FOLDER",
    help="Write into this folder, which must be new or empty.",
)
def command(output: Path) -> None:
    """Write synth's examples into a folder.

    They are progress and litmus tests, locks, mappings, models, profiles of devices, and applications. The commands in
    the README and in every --help name them by the folder examples, so run those commands beside it.

    \b
    Examples:
      synth examples -o tutorial
    """
    with new_folder(output) as folder:
        shutil.copytree(_shipped(), folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    names = sorted(path.name for path in output.iterdir() if path.is_dir())
    click.echo(printable(f"{output}: {', '.join(names)}"))
