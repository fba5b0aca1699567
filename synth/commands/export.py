"""``synth export``: tests in another runner's format."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from corpus.dialects.registry import DIALECTS
from corpus.errors import InputError
from corpus.export import TARGETS, export
from synth.inputs import are_litmus, litmus_files, load_tests
from synth.memory.conversion import convert_folder, drop_option

LITMUS_TARGETS = {
    "dartagnan-ptx": "ptx",
    "dartagnan-vulkan": "vulkan",
    "dartagnan-opencl": "opencl",
    "herd-lisa": "lisa",
    "herd-c": "c",
}
"""The dialect that each runner of litmus tests takes."""


@click.command(name="export")
@click.argument("inputs", nargs=-1, required=True, metavar="CORPUS|SUITE|FILES...", type=click.Path())
@click.option(
    "--to",
    "target",
    type=click.Choice(list(dict.fromkeys([*TARGETS, *LITMUS_TARGETS]))),
    required=True,
    help="The format to write.",
)
@drop_option
@click.option("-o", "--output", required=True, metavar="DIR", type=click.Path(path_type=Path), help="A new folder.")
def command(inputs: tuple[str, ...], target: str, dropped: tuple[str, ...], output: Path) -> None:
    """Write tests in another runner's format: progress tests, or litmus tests such as those of synth memory.

    \b
                        progress tests                           litmus tests
      dartagnan-ptx     each thread in its own CTA               Dartagnan's PTX
      dartagnan-vulkan  each thread in its own workgroup         Dartagnan's Vulkan
      dartagnan-opencl                                           Dartagnan's OpenCL
      herd-lisa                                                  LISA, and synth.bell for herd7
      herd-c                                                     herd's C
      axb               the programs as pseudo-code

    With litmus files come the index @all, which Dartagnan and herdtools7 take, and one table of expected verdicts for
    each model that has any, expected/MODEL.csv. Of a progress test it says FILE,1 where the test terminates and FILE,0
    where it may hang, and the condition is the constant one, for what is asked is whether it ends. Of a litmus test it
    says whether the condition as it is written is true, taken from labels.csv beside the file.

    Every litmus test is read back and must be the same. One that a dialect cannot say is a line on standard error and
    is left out, and the exit code is 2, as for synth convert; --drop is the same as there, and nothing is expected of
    the tests that it changes.

    The folder must be new or empty; it appears whole or not at all.

    \b
    Examples:
      synth export suite --to dartagnan-ptx -o litmus
      synth export suite --to axb -o programs
      synth export examples/progress/mutex.axb --to dartagnan-vulkan -o mutex-vulkan
      synth export classic --to herd-lisa -o lisa
      synth export classic --to dartagnan-ptx --drop cache -o ptx
    """
    if are_litmus(inputs):
        if target not in LITMUS_TARGETS:
            raise _only_for("progress", target, LITMUS_TARGETS)
        dialect = DIALECTS[LITMUS_TARGETS[target]]
        sys.exit(convert_folder(litmus_files(inputs), dialect, dropped, output, expected=True))
    if target not in TARGETS:
        raise _only_for("litmus", target, TARGETS)
    if dropped:
        raise click.UsageError("--drop is for litmus tests")
    tests = load_tests(inputs)
    export(tests, target, output)
    click.echo(f"{len(tests)} tests in {output}")


def _only_for(kind: str, target: str, others: Iterable[str]) -> InputError:
    return InputError(f"--to {target} is for {kind} tests; these are none, and go to {', '.join(others)}")
