"""Composites, conversions and computations of functions of SPIR-V as code (SPIR-V 1.6, 3.52.11 to 3.52.15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from corpus.code.computations import PAIRS, PROMISES, Computation
from corpus.code.ir import Number, Operand, Register, Vector
from corpus.code.spirv.code import SpirvCode, bits_of
from corpus.code.spirv.module import Enumerant
from corpus.litmus.ptx_arithmetic import WIDTHS


def compute(code: SpirvCode, rule: Computation, ids: Sequence[str]) -> None:
    """Append the steps of a computation for each scalar of the result; an operand that is one scalar is for all."""
    assert code.at.type is not None
    values = [code.values(id) for id in ids]
    own = [code.kinds(code.type_of(id)) for id in ids]
    targets = code.result()
    for n, (target, kind) in enumerate(zip(targets, code.kinds(code.at.type), strict=True)):
        if any(len(value) not in (1, len(targets)) for value in values):
            raise code.wrong("has operands of several lengths")
        given = [value[n if len(value) > 1 else 0] for value in values]
        first = own[0][n if len(own[0]) > 1 else 0] if own else kind
        found = steps_of(code, rule, kind, first, given)
        code.put("mov", (bits_of(kind),), (target, found[-1]))
        _ask_determined(code, rule, kind, first, target, given)


def _ask_determined(
    code: SpirvCode, rule: Computation, kind: str, first: str, target: Register, given: Sequence[Operand]
) -> None:
    """Ask whether a result is determined where the module or the instruction promises something of the operands."""
    for decoration, (language, sign) in _NO_WRAP.items():
        if code.source.module.decoration(code.at.result or "", decoration) is not None and len(rule) == 1:
            name = rule[0].words(kind, first)[0]
            code.put("determined", (language, name, f"{sign}{WIDTHS[first]}"), (target, *given))
    which = next((operand.name for operand in code.at.operands if isinstance(operand, Enumerant)), code.at.name)
    promise = PROMISES.get(which)
    if promise is not None:
        own = [given[number] for number in promise.operands]
        code.put("determined", (code.source.model.name, promise.name, f"{promise.sign}{WIDTHS[first]}"), (target, *own))


_NO_WRAP = {"NoSignedWrap": ("signed", "s"), "NoUnsignedWrap": ("unsigned", "u")}
"""What is not to overflow, by the decorations that promise it (SPIR-V 1.6, 3.20)."""


def steps_of(code: SpirvCode, rule: Computation, kind: str, first: str, given: Sequence[Operand]) -> list[Register]:
    """Append the steps of a computation, and return their results."""
    steps: list[Register] = []
    for number, step in enumerate(rule):
        name, words = step.words(kind, first)
        operands = [_operand(code, each, given, steps) for each in step.given(first)]
        own = kind if number == len(rule) - 1 or "{r" in step.opcode else first
        result = "pred" if name == "setp" or "pred" in words else own
        target = code.temporary(result)
        code.put(name, words, (target, *operands))
        steps.append(target)
    return steps


def _operand(code: SpirvCode, operand: str, given: Sequence[Operand], steps: Sequence[Register]) -> Operand:
    if operand[0] == "#":
        return Number(int(operand[1:]))
    if operand[0] == "t":
        return steps[int(operand[1:])]
    if int(operand) >= len(given):
        raise code.wrong(f"expected {int(operand) + 1} operands or more, found {len(given)}")
    return given[int(operand)]


def pair(code: SpirvCode) -> None:
    """``OpIAddCarry`` and its kin, whose result is a struct of two numbers, or of two vectors."""
    one, other = (code.values(id) for id in code.at.ids[:2])
    kinds = code.kinds(code.type_of(code.at.ids[0]))
    every = [
        steps_of(code, PAIRS[code.at.name], kind, kind, both) for kind, *both in zip(kinds, one, other, strict=True)
    ]
    code.set_result([*(steps[0] for steps in every), *(steps[-1] for steps in every)])


def untold(code: SpirvCode) -> None:
    """An instruction whose result is taken as unknown."""
    for target in code.result():
        code.put("untold", (), (target,))


def construct(code: SpirvCode) -> None:
    """Compose a value, ``OpCompositeConstruct``: the scalars of one part behind those of the other."""
    code.set_result([value for id in code.at.ids for value in code.values(id)])


def extract(code: SpirvCode) -> None:
    """Take a part of a composite, ``OpCompositeExtract``: some of its scalars."""
    composite = code.at.ids[0]
    start, type = code.source.constants.part(code.type_of(composite), code.at.numbers, code.at)
    code.set_result(code.values(composite)[start : start + len(code.kinds(type))])


def insert(code: SpirvCode) -> None:
    """``OpCompositeInsert``: a composite with another value for a part."""
    part, composite = code.at.ids[:2]
    start, type = code.source.constants.part(code.type_of(composite), code.at.numbers, code.at)
    values = code.values(composite)
    code.set_result([*values[:start], *code.values(part), *values[start + len(code.kinds(type)) :]])


def shuffle(code: SpirvCode) -> None:
    """Compose a vector of components of two vectors, ``OpVectorShuffle``."""
    one, other = code.at.ids[:2]
    both = (*code.values(one), *code.values(other))
    undefined = Register(f"%undefined.{code.at.result}")
    code.set_result([both[n] if n < len(both) else undefined for n in code.at.numbers])


def extract_dynamic(code: SpirvCode) -> None:
    """``OpVectorExtractDynamic``: the component that an index names."""
    vector, index = code.at.ids[:2]
    (kind,), values = code.kinds(code.at.type or ""), code.values(vector)
    found: Operand = values[0]
    for n, value in enumerate(values[1:], 1):
        found = code.compute(f"selp.{bits_of(kind)}", kind, value, found, _is(code, index, n))
    code.set_result([found])
    _ask_component(code, index, len(values))


def insert_dynamic(code: SpirvCode) -> None:
    """``OpVectorInsertDynamic``: a vector with another value for the component that an index names."""
    vector, component, index = code.at.ids[:3]
    new, kinds = code.value(component), code.kinds(code.type_of(vector))
    code.set_result(
        [
            code.compute(f"selp.{bits_of(kind)}", kind, new, old, _is(code, index, n))
            for n, (old, kind) in enumerate(zip(code.values(vector), kinds, strict=True))
        ]
    )
    _ask_component(code, index, len(kinds))


def _ask_component(code: SpirvCode, index: str, count: int) -> None:
    """Ask whether a vector has the component that an index names; without it nothing tells a result (3.52.12)."""
    (kind,) = code.kinds(code.type_of(index))
    words = (code.source.model.name, "component", f"u{WIDTHS[kind]}")
    for target in code.result():
        code.put("determined", words, (target, code.value(index), Number(count)))


def _is(code: SpirvCode, index: str, number: int) -> Register:
    (kind,) = code.kinds(code.type_of(index))
    return code.compute(f"setp.eq.s{WIDTHS[kind]}", "pred", code.value(index), Number(number))


def select(code: SpirvCode) -> None:
    """``OpSelect``, also of composites; ``selp`` has the choice last."""
    choice, one, other = code.at.ids[:3]
    choices = code.values(choice)
    lefts, rights = code.values(one), code.values(other)
    kinds = code.kinds(code.at.type or "")
    for n, (target, kind) in enumerate(zip(code.result(), kinds, strict=True)):
        chosen = choices[n if len(choices) > 1 else 0]
        code.put("selp", (bits_of(kind),), (target, lefts[n], rights[n], chosen))


def bitcast(code: SpirvCode) -> None:
    """``OpBitcast``: the same bits, in as many scalars as the type has."""
    source = code.at.ids[0]
    values, own = code.values(source), code.kinds(code.type_of(source))
    kinds = code.kinds(code.at.type or "")
    if len(kinds) == len(own):
        code.set_result(values)
    elif len(kinds) < len(own) and len(own) % len(kinds) == 0:
        each = len(own) // len(kinds)
        for n, (target, kind) in enumerate(zip(code.result(), kinds, strict=True)):
            code.put("mov", (bits_of(kind),), (target, Vector(tuple(values[n * each : (n + 1) * each]))))
    elif len(kinds) % len(own) == 0:
        each = len(kinds) // len(own)
        targets = code.result()
        for n, (value, kind) in enumerate(zip(values, own, strict=True)):
            code.put("mov", (bits_of(kind),), (Vector(targets[n * each : (n + 1) * each]), value))
    else:
        raise code.wrong("of several lengths is not understood")


def _folding(opcode: str) -> Callable[[SpirvCode], None]:
    def fold(code: SpirvCode) -> None:
        values = code.values(code.at.ids[0])
        code.set_result([reduce(lambda one, other: code.compute(opcode, "pred", one, other), values)])

    return fold


def dot(code: SpirvCode) -> None:
    """``OpDot``: the sum of the products of components."""
    one, other = code.at.ids[:2]
    (kind,) = code.kinds(code.at.type or "")
    pairs = zip(code.values(one), code.values(other), strict=True)
    products: list[Operand] = [code.compute(f"mul.{kind}", kind, *both) for both in pairs]
    code.set_result([reduce(lambda sum, each: code.compute(f"add.{kind}", kind, sum, each), products)])


def times_scalar(code: SpirvCode) -> None:
    """Multiply each component of a vector by a scalar, ``OpVectorTimesScalar``."""
    vector, scalar = code.at.ids[:2]
    kinds, factor = code.kinds(code.at.type or ""), code.value(scalar)
    pairs = zip(code.values(vector), kinds, strict=True)
    code.set_result([code.compute(f"mul.{kind}", kind, value, factor) for value, kind in pairs])


COMPOSING: Mapping[str, Callable[[SpirvCode], None]] = {
    "OpCompositeConstruct": construct,
    "OpCompositeExtract": extract,
    "OpCompositeInsert": insert,
    "OpVectorShuffle": shuffle,
    "OpVectorExtractDynamic": extract_dynamic,
    "OpVectorInsertDynamic": insert_dynamic,
    "OpSelect": select,
    "OpBitcast": bitcast,
    "OpAny": _folding("or.pred"),
    "OpAll": _folding("and.pred"),
    "OpDot": dot,
    "OpVectorTimesScalar": times_scalar,
    **dict.fromkeys(PAIRS, pair),
}
"""The instructions of values by their names, but for those that compute scalars of scalars."""
