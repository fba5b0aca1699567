"""Functions of LLVM as functions of the intermediate representation: an instruction becomes one, or one for each part.

    %12 = getelementptr inbounds %struct.node, ptr %11, i32 0, i32 1      getelementptr %12, %11, 8
    store i32 %10, ptr %12, align 8                                       store [%12], %10, 32
    %27 = cmpxchg weak ptr %21, i64 %25, i64 %26 release monotonic        cmpxchg %27.0|%27.1, [%21], %25, %26, 64

What has several parts, as a struct, has a register for each: ``%27.0`` and ``%27.1``. Where blocks meet, a phi is moves
on the ways to it. A variable of the stack of which nothing has the address is a register.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from corpus.code import ir
from corpus.code.calls import LIBRARY, WRITTEN_BY_US
from corpus.code.launch.created import RESULT
from corpus.code.llvm.accesses import ACCESSES
from corpus.code.llvm.arguments import HIDDEN, GivenArgument, registers_of
from corpus.code.llvm.bitfields import with_neighbours
from corpus.code.llvm.blocks import (
    ENTRY,
    Body,
    BodyBlock,
    body_of,
    literals_kept,
    only_accessed,
    successors,
)
from corpus.code.llvm.calls import CALLS
from corpus.code.llvm.choices import with_choices
from corpus.code.llvm.components import BodyComponents
from corpus.code.llvm.control import CONTROL, FunctionBlocks, go_to, label_of, translate_return
from corpus.code.llvm.debugging import DebugInformation
from corpus.code.llvm.lifetimes import with_lifetimes
from corpus.code.llvm.module import FunctionText, ModuleText
from corpus.code.llvm.operations import OPERATIONS
from corpus.code.llvm.promotion import promoted
from corpus.code.llvm.text import TextReader, tokens_of, unquoted
from corpus.code.llvm.types import (
    VOID,
    IrError,
    Scalar,
    Type,
)
from corpus.code.llvm.writing import FunctionTranslation, KernelDialect, emit, kind
from corpus.graphs import reachable
from corpus.litmus.orders import PLAIN

_PLAIN: Mapping[str, Callable[[FunctionTranslation, TextReader], None]] = {
    **ACCESSES,
    **OPERATIONS,
    **CALLS,
    "ret": translate_return,
}
"""The instructions but those of control by name, each with what translates it."""


def translated(
    module: ModuleText,
    debug: DebugInformation,
    function: FunctionText,
    lines: Mapping[str, Sequence[str]],
    defined: frozenset[str],
    library: bool,
    dialect: KernelDialect | None = None,
) -> tuple[ir.KernelFunction, tuple[str, ...]]:
    """Return a function, and the names of the globals that it mentions. Raises ``InputError`` where it is not of LLVM.

    ``lines``: the source by file, as far as it is known. ``defined``: the functions that have a body.
    """
    assert function.body is not None
    body = with_choices(with_lifetimes(body_of(function.body, function.line), debug))
    body = with_neighbours(body, debug, module.names)
    out = FunctionTranslation(module, debug, function, lines, defined, dialect=dialect)
    try:
        parameters, results_ = _head(out)
        _name_variables(out, body)
    except IrError as error:
        raise debug.wrong(error, module.path, function.line, _described(function)) from None
    phis = {block.label: [line for line in block.lines if line.name == "phi"] for block in body.blocks}
    beginnings = {block.label: next(line for line in block.lines if line.name != "phi") for block in body.blocks}
    blocks = FunctionBlocks(phis, _failing(body), beginnings, _outliving(out, body))
    try:
        for block in body.blocks:
            _block(out, block, blocks)
    except IrError as error:
        raise debug.wrong(error, module.path, out.line.line or function.line, _described(function)) from None
    if dialect is None and not any(ins.name == "ret" for ins in out.code):
        emit(out, "ret", ())  # where a thread is that exits, when what is called at its end is over
    directives = (*((LIBRARY,) if library or _is_of_library(out) else ()), *((WRITTEN_BY_US,) if library else ()))
    done = ir.KernelFunction(
        function.name,
        False,
        results_,
        parameters,
        out.registers,
        tuple(out.variables),
        tuple(out.code),
        out.labels,
        out.tables,
        directives,
        _line_of(out),
        called=_called_of(out),
    )
    called = (ins.operands[1] for ins in out.code if ins.name == "call")
    own = (symbol.name for symbol in called if isinstance(symbol, ir.SymbolRef))
    return done, tuple(dict.fromkeys((*_mentioned(body), *own)))


def _block(out: FunctionTranslation, block: BodyBlock, blocks: FunctionBlocks) -> None:
    blocks.block = block.label
    if block.label != ENTRY:
        out.labels[label_of(block.label)] = len(out.code)
    for line in block.lines:
        out.line, out.mode, out.doing = line, (PLAIN, None), ""
        if line.name == "phi":
            continue
        reader = TextReader(line.words, out.module.names)
        while reader.take("tail", "musttail", "notail"):
            pass
        name = reader.next()
        if line.line in blocks.literals:
            emit(out, "literal", ())
        try:
            if name == "unreachable" and block.label in blocks.passed:
                blocks.block, target = blocks.passed[block.label]
                go_to(out, blocks, target)
            elif name in CONTROL:
                CONTROL[name](out, reader, blocks)
            elif name in _PLAIN:
                _PLAIN[name](out, reader)
            else:
                raise IrError(f"the instruction {name} is not understood")
        except IrError as error:
            out.mode = (PLAIN, None)
            emit(out, "refused", (), ir.SymbolRef(str(error)))
    for label, target, line in blocks.edges:
        out.labels[label] = len(out.code)
        out.line, out.mode = line, (PLAIN, None)
        go_to(out, blocks, target)
    blocks.edges.clear()


def _outliving(out: FunctionTranslation, body: Body) -> frozenset[int]:
    """Return the lines of instructions that keep the address of a compound literal whose life ends before the call
    does: it is in a block of its function, or in a loop.
    """
    found = literals_kept(body) if out.dialect is None else frozenset()
    if not found:
        return found
    following = successors(body)
    blocks = {line.line: (block.label, line) for block in body.blocks for line in block.lines}

    def ends(number: int) -> bool:
        label, line = blocks[number]
        scope = out.debug.node(out.debug.node(line.place).get("scope", "")) if line.place else {"kind": ""}
        return scope["kind"] != "DISubprogram" or label in reachable(following[label], following.__getitem__)

    return frozenset(filter(ends, found))


def _failing(body: Body) -> dict[str, tuple[str, str]]:
    """Return the blocks in which an assertion fails, each with the block before and where that goes on otherwise.

    A thread whose assertion has failed goes on as if it had not, so that what others wait for comes.
    """
    ending = {block.label for block in body.blocks if any("@__assert_fail" in line.words for line in block.lines)}
    found: dict[str, tuple[str, str]] = {}
    for block in body.blocks:
        *_, last = block.lines
        targets = [unquoted(word) for place, word in enumerate(last.words) if last.words[place - 1] == "label"]
        if last.name == "br" and len(targets) == 2:
            one, other = targets
            found |= {one: (block.label, other)} if one in ending else {}
            found |= {other: (block.label, one)} if other in ending else {}
    return found


_HEADERS = re.compile(r"/(?:libcxx/include|include/c\+\+|c\+\+/v\d)/|^c11\.h$|/poll_with_backoff\.h$")
"""The paths of headers of the C++ library."""


def _is_of_library(out: FunctionTranslation) -> bool:
    """Decide whether a function is of a header of the C++ library."""
    found = re.search(r"!dbg (![0-9]+)", out.function.head)
    return bool(found and _HEADERS.search(out.debug.file(found[1])))


def _called_of(out: FunctionTranslation) -> str:
    """Return the name that the source has for a function; nothing where the module does not say it."""
    found = re.search(r"!dbg (![0-9]+)", out.function.head)
    return out.debug.function_name(found[1]) if found else ""


def _line_of(out: FunctionTranslation) -> int:
    """Return the line of the source that a function begins at, or of the module."""
    node = _described(out.function)
    text = out.debug.node(node).get("line", "") if node else ""
    return int(text) if text.isdigit() else out.function.line


def _described(function: FunctionText) -> str:
    """Return the node of the metadata that describes a function; nothing where there is none."""
    found = re.search(r"!dbg (![0-9]+)", function.head)
    return found[1] if found else ""


def _head(out: FunctionTranslation) -> tuple[tuple[ir.Variable, ...], tuple[ir.Variable, ...]]:
    """Return the parameters of a function, one for each scalar, and its results."""
    words = tokens_of(out.function.head)
    place = next(number for number, word in enumerate(words) if word.startswith("@"))
    before = TextReader(words[1:place], out.module.names)
    type: Type = VOID
    while before.word:
        mark = before.place
        for _ in before.attributes():
            if before.word.isdigit():
                before.next()
        if before.word:
            type = before.type()
        if before.place == mark:
            break
    reader = TextReader(words[place + 1 :], out.module.names)
    reader.expect("(")
    parameters: list[ir.Variable] = []
    given: list[GivenArgument] = []
    count = 0

    def parameter() -> None:
        nonlocal count
        if reader.take("..."):
            if out.dialect is None:
                out.taken = registers_of(given, out.module.names.layout)
                out.registers[HIDDEN] = "u64"
                parameters.append(ir.Variable(HIDDEN, "reg", "u64", 8, 8))
            return
        of = reader.type()
        given.append(GivenArgument(of, of if "byval" in [*reader.attributes()] else None))
        name = reader.next() if reader.word.startswith("%") else f"%{count}"
        count += 1
        leaves = list(out.module.names.layout.leaves(of))
        for number, (_, scalar) in enumerate(leaves):
            register = name if isinstance(of, Scalar) else f"{name}.{number}"
            form = kind(out, scalar)
            out.registers[register] = form
            parameters.append(ir.Variable(register, "reg", form, 8, 8))

    reader.listed(")", parameter)
    leaves = [scalar for _, scalar in out.module.names.layout.leaves(type)]
    names = [RESULT] if len(leaves) == 1 else [f"{RESULT}.{number}" for number in range(len(leaves))]
    out.registers |= {name: kind(out, scalar) for name, scalar in zip(names, leaves, strict=True)}
    found = tuple(ir.Variable(name, "reg", out.registers[name], 8, 8) for name in names)
    return tuple(parameters), found


def _name_variables(out: FunctionTranslation, body: Body) -> None:
    """Give the variables of the stack names: those of the source, with a number where several have one."""
    out.promoted = promoted(body, out.module.names) if out.dialect is None else {}
    out.accessed = only_accessed(body)
    out.declared = body.declared
    if out.dialect is not None and out.dialect.components:
        out.components = BodyComponents(body, out.module.names)
    taken: set[str] = set()
    for line in body.lines:
        if line.name != "alloca":
            continue
        node = body.declared.get(line.result, "")
        plain = (out.debug.name(node) if node else "") or line.result
        name, number = plain, 1
        while name in taken:
            number += 1
            name = f"{plain}'{number}"
        taken.add(name)
        if line.result in out.promoted:
            out.called[line.result] = name
            out.registers[name] = kind(out, out.promoted[line.result].type)
        else:
            out.called[line.result] = f"{out.function.name}.{name}"


def _mentioned(body: Body) -> Iterator[str]:
    """Yield the globals that the instructions of a body name."""
    for line in body.lines:
        for word in line.words:
            if word.startswith("@"):
                yield unquoted(word)
