"""Small kernels in CUDA C++, HIP, OpenCL C, GLSL and WGSL, which several readers have to agree about: one method beside
the other, and both beside answers that were worked out by hand (tests/kernels_alike/kernels.csv).
"""

import alike
import pytest
from absent import absent

from backends.opencl import llvm

NEEDED = {"OpenCL C": "opencl", "GLSL": "glsl", "WGSL": "wgsl", "HIP": "hip"}
PAIRS = [(language, row) for language in alike.FILES for row in alike.TABLE if alike.has(language, row["kernel"])]

WITHOUT = {
    "vector_components": "vectors of a buffer are a type of its own in GLSL and WGSL",
    "mp_release_acquire": "atomics of WGSL are relaxed",
    "lock": "atomics of WGSL are relaxed",
    "barrier_divergent": "WGSL wants barriers in uniform control flow, and its compilers refuse others",
    "wide": "WGSL has no numbers of 64 bits",
    "narrow": "WGSL has no numbers of 8 and 16 bits",
}
"""Kernels that not all languages have, and why."""


@pytest.fixture
def compiled(to_spirv, need):
    """``compiled(language)`` skips a test where a language has no compiler here."""
    return lambda language: to_spirv(NEEDED[language]) if language in NEEDED else need("cuda")


def name(value):
    return value["kernel"] if isinstance(value, dict) else value.replace(" ", "-")


@pytest.mark.device
@pytest.mark.parametrize(("language", "row"), PAIRS, ids=name)
def test_languages_agree(language, row, compiled):
    compiled(language)
    task = alike.task(language, row)
    kinds, unknown = alike.answers(task)
    assert kinds == ({row["found"]} if row["found"] else set())
    assert not unknown or row["found"]
    if row["states"]:
        wanted = alike.expected_states(row)
        assert alike.only(alike.states(task, alike.model("sc").model), wanted) == wanted


@pytest.mark.device
@pytest.mark.parametrize("row", [row for row in alike.TABLE if alike.has("OpenCL C", row["kernel"])], ids=name)
def test_kernels_of_opencl_agree_as_llvm(row, monkeypatch):
    """Without a translator to SPIR-V, clang's LLVM is read, and says the same."""
    if lacking := llvm.missing():
        absent(f"OpenCL C needs {lacking}: {llvm.NEEDED}")
    monkeypatch.setattr("backends.opencl.spirv.tools", lambda: None)
    test_languages_agree("OpenCL C", row, lambda language: None)


@pytest.mark.parametrize("row", alike.TABLE, ids=name)
def test_a_kernel_is_in_all_languages_or_has_a_reason(row):
    assert all(alike.has(language, row["kernel"]) for language in alike.FILES) is (row["kernel"] not in WITHOUT)


def test_there_are_forty_kernels():
    assert len(alike.TABLE) >= 40
    assert sum(bool(row["found"]) for row in alike.TABLE) >= 5
