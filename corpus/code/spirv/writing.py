"""Writes the body of a function of SPIR-V as code: its blocks in their order, an instruction by its row.

What is not understood becomes an instruction that nobody understands, so that it counts only where a thread comes
there.
"""

from __future__ import annotations

from corpus.code.spirv import pointers
from corpus.code.spirv.bodies import NOT_UNDERSTOOD, SpirvBody
from corpus.code.spirv.code import SpirvCode
from corpus.code.spirv.declared import RELAXED
from corpus.code.spirv.module import SpirvInstruction
from corpus.code.spirv.rounds import begun_anew
from corpus.code.spirv.table import row_of
from corpus.errors import InputError


def write(body: SpirvBody) -> None:
    """Write the blocks of the function in their order, each behind its label."""
    compiled = any(each.name == "OpSource" for each in body.code.source.module.others)
    compiled |= any(ins.source for block in body.function.blocks for ins in block.instructions)
    anew = begun_anew(body.function) if compiled else {}  # where SPIR-V is the source, it means what it says
    copied = [each.second for each in body.copies if each.same]
    for parameter in body.function.parameters:
        try:
            body.copy_parameter(parameter)
        except InputError as error:
            body.code.put(NOT_UNDERSTOOD, (error.message,), ())
    for block in body.function.blocks:
        body.code.label(block.label)
        for variable in anew.get(block.label, ()):
            pointers.begin_anew(body.code, variable)
        for ins in block.instructions:
            body.code.at = ins
            mark = len(body.code.code)
            try:
                if any(ins is each for each in copied):
                    raise body.code.wrong("two arguments are copied back to one place, in an order that is left open")
                row_of(body.code).meaning(body, block)
                _relax(body.code, ins)
            except InputError as error:
                del body.code.code[mark:]
                body.code.put(NOT_UNDERSTOOD, (error.message,), ())


def _relax(code: SpirvCode, ins: SpirvInstruction) -> None:
    """Say of which operands a result of relaxed precision is: it counts where 16 bits give it, too."""
    id = ins.result or ""
    if ins.name not in RELAXED or code.source.module.decoration(id, "RelaxedPrecision") is None:
        return
    given = [each for name in code.ids() for each in code.values(name)] if ins.name != "OpLoad" else []
    words = ("shift",) if ins.name.startswith("OpShift") else ()
    for target in code.registers_of(id, code.kinds(ins.type or "")):
        code.put("relaxed", words, (target, *given))
