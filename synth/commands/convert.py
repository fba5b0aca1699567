"""``synth convert`` writes litmus tests in another dialect."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from corpus.dialects.registry import DIALECTS
from corpus.files import write_atomically
from corpus.laws.vulkan import STORAGE
from synth.inputs import expand
from synth.memory.conversion import DROPS, convert_folder, converted
from synth.options.tests import bell_option, with_bell
from synth.screen.programs import print_written_tests

drop_option = click.option(
    "--drop", "dropped", type=click.Choice(list(DROPS)), multiple=True, help="See above; may be repeated."
)
"""``--drop``; its value is a tuple of names of ``DROPS``."""


def _classes(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    classes = tuple(value.split(",")) if value else ()
    if not set(classes) <= set(STORAGE) or len(set(classes)) != len(classes) or len(classes) > 2:
        raise click.BadParameter(f"expected one or two of {', '.join(STORAGE)}, found {value}")
    return classes


storage_option = click.option("--storage", metavar="CLASS[,CLASS]", callback=_classes, help="See above.")
"""``--storage``: Vulkan's storage classes of global and of shared memory."""


@click.command(name="convert")
@click.argument("inputs", nargs=-1, required=True, metavar="FILES|FOLDER...", type=click.Path())
@click.option("--to", "target", type=click.Choice(list(DIALECTS)), required=True, help="The dialect to write.")
@drop_option
@storage_option
@bell_option
@click.option(
    "-o", "--output", metavar="OUT", type=click.Path(path_type=Path), help="Write to a file, or to a new folder."
)
def command(
    inputs: tuple[str, ...],
    target: str,
    dropped: tuple[str, ...],
    storage: tuple[str, ...],
    bell: str | None,
    output: Path | None,
) -> None:
    """Write litmus tests in another dialect.

    The inputs are .litmus files, folders of them, and indexes such as @all. The first word of a file names its dialect.
    One file goes to standard output or to the file OUT. Several files, or a folder, need -o with a new or empty folder;
    the files keep their names, and come with the index @all for herdtools7 and Dartagnan.

    \b
    ptx       Dartagnan's PTX: orders, scopes and proxies of PTX 6.0 and later
    vulkan    Dartagnan's Vulkan: storage classes, availability and visibility
    gpu-ptx   PTX as in GPU litmus tests of 2015: cache operators, volatile, membar, predicates
    lisa      herd7's LISA with a scope tree; a folder gets synth.bell, which herd7 needs
    c         herd's C with C11 atomics
    opencl    OpenCL C with scopes, address spaces and barriers
    aarch64   Armv8's assembly as herd7 reads it; no scopes
    ppc       Power's assembly likewise; no atomic operations, which are loops there
    riscv     RISC-V's assembly likewise
    x86-64    x86-64's assembly likewise

    synth reads its output back, and it must be the same test. Predicates may become branches and constants may move
    into registers, but synth never drops an order, a scope, a cache operator, volatile or a memory region silently. If
    a dialect cannot express a test, a line names the thread, the instruction and the reason, and the exit code is 2.
    The other tests of a folder are still converted.

    \b
    On demand synth replaces words to which PTX 6.0 gives a meaning of its own:
      --drop cache     remove cache operators, which are performance hints
      --drop volatile  make volatile accesses relaxed at system scope, which order alike

    memory_order_consume is acquire, and only C has a word for it: --drop consume writes acquire.

    \b
    Vulkan's tests have storage classes; other languages have none. --storage converts to and from Vulkan if the
    meaning is the same, scope by scope and order by order:
      --storage sc0      all memory is of class sc0
      --storage sc0,sc1  global memory is of class sc0, shared memory of sc1
    It refuses by name a private access, an order that makes nothing available, sequential consistency and the like.
    C has no scopes: there the system scope stands for every scope that includes all threads.

    \b
    Examples:
      synth convert examples/memory/c-mp-rel-acq.litmus --to opencl
      synth convert examples/memory/mp-L1.litmus --to ptx --drop cache -o mp-L1-ptx.litmus
      synth convert examples/memory/thesis-*.litmus --to opencl -o thesis
      synth convert examples/memory/mp-acq-rel.litmus --to vulkan --storage sc0
      synth convert examples/memory/thesis-iriw-*.litmus --to lisa -o lisa
    """
    dialect = DIALECTS[target]
    tests = with_bell(expand(inputs), bell)
    if len(inputs) == len(tests) == 1 and tests[0].label == inputs[0] and not (output and output.is_dir()):
        text = converted(tests[0], dialect, dropped, storage=storage).text
        if output is None:
            click.echo(text, nl=False)
        else:
            write_atomically(output, [text])
        return
    if output is None:
        raise click.UsageError("several files need -o FOLDER")
    written = convert_folder(tests, dialect, dropped, output, storage=storage)
    print_written_tests(written)
    sys.exit(0 if written.complete else 2)
