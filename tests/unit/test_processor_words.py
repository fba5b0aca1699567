"""The words of processors: in vocabularies, in texts of executions and of tests, and what models read of them."""

from pathlib import Path

import pytest

from corpus.dialects.registry import DIALECTS, parse_litmus, printed, runners, translate
from corpus.errors import InputError
from corpus.executions.execution import Execution, OpKind, Step
from corpus.executions.litmus import litmus_test
from corpus.executions.text import execution_text, parse_execution
from corpus.executions.translation import MappedOp, Translation, read_mapping
from corpus.executions.vocabulary import spelled_mode, vocabulary
from corpus.litmus import processors
from corpus.litmus.describe import describe
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import Order, Place
from oracle.consistency import default_names, resolve_consistency_models
from oracle.executions.events import DIALECT_TAGS, fence_tags
from oracle.executions.vocabulary import dialect_of, vocabulary_of
from oracle.executions.witness import explain_memory
from synth.memory.explanation import event_text
from synth.memory.translating import checked, weakened

KINDS = {OpKind.READ: Load, OpKind.WRITE: Store, OpKind.UPDATE: Rmw, OpKind.FENCE: Fence}


def models(*names):
    return [model.model for model in resolve_consistency_models(names)]


def one_of_each(name):
    """An execution of one thread with each instruction that a processor has."""
    words = vocabulary(name)
    steps = tuple(
        Step(kind, None if kind is OpKind.FENCE else 0, mode) for kind, modes in words.modes.items() for mode in modes
    )
    nothing = tuple(None for _ in steps)
    return Execution((steps,), (Place(),), (Region.GLOBAL,), (), nothing, frozenset(), (None,))


@pytest.mark.parametrize("name", processors.PROCESSORS)
def test_words_are_read_back_from_executions_and_from_tests(name):
    execution = one_of_each(name)
    assert parse_execution(execution_text(execution)) == execution
    test = litmus_test(execution, "each", observed=False)
    assert parse_litmus(translate(test, DIALECTS["lisa"])) == test
    words = {word for rows in processors.PROCESSORS[name].values() for word in rows}
    said = "\n".join(describe(ins) for ins in test.threads[0].instructions)
    assert all(word in said and word in printed(test, DIALECTS["lisa"]) for word in words)


@pytest.mark.parametrize("name", processors.PROCESSORS)
def test_a_word_of_a_kind_is_of_one_instruction(name):
    spelled = [spelled_mode(kind, mode) for kind, modes in vocabulary(name).modes.items() for mode in modes]
    assert len(spelled) == len(set(spelled))
    for kind, instruction in KINDS.items():
        for word, order in processors.PROCESSORS[name].get(instruction, {}).items():
            mode = processors.mode_of(instruction, word)
            assert (mode.order, processors.word_of(mode), spelled_mode(kind, mode)) == (
                order,
                word,
                f"{'rmw' if kind is OpKind.UPDATE else kind.value}.{word}",
            )
            others = [rows.get(instruction, {}) for each, rows in processors.PROCESSORS.items() if each != name]
            assert all(word not in rows for rows in others), "two processors would have one word"


def test_a_weaker_fence_is_a_word_of_the_same_processor():
    assert processors.WEAKER.keys() <= processors.ALL_WORDS
    for fences in (rows[Fence] for rows in processors.PROCESSORS.values()):
        for word in fences:
            weaker = processors.WEAKER.get(word, ())
            assert set(weaker) <= set(fences) - {word}


@pytest.mark.parametrize(
    ("name", "word", "lower"),
    [
        ("power", "F.sync", ["F.lwsync"]),
        ("power", "F.lwsync", ["F.eieio"]),
        ("power", "F.isync", []),
        ("armv8", "F.dmb.sy", ["F.dmb.ld", "F.dmb.st"]),
        ("armv8", "R.ldar", ["R.ldapr"]),
        ("armv8", "R.ldapr", ["R"]),
        ("armv8", "W.stlr", ["W"]),
        ("armv8", "rmw.al", ["rmw.a", "rmw.l"]),
        ("riscv", "F.fence.tso", ["F.fence.r.rw", "F.fence.rw.w"]),
        ("riscv", "F.fence.w.w", []),
        ("riscv", "rmw.aq", ["rmw.relaxed.gpu"]),
    ],
)
def test_the_next_weaker_instructions(name, word, lower):
    words = vocabulary(name)
    every = {spelled_mode(kind, mode): (kind, mode) for kind, modes in words.modes.items() for mode in modes}
    kind, mode = every[word]
    assert [spelled_mode(kind, way) for way in words.lower_orders(kind, mode)] == lower


def test_models_of_one_processor_have_its_words_and_those_of_several_what_all_have():
    assert [dialect_of(models(name)) for name in processors.PROCESSORS] == list(processors.PROCESSORS)
    assert dialect_of(models("power", "tso")) == "power"
    assert dialect_of(models("power", "armv8")) == "cpu"
    assert dialect_of(models("power", "armv8", "sra")) == "cpu"
    assert dialect_of(models("x86", "rc11")) == "c"


def test_a_model_tells_the_words_of_its_processor_apart():
    for name in processors.PROCESSORS:
        (model,) = models(name)
        assert vocabulary_of([model]).modes == vocabulary(name).modes


def test_words_without_an_order_are_sets():
    assert {word.upper() for word in processors.UNORDERED} <= set(DIALECT_TAGS)
    assert "DMB.ST" in fence_tags(processors.mode_of(Fence, "dmb.st"))
    assert {"SC", "F"} <= fence_tags(processors.mode_of(Fence, "sync"))


def test_models_of_processors_take_part_where_they_are_named():
    assert not set(default_names()) & set(processors.PROCESSORS)


def test_a_rule_with_a_branch_is_spelled_as_it_is_written():
    (read, fence) = (processors.mode_of(Load, "ldar"), processors.mode_of(Fence, "isync"))
    rules = Translation({(OpKind.READ, read): MappedOp((), read, (fence,), branches=True)})
    assert rules.spelled == ("R.ldar -> R.ldar; ctrl; F.isync",)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("f[ldar]", "6:4: f has no annotation ldar here; a bell file of your own may declare it"),
        ("f[sync,gpu]", "6:9: f has no annotation gpu here"),
        ("w[ldapr] x 1", "6:4: w has no annotation ldapr here; a bell file of your own may declare it"),
    ],
)
def test_words_of_other_instructions_are_refused(code, message):
    with pytest.raises(InputError, match=message.replace("[", r"\[")) as error:
        parse_litmus(f"LISA t\n{{\nx=0;\n}}\n P0 ;\n {code} ;\nexists (x=0)\n", "t")
    assert "t:" in str(error.value)


def test_herd7_is_not_given_words_that_its_lisa_lacks():
    _, runner = runners()["herd-lisa"]
    with pytest.raises(InputError, match="herd7 has 'sync' in the assembly of its processor, and not in LISA"):
        runner.check(parse_litmus("LISA t\n{\nx=0;\n}\n P0 ;\n f[sync] ;\nexists (x=0)\n"))


def test_a_fence_of_an_order_is_that_of_c():
    assert {processors.mode_of(Fence, word).order for word in ("sync", "dmb.sy", "mfence", "fence.rw.rw")} == {Order.SC}


def test_what_a_mapping_to_power_can_do_without_is_asked_step_by_step():
    file = Path(__file__).parents[2] / "examples" / "mappings" / "rc11-to-power-leading.map"
    source, target = resolve_consistency_models(["rc11", "power"])
    check = checked(read_mapping(file.read_text(encoding="utf-8"), str(file)), source, target, (2, 3))
    steps = {said: weaker.translation.targets for said, weaker in weakened(check)}
    assert {
        "R.sc: F.lwsync for F.sync",
        "R.sc: without F.sync",
        "R.sc: without F.isync",
        "R.sc: without ctrl",
        "R.relaxed: without ctrl",
        "W.release: F.eieio for F.lwsync",
    } <= steps.keys()
    (read,) = (choice for choice in check.translation.targets if spelled_mode(*choice) == "R.sc")
    assert not steps["R.sc: without ctrl"][read].branches
    assert steps["R.sc: without F.isync"][read].branches


def test_events_are_told_by_the_words_of_the_processor():
    code = ["r[ldar] r0 x", "f[dmb.ld]", "w[stlr] x 1", "f[isb]", "rmw[al] r1 2 x"]
    test = parse_litmus("LISA t\n{\nx=0;\n}\n P0 ;\n" + "".join(f" {each} ;\n" for each in code) + "exists (x=2)\n")
    (model,) = resolve_consistency_models(["armv8"])
    execution = explain_memory(test, model.model).witness
    told = [event_text(execution, number).split()[0] for number in range(len(execution.events))]
    assert {"R.ldar", "F.dmb.ld", "W.stlr", "F.isb", "R.al", "W.al"} <= {*told}


def test_no_instruction_has_more_next_weaker_ways_than_formulas_relax():
    """``constraints.programs.relaxations`` has three."""
    for name in processors.PROCESSORS:
        words = vocabulary(name)
        counts = [len(words.lower_orders(kind, mode)) for kind, modes in words.modes.items() for mode in modes]
        assert max(counts) <= 3
