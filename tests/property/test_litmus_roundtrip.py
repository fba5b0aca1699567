"""What a dialect prints is the same test when it is read, and the same text when it is printed again; what a dialect
cannot say it refuses, and it does not refuse what it was made for."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from litmus_interleavings import TooManyStatesError, verdicts
from litmus_random import ALL, PLAIN, PROFILES, random_test
from litmus_random import DIALECTS as MADE_FOR

from corpus.dialects.registry import DIALECTS, parse_litmus, printed, read_litmus
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))


def round_trip(dialect: Dialect, test: LitmusTest) -> LitmusTest | None:
    """The test as it comes back, None where the dialect refuses it, having said why in one line."""
    try:
        text = printed(test, dialect)
    except InputError as error:
        if "\n" in error.message:
            raise
        return None
    assert text.endswith("\n")
    back = parse_litmus(text)
    assert litmus_digest(back) == litmus_digest(test), text
    assert (back.name, back.description) == (test.name, test.description)
    assert printed(back, dialect) == text
    return back


def test_every_dialect_is_tried():
    assert set(DIALECTS) == set(MADE_FOR)
    assert EXAMPLES


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    ("profile", "least"), [("own", 0.95), ("plain", 0.0), ("all", 0.0)], ids=["own", "plain", "all"]
)
def test_random_tests(name, profile, least):
    count = 200
    rng = Random(f"{name} {profile}")
    features = {"own": MADE_FOR[name], "plain": PLAIN, "all": ALL}[profile]
    tests = [replace(random_test(rng, features), description="by chance") for _ in range(count)]
    held = sum(round_trip(DIALECTS[name], test) is not None for test in tests)
    assert held >= least * count


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_many_random_tests(name, profile):
    rng = Random(f"many {name} {profile.name}")
    for _ in range(1000):
        round_trip(DIALECTS[name], random_test(rng, profile))


@pytest.mark.parametrize("name", DIALECTS)
def test_what_comes_back_does_the_same(name):
    """Apart from what normal forms say: all interleavings of the two end alike."""
    rng, compared = Random(f"same {name}"), 0
    for _ in range(60):
        test = random_test(rng, MADE_FOR[name])
        back = round_trip(DIALECTS[name], test)
        with suppress(TooManyStatesError):
            if back is not None:
                assert verdicts(back) == verdicts(test)
                compared += 1
    assert compared > 40


@pytest.mark.parametrize("name", DIALECTS)
def test_examples(name):
    for path in EXAMPLES:
        round_trip(DIALECTS[name], read_litmus(path))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_said_in_its_own_dialect(path):
    language = path.read_text(encoding="utf-8").split(maxsplit=1)[0]
    (own,) = (dialect for dialect in DIALECTS.values() if dialect.language == language)
    assert round_trip(own, read_litmus(path)) is not None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DIALECTS)
def test_by_way_of_any_other_dialect(name):
    """A test that two dialects can hold goes through both and comes back the same."""
    rng, passed = Random(name), 0
    for _ in range(40):
        test = random_test(rng, rng.choice((MADE_FOR[name], PLAIN)))
        back = round_trip(DIALECTS[name], test)
        for other in DIALECTS.values():
            there = back and round_trip(other, back)
            if there:
                home = round_trip(DIALECTS[name], there)
                assert home is not None and litmus_digest(home) == litmus_digest(test)
                passed += other.name != name
    assert passed >= 5 or name == "vulkan"  # every access has a storage class there, which nobody else has


def test_the_documentation_shows_every_dialect():
    page = Path(__file__).parents[2] / "docs" / "litmus.md"
    blocks = page.read_text(encoding="utf-8").split("```\n")[1::2]
    for dialect in DIALECTS.values():
        (shown,) = (block for block in blocks if block.startswith(f"{dialect.language} "))
        assert round_trip(dialect, parse_litmus(shown)) is not None


@pytest.mark.parametrize("name", DIALECTS)
def test_damaged_files_get_one_line(name):
    """A file that is cut off, or that lacks or repeats a piece, is still a test or an error with its place."""
    rng = Random(f"damage {name}")
    own = [path.read_text(encoding="utf-8") for path in EXAMPLES]
    texts = [text for text in own if text.startswith(f"{DIALECTS[name].language} ")]
    texts += [DIALECTS[name].print(test) for _ in range(30) if (test := held(rng, name))]
    errors = [(text, error) for _ in range(300) if (error := error_of(text := damaged(rng, rng.choice(texts))))]
    assert len(errors) > 150
    for text, error in errors:
        assert "\n" not in str(error), text
        assert error.line is not None and 1 <= error.line <= text.count("\n") + 1, (str(error), text)


def held(rng: Random, name: str) -> LitmusTest | None:
    test = random_test(rng, MADE_FOR[name])
    return round_trip(DIALECTS[name], test) and test


def damaged(rng: Random, text: str) -> str:
    first, last = sorted(rng.choices(range(len(text) + 1), k=2))
    last = min(last, first + rng.choice((1, 3, 30)))
    stranger = rng.choice(["", "", "{", "}", ";", "|", ",", "x", "9" * 20, "-1", "P7:", "r1", "(", "\0", "é", "@", '"'])
    return rng.choice((text[:first], text[:first] + stranger + text[last:], text[:last] + text[first:]))


def error_of(text: str) -> InputError | None:
    try:
        parse_litmus(text, "t.litmus")
    except InputError as error:
        return error
    return None
