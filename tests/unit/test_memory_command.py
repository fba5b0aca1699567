"""``synth memory``, ``synth edges``, and ``synth show`` and ``synth export`` of memory suites: the command line."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import synth

from corpus.cycles.cycle import family
from corpus.cycles.edges import all_annotations, all_edges
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.journal import read_corpus
from corpus.litmus.normal import litmus_digest
from corpus.suite import JOURNAL, TIMES
from synth.memory import synthesis as memory_synthesis

PLAIN = "PodWW PodRR PodRW PodWR Rfe Fre Coe"
TWO_THREADS = ["2+2W", "LB", "MP", "R", "S", "SB"]


def memory(folder: Path, *arguments: object) -> list[str]:
    """The names of the tests of a complete suite that the command makes."""
    result = synth("memory", *arguments, "-o", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("cycles, complete\n")
    return names(folder)


def names(folder: Path) -> list[str]:
    return [test.name for test in read_corpus(folder).tests]


def verdicts(folder: Path) -> dict[str, dict[str, str]]:
    """To each test what each model says of it."""
    with (folder / "labels.csv").open() as file:
        return {row.pop("name"): row for row in csv.DictReader(file)}


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != TIMES}


# What it makes


def test_the_classic_families_of_two_threads_each_once(tmp_path):
    assert sorted(memory(tmp_path / "d", "--edges", PLAIN, "--size", 4)) == TWO_THREADS
    files = {file.name for file in (tmp_path / "d").iterdir()}
    assert files == {"tests.jsonl", "labels.csv", "manifest.json", TIMES}
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert manifest["complete"] is True
    assert manifest["counts"] == {"cycles": 6, "refused": 0, "tests": 6, "bounds": {"2x4": 6}}
    assert manifest["request"]["kind"] == "memory" and manifest["request"]["edges"] == PLAIN


def test_communication_may_go_on_as_communication(tmp_path):
    few = memory(tmp_path / "few", "-e", PLAIN, "--size", 5)
    more = memory(tmp_path / "more", "-e", PLAIN, "--size", 5, "--compositions")
    assert set(few) < set(more)
    assert {name for name in more if name not in few} >= {"R.fr.WW.co.WW.rf", "W.co.WR.fr.WR.fr"}, more
    result = synth("memory", "-e", "[Rfe,Fre] PodWW Coe", "--size", 5, "--compositions", "-o", tmp_path / "sequence")
    assert (result.exit_code, result.stderr) == (0, "")
    assert names(tmp_path / "sequence") == ["R.fr.WW.co.WW.rf", "W.co.WW.co.WW.co"]


def test_a_sequence_that_gives_nothing_is_told(tmp_path):
    result = synth("memory", "-e", f"{PLAIN} [Rfe,Fri] [PodWW,Fre]", "-o", tmp_path / "d")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "synth: no cycle has [Rfe,Fri]: Rfe and then Fri are co themselves; --compositions allows it",
        "synth: no cycle has [PodWW,Fre]: PodWW arrives at a write, and Fre leads from a read",
    ]
    assert sorted(names(tmp_path / "d")) == TWO_THREADS
    alone = synth("memory", "-e", "[Rfe,Fri]", "-o", tmp_path / "none")
    assert alone.exit_code == 2 and alone.stderr.count("\n") == 2 and not (tmp_path / "none").exists()


def test_edges_may_come_from_a_file_with_comments(tmp_path):
    (tmp_path / "edges").write_text("# plain\nPodWW PodRR # program order\nRfe Fre\n")
    assert memory(tmp_path / "d", "--edges", f"@{tmp_path / 'edges'}") == ["MP"]


def test_scopes_and_fences_are_placed_and_labelled(tmp_path):
    edges = "PodRR Rfe Fre MembarCtadWW MembarGldWW MembarCtadRR MembarGldRR"
    found = memory(tmp_path / "d", "-e", edges, "--scopes", "cta,gpu", "-m", "sc", "-m", "ptx-rmo")
    # Two fences of T0, three ways for T1; in one CTA, in two, on two GPUs.
    assert len(found) == 2 * 3 * 3 and {family(name) for name in found} == {"MP"}
    assert Counter("--" in name for name in found) == {True: 6, False: 12}
    said = verdicts(tmp_path / "d")
    assert {said[name]["sc"] for name in found} == {"FORBIDDEN"}
    assert said["MP+membar.ctas@01"]["ptx-rmo"] == "FORBIDDEN"
    assert said["MP+membar.ctas"]["ptx-rmo"] == "ALLOWED"
    assert said["MP+membar.gls"]["ptx-rmo"] == "FORBIDDEN"
    digests = {litmus_digest(parse_litmus(test.text)) for test in read_corpus(tmp_path / "d").tests}
    assert len(digests) == len(found)


def test_a_cut_of_the_gpu_family_of_2015(tmp_path):
    edges = Path(__file__).parents[2] / "examples" / "gpu-2015.edges"
    asked = [
        "--size",
        "3..4",
        "--scopes",
        "cta",
        "--regions",
        "global,shared",
        "-m",
        "sc",
        "-m",
        "rmo",
        "-m",
        "ptx-rmo",
    ]
    assert len(memory(tmp_path / "d", "--edges", f"@{edges}", *asked)) == 9 + 363
    shown = json.loads(synth("show", tmp_path / "d", "--json").stdout)
    assert shown["sizes"] == {"3": 9, "4": 363}
    assert {model: counts["ALLOWED"] for model, counts in shown["models"].items()} == {
        "sc": 0,
        "rmo": 160,
        "ptx-rmo": 184,
    }


@pytest.mark.slow
def test_the_gpu_family_of_2015(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "gpu-2015.sh"
    command = Path(sys.executable).with_name("synth")
    done = subprocess.run(["bash", script, tmp_path / "d", command], capture_output=True, text=True, check=True)
    assert "10938 tests of 10938 cycles, complete" in done.stdout
    shown = json.loads(synth("show", tmp_path / "d", "--json").stdout)
    assert shown["tests"] == 10938 and shown["sizes"] == {"3": 9, "4": 363, "5": 1188, "6": 9378}
    assert shown["models"] == {
        "sc": {"ALLOWED": 0, "FORBIDDEN": 10938, "UNKNOWN": 0},
        "rmo": {"ALLOWED": 5758, "FORBIDDEN": 5180, "UNKNOWN": 0},
        "ptx-rmo": {"ALLOWED": 7354, "FORBIDDEN": 3584, "UNKNOWN": 0},
    }


# What it keeps


def test_tests_between_two_models(tmp_path):
    every = memory(tmp_path / "all", "-e", PLAIN, "--size", "3..5", "-m", "ptx-6.0", "-m", "sc", "-m", "tso")
    said = verdicts(tmp_path / "all")
    kept = memory(tmp_path / "d", "-e", PLAIN, "--size", "3..5", "--distinguish", "tso>sc")
    assert kept == [name for name in every if said[name]["tso"] == "ALLOWED" and said[name]["sc"] == "FORBIDDEN"]
    assert {"SB", "R"} <= set(kept) and "MP" not in kept
    weak = memory(tmp_path / "w", "-e", PLAIN, "--size", "3..5", "--distinguish", "ptx-6.0>tso,sc")
    assert "MP" in weak and "SB" not in weak
    one_side = {"tso>": "ALLOWED", ">tso": "FORBIDDEN"}
    for number, (asked, verdict) in enumerate(one_side.items()):
        found = memory(tmp_path / str(number), "-e", PLAIN, "--size", "3..5", "--distinguish", asked)
        assert found == [name for name in every if said[name]["tso"] == verdict]


def test_what_cuts_a_search_that_finds_nothing_is_told(tmp_path):
    """Two models of PTX that differ by what a release pattern begins with, which few edges show."""
    text = (Path(__file__).parents[2] / "oracle" / "models" / "ptx-6.0.cat").read_text()
    mine = tmp_path / "mine.cat"
    mine.write_text(text.replace("[W & release]; po-loc?; [W]", "[W & release]"))
    assert mine.read_text() != text
    asked = ("--scopes", "gpu", "--distinguish", f"{mine}>ptx-6.0", "--size")
    edges = "PodWW PodRR Rfe Fre Plain Rlx Rel Acq"
    result = synth("memory", "-e", edges, *asked, "4..5", "--threads", "2..3", "-o", tmp_path / "none")
    assert result.exit_code == 0 and result.stdout.endswith("0 tests of 0 judged cycles, complete\n")
    bounds, compare = result.stderr.splitlines()
    within = "4..5 edges, 2..3 threads, 2 accesses a thread (--thread-accesses), 3 a location (--location-accesses)"
    without = "Rfi Fri Coe Coi PodRW PodWR PosRR PosRW PosWR PosWW Rmw DpAddr DpData DpCtrl FenceSc FenceAcqRel"
    assert bounds == (
        f"synth: no such test within {within}, and the edges given, which are without {without} --scopes cta,gpu"
    )
    assert compare == f"synth: synth compare {mine} ptx-6.0 needs no edges: it tries all programs of a size"
    found = memory(tmp_path / "some", "-e", f"{edges} Coi", *asked, 5, "--thread-accesses", 4)
    assert len(found) == 9
    again = synth("memory", "-e", "PodWW PodRR Rfe Fre", "--distinguish", "sc>thesis-weak", "-o", tmp_path / "slow")
    assert again.stdout.endswith("0 tests of 1 cycles, complete\n") and len(again.stderr.splitlines()) == 1


def test_a_model_without_clauses_has_every_cycle_labelled(tmp_path):
    asked = ["-e", PLAIN, "-m", "thesis-weak", "-m", "sc"]
    every = memory(tmp_path / "all", *asked)
    said = verdicts(tmp_path / "all")
    result = synth("memory", "-e", PLAIN, "--distinguish", "thesis-weak>sc", "-o", tmp_path / "d")
    assert "tests of 6 cycles, complete" in result.stdout
    kept = [name for name in every if (said[name]["thesis-weak"], said[name]["sc"]) == ("ALLOWED", "FORBIDDEN")]
    assert kept and names(tmp_path / "d") == kept


@pytest.mark.parametrize(
    ("edges", "border", "smallest"),
    [
        (f"{PLAIN} MembarGldWW MembarGldRR", "ptx-6.0>sc", "MP"),
        ("PodWW PodRR PosRR Rfe Fre Rlx Rel Acq Plain", "ptx-rmo>ptx-6.0", "MP+plain-rel.cta+acq.cta-plain@01"),
    ],
)
def test_minimal_tests_have_every_verdict_vector(tmp_path, edges, border, smallest):
    asked = ["-e", edges, "--size", "3..4", "--scopes", "cta", "-m", "sc", "-m", "rmo", "--distinguish", border]
    every = memory(tmp_path / "all", *asked)
    minimal = memory(tmp_path / "minimal", *asked, "--minimal")
    assert set(minimal) < set(every) and smallest in minimal
    vectors = [{tuple(sorted(row.items())) for row in verdicts(tmp_path / d).values()} for d in ("all", "minimal")]
    assert vectors[0] == vectors[1]


# The same bytes


def test_the_same_bytes_for_any_number_of_processes_and_hash_seed(tmp_path):
    asked = ["-e", f"{PLAIN} MembarGldWW MembarGldRR", "--size", "3..5", "--scopes", "cta", "-m", "sc", "-m", "rmo"]
    made = []
    for jobs, seed in ((1, 0), (2, 1), (1, 2)):
        folder = tmp_path / str(seed)
        command = [sys.executable, "-c", "from synth.commands.cli import main; main(prog_name='synth')", "memory"]
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        subprocess.run([*command, *asked, "-j", str(jobs), "-o", folder], env=environment, check=True)
        made.append(content(folder))
    assert len(made[0]["tests.jsonl"].splitlines()) > 60  # more than one chunk
    assert made[0] == made[1] == made[2]


@pytest.mark.parametrize("minimal", [[], ["--minimal"]])
def test_a_run_that_a_limit_stopped_goes_on(tmp_path, minimal):
    asked = ["-e", f"{PLAIN} MembarGldWW MembarGldRR", "--size", "3..5", "-m", "sc", "-m", "rmo", *minimal]
    memory(tmp_path / "whole", *asked)
    for limit in (1, 5, 20):
        stopped = synth("memory", *asked, "--max-tests", limit, "-o", tmp_path / "d")
        assert stopped.exit_code == 0
        assert stopped.stdout.endswith(f"cycles, incomplete: the limit of {limit} tests; the same command goes on\n")
        assert "not complete: the limit of" in synth("show", tmp_path / "d").stdout
    shown = json.loads(synth("show", tmp_path / "d", "--json").stdout)
    assert shown["complete"] is False and shown["tests"] == len(names(tmp_path / "d"))
    late = synth("memory", *asked, "--time-limit", 0, "-o", tmp_path / "d")
    assert "incomplete: the time limit of 0 s" in late.stdout
    assert memory(tmp_path / "d", *asked) == names(tmp_path / "whole")
    assert content(tmp_path / "d") == content(tmp_path / "whole")


def test_a_search_between_two_models_goes_on(tmp_path):
    edges = "PodWW PodRR PosRR Rfe Fre Rlx Rel Acq Plain"
    asked = ["-e", edges, "--scopes", "cta", "--size", "3..5", "--distinguish", "ptx-rmo>ptx-6.0", "--minimal"]
    memory(tmp_path / "whole", *asked, "-j", "1")
    memory(tmp_path / "two", *asked, "-j", "2")
    assert content(tmp_path / "two") == content(tmp_path / "whole")
    for limit in (1, 7):
        for folder in ("d", "again"):
            stopped = synth("memory", *asked, "--max-tests", limit, "-o", tmp_path / folder)
            assert f"of {limit} judged cycles, incomplete: the limit of {limit} tests" in stopped.stdout
        assert names(tmp_path / "d") == names(tmp_path / "again")
    late = synth("memory", *asked, "--time-limit", 0, "-o", tmp_path / "d")
    assert "incomplete: the time limit of 0 s" in late.stdout
    memory(tmp_path / "d", *asked)
    assert content(tmp_path / "d") == content(tmp_path / "whole")


@pytest.mark.parametrize("models", [["-m", "sc", "-m", "rmo", "-m", "ptx-rmo"], ["--distinguish", "ptx-rmo>sc"]])
def test_a_run_that_was_killed_goes_on(tmp_path, models):
    asked = ["-e", f"{PLAIN} MembarGldWW MembarGldRR", "--size", "3..6", *models]
    command = [sys.executable, "-c", "from synth.commands.cli import main; main()", "memory", *asked, "-j", "1", "-o"]
    run = subprocess.Popen([*command, tmp_path / "d"], stdout=subprocess.DEVNULL, start_new_session=True)
    journal = tmp_path / "d" / JOURNAL
    for _ in range(4000):
        if journal.exists() and journal.read_bytes().count(b"\n") > 10:
            break
        time.sleep(0.01)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert journal.exists()
    shown = synth("show", tmp_path / "d")
    assert shown.exit_code == 0 and "tests, not complete: the run did not end; the same command goes on" in shown.stdout
    memory(tmp_path / "d", *asked)
    memory(tmp_path / "whole", *asked)
    assert content(tmp_path / "d") == content(tmp_path / "whole")


def test_ctrl_c_leaves_a_suite_that_opens(tmp_path, monkeypatch):
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("synth.commands.memory_from_edges._collect", interrupted)
    result = synth("memory", "-e", PLAIN, "-o", tmp_path / "d")
    assert result.exit_code == 130 and "incomplete: interrupted; the same command goes on" in result.stdout
    monkeypatch.undo()
    assert sorted(memory(tmp_path / "d", "-e", PLAIN)) == TWO_THREADS


# Misuse: one line, exit code 2, nothing written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-e", "PodWW Rfa Fre"], "unknown edge 'Rfa'; did you mean Rfi or Rfe"),
        (["-e", "Rfe Fre PodWW PodRRNew.gpu"], "unknown annotation 'New.gpu'"),
        (["-e", "Rfe Fre FenceScdWW PodRR"], "FenceScdWW needs a scope, as in FenceSc.gpu.dWW, or --scopes"),
        (["-e", "PodWW PodRR"], "no cycle of 4 edges: no edge leads from one thread to another"),
        (["-e", "PodRR Fre"], "no cycle of 4 edges: edges lead to a write, but none leads from one"),
        (["-e", "Cg Rlx.gpu"], "no cycle of 4 edges: only annotations are given"),
        (["-e", "Rfe Fre PodWW PodRR", "--size", "2..3"], "no cycle of 2 to 3 edges: these edges form none"),
        (["-e", PLAIN, "--threads", 3], "no cycle of 4 edges: these edges form none of 3 threads"),
        (["-e", PLAIN, "--regions", "shared"], "shared memory belongs to one CTA, and without --scopes cta"),
        (["-e", " "], "expected edges, as in --edges"),
        ([], "give --edges, or --from MODEL"),
        (["--edges", "@gone"], "gone: cannot read: No such file"),
        (["-e", PLAIN, "--size", "1..4"], "expected numbers between 2 and 64, the least first, found '1..4'"),
        (["-e", PLAIN, "--size", "5..4"], "expected numbers between 2 and 64, the least first, found '5..4'"),
        (["-e", PLAIN, "--size", "4..1000"], "expected numbers between 2 and 64"),
        (["-e", PLAIN, "--size", "four"], "expected a number or MIN..MAX, found 'four'"),
        (["-e", PLAIN, "--scopes", ""], "expected one or more of cta, gpu, sys"),
        (["-e", PLAIN, "--scopes", "warp"], "expected cta, gpu, sys, found 'warp'"),
        (["-e", PLAIN, "--regions", "local"], "expected global, shared, found 'local'"),
        (["-e", PLAIN, "--distinguish", "sc"], "expected A>B or A>B,C, found 'sc'"),
        (["-e", PLAIN, "--distinguish", ">"], "expected A>B or A>B,C, found '>'"),
        (["-e", PLAIN, "-m", "ptx-6"], "unknown consistency model 'ptx-6'; did you mean"),
        (
            ["-e", PLAIN, "--distinguish", "tso>obe"],
            "obe is a progress model, which says whether programs end; expected a consist",
        ),
        (["-e", PLAIN, "--threads", 1], "--threads"),
        (["-e", PLAIN, "--solver", "none"], "'none' is not one of"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_misuse(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = synth("memory", *arguments, "-o", tmp_path / "d")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_edge_of_a_file_has_line_and_column(tmp_path):
    (tmp_path / "edges").write_text("Rfe\nFre Podww\n")
    result = synth("memory", "--edges", f"@{tmp_path / 'edges'}", "-o", tmp_path / "d")
    assert result.exit_code == 2 and f"{tmp_path / 'edges'}:2:5: unknown edge 'Podww'" in result.stderr


def test_a_folder_that_exists_is_left_alone(tmp_path):
    memory(tmp_path / "d", "-e", PLAIN)
    before = content(tmp_path / "d")
    for arguments, message in [
        (["-e", PLAIN], "the corpus is complete; nothing is left to do"),
        (["-e", "PodWW PodRR Rfe Fre"], "made with another edges"),
    ]:
        result = synth("memory", *arguments, "-o", tmp_path / "d")
        assert result.exit_code == 2 and message in result.stderr
        assert content(tmp_path / "d") == before
    (tmp_path / "d" / "tests.jsonl").unlink()
    memory(tmp_path / "d", "-e", PLAIN)  # what is damaged is made anew
    assert content(tmp_path / "d") == before


def test_a_model_that_cannot_judge_the_tests(tmp_path):
    acquire = ["-e", "PodWW PodRR Rfe Fre Rel.gpu Acq.gpu", "-m", "thesis-weak"]
    result = synth("memory", *acquire, "-o", tmp_path / "d")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("synth: thesis-weak has no verdict on 1 of 1 tests: P0: st.release.gpu x, 1: ")
    some = synth("memory", *acquire, "-e", "PodWW PodRR Rfe Fre Rel.gpu Plain", "-m", "sc", "-o", tmp_path / "e")
    assert some.exit_code == 0 and "thesis-weak has no verdict on 3 of 4 tests" in some.stderr
    assert "unknown" in synth("show", tmp_path / "e").stdout


# synth edges


def test_every_edge_and_annotation_is_listed(tmp_path):
    result = synth("edges")
    assert result.exit_code == 0
    listed = [line.split()[0] for line in result.stdout.splitlines()]
    assert listed == [*all_edges(), *all_annotations()]


# synth show and synth export


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show") / "suite"
    memory(folder, "-e", f"{PLAIN} MembarGldWW DpDatadW", "--scopes", "cta", "-m", "tso", "-m", "ptx-rmo", "-m", "sc")
    return folder


def test_show_counts_by_family_model_pair_and_vector(suite):
    said = verdicts(suite)
    summary = json.loads(synth("show", suite, "--json", "--tests").stdout)
    assert (summary["complete"], summary["tests"]) == (True, len(said))
    assert summary["sizes"] == {"4": len(said)} and sum(summary["families"].values()) == len(said)
    assert summary["families"]["SB"] == 2
    assert summary["models"]["tso"]["ALLOWED"] == sum(row["tso"] == "ALLOWED" for row in said.values())
    pairs = {(pair["allows"], pair["forbids"]): pair["tests"] for pair in summary["pairs"]}
    assert len(pairs) == 6 and pairs["sc", "tso"] == 0
    assert pairs["ptx-rmo", "tso"] == sum(
        row["ptx-rmo"] == "ALLOWED" and row["tso"] == "FORBIDDEN" for row in said.values()
    )
    for vector in summary["vectors"]:
        assert said[vector["example"]] == vector["verdicts"]
        assert vector["tests"] == list(said.values()).count(vector["verdicts"])
    assert {test["name"]: test["verdicts"] for test in summary["list"]} == said

    shown = synth("show", suite).stdout
    assert f"{suite}: {len(said)} tests, complete" in shown
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line.strip()}
    assert rows["SB"] == ["2", "2", "2", "0"]
    assert rows["edges"][:2] == ["PodWW", "PodRR"] and rows["scopes"] == ["cta"]
    assert "MP+po+data" not in shown and "LB+data+po" not in shown.split("Every test")[0]
    assert "LB+datas" in synth("show", suite, "--tests").stdout


def test_the_picture_of_a_suite_has_the_counts_of_every_family(suite, tmp_path):
    for name in ("a.svg", "b.svg"):
        assert synth("show", suite, "--picture", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"all", "SB", "tso", "ptx-rmo", "sc", str(len(verdicts(suite)))} <= set(words)
    bars = {element.text for element in root.iter("{http://www.w3.org/2000/svg}title")}
    assert {"SB under tso: 2 allowed, 0 forbidden, 0 unknown", "SB under sc: 0 allowed, 2 forbidden, 0 unknown"} <= bars


def test_show_of_what_is_damaged(tmp_path):
    memory(tmp_path / "d", "-e", PLAIN, "-m", "sc")
    tests = tmp_path / "d" / "tests.jsonl"
    tests.write_bytes(b"".join(tests.read_bytes().splitlines(keepends=True)[:1]))
    broken = synth("show", tmp_path / "d")
    assert (
        broken.exit_code == 2
        and "1 tests, all intact, where the manifest promises 6; the same synth memory" in broken.stderr
    )


@pytest.mark.parametrize(
    ("target", "beside"),
    [
        ("dartagnan-ptx", set()),
        ("dartagnan-opencl", set()),
        ("herd-lisa", {"synth.bell", "models"}),
        ("herd-c", {"models"}),
    ],
)
def test_exported_folders_are_what_runners_take(tmp_path, target, beside):
    every = memory(tmp_path / "d", "-e", PLAIN, "-m", "sc", "-m", "tso")
    digests = {test.name: test.digest for test in read_corpus(tmp_path / "d").tests}
    result = synth("export", tmp_path / "d", "--to", target, "-o", tmp_path / "out")
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"6 of 6 tests in {tmp_path / 'out'}\n", "")
    assert (tmp_path / "out" / "@all").read_text().split() == [f"{name}.litmus" for name in every]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        *(f"{name}.litmus" for name in every),
        "@all",
        "expected",
        *beside,
    }
    for name in every:
        assert litmus_digest(read_litmus(tmp_path / "out" / f"{name}.litmus")) == digests[name]
    assert (tmp_path / "out/expected/sc.csv").read_text() == "".join(f"{name}.litmus,0\n" for name in every)
    allowed = {"SB", "R"}
    assert (tmp_path / "out/expected/tso.csv").read_text() == "".join(
        f"{name}.litmus,{int(name in allowed)}\n" for name in every
    )
    labelled = synth("label", tmp_path / "out", "-m", "tso", "--format", "csv").stdout.splitlines()[1:]
    assert {Path(line.split(",")[0]).stem for line in labelled if line.endswith("true,")} == allowed


def test_what_a_dialect_cannot_say_is_left_out_of_an_export(tmp_path):
    memory(tmp_path / "d", "-e", "PodWW PodRR Rfe Fre Cg Plain", "-m", "sc")
    some = synth("export", tmp_path / "d", "--to", "dartagnan-ptx", "-o", tmp_path / "some")
    assert some.exit_code == 2
    assert len(some.stderr.splitlines()) == 16 and some.stderr.splitlines()[-1].startswith("1 of 16 tests in")
    assert "the PTX dialect has no cache operators" in some.stderr
    assert (tmp_path / "some/expected/sc.csv").read_text() == "MP.litmus,0\n"
    every = synth("export", tmp_path / "d", "--to", "dartagnan-ptx", "--drop", "cache", "-o", tmp_path / "every")
    assert every.exit_code == 0 and "16 of 16 tests" in every.stdout
    # Nothing was said of the tests that have become others.
    assert (tmp_path / "every/expected/sc.csv").read_text() == "MP.litmus,0\n"
    none = synth("export", tmp_path / "d", "--where", "MP+cg-cg+cg-cg", "--to", "herd-c", "-o", tmp_path / "none")
    assert none.exit_code == 2 and not (tmp_path / "none").exists()


def test_litmus_and_progress_tests_have_formats_of_their_own(suite, tmp_path):
    mutex = Path(__file__).parents[2] / "examples" / "progress" / "mutex.axb"
    for arguments, message in [
        ([suite, "--to", "axb"], "--to axb is for progress tests"),
        ([mutex, "--to", "herd-lisa"], "--to herd-lisa is for litmus tests"),
        ([mutex, "--to", "axb", "--drop", "cache"], "--drop is for litmus tests"),
        ([mutex, suite, "--to", "dartagnan-ptx"], "name one kind at a time"),
    ]:
        result = synth("export", *arguments, "-o", tmp_path / "out")
        assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_the_fewest_tests_that_tell_the_models_apart(suite, tmp_path):
    said = verdicts(suite)
    result = synth("select", suite, "--separate-models", "--json", "-o", tmp_path / "few")
    assert result.exit_code == 0
    chosen = json.loads(result.stdout)["tests"]
    separated = {
        pair
        for pair in combinations(["tso", "ptx-rmo", "sc"], 2)
        if any(said[test["name"]][pair[0]] != said[test["name"]][pair[1]] for test in chosen)
    }
    assert len(separated) == 3 and len(chosen) == 2  # one test tells one from two
    assert all(set(test["forbidden"]) | set(test["allowed"]) == {"tso", "ptx-rmo", "sc"} for test in chosen)
    assert names(tmp_path / "few") == [test["name"] for test in chosen]
    assert "forbidden by" in synth("select", tmp_path / "few", "--separate-models").stdout


def test_sc_accesses_are_written_in_opencl_for_ptx_has_none(tmp_path):
    suite = tmp_path / "sc"
    assert synth("memory", "--edges", "PodWR Fre Sc.sys", "-m", "rc11-scoped", "-o", str(suite)).exit_code == 0
    (test,) = read_corpus(suite).tests
    assert test.text.startswith("OPENCL SB+sc.sys-sc.sys+sc.sys-sc.sys\n")
    assert "FORBIDDEN" in (suite / "labels.csv").read_text()


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("work", "asked"), [("label_cycles", ("-m", "sc")), ("search_division", ("--distinguish", ">sc"))]
)
def test_a_process_that_dies_loses_nothing(tmp_path, dies_once, jobs, work, asked):
    asked = ("--edges", "PodWW PodRR PodRW PodWR Rfe Fre Coe", "--size", "4..6", *asked, "-j", jobs)
    whole = synth("memory", *asked, "-o", tmp_path / "whole").stdout
    killed = dies_once(memory_synthesis, work)
    assert synth("memory", *asked, "-o", tmp_path / "other").stdout == whole.replace("whole", "other")
    assert killed.exists()
    for file in (tmp_path / "whole").iterdir():
        assert file.name == TIMES or file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()


def test_cycles_are_listed_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    edges = ("--edges", "PodWW PodRR PodRW PodWR Rfe Fre Coe", "--size", "4..6")
    listed = synth("memory", *edges, "--cycles")
    assert listed.exit_code == 0 and not list(tmp_path.iterdir())
    lines = listed.stdout.splitlines()
    assert "MP: PodWW Rfe PodRR Fre" in lines and len(lines) == 26
    assert synth("memory", *edges, "-o", tmp_path / "d").exit_code == 0
    tests = read_corpus(tmp_path / "d").tests
    assert sorted(lines) == sorted(f"{test.name}: {test.text.splitlines()[1].strip(chr(34))}" for test in tests)
    assert synth("memory", *edges, "--cycles", "--max-tests", 3).stdout.splitlines() == lines[:3]


@pytest.mark.parametrize("other", [["-m", "sc"], ["-o", "d"], ["--minimal"], ["--certify"], ["--from", "tso"]])
def test_a_list_of_cycles_goes_without_what_is_for_tests(other):
    edges = [] if other[0] == "--from" else ["--edges", "PodWW Rfe PodRR Fre"]
    refused = synth("memory", *edges, "--cycles", *other)
    why = "does not go with --from" if other[0] == "--from" else "is for"
    assert refused.exit_code == 2 and why in refused.stderr


def test_a_size_of_fourteen(tmp_path):
    """Rings of threads that write, and of threads that write and read; and a suite goes on where it was stopped."""
    asked = ("--edges", "PodWW PodWR Coe Fre MembarSysdWR", "--size", "13..14", "-j", 1)
    assert synth("memory", *asked, "-o", tmp_path / "whole").stdout.endswith("complete\n")
    assert "incomplete" in synth("memory", *asked, "-o", tmp_path / "d", "--max-tests", 5).stdout
    assert len(read_corpus(tmp_path / "d").tests) == 5
    assert synth("memory", *asked, "-o", tmp_path / "d").stdout.endswith("complete\n")
    tests = read_corpus(tmp_path / "whole").tests
    assert {test.size for test in tests} == {14} and max(test.threads for test in tests) == 7
    assert (tmp_path / "d" / "tests.jsonl").read_bytes() == (tmp_path / "whole" / "tests.jsonl").read_bytes()
