"""Random programs in C, for synth and for a compiler with sanitizers.

Two to four threads, ``main`` one of them, use shared memory of many shapes. Half of the programs are ``clean``: each
object has a discipline (it is one thread's, or a lock's, or constant, or handed over by a flag, a fence, a semaphore, a
condition variable, a barrier or a pointer), and arithmetic is defined, so that no fault may be found in them. Others
break a discipline here and there, or have a fault planted.

A program has globals with a prefix of its own, so that one file has many. ``IN`` puts the globals of a program in a
section, from where a compiled program sets them back; ``GATE`` and ``PAUSE`` are where it varies its timing. They are
nothing elsewhere.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEAD = """#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#ifndef IN
#define IN(name)
#define GATE(name, count)
#define PAUSE
#endif
"""

LOADS, STORES = ("relaxed", "acquire", "seq_cst"), ("relaxed", "release", "seq_cst")
UPDATES = (*LOADS, "release", "acq_rel")
FAILURES = {"relaxed": ("relaxed",), "release": ("relaxed",), "acquire": ("relaxed", "acquire"),
            "acq_rel": ("relaxed", "acquire"), "seq_cst": LOADS}  # fmt: skip
ACQUIRES, RELEASES = ("acquire", "seq_cst"), ("release", "seq_cst")
TYPES = ("int", "int", "unsigned", "short", "unsigned short", "signed char", "unsigned char", "long", "uint64_t")
ATOMICS = (*TYPES, "bool")
CONSTANTS = ("0", "1", "2", "3", "-1", "7", "127", "255", "256", "-128", "65535", "INT_MAX", "INT_MIN + 1")


@dataclass(frozen=True)
class Place:
    """An lvalue of memory that is not atomic, and the discipline of its object: ``thread 1``, ``lock 0``,
    ``constant``.
    """

    text: str
    type: str
    discipline: str


@dataclass(frozen=True)
class RandomProgram:
    """A program: its globals and threads, the body of main, what is observed in the end, and what is left to do.

    ``clean``: it has no fault. ``untold``: it has fences or locks of C11, which the sanitizer for races does not know.
    """

    text: str
    body: str
    observed: tuple[str, ...]
    after: str
    clean: bool
    untold: bool

    def whole(self, more="", name="main"):
        """The program with a main of its own, which does more before it ends."""
        return f"{HEAD}{self.function(more, name)}"

    def function(self, more="", name="main"):
        """The program without what is included, as a function of this name."""
        return f"{self.text}int {name}(void)\n{{\n{self.body}{more}{self.after}    return 0;\n}}\n"


@dataclass
class Shared:
    """What the threads of a program have together, while it is made."""

    rng: random.Random
    prefix: str
    threads: int
    clean: bool
    declared: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    atomics: list[tuple[str, str]] = field(default_factory=list)
    begin: list[str] = field(default_factory=list)
    end: list[str] = field(default_factory=list)
    observed: list[str] = field(default_factory=list)
    locks: list[tuple[str, str]] = field(default_factory=list)
    untold: bool = False

    def name(self, word):
        return f"{self.prefix}{word}"

    def declare(self, text):
        self.declared.append(f"IN({self.prefix}) {text};")

    def discipline(self):
        ways = [f"thread {self.rng.randrange(self.threads)}" for _ in range(2)]
        ways += [f"lock {number}" for number in range(len(self.locks))] * 2
        return self.rng.choice([*ways, "constant"])

    def lock(self, number):
        n = self.name(f"l{number}")
        kinds = {
            "mutex": (f"pthread_mutex_t {n} = PTHREAD_MUTEX_INITIALIZER", "", f"pthread_mutex_lock(&{n});",
                      f"pthread_mutex_unlock(&{n});"),
            "spin": (f"pthread_spinlock_t {n}", f"pthread_spin_init(&{n}, 0);", f"pthread_spin_lock(&{n});",
                     f"pthread_spin_unlock(&{n});"),
            "rw": (f"pthread_rwlock_t {n} = PTHREAD_RWLOCK_INITIALIZER", "", f"pthread_rwlock_wrlock(&{n});",
                   f"pthread_rwlock_unlock(&{n});"),
            "mtx": (f"mtx_t {n}", f"mtx_init(&{n}, mtx_plain);", f"mtx_lock(&{n});", f"mtx_unlock(&{n});"),
            "sem": (f"sem_t {n}", f"sem_init(&{n}, 0, 1);", f"sem_wait(&{n});", f"sem_post(&{n});"),
            "try": (f"pthread_mutex_t {n} = PTHREAD_MUTEX_INITIALIZER", "",
                    f"if (pthread_mutex_trylock(&{n}) == 0) {{", f"pthread_mutex_unlock(&{n}); }}"),
            "flag": (f"atomic_flag {n} = ATOMIC_FLAG_INIT", "",
                     f"if (!atomic_flag_test_and_set_explicit(&{n}, memory_order_acquire)) {{",
                     f"atomic_flag_clear_explicit(&{n}, memory_order_release); }}"),
            "swap": (f"atomic_int {n}", "", f"if (!atomic_exchange_explicit(&{n}, 1, memory_order_acquire)) {{",
                     f"atomic_store_explicit(&{n}, 0, memory_order_release); }}"),
        }  # fmt: skip
        chosen = self.rng.choice(("mutex", *kinds))
        declaration, begin, take, give = kinds[chosen]
        self.untold |= chosen == "mtx"
        self.declare(declaration)
        self.begin += [begin] if begin else []
        self.locks.append((take, give))

    def object(self, number):
        rng, d, o = self.rng, self.discipline(), self.name(f"o{number}")
        whole = rng.choice(TYPES)
        found = []
        match rng.choice(("scalar", "volatile", "struct", "bits", "union", "array", "matrix", "heap", "pointed", "row",
                          "fields", "packed", "bool", "bytes")):  # fmt: skip
            case "scalar":
                self.declare(f"{whole} {o} = {rng.randint(0, 3)}")
                found = [(o, whole)]
            case "volatile":
                self.declare(f"volatile {whole} {o}")
                found = [(o, whole)]
            case "bool":
                self.declare(f"bool {o}")
                found = [(o, "bool")]
            case "struct":
                self.declare(f"struct {{ int m; signed char c; unsigned short h; long l; }} {o} = {{ 1, 2 }}")
                found = [(f"{o}.m", "int"), (f"{o}.c", "signed char"), (f"{o}.h", "unsigned short"), (f"{o}.l", "long")]
            case "bits":
                self.declare(f"struct {{ unsigned lo : 3; int mid : 5; unsigned hi : 12; unsigned char c; }} {o}")
                found = [(f"{o}.lo", "int"), (f"{o}.mid", "int"), (f"{o}.hi", "int"), (f"{o}.c", "unsigned char")]
            case "union":
                self.declare(f"union {{ uint64_t w; unsigned u[2]; unsigned short h[4]; unsigned char b[8]; }} {o}")
                found = [(f"{o}.w", "uint64_t"), (f"{o}.u[{rng.randrange(2)}]", "unsigned"),
                         (f"{o}.h[{rng.randrange(4)}]", "unsigned short"),
                         (f"{o}.b[{rng.randrange(8)}]", "unsigned char")]  # fmt: skip
            case "bytes":
                self.declare(f"unsigned {o} = 0x01020304")
                found = [(o, "unsigned"), (f"((unsigned char *)&{o})[{rng.randrange(4)}]", "unsigned char")]
            case "array":
                self.declare(f"{whole} {o}[4] = {{ 1, 2, 3 }}")
                found = [(f"{o}[{rng.randrange(4)}]", whole), (f"{o}[{rng.randrange(4)}]", whole), (f"{o}[?]", whole)]
            case "matrix":
                self.declare(f"short {o}[2][2]")
                found = [(f"{o}[0][1]", "short"), (f"{o}[1][0]", "short"), (f"{o}[?2][1]", "short")]
            case "packed":
                self.declare(f"struct __attribute__((packed)) {{ char c; int m; short h; }} {o}")
                found = [(f"{o}.c", "signed char"), (f"{o}.m", "int"), (f"{o}.h", "short")]
            case "heap":
                self.declare(f"{whole} *{o}")
                self.begin.append(f"{o} = calloc(2, sizeof *{o});")
                self.end.append(f"free({o});")
                found = [(f"{o}[0]", whole), (f"{o}[1]", whole)]
            case "pointed":
                self.declare(f"{whole} {o}")
                self.declare(f"{whole} *{o}p = &{o}")
                found = [(o, whole), (f"*{o}p", whole)]
            case "row":
                self.declare(f"{whole} {o}[{self.threads}]")
                owned = [Place(f"{o}[{t}]", whole, f"thread {t}") for t in range(self.threads)]
                self.places += owned
                self.observed += [place.text for place in owned]
            case "fields":
                self.declare(f"struct {{ signed char a, b; short c; unsigned char d; }} {o}")
                names = list("abcd")[: self.threads]
                self.places += [Place(f"{o}.{name}", "short" if name == "c" else "signed char", f"thread {t}")
                                for t, name in enumerate(names)]  # fmt: skip
                self.observed += [f"{o}.{name}" for name in names]
        self.places += [Place(text, kind, d) for text, kind in found]
        self.observed += [text for text, _ in found if "?" not in text]

    def atomic(self, number):
        rng, f = self.rng, self.name(f"f{number}")
        kind = rng.choice(ATOMICS)
        if rng.random() < 0.2:
            self.declare(f"_Atomic({kind}) {f}[2]")
            self.atomics += [(f"{f}[0]", kind), (f"{f}[1]", kind), (f"{f}[?2]", kind)]
            self.observed += [f"{f}[0]", f"{f}[1]"]
        elif rng.random() < 0.15:
            self.declare(f"struct {{ char c; _Atomic({kind}) a; _Atomic(signed char) b; }} {f}")
            self.atomics += [(f"{f}.a", kind), (f"{f}.b", "signed char")]
            self.observed += [f"{f}.a", f"{f}.b"]
        else:
            self.declare(f"_Atomic({kind}) {f} = {rng.choice((0, 0, 0, 1))}")
            self.atomics.append((f, kind))
            self.observed.append(f)


@dataclass
class ThreadText:
    """A thread while it is made: its statements, and its registers with their types, which are kept when it ends."""

    shared: Shared
    number: int
    lines: list[str] = field(default_factory=list)
    registers: list[tuple[str, str]] = field(default_factory=list)
    labels: int = 0

    @property
    def rng(self):
        return self.shared.rng

    def order(self, words):
        return f"memory_order_{self.rng.choice(words)}"

    def emit(self, line):
        self.lines.append(line)

    def register(self, kind="int"):
        name = f"k{len(self.registers)}"
        self.registers.append((name, kind))
        return name

    def filled(self, text):
        """A place whose index is computed, where it has one."""
        text = text.replace("[?2]", f"[({self.expression(1)}) & 1]") if "[?2]" in text else text
        return text.replace("[?]", f"[({self.expression(1)}) & 3]") if "[?]" in text else text

    def atom(self):
        if self.registers and self.rng.random() < 0.65:
            return self.rng.choice(self.registers)[0]
        return self.rng.choice(CONSTANTS)

    def expression(self, depth=2):
        """A number, however computed, with no undefined behaviour."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.45:
            return self.atom()
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        n = self.shared.name
        match rng.randrange(15):
            case 0:
                return f"({rng.choice(TYPES)})({a})"
            case 1 | 2 | 3:
                return f"(int)((unsigned)({a}) {rng.choice('+-&|^*')} (unsigned)({b}))"
            case 4:
                return f"((unsigned)({a}) {rng.choice(('<<', '>>'))} (({b}) & 7))"
            case 5:
                return f"(({a}) >> {rng.randint(0, 3)})"
            case 6:
                return f"(({a}) {rng.choice(('<', '>', '<=', '>=', '==', '!='))} ({b}))"
            case 7:
                return f"(({a}) {rng.choice(('&&', '||'))} ({b}))"
            case 8:
                return f"(({a}) ? ({b}) : {self.atom()})"
            case 9:
                return f"({rng.choice('~!')}({a}))"
            case 10:
                return f"(({a}) {rng.choice('/%')} {rng.randint(2, 5)})"
            case 11:
                return f"((unsigned)({a}) / ((unsigned)({b}) | 1u))"
            case 12:
                return f"{n('ops')}[({a}) & 1]({b}, {self.atom()})"
            case 13:
                return f"{n('down')}({rng.randint(0, 4)})"
            case _:
                return f"(int)((uint64_t)({a}) {rng.choice('+-^')} ((uint64_t)({b}) << {rng.randint(0, 40)}))"

    def place(self, held=()):
        """A place that this thread may read, and whether it may write it; sometimes any, where not all is clean."""
        every = self.shared.places
        mine = [p for p in every if p.discipline in (f"thread {self.number}", "constant", *held)]
        if not self.shared.clean and self.rng.random() < 0.25:
            mine = every
        if not mine:
            return None
        place = self.rng.choice(mine)
        return place, place.discipline != "constant" or not (self.shared.clean or self.rng.random() < 0.5)

    def access(self, held=()):
        """One access of a plain place."""
        found = self.place(held)
        if found is None:
            return
        place, writes = found
        text, n = self.filled(place.text), self.shared.name
        if not writes or self.rng.random() < 0.5:
            if place.type == "int" and ":" not in text and self.is_addressed(text) and self.rng.random() < 0.2:
                self.emit(f"{self.register()} = {n('get')}(&{text});")
            else:
                self.emit(f"{self.register(place.type)} = {text};")
        elif place.type == "int" and self.is_addressed(text) and self.rng.random() < 0.2:
            self.emit(f"{n('put')}(&{text}, {self.expression()});")
        elif self.rng.random() < 0.2:
            self.emit(f"{text} {self.rng.choice(('|=', '&=', '^='))} {self.atom()};")
        else:
            self.emit(f"{text} = {self.expression()};")

    @staticmethod
    def is_addressed(text):
        """Whether an address may be taken, which that of a bit field and of a packed field may not."""
        return not text.endswith((".lo", ".mid", ".hi", ".m"))

    def atomic(self):
        rng = self.rng
        text, kind = rng.choice(self.shared.atomics)
        text = self.filled(text)
        value = self.expression(1)
        ways = ("load", "load", "store", "store", "update", "exchange", "strong", "weak", "short", "built-in", "fence")
        match rng.choice(ways):
            case "load":
                self.emit(f"{self.register(kind)} = atomic_load_explicit(&{text}, {self.order(LOADS)});")
            case "store":
                self.emit(f"atomic_store_explicit(&{text}, {value}, {self.order(STORES)});")
            case "update":
                call = "exchange" if kind == "bool" else f"fetch_{rng.choice(('add', 'sub', 'or', 'and', 'xor'))}"
                self.emit(f"{self.register(kind)} = atomic_{call}_explicit(&{text}, {value}, {self.order(UPDATES)});")
            case "exchange":
                self.emit(f"{self.register(kind)} = atomic_exchange_explicit(&{text}, {value}, {self.order(UPDATES)});")
            case "strong" | "weak" as how:
                success = rng.choice(UPDATES)
                failure = rng.choice(FAILURES[success])
                seen, done = self.register(kind), self.register("bool")
                self.emit(f"{seen} = {rng.randint(0, 1)};")
                self.emit(f"{done} = atomic_compare_exchange_{how}_explicit(&{text}, &{seen}, {value}, "
                          f"memory_order_{success}, memory_order_{failure});")  # fmt: skip
            case "short" if kind != "bool":
                step = f"{text}++;" if kind.startswith(("u", "bool")) else f"{text} ^= 3;"  # which cannot overflow
                self.emit(rng.choice((f"{text} = {value};", f"{text} |= {self.atom()};", step)))
            case "built-in" if kind != "bool":
                pointer, k = f"({kind} *)&{text}", self.register(kind)
                calls = (
                    f"{k} = __atomic_add_fetch({pointer}, {value}, __ATOMIC_ACQ_REL);",
                    f"{k} = __sync_fetch_and_or({pointer}, {value});",
                    f"__atomic_store_n({pointer}, {value}, __ATOMIC_RELEASE);",
                    f"{k} = __atomic_load_n({pointer}, __ATOMIC_ACQUIRE);",
                )
                self.emit(rng.choice(calls))
            case "fence":
                self.shared.untold = True
                self.emit(f"atomic_thread_fence({self.order(('acquire', 'release', 'acq_rel', 'seq_cst'))});")
            case _:
                self.emit(f"{self.register(kind)} = {text};")

    def local(self):
        """What a thread does by itself."""
        rng, n = self.rng, self.shared.name
        e, f, k = self.expression(), self.expression(1), self.register(rng.choice(TYPES))
        self.labels += 1
        label = f"out{self.labels}"
        self.emit(rng.choice((
            f"{k} = {e};",
            f"{k} = {e};",
            f"{{ int z[4] = {{ 1, {rng.choice(CONSTANTS)}, 3 }}; z[({f}) & 3] = {e}; {k} = z[{rng.randrange(4)}]; }}",
            f"{{ union {{ unsigned w; unsigned char b[4]; short h[2]; }} u; u.w = {e}; {k} = u.b[{rng.randrange(4)}]"
            f" ^ u.h[1]; }}",
            f"{{ struct {n('pair')} s = {{ {e}, {f} }}, t = s; t.b += 1u; {k} = t.a ^ t.b; }}",
            f"{k} = {n('sum')}((struct {n('pair')}){{ {e}, {f} }});",
            f"{{ int *m = malloc(2 * sizeof *m); m[0] = {e}; m[1] = m[0] ^ {f}; {k} = m[1]; free(m); }}",
            f"{{ unsigned char b[8]; memset(b, {rng.randint(0, 3)}, 8); b[{rng.randrange(8)}] = {e}; "
            f"memcpy(&{k}, b, sizeof {k}); }}",
            f"{n('own')} += {e}; {k} = {n('own')};",
            f"for (int i = 0; i < {rng.randint(1, 3)}; i++) {k} = (unsigned){k} * 3u + i + ({f});",
            f"{{ unsigned w = ({f}) & 3; while (w) {{ {k}++; w &= w - 1; }} }}",
            f"{{ int i = 0; do {{ if (i == ({f})) break; {k} += i; }} while (++i < 2); }}",
            f"switch (({e}) & 3) {{ case 0: {k} = 5; case 1: {k} ^= 1; break; case 3: {k} = {f}; break; "
            f"default: {k} = -1; }}",
            f"if ({f}) goto {label}; {k} = {e}; {label}:;",
            f"{k} = ({k} = {f}, {e});",
            f"{{ struct {{ int a : 4; unsigned b : 9; }} s = {{ 0 }}; s.a = {e}; s.b = {f}; {k} = s.a - s.b; }}",
            f"{{ int (*call)(int, int) = ({f}) ? {n('plus')} : {n('mix')}; {k} = call({e}, 3); }}",
            f"{k} = (int)strlen(\"abc\" + (({f}) & 1));",
        )))  # fmt: skip

    def statement(self):
        rng, shared = self.rng, self.shared
        kinds = ["atomic"] * 3 + ["plain"] * 3 + ["local"] * 2 + ["if"]
        kinds += ["locked"] * 3 if shared.locks else []
        match rng.choice(kinds):
            case "atomic":
                self.atomic()
            case "plain":
                self.access()
            case "local":
                self.local()
            case "if":
                self.emit(f"if ({self.expression()}) {{")
                rng.choice((self.atomic, self.access, self.local))()
                if rng.random() < 0.3:
                    self.emit("} else {")
                    rng.choice((self.atomic, self.access))()
                self.emit("}")
            case "locked":
                number = rng.randrange(len(shared.locks))
                take, give = shared.locks[number]
                self.emit(take)
                for _ in range(rng.randint(1, 2)):
                    self.access((f"lock {number}",))
                self.emit(give)

    def fault(self):
        """A statement that is wrong, always or sometimes."""
        rng, n = self.rng, self.shared.name
        if not self.registers:  # clang refuses constants that are too large
            self.emit(f"{self.register()} = {rng.choice(('0', '1', '2', '3', 'INT_MAX'))};")
        known = rng.choice(self.registers)[0]
        k, number = self.register(), self.number
        mine = n("wrong")
        self.shared.declared.append(
            f"IN({self.shared.prefix}) struct {{ int a[3], b; int *p; int *h; }} {mine}{number} = "
            f"{{ {{ 1 }}, 0, &{mine}{number}.b }};"
        )
        mine = f"{mine}{number}"
        self.shared.begin.append(f"{mine}.h = malloc(2 * sizeof(int)); {mine}.h[0] = {mine}.h[1] = 0;")
        self.emit(rng.choice((
            f"{k} = INT_MAX - 1 + (int)({known});",
            f"{k} = (int)({known}) * 0x40000000;",
            f"{k} = -(int)({known} == 1 ? INT_MIN : 0);",
            f"{k} = 6 / (int)({known});",
            f"{k} = 6 % (int)({known});",
            f"{k} = 1u << (30 + (({known}) & 3));",
            f"{k} = 1 << ({known});",
            f"{mine}.a[({known}) & 3] = 1;",
            f"{k} = {mine}.a[2 + (({known}) & 1)];",
            f"{k} = {mine}.h[({known}) & 3];",
            f"{mine}.h[1 + (({known}) & 1)] = 1;",
            f"free({mine}.h); {mine}.h = calloc(2, sizeof(int));",
            f"free({mine}.h); if ({known}) {k} = *{mine}.h;",
            f"free({mine}.h); if (({known}) == 1) free({mine}.h);",
            f"if (({known}) == 1) {mine}.p = 0;",
            f"if (({known}) == 1) {mine}.p = 0; *{mine}.p = 1;",
            f"{{ char z[8]; memset(z, 0, 6 + (({known}) & 3)); {k} = z[0]; }}",
            f"{{ int *z; {{ int w = 3; z = &w; }} if ({known}) {k} = *z; }}",
            f"{{ int *z = {n('dead')}(); if ({known}) {k} = *z; }}",
            f"{{ int z[2] = {{ 0 }}; {k} = {n('get')}((int *)((char *)z + (({known}) & 1))); }}",
            f"free({mine}.h + (({known}) & 1));",
            f"{{ char *z = malloc(4); strcpy(z, ({known}) ? \"abcd\" : \"abc\"); {k} = z[1]; free(z); }}",
            f"{{ int z[({known}) & 3]; z[0] = 1; {k} = z[0]; }}",
            f"if ({known}) {k} = abs((int)({known}) - INT_MAX - 2);",
            f"if (({known}) == 2) __builtin_unreachable();",
            f"{k} = __builtin_ctz({known});",
        )))  # fmt: skip


def handed(shared, writer, reader, number):
    """Memory that one thread hands to another: what each does for it. Broken in some way where not all is clean."""
    rng, n = shared.rng, shared.name
    d, f = n(f"d{number}"), n(f"g{number}")
    broken = not shared.clean and rng.random() < 0.5
    release = f"memory_order_{'relaxed' if broken else rng.choice(RELEASES)}"
    acquire = f"memory_order_{rng.choice(ACQUIRES)}"
    both = "memory_order_relaxed" if broken else "memory_order_acq_rel"
    kind = rng.choice(TYPES)
    shared.declare(f"{kind} {d}")
    shared.observed.append(d)
    write, k = f"{d} = {writer.expression()};", reader.register(kind)
    read = rng.choice((f"{k} = {d};", f"{k} = {d}; {d} = {k} + 1u;"))
    way = rng.choice(("flag", "flag", "update", "fence", "wait", "semaphore", "condition", "barrier", "pointer",
                      "first", "once", "exchange"))  # fmt: skip
    match way:
        case "flag" | "update" | "wait" | "fence" | "exchange":
            shared.declare(f"atomic_int {f}")
            shared.observed.append(f)
            store = f"atomic_store_explicit(&{f}, 1, {release});"
            load = f"if (atomic_load_explicit(&{f}, {acquire}) == 1) {{ {read} }}"
            if way == "update":
                store = f"atomic_fetch_add_explicit(&{f}, 1, {release});"
                load = f"if (atomic_fetch_add_explicit(&{f}, 2, {both}) == 1) {{ {read} }}"
            elif way == "wait":
                load = f"while (atomic_load_explicit(&{f}, {acquire}) != 1) ; {read}"
            elif way == "exchange":
                load = (f"{{ int e = 1; if (atomic_compare_exchange_strong_explicit(&{f}, &e, 2, {both}, "
                        f"memory_order_relaxed)) {{ {read} }} }}")  # fmt: skip
            elif way == "fence":
                shared.untold = True
                fence = "" if broken else "atomic_thread_fence(memory_order_release); "
                store = f"{fence}atomic_store_explicit(&{f}, 1, memory_order_relaxed);"
                load = (f"if (atomic_load_explicit(&{f}, memory_order_relaxed) == 1) "
                        f"{{ atomic_thread_fence({acquire}); {read} }}")  # fmt: skip
            return f"{write} {store}", load
        case "semaphore":
            shared.declare(f"sem_t {f}")
            shared.begin.append(f"sem_init(&{f}, 0, {int(broken)});")
            return f"{write} sem_post(&{f});", f"sem_wait(&{f}); {read}"
        case "condition":
            shared.declare(f"pthread_mutex_t {f} = PTHREAD_MUTEX_INITIALIZER")
            shared.declare(f"pthread_cond_t {f}c = PTHREAD_COND_INITIALIZER")
            shared.declare(f"int {f}r")
            call = rng.choice(("signal", "broadcast"))
            wrote = f"pthread_mutex_lock(&{f}); {f}r = 1; pthread_cond_{call}(&{f}c); pthread_mutex_unlock(&{f});"
            waits = (
                f"pthread_mutex_lock(&{f}); while (!{f}r) pthread_cond_wait(&{f}c, &{f}); pthread_mutex_unlock(&{f});"
            )
            return (f"{wrote} {write}" if broken else f"{write} {wrote}"), f"{waits} {read}"
        case "barrier":
            shared.declare(f"pthread_barrier_t {f}")
            shared.begin.append(f"pthread_barrier_init(&{f}, 0, 2);")
            waits = f"pthread_barrier_wait(&{f});"
            return (f"{waits} {write}" if broken else f"{write} {waits}"), f"{waits} {read}"
        case "pointer":
            shared.declare(f"_Atomic(struct {n('pair')} *) {f}")
            shared.end.append(f"free(atomic_load(&{f}));")
            made = f"struct {n('pair')} *m = malloc(sizeof *m); m->a = {writer.expression()}; m->b = 1;"
            seen = f"struct {n('pair')} *m = atomic_load_explicit(&{f}, {acquire}); if (m) {k} = m->a ^ m->b;"
            return f"{{ {made} atomic_store_explicit(&{f}, m, {release}); }}", f"{{ {seen} }}"
        case "first":
            shared.declare(f"atomic_int {f}")
            take = f"if (atomic_fetch_add_explicit(&{f}, 1, memory_order_relaxed) == 0)"
            return f"{take} {write}", f"{'' if broken else take} {d} = {reader.expression()};"
        case _:
            shared.declare(f"pthread_once_t {f} = PTHREAD_ONCE_INIT")
            shared.declared.append(f"static void {f}f(void) {{ {d} = 3; }}")
            call = f"pthread_once(&{f}, {f}f);"
            return ("" if broken else call) + f" {writer.register(kind)} = {d};", f"{call} {k} = {d};"


WAITS = ("sem_wait", "pthread_cond_wait", "pthread_barrier_wait", "while (")


def random_program(seed, prefix="", clean=None):
    """The program of a seed. Half of all are clean."""
    rng = random.Random(seed)
    clean = rng.random() < 0.5 if clean is None else clean
    created = rng.choice((1, 2, 2, 2, 2, 3))
    shared = Shared(rng, prefix, created + 1, clean)
    n = shared.name
    for number in range(rng.choice((0, 1, 1, 2))):
        shared.lock(number)
    for number in range(rng.randint(1, 2)):
        shared.atomic(number)
    for number in range(rng.randint(1, 3)):
        shared.object(number)
    writers = [ThreadText(shared, number) for number in range(created + 1)]
    ordered = rng.random() < 0.1 and created > 1
    for writer in writers:
        count = rng.randint(1, 5 - created) if writer.number < created else rng.choice((0, 0, 0, 1, 2))
        for _ in range(count):
            writer.statement()
            writer.emit("PAUSE")
    if not ordered and rng.random() < 0.6:
        one, two = rng.sample(range(created + 1), 2)
        for writer, text in zip(
            (writers[one], writers[two]), handed(shared, writers[one], writers[two], 0), strict=True
        ):
            places = [p for p in range(len(writer.lines) + 1) if p == 0 or writer.lines[p - 1] == "PAUSE"]
            writer.lines.insert(rng.choice(places) if any(word in text for word in WAITS) else places[-1], text)
    if not clean and rng.random() < 0.6:
        rng.choice(writers).fault()
    texts = [_thread(shared, writer, created) for writer in writers]
    begin, joins = _begin_and_joins(shared, created, ordered)
    late = joins[-1:] if not clean and rng.random() < 0.05 else []
    body = f"{_lines(begin)}{texts[-1]}{_lines(joins[: len(joins) - len(late)])}"
    text = _helpers(n) + "".join(f"{line}\n" for line in shared.declared) + "".join(texts[:-1])
    observed = tuple(dict.fromkeys(shared.observed))
    return RandomProgram(text, body, observed, _lines([*late, *shared.end]), clean, shared.untold)


def _lines(lines):
    return "".join(f"    {line}\n" for line in lines)


def _thread(shared, writer, created):
    """The function of a thread, or the statements of main between its creations and joins."""
    n = shared.name
    names = [(n(f"r{writer.number}_{number}"), *register) for number, register in enumerate(writer.registers)]
    for kept, _, kind in names:
        shared.declare(f"{kind} {kept}")
        shared.observed.append(kept)
    lines = [*(f"{kind} {register} = 0;" for _, register, kind in names), *writer.lines]
    lines += [f"{kept} = {register};" for kept, register, _ in names]
    if writer.number < created:
        lines = [f"GATE({n('gate')}, {created})", *lines, "return 0;"]
    inside = _lines(lines)
    head = f"static void *{n('thread')}{writer.number}(void *unused)\n"
    return f"{head}{{\n{inside}}}\n" if writer.number < created else inside


def _helpers(n):
    return f"""IN({n("")}) int {n("gate")};
struct {n("pair")} {{ int a; unsigned b; }};
static _Thread_local unsigned {n("own")} = 1;
static int {n("plus")}(int a, int b) {{ return (int)((unsigned)a + (unsigned)b); }}
static int {n("mix")}(int a, int b) {{ return a < b ? (a ^ b) : b; }}
static int (*const {n("ops")}[2])(int, int) = {{ {n("plus")}, {n("mix")} }};
static int {n("down")}(int a) {{ return a <= 0 ? 1 : a + {n("down")}(a - 1); }}
static int {n("sum")}(struct {n("pair")} p) {{ return (int)((unsigned)p.a + p.b); }}
static int {n("get")}(int *p) {{ return *p; }}
static void {n("put")}(int *p, int value) {{ *p = value; }}
static int *{n("dead")}(void) {{ int w = 1; int *volatile p = &w; return p; }}
"""


def _begin_and_joins(shared, created, ordered):
    """What main sets up and how it creates the threads, and how it joins them; ``ordered``: the first by itself."""
    n = shared.name
    joins = [f"pthread_join({n('t')}[{number}], 0);" for number in range(created)]
    begin = [f"{n('own')} = 1;", *shared.begin, f"pthread_t {n('t')}[{created}];"]
    for number in range(created):
        begin.append(f"pthread_create(&{n('t')}[{number}], 0, {n('thread')}{number}, 0);")
        begin += [joins[number]] if ordered and number == 0 else []
    return begin, joins[1 if ordered else 0 :]
