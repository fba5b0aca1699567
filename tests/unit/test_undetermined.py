"""The results that a language does not determine: each rule on operands on both sides of it."""

from __future__ import annotations

import struct

import pytest

from corpus.litmus.arithmetic import compute
from corpus.litmus.undetermined import rule_of

MOST, LEAST, SIGN = 2**31 - 1, 2**31, 2**32 - 1


def f32(number: float) -> int:
    """The bits of a number of single precision."""
    return int(struct.unpack("<I", struct.pack("<f", number))[0])


@pytest.mark.parametrize(
    ("operation", "in_doubt", "told"),
    [
        ("signed.add.s32", (MOST, 1), (MOST - 1, 1)),
        ("signed.sub.s32", (LEAST, 1), (LEAST + 1, 1)),
        ("signed.mul.s32", (2**16, 2**15), (2**15, 2**15)),
        ("signed.neg.s32", (LEAST, 0), (MOST, 0)),
        ("signed.shl.s32", (1, 31), (1, 30)),
        ("unsigned.add.u32", (SIGN, 1), (SIGN - 1, 1)),
        ("vulkan.div.u32", (7, 0), (7, 7)),
        ("vulkan.div.s32", (LEAST, SIGN), (LEAST, 1)),
        ("opencl.rem.s32", (LEAST, SIGN), (SIGN - 2, 2)),
        ("vulkan.rem.s32", (SIGN, 2), (3, 2)),
        ("vulkan.shl.b32", (1, 32), (1, 31)),
        ("opencl.shr.s64", (1, 64), (1, 63)),
        ("vulkan.field.u32", (30, 3), (30, 2)),
        ("opencl.ordered.s32", (1, SIGN), (SIGN, 1)),
        ("opencl.mul24.lo.s32", (2**23, 1), (2**23 - 1, 1)),
        ("vulkan.add.f32", (f32(2**24), f32(1)), (f32(2**23), f32(1))),
        ("vulkan.add.f32", (f32(float("inf")), f32(1)), (f32(2), f32(-2))),
        ("opencl.add.f32", (1, f32(1)), (f32(2**24), f32(1))),
        ("opencl.mul.f32", (f32(1 + 2**-20), f32(1 + 2**-20)), (f32(3), f32(5))),
        ("vulkan.cvt.rzi.u32.f32", (f32(-1), 0), (f32(-0.5), 0)),
        ("vulkan.cvt.rzi.s32.f32", (f32(2**31), 0), (f32(-(2**31)), 0)),
        ("vulkan.cvt.rn.f32.u32", (2**24 + 1, 0), (2**24, 0)),
        ("vulkan.min.f32", (f32(float("nan")), f32(1)), (f32(2), f32(1))),
        ("opencl.max.f32", (f32(-0.0), f32(0.0)), (f32(0.0), f32(0.0))),
        ("vulkan.setp.lt.f32", (f32(float("nan")), f32(1)), (f32(2), f32(1))),
    ],
)
def test_a_rule_on_both_sides(operation: str, in_doubt: tuple[int, int], told: tuple[int, int]) -> None:
    assert compute(f"undetermined.{operation}", *in_doubt) == 1
    assert compute(f"undetermined.{operation}", *told) == 0


def test_what_has_no_rule_is_determined() -> None:
    assert rule_of("vulkan", "add", ("s32",)) is None and rule_of("opencl", "xor", ("b32",)) is None
    assert rule_of("opencl", "div", ("f32",)) is not None and compute("undetermined.opencl.div.f64", 1, 3) == 0
