"""Options that say which tests are meant, where they lie and how they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from corpus.errors import InputError
from synth.inputs import Input

if TYPE_CHECKING:
    from corpus.test import Test

Item = TypeVar("Item")

FIELDS = ("name", "tag", "shape", "bound", "threads", "size", "scope")
"""What ``--where`` knows of a test besides its verdicts; a shape is a tag."""

_NAME = "name"

_WORDS = {"allowed": "ALLOWED", "forbidden": "FORBIDDEN", "terminates": "TERMINATES", "hangs": "MAY_HANG"}
_OTHERS = ("MAY_HANG", "UNKNOWN", "ERROR")
"""Verdicts by their own names, besides those of ``_WORDS``."""


@dataclass(frozen=True, slots=True)
class Filter:
    """``field=value`` or, ``negated``, ``field!=value``; one of several values is enough."""

    field: str
    negated: bool
    values: tuple[str, ...]

    def holds(self, test: Test) -> bool:
        """Decide whether a test has one of the values of this filter, or none if the filter is negated."""
        if self.field == _NAME:
            return self.names(test.name)
        return any(self._is(test, value) for value in self.values) is not self.negated

    def names(self, name: str) -> bool:
        """Decide whether a name is one that this filter, which is one of names, lets pass."""
        return any(fnmatchcase(name, value) for value in self.values) is not self.negated

    def _is(self, test: Test, value: str) -> bool:
        match self.field:
            case "tag" | "shape":
                return any(fnmatchcase(tag, value) for tag in test.tags)
            case "bound":
                return test.bound == value
            case "threads" | "size":
                number = test.threads if self.field == "threads" else test.size
                least, dots, most = value.partition("..")
                return int(least) <= number <= int(most if dots else least)
            case "scope":
                return value in test.scopes
        return test.verdicts.get(self.field) == _verdict(value)


def _verdict(word: str) -> str:
    """Return the verdict that a word means."""
    return _WORDS.get(word.lower(), word.upper())


def parse_filter(text: str) -> Filter:
    """The filter that ``text`` denotes; a word alone is a name. Raises ``InputError`` if it denotes none."""
    match = re.fullmatch(r"(?:([^=!]+)(!?=)(?=.)|(?!.*=))(.+)", text)
    if not match:
        raise InputError(f"--where: expected a name, FIELD=VALUE or FIELD!=VALUE, found '{text}'")
    field, values = (match[1] or _NAME).strip(), tuple(value.strip() for value in match[3].split("|"))
    if field in ("threads", "size"):
        for value in values:
            if not re.fullmatch(r"\d{1,6}(\.\.\d{1,6})?", value):
                raise InputError(f"--where {field}: expected a number or MIN..MAX, found '{value}'")
    return Filter(field, match[2] == "!=", values)


@dataclass(frozen=True, slots=True)
class SelectionFilter:
    """The tests that pass every filter."""

    filters: tuple[Filter, ...] = ()

    def of(self, items: Sequence[Item], name: Callable[[Item], str], record: Callable[[Item], Test]) -> list[Item]:
        """Those that are meant; ``record`` is asked of an item only if a filter wants more than its name.

        Raises ``InputError`` if there were tests and none is left, and for a field that no test has.
        """
        by_name = [each for each in self.filters if each.field == _NAME]
        chosen = [item for item in items if all(each.names(name(item)) for each in by_name)]
        if items and not chosen:
            wanted = " and ".join("not " * each.negated + " or ".join(each.values) for each in by_name)
            raise InputError(f"no test has a name that matches {wanted}")
        by_record = [each for each in self.filters if each.field != _NAME]
        if not by_record:
            return chosen
        records = [record(item) for item in chosen]
        _check_fields(by_record, records)
        passing = [
            item for item, test in zip(chosen, records, strict=True) if all(each.holds(test) for each in by_record)
        ]
        if chosen and not passing:
            raise InputError(f"none of the {len(chosen)} tests matches --where")
        return passing

    def of_tests(self, tests: Sequence[Test]) -> list[Test]:
        """Return the tests of a corpus that pass every filter and match a glob."""
        return self.of(tests, lambda test: test.name, lambda test: test)


def _check_fields(filters: Sequence[Filter], tests: Sequence[Test]) -> None:
    models = dict.fromkeys(model for test in tests for model in test.verdicts)
    for each in filters:
        if tests and each.field not in FIELDS and each.field not in models:
            known = ", ".join((*FIELDS, *models))
            raise InputError(f"--where: expected one of {known}, found '{each.field}'")
        there = {*_WORDS.values(), *_OTHERS, *(test.verdicts.get(each.field, "") for test in tests)}
        wrong = [value for value in each.values if each.field in models and _verdict(value) not in there]
        if wrong:  # else != would let every test pass
            wanted = f"{', '.join(_WORDS)} or unknown"
            raise InputError(f"--where {each.field}: expected {wanted}, found '{wrong[0]}'")


def choice_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--where``, repeatable; the command gets ``choice``."""

    @wraps(command)
    def call(*args: Any, where: tuple[str, ...], **kwargs: Any) -> Any:
        return command(*args, choice=SelectionFilter(tuple(map(parse_filter, where))), **kwargs)

    return click.option(
        "--where",
        multiple=True,
        metavar="NAME|FIELD=VALUE",
        help="Only tests with this name ('SB*'), verdict (sc=forbidden, obe-weak=hangs), or name, tag, shape, bound, "
        "threads, size or scope. != negates; A|B matches either; * works in names, 2..4 in numbers. Repeatable: a "
        "test must match all.",
    )(call)


suites_option = click.option(
    "-s",
    "--suite",
    "suites",
    multiple=True,
    metavar="FILES|FOLDER|CORPUS",
    type=click.Path(),
    help="Read the tests of the results from here. Repeatable.  [default: the corpora that hold the results]",
)

bell_option = click.option(
    "--bell",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="LISA tests: the bell file that declares the annotations of instructions; your own models see it too.  "
    "[default: one beside the test, which models do not see]",
)
"""``--bell``; its value is a path, None where it is not given."""


def with_bell(tests: Sequence[Input], bell: str | None) -> list[Input]:
    """The tests, to be read by a bell file if one is named. Raises ``InputError`` where it is wrong."""
    if bell is not None:
        from corpus.dialects.lisa.own import bell_at  # loaded where one is named

        bell_at(bell)
    return [test if bell is None else replace(test, bell=bell) for test in tests]
