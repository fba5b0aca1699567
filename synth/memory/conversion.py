"""The conversion of litmus tests into another dialect, as a file or a folder for runners.

The folder has a file for each test, the index ``@all``, for LISA the bell file, for herd7 the models, and on request
``expected/MODEL.csv``: ``FILE,1`` where the condition as it is written is true under the model, ``FILE,0`` where it is
false. These values come from the corpus, or from ``labels.csv`` beside a file; a test that was changed on the way has
none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from backends.shared.files import file_stem
from corpus.dialects.c import C
from corpus.dialects.dartagnan.vulkan import VULKAN
from corpus.dialects.registry import runners, translate
from corpus.dialects.storage_classes import has_classes, of_the_system, with_classes, without_classes
from corpus.errors import InputError
from corpus.export import Files, check_names, expected_file, write_folder
from corpus.laws.c11 import CONSUME
from corpus.litmus.normal import map_modes
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.propositions import Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner
from corpus.litmus.verdict_table import read_verdicts
from corpus.runner_tests import Compiled, RunnerTest, files, of_litmus
from corpus.suite import LABELS
from oracle.consistency import OperationalModel, resolve_consistency_models
from oracle.executions.judge import Answer
from oracle.herd import LANGUAGES, herd_model
from synth.folders import WrittenTests
from synth.inputs import INDEX, Input, check_one_file_each, read_all
from synth.watch import remark, watched


def _without_cache(mode: Mode) -> Mode:
    return replace(mode, cache=None)


def _without_volatile(mode: Mode) -> Mode:
    return replace(mode, volatile=False, order=Order.RELAXED, scope=Scope.SYS) if mode.volatile else mode


def _without_consume(mode: Mode) -> Mode:
    return replace(mode, tags=tuple(tag for tag in mode.tags if tag != CONSUME))


TARGETS: Mapping[str, tuple[Dialect, ForeignRunner] | None] = {"litmus": None, **runners()}
"""The targets of an export of litmus tests, each with its dialect; ``litmus`` keeps each test's own dialect."""

CONFORMANCE = "webgpu-cts"
"""The target that takes tests as code, and only those that a device has to pass."""

RUNNERS_JSON = "json"
"""The target that takes each test as an object (``corpus.runner_tests``)."""

_HERD = {f"herd-{language}": language for language in LANGUAGES}

DROPS: Mapping[str, Callable[[Mode], Mode]] = {
    "cache": _without_cache,
    "volatile": _without_volatile,
    CONSUME: _without_consume,
}
"""The words that ``--drop`` may leave out: PTX 6.0 gives them a meaning of its own (Lustig et al. 2019, 3.6), C++26
(P3475R2).
"""


@dataclass(frozen=True, slots=True)
class Converted:
    """A test in its new dialect, and the name of its file.

    ``before`` is the test as it was; ``changed``: whether something was dropped, so that it is another test.
    """

    given: Input
    before: LitmusTest
    file: str
    text: str
    changed: bool


def converted(
    given: Input,
    dialect: Dialect | None,
    dropped: Sequence[str],
    runner: ForeignRunner | None = None,
    storage: Sequence[str] = (),
) -> Converted:
    """Convert a test to another dialect, or keep its own, for a runner if one is named.

    With ``storage`` classes, those of global and of shared memory, a test that has none gets them on its way to
    Vulkan, and one that has them loses them on its way elsewhere.

    Raises ``InputError`` where it is no test, the dialect cannot say it, or the runner does not read it.
    """
    text = given.text()
    test = before = given.litmus()
    file = given.file_name
    for name in dropped:
        test = map_modes(test, DROPS[name])
    try:
        if dialect is VULKAN and storage and not has_classes(test):
            test = with_classes(test, storage)
        elif dialect is not VULKAN and storage and has_classes(test):
            test = without_classes(test, storage)
        if dialect is C:
            test = of_the_system(test)
        changed = test != before
        if runner:
            test = runner.prepare(test)
            runner.check(test)
        if runner and runner.rename:
            stem, dot, suffix = file.rpartition(".")
            test = replace(test, name=runner.rename(stem if given.record is None else given.name))
            file = f"{file_stem(test.name)}{dot}{suffix}"
        return Converted(given, before, file, translate(test, dialect) if dialect else text, changed)
    except InputError as error:
        raise InputError(error.message, given.label) from None


def convert_folder(
    tests: Sequence[Input],
    dialect: Dialect | None,
    dropped: Sequence[str],
    folder: Path,
    runner: ForeignRunner | None = None,
    expected: bool = False,
    beside: Mapping[str, str] | None = None,
    storage: Sequence[str] = (),
) -> WrittenTests:
    """Write the tests that can be converted into a new or empty folder; each other test is a remark.

    With ``expected`` come the tables of
    expected verdicts, and ``beside`` are further files by their names. Raises ``InputError`` where two files have one
    name or the folder cannot be written.
    """
    done = list(_converted(tests, dialect, dropped, runner, storage))
    check_one_file_each((test.file, test.given) for test in done)
    if done:
        write_folder(folder, chain(_contents(done, dialect, expected), (beside or {}).items()))
    return WrittenTests(folder, len(done), len(tests), len(done) == len(tests))


def export_json(tests: Sequence[Input], folder: Path) -> WrittenTests:
    """Write each test as an object for runners into a new or empty folder, with the schema; a remark names each file
    that is no test.
    """
    read, all_read = read_all(tests, Input.litmus)
    objects = [of_input(given, test) for given, test in read.items()]
    check_names([record.name for record in objects])
    write_folder(folder, files(objects))
    return WrittenTests(folder, len(objects), len(tests), all_read)


def of_input(given: Input, test: LitmusTest, compiled: Compiled | None = None) -> RunnerTest:
    """Return a litmus test of the command line as an object for runners; its verdicts are those of its corpus."""
    return of_litmus(given.name, test, given.text(), given.record.verdicts if given.record else {}, compiled)


def model_files(target: str, names: Sequence[str]) -> dict[str, str]:
    """Return the models for the tools of a target, as files of a folder ``models``.

    Where none is named, they are the models that ship and that can be said there. Raises ``InputError`` where a named
    one cannot, or where the target has no models.
    """
    if target not in _HERD:
        if names:
            raise InputError(f"--model is for {' and '.join(_HERD)}, not for {target}")
        return {}
    texts: dict[str, str] = {}
    for model in resolve_consistency_models(names):
        try:
            if isinstance(model, OperationalModel):
                raise InputError(f"{model.name}: herd7 has no transition systems, and this model is one")
            texts[f"models/{model.name}.cat"] = herd_model(model.model, _HERD[target])
        except InputError:
            if names:
                raise
    return texts


def _converted(
    tests: Sequence[Input],
    dialect: Dialect | None,
    dropped: Sequence[str],
    runner: ForeignRunner | None,
    storage: Sequence[str],
) -> Iterator[Converted]:
    for given in watched(tests, len(tests), "Converting"):
        try:
            yield converted(given, dialect, dropped, runner, storage)
        except InputError as error:
            remark(str(error))


def _contents(tests: Sequence[Converted], dialect: Dialect | None, expected: bool) -> Files:
    for test in tests:
        yield test.file, test.text
    yield INDEX, "".join(f"{test.file}\n" for test in tests)
    if dialect:
        yield from dialect.companions
    if expected:
        for model, truths in _truths(tests).items():
            yield expected_file(model, truths)


def _truths(tests: Sequence[Converted]) -> dict[str, dict[str, bool]]:
    """Return the truth of conditions by model and by file.

    It follows from the verdicts of a corpus, or from ``labels.csv`` beside a file.
    """
    given = [test for test in tests if test.given.record is None]
    labels = {folder / LABELS for folder in dict.fromkeys(test.given.path.parent for test in given)}
    known: dict[str, dict[Path, bool]] = {}
    for table in sorted(file for file in labels if file.is_file()):
        for row in read_verdicts(table):
            if row.condition is not None:
                known.setdefault(row.model, {})[table.parent / row.file] = row.condition
    truths: dict[str, dict[str, bool]] = {model: {} for model in known}
    for test in tests:
        record = test.given.record
        for model, verdict in record.verdicts.items() if record else ():
            truth = truth_of(test.before.condition.quantifier, verdict)
            if truth is not None and not test.changed:
                truths.setdefault(model, {})[test.file] = truth
        for model, conditions in known.items():
            if record is None and test.given.path in conditions and not test.changed:
                truths[model][test.file] = conditions[test.given.path]
    return truths


def truth_of(quantifier: Quantifier, verdict: str) -> bool | None:
    """Return whether a condition is true as it is written, where a verdict says so: on a ``forall`` it says nothing."""
    if verdict not in (Answer.ALLOWED, Answer.FORBIDDEN) or quantifier is Quantifier.FORALL:
        return None
    return (verdict == Answer.ALLOWED) == (quantifier is Quantifier.EXISTS)
