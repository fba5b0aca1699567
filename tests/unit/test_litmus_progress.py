"""Litmus tests under progress models: barriers, data, bounds, groups, and the commands."""

import csv
import io
import json
from pathlib import Path

import pytest
from commands import printed, synth

from corpus.dialects.registry import parse_litmus, read_litmus
from oracle.exploration import NoVerdictError
from oracle.progress.explain import explain_system
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import MODELS, Verdict, system_verdicts
from oracle.progress.plugins import resolve_models

EXAMPLES = Path(__file__).parents[2] / "examples"
SPINLOCK = EXAMPLES / "locks" / "spinlock-exch.litmus"


def ptx(*columns, init="", ctas=None):
    """A test of columns, instructions parted by ``;``, each in a CTA of its own unless said otherwise."""
    cells = [[cell.strip() for cell in column.split(";")] for column in columns]
    height = max(map(len, cells))
    rows = [" | ".join(column[row] if row < len(column) else "" for column in cells) for row in range(height)]
    heads = " | ".join(f"P{tid}@cta {(ctas or range(len(columns)))[tid]},gpu 0" for tid in range(len(columns)))
    return parse_litmus(
        "\n".join(["PTX test", f"{{ {init} }}", *(f" {row} ;" for row in [heads, *rows])]) + "\nexists 0 == 0"
    )


def said(test):
    """The verdicts as letters by guarantee, weak then strong."""
    letters: dict[str, str] = {}
    for name, verdict in system_verdicts(explore_litmus(test).successors).items():
        base = name.rpartition("-")[0]
        letters[base] = letters.get(base, "") + ("T" if verdict is Verdict.TERMINATES else "H")
    return letters


def every(letters):
    return dict.fromkeys(["unfair", "hsa", "obe", "hsa+obe", "lobe", "fair"], letters)


# Barriers


@pytest.mark.parametrize(
    ("threads", "quorum", "hangs"),
    [
        (2, "", False),
        (3, "", False),
        (3, ", 1, 3", False),
        (3, ", 1, 4", True),
        (4, ", 1, 2", False),
        (3, ", 1, 2", True),
    ],
)
def test_a_barrier_lets_as_many_through_as_its_quorum_asks_for(threads, quorum, hangs):
    test = ptx(*[f"bar.cta.sync 1{quorum}; st.weak x, 1"] * threads, ctas=[0] * threads)
    assert said(test) == every("HH" if hangs else "TT")


def test_threads_of_two_groups_do_not_meet():
    columns = ["bar.cta.sync 1, 1, 2"] * 2
    assert said(ptx(*columns, ctas=[0, 0])) == every("TT")
    assert said(ptx(*columns, ctas=[0, 1])) == every("HH")
    assert said(ptx("bar.cta.sync 1", "bar.cta.sync 1", ctas=[0, 1])) == every("TT")  # each waits for its own group


def test_names_are_values():
    assert said(ptx("bar.cta.sync 1, 1, 2", "bar.cta.sync 2, 1, 2", ctas=[0, 0])) == every("TT")  # the resource counts
    assert said(ptx("bar.cta.sync 1, 1, 2", "bar.cta.sync 1, 2, 2", ctas=[0, 0])) == every("HH")
    register = ptx("bar.cta.sync 1, r0, 2", "ld.weak r1, x; bar.cta.sync 1, r1, 2", init="x=3; P0:r0=3;", ctas=[0, 0])
    assert said(register) == every("TT")


def test_who_arrives_does_not_wait():
    waits = "bar.cta.sync 0, 0, 2; st.weak x, 1"
    assert said(ptx(waits, "bar.cta.arrive 0, 0, 2", ctas=[0, 0])) == every("TT")
    assert said(ptx("bar.cta.arrive 0, 0, 2", "bar.cta.arrive 0, 0, 2; bar.cta.sync 0, 0, 1", ctas=[0, 0])) == every(
        "TT"
    )
    assert said(ptx(waits, "st.weak y, 1", ctas=[0, 0])) == every("HH")


def test_nobody_comes_twice_to_a_barrier_that_is_not_complete():
    twice = "bar.cta.arrive 0, 0, 2; bar.cta.sync 0, 0, 2"
    assert said(ptx(twice, ctas=[0])) == every("HH")
    assert said(ptx(twice, "bar.cta.sync 0, 0, 2; bar.cta.sync 0, 0, 2", ctas=[0, 0])) == every("TT")
    assert said(ptx("bar.cta.sync 0, 0, 2", "bar.cta.sync 0, 0, 3", ctas=[0, 0])) == every("HH")  # they are two


def test_who_may_come_by_a_name_that_it_computes_is_awaited_until_it_has_gone_elsewhere():
    waits = "bar.cta.sync 0, 1; st.weak x, 1"
    for value, other in ((1, "TT"), (2, "TT")):  # with the first, or past it
        assert said(ptx(waits, "ld.weak r0, y; bar.cta.sync 0, r0", init=f"y={value};", ctas=[0, 0])) == every(other)
    system = explore_litmus(ptx(waits, "ld.weak r0, y; bar.cta.sync 0, r0", init="y=2;", ctas=[0, 0]))
    assert system.waiting(system.successors[0][0]) == 0b01 and not any(system.successors[-1][tid] + 1 for tid in (0, 1))


def test_who_has_ended_without_the_barrier_lets_the_others_wait():
    """All of the group whose code has the barrier must come."""
    skipping = ptx("bar.cta.sync 1", "ld.weak r0, x; beq r0, 0, LC0; bar.cta.sync 1; LC0:", ctas=[0, 0])
    assert said(skipping) == every("HH")


def test_a_thread_that_waits_has_no_step_and_hsa_turns_to_the_next():
    """T0 waits for T1, which HSA promises a step while T0 has none; T2 may spin until then."""
    spin = "LC0:; ld.relaxed.gpu r0, x; bne r0, 1, LC0"
    test = ptx("bar.cta.sync 1", "st.relaxed.gpu x, 1; bar.cta.sync 1", spin, ctas=[0, 0, 1])
    assert said(test)["hsa"] == "TT"
    system = explore_litmus(test)
    waiting = next(state for state in range(len(system.successors)) if system.waiting(state) == 0b001)
    assert system.successors[waiting][0] == -1 and system.successors[waiting][1] != -1
    assert system.counters[waiting][0] == 0


def test_barriers_in_a_loop_come_round():
    """The set of running threads changes on the cycle."""
    loop = "LC0:; bar.cta.sync 1; ld.relaxed.gpu r0, x; bne r0, 1, LC0"
    test = ptx(loop, loop, "st.relaxed.gpu x, 1", ctas=[0, 0, 1])
    # One may see x before it is set and the other after, and then wait at the barrier for ever.
    assert said(test) == every("HH")
    stop = "LC0:; bar.cta.sync 1; ld.relaxed.gpu r0, x; bar.cta.sync 1; bne r0, 1, LC0"
    test = ptx(stop, "LC0:; bar.cta.sync 1; bar.cta.sync 1; goto LC0", "st.relaxed.gpu x, 1", ctas=[0, 0, 1])
    assert said(test)["hsa"] == "HH"  # it goes round without T2, and later waits for T0


# Data


def test_values_are_numbers_and_addresses():
    counts = ptx("LC0:; atom.relaxed.gpu.add r0, x, 1; blt r0, 40, LC0")
    assert len(explore_litmus(counts).successors) == 42
    wraps = ptx("LC0:; ld.weak r0, x; add r0, r0, 1; st.weak x, r0; bgt r0, 0, LC0", init="x=2147483646;")
    assert said(wraps) == every("TT")
    points = ptx("st.weak p, r0; st.weak y, 1", "LC0:; ld.weak r1, p; beq r1, 0, LC0", init="P0:r0=&y;")
    system = explore_litmus(points)
    assert system.locations[0] == "p" and {memory[0] for memory in system.memories} == {0, "&y"}


def test_elements_of_arrays_have_cells():
    test = parse_litmus(
        """OPENCL a
        { int x[2]; }
        P0@wg 0, dev 0 (global atomic_int* x) {
          int i = 1;
          atomic_store_explicit(x + i, 1, memory_order_relaxed, memory_scope_device);
        }
        P1@wg 1, dev 0 (global atomic_int* x) {
          while (atomic_load_explicit(x + 1, memory_order_relaxed, memory_scope_device) == 0) ;
        }
        exists (true)"""
    )
    assert said(test)["fair"] == "TT" and said(test)["lobe"] == "TT" and said(test)["obe"] == "HH"


def test_a_name_of_a_location_is_its_memory():
    test = ptx("st.relaxed.gpu t, 1", "LC0:; ld.relaxed.gpu r0, x; bne r0, 1, LC0", init="x=0; t @ generic aliases x;")
    assert said(test)["fair"] == "TT"
    assert explore_litmus(test).locations == ("x",)


def test_what_a_thread_does_by_itself_is_one_step_with_the_access_before():
    test = ptx("add r0, r0, 1; st.weak x, r0; add r0, r0, 1; fence.sc.gpu; st.weak y, r0; ld r2, r0", "fence.sc.gpu")
    system = explore_litmus(test)
    assert len(system.successors) == 3 and system.successors[0][1] == -1  # the second thread does nothing
    assert [counters[0] for counters in system.counters] == [1, 4, 6] and system.ends == (6, 1)
    assert system.memories[-1] == (1, 2)


def test_a_round_without_access_is_a_step_to_itself():
    test = ptx("st.weak x, 1; LC0:; goto LC0", "st.weak x, 2")
    assert said(test) == every("HH")
    assert said(ptx("LC0:; goto LC0")) == every("HH")
    system = explore_litmus(test)
    turning = next(state for state, row in enumerate(system.successors) if row[0] == state)
    assert system.action(turning, 0).outcome == "for ever, without access"


def test_predicates_are_one_instruction():
    test = read_litmus(EXAMPLES / "memory" / "cas-sl.litmus")
    system = explore_litmus(test)
    assert system.ends == (2, 3)
    assert {counters[1] for counters in system.counters} == {0, 2, 3}


# Bounds


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("LC0:; atom.relaxed.gpu.add r0, x, 1; goto LC0", "test has more than 1,000 states"),
        ("LC0:; add r0, r0, 1; goto LC0", "more than 100,000 steps without an access to memory"),
        ("ld.weak r0, p; add r0, r0, r0; st.weak x, r0", "add of &x and &x has no meaning"),
    ],
)
def test_no_verdict(code, reason):
    with pytest.raises(NoVerdictError, match=reason):
        explore_litmus(ptx(code, init="p=&x;"), limit=1000)


# Groups of threads


def test_a_guarantee_among_groups_is_fair_within():
    spin = "LC0:; ld.relaxed.gpu r0, x; bne r0, 1, LC0"
    test = ptx(
        spin, "st.relaxed.gpu x, 1; st.relaxed.gpu y, 1", "LC0:; ld.relaxed.gpu r0, y; bne r0, 1, LC0", ctas=[0, 0, 1]
    )
    system = explore_litmus(test)
    names = ["hsa-weak", "hsa@cta-weak", "obe@cta-weak", "lobe@cta-weak", "hsa@warp-weak", "unfair@gpu-weak"]
    models = [model.among(system.places) for model in resolve_models(names)]
    verdicts = [verdict[0] for verdict in system_verdicts(system.successors, models).values()]
    # The first group ends by itself; OBE may begin with the second. A group of one is a thread.
    assert verdicts == ["M", "T", "M", "T", "M", "M"]
    assert [model.name for model in resolve_models(["hsa@cta"])] == ["hsa@cta-weak", "hsa@cta-strong"]


# Explanations


def test_a_barrier_that_nobody_completes_is_explained():
    system = explore_litmus(ptx("bar.cta.sync 1, 1, 3", "bar.cta.sync 1, 1, 3", ctas=[0, 0]))
    for model in MODELS.values():
        explanation = explain_system(system, model)
        assert explanation.lasso and explanation.graph.waiting(explanation.lasso.cycle[0].source) == 0b11


# Commands


def test_one_table_for_both_kinds_of_model():
    text = printed(
        "label", SPINLOCK, EXAMPLES / "memory" / "mp-bar-sync.litmus", "-m", "sc", "-m", "hsa-weak", "-m", "obe"
    )
    assert [line.split()[1:] for line in text.splitlines()[2:4]] == [["F", "H", "T", "T"], ["F", "T", "T", "T"]]
    assert "A allowed, F forbidden; T terminates, H may hang" in text


def test_labels_as_csv_and_json():
    asked = ["label", SPINLOCK, "-m", "hsa-weak", "-m", "sc"]
    rows = list(csv.DictReader(io.StringIO(printed(*asked, "--format", "csv"))))
    assert [(row["model"], row["verdict"], row["condition"]) for row in rows] == [
        ("sc", "FORBIDDEN", "false"),
        ("hsa-weak", "MAY_HANG", ""),
    ]
    record = json.loads(printed(*asked, "--json"))
    assert record["verdicts"]["hsa-weak"] == "MAY_HANG" and record["verdicts"]["sc"]["verdict"] == "FORBIDDEN"


def test_a_test_without_verdict_says_why(tmp_path):
    path = tmp_path / "counts.litmus"
    path.write_text("PTX counts\n{ }\n P0@cta 0,gpu 0 ;\n LC0: ;\n add r0, r0, 1 ;\n goto LC0 ;\nexists 0 == 0\n")
    told = synth("label", path, SPINLOCK, "-m", "hsa-weak")
    text = told.output
    assert told.exit_code == 0
    assert "hsa-weak has no verdict on" in text and "steps without an access to memory" in text


def test_a_model_of_the_users_own_and_one_that_is_none(tmp_path):
    path = tmp_path / "last.py"
    path.write_text("def guarantee(running, stepped):\n    return 1 << running.bit_length() >> 1\n")
    assert printed("label", SPINLOCK, "-m", path, "--format", "csv").count("MAY_HANG") == 2
    assert "unknown model 'hsa-wek'; did you mean hsa-weak" in printed("label", SPINLOCK, "-m", "hsa-wek", exit_code=2)
    assert "unknown model 'zz'; known, besides paths" in printed("label", SPINLOCK, "-m", "zz", exit_code=2)
    refused = printed("run", SPINLOCK, "--backend", "cpp", "-m", "obe@cta", exit_code=2)
    assert "obe@cta is a progress model, and says nothing of outcomes" in refused


def test_labels_of_litmus_tests_go_on_where_they_were(tmp_path):
    output = tmp_path / "labels.csv"
    asked = ["label", SPINLOCK, "-m", "hsa-weak", "-m", "sc", "-o", output]
    printed(*asked)
    whole = output.read_text()
    output.write_text(whole[: len(whole) // 2])
    printed(*asked)
    assert output.read_text() == whole
