"""The preprocessor of C: macros, conditions and the headers that a file includes, by pcpp.

Headers of the library are those of ``include``, where locks are written as their specifications; ``"local.h"`` is
looked up beside the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn, TextIO

from pcpp import Preprocessor

from corpus.errors import InputError
from corpus.files import folder_of, is_within, read_bytes

HEADERS = folder_of("corpus") / "code" / "c" / "include"
"""The folder of the headers of the library."""

MOST_TOKENS = 400_000
"""The tokens that a file may have after its macros are expanded."""

MOST_FILES = 200
"""The files that may be included, each as often as it is."""

_PREDEFINED = (
    "__STDC__ 1",
    "__STDC_VERSION__ 201112L",
    "__attribute__(words)",
    "__builtin_expect(value, expected) (value)",
    "__extension__",
    "__inline inline",
    "__inline__ inline",
    "__restrict restrict",
    "__restrict__ restrict",
    "__volatile__ volatile",
    "__thread _Thread_local",
    "__ATOMIC_RELAXED 0",
    "__ATOMIC_CONSUME 1",
    "__ATOMIC_ACQUIRE 2",
    "__ATOMIC_RELEASE 3",
    "__ATOMIC_ACQ_REL 4",
    "__ATOMIC_SEQ_CST 5",
)

_ASSEMBLY = re.compile(r"\b(?:__asm__|__asm|asm)\b\s*(?:volatile\b\s*)?\(")
_SHIFT = re.compile(r"<<[\s(]*\d\d?[uUlL]*[\s)]*(?![\s)*<\d])")
"""A shift in a condition that pcpp may compute, for which it makes numbers of any size."""

_HINT = re.compile(r'\s*"\s*(?:pause|yield|nop|rep\s*;\s*nop)?\s*"\s*(?::[:\s]*(?:"memory"\s*)?)?')
"""Assembly that says nothing to a memory model: a pause of the processor, or nothing at all."""


class _Preprocessor(Preprocessor):  # type: ignore[misc]
    """pcpp, whose complaints are errors with their place and which has limits."""

    def __init__(self, options: Sequence[str], path: str) -> None:
        super().__init__()
        self.line_directive = "#line"
        self._files = 0
        self._expanded = 0
        self._decides = False
        for each in _PREDEFINED:
            self.define(each)
        self.add_path(str(HEADERS))
        self._roots = [Path(path).parent, HEADERS]
        words = iter(options)
        for word in words:
            option, value = word[:2], word[2:] or next(words, "")
            if option not in ("-I", "-D") or not value:
                raise InputError(f"-X: expected -Ifolder or -DNAME=value for a program of C, found '{word}'", path)
            if option == "-I":
                self.add_path(value)
                self._roots.append(Path(value))
            else:
                name, _, text = value.partition("=")
                self.define(f"{name} {text or 1}")

    def on_error(self, file: str, line: int, msg: str) -> NoReturn:
        raise InputError(msg, file, line, 1)

    def on_include_not_found(
        self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
    ) -> NoReturn:
        at = self.lastdirective
        what = f"<{includepath}>" if is_system_include else f'"{includepath}"'
        there = ", ".join(sorted(each.name for each in HEADERS.glob("*.h")))
        wanted = f"expected a header that is there, found {what}: of the library these are known: {there}"
        raise InputError(wanted, at.source, at.lineno, 1)

    def on_file_open(self, is_system_include: bool, includepath: str) -> TextIO:
        self._files += 1
        if self._files > MOST_FILES:
            raise InputError(f"expected at most {MOST_FILES} included files", includepath)
        if not os.path.lexists(includepath):  # it is asked for in one folder after the other
            raise FileNotFoundError(includepath)
        if not any(is_within(Path(includepath), root) for root in self._roots):
            at = self.lastdirective
            wanted = f"includes '{includepath}', which is in neither the file's folder nor one of -I"
            raise InputError(wanted, at.source, at.lineno, 1)
        return StringIO(read_bytes(Path(includepath)).decode("utf-8", "replace"))

    def on_directive_handle(
        self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]
    ) -> bool | None:
        if directive.value == "error":
            raise InputError("".join(each.value for each in toks).strip(), directive.source, directive.lineno, 1)
        if directive.value == "warning":
            return True
        found: bool | None = super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)
        return found

    def evalexpr(self, tokens: list[Any]) -> Any:
        self._decides = True
        try:
            return super().evalexpr(tokens)
        finally:
            self._decides = False

    def expand_macros(self, tokens: list[Any], expanding_from: Sequence[str] = ()) -> list[Any]:
        expanded: list[Any] = super().expand_macros(tokens, list(expanding_from))
        self._expanded += len(expanded)
        if self._expanded > MOST_TOKENS or len(expanding_from) > 100:
            raise InputError(f"expected at most {MOST_TOKENS:,} tokens of expanded macros")
        if self._decides:
            text = "".join(str(each.value) for each in expanded)
            if text.count("<<") != len(_SHIFT.findall(text)):
                raise InputError("expected numbers below 64 behind << in a condition", self.source, tokens[0].lineno, 1)
        return expanded


def preprocessed(text: str, path: str, options: Sequence[str] = ()) -> str:
    """Return the text of a file of C as its compiler sees it, with ``#line`` where another file or line begins.

    ``options`` are those of a compiler for folders of headers and macros, ``-Iinclude`` and ``-DTHREADS=3``. Raises
    ``InputError`` where one is another, a directive is wrong, a header is not there, or the text becomes too long.
    """
    processor = _Preprocessor(options, path)
    out = StringIO()
    try:
        processor.parse(text, path)
        processor.write(out)
    except InputError as error:
        raise InputError(error.message, error.path or path, error.line, error.column) from None
    except RecursionError:
        raise InputError("expected fewer macros and headers within each other", path) from None
    except Exception as error:  # pcpp raises whatever its parts do on text that is no C
        raise InputError(f"expected C that can be preprocessed: {error or type(error).__name__}", path) from None
    return "".join(_without_assembly(out.getvalue(), path))


def _without_assembly(text: str, path: str) -> Iterator[str]:
    """Yield the text with hints to the processor as calls of ``__pause``. Raises ``InputError`` at other assembly."""
    at = 0
    for match in _ASSEMBLY.finditer(text):
        if match.start() < at:
            continue
        yield text[at : match.start()]
        hint = _HINT.match(text, match.end())
        if hint is None or text[hint.end() : hint.end() + 1] != ")":
            line, file = 1, path
            for before in text[: match.start()].split("\n")[:-1]:
                said = re.fullmatch(r'#line (\d+)(?: "(.*)")?', before)
                line, file = (int(said[1]), said[2] or file) if said else (line + 1, file)
            raise InputError("assembly is not understood", file, line, 1)
        yield "__pause()" + "\n" * text.count("\n", match.start(), hint.end())
        at = hint.end() + 1
    yield text[at:]


def is_of_library(file: str) -> bool:
    """Decide whether a file that an included line is of is a header of the library, by its name."""
    return (HEADERS / Path(file).name).is_file() and Path(file).suffix == ".h"
