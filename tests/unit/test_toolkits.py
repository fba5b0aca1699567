"""Which CUDA toolkit is taken for a GPU, by its driver and compute capability; the toolkits are scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from caches import forget

from backends.cuda import toolkits
from backends.cuda.compiler import CudaCompiler, compiler_for, cuda_tool
from backends.cuda.toolkits import CudaTarget, Toolkit
from backends.shared.gpus import Gpu
from backends.shared.toolchain import which


def toolkit(folder: Path, number: str, names: tuple[str, ...] = ("nvcc", "cuobjdump", "nvdisasm")) -> Path:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\necho 'Cuda compilation tools, release {number[:4]}, V{number}'\n")
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """PyPI's nvcc 13, one of CUDA 12 on PATH, and an old one where NVIDIA's packages put it."""
    found = {
        "13": toolkit(tmp_path / "site" / "cu13" / "bin", "13.5.37"),
        "12": toolkit(tmp_path / "path", "12.9.86"),
        "11": toolkit(tmp_path / "local" / "cuda-11.8" / "bin", "11.8.89"),
    }
    (tmp_path / "local" / "cuda").symlink_to(tmp_path / "local" / "cuda-11.8")
    for name in ("nvcc", "ptxas"):  # what PyPI's packages of CUDA 12 have lies elsewhere, and is no toolkit
        other = tmp_path / "site" / "cuda_nvcc" / "bin"
        other.mkdir(parents=True, exist_ok=True)
        (other / name).touch()
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setattr(toolkits, "LOCAL", tmp_path / "local")
    monkeypatch.setattr(toolkits, "which", lambda name: found["12"] / name if found["12"].exists() else None)
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "site")]})
    monkeypatch.setattr(toolkits, "find_spec", lambda name: spec)
    forget(toolkits)
    return found


@pytest.mark.parametrize(
    ("capability", "driver", "wanted"),
    [
        (None, None, "13"),
        (90, 13, "13"),
        (90, 14, "13"),
        (90, 12, "12"),
        (75, 12, "12"),
        (70, 12, "12"),
        (70, 13, "12"),  # a driver runs what earlier toolkits make
        (90, 11, "11"),
        (35, 12, "11"),
    ],
)
def test_the_toolkit_for_a_gpu(
    machine: dict[str, Path], capability: int | None, driver: int | None, wanted: str
) -> None:
    found, problem = toolkits.chosen(CudaTarget(capability, driver))
    assert found is not None and (found.folder, problem) == (machine[wanted], "")


def test_a_gpu_has_the_compiler_that_its_driver_can_do_with(machine: dict[str, Path]) -> None:
    names = {"CUDA 13.0": "nvcc 13.5.37", "CUDA 12.4": "nvcc 12.9.86", "CUDA 11.4": "nvcc 11.8.89", "": "nvcc 13.5.37"}
    assert {said: compiler_for(Gpu("H100", "90", 0, said)).version for said in names} == names
    assert CudaCompiler().version == "nvcc 13.5.37"
    assert [each.version for each in toolkits.toolkits()] == ["13.5.37", "12.9.86", "11.8.89"]


def test_what_is_wrong_is_said_with_what_would_do(
    machine: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CUDA_HOME", str(machine["13"].parent))
    assert toolkits.chosen(CudaTarget(90, 12)) == (
        None,
        "the driver has CUDA 12, nvcc 13.5.37 needs 580.65.06 or later; "
        "install nvcc of CUDA 12 on PATH, or name it by CUDA_HOME",
    )
    assert toolkits.chosen(CudaTarget(70, 13))[1] == (
        "nvcc 13.5.37 compiles for sm_75 and later, this is sm_70; "
        "install nvcc of CUDA 12 on PATH, or name it by CUDA_HOME"
    )
    (lacking, *_) = compiler_for(Gpu("V100", "70", 0, "CUDA 13.0")).missing()
    assert lacking.startswith("nvcc for it: nvcc 13.5.37 compiles for sm_75") and "\n" not in lacking
    monkeypatch.setattr(toolkits, "toolkits", list)
    assert toolkits.chosen(CudaTarget(90, 12)) == (None, "")
    assert compiler_for(Gpu("H100", "90", 0, "CUDA 12.4")).missing()[0].startswith("nvcc (pip install")


def test_a_toolkit_that_is_named_is_the_only_one(machine: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_HOME", str(machine["11"].parent))
    assert [each.folder for each in toolkits.toolkits()] == [machine["11"]]
    assert toolkits.chosen(CudaTarget(90, 13))[0] == Toolkit(machine["11"])
    (machine["11"] / "cuobjdump").unlink()
    assert (cuda_tool("nvcc"), cuda_tool("cuobjdump")) == (machine["11"] / "nvcc", None)  # nothing else is mixed in


def test_a_toolkit_without_disassemblers_runs_tests(machine: dict[str, Path], tmp_path: Path) -> None:
    """They are for optcheck, which is no part of running."""
    if which("g++") is None:
        pytest.skip("nvcc needs g++")
    for name in ("cuobjdump", "nvdisasm"):
        (machine["13"] / name).unlink()
    assert compiler_for(Gpu("H100", "90", 0, "CUDA 13.0")).missing() == []
    assert [each.split()[0] for each in CudaCompiler().missing()] == ["cuobjdump", "nvdisasm"]


def test_a_toolkit_that_says_no_version_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = toolkit(tmp_path / "odd" / "bin", "none")
    monkeypatch.setenv("CUDA_HOME", str(odd.parent))
    forget(toolkits)
    assert toolkits.chosen(CudaTarget(90, 12)) == (Toolkit(odd), "")
