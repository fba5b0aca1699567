"""Which models can see initial writes: held to their verdicts on executions that have none, but for what fr says."""

from random import Random

import pytest
from litmus_models import choosing, odd, shipped
from random_executions import OPENCL, PTX, random_execution

from corpus.executions.litmus import litmus_test
from oracle.cat.algebra import bits
from oracle.cat.interpreter import checked_model
from oracle.cat.syntax import parse_cat
from oracle.executions.candidates import candidates
from oracle.executions.events import VOCABULARY
from oracle.executions.initial import sees_initial_writes
from oracle.executions.threads import unroll_threads


def model(text):
    return checked_model("m", parse_cat(text, "m.cat"), VOCABULARY)


@pytest.mark.parametrize(
    ("text", "sees"),
    [
        ("acyclic po | rf | co | fr as sc", False),
        ("acyclic po | rf | co | rf^-1; co as sc", True),
        ("let fr = rf^-1; co acyclic po | rf | co | fr as sc", True),
        ("acyclic po | rf | co | (R * IW) as initial", True),
        ("acyclic po | rf | co | (IW * R) as initial", False),
        ("empty [IW]; rf as initial", True),
        ("empty rf; [IW] as initial", False),
        ("irreflexive loc as none", True),
        ("irreflexive loc & po; rf as apart", False),
        ("acyclic (po; loc) \\ po as on", False),
        ("acyclic (po; loc; loc) \\ po as through", True),
        ("acyclic po | [domain(rf^-1)] as read", True),
        ("acyclic po | [W \\ range(co)] as first", True),
        ("empty ((po \\ id); loc); rf as distinct", True),
        ("empty (po & ~id); rf^-1 as distinct", True),
        ("let rec r = po | (r; r) acyclic r | co as rec", False),
        ("let rec r = loc | (r; r) acyclic r & po as rec", True),
        ("acyclic po as po flag ~empty rf & (IW * _) as initial", True),
        ("empty ext & (W * R) & ~rf & 0 as nothing", False),
    ],
)
def test_models_that_see_initial_writes(text, sees):
    assert sees_initial_writes(model(text.replace(" flag", "\nflag").replace(" acyclic r", "\nacyclic r"))) is sees


def test_what_ships_sees_none_but_models_whose_initial_writes_happen_before_what_reads_them():
    seen = {name for name, model in shipped().items() if sees_initial_writes(model)}
    # A plain read must read what is visible to it, and returns undef in LLVM where that is not one write.
    assert seen == {"amdgpu", "c11", "opencl"}
    assert sees_initial_writes(odd()["complements"])


class Without:
    """A base without its initial writes."""

    def __init__(self, base):
        self._base = base
        self._kept = [index for index, event in enumerate(base.events) if event.thread != -1]
        self._new = {index: number for number, index in enumerate(self._kept)}
        self.algebra = bits(base.algebra.true.bit_length(), len(self._kept))

    def value(self, name):
        value = self._base.relation("fr") if name == "fr" else self._base.value(name)
        if not isinstance(value, tuple):
            return None if value is None else self._restricted(value)
        return tuple(self._restricted(value[index]) for index in self._kept)

    def _restricted(self, row):
        return {self._new[index]: truth for index, truth in row.items() if index in self._new}


def executions(rng, count):
    """Candidates of random tests, with those that fit."""
    for seed in range(count):
        execution = random_execution(rng, (PTX, OPENCL)[seed % 2], size=5)
        test = litmus_test(execution, "test", observed=False)
        for batch in candidates(test, unroll_threads(test, 0), choosing(fences=True)):
            yield batch.base, batch.valid


def same_verdicts(model, found):
    """Whether every check is the same with and without initial writes."""
    for base, valid in found:
        with_them, without = (model.judge(each) for each in (base, Without(base)))
        if any((one.truth ^ other.truth) & valid for one, other in zip(with_them, without, strict=True)):
            return False
    return True


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [*shipped(), *odd()])
def test_models_that_see_none_say_the_same_without_them(name):
    found = (shipped() | odd())[name]
    if not sees_initial_writes(found):
        assert same_verdicts(found, executions(Random(name), 12))


NAMES = ["po", "rf", "co", "fr", "loc", "ext", "int", "rmw", "id", "po-loc", "rfe", "addr", "sr", "sys"]
EVENTS = ["R", "W", "M", "IW", "F", "_", "ATOM", "WEAK", "GLOBAL", "RMW"]


def random_set(rng, depth):
    if depth == 0 or rng.random() < 0.4:
        return rng.choice(EVENTS)
    match rng.randrange(4):
        case 0:
            return f"({random_set(rng, depth - 1)} {rng.choice('|&')} {random_set(rng, depth - 1)})"
        case 1:
            return f"({random_set(rng, depth - 1)} \\ {random_set(rng, depth - 1)})"
        case 2:
            return f"{rng.choice(['domain', 'range'])}({random_relation(rng, depth - 1)})"
        case _:
            return f"(~{random_set(rng, depth - 1)})"


def random_relation(rng, depth):
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(NAMES)
    one = random_relation(rng, depth - 1)
    match rng.randrange(8):
        case 0 | 1:
            return f"({one}; {random_relation(rng, depth - 1)})"
        case 2 | 3:
            return f"({one} {rng.choice('|&')} {random_relation(rng, depth - 1)})"
        case 4:
            return f"({one} \\ {random_relation(rng, depth - 1)})"
        case 5:
            return f"({one}){rng.choice(['+', '*', '?', '^-1'])}"
        case 6:
            return rng.choice([f"[{random_set(rng, depth - 1)}]", f"(~{one})"])
        case _:
            return f"({random_set(rng, depth - 1)} * {random_set(rng, depth - 1)})"


def test_random_models_that_see_none_say_the_same_without_them():
    rng = Random(7)
    found = list(executions(rng, 15))
    blind = telling = 0
    while blind < 200:
        kind = rng.choice(["empty", "acyclic", "irreflexive"])
        text = f"{kind} {random_relation(rng, 4)} as check"
        read = model(text)
        if sees_initial_writes(read):
            continue
        blind += 1
        assert same_verdicts(read, found), text
        telling += any(0 < (result.truth & valid) < valid for base, valid in found for result in read.judge(base))
    assert telling > 4
