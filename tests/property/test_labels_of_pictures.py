"""In pictures of executions no label covers another label or an event, and few cover another arrow; what a thread asks
for stands apart from the thread."""

from itertools import combinations
from pathlib import Path

import pytest

from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import AsyncOperation
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.witness import explain_memory
from synth.drawing import arrangement, execution
from synth.drawing.pictures import Box
from synth.memory.judging import explain_with

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
HARD = [
    ("sb-fence-sc", "ptx-6.0"),  # three arrows cross in one point
    ("c-iriw-sc", "rc11"),  # three arrows share the way past two threads, one from nowhere lies between
    ("cas-sl+membar.gls", "ptx-rmo"),
    ("mp+membar.cta+membar.gl", "ptx-rmo"),
    ("isa2-acq-rel", "ptx-6.0"),
    ("thesis-weak-coherence-intra", "ptx-rmo"),
]
ASYNCHRONOUS = sorted((EXAMPLES / "ptx-async").glob("*.litmus"))


@pytest.fixture
def drawn(monkeypatch):
    """Where everything went in each picture, with its arrows and columns."""
    found = []

    def arrange(columns, initial, texts, arrows, places):
        found.append((arrangement.arrange(columns, initial, texts, arrows, places), arrows, columns))
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
    words = [frame.words for frame in arranged.operations]
    for number, label in enumerate(labels):
        for other in (*labels[:number], *arranged.events.values(), *words):
            assert not overlap(label, other), (label, other)


@pytest.mark.parametrize(("test", "model"), HARD)
def test_labels_keep_off_labels_and_events(drawn, test, model):
    draw(EXAMPLES / f"{test}.litmus", model)
    assert drawn
    for arranged, arrows, _ in drawn:
        check(arranged, arrows)


def test_labels_keep_off_other_arrows(drawn):
    draw(EXAMPLES / "sb-fence-sc.litmus", "ptx-6.0")
    for arranged, arrows, _ in drawn:
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
    for arranged, arrows, _ in drawn:
        check(arranged, arrows)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", ASYNCHRONOUS, ids=lambda path: path.stem)
def test_what_a_thread_asks_for_stands_apart_from_it(drawn, path):
    """Each operation has a frame with its events and no others, to the right of its thread, with one arrow to it."""
    test = read_litmus(path)
    asked = sum(isinstance(ins, AsyncOperation) for thread in test.threads for ins in thread.instructions)
    explanation = explain_with(test, load_model(shipped_models()["ptx-async"], "ptx-async"), unroll=0)
    if explanation.witness or explanation.violations:
        execution.draw(explanation)
    for arranged, arrows, columns in drawn:
        check(arranged, arrows)
        operations = [column for column in columns if column.operation]
        assert len(operations) == len(arranged.operations) == asked
        for column in operations:
            boxes = [arranged.events[event] for event in column.events]
            (frame,) = (each.box for each in arranged.operations if each.box.encloses(boxes[0]))
            assert column.operation in [each.label for each in arranged.operations if each.box == frame]
            assert frame.left > arranged.columns[column.thread]
            inside = {event for event, box in arranged.events.items() if overlap(frame, box)}
            assert inside == set(column.events)
            assert all(frame.encloses(box) for box in boxes)
            to_it = [arrow for arrow in arrows if "asked" in arrow.label and arrow.target == column.events[0]]
            assert (column.asker is None) or (column.asker in [arrow.source for arrow in to_it])
        assert not any(overlap(one.box, other.box) for one, other in combinations(arranged.operations, 2))
