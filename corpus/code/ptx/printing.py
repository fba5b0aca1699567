"""What ``vprintf`` reads: a format, and the strings that it is given; numbers are in memory of the thread's own.

A string is one of the source, which nothing writes. What other memory may hold, others may write meanwhile: where the
string ends, and whether its bytes race, is not followed, and refused (CUDA C++ Programming Guide, Formatted Output).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from corpus.code import ir
from corpus.code.evaluation import evaluate
from corpus.code.memory import loaded
from corpus.code.thread import FollowedThread, State
from corpus.code.values import ArrayAddress, Unknown, Value
from corpus.litmus.orders import PLAIN

_CONVERSION = re.compile(r"%[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?(h|ll|l|)(.?)", re.DOTALL)

_LONG = "sp" + "eEfgGaA"
"""The conversions of what has eight bytes."""

_LITERAL = re.compile(r"\$str(?:\$\d+)?\Z")
"""The arrays in global memory that nvcc makes of strings in the source."""


def print_formatted(thread: FollowedThread, state: State, arguments: Sequence[ir.Operand]) -> Value:
    """Return what ``vprintf`` gives, which nothing tells: how many numbers there are, or that it failed. Raises
    ``NotUnderstoodError`` where it reads a string that is none of the source.
    """
    format_, given = (_pointer(thread, state, argument) for argument in arguments)
    text = _string(thread, format_)
    if text is None:
        raise thread.out.wrong("of vprintf with a format that is no string of the source is not understood")
    for offset in _strings(text):
        place = ArrayAddress(given.array, given.offset + offset) if isinstance(given, ArrayAddress) else None
        if place is None or _string(thread, loaded(thread, state, place, 8, "u64", PLAIN)) is None:
            raise thread.out.wrong("of vprintf with a string (%s) that is none of the source is not understood")
    return Unknown("what printf returns")


def _pointer(thread: FollowedThread, state: State, argument: ir.Operand) -> Value | None:
    value = evaluate(thread, state, argument)
    return loaded(thread, state, value, 8, "u64", PLAIN) if isinstance(argument, ir.SymbolRef) else value


def _string(thread: FollowedThread, value: Value | None) -> str | None:
    """Return the string that begins at an address; None where it is none of the source."""
    if not isinstance(value, ArrayAddress) or value.array.space != "global" or not _LITERAL.match(value.array.name):
        return None
    text = thread.module.variables[value.array.name].initial[value.offset :]
    return text.partition(b"\0")[0].decode("latin-1")


def _strings(text: str) -> Iterator[int]:
    """Yield where the addresses of strings are among what a format is given."""
    offset = 0
    for width, precision, size, kind in _CONVERSION.findall(text):
        if kind == "%":
            continue
        offset += 4 * (width, precision).count("*")
        bytes_ = 8 if kind in _LONG or size in ("l", "ll") else 4
        offset += -offset % bytes_
        if kind == "s":
            yield offset
        offset += bytes_
