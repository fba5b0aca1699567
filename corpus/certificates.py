"""Certificates as files: that nothing is left of what was asked, in formats that solvers read.

``CORPUS/certificate`` has, for each shape of what was sought (lengths of threads, ``1.3``; the length of a cycle,
``4``) and each unit of it, compressed:

    1.3.cnf.gz      the formula of the shape: what each variable means, in comments, and its clauses
    1.3-0.cnf.gz    the head of the unit's CNF, and its own clauses: what is blocked, and the like, each group after a
                    comment that says where it comes from
    1.3-0.lrat.gz   a proof in LRAT (Cruz-Filipe et al., "Efficient Certified RAT Verification", CADE 2017) that the
                    unit's CNF has no model; its clauses are numbered from 1, the unit's own before those of the shape

The unit's CNF is the second file and after it the first (docs/certificates.md). Files are read as streams: a proof may
be larger than the memory that there is.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from corpus.errors import InputError
from corpus.files import open_bytes

FOLDER = "certificate"

LARGEST = 2**32
"""Bytes that a file may have when it is no longer compressed."""

LONGEST = 2**24
"""Bytes that a line of it may have."""

_BLOCK = 2**16


def sizes_word(sizes: Sequence[int]) -> str:
    """Lengths of threads, as in the names of files: ``1.3``."""
    return ".".join(map(str, sizes))


def formula_file(shape: str) -> str:
    """The name of the file of a shape."""
    return f"{shape}.cnf.gz"


def unit_files(shape: str, number: int) -> tuple[str, str]:
    """The names of the files of a unit: its clauses and its proof."""
    return f"{shape}-{number}.cnf.gz", f"{shape}-{number}.lrat.gz"


def packed(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines as a compressed file, piece by piece; equal lines give equal bytes."""
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


def unpacked(path: Path) -> Iterator[str]:
    """The lines of a compressed file. Raises ``InputError`` where it is missing, damaged, cut off or too large."""
    size, rest = 0, b""
    for piece in _pieces(path):
        size += len(piece)
        *whole, rest = (rest + piece).split(b"\n")
        if size > LARGEST or len(rest) > LONGEST:
            raise InputError(f"cannot read: larger than {LARGEST} bytes, or a line than {LONGEST}", str(path))
        for line in whole:
            yield _text(line, path)
    if rest:
        yield _text(rest, path)


def _pieces(path: Path) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    with open_bytes(path) as file:
        try:
            while not inflate.eof:
                data = inflate.unconsumed_tail or file.read(_BLOCK)
                piece = inflate.decompress(data, 16 * _BLOCK)
                if not (data or piece or inflate.eof):
                    raise EOFError
                yield piece
            if inflate.unused_data or file.read(1):
                raise EOFError
        except (OSError, EOFError, zlib.error):
            raise InputError("damaged: it cannot be uncompressed", str(path)) from None


def _text(line: bytes, path: Path) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError:
        raise InputError("damaged: not ASCII text", str(path)) from None
