"""Whether the record of a test says what it should."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from corpus.test import Test


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


def differences(expected: Sequence[Test], tests: Iterable[Test]) -> Iterator[str]:
    """A line for each test that should be there and is not, or that is there and should not be or is not as it should
    be. Tests are known by their digests."""
    there: dict[str, Test] = {}
    for test in tests:
        if there.setdefault(test.digest, test) is not test:
            yield f"{test.name}: two tests are one"
    order = [test.digest for test in there.values()]
    for test in expected:
        found = there.pop(test.digest, None)
        if found is None:
            yield f"not in the corpus, found by the search: {test.name}"
        else:
            fields = {name: getattr(test, name) for name in test.__struct_fields__ if name != "verdicts"}
            if line := unlike(found, test.verdicts, fields):
                yield line
    for test in there.values():
        yield f"{test.name}: is not among what was found, or not as it was"
    if not there and order != [test.digest for test in expected]:
        yield "the tests are not in their order"
