"""The syntax trees of .cat models in the user's cache, so that a model that has been read once loads faster.

A file of the cache has three lines: a checksum, which file each inclusion of the model leads to, and the syntax. Its
name is a digest of the model's text and of the reader's own source. The checksum is of all texts of the model, too. So
nothing is loaded that is damaged, or that a text, a change of the reader or a file in a nearer folder has made wrong:
the model is parsed, and the file is written anew.

In the JSON, a statement or term is an object with one key, its class in ``oracle.cat.terms``, and the values of its
fields; ``[2, 8, 5]`` is a position in file 2. Files are numbered, the model's own is 0, and no path is kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from corpus.cache import CacheRoom
from corpus.errors import InputError
from corpus.files import folder_of, read_text
from oracle.cat import terms
from oracle.cat.terms import FilePosition, ModelSyntax

READER = (
    *("corpus/dialects/scope_tree.py", "corpus/lalr.py", "corpus/litmus/orders.py", "corpus/syntax.py"),
    *("oracle/cat/elaboration.py", "oracle/cat/expressions.py", "oracle/cat/meanings.py", "oracle/cat/mentions.py"),
    *("oracle/cat/stored.py", "oracle/cat/syntax.py", "oracle/cat/terms.py"),
    *("oracle/cat/language.lark", "oracle/cat/terms.lark"),
)
"""The files that decide which syntax a text has, and how it is stored."""

_MODELS = CacheRoom("models", 1 << 25)
_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(terms.Name, terms.Constant, terms.Operation, terms.Call, terms.LetBinding, terms.Definition),
        *(terms.ModelCheck, terms.Linearisation, ModelSyntax),
    )
}

FindIncluded = Callable[[str, str | None], str | None]
"""A function that gives the file that a name leads to, in an inclusion by some file, or by none but the library."""


def stored_file(path: str, text: str, bell: str | None) -> Path | None:
    """The path of the file that stores the syntax of a model, be it there or not; None where none can be."""
    if not all(os.path.isfile(name) for name in (path, bell) if name):  # a pipe can be read once only
        return None
    try:
        return _MODELS.file([_reader(), Path(path).stem, text, bell or ""])
    except OSError:  # Python needs no sources
        return None


def stored_syntax(file: Path, first: Sequence[str], find: FindIncluded) -> ModelSyntax | None:
    """The syntax in a file of the cache; None where there is none that is right. ``first``: the model and its bell."""
    try:
        checksum, inclusions, syntax = read_text(file).split("\n")
        files = _files(first, json.loads(inclusions), find)
        if checksum != _checksum(file.name, [read_text(Path(name)) for name in files], inclusions, syntax):
            return None
        with suppress(OSError):
            os.utime(file)
        made: ModelSyntax = json.loads(syntax, object_hook=partial(_made, files))
        return made
    except (InputError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None


def store(
    file: Path,
    first: Sequence[str],
    syntax: ModelSyntax,
    texts: Mapping[str, str],
    inclusions: Mapping[tuple[str, str], str | None],
) -> None:
    """Writes the syntax of a model to the cache, given the texts that it was read from, by their paths.

    ``inclusions``: what was found by a name in an inclusion, by the including file and the name.
    """
    files, numbered = list(dict.fromkeys(first)), []
    for (beside, name), path in inclusions.items():
        number = _number(beside, files)
        if path and path in texts and path not in files:
            files.append(path)
        numbered.append([number, name, _number(path, files)])

    def plain(part: Any) -> dict[str, list[Any]]:
        values = [getattr(part, field.name) for field in fields(part)]
        if isinstance(values[-1], FilePosition):
            path, line, column = values[-1]
            values[-1] = [files.index(path), line, column]
        return {type(part).__name__: values}

    with suppress(RecursionError):
        lines = json.dumps(numbered), json.dumps(syntax, default=plain)
        checksum = _checksum(file.name, [texts[path] for path in files], *lines)
        _MODELS.keep(file, lambda new: new.write_text("\n".join([checksum, *lines]), encoding="ascii"))


@cache
def _reader() -> str:
    folder = folder_of("oracle").parent
    return sha256(b"".join((folder / name).read_bytes() for name in READER)).hexdigest()


def _files(first: Sequence[str], inclusions: Sequence[tuple[int, str, int]], find: FindIncluded) -> list[str]:
    """The files of a model by their numbers. Raises ``ValueError`` where inclusions lead elsewhere by now."""
    files, paths = list(dict.fromkeys(first)), []
    for beside, name, number in inclusions:
        path = find(name, files[beside] if beside >= 0 else None)
        paths.append(path)
        if path and number == len(files):
            files.append(path)
    if any(_number(path, files) != number for path, (_, _, number) in zip(paths, inclusions, strict=True)):
        raise ValueError
    return files


def _number(path: str | None, files: Sequence[str]) -> int:
    """The number of a file; -1 where it is not one of them, as what a branch that is not taken includes."""
    return files.index(path) if path in files else -1


def _checksum(*parts: Sequence[str]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()


def _made(files: Sequence[str], part: dict[str, list[Any]]) -> Any:
    ((kind, values),) = part.items()
    given = [tuple(value) if isinstance(value, list) else value for value in values]
    if isinstance(given[-1], tuple):
        number, line, column = given[-1]
        given[-1] = FilePosition(files[number], line, column)
    return _KINDS[kind](*given)
