"""Tests that are built together are the tests that they are by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from backends.registry import BACKENDS
from backends.shared.device import BATCH, Batching, DeviceOptions, Prepared, Runner, batches
from backends.shared.layout import Layout, Parameters, place
from backends.shared.mapping import Launch
from backends.shared.outcomes import outcomes
from backends.shared.process import RunError
from backends.shared.profiles import DEFAULT
from corpus.dialects.registry import parse_litmus
from corpus.litmus.test import LitmusTest
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb

pytestmark = pytest.mark.device


def counting(number: int) -> LitmusTest:
    """A test that ends in one way only, which says which test it is."""
    threads = (
        f"P0 (atomic_int* x) {{ atomic_fetch_add_explicit(x, {number}, memory_order_relaxed); }}\n"
        "P1 (atomic_int* x) { atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }"
    )
    return parse_litmus(f"C t{number}\n{{ x = {10 * number}; }}\n{threads}\nexists (x = 0)\n")


@pytest.mark.parametrize("backend", ["opencl", "cpp", "glsl"])
def test_each_is_itself(backend: str, need: Callable[[str], None]) -> None:
    need(backend, runs=True)
    device = BACKENDS[backend].device(DeviceOptions())
    tests = [counting(number) for number in range(5)]
    layouts = [device.layout(test, 1024, DEFAULT) for test in tests]
    assert batches(device, layouts, 1) == [[0, 1, 2, 3, 4]]
    files = [BACKENDS[backend].memory_files(test.name, layout) for test, layout in zip(tests, layouts, strict=True)]
    with Runner(device) as runner, runner.prepared(list(zip(files, layouts, strict=True))) as programs:
        for number in (3, 0, 4, 1, 2, 3):
            program = programs[number]
            assert isinstance(program, Prepared)
            seen = outcomes(runner.watch(program, 2, 60))
            assert seen.counts == {(11 * number + 1,): 2048}


def stepping(number: int) -> Program:
    """A test whose first thread has so many instructions, which the sum of its counters tells."""
    first = "".join(f"{pc}: Mem[0] = 1;\n" for pc in range(number + 1))
    return parse_axb(f"THREAD 0\n{first}THREAD 1\n0: if (Exch(Mem[0],0) == 1) goto 1;\n", "test")


@pytest.mark.parametrize("backend", ["opencl", "cpp", "glsl"])
@pytest.mark.parametrize("mapping", ["plain", "round-robin"])
def test_each_progress_test_is_itself(backend: str, mapping: str, need: Callable[[str], None]) -> None:
    need(backend, runs=True)
    device = BACKENDS[backend].device(DeviceOptions(instances=4))
    launches = [device.launch(stepping(number), mapping) for number in range(5)]
    assert batches(device, launches, 1) == [[0, 1, 2, 3, 4]]
    files = [BACKENDS[backend].progress_files(f"t{number}", launches[number]) for number in range(5)]
    with Runner(device) as runner, runner.prepared(list(zip(files, launches, strict=True))) as programs:
        for number in (3, 0, 4, 1, 2, 3):
            program = programs[number]
            assert isinstance(program, Prepared)
            assert runner.watch(program, 2, 60).outcomes == "TT"


class Refusing:
    """A device that can build no tests together, and one of them not by itself either."""

    name = hardware = compiler = "refusing"

    def of_one_kind(self, layout: Launch | Layout) -> object:
        return layout.instances

    def prepare_all(self, files: Sequence[Path], shapes: Sequence[Launch | Layout]) -> list[Prepared]:
        raise RunError("not together")

    def prepare(self, file: Path, shape: Layout) -> Prepared:
        if "bad" in file.read_text(encoding="utf-8"):
            raise RunError("not this one")
        return Prepared(["true", file.name])


def test_one_that_cannot_be_built_costs_itself() -> None:
    device = Refusing()
    layouts = [_layout(64), _layout(64)]
    assert isinstance(device, Batching)
    with Runner(device).prepared([({"a": "good"}, layouts[0]), ({"b": "bad"}, layouts[1])]) as programs:
        good, bad = programs
        assert isinstance(good, Prepared) and good.command == ["true", "a"]
        assert isinstance(bad, RunError)


def test_which_go_together() -> None:
    layouts = [_layout(64 if number % 3 else 128) for number in range(100)]
    together = batches(Refusing(), layouts, 1)
    assert sorted(number for numbers in together for number in numbers) == list(range(100))
    assert all(len({layouts[number].instances for number in numbers}) == 1 for numbers in together)
    assert max(map(len, together)) == BATCH
    assert [len(numbers) for numbers in batches(Refusing(), [_layout(64)] * 8, 4)] == [2, 2, 2, 2]
    device: object = object()
    assert batches(device, layouts[:3], 1) == [[0], [1], [2]]


def _layout(instances: int) -> Layout:
    return place(counting(1), Parameters(instances))
