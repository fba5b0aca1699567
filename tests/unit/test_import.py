"""``synth import``: logs of our programs, of litmus7, herd7 and Amber, files of results; merged, cut and hostile."""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from amber_buffers import dump, totals
from commands import synth
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from backends.shared.results import (
    Entry,
    MemoryFailure,
    MemoryResult,
    ProgressFailure,
    ProgressResult,
    Times,
    open_results,
    parse_result,
    print_result,
    read_results,
    read_times,
    trial_of,
)
from corpus.dialects.registry import parse_litmus
from corpus.litmus.normal import litmus_digest
from synth.importing.results import merged

SB = """C SB
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0 = 0 /\\ 1:r1 = 0)
"""
LAST = """C last
{}
P0 (atomic_int* x) { atomic_store_explicit(x, 1, memory_order_relaxed); }
P1 (atomic_int* x) { atomic_store_explicit(x, -1, memory_order_relaxed); }
~exists (x != 1)
"""
HANG = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"

MEMORY = MemoryResult(
    test="SB",
    digest=litmus_digest(parse_litmus(SB)),
    backend="cpp",
    device="a device",
    instances=64,
    iterations=2,
    timeout=20.0,
    stress=False,
    terms=("P0:r0", "P1:r1"),
    outcomes=(((0, 1), 100), ((1, 0), 28)),
    other=0,
    launches=2,
    hung=False,
    date="2026-01-01T00:00:00Z",
)
PROGRESS = ProgressResult(
    test="wait",
    digest="00ff",
    backend="opencl",
    device="a device",
    mapping="plain",
    instances=1,
    iterations=3,
    timeout=20.0,
    every_iteration=False,
    outcomes="TTT",
    date="2026-01-01T00:00:00Z",
)


def said(entry: Entry, **other: Any) -> dict[str, Any]:
    """What a program says: all but the time-out."""
    known = {**json.loads(print_result(entry)), **other}
    del known["timeout"]
    return known


def began(entry: Entry) -> str:
    known = said(entry)
    for name in ("outcomes", "other", "launches", "hung", "error"):
        known.pop(name, None)
    return json.dumps({"began": known})


def lines(path: Path) -> list[Entry]:
    return read_results(path)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "SB.litmus").write_text(SB)
    (folder / "last.litmus").write_text(LAST)
    return folder


def test_a_log_of_programs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(
        "\n".join(
            [
                "nvcc: a warning",
                began(PROGRESS),
                "ready",
                *(f"iteration {number} terminated" for number in range(3)),
                json.dumps(said(PROGRESS)),
                "wait.plain plain: terminated in all of 3 iterations",
                began(MEMORY),
                "ready",
                "iteration 0 [[[64, 0, 1]], 0]",
                f"Killed {json.dumps(said(MEMORY))} and more",
                "",
            ]
        )
    )
    done = synth("import", log, "-o", tmp_path / "r.jsonl")
    assert (done.exit_code, done.stderr) == (0, f"2 results in {tmp_path / 'r.jsonl'}, 2 of them new\n")
    assert lines(tmp_path / "r.jsonl") == [MEMORY, PROGRESS]


def test_what_began_and_did_not_end_is_a_hang(tmp_path: Path) -> None:
    log = tmp_path / "log"
    again = replace(PROGRESS, mapping="chunked", instances=8)
    whole = replace(PROGRESS, mapping="round-robin")
    log.write_text(
        f"{began(PROGRESS)}\nready\niteration 0 terminated\niteration 1 terminated\n"
        f"{began(again)}\nready\n"
        f"{began(MEMORY)}\nready\niteration 0 [[[60, 0, 1], [4, 4294967295, 0]], 0]\n"
        f"{began(whole)}\nready\n" + "".join(f"iteration {number} terminated\n" for number in range(3))
    )
    done = synth("import", log, "-o", tmp_path / "r.jsonl", "--timeout", 5)
    assert done.exit_code == 0
    assert "3 tests began and did not end: hangs, in 5 s" in done.stderr
    assert lines(tmp_path / "r.jsonl") == [
        replace(MEMORY, timeout=5.0, outcomes=(((-1, 0), 4), ((0, 1), 60)), launches=1, hung=True),
        replace(PROGRESS, timeout=5.0, outcomes="TTH"),
        replace(whole, timeout=5.0),  # killed between its last iteration and its result
        replace(again, timeout=5.0, outcomes="H"),
    ]


def test_a_hang_and_then_an_end_of_the_same_trial(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{began(PROGRESS)}\niteration 0 terminated\n{began(PROGRESS)}\n{json.dumps(said(PROGRESS))}\n")
    synth("import", log, "-o", tmp_path / "r.jsonl")
    assert [entry.outcomes for entry in lines(tmp_path / "r.jsonl") if isinstance(entry, ProgressResult)] == [
        "TH",
        "TTT",
    ]


def test_a_failure_is_no_hang(tmp_path: Path) -> None:
    log = tmp_path / "log"
    failed = ProgressFailure(**asdict(trial_of(PROGRESS)), error='it said "no"', date=PROGRESS.date)
    log.write_text(f"{began(PROGRESS)}\n{json.dumps(said(failed))}\n")
    assert synth("import", log, "-o", tmp_path / "r.jsonl").exit_code == 0
    assert lines(tmp_path / "r.jsonl") == [failed]


def test_a_log_that_was_cut_says_nothing_of_the_test_under_way(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for text in (f"{began(PROGRESS)}\niteration 0 term", f"{began(PROGRESS)}\n{json.dumps(said(PROGRESS))[:50]}"):
        log.write_text(f"{json.dumps(said(MEMORY))}\n{text}")
        done = synth("import", log, "-o", tmp_path / "r.jsonl")
        assert done.exit_code == 0 and "cut off" in done.stderr and "hangs" not in done.stderr
        assert lines(tmp_path / "r.jsonl") == [MEMORY]


def test_words_of_the_user(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"{json.dumps(said(PROGRESS))}\n{json.dumps(said(MEMORY))}\n")
    options = {"device": "H100", "driver": "580", "compiler": "nvcc 13", "date": "2026-11-22", "profile": "tuned"}
    synth("import", log, "-o", tmp_path / "r", *(word for name in options for word in (f"--{name}", options[name])))
    named = {"device": "H100", "driver": "580", "compiler": "nvcc 13", "date": "2026-11-22T00:00:00Z"}
    assert lines(tmp_path / "r") == [replace(MEMORY, profile="tuned", **named), replace(PROGRESS, **named)]
    assert synth("import", log, "-o", tmp_path / "r", "--date", "yesterday").exit_code == 2
    assert synth("import", log, "-o", tmp_path / "r", "--timeout", "inf").exit_code == 2
    assert synth("import", log, "-o", tmp_path / "r", "--where", "SB").exit_code == 2


def test_only_tests_of_the_suite(tmp_path: Path, suite: Path) -> None:
    log = tmp_path / "log"
    other = replace(MEMORY, digest="00ff")
    terms = replace(MEMORY, terms=("P0:r7", "P1:r1"))
    unknown = replace(MEMORY, test="LB", digest="00")
    log.write_text("".join(f"{json.dumps(said(each))}\n" for each in (other, unknown, terms, MEMORY)))
    done = synth("import", log, "-o", tmp_path / "r.jsonl", "--suite", suite)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:-1] == [
        f"synth: {log}: SB: the suite has another test of this name: its digest is not 00ff",
        f"synth: {log}: LB: the suite has no such test",
        f"synth: {log}: SB: its outcomes are of P0:r7, P1:r1, the suite's of P0:r0, P1:r1",
    ]
    assert lines(tmp_path / "r.jsonl") == [MEMORY]


X86 = """
%%%%%%%%%%%%%%%%%%%%%%%%%
% Results for SB.litmus %
%%%%%%%%%%%%%%%%%%%%%%%%%
Generated assembler
Test SB Allowed
Histogram (3 states)
7     *>0:EAX=0; 1:EAX=0;
50    :>0:EAX=0x1; 1:EAX=0;
43    :>0:EAX=0; 1:EAX=1; # a comment
Ok

Witnesses
Positive: 7, Negative: 93
Condition exists (0:EAX=0 /\\ 1:EAX=0) is validated
Hash=0123456789abcdef0123456789abcdef
Observation SB Sometimes 7 93
Time SB 0.10

Test last Required
Histogram (2 states)
60    :>[x]=1;
40    *>x=0xffffffff;
No

Witnesses
Positive: 60, Negative: 40
Condition ~exists (not ([x]=1)) is NOT validated
Observation last Sometimes 40 60

Machine:a-board
processor\t: 0
model name\t: A CPU @ 1 GHz
processor\t: 1
model name\t: A CPU @ 1 GHz
Revision 00, version 7.58
Command line: litmus7 SB.litmus -s 10 -r 10
Parameters
#define SIZE_OF_TEST 10
#define NUMBER_OF_RUN 10
"""


def test_a_log_of_litmus7(tmp_path: Path, suite: Path) -> None:
    log = tmp_path / "litmus.log"
    log.write_text(X86.replace("\n", "\r\n"))
    done = synth("import", log, "-o", tmp_path / "r.jsonl", "--suite", suite, "--date", "2026-11-22")
    assert done.exit_code == 0, done.stderr
    sb, last = lines(tmp_path / "r.jsonl")
    assert isinstance(sb, MemoryResult) and isinstance(last, MemoryResult)
    assert sb == replace(
        MEMORY,
        backend="litmus7",
        device="A CPU @ 1 GHz, a-board",
        compiler="litmus7 7.58",
        instances=10,
        iterations=10,
        launches=10,
        outcomes=(((0, 0), 7), ((0, 1), 43), ((1, 0), 50)),
        date="2026-11-22T00:00:00Z",
    )
    assert (last.terms, last.outcomes) == (("x",), (((-1,), 40), ((1,), 60)))


HERD = """Test SB Allowed
States 4
0:r0=0; 1:r1=0; [x]=1;
0:r0=0; 1:r1=1; [x]=1;
0:r0=1; 1:r1=0; [x]=1;
0:r0=1; 1:r1=0; [x]=2;
Loop Ok
Witnesses
Positive: 1 Negative: 3
Flag data-race
Condition exists (0:r0=0 /\\ 1:r1=0)
Observation SB Sometimes 1 3
Time SB 0.00
Hash=0123456789abcdef0123456789abcdef
"""


def test_outcomes_of_herd7(tmp_path: Path, suite: Path) -> None:
    log = tmp_path / "herd.log"
    log.write_text(HERD)
    assert synth("import", log, "-o", tmp_path / "r.jsonl", "--suite", suite, "--device", "rc11.cat").exit_code == 0
    (result,) = lines(tmp_path / "r.jsonl")
    assert isinstance(result, MemoryResult)
    assert (result.backend, result.device) == ("herd7", "rc11.cat")
    assert result.outcomes == (((0, 0), 1), ((0, 1), 1), ((1, 0), 2))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("Test SB", "Test LB"), "LB: the suite has no test of this name"),
        (("States 4", "States 5"), "SB: the log was cut: 4 of 5 final states are there"),
        (("Loop Ok\n", ""), "SB: expected a final state, found 'Witnesses'"),
        (("exists (0:r0=0", "exists (0:r9=0"), "SB: its final states do not have P0:r9"),
        (("exists (0:r0=0 /\\ 1", "exists (1:r1=0 /\\ 1"), "SB: it asks for something else: exists (1:r1=0 /"),
        (("(0:r0=0 /\\ 1:r1=0)", "(0:r0=0 /\\ 1:r1=1)"), "SB: it asks for something else"),
        (("Condition exists", "Condition forall"), "SB: it asks for something else"),
        (("Condition exists", "Condition exists exists"), "SB: expected"),
        (("0:r0=1; 1:r1=0; [x]=1;", "0:r0=1; [x]=1;"), "SB: its final states do not have P1:r1"),
        (("0:r0=1; 1:r1=0; [x]=1;", "0:r0=x; 1:r1=0;"), "SB: expected a number in a register or location"),
        (("0:r0=1; 1:r1=0; [x]=1;", "~Fault(P0,x); 0:r0=1;"), "SB: expected a final state"),
    ],
)
def test_what_is_wrong_with_a_block_is_said_and_the_rest_taken(
    change: tuple[str, str], why: str, tmp_path: Path, suite: Path
) -> None:
    log = tmp_path / "log"
    log.write_text(HERD.replace(*change) + X86)
    done = synth("import", log, "-o", tmp_path / "r.jsonl", "--suite", suite)
    assert done.exit_code == 1
    assert f"synth: {log}:1: {why}" in done.stderr
    assert [entry.backend for entry in lines(tmp_path / "r.jsonl")] == ["litmus7", "litmus7"]


def test_counts_that_do_not_add_up(tmp_path: Path, suite: Path) -> None:
    log = tmp_path / "log"
    log.write_text(X86.replace("Negative: 93", "Negative: 94"))
    done = synth("import", log, "-o", tmp_path / "r.jsonl", "--suite", suite)
    assert done.exit_code == 1 and "SB: the counts add up to 100, and the log says 101" in done.stderr


def test_words_that_begin_like_a_log(tmp_path: Path, suite: Path) -> None:
    log = tmp_path / "log"
    log.write_text(f"Test passed\nTest SB Allowed\nFatal error: no\n{json.dumps(said(MEMORY))}\n")
    done = synth("import", log, "-o", tmp_path / "r.jsonl", "--suite", suite)
    assert done.exit_code == 1 and done.stderr.splitlines()[0] == f"synth: {log}:2: SB: Fatal error: no"
    assert lines(tmp_path / "r.jsonl") == [MEMORY]


def test_a_dump_of_amber(tmp_path: Path, suite: Path) -> None:
    (tmp_path / "SB.txt").write_text(dump(totals([100, 0, 1], [28, 1, 0])))
    (tmp_path / "b.txt").write_text(dump(totals([128, 0, 0])))
    (tmp_path / "bad.txt").write_text(dump(totals([127, 0, 0])))
    done = synth("import", tmp_path / "SB.txt", tmp_path / "b.txt", "-o", tmp_path / "r.jsonl", "--suite", suite)
    assert done.exit_code == 1 and "b.txt: the suite has no test that the file is called after" in done.stderr
    assert lines(tmp_path / "r.jsonl") == [
        replace(MEMORY, backend="glsl", device="SB.txt, written elsewhere", date=""),
    ]
    options = ("--suite", suite, "--where", "SB", "--device", "Mali", "-o", tmp_path / "s.jsonl")
    assert synth("import", tmp_path / "b.txt", *options).exit_code == 0
    assert [entry.device for entry in lines(tmp_path / "s.jsonl")] == ["Mali"]
    done = synth("import", tmp_path / "bad.txt", *options)
    assert done.exit_code == 1 and "bad.txt: the counts do not add up" in done.stderr


def test_without_a_suite_logs_of_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(HERD)
    (tmp_path / "SB.txt").write_text(dump(totals([128, 0, 0])))
    done = synth("import", tmp_path / "log", tmp_path / "SB.txt", "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 1 and done.stderr.count("--suite says") == 2


# Merging.

texts = st.text(max_size=8).filter(lambda text: text.isprintable() or "\n" not in text)
dates = st.sampled_from(["", "2026-01-01T00:00:00Z", "2026-11-22T12:00:00Z"])
progress_results = st.builds(
    ProgressResult,
    test=st.sampled_from(["a", "b", '"\\</script>\u2028']),
    digest=st.sampled_from(["00", "ff"]),
    backend=st.sampled_from(["cpp", "opencl"]),
    device=st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    mapping=st.sampled_from(["plain", "chunked"]),
    instances=st.integers(1, 9),
    iterations=st.integers(1, 9),
    timeout=st.none() | st.floats(0.1, 100),
    every_iteration=st.booleans(),
    placement=st.sampled_from(["device", "subgroup"]),
    outcomes=st.text("TH", min_size=1, max_size=5),
    date=dates,
)
memory_results = st.builds(
    MemoryResult,
    test=st.sampled_from(["a", "b"]),
    digest=st.sampled_from(["00", "ff"]),
    backend=st.just("cpp"),
    device=st.sampled_from(["", "a", "%s"]),
    instances=st.integers(1, 9),
    iterations=st.integers(1, 9),
    timeout=st.none() | st.floats(0.1, 100),
    stress=st.booleans(),
    terms=st.just(("P0:r0", "x")),
    profile=st.sampled_from(["", "tuned"]),
    outcomes=st.lists(st.tuples(st.tuples(st.integers(-2, 2), st.integers()), st.integers(0, 9)), max_size=2).map(
        tuple
    ),
    other=st.integers(0, 9),
    launches=st.integers(0, 9),
    hung=st.booleans(),
    date=dates,
)
tried_results = (progress_results | memory_results).filter(lambda each: each.hangs)
entries = (
    progress_results
    | tried_results.map(lambda each: replace(each, tries=(each.counted, "H", "H")))
    | memory_results
    | memory_results.map(lambda each: MemoryFailure(**asdict(trial_of(each)), error="no", date=each.date))
)


def written(path: Path, found: Sequence[Entry]) -> Path:
    path.write_text("".join(f"{print_result(entry)}\n" for entry in found))
    return path


@settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.lists(entries, max_size=8), st.randoms())
def test_shards_in_any_order_give_the_same_bytes(tmp_path: Path, found: list[Entry], chance: random.Random) -> None:
    one = tmp_path / "one.jsonl"
    one.unlink(missing_ok=True)
    assert synth("import", written(tmp_path / "whole", found), "-o", one).exit_code == 0
    shuffled = chance.sample(found, len(found)) + found[:2]
    shards = [written(tmp_path / f"shard{number}", shuffled[number::3]) for number in range(3)]
    other = tmp_path / "other.jsonl"
    other.unlink(missing_ok=True)
    first, *rest = chance.sample(shards, 3)
    assert synth("import", first, "-o", other).exit_code == 0
    assert synth("import", *rest, "-o", other).exit_code == 0
    assert one.read_bytes() == other.read_bytes()
    assert lines(one) == [entry for entry, _ in merged((entry, Times()) for entry in found)]
    assert set(map(print_result, lines(one))) == set(map(print_result, found))


@given(st.lists(entries, max_size=8))
def test_the_latest_of_a_trial_comes_last(found: list[Entry]) -> None:
    last: dict[object, str] = {}
    for entry, _ in merged((entry, Times()) for entry in found):
        assert last.setdefault(trial_of(entry), entry.date) <= entry.date
        last[trial_of(entry)] = entry.date


def test_times_go_with_their_results(tmp_path: Path) -> None:
    for name, entry, seconds in (("a", PROGRESS, (0.5, 0.25)), ("b", MEMORY, (3.0,)), ("c", PROGRESS, (0.125,))):
        with open_results(tmp_path / f"{name}.jsonl") as file:
            file.add(entry, Times(seconds))
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]
    assert synth("import", *files, "-o", tmp_path / "all.jsonl").exit_code == 0
    assert read_times(tmp_path / "all.jsonl") == [Times((3.0,)), Times((0.125,))]
    with open_results(tmp_path / "all.jsonl") as file:  # and a run goes on
        assert file.find(trial_of(PROGRESS)) == PROGRESS
        file.add(replace(PROGRESS, mapping="chunked"), Times((1.0,)))
    assert read_times(tmp_path / "all.jsonl") == [Times((3.0,)), Times((0.125,)), Times((1.0,))]


def test_what_is_there_stays(tmp_path: Path) -> None:
    output = written(tmp_path / "r.jsonl", [MEMORY, replace(MEMORY, outcomes=())])
    written(tmp_path / "new", [PROGRESS, MEMORY])
    done = synth("import", tmp_path / "new", "-o", output)
    assert done.stderr == f"3 results in {output}, 1 of them new\n"
    assert set(map(print_result, lines(output))) >= {print_result(MEMORY), print_result(replace(MEMORY, outcomes=()))}


def test_an_output_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path / "new", [MEMORY])
    for text in (f"a log\n{print_result(MEMORY)}\n", f"{began(PROGRESS)}\n", "notes"):
        (tmp_path / "r").write_text(text)
        done = synth("import", tmp_path / "new", "-o", tmp_path / "r")
        assert done.exit_code == 2 and done.stderr.startswith(f"synth: {tmp_path / 'r'}:1: expected a result")
        assert (tmp_path / "r").read_text() == text
    (tmp_path / "r").write_text(f"{print_result(PROGRESS)}\n{print_result(MEMORY)[:30]}")
    done = synth("import", tmp_path / "new", "-o", tmp_path / "r")
    assert done.exit_code == 0 and "the last line was cut off" in done.stderr
    assert lines(tmp_path / "r") == [MEMORY, PROGRESS]
    with open_results(tmp_path / "r"):
        assert "another process" in synth("import", tmp_path / "new", "-o", tmp_path / "r").stderr


@pytest.mark.parametrize("part", [0.3, 0.5, 0.9])
def test_a_file_cut_in_half(part: float, tmp_path: Path) -> None:
    found = [replace(MEMORY, instances=number) for number in range(1, 20)]
    data = written(tmp_path / "whole", found).read_bytes()
    at = int(len(data) * part)
    (tmp_path / "first").write_bytes(data[:at])
    (tmp_path / "second").write_bytes(data[at:])
    done = synth("import", tmp_path / "first", "-o", tmp_path / "a")
    assert done.exit_code == 0 and "the last line was cut off, and is left out" in done.stderr
    done = synth("import", tmp_path / "second", "-o", tmp_path / "b")
    assert done.exit_code == 1 and f"synth: {tmp_path / 'second'}:1: expected a result of a test" in done.stderr
    assert len(lines(tmp_path / "a")) + len(lines(tmp_path / "b")) == 18


HOSTILE = (
    b'{"test":"a"}',
    b'{"test":' + b"[" * 100_000,
    b'{"test":"a","digest":"a","backend":"b","device":"d","mapping":"plain","instances":1e999,"outcomes":"T"}',
    print_result(MEMORY).replace("20.0", "Infinity").encode(),
    print_result(MEMORY).replace("20.0", "1e999").encode(),
    print_result(MEMORY).replace("20.0", "NaN").encode(),
    print_result(MEMORY).replace("100]", "-1]").encode(),
    print_result(MEMORY).replace("100]", "9" * 5000 + "]").encode(),
    print_result(PROGRESS).replace("TTT", "TTX").encode(),
    print_result(PROGRESS).replace("wait", "\\ud800").encode(),
    print_result(PROGRESS).replace('"wait"', '"wait","more":1').encode(),
    b'{"began":{"test":"a","iterations":-1}}',
    b'{"began":{"test":["a"],"terms":{}}}\niteration 0 [[[]], 0]',
    b'{"began":[]}',
    b'\xff\xfe{"test":"\x00',
    b"\x00" * 1000,
    b"Test SB Allowed\nHistogram (999999999 states)\n0:x=99999999999999999999;\n",
    b"3\n 00\n",
    b"Test SB Allowed\nStates 1\n" + b"0:r0=0; " * 5000 + b"\nOk\n",
)


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_files_cost_nothing_but_themselves(data: bytes, tmp_path: Path, suite: Path) -> None:
    (tmp_path / "bad").write_bytes(data + b"\n")
    written(tmp_path / "good", [MEMORY])
    done = synth("import", tmp_path / "bad", tmp_path / "good", "--suite", suite, "-o", tmp_path / "r.jsonl")
    assert done.exit_code == 1 and done.stderr.startswith("synth: ")
    assert all(line.isprintable() for line in done.stderr.splitlines())
    assert lines(tmp_path / "r.jsonl") == [MEMORY]


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.data())
def test_broken_files_never_break_us(tmp_path: Path, suite: Path, data: st.DataObject) -> None:
    """Whatever bytes are changed: whole lines are taken or told, and what is written can be read."""
    text = f"{began(PROGRESS)}\niteration 0 terminated\n{print_result(MEMORY)}\n{HERD}{print_result(MEMORY)}\n{X86}"
    raw = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    (tmp_path / "bad").write_bytes(bytes(raw[: data.draw(st.integers(0, len(raw)))]))
    (tmp_path / "r.jsonl").unlink(missing_ok=True)
    done = synth("import", tmp_path / "bad", "--suite", suite, "-o", tmp_path / "r.jsonl")
    assert done.exit_code in (0, 1, 2)
    if done.exit_code < 2:
        assert all(parse_result(print_result(entry)) == entry for entry in lines(tmp_path / "r.jsonl"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    written(tmp_path / "good", [MEMORY])
    (tmp_path / "prose").write_text("nothing of ours\n")
    (tmp_path / "empty").write_text("")
    done = synth("import", tmp_path / "missing", tmp_path / "good", tmp_path / "prose", "-o", tmp_path / "r")
    assert done.exit_code == 1 and lines(tmp_path / "r") == [MEMORY]
    assert "missing: cannot read" in done.stderr and "prose: nothing to import: expected lines of JSON" in done.stderr
    assert synth("import", tmp_path / "missing", "-o", tmp_path / "s").exit_code == 2
    assert not (tmp_path / "s").exists()
    assert synth("import", tmp_path / "empty", "-o", tmp_path / "s").exit_code == 0
    assert lines(tmp_path / "s") == []


def test_the_examples_of_the_help(tmp_path: Path, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in "ab":
        Path(folder).mkdir()
        written(Path(folder, "results.jsonl"), [MEMORY])
    written(Path("log"), [MEMORY])
    Path("outcomes.txt").write_text(dump(totals([128, 0, 0])))
    Path("litmus.log").write_text(X86)
    lines_ = [line.strip() for line in synth("import", "--help").stdout.splitlines() if line.startswith("    synth ")]
    assert len(lines_) == 4
    for line in lines_:
        assert synth(*shlex.split(line)[1:]).exit_code == 0, line
    assert {entry.device for entry in lines(Path("all.jsonl"))} == {"a device", "Mali-G78", "Raspberry Pi 5"}
