"""The lifetimes of variables of the stack of which clang does not say where they begin: those whose declaration a jump
passes, or that stand behind a label.

    switch (i) {        a jump to a case enters the block in which x is: its lifetime begins, and it holds nothing
        int x;
    case 0: x = 1;
    case 1: f(x);
    }                   its lifetime ends

C11 6.2.4p6: the lifetime is that of the block, each time it is entered, and what is there is indeterminate each time
the declaration is reached. The block is that of the debug metadata; where clang has not written a declaration that no
control reaches, it is told by the uses of the variable, if at all.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.code.llvm.blocks import (
    DECLARED,
    RENAMING,
    RESULT_SLOT,
    Body,
    BodyBlock,
    BodyLine,
    is_lifetime,
    kept,
    successors,
)
from corpus.code.llvm.debugging import MOST_DEPTH, DebugInformation

BEGIN, END, DOUBT, LEFT = "lifetime.start", "lifetime.end", "lifetime.doubt", "lifetime.left"
"""What a variable is from a line on: new; no more; new or as it was; or no more or as it was."""

UNTOLD_LIFETIME = "what a variable holds whose declaration a jump passes: what clang writes does not tell its block"

_OF_COMPILER = re.compile(r"%(?:retval|saved_stack|nrvo|[-\w$]*\..*)$")
"""The names of what clang itself puts on the stack."""


@dataclass(frozen=True, slots=True)
class Unmarked:
    """A variable of which clang does not say when it lives: the block of the source that it lives in, or the innermost
    one that has all its uses, and whether it is not known which of those around it is its own.
    """

    register: str
    scope: str
    doubtful: bool


def with_lifetimes(body: Body, debug: DebugInformation) -> Body:
    """Return a body without the lines of declarations, and with the lifetimes of all variables marked."""
    found = list(_unmarked(body, debug))
    for variable in found:
        if debug.node(variable.scope)["kind"] != "DISubprogram":
            body = _marked(body, variable, debug)
    again = {each.register for each in found if not each.doubtful}
    blocks = [BodyBlock(block.label, _declared(block.lines, again)) for block in body.blocks]
    return replace(body, blocks=[block for block in blocks if block.lines])


def _declared(lines: Sequence[BodyLine], again: Collection[str]) -> list[BodyLine]:
    """Return lines in which these variables begin anew where they are declared, and no more is said of declarations."""
    found = [
        _marking(BEGIN, line.words[1], line) if line.name == DECLARED and line.words[1] in again else line
        for line in lines
    ]
    return [line for line in found if line.name != DECLARED]


def _unmarked(body: Body, debug: DebugInformation) -> Iterator[Unmarked]:
    """Yield the variables whose lifetime nothing marks, but those that live as long as the call."""
    variables = {line.result for line in body.lines if line.name == "alloca"}
    if not variables:
        return
    marked = {word for line in body.lines if is_lifetime(line) for word in line.words}
    marked |= {line.words[1] for line in body.lines if line.name == DECLARED and "whole" not in line.words}
    nodes = {line.words[1]: line.words[2] for line in body.lines if line.name == DECLARED}
    names = {register: register for register in variables}
    uses: dict[str, set[str]] = {}
    for line in body.lines:
        named = {names[word] for word in line.words if word in names}
        if line.name in RENAMING and named:
            names[line.result] = next(iter(named))
            marked |= named if line.result in marked else set()
        elif line.name not in (DECLARED, "alloca"):
            for register in named:
                uses.setdefault(register, set()).add(line.place)
    for register in sorted(variables - marked):
        if register in nodes:
            fields = debug.node(nodes[register])
            if "arg" not in fields and "DIFlagArtificial" not in fields["text"]:
                yield Unmarked(register, fields.get("scope", ""), False)
        elif (
            register in uses
            and not _OF_COMPILER.match(register)
            and "" not in uses[register]
            and not _is_written_first(body, register)
        ):
            around = _common([scopes_of(debug, place) for place in uses[register]])
            if around and debug.node(around[0])["kind"] != "DISubprogram":
                yield Unmarked(register, around[0], not _is_body_of_switch(body, debug, around))


def _is_written_first(body: Body, register: str) -> bool:
    """Decide whether each block writes a variable before it does anything else with it, and nothing keeps its address:
    what it held before does not matter. Example: ``%tmp`` of the value of a statement expression, ``({ ..; p; })``.
    """
    names = {register}
    for line in body.lines:
        if line.name in RENAMING and names.intersection(line.words):
            names.add(line.result)
    return not kept(body, [register]) and all(_writes_first(block, names) for block in body.blocks)


def _writes_first(block: BodyBlock, names: Collection[str]) -> bool:
    lines = [line for line in block.lines if line.name not in (DECLARED, *RENAMING)]
    first, place = next(
        ((line, place) for line in lines for place, word in enumerate(line.words) if word in names), (None, 0)
    )
    if first is None:
        return True
    if first.name == "store":
        return first.words[place - 2 : place] == [",", "ptr"]
    copies = any(word.startswith(("@llvm.memcpy.", "@llvm.memset.")) for word in first.words)
    return copies and "," not in first.words[:place]


def scopes_of(debug: DebugInformation, place: str) -> tuple[str, ...]:
    """Return the blocks of the source that a place is in, from the innermost to the function."""
    found: list[str] = []
    scope = debug.node(place).get("scope", "") if place else ""
    while scope and len(found) < MOST_DEPTH * MOST_DEPTH:
        node = debug.node(scope)
        if node["kind"] != "DILexicalBlockFile":
            found.append(scope)
        if node["kind"] == "DISubprogram":
            break
        scope = node.get("scope", "")
    return tuple(found)


def _common(places: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the blocks that have all of several places."""
    every = set(places[0]).intersection(*places[1:])
    return tuple(scope for scope in places[0] if scope in every)


def _is_body_of_switch(body: Body, debug: DebugInformation, around: Sequence[str]) -> bool:
    """Decide whether the innermost of these blocks is right inside of what has a ``switch``, and no other jump can pass
    a declaration in them: a ``switch`` leads into itself only, and there are no labels.
    """
    if body.labelled:
        return False
    outside = {scope for line in body.lines if line.name == "switch" for scope in scopes_of(debug, line.place)[:1]}
    return outside.intersection(around[1:]) == {*around[1:2]}


def _marking(what: str, register: str, near: BodyLine) -> BodyLine:
    return BodyLine("", ["call", "void", f"@llvm.{what}", "(", "ptr", register, ")"], near.line, near.place)


def _marked(body: Body, variable: Unmarked, debug: DebugInformation) -> Body:
    """Return a body with marks where control comes into the block of a variable, and where it leaves it. One that is
    the result of the function itself stays.
    """
    begin, end = (DOUBT, LEFT) if variable.doubtful else (BEGIN, END)
    returned = variable.register == RESULT_SLOT and any(
        line.name == "ret" and len(line.words) > 2 for line in body.lines
    )
    inside = {block.label: [_is_inside(line, variable.scope, debug) for line in block.lines] for block in body.blocks}
    following = successors(body)
    first, last = _at_ends(inside, following)
    left = {target for label, targets in following.items() if last[label] for target in targets if not first[target]}
    blocks: list[BodyBlock] = []
    for block in body.blocks:
        now, lines = first[block.label], list[BodyLine]()
        if block.label in left and not returned:
            lines.append(_marking(end, variable.register, block.lines[0]))
        for line, there in zip(block.lines, inside[block.label], strict=True):
            if there is not None and there is not now:
                now = there
                if there or not returned:
                    lines.append(_marking(begin if there else end, variable.register, line))
            lines.append(line)
        if not now and any(first[target] for target in following[block.label]):
            lines.insert(-1, _marking(begin, variable.register, lines[-1]))
        blocks.append(BodyBlock(block.label, lines))
    return replace(body, blocks=blocks)


def _is_inside(line: BodyLine, scope: str, debug: DebugInformation) -> bool | None:
    """Decide whether a line is in a block of the source; None where it does not say."""
    return None if line.name == "phi" or not line.place else scope in scopes_of(debug, line.place)


def _at_ends(
    inside: Mapping[str, Sequence[bool | None]], following: Mapping[str, Sequence[str]]
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return whether each block begins in a block of the source, and whether it ends there. One that does not say is
    where one before it is.
    """
    said = {label: [there for there in lines if there is not None] for label, lines in inside.items()}
    first = {label: bool(lines) and lines[0] for label, lines in said.items()}
    last = {label: bool(lines) and lines[-1] for label, lines in said.items()}
    waiting = [label for label in last if last[label]]
    while waiting:
        for target in following[waiting.pop()]:
            if not said[target] and not last[target]:
                first[target] = last[target] = True
                waiting.append(target)
    return first, last
