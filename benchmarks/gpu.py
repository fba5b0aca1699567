"""A fixed campaign on one device, a GPU above all, whose figures are kept: what ``make gpu`` runs.

Progress tests on every level of the device, in every mapping: all tests of 2x2, 3x3 and 2x3. On a CUDA GPU memory tests
as well, with memory stress: the classic cycles of four edges, with threads in one CTA and in two, and the tests that
PTX's model forbids an outcome of, up to four events. Results are appended to ``DEVICE.jsonl`` in the folder of results,
and ``DEVICE.md`` is made of them: how long each part took, and what ``synth report`` says.

Each part may take its share of the time that is left. The same command goes on where the last one ended. Exit code 2,
and a line, where there is no such device; 1 where a test could not be run.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import measuring  # noqa: F401  # our packages by their names: see there

from backends.registry import BACKENDS
from backends.shared.device import Device, DeviceOptions
from backends.shared.files import file_stem
from backends.shared.results import MemoryResult, ProgressTrial, read_results
from corpus.errors import InputError
from corpus.files import write_atomically
from synth.cli import main as command

PROGRESS = ("--mapping", "all", "--placement", "all", "--timeout", "2")
MEMORY = ("--stress", "-m", "sc", "-m", "ptx-6.0", "--timeout", "10")
CLASSIC = "PodWW PodRR PodRW PodWR Rfe Fre Coe"


@dataclass(frozen=True)
class Part:
    """A suite, how it is made, and how its tests are run."""

    name: str
    made: tuple[str, ...]
    run: tuple[str, ...]


PARTS = (
    Part("2x2", ("progress", "-t", "2", "-n", "2", "--all"), PROGRESS),
    Part("3x3", ("progress", "-t", "3", "-n", "3", "--all"), PROGRESS),
    Part("classic", ("memory", "--edges", CLASSIC, "--size", "4", "--scopes", "cta", *MEMORY[1:5]), MEMORY),
    Part("ptx", ("memory", "--from", "ptx-6.0", "--events", "2..4", "--up-to", "program", *MEMORY[1:5]), MEMORY),
    Part("2x3", ("progress", "-t", "2", "-n", "3", "--all"), PROGRESS),
)


def main() -> int:
    """Run the campaign, and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    running = [name for name, each in BACKENDS.items() if each.device is not None and each.progress.item]
    parser.add_argument("--backend", choices=running, default="cuda", help="the language, and so the devices (cuda)")
    parser.add_argument("--platform", metavar="NAME", help="as of synth run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="builds at a time (one a core)")
    parser.add_argument("--time-limit", type=float, default=3600, metavar="SECONDS", help="for all parts (3600)")
    parser.add_argument("--suites", type=Path, default=Path("build/gpu"), help="where suites are made (build/gpu)")
    parser.add_argument("--results", type=Path, default=Path("docs/results"), help="where figures go (docs/results)")
    parser.add_argument("--limit", type=int, help="only the first tests of each part")
    parser.add_argument("--instances", type=int, help="as of synth run")
    parser.add_argument("--iterations", type=int, default=20, help="as of synth run (20)")
    arguments = parser.parse_args()

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
    parts = [part for part in PARTS if part.run is PROGRESS or arguments.backend == "cuda"]
    options = ["--backend", arguments.backend, "-j", str(arguments.jobs), "--iterations", str(arguments.iterations)]
    for option in ("platform", "limit", "instances"):
        if getattr(arguments, option) is not None:
            options += [f"--{option}", str(getattr(arguments, option))]
    until, failed, rows = time.monotonic() + arguments.time_limit, False, list[str]()
    for number, part in enumerate(parts):
        suite = arguments.suites / part.name
        if not (suite / "manifest.json").exists() and synth(*part.made, "-o", str(suite)):
            return 2
        began, before = time.monotonic(), len(read_results(results)) if results.exists() else 0
        share = max(1.0, (until - began) / (len(parts) - number))
        code = synth("run", str(suite), *options, *part.run, "--time-limit", f"{share:.0f}", "-o", str(results))
        if code > 1:
            return code
        failed |= bool(code)
        rows.append(row(part.name, results, before, time.monotonic() - began))
    report = arguments.suites / "report.md"
    suites = [word for part in parts for word in ("--suite", str(arguments.suites / part.name))]
    if synth("report", str(results), *suites, "--title", device.name, "-o", str(report)):
        return 2
    write_atomically(results.with_suffix(".md"), [page(report.read_text(encoding="utf-8"), device, rows)])
    return int(failed)


def synth(*words: str) -> int:
    """One of our commands, in this process; its exit code."""
    try:
        command([*words], prog_name="synth")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def row(name: str, results: Path, before: int, seconds: float) -> str:
    """What was run of a part, as a row of a table."""
    new = read_results(results)[before:] if results.exists() else []
    instances = sum(each.instances * each.launches for each in new if isinstance(each, MemoryResult))
    hung = sum("H" in getattr(each, "outcomes", "") for each in new if isinstance(each, ProgressTrial))
    return f"| {name} | {len({each.test for each in new})} | {len(new)} | {hung} | {instances:,} | {seconds:,.0f} |"


def page(report: str, device: Device, rows: list[str]) -> str:
    """The report, with the parts of the last run before its first section."""
    title, _, rest = report.partition("\n")
    head = "| part | tests | trials | hung | instances | seconds |\n| --- | --: | --: | --: | --: | --: |"
    words = ", ".join(filter(None, (device.driver, device.compiler)))
    what = f"`benchmarks/gpu.py` on {device.name}{f' ({words})' if words else ''}; the last run made:"
    return "\n".join([title, "", what, "", head, *rows, rest])


if __name__ == "__main__":
    sys.exit(main())
