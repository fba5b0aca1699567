"""Numbers from one to another on a command line: ``4``, ``3..6`` or ``..6``."""

from __future__ import annotations

import re

import click

Numbers = tuple[int, int]
"""The least and the most."""

MOST = 999
"""The highest number, where nothing else is said."""


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


def spelled(numbers: Numbers) -> str:
    """As it is written: ``4``, ``3..6``."""
    first, last = numbers
    return str(first) if first == last else f"{first}..{last}"
