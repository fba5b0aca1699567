"""``synth progress --distinguish`` with progress models of the user's, against the models that ship and one by one."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from click.testing import Result
from commands import synth

from corpus.journal import read_corpus
from corpus.progress.text import program_of
from oracle.progress.models import MODELS, verdicts
from oracle.progress.plugins import resolve_models
from oracle.progress.reductions import reductions
from oracle.progress.wellformed import is_progress_test

LAST = 'NAME = "last"\ndef guarantee(running, stepped):\n    return 1 << running.bit_length() >> 1\n'
FIRST = 'NAME = "twin"\ndef guarantee(running, stepped):\n    return running & -running\n'  # as HSA does


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("last.py").write_text(LAST)
    Path("twin.py").write_text(FIRST)


def progress(*arguments: object) -> Result:
    return synth("progress", *arguments)


def made(folder: str, *arguments: object) -> dict[str, str]:
    done = progress(*arguments, "-o", folder)
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith("tests, complete\n")
    return {test.text: dict(test.verdicts) for test in read_corpus(Path(folder)).tests}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("bound", [("-t", 2, "-n", 4), ("-t", 3, "-n", 4)])
@pytest.mark.parametrize("every", [(), ("--all",), ("--symmetric-threads",)])
def test_a_copy_of_a_model_finds_what_the_model_does(bound, every):
    ours = made("ours", *bound, *every, "--distinguish", "fair-weak>hsa-strong")
    copied = made("copied", *bound, *every, "--distinguish", "fair-weak>twin.py")
    assert list(ours) == list(copied) and ours
    for text, said in copied.items():
        assert {model: said[model] for model in MODELS} == ours[text]
        assert said["twin-weak"] == said["hsa-weak"] and said["twin-strong"] == said["hsa-strong"]


BOUND = ("-t", 2, "-n", 4, "--up-to", "program")


@pytest.fixture(name="judged", scope="module")
def _judged(tmp_path_factory):
    """All tests of a bound, and what the models that ship and the user's own say of a test."""
    folder = tmp_path_factory.mktemp("everything")
    (folder / "last.py").write_text(LAST)
    models = [*MODELS.values(), *resolve_models([str(folder / "last.py")])]
    assert progress(*BOUND, "--all", "-o", folder / "suite").exit_code == 0
    tests = {test.text: program_of(test) for test in read_corpus(folder / "suite").tests}
    return tests, cache(lambda program: verdicts(program, models))


@pytest.mark.slow
@pytest.mark.parametrize("border", ["last.py>hsa-strong", "last.py-strong>last.py-weak", "lobe-weak>last.py,obe-weak"])
def test_every_test_on_a_border_is_found_and_no_other(border, judged):
    """Against each test of the bound, judged by itself; and minimal where no reduction has all of its verdicts."""
    passing, _, failing = border.partition(">")
    everything, vector = judged

    def named(word: str, strong: bool) -> str:
        bare = word.replace("last.py", "last")
        return bare if bare.endswith(("-weak", "-strong")) else f"{bare}-{'strong' if strong else 'weak'}"

    def is_on(said) -> bool:
        fails = [named(word, True) for word in failing.split(",")]
        return said[named(passing, False)] == "TERMINATES" and all(said[name] == "MAY_HANG" for name in fails)

    expected = {text for text, program in everything.items() if is_on(vector(program))}
    assert set(made("found", *BOUND, "--all", "--distinguish", border)) == expected
    minimal = {
        text
        for text in expected
        if not any(
            is_progress_test(smaller) and vector(smaller) == vector(everything[text])
            for smaller in reductions(everything[text])
        )
    }
    assert set(made("minimal", *BOUND, "--distinguish", border)) == minimal


def test_bounds_grow_until_one_holds_a_test_and_the_verdicts_are_part_of_the_corpus():
    found = made("d", "--distinguish", "obe>last.py")
    assert found and all(said["obe-weak"] == "TERMINATES" != said["last-strong"] for said in found.values())
    manifest = json.loads(Path("d/manifest.json").read_text())
    assert manifest["models"] == [*MODELS, "last-weak", "last-strong"]
    assert manifest["request"]["own"] == ["last.py"]
    assert set(manifest["request"]["model_digests"]) == {"last-weak", "last-strong"}
    assert "own" not in json.loads(Path(_plain() / "manifest.json").read_text())["request"]
    shown = synth("show", "d", "--where", "last-strong=hangs")
    assert shown.exit_code == 0 and "last" in shown.stdout


def _plain() -> Path:
    made("plain", "-t", 2, "-n", 2)
    return Path("plain")


@pytest.mark.slow
def test_a_run_goes_on_with_the_same_file_only():
    bound = ("-t", 2, "-n", 4, "--distinguish", "last.py>hsa-strong")
    whole = made("whole", *bound)
    assert progress(*bound, "--max-tests", 1, "-o", "d").exit_code == 0
    Path("last.py").write_text(LAST + "# changed\n")
    command = [sys.executable, "-m", "synth", "progress", *map(str, bound), "-o", "d"]  # reads it anew
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
    Path("last.py").write_text(LAST)
    assert made("d", *bound) == whole


@pytest.mark.parametrize(
    ("border", "message"),
    [
        ("none.py>hsa", "none.py: no such progress model file"),
        ("hsa>sc", "sc is a consistency model"),
        (
            "hsa>last.py@cta",
            "last@cta-weak is about groups of threads, and progress tests have groups only with --levels",
        ),
        (
            "twin.py-weak>hsa-strong",
            "there is no such test: every test that terminates under twin-weak terminates under hsa-strong",
        ),
        ("fails.py>hsa", "fails.py:2: guarantee("),
        ("last.py", "expected A>B or A>B,C, found 'last.py'"),
    ],
)
def test_misuse_is_one_line(border, message):
    Path("fails.py").write_text("def guarantee(running, stepped):\n    raise ValueError('no')\n")
    refused = progress("--distinguish", border, "-o", "d")
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
    assert message in refused.stderr and not Path("d").exists()


def test_certificates_are_of_the_models_that_ship():
    refused = progress("-t", 2, "-n", 3, "--distinguish", "last.py>hsa", "--certify", "-o", "d")
    assert refused.exit_code == 2 and "last.py is not one" in refused.stderr
