"""What a host in Python says of its test in the log of who runs it: lines of JSON (``backends.shared.log``).

Needs Python's own library only, for hosts are shipped with it in them (``backends.shared.files.shipped``).
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence


class Said:
    """What is said of the test of a file: nothing where the file does not say which test it is, where nothing is run,
    and until it is known what runs it.
    """

    def __init__(self, text: str, iterations: int) -> None:
        known = re.search(r"^// trial (\{.*\})$", text, re.MULTILINE)
        self.trial = {**json.loads(known[1]), "iterations": iterations} if known and iterations > 0 else {}
        self.counts: Counter[tuple[int, ...]] = Counter()
        self.other = 0

    def runs_on(self, device: str, driver: str = "", compiler: str = "") -> None:
        """What runs it, in words; of the driver what the device's words do not say."""
        name = " ".join(device.split())
        if self.trial:
            self.trial |= {"device": name, "driver": "" if driver in name else driver, "compiler": compiler}

    def began(self) -> None:
        """The test begins."""
        self._say({"began": {**self.trial, "date": _date()}})

    def count(self, rows: Iterable[Sequence[int]], other: int) -> None:
        """The histogram of a launch of a memory test: rows of a count and the values that it counts."""
        for number, *values in rows:
            self.counts[tuple(value - (value >> 31 << 32) for value in values)] += number
        self.other += other

    def terminated(self) -> None:
        """All iterations of a progress test did."""
        self._say({**self.trial, "outcomes": "T" * self.trial.get("iterations", 0), "date": _date()})

    def counted(self) -> None:
        """All launches of a memory test came to an end."""
        seen = {"outcomes": sorted(self.counts.items()), "other": self.other}
        launches = self.trial.get("iterations", 0)
        self._say({**self.trial, **seen, "launches": launches, "hung": False, "date": _date()})

    def failed(self, error: str) -> None:
        """The test could not be run, and why."""
        self._say({**self.trial, "error": error, "date": _date()})

    def _say(self, line: object) -> None:
        if "device" in self.trial:
            print(json.dumps(line, separators=(",", ":")), flush=True)


def _date() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
