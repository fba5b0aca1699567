"""Reads a mapping between the instructions of two languages, and translates executions by it.

A mapping is a text file with a rule a line, in the words of vocabularies (``spelled_mode``); what stands after ``#`` is
a comment::

    from rc11-scoped                         # the models, where the command names none
    to ptx-6.0
    bound: events 7, threads 3, scopes gpu   # how far to look: options of synth map by their names
    W.sc.*     -> F.sc.*; W.release.*        # * is a scope, one for both sides of the arrow
    F.release  -> -                          # nothing is left of it

An access or a barrier becomes one of its kind with fences before or after it, a fence becomes fences or nothing. Right
after an access that reads there may be ``ctrl``, a branch on what was read: ``R.acquire -> R; ctrl; F.isync``. A write
may become an update, an exchange whose read nobody looks at: ``W.sc -> rmw``. Where a vocabulary has one way to do a
kind of instruction, that kind is word enough: ``F`` of a CPU; and so it is for the plain one of a processor. An update
is translated as a whole: there is no fence between its halves. The form is that of the table of Lustig et al. (ASPLOS
2019), Fig. 11.

A mapping cannot say an access as several, another access as one of another kind, or loops.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.errors import InputError, did_you_mean
from corpus.executions.execution import Dependency, Execution, OpKind, Step
from corpus.executions.vocabulary import KIND_WORDS, VOCABULARIES, Vocabulary, optional_words, spelled_mode, vocabulary
from corpus.litmus.orders import DEFAULT_RMW, PLAIN, Mode
from corpus.litmus.processors import PROCESSORS

Choice = tuple[OpKind, Mode]
"""A kind of instruction, and how it is done."""


@dataclass(frozen=True, slots=True)
class MappedOp:
    """The translation of an instruction: fences, the instruction in a mode of the target (None where it is left out),
    and fences.

    ``updates``: a write becomes an update. ``branches``: right after the instruction, which reads, there is a branch
    that depends on what it read, and so all that follows in the thread does.
    """

    before: tuple[Mode, ...]
    itself: Mode | None
    after: tuple[Mode, ...]
    updates: bool = False
    branches: bool = False

    def kind(self, source: OpKind) -> OpKind:
        """Return the kind that an instruction of this kind has after the translation."""
        return OpKind.UPDATE if self.updates else source


@dataclass(frozen=True)
class Translation:
    """A mapping from each way to do an instruction to its translation."""

    targets: Mapping[Choice, MappedOp]

    def modes(self) -> dict[OpKind, tuple[Mode, ...]]:
        """The modes of the instructions of each kind that are translated."""
        found: dict[OpKind, tuple[Mode, ...]] = {}
        for kind, mode in self.targets:
            found[kind] = (*found.get(kind, ()), mode)
        return {kind: found[kind] for kind in OpKind if kind in found}

    @property
    def spelled(self) -> tuple[str, ...]:
        """The rules of the translation, as lines of a file."""
        lines = []
        for (kind, mode), target in self.targets.items():
            before, after = (
                [spelled_mode(OpKind.FENCE, mode) for mode in part] for part in (target.before, target.after)
            )
            own = [] if target.itself is None else [spelled_mode(target.kind(kind), target.itself)]
            own += [_BRANCH] * target.branches
            lines.append(f"{spelled_mode(kind, mode)} -> {'; '.join([*before, *own, *after]) or _NOTHING}")
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a mapping file and its place, line and column counted from 1."""

    text: str
    line: int
    column: int

    def error(self, message: str, path: str) -> InputError:
        """Return an error with a message, placed at the word."""
        return InputError(message, path, self.line, self.column)


@dataclass(frozen=True)
class MappingFile:
    """A mapping file as it is written: ``models[0]`` and ``models[1]`` are the models it maps from and to, where it
    says so.

    ``bound``: the values of some of ``BOUNDS``, as text; a list has commas between its words.
    """

    path: str
    models: tuple[Word | None, Word | None]
    rules: tuple[tuple[Word, tuple[Word, ...]], ...]
    lines: int
    bound: Mapping[str, Word]


BOUNDS = ("events", "threads", "scopes", "max-tests")
"""The bounds that a mapping may state for the search that decides it."""

_BOUND = re.compile(r"\s*bound\s*:")
_HEADS = ("from", "to")
_NOTHING = "-"
_BRANCH = "ctrl"


def read_mapping(text: str, path: str) -> MappingFile:
    """Return the rules of a file. Raises ``InputError`` where a line is neither a rule nor a bound, nor names a
    model.
    """
    models: dict[str, Word] = {}
    bound: Mapping[str, Word] | None = None
    rules: list[tuple[Word, tuple[Word, ...]]] = []
    lines = text.splitlines()
    for number, whole in enumerate(lines, 1):
        line = whole.split("#")[0].rstrip()
        words = [Word(found.group(), number, found.start() + 1) for found in re.finditer(r"->|;|[^\s;]+", line)]
        if not words:
            continue
        end = Word("", number, len(line) + 1)
        first, *rest = words
        if stated := _BOUND.match(line):
            if bound is not None:
                raise first.error("a second 'bound'", path)
            bound = _bound(line, stated.end(), number, path)
            continue
        if first.text in _HEADS:
            if len(rest) != 1:
                raise (rest[1] if rest else end).error(f"expected one model after '{first.text}'", path)
            if first.text in models:
                raise first.error(f"a second '{first.text}'", path)
            models[first.text] = rest[0]
            continue
        arrow = rest[0] if rest else end
        if first.text in ("->", ";"):
            raise first.error(f"expected an instruction, from, to or bound, found '{first.text}'", path)
        if first.text == "bound":
            raise (rest[0] if rest else end).error("expected ':' after 'bound'", path)
        if arrow.text != "->":
            raise arrow.error(f"expected '->' after '{first.text}'", path)
        rules.append((first, tuple(_sequence([*rest[1:], end], path))))
    named = (models.get("from"), models.get("to"))
    return MappingFile(path, named, tuple(rules), max(len(lines), 1), bound or {})


def _bound(line: str, start: int, number: int, path: str) -> dict[str, Word]:
    """The parts of a bound, ``events 2..5, scopes cta gpu``, that begin at a column, counted from 0."""
    found: dict[str, Word] = {}
    for part in line[start:].split(","):
        words = [Word(word.group(), number, start + word.start() + 1) for word in re.finditer(r"\S+", part)]
        end = Word("", number, start + len(part.rstrip()) + 1)
        start += len(part) + 1
        name, *values = words or [end]
        if name.text not in BOUNDS:
            raise name.error(f"expected a bound, {', '.join(BOUNDS)}, found '{name.text}'", path)
        if name.text in found:
            raise name.error(f"a second '{name.text}'", path)
        if not values:
            raise end.error(f"expected a value after '{name.text}'", path)
        if len(values) > 1 and name.text != "scopes":
            raise values[1].error(f"expected ',' after '{values[0].text}'", path)
        found[name.text] = replace(values[0], text=",".join(value.text for value in values))
    return found


def _sequence(words: Sequence[Word], path: str) -> Iterator[Word]:
    """The instructions of a rule, between which there is ``;``; the last word is the end of the line."""
    for place, word in enumerate(words[:-1] if len(words) % 2 == 0 else words):
        if place % 2 == 0:
            if word.text in ("", ";", "->"):
                raise word.error(f"expected an instruction of the target, or '{_NOTHING}' for none", path)
            yield word
        elif word.text != ";":
            raise word.error("expected ';' between instructions", path)


def translation(written: MappingFile, source: Vocabulary, needed: Vocabulary, target: Vocabulary) -> Translation:
    """Return the translation that a file says, from words of ``source`` to words of ``target``.

    Raises ``InputError`` where a word is unknown, an instruction becomes what it cannot, or one of ``needed`` has no
    rule or two.
    """
    targets: dict[Choice, MappedOp] = {}
    known, wider = _choices([source]), _choices(_related(target))
    for word, sequence in written.rules:
        found = dict(_matching(word.text, known))
        if not found:
            hint = did_you_mean(word.text, known, f"it has {' '.join(source.spelled)}")
            raise word.error(f"vocabulary {source.name} has no instruction '{word.text}'; {hint}", written.path)
        for choice, scope in found.items():
            if choice in targets:
                raise word.error(f"a second rule for {spelled_mode(*choice)}", written.path)
            targets[choice] = _target(choice[0], word, sequence, scope, wider, target, written.path)
    left = [spelled_mode(*choice) for choice in _choices([needed]).values() if choice not in targets]
    if left:
        raise InputError(f"no rule for {' '.join(dict.fromkeys(left))}", written.path, written.lines, 1)
    return Translation(targets)


def _related(words: Vocabulary) -> Iterator[Vocabulary]:
    """A vocabulary, then the others of its language, which may have words that a model reads although it lacks them."""
    language = words.name.split("-")[0]
    names = [words.name, *(name for name in VOCABULARIES if name.split("-")[0] == language and name != words.name)]
    yield from (vocabulary(name, optional_words().get(name, ())) for name in names)


def _choices(vocabularies: Sequence[Vocabulary] | Iterator[Vocabulary]) -> dict[str, Choice]:
    """Instructions by word; of a kind that is done in one way, or plainly by a processor, the kind is a word, too."""
    found: dict[str, Choice] = {}
    for words in vocabularies:
        for kind, modes in words.modes.items():
            for mode in modes:
                found.setdefault(spelled_mode(kind, mode), (kind, mode))
            if len(modes) == 1 or (words.name in PROCESSORS and modes[0] in (PLAIN, DEFAULT_RMW)):
                found.setdefault(KIND_WORDS[kind], (kind, modes[0]))
    return found


def _matching(pattern: str, known: Mapping[str, Choice]) -> Iterator[tuple[Choice, str]]:
    """The instructions that a word with ``*`` for a scope may stand for, and what the ``*`` is."""
    for word, choice in known.items():
        if word == pattern:
            yield choice, ""
        elif "*" in pattern and choice[1].scope is not None:
            scope = next((part for part in word.split(".")[1:] if pattern.replace("*", part, 1) == word), "")
            if scope and _is_scope(scope, choice):
                yield choice, scope


def _is_scope(word: str, choice: Choice) -> bool:
    kind, mode = choice
    return word not in spelled_mode(kind, replace(mode, scope=None, tags=())).split(".") and word not in mode.tags


def _target(
    kind: OpKind,
    rule: Word,
    sequence: Sequence[Word],
    scope: str,
    known: Mapping[str, Choice],
    words: Vocabulary,
    path: str,
) -> MappedOp:
    done: list[Choice] = []
    branches = False
    kinds = (kind, OpKind.FENCE, *([OpKind.UPDATE] if kind is OpKind.WRITE else []))
    for word in sequence:
        if word.text == _NOTHING and len(sequence) == 1:
            continue
        if word.text == _BRANCH:
            if not done or not done[-1][0].reads or branches:
                raise word.error("'ctrl' stands right after an instruction that reads", path)
            branches = True
            continue
        if "*" in word.text and not scope:
            raise word.error(f"'*' is the scope of the left side, and '{rule.text}' has no '*'", path)
        spelled = word.text.replace("*", scope, 1)
        if spelled not in known:
            hint = did_you_mean(spelled, known, f"it has {' '.join(words.spelled)}")
            raise word.error(f"vocabulary {words.name} has no instruction '{spelled}'; {hint}", path)
        done.append(known[spelled])
        if done[-1][0] not in kinds:
            raise word.error(f"{KIND_WORDS[kind]} cannot become {KIND_WORDS[done[-1][0]]}", path)
    modes = [mode for _, mode in done]
    if kind is OpKind.FENCE:
        return MappedOp((), modes[0] if modes else None, tuple(modes[1:]))
    own = [place for place, (kind, _) in enumerate(done) if kind is not OpKind.FENCE]
    if len(own) != 1:
        raise sequence[0].error(f"expected one {KIND_WORDS[kind]} and fences, found {len(own)}", path)
    before, after = tuple(modes[: own[0]]), tuple(modes[own[0] + 1 :])
    return MappedOp(before, modes[own[0]], after, kind is not done[own[0]][0], branches)


def translated(execution: Execution, by: Translation) -> Execution:
    """Return the translated program with an unchanged outcome: each read has its write, and each location its last
    write.

    Of what a write reads that becomes an update, nothing is said. The branch of a control dependency stands before all
    that its target became, or, where nothing is left of that, before what comes next. A branch that the translation
    adds stands before the instruction after it, where the thread has one.
    """
    threads: list[tuple[Step, ...]] = []
    start: list[int] = []
    own: list[int | None] = []
    count = 0
    dependencies: list[Dependency] = []
    for thread in execution.threads:
        steps: list[Step] = []
        branches: list[int] = []
        for step in thread:
            target = by.targets[step.kind, step.mode]
            start.append(count + len(steps))
            steps += [Step(OpKind.FENCE, None, mode) for mode in target.before]
            own.append(None if target.itself is None else count + len(steps))
            if target.itself is not None:
                steps.append(replace(step, kind=target.kind(step.kind), mode=target.itself))
                branches += [count + len(steps) - 1] * target.branches
            steps += [Step(OpKind.FENCE, None, mode) for mode in target.after]
        threads.append(tuple(steps))
        count += len(steps)
        dependencies += [Dependency("ctrl", source, source + 1) for source in branches if source + 1 < count]

    def place_of(instruction: int) -> int:
        place = own[instruction]
        assert place is not None  # an access
        return place

    sources: dict[int, int | None] = {
        place_of(i): place_of(source) if source is not None and source >= 0 else source
        for i, source in enumerate(execution.rf)
        if source is not None
    }
    owner = [number for number, steps in enumerate(threads) for _ in steps]
    for dep in execution.dependencies:
        end = start[dep.target] if dep.kind == "ctrl" else place_of(dep.target)
        if end < count and owner[end] == execution.thread_of[dep.target]:
            dependencies.append(Dependency(dep.kind, place_of(dep.source), end))
    return replace(
        execution,
        threads=tuple(threads),
        dependencies=tuple(sorted(set(dependencies))),
        rf=tuple(sources.get(i) for i in range(count)),
        co=frozenset((place_of(one), place_of(other)) for one, other in execution.co),
        final=tuple(None if write is None else place_of(write) for write in execution.final),
    )
