"""The summary of a run: hangs against verdicts."""

from __future__ import annotations

from backends.shared.results import ProgressResult
from synth.progress.conformance import ModelSummary, by_mapping, by_model


def result(test: str, mapping: str, outcomes: str) -> ProgressResult:
    return ProgressResult(
        test=test,
        digest=test,
        backend="opencl",
        device="a device",
        mapping=mapping,
        instances=1,
        iterations=20,
        timeout=5.0,
        every_iteration=False,
        outcomes=outcomes,
    )


RESULTS = [
    result("a", "plain", "TTT"),
    result("a", "chunked", "TTH"),
    result("b", "plain", "H"),
    result("c", "plain", "TTT"),
]
VERDICTS = {
    "a": {"weak": "MAY_HANG", "strong": "TERMINATES"},
    "b": {"weak": "MAY_HANG", "strong": "MAY_HANG"},
    "c": {"weak": "MAY_HANG", "strong": "UNKNOWN"},
}


def test_by_mapping() -> None:
    plain, chunked = by_mapping(RESULTS)
    assert (plain.mapping, plain.tests, plain.hung, plain.always_hung) == ("plain", 3, 1, 1)
    assert (chunked.mapping, chunked.tests, chunked.hung, chunked.always_hung) == ("chunked", 1, 1, 0)


def test_by_model() -> None:
    assert by_model(RESULTS, VERDICTS) == [
        ModelSummary("weak", may_hang=3, observed=2, refuting=()),
        ModelSummary("strong", may_hang=1, observed=1, refuting=("a",)),
    ]
