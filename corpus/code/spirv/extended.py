"""The extended instructions of SPIR-V: what each does to memory and gives as its result (OpenCL.std; GLSL.std.450).

The table is a closed world: an instruction without a row is not understood. What a row says to be ``untold`` is a
number that nothing here computes; it is followed as such. Example: ``%5 = OpExtInst %float %set modf %x %p`` writes the
whole part of ``%x``, and its result is untold.

Sets whose names begin with ``NonSemantic`` or ``OpenCL.DebugInfo`` have no effect on what a module does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from corpus.code.computations import COMPUTATIONS, UNCOMPUTED, Computation, rule
from corpus.code.ir import MemoryOperand, Number, Operand, Register, SymbolRef
from corpus.code.spirv import pointers
from corpus.code.spirv.code import SpirvCode
from corpus.code.spirv.composing import compute, steps_of, untold
from corpus.code.spirv.declared import DEBUGGING
from corpus.code.spirv.module import Enumerant, Id
from corpus.code.table import NOTHING, READS, WRITES, Effect, Lack, Row, Table, find, forms_in, table_of
from corpus.litmus.ptx_arithmetic import WIDTHS

Meaning = Callable[[SpirvCode, Sequence[str]], None]
"""How an extended instruction with some ids is written as code."""


def extended(code: SpirvCode) -> None:
    """``OpExtInst``, by the row of its set and name. Raises ``InputError`` where there is none."""
    match code.at.operands:
        case (Id(set), Enumerant(which), *operands):
            name = code.source.module.imports.get(set, "")
            if name.startswith(DEBUGGING):
                return
            ids = [operand.name for operand in operands if isinstance(operand, Id)]
            row = find(EXTENDED.get(name, {}), which, ids, lambda kind, id, number: "")
            if isinstance(row, Row):
                row.meaning(code, ids)
            elif row.lack is Lack.NAME:
                raise code.wrong(f"{which} of {name or 'a set that is not imported'} is not understood")
            else:
                (form,) = forms_in(EXTENDED[name][which][0].operands)
                raise code.wrong(f"{which}: expected {len(form)} ids, found {len(ids)}")
        case _:
            raise code.wrong("expected an instruction of a set")


# without effect on memory


def _computed(by: Computation) -> Meaning:
    return lambda code, ids: compute(code, by, ids)


def _untold(code: SpirvCode, ids: Sequence[str]) -> None:
    for each in ids:
        code.type_of(each)
    untold(code)


def _select(code: SpirvCode, ids: Sequence[str]) -> None:
    """``select`` of OpenCL: of scalars by whether the third is not 0, of vectors by its highest bit (6.15.6)."""
    several = len(code.kinds(code.at.type or "")) > 1
    chosen = "setp.lt.{s} 2 #0" if several else "setp.ne.{s} 2 #0"
    compute(code, rule(chosen, "selp.{rb} 1 0 t0"), ids)


def _print(code: SpirvCode, ids: Sequence[str]) -> None:
    """``printf``, which reads memory where an argument is an address, and whose result says whether it could print."""
    if any(code.types.of(code.type_of(id)).is_pointer for id in ids[1:]):
        raise code.wrong("printf of an address is not understood")
    untold(code)


def _hint(code: SpirvCode, ids: Sequence[str]) -> None:
    """``prefetch``, which has no effect on what a kernel does (OpenCL C 3.0, 6.15.11)."""


# vectors of scalars in memory


def _element(code: SpirvCode, pointer: str, offset: str, bytes: int) -> Register | SymbolRef | Number:
    """Return the address that is so many times so many bytes behind a pointer."""
    parts: list[Operand] = []
    return pointers.sum_of(code, pointers.accessed(code, pointer), pointers.step(code, offset, bytes, parts), parts)


def _pointee_kind(code: SpirvCode, pointer: str) -> str:
    kind = code.types.of(code.types.of(code.type_of(pointer)).pointee).scalar_kind
    if kind is None:
        raise code.wrong(f"%{pointer}: expected a pointer to scalars")
    return kind


def _load(whole: bool, aligned: bool) -> Meaning:
    """``vload``: of the scalars that are pointed to (``whole``), or of halves, which are converted."""

    def write(code: SpirvCode, ids: Sequence[str]) -> None:
        offset, pointer = ids
        kinds, kind = code.kinds(code.at.type or ""), _pointee_kind(code, pointer)
        size = WIDTHS[kind] // 8
        _check(code, whole, kind, kinds)
        apart = size * (4 if aligned and len(kinds) == 3 else len(kinds))
        base = _element(code, pointer, offset, apart)
        pointers.align(code, base, apart if aligned else size)
        mode = pointers.access_mode(code, pointer, None, False)
        for n, (target, own) in enumerate(zip(code.result(), kinds, strict=True)):
            read = target if whole else code.temporary(kind)
            code.put("load", (pointers.memory_kind(kind),), (read, MemoryOperand(base, n * size)), mode=mode)
            if not whole:
                code.put("cvt", (own, kind), (target, read))

    return write


_ROUNDINGS = {"RTE": "rn", "RTZ": "rz", "RTP": "rp", "RTN": "rm"}
"""The modes of rounding, as PTX calls them (SPIR-V 1.6, 3.16)."""


def _store(whole: bool, aligned: bool) -> Meaning:
    """``vstore``: of scalars as they are (``whole``), or as halves, rounded to nearest even unless it says how."""

    def write(code: SpirvCode, ids: Sequence[str]) -> None:
        data, offset, pointer = ids
        kinds, kind = code.kinds(code.type_of(data)), _pointee_kind(code, pointer)
        size = WIDTHS[kind] // 8
        _check(code, whole, kind, kinds)
        rounding = next((mode.name for mode in code.at.operands[2:] if isinstance(mode, Enumerant)), "RTE")
        if rounding not in _ROUNDINGS:
            raise code.wrong(f"{rounding} is no mode of rounding")
        apart = size * (4 if aligned and len(kinds) == 3 else len(kinds))
        base = _element(code, pointer, offset, apart)
        pointers.align(code, base, apart if aligned else size)
        mode = pointers.access_mode(code, pointer, None, True)
        for n, (value, own) in enumerate(zip(code.values(data), kinds, strict=True)):
            made = value
            if not whole:
                made = code.compute(f"cvt.{_ROUNDINGS[rounding]}.{kind}.{own}", kind, value)
            code.put("store", (pointers.memory_kind(kind),), (MemoryOperand(base, n * size), made), mode=mode)

    return write


def _check(code: SpirvCode, whole: bool, kind: str, kinds: Sequence[str]) -> None:
    """Raise ``InputError`` where scalars of memory cannot be those of a value."""
    right = all(each == kind for each in kinds) if whole else kind == "f16" and set(kinds) <= {"f32", "f64"}
    if not right or any(number != len(kinds) for number in code.at.numbers):
        raise code.wrong("expected a value of the scalars that are pointed to")


# results by way of a pointer


def _pointed(by: Computation | None) -> Meaning:
    """What writes a second result to where its last operand points: computed of the first operand, or untold."""

    def write(code: SpirvCode, ids: Sequence[str]) -> None:
        first, pointer = ids[0], ids[-1]
        type = code.types.of(code.type_of(pointer)).pointee
        kinds, own = code.kinds(type), code.kinds(code.type_of(first))
        if len(kinds) != len(own):
            raise code.wrong("expected a pointer to as many scalars as there are")
        written: list[Operand] = []
        for value, kind, of in zip(code.values(first), kinds, own, strict=True):
            if by is None:
                target = code.temporary(kind)
                code.put("untold", (), (target,))
                written.append(target)
            else:
                written.append(steps_of(code, by, kind, of, [value])[-1])
        untold(code)
        pointers.write(code, pointer, type, written, pointers.access_mode(code, pointer, None, True))

    return write


_FLOOR, _WHOLE = rule("cvt.rmi.{f}.{f} 0"), rule("cvt.rzi.{f}.{f} 0")


def _row(effect: Effect, operands: str, names: str, meaning: Meaning) -> Row[Meaning]:
    return Row(",".join(names.split()), effect, operands, meaning)


def _computations(operands: str, names: str) -> list[Row[Meaning]]:
    """Return rows of what the table of computations has."""
    return [Row(name, NOTHING, operands, _computed(COMPUTATIONS[name])) for name in names.split()]


def _uncomputed(operands: str, names: str) -> Row[Meaning]:
    """Return the row of what computes a number, which nothing here tells."""
    return _row(NOTHING, operands, names, _untold)


_OPENCL: Table[Meaning] = table_of(
    [
        *_computations("id", "fabs sqrt floor ceil trunc rint popcount clz ctz s_abs u_abs"),
        *_computations(
            "id id", "fmin fmax s_min u_min s_max u_max s_add_sat u_add_sat s_sub_sat u_sub_sat s_mul_hi u_mul_hi"
        ),
        *_computations(
            "id id", "s_mul24 u_mul24 s_abs_diff u_abs_diff s_hadd u_hadd s_rhadd u_rhadd rotate u_upsample s_upsample"
        ),
        *_computations(
            "id id id", "fma mad fclamp s_clamp u_clamp s_mad24 u_mad24 s_mad_hi u_mad_hi s_mad_sat u_mad_sat"
        ),
        *_computations("id id id", "bitselect"),
        *(_uncomputed(operands, names) for operands, names in UNCOMPUTED.items()),
        _row(NOTHING, "id id id", "select", _select),
        _row(NOTHING, "id id", "prefetch", _hint),
        _row(NOTHING, "id*", "printf", _print),
        _row(WRITES, "id id", "fract", _pointed(_FLOOR)),
        _row(WRITES, "id id", "modf", _pointed(_WHOLE)),
        _row(WRITES, "id id", "frexp sincos lgamma_r", _pointed(None)),
        _row(WRITES, "id id id", "remquo", _pointed(None)),
        _row(READS, "id id", "vloadn", _load(True, False)),
        _row(READS, "id id", "vload_half vload_halfn", _load(False, False)),
        _row(READS, "id id", "vloada_halfn", _load(False, True)),
        _row(WRITES, "id id id", "vstoren", _store(True, False)),
        _row(WRITES, "id id id", "vstore_half vstore_half_r vstore_halfn vstore_halfn_r", _store(False, False)),
        _row(WRITES, "id id id", "vstorea_halfn vstorea_halfn_r", _store(False, True)),
    ]
)
"""OpenCL.std."""

_GLSL: Table[Meaning] = table_of(
    [
        *_computations("id", "RoundEven Trunc FAbs SAbs Floor Ceil Sqrt FindILsb FindSMsb FindUMsb SSign"),
        *_computations("id id", "FMin UMin SMin FMax UMax SMax NMin NMax"),
        *_computations("id id id", "FClamp UClamp SClamp NClamp Fma"),
        _uncomputed(
            "id", "Round FSign Fract Radians Degrees Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Exp"
        ),
        _uncomputed(
            "id", "Log Exp2 Log2 InverseSqrt Determinant MatrixInverse ModfStruct FrexpStruct PackSnorm4x8 PackUnorm4x8"
        ),
        _uncomputed("id", "PackSnorm2x16 PackUnorm2x16 PackHalf2x16 PackDouble2x32 UnpackSnorm2x16 UnpackUnorm2x16"),
        _uncomputed("id", "UnpackHalf2x16 UnpackSnorm4x8 UnpackUnorm4x8 UnpackDouble2x32 Length Normalize"),
        _uncomputed("id id", "Atan2 Pow Step Ldexp Distance Cross Reflect"),
        _uncomputed("id id id", "FMix IMix SmoothStep FaceForward Refract"),
        _row(WRITES, "id id", "Modf", _pointed(_WHOLE)),
        _row(WRITES, "id id", "Frexp", _pointed(None)),
    ]
)
"""GLSL.std.450, but for the interpolation of what fragments are given."""

EXTENDED: Mapping[str, Table[Meaning]] = {
    "OpenCL.std": _OPENCL,
    "GLSL.std.450": _GLSL,
    "SPV_AMD_shader_trinary_minmax": table_of(
        [_uncomputed("id id id", "FMin3AMD UMin3AMD SMin3AMD FMax3AMD UMax3AMD SMax3AMD FMid3AMD UMid3AMD SMid3AMD")]
    ),
}
"""The instructions of each set that are understood, by the name that imports it."""
