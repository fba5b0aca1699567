"""``synth fix``: the repairs that the papers name, what is printed, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from commands import synth

from corpus.dialects.registry import DIALECTS, read_litmus
from corpus.executions.vocabulary import spelled_mode
from corpus.litmus.orders import Place, Scope
from oracle.consistency import resolve_consistency_models
from synth.commands.fix import WHAT
from synth.repair.costs import read_costs
from synth.repair.fixing import Fixing, RepairQuestion, model_named
from synth.repair.sites import KINDS, Direction

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


def fix(*arguments):
    return synth("fix", *arguments)


def repaired(name, model, *arguments):
    result = fix(EXAMPLES / f"{name}.litmus", "--model", model, "--json", *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["repairs"]


def changes(repair):
    return [change["change"] for change in repair["changes"]]


MEMORIES = "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE"
STORE = "atomic_store_explicit(y, 1, memory_order_{})"


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        # The lock of Alglave et al. 2015, Fig. 2: its unlock lacks a membar.gl, and one of a CTA is not enough. The
        # paper has one in the lock as well (Fig. 9), where their model orders by control what is read behind it.
        ("cas-sl", "ptx-rmo", ["fence.sc.gpu before P0: atom.relaxed.gpu.exch r0, m, 0"]),
        ("mp-intra", "ptx-rmo", ["fence.sc.cta before P0: st.cg y, 1", "fence.sc.cta before P1: ld.cg r2, x"]),
        ("mp-inter", "ptx-rmo", ["fence.sc.gpu before P0: st.cg y, 1", "fence.sc.gpu before P1: ld.cg r2, x"]),
        ("sb-inter", "ptx-rmo", ["fence.sc.gpu before P0: ld.cg r1, y", "fence.sc.gpu before P1: ld.cg r2, x"]),
        # Lustig et al. 2019, section 3: release and acquire are enough for MP, and IRIW needs fence.sc.
        ("mp-weak", "ptx-6.0", ["P0: st y, 1 -> st.release.gpu y, 1", "P1: ld r1, y -> ld.acquire.gpu r1, y"]),
        ("iriw-acquire", "ptx-6.0", ["fence.sc.gpu before P2: ld.acquire.gpu r2, y", "fence.sc.gpu before P3"]),
        # C11: store buffering takes seq_cst everywhere, or fences.
        ("c-mp-rlx", "rc11", [f"P0: {STORE.format('relaxed')} -> {STORE.format('release')}", "P1: r0 = atomic_load"]),
    ],
)
def test_the_repairs_that_the_papers_name(name, model, expected):
    first = repaired(name, model)[0]
    found = changes(first)
    assert len(found) == len(expected)
    assert all(one.startswith(start) for one, start in zip(found, expected, strict=True)), found
    for change in first["changes"]:
        assert change["cut"]["cycle"] and change["without"]["events"]


def test_the_repaired_test_is_forbidden_and_written(tmp_path):
    output = tmp_path / "repaired.litmus"
    result = fix(EXAMPLES / "cas-sl.litmus", "-m", "ptx-rmo", "-o", output, "--picture", tmp_path / "cut.svg")
    assert result.exit_code == 0
    assert "+ membar.gl" in result.stdout and "gl-constraint" in result.stdout
    (model,) = resolve_consistency_models(["ptx-rmo"])
    assert model.judge(read_litmus(output)).answer == "FORBIDDEN"
    assert "membar.gl" in (tmp_path / "cut.svg").read_text()


def test_all_minimal_repairs_come_cheapest_first():
    found = repaired("c-sb-rel-acq", "rc11", "--all")
    assert [len(repair["changes"]) for repair in found] == [4, 3, 3, 2]
    assert [repair["cost"] for repair in found] == sorted(repair["cost"] for repair in found)
    texts = [repair["texts"][0] for repair in found]
    assert "atomic_thread_fence(memory_order_seq_cst)" in texts[-1] and len(set(texts)) == 4


def test_only_what_is_allowed_is_changed():
    (only,) = repaired("mp-weak", "ptx-6.0", "--allow", "fences")
    assert changes(only) == ["fence.sc.gpu before P0: st y, 1", "fence.sc.gpu before P1: ld r2, x"]
    (only,) = repaired("cl-mp-local-flag", "opencl", "--allow", "barriers")
    assert changes(only) == [
        f"barrier({MEMORIES}) before "
        "P0: atomic_store_explicit(y, 1, memory_order_release, memory_scope_work_group), P1: r1 = *x"
    ]


def test_what_costs_less_is_chosen(tmp_path):
    table = tmp_path / "costs.toml"
    table.write_text("[order]\nsc = 1\nrelaxed = 9\nrelease = 9\nacquire = 9\nacq_rel = 9\n")
    assert all(change.startswith("fence") for change in changes(repaired("mp-weak", "ptx-6.0", "--cost", table)[0]))


def test_weakening_keeps_what_is_needed_and_what_is_not_read():
    """ptx-rmo reads no scopes of atomics: those of threads in two CTAs stay. The cost is that of a change."""
    (found,) = repaired("exch-sl+membar.gls", "ptx-rmo", "--weaken")
    assert changes(found) == ["P1: @r2 fence.sc.gpu -> removed"]
    assert [kept["change"] for kept in found["kept"]] == ["P0: fence.sc.gpu"]
    assert found["kept"][0]["cut"]["check"] == "gl-constraint"
    assert found["cost"] == -(100 + 80 + 4)  # a fence, seq_cst, of the scope gpu
    (back,) = repaired("exch-sl", "ptx-rmo", "--allow", "fences")
    assert back["cost"] == -found["cost"]


CONTROL = "rests on control dependencies to reads (P1: R.rlx.gpu m=0 to R.cg x=0): ptx-rmo keeps these in order"
ATOMICS = "ptx-rmo flags no-atomic-operations-in-2015, and says nothing then of what the program does"


@pytest.mark.parametrize("name", ["cas-sl", "exch-sl"])
def test_a_repair_that_rests_on_control_dependencies_says_so(name, tmp_path):
    """Alglave et al. 2015, Fig. 9: fences on both sides, which a model without such dependencies has, too."""
    warning, flagged = repaired(name, "ptx-rmo")[0]["warnings"]
    assert warning.startswith(CONTROL) and flagged == ATOMICS
    model = tmp_path / "branches.cat"
    model.write_text('let ctrl = ctrl \\ (_ * R)\ninclude "ptx-rmo.cat"')
    (found,) = repaired(name, model)
    assert changes(found) == [
        "fence.sc.gpu before P0: atom.relaxed.gpu.exch r0, m, 0",
        "fence.sc.gpu before P1: setp.eq r2, r1, 0",
    ]
    assert found["warnings"] == [ATOMICS.replace("ptx-rmo", "branches", 1)]


def test_a_test_that_was_weakened_may_rest_on_control_dependencies():
    (found,) = repaired("exch-sl+membar.gls", "ptx-rmo", "--weaken")
    assert [each.startswith(CONTROL) for each in found["warnings"]] == [True, False]
    (found,) = repaired("cas-sl+membar.gls", "ptx-rmo")
    assert (found["changes"], found["warnings"]) == ([], [ATOMICS])


@pytest.mark.parametrize(
    ("name", "model", "warnings"),
    [
        # Alglave et al. 2015, Table 2: fences do not restore the order of loads that hit the L1.
        ("mp-L1", "rmo", ["rmo does not read cache operators: P1: ld.ca r1, y, P1: ld.ca r2, x"]),
        ("mp-L1", "ptx-rmo", ["ptx-rmo flags no-L1-accesses-in-2015, and says nothing then of what the program does"]),
        ("mp-inter", "ptx-rmo", []),
        ("mp-acq-rel-cta", "ptx-6.0", []),
        (
            "mp-acq-rel-cta",
            "tso",
            [
                "tso does not read scopes, and these do not have all threads: "
                "P0: st.release.cta y, 1, P1: ld.acquire.cta r1, y",
            ],
        ),
        ("mp-acq-rel-one-cta", "tso", []),
        ("mp-relaxed", "tso", ["tso does not read these orders: P0: st.relaxed.gpu y, 1, P1: ld.relaxed.gpu r1, y"]),
        (
            "mp-fence-acq-rel",
            "sc",
            [
                "sc does not read these orders: P0: st.relaxed.gpu y, 1, P1: ld.relaxed.gpu r1, y",
                "sc does not read these fences: P0: fence.acq_rel.gpu, P1: fence.acq_rel.gpu",
            ],
        ),
        ("c-sb-sc", "tso", []),
        ("cl-mp-dev-scope", "opencl", ["opencl flags data-race, and says nothing then of what the program does"]),
    ],
)
def test_what_a_model_does_not_read_is_said(name, model, warnings):
    found = json.loads(fix(EXAMPLES / f"{name}.litmus", "--model", model, "--json").stdout)["repairs"][0]["warnings"]
    assert len(found) == len(warnings), found
    assert all(one.startswith(start) for one, start in zip(found, warnings, strict=True)), found


def test_where_there_is_no_repair_what_is_not_read_is_said():
    result = fix(EXAMPLES / "mp-bar-sync.litmus", "-m", "rmo")
    assert result.exit_code == 1 and "no repair" in result.stdout
    assert "warning: rmo does not read these barriers: P0: bar.sync 0, P1: bar.sync 0\n" in result.stdout


READS_ORDERS = """
let sw = [REL & W]; rfe; [ACQ & R]
acyclic po-loc | rf | co | fr as coherence
irreflexive fr; (po | sw)+ as causality
flag ~empty CG as which-makes-it-a-model-of-ptx
"""


def test_of_what_a_model_does_not_tell_apart_the_scope_has_all_threads_or_stays(tmp_path):
    model = tmp_path / "orders.cat"
    model.write_text(READS_ORDERS)
    (found,) = repaired("mp-weak", model)
    assert changes(found) == ["P0: st y, 1 -> st.release.gpu y, 1", "P1: ld r1, y -> ld.acquire.gpu r1, y"]
    (tmp_path / "mp.litmus").write_text(
        """PTX mp
{ x=0; y=0; }
 P0@cta 0,gpu 0        | P1@cta 1,gpu 0       ;
 st.release.sys x, 1   | ld.acquire.sys r1, y ;
 st.release.sys y, 1   | ld.acquire.sys r2, x ;
 fence.sc.gpu          |                      ;
exists (P1:r1 == 1 /\\ P1:r2 == 0)
"""
    )
    result = fix(tmp_path / "mp.litmus", "--model", model, "--weaken", "--json")
    (found,) = json.loads(result.stdout)["repairs"]
    assert changes(found) == [
        "P0: st.release.sys x, 1 -> st.relaxed.sys x, 1",
        "P1: ld.acquire.sys r2, x -> ld.relaxed.sys r2, x",
    ]
    assert found["warnings"] == [f"{model.stem} does not read these fences: P0: fence.sc.gpu"]


FAILING = """C failing
{ x = 0; y = 0; }
P0 (int* x, atomic_int* y) {
  *x = 1;
  int r0 = 0;
  atomic_compare_exchange_strong_explicit(y, &r0, 1, memory_order_acq_rel, memory_order_relaxed);
}
P1 (int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  if (r0 == 1) {
    int r1 = *x;
  }
}
exists (1:r0=1 /\\ 1:r1=0)
"""


@pytest.mark.parametrize(("dialect", "models"), [("c", ["rc11", "c11"]), ("opencl", ["opencl", "rc11-scoped"])])
def test_an_exchange_with_a_failure_order_is_weakened(tmp_path, dialect, models):
    """Where a weaker order implies it, as release does relaxed, a reader says nothing of it."""
    text = FAILING
    if dialect == "opencl":
        text = text.replace("C failing", "OPENCL failing").replace("atomic_int* y", "global atomic_int* y")
        for number in (0, 1):
            text = text.replace(f"P{number} (int*", f"P{number}@wg {number}, dev 0 (global int*")
    (tmp_path / "failing.litmus").write_text(text)
    for model in models:
        result = fix(tmp_path / "failing.litmus", "-m", model, "--weaken", "--json")
        (found,) = json.loads(result.stdout)["repairs"]
        (change,) = changes(found)
        orders = "memory_order_release, memory_order_relaxed"
        assert orders in change.partition(" -> ")[2] and orders not in change.partition(" -> ")[0]
        assert "memory_order_release, memory_order_relaxed" in found["texts"][0]


def test_an_access_is_plain_where_all_of_its_location_are(tmp_path):
    """In C, ``*x`` is a seq_cst access of an atomic_int."""
    handed = """C handed
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  if (r0 == 1) {
    int r1 = atomic_load_explicit(x, memory_order_relaxed);
    MORE
  }
}
exists (1:r0=1 /\\ 1:r1=0)
"""
    file = tmp_path / "handed.litmus"
    file.write_text(handed.replace("    MORE\n", ""))
    (found,) = json.loads(fix(file, "-m", "rc11", "--weaken", "--json").stdout)["repairs"]
    assert changes(found) == [
        "P0: atomic_store_explicit(x, 1, memory_order_relaxed) -> *x = 1",
        "P1: r1 = atomic_load_explicit(x, memory_order_relaxed) -> r1 = *x",
    ]
    assert "P0 (int* x, atomic_int* y)" in found["texts"][0]
    file.write_text(handed.replace("MORE", "int r2 = atomic_exchange_explicit(x, 2, memory_order_relaxed);"))
    result = fix(file, "-m", "rc11", "--weaken")
    assert result.exit_code == 0 and "nothing to change" in result.stdout
    assert (
        "kept: P0: atomic_store_explicit(x, 1, memory_order_relaxed)\n  as another access of its location is atomic\n"
        in result.stdout
    )


def test_what_is_declared_atomic_and_made_so_is_the_same_test(tmp_path):
    file = tmp_path / "declared.litmus"
    file.write_text(
        "C declared\n{ x = 0; }\nP0 (atomic_int* x) { *x = 1; }\nP1 (atomic_int* x) { int r0 = *x; }\nexists (1:r0=1)\n"
    )
    (found,) = json.loads(fix(file, "-m", "c11", "--race-free", "--json", "-o", tmp_path / "o.litmus").stdout)[
        "repairs"
    ]
    assert len(changes(found)) == 2 and found["texts"][0] == (tmp_path / "o.litmus").read_text()


def test_weakening_leaves_barriers_out_where_threads_meet_too_often(tmp_path):
    source = tmp_path / "mp.litmus"
    source.write_text(
        """PTX mp
{ x=0; y=0; }
 P0@cta 0,gpu 0   | P1@cta 0,gpu 0 ;
 st.weak x, 1     | bar.cta.sync 0 ;
 bar.cta.arrive 0 | ld.weak r1, x  ;
 bar.cta.sync 1   | bar.cta.sync 1 ;
 st.weak y, 1     | ld.weak r2, y  ;
exists (P1:r1 == 0)
"""
    )
    result = fix(source, "-m", "ptx-6.0", "--weaken", "--json", "--forbid", "P1:r1=0")
    (found,) = json.loads(result.stdout)["repairs"]
    assert changes(found) == ["P0: bar.sync 1, P1: bar.sync 1 -> removed"]
    assert [kept["change"] for kept in found["kept"]] == ["P0: bar.arrive 0, P1: bar.sync 0"]


def test_another_outcome_is_forbidden():
    result = fix(EXAMPLES / "mp-weak.litmus", "-m", "ptx-6.0", "--forbid", "P1:r1=1")
    assert (result.exit_code, result.stdout) == (
        1,
        "mp-weak under ptx-6.0: no repair: no allowed change forbids the outcome\n",
    )


def test_races_and_an_outcome_are_forbidden_at_once():
    (only,) = repaired("cl-mp-local-flag", "opencl", "--race-free")
    (both,) = repaired("cl-mp-local-flag", "opencl", "--race-free", "--forbid", "1:r0=1 /\\ 1:r1=0")
    assert changes(only) == [
        "P0: *x = 1 -> atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_work_group)",
        "P1: r1 = *x -> r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_work_group)",
    ]
    fences = [change for change in changes(both) if change not in changes(only)]
    assert len(changes(both)) == 4 and [fence.partition(" before ")[0] for fence in fences] == [
        f"atomic_work_item_fence({MEMORIES}, memory_order_release, memory_scope_work_group)",
        f"atomic_work_item_fence({MEMORIES}, memory_order_acquire, memory_scope_work_group)",
    ]


def test_several_tests_go_to_a_folder(tmp_path):
    names = ["mp-weak", "sb-acq-rel"]
    result = fix(*(EXAMPLES / f"{name}.litmus" for name in names), "-m", "ptx-6.0", "-o", tmp_path / "out")
    assert result.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{name}.litmus" for name in names]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-m", "thesis-weak"], "thesis-weak is a transition system"),
        (["-m", "ptx-6.0", "--forbid", "P7:r1=1"], "--forbid: "),
        (["-m", "ptx-6.0", "--allow", "luck"], "expected some of fences, orders, scopes, barriers, found 'luck'"),
        (["-m", "ptx-6.0", "--cost", "nowhere.toml"], "nowhere.toml"),
        (["-m", "ptx-6.0", "--race-free", "--weaken"], "give it without --race-free"),
        (["-m", "nothing"], "nothing"),
    ],
)
def test_what_is_wrong_is_said(arguments, message):
    result = fix(EXAMPLES / "mp-weak.litmus", *arguments)
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[order]\nfast = 1\n", "[order] has no 'fast'"),
        ("[order]\nsc = -1\n", "expected a whole number from 0"),
        ("[order]\nsc = true\n", "expected a whole number from 0"),
        ("[luck]\n", "unknown section [luck]"),
        ("order = 3\n", "[order] is to be a table"),
        ("order = \n", "expected a table of costs in TOML"),
    ],
)
def test_a_table_of_costs_that_is_wrong(text, message, tmp_path):
    (tmp_path / "costs.toml").write_text(text)
    result = fix(EXAMPLES / "mp-weak.litmus", "-m", "ptx-6.0", "--cost", tmp_path / "costs.toml")
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.splitlines()) == 1


TREES = {
    Scope.CTA: lambda number: Place(0, 0, 0, number),
    Scope.GPU: lambda number: Place(0, 0, number, 0),
    Scope.SYS: lambda number: Place(number, 0, 0, 0),
}
"""Threads in one CTA, each in a CTA of its own, each on a GPU of its own."""


@pytest.mark.parametrize("scope", TREES)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mp-weak", {"R.acquire": 1, "W.release": 1}),
        ("sb-acq-rel", {"F.sc": 2}),
        ("iriw-acquire", {"F.sc": 2}),
    ],
)
def test_the_scope_is_the_narrowest_that_has_all_threads(name, expected, scope):
    test = read_litmus(EXAMPLES / f"{name}.litmus")
    threads = (
        replace(
            thread,
            place=TREES[scope](number),
            instructions=tuple(
                replace(ins, mode=replace(ins.mode, scope=ins.mode.scope and scope)) for ins in thread.instructions
            ),
        )
        for number, thread in enumerate(test.threads)
    )
    test = replace(test, threads=tuple(threads))
    question = RepairQuestion(model_named("ptx-6.0"), 2, outcome=True, flags=False)
    with Fixing([test], DIALECTS["ptx"], question, read_costs("ptx"), Direction.STRONGER, WHAT) as fixing:
        (fixed,) = next(iter(fixing)).tests
    before, after = (modes(each) for each in (test, fixed))
    assert after - before == Counter({f"{word}.{scope.label}": count for word, count in expected.items()})


def modes(test):
    kinds = {type(ins): KINDS[type(ins)] for thread in test.threads for ins in thread.instructions}
    return Counter(spelled_mode(kinds[type(ins)], ins.mode) for thread in test.threads for ins in thread.instructions)


PRODUCER = """PTX producer
{ x=0; y=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r1, y ;
 LC7:                | ld.weak r2, x        ;
 st.relaxed.gpu y, 1 |                      ;
exists (P1:r1 == 1 /\\ P1:r2 == 0)
"""
CHAIN = """PTX chain
{ x=0; y=0; z=0; }
 P0@cta 0,gpu 0      | P1@cta 1,gpu 0       | P2@cta 2,gpu 0       ;
 st.weak x, 1        | ld.acquire.gpu r1, y | ld.acquire.gpu r1, z ;
 LC7:                | LC7:                 | ld.weak r2, x        ;
 st.relaxed.gpu y, 1 | st.relaxed.gpu z, 1  |                      ;
exists (P1:r1 == 1 /\\ P2:r1 == 1 /\\ P2:r2 == 0)
"""


def test_tests_of_one_program_are_repaired_together(tmp_path):
    files = [tmp_path / f"{name}.litmus" for name in ("producer", "chain")]
    for file, text in zip(files, (PRODUCER, CHAIN), strict=True):
        file.write_text(text)
    result = fix(*files, "-m", "ptx-6.0", "--together", "--json", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    (repair,) = json.loads(result.stdout)["repairs"]
    assert changes(repair) == ["P0: st.relaxed.gpu y, 1 -> st.release.gpu y, 1"]
    assert [text.count("st.release.gpu") for text in repair["texts"]] == [1, 2]  # wherever the label is
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["chain.litmus", "producer.litmus"]


def test_tests_of_the_same_code_need_no_labels(tmp_path):
    text = (EXAMPLES / "mp-weak.litmus").read_text()
    (tmp_path / "first.litmus").write_text(text)
    (tmp_path / "second.litmus").write_text(text.replace("P1:r2 == 0", "P1:r2 == 0 /\\ x == 1"))
    (tmp_path / "other.litmus").write_text(PRODUCER)
    result = fix(tmp_path / "first.litmus", tmp_path / "second.litmus", "-m", "ptx-6.0", "--together")
    assert result.exit_code == 0 and "repaired by 2 changes" in result.stdout
    result = fix(tmp_path / "first.litmus", tmp_path / "other.litmus", "-m", "ptx-6.0", "--together")
    assert result.exit_code == 2 and "no place is in common" in result.stderr


def test_no_race_is_left():
    (found,) = repaired("cl-mp-dev-scope", "opencl", "--race-free")
    assert changes(found) == [
        "P0: *x = 1 -> atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device)",
        "P1: r1 = *x -> r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device)",
    ]
    assert [change["flags"] for change in found["changes"]] == [["data-race"]] * 2
