"""The search for the profile that shows weak outcomes most often. It is the published one, or random.

*As published* (Sorensen and Donaldson 2016, section 3). The first step finds the patch: the words of the scratch area
that are as good to stress as their neighbours (3.2). The second finds the sequence of accesses to stress with (3.3),
and the third the number of patches over which to spread the stress (3.4). Each step measures all tests, for several
distances of their locations. Where tests disagree, the choice is a candidate that no other beats in all of them, and of
those the one with the largest sum over tests. Last come the incantations of Alglave et al. 2015, section 4.3 (Tab. 6):
stress as it was found, bank conflicts, synchronisation and randomisation, each on its own and combined.

*No choice from noise.* Launches are what is independent, as ``synth.statistics`` says. A step takes the first of the
candidates that chance does not tell from the best, so the simplest where all are alike; and in the end the profile is
kept where its launches show more weak outcomes than the device's own way, and chance does not explain the difference.
The launches of that comparison are new ones, which no step has chosen by.

*At random*: profiles with a third of their parameters drawn, and, in the second half, changes of the best one in a
parameter or two. The best quarter is measured again, and the best of these once more, for the best of many is in part
the luckiest.

A search is a generator: it yields the next questions, as many at once as it can, since programs are quicker built
together, and is sent the samples. It does nothing but decide, and equal samples give equal decisions; all chance comes
from its seed. A *budget* in seconds is shared out among the steps, and kept approximately. A step goes through its
settings (a test and a distance) in an order drawn from the seed, and measures all of its candidates in each. Where its
share is used up, it decides by the settings that are complete, at least one of each test. So all candidates are
compared by equal settings.

Differences from the paper: a launch runs many instances, so the noise threshold of 3 in 1,000 executions is a share;
stressing work-groups are half to all of ``STRESS`` for each that plays, for nothing says how many threads a device runs
at once; where no patch is seen, or every word is as good, the patch is left as it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import groupby, product
from random import Random
from typing import Any, TypeVar

from backends.shared.bundle import Draws
from backends.shared.layout import Parameters
from backends.shared.profiles import Profile
from synth.statistics import SIGNIFICANCE, MeanDifference, chances_corrected, paired_difference

METHODS = ("published", "random")

WAYS = ("bare", "own", "tuned")
"""The ways to launch that are measured in the end: without any incantation, as the device does of itself (or as the
profile at the start says), and as was found.
"""

STRESS = 2
"""The most work-groups for stress for each that plays a CTA of each test; at least half of them, of two or three."""

DRAWN = 0.35
"""The share of parameters that a random profile draws: where all are drawn, a bad one hides the good ones."""

TOGETHER = 8
"""The number of random profiles that are measured before the next are drawn."""

SPIN = 1 << 10
"""The rounds for which threads wait for each other, on a device that does not do so of itself."""

PLAIN_SEQUENCE = "st ld"
"""The sequence that stresses before sequences are compared (3.2)."""

STEP = 11
"""The step between regions: launch N of a profile with a ``spread`` of 1 stresses region N times this, modulo the
regions.
"""

INCANTATIONS = ("memory stress", "bank conflicts", "synchronisation", "randomisation")
"""The incantations in the order of Tab. 6, the first of which changes last."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a search: a test, by its number, launched as a profile says, so many times."""

    test: int
    profile: Profile
    launches: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample, which answers a question: the weak outcomes of each launch, of so many instances each.

    ``seconds`` is the whole time of the measurement, ``running`` that of its launches. ``error`` says why there is no
    measurement.
    """

    weak: tuple[int, ...] = ()
    instances: int = 0
    seconds: float = 0.0
    running: float = 0.0
    error: str = ""

    def with_(self, other: Sample) -> Sample:
        """Return this sample and another as one; it has an error where one of them has."""
        return Sample(
            self.weak + other.weak,
            max(self.instances, other.instances),
            self.seconds + other.seconds,
            self.running + other.running,
            self.error or other.error,
        )

    @property
    def seen(self) -> int:
        """Return the number of weak outcomes of all launches."""
        return sum(self.weak)

    @property
    def runs(self) -> int:
        """Return the number of instances of all launches."""
        return len(self.weak) * self.instances

    @property
    def shares(self) -> tuple[float, ...]:
        """Return the share of the instances of each launch that ended in the weak outcome."""
        return tuple(seen / self.instances for seen in self.weak)

    @property
    def rate(self) -> float:
        """Return the share of instances that ended in the weak outcome; 0 where nothing was measured."""
        return self.seen / self.runs if self.runs else 0.0


@dataclass(frozen=True, slots=True)
class Grid:
    """The grid of a search, which says how finely it looks.

    ``distances``: words between the locations of a test. ``locations``: words of the scratch area at which stress is
    tried, a power of two. ``longest``: the most accesses of a sequence. ``spreads``: how many patches to stress.
    ``launches``: of each measurement. ``noise``: the share of weak outcomes that is as good as none (3.2).
    ``candidates``: random profiles. ``turns``: how often a measurement is made, in turn with others; ``repeats``: how
    often plain and tuned launches are measured so in the end.
    ``budget``: seconds, or none.
    """

    distances: tuple[int, ...] = (0, 15, 63)
    locations: int = 64
    longest: int = 3
    spreads: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
    launches: int = 16
    noise: float = 0.003
    candidates: int = 48
    turns: int = 2
    repeats: int = 4
    budget: float | None = None


@dataclass(frozen=True, slots=True)
class Patches:
    """The patch, or None, and the weak outcomes behind it: shares by test, distance and stressed location."""

    shares: Mapping[tuple[int, int], tuple[float, ...]]
    patch: int | None


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """The candidates of a step with their scores, a sum of rates over distances for each test, and the one to take.

    ``alike`` are the others that chance does not tell from the candidate with the best score, and that one.
    """

    scores: Mapping[str, tuple[float, ...]]
    best: str
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trials:
    """Random profiles in the order in which they were tried, with their scores, sums over tests."""

    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The result of a search: the profile, its steps, and the sample of each test for each of ``WAYS``."""

    profile: Profile
    steps: Mapping[str, Patches | ProfileComparison | Trials]
    rates: Mapping[str, tuple[Sample, ...]]
    gain: MeanDifference
    """The score of the profile less that of the device's own way, by their launches."""

    @property
    def kept(self) -> bool:
        """Return whether the profile is better than plain launches; if not, it is one that chooses nothing more."""
        return self.gain.is_distinguishable and self.gain.difference > 0


Result = TypeVar("Result")
Steps = Generator[Sequence[Ask], Sequence[Sample], Result]


@dataclass(slots=True)
class ProfileSearch:
    """The search for a profile of a device: ``tests`` of them, by launches that ``base`` describes, on top of ``own``.

    ``spent`` is the seconds of all measurements so far.
    """

    method: str
    seed: int
    tests: int
    own: Parameters
    base: Profile
    grid: Grid
    spent: float = field(default=0.0, init=False)

    def steps(self) -> Steps[TuningResult]:
        """Yield the questions of the whole search, and return its result."""
        steps: dict[str, Patches | ProfileComparison | Trials] = {}
        best = yield from (self._published(steps) if self.method == "published" else self._at_random(steps))
        ways = (bare(self.base), self.base, best)
        asks = [Ask(test, profile, 2 * self.grid.launches) for profile in ways for test in range(self.tests)]
        samples = [Sample()] * len(asks)
        for turn in range(self.grid.repeats):
            if turn and self._over(1.2):
                break
            again = yield from self._measure(asks)
            samples = [one.with_(other) for one, other in zip(samples, again, strict=True)]
        rates = {way: tuple(samples[number * self.tests :][: self.tests]) for number, way in enumerate(WAYS)}
        found = TuningResult(best, steps, rates, compared(rates["tuned"], rates["own"]))
        return found if found.kept else replace(found, profile=self.base)

    @property
    def most(self) -> int:
        """Return the number of measurements that the search takes where no budget ends it."""
        ends = len(WAYS) * self.tests * self.grid.repeats
        if self.method == "random":
            again = max(1, self.grid.candidates // 4)
            batches = -(-self.grid.candidates // TOGETHER)
            asks = self.tests * (self.grid.candidates + batches - 1 + again + max(1, again // 4)) + ends
        else:
            settings = self.tests * len(self.grid.distances)
            steps = 1 + len(sequences(self.grid.longest)) + len(self.grid.spreads)
            asks = settings * steps + 16 * self.tests + ends
        return self.grid.turns * asks

    # as published

    def _published(self, steps: dict[str, Patches | ProfileComparison | Trials]) -> Steps[Profile]:
        stressed = replace(self.base, stress=STRESS, vary=True, sequence=PLAIN_SEQUENCE, spread=1)
        patches = yield from self._patches(replace(stressed, patch=1, regions=self.grid.locations))
        steps["patches"] = patches
        patch = patches.patch or self.own.patch
        regions = max(1, self.grid.locations // patch)
        here = replace(stressed, patch=patch, regions=1 << (regions.bit_length() - 1))
        launches = max(self.grid.launches, here.regions or 1)
        by_sequence = {sequence: replace(here, sequence=sequence) for sequence in sequences(self.grid.longest)}
        steps["sequences"] = found = yield from self._compared(by_sequence, 0.55, launches)
        wide = replace(here, sequence=found.best, regions=1 << (max(self.grid.spreads) - 1).bit_length())
        by_spread = {str(spread): replace(wide, spread=spread) for spread in self.grid.spreads}
        steps["spreads"] = found = yield from self._compared(by_spread, 0.75, self.grid.launches)
        tuned = by_spread[found.best]
        by_incantation = incantations(tuned, self.base, self.own)
        steps["incantations"] = found = yield from self._compared(
            by_incantation, 1.0, self.grid.launches, distances=(None,)
        )
        return by_incantation[found.best]

    def _patches(self, profile: Profile) -> Steps[Patches]:
        """Measure stress at each location in turn, a launch each, and find the patch."""
        size = self.grid.locations
        rounds = -(-self.grid.launches // 8)
        shares: dict[tuple[int, int], tuple[float, ...]] = {}
        for test, distance in self._settings(self.grid.distances):
            if shares and self._over(0.2):
                break
            (sample,) = yield from self._measure([Ask(test, self._apart(profile, distance), rounds * size)])
            weak = [0] * size
            for launch, seen in enumerate(sample.weak):
                weak[STEP * launch % size] += seen
            shares[test, distance] = tuple(
                seen / (rounds * sample.instances) if sample.instances else 0 for seen in weak
            )
        return Patches(dict(sorted(shares.items())), critical_patch(shares, self.grid.noise))

    def _compared(
        self,
        candidates: Mapping[str, Profile],
        share: float,
        launches: int,
        distances: Sequence[int | None] | None = None,
    ) -> Steps[ProfileComparison]:
        """Compare all candidates in one setting after the other, as far as the share of the budget goes."""
        scores = {name: [0.0] * self.tests for name in candidates}
        samples: dict[str, list[Sample]] = {name: [] for name in candidates}
        settings = self._settings(self.grid.distances if distances is None else distances)
        seen: set[int] = set()
        for test, distance in settings:
            if len(seen) == self.tests and self._over(share):
                break
            seen.add(test)
            asks = [Ask(test, self._apart(profile, distance), launches) for profile in candidates.values()]
            for name, sample in zip(candidates, (yield from self._measure(asks)), strict=True):
                scores[name][test] += sample.rate
                samples[name].append(sample)
        best = most_effective(scores)
        alike = not_told_from(best, samples)
        taken, *others = [name for name in candidates if name == best or name in alike]
        return ProfileComparison({name: tuple(score) for name, score in scores.items()}, taken, tuple(others))

    def _settings(self, distances: Sequence[Any]) -> list[tuple[int, Any]]:
        """Return tests and distances in an order drawn from the seed, in which every test comes soon."""
        random = Random(f"{self.seed} settings")
        columns = [random.sample(distances, len(distances)) for _ in range(self.tests)]
        return [(test, column[number]) for number in range(len(distances)) for test, column in enumerate(columns)]

    def _apart(self, profile: Profile, distance: int | None) -> Profile:
        return profile if distance is None else replace(profile, stride=distance + 1)

    # at random

    def _at_random(self, steps: dict[str, Patches | ProfileComparison | Trials]) -> Steps[Profile]:
        random = Random(f"{self.seed} profiles")
        tried: list[_Tried] = []
        while (left := self.grid.candidates - len(tried)) and not (tried and self._over(0.6)):
            halfway = bool(tried) and (left <= self.grid.candidates // 2 or self._over(0.3))
            best = max(tried, key=_score_of)[0] if halfway else self.base
            new = [
                changed(best, self.base, self.own, random) if halfway else drawn(self.base, self.own, random)
                for _ in range(min(left, TOGETHER))
            ]
            if not tried:
                new[0] = self.base
            batch: list[_Tried] = [(profile, []) for profile in new]
            yield from self._all([*batch, max(tried, key=_score_of)] if tried else batch)
            tried += batch
        steps["trials"] = Trials(tuple(map(_score_of, tried)))
        for _ in range(2):
            tried = sorted(tried, key=_score_of, reverse=True)[: max(1, len(tried) // 4)]
            yield from self._all(tried)
        return max(tried, key=_score_of)[0]

    def _all(self, tried: Sequence[_Tried]) -> Steps[None]:
        """Measure profiles on all tests, and add the samples to theirs."""
        asks = [Ask(test, profile, self.grid.launches) for profile, _ in tried for test in range(self.tests)]
        for number, sample in enumerate((yield from self._measure(asks))):
            tried[number // self.tests][1].append(sample)

    # measuring

    def _measure(self, asks: Sequence[Ask]) -> Steps[Sequence[Sample]]:
        """Measure the questions ``turns`` times in turn: other load of the machine comes and goes."""
        found = [Sample()] * len(asks)
        for turn in range(self.grid.turns):
            if turn and self._over(1.0):
                break
            samples = yield asks
            self.spent += sum(sample.seconds for sample in samples)
            found = [one.with_(other) for one, other in zip(found, samples, strict=True)]
        return found

    def _over(self, share: float) -> bool:
        return self.grid.budget is not None and self.spent > share * self.grid.budget


_Tried = tuple[Profile, list[Sample]]
"""A random profile, and its samples."""


def _score_of(tried: _Tried) -> float:
    return _score(tried[1])


def _score(samples: Sequence[Sample]) -> float:
    """Return the mean rate of the samples: all tests are measured equally often."""
    return sum(sample.rate for sample in samples) / len(samples) if samples else 0.0


def sequences(longest: int) -> list[str]:
    """Return all sequences of accesses up to a length, by length."""
    return [" ".join(words) for length in range(1, longest + 1) for words in product(("ld", "st"), repeat=length)]


def critical_patch(shares: Mapping[tuple[int, int], Sequence[float]], noise: float) -> int | None:
    """Return the patch size that all tests agree on (3.2): that of the most maximal runs of locations above the noise.

    ``None`` where tests disagree or see no weak outcome, and where one run has all locations, which are then equally
    good.
    """
    agreed = set()
    for test in sorted({test for test, _ in shares}):
        sizes: Counter[int] = Counter()
        for (name, _), row in shares.items():
            if name == test:
                sizes.update(len(list(run)) for above, run in groupby(row, lambda share: share > noise) if above)
        size = max(sizes, key=lambda count: (sizes[count], -count), default=None)
        if size is None or size == max(len(row) for row in shares.values()):
            return None
        agreed.add(size)
    return agreed.pop() if len(agreed) == 1 else None


def most_effective(scores: Mapping[str, Sequence[float]]) -> str:
    """Return a candidate that no other beats in all tests (3.3): of those one with the largest sum, the first."""
    best = [
        name
        for name, mine in scores.items()
        if not any(all(one > other for one, other in zip(theirs, mine, strict=True)) for theirs in scores.values())
    ]
    return max(best, key=lambda name: sum(scores[name]))


def compared(samples: Sequence[Sample], others: Sequence[Sample]) -> MeanDifference:
    """Compare two ways to launch by their samples of the same tests: launch N beside launch N, which has its seed."""
    return paired_difference(
        [list(zip(one.shares, other.shares, strict=False)) for one, other in zip(samples, others, strict=True)]
    )


def not_told_from(best: str, samples: Mapping[str, Sequence[Sample]]) -> frozenset[str]:
    """Return the candidates that chance does not tell from the best one, the chances corrected for their number.

    A candidate that could not be measured in every setting is none.
    """
    names = [
        name for name, way_samples in samples.items() if name != best and all(sample.weak for sample in way_samples)
    ]
    chances = chances_corrected([compared(samples[best], samples[name]).chance for name in names])
    return frozenset(name for name, chance in zip(names, chances, strict=True) if chance > SIGNIFICANCE)


def incantations(tuned: Profile, base: Profile, own: Parameters) -> dict[str, Profile]:
    """Return every combination of ``INCANTATIONS``, by the names of those that are on; ``tuned`` says how to stress."""
    found = {}
    for switches in product((False, True), repeat=len(INCANTATIONS)):
        stress, conflicts, synchronised, random = switches
        start = tuned if stress else replace(base, stress=0)
        found[" + ".join(name for name, on in zip(INCANTATIONS, switches, strict=True) if on) or "none"] = replace(
            start,
            vary=random if stress else base.vary,
            conflicts=conflicts,
            spin=(base.spin or own.spin or SPIN) if synchronised else 0,
            shuffle=random,
            shuffle_blocks=random,
        )
    return found


def bare(base: Profile) -> Profile:
    """Return the launches of a profile without any incantation."""
    return replace(
        base,
        conflicts=False,
        rotate=False,
        scatter=False,
        stripe=False,
        permute_locations=False,
        shuffle=False,
        shuffle_blocks=False,
        spin=0,
        stress=0,
        stress_before=0,
    )


def _powers(least: int, most: int) -> Callable[[Random], int]:
    return lambda random: 1 << random.randint(least, most)


def _mostly(zero: float, otherwise: Callable[[Random], int]) -> Callable[[Random], int]:
    return lambda random: 0 if random.random() < zero else otherwise(random)


def _switch(on: float = 0.5) -> Callable[[Random], bool]:
    return lambda random: random.random() < on


_DRAWN: Mapping[str, Callable[[Random], Any]] = {
    "slots": _powers(5, 9),
    "passes": _powers(0, 3),
    "stride": lambda random: random.choice((1, 2, 4, 8, 16, 17, 32, 33, 64, 128)),
    "interleaved": _switch(0.7),
    "shuffle": _switch(),
    "shuffle_blocks": _switch(),
    "scatter": _switch(0.3),
    "stripe": _switch(0.3),
    "rotate": _switch(0.3),
    "permute_locations": _switch(0.3),
    "conflicts": _switch(0.2),
    "spin": _mostly(0.2, _powers(6, 20)),
    "stress": _mostly(0.5, lambda random: random.choice((1, 2, 4))),
    "stress_rounds": _powers(4, 14),
    "stress_before": _mostly(0.6, _powers(0, 9)),
    "vary": _switch(0.3),
    "sequence": lambda random: " ".join(random.choice(("ld", "st")) for _ in range(random.randint(1, 5))),
    "spread": _mostly(0.3, _powers(0, 6)),
    "patch": _powers(0, 7),
}
"""The function that draws each parameter."""


_LOOKED = 500
"""The draws after which every value of a parameter has come up, except perhaps some of the sequences."""


def drawn(base: Profile, own: Parameters, random: Random) -> Profile:
    """Draw a random profile on top of a base, whose own choices stay."""
    return _redrawn(base, [key for key in _free(base, own) if random.random() < DRAWN], random)


def drawable(key: str) -> list[Any]:
    """Return the values from which a parameter is drawn, in order; none where it is not drawn."""
    draw = _DRAWN.get(key)
    return sorted({draw(Random(seed)) for seed in range(_LOOKED)}) if draw else []


def changed(profile: Profile, base: Profile, own: Parameters, random: Random) -> Profile:
    """Return a profile with a parameter or two drawn anew."""
    free = _free(base, own)
    return _redrawn(profile, random.sample(free, min(len(free), random.choice((1, 1, 2)))), random)


def _free(base: Profile, own: Parameters) -> list[str]:
    """Return the parameters to draw.

    A device that plays all instances in passes of itself decides how many work-groups it runs, so that is not drawn.
    """
    serial = own.passes * own.slots >= own.instances
    return [key for key in _DRAWN if key not in base.chosen and not (key == "passes" and serial)]


def _redrawn(profile: Profile, keys: Sequence[str], random: Random) -> Profile:
    return replace(profile, **{key: _DRAWN[key](random) for key in keys})


DRAWN_SLOTS = 64
"""Slots at most, for workgroups of WebGPU have up to 256 threads, and a slot has several."""

LONGEST_SEQUENCE = 3
"""The most accesses of a sequence."""


def random_profiles(count: int) -> Draws:
    """So many random ways to launch memory tests, as a tuner draws them.

    All that a profile can say but its name and the instances can be drawn.
    """
    keys = [field.name for field in fields(Profile) if field.name not in ("name", "instances")]
    values = {key: drawable(key) for key in keys}
    values["slots"] = [slots for slots in values["slots"] if slots <= DRAWN_SLOTS]
    values["sequence"] = sequences(LONGEST_SEQUENCE)
    return Draws(count, DRAWN, values)
