"""The compilation of progress tests by ``synth compile``, each under each mapping. Real compilers may check it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from backends.shared.backend import Backend
from backends.shared.files import distinct, write_files
from corpus.progress.text import program_of
from corpus.runner_tests import SCHEMA, of_progress, print_runner_test, schema
from corpus.test import Test
from synth.screen import printable_lines, watched


def compile_progress(
    tests: Sequence[Test],
    backend: Backend,
    ways: Sequence[tuple[str, str]],
    instances: int | None,
    output: Path,
    check: bool,
    as_json: bool = False,
) -> int:
    """Write a program into ``output`` for each test and each mapping and placement of ``ways``.

    Return how many programs do not compile, if ``check`` asks. ``as_json``: with an object for runners beside each.
    Raises ``InputError`` where two tests share a file name, or where a size is too much for the language.
    """
    chosen = distinct(tests)
    written = []
    for test in chosen:
        for mapping, placement in ways:
            shape = backend.launch(program_of(test), mapping, instances, placement)
            files = backend.progress_files(test.name, shape, test.digest)
            program = next(iter(files))
            if as_json:
                made = of_progress(test, backend.compiled(files, shape))
                files |= {f"{program.removesuffix(backend.suffix)}.json": print_runner_test(made)}
            write_files(output, files, durable=False)
            written.append(output / program)
    if as_json:
        write_files(output, {SCHEMA: schema()}, durable=False)
    os.sync()
    click.echo(f"{len(written)} {backend.name} programs of {len(chosen)} tests in {output}", err=True)
    return _refused(written, backend) if check else 0


def _refused(files: Sequence[Path], backend: Backend) -> int:
    refused = 0
    for file in watched(files, len(files), "Compiling"):
        compilation = backend.compiler.compile(file)
        if not compilation.ok:
            refused += 1
            click.echo(printable_lines(f"{file}: does not compile\n{compilation.output}"), err=True)
    click.echo(f"{len(files) - refused} of {len(files)} compile", err=True)
    return refused
