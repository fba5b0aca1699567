"""Tables of code sequences for AMD's GPUs: how they are read, what they make of a test, and what a part less is."""

from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.executions.sequences import RowKey, read_table, translated
from corpus.laws.amdgpu import MachineInstruction, machine_instruction
from oracle.operational.deletions import deletions

ROOT = Path(__file__).parents[2]
TABLES = sorted((ROOT / "examples" / "sequences").glob("*.seq"))
EXAMPLES = ROOT / "examples" / "memory" / "amdgpu"
SMALL = """# a table
machine gfx90a
W.relaxed.gpu|sys @global -> global_store   # Monotonic Atomic
F.acquire.gpu -> s_waitcnt vmcnt(0) lgkmcnt(0); buffer_wbinvl1_vol
F.acquire.cta -> -
"""


def table(name):
    path = ROOT / "examples" / "sequences" / f"{name}.seq"
    return read_table(path.read_text(encoding="utf-8"), str(path))


def code(name, test, thread):
    steps = translated(read_litmus(EXAMPLES / f"{test}.litmus"), table(name))[thread]
    return [step.instruction.text for step in steps]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_row_of_a_table_names_its_section(path):
    read = table(path.stem)
    assert len(read.rows) == 140 and all(row.section for row in read.rows.values())
    assert "Source: LLVM" in path.read_text(encoding="utf-8")


def test_a_line_may_be_several_rows():
    read = read_table(SMALL, "small.seq")
    assert read.machine == "gfx90a"
    assert [*read.rows] == [
        RowKey("W", "relaxed", "gpu", "global"),
        RowKey("W", "relaxed", "sys", "global"),
        RowKey("F", "acquire", "gpu", ""),
        RowKey("F", "acquire", "cta", ""),
    ]
    first = read.rows[RowKey("W", "relaxed", "sys", "global")]
    assert (first.sequence, first.section, first.line) == ((MachineInstruction("global_store"),), "Monotonic Atomic", 3)
    assert read.rows[RowKey("F", "acquire", "cta", "")].sequence == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R @global -> global_load\n", "small.seq:1:1: expected 'machine NAME'"),
        ("machine a\nmachine b\n", "small.seq:2:1: expected 'machine NAME' once, or a row with '->'"),
        ("machine a\nR @global -> global_lode\n", "small.seq:2:13: expected a machine instruction, found "),
        ("machine a\nR @global -> global_load vmcnt(0)\n", "found 'global_load vmcnt(0)'"),
        ("machine a\nR @global -> s_waitcnt\n", "small.seq:2:1: expected global_load in the sequence, once"),
        ("machine a\nR @local -> global_load\n", "expected ds_load in the sequence, once"),
        ("machine a\nF.acquire.gpu -> global_load\n", "expected no access in the sequence, once"),
        ("machine a\nR.acquire @global -> global_load\n", "expected KIND.ORDER.SCOPE @SPACE"),
        ("machine a\nR.later.gpu @global -> global_load\n", "expected one of weak, relaxed, acquire"),
        ("machine a\nR.acquire.gpu -> global_load\n", "expected @global or @local for an access"),
        ("machine a\nR @global -> global_load\nR @global -> global_load\n", "small.seq:3:1: a second row for R"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(text, message):
    with pytest.raises(InputError) as raised:
        read_table(text, "small.seq")
    assert message in str(raised.value)


def test_instructions_are_known_by_their_words():
    assert machine_instruction(["s_waitcnt", "vmcnt(0)", "vscnt(0)"]).counters == {"vmcnt(0)", "vscnt(0)"}
    assert machine_instruction(["s_wait_dscnt"]).counters == {"lgkmcnt(0)"}
    assert machine_instruction(["global_inv", "scope:SCOPE_DEV"]).text == "global_inv scope:SCOPE_DEV"
    assert machine_instruction(["s_wait_dscnt", "vmcnt(0)"]) is None


def test_a_test_becomes_the_code_of_its_rows():
    assert code("gfx90a", "mp-agent", 0) == ["global_store", "s_waitcnt vmcnt(0) lgkmcnt(0)", "global_store"]
    load, wait, *rest = code("gfx942", "mp-agent", 1)
    assert (load, wait, rest) == ("global_load sc1=1", "s_waitcnt vmcnt(0)", ["buffer_inv sc1=1", "global_load"])
    assert code("gfx10-wgp", "lds-flag", 0) == ["global_store", "s_waitcnt vmcnt(0) vscnt(0)", "ds_store"]


def test_an_order_that_makes_nothing_available_or_visible_touches_no_cache():
    assert code("gfx942", "mp-release-none", 0)[1:] == ["s_waitcnt vmcnt(0) lgkmcnt(0)", "global_store sc1=1"]
    assert code("gfx942", "mp-acquire-none", 1) == ["global_load sc1=1", "s_waitcnt vmcnt(0)", "global_load"]
    assert code("gfx942", "mp-none-av-vis", 0)[0] == "global_store sc1=1"


def test_a_fence_of_one_address_space_has_a_row_of_its_own():
    assert code("gfx90a", "barrier-fences", 0) == ["global_store", "s_waitcnt lgkmcnt(0)", "s_barrier"]
    assert code("gfx90a", "barrier-own-space", 0) == ["global_store", "s_barrier"]


def test_what_a_table_has_not_is_refused():
    with pytest.raises(InputError, match=r"no row for W\.release\.queue of global memory"):
        translated(read_litmus(EXAMPLES / "mp-cluster.litmus"), table("gfx90a"))


def test_a_part_less_is_an_instruction_a_counter_or_a_bit():
    text = "machine gfx942\nR.acquire.sys @global -> global_load sc0=1 sc1=1; s_waitcnt vmcnt(0) lgkmcnt(0)\n"
    parts = deletions(read_table(text, "small.seq"))
    found = {each.part: next(iter(each.table.rows.values())).sequence for each in parts}
    assert [*found] == [
        "sc0=1 of global_load sc0=1 sc1=1",
        "sc1=1 of global_load sc0=1 sc1=1",
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        "vmcnt(0) of s_waitcnt vmcnt(0) lgkmcnt(0)",
        "lgkmcnt(0) of s_waitcnt vmcnt(0) lgkmcnt(0)",
    ]
    assert found["sc0=1 of global_load sc0=1 sc1=1"][0] == MachineInstruction("global_load", ("sc1=1",))
    assert len(found["s_waitcnt vmcnt(0) lgkmcnt(0)"]) == 1
