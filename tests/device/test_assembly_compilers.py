"""g++ and clang compile C tests for four processors, and what comes out is read back and judged.

A compiler that is planted wrong, by a change of its assembly, is caught by one of the tests.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from absent import absent
from commands import synth

from backends.code_languages import CODE_LANGUAGES
from backends.cpp.reading import LEVELS, SOURCE, TARGETS
from backends.shared.readback import CompiledTest
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest
from synth.translation.compiled import models_of
from synth.translation.judging import TranslationVerdict, judge_translation

pytestmark = pytest.mark.device

ROOT = Path(__file__).parents[2]


def litmus_of(name: str, state: str, condition: str, *threads: str) -> LitmusTest:
    """A C test of threads in few words: ``x = 1 rel``, ``r0 = y acq``, ``fence sc``, ``r0 = exch y 2 ar``."""
    code = []
    for number, thread in enumerate(threads):
        lines = "".join(f"  {statement(words.split())};\n" for words in thread.split(";"))
        names = sorted(set(re.findall(r"\b[xyz]\b", thread)))
        code.append(f"P{number} ({', '.join(f'atomic_int* {each}' for each in names)}) {{\n{lines}}}\n")
    return parse_litmus(f"C {name}\n{{ {state} }}\n{''.join(code)}exists ({condition})\n")


ORDERS = {"rlx": "relaxed", "acq": "acquire", "rel": "release", "ar": "acq_rel", "sc": "seq_cst"}


def statement(words: Sequence[str]) -> str:
    order = f"memory_order_{ORDERS[words[-1]]}"
    match words[:-1]:
        case ["fence"]:
            return f"atomic_thread_fence({order})"
        case [target, "=", "exch", location, value]:
            return f"int {target} = atomic_exchange_explicit({location}, {value}, {order})"
        case [target, "=", "add", location, value]:
            return f"int {target} = atomic_fetch_add_explicit({location}, {value}, {order})"
        case [target, "=", "cas", location, expected, value]:
            failure = "memory_order_acquire" if words[-1] in ("ar", "sc") else "memory_order_relaxed"
            call = f"atomic_compare_exchange_strong_explicit({location}, &{target}, {value}, {order}, {failure})"
            return f"int {target} = {expected}; {call}"
        case [location, "=", value] if value.isdigit():
            return f"atomic_store_explicit({location}, {value}, {order})"
        case [target, "=", location]:
            return f"int {target} = atomic_load_explicit({location}, {order})"
    raise AssertionError(words)


TESTS = [
    litmus_of("MP", "x = 0; y = 0;", "1:r0 = 1 /\\ 1:r1 = 0", "x = 1 rlx; y = 1 rel", "r0 = y acq; r1 = x rlx"),
    litmus_of("MP+scs", "x = 0; y = 0;", "1:r0 = 1 /\\ 1:r1 = 0", "x = 1 sc; y = 1 sc", "r0 = y sc; r1 = x sc"),
    litmus_of(
        "MP+fences",
        "x = 0; y = 0;",
        "1:r0 = 1 /\\ 1:r1 = 0",
        "x = 1 rlx; fence rel; y = 1 rlx",
        "r0 = y rlx; fence acq; r1 = x rlx",
    ),
    litmus_of(
        "MP+fence.ar",
        "x = 0; y = 0;",
        "1:r0 = 1 /\\ 1:r1 = 0",
        "x = 1 rlx; fence ar; y = 1 rlx",
        "r0 = y rlx; fence ar; r1 = x rlx",
    ),
    litmus_of(
        "MP+exch",
        "x = 0; y = 0;",
        "1:r0 = 1 /\\ 1:r1 = 0",
        "x = 1 rlx; r0 = exch y 1 ar",
        "r0 = exch y 2 ar; r1 = x rlx",
    ),
    litmus_of(
        "MP+add", "x = 0; y = 0;", "1:r0 = 1 /\\ 1:r1 = 0", "x = 1 rlx; r0 = add y 1 ar", "r0 = add y 1 ar; r1 = x rlx"
    ),
    litmus_of(
        "MP+cas",
        "x = 0; y = 0;",
        "1:r0 = 1 /\\ 1:r1 = 0",
        "x = 1 rlx; r0 = cas y 0 1 ar",
        "r0 = cas y 1 2 ar; r1 = x rlx",
    ),
    # What is read is not asked for, and orders all the same.
    litmus_of(
        "MP+exch+fence",
        "x = 0; y = 0;",
        "y = 2 /\\ 1:r1 = 0",
        "x = 1 rlx; y = 1 rel",
        "r0 = exch y 2 rlx; fence acq; r1 = x rlx",
    ),
    litmus_of(
        "MP+add+fence",
        "x = 0; y = 0;",
        "y = 2 /\\ 1:r1 = 0",
        "x = 1 rlx; y = 1 rel",
        "r0 = add y 1 rlx; fence acq; r1 = x rlx",
    ),
    litmus_of("SB", "x = 0; y = 0;", "0:r0 = 0 /\\ 1:r0 = 0", "x = 1 sc; r0 = y sc", "y = 1 sc; r0 = x sc"),
    litmus_of(
        "SB+fences",
        "x = 0; y = 0;",
        "0:r0 = 0 /\\ 1:r0 = 0",
        "x = 1 rlx; fence sc; r0 = y rlx",
        "y = 1 rlx; fence sc; r0 = x rlx",
    ),
    litmus_of(
        "SB+exch",
        "x = 0; y = 0;",
        "0:r1 = 0 /\\ 1:r1 = 0",
        "r0 = exch x 1 sc; r1 = y sc",
        "r0 = exch y 1 sc; r1 = x sc",
    ),
    litmus_of("LB", "x = 0; y = 0;", "0:r0 = 1 /\\ 1:r0 = 1", "r0 = x acq; y = 1 rel", "r0 = y acq; x = 1 rel"),
    litmus_of("S", "x = 0; y = 0;", "1:r0 = 1 /\\ x = 2", "x = 2 rlx; y = 1 rel", "r0 = y acq; x = 1 rlx"),
    litmus_of("CoRR", "x = 0;", "1:r0 = 1 /\\ 1:r1 = 0", "x = 1 rlx", "r0 = x rlx; r1 = x rlx"),
    litmus_of("2+2W", "x = 0; y = 0;", "x = 1 /\\ y = 1", "x = 1 rel; y = 2 sc", "y = 1 rel; x = 2 sc"),
    litmus_of(
        "IRIW",
        "x = 0; y = 0;",
        "1:r0 = 1 /\\ 1:r1 = 0 /\\ 3:r0 = 1 /\\ 3:r1 = 0",
        "x = 1 sc",
        "r0 = x sc; r1 = y sc",
        "y = 1 sc",
        "r0 = y sc; r1 = x sc",
    ),
    litmus_of(
        "WRC",
        "x = 0; y = 0;",
        "1:r0 = 1 /\\ 2:r0 = 1 /\\ 2:r1 = 0",
        "x = 1 rlx",
        "r0 = x rlx; y = 1 rel",
        "r0 = y acq; r1 = x rlx",
    ),
]


def compiled(target: str, level: str) -> list[CompiledTest]:
    with TemporaryDirectory() as folder:
        found = TARGETS[target].compile_all(TESTS, level, Path(folder))
    return [each for each in found if each is not None]


def verdict(code: CompiledTest, processor: str) -> TranslationVerdict:
    try:
        after = CODE_LANGUAGES[processor].read(code)
    except InputError:
        return TranslationVerdict.NOT_READ
    return judge_translation(code.test, after, models_of(SOURCE, processor)).verdict


def needs(target: str) -> None:
    if lacking := TARGETS[target].missing():
        absent(lacking[0])


RIGHT = {TranslationVerdict.SAME, TranslationVerdict.STRONGER}
OTHERWISE = {
    # An update is a loop around a loop, which is not read.
    ("clang-armv8", "-O0", ""): TranslationVerdict.NOT_READ,
    # LLVM 60418: an exchange whose result nobody uses became a store.
    ("", "-O", "MP+exch+fence"): TranslationVerdict.WEAKER,
    # A comparison that fails is followed by a store of what was read.
    ("clang-powerpc64le", "-O", "MP+cas"): TranslationVerdict.NOT_READ,
}
"""What else there may be, by the beginnings of target and level, and the name of the test. All but the first are of
clang 15."""


def is_old(target: str) -> bool:
    return target.startswith("clang") and TARGETS[target].version().startswith("15.")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("level", LEVELS)
def test_compilers_keep_what_the_tests_mean(target: str, level: str) -> None:
    needs(target)
    every = compiled(target, level)
    assert len(every) == len(TESTS)
    for code in every:
        known = {
            found
            for (of, at, name), found in OTHERWISE.items()
            if target.startswith(of) and level.startswith(at) and code.test.name in (name or code.test.name)
            if not name or is_old(target)
        }
        assert verdict(code, TARGETS[target].processor) in RIGHT | known, code.test.name


FINDINGS = [
    # LLVM 60418, of 2023
    ("c-exchange-unused", ("clang-15",), {"clang-x86-64", "clang-riscv64", "clang-powerpc64le"}),
    # LLVM 101551, of 2024
    ("c-add-nothing", ("clang-15", "clang-19"), {"clang-x86-64"}),
]


@pytest.mark.parametrize(("name", "compilers", "targets"), FINDINGS, ids=[each[0] for each in FINDINGS])
def test_what_compilers_got_wrong_is_found(name: str, compilers: tuple[str, ...], targets: set[str]) -> None:
    """At -O2; without optimisation, both are right."""
    test = parse_litmus((ROOT / "examples" / "memory" / "compilers" / f"{name}.litmus").read_text())
    for compiler, target in product(compilers, sorted(targets)):
        chosen = replace(TARGETS[target], compilers=(compiler,))
        if chosen.missing():
            continue
        with TemporaryDirectory() as folder:
            code = {level: chosen.compile(test, level, Path(folder)) for level in ("-O0", "-O2")}
        assert verdict(code["-O2"], chosen.processor) is TranslationVerdict.WEAKER, (compiler, target)
        assert verdict(code["-O0"], chosen.processor) is TranslationVerdict.SAME, (compiler, target)


def replaced(pattern: str, by: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, by, text, flags=re.MULTILINE)


def dropped(pattern: str) -> Callable[[str], str]:
    return replaced(rf"^\s*{pattern}[ \t]*\n", "")


def swapped(pattern: str) -> Callable[[str], str]:
    """Two such instructions that follow each other change places, everywhere."""
    return replaced(rf"^([ \t]*{pattern}.*\n)([ \t]*{pattern}.*\n)", r"\2\1")


PLANTED: Mapping[str, Mapping[str, Callable[[str], str]]] = {
    "g++-x86-64": {
        "lock or dropped": dropped(r"lock\s+or[lq]\s+\$0, \(%rsp\)"),
        "loads swapped": swapped(r"movl\s+\d*\(%rdi\), %"),
        "stores swapped": swapped(r"movl\s+\$\d+, \d*\(%rdi\)"),
    },
    "clang-x86-64": {
        "mfence dropped": dropped("mfence"),
        "xchg to mov": replaced(r"\bxchgl(\s+%\w+, )", r"movl\1"),
        "loads swapped": swapped(r"movl\s+\d*\(%rdi\), %"),
        "stores swapped": swapped(r"movl\s+\$\d+, \d*\(%rdi\)"),
    },
    "clang-armv8.1": {
        "dmb ish dropped": dropped(r"dmb\s+ish"),
        "dmb ish to ishld": replaced(r"dmb\s+ish$", "dmb ishld"),
        "dmb ish to ishst": replaced(r"dmb\s+ish$", "dmb ishst"),
        "dmb ishld dropped": dropped(r"dmb\s+ishld"),
        "ldar to ldr": replaced(r"\bldar\b", "ldr"),
        "ldar to ldapr": replaced(r"\bldar\b", "ldapr"),
        "stlr to str": replaced(r"\bstlr\b", "str"),
        "swpal to swpa": replaced(r"\bswpal\b", "swpa"),
        "swpal to swpl": replaced(r"\bswpal\b", "swpl"),
        "ldadd without a result": replaced(r"\b(ldadd\s+\w+, )\w+,", r"\1wzr,"),
        "ldaddal to ldadda": replaced(r"\bldaddal\b", "ldadda"),
        "ldaddal to ldaddl": replaced(r"\bldaddal\b", "ldaddl"),
        "casal to casa": replaced(r"\bcasal\b", "casa"),
        "casal to casl": replaced(r"\bcasal\b", "casl"),
        "loads swapped": swapped(r"ldr\s+w\d+, \[x0"),
        "stores swapped": swapped(r"stl?r\s+w\w+, \[x\d"),
    },
    "clang-armv8.3": {"ldapr to ldr": replaced(r"\bldapr\b", "ldr")},
    "clang-armv8": {
        "ldaxr to ldxr": replaced(r"\bldaxr\b", "ldxr"),
        "stlxr to stxr": replaced(r"\bstlxr\b", "stxr"),
    },
    "clang-riscv64": {
        "fence rw, w dropped": dropped(r"fence\s+rw, w"),
        "fence r, rw dropped": dropped(r"fence\s+r, rw"),
        "fence rw, rw dropped": dropped(r"fence\s+rw, rw"),
        "fence.tso dropped": dropped(r"fence\.tso"),
        "fence rw, rw to tso": replaced(r"fence\s+rw, rw", "fence.tso"),
        "fence rw, w to w, w": replaced(r"fence\s+rw, w$", "fence w, w"),
        "fence r, rw to r, r": replaced(r"fence\s+r, rw$", "fence r, r"),
        "aqrl to aq": replaced(r"(amo\w+\.w)\.aqrl", r"\1.aq"),
        "aqrl to rl": replaced(r"(amo\w+\.w)\.aqrl", r"\1.rl"),
        "lr relaxed": replaced(r"\blr\.w\.\w+", "lr.w"),
        "sc relaxed": replaced(r"\bsc\.w\.\w+", "sc.w"),
    },
    "clang-powerpc64le": {
        "sync dropped": dropped("sync"),
        "sync to lwsync": replaced(r"^\s*sync\s*$", "\tlwsync"),
        "lwsync dropped": dropped("lwsync"),
        "lwsync to eieio": replaced(r"^\s*lwsync\s*$", "\teieio"),
        "lwsync to isync": replaced(r"^\s*lwsync\s*$", "\tisync"),
        "isync dropped": dropped("isync"),
        "branch before isync dropped": dropped(r"bne-\s+7, \.\+4"),
    },
}
"""The changes of each compiler's assembly."""


@cache
def right(target: str) -> tuple[CompiledTest, ...]:
    return tuple(compiled(target, "-O2"))


@pytest.mark.parametrize(("target", "change"), [(target, name) for target, each in PLANTED.items() for name in each])
def test_a_planted_compiler_is_caught(target: str, change: str) -> None:
    needs(target)
    processor, found = TARGETS[target].processor, set()
    for code in right(target):
        text = PLANTED[target][change](code.text)
        found.add(verdict(replace(code, code=text.encode()), processor))
    if not any(PLANTED[target][change](code.text) != code.text for code in right(target)):
        assert is_old(target) and change == "ldapr to ldr", "nothing is changed"  # clang 15 writes no ldapr
        return
    assert TranslationVerdict.WEAKER in found, found


def test_the_command_finds_it(tmp_path: Path) -> None:
    needs("g++-x86-64")
    needs("clang-x86-64")
    file = ROOT / "examples" / "memory" / "compilers" / "c-add-nothing.litmus"
    result = synth("compile", file, "--backend", "cpp", "-o", tmp_path, "--check-translation")
    assert result.exit_code == 1, result.output
    found = {}
    for line in (tmp_path / "translation.jsonl").read_text().splitlines():
        each = json.loads(line)
        found[each["compiler"], each["level"]] = each.get("verdict")
    assert found["g++-x86-64", "-O2"] == found["clang-x86-64", "-O0"] == "SAME"
    assert found["clang-x86-64", "-O2"] == "WEAKER"
