"""The tests that a device is tuned by: SB, MP and LB, or a user's own. SB is store buffering, MP message passing, LB
load buffering.

Each of the three is written once, in OpenCL's dialect, with relaxed accesses of the whole device and threads in
work-groups of their own: every language here can say it (Sorensen and Donaldson 2016, section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError, did_you_mean
from corpus.litmus.test import LitmusTest
from synth.inputs import expand


def _store(location: str) -> str:
    return f"atomic_store_explicit({location}, 1, memory_order_relaxed, memory_scope_device);"


def _load(register: str, location: str) -> str:
    return f"int {register} = atomic_load_explicit({location}, memory_order_relaxed, memory_scope_device);"


_SHAPES = {
    "SB": ((_store("x"), _load("r0", "y")), (_store("y"), _load("r0", "x")), "0:r0 = 0 /\\ 1:r0 = 0"),
    "MP": ((_store("x"), _store("y")), (_load("r0", "y"), _load("r1", "x")), "1:r0 = 1 /\\ 1:r1 = 0"),
    "LB": ((_load("r0", "x"), _store("y")), (_load("r0", "y"), _store("x")), "0:r0 = 1 /\\ 1:r0 = 1"),
}
"""The code of both threads, and the weak outcome, of each shape."""

SHAPES = tuple(_SHAPES)


def shape(name: str) -> LitmusTest:
    """Return the litmus test of one of ``SHAPES`` in OpenCL's dialect."""
    *threads, weak = _SHAPES[name]
    parameters = "global atomic_int* x, global atomic_int* y"
    code = "\n".join(
        f"P{number}@wg {number}, dev 0 ({parameters}) {{ {' '.join(lines)} }}" for number, lines in enumerate(threads)
    )
    return parse_litmus(f"OPENCL {name}\n{{ x = 0; y = 0; }}\n{code}\nexists ({weak})\n")


def shapes_of(words: Sequence[str]) -> list[LitmusTest]:
    """Return the tests that words mean: names of shapes, or files.

    Raises ``InputError`` where one cannot be read, or two have one name.
    """
    tests: list[LitmusTest] = []
    for word in words:
        if word.upper() in _SHAPES:
            tests.append(shape(word.upper()))
        elif word.isalnum() and (hint := did_you_mean(word.upper(), SHAPES)):
            raise InputError(f"--shapes: there is no shape {word}; {hint}")
        else:
            tests += [given.litmus() for given in expand([word])]
    names = [test.name for test in tests]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"--shapes: two tests are called {name}")
    return tests
