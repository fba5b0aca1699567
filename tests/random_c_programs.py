"""Random programs in C with two threads, some with faults, for synth and for a compiler with sanitizers.

A program has globals with a prefix of its own, so that one file has many, and prints what its threads have read and
what memory holds in the end. ``faulty``: some statements may be out of bounds, overflow, divide by 0, use what is given
back, and the like.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = """#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
"""

LOADS, STORES = ("relaxed", "acquire", "seq_cst"), ("relaxed", "release", "seq_cst")
UPDATES = (*LOADS, "release", "acq_rel")


@dataclass
class ThreadText:
    """A thread while it is made: its statements, and the registers that it has, which are kept when it ends."""

    rng: random.Random
    prefix: str
    thread: int
    faulty: bool
    lines: list[str] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)

    def name(self, word):
        return f"{self.prefix}{word}"

    def order(self, words):
        return f"memory_order_{self.rng.choice(words)}"

    def value(self):
        known = [name for name in self.registers if self.rng.random() < 0.5]
        return self.rng.choice([str(self.rng.randint(0, 3)), *known])

    def register(self, expression):
        name = f"k{len(self.registers)}"
        self.lines.append(f"int {name} = {expression};")
        self.registers.append(name)

    def plain(self):
        """A place of memory that is not atomic."""
        n = self.name
        places = [
            n("x"),
            n("y"),
            f"{n('a')}[0]",
            f"{n('a')}[1]",
            f"{n('s')}.m",
            f"{n('s')}.c",
            f"*{n('p')}",
            f"{n('h')}[0]",
        ]
        return self.rng.choice(places)

    def statement(self):
        rng, n = self.rng, self.name
        kind = rng.choice(
            ("load", "store", "update", "exchange", "read", "write", "locked", "locked", "if", "sum", "copy")
        )
        if self.faulty and rng.random() < 0.25:
            kind = "fault"
        match kind:
            case "load":
                self.register(f"atomic_load_explicit(&{n(rng.choice('fg'))}, {self.order(LOADS)})")
            case "store":
                self.lines.append(
                    f"atomic_store_explicit(&{n(rng.choice('fg'))}, {self.value()}, {self.order(STORES)});"
                )
            case "update":
                call = rng.choice(("fetch_add", "fetch_or", "exchange", "fetch_sub"))
                self.register(f"atomic_{call}_explicit(&{n(rng.choice('fg'))}, {self.value()}, {self.order(UPDATES)})")
            case "exchange":
                expected = f"e{len(self.lines)}"
                self.lines.append(f"int {expected} = {rng.randint(0, 2)};")
                self.register(
                    f"atomic_compare_exchange_strong(&{n(rng.choice('fg'))}, &{expected}, {rng.randint(1, 3)})"
                )
            case "read":
                self.guarded(lambda: self.register(self.plain()))
            case "write":
                self.guarded(lambda: self.lines.append(f"{self.plain()} = {self.value()};"))
            case "locked":
                self.lines.append(f"pthread_mutex_lock(&{n('l')});")
                for _ in range(rng.randint(1, 2)):
                    place = self.plain()
                    if rng.random() < 0.5:
                        self.register(place)
                    else:
                        self.lines.append(f"{place} = {self.value()};")
                self.lines.append(f"pthread_mutex_unlock(&{n('l')});")
            case "if":
                self.lines.append(f"if ({self.value()} == {rng.randint(0, 1)})")
                self.lines.append(f"    atomic_store(&{n(rng.choice('fg'))}, {rng.randint(1, 3)});")
            case "sum":
                self.register(f"({self.value()} {rng.choice(('+', '-', '*', '&', '^', '<'))} {self.value()})")
            case "copy":
                self.lines.append(f"memcpy(&{n('t')}[{self.thread}], &(int){{{self.value()}}}, sizeof(int));")
            case "fault":
                self.fault()

    def guarded(self, access):
        """An access that is plain, mostly of what only one thread uses."""
        rng, n = self.rng, self.name
        if rng.random() < 0.5:
            if rng.random() < 0.5:
                self.register(f"{n('t')}[{self.thread}]")
            else:
                self.lines.append(f"{n('t')}[{self.thread}] = {self.value()};")
        else:
            access()

    def fault(self):
        rng, n = self.rng, self.name
        known = self.value()
        self.lines.append(
            rng.choice(
                (
                    f"{n('t')}[{self.thread}] = INT_MAX - 1 + {known};",
                    f"{n('t')}[{self.thread}] = 6 / {known};",
                    f"{n('t')}[{self.thread}] = 1u << (31 + {known});",
                    f"{n('b')}[{self.thread}][{known}] = 1;",
                    f"{n('k')}[{self.thread}][{known}] = 1;",
                    f"free({n('k')}[{self.thread}]); {n('k')}[{self.thread}] = calloc(2, sizeof(int));",
                    f"free({n('k')}[{self.thread}]);",
                    f"if ({known} == 1) {n('q')}[{self.thread}] = 0;",
                    f"*{n('q')}[{self.thread}] = 1;",
                    f"{{ char z[8]; memset(z, 0, 6 + {known}); }}",
                )
            )
        )


@dataclass(frozen=True)
class RandomProgram:
    """A program: its globals, its threads, the body of main, and what is printed in the end."""

    text: str
    body: str
    observed: tuple[str, ...]

    def whole(self, more=""):
        """The program with a main of its own, which does more before it ends."""
        return f"{HEAD}{self.text}int main(void)\n{{\n{self.body}{more}    return 0;\n}}\n"


def random_program(seed, prefix="", faulty=None):
    rng = random.Random(seed)
    faulty = rng.random() < 0.5 if faulty is None else faulty

    def n(word):
        return f"{prefix}{word}"

    text = f"""atomic_int {n("f")}, {n("g")};
int {n("x")}, {n("y")}, {n("a")}[2], {n("t")}[2], {n("b")}[2][3];
struct {{ int m; signed char c; }} {n("s")};
int *{n("p")} = &{n("y")}, *{n("h")}, *{n("k")}[2], *{n("q")}[2] = {{&{n("b")}[0][0], &{n("b")}[1][0]}};
pthread_mutex_t {n("l")} = PTHREAD_MUTEX_INITIALIZER;
"""
    observed = [n("f"), n("g"), n("x"), n("y"), f"{n('a')}[0]", f"{n('a')}[1]", f"{n('s')}.m", f"{n('h')}[0]",
                f"{n('t')}[0]", f"{n('t')}[1]"]  # fmt: skip
    threads = []
    for thread in range(2):
        writer = ThreadText(rng, prefix, thread, faulty)
        for _ in range(rng.randint(2, 4)):
            writer.statement()
        kept = [f"{n('r')}{thread}_{number}" for number in range(len(writer.registers))]
        observed += kept
        text += "".join(f"int {name};\n" for name in kept)
        lines = [*writer.lines, *(f"{to} = {of};" for to, of in zip(kept, writer.registers, strict=True)), "return 0;"]
        threads.append(
            f"void *{n('thread')}{thread}(void *unused)\n{{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"
        )
    early = rng.random() < 0.2
    body = f"    {n('h')} = calloc(1, sizeof(int));\n"
    body += "".join(f"    {n('k')}[{number}] = calloc(2, sizeof(int));\n" for number in range(2))
    body += f"    pthread_t {n('i')}, {n('j')};\n    pthread_create(&{n('i')}, 0, {n('thread')}0, 0);\n"
    body += f"    pthread_join({n('i')}, 0);\n" if early else ""
    body += f"    pthread_create(&{n('j')}, 0, {n('thread')}1, 0);\n"
    body += "" if early else f"    pthread_join({n('i')}, 0);\n"
    body += f"    pthread_join({n('j')}, 0);\n"
    return RandomProgram(text + "".join(threads), body, tuple(observed))


def many(seeds, faulty=None):
    """One file with a program for each seed, which is run by its number: ``run 3``."""
    made = {seed: random_program(seed, f"p{number}_", faulty) for number, seed in enumerate(seeds)}
    functions = "".join(
        f"{program.text}static void run{number}(void)\n{{\n{program.body}"
        + f'    printf("{" ".join(["%d"] * len(program.observed))}\\n", {", ".join(program.observed)});\n}}\n'
        for number, program in enumerate(made.values())
    )
    cases = "".join(f"    case {number}: run{number}(); break;\n" for number in range(len(made)))
    main = f"int main(int count, char **words)\n{{\n    switch (atoi(words[1])) {{\n{cases}    }}\n    return 0;\n}}\n"
    return f"{HEAD}{functions}{main}"
