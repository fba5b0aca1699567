"""The generated text of memory tests in CUDA, HIP, GLSL, WGSL and Metal; ``pytest --promote`` accepts a change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from program_parts import PARTS

from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from corpus.dialects.registry import read_litmus

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("mp-acq-rel-cta", "cuda"),
        ("mp+membar.gl+addr", "cuda"),
        ("cas-sl+membar.gls", "cuda"),
        ("sb-shared-global", "cuda"),
        ("mp-bar-arrive", "cuda"),
        ("ptx-async/bulk-push", "cuda"),
        ("amdgpu/isa2-wider", "hip"),
        ("c-cas-failure", "hip"),
        ("cl-barrier-local", "hip"),
        ("mp-acq-rel-cta", "glsl"),
        ("mp-bar-sync", "glsl"),
        ("webgpu/mp-barrier", "wgsl"),
        ("webgpu/opencl-words", "wgsl"),
        ("cl-sb-sc-fences-wg", "metal"),
        ("mp-bar-sync", "metal"),
    ],
)
def test_text(name: str, backend: str, golden: Callable[..., None]) -> None:
    test = read_litmus(EXAMPLES / f"{name}.litmus")
    file, text = next(iter(BACKENDS[backend].memory_files(Path(name).name, place(test, Parameters(spin=64))).items()))
    golden(f"memory/{file}", text, PARTS)
