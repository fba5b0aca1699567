"""docs/webgpu-cts.md: which tests of WebGPU's conformance suite the suite of the model ``webgpu`` has, and back.

The conformance suite's tests are the rows of webgpu_cts.csv, in OpenCL's words as ours are; an ``add`` whose outcome
says what it reads is the exchange that it then is. ``webgpu_suite.jsonl`` is our suite of two to four events. Tests are
the same where they are isomorphic. A row has a test of ours inside it where some of its instructions, and of its
outcome what is about them, are that test: then the row's outcome is ours with more asked for. An rmw may lose its read
or its write for that, and a barrier goes from both invocations.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from commands import synth
from litmus_isomorphism import least_text

from corpus.dialects.registry import parse_litmus
from corpus.litmus.instructions import Barrier, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Region
from corpus.litmus.orders import Place
from corpus.litmus.propositions import And, Atom, FinalRegister, atoms_of
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "webgpu-cts.md"
SUITE = HERE / "webgpu_suite.jsonl"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"
FENCES = {"storage": "CLK_GLOBAL_MEM_FENCE", "workgroup": "CLK_LOCAL_MEM_FENCE"}
RELAXED = "memory_order_relaxed, memory_scope_device"

with (HERE / "webgpu_cts.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


def statement(text: str, atomic: bool, memory: str) -> str:
    """A statement of a row in OpenCL C."""
    match text.split():
        case ["barrier"]:
            return f"barrier({FENCES[memory]});"
        case ["exchange", location, value]:
            return f"int r9 = atomic_exchange_explicit({location}, {value}, {RELAXED});"
        case [register, "=", "add", location, value]:
            return f"int {register} = atomic_fetch_add_explicit({location}, {value}, {RELAXED});"
        case [location, "=", value] if value.isdecimal():
            return f"atomic_store_explicit({location}, {value}, {RELAXED});" if atomic else f"*{location} = {value};"
        case [register, "=", location]:
            return f"int {register} = {f'atomic_load_explicit({location}, {RELAXED})' if atomic else f'*{location}'};"
    raise ValueError(text)


def of_row(row: dict[str, str]) -> LitmusTest:
    """The test of a row, which is not one of textures or of halves of words."""
    how, memory = row["memory"].split()
    bodies = [body.split("; ") for body in (row["first"], row["second"]) if body]
    names = sorted(set(re.findall(r"\b[xyz]\b", " ".join(row.values()))))
    kind = f"{'global' if memory == 'storage' else 'local'} {'atomic_int' if how == 'atomic' else 'int'}*"
    given = ", ".join(f"{kind} {name}" for name in names)
    threads, owner = [], {}
    for number, body in enumerate(bodies):
        code = " ".join(statement(each, how == "atomic", memory) for each in body)
        group = number if row["groups"] == "two" else 0
        threads.append(f"P{number}@wg {group}, dev 0 ({given}) {{ {code} }}")
        owner |= {each.split()[0]: f"{number}:" for each in body if each[0] == "r"}
    asked = [part.split("=") for part in row["weak"].split()]
    outcome = " /\\ ".join(f"{owner.get(name, '')}{name} = {value}" for name, value in asked)
    start = "; ".join(f"{name} = 0" for name in names)
    return parse_litmus("\n\n".join([f"OPENCL t\n{{ {start}; }}", *threads, f"exists ({outcome})\n"]))


def parts(test: LitmusTest) -> dict[FinalRegister | Loc, int]:
    """What an outcome asks of each term."""
    return {atom.left: atom.right for atom in atoms_of(test.condition.proposition)}


def tidied(test: LitmusTest) -> LitmusTest:
    """A test without what its outcome does not ask: loads, results of rmws, locations; an ``add`` is an exchange."""
    asked = parts(test)

    def kept(number: int, ins: Instruction) -> Iterator[Instruction]:
        match ins:
            case Load(target=target) if FinalRegister(number, target) not in asked:
                return
            case Rmw(operation="add", target=target, operands=(operand,)) if FinalRegister(number, target) in asked:
                yield replace(ins, operation="exch", operands=(asked[FinalRegister(number, target)] + operand,))
            case Rmw(target=target) if FinalRegister(number, target) not in asked:
                yield replace(ins, target=None)
            case _:
                yield ins

    bodies = [
        tuple(each for ins in thread.instructions for each in kept(n, ins)) for n, thread in enumerate(test.threads)
    ]
    used = {ins.address.name for body in bodies for ins in body if not isinstance(ins, Barrier)}
    threads = tuple(replace(thread, instructions=body) for thread, body in zip(test.threads, bodies, strict=True))
    return replace(test, threads=threads, locations=tuple(each for each in test.locations if each.name in used))


def anywhere(test: LitmusTest) -> LitmusTest:
    """A test of no barriers with all of its threads in workgroups of their own and its locations in storage."""
    if any(isinstance(ins, Barrier) for thread in test.threads for ins in thread.instructions):
        return test
    threads = tuple(replace(thread, place=Place(cta=number)) for number, thread in enumerate(test.threads))
    return replace(
        test, threads=threads, locations=tuple(replace(each, region=Region.GLOBAL) for each in test.locations)
    )


def within(test: LitmusTest, most: int) -> Iterator[LitmusTest]:
    """The tests of at most so many instructions that are inside a test, and smaller."""

    def choices(ins: Instruction) -> list[Instruction | None]:
        smaller: list[Instruction | None] = [ins] if isinstance(ins, Barrier) else [None, ins]
        if isinstance(ins, Rmw):
            smaller.append(Store(ins.address, ins.operands[0], ins.mode))
            smaller += [Load(ins.target, ins.address, ins.mode)] if ins.target is not None else []
        return smaller

    every = [[choices(ins) for ins in thread.instructions] for thread in test.threads]
    meetings = sum(isinstance(ins, Barrier) for ins in test.threads[0].instructions)
    asked = parts(test)
    for bodies in product(*(product(*body) for body in every)):
        for met in product((False, True), repeat=meetings):
            chosen = []
            for body in bodies:
                held = iter(met)
                chosen.append([ins for ins in body if ins is not None and (not isinstance(ins, Barrier) or next(held))])
            if sum(map(len, chosen)) > most:
                continue
            loaded = {
                FinalRegister(number, ins.target)
                for number, body in enumerate(chosen)
                for ins in body
                if isinstance(ins, Load | Rmw)
            }
            ends = [term for term in asked if isinstance(term, Loc)]
            for count in product((False, True), repeat=len(ends)):
                finals = {term for term, keep in zip(ends, count, strict=True) if keep}
                terms = [term for term in asked if term in loaded or term in finals]
                smaller = composed(test, chosen, terms)
                if smaller is not None:
                    yield smaller


def composed(test: LitmusTest, bodies: list[list[Instruction]], asked: list[FinalRegister | Loc]) -> LitmusTest | None:
    """The test of some instructions and some of the outcome, None where there is none."""
    left = [number for number, body in enumerate(bodies) if any(not isinstance(ins, Barrier) for ins in body)]
    if not left or not asked or any(isinstance(term, FinalRegister) and term.thread not in left for term in asked):
        return None
    used = {ins.address.name for number in left for ins in bodies[number] if not isinstance(ins, Barrier)}
    if any(isinstance(term, Loc) and term.name not in used for term in asked):
        return None
    atom = parts(test)

    def named(term: FinalRegister | Loc) -> FinalRegister | Loc:
        return replace(term, thread=left.index(term.thread)) if isinstance(term, FinalRegister) else term

    wanted = tuple(Atom("eq", named(term), atom[term]) for term in asked)
    return replace(
        test,
        threads=tuple(Thread(tuple(bodies[number]), test.threads[number].place) for number in left),
        locations=tuple(each for each in test.locations if each.name in used),
        condition=replace(test.condition, proposition=wanted[0] if len(wanted) == 1 else And(wanted)),
    )


SAME, PLACED, INSIDE, TEXTURES, HALVES, ABSENT = "the same", "placed", "inside", "textures", "narrow", ""


def compared() -> tuple[list[tuple[str, str]], list[str]]:
    """To each row, how our suite has it and by which test of it, and the names of our tests."""
    records = [json.loads(line) for line in SUITE.read_text(encoding="utf-8").splitlines()]
    ours = {record["name"]: tidied(parse_litmus(record["text"])) for record in records}
    exact = {least_text(test): name for name, test in ours.items()}
    loose = {least_text(anywhere(test)): name for name, test in ours.items()}
    most = max(map(size, ours.values()))

    def of(row: dict[str, str]) -> tuple[str, str]:
        if row["memory"].endswith("texture"):
            return TEXTURES, ""
        if row["memory"].startswith("f16"):
            return HALVES, ""
        test = tidied(of_row(row))
        if name := exact.get(least_text(test)):
            return SAME, name
        if name := loose.get(least_text(anywhere(test))):
            return PLACED, name
        for smaller in sorted(within(test, most), key=size, reverse=True):
            if name := exact.get(least_text(smaller)) or loose.get(least_text(anywhere(smaller))):
                return INSIDE, name
        return ABSENT, ""

    return [of(row) for row in ROWS], list(ours)


def size(test: LitmusTest) -> int:
    """The number of its instructions."""
    return sum(len(thread.instructions) for thread in test.threads)


def tables() -> str:
    """What the document says."""
    found, ours = compared()
    lines = ["| its test | memory | workgroups | ours | |", "|---|---|---|---|---|"]
    for row, (how, name) in zip(ROWS, found, strict=True):
        variant = " (rmw)" if "rmw_variant" in row["source"] else ""
        variant = " (uniform load)" if "workgroupUniformLoad" in row["source"] else variant
        ticked = f"`{name}`" if name else ""
        lines.append(f"| {row['test']}{variant} | {row['memory']} | {row['groups']} | {ticked} | {how} |")
    counts = Counter(how for how, _ in found)
    lines += ["", f"{len(ROWS)} tests: " + ", ".join(f"{counts[how]} {how}" for how in HOW if counts[how]) + ".", ""]
    lines += ["| our test | the same | placed | inside |", "|---|---|---|---|"]
    for name in ours:
        counts = Counter(how for how, other in found if other == name)
        lines.append(f"| `{name}` | {counts[SAME] or ''} | {counts[PLACED] or ''} | {counts[INSIDE] or ''} |")
    lacking = len(set(ours) - {name for how, name in found})
    only_inside = len({name for how, name in found if how == INSIDE} - {name for how, name in found if how != INSIDE})
    lines += ["", f"{len(ours)} tests: {lacking} are in none of its tests, {only_inside} in larger ones alone."]
    return "\n".join(lines) + "\n"


HOW = (SAME, PLACED, INSIDE, TEXTURES, HALVES)


def test_the_document_has_the_tables(request: pytest.FixtureRequest) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    assert begin and end
    made = f"{before}{BEGIN}{tables()}{END}{after}"
    if request.config.getoption("--promote"):
        DOCUMENT.write_text(made, encoding="utf-8")
    assert made == DOCUMENT.read_text(encoding="utf-8"), "if it should change: pytest --promote"


def test_nothing_but_textures_and_halves_of_words_is_absent() -> None:
    found, _ = compared()
    assert ABSENT not in [how for how, _ in found]


def test_a_test_that_is_none_of_ours_is_absent() -> None:
    row = {"memory": "atomic storage", "groups": "two", "first": "x = 1", "second": "r0 = x", "weak": "r0=1"}
    test = tidied(of_row(row))
    exact = {least_text(tidied(parse_litmus(json.loads(line)["text"]))) for line in SUITE.read_text().splitlines()}
    assert not exact & {least_text(each) for each in (test, *within(test, 4))}


@pytest.mark.slow
def test_the_suite_is_what_synth_makes(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    words = ["memory", "--from", "webgpu", "--events", "2..4", "-o", str(tmp_path / "suite")]
    assert synth(*words).exit_code == 0
    made = (tmp_path / "suite" / "tests.jsonl").read_text(encoding="utf-8")
    if request.config.getoption("--promote"):
        SUITE.write_text(made, encoding="utf-8")
    assert made == SUITE.read_text(encoding="utf-8"), "if it should change: pytest --promote"
