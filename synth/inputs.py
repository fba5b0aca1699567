"""The tests that a command line names: files, folders of files, and corpora."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.axb import digest
from corpus.axb_text import print_axb, read_axb
from corpus.errors import InputError
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
