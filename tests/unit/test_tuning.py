"""``synth tune``'s search: on devices whose rates are known functions of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from refusals import refusal

from backends.shared.layout import Parameters, place
from backends.shared.profiles import DEFAULT, Profile
from corpus.errors import InputError
from synth.tuning.account import rate_of, record, verdict
from synth.tuning.journal import answered, open_journal
from synth.tuning.measuring import SHAPES, shape, shapes_of
from synth.tuning.search import (
    STEP,
    Ask,
    Grid,
    Patches,
    ProfileComparison,
    ProfileSearch,
    Sample,
    Trials,
    TuningResult,
    changed,
    critical_patch,
    drawn,
    most_effective,
    sequences,
)

OWN = Parameters()
BASE = Profile("fake")
GRID = Grid(
    distances=(0, 32), locations=64, longest=3, spreads=(1, 2, 4, 8), launches=8, candidates=64, turns=1, repeats=2
)
INSTANCES = 1000
Rate = Callable[[Ask, int], float]
"""The rate of a device in a launch."""


Measure = Callable[[Sequence[Ask]], Iterator[Sample]]


def measuring(rate: Rate, seconds: float = 1.0) -> Measure:
    def measure(asks: Sequence[Ask]) -> Iterator[Sample]:
        for ask in asks:
            weak = tuple(round(INSTANCES * rate(ask, launch)) for launch in range(ask.launches))
            yield Sample(weak, INSTANCES, seconds, seconds / 2)

    return measure


def found_by(search: ProfileSearch, measure: Measure) -> tuple[TuningResult, list[Ask]]:
    asked: list[Ask] = []
    steps = search.steps()
    asks = next(steps)
    while True:
        asked += asks
        try:
            asks = steps.send(list(measure(asks)))
        except StopIteration as done:
            return done.value, asked


def patchy(ask: Ask, launch: int) -> float:
    """A device with patches of 16 words, of which every other one matters, best stressed by ``st ld ld`` at 4 of them;
    waiting for each other helps, and bank conflicts hurt."""
    profile = ask.profile
    rate = 0.02 if profile.spin != 0 else 0.01
    if profile.stress:
        region = STEP * launch % (profile.regions or 1)
        word = region * (profile.patch or 1)
        rate += 0.05 if profile.spread == 1 and word // 16 % 2 else 0.0
        rate += 0.03 * (4 - abs(4 - (profile.spread or 1))) / 4 if profile.spread != 1 else 0.0
        rate *= 1.5 if profile.sequence == "st ld ld" else 1.0
    return rate / 2 if profile.conflicts else rate


def test_the_published_search_finds_patch_sequence_and_spread() -> None:
    search = ProfileSearch("published", 1, 2, OWN, BASE, replace(GRID, noise=0.03, launches=128))
    found, asked = found_by(search, measuring(patchy))
    patches, sequenced, spread = (found.steps[each] for each in ("patches", "sequences", "spreads"))
    assert isinstance(patches, Patches) and patches.patch == 16
    assert isinstance(sequenced, ProfileComparison) and sequenced.best == "st ld ld" and len(sequenced.scores) == 14
    assert isinstance(spread, ProfileComparison) and spread.best == "4"
    incanted = found.steps["incantations"]
    assert isinstance(incanted, ProfileComparison) and len(incanted.scores) == 16
    assert incanted.best == "memory stress + synchronisation"
    profile = found.profile
    assert (profile.patch, profile.sequence, profile.spread, profile.conflicts) == (16, "st ld ld", 4, False)
    assert found.kept and found.rates["tuned"][0].rate > found.rates["own"][0].rate > found.rates["bare"][0].rate
    assert len(asked) == search.most and search.spent == len(asked)
    assert {ask.profile.stride for ask in asked[:4]} == {1, 33}


def test_a_step_takes_the_first_of_those_that_launches_do_not_tell_apart() -> None:
    """In few launches, stress at one place, now here, now there, is not told from stress at four, nor random order from
    none."""
    found, _ = found_by(ProfileSearch("published", 1, 2, OWN, BASE, replace(GRID, noise=0.03)), measuring(patchy))
    spread, incanted = found.steps["spreads"], found.steps["incantations"]
    assert isinstance(spread, ProfileComparison) and isinstance(incanted, ProfileComparison)
    assert max(spread.scores, key=lambda name: sum(spread.scores[name])) == "4"
    assert (spread.best, spread.alike) == ("1", ("4",))
    assert incanted.best == "memory stress + synchronisation"
    assert incanted.alike == ("memory stress + synchronisation + randomisation",)


@pytest.mark.parametrize("method", ["published", "random"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_chosen_from_noise(method: str, seed: int) -> None:
    """A device on which a launch shows many weak outcomes or none, however it is launched: the luckiest of the
    candidates looks better than plain launches, and is not kept."""
    random = Random(seed)
    grid = replace(GRID, candidates=16)
    found, _ = found_by(
        ProfileSearch(method, seed, 2, OWN, BASE, grid), measuring(lambda *_: 0.4 * (random.random() < 0.2))
    )
    assert not found.kept and not found.gain.is_distinguishable and found.profile == BASE
    assert "it is not distinguishable. Nothing that was tried is better" in verdict(found)


def test_a_winner_is_told_by_launches_not_by_instances() -> None:
    """Half the instances of one launch in eight are no evidence; a few of every launch are."""

    def lucky(ask: Ask, launch: int) -> float:
        return 0.5 * (bool(ask.profile.chosen) and launch == 3)

    def steady(ask: Ask, launch: int) -> float:
        return 0.004 + 0.001 * (launch % 2) + 0.003 * bool(ask.profile.chosen)

    for rate, kept in ((lucky, False), (steady, True)):
        found, _ = found_by(ProfileSearch("random", 0, 1, OWN, BASE, replace(GRID, candidates=8)), measuring(rate))
        own, tuned = (rate_of(found.rates[way][0]) for way in ("own", "tuned"))
        assert found.kept is kept and tuned.rate > own.rate
        assert (tuned.low <= own.high) is not kept
        assert record(found, ["SB"], "a device")["gain"]["distinguishable"] is kept
    assert found.gain.difference == pytest.approx(0.003) and 0 < found.gain.low <= found.gain.high
    assert verdict(found).endswith("it is distinguishable.")


def test_the_location_of_a_launch_is_known() -> None:
    """What the search takes for the location of launch N is where the expressions of the layout stress."""
    from test_memory_layout import functions, python

    from backends.shared.layout import SPOT

    layout = place(shape("SB"), replace(OWN, instances=32, stress=1, spread=1, patch=2, regions=64))
    names = functions(layout)
    spots = [eval(python(SPOT), names | {"number": 5, "seed": seed}) for seed in range(200)]
    assert spots == [STEP * seed % 64 * 2 for seed in range(200)]


def test_the_random_search_finds_a_maximum() -> None:
    def rate(ask: Ask, _: int) -> float:
        profile = ask.profile
        near = -abs((profile.spin or 1).bit_length() - 11) / 20 - abs((profile.slots or 32).bit_length() - 8) / 10
        return 0.9 + near + (0.05 if profile.rotate else 0.0)

    found, asked = found_by(ProfileSearch("random", 1, 1, OWN, BASE, replace(GRID, candidates=400)), measuring(rate))
    assert found.profile.slots == 128 and found.profile.rotate
    assert (found.profile.spin or 0).bit_length() in (10, 11, 12)
    trials = found.steps["trials"]
    assert isinstance(trials, Trials) and len(trials.scores) == 400
    assert asked[0].profile == BASE


def test_plain_launches_stay_where_nothing_is_better() -> None:
    def rate(ask: Ask, _: int) -> float:
        return 0.5 if not ask.profile.chosen else 0.1

    for method in ("published", "random"):
        found, _ = found_by(ProfileSearch(method, 0, 1, OWN, BASE, replace(GRID, candidates=8)), measuring(rate))
        assert not found.kept and found.profile == BASE


@pytest.mark.parametrize("method", ["published", "random"])
def test_the_same_seed_asks_the_same_and_another_does_not(method: str) -> None:
    grid = replace(GRID, distances=(0, 1, 2, 3, 4, 5), candidates=16)
    asked = [found_by(ProfileSearch(method, seed, 2, OWN, BASE, grid), measuring(patchy))[1] for seed in (1, 1, 2)]
    assert asked[0] == asked[1] != asked[2]


@pytest.mark.parametrize("method", ["published", "random"])
def test_a_budget_ends_a_search_and_every_test_is_measured(method: str) -> None:
    search = ProfileSearch(method, 0, 3, OWN, BASE, replace(GRID, distances=tuple(range(20)), budget=60.0))
    found, asked = found_by(search, measuring(patchy))
    assert len(asked) < search.most / 2
    assert {ask.test for ask in asked} == {0, 1, 2}
    if method == "published":
        assert all(all(row) for row in found.steps["sequences"].scores.values())  # type: ignore[union-attr]


def test_measurements_take_turns() -> None:
    """What is asked at once is asked anew as a whole, and the samples are summed up."""
    search = ProfileSearch("random", 0, 1, OWN, BASE, replace(GRID, candidates=8, turns=3))
    found, asked = found_by(search, measuring(patchy))
    assert asked[:8] == asked[8:16] == asked[16:24] and len(asked) == search.most
    assert len(found.rates["own"][0].weak) == 3 * 2 * 2 * GRID.launches and found.rates["own"][0].seconds == 3 * 2


def test_what_cannot_be_launched_is_not_chosen() -> None:
    def measure(asks: Sequence[Ask]) -> Iterator[Sample]:
        for ask in asks:
            if ask.profile.stress or ask.profile.conflicts:
                yield Sample(seconds=1.0, error="does not compile")
            else:
                yield from measuring(patchy)([ask])

    for method in ("published", "random"):
        found, _ = found_by(ProfileSearch(method, 0, 1, OWN, BASE, GRID), measure)
        assert not found.profile.stress and not found.profile.conflicts


def test_what_a_base_says_stays() -> None:
    base = replace(BASE, slots=64, stress=0)
    for seed in range(20):
        profile = drawn(base, OWN, Random(seed))
        assert (profile.slots, profile.stress) == (64, 0)
        other = changed(profile, base, OWN, Random(seed))
        assert (other.slots, other.stress) == (64, 0)
        assert sum(getattr(other, key) != getattr(profile, key) for key in {**other.chosen, **profile.chosen}) <= 2
    several, serial = OWN, replace(OWN, passes=64, instances=64 * OWN.slots)
    drawn_passes = [[drawn(BASE, own, Random(s)).passes for s in range(30)] for own in (several, serial)]
    assert any(drawn_passes[0]) and not any(drawn_passes[1])


def test_what_is_drawn_can_be_launched() -> None:
    from backends.shared.layout import chosen

    for seed in range(300):
        place(shape("SB"), chosen(OWN, drawn(BASE, OWN, Random(seed))))


def test_patches_are_runs_that_tests_agree_on() -> None:
    row = [0.0, 0.0, 0.1, 0.1, 0.0, 0.1, 0.1, 0.0]
    three = [0.1, 0.1, 0.1, 0.0, 0.1, 0.1, 0.1, 0.0]
    assert critical_patch({(0, 0): row, (1, 0): row}, 0.003) == 2
    assert critical_patch({(0, 0): row, (1, 0): three}, 0.003) is None
    assert critical_patch({(0, 0): row, (1, 0): [0.0] * 8}, 0.003) is None
    assert critical_patch({(0, 0): [0.1] * 8}, 0.003) is None
    assert critical_patch({(0, 0): row}, 0.2) is None


def test_the_most_effective_is_beaten_by_none_in_all_tests() -> None:
    assert most_effective({"a": (1, 5), "b": (2, 1), "c": (0.5, 4)}) == "a"
    assert most_effective({"a": (1.0, 1.0), "b": (1.0, 1.0)}) == "a"


def test_sequences() -> None:
    assert len(sequences(5)) == 62 and sequences(2) == ["ld", "st", "ld ld", "ld st", "st ld", "st st"]


def test_shapes_are_tests_of_their_names(tmp_path: Path) -> None:
    assert [test.name for test in shapes_of(["sb", "MP", "LB"])] == list(SHAPES)
    with pytest.raises(InputError, match="there is no shape SBB; did you mean SB"):
        shapes_of(["SBB"])
    with pytest.raises(InputError, match="two tests are called SB"):
        shapes_of(["SB", "SB"])
    with pytest.raises(InputError):
        shapes_of([str(tmp_path / "none.litmus")])


@pytest.mark.parametrize("cut", [0, 1, 7, 40])
def test_a_search_that_is_cut_goes_on(cut: int, tmp_path: Path) -> None:
    """After a kill, also in the middle of a line, the same command measures the rest and finds the same."""
    file = tmp_path / "p.journal.jsonl"
    grid = replace(GRID, candidates=24)

    def run(most: int | None) -> tuple[TuningResult | None, int]:
        measured = 0

        def measure(asks: Sequence[Ask]) -> Iterator[Sample]:
            nonlocal measured
            for sample in measuring(patchy)(asks):
                if measured == most:
                    raise KeyboardInterrupt
                measured += 1
                yield sample

        result = None
        try:
            with open_journal(file) as journal:
                for done in answered(
                    ProfileSearch("random", 3, 2, OWN, BASE, grid), "k", ("SB", "MP"), measure, journal
                ):
                    result = done or result
        except KeyboardInterrupt:
            pass
        return result, measured

    whole, number = run(None)
    text = file.read_bytes()
    file.unlink()
    assert run(cut) == (None, cut)
    file.write_bytes(file.read_bytes() + b'{"search":"k","test":"S')
    assert run(None) == (whole, number - cut)
    assert file.read_bytes() == text
    assert run(None) == (whole, 0)


def test_a_journal_of_another_search_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p.journal.jsonl"

    def run(key: str) -> None:
        search = ProfileSearch("random", 3, 1, OWN, BASE, replace(GRID, candidates=4))
        with open_journal(file) as journal:
            list(answered(search, key, ("SB",), measuring(patchy), journal))

    run("one")
    run("one")
    assert refusal(run, "other").startswith(f"{file}:1: of another search")


def test_the_default_profile_is_a_base() -> None:
    assert DEFAULT.chosen == {}
