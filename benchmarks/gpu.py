"""A fixed campaign on one device, a GPU above all, whose figures are kept: what ``make gpu`` runs.

Progress tests on every level of the device, in every mapping: all tests of 2x2, 3x3 and 2x3. On a CUDA GPU memory tests
as well, with memory stress: the classic cycles of four edges, with threads in one CTA and in two, and the tests that
PTX's model forbids an outcome of, up to four events; where the GPU has compute capability 9.0 or later, also the
examples of asynchronous operations, whose outcomes are set against ``ptx-async``, and the tests that it forbids an
outcome of, with their mutants, of which those that were killed are printed. Results are appended to
``DEVICE.jsonl`` in the folder of results, and ``DEVICE.md`` is made of them: how long each part took, and what ``synth
report`` says; of the examples, in ``DEVICE.ptx-async.md``.

The time is shared out: each part gets the same share of what is left, and of a part's share each placement its own.
What one leaves goes to those after it, and what is left in the end to those that were cut short. So tests that hang,
each of which takes thirty time-outs and more, cost their own stage alone. The same command goes on where the last one
ended. Exit code 2, and a line, where there is no such device; 1 where a test could not be run.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import measuring  # noqa: F401  # our packages by their names: see there

from backends.cuda.asynchronous import HOPPER
from backends.cuda.compiler import NVIDIA
from backends.registry import BACKENDS
from backends.shared.device import Device, DeviceOptions
from backends.shared.files import file_stem
from backends.shared.gpus import GpuDevice
from backends.shared.mapping import PLACEMENTS
from backends.shared.results import Entry, MemoryResult, ProgressResult, latest, read_results
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.commands.cli import main as command

PROGRESS = ("--mapping", "all")
LEAST = 1
"""Seconds that a stage gets at least; it gets whole seconds."""

MEMORY = ("--stress", "-m", "sc", "-m", "ptx-6.0")
CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"


@dataclass(frozen=True)
class Part:
    """A suite, how it is made, how its tests are run, and the placements, each of which is a stage; memory tests have
    none. Tests that are in a ``folder`` are not made. ``capability``: the compute capability that they need."""

    name: str
    made: tuple[str, ...]
    run: tuple[str, ...]
    placements: tuple[str, ...] = ()
    folder: Path | None = None
    capability: int = 0

    def tests(self, suites: Path) -> Path:
        """Where the tests are, given the folder where suites are made."""
        return self.folder or suites / self.name

    @property
    def stages(self) -> list[Stage]:
        """The stages, which share the part's time."""
        ways: list[tuple[str, ...]] = [("--placement", name) for name in self.placements] or [()]
        return [Stage(self, way, Fraction(1, len(ways))) for way in ways]


@dataclass
class Stage:
    """Tests of a part in one placement: its share of time, and what it has made of it."""

    part: Part
    way: tuple[str, ...]
    share: Fraction
    results: list[Entry] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Of the part, and of the placement if there is one."""
        return " ".join((self.part.name, *self.way[1:]))


PLACED = tuple(PLACEMENTS)
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "memory"
PARTS = (
    Part("2x2", ("progress", "-t", "2", "-n", "2", "--all"), PROGRESS, PLACED),
    Part("classic", ("memory", "--edges", CLASSIC, "--size", "4", "--scopes", "cta", *MEMORY[1:5]), MEMORY),
    Part("ptx", ("memory", "--from", "ptx-6.0", "--events", "2..4", "--up-to", "program", *MEMORY[1:5]), MEMORY),
    Part("ptx-async", (), ("--stress", "-m", "ptx-async"), folder=EXAMPLES / "ptx-async", capability=HOPPER),
    Part(
        "ptx-async-suite",
        ("memory", "--from", "ptx-async", "--events", "2..4", "--mutants"),
        ("--stress", "--mutants"),
        capability=HOPPER,
    ),
    Part("3x3", ("progress", "-t", "3", "-n", "3", "--all"), PROGRESS, PLACED),
    Part("2x3", ("progress", "-t", "2", "-n", "3", "--all"), PROGRESS, PLACED),
)
"""In their order. A part of which another has many hangs loses no time by it, whatever the order."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the campaign, and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    running = [name for name, backend in BACKENDS.items() if backend.device is not None and backend.progress.item]
    parser.add_argument("--backend", choices=running, default="cuda", help="the language, and so the devices (cuda)")
    parser.add_argument("--platform", metavar="NAME", help="as of synth run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="builds at a time (one a core)")
    parser.add_argument("--time-limit", type=float, default=3600, metavar="SECONDS", help="for all parts (3600)")
    parser.add_argument("--suites", type=Path, default=Path("build/gpu"), help="where suites are made (build/gpu)")
    parser.add_argument("--results", type=Path, default=Path("docs/results"), help="where figures go (docs/results)")
    parser.add_argument("--limit", type=int, help="only the first tests of each part")
    parser.add_argument("--instances", type=int, help="as of synth run")
    parser.add_argument("--iterations", type=int, default=20, help="as of synth run (20)")
    arguments = parser.parse_args(words)

    make_device = BACKENDS[arguments.backend].device
    assert make_device is not None
    try:
        device = make_device(DeviceOptions(platform=arguments.platform))
    except InputError as error:
        print(f"gpu: {error}", file=sys.stderr)
        return 2
    arguments.results.mkdir(parents=True, exist_ok=True)
    called = re.split(r"[(,]", device.name)[0].strip().replace(" ", "-")
    results = arguments.results / f"{file_stem(f'{arguments.backend}-{called}')}.jsonl"
    print(f"{device.name}: {results}")
    chip = int(device.gpu.chip) if isinstance(device, GpuDevice) and device.vendor == NVIDIA else None
    parts = [part for part in PARTS if part.run is PROGRESS or chip is not None]
    if chip is not None:
        for part in parts:
            if chip < part.capability:
                print(f"{part.name}: left out, for it needs sm_{part.capability}, and this is sm_{chip}")
        parts = [part for part in parts if chip >= part.capability]
    options = ["--backend", arguments.backend, "-j", str(arguments.jobs), "--iterations", str(arguments.iterations)]
    for option in ("platform", "limit", "instances"):
        if getattr(arguments, option) is not None:
            options += [f"--{option}", str(getattr(arguments, option))]
    until = time.monotonic() + arguments.time_limit
    for part in parts:
        suite = part.tests(arguments.suites)
        if part.made and not (suite / "manifest.json").exists() and synth(*part.made, "-o", str(suite)):
            return 2

    def run(stage: Stage, seconds: int) -> int:
        before = len(read_results(results)) if results.exists() else 0
        words = (*options, *stage.part.run, *stage.way, "--time-limit", str(seconds), "-o", str(results))
        code = synth("run", str(stage.part.tests(arguments.suites)), *words)
        stage.results += read_results(results)[before:] if results.exists() else []
        return code

    stages = [stage for part in parts for stage in part.stages]
    code = shared_out(stages, until, run)
    if code > 1:
        return code
    report = arguments.suites / "report.md"
    suites = [word for part in parts if part.made for word in ("--suite", str(part.tests(arguments.suites)))]
    if synth("report", str(results), *suites, "--title", device.name, "-o", str(report)):
        return 2
    for stage in (stage for stage in stages if stage.part.folder and stage.results):
        models = [word for word in stage.part.run if word not in MEMORY[:1]]
        where = ("--suite", str(stage.part.folder), *models, "-o", str(results.with_suffix(f".{stage.name}.md")))
        if synth("report", str(results), *where, "--title", f"{device.name}: {stage.name}"):
            return 2
    for stage in (stage for stage in stages if "--mutants" in stage.part.run and stage.results):
        synth("score", str(stage.part.tests(arguments.suites)), str(results))
    write_atomically(results.with_suffix(".md"), [page(report.read_text(encoding="utf-8"), device, map(row, stages))])
    return code


def shared_out(
    stages: Sequence[Stage], until: float, run: Callable[[Stage, int], int], now: Callable[[], float] = time.monotonic
) -> int:
    """Run stages, each for its share of the seconds that are left, then those that were cut short, until none is or the
    time is up. The exit code: the largest, and at once one that is more than 1.

    A stage that took its whole share is taken to be cut short; that it was not is found out by running it again.
    """
    worst, these = 0, list(stages)
    while these:
        cut: list[Stage] = []
        for number, stage in enumerate(these):
            began, shares = now(), sum(part.share for part in these[number:])
            seconds = max(LEAST, int((until - began) * stage.share / shares))
            code = run(stage, seconds)
            if code > 1:
                return code
            took = now() - began
            stage.seconds += took
            worst = max(worst, code)
            if took >= seconds:
                cut.append(stage)
        these = cut if until - now() >= LEAST * len(cut) else []
    return worst


def synth(*words: str) -> int:
    """One of our commands, in this process; its exit code."""
    try:
        command([*words], prog_name="synth")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def row(stage: Stage) -> str:
    """What was run of a stage, as a row of a table."""
    results, failures = latest(stage.results)
    new = [*results.values(), *failures.values()]
    instances = sum(result.instances * result.launches for result in new if isinstance(result, MemoryResult))
    hung = sum(result.hangs for result in new if isinstance(result, ProgressResult))
    tests = len({result.test for result in new})
    return f"| {stage.name} | {tests} | {len(new)} | {hung} | {instances:,} | {stage.seconds:,.0f} |"


def page(report: str, device: Device, rows: Iterable[str]) -> str:
    """The report, with the stages of the last run before its first section."""
    title, _, rest = report.partition("\n")
    head = "| stage | tests | trials | hung | instances | seconds |\n| --- | --: | --: | --: | --: | --: |"
    words = ", ".join(filter(None, (device.driver, device.compiler)))
    what = f"`benchmarks/gpu.py` on {device.name}{f' ({words})' if words else ''}; the last run made:"
    return "\n".join([title, "", what, "", head, *rows, rest])


if __name__ == "__main__":
    sys.exit(main())
