"""A suite in one piece: what the page is told, and the command that writes it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from commands import synth

from backends.registry import BACKENDS
from backends.shared.bundle import Bundle
from backends.shared.profiles import Profile, parse_profile, print_profile
from backends.web.page import SCRIPTS, page_data, page_files
from oracle.consistency import resolve_consistency_models
from synth.inputs import expand
from synth.memory.compilation import PLAIN, memory_bundle

EXAMPLES = Path(__file__).parents[2] / "examples"
WEB = BACKENDS["web"]


def compiled(*words: str) -> Result:
    return synth("compile", *words)


def told(page: Path) -> dict[str, Any]:
    """The data of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="suite">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def programs(data: dict[str, Any]) -> list[list[str | None]]:
    """The programs of each test as the page puts them together."""

    def text(pieces: list[int] | None) -> str | None:
        lines = [data["lines"][line] for piece in pieces or [] for line in data["pieces"][piece]]
        return "".join(f"{line}\n" for line in lines) or None

    return [[text(pieces) for pieces in test["programs"]] for test in data["tests"]]


def bundle_of(*paths: str, models: tuple[str, ...] = ("sc", "webgpu")) -> Bundle:
    bundle, all_read = memory_bundle(expand(paths), WEB, PLAIN, 64, resolve_consistency_models(models), 20)
    assert all_read
    return bundle


def test_the_page_has_every_program_whole() -> None:
    bundle = bundle_of(str(EXAMPLES / "memory" / "webgpu"))
    data = page_data(bundle)
    assert programs(data) == [list(test.programs) for test in bundle.tests]
    assert len(bundle.tests) == 23 and len(bundle.refused) == 3
    texts = [text for test in bundle.tests for text in test.programs if text is not None]
    assert len(json.dumps(data)) < sum(map(len, texts)) / 3


def test_programs_say_which_trial_they_are(progress_suite: Callable[[str, str], Path], tmp_path: Path) -> None:
    done = compiled(progress_suite("2x2", "--all"), "--backend", "web", "-o", tmp_path)
    assert done.exit_code == 0 and done.output == f"8 tests in {tmp_path / 'index.html'}\n"
    data = told(tmp_path / "index.html")
    trials = [json.loads(text.splitlines()[-1].removeprefix("// trial ")) for text in programs(data)[0]]
    assert [(trial["mapping"], trial["instances"]) for trial in trials] == [
        ("plain", 1),
        *(("round-robin", size) for size in (16, 1024, 32767)),
        *(("chunked", size) for size in (16, 1024, 32767)),
    ]
    assert {(trial["test"], trial["digest"], trial["backend"]) for trial in trials} == {
        (data["tests"][0]["name"], data["tests"][0]["digest"], "web")
    }


def test_what_models_say_is_told_in_numbers() -> None:
    bundle = bundle_of(str(EXAMPLES / "memory" / "webgpu" / "sb.litmus"))
    (test,) = page_data(bundle)["tests"]
    assert test["outcomes"] == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert test["asked"] == [0]
    assert test["allowed"] == [[0, [1, 2, 3]], [1, [0, 1, 2, 3]]]


def test_a_page_is_the_same_each_time_and_asks_for_nothing() -> None:
    bundle = bundle_of(str(EXAMPLES / "memory" / "webgpu" / "mp.litmus"))
    (page,) = page_files(bundle).values()
    assert page_files(bundle) == {"index.html": page}
    assert "default-src 'none'" in page and "http:" not in page and "https:" not in page
    assert page.count("<script") == 2 and page.count("</script>") == 2


def test_scripts_set_text_and_never_html() -> None:
    for name in SCRIPTS:
        text = (Path(__file__).parents[2] / "backends" / "web" / name).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)


def test_profiles_are_ways_to_launch(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('name = "mine"\nstress = 2\nslots = 64\n')
    test = EXAMPLES / "memory" / "webgpu" / "mp.litmus"
    words = ["--backend", "web", "--profile", tmp_path / "mine.toml", "--random", "2", "-m", "sc", "--instances", "64"]
    assert compiled(test, *words, "-o", tmp_path / "site").exit_code == 0
    data = told(tmp_path / "site" / "index.html")
    assert data["models"] == ["sc"]
    labels = list(dict.fromkeys(way["profile"] for way in data["ways"]))
    assert [label.partition("#")[0] for label in labels] == ["", "mine"]
    label = labels[1]
    assert data["choices"][1] == {
        "name": "incantations",
        "values": ["none", "memory stress", label],
        "chosen": ["none"],
    }


def test_what_random_profiles_are_drawn_from_may_be_had_of_profiles(tmp_path: Path) -> None:
    assert compiled(EXAMPLES / "memory" / "webgpu" / "mp.litmus", "--backend", "web", "-o", tmp_path).exit_code == 0
    draws = told(tmp_path / "index.html")["draws"]
    assert draws["count"] == 0 and 0 < draws["share"] < 1
    assert {"name", "instances", *(each["name"] for each in draws["parameters"])} == {*Profile.__match_args__}
    for each in draws["parameters"]:
        for value in each["values"]:
            text = str(value).lower()
            assert re.fullmatch(each["pattern"], text), each
            assert parse_profile(print_profile(replace(Profile("p"), **{each["name"]: value})))
        for wrong in ("", "-1", "1.5", "maybe", "x y", "ld lt"):
            assert not re.fullmatch(each["pattern"], wrong), each


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--backend", "web", "--cpu"], "--cpu is not for web"),
        (["--backend", "wgsl", "--model", "sc"], "--model is not for wgsl"),
        (["--backend", "wgsl", "--profile", "x.toml", "--profile", "y.toml"], "--profile: wgsl takes one"),
        (["--backend", "wgsl", "--profile", "x.toml"], "x.toml"),
        (["--backend", "wgsl", "--random", "3"], "--random is not for wgsl"),
        (["--backend", "web", "--profile", "x.toml"], "x.toml"),
        (["--backend", "web", "--model", "scc"], "scc"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(words: list[str], expected: str, tmp_path: Path) -> None:
    done = synth("compile", EXAMPLES / "memory" / "webgpu" / "mp.litmus", *words, "-o", tmp_path / "site")
    assert done.exit_code == 2 and expected in done.output


def test_tests_that_wgsl_cannot_say_are_named(tmp_path: Path) -> None:
    done = compiled(EXAMPLES / "memory" / "c-sb-sc.litmus", "--backend", "web", "-o", tmp_path / "site")
    assert done.exit_code == 2 and "can say none of the 1 tests" in done.output
    done = compiled(EXAMPLES / "memory" / "webgpu", "--backend", "web", "-m", "sc", "-o", tmp_path / "site")
    assert done.exit_code == 0 and "23 of 26 tests" in done.output
    assert len(told(tmp_path / "site" / "index.html")["refused"]) == 3
