"""What is said of the kernels of ``examples/kernels`` in GLSL and OpenCL C, as argued from Vulkan's and OpenCL's memory
models (kernels_in_other_languages.csv), beside those in CUDA C++ (``test_kernels``, whose columns these are).

``cuda`` names the kernel in CUDA C++, and ``differs`` says why a verdict is another one than that kernel's. Where a
race is found all else is undefined, which is UNKNOWN, and no other verdict than CUDA's.
"""

import csv
from pathlib import Path

import pytest
from absent import absent
from kernel_verdicts import answers, checked, told

from backends.opencl import llvm
from synth.checking.questions import PROGRESS, QUESTIONS

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "examples" / "kernels"
NEEDED = {".comp": "glsl", ".cl": "opencl"}
"""The back ends whose compilers the languages need, by how the names of their files end."""

with (HERE / "kernels_in_other_languages.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))
with (HERE / "kernels.csv").open(encoding="utf-8", newline="") as _file:
    CUDA = {(f"{row['file']}/{row['kernel']}", row["launch"]): row for row in csv.DictReader(_file)}

SLOW = (
    "deque",
    "deque-unfenced",
    "hash-insert",
    "queue",
    "reduce-no-acquire",
    "reduce-no-release",
    "rw-lock",
    "rw-lock-unfenced",
    "spinlock-cas-block-scope",
    "spinlock-exch-fence-block",
)
"""Files of kernels that take long."""

WITHOUT = {
    "async/": "asynchronous copies and mbarriers are PTX's",
    "barrier-count": "no barrier has a number of threads",
    "barrier-names": "no barrier has a name",
    "cluster": "there are no clusters of work-groups",
    "counter-limit": "there is no trap",
    "libcu/": "a library of CUDA C++",
    "mp-bar-arrive": "nobody arrives at a barrier without waiting",
    "warps/ballot-leader": "no lane says with whom it votes",
    "warps/coalesced": "no word names the lanes that are active together",
    "warps/syncwarp-masks": "a barrier of a subgroup has no mask",
    "warps/tiled-partition": "no barrier is of a part of a subgroup",
}
"""How names of files in CUDA C++ begin whose kernels the other languages have no words for, and why."""

WITHOUT_IN_GLSL = {
    "fill": "a shader has one kernel",
    "mp_plain_flag": "there are no sequentially consistent fences",
    "mp_release_acquire_system": "there is no scope of the system",
    "mp_seq_cst": "there are no sequentially consistent accesses",
    "total": "a shader has one kernel",
}
"""Kernels that GLSL has no words for besides, and why."""


def files_of(suffix, part):
    files = sorted({row["file"] for row in TABLE if row["file"].endswith(suffix)})
    quick = [file for file in files if Path(file).stem not in SLOW]
    return {"few": quick[::3], "quick": quick, "slow": [file for file in files if file not in quick]}[part]


@pytest.mark.device
@pytest.mark.parametrize("suffix", NEEDED)
@pytest.mark.parametrize("part", ["few", *(pytest.param(part, marks=pytest.mark.slow) for part in ("quick", "slow"))])
def test_kernels(suffix, part, to_spirv):
    to_spirv(NEEDED[suffix])
    are_as_the_table_says(suffix, part)


@pytest.mark.device
@pytest.mark.parametrize("part", ["few", *(pytest.param(part, marks=pytest.mark.slow) for part in ("quick", "slow"))])
def test_kernels_of_opencl_as_llvm(part, monkeypatch):
    """Without a translator to SPIR-V, clang's LLVM is read, and says the same."""
    if lacking := llvm.missing():
        absent(f"OpenCL C needs {lacking}: {llvm.NEEDED}")
    monkeypatch.setattr("backends.opencl.spirv.tools", lambda: None)
    are_as_the_table_says(".cl", part)


def are_as_the_table_says(suffix, part):
    paths = {str(KERNELS / file): file for file in files_of(suffix, part)}
    found = {(paths[one["file"]], one["kernel"], one["launch"]): one for one in checked(list(paths))}
    rows = {(row["file"], row["kernel"], row["launch"]): row for row in TABLE}
    expected = {key: told(rows[key]) for key in rows if key[0] in paths.values()}
    assert {key: answers(found[key], expected.get(key, {})) for key in found} == expected


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['file']} {row['kernel']} {row['launch']}")
def test_a_verdict_that_is_not_cudas_has_a_reason(row):
    assert row["why"]
    if row["cuda"]:
        cuda = CUDA[row["cuda"], row["launch"]]
        asked = [name for name in (*QUESTIONS, *PROGRESS) if row[name] != "UNKNOWN"]
        assert any(row[name] != cuda[name] for name in asked) is bool(row["differs"])


@pytest.mark.parametrize("suffix", NEEDED)
def test_each_kernel_of_cuda_is_there_or_has_no_counterpart(suffix):
    wanted = {each for each, _ in CUDA if not each.startswith(tuple(WITHOUT))}
    missing = wanted - {row["cuda"] for row in TABLE if row["file"].endswith(suffix)}
    assert {each.rpartition("/")[2] for each in missing} == set(WITHOUT_IN_GLSL if suffix == ".comp" else ())


def test_each_file_has_rows():
    every = {str(path.relative_to(KERNELS)) for end in NEEDED for path in KERNELS.rglob(f"*{end}")}
    assert every == {row["file"] for row in TABLE}
