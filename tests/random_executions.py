"""Random executions over a vocabulary: any program that the vocabulary can make, with any outcome, of no model.

Asynchronous operations are left out: ``skeletons.Sampler`` draws programs that have some.

An execution is a function of the generator's state alone, so a seed names it. Names are normal: locations are numbered
by first occurrence, places by their first thread.
"""

from dataclasses import replace
from itertools import combinations
from random import Random

from corpus.executions.execution import INITIAL, Dependency, Execution, OpKind, Step
from corpus.executions.operations import is_asynchronous, of_object
from corpus.executions.vocabulary import VOCABULARIES, Vocabulary, optional_words, vocabulary
from corpus.litmus.locations import Region
from corpus.litmus.orders import Place, Scope

PTX, C, OPENCL = map(vocabulary, ("ptx", "c", "opencl"))
WHOLE = {name: vocabulary(name) for name in VOCABULARIES}
WHOLE |= {f"{name} +{'+'.join(words)}": vocabulary(name, words) for name, words in optional_words().items()}
"""Every vocabulary, and once more with all words that may be added."""


def random_execution(
    rng: Random, words: Vocabulary = PTX, size: int = 5, partial: bool = False, silent: bool = False
) -> Execution:
    """An execution of 2 to ``size`` instructions.

    ``partial``: coherence leaves some writes unordered; ``silent``: of some reads and final values nothing is said.
    """
    count = rng.choice((1, 2, 2, 2, 3, 3))
    places = [
        Place(
            gpu=rng.randint(0, 1) if Scope.GPU in words.levels and rng.random() < 0.3 else 0,
            queue=rng.randint(0, 1) if Scope.QUEUE in words.levels and rng.random() < 0.5 else 0,
            cta=rng.randint(0, 1) if Scope.CTA in words.levels else number,
            warp=number,
        )
        for number in range(count)
    ]
    length = rng.randint(max(2, count), size)
    cuts = sorted(rng.sample(range(1, length), count - 1))
    lengths = [stop - start for start, stop in zip([0, *cuts], [*cuts, length], strict=True)]
    kinds = [kind for kind in words.modes if kind is not OpKind.BARRIER]
    locations = rng.randint(1, 3)
    threads = []
    for number in range(count):
        steps = []
        for _ in range(lengths[number]):
            kind = rng.choice([OpKind.READ, OpKind.READ, OpKind.WRITE, OpKind.WRITE, *kinds])
            ways = [way for way in words.modes[kind] if not (is_asynchronous(way) or of_object(way))]
            location = None if kind is OpKind.FENCE else rng.randrange(locations)
            address = rng.randint(0, 1) if words.aliases and location is not None else 0
            steps.append(Step(kind, location, rng.choice(ways), address))
        threads.append(steps)
    if OpKind.BARRIER in words.modes and rng.random() < 0.3:
        cta = rng.choice(places)[:3]
        mode = rng.choice(words.modes[OpKind.BARRIER])
        for _ in range(rng.randint(1, 2)):
            for steps, place in zip(threads, places, strict=True):
                if place[:3] == cta:
                    mode = rng.choice(words.modes[OpKind.BARRIER]) if "arrive" in words.more else mode
                    steps.insert(rng.randint(0, len(steps)), Step(OpKind.BARRIER, None, mode))
    return _chosen(rng, words, threads, places, partial, silent)


def _synchronised(rng: Random, threads: int) -> tuple[tuple[int, int], ...]:
    """A strict order of some threads."""
    pairs = {pair for pair in combinations(range(threads), 2) if rng.random() < 0.3}
    for middle in range(threads):
        pairs |= {(one, other) for one, m in pairs for n, other in pairs if m == n == middle}
    return tuple(sorted(pairs))


def _chosen(
    rng: Random, words: Vocabulary, threads: list[list[Step]], places: list[Place], partial: bool, silent: bool
) -> Execution:
    """The program with dependencies and an outcome."""
    steps = [step for thread in threads for step in thread]
    of = [number for number, thread in enumerate(threads) for _ in thread]
    used = sorted({step.location for step in steps if step.location is not None})
    names = {location: number for number, location in enumerate(used)}
    users = {
        location: {places[of[i]][:3] for i, step in enumerate(steps) if step.location == location} for location in used
    }
    regions = tuple(
        Region.SHARED if len(users[location]) == 1 and rng.random() < 0.4 and len(words.regions) > 1 else Region.GLOBAL
        for location in used
    )
    writes = {
        location: [i for i, step in enumerate(steps) if step.kind.writes and step.location == location]
        for location in used
    }
    dependencies = set()
    for target, step in enumerate(steps):
        for source in range(target):
            if of[source] == of[target] and steps[source].kind.reads:
                kinds = ["ctrl"] + ["addr"] * (step.location is not None) + ["data"] * step.kind.writes
                dependencies |= {
                    Dependency(kind, source, target)
                    for kind in kinds
                    if kind in words.dependencies and rng.random() < 0.25
                }
    co = set()
    final: list[int | None] = []
    for location in used:
        order = list(writes[location])
        rng.shuffle(order)
        pairs = {(one, other) for n, one in enumerate(order) for other in order[n + 1 :]}
        if partial:
            pairs = {pair for pair in pairs if rng.random() < 0.6}
            for middle in order:  # closed under transitivity
                pairs |= {(one, other) for one, m in pairs for n, other in pairs if m == n == middle}
        co |= pairs
        last = [write for write in order if not any((write, other) in pairs for other in order)]
        final.append(rng.choice(last) if last and not (silent and rng.random() < 0.4) else None)
    rf = [
        rng.choice([INITIAL, *(write for write in writes[step.location] if write != i)])
        if step.location is not None and step.kind.reads and not (silent and rng.random() < 0.4)
        else None
        for i, step in enumerate(steps)
    ]
    execution = Execution(
        tuple(
            tuple(step if step.location is None else replace(step, location=names[step.location]) for step in thread)
            for thread in threads
        ),
        tuple(places),
        regions,
        tuple(sorted(dependencies)),
        tuple(rf),
        frozenset(co),
        tuple(final),
        _synchronised(rng, len(threads)) if words.synchronises else (),
    )
    return execution.reordered(list(range(len(threads))))
