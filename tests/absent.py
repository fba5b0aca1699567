"""What a test needs and a machine has not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from caches import forget

from backends.cuda import gpus as nvidia
from backends.hip import compiler as hip
from backends.opencl import platforms
from backends.shared import gpus, hosted
from backends.wgsl import spirv as wgsl


def absent(message: str) -> NoReturn:
    """Skips the test, and says why; on CI, which has all that can be installed, it fails."""
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A machine with no compiler, no driver and no library of a device."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("OCL_ICD_VENDORS", "nothing")
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr("backends.cuda.toolkits.toolkits", list)
    monkeypatch.setattr("backends.glsl.spirv.installed", lambda package, name: None)
    monkeypatch.setattr("backends.shared.hosted.find_spec", lambda name: None)
    monkeypatch.setattr("backends.wgsl.spirv.find_spec", lambda name: None)
    monkeypatch.setattr("backends.shared.clang_llvm.find_spec", lambda name: None)
    forget(gpus, nvidia, hip, hosted, platforms, wgsl)
    yield
    forget(gpus, nvidia, hip, hosted, platforms, wgsl)
