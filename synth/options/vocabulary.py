"""The option ``--vocabulary`` as every command spells it that looks for programs: a dialect, and what to leave out."""

from __future__ import annotations

import click

from corpus.executions.vocabulary import VOCABULARIES

MOST_EVENTS = 12
"""Events of a program that may be asked for; more would take years."""

Words = tuple[str, tuple[str, ...]]
"""The dialect, empty where none is named, and the words to leave out."""


class VocabularyWords(click.ParamType[Words]):
    """``ptx``, ``ptx -rmw -sys`` or ``-rmw``."""

    name = "words"

    def convert(self, value: str | Words, param: click.Parameter | None, ctx: click.Context | None) -> Words:
        """The dialect and the words. Fails where a word is neither a dialect nor begins with a ``-``."""
        if isinstance(value, tuple):
            return value
        first, *rest = value.replace(",", " ").split() or [""]
        dialect, words = (first, rest) if first in VOCABULARIES else ("", [first, *rest] if first else [])
        for word in words:
            if not word.startswith("-") or len(word) < 2:
                known = ", ".join(VOCABULARIES)
                self.fail(f"expected one of {known}, then what to leave out as -rmw, found '{word}'", param, ctx)
        return dialect, tuple(word[1:] for word in words)


vocabulary_option = click.option(
    "--vocabulary",
    type=VocabularyWords(),
    default="",
    metavar="WORDS",
    help=f"Of {', '.join(VOCABULARIES)}, and what to leave out: 'ptx -rmw -sys'. Default: what the models tell apart.",
)
"""``--vocabulary``."""
