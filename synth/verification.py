"""The findings on a certified corpus, and the checks that both families of tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar

from corpus.certificates import FOLDER, Packed, formula_file, unit_files
from corpus.errors import InputError
from corpus.suite import MANIFEST
from oracle.certificates.clauses import CertifiedFormula, Clause
from oracle.certificates.lrat import check_proof
from oracle.certificates.refusal import RefusedError

Part = TypeVar("Part")
Claims = TypeVar("Claims")
AnyFormula = TypeVar("AnyFormula", bound=CertifiedFormula)

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


def of_request(corpus: Path, error: InputError | RefusedError) -> str:
    """Return a line on what is wrong with a manifest's request; it names the file if the error is in another one."""
    return str(error) if isinstance(error, InputError) and error.path else f"{corpus / MANIFEST}: {error}"


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


def proved(
    files: UnitFiles[Part],
    formula_of: Callable[[Packed], AnyFormula],
    claims_of: Callable[[AnyFormula, Iterable[str]], tuple[Claims, Sequence[Clause]]],
) -> tuple[Claims, int]:
    """Return the claims of a unit, and the number of steps of its proof, after checking the proof.

    ``formula_of`` reads the formula of its shape; ``claims_of`` reads the claims and the clauses that the unit adds to
    it. An error that they raise names the file at fault. Raises ``RefusedError`` or ``InputError`` with what does not
    hold.
    """
    file = files.formula
    try:
        formula = formula_of(file)
        file = files.own
        claims, own = claims_of(formula, file.lines())
        file = files.proof
        return claims, check_proof([*own, *formula.clauses], file.lines())
    except RefusedError as error:
        raise RefusedError(f"{file.path}: {error}") from None
