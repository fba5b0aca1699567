"""``synth export`` writes tests in the format of another runner."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.errors import InputError
from synth.commands.convert import drop_option
from synth.families.interface import chosen, families, family_given
from synth.options.form import Page
from synth.options.question_folder import (
    FolderState,
    answer_folder,
    first_words,
    mark,
    print_state,
    question_name,
    question_of_tests,
)
from synth.options.tests import choice_options
from synth.requests import SelectionFilter
from synth.screen.programs import print_written_tests


@click.command(name="export", cls=Page, first="--to --model --where --output")
@click.argument("inputs", nargs=-1, required=True, metavar="CORPUS|SUITE|FILES...", type=click.Path())
@click.option(
    "--to",
    "target",
    type=click.Choice(list(dict.fromkeys(target for family in families().values() for target in family.targets))),
    required=True,
    help="The format to write.",
)
@drop_option
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="A model for herd7: one that ships, or a .cat file. May be repeated.",
)
@choice_options
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write to a new folder.  [default: a folder named after the tests and the format, such as suite-herd-c]",
)
def command(
    inputs: tuple[str, ...],
    target: str,
    dropped: tuple[str, ...],
    models: tuple[str, ...],
    choice: SelectionFilter,
    output: Path | None,
) -> None:
    """Write tests in another runner's format: progress tests, or litmus tests such as those of synth memory.

    \b
                        progress tests                           litmus tests
      dartagnan-ptx     each thread in its own CTA               Dartagnan's PTX
      dartagnan-vulkan  each thread in its own workgroup         Dartagnan's Vulkan
      dartagnan-opencl                                           Dartagnan's OpenCL
      herd-lisa                                                  LISA, synth.bell and models for herd7
      herd-c                                                     herd's C, and models for herd7
      herd-aarch64, herd-ppc, herd-riscv, herd-x86-64            assembly, for herd7's own models
      webgpu-cts                                                 WebGPU's conformance suite
      litmus                                                     each in its own dialect
      axb               the programs as pseudo-code
      json              an object for each test, for runners     likewise

    With litmus files come the index @all, for Dartagnan and herdtools7, and a table of expected verdicts for each model
    that has any, expected/MODEL.csv. For a progress test the table has FILE,1 if the test terminates and FILE,0 if it
    may hang; the condition in the file is constant, because the question is whether the test terminates. For a litmus
    test the table says whether the condition as written is true, by the corpus or by labels.csv beside the file.

    With tests for herd7 come models in herd7's terms, models/MODEL.cat: those of --model, or all shipped models that
    herd7 has words for.

    For WebGPU's conformance suite, synth writes files for its folder shader/execution/memory_model, with the tests
    whose outcome the model webgpu forbids. It skips tests that the suite's helper cannot express.

    synth reads every litmus test back, and it must be the same. As in synth convert, if a dialect cannot express a
    test, synth skips it, says so on standard error, and ends with exit code 2. --drop works as there too; the tables
    have no verdicts for tests that it changes.

    The folder must be new or empty. It appears whole or not at all.

    \b
    Examples:
      synth export classic --to herd-lisa
      synth export suite --to dartagnan-ptx -o litmus
      synth export suite --to axb -o programs
      synth export examples/progress/mutex.axb --to dartagnan-vulkan -o mutex-vulkan
      synth export classic --to dartagnan-ptx --drop cache -o ptx
      synth export classic --to herd-lisa --model ptx-rmo -o rmo
      synth export examples/memory/webgpu/mp-barrier.litmus --to webgpu-cts -o cts
      synth export suite --to json -o objects
      synth export classic --to litmus --where ptx-rmo=allowed -o weak
    """
    kind = family_given(inputs)
    if target not in kind.targets:
        others = ", ".join(kind.targets)
        kinds = " and ".join(family.kind for family in families().values() if target in family.targets)
        raise InputError(f"--to {target} is for {kinds}; these tests can go to {others}")
    tests = chosen(kind, inputs, choice)
    if output is not None:
        written = kind.export(tests, target, dropped, models, output)
        print_written_tests(written)
        sys.exit(0 if written.complete else 2)
    question = question_of_tests((test.label, test.to_carry().carried) for test in tests)
    folder = answer_folder(question_name([first_words(inputs), target], ("target",)), question)
    if print_state(folder, f"{len(tests)} tests to {target}"):
        return
    if folder.state is not FolderState.NEW:
        raise InputError("it lacks tests: remove the folder to see which, and why", str(folder.path))
    written = kind.export(tests, target, dropped, models, folder.path)
    print_written_tests(written)
    code = 0 if written.complete else 2
    if folder.path.is_dir():
        mark(folder.path, question, code)
    sys.exit(code)
