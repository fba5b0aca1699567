"""Where threads and instances of memory tests go: the C expressions of the layout, evaluated as Python."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.shared.layout import (
    BANKS,
    EXPRESSIONS,
    MACROS,
    SCRATCH_WORDS,
    SPOT,
    STRESSER,
    WARP,
    WORKING,
    Layout,
    Parameters,
    gpu_parameters,
    place,
)
from backends.shared.profiles import Profile
from corpus.errors import InputError
from corpus.litmus.instructions import Load
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.orders import Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

SMALL = Parameters(instances=64, slots=32, stride=4)
TREES = {
    "apart": [Place(cta=0), Place(cta=1)],
    "warps": [Place(warp=0), Place(warp=1)],
    "one warp": [Place(), Place(), Place()],
    "mixed": [Place(cta=1, warp=3), Place(cta=0), Place(cta=1, warp=1), Place(cta=1, warp=3), Place(cta=2)],
}
PARAMETERS = [
    SMALL,
    replace(SMALL, instances=128, slots=64),
    replace(SMALL, interleaved=False, stress=2),
    replace(SMALL, passes=2, shuffle=False),
    replace(SMALL, instances=128, passes=4, interleaved=False, stress=1),
    replace(SMALL, instances=1),
    replace(SMALL, instances=256, passes=4, rotate=True, scatter=True, stress=1),
    replace(SMALL, instances=256, passes=2, scatter=True, shuffle_blocks=False, conflicts=True),
    replace(SMALL, instances=256, passes=2, stripe=True, rotate=True, permute_locations=True),
    replace(SMALL, instances=128, stripe=True, permute_locations=True, conflicts=True, interleaved=False),
]


def litmus_of(places: list[Place], shared: bool = False) -> LitmusTest:
    threads = tuple(Thread((Load("r0", Loc("x")),), each) for each in places)
    locations = (Location("x", 0, Region.SHARED if shared else Region.GLOBAL), Location("y"))
    return LitmusTest("t", threads, locations, Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 0)))


def python(text: str) -> str:
    """A C expression as Python: whole division, numbers without suffix."""
    return re.sub(r"(\d)u\b", r"\1", text).replace("/", "//")


def functions(layout: Layout) -> dict[str, object]:
    names: dict[str, object] = dict(layout.constants)
    for head, body in MACROS.items():
        name, parameters = re.fullmatch(r"(\w+)\((.*)\)", head).groups()
        names[name] = eval(f"lambda {parameters}: {python(body)}", names)
    return names


def launched(layout: Layout, seed: int) -> list[dict[str, int]]:
    """Every thread of a launch that runs a thread of the test, in every pass, with all that the kernel knows of it."""
    found = []
    common = functions(layout)
    codes = {name: compile(python(text), name, "eval") for name, text in EXPRESSIONS.items()}
    for group in range(layout.groups):
        for item in range(layout.group_size):
            for step in range(layout.parameters.passes):
                names = common | {"group": group, "item": item, "nth": step, "seed": seed}
                for name, code in codes.items():
                    names[name] = eval(code, names)
                if names["role"] < names["CTAS"] and names["position"] in layout.positions:
                    found.append(names | {"thread": layout.positions.index(names["position"])})
    return found


ANY = st.builds(
    Parameters,
    instances=st.integers(1, 300),
    slots=st.sampled_from([32, 64]),
    passes=st.sampled_from([1, 2, 4]),
    interleaved=st.booleans(),
    shuffle=st.booleans(),
    shuffle_blocks=st.booleans(),
    scatter=st.booleans(),
    stripe=st.booleans(),
    rotate=st.booleans(),
    permute_locations=st.booleans(),
    conflicts=st.booleans(),
    stress=st.integers(0, 2),
)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(TREES)), ANY, st.integers(0, 2**31))
def test_every_thread_of_every_instance_is_played_once_whatever_is_chosen(
    tree: str, parameters: Parameters, seed: int
) -> None:
    everywhere(tree, parameters, seed)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("parameters", PARAMETERS, ids=range(len(PARAMETERS)))
@pytest.mark.parametrize("seed", [0, 5])
def test_every_thread_of_every_instance_is_where_the_scope_tree_has_it(
    tree: str, parameters: Parameters, seed: int
) -> None:
    everywhere(tree, parameters, seed)


def everywhere(tree: str, parameters: Parameters, seed: int) -> None:
    test = litmus_of(TREES[tree])
    layout = place(test, parameters)
    threads = launched(layout, seed)
    assert len(threads) == layout.instances * len(test.threads)
    where = {(each["instance"], each["thread"]): each for each in threads}
    assert sorted(where) == [(m, t) for m in range(layout.instances) for t in range(len(test.threads))]
    for instance in range(layout.instances):
        for first, second in combinations(range(len(test.threads)), 2):
            one, other = where[instance, first], where[instance, second]
            places = test.threads[first].place, test.threads[second].place
            assert (one["group"] == other["group"]) == places[0].shares(places[1], Scope.CTA)
            assert one["nth"] == other["nth"]
            if one["group"] == other["group"]:
                assert one["slot"] == other["slot"]
                same_warp = one["item"] // WARP == other["item"] // WARP
                assert same_warp == places[0].shares(places[1], Scope.WARP)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=range(len(PARAMETERS)))
def test_memory_of_instances_is_disjoint(parameters: Parameters) -> None:
    layout = place(litmus_of(TREES["apart"]), parameters)
    names = functions(layout)
    cells = [names["ADDRESS"](m, n) for m in range(layout.instances) for n in range(2)]
    cells += [layout.counters + m for m in range(layout.instances)] + [layout.scratch]
    assert len(set(cells)) == len(cells) and max(cells) < layout.words
    results = [names["RESULT"](m, n) for m in range(layout.instances) for n in range(len(layout.terms))]
    assert sorted(results) == list(range(layout.result_words))


def test_shared_memory_of_slots_is_disjoint() -> None:
    layout = place(litmus_of(TREES["warps"], shared=True), replace(SMALL, shared_stride=3))
    names = functions(layout)
    cells = [names["SHARED_ADDRESS"](0, s, 0) for s in range(layout.parameters.slots)]
    assert cells == [3 * s for s in range(32)] and max(cells) < layout.shared_words
    assert [location.name for location in layout.shareds] == ["x"]
    assert [location.name for location in layout.globals] == ["y"]


@pytest.mark.parametrize("size", [1, 2, 32, 256])
def test_permutations_are_bijections(size: int) -> None:
    permuted = functions(place(litmus_of(TREES["apart"])))["PERMUTED"]
    orders = {tuple(permuted(x, size, key) for x in range(size)) for key in range(200)}
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert tuple(permuted(x, size, 0) for x in range(size)) == tuple(range(size))
    assert len(orders) == min(size, 200)


def test_threads_of_an_instance_are_out_of_step() -> None:
    """With ``shuffle`` the second thread walks the slots in another order than the first; without, in the same."""
    for shuffle in (True, False):
        layout = place(litmus_of(TREES["apart"]), replace(SMALL, shuffle=shuffle))
        orders = [[each["slot"] for each in launched(layout, 3) if each["group"] == group] for group in (0, 1)]
        assert (orders[0] != orders[1]) == shuffle


def test_threads_play_every_role() -> None:
    """With ``rotate`` and two passes or more, each thread plays both; without, one."""
    for tree in ("apart", "warps"):
        for rotate in (True, False):
            layout = place(litmus_of(TREES[tree]), replace(SMALL, instances=128, passes=4, rotate=rotate))
            roles: dict[tuple[int, int], set[int]] = {}
            for each in launched(layout, 3):
                roles.setdefault((each["group"], each["item"]), set()).add(each["thread"])
            assert all(len(played) == 1 + rotate for played in roles.values())


def test_work_groups_that_meet_are_another_choice_in_each_launch() -> None:
    """With ``scatter``; without, neighbours meet."""

    def meetings(scatter: bool, seed: int) -> frozenset[tuple[int, int]]:
        layout = place(litmus_of(TREES["apart"]), replace(SMALL, instances=1024, scatter=scatter))
        groups: dict[int, dict[int, int]] = {}
        for each in launched(layout, seed):
            groups.setdefault(each["instance"], {})[each["thread"]] = each["group"]
        return frozenset((one[0], one[1]) for one in groups.values())

    assert len({meetings(False, seed) for seed in range(4)}) == 1
    assert len({meetings(True, seed) for seed in range(4)}) == 4


@pytest.mark.parametrize("tree", TREES)
def test_the_parallel_environment(tree: str) -> None:
    """As many instances as threads, each thread in every role, and the slots of a work-group meet many work-groups."""
    test = litmus_of(TREES[tree])
    layout = place(test, gpu_parameters(test, 2048))
    threads = launched(layout, 3)
    roles: dict[tuple[int, int], set[int]] = {}
    partners: dict[int, set[int]] = {}
    where = {(each["instance"], each["thread"]): each["group"] for each in threads}
    for each in threads:
        roles.setdefault((each["group"], each["item"]), set()).add(each["thread"])
        partners.setdefault(each["group"], set()).update(where[each["instance"], t] for t in range(len(test.threads)))
    assert all(played == set(range(len(test.threads))) for played in roles.values())
    positions = (max(layout.ctas) + 1) * layout.warps * layout.lanes
    assert layout.groups * layout.group_size * layout.parameters.passes == layout.instances * positions
    apart = max(layout.ctas) > 0
    assert all((len(met) > layout.turns // 2) == apart for met in partners.values())


@pytest.mark.parametrize(
    ("tree", "instances", "slots", "passes"),
    [("apart", 1 << 16, 256, 2), ("warps", 1 << 16, 128, 2), ("one warp", 1 << 16, 64, 4), ("apart", 16, 32, 2)],
)
def test_work_groups_have_256_threads_where_there_are_instances(
    tree: str, instances: int, slots: int, passes: int
) -> None:
    test = litmus_of(TREES[tree])
    layout = place(test, gpu_parameters(test, instances))
    assert (layout.parameters.slots, layout.parameters.passes) == (slots, passes)
    assert layout.group_size == (256 if instances > 256 else 32)
    assert place(test, gpu_parameters(test, instances, Profile("own", slots=512))).parameters.slots == 512


def test_locations_of_an_instance_are_no_neighbours() -> None:
    """With ``permute_locations``, by the prime of WebGPU's conformance suite; without, they are."""
    for permuted in (True, False):
        layout = place(litmus_of(TREES["apart"]), replace(SMALL, instances=1024, permute_locations=permuted))
        names = functions(layout)
        second = [419 * i + 11 * 209 if permuted else i for i in range(1024)]
        assert [names["ADDRESS"](i, 0) for i in range(1024)] == [8 * i for i in range(1024)]
        assert [names["ADDRESS"](i, 1) for i in range(1024)] == [8 * (i % 1024) + 4 for i in second]


@pytest.mark.parametrize("shared", [True, False])
def test_banks_of_a_warp_are_one_or_all(shared: bool) -> None:
    """With ``conflicts``: in every other block all slots of a warp have a location in one bank, else in a bank each."""
    layout = place(litmus_of(TREES["warps"], shared), replace(SMALL, instances=256, slots=64, conflicts=True))
    names = functions(layout)
    for block in range(layout.blocks):
        for warp in range(2):
            slots = range(32 * warp, 32 * warp + 32)
            cells = [
                names["SHARED_ADDRESS"](block, s, 0) if shared else names["ADDRESS"](64 * block + s, 1) for s in slots
            ]
            assert len({cell % BANKS for cell in cells}) == (32 if block % 2 else 1)
    if shared:
        assert max(names["SHARED_ADDRESS"](1, s, 0) for s in range(64)) < layout.shared_words


@settings(deadline=None)
@given(st.integers(1, 64), st.integers(0, 2**31), st.sampled_from([1, 7, 32, 64]))
def test_stress_is_spread_over_so_many_regions(spread: int, seed: int, patch: int) -> None:
    layout = place(litmus_of(TREES["apart"]), replace(SMALL, stress=1, spread=spread, patch=patch, offset=5))
    names = functions(layout) | {"seed": seed}
    spots = [eval(python(SPOT), names | {"number": number}) for number in range(2 * spread)]
    assert len(set(spots)) == spread and spots[:spread] == spots[spread:]
    assert all(spot % patch == 5 % patch and 5 <= spot < 5 + 64 * patch <= SCRATCH_WORDS for spot in spots)


@pytest.mark.parametrize(("stress", "vary", "least"), [(1, True, 1), (4, True, 2), (4, False, 4)])
def test_half_of_the_stress_is_there_in_each_launch(stress: int, vary: bool, least: int) -> None:
    layout = place(litmus_of(TREES["apart"]), replace(SMALL, instances=32, stress=stress, vary=vary))
    names = functions(layout)
    working = {eval(python(WORKING), names | {"seed": seed}) for seed in range(64)}
    assert working == set(range(least, stress + 1))


def test_work_groups_for_stress_are_numbered() -> None:
    layout = place(litmus_of(TREES["apart"]), replace(SMALL, instances=128, stress=3))
    names = functions(layout)
    numbers = []
    for group in range(layout.groups):
        for name in ("role", "turn"):
            names[name] = eval(python(EXPRESSIONS[name]), names | {"group": group})
        if names["role"] >= names["CTAS"]:
            numbers.append(eval(python(STRESSER), names))
    assert sorted(numbers) == list(range(names["STRESSERS"]))


def test_sizes() -> None:
    layout = place(litmus_of(TREES["mixed"]), replace(SMALL, instances=100))
    assert (layout.instances, layout.blocks, layout.warps, layout.lanes) == (128, 4, 2, 2)
    assert (layout.roles, layout.groups, layout.group_size) == (3, 12, 128)
    assert layout.ctas == (0, 1, 0, 0, 2)


@pytest.mark.parametrize(
    ("places", "parameters", "message"),
    [
        ([Place(gpu=0), Place(gpu=1)], SMALL, "P0 and P1 are on different GPUs"),
        ([Place(queue=0), Place(queue=1)], SMALL, "P0 and P1 are on different queues"),
        ([Place()] * 33, SMALL, "33 threads in one warp"),
        ([Place()], replace(SMALL, slots=48), "slots: expected a power of two"),
        ([Place()], replace(SMALL, slots=16), "slots: expected a power of two, 32 or more"),
        ([Place()], replace(SMALL, passes=3), "passes: expected a power of two"),
        ([Place()], replace(SMALL, instances=0), "expected 1 or more"),
        ([Place()], replace(SMALL, instances=1 << 28), "2 GiB"),
        ([Place()], replace(SMALL, regions=3), "regions: expected a power of two, found 3"),
        ([Place()], replace(SMALL, spread=65), "spread: expected at most the number of regions, 64"),
        ([Place()], replace(SMALL, patch=300), "expected all regions to begin within 16384 words"),
        ([Place()], replace(SMALL, sequence="ld lt"), "sequence: expected words ld and st, found 'ld lt'"),
        ([Place()], replace(SMALL, sequence=""), "sequence: expected words"),
    ],
)
def test_refused(places: list[Place], parameters: Parameters, message: str) -> None:
    with pytest.raises(InputError, match=message):
        place(litmus_of(places), parameters)
