"""``synth compile`` turns tests into programs for a device."""

from __future__ import annotations

import sys
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from backends.registry import BACKENDS
from backends.shared.layout import Parameters
from backends.shared.mapping import MAPPINGS
from backends.shared.process import ended_by_signals
from backends.shared.profiles import read_profile
from corpus.errors import InputError
from corpus.files import halves
from synth.compilation import Making
from synth.families.interface import chosen, family_given, refuse_foreign
from synth.inputs import MEMORY, family_of
from synth.options.form import json_option
from synth.options.mapping import mapping_option, placement_option
from synth.options.models import model_option
from synth.options.page import Page
from synth.options.question_folder import (
    FolderState,
    answer_folder,
    asked_of_tests,
    first_words,
    mark,
    question_name,
    told,
)
from synth.options.tests import SelectionFilter, choice_options
from synth.pool import cores, resumable

if TYPE_CHECKING:
    from synth.translation.compiled import TranslationTask


class _Compile(Page):
    """The command, whose help looks at every language when somebody asks for it."""

    @property
    def help(self) -> str:
        """The text of the help, with how the files of each language are run."""
        width = 2 + max(len(each.files) for each in BACKENDS.values())
        usages = (f"  {each.name:<8}{each.files:<{width}}{each.usage}" for each in BACKENDS.values())
        return self._help.replace("  USAGES", "\n".join(usages))

    @help.setter
    def help(self, text: str | None) -> None:
        self._help = cleandoc(text or "")


@click.command(name="compile", cls=_Compile, first="--backend --where --profile --output")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@click.option("--backend", type=click.Choice(list(BACKENDS)), required=True, help="The language to write.")
@choice_options
@mapping_option("plain")
@placement_option()
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    metavar="M",
    help="Instances that round-robin and chunked run at once.  [default: as many as 65,535 work-groups hold; "
    f"800 threads for cpp; of a memory test, {Parameters().instances}]",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="glsl: launches that the script of a memory test makes; web: what the page proposes; other programs are told "
    "when they are run.",
)
@click.option(
    "--profile",
    "profiles",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="A profile (TOML) that memory tests are launched as; web: one that they can be, may be repeated.",
)
@click.option(
    "--random",
    type=click.IntRange(min=0, max=1000),
    default=0,
    show_default=True,
    metavar="N",
    help="web: how many random profiles the page proposes to launch memory tests as; there it is chosen, with the seed "
    "and what each parameter is drawn from.",
)
@model_option(memory=True, note="web: what results are set against; hip with --sequences: machine code. ")
@click.option("--cpu", is_flag=True, help="Lay memory tests out for a device that is a CPU, such as lavapipe or PoCL.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write.  [default: a folder that is named after the tests and the language, such as suite-cuda]",
)
@click.option("--force", is_flag=True, help="Write into DIR even if it is not empty.")
@json_option("Beside each program, the test and its launch for runners.")
@click.option("--check", is_flag=True, help="Have the real compiler compile every file that was written.")
@click.option(
    "--check-translation",
    is_flag=True,
    help="Of memory tests: read back what the real compilers make of each, and judge it against the test.",
)
@click.option(
    "--sequences",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="hip, with --check: a table of code sequences (.seq) that the machine code of memory tests is held against, "
    "row by row, and with --model on its machine; may be repeated.",
)
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    backend: str,
    choice: SelectionFilter,
    mappings: tuple[str, ...],
    placements: tuple[str, ...],
    instances: int | None,
    iterations: int,
    profiles: tuple[Path, ...],
    random: int,
    models: tuple[str, ...],
    cpu: bool,
    output: Path | None,
    force: bool,
    as_json: bool,
    check: bool,
    check_translation: bool,
    sequences: tuple[Path, ...],
) -> None:
    """Turn tests into programs for devices.

    Each progress test and mapping becomes one file, DIR/TEST.MAPPING.SUFFIX. A work-group has one thread, and with
    --placement workgroup or subgroup all threads of an instance, DIR/TEST.MAPPING.PLACEMENT.SUFFIX. A mapping says
    which work-group, or which thread of it, runs which thread of the test:

    \b
      plain        one instance; work-group i runs thread i
      round-robin  M instances; the threads of an instance side by side
      chunked      M instances; M copies of thread 0, then M of thread 1, ...

    \b
    What the files are and how to run them:
      USAGES

    A test that hangs does not come back: always run it under a time-out.

    web writes one page, DIR/index.html, for all tests, which asks the network for nothing: whoever opens it in a
    browser with WebGPU runs the tests on his GPU, sees which models that contradicts, and saves the results. There all
    mappings are chosen among, and several numbers of instances, where none is named here.

    Each memory (litmus) test becomes one file, DIR/TEST.SUFFIX, that runs many instances at once and counts their
    outcomes; the host for OpenCL is run_opencl.py. A test that the language cannot say is left out, with a line
    that says why; nothing is approximated. In CUDA, accesses are the PTX of the test, and --check includes optcheck:
    the machine code for sm_75 and sm_90 must have every access once, in order, with its dependencies. In HIP it must
    have every access, fence and barrier, for each GPU that the clang knows.

    With --json, beside each program is an object that a runner reads without a parser: the threads with their
    instructions, the condition, the text of the program, the sizes of its launch and its bindings (docs/formats.md).

    \b
    Examples:
      synth compile suite --backend cuda
      synth compile suite --backend opencl --where 'hsa-weak=terminates' --where threads=2 -o cl
      synth compile examples/progress --backend glsl --mapping all -o glsl --check
      synth compile examples/progress/mutex.axb --backend opencl --mapping chunked --instances 64 -o mutex-cl
      synth compile examples/memory --backend cuda -o litmus --check
      synth compile examples/memory/amdgpu/isa2-wider.litmus --backend hip -o isa2 --check \\
          --sequences examples/sequences/gfx90a.seq -m amdgpu
      synth compile suite --backend web -o site
      synth compile suite --backend glsl --json -o runner
      synth compile examples/memory/webgpu --backend glsl -o shaders --check-translation

    With --check-translation each memory test goes through the compilers of its language, at each level of optimisation:
    a launch of one instance is compiled, what comes out is read back as a litmus test, and its outcomes under the model
    of its language must be among those of the test (docs/translation.md). DIR/translation.jsonl has the verdicts, and
    the same command goes on behind those that a run that was stopped has left.

    Exit code 1 if a file cannot be read, or if --check finds one that does not compile, or optcheck a test that is not
    itself any more, or --sequences code that is not a table's, or --check-translation a translation that is weaker; 2
    if none can be read, or no memory test can be said in the language.
    """
    language = BACKENDS[backend]
    if sequences:
        from synth.memory.code_sequences import BACKEND, with_sequences

        if backend != BACKEND or not check:
            raise InputError(f"--sequences is for --backend {BACKEND} with --check")
        language = with_sequences(language, sequences, models)
    if check and (lacking := language.compiler.missing()):
        raise InputError(f"--check needs {' and '.join(lacking)}")
    left = [] if output is None else halves(output)
    resume = check_translation and not force and output is not None and any(output.glob("*.request.json"))
    if (
        output is not None
        and output.exists()
        and not force | resume
        and (not output.is_dir() or len(left) < len(list(output.iterdir())))
    ):
        raise InputError("the output folder is not empty; --force writes into it", str(output))
    kind = family_given(inputs)
    refuse_foreign(context, kind)
    together = language.bundle is not None
    for name in ("cpu", "as_json") if together else ("random",) if sequences else ("random", "models"):
        if _is_given(context, name):
            option = name.removesuffix("s").removeprefix("as_")
            raise InputError(f"--{option} is not for {backend}")
    if len(profiles) > 1 and not together:
        raise InputError(f"--profile: {backend} takes one")
    if together and not _is_given(context, "mappings"):
        mappings = tuple(MAPPINGS)
    if check_translation and family_of(inputs) != MEMORY:
        raise InputError("--check-translation is for memory tests")
    tests = chosen(kind, inputs, choice)
    question: dict[str, Any] = {}
    if output is None:
        question = asked_of_tests((each.label, each.to_carry().carried) for each in tests)
        folder = answer_folder(question_name([first_words(inputs), backend], ("backend",)), question)
        if told(folder, f"{len(tests)} tests in {backend}"):
            return
        output, force = folder.path, True
        resume = folder.state is FolderState.UNFINISHED and any(output.glob("*.request.json"))
    translations: list[TranslationTask] = []
    if check_translation:
        # These read code, and other compilations do not.
        from synth.translation.suites import RESULTS, check_suite, known_verdicts, request_of, tasks_of

        translations = tasks_of(tests, backend)
    launched = tuple(map(read_profile, profiles))
    if question:
        output.mkdir(exist_ok=True)
        mark(output, question, None)
    for half in () if force else left:
        half.unlink(missing_ok=True)
    making = Making(mappings, placements, instances, iterations, cpu, launched, random, models, as_json)
    known: list[dict[str, Any]] = []
    if translations:
        output.mkdir(parents=True, exist_ok=True)
        for file in () if resume else list(output.glob(f"{RESULTS}*")):
            file.unlink()
        known = known_verdicts(translations, output, request_of(tests, backend))
    with ended_by_signals():
        code = kind.compile(tests, language, making, output, check)
        if translations:
            with resumable():
                code = max(code, 0 if check_suite(translations, output, cores(), known=known) else 1)
        if question:
            mark(output, question, code)
        sys.exit(code)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE
