"""The check of a mapping of instructions: the smallest outcomes that show it is unsound.

A mapping is sound for a program where every outcome that the target model allows of the translated program is one that
the source model allows of the program (Lustig et al., ASPLOS 2019, section 5.3). As in comparisons, programs grow from
the least size (``synth.memory.refuting``), and both verdicts are the oracle's.

A program is checked only where the source model raises no flag on it, as of a data race, for any outcome. Flags of the
target model are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from corpus.errors import InputError
from corpus.executions.execution import Execution, OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.names import name_of
from corpus.executions.translation import Choice, MappedOp, MappingFile, Translation, translated, translation
from corpus.executions.vocabulary import Vocabulary, scope_word, spelled_mode, vocabulary
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Scope
from corpus.test import Test
from oracle.cat.interpreter import Model
from oracle.cat.variants import definitions, emptied, without_check
from oracle.consistency import AxiomaticModel, ConsistencyModel
from oracle.executions.judge import Answer, judge
from oracle.executions.vocabulary import dialect_of, distinguished, vocabulary_of
from synth.inputs import MEMORY
from synth.memory.judging import labelled_record
from synth.memory.suites import axiomatic, text_of


@dataclass(frozen=True)
class Checked:
    """The question of a check: a mapping from one model to another, and the programs over which it is checked.

    ``scopes``: programs have only these, if any are given.
    """

    source: ConsistencyModel
    target: ConsistencyModel
    translation: Translation
    words: Vocabulary
    target_words: Vocabulary
    events: tuple[int, int]
    threads: tuple[int, int] | None = None
    scopes: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[Model, Model]:
        """Return the .cat files of the source and the target. Raises ``InputError`` where one has none."""
        return axiomatic(self.source), axiomatic(self.target)

    def as_json(self) -> dict[str, Any]:
        """Return the question as a corpus of bugs keeps it, with the text of each model as a digest."""
        models = (self.source, self.target)
        return {
            "kind": MEMORY,
            "mapping": list(self.translation.spelled),
            "events": list(self.events),
            "threads": self.threads and list(self.threads),
            "vocabulary": list(self.words.spelled),
            "models": [model.name for model in models],
            "model_digests": {model.name: model.digest for model in models},
        }


@dataclass(frozen=True, slots=True)
class MappingBug:
    """A bug: a program with an outcome that the source forbids, and its translation, for which the target allows it."""

    source: Test
    target: Test


def checked(
    written: MappingFile,
    source: ConsistencyModel,
    target: ConsistencyModel,
    events: tuple[int, int],
    threads: tuple[int, int] | None = None,
    scopes: tuple[str, ...] = (),
) -> Checked:
    """Return the check of a mapping over programs of all instructions that have a rule, placed as a model can tell
    apart.

    ``scopes``, where there are any, are those to keep. Raises ``InputError`` where the mapping is wrong, or a model is
    one for which no programs can be found.
    """
    source_model, target_model = axiomatic(source), axiomatic(target)
    whole = vocabulary(dialect_of([source_model]))
    needed, goal = distinguished(whole, [source_model]), vocabulary_of([target_model])
    rules = translation(written, whole, needed, goal)
    both = [vocab for vocab in (needed, goal) if vocab.dependencies]
    regions = Region.SHARED in {*needed.regions, *goal.regions} and len(whole.regions) > 1
    levels = {*needed.levels, *goal.levels} | ({Scope.CTA} if regions else set())
    words = replace(
        needed,
        modes=rules.modes(),
        levels=tuple(level for level in whole.levels if level in levels),
        regions=whole.regions if regions else needed.regions,
        dependencies=tuple(kind for kind in whole.dependencies if any(kind in vocab.dependencies for vocab in both)),
        interchangeable=bool(both) and all(vocab.interchangeable for vocab in both),
    )
    if scopes:
        words = words.within([scope for scope in Scope if scope.label in scopes])
    if OpKind.WRITE not in words.modes:
        raise InputError("without W, nothing happens that a model could forbid", written.path, written.lines, 1)
    return Checked(source, target, rules, words, goal, events, threads, scopes)


def tells(execution: Execution, check: Checked) -> bool:
    """Return whether an execution is a bug, by the oracle's verdicts on its outcome."""
    source, target = check.models
    test = litmus_test(execution, "source", observed=False)
    forbids = judge(test, source)
    if forbids.answer is not Answer.FORBIDDEN or forbids.flags:
        return False
    image = litmus_test(translated(execution, check.translation), "target", observed=False)
    return judge(image, target).answer is Answer.ALLOWED


def bug_of(execution: Execution, check: Checked) -> MappingBug:
    """Return a bug as two tests of one name, which other bugs may have too."""
    name, turned = name_of(execution)

    def record(side: Execution, words: Vocabulary, model: ConsistencyModel) -> Test:
        test = litmus_test(side, name, observed=False)
        return labelled_record(test, text_of(test, words), side.size, (model,))

    image = translated(turned, check.translation)
    return MappingBug(record(turned, check.words, check.source), record(image, check.target_words, check.target))


def weakened(check: Checked) -> Iterator[tuple[str, Checked]]:
    """Yield the mappings that are one step weaker, each with the name of the step: ``W.sc: without F.sc.sys``.

    A step leaves a fence out, takes the next lower order or narrower scope of the target's vocabulary, or a write where
    there is an update.
    """
    for kind, modes in check.words.modes.items():
        for mode in modes:
            target = check.translation.targets[kind, mode]
            for change, weaker in _weaker(kind, target, check.target_words):
                targets = {**check.translation.targets, (kind, mode): weaker}
                yield f"{spelled_mode(kind, mode)}: {change}", replace(check, translation=Translation(targets))


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the source model, and the question whether outcomes that it forbids depend on that feature.

    ``kind``: an axiom, a definition, or a rule, which is an instruction whatever its scope. For a rule, ``way`` says
    what stands in place of the instruction. ``check``: a mapping of the source to itself, or to a variant of it, that
    is wrong where an outcome depends on the feature.
    """

    kind: str
    word: str
    check: Checked
    way: str = ""

    @property
    def name(self) -> str:
        """Return the name of the feature with its kind, such as ``rule rmw.sc.*: acq_rel``."""
        return f"{self.kind} {self.word}{f': {self.way}' if self.way else ''}"


def features(check: Checked) -> Iterator[Feature]:
    """Yield the axioms of the source, the sets and relations that it defines for them, and the instructions with rules.

    Each is left out: an axiom not required, a definition empty, a fence or barrier gone, an access in its next lower
    order.
    """
    model = check.models[0]
    itself = {(kind, mode): MappedOp((), mode, ()) for kind, modes in check.words.modes.items() for mode in modes}

    def variant(changed: Model, targets: Mapping[Choice, MappedOp]) -> Checked:
        target = check.source.varied(changed) if isinstance(check.source, AxiomaticModel) else check.source
        rules = Translation({**itself, **targets})
        return replace(check, target=target, translation=rules, target_words=check.words)

    for name in dict.fromkeys(axiom.name for axiom in model.checks):
        yield Feature("axiom", name, variant(without_check(model, name), {}))
    for name in definitions(model):
        yield Feature("definition", name, variant(emptied(model, name), {}))
    rules: dict[tuple[str, str], dict[Choice, MappedOp]] = {}
    for kind, mode in itself:
        word = spelled_mode(kind, mode)
        if mode.scope is not None and len({way.scope for way in check.words.modes[kind]} - {None}) > 1:
            word = word.replace(f".{scope_word(mode)}", ".*", 1)
        if kind in (OpKind.FENCE, OpKind.BARRIER):
            rules.setdefault((word, "nothing"), {})[kind, mode] = MappedOp((), None, ())
            continue
        for lower in check.words.lower_orders(kind, mode):
            rules.setdefault((word, lower.order.value), {})[kind, mode] = MappedOp((), lower, ())
    for (word, way), targets in rules.items():
        yield Feature("rule", word, variant(model, targets), way)


def _weaker(kind: OpKind, target: MappedOp, words: Vocabulary) -> Iterator[tuple[str, MappedOp]]:
    parts = (target.before, () if target.itself is None else (target.itself,), target.after)
    for part, modes in enumerate(parts):
        one = target.kind(kind) if part == 1 else OpKind.FENCE
        for place, mode in enumerate(modes):
            for way in (*_lower(one, mode, words), *((None,) if one is OpKind.FENCE else ())):
                changed = (*modes[:place], *(() if way is None else (way,)), *modes[place + 1 :])
                before, own, after = (changed if number == part else kept for number, kept in enumerate(parts))
                if kind is OpKind.FENCE and not own:
                    own, after = after[:1], after[1:]
                word = spelled_mode(one, mode)
                change = f"without {word}" if way is None else f"{spelled_mode(one, way)} for {word}"
                yield change, MappedOp(before, own[0] if own else None, after, target.updates, target.branches)
    if target.branches:
        yield "without ctrl", replace(target, branches=False)
    if target.updates and target.itself is not None:
        for way in words.modes.get(kind, ()):
            if way == target.itself or len(words.modes[kind]) == 1:
                change = f"{spelled_mode(kind, way)} for {spelled_mode(OpKind.UPDATE, target.itself)}"
                yield change, replace(target, itself=way, updates=False, branches=target.branches and kind.reads)


def _lower(kind: OpKind, mode: Mode, words: Vocabulary) -> Iterator[Mode]:
    """Yield the ways to do an instruction that are one step weaker."""
    if kind in words.modes:
        yield from words.lower_orders(kind, mode)
        narrower = words.narrower(kind, mode)
        if narrower is not None:
            yield narrower
