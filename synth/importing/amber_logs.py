r"""What Amber prints of progress tests. Each run of a script is an iteration, and a fence that times out is a hang.

Amber prints a line on what fails, and a summary; it names no script that passes. So a log has the name of a script
before its run, as a shell traces it (``sh -x``) or as ``echo`` writes it:

    + amber -d 2x2-0001.plain.amber
    Summary: 1 pass, 0 fail
    + amber -d 2x2-0006.chunked.amber
    2x2-0006.chunked.amber: Vulkan::Calling vkWaitForFences Timeout
    Summary of Failures:
      2x2-0006.chunked.amber
    Summary: 0 pass, 1 fail

Source: google/amber, ``samples/amber.cc`` and ``src/vulkan/command_buffer.cc``. After a time-out some versions crash
and print no summary. A run that has neither time-out nor summary was stopped from outside, or crashed: nothing is said
of it. Any other failure is one of the trial, not a hang.

Assumption: scripts are those of ``synth compile --backend glsl``, with as many instances as it takes unless it is told,
and their own time-out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from backends.glsl.amber import FENCE, TIMED_OUT
from backends.registry import BACKENDS
from backends.shared.mapping import DEVICE, MAPPINGS, PLACEMENTS
from backends.shared.process import TERMINATED
from backends.shared.process import TIMED_OUT as HUNG
from corpus.errors import InputError
from corpus.progress.text import program_of
from synth.importing.suites import Suite

_SCRIPT = re.compile(r"([^\s/\\'\"]+)\.amber(?=['\"]?(?:\s|$))")
_FAILURE = re.compile(r"(?:[^:]*[/\\])?([^\s/\\:]+)\.amber: (.+)")
_FAILURES = re.compile(r"Summary of Failures:\s*$")
_SUMMARY = re.compile(r"Summary: (\d{1,9}) pass, (\d{1,9}) fail\s*$")
_CRASH = re.compile(r"\b(?:Segmentation fault|Aborted|Killed|Terminated)\b")


@dataclass(slots=True)
class AmberRuns:
    """The runs of a script: ``line`` is that of the first, ``outcomes`` has a letter for each that ended or hung,
    ``errors`` what the others failed with.
    """

    line: int
    outcomes: str = ""
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class AmberLog:
    """A reader of a log, line by line. ``runs`` has those of each script by its name, ``wrong`` lines on what cannot be
    told, with their numbers.

    A run is open from the line that names its ``_scripts`` to its summary; ``_failed`` are those that failed in it.
    """

    runs: dict[str, AmberRuns] = field(default_factory=dict)
    wrong: list[tuple[int, str]] = field(default_factory=list)
    _scripts: list[str] = field(default_factory=list)
    _failed: dict[str, str] = field(default_factory=dict)
    _start: int = 0
    _listing: bool = False

    @property
    def has_runs(self) -> bool:
        """Return whether anything in the log is of a run of Amber."""
        return bool(self.runs or self.wrong)

    def line(self, number: int, text: str) -> bool:
        """Read a line, and return whether it belongs to a log of Amber."""
        if summary := _SUMMARY.match(text):
            self._listing = False
            self._end(number, int(summary[1]), int(summary[2]))
        elif _FAILURES.match(text):
            self._listing = True
        elif failure := _FAILURE.match(text):
            self._failed[failure[1]] = failure[2].strip()
        elif _CRASH.search(text):
            was_open = bool(self._scripts)
            self.end()
            return was_open
        elif names := [] if self._listing else _SCRIPT.findall(text):
            if names != self._scripts or self._failed:
                self.end()
            self._scripts, self._start = names, number
        else:
            return self._listing
        return True

    def end(self) -> None:
        """End a run that has no summary, because the log ends or another run begins."""
        for script in self._scripts:
            if failure := self._failed.get(script):
                self._enter(script, failure)
            else:
                self.wrong.append((self._start, f"{script}.amber: the run has no summary: it crashed or was stopped"))
        self._scripts, self._failed, self._listing = [], {}, False

    def _end(self, number: int, passed: int, failed: int) -> None:
        scripts, self._scripts = self._scripts, []
        failures, self._failed = self._failed, {}
        if not scripts:
            self.wrong.append((number, "a summary of Amber, and no line before it says of which script"))
        elif (passed, failed) != (len(scripts) - len(failures), len(failures)) or failures.keys() - set(scripts):
            expected = f"{len(scripts)} scripts before it, of which {len(failures)} failed"
            self.wrong.append((number, f"expected a summary of the {expected}, found {passed} pass, {failed} fail"))
        else:
            for script in scripts:
                self._enter(script, failures.get(script, ""))

    def _enter(self, script: str, failure: str) -> None:
        runs = self.runs.setdefault(script, AmberRuns(self._start))
        if failure and TIMED_OUT not in failure:
            runs.errors.append(failure)
        else:
            runs.outcomes += HUNG if failure else TERMINATED


def amber_fields(script: str, runs: AmberRuns, suite: Suite) -> Iterator[dict[str, Any]]:
    """Yield the fields of the result of a script, and of its failure if it has one.

    Raises ``InputError`` where the script is of no progress test of the suite.
    """
    name, mapping, placement = _parts(script)
    test = suite.progress(name)
    trial = {
        "test": test.name,
        "digest": test.digest,
        "backend": "glsl",
        "mapping": mapping,
        "instances": BACKENDS["glsl"].launch(program_of(test), mapping, None, placement).instances,
        "iterations": max(1, len(runs.outcomes)),
        "timeout": FENCE / 1000,
        "every_iteration": True,
        **({} if placement == DEVICE.name else {"placement": placement}),
    }
    if runs.outcomes:
        yield {**trial, "outcomes": runs.outcomes}
    if runs.errors:
        yield {**trial, "error": runs.errors[-1]}


def _parts(script: str) -> tuple[str, str, str]:
    """Return the test, the mapping and the placement in the name of a script (``Backend.progress_files``)."""
    stem, _, last = script.rpartition(".")
    if last in PLACEMENTS and last != DEVICE.name:
        stem, _, mapping = stem.rpartition(".")
        placement = last
    else:
        mapping, placement = last, DEVICE.name
    if not stem or mapping not in MAPPINGS:
        raise InputError(f"expected TEST.MAPPING.amber, the mapping one of {', '.join(MAPPINGS)}")
    return stem, mapping, placement
