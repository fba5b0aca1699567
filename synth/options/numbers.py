"""Numbers on the command line within reason: seconds that a clock can count, processes that a machine can hold."""

from __future__ import annotations

from typing import Any

import click

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
