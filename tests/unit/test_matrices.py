"""Operations of tensor cores: their words in litmus tests, and which shared memory wgmma reads in kernels."""

import pytest

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.code.refusals import NotUnderstoodError
from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.errors import InputError
from corpus.litmus.instructions import AsyncOperation
from corpus.litmus.locations import element_of
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import judge

PLAIN, SWIZZLED = 128 >> 4 << 16 | 256 >> 4 << 32, 1 << 62 | 1024 >> 4 << 32


def read(code, written, product="%rd2, %rd3, 0, 1, 1, 0, 0"):
    """The bytes of an array of which a product reads a word, of words that are written at these bytes."""
    stores = "".join(f"st.shared.u32 [matrix+{offset}], 1;" for offset in written)
    text = f"""
    .version 9.0
    .target sm_90a
    .address_size 64
    .visible .entry k(.param .u64 k_param_0) {{
      .reg .b32 %r<9>;
      .reg .b64 %rd<9>;
      .reg .f32 %f<9>;
      .shared .align 1024 .b8 matrix[8192];
      .shared .align 1024 .b8 other[8192];
      {stores}
      mov.u32 %r1, matrix;
      mov.u32 %r2, other;
      shr.u32 %r2, %r2, 4;
      cvt.u64.u32 %rd3, %r2;
      or.b64 %rd3, %rd3, {PLAIN};
      {code}
      wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f1, %f2, %f3, %f4}}, {product};
      wgmma.commit_group.sync.aligned;
      ret;
    }}
    """
    module = read_ptx(text, "k.ptx")
    (thread,) = program_of(module, module.kernels[0], KernelLaunch()).test.threads
    found = [ins for ins in thread.instructions if isinstance(ins, AsyncOperation)]
    sources = [pair[1] for ins in found for pair in ((ins.target, ins.source), *ins.more)]
    return [4 * element_of(source.name)[1] for source in sources]


DESCRIBED = "and.b32 %r1, %r1, 262128; shr.u32 %r1, %r1, 4; cvt.u64.u32 %rd2, %r1; or.b64 %rd2, %rd2, {};"


@pytest.mark.parametrize(
    ("code", "inside", "outside"),
    [
        (DESCRIBED.format(PLAIN), [0, 124, 128, 252, 256, 2044], [2048, 4096]),
        (f"{DESCRIBED.format(PLAIN)} add.s64 %rd2, %rd2, 128;", [2048, 4092], [0, 2044, 4096]),
        (DESCRIBED.format(SWIZZLED), [0, 28, 128, 144, 288, 8160, 8176], [32, 64, 160, 256, 8064]),
        (f"{DESCRIBED.format(SWIZZLED)} add.s64 %rd2, %rd2, 2;", [32, 60, 160, 176], [0, 28, 64, 144]),
        (f"shr.u32 %r1, %r1, 4; mov.b64 %rd2, {{%r1, {256 >> 4}}};", [0, 124, 256], [128, 252]),
    ],
    ids=["plain", "plain, further", "swizzled", "swizzled, further", "two halves"],
)
def test_a_descriptor_says_which_bytes_are_read(code, inside, outside):
    assert read(code, sorted({*inside, *outside})) == sorted(inside)


@pytest.mark.parametrize(
    ("code", "product", "why"),
    [
        ("ld.param.u64 %rd2, [k_param_0];", "%rd2, %rd3, 0, 1, 1, 0, 0", "not of a known address"),
        (DESCRIBED.format(PLAIN), "%rd2, %rd3, 0, 1, 1, 1, 0", "not K-major"),
        (DESCRIBED.format(PLAIN | 1 << 49), "%rd2, %rd3, 0, 1, 1, 0, 0", "a base offset"),
    ],
    ids=["unknown", "transposed", "base offset"],
)
def test_what_is_not_known_of_a_matrix_is_not_understood(code, product, why):
    with pytest.raises(NotUnderstoodError, match=why):
        read(code, [0], product)


def test_a_matrix_that_is_written_at_a_computed_place_is_not_understood():
    written = "ld.global.u32 %r3, [out]; mul.wide.u32 %rd4, %r3, 4; mov.u64 %rd5, matrix; add.s64 %rd5, %rd5, %rd4;"
    code = f"{DESCRIBED.format(PLAIN)} {written} st.shared.u32 [%rd5], 1;".replace("[out]", "[%rd6]")
    with pytest.raises(NotUnderstoodError, match="computed index"):
        read(f"ld.param.u64 %rd6, [k_param_0]; {code}", [0])


def parsed(state, code):
    return parse_litmus(f"PTX t\n{{ {state} }}\n {code}\nexists (true)\n")


@pytest.mark.parametrize(
    ("state", "code", "why"),
    [
        ("tensor t=0;", "P0@cta 0,gpu 0 ;\n ld.weak r0, t ;", "t is in tensor memory"),
        ("d=0; shared s=0;", "P0@cta 0,gpu 0 ;\n wgmma.mma_async.sync.aligned d, s, 0 ;", "d is in global memory"),
        ("register d=0;", "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n ld.weak r0, d | ld.weak r0, d ;", "cannot share"),
        ("tensor t=0;", "P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n tcgen05.st t, 1 | tcgen05.st t, 2 ;", "in different CTAs"),
        ("register d=0; shared s=0;", "P0@cta 0,gpu 0 ;\n wgmma.mma_async.sync.aligned d, s, 2 ;", "0 or 1 at the end"),
        ("tensor t=0;", "P0@cta 0,gpu 0 ;\n tcgen05.shift t ;", "expected wgmma"),
    ],
    ids=["tensor memory", "accumulator", "registers", "CTAs", "scale", "words"],
)
def test_what_cannot_be_said_is_refused(state, code, why):
    with pytest.raises(InputError, match=why):
        parsed(state, code)


def test_other_dialects_and_models_have_no_tensor_cores():
    test = parsed("register d=0; shared s=0;", "P0@cta 0,gpu 0 ;\n wgmma.mma_async.sync.aligned d, s, 1 ;")
    for name in DIALECTS.keys() - {"ptx"}:
        with pytest.raises(InputError):
            translate(test, DIALECTS[name])
    model = load_model(shipped_models()["ptx"], "ptx")
    with pytest.raises(InputError, match="does not speak of asynchronous operations"):
        judge(test, model)
