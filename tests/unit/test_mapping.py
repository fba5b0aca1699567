"""The three mappings, against the formulas of Sorensen et al. 2021, section 6.1."""

from __future__ import annotations

import pytest

from backends.shared.mapping import GROUPS, LANES, MAPPINGS, PLACEMENTS, STRIDE, WAVE, Launch, launch
from corpus.errors import InputError
from corpus.progress.axb import Instruction, Program
from corpus.progress.text import parse_axb

THREE = parse_axb(
    "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: if (Mem[0] == 0) goto 0;\nTHREAD 2\n0: if (Mem[1] == 0) goto END;\n"
)


def place(program: Program, mapping: str, instances: int | None, group: int) -> tuple[int, int]:
    """Evaluate the C expressions of a mapping as Python."""
    shape = launch(program, mapping, instances)
    names = {"THREADS": shape.threads, "INSTANCES": shape.instances, "group": group}
    texts = (shape.instance, shape.thread)
    instance, thread = (eval(text.replace("/", "//").replace("0u", "0"), {}, names) for text in texts)
    return instance, thread


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("instances", [1, 2, 5])
def test_every_thread_of_every_instance_has_one_group(mapping: str, instances: int) -> None:
    shape = launch(THREE, mapping, instances)
    places = [place(THREE, mapping, instances, group) for group in range(shape.groups)]
    assert sorted(places) == [(m, i) for m in range(shape.instances) for i in range(3)]


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_order_of_threads_is_kept(mapping: str) -> None:
    shape = launch(THREE, mapping, 4)
    for instance in range(shape.instances):
        threads = [t for m, t in (place(THREE, mapping, 4, g) for g in range(shape.groups)) if m == instance]
        assert threads == [0, 1, 2]


def test_published_formulas() -> None:
    for instance in range(4):
        for thread in range(3):
            assert place(THREE, "round-robin", 4, 3 * instance + thread) == (instance, thread)
            assert place(THREE, "chunked", 4, 4 * thread + instance) == (instance, thread)


def test_default_fills_the_groups_of_a_vulkan_device() -> None:
    assert launch(THREE, "chunked").instances == GROUPS // 3
    assert launch(THREE, "chunked").groups <= GROUPS
    assert launch(THREE, "plain", 7).groups == 3


def test_every_location_of_every_instance_has_a_line_of_its_own() -> None:
    shape = launch(THREE, "chunked", 5)
    assert shape.finished == 5 * 2 * STRIDE
    assert shape.words == shape.finished + STRIDE


def seated(shape: Launch) -> list[list[tuple[int, int, int]]]:
    """The threads of each work-group within which instances are: local id, instance and thread of each that plays."""
    groups = []
    for group in range(shape.groups):
        names = shape.constants | {"group": group}
        playing = []
        for item in range(shape.group_size):
            if item % shape.placement.apart:
                continue
            names["seat"] = item // shape.placement.apart
            texts = (shape.instance, shape.thread)
            instance, thread = (eval(text.replace("/", "//").replace("0u", "0"), {}, names) for text in texts)
            if instance < shape.instances:
                playing.append((item, instance, thread))
        groups.append(playing)
    return groups


TWO, FOUR = (parse_axb("".join(f"THREAD {n}\n0: Mem[0] = 1;\n" for n in range(count))) for count in (2, 4))


@pytest.mark.parametrize("program", [TWO, THREE, FOUR])
@pytest.mark.parametrize("instances", [1, 4, 7])
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("placement", ["workgroup", "subgroup"])
def test_an_instance_is_within_one_group(placement: str, mapping: str, instances: int, program: Program) -> None:
    """Each of its threads once, in the order of their ids, a wave or a lane apart; and all groups in all languages'
    sizes."""
    shape = launch(program, mapping, instances, placement=placement)
    groups = seated(shape)
    threads = len(program.threads)
    assert sorted((m, i) for group in groups for _, m, i in group) == [
        (m, i) for m in range(shape.instances) for i in range(threads)
    ]
    for group in groups:
        assert group, "a work-group has an instance"
        for number in {m for _, m, _ in group}:
            assert [i for _, m, i in group if m == number] == list(range(threads))
        if placement == "workgroup":
            assert all(item % WAVE == 0 for item, _, _ in group) and shape.group_size <= 256
        else:
            assert shape.group_size <= LANES


def test_mappings_within_groups() -> None:
    def order(mapping: str, placement: str, program: Program = TWO) -> list[tuple[int, int]]:
        return [(m, i) for _, m, i in seated(launch(program, mapping, 4, placement=placement))[0]]

    assert order("plain", "subgroup") == [(0, 0), (0, 1)]
    assert order("round-robin", "workgroup") == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert order("chunked", "workgroup") == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert order("round-robin", "subgroup") == [(m, i) for m in range(4) for i in range(2)]
    assert order("chunked", "subgroup") == [(m, i) for i in range(2) for m in range(4)]
    assert order("chunked", "subgroup", THREE) == [(m, i) for i in range(3) for m in range(2)]


def test_placements_are_named_in_launches() -> None:
    assert launch(TWO, "chunked").name == "chunked"
    assert launch(TWO, "chunked", placement="workgroup").name == "chunked.workgroup"
    assert launch(TWO, "chunked", placement="subgroup").instances == launch(TWO, "chunked").instances
    assert "GROUP_SIZE" not in launch(TWO).constants
    with pytest.raises(InputError, match="unknown placement 'warp': expected device, workgroup, subgroup"):
        launch(TWO, placement="warp")
    nine = parse_axb("".join(f"THREAD {n}\n0: Mem[0] = 1;\n" for n in range(9)))
    assert launch(nine, placement="workgroup").group_size == 9 * WAVE
    with pytest.raises(InputError, match="9 threads in one subgroup: expected at most 8"):
        launch(nine, placement="subgroup")
    assert list(PLACEMENTS) == ["device", "workgroup", "subgroup"]


@pytest.mark.parametrize(
    ("text", "mapping", "instances", "message"),
    [
        ("0: Mem[0] = 1;", "diagonal", None, "unknown mapping"),
        ("0: Mem[0] = 1;", "chunked", 0, "1 or more"),
        ("0: Mem[0] = 1;", "chunked", 100_000_000, "2 GiB"),
    ],
)
def test_what_cannot_be_launched(text: str, mapping: str, instances: int | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        launch(parse_axb(f"THREAD 0\n{text}\n"), mapping, instances)


def test_values_fit_the_words_of_the_memory() -> None:
    with pytest.raises(InputError, match="32 bits"):
        launch(Program(((Instruction(0, 0, 1, 1 << 32),),)))
