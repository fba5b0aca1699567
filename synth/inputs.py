"""The tests that a command line names: files, folders of files, indexes and corpora."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.errors import InputError
from corpus.files import read_text
from corpus.progress.axb import digest
from corpus.progress.text import print_axb, read_axb
from corpus.store import is_corpus, read_corpus
from corpus.test import Test


def load_tests(paths: Sequence[str]) -> list[Test]:
    """The tests of each path in turn: an ``.axb`` file, a folder of such files (sorted by name), or a corpus.

    A test from a file has the file's stem as its name and no verdicts; its program is kept as it is written, so its
    text may name locations in another order than the canonical form that its digest stands for. Raises ``InputError``
    where a path is missing, cannot be read, or holds no test (a corpus may be empty).
    """
    return [test for path in paths for test in _load(Path(path))]


def _load(path: Path) -> list[Test]:
    if not path.is_dir():
        return [_test(path)]
    if is_corpus(path):
        return read_corpus(path).tests
    files = sorted(file for file in path.iterdir() if file.suffix == ".axb")
    if not files:
        raise InputError("the folder is no corpus and holds no .axb file", str(path))
    return [_test(file) for file in files]


def _test(path: Path) -> Test:
    program = read_axb(path)
    return Test(path.stem, digest(program), print_axb(program))


def are_litmus(paths: Sequence[str]) -> bool:
    """Whether the paths name litmus tests, not progress tests. Raises ``InputError`` where they name both."""
    kinds = {path: _is_litmus(Path(path)) for path in paths}
    if len(set(kinds.values())) > 1:
        litmus, progress = (next(path for path in paths if kinds[path] is kind) for kind in (True, False))
        raise InputError(f"{litmus} holds litmus tests and {progress} progress tests; name one kind at a time")
    return any(kinds.values())


def _is_litmus(path: Path) -> bool:
    if not path.is_dir():
        return path.suffix == ".litmus" or path.name.startswith("@")
    return any(file.suffix == ".litmus" or file.name == "@all" for file in path.iterdir())


def litmus_files(paths: Sequence[str]) -> list[Path]:
    """The litmus files of each path in turn: a file, an index, or a folder.

    An index is a file whose name begins with ``@``: one path a line, relative to it, which may be an index itself; what
    follows ``#`` is a comment. A folder stands for its index ``@all`` where it has one, and else for its ``.litmus``
    files, sorted by name. Raises ``InputError`` where an index cannot be read or names itself, and where a folder holds
    no test; whether a file is there is for its reader to say.
    """
    return [file for path in paths for file in _litmus_files(Path(path), ())]


def _litmus_files(path: Path, around: tuple[Path, ...]) -> list[Path]:
    if path.is_dir():
        if (path / "@all").is_file():
            return _litmus_files(path / "@all", around)
        files = sorted(file for file in path.iterdir() if file.suffix == ".litmus")
        if not files:
            raise InputError("the folder holds no .litmus file and no index @all", str(path))
        return files
    if not path.name.startswith("@"):
        return [path]
    if path.resolve() in around:
        raise InputError("the index names itself", str(path))
    files = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name.isprintable():
            raise InputError(f"expected the name of a file, found {name[:20]!r}", str(path), number, 1)
        if name:
            files += _litmus_files(path.parent / name, (*around, path.resolve()))
    return files
