"""Dartagnan's PTX dialect: what files mean, what comes back, and what is refused with which words."""

from dataclasses import replace

import pytest
from refusals import refusal

from corpus.dialects.dartagnan.ptx import PTX
from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Barrier, Branch, Comparison, Fence, Guard, Label, Load, Rmw, Store
from corpus.litmus.locations import Alias, Loc, Location, Reg
from corpus.litmus.normal import litmus_digest, map_modes, normal_form
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Not, Or, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import judge

WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, SC = Order
X, Y = Loc("x"), Loc("y")
ANY = Condition(Quantifier.EXISTS, Atom("eq", 0, 0))

MP = r"""PTX MP
"message passing"
{ x=0; y=0; P1:r1=0; }
 P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ; (* both on one GPU *)
 st.weak x, 1         | ld.acquire.gpu r1, y ; // the flag
 st.release.gpu y,1   | ld.weak r2, x        ;
exists (P1:r1 == 1 /\ 1:r2 = 0)
"""


def instructions(*lines: str, state: str = "x=0; y=0;") -> tuple[object, ...]:
    """What the lines mean in the only column of a test."""
    rows = "".join(f" {line} ;\n" for line in ("P0@cta 0,gpu 0", *lines))
    return parse_litmus(f"PTX t\n{{ {state} }}\n{rows}exists (0 == 0)\n").threads[0].instructions


def printed(*body: object, **thread: object) -> list[str]:
    """The lines that a thread of these instructions is printed as, without its header."""
    test = LitmusTest("t", (Thread(tuple(body), Place(), **thread),), (Location("x"), Location("y")), ANY)  # type: ignore[arg-type]
    text = PTX.print(test)
    assert normal_form(parse_litmus(text)) == normal_form(test)
    return [line.strip().removesuffix(";").strip() for line in text.split("}\n")[1].splitlines()[1:-1]]


def test_a_whole_file():
    test = parse_litmus(MP)
    assert (test.name, test.description) == ("MP", "message passing")
    assert test.locations == (Location("x"), Location("y"))
    assert test.threads == (
        Thread((Store(X, 1), Store(Y, 1, Mode(RELEASE, Scope.GPU))), Place(cta=0)),
        Thread((Load("r1", Y, Mode(ACQUIRE, Scope.GPU)), Load("r2", X)), Place(cta=1)),
    )
    asked = And((Atom("eq", FinalRegister(1, "r1"), 1), Atom("eq", FinalRegister(1, "r2"), 0)))
    assert test.condition == Condition(Quantifier.EXISTS, asked)
    assert parse_litmus(PTX.print(test)) == test


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("ld.weak r1, x", Load("r1", X)),
        ("ld.relaxed.cta r1, x", Load("r1", X, Mode(RELAXED, Scope.CTA))),
        ("ld.acquire.sys r1, x", Load("r1", X, Mode(ACQUIRE, Scope.SYS))),
        ("tld.weak r1, x", Load("r1", X, Mode(tags=("texture",)))),
        ("suld.weak r1, x", Load("r1", X, Mode(tags=("surface",)))),
        ("cold.weak r1, x", Load("r1", X, Mode(tags=("constant",)))),
        ("ld r1, -7", Assign("r1", "mov", (-7,))),
        ("ld r1, 0xffffffff", Assign("r1", "mov", (-1,))),
        ("ld r1, r2", Assign("r1", "mov", (Reg("r2"),))),
        ("st.weak x, r1", Store(X, Reg("r1"))),
        ("st.relaxed.gpu x, 2", Store(X, 2, Mode(RELAXED, Scope.GPU))),
        ("sust.release.sys x, 2", Store(X, 2, Mode(RELEASE, Scope.SYS, tags=("surface",)))),
        ("atom.relaxed.gpu.exch r1, x, 1", Rmw("exch", "r1", X, (1,), Mode(RELAXED, Scope.GPU))),
        ("atom.acq_rel.gpu.cas r1, x, 0, r2", Rmw("cas", "r1", X, (0, Reg("r2")), Mode(ACQ_REL, Scope.GPU))),
        ("suatom.acquire.cta.xor r1, x, 1", Rmw("xor", "r1", X, (1,), Mode(ACQUIRE, Scope.CTA, tags=("surface",)))),
        ("red.release.sys.add x, 3", Rmw("add", None, X, (3,), Mode(RELEASE, Scope.SYS))),
        ("sured.relaxed.gpu.and x, 3", Rmw("and", None, X, (3,), Mode(RELAXED, Scope.GPU, tags=("surface",)))),
        ("fence.sc.gpu", Fence(Mode(SC, Scope.GPU))),
        ("fence.acq_rel.cta", Fence(Mode(ACQ_REL, Scope.CTA))),
        ("fence.acquire.gpu", Fence(Mode(ACQUIRE, Scope.GPU))),
        ("fence.release.cluster", Fence(Mode(RELEASE, Scope.QUEUE, tags=("cluster",)))),
        ("ld.acquire.cluster r1, x", Load("r1", X, Mode(ACQUIRE, Scope.QUEUE, tags=("cluster",)))),
        ("suld.acquire.cluster r1, x", Load("r1", X, Mode(ACQUIRE, Scope.QUEUE, tags=("cluster", "surface")))),
        ("fence.proxy.async", Fence(Mode(tags=("async",)))),
        ("fence.proxy.alias", Fence(Mode(tags=("alias",)))),
        ("fence.proxy.texture", Fence(Mode(tags=("texture",)))),
        ("bar.cta.sync 1", Barrier(1)),
        ("bar.cta.sync r1, 2", Barrier(Reg("r1"), resource=2)),
        ("bar.cta.arrive 1, 2, 3", Barrier(1, arrive=True, resource=2, quorum=3)),
        ("bar.cta.sync 1, r1, r2", Barrier(1, resource=Reg("r1"), quorum=Reg("r2"))),
        ("add r1, r2, 1", Assign("r1", "add", (Reg("r2"), 1))),
        ("div r1, 6, r2", Assign("r1", "div", (6, Reg("r2")))),
    ],
)
def test_instructions_mean_what_the_format_says(line, meaning):
    assert instructions(line) == (meaning,)
    assert printed(meaning) == [line.replace("0xffffffff", "-1")]


def test_labels_and_branches():
    lines = ["LC00:", "beq r1, 0, LC01", "bge 1, r2, LC00", "goto LC00", "LC01:"]
    body = (
        Label("LC00"),
        Branch("LC01", Comparison("eq", Reg("r1"), 0)),
        Branch("LC00", Comparison("ge", 1, Reg("r2"))),
        Branch("LC00"),
        Label("LC01"),
    )
    assert instructions(*lines) == body
    assert instructions("LC00: beq r1, 0, LC01", "bge 1, r2, LC00", "goto LC00", "LC01:") == body
    assert printed(*body) == lines


def test_labels_of_any_name_are_read_and_printed_as_dartagnan_takes_them():
    lines = ["LC007:", "loop:", "LC1_end: beq r1, 0, loop", "goto LC1_end", "bne r2, 0, LC007"]
    assert printed(*instructions(*lines)) == [
        "LC007:",
        "LC0:",
        "LC1:",
        "beq r1, 0, LC0",
        "goto LC1",
        "bne r2, 0, LC007",
    ]


def test_the_initial_state():
    test = parse_litmus(
        "PTX t\n{ x=7; z=&x; t @ texture aliases x; u @ generic aliases x; P0:r1=-3; 0:r2=&y; }\n"
        " P0@cta 3,gpu 1 ;\n st.weak x, r1 ;\nexists (P0:r2 == 1)\n"
    )
    assert test.locations == (
        Location("x", 7),
        Location("z", X),
        Location("t", alias=Alias("x", "texture")),
        Location("u", alias=Alias("x")),
        Location("y"),
    )
    assert test.threads[0].registers == (("r1", -3), ("r2", Y))
    assert test.threads[0].place == Place(gpu=1, cta=3)
    assert normal_form(parse_litmus(PTX.print(test))) == normal_form(test)
    assert "t @ texture aliases x;\nu @ generic aliases x;\nP0:r1=-3;\nP0:r2=&y;\n" in PTX.print(test)


def test_a_register_that_only_the_state_and_the_condition_know():
    test = parse_litmus("PTX t\n{ P0:r1=0; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (P0:r1 == 0)\n")
    assert parse_litmus(PTX.print(test)) == test


def test_each_thread_is_in_a_warp_of_its_own_and_ctas_are_of_a_gpu():
    header = " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 0,gpu 1 ;\n | | ;\n"
    places = [thread.place for thread in parse_litmus(f"PTX t\n{{}}\n{header}exists (0 == 0)\n").threads]
    assert places == [Place(0, 0, 0, 0), Place(0, 0, 0, 1), Place(1, 0, 0, 0)]


def test_a_test_without_instructions_is_printed_and_read():
    assert printed() == [""]


def test_conditions_have_their_filter_and_observed_terms():
    text = MP.replace("exists", "locations [x; P1:r1;]\nfilter (x == 1)\nforall")
    test = parse_litmus(text)
    assert test.condition.observed == (X, FinalRegister(1, "r1"))
    assert parse_litmus(PTX.print(test)) == test


def test_constant_conditions_are_comparisons_for_dartagnan_has_no_word_for_true():
    condition = Condition(Quantifier.NOT_EXISTS, Not(Or(())), filter=And((And(()), Atom("eq", X, 1))))
    text = PTX.print(LitmusTest("t", (Thread((Store(X, 1),), Place()),), (Location("x"),), condition))
    assert text.endswith("filter (0 == 0 /\\ x == 1)\n~exists (~(0 == 1))\n")


def test_registers_and_labels_that_fit_are_kept_and_others_renamed():
    body = (
        Load("value", X),
        Label("loop"),
        Branch("loop", Comparison("ne", Reg("value"), Reg("r0"))),
        Label("LC0"),
        Assign("%r9", "add", (Reg("value"), 1)),
    )
    thread = Thread(body, Place())
    condition = Condition(Quantifier.EXISTS, Atom("eq", FinalRegister(0, "%r9"), 2))
    text = PTX.print(LitmusTest("t", (thread,), (Location("x"),), condition))
    assert "ld.weak r1, x" in text and "add r2, r1, 1" in text and "P0:r2 == 2" in text
    assert "bne r1, r0, LC1" in text and "LC1:" in text and "LC0:" in text


def test_predicates_are_branches():
    assert printed(Load("r1", X), Store(Y, 1, guard=Guard("r1"))) == [
        "ld.weak r1, x",
        "beq r1, 0, LC0",
        "st.weak y, 1",
        "LC0:",
    ]
    compared = (Load("r1", X), Assign("p", "lt", (Reg("r1"), 2)), Branch("LC5", guard=Guard("p")), Label("LC5"))
    assert printed(*compared) == ["ld.weak r1, x", "blt r1, 2, LC5", "LC5:"]


def test_an_address_that_a_register_only_holds_is_the_location():
    assert printed(Load("r1", Reg("r0")), registers=(("r0", X),)) == ["ld.weak r1, x"]
    assert printed(Assign("a", "mov", (Y,)), Store(Reg("a"), 1)) == ["st.weak y, 1"]


def test_an_address_as_a_value_is_a_register_that_starts_with_it():
    assert printed(Store(X, Y), Rmw("exch", "r0", X, (Y,), Mode(RELAXED, Scope.GPU))) == [
        "st.weak x, r1",
        "atom.relaxed.gpu.exch r0, x, r1",
    ]


def test_columns_are_aligned():
    assert PTX.print(parse_litmus(MP)) == (
        'PTX MP\n"message passing"\n{\nx=0;\ny=0;\n}\n'
        " P0@cta 0,gpu 0      | P1@cta 1,gpu 0       ;\n"
        " st.weak x, 1        | ld.acquire.gpu r1, y ;\n"
        " st.release.gpu y, 1 | ld.weak r2, x        ;\n"
        "exists (P1:r1 == 1 /\\ P1:r2 == 0)\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("st.weak x, 1         |", "", "5:3", "expected 2 columns, found 1"),
        ("st.weak x, 1         |", "|  |", "5:2", "expected 2 columns, found 3"),
        ("P1@cta 1,gpu 0", "P2@cta 1,gpu 0", "4:25", "expected thread P1, found P2"),
        ("P1@cta 1,gpu 0", "P1@cta 1", "4:25", "expected P1@cta N,gpu N"),
        ("P1@cta 1,gpu 0", "P1@wg 1,gpu 0", "4:28", "expected P1@cta N,gpu N"),
        ("x=0;", "x=y;", "3:5", "expected '&' or a number, found 'y'"),
        ("x=0;", "r1=0;", "3:3", "found 'r1'"),
        ("x=0;", "x=99999999999;", "3:5", "expected a 32-bit number, found 99999999999"),
        ("P1:r1=0;", "P7:r1=0;", "3:13", "the test has no thread P7"),
        ("P1:r1=0;", "P1:r1=0; P1:r1=1;", "3:22", "P1:r1 is declared twice"),
        (
            "P1:r1=0;",
            "t @ image aliases x;",
            "3:13",
            "expected t @ generic or texture or surface or constant aliases x",
        ),
        ("st.weak x, 1", "st.weak.gpu x, 1", "5:2", "a weak access has no scope in the PTX dialect"),
        ("st.weak x, 1", "st.relaxed x, 1", "5:2", "expected a scope of cta, gpu, sys in the PTX dialect"),
        ("st.weak x, 1", "st.acquire.gpu x, 1", "5:2", "the PTX dialect has no such instruction with order acquire"),
        ("st.weak x, 1", "st x, 1", "5:2", "expected an order of the PTX dialect (weak, relaxed, release) after st"),
        ("st.weak x, 1", "st.gpu.relaxed x, 1", "5:2", "expected st.relaxed.gpu, found st.gpu.relaxed"),
        ("st.weak x, 1", "st.weak.cg x, 1", "5:2", "expected st.weak, found st.weak.cg"),
        ("st.weak x, 1", "st.weak x, 1, 2", "5:2", "expected 2 operands of st.weak, found 3"),
        ("st.weak x, 1", "st.weak r1, 1", "5:10", "expected a location, found r1"),
        ("st.weak x, 1", "st.weak x, y", "5:13", "expected a number or a register, found y"),
        ("st.weak x, 1", "membar.gl", "5:2", "expected an instruction of the PTX dialect, found membar.gl"),
        ("st.weak x, 1", "atom.relaxed.gpu.inc r1, x, 1", "5:2", "expected exch or cas or add"),
        ("st.weak x, 1", "atom.relaxed.gpu.cas r1, x, 1", "5:2", "expected 4 operands"),
        ("st.weak x, 1", "atom.add r1, x, 1", "5:2", "expected an order of the PTX dialect"),
        ("st.weak x, 1", "red.relaxed.gpu.exch x, 1", "5:2", "expected add or sub"),
        ("st.weak x, 1", "fence.relaxed.gpu", "5:2", "no such instruction with order relaxed"),
        (
            "st.weak x, 1",
            "fence.proxy.tma",
            "5:2",
            "expected an order of the PTX dialect (acquire, release,",
        ),
        ("st.weak x, 1", "bar.cta.sync 1, -2", "5:18", "expected a number, found -2"),
        ("st.weak x, 1", "goto r1", "5:7", "expected a label, found r1"),
        ("st.weak x, 1", "goto x", "5:7", "expected one label x in thread P0, found no such label"),
        ("st.weak x, 1", "goto LC0", "5:7", "expected one label LC0 in thread P0, found no such label"),
        ("1:r2", "1:r3", "7:23", "the condition names register P1:r3, which the test does not have"),
        ("ld.weak r2, x        ;\n", "ld.weak", "6:39", "expected"),
    ],
)
def test_errors_are_one_line_with_a_place(old, new, place, message):
    assert old in MP
    shown = refusal(parse_litmus, MP.replace(old, new, 1), "t.litmus")
    assert shown.startswith(f"t.litmus:{place}: ") and message in shown, shown


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (Load("r1", X, Mode(cache="cg")), "P0: ld.cg r1, x: the PTX dialect has no cache operators"),
        (Store(X, 1, Mode(volatile=True)), "P0: st.volatile x, 1: the PTX dialect has no volatile accesses"),
        (
            Load("r1", X, Mode(tags=("sc0",))),
            "P0: ld.sc0 r1, x: the PTX dialect has no such instruction with the tag sc0",
        ),
        (
            Store(X, 1, Mode(tags=("texture",))),
            "P0: st.texture x, 1: the PTX dialect has no such instruction with the tag",
        ),
        (
            Load("r1", X, Mode(SC, Scope.SYS)),
            "P0: ld.sc.sys r1, x: the PTX dialect has no such instruction with order sc",
        ),
        (Store(X, 1, Mode(RELAXED)), "P0: st.relaxed x, 1: expected a scope of cta, gpu, sys in the PTX dialect"),
        (Store(X, 1, Mode(RELAXED, Scope.WARP)), "P0: st.relaxed.warp x, 1: expected a scope of cta, gpu, sys"),
        (Store(X, 1, Mode(WEAK, Scope.CTA)), "P0: st.cta x, 1: a weak access has no scope in the PTX dialect"),
        (
            Rmw("min", "r1", X, (1,), Mode(RELAXED, Scope.GPU)),
            "P0: atom.relaxed.gpu.min r1, x, 1: the PTX dialect has no",
        ),
        (Rmw("exch", None, X, (1,), Mode(RELAXED, Scope.GPU)), "P0: red.relaxed.gpu.exch x, 1: the PTX dialect has no"),
        (Fence(Mode(ACQUIRE, Scope.QUEUE)), "P0: fence.acquire.queue: expected a scope of cta, gpu, sys in the PTX"),
        (
            Fence(Mode(tags=("avdevice",))),
            "P0: avdevice: the PTX dialect has no such instruction with the tag avdevice",
        ),
        (Barrier(0, scope=Scope.WARP), "P0: bar.warp.sync 0: barriers are of a cta in the PTX dialect"),
        (
            Barrier(0, mode=Mode(scope=Scope.CTA)),
            "P0: bar.cta.sync 0: barriers have no memory scope in the PTX dialect",
        ),
        (
            Assign("r1", "and", (Reg("r1"), 1)),
            "P0: and r1, r1, 1: the PTX dialect computes with add, sub, mul, div only",
        ),
        (Load("r1", Reg("r1")), "P0: ld r1, [r1]: addresses are names of locations in the PTX dialect"),
        (Load("r1", 5), "P0: ld r1, 5: addresses are names of locations in the PTX dialect"),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(body, message):
    assert refusal(printed, body).startswith(message)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        (Location("r1"), "r1: the PTX dialect has no location of that name"),
        (Location("P1"), "P1: the PTX dialect has no location of that name"),
        (Location("x.y"), "x.y: the PTX dialect has no location of that name"),
        (Location("texture"), "texture: the PTX dialect has no location of that name"),
        (Location("t", alias=Alias("x", "image")), "t: the PTX dialect has no such alias of x"),
        (Location("t", 1, alias=Alias("x")), "t: the PTX dialect has no such alias of x"),
    ],
)
def test_locations_that_cannot_be_said_are_refused_by_name(location, message):
    assert refusal(PTX.print, LitmusTest("t", (Thread((), Place()),), (location,), ANY)) == message


@pytest.mark.parametrize(
    ("places", "message"),
    [
        (
            [Place(0, 0, 0, 0), Place(0, 0, 0, 0)],
            "P0 and P1 are in one warp: the PTX dialect has a warp for each thread",
        ),
        ([Place(0, 0, 0, 0), Place(0, 1, 0, 0)], "P0 and P1 are in two queues: the PTX dialect has one for each GPU"),
    ],
)
def test_places_that_cannot_be_said_are_refused(places, message):
    assert refusal(PTX.print, LitmusTest("t", tuple(Thread((), place) for place in places), (), ANY)) == message


CLUSTERS = """PTX MP
{ x=0; y=0; }
 P0@cta 0,cluster 0,gpu 0 | P1@cta 1,cluster 0,gpu 0 ;
 st.weak x, 1             | ld.acquire.cluster r1, y ;
 st.release.cluster y, 1  | ld.weak r2, x            ;
exists (P1:r1 == 1 /\\ P1:r2 == 0)
"""


def test_clusters():
    """A header may say them; else each CTA is one of its own. Where nothing has their scope they are not kept."""
    together = parse_litmus(CLUSTERS)
    assert [thread.place for thread in together.threads] == [Place(0, 0, 0, 0), Place(0, 0, 1, 0)]
    unsaid = parse_litmus(CLUSTERS.replace(",cluster 0", ""))
    apart = parse_litmus(CLUSTERS.replace("cta 1,cluster 0", "cta 1,cluster 1"))
    assert [thread.place for thread in unsaid.threads] == [Place(0, 0, 0, 0), Place(0, 1, 1, 0)]
    assert litmus_digest(unsaid) == litmus_digest(apart) != litmus_digest(together)
    for test in (together, apart):
        assert litmus_digest(parse_litmus(PTX.print(test))) == litmus_digest(test)
    wide = CLUSTERS.replace("acquire.cluster", "acquire.gpu").replace("release.cluster", "release.gpu")
    assert [thread.place for thread in parse_litmus(wide).threads] == [Place(0, 0, 0, 0), Place(0, 0, 1, 0)]
    model = load_model(shipped_models()["ptx"])
    assert [judge(test, model).answer.value for test in (together, unsaid)] == ["FORBIDDEN", "ALLOWED"]


@pytest.mark.parametrize("instruction", ["fence.acquire.gpu", "fence.sc.cluster", "fence.proxy.async"])
def test_what_dartagnan_does_not_read_is_not_written_for_it(instruction):
    test = parse_litmus(MP.replace("st.weak x, 1", instruction))
    (runner,) = PTX.runners
    with pytest.raises(InputError, match=f"P0: {instruction}: Dartagnan's PTX has it not"):
        runner.check(test)
    runner.check(parse_litmus(MP))


def test_a_cluster_is_a_level_of_gpu_ptx():
    test = parse_litmus(CLUSTERS)
    text = translate(test, DIALECTS["gpu-ptx"])
    assert "ScopeTree(cluster " in text and litmus_digest(parse_litmus(text)) == litmus_digest(test)


@pytest.mark.parametrize("name", ["vulkan", "opencl", "c", "lisa"])
def test_a_cluster_is_no_queue_family(name):
    test = parse_litmus(CLUSTERS)
    if name == "vulkan":  # whose accesses have a storage class
        test = map_modes(test, lambda mode: replace(mode, tags=(*mode.tags, "sc0", *["semsc0"] * bool(mode.scope))))
    with pytest.raises(InputError, match="cluster"):
        translate(test, DIALECTS[name])
