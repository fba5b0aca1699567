"""``synth devices`` on this machine: what other tests use is said to work."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from commands import synth

from backends.registry import BACKENDS

pytestmark = pytest.mark.device


def test_what_is_here_works(need: Callable[[str], None]) -> None:
    done = synth("devices", "--json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert {row["backend"] for row in rows} == {*BACKENDS, "llvm"}  # of which the last reads programs in C and C++
    for row in rows:
        assert row["usable"] == (not row["problem"])
        assert row["usable"] or "\n" not in row["problem"]
        assert not row["usable"] or row["version"], row
    for backend in sorted(BACKENDS, key="metal".__eq__):  # which skips where no Mac is
        need(backend)
        assert any(row["usable"] for row in rows if row["backend"] == backend)
