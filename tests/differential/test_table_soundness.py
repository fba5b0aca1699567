"""Why minimal tests decide whether a table of code sequences is sound, each reason held against another method.

Machines do less with more: random machine programs, without an instruction or with one that does less. The model
forbids no less where an instruction is stronger: the minimal tests of a vocabulary in which a word has none below it
are those of the whole one with that word in place of weaker ones. And tables are sound or not as an enumeration of all
programs has it, which shares the oracle and the machine with what it checks, and no minimal tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, product
from random import Random

import pytest

from constraints.loop import solutions
from constraints.programs.forbidden import Forbidden, SeparationQuestion, splits
from corpus.executions.execution import OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.sequences import MachineStep, read_table, translated, words_of
from corpus.executions.vocabulary import Vocabulary, spelled_mode
from corpus.laws.amdgpu import LOCAL, MachineInstruction
from corpus.litmus.instructions import Load, Rmw, Store
from corpus.litmus.locations import Loc, Location, Region
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import And, Atom, Condition, FinalRegister, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from oracle.cat.variants import without_check
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import Answer, judge
from oracle.exploration import StateLimitError
from oracle.operational.amdgpu import FAMILIES, first_level, outcomes
from oracle.operational.deletions import deletions
from oracle.operational.monotone import WordStep, raised, word_order
from synth.memory.sequences import SPARED, NamedTable, checked_tables, search_tables
from synth.units import SearchRun, Unwritten

AMDGPU = resolve_consistency_models(["amdgpu"])[0]
PLACES = [Place(), Place(0, 0, 0, 1), Place(0, 0, 1, 0), Place(1, 0, 0, 0)]
BITS = {
    "gfx90a": [(), ("glc=1",)],
    "gfx942": [(), ("sc0=1",), ("sc1=1",), ("sc0=1", "sc1=1")],
    "gfx10": [(), ("glc=1",), ("glc=1", "dlc=1")],
    "gfx11": [(), ("glc=1",)],
    "gfx12": [(), ("scope:SCOPE_SE",), ("scope:SCOPE_DEV",), ("scope:SCOPE_SYS",)],
}
OTHERS = {
    "gfx90a": [
        "s_waitcnt vmcnt(0)",
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        "buffer_wbinvl1_vol",
        "buffer_wbl2",
        "buffer_invl2",
    ],
    "gfx942": ["s_waitcnt vmcnt(0)", "buffer_inv sc1=1", "buffer_inv sc0=1 sc1=1", "buffer_wbl2 sc0=1 sc1=1"],
    "gfx10": ["s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) vscnt(0)", "buffer_gl0_inv", "buffer_gl1_inv"],
    "gfx11": ["s_waitcnt vmcnt(0)", "s_waitcnt vmcnt(0) vscnt(0)", "buffer_gl0_inv", "buffer_gl1_inv"],
    "gfx12": [
        "s_wait_loadcnt",
        "s_wait_storecnt",
        "s_wait_dscnt",
        "global_inv scope:SCOPE_DEV",
        "global_wb scope:SCOPE_SYS",
    ],
}


@dataclass(frozen=True)
class MachineProgram:
    """Machine programs of threads at their places; ``local``: y is in local memory."""

    family: str
    places: tuple[Place, ...]
    threads: tuple[tuple[MachineStep, ...], ...]
    local: bool

    def finals(self):
        """The terms, and each final value of them all."""
        accesses = [(t, step.does) for t, thread in enumerate(self.threads) for step in thread if step.does]
        terms = [FinalRegister(t, does.target) for t, does in accesses if not isinstance(does, Store)]
        terms += [Loc(name) for name in "xy" if any(does.address.name == name for _, does in accesses)]
        locations = (Location("x"), Location("y", region=Region.SHARED if self.local else Region.GLOBAL))
        condition = Condition(Quantifier.EXISTS, And(tuple(Atom("eq", term, 0) for term in terms)))
        threads = tuple(
            Thread(tuple(step.does for step in thread if step.does), place)
            for thread, place in zip(self.threads, self.places, strict=True)
        )
        found = outcomes(LitmusTest("random", threads, locations, condition), self.threads, FAMILIES[self.family])
        assert [*found.terms] == terms
        return terms, found.finals

    def changed(self, thread, at, steps):
        """The program with other steps in place of one."""
        own = self.threads[thread]
        threads = (*self.threads[:thread], (*own[:at], *steps, *own[at + 1 :]), *self.threads[thread + 1 :])
        return replace(self, threads=threads)


def family_key(family):
    return next(key for key in BITS if family.startswith(key))


def random_program(random, most):
    family = random.choice([*FAMILIES])
    places = tuple(random.choice(PLACES) for _ in range(random.choice([1, 2, 2, 2, 3])))
    local = FAMILIES[family].local and random.random() < 0.2 and len({place[:3] for place in places}) == 1
    threads = [[] for _ in places]
    for number in range(random.randint(2, most)):
        own = random.choice(threads)
        if random.random() > 0.6:
            opcode, *words = random.choice(OTHERS[family_key(family)]).split()
            own.append(MachineStep(MachineInstruction(opcode, tuple(words))))
            continue
        name = random.choice("xy")
        prefix, words = ("ds_", ()) if local and name == "y" else ("global_", random.choice(BITS[family_key(family)]))
        mode = Mode(Order.RELAXED, Scope.SYS) if random.random() < 0.2 else Mode()
        kind, does = random.choice(
            [
                ("load", Load(f"r{number}", Loc(name), mode)),
                ("load", Load(f"r{number}", Loc(name), mode)),
                ("store", Store(Loc(name), number + 1, mode)),
                ("store", Store(Loc(name), number + 1, mode)),
                ("atomic", Rmw("exch", f"r{number}", Loc(name), (number + 1,), mode)),
            ]
        )
        own.append(MachineStep(MachineInstruction(prefix + kind, words), does))
    return MachineProgram(family, places, tuple(map(tuple, threads)), local)


def less(program):
    """The programs with a step gone, or with one that does less; with each the value that goes with it, if one does."""
    for thread, steps in enumerate(program.threads):
        for at, step in enumerate(steps):
            written = step.does.value if isinstance(step.does, Store) else None
            written = step.does.operands[0] if isinstance(step.does, Rmw) else written
            yield program.changed(thread, at, ()), written
            if step.does is None:
                words = step.instruction.words
                for number in range(1, len(words) if step.instruction.is_wait else 1):
                    for kept in combinations(words, number):
                        yield program.changed(thread, at, [MachineStep(MachineInstruction("s_waitcnt", kept))]), None
                continue
            if step.does.mode.scope is not None:
                yield program.changed(thread, at, [replace(step, does=replace(step.does, mode=Mode()))]), None
            for bits in BITS[family_key(program.family)] if not step.instruction.opcode.startswith("ds_") else ():
                weaker = replace(step.instruction, words=bits)
                family = FAMILIES[program.family]
                if first_level(weaker, family) <= first_level(step.instruction, family):
                    yield program.changed(thread, at, [replace(step, instruction=weaker)]), None


def check_less(random, most):
    program = random_program(random, most)
    try:
        terms, finals = program.finals()
        for smaller, gone in less(program):
            left, found = smaller.finals()
            places = [terms.index(term) for term in left]
            for final in finals:
                wanted = [final[place] for place in places]
                assert not left or any(
                    all(value in (other, gone) for value, other in zip(wanted, values, strict=True)) for values in found
                ), (program, smaller, final)
    except StateLimitError:
        pass


@pytest.mark.parametrize("seed", range(4))
def test_a_machine_does_with_less_what_it_does_with_more(seed):
    random = Random(seed)
    for _ in range(25):
        check_less(random, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_a_machine_does_with_less_what_it_does_with_more_of_larger_programs(seed):
    random = Random(100 + seed)
    for _ in range(200):
        check_less(random, 8)


def test_a_load_less_leaves_the_line_that_it_brought_to_others():
    """P1's first load brings x=1 to its L0, where the last finds it after x=2 was written; another wave may as well."""

    def step(text, does=None):
        opcode, *words = text.split()
        return MachineStep(MachineInstruction(opcode, tuple(words)), does)

    wait = step("s_waitcnt vmcnt(0)")
    stores = [step("global_store", Store(Loc(name), value)) for name, value in (("x", 1), ("x", 2), ("y", 1))]
    loads = [
        step("global_load", Load("r0", Loc("x"))),
        step("global_load glc=1", Load("r1", Loc("y"))),
        step("global_load", Load("r2", Loc("x"))),
    ]
    writer = tuple(each for store in stores for each in (store, wait))
    reader = tuple(each for load in loads for each in (load, wait))
    whole = MachineProgram("gfx90a", (PLACES[0], PLACES[2]), (writer, reader), False)
    terms, finals = whole.finals()
    assert {"r0": 1, "r1": 1, "r2": 1} in [
        {term.register: value for term, value in zip(terms, final, strict=True) if isinstance(term, FinalRegister)}
        for final in finals
    ]
    terms, finals = whole.changed(1, 0, ()).finals()
    assert (1, 1) in [final[:2] for final in finals]


# The model


@dataclass(frozen=True)
class Bottomed(Vocabulary):
    """A vocabulary in which nothing is one step weaker than one word."""

    least: tuple[OpKind, Mode] | None = None

    def lower_orders(self, kind, mode):
        return () if (kind, mode) == self.least else super().lower_orders(kind, mode)

    def narrower(self, kind, mode):
        return None if (kind, mode) == self.least else super().narrower(kind, mode)

    def less_memory(self, kind, mode):
        return () if (kind, mode) == self.least else super().less_memory(kind, mode)


def minimal(words, events):
    question = SeparationQuestion(AMDGPU.model, spared=SPARED)
    return [
        execution
        for size in range(2, events + 1)
        for sizes in splits(size)
        for execution in solutions(Forbidden(question, words, sizes), "minisat22")
    ]


def as_tests(executions):
    return [litmus_test(execution, "test", observed=False) for execution in executions]


def check_raised(words, kind, mode, events):
    own = {field: getattr(words, field) for field in words.__dataclass_fields__}
    order = word_order(words)
    lost = [WordStep(kind, mode, weak, space) for weak in order.weaker[kind, mode] for space in ("", "global", LOCAL)]
    known = as_tests(minimal(words, events))
    more = [replace(test, name="test") for one in known for test in raised(one, lost, order)]
    found = {*map(litmus_digest, [*known, *more])}
    for execution in minimal(Bottomed(**own, least=(kind, mode)), events):  # which of its images is the solver's choice
        assert not found.isdisjoint(map(litmus_digest, as_tests(execution.images()))), execution
    for test in more:
        assert judge(test, AMDGPU.model, counts=False).answer is Answer.FORBIDDEN


def few_words():
    rows = [
        *("R @global -> global_load", "W @global -> global_store"),
        *(f"R.{order}.cta|gpu @global -> global_load" for order in ("relaxed", "acquire")),
        *(f"W.{order}.cta|gpu @global -> global_store" for order in ("relaxed", "release")),
    ]
    return words_of(read_table("\n".join(["machine gfx90a", *rows]), "few.seq"))


def test_stronger_tests_are_the_minimal_ones_with_a_word_in_place_of_weaker_ones():
    check_raised(few_words(), OpKind.READ, Mode(Order.ACQUIRE, Scope.GPU), 3)


@pytest.mark.slow
def test_stronger_tests_are_the_minimal_ones_for_every_word():
    words = few_words()
    for kind, modes in words.modes.items():
        for mode in modes:
            if mode.order is not Order.WEAK:
                check_raised(words, kind, mode, 4)


# Tables

SMALL = """machine gfx90a
R @global -> global_load
W @global -> global_store
R.acquire.gpu @global -> global_load glc=1; s_waitcnt vmcnt(0); buffer_wbinvl1_vol
W.release.gpu @global -> s_waitcnt vmcnt(0); global_store
"""
NO_AXIOM = AMDGPU.model
for _name in dict.fromkeys(check.name for check in AMDGPU.model.checks if not check.flag):
    NO_AXIOM = without_check(NO_AXIOM, _name)


def programs(sizes, words, kinds):
    """All programs of two threads apart whose threads have so many accesses of x and y, the first of x; ``kinds``: what
    each thread does."""
    ways = [
        [(kind, mode, name) for kind in own for mode in words.modes[kind] for name in "xy"]
        for size, own in zip(sizes, kinds, strict=True)
        for _ in range(size)
    ]
    for chosen in product(*ways):
        if chosen[0][2] == "x":
            steps = [
                Load(f"r{number}", Loc(name), mode) if kind is OpKind.READ else Store(Loc(name), number + 1, mode)
                for number, (kind, mode, name) in enumerate(chosen)
            ]
            yield steps[: sizes[0]], steps[sizes[0] :]


def is_wrong(table, sizes, kinds=((OpKind.READ, OpKind.WRITE),) * 2):
    """Whether the machine reaches an outcome of some program that the model forbids, and that no race comes with."""
    for threads in programs(sizes, words_of(table), kinds):
        accesses = [(t, ins) for t, code in enumerate(threads) for ins in code]
        terms = [FinalRegister(t, ins.target) for t, ins in accesses if isinstance(ins, Load)]
        terms += [Loc(name) for name in "xy" if any(ins.address.name == name for _, ins in accesses)]
        places = (Place(), Place(cta=1))
        bodies = tuple(Thread(tuple(code), place) for code, place in zip(threads, places, strict=True))
        locations = tuple(Location(name) for name in "xy")
        asked = And(tuple(Atom("eq", term, 0) for term in terms))
        test = LitmusTest("program", bodies, locations, Condition(Quantifier.EXISTS, asked))
        found = outcomes(test, translated(test, table), FAMILIES[table.machine])
        for final in found.finals:
            ends = And(tuple(Atom("eq", term, value) for term, value in zip(terms, final, strict=True)))
            reached = replace(test, condition=Condition(Quantifier.EXISTS, ends))
            if judge(reached, AMDGPU.model, counts=False).answer is Answer.FORBIDDEN:
                racing = replace(test, condition=Condition(Quantifier.EXISTS, And(()), ends))
                if not judge(racing, NO_AXIOM).flags:
                    return True
    return False


def is_found_wrong(table, events=4, threads=(2, 2)):
    check = checked_tables([NamedTable("small", table, "")], AMDGPU, (2, events), threads)
    done = search_tables(check, SearchRun(Unwritten(), "minisat22", 1))
    return bool(done.answers[0].bugs)


def test_a_table_is_wrong_where_an_enumeration_of_programs_finds_it_so():
    wrong = read_table(SMALL.replace("; buffer_wbinvl1_vol", ""), "small.seq")
    assert is_wrong(wrong, (2, 2), ((OpKind.WRITE,), (OpKind.READ,)))
    assert is_found_wrong(wrong)


@pytest.mark.slow
def test_tables_and_their_parts_less_are_wrong_as_an_enumeration_has_it():
    right = read_table(SMALL, "small.seq")
    swapped = SMALL.replace("global_load glc=1; s_waitcnt vmcnt(0); buffer", "global_load glc=1; buffer")
    strong = SMALL.replace("W.release.gpu @global -> s_waitcnt vmcnt(0); ", "W.release.gpu @global -> ")
    tables = [right, *(read_table(text, "small.seq") for text in (swapped, strong))]
    tables += [each.table for each in deletions(right)]
    verdicts = [is_found_wrong(table) for table in tables]
    assert verdicts == [any(is_wrong(table, sizes) for sizes in ((2, 1), (1, 2), (2, 2), (3, 1))) for table in tables]
    assert {*verdicts} == {True, False}


def test_words_are_spelled_as_in_rows():
    words = few_words()
    assert [spelled_mode(OpKind.READ, mode) for mode in words.modes[OpKind.READ]][:2] == ["R", "R.relaxed.cta"]
