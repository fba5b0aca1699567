"""The annotations that verifiers read in comments of SPIR-V text: initial values, a launch, and a claim about the end
(as Dartagnan's tests have them).

    ; @Input: %x = 7, %data = {{1, 2}, {3, -1}}
    ; @Config: 2, 3, 4
    ; @Filter: %x == 1
    ; @Output: forall (%data[0][1] == 2 or not %x < 3 and 1 != %y[0])

An input is what a variable, or the memory that a parameter of the kernel points to, holds at first; where its type has
an array without a length, so many elements it has. ``not`` binds tightest, then ``and``. Of several outputs ``forall``
claims all; ``not exists`` forbids each. Comments with other names behind ``@`` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from corpus.code.spirv.module import SpirvComment, SpirvModule
from corpus.errors import InputError
from corpus.litmus.propositions import Quantifier

MOST_NESTED = 100
"""Braces or brackets within each other."""

InputValue = int | tuple["InputValue", ...]
"""A number, or the values of the elements of an array, struct or vector."""


class LaunchConfig(NamedTuple):
    """``@Config``: threads of a subgroup, subgroups of a workgroup, workgroups."""

    threads: int = 1
    subgroups: int = 1
    workgroups: int = 1


class IndexedPlace(NamedTuple):
    """A final value in memory: a variable, and the numbers of elements in elements."""

    name: str
    indices: tuple[int, ...] = ()


class PlaceComparison(NamedTuple):
    """``left operation right``, the operation one of ``== != < > <= >=``."""

    operation: str
    left: IndexedPlace | int
    right: IndexedPlace | int


class NotClaim(NamedTuple):
    """The negation of a claim, ``not``."""

    part: AnnotatedClaim


class AllClaims(NamedTuple):
    """The conjunction of claims, ``and``."""

    parts: tuple[AnnotatedClaim, ...]


class AnyClaim(NamedTuple):
    """The disjunction of claims, ``or``."""

    parts: tuple[AnnotatedClaim, ...]


AnnotatedClaim = PlaceComparison | NotClaim | AllClaims | AnyClaim


@dataclass(frozen=True, slots=True)
class SpirvAnnotations:
    """The annotations of a text; None, and no inputs, where there are none. Ids are without ``%``.

    ``filter`` selects the executions of which ``claim`` is made.
    """

    inputs: Mapping[str, InputValue]
    quantifier: Quantifier | None = None
    claim: AnnotatedClaim | None = None
    filter: AnnotatedClaim | None = None
    config: LaunchConfig | None = None


_HEAD = re.compile(r"\s*@(Input|Output|Filter|Config)\s*:")
_WORDS = re.compile(r"\s*(%[A-Za-z0-9_]+|-?[0-9]+(?![A-Za-z0-9_])|[a-z]+|[=!<>]=|[^\s])")
_OPERATIONS = ("==", "!=", "<", ">", "<=", ">=")


def read_annotations(module: SpirvModule) -> SpirvAnnotations:
    """Return the annotations of a text. Raises ``InputError`` with line and column."""
    inputs: dict[str, InputValue] = {}
    outputs: list[AnnotatedClaim] = []
    quantifier: Quantifier | None = None
    filter: AnnotatedClaim | None = None
    config: LaunchConfig | None = None
    for comment in module.header.comments:
        head = _HEAD.match(comment.text)
        if head is None:
            continue
        words = _Words(comment, head.end(), module.path)
        if head[1] == "Input":
            for name, value in words.inputs():
                if name in inputs:
                    words.fail(f"one input of %{name}")
                inputs[name] = value
        elif head[1] == "Config":
            if config is not None:
                words.fail("one @Config")
            config = words.config()
        elif head[1] == "Filter":
            if filter is not None:
                words.fail("one @Filter")
            filter = words.claim()
        else:
            before, quantifier = quantifier, words.quantifier()
            if before not in (None, quantifier) or (before and quantifier == Quantifier.EXISTS):
                words.fail("one @Output, or several of forall or of not exists")
            outputs.append(words.claim())
            words.take(",")
        words.end()
    claim = outputs[0] if len(outputs) == 1 else None
    if len(outputs) > 1:
        claim = AllClaims(tuple(outputs)) if quantifier == Quantifier.FORALL else AnyClaim(tuple(outputs))
    return SpirvAnnotations(inputs, quantifier, claim, filter, config)


class _Words:
    """The words of one comment behind its head."""

    def __init__(self, comment: SpirvComment, start: int, path: str) -> None:
        found = list(_WORDS.finditer(comment.text, start))
        self._words = [*(match[1] for match in found), ""]
        self._columns = [comment.column + 1 + at for at in (*(match.start(1) for match in found), len(comment.text))]
        self._at, self._line, self._path = 0, comment.line, path
        self._depth = 0

    def take(self, word: str) -> bool:
        """Take a word where it is the next."""
        if self._words[self._at] == word:
            self._at += 1
            return True
        return False

    def end(self) -> None:
        """Raise the error that a word is left, where one is."""
        if self._words[self._at]:
            self.fail("the end of the annotation")

    def fail(self, wanted: str) -> NoReturn:
        """Raise the error that something was wanted here."""
        word = self._words[self._at]
        found = f"'{word}'" if word else "the end of the line"
        raise InputError(f"expected {wanted}, found {found}", self._path, self._line, self._columns[self._at])

    def inputs(self) -> list[tuple[str, InputValue]]:
        """Read variables with their values at the start, behind ``@Input:``."""
        found: list[tuple[str, InputValue]] = []
        while not found or self.take(","):
            name = self._name()
            self._want("=")
            found.append((name, self._value()))
        return found

    def config(self) -> LaunchConfig:
        """Read the three numbers of a launch."""
        numbers = [self._number(1)]
        while len(numbers) < 3:
            self._want(",")
            numbers.append(self._number(1))
        return LaunchConfig(*numbers)

    def quantifier(self) -> Quantifier:
        """Read whether an output is claimed of all ends, of one, or of none."""
        if self.take("forall"):
            return Quantifier.FORALL
        denied = self.take("not")
        if not self.take("exists"):
            self.fail("exists" if denied else "forall, exists or not exists")
        return Quantifier.NOT_EXISTS if denied else Quantifier.EXISTS

    def claim(self) -> AnnotatedClaim:
        """Read a claim, a disjunction of conjunctions of comparisons."""
        parts = [self._conjunction()]
        while self.take("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else AnyClaim(tuple(parts))

    def _conjunction(self) -> AnnotatedClaim:
        parts = [self._unit()]
        while self.take("and"):
            parts.append(self._unit())
        return parts[0] if len(parts) == 1 else AllClaims(tuple(parts))

    def _unit(self) -> AnnotatedClaim:
        if self._words[self._at] not in ("not", "("):
            left = self._term()
            operation = self._words[self._at]
            if operation not in _OPERATIONS:
                self.fail("one of " + " ".join(_OPERATIONS))
            self._at += 1
            return PlaceComparison(operation, left, self._term())
        self._deeper()
        found: AnnotatedClaim
        if self.take("not"):
            found = NotClaim(self._unit())
        else:
            self._want("(")
            found = self.claim()
            self._want(")")
        self._depth -= 1
        return found

    def _term(self) -> IndexedPlace | int:
        if not self._words[self._at].startswith("%"):
            return self._number()
        name, indices = self._name(), list[int]()
        while self.take("["):
            indices.append(self._number(0))
            self._want("]")
        return IndexedPlace(name, tuple(indices))

    def _value(self) -> InputValue:
        if not self.take("{"):
            return self._number()
        self._deeper()
        values = [self._value()]
        while self.take(","):
            values.append(self._value())
        self._want("}")
        self._depth -= 1
        return tuple(values)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MOST_NESTED:
            self.fail(f"at most {MOST_NESTED} brackets within each other")

    def _want(self, word: str) -> None:
        if not self.take(word):
            self.fail(f"'{word}'")

    def _name(self) -> str:
        if not self._words[self._at].startswith("%") or self._words[self._at] == "%":
            self.fail("a variable")
        self._at += 1
        return self._words[self._at - 1][1:]

    def _number(self, least: int | None = None) -> int:
        word = self._words[self._at]
        known = word.lstrip("-").isdecimal() and word.isascii() and len(word) < 40
        if not known or (least is not None and int(word) < least):
            self.fail("a number" if least is None else f"a number from {least}")
        self._at += 1
        return int(word)
