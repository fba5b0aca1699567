"""``synth diff``: what changed between two sides, which are files or chosen by what results say of themselves."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import synth
from msgspec.structs import asdict, replace

from backends.shared.results import Entry, MemoryResult, ProgressFailure, ProgressResult, print_result, trial_of
from corpus.dialects.registry import parse_litmus
from corpus.litmus.normal import litmus_digest
from corpus.progress.axb import digest
from corpus.progress.text import parse_axb
from synth.statistics import chances_corrected, rates_equal

SB = """C SB
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_seq_cst);
  int r0 = atomic_load_explicit(y, memory_order_seq_cst);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_seq_cst);
  int r1 = atomic_load_explicit(x, memory_order_seq_cst);
}
exists (0:r0 = 0 /\\ 1:r1 = 0)
"""
WAIT = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"
PROGRESS = ProgressResult(
    test="wait",
    digest=digest(parse_axb(WAIT)),
    backend="opencl",
    device="pthread-CPU, OpenCL 3.0 PoCL 6",
    mapping="plain",
    instances=1,
    iterations=20,
    timeout=1.0,
    every_iteration=True,
    outcomes="T" * 20,
    driver="6.0",
    date="2026-10-01T00:00:00Z",
)
MEMORY = MemoryResult(
    test="SB",
    digest=litmus_digest(parse_litmus(SB)),
    backend="cpp",
    device="Linux",
    instances=1000,
    iterations=50,
    timeout=5.0,
    stress=False,
    terms=("P0:r0", "P1:r1"),
    outcomes=(((0, 1), 30_000), ((1, 0), 20_000)),
    other=0,
    launches=50,
    hung=False,
    date="2026-10-01T00:00:00Z",
)
LATER = "2026-11-01T00:00:00Z"


def written(path: Path, found: Sequence[Entry]) -> Path:
    path.write_text("".join(f"{print_result(entry)}\n" for entry in found))
    return path


def diff(tmp_path: Path, before: Sequence[Entry], after: Sequence[Entry], *options: object) -> dict[str, Any]:
    a, b = written(tmp_path / "a.jsonl", before), written(tmp_path / "b.jsonl", after)
    done = synth("diff", a, b, "--json", *options)
    found: dict[str, Any] = json.loads(done.stdout)
    changed = found["changes"] or found["contradicted_by_a_only"] or found["contradicted_by_b_only"]
    assert done.exit_code == bool(changed)
    table = synth("diff", a, b, *options)
    assert table.exit_code == done.exit_code
    assert all(change["test"] in table.stdout and change["what"] in table.stdout for change in found["changes"])
    return found


def whats(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(change["test"], change["what"], change["outcome"]) for change in found["changes"]]


def test_nothing_changed(tmp_path: Path) -> None:
    later = [replace(each, date=LATER, device="another") for each in (PROGRESS, MEMORY)]
    found = diff(tmp_path, [PROGRESS, MEMORY], later)
    assert (found["compared"], found["changes"], found["only_a"], found["only_b"]) == (2, [], [], [])


def test_a_hang_appeared_and_vanished(tmp_path: Path) -> None:
    hangs = replace(PROGRESS, outcomes="T" * 17 + "HHH")
    found = diff(tmp_path, [PROGRESS], [hangs])
    (change,) = found["changes"]
    assert change["what"] == "appeared" and change["asked"] and change["way"] == "plain"
    assert (change["a"], change["b"]) == ({"seen": 0, "runs": 20}, {"seen": 3, "runs": 20})
    assert change["chance"] == pytest.approx(rates_equal(0, 20, 3, 20))
    assert whats(diff(tmp_path, [hangs], [PROGRESS])) == [("wait", "vanished", "does not end")]
    assert whats(diff(tmp_path, [PROGRESS], [hangs], "--significant")) == []
    always = replace(PROGRESS, outcomes="H" * 20)
    assert whats(diff(tmp_path, [PROGRESS], [always], "--significant")) == [("wait", "appeared", "does not end")]


def test_the_rate_of_hangs(tmp_path: Path) -> None:
    few, many = replace(PROGRESS, outcomes="H" + "T" * 19), replace(PROGRESS, outcomes="H" * 18 + "TT")
    assert whats(diff(tmp_path, [few], [many])) == [("wait", "rate", "does not end")]
    assert whats(diff(tmp_path, [few], [replace(PROGRESS, outcomes="HHH" + "T" * 17)])) == []
    assert whats(diff(tmp_path, [few], [many], "--significance", 1e-9)) == []


def test_outcomes_appear_and_vanish(tmp_path: Path) -> None:
    weak = replace(MEMORY, outcomes=(((0, 0), 3), ((0, 1), 49_997)))
    assert whats(diff(tmp_path, [MEMORY], [weak])) == [
        ("SB", "appeared", "P0:r0=0; P1:r1=0"),
        ("SB", "rate", "P0:r0=0; P1:r1=1"),
        ("SB", "vanished", "P0:r0=1; P1:r1=0"),
    ]
    swapped = replace(MEMORY, terms=("P1:r1", "P0:r0"), outcomes=(((1, 0), 30_000), ((0, 1), 20_000)))
    assert whats(diff(tmp_path, [MEMORY], [swapped])) == []


def test_launches_and_not_instances_are_independent(tmp_path: Path) -> None:
    """Had the 50 launches ended all alike, each, then 30 and 35 of 50 would be nothing to speak of."""
    more = replace(MEMORY, outcomes=(((0, 1), 35_000), ((1, 0), 15_000)))
    assert rates_equal(30_000, 50_000, 35_000, 50_000) < 1e-99
    assert whats(diff(tmp_path, [MEMORY], [more])) == []
    other = replace(MEMORY, outcomes=(((0, 1), 1_000), ((1, 0), 49_000)))
    assert {what for _, what, _ in whats(diff(tmp_path, [MEMORY], [other]))} == {"rate"}


def test_launches_that_hang_and_tests_that_fail(tmp_path: Path) -> None:
    failed = ProgressFailure(**asdict(trial_of(PROGRESS)), error="no compiler\x1b[2J")
    found = diff(tmp_path, [PROGRESS, MEMORY], [failed, replace(MEMORY, hung=True)])
    assert whats(found) == [("SB", "appeared", "does not end"), ("wait", "fails", "")]
    assert found["changes"][1]["error"] == "no compiler\x1b[2J"
    assert "\x1b" not in synth("diff", tmp_path / "a.jsonl", tmp_path / "b.jsonl").stdout
    assert [what for _, what, _ in whats(diff(tmp_path, [failed], [PROGRESS]))] == ["no longer fails"]


def test_the_last_of_a_trial_counts_and_ways_are_apart(tmp_path: Path) -> None:
    hangs = replace(PROGRESS, outcomes="H")
    chunked = replace(PROGRESS, mapping="chunked", outcomes="H")
    found = diff(tmp_path, [hangs, PROGRESS], [replace(PROGRESS, date=LATER), chunked])
    assert found["changes"] == [] and [unit["way"] for unit in found["only_b"]] == ["chunked"]
    both = written(tmp_path / "all.jsonl", [PROGRESS, chunked])
    done = synth("diff", both, "mapping=plain", "mapping=chunked", "--json")
    assert done.exit_code == 1 and whats(json.loads(done.stdout)) == [("wait", "appeared", "does not end")]


def test_a_profile_is_called_by_its_name(tmp_path: Path) -> None:
    tuned = replace(MEMORY, profile="mine#3f0c1a2b", outcomes=(((0, 0), 50_000),))
    both = written(tmp_path / "all.jsonl", [MEMORY, replace(tuned, profile="mine2#00", outcomes=()), tuned])
    for name in ("mine", "mine#3f0c1a2b"):
        found = json.loads(synth("diff", both, "profile=", f"profile={name}", "--json").stdout)
        assert found["compared"] == 1 and found["changes"][0]["b"]["runs"] == 50_000


def test_sides_are_chosen_by_what_results_say(tmp_path: Path) -> None:
    later = replace(PROGRESS, date=LATER, driver="6.1", outcomes="H")
    intel = replace(PROGRESS, device="Intel, OpenCL 3.0")
    both = written(tmp_path / "all.jsonl", [PROGRESS, later, intel])
    for a, b, changes in (
        ("date=2026-10", "date=2026-11", 1),
        ("device=OpenCL 3.0 PoCL,driver=6.0", "driver=6.1, backend=opencl", 1),
        ("device=pthread-CPU, OpenCL,driver=6.0", "device=Intel", 0),
        ("device=PoCL", "device=Intel", 1),
        ("device=PoCL", "device!=PoCL", 1),
        ("driver=6.0,device!=Intel", "driver!=6.0", 1),
    ):
        done = synth("diff", both, a, b, "--json")
        assert (len(json.loads(done.stdout)["changes"]), done.exit_code) == (changes, changes), (a, b)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("ALL",), "expected two sides, A and B"),
        (("device=a", "device=b"), "device=a chooses among results: name their files before it"),
        (("ALL", "missing", "device=Linux"), "expected FIELD=VALUE[,FIELD!=VALUE] or a file, found 'missing'"),
        (("missing", "ALL"), "missing: cannot read: No such file or directory"),
        (("ALL", "devise=a", "device=b"), "did you mean device"),
        (("ALL", "device=Linux", "device=none"), "no result is of device=none; there are: device Linux, pthread-CPU"),
        (("ALL", "profile=x", "device=Linux"), "no result is of profile=x; there are: profile (none)"),
        (("ALL", "backend=cpp", "backend=opencl", "-m", "rc11"), "--model needs the tests"),
        (("ALL", "device=CPU", "device=PoCL"), "both have one result of wait on opencl: pthread-CPU"),
        (("ALL", "device=Linux", "backend!=opencl"), "both have one result of SB on cpp: Linux"),
        (("ALL", "device=Linux", "device!!=Linux"), "expected FIELD=VALUE[,FIELD!=VALUE] or a file"),
        (("ALL", "ALL", "device=Linux"), "both have one result of SB on cpp: Linux"),
        (("ALL", "ALL"), "A and B are the same file"),
        (("ALL", "COPY"), "copy.jsonl both have 2 results, such as one of wait on opencl"),
        (("ALL", "EMPTY"), "empty.jsonl: no results here, and nothing to compare"),
        (("EMPTY", "ALL"), "empty.jsonl: no results here"),
        (("EMPTY", "device=Linux", "device=a"), "no result is of device=Linux; there are: device (none)"),
        (("ALL", "mapping=plain", "mapping!=plain"), "no result is of mapping!=plain; there are: mapping plain"),
        (("ALL", "backend=cpp", "backend=opencl"), "have no test in common that was run in one way"),
        (("PROSE", "ALL"), "expected a result of a test"),
    ],
)
def test_what_is_no_side(words: Sequence[str], why: str, tmp_path: Path) -> None:
    both = written(tmp_path / "all.jsonl", [PROGRESS, MEMORY])
    (tmp_path / "prose").write_text("prose\nprose\n")
    copy, empty = written(tmp_path / "copy.jsonl", [PROGRESS, MEMORY]), written(tmp_path / "empty.jsonl", [])
    files = {"ALL": both, "PROSE": tmp_path / "prose", "COPY": copy, "EMPTY": empty}
    done = synth("diff", *(files.get(word, word) for word in words))
    assert done.exit_code == 2 and why in done.stderr and done.stderr.count("\n") == 1


def test_models_that_are_contradicted(tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "SB.litmus").write_text(SB)
    weak = replace(MEMORY, outcomes=(((0, 0), 1), ((0, 1), 49_999)))
    found = diff(tmp_path, [MEMORY], [weak], "--suite", tests, "-m", "rc11", "-m", "tso")
    assert (found["contradicted_by_a_only"], found["contradicted_by_b_only"]) == ({}, {"rc11": "SB"})
    assert [change["asked"] for change in found["changes"]] == [True, False, False]
    found = diff(tmp_path, [weak], [MEMORY], "--suite", tests, "-m", "rc11")
    assert found["contradicted_by_a_only"] == {"rc11": "SB"}
    (tests / "SB.litmus").unlink()
    (tests / "wait.axb").write_text(WAIT)
    hang = replace(PROGRESS, outcomes="H")
    found = diff(tmp_path, [PROGRESS], [hang], "--suite", tests)
    assert found["contradicted_by_b_only"] == {} and [change["what"] for change in found["changes"]] == ["appeared"]
    found = diff(tmp_path, [PROGRESS], [replace(hang, tries=("H", "H", "H"))], "--suite", tests)
    assert found["contradicted_by_b_only"] == {"fair-strong": "wait", "fair-weak": "wait"}


def test_the_examples_of_the_help(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wait.axb").write_text(WAIT)
    synth("progress", "--threads", 2, "--instrs", 2, "-o", "suite")
    intel = replace(PROGRESS, device="Intel")
    newer = replace(PROGRESS, driver="590", date=LATER)
    every = [replace(PROGRESS, driver="580"), intel, newer]
    for name in ("old.jsonl", "all.jsonl", "suite/results.jsonl"):
        written(Path(name), every)
    written(Path("new.jsonl"), [replace(each, date="2026-12-01T00:00:00Z") for each in every])
    examples = [line.strip() for line in synth("diff", "--help").stdout.splitlines() if line.startswith("    synth ")]
    assert len(examples) == 3
    for line in examples:
        done = synth(*shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.output)


def test_devices_on_one_processor(tmp_path: Path) -> None:
    """PoCL's device and that of Intel's runtime both have the processor's name, of whatever make it is."""
    for name in ("Intel(R) Xeon(R) CPU", "AMD EPYC"):
        pocl = replace(PROGRESS, device=f"cpu-haswell-{name}, OpenCL 3.0 PoCL 6")
        intel = replace(PROGRESS, device=f"{name}, OpenCL 3.0 LINUX", outcomes="H")
        both = written(tmp_path / "all.jsonl", [pocl, intel])
        done = synth("diff", both, "device=PoCL", f"device={name.split('(')[0].split()[0]}")
        assert done.exit_code == 2 and "both have one result of wait" in done.stderr
        done = synth("diff", both, "device=PoCL", "device!=PoCL", "--json")
        assert done.exit_code == 1 and whats(json.loads(done.stdout)) == [("wait", "appeared", "does not end")]


def test_logs_without_a_date_may_be_equal(tmp_path: Path) -> None:
    log = replace(MEMORY, backend="herd7", date="")
    assert diff(tmp_path, [log], [log])["compared"] == 1


def test_chances() -> None:
    assert rates_equal(0, 10, 0, 10) == 1.0
    assert rates_equal(0, 9, 9, 9) == pytest.approx(2 / 48_620)  # of C(18, 9) ways two are as far apart
    assert rates_equal(500, 1000, 600, 1000) == pytest.approx(8.6e-6, rel=0.05)
    assert chances_corrected([]) == []
    assert chances_corrected([0.01, 0.02, 0.9]) == pytest.approx([0.03, 0.03, 0.9])
    with pytest.raises(ValueError, match="no rates"):
        rates_equal(2, 1, 0, 1)
