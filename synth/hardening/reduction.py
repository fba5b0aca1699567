"""The search for the fences that an application needs, by running it with fewer and fewer. It is the empirical fence
insertion of Sorensen and Donaldson 2016, section 5.

The application has to pass with all fences and fail without any. Then half of the fences are taken out as long as it
still passes (*binary reduction*), then one at a time (*linear reduction*, algorithm 1), until none of those left can
go: without each of them a failure was seen. The fences that are left have to pass as often as all fences had to; if
they fail, the search begins anew with twice as many runs in each step.

The application is a function from a set of places to a run, so that the search can be tested without one. Every run
counts in all steps: a set of places with a failure has failed for good, and no run is made twice.

Differences to the paper: linear reduction is repeated until it takes nothing out, for a run that passes by chance may
leave a fence that can go; and the result is checked for a number of runs, not for an hour.

Gap: a failure that is too rare is not seen. The fences found are those that were needed in these runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

Places = frozenset[int]
"""A set of the places that have a fence."""

Verdict = Literal["hardened", "no failure", "broken", "stopped"]
"""The end of a search: the needed fences are found (``hardened``); no failure was seen without any fence; a failure was
seen with all of them (``broken``); or the search was ``stopped`` before its end.
"""


class OutOfTimeError(Exception):
    """The error that no time is left for another run."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A run of an application: its exit code (``None`` where it did not end), its wall seconds and its last words."""

    code: int | None
    seconds: float
    message: str = ""

    @property
    def failed(self) -> bool:
        """Return whether the run did not end or ended with an exit code other than 0."""
        return self.code != 0


@dataclass(slots=True)
class FenceTally:
    """The runs of an application with one set of fences."""

    runs: list[ProgramRun] = field(default_factory=list)

    @property
    def failures(self) -> list[ProgramRun]:
        """Return the runs that went wrong or did not end."""
        return [run for run in self.runs if run.failed]

    @property
    def hung(self) -> int:
        """Return the number of runs that did not end."""
        return sum(run.code is None for run in self.runs)

    @property
    def seconds(self) -> float | None:
        """Return the median time in seconds of the runs that passed; ``None`` where none did."""
        times = [run.seconds for run in self.runs if not run.failed]
        return median(times) if times else None


@dataclass(slots=True)
class Reduction:
    """The search for the fences that are needed among ``places`` places; ``run`` runs the application with a set of
    them.

    A step goes on after ``runs`` runs without a failure; ``stable`` runs decide on all fences, on none, and on the
    result. ``tallies`` has every set in the order in which it was first tried; ``restarts`` says how often the result
    failed.
    """

    places: int
    runs: int
    stable: int
    run: Callable[[Places], ProgramRun]
    tallies: dict[Places, FenceTally] = field(default_factory=dict)
    restarts: int = 0
    needed: Places | None = None

    def search(self) -> Verdict:
        """Find the fences that are needed, and keep them in ``needed``; where no failure is seen, no fence is.

        Raises what ``run`` raises, except ``OutOfTimeError``.
        """
        every = frozenset(range(self.places))
        try:
            if not self._passes(every, self.stable):
                return "broken"
            self._observe(frozenset(), self.runs)
            if self._passes(frozenset(), self.stable):
                self.needed = frozenset()
                return "no failure"
            runs = self.runs
            while True:
                left = self._linear(self._binary(every, runs), runs)
                if self._passes(left, max(self.stable, runs)):
                    self.needed = left
                    return "hardened"
                runs *= 2
                self.restarts += 1
        except OutOfTimeError:
            return "stopped"

    def _binary(self, fences: Places, runs: int) -> Places:
        while len(fences) > 1:
            ordered = sorted(fences)
            half = len(ordered) // 2
            for part in (ordered[:half], ordered[half:]):
                if self._passes(fences.difference(part), runs):
                    fences = fences.difference(part)
                    break
            else:
                return fences
        return fences

    def _linear(self, fences: Places, runs: int) -> Places:
        while True:
            before = fences
            for fence in sorted(fences):
                if self._passes(fences - {fence}, runs):
                    fences -= {fence}
            if fences == before:  # each was left out with all others in place, and a failure was seen
                return fences

    def _passes(self, fences: Places, runs: int) -> bool:
        """Return whether so many runs, earlier ones included, had no failure; the first failure ends them."""
        tally = self._tally(fences)
        while not tally.failures and len(tally.runs) < runs:
            tally.runs.append(self.run(fences))
        return not tally.failures

    def _observe(self, fences: Places, runs: int) -> None:
        """Make so many runs, whether they fail or not; one that does not end is the last, for it takes the whole
        time-out.
        """
        tally = self._tally(fences)
        while not tally.hung and len(tally.runs) < runs:
            tally.runs.append(self.run(fences))

    def _tally(self, fences: Places) -> FenceTally:
        return self.tallies.setdefault(fences, FenceTally())
