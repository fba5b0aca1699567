"""A suite through the compilers of a language: what is refused before anything is written, and what a kill leaves."""

import json
from pathlib import Path

import pytest
from commands import synth

from corpus.dialects.registry import read_litmus
from synth.pool import cores
from synth.translation import suites
from synth.translation.compiled import CheckedTranslation, TranslationTask

MEMORY = Path(__file__).parents[2] / "examples" / "memory"


@pytest.mark.parametrize(("backend", "told"), [("hip", "--check with --sequences reads it"), ("metal", "not that of")])
def test_a_language_whose_code_is_not_read(tmp_path, backend, told):
    result = synth(
        "compile", MEMORY / "mp-acq-rel.litmus", "--backend", backend, "-o", tmp_path / "o", "--check-translation"
    )
    assert result.exit_code == 2 and told in result.stderr
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
