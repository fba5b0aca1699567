"""The settings of an import by the user, and the results that an import finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.shared.results import Entry, Times, parse_result

TIMEOUT = 20.0
"""The seconds after which a program counts as killed unless the user says otherwise: those of the published runs."""


@dataclass(frozen=True, slots=True)
class ImportSettings:
    """The fields that the user states for all results of the files; ``None`` leaves a field to the files.

    ``timeout``, in seconds, is entered in results that have none: a program does not know when it is killed.
    """

    device: str | None = None
    driver: str | None = None
    compiler: str | None = None
    date: str | None = None
    profile: str | None = None
    timeout: float = TIMEOUT

    def entry(self, known: Mapping[str, Any]) -> Entry:
        """Return the result or failure with these fields. Raises ``ValueError`` where the fields are of neither."""
        said = {"device": self.device, "driver": self.driver, "compiler": self.compiler, "date": self.date}
        if "terms" in known:
            said["profile"] = self.profile
        whole = {"timeout": self.timeout, **known, **{name: word for name, word in said.items() if word is not None}}
        return parse_result(json.dumps(whole, allow_nan=False))


@dataclass(slots=True)
class ImportedResults:
    """The results of a file, each with its wall times where these are known.

    ``refused`` has a line for each thing that was not taken, with the reason; ``notes`` has a line for each that was
    taken on an assumption.
    """

    entries: list[tuple[Entry, Times]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
