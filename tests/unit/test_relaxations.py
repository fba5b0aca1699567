"""Relaxations of executions, one table for all kinds."""

from dataclasses import replace

import pytest

from corpus.executions.execution import OpKind
from corpus.executions.relaxations import mutants, relaxations, relaxed, reversals
from corpus.executions.text import execution_text, parse_execution
from corpus.executions.vocabulary import vocabulary
from corpus.litmus.orders import Mode, Order, Scope


def table(words, text):
    """What each relaxation leaves, by what it is called."""
    execution = parse_execution(text)
    return {step.text: execution_text(relaxed(execution, step, words)) for step in relaxations(execution, words)}


MP = "0.0.0.0: W x; W.release.gpu y | 0.0.1.0: R.acquire.gpu y<-1; R x<-init ctrl:2 | final x=0 y=1"


def test_every_relaxation_of_message_passing():
    assert table(vocabulary("ptx"), MP) == {
        "P0's store to x: removed": "0.0.0.0: W.release.gpu x | 0.0.1.0: R.acquire.gpu x<-0; R y<-init ctrl:1"
        " | final x=0",
        "P0's store to y: removed": "0.0.0.0: W x | 0.0.1.0: R.acquire.gpu y; R x<-init ctrl:1 | final x=0",
        "P1's load of y: removed": "0.0.0.0: W x; W.release.gpu y | 0.0.1.0: R x<-init | final x=0 y=1",
        "P1's load of x: removed": "0.0.0.0: W x; W.release.gpu y | 0.0.1.0: R.acquire.gpu y<-1 | final x=0 y=1",
        "P0's store to y: release -> relaxed": MP.replace("release", "relaxed"),
        "P0's store to y: scope gpu -> cta": MP.replace("release.gpu", "release.cta"),
        "P1's load of y: acquire -> relaxed": MP.replace("acquire", "relaxed"),
        "P1's load of y: scope gpu -> cta": MP.replace("acquire.gpu", "acquire.cta"),
        "P1's load of y: no control dependency to its load of x": MP.replace(" ctrl:2", ""),
        "P0 | P1: in one gpu no longer": MP.replace("0.0.1.0", "1.0.0.0"),
    }


TREE = "0.0.0.0: W x | 0.0.0.1: bar; R x<-0; bar | 0.0.0.2: bar; bar; R y | 0.0.1.0: R y | 1.0.0.0: R y"


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        # instructions: a barrier goes in all threads of its CTA; what depends on a branch that is left stays
        (
            TREE,
            "barrier 1 of P1, P2: removed",
            "0.0.0.0: W x | 0.0.0.1: bar; R x<-0 | 0.0.0.2: bar; R y | 0.0.1.0: R y | 1.0.0.0: R y",
        ),
        (TREE, "P3's load of y: removed", TREE.replace(" | 0.0.1.0: R y", "")),
        ("0.0.0.0: R x; F.sc.cta ctrl:0; R y", "P0's fence: removed", "0.0.0.0: R x; R y ctrl:0"),
        ("0.0.0.0: R x; R y; F.sc.cta ctrl:0", "P0's fence: removed", "0.0.0.0: R x; R y"),
        ("0.0.0.0: R x; W y addr:0 data:0; W z", "P0's store to y: removed", "0.0.0.0: R x; W y"),
        ("0.0.0.0: R x; W y addr:0 ctrl:0; W z", "P0's store to y: removed", "0.0.0.0: R x; W y ctrl:0"),
        ("0.0.0.0: R x; W y addr:0 ctrl:0; W z", "P0's load of x: removed", "0.0.0.0: W x; W y"),
        # what is left of the outcome
        (
            "0.0.0.0: W x; W x | 0.0.1.0: R x<-0; R x<-1 | co 0<1 | final x=1",
            "P0's second store to x: removed",
            "0.0.0.0: W x | 0.0.1.0: R x<-0; R x",
        ),
        (
            "0.0.0.0: W x; W x; W x | co 0<1 0<2 1<2 | final x=2",
            "P0's second store to x: removed",
            "0.0.0.0: W x; W x | co 0<1 | final x=1",
        ),
        ("0.0.0.0: rmw.relaxed.gpu x<-init | 0.0.1.0: R y", "P0's rmw of x: removed", "0.0.0.0: R x"),
        # orders and scopes
        ("0.0.0.0: F.sc.gpu", "P0's fence: sc -> acq_rel", "0.0.0.0: F.acq_rel.gpu"),
        ("0.0.0.0: F.sc.sys", "P0's fence: scope sys -> gpu", "0.0.0.0: F.sc.gpu"),
        ("0.0.0.0: R.relaxed.gpu x", "P0's load of x: relaxed -> weak", "0.0.0.0: R x"),
        # an update: its halves' orders, address dependencies to both, others to and from the half that they are of
        (
            "0.0.0.0: R x; rmw.acq_rel.cta y<-init addr:0 ctrl:0 data:0; W z data:1 | 0.0.1.0: R y<-1 | final y=1",
            "P0's rmw of y: a load and a store",
            "0.0.0.0: R x; R.acquire.cta y<-init addr:0 ctrl:0; W.release.cta y addr:0 data:0; W z data:1"
            " | 0.0.1.0: R y<-2 | final y=2",
        ),
        # the memory and the scope tree
        ("0.0.0.0: W x; W y | shared x y", "y: shared -> global", "0.0.0.0: W x; W y | shared x"),
        (TREE, "P0 P1 | P2: in one cta no longer", TREE.replace("0.0.1.0", "0.0.2.0").replace("0.0.0.2", "0.0.1.0")),
        (TREE, "P0 P1 P2 | P3: in one gpu no longer", TREE.replace("1.0.0.0", "2.0.0.0").replace("0.0.1.0", "1.0.0.0")),
    ],
)  # fmt: skip
def test_what_a_relaxation_leaves(before, step, after):
    assert table(vocabulary("ptx"), before)[step] == after


def test_a_branch_after_a_branch_on_the_same_read_is_no_relaxation():
    assert [step for step in table(vocabulary("c"), "0.0.0.0: R x; W y ctrl:0; W z ctrl:0") if "no " in step] == [
        "P0's load of x: no control dependency to its store to y"
    ]


def test_a_cta_stays_whole_over_shared_memory():
    tree = "0.0.0.0: W x | 0.0.0.1: W y | 0.0.0.2: W x{}"
    free = {step for step in table(vocabulary("ptx"), tree.format("")) if "cta no" in step}
    assert free == {f"{halves}: in one cta no longer" for halves in ("P0 P1 | P2", "P0 P2 | P1", "P0 | P1 P2")}
    held = {step for step in table(vocabulary("ptx"), tree.format(" | shared x")) if "cta no" in step}
    assert held == {"P0 P2 | P1: in one cta no longer"}


def test_groups_are_of_the_levels_that_a_vocabulary_has():
    words = vocabulary("ptx").without(["ctas"])
    steps = [step for step in table(words, "0.0.0.0: W x | 0.0.1.0: W x | 0.0.2.0: W x") if "no longer" in step]
    assert steps == [f"{halves}: in one gpu no longer" for halves in ("P0 P2 | P1", "P0 P1 | P2", "P0 | P1 P2")]


def test_a_mutant_asks_for_something():
    execution = parse_execution("0.0.0.0: R x<-1; W x | final x=1")
    assert [step.text for step in relaxations(execution, vocabulary("cpu"))] == [
        "P0's load of x: removed",
        "P0's store to x: removed",
    ]
    turned = "P0's load of x and its store to x: the other way round"
    assert [step.text for step, _ in mutants(execution, vocabulary("cpu"), False)] == [turned]
    execution = parse_execution("0.0.0.0: W x; W x; R x<-0 | co 0<1 | final x=1")
    assert [(step.text, execution_text(left)) for step, left in mutants(execution, vocabulary("cpu"), False)] == [
        ("P0's second store to x: removed", "0.0.0.0: W x; R x<-0"),
        ("P0's load of x: removed", "0.0.0.0: W x; W x | co 0<1 | final x=1"),
        *((step.text, execution_text(relaxed(execution, step, vocabulary("cpu")))) for step in reversals(execution)),
    ]
    twice = parse_execution("0.0.0.0: W x; W x; W x | co 0<1 0<2 1<2 | final x=2")
    last = "P0's third store to x: removed"  # of what is left only the order is known
    assert last not in [step.text for step, _ in mutants(twice, vocabulary("cpu"), False)]
    assert last in [step.text for step, _ in mutants(twice, vocabulary("cpu"), True)]


@pytest.mark.parametrize(
    ("words", "kind", "mode", "lower"),
    [
        ("c", "U", Mode(Order.SC), [Order.ACQ_REL]),
        ("c", "U", Mode(Order.ACQ_REL), [Order.ACQUIRE, Order.RELEASE]),
        ("c", "R", Mode(Order.SC), [Order.ACQUIRE]),
        ("c", "W", Mode(Order.SC), [Order.RELEASE]),
        ("ptx", "R", Mode(Order.ACQUIRE, Scope.SYS), [Order.RELAXED]),
        ("ptx", "F", Mode(Order.ACQ_REL, Scope.SYS), []),
        ("ptx", "R", Mode(volatile=True), []),
        ("vulkan", "R", Mode(Order.ACQUIRE, Scope.GPU, tags=("sc0", "semsc0", "semvis")), [Order.RELAXED]),
        ("ptx-proxies", "R", Mode(tags=("surface",)), []),  # a generic access is ordered no less
        ("ptx-proxies", "F", Mode(tags=("surface",)), []),
    ],
)
def test_orders_one_step_down(words, kind, mode, lower):
    assert [way.order for way in vocabulary(words).lower_orders(kind, mode)] == lower


ALIASES = vocabulary("ptx-proxies", ("alias",))


@pytest.mark.parametrize(
    ("before", "step", "after"),
    [
        (
            "0.0.0.0: W x; F.alias; R x_1<-0; rmw.relaxed.gpu x<-0 | final x=3",
            "P0's store to x | P0's rmw of x: by one address no longer",
            "0.0.0.0: W x; F.alias; R x_1<-0; rmw.relaxed.gpu x_2<-0 | final x=3",
        ),
        ("0.0.0.0: R x | 0.0.1.0: R x; R x_1", "P0's load of x: removed", "0.0.0.0: R x; R x_1"),
        ("0.0.0.0: R x | 0.0.1.0: R x_1; R x_1", "P0's load of x: removed", "0.0.0.0: R x; R x"),
    ],
)
def test_addresses_are_taken_apart_and_counted_anew(before, step, after):
    assert table(ALIASES, before)[step] == after


def test_accesses_by_one_address_get_two_in_each_way():
    steps = [step for step in table(ALIASES, "0.0.0.0: R x; W x | 0.0.1.0: W x; W x_1") if "no longer" in step]
    load, one, other = "P0's load of x", "P0's store to x", "P1's store to x"
    ways = [f"{load}, {other} | {one}", f"{load}, {one} | {other}", f"{load} | {one}, {other}"]
    assert steps[:3] == [f"{way}: by one address no longer" for way in ways]


def test_a_barrier_is_relaxed_to_one_that_does_not_wait():
    left = table(vocabulary("ptx", ("arrive",)), "0.0.0.0: bar; R x | 0.0.0.1: W x; bar.arrive")
    assert left["P0's barrier: bar -> bar.arrive"] == "0.0.0.0: bar.arrive; R x | 0.0.0.1: W x; bar.arrive"
    assert "P1's barrier: bar -> bar.arrive" not in left


def test_threads_that_synchronise_by_the_system_do_so_no_longer():
    test = "0.0.0.0: W.sc0 x | 0.0.1.0: R.sc0 x<-init; W.sc0 x | 0.0.2.0: R.sc0 x | ssw 0<1 0<2 1<2"
    left = table(vocabulary("vulkan", ("ssw",)), test)
    assert left["P0 and P1: synchronised no longer"] == test.replace(" 0<1", "")
    assert left["P1 and P2: synchronised no longer"] == test.replace(" 1<2", "")
    assert "P0 and P2: synchronised no longer" not in left  # P1 is between
    assert left["P0's store to x: removed"] == "0.0.0.0: R.sc0 x<-init; W.sc0 x | 0.0.1.0: R.sc0 x | ssw 0<1"


def test_a_scope_is_narrowed_to_that_of_a_cluster():
    words = vocabulary("ptx-proxies", ("cluster",))
    assert table(words, "0.0.0.0: R.relaxed.gpu x")["P0's load of x: scope gpu -> cluster"] == (
        "0.0.0.0: R.relaxed.cluster x"
    )
    assert table(words, "0.0.0.0: R.relaxed.cluster x")["P0's load of x: scope cluster -> cta"] == (
        "0.0.0.0: R.relaxed.cta x"
    )
    apart = table(words, "0.0.0.0: R x | 0.0.1.0: R x")
    assert apart["P0 | P1: in one cluster no longer"] == "0.0.0.0: R x | 0.1.0.0: R x"


def test_a_fence_of_all_memory_is_relaxed_to_one_of_either_kind():
    words = vocabulary("opencl")
    both = Mode(Order.ACQUIRE, Scope.CTA)
    less = words.less_memory(OpKind.FENCE, both)
    assert [mode.tags for mode in less] == [("global-fence",), ("local-fence",)]
    assert not any(words.less_memory(OpKind.FENCE, mode) for mode in less)
    assert words.lower_orders(OpKind.FENCE, less[0]) == ()  # acquire fences are the weakest
    assert words.narrower(OpKind.FENCE, replace(less[0], scope=Scope.GPU)) == less[0]
    assert not words.less_memory(OpKind.READ, both) and not vocabulary("ptx").less_memory(OpKind.FENCE, both)


def test_accesses_the_other_way_round():
    """The first mutator of Levine et al.: CoRR's loads, and what may not be turned round."""
    corr = parse_execution("0.0.0.0: W x | 0.0.0.1: R x<-0; R x<-init")
    (found,) = reversals(corr)
    assert found.text == "P1's first load of x and its second load of x: the other way round"
    assert execution_text(relaxed(corr, found, vocabulary("cpu"))) == "0.0.0.0: W x | 0.0.0.1: R x<-init; R x<-0"
    turned = [(step.text, execution_text(left)) for step, left in mutants(corr, vocabulary("cpu"), False)]
    assert turned[-1] == (found.text, "0.0.0.0: W x | 0.0.0.1: R x<-init; R x<-0")
    stores = parse_execution("0.0.0.0: W x; W x; R x<-1 | co 0<1 | final x=1")
    assert [execution_text(relaxed(stores, step, vocabulary("cpu"))) for step in reversals(stores)] == [
        "0.0.0.0: W x; W x; R x<-0 | co 1<0 | final x=0",
        "0.0.0.0: W x; R x<-2; W x | co 0<2 | final x=2",
    ]
    alike = parse_execution("0.0.0.0: W x | 0.0.0.1: R x<-0; R x<-0")
    assert list(reversals(alike)) == []
