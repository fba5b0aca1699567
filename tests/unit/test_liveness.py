"""Progress under a memory model: tests with known answers, and how commands show them."""

import json
from itertools import product
from pathlib import Path

import pytest

from constraints.deferred import Assignment, DeferredCircuit
from constraints.stuck import find_hang_by_sat, promised_where
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat
from oracle.executions.events import VOCABULARY
from oracle.executions.spins import forgets_reads
from oracle.executions.stuck import ThreadEnding, find_hang
from oracle.liveness import judge_liveness, resolve_liveness_models
from oracle.progress.models import GUARANTEES
from oracle.progress.plugins import resolve_models
from synth.commands.cli import main
from synth.memory.liveness import explain_liveness, stuck_events

EXAMPLES = Path("examples/liveness")


def ptx(*threads, places=None):
    """A test of threads that are lists of instructions."""
    rows = max(map(len, threads))
    columns = [[*thread, *[""] * (rows - len(thread))] for thread in threads]
    places = places or [f"cta {number},gpu 0" for number in range(len(threads))]
    head = " | ".join(f"P{number}@{place}" for number, place in enumerate(places))
    body = "".join(f"{' | '.join(row)} ;\n" for row in zip(*columns, strict=True))
    return parse_litmus(f"PTX t\n{{ x=0; y=0; }}\n{head} ;\n{body}exists (0 == 0)\n", "t.litmus")


def said(test, name, unroll=2):
    """The verdict by SAT, and by listing where that is the same; else both."""
    (model,) = resolve_liveness_models([name])
    one, other = explain_liveness(test, model, unroll), judge_liveness(test, model, unroll)
    assert one.verdict == other.verdict
    return one.verdict


SPIN = ["LC0:", "ld.weak r0, x", "beq r0, 0, LC0"]


def test_every_write_becomes_visible():
    """Lahav et al. 2021: no model reads stale values for ever, however weak the accesses are."""
    test = ptx(SPIN, ["st.weak x, 1"])
    for model in ("sc", "tso", "rmo", "ptx-rmo", "ptx-6.0", "rc11", "rc11-scoped"):
        assert said(test, f"fair & {model}") == "TERMINATES"


@pytest.mark.parametrize(
    ("progress", "first", "second"),
    [
        ("fair", "TERMINATES", "TERMINATES"),
        ("hsa", "MAY_HANG", "TERMINATES"),  # where the writer is the second thread, the first
        ("obe", "MAY_HANG", "MAY_HANG"),
        ("hsa+obe", "MAY_HANG", "TERMINATES"),
        ("lobe", "MAY_HANG", "TERMINATES"),
        ("unfair", "MAY_HANG", "MAY_HANG"),
    ],
)
def test_a_writer_may_never_run(progress, first, second):
    """Sorensen et al. 2021, Fig. 4: producer and consumer, in either order."""
    for model in ("sc", "ptx-6.0"):
        assert said(ptx(SPIN, ["st.weak x, 1"]), f"{progress} & {model}") == first
        assert said(ptx(["st.weak x, 1"], SPIN), f"{progress} & {model}") == second


@pytest.mark.parametrize(
    ("file", "hanging"),
    [
        ("stale-data", {"rmo", "rc11", "rc11-scoped", "ptx-6.0"}),
        ("fresh-data", {"rmo"}),  # to which an acquire load is a load
        ("handshake-weak", {"ptx-6.0"}),
        ("handshake-relaxed", set()),
        ("leader", {"tso", "rmo", "rc11", "rc11-scoped", "ptx-6.0"}),
        ("leader-fenced", set()),
    ],
)
def test_examples(file, hanging):
    test = parse_litmus((EXAMPLES / f"{file}.litmus").read_text(), file)
    for model in ("sc", "tso", "rmo", "rc11", "rc11-scoped", "ptx-6.0"):
        assert said(test, f"fair & {model}", 1) == ("MAY_HANG" if model in hanging else "TERMINATES"), model


def test_how_far_loops_are_followed():
    """A round is looked for in any case; one that spins need not be followed, unless the model may miss it."""
    assert said(ptx(SPIN, ["st.relaxed.gpu y, 1"]), "fair & sc", 0) == "MAY_HANG"
    test, fair = ptx(SPIN, ["st.weak x, 1"]), GUARANTEES["fair"]
    sc = resolve_liveness_models(["fair & sc"])[0].consistency
    assert not find_hang_by_sat(test, fair, sc).provisional
    asking = checked_model("m", parse_cat("~empty rf as some", "m.cat"), VOCABULARY)
    assert not forgets_reads(asking)
    assert find_hang_by_sat(test, fair, asking).provisional


def test_models_of_work_groups():
    """Whoever is in the spinner's group is run with it."""
    for places, verdict in ((["cta 0,gpu 0"] * 2, "TERMINATES"), (None, "MAY_HANG")):
        assert said(ptx(SPIN, ["st.weak x, 1"], places=places), "hsa@cta & ptx-6.0") == verdict


def test_a_loop_without_accesses():
    test = ptx(["LC0:", "goto LC0"], ["st.weak x, 1"])
    (model,) = resolve_liveness_models(["fair & sc"])
    hang = explain_liveness(test, model, 1).hanging.hang
    assert hang.endings == (ThreadEnding.SPINS, ThreadEnding.ENDED)
    assert said(test, "fair & sc", 1) == "MAY_HANG"


LOCK = ["LC0:", "atom.relaxed.gpu.exch r0, x, 1", "beq r0, 1, LC0"]


def test_a_lock_that_writes_while_it_waits():
    """Whoever has taken it may not be run on; what is read and written for ever is the spinner's own 1."""
    test = ptx(LOCK, LOCK)
    (model,) = resolve_liveness_models(["fair & sc"])
    hang = explain_liveness(test, model, 2).hanging.hang
    assert sorted(hang.endings) == [ThreadEnding.CYCLES, ThreadEnding.ENDED]
    assert hang.steady
    assert [len(part) for rounds in hang.rounds for part in rounds] == [2, 2]
    released = ptx([*LOCK, "st.relaxed.gpu x, 0"], [*LOCK, "st.relaxed.gpu x, 0"])
    found = find_hang_by_sat(released, GUARANTEES["fair"], model.consistency, 2)
    assert (found.hang, found.provisional) == (None, True)
    assert find_hang_by_sat(released, GUARANTEES["hsa"], model.consistency, 2).hang is not None


TOGGLES = [["LC0:", f"atom.relaxed.gpu.exch r0, x, {1 - value}", f"beq r0, {value}, LC0"] for value in (0, 1)]
"""Two threads undo each other's writes: Sorensen et al. 2021, 2.2."""


def test_strong_fairness_of_a_livelock_is_that_of_the_states_of_memory():
    """Where all executions are sequentially consistent there are such states."""
    test = ptx(*TOGGLES)
    for model, bounded in (("sc", False), ("tso", True), ("rc11", True)):
        assert said(test, f"fair & {model}") == "MAY_HANG"
        (strong,) = resolve_liveness_models([f"fair-strong & {model}"])
        found = explain_liveness(test, strong, 2)
        assert (found.verdict, found.hanging.provisional) == ("TERMINATES", bounded)
        assert not find_hang(test, GUARANTEES["fair"], strong.consistency, 2, True).hang.steady


def test_strong_fairness_keeps_a_livelock_from_which_no_step_leads():
    """A thread waits for what does not come, and writes two values in turn as it does."""
    rounds = ["LC0:", "st.relaxed.gpu x, 1", "st.relaxed.gpu x, 2", "ld.relaxed.gpu r0, y", "beq r0, 0, LC0"]
    test = ptx(rounds)
    for method in (judge_liveness, explain_liveness):
        (model,) = resolve_liveness_models(["fair-strong & rc11"])
        found = method(test, model, 2)
        assert (found.verdict, found.kept) == ("MAY_HANG", True) and not found.hanging.hang.steady


def test_strong_fairness_leaves_a_livelock_open_where_memory_has_no_states():
    """Store buffering besides."""
    test = ptx([*TOGGLES[0], "st.weak y, 1", "ld.weak r1, x"], [*TOGGLES[1], "st.weak x, 5", "ld.weak r1, y"])
    (model,) = resolve_liveness_models(["fair-strong & rmo"])
    found = explain_liveness(test, model, 2)
    assert found.verdict == "UNKNOWN" and "livelock" in found.reason


@pytest.mark.parametrize(
    ("threads", "verdict"),
    [
        ((["bar.cta.sync 1"], ["bar.cta.sync 1"]), "TERMINATES"),
        ((["bar.cta.sync 1", "bar.cta.sync 1"], ["bar.cta.sync 1"]), "MAY_HANG"),
        ((["bar.cta.sync 1, 1, 3"], ["bar.cta.sync 1, 1, 3"]), "MAY_HANG"),
        ((["bar.cta.sync 1"], [*SPIN, "bar.cta.sync 1"]), "MAY_HANG"),
    ],
)
def test_barriers(threads, verdict):
    """Who waits at a barrier that lets nobody through has not ended."""
    test = ptx(*threads, places=["cta 0,gpu 0"] * 2)
    assert said(test, "fair & ptx-6.0") == verdict


def test_names():
    one, other, third = resolve_liveness_models(["fair & sc", "hsa-strong&tso", "fair-weak & sc", "hsa & tso"])[:3]
    assert [model.name for model in (one, other, third)] == ["fair & sc", "hsa-strong & tso", "hsa & tso"]
    assert other.progress.strong and not third.progress.strong
    for wrong, told in [
        ("fair &", "expected a progress model & a consistency model, as 'fair & rc11', found 'fair &'"),
        ("fair & sc & tso", "expected a progress model & a consistency model"),
        ("fairr & sc", "no progress model before the & of 'fairr & sc'; did you mean fair or unfair or fair-strong?"),
        ("sc & fair", "no progress model before the & of 'sc & fair'"),
        ("fair & scc", "unknown consistency model 'scc'; did you mean sc?"),
        ("fair & thesis-weak", "fair & thesis-weak: thesis-weak has no axioms"),
    ]:
        with pytest.raises(InputError, match="^" + told.replace("&", "\\&").replace("?", "\\?")):
            resolve_liveness_models([wrong])


def run(capsys, *arguments):
    """What a command prints, and its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    return capsys.readouterr().out, ended.value.code


def test_label(capsys):
    file = EXAMPLES / "handshake-weak.litmus"
    printed, code = run(capsys, "label", file, "-m", "fair & sc", "-m", "fair & ptx-6.0", "--format", "csv", "-j", 1)
    assert printed.splitlines()[1:] == [f"{file},fair & sc,TERMINATES,,", f"{file},fair & ptx-6.0,MAY_HANG,,"]
    assert code == 0
    printed, _ = run(capsys, "label", file, "-m", "fair & sc", "-m", "fair & ptx-6.0", "-m", "sc", "-j", 1)
    assert "A allowed, F forbidden; T terminates, H may hang, ? no verdict" in printed
    locks = "examples/locks/spinlock-exch.litmus"
    printed, _ = run(capsys, "label", locks, "-m", "fair & sc", "-j", 1)
    assert "T<" in printed and "loops that write were cut after 2 jumps back" in printed
    printed, _ = run(capsys, "label", locks, "-m", "fair & sc", "--json", "-j", 1)
    assert json.loads(printed)["verdicts"] == {"fair & sc": {"verdict": "TERMINATES", "unroll": 2}}
    for method in ("enumerate", "sat", "smt"):
        printed, code = run(capsys, "label", file, "-m", "fair & ptx-6.0", "--method", method, "-j", 1)
        assert "H" in printed.splitlines()[1] and code == 0


def test_explain(capsys, tmp_path):
    file, picture = EXAMPLES / "handshake-weak.litmus", tmp_path / "hang.svg"
    printed, _ = run(capsys, "explain", file, "-m", "fair & ptx-6.0", "--picture", picture)
    assert "handshake-weak under fair & ptx-6.0: MAY_HANG" in printed
    assert "P0 has ended.\nP1 does e again and again: it reads what no later write overwrites." in printed
    assert "co     init flag -> c, init flag -> d\n" in printed
    assert "<svg" in picture.read_text()
    printed, _ = run(capsys, "explain", file, "-m", "fair & ptx-6.0", "--json")
    hang = json.loads(printed)["hang"]
    assert hang["threads"] == [{"ending": "ended", "rounds": []}, {"ending": "spins", "rounds": [["e"]]}]
    printed, _ = run(capsys, "explain", file, "-m", "fair & sc")
    assert "Every execution that sc allows comes to an end" in printed
    printed, _ = run(capsys, "explain", "examples/locks/spinlock-exch.litmus", "-m", "fair & sc")
    assert "beyond that it may hang; --unroll 3 looks further" in printed


def test_what_goes_on_for_ever_is_marked():
    (model,) = resolve_liveness_models(["unfair & sc"])
    hang = explain_liveness(ptx(SPIN, ["st.weak x, 1"]), model, 1).hanging.hang
    (number,) = stuck_events(hang)
    assert hang.execution.events[number].kind == "R"


def test_programs_are_asked_as_litmus_tests(capsys):
    _, code = run(capsys, "label", "examples/progress/mutex.axb", "-m", "fair & sc")
    assert code == 2
    with pytest.raises(InputError, match="'fair & sc' is asked of litmus tests; synth export --to dartagnan-ptx makes"):
        resolve_models(["fair & sc"])


@pytest.mark.parametrize("name", GUARANTEES)
def test_guarantees_that_ship_as_conditions(name):
    """Of all that may run and have stepped: what is promised is what a condition says."""
    threads, circuit = 4, DeferredCircuit()
    running, stepped = ([circuit.var(kind, number) for number in range(threads)] for kind in ("running", "stepped"))
    for runs, steps in product(range(1 << threads), repeat=2):
        masks = [*zip(running, [runs] * threads, strict=True), *zip(stepped, [steps] * threads, strict=True)]
        model = [literal.number for place, (literal, mask) in enumerate(masks) if mask >> place % threads & 1]
        found = Assignment(circuit, [circuit.true.number, *model])
        for thread in range(threads):
            conditions = promised_where(GUARANTEES[name], thread, running, stepped)
            said = bool(runs >> thread & 1) and any(all(map(found.holds, each)) for each in conditions)
            assert said == bool(GUARANTEES[name](runs, steps) >> thread & 1), (thread, runs, steps)
