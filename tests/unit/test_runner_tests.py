"""Tests as JSON for runners: against the schema, back again, the same bytes; and programs with sizes and bindings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import synth
from jsonschema import Draft202012Validator
from refusals import refusal

import corpus
from backends.glsl import host as glsl_host
from backends.glsl.memory import GlslKernel
from backends.registry import BACKENDS
from backends.wgsl import host as wgsl_host
from backends.wgsl.memory import WgslKernel
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Instruction
from corpus.progress.text import parse_axb
from corpus.runner_tests import CODING, SCHEMA, of_litmus, parse_runner_test, print_runner_test, schema

EXAMPLES = Path(__file__).parents[2] / "examples"
LITMUS = sorted(EXAMPLES.rglob("*.litmus"))
VALID = Draft202012Validator(json.loads(schema()))


def test_the_schema_is_one_and_every_instruction_has_a_kind(request):
    Draft202012Validator.check_schema(json.loads(schema()))
    installed = Path(corpus.__path__[0]) / SCHEMA
    if request.config.getoption("--promote"):
        installed.write_text(schema(), encoding="utf-8")
    assert installed.read_text(encoding="utf-8") == schema(), "pytest --promote writes it anew"
    kinds = [CODING.kinds[each] for each in Instruction.__args__]
    assert len(set(CODING.kinds.values())) == len(CODING.kinds) and len(kinds) == 11


@pytest.mark.one_in(5)
@pytest.mark.parametrize("path", LITMUS, ids=lambda path: path.stem)
def test_every_litmus_test_of_the_examples_satisfies_the_schema_and_comes_back(path):
    text = path.read_text(encoding="utf-8")
    test = of_litmus(path.stem, parse_litmus(text, str(path)), text, {"sc": "ALLOWED"})
    printed = print_runner_test(test)
    VALID.validate(json.loads(printed))
    assert parse_runner_test(printed) == test


def test_both_families_are_exported_with_their_schema_and_the_same_bytes(tmp_path, golden):
    suite = tmp_path / "suite"
    assert synth("progress", "-t", 2, "-n", 2, "-o", suite).exit_code == 0
    memory = (EXAMPLES / "memory" / "mp-acq-rel.litmus", EXAMPLES / "memory" / "webgpu" / "both-barriers.litmus")
    for name, given in {"p": [suite], "m": memory}.items():
        for copy in "12":
            done = synth("export", *given, "--to", "json", "-o", tmp_path / f"{name}{copy}")
            assert done.exit_code == 0, done.output
        one, two = ({file.name: file.read_bytes() for file in (tmp_path / f"{name}{copy}").iterdir()} for copy in "12")
        assert one == two and one.pop(SCHEMA) == schema().encode() and one
        for content in one.values():
            VALID.validate(json.loads(content))
            assert print_runner_test(parse_runner_test(content.decode())).encode() == content
    golden("json/mp-acq-rel.json", (tmp_path / "m1" / "mp-acq-rel.json").read_text(encoding="utf-8"))
    for record in map(json.loads, (suite / "tests.jsonl").read_text().splitlines()):
        exported = parse_runner_test((tmp_path / "p1" / f"{record['name']}.json").read_text())
        assert (exported.digest, exported.test) == (record["digest"], parse_axb(record["text"]))
        assert exported.verdicts["fair-weak"] in ("TERMINATES", "MAY_HANG")


def test_what_is_no_test_is_left_out_and_told(tmp_path):
    (tmp_path / "bad.litmus").write_text("PTX bad\n{}\n")
    good = EXAMPLES / "memory" / "mp-acq-rel.litmus"
    done = synth("export", good, tmp_path / "bad.litmus", "--to", "json", "-o", tmp_path / "d")
    assert done.exit_code == 2 and "bad.litmus:" in done.stderr
    assert sorted(file.name for file in (tmp_path / "d").iterdir()) == ["mp-acq-rel.json", SCHEMA]
    assert synth("export", good, "--to", "json", "--drop", "cache", "-o", tmp_path / "e").exit_code == 2


@pytest.mark.parametrize("backend", sorted(name for name, each in BACKENDS.items() if each.bundle is None))
@pytest.mark.parametrize("given", ["memory/mp-acq-rel.litmus", "progress/mutex.axb"])
def test_a_program_has_its_test_beside_it(tmp_path, backend, given):
    relaxed = backend in ("metal", "wgsl") and given.endswith(".litmus")  # what these can say
    source = EXAMPLES / ("memory/mp-relaxed.litmus" if relaxed else given)
    done = synth("compile", source, "--backend", backend, "--json", "-o", tmp_path / "d")
    assert done.exit_code == 0, done.output
    (made,) = (file for file in (tmp_path / "d").glob("*.json") if file.name != SCHEMA)
    VALID.validate(json.loads(made.read_text()))
    test = parse_runner_test(made.read_text())
    assert test.compiled is not None and test.compiled.backend == backend
    assert test.compiled.text == (tmp_path / "d" / test.compiled.file).read_text()
    assert made.stem == test.compiled.file.removesuffix(BACKENDS[backend].suffix)
    assert test.compiled.sizes["THREADS"] == 2 and test.compiled.sizes["INSTANCES"] >= 1
    for binding in test.compiled.bindings:
        assert binding.words in test.compiled.sizes.values()
    plain = synth("compile", source, "--backend", backend, "-o", tmp_path / "plain")
    assert plain.exit_code == 0 and not list((tmp_path / "plain").glob("*.json"))
    assert (tmp_path / "plain" / test.compiled.file).read_text() == test.compiled.text


def test_bindings_are_those_that_hosts_make():
    assert tuple(GlslKernel.buffers.values()) == glsl_host.BUFFERS
    assert tuple(WgslKernel.buffers.values()) == wgsl_host.BINDINGS


def test_a_page_has_no_objects(tmp_path):
    done = synth("compile", EXAMPLES / "progress" / "mutex.axb", "--backend", "web", "--json", "-o", tmp_path / "d")
    assert done.exit_code == 2 and "--json is not for web" in done.stderr


MP = json.loads(
    print_runner_test(
        of_litmus("mp", parse_litmus((EXAMPLES / "memory" / "mp-acq-rel.litmus").read_text()), "text", {})
    )
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda test: test.update(format=2), "t.json: format 2: this synth reads 1"),
        (lambda test: test.pop("name"), "t.json: the object: name is missing"),
        (lambda test: test.update(more=1), "t.json: the object: no field 'more' is known there"),
        (lambda test: test["test"].update(kind="cat"), "t.json: test: expected a kind, litmus or axb, found 'cat'"),
        (
            lambda test: test["test"]["threads"][0]["instructions"][0].update(kind="jump"),
            "t.json: test.threads[0].instructions[0]: expected a kind, load or store or rmw",
        ),
        (lambda test: test["test"].update(threads={}), "t.json: test.threads: expected an array, found '{}'"),
        (
            lambda test: test["test"]["condition"].update(quantifier="some"),
            "t.json: test.condition.quantifier: expected exists or ~exists or forall, found 'some'",
        ),
        (
            lambda test: test["test"]["threads"][0]["instructions"][0].update(value=True),
            "t.json: test.threads[0].instructions[0].value: expected integer or register or location, found 'True'",
        ),
    ],
)
def test_an_object_that_is_no_test_is_refused_with_the_place(change, message):
    test = json.loads(json.dumps(MP))
    change(test)
    assert refusal(parse_runner_test, json.dumps(test), "t.json").startswith(message)


@pytest.mark.parametrize("text", ["", "[", "[]", "1", "null", "[" * 100_000])
def test_what_is_no_object_is_refused(text):
    with pytest.raises(InputError):
        parse_runner_test(text)
