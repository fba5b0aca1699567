"""The known failures of ``synth run --known``. They are quarantined, so that a run fails only for new ones.

    test,where,reason
    2x2-0006,opencl.*.round-robin,driver bug 4711
    MP+rel.gpu+acq.gpu,,the compiler drops the fence

A line stands for the failures of a test: it showed what a model of ``--sound`` forbids, or it could not be run.
``where`` is a pattern for the class of the test in a JUnit report (``synth.junit.class_name``), with ``*`` for any
text; where it is empty, the failure is known everywhere. A known failure that is not seen is reported, for its line may
go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from corpus.comma_separated import read_rows
from corpus.errors import InputError
from synth.junit import Case, CaseOutcome

COLUMNS = ["test", "where", "reason"]

FAILED = (CaseOutcome.FAILURE, CaseOutcome.ERROR)


@dataclass(frozen=True, slots=True)
class Known:
    """A known failure, and the number of the line in the file that states it."""

    line: int
    test: str
    where: str
    reason: str

    def is_of(self, suite: str, case: Case) -> bool:
        """Return whether a case of that class is of this failure's test, where the failure is known."""
        return case.name == self.test and fnmatchcase(suite, self.where or "*")


@dataclass(frozen=True, slots=True)
class CasesApart:
    """Test cases of which known failures are skipped, lines on known failures and others, and whether any is new."""

    suites: dict[str, list[Case]]
    lines: tuple[str, ...]
    new: bool


@dataclass(frozen=True, slots=True)
class KnownFailures:
    """The known failures of a file, in the order of its lines."""

    path: Path
    failures: tuple[Known, ...]

    def set_apart(self, suites: Mapping[str, Sequence[Case]]) -> CasesApart:
        """Return the cases with known failures marked as skipped, and whether another case failed.

        There is a line for each failure, known or not, and for each known failure that was not seen.
        """
        happened, ran = set[Known](), set[Known]()
        quarantined: dict[str, list[Case]] = {}
        news, known = [], []
        for suite, cases in suites.items():
            kept = quarantined[suite] = []
            for case in cases:
                own = [failure for failure in self.failures if failure.is_of(suite, case)]
                if case.ending is not CaseOutcome.SKIPPED:
                    ran.update(own)
                if case.ending in FAILED and own:
                    happened.update(own)
                    known.append(f"known: {case.name} ({suite}): {case.message}; {self._place(own[0])}")
                    reason = own[0].reason or str(self.path)
                    case = replace(case, ending=CaseOutcome.SKIPPED, message=f"known failure, {reason}: {case.message}")
                elif case.ending in FAILED:
                    news.append(f"{case.name} ({suite}): {case.message}")
                kept.append(case)
        gone = [f"{failure.test}: its known failure was not seen; {self._place(failure)}" for failure in self.failures]
        gone = [line for failure, line in zip(self.failures, gone, strict=True) if failure in ran - happened]
        idle = len(self.failures) - len(ran | happened)
        counts = (
            f"{len(news)} new failures, {len(known)} known; of {len(self.failures)} lines {len(gone)} were not seen"
        )
        left = f", and the tests of {idle} were not run" if idle else ""
        lines = (*known, *gone, *news, f"{self.path}: {counts}{left}")
        return CasesApart(quarantined, lines, bool(news))

    def _place(self, known: Known) -> str:
        return f"{self.path}:{known.line}{f', {known.reason}' if known.reason else ''}"


def read_known(path: Path) -> KnownFailures:
    """Read the known failures of a file.

    Raises ``InputError`` with the line where the file cannot be read or is no such table.
    """
    rows = read_rows(path)
    first, head = next(rows, (1, []))
    if head[:1] != ["test"] or head != COLUMNS[: len(head)]:
        raise InputError(f"expected the columns {','.join(COLUMNS)}", str(path), first, 1)
    found = []
    for line, row in rows:
        if len(row) != len(head) or not row[0]:
            raise InputError(f"expected a test and {len(head)} cells, found {len(row)}", str(path), line, 1)
        test, where, reason = (*row, "", "")[:3]
        found.append(Known(line, test, where, reason))
    return KnownFailures(path, tuple(found))
