"""The option ``--vocabulary`` as every command spells it that looks for programs: a dialect, and words more or less."""

from __future__ import annotations

import click

from corpus.executions.vocabulary import VOCABULARIES, optional_words

Words = tuple[str, tuple[str, ...], tuple[str, ...]]
"""The dialect, empty where none is named, the optional words to add, and the words to leave out."""


class VocabularyWords(click.ParamType[Words]):
    """``ptx``, ``ptx -rmw -sys``, ``ptx-proxies +alias`` or ``-rmw``."""

    name = "words"

    def convert(self, value: str | Words, param: click.Parameter | None, ctx: click.Context | None) -> Words:
        """The dialect and the words. Fails where a word is neither a dialect nor begins with ``+`` or ``-``."""
        if isinstance(value, tuple):
            return value
        first, *rest = value.replace(",", " ").split() or [""]
        dialect, words = (first, rest) if first in VOCABULARIES else ("", [first, *rest] if first else [])
        for word in words:
            if word[0] not in "+-" or len(word) < 2:
                known = ", ".join(VOCABULARIES)
                wanted = f"one of {known}, then words to leave out (-rmw) or to add (+alias)"
                self.fail(f"expected {wanted}, found '{word}'", param, ctx)
        more, less = (tuple(word[1:] for word in words if word[0] == sign) for sign in "+-")
        return dialect, more, less


vocabulary_option = click.option(
    "--vocabulary",
    type=VocabularyWords(),
    default="",
    metavar="WORDS",
    help=(
        f"Build programs from {', '.join(VOCABULARIES)}; leave words out, as in 'ptx -rmw -sys', or add some: "
        f"{'; '.join(f'to {name} +' + ' +'.join(words) for name, words in optional_words().items())}.  "
        "[default: what the models tell apart]"
    ),
)
"""``--vocabulary``."""
