"""LLVM's model for AMD GPUs and Vulkan's, of which it says that it is a special case, on all small programs.

Where both define a program they agree. LLVM, which has undefined reads, defines programs that race in Vulkan; and
single executions without a race in Vulkan have an undefined read, of programs that race in others.
"""

import re
from pathlib import Path

import pytest
from commands import synth

MODELS = Path(__file__).parents[2] / "oracle" / "models"
RACE = "flag ~empty race as data-race"


def defined(folder: Path, name: str) -> Path:
    """A model of the executions that are defined under a model that ships."""
    text = (MODELS / f"{name}.cat").read_text()
    part = MODELS / "parts" / f"{name}.cat"
    if part.exists():
        text = text.replace(f'include "parts/{name}.cat"', part.read_text())
    assert text.count(RACE) == 1
    file = folder / f"{name}-defined.cat"
    file.write_text(text.replace(RACE, "empty race as defined"))
    return file


def test_programs_that_both_define_have_one_meaning():
    result = synth("compare", "amdgpu", "vulkan", "--both-ways", "--events", "..4", "-j", 1)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "no difference up to 4 events over R (plain relaxed acquire; gpu cta)" in result.stdout


def test_a_race_that_no_read_sees_is_defined_by_llvm_alone(tmp_path):
    models = [defined(tmp_path, name) for name in ("amdgpu", "vulkan")]
    result = synth("compare", *models, "--events", "..3", "-j", 1)
    assert result.exit_code == 1
    assert "tests of 3 events that amdgpu-defined allows and vulkan-defined forbids" in result.stdout
    assert re.search(r"st.nonpriv.sc0 x, 1 +\| st.relaxed.gpu.sc0 x, 2 *\n +st.relaxed.gpu.sc0 x, 3", result.stdout)


@pytest.mark.slow
def test_an_execution_with_an_atomic_write_after_a_fence_is_defined_by_vulkan_alone(tmp_path):
    models = [defined(tmp_path, name) for name in ("amdgpu", "vulkan")]
    result = synth("compare", *models, "--events", 4, "-j", 1, "--both-ways")
    assert "tests of 4 events that vulkan-defined allows and amdgpu-defined forbids\n\nWFW.R+nonpriv" in result.stdout


@pytest.mark.slow
def test_one_happens_before_of_both_memories_makes_it_stronger_than_opencl():
    result = synth("compare", "amdgpu", "opencl", "--both-ways", "--events", "..4", "-j", 1)
    assert result.exit_code == 1
    assert "tests of 4 events that opencl allows and amdgpu forbids\n\nMP" in result.stdout
    assert "the other way none up to 4 events" in result.stdout
