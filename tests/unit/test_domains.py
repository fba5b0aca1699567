"""Which values a read can read: those of writes, through any chain of reads; and numbers out of thin air."""

import pytest

from corpus.dialects.registry import parse_litmus
from oracle.consistency import resolve_consistency_models
from oracle.executions import domains as module
from oracle.executions.domains import forbids_thin_air, possible, read_domains
from oracle.executions.events import Apply, Read
from oracle.executions.steps import TooManyError
from oracle.executions.threads import unroll_threads
from oracle.executions.values import Address


def domains(code, condition="exists (0 == 0)", state="x=0; y=0; z=0;", grounded=False):
    """The values of each read, by thread and place."""
    test = parse_litmus(f"PTX t\n{{ {state} }}\n{code}\n{condition}\n")
    found = read_domains(test, [path for thread in unroll_threads(test, 2) for path in thread.paths], grounded=grounded)
    return {f"P{key[0]}:{key[1]}": values for key, values in found.items()}


def test_the_initial_value_and_what_is_written():
    assert domains(" P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 7 | ld.weak r1, x ;\n st.weak y, 5 | ;") == {
        "P1:0": (0, 7)
    }


def test_through_a_chain_of_reads():
    code = """
     P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 0 ;
     st.weak x, 7   | ld.weak r1, x  | ld.weak r1, y  ;
                    | add r2, r1, 1  | mul r2, r1, 2  ;
                    | st.weak y, r2  | st.weak z, r2  ;
                    |                | ld.weak r3, z  ;"""
    assert domains(code) == {"P1:0": (0, 7), "P2:0": (0, 1, 8), "P2:2": (0, 2, 16)}


def test_both_sides_of_a_branch():
    code = """
     P0@cta 0,gpu 0   | P1@cta 0,gpu 0 ;
     ld.weak r1, x    | ld.weak r1, y  ;
     beq r1, 0, LC0   | st.weak x, 3   ;
     st.weak y, 4     |                ;
     LC0:             |                ;"""
    assert domains(code) == {"P0:0": (0, 3), "P1:0": (0, 4)}


CIRCLE = """
     P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
     ld.weak r1, x  | ld.weak r1, y  ;
     st.weak y, r1  | st.weak x, r1  ;"""


def test_a_circle_has_the_numbers_that_the_test_speaks_of_and_another():
    assert domains(CIRCLE)["P0:0"] == (0, 1)
    assert domains(CIRCLE, "exists (P0:r1 == 42)")["P0:0"] == (0, 42, 43)
    assert domains(CIRCLE, "exists (P0:r1 < 42)")["P0:0"] == (-1, 0, 1, 42, 43)
    assert domains(CIRCLE, "exists (P0:r1 < 42 /\\ P0:r1 != 41)")["P0:0"] == (-1, 0, 1, 41, 42, 43)
    assert domains(CIRCLE, "exists (P0:r1 == 1)", "x=0; y=0; z=&x;")["P0:0"] == (0, 1, 2, Address("x"))


def test_values_grow_as_often_as_a_circle_has_reads():
    code = CIRCLE.replace("st.weak y, r1", "add r1, r1, 9").replace(
        "st.weak x, r1  ;", "st.weak x, r1  ;\n st.weak y, r1 | ;"
    )
    assert domains(code) == {"P0:0": (0, 9, 10, 18, 19), "P1:0": (0, 9, 10, 18, 19)}


def test_too_many_values(monkeypatch):
    monkeypatch.setattr(module, "MOST_VALUES", 4)
    with pytest.raises(TooManyError, match="a read may have more than 4 values"):
        domains(CIRCLE, "exists (P0:r1 < 42)")


def test_a_test_without_reads():
    assert domains(" P0@cta 0,gpu 0 ;\n st.weak x, 1 ;") == {}


def test_without_thin_air_values_come_from_what_is_written():
    copied = """
     P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;
     ld.weak r1, x  | ld.weak r1, y  ;
     st.weak y, r1  | st.weak x, r1  ;"""
    assert domains(copied) == {"P0:0": (0, 1), "P1:0": (0, 1)}
    assert domains(copied, grounded=True) == {"P0:0": (0,), "P1:0": (0,)}
    counted = "P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n atom.relaxed.gpu.add r1, x, 5 | atom.relaxed.gpu.add r1, x, 5 ;"
    assert domains(counted, grounded=True) == {"P0:0": (0, 5), "P1:0": (0, 5)}


@pytest.mark.parametrize(("name", "forbids"), [("ptx", True), ("ptx-6.0", True), ("sc", False)])
def test_models_that_forbid_thin_air_in_so_many_words(name, forbids):
    """Sequential consistency forbids it as well, by a check that names po in place of dependencies."""
    (model,) = resolve_consistency_models([name])
    assert forbids_thin_air(model.model) is forbids


def test_an_expression_has_one_value_of_a_read_that_it_names_twice():
    read, other = Read((0, 0)), Read((1, 0))
    values = {(0, 0): (1, 2, 3), (1, 0): (0, 10)}
    assert possible(Apply("sub", read, read), values) == {0}
    twice = Apply("add", read, other)
    assert possible(Apply("sub", twice, twice), values) == {0}
    assert possible(Apply("sub", twice, read), values) == {0, 10}
    assert possible(twice, values) == {1, 2, 3, 11, 12, 13}
