"""Results on disk: nothing lost, nothing twice."""

from __future__ import annotations

import json
import resource
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from backends.shared.outcomes import outcomes
from backends.shared.process import Run, RunError
from backends.shared.results import (
    MemoryFailure,
    MemoryResult,
    ProgressResult,
    Result,
    Times,
    TryEffort,
    now,
    open_results,
    parse_result,
    print_result,
    read_results,
    read_times,
    trial_of,
)
from corpus.errors import InputError

RESULT = ProgressResult(
    test="2x2-0001",
    digest="00ff",
    backend="opencl",
    device="a device",
    mapping="plain",
    instances=1,
    iterations=20,
    timeout=5.0,
    every_iteration=False,
    outcomes="TTH",
)
OTHER = replace(RESULT, mapping="chunked", instances=8, outcomes="H")
MEMORY = MemoryResult(
    test="SB",
    digest="00ff",
    backend="cpp",
    device="a d\u00e9vice",
    instances=512,
    iterations=2,
    timeout=5.0,
    stress=False,
    terms=("P0:r0", "P1:r0"),
    outcomes=(((0, 0), 3), ((1, -1), 1021)),
    other=0,
    launches=2,
    hung=False,
)
OLD = {  # lines that earlier versions wrote
    RESULT: '{"test":"2x2-0001","digest":"00ff","backend":"opencl","device":"a device","mapping":"plain","instances":1,'
    '"iterations":20,"timeout":5.0,"every_iteration":false,"outcomes":"TTH"}',
    MEMORY: '{"test":"SB","digest":"00ff","backend":"cpp","device":"a d\\u00e9vice","instances":512,"iterations":2,'
    '"timeout":5.0,"stress":false,"terms":["P0:r0","P1:r0"],"outcomes":[[[0,0],3],[[1,-1],1021]],"other":0,'
    '"launches":2,"hung":false}',
}


@pytest.mark.parametrize("result", OLD, ids=["progress", "memory"])
def test_a_line_is_a_result_and_has_the_bytes_that_it_had(result: Result) -> None:
    assert print_result(result) == OLD[result]
    assert parse_result(OLD[result]) == result


def test_hangs() -> None:
    assert RESULT.hangs and not RESULT.always_hangs
    assert OTHER.always_hangs
    assert not RESULT.confirmed and not RESULT.slow  # as those that earlier versions wrote


@pytest.mark.parametrize(
    ("outcomes", "tries", "state"),
    [
        ("TTH", ("TTH", "H"), "unconfirmed"),
        ("TTH", ("TTH", "H", "H"), "confirmed"),
        ("TTT", ("TTH", "T"), "slow"),
        ("TTT", ("TTH", "H", "T"), "slow"),
        ("TTH", ("TTH",), None),
        ("TTH", ("TTT", "H"), None),
        ("TTH", ("TTH", "H", "H", "H"), None),
        ("TTH", ("TTH", "T", "H"), None),
        ("TTH", ("TTH", "H", "T"), None),
        ("TH", ("TTH", "H", "H"), None),
        ("TTT", ("TTH", "H", "H", "T"), None),
        ("TTT", ("TTH", "TTT"), None),
    ],
)
def test_tries(outcomes: str, tries: tuple[str, ...], state: str | None) -> None:
    """Of either family; what does not fit is no result."""
    launches = {"launches": outcomes.count("T"), "hung": "H" in outcomes}
    for line, seen in ((OLD[RESULT], {"outcomes": outcomes}), (OLD[MEMORY], launches)):
        text = json.dumps(json.loads(line) | seen | {"tries": tries})
        if state is None:
            with pytest.raises(ValueError, match="expected"):
                parse_result(text)
            continue
        found = parse_result(text)
        assert isinstance(found, ProgressResult | MemoryResult) and parse_result(print_result(found)) == found
        assert (found.hangs, found.confirmed, found.slow) == (state != "slow", state == "confirmed", state == "slow")


def test_what_tries_took_goes_with_their_result(tmp_path: Path) -> None:
    path, took = tmp_path / "results.jsonl", TryEffort(limit=0.1, seconds=0.25, cpu=None, load=17.5)
    times = [Times((0.1, 0.2), 0.1, (took, took)), Times((0.5,), 5.0)]
    with open_results(path) as file:
        file.add(RESULT, times[0])
        file.add(replace(MEMORY, timeout=None), times[1])
    assert read_times(path) == times
    assert '"timeout":null' in path.read_text() and read_results(path)[1] == replace(MEMORY, timeout=None)


def test_both_families_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_results(path) as file:
        file.add(RESULT, Times((0.1,)))
        file.add(
            MEMORY,
            Times(
                (
                    0.2,
                    0.3,
                )
            ),
        )
    with open_results(path) as file:
        assert file.results == {trial_of(RESULT): RESULT, trial_of(MEMORY): MEMORY}
        assert file.find(trial_of(MEMORY)) == MEMORY
        assert file.find(trial_of(replace(MEMORY, stress=True))) is None
    times = [json.loads(line) for line in (tmp_path / "results.times.jsonl").read_text().splitlines()]
    assert times[1] == {
        "test": "SB",
        "backend": "cpp",
        "device": "a d\u00e9vice",
        "instances": 512,
        "seconds": [0.2, 0.3],
    }
    assert read_results(path) == [RESULT, MEMORY]
    assert read_times(path) == [Times((0.1,)), Times((0.2, 0.3))]


def test_failures_are_kept_until_a_result_comes(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    trial = trial_of(MEMORY)
    failed = MemoryFailure(**asdict(trial), error="it crashed", date="2026-01-01T00:00:00Z")
    with open_results(path) as file:
        file.add(failed)
    with open_results(path) as file:
        assert file.find(trial) is None and file.failures == {trial: failed}
        file.add(MEMORY, Times((0.5,)))
    with open_results(path) as file:
        assert file.find(trial) == MEMORY and not file.failures
    assert read_results(path) == [failed, MEMORY]
    assert read_times(path) == [Times(), Times((0.5,))]


def test_times_without_a_result_are_of_a_run_that_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_results(path) as file:
        file.add(RESULT, Times((0.1,)))
    path.write_text("")
    with open_results(path) as file:
        file.add(RESULT, Times((0.2,)))
    assert read_times(path) == [Times((0.2,))]


def test_results_of_several_drivers_and_dates_live_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    newer, again = replace(RESULT, driver="25.1"), replace(RESULT, outcomes="TTT", date="2026-01-02T00:00:00Z")
    with open_results(path) as file:
        for result in (RESULT, newer, again):
            file.add(result)
    assert read_results(path) == [RESULT, newer, again]
    with open_results(path) as file:
        assert list(file.results.values()) == [again, newer]


def test_the_date_of_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert now() == "1970-01-01T00:00:00Z"


def test_results_are_appended_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_results(path) as file:
        file.add(
            RESULT,
            Times(
                (
                    0.1,
                    0.2,
                    5.0,
                )
            ),
        )
    with open_results(path) as file:
        assert file.results == {trial_of(RESULT): RESULT}
        file.add(OTHER, Times((5.0,)))
    assert [parse_result(line) for line in path.read_text().splitlines()] == [RESULT, OTHER]
    times = [json.loads(line) for line in (tmp_path / "results.times.jsonl").read_text().splitlines()]
    assert [line["seconds"] for line in times] == [[0.1, 0.2, 5.0], [5.0]]


def test_a_line_that_was_cut_off_runs_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = print_result(RESULT) + "\n"
    path.write_text(whole + print_result(OTHER)[:40])
    with open_results(path) as file:
        assert list(file.results) == [trial_of(RESULT)]
        file.add(OTHER, Times((5.0,)))
    assert path.read_text() == whole + print_result(OTHER) + "\n"


@pytest.mark.parametrize("data", [b"\x7fELF without a newline", b"notes of mine", b"{}"])
def test_a_file_without_a_newline_that_holds_no_results_is_kept(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(data)
    with pytest.raises(InputError, match="expected a result of a test"), open_results(path):
        pass
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "{}",
        print_result(RESULT).replace("TTH", "TTX"),
        print_result(RESULT).replace('"TTH"', "7"),
        print_result(RESULT).replace("20", '"20"'),
        print_result(RESULT).replace("20", "true"),
        print_result(RESULT).replace("20", "0"),
        print_result(RESULT).replace("5.0", "NaN"),
        print_result(RESULT).replace("5.0", "9" * 5000),
        print_result(RESULT).replace("TTH", ""),
        print_result(RESULT).replace("}", ',"more":1}'),
        "[" * 100_000,
        *(
            json.dumps(json.loads(print_result(MEMORY)) | change)
            for change in (
                {"outcomes": [[[0, 0, 0], 3]]},
                {"outcomes": [[[0, "1"], 3]]},
                {"outcomes": [[[0, 1], -3]]},
                {"outcomes": [3]},
                {"instances": "512"},
                {"hung": 0},
                {"more": 1},
            )
        ),
    ],
)
def test_something_else_than_results(line: str, tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(print_result(RESULT) + "\n" + line + "\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"results\.jsonl:2: expected a result"), open_results(path):
        pass
    assert path.read_bytes() == before


def test_two_runs_at_once(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_results(path), pytest.raises(InputError, match="another process"), open_results(path):
        pass


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        with open_results(path) as file:
            resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
            for number in range(9):
                file.add(replace(RESULT, instances=number + 1))

    try:
        with pytest.raises(InputError) as error:
            fill()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(error.value) == f"{path}: cannot write: File too large"
    with open_results(path) as file:  # what was whole is kept
        assert list(file.results) == [trial_of(RESULT)]


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot open"), open_results(tmp_path / "missing" / "results.jsonl"):
        pass


@pytest.mark.parametrize("rows", ["[[NaN,1]]", "[[]]", '[["3",1]]', "[[1.5,1]]", "[" * 9000, "7", '{"3":1}'])
def test_what_a_program_says_is_outcomes_or_an_error(rows):
    with pytest.raises(RunError, match="and no outcomes"):
        outcomes(Run("T", (1.0,), (f"iteration 0 [{rows},0]",)))
