"""The suite of tests to which imported results belong. A test is found by name, and by digest where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from backends.shared.files import file_stem
from backends.shared.layout import outcome_terms
from backends.shared.results import Entry, MemoryTrial
from corpus.errors import InputError
from corpus.journal import read_corpus
from corpus.links import LINKS, MUTANTS, read_links
from corpus.litmus.condition import spell
from corpus.litmus.test import LitmusTest
from corpus.test import Test
from synth.families.interface import Family, family
from synth.inputs import PROGRESS, Input, readable


def with_mutants(tests: Sequence[Input]) -> list[Input]:
    """Return the tests, followed by their mutants where their suite has any: ``synth run --mutants`` runs both.

    Raises ``InputError`` where mutants cannot be read.
    """
    names: dict[Path, set[str]] = {}
    for test in tests:
        if test.record is not None and (test.path / MUTANTS / LINKS).exists():
            names.setdefault(test.path, set()).add(test.name)
    mutants = []
    for path, chosen in names.items():
        own = {link.mutant for link in read_links(path) if link.test in chosen}
        every = read_corpus(path / MUTANTS)
        mutants += [Input(test.name, test.name, every.path, test) for test in every.tests if test.name in own]
    return [*tests, *mutants]


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of a suite by name, by the names of their files, and by digest. ``records`` has each by its input;
    ``family`` is theirs.
    """

    family: Family
    records: Mapping[Input, Test]
    by_name: Mapping[str, list[Input]] = field(default_factory=dict)
    by_digest: Mapping[str, list[Input]] = field(default_factory=dict)

    @classmethod
    def of(cls, inputs: Iterable[Input], kind: Family) -> tuple[Suite, list[InputError]]:
        """Return the suite of these tests, and the errors of those that cannot be read.

        Raises ``InputError`` where none can be read.
        """
        records, wrong = readable(list(inputs), kind.record)
        names: dict[str, list[Input]] = {}
        digests: dict[str, list[Input]] = {}
        for given, record in records.items():
            for name in dict.fromkeys((record.name, given.name, file_stem(record.name))):
                names.setdefault(name, []).append(given)
            digests.setdefault(record.digest, []).append(given)
        return cls(kind, records, names, digests), wrong

    def litmus(self, name: str) -> LitmusTest:
        """Return the litmus test of that name. Raises ``InputError`` where there is none, or more than one."""
        return self._named(name).litmus()

    def progress(self, name: str) -> Test:
        """Return the progress test of that name, or of files of that name.

        Raises ``InputError`` where there is none, or more than one, and where the tests are of the other family.
        """
        if self.family is not family(PROGRESS):
            raise InputError("expected a suite of progress tests")
        return self.records[self._named(name)]

    def _named(self, name: str) -> Input:
        found = self.by_name.get(name, [])
        if not found:
            raise InputError("the suite has no test of this name")
        if len({self.records[given].digest for given in found}) > 1:
            raise InputError(f"the suite has {len(found)} tests of this name")
        return found[0]

    def problem(self, entry: Entry) -> str:
        """Return why a result belongs to no test of the suite; empty where it belongs to one."""
        same = self.by_digest.get(entry.digest, [])
        if not same and entry.test in self.by_name:
            return f"the suite has another test of this name: its digest is not {entry.digest[:16]}"
        if not same:
            return "the suite has no such test"
        if not isinstance(entry, MemoryTrial):
            return ""
        wanted: tuple[str, ...] = ()
        for given in same:  # tests that differ in names of registers alone share a digest
            try:
                wanted = tuple(spell(term) for term in outcome_terms(given.litmus()))
            except InputError as error:
                return error.message
            if sorted(wanted) == sorted(entry.terms):
                return ""
        return f"its outcomes are of {', '.join(entry.terms) or 'nothing'}, the suite's of {', '.join(wanted)}"
