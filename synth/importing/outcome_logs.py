r"""The logs of litmus7 and herd7. litmus7 runs tests, and herd7 lists the outcomes that a model allows.

Both print a block for each test, between whatever else they print:

    Test SB Allowed                     the name, and what is asked
    Histogram (3 states)                of herd7: States 3
    9     *>0:EAX=0; 1:EAX=0;           a count of litmus7's, :> or *> (what is asked for), and the final state
    4995  :>0:EAX=1; 1:EAX=0;
    4996  :>0:EAX=0; 1:EAX=1;
    Ok                                  or No, Undef, Succeeded, Failed; after Loop where loops were cut

    Witnesses
    Positive: 9, Negative: 9991
    Condition exists (0:EAX=0 /\ 1:EAX=0) is validated
    Hash=edd4722437d708675ed921e7607e77f0
    Observation SB Sometimes 9 9991

This is what the log readers of herdtools7 take (``tools/lexLog_tools.mll`` and ``litmus/skelUtil.ml`` of version 7.58).
litmus7 ends its log with the machine (``Machine:``, ``model name :`` as in /proc/cpuinfo), its own version, and how
many runs there were of each test (``#define NUMBER_OF_RUN 10``), which are launches here; one where it does not say.

A state of herd7 has no count: it counts as seen once. Gap: what is not a number in a state (addresses, labels, faults)
is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.shared.layout import outcome_terms
from backends.shared.outcomes import signed
from corpus.errors import InputError
from corpus.litmus.condition import parse_condition, print_proposition, spell
from corpus.litmus.normal import litmus_digest
from corpus.litmus.propositions import And, Atom, Condition, Not, Or, Proposition, Term, atoms_of
from corpus.litmus.test import LitmusTest

_TEST = re.compile(r"Test\s+([A-Za-z0-9_/.\-+\[\]:]+)(?:\s+(Allowed|Required|Forbidden))?\s*$")
_STATES = re.compile(r"States(?:\s+(\d{1,9}))?\s*$")
_HISTOGRAM = re.compile(r"Histogram(?:\s+\(\s*(\d{1,9})\s+states\s*\))?\s*$")
_ROW = re.compile(r"(?:(\d{1,18})\s*[:*]>)?((?:[^;#=]+=[^;#]+;)*)\s*(?:#.*)?$")
_BINDING = re.compile(
    r"\s*(?:(\d{1,9}):([\w.$%]+)|\[?([\w.$%]+(?:\[\d+\])?)\]?)\s*=\s*(-?(?:0x[0-9a-fA-F]{1,16}|\d{1,19}))\s*"
)
_VALID = re.compile(r"(?:Loop\s+)?(?:Undef|Succeeded|Failed|Ok|No|\?\?)\b")
_WITNESSES = re.compile(r"Positive:\s*(\d{1,18}),?\s*Negative:\s*(\d{1,18})\s*$")
_CONDITION = re.compile(r"Condition\s+(.*?)(?:\s+is\s+(?:NOT\s+)?validated)?\s*$")
_MACHINE = re.compile(r"Machine:\s*(\S.*?)\s*$")
_MODEL_NAME = re.compile(r"model name\s*:\s*(\S.*?)\s*$")
_RUNS = re.compile(r"#define\s+NUMBER_OF_RUN\s+(\d{1,9})\s*$")
_VERSION = re.compile(r"Revision\s+\S+,\s+version\s+(\S+)\s*$")
_ABOUT = {"machine": _MACHINE, "processor": _MODEL_NAME, "version": _VERSION, "runs": _RUNS}

State = tuple[tuple[str, int], ...]
"""The final value of each register (``P0:EAX``) and location."""


@dataclass(slots=True)
class Block:
    """A block of a log, which is of one test; ``line`` is where it begins, ``wrong`` why it cannot be used.

    ``tool`` is empty until the states begin. ``whole``: the block has all of its states.
    """

    name: str
    line: int
    is_asked: bool
    tool: str = ""
    states: int | None = None
    counts: Counter[State] = field(default_factory=Counter)
    rows: int = 0
    whole: bool = False
    witnesses: tuple[int, int] | None = None
    condition: str = ""
    wrong: str = ""


@dataclass(slots=True)
class OutcomeLog:
    """A reader of a log, line by line.

    ``blocks`` collects the log's statements on each test, ``machine``, ``processor`` and ``version`` those on where it
    was made, and ``runs`` how often each test was run.
    """

    blocks: list[Block] = field(default_factory=list)
    machine: str = ""
    processor: str = ""
    version: str = ""
    runs: str = ""

    def line(self, number: int, text: str) -> bool:
        """Read a line, and return whether it belongs to a log of litmus7 or herd7."""
        if head := _TEST.match(text):
            self.blocks.append(Block(head[1], number, head[2] is not None))
            return True
        for name, pattern in _ABOUT.items():
            if not getattr(self, name) and (match := pattern.match(text)):
                setattr(self, name, match[1])
        if not self.blocks:
            return False
        block = self.blocks[-1]
        if not block.tool:
            for tool, pattern in (("herd7", _STATES), ("litmus7", _HISTOGRAM)):
                if head := pattern.match(text):
                    block.tool, block.states = tool, int(head[1]) if head[1] else None
            if text.startswith("Fatal"):
                block.wrong = text.strip()
        elif not block.whole:
            _read_row(block, text)
        elif match := _WITNESSES.match(text):
            block.witnesses = int(match[1]), int(match[2])
        elif not block.condition and (match := _CONDITION.match(text)):
            block.condition = match[1]
        return True

    @property
    def test_blocks(self) -> list[Block]:
        """Return the blocks that are of tests: a message such as ``Test passed`` begins no block."""
        return [block for block in self.blocks if block.tool or block.is_asked]

    @property
    def device(self) -> str:
        """Return the device on which the log was made, in words; empty where the log does not say."""
        return ", ".join(filter(None, (self.processor, self.machine)))


def _read_row(block: Block, text: str) -> None:
    """Read a line after the head of the states: a state, or the word that ends them."""
    if _VALID.match(text):
        block.whole = True
        return
    if not text.strip() and (block.rows or block.states == 0):
        return
    row = _ROW.match(text.strip())
    if row is None:
        block.wrong = block.wrong or f"expected a final state, found {text.strip()[:40]!r}"
        return
    state = []
    for part in row[2].split(";")[:-1]:
        binding = _BINDING.fullmatch(part)
        if binding is None:
            block.wrong = block.wrong or f"expected a number in a register or location, found {part.strip()[:40]!r}"
            return
        thread, register, location, value = binding.groups()
        name = f"P{int(thread)}:{register}" if thread else location
        state.append((name, _word(int(value, 0) if "0x" in value else int(value))))
    block.rows += 1
    block.counts[tuple(state)] += int(row[1]) if row[1] else 1


def _word(value: int) -> int:
    """Return a 32-bit value as a signed number, which not every log has."""
    return signed(value) if 0 <= value < 1 << 32 else value


def block_fields(block: Block, test: LitmusTest, runs: int = 1) -> dict[str, Any]:
    """Return the fields of a result, without those of the device, of a test's block; litmus7 made ``runs`` runs of it.

    Raises ``InputError`` where the block is incomplete, contradicts itself, or is of another test.
    """
    if block.wrong:
        raise InputError(block.wrong)
    if not block.whole or block.states not in (None, block.rows):
        raise InputError(f"the log was cut: {block.rows} of {block.states or 'its'} final states are there")
    wanted = outcome_terms(test)
    named = _names(block.condition, test.condition, wanted)
    counts: Counter[tuple[int, ...]] = Counter()
    for state, count in block.counts.items():
        values = dict(state)
        lacking = [named[term] for term in wanted if named[term] not in values]
        if lacking:
            raise InputError(f"its final states do not have {lacking[0]}")
        counts[tuple(values[named[term]] for term in wanted)] += count
    total = sum(counts.values())
    if block.tool == "litmus7" and block.witnesses is not None and sum(block.witnesses) != total:
        raise InputError(f"the counts add up to {total}, and the log says {sum(block.witnesses)}")
    launches = runs if block.tool == "litmus7" and runs and total % runs == 0 else 1
    return {
        "test": test.name,
        "digest": litmus_digest(test),
        "backend": block.tool,
        "instances": max(1, total // launches),
        "iterations": launches,
        "stress": False,
        "terms": [spell(term) for term in wanted],
        "outcomes": sorted(counts.items()),
        "other": 0,
        "launches": launches,
        "hung": False,
    }


def _names(text: str, condition: Condition, wanted: Sequence[Term]) -> Mapping[Term, str]:
    """Return the log's name of each term of a test; ``text`` is the test's condition in the log.

    The log may name registers otherwise, as another architecture does: the condition shows which is which. Raises
    ``InputError`` where the log has another condition.
    """
    if not text:
        return {term: spell(term) for term in wanted}
    theirs = parse_condition(text, None, lambda term, token: None)
    pairs = list(zip(_mentions(condition), _mentions(theirs), strict=False))
    names: dict[Term, str] = {}
    for ours, other in pairs:
        if names.setdefault(ours, spell(other)) != spell(other):
            raise InputError(f"it asks for something else: {text}")
    if _shape(condition) != _shape(theirs) or len(set(names.values())) != len(names):
        raise InputError(f"it asks for something else: {text}")
    return {term: names.get(term, spell(term)) for term in wanted}


def _mentions(condition: Condition) -> list[Term]:
    """Return the registers and locations of a proposition, each as often as it is mentioned."""
    return [
        term
        for atom in atoms_of(condition.proposition)
        for term in (atom.left, atom.right)
        if not isinstance(term, int)
    ]


def _shape(condition: Condition) -> str:
    """Return a condition without the names of registers and locations; a negated equality becomes an inequality."""
    return f"{condition.quantifier} {print_proposition(_normal(condition.proposition), _kind)}"


def _kind(term: Term) -> str:
    return str(term) if isinstance(term, int) else spell(term).partition(":")[0] if ":" in spell(term) else "location"


def _normal(proposition: Proposition) -> Proposition:
    match proposition:
        case Not(Atom("eq", left, right)):
            return Atom("ne", left, right)
        case Not(body):
            return Not(_normal(body))
        case And(parts):
            return And(tuple(map(_normal, parts)))
        case Or(parts):
            return Or(tuple(map(_normal, parts)))
    return proposition
