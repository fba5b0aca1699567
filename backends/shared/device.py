"""Defines what a device must offer, and runs tests on devices. The program of a test runs in a process that is
watched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self, runtime_checkable

from backends.shared.layout import Layout
from backends.shared.mapping import DEVICE, Launch, launch
from backends.shared.process import Run, RunError, Server, watch
from backends.shared.profiles import Profile
from corpus.litmus.test import LitmusTest
from corpus.private import private_folder
from corpus.progress.axb import Program


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """Options that a user may give for a device, which looks at those that it knows; ``None`` is its default.

    ``instances``: of a progress test. ``platform``: part of the name of an OpenCL platform. ``workers``: threads that
    run work-groups. ``subscribe``: C++ threads in all, as ``backends.cpp.backend`` has it.
    """

    instances: int | None = None
    platform: str | None = None
    workers: int | None = None
    subscribe: str = "full"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A program that can be started: its command line, less the number of iterations, and variables for its process.

    Where ``program`` is given, the command is that of a host that serves, which knows the program by this word
    (``backends.shared.process.Server``). ``turn`` is held as long as it runs, on a device where programs that run at
    the same time would take time from each other.
    """

    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)


class Device(Protocol):
    """A device that runs tests; ``instances`` of a progress test are launched, or as many as there is room for.

    ``hardware`` says in stable words which device it is, and ``name`` also how it runs progress tests; both are part of
    results. Devices that are derived from this class have the same words for both, which say all that there is to say.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def instances(self) -> int | None: ...  # noqa: D102

    @property
    def hardware(self) -> str:  # noqa: D102
        return self.name

    @property
    def driver(self) -> str:
        """The driver with its version, where the device's words do not say it."""
        return ""

    @property
    def compiler(self) -> str:
        """The compiler of the device's programs with its version, where the device's words do not say it."""
        return ""

    def launch(self, program: Program, mapping: str, placement: str = DEVICE.name) -> Launch:
        """Return the launch of a progress test on this device. Raises ``InputError`` where it cannot be launched."""
        return launch(program, mapping, self.instances, placement=placement)

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """Return the layout of a memory test on this device, as far as the profile does not say it.

        Raises ``InputError`` where the test cannot be launched.
        """

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Return a file that was written for ``shape``, ready to run; it is compiled beside the file if need be. Raises
        ``RunError``.
        """


@runtime_checkable
class Batching(Protocol):
    """A device that builds several tests in less time together than one by one."""

    def of_one_kind(self, shape: Launch | Layout) -> object:
        """Return what tests that may go together have in common, or ``None`` where a test has to be built by itself."""

    def prepare_all(self, files: Sequence[Path], shapes: Sequence[Launch | Layout]) -> list[Prepared]:
        """Return the files of several tests, each written for its shape, ready to run; what is written lies beside the
        first. Raises ``RunError`` where one of them cannot be built.
        """


BATCH = 32
"""Tests that are built together, at most: as many as wait for one that is slow to build."""


def batches(device: Device, shapes: Sequence[Launch | Layout], jobs: int) -> list[list[int]]:
    """Return the numbers of the tests that are built together, in their order; each is by itself where nothing is
    gained.

    No fewer than ``jobs`` batches, where there are as many tests.
    """
    kinds: dict[object, list[int]] = {}
    for number, shape in enumerate(shapes):
        kind = device.of_one_kind(shape) if isinstance(device, Batching) else None
        kinds.setdefault((number,) if kind is None else kind, []).append(number)
    size = min(BATCH, max(1, -(-len(shapes) // jobs)))
    cut = [numbers[start : start + size] for numbers in kinds.values() for start in range(0, len(numbers), size)]
    return sorted(cut, key=lambda numbers: numbers[0])


class Runner:
    """Runs tests on a device, one after the other, in one process as long as none of them hangs or crashes.

    Only where the device has a host that serves; else each test is a process of its own. For one thread; a context
    manager.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.is_stopped = False
        """Whether nothing more is built, since nobody asks for it."""
        self._serving: tuple[object, Server] | None = None

    def run(
        self,
        files: Mapping[str, str],
        shape: Launch | Layout,
        iterations: int = 20,
        timeout: float = 5.0,
        every_iteration: bool = False,
    ) -> Run:
        """Run the files of a test, its own first, so many iterations of at most ``timeout`` seconds each.

        After the first hang the rest is skipped, for it would most likely hang too; with ``every_iteration`` a new
        process goes on with it. Raises ``RunError`` where the test can be neither seen to terminate nor seen to hang.
        """
        with self.prepared([(files, shape)]) as (prepared,):
            if isinstance(prepared, RunError):
                raise prepared
            return self.watch(prepared, iterations, timeout, every_iteration)

    @contextmanager
    def prepared(
        self, programs: Sequence[tuple[Mapping[str, str], Launch | Layout]]
    ) -> Iterator[list[Prepared | RunError]]:
        """Open a block in which the files of tests are ready to run, or give why they are not. Several tests are built
        together where that can be.
        """
        with private_folder("run") as folder:
            paths = []
            for number, (files, _) in enumerate(programs):
                name, text = next(iter(files.items()))  # the others are for who runs it elsewhere
                paths.append(Path(folder, str(number), name))
                paths[-1].parent.mkdir()
                paths[-1].write_text(text, encoding="utf-8")
            shapes = [shape for _, shape in programs]
            together = list[Prepared]()
            if len(programs) > 1 and isinstance(self.device, Batching):
                with suppress(RunError):  # one of them cannot be built, and the others can
                    together = self.device.prepare_all(paths, shapes)
            yield [*together] or [self._prepared(path, shape) for path, shape in zip(paths, shapes, strict=True)]

    def _prepared(self, path: Path, shape: Launch | Layout) -> Prepared | RunError:
        if self.is_stopped:
            return RunError("it was not built")
        try:
            return self.device.prepare(path, shape)
        except RunError as error:
            return error

    def watch(self, prepared: Prepared, iterations: int, timeout: float, every_iteration: bool = False) -> Run:
        """Run a prepared program on the device, in a watched process; ``timeout``: seconds for each iteration.

        Raises ``RunError`` where it can be neither seen to terminate nor seen to hang.
        """
        with prepared.turn:
            if not prepared.program:
                return watch(prepared.command, iterations, timeout, prepared.environment, every_iteration)
            server = self._server(prepared)
            return server.watch(prepared.program, iterations, timeout, every_iteration)

    def _server(self, prepared: Prepared) -> Server:
        """The server of a command; one at a time."""
        key = (tuple(prepared.command), tuple(sorted(prepared.environment.items())))
        if self._serving is None or self._serving[0] != key:
            self.close()
            self._serving = key, Server(prepared.command, prepared.environment)
        return self._serving[1]

    def close(self) -> None:
        """End the process of the host that is running, if there is one."""
        if self._serving is not None:
            self._serving[1].close()
            self._serving = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_files(
    device: Device,
    files: Mapping[str, str],
    shape: Launch | Layout,
    iterations: int = 20,
    timeout: float = 5.0,
    every_iteration: bool = False,
) -> Run:
    """Run the files of one test, so many iterations of at most ``timeout`` seconds each.

    After the first hang the rest is skipped, for it would most likely hang too; with ``every_iteration`` a new process
    goes on with it. Raises ``RunError`` where the test can be neither seen to terminate nor seen to hang.
    """
    with Runner(device) as runner:
        return runner.run(files, shape, iterations, timeout, every_iteration)
