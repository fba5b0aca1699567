"""``synth check`` on kernels of SPIR-V: models, launches, annotations, places, names, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import synth
from schemas import read_sarif
from spirv_samples import binary

from synth.checking.sources import read_kernels
from synth.checking.tasks import tasks_of
from synth.requests import read_launch

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels" / "spirv"

KERNEL = """\
OpCapability Shader
OpCapability VulkanMemoryModel
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "add" %id %in %out
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 1
OpDecorate %out DescriptorSet 2
OpDecorate %out Binding 3
%void = OpTypeVoid
%kernel = OpTypeFunction %void
%uint = OpTypeInt 32 0
%v3 = OpTypeVector %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%block_ptr = OpTypePointer StorageBuffer %block
%ptr = OpTypePointer StorageBuffer %uint
%in_v3 = OpTypePointer Input %v3
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%id = OpVariable %in_v3 Input
%in = OpVariable %block_ptr StorageBuffer
%out = OpVariable %block_ptr StorageBuffer
%main = OpFunction %void None %kernel
%start = OpLabel
%ids = OpLoad %v3 %id
%n = OpCompositeExtract %uint %ids 0
%from = OpAccessChain %ptr %in %zero %n
%to = OpAccessChain %ptr %out %zero INDEX
%value = OpLoad %uint %from
%more = OpIAdd %uint %value %one
OpStore %to %more
OpReturn
OpFunctionEnd
"""


def kernel(folder: Path, index: str = "%n", extra: str = "") -> Path:
    path = folder / "kernel.spvasm"
    path.write_text(extra + KERNEL.replace("INDEX", index))
    return path


def checked(*words: str | Path, code: int = 0) -> list[dict[str, Any]]:
    result = synth("check", *words, "--json", "--jobs", 1)
    assert result.exit_code == code, result.output
    found = json.loads(result.stdout)
    assert isinstance(found, list)
    return found


def test_the_model_is_that_of_the_module(tmp_path: Path) -> None:
    (vulkan,) = checked(EXAMPLES / "push-constants.spvasm")
    (opencl,) = checked(EXAMPLES / "cl-barrier-local.spvasm")
    (other,) = checked(EXAMPLES / "push-constants.spvasm", "--model", "sc")  # race: NOT ASKED
    assert [each["model"] for each in (vulkan, opencl, other)] == ["vulkan", "opencl", "sc"]


@pytest.mark.parametrize("name", ["0.1", "in", "b0_1", "0"])
def test_buffers_by_binding_name_and_number(tmp_path: Path, name: str) -> None:
    (found,) = checked(
        kernel(tmp_path), "--grid", "2", "--arg", f"{name}=[4,5]", "--expect", "out[0] == 5 && out[1] == 6"
    )
    assert set(found["answers"].values()) == {"SAFE"}
    assert found["assumed"] == ["memory of out begins as zeros"]


def test_a_race_is_at_its_lines(tmp_path: Path) -> None:
    (found,) = checked(kernel(tmp_path, "%zero"), "--grid", "2", code=1)
    (race,) = found["findings"]
    assert race["kind"] == "race" and "out" in race["text"]
    assert [(place["opcode"], place["lines"][0]["line"]) for place in race["places"]] == [("OpStore", 35)]
    result = synth("check", kernel(tmp_path, "%zero"), "--grid", 2, "--format", "sarif")
    (one,) = read_sarif(result.stdout)["runs"][0]["results"]
    assert one["locations"][0]["physicalLocation"]["region"]["startLine"] == 35


def test_the_line_of_the_source_is_preferred() -> None:
    (found,) = checked(EXAMPLES / "source-lines.spvasm", code=1)
    (race,) = found["findings"]
    assert {(line["file"], line["line"]) for line in race["lines"]} == {("sum.comp", 7)}


def test_two_bindings_of_one_array(tmp_path: Path) -> None:
    words = ("--grid", "2", "--arg", "in=[1,2]", "--arg", "out=&in", "--expect", "in[0] == 2 && in[1] == 3")
    (found,) = checked(kernel(tmp_path), *words)
    assert found["answers"]["expectation"] == "SAFE"


ANNOTATED = """\
; @Input: %in = {{4, 5, 6, 7}}, %out = {{0, 0, 0, 0}}
; @Config: 2, 1, 2
; @Output: CLAIM
"""


@pytest.mark.parametrize(
    ("claim", "answer"),
    [
        ("forall (%out[0][0] == 5 and %out[0][3] == 8)", "SAFE"),
        ("forall (%out[0][1] == 5 or 8 < %out[0][3])", "FOUND"),
        ("forall (%in[0][2] == 6)", "SAFE"),
        ("exists (not %out[0][0] == 5)", "FOUND"),
        ("not exists (%out[0][0] != 5)", "SAFE"),
        ("forall (%out[0][0] == 1)\n; @Filter: %out[0][1] == 1", "SAFE"),
        ("exists (%out[0][0] == 5)\n; @Filter: %out[0][1] == 1", "FOUND"),
    ],
)
def test_annotations(tmp_path: Path, claim: str, answer: str) -> None:
    (found,) = checked(kernel(tmp_path, extra=ANNOTATED.replace("CLAIM", claim)), code=int(answer == "FOUND"))
    assert found["launch"] == "2x2, warps of 2"
    assert found["answers"]["expectation"] == answer
    assert found["assumed"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("; @Output: forall (%id == 1)\n", "@Output: expected a variable in memory, found %id"),
        ("; @Output: forall (%out[0] == 1)\n", "@Output: expected a number of %out, found more than one"),
        ("; @Input: %in = {{1}, {2}}\n", "@Input: expected 1 values for a part of %in, found 2"),
        ("; @Input: %in = {3}\n", "@Input: expected values in braces for %in, found 3"),
        ("; synth check: --grid\n", "expected options of a launch"),
    ],
)
def test_annotations_that_cannot_be(tmp_path: Path, text: str, said: str) -> None:
    result = synth("check", kernel(tmp_path, extra=text))
    assert result.exit_code == 2 and said in result.output and "Traceback" not in result.output


def test_an_input_of_nothing_is_assumed_away(tmp_path: Path) -> None:
    (found,) = checked(kernel(tmp_path, extra="; @Input: %other = 1\n; @Config: 1, 1, 1\n"))
    assert any("%other is ignored" in each for each in found["assumed"])


def test_the_size_of_a_work_group_is_the_modules() -> None:
    file = read_kernels(EXAMPLES / "barrier-in-branch.spvasm")
    sizes = [(task.launch.text, task.launch.block) for task in tasks_of(file, read_launch([]))]
    assert sizes == [("1x2, warps of 1", (2, 1, 1))]
    result = synth("check", EXAMPLES / "barrier-in-branch.spvasm", "--block", "1")
    said = "main: expected a block of 2x1x1 threads, by LocalSize, found 1x1x1"
    assert result.exit_code == 2 and said in result.output


def test_large_work_groups(tmp_path: Path) -> None:
    text = (
        KERNEL.replace("INDEX", "%n")
        .replace('"add" %id', '"add" %id')
        .replace("OpDecorate %id BuiltIn", "OpExecutionMode %main LocalSize SIZE 1 1\nOpDecorate %id BuiltIn")
    )
    path = tmp_path / "kernel.spvasm"
    path.write_text(text.replace("SIZE", "64"))
    launches = [task.launch.text for task in tasks_of(read_kernels(path), read_launch([]))]
    assert launches == ["1x64, warps of 1", "1x64"]
    path.write_text(text.replace("SIZE", "65"))
    result = synth("check", path)
    assert result.exit_code == 2 and "expected a launch of at most 64 threads with --block, found 65" in result.output


def test_a_binary_says_words() -> None:
    """Of a binary without lines, places are words."""
    code = binary(
        *((17, 1), (14, 0, 3), (15, 5, 1, *words("main")), (19, 2), (33, 3, 2), (54, 2, 1, 0, 3), (248, 4), (9999,)),
        *((253,), (56,)),
    )
    file = EXAMPLES.parent / "none.spv"
    from synth.checking.sources import kernels_of

    (task,) = tasks_of(kernels_of(code, file), read_launch(["--grid", "1"]))
    with pytest.raises(Exception, match="Op9999: is not understood, at word 2"):
        task.programs(None, 0)  # type: ignore[arg-type]


def words(text: str) -> list[int]:
    data = text.encode().ljust(len(text) // 4 * 4 + 4, b"\0")
    return [int.from_bytes(data[n : n + 4], "little") for n in range(0, len(data), 4)]


def test_what_is_not_understood_is_told_where_a_thread_comes_there(tmp_path: Path) -> None:
    text = KERNEL.replace("INDEX", "%n").replace("OpReturn\n", "OpEmitVertex\nOpReturn\n")
    path = tmp_path / "kernel.spvasm"
    path.write_text(text)
    (found,) = checked(path, "--grid", "1", code=2)
    assert found["problem"].startswith(f"{path}:36:1: OpEmitVertex: is not understood")


def test_a_module_without_kernels(tmp_path: Path) -> None:
    path = tmp_path / "none.spvasm"
    path.write_text("OpCapability Shader\nOpMemoryModel Logical GLSL450\n")
    result = synth("check", path)
    assert result.exit_code == 2 and "expected a kernel: no entry has a body" in result.output
    path.write_text("OpMemoryModel Logical Simple\n")
    result = synth("check", path)
    assert result.exit_code == 2 and "expected one of the memory models" in result.output


def test_fix_refuses_in_a_line() -> None:
    result = synth("fix", EXAMPLES / "mp-private.spvasm")
    assert result.exit_code == 2 and "synth checks kernels in SPIR-V but does not repair them" in result.output


def test_what_is_left_is_written_in_the_dialect_of_the_model(tmp_path: Path) -> None:
    for name, head in (("mp", "VULKAN"), ("barrier", "VULKAN"), ("cl-mp", "OPENCL")):
        file = tmp_path / f"{name}.litmus"
        synth("check", EXAMPLES / f"{name}.spvasm", "--litmus", file, "--jobs", 1)
        assert file.read_text().startswith(head)


@pytest.mark.parametrize("index", [-1, -2, 1])
def test_a_member_that_a_struct_has_not_is_refused(tmp_path: Path, index: int) -> None:
    """SPIR-V 1.6, 3.52.8, OpAccessChain: the index of a member is a constant that is one of the struct's members."""
    text = KERNEL.replace("%one =", f"%int = OpTypeInt 32 1\n%member = OpConstant %int {index}\n%one =")
    path = tmp_path / "kernel.spvasm"
    path.write_text(text.replace("%out %zero INDEX", "%out %member %n"))
    result = synth("check", path, "--grid", "1", "--block", "1")
    assert result.exit_code == 2 and f"%block has no member {index}" in result.output


def test_a_variable_of_which_nothing_says_what_it_holds_is_refused(tmp_path: Path) -> None:
    """SPV_KHR_untyped_pointers: ``OpUntypedVariableKHR`` has a data type, unless it is of a class that needs none."""
    text = KERNEL.replace("INDEX", "%n").replace("%in %out\n", "%in %out %bare\n").replace("OpReturn", READ)
    path = tmp_path / "kernel.spvasm"
    path.write_text("OpCapability UntypedPointersKHR\n" + text.replace("%zero =", f"{BARE}%zero ="))
    result = synth("check", path, "--grid", "1", "--block", "1")
    assert result.exit_code == 2 and "bare, or what it begins with, is not understood" in result.output


BARE = """\
%untyped = OpTypeUntypedPointerKHR StorageBuffer
%bare = OpUntypedVariableKHR %untyped StorageBuffer
"""
READ = "%seen = OpLoad %uint %bare\nOpReturn"
