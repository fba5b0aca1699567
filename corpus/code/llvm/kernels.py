"""Kernels in LLVM: functions that a host calls, with their parameters, what they reach, and the memory that there is.

    define spir_kernel void @sum(ptr addrspace(1) %data, ptr addrspace(3) %tile, i32 %n)
    @sum.last = internal addrspace(3) global i32 undef

Parameters in address space 1 and 2 are arguments, those in 3 memory of the work-group. clang writes a kernel of OpenCL
C twice: for the host, and, as ``__clang_ocl_kern_imp_sum``, for other kernels, which is what the first one calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from corpus.code import ir
from corpus.code.doubts import NOT_UNDERSTOOD
from corpus.code.launch.fields import (
    NUMBER,
    DescribedArray,
    DescribedType,
    RepeatedType,
    ScalarType,
    StructureType,
    bits_of,
    distinctly_named,
    fields_of,
    with_fields,
)
from corpus.code.llvm import hip, opencl
from corpus.code.llvm.accesses import pieces_of
from corpus.code.llvm.constants import constant_of
from corpus.code.llvm.debugging import DebugInformation
from corpus.code.llvm.described import described, parameters_of, pointee_of
from corpus.code.llvm.lowering import NOTHING, Library, Lowering, as_bits, lowered
from corpus.code.llvm.module import FunctionText, ModuleText
from corpus.code.llvm.text import TextReader, tokens_of, wrong
from corpus.code.llvm.translation import translated
from corpus.code.llvm.types import IrError, PointerType, Scalar, Type
from corpus.code.llvm.types import bits_of as width_of
from corpus.code.llvm.writing import KernelDialect, kind_of
from corpus.code.places import argument_array
from corpus.code.reading import CodeText, ReadCode
from corpus.litmus.ptx_arithmetic import WIDTHS


@dataclass(frozen=True)
class KernelTarget:
    """What LLVM is made for: the word of its kernels, the language of the module, the spaces of its address spaces (of
    variables, and of what parameters point to), its scopes, its functions, the beginning of the names of kernels
    that are written twice, and what is seen of a function only as a whole.
    """

    word: str
    language: str
    spaces: Mapping[int, str]
    dialect: KernelDialect
    library: Library
    copied: str = ""
    finished: Callable[[ir.KernelFunction], ir.KernelFunction] = lambda function: function


OPENCL_SPACES = {0: "local", 1: "global", 2: "const", 3: "shared"}
"""The spaces of memory by the address spaces of SPIR."""

HIP_SPACES = {0: "global", 1: "global", 3: "shared", 4: "const", 5: "local"}
"""The spaces of memory by the address spaces of AMD's GPUs, of which the first is of all memory."""

TARGETS = (
    KernelTarget(
        "spir_kernel",
        "llvm-opencl",
        OPENCL_SPACES,
        KernelDialect(opencl.SYNC_SCOPES, components=True),
        opencl.function,
        "__clang_ocl_kern_imp_",
    ),
    KernelTarget(
        "amdgpu_kernel",
        "llvm-hip",
        HIP_SPACES,
        KernelDialect(hip.SYNC_SCOPES),
        hip.function,
        finished=hip.with_fenced_barriers,
    ),
)
"""The targets of which kernels are read."""


def target_of(module: ModuleText) -> KernelTarget | None:
    """Return the target of the kernels that a module has; None where it has none."""
    heads = [text.head for text in module.functions.values() if text.body is not None]
    found = (target for target in TARGETS for head in heads if f" {target.word} " in head)
    return next(found, None)


class _Parameter(NamedTuple):
    """A parameter of a kernel in LLVM: its register, its type, and the type of what is passed by value there."""

    register: str
    type: Type
    value: Type | None = None


@dataclass
class _Kernels:
    """The kernels of a module so far: its variables and functions, by their names."""

    module: ModuleText
    target: KernelTarget
    debug: DebugInformation
    names: dict[str, str]
    variables: dict[str, ir.Variable] = field(default_factory=dict)
    functions: dict[str, ir.KernelFunction] = field(default_factory=dict)
    called: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    arrays: dict[DescribedArray, None] = field(default_factory=dict)


def read_kernels(module: ModuleText, code: CodeText, target: KernelTarget) -> ReadCode:
    """Return the kernels of a module. Raises ``InputError`` where it is not LLVM as it is known here."""
    debug = DebugInformation(module.metadata, code.files)
    layout = replace(module.names.layout, pointers={})  # whatever a GPU keeps, addresses here have 64 bits
    module = replace(module, names=replace(module.names, layout=layout, read={}))
    found = _Kernels(module, target, debug, _names(module))
    for name, text in module.functions.items():
        if text.body is not None and f" {target.word} " in text.head:
            _add_kernel(found, name, text)
    kernels = ir.Module(
        code.path, module.compiler, "", found.variables, found.functions, target.language, "line of LLVM"
    )
    return ReadCode(kernels, found.called, found.sizes, tuple(found.arrays))


def _names(module: ModuleText) -> dict[str, str]:
    """Return the names of the variables of a module, as the source has them: ``tile`` for ``sum.tile``."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in module.globals:
        plain = free = re.sub(r"\W", "_", name.rpartition(".")[2] or name, flags=re.ASCII)
        number = 1
        while free in taken:
            number += 1
            free = f"{plain}_{number}"
        taken.add(free)
        found[name] = free
    return found


# functions


def _add_kernel(found: _Kernels, name: str, text: FunctionText) -> None:
    """Add a kernel, and all that it reaches."""
    own = found.module.functions.get(f"{found.target.copied}{name}", text) if found.target.copied else text
    own = own if own.body is not None else text
    start = Lowering(found.names, {})
    start.origin = ir.KernelInstruction("", (), (), None, text.line)
    parameters, names, sizes = list[ir.Variable](), list[str](), list[int | None]()
    for parameter in _parameters(found, own):
        variable, called, size = _argument(found, start, own, parameter, len(names))
        parameters.append(variable)
        names.append(called)
        sizes.append(size)
    layout = found.module.names.layout
    pieces = {each.register: pieces_of(layout, each.value) for each in _parameters(found, own) if each.value}
    function, reached = _function(found, own, names, pieces)
    for why in _refused(text.head):
        start.put(NOT_UNDERSTOOD, (why,), ())
    kernel = replace(
        function,
        name=name,
        entry=True,
        results=(),
        parameters=tuple(parameters),
        registers={**start.registers, **function.registers},
        body=(*start.code, *(function.body or ())),
        labels={label: place + len(start.code) for label, place in function.labels.items()},
        block_size=_block_size(found.module, text.head),
        directives=_most_threads(found.module, text.head),
    )
    found.functions[name] = with_fields(kernel)
    found.called[name], found.sizes[name] = tuple(names), tuple(sizes)
    _reach(found, reached)


def _reach(found: _Kernels, names: Sequence[str]) -> None:
    """Add functions and variables, and all that these reach."""
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        text = found.module.functions.get(name)
        if text is not None and text.body is not None and name not in found.functions:
            found.functions[name], more = _function(found, text)
            waiting += more
        elif name in found.module.globals and found.names[name] not in found.variables:
            variable, more = _variable(found, name)
            found.variables[found.names[name]] = variable
            waiting += more


def _function(
    found: _Kernels, text: FunctionText, taken: Sequence[str] = (), pieces: Mapping[str, Sequence[str]] = NOTHING
) -> tuple[ir.KernelFunction, tuple[str, ...]]:
    """Return a function as code of kernels, and the names of the globals that it mentions."""
    defined = frozenset(name for name, other in found.module.functions.items() if other.body is not None)
    function, reached = translated(found.module, found.debug, text, {}, defined, False, found.target.dialect)
    return found.target.finished(lowered(function, found.names, found.target.library, taken, pieces)), reached


_REFUSED = ("intel_reqd_sub_group_size",)


def _refused(head: str) -> Iterator[str]:
    """Yield what is not understood of a kernel whatever its threads do."""
    for word in _REFUSED:
        if f"!{word} " in head:
            yield f"{word} is not understood"


def _block_size(module: ModuleText, head: str) -> ir.BlockSize:
    """Return the size of a work-group, where the kernel says it: ``!reqd_work_group_size !5``."""
    named = re.search(r"!reqd_work_group_size (!\d+)", head)
    numbers = [int(number) for number in re.findall(r"i32 (\d+)", module.metadata.get(named[1], ""))] if named else []
    if len(numbers) != 3 or min(numbers) < 1:
        return ir.ANY_BLOCK
    return ir.BlockSize((numbers[0], numbers[1], numbers[2]))


def _most_threads(module: ModuleText, head: str) -> tuple[str, ...]:
    """Return the most threads of a work-group, where ``__launch_bounds__`` says it, as kernels of PTX do."""
    groups = (module.attributes.get(group, "") for group in re.findall(r" (#\d+)\b", head))
    bounds = (re.search(r'"amdgpu-flat-work-group-size"="\d+,(\d+)"', group) for group in groups)
    return tuple(f".maxntid {found[1]}" for found in bounds if found and int(found[1]) != _MOST_THREADS)


_MOST_THREADS = 1024
"""The most threads of a work-group that clang gives kernels of HIP where they do not say it."""


# parameters


def _parameters(found: _Kernels, text: FunctionText) -> list[_Parameter]:
    """Return the parameters of a function."""
    words = tokens_of(text.head)
    place = next(number for number, word in enumerate(words) if word.startswith("@"))
    reader = TextReader(words[place + 1 :], found.module.names)
    parameters: list[_Parameter] = []

    def parameter() -> None:
        type, value = reader.type(), None
        while reader.word and reader.word not in (",", ")") and not reader.word.startswith("%"):
            if reader.take("byval", "byref"):
                reader.expect("(")
                value = reader.type()
                reader.expect(")")
            elif reader.word == "(":
                reader.skip_brackets()
            else:
                reader.next()
        name = reader.next() if reader.word.startswith("%") else f"%{len(parameters)}"
        parameters.append(_Parameter(name, type, value))

    try:
        reader.expect("(")
        reader.listed(")", parameter)
    except IrError as error:
        raise wrong(error, found.module.path, text.line) from None
    return parameters


def _argument(
    found: _Kernels, start: Lowering, text: FunctionText, parameter: _Parameter, number: int
) -> tuple[ir.Variable, str, int | None]:
    """Write what a parameter of a kernel holds at the start; return it, the name that the source has for it, and the
    bytes of the numbers that it points to, where that is known.
    """
    subprogram = re.search(r"!dbg (!\d+)", text.head)
    every = parameters_of(found.debug, subprogram[1]) if subprogram else []
    called, node = every[number] if number < len(every) else ("", "")
    name = re.sub(r"\W", "_", called or parameter.register[1:], flags=re.ASCII)
    layout, register = found.module.names.layout, ir.Register(parameter.register)
    type = described(found.debug, node) if node else None
    if parameter.value is not None:
        size = layout.bytes(parameter.value)
        fields = _fields(type, size)
        start.put("mov", ("b64",), (register, ir.SymbolRef(name)))
        return ir.Variable(name, "param", "b8", size, 8, fields=fields), name, None
    if isinstance(parameter.type, PointerType):
        space = found.target.spaces.get(parameter.type.space, "global")
        if space == "shared":
            found.variables[name] = ir.Variable(name, "shared", "b8", None, 8, line=text.line)
            start.put("mov", ("b64",), (register, ir.SymbolRef(name)))
            return ir.Variable(name, "shared", "u64", 8, 8), name, None
        start.put("load", ("u64",), (register, ir.MemoryOperand(ir.SymbolRef(name))))
        if isinstance(type, StructureType):  # with a pointer as its one field, which clang passes in its place
            return ir.Variable(name, "param", "b8", 8, 8, fields=_fields(type, 8)), name, None
        _describe(found, name, node)
        element = type.element if isinstance(type, ScalarType) else None
        return ir.Variable(name, "param", "u64", 8, 8), name, element
    size = layout.bytes(parameter.type)
    leaves = list(layout.leaves(parameter.type))
    for place, (offset, scalar) in enumerate(leaves):
        own = parameter.register if isinstance(parameter.type, Scalar) else f"{parameter.register}.{place}"
        kind = as_bits(kind_of(scalar, "u", width_of(scalar, layout)))
        memory = {"b8": "s8", "b16": "s16"}.get(f"b{WIDTHS[kind]}", f"b{WIDTHS[kind]}")
        start.put("load", (memory,), (ir.Register(own), ir.MemoryOperand(ir.SymbolRef(name), offset)))
    kind = NUMBER if size == 8 else "b8"
    return ir.Variable(name, "param", kind, size, 8, fields=_fields(type, size)), name, None


def _fields(type: DescribedType | None, size: int) -> tuple[ir.Field, ...]:
    """Return the fields of what is passed by value, in so many bytes."""
    if type is None or -(-bits_of(type) // 8) != size:
        return ()
    return distinctly_named(fields_of(type))


def _describe(found: _Kernels, name: str, node: str) -> None:
    """Put down what the memory is made of that a parameter points to."""
    inner = pointee_of(found.debug, node) if node else None
    if inner is not None:
        whole = RepeatedType(inner, 0, bits_of(inner))
        found.arrays[DescribedArray(argument_array(name), whole)] = None


# variables

_VARIABLE = re.compile(
    r"(?:(?!addrspace)[a-z_]+(?:\([^)]*\))? )*(?:addrspace\((\d+)\) )?(?:externally_initialized )?(global|constant) "
)
"""The words before the type of a variable."""


def _variable(found: _Kernels, name: str) -> tuple[ir.Variable, tuple[str, ...]]:
    """Return a variable of a module, and the names of those that its value mentions."""
    text, line = found.module.globals[name]
    words = _VARIABLE.match(text)
    try:
        if words is None:
            raise IrError(f"the global {name} is not understood")
        extern = " external " in f" {words[0]}"
        constant = constant_of(found.module, name, text[words.end() :], not extern)
    except IrError as error:
        raise wrong(error, found.module.path, line) from None
    space = "const" if words[2] == "constant" else found.target.spaces.get(int(words[1] or 0), "global")
    names = [symbol.name for _, symbol in constant.addresses]
    variable = ir.Variable(
        found.names[name],
        space,
        "b8",
        None if extern and not constant.data else len(constant.data),
        constant.align,
        b"" if space == "shared" else constant.data,
        tuple(
            (place, symbol._replace(name=found.names.get(symbol.name, symbol.name)))
            for place, symbol in constant.addresses
        ),
        extern=extern,
        line=line,
    )
    return variable, tuple(names)
