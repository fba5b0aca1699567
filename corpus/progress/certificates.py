"""The words of certificates of progress suites (``corpus.certificates``): shapes, states and programs on one line.

What makes a certificate valid is for ``oracle.certificates``.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.certificates import sizes_word
from corpus.progress.axb import Instruction, Program

State = tuple[tuple[int, ...], tuple[int, ...]]
"""A memory, and a program counter a thread."""


def head(lengths: Sequence[int], locations: int, values: int) -> str:
    """The first line of the file of a shape."""
    return f"c shape {sizes_word(lengths)} locations {locations} values {values}"


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
