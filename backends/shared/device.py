"""What a device must offer, and how a test is run on one: in a process of its own, in a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from backends.shared.mapping import Launch
from backends.shared.process import Run, watch
from corpus.progress.axb import Program


class Device(Protocol):
    """Something that runs tests. ``name`` says in stable words which; it is part of a result."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def environment(self) -> Mapping[str, str]: ...  # noqa: D102

    def launch(self, program: Program, mapping: str) -> Launch: ...  # noqa: D102

    def prepare(self, name: str, program: Program, mapping: str, folder: Path) -> list[str]: ...  # noqa: D102


def run_test(
    device: Device,
    name: str,
    program: Program,
    mapping: str,
    iterations: int = 20,
    timeout: float = 5.0,
    every_iteration: bool = False,
) -> Run:
    """Run a test ``iterations`` times, ``timeout`` seconds for each, as ``backends.shared.process.watch`` does.

    Raises ``RunError`` where the test can be neither seen to terminate nor seen to hang.
    """
    with TemporaryDirectory(prefix="synth-run-") as folder:
        command = device.prepare(name, program, mapping, Path(folder))
        return watch(command, iterations, timeout, device.environment, every_iteration)
