"""In pictures of executions no label covers another label or an event, and few cover another arrow."""

from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.witness import explain_memory
from synth.drawing import arrangement, execution
from synth.drawing.pictures import Box

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
HARD = [
    ("sb-fence-sc", "ptx-6.0"),  # three arrows cross in one point
    ("c-iriw-sc", "rc11"),  # three arrows share the way past two threads, one from nowhere lies between
    ("cas-sl+membar.gls", "ptx-rmo"),
    ("mp+membar.cta+membar.gl", "ptx-rmo"),
    ("isa2-acq-rel", "ptx-6.0"),
    ("thesis-weak-coherence-intra", "ptx-rmo"),
]


@pytest.fixture
def drawn(monkeypatch):
    """Where everything went in each picture, with its arrows."""
    found = []

    def arrange(columns, initial, texts, arrows, places):
        found.append((arrangement.arrange(columns, initial, texts, arrows, places), arrows))
        return found[-1][0]

    monkeypatch.setattr(execution, "arrange", arrange)
    return found


def draw(path, model):
    execution.draw(explain_memory(read_litmus(path), load_model(shipped_models()[model], model)))


def overlap(one, other):
    return min(one.right, other.right) > max(one.left, other.left) and min(one.bottom, other.bottom) > max(
        one.top, other.top
    )


def check(arranged, arrows):
    labels = [route.label for route, arrow in zip(arranged.routes, arrows, strict=True) if arrow.label]
    for number, label in enumerate(labels):
        for other in (*labels[:number], *arranged.events.values()):
            assert not overlap(label, other), (label, other)


@pytest.mark.parametrize(("test", "model"), HARD)
def test_labels_keep_off_labels_and_events(drawn, test, model):
    draw(EXAMPLES / f"{test}.litmus", model)
    assert drawn
    for arranged, arrows in drawn:
        check(arranged, arrows)


def test_labels_keep_off_other_arrows(drawn):
    draw(EXAMPLES / "sb-fence-sc.litmus", "ptx-6.0")
    for arranged, arrows in drawn:
        routes = list(zip(arranged.routes, arrows, strict=True))
        for number, (route, arrow) in enumerate(routes):
            others = [other.curves for at, (other, _) in enumerate(routes) if at != number]
            points = [arrangement.point_at(curves, part / 100) for curves in others for part in range(101)]
            assert not arrow.label or not any(overlap(route.label, Box(x, y, 0.1, 0.1)) for x, y in points), arrow


@pytest.mark.slow
@pytest.mark.parametrize("model", ["sc", "ptx-6.0", "ptx-rmo", "rc11"])
def test_labels_keep_off_labels_and_events_in_all_examples(drawn, model):
    for path in sorted(EXAMPLES.glob("*.litmus")):
        try:
            draw(path, model)
        except InputError:  # a test that the model does not know, or that has nothing to draw
            continue
    assert len(drawn) > 50
    for arranged, arrows in drawn:
        check(arranged, arrows)
