"""A suite through the compilers of a language: what is refused before anything is written, and what a kill leaves."""

import json
from pathlib import Path

import pytest
from commands import synth

from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from synth.pool import cores
from synth.translation import suites
from synth.translation.compiled import CheckedTranslation, TranslationTask

MEMORY = Path(__file__).parents[2] / "examples" / "memory"


def test_a_language_whose_code_is_not_read(tmp_path):
    result = synth(
        "compile", MEMORY / "mp-acq-rel.litmus", "--backend", "metal", "-o", tmp_path / "o", "--check-translation"
    )
    assert result.exit_code == 2 and "not that of metal" in result.stderr
    assert not (tmp_path / "o").exists()


def test_verdicts_found_before_a_kill_are_kept(tmp_path, monkeypatch):
    test = read_litmus(MEMORY / "c-sb-sc.litmus")
    tasks = [TranslationTask(name, test, "glsl", 0, "") for name in ("first", "second")]

    def killed(tasks, *_):
        yield CheckedTranslation(tasks[0], None, reason="it cannot be said")
        raise KeyboardInterrupt

    (tmp_path / suites.RESULTS).write_text("of another run\n")
    monkeypatch.setattr(suites, "check_all_compiled", killed)
    with pytest.raises(KeyboardInterrupt):
        suites.check_suite(tasks, tmp_path, cores())
    (line,) = (tmp_path / suites.RESULTS).read_text().splitlines()
    assert json.loads(line)["test"] == "first"


def test_a_run_goes_on_behind_the_verdicts_that_a_kill_left(tmp_path, monkeypatch):
    """To the same bytes; what was cut is dropped; and not for other tests."""
    test = read_litmus(MEMORY / "c-sb-sc.litmus")
    tasks = [TranslationTask(name, test, "glsl", 0, "") for name in ("first", "second", "third")]
    asked = {"backend": "glsl", "tests": "digest", "models": {}}
    looked_at = []

    def answered(tasks, *_):
        for task in tasks:
            looked_at.append(task.name)
            yield CheckedTranslation(task, None, reason="it cannot be said")

    monkeypatch.setattr(suites, "check_all_compiled", answered)
    assert not any(map(suites.is_finding, suites.check_suite(tasks, tmp_path, cores())))
    file = tmp_path / suites.RESULTS
    whole = file.read_text()
    (tmp_path / f"{suites.RESULTS}.request.json").write_text(json.dumps(asked))
    for left in (0, 5, len(whole) // 3 + 9, len(whole)):
        file.write_text(whole[:left])
        looked_at.clear()
        known = suites.known_verdicts(tasks, tmp_path, asked)
        assert len(suites.check_suite(tasks, tmp_path, cores(), known=known)) == len(tasks)
        assert file.read_text() == whole and len(looked_at) == 3 - len(known) == 3 - whole[:left].count("\n")
    with pytest.raises(InputError, match="the tests have changed since"):
        suites.known_verdicts(tasks, tmp_path, asked | {"tests": "other"})
    with pytest.raises(InputError, match="expected the verdicts of the tests"):
        suites.known_verdicts(tasks[1:], tmp_path, asked)
