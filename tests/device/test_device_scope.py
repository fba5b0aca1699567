"""A memory test in GLSL asks a device for device scope where the test has it, and a device without it is told so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import synth

from backends.glsl import host
from backends.glsl.spirv import translated

MEMORY = Path(__file__).parents[2] / "examples" / "memory"
FEATURE = "DEVICE_FEATURE VulkanMemoryModelFeatures."


def script(name: str, folder: Path) -> Path:
    done = synth("compile", MEMORY / f"{name}.litmus", "--backend", "glsl", "--cpu", "-o", folder)
    assert done.exit_code == 0, done.output
    return folder / f"{name}.amber"


@pytest.mark.parametrize(("name", "feature"), [("mp-acq-rel", "DeviceScope"), ("mp-acq-rel-one-cta", "")])
def test_a_script_asks_for_device_scope_where_the_test_has_it(name: str, feature: str, tmp_path: Path) -> None:
    text = script(name, tmp_path / "programs").read_text()
    assert f"{FEATURE}vulkanMemoryModel{feature}\n" in text
    assert ("gl_ScopeDevice" in text) is bool(feature)


@pytest.mark.device
@pytest.mark.parametrize(("name", "has"), [("mp-acq-rel", True), ("mp-acq-rel-one-cta", False)])
def test_shaders_have_device_scope_where_the_script_asks_for_it(
    name: str, has: bool, tmp_path: Path, need: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("glsl", runs=True)
    path = script(name, tmp_path / "programs")
    _, shaders = translated(path, path.parent)
    assert any(host.has_device_scope(each.read_bytes()) for each in shaders) is has
    device = host.VulkanDevice.of(0)
    assert device.has_device_scope
    monkeypatch.setattr(device, "has_device_scope", False)
    code, said = host.run(host.parser().parse_args([str(path)]), path, 1)
    assert (code, "no vulkanMemoryModelDeviceScope" in said) == ((2, True) if has else (0, False))
