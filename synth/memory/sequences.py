"""The check of tables of code sequences: the tests that a source model forbids and a table's machine reaches.

    synth map gfx90a.seq: no outcome that amdgpu forbids, of a program of up to 4 events, is reached

**Which programs decide.** Those with a forbidden outcome are too many to explore each on the machine. Those that are
*minimal* are few: after the removal of any instruction, and with any instruction one step weaker, the outcome is not
forbidden (``constraints.programs.forbidden``, by SAT until UNSAT). That they decide for all programs of their size is
for two reasons:

1. A machine does with less all that it does with more: without an instruction, or with a sequence that is within the
   first one (``oracle.operational.monotone``). So where the outcome of a program is reached, and a step leaves it
   forbidden, what the step leaves is reached, too; step by step one comes to a minimal test.
2. Steps by which a table loses something are none of these. Tests that have such an instruction in place of weaker
   ones are explored besides (``raised``). They are all, as the model forbids no less where an instruction is stronger.

Minimal tests are so under removal and weaker instructions alone: that an update is two accesses, that local memory is
global, and that threads are in different groups is a step on which the machine may do less (``SPARED``).

Outcomes are forbidden where each execution that ends so fails an axiom and raises no flag. LLVM's races are of reads,
which then return undef; what else an execution may not do, it may not do in a program that races elsewhere.

**Beyond the bound** there are shapes that are known by name (``corpus.executions.shapes``). They prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from constraints.loop import SolverEffort, solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.dialects.registry import dialect_for
from corpus.errors import InputError
from corpus.executions.execution import Execution, OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.sequences import ANY, RowKey, SequenceTable, row_for, rows_used, translated, words_of
from corpus.executions.shapes import shapes
from corpus.executions.text import execution_text, normal_form, parse_execution
from corpus.executions.vocabulary import KIND_WORDS, Vocabulary
from corpus.files import read_text
from corpus.journal import FoundTest, Journal, finish, first_free
from corpus.laws.amdgpu import GLOBAL, LOCAL
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import conjunction, propositions
from corpus.litmus.test import LitmusTest
from corpus.test import Test
from oracle.cat.syntax import MOST_BYTES
from oracle.consistency import AxiomaticModel, ConsistencyModel, machine_table
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Answer, judge
from oracle.executions.witness import MemoryExplanation
from oracle.operational.amdgpu import FAMILIES, machine_run
from oracle.operational.deletions import Deletion, deletions, is_reached
from oracle.operational.monotone import WordOrder, WordStep, lost_steps, raised, word_order
from synth import VERSION
from synth.inputs import MEMORY
from synth.memory.explanation import explanation_account, explanation_record, machine_account
from synth.memory.judging import explain_with, labelled_record
from synth.memory.refuting import SizeUnit
from synth.memory.suites import axiomatic
from synth.units import SearchRun, Until, effort_of, new_tests, search_rounds, search_statistics

SOURCE = "amdgpu"
"""The model that tables are to keep, where none is named."""

SPARED = frozenset({"split", "shared", "apart"})
"""The relaxations after which the machine may do less, so that minimal tests need not be minimal under them."""


@dataclass(frozen=True)
class NamedTable:
    """A table of code sequences under a name of its own, with the SHA-256 of its text."""

    name: str
    table: SequenceTable = field(hash=False, compare=False)
    digest: str

    def runs(self, test: LitmusTest) -> bool:
        """Return whether the machine has all that a test is about: in tgsplit mode there is no local memory."""
        local = any(location.region is Region.SHARED for location in test.locations)
        return FAMILIES[self.table.machine].local or not local


@dataclass(frozen=True)
class CheckedTables:
    """The question of a check: tables, the model that they are to keep, and the programs over which they are
    checked."""

    source: ConsistencyModel
    tables: tuple[NamedTable, ...]
    words: Vocabulary
    events: tuple[int, int]
    threads: tuple[int, int] | None = None
    scopes: tuple[str, ...] = ()

    @cached_property
    def order(self) -> WordOrder:
        """Return the words of programs by strength."""
        return word_order(self.words)

    def as_json(self) -> dict[str, Any]:
        """Return the question as a corpus of bugs keeps it, with the text of the model and of tables as digests."""
        return {
            "kind": MEMORY,
            "tables": {table.name: table.digest for table in self.tables},
            "events": list(self.events),
            "threads": self.threads and list(self.threads),
            "vocabulary": list(self.words.spelled),
            "models": [self.source.name],
            "model_digests": {self.source.name: self.source.digest},
        }


def named_tables(paths: Sequence[Path]) -> tuple[NamedTable, ...]:
    """Return the tables in some files, each named by the file's stem. Raises ``InputError`` where a file is wrong, and
    where two have one name.
    """
    found: dict[str, NamedTable] = {}
    for path in paths:
        table, _ = machine_table(str(path))
        if path.stem in found:
            raise InputError(f"a second table with the name {path.stem}", str(path))
        digest = sha256(read_text(path, MOST_BYTES).encode()).hexdigest()
        found[path.stem] = NamedTable(path.stem, table, digest)
    return tuple(found.values())


def checked_tables(
    tables: Sequence[NamedTable],
    source: ConsistencyModel,
    events: tuple[int, int],
    threads: tuple[int, int] | None = None,
    scopes: tuple[str, ...] = (),
) -> CheckedTables:
    """Return the check of tables over programs of all instructions that have a row in any of them.

    ``scopes``, where there are any, are those to keep. Raises ``InputError`` where a table has no row for a write, and
    where the model is none in a .cat file.
    """
    axiomatic(source)
    every = [words_of(table.table, FAMILIES[table.table.machine].local) for table in tables]
    modes = {
        kind: tuple(dict.fromkeys(mode for words in every for mode in words.modes.get(kind, ())))
        for kind in dict.fromkeys(kind for words in every for kind in words.modes)
    }
    words = replace(max(every, key=lambda words: len(words.regions)), modes=modes)
    if scopes:
        words = words.within([scope for scope in Scope if scope.label in scopes])
    return CheckedTables(source, tuple(tables), words, events, threads, scopes)


def minimal_tests(
    sizes: tuple[int, ...], check: CheckedTables, solver: str, effort: SolverEffort | None = None
) -> Iterator[Execution]:
    """Yield the minimal tests whose threads have so many events, in normal form."""
    question = SeparationQuestion(axiomatic(check.source), spared=SPARED)
    yield from map(normal_form, solutions(Forbidden(question, check.words, sizes), solver, effort=effort))


def run_unit(unit: SizeUnit, check: CheckedTables, solver: str) -> Iterator[list[FoundTest] | dict[str, int]]:
    """Yield the minimal tests of a unit, each as soon as it is found, and last its statistics."""
    effort = SolverEffort()
    for execution in minimal_tests(unit.sizes, check, solver, effort):
        yield [FoundTest(execution_text(execution))]
    yield asdict(effort)


@cache
def named_suite(texts: tuple[str, ...]) -> tuple[tuple[int, LitmusTest], ...]:
    """Return the tests of executions, smallest first, each under a name of its own and with its number of events."""
    executions = [parse_execution(text) for text in texts]
    taken: set[str] = set()
    found = []
    for execution in sorted(executions, key=lambda shape: (shape.size, len(shape.threads), execution_text(shape))):
        name, turned = name_of(execution)
        name = first_free(name, taken)
        taken.add(name)
        found.append((execution.size, litmus_test(turned, name, observed=False)))
    return tuple(found)


@dataclass(frozen=True)
class TableBug:
    """A bug: a test with an outcome that the source forbids, and that the machine reaches. ``kind``: a minimal test, a
    ``stronger`` one or a ``shape``."""

    test: LitmusTest
    size: int
    kind: str


MINIMAL, STRONGER, SHAPE = "minimal", "stronger", "shape"


@dataclass(frozen=True)
class JudgedDeletion:
    """A table with a part of a row less: the step, ``F.sc.gpu: without buffer_inv sc1=1``, and the bug if it has one.

    ``kind`` is that of the bug, and ``size`` its number of events.
    """

    step: str
    bug: str = ""
    kind: str = ""
    size: int = 0


@dataclass
class TableAnswer:
    """What is known of a table: the size up to which it was searched, the tests that were explored, and the bugs of the
    first size that has any.

    ``lost``: steps by which it orders less for a stronger instruction, in words. ``beyond``: shapes of more events that
    are reached, of so many ``shapes``, None where these were not explored. ``deletions``: if they were asked for.
    """

    table: NamedTable
    events: int
    explored: int = 0
    bugs: list[TableBug] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    beyond: list[TableBug] = field(default_factory=list)
    shapes: int | None = None
    deletions: list[JudgedDeletion] = field(default_factory=list)

    @property
    def wrong(self) -> bool:
        """Return whether the table has a bug, of whatever size."""
        return bool(self.bugs or self.beyond)


@dataclass
class SearchedTables:
    """The state of a search: an answer for each table, the minimal tests as text, and why no further, where that was
    cut short."""

    answers: list[TableAnswer]
    suite: tuple[str, ...] = ()
    stopped: str = ""


def search_tables(check: CheckedTables, run: SearchRun) -> SearchedTables:
    """Search every size up to the first at which each table has bugs, then the shapes beyond.

    The tests of units that the journal has closed are explored again. A search that was cut short tells of what was
    found till then.
    """
    found = {row.program: None for founds in run.journal.units.values() for row in founds}
    done = SearchedTables([TableAnswer(table, check.events[0] - 1) for table in check.tables])
    lost = {table.name: lost_steps(table.table, check.order) for table in check.tables}
    for answer in done.answers:
        answer.lost = [step.text for step in lost[answer.table.name]]

    def take(unit: SizeUnit, founds: list[FoundTest]) -> list[FoundTest]:
        new = new_tests(founds, found)
        found.update({unit.program: None for unit in new})
        return new

    explored: set[str] = set()
    units = (
        (events, [SizeUnit(sizes) for sizes in splits(events, check.threads)[::-1]])
        for events in range(check.events[0], check.events[1] + 1)
    )
    work = partial(run_unit, check=check, solver=run.solver)
    timely = replace(run, until=Until(moment=run.until.moment))
    for events, left in search_rounds(units, work, take, lambda: len(found), timely):
        done.stopped = left
        done.suite = tuple(found)
        here = [sized for sized in named_suite(done.suite) if sized[0] == events and sized[1].name not in explored]
        explored |= {test.name for _, test in here}
        for answer in done.answers:
            if not answer.bugs:
                tests = (
                    (size, test, kind)
                    for size, minimal in here
                    for kind, test in _with_stronger(minimal, lost[answer.table.name], check)
                )
                stopped = _explore(answer, tests, answer.bugs, check, run.until)
                done.stopped = done.stopped or stopped
                answer.events = answer.events if done.stopped else events
        if done.stopped or all(answer.bugs for answer in done.answers):
            break
    for answer in done.answers:
        if not done.stopped and not answer.bugs:
            answer.shapes = 0
            beyond = _shapes_beyond(check.events[1], check.scopes)
            done.stopped = _explore(answer, beyond, answer.beyond, check, run.until)
    return done


def _with_stronger(
    minimal: LitmusTest, lost: Sequence[WordStep], check: CheckedTables
) -> Iterator[tuple[str, LitmusTest]]:
    """A minimal test, then those with instructions from which a step is lost."""
    yield MINIMAL, minimal
    for test in raised(minimal, lost, check.order):
        yield STRONGER, test


def _shapes_beyond(events: int, scopes: tuple[str, ...]) -> Iterator[tuple[int, LitmusTest, str]]:
    """The named shapes that have more events than what was searched, of the scopes that are asked for."""
    for test in shapes():
        size = events_of(test)
        if size > events and (not scopes or _scopes(test) <= {*scopes}):
            yield size, test, SHAPE


def events_of(test: LitmusTest) -> int:
    """Return the number of events of a test: two of an update, one of each other instruction."""
    return sum(1 + isinstance(ins, Rmw) for ins in test.instructions)


def _scopes(test: LitmusTest) -> set[str]:
    modes = [ins.mode for ins in test.instructions if isinstance(ins, Load | Store | Rmw | Fence)]
    return {mode.scope.label for mode in modes if mode.scope is not None}


def _explore(
    answer: TableAnswer,
    tests: Iterator[tuple[int, LitmusTest, str]],
    bugs: list[TableBug],
    check: CheckedTables,
    until: Until,
) -> str:
    """Explore tests on a table's machine, add those that are bugs, and return why some are left; empty if none is."""
    for size, test, kind in tests:
        if reason := until.reason(len(bugs)):
            return reason
        if not answer.table.runs(test) or not _rows(test, answer.table.table):
            continue
        if kind == SHAPE:
            answer.shapes = (answer.shapes or 0) + 1
        else:
            answer.explored += 1
        if is_bug(test, answer.table.table, check.source):
            bugs.append(TableBug(test, size, kind))
    return ""


def is_bug(test: LitmusTest, table: SequenceTable, source: ConsistencyModel) -> bool:
    """Return whether a table's machine reaches the outcome of a test, and the source forbids it."""
    return is_reached(test, table) and judge(test, axiomatic(source), counts=False).answer is Answer.FORBIDDEN


def _rows(test: LitmusTest, table: SequenceTable) -> frozenset[RowKey]:
    """The rows that a test is translated by; none where another table has the word, or another address space."""
    try:
        return rows_used(test, table)
    except InputError:
        return frozenset()


# Parts of rows less


@dataclass(frozen=True)
class DeletionUnit:
    """A table with a part of a row less, as a unit of the search."""

    table: NamedTable
    number: int
    deletion: Deletion

    @property
    def name(self) -> str:
        """Return the name of the unit: the table, and the deletion by its number and in words."""
        return f"{self.table.name} {self.number}: {step_text(self.deletion)}"


def step_text(deletion: Deletion) -> str:
    """Return a deletion in words, ``F.acquire.gpu: without buffer_inv sc1=1``."""
    return f"{deletion.row.text}: without {deletion.part}"


def judged_deletion(
    unit: DeletionUnit, check: CheckedTables, suite: tuple[str, ...], known: frozenset[str]
) -> JudgedDeletion:
    """Return whether a part of a row is needed: by a minimal test with that row, by a stronger test, or by a shape.

    ``known``: shapes that the whole table reaches already. Tests without the row are as before.
    """
    deletion, step = unit.deletion, step_text(unit.deletion)
    before = lost_steps(unit.table.table, check.order)
    lost = lost_steps(deletion.table, check.order)
    new = [step for step in lost if step not in before]
    tests = (
        (size, test, kind if size <= check.events[1] else SHAPE)
        for size, one, rows in _tests_with_rows(unit.table, suite, check.events[1], check.scopes)
        if one.name not in known
        for kind, test in _with_stronger(one, lost if size <= check.events[1] else new, check)
        if deletion.row in (rows if kind == MINIMAL else _rows(test, deletion.table))
    )
    for size, test, kind in tests:
        if is_bug(test, deletion.table, check.source):
            return JudgedDeletion(step, test.name, kind, size)
    return JudgedDeletion(step)


@cache
def _tests_with_rows(
    named: NamedTable, suite: tuple[str, ...], events: int, scopes: tuple[str, ...]
) -> list[tuple[int, LitmusTest, frozenset[RowKey]]]:
    """The minimal tests and then the shapes of more events that a machine runs, with their sizes and rows."""
    tests = [*named_suite(suite), *((size, test) for size, test, _ in _shapes_beyond(events, scopes))]
    return [(size, test, rows) for size, test in tests if named.runs(test) and (rows := _rows(test, named.table))]


def run_deletion(
    unit: DeletionUnit, check: CheckedTables, suite: tuple[str, ...], known: frozenset[str]
) -> Iterator[list[FoundTest] | dict[str, Any]]:
    """Yield the judgement of a deletion as the statistics of its unit."""
    yield {**asdict(SolverEffort()), **asdict(judged_deletion(unit, check, suite, known))}


def search_deletions(done: SearchedTables, check: CheckedTables, run: SearchRun) -> None:
    """Add to the answer on each table without a bug of the sizes searched what each part of its rows is needed for.

    Rows that no program here is translated by are left out.
    """
    for answer in done.answers:
        if done.stopped or answer.bugs:
            continue
        rows = _rows_of_words(answer.table, check.words)
        parts = [deletion for deletion in deletions(answer.table.table) if deletion.row in rows]
        units = [DeletionUnit(answer.table, number, part) for number, part in enumerate(parts)]
        known = frozenset(bug.test.name for bug in answer.beyond)
        work = partial(run_deletion, check=check, suite=done.suite, known=known)
        done.stopped, found = search_statistics(units, work, run)
        answer.deletions = [_judged(statistics) for _, statistics in found]


def _rows_of_words(named: NamedTable, words: Vocabulary) -> set[RowKey]:
    local = (LOCAL,) if FAMILIES[named.table.machine].local else ()
    rows = {
        row_for(KIND_WORDS[kind], mode, ANY if kind is OpKind.FENCE else space, named.table)
        for kind, modes in words.modes.items()
        for mode in modes
        for space in (GLOBAL, *local)
    }
    return {row for row in rows if row is not None}


def _judged(closed: Mapping[str, Any]) -> JudgedDeletion:
    return JudgedDeletion(closed["step"], closed["bug"], closed["kind"], closed["size"])


# What comes out


@dataclass(frozen=True)
class ExplainedTableBug:
    """A bug of a table, with why the source forbids the outcome, and a shortest run of the machine to it."""

    bug: TableBug
    table: NamedTable
    source: AxiomaticModel
    explanation: MemoryExplanation
    run: tuple[str, ...]

    @property
    def record(self) -> Test:
        """Return the test as one of a corpus."""
        test = self.bug.test
        return labelled_record(test, dialect_for(test)[1], self.bug.size, (self.source,))

    @property
    def code(self) -> tuple[tuple[str, ...], ...]:
        """Return the machine instructions of each thread."""
        test = self.bug.test
        return tuple(tuple(step.instruction.text for step in thread) for thread in translated(test, self.table.table))

    def target_lines(self) -> Iterator[str]:
        """Yield the lines of the machine's side: its program, and the run."""
        yield machine_account(self.bug.test, self.table.name, self.code, self.run).text()

    def lines(self) -> Iterator[str]:
        """Yield the lines of both sides."""
        yield from ("source", "", self.record.text, explanation_account(self.explanation, UNROLL).text())
        yield from ("target", "", *self.target_lines())

    def as_json(self) -> dict[str, Any]:
        """Return the bug as plain data."""
        record = self.record
        source = {"text": record.text, **explanation_record(record.name, self.explanation, UNROLL)}
        del source["file"]
        target = {"model": self.table.name, "verdict": Answer.ALLOWED, "code": self.code, "run": list(self.run)}
        return {
            "name": record.name,
            "events": self.bug.size,
            "kind": self.bug.kind,
            "source": source,
            "target": target,
        }


def explain_table_bug(bug: TableBug, table: NamedTable, source: ConsistencyModel) -> ExplainedTableBug:
    """Return a bug with what explains it."""
    assert isinstance(source, AxiomaticModel)  # as ``checked_tables`` has it
    condition = conjunction(propositions(bug.test.condition))
    run = machine_run(bug.test, translated(bug.test, table.table), FAMILIES[table.table.machine], condition)
    assert run is not None  # the machine reaches the outcome
    return ExplainedTableBug(bug, table, source, explain_with(bug.test, axiomatic(source), UNROLL), run)


def write_table_bugs(
    journal: Journal, answer: TableAnswer, bugs: Sequence[ExplainedTableBug], stopped: str, solver: str, seconds: float
) -> None:
    """Turn the journal into the corpus of the tests that break a table. Raises ``InputError`` where a file cannot be
    written."""
    manifest: dict[str, Any] = {"complete": not stopped, "version": VERSION, **searched_record(answer)}
    manifest |= {"stopped": stopped} if stopped else {}
    times = {"seconds": round(seconds, 3), "solver": solver, **effort_of(journal)}
    finish(journal, manifest, times, lambda tests: [bug.record for bug in bugs])


def searched_record(answer: TableAnswer) -> dict[str, Any]:
    """Return what was searched for a table as plain data."""
    deleted = {"weaker": [asdict(deletion) for deletion in answer.deletions]} if answer.deletions else {}
    return {
        "searched": answer.events,
        "explored": answer.explored,
        "lost": answer.lost,
        "shapes": answer.shapes,
    } | deleted
