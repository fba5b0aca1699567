"""A test of a corpus: a program's text with its name, digest, verdicts and tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from corpus.progress.axb import Program
from corpus.progress.text import parse_axb


@dataclass(frozen=True, slots=True)
class Test:
    """One progress test. ``verdicts`` maps model names to TERMINATES, MAY_HANG or UNKNOWN.

    ``digest`` names the program up to renaming of locations, ``behaviour`` its minimal automaton (empty where it was
    not asked for): tests of the same behaviour cannot be told apart by any scheduler.

    The program is kept as its pseudo-code and parsed when asked for, so that a corpus of hundreds of thousands of tests
    opens quickly.
    """

    __test__ = False  # not a test class of pytest's

    name: str
    digest: str
    text: str
    verdicts: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    behaviour: str = ""

    @property
    def program(self) -> Program:
        """The parsed program. Raises ``InputError`` where the text is not AXB pseudo-code."""
        return parse_axb(self.text, self.name)

    @property
    def threads(self) -> int:
        """Number of threads."""
        return self.text.count("THREAD")

    @property
    def instructions(self) -> int:
        """Number of instructions of all threads together."""
        return self.text.count(";")

    @property
    def bound(self) -> str:
        """``threads x instructions``, as in ``2x4``."""
        return f"{self.threads}x{self.instructions}"
