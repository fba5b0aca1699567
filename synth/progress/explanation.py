"""Explanations of progress verdicts as text and as JSON. ``oracle.progress.explain`` finds them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from oracle.progress.explain import Exit, Explanation, Lasso, LtsStep, ModelLts
from oracle.progress.models import Guarantee, ProgressModel
from synth.accounts import Account

_SHOWN = 8  # the most places that are printed, for a reader's sake


def explanation_account(name: str, explanation: Explanation) -> Account:
    """Return the account of a verdict, as lines to read; ``name`` is the name of the test."""
    graph, model, lasso = explanation.graph, explanation.model, explanation.lasso
    lines = []
    promise = promise_text(model)
    if promise:
        lines += [f"Fair execution under {_base(model.name)}: {promise}.", ""]
    if lasso:
        lines += _lasso_lines(explanation, lasso)
    elif not explanation.exits:
        lines.append("No state can be reached again, so every run ends.")
    else:
        lines += _exit_lines(explanation)
    if model.placed is not None:
        chosen = "the scheduler chooses" if lasso else "it may be another one, and every run ends then as well"
        lines += ["", f"Of threads of which some thread is promised execution, one is shown: {chosen}."]
    masked = any(map(graph.masked, range(len(graph.states))))
    lanes = "; masked {..}: the lanes that wait for others to reconverge with them" if masked else ""
    states = len(graph.states)
    lines += ["", f"[{states} states; fair {{..}}: the threads promised fair execution before the step{lanes}]"]
    return Account(name, model.name, explanation.verdict, "", "\n".join(lines))


def explanation_record(name: str, explanation: Explanation) -> dict[str, Any]:
    """Return the explanation as plain data: ``lasso`` is null for TERMINATES, ``exits`` is empty for MAY_HANG."""
    graph, lasso = explanation.graph, explanation.lasso

    def steps(path: Sequence[LtsStep]) -> list[dict[str, Any]]:
        return [_step_record(graph, step) for step in path]

    return {
        "file": name,
        "model": explanation.model.name,
        "verdict": str(explanation.verdict),
        "lasso": lasso
        and {
            "stem": steps(lasso.stem),
            "cycle": steps(lasso.cycle),
            "promised": _members(lasso.promised),
            "stepping": _members(lasso.stepping),
            "starved": _members(lasso.starved),
        },
        "exits": [
            {
                "states": [_state_record(graph, node) for node in way.nodes],
                "promised": _members(way.promised),
                "stepping": _members(way.stepping),
                "leaving": _members(way.leaving),
                "path": steps(way.path),
            }
            for way in explanation.exits
        ],
    }


def step_text(graph: ModelLts, step: LtsStep) -> tuple[str, str, str]:
    """Return a step in three parts.

    They are the instruction and its outcome, the change of memory, and the threads that are promised execution.
    """
    action = graph.action(step)
    branch = {None: "", True: "taken", False: "not taken"}[action.taken]
    masked = graph.masked(step.source)
    outcome = ", ".join(part for part in (action.outcome, branch) if part)
    code = action.text.removesuffix(";") + (f"  [{outcome}]" if outcome else "")
    return (
        f"T{step.thread}: {code}",
        f"mem {_change_text(graph, step)}",
        f"fair {threads_text(graph.promised[step.source])}" + (f"  masked {threads_text(masked)}" if masked else ""),
    )


def memory_text(graph: ModelLts, node: int) -> str:
    """Return the values of all locations: ``1``, or ``[0 1]`` for several, or ``[x=0 y=1]`` where they have names."""
    values = list(map(str, graph.memory(node)))
    if graph.lts.locations:
        return f"[{' '.join(f'{name}={value}' for name, value in zip(graph.lts.locations, values, strict=True))}]"
    return values[0] if len(values) == 1 else f"[{' '.join(values)}]"


def _change_text(graph: ModelLts, step: LtsStep) -> str:
    """Return the change of memory by a step: ``[0 1]->[0 0]``, or ``[x=0 y=1->0]`` where locations have names."""
    if graph.lts.locations:
        values = zip(graph.lts.locations, graph.memory(step.source), graph.memory(step.target), strict=True)
        return f"[{' '.join(f'{name}={old}' if old == new else f'{name}={old}->{new}' for name, old, new in values)}]"
    before, after = memory_text(graph, step.source), memory_text(graph, step.target)
    return before if before == after else f"{before}->{after}"


def threads_text(mask: int) -> str:
    """Return a set of threads as in the figures of Sorensen et al. 2021: ``{0,1}``."""
    return f"{{{','.join(map(str, _members(mask)))}}}"


def counter_text(graph: ModelLts, thread: int, counter: int) -> str:
    """Return a program counter as text, ``end`` where the thread has ended."""
    return "end" if counter == graph.lts.ends[thread] else str(counter)


def summary(explanation: Explanation) -> str:
    """Return what happens in the explanation as a line, such as ``every run ends``."""
    lasso = explanation.lasso
    if lasso is None:
        return "every run ends"
    waiting = _stuck(explanation.graph, lasso)
    if waiting:
        masked = explanation.graph.masked(lasso.cycle[0].source)
        where = "for each other" if masked else "at a barrier"
        return f"{_names(waiting)} {'waits' if len(_members(waiting)) == 1 else 'wait'} {where}"
    if lasso.starved:
        return f"{_names(lasso.starved)} {'starves' if len(_members(lasso.starved)) == 1 else 'starve'}"
    return f"livelock of {_names(lasso.stepping)}"


def _stuck(graph: ModelLts, lasso: Lasso) -> int:
    """Return the mask of threads that wait at a barrier, where every thread that has not ended waits; else 0."""
    waiting = graph.waiting(lasso.cycle[0].source)
    return waiting if lasso.stepping & waiting else 0


def _lasso_lines(explanation: Explanation, lasso: Lasso) -> list[str]:
    graph, base = explanation.graph, _base(explanation.model.name)
    entry = lasso.cycle[0].source
    stem, cycle = _aligned(graph, lasso.stem, lasso.cycle)
    start = f"({_state_text(graph, 0)})"
    if waiting := _stuck(graph, lasso):
        lines = [f"From the start {start}:", "", *stem, "", f"Stuck: {_waiting_text(graph, entry, waiting)}"]
        return [*lines, "Nobody is left to come, so this is a hang under every model."]
    if stem:
        lines = [f"From the start {start}:", "", *stem, "", "and then, for ever:", "", *cycle, ""]
    else:
        lines = [f"Right from the start {start}, for ever:", "", *cycle, ""]
    if lasso.starved:
        starved = _members(lasso.starved & ~lasso.waiting)
        places = ", ".join(_place_text(graph, entry, tid) for tid in starved)
        lines += [f"Starved: {places}. Running, but without a step on the cycle."] if starved else []
        lines += [_waiting_text(graph, entry, lasso.waiting)] if lasso.waiting else []
    else:
        lines.append(f"Livelock: {_names(lasso.stepping)} step again and again, and undo what would let them end.")
    if not lasso.promised:
        return [*lines, f"Allowed: {base} promises execution to nobody on the cycle."]
    kept = f"{base} promises execution to {threads_text(lasso.promised)} on the cycle, "
    if not explanation.model.strong:
        consequence = "which steps on it" if len(_members(lasso.promised)) == 1 else "and each of them steps on it"
        return [*lines, f"Allowed: {kept}{consequence}."]
    count = len({step.source for step in lasso.cycle})
    where = "its one state" if count == 1 else f"its {count} states"
    return [*lines, f"Allowed: {kept}and takes all their steps from {where}: a trap,", "for these lead nowhere else."]


def _exit_lines(explanation: Explanation) -> list[str]:
    graph = explanation.graph
    places = len(explanation.exits)
    lines = [f"A run can go round in {'one place' if places == 1 else f'{places} places'} only, and must leave:"]
    for number, way in enumerate(explanation.exits[:_SHOWN], 1):
        lines += ["", f"{number}. {_place(graph, way)}", f"   {_reason(way)}", ""]
        lines += [f"   {line}" for line in _aligned(graph, way.path)[0]]
    if places > _SHOWN:
        lines += ["", f"and {places - _SHOWN} more places, which the JSON output lists."]
    return lines


def _place(graph: ModelLts, way: Exit) -> str:
    more = len(way.nodes) - 1
    others = "" if not more else " and 1 more state" if more == 1 else f" and {more} more states"
    verb = "spins" if len(_members(way.stepping)) == 1 else "go round"
    return f"{_names(way.stepping)} {verb} at: {_state_text(graph, way.nodes[0])}{others}."


def _reason(way: Exit) -> str:
    if way.leaving:
        verb = "is" if len(_members(way.leaving)) == 1 else "are"
        return f"{_names(way.leaving)} {verb} promised a step, and every such step leaves:"
    steps = "one promised step leads" if len(way.path) == 1 else f"{len(way.path)} promised steps lead"
    furthest = " from the furthest state" if len(way.nodes) > 1 else ""
    return f"What is possible again and again happens, and {steps} out{furthest}:"


def _aligned(graph: ModelLts, *paths: Sequence[LtsStep]) -> list[list[str]]:
    """Return the lines of each path, with the parts of a step in columns that all paths share."""
    rows = [[step_text(graph, step) for step in path] for path in paths]
    code, memory = (max((len(row[part]) for path in rows for row in path), default=0) for part in (0, 1))
    return [[f"  {row[0]:<{code}}  {row[1]:<{memory}}  {row[2]}" for row in path] for path in rows]


def _state_text(graph: ModelLts, node: int) -> str:
    counters = (f"T{t} at {counter_text(graph, t, c)}" for t, c in enumerate(graph.counters(node)))
    return f"mem {memory_text(graph, node)}, {', '.join(counters)}"


def _place_text(graph: ModelLts, node: int, thread: int) -> str:
    action = graph.action(LtsStep(node, thread, node))
    named = f" ({action.text})" if graph.lts.locations else ""
    return f"T{thread} at instruction {action.instruction}{named}"


def _waiting_text(graph: ModelLts, node: int, threads: int) -> str:
    masked = graph.masked(node) & threads
    parts = []
    for some, one, several in (
        (threads & ~masked, "waits for others to come.", "wait for others to come."),
        (
            masked,
            "is masked until the others come to where they reconverge.",
            "are masked until the others reconverge.",
        ),
    ):
        if some:
            places = ", ".join(_place_text(graph, node, tid) for tid in _members(some))
            parts.append(f"{places} {one if len(_members(some)) == 1 else several}")
    return " ".join(parts)


def _state_record(graph: ModelLts, node: int) -> dict[str, Any]:
    values, counters = list(graph.memory(node)), list(graph.counters(node))
    if not graph.lts.locations:
        return {"memory": values, "counters": counters}
    memory = dict(zip(graph.lts.locations, values, strict=True))
    masked = {"masked": _members(graph.masked(node))} if graph.masked(node) else {}
    return {"memory": memory, "counters": counters, "waiting": _members(graph.waiting(node)), **masked}


def _step_record(graph: ModelLts, step: LtsStep) -> dict[str, Any]:
    action = graph.action(step)
    outcome = {"outcome": action.outcome} if action.outcome else {}
    return {
        "thread": step.thread,
        "instruction": action.instruction,
        "text": action.text,
        **outcome,
        "taken": action.taken,
        "fair": _members(graph.promised[step.source]),
        "before": _state_record(graph, step.source),
        "after": _state_record(graph, step.target),
    }


def _members(mask: int) -> list[int]:
    return [tid for tid in range(mask.bit_length()) if mask >> tid & 1]


def _names(mask: int) -> str:
    *most, last = [f"T{tid}" for tid in _members(mask)]
    return f"{', '.join(most)} and {last}" if most else last


def _base(model: str) -> str:
    return model.rpartition("-")[0]


def promise_text(model: ProgressModel) -> str:
    """Return the promise of a model, as the docstring of its guarantee states it; empty where a user's has none.

    Where there are several levels, it is the promise at each, outermost first.
    """
    if len(model.levels) < 2:
        return _first_line(model.guarantee)
    promises = [(level.level.word, _first_line(level.guarantee) or "as its function says") for level in model.levels]
    return "; ".join(f"between {word}s, {text}" for word, text in promises) + "; a thread stands for its group"


def _first_line(guarantee: Guarantee) -> str:
    first = (inspect.getdoc(guarantee) or "").partition("\n")[0].rstrip(".")
    return first[:1].lower() + first[1:] if first[1:2].islower() else first
