"""``synth map``: what it says of the mappings that ship, what it writes, and wrong mappings; translated executions."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from commands import synth

from corpus.dialects.registry import parse_litmus
from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.text import parse_execution
from corpus.executions.translation import MappedOp, Translation, read_mapping, translated
from corpus.journal import read_corpus
from corpus.litmus.locations import Region
from corpus.litmus.orders import PLAIN, Mode, Order, Place
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, judge
from synth.drawing.execution import draw_bug
from synth.memory.bugs import ExplainedBug
from synth.memory.suites import axiomatic
from synth.memory.translating import bug_of, checked, tells

MAPPINGS = Path(__file__).parents[2] / "examples" / "mappings"
TSO = (MAPPINGS / "rc11-to-tso.map").read_text()
FENCE = Mode(Order.SC)


@pytest.fixture
def unlisted(monkeypatch):
    """What sizes do not exercise is not looked for."""
    monkeypatch.setattr("synth.commands.map.search_features", lambda *arguments: None)


@pytest.mark.usefixtures("unlisted")
@pytest.mark.parametrize("name", ["rc11-to-tso", "rc11-to-tso-loads", "rc11-to-rmo"])
def test_mappings_of_c_that_are_sound(name):
    result = synth("map", MAPPINGS / f"{name}.map", "-j", 1)
    assert (result.exit_code, result.stderr, result.stdout.splitlines()[-1]) == (0, "", "sound up to 4 events")


def test_without_fences_bugs_are_found_and_both_tests_of_each_are_written_and_drawn(tmp_path):
    result = synth(
        "map", MAPPINGS / "rc11-to-tso-unfenced.map", "-j", 1, "-o", tmp_path / "bugs", "--picture", tmp_path / "b.svg"
    )
    assert (result.exit_code, result.stderr) == (1, "")
    assert "2 bugs of 4 events: tso allows what rc11 forbids" in result.stdout
    assert "under rc11: FORBIDDEN" in result.stdout and "under tso: ALLOWED" in result.stdout
    assert result.stdout.endswith(f"and R+sc-sc+sc-sc\n\n{tmp_path / 'bugs'}: 2 bugs, complete\n")
    names = ["SB+sc-sc+sc-sc", "R+sc-sc+sc-sc"]
    for side, model, answer in (("source", "rc11", Answer.FORBIDDEN), ("target", "tso", Answer.ALLOWED)):
        (given,) = resolve_consistency_models([model])
        for name in names:
            file = tmp_path / "bugs" / f"{name}.{side}.litmus"
            assert judge(parse_litmus(file.read_text(), str(file)), axiomatic(given)).answer is answer
        corpus = read_corpus(tmp_path / "bugs" / ("" if side == "source" else side))
        assert corpus.complete and [(test.name, test.verdicts) for test in corpus.tests] == [
            (name, {model: answer}) for name in names
        ]
    assert (tmp_path / "b.svg").read_text() == (tmp_path / "bugs" / f"{names[0]}.svg").read_text()
    assert all(
        said in (tmp_path / "b.svg").read_text()
        for said in ("source under rc11: FORBIDDEN", "target under tso: ALLOWED")
    )
    again = synth("map", MAPPINGS / "rc11-to-tso-unfenced.map", "-o", tmp_path / "bugs")
    assert (again.exit_code, "the corpus is complete" in again.stderr) == (2, True)


@pytest.mark.slow
def test_bugs_as_data_have_the_cycle_of_the_source_and_the_execution_of_the_target():
    result = synth("map", MAPPINGS / "rc11-to-tso-unfenced.map", "-j", 1, "--json", "--max-tests", 1)
    record = json.loads(result.stdout)
    assert (result.exit_code, record["from"], record["to"], record["searched"]) == (1, "rc11", "tso", 3)
    assert record["stopped"] == "stopped by --max-tests"
    (bug,) = record["bugs"]
    assert (bug["source"]["verdict"], bug["target"]["verdict"]) == ("FORBIDDEN", "ALLOWED")
    (violation,) = bug["source"]["violations"]
    assert violation["check"] == "sc" and bug["target"]["witness"]["relations"]["rf"]
    assert bug["source"]["text"].startswith("C ") and bug["events"] == 4
    record = json.loads(
        synth("map", MAPPINGS / "rc11-to-tso.map", "-j", 1, "--events", "..3", "--json", "--weakest").stdout
    )
    assert (record["searched"], record["bugs"]) == (3, [])
    assert {"step": "W.sc: without F.sc.sys", "events": 3, "bug": ""} in record["weaker"]
    assert (record["threads"], record["scopes"]) == (None, [])
    assert record["unexercised"]["axioms"] == ["sc", "no-thin-air"]
    assert "F.sc" in record["unexercised"]["rules"] and "rs" in record["unexercised"]["definitions"]
    assert "hb" not in record["unexercised"]["definitions"]  # coherence is seen with two events


@pytest.mark.slow
@pytest.mark.usefixtures("unlisted")
def test_the_table_of_scoped_rc11_for_ptx_is_sound_and_needs_its_acquire_loads(tmp_path):
    table = (MAPPINGS / "rc11-scoped-to-ptx.map").read_text()
    right, wrong = tmp_path / "right.map", tmp_path / "wrong.map"
    right.write_text(table)
    wrong.write_text(table.replace("-> R.acquire.*\n", "-> R.relaxed.*\n", 1))
    printed = ("--from", "rc11-scoped", "-j", 1)
    assert synth("map", right, *printed).stdout.splitlines()[-1] == "sound up to 4 events"
    result = synth("map", wrong, *printed, "--scopes", "gpu")
    assert result.exit_code == 1 and "3 bugs of 4 events" in result.stdout
    for shape in ("MP", "LB", "S"):
        assert f"{shape}+" in result.stdout


@pytest.mark.usefixtures("unlisted")
def test_the_weakest_says_which_fences_are_needed():
    result = synth("map", MAPPINGS / "rc11-to-tso.map", "--weakest", "-j", 1)
    assert result.exit_code == 0
    first, second = result.stdout.splitlines()[2:]
    assert first.startswith("W.sc: without F.sc.sys: wrong, ") and first.endswith(" of 4 events")
    assert second == "F.sc: without F.sc.sys: sound up to 4 events"  # five show that it is needed


FIG12 = MAPPINGS / "rc11-scoped-to-ptx-fig12.map"


def test_of_a_bound_that_a_mapping_states_nothing_more_is_told(tmp_path):
    file = tmp_path / "m.map"
    file.write_text(f"{TSO}\nbound: events 2..3, threads 2\n")
    lines = synth("map", file, "-j", 1).stdout.splitlines()
    assert lines[1:] == ["sound up to 3 events (threads 2)"]
    assert "depends on" in synth("map", file, "--events", 2, "-j", 1).stdout


@pytest.mark.slow
def test_an_option_goes_before_the_bound():
    result = synth("map", FIG12, "--events", "..3", "--threads", "2..3", "-j", 1, "--json")
    record = json.loads(result.stdout)
    assert (result.exit_code, record["searched"], record["threads"]) == (0, 3, [2, 3])
    assert record["scopes"] == ["gpu"] and record["unexercised"]["axioms"] == ["sc"]
    result = synth("map", FIG12, "--events", "..3", "--threads", "2..3", "-j", 1)
    assert result.stdout.splitlines()[1] == "sound up to 3 events (threads 2..3, scopes gpu)"


@pytest.mark.slow
def test_without_a_bound_what_four_events_do_not_exercise_is_listed(tmp_path):
    """The bug of Fig. 12 takes a release sequence that an update heads: neither is exercised."""
    text = FIG12.read_text().replace("../models", str(MAPPINGS.parent / "models"))
    (tmp_path / "m.map").write_text("".join(line for line in text.splitlines(True) if not line.startswith("bound:")))
    result = synth("map", tmp_path / "m.map", "--scopes", "gpu", "-o", tmp_path / "d")
    lines = result.stdout.splitlines()
    assert (result.exit_code, lines[1:3]) == (
        0,
        ["sound up to 4 events (scopes gpu)", "no outcome that rc11-scoped-fences forbids there depends on"],
    )
    (definitions,) = (line.split()[1:] for line in lines if line.startswith("  definitions"))
    (rules,) = (line.split()[1:] for line in lines if line.startswith("  rules"))
    assert definitions == ["same-thread", "fence-to-fence", "through"]
    assert all(rule.endswith(".gpu") for rule in rules)
    assert {"rmw.sc.gpu", "F.sc.gpu"} <= {*rules} and not {"R.acquire.gpu", "W.sc.gpu"} & {*rules}
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert manifest["unexercised"] == {"axioms": [], "definitions": definitions, "rules": rules}


@pytest.mark.usefixtures("unlisted")
def test_of_a_mapping_whose_models_are_others_the_bound_is_not_the_decision(monkeypatch):
    asked = []
    monkeypatch.setattr("synth.commands.map.search_features", lambda *arguments: asked.append(1))
    unfenced = MAPPINGS / "rc11-to-tso-unfenced.map"
    assert synth("map", unfenced, "--to", "sc", "-j", 1).exit_code == 0 and asked == [1]


def test_out_of_time_says_how_far_and_what_is_there_goes_on(tmp_path):
    words = ("map", MAPPINGS / "rc11-to-tso-unfenced.map", "-j", 1, "-o")
    early = synth(*words, tmp_path / "early", "--time-limit", 0.001)
    assert early.exit_code == 0 and early.stdout.splitlines()[1:] == [
        "nothing was searched; stopped by --time-limit",
        "",
        f"{tmp_path / 'early'}: 0 bugs, incomplete: stopped by --time-limit; the same command goes on",
    ]
    other = synth("map", MAPPINGS / "rc11-to-tso.map", "--events", 4, "-o", tmp_path / "early")
    assert (other.exit_code, "the corpus was made with another mapping" in other.stderr) == (2, True)
    synth(*words, tmp_path / "one", "--max-tests", 1)
    assert not read_corpus(tmp_path / "one").complete and len(read_corpus(tmp_path / "one").tests) == 1
    whole = synth(*words, tmp_path / "whole")
    for name in ("early", "one"):
        assert synth(*words, tmp_path / name).stdout.replace(name, "whole") == whole.stdout
        assert files(tmp_path / name) == files(tmp_path / "whole")


def test_a_search_that_was_killed_goes_on(tmp_path):
    """Its unit is never closed: what it had found is found again, and is there once."""
    words = ("map", str(MAPPINGS / "rc11-to-tso-unfenced.map"), "--events", "4", "-j", "1", "-o")
    code = f"""
import os, signal
from corpus.journal import Journal
from synth.commands.cli import main
append = Journal.append

def killed(journal, unit, founds):
    append(journal, unit, founds)
    os.killpg(0, signal.SIGKILL)

Journal.append = killed
main({[*words, str(tmp_path / "d")]}, prog_name="synth")
"""
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, start_new_session=True, timeout=300)
    assert run.returncode == -signal.SIGKILL
    shown = synth("show", tmp_path / "d")
    assert (
        shown.exit_code == 0 and "1 tests, not complete: the run did not end; the same command goes on" in shown.stdout
    )
    assert synth(*words, tmp_path / "d").exit_code == 1
    assert synth(*words, tmp_path / "whole").exit_code == 1
    assert files(tmp_path / "d") == files(tmp_path / "whole")


def files(folder):
    """All files of a folder, but those that may differ from run to run."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "times.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_a_model_of_a_mapping_is_found_from_where_the_mapping_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = synth("map", MAPPINGS / "rc11-scoped-to-ptx.map", "--events", 2, "-j", 1)
    assert (result.exit_code, result.stdout.split()[1]) == (0, "rc11-scoped-fences")


def test_figure_12_is_a_bug_told_by_the_execution_of_the_target_and_drawn():
    """Lustig et al., ASPLOS 2019, Fig. 12: a seq_cst update without its release heads a release sequence."""
    file = MAPPINGS / "rc11-scoped-to-ptx-fig12.map"
    models = resolve_consistency_models(["rc11-scoped", "ptx-6.0"])
    check = checked(read_mapping(file.read_text(), str(file)), *models, (7, 7), (3, 3), ("gpu",))
    left, middle, right = (
        "0.0.0.0: rmw.sc.gpu x<-3; W.relaxed.gpu x",
        "0.0.1.0: W.relaxed.gpu y; W.release.gpu x",
        "0.0.2.0: R.acquire.gpu x<-1; R.relaxed.gpu y<-init",
    )
    execution = parse_execution(f"{left} | {middle} | {right} | co 0<1 3<1 | final x=1 y=2")
    assert tells(execution, check)
    told = ExplainedBug(bug_of(execution, check), check)
    record = told.record()
    (violation,), witness = record["source"]["violations"], record["target"]["witness"]
    assert record["source"]["outcomes"] == 2 and violation["check"] == "coherence"
    # Of two ways to have the outcome, it is that of the target.
    assert [*violation["execution"]["relations"]["co"]] == [*witness["relations"]["co"]]
    assert "F.sc.gpu" in [event["text"] for event in witness["events"]]
    picture = draw_bug(told).svg()
    assert "source under rc11-scoped: FORBIDDEN" in picture and "target under ptx-6.0: ALLOWED" in picture
    assert "(1 of 2 executions)" in picture


@pytest.mark.usefixtures("unlisted")
def test_a_store_may_become_an_exchange_which_is_needed(tmp_path):
    """As compilers have it for x86: no fence, and a seq_cst store is an exchange."""
    file = tmp_path / "m.map"
    file.write_text(TSO.replace("W; F", "rmw"))
    result = synth("map", file, "--weakest", "-j", 1)
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, "sound up to 4 events")
    assert "W.sc: W for rmw.relaxed.gpu: wrong, SB+sc-sc+sc-sc of 4 events" in result.stdout
    file.write_text(TSO.replace("W; F", "W").replace("W.release   -> W", "W.release -> rmw"))
    result = synth("map", file, "--json", "-j", 1)
    names = [bug["name"] for bug in json.loads(result.stdout)["bugs"]]
    assert result.exit_code == 1 and names == ["SB+sc-sc+sc-sc", "R+sc-sc+sc-sc"]


@pytest.mark.slow
def test_models_may_be_named_by_options(tmp_path):
    file = tmp_path / "m.map"
    file.write_text(TSO.replace("from rc11", "").replace("to tso", ""))
    assert synth("map", file, "--events", "..3", "--from", "rc11", "--to", "sc", "-j", 1).exit_code == 0
    result = synth("map", file, "--to", "sc")
    assert (result.exit_code, result.stderr) == (
        2,
        f"synth: {file}:1:1: expected a model: a line 'from MODEL', or --from\n",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("R.sc        -> R\n", "", "20:1: no rule for R.sc"),
        ("R.sc        -> R\n", "R.scc -> R\n", "8:1: vocabulary c has no instruction 'R.scc'; did you mean R.sc"),
        ("W; F", "W; G", "12:19: vocabulary cpu has no instruction 'G'"),
        ("W; F", "W; R", "12:19: W cannot become R"),
        ("W; F", "F", "12:16: expected one W and fences, found 0"),
        ("W; F", "rmw; W", "12:16: expected one W and fences, found 2"),
        ("R.sc        -> R\n", "R.sc -> rmw\n", "8:9: R cannot become rmw"),
        ("R.sc        -> R\n", "R.sc -> ctrl; R\n", "8:9: 'ctrl' stands right after an instruction that reads"),
        ("R.sc        -> R\n", "R.sc -> R; ctrl; ctrl\n", "8:18: 'ctrl' stands right after an instruction that reads"),
        ("R.sc        -> R\n", "R.sc -> R; F; ctrl\n", "8:15: 'ctrl' stands right after an instruction that reads"),
        ("W; F", "W; ctrl", "12:19: 'ctrl' stands right after an instruction that reads"),
        ("W; F", "W F", "12:18: expected ';' between instructions"),
        ("W; F", "W;", "12:18: expected an instruction of the target, or '-' for none"),
        ("W; F", "W; F.*", "12:19: '*' is the scope of the left side, and 'W.sc' has no '*'"),
        ("R.sc        -> R\n", "R.sc R\n", "8:6: expected '->' after 'R.sc'"),
        ("R.sc        -> R\n", "R.relaxed -> R\n", "8:1: a second rule for R.relaxed"),
        ("to tso", "to nothing", "3:4: "),
        ("to tso", "to", "3:3: expected one model after 'to'"),
        ("to tso", "from tso", "3:1: a second 'from'"),
        ("to tso", "bound", "3:6: expected ':' after 'bound'"),
        ("to tso", "bound 4", "3:7: expected ':' after 'bound'"),
        ("to tso", "bound:", "3:7: expected a bound, events, threads, scopes, max-tests, found ''"),
        ("to tso", "bound: event 4", "3:8: expected a bound, events, threads, scopes, max-tests, found 'event'"),
        ("to tso", "bound: events", "3:14: expected a value after 'events'"),
        ("to tso", "bound: events 4,", "3:17: expected a bound, events, "),
        ("to tso", "bound: events 4, , threads 2", "3:17: expected a bound, events, "),
        ("to tso", "bound: events 4 threads 2", "3:17: expected ',' after '4'"),
        ("to tso", "bound: events 4, events 5", "3:18: a second 'events'"),
        ("to tso", "to tso\nbound: events 4\nbound: events 5", "5:1: a second 'bound'"),
        ("to tso", "to tso\nbound: events 1", "4:15: expected numbers between 2 and 12, the least first, found '1'"),
        ("to tso", "to tso\nbound: events x", "4:15: expected a number or MIN..MAX, found 'x'"),
        ("to tso", "to tso\nbound: threads 0", "4:16: expected numbers between 1 and 999"),
        ("to tso", "to tso\nbound: max-tests none", "4:18: 'none' is not a valid integer"),
        ("to tso", "to tso\n bound : scopes cta gpus", "4:17: expected cta, gpu, sys, found 'gpus'"),
    ],
)
def test_a_wrong_mapping_is_answered_in_a_line_that_says_where(tmp_path, old, new, message):
    assert old in TSO
    file = tmp_path / "m.map"
    file.write_text(TSO.replace(old, new, 1))
    result = synth("map", file)
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr.startswith(f"synth: {file}:{message}") and result.stderr.count("\n") == 1


def test_rules_are_read_with_their_places():
    written = read_mapping("from a # the source\n\n W.sc ->F ;  W\nF -> -", "m")
    assert [word and (word.text, word.line, word.column) for word in written.models] == [("a", 1, 6), None]
    assert written.bound == {}
    (store, becomes), (_, nothing) = written.rules
    assert (store.text, store.line, store.column) == ("W.sc", 3, 2)
    assert [(word.text, word.column) for word in becomes] == [("F", 9), ("W", 14)]
    assert [word.text for word in nothing] == ["-"]


def test_a_bound_is_read_with_its_places():
    text = "from a\nbound:events 2..5 ,scopes  cta gpu,  max-tests 1 # and no more\nto b"
    bound = read_mapping(text, "m").bound
    assert {name: (word.text, word.line, word.column) for name, word in bound.items()} == {
        "events": ("2..5", 2, 14),
        "scopes": ("cta,gpu", 2, 28),
        "max-tests": ("1", 2, 48),
    }


def test_of_a_write_that_becomes_an_update_nothing_is_said_of_what_it_reads():
    sc = Mode(Order.SC)
    rules = Translation(
        {(OpKind.WRITE, sc): MappedOp((FENCE,), PLAIN, (), updates=True), (OpKind.READ, sc): MappedOp((), PLAIN, ())}
    )
    threads = ((Step(OpKind.READ, 0, sc), Step(OpKind.WRITE, 1, sc)), (Step(OpKind.WRITE, 0, sc),))
    places, regions = (Place(), Place(cta=1)), (Region.GLOBAL, Region.GLOBAL)
    execution = Execution(threads, places, regions, (Dependency("data", 0, 1),), (2, None, None), frozenset(), (2, 1))
    image = translated(execution, rules)
    assert [[step.kind.value for step in thread] for thread in image.threads] == [list("RFU"), list("FU")]
    assert image.rf == (4, None, None, None, None) and image.final == (4, 2)
    assert image.dependencies == (Dependency("data", 0, 2),)
    assert rules.spelled == ("W.sc -> F.sc; rmw", "R.sc -> R")


def test_a_translated_execution_reads_and_ends_as_it_did():
    sc = Mode(Order.SC)
    rules = {
        (OpKind.WRITE, sc): MappedOp((FENCE,), PLAIN, (FENCE,)),
        (OpKind.READ, sc): MappedOp((FENCE,), PLAIN, ()),
        (OpKind.FENCE, sc): MappedOp((), None, ()),
    }
    threads = (
        (Step(OpKind.READ, 0, sc), Step(OpKind.FENCE, None, sc), Step(OpKind.WRITE, 1, sc)),
        (Step(OpKind.WRITE, 0, sc),),
    )
    dependencies = (Dependency("ctrl", 0, 1), Dependency("data", 0, 2))
    places, regions = (Place(), Place(cta=1)), (Region.GLOBAL, Region.GLOBAL)
    execution = Execution(threads, places, regions, dependencies, (3, None, None, None), frozenset(), (3, 2))
    image = translated(execution, Translation(rules))
    assert [[step.kind.value for step in thread] for thread in image.threads] == [list("FRFWF"), list("FWF")]
    assert image.rf == (None, 6, None, None, None, None, None, None) and image.final == (6, 3)
    assert image.dependencies == (Dependency("ctrl", 1, 2), Dependency("data", 1, 3))
    branches = Translation({**rules, (OpKind.READ, sc): MappedOp((), PLAIN, (), branches=True)})
    branching = translated(execution, branches)
    assert branching.dependencies == (Dependency("ctrl", 0, 1), Dependency("data", 0, 2))
    alone = replace(execution, threads=(threads[0][:1], threads[1]), dependencies=(), rf=(1, None), final=(1, None))
    assert translated(alone, branches).dependencies == ()  # nothing comes after it
    initial = translated(
        Execution(threads, places, regions, (), (INITIAL, None, None, None), frozenset(), (3, 2)), Translation(rules)
    )
    assert initial.rf[1] == INITIAL
