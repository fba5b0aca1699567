"""Test records and journals give back what went in."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from strategies import MODELS, corpus_tests

from corpus.journal import FoundTest, Journal, finish, read_corpus
from corpus.records import line_of, line_reader, record_reader, test_record


@given(corpus_tests(name="2x4-0001"))
def test_record_round_trip(test):
    line = test_record(test)
    assert b"\n" not in line
    again = record_reader(MODELS)(line)
    assert again == test
    assert list(again.verdicts) == list(test.verdicts)
    assert test_record(again) == line


@given(st.text().filter(lambda text: text.isprintable()), corpus_tests())
def test_any_name_survives(name, test):
    named = replace(test, name=name)
    assert record_reader(MODELS)(test_record(named)).name == name


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.text("xyz", max_size=2), corpus_tests()), max_size=8), st.data())
def test_a_corpus_is_its_tests_sorted_once_however_it_was_written(found, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c"
        Journal.create(path, {"models": MODELS}).close()
        for unit, key, test in data.draw(st.permutations(found)):
            with Journal.resume(path, {"models": MODELS}) as journal:
                journal.append(unit, [FoundTest("p", ((key, test_record(test)),))])
        unfinished = read_corpus(path).tests
        with Journal.resume(path, {"models": MODELS}) as journal:
            assert sum(map(len, journal.units.values())) == len(found)
            finish(journal, {"complete": True}, {})
        tests = read_corpus(path).tests
        assert tests == unfinished
        least: dict[str, str] = {}
        for _, key, test in found:
            least[test.digest] = min(key, least.get(test.digest, key))
        assert [test.digest for test in tests] == sorted(least, key=lambda digest: (least[digest], digest))
        assert len({test.name for test in tests}) == len(tests)


@given(corpus_tests(), st.sampled_from(["", "2x4-0001", 'a"b']))
def test_a_line_is_the_record_by_the_name_that_it_gets(test, name):
    record = test_record(replace(test, name=name))
    line = line_reader(MODELS)(record)
    assert line == line_of(replace(test, name=name))
    assert line.record == record + b"\n"
    assert replace(line, name="x").record == test_record(replace(test, name="x")) + b"\n"
