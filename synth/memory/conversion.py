"""Litmus tests into another dialect: one file, or a folder that runners take.

The folder has one file a test, the index ``@all``, for LISA the bell file, and where it is asked for
``expected/MODEL.csv``: ``FILE,1`` where the condition is true under the model as it is written, ``FILE,0`` where it is
false. That is taken from ``labels.csv`` beside the inputs; of a test that was changed on the way nothing is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from corpus.dialects.lisa.bell import bell_file
from corpus.dialects.lisa.dialect import LISA
from corpus.dialects.registry import read_litmus, translate
from corpus.errors import InputError
from corpus.export import Files, expected_file, write_folder
from corpus.litmus.normal import map_modes
from corpus.litmus.test import Mode, Order, Scope
from corpus.litmus.text import Dialect
from synth.memory.verdict_table import read_verdicts
from synth.screen import watched


def _without_cache(mode: Mode) -> Mode:
    return replace(mode, cache=None)


def _without_volatile(mode: Mode) -> Mode:
    return replace(mode, volatile=False, order=Order.RELAXED, scope=Scope.SYS) if mode.volatile else mode


DROPS: Mapping[str, Callable[[Mode], Mode]] = {"cache": _without_cache, "volatile": _without_volatile}
"""What may be left out on demand, for PTX 6.0 gives it a meaning of its own (Lustig et al. 2019, 3.6)."""

drop_option = click.option(
    "--drop", "dropped", type=click.Choice(list(DROPS)), multiple=True, help="See above; may be repeated."
)
"""``--drop``; its value is a tuple of names of ``DROPS``."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A test in its new dialect. ``changed``: whether something was dropped, so that it is another test."""

    file: Path
    text: str
    changed: bool


def converted(file: Path, dialect: Dialect, dropped: Sequence[str]) -> Converted:
    """One file in another dialect. Raises ``InputError`` where it is no test or the dialect cannot say it."""
    test = given = read_litmus(file)
    for name in dropped:
        test = map_modes(test, DROPS[name])
    try:
        return Converted(file, translate(test, dialect), test != given)
    except InputError as error:
        raise InputError(error.message, str(file)) from None


def convert_folder(
    files: Sequence[Path], dialect: Dialect, dropped: Sequence[str], folder: Path, expected: bool = False
) -> int:
    """Write what can be converted into a new or empty folder; what cannot is a line on standard error.

    Says how many there are, and gives the exit code: 2 where a test is left out. With ``expected`` come the tables of
    expected verdicts. Raises ``InputError`` where two files have one name or the folder cannot be written.
    """
    _check_names(files)
    done = list(_converted(files, dialect, dropped))
    if done:
        write_folder(folder, _contents(done, dialect, expected))
    complete = len(done) == len(files)
    click.echo(f"{len(done)} of {len(files)} tests in {folder}", err=not complete)
    return 0 if complete else 2


def _converted(files: Sequence[Path], dialect: Dialect, dropped: Sequence[str]) -> Iterator[Converted]:
    for file in watched(files, len(files), "Converting"):
        try:
            yield converted(file, dialect, dropped)
        except InputError as error:
            click.echo(f"synth: {error}", err=True)


def _check_names(files: Sequence[Path]) -> None:
    names: dict[str, Path] = {}
    for file in files:
        if file.name in names:
            raise InputError(f"{names[file.name]} and {file} would be one file, {file.name}")
        names[file.name] = file


def _contents(tests: Sequence[Converted], dialect: Dialect, expected: bool) -> Files:
    for test in tests:
        yield test.file.name, test.text
    yield "@all", "".join(f"{test.file.name}\n" for test in tests)
    if dialect is LISA:
        yield "synth.bell", bell_file()
    if expected:
        for model, truths in _truths(tests).items():
            yield expected_file(model, truths)


def _truths(tests: Sequence[Converted]) -> dict[str, dict[str, bool]]:
    """The truth of conditions by model and by file, as ``labels.csv`` beside the inputs has it."""
    labels = {folder / "labels.csv" for folder in dict.fromkeys(test.file.parent for test in tests)}
    known: dict[str, dict[Path, bool]] = {}
    for table in sorted(file for file in labels if file.is_file()):
        for row in read_verdicts(table):
            if row.condition is not None:
                known.setdefault(row.model, {})[table.parent / row.file] = row.condition
    return {
        model: {test.file.name: truths[test.file] for test in tests if test.file in truths and not test.changed}
        for model, truths in known.items()
    }
