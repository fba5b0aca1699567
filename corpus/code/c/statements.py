"""Functions of C as instructions: statements become branches (C11 6.8).

A variable whose address nobody takes is a register; others are memory of the thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from corpus.code import ir
from corpus.code.c.declarations import CFunctionName, ModuleParts, StoredVariable, TypeName
from corpus.code.c.emission import ObjectPlace, TypedValue, number_of, register_kind
from corpus.code.c.expressions import Builtin, ExpressionTranslator, nodes
from corpus.code.c.initialisers import counted, declared
from corpus.code.c.types import LONG, MOST_SLOTS, VOID, CArray, CFunction, CStruct, CType, plain, slots
from corpus.code.launch.creation import RESULT, SLOT
from corpus.code.refusals import NotUnderstoodError


class FunctionTranslator(ExpressionTranslator):
    """The translator of the statements of one function to instructions and labels."""

    def __init__(
        self, parts: ModuleParts, builtins: Mapping[str, Builtin], ctype: CFunction, body: c_ast.Compound
    ) -> None:
        super().__init__(parts, builtins)
        self._ctype, self._body = ctype, body
        self._breaks: list[str] = []
        self._continues: list[str] = []
        self._addressed = frozenset(_addressed(body))

    def translated(self, parameters: Sequence[tuple[str, CType]]) -> tuple[ir.Variable, ...]:
        """Translate the function and return its parameters."""
        self.names.enter()
        found: list[ir.Variable] = []
        copied: list[tuple[str, CType, ir.Register]] = []
        for name, ctype in parameters:
            if isinstance(ctype, CStruct):
                copied.append((name, ctype, self.new("u64")))
                register = copied[-1][2]
            elif name in self._addressed:
                copied.append((name, ctype, self.new(register_kind(ctype))))
                register = copied[-1][2]
            else:
                register = self._declared_register(name, ctype)
            found.append(ir.Variable(register.name, "reg", self.registers[register.name], SLOT, SLOT))
        for name, ctype, register in copied:
            place = self.object(name, ctype)
            if isinstance(ctype, CStruct):
                self.copy(place, ObjectPlace(ctype, None, register))
            else:
                self.store(place, TypedValue(register, plain(ctype)))
        self.statement(self._body)
        self._return(None)
        self.names.leave()
        return tuple(found)

    # statements

    def statement(self, node: c_ast.Node | None) -> None:
        """Translate a statement; one that is not understood is an instruction that is not."""
        outer, self._at = self._at, node or self._at
        mark = len(self.instructions)
        try:
            self._statement(node)
        except NotUnderstoodError as error:
            if isinstance(node, c_ast.Compound | c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.If | c_ast.Label):
                raise
            del self.instructions[mark:]
            file, line, column = error.path or "", error.line or 1, error.column or 1
            source = ir.SourceLine(file, line, column)
            text = self.parts.line_of(file, line)
            message = ir.SymbolRef(error.message)
            self.instructions.append(ir.KernelInstruction("refused", (), (message,), None, line, source, text=text))
        self._at = outer

    def _statement(self, node: c_ast.Node | None) -> None:
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.StaticAssert() | c_ast.Typename():
                pass
            case c_ast.Compound():
                self.names.enter()
                for each in node.block_items or ():
                    self.statement(each)
                self.names.leave()
            case c_ast.DeclList():
                for each in node.decls:
                    self.statement(each)
            case c_ast.Typedef():
                self.names.scopes[-1][node.name] = TypeName(self.names.typed(node.type))
            case c_ast.Decl():
                self._declare(node)
            case c_ast.If():
                otherwise, end = self.new_label(), self.new_label()
                self.jump(node.cond, otherwise, False)
                self.statement(node.iftrue)
                if node.iffalse is not None:
                    self.branch(end)
                self.label(otherwise)
                self.statement(node.iffalse)
                self.label(end)
            case c_ast.While():
                head, end = self.new_label(), self.new_label()
                self.label(head)
                self.jump(node.cond, end, False)
                self._loop(node.stmt, head, end)
                self.branch(head)
                self.label(end)
            case c_ast.DoWhile():
                head, again, end = self.new_label(), self.new_label(), self.new_label()
                self.label(head)
                self._loop(node.stmt, again, end)
                self.label(again)
                self.jump(node.cond, head, True)
                self.label(end)
            case c_ast.For():
                head, again, end = self.new_label(), self.new_label(), self.new_label()
                self.names.enter()
                if isinstance(node.init, c_ast.DeclList):
                    self.statement(node.init)
                elif node.init is not None:
                    self.effect(node.init)
                self.label(head)
                if node.cond is not None:
                    self.jump(node.cond, end, False)
                self._loop(node.stmt, again, end)
                self.label(again)
                if node.next is not None:
                    self.effect(node.next)
                self.branch(head)
                self.label(end)
                self.names.leave()
            case c_ast.Break() | c_ast.Continue():
                labels = self._breaks if isinstance(node, c_ast.Break) else self._continues
                if not labels:
                    raise self.names.expected(node, "expected a loop around break and continue")
                self.branch(labels[-1])
            case c_ast.Switch():
                self._switch(node)
            case c_ast.Return():
                self._return(node.expr)
            case c_ast.Goto():
                self.branch(f"{node.name}'")
            case c_ast.Label():
                if f"{node.name}'" in self.labels:
                    raise self.names.expected(node, f"the label {node.name} is there twice")
                self.label(f"{node.name}'")
                self.statement(node.stmt)
            case c_ast.Case() | c_ast.Default():
                raise self.names.wrong(node, "a case within another statement of a switch is not understood")
            case _:
                self.effect(node)

    def _loop(self, body: c_ast.Node, again: str, end: str) -> None:
        self._breaks.append(end)
        self._continues.append(again)
        self.statement(body)
        self._breaks.pop()
        self._continues.pop()

    def _switch(self, node: c_ast.Switch) -> None:
        value = self.converted(self.value(node.cond), LONG)
        end = self.new_label()
        items = node.stmt.block_items or () if isinstance(node.stmt, c_ast.Compound) else (node.stmt,)
        names: dict[int, str] = {}
        default = end
        for at, each in enumerate(items):
            if isinstance(each, c_ast.Case):
                chosen = self.names.constant(each.expr)
                if chosen is None:
                    raise self.names.expected(each, "expected a constant")
                names[at] = self.new_label()
                equal = self.compute("setp.eq.s64", "pred", value.operand, number_of(chosen, "s64"))
                self.branch(names[at], equal)
            elif isinstance(each, c_ast.Default):
                default = names[at] = self.new_label()
        self.branch(default)
        self.names.enter()
        self._breaks.append(end)
        for at, each in enumerate(items):
            if at in names:
                self.label(names[at])
                for inner in each.stmts or ():
                    self.statement(inner)
            else:
                self.statement(each)
        self._breaks.pop()
        self.names.leave()
        self.label(end)

    def _return(self, node: c_ast.Node | None) -> None:
        result = self._ctype.result
        if node is not None:
            if isinstance(result, CStruct):
                raise self.names.wrong(node, "a function that returns a struct is not understood")
            value = self.value(node) if result != VOID else self.effect(node)
            if value is not None and result != VOID:
                kind = register_kind(result)
                self.registers[RESULT] = kind
                self.move(kind, ir.Register(RESULT), self.converted(value, plain(result)).operand)
        self.emit("ret", ())

    # declarations

    def _declared_register(self, name: str, ctype: CType) -> ir.Register:
        free = next(
            each for n in range(1, 1 << 20) if (each := name if n == 1 else f"{name}'{n}") not in self.registers
        )
        self.registers[free] = register_kind(ctype)
        self.names.scopes[-1][name] = StoredVariable(ctype, ir.Register(free), True)
        return ir.Register(free)

    def _declare(self, node: c_ast.Decl) -> None:
        if isinstance(node.type, c_ast.Struct | c_ast.Enum | c_ast.Union):
            self.names.typed(c_ast.TypeDecl(None, [], None, node.type, node.coord))
            return
        ctype = self.names.typed(node)
        if isinstance(ctype, CFunction):
            self.names.scopes[-1][node.name] = CFunctionName(ctype)
            return
        if isinstance(ctype, CArray) and ctype.count is None:
            ctype = counted(self.names, ctype, node.init)
        if slots(ctype) > MOST_SLOTS:
            raise self.names.wrong(node, f"an object of more than {MOST_SLOTS} elements is not understood")
        if "static" in node.storage or "extern" in node.storage or "_Thread_local" in node.storage:
            self.names.scopes[-1][node.name] = declared(self.parts, node, ctype)
            return
        if isinstance(ctype, CArray | CStruct) or node.name in self._addressed:
            place = self.object(node.name, ctype)
        else:
            place = ObjectPlace(ctype, self._declared_register(node.name, ctype))
        if node.init is not None:
            self.initialise(place, node.init)


_TAKES_PLACE = {
    "atomic_compare_exchange_strong": (1,),
    "atomic_compare_exchange_weak": (1,),
    "atomic_compare_exchange_strong_explicit": (1,),
    "atomic_compare_exchange_weak_explicit": (1,),
    "__atomic_compare_exchange_n": (1,),
    "pthread_create": (0,),
    "thrd_create": (0,),
    "pthread_join": (1,),
    "thrd_join": (1,),
}
"""The arguments of functions of the library that name an object by ``&``, and take no address."""


def _addressed(node: c_ast.Node) -> Iterator[str]:
    """Yield the variables whose addresses a function takes."""
    spared = set()
    for each in nodes(node):
        match each:
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=exprs)):
                spared |= {id(exprs[at]) for at in _TAKES_PLACE.get(name, ()) if at < len(exprs)}
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)) if id(each) not in spared:
                yield name


Given = Iterator[tuple[int, c_ast.Node | int]]
