"""``synth tune`` finds the profile with which a device shows weak outcomes most often."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import click

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions, Runner
from backends.shared.process import ended_by_signals
from backends.shared.profiles import DEFAULT, Profile, parse_profile, read_profile, write_profile
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from synth.options.form import Page, json_option
from synth.options.question_folder import FolderState, print_state, question_folder, question_name
from synth.options.values import Seconds
from synth.screen.console import screen
from synth.screen.pictures import write_picture
from synth.screen.searches import print_tuning
from synth.tuning.account import record, remarks
from synth.tuning.journal import answered, journal_of, open_journal, search_of
from synth.tuning.measuring import SHAPES, Bench, shapes_of
from synth.tuning.search import METHODS, Grid, ProfileSearch, TuningResult
from synth.watch import watched

_GRID = Grid()


_RANGES = {
    "distances": (0, 4095),
    "locations": (2, 256),
    "longest": (1, 8),
    "spreads": (1, 64),
    "launches": (1, 1 << 16),
    "turns": (1, 1000),
    "candidates": (1, 1 << 16),
}
"""The least and the most of each number of a grid that ``--grid`` sets."""


def _grid(text: str, budget: float | None) -> Grid:
    """Return the grid that ``--grid`` describes, as ``launches=64 spreads=1,2``; what it does not name has its usual
    value. Raises ``InputError`` if a word is wrong.
    """
    found: dict[str, Any] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name in found:
            raise InputError(f"--grid: {name} is set twice, in '{text}'")
        if name not in _RANGES:
            raise InputError(f"--grid: expected {', '.join(_RANGES)}, found '{name}'")
        least, most = _RANGES[name]
        numbers = value.split(",")
        if not all(number.isdecimal() and len(number) < 10 and least <= int(number) <= most for number in numbers):
            raise InputError(f"--grid: {name}: expected numbers from {least} to {most}, found '{value}'")
        several = isinstance(getattr(_GRID, name), tuple)
        if len(numbers) > 1 and not several:
            raise InputError(f"--grid: {name}: expected one number, found '{value}'")
        found[name] = tuple(dict.fromkeys(map(int, numbers))) if several else int(value)
    grid = replace(_GRID, budget=budget, **found)
    if grid.locations & (grid.locations - 1):
        raise InputError(f"--grid: locations: expected a power of two, found {grid.locations}")
    return grid


@click.command(name="tune", cls=Page, first="--backend --method --budget --output")
@click.option(
    "--backend",
    type=click.Choice([name for name, backend in BACKENDS.items() if backend.device is not None]),
    required=True,
    help="The language of the programs, which decides the devices.",
)
@click.option("--platform", metavar="NAME", help="Part of the name of the device or its platform, as for synth run.")
@click.option(
    "--shapes",
    default=",".join(SHAPES),
    show_default=True,
    metavar="NAMES|FILES",
    help="Tune with these tests, separated by commas.",
)
@click.option("--method", type=click.Choice(METHODS), default="published", show_default=True, help="How to search.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all random choices.")
@click.option("--budget", type=Seconds(positive=True), help="Seconds for all measurements.  [default: no limit]")
@click.option(
    "--start",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Begin with this profile, and keep what it sets.",
)
@click.option(
    "--instances", type=click.IntRange(1, 1 << 24), default=1 << 14, show_default=True, help="Instances of a launch."
)
@click.option("--timeout", type=Seconds(positive=True), default=10.0, show_default=True, help="Seconds for a launch.")
@click.option(
    "--grid",
    default="",
    metavar="WORDS",
    help="How finely to search, as 'launches=64 turns=4': launches in a trial; turns, how often to repeat a trial; "
    "candidates, the profiles that random tries; distances, locations, longest and spreads for published.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.toml",
    help="Write the profile to FILE.toml, and name it after the file.  [default: a file named after the search]",
)
@click.option(
    "--plot", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help="Plot the measurements (SVG)."
)
@json_option("Print all measurements as one JSON object.")
def command(
    backend: str,
    platform: str | None,
    shapes: str,
    method: str,
    seed: int,
    budget: float | None,
    start: Path | None,
    instances: int,
    timeout: float,
    grid: str,
    output: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Find how to launch memory tests so that a device shows weak outcomes most often.

    The result is a profile, a TOML file for synth run --profile. A score is the sum of the rates of weak outcomes over
    the tests, by default store buffering, message passing and load buffering.

    \b
    published  As in Sorensen and Donaldson 2016, section 3: the size of a patch of memory, the sequence of accesses
               to stress it with, over how many patches to spread the stress; then every combination of stress,
               bank conflicts, synchronisation and randomisation (Alglave et al. 2015, section 4.3).
               The grid of the paper: --grid 'distances=0,1,...,255 locations=256 longest=5 spreads=1,2,...,64'.
    random     Profiles drawn from all parameters, then changes of the best ones.

    Like synth diff, it counts launches, because instances of one launch are alike. At the end it measures the profile,
    the device's default layout and plain launches in turn, and a randomisation test of their launches says whether the
    winner is distinguishable. If chance explains a profile's score, synth does not keep the profile; each step takes
    the first of the candidates that are as good as the best.

    synth writes each measurement to FILE.journal.jsonl before the next one begins. If a search was stopped, the same
    command resumes it; if it has ended, the same command prints the result again and runs nothing.

    \b
    Examples:
      synth tune --backend cpp --shapes SB --method random
      synth tune --backend cpp --shapes SB --method random -o laptop.toml
      synth tune --backend opencl --platform PoCL --shapes SB --budget 300 --plot plots -o pocl.toml
      synth tune --backend cpp --shapes SB --start laptop.toml -o stressed.toml

    Exit code 1 if no test could be run.
    """
    if output is not None:
        _check_name(output)
    finely = _grid(grid, budget)
    tests = shapes_of([word for word in shapes.split(",") if word])
    base = DEFAULT if start is None else read_profile(start)
    language = BACKENDS[backend]
    assert language.device is not None
    with ended_by_signals(), Runner(language.device(DeviceOptions(platform=platform))) as runner:
        device = runner.device
        own = device.layout(tests[0], instances, base).parameters
        question = [
            backend,
            device.hardware,
            *map(litmus_digest, tests),
            base,
            method,
            seed,
            instances,
            timeout,
            finely,
        ]
        key = sha256("\n".join(map(repr, question)).encode()).hexdigest()[:16]
        if output is None:
            output = _named(backend, key, as_json)
        search = ProfileSearch(method, seed, len(tests), own, Profile(**{**base.chosen, "name": output.stem}), finely)
        names = tuple(test.name for test in tests)
        bench = Bench(language, runner, tests, instances, timeout)
        found: TuningResult | None = None
        with open_journal(journal_of(output)) as journal:
            for done in watched(answered(search, key, names, bench.measure, journal), search.most, "Tuning"):
                found = done or found
    assert found is not None
    if not any(sample.runs for sample in found.rates["own"]):
        errors = (sample.error for sample in found.rates["own"] if sample.error)
        click.echo(f"synth: no test could be run: {next(errors, 'nothing was launched')}", err=True)
        sys.exit(1)
    write_profile(output, found.profile, remarks(found, names, device.hardware, backend, method, seed))
    if plot is not None:
        from synth.drawing.plots import draw_tuning

        _write_pictures(plot, draw_tuning(found, names))
    if as_json:
        click.echo(json.dumps(record(found, names, device.hardware), indent=2))
    else:
        print_tuning(found, names, device.hardware, output, screen())


def _check_name(output: Path) -> None:
    if output.suffix != ".toml":
        raise InputError("-o: expected a name that ends with .toml", str(output))
    parse_profile(f"name = {json.dumps(output.stem)}", str(output))


def _named(backend: str, key: str, as_json: bool) -> Path:
    """Return the file of a search that is named after it, and print in which state it is."""

    def found(path: Path) -> FolderState | None:
        return (
            None
            if search_of(journal_of(path)) not in ("", key)
            else FolderState.WHOLE
            if path.exists()
            else FolderState.UNFINISHED
        )

    name = question_name(["tune", backend], ("backend",))
    file = question_folder(name, found, ending=".toml", beside=".journal.jsonl")
    print_state(file, f"a profile for {backend}", as_json)
    return file.path


def _write_pictures(folder: Path, pictures: Mapping[str, str]) -> None:
    """Write pictures into a folder, which is made if need be, by their titles. Raises ``InputError``."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", str(folder)) from None
    for title, svg in pictures.items():
        write_picture(folder / f"{title}.svg", svg)
