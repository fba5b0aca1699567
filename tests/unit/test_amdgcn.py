"""Assembly for AMD's GPUs is read, held against tables of code sequences, and run by their machine."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from assembly_mutants import code_mutants
from instruction_rows import operands_of

from backends.hip.words import said_in_hip
from corpus.code.amdgcn.reader import RowCheck, RowVerdict, absent, held_against, machine_programs
from corpus.code.amdgcn.table import KINDS, MARKED, RETURNS, UNMARKED
from corpus.code.amdgcn.text import read_assembly
from corpus.code.table import Effect, rows_of
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.executions.sequences import SequenceTable, read_table
from corpus.laws.amdgpu import CACHE_OPERATIONS
from corpus.litmus.test import LitmusTest
from oracle.operational.amdgpu import FAMILIES, outcomes

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "memory" / "amdgpu"
SEQUENCES = ROOT / "examples" / "sequences"

MP = said_in_hip(read_litmus(EXAMPLES / "mp-agent.litmus"))
LDS_FLAG = said_in_hip(read_litmus(EXAMPLES / "lds-flag.litmus"))
MP_GFX90A = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
run:
\t;;#ASMSTART
\t; begin P0:0
\t;;#ASMEND
\tglobal_store_dword v[0:1], v4, off
\t;;#ASMSTART
\t; end P0:0
\t;;#ASMEND
\t;;#ASMSTART
\t; begin P0:1
\t;;#ASMEND
\ts_waitcnt vmcnt(0)
\tglobal_store_dword v[2:3], v4, off
\t;;#ASMSTART
\t; end P0:1
\t;;#ASMEND
\ts_cbranch_execz .LBB0_2
.LBB0_2:
\t; begin P1:0
\tglobal_load_dword v1, v[2:3], off glc
\ts_waitcnt vmcnt(0)
\tbuffer_wbinvl1_vol
\t; end P1:0
\t; begin P1:1
\tglobal_load_dword v2, v[0:1], off offset:4
\t; end P1:1
\ts_waitcnt vmcnt(0)
\tglobal_store_dword v9, v2, s[0:1]
\ts_endpgm
"""


def table(name: str, *changes: tuple[str, str]) -> SequenceTable:
    text = (SEQUENCES / f"{name}.seq").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return read_table(text, f"{name}.seq")


def held(test: LitmusTest, text: str, against: SequenceTable) -> list[RowCheck]:
    (code,) = read_assembly(text, "code.s")
    return list(held_against(test, code, against))


def verdicts(test: LitmusTest, text: str, against: SequenceTable) -> list[str]:
    return [str(each.verdict) for each in held(test, text, against)]


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def reached(test: LitmusTest, text: str) -> bool:
    (code,) = read_assembly(text, "code.s")
    return outcomes(test, machine_programs(test, code), FAMILIES[code.machine]).has(test.condition)


def test_the_code_of_a_test_is_its_rows() -> None:
    checks = held(MP, MP_GFX90A, table("gfx90a"))
    assert [each.row for each in checks] == ["W @global", "W.release.gpu @global", "R.acquire.gpu @global", "R @global"]
    assert {each.verdict for each in checks} == {RowVerdict.SAME}, checks
    assert not reached(MP, MP_GFX90A)


@pytest.mark.parametrize(
    ("old", "new", "place", "problem"),
    [
        ("\ts_waitcnt vmcnt(0)\n\tglobal_store", "\tglobal_store", (0, 1), "no wait for vmcnt(0) before global_store"),
        ("\ts_waitcnt vmcnt(0)\n\tbuffer", "\tbuffer", (1, 0), "no wait for vmcnt(0) before buffer_wbinvl1_vol"),
        ("\tbuffer_wbinvl1_vol\n", "", (1, 0), "nothing where the row has buffer_wbinvl1_vol"),
        ("off glc", "off", (1, 0), "global_load where the row has global_load glc=1"),
        ("\tbuffer_wbinvl1_vol", "\tbuffer_wbl2", (1, 0), "nothing where the row has buffer_wbinvl1_vol"),
        ("off offset:4", "off glc", (1, 1), "global_load glc=1 where the row has global_load"),
        (
            "s_waitcnt vmcnt(0)\n\tglobal_s",
            "s_waitcnt vmcnt(1)\n\tglobal_s",
            (0, 1),
            "no wait for vmcnt(0) before global_store",
        ),
    ],
)
def test_what_the_code_lacks_is_named(old: str, new: str, place: tuple[int, int], problem: str) -> None:
    wrong = [
        each for each in held(MP, changed(MP_GFX90A, old, new), table("gfx90a")) if each.verdict != RowVerdict.SAME
    ]
    assert [(each.place, each.verdict, each.problem) for each in wrong] == [(place, RowVerdict.DIFFERENT, problem)]


@pytest.mark.parametrize(
    ("old", "new"), [("\ts_waitcnt vmcnt(0)\n\tglobal_store", "\tglobal_store"), ("\tbuffer_wbinvl1_vol\n", "")]
)
def test_the_machine_does_what_wrong_code_allows(old: str, new: str) -> None:
    assert reached(MP, changed(MP_GFX90A, old, new))


def test_a_wrong_row_is_found() -> None:
    row = "R.acquire.gpu @global              -> global_load glc=1; s_waitcnt vmcnt(0); buffer_wbinvl1_vol"
    wrong = table("gfx90a", (row, row.replace("; buffer_wbinvl1_vol", "")))
    (found,) = (each for each in held(MP, MP_GFX90A, wrong) if each.verdict != RowVerdict.SAME)
    assert found.place == (1, 0) and found.verdict == RowVerdict.STRONGER
    wrong = table("gfx90a", (row, row.replace(" glc=1", "")))
    (found,) = (each for each in held(MP, MP_GFX90A, wrong) if each.verdict != RowVerdict.SAME)
    assert found.place == (1, 0) and found.problem == "global_load glc=1 where the row has global_load"
    release = "W.release.gpu @global              -> s_waitcnt vmcnt(0) lgkmcnt(0); global_store"
    wrong = table("gfx90a", (release, release.replace("-> ", "-> buffer_wbl2; ")))
    (found,) = (each for each in held(MP, MP_GFX90A, wrong) if each.verdict != RowVerdict.SAME)
    assert found.place == (0, 1) and found.problem == "global_store where the row has buffer_wbl2"


def test_a_wait_for_nothing_may_be_left_out_and_another_added() -> None:
    """The acquire has waited, so that a release next would not; a wait that no row has is a stronger one."""
    text = "VULKAN t\n{ x=0; y=0; }\n P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;\n" + (
        " ld.atom.acq.dv.sc0.semsc0.semvis r0, y | st.nonpriv.sc0 x, 1 ;\n st.atom.rel.dv.sc0.semsc0.semav x, 1 | ;\n"
    )
    test = said_in_hip(parse_litmus(f"{text}exists (P0:r0 == 1)\n"))
    code = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
\t; begin P0:0
\tglobal_load_dword v1, v[2:3], off glc
\ts_waitcnt vmcnt(0)
\tbuffer_wbinvl1_vol
\t; end P0:0
\t; begin P0:1
\tglobal_store_dword v[2:3], v4, off
\t; end P0:1
.LBB0_2:
\t; begin P1:0
\ts_waitcnt lgkmcnt(0)
\tglobal_store_dword v[2:3], v4, off
\t; end P1:0
"""
    assert verdicts(test, code, table("gfx90a")) == ["same", "same", "same"]
    pending = changed(code, "\ts_waitcnt lgkmcnt(0)\n", "\ts_waitcnt vmcnt(0) lgkmcnt(0)\n")
    assert verdicts(test, pending, table("gfx90a"))[2] == "same"  # nothing of the thread is under way before it
    between = changed(code, "\t; begin P0:1\n", "\tglobal_load_dword v9, v[6:7], off\n\t; begin P0:1\n")
    assert verdicts(test, between, table("gfx90a"))[1] == "different"


def test_a_write_back_is_waited_for() -> None:
    """clang 19 leaves out the wait after buffer_wbl2 where nothing is under way (llvm/llvm-project, pull 178316)."""
    test = said_in_hip(read_litmus(ROOT / "examples" / "memory" / "c-2+2w-rel.litmus"))
    lines = ['\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"']
    for thread in (0, 1):
        lines += [
            f"\t; begin P{thread}:0",
            "\tbuffer_wbl2",
            "\tglobal_store_dword v[0:1], v4, off",
            f"\t; end P{thread}:0",
        ]
        lines += [
            f"\t; begin P{thread}:1",
            "\tbuffer_wbl2",
            "\ts_waitcnt vmcnt(0)",
            "\tglobal_store_dword v[2:3], v4, off",
        ]
        lines += [f"\t; end P{thread}:1"]
    checks = held(test, "\n".join(lines), table("gfx90a"))
    assert [(each.verdict, each.problem) for each in checks] == 2 * [
        (RowVerdict.DIFFERENT, "no wait for vmcnt(0) before global_store"),
        (RowVerdict.SAME, ""),
    ]


LDS = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
\t; begin P0:0
\tglobal_store_dword v11, v6, s[8:9]
\t; end P0:0
\t; begin P0:1
\tds_write_b32 v3, v6
\t; end P0:1
.LBB0_2:
\t; begin P1:0
\tds_read_b32 v3, v3
\t; end P1:0
\t; begin P1:1
\tglobal_load_dword v10, v11, s[8:9]
\t; end P1:1
"""


def test_an_order_for_one_address_space_is_named_and_the_machine_shows_it() -> None:
    """What clang 15 and 19 make of an acquire from local memory (llvm/llvm-project, pull 120095)."""
    checks = held(LDS_FLAG, LDS, table("gfx90a"))
    assert [str(each.verdict) for each in checks] == ["same", "same", "one-as", "same"]
    assert reached(LDS_FLAG, LDS)
    whole = changed(LDS, "\tds_read_b32 v3, v3\n", "\tds_read_b32 v3, v3\n\ts_waitcnt lgkmcnt(0)\n")
    assert verdicts(LDS_FLAG, whole, table("gfx90a")) == 4 * ["same"]
    assert not reached(LDS_FLAG, whole)


def test_waits_of_gfx12_and_modes() -> None:
    body = """\t; begin P0:0
\tglobal_store_b32 v[0:1], v4, off
\t; end P0:0
\t; begin P0:1
\ts_wait_bvhcnt 0x0
\ts_wait_samplecnt 0x0
\ts_wait_storecnt 0x0
\ts_wait_loadcnt_dscnt 0x0
\tglobal_store_b32 v[2:3], v4, off scope:SCOPE_DEV
\t; end P0:1
\t; begin P1:0
\tglobal_load_b32 v1, v[2:3], off scope:SCOPE_DEV
\ts_wait_loadcnt 0x0
\tglobal_inv scope:SCOPE_DEV
\t; end P1:0
\t; begin P1:1
\tglobal_load_b32 v2, v[0:1], off
\t; end P1:1
"""
    head = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1200"\n'
    text = f"{head}{body}\t\t.amdhsa_workgroup_processor_mode 1\n"
    assert verdicts(MP, text, table("gfx12-wgp")) == 4 * ["same"] and not reached(MP, text)
    assert verdicts(MP, f"{head}{body}", table("gfx12-cu")) == 4 * ["same"]
    assert "different" in verdicts(MP, changed(text, "\ts_wait_storecnt 0x0\n", ""), table("gfx12-wgp"))
    more = changed(text, "\ts_wait_bvhcnt 0x0\n", "\tglobal_wb scope:SCOPE_DEV\n\ts_wait_bvhcnt 0x0\n")
    assert verdicts(MP, more, table("gfx12-wgp")) == ["same", "stronger", "same", "same"] and not reached(MP, more)
    after = changed(text, "\tglobal_store_b32 v[2:3]", "\tglobal_wb scope:SCOPE_DEV\n\tglobal_store_b32 v[2:3]")
    assert verdicts(MP, after, table("gfx12-wgp")) == ["same", "stronger", "same", "same"]
    with pytest.raises(InputError, match="is for gfx12-cu, and this is code for gfx12-wgp"):
        held(MP, text, table("gfx12-cu"))
    split = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n\t\t.amdhsa_tg_split 1\n'
    assert read_assembly(split, "code.s")[0].machine == "gfx90a-tgsplit"


def test_gfx11_has_one_bit_for_both_caches() -> None:
    """Of GFX10's ``glc=1 dlc=1`` it has ``glc``, which a load of the agent must have on either."""
    sb = said_in_hip(read_litmus(ROOT / "examples" / "memory" / "c-sb-sc.litmus"))
    lines = ['\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1100"', "\t\t.amdhsa_workgroup_processor_mode 1"]
    for thread in (0, 1):
        lines += [f"\t; begin P{thread}:0", "\tglobal_store_b32 v[0:1], v4, off", f"\t; end P{thread}:0"]
        lines += [f"\t; begin P{thread}:1", "\ts_waitcnt_vscnt null, 0x0", "\tglobal_load_b32 v1, v[2:3], off glc"]
        lines += ["\ts_waitcnt vmcnt(0)", "\tbuffer_gl1_inv", "\tbuffer_gl0_inv", f"\t; end P{thread}:1"]
    text = "\n".join(lines)
    assert verdicts(sb, text, table("gfx10-wgp")) == 4 * ["same"] and not reached(sb, text)
    assert reached(sb, text.replace(" glc", ""))


def test_an_access_that_is_gone_or_another_is_named() -> None:
    def problems(text: str) -> list[tuple[tuple[int, int], str]]:
        return list(absent(MP, read_assembly(text, "code.s")[0]))

    assert problems(MP_GFX90A) == []
    gone = changed(MP_GFX90A, "\tglobal_store_dword v[0:1], v4, off\n", "")
    assert problems(gone) == [((0, 0), "in the machine code it is no access")]
    assert "different" in verdicts(MP, gone, table("gfx90a"))
    local = changed(MP_GFX90A, "global_load_dword v2, v[0:1], off offset:4", "ds_read_b32 v2, v0")
    assert problems(local) == [((1, 1), "in the machine code it is ds_load")]
    unmarked = changed(MP_GFX90A, "\t; begin P1:1\n", "").replace("\t; end P1:1\n", "")
    assert problems(unmarked) == [((1, 1), "it is not in the machine code")]
    assert held(MP, unmarked, table("gfx90a"))[-1].problem == "it is not in the code"


def test_code_that_branches_is_not_read() -> None:
    text = changed(MP_GFX90A, "\tbuffer_wbinvl1_vol\n", "\tbuffer_wbinvl1_vol\n.LBB0_7:\n")
    (unread,) = (each for each in held(MP, text, table("gfx90a")) if each.verdict != RowVerdict.SAME)
    assert unread.verdict == RowVerdict.UNREAD and unread.problem == "its code has '.LBB0_7:'"
    with pytest.raises(InputError, match=r"P1: the machine has no '\.LBB0_7:'"):
        reached(MP, text)
    with pytest.raises(InputError, match=r"P0: the machine has no 's_waitcnt vmcnt\(1\)'"):
        reached(MP, changed(MP_GFX90A, "s_waitcnt vmcnt(0)\n\tglobal_store", "s_waitcnt vmcnt(1)\n\tglobal_store"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ld.global.u32 %r1, [x];\n", r"code\.s:1:1: expected assembly for AMD's GPUs, with \.amdgcn_target"),
        (changed(MP_GFX90A, "; end P0:0", "; end P0:1"), r"code\.s:8:1: a mark out of its order: ; end P0:1"),
        (changed(MP_GFX90A, "\t; end P1:1\n", ""), r"no end of P1:1"),
    ],
)
def test_what_is_no_assembly_of_a_test(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_assembly(text, "code.s")


STRANGE = {
    "global_store_dword v[2:3], v4, off": (
        "global_store_dword v[2:3], v4, off nt",
        "global_store_dword v[2:3], v4, off lds",
        "global_store_dword v[2:3], v4",
        "global_store_dword v[2:3], v4, off, v5",
        "global_store_dword v[2:3], v[4:5], off",
        "global_store_byte v[2:3], v4, off",
        "global_store_dwordx2 v[2:3], v[4:5], off",
        "flat_store_dword v[2:3], v4",
        "s_store_dword s4, s[2:3], 0x0",
        "s_dcache_wb",
        "buffer_wbinvl1",
        "s_trap 2",
        ".long 0xbf8c0000",
        "ds_gws_barrier v0 gds",
    ),
    "global_load_dword v1, v[2:3], off glc": (
        "global_load_dword v1, v[2:3], off glc th:TH_LOAD_NT",
        "global_load_ubyte v1, v[2:3], off glc",
        "global_load_dword v[1:2], v[2:3], off glc",
        "global_load_dword v1, v[2:3], off offset:99999999999 glc",
        "global_load_dword v1, v[2:3], off glc offset:" + "9" * 4301,
    ),
    "buffer_wbinvl1_vol": ("buffer_wbinvl1_vol v0", "buffer_wbinvl1_vol nt", "buffer_gl0_inv_x"),
    "s_waitcnt vmcnt(0)": ("s_waitcnt 0", "s_waitcnt vmcnt(99999)", "s_waitcnt_vmcnt null, 0x0", "s_wait_idle"),
}
"""Instructions of ``MP_GFX90A``, and what stands in their place and is not known."""
STRANGE_LINES = [(old, new) for old, news in STRANGE.items() for new in news]


@pytest.mark.parametrize(("old", "new"), STRANGE_LINES, ids=[new[:60] for _, new in STRANGE_LINES])
def test_what_has_no_row_is_not_read(old: str, new: str) -> None:
    """Between marks it is reported by its text; outside of them, nothing is known of counters behind it."""
    (code,) = read_assembly(MP_GFX90A.replace(old, new, 1), "t.s")
    found = [check for check in held_against(MP, code, table("gfx90a")) if new in check.problem]
    assert [check.verdict for check in found] == [RowVerdict.UNREAD]


def test_what_is_not_known_between_accesses_ends_what_is_known_of_counters() -> None:
    text = MP_GFX90A.replace("\t; begin P1:1\n", "\tflat_store_dword v[0:1], v2\n\t; begin P1:1\n")
    with pytest.raises(InputError, match="the machine has no 'flat_store_dword v\\[0:1\\], v2'"):
        machine_programs(MP, *read_assembly(text, "t.s"))


def test_a_barrier_of_two_instructions_needs_both() -> None:
    begin = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx1200"\nrun:\n\t; begin P0:0\n'
    both, end = "\ts_barrier_signal -1\n\ts_barrier_wait -1\n", "\t; end P0:0\n"
    for lines, known in ((both, True), (both[: both.index("\n") + 1], False), (both[both.index("\n") + 1 :], False)):
        (code,) = read_assembly(begin + lines + end, "t.s")
        assert [each.instruction is not None for each in code.pieces[1].instructions] == [known]


EFFECTS = {"load": Effect.READS, "store": Effect.WRITES, "atomic": Effect.BOTH}
FEW = {"global_load_dword": 1, "ds_read_b32": 1, "global_atomic_cmpswap": 2, "ds_cmpst_rtn_b32": 1}


@pytest.mark.parametrize("marked", [True, False])
def test_each_row_of_an_access_is_fed_once(marked: bool) -> None:
    """With its operands it is an access that does what its row says, with one less or one more it is not known."""
    text = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\nrun:\n\t; begin P0:0\n\t{}\n\t; end P0:0\n'
    text = text if marked else text.replace("\t; begin P0:0\n", "").replace("\t; end P0:0\n", "")
    counts: Counter[str] = Counter()
    for name, row in rows_of(MARKED if marked else UNMARKED):
        if row.effect not in EFFECTS.values() or row.operands == "any*":
            continue
        counts[name] += 1
        operands = next(operands_of(row, lambda kind: KINDS[kind].examples[:1]))
        returned = " glc" if RETURNS in row.words else ""
        for given in (operands, operands[1:], (*operands, "v9")):
            line = f"{name.replace('*', 'dwordx2')} {', '.join(given)}{returned}"
            (code,) = read_assembly(text.format(line), "t.s")
            (found,) = [ins for piece in code.pieces for ins in piece.instructions if ins.text != "run:"]
            assert (found.instruction is not None) == (given is operands), line
            if found.instruction is not None:
                assert EFFECTS[found.instruction.opcode.partition("_")[2]] is row.effect
                assert found.returns == (bool(returned) or "atomic" not in found.instruction.opcode or "_rtn" in name)
    assert not marked or FEW.items() <= counts.items()
    print(f"amdgcn: {len(counts)} opcodes of accesses, {len(CACHE_OPERATIONS)} of caches")


def mutants(count: int, seed: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for mutant in code_mutants(MP_GFX90A, count, random.Random(seed)):
        try:
            for code in read_assembly(mutant, "t.s"):
                if code.machine == "gfx90a":
                    checks = held_against(MP, code, table("gfx90a"))
                    found["not read" if any(each.verdict is RowVerdict.UNREAD for each in checks) else "read"] += 1
                    machine_programs(MP, code)
        except InputError:
            found["refused"] += 1
    return found


def test_mutants_end_in_one_line() -> None:
    counts = mutants(300, 1)
    assert counts["not read"] + counts["refused"] > 60


@pytest.mark.slow
def test_many_mutants_end_in_one_line() -> None:
    print(dict(mutants(1700, 2)))


@pytest.mark.parametrize("chip", ["gfx906", "gfx908", "gfx940", "gfx950", "gfx1250", "gfx1310", "gfx10"])
def test_gpus_whose_memory_no_table_tells_are_refused(chip: str) -> None:
    """GFX1250 is no GFX12.0 and GFX906 no GFX10: their cache operations and waits are others (AMDGPUUsage)."""
    with pytest.raises(InputError, match=f"whose memory is known: {chip}"):
        read_assembly(MP_GFX90A.replace("gfx90a", chip), "code.s")
