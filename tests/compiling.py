"""Compilations that the tests of a file share: a text is compiled once with the same options, wherever it lies."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from synth.checking import sources


@contextmanager
def compiled_once(folder: Path) -> Iterator[None]:
    """A context in which what is made of files that include no other file of the user is kept in a folder, where
    processes that are forked find it as well.
    """
    compiled = sources.compiled

    def once(path: Path, options: Sequence[str]) -> tuple[bytes, Mapping[str, str]]:
        asked = repr((path.suffix, path.read_bytes(), *options)) if path.is_file() else ""
        kept = folder / sha256(asked.encode()).hexdigest()
        if asked and kept.is_file():
            code, names = pickle.loads(kept.read_bytes())
            return code, dict.fromkeys(names, str(path))
        code, names = compiled(path, options)
        if {*names.values()} == {str(path)}:
            begun = kept.with_suffix(f".{id(names)}")
            begun.write_bytes(pickle.dumps((code, [*names])))
            begun.replace(kept)
        return code, names

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "compiled", once)
        yield
