"""The examples of the help of ``synth check``, which nvcc compiles."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import synth

pytestmark = pytest.mark.device


def test_the_examples_of_the_help_find_nothing(need: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    need("cuda")
    monkeypatch.chdir(Path(__file__).parents[2])
    lines = re.findall(r"^ +(synth check examples.*)$", synth("check", "--help").stdout, re.MULTILINE)
    assert len(lines) > 3
    for line in lines:
        if any(Path(word).is_dir() for word in shlex.split(line)):
            continue  # which has wrong kernels as well
        result = synth(*shlex.split(line)[1:])
        assert result.exit_code == 0, f"{line}: {result.output}"
