"""Values on a command line: seconds, processes, numbers from one to another, and lists of words."""

from __future__ import annotations

import re
from typing import Any

import click

from synth.requests import MOST, Numbers

LONGEST = 366 * 24 * 3600
"""Seconds of the longest time that can be asked for: a year."""

JOBS = click.IntRange(1, 1024)
"""How many processes."""


class Seconds(click.types.FloatParamType):
    """A time in seconds, from 0 (or above it, where it must be ``positive``) to a year; nan is none."""

    name = "seconds"

    def __init__(self, positive: bool = False) -> None:
        self.positive = positive

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; fails in one line where it is none, or out of range, as nan is."""
        seconds = float(super().convert(value, param, ctx))
        if not 0 <= seconds <= LONGEST or (self.positive and seconds == 0):
            least = "above 0" if self.positive else "from 0"
            self.fail(f"expected seconds, a number {least} to {LONGEST}, found {value!r}", param, ctx)
        return seconds


MOST_EDGES = 64
"""The most edges of a cycle: one of 64 is found in seconds, and one of twice as many in a minute."""


class Span(click.ParamType[Numbers]):
    """A number, MIN..MAX or ..MAX; its value is the least and the most."""

    name = "min..max"

    def __init__(self, least: int, most: int = MOST) -> None:
        self.least, self.most = least, most

    def convert(self, value: str | Numbers, param: click.Parameter | None, ctx: click.Context | None) -> Numbers:
        """The two ends. Fails where they are none, out of order or out of bounds."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d{1,9})?(?:\.\.(\d{1,9}))?", value)
        if not match or not value:
            self.fail(f"expected a number or MIN..MAX, found '{value}'", param, ctx)
        first = int(match[1] or self.least)
        last = int(match[2] or first)
        if not self.least <= first <= last <= self.most:
            self.fail(f"expected numbers between {self.least} and {self.most}, the least first, found '{value}'")
        return first, last


def listed(option: str, text: str | None, known: list[str]) -> tuple[str, ...]:
    """The words of a list, in the order of ``known``; none where nothing is given. Fails where one is unknown."""
    if text is None:
        return ()
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise click.BadParameter(f"expected {', '.join(known)}, found '{name}'", param_hint=f"'{option}'")
    if not names:
        raise click.BadParameter(f"expected one or more of {', '.join(known)}", param_hint=f"'{option}'")
    return tuple(name for name in known if name in names)
