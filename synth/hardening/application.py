"""An application under test: built for a set of fences, and run. No shell sees the two commands for that.

Its sources mark places with ``SYNTH_FENCE(n)`` of ``include/synth_fence.h``. A list of macros (``defines``) says which
places are active and how memory is stressed. Compilers get it as the words of ``{defines}`` in a command; make and
similar tools, and kernels that are compiled at run time, as the environment variable ``SYNTH_DEFINES``.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backends.shared.layout import SCRATCH_WORDS, Parameters, chosen
from backends.shared.process import RunError, run_to_end
from backends.shared.profiles import Profile
from backends.shared.toolchain import problem, run
from corpus.awaited import awaiting
from corpus.errors import InputError
from corpus.files import folder_of
from synth.hardening.reduction import OutOfTimeError, Places, ProgramRun

MOST_PLACES = 256
"""The number of places that the header provides."""

WORD = 32
"""The number of places in one macro of the header."""

FLOOR, FACTOR, PATIENCE = 10.0, 20.0, 300.0
"""The least time-out in seconds, its multiple of the longest run, and the seconds while no run has gone right."""


def words(command: str, option: str) -> tuple[str, ...]:
    """Split a command into words, quoted as in a shell. Raises ``InputError`` where it is empty or a quote is open."""
    try:
        found = tuple(shlex.split(command))
    except ValueError as error:
        raise InputError(f"{option}: {str(error)[:1].lower()}{str(error)[1:]}, in {command!r}") from None
    if not found or "\0" in command:
        raise InputError(f"{option}: expected a command, found {command!r}")
    return found


def include() -> Path:
    """Return the folder of the header ``synth_fence.h``, for the include path of a compiler."""
    return folder_of("synth.hardening") / "include"


def defines(active: Places, stress: Profile | None = None) -> list[str]:
    """Return the options for the compiler: the include path, the active places, and how memory is to be stressed."""
    masks = [sum(1 << place % WORD for place in active if place // WORD == word) for word in range(MOST_PLACES // WORD)]
    macros = {f"SYNTH_ACTIVE_{word}": f"{mask:#x}u" for word, mask in enumerate(masks) if mask}
    if stress is not None:
        own = chosen(Parameters(stress=1), stress)
        sequence = own.sequence.split()
        macros |= {
            "SYNTH_STRESS": str(own.stress),
            "SYNTH_STRESS_WORDS": f"{SCRATCH_WORDS}u",
            "SYNTH_STRESS_SPREAD": str(own.spread),
            "SYNTH_STRESS_PATCH": f"{own.patch}u",
            "SYNTH_STRESS_REGIONS": f"{own.regions}u",
            "SYNTH_STRESS_OFFSET": f"{own.offset}u",
            "SYNTH_STRESS_LENGTH": f"{len(sequence)}u",
            "SYNTH_STRESS_STORES": f"{sum(1 << number for number, word in enumerate(sequence) if word == 'st'):#x}u",
        }
    return [f"-I{include()}", *(f"-D{name}={value}" for name, value in macros.items())]


@dataclass(slots=True)
class Application:
    """The commands that build and run an application; ``folder`` gets a subfolder for each set of fences.

    ``build`` may be empty. ``until`` is the value of ``time.monotonic`` from which no run begins.

    A run has ``timeout`` seconds. Where that is ``None``, it has ``FACTOR`` times the longest run that went right, at
    least ``FLOOR``, and ``PATIENCE`` before any run went right. Another run cannot confirm a hang: an application that
    lacks a fence may end.
    """

    build: Sequence[str]
    command: Sequence[str]
    folder: Path
    stress: Profile | None = None
    timeout: float | None = None
    build_timeout: float = 600.0
    until: float | None = None
    _built: set[Places] = field(default_factory=set)
    _longest: float = 0.0

    def run(self, active: Places) -> ProgramRun:
        """Run the application with a set of fences, building it before the set's first run.

        Raises ``OutOfTimeError`` where the time is over, ``InputError`` where the application cannot be built or
        executed.
        """
        if self.until is not None and time.monotonic() >= self.until:
            raise OutOfTimeError
        folder = self.folder / name_of(active)
        placed = {"{folder}": str(folder), "{include}": str(include()), "{places}": spelled(active)}
        definitions = defines(active, self.stress)
        environment = {
            "SYNTH_DEFINES": shlex.join(definitions),
            "SYNTH_FOLDER": str(folder),
            "SYNTH_INCLUDE": str(include()),
            "SYNTH_PLACES": spelled(active),
        }
        if active not in self._built:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"cannot make the folder: {error.strerror}", str(folder)) from None
            if self.build:
                self._build(_filled(self.build, placed, definitions), active, environment)
            self._built.add(active)
        try:
            with awaiting(self.command[0]):
                end = run_to_end(_filled(self.command, placed, definitions), self._limit(), environment)
        except RunError as error:
            raise InputError(f"--run: {error}") from None
        if end.code == 0:
            self._longest = max(self._longest, end.seconds)
        return ProgramRun(end.code, round(end.seconds, 6), end.complaint[:200])

    def _limit(self) -> float:
        """Return the seconds after which a run is killed."""
        if self.timeout is not None:
            return self.timeout
        return max(FLOOR, FACTOR * self._longest) if self._longest else PATIENCE

    def _build(self, command: list[str], active: Places, environment: dict[str, str]) -> None:
        try:
            done = run(Path(), command, Path(), timeout=self.build_timeout, environment=environment)
        except (OSError, ValueError) as error:
            raise InputError(f"--build: {error}") from None
        if not done.ok:
            fences = f"fences at {spelled(active)}" if active else "no fence"
            raise InputError(f"--build: with {fences}: {problem(done.output) or 'it ended with an error'}")


def _filled(command: Sequence[str], placed: dict[str, str], definitions: Sequence[str]) -> list[str]:
    """Return the words of a command with the placeholders filled in for a set of fences."""
    filled: list[str] = []
    for word in command:
        if word == "{defines}":
            filled += definitions
            continue
        for placeholder, value in placed.items():
            word = word.replace(placeholder, value)
        filled.append(word)
    return filled


def spelled(places: Places) -> str:
    """Return the numbers of places as text, with commas between them."""
    return ",".join(map(str, sorted(places)))


def name_of(places: Places) -> str:
    """Return the name of the folder of a set of places: the set's bits as a number."""
    return f"{sum(1 << place for place in places):x}"
