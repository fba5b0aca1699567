"""Why a certificate, or a corpus that has one, is not accepted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class RefusedError(Exception):
    """What does not hold, as a line for the user; answered with exit code 1."""

    what: str

    def __str__(self) -> str:
        return self.what
