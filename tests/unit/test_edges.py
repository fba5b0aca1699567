"""Names of edges and annotations: what each means, what it is short for, and the answer to a wrong one."""

import pytest
from refusals import refusal

from corpus.cycles.edges import (
    PLAIN,
    all_annotations,
    all_edges,
    atomic_mode,
    describe_annotation,
    describe_edge,
    inner_communication,
    parse_edges,
)
from corpus.errors import InputError
from corpus.litmus.orders import Mode, Order, Scope


def spelled(text, scopes=()):
    """The runs and the annotations of a list, by name."""
    vocabulary = parse_edges(text, scopes)
    runs = [
        ",".join(edge.name + "".join(note.name for note in (edge.first, edge.second) if note) for edge in run)
        for run in vocabulary.runs
    ]
    return runs, [note.name for note in vocabulary.annotations]


# What there is


def test_every_edge_is_its_name():
    edges = all_edges()
    assert len(edges) == 6 + 8 + 10 + 4 + 9 * 8 + 1
    for name, edge in edges.items():
        assert edge.name == name
        assert parse_edges(name).runs == ((edge,),)
        assert edge.source in ("R", "W") and edge.target in ("R", "W")
        assert edge.internal or edge.kind in ("Rf", "Fr", "Co")
        assert edge.same or edge.internal


def test_every_annotation_is_its_name():
    for name, note in all_annotations().items():
        assert note.name == name
        assert parse_edges(name).annotations == (note,)
        assert note.fits in ("R", "W", "RW")


def test_everything_is_described_in_a_line_of_its_own():
    """But for the 24 membars, which are fence.sc under another name."""
    lines = {name: describe_edge(edge) for name, edge in all_edges().items()}
    lines |= {name: describe_annotation(note) for name, note in all_annotations().items()}
    assert all(line and "\n" not in line and len(line) < 100 for line in lines.values())
    assert len(set(lines.values())) == len(lines) - 24


@pytest.mark.parametrize(
    ("name", "ends", "internal", "same", "line"),
    [
        ("Rfe", "WR", False, True, "a read takes the value of a write, between threads"),
        ("Fri", "RW", True, True, "a read takes a value that a write replaces later, in one thread"),
        ("Coe", "WW", False, True, "a write is replaced by a later write, between threads"),
        ("PodWR", "WR", True, False, "program order: a write, then a read of another location"),
        ("PosRR", "RR", True, True, "program order: a read, then a read of the same location"),
        ("DpAddrdR", "RR", True, False, "the value of a read decides the address of a read of another location"),
        ("DpDatasW", "RW", True, True, "the value of a read decides the data of a write of the same location"),
        ("DpCtrldW", "RW", True, False, "the value of a read decides whether there is a write of another location"),
        (
            "MembarGldWR",
            "WR",
            True,
            False,
            "fence.sc (membar) at gpu scope between a write and a read of another location",
        ),
        (
            "FenceAcqRel.cta.sWW",
            "WW",
            True,
            True,
            "fence.acq_rel at cta scope between a write and a write of the same location",
        ),
        ("Rmw", "RW", True, True, "the read and the write of one atomic operation"),
    ],
)
def test_what_an_edge_is(name, ends, internal, same, line):
    edge = all_edges()[name]
    assert (edge.source + edge.target, edge.internal, edge.same) == (ends, internal, same)
    assert describe_edge(edge) == line


@pytest.mark.parametrize(
    ("name", "mode", "line"),
    [
        ("Plain", Mode(), "an access is plain; to have plain accesses among annotated ones"),
        ("Rlx.gpu", Mode(Order.RELAXED, Scope.GPU), "an access is relaxed at gpu scope"),
        ("Acq.cta", Mode(Order.ACQUIRE, Scope.CTA), "a read is acquire at cta scope"),
        ("Rel.sys", Mode(Order.RELEASE, Scope.SYS), "a write is release at sys scope"),
        ("Sc.gpu", Mode(Order.SC, Scope.GPU), "an access is sc at gpu scope"),
        ("Ca", Mode(cache="ca"), "a read with cache operator .ca"),
        ("Cg", Mode(cache="cg"), "an access with cache operator .cg"),
        ("Vol", Mode(volatile=True), "an access is volatile"),
    ],
)
def test_what_an_annotation_is(name, mode, line):
    assert all_annotations()[name].mode == mode
    assert describe_annotation(all_annotations()[name]) == line


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("MembarCtadWW", Mode(Order.SC, Scope.CTA)),
        ("MembarGldWW", Mode(Order.SC, Scope.GPU)),
        ("MembarSyssRR", Mode(Order.SC, Scope.SYS)),
        ("FenceSc.gpu.dWW", Mode(Order.SC, Scope.GPU)),
        ("FenceAcqRel.sys.dRW", Mode(Order.ACQ_REL, Scope.SYS)),
    ],
)
def test_what_a_fence_is(name, mode):
    assert all_edges()[name].fence == mode


def test_membar_is_fence_sc():
    assert all_edges()["MembarGldWW"] == all_edges()["FenceSc.gpu.dWW"]
    assert spelled("MembarGldWW FenceSc.gpu.dWW") == (["MembarGldWW"], [])


def test_the_communication_that_program_order_is():
    names = {"PosWR": "Rfi", "PosWW": "Coi", "PosRW": "Fri"}
    for name, edge in all_edges().items():
        inner = inner_communication(edge)
        assert (inner and inner.name) == names.get(name)
        assert inner is None or inner == all_edges()[inner.name]


ATOMIC = {
    "Plain Plain": (Order.RELAXED, "gpu"),
    "Rlx.gpu Rlx.gpu": (Order.RELAXED, "gpu"),
    "Plain Rlx.cta": (Order.RELAXED, "cta"),
    "Acq.cta Rlx.cta": (Order.ACQUIRE, "cta"),
    "Acq.sys Plain": (Order.ACQUIRE, "sys"),
    "Rlx.gpu Rel.gpu": (Order.RELEASE, "gpu"),
    "Acq.gpu Rel.gpu": (Order.ACQ_REL, "gpu"),
    "Sc.sys Sc.sys": (Order.SC, "sys"),
}


def test_the_halves_of_an_atomic_operation():
    notes = all_annotations().values()
    for read in (note for note in notes if "R" in note.fits):
        for write in (note for note in notes if "W" in note.fits):
            mode = atomic_mode(read, write)
            one_scope = len({read.scope, write.scope} - {""}) < 2
            both_sc = (read.order is Order.SC) == (write.order is Order.SC)
            loads_and_stores = {"Ca", "Cg", "Vol"} & {read.name, write.name}
            assert (mode is not None) == (one_scope and both_sc and not loads_and_stores)
            expected = ATOMIC.get(f"{read.name} {write.name}")
            assert expected is None or (mode.order, mode.scope.label) == expected
    assert atomic_mode(PLAIN, PLAIN) == Mode(Order.RELAXED, Scope.GPU)


# What is short for what


@pytest.mark.parametrize(
    ("text", "scopes", "runs", "notes"),
    [
        ("Wse Wsi", "", "Coe Coi", ""),
        ("PodWW Rfe PodWW", "", "PodWW Rfe", ""),
        ("PodWW,Rfe", "", "PodWW Rfe", ""),
        ("PodWW|PodRR Rfe|", "", "PodWW PodRR Rfe", ""),
        ("Rfe # Fre", "", "Rfe", ""),
        ("MembarGl.dWW", "", "MembarGldWW", ""),
        ("FenceSc.gpudWR FenceScctadWR", "", "FenceSc.gpu.dWR FenceSc.cta.dWR", ""),
        ("FenceSc.gpu.dWR FenceScctadWR", "sys", "FenceSc.gpu.dWR FenceSc.cta.dWR", ""),
        ("FenceScdWR", "cta gpu", "FenceSc.cta.dWR FenceSc.gpu.dWR", ""),
        ("FenceAcqRel.sRR", "gpu sys", "FenceAcqRel.gpu.sRR FenceAcqRel.sys.sRR", ""),
        ("Rlx.gpu Cg", "", "", "Rlx.gpu Cg"),
        ("Rlx Acq", "cta gpu", "", "Rlx.cta Rlx.gpu Acq.cta Acq.gpu"),
        ("Rlx.sys", "cta", "", "Rlx.sys"),
        ("PodWWRlx.gpu", "", "PodWWRlx.gpu", ""),
        ("PodWWRlx.gpuRel.cta", "", "PodWWRlx.gpuRel.cta", ""),
        ("PodWWPlainRel.cta", "", "PodWWPlainRel.cta", ""),
        ("WseRelRlx", "gpu", "CoeRel.gpuRlx.gpu", ""),
        ("RfeRelAcq", "cta gpu", "RfeRel.ctaAcq.cta RfeRel.ctaAcq.gpu RfeRel.gpuAcq.cta RfeRel.gpuAcq.gpu", ""),
        ("FenceSc.gpu.dWRRel.gpuAcq.gpu", "", "FenceSc.gpu.dWRRel.gpuAcq.gpu", ""),
        ("FenceScdWWRlx", "gpu", "FenceSc.gpu.dWWRlx.gpu", ""),
        ("RmwAcqRel", "cta gpu", "RmwAcq.ctaRel.cta RmwAcq.gpuRel.gpu", ""),
        ("RmwAcq.gpu", "", "RmwAcq.gpu", ""),
        ("[PodWW,Rfe]", "", "PodWW,Rfe", ""),
        ("[PodWW, Rfe, PodRR] Fre", "", "PodWW,Rfe,PodRR Fre", ""),
        ("[PodWW,Rfe|Wse,MembarGldRR]", "", "PodWW,Rfe,MembarGldRR PodWW,Coe,MembarGldRR", ""),
        ("[PodWWRlx,Rfe]", "cta gpu", "PodWWRlx.cta,Rfe PodWWRlx.gpu,Rfe", ""),
        ("", "", "", ""),
    ],
)
def test_what_a_list_stands_for(text, scopes, runs, notes):
    assert spelled(text, tuple(scopes.split())) == (runs.split(), notes.split())


# Wrong ones


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("PodWX", "unknown edge 'PodWX'; did you mean PodWW or PodWR or PodRW?"),
        ("rfe", "unknown edge 'rfe'; did you mean Rfe?"),
        ("MembardWW", "unknown edge 'MembardWW'; did you mean MembarGldWW or MembarSysdWW or MembarCtadWW?"),
        ("DpDatadR", "unknown edge 'DpDatadR'; did you mean DpDatadW or DpDatasW or DpCtrldR?"),
        ("Rlx.warp", "unknown edge 'Rlx.warp'; did you mean Rlx.gpu or Rlx.cta or Rlx.sys?"),
        ("Qux", "unknown edge 'Qux'; synth edges lists them all"),
        ("é", "unknown edge 'é'; synth edges lists them all"),
        ("FenceScdWR", "FenceScdWR needs a scope, as in FenceSc.gpu.dWR, or --scopes"),
        ("Rlx", "Rlx needs a scope, as in Rlx.cta, or --scopes"),
        ("RfeRelAcq", "Rel needs a scope, as in Rel.cta, or --scopes"),
        ("PodWWAcq.gpu", "Acq.gpu does not fit a write in 'PodWWAcq.gpu'"),
        ("RfeRel.gpuRel.gpu", "Rel.gpu does not fit a read in 'RfeRel.gpuRel.gpu'"),
        ("PodWWRxl.gpu", "unknown annotation 'Rxl.gpu' in 'PodWWRxl.gpu'; did you mean Rlx.gpu or Rel.gpu or Sc.gpu?"),
        ("PodWWrlx", "expected at most two annotations after PodWW, found 'rlx' in 'PodWWrlx'"),
        ("PodWWCgCgCg", "expected at most two annotations after PodWW, found 'CgCgCg' in 'PodWWCgCgCg'"),
        ("RmwCg", "no atomic operation has the annotations of 'RmwCg'"),
        ("RmwAcq.gpuRel.cta", "no atomic operation has the annotations of 'RmwAcq.gpuRel.cta'"),
        ("[PodWW,Rfe", "expected brackets in pairs, as in [PodWW,Rfe], found a single ["),
        ("PodWW]", "expected brackets in pairs, as in [PodWW,Rfe], found a single ]"),
        ("[[PodWW]]", "expected brackets in pairs, as in [PodWW,Rfe], found a single ]"),
        ("[]", "expected edges between the brackets of []"),
        ("[PodWW,]", "expected edges between the brackets of [PodWW,]"),
        (
            "[PodWW,Rel.gpu]",
            "Rel.gpu in [PodWW,Rel.gpu] stands alone; an annotation is written after an edge, as in RfeRel.gpu",
        ),
        ("[PodWW,PodWX]", "unknown edge 'PodWX'; did you mean PodWW or PodWR or PodRW?"),
    ],
)
def test_a_wrong_name_gets_one_line(text, message):
    with pytest.raises(InputError) as error:
        parse_edges(f"PodRR\n {text}")
    assert str(error.value) == message
    shown = refusal(parse_edges, f"PodRR # Foo\n {text}", path="my.edges")
    column = 2 if not message.endswith("a single ]") else 2 + text.rindex("]")
    assert shown == f"my.edges:2:{column}: {message}"


@pytest.mark.parametrize("place", range(5))
def test_a_letter_wrong_is_answered_with_near_names(place):
    for name in [name for name in all_edges() if len(name) > 4]:
        with pytest.raises(InputError) as error:
            parse_edges(f"{name[:place]}_{name[place + 1 :]}")
        guesses = error.value.message.partition("; did you mean ")[2].rstrip("?").split(" or ")
        assert 1 <= len(guesses) <= 3 and set(guesses) <= {*all_edges(), *all_annotations()}
