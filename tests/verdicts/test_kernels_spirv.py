"""What is said of the kernels of ``examples/kernels/spirv``, as argued from the memory models of Vulkan and OpenCL
(kernels_spirv.csv).

Under each progress model stands a letter: T terminates, H may hang, with weak fairness. ``lines`` are those of the
file, or of the source that it names, that a finding of a kind is at.
"""

import csv
from pathlib import Path

import pytest
from kernel_verdicts import answers, checked, told

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "examples" / "kernels" / "spirv"

with (HERE / "kernels_spirv.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))

FILES = sorted({row["file"] for row in TABLE})
AT_ONCE = 16
"""The files of one command."""


@pytest.mark.parametrize(
    "files", [FILES[n : n + AT_ONCE] for n in range(0, len(FILES), AT_ONCE)], ids=lambda files: f"{files[0]}.."
)
def test_kernels(files):
    found = checked([KERNELS / f"{name}.spvasm" for name in files])
    said = {(Path(one["file"]).stem, one["kernel"], one["launch"]): one for one in found}
    rows = {(row["file"], row["kernel"], row["launch"]): row for row in TABLE if row["file"] in files}
    assert len(said) == len(found)
    assert {key: answers(said[key], told(rows[key])) for key in said} == {key: told(rows[key]) for key in rows}


def test_each_example_has_rows_that_say_why():
    assert sorted(path.stem for path in KERNELS.glob("*.spvasm")) == FILES
    assert all(row["why"] for row in TABLE)
