"""Arguments that are structures: each kernel with a structure has the answers and final states of the same kernel with
its fields as arguments, and what does not fit a field is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from alike import answers, model, states
from commands import synth
from compiling import compiled_once

from backends.shared.clang_spirv import compiled
from corpus.code.arithmetic import _of_parts
from corpus.code.ptx.debugging import described
from corpus.code.values import Partial, Unknown
from synth.checking.sources import KernelFile, read_for_check
from synth.checking.tasks import KernelTask, tasks_of
from synth.requests import LaunchWords

T = "threadIdx.x"


@pytest.fixture(autouse=True, scope="module")
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with compiled_once(tmp_path_factory.mktemp("compiled")):
        yield


TWINS = {
    "race": ("int *data", f"@data[0] = {T};", ["data=[0,0]"]),
    "apart": ("int *data; int n", f"@data[{T}] = @n;", ["data=[0,0]", "n=5"]),
    "inside": ("int n; int *data", f"if ({T} < @n) @data[{T}] = 1;", ["data=int[1]", "n=1"]),
    "outside": ("int n; int *data", f"if ({T} < @n) @data[{T}] = 1;", ["data=int[1]", "n=2"]),
    "trap": ("bool flag; int *data", f"if (@flag && {T}) __trap(); @data[{T}] = 1;", ["flag=1"]),
    "no-trap": ("bool flag; int *data", f"if (@flag && {T}) __trap(); @data[{T}] = 1;", ["flag=0"]),
    "nested": ("char c; struct { short s; int *data; } q", f"@{{q.data}}[{T}] = @{{q.s}} + @c;",
               ["c=-3", "q.s=-300", "q.data=[0,0]"]),
    "array": ("int v[4]; int *data", f"@data[{T}] = @{{v[1]}} * 10 + @{{v[3]}};", ["v[1]=2", "v[3]=7", "data=[0,0]"]),
    "mixed": ("unsigned char a; double d; short b; long long l", f"out[{T}] = @a + (int)@d + @b + (int)@l;",
              ["a=200", f"d={0x4008000000000000}", "b=-2", f"l={-(1 << 33) + 4}"]),
    "vector": ("float4 f; int2 i", f"out[{T}] = @{{i.y}} + (int)@{{f.z}};", ["i.y=6", f"f.z={0x40000000}"]),
    "two-pointers": ("int *to; const int *of", f"@to[{T}] = @of[{T}];", ["to=[0,0]", "of=[3,4]"]),
    "one-memory": ("int *to; int *of", f"@to[{T}] = @of[1 - {T}];", ["to=[3,4]", "of=&TO"]),
    "flags": ("int *data; int *flag; int n",
              f"if ({T}) {{ while (atomicAdd(@flag, 0) == 0); out[0] = @data[0]; }}"
              " else { @data[0] = @n; __threadfence(); atomicExch(@flag, 1); }", ["n=9", "flag=[0]"]),
}  # fmt: skip
"""The members of a structure, a body, in which ``@`` stands before a field, and arguments."""

PLAIN_TWINS = {
    "race": ("int n; int m", f"if (@n) out[@m] = {T};", ["n=1", "m=0"]),
    "apart": ("char c; int n", f"out[{T}] = @n + @c;", ["c=-2", "n=5"]),
    "trap": ("char flag; int n", f"if (@flag && {T}) __builtin_trap(); out[{T}] = @n;", ["flag=1", "n=2"]),
    "no-trap": ("char flag; int n", f"if (@flag && {T}) __builtin_trap(); out[{T}] = @n;", ["flag=0", "n=2"]),
    "nested": ("char c; struct { short s; long l; } q", f"out[{T}] = @{{q.s}} + @c + (int)@{{q.l}};",
               ["c=-3", "q.s=-300", "q.l=4"]),
    "array": ("int v[4]; int n", f"out[{T}] = @{{v[1]}} * 10 + @{{v[3]}} + @n;", ["v[1]=2", "v[3]=7", "n=100"]),
    "mixed": ("uchar a; double d; short b; long l", f"out[{T}] = @a + (int)@d + @b + (int)@l;",
              ["a=200", f"d={0x4008000000000000}", "b=-2", f"l={-(1 << 33) + 4}"]),
    "vector": ("float4 f; int2 i", f"out[{T}] = @{{i.y}} + (int)@{{f.z}};", ["i.y=6", f"f.z={0x40000000}"]),
    "written": ("int n; int m", f"@n += {T}; @m = @n * 2; out[{T}] = @m;", ["n=3", "m=9"]),
    "passed": ("int n; int m", f"out[{T}] = HELP; out[2 + {T}] = @n;", ["n=3", "m=9"]),
}  # fmt: skip
"""The same without pointers, as OpenCL C has it. ``HELP`` calls a function that changes its own copy."""


def _members(text: str) -> str:
    """Return members as parameters, those within others by one name each."""
    text = re.sub(r"struct \{(.*?)\} (\w+)", lambda m: re.sub(r"(\w+);", rf"{m[2]}_\1;", m[1]).rstrip("; "), text)
    return re.sub(r"int v\[4\]", "int v_1; int v_3", text).replace("float4 f; int2 i", "float f_z; int i_y")


def _parameter(member: str) -> str:
    """Return a member as a parameter: ``int *p_data`` of ``int *data``."""
    return re.sub(r"(\w+)$", r"p_\1", member.strip())


def _flat(name: str) -> str:
    """Return the one name of a field within others: ``q_data`` of ``q.data``."""
    return re.sub(r"\W+", "_", name).rstrip("_")


HEADS = {".cu": "", ".hip": "#include <hip/hip_runtime.h>\n", ".cl": ""}
KERNELS = {".cu": 'extern "C" __global__', ".hip": 'extern "C" __global__', ".cl": "kernel"}
"""What stands before each kernel, by the language."""

_OPENCL = {T: "get_local_id(0)", "int *out": "global int *out"}


def _twins(suffix: str) -> Mapping[str, tuple[str, str, list[str]]]:
    return PLAIN_TWINS if suffix == ".cl" else TWINS


def _text(suffix: str) -> str:
    lines = [HEADS[suffix]]
    for name, (members, body, _) in _twins(suffix).items():
        own = name.replace("-", "_")
        plain = ", ".join(_parameter(each) for each in _members(members).split(";") if each.strip())
        one = re.sub(r"@(\w+)", r"p.\1", re.sub(r"@\{(.*?)\}", r"p.\1", body)).replace("HELP", f"help_{own}(p)")
        other = re.sub(r"@(\w+)", r"p_\1", re.sub(r"@\{(.*?)\}", lambda m: "p_" + _flat(m[1]), body))
        lines.append(f"struct P_{own} {{ {members}; }};")
        if "HELP" in body:
            lines.append(f"int help_{own}(struct P_{own} p) {{ p.n += 5; return p.n + p.m; }}")
        lines.append(f"{KERNELS[suffix]} void s_{own}(struct P_{own} p, int *out) {{ {one} }}")
        lines.append(
            f"{KERNELS[suffix]} void p_{own}({plain}, int *out) {{ {other.replace('HELP', 'p_n + 5 + p_m')} }}"
        )
    text = "\n".join(lines)
    for before, after in _OPENCL.items() if suffix == ".cl" else ():
        text = text.replace(before, after)
    return text.replace("__trap()", "__builtin_trap()") if suffix == ".hip" else text


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], KernelFile]:
    folder = tmp_path_factory.mktemp("structures")

    @cache
    def read(suffix: str) -> KernelFile:
        path = folder / f"kernels{suffix}"
        path.write_text(_text(suffix), encoding="utf-8")
        return read_for_check(path)

    return read


@pytest.fixture(scope="module")
def file(files: Callable[[str], KernelFile]) -> KernelFile:
    return files(".cu")


def _task(file: KernelFile, kernel: str, arguments: list[str]) -> KernelTask:
    words = LaunchWords(kernel, (), "1", "2", None, 1, tuple(arguments), "")
    (found,) = (each for each in tasks_of(file, words) if each.kernel.name == kernel)
    return found


@pytest.mark.device
@pytest.mark.parametrize(("suffix", "name"), [(suffix, name) for suffix in KERNELS for name in _twins(suffix)])
def test_a_structure_has_the_answers_of_its_fields(suffix: str, name: str, files: Callable[[str], KernelFile]) -> None:
    file, arguments = files(suffix), _twins(suffix)[name][2]
    kernel, found = name.replace("-", "_"), []
    for sign in (".", "_"):
        given = [f"p{sign}{each}".replace("&TO", f"&p{sign}to") for each in arguments]
        if sign == "_":
            given = [_flat(each.partition("=")[0]) + "=" + each.partition("=")[2] for each in given]
        one = _task(file, ("s_" if sign == "." else "p_") + kernel, given)
        sc = model("sc").model
        ends = {
            frozenset((re.sub(r"p[._]|q[._]", "", place), value) for place, value in state)
            for state in states(one, sc, re.compile("argument::"))
        }
        found.append((answers(one), ends))
    assert found[0] == found[1]
    kinds, unknown = found[0][0]
    assert not unknown or (suffix != ".cu" and "race" in kinds)  # which leaves all else undefined
    wanted = {
        "race": {"race"},
        "outside": {"bounds"},
        "trap": {"trap"},
        "one-memory": {"race"},
        "flags": {"race"},
    }
    assert kinds == wanted.get(name, set())


@pytest.mark.device
@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("p.nothere=1", "expected a field of p, which has p.n, p.data; found p.nothere"),
        ("p+4=1", "expected a field of p, which has p.n, p.data; found p+4"),
        ("p=1", "expected a field of p, which has p.n, p.data; found p"),
        ("p.n=[1]", "p.n is a number of 4 bytes"),
        ("p.n=4294967296", "p.n has 4 bytes, found 4294967296"),
    ],
)
def test_what_fits_no_field_is_refused(argument: str, said: str, file: KernelFile) -> None:
    result = synth("check", file.path, "--kernel", "s_inside", "--arg", argument)
    assert result.exit_code == 2 and said in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.device
def test_a_finding_and_an_expectation_name_a_field(file: KernelFile) -> None:
    words = ["--kernel", "s_race", "--grid", "1", "--block", "2", "--warp", "1"]
    found = synth("check", file.path, *words, "--expect", "p.data = 0")
    assert found.exit_code == 1 and "write to p.data by thread" in found.stdout
    number = synth("check", file.path, *words[:1], "s_apart", *words[2:], "--arg", "p+0=[0,0]")
    assert number.exit_code == 2 and "give it with --arg p.n=.." in number.stdout
    assert synth("check", file.path, *words[:1], "s_apart", *words[2:], "--arg", "p+8=4").exit_code == 0


def test_bits_of_fields_beside_padding_are_known() -> None:
    padding = Unknown("padding")
    byte = Partial(0b00000101, 0b11111101, padding)  # a field of two bits, 01, and a 1 beside it
    assert _of_parts("and", ["b32"], [byte, 3]) == 1
    assert _of_parts("and", ["b32"], [byte, 7]) == 5
    assert _of_parts("and", ["b32"], [byte, 8]) == Partial(0, 8, padding)
    assert _of_parts("shr", ["u32"], [byte, 8]) == 0
    assert _of_parts("add", ["u32"], [byte, 8]) is None


@pytest.mark.parametrize("bytes", [["1"], ["255"] * 40, ["0"] * 11, [*"81234567"] * 9])
def test_sections_that_are_not_dwarf_say_nothing(bytes: list[str]) -> None:
    words = [word for each in bytes for word in (".b8", each)]
    assert described({".debug_info": words, ".debug_abbrev": words}) == {}


def test_places_name_fields_of_ptx_without_names(tmp_path: Path) -> None:
    text = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 8 .b8 p[16]) {
.reg .b32 %r<2>; .reg .b64 %d<2>;
ld.param.u32 %r1, [p]; ld.param.u64 %d1, [p+8]; st.global.u32 [%d1], %r1; ret; }
"""
    path = tmp_path / "kernel.ptx"
    path.write_text(text, encoding="utf-8")
    run = ["check", path, "--grid", "1", "--block", "1"]
    done = synth(*run, "--arg", "p+0=4", "--arg", "p+8=[0,0]")
    assert done.exit_code == 0
    refused = synth(*run, "--arg", "p+4=4")
    assert refused.exit_code == 2 and "expected a field of p, which has p+0, p+8; found p+4" in refused.stderr


OTHER_FIELDS = {
    ".hip": (
        "#include <hip/hip_runtime.h>\n"
        "struct A { int k; }; template <class E> struct Box { E e; static int s; }; enum Color { red, green };\n"
        "struct P : A { unsigned a:3; int b:5; union { int i; short h[2]; }; Box<int> box; Color color;"
        " short *q[2]; };",
        'extern "C" __global__ void k(P p, int *out) {'
        " out[0] = p.k + p.a * 10 + p.b * 100 + p.i * 1000 + p.box.e * 10000 + p.color * 100000;"
        " p.q[1][0] = p.h[0]; }",
        ["p.k=9", "p.a=5", "p.b=-16", "p.h[0]=3", "p.h[1]=0", "p.box.e=2", "p.color=1", "p.q[1]=[0]"],
        f"out[0] == {9 + 50 - 1600 + 3000 + 20000 + 100000} && 'p.q_1' == 3",
        "p.b=3",
    ),
    ".cl": (
        "union U { int i; short h[2]; }; enum Color { red, green }; typedef struct { uchar3 c; } V;\n"
        "struct __attribute__((packed)) K { char c; int n; };"
        "struct P { union U u; enum Color color; V v[2]; int m[2][2]; struct K k[3]; };",
        "kernel void k(struct P p, global int *out, short4 w) {"
        " out[0] = p.u.i + p.color * 10 + p.v[1].c.z * 100 + p.m[1][0] * 1000 + w.w * 10000 + p.k[2].n; }",
        ["p.u.h[0]=4", "p.u.h[1]=0", "p.color=1", "p.v[1].c.z=250", "p.m=[0,0,5,6]", "w=[1,2,3,4]", "p.k[2].n=700000"],
        f"out[0] == {4 + 10 + 25000 + 5000 + 40000 + 700000}",
        "w.w=3",
    ),
    ".comp": (
        "#version 460\nlayout(local_size_x = 1) in; struct S { int n; mat2 f; };\n"
        "layout(push_constant) uniform P { S s; ivec3 v; int a[2]; };",
        "layout(binding = 0) buffer O { int o[]; };"
        " void main() { o[0] = s.n + v.y * 10 + a[1] * 100 + int(s.f[1].x) * 1000; }",
        ["s.n=3", "v.y=4", "a=[7,8]", f"s.f[1].x={0x40000000}"],
        f"o[0] == {3 + 40 + 800 + 2000}",
        "a[1]=9",
    ),
}  # fmt: skip
"""Other kinds of fields: the types, a kernel, arguments, what holds then, and an argument with which it does not."""


@pytest.mark.device
@pytest.mark.parametrize("suffix", OTHER_FIELDS)
def test_fields_of_all_kinds_are_given(suffix: str, tmp_path: Path) -> None:
    types, kernel, arguments, claim, other = OTHER_FIELDS[suffix]
    path = tmp_path / f"kernel{suffix}"
    path.write_text(f"{types}\n{kernel}\n", encoding="utf-8")
    given = [word for each in arguments for word in ("--arg", each)]
    run = ["check", path, "--grid", "1", "--block", "1", "--expect", claim.replace("'", "")]
    right = synth(*run, *given)
    assert right.exit_code == 0, right.stdout + right.stderr
    wrong = synth(*run, *given, "--arg", other)
    assert wrong.exit_code == 1 and "may fail" in wrong.stdout, wrong.stdout + wrong.stderr


@pytest.mark.device
def test_of_the_fields_of_a_union_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "kernel.cl"
    text = "union U { int i; short h[2]; }; kernel void k(union U u, global int *out) { out[0] = u.i; }"
    path.write_text(text, encoding="utf-8")
    both = synth("check", path, "--grid", "1", "--block", "1", "--arg", "u.i=1", "--arg", "u.h[1]=1")
    assert both.exit_code == 2 and "u.i and u.h[1] are of the same bytes: one can be given" in both.stderr
    half = synth("check", path, "--grid", "1", "--block", "1", "--arg", "u.h[1]=1", "--expect", "out[0] == 65536")
    assert half.exit_code == 2 and "SAFE" not in half.stdout.splitlines()[0]


@pytest.mark.device
def test_fields_of_spirv_without_names_are_given_by_the_byte(tmp_path: Path) -> None:
    source, path = tmp_path / "kernel.cl", tmp_path / "kernel.spv"
    text = "struct P { char c; int n; }; kernel void k(struct P p, global int *out) { out[0] = p.n + p.c; }"
    source.write_text(text, encoding="utf-8")
    assert compiled(source, path, "OpenCL C", _BARE).ok
    run = ["check", path, "--grid", "1", "--block", "1", "--expect", "out[0] == 5"]
    done = synth(*run, "--arg", "p+0=1", "--arg", "p+4=4")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert synth(*run, "--arg", "p+0=1", "--arg", "p+4=5").exit_code == 1
    refused = synth(*run, "--arg", "p.n=4")
    assert refused.exit_code == 2 and "expected a field of p, which has p+0, p+4; found p.n" in refused.stderr


_BARE = ("-x", "cl", "-c", "-emit-llvm", "-cl-std=CL2.0", "-target", "spir64", "-O0", "-fno-discard-value-names")
"""The words by which clang makes code without a word for debuggers."""


def test_debugging_information_that_is_none_says_nothing(tmp_path: Path) -> None:
    """Types within themselves, without operands, and arrays of arrays of nothing."""
    text = """OpCapability Addresses
OpCapability Kernel
OpCapability Linkage
%set = OpExtInstImport "OpenCL.DebugInfo.100"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k "k"
%name = OpString "p"
OpDecorate %p FuncParamAttr ByVal
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%many = OpConstant %uint 60000
%size = OpConstant %uint 32
%P = OpTypeStruct %uint
%ptr = OpTypePointer Function %P
%fn = OpTypeFunction %void %ptr
%none = OpExtInst %void %set DebugInfoNone
%source = OpExtInst %void %set DebugSource %name
%unit = OpExtInst %void %set DebugCompilationUnit 65536 5 %source OpenCL_C
%empty = OpExtInst %void %set DebugTypeComposite %name Structure %source 1 0 %unit %none %size None
%nothing = OpExtInst %void %set DebugTypeArray
@ARRAYS
%type = OpExtInst %void %set DebugTypeFunction None %none %a5
%said = OpExtInst %void %set DebugFunction %name %type %source 1 0 %unit %name None 1 %k %none
%k = OpFunction %void None %fn
%p = OpFunctionParameter %ptr
%entry = OpLabel
OpReturn
OpFunctionEnd
"""
    path = tmp_path / "kernel.spvasm"
    for first in ("%empty", "%nothing", "%a5"):
        arrays = [f"%a{n + 1} = OpExtInst %void %set DebugTypeArray %a{n} %many" for n in range(1, 5)]
        arrays.insert(0, f"%a1 = OpExtInst %void %set DebugTypeArray {first} %many")
        path.write_text(text.replace("@ARRAYS", "\n".join(arrays)), encoding="utf-8")
        done = synth("check", path, "--grid", "1", "--arg", "p+0=4")
        assert done.exit_code == 0, done.stdout + done.stderr


NUMBERS = ("long", "double", "float", "Number")


@pytest.mark.device
@pytest.mark.parametrize("suffix", [*KERNELS, ".comp"])
def test_a_number_that_is_not_given_is_no_address(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"kernel{suffix}"
    lines, kernels = [HEADS.get(suffix, ""), "typedef unsigned long Number;"], [f"k_{each}" for each in NUMBERS]
    for number in NUMBERS if suffix in KERNELS else ():
        out = "global int *o" if suffix == ".cl" else "int *o"
        lines.append(f"{KERNELS[suffix]} void k_{number}({number} n, {out}) {{ if (n == 0) o[0] = 1; else o[0] = 2; }}")
    if suffix == ".comp":
        kernels = ["main"]
        lines = ["#version 460", "#extension GL_EXT_shader_explicit_arithmetic_types : require"]
        lines.append("layout(local_size_x = 1) in; layout(push_constant) uniform P { int64_t n; };")
        lines.append("layout(binding = 0) buffer O { int o[]; }; void main() { if (n == 0) o[0] = 1; else o[0] = 2; }")
    path.write_text("\n".join(lines), encoding="utf-8")
    run = ["check", path, "--grid", "1", "--block", "1"]
    unknown = synth(*run)
    assert unknown.exit_code == 2 and unknown.stdout.count("give it with --arg n=..") == len(kernels), unknown.stdout
    assert synth(*run, "--arg", "n=0", "--expect", "o[0] == 1").exit_code == 0
    assert synth(*run, "--arg", "n=1", "--expect", "o[0] == 1").exit_code == 1


BYTES = "char *x = (char *)a, *y = (char *)b; for (int i = 0; i < 8; i++) y[i] = x[i];"


@pytest.mark.device
@pytest.mark.parametrize("suffix", KERNELS)
def test_the_elements_of_an_array_that_is_copied_by_bytes_are_those_of_its_type(suffix: str, tmp_path: Path) -> None:
    path, kind = tmp_path / f"kernel{suffix}", "global " if suffix == ".cl" else ""
    body = BYTES.replace("char *", f"{kind}char *")
    path.write_text(f"{HEADS[suffix]}{KERNELS[suffix]} void k({kind}int *a, {kind}int *b) {{ {body} }}", "utf-8")
    run = ["check", path, "--grid", "1", "--block", "1", "--arg", "a=[258,-2]", "--arg", "b=[0,0]"]
    done = synth(*run, "--expect", "b[0] == 258 && b[1] == -2 && b_parts_of_1[1] == 1")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert synth(*run, "--expect", "b[1] == 0").exit_code == 1


PLACES = {
    ".cu": (
        "struct P { int *q[2]; struct { int *d; } in[2]; int *q_1; };\n"
        'extern "C" __global__ void k(P p, int (*m)[3]) {'
        " p.q[1][3] = 1; p.in[1].d[2] = 5; p.q_1[3] = 6; m[1][2] = 4; }",
        "p.q[1][3] == 1 && p.in[1].d[2] == 5 && p.q_1[3] == 6 && m[5] == 4",
        "m[1][2] == 4",
    ),
    ".hip": (
        "#include <hip/hip_runtime.h>\n"
        "struct P { int *q[2]; struct { int *d; } in[2]; }; struct V { int x; short y; int z[2]; };\n"
        'extern "C" __global__ void k(P p, int (*m)[3], V *v) {'
        " p.q[1][3] = 1; p.in[1].d[2] = 5; m[1][2] = 4; v[1].x = 7; v[2].y = 8; v[1].z[1] = 9; }",
        "p.q[1] [3] == 1 && p.in[1].d[2] == 5 && m[1][2] == 4 && v[1].x == 7 && v[2].y == 8 && v[1].z[1] == 9",
        "v[1].w == 7",
    ),
    ".comp": (
        "#version 460\nlayout(local_size_x = 1) in; struct V { int x; ivec2 f; };\n"
        "layout(binding = 0) buffer B { int n; int m[2][3]; V v[]; };"
        " layout(binding = 1) buffer D { ivec4 d[]; } own;\n"
        "void main() { m[1][2] = 4; v[1].x = 7; v[1].f.y = 1; own.d[1].z = 3; n = 2; }",
        "m[1][2] == 4 && v[1].x == 7 && v[1].f.y == 1 && d[1].z == 3 && n == 2",
        "m[0][5] == 4",
    ),
}
"""A kernel, an expectation that holds, of places of the source, and one of what is no location."""


@pytest.mark.device
@pytest.mark.parametrize("suffix", PLACES)
def test_an_expectation_names_places_of_the_source(suffix: str, tmp_path: Path) -> None:
    text, holds, refused = PLACES[suffix]
    path = tmp_path / f"kernel{suffix}"
    path.write_text(text, encoding="utf-8")
    run = ["check", path, "--grid", "1", "--block", "1", "--expect"]
    done = synth(*run, holds)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert synth(*run, re.sub(r"\d+$", "77", holds)).exit_code == 1
    wrong = synth(*run, refused)
    assert wrong.exit_code == 2 and f"found {refused.partition(' ')[0]}" in wrong.stderr, wrong.stdout + wrong.stderr
    odd = synth(*run, "n + 1 == 2")
    assert odd.exit_code == 2 and "expected comparisons of locations with numbers, as in" in odd.stderr
