"""Reads and writes certificates, which prove that a search has missed no test. A certificate is formulas in DIMACS CNF
and proofs in LRAT, formats that solvers read.

``CORPUS/certificate`` has, for each shape of what was sought (lengths of threads, ``1.3``; the length of a cycle,
``4``) and each unit of it, compressed:

    1.3.cnf.gz      the formula of the shape: what each variable means, in comments, and its clauses
    1.3-0.cnf.gz    the head of the unit's CNF, and its own clauses: what is blocked, and the like, each group after a
                    comment that says where it comes from
    1.3-0.lrat.gz   a proof in LRAT (Cruz-Filipe et al., "Efficient Certified RAT Verification", CADE 2017) that the
                    unit's CNF has no model; its clauses are numbered from 1, the unit's own before those of the shape

The unit's CNF is the second file and after it the first (docs/certificates.md). What is in files is read as a
stream, line by line: it has ten times their size.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from corpus.errors import InputError
from corpus.files import open_bytes
from corpus.private import temporary_name

FOLDER = "certificate"

LARGEST = 2**32
"""The number of bytes that a file of a certificate may have when it is no longer compressed."""

MOST_TIMES, SMALL = 200, 2**20
"""A file has at most so many times its compressed bytes, and these bytes besides; what we write has forty times as
many.
"""

LONGEST = 2**24
"""The number of bytes that a line of a file may have."""

LARGEST_PACKED = 2**28
"""The number of bytes that a compressed file may have."""

_BLOCK = 2**16


def sizes_word(sizes: Sequence[int]) -> str:
    """Return a shape's word in file names, the lengths of its threads: ``1.3``."""
    return ".".join(map(str, sizes))


def formula_file(shape: str) -> str:
    """Return the name of the file that holds the formula of a shape."""
    return f"{shape}.cnf.gz"


def unit_files(shape: str, number: int) -> tuple[str, str]:
    """Return the names of the two files of a unit: its clauses and its proof."""
    return f"{shape}-{number}.cnf.gz", f"{shape}-{number}.lrat.gz"


def remove_certificate(corpus: Path) -> None:
    """Remove the files of a certificate from a corpus, and their folder unless it holds a file of another origin."""
    folder = corpus / FOLDER
    if folder.is_symlink():
        return
    for suffix in (".cnf.gz", ".lrat.gz"):
        for file in (*folder.glob(f"*{suffix}"), *folder.glob(temporary_name(f"*{suffix}", "*"))):
            file.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def packed(lines: Iterable[str]) -> Iterator[bytes]:
    """Compress lines into a file, piece by piece; equal lines give equal bytes."""
    deflate = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    waiting: list[str] = []
    size = 0
    for line in chain(lines, [None]):
        if line is not None:
            waiting.append(line)
            size += len(line) + 1
        if size >= _BLOCK or (line is None and waiting):
            if piece := deflate.compress("\n".join([*waiting, ""]).encode("ascii")):
                yield piece
            waiting, size = [], 0
    yield deflate.flush()


@dataclass(frozen=True, slots=True)
class Packed:
    """A compressed file of a certificate. It is read where it is sent to a checker, or where its lines are
    asked for.
    """

    path: str

    def __reduce__(self) -> tuple[object, ...]:
        return _Read, (self.path, *self._read())

    def lines(self) -> Iterator[str]:
        """Return the lines in the file. Raises ``InputError`` where it is missing, damaged, cut off or too large."""
        return _lines(self.path, *self._read())

    def _read(self) -> tuple[bytes, str]:
        """Return the compressed bytes of the file, and the reason where they cannot be read."""
        try:
            with open_bytes(Path(self.path)) as file:
                data = file.read(LARGEST_PACKED + 1)
        except InputError as error:
            return b"", error.message
        except OSError as error:
            return b"", f"cannot read: {error.strerror}"
        if len(data) > LARGEST_PACKED:
            return b"", f"cannot read: larger than {LARGEST_PACKED} bytes"
        return data, ""


@dataclass(frozen=True, slots=True)
class _Read(Packed):
    """The content of a certificate file that was sent to a worker."""

    data: bytes
    wrong: str

    def _read(self) -> tuple[bytes, str]:
        return self.data, self.wrong


def _lines(path: str, data: bytes, wrong: str) -> Iterator[str]:
    if wrong:
        raise InputError(wrong, path)
    most = min(LARGEST, SMALL + MOST_TIMES * len(data))
    size, rest = 0, b""
    for piece in _pieces(path, data):
        size += len(piece)
        if size > most:
            raise InputError(f"damaged: it has more than {most} bytes when it is uncompressed", path)
        *whole, rest = (rest + piece).split(b"\n")
        if len(rest) > LONGEST:
            raise InputError(f"damaged: a line has more than {LONGEST} bytes", path)
        for line in whole:
            yield _text(path, line)
    if rest:
        raise InputError("damaged: the last line is cut off", path)


def _pieces(path: str, data: bytes) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    size = 0
    try:
        while not inflate.eof:
            block = inflate.unconsumed_tail
            if not block:
                block = data[size : size + _BLOCK]
                size += len(block)
            piece = inflate.decompress(block, 16 * _BLOCK)
            if not (block or piece or inflate.eof):
                raise EOFError
            yield piece
        if inflate.unused_data or size < len(data):
            raise EOFError
    except (EOFError, zlib.error):
        raise InputError("damaged: it cannot be uncompressed", path) from None


def _text(path: str, line: bytes) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError:
        raise InputError("damaged: not ASCII text", path) from None
