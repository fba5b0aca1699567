"""What minimality is said of: an outcome of a program, or one execution."""

from __future__ import annotations

from enum import StrEnum


class Criterion(StrEnum):
    """What minimality is said of."""

    EXECUTION = "execution"
    OUTCOME = "outcome"
