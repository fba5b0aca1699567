"""The vocabulary that a model can tell apart: the words of a dialect without those that make no difference to the
model.

A model tells two ways to do an instruction apart only if it mentions a set in which they differ, or a relation that
depends on their scopes. Of several ways that it does not tell apart, the first that the dialect lists stands for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from corpus.errors import InputError
from corpus.executions import operations
from corpus.executions.execution import DEPENDENCIES, OpKind
from corpus.executions.vocabulary import Vocabulary, vocabulary
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Scope
from oracle.cat.interpreter import Model
from oracle.cat.syntax import ships
from oracle.cat.terms import FilePosition
from oracle.executions import events
from oracle.executions.events import access_tags, barrier_tags, fence_tags
from oracle.executions.initial import sees_initial_writes

_SCOPED = ("sr", "scta", "sgpu")
_LEVELS = {Scope.GPU: ("sgpu",), Scope.QUEUE: ("squeue",), Scope.CTA: ("scta", "syncbar"), Scope.WARP: ("swarp",)}
"""The relations that tell whether threads are together at a level of the scope tree."""
_ORDERS = {"ACQ", "REL", "ACQ_REL", "SC"}
"""The sets of fences, except ``F`` and the sets of their scopes."""
_HALVES = frozenset({"ACQ", "REL", "ACQ_REL", "RLX"})
"""Orders of an update that its two events do not both have."""
_PROCESSORS = {"armv8": "ISB", "power": "EIEIO", "riscv": "FENCE.R.R", "x86": "MFENCE"}
"""The set by which a model is known to be that of a processor."""
_PROXIES = ("SURFACE", "TEXTURE", "CONSTANT", "ALIAS", "ASYNC")


def vocabulary_of(models: Sequence[Model], more: tuple[str, ...] = ()) -> Vocabulary:
    """The vocabulary that any of these models can tell apart, of the dialect that their words come from, with some
    optional words.

    Raises ``InputError`` where a model mentions a relation that no vocabulary can make, or there is no such word.
    """
    return distinguished(vocabulary(dialect_of(models), more), models)


def dialect_of(models: Sequence[Model]) -> str:
    """The vocabulary that models are about: the narrowest that has all that they mention."""

    def mention(*names: str) -> bool:
        return any(model.mentions(name) for model in models for name in names)

    if processors := {name for model in models for name, word in _PROCESSORS.items() if model.mentions(word)}:
        others = [model for model in models if not any(map(model.mentions, _PROCESSORS.values()))]
        if not only_flagged(others):
            return "c"
        return processors.pop() if len(processors) == 1 else "cpu"
    flow = ("AV", "VIS", "SEMAV", "SEMVIS", "AVDEVICE", "VISDEVICE")
    reads_both = [model.mentions("AV") and model.mentions("VOL") for model in models]  # of LLVM, for any language
    if any(reads_both) and all(any(map(model.mentions, flow)) for model in models):
        return "amdgpu"
    if any(reads_both):
        return dialect_of([model for model, both in zip(models, reads_both, strict=True) if not both])
    if mention(*flow):
        return "webgpu" if mention("SHARED") else "vulkan"
    if mention(events.ASYNCHRONOUS):  # of such operations others say nothing
        return "ptx-async" if all(model.mentions(events.ASYNCHRONOUS) for model in models) else "ptx-proxies"
    if any(model.checks_mention("SHARED", kind="F") for model in models):
        return "opencl"  # fences of one memory
    if any(model.checks_mention(name) for model in models for name in _PROXIES):
        return "ptx-proxies"
    if mention("sync_fence", "CTA", "GPU", "CG", "CA", "VOL") or any(model.partial_co for model in models):
        return "ptx"
    if mention(*_SCOPED, "SHARED"):
        return "ptx" if mention("cta", "gl") else "opencl"
    return "c" if mention("ACQ", "REL", "ACQ_REL", "RLX") and not only_flagged(models) else "cpu"


def only_flagged(models: Sequence[Model]) -> bool:
    """Whether the models mention acquire and release orders in flags alone, so that their checks do not depend on
    these."""
    return not any(model.checks_mention(name) for model in models for name in ("ACQ", "REL", "ACQ_REL", "RLX"))


@dataclass(frozen=True, slots=True)
class Telling:
    """The properties of events that models look at.

    ``tags``: the sets of events of each kind that a check depends on, and ``of_updates``, those of the events of
    updates; ``scopes``: whether a check depends on scopes; ``together``: the sets of fences and barriers that a check
    looks for together, as ``F & SC``.
    """

    tags: Mapping[events.EventKind, frozenset[str]]
    of_updates: Mapping[events.EventKind, frozenset[str]]
    scopes: bool
    together: Mapping[events.EventKind, frozenset[frozenset[str]]]

    def of(self, kind: OpKind, mode: Mode) -> object:
        """The properties that the models see of a way to do an instruction; ways with equal properties are one to
        the models."""
        tags = self.of_updates if kind is OpKind.UPDATE else self.tags
        seen = tuple(found & tags[half] for half, found in zip(halves(kind), mode_tags(kind, mode), strict=True))
        return seen, events.access_scope(mode) if self.scopes else None

    def reads(self, kind: OpKind, mode: Mode) -> bool:
        """Whether the presence of an instruction makes a difference to a check.

        Accesses do. A fence or barrier does not if it lacks a set of every intersection in a check, as
        ``fence.acq_rel`` where a model has ``F & SC`` alone.
        """
        together = self.together.get(events.EventKind(kind.value)) if kind in (OpKind.FENCE, OpKind.BARRIER) else None
        (tags, *_) = mode_tags(kind, mode)
        return together is None or any(names <= tags for names in together)


def telling(models: Sequence[Model], flags: bool = False) -> Telling:
    """The properties of events that models look at in their checks; ``flags``: in their flags, too."""

    def mention(name: str, kind: str = "") -> bool:
        return any(model.checks_mention(name, kind) or (flags and model.flags_mention(name, kind)) for model in models)

    tags = {kind: frozenset(name for name in events.SETS if mention(name, kind)) for kind in events.EventKind}
    if mention("sync_fence"):
        tags[events.EventKind.FENCE] |= {"SC"}
    if mention("syncbar"):  # nothing synchronises with a barrier that does not wait
        tags[events.EventKind.BARRIER] |= {"ARRIVE"}
    together = {
        kind: {names & events.SETS for model in models for names in model.checks_intersect(kind)} - {frozenset()}
        for kind in (events.EventKind.FENCE, events.EventKind.BARRIER)
    }
    together[events.EventKind.FENCE] |= {frozenset({"F", "SC"})} if mention("sync_fence") else set()
    together[events.EventKind.BARRIER] |= {frozenset({"B"})} if mention("syncbar") else set()
    updates = tags
    if any(model.syntax.one_event for model in models) and any(map(mention, _HALVES)):
        updates = {kind: found | _HALVES for kind, found in tags.items()}
    sets = {kind: frozenset(names) for kind, names in together.items()}
    return Telling(tags, updates, mention("sr") or mention("sync_fence"), sets)


def distinguished(whole: Vocabulary, models: Sequence[Model]) -> Vocabulary:
    """A vocabulary without distinctions that no model makes.

    Raises ``InputError`` where a model mentions a relation that no vocabulary can make.
    """
    for model in models:
        if whole.asynchronous and not model.mentions(events.ASYNCHRONOUS):
            raise InputError(
                f"{model.name} says nothing of asynchronous operations, which the vocabulary {whole.name} has"
            )
        if model.syntax.over_members is not None:
            message = f"{model.name} goes over the members of sets, which are not known of programs made here"
            raise InputError(message, *model.syntax.over_members)
        for order in model.chosen_orders:
            message = f"{model.name} lets executions choose '{order.name}', an order that programs made here have not"
            raise InputError(message, *order.position)
        for name in whole.unmade:
            if model.mentions(name):
                reason = "programs here have one address a location, and no warps or queues"
                message = f"{model.name} uses '{name}', which no vocabulary can make: {reason}"
                raise InputError(message, *model.mentioned_at(name))

    def mention(*names: str) -> bool:
        return any(model.checks_mention(name) for model in models for name in names)

    distinctions = telling(models)
    kept = {OpKind.READ, OpKind.WRITE}
    whole_updates = any(model.syntax.one_event for model in models)
    kept |= {OpKind.UPDATE} if mention("rmw", "RMW") or whole_updates else set()
    kept |= (
        {OpKind.FENCE} if mention("F", "sync_fence") or distinctions.tags[events.EventKind.FENCE] & _ORDERS else set()
    )
    kept |= {OpKind.BARRIER} if mention("B", "syncbar") else set()
    unsaid = {name for name in events.DIALECT_TAGS if any(_only_flags(model, name) for model in models)}
    modes = {}
    for kind in (kind for kind in whole.modes if kind in kept):
        seen: dict[object, Mode] = {}
        for mode in whole.modes[kind]:
            if any(found & unsaid for found in mode_tags(kind, mode)):
                continue
            alone = operations.is_asynchronous(mode) or operations.waits_for(mode) is not None
            seen.setdefault(mode if alone else distinctions.of(kind, mode), mode)
        modes[kind] = tuple(seen.values())
    if OpKind.FENCE in modes and whole.name in ("ptx-proxies", "ptx-async"):  # fences that no model mentions
        told_of = distinctions.tags[events.EventKind.FENCE] & {*_ORDERS, *_PROXIES} | {events.GROUP}
        modes[OpKind.FENCE] = tuple(mode for mode in modes[OpKind.FENCE] if fence_tags(mode) & told_of)
    dependencies = tuple(name for name in whole.dependencies if mention(name))
    named = {mode.scope for ways in modes.values() for mode in ways}
    levels = {level: mention(*_LEVELS[level]) or (distinctions.scopes and level in named) for level in whole.levels}
    regions = whole.regions if mention("GLOBAL", "SHARED") else (Region.GLOBAL,)
    if len(regions) > 1:
        levels[Scope.CTA] = True
    aliases = whole.aliases and mention("vloc")
    for model in models if aliases else ():
        if sees_initial_writes(model):  # a location exists before it is accessed by one of its addresses
            raise InputError(f"{model.name} tells initial writes from others, and so has no programs with aliases here")
    return replace(
        whole,
        modes=modes,
        levels=tuple(level for level in whole.levels if levels[level]),
        regions=regions,
        dependencies=dependencies,
        interchangeable=dependencies == DEPENDENCIES and all(model.joins(DEPENDENCIES) for model in models),
        aliases=aliases,
        synchronises=whole.synchronises and mention("ssw"),
    )


def _only_flags(model: Model, name: str) -> bool:
    """Whether a model mentions a set in its flags alone: of what has that word, it does not speak."""
    return model.mentions(name) and not model.checks_mention(name)


def unmade(words: Vocabulary, model: Model) -> dict[str, FilePosition]:
    """The sets that a check depends on but no event is in, for the dialect has no word for them, with their positions.

    Models that ship are about more than the programs of their own vocabulary, on purpose: Vulkan's has one storage
    class of four. Sets that its own files mention and these programs lack are left out; ``docs/suites.md`` says what
    they have.
    """
    own = dialect_of([model])
    known = _empty(vocabulary(own, words.more if own == words.name else ()), model)
    return {name: place for name, place in _empty(words, model).items() if not (name in known and ships(str(place[0])))}


def _empty(words: Vocabulary, model: Model) -> dict[str, FilePosition]:
    whole = vocabulary(words.name, words.more)
    modes = [(kind, mode) for kind, ways in whole.modes.items() for mode in ways]
    made = {tag for kind, mode in modes for tags in mode_tags(kind, mode) for tag in tags}
    made |= {region.name for region in whole.regions} | {"R", "W", "F", "B", "RMW", "IW"}
    there = sorted(name for name in events.SETS - made if model.mentions(name) and model.checks_mention(name))
    return {name: model.mentioned_at(name) for name in there}


def halves(kind: OpKind) -> tuple[events.EventKind, ...]:
    """The kinds of the events of an instruction: of an update, read and write."""
    return (events.EventKind.READ, events.EventKind.WRITE) if kind is OpKind.UPDATE else (events.EventKind(kind.value),)


def mode_tags(kind: OpKind, mode: Mode) -> tuple[frozenset[str], ...]:
    """The sets that the events of an instruction of a mode are in, except those of its location."""
    match kind:
        case OpKind.FENCE:
            return (fence_tags(mode),)
        case OpKind.BARRIER:
            return (barrier_tags(mode, False),)
        case OpKind.UPDATE:
            return tuple(access_tags(half, mode, Region.GLOBAL, True) for half in halves(kind))
        case _:
            half = events.EventKind(kind.value)
            return (access_tags(half, mode, Region.GLOBAL) | events.signal_tags(half, mode),)
