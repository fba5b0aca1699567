"""``synth run`` runs tests on this machine's devices and compares with the models."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from math import isfinite
from pathlib import Path

import click

from backends.cpp.backend import SUBSCRIPTIONS
from backends.registry import BACKENDS
from backends.shared.device import Device, DeviceOptions
from backends.shared.process import ended_by_signals
from backends.shared.profiles import DEFAULT, STRESS, read_profile
from backends.shared.results import RESULTS
from corpus.errors import InputError
from corpus.suite import is_corpus
from synth.campaigns import Campaign, Workers
from synth.families.interface import chosen, family_given
from synth.known import read_known
from synth.options.campaign import campaign_options, mapping_option, placement_option
from synth.options.form import Page, json_option
from synth.options.models import model_option
from synth.options.tests import choice_options, refuse_foreign
from synth.pool import resumable
from synth.requests import SelectionFilter
from synth.runs import Running, closed_run
from synth.screen.runs import print_run


@click.command(name="run", cls=Page, first="--backend --model --where --sound --iterations --output")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER|CORPUS...", type=click.Path())
@click.option(
    "--backend",
    type=click.Choice(
        [name for name, backend in BACKENDS.items() if backend.device is not None or backend.decode is not None]
    ),
    required=True,
    help="The language of the programs, which decides the devices.",
)
@mapping_option("all")
@placement_option()
@click.option(
    "--instances",
    type=click.IntRange(min=1),
    metavar="M",
    help="Instances that round-robin, chunked, or a launch of a litmus test run at once.  "
    "[default: as many as 65,535 work-groups hold for opencl; by --subscribe for cpp; 65,536 for litmus tests]",
)
@click.option("--iterations", type=click.IntRange(min=1), default=20, show_default=True, help="Runs of each test.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, max=1e6, min_open=True),
    metavar="SECONDS",
    help="Kill an iteration that takes longer: it did not terminate.  [default: 20 times as long as synth measures for "
    "a program that terminates, at least 0.1; 5 for litmus tests]",
)
@click.option("--every-iteration", is_flag=True, help="Run the remaining iterations after a hang.")
@choice_options
@click.option(
    "--subscribe",
    type=click.Choice(list(SUBSCRIPTIONS)),
    default="full",
    show_default=True,
    help="cpp: how many threads run. full: one a core; over: a hundred a core.",
)
@click.option(
    "--platform",
    metavar="NAME",
    help="Choose a device. opencl: by part of the platform's name and version; cuda, hip, glsl, wgsl, metal: by part "
    "of the device's name.  [default: the first that works; opencl tries PoCL, other CPUs, then GPUs; glsl and wgsl "
    "try GPUs, then CPUs]",
)
@click.option("--workers", type=click.IntRange(min=1), help="opencl: how many threads PoCL uses to run work-groups.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Append results to FILE.  [default: results.jsonl in the corpus; none for plain files]",
)
@json_option("Print the summary and the results as one JSON object.")
@click.option("--stress/--no-stress", default=False, show_default=True, help="Litmus tests: stress memory.")
@click.option(
    "--profile",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Litmus tests: launch as this profile (TOML) says; synth tune finds one.",
)
@model_option(memory=True)
@click.option(
    "--sound",
    multiple=True,
    metavar="MODEL",
    help="Compare with this model, and fail if a result contradicts it; repeatable.",
)
@click.option(
    "--decode",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Litmus tests: run nothing; read what a run of one test elsewhere wrote (glsl: amber -b FILE -B 3).",
)
@click.option("--mutants", is_flag=True, help="Suites of litmus tests: run the mutants too, and say which were killed.")
@click.option(
    "--plan",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Litmus tests: run what a plan of synth select --score has for this device and profile.",
)
@click.option(
    "--known",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A table test,where,reason of known failures: they are printed but do not fail the run.",
)
@campaign_options
@click.pass_context
def command(
    context: click.Context,
    inputs: tuple[str, ...],
    backend: str,
    mappings: tuple[str, ...],
    placements: tuple[str, ...],
    instances: int | None,
    iterations: int,
    timeout: float | None,
    every_iteration: bool,
    choice: SelectionFilter,
    subscribe: str,
    platform: str | None,
    workers: int | None,
    output: Path | None,
    as_json: bool,
    stress: bool,
    profile: Path | None,
    models: tuple[str, ...],
    sound: tuple[str, ...],
    decode: Path | None,
    mutants: bool,
    plan: Path | None,
    known: Path | None,
    campaign: Campaign,
    cluster: str | None,
    junit: Path | None,
) -> None:
    """Run tests on this machine's devices and compare with the models.

    \b
    Progress tests (.axb files, corpora)

    If an iteration does not terminate in time, synth kills the test's process, skips its remaining iterations, and
    starts a new process for the next test. The summary compares the hangs with each model's verdicts. If a test that
    terminates under a model hangs, the device is inconsistent with that model. That is a failure only if --sound names
    the model, because no device here promises any of them. Termination shows nothing: a test that may hang need not.

    \b
    Litmus tests (.litmus files, folders of them, indexes)

    Each of --iterations launches runs --instances instances of the test, by default 65,536, with the test's scope tree.
    synth counts the outcomes and shows them beside the models that forbid them. If the language cannot express a test
    as it is written, synth does not run it and says why. Runs cannot prove what a device never does.

    synth appends each result to a file as soon as it has it, for a corpus to results.jsonl in it. If a run was stopped,
    the same command resumes it and runs only what is missing. docs/results.md has the format.

    \b
    Mutants

    With a suite from synth memory --mutants, --mutants also runs the mutants that count. It says which were killed, how
    fast, and with which confidence each test would have seen its bug (synth score). --plan runs the selection that
    synth select --score makes of them.

    \b
    Campaigns

    -j runs several tests at a time; -j ADDRESS does so on Dask workers whose machines have the same device
    (docs/scale.md). --shard runs a part of the tests on each of several machines, and synth import merges the results.
    --rerun repeats some trials. --time-limit stops a campaign, which the same command resumes. --junit writes a report
    for a continuous-integration service. --known FILE lists known failures: synth prints them, marks them as skipped in
    the JUnit report, and fails the run only for others. It also says which known failures no longer occur.

    \b
    Examples:
      synth run suite --backend opencl
      synth run suite --backend opencl --mapping chunked --instances 8 --timeout 1
      synth run suite --backend glsl --placement all --instances 16
      synth run suite --backend cpp --subscribe over --where '2x2-*' --json
      synth run suite --backend cpp --where obe-weak=hangs
      synth run examples/progress --where 'mutex*' --backend opencl -o results.jsonl
      synth run examples/memory --backend cpp --sound rc11 -o memory.jsonl
      synth run examples/memory/c-sb-sc.litmus --backend opencl -m sc -m tso --stress
      synth run examples/memory --backend cpp --profile examples/profiles/cpp-x86.toml
      synth run suite --backend opencl -j 2 --shard 1/3 --time-limit 3600 --sound fair --junit junit.xml
      synth run suite --backend opencl --sound fair --known known.csv
      synth run suite --backend opencl --rerun failed
      synth run suite --backend opencl --jobs tcp://10.0.0.1:8786
      synth run tso --backend cpp --mutants --iterations 100 --stress
      synth run ci --backend cpp --stress --plan ci/plan.json
      synth run examples/memory/mp-acq-rel-cta.litmus --backend glsl --decode outcomes.txt

    Exit code 1 if a test could not be read or run, or if a result contradicts a model of --sound.
    """
    if timeout is not None and not isfinite(timeout):
        raise InputError(f"--timeout: expected a number of seconds, found {timeout}")
    if stress and profile is not None:
        raise InputError("--stress and --profile each say how to launch tests; give one of them")
    language = BACKENDS[backend]
    kind = family_given(inputs)
    refuse_foreign(context, kind)
    if output is None and len(inputs) == 1 and is_corpus(Path(inputs[0])):
        output = Path(inputs[0]) / RESULTS
    tests = chosen(kind, inputs, choice)
    launched = STRESS if stress else DEFAULT if profile is None else read_profile(profile)
    device = DeviceOptions(instances, platform, workers, subscribe)
    running = Running(
        device,
        mappings,
        placements,
        iterations,
        timeout,
        every_iteration,
        launched,
        models,
        sound,
        decode,
        output,
        campaign,
        junit,
        mutants,
        plan,
        None if known is None else read_known(known),
    )
    with ended_by_signals(), resumable(output is not None, "the same command"), ExitStack() as stack:
        if cluster is not None:
            from synth.cluster import connected  # slow to import

            there = Workers(stack.enter_context(connected(cluster)), partial(_opened, backend, device))
            running = replace(running, campaign=replace(campaign, jobs=there))
        report = kind.run(tests, language, running)
        print_run(report, running.campaign, as_json)
        sys.exit(closed_run(report, running))


@cache  # a worker finds its device once for all its jobs
def _opened(backend: str, options: DeviceOptions) -> Device:
    """Return the device of a worker of a cluster. Raises ``InputError`` where the worker has none."""
    device = BACKENDS[backend].device
    assert device is not None
    return device(options)
