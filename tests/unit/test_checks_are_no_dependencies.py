"""What a reader branches for though the code has no branch there is no control dependency: under ``ptx``, which forbids
values out of thin air, one would forbid executions that the code allows.
"""

import pytest

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

BETWEEN = {
    "selp": (
        "setp.eq.u32 %p2, %r2, 4; add.u64 %rd4, %rd3, 8; add.u64 %rd5, %rd3, 12; selp.b64 %rd6, %rd4, %rd5, %p2;",
        CheckAnswer.FOUND,
    ),
    "div": ("mov.b64 %rd6, %rd3; div.u32 %r4, 8, %r2;", CheckAnswer.FOUND),
    "misaligned": (
        "mov.b64 %rd6, %rd3; cvt.u64.u32 %rd7, %r2; add.u64 %rd8, %rd3, %rd7; ld.u32 %r5, [%rd8];",
        CheckAnswer.FOUND,
    ),
    "branch": ("mov.b64 %rd6, %rd3; setp.ne.u32 %p2, %r2, 4; @%p2 bra $end;", CheckAnswer.SAFE),
}
"""What stands between the load and the store of load buffering, and whether both loads may read 4."""


@pytest.mark.parametrize("name", BETWEEN)
def test_load_buffering(name):
    between, answer = BETWEEN[name]
    text = f"""
    .version 8.4
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 x, .param .u64 y, .param .u64 seen) {{
      .reg .pred %p<4>;
      .reg .b32 %r<9>;
      .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      ld.param.u64 %rd3, [seen];
      mov.u32 %r1, %ctaid.x;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra $second;
      ld.relaxed.gpu.u32 %r2, [%rd1];
      {between}
      st.relaxed.gpu.u32 [%rd2], 4;
      st.u32 [%rd6], 1;
      st.u32 [%rd3+16], %r2;
    $end:
      ret;
    $second:
      ld.relaxed.gpu.u32 %r3, [%rd2];
      st.relaxed.gpu.u32 [%rd1], %r3;
      st.u32 [%rd3+20], %r3;
      ret;
    }}"""
    module = read_ptx(text, "k.ptx")
    program = program_of(module, module.functions["k"], KernelLaunch(grid=(2, 1, 1)))
    (model,) = resolve_consistency_models(["ptx"])
    answers = check(program, model, "seen[4] != 4 || seen[5] != 4", 1, "fair")
    assert answers.answers["expectation"] is answer
