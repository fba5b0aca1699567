"""``synth select`` on suites that ``synth progress`` makes."""

import json
from collections import Counter
from itertools import combinations, combinations_with_replacement

import pytest
from commands import synth
from msgspec.structs import replace

from corpus.journal import read_corpus
from corpus.suite import write_corpus
from oracle.progress.models import MODELS

NEVER = {("unfair-weak", "unfair-strong")}
TWO_THREADS = NEVER | {("hsa+obe-weak", "lobe-weak"), ("hsa+obe-strong", "lobe-strong")}


@pytest.fixture
def suite(progress_suite):
    return progress_suite


def selected(*arguments):
    result = synth("select", *arguments, "--separate-models", "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def separates(verdicts, a, b):
    return verdicts[a] != verdicts[b]


def separated(tests):
    """How many of the tests separate each pair."""
    pairs = dict.fromkeys(combinations(MODELS, 2), 0)
    vectors = Counter(tuple(test.verdicts[model] for model in MODELS) for test in tests)
    for vector, count in vectors.items():
        verdicts = dict(zip(MODELS, vector, strict=True))
        for pair in pairs:
            pairs[pair] += count * separates(verdicts, *pair)
    return pairs


@pytest.mark.parametrize("each", [1, 2, 3])
@pytest.mark.parametrize("which", ["--all", "--minimal"])
@pytest.mark.parametrize("bound", ["2x2", "2x3", "3x3", "2x4"])
def test_every_pair_that_the_corpus_separates_is_separated(suite, tmp_path, bound, which, each):
    path = suite(bound, which)
    assert synth("select", path, "--separate-models", "--each", each, "-o", tmp_path / "few").exit_code == 0
    before, after = read_corpus(path), read_corpus(tmp_path / "few")
    asked = {pair: min(each, tests) for pair, tests in separated(before.tests).items()}
    got = separated(after.tests)
    assert all(got[pair] >= tests for pair, tests in asked.items())
    assert set(after.tests[0].verdicts) == set(MODELS)
    records = {test.name: test for test in before.tests}
    assert [records[test.name] for test in after.tests] == after.tests


@pytest.mark.parametrize("each", [1, 2])
@pytest.mark.parametrize("bound", ["2x2", "2x3", "3x3"])
def test_no_smaller_choice_does(suite, bound, each):
    tests = read_corpus(suite(bound, "--all")).tests
    chosen = len(selected(suite(bound, "--all"), "--each", each)["tests"])
    asked = {pair: min(each, number) for pair, number in separated(tests).items() if number}
    kinds = Counter(tuple(test.verdicts[model] for model in MODELS) for test in tests)
    pairs_of = {
        kind: [pair for pair in asked if separates(dict(zip(MODELS, kind, strict=True)), *pair)] for kind in kinds
    }
    for fewer in combinations_with_replacement(kinds, chosen - 1):
        if all(number <= kinds[kind] for kind, number in Counter(fewer).items()):
            got = Counter(pair for kind in fewer for pair in pairs_of[kind])
            assert any(got[pair] < number for pair, number in asked.items())


@pytest.mark.parametrize(("bound", "count"), [("2x2", 3), ("2x3", 4), ("3x3", 4), ("2x4", 4)])
def test_a_handful_does(suite, bound, count):
    assert len(selected(suite(bound, "--all"))["tests"]) == count


def test_pairs_that_nothing_separates_are_listed(suite):
    def unseparated(path):
        return {tuple(pair["models"]) for pair in selected(path)["pairs"] if not pair["tests"]}

    assert unseparated(suite("2x3", "--all")) == TWO_THREADS
    assert unseparated(suite("3x3", "--all")) >= NEVER
    assert not (TWO_THREADS - NEVER) & unseparated(suite("3x3", "--all"))
    shown = synth("select", suite("2x3", "--all"), "--separate-models").stdout
    assert "4 of 162 tests separate 63 of 66 pairs of models\n" in shown
    assert "none of the corpus's tests: unfair-weak/unfair-strong  hsa+obe-weak/lobe-weak" in shown


def test_json_and_table_say_what_is_chosen(suite):
    path = suite("2x2", "--all")
    answer = selected(path)
    tests = {test.name: test for test in read_corpus(path).tests}
    for chosen in answer["tests"]:
        test = tests[chosen["name"]]
        assert chosen["text"] == test.text and chosen["digest"] == test.digest
        assert all(test.verdicts[model] == "TERMINATES" for model in chosen["terminates"])
        assert all(test.verdicts[model] == "MAY_HANG" for model in chosen["may_hang"])
        assert sorted(chosen["terminates"] + chosen["may_hang"]) == sorted(MODELS)
    for pair in answer["pairs"]:
        assert all(separates(tests[name].verdicts, *pair["models"]) for name in pair["tests"])
    shown = synth("select", path, "--separate-models", "--each", 9, "-m", "hsa", "-m", "obe").stdout
    assert "Separated by 2 of the corpus's tests: hsa-weak/hsa-strong  obe-weak/obe-strong" in shown
    assert "0: if (Exch(Mem[0],0) == 1) goto 0;" in shown and "hsa-strong obe-strong" in shown


def test_only_some_models(suite):
    path = suite("2x3", "--all")
    answer = selected(path, "--model", "obe", "--model", "hsa-strong")
    assert answer["models"] == ["hsa-strong", "obe-weak", "obe-strong"]
    assert [pair["models"] for pair in answer["pairs"]] == [list(pair) for pair in combinations(answer["models"], 2)]
    assert len(answer["tests"]) == 2


def test_the_same_command_gives_the_same_bytes(suite, tmp_path):
    for name in ("a", "b"):
        command = ["select", suite("3x3", "--all"), "--separate-models", "--each", 2, "-o", tmp_path / name]
        assert synth(*command).exit_code == 0
    files = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert files == ["labels.csv", "manifest.json", "tests.jsonl", "times.json"]
    assert [(tmp_path / "a" / name).read_bytes() for name in files] == [
        (tmp_path / "b" / name).read_bytes() for name in files
    ]


def test_the_manifest_says_from_what_and_how(suite, tmp_path):
    path = suite("2x2", "--all")
    synth("select", path, "--separate-models", "--each", 2, "-m", "hsa", "-m", "obe", "-o", tmp_path / "few")
    source, manifest = read_corpus(path).manifest, read_corpus(tmp_path / "few").manifest
    models = ["hsa-weak", "hsa-strong", "obe-weak", "obe-strong"]
    assert manifest["complete"] is True and manifest["models"] == source["models"]
    assert manifest["request"] == {
        "kind": "select",
        "separate_models": models,
        "each": 2,
        "from": {"tests": 8, "request": source["request"]},
    }


def test_a_selection_of_an_incomplete_corpus_says_so(suite, tmp_path):
    tests = read_corpus(suite("2x2", "--all")).tests
    (tmp_path / "part").mkdir()
    write_corpus(tmp_path / "part", tests[:5], {"complete": False, "models": list(MODELS)})
    shown = synth("select", tmp_path / "part", "--separate-models", "-o", tmp_path / "few").stdout
    assert "pairs of models; the corpus is not complete" in shown
    assert read_corpus(tmp_path / "few").manifest["complete"] is False


def test_small_corpora(suite, tmp_path):
    tests = read_corpus(suite("2x2", "--all")).tests
    for name, few in {"empty": [], "one": tests[:1], "unlabelled": [replace(tests[0], verdicts={})]}.items():
        (tmp_path / name).mkdir()
        write_corpus(tmp_path / name, few, {"complete": True, "models": [] if name == "unlabelled" else list(MODELS)})
    assert selected(tmp_path / "empty")["tests"] == []
    assert "0 of 0 tests separate 0 of 66 pairs" in synth("select", tmp_path / "empty", "--separate-models").stdout
    assert [test["name"] for test in selected(tmp_path / "one", "--each", 3)["tests"]] == [tests[0].name]
    refused = synth("select", tmp_path / "unlabelled", "--separate-models")
    assert refused.exit_code == 2 and "has no verdicts of two models to tell apart" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--separate-models", "--model", "obee"], "no verdicts of a model 'obee'; there are unfair-weak,"),
        (["--separate-models", "--model", "obe-weak"], "give --model for two models or more"),
        (["--separate-models", "--each", "0"], "0 is not in the range x>=1"),
        ([], "give either --separate-models or --score"),
    ],
)
def test_misuse(suite, arguments, message):
    refused = synth("select", suite("2x2", "--all"), *arguments)
    assert refused.exit_code == 2 and refused.stdout == "" and message in refused.stderr


def test_a_folder_that_exists_is_left_alone(suite, tmp_path):
    (tmp_path / "mine").write_text("...")
    for output in (tmp_path, tmp_path / "mine", suite("2x2", "--all")):
        refused = synth("select", suite("2x2", "--all"), "--separate-models", "-o", output)
        assert refused.exit_code == 2 and refused.stdout == ""
        assert "the output exists and is not an empty folder" in refused.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]
