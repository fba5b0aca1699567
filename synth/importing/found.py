"""What importing a file is told, and what it finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.shared.results import Entry, Times, parse_result

TIMEOUT = 20.0
"""Seconds after which a program is killed where nobody says otherwise: those of the published runs."""


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """What the user says of all results of the files, whatever these say themselves; ``None`` leaves it to them.

    ``timeout``, in seconds, is said of results that have none: a program does not know when it is killed.
    """

    device: str | None = None
    driver: str | None = None
    compiler: str | None = None
    date: str | None = None
    profile: str | None = None
    timeout: float = TIMEOUT

    def entry(self, known: Mapping[str, Any]) -> Entry:
        """The result or failure with these fields. Raises ``ValueError`` where they are of none."""
        said = {"device": self.device, "driver": self.driver, "compiler": self.compiler, "date": self.date}
        if "terms" in known:
            said["profile"] = self.profile
        whole = {"timeout": self.timeout, **known, **{name: word for name, word in said.items() if word is not None}}
        return parse_result(json.dumps(whole, allow_nan=False))


@dataclass(slots=True)
class ImportedResults:
    """What a file gave: results, each with how long it took where that is known.

    ``refused`` says a line each what was not taken and why; ``notes`` what was, on an assumption.
    """

    entries: list[tuple[Entry, Times]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
