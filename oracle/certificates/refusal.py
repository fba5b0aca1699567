"""The error by which a certificate, or a corpus that has one, is refused."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class RefusedError(Exception):
    """The refusal of a certificate, with the reason as a line for the user; answered with exit code 1."""

    what: str

    def __str__(self) -> str:
        return self.what
