"""``synth devices`` tries every compiler and device that synth can use."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import click
from rich.table import Table
from rich.text import Text

from backends.registry import BACKENDS
from backends.shared.toolchain import Probed
from synth.options.form import json_option
from synth.screen.console import screen
from synth.watch import gathered


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
    with ThreadPoolExecutor(len(BACKENDS)) as pool:  # compilers do the work, in processes of their own
        tried = gathered([pool.submit(backend.compiler.probe) for backend in BACKENDS.values()], "Trying")
    rows = [(name, each) for name, found in zip(BACKENDS, tried, strict=True) for each in found]
    if as_json:
        click.echo(json.dumps([_record(name, each) for name, each in rows], indent=2))
        return
    table = Table("works", "backend", "name", "version", "for", box=None, pad_edge=False, header_style="bold")
    for name, each in rows:
        mark = Text("yes", "green") if each.usable else Text("no", "red")
        table.add_row(mark, name, Text(each.name), Text(each.version or "-"), Text(each.purpose))
    console = screen()
    console.print(table)
    lacking = [each for _, each in rows if not each.usable]
    if lacking:
        console.print()
    for each in lacking:
        install = f"; to install: {each.install}" if each.install else ""
        console.print(Text(f"{each.name}: {each.problem}{install}"), soft_wrap=True)


def _record(backend: str, each: Probed) -> dict[str, object]:
    return {"backend": backend, **asdict(each), "usable": each.usable}
