"""Litmus cores of the applications: ``synth fix`` names the places that ``synth harden`` finds, and others.

What is found by running is in ``tests/device/test_harden_applications.py``. Where models leave a choice between places
of the same cost, the repair is one of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import synth

APPLICATIONS = Path(__file__).parents[2] / "examples" / "applications"

BEFORE = {
    "peterson": {"whose": 2, "turn": 0, "wanted": 1, "the loop": 1, "counted": 2, "flag": 6},
    "dekker": {"wanted": 0, "counted": 6, "flag": 8, "turn": 8, "in = ": 8},
    "deque-push": {"bottom": 1, "first >= last": 11},
    "deque-take": {"first = atomic_load_explicit(top": 4, "last": 10, "won = ": 10},
    "list": {"first = atomic_load_explicit(head": 0, "if (t0 ==": 0, "lock": 3},
    "reduction": {"count, 1": 0, "if (counted": 1},
    "scan": {"state, 1": 0, "if (seen": 2, "state, 2": 4},
}
"""The place that stands before an instruction, by words in it; the first that fits.

Where either of two does it, the lower stands for both: 2 and 4 in Peterson's lock, 8 and 9 in Dekker's, 10 and
13 in the deque.
"""

GPU = {
    "peterson": {0, 1, 2, 6},
    "dekker": {0, 6, 8},
    "deque-push": {1, 11},
    "deque-take": {4, 10},
    "list": {0, 3},
    "reduction": {0, 1},
    "scan": {0, 2, 4},
}
X86 = {"peterson": {1}, "dekker": {0}, "deque-take": {4}}


def places(name: str, model: str) -> set[int]:
    """Where fences go into a core, at each of its threads."""
    arguments = ["fix", str(APPLICATIONS / f"{name}.litmus"), "--model", model, "--allow", "fences", "--json"]
    result = synth(*arguments)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["complete"]
    fences = [change["change"] for change in found["repairs"][0]["changes"]]
    instructions = [re.fullmatch(r"atomic_work_item_fence\(.*\) before P\d: (.*)", fence) for fence in fences]
    return {next(n for word, n in BEFORE[name].items() if word in each[1]) for each in instructions if each}


def needs(name: str, model: str) -> None:
    if model == "tso":
        assert places(name, model) == X86.get(name, set())
    else:
        assert places(name, model) == GPU[name]


@pytest.mark.parametrize("name", GPU)
def test_what_x86_needs(name: str) -> None:
    needs(name, "tso")


def test_what_a_gpu_needs() -> None:
    needs("scan", "ptx-6.0")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(GPU.keys() - {"scan"}))
def test_what_a_gpu_needs_of_more(name: str) -> None:
    needs(name, "ptx-6.0")


def test_the_cores_have_the_places_of_the_applications() -> None:
    for name in BEFORE:
        core = (APPLICATIONS / f"{name}.litmus").read_text(encoding="utf-8")
        source = (APPLICATIONS / f"{name.split('-')[0]}.cl").read_text(encoding="utf-8")
        marked = {int(number) for number in re.findall(r"// place (\d+)", core)}
        assert marked and marked <= {int(number) for number in re.findall(r"SYNTH_FENCE\((\d+)\)", source)}
