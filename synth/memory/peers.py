"""The verdicts of a corpus against those of another tool: herd7 or Dartagnan (Dat3M). The tool has to be on the PATH.

A sample of the tests, equal in every run, is written in the first of the tool's dialects that says all of a test. The
tool is asked about it under each model that both know: one call for each test and model, with a limit of time, in a
folder that is removed after the answer. No shell is asked, and no file has a name that a corpus gives.

- herd7 is given our models in its own terms (``oracle.herd``): it judges with its own interpreter and its own
  executions. It has no values out of thin air, so a test that hangs on them may differ.
- Dartagnan is given the models that it ships, in ``$DAT3M_HOME/cat``, with another text and another encoding.

Source: herd7 7.58, the line ``Observation NAME Never 0 3``; Dartagnan's README and the line ``Result: PASS``, which
says that the condition as it is written is true. Gap: no Dartagnan has been asked yet, for none could be built.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path

from backends.shared.toolchain import run, which
from corpus.dialects.registry import runners
from corpus.errors import InputError, one_line
from corpus.litmus.propositions import Quantifier
from corpus.litmus.test import LitmusTest
from corpus.private import private_folder
from corpus.suite import Corpus
from corpus.test import Test
from oracle.consistency import AxiomaticModel, ConsistencyModel, resolve_consistency_models
from oracle.executions.bounds import UNROLL
from oracle.executions.judge import Answer
from oracle.herd import herd_model
from synth.inputs import MEMORY, Input, family_in
from synth.memory.conversion import converted, truth_of
from synth.memory.judging import judge_with
from synth.pool import Jobs, run_tasks
from synth.requests import AUTO

SECONDS = 60.0
"""The seconds that one answer of a peer may take."""

_FILE = "test.litmus"
_MODEL = "model.cat"


@dataclass(frozen=True, slots=True)
class Peer:
    """A tool that judges litmus tests.

    It has a program; dialects, as ``synth export`` calls them, best first; the text of a model for a dialect, None
    where the tool does not know the model; the words that follow the program's name; and a reader of the condition's
    truth.
    """

    program: str
    targets: tuple[str, ...]
    model: Callable[[str, str], str | None]
    words: Callable[[str], list[str]]
    truth: Callable[[str, Quantifier], bool | None]


@dataclass
class Agreement:
    """The agreement of a corpus and a peer by model: how many tests were asked about, and how many verdicts agree."""

    tests: int = 0
    unsaid: int = 0
    same: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


def compare(corpus: Corpus, peer: Peer, models: Sequence[str], sample: int, jobs: Jobs) -> Agreement:
    """Ask a peer about a sample of the tests of a corpus under these models; where none is named, those of the corpus.

    Verdicts that the corpus does not have are computed. Raises ``InputError`` where the peer is missing, where these
    are no memory tests, and where there is no model that both know.
    """
    if family_in(corpus.manifest) != MEMORY:
        raise InputError(f"{peer.program} judges memory tests, and these are others", str(corpus.path))
    if which(peer.program) is None:
        raise InputError(f"no {peer.program} is on the PATH")
    models = tuple(dict.fromkeys(models))
    named = dict(zip(models, resolve_consistency_models(models), strict=True)) if models else {}
    words = {model.name: word for word, model in named.items()} or {name: name for name in corpus.models}
    texts = {
        (target, name): text
        for target in peer.targets
        for name, word in words.items()
        if (text := peer.model(target, word))
    }
    if not texts:
        known = ", ".join(words) or "none; -m names one"
        whose = "those that are asked for" if models else "those of the corpus"
        raise InputError(f"no model that {peer.program} knows is among {whose}: {known}", str(corpus.path))
    labelled = corpus.manifest.get("request", {}).get("model_digests", {})
    anew = {model.name: model for model in named.values() if labelled.get(model.name) != model.digest}
    chosen = sampled(corpus.tests, sample)
    agreement = Agreement(tests=len(chosen))
    work = partial(_ask, corpus=corpus.path, program=peer.program, texts=texts, anew=anew)
    with closing(run_tasks(chosen, work, jobs)) as results:
        for result in results:
            if result is None:
                continue
            test, answers = result
            agreement.unsaid += answers is None
            for model, wrong in (answers or {}).items():
                if wrong:
                    agreement.wrong.append(f"{test.name} under {model}: {wrong}")
                else:
                    agreement.same[model] = agreement.same.get(model, 0) + 1
    if not agreement.same and not agreement.wrong:
        raise InputError(f"none of {len(chosen)} tests can be said to {peer.program} with a verdict", str(corpus.path))
    agreement.wrong.sort()
    return agreement


def sampled(tests: Sequence[Test], most: int) -> list[Test]:
    """Return ``most`` tests in the order of the corpus, in a reproducible choice that other tests do not change."""
    ranked = sorted(tests, key=lambda test: sha256(test.digest.encode()).digest())
    kept = {id(test) for test in ranked[:most]}
    return [test for test in tests if id(test) in kept]


def _ask(
    test: Test,
    corpus: Path,
    program: str,
    texts: Mapping[tuple[str, str], str],
    anew: Mapping[str, ConsistencyModel],
) -> Iterator[dict[str, str] | None]:
    """Yield for each model what is wrong, empty where the peer agrees; None where none of its dialects says the test.

    ``anew``: the models under which the test has no verdict yet.
    """
    peer = PEERS[program]
    for target in dict.fromkeys(target for target, _ in texts):
        dialect, runner = runners()[target]
        given = Input(test.name, test.name, corpus, test)
        try:
            before = given.litmus()
            translated = converted(given, dialect, (), runner)
        except InputError:
            continue
        if translated.changed:
            continue
        answers: dict[str, str] = {}
        verdicts = {**test.verdicts, **{name: str(judged(before, model)) for name, model in anew.items()}}
        with private_folder("compile") as scratch:
            folder = Path(scratch)
            for name, text in ((_FILE, translated.text), *dialect.companions):
                (folder / name).write_text(text, "utf-8")
            for (other, model), text in texts.items():
                ours = truth_of(before.condition.quantifier, verdicts.get(model, ""))
                if other == target and ours is not None:
                    (folder / _MODEL).write_text(text, "utf-8")
                    answers[model] = _answer(peer, target, folder, before, ours)
        yield answers
        return
    yield None


def judged(test: LitmusTest, model: ConsistencyModel) -> Answer:
    """Return a model's verdict on a test, as ``synth label`` finds it."""
    return judge_with(test, model, AUTO, UNROLL, counts=False).answer


def _answer(peer: Peer, target: str, folder: Path, test: LitmusTest, ours: bool) -> str:
    made = run(folder / _FILE, [peer.program, *peer.words(target)], folder, SECONDS)
    theirs = peer.truth(made.output, test.condition.quantifier) if made.ok else None
    if theirs is None:
        return f"{peer.program} has no verdict: {one_line(made.output.strip()[-300:])}"
    if theirs == ours:
        return ""
    verdicts = [
        Answer.ALLOWED if truth == (test.condition.quantifier is Quantifier.EXISTS) else Answer.FORBIDDEN
        for truth in (ours, theirs)
    ]
    return f"{verdicts[0]} here, {verdicts[1]} by {peer.program}"


# herd7


def _herd_model(target: str, name: str) -> str | None:
    try:
        (model,) = resolve_consistency_models([name])
        return herd_model(model.model, target.removeprefix("herd-")) if isinstance(model, AxiomaticModel) else None
    except InputError:
        return None


def _herd_words(target: str) -> list[str]:
    return [*(["-variant", "NoRMW"] if target == "herd-c" else ["-bell", "synth.bell"]), "-model", _MODEL, _FILE]


def _herd_truth(output: str, quantifier: Quantifier) -> bool | None:
    found = re.search(r"^Observation \S+ (Never|Sometimes|Always) ", output, re.MULTILINE)
    return None if found is None else (found[1] != "Never") == (quantifier is Quantifier.EXISTS)


# Dartagnan

_DARTAGNAN = {
    ("dartagnan-ptx", "ptx-6.0"): "ptx-v6.0.cat",
    ("dartagnan-ptx", "ptx-7.5"): "ptx-v7.5.cat",
    ("dartagnan-vulkan", "vulkan"): "vulkan.cat",
    ("dartagnan-opencl", "opencl"): "opencl.cat",
}
"""The models that Dartagnan ships for ours, by the target that says tests for them."""


def _dartagnan_model(target: str, name: str) -> str | None:
    if (target, name) not in _DARTAGNAN:
        return None
    home = os.environ.get("DAT3M_HOME")
    if not home:
        raise InputError("DAT3M_HOME is not set: Dartagnan's models are in its folder cat")
    file = Path(home) / "cat" / _DARTAGNAN[target, name]
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError("cannot read Dartagnan's model", str(file)) from None


def _dartagnan_words(target: str) -> list[str]:
    return [_MODEL, f"--target={target.removeprefix('dartagnan-')}", _FILE, "--property=program_spec"]


def _dartagnan_truth(output: str, quantifier: Quantifier) -> bool | None:
    found = re.search(r"^Result: (PASS|FAIL)\b", output, re.MULTILINE)
    return None if found is None else found[1] == "PASS"


PEERS = {
    "herd7": Peer("herd7", ("herd-c", "herd-lisa"), _herd_model, _herd_words, _herd_truth),
    "dartagnan": Peer(
        "dartagnan",
        ("dartagnan-ptx", "dartagnan-vulkan", "dartagnan-opencl"),
        _dartagnan_model,
        _dartagnan_words,
        _dartagnan_truth,
    ),
}
"""The tools that can be asked, by the names of their programs."""
