"""``synth map`` of tables of code sequences: what it says, what it writes, how it goes on, and wrong questions."""

import json
from pathlib import Path

import pytest
from commands import synth

from corpus.executions.sequences import read_table, words_of
from corpus.executions.shapes import shapes
from corpus.journal import read_corpus
from corpus.laws.amdgpu import machine_instruction
from oracle.operational.amdgpu import FAMILIES
from oracle.operational.monotone import is_within, lost_steps, word_order

ROOT = Path(__file__).parents[2]
SMALL = """machine gfx90a
R @global -> global_load
W @global -> global_store
R.acquire.gpu @global -> global_load glc=1; s_waitcnt vmcnt(0); buffer_wbinvl1_vol
W.release.gpu @global -> s_waitcnt vmcnt(0); global_store
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A folder with a right table and a wrong one, whose acquire does not invalidate."""
    monkeypatch.chdir(tmp_path)
    Path("right.seq").write_text(SMALL)
    Path("wrong.seq").write_text(SMALL.replace("; buffer_wbinvl1_vol", ""))


def run(*arguments):
    return synth("map", *arguments, "-j", 1)


BUG = "MP+plain-rel.gpu+acq.gpu-plain"
BOUND = ("--events", 4, "--threads", 2)


@pytest.mark.usefixtures("small")
def test_a_right_table_is_sound_and_a_wrong_one_beside_it_is_told_with_a_run():
    result = run("right.seq", "wrong.seq", *BOUND, "--weakest")
    lines = result.stdout.splitlines()
    assert (result.exit_code, result.stderr) == (1, "")
    assert (
        lines[0] == "from amdgpu to right, wrong, over its rows: R (plain acquire), W (plain release); gpus ctas warps"
    )
    assert lines[2:4] == [
        "right: sound up to 4 events (threads 2)",
        "  beyond 4 events: of 1 shapes known by name, none reached",
    ]
    assert "wrong: 1 bug of 4 events: reached, and amdgpu forbids it" in lines
    assert f"{BUG} under amdgpu: FORBIDDEN" in lines and f"{BUG} under wrong: ALLOWED" in lines
    assert "   9. P1's global_load of x finds its value in the L0" in lines
    assert lines[-6:] == [
        "right",
        "R.acquire.gpu @global: without glc=1 of global_load glc=1: sound up to 4 events (threads 2)",
        "R.acquire.gpu @global: without s_waitcnt vmcnt(0): wrong, LB+plain-rel.gpu+acq.gpu-plain of 4 events",
        f"R.acquire.gpu @global: without buffer_wbinvl1_vol: wrong, {BUG} of 4 events",
        "W.release.gpu @global: without s_waitcnt vmcnt(0): wrong, LB+plain-rel.gpu+acq.gpu-plain of 4 events",
        "of 4, 3 are needed (3 by a minimal test), 1 are not",
    ]


@pytest.mark.usefixtures("small")
def test_bugs_are_written_and_a_search_that_was_stopped_goes_on():
    first = run("wrong.seq", *BOUND, "-o", "once", "--picture", "bug.svg", "--json")
    assert first.exit_code == 1
    record = json.loads(first.stdout)
    (table,) = record["tables"]
    assert (record["from"], table["to"], table["searched"], table["lost"]) == ("amdgpu", "wrong", 4, [])
    (bug,) = table["bugs"]
    assert (bug["name"], bug["events"], bug["kind"], bug["source"]["verdict"]) == (BUG, 4, "minimal", "FORBIDDEN")
    assert bug["target"]["code"][0] == ["global_store", "s_waitcnt vmcnt(0)", "global_store"]
    corpus = read_corpus(Path("once"))
    assert corpus.complete and [test.name for test in corpus.tests] == [BUG]
    assert Path(f"once/{BUG}.source.litmus").read_text() == corpus.tests[0].text
    assert f"{BUG} under wrong: ALLOWED" in Path(f"once/{BUG}.target.txt").read_text()
    assert Path("bug.svg").read_text() == Path(f"once/{BUG}.svg").read_text()
    assert "finds its value in the L0" in Path("bug.svg").read_text()
    stopped = run("wrong.seq", *BOUND, "-o", "twice", "--time-limit", "0.001")
    assert "wrong: nothing was searched; stopped by --time-limit" in stopped.stdout
    assert run("wrong.seq", *BOUND, "-o", "twice").exit_code == 1
    for file in ("tests.jsonl", f"{BUG}.target.txt", f"{BUG}.svg"):
        assert Path("once", file).read_bytes() == Path("twice", file).read_bytes()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bad.seq"], "bad.seq:2:13: expected a machine instruction"),
        (["none.seq"], "none.seq: "),
        (["reads.seq"], "reads.seq:1:1: without W, nothing happens that a model could forbid"),
        (["right.seq", "--to", "sc"], "--to does not go with tables of code sequences"),
        (["right.seq", "wrong.seq", "-o", "out"], "-o and --picture need a single table"),
        (["right.seq", "other.map"], "only tables of code sequences (.seq) can be checked"),
        (["right.seq", "--from", "thesis-weak"], "thesis-weak is a transition system"),
        (["right.seq", "--scopes", "queue"], "expected warp, cta, gpu, sys, found 'queue'"),
    ],
)
def test_a_wrong_question_is_one_line(arguments, message):
    Path("bad.seq").write_text("machine gfx90a\nR @global -> global_lode\n")
    Path("reads.seq").write_text("machine gfx90a\nR @global -> global_load\n")
    result = synth("map", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr and "Traceback" not in result.stderr


def instructions(text):
    return [machine_instruction(part.split()) for part in text.split(";")] if text else []


@pytest.mark.parametrize(
    ("weak", "strong", "within"),
    [
        ("", "s_waitcnt vmcnt(0)", True),
        ("global_load", "global_load glc=1; s_waitcnt vmcnt(0)", True),
        ("global_load glc=1", "global_load", False),
        ("s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) lgkmcnt(0)", True),
        ("s_waitcnt vmcnt(0) lgkmcnt(0)", "s_waitcnt vmcnt(0); s_waitcnt lgkmcnt(0)", False),
        ("buffer_wbinvl1_vol; s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0); buffer_wbinvl1_vol", False),
        ("buffer_invl2", "buffer_wbl2", False),
    ],
)
def test_a_sequence_is_within_another_that_does_all_of_it(weak, strong, within):
    assert is_within(instructions(weak), instructions(strong), FAMILIES["gfx90a"]) is within


def test_a_table_that_orders_less_for_a_stronger_instruction_is_known():
    text = (
        SMALL.replace("; s_waitcnt vmcnt(0); buffer_wbinvl1_vol", "") + "R.relaxed.gpu @global -> global_load glc=1\n"
    )
    text += "R.sc.gpu @global -> global_load\n"
    table = read_table(text, "small.seq")
    lost = lost_steps(table, word_order(words_of(table)))
    assert [step.text for step in lost] == ["R.sc.gpu -> R.acquire.gpu @global"]


def test_shapes_have_names_of_their_own():
    assert len({test.name for test in shapes()}) == len(shapes()) == 1242
