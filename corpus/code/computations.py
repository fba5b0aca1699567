"""Instructions of SPIR-V that compute, as a table of instructions of the representation of kernels (SPIR-V 1.6, 3.52.11
to 3.52.15; GLSL.std.450; OpenCL.std).

A row has the opcode of each step, in which ``{s}``, ``{u}``, ``{b}`` and ``{f}`` stand for the type of the first
operand, signed, unsigned, as bits or floating-point, and ``{rs}`` .. for that of the result; and the operands of the
step: those of the instruction by number, ``t0``, ``t1``, .. for the results of steps before, ``#1`` for a number, and
``#{w}`` and ``#{m}`` for the bits of the first operand, and one less.
Example: ``OpIAdd`` is ``add.{s}`` of operands 0 and 1, and ``OpSMod`` three steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from corpus.litmus.ptx_arithmetic import WIDTHS, compare, computable, compute
from corpus.litmus.undetermined import rule_of


class ComputationStep(NamedTuple):
    """One instruction: the opcode's pattern, and its operands."""

    opcode: str
    operands: tuple[str, ...]

    def words(self, result: str, operand: str) -> tuple[str, tuple[str, ...]]:
        """Return the name and the words for a result and a first operand of these kinds."""
        own, made = _forms(operand), {f"r{form}": kind for form, kind in _forms(result).items()}
        name, *words = self.opcode.format(**own, **made).split(".")
        return name, tuple(words)

    def given(self, operand: str) -> tuple[str, ...]:
        """Return the operands for a first operand of this kind, which says what ``#{w}`` and ``#{m}`` are."""
        return tuple(each.format(w=WIDTHS[operand], m=WIDTHS[operand] - 1) for each in self.operands)


Computation = tuple[ComputationStep, ...]


def _forms(kind: str) -> dict[str, str]:
    width = WIDTHS[kind]
    if kind == "pred":
        return dict.fromkeys("subf", kind)
    return {"s": f"s{width}", "u": f"u{width}", "b": f"b{width}", "f": f"f{width}", "k": kind}


def rule(*steps: str) -> Computation:
    """Return the steps that texts say, each an opcode and its operands."""
    return tuple(ComputationStep(words[0], tuple(words[1:])) for words in (step.split() for step in steps))


_TWO, _ONE = " 0 1", " 0"

_BINARY = {
    "OpIAdd": "add.{s}",
    "OpISub": "sub.{s}",
    "OpIMul": "mul.lo.{s}",
    "OpUDiv": "div.{u}",
    "OpSDiv": "div.{s}",
    "OpUMod": "rem.{u}",
    "OpSRem": "rem.{s}",
    "OpFAdd": "add.{f}",
    "OpFSub": "sub.{f}",
    "OpFMul": "mul.{f}",
    "OpFDiv": "div.{f}",
    "OpShiftRightLogical": "shr.{u}",
    "OpShiftRightArithmetic": "shr.{s}",
    "OpShiftLeftLogical": "shl.{b}",
    "OpBitwiseAnd": "and.{b}",
    "OpBitwiseOr": "or.{b}",
    "OpBitwiseXor": "xor.{b}",
    "OpLogicalAnd": "and.pred",
    "OpLogicalOr": "or.pred",
    "OpLogicalNotEqual": "xor.pred",
    "OpIEqual": "setp.eq.{s}",
    "OpINotEqual": "setp.ne.{s}",
    "OpPtrEqual": "setp.eq.u64",
    "OpPtrNotEqual": "setp.ne.u64",
    **{
        f"Op{sign}{name}": f"setp.{word}.{{{sign.lower()}}}"
        for sign in "SU"
        for name, word in (
            ("LessThan", "lt"),
            ("LessThanEqual", "le"),
            ("GreaterThan", "gt"),
            ("GreaterThanEqual", "ge"),
        )
    },
    **{
        f"OpF{order}{name}": f"setp.{word}{'u' if order == 'Unord' else ''}.{{f}}"
        for order in ("Ord", "Unord")
        for name, word in (
            ("Equal", "eq"),
            ("NotEqual", "ne"),
            ("LessThan", "lt"),
            ("LessThanEqual", "le"),
            ("GreaterThan", "gt"),
            ("GreaterThanEqual", "ge"),
        )
    },
    "OpOrdered": "setp.num.{f}",
    "OpUnordered": "setp.nan.{f}",
    "SMin": "min.{s}",
    "UMin": "min.{u}",
    "SMax": "max.{s}",
    "UMax": "max.{u}",
    "FMin": "min.{f}",
    "FMax": "max.{f}",
    "NMin": "min.{f}",
    "NMax": "max.{f}",
    "s_min": "min.{s}",
    "u_min": "min.{u}",
    "s_max": "max.{s}",
    "u_max": "max.{u}",
    "fmin": "min.{f}",
    "fmax": "max.{f}",
    "s_add_sat": "add.sat.{s}",
    "u_add_sat": "add.sat.{u}",
    "s_sub_sat": "sub.sat.{s}",
    "u_sub_sat": "sub.sat.{u}",
    "s_mul_hi": "mul.hi.{s}",
    "u_mul_hi": "mul.hi.{u}",
    "s_mul24": "mul24.lo.{s}",
    "u_mul24": "mul24.lo.{u}",
}

_UNARY = {
    "OpNot": "not.{b}",
    "OpSNegate": "neg.{s}",
    "OpFNegate": "neg.{f}",
    "OpLogicalNot": "not.pred",
    "OpBitCount": "popc.{b}",
    "OpBitReverse": "brev.{b}",
    "OpUConvert": "cvt.{ru}.{u}",
    "OpSConvert": "cvt.{rs}.{s}",
    "OpSatConvertSToU": "cvt.sat.{ru}.{s}",
    "OpSatConvertUToS": "cvt.sat.{rs}.{u}",
    "OpConvertFToU": "cvt.rzi.{ru}.{f}",
    "OpConvertFToS": "cvt.rzi.{rs}.{f}",
    "OpConvertSToF": "cvt.rn.{rf}.{s}",
    "OpConvertUToF": "cvt.rn.{rf}.{u}",
    "OpFConvert": "cvt.rn.{rf}.{f}",
    "OpCopyObject": "mov.{b}",
    "OpCopyLogical": "mov.{b}",
    "OpPtrCastToGeneric": "mov.b64",
    "OpGenericCastToPtr": "mov.b64",
    "OpConvertPtrToU": "mov.b64",
    "OpConvertUToPtr": "mov.b64",
    "SAbs": "abs.{s}",
    "s_abs": "abs.{s}",
    "FAbs": "abs.{f}",
    "fabs": "abs.{f}",
    "Sqrt": "sqrt.{f}",
    "sqrt": "sqrt.{f}",
    "Floor": "cvt.rmi.{f}.{f}",
    "floor": "cvt.rmi.{f}.{f}",
    "Ceil": "cvt.rpi.{f}.{f}",
    "ceil": "cvt.rpi.{f}.{f}",
    "Trunc": "cvt.rzi.{f}.{f}",
    "trunc": "cvt.rzi.{f}.{f}",
    "RoundEven": "cvt.rni.{f}.{f}",
    "rint": "cvt.rni.{f}.{f}",
    "FindUMsb": "bfind.{u}",
    "FindSMsb": "bfind.{s}",
    "popcount": "popc.{b}",
    "clz": "clz.{b}",
}

COMPUTATIONS: Mapping[str, Computation] = {
    **{name: rule(opcode + _TWO) for name, opcode in _BINARY.items()},
    **{name: rule(opcode + _ONE) for name, opcode in _UNARY.items()},
    "OpLogicalEqual": rule("xor.pred 0 1", "not.pred t0"),
    "OpSMod": rule("rem.{s} 0 1", "add.{s} t0 1", "rem.{s} t1 1"),
    "OpIsNan": rule("setp.nan.{f} 0 0"),
    "OpIsInf": rule("add.{f} 0 0", "setp.eq.{f} t0 0", "setp.ne.{f} 0 #0", "and.pred t1 t2"),
    "OpSelect": rule("selp.{rb} 1 2 0"),
    "OpBitFieldInsert": rule(
        "shl.{b} #1 3",
        "sub.{s} t0 #1",
        "shl.{b} t1 2",
        "shl.{b} 1 2",
        "and.{b} t3 t2",
        "not.{b} t2",
        "and.{b} 0 t5",
        "or.{b} t4 t6",
    ),
    "OpBitFieldSExtract": rule("bfe.{s} 0 1 2"),
    "OpBitFieldUExtract": rule("bfe.{u} 0 1 2"),
    "OpPtrDiff": rule("sub.s64 0 1"),
    "FindILsb": rule("neg.{s} 0", "and.{b} 0 t0", "bfind.{u} t1"),
    "SClamp": rule("max.{s} 0 1", "min.{s} t0 2"),
    "UClamp": rule("max.{u} 0 1", "min.{u} t0 2"),
    "FClamp": rule("max.{f} 0 1", "min.{f} t0 2"),
    "s_clamp": rule("max.{s} 0 1", "min.{s} t0 2"),
    "u_clamp": rule("max.{u} 0 1", "min.{u} t0 2"),
    "fclamp": rule("max.{f} 0 1", "min.{f} t0 2"),
    "Fma": rule("fma.rn.{f} 0 1 2"),
    "fma": rule("fma.rn.{f} 0 1 2"),
    "mad": rule("mul.{f} 0 1", "add.{f} t0 2"),
    "NClamp": rule("max.{f} 0 1", "min.{f} t0 2"),
    "s_mad_hi": rule("mul.hi.{s} 0 1", "add.{s} t0 2"),
    "u_mad_hi": rule("mul.hi.{u} 0 1", "add.{u} t0 2"),
    "u_abs": rule("mov.{b} 0"),
    "s_mad24": rule("mul24.lo.{s} 0 1", "add.{s} t0 2"),
    "u_mad24": rule("mul24.lo.{u} 0 1", "add.{u} t0 2"),
    "bitselect": rule("and.{b} 1 2", "not.{b} 2", "and.{b} 0 t1", "or.{b} t0 t2"),
    "s_hadd": rule("and.{b} 0 1", "xor.{b} 0 1", "shr.{s} t1 #1", "add.{s} t0 t2"),
    "u_hadd": rule("and.{b} 0 1", "xor.{b} 0 1", "shr.{u} t1 #1", "add.{s} t0 t2"),
    "s_rhadd": rule("or.{b} 0 1", "xor.{b} 0 1", "shr.{s} t1 #1", "sub.{s} t0 t2"),
    "u_rhadd": rule("or.{b} 0 1", "xor.{b} 0 1", "shr.{u} t1 #1", "sub.{s} t0 t2"),
    "rotate": rule("and.{b} 1 #{m}", "shl.{b} 0 t0", "neg.{s} t0", "and.{b} t2 #{m}", "shr.{u} 0 t3", "or.{b} t1 t4"),
    **dict.fromkeys(
        ("s_upsample", "u_upsample"),
        rule("cvt.{ru}.{u} 0", "shl.{rb} t0 #{w}", "cvt.{ru}.{u} 1", "or.{rb} t1 t2"),
    ),
    "s_mad_sat": rule(  # the sum in two words, of which the upper one is the sign of the lower where it fits
        "mul.lo.{s} 0 1",
        "mul.hi.{s} 0 1",
        "add.{s} t0 2",
        "setp.lt.{u} t2 t0",
        "selp.{b} #1 #0 t3",
        "shr.{s} 2 #{m}",
        "add.{s} t1 t5",
        "add.{s} t6 t4",
        "shr.{s} t2 #{m}",
        "setp.eq.{s} t7 t8",
        "shr.{s} t7 #{m}",
        "shl.{b} #1 #{m}",
        "not.{b} t11",
        "xor.{b} t10 t12",
        "selp.{b} t2 t13 t9",
    ),
    "u_mad_sat": rule(
        "mul.lo.{u} 0 1",
        "mul.hi.{u} 0 1",
        "add.{s} t0 2",
        "setp.lt.{u} t2 t0",
        "selp.{b} #1 #0 t3",
        "or.{b} t1 t4",
        "setp.eq.{s} t5 #0",
        "selp.{b} t2 #-1 t6",
    ),
    "ctz": rule("sub.{s} 0 #1", "not.{b} 0", "and.{b} t0 t1", "popc.{b} t2"),
    "SSign": rule("min.{s} 0 #1", "max.{s} t0 #-1"),
    "s_abs_diff": rule("max.{s} 0 1", "min.{s} 0 1", "sub.{s} t0 t1"),
    "u_abs_diff": rule("max.{u} 0 1", "min.{u} 0 1", "sub.{u} t0 t1"),
}
"""The instructions that compute scalars of scalars, by their names; those of sets of extended instructions have no
``Op``."""


class OperandPromise(NamedTuple):
    """What holds of operands, by their numbers, where a result is determined: a rule of ``corpus.litmus.undetermined``,
    and how it takes them, as signed, unsigned or floating-point numbers.
    """

    name: str
    sign: str
    operands: tuple[int, ...]


PROMISES: Mapping[str, OperandPromise] = {
    **dict.fromkeys(("SClamp", "s_clamp"), OperandPromise("ordered", "s", (1, 2))),
    **dict.fromkeys(("UClamp", "u_clamp"), OperandPromise("ordered", "u", (1, 2))),
    **dict.fromkeys(("FClamp", "NClamp", "fclamp"), OperandPromise("ordered", "f", (1, 2))),
    **dict.fromkeys(("OpBitFieldSExtract", "OpBitFieldUExtract"), OperandPromise("field", "u", (1, 2))),
    "OpBitFieldInsert": OperandPromise("field", "u", (2, 3)),
}
"""The instructions whose operands are in order, or name a field of bits that is there (3.52.14; GLSL.std.450)."""

PAIRS: Mapping[str, Computation] = {
    "OpIAddCarry": rule("add.{s} 0 1", "setp.lt.{u} t0 0", "selp.{b} #1 #0 t1"),
    "OpISubBorrow": rule("sub.{s} 0 1", "setp.lt.{u} 0 1", "selp.{b} #1 #0 t1"),
    "OpUMulExtended": rule("mul.lo.{u} 0 1", "mul.hi.{u} 0 1"),
    "OpSMulExtended": rule("mul.lo.{s} 0 1", "mul.hi.{s} 0 1"),
}
"""Those whose result is a struct of two: the result of the first step, and of the last."""

UNCOMPUTED: Mapping[str, str] = {
    "id": """
        acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt cos cosh cospi erfc erf exp exp2 exp10 expm1
        ilogb lgamma log log2 log10 log1p logb nan round rsqrt sin sinh sinpi tan tanh tanpi tgamma half_cos
        half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_recip half_rsqrt half_sin half_sqrt
        half_tan native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_recip
        native_rsqrt native_sin native_sqrt native_tan degrees radians sign length normalize fast_length
        fast_normalize
    """,
    "id id": """
        atan2 atan2pi copysign fdim fmod hypot ldexp maxmag minmag nextafter pow pown powr remainder rootn
        half_divide half_powr native_divide native_powr fmax_common fmin_common step cross distance
        fast_distance shuffle
    """,
    "id id id": """
        mix smoothstep shuffle2
    """,
}
"""The functions of OpenCL.std that compute a number which nothing here tells, by how many operands they have."""


def folded(
    rule: Computation, result: str, kinds: Sequence[str], values: Sequence[int], language: str = ""
) -> int | None:
    """Return the bits that steps compute of operands of these kinds; None where they are not said exactly, or are not
    determined in a language.
    """
    steps: list[int] = []
    for step in rule:
        name, words = step.words(result, kinds[0])
        given = [_given(operand, values, steps) for operand in step.given(kinds[0])]
        if not computable(name, words, len(given)) or (name in ("div", "rem") and given[1] == 0):
            return None
        undetermined = rule_of(language, name, words)
        if undetermined is not None and undetermined(words, given):
            return None
        steps.append(int(compare(words, *given)) if name == "setp" else compute(name, words, given))
    return steps[-1]


def _given(operand: str, values: Sequence[int], steps: Sequence[int]) -> int:
    if operand[0] == "#":
        return int(operand[1:])
    return steps[int(operand[1:])] if operand[0] == "t" else values[int(operand)]
