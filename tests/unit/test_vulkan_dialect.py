"""Dartagnan's Vulkan dialect: what its words mean as orders, scopes and tags, and what is refused."""

import pytest
from refusals import refusal

from corpus.dialects.dartagnan.ptx import PTX
from corpus.dialects.dartagnan.vulkan import VULKAN
from corpus.dialects.registry import parse_litmus, translate
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Fence, Load, Rmw, Store
from corpus.litmus.locations import Alias, Loc, Location, Reg
from corpus.litmus.normal import litmus_digest, normal_form
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC = Order
WG, DV = Scope.CTA, Scope.GPU
X = Loc("x")
ANY = Condition(Quantifier.EXISTS, Atom("eq", 0, 0))

MP = r"""VULKAN MP
"message passing"
{ x=0; y=0; t aliases x; }
 P0@sg 0,wg 0, qf 0             | P1@sg 2,wg 1,qf 0                      ;
 st.av.dv.sc0 x, 1              | ld.atom.acq.dv.sc0.semsc0.semvis r1, y ;
 st.atom.rel.dv.sc0.semsc0 y, 1 | ld.vis.dv.sc0 r2, t                    ;
exists (P1:r1 == 1 /\ P1:r2 == 0)
"""


def printed(*body: object) -> list[str]:
    """The lines that a thread of these instructions is printed as, without its header."""
    test = LitmusTest("t", (Thread(tuple(body), Place()),), (Location("x"),), ANY)  # type: ignore[arg-type]
    text = VULKAN.print(test)
    assert normal_form(parse_litmus(text)) == normal_form(test)
    return [line.strip().removesuffix(";").strip() for line in text.split("}\n")[1].splitlines()[1:-1]]


def read(line: str) -> object:
    """What a line means in the only column of a test."""
    text = f"VULKAN t\n{{ x=0; }}\n P0@sg 0,wg 0,qf 0 ;\n {line} ;\nexists (0 == 0)\n"
    (instruction,) = parse_litmus(text, "t.litmus").threads[0].instructions
    return instruction


def test_a_whole_file():
    test = parse_litmus(MP)
    assert test.locations == (Location("x"), Location("y"), Location("t", alias=Alias("x")))
    assert test.threads == (
        Thread(
            (
                Store(X, 1, Mode(WEAK, DV, tags=("av", "sc0"))),
                Store(Loc("y"), 1, Mode(RELEASE, DV, tags=("sc0", "semsc0"))),
            ),
            Place(0, 0, 0, 0),
        ),
        Thread(
            (
                Load("r1", Loc("y"), Mode(ACQUIRE, DV, tags=("sc0", "semsc0", "semvis"))),
                Load("r2", Loc("t"), Mode(WEAK, DV, tags=("sc0", "vis"))),
            ),
            Place(0, 0, 1, 2),
        ),
    )
    assert VULKAN.print(test) == (
        'VULKAN MP\n"message passing"\n{\nx=0;\ny=0;\nt aliases x;\n}\n'
        " P0@sg 0,wg 0,qf 0              | P1@sg 2,wg 1,qf 0                      ;\n"
        " st.av.dv.sc0 x, 1              | ld.atom.acq.dv.sc0.semsc0.semvis r1, y ;\n"
        " st.atom.rel.dv.sc0.semsc0 y, 1 | ld.vis.dv.sc0 r2, t                    ;\n"
        "exists (P1:r1 == 1 /\\ P1:r2 == 0)\n"
    )
    assert parse_litmus(VULKAN.print(test)) == test


def test_a_place_is_a_subgroup_of_a_workgroup_of_a_queue_family():
    text = "VULKAN t\n{}\n P0@sg 1,wg 2,qf 3 ;\n ;\nexists (0 == 0)\n"
    assert parse_litmus(text).threads[0].place == Place(gpu=0, queue=3, cta=2, warp=1)


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("ld.sc1 r1, x", Load("r1", X, Mode(tags=("sc1",)))),
        ("ld.nonpriv.sc0 r1, x", Load("r1", X, Mode(tags=("nonpriv", "sc0")))),
        ("ld.vis.qf.sc0 r1, x", Load("r1", X, Mode(WEAK, Scope.QUEUE, tags=("sc0", "vis")))),
        ("ld.atom.sg.sc0 r1, x", Load("r1", X, Mode(RELAXED, Scope.WARP, tags=("sc0",)))),
        (
            "ld.atom.acq.wg.sc2.semsc0.semsc3.semvis r1, x",
            Load("r1", X, Mode(ACQUIRE, WG, tags=("sc2", "semsc0", "semsc3", "semvis"))),
        ),
        ("st.nonpriv.sc3 x, r1", Store(X, Reg("r1"), Mode(tags=("nonpriv", "sc3")))),
        ("st.av.wg.sc0 x, 1", Store(X, 1, Mode(WEAK, WG, tags=("av", "sc0")))),
        ("st.atom.dv.sc0 x, 1", Store(X, 1, Mode(RELAXED, DV, tags=("sc0",)))),
        ("st.atom.rel.dv.sc0.semsc0.semav x, 1", Store(X, 1, Mode(RELEASE, DV, tags=("sc0", "semav", "semsc0")))),
        ("rmw.atom.dv.sc0 r1, x, 1", Rmw("exch", "r1", X, (1,), Mode(RELAXED, DV, tags=("sc0",)))),
        (
            "rmw.atom.acq_rel.dv.sc0.semsc0.semav.semvis.add r1, x, r2",
            Rmw("add", "r1", X, (Reg("r2"),), Mode(ACQ_REL, DV, tags=("sc0", "semav", "semsc0", "semvis"))),
        ),
        ("membar.acq.dv.semsc0", Fence(Mode(ACQUIRE, DV, tags=("semsc0",)))),
        (
            "membar.acq_rel.wg.semsc0.semsc1.semav.semvis",
            Fence(Mode(ACQ_REL, WG, tags=("semav", "semsc0", "semsc1", "semvis"))),
        ),
        ("cbar.wg 3", Barrier(3, mode=Mode(scope=WG))),
        ("cbar.acq_rel.dv.semsc0 r1, 1, 2", Barrier(Reg("r1"), False, 1, 2, Mode(ACQ_REL, DV, tags=("semsc0",)))),
        ("avdevice", Fence(Mode(tags=("avdevice",)))),
        ("visdevice", Fence(Mode(tags=("visdevice",)))),
        ("ld.sc0 r1, 7", Assign("r1", "mov", (7,))),
        ("mul r1, r2, 2", Assign("r1", "mul", (Reg("r2"), 2))),
    ],
)
def test_instructions_mean_what_the_format_says(line, meaning):
    assert read(line) == meaning
    assert printed(meaning) == [line]


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("rmw.dv.sc0 r1, x, 1", "rmw.atom.dv.sc0 r1, x, 1"),
        ("rmw.atom.dv.sc0.exch r1, x, 1", "rmw.atom.dv.sc0 r1, x, 1"),
        ("membar.acq.dv.semsc1.semsc0", "membar.acq.dv.semsc0.semsc1"),
        ("ld.sc1 r1, r2", "ld.sc0 r1, r2"),
    ],
)
def test_other_spellings(line, same):
    assert read(line) == read(same)
    assert printed(read(line)) == [same]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ld.dv.sc0 r1, x", "a weak access without av or vis has no scope in the Vulkan dialect"),
        ("ld.vis.sc0 r1, x", "expected a scope of sg, wg, qf, dv in the Vulkan dialect"),
        ("ld.atom.sc0 r1, x", "expected a scope of sg, wg, qf, dv in the Vulkan dialect"),
        ("ld.atom.dv r1, x", "expected one storage class of sc0, sc1, sc2, sc3 in the Vulkan dialect"),
        ("ld.atom.dv.sc0.sc1 r1, x", "expected one storage class of sc0, sc1, sc2, sc3 in the Vulkan dialect"),
        ("ld.acq.dv.sc0 r1, x", "expected ld.atom.acq.dv.sc0, found ld.acq.dv.sc0"),
        ("ld.atom.rel.dv.sc0 r1, x", "the Vulkan dialect has no such instruction with order release"),
        ("ld.atom.acq.dv.sc0.semav r1, x", "the Vulkan dialect has no such instruction with the tag semav"),
        ("ld.atom.vis.dv.sc0 r1, x", "the Vulkan dialect has vis or nonpriv for weak accesses, one at a time"),
        ("st.sc0.semsc0 x, 1", "a weak access orders no storage class in the Vulkan dialect"),
        ("st.av.nonpriv.dv.sc0 x, 1", "the Vulkan dialect has av or nonpriv for weak accesses, one at a time"),
        ("st.atom.dv.dv.sc0 x, 1", "expected st.atom.dv.sc0, found st.atom.dv.dv.sc0"),
        ("ld.atom.dv.sc0 r1, 5", "expected a location as the address of ld.atom.dv.sc0, or the move ld.sc0"),
        ("rmw.atom.dv.sc0.cas r1, x, 1", "expected 4 operands of rmw.atom.dv.sc0.cas, found 3"),
        ("rmw.atom.dv.sc0.min r1, x, 1", "the Vulkan dialect has no such instruction with the tag min"),
        ("rmw.atom.dv.sc0 x, 1", "expected 3 operands of rmw.atom.dv.sc0, found 2"),
        ("membar.dv.semsc0", "the Vulkan dialect has no such instruction with order weak"),
        ("membar.acq.dv.sc0", "the Vulkan dialect has no such instruction with the tag sc0"),
        ("cbar.wg", "expected 1 to 3 operands of cbar.wg, found 0"),
        ("fence.sc.gpu", "expected an instruction of the Vulkan dialect, found fence.sc.gpu"),
    ],
)
def test_errors_are_one_line_with_a_place(line, message):
    assert refusal(read, line) == f"t.litmus:4:2: {message}"


def test_aliases_have_no_proxy():
    with pytest.raises(InputError, match=r"^t:3:13: expected t aliases x$"):
        parse_litmus(MP.replace("t aliases", "t @ texture aliases"), "t")


def synchronised(pairs: str) -> LitmusTest:
    """The test with a block of pairs after the initial state."""
    return parse_litmus(MP.replace("}\n", f"}}\n{{ {pairs} }}\n", 1), "t")


@pytest.mark.parametrize("pairs", ["ssw 0 1;", "ssw 0 1", "ssw P0 P1;", ";ssw 0 1;;"])
def test_threads_synchronise_by_the_system(pairs):
    test = synchronised(pairs)
    assert test.synchronised == ((0, 1),)
    assert "}\n{\nssw 0 1;\n}\n" in VULKAN.print(test)
    assert parse_litmus(VULKAN.print(test)) == test
    assert litmus_digest(test) != litmus_digest(parse_litmus(MP))
    assert litmus_digest(test) == litmus_digest(synchronised("ssw 0 1; ssw 0 1;"))


def test_an_empty_block_says_nothing():
    assert synchronised("") == parse_litmus(MP)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("ssw 0 2;", "t:4:9: the test has no thread P2"),
        ("ssw 1 1;", "t:4:9: expected two threads after ssw, found P1 twice"),
        ("ssw 0;", "t:4:8: expected a number or a thread, found ';'"),
    ],
)
def test_errors_of_the_block_have_a_place(pairs, message):
    assert refusal(synchronised, pairs) == message


def test_other_dialects_have_no_word_for_it():
    text = "VULKAN t\n{}\n{ ssw 0 1; }\n P0@sg 0,wg 0,qf 0 | P1@sg 1,wg 0,qf 0 ;\n | ;\nexists (0 == 0)\n"
    with pytest.raises(InputError, match=r"^P0 synchronises with P1 by the system, which ptx has no word for$"):
        translate(parse_litmus(text), PTX)
    ptx = "PTX t\n{}\n{ ssw 0 1; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n | ;\nexists (0 == 0)\n"
    with pytest.raises(InputError, match=r"the PTX dialect has no threads that synchronise by the system$"):
        parse_litmus(ptx)


@pytest.mark.parametrize("word", ["VULKAN", "Vulkan", "vulkan"])
def test_the_first_word_has_three_spellings(word):
    assert parse_litmus(MP.replace("VULKAN", word)) == parse_litmus(MP)


def test_a_compare_and_swap_is_ours_and_not_dartagnans():
    cas = Rmw("cas", "r1", X, (0, Reg("r2")), Mode(RELAXED, DV, tags=("sc0",)))
    assert printed(cas) == ["rmw.atom.dv.sc0.cas r1, x, 0, r2"]
    (runner,) = VULKAN.runners
    with pytest.raises(InputError, match=r"^P0: atom.*: Dartagnan's Vulkan dialect has no compare-and-swap$"):
        runner.check(LitmusTest("t", (Thread((cas,), Place()),), (Location("x"),), ANY))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (Store(X, 1), "P0: st x, 1: expected one storage class of sc0, sc1, sc2, sc3 in the Vulkan dialect"),
        (
            Load("r1", X, Mode(cache="ca", tags=("sc0",))),
            "P0: ld.ca.sc0 r1, x: the Vulkan dialect has no cache operators",
        ),
        (Fence(Mode(SC, DV)), "P0: fence.sc.gpu: the Vulkan dialect has no such instruction with order sc"),
        (
            Load("r1", X, Mode(RELAXED, Scope.SYS, tags=("sc0",))),
            "P0: ld.relaxed.sys.sc0 r1, x: expected a scope of sg, wg, qf, dv",
        ),
        (
            Rmw("max", "r1", X, (0,), Mode(RELAXED, DV, tags=("sc0",))),
            "P0: atom.relaxed.gpu.sc0.max r1, x, 0: the Vulkan dialect has no rmw max",
        ),
        (
            Rmw("add", None, X, (1,), Mode(RELAXED, DV, tags=("sc0",))),
            "P0: red.relaxed.gpu.sc0.add x, 1: the Vulkan dialect has no reductions",
        ),
        (Barrier(0, arrive=True), "P0: bar.arrive 0: every barrier waits in the Vulkan dialect"),
        (Barrier(0, scope=Scope.WARP), "P0: bar.warp.sync 0: barriers are of a wg in the Vulkan dialect"),
        (Assign("r1", "max", (1, 2)), "P0: max r1, 1, 2: the Vulkan dialect computes with add, sub, mul, div only"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(body, message):
    assert refusal(printed, body).startswith(message)


def test_a_second_gpu_is_refused():
    threads = (Thread((), Place(gpu=0)), Thread((), Place(gpu=1)))
    with pytest.raises(InputError, match=r"^P0 and P1 are on two GPUs: the Vulkan dialect has one device$"):
        VULKAN.print(LitmusTest("t", threads, (), ANY))
