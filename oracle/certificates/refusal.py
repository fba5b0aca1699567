"""Why a certificate, or a corpus that has one, is not accepted: the error, and what records of tests should say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus.test import Test


@dataclass
class RefusedError(Exception):
    """The refusal of a certificate, with the reason as a line for the user; answered with exit code 1."""

    what: str

    def __str__(self) -> str:
        return self.what


def unlike(test: Test, verdicts: Mapping[str, str], should_be: Mapping[str, object]) -> str:
    """What the record of a test has and should not have, verdicts and then other fields; empty where it is right."""
    for model, verdict in verdicts.items():
        if test.verdicts.get(model) != verdict:
            return f"{test.name}: {verdict} under {model}, where it says {test.verdicts.get(model, 'nothing')}"
    if dict(test.verdicts) != dict(verdicts):
        return f"{test.name}: it has verdicts under other models"
    for field, value in should_be.items():
        if getattr(test, field) != value:
            return f"{test.name}: its {field} is not as it should be"
    return ""


def differences(expected: Sequence[Test], tests: Iterable[Test], file: str) -> Iterator[str]:
    """A line for each test that should be there and is not, or that is there and should not be or is not as it should
    be. Tests are known by their digests, and stand one a line in a file."""
    there: dict[str, tuple[int, Test]] = {}
    for number, test in enumerate(tests, 1):
        if there.setdefault(test.digest, (number, test)) != (number, test):
            yield f"{file}:{number}: {test.name}: two tests are one"
    order = {digest: number for digest, (number, _) in there.items()}
    for test in expected:
        if test.digest not in there:
            yield f"{file}: not in the corpus, found by the search: {test.name}"
        else:
            number, found = there.pop(test.digest)
            should_be = {name: getattr(test, name) for name in test.__struct_fields__ if name != "verdicts"}
            if line := unlike(found, test.verdicts, should_be):
                yield f"{file}:{number}: {line}"
    for number, test in there.values():
        yield f"{file}:{number}: {test.name}: is not among what was found, or not as it was"
    if not there:
        places = [order[test.digest] for test in expected if test.digest in order]
        late = next((after for before, after in pairwise(places) if before > after), None)
        if late is not None:
            yield f"{file}:{late}: the tests are not in their order"
