"""The summary of a run: hangs against verdicts."""

from __future__ import annotations

import re
from io import StringIO

from msgspec.structs import replace
from rich.console import Console

from backends.shared.results import ProgressResult
from synth.progress.conformance import ModelSummary, by_mapping, by_model
from synth.screen.runs import by_placement


def result(test: str, mapping: str, outcomes: str, placement: str = "device", confirmed: bool = True) -> ProgressResult:
    """A result, whose hangs are confirmed unless it says otherwise."""
    return ProgressResult(
        test=test,
        digest=test,
        backend="opencl",
        device="a device",
        mapping=mapping,
        placement=placement,
        instances=1,
        iterations=20,
        timeout=5.0,
        every_iteration=False,
        outcomes=outcomes,
        tries=(outcomes, "H", "H") if confirmed and "H" in outcomes else (),
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


def said(result: ProgressResult) -> dict[str, str]:
    return VERDICTS[result.test]


def test_by_mapping() -> None:
    plain, chunked = by_mapping(RESULTS)
    assert (plain.mapping, plain.tests, plain.hung, plain.always_hung) == ("plain", 3, 1, 1)
    assert (chunked.mapping, chunked.tests, chunked.hung, chunked.always_hung) == ("chunked", 1, 1, 0)


def test_by_model() -> None:
    assert by_model(RESULTS, said) == [
        ModelSummary("device", "weak", may_hang=3, observed=2, refuting=()),
        ModelSummary("device", "strong", may_hang=1, observed=1, refuting=("a",)),
    ]


def test_a_hang_that_is_not_confirmed_contradicts_nothing() -> None:
    """It was seen all the same, where a model lets the test hang; what was slow was not."""
    doubtful = [result("a", "plain", "TH", confirmed=False), result("b", "plain", "H", confirmed=False)]
    assert by_model(doubtful, said) == [
        ModelSummary("device", "weak", may_hang=2, observed=2, refuting=()),
        ModelSummary("device", "strong", may_hang=1, observed=1, refuting=()),
    ]
    slow = replace(doubtful[0], outcomes="TTT", tries=("TH", "H", "T"))
    assert slow.slow and by_model([slow], said)[0].observed == 0
    assert by_mapping([slow, doubtful[1]])[0].hung == 1
    assert by_model([*doubtful, RESULTS[1]], said)[1].refuting == ("a",)


def test_each_level_of_a_device_is_summed_up_by_itself() -> None:
    """What hangs in a subgroup says nothing against work-groups; a test that was not run there is not counted."""
    results = [*RESULTS, result("a", "plain", "T", "subgroup"), result("b", "plain", "T", "subgroup")]
    assert [(each.placement, each.mapping, each.tests) for each in by_mapping(results)] == [
        ("device", "plain", 3),
        ("device", "chunked", 1),
        ("subgroup", "plain", 2),
    ]
    assert by_model(results, said)[2:] == [
        ModelSummary("subgroup", "weak", may_hang=2, observed=0, refuting=()),
        ModelSummary("subgroup", "strong", may_hang=1, observed=0, refuting=()),
    ]
    hangs = [*RESULTS[:1], result("a", "plain", "H", "workgroup")]
    refuting = {each.placement: each.refuting for each in by_model(hangs, said) if each.model == "strong"}
    assert refuting == {"device": (), "workgroup": ("a",)}


def test_several_levels_are_shown_side_by_side() -> None:
    results = [*RESULTS, result("a", "plain", "T", "subgroup"), result("b", "plain", "H", "subgroup")]
    console = Console(width=120, file=StringIO(), force_terminal=False)
    console.print(by_placement(by_model(results, said)))
    assert isinstance(console.file, StringIO)
    cells = [re.split(r" {2,}", line.strip()) for line in console.file.getvalue().splitlines()[:3]]
    assert cells == [
        ["model", "device", "subgroup"],
        ["weak", "2 of 3", "1 of 2"],
        ["strong", "inconsistent (1)", "1 of 1"],
    ]
