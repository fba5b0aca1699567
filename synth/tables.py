"""Tables in the languages of documents: GitHub's Markdown, and LaTeX with booktabs.

Every table that a command prints on a terminal can have these forms (``synth.screen``, ``synth.options.form``), and so
can reports. Characters with a meaning in a language are escaped, so that names of tests and models appear as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

TABLE, MARKDOWN, LATEX = "table", "markdown", "latex"
FORMS = (TABLE, MARKDOWN, LATEX)
"""The forms of a table: one for a terminal, the others for documents."""

_MARKDOWN = re.compile(r"([\\`*_\[\]<>|&~$])")
_BLOCK = re.compile(r"(?=#{1,6}( |$)|[-+]( |$)|(=+|-+)$)|(?<=\d)(?=[.)]( |$))")
"""The places where a line of text would begin a heading, a list or a rule of Markdown."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # the quotation mark itself needs another font encoding
    **{sign: f"{{{sign}}}" for sign in "[*"},  # after the end of a row, these would begin an option
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
_NUMBER = re.compile(r"-?[\d,.]+(e-?\d+)?|[\d,]+(/| of )[\d,]+|")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its title, a note on its meaning, the heads of its columns, and its rows, which may be read several
    times.

    A cell may have several lines.
    """

    title: str
    note: str
    heads: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]


class Language(Protocol):
    """A language of documents, such as Markdown; its methods return lines of text."""

    @property
    def begin(self) -> Sequence[str]:
        """Return the lines with which a document in this language begins."""

    def table(self, table: Table) -> Iterator[str]:
        """Yield the lines of a table with its title and its note."""

    def line(self, text: str) -> str:
        """Return a line of text that stands between tables."""


class Markdown:
    """The language Markdown, in the dialect of GitHub."""

    begin: Sequence[str] = ()

    def table(self, table: Table) -> Iterator[str]:
        """Yield a heading and a note, where the table has them, and the table."""
        if table.title:
            yield from (f"## {self.line(table.title)}", "")
        if table.note:
            yield from (self.line(table.note), "")
        yield self._row(table.heads)
        yield f"| {' | '.join('--:' if right else '---' for right in _numeric(table))} |"
        yield from map(self._row, table.rows)

    def line(self, text: str) -> str:
        """Return a line of text, escaped so that Markdown shows it as it is."""
        return _BLOCK.sub(r"\\", marked(text), count=1)

    @staticmethod
    def _row(cells: Sequence[str]) -> str:
        return f"| {' | '.join('<br>'.join(map(marked, cell.splitlines())) for cell in cells)} |"


class Latex:
    """The language LaTeX: tables to ``\\input`` where booktabs is loaded; text between them is a comment."""

    begin: Sequence[str] = (r"% needs \usepackage{booktabs}",)

    def table(self, table: Table) -> Iterator[str]:
        """Yield a floating table, with title and note as its caption."""
        ways = "".join("r" if right else "l" for right in _numeric(table))
        yield r"\begin{table}"
        yield r"  \centering\small"
        if caption := f"{table.title}{'.' * bool(table.title)} {table.note}".strip():
            yield f"  \\caption{{{texed(caption)}}}"
        yield f"  \\begin{{tabular}}{{{ways}}}"
        yield r"    \toprule"
        if any(table.heads):
            yield self._row(table.heads)
            yield r"    \midrule"
        yield from map(self._row, table.rows)
        yield r"    \bottomrule"
        yield r"  \end{tabular}"
        yield r"\end{table}"

    def line(self, text: str) -> str:
        """Return a line of text as a comment of LaTeX."""
        return f"% {plain(text)}"

    @staticmethod
    def _row(cells: Sequence[str]) -> str:
        return f"    {' & '.join(map(_stacked, cells))} \\\\"


LANGUAGES: dict[str, Language] = {MARKDOWN: Markdown(), LATEX: Latex()}


def _stacked(cell: str) -> str:
    lines = [texed(line) for line in cell.splitlines()]
    if len(lines) < 2:
        return "".join(lines)
    return r"\begin{tabular}[t]{@{}l@{}}" + r" \\ ".join(lines) + r"\end{tabular}"


def _numeric(table: Table) -> list[bool]:
    """Return, for each column, whether it holds numbers only."""
    numeric, filled = [True] * len(table.heads), [False] * len(table.heads)
    for row in table.rows:
        for column, cell in enumerate(row):
            numeric[column] = numeric[column] and _NUMBER.fullmatch(cell) is not None
            filled[column] = filled[column] or bool(cell)
    return [number and some for number, some in zip(numeric, filled, strict=True)]


def plain(text: str) -> str:
    """Return a text on one line, without characters that steer what shows it."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def marked(text: str) -> str:
    """Return a text escaped for the middle of a line of Markdown."""
    return _MARKDOWN.sub(r"\\\1", plain(text))


def texed(text: str) -> str:
    """Return a text with the special characters of LaTeX escaped."""
    escaped = "".join(_LATEX.get(char, char) for char in plain(text))
    return re.sub("-(?=-)", "-{}", escaped)  # two hyphens would become a dash
