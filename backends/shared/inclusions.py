"""Finds the files that a file in C's family includes, before a compiler does: CUDA C++, OpenCL C and GLSL.

A compiler opens whatever ``#include`` names: a pipe, on which it waits for ever, or a file of secrets, of which its
complaints quote words. So it is handed copies. A name that is a file of the user is replaced by the name of its copy; a
name that is none is left to the compiler, which has the headers of its library and an empty folder.

The directives are found by what *may* be one: line ends behind backslashes, comments, digraphs and trigraphs are looked
through (ISO C++17, 5.2 and 19), and what only looks like a directive, in a comment or a raw string, counts as one. So a
directive is found whatever the lexer of a compiler takes for a comment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus.errors import InputError
from corpus.files import LARGEST_TEXT, is_within, read_bytes

MOST_FILES = 2000
"""Files of the user that one file may include, with those that they include."""

_SPLICE = rb"(?>(?:(?:\\|\?\?/)[ \t\v\f\0]*(?:\r\n|\n|\r))*)"
"""Line ends that do not end a line."""


def _spaced(text: str) -> bytes:
    """The expression of a word whose letters line ends may stand between."""
    return _SPLICE.join(re.escape(letter).encode() for letter in text)


_COMMENT = rb"(?>" + _spaced("/*") + rb".*?" + _spaced("*/") + rb")"
_SPACE = rb"[ \t\v\f\0\r]"
_GAP = rb"(?>(?:" + _SPACE + rb"|(?:\\|\?\?/)[ \t\v\f\0]*(?:\r\n|\n|\r)|" + _COMMENT + rb")*)"
_HASH = b"|".join(map(_spaced, ("#", "%:", "??=")))
_HAS = b"|".join(map(_spaced, ("__has_include_next", "__has_include", "__has_embed")))
_WORDS = b"|".join(map(_spaced, ("include_next", "__include_macros", "include", "import", "embed")))
_NAME = rb'(?:"(?P<quoted>[^"\n\r]*)"|<(?P<angled>[^>\n\r]*)>)?'
_START = re.compile(rb"(?P<hash>" + _HASH + rb")|(?P<has>" + _HAS + rb")")
_DIRECTIVE = re.compile(
    rb"(?:" + _HASH + rb")" + _GAP + rb"(?P<word>" + _WORDS + rb")" + _SPLICE + rb"(?![\w$])" + _GAP + _NAME, re.DOTALL
)
_HAS_FILE = re.compile(rb"(?:" + _HAS + rb")" + _SPLICE + rb"(?![\w$])" + _GAP + rb"\(" + _GAP + _NAME, re.DOTALL)
_BEFORE = re.compile(rb"(?:\xef\xbb\xbf)?(?:.*\*" + _SPLICE + rb"/)?" + _GAP, re.DOTALL)
"""What may be before a directive on its line: nothing but space and comments, of which the first may begin above."""
_JOINED = re.compile(rb"(?:\\|\?\?/)[ \t\v\f\0]*\r?\Z")
_DEPENDENCY = re.compile(rb"\bGCC" + _GAP + rb"dependency\b", re.DOTALL)
"""The pragma that opens a file to look at its date (GCC, Preprocessor Pragmas)."""
_JOIN = re.compile(rb"(?:\\|\?\?/)[ \t\v\f\0]*(?:\r\n|\n|\r)")
_MACRO = re.compile(rb"define" + _GAP + rb"(?P<name>\w+)(?P<text>[^\n\r]*)", re.DOTALL)
"""What may define a macro, where lines are joined."""


@dataclass(frozen=True, slots=True)
class FileCopy:
    """A copy of a file of the user: the name of the copy, the path of the file, and what is in it."""

    name: str
    path: Path
    data: bytes


def copies(file: Path, folders: Sequence[Path], others: Sequence[Path] = ()) -> list[FileCopy]:
    """Return the copies of a file, of ``others`` that a command line names, and of all that these include.

    Files are looked for beside the file that includes them, and in ``folders``. Raises ``InputError`` where one is
    included that is no ordinary file, lies elsewhere, or is named in another way than by its name.
    """
    return _Gathering(file, folders).gathered([file, *others])


class _Gathering:
    """The files that are copied, in the order in which they are found."""

    def __init__(self, file: Path, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._roots = [file.parent, *folders]
        self._numbers: dict[str, int] = {}
        self._paths: list[Path] = []
        self._named_by_macros: list[tuple[Path, bytes, int]] = []

    def gathered(self, files: Sequence[Path]) -> list[FileCopy]:
        for file in files:
            self._number(file)
        found, total = list[FileCopy](), 0
        while len(found) < len(self._paths):
            path = self._paths[len(found)]
            data = read_bytes(path)
            total += len(data)
            if len(self._paths) > MOST_FILES or total > LARGEST_TEXT:
                wanted = f"expected to include at most {MOST_FILES} files, of {LARGEST_TEXT} bytes in all"
                raise InputError(wanted, str(files[0]))
            found.append(FileCopy(copy_name(len(found), path), path, b"".join(self._rewritten(path, data))))
        if self._named_by_macros:
            self._check_macros(found)
        return found

    def _is_of_a_library(self, path: Path) -> bool:
        """Decide whether a file is of a folder of ``-I`` that does not have the file which includes it."""
        return any(is_within(path, folder) and not is_within(self._paths[0], folder) for folder in self._folders)

    def _check_macros(self, every: Sequence[FileCopy]) -> None:
        """Raise ``InputError`` where a file that is of no library may say what a library's directive includes.

        Example: CUTLASS has ``#include CUDA_STD_HEADER(cassert)``, whose macro it defines as ``<cassert>``.
        """
        ours, theirs = set[bytes](), dict[bytes, set[bytes]]()
        for copy in every:
            macros = list(_MACRO.finditer(_JOIN.sub(b"", copy.data)))
            for match in macros:
                theirs.setdefault(match["name"], set()).update(re.findall(rb"\w+", match["text"]))
            if not self._is_of_a_library(copy.path):
                ours.update(match["name"] for match in macros)
        for path, data, start in self._named_by_macros:
            seen, todo = set[bytes](), set(re.findall(rb"\w+", _JOIN.sub(b"", data[start:]).splitlines()[0]))
            while todo:
                seen |= todo
                todo = {word for name in todo for word in theirs.get(name, ())} - seen
            if seen & ours:
                raise _refused(path, data, start, "expected an included file's name in quotes or angle brackets")

    def _number(self, path: Path) -> int:
        real = os.path.realpath(path)
        if real not in self._numbers:
            self._numbers[real] = len(self._paths)
            self._paths.append(path)
        return self._numbers[real]

    def _rewritten(self, path: Path, data: bytes) -> Iterator[bytes]:
        """Yield the data with the names of copies in place of those of files."""
        if match := _DEPENDENCY.search(data):
            raise _refused(path, data, match.start(), "the pragma GCC dependency is not understood")
        done = 0
        for match in _inclusions(data):
            group = "angled" if match["quoted"] is None else "quoted"
            name = match[group]
            if name is None and self._is_of_a_library(path):
                self._named_by_macros.append((path, data, match.start()))
                continue
            if name is None:
                raise _refused(
                    path, data, match.start(), "expected an included file's name in quotes or angle brackets"
                )
            begin, end = match.start(group) - 1, match.end(group) + 1
            following = b"next" in re.sub(rb"[^a-z_]", b"", match[0][: match.start(group) - match.start()])
            found = None if following else self._found(path, data, begin, name, group == "quoted")
            if found is not None and begin >= done:
                yield data[done:begin]
                yield f'"{copy_name(self._number(found), found)}"'.encode()
                done = end
        yield data[done:]

    def _found(self, path: Path, data: bytes, start: int, name: bytes, beside: bool) -> Path | None:
        """Return the file of the user that a name is; None where it is left to the compiler."""
        text = os.fsdecode(name)
        folders = [*([path.parent] if beside else ()), *self._folders]
        for folder in folders:
            candidate = Path(folder, text)
            if not text or "\0" in text or not os.path.lexists(candidate) or candidate.is_dir():
                continue
            if not any(is_within(candidate, root) for root in self._roots):
                break
            try:
                read_bytes(candidate)
            except InputError as error:
                raise _refused(path, data, start, f"includes '{text}': {error.message}") from None
            return candidate
        else:
            if text and not text.startswith(("/", "~")) and ".." not in re.split(r"[/\\]", text):
                return None
        raise _refused(path, data, start, f"includes '{text}', which is in neither the file's folder nor one of -I")


def _inclusions(data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield all that may be a directive to include, or may ask whether a file is there."""
    for start in _START.finditer(data):
        match = (_HAS_FILE if start["has"] else _DIRECTIVE).match(data, start.start())
        if match is not None and (start["has"] or _may_begin(data, start.start())):
            yield match


def _may_begin(data: bytes, start: int) -> bool:
    """Decide whether a directive may begin here: on its line, or on that with those joined to it, nothing is before."""
    line = max(data.rfind(b"\n", 0, start), data.rfind(b"\r", 0, start)) + 1
    if _BEFORE.fullmatch(data, line, start):
        return True
    while line and _JOINED.search(data, max(0, line - 1000), line - 1):
        line = max(data.rfind(b"\n", 0, line - 1), data.rfind(b"\r", 0, line - 1)) + 1
    return bool(_BEFORE.fullmatch(data, line, start))


def copy_name(number: int, path: Path) -> str:
    """Return the name of a copy: of our own making, but for how it ends, which says the language."""
    suffix = path.suffix if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", path.suffix) else ""
    return f"synth-{number}{suffix}"


def _refused(path: Path, data: bytes, start: int, why: str) -> InputError:
    before = data[:start]
    return InputError(why, str(path), before.count(b"\n") + 1, start - (before.rfind(b"\n") + 1) + 1)


FOLDERS = ("-isystem", "-iquote", "-idirafter", "--include-path", "--system-include", "-I")
FILES = ("--pre-include", "-imacros", "-include")
"""The options of compilers that name folders of headers, and files that are included before a file's first line (GCC,
Preprocessor Options; nvcc, Command Option Types)."""


@dataclass(frozen=True, slots=True)
class IncludingOptions:
    """The options of a user: ``words`` for the compiler, in which each of ``files`` is a number in ``places``."""

    words: tuple[str, ...]
    folders: tuple[Path, ...]
    files: tuple[Path, ...]
    places: Mapping[int, int]

    def handed(self, files: Sequence[FileCopy]) -> list[str]:
        """Return the words with the names of copies, of which that of the file itself is the first."""
        numbers = {os.path.realpath(copy.path): copy.name for copy in files}
        return [
            numbers[os.path.realpath(self.files[self.places[place]])] if place in self.places else word
            for place, word in enumerate(self.words)
        ]


def including(options: Sequence[str]) -> IncludingOptions:
    """Return what options of a compiler say of headers apart from its other words."""
    words, folders, files, places = list[str](), list[Path](), list[Path](), dict[int, int]()
    rest = iter(options)
    for word in rest:
        option = next(
            (option for option in (*FOLDERS, *FILES) if word == option or word.startswith(f"{option}=")), None
        )
        option = option or ("-I" if word.startswith("-I") else None)
        if option is None:
            words.append(word)
            continue
        value = word.removeprefix(option).removeprefix("=") or next(rest, "")
        if option in FOLDERS:
            folders.append(Path(value))
            continue
        places[len(words) + 1] = len(files)
        files.append(Path(value))
        words += [option, value]
    return IncludingOptions(tuple(words), tuple(folders), tuple(files), places)
