"""Spells the shapes, states and programs in certificates of progress suites. Each is on one line
(``corpus.certificates``).

What makes a certificate valid is for ``oracle.certificates``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from corpus.certificates import sizes_word
from corpus.progress.axb import Instruction, Program

State = tuple[tuple[int, ...], tuple[int, ...]]
"""A state of a program: its memory, and the program counter of each thread."""


def head(lengths: Sequence[int], locations: int, values: int) -> str:
    """Return the first line of the file of a shape."""
    return f"c shape {sizes_word(lengths)} locations {locations} values {values}"


def numbers_word(numbers: Sequence[int]) -> str:
    """Return the word for a memory, or for program counters: its numbers, joined by dots, as ``0.1``."""
    return ".".join(map(str, numbers))


def state_word(state: State) -> str:
    """Return the word for a state, its memory and its program counters, as ``0.1/0.2``."""
    memory, counters = state
    return f"{numbers_word(memory)}/{numbers_word(counters)}"


def read_state(word: str) -> State:
    """Return the state that a word stands for. Raises ``ValueError`` where it is none."""
    memory, _, counters = word.partition("/")
    return tuple(map(_number, memory.split("."))), tuple(map(_number, counters.split(".")))


def program_word(program: Program) -> str:
    """Return a program on one line: location, check, jump and exchanged value (-1: none) of each instruction,
    ``0,1,0,-1``. There is a space between instructions, `` | `` between threads.
    """
    threads = (
        " ".join(f"{i.location},{i.check},{i.jump},{-1 if i.exchange is None else i.exchange}" for i in thread)
        for thread in program.threads
    )
    return " | ".join(threads)


def read_program(word: str) -> Program:
    """Return the program that a word stands for. Raises ``ValueError`` where it is none."""
    return Program(tuple(tuple(map(_instruction, thread.split(" "))) for thread in word.split(" | ")))


def case_word(case: Iterable[tuple[int, int, int]]) -> str:
    """Return the word for the jumps that a case fixes: thread, instruction and jump of each, ``1.0.2 1.1.0``."""
    return " ".join(map(numbers_word, case))


def read_case(word: str) -> list[tuple[int, int, int]]:
    """Return the case that a word stands for. Raises ``ValueError`` where it is none."""
    found = []
    for ins in word.split(" ") if word else ():
        t, i, jump = map(_number, ins.split("."))
        found.append((t, i, jump))
    return found


def _instruction(word: str) -> Instruction:
    location, check, jump, exchange = word.split(",")
    return Instruction(
        _number(location), _number(check), _number(jump), None if exchange == "-1" else _number(exchange)
    )


def _number(word: str) -> int:
    """A number as it is written: without a sign, or zeros before it."""
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"not a number: {word}")
    return int(word)


_NUMBER = re.compile("0|[1-9][0-9]{0,8}")
