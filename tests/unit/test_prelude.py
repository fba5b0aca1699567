"""The prelude: what it may say, what hides it, and that a base of any kind is enough for it."""

from dataclasses import dataclass, field
from pathlib import Path

from litmus_code import program
from refusals import refusal

from oracle.cat.algebra import bits
from oracle.cat.interpreter import Model, PreludeValues, checked_model, prelude
from oracle.cat.syntax import parse_cat, read_cat
from oracle.cat.terms import Call, Definition, Name
from oracle.consistency import load_model
from oracle.executions.events import VOCABULARY
from oracle.executions.judge import judged
from oracle.executions.threads import unroll_threads

ROOT = Path(__file__).parents[2]
PRELUDE = ROOT / "oracle" / "cat" / "prelude.cat"


def names_in(term):
    yield from [term.name] if isinstance(term, Name | Call) else []
    for part in getattr(term, "operands", getattr(term, "arguments", ())):
        yield from names_in(part)


def test_a_line_uses_the_base_and_the_lines_before_it():
    known = {*VOCABULARY.sets, *VOCABULARY.relations, "domain"}
    for statement in read_cat(str(PRELUDE)).statements:
        assert isinstance(statement, Definition) and not statement.recursive
        (binding,) = statement.bindings
        assert set(names_in(binding.body)) <= known | set(binding.parameters), binding.name
        assert binding.name not in known
        known.add(binding.name)


def test_every_line_is_well_typed():
    for name, binding in prelude().items():
        given = ", ".join("R" if parameter == "s" else "po" for parameter in binding.parameters)
        applied = f"{name}({given})" if binding.parameters else name
        checked_model("m", parse_cat(f"empty {applied}", "m.cat"), VOCABULARY)


def test_every_name_is_documented():
    text = (ROOT / "docs" / "consistency.md").read_text(encoding="utf-8")
    words = set(text.replace("`", " ").replace("(", " ").replace(",", " ").split())
    ranges = {f"{a}{b}" for a in "RWM" for b in "RWM"} | {f"{kind}{n}" for kind in ("SC", "SEMSC") for n in range(4)}
    dialects = {tag for tag in VOCABULARY.sets if tag not in words}
    assert set(prelude()) - words - ranges == set()
    assert set(VOCABULARY.relations) <= words
    assert dialects <= ranges | {
        *("AVDEVICE", "VISDEVICE", "SEMAV", "SEMVIS", "GENERIC", "ALIAS", "LOCAL-FENCE", "GLOBAL-FENCE", "IMAGE-FENCE"),
    }


@dataclass
class Two:
    """A base of two events, a write and a read of it, that says no more than it must."""

    relations: dict
    asked: list = field(default_factory=list)
    algebra = bits(1, 2)

    def value(self, name):
        self.asked.append(name)
        sets = {"W": {0: 1}, "R": {1: 1}}
        return sets[name] if name in sets else self.relations.get(name)


RF = ({1: 1}, {})
EMPTY = ({}, {})


def test_any_object_with_an_algebra_and_values_is_a_base():
    base = Two({"rf": RF, "co": EMPTY, "ext": RF})
    (result,) = Model("m", parse_cat("empty rfe", "m.cat")).judge(base)
    assert (result.truth, result.value) == (0, RF)
    assert PreludeValues(base).value("M") == {0: 1, 1: 1}
    assert PreludeValues(base).value("nothing") is None and PreludeValues(base).value("fencerel") is None


def test_a_line_is_read_where_a_model_mentions_it_and_once():
    base = Two({"rf": RF, "co": EMPTY, "ext": RF})
    Model("m", parse_cat("let a = rfe empty rfe acyclic a | rfe", "m.cat")).judge(base)
    assert base.asked == ["rfe", "rf", "ext"]


def test_a_base_may_say_itself_what_the_prelude_says():
    base = Two({"rf": RF, "ext": RF, "rfe": EMPTY})
    (result,) = Model("m", parse_cat("empty rfe", "m.cat")).judge(base)
    assert result.truth == 1


def test_a_model_hides_a_line_from_itself_alone():
    base = Two({"rf": RF, "co": EMPTY, "ext": RF})
    hidden, other = Model("m", parse_cat("let ext = 0 let rf = co empty rf empty rfe", "m.cat")).judge(base)
    assert (hidden.truth, other.truth) == (1, 0)
    assert Model("m", parse_cat("let rfe = co empty rfe", "m.cat")).judge(base)[0].truth == 1


def test_what_a_model_mentions_by_the_prelude():
    model = Model("m", parse_cat("let a = membar.cta empty a", "m.cat"))
    assert all(map(model.mentions, ("membar.cta", "fencerel", "po", "F", "CTA"))) and not model.mentions("GPU")


def test_an_argument_of_a_function_of_the_prelude_that_is_wrong_has_the_place_of_the_argument(tmp_path):
    path = tmp_path / "m.cat"
    path.write_text("let a = po\n  empty WW(W)")
    assert refusal(load_model, str(path)) == f"{path}:2:12: expected a relation, found a set"


def test_a_digest_holds_the_prelude():
    assert load_model("oracle/models/sc.cat").digest != read_cat("oracle/models/sc.cat").digest


def test_a_fence_between_is_the_same_by_either_name():
    test = program("st x 1; cta; ld r1 y | st y 1; gl; ld r1 x", blocks=(0, 1))
    same = "let d = membar.gl \\ (po; [F & SC & GPU]; po) empty d | ((po; [F & SC & GPU]; po) \\ membar.gl)"
    for batch, allowed, _ in judged(test, unroll_threads(test, 2), Model("m", parse_cat(same, "m.cat"))):
        assert allowed == batch.valid
