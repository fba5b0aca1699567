"""A suite with mutants on the CPU's threads: run, scored, planned, and the plan run."""

from __future__ import annotations

import json

import pytest
from commands import printed

from backends.shared.results import read_results
from corpus.executions.relaxations import RelaxationTarget
from corpus.links import read_links
from synth.mutation.plans import PLAN

pytestmark = pytest.mark.device


def test_from_a_model_to_a_plan(tmp_path, need):
    """``U.W`` forbids that a store comes between the halves of an exchange; its mutant has a load and a store."""
    need("cpp")
    suite = tmp_path / "tso"
    printed("memory", "--from", "tso", "--events", "3", "--mutants", "-o", suite)
    mutants = [link.mutant for link in read_links(suite) if (link.test, link.kind) == ("U.W", RelaxationTarget.UPDATE)]
    launch = ("--backend", "cpp", "--instances", 16384, "-m", "tso")
    told = json.loads(printed("run", suite, "--where", "U.W", "--mutants", *launch, "--iterations", 20, "--json"))
    assert [test["test"] for test in told["tests"]] == ["U.W", *mutants] and len(mutants) == 1
    (environment,) = told["mutation"]["environments"]
    assert (environment["counted"], environment["run"]) == (1, 1) and environment["kills"]["U.W.m2"]["seconds"] > 0
    shown = printed("run", suite, "--where", "U.W", "--mutants", *launch, "--iterations", 20)
    assert len(read_results(suite / "results.jsonl")) == 2  # they are not run again
    assert "1 tests, 1 mutants" in shown and "killed / run" in shown and "U.W.m2" in shown
    scored = json.loads(printed("score", suite, "--json", "--where", "U.W"))
    assert scored == told["mutation"]
    for more in range(21, 61):  # on a machine that is busy some launches show no interleaving
        ci = tmp_path / f"ci{more}"
        plan = json.loads(printed("select", suite, "--score", "--budget", 60, "-o", ci, "--json"))
        if plan["runs"]:
            break
        printed("run", suite, "--where", "U.W", "--mutants", *launch, "--iterations", more)
    assert json.loads((ci / PLAN).read_text()) == plan and plan["runs"][0]["mutants"] == ["U.W.m2"]
    printed("run", ci, "--backend", "cpp", "--plan", ci / PLAN, "-m", "tso")
    (result,) = read_results(ci / "results.jsonl")
    assert (result.test, result.iterations, result.instances) == ("U.W", plan["runs"][0]["iterations"], 16384)
