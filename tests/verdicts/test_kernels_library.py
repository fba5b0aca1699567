"""What ``synth check`` says of library code as it ships (``kernels_library.csv``), and of bugs that are seeded into it.

The kernels of ``examples/kernels/library`` use libcu++, cooperative groups, CUB and CUTLASS. ``found`` has the kinds of
findings, ``?`` where the answer is UNKNOWN, ``bounded`` the jumps back that loops were followed for; under each
progress model T is for terminates and H for may hang. A bug (``kernels_library_bugs.csv``) is text of the PTX that is
replaced, or an instruction that is left out; it is found as a race of accesses at the ``lines`` of the kernel. The
cheapest repair costs no more than to take the bug back, which is ``price`` of synth/repair/tables/cuda.toml; ``repair``
is where it is in the kernel's own lines, and how it is.
"""

from __future__ import annotations

import csv
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from absent import absent
from commands import synth

from backends.cuda.toolkits import ANY, chosen
from corpus.code.ptx.files import parameter_names
from synth.checking.compilers import compiled
from synth.checking.questions import PROGRESS

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "examples" / "kernels" / "library"
LETTERS = {"TERMINATES": "T", "MAY_HANG": "H"}
REMOVED = {
    "cutlass-pipeline": {"cutlass-pipeline.cu"},
    "cutlass-pipeline-tma": {"cutlass-pipeline-tma.cu", "sm90_pipeline.hpp"},
}
"""The files of the lines whose accesses nvcc removes: a variable that holds one number, and conditions of one warp."""
COSTLY = {"cutlass-semaphore", "grid-queue"}


def table(name):
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VERDICTS, BUGS = table("kernels_library.csv"), table("kernels_library_bugs.csv")
FILES = sorted({row["file"] for row in VERDICTS})


@pytest.fixture
def options(need):
    """The options by which nvcc finds the headers of libraries."""
    need("cuda")
    toolkit, _ = chosen(ANY)
    if not (toolkit.folder.parent / "include" / "cccl").is_dir():
        absent("the headers of libcu++ and CUB: pip install nvidia-cuda-cccl")
    cutlass = find_spec("cutlass_library")
    if cutlass is None:
        absent("the headers of CUTLASS: pip install nvidia-cutlass")
    return [f"-I{Path(cutlass.origin).parent / 'source' / 'include'}"]


def test_every_kernel_has_a_verdict():
    assert sorted(path.stem for path in KERNELS.glob("*.cu")) == FILES


@pytest.mark.device
@pytest.mark.parametrize("file", [pytest.param(f, marks=[pytest.mark.slow] if f in COSTLY else []) for f in FILES])
def test_library_code_as_it_ships(file, options):
    result = synth("check", KERNELS / f"{file}.cu", "--json", "-j", 1, *(f"-X{word}" for word in options))
    found = []
    for checked in json.loads(result.stdout):
        assert {Path(each["file"]).name for each in checked["removed"] or ()} <= REMOVED.get(file, set())
        answers, hang = checked["answers"], checked["hang"]
        assert set(answers.values()) <= {"SAFE", "FOUND", "UNKNOWN"}
        marks = {"FOUND": "", "UNKNOWN": "?"}
        kinds = " ".join(name + marks[answer] for name, answer in answers.items() if answer != "SAFE")
        bounded = str(checked["bounded"] or "")
        found.append([file, checked["launch"], kinds, bounded, *(LETTERS[hang[name]] for name in PROGRESS)])
    assert found == [[*row.values()][:-1] for row in VERDICTS if row["file"] == file]


@pytest.mark.device
@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=[pytest.mark.slow] * (f == "scan-fenced")) for f in sorted({row["file"] for row in BUGS})],
)
def test_seeded_bugs_are_found_at_their_lines(file, options, tmp_path):
    source = KERNELS / f"{file}.cu"
    text, (code, named) = source.read_text(encoding="utf-8"), compiled(source, options)
    ptx = code.decode()
    for name, path in named.items():  # the compiler was handed copies
        ptx = ptx.replace(f'"{name}"', f'"{path}"')
    launch = re.search("^// synth check: .*", text, re.MULTILINE)[0].partition(" --expect")[0]
    ((_, names),) = parameter_names(text).items()
    for number, name in enumerate(names):
        launch = launch.replace(f"--arg {name}=", f"--arg {number}=")
        # PTX has no names of fields: what is given is the first one
        launch = re.sub(rf"--arg {name}\.\w+=", f"--arg {number}+0=", launch)
    for row in (row for row in BUGS if row["file"] == file):
        assert row["written"] in ptx
        pattern = re.escape(row["written"]) + ("" if row["seeded"] else r"[^;]*;")
        bugged = tmp_path / "bugged.ptx"
        bugged.write_text(launch + "\n" + re.sub(pattern, row["seeded"], ptx), encoding="utf-8")
        result = synth("check", bugged, "--json", "-j", 1)
        assert result.exit_code == 1
        (checked,) = json.loads(result.stdout)
        lines = {
            str(line["line"])
            for finding in checked["findings"] if finding["kind"] == row["found"]
            for place in finding["places"]
            for line in place["lines"] if Path(line["file"]) == source
        }  # fmt: skip
        assert sorted(lines, key=int) == row["lines"].split(), row["bug"]
        (cheapest,) = json.loads(synth("fix", bugged, "--json", "-j", 1, "--timeout", 300).stdout)["repairs"]
        changes = cheapest["changes"]
        told = [f"{each['lines'][-1]['line']} {each['change'].partition(': ')[2]}" for each in changes]
        assert 0 < cheapest["cost"] <= int(row["price"]), row["bug"]
        assert all(part in said for part, said in zip(row["repair"].split("; "), told, strict=True)), told
