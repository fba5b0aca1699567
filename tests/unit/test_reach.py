"""Programs access no word but those of their test's locations: what might is refused, and what tests have is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import pytest

from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from backends.shared.reach import MOST, check_accesses
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Assign, Branch, Comparison, Instruction, Label, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Reg
from corpus.litmus.test import LitmusTest
from oracle.executions.values import Address, Value, address_of, calculate

MEMORY = ["opencl", "cuda", "hip", "cpp", "glsl", "wgsl", "metal"]
BASE = parse_litmus(
    "PTX t\n{ x=0; y=7; }\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 1 | st.weak y, 1 ;\nexists (x == 1)\n"
)
A, B, C, R = Reg("a"), Reg("b"), Reg("c"), Reg("r")
X, Y = Loc("x"), Loc("y")
PTX = """GPU_PTX t
{ 0:.reg .s32 r0; 0:.reg .s32 r1; 0:.reg .s32 r4; 0:.reg .b64 r2 = x; 0:.reg .b64 r3; }
 T0                       ;
 ld.s32 r0,[r2]           ;
 and.b32 r1,r0,0x80000000 ;
 cvt.u64.u32 r3,r1        ;
 add.u64 r3,r2,r3         ;
 st.s32 [r3],1            ;
ScopeTree(grid(cta(warp T0)))
x: global
exists (0:r0=0)
"""


def program(*threads: list[Instruction]) -> LitmusTest:
    """A test of this code; x is 0 at the start and y 7."""
    return replace(BASE, threads=tuple(replace(BASE.threads[0], instructions=tuple(code)) for code in threads))


def jump(label: str, register: Reg | None = None) -> Branch:
    return Branch(label, None if register is None else Comparison("ne", register, 0))


KEPT = {
    "a dependency by and": [Load("a", X), Assign("b", "and", (A, 1 << 30)), Assign("c", "add", (Y, B)), Load("r", C)],
    "a dependency by xor": [Load("a", X), Assign("b", "xor", (A, A)), Assign("c", "add", (B, Y)), Store(C, 1)],
    "a dependency by sub": [
        Load("a", X),
        Assign("b", "sub", (A, A)),
        Assign("c", "sub", (Y, B)),
        Rmw("exch", "r", C, (1,)),
    ],
    "times 0": [Load("a", X), Assign("b", "mul", (A, 0)), Assign("c", "add", (Y, B)), Load("r", C)],
    "there and back": [Assign("a", "add", (X, 3)), Assign("a", "sub", (A, 3)), Load("r", A)],
    "one of two": [
        Load("r", Y),
        Assign("a", "mov", (X,)),
        jump("L", R),
        Assign("a", "mov", (Y,)),
        Label("L"),
        Load("b", A),
    ],
    "set after a jump back": [Label("L"), Assign("a", "mov", (X,)), Load("r", A), jump("L", R)],
    "never run": [jump("L"), Load("r", A), Label("L")],
    "compared": [
        Load("a", X),
        Assign("b", "lt", (A, 100)),
        Assign("b", "and", (B, 2)),
        Assign("c", "add", (X, B)),
        Load("r", C),
    ],
}
REFUSED = {
    "added": ([Assign("a", "add", (X, 1)), Store(A, 1)], "its address may be &x+1, and each location stands by itself"),
    "taken away": ([Assign("a", "sub", (X, 1)), Store(A, 1)], "its address may be &x-1"),
    "far away": ([Assign("a", "add", (X, 1 << 30)), Store(A, 1)], "its address may be &x+1073741824"),
    "read": ([Load("a", Y), Assign("b", "add", (X, A)), Store(B, 1)], "its address may be &x+7"),
    "a number in a branch": (
        [Assign("a", "mov", (5,)), Load("r", X), jump("L", R), Assign("a", "mov", (X,)), Label("L"), Store(A, 1)],
        "its address may be the number 5",
    ),
    "not set in a branch": (
        [Load("r", X), jump("L", R), Assign("a", "mov", (X,)), Label("L"), Load("b", A)],
        "its address may be the number 0",
    ),
    "set at the end of a loop": (
        [Assign("a", "mov", (X,)), Label("L"), Load("r", A), Assign("a", "add", (A, 4)), jump("L", R)],
        "what is added to one is not known",
    ),
    "bits of anything": (
        [Rmw("add", "a", X, (1,)), Assign("b", "and", (A, 1)), Assign("c", "add", (Y, B)), Load("r", C)],
        "its address may be &y+1",
    ),
    "the difference of two reads": (
        [Store(Y, 8), Load("a", Y), Load("b", Y), Assign("c", "sub", (A, B)), Assign("c", "add", (X, C)), Load("r", C)],
        "its address may be &x-1",
    ),
    "counted in a loop": (
        [Label("L"), Rmw("add", "a", X, (1,)), Assign("c", "add", (Y, A)), Load("r", C), jump("L", R)],
        "what is added to one is not known",
    ),
}


@pytest.mark.parametrize("code", KEPT.values(), ids=KEPT)
def test_what_keeps_to_locations_passes(code):
    check_accesses(program(code))


@pytest.mark.parametrize(("code", "message"), REFUSED.values(), ids=REFUSED)
def test_what_might_leave_them_is_refused(code, message):
    with pytest.raises(InputError) as error:
        check_accesses(program([Load("r", X)], code))
    assert error.value.message.startswith("P1: ") and message in error.value.message


def test_what_another_thread_writes_counts():
    reader = [Load("a", X), Assign("b", "add", (Y, A)), Load("r", B)]
    check_accesses(program(reader))
    for write in (Store(X, 1), Rmw("exch", None, X, (1,)), Rmw("cas", None, X, (7, 1)), Rmw("or", None, X, (1,))):
        with pytest.raises(InputError, match=r"&y\+1"):
            check_accesses(program(reader, [write]))


@pytest.mark.parametrize(("most", "message"), [(MOST - 1, r"&y\+1"), (MOST, "is not known")])
def test_more_values_than_are_followed_are_any(most, message):
    code = [Load("a", X), Assign("b", "and", (A, 1)), Assign("c", "add", (Y, B)), Load("r", C)]
    with pytest.raises(InputError, match=message):
        check_accesses(program(code, [Store(X, number) for number in range(1, most + 1)]))


@pytest.mark.parametrize("backend", MEMORY)
def test_every_language_refuses_what_might_leave_the_memory(backend):
    def made(text: str) -> object:
        return BACKENDS[backend].memory_files("t", place(parse_litmus(text), Parameters(instances=64)))

    if backend not in ("glsl", "wgsl", "metal", "web"):  # which have no plain accesses or no such fences
        made(PTX)
    with pytest.raises(InputError, match=r"P0: st \[r3\], 1: its address may be &x\+1073741824"):
        made(PTX.replace("and.b32 r1,r0,0x80000000", "add.s32 r1,r0,0x40000000"))


def accesses(test: LitmusTest, rng: Random) -> list[Value]:
    """The addresses of a run of a test, up to 60 steps of its threads in any order; no more where a value has no
    meaning."""
    memory: dict[Value, Value] = {address_of(each.name): each.initial for each in test.locations}
    own: list[dict[str, Value]] = [{} for _ in test.threads]
    at, found = [0] * len(test.threads), []
    for _ in range(60):
        ready = [number for number, thread in enumerate(test.threads) if at[number] < len(thread.instructions)]
        if not ready:
            break
        number = rng.choice(ready)
        code, registers = test.threads[number].instructions, own[number]
        ins = code[at[number]]
        at[number] += 1
        match ins:
            case Assign(target, operation, given):
                values = [value(each, registers) for each in given]
                made = values[0] if operation == "mov" else calculate(operation, *values)
                if made is None:
                    return found
                registers[target] = made
            case Load(target, address):
                found.append(value(address, registers))
                registers[target] = memory.get(found[-1], 0)
            case Store(address, operand):
                found.append(value(address, registers))
                memory[found[-1]] = value(operand, registers)
            case Branch(label, condition):
                if value(condition.left, registers) != 0:
                    at[number] = code.index(Label(label))
    return found


def value(operand: Operand, registers: Mapping[str, Value]) -> Value:
    match operand:
        case Reg(name):
            return registers.get(name, 0)
        case Loc(name):
            return address_of(name)
    return operand


def test_no_run_of_a_test_that_passes_leaves_its_locations():
    rng = Random(5)
    passed = left = 0
    for _ in range(1000):
        test = program(*(random_code(rng) for _ in range(2)))
        try:
            check_accesses(test)
        except InputError:
            left += any(not on_a_location(each) for _ in range(5) for each in accesses(test, rng))
            continue
        used = [each for _ in range(5) for each in accesses(test, rng)]
        assert all(map(on_a_location, used)), test
        passed += any(
            isinstance(getattr(ins, "address", None), Reg) for each in test.threads for ins in each.instructions
        )
    assert passed > 50 and left > 50


def on_a_location(value: Value) -> bool:
    return value in (Address("x"), Address("y"))


def random_code(rng: Random) -> list[Instruction]:
    """Addresses go to registers that begin with ``p``, and numbers to the others."""
    code: list[Instruction] = [Assign("p", "mov", (X,)), Assign("q", "mov", (Y,))]
    for _ in range(rng.randint(2, 6)):
        number = rng.choice([Reg("a"), Reg("b"), 0, 1, -1])
        pointer, target = Reg(rng.choice("pq")), rng.choice("ab")
        operations = rng.choice(["and", "xor", "sub", "mul", "add", "eq"])
        code.append(
            rng.choice(
                [
                    Load(target, pointer),
                    Store(pointer, number),
                    Assign(target, operations, (Reg(rng.choice("ab")), number)),
                    Assign(rng.choice("pq"), rng.choice(["add", "sub"]), (pointer, number)),
                    Assign(rng.choice("pq"), "mov", (rng.choice([X, Y]),)),
                ]
            )
        )
    if rng.random() < 0.5:
        code.insert(rng.randint(2, len(code)), Label("L"))
        code.insert(rng.randint(2, len(code)), Branch("L", Comparison("ne", Reg(rng.choice("ab")), 0)))
    return code
