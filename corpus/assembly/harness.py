"""Says how a C litmus test is laid out where it is compiled, so that its assembly can be read back.

    void P0(unsigned *memory, unsigned *results)     each thread is a function of two pointers

Location number n is the word ``n * APART`` of ``memory``. Where term number n of the condition is a register, it is the
word ``n * APART`` of ``results``. They are so far apart that compilers do not join accesses to several of them. A
function stores the registers of its own thread last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from corpus.errors import InputError
from corpus.litmus.normal import terms
from corpus.litmus.test import FinalRegister, LitmusTest, element_of

APART = 64
"""Words from one location to the next."""
WORD = 4
"""Bytes of a word."""


@dataclass(frozen=True, slots=True)
class CompiledNames:
    """The location or register at each byte of ``memory`` and of ``results``, by its distance from their beginning."""

    locations: Mapping[int, str]
    results: Mapping[int, FinalRegister]


def names_of(test: LitmusTest) -> CompiledNames:
    """Return the names of a test that is compiled. Raises ``InputError`` for an array, which has no such place."""
    for location in test.locations:
        if element_of(location.name)[1]:
            raise InputError(f"{location.name}: arrays are not compiled here")
    asked = list(dict.fromkeys(term for term in terms(test.condition) if not isinstance(term, int)))
    return CompiledNames(
        {number * APART * WORD: location.name for number, location in enumerate(test.locations)},
        {number * APART * WORD: term for number, term in enumerate(asked) if isinstance(term, FinalRegister)},
    )


def function_name(thread: int) -> str:
    """Return the name of the function of a thread."""
    return f"P{thread}"
