"""Certificates of progress suites as files: that nothing is left of what was asked, in formats that solvers read.

``CORPUS/certificate`` has, for each shape (lengths of the threads) and each unit of it (a case of a split), compressed:

    1.3.cnf.gz      the formula of the shape: what each variable means, in comments, and its clauses
    1.3-0.cnf.gz    the head of the unit's CNF, and its own clauses: the case, the tests that are blocked, refinements,
                    each after a comment that says where it comes from
    1.3-0.lrat.gz   a proof in LRAT (Cruz-Filipe et al., "Efficient Certified RAT Verification", CADE 2017) that the
                    unit's CNF has no model; its clauses are numbered from 1, the unit's own before those of the shape

The unit's CNF is the second file and after it the first (docs/certificates.md). This module spells and reads the words
of comments and the files; what makes a certificate valid is for ``oracle.certificates``.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from corpus.errors import InputError
from corpus.files import open_bytes
from corpus.progress.axb import Instruction, Program

FOLDER = "certificate"

LARGEST = 2**30
"""Bytes that a file may have when it is no longer compressed."""

State = tuple[tuple[int, ...], tuple[int, ...]]
"""A memory, and a program counter a thread."""


def shape_word(lengths: Sequence[int]) -> str:
    """Lengths of threads, as in the names of files: ``1.3``."""
    return ".".join(map(str, lengths))


def formula_file(lengths: Sequence[int]) -> str:
    """The name of the file of a shape."""
    return f"{shape_word(lengths)}.cnf.gz"


def unit_files(lengths: Sequence[int], cube: int) -> tuple[str, str]:
    """The names of the files of a unit: its clauses and its proof."""
    return f"{shape_word(lengths)}-{cube}.cnf.gz", f"{shape_word(lengths)}-{cube}.lrat.gz"


def head(lengths: Sequence[int], locations: int, values: int) -> str:
    """The first line of the file of a shape."""
    return f"c shape {shape_word(lengths)} locations {locations} values {values}"


def numbers_word(numbers: Sequence[int]) -> str:
    """A memory, or program counters: ``0.1``."""
    return ".".join(map(str, numbers))


def state_word(state: State) -> str:
    """A state: memory and program counters, ``0.1/0.2``."""
    memory, counters = state
    return f"{numbers_word(memory)}/{numbers_word(counters)}"


def read_state(word: str) -> State:
    """The state that a word stands for. Raises ``ValueError`` where it is none."""
    memory, _, counters = word.partition("/")
    return tuple(map(int, memory.split("."))), tuple(map(int, counters.split(".")))


def program_word(program: Program) -> str:
    """A program on one line: location, check, jump and exchanged value (-1: none) of each instruction, ``0,1,0,-1``;
    a space between instructions, `` | `` between threads."""
    threads = (
        " ".join(f"{i.location},{i.check},{i.jump},{-1 if i.exchange is None else i.exchange}" for i in thread)
        for thread in program.threads
    )
    return " | ".join(threads)


def read_program(word: str) -> Program:
    """The program that a word stands for. Raises ``ValueError`` where it is none."""
    return Program(tuple(tuple(map(_instruction, thread.split(" "))) for thread in word.split(" | ")))


def _instruction(word: str) -> Instruction:
    location, check, jump, exchange = map(int, word.split(","))
    return Instruction(location, check, jump, None if exchange == -1 else exchange)


def packed(lines: Iterable[str]) -> bytes:
    """Lines as a compressed file; equal lines give equal bytes."""
    return gzip.compress("".join(f"{line}\n" for line in lines).encode("ascii"), mtime=0)


def unpacked(path: Path) -> list[str]:
    """The lines of a compressed file. Raises ``InputError`` where it is missing, damaged, cut off or too large."""
    with open_bytes(path) as file:
        try:
            with gzip.GzipFile(fileobj=file) as whole:
                data = whole.read(LARGEST + 1)
            text = data.decode("ascii")
        except (OSError, EOFError, zlib.error):
            raise InputError("damaged: it cannot be uncompressed", str(path)) from None
        except UnicodeDecodeError:
            raise InputError("damaged: not ASCII text", str(path)) from None
    if len(data) > LARGEST:
        raise InputError(f"cannot read: larger than {LARGEST} bytes", str(path))
    return text.splitlines()
