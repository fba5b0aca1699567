"""Bundles of ``synth compile``, for back ends that make one artefact of all tests. This module writes and compiles
them.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from backends.shared.backend import Backend
from backends.shared.bundle import Bundle
from backends.shared.files import write_files
from corpus.errors import printable
from synth.screen import printable_lines, watched


def write_bundle(bundle: Bundle, backend: Backend, output: Path, check: bool) -> int:
    """Write the files of a bundle into ``output``; return how many of its programs do not compile, if ``check`` asks.

    Tests that the language cannot say are named on stderr. Raises ``InputError`` where the folder cannot be written to.
    """
    assert backend.bundle is not None
    for name, reason in bundle.refused:
        click.echo(printable(f"{name}: {reason}"), err=True)
    files = backend.bundle(bundle)
    write_files(output, files)
    of = f" of {len(bundle.tests) + len(bundle.refused)}" if bundle.refused else ""
    click.echo(f"{len(bundle.tests)}{of} tests in {', '.join(str(output / name) for name in files)}", err=True)
    return _refused(bundle, backend) if check else 0


def _refused(bundle: Bundle, backend: Backend) -> int:
    """Return how many programs do not compile, where each test is launched in the ways that are chosen at first."""
    first = {choice.name: choice.chosen for choice in bundle.choices}
    ways = [n for n, way in enumerate(bundle.ways) if all(value in first[name] for name, value in way.choices)]
    programs = [(test.name, text) for test in bundle.tests for n in ways if (text := test.programs[n]) is not None]
    refused = 0
    with TemporaryDirectory(prefix="synth-bundle-") as folder:
        file = Path(folder, f"program{backend.suffix}")
        for name, text in watched(programs, len(programs), "Compiling"):
            file.write_text(text, encoding="utf-8")
            compilation = backend.compiler.compile(file)
            if not compilation.ok:
                refused += 1
                click.echo(f"{printable(name)}: does not compile\n{printable_lines(compilation.output)}", err=True)
    click.echo(f"{len(programs) - refused} of {len(programs)} compile", err=True)
    return refused
