"""``synth export``: a corpus in another runner's format."""

from __future__ import annotations

from pathlib import Path

import click

from corpus.export import TARGETS, export
from synth.inputs import load_tests


@click.command(name="export")
@click.argument("inputs", nargs=-1, required=True, metavar="CORPUS|FILES...", type=click.Path())
@click.option("--to", "target", type=click.Choice(list(TARGETS)), required=True, help="The format to write.")
@click.option("-o", "--output", required=True, metavar="DIR", type=click.Path(path_type=Path), help="A new folder.")
def command(inputs: tuple[str, ...], target: str, output: Path) -> None:
    """Write a corpus in another runner's format.

    \b
    dartagnan-ptx     PTX litmus tests, each thread in its own CTA
    dartagnan-vulkan  Vulkan litmus tests, each thread in its own workgroup
    axb               the programs as pseudo-code

    With the litmus tests come the index @all, which Dartagnan and herdtools7 take, and one table of expected verdicts
    for each model of the corpus, expected/MODEL.csv: FILE,1 where the test terminates and FILE,0 where it may hang.
    The condition of each test is the constant one, for what is asked is whether it ends.

    The folder must be new or empty; it appears whole or not at all.

    \b
    Examples:
      synth export suite --to dartagnan-ptx -o litmus
      synth export suite --to axb -o programs
      synth export examples/progress/mutex.axb --to dartagnan-vulkan -o mutex-vulkan
    """
    tests = load_tests(inputs)
    export(tests, target, output)
    click.echo(f"{len(tests)} tests in {output}")
