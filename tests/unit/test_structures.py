"""Arguments that are structures: each kernel with a structure has the answers and final states of the same kernel with
its fields as arguments, and what does not fit a field is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from alike import answers, model, states
from commands import synth

from corpus.kernels.computing import _of_parts
from corpus.kernels.ptx.debugging import described
from corpus.kernels.values import Partial, Unknown
from synth.checking.sources import KernelFile, read_for_check
from synth.checking.tasks import KernelTask, tasks_of
from synth.options.launch import LaunchWords

T = "threadIdx.x"

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


def _text() -> str:
    lines = []
    for name, (members, body, _) in TWINS.items():
        own = name.replace("-", "_")
        plain = ", ".join(_parameter(each) for each in _members(members).split(";") if each.strip())
        one = re.sub(r"@(\w+)", r"p.\1", re.sub(r"@\{(.*?)\}", r"p.\1", body))
        other = re.sub(r"@(\w+)", r"p_\1", re.sub(r"@\{(.*?)\}", lambda m: "p_" + _flat(m[1]), body))
        lines.append(f"struct P_{own} {{ {members}; }};")
        lines.append(f'extern "C" __global__ void s_{own}(P_{own} p, int *out) {{ {one} }}')
        lines.append(f'extern "C" __global__ void p_{own}({plain}, int *out) {{ {other} }}')
    return "\n".join(lines)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> KernelFile:
    path = tmp_path_factory.mktemp("structures") / "kernels.cu"
    path.write_text(_text(), encoding="utf-8")
    return read_for_check(path)


def _task(file: KernelFile, kernel: str, arguments: list[str]) -> KernelTask:
    words = LaunchWords(kernel, (), "1", "2", None, 1, tuple(arguments), "")
    (found,) = (each for each in tasks_of(file, words) if each.kernel.name == kernel)
    return found


@pytest.mark.device
@pytest.mark.parametrize("name", TWINS)
def test_a_structure_has_the_answers_of_its_fields(name: str, file: KernelFile) -> None:
    arguments = TWINS[name][2]
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
    assert not unknown
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
    assert found.exit_code == 1 and "accesses of p.data by thread" in found.stdout
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
