"""``synth progress`` synthesises forward-progress tests into a corpus."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.errors import InputError, printable
from corpus.hierarchy import LEVEL_WORDS
from corpus.journal import Journal
from corpus.progress.text import PLACED_LEVELS
from oracle.progress.hierarchy import strictly_less_fair
from oracle.progress.models import GUARANTEES
from oracle.progress.plugins import resolve_models
from synth.options.form import Page
from synth.options.models import model_option
from synth.options.question_folder import corpus_folder, output_option, print_state, question_name
from synth.options.work import run_options, solver_option, workplaces
from synth.pool import resumable
from synth.progress.synthesis import Certifier, ProgressSuiteRequest, check, make_suite
from synth.units import INTERRUPTED, is_done_with


@click.command(name="progress", cls=Page, first="--threads --instrs --locs --values --minimal --distinguish --output")
@click.option("--threads", "-t", type=click.IntRange(min=1), help="Number of threads.")
@click.option("--instrs", "-n", type=click.IntRange(min=1), help="Number of instructions in all threads together.")
@click.option(
    "--locs", type=click.IntRange(1, 8), default=2, show_default=True, help="Use at most this many locations."
)
@click.option(
    "--values", type=click.IntRange(2, 16), default=2, show_default=True, help="Use this many values: 0, 1 and so on."
)
@click.option("--minimal/--all", default=True, help="Find only minimal tests (the default), or every test.")
@click.option(
    "--up-to",
    type=click.Choice(["program", "behaviour"]),
    help="Count two tests as one if their programs are equal up to renaming of locations (default with --all), or if "
    "their thread-labelled automata are equal (default with --minimal).",
)
@click.option(
    "--distinguish",
    metavar="A>B",
    help="Only tests that terminate under model A and may hang under model B (and C, with A>B,C). Without --threads or "
    "--instrs, the bound grows until there is such a test.",
)
@click.option(
    "--levels",
    metavar="LEVEL,..",
    help="Place the threads of each program in groups of these levels in every way, from the outside in: device, "
    "queuefamily, workgroup, subgroup.",
)
@model_option(note="With --levels: label tests under this model too, as 'hsa@workgroup & obe@subgroup'.")
@click.option("--symmetric-threads", is_flag=True, help="Count tests that differ only in the order of threads as one.")
@click.option(
    "--certify",
    is_flag=True,
    help="Write a certificate that no test is missing; synth verify checks it. Needs --threads and --instrs.",
)
@click.option("--max-tests", type=click.IntRange(min=1), help="Stop after finding this many tests.")
@run_options
@solver_option
@output_option
def command(
    threads: int | None,
    instrs: int | None,
    locs: int,
    values: int,
    minimal: bool,
    up_to: str | None,
    distinguish: str | None,
    levels: str | None,
    models: tuple[str, ...],
    symmetric_threads: bool,
    certify: bool,
    max_tests: int | None,
    time_limit: float | None,
    solver: str,
    jobs: int | str | None,
    output: Path | None,
) -> None:
    """Synthesise forward-progress tests: programs that may fail to terminate if threads are not scheduled fairly.

    synth finds every well-formed, interesting program up to the bound (Sorensen et al., "Specifying and Testing GPU
    Workgroup Progress Models", OOPSLA 2021, sections 5.1 and 5.2), labels it under 12 progress models and writes it to
    a corpus folder. When the solver has proved that there are no others, the manifest says `complete`. If a run is
    stopped, in whatever way, its corpus still opens, and the same command continues it. The folder is named after the
    question unless you give --output.

    \b
    Every minimal test of three threads with four instructions in all, in the folder progress-3x4:
      synth progress --threads 3 --instrs 4
    Every minimal test of two threads with three instructions in all:
      synth progress --threads 2 --instrs 3 -o suite
    Every test, minimal or not:
      synth progress --threads 2 --instrs 3 --all -o all
    The smallest tests that strong OBE passes and strong HSA does not:
      synth progress --distinguish 'obe-strong>hsa-strong' -o border
    Tests that need strong OBE, because neither strong HSA nor weak OBE is enough:
      synth progress --distinguish 'obe-strong>hsa-strong,obe-weak' -o obe
    Tests that your own scheduler passes and HSA does not:
      synth progress --distinguish 'my_scheduler.py>hsa' -o mine
    With proofs that there are no other tests, which synth verify and other programs can check:
      synth progress --threads 2 --instrs 3 --certify -o certified
    Each program with its threads in one subgroup, in two subgroups of a workgroup, or in two workgroups:
      synth progress --threads 2 --instrs 3 --levels workgroup,subgroup -m 'hsa@workgroup & obe@subgroup' -o placed
    A quick look into a large space:
      synth progress --threads 3 --instrs 6 --all --max-tests 100 -o some

    \b
    Models: unfair hsa obe hsa+obe lobe fair, each with -weak or -strong; or a Python file (synth label --help), whose
    verdicts the corpus then includes. Without -weak or -strong, a test passes a model if it passes under both, and
    fails it if it fails under both.
    """
    placed_levels = () if levels is None else _levels(levels)
    if not placed_levels and models:
        raise click.UsageError("--model needs --levels, which places threads in groups")
    border, own = (None, ()) if distinguish is None else _border(distinguish, bool(placed_levels))
    own = tuple(dict.fromkeys((*own, *_beside(models))))
    if placed_levels and symmetric_threads:
        raise click.UsageError("--symmetric-threads goes without --levels: the order of placed threads matters")
    if placed_levels and certify:
        raise click.UsageError(
            "--certify goes without --levels: a certificate covers only programs whose threads are not placed"
        )
    if border is None and (threads is None or instrs is None):
        raise click.UsageError("give --threads and --instrs, or --distinguish to let the bound grow")
    if certify and (threads is None or instrs is None):
        raise click.UsageError("--certify needs --threads and --instrs")
    if certify and own:
        raise click.UsageError(f"--certify: a certificate covers only built-in models, and {own[0]} is not one")
    if threads is not None and instrs is not None and instrs < threads:
        raise click.BadParameter(f"{threads} threads need {threads} or more, found {instrs}", param_hint="'--instrs'")
    request = ProgressSuiteRequest(
        threads=threads,
        instrs=instrs,
        locs=locs,
        values=values,
        minimal=minimal,
        up_to=up_to or ("behaviour" if minimal else "program"),
        distinguish=border,
        symmetric_threads=symmetric_threads,
        own=own,
        levels=placed_levels,
    )
    check(request)
    certifier: Certifier | None = None
    if certify:
        from synth.progress.certification import certify as write_certificate  # imported where it is needed

        certifier = write_certificate
    question = request.as_json()
    if output is None:
        bounds = {"threads": threads, "instructions": instrs}
        size = "x".join(str(number) for number in (threads, instrs) if number is not None)
        name = question_name(["progress", size] if size else ["progress"], ("threads", "instrs"))
        folder = corpus_folder(name, question)
        size_text = ", ".join(f"{number} {what}" for what, number in bounds.items() if number is not None)
        if print_state(folder, size_text or "the smallest bound that holds a test"):
            return
        output = folder.path
    with (
        workplaces(jobs, max_tests is not None) as places,
        Journal.open(output, question, is_done_with) as journal,
        resumable(),
    ):
        outcome, tests = make_suite(request, journal, solver, places, max_tests, time_limit, certifier)
    state = "complete" if outcome.complete else f"incomplete: {outcome.stopped}; the same command goes on"
    click.echo(f"{printable(str(output))}: {tests} tests, {state}")
    if outcome.stopped == INTERRUPTED:
        sys.exit(130)


def _levels(text: str) -> tuple[str, ...]:
    """Return the levels in whose groups programs are placed, from the outside in, as Vulkan calls them."""
    found = []
    for word in (word.strip() for word in text.split(",")):
        level = LEVEL_WORDS.get(word)
        if level not in PLACED_LEVELS:
            known = ", ".join(level.word for level in PLACED_LEVELS)
            raise click.BadParameter(f"expected levels among {known}, found '{word}'", param_hint="'--levels'")
        found.append(level)
    if found != sorted(set(found), key=lambda level: level.value):
        raise click.BadParameter(
            f"expected each level once, from the outside in, found '{text}'", param_hint="'--levels'"
        )
    return tuple(level.word for level in found)


def _beside(models: tuple[str, ...]) -> tuple[str, ...]:
    """Return the models, named without a reading, that tests are labelled under beside those that ship."""
    return tuple(_canonical(name) for name in models if _canonical(name) not in GUARANTEES)


def _canonical(name: str) -> str:
    """Return the name of a model without its reading, its levels in the words that its full name has; a file as it is
    named."""
    full = resolve_models([name])[0].name
    return _bare(name if ".py" in name else full)


def _border(text: str, placed: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the models of a border, the one that tests pass first, and the user's files among them.

    What terminates under weak fairness does so under strong fairness. So a model without a reading is read weakly where
    tests pass, and strongly where they fail.
    """
    passing, arrow, failing = text.partition(">")
    if not arrow:
        raise click.BadParameter(f"expected A>B or A>B,C, found '{text}'", param_hint="'--distinguish'")
    parts = tuple(_spelled(part) for part in (passing, *failing.split(",")))
    own = tuple(dict.fromkeys(_bare(part) for part in parts if _bare(part) not in GUARANTEES))
    models = resolve_models((*GUARANTEES, *own))
    if not placed and (leveled := [model.name for model in models if model.levels]):
        raise InputError(f"{leveled[0]} is about groups of threads, and progress tests have groups only with --levels")
    read = dict(zip((*GUARANTEES, *own), zip(models[::2], models[1::2], strict=True), strict=True))
    names = tuple(read[_bare(part)][_is_strong(part, failing=number > 0)].name for number, part in enumerate(parts))
    weaker = strictly_less_fair(models)
    for name in names[1:]:
        if names[0] == name or names[0] in weaker[name]:
            raise InputError(
                f"there is no such test: every test that terminates under {names[0]} terminates under {name}"
            )
    return names, own


def _spelled(name: str) -> str:
    """Return a name of a border with its reading, if it has one, and otherwise as its full name is spelled."""
    if "@" not in name:
        return name
    return _canonical(name) + name.strip().removeprefix(_bare(name.strip()))


def _bare(name: str) -> str:
    """Return the name of a guarantee, or of the user's file, without its reading (weak or strong)."""
    return name.removesuffix("-weak").removesuffix("-strong")


def _is_strong(name: str, failing: bool) -> bool:
    return name.endswith("-strong") or (failing and not name.endswith("-weak"))
