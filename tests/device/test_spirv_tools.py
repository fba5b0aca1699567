"""SPIR-V as the tools that everybody has read and write it: glslang's binaries, spirv-as and spirv-dis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from spirv_samples import CODES, TEXT, binary, meaning

from backends.glsl.spirv import glslang, libraries, spirv_val
from backends.shared.toolchain import run
from corpus.code.program import program_of
from corpus.code.spirv.files import read_spirv
from corpus.code.spirv.grammar import spirv_grammar
from corpus.code.spirv.module import SpirvModule
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from synth.checking.sources import read_kernels, specialised
from synth.checking.tasks import tasks_of
from synth.requests import read_launch

pytestmark = pytest.mark.usefixtures("_glsl")

ATOMICS = """\
#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
layout(local_size_x_id = 0, local_size_y = 2) in;
layout(constant_id = 3) const int N = 4;
layout(set = 0, binding = 0) buffer B { uint flag; uint data[]; } b;
shared uint tile[32 * N];
uint twice(uint x) { return x * 2u; }
uint spin(inout uint n) {
  while (atomicLoad(b.flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 0u) {
    n += twice(n);
    if (n > 100u) break;
  }
  return n;
}
void main() {
  uint i = gl_LocalInvocationID.x;
  tile[i] = twice(i) + 0xFFFFFFFFu;
  barrier();
  uint n = subgroupAdd(i);
  if (i == 0) atomicStore(b.flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
  switch (int(i) - 5) { case -3: n = spin(n); break; case 100000: n += 5u; break; default: n = 1u; }
  b.data[i] = n + uint(clamp(0.1f * float(n), 1e-40f, 1e30f));
}
"""

WIDTHS = """\
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : enable
layout(local_size_x = 8) in;
struct Pair { int16_t a; f16vec2 b; };
layout(set = 1, binding = 2, std430) readonly restrict buffer In { Pair pairs[]; } given;
layout(set = 1, binding = 3) coherent volatile buffer Out { double d; uint64_t w[]; } made;
layout(push_constant) uniform Push { int8_t small; } push;
void main() {
  Pair p = given.pairs[gl_GlobalInvocationID.x];
  float16_t h = float16_t(65504.0) * p.b.x + float16_t(6e-8);
  made.w[p.a] = uint64_t(h) * 0x123456789ABCDEFul;
  int64_t s = -5000000000l;
  if (s > 7l) made.d = 0.1lf + 1e300lf;
  if (push.small == int8_t(-7)) made.d += double(int8_t(3)) * 5e-324lf;
}
"""


@pytest.fixture
def _glsl(need: Callable[[str], None]) -> None:
    need("glsl")


def tool(name: str, folder: Path, *options: str | Path) -> None:
    """Run one of the tools that are beside spirv-val."""
    validator = spirv_val()
    assert validator is not None
    program = validator.with_name(name)
    done = run(folder, [program, *options], None, 60, libraries(program))
    assert done.ok, done.output


def assembled(text: str, folder: Path) -> bytes:
    source, code = folder / "a.spvasm", folder / "a.spv"
    source.write_text(text, encoding="utf-8")
    tool("spirv-as", folder, "--preserve-numeric-ids", "--target-env", "spv1.3", source, "-o", code)
    return code.read_bytes()


def disassembled(data: bytes, folder: Path, *options: str) -> bytes:
    code, text = folder / "d.spv", folder / "d.spvasm"
    code.write_bytes(data)
    tool("spirv-dis", folder, *options, code, "-o", text)
    return text.read_bytes()


def check(data: bytes, folder: Path) -> SpirvModule:
    """A binary says what its disassembly says."""
    module, text = read_spirv(data, "b"), read_spirv(disassembled(data, folder, "--raw-id"), "t")
    assert meaning(module) == meaning(text)
    assert module.header.version == text.header.version
    read_spirv(disassembled(data, folder), "names")
    return module


def test_an_assembler_makes_the_same_of_the_sample(tmp_path: Path) -> None:
    assert assembled(TEXT, tmp_path)[20:] == binary(*CODES)[20:]
    check(binary(*CODES), tmp_path)


@pytest.mark.parametrize("debug", ["", "-g", "-gVS"])
@pytest.mark.parametrize("shader", [ATOMICS, WIDTHS])
def test_shaders(shader: str, debug: str, tmp_path: Path) -> None:
    compiler = glslang()
    assert compiler is not None
    file, code = tmp_path / "shader.comp", tmp_path / "shader.spv"
    file.write_text(shader, encoding="utf-8")
    options = [option for option in ("-V", debug, "--quiet", "--target-env", "spirv1.5") if option]
    done = run(file, [compiler, *options, file, "-o", code], None, 60, libraries(compiler))
    assert done.ok, done.output
    module = check(code.read_bytes(), tmp_path)
    every = [each for function in module.functions.values() for block in function.blocks for each in block.instructions]
    stores = [each.source for each in every if each.name in ("OpAtomicStore", "OpIMul")]
    assert stores and all(bool(source) == bool(debug) for source in stores)
    for source in stores:
        assert source is None or any(word in shader.split("\n")[source.line - 1] for word in ("atomicStore", "*"))


(_vulkan,) = resolve_consistency_models(["vulkan"])
assert isinstance(_vulkan, AxiomaticModel)
VULKAN = _vulkan.model
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels" / "spirv"


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.spvasm")))
def test_examples_of_kernels(name: str, tmp_path: Path) -> None:
    """Each is valid, and what is left of the assembled kernel is what is left of the text, but for its names."""
    source, code = EXAMPLES / f"{name}.spvasm", tmp_path / f"{name}.spv"
    tool("spirv-as", tmp_path, "--target-env", "spv1.6", source, "-o", code)
    tool("spirv-val", tmp_path, "--target-env", "spv1.6" if name.startswith("cl-") else "vulkan1.3", code)
    text = list(tasks_of(read_kernels(source), read_launch([])))
    binary = read_kernels(code)
    for task in text:
        arguments = {  # a binary has no names but bindings and numbers
            str(number): given
            for number, parameter in enumerate(task.kernel.parameters)
            if (given := task.launch.argument(parameter.name, number)) is not None
        }
        launch = replace(task.launch, arguments=arguments, names=())
        file, kernel = specialised(binary, binary.module.kernels[0], launch)
        shapes = [
            [
                [(type(ins), getattr(ins, "mode", None)) for ins in thread.instructions]
                for thread in program.test.threads
            ]
            for program in (program_of(file.module, kernel, launch), *task.programs(VULKAN, 2))
        ]
        assert shapes[0] == shapes[1]


def test_strings_and_numbers(tmp_path: Path) -> None:
    text = """
               OpCapability Kernel
          %1 = OpString "a \\"b\\" \\\\ \\n; %x é"
          %2 = OpTypeInt 16 1
          %3 = OpConstant %2 -3
          %4 = OpTypeFloat 32
          %5 = OpConstant %4 0x1.8p+128
          %6 = OpConstant %4 -0x1p-149
          %7 = OpConstant %4 3.4e38
          %8 = OpTypeFloat 64
          %9 = OpConstant %8 0x1.921fb54442d18p+1
         %10 = OpTypeFloat 16
         %11 = OpConstant %10 -65504
         %12 = OpConstant %4 0.1
         %13 = OpConstant %4 16777219
         %14 = OpTypeInt 64 1
         %15 = OpConstant %14 -9223372036854775808
         %16 = OpFunction %2 None %1
         %17 = OpLabel
         %18 = OpLoad %14 %1
               OpSwitch %18 %17 -5000000000 %17 7 %17
               OpFunctionEnd
    """
    data = assembled(text, tmp_path)
    assert meaning(check(data, tmp_path)) == meaning(read_spirv(text.encode(), "t"))


def test_raw_words(tmp_path: Path) -> None:
    text = "OpCapability !1\n%2 = OpTypeInt !32 0\n%3 = OpConstant %2 !7\nOpExecutionMode %1 !33"
    assert meaning(read_spirv(assembled(text, tmp_path), "b")) == meaning(read_spirv(text.encode(), "t"))


def test_enumerants_have_the_numbers_of_the_assembler(tmp_path: Path) -> None:
    """What it knows by a name it writes with the number that the table has."""
    table = spirv_grammar().values
    for kind, line in {
        "Capability": "OpCapability {}",
        "ExecutionModel": 'OpEntryPoint {} %1 "x"',
        "StorageClass": "%1 = OpTypePointer {} %2",
        "BuiltIn": "OpDecorate %1 BuiltIn {}",
    }.items():
        names = [name for name, row in table[kind].by_name.items() if row.number < 100]
        text = "\n".join(line.format(name).replace("%1 =", f"%{n + 3} =") for n, name in enumerate(names))
        assert meaning(read_spirv(assembled(text, tmp_path), "b")) == meaning(read_spirv(text.encode(), "t"))
