"""The size of a work-group, as a module of SPIR-V says it: by an execution mode, or by constants of specialisation,
which a launch gives (SPIR-V 1.6, 3.6; NonSemantic.ClspvReflection).
"""

from __future__ import annotations

from collections.abc import Iterator

from corpus.code.ir import BlockSize
from corpus.code.spirv.code import SpirvSource
from corpus.code.spirv.constants import WORKGROUP_SIZE, spec_id
from corpus.code.spirv.module import Enumerant, Id, SpirvInteger, SpirvModule, SpirvString
from corpus.code.spirv.reflection import ClspvReflection
from corpus.errors import InputError

_SIZES = ("LocalSize", "LocalSizeId")
"""The modes that give a kernel the size of its work-groups, of which it has one at most (SPIR-V 1.6, 3.6)."""

_LAUNCH_BOUNDS = "launch_bounds "
"""How the annotation begins that the header of HIP makes of ``__launch_bounds__``."""


def specialised_sizes(module: SpirvModule, reflection: ClspvReflection) -> tuple[int | None, ...]:
    """Return the constants of specialisation that are the size of a work-group along x, y and z, by ``SpecId``."""
    return tuple(spec_id(module, each) for each in _constants(module, None)) or reflection.sizes


def _constants(module: SpirvModule, function: str | None) -> list[str]:
    """Return the constants that are the size of a work-group, where the module says it by constants: of one function,
    or of the first that has some.
    """
    for target, decorations in module.decorations.items():
        if Enumerant("BuiltIn", (Enumerant(WORKGROUP_SIZE),)) in decorations and target in module.globals:
            return module.globals[str(target)].ids
    for name, modes in module.execution_modes.items():
        for mode in modes:
            if mode.name == "LocalSizeId" and function in (None, name):
                return [each.name for each in mode.parameters if isinstance(each, Id)]
    return []


def block_size(source: SpirvSource, function: str) -> BlockSize:
    """Return the size of a work-group of a function, with the directions in which constants of specialisation are it.

    Raises ``InputError`` where the module says it by what is no number from 1 on.
    """
    sizes = specialised_sizes(source.module, source.reflection)
    return BlockSize(_threads(source, function), tuple(n for n, number in enumerate(sizes) if number is not None))


def _threads(source: SpirvSource, function: str) -> tuple[int, int, int] | None:
    """Return the size of a work-group where the module says it, if by constants of specialisation as they are."""
    module = source.module
    numbers = [source.constants.number(each) for each in _constants(module, function)]
    modes = [mode for mode in module.execution_modes.get(function, ()) if mode.name in _SIZES]
    if len(modes) > 1:
        raise InputError(f"{function} has {len(modes)} sizes of a work-group", module.path)
    for mode in modes:
        if mode.name == "LocalSize" and not numbers:
            numbers = [each.value for each in mode.parameters if isinstance(each, SpirvInteger)]
    if not numbers:
        return None
    if len(numbers) != 3 or min(numbers) < 1:
        raise InputError(f"a work-group of {numbers} threads is not understood", module.path)
    return numbers[0], numbers[1], numbers[2]


def launch_bounds(module: SpirvModule, function: str) -> Iterator[str]:
    """Yield the most threads of a block that HIP's ``__launch_bounds__`` gives a function, as it is written."""
    for each in module.decorations.get(function, ()):
        match each:
            case Enumerant("UserSemantic", (SpirvString(text), *_)) if text.startswith(_LAUNCH_BOUNDS):
                yield text.removeprefix(_LAUNCH_BOUNDS).partition(",")[0].strip()
