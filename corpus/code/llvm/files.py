"""Files of LLVM as code that is read: a program, whose kernel is ``main``, with what it uses of the library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from corpus.code import ir
from corpus.code.functions import UNWIND
from corpus.code.launch.created import OBJECTS
from corpus.code.llvm.constants import constant_of
from corpus.code.llvm.debugging import DebugInformation
from corpus.code.llvm.kernels import read_kernels, target_of
from corpus.code.llvm.module import ModuleText, module_of
from corpus.code.llvm.text import unquoted
from corpus.code.llvm.translation import translated
from corpus.code.llvm.types import IrError
from corpus.code.reading import CodeText, ReadCode
from corpus.errors import InputError
from corpus.files import read_bytes

ASSUMED_LINE = "\n; assumed: "
"""What stands before what is taken for granted of a module."""

LIBRARY_LINE = "\n; the library\n"
"""What stands between the module of a program and that of the library."""


def read(code: CodeText) -> ReadCode:
    """Return the kernels of a file, or its program. Raises ``InputError`` where it is not LLVM, or has neither."""
    own, _, library = code.text.partition(LIBRARY_LINE)
    modules = [module_of(own, code.path)]
    target = target_of(modules[0])
    if target is not None:
        return read_kernels(modules[0], code, target)
    if library:
        modules.append(module_of(_with_own_names(library), code.path))
    main = modules[0].functions.get("main")
    if main is None or main.body is None:
        raise InputError("expected a function main, in which a program begins", code.path)
    lines = {code.path: code.source.splitlines()}
    for path in dict.fromkeys(code.files.values()):
        if path not in lines and Path(path).is_file():
            lines[path] = read_bytes(Path(path)).decode("utf-8", "replace").splitlines()
    return ReadCode(_linked(modules, code, lines))


_OWN = re.compile(r"^(?:@([\w.$-]+) = (?:private|internal) |define internal [^@]*@([\w.$-]+)\()", re.MULTILINE)


def _with_own_names(library: str) -> str:
    """Return the library such that what is its own has other names than anything of a program: its strings, and what is
    ``static``.
    """
    own = {one or other for one, other in _OWN.findall(library)}

    def named(found: re.Match[str]) -> str:
        return f"@library.{found[1]}" if found[1] in own else found[0]

    return re.sub(r"@([\w.$-]+)", named, library) if own else library


def _linked(modules: Sequence[ModuleText], code: CodeText, lines: Mapping[str, Sequence[str]]) -> ir.Module:
    """Return the functions and globals that ``main`` reaches."""
    debugs = [DebugInformation(module.metadata, code.files) for module in modules]
    defined = frozenset(name for module in modules for name, text in module.functions.items() if text.body is not None)
    functions: dict[str, ir.KernelFunction] = {}
    variables: dict[str, ir.Variable] = {}
    waiting = ["main", *_constructors(modules[0]), *_constructors(modules[0], "llvm.global_dtors")]
    met = {*waiting}
    while waiting:
        name = waiting.pop()
        reached: Sequence[str] = ()
        place = next((n for n, module in enumerate(modules) if _has(module, name)), None)
        if place is None:
            if name.startswith(_OPAQUE):
                variables[name] = ir.Variable(name, "const", "b8", POINTER, POINTER)
            elif name in _STREAMS:
                variables[f"{name}'"] = ir.Variable(f"{name}'", "const", "b8", POINTER, POINTER)
                there = ((0, ir.SymbolRef(f"{name}'")),)
                variables[name] = ir.Variable(name, "const", "b8", POINTER, POINTER, addresses=there)
            for module, debug in zip(modules, debugs, strict=True):
                if name in module.functions:  # of which only the address is of use
                    text = module.functions[name]
                    functions[name] = ir.KernelFunction(
                        name, False, (), (), {}, (), None, {}, {}, (), text.line,
                        called=debug.function_name(_described(text.head)),
                    )  # fmt: skip
            continue
        module, debug = modules[place], debugs[place]
        if name in module.aliases:
            reached = (module.aliased(name),)
        elif name in module.functions:
            text = module.functions[name]
            functions[name], reached = translated(module, debug, text, lines, defined, place > 0)
        else:
            variables[name], reached = _variable(module, debug, name)
        waiting += [other for other in dict.fromkeys(reached) if other not in met]
        met.update(reached)
    main = replace(functions["main"], entry=True)
    functions["main"] = _with_calls(main, _constructors(modules[0]), _constructors(modules[0], "llvm.global_dtors"))
    assumed = tuple(re.findall(rf"^{ASSUMED_LINE.strip()} (.*)$", code.text, re.MULTILINE))
    unit = ir.COMPILED if code.files else "line"
    return ir.Module(code.path, modules[0].compiler, "", variables, functions, "llvm", unit, assumed)


_OPAQUE = ("_ZTI", "_ZTV", "__dso_handle", "_ZSt7nothrow", "_ZNSt3__14cout", "_ZNSt3__14cerr", "_ZNSt3__14clog")
"""How the names of globals of the C++ ABI begin, of which only the address is used."""

_STREAMS = ("stdin", "stdout", "stderr")
"""The globals that have the addresses of the streams of C."""

POINTER = 8
"""The bytes of an address."""


def _constructors(module: ModuleText, which: str = "llvm.global_ctors") -> tuple[str, ...]:
    """Return the functions that are called before ``main``, or behind it, in their order: by priority, then as they
    stand.
    """
    text, _ = module.globals.get(which, ("", 0))
    found = re.findall(r'\{ i32 (\d+), ptr (@(?:"[^"]*"|[-\w.$]+))', text)
    ordered = sorted(found, key=lambda pair: int(pair[0]))
    return tuple(module.aliased(unquoted(name)) for _, name in ordered)


def _with_calls(main: ir.KernelFunction, first: Sequence[str], last: Sequence[str]) -> ir.KernelFunction:
    """Return ``main`` with calls of functions before it, behind some that are left to be called at its end."""
    nothing, none = ir.Vector(()), ir.Register("_")
    body = main.body or ()
    line, source = (body[0].line, body[0].source) if body else (main.line, None)
    before = [
        ir.KernelInstruction("@__synth_at_exit", (), (none, ir.SymbolRef(name), ir.Number(0)), None, line, source)
        for name in reversed(last)
    ]
    before += [
        ir.KernelInstruction("call", (), (nothing, ir.SymbolRef(name), nothing), None, line, source) for name in first
    ]
    labels = {label: place + len(before) for label, place in main.labels.items()}
    tables = {_behind(name, len(before)): names for name, names in main.tables.items()}
    return replace(main, body=(*before, *body), labels=labels, tables=tables)


def _behind(table: str, count: int) -> str:
    """Return the name of a table of a function behind so many more instructions."""
    kind, _, place = table.partition(" ")
    return f"{kind} {int(place) + count}" if kind == UNWIND else table


def _has(module: ModuleText, name: str) -> bool:
    """Decide whether a module defines a function or global, or another name for one."""
    text = module.functions.get(name)
    if text is not None and text.body is not None:
        return True
    if name in module.globals:
        return not re.match(r"(?:\w+ )*external ", module.globals[name][0])
    return name in module.aliases


_GLOBAL_WORDS = re.compile(r"(?:[a-z_]+(?:\([^)]*\))? )*?(global|constant) ")


def _variable(module: ModuleText, debug: DebugInformation, name: str) -> tuple[ir.Variable, tuple[str, ...]]:
    """Return a global, and the names of those that its value mentions."""
    text, line = module.globals[name]
    found = _GLOBAL_WORDS.match(text)
    try:
        if found is None:
            raise IrError(f"the global {name} is not understood")
        local = "thread_local" in found[0]
        constant = constant_of(module, name, text[found.end() :])
    except IrError as error:
        raise debug.wrong(error, module.path, line, _described(text)) from None
    space = "const" if found[1] == "constant" else "local" if local else OBJECTS
    variable = ir.Variable(
        name,
        space,
        "b8",
        len(constant.data),
        constant.align,
        constant.data,
        constant.addresses,
        line=line,
        parts=_members(module, debug, text),
    )
    return variable, tuple(symbol.name for _, symbol in constant.addresses)


def _members(module: ModuleText, debug: DebugInformation, text: str) -> tuple[tuple[int, str], ...]:
    """Return the scalars of a global with their names behind it."""
    node = _described(text)
    return tuple((place, name) for place, _, name in debug.members(node)) if node else ()


def _described(text: str) -> str:
    """Return the node that describes a global; nothing where there is none."""
    found = re.search(r"!dbg (!\d+)", text)
    return found[1] if found else ""
