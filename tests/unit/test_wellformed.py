"""What makes a program a progress test: for each condition a test that meets it and the same but for that condition."""

import pytest
from bruteforce import is_valid_test

from corpus.progress.axb import Program
from corpus.progress.idioms import idioms
from corpus.progress.text import parse_axb
from oracle.progress.lts import explore
from oracle.progress.wellformed import influences, is_progress_test, terminating_with_a_cycle

SPIN = "THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n"

# What the text alone decides.
WITHOUT_INFLUENCE = {
    "an instruction that does nothing": "THREAD 0\n0: if (Mem[0] == 0) goto END;\nTHREAD 1\n0: Mem[0] = 1;\n",
    "an exchange on what no other thread tests": SPIN + "1: Mem[1] = 1;\n",
    "an exchange that only its own thread tests": (
        "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\nTHREAD 1\n0: Mem[0] = 0;\n1: Mem[1] = 1;\n"
        "2: if (Mem[1] == 0) goto 0;\n"
    ),
    "a branch on what no other thread uses": SPIN + "1: if (Mem[1] == 1) goto 0;\n",
    "one thread": "THREAD 0\n0: if (Exch(Mem[0],1) == 0) goto 0;\n",
}
# What takes the reachable states.
BADLY_RUNNING = {
    "a store that changes nothing": SPIN + "1: Mem[0] = 1;\n",
    "a branch that is never taken": SPIN.replace("== 0", "== 2").replace("= 1;", "= 1;\n1: Mem[0] = 0;"),
    "a branch that is always taken": SPIN.replace("Mem[0] = 1", "Mem[0] = 0"),
    "an end that is not in reach": SPIN.replace("== 0", "== 1"),
    "a reachable state that no end is in reach of": SPIN + "1: Mem[0] = 0;\n",
    "no cycle": "THREAD 0\n0: if (Mem[0] == 1) goto 2;\n1: Mem[1] = 1;\n2: Mem[1] = 2;\n"
    "THREAD 1\n0: Mem[0] = 1;\n1: if (Mem[1] == 1) goto 3;\n2: Mem[0] = 2;\n",
}


def test_a_spin_is_a_test():
    assert is_progress_test(parse_axb(SPIN))


@pytest.mark.parametrize(
    "name", ["mutex", "prodcons-bidirectional", "philosophers-simplified", "barrier-2", "barrier-3"]
)
def test_idioms_are_tests(name):
    assert is_progress_test(idioms()[name])


@pytest.mark.parametrize("what", WITHOUT_INFLUENCE)
def test_threads_must_influence_each_other(what):
    program = parse_axb(WITHOUT_INFLUENCE[what])
    assert not influences(program)
    assert not is_progress_test(program) and not is_valid_test(program)


@pytest.mark.parametrize("what", BADLY_RUNNING)
def test_runs_must_matter_end_and_turn(what):
    program = parse_axb(BADLY_RUNNING[what])
    assert influences(program)
    assert not terminating_with_a_cycle(explore(program))
    assert not is_progress_test(program) and not is_valid_test(program)


def test_a_store_has_a_fixed_check_value():
    program = parse_axb(SPIN)
    store = program.threads[1][0]
    other = Program((program.threads[0], (type(store)(store.location, 1, store.jump, store.exchange),)))
    assert not is_progress_test(other) and not is_valid_test(other)
