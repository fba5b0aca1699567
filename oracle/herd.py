"""A .cat model as herd7 reads it: its definitions and checks, after lines for the names that herd7 lacks.

herd7's cat is the language of our models, but it starts from other names. It has no coherence order before ``cos.cat``
is included; its names of orders and scopes are those of C11 or of a bell file; the two events of an atomic operation
are apart in program order. So a model goes to herd7 as one file: its title, the lines that it needs of
``cat/herd-shared.cat`` and of its language, ``cat/herd-c.cat`` or ``cat/herd-lisa.cat``, those that it needs of our
prelude, and its own statements, in terms (``oracle.cat.elaboration``). Sets that those languages cannot express, such
as proxies, are empty.

Refused by name: partial coherence orders, of which herd7 has none, and names that have no line.

Source: herdtools7 as of 2025, ``herd/machModelChecker.ml`` (the names before any line), ``herd/CAction.ml`` (C),
``herd/BellSem.ml`` (LISA), ``lib/modelLexer.mll`` and ``lib/modelParser.mly``, ``herd/libdir/stdlib.cat``; and tried in
it. Gap: ``ext`` has no pairs of two initial writes in herd7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from corpus.errors import InputError
from corpus.files import folder_of
from corpus.graphs import reachable
from corpus.litmus.orders import ANNOTATED
from oracle.cat.interpreter import Model
from oracle.cat.terms import Definition
from oracle.cat.text import statement_text
from oracle.executions.events import DIALECT_TAGS, VOCABULARY

LANGUAGES = ("c", "lisa")
"""The languages of tests that herd7 takes from us, by the names of their dialects."""

_NAME = re.compile(r"(?<!')[A-Za-z_][\w.'-]*")
_EMPTY_SET = re.compile(rf"(?<![\w.-])(?:{ANNOTATED}[A-Za-z][\w.-]*|0(?= \* ))|(?<= \* )0(?![\w.-])")
_LINE = re.compile(r"^(?:let|with) ([\w.-]+).*|^(?:include|assert) .*", re.MULTILINE)

_ALWAYS = "assert"
_DEFINED = {"include": "co", "assert": _ALWAYS}
_NATIVE = "R W M F IW id rf po loc int ext addr data ctrl rmw domain range rfe rfi emptyset"
_KNOWN = frozenset(_NATIVE.split())
"""Names that need no line: in herd7 and its ``stdlib.cat`` they mean what they mean here, unless a line says more."""

_WORDS = (
    "assert begin call catdep debug default do else end enum forall from fun if in instructions match not procedure "
    "show subset then try undefined_unless unshow variant when"
)
KEYWORDS = frozenset(_WORDS.split())
"""Words of herd7's cat that may be names here."""


def herd_model(model: Model, language: str) -> str:
    """The text of a model for herd7, for tests in one of ``LANGUAGES``.

    Raises ``InputError`` where it asks for partial coherence orders, or uses a name that has no line.
    """
    syntax = model.syntax
    if syntax.partial_co:
        raise InputError(f"{model.name}: herd7 has no partial coherence orders, which this model asks for")
    # No test that is written for herd7 has annotations of a bell file of the user's. There, 0 is a relation.
    own = [_EMPTY_SET.sub("emptyset", statement_text(statement)) for statement in syntax.statements]
    lines = herd_lines(language)
    mentioned = [_ALWAYS, *_names("\n".join(own))]
    needed = reachable(mentioned, lambda name: _names(lines[name]) if name in lines else ())
    definitions = [statement for statement in syntax.statements if isinstance(statement, Definition)]
    defined = {binding.name for definition in definitions for binding in definition.bindings}
    for name in sorted({*VOCABULARY.sets, *VOCABULARY.relations}.difference(_KNOWN, defined, lines)):
        if model.mentions(name):
            raise InputError(f"{model.name}: herd7 has nothing that is '{name}' in tests of {language}")
    return "\n".join(
        [
            f'"{syntax.title}"',
            f"(* {model.name}, for tests in {language.upper()}. First what herd7 does not know, or knows otherwise. *)",
            "",
            *(_spelled(line) for name, line in lines.items() if name in needed),
            "",
            *map(_spelled, own),
            "",
        ]
    )


@cache
def herd_lines(language: str) -> Mapping[str, str]:
    """The lines that may stand before a model, for tests in a language: by the names that they define, in order."""
    lines: dict[str, str] = {}
    for file in (f"herd-{language}.cat", "herd-shared.cat", "prelude.cat"):
        text = (folder_of("oracle.cat") / file).read_text("utf-8")
        for found in _LINE.finditer(text):
            name = found[1] or _DEFINED[found[0].split()[0]]
            if file != "prelude.cat" or name not in _KNOWN:
                lines.setdefault(name, found[0])
    return {**{tag: f"let {tag} = emptyset" for tag in DIALECT_TAGS}, **lines}


def _names(text: str) -> Iterator[str]:
    return (found[0] for found in _NAME.finditer(text))


def _spelled(line: str) -> str:
    """A line in herd7's words: no hats but that of inversion, one ``'`` at the end of a name, and no name a keyword."""
    if line.startswith(("include", "assert")):
        return line

    def name(found: re.Match[str]) -> str:
        word = found[0].replace("'", ".")
        return f"{word}'" if word in KEYWORDS and not line.startswith("with ") else word

    return _NAME.sub(name, re.sub(r"\^(?=[+*])", "", line))
