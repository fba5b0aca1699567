"""What devices were seen to promise, level by level: results of docs/results as docs/infer-progress.md reads them."""

import json
from pathlib import Path

import pytest

from synth.inference.promises import suite
from tests.commands import printed, synth

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
LEVELS = "progress@workgroup & progress@subgroup & progress@thread"

PROMISED = {
    "pocl": ("hsa+obe", "lobe", "lobe"),
    "lavapipe": ("hsa+obe", "lobe", "lobe"),
    "swiftshader": ("obe", "lobe", "obe"),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("device", PROMISED)
def test_the_fairest_promise_of_each_level(device):
    folder = RESULTS / "promises" / device
    told = json.loads(printed("infer", "progress", "--from", folder, "--json"))["answers"]
    assert [each["placement"] for each in told] == ["device", "workgroup", "subgroup"]
    assert [each["ship"] for each in told] == [[f"{promise}-strong"] for promise in PROMISED[device]]
    levels = zip(PROMISED[device], ("workgroup", "subgroup", "thread"), strict=True)
    composed = " & ".join(f"{promise}@{level}" for promise, level in levels)
    record = json.loads(printed("infer", LEVELS, "--from", folder, "--json"))
    assert [each["holes"] for each in record["strongest"]] == [[f"{composed}-strong"]]
    assert f"`{composed}-strong`" in (ROOT / "docs" / "infer-progress.md").read_text(encoding="utf-8")


def test_what_always_ended_taken_as_facts_leaves_one_class():
    words = ("infer", "progress", "--from", RESULTS / "promises" / "pocl", "--placement", "workgroup", "--json")
    assert json.loads(printed(*words))["unique"] is False
    told = json.loads(printed(*words, "--never-seen", 50))
    assert told["unique"] is True and told["ship"] == ["lobe-strong"]


def test_promises_of_a_gpu(tmp_path):
    """Of the campaign on an H100 only hangs that were confirmed count."""
    for bound in ((2, 2), (3, 3)):
        for test in suite(bound):
            (tmp_path / f"{test.name}.axb").write_text(test.text)
    file = RESULTS / "cuda-NVIDIA-H100-80GB-HBM3.jsonl"
    told = synth("infer", "progress", "--from", file, "--tests", tmp_path, "--json")
    assert told.exit_code == 0 and "hangs are not confirmed, and contradict no model" in told.stderr
    answers = json.loads(told.stdout)["answers"]
    assert [each["ship"] for each in answers] == [["lobe-weak"], ["fair-weak"], ["fair-weak"]]
    record = json.loads(printed("infer", LEVELS, "--from", file, "--tests", tmp_path, "--json"))
    assert [each["holes"] for each in record["strongest"]] == [["lobe@workgroup & fair@subgroup & fair@thread-weak"]]
