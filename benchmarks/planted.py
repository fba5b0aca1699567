"""Planted wrong compilers: what a real compiler wrote, changed as a bug of a compiler would change it, and judged.

    python benchmarks/planted.py                 every mutation over minimal tests of vulkan and ptx
    python benchmarks/planted.py --tests 20      over so many tests of each suite
    python benchmarks/planted.py -o FILE         the table as Markdown

A mutation is a function from the text of a module to its text: it relaxes an order, drops a fence, narrows a scope,
moves an access. It is made wherever it can be, and a test whose text it leaves as it is does not count. A mutation is
caught where a program is WEAKER after it; where none is, the programs that it changes are SAME or STRONGER, which is
to say that the model takes the change for harmless over the suite.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import translation  # first: it sees to it that our packages are imported by their names
from rich.console import Console
from rich.table import Table

from backends.code_languages import CODE_LANGUAGES, TEST_COMPILERS
from backends.glsl.spirv import libraries, spirv_opt
from backends.shared.readback import CompiledTest, NotCompiledError, TestCompiler, observed
from backends.shared.toolchain import run
from corpus.dialects.registry import parse_litmus, read_litmus
from corpus.errors import InputError
from corpus.journal import read_corpus
from corpus.litmus.test import LitmusTest
from synth.translation.compiled import models_of
from synth.translation.judging import JudgedTranslation, judge_translation, outcome_text

EXAMPLES = Path(__file__).parents[1] / "examples" / "memory"
Lines = list[str]
"""The lines of a module."""


@dataclass(frozen=True)
class PlantedBug:
    """A mutation of a module: its name, the language of the module, and the change."""

    name: str
    language: str
    change: Callable[[Lines], Lines]


def mutated(text: str, bug: PlantedBug) -> str:
    """A module as a wrong compiler would have written it; the same text where the bug does not show."""
    return "\n".join(bug.change(text.splitlines())) + "\n"


# PTX


def _replaced(pattern: str, by: str) -> Callable[[Lines], Lines]:
    return lambda lines: [re.sub(pattern, by, line) for line in lines]


def _without(pattern: str) -> Callable[[Lines], Lines]:
    return lambda lines: [line for line in lines if not re.search(pattern, line)]


_ACCESS = r"^\s*(?:ld|st|atom|red)\.(?!param|const|local)"
_FENCE = r"^\s*fence\."


def _later(first: str, second: str, others: str) -> Callable[[Lines], Lines]:
    """Each instruction like the first is moved behind the next of ``others``, if that is like the second and uses
    nothing of it.
    """

    def change(lines: Lines) -> Lines:
        lines, index = list(lines), 0
        while index < len(lines):
            if re.search(first, lines[index]):
                other = next((n for n in range(index + 1, len(lines)) if re.search(others, lines[n])), None)
                between = [] if other is None else lines[index + 1 : other + 1]
                if other is not None and re.search(second, lines[other]) and not _uses(lines[index], between):
                    lines.insert(other, lines.pop(index))
                    index = other
            index += 1
        return lines

    return change


def _ptx_later(first: str, second: str) -> Callable[[Lines], Lines]:
    """Accesses and fences are moved behind the next of them."""
    return _later(first, second, rf"{_ACCESS}|{_FENCE}|^\s*(ret|call|bra)")


def _uses(line: str, others: Iterable[str]) -> bool:
    """Whether a line defines what other lines mention; of a store, and of a fence, nothing."""
    found = re.match(r"\s*(?:ld|atom)\S*\s+(%\w+)", line) or re.match(r"\s*(%\w+) = ", line)
    return found is not None and any(re.search(re.escape(found[1]) + r"\b", other) for other in others)


def _torn(lines: Lines) -> Lines:
    """An exchange is a load and a store."""
    exchange = re.compile(
        r"(?P<space>\s*)atom\.(?:\w+\.)*?(?P<scope>cta|gpu|sys)\.(?:global\.)?exch\.b32 (?P<target>\S+), "
        r"(?P<address>\[\S+\]), (?P<value>\S+);"
    )
    parts = (
        "{space}ld.relaxed.{scope}.u32 {target}, {address};",
        "{space}st.relaxed.{scope}.u32 {address}, {value};",
    )
    changed = []
    for line in lines:
        match = exchange.match(line)
        changed += [part.format(**match.groupdict()) for part in parts] if match else [line]
    return changed


_STORE, _LOAD = r"^\s*st\.(?!param|local)", r"^\s*ld\.(?!param|local|const)"

_PTX: Mapping[str, Callable[[Lines], Lines]] = {
    "a store releases nothing": _replaced(r"^(\s*)st\.release", r"\1st.relaxed"),
    "a load acquires nothing": _replaced(r"^(\s*)ld\.acquire", r"\1ld.relaxed"),
    "an update neither acquires nor releases": _replaced(r"^(\s*)atom\.(acq_rel|acquire|release)", r"\1atom.relaxed"),
    "a fence is dropped": _without(_FENCE),
    "fence.sc becomes fence.acq_rel": _replaced(r"fence\.sc", "fence.acq_rel"),
    "a scope becomes that of the block": _replaced(r"^(\s*(?:ld|st|atom|red|fence)\.\w+)\.(gpu|sys)", r"\1.cta"),
    "a relaxed access becomes weak": _replaced(r"^(\s*(?:ld|st))\.relaxed\.(?:cta|gpu|sys)", r"\1"),
    "a store sinks below a store that releases": _ptx_later(r"^\s*st\.(?!release|param|local)", r"^\s*st\.release"),
    "a load that acquires sinks below a load": _ptx_later(r"^\s*ld\.acquire", r"^\s*ld\.(?!acquire)"),
    "a store sinks below a fence": _ptx_later(_STORE, _FENCE),
    "a load sinks below a fence": _ptx_later(_LOAD, _FENCE),
    "a fence sinks below an access": _ptx_later(_FENCE, _ACCESS),
    "two loads change places": _ptx_later(r"^\s*ld\.relaxed", r"^\s*ld\.relaxed"),
    "an exchange is torn": _torn,
    "a barrier is dropped": _without(r"^\s*(?:bar|barrier)\."),
}


# SPIR-V

ACQUIRE, RELEASE, ACQ_REL, MEMORIES = 0x2, 0x4, 0x8, 0xFC0
MADE = {"available": 0x2000, "visible": 0x4000}
DEVICE, WORKGROUP, QUEUE_FAMILY = 1, 2, 5


class _Constants:
    """The constants of a module: their numbers by their ids, and ids for further numbers."""

    def __init__(self, lines: Lines) -> None:
        self.numbers: dict[str, int] = {}
        self.kind = "%uint"
        self.place = 0
        for place, line in enumerate(lines):
            if found := re.match(r"\s*(%\w+) = OpConstant (%u?int) (\d+)", line):
                self.numbers[found[1]] = int(found[3])
            if found := re.match(r"\s*(%\w+) = OpTypeInt 32 0", line):
                self.kind, self.place = found[1], place + 1
        self.added: dict[int, str] = {}

    def of(self, number: int) -> str:
        """The id of a constant, a new one where the module has none."""
        return self.added.setdefault(number, f"%planted_{number}")

    def finished(self, lines: Lines) -> Lines:
        """The module with its new constants."""
        new = [f"{name} = OpConstant {self.kind} {number}" for number, name in self.added.items()]
        return [*lines[: self.place], *new, *lines[self.place :]]


_OPERANDS = re.compile(r"^(\s*(?:%\w+ = )?)(Op\w+)((?: \S+)*)$")
_SEMANTICS: Mapping[str, tuple[int, ...]] = {
    "OpAtomicLoad": (3,),
    "OpAtomicStore": (2,),
    **dict.fromkeys(("OpAtomicExchange", "OpAtomicIAdd", "OpAtomicAnd", "OpAtomicOr", "OpAtomicXor"), (3,)),
    "OpAtomicCompareExchange": (3, 4),
    "OpMemoryBarrier": (1,),
    "OpControlBarrier": (2,),
}
"""The operands of instructions that are memory semantics, counted from 0, with the type of a result."""


_Change = Callable[[str, list[str], _Constants], list[str]]


def _with_operands(names: Sequence[str], change: _Change) -> Callable[[Lines], Lines]:
    """Instructions of these names with other operands."""

    def changed(lines: Lines) -> Lines:
        constants = _Constants(lines)
        found = []
        for line in lines:
            match = _OPERANDS.match(line)
            if match and match[2] in names:
                line = " ".join([match[1] + match[2], *change(match[2], match[3].split(), constants)])
            found.append(line)
        return constants.finished(found) if found != lines else lines

    return changed


def _semantics(names: Sequence[str], change: Callable[[int], int]) -> Callable[[Lines], Lines]:
    """Instructions of these names with other memory semantics."""

    def changed(name: str, operands: list[str], constants: _Constants) -> list[str]:
        for place in _SEMANTICS[name]:
            before = constants.numbers.get(operands[place])
            if before is not None and change(before) != before:
                operands[place] = constants.of(change(before))
        return operands

    return _with_operands(names, changed)


def _narrowed(name: str, operands: list[str], constants: _Constants) -> list[str]:
    place = {"OpAtomicLoad": 2, "OpAtomicStore": 1, "OpMemoryBarrier": 0}.get(name, 2)
    if constants.numbers.get(operands[place]) in (DEVICE, QUEUE_FAMILY):
        operands[place] = constants.of(WORKGROUP)
    return operands


def _relaxed(number: int) -> int:
    return 0 if number & (ACQUIRE | RELEASE | ACQ_REL) else number


def _halved(kept: int) -> Callable[[int], int]:
    """An acquire-release that is only one of the two."""
    gone = MADE["available"] if kept == ACQUIRE else MADE["visible"]
    return lambda number: (number & ~ACQ_REL | kept) & ~gone if number & ACQ_REL else number


_UPDATES = tuple(name for name in _SEMANTICS if re.match("OpAtomic(?!Load|Store)", name))
_EVERY = tuple(_SEMANTICS)
_SPIRV_ACCESS = r"= OpLoad |^\s*OpStore |OpAtomic|OpMemoryBarrier|OpControlBarrier"


def _spirv_later(first: str, second: str) -> Callable[[Lines], Lines]:
    """Accesses and fences of a block are moved behind the next of them."""
    return _later(first, second, f"{_SPIRV_ACCESS}|OpBranch|OpReturn|OpSwitch|OpLabel")


def _plain(lines: Lines) -> Lines:
    """An atomic store is a store like any other."""
    return [re.sub(r"OpAtomicStore (\S+) \S+ \S+ (\S+)", r"OpStore \1 \2 NonPrivatePointer", line) for line in lines]


def _spirv_torn(lines: Lines) -> Lines:
    changed = []
    for line in lines:
        found = re.match(r"(\s*)(%\w+) = OpAtomicExchange (\S+) (\S+) (\S+) (\S+) (\S+)", line)
        if found:
            space, target, kind, pointer, scope, _, value = found.groups()
            changed.append(f"{space}{target} = OpAtomicLoad {kind} {pointer} {scope} %planted_none")
            changed.append(f"{space}OpAtomicStore {pointer} {scope} %planted_none {value}")
        else:
            changed.append(line)
    if changed == lines:
        return lines
    place = _Constants(lines)
    return [*changed[: place.place], f"%planted_none = OpConstant {place.kind} 0", *changed[place.place :]]


_SPIRV_STORE = r"^\s*(OpStore|OpAtomicStore) "
_SPIRV: Mapping[str, Callable[[Lines], Lines]] = {
    "a store releases nothing": _semantics(["OpAtomicStore"], _relaxed),
    "a load acquires nothing": _semantics(["OpAtomicLoad"], _relaxed),
    "an update neither acquires nor releases": _semantics(_UPDATES, _relaxed),
    "a fence is dropped": _without("OpMemoryBarrier"),
    "a fence only acquires": _semantics(["OpMemoryBarrier"], _halved(ACQUIRE)),
    "a fence only releases": _semantics(["OpMemoryBarrier"], _halved(RELEASE)),
    "a barrier orders nothing": _semantics(["OpControlBarrier"], lambda number: 0),
    "a barrier is dropped": _without("OpControlBarrier"),
    "nothing is made available": _semantics(_EVERY, lambda number: number & ~MADE["available"]),
    "nothing is made visible": _semantics(_EVERY, lambda number: number & ~MADE["visible"]),
    "an order speaks for no memory": _semantics(_EVERY, lambda number: number & ~MEMORIES),
    "a scope becomes that of the workgroup": _with_operands([*_EVERY[:-1]], _narrowed),
    "an access becomes private": _replaced(r"(Op(?:Load|Store) .*?) NonPrivatePointer$", r"\1"),
    "an atomic store becomes plain": _plain,
    "a store sinks below a store that releases": _spirv_later(_SPIRV_STORE, "OpAtomicStore"),
    "an atomic load sinks below a load": _spirv_later("= OpAtomicLoad ", "= Op(Atomic)?Load "),
    "a fence sinks below an access": _spirv_later("OpMemoryBarrier", "Load |Store |OpAtomic"),
    "a store sinks below a fence": _spirv_later(_SPIRV_STORE, "OpMemoryBarrier"),
    "an exchange is torn": _spirv_torn,
}

BUGS = tuple(
    PlantedBug(name, language, change)
    for language, bugs in (("ptx", _PTX), ("spirv", _SPIRV))
    for name, change in bugs.items()
)
"""Every planted bug."""


# Compiled tests


def compiler_of(language: str) -> tuple[TestCompiler, str]:
    """The compiler whose text is changed, and the level at which it is called."""
    return {"ptx": (TEST_COMPILERS["cuda"][0], "-O3"), "spirv": (TEST_COMPILERS["glsl"][0], "-O")}[language]


def compiled(tests: Sequence[LitmusTest], language: str) -> Iterator[CompiledTest]:
    """The tests that the language can say, as its compiler leaves them, as text."""
    compiler, level = compiler_of(language)
    observing = [observed(test) for test in tests]
    with TemporaryDirectory(prefix="synth-planted-") as name:
        folder = Path(name)
        together = compiler.together(observing, level, folder) if compiler.together else [None] * len(observing)
        for test, known in zip(observing, together, strict=True):
            try:
                found = known or compiler.compile(test, level, folder)
            except (NotCompiledError, InputError):
                continue
            yield found if language == "ptx" else replace(found, code=disassembled(found.code, folder).encode())


_DEBUG = re.compile(
    r"^ *(?:%\w+ = OpString|OpSource(?:Continued|Extension)?|OpLine|OpNoLine|OpModuleProcessed)"
    r"(?:[^\"\n]|\"(?:[^\"\\]|\\.)*\")*\n",
    re.MULTILINE,
)


def disassembled(code: bytes, folder: Path) -> str:
    """SPIR-V as text, with the names of the source and without its lines."""
    tool = spirv_opt()
    assert tool is not None
    (folder / "code.spv").write_bytes(code)
    text = run(folder, [tool.with_name("spirv-dis"), folder / "code.spv"], environment=libraries(tool)).output
    return _DEBUG.sub("", text)


def judged(before: CompiledTest, bug: PlantedBug) -> JudgedTranslation | None:
    """The verdict on a test after a wrong compiler; None where the bug does not show in it."""
    text = mutated(before.text, bug)
    if text == mutated(before.text, replace(bug, change=lambda lines: lines)):
        return None
    after = CODE_LANGUAGES[bug.language].read(replace(before, code=text.encode()))
    compiler, _ = compiler_of(bug.language)
    return judge_translation(before.test, after, models_of(compiler.source, CODE_LANGUAGES[bug.language].model))


@dataclass(frozen=True)
class PlantedAnswer:
    """What came of a mutation over a suite: how many programs it changes, the verdicts on them, and the first program
    that is weaker, with the outcome that is added.
    """

    bug: PlantedBug
    verdicts: Counter[str]
    first: str = ""
    outcome: str = ""

    @property
    def caught(self) -> bool:
        """Whether a program is weaker."""
        return bool(self.first)


def answer(bug: PlantedBug, suite: Sequence[CompiledTest]) -> PlantedAnswer:
    """The answer on a mutation over a compiled suite."""
    verdicts: Counter[str] = Counter()
    first = outcome = ""
    for test in suite:
        try:
            found = judged(test, bug)
        except InputError as error:
            verdicts["NOT_READ"] += 1
            print(f"{test.path}, {bug.name}: {error}", file=sys.stderr)
            continue
        if found is None:
            continue
        verdicts[str(found.verdict)] += 1
        if not first and found.verdict == "WEAKER":
            first = test.path
            outcome = outcome_text(found.added[0]) if found.added else found.reason
    return PlantedAnswer(bug, verdicts, first, outcome)


# The table


def suites() -> Mapping[str, Sequence[LitmusTest]]:
    """The suite of each language: all minimal tests of its model up to four events, message passing and store buffering
    with updates and fences of every order, and the examples that ship.
    """
    folders = {"spirv": ("vulkan", "webgpu"), "ptx": ("", "ptx")}
    found: dict[str, list[LitmusTest]] = {}
    for language, model in (("spirv", "vulkan"), ("ptx", "ptx")):
        with TemporaryDirectory(prefix="synth-planted-") as name:
            suite = Path(name, "suite")
            command = ["memory", "--from", model, "--events", "2..4", "-o", str(suite)]
            translation.measuring.measure([translation.measuring.SYNTH, *command])
            found[language] = [parse_litmus(test.text, test.name) for test in read_corpus(suite).tests]
        shipped = (path for folder in folders[language] for path in sorted((EXAMPLES / folder).glob("*.litmus")))
        found[language] += [*translation.synchronised(), *map(read_litmus, shipped)]
    return found


def main() -> None:
    """Print the table of mutations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    heads = ("language", "mutation", "changed", "WEAKER", "first", "outcome")
    rows = []
    for language, tests in suites().items():
        suite = list(compiled(tests[: given.tests], language))
        for bug in BUGS:
            if bug.language == language:
                found = answer(bug, suite)
                changed = str(sum(found.verdicts.values()))
                rows.append((language, bug.name, changed, str(found.verdicts["WEAKER"]), found.first, found.outcome))
    table = Table(*heads, box=None)
    for row in rows:
        table.add_row(*row)
    Console(width=200).print(table)
    caught = sum(row[3] != "0" for row in rows)
    print(f"{caught} of {len(rows)} mutations are caught")
    if given.output:
        lines = [heads, tuple("---" for _ in heads), *rows]
        given.output.write_text("".join(f"| {' | '.join(row)} |\n" for row in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
