"""Results on disk: nothing lost, nothing twice."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from backends.shared.results import Question, Result, open_results, parse_result, print_result
from corpus.errors import InputError

QUESTION = Question("2x2-0001", "00ff", "opencl", "a device", "plain", 1, 20, 5.0, False)
RESULT = Result(QUESTION, "TTH")
OTHER = Result(replace(QUESTION, mapping="chunked", instances=8), "H")


def test_a_line_is_a_result() -> None:
    assert parse_result(print_result(RESULT)) == RESULT
    assert RESULT.hangs and not RESULT.always_hangs
    assert OTHER.always_hangs


def test_results_are_appended_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with open_results(path) as file:
        file.add(RESULT, [0.1, 0.2, 5.0])
    with open_results(path) as file:
        assert file.answers == {QUESTION: RESULT}
        file.add(OTHER, [5.0])
    assert [parse_result(line) for line in path.read_text().splitlines()] == [RESULT, OTHER]
    times = [json.loads(line) for line in (tmp_path / "results.times.jsonl").read_text().splitlines()]
    assert [line["seconds"] for line in times] == [[0.1, 0.2, 5.0], [5.0]]


def test_a_line_that_was_cut_off_runs_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    whole = print_result(RESULT) + "\n"
    path.write_text(whole + print_result(OTHER)[:40])
    with open_results(path) as file:
        assert list(file.answers) == [QUESTION]
        file.add(OTHER, [5.0])
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


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot open"), open_results(tmp_path / "missing" / "results.jsonl"):
        pass
