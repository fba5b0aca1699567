"""What ``synth report`` writes of a small set of results, in every form that is text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from commands import in_form, synth
from reported import write_all


@pytest.mark.parametrize(
    ("form", "suffix"), [("markdown", "md"), ("latex", "tex"), ("json", "json"), ("junit", "xml"), ("csv", "csv")]
)
def test_forms(golden: Callable[[str, str], None], tmp_path: Path, form: str, suffix: str) -> None:
    words = ["report", *map(str, write_all(tmp_path)), *in_form(form), "--title", "Two_devices & more"]
    told = synth(*words)
    assert told.exit_code == 0
    golden(f"report/small.{suffix}", told.stdout)
