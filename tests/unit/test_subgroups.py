"""Lanes of a subgroup: where they reconverge, what they do together, and what is said of it."""

import json
import re
from pathlib import Path

import pytest
from commands import printed, synth
from refusals import refusal

from corpus.dialects.gpu_ptx.dialect import GPU_PTX
from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus
from corpus.litmus.describe import describe
from corpus.litmus.flow import thread_flow
from corpus.litmus.instructions import GroupOperation
from corpus.litmus.normal import litmus_digest
from oracle.exploration import NoVerdictError
from oracle.liveness import resolve_liveness_models
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import STEPPINGS, Verdict
from oracle.progress.plugins import resolve_models
from oracle.progress.reconvergence import reconvergent_loops
from oracle.progress.stepping import explain_stepping, explore_stepping, stepping_verdicts
from oracle.progress.subgroups import CONVERGENCES

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "subgroups"


def lanes(*code, init="x=0; P1:r9=1;", condition="exists (x == 0)"):
    """A test of Vulkan in which both lanes of a subgroup have this code; lane 1 has r9 = 1."""
    rows = "\n".join(f" {ins} | {ins} ;" for ins in code)
    return parse_litmus(f"VULKAN test\n{{ {init} }}\n P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 ;\n{rows}\n{condition}\n")


def verdict(test, name):
    (found,) = stepping_verdicts(test, resolve_models([name], lanes=True)).values()
    return found


def graph(*code):
    return thread_flow(lanes(*code).threads[0])


# Reconvergence


def test_ways_join_at_the_immediate_post_dominator():
    both = graph("beq r9, 0, LC00", "st.atom.dv.sc0 x, 1", "goto LC01", "LC00:", "st.atom.dv.sc0 x, 2", "LC01:")
    assert both.join(0) == 5
    assert graph("beq r9, 0, LC00", "st.atom.dv.sc0 x, 1", "LC00:").join(0) == 2
    assert graph("LC00:", "ld.atom.dv.sc0 r1, x", "beq r1, 0, LC00", "st.atom.dv.sc0 x, 2").join(2) == 3


def test_who_never_ends_joins_at_the_end():
    """Who goes to 4 stays there, so that nothing but the end is on both ways."""
    endless = graph("beq r9, 0, LC00", "st.atom.dv.sc0 x, 1", "goto LC01", "LC00:", "goto LC00", "LC01:")
    assert endless.join(0) == endless.end


def test_what_is_between_a_way_out_and_the_merge_belongs_to_the_loop():
    code = ["LC00:", "ld.atom.dv.sc0 r1, x", "beq r1, 1, LC01", "bne r1, 2, LC00", "goto LC02"]
    (loop,) = reconvergent_loops(graph(*code, "LC01:", "st.atom.dv.sc0 x, 3", "LC02:", "st.atom.dv.sc0 x, 4"))
    assert loop.header == 0 and loop.places == {0, 1, 2, 3, 4, 5, 6}
    (one,) = reconvergent_loops(graph("LC00:", "ld.atom.dv.sc0 r1, x", "bne r1, 2, LC00", "st.atom.dv.sc0 x, 4"))
    assert one.places == {0, 1, 2}


def test_loops_are_listed_from_the_outermost_inwards():
    code = ["LC00:", "LC01:", "ld.atom.dv.sc0 r1, x", "beq r1, 0, LC01", "ld.atom.dv.sc0 r2, x", "beq r2, 0, LC00"]
    assert [loop.header for loop in reconvergent_loops(graph(*code))] == [0, 1]
    assert graph(*code).is_structured


def test_a_loop_that_is_entered_by_two_ways_has_no_tangles():
    code = ["beq r9, 0, LC01", "LC00:", "sg.barrier", "LC01:", "ld.atom.dv.sc0 r1, x", "beq r1, 0, LC00"]
    assert not graph(*code).is_structured
    said = verdict(lanes(*code), "fair-weak & maximal")
    assert isinstance(said, NoVerdictError) and "a loop is entered by several ways" in said.message
    assert verdict(lanes(*code), "fair-weak & lockstep") is Verdict.MAY_HANG


def test_names_of_registers_and_labels_make_no_other_code():
    """Lanes with one code reconverge before the vote; those of two codes vote alone, and may spin."""
    rows = [line.partition("|") for line in (EXAMPLES / "vote-after-signal.litmus").read_text().splitlines()]
    new = {"LC00": "LC77", "r1": "r5", "r2": "r1"}
    columns = [(one, bar, re.sub(r"LC00|r1|r2", lambda found: new[found[0]], other)) for one, bar, other in rows]
    renamed = "\n".join(map("".join, columns))
    assert renamed.count("LC77") == 3
    assert verdict(parse_litmus(renamed), "obe-weak & lockstep") is Verdict.TERMINATES
    changed = "\n".join(one + bar + other.replace("flag, 1", "flag, 2") for one, bar, other in columns)
    assert verdict(parse_litmus(changed), "obe-weak & lockstep") is Verdict.MAY_HANG


# Operations


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("sg.any r1, r9", (1, 1)),
        ("sg.all r1, r9", (0, 0)),
        ("sg.ballot r1, r9", (2, 2)),
        ("sg.elect r1", (1, 0)),
        ("sg.shuffle r1, r9, 1", (1, 1)),
        ("sg.shuffle r1, r9, 0", (0, 0)),
    ],
)
@pytest.mark.parametrize("stepping", ["lockstep", "maximal"])
def test_results_of_operations(operation, expected, stepping):
    test = lanes(operation, "bne r9, 0, LC00", "st.atom.dv.sc0 x, r1", "goto LC01", "LC00:", "st.atom.dv.sc0 y, r1",
                 "LC01:", init="x=7; y=7; P1:r9=1;")  # fmt: skip
    assert explore_stepping(test, stepping).memories[-1] == expected


def test_independent_lanes_may_vote_alone_or_together():
    test = lanes("sg.any r1, r9", "bne r9, 0, LC00", "st.atom.dv.sc0 x, r1", "LC00:", init="x=7; P1:r9=1;")
    assert {memory for (memory,) in explore_stepping(test).memories} == {7, 0, 1}
    assert {memory for (memory,) in explore_stepping(test, "maximal").memories} == {7, 1}


def test_a_tangle_is_of_one_round():
    """Lane 1 leaves after one round, and lane 0 after two: its second vote is its own."""
    code = ["LC00:", "add r2, r2, 1", "sg.any r1, r9", "add r3, r9, r2", "beq r3, 1, LC00", "st.atom.dv.sc0 x, r1"]
    test = lanes(*code, init="x=7; P1:r9=1;")
    assert {memory for (memory,) in explore_stepping(test, "maximal").memories} == {7, 0, 1}
    ends = explore_stepping(test, "maximal")
    assert sum(all(after < 0 for after in row) for row in ends.successors) == 2


def test_a_lane_in_a_later_round_is_not_waited_for():
    """Lane 1 goes by the barrier, and waits in its next round, before the barrier, for what lane 0 does behind it."""
    code = ["LC00:", "add r2, r2, 1", "add r3, r9, r2", "bne r3, 3, LC02", "LC03:", "ld.atom.dv.sc0 r1, x",
            "beq r1, 0, LC03", "LC02:", "bne r9, 0, LC01", "sg.barrier", "st.atom.dv.sc0 x, 1", "LC01:",
            "blt r2, 2, LC00"]  # fmt: skip
    assert verdict(lanes(*code), "fair-weak & maximal") is Verdict.TERMINATES
    assert verdict(lanes(*code), "fair-weak & lockstep") is Verdict.TERMINATES


def test_operations_without_a_meaning_leave_the_verdict_open():
    missing = lanes("beq r9, 0, LC00", "sg.shuffle r1, r9, 0", "LC00:", "st.atom.dv.sc0 x, r1")
    said = verdict(missing, "fair-weak & lockstep")
    assert isinstance(said, NoVerdictError) and "lane 0 does not take part" in said.message
    text = (EXAMPLES / "syncwarp.litmus").read_text().replace("bar.warp.sync 3", "bar.warp.sync 1")
    said = verdict(parse_litmus(text), "fair-weak & independent")
    assert isinstance(said, NoVerdictError) and "the mask lacks the lane itself" in said.message


def test_a_lane_that_runs_ahead_without_end_leaves_the_verdict_open():
    spins = ["LC00:", "ld.atom.dv.sc0 r1, x", "bne r9, 0, LC01", "sg.barrier", "LC01:", "beq r1, 0, LC00"]
    said = verdict(lanes(*spins), "fair-weak & maximal")
    assert isinstance(said, NoVerdictError) and "more than 8 rounds ahead" in said.message
    assert verdict(lanes(*spins), "fair-weak & lockstep") is Verdict.MAY_HANG


def test_a_test_with_operations_has_no_plain_transition_system():
    assert "a stepping says which lanes do it together" in refusal(explore_litmus, lanes("sg.barrier"))


def test_weak_exchanges_fail_in_every_stepping():
    once = "int e = 0; if (!atomic_compare_exchange_weak(x, &e, 1)) { while (atomic_load(y) == 0); }"
    text = f"C t\n{{ x = 0; y = 0; }}\nP0 (atomic_int* x, atomic_int* y) {{ {once} }}\n"
    again = (
        "P1 (atomic_int* x, atomic_int* y) { int e = 1; while (!atomic_compare_exchange_weak(x, &e, 2)) { e = 1; } }"
    )
    for code, expected in ((text, Verdict.MAY_HANG), (text.replace("while (atomic_load(y) == 0);", ";") + again, None)):
        test = parse_litmus(f"{code}\nexists (true)\n")
        found = {verdict(test, f"fair-weak & {stepping}") for stepping in STEPPINGS}
        assert len(found) == 1 and (expected is None or found == {expected})


def test_lanes_in_lock_step_come_to_barriers_of_their_workgroup_together():
    code = ["cbar 0", "st.atom.dv.sc0 x, 1", "LC00:", "cbar 0", "ld.atom.dv.sc0 r1, x", "beq r1, 0, LC00"]
    rows = "\n".join(f" {ins} | {ins} | {ins} ;" for ins in code)
    heads = "P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 0,qf 0 | P2@sg 1,wg 0,qf 0 ;"
    test = parse_litmus(f"VULKAN test\n{{ x=0; }}\n {heads}\n{rows}\nexists (x == 1)\n")
    assert verdict(test, "unfair-weak & lockstep") is Verdict.TERMINATES


# Dialects


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.litmus")), ids=lambda path: path.stem)
def test_examples_are_printed_and_read_again(path):
    test = read_litmus(path)
    dialect = DIALECTS[{"VULKAN": "vulkan", "GPU_PTX": "gpu-ptx"}[path.read_text().split()[0]]]
    again = parse_litmus(dialect.print(test))
    assert litmus_digest(again) == litmus_digest(test)
    for stepping in STEPPINGS:
        models = resolve_models([f"obe & {stepping}"], lanes=True)
        said, told = (list(map(str, stepping_verdicts(each, models).values())) for each in (test, again))
        assert said == told or "has no meaning" in said[0]


def test_operations_are_told_apart():
    operations = ["sg.any r1, r2", "sg.all r1, r2", "sg.ballot r1, r2", "sg.elect r1", "sg.shuffle r1, r2, 0"]
    digests = {litmus_digest(lanes(each)) for each in [*operations, "sg.shuffle r1, r2, 1", "sg.barrier"]}
    assert len(digests) == 7
    assert [describe(lanes(each).threads[0].instructions[0]) for each in operations] == [
        "vote.any r1, r2", "vote.all r1, r2", "vote.ballot r1, r2", "elect r1", "shfl.idx r1, r2, 0"
    ]  # fmt: skip
    assert describe(GroupOperation("any", "r1", (1,), 3)) == "vote.sync.any r1, 1, 3"
    assert describe(GroupOperation("barrier", mask=3)) == "bar.warp.sync 3"


def test_ptx_prints_what_it_has():
    assert litmus_digest(parse_litmus(GPU_PTX.print(lanes("sg.any r1, r9")))) == litmus_digest(lanes("sg.any r1, r9"))
    assert "PTX has elect.sync and bar.warp.sync, with a mask" in refusal(GPU_PTX.print, lanes("sg.barrier"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("vote.sync.any.pred p0,r9", "expected 2 values of vote.sync.any.pred"),
        ("vote.some.pred p0,r9", "expected vote with one of .any, .all, .ballot"),
        ("shfl.sync.idx.b32 r1,r9,0,3,3", "expected 31"),
        ("elect.some p0", "expected elect with one of .sync"),
    ],
)
def test_what_ptx_has_not_is_refused(wrong, message):
    text = f"GPU_PTX t\n{{ 0:.reg .s32 r9; }}\n T0 ;\n {wrong} ;\nScopeTree(grid(cta(warp T0)))\nexists (0:r9=1)\n"
    assert message in refusal(parse_litmus, text)


def test_vulkan_counts_operands():
    assert "expected 2 operands of sg.any, found 1" in refusal(lanes, "sg.any r1")
    assert "expected an instruction of the Vulkan dialect" in refusal(lanes, "sg.most r1, r2")


# What knows nothing of them says so


def test_memory_models_and_devices_refuse_operations(tmp_path):
    path = EXAMPLES / "vote-wait.litmus"
    for method in ("auto", "enumerate"):
        text = printed("label", path, "-m", "vulkan", "-m", "fair & vulkan", "--method", method, exit_code=2)
        assert text.count("executions know no operations of a subgroup") >= 1
    text = printed("label", path, "-m", "thesis-weak", exit_code=2)
    assert text
    text = printed("compile", path, "--backend", "glsl", "-o", tmp_path / "out", exit_code=2)
    assert "kernels that are made have no operations of a subgroup" in text


def test_a_stepping_goes_with_a_progress_model_of_a_litmus_test():
    lock = EXAMPLES / "spinlock-warp.litmus"
    assert "a stepping of lanes is asked with a progress model alone" in printed(
        "label", lock, "-m", "fair & lockstep & vulkan", exit_code=2
    )
    for asked in (["label", "examples/progress/mutex.axb"], ["explain", "examples/progress/mutex.axb"]):
        text = printed(*asked, "-m", "fair-weak & lockstep", exit_code=2)
        assert "'fair-weak & lockstep' says how lanes of a subgroup step, which is asked of litmus tests" in text


def test_names_of_models_with_a_stepping():
    names = [model.name for model in resolve_models(["hsa&maximal", "obe-weak & lockstep.taken"], lanes=True)]
    assert names == ["hsa-weak & maximal", "hsa-strong & maximal", "obe-weak & lockstep.taken"]
    composed = resolve_models(["obe@subgroup & hsa@workgroup-weak & lockstep"], lanes=True)
    assert [model.name for model in composed] == ["hsa@workgroup & obe@subgroup-weak & lockstep"]
    assert tuple(CONVERGENCES) == STEPPINGS
    wrong = refusal(resolve_liveness_models, ["fair & lock-step"])
    assert wrong == "no stepping of lanes 'lock-step' in 'fair & lock-step'; did you mean lockstep?"


@pytest.mark.parametrize(
    ("name", "test", "expected"),
    [
        ("hsa@workgroup & obe@subgroup", "spinlock-done-grid", "TERMINATES"),  # who holds the lock has taken a step
        ("hsa@workgroup & hsa@subgroup", "spinlock-done-grid", "MAY_HANG"),  # and need not be the lowest
        ("fair@workgroup & unfair@subgroup", "spinlock-done-grid", "MAY_HANG"),
        ("fair@workgroup & unfair@subgroup", "spinlock-done", "TERMINATES"),  # there is one subgroup to pass it on to
        ("fair@workgroup & unfair@subgroup", "spinlock-warp", "MAY_HANG"),
        ("fair@subgroup & unfair@thread", "signal-up", "MAY_HANG"),
    ],
)
@pytest.mark.parametrize("reading", ["weak", "strong"])
def test_composed_models_promise_execution_to_subgroups_in_lock_step(name, test, expected, reading):
    (model,) = resolve_models([f"{name}-{reading} & lockstep"], lanes=True)
    read = read_litmus(EXAMPLES / f"{test}.litmus")
    assert list(stepping_verdicts(read, [model]).values()) == [expected]
    assert explain_stepping(read, model).verdict == expected


# Explanations and the page


def test_a_lasso_says_who_is_masked():
    text = printed("explain", EXAMPLES / "spinlock-warp.litmus", "-m", "fair-weak & lockstep")
    assert "fair {1}  masked {0}" in text
    assert "T0 at instruction 2 (ld.relaxed.gpu.sc0 r1, x) is masked until the others come to where they" in text
    told = json.loads(printed("explain", EXAMPLES / "spinlock-warp.litmus", "-m", "fair-weak & lockstep", "--json"))
    assert '"masked": [0]' in json.dumps(told)


def test_a_lane_that_waits_for_a_masked_one_is_stuck():
    text = printed("explain", EXAMPLES / "workgroup-barrier-divergent.litmus", "-m", "fair-weak & lockstep")
    assert "(bar.sync 0) waits for others to come. T1 at instruction 1 (bar.sync 0) is masked" in text


def test_the_page_shows_what_commands_print(monkeypatch):
    """Each command of the section, with the lines below it: all of a table, and some of an explanation."""
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "progress.md").read_text(encoding="utf-8")
    section = page[page.index("## Lanes of a subgroup") : page.index("## Agreement with published")]
    shown = re.findall(r"(?m)^    (synth [^\n]*)\n\n((?:    [^\n]*\n|\n)+)", section)
    assert len(shown) == 3
    for command, lines in shown:
        words = command.replace("'", '"').split('"')
        arguments = [word for at, part in enumerate(words) for word in ([part] if at % 2 else part.split())]
        expanded = []
        for word in arguments[1:]:
            found = re.fullmatch(r"(.*)\{(.*)\}(.*)", word)
            expanded += [f"{found[1]}{each}{found[3]}" for each in found[2].split(",")] if found else [word]
        said = [" ".join(line.split()) for line in synth(*expanded).stdout.splitlines()]
        wanted = [" ".join(line.split()) for line in lines.splitlines() if line.strip()]
        assert wanted and all(line in said for line in wanted), command
