"""Tests whose threads are known from others, read by column or by function, held against the same read whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from mutants import mutants

from corpus.dialects.c_like import code as c_like
from corpus.dialects.dartagnan import columns as dartagnan
from corpus.dialects.gpu_ptx import reader as gpu_ptx
from corpus.dialects.lisa import dialect as lisa
from corpus.dialects.registry import DIALECTS, parse_litmus
from corpus.errors import InputError

ROOT = Path(__file__).parents[2]
LITMUS = sorted(ROOT.glob("examples/memory/**/*.litmus"))

BODIES = (
    "",
    "P0;",
    " ;",
    "ScopeTree(warp T0)",
    "T0; ScopeTree(warp T0) x: global;",
    "P0 () {} P0 () {}",
    "P0",
    "x P0 () {}",
)


def read(text):
    try:
        return parse_litmus(text, "it")
    except InputError as error:
        return str(error)


def texts(dialect):
    for path in LITMUS:
        try:
            yield DIALECTS[dialect].print(parse_litmus(path.read_text(), str(path)))
        except InputError:
            continue


def refuse(*_):
    raise InputError("it is to be read whole")


def held(dialect, whole):
    """How many of the tests in a dialect are read, and how many of their mutants are not; each as it is whole."""
    originals = list(texts(dialect))[:50]
    words = sorted({word for text in originals for word in text.split()})
    words += ["|", ";", "", "\u2003", "P0 | P0", "{", "P0(", "x P1 ()"]
    choice = random.Random(dialect)
    cases = [*originals, *(f"{originals[0].split()[0]} it {{}}{body}\nexists (true)" for body in BODIES)]
    for number, text in enumerate(originals):
        cases += [mutant.decode(errors="surrogateescape") for mutant in mutants([text.encode()], 4, str(number))]
        for _ in range(4):  # what is nearly right
            parts = text.split(" ")
            parts[choice.randrange(len(parts))] = choice.choice(words)
            cases.append(" ".join(parts))
    found = [read(case) for case in cases]
    again = [read(case) for case in cases]  # all is known by now
    whole()
    expected = [read(case) for case in cases]
    assert found == expected
    assert again == expected
    return len(originals), sum(isinstance(one, str) for one in expected)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("dialect", "reader", "known"),
    [
        ("gpu-ptx", gpu_ptx, "_known_body"),
        ("ptx", dartagnan, "_known_column"),
        ("vulkan", dartagnan, "_known_column"),
        ("lisa", lisa, "_parse_known"),
        ("c", c_like, "known_function"),
        ("opencl", c_like, "known_function"),
    ],
)
def test_what_is_known_is_read_as_what_is_new(monkeypatch, dialect, reader, known):
    read, wrong = held(dialect, lambda: monkeypatch.setattr(reader, known, refuse))
    assert read > 25
    assert wrong > 100


@pytest.mark.parametrize(
    ("body", "place"),
    [(" P0 | P1 ;\n w[] x 1 | w[] y ;", "it:3:18"), (" P0 | P1 ;\n w[] x 1 ;", "it:3:2"), (" P1 | P0 ;", "it:2:")],
)
def test_what_is_wrong_is_told_at_its_place(body, place):
    assert place in read(f"LISA it {{}}\n{body}\nexists (x=1)")
