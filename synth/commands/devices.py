"""``synth devices`` tries every compiler and device that synth can use."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import click
from rich.table import Table
from rich.text import Text

from backends.llvm import compiler as llvm
from backends.registry import BACKENDS
from backends.shared.toolchain import Probed
from synth.options.form import json_option
from synth.screen.console import screen
from synth.watch import gathered

READERS: dict[str, Callable[[], list[Probed]]] = {"llvm": lambda: [llvm.probed()]}
"""What compiles programs only for them to be read, beside the back ends."""


@click.command(name="devices")
@json_option("Print a JSON list with an object for each.")
def command(as_json: bool) -> None:
    """List every compiler and device that synth can use, and whether it works here.

    synth compiles a trivial program with each and runs it if it can, in a separate process that may take 30 seconds.
    A line for each failure says what to install. OpenCL devices come in the order in which synth tries them without
    --platform.

    \b
    Examples:
      synth devices
      synth devices --json

    The exit code is always 0.
    """
    probes = {name: backend.compiler.probe for name, backend in BACKENDS.items()} | READERS
    with ThreadPoolExecutor(len(probes)) as pool:  # compilers do the work, in processes of their own
        tried = gathered([pool.submit(probe) for probe in probes.values()], "Trying")
    rows = [(name, probed) for name, found in zip(probes, tried, strict=True) for probed in found]
    if as_json:
        click.echo(json.dumps([_record(name, probed) for name, probed in rows], indent=2))
        return
    table = Table("works", "backend", "name", "version", "for", box=None, pad_edge=False, header_style="bold")
    for name, probed in rows:
        mark = Text("yes", "green") if probed.usable else Text("no", "red")
        table.add_row(mark, name, Text(probed.name), Text(probed.version or "-"), Text(probed.purpose))
    console = screen()
    console.print(table)
    lacking = [probed for _, probed in rows if not probed.usable]
    if lacking:
        console.print()
    for probed in lacking:
        install = f"; to install: {probed.install}" if probed.install else ""
        console.print(Text(f"{probed.name}: {probed.problem}{install}"), soft_wrap=True)


def _record(backend: str, device: Probed) -> dict[str, object]:
    return {"backend": backend, **asdict(device), "usable": device.usable}
