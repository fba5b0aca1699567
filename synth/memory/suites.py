"""The pipeline of suites from a model: minimal tests, verdicts, mutants, and the corpus.

A *unit* is a split of so many events into threads under one criterion; its formula is solved until nothing is left, in
one process, or cut into parts where that takes long. What the solver finds is written in a normal form, so neither
solver nor number of processes shows in the corpus. The tests are those of one criterion; those of the other are counted
where that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec

from constraints.loop import SolverEffort, TooHardError, solutions
from constraints.programs.criterion import Criterion
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.dialects.registry import DIALECTS, dialect_for, parse_litmus
from corpus.errors import InputError
from corpus.executions.execution import Execution
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.relaxations import mutants
from corpus.executions.text import execution_text, normal_form, parse_execution
from corpus.executions.vocabulary import Vocabulary, vocabulary
from corpus.files import inner_folder, write_atomically
from corpus.journal import FoundTest, Journal, finish, first_free, records_beside, remove_derived
from corpus.links import LINKS, MUTANTS, MutantLink, print_links
from corpus.litmus.locations import MEMORY_REGIONS, Region
from corpus.litmus.orders import Scope
from corpus.litmus.test import LitmusTest
from corpus.records import test_record
from corpus.suite import LABELS, MANIFEST, TESTS, TIMES, write_corpus
from corpus.test import Test
from oracle.cat.interpreter import Model
from oracle.consistency import AxiomaticModel, ConsistencyModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.events import ProgramBase
from oracle.executions.judge import Answer, judged
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads
from oracle.executions.vocabulary import distinguished, unmade, vocabulary_of
from synth import VERSION
from synth.inputs import MEMORY
from synth.memory.counts import AXIOM
from synth.memory.judging import labelled_record
from synth.pool import Jobs
from synth.units import Parts, SearchOutcome, SearchRun, Until, as_left, effort_of, new_tests, search_units
from synth.watch import watching
from synth.worker import UNLIMITED, Limits

BATCH_SECONDS = 0.5
_DIALECTS = {
    "amdgpu": "vulkan",
    "armv8": "lisa",
    "c": "c",
    "opencl": "opencl",
    "power": "lisa",
    "ptx-async": "ptx",
    "ptx-proxies": "ptx",
    "riscv": "lisa",
    "vulkan": "vulkan",
    "vulkan-scopes": "vulkan",
    "webgpu": "opencl",
    "x86": "lisa",
}
"""The dialects of the vocabularies that have one of their own; other tests are printed in the first that says all."""


@dataclass(frozen=True)
class SuiteRequest:
    """The request for a suite from a model: all options that change the corpus, and no others."""

    model: str
    events: tuple[int, int]
    axioms: tuple[str, ...] = ()
    dialect: str = ""
    more: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    threads: tuple[int, int] | None = None
    criterion: str = Criterion.OUTCOME.value
    up_to: str = "test"  # or "program"
    mutants: bool = False
    labelled_under: tuple[str, ...] = ()
    both_criteria: bool = False

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Return the criterion of the tests; with ``both_criteria``, then the other one, whose tests are counted."""
        first = Criterion(self.criterion)
        return (first, *(other for other in Criterion if self.both_criteria and other is not first))

    def as_json(self) -> dict[str, Any]:
        """Return the request as the corpus keeps it, with the vocabulary in words and the text of every model as a
        digest.
        """
        models = {model.name: model.digest for model in self.models}
        words = list(self.words.spelled)
        optional = ("more", "both_criteria")  # left out of a request that does not ask for them
        given = {name: value for name, value in asdict(self).items() if value or name not in optional}
        request = {"kind": MEMORY, **given, "vocabulary": words}
        return request | {"models": list(models), "model_digests": models}

    @cached_property
    def models(self) -> list[ConsistencyModel]:
        """Return the model itself and those to label under. Raises ``InputError`` where one cannot be had."""
        return resolve_consistency_models(tuple(dict.fromkeys((self.model, *self.labelled_under))))

    @cached_property
    def axiomatic(self) -> Model:
        """Return the model that the suite comes from. Raises ``InputError`` where it is no .cat file."""
        return axiomatic(self.models[0])

    @cached_property
    def words(self) -> Vocabulary:
        """Return the vocabulary of the programs. Raises ``InputError`` where a word is unknown."""
        return narrowed([self.axiomatic], self.dialect, self.more, self.without, self.scopes, self.regions)

    @property
    def pinnable(self) -> list[str]:
        """Return the axioms that tests may pin, in the order of the model; a flag is none."""
        names = dict.fromkeys(check.name for check in self.axiomatic.checks if not check.flag)
        return [name for name in names if name in (self.axioms or names)]

    def check(self) -> None:
        """Raise ``InputError`` where the request cannot be met."""
        for known, words in (
            ([scope.label for scope in Scope], self.scopes),
            (MEMORY_REGIONS, self.regions),
            ([*Criterion], [self.criterion]),
            (["test", "program"], [self.up_to]),
        ):
            for word in words:
                if word not in known:
                    raise InputError(f"unknown word '{word}'; expected one of {', '.join(known)}")
        known = list(dict.fromkeys(check.name for check in self.axiomatic.checks))
        for name in self.axioms:
            if name not in known:
                raise InputError(f"{self.axiomatic.name} has no axiom '{name}'; it has {', '.join(known)}")
        if self.words.asynchronous and (self.criterion != Criterion.OUTCOME or self.both_criteria):
            raise InputError("with asynchronous operations there is --criterion outcome alone")


def axiomatic(model: ConsistencyModel) -> Model:
    """Return the .cat file of a model. Raises ``InputError`` where it is none."""
    if not isinstance(model, AxiomaticModel):
        raise InputError(f"{model.name} is a transition system; programs can be found for models in .cat files alone")
    return model.model


def narrowed(
    models: Sequence[Model],
    dialect: str,
    more: tuple[str, ...] = (),
    without: Iterable[str] = (),
    scopes: Sequence[str] = (),
    regions: Sequence[str] = (),
) -> Vocabulary:
    """Return the vocabulary that some models can tell apart, narrowed to a request.

    ``dialect`` is the dialect named, or else the models' own; ``more`` are words to add, and ``without`` those to leave
    out. ``scopes`` and ``regions``, where there are any, are those to keep. Raises ``InputError`` where a word is
    unknown.
    """
    words = distinguished(vocabulary(dialect, more), models) if dialect else vocabulary_of(models, more)
    if scopes:
        words = words.within([scope for scope in Scope if scope.label in scopes])
    if regions:
        kept = tuple(region for region in words.regions if region.value in regions)
        words = replace(words, regions=kept or (Region.GLOBAL,))
    return words.without(without)


def empty_sets(words: Vocabulary, models: Iterable[Model]) -> Iterator[str]:
    """Yield a line for each model that requires something of sets that are empty in all programs of a vocabulary."""
    for model in models:
        if sets := unmade(words, model):
            where = ":".join(map(str, next(iter(sets.values()))))
            yield f"{where}: {model.name} asks for {', '.join(sets)}, which no program of vocabulary {words.name} has"


@dataclass(frozen=True, slots=True)
class SuiteUnit:
    """A unit: so many events in threads of these sizes, under a criterion; or a part of that, fixed by its first
    events.

    ``known``: executions that were found before, as text, and are not to be found again.
    """

    criterion: Criterion
    sizes: tuple[int, ...]
    within: tuple[int, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the unit, such as ``outcome/3.2``; ``outcome/3.2/0.1`` is a part of that unit."""
        whole = f"{self.criterion}/{'.'.join(map(str, self.sizes))}"
        return f"{whole}/{'.'.join(map(str, self.within))}" if self.within else whole

    @property
    def events(self) -> int:
        """Return the number of events of all threads of the unit."""
        return sum(self.sizes)


def units(request: SuiteRequest) -> Iterator[SuiteUnit]:
    """Yield the units of a request, smaller ones first; of a size, first those of the criterion of the tests."""
    for events in range(request.events[0], request.events[1] + 1):
        for criterion in request.criteria:
            for sizes in splits(events, request.threads):
                yield SuiteUnit(criterion, sizes)


# Work


CONFLICTS = 50_000
"""The most conflicts of the solver in a unit; beyond, its parts go on. A minute, or less."""


def encoding_of(request: SuiteRequest, criterion: Criterion, sizes: tuple[int, ...]) -> Forbidden:
    """Return the encoding of a unit and its parts, without any refinement."""
    return Forbidden(SeparationQuestion(request.axiomatic, criterion=criterion), request.words, sizes)


_kept_encoding = lru_cache(maxsize=1)(encoding_of)
"""The last encoding with its refinements, kept since a process often goes on with the parts of a unit that it cut."""


def parts_of(unit: SuiteUnit, number: int) -> list[SuiteUnit]:
    """Return ``number`` parts of a unit, one for each choice that the next event has.

    Every part knows the unit's executions, for another image of one may lie in any part.
    """
    return [replace(unit, within=(*unit.within, choice)) for choice in range(number)]


def run_unit(
    unit: SuiteUnit, request: SuiteRequest, solver: str
) -> Iterator[list[FoundTest] | Parts[SuiteUnit] | dict[str, int]]:
    """Yield in batches what a unit finds beyond what is known, and last its statistics, with its parts if it is cut."""
    effort = SolverEffort()
    if not unit.within:
        _kept_encoding.cache_clear()  # the statistics report the size of a fresh encoding
    encoding = _kept_encoding(request, unit.criterion, unit.sizes)
    size = {"variables": encoding.formula.variables, "clauses": len(encoding.formula.clauses)}
    begun = encoding.beginnings() if unit.within else []
    case = [choice[number] for choice, number in zip(begun, unit.within, strict=False)]
    blocked = map(parse_execution, unit.known)
    known = [*unit.known]
    batch: list[FoundTest] = []
    handed_over = time.monotonic()
    most = CONFLICTS if len(unit.within) < unit.events else None
    parts: list[SuiteUnit] = []
    try:
        for execution in solutions(encoding, solver, case, blocked, effort=effort, conflicts=most):
            least = normal_form(execution)
            known.append(execution_text(least))
            if found := found_of(least, unit.criterion, request):
                batch.append(found)
            if time.monotonic() - handed_over > BATCH_SECONDS:
                yield batch
                batch, handed_over = [], time.monotonic()
    except TooHardError:
        parts = parts_of(replace(unit, known=tuple(known)), len(encoding.beginnings()[len(unit.within)]))
    yield batch
    statistics = asdict(effort) | size
    yield Parts(parts, statistics | {"parts": len(parts)}) if parts else statistics


def found_of(execution: Execution, criterion: Criterion, request: SuiteRequest) -> FoundTest | None:
    """Return an execution in normal form with its test, and its mutants beside it where they are of the criterion asked
    for.

    Each record has its sort key. None where the test pins none of the axioms asked for.
    """
    is_asked = criterion == request.criterion
    if not (is_asked or request.axioms):
        return FoundTest(execution_text(execution))
    observed = criterion is Criterion.EXECUTION
    name, turned = name_of(execution)
    try:
        axioms = axioms_of(request.axiomatic, litmus_test(turned, name, observed=False), turned, observed)
    except TooManyError:
        axioms = request.axioms  # executions are too many to tell which axioms it pins
    if request.axioms and not set(axioms) & set(request.axioms):
        return None
    if not is_asked:
        return FoundTest(execution_text(execution))
    made = labelled(litmus_test(turned, name, observed), execution, request)
    made = msgspec.structs.replace(
        made, tags=(*made.tags, *(f"{AXIOM}{axiom}" for axiom in axioms)), behaviour=program_digest(execution)
    )
    key = f"{execution.size:03} {len(execution.threads):03} {execution_text(execution)}"
    beside = []
    for number, (relaxation, left) in enumerate(mutants(turned, request.words, observed) if request.mutants else (), 1):
        mutant = labelled(litmus_test(left, f"{name}.m{number}", observed), left, request)
        if mutant.verdicts[request.models[0].name] != Answer.ALLOWED:
            continue  # the mutant raises a flag, or the model forbids a reversal as well
        linked = msgspec.structs.replace(
            mutant, digest=f"{mutant.digest} {made.digest} {number}", tags=(relaxation.text, relaxation.kind)
        )
        beside.append((f"{key} {number:03}", test_record(linked)))
    return FoundTest(execution_text(execution), ((key, test_record(made)),), tuple(beside))


def labelled(test: LitmusTest, execution: Execution, request: SuiteRequest) -> Test:
    """Return a test as one of a corpus, with the verdicts of the models. Raises ``InputError`` where no dialect says
    it.
    """
    return labelled_record(test, text_of(test, request.words), execution.size, request.models)


def text_of(test: LitmusTest, words: Vocabulary) -> str:
    """Return the test in the dialect of its vocabulary, or else in one that can say it."""
    own = _DIALECTS.get(words.name)
    return DIALECTS[own].print(test) if own else dialect_for(test)[1]


def axioms_of(model: Model, test: LitmusTest, execution: Execution, exactly: bool) -> tuple[str, ...]:
    """Return the axioms that a test pins: without one of them, the model would allow it.

    Where every execution with the outcome violates several axioms, no axiom is pinned. The result is then the axioms
    that all of these executions violate, or where there is none, those that any of them violates. ``exactly``: of one
    execution, by its coherence order, all axioms that it violates. Raises ``TooManyError`` where executions are too
    many to list.
    """
    needed: set[str] = set()
    some: set[str] = set()
    common: set[str] | None = None
    order: dict[str, int] = {}
    for batch, allowed, results in judged(test, unroll_threads(test, UNROLL), model):
        candidates = batch.satisfying(test.condition.proposition) & ~allowed
        if exactly:
            candidates &= _with_coherence(batch.base, execution)
        failed: dict[str, int] = {}
        for result in results:
            if not result.check.flag:
                order.setdefault(result.check.name, len(order))
                failed[result.check.name] = failed.get(result.check.name, 0) | (candidates & ~result.truth)
        for name, where in failed.items():
            others = 0
            for other, elsewhere in failed.items():
                others |= elsewhere if other != name else 0
            needed |= {name} if where & ~others else set()
            some |= {name} if where else set()
        if candidates:
            every = {name for name, where in failed.items() if where == candidates}
            common = every if common is None else common & every
    pinned = (common or set()) | needed if exactly else needed or common or set()
    return tuple(sorted(pinned or some, key=lambda name: order[name]))


def _with_coherence(base: ProgramBase[int], execution: Execution) -> int:
    """Return, as a bit mask, the candidates with the coherence order of an execution whose threads are equal to theirs.

    There is none where the candidates take a path that skips a write of the execution, one under a branch.
    """
    there = {(event.thread, event.key[1]): index for index, event in enumerate(base.events)}
    writes: dict[int, int] = {}
    i = 0
    for thread, steps in enumerate(execution.threads):
        position = 0
        for step in steps:
            position += step.kind.events
            if step.kind.writes:
                if (thread, position - 1) not in there:
                    return 0
                writes[i] = there[thread, position - 1]
            i += 1
    co = base.relation("co")
    true = base.algebra.true
    among = true
    for one, other in permutations(writes, 2):
        truth = co[writes[one]].get(writes[other], 0)
        among &= truth if (one, other) in execution.co else true ^ truth
    return among


def program_digest(execution: Execution) -> str:
    """Return the SHA-256 of the program of an execution in normal form, which tests of one program share."""
    bare = replace(execution, rf=(None,) * len(execution.rf), co=frozenset(), final=(None,) * len(execution.final))
    return sha256(execution_text(normal_form(bare)).encode()).hexdigest()


# The loop


@dataclass(slots=True)
class SuiteOutcome(SearchOutcome):
    """The end of a search; ``found``: tests by criterion."""

    found: dict[str, int] = field(default_factory=dict)


def synthesise(
    request: SuiteRequest,
    journal: Journal,
    solver: str,
    jobs: Jobs,
    max_tests: int | None = None,
    time_limit: float | None = None,
    watch: Callable[[int, int, int], None] = lambda closed, planned, tests: None,
    limits: Limits = UNLIMITED,
) -> SuiteOutcome:
    """Search every unit that the journal has not closed, and record the tests found there.

    Stops early after ``max_tests`` tests, after ``time_limit`` seconds or at Ctrl-C. A unit that exceeds the ``limits``
    is left. ``watch`` is told how many units are closed and planned and how many tests found.
    """
    planned = [part for unit in units(request) for part in as_left(unit, journal, parts_of)]
    known: dict[str, set[str]] = {criterion.value: set() for criterion in request.criteria}
    for name, founds in journal.units.items():
        known.setdefault(name.partition("/")[0], set()).update(found.program for found in founds)

    def take(unit: SuiteUnit, founds: list[FoundTest]) -> list[FoundTest]:
        there = known[unit.criterion]
        most = max_tests if unit.criterion == request.criterion else None
        new = new_tests(founds, there, most)  # several parts may find images of one test
        there.update(found.program for found in new)
        return new

    work = partial(run_unit, request=request, solver=solver)
    until = Until.limits(max_tests, time_limit)
    tests = known[request.criterion]
    run = SearchRun(journal, solver, jobs, until, watch, limits)
    stopped = search_units(planned, work, take, lambda: len(tests), run)
    return SuiteOutcome(stopped, {criterion: len(found) for criterion, found in known.items()})


Certifier = Callable[[SuiteRequest, Journal, str, Jobs, Callable[[int, int], None]], None]
"""Writes the certificate of a complete search: ``synth.memory.certification.certify_suite``."""


def make_suite(
    request: SuiteRequest,
    journal: Journal,
    solver: str,
    jobs: Jobs,
    max_tests: int | None = None,
    time_limit: float | None = None,
    limits: Limits = UNLIMITED,
    certify: Certifier | None = None,
) -> tuple[SuiteOutcome, int]:
    """Search, certify what is found where that is asked for, write the suite, and return how the search ended and the
    number of tests.
    """
    started = time.monotonic()
    with watching("Synthesising") as watch:
        outcome = synthesise(request, journal, solver, jobs, max_tests, time_limit, watch, limits)
    if certify is not None and outcome.complete:
        with watching("Certifying", found=False) as watch:
            certify(request, journal, solver, jobs, lambda done, of: watch(done, of, 0))
    return outcome, write_suite(request, journal, outcome, solver, time.monotonic() - started)


def write_suite(request: SuiteRequest, journal: Journal, outcome: SuiteOutcome, solver: str, seconds: float) -> int:
    """Turn the journal into the suite that was asked for, its mutants first, and return the number of its tests."""

    def select(tests: list[Test]) -> list[Test]:
        named = chosen(request, tests)
        if request.mutants:
            write_mutants(request, journal, named, outcome.complete)
        return named

    closed = sorted(journal.closed.items())
    sizes = {
        unit: {"variables": work["variables"], "clauses": work["clauses"]}
        for unit, work in closed
        if unit.count("/") == 1  # other solvers, or other orders, may cut a unit into other parts
    }
    manifest = manifest_of(request, {"criteria": outcome.found}, sizes, VERSION, outcome.stopped)
    times = {"seconds": round(seconds, 3), "solver": solver, **effort_of(journal)}
    return finish(journal, manifest, times, select)


def manifest_of(
    request: SuiteRequest, counts: Mapping[str, Any], encodings: Mapping[str, Any], version: str, stopped: str = ""
) -> dict[str, Any]:
    """Return the keys of a suite's manifest that do not follow from its tests; ``stopped``: why it is not complete."""
    record = request.as_json()
    return {
        "complete": not stopped,
        "request": record,
        "models": record["models"],
        "axioms": request.pinnable,
        "version": version,
        "counts": counts,
        "encodings": encodings,
        **({"stopped": stopped} if stopped else {}),
    }


def chosen(request: SuiteRequest, tests: Iterable[Test]) -> list[Test]:
    """Return the tests of the suite, out of all that are minimal in their order; each has a name of its own."""
    return with_ranks([*(one_per_program(tests) if request.up_to == "program" else tests)])


def one_per_program(tests: Iterable[Test]) -> list[Test]:
    """Return the first test of each program, with the axioms of all tests of that program."""
    first: dict[str, Test] = {}
    for test in tests:
        before = first.setdefault(test.behaviour, test)
        if before is not test:
            tags = tuple(dict.fromkeys((*before.tags, *(tag for tag in test.tags if tag.startswith(AXIOM)))))
            first[test.behaviour] = msgspec.structs.replace(before, tags=tags)
    return [*first.values()]


def with_ranks(tests: Sequence[Test], taken: Collection[str] = ()) -> list[Test]:
    """Return the tests under names of their own that are not taken: of tests that share a name, the later ones have a
    rank.
    """
    taken = set(taken)
    done = []
    for test in tests:
        name = first_free(test.name, taken)
        taken.add(name)
        done.append(renamed(test, name))
    return done


def renamed(test: Test, name: str) -> Test:
    """Return the test under another name, which its text states as well."""
    if name == test.name:
        return test
    litmus = replace(parse_litmus(test.text), name=name)
    language = test.text.split(maxsplit=1)[0]
    dialect = next(dialect for dialect in DIALECTS.values() if dialect.language == language)
    return msgspec.structs.replace(test, name=name, text=dialect.print(litmus))


def write_mutants(request: SuiteRequest, journal: Journal, tests: Sequence[Test], complete: bool) -> None:
    """Write the mutants of the tests as a corpus inside the corpus, each once, with the test and relaxation it comes
    from.

    Its manifest is written last: until then there is no corpus in the folder.
    """
    remove_mutants(journal.path)
    folder = inner_folder(journal.path, MUTANTS)
    mutants, links = mutants_of(records_beside(journal), tests)
    write_atomically(folder / LINKS, print_links(links))
    write_corpus(folder, mutants, mutants_manifest(request, complete), {})


def mutants_manifest(request: SuiteRequest, complete: bool) -> dict[str, Any]:
    """Return the keys of the mutants' manifest that do not follow from the mutants."""
    question = {**request.as_json(), "mutants_of": "the tests of the folder around this one"}
    return {"complete": complete, "request": question, "models": [model.name for model in request.models]}


def mutants_of(beside: Iterable[Test], tests: Iterable[Test]) -> tuple[list[Test], list[MutantLink]]:
    """Return the mutants of the tests, each once and named after the first test that it comes from, and their links.

    A link names a test, a relaxation and a mutant; ``beside`` are the records that ``found_of`` makes of the mutants.
    """
    names = {test.digest: test.name for test in tests}
    first: dict[str, Test] = {}
    numbers: dict[str, int] = {}
    links = []
    for test in beside:
        digest, parent, _ = test.digest.split(" ")
        if parent not in names:
            continue
        name, (relaxation, kind) = names[parent], test.tags
        if digest not in first:
            numbers[name] = numbers.get(name, 0) + 1
            own = msgspec.structs.replace(test, digest=digest, tags=())
            first[digest] = renamed(own, f"{name}.m{numbers[name]}")
        links.append(MutantLink(name, first[digest].name, relaxation, kind))
    return list(first.values()), links


def remove_mutants(path: Path) -> None:
    """Remove the mutants of a corpus that is not finished: only files that this module writes."""
    folder = path / MUTANTS
    if folder.is_symlink():
        return
    remove_derived(folder, MANIFEST, TESTS, LABELS, TIMES, LINKS)
    with suppress(OSError):  # the folder is missing, or holds a file of the user's
        folder.rmdir()
