"""Programs with places: their text, their normal form, suites of all placements, and what the commands say of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from random import Random

import msgspec
import pytest
import reported
from bruteforce import all_tests
from commands import printed, synth
from refusals import refusal

from backends.shared.mapping import PLACEMENTS, in_placement, launch, placements_of
from corpus.hierarchy import apart, in_order
from corpus.journal import read_corpus
from corpus.progress.axb import Program, canonical, digest, placed, rename_locations
from corpus.progress.text import parse_axb, print_axb, program_of
from corpus.runner_tests import of_progress, parse_runner_test, print_runner_test
from oracle.progress.models import MODELS, verdicts
from oracle.progress.plugins import resolve_models
from oracle.progress.reductions import reductions
from oracle.progress.wellformed import is_progress_test
from synth.progress.placements import placements
from tests.random_spins import random_axb

WAITS, WRITES = "0: if (Mem[0] == 0) goto 0;", "0: Mem[0] = 1;"


def text(*heads: str) -> str:
    codes = [WAITS, WAITS, WRITES]
    return "".join(f"THREAD {tid}{head}\n{codes[tid]}\n" for tid, head in enumerate(heads))


# -- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_text_and_program_are_inverse(seed):
    rng = Random(seed)
    for _ in range(60):
        places = tuple(tuple(rng.randint(0, 2) for _ in range(4)) for _ in range(3))
        program = Program(random_axb(rng, 3, 2).threads, places)
        if places != apart(3):
            assert parse_axb(print_axb(program)) == program
        test = placed(program, places)
        assert digest(program) == digest(test) and canonical(program).places == test.places
        assert (digest(test) == digest(Program(program.threads))) == (not test.places)


def test_words_of_all_languages_and_what_is_not_said():
    said = parse_axb(text(" @ workgroup 0", " @ wg 0, sg 0 // beside nobody", "@ cta 1, warp 0"))
    assert said.places == ((0, 0, 0, 1), (0, 0, 0, 0), (0, 0, 1, 0))
    assert parse_axb(text(" @ agent 1, qf 0", " @ queue 1", " @ cluster 1, workgroup 2")).places == (
        (1, 0, 0, 0),
        (0, 1, 0, 0),
        (0, 1, 2, 0),
    )


def test_each_in_a_workgroup_of_its_own_is_a_program_without_places():
    plain = parse_axb(text("", "", ""))
    assert parse_axb(text(" @ workgroup 0", " @ workgroup 1", " @ workgroup 2")) == plain
    assert "@" not in print_axb(placed(plain, ((0, 0, 3, 0), (0, 0, 5, 0), (0, 0, 7, 2)))) and plain.places == ()
    assert in_order(((0, 2, 3, 0), (0, 2, 5, 1), (0, 4, 5, 9))) == ((0, 0, 0, 0), (0, 0, 1, 0), (0, 1, 0, 0))


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ((" @ workgroup 0", "", ""), "thread 1 has no place, while others have; expected THREAD 1 @ workgroup 0"),
        (
            (" @ blok 0", "", ""),
            "f.axb:1:12: no level of groups: blok; expected device, queuefamily, workgroup, subgroup",
        ),
        ((" @ thread 0", "", ""), "f.axb:1:12: no level of groups: thread"),
        ((" @ wg 0, cta 1", "", ""), "f.axb:1:18: the workgroup is said twice"),
        ((" @ 0", "", ""), "f.axb:1:12: expected workgroup or subgroup"),
        ((" @ workgroup", "", ""), "f.axb:2:2: expected ',' or a number, found ':'"),
        ((" @ workgroup 99999999999", "", ""), "f.axb:1:22:"),
    ],
)
def test_a_place_that_is_none_is_one_line(heads, expected):
    assert expected in refusal(lambda: parse_axb(text(*heads), "f.axb"))


def test_json_for_runners_has_the_places():
    program = parse_axb(text(" @ workgroup 0", " @ workgroup 0", " @ workgroup 1"))
    from corpus.test import Test

    there = of_progress(Test("t", digest(program), print_axb(program)))
    assert parse_runner_test(print_runner_test(there)).test == program
    assert json.loads(print_runner_test(there))["test"]["places"][1] == [0, 0, 0, 1]
    plain = Program(program.threads)
    assert "places" not in print_runner_test(of_progress(Test("t", digest(plain), print_axb(plain))))


# -- suites ----------------------------------------------------------------------------------------------------------

MODEL = "hsa@workgroup & obe@subgroup"
SUITE = ("-t", 2, "-n", 3, "--levels", "workgroup,subgroup", "-m", MODEL, "-j", 1)


def made(folder: Path, *arguments: object) -> list:
    done = synth("progress", *arguments, "-o", folder)
    assert done.exit_code == 0, done.output
    return read_corpus(folder).tests


def test_placements_are_all_up_to_names_of_groups():
    for threads in (1, 2, 3):
        every = {
            in_order(tuple((0, 0, *place) for place in places))
            for places in product(product(range(3), repeat=2), repeat=threads)
        }
        ordered = {places for places in every if list(places) == sorted(places)}
        assert set(placements(("workgroup", "subgroup"), threads)) == ordered
        assert len(ordered) == 3 ** (threads - 1)
    assert placements(("queuefamily",), 2) == (((0, 0, 0, 0), (0, 0, 1, 0)), ((0, 0, 0, 0), (0, 1, 0, 0)))
    assert placements(("workgroup",), 2) == (((0, 0, 0, 0), (0, 0, 0, 1)), ((0, 0, 0, 0), (0, 0, 1, 0)))


def test_a_suite_has_every_program_in_every_placement_with_its_verdicts(tmp_path):
    models = [*MODELS.values(), *resolve_models([MODEL])]
    tests = made(tmp_path / "all", *SUITE, "--all")
    expected = {
        placed(program, places)
        for program in map(rename_locations, all_tests(2, 3))
        for places in placements(("workgroup", "subgroup"), 2)
    }
    assert len(tests) == len(expected) == 3 * 162 and {program_of(test) for test in tests} == expected
    for test in tests[::7]:
        program = program_of(test)
        assert test.verdicts == verdicts(program, models) and test.digest == digest(program) and test.bound == "2x3"
    minimal = {test.text for test in made(tmp_path / "minimal", *SUITE, "--up-to", "program")}
    for test in tests[::5]:
        program = program_of(test)
        smaller = [placed(Program(each.threads), program.places or apart(2)) for each in reductions(program)]
        least = not any(is_progress_test(each) and verdicts(each, models) == test.verdicts for each in smaller)
        assert (test.text in minimal) == least, test.text


def test_a_border_between_composed_models(tmp_path):
    border = "obe@cta & fair@warp>hsa@workgroup & obe@subgroup-strong"
    tests = made(tmp_path / "d", *SUITE[:-4], "--all", "--distinguish", border, "-j", 1)
    every = made(tmp_path / "all", *SUITE[:-4], "--all", "-m", MODEL, "-m", "obe@workgroup & fair@subgroup", "-j", 1)
    on = [
        test.text
        for test in every
        if test.verdicts["obe@workgroup & fair@subgroup-weak"] == "TERMINATES"
        and test.verdicts[f"{MODEL}-strong"] == "MAY_HANG"
    ]
    assert on and sorted(test.text for test in tests) == sorted(on)


def test_a_suite_is_the_same_bytes_after_a_kill(tmp_path):
    arguments = ["-t", "3", "-n", "3", "--levels", "workgroup,subgroup", "-m", MODEL, "-j", "1"]
    command = [sys.executable, "-m", "synth", "progress", *arguments]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run([*command, "-o", str(whole)], check=True, capture_output=True)
    running = subprocess.Popen([*command, "-o", str(cut)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while running.poll() is None and not (cut.is_dir() and os.path.exists(cut / "journal.jsonl")):
        time.sleep(0.01)
    time.sleep(0.3)
    running.send_signal(signal.SIGKILL)
    running.wait()
    if not (cut / "labels.csv").is_file():
        subprocess.run([*command, "-o", str(cut)], check=True, capture_output=True)
    for name in ("manifest.json", "tests.jsonl", "labels.csv"):
        assert (whole / name).read_bytes() == (cut / name).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--levels", "workgroup,thread"), "expected levels among device, queuefamily, workgroup, subgroup"),
        (("--levels", "subgroup,workgroup"), "expected each level once, from the outside in"),
        (("--levels", "workgroup", "--certify"), "a certificate covers only programs"),
        (("--levels", "workgroup", "--symmetric-threads"), "the order of placed threads matters"),
        (("-m", MODEL), "--model needs --levels, which places threads in groups"),
        (("--levels", "workgroup", "-m", "hsa & obe@subgroup"), "'hsa' in 'hsa & obe@subgroup' has no level"),
        (("--levels", "workgroup", "-m", "hsa@wg & obe@cta"), "two promises at the level of the workgroup"),
        (("--levels", "workgroup", "-m", "hsa@wg-weak & obe@sg-strong"), "both -weak and -strong"),
        (("--levels", "workgroup", "-m", "hsa-weak@wg & obe@sg"), "expected the reading of"),
        (("--distinguish", f"fair>{MODEL}"), "progress tests have groups only with --levels"),
        (("--levels", "workgroup", "--distinguish", f"{MODEL}>fair@workgroup"), "there is no such test"),
    ],
)
def test_misuse_is_one_line(tmp_path, arguments, message):
    refused = synth("progress", "-t", 2, "-n", 2, *arguments, "-o", tmp_path / "d")
    assert refused.exit_code == 2 and message in refused.stderr and refused.stderr.count("\n") == 1
    assert not (tmp_path / "d").exists()


# -- commands --------------------------------------------------------------------------------------------------------


@pytest.fixture(name="file")
def _file(tmp_path):
    path = tmp_path / "placed.axb"
    path.write_text(text(" @ workgroup 0, subgroup 0", " @ workgroup 0, subgroup 1", " @ workgroup 1"))
    return path


def test_label_and_explain_judge_placed_programs(file):
    said = printed("label", file, "-m", MODEL, "-m", "fair@wg & unfair@sg-weak", "-m", "hsa", "--format", "csv")
    assert [line.rpartition(",")[2] for line in said.splitlines()[1:]] == ["MAY_HANG"] * 2 + ["TERMINATES"] + [
        "MAY_HANG"
    ] * 2
    for method in ("sat", "smt", "enumerate"):
        names = ("-m", MODEL, "-m", "fair@wg & unfair@sg-weak", "-m", "hsa")
        assert printed("label", file, *names, "--format", "csv", "--method", method) == said
    told = printed("explain", file, "-m", f"{MODEL}-weak")
    assert "between workgroups, the lowest thread that has not ended" in told
    assert "between subgroups, threads that have taken a step" in told and "for ever" in told
    ends = printed("explain", file, "-m", "fair@workgroup & unfair@subgroup-strong")
    assert "TERMINATES" in ends and "it may be another one, and every run ends then as well" in ends


def test_litmus_tests_are_judged_under_a_memory_model_too(tmp_path, file):
    printed("export", file, "--to", "dartagnan-ptx", "-o", tmp_path / "ptx")
    (test,) = (tmp_path / "ptx").glob("*.litmus")
    names = ["-m", MODEL, "-m", f"{MODEL} & sc", "-m", "fair@wg & unfair@sg & ptx-6.0", "-m", f"{MODEL}-strong & sc"]
    said = printed("label", test, *names, "--format", "csv")
    found = dict(line.split(",")[1:3] for line in said.splitlines()[1:])
    assert found == {
        f"{MODEL} & sc": "MAY_HANG",
        "fair@workgroup & unfair@subgroup & ptx-6.0": "TERMINATES",
        f"{MODEL}-strong & sc": "MAY_HANG",
        f"{MODEL}-weak": "MAY_HANG",
        f"{MODEL}-strong": "MAY_HANG",
    }
    assert "between workgroups" in printed("explain", test, "-m", f"{MODEL} & sc")


def test_suites_are_exported_with_their_places(tmp_path):
    tests = made(tmp_path / "suite", "-t", 2, "-n", 2, "--levels", "workgroup,subgroup", "-m", MODEL)
    printed("export", tmp_path / "suite", "--to", "dartagnan-vulkan", "-o", tmp_path / "vulkan")
    text = (tmp_path / "vulkan" / "2x2-0001.litmus").read_text()
    assert "P0@sg 0,wg 0,qf 0" in text and (tmp_path / "vulkan/expected/hsa.workgroup+obe.subgroup-weak.csv").exists()
    lines = printed("label", tmp_path / "vulkan", "-m", MODEL, "--format", "csv").splitlines()[1:]
    said = [(Path(file).stem, model, verdict) for file, model, verdict, *_ in (line.split(",") for line in lines)]
    assert said == [
        (test.name, model, test.verdicts[model]) for test in tests for model in test.verdicts if "@" in model
    ]
    refused = printed("export", tmp_path / "suite", "--to", "dartagnan-ptx", "-o", tmp_path / "ptx", exit_code=2)
    assert "2x2-0001: P0 and P1 are in one warp: the PTX dialect has a warp for each thread" in refused


# -- devices ---------------------------------------------------------------------------------------------------------


def test_a_placed_program_is_launched_where_it_says_alone():
    plain = parse_axb(text("", "", ""))
    assert placements_of(plain, ("device", "subgroup")) == ("device", "subgroup")
    for name in PLACEMENTS:
        own = in_placement(plain, name)
        if own.places:  # each in a workgroup of its own is said by no places
            assert placements_of(own, ("device",)) == (name,) and in_placement(own, "device") == own
            assert launch(own, placement=name).placement.name == name
            other = next(each for each in PLACEMENTS if each != name)
            assert "places its threads in other groups" in refusal(lambda p=own, at=other: launch(p, placement=at))
    mixed = parse_axb(text(" @ workgroup 0", " @ workgroup 0", " @ workgroup 1"))
    assert placements_of(mixed, tuple(PLACEMENTS)) == ()


def test_results_contradict_composed_models_by_their_placement(tmp_path):
    """A consumer before its producer hangs: in one subgroup that contradicts OBE of subgroups, and elsewhere not."""
    waits, _ = reported.progress_tests()
    suite = reported.write_suite(tmp_path / "suite", reported.progress_tests(), "progress")
    places = ("device", "workgroup", "subgroup")
    results = [msgspec.structs.replace(reported.confirmed(waits), placement=each, instances=9) for each in places]
    file = reported.write_results(suite / "results.jsonl", results)
    other = "fair@workgroup & hsa@thread"
    told = json.loads(printed("report", file, "-m", MODEL, "-m", other, "-m", "lobe", "--json"))
    against = {told["columns"][cell["column"]]["placement"]: cell["contradicts"] for cell in told["cells"]}
    assert against == {
        "device": [f"{other}-weak", f"{other}-strong"],
        "workgroup": [],
        "subgroup": [f"{MODEL}-weak", f"{MODEL}-strong"],
    }
    fairest = {told["columns"][each["column"]]["placement"]: each["fairest"] for each in told["fairness"]}
    assert f"{other}-strong" in fairest["workgroup"] and f"{MODEL}-strong" not in fairest["subgroup"]


def test_a_labelled_corpus_says_what_holds_where_its_tests_ran(tmp_path):
    """The verdicts of a corpus on a test without places are of workgroups, and the test was run in one subgroup."""
    tests = made(tmp_path / "placed", "-t", 2, "-n", 2, "--all", "--levels", "workgroup,subgroup", "-m", MODEL)
    (waits,) = (test for test in tests if test.text == reported.WAITS)
    assert waits.verdicts[f"{MODEL}-weak"] == "MAY_HANG"
    hang = msgspec.structs.replace(reported.confirmed(waits), placement="subgroup")
    file = reported.write_results(tmp_path / "placed" / "results.jsonl", [hang])
    (cell,) = json.loads(printed("report", file, "--json"))["cells"]
    assert f"{MODEL}-weak" in cell["contradicts"] and "fair-weak" in cell["contradicts"]


# -- the page --------------------------------------------------------------------------------------------------------


def test_the_page_shows_what_the_commands_print(tmp_path, monkeypatch):
    """The section of docs/progress.md on composed levels: its commands are run, and print what is below them."""
    page = Path("docs/progress.md").read_text(encoding="utf-8")
    section = page[page.index("## Composed levels") :].split("\n## ")[0]
    blocks = re.findall(r"(?:^    .*\n(?:\n(?=    ))?)+", section, re.M)
    lines = [line.removeprefix("    ") for block in blocks for line in block.splitlines()]
    shown: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("synth "):
            command = line
        elif line.strip() and not line.startswith(("THREAD", "0:", "//")):
            shown.setdefault(command, []).append(" ".join(line.split()))
    assert len(shown) == 3
    for command, expected in shown.items():
        arguments = [str(tmp_path / "placed") if word == "placed" else word for word in shlex.split(command)[1:]]
        said = [" ".join(line.split()).replace(str(tmp_path) + "/", "") for line in printed(*arguments).splitlines()]
        assert [line for line in expected if line not in said] == [], (command, said)
    unindented = re.sub("^    ", "", section, flags=re.M)
    assert Path("examples/levels/flag-within.axb").read_text(encoding="utf-8") in unindented
