"""Sketches: holes in .cat files, the models that fill them, and the verdicts of all of these at once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from oracle.cat.syntax import parse_cat
from oracle.cat.text import model_text
from oracle.consistency import load_model
from oracle.executions.judge import Answer, judge
from oracle.inference.resolution import resolve_sketch, shipped_sketches
from oracle.inference.sketch import Filling, Sketch, parse_sketch
from oracle.inference.verdicts import allowing, flagging

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
CPU = """"a few holes"
let ppo = po & ((?ww: W * W) | (?rr: R * R) | (?wr: W * R) | (?rw: R * W))
let fence = (?fence: fencerel(F)) | (?dep: addr | 0 | (data | ctrl))
?loc: acyclic rf | co | fr | po-loc as sc-per-location
acyclic (?mca: rfe | rf) | co | fr | ppo | fence as causality
"""


def files() -> list[Path]:
    return sorted(EXAMPLES.glob("*.litmus"))


def near(sketch: Sketch, changes: int, number: random.Random) -> Filling:
    """A filling that differs from the usual one in so many holes, or any where there is no usual one."""
    ways = [hole.usual if hole.usual is not None else number.randrange(2) for hole in sketch.holes]
    for place in number.sample(range(len(ways)), changes):
        hole = sketch.holes[place]
        ways[place] = number.randrange(2 if hole.is_switch else len(hole.alternatives))
    return tuple(ways)


def test_holes_are_read_and_filled():
    sketch = parse_sketch(CPU, "cpu.cat")
    assert [(hole.name, len(hole.alternatives)) for hole in sketch.holes] == [
        *(("ww", 1), ("rr", 1), ("wr", 1), ("rw", 1), ("fence", 1), ("dep", 3), ("loc", 1), ("mca", 2)),
    ]
    assert sketch.valid.size == 2**6 * 3 * 2 == len(list(sketch.fillings(sketch.valid)))
    text = sketch.text((1, 0, 0, 0, 0, 1, 0, 0), "only-ww")
    assert text.endswith("\nlet ppo = po & (W * W)\nacyclic rfe | co | fr | ppo as causality\n"), text
    assert "no rr" in text and "dep: 0" in text


def test_a_filled_sketch_reads_as_it_was_written(tmp_path):
    sketch = parse_sketch(CPU, "cpu.cat")
    for filling in list(sketch.fillings(sketch.valid))[::17]:
        file = tmp_path / "model.cat"
        file.write_text(sketch.text(filling, "model"))
        model, again = sketch.filled(filling, "model"), load_model(str(file))
        assert model_text(model.syntax) == model_text(again.syntax)


def test_the_text_of_a_sketch_reads_as_the_sketch():
    text = model_text(parse_cat(CPU, "cpu.cat"))
    assert model_text(parse_cat(text, "cpu.cat")) == text
    assert parse_sketch(text, "cpu.cat").valid.size == parse_sketch(CPU, "cpu.cat").valid.size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("acyclic (?a: po | rf) | (?a: co) as x", "1:26: expected 2 alternatives as where ?a stood first"),
        ("acyclic po | ?a: rf as x", "1:14: expected"),
        ("?a: ~empty po as x", "1:6: expected a check without ~, for of nothing it would fail"),
        ("acyclic (?a: po | R) as x", "1:19: expected a relation, as in the alternatives before, found a set"),
        ("acyclic (?a: nosuch) as x", "1:14: unknown name 'nosuch'"),
        ("acyclic (?: po) as x", "1:10: expected "),
    ],
)
def test_errors_have_their_place(text, expected):
    with pytest.raises(InputError) as caught:
        parse_sketch(text, "x.cat")
    assert str(caught.value).startswith(f"x.cat:{expected}"), caught.value


def test_a_model_with_holes_is_no_model(tmp_path):
    file = tmp_path / "x.cat"
    file.write_text("acyclic (?a: po) | rf as x")
    with pytest.raises(InputError, match="synth infer fills") as caught:
        load_model(str(file))
    assert (caught.value.line, caught.value.column) == (1, 10)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["few", "cpu", "tso", "ptx-6.0", "rc11", "gpu", "power", "c11"])
def test_all_models_at_once_agree_with_each_alone(name):
    """Judged for all models of a sketch, a test has the verdict that each filled model gives it alone."""
    number = random.Random(name)
    sketch = parse_sketch(CPU, "few.cat") if name == "few" else resolve_sketch(name)
    made_of_model = all(hole.usual is not None for hole in sketch.holes)
    sketch = sketch.within(2) if made_of_model else sketch
    asked = 0
    for file in number.sample(files(), 12 if made_of_model else 25):
        test = parse_litmus(file.read_text(), str(file))
        if len(test.threads) > 3:
            continue
        models = allowing(test, sketch)
        for changes in (0, 1, 2) if made_of_model else (len(sketch.holes) // 2,) * 3:
            filling = near(sketch, changes, number)
            judged = judge(test, sketch.filled(filling, "model"))
            values = sketch.values(filling)
            assert values in sketch.valid
            assert (values in models) is (judged.answer is Answer.ALLOWED), (file.name, filling)
            asked += 1
    assert asked > 15


def test_the_usual_filling_is_the_model():
    """Of the sketch that a model becomes, the model that every switch is on is the model itself."""
    for name in ("tso", "rmo", "ptx-rmo", "rc11"):
        sketch = resolve_sketch(name)
        usual = tuple(hole.usual for hole in sketch.holes if hole.usual is not None)
        (whole,) = sketch.within(0).fillings(sketch.within(0).valid)
        assert whole == usual
        for file in files()[::9]:
            test = parse_litmus(file.read_text(), str(file))
            filled, model = (judge(test, each) for each in (sketch.filled(usual), resolve_model(name)))
            assert filled == model, file.name


def resolve_model(name: str):
    from oracle.consistency import AxiomaticModel, resolve_consistency_models

    (model,) = resolve_consistency_models([name])
    assert isinstance(model, AxiomaticModel)
    return model.model


def test_flags_are_of_the_models_that_allow_what_raises_them():
    text = "acyclic (?po: po) | rf | co | fr as x\nflag ~empty (?race: rfe & (WEAK * WEAK)) as race"
    sketch = parse_sketch(text, "x.cat")
    file = EXAMPLES / "mp-weak.litmus"
    file = file if file.is_file() else files()[0]
    test = parse_litmus(file.read_text(), str(file))
    models = flagging(test, sketch)
    for filling in sketch.fillings(sketch.valid):
        flags = judge(test, sketch.filled(filling, "model")).flags
        assert (sketch.values(filling) in models) is bool(flags), filling


def test_every_shipped_sketch_is_read():
    assert {"cpu", "power", "gpu", "c11"} <= set(shipped_sketches())
    for name in shipped_sketches():
        sketch = resolve_sketch(name)
        assert 5 <= len(sketch.holes) <= 40
        first = next(sketch.fillings(sketch.valid))
        assert sketch.filled(first, "model").checks
