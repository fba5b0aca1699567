"""``synth infer --run`` on the threads of this machine: tests are chosen, run and used, and what was seen fits."""

import json
from pathlib import Path

import pytest
from commands import synth

from corpus.files import read_text

pytestmark = pytest.mark.device
SKETCH = Path(__file__).parents[2] / "examples" / "inference" / "orders.cat"


def test_a_loop_on_threads_of_this_machine(tmp_path):
    out = tmp_path / "out"
    asked = ("infer", SKETCH, "--run", "--backend", "cpp", "--iterations", 2, "--instances", 4096, "-o", out)
    result = synth(*asked)
    assert result.exit_code == 0, result.output
    assert "no test is left that would tell models apart" in result.stdout
    lines = [json.loads(line) for line in read_text(out / "results.jsonl").splitlines()]
    assert {line["backend"] for line in lines} == {"cpp"} and len(lines) >= 3
    answer = json.loads(read_text(out / "answer.json"))
    assert answer["fit"] >= 1 and answer["complete"]
    again = synth(*asked)
    assert again.exit_code == 0 and json.loads(read_text(out / "answer.json")) == answer


def test_promises_of_pocl(need, tmp_path):
    """Its work-groups go to threads in chunks: who waits for a later one of a chunk waits for ever."""
    need("opencl")
    out = tmp_path / "out"
    asked = ("infer", "progress", "--run", "--backend", "opencl", "--bound", "2x2", "--tries", 1)
    result = synth(*asked, "--mapping", "round-robin", "--instances", 16, "--iterations", 2, "-o", out)
    assert result.exit_code == 0, result.output
    answer = json.loads(read_text(out / "answer.json"))
    assert answer["ship"] == ["lobe-strong"] and answer["end"].startswith("no test is left")
    assert any(fact.startswith("2x2-0001 may hang") for fact in answer["decided_by"])
