"""Verdicts against those of other tools: programs of their names stand for them, and say what they are told."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import synth

from corpus.journal import read_corpus
from synth.memory import peers
from synth.memory.peers import sampled


@pytest.fixture(scope="module")
def suite(tmp_path_factory) -> Path:
    """Eight tests that tso forbids, under ptx-6.0 too, of which herd7 knows nothing."""
    path = tmp_path_factory.mktemp("suite") / "c"
    assert synth("memory", "--from", "tso", "--events", "2..3", "-m", "ptx-6.0", "-j", 1, "-o", path).exit_code == 0
    return path


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program on the PATH, and nothing else but the shell."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    (tmp_path / "bin").mkdir()

    def make(name: str, script: str) -> Path:
        file = tmp_path / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
        return file

    return make


def test_a_peer_that_agrees(suite, program, tmp_path):
    program("herd7", f'echo "$@" >> {tmp_path}/asked; ls >> {tmp_path}/files; echo Observation X Never 0 3')
    result = synth("verify", suite, "--with", "herd7", "-j", 1)
    assert result.exit_code == 0
    assert "herd7 agrees on 8 under tso, of 8 tests" in result.output
    asked = (tmp_path / "asked").read_text().splitlines()
    assert len(asked) == 8 and set(asked) <= {
        "-bell synth.bell -model model.cat test.litmus",
        "-variant NoRMW -model model.cat test.litmus",
    }
    assert set((tmp_path / "files").read_text().split()) <= {"model.cat", "test.litmus", "synth.bell"}


def test_a_sample_is_the_same_each_time_and_of_tests_alone(suite, program):
    program("herd7", "echo Observation X Never 0 3")
    result = synth("verify", suite, "--with", "herd7", "--sample", 3, "-j", 2)
    assert "herd7 agrees on 3 under tso, of 3 tests" in result.output
    tests = read_corpus(suite).tests
    few = sampled(tests, 3)
    assert len(few) == 3 and [test for test in tests if test in few] == few
    assert [test for test in sampled(tests[1:], 3) if test in few] == [test for test in few if test is not tests[0]]


def test_a_peer_that_differs(suite, program):
    program("herd7", "grep -q CoWW test.litmus && echo Observation X Sometimes 1 3 || echo Observation X Never 0 3")
    result = synth("verify", suite, "--with", "herd7", "-j", 1)
    assert result.exit_code == 1
    assert "CoWW under tso: FORBIDDEN here, ALLOWED by herd7" in result.output
    assert "1 verdicts of herd7 differ" in result.output


@pytest.mark.parametrize("script", ["exit 3", "echo nothing", "echo Observation X Never 0 3; exit 1", "sleep 60"])
def test_a_peer_without_a_verdict(suite, program, monkeypatch, script):
    monkeypatch.setattr(peers, "SECONDS", 0.3)
    program("herd7", script)
    result = synth("verify", suite, "--with", "herd7", "--sample", 1, "-j", 1)
    assert result.exit_code == 1
    assert "under tso: herd7 has no verdict" in result.output


def test_a_peer_that_is_not_there(suite, program):
    result = synth("verify", suite, "--with", "herd7")
    assert result.exit_code == 2
    assert result.output == "synth: no herd7 is on the PATH\n"


def test_dartagnan_is_asked_by_its_own_models(suite, program, tmp_path, monkeypatch):
    program("dartagnan", f'echo "$@" >> {tmp_path}/asked; cat model.cat >> {tmp_path}/models; echo Result: FAIL')
    monkeypatch.delenv("DAT3M_HOME", raising=False)
    result = synth("verify", suite, "--with", "dartagnan")
    assert result.exit_code == 2 and "DAT3M_HOME is not set" in result.output
    monkeypatch.setenv("DAT3M_HOME", str(tmp_path))
    result = synth("verify", suite, "--with", "dartagnan")
    assert result.exit_code == 2 and "cannot read Dartagnan's model" in result.output
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "ptx-v6.0.cat").write_text("PTX\n")
    result = synth("verify", suite, "--with", "dartagnan", "-j", 1)
    forbidden = [test for test in read_corpus(suite).tests if test.verdicts["ptx-6.0"] == "FORBIDDEN"]
    assert f"dartagnan agrees on {len(forbidden)} under ptx-6.0" in result.output
    assert set((tmp_path / "asked").read_text().splitlines()) == {
        "model.cat --target=ptx test.litmus --property=program_spec"
    }
    assert set((tmp_path / "models").read_text().split()) == {"PTX"}


def test_what_no_peer_can_judge(suite, program, tmp_path):
    program("herd7", "echo Observation X Never 0 3")
    assert synth("progress", "-t", 2, "-n", 2, "-o", tmp_path / "p").exit_code == 0
    result = synth("verify", tmp_path / "p", "--with", "herd7")
    assert result.exit_code == 2 and "herd7 judges memory tests" in result.output
    manifest = json.loads((suite / "manifest.json").read_text())
    manifest["models"] = ["thesis-weak", "ptx-6.0"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").write_text(json.dumps(manifest))
    (other / "tests.jsonl").write_bytes((suite / "tests.jsonl").read_bytes())
    result = synth("verify", other, "--with", "herd7")
    assert result.exit_code == 2 and "no model that herd7 knows" in result.output
    assert synth("verify", suite, "--sample", 3).exit_code == 2
