"""Says how a C litmus test is laid out where it is compiled, so that its assembly can be read back.

    void P0(unsigned *memory, unsigned *results)     each thread is a function of two pointers

Location number n is the word ``n * APART`` of ``memory``. Where term number n of the condition is a register, it is the
word ``n * APART`` of ``results``. They are so far apart that compilers do not join accesses to several of them. A
function stores the registers of its own thread last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from corpus.errors import InputError
from corpus.litmus.locations import Loc, element_of
from corpus.litmus.normal import terms
from corpus.litmus.propositions import FinalRegister, Term
from corpus.litmus.test import LitmusTest

APART = 64
"""Words from one location to the next."""
MEMORY, RESULTS = "memory", "results"
"""The names of the two arrays."""
WORD = 4
"""Bytes of a word."""


_NAME = re.compile(r"(memory|results)\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class CompiledNames:
    """The location or register at each byte of ``memory`` and of ``results``, by its distance from their beginning."""

    locations: Mapping[int, str]
    results: Mapping[int, FinalRegister]

    @classmethod
    def of(cls, names: Mapping[str, Term]) -> CompiledNames:
        """Return the names that are words of the two arrays, ``memory[64]``."""
        locations: dict[int, str] = {}
        results: dict[int, FinalRegister] = {}
        for name, term in names.items():
            found = _NAME.fullmatch(name)
            if found and found[1] == MEMORY and isinstance(term, Loc):
                locations[int(found[2]) * WORD] = term.name
            elif found and found[1] == RESULTS and isinstance(term, FinalRegister):
                results[int(found[2]) * WORD] = term
        return cls(locations, results)


def names_of(test: LitmusTest) -> dict[str, Term]:
    """Return what lies in the words of the two arrays. Raises ``InputError`` for an element of an array, which has no
    such place.
    """
    for location in test.locations:
        if element_of(location.name)[1]:
            raise InputError(f"{location.name}: arrays are not compiled here")
    found: dict[str, Term] = {
        f"{MEMORY}[{number * APART}]": Loc(location.name) for number, location in enumerate(test.locations)
    }
    observed = dict.fromkeys(term for term in terms(test.condition) if not isinstance(term, int))
    for number, term in enumerate(observed):
        if isinstance(term, FinalRegister):
            found[f"{RESULTS}[{number * APART}]"] = term
    return found


def function_name(thread: int, prefix: str = "") -> str:
    """Return the name of the function of a thread; the prefix tells tests apart that are compiled together."""
    return f"{prefix}P{thread}"
