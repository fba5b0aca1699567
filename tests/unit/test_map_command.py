"""``synth map``: what it says of the mappings that ship, what it writes, and wrong mappings; translated executions."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpus.dialects.registry import parse_litmus
from corpus.executions.execution import INITIAL, Dependency, Execution, Kind, Step
from corpus.executions.translation import Target, Translation, read_mapping, translated
from corpus.litmus.test import PLAIN, Mode, Order, Place, Region
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, judge
from synth.cli import main
from synth.memory.suites import axiomatic

MAPPINGS = Path(__file__).parents[2] / "examples" / "mappings"
TSO = (MAPPINGS / "rc11-to-tso.map").read_text()
FENCE = Mode(Order.SC)


def synth(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, words, prog_name="synth", catch_exceptions=False)


@pytest.mark.parametrize("name", ["rc11-to-tso", "rc11-to-tso-loads", "rc11-to-rmo"])
def test_mappings_of_c_that_are_sound(name):
    result = synth("map", MAPPINGS / f"{name}.map", "-j", 1)
    assert (result.exit_code, result.stderr, result.stdout.splitlines()[-1]) == (0, "", "sound up to 4 events")


def test_without_fences_a_bug_is_found_and_both_tests_are_written(tmp_path):
    result = synth("map", MAPPINGS / "rc11-to-tso-unfenced.map", "-j", 1, "-o", tmp_path / "bug")
    assert (result.exit_code, result.stderr) == (1, "")
    assert "1 bug of 4 events: tso allows what rc11 forbids" in result.stdout
    assert "under rc11: FORBIDDEN" in result.stdout and "under tso: ALLOWED" in result.stdout
    answers = {}
    for side, model in (("source", "rc11"), ("target", "tso")):
        (file,) = (tmp_path / "bug").glob(f"*.{side}.litmus")
        (given,) = resolve_consistency_models([model])
        answers[side] = judge(parse_litmus(file.read_text(), str(file)), axiomatic(given)).answer
    assert answers == {"source": Answer.FORBIDDEN, "target": Answer.ALLOWED}


def test_the_table_of_scoped_rc11_for_ptx_is_sound_and_needs_its_acquire_loads(tmp_path):
    table = (MAPPINGS / "rc11-scoped-to-ptx.map").read_text()
    right, wrong = tmp_path / "right.map", tmp_path / "wrong.map"
    right.write_text(table)
    wrong.write_text(table.replace("-> R.acquire.*\n", "-> R.relaxed.*\n", 1))
    printed = ("--from", "rc11-scoped", "-j", 1)
    assert synth("map", right, *printed).stdout.splitlines()[-1] == "sound up to 4 events"
    result = synth("map", wrong, *printed, "--scopes", "gpu")
    assert result.exit_code == 1 and "1 bug of 4 events" in result.stdout


def test_the_weakest_says_which_fences_are_needed():
    result = synth("map", MAPPINGS / "rc11-to-tso.map", "--weakest", "-j", 1)
    assert result.exit_code == 0
    first, second = result.stdout.splitlines()[2:]
    assert first.startswith("W.sc: without F.sc.sys: wrong, ") and first.endswith(" of 4 events")
    assert second == "F.sc: without F.sc.sys: sound up to 4 events"  # five show that it is needed


def test_out_of_time_says_how_far():
    result = synth("map", MAPPINGS / "rc11-to-tso.map", "--time-limit", 0.001, "-j", 1)
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, "sound up to 2 events; stopped by --time-limit")


def test_a_model_of_a_mapping_is_found_from_where_the_mapping_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = synth("map", MAPPINGS / "rc11-scoped-to-ptx.map", "--events", 2, "-j", 1)
    assert (result.exit_code, result.stdout.split()[1]) == (0, "rc11-scoped-fences")


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
        ("W; F", "W F", "12:18: expected ';' between instructions"),
        ("W; F", "W;", "12:18: expected an instruction of the target, or '-' for none"),
        ("W; F", "W; F.*", "12:19: '*' is the scope of the left side, and 'W.sc' has no '*'"),
        ("R.sc        -> R\n", "R.sc R\n", "8:6: expected '->' after 'R.sc'"),
        ("R.sc        -> R\n", "R.relaxed -> R\n", "8:1: a second rule for R.relaxed"),
        ("to tso", "to nothing", "3:4: "),
        ("to tso", "to", "3:3: expected one model after 'to'"),
        ("to tso", "from tso", "3:1: a second 'from'"),
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
    (store, becomes), (_, nothing) = written.rules
    assert (store.text, store.line, store.column) == ("W.sc", 3, 2)
    assert [(word.text, word.column) for word in becomes] == [("F", 9), ("W", 14)]
    assert [word.text for word in nothing] == ["-"]


def test_a_translated_execution_reads_and_ends_as_it_did():
    sc = Mode(Order.SC)
    rules = {
        (Kind.WRITE, sc): Target((FENCE,), PLAIN, (FENCE,)),
        (Kind.READ, sc): Target((FENCE,), PLAIN, ()),
        (Kind.FENCE, sc): Target((), None, ()),
    }
    threads = (
        (Step(Kind.READ, 0, sc), Step(Kind.FENCE, None, sc), Step(Kind.WRITE, 1, sc)),
        (Step(Kind.WRITE, 0, sc),),
    )
    dependencies = (Dependency("ctrl", 0, 1), Dependency("data", 0, 2))
    places, regions = (Place(), Place(cta=1)), (Region.GLOBAL, Region.GLOBAL)
    execution = Execution(threads, places, regions, dependencies, (3, None, None, None), frozenset(), (3, 2))
    image = translated(execution, Translation(rules))
    assert [[step.kind.value for step in thread] for thread in image.threads] == [list("FRFWF"), list("FWF")]
    assert image.rf == (None, 6, None, None, None, None, None, None) and image.final == (6, 3)
    assert image.dependencies == (Dependency("ctrl", 1, 2), Dependency("data", 1, 3))
    initial = translated(
        Execution(threads, places, regions, (), (INITIAL, None, None, None), frozenset(), (3, 2)), Translation(rules)
    )
    assert initial.rf[1] == INITIAL
