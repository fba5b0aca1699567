"""``synth harden`` on scripts that say themselves which fences they need."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import synth

from corpus.errors import InputError
from synth.hardening.application import Application, defines, words

QUICK = ["--rate", "0.4", "--runs", "3"]
NEEDS_1_AND_4 = 'case ",$SYNTH_PLACES," in *,1,*4,*) exit 0;; esac; echo lost >&2; exit 3'


def sh(script):
    return shlex.join(["sh", "-c", script])


def harden(folder, run, *more, places=6):
    arguments = ["--places", places, "--run", run, "-o", folder / "out", *QUICK, *more]
    return synth("harden", *arguments)


def refused(result):
    assert result.exit_code == 2 and result.stderr.count("\n") == 1, result.output
    return result.stderr.strip()


def test_what_is_needed(tmp_path):
    result = harden(tmp_path, sh(NEEDS_1_AND_4))
    assert result.exit_code == 0, result.output
    assert "needed: fences 1,4; a failure was seen without each of them" in result.output
    assert "3 of 3 runs failed (the first: code 3, lost)" in result.output


def test_json_is_what_the_folder_keeps(tmp_path):
    result = harden(tmp_path, sh(NEEDS_1_AND_4), "--json")
    found = json.loads(result.stdout)
    assert found == json.loads((tmp_path / "out" / "result.json").read_text())
    assert found["verdict"] == "hardened" and found["needed"] == [1, 4]
    rows = {tuple(row["places"]): row for row in found["configurations"]}
    assert rows[()]["failures"] == 3 and rows[()]["said"] == "lost" and rows[()]["seconds"] is None
    assert rows[1, 4]["failures"] == 0 and rows[1, 4]["high"] <= 0.4
    assert rows[(1,)]["failures"] and rows[(4,)]["failures"]


def test_it_is_built_once_for_each_set(tmp_path):
    log = tmp_path / "built"
    build = shlex.join(["sh", "-c", f'echo "$0" >> {log}; printf %s "$0" > "$1/places"', "{places}", "{folder}"])
    run = shlex.join(["sh", "-c", 'grep -q 2 "$0/places"', "{folder}"])
    result = harden(tmp_path, run, "--build", build, "--json", places=4)
    found = json.loads(result.stdout)
    assert found["needed"] == [2]
    built = log.read_text().splitlines()
    assert len(built) == len(set(built)) == len(found["configurations"])


def test_no_repair(tmp_path):
    result = harden(tmp_path, sh("exit 7"))
    assert result.exit_code == 1
    assert "with all 6 fences it fails as well: 1 of 1 runs failed (the first: code 7)" in result.output


def test_nothing_to_repair(tmp_path):
    result = harden(tmp_path, "true")
    assert result.exit_code == 0 and "no failure was seen without any fence: 6 runs" in result.output


def test_a_run_that_never_ends_is_killed_with_all_that_it_started(tmp_path):
    pids = tmp_path / "pids"
    since = time.monotonic()
    result = harden(tmp_path, sh(f"sleep 600 & echo $! >> {pids}; echo $$ >> {pids}; wait"), "--timeout", 0.3)
    assert result.exit_code == 1 and "1 of 1 runs failed (the first: did not end)" in result.output
    assert time.monotonic() - since < 300
    assert not any(map(lives, map(int, pids.read_text().split())))


def lives(pid):
    """Whether a process is there, after a moment for the system to clear it away."""
    for _ in range(1000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.01)
    return True


def test_what_a_run_leaves_behind_is_killed_too(tmp_path):
    marker = tmp_path / "late"
    assert harden(tmp_path, sh(f"(sleep 1; touch {marker}) & exit 0")).exit_code == 0
    time.sleep(1.2)
    assert not marker.exists()


def test_a_build_that_fails(tmp_path):
    result = harden(tmp_path, "true", "--build", sh("echo a.cpp:3:1: error: no such word >&2; echo later; exit 1"))
    expected = "synth: --build: with fences at 0,1,2,3,4,5: a.cpp:3:1: error: no such word"
    assert refused(result) == expected


@pytest.mark.parametrize(
    ("run", "more", "expected"),
    [
        ("no-such-program-here", [], "--run: cannot execute no-such-program-here"),
        ("{folder}/app", [], "--run: cannot execute"),
        ("true 'open", [], "--run: no closing quotation"),
        ("  ", [], "--run: expected a command"),
        ("true", ["--build", "no-such-compiler"], "--build: no no-such-compiler"),
        ("true", ["--stress", "missing.toml"], "missing.toml: cannot read"),
        ("true", ["--rate", "1e-9"], "runs would have to pass"),
        ("true", ["--rate", "0"], "--rate"),
        ("true", ["--places", "257"], "--places"),
    ],
)
def test_wrong_input(tmp_path, run, more, expected):
    assert expected in refused(harden(tmp_path, run, *more))


def test_the_words_of_commands_meet_no_shell(tmp_path):
    marker = tmp_path / "made"
    assert harden(tmp_path, f"true ; touch {marker} $(touch {marker}) | touch {marker}").exit_code == 0
    assert not marker.exists()


def test_after_a_kill_it_goes_on(tmp_path):
    """The application kills its parent in some run: that one is made again, and no other is."""
    log = tmp_path / "log"
    run = sh(f"echo >> {log}; [ $(wc -l < {log}) = 9 ] && kill -9 $PPID; {NEEDS_1_AND_4}")
    arguments = ["harden", "--places", "6", "--run", run, "-o", str(tmp_path / "out"), *QUICK, "--json"]
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", *arguments]
    assert subprocess.run(command, check=False, capture_output=True).returncode == -9
    lines = (tmp_path / "out" / "runs.jsonl").read_text().splitlines()
    assert len(lines) == 8
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert found["needed"] == [1, 4]
    runs = len((tmp_path / "out" / "runs.jsonl").read_text().splitlines())
    assert runs == sum(row["runs"] for row in found["configurations"]) == len(log.read_text().splitlines()) - 1


def test_one_that_has_ended_is_told_again(tmp_path):
    first = harden(tmp_path, sh(NEEDS_1_AND_4), "--json").stdout
    before = (tmp_path / "out" / "runs.jsonl").read_bytes()
    assert harden(tmp_path, sh(NEEDS_1_AND_4), "--json").stdout == first
    assert (tmp_path / "out" / "runs.jsonl").read_bytes() == before


def test_a_time_limit(tmp_path):
    result = harden(tmp_path, sh(NEEDS_1_AND_4), "--time-limit", 0)
    assert result.exit_code == 1 and "stopped by --time-limit" in result.output
    assert harden(tmp_path, sh(NEEDS_1_AND_4)).exit_code == 0


def test_a_folder_of_another_hardening(tmp_path):
    assert harden(tmp_path, "true").exit_code == 0
    assert "runs.jsonl:1: of another hardening" in refused(harden(tmp_path, "true", places=5))


def test_the_header_is_where_it_says():
    result = synth("harden", "--header")
    assert (Path(result.output.strip()) / "synth_fence.h").is_file()


def test_defines():
    told = defines(frozenset({0, 5, 31, 32, 255}))
    assert told[1:] == ["-DSYNTH_ACTIVE_0=0x80000021u", "-DSYNTH_ACTIVE_1=0x1u", "-DSYNTH_ACTIVE_7=0x80000000u"]
    assert len(defines(frozenset())) == 1


def test_what_an_application_is_told(tmp_path):
    out = tmp_path / "seen"
    script = f'echo "$SYNTH_PLACES $SYNTH_DEFINES $*" > {out}'
    run = words(shlex.join(["sh", "-c", script, "{folder}", "{places}", "a{places}b", "{defines}", "{other}"]), "--run")
    assert Application((), run, tmp_path / "builds").run(frozenset({1, 3})).code == 0
    told = " ".join(defines(frozenset({1, 3})))
    assert out.read_text().strip() == f"1,3 {told} 1,3 a1,3b {told} {{other}}"


def test_a_command_with_an_open_quote():
    with pytest.raises(InputError, match="no closing quotation"):
        words("a 'b", "--build")


@pytest.mark.parametrize("model", ["tso", "rc11"])
def test_the_core_of_the_applications_is_repaired_at_the_same_place(tmp_path, model):
    """Between the store and the load, as ``synth harden`` finds it: ``tests/device/test_harden_applications.py``."""
    core = Path(__file__).parents[2] / "examples" / "applications" / "store-buffering.litmus"
    fixed = tmp_path / "fixed.litmus"
    result = synth("fix", core, "--model", model, "--allow", "fences", "-o", fixed)
    assert result.exit_code == 0, result.output
    lines = [line.strip().split("(")[0] for line in fixed.read_text().splitlines()]
    each = ["atomic_store_explicit", "atomic_thread_fence", "int r{} = atomic_load_explicit"]
    assert [line for line in lines if "atomic_" in line and not line.startswith("P")] == [
        word.format(thread) for thread in range(2) for word in each
    ]
