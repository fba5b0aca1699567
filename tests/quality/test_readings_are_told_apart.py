"""What tells the readings of PTX apart is found: ``synth compare`` makes the tests that docs/ptx-async.md shows."""

from dataclasses import replace
from pathlib import Path

import pytest
from commands import printed

from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.litmus.locations import Region
from corpus.litmus.normal import litmus_digest
from corpus.suite import read_manifest, read_tests

ROOT = Path(__file__).parents[2]
SIZES = [
    ("bulk-in-order", 4),
    ("completes-everywhere", 4),
    pytest.param("completion-orders-reads", 5, marks=pytest.mark.slow),
    pytest.param("one-async-proxy", 5, marks=pytest.mark.slow),
    pytest.param("fence-serves-all-ctas", 6, marks=pytest.mark.slow),
    pytest.param("one-way-is-cumulative", 7, marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("reading", "events"), SIZES)
def test_a_reading_is_told_apart_by_its_smallest_test(tmp_path, reading, events):
    model = ROOT / "oracle" / "models" / "readings" / f"ptx-async-{reading}.cat"
    printed("compare", "ptx-async", str(model), "--events", f"2..{events}", "-o", str(tmp_path / "found"), exit_code=1)
    tests = read_tests(tmp_path / "found", read_manifest(tmp_path / "found"))
    example = read_litmus(ROOT / "examples" / "memory" / "ptx-async" / f"reading-{reading}.litmus")
    assert {test.size for test in tests} == {events}
    assert without_spaces(example) in {without_spaces(parse_litmus(test.text)) for test in tests}


def without_spaces(test):
    """The digest of a test but for its state spaces, of which one of each shape of tests has any."""
    return litmus_digest(replace(test, locations=tuple(replace(each, region=Region.GLOBAL) for each in test.locations)))
