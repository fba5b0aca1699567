"""The registry: a dialect is a line of it, and a test is written in the first dialect that says it whole."""

import pytest

from constraints.cycles import CycleBounds, cycles
from corpus.cycles.cycle import litmus_test, oriented
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import DIALECTS, dialect_for, parse_litmus, runners, translate
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.litmus.text import Dialect, ForeignRunner


def a_cycle(edges):
    return litmus_test(oriented(next(cycles(CycleBounds(parse_edges(edges)), 4))))


@pytest.mark.parametrize(
    ("edges", "name"),
    [
        ("PodWW PodRR Rfe Fre", "gpu-ptx"),
        ("PodWW PodRR Rfe Fre Cg", "gpu-ptx"),
        ("PodWW PodRR Rfe Fre Sc.gpu", "opencl"),
    ],
)
def test_the_dialect_that_says_a_test_whole(edges, name):
    test = a_cycle(edges)
    dialect, text = dialect_for(test)
    assert dialect.name == name
    assert litmus_digest(parse_litmus(text)) == litmus_digest(test)


@pytest.mark.parametrize("edges", ["PodWWSc.gpuCg PodRR Rfe Fre", "PodWWSc.gpuVol PodRR Rfe Fre"])
def test_what_no_device_says_is_refused_with_every_reason(edges):
    odd = a_cycle(edges)
    with pytest.raises(InputError, match=r"^no dialect of a device can say it \(gpu-ptx: .*; opencl: .*\)$") as refused:
        dialect_for(odd)
    assert str(refused.value).count(": P0: st.") == 2


def test_a_dialect_from_outside_is_one_entry(monkeypatch):
    """C by another first word: read, written, translated to, and taken by a runner, with nothing else touched."""
    c = DIALECTS["c"]

    def shouted(test):
        return c.print(test).replace("C ", "LOUD_C ", 1)

    toy = Dialect("toy", "LOUD_C", c.parse, shouted, c_comments=True, runners=(ForeignRunner("loud", str.upper),))
    monkeypatch.setitem(DIALECTS, "toy", toy)
    text = "/* C's comments */ LOUD_C mp\n{ x = 0; }\nP0 (int* x) { int r = (*x); /* ( */ }\nexists (0:r = 0)\n"
    test = parse_litmus(text, "mp.litmus")
    assert translate(test, toy).startswith("LOUD_C mp\n")
    assert translate(test, DIALECTS["lisa"]).startswith("LISA mp\n")
    dialect, runner = runners()["loud"]
    assert (dialect, runner.rename("mp")) == (toy, "MP")
    known = "AArch64, C, GPU_PTX, LISA, LOUD_C, OPENCL, PPC, PTX, RISCV, VULKAN, X86_64"
    with pytest.raises(InputError, match=f"expected a litmus test in {known}"):
        parse_litmus("QUIET_C mp\n{}\nexists (true)\n")
