"""The one error a user may see: what is wrong with an input, and where."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class InputError(Exception):
    """Bad input: a file, an option or a folder that cannot be used as it is.

    Shown as one line, ``file:line:column: message``, and answered with exit code 2.
    ``line`` and ``column`` count from 1.
    """

    message: str
    path: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = [str(part) for part in (self.path, self.line, self.column) if part is not None]
        return ": ".join([":".join(place), self.message] if place else [self.message])
