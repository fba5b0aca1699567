"""Explanations of litmus tests as text, Graphviz and SVG; ``pytest --promote`` accepts a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.witness import explain_memory
from synth.accounts import in_columns
from synth.drawing.execution import draw, draw_dot
from synth.drawing.pictures import side_by_side
from synth.memory.explanation import explanation_account

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


@pytest.mark.parametrize(
    ("test", "model"),
    [
        ("mp+membar.cta+membar.gl", "ptx-rmo"),  # Alglave et al. 2015, Fig. 14
        ("mp-weak", "ptx-6.0"),  # allowed
        ("sb-fence-sc", "ptx-6.0"),  # both orders of the fences
        ("mp-rmw-between", "ptx-6.0"),  # three threads, several checks
        ("c-sb-sc", "rc11"),  # psc
        ("c-thin-air", "rc11"),  # a circle of values
        ("c-atomicity", "rc11"),  # a check of emptiness
    ],
)
def test_explanation(test: str, model: str, golden: Callable[[str, str], None]) -> None:
    explanation = explain_memory(read_litmus(EXAMPLES / f"{test}.litmus"), load_model(shipped_models()[model], model))
    golden(f"explain/{test}.{model}.txt", explanation_account(explanation, 2).text())
    golden(f"explain/{test}.{model}.dot", draw_dot(explanation))
    golden(f"explain/{test}.{model}.svg", draw(explanation).svg())


def test_two_models_side_by_side(golden: Callable[[str, str], None]) -> None:
    test = read_litmus(EXAMPLES / "mp-weak.litmus")
    models = [load_model(shipped_models()[model], model) for model in ("ptx-6.0", "tso")]
    told = [explain_memory(test, model) for model in models]
    golden("explain/mp-weak.ptx-6.0.tso.txt", in_columns([explanation_account(each, 2) for each in told], 160))
    golden("explain/mp-weak.ptx-6.0.tso.svg", side_by_side(test.name, [draw(each) for each in told]).svg())
