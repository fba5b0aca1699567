"""The names of variables and parameters of a module: what ``OpName`` says, the set and binding of what is bound, or
what instructions for debuggers say. No two of them are the same, but for what has one binding, and parameters of two
functions.
"""

from __future__ import annotations

import re

from corpus.code.spirv.module import Enumerant, Id, SpirvInstruction, SpirvInteger, SpirvModule, SpirvString


def names_in(module: SpirvModule) -> dict[str, str]:
    """Return a name for each variable, and each parameter of a function, that no other has there."""
    found: dict[str, str] = {}
    taken = {_bound(module, id) for id in module.decorations}
    passed, described = passed_on(module), _described(module)

    def name(id: str, taken: set[str]) -> None:
        bound = _bound(module, id)
        if bound:  # what has one binding is one memory
            found[id] = bound
            return
        said = module.names.get(id) or module.names.get(passed.get(id, "")) or described.get(passed.get(id, id), "")
        said = said.removesuffix(".coerce").rpartition(".")[2] or (f"v{id}" if id.isdecimal() else id)
        plain = re.sub(r"\W", "_", said, flags=re.ASCII)
        number = 1
        while (own := plain if number == 1 else f"{plain}_{number}") in taken:
            number += 1
        taken.add(own)
        found[id] = own

    for id, ins in module.globals.items():
        if ins.name in ("OpVariable", "OpUntypedVariableKHR"):
            name(id, taken)
    parameters: set[str] = set()
    for function in module.functions.values():
        own = set(taken)
        for parameter in function.parameters:
            name(parameter.result or "", own)
        parameters |= own
    taken |= parameters
    for function in module.functions.values():
        for block in function.blocks:
            for ins in block.instructions:
                if ins.name in ("OpVariable", "OpUntypedVariableKHR"):
                    name(ins.result or "", taken)
    return found


def passed_on(module: SpirvModule) -> dict[str, str]:
    """Return the parameters of kernels that are parameters of what they call in the same order: LLVM's translator makes
    a kernel without names that calls the one of the source.
    """
    found: dict[str, str] = {}
    for function in (module.functions.get(point.function) for point in module.entry_points):
        own = [each.result or "" for each in function.parameters] if function else []
        for ins in (each for block in (function.blocks if function else ()) for each in block.instructions):
            ids = [each.name for each in ins.operands if isinstance(each, Id)]
            if ins.name == "OpFunctionCall" and ids[1:] == own and ids[0] in module.functions:
                found |= zip(own, (each.result or "" for each in module.functions[ids[0]].parameters), strict=False)
    return found


def _described(module: SpirvModule) -> dict[str, str]:
    """Return the names of the variables of the source whose values ids are, as instructions for debuggers say."""
    found: dict[str, str] = {}
    every = (ins for function in module.functions.values() for block in function.blocks for ins in block.instructions)
    for ins in every:
        match ins.operands:
            case (Id(), Enumerant("DebugValue" | "DebugDeclare"), Id(variable), Id(value), *_) if (
                variable in module.debug
            ):
                name = next((each for each in module.debug[variable].operands[2:] if isinstance(each, Id)), None)
                match module.debug.get(name.name) if name else None:
                    case SpirvInstruction("OpString", operands=(SpirvString(text), *_)):
                        found.setdefault(value, text)
    return found


def _bound(module: SpirvModule, id: str) -> str:
    """Return the name of what is bound by set and binding, ``b0_1``; empty where it is not."""
    numbers = []
    for decoration in ("DescriptorSet", "Binding"):
        said = module.decoration(id, decoration)
        if said is None or not isinstance(said.parameters[0], SpirvInteger):
            return ""
        numbers.append(str(said.parameters[0].value))
    return "b" + "_".join(numbers)
