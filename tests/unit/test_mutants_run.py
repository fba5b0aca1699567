"""What ``synth run --mutants`` and ``--plan`` run, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import synth
from mutant_suites import TESTS, write_suite

from backends.shared.device import DeviceOptions
from backends.shared.profiles import DEFAULT, STRESS, Profile
from corpus.errors import InputError
from corpus.links import MUTANTS
from synth.inputs import expand
from synth.memory.runs import Launches
from synth.mutation.plans import PLAN
from synth.mutation.records import suite_record
from synth.mutation.running import of_mutants, planned, with_mutants

MUTEX = Path(__file__).parents[2] / "examples" / "progress" / "mutex.axb"
LAUNCHES = Launches(512, 20, 5.0)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """The suite, and a plan for it beside it."""
    folder = write_suite(tmp_path_factory.mktemp("suites") / "suite")
    words = ["select", str(folder), "--score", "--budget", "10", "-o", str(folder.parent / "ci")]
    assert synth(*words).exit_code == 0
    return folder


def names(tests):
    return [(test.name, test.path.name) for test in tests]


def test_the_mutants_that_count_are_run_after_the_tests(suite):
    found, tests = with_mutants(expand([str(suite)]))
    assert names(tests) == [*((test.name, "suite") for test in TESTS), ("A.m1", MUTANTS), ("A.m2", MUTANTS)]
    assert len(found.tests) == 3 and {test.litmus().name for test in tests} == {test.name for test in tests}


def test_of_some_tests_their_mutants_are_run(suite):
    _, tests = with_mutants([test for test in expand([str(suite)]) if test.name == "B"])
    assert names(tests) == [("B", "suite"), ("A.m2", MUTANTS)]


def test_what_is_told_is_of_the_device(suite):
    found, _ = with_mutants(expand([str(suite)]))
    seen = {device: of_mutants(found, suite / "results.jsonl", "cpp", device).observed for device in ("toy", "another")}
    record = suite_record(found, seen["toy"], None)
    assert [each["score"] for each in record["environments"]] == [0.5, 1.0]
    assert suite_record(found, seen["another"], None)["environments"] == []


@pytest.mark.parametrize("what", ["files", "two suites", "no mutants"])
def test_mutants_are_those_of_one_suite(suite, tmp_path, what):
    (tmp_path / "t.litmus").write_text(TESTS[0].text)
    given = {
        "files": [tmp_path / "t.litmus"],
        "two suites": [suite, write_suite(tmp_path / "other")],
        "no mutants": [suite / MUTANTS],
    }[what]
    with pytest.raises(InputError, match="synth memory --mutants"):
        with_mutants(expand(list(map(str, given))))


def plan_of(suite, profile=DEFAULT, backend="cpp", device="toy", **asked):
    launches = Launches(65536, 20, 5.0, profile)
    path = suite.parent / "ci" / PLAN
    return planned(expand([str(suite)]), path, backend, device, launches, DeviceOptions(**asked))


def test_a_plan_says_what_is_run_how_often(suite):
    (test,), launches = plan_of(suite)
    assert test.name == "A" and launches.instances == 512 and launches.iterations_of == {TESTS[0].digest: 30}
    tests, launches = plan_of(suite, STRESS, instances=512)
    assert [test.name for test in tests] == ["A", "B"] and sorted(launches.iterations_of.values()) == [7, 20]


@pytest.mark.parametrize(
    "given",
    [{"backend": "opencl"}, {"device": "another"}, {"profile": Profile("mine", spin=1)}, {"instances": 1024}],
)
def test_a_plan_is_for_devices_and_ways_to_launch(suite, given):
    with pytest.raises(InputError, match=r"it has cpp, toy, plain with 512 instances; cpp, toy, stress with 512"):
        plan_of(suite, **given)


def test_a_plan_of_several_numbers_of_instances_asks_which(suite, tmp_path):
    record = json.loads((suite.parent / "ci" / PLAN).read_text())
    runs = [run for run in record["runs"] if not run["stress"]]
    (tmp_path / PLAN).write_text(json.dumps({"runs": [*runs, *({**run, "instances": 64} for run in runs)]}))
    given = expand([str(suite)]), tmp_path / PLAN, "cpp", "toy", LAUNCHES
    with pytest.raises(InputError, match="64 and 512 instances: say which with --instances"):
        planned(*given, DeviceOptions())
    assert planned(*given, DeviceOptions(instances=64))[1].instances == 64


@pytest.mark.parametrize("text", ["", "[]", '{"runs": [{"test": "A"}]}', '{"runs": 3}'])
def test_what_is_no_plan_is_told(suite, tmp_path, text):
    (tmp_path / PLAN).write_text(text)
    with pytest.raises(InputError, match="not a plan of synth select --score"):
        planned(expand([str(suite)]), tmp_path / PLAN, "cpp", "toy", LAUNCHES, DeviceOptions())


def test_a_plan_without_runs(suite, tmp_path):
    (tmp_path / PLAN).write_text('{"runs": []}')
    with pytest.raises(InputError, match=r"the plan has no runs$"):
        planned(expand([str(suite)]), tmp_path / PLAN, "cpp", "toy", LAUNCHES, DeviceOptions())


def test_progress_tests_have_no_mutants():
    refused = synth("run", MUTEX, "--backend", "cpp", "--mutants")
    assert refused.exit_code == 2 and "--mutants is for litmus tests" in refused.stderr
