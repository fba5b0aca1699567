"""Finds the devices that a host in Python lists and drives. It tells those that work, and chooses the one to use.

A host is a script of its language's folder that a process of its own executes (``host.py``). ``--list`` prints
``devices [[NAME, KIND], ...]``; ``--device NAME --number N FILE ITERATIONS`` runs a file on one of them, with the
lines that ``backends.shared.process`` reads. A device is chosen by a *probe*: a small program of the language, built
and run by the host with a time-out. GPUs come before CPUs.

The probe is a loop of ``ROUNDS`` rounds, for there are drivers that cut loops short: lavapipe of Mesa 22 lets a thread
have 65,535 rounds in all and then goes on as if the conditions did not hold. A test would then end that hangs, and
outcomes would be of threads that never ran. Such a device does not work.

What was found is remembered as long as this process lives, and no longer: drivers come and go.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backends.shared.device import Device, DeviceOptions, Prepared
from backends.shared.layout import Layout, device_layout
from backends.shared.mapping import Launch
from backends.shared.process import RunError
from backends.shared.profiles import Profile
from backends.shared.serve import serving
from backends.shared.toolchain import PROBE_TIMEOUT, Probed, device_of, first_named, lacking, problem, rows_of, run
from corpus.litmus.test import LitmusTest
from corpus.private import private_folder

ROUNDS = 1 << 20

MESA = "for a CPU: apt install mesa-vulkan-drivers (Debian 12: apt install -t bookworm-backports mesa-vulkan-drivers)"
"""How to install Mesa's device for CPUs, lavapipe: Debian 12's own cuts loops short (docs/running.md, "Lavapipe")."""

PROBE_SIZES = {"THREADS": 1, "INSTANCES": 1, "LOCATIONS": 1, "STRIDE": 2, "SIZE": ROUNDS}
"""The constants of the probe, in the form of a progress test: one thread adds 1 to ``FINISHED``, which is word 2, in
every round; in the warm-up, which word 3 tells, it ends at once.
"""

_RANKS = ("GPU", "integrated GPU", "virtual GPU", "other", "CPU")


@dataclass(frozen=True, slots=True)
class Host:
    """The host of a language, a script that lists and drives its devices.

    ``title`` is what it calls its devices, ``package`` the Python package that it needs, ``install`` says what brings
    one. ``trial`` is the text of the probe, ``suffix`` that of its file. ``build`` makes of files beside each what the
    host runs, where that is not the file itself, and raises ``RunError``; ``together`` says that this takes less time
    than one by one. ``compiler`` names what compiles programs.
    """

    title: str
    package: str
    install: str
    script: Path
    suffix: str
    trial: str
    build: Callable[[Sequence[Path]], None] = lambda files: None
    together: bool = False
    compiler: Callable[[], str] | None = None

    def devices(self) -> list[Chosen]:
        """Return every device, in the order in which they are tried."""
        names: list[str] = []
        found = []
        for name, kind in listed(self)[0]:
            found.append(Chosen(self, name, kind, names.count(name)))
            names.append(name)
        return sorted(found, key=lambda device: _RANKS.index(device.kind))

    def first_that_works(self, name: str | None = None) -> tuple[Chosen | None, list[str]]:
        """Return the first device that passes its probe, and what is wrong with those before it, a line each.

        Of those whose name contains ``name``, if given; ``None`` where no device works.
        """
        return first_named(self.devices(), name, probe, listed(self)[1])

    def choose(self, name: str | None = None) -> Chosen:
        """Return the first device that works. Raises ``InputError`` where there is none: which were tried, and what
        they said.
        """
        named = "" if name is None else f" named '{name}'"
        return device_of(self.first_that_works(name), f"{self.title}{named}")

    def missing(self) -> list[str]:
        """Return what is missing to run programs, each with the way to get it; empty if nothing is."""
        return lacking(self.first_that_works(), f"a {self.title}")

    def probed(self, purpose: str) -> list[Probed]:
        """Return the probes of the devices in the order in which they are tried, for a ``purpose`` in words."""
        try:
            driver = f"{self.package} {version(self.package)}"
        except PackageNotFoundError:
            driver = ""
        tried = [(f"{device.name} ({device.kind})", probe(device)) for device in self.devices()]
        found = [Probed(name, driver, purpose, trouble, self.install if trouble else "") for name, trouble in tried]
        return found or [Probed(self.title, driver, purpose, self.first_that_works()[1][0], self.install)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A device as its host lists it; ``number`` counts the devices of one name, which includes the driver's version."""

    host: Host
    name: str
    kind: str
    number: int

    def command(self, file: Path) -> list[str]:
        """Return the command that runs a file; the number of iterations is appended to it, 0 to build it only."""
        return [sys.executable, str(self.host.script), *self._choice, str(file.resolve())]

    @property
    def server(self) -> list[str]:
        """The command that runs one file after the other (``backends.shared.serve``)."""
        return serving(self.host.script, self._choice)

    @property
    def _choice(self) -> list[str]:
        return ["--device", self.name, "--number", str(self.number)]


@cache
def probe(device: Chosen) -> str:
    """Build and run a small program, and return why the device cannot be used, in one line, or "" where it works."""
    with private_folder("probe") as folder:
        file = Path(folder, f"probe{device.host.suffix}")
        file.write_text(device.host.trial, encoding="utf-8")
        try:
            device.host.build([file])
        except RunError as error:
            return str(error)
        done = run(file, [*device.command(file), "1"], None, PROBE_TIMEOUT, title="a trivial program")
    if "cut short" in done.output:
        return f"it ends a loop of {ROUNDS} rounds before its time, as lavapipe of Mesa 22 does; 25 does not"
    return "" if done.ok else problem(done.output) or "a trivial program failed"


@cache
def listed(host: Host) -> tuple[tuple[tuple[Any, ...], ...], str]:
    """Return what a host lists, and why there is nothing if there is not."""
    if find_spec(host.package) is None:
        return (), f"the package {host.package} is not installed"
    found, reason = rows_of(host.script, f"listing each {host.title}", ["--list"])
    return found, reason or ("" if found else f"there is no {host.title}")


class HostedDevice(Device):
    """A device of a host: one that has the ``platform`` of the options in its name, or whichever the probe chooses.

    Raises ``InputError`` where none works.
    """

    instances: int | None = None

    def __init__(self, host: Host, options: DeviceOptions) -> None:
        self.chosen = host.choose(options.platform)
        self.instances = options.instances

    @property
    def name(self) -> str:
        """The name of the device, with its driver, as its host lists it."""
        return self.chosen.name

    @property
    def compiler(self) -> str:
        """The compiler of the device's programs, which is the package itself where nothing else compiles them."""
        host = self.chosen.host
        return f"{host.package} {version(host.package)}" if host.compiler is None else host.compiler()

    def layout(self, test: LitmusTest, instances: int, profile: Profile) -> Layout:
        """Return the layout of a memory test on this device."""
        return device_layout(test, instances, profile, self.chosen.kind == "CPU")

    def prepare(self, file: Path, shape: Launch | Layout) -> Prepared:
        """Return the host that runs a file. Raises ``RunError`` where the program cannot be built."""
        return self.prepare_all([file], [shape])[0]

    def of_one_kind(self, shape: Launch | Layout) -> object:
        """Return the kind of tests that go together: all of them, where the host has something to build."""
        return self.chosen.host.title if self.chosen.host.together else None

    def prepare_all(self, files: Sequence[Path], shapes: Sequence[Launch | Layout]) -> list[Prepared]:
        """Build several files, and return the host that runs each. Raises ``RunError`` where one cannot be built."""
        self.chosen.host.build(files)
        return [Prepared(self.chosen.server, program=str(file.resolve())) for file in files]
