"""Programs of C against the same as litmus tests, and what C computes against a compiler.

A random litmus test of C is also written as a program: its threads are functions that main creates and joins, and its
condition an assertion. Both have to be told the same under each model, races and outcomes. What expressions compute
when a program has one thread is held against gcc.
"""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from absent import absent
from programs import read_c

from constraints.executions import judge_by_sat
from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.dialects.registry import parse_litmus
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

ORDERS = {"load": ("relaxed", "acquire", "seq_cst"), "store": ("relaxed", "release", "seq_cst"),
          "rmw": ("relaxed", "acquire", "release", "acq_rel", "seq_cst")}  # fmt: skip
SEEDS = 25


def statement(rng, number, registers):
    """A statement as a litmus test has it, where locations are pointers, with the register that it writes, if any."""
    place, value, register = rng.choice("xy"), rng.randint(1, 2), f"r{number}"
    kind = rng.choice(("load", "load", "store", "store", "rmw", "cas", "fence", "plain", "read"))
    order = f"memory_order_{rng.choice(ORDERS.get(kind, ORDERS['rmw']))}"
    match kind:
        case "load":
            return f"int {register} = atomic_load_explicit({place}, {order});", register
        case "store":
            return f"atomic_store_explicit({place}, {rng.choice([value, *registers])}, {order});", None
        case "rmw":
            call = rng.choice(("exchange", "fetch_add", "fetch_or"))
            return f"int {register} = atomic_{call}_explicit({place}, {value}, {order});", register
        case "cas":
            call = (
                f"atomic_compare_exchange_strong_explicit({place}, &{register}, {value}, {order}, memory_order_relaxed)"
            )
            return f"int {register} = 0; {call};", register
        case "fence":
            return f"atomic_thread_fence({order});", None
        case "plain":
            return f"*z = {value};", None
    return f"int {register} = *z;", register


def thread(rng, start):
    lines, registers = [], []
    for number in range(start, start + rng.randint(1, 3)):
        line, register = statement(rng, number, registers)
        if registers and rng.random() < 0.3 and register is None:
            line = f"if ({registers[-1]} == {rng.randint(0, 1)}) {{ {line} }}"
        lines.append(line)
        registers += [register] if register else []
    return lines, registers


def pair(seed):
    """A litmus test and a program: equal threads, and an outcome that the program asserts not to be."""
    rng = random.Random(seed)
    bodies = [thread(rng, 10 * n) for n in range(2)]
    terms = [(n, register) for n, (_, registers) in enumerate(bodies) for register in registers]
    asked = [(*term, rng.randint(0, 2)) for term in rng.sample(terms, min(len(terms), 2))]
    last = rng.randint(0, 2)
    parameters = "(atomic_int* x, atomic_int* y, int* z)"
    litmus = "C t\n{ }\n" + "".join(
        f"P{n} {parameters} {{ {' '.join(lines)} }}\n" for n, (lines, _) in enumerate(bodies)
    )
    litmus += "exists (" + " /\\ ".join([f"x = {last}", *(f"{n}:{name} = {value}" for n, name, value in asked)]) + ")\n"
    kept = [f"int k{n}_{name};" for n, name in terms]
    threads = [
        f"void *t{n}(void *a) {{ atomic_int *x = &gx, *y = &gy; int *z = &gz; {' '.join(lines)} "
        + " ".join(f"k{n}_{name} = {name};" for name in registers)
        + " return 0; }"
        for n, (lines, registers) in enumerate(bodies)
    ]
    outcome = " && ".join([f"gx == {last}", *(f"k{n}_{name} == {value}" for n, name, value in asked)])
    program = "\n".join(
        [
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>",
            "atomic_int gx, gy; int gz;",
            *kept,
            *threads,
            "int main(void) { pthread_t a, b; pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);",
            f"pthread_join(a, 0); pthread_join(b, 0); assert(!({outcome})); return 0; }}",
        ]
    )
    return litmus, program


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["rc11", "c11", "sc"])
def test_a_program_is_told_as_its_litmus_test(name):
    (model,) = resolve_consistency_models([name])
    seen = set()
    for seed in range(SEEDS):
        litmus, program = pair(seed)
        judged = judge_by_sat(parse_litmus(litmus), model.model)
        module = read_c(program, "t.c")
        found = check(program_of(module, module.functions["main"], KernelLaunch()), model, "", 2, "fair")
        allowed = str(judged.answer) == "ALLOWED"
        assert (found.answers["trap"] is CheckAnswer.FOUND) is allowed, (seed, litmus, program)
        races = found.answers["race"]
        if races is not CheckAnswer.UNKNOWN:
            assert (races is CheckAnswer.FOUND) is ("data-race" in judged.flags), (seed, litmus, program)
        seen.add((allowed, races))
    assert {allowed for allowed, _ in seen} == {True, False}
    assert name == "sc" or {races for _, races in seen} == {CheckAnswer.SAFE, CheckAnswer.FOUND}


KINDS = ("int", "unsigned", "long", "unsigned long", "signed char", "unsigned char", "short", "unsigned short")


def expression(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(("a", "b", "c", "d", "e", str(rng.randint(0, 9)), f"{rng.randint(0, 1 << 33)}L", "3u", "'x'"))
    one, other = expression(rng, depth - 1), expression(rng, depth - 1)
    match rng.randrange(8):
        case 0:
            return f"({rng.choice('-~!')}{one})"
        case 1:
            return f"({one} {rng.choice(('<', '<=', '==', '!=', '>', '>='))} {other})"
        case 2:
            return f"({one} ? {other} : {expression(rng, depth - 1)})"
        case 3:
            return f"(({rng.choice(KINDS)}){one})"
        case 4:
            return f"({one} {rng.choice(('&&', '||', '&', '|', '^'))} {other})"
        case 5:
            return f"({one} {rng.choice(('/', '%'))} {rng.choice(('7', '-3', '5u', '11L'))})"
        case 6:
            return f"((unsigned long){one} {rng.choice(('<<', '>>'))} {rng.randint(0, 31)})"
    return f"((unsigned long){one} {rng.choice('+-*')} {other})"


@pytest.mark.device
def test_expressions_are_computed_as_a_compiler_has_them(tmp_path):
    gcc = shutil.which("gcc")
    if gcc is None:
        absent("gcc is needed")
    rng = random.Random(5)
    expressions = [expression(rng, 4) for _ in range(150)]
    values = "int a = -5; unsigned b = 4000000000u; long c = -1234567890123L; unsigned char d = 200; short e = -300;"
    source, program = tmp_path / "e.c", tmp_path / "e"
    prints = "\n".join(f'printf("%lu\\n", (unsigned long)({each}));' for each in expressions)
    source.write_text(f"#include <stdio.h>\nint main(void) {{ {values}\n{prints}\nreturn 0; }}\n")
    subprocess.run([gcc, "-w", "-std=c11", "-fwrapv", "-o", program, source], check=True, timeout=60)
    told = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    asserts = "\n".join(
        f"assert((unsigned long)({each}) == {value}UL);" for each, value in zip(expressions, told, strict=True)
    )
    module = read_c(f"#include <assert.h>\nint main(void) {{ {values}\n{asserts}\nreturn 0; }}\n", "e.c")
    left = program_of(module, module.functions["main"], KernelLaunch())
    failing = {ins.line - 2 for row in left.origins for ins in row if ins is not None}
    assert [expressions[line - 1] for line in sorted(failing)] == []
