"""Random programs of C (``random_c_programs``) as gcc compiles them and as synth answers about them, compared.

One file has many programs. Compiled plainly, each runs many times in one process, which sets its globals back and notes
its outcomes; compiled with sanitizers, each run has a process of its own. Each outcome must be one that an assertion
finds, each fault of a sanitizer a finding, and what is clean by construction has no finding.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
import traceback
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from programs import read_c
from random_c_programs import HEAD, random_program

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.code.refusals import NotUnderstoodError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

SANITIZERS = {"faults": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"), "races": ("-fsanitize=thread",)}
SAYS = ("ERROR: AddressSanitizer", "runtime error:", "WARNING: ThreadSanitizer", "ERROR: ThreadSanitizer")
OPTIONS = "halt_on_error=1:exitcode=9:detect_leaks=0:detect_stack_use_after_return=1:detect_deadlocks=0"
MOST_OUTCOMES = 6

TIMED = r"""
#define _GNU_SOURCE
#ifdef RESET
#define IN(name) __attribute__((section(#name)))
static void pause_somewhat(void)
{
    static _Thread_local unsigned state;
    if (state == 0) state = (unsigned)__builtin_ia32_rdtsc() | 1;
    state ^= state << 13; state ^= state >> 17; state ^= state << 5;
    if (state % 3 == 0) for (unsigned i = state >> 8 & 127; i; i--) __builtin_ia32_pause();
}
#define PAUSE pause_somewhat();
#define GATE(name, count) __atomic_add_fetch(&name, 1, __ATOMIC_RELAXED); \
    for (int i = 0; i < 4000 && __atomic_load_n(&name, __ATOMIC_RELAXED) < count; i++) __builtin_ia32_pause();
#else
#define IN(name)
#define PAUSE
#define GATE(name, count)
#endif
"""

NOTED = r"""
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
static long long noted[64][64];
static int all_noted;
static void note(const long long *now, int count)
{
    for (int i = 0; i < all_noted; i++)
        if (memcmp(noted[i], now, count * sizeof *now) == 0) return;
    if (all_noted < 64) memcpy(noted[all_noted++], now, count * sizeof *now);
}
"""

DRIVER = r"""
int main(int count, char **words)
{
    for (int number = 0; number < PROGRAMS; number++)
        for (int run = 0; run < RUNS; run++) {
            fflush(stdout);
            int status, child = fork();
            if (child == 0) {
                char name[4096];
                snprintf(name, sizeof name, "%s/%d", words[1], number);
                dup2(open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
                alarm(10);
                execute(number);
                fflush(stdout);
                _exit(0);
            }
            waitpid(child, &status, 0);
            if (status) break;
        }
    return 0;
}
"""


def native(programs):
    """The file of some programs for gcc."""
    text, cases = [], []
    for number, (prefix, program) in enumerate(programs):
        values = ", ".join(f"(long long)({name})" for name in program.observed)
        more = f"    long long now[] = {{ {values} }};\n    note(now, {len(program.observed)});\n"
        text.append(program.function(more, f"{prefix}main"))
        text.append(f"#ifdef RESET\nextern char __start_{prefix}[], __stop_{prefix}[];\n#endif\n")
        cases.append(
            f"    case {number}: {{\n#ifdef RESET\n        size_t size = __stop_{prefix} - __start_{prefix};\n"
            f"        void *kept = memcpy(malloc(size), __start_{prefix}, size);\n"
            f"        for (int i = 0; i < RESET; i++) memcpy(__start_{prefix}, kept, size), {prefix}main();\n"
            f"#else\n        {prefix}main();\n#endif\n        count = {len(program.observed)}; break; }}\n"
        )
    shown = (
        '    for (int i = 0; i < all_noted; i++) {\n        printf("%d", number);\n'
        '        for (int j = 0; j < count; j++) printf(" %lld", noted[i][j]);\n        puts("");\n    }\n'
    )
    execute = (
        f"static void execute(int number)\n{{\n    int count = 0;\n    switch (number) {{\n{''.join(cases)}    }}\n"
    )
    defined = f"#define PROGRAMS {len(programs)}\n"
    return f"{TIMED}{HEAD}{NOTED}{''.join(text)}{execute}{shown}}}\n{defined}{DRIVER}"


@dataclass
class Behaviour:
    """What a program was seen to do: its outcomes, and what sanitizers say, with the lines of the native file."""

    outcomes: set[tuple[int, ...]] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)


def behaviours(gcc, folder, programs, runs, repeated, level="-O1"):
    """What each of some programs does: ``repeated`` times in one process, and ``runs`` times under each sanitizer."""
    source = folder / "native.c"
    source.write_text(native(programs))
    found = [Behaviour() for _ in programs]
    ways = {"plain": (f"-DRESET={repeated}", "-DRUNS=1"), **{k: (*v, f"-DRUNS={runs}") for k, v in SANITIZERS.items()}}
    for name, words in ways.items():
        made, said = folder / name, folder / f"{name}-says"
        said.mkdir(exist_ok=True)
        command = [gcc, "-w", "-g1", "-std=gnu17", level, "-fno-strict-aliasing", "-pthread", *words]
        done = subprocess.run([*command, "-o", made, source], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            assert name != "plain", done.stderr[:2000]
            continue
        options = {"ASAN_OPTIONS": OPTIONS, "TSAN_OPTIONS": OPTIONS, "PATH": os.environ["PATH"]}
        done = subprocess.run([made, said], capture_output=True, text=True, timeout=1200, env=options)
        for line in done.stdout.splitlines() if name == "plain" else ():
            number, *values = map(int, line.split())
            found[number].outcomes.add(tuple(values))
        for number, (_, program) in enumerate(programs):
            if name == "races" and program.untold:
                continue
            lines = (said / str(number)).read_text(errors="replace").splitlines()
            told = next((line for line in lines if any(word in line for word in SAYS)), "")
            if told and "ThreadSanitizer:DEADLYSIGNAL" not in told:
                found[number].faults.append(told.strip().partition("native.c:")[2] or told.strip())
    return found


def asserting(program, outcomes):
    """An assertion for each outcome, that it does not happen."""
    same = (
        " && ".join(f"(long long)({name}) == {_number(value)}" for name, value in zip(program.observed, o, strict=True))
        for o in outcomes
    )
    return "".join(f"    assert(!({text}));\n" for text in same)


def _number(value):
    return "(-9223372036854775807LL - 1)" if value == -(1 << 63) else f"{value}LL"


def answered(module, name, first, count):
    """What synth answers about a program: a word, the kinds that are found with their texts, and the assertions that
    fail.
    """
    (model,) = resolve_consistency_models(["rc11"])
    try:
        told = check(program_of(module, module.functions[name], KernelLaunch()), model, "", 2, "fair")
    except NotUnderstoodError as error:
        return {"answer": "refused", "why": str(error).partition(": ")[2] or str(error)}
    failing, found = set(), []
    for finding in told.findings:
        lines = {place.source.line for place in finding.places if place.source}
        numbers = {line - first for line in lines if first <= line < first + count}
        failing |= numbers
        if not numbers:
            found.append([finding.kind, finding.text])
    unsure = [key for key, answer in told.answers.items() if answer not in (CheckAnswer.SAFE, CheckAnswer.FOUND)]
    unsure += ["hang"] if told.hang.get("fair") not in ("TERMINATES", "terminates") else []
    word = "found" if found else "unknown" if unsure else "safe"
    return {"answer": word, "found": found, "why": "; ".join(told.reasons), "failing": sorted(failing),
            "bounded": told.bounded, "hang": str(told.hang.get("fair"))}  # fmt: skip


def warm():
    """Read what checks have in common once, before they have processes of their own."""
    text = random_program(1, "").whole()
    answered(read_c(text), "main", 0, 0)


def in_child(function, limit):
    """What a function returns, from a process of its own; None where that takes more seconds of CPU than ``limit``."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receive)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        try:
            result = function()
        except Exception:  # reported by who waits
            result = {"answer": "ERROR", "why": traceback.format_exc()[-400:]}
        with os.fdopen(send, "w") as out:
            json.dump(result, out)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as out:
        text = out.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def kind_of(fault):
    """The kinds of findings that a fault of a sanitizer may be."""
    if "data race" in fault or "race" in fault:
        return ("race",)
    if "AddressSanitizer" in fault or "heap-use" in fault or "ThreadSanitizer" in fault:
        return ("bounds", "race", "trap")
    if any(
        word in fault
        for word in ("variable length", "index", "null pointer", "misaligned", "insufficient space", "pointer")
    ):
        return ("bounds", "trap") if "variable length" in fault else ("bounds",)
    return ("trap",)


def verdict(program, seen, told, outcomes):
    """What becomes of a program that synth answers about: a word, and why. One in capitals is a disagreement."""
    if told is None:
        return "too slow", ""
    if told["answer"] in ("refused", "ERROR"):
        return told["answer"], told["why"]
    if program.clean and seen.faults:
        return "GENERATOR", str(seen.faults)
    if told["answer"] == "found":
        kinds = {kind for kind, _ in told["found"]}
        if program.clean:
            return "FALSE ALARM", str(told["found"])
        missed = [fault for fault in seen.faults if not kinds & {"race", *kind_of(fault)}]  # a race leaves all open
        if missed:
            return "OTHER FAULT", f"{missed} {told['found']}"
        return ("found by both" if seen.faults else "found by synth"), ""
    if told["answer"] == "unknown":
        return ("FALSE ALARM", "hang") if told["hang"] == "may hang" else ("unknown", told["why"])
    if seen.faults:
        return "MISSED", str(seen.faults)
    unallowed = [outcome for number, outcome in enumerate(outcomes) if number not in told["failing"]]
    if unallowed and not told["bounded"]:
        return "NOT ALLOWED", str(unallowed)
    return ("bounded" if unallowed else "safe"), ""


def compared(gcc, folder, seeds, runs=2, repeated=60, limit=3, level="-O1"):
    """Yield for each seed its program, what becomes of it and why, how many outcomes were seen, and synth's seconds."""
    folder = Path(folder)
    programs = [(f"p{seed}_", random_program(seed, f"p{seed}_")) for seed in seeds]
    seen = behaviours(gcc, folder, programs, runs, repeated, level)
    text, firsts, asked = HEAD, [], []
    for (prefix, program), behaviour in zip(programs, seen, strict=True):
        outcomes = sorted(behaviour.outcomes)[:MOST_OUTCOMES]
        more = asserting(program, outcomes)
        begun = program.function("@", f"{prefix}main").partition("@")[0]
        firsts.append((text + begun).count("\n") + 1)
        asked.append(outcomes)
        text += program.function(more, f"{prefix}main")
    calls = "".join(f"    {prefix}main();\n" for prefix, _ in programs)
    text += f"int main(void)\n{{\n{calls}    return 0;\n}}\n"
    (folder / "asked.c").write_text(text)
    module = read_c(text)
    for seed, (prefix, program), behaviour, first, outcomes in zip(seeds, programs, seen, firsts, asked, strict=True):
        begun = time.monotonic()
        told = in_child(partial(answered, module, f"{prefix}main", first, len(outcomes)), limit)
        word, why = verdict(program, behaviour, told, outcomes)
        yield seed, program, word, why, len(behaviour.outcomes), time.monotonic() - begun
