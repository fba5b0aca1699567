"""An instruction as data, one style for all languages: its name, its words, its operands, its effect, its meaning.

    Row("ldr", READS, "w|x m / w|x m0 n", load)      a register of the kind w or x, and an address of the kind m
    Row("ld,ldu", READS, "d []", load, "weak? b32|b64")        whose words are weak or not, and one of two types

What reads a language looks for the row of an instruction in the ``Table`` of its rows, before the meaning of the row
runs (``find``). So a meaning is only ever given what it was written for, and no error of it is one of the code that is
read. An instruction without a row is refused by name, and so is one whose words or operands no row of its name has.

**Forms.** Operands have spaces between them, kinds of one operand ``|``, and forms `` / ``. Behind an operand stands
``?`` where it may be left out, ``*`` where any number of it may stand, and ``@word`` where it stands if that word does.
Words have the same notation; they stand in any order, and ``*`` alone is any words. What a kind is the language says: a
function tells what is wrong with an operand as one of a kind, as one on texts does by regular expressions
(``by_patterns``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

MeaningT = TypeVar("MeaningT")
OperandT = TypeVar("OperandT")


class Effect(StrEnum):
    """What an instruction does to memory that is one of its operands, or to control. A result it may have besides."""

    NOTHING = "nothing"
    READS = "reads"
    WRITES = "writes"
    BOTH = "both"
    ORDERS = "orders"
    """It orders accesses, or has threads meet."""
    CONTROL = "control"
    REFUSED = "refused"
    """It is known by name alone, and not understood whatever its words and operands are."""


NOTHING, READS, WRITES, BOTH, ORDERS, CONTROL, REFUSED = Effect


@dataclass(frozen=True, slots=True, eq=False)
class Row(Generic[MeaningT]):
    """What is known of instructions: their names, with commas between; their effect; the forms of their operands; what
    they do; and the words that they may have. A name that ends in ``*`` is every one that begins so.

    ``why`` is what is said of an instruction of such a name that the row refuses, in the place of the usual.
    """

    names: str
    effect: Effect
    operands: str
    meaning: MeaningT
    words: str = ""
    why: str = ""


Table = Mapping[str, tuple[Row[MeaningT], ...]]
"""The rows of a language by the names of their instructions."""


def table_of(rows: Iterable[Row[MeaningT]]) -> Table[MeaningT]:
    """Return rows by name; those of one name are tried in their order."""
    found: dict[str, tuple[Row[MeaningT], ...]] = {}
    for row in rows:
        for name in row.names.split(","):
            found[name] = (*found.get(name, ()), row)
    return MappingProxyType(found)


def rows_of(table: Table[MeaningT]) -> Iterator[tuple[str, Row[MeaningT]]]:
    """Yield every row of a table with each of its names."""
    return ((name, row) for name, rows in table.items() for row in rows)


def rows_named(table: Table[MeaningT], name: str) -> tuple[Row[MeaningT], ...]:
    """Return the rows of an instruction: of its name, or else of the longest beginning of it that has some."""
    if name in table or not _WORD.fullmatch(name):
        return table.get(name, ())
    beginnings = (f"{name[:end]}*" for end in range(len(name) - 1, 0, -1))
    return next((table[beginning] for beginning in beginnings if beginning in table), ())


_WORD = re.compile(r"\w+")


# the notation


class FormSlot(NamedTuple):
    """An operand or a word of a form: its kinds, how often it may stand, and the word that it stands with."""

    kinds: tuple[str, ...]
    quantifier: str = ""
    word: str = ""

    @property
    def is_optional(self) -> bool:
        """Whether it may be left out."""
        return self.quantifier != ""


Form = tuple[FormSlot, ...]


@cache
def forms_in(text: str) -> tuple[Form, ...]:
    """Return the forms that a text has: ``w|x m / w n?``."""
    return tuple(tuple(map(_slot, form.split())) for form in text.split("/"))


def _slot(text: str) -> FormSlot:
    kinds, _, word = text.partition("@")
    bare = kinds.rstrip("?*")
    return FormSlot(tuple(bare.split("|")), kinds[len(bare) :], word)


# an instruction and its row


Wrong = Callable[[str, OperandT, int], str]
"""Says what is wrong with an operand, which has a number from 0 on, as one of a kind; nothing where it is one."""


class Lack(StrEnum):
    """What of an instruction no row has."""

    NAME = "name"
    WORDS = "words"
    TOGETHER = "words together"
    OPERANDS = "operands"


class Refusal(NamedTuple):
    """Why an instruction has no row: what no row has, the text that its row has for that, if any, the first word that
    no row has, and what is wrong with its operands by the form that is nearest.
    """

    lack: Lack
    own: str = ""
    word: str = ""
    misfit: str = ""

    @property
    def why(self) -> str:
        """The reason, in words."""
        usual = {
            Lack.NAME: "this instruction is not known",
            Lack.WORDS: f"its modifier {self.word} is not known",
            Lack.TOGETHER: "its modifiers do not stand together",
            Lack.OPERANDS: "its operands are none of those that are known",
        }
        return self.own or usual[self.lack]


def find(
    table: Table[MeaningT], name: str, operands: Sequence[OperandT], wrong: Wrong[OperandT], words: tuple[str, ...] = ()
) -> Row[MeaningT] | Refusal:
    """Return the row of an instruction, or why it has none."""
    rows = rows_named(table, name)
    if not rows or rows[0].effect is REFUSED:
        return Refusal(Lack.NAME, rows[0].why if rows else "")
    spoken = _forms_with(rows, words)
    if not spoken:
        strange = strange_words(rows, words)
        return Refusal(Lack.WORDS if strange else Lack.TOGETHER, rows[0].why, min(strange, default=""))
    nearest = Misfit(-1, "")
    for row, form in spoken:
        misfit = misfit_of(form, operands, wrong)
        if misfit is None:
            return row
        nearest = max(nearest, misfit, key=lambda misfit: misfit.fitting)
    return Refusal(Lack.OPERANDS, rows[0].why, misfit=nearest.why)


@lru_cache(maxsize=1 << 14)
def _forms_with(rows: tuple[Row[Any], ...], words: tuple[str, ...]) -> tuple[tuple[Row[Any], Form], ...]:
    """The forms of the operands of those rows that have some words."""
    return tuple(
        (row, tuple(slot for slot in form if slot.word in ("", *words)))
        for row in rows
        if any(_has_words(form, words) for form in forms_in(row.words))
        for form in forms_in(row.operands)
    )


def _has_words(form: Form, words: Sequence[str]) -> bool:
    """Whether words are those of a form, in any order."""
    free = list(form)
    for word in words:
        slot = next((slot for slot in free if word in slot.kinds or slot.kinds == ("",)), None)
        if slot is None:
            return False
        if slot.quantifier != "*":
            free.remove(slot)
    return all(slot.is_optional for slot in free)


def strange_words(rows: Iterable[Row[MeaningT]], words: Iterable[str]) -> list[str]:
    """Return the words that none of some rows has."""
    known = {word for row in rows for form in forms_in(row.words) for slot in form for word in slot.kinds}
    return [word for word in words if word not in known]


class Misfit(NamedTuple):
    """What is wrong with operands by one form, and how many are as it has them."""

    fitting: int
    why: str


def misfit_of(form: Sequence[FormSlot], operands: Sequence[OperandT], wrong: Wrong[OperandT]) -> Misfit | None:
    """Return what is wrong with operands by a form, None where nothing is."""

    def rest(place: int, number: int) -> Misfit | None:
        """What is wrong with the operands from a number on, by the form from a place on."""
        if place == len(form) or number == len(operands):
            if number == len(operands) and all(slot.is_optional for slot in form[place:]):
                return None
            least = sum(not slot.is_optional for slot in form)
            count = str(least) if least == len(form) else f"{least} to {len(form)}"
            return Misfit(len(form), f"expected {count} of them, found {len(operands)}")
        slot = form[place]
        reasons = [wrong(kind, operands[number], number) for kind in slot.kinds]
        fits, after = "" in reasons, place + (slot.quantifier != "*")
        found = rest(after, number + 1) if fits else Misfit(number, reasons[-1])
        if found is not None and slot.is_optional and rest(place + 1, number) is None:
            return None
        return found

    return rest(0, 0)


# operands that are texts


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of operands that are texts: the regular expression that all of them match, and examples."""

    pattern: re.Pattern[str]
    examples: tuple[str, ...]


def kind(pattern: str, *examples: str) -> Kind:
    """Return the kind of the texts that match a regular expression."""
    return Kind(re.compile(pattern), examples)


def by_patterns(kinds: Mapping[str, Kind]) -> Wrong[str]:
    """Return what says of a text what is wrong with it as one of some kinds."""
    return lambda kind, text, _: "" if kinds[kind].pattern.fullmatch(text) else f"{text} is of another kind"
