"""Every solver gives the same suite, byte for byte."""

import os
import subprocess
import sys
import threading
import time
from itertools import combinations
from pathlib import Path

import pytest
from commands import synth

from constraints.solvers import DEFAULT_SOLVER, PYSAT_SOLVERS, SOLVERS, open_solver
from corpus.errors import InputError
from corpus.suite import LABELS, TESTS

INCREMENTAL = [[1, 2], [-1, 2], [-2, 3]]


def suite(solver: str, folder: Path) -> tuple[bytes, bytes]:
    arguments = ["progress", "-t", "2", "-n", "3", "--all", "-j", "1", "--solver", solver, "-o", str(folder)]
    assert synth(*arguments).exit_code == 0
    return (folder / TESTS).read_bytes(), (folder / LABELS).read_bytes()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    return suite(DEFAULT_SOLVER, tmp_path_factory.mktemp("solvers") / "reference")


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_same_suite(solver, reference, tmp_path):
    assert suite(solver, tmp_path / "c") == reference
    assert reference[0].count(b"\n") == 162


@pytest.mark.parametrize("solver", SOLVERS)
def test_clauses_are_added_between_calls(solver):
    opened = open_solver(solver, 3)
    opened.add(INCREMENTAL)
    assert opened.solve()
    model = opened.model()
    assert [abs(literal) for literal in model] == [1, 2, 3]
    assert all(any(literal in model for literal in clause) for clause in INCREMENTAL)
    opened.add([[-3, 1]])
    assert opened.solve() and opened.model()[0] == 1
    opened.add([[-1]])
    assert not opened.solve()
    opened.close()


def test_the_default_is_one_of_them():
    assert DEFAULT_SOLVER in SOLVERS and {"cadical153", "glucose4", "z3"} < set(SOLVERS)


def test_the_list_is_pysats():
    """A PySAT solver that is in no list here would be refused for no reason."""
    from pysat.solvers import SolverNames

    known = {name for name in vars(SolverNames) if not name.startswith("_")}
    left_out = {"cryptosat", "kissat404"}  # why: constraints/solvers.py
    ours = {name for name in known if any(spelling in PYSAT_SOLVERS for spelling in getattr(SolverNames, name))}
    assert known - ours == left_out


@pytest.mark.parametrize("name", ["nosuch", "", "kissat404", "Z3"])
def test_an_unknown_solver_is_one_line(name, tmp_path):
    with pytest.raises(InputError, match="unknown solver"):
        open_solver(name, 1)
    arguments = ["progress", "-t", "2", "-n", "2", "--solver", name, "-o", str(tmp_path / "c")]
    result = synth(*arguments)
    assert result.exit_code == 2
    assert f"'{name}'" in result.stderr and DEFAULT_SOLVER in result.stderr  # what is wrong, and what there is
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "c").exists()


def pigeonhole(holes: int) -> list[list[int]]:
    """One pigeon more than holes: hard enough that a signal meets the solver at work."""
    at = {(p, hole): p * holes + hole + 1 for p in range(holes + 1) for hole in range(holes)}
    everyone = [[at[p, hole] for hole in range(holes)] for p in range(holes + 1)]
    pairs = combinations(range(holes + 1), 2)
    return everyone + [[-at[p, hole], -at[q, hole]] for p, q in pairs for hole in range(holes)]


SEND = "import os, signal, sys, time; sys.stdin.read(1); time.sleep(0.03); os.kill(int(sys.argv[1]), signal.SIGINT)"


@pytest.fixture
def other_thread():
    """A thread that does nothing: the system may hand it a signal that is meant for the process."""
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.mark.usefixtures("other_thread")
@pytest.mark.parametrize("solver", ["minisat22", "cadical153", "z3"])
def test_ctrl_c_is_answered_after_the_call_of_the_solver(solver):
    """Neither lost, nor an error of the solver's, nor an answer that would end an enumeration too early."""
    opened = open_solver(solver, 72)
    opened.add(pigeonhole(8))
    with subprocess.Popen([sys.executable, "-c", SEND, str(os.getpid())], stdin=subprocess.PIPE) as sender:
        assert sender.stdin is not None
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012
            sender.stdin.write(b"!")
            sender.stdin.close()
            opened.solve()
            time.sleep(10)  # where the solver was the quicker one
    assert not opened.solve()
    opened.close()
