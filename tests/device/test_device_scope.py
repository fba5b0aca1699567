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
    path = MEMORY / f"{name}.litmus"
    done = synth("compile", path, "--backend", "glsl", "--cpu", "-o", folder)
    assert done.exit_code == 0, done.output
    return folder / f"{path.stem}.amber"


HAS_DEVICE_SCOPE = {
    "mp-acq-rel": True,
    "mp-acq-rel-one-cta": False,
    "vulkan/mp": True,  # of plain accesses that make available and visible alone
    "vulkan/atomicity-scopes": False,
}


@pytest.mark.parametrize(("name", "has"), HAS_DEVICE_SCOPE.items())
def test_a_script_asks_for_device_scope_where_the_test_has_it(name: str, has: bool, tmp_path: Path) -> None:
    text = script(name, tmp_path / "programs").read_text()
    assert f"{FEATURE}vulkanMemoryModel{'DeviceScope' if has else ''}\n" in text


@pytest.mark.device
@pytest.mark.parametrize(("name", "has"), HAS_DEVICE_SCOPE.items())
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
