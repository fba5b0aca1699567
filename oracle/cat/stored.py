"""The stored syntax trees of the .cat models that ship, each in a file beside its model: ``ptx.jsonl`` for ``ptx.cat``.

To read the models that ship takes longer than to judge a test by them. The first line of a file has the checksum of
each text that was read. Where a text has changed, the model is read anew each time, until
``pytest --promote tests/unit/test_stored_models.py`` writes the file. Each further line is a statement.

A statement or term is an object with one key, its class in ``oracle.cat.terms``, and the values of its fields;
``["ptx.cat", 8, 5]`` is a position, and files are named as seen from the folder.
"""

from __future__ import annotations

import json
import os.path
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any
from zlib import crc32

from oracle.cat.terms import (
    Call,
    Constant,
    Definition,
    FilePosition,
    LetBinding,
    Linearisation,
    ModelCheck,
    ModelSyntax,
    Name,
    Operation,
    Statement,
    Term,
)

_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Name, Constant, Operation, Call, LetBinding, Definition, ModelCheck, Linearisation)
}


def stored_file(path: str) -> Path:
    """The path of the file that stores the syntax of a .cat file."""
    return Path(path).with_suffix(".jsonl")


def stored_syntax(path: str) -> ModelSyntax | None:
    """The stored syntax of a .cat file; None where nothing is stored, or a text has changed since."""
    if not stored_file(path).is_file():
        return None
    head, *statements = stored_file(path).read_text("utf-8").splitlines()
    of = json.loads(head)
    files = {name: os.path.join(os.path.dirname(path), name) for name in of["texts"]}
    for name, file in files.items():
        if not os.path.isfile(file) or crc32(Path(file).read_bytes()) != of["texts"][name]:
            return None

    def made(part: dict[str, list[Any]]) -> Any:
        ((kind, values),) = part.items()
        given = [tuple(value) if isinstance(value, list) else value for value in values]
        if kind != "Definition":  # a definition's position is that of its bindings
            name, line, column = values[-1]
            given[-1] = FilePosition(files[name], line, column)
        return _KINDS[kind](*given)

    parts = tuple(json.loads(line, object_hook=made) for line in statements)
    return ModelSyntax(of["title"], parts, of["partial_co"], of["one_event"], of["digest"])


def written(path: str, syntax: ModelSyntax, texts: Mapping[str, str]) -> str:
    """The text that stores the syntax of a .cat file, given the texts that it was read from by their paths."""
    folder = os.path.dirname(path)

    def plain(part: Statement | LetBinding | Term | FilePosition | tuple[Any, ...] | str | bool) -> Any:
        match part:
            case FilePosition(name, line, column):
                return [os.path.relpath(name, folder), line, column]
            case tuple():
                return [plain(one) for one in part]
            case str() | bool():
                return part
            case _:
                return {type(part).__name__: [plain(getattr(part, field.name)) for field in fields(part)]}

    head = {
        "title": syntax.title,
        "partial_co": syntax.partial_co,
        "one_event": syntax.one_event,
        "digest": syntax.digest,
        "texts": {os.path.relpath(name, folder): crc32(text.encode()) for name, text in sorted(texts.items())},
    }
    return "".join(f"{json.dumps(line)}\n" for line in (head, *map(plain, syntax.statements)))
