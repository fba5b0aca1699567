"""Explanations of litmus tests as text, data, Graphviz and SVG; ``pytest --promote`` accepts a change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus.dialects.registry import parse_litmus, read_litmus
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.witness import explain_memory
from oracle.progress.explain import explain_system
from oracle.progress.litmus import explore_litmus
from oracle.progress.models import MODELS
from oracle.progress.plugins import resolve_models
from synth.accounts import in_columns
from synth.drawing import lts
from synth.drawing.execution import draw, draw_dot
from synth.drawing.pictures import side_by_side
from synth.memory.explanation import explanation_account
from synth.progress.explanation import explanation_account as progress_account
from synth.progress.explanation import explanation_record

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
        ("bulk-load-no-fence", "ptx-async"),  # an asynchronous operation beside its thread
        ("cp-async", "ptx-async"),  # forbidden: a wait for a group
    ],
)
def test_explanation(test: str, model: str, golden: Callable[[str, str], None]) -> None:
    (path,) = EXAMPLES.rglob(f"{test}.litmus")
    explanation = explain_memory(read_litmus(path), load_model(shipped_models()[model], model), unroll=0)
    golden(f"explain/{test}.{model}.txt", explanation_account(explanation, 2).text())
    golden(f"explain/{test}.{model}.dot", draw_dot(explanation))
    golden(f"explain/{test}.{model}.svg", draw(explanation).svg())


def test_two_models_side_by_side(golden: Callable[[str, str], None]) -> None:
    test = read_litmus(EXAMPLES / "mp-weak.litmus")
    models = [load_model(shipped_models()[model], model) for model in ("ptx-6.0", "tso")]
    told = [explain_memory(test, model) for model in models]
    golden("explain/mp-weak.ptx-6.0.tso.txt", in_columns([explanation_account(each, 2) for each in told], 160))
    golden("explain/mp-weak.ptx-6.0.tso.svg", side_by_side(test.name, [draw(each) for each in told]).svg())


LOCKS = Path(__file__).parents[2] / "examples" / "locks"


@pytest.mark.parametrize(
    ("test", "model"),
    [
        ("ticket-lock", "hsa-weak"),
        ("rw-lock", "fair-weak"),  # a livelock
        ("vk-lookback-static", "obe@cta-strong"),  # a trap
        ("cl-lookback-dynamic", "obe-weak"),  # it terminates
    ],
)
def test_progress_of_a_litmus_test(test: str, model: str, golden: Callable[[str, str], None]) -> None:
    system = explore_litmus(read_litmus(LOCKS / f"{test}.litmus"))
    (resolved,) = resolve_models([model])
    explanation = explain_system(system, resolved.among(system.places))
    golden(f"explain/{test}.{model}.txt", progress_account(test, explanation).text())
    golden(f"explain/{test}.{model}.json", json.dumps(explanation_record(test, explanation), indent=1) + "\n")
    if test == "ticket-lock":
        golden(f"explain/{test}.{model}.dot", lts.draw_dot(test, explanation))
        golden(f"explain/{test}.{model}.svg", lts.draw(test, explanation).svg())


def test_a_barrier_that_nobody_completes(golden: Callable[[str, str], None]) -> None:
    code = ["P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;", "st.weak x, 1 | bar.cta.sync 0, 0, 3 ;", "bar.cta.sync 0, 0, 3 | ;"]
    test = parse_litmus("\n".join(["PTX stuck", "{ }", *code, "exists (x == 1)"]))
    explanation = explain_system(explore_litmus(test), MODELS["fair-strong"])
    golden("explain/stuck.fair-strong.txt", progress_account("stuck", explanation).text())
    golden("explain/stuck.fair-strong.svg", lts.draw("stuck", explanation).svg())
