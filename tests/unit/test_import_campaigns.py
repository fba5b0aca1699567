"""Campaigns that were made elsewhere: which of their hangs are confirmed, tables of published ones, logs of Amber."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import synth
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from backends.shared.results import Entry, ProgressFailure, ProgressResult, parse_result, print_result, read_results
from synth.importing.campaigns import LEAST

SPIN = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"
"""Only fairness promises that it ends: thread 0 waits for thread 1."""

ORDERED = "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\n"
"""HSA and LOBE promise that it ends, for the thread with the lower id goes first."""

CONTROL = ProgressResult(
    test="spin",
    digest="00ff",
    backend="metal",
    device="a phone",
    mapping="round-robin",
    instances=32767,
    iterations=20,
    timeout=20.0,
    every_iteration=True,
    outcomes="T" * 20,
)
HANG = replace(CONTROL, test="ordered", digest="ff00", outcomes="H" * 20)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "spin.axb").write_text(SPIN)
    (folder / "ordered.axb").write_text(ORDERED)
    return folder


def imported(tmp_path: Path, entries: Sequence[Entry]) -> list[ProgressResult]:
    file = tmp_path / "elsewhere"
    file.write_text("".join(f"{print_result(each)}\n" for each in entries))
    synth("import", file, "-o", tmp_path / "r.jsonl")
    return [each for each in read_results(tmp_path / "r.jsonl") if isinstance(each, ProgressResult)]


def contradicted(results: Path, suite: Path) -> set[str]:
    """The models that a report says the device contradicts."""
    said = json.loads(synth("report", results, "--suite", suite, "--json").stdout)
    return {each["model"] for each in said["models"] if each["status"] == "contradicted"}


def test_a_hang_in_each_of_twenty_iterations_is_confirmed(tmp_path: Path) -> None:
    hang, control = imported(tmp_path, [CONTROL, HANG])
    assert hang == replace(HANG, repeated=True) and hang.confirmed and not hang.tries
    assert control == CONTROL


@pytest.mark.parametrize(
    "entries",
    [
        [HANG],  # the device may be stuck
        [HANG, replace(CONTROL, mapping="chunked")],
        [HANG, replace(CONTROL, device="another phone")],
        [HANG, replace(CONTROL, timeout=60.0)],
        [HANG, replace(CONTROL, iterations=19, outcomes="T" * 19)],
        [HANG, replace(CONTROL, outcomes="T" * 19 + "H")],
        [replace(HANG, iterations=19, outcomes="H" * 19), CONTROL],
        [replace(HANG, outcomes="T" + "H" * 19), CONTROL],  # as likely slow as hanging
        [replace(each, timeout=LEAST - 1) for each in (HANG, CONTROL)],
        [replace(each, timeout=None) for each in (HANG, CONTROL)],  # synth run makes its hangs again
        [replace(HANG, tries=("H" * 20, "H")), CONTROL],
    ],
    ids=itertools.count(),
)
def test_what_is_not_confirmed(tmp_path: Path, entries: list[ProgressResult]) -> None:
    assert not any(each.confirmed for each in imported(tmp_path, entries))


def test_files_in_any_order_give_the_same(tmp_path: Path) -> None:
    """What confirms a hang may come in another file, and what says that it is confirmed has to earn it again."""
    files = []
    for number, each in enumerate((CONTROL, HANG, replace(HANG, device="other", repeated=True))):
        files.append(tmp_path / str(number))
        files[-1].write_text(f"{print_result(each)}\n")
    seen = set()
    for number, order in enumerate(itertools.permutations(files)):
        for each in order:
            synth("import", each, "-o", tmp_path / f"r{number}")
        seen.add((tmp_path / f"r{number}").read_bytes())
    assert len(seen) == 1 and seen.pop().count(b'"repeated":true') == 1


def test_no_line_says_that_it_is_repeated_without_twenty_hangs() -> None:
    for line in ('"outcomes":"HHH","repeated":true', f'"outcomes":"T{"H" * 19}","repeated":true'):
        known = print_result(replace(CONTROL, outcomes="T" * 20)).partition('"outcomes"')[0]
        with pytest.raises(ValueError, match="expected a hang in each of 20 iterations"):
            parse_result(f"{known}{line}}}")


TABLE = """\
Test File Name,No saturation Result,Round Robin Saturation Result,Chunking Saturation Result,All Passed
spin,P,F (8/20),F (20/20),F
ordered,P,F (20/20),P,F
Total failures:,0,28,20,2
"""


def test_a_published_table_refutes_lobe(tmp_path: Path, suite: Path) -> None:
    """In the form of the tables of Sorensen et al. 2021: a hang of 20 in 20 under round-robin."""
    (tmp_path / "phone-inter-workgroup.csv").write_text(
        TABLE.replace("Total", "other,P,P,P,P\nTotal").replace("spin,P,F (8/20)", "spin,P,P")
    )
    done = synth(
        *("import", tmp_path / "phone-inter-workgroup.csv", "--suite", suite, "-o", tmp_path / "r.jsonl"),
        *("--device", "a phone"),
    )
    assert done.exit_code == 1
    assert "phone-inter-workgroup.csv:4: other: the suite has no test of this name" in done.stderr
    assert "synth: 2 hangs are confirmed: each of 20 iterations or more hung, where" in done.stderr
    entries = [each for each in read_results(tmp_path / "r.jsonl") if isinstance(each, ProgressResult)]
    assert len(entries) == 6 and {each.device for each in entries} == {"a phone"}
    assert {(each.mapping, each.instances, each.iterations) for each in entries} == {
        ("plain", 1, 20),
        ("round-robin", 32767, 20),
        ("chunked", 32767, 20),
    }
    assert {"lobe-weak", "lobe-strong", "hsa-weak", "fair-strong"} <= contradicted(tmp_path / "r.jsonl", suite)


def test_a_table_where_some_iterations_ended_refutes_nothing(tmp_path: Path, suite: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE.replace("20/20", "19/20"))
    done = synth("import", tmp_path / "t.csv", "--suite", suite, "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 0 and "3 hangs are not confirmed" in done.stderr
    assert not contradicted(tmp_path / "r.jsonl", suite)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("gpu_subgroup.csv", TABLE, "within work-groups or subgroups"),
        ("gpu-inter_subgroup.csv", TABLE, "within work-groups or subgroups"),
        ("t.csv", TABLE.replace("F (20/20)", "F"), "expected P or F (n/m) below 'Chunking Saturation Result'"),
        ("t.csv", TABLE.replace("F (20/20)", "F (21/20)"), "expected P or F (n/m)"),
        ("t.csv", TABLE.replace("F (20/20)", f"F (1/{'9' * 6})"), "2 results"),
        ("t.csv", TABLE.replace("P,F", "P,P,F"), "expected 5 cells, found 6"),
        ("t.csv", TABLE.replace("No saturation Result", "No saturation (same subgroup)"), "not read, for it places"),
        ("t.csv", TABLE.replace("spin", '"spin'), "comma-separated values"),
        ("t.csv", 'Test File Name,"', "comma-separated values"),
    ],
)
def test_what_a_table_does_not_say(tmp_path: Path, suite: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    done = synth("import", tmp_path / name, "--suite", suite, "-o", tmp_path / "r.jsonl")
    assert message in done.stderr or message == "2 results"
    assert "Traceback" not in done.stderr


def test_a_table_needs_the_suite(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    done = synth("import", tmp_path / "t.csv", "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 2 and "--suite says of which tests this is" in done.stderr


PASS = "+ amber -d my/spin.plain.amber\n\nSummary: 1 pass, 0 fail\n"
STUCK = "my/ordered.plain.amber\nmy/ordered.plain.amber: Vulkan::Calling vkWaitForFences Timeout\n"
CRASH = "run.sh: line 3: 4711 Segmentation fault      (core dumped) amber -d my/ordered.plain.amber\n"
FAILS = "\nSummary of Failures:\n  my/ordered.plain.amber\n\nSummary: 0 pass, 1 fail\n"


@pytest.mark.parametrize("after", [CRASH, FAILS, ""])
def test_logs_of_amber(tmp_path: Path, suite: Path, after: str) -> None:
    """Each run is an iteration, whether Amber crashes after its time-out or goes on to its summary."""
    (tmp_path / "log").write_text((PASS + STUCK + after) * 20)
    done = synth("import", tmp_path / "log", "--suite", suite, "-o", tmp_path / "r.jsonl", "--device", "a GPU")
    assert done.exit_code == 0, done.stderr
    hang, control = read_results(tmp_path / "r.jsonl")
    assert isinstance(hang, ProgressResult) and isinstance(control, ProgressResult)
    assert (hang.test, hang.mapping, hang.outcomes, hang.timeout) == ("ordered", "plain", "H" * 20, 5.0)
    assert hang.confirmed and hang.every_iteration and (hang.backend, hang.device) == ("glsl", "a GPU")
    assert (control.test, control.outcomes) == ("spin", "T" * 20)
    assert "lobe-strong" in contradicted(tmp_path / "r.jsonl", suite)


def test_one_run_of_amber_with_several_scripts(tmp_path: Path, suite: Path) -> None:
    (tmp_path / "log").write_text(
        "+ amber -d 'my folder/spin.plain.amber' ordered.chunked.workgroup.amber\n"
        "ordered.chunked.workgroup.amber: Line 40: Verifier failed: 3 == 4, at index 0\n"
        "\nSummary of Failures:\n  ordered.chunked.workgroup.amber\n\nSummary: 1 pass, 1 fail\n"
    )
    assert synth("import", tmp_path / "log", "--suite", suite, "-o", tmp_path / "r.jsonl").exit_code == 0
    failure, result = read_results(tmp_path / "r.jsonl")
    assert isinstance(failure, ProgressFailure) and failure.error.startswith("Line 40: Verifier failed")
    assert (failure.mapping, failure.placement) == ("chunked", "workgroup")
    assert isinstance(result, ProgressResult) and (result.test, result.outcomes) == ("spin", "T")


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("+ amber -d spin.plain.amber\n", ":1: spin.plain.amber: the run has no summary: it crashed or was stopped"),
        ("+ amber -d spin.plain.amber\nKilled\n" + PASS, ":1: spin.plain.amber: the run has no summary"),
        ("Summary: 1 pass, 0 fail\n", ":1: a summary of Amber, and no line before it says of which script"),
        ("spin.plain.amber\nSummary: 0 pass, 1 fail\n", ":2: expected a summary of the 1 scripts before it"),
        ("spin.amber\nSummary: 1 pass, 0 fail\n", ":1: spin.amber: expected TEST.MAPPING.amber"),
        ("other.plain.amber\nSummary: 1 pass, 0 fail\n", ":1: other.plain.amber: the suite has no test of this name"),
        ("spin.amber: \x1b[0m line\nspin.plain.amber\n", "spin.plain.amber: the run has no summary"),
    ],
)
def test_what_a_log_of_amber_does_not_say(tmp_path: Path, suite: Path, log: str, message: str) -> None:
    (tmp_path / "log").write_text(log)
    done = synth("import", tmp_path / "log", "--suite", suite, "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 1 and message in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data())
def test_broken_tables_and_logs_never_break_us(tmp_path: Path, suite: Path, data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from([TABLE, PASS + STUCK + FAILS + STUCK + CRASH])).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    (tmp_path / "bad").write_bytes(bytes(raw))
    (tmp_path / "r.jsonl").unlink(missing_ok=True)
    assert synth("import", tmp_path / "bad", "--suite", suite, "-o", tmp_path / "r.jsonl").exit_code in (0, 1, 2)


def test_a_test_that_is_run_again_and_again_by_a_shell(tmp_path: Path) -> None:
    """``for i in $(seq 20); do timeout 20 ./t 1; done``: a program that hangs is killed in its only iteration."""
    one = json.loads(print_result(replace(HANG, iterations=1, every_iteration=False, outcomes="H")))
    began = {name: value for name, value in one.items() if name not in ("outcomes", "timeout")}
    ended = {**began, "test": "spin", "digest": "00ff", "date": "2026-01-01T00:00:00Z"}
    log = tmp_path / "log"
    log.write_text(
        f"{json.dumps({'began': began})}\nready\n" * 20
        + f"{json.dumps({'began': ended})}\nready\niteration 0 terminated\n{json.dumps(ended | {'outcomes': 'T'})}\n"
        * 20
    )
    done = synth("import", log, "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 0 and "20 tests began and did not end: hangs, in 20 s" in done.stderr
    hang, control = read_results(tmp_path / "r.jsonl")
    assert isinstance(hang, ProgressResult) and (hang.outcomes, hang.iterations) == ("H" * 20, 20) and hang.confirmed
    assert isinstance(control, ProgressResult) and control.outcomes == "T" * 20
