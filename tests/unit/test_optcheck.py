"""optcheck on small pieces of SASS, in the two spellings of sm_75 and sm_90."""

from __future__ import annotations

import re

import pytest

from backends.cuda.optcheck import optcheck
from corpus.dialects.registry import parse_litmus
from corpus.litmus.test import LitmusTest


def two_threads(
    left: list[str], right: list[str], state: str = "x=0; y=0;", places: str = "(warp T0)) (cta(warp T1)"
) -> LitmusTest:
    rows = [f" {a} | {b} ;" for a, b in zip(["T0", *left, ""], ["T1", *right, ""], strict=False)]
    rows += [f" {a} | {b} ;" for a, b in zip([""] * 9, right[len(left) + 1 :], strict=False)]
    rows += [f" {a} |  ;" for a in left[len(right) + 1 :]]
    return parse_litmus(
        "\n".join(["GPU_PTX t", f"{{ {state} }}", *rows, f"ScopeTree(grid(cta{places}))", "exists (x=0)"])
    )


def sass(*threads: list[str]) -> str:
    """The functions of the threads as nvdisasm prints them, a semicolon after each instruction."""
    lines = []
    for number, code in enumerate(threads):
        name = f"$run$thread_{number}_0"
        lines += [f"        .type           {name},@function", f"{name}:"]
        for place, text in enumerate(code):
            lines.append(text if text.endswith(":") else f"        /*{16 * place:04x}*/  {text} ;")
    return "\n".join(lines)


MP = two_threads(
    ["st.cg [x],1", "membar.gl", "st.cg [y],1"],
    ["ld.cg r1,[y]", "and r2,r1,0x80000000", "add r3,x,r2", "ld.cg r4,[r3]"],
)
WRITER_75 = [
    "IADD3 R2, R0, c[0x3][0x0], RZ",
    "IADD3 R4, R0.reuse, c[0x3][0x4], RZ",
    "ULDC.64 UR4, c[0x0][0x160]",
    "STG.E.STRONG.GPU [R2.U32+UR4], R7",
    "MEMBAR.SC.GPU",
    "ERRBAR",
    "CCTL.IVALL",
    "STG.E.STRONG.GPU [R4.U32+UR4], R7",
    "RET.REL.NODEC R6 `(run)",
]
READER_75 = [
    "IADD3 R3, R0, c[0x3][0x8], RZ",
    "LDG.E.STRONG.GPU R3, [R3.U32+UR4]",
    "LOP3.LUT R5, R3, 0x80000000, RZ, 0xc0, !PT",
    "IADD3 R2, R2, c[0x3][0xc], R5",
    "LDG.E.STRONG.GPU R2, [R2.U32+UR4]",
    "RET.REL.NODEC R6 `(run)",
]
WRITER_90 = [
    "LDC.64 R10, c[0x3][RZ]",
    "VIADD R2, R0.reuse, R10",
    "VIADD R0, R0, R11",
    "ULDC.64 UR8, c[0x0][0x210]",
    "IADD3 R2, P0, R2, UR8, RZ",
    "IMAD.X R3, RZ, RZ, UR9, P0",
    "IADD3 R4, P1, R0, UR8, RZ",
    "IMAD.X R5, RZ, RZ, UR9, P1",
    "STG.E.STRONG.GPU desc[UR4][R2.64], R9",
    "MEMBAR.SC.GPU",
    "ERRBAR",
    "CGAERRBAR",
    "CCTL.IVALL",
    "STG.E.STRONG.GPU desc[UR4][R4.64], R9",
    "RET.REL.NODEC R6 `(run)",
]


def complaints(test: LitmusTest, *threads: list[str]) -> list[str]:
    return [str(each) for each in optcheck(test, sass(*threads))]


@pytest.mark.parametrize("writer", [WRITER_75, WRITER_90], ids=["sm_75", "sm_90"])
def test_code_that_is_the_test_passes(writer: list[str]) -> None:
    assert complaints(MP, writer, READER_75) == []


def without(code: list[str], pattern: str) -> list[str]:
    kept = [line for line in code if not re.search(pattern, line)]
    assert len(kept) < len(code)
    return kept


@pytest.mark.parametrize(
    ("writer", "reader", "expected"),
    [
        (
            without(WRITER_75, r"STG.*\[R2"),
            READER_75,
            ["P0: st.cg x, 1: is no longer in the machine code"],
        ),
        (
            [*WRITER_75[:4], *WRITER_75[3:]],
            READER_75,
            ["P0: st.cg x, 1: is 2 times in the machine code"],
        ),
        (
            [line.replace("[R2.", "[R9.").replace("[R4.", "[R2.").replace("[R9.", "[R4.") for line in WRITER_75],
            READER_75,
            ["P0: in the machine code, the order is st.cg y, 1; st.cg x, 1"],
        ),
        (
            [line.replace("STG.E.STRONG.GPU [R2", "STG.E.SYS [R2") for line in WRITER_75],
            READER_75,
            ["P0: st.cg x, 1: is a store global weak in the machine code, not a store global strong.gpu"],
        ),
        (
            without(WRITER_75, "MEMBAR"),
            READER_75,
            ["P0: after st.cg x, 1: the machine code has invalidate, expected fence sc gpu, invalidate"],
        ),
        (
            without(WRITER_75, "CCTL"),
            READER_75,
            ["P0: after st.cg x, 1: the machine code has fence sc gpu, expected fence sc gpu, invalidate"],
        ),
        (
            [line.replace("MEMBAR.SC.GPU", "MEMBAR.ALL.GPU") for line in WRITER_75],
            READER_75,
            ["P0: after st.cg x, 1: the machine code has fence all gpu, invalidate, expected fence sc gpu, invalidate"],
        ),
        (
            [*WRITER_75[:-1], "MEMBAR.ALL.CTA", WRITER_75[-1]],
            READER_75,
            ["P0: after st.cg y, 1: the machine code has fence all cta, expected nothing"],
        ),
        (
            ["LDG.E.SYS R8, [R0]", *WRITER_75],
            READER_75,
            ["P0: the machine code has LDG.E.SYS R8, [R0], which is no access of this thread"],
        ),
        (
            WRITER_75,
            [line.replace(", R5", ", RZ") for line in READER_75],
            ["P1: ld.cg r4, [r3]: in the machine code its address does not depend on ld.cg r1, y"],
        ),
    ],
    ids=[
        "removed",
        "twice",
        "swapped",
        "weaker",
        "no-fence",
        "no-invalidate",
        "weaker-fence",
        "one-more-fence",
        "another-access",
        "no-dependency",
    ],
)
def test_code_that_is_another_test_is_flagged(writer: list[str], reader: list[str], expected: list[str]) -> None:
    assert complaints(MP, writer, reader) == expected


def test_a_thread_without_code_is_flagged() -> None:
    assert complaints(MP, WRITER_75) == [
        "P1: ld.cg r1, y: is no longer in the machine code",
        "P1: ld.cg r4, [r3]: is no longer in the machine code",
    ]


GUARDED = two_threads(
    ["ld.acquire.gpu r1,[y]", "setp.eq r2,r1,1", "@r2 st.release.cta [x],r1"],
    ["atom.add r1,[x],1", "red.shared.add [s],2"],
    "x=0; s=0;",
)
ADDER = [
    "IADD3 R2, R2, c[0x3][0x8], RZ",
    "ATOMG.E.ADD.S32.STRONG.GPU PT, R7, [R2.U32+UR4], R8",
    "LDC R9, c[0x3][0xc]",
    "IADD3 R9, R10, UR4, R9",
    "ATOMS.POPC.INC.32 RZ, [R9]",
    "RET.REL.NODEC R6 `(run)",
]


def guarded(jump: str) -> list[str]:
    return [
        "LDC.64 R4, c[0x3][0x0]",
        "IADD3 R2, R0, R4, RZ",
        "LDG.E.STRONG.GPU R3, [R2.U32+UR4]",
        "CCTL.IVALL",
        "ISETP.NE.AND P0, PT, R3, 0x1, PT",
        jump,
        "IADD3 R5, R0, R5, RZ",
        "MEMBAR.ALL.CTA",
        "STG.E.STRONG.SM [R5.U32+UR4], R3",
        ".L_x_1:",
        "RET.REL.NODEC R6 `(run)",
    ]


def test_orders_rmws_and_control() -> None:
    assert complaints(GUARDED, guarded("@P0 BRA `(.L_x_1)"), ADDER) == []
    assert complaints(GUARDED, guarded("NOP"), ADDER) == [
        "P0: st.release.cta x, r1: in the machine code whether it happens does not depend on ld.acquire.gpu r1, y"
    ]


def test_a_predicate_is_control_too() -> None:
    code = [line.replace("STG", "@!P0 STG") for line in guarded("NOP")]
    assert complaints(GUARDED, code, ADDER) == []


def test_values_are_followed() -> None:
    code = [line.replace("], R3", "], R8") for line in guarded("@P0 BRA `(.L_x_1)")]
    assert complaints(GUARDED, code, ADDER) == [
        "P0: st.release.cta x, r1: in the machine code its value does not depend on ld.acquire.gpu r1, y"
    ]


def test_what_flows_on_one_path_flows() -> None:
    """A register that one of two paths writes keeps what the other path left in it."""
    copied = ["MOV R3, RZ" if line == "NOP" else line for line in guarded("NOP")]
    assert "its value does not depend" in complaints(GUARDED, copied, ADDER)[0]
    joined = guarded("NOP")
    joined[5:6] = ["@P0 BRA `(.L_x_2)", "MOV R3, RZ", ".L_x_2:"]
    assert complaints(GUARDED, joined, ADDER) == []
