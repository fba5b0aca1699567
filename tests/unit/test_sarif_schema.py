"""SARIF that is none is told: by the published schema, and where that is silent by clauses of the specification."""

from __future__ import annotations

from typing import Any

import pytest
from schemas import sarif_complaints

RULES = [{"id": "race"}, {"id": "barrier"}]


def place(uri: str = "a%20b.cu", **region: int) -> dict[str, Any]:
    """A location in SARIF."""
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 2, **region}}}


RESULT = {"ruleId": "race", "level": "error", "message": {"text": "a race"}, "locations": [place()]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"ruleIndex": 0}, ""),
        ({"level": "fatal"}, "'fatal' is not one of"),
        ({"message": None}, "None is not of type 'object'"),
        ({"message": {}}, "is not valid under any of the given schemas"),
        ({"kind": "bad"}, "'bad' is not one of"),
        ({"rule_id": "race"}, "Additional properties"),
        ({"relatedLocations": [place(), place()]}, "has non-unique elements"),
        ({"locations": [place(startLine=0)]}, "0 is less than the minimum of 1"),
        ({"locations": [place(endLine=1)]}, "3.30.7"),
        ({"locations": [place("a\\b.cu")]}, "3.10.1"),
        ({"locations": [place("a b.cu")]}, "3.10.1"),
        ({"relatedLocations": [place("100%.cu")]}, "3.10.1"),
        ({"ruleIndex": 1}, "3.27.6"),
        ({"ruleIndex": 2}, "3.27.6"),
        ({"ruleId": "hang"}, "3.27.5"),
    ],
)
def test_what_is_no_sarif_is_told(change: dict[str, Any], said: str) -> None:
    run = {"tool": {"driver": {"name": "synth check", "rules": RULES}}, "results": [RESULT | change]}
    found = sarif_complaints({"version": "2.1.0", "runs": [run]})
    assert any(said in each for each in found) if said else not found
    assert sarif_complaints({"version": "2.0.0", "runs": [run]})
