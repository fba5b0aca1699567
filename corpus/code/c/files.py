"""Files of C as code that is read."""

from __future__ import annotations

from corpus.code.c.reader import read_c
from corpus.code.reading import CodeText, ReadCode


def read(code: CodeText) -> ReadCode:
    """Return what a file of C has."""
    return ReadCode(read_c(code.text, code.path, code.options))
