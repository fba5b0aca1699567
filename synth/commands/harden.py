"""``synth harden`` finds the fences that an application needs, by running it."""

from __future__ import annotations

import json
import sys
import time
from hashlib import sha256
from pathlib import Path

import click

from backends.shared.process import ended_by_signals
from backends.shared.profiles import STRESS, read_profile
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.hardening.account import record
from synth.hardening.application import MOST_PLACES, Application, include, words
from synth.hardening.journal import NAME, hardening_of, journalled
from synth.hardening.reduction import Places, ProgramRun, Reduction
from synth.options.form import Page, json_option
from synth.options.question_folder import FolderState, print_state, question_folder, question_name
from synth.options.values import Seconds
from synth.screen.console import screen
from synth.screen.searches import print_hardening
from synth.statistics import CONFIDENCE, runs_without_failure
from synth.watch import watching

_SHARE = click.FloatRange(0.0, 1.0, min_open=True, max_open=True)

_BUILD_TIMEOUT = 3600.0
"""Seconds that a build may take."""


def _show_header(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        click.echo(include())
        context.exit()


@click.command(name="harden", cls=Page, first="--places --build --run --stress --output")
@click.option(
    "--header",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_header,
    help="Print the header's folder and exit.",
)
@click.option(
    "--places",
    type=click.IntRange(1, MOST_PLACES),
    required=True,
    metavar="N",
    help="How many places the sources have, numbered from 0.",
)
@click.option(
    "--build", default="", metavar="CMD", help="Build the application with a set of fences.  [default: build nothing]"
)
@click.option("--run", "command_", required=True, metavar="CMD", help="Run the application; exit code 0 is success.")
@click.option("--stress", metavar="PROFILE", help="Stress memory as a profile says: a TOML file, or default.")
@click.option(
    "--runs",
    type=click.IntRange(1, 1 << 20),
    default=32,
    show_default=True,
    help="End a step after this many runs without a failure.",
)
@click.option("--rate", type=_SHARE, default=0.01, show_default=True, help="The highest rate of failures in the end.")
@click.option(
    "--timeout",
    type=Seconds(positive=True),
    help="Kill a run that takes longer.  [default: 20 times as long as a successful run, at least 10]",
)
@click.option("--time-limit", type=Seconds(), metavar="S", help="Begin no run after S seconds.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Keep runs and builds here.  [default: a folder named after the application]",
)
@json_option("Print everything as one JSON object.")
def command(
    places: int,
    build: str,
    command_: str,
    stress: str | None,
    runs: int,
    rate: float,
    timeout: float | None,
    time_limit: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the fences that an application needs, by running it with fewer and fewer.

    The sources include synth_fence.h (--header prints where it is) and have SYNTH_FENCE(n) wherever a fence might be
    needed, with n from 0 to N - 1. With all fences the application must pass. Then synth leaves out half of them at a
    time, then each by itself (Sorensen and Donaldson 2016, section 5). In the result, leaving out any one fence made a
    run fail; and with all of them enough runs passed to say, with a confidence of 0.95, that at most --rate of runs
    fail.

    \b
    CMD is a command and its arguments, quoted as in a shell, but no shell runs it. synth replaces
      {defines}  a word by itself: the compiler's -I and -D options, which say what is active
      {folder}   a folder for builds with this set of fences
      {include}  the folder of the header
      {places}   the active places, separated by commas
    and sets SYNTH_DEFINES, SYNTH_FOLDER, SYNTH_INCLUDE and SYNTH_PLACES in its environment.

    synth writes each run to FOLDER/runs.jsonl before the next one begins; the same command resumes there. If you change
    the sources, give another folder. A run that takes longer than --timeout fails, and synth kills it with all that it
    started.

    \b
    Example:
      synth harden --places 8 --build 'g++ -O2 -pthread -x c++ {defines} peterson.cl -o {folder}/app' \\
          --run '{folder}/app' -o peterson

    Exit code 1 if the application fails even with all fences, or if time runs out.
    """
    profile = None if stress is None else STRESS if stress == "default" else read_profile(Path(stress))
    builds, runner = words(build, "--build") if build else (), words(command_, "--run")
    stable = max(runs, runs_without_failure(rate, CONFIDENCE))
    if stable > 1 << 24:
        raise InputError(f"--rate: {stable} runs would have to pass, more than the limit of 2^24")
    question = [places, builds, runner, profile, timeout]
    key = sha256("\n".join(map(repr, question)).encode()).hexdigest()[:16]
    if output is None:
        output = _named(command_, key, as_json)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder: {error.strerror}", str(output)) from None
    until = None if time_limit is None else time.monotonic() + time_limit
    application = Application(builds, runner, output / "builds", profile, timeout, _BUILD_TIMEOUT, until)
    with (
        ended_by_signals(),
        journalled(output / NAME, key, application.run) as run,
        watching("Runs", found=False) as watch,
    ):
        done = 0

        def counted(active: Places) -> ProgramRun:
            nonlocal done
            ran = run(active)
            done += 1
            watch(done, None, 0)
            return ran

        reduction = Reduction(places, runs, stable, counted)
        verdict = reduction.search()
    found = json.dumps(record(reduction, verdict, CONFIDENCE), indent=2)
    write_atomically(output / "result.json", [found, "\n"])
    if as_json:
        click.echo(found)
    else:
        print_hardening(reduction, verdict, CONFIDENCE, screen())
    sys.exit(verdict in ("broken", "stopped"))


def _named(command: str, key: str, as_json: bool) -> Path:
    """Return the folder of a hardening that is named after the application, and print in which state it is."""

    def found(path: Path) -> FolderState | None:
        whole = (path / "result.json").exists()
        return (
            None
            if hardening_of(path / NAME) not in ("", key)
            else FolderState.WHOLE
            if whole
            else FolderState.UNFINISHED
        )

    name = question_name(["harden", Path(words(command, "--run")[0]).name], ("build", "command_"))
    folder = question_folder(name, found)
    print_state(folder, "the fences that it needs", as_json)
    return folder.path
