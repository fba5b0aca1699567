"""``synth convert``: litmus tests in another dialect."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from corpus.dialects.bell import bell_file
from corpus.dialects.lisa import LISA
from corpus.errors import InputError
from corpus.export import write_folder
from corpus.files import write_atomically
from corpus.litmus import Mode, Order, Scope
from corpus.litmus_normal import map_modes
from corpus.litmus_text import Dialect, dialects, read_litmus, translate
from synth.inputs import litmus_files


def _without_cache(mode: Mode) -> Mode:
    return replace(mode, cache=None)


def _without_volatile(mode: Mode) -> Mode:
    return replace(mode, volatile=False, order=Order.RELAXED, scope=Scope.SYS) if mode.volatile else mode


_DROPS: Mapping[str, Callable[[Mode], Mode]] = {"cache": _without_cache, "volatile": _without_volatile}


@click.command(name="convert")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER...", type=click.Path())
@click.option("--to", "target", type=click.Choice(list(dialects())), required=True, help="The dialect to write.")
@click.option("--drop", "dropped", type=click.Choice(list(_DROPS)), multiple=True, help="See above; may be repeated.")
@click.option("-o", "--output", metavar="OUT", type=click.Path(path_type=Path), help="A file, or a new folder.")
def command(inputs: tuple[str, ...], target: str, dropped: tuple[str, ...], output: Path | None) -> None:
    """Write litmus tests in another dialect.

    The inputs are .litmus files in any of the dialects, whose first word says which, folders of them, and indexes such
    as @all. One file goes to standard output or to the file OUT. Several files, or a folder, need -o with a new or
    empty folder; the files keep their names, and come with the index @all that herdtools7 and Dartagnan take.

    \b
    ptx       Dartagnan's PTX: orders, scopes and proxies of PTX 6.0 and later
    vulkan    Dartagnan's Vulkan: storage classes, availability and visibility
    gpu-ptx   PTX as GPU litmus tests of 2015 have it: cache operators, volatile, membar, predicates
    lisa      herd7's LISA with a scope tree; a folder gets synth.bell, which herd7 needs
    c         herd's C with C11 atomics
    opencl    OpenCL C with scopes, address spaces and barriers

    What comes out is read back and must be the same test. Predicates may become branches and constants move into
    registers, but an order, a scope, a cache operator, volatile or a memory region is never lost in silence: a test
    that a dialect cannot say is one line that names thread, instruction and reason, and the exit code is 2. The others
    of a folder are converted.

    \b
    What PTX 6.0 gives a meaning of its own can be replaced on demand:
      --drop cache     leave out cache operators, which are performance hints
      --drop volatile  make volatile accesses relaxed ones at system scope, which order alike

    \b
    Examples:
      synth convert examples/memory/c-mp-rel-acq.litmus --to opencl
      synth convert examples/memory/mp-L1.litmus --to ptx --drop cache -o mp-L1-ptx.litmus
      synth convert examples/memory/thesis-*.litmus --to opencl -o thesis
      synth convert examples/memory/thesis-iriw-*.litmus --to lisa -o lisa
    """
    dialect = dialects()[target]
    if len(inputs) == 1 and _is_file(inputs[0]) and not (output and output.is_dir()):
        text = _converted(Path(inputs[0]), dialect, dropped)
        if output is None:
            click.echo(text, nl=False)
        else:
            write_atomically(output, [text])
        return
    if output is None:
        raise click.UsageError("several files need -o FOLDER")
    files = litmus_files(inputs)
    _check_names(files)
    texts = dict(_all_converted(files, dialect, dropped))
    if texts:
        write_folder(output, _contents(texts, dialect))
    click.echo(f"{len(texts)} of {len(files)} tests in {output}", err=len(texts) < len(files))
    if len(texts) < len(files):
        sys.exit(2)


def _is_file(given: str) -> bool:
    path = Path(given)
    return not path.is_dir() and not path.name.startswith("@")


def _converted(file: Path, dialect: Dialect, dropped: Sequence[str]) -> str:
    test = read_litmus(file)
    for name in dropped:
        test = map_modes(test, _DROPS[name])
    try:
        return translate(test, dialect)
    except InputError as error:
        raise InputError(error.message, str(file)) from None


def _all_converted(files: Sequence[Path], dialect: Dialect, dropped: Sequence[str]) -> Iterator[tuple[str, str]]:
    """File names and texts; what cannot be converted is a line on standard error."""
    console = Console(stderr=True)
    for file in track(files, "Converting", console=console, disable=not console.is_terminal, transient=True):
        try:
            yield file.name, _converted(file, dialect, dropped)
        except InputError as error:
            click.echo(f"synth: {error}", err=True)


def _check_names(files: Sequence[Path]) -> None:
    names: dict[str, Path] = {}
    for file in files:
        if file.name in names:
            raise InputError(f"{names[file.name]} and {file} would be one file, {file.name}")
        names[file.name] = file


def _contents(texts: Mapping[str, str], dialect: Dialect) -> Iterator[tuple[str, str]]:
    yield from texts.items()
    yield "@all", "".join(f"{name}\n" for name in texts)
    if dialect is LISA:
        yield "synth.bell", bell_file()
