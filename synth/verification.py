"""The check of a certified corpus: its request, its proofs, and its files made anew.

What a unit claims, and which corpus the claims make, is said by a ``CertificateCheck`` of each kind of suite
(``synth.progress.verification``, ``synth.memory.verification``). Every judgement is the oracle's
(``oracle.certificates``); the work is planned and spread over processes here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from corpus.certificates import FOLDER, Packed, formula_file, unit_files
from corpus.errors import InputError
from corpus.suite import MANIFEST, Corpus
from oracle.certificates.clauses import CertifiedFormula, Clause
from oracle.certificates.lrat import check_proof
from oracle.certificates.refusal import RefusedError
from synth.pool import Jobs, map_each
from synth.rebuilding import files_beside, folder_lines
from synth.worker import Limits

Part = TypeVar("Part")
Claim = TypeVar("Claim")

Watch = Callable[[int, int, int], None]
"""A function that is told how many units are checked, of how many, and how many findings there are."""


@dataclass
class Findings:
    """The findings of a check, which are lines on what does not hold.

    ``claim``: the statement that is verified where nothing is refused, as JSON. ``found`` is the number of what units
    block, and ``called`` the word for that, such as ``programs``. ``unchecked``: the keys and files of the folder that
    the check does not cover.
    """

    claim: dict[str, Any] = field(default_factory=dict)
    tests: int = 0
    units: int = 0
    found: int = 0
    refinements: int = 0
    steps: int = 0
    called: str = "programs"
    refused: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def numbers_of(corpus: Path, shape: str) -> range:
    """Return the units of a shape, by number, that have a file. Raises ``InputError`` where there is none."""
    folder = corpus / FOLDER
    found = next(n for n in count() if not (folder / unit_files(shape, n)[0]).exists())
    if not found:
        raise InputError("missing", str(folder / unit_files(shape, 0)[0]))
    return range(found)


@dataclass(frozen=True, slots=True)
class UnitFiles(Generic[Part]):
    """A unit with its files, which are sent with it: the formula of its shape, its clauses and its proof."""

    part: Part
    formula: Packed
    own: Packed
    proof: Packed

    @classmethod
    def of(cls, part: Part, corpus: Path, shape: str, number: int = 0) -> UnitFiles[Part]:
        """Return the files of a unit in the folder of a corpus.

        A file that cannot be read is reported by the reader, later.
        """
        names = (formula_file(shape), *unit_files(shape, number))
        return cls(part, *(Packed(str(corpus / FOLDER / name)) for name in names))

    @property
    def folder(self) -> Path:
        """Return the folder of the certificate within its corpus."""
        return Path(self.own.path).parent

    @property
    def names(self) -> set[str]:
        """Return the names of the unit's files in the folder of the certificate."""
        return {Path(file.path).name for file in (self.formula, self.own, self.proof)}


def same_lines(file: Packed, expected: Iterable[str]) -> None:
    """Raise ``RefusedError`` at the first line of a certificate's file that is not as expected."""
    for number, (line, other) in enumerate(zip_longest(file.lines(), expected), 1):
        if line is None or line != other:
            raise RefusedError(f"line {number}: not the formula of the shape")


ClaimsRead = tuple[list[Claim], Sequence[Clause], list[str]]
"""The claims of a unit, the clauses that it adds to the formula of its shape, and what does not hold of the claims."""


@dataclass(frozen=True, slots=True)
class Proved(Generic[Claim]):
    """The claims of a unit with the number of the proof's steps, and what does not hold."""

    claims: list[Claim] = field(default_factory=list)
    steps: int = 0
    bad: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RebuiltSuite:
    """The suite that the proved claims make: the statement that is verified, and the manifest.

    ``manifest`` has the keys that do not follow from the tests, and ``free`` names those that are not checked.
    ``mutants``: it has a folder of mutants, and ``wrong`` is what does not hold of that.
    """

    claim: dict[str, Any]
    manifest: dict[str, Any]
    free: Sequence[str]
    mutants: bool = False
    wrong: Iterable[str] = ()


class CertificateCheck(Protocol[Part, Claim]):
    """The interface of a check of one kind of suite; it can be sent to the processes that do the work.

    Its methods raise ``RefusedError`` or ``InputError`` where something does not hold.
    """

    def units(self, corpus: Path) -> list[UnitFiles[Part]]:
        """Return the units that the request asks for, of which there are some."""

    def formula(self, part: Part, file: Packed) -> CertifiedFormula:
        """Return the formula of a unit's shape, after checking its file."""

    def claims(self, files: UnitFiles[Part], formula: Any) -> ClaimsRead[Claim]:
        """Return the claims of a unit that has this formula."""

    def whole(self, corpus: Corpus, units: Sequence[UnitFiles[Part]], work: CheckWork) -> RebuiltSuite:
        """Judge the units and the tests, and add to the findings; return the suite that they make."""


@dataclass(frozen=True, slots=True)
class CheckWork:
    """The work of a check: where it is done and within which limits, who watches, and what has been found."""

    jobs: Jobs
    limits: Limits
    watch: Watch
    findings: Findings

    def prove(self, check: CertificateCheck[Part, Claim], units: Sequence[UnitFiles[Part]]) -> list[Proved[Claim]]:
        """Return the claims of each unit, after checking its proof."""
        done: list[Proved[Claim]] = []

        def lost(files: UnitFiles[Part], reason: str) -> Proved[Claim]:
            return Proved(bad=[f"{files.own.path}: not verified: {reason}"])

        for result in map_each(partial(_proved, check=check), units, self.jobs, self.limits, lost):
            if result is not None:
                done.append(result)
                self.findings.units += 1
                self.findings.steps += result.steps
                self.findings.refused += result.bad
            self.watch(len(done), len(units), len(self.findings.refused))
        return done


def _proved(files: UnitFiles[Part], check: CertificateCheck[Part, Claim]) -> Proved[Claim]:
    """Return the claims of a unit, after checking its proof; a refusal names the file at fault."""
    file = files.formula
    try:
        formula = check.formula(files.part, file)
        file = files.own
        claims, own, bad = check.claims(files, formula)
        file = files.proof
        return Proved(claims, check_proof([*own, *formula.clauses], file.lines()), bad)
    except RefusedError as error:
        return Proved(bad=[f"{file.path}: {error}"])
    except InputError as error:
        return Proved(bad=[str(error)])


def verify(
    corpus: Corpus,
    check_of: Callable[[Corpus], CertificateCheck[Any, Any]],
    jobs: Jobs,
    limits: Limits,
    watch: Watch,
) -> Findings:
    """Check a certified corpus with its certificate, and return the findings.

    ``check_of`` raises ``RefusedError`` or ``InputError`` where the request of the corpus cannot be certified.
    """
    findings = Findings(tests=len(corpus.tests))
    try:
        if not corpus.complete:
            raise RefusedError("complete: expected true")
        check = check_of(corpus)
        units = check.units(corpus.path)
    except (InputError, RefusedError) as error:
        in_another_file = isinstance(error, InputError) and error.path
        findings.refused.append(str(error) if in_another_file else f"{corpus.path / MANIFEST}: {error}")
        return findings
    rebuilt = check.whole(corpus, units, CheckWork(jobs, limits, watch, findings))
    findings.refused += folder_lines(corpus.path, corpus.manifest, corpus.tests, rebuilt.manifest)
    findings.refused += rebuilt.wrong
    wrong, beside = files_beside(corpus.path, set().union(*(unit.names for unit in units)), rebuilt.mutants)
    findings.refused += wrong
    findings.unchecked = [*(f"{MANIFEST}: {key}" for key in rebuilt.free), *beside]
    findings.claim = rebuilt.claim
    return findings
