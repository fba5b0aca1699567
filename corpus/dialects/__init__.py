"""The dialects of litmus tests: one module each, with a parser and a printer that are inverse of each other."""

from __future__ import annotations

from corpus.litmus_text import Dialect

DIALECTS: dict[str, Dialect] = {}
