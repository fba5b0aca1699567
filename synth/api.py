"""The Python library of synth: commands as functions over dataclasses (docs/api.md).

A test is a ``Program`` (progress) or a ``LitmusTest`` (memory). Models and back ends have the names that commands use;
a model may be a file of the user's own. No function prints. A mistake of the user raises ``InputError``, with file,
line and column where there are any.

Gaps: suites from edges, comparisons, repairs and campaigns are commands only, and so are verdicts of progress models
and of pairs on litmus tests, and explanations by transition systems. ``run`` measures no time-out, and makes no trial
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, overload

from backends.registry import BACKENDS
from backends.shared.device import DeviceOptions, run_files
from backends.shared.outcomes import SeenOutcomes, outcomes
from backends.shared.process import Run
from backends.shared.profiles import DEFAULT, Profile
from constraints.solvers import DEFAULT_SOLVER
from corpus.dialects.registry import dialect_for, parse_litmus, printed
from corpus.errors import InputError, did_you_mean
from corpus.extras import need
from corpus.journal import Journal, read_corpus
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb, print_axb
from corpus.suite import Corpus
from oracle.consistency import AxiomaticModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Judgement
from oracle.executions.witness import MemoryExplanation
from oracle.progress.explain import Explanation
from oracle.progress.explain import explain as explain_progress
from oracle.progress.models import Verdict, verdicts
from oracle.progress.plugins import resolve_models
from synth.inputs import PROGRESS, Input, family_of
from synth.memory import suites
from synth.memory.compilation import layout_of
from synth.memory.judging import explain_with, judge_with
from synth.memory.runs import INSTANCES
from synth.progress import synthesis
from synth.progress.compilation import placement_of
from synth.requests import AUTO

if TYPE_CHECKING:
    from backends.shared.backend import Backend
    from backends.shared.device import Device

ProgressSuite = synthesis.ProgressSuiteRequest
"""The request for a suite of progress tests: threads, instructions, locations, values, and which of all tests."""

MemorySuite = suites.SuiteRequest
"""The request for a suite of memory tests: the model that it comes from, events from and to, and which of all tests."""

__all__ = [
    "InputError",
    "LitmusTest",
    "MemorySuite",
    "Picture",
    "Program",
    "ProgressSuite",
    "compile",
    "draw",
    "explain",
    "label",
    "parse",
    "read",
    "run",
    "synthesise",
    "text",
]


@dataclass(frozen=True)
class Picture:
    """An SVG picture, which a notebook shows where it is the value of a cell."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


def parse(source: str) -> Program | LitmusTest:
    """Return the test that a text holds: AXB pseudo-code, or a litmus test in any dialect.

    Raises ``InputError`` where the text is no test.
    """
    return parse_axb(source) if source.lstrip().startswith("THREAD") else parse_litmus(source)


def read(path: str | Path) -> Program | LitmusTest:
    """Read the test in a file, as commands do: a progress test or a litmus test, by its suffix or else its first word.

    Raises ``InputError`` where it cannot be read or is no test.
    """
    given = Input(str(path), Path(path).stem, Path(path))
    if family_of([str(path)]) == PROGRESS:
        return parse_axb(given.text(), str(path))
    return given.litmus()


def text(test: Program | LitmusTest) -> str:
    """Return the text of a test; a litmus test is printed in the first dialect that can say it."""
    return print_axb(test) if isinstance(test, Program) else printed(test, dialect_for(test)[0])


def synthesise(request: ProgressSuite | MemorySuite, folder: str | Path, jobs: int = 1) -> Corpus:
    """Find every test that is asked for, label it, write a new corpus to ``folder``, and return the corpus read from
    there.

    ``jobs`` is the number of processes. Where the search is interrupted, the corpus holds what was found and is not
    ``complete``. Raises ``InputError`` where the folder is not empty, or where the request contradicts itself.
    """
    if isinstance(request, suites.SuiteRequest):
        request.check()
    else:
        synthesis.check(request)
    with Journal.create(Path(folder), request.as_json()) as journal:
        if isinstance(request, suites.SuiteRequest):
            suites.make_suite(request, journal, DEFAULT_SOLVER, jobs)
        else:
            synthesis.make_suite(request, journal, DEFAULT_SOLVER, jobs)
    return read_corpus(Path(folder))


@overload
def label(test: Program, *models: str) -> Mapping[str, Verdict]: ...
@overload
def label(test: LitmusTest, *models: str, unroll: int = UNROLL) -> Mapping[str, Judgement]: ...
def label(
    test: Program | LitmusTest, *models: str, unroll: int = UNROLL
) -> Mapping[str, Verdict] | Mapping[str, Judgement]:
    """Return the verdict of each model on a test; where none is named, of all that ship but those of processors.

    Loops of litmus tests are unrolled ``unroll`` jumps back. Nothing limits the time that a verdict takes. Raises
    ``InputError`` where a model is unknown.
    """
    if isinstance(test, Program):
        return verdicts(test, resolve_models(models)) if models else verdicts(test)
    return {model.name: judge_with(test, model, AUTO, unroll) for model in resolve_consistency_models(models)}


@overload
def explain(test: Program, model: str) -> Explanation: ...
@overload
def explain(test: LitmusTest, model: str, unroll: int = UNROLL) -> MemoryExplanation: ...
def explain(test: Program | LitmusTest, model: str, unroll: int = UNROLL) -> Explanation | MemoryExplanation:
    """Explain the verdict of one model on a test.

    Of a progress test, that is the lasso on which threads starve, or why there is none. Of a litmus test, it is an
    execution with the outcome that the model allows, or the checks by which it forbids those executions.

    Raises ``InputError`` where the model is unknown, where the name means two models (``hsa`` is weak and strong), or
    where it is no .cat file.
    """
    if isinstance(test, Program):
        found = resolve_models([model])
        if len(found) > 1:
            raise InputError(f"expected one model, and {model} is {' and '.join(named.name for named in found)}")
        return explain_progress(test, found[0])
    (judge,) = resolve_consistency_models([model])
    if not isinstance(judge, AxiomaticModel):
        raise InputError(f"{model} is a transition system, and explains nothing; models that are .cat files do")
    return explain_with(test, judge.model, unroll)


def draw(explanation: Explanation | MemoryExplanation, name: str = "test") -> Picture:
    """Draw an explanation: a transition system with its lasso, an execution, or the violation that forbids the outcome.

    ``name`` is the title for a progress test; a litmus test has a name of its own. Raises ``InputError`` where a litmus
    test has no execution to draw, and where pygraphviz is missing, which transition systems need.
    """
    from synth.drawing import execution, lts

    if isinstance(explanation, Explanation):
        need("pygraphviz")
        return Picture(lts.draw(name, explanation).svg())
    return Picture(execution.draw(explanation).svg())


def compile(
    test: Program | LitmusTest, backend: str, name: str = "test", mapping: str = "plain", instances: int | None = None
) -> dict[str, str]:
    """Compile a test to a program of a back end's language, and return the texts of its files by name, the program's
    first.

    The program is one to run elsewhere. ``mapping`` assigns the threads of a progress test to work-groups.
    Where a progress test places its threads itself, so does the launch. ``instances`` is the number of instances of a
    launch. Raises ``InputError`` where the back end or the mapping is
    unknown, or where the language cannot say the test.
    """
    language = _backend(backend)
    if isinstance(test, Program):
        return language.progress_files(name, language.launch(test, mapping, instances, placement_of(test)))
    return language.memory_files(name, layout_of(test, language, instances))


@overload
def run(test: Program, backend: str, *, iterations: int = 20, timeout: float = 5.0, mapping: str = "plain") -> Run: ...
@overload
def run(
    test: LitmusTest,
    backend: str,
    *,
    iterations: int = 20,
    timeout: float = 5.0,
    instances: int = INSTANCES,
    profile: Profile = DEFAULT,
) -> SeenOutcomes: ...
def run(
    test: Program | LitmusTest,
    backend: str,
    *,
    iterations: int = 20,
    timeout: float = 5.0,
    mapping: str = "plain",
    instances: int = INSTANCES,
    profile: Profile = DEFAULT,
) -> Run | SeenOutcomes:
    """Run a test on the device of this machine that the back end chooses, and return what it did.

    ``timeout``: seconds of an iteration (of a litmus test, of a launch of ``instances``). Raises ``InputError`` where
    no device works, and ``backends.shared.process.RunError`` where the program can be neither seen to terminate nor
    seen to hang.
    """
    language = _backend(backend)
    device = _device(language)
    if isinstance(test, Program):
        launched = device.launch(test, mapping, placement_of(test))
        return run_files(device, language.progress_files("test", launched), launched, iterations, timeout)
    layout = device.layout(test, instances, profile)
    return outcomes(run_files(device, language.memory_files("test", layout), layout, iterations, timeout))


def _backend(name: str) -> Backend:
    if name not in BACKENDS:
        known = f"expected one of {', '.join(BACKENDS)}"
        raise InputError(f"unknown back end '{name}'; {did_you_mean(name, BACKENDS, known)}")
    return BACKENDS[name]


def _device(language: Backend) -> Device:
    if language.device is None:
        raise InputError(f"{language.name} tests are run elsewhere")
    return language.device(DeviceOptions())
