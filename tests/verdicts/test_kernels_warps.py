"""What is said of the kernels of ``examples/kernels/warps``, as argued from the sentences of the PTX ISA on warps
(kernels_warps.csv).

``found`` are the kinds of what is found, with ``?`` where the answer is UNKNOWN, and ``lines`` those of the file that
it is at; all else is SAFE.
"""

import csv
from pathlib import Path

from kernel_verdicts import checked

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "examples" / "kernels" / "warps"

with (HERE / "kernels_warps.csv").open(encoding="utf-8", newline="") as _file:
    TABLE = list(csv.DictReader(_file))


MARKS = {"SAFE": "", "FOUND": "", "UNKNOWN": "?"}


def test_kernels():
    found = checked([KERNELS / f"{row['file']}.ptx" for row in TABLE])
    said = []
    for one in found:
        assert {*one["answers"].values()} <= {*MARKS}
        wrong = [name + MARKS[answer] for name, answer in one["answers"].items() if answer != "SAFE"]
        lines = sorted({place["ptx_line"] for finding in one["findings"] for place in finding["places"]})
        said.append((Path(one["file"]).stem, one["launch"], " ".join(wrong), " ".join(map(str, lines))))
    assert said == [(row["file"], row["launch"], row["found"], row["lines"]) for row in TABLE]


def test_each_example_has_a_row_that_says_why():
    assert sorted(path.stem for path in KERNELS.glob("*.ptx")) == [row["file"] for row in TABLE]
    assert all(row["why"] for row in TABLE)
