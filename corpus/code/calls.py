"""Calls, returns and jumps: where control goes, whatever language the code is of."""

from __future__ import annotations

from corpus.code import ir
from corpus.code.evaluation import define, evaluate
from corpus.code.launch.barriers import arrive_at_end
from corpus.code.numbered import functions_of, part_by_number
from corpus.code.places import CODE, Cell, RegisterHome
from corpus.code.residual import END
from corpus.code.thread import FollowedThread, Frame, State
from corpus.code.values import ArrayAddress, Symbol, Unknown, Value
from corpus.litmus.instructions import Branch

MOST_CALLS = 200
"""Calls within calls. Of the library's, eight times as many."""

LIBRARY = "library"
"""The directive of a function of the library: what it does is said to be at the line that calls it."""

WRITTEN_BY_US = "written by us"
"""The directive of a function in C of the library, which no exception can go through."""

FAILING = ("__assertfail", "__trap")
"""Functions of the system by which a thread fails."""


def blamed(state: State, ins: ir.KernelInstruction | None) -> ir.KernelInstruction | None:
    """Return the instruction that is named for what one does: outside of the library, that which calls it."""
    function = state.function
    for frame in reversed(state.frames):
        if LIBRARY not in function.directives:
            break
        function, ins = frame.function, (frame.function.body or ())[frame.after - 1]
    return ins


CHECKS = "checks"
"""The word of a branch that only asks whether what the program does is defined."""


def branch_target(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> int:
    """Return the place that a branch leads to."""
    match ins.operands:
        case (ir.SymbolRef(name),) if name in state.function.labels:
            return state.function.labels[name]
    raise thread.out.wrong("no such label")


def branch(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``bra``: the thread goes on at its label."""
    state.place = branch_target(thread, state, ins)
    return True


def branch_by_index(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``brx.idx``: the thread goes on at one of a list of labels."""
    index, table = ins.operands
    value = evaluate(thread, state, index)
    keep_together(thread, ins, value)
    names = state.function.tables.get(table.name, ()) if isinstance(table, ir.SymbolRef) else ()
    if not isinstance(value, int) or value >= len(names) or names[value] not in state.function.labels:
        raise thread.out.wrong("with an index that memory decides it is not understood")
    state.place = state.function.labels[names[value]]
    return True


_UNIFORM = ("bra", "brx", "call", "ret")
"""The instructions of control with ``.uni``."""


def keep_together(thread: FollowedThread, ins: ir.KernelInstruction, way: Value) -> None:
    """Note which way a thread goes where ``.uni`` promises that its warp goes that way together (PTX ISA 9.1,
    9.7.12.3).
    """
    if "uni" not in ins.words or ins.name not in _UNIFORM or thread.launch.warp == 1:
        return
    if isinstance(way, int):
        thread.notes.uniform.setdefault(ins, []).append(way)
    else:
        thread.notes.assumed[f"all threads of a warp go one way at {ins.opcode} in line {ins.line}"] = None


def call(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Go into a function of the module, whose parameters are given; those of the system are known by name."""
    parts = [*ins.operands]
    results = parts.pop(0) if isinstance(parts[0], ir.Vector) else None
    arguments = parts[1] if len(parts) > 1 and isinstance(parts[1], ir.Vector) else ir.Vector(())
    given = results.parts if isinstance(results, ir.Vector) else ()
    targets = tuple(result.name for result in given if isinstance(result, ir.SymbolRef | ir.Register))
    value = evaluate(thread, state, parts[0]) if parts and isinstance(parts[0], ir.Register) else None
    if isinstance(value, Symbol) and thread.grows and isinstance(parts[0], ir.Register):
        every = functions_of(thread.module, len(arguments.parts))
        if not every:
            raise thread.out.wrong("a function whose address memory gives is not understood")
        return part_by_number(thread, state, state.place - 1, parts[0].name, value, every)
    if value == 0 and thread.grows:
        return thread.out.stops("null")
    name = _called(thread, state, parts[0]) if parts else ""
    function = thread.module.functions.get(name)
    if name in FAILING:
        return thread.out.stops("assert")
    if name in thread.language.functions:
        value = thread.language.functions[name](thread, state, arguments.parts)
        for target in targets:
            define(thread, state, Cell(state.depth, target, 0, 4), value)
        return True
    if thread.grows and (function is None or function.body is None) and name:
        known = ins._replace(
            name=f"@{name}", words=(), operands=(*(given[:1] or (ir.Register("_"),)), *arguments.parts)
        )
        row = thread.language.row_of(known, lambda register: 0)
        if not isinstance(row, str):
            return row.meaning(thread, state, known)
    if function is None or function.body is None:
        raise thread.out.wrong(f"{name or 'a function by its address'} is not in the module")
    if state.depth >= MOST_CALLS and _own_calls(state) >= MOST_CALLS:
        raise thread.out.wrong(f"more than {MOST_CALLS} calls within each other")
    if len(function.parameters) != len(arguments.parts) and not thread.grows:
        wanted, found = len(function.parameters), len(arguments.parts)
        raise thread.out.wrong(f"{name} has {wanted} parameters, and {found} are given")
    depth = state.depth + 1
    for variable, argument in zip(function.parameters, arguments.parts, strict=False):
        if variable.space == "reg":
            define(thread, state, RegisterHome(depth, variable.name), evaluate(thread, state, argument))
        elif isinstance(argument, ir.SymbolRef):
            _copy(thread, state, (state.depth, argument.name), (depth, variable.name))
        else:
            whole = Cell(depth, variable.name, 0, variable.size or 0)
            define(thread, state, whole, evaluate(thread, state, argument))
    state.frames = (*state.frames, Frame(state.function, state.function.name, state.place, targets))
    state.function, state.place = function, 0
    return True


def _own_calls(state: State) -> int:
    """Return how many calls are not over, of the library's an eighth."""
    library = sum(LIBRARY in frame.function.directives for frame in state.frames)
    return state.depth - library + library // 8


def _called(thread: FollowedThread, state: State, operand: ir.Operand) -> str:
    """Return the name of the function that an operand of a call is."""
    if isinstance(operand, ir.SymbolRef):
        return operand.name
    if not isinstance(operand, ir.Register):
        return ""
    value = evaluate(thread, state, operand)
    if not isinstance(value, ArrayAddress) or value.array.space != CODE or not value.array.name:
        raise thread.out.wrong("a function whose address memory gives is not understood")
    return value.array.name


def ret(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``ret``: the thread goes back to the caller, or ends."""
    return go_back(thread, state)


def end(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """Follow ``exit``: the thread ends, whatever called it."""
    state.frames = ()
    return go_back(thread, state)


def go_back(thread: FollowedThread, state: State) -> bool:
    """Go back to the caller; return whether there is one."""
    if not state.frames:
        arrive_at_end(thread, state)
        thread.out.put(Branch(END))
        return False
    if ir.NORETURN in state.function.directives:
        raise thread.out.wrong(f"{state.function.name} is {ir.NORETURN}, and returns, which is undefined")
    callee, depth, frame = state.function, state.depth, state.frames[-1]
    for variable, result in zip(callee.results, frame.results, strict=False):
        if variable.space == "reg":
            home = RegisterHome(depth, variable.name)
            value = state.known.get(home, Unknown(f"{variable.name}, which nothing has written"))
            define(thread, state, RegisterHome(depth - 1, result), value)
        else:
            _copy(thread, state, (depth, variable.name), (depth - 1, result))
    state.known = {home: value for home, value in state.known.items() if home.depth != depth}
    state.function, state.place, state.frames = frame.function, frame.after, state.frames[:-1]
    return True


def _copy(thread: FollowedThread, state: State, old: tuple[int, str], new: tuple[int, str]) -> None:
    """Copy what is known of the cells of a variable, by its depth and name, to those of another one."""
    for home, value in list(state.known.items()):
        if isinstance(home, Cell) and home[:2] == old:
            define(thread, state, Cell(*new, *home[2:]), value)
