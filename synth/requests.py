"""Words of requests that several analyses share: methods, spans of numbers, launches of kernels, filters of tests.

--where 'shape=MP' --where sc=forbidden          a ``SelectionFilter`` of two filters
--grid 2 --block 32 --arg n=4                    ``LaunchWords``, which a comment line of a kernel's file may have, too
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeVar

from corpus.errors import InputError

if TYPE_CHECKING:
    from corpus.test import Test

Item = TypeVar("Item")

# Methods

ENUMERATE, SAT, SMT, STATELESS, INTERLEAVED = "enumerate", "sat", "smt", "stateless", "interleaved"
"""Ways to the verdict of a model that is a .cat file."""

AUTO = "auto"
"""Enumeration where an estimate of the executions is small; else SAT, and where values are too many for it, SMT."""

# Spans

Numbers = tuple[int, int]
"""The least and the most."""

MOST = 999
"""The highest number, where nothing else is said."""

MOST_EVENTS = 12
"""Events of a program that may be asked for; more would take years."""


def spelled(numbers: Numbers) -> str:
    """Return a span as its option is written: ``4``, or ``3..6``."""
    first, last = numbers
    return str(first) if first == last else f"{first}..{last}"


# Launches of kernels

WARP = (1, 32)
"""The fewest and the most threads of a warp."""


@dataclass(frozen=True, slots=True)
class LaunchWords:
    """What is said of a launch: a word for each option, None or empty where it is not given.

    ``first`` are the launches of the kernels that end before, each a kernel's name with its options.
    """

    kernel: str | None = None
    first: tuple[str, ...] = ()
    grid: str | None = None
    block: str | None = None
    cluster: str | None = None
    warp: int | None = None
    arguments: tuple[str, ...] = ()
    expect: str = ""

    def over(self, comment: LaunchWords) -> LaunchWords:
        """Return a comment line's options with those of the command line, which win, option by option.

        Each argument is an option by itself: of two for one parameter, the later one counts.
        """
        return LaunchWords(
            self.kernel or comment.kernel,
            self.first or comment.first,
            self.grid or comment.grid,
            self.block or comment.block,
            self.cluster or comment.cluster,
            self.warp or comment.warp,
            (*comment.arguments, *self.arguments),
            self.expect or comment.expect,
        )


_LAUNCH_OPTIONS = {
    "--kernel": "kernel",
    "--first": "first",
    "--grid": "grid",
    "--block": "block",
    "--cluster": "cluster",
    "--warp": "warp",
    "--arg": "arguments",
    "--expect": "expect",
}
"""The options of a launch, each with the field of ``LaunchWords`` that has its value."""

_REPEATABLE = ("first", "arguments")


def read_launch(words: Sequence[str]) -> LaunchWords:
    """Return the launch that words ask for, as a command line has them: ``--grid 2 --arg=n=4``.

    Raises ``ValueError``, which says why, where they are no options of a launch.
    """
    given: dict[str, list[str]] = {}
    left, others = list(words), list[str]()
    while left:
        word = left.pop(0)
        if word == "--":
            others += left
            break
        if not word.startswith("-") or word == "-":
            others.append(word)
            continue
        option, equals, value = word.partition("=")
        if option not in _LAUNCH_OPTIONS:
            raise ValueError(_no_such_option(option if word.startswith("--") else word[:2]))
        if not equals and not left:
            raise ValueError(f"Option {option!r} requires an argument.")
        given.setdefault(_LAUNCH_OPTIONS[option], []).append(value if equals else left.pop(0))
    warp = _warp(given["warp"][-1]) if "warp" in given else None
    if others:
        raise ValueError(f"Got unexpected extra argument{'s' * (len(others) > 1)} ({' '.join(others)})")
    single = {name: values[-1] for name, values in given.items() if name not in (*_REPEATABLE, "warp")}
    check_not_empty(single)
    repeated = {name: tuple(given.get(name, ())) for name in _REPEATABLE}
    return LaunchWords(warp=warp, **single, **repeated)  # type: ignore[arg-type]  # as the table of options has them


def check_not_empty(values: Mapping[str, object]) -> None:
    """Raise ``ValueError`` where the value of an option of a launch is a text without a character."""
    for name in _LAUNCH_OPTIONS.values():
        value = values.get(name)
        if isinstance(value, str) and not value.strip():
            raise ValueError(f"--{name} is empty: give it a value, or leave it out")


def _no_such_option(option: str) -> str:
    from difflib import get_close_matches  # not loaded where nothing is wrong

    near = sorted(map(repr, get_close_matches(option, _LAUNCH_OPTIONS))) if option.startswith("--") else []
    hint = (
        f" Did you mean {near[0]}?" if len(near) == 1 else f" (Did you mean one of: {', '.join(near)}?)" if near else ""
    )
    return f"No such option {option!r}.{hint}"


def _warp(value: str) -> int:
    least, most = WARP
    try:
        number = int(value)
    except ValueError:
        raise ValueError(f"Invalid value for '--warp': {value!r} is not a valid integer range.") from None
    if not least <= number <= most:
        raise ValueError(f"Invalid value for '--warp': {number} is not in the range {least}<=x<={most}.")
    return number


# Filters of tests

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
        by_name = [wanted for wanted in self.filters if wanted.field == _NAME]
        chosen = [item for item in items if all(wanted.names(name(item)) for wanted in by_name)]
        if items and not chosen:
            wanted = " and ".join("not " * wanted.negated + " or ".join(wanted.values) for wanted in by_name)
            raise InputError(f"no test has a name that matches {wanted}")
        by_record = [wanted for wanted in self.filters if wanted.field != _NAME]
        if not by_record:
            return chosen
        records = [record(item) for item in chosen]
        _check_fields(by_record, records)
        passing = [
            item for item, test in zip(chosen, records, strict=True) if all(wanted.holds(test) for wanted in by_record)
        ]
        if chosen and not passing:
            raise InputError(f"none of the {len(chosen)} tests matches --where")
        return passing

    def of_tests(self, tests: Sequence[Test]) -> list[Test]:
        """Return the tests of a corpus that pass every filter and match a glob."""
        return self.of(tests, lambda test: test.name, lambda test: test)


def _check_fields(filters: Sequence[Filter], tests: Sequence[Test]) -> None:
    models = dict.fromkeys(model for test in tests for model in test.verdicts)
    for condition in filters:
        if tests and condition.field not in FIELDS and condition.field not in models:
            known = ", ".join((*FIELDS, *models))
            raise InputError(f"--where: expected one of {known}, found '{condition.field}'")
        there = {*_WORDS.values(), *_OTHERS, *(test.verdicts.get(condition.field, "") for test in tests)}
        wrong = [value for value in condition.values if condition.field in models and _verdict(value) not in there]
        if wrong:  # else != would let every test pass
            wanted = f"{', '.join(_WORDS)} or unknown"
            raise InputError(f"--where {condition.field}: expected {wanted}, found '{wrong[0]}'")
