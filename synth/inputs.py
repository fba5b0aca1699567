"""The tests that a command line names, by files, folders, indexes and corpora. The module also finds their family."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from corpus.code.registry import certain_format_of, format_of
from corpus.errors import InputError
from corpus.files import read_text
from synth.folders import LeftOut, files_below
from synth.watch import remark

if TYPE_CHECKING:  # slow to import, and not every command needs it
    from backends.shared.results import Entry
    from corpus.litmus.test import LitmusTest
    from corpus.test import Test

Read = TypeVar("Read")

PROGRESS, MEMORY = "progress", "memory"
"""The names of the two families of tests."""

INDEX = "@all"
"""The index of a folder of litmus tests."""

MOST_LINES = 1_000_000
"""The most lines of indexes that a command line may lead to."""


_CPP = "C or C++ source"
_FOREIGN = {
    ".amber": "an Amber script",
    ".bell": "a bell file",
    ".cat": "a consistency model",
    ".csv": "a table",
    **dict.fromkeys((".h", ".hpp"), _CPP),
    **dict.fromkeys((".json", ".jsonl"), "JSON"),
    ".metal": "a Metal shader",
    ".py": "a Python file",
}
"""The formats of files, by suffix, that are neither tests by their first word nor code that is read."""


def timed_results(path: Path) -> list[tuple[Entry, tuple[float, ...]]]:
    """Read every line of a file of results with its wall times; print on stderr if the last line was cut off.

    Raises ``InputError`` where ``read_results`` does.
    """
    from backends.shared.results import read_results, read_times
    from corpus.lines import is_cut

    found = [(entry, took.seconds) for entry, took in zip(read_results(path), read_times(path), strict=True)]
    if is_cut(path):
        tell_of_cut(path)
    return found


def tell_of_cut(path: Path) -> None:
    """Print on stderr that the last line of a file is cut off and left out."""

    remark(f"{path}: the last line was cut off, and is left out")


@dataclass(frozen=True, slots=True)
class Input:
    """A test that a command line names: a file, or a test of a corpus.

    ``label`` is the user's name of the test, ``name`` the name of files made of it, and ``path`` the file, or the
    corpus. An input may name a file that is missing or holds no test; reading it reports that. ``bell`` is the bell
    file that the user has named for LISA tests. ``carried`` is the text of a file, for machines that do not have the
    file.
    """

    label: str
    name: str
    path: Path
    record: Test | None = field(default=None, compare=False)
    bell: str | None = None
    carried: str | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.label

    @property
    def place(self) -> str:
        """Return the place of the test for messages: its file, or its corpus and its name there."""
        return str(self.path) if self.record is None else f"{self.path}: {self.name}"

    @property
    def file_name(self) -> str:
        """Return the name that the test has as a litmus file, which leads out of no folder."""
        from backends.shared.files import file_stem  # back ends, which most commands that read tests have no use for

        return self.path.name if self.record is None else f"{file_stem(self.name)}.litmus"

    def text(self) -> str:
        """Return the text of the test. Raises ``InputError`` where its file cannot be read."""
        if self.carried is not None:
            return self.carried
        return read_text(self.path) if self.record is None else self.record.text

    def to_carry(self) -> Input:
        """Return this input together with the text of its file, where that can be read."""
        try:
            return replace(self, carried=self.text())
        except InputError:
            return self

    def litmus(self) -> LitmusTest:
        """Return the litmus test. Raises ``InputError`` where the text is no litmus test."""
        from corpus.dialects.registry import parse_litmus

        return parse_litmus(self.text(), self.place, self.bell)

    def axb(self) -> Test:
        """Return the progress test. Raises ``InputError`` where the text is no progress test.

        A test from a file has no verdicts. Its program is kept as it is written, so its text may name locations in
        another order than the canonical form that its digest stands for.
        """
        from corpus.progress.axb import digest
        from corpus.progress.text import parse_axb, print_axb
        from corpus.test import Test

        program = parse_axb(self.text(), self.place)
        return self.record or Test(self.name, digest(program), print_axb(program))


def family_of(paths: Sequence[str]) -> str:
    """Return the family of the tests that the paths name. Raises ``InputError`` where they name tests of both."""
    kinds = {path: _family(Path(path)) for path in paths}
    if len(set(kinds.values())) > 1:
        litmus, progress = (next(path for path in paths if kinds[path] == kind) for kind in (MEMORY, PROGRESS))
        raise InputError(f"{litmus} holds litmus tests and {progress} progress tests; name one kind at a time")
    return next(iter(kinds.values()), PROGRESS)


def family_in(manifest: dict[str, object]) -> str:
    """Return the family of the tests of a corpus, by the request in its manifest.

    A selection's family is that of the corpus from which its tests were chosen.
    """
    request = manifest.get("request")
    for _ in range(100):  # a selection may be chosen from a selection
        if not isinstance(request, dict):
            break
        if request.get("kind") in (PROGRESS, MEMORY):
            return str(request["kind"])
        source = request.get("from")
        request = source.get("request") if isinstance(source, dict) else None
    return PROGRESS


def _family(path: Path) -> str:
    if not os.path.isdir(path):  # no error where the path cannot be checked: reading it reports why
        if path.suffix == ".litmus" or path.name.startswith("@"):
            return MEMORY
        if path.suffix == ".axb" or not os.path.isfile(path):  # a pipe can be read only once
            return PROGRESS
        return _family_by_content(path)
    return _suite_family(path) or _tests_below(path).family


def _suite_family(folder: Path, inside: bool = False) -> str | None:
    """Return the family of a corpus, or of a folder with an index; None for other folders.

    ``inside``: somebody else's ``manifest.json`` makes no corpus of a folder that is not named itself. Raises
    ``InputError`` where the manifest of a corpus cannot be read.
    """
    from corpus.suite import JOURNAL, TESTS, is_corpus, read_manifest

    with suppress(OSError):  # nothing in it can be seen, which reading it reports
        if is_corpus(folder) and not (inside and not any((folder / name).exists() for name in (TESTS, JOURNAL))):
            return family_in(read_manifest(folder))
        if (folder / INDEX).is_file():
            return MEMORY
    return None


def _family_by_content(path: Path) -> str:
    """Return the family of a file by its first word. Raises ``InputError`` where it is no test."""
    from corpus.dialects.registry import dialect_of
    from corpus.litmus.text import language

    try:
        text = read_text(path)
    except InputError:
        if _foreign(path) is None:
            return PROGRESS  # reading the file reports why
        text = ""
    with suppress(InputError):
        if language(text) == "THREAD":
            return PROGRESS
        dialect_of(text)
        return MEMORY
    found = _foreign(path) or "neither"
    raise InputError(f"expected a litmus test (.litmus) or a progress test (.axb), found {found}", str(path))


def _foreign(path: Path) -> str | None:
    """Return what a file is by the end of its name, where that is no test; None where it does not say."""
    if form := certain_format_of(path):
        return f"{form.noun}, which synth check reads"
    return _CPP if format_of(path) else _FOREIGN.get(path.suffix)


def expand(paths: Sequence[str]) -> list[Input]:
    """Return the tests of each path in turn.

    A path is a file; a corpus; an index; or a folder, which stands for its index ``@all`` where it has one, and else
    for its ``.litmus`` files, sorted by name, and then for the folders in it, each of which may be a corpus or have an
    index itself; for ``.axb`` files where there are no litmus tests. What is hidden or a symbolic link is no part of a
    folder. A line on standard error says what else there is in it. An index is a file whose name begins with ``@``.
    Each of its lines is a path relative to the index, which may be an index itself; text after ``#`` is a comment.
    Raises ``InputError`` where a path names nothing, a corpus or an index cannot be read, an index names itself, or a
    folder holds no test.
    """
    for path in paths:
        try:
            os.stat(path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise InputError(f"cannot read: {error.strerror}", path) from None
        except (OSError, ValueError):
            pass  # reading the file reports why
    lines = count(1)
    return [found for path in paths for found in _inputs(Path(path), path, (), lines)]


def check_one_file_each(written: Iterable[tuple[str, Input]]) -> None:
    """Raise ``InputError`` where two inputs would be written into files of one name."""
    names: dict[str, Input] = {}
    for name, given in written:
        other = names.setdefault(name, given)
        if other is not given:
            raise InputError(f"{other} and {given} would be one file, {name}")


def readable(inputs: Sequence[Input], read: Callable[[Input], Read]) -> tuple[dict[Input, Read], list[InputError]]:
    """Read inputs, each once, and return what could be read of them and the errors of the others.

    Raises the first of these errors, an ``InputError``, where none could be read.
    """
    found: dict[Input, Read] = {}
    wrong = []
    for given in dict.fromkeys(inputs):
        try:
            found[given] = read(given)
        except InputError as error:
            wrong.append(error)
    if wrong and not found:
        raise wrong[0]
    return found, wrong


def read_all(inputs: Sequence[Input], read: Callable[[Input], Read]) -> tuple[dict[Input, Read], bool]:
    """Return what ``readable`` returns, but print a line for each input that cannot be read; say whether all can."""
    found, wrong = readable(inputs, read)
    for error in wrong:
        remark(str(error))
    return found, not wrong


def _inputs(path: Path, given: str, around: tuple[Path, ...], lines: Iterator[int]) -> list[Input]:
    """Yield the tests of a path; ``around`` are the indexes that name it, ``lines`` counts the lines of indexes."""
    if os.path.isdir(path):
        if _suite_family(path) is not None:
            return _of_suite(path, around, lines)
        below = _tests_below(path)
        below.left_out.tell([path])
        found = []
        for below_path in below.paths:
            if os.path.isdir(below_path) and _suite_family(below_path, inside=True) is not None:
                found += [
                    replace(test, label=str(below_path / test.label)) if test.record else test
                    for test in _of_suite(below_path, around, lines)
                ]
            else:
                found.append(Input(str(below_path), below_path.stem, below_path))
        return found
    if not path.name.startswith("@"):
        return [Input(given, path.stem, path)]
    if path.resolve() in around:
        raise InputError("the index names itself", str(path))
    found = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        name = line.partition("#")[0].strip()
        if not name.isprintable():
            raise InputError(f"expected the name of a file, found {name[:20]!r}", str(path), number, 1)
        if name:
            if next(lines) > MOST_LINES:  # indexes that name each other twice double at each step
                raise InputError(f"more than {MOST_LINES:,} lines in indexes", str(path), number, 1)
            found += _inputs(path.parent / name, str(path.parent / name), (*around, path.resolve()), lines)
    return found


def _of_suite(folder: Path, around: tuple[Path, ...], lines: Iterator[int]) -> list[Input]:
    """Return the tests of a corpus, or of a folder with an index."""
    from corpus.suite import is_corpus

    if is_corpus(folder):
        from corpus.journal import read_corpus

        return [Input(test.name, test.name, folder, test) for test in read_corpus(folder).tests]
    return _inputs(folder / INDEX, str(folder / INDEX), around, lines)


class _TestsBelow(NamedTuple):
    """The tests in a folder that is no corpus and has no index, and in the folders in it.

    ``paths`` are files, corpora, folders with an index, and folders that cannot be listed, which reading them reports.
    """

    family: str
    paths: Sequence[Path]
    left_out: LeftOut


def _tests_below(folder: Path) -> _TestsBelow:
    """Return the litmus tests in a folder, or else the progress tests. Raises ``InputError`` where there are none."""
    found: list[tuple[str | None, Path]] = []
    left_out = LeftOut()
    for entry in files_below(folder, lambda inner: _suite_family(inner, inside=True) is not None):
        if entry.folder:
            found.append((_suite_family(entry.path, inside=True), entry.path))
        elif entry.path.suffix in _SUFFIXES and not entry.link:
            found.append((_SUFFIXES[entry.path.suffix], entry.path))
        else:
            left_out.add(entry)
    families = {family for family, _ in found}
    if not families & {MEMORY, PROGRESS}:
        wanted = f"the folder is no corpus and holds no .axb file, no .litmus file and no index {INDEX}"
        raise InputError("; ".join(filter(None, (f"{wanted}, nor does a folder in it", str(left_out)))), str(folder))
    family = MEMORY if MEMORY in families else PROGRESS
    if others := sum(kind not in (family, None) for kind, _ in found):
        left_out.count("progress tests", others)
    return _TestsBelow(family, [path for kind, path in found if kind in (family, None)], left_out)


_SUFFIXES = {".litmus": MEMORY, ".axb": PROGRESS}
"""The families of the files in a folder that are tests."""
