"""The reader of C (ISO C11, with threads of POSIX or of C11): a file as a module, whose kernel is ``main``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pycparser import c_ast, c_parser

from corpus.code import ir
from corpus.code.c.declarations import CFunctionName, ModuleParts, Names, TypeName, place_of
from corpus.code.c.initialisers import declared
from corpus.code.c.library import BUILTINS
from corpus.code.c.preprocessing import is_of_library, preprocessed
from corpus.code.c.statements import FunctionTranslator
from corpus.code.c.types import VOID, CFunction, CType
from corpus.code.calls import LIBRARY
from corpus.code.launch.creation import RESULT, SLOT
from corpus.errors import InputError

MOST_CHARACTERS = 2_000_000
"""The characters that a file may have after preprocessing."""

_DEEPEST = 200
"""The brackets that may be within each other."""


def read_c(text: str, path: str, options: Sequence[str] = ()) -> ir.Module:
    """Return a file of C as a module, with ``options`` for its preprocessor.

    Raises ``InputError`` where it is no C, and ``NotUnderstoodError``.
    """
    seen = preprocessed(text, path, options)
    if len(seen) > MOST_CHARACTERS:
        raise InputError(f"expected at most {MOST_CHARACTERS:,} characters after preprocessing", path)
    _check_depth(seen, path)
    try:
        tree = c_parser.CParser().parse(seen, path)
    except c_parser.ParseError as error:
        raise _said(str(error), path) from None
    except RecursionError:
        raise InputError("expected fewer expressions and statements within each other", path) from None
    except Exception as error:  # pycparser asserts of what it reads
        raise InputError(f"expected C: {error or type(error).__name__}", path) from None
    try:
        return _module(tree, text, path)
    except RecursionError:
        raise InputError("expected fewer expressions and statements within each other", path) from None


def _check_depth(text: str, path: str) -> None:
    depth = 0
    for bracket in re.finditer(r"[][(){}]", text):
        depth += 1 if bracket[0] in "([{" else -1
        if depth > _DEEPEST:
            raise InputError(f"expected at most {_DEEPEST} brackets within each other", path)


def _said(message: str, path: str) -> InputError:
    """Return what pycparser complains of as an error with its place."""
    found = re.match(r"(.*?):(\d+)(?::(\d+))?: (.*)", message, re.DOTALL)
    if found is None:
        return InputError(f"expected C: {message}", path)
    return InputError(f"expected C: {found[4]}", found[1] or path, int(found[2]), int(found[3] or 1))


def _module(tree: c_ast.FileAST, text: str, path: str) -> ir.Module:
    names = Names(path)
    defined = frozenset(node.decl.name for node in tree.ext if isinstance(node, c_ast.FuncDef))
    parts = ModuleParts(names, defined=defined)
    parts.sources[path] = text.splitlines()
    functions: dict[str, ir.KernelFunction] = {}
    for node in tree.ext:
        match node:
            case c_ast.Typedef():
                names.scopes[0][node.name] = TypeName(names.typed(node))
            case c_ast.FuncDef():
                ctype = names.typed(node.decl.type)
                assert isinstance(ctype, CFunction)
                name = node.decl.name
                if name in functions:
                    raise names.expected(node, f"the function {name} is there twice")
                names.scopes[0][name] = CFunctionName(ctype)
                _read_source(parts, node, path)
                functions[name] = _function(parts, node, ctype)
            case c_ast.Decl():
                _declare(parts, node)
            case c_ast.Pragma() | c_ast.StaticAssert() | c_ast.EmptyStatement():
                pass
            case _:
                raise names.wrong(node, "this declaration is not understood")
    main = functions.get("main")
    if main is None:
        raise InputError("expected a function main, in which a program of C begins", path)
    functions["main"] = replace(main, entry=True)
    return ir.Module(path, "C11", "", parts.variables, functions, "c")


def _read_source(parts: ModuleParts, node: c_ast.FuncDef, path: str) -> None:
    """Have the lines of an included file, which stands beside the file or where its name says."""
    file = place_of(node, path)[0]
    if file not in parts.sources and not is_of_library(file):
        places = (Path(path).parent / file, Path(file))
        found = next((each for each in places if each.is_file()), None)
        parts.sources[file] = found.read_text(encoding="utf-8", errors="replace").splitlines() if found else ()


def _declare(parts: ModuleParts, node: c_ast.Decl) -> None:
    names = parts.names
    if isinstance(node.type, c_ast.Struct | c_ast.Enum | c_ast.Union):
        names.typed(c_ast.TypeDecl(None, [], None, node.type, node.coord))
        return
    ctype = names.typed(node)
    if isinstance(ctype, CFunction):
        names.scopes[0][node.name] = CFunctionName(ctype)
        return
    names.scopes[0][node.name] = declared(parts, node, ctype)


def _function(parts: ModuleParts, node: c_ast.FuncDef, ctype: CFunction) -> ir.KernelFunction:
    name = node.decl.name
    file, line, _ = place_of(node, parts.names.path)
    translator = FunctionTranslator(parts, BUILTINS, ctype, node.body)
    parameters = translator.translated(list(_parameters(parts.names, node)))
    translator.registers.setdefault(RESULT, "u64")
    results = () if ctype.result == VOID else (ir.Variable(RESULT, "reg", translator.registers[RESULT], SLOT, SLOT),)
    for ins in translator.instructions:
        for each in ins.operands if ins.name == "bra" else ():
            if isinstance(each, ir.SymbolRef) and each.name not in translator.labels:
                wanted = f"there is no label {each.name.rstrip(chr(39))}"
                at = ins.source
                raise InputError(wanted, at.file if at else file, ins.line, at.column if at else 1)
    directives = (LIBRARY,) if is_of_library(file) else ()
    return ir.KernelFunction(
        name,
        False,
        results,
        parameters,
        translator.registers,
        tuple(translator.variables),
        tuple(translator.instructions),
        translator.labels,
        {},
        directives,
        line,
    )


def _parameters(names: Names, node: c_ast.FuncDef) -> Iterator[tuple[str, CType]]:
    yield from names.parameters(node.decl.type)
