"""Large systems are judged in arrays, as small ones are judged node by node; here small ones are judged both ways."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import programs

from corpus.graphs import NO_EDGE, components
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb
from oracle.progress import models
from oracle.progress.behaviour import relabel
from oracle.progress.fast.arrays import as_table, by_value, explore_arrays, hangs_in_arrays, strong_components
from oracle.progress.lts import explore
from oracle.progress.models import GUARANTEES, MODELS, Panel, Verdict, hangs, unfold, verdicts


def last(running: int, stepped: int) -> int:
    return 1 << running.bit_length() >> 1


def others(running: int, stepped: int) -> int:
    return running & ~stepped


def whimsical(running: int, stepped: int) -> int:
    return running & Random(f"{running} {stepped}").getrandbits(8)


OWN = [last, others, whimsical]


def assert_agreement(rows):
    both = hangs(unfold(rows), Panel([*GUARANTEES.values(), *OWN]))
    assert hangs_in_arrays(as_table(rows), [*GUARANTEES.values(), *map(by_value, OWN)]) == both


def random_rows(random: Random) -> list[tuple[int, ...]]:
    """A system whose threads come and go, as those that wait at barriers do."""
    states, threads = random.randrange(1, 12), random.randrange(1, 5)
    none = random.choice([0.1, 0.4, 0.7])
    near = random.choice([2, 20])  # how far a step leads

    def after(state: int) -> int:
        if random.random() < none:
            return NO_EDGE
        return min(states - 1, max(0, state + random.randrange(-near // 2, near)))

    return [tuple(after(state) for _ in range(threads)) for state in range(states)]


@pytest.mark.parametrize("seed", range(8))
def test_random_systems(seed):
    random = Random(seed)
    for _ in range(150):
        assert_agreement(random_rows(random))


@settings(deadline=None, max_examples=150, derandomize=True)
@given(programs())
def test_random_programs(program):
    lts = explore(program)
    table = explore_arrays(program)
    rows = [tuple(row) for row in table.tolist()]
    assert relabel(tuple(rows), tuple(range(len(program.threads)))) == lts.successors
    assert_agreement(rows)


@pytest.mark.parametrize("rounds", [0, 1, 64])
def test_components_are_tarjans(rounds):
    random = Random(rounds)
    for _ in range(300):
        rows = random_rows(random)
        found: dict[int, set[int]] = {}
        for node, label in enumerate(strong_components(as_table(rows), rounds).tolist()):
            found.setdefault(label, set()).add(node)
        assert sorted(map(sorted, found.values())) == sorted(map(sorted, components(rows)))


def test_a_long_circle_is_one_component():
    size = 5000
    labels = strong_components(np.array([[(node + 7) % size] for node in range(size)], np.int32))
    assert len(set(labels.tolist())) == 1


def mutex(threads: int) -> Program:
    lock = "0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
    return parse_axb("".join(f"THREAD {thread}\n{lock}" for thread in range(threads)), "mutex")


@pytest.mark.parametrize("threads", [2, 4, 6])
def test_large_programs_have_the_verdicts_of_small_ones(threads, monkeypatch):
    small = verdicts(mutex(threads))
    monkeypatch.setattr(models, "LARGE", 1)
    assert verdicts(mutex(threads)) == small
    assert models.system_verdicts(explore(mutex(threads)).successors) == small


def test_a_mutex_of_nine_threads_is_like_one_of_three():
    nine = verdicts(mutex(9))
    assert list(nine) == list(MODELS)
    assert nine == verdicts(mutex(3))
    assert [name for name, verdict in nine.items() if verdict is Verdict.MAY_HANG] == [
        *("unfair-weak", "unfair-strong", "hsa-weak", "hsa-strong")
    ]


def test_a_state_of_more_bits_than_a_word_is_explored_one_by_one():
    spins = "".join(f"{pc}: if (Mem[{pc}] == 1) goto 0;\n" for pc in range(60))
    program = parse_axb(f"THREAD 0\n{spins}THREAD 1\n{spins}", "wide")
    assert explore_arrays(program) is None
    assert set(verdicts(program).values()) == {Verdict.TERMINATES}
