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
from synth.compilation import Making, check_programs
from synth.families.interface import chosen, family_given
from synth.inputs import MEMORY, family_of
from synth.options.campaign import mapping_option, placement_option
from synth.options.form import Page, json_option
from synth.options.models import model_option
from synth.options.question_folder import (
    FolderState,
    answer_folder,
    first_words,
    mark,
    print_state,
    question_name,
    question_of_tests,
)
from synth.options.tests import choice_options, refuse_foreign
from synth.pool import cores, resumable
from synth.requests import SelectionFilter
from synth.screen.programs import (
    print_checked_programs,
    print_left_out,
    print_translations,
    print_written_programs,
)

if TYPE_CHECKING:
    from synth.translation.compiled import TranslationTask


class _Compile(Page):
    """The command, whose help looks at every language when somebody asks for it."""

    @property
    def help(self) -> str:
        """The text of the help, with how the files of each language are run."""
        width = 2 + max(len(backend.files) for backend in BACKENDS.values())
        usages = (f"  {backend.name:<8}{backend.files:<{width}}{backend.usage}" for backend in BACKENDS.values())
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
    f"800 threads for cpp; {Parameters().instances} for memory tests]",
)
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="glsl: launches in the script of a memory test; web: the number that the page proposes. You tell other "
    "programs when you run them.",
)
@click.option(
    "--profile",
    "profiles",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="Launch memory tests as this profile (TOML) says. web: offer the profile on the page; repeatable.",
)
@click.option(
    "--random",
    type=click.IntRange(min=0, max=1000),
    default=0,
    show_default=True,
    metavar="N",
    help="web: how many random profiles for memory tests the page proposes. The page lets you choose the number, the "
    "seed and the range of each parameter.",
)
@model_option(memory=True, note="web: compare results with this model; hip with --sequences: compare machine code. ")
@click.option("--cpu", is_flag=True, help="Lay out memory tests for a CPU device, such as lavapipe or PoCL.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write to this folder.  [default: a folder named after the tests and the language, such as suite-cuda]",
)
@click.option("--force", is_flag=True, help="Write into DIR even if it is not empty.")
@json_option("Write the test and its launch, for runners, beside each program.")
@click.option("--check", is_flag=True, help="Compile every file with the real compiler.")
@click.option(
    "--check-translation",
    is_flag=True,
    help="Memory tests: compile each with the real compilers, read the result back and compare it with the test.",
)
@click.option(
    "--sequences",
    type=click.Path(path_type=Path, dir_okay=False),
    multiple=True,
    metavar="FILE",
    help="hip, with --check: compare the machine code of memory tests with a table of code sequences (.seq), row by "
    "row, and with --model on its machine; repeatable.",
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

    Each progress test and mapping becomes one file, DIR/TEST.MAPPING.SUFFIX. A work-group has one thread. With
    --placement workgroup or subgroup it has all threads of an instance, and the file is
    DIR/TEST.MAPPING.PLACEMENT.SUFFIX. A mapping says which work-group, or which thread of it, runs which thread of the
    test:

    \b
      plain        one instance; work-group i runs thread i
      round-robin  M instances; the threads of an instance side by side
      chunked      M instances; M copies of thread 0, then M of thread 1, ...

    \b
    What the files are and how to run them:
      USAGES

    A test that hangs never returns: always run it with a time limit.

    web writes one page for all tests, DIR/index.html, which needs no network. If you open it in a browser with WebGPU,
    it runs the tests on your GPU, shows which models the results contradict, and saves the results. Unless you name a
    mapping or a number of instances here, the page offers all mappings and several numbers.

    Each memory (litmus) test becomes one file, DIR/TEST.SUFFIX, that runs many instances at once and counts their
    outcomes; the host for OpenCL is run_opencl.py. synth skips a test that the language cannot express and says why; it
    approximates nothing. In CUDA, accesses are the PTX of the test, and --check includes optcheck: the machine code for
    sm_75 and sm_90 must have every access once, in order, with its dependencies. In HIP it must have every access,
    fence and barrier, for each GPU that clang knows.

    With --json, each program comes with an object that a runner reads without a parser: the threads with their
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

    With --check-translation, synth compiles each memory test with the compilers of its language, at each level of
    optimisation, for a launch of one instance. It reads the output back as a litmus test, whose outcomes under the
    model of its language must be among those of the test (docs/translation.md). DIR/translation.jsonl has the verdicts;
    if a run was stopped, the same command resumes after the last one.

    Exit code 1 if a file cannot be read, if --check finds a file that does not compile, if optcheck finds a test that
    the compiler changed, if --sequences finds code that is not in the table, or if --check-translation finds a weaker
    translation; 2 if no file can be read, or if the language can express none of the memory tests.
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
        question = question_of_tests((test.label, test.to_carry().carried) for test in tests)
        folder = answer_folder(question_name([first_words(inputs), backend], ("backend",)), question)
        if print_state(folder, f"{len(tests)} tests in {backend}"):
            return
        output, force = folder.path, True
        resume = folder.state is FolderState.UNFINISHED and any(output.glob("*.request.json"))
    translations: list[TranslationTask] = []
    if check_translation:
        # These read code, and other compilations do not.
        from synth.translation.suites import (
            RESULTS,
            check_suite,
            is_finding,
            known_verdicts,
            missing_compilers,
            request_of,
            tasks_of,
        )

        for name, needs in missing_compilers(backend).items():
            click.echo(f"{name} is left out; it needs {' and '.join(needs)}", err=True)
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
        written = kind.compile(tests, language, making, output, print_left_out)
        print_written_programs(written)
        code = int(written.unread)
        if check:
            checked = check_programs(written.programs, language)
            print_checked_programs(checked)
            code = 1 if checked.problems else code
        if translations:
            with resumable():
                translated = check_suite(translations, output, cores(), known=known)
                print_translations(translated)
                code = 1 if any(map(is_finding, translated)) else code
        if question:
            mark(output, question, code)
        sys.exit(code)


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE
