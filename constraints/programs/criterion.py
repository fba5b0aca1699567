"""The two criteria of minimality: of an outcome of a program, or of one execution."""

from __future__ import annotations

from enum import StrEnum


class Criterion(StrEnum):
    """The object that minimality is said of: an outcome of a program, or one execution."""

    EXECUTION = "execution"
    OUTCOME = "outcome"


BOTH = "both"
"""The word for minimal outcomes whose minimal executions are counted as well."""
