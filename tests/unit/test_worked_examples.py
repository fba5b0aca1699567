"""The worked examples in the heads of modules are run, and show what happens."""

import doctest
from importlib import import_module

import pytest

MODULES = (
    "constraints.deferred",
    "constraints.loop",
    "constraints.programs.skeleton",
    "oracle.cat.algebra",
    "oracle.executions.stuck",
    "oracle.exploration",
    "oracle.inference.classes",
    "oracle.inference.fitting",
    "oracle.inference.model_sets",
    "oracle.inference.sketch",
    "oracle.progress.models",
    "oracle.promises",
    "synth.progress.placements",
)


@pytest.mark.parametrize("name", MODULES)
def test_worked_examples(name):
    failed, tried = doctest.testmod(import_module(name))
    assert tried and not failed
