"""Programs of C as clang has them: the language, threads and locks, and what is said of what is no C or not known."""

import pytest
from commands import synth
from programs import read_c
from refusals import refusal

from constraints.executions import judge_by_sat
from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from corpus.dialects.registry import parse_litmus
from corpus.litmus.instructions import Barrier
from corpus.litmus.locations import Loc
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import CheckAnswer, check

HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
"""


def program(text):
    module = read_c(text, "t.c")
    return program_of(module, module.functions["main"], KernelLaunch())


def findings(text, model="rc11"):
    (consistency,) = resolve_consistency_models([model])
    return check(program(text), consistency, "", 1, "fair")


LANGUAGE = r"""
#include <assert.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
enum color { RED, GREEN = 5, BLUE };
struct point { int x, y; };
struct line { struct point from, to; const char *name; };
static struct line lines[2] = { { {1, 2}, {3, 4}, "a" }, { .to = { .y = 9 }, .from.x = 7 } };
static int table[] = { [3] = 4, 5 };
typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int mul(int a, int b) { return a * b; }
static int apply(operation f, int a, int b) { return f(a, b); }
static int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static int sum(const int *a, size_t n) { int s = 0; for (size_t i = 0; i < n; ++i) s += a[i]; return s; }
static int counter(void) { static int n; return ++n; }
static struct point *origin(struct point *p) { p->x = p->y = 0; return p; }
static int by_value(struct point p) { p.x += 10; return p.x + p.y; }
_Static_assert(sizeof(int) == 4, "");
int main(void)
{
    int i, j = 3, k;
    for (i = 0, k = 0; i < 10; i++) { if (i == 2) continue; if (i == 6) break; k += i; }
    assert(k == 0 + 1 + 3 + 4 + 5);
    while (j--) if (j == 1) goto out;
out:
    assert(j == 1);
    do { j++; } while (j < 5);
    assert(j == 5);
    assert((7 % 3) == 1 && -7 % 3 == -1 && -7 / 2 == -3);
    unsigned u = 0; u--; assert(u == UINT_MAX && u == 4294967295u && u > 0);
    assert(-1 < 0u ? 0 : 1);
    uint8_t b = 250; b += 10; assert(b == 4);
    int8_t s = 127; s++; assert(s == -128);
    uint16_t h = 65535; h += 2; assert(h == 1);
    short sh = (short)70000; assert(sh == 4464);
    long long L = 1LL << 40; assert(L / 1024 == 1LL << 30); assert((int)L == 0);
    int64_t big = INT_MAX; big += 1; assert(big == 2147483648L);
    assert((unsigned char)-1 == 255); assert((_Bool)5 == 1);
    bool t = 42; assert(t == 1); t = !t; assert(!t);
    assert(lines[0].to.y == 4 && lines[1].from.x == 7 && lines[1].to.y == 9 && lines[1].to.x == 0);
    assert(table[3] == 4 && table[4] == 5 && sizeof(table) / sizeof(table[0]) == 5);
    assert(GREEN == 5 && BLUE == 6);
    assert(apply(add, 2, 3) == 5 && apply(&mul, 2, 3) == 6);
    assert(fact(5) == 120);
    int a = 1, c = 2; swap(&a, &c); assert(a == 2 && c == 1);
    int arr[4] = {1, 2, 3}; assert(sum(arr, 4) == 6); assert(sum(arr + 1, 2) == 5);
    int *p = arr, *q = &arr[3]; assert(q - p == 3 && p < q && *(q - 1) == 3); *p++ = 8;
        assert(arr[0] == 8 && *p == 2); assert(*++p == 3); assert(p[-1] == 2);
    counter(); counter(); assert(counter() == 3);
    struct point pt = {3, 4}, pu; pu = pt; assert(pu.y == 4); assert(by_value(pt) == 17 && pt.x == 3);
        assert(origin(&pt)->x == 0 && pt.y == 0);
    struct point *heap = malloc(3 * sizeof *heap); heap[2].x = 5; assert((heap + 2)->x == 5);
    memset(heap, 0, 3 * sizeof(*heap)); assert(heap[2].x == 0);
    struct point *z = calloc(2, sizeof(struct point)); assert(z[1].y == 0); z[1] = (struct point){ 4, 5 };
        assert(z[1].y == 5);
    switch (a + 1) { case 1: k = 1; break; case 3: k = 3; case 4: k += 10; break; default: k = 0; }
    assert(k == 13);
    int grid[2][3] = {{1, 2, 3}, {4, 5, 6}}; assert(grid[1][2] == 6 && sizeof grid == 24);
        int (*row)[3] = &grid[1]; assert((*row)[0] == 4);
    k = (a = 4, a + 1); assert(k == 5 && a == 4);
    k = a > 3 ? a < 5 ? 1 : 2 : 3; assert(k == 1);
    assert((a & 6) == 4 && (a | 1) == 5 && (a ^ 5) == 1 && ~a == -5 && a << 2 == 16 && -16 >> 2 == -4);
    a <<= 1; a |= 1; a %= 5; a ^= 3; assert(a == 7);
    assert('a' == 97 && '\n' == 10 && '\x41' == 65 && '\0' == 0 && "hey"[1] == 'e');
    atomic_int x = 5; x++; x += 3; --x; assert(x == 8); x *= 2; assert(x == 16); assert(x++ == 16 && ++x == 18);
    assert(atomic_fetch_add(&x, 2) == 18 && atomic_load(&x) == 20); int e = 20;
        assert(atomic_compare_exchange_strong(&x, &e, 1)); e = 7;
    assert(!atomic_compare_exchange_strong(&x, &e, 2) && e == 1); assert(atomic_exchange(&x, 9) == 1); x = 3;
        assert(x == 3);
    atomic_flag fl = ATOMIC_FLAG_INIT;
        assert(!atomic_flag_test_and_set(&fl) && atomic_flag_test_and_set(&fl)); atomic_flag_clear(&fl);
        assert(!atomic_flag_test_and_set(&fl));
    int *_Atomic ap = arr; ap = arr + 1; assert(*ap == 2); ap++; assert(*ap == 3);
    double d = 1.5; d *= 2; assert(d == 3.0 && (int)d == 3);
    int n = 0; n += counter() == 4 || counter() == 5; assert(n == 1 && counter() == 5); n = 0 && counter();
        assert(counter() == 6);
    void *vp = &a; assert(*(int *)vp == 7); intptr_t ip = (intptr_t)vp; assert((int *)ip == &a && ip);
    assert(sizeof(struct line) == 24 && sizeof(char) == 1 && sizeof "abc" == 4);
    for (int m = 0; m < 3; m++) for (int m2 = 0; m2 < m; m2++) n += m * m2; assert(n == 2);
    const char *str = "xyz"; int len = 0; while (*str++) len++; assert(len == 3);
    return 0;
}
"""


def test_the_language_is_computed():
    """Each of these is true to gcc, too (-std=c11)."""
    assert program(LANGUAGE).test.threads == ()


def test_an_assertion_that_is_false_is_found():
    answers = findings(LANGUAGE.replace("assert(fact(5) == 120);", "assert(fact(5) == 121);"))
    (finding,) = answers.findings
    assert LANGUAGE.splitlines()[finding.lines[0].line - 1].strip() == "assert(fact(5) == 120);"


THREADS = {
    "main_writes": (
        "",
        r"""
int x; atomic_int y;
void *f(void *a) { assert(x == 1 && *(int *)a == 7); x = 2; return (void *)(intptr_t)(x + 40); }
int main(void) { pthread_t t; int arg = 3; void *r; atomic_fetch_add(&y, 1); x = 1; arg = 7;
    pthread_create(&t, 0, f, &arg); pthread_join(t, &r); assert(x == 2 && (intptr_t)r == 42); return 0; }
""",
    ),
    "main_effect_first": (
        "",
        r"""
int x; atomic_int y;
void *g(void *a) { atomic_store(&y, 5); return 0; }
void *f(void *a) { assert(x == 1); x = 2; return 0; }
int main(void) { pthread_t t, u; pthread_create(&u, 0, g, 0); atomic_load(&y); x = 1;
    pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(x == 2); pthread_join(u, 0); assert(y == 5);
    return 0; }
""",
    ),
    "main_worker": (
        "race",
        r"""
int x;
void *f(void *a) { x = 2; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); x = 3; pthread_join(t, 0); return 0; }
""",
    ),
    "no_join": (
        "race trap",
        r"""
int x;
void *f(void *a) { x = 2; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); assert(x == 0); return 0; }
""",
    ),
    "mutex": (
        "",
        r"""
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int c;
void *f(void *a) { pthread_mutex_lock(&m); c++; pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t t[2]; for (int i = 0; i < 2; i++) pthread_create(t + i, 0, f, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0); assert(c == 2); return 0; }
""",
    ),
    "mutex_deadlock": (
        "hang",
        r"""
pthread_mutex_t m, n;
void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m); return 0; }
void *g(void *a) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n); return 0; }
int main(void) { pthread_t t[2]; pthread_mutex_init(&m, NULL); pthread_mutex_init(&n, NULL);
    pthread_create(t, 0, f, 0); pthread_create(t + 1, 0, g, 0); pthread_join(t[0], 0); pthread_join(t[1], 0);
    return 0; }
""",
    ),
    "cond_if": (
        "trap",
        r"""
pthread_mutex_t m; pthread_cond_t c; int ready, data;
void *f(void *a) { pthread_mutex_lock(&m); if (!ready) pthread_cond_wait(&c, &m); assert(data == 1);
    pthread_mutex_unlock(&m); return 0; }
void *g(void *a) { pthread_mutex_lock(&m); data = 1; ready = 1; pthread_cond_signal(&c);
    pthread_mutex_unlock(&m); return 0; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, f, 0); pthread_create(t + 1, 0, g, 0); return 0; }
""",
    ),
    "struct_args": (
        "",
        r"""
struct work { pthread_t id; int n; int out; };
void *f(void *a) { struct work *w = a; w->out = w->n * 2; return NULL; }
int main(void) { struct work w[2]; for (int i = 0; i < 2; i++) { w[i].n = i + 1;
    pthread_create(&w[i].id, 0, f, &w[i]); } int s = 0;
    for (int i = 0; i < 2; i++) { pthread_join(w[i].id, NULL); s += w[i].out; } assert(s == 6); return 0; }
""",
    ),
    "malloc": (
        "uninitialised",
        r"""
int *_Atomic p;
void *f(void *a) { int *q = malloc(sizeof(int)); atomic_store(&p, q); return 0; }
void *g(void *a) { int *q = atomic_load(&p); if (q) { int v = *q; assert(v == v); } return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); return 0; }
""",
    ),
    "deref": (
        "bounds",
        r"""
struct n { int a; int b; }; struct n *_Atomic p; struct n s;
void *f(void *a) { s.b = 4; p = &s; return 0; }
void *g(void *a) { struct n *q = p; assert(q->b == 4); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); return 0; }
""",
    ),
    "once_tls": (
        "",
        r"""
pthread_once_t o = PTHREAD_ONCE_INIT; int init; _Thread_local int mine = 3;
void doit(void) { init++; }
void *f(void *a) { pthread_once(&o, doit); mine++; assert(init == 1 && mine == 4); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, f, 0);
    pthread_join(t, 0); pthread_join(u, 0); return 0; }
""",
    ),
    "index": (
        "bounds",
        r"""
int a[2]; atomic_int i;
void *f(void *x) { i = 2; return 0; }
void *g(void *x) { a[i] = 1; return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); return 0; }
""",
    ),
    "barrier": (
        "",
        r"""
pthread_barrier_t b; int x[2];
void *f(void *a) { int me = (int)(intptr_t)a; x[me] = 1; pthread_barrier_wait(&b); assert(x[1 - me] == 1); return 0; }
int main(void) { pthread_t t, u; pthread_barrier_init(&b, NULL, 2); pthread_create(&t, 0, f, (void *)0);
    pthread_create(&u, 0, f, (void *)1); pthread_join(t, 0); pthread_join(u, 0); return 0; }
""",
    ),
    "nested_creation": (
        "",
        r"""
int x; pthread_t u;
void *g(void *a) { assert(x == 1); x = 2; return 0; }
void *f(void *a) { pthread_t v; x = 1; pthread_create(&v, 0, g, 0); pthread_join(v, 0); assert(x == 2); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); assert(x == 2); return 0; }
""",
    ),
    "sb_relaxed": (
        "trap",
        r"""
atomic_int x, y; int r, s;
void *f(void *a) { atomic_store_explicit(&x, 1, memory_order_relaxed);
    r = atomic_load_explicit(&y, memory_order_relaxed); return 0; }
void *g(void *a) { atomic_store_explicit(&y, 1, memory_order_relaxed);
    s = atomic_load_explicit(&x, memory_order_relaxed); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0);
    pthread_join(u, 0); assert(r || s); return 0; }
""",
    ),
    "sb": (
        "",
        r"""
atomic_int x, y; int r, s;
void *f(void *a) { x = 1; r = y; return 0; }
void *g(void *a) { y = 1; s = x; return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); pthread_join(t, 0);
    pthread_join(u, 0); assert(r || s); return 0; }
""",
    ),
    "weak_cas": (
        "trap",
        r"""
atomic_int x;
void *f(void *a) { int e = 0; assert(atomic_compare_exchange_weak(&x, &e, 1)); return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return 0; }
""",
    ),
    "forever": (
        "hang",
        r"""
atomic_int x;
void *f(void *a) { while (!x) ; return 0; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); return 0; }
""",
    ),
    "list": (
        "",
        r"""
struct node { int v; struct node *next; }; struct node *_Atomic head;
void *f(void *a) { struct node *n = malloc(sizeof *n); n->v = 1; n->next = NULL;
    struct node *m = malloc(sizeof *m); m->v = 2; m->next = n;
    atomic_store_explicit(&head, m, memory_order_release); return 0; }
void *g(void *a) { int s = 0;
    for (struct node *n = atomic_load_explicit(&head, memory_order_acquire); n; n = n->next) s = s * 10 + n->v;
    assert(s == 0 || s == 21); return 0; }
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); return 0; }
""",
    ),
}


THREADS |= {
    "freed": (
        "",
        """
struct q { int x; int *p; };
void *f(void *a)
{
    struct q *s = a;
    int *l = malloc(sizeof *l);
    *l = 3;
    s->x = 2;
    s->p = l;
    return 0;
}
int main(void)
{
    pthread_t t;
    struct q *s = malloc(sizeof *s);
    pthread_create(&t, 0, f, s);
    pthread_join(t, 0);
    assert(s->x == 2 && *s->p == 3);
    free(s->p);
    free(s);
    free(NULL);
    return 0;
}
""",
    ),
    "intrusive_list_and_functions_by_address": (
        "",
        """
#include <string.h>
void reach_error(void) { assert(0); }
void abort(void);
int exit_count;
void usleep(unsigned n) { exit_count += n; }
struct ops { int (*get)(void *); void (*put)(void *, int); };
static int get(void *p) { return atomic_load((atomic_int *)p); }
static void put(void *p, int v) { atomic_store((atomic_int *)p, v); }
static const struct ops ops = { .get = get, .put = put };
typedef struct list_head { struct list_head *next, *prev; } list_t;
struct item { list_t link; int v; };
static list_t head = { &head, &head };
static void add(list_t *n) { n->next = head.next; n->prev = &head; head.next->prev = n; head.next = n; }
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int word;
struct arg { const struct ops *o; struct item *it; char name[8]; };
void *t(void *p) {
    struct arg *a = p;
    pthread_mutex_lock(&m);
    add(&a->it->link);
    pthread_mutex_unlock(&m);
    ops.put(&word, ops.get(&word) | 1);
    return NULL;
}
int main(void) {
    struct item items[2];
    struct arg args[2];
    pthread_t th[2];
    memset(args, 0, sizeof(args));
    usleep(3);
    for (int i = 0; i < 2; i++) {
        items[i].v = i;
        args[i] = (struct arg){ &ops, &items[i] };
    }
    for (int i = 0; i < 2; i++) if (pthread_create(&th[i], NULL, t, &args[i]) != 0) abort();
    for (int i = 0; i < 2; i++) pthread_join(th[i], NULL);
    int n = 0;
    for (list_t *l = head.next; l != &head; l = l->next) n += ((struct item *)l)->v + 1;
    if (n != 3 || word != 1 || exit_count != 3) reach_error();
}
""",
    ),
    "freed_while_another_thread_reads": (
        "race",
        """
int *_Atomic shared;
void *f(void *a) { int *p = shared; return p ? (void *)(intptr_t)*p : 0; }
void *g(void *a) { int *p = atomic_exchange(&shared, NULL); free(p); return 0; }
int main(void)
{
    pthread_t t, u;
    int *p = malloc(sizeof *p);
    *p = 1;
    shared = p;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, g, 0);
    return 0;
}
""",
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("kinds", "text"), THREADS.values(), ids=THREADS)
def test_threads(kinds, text):
    answers = findings(HEAD + text)
    assert {finding.kind for finding in answers.findings} == set(kinds.split())
    undefined = answers.answers["race"] is CheckAnswer.FOUND
    assert undefined or set(answers.answers.values()) <= {CheckAnswer.SAFE, CheckAnswer.FOUND}


def test_a_deadlock_of_locks_under_the_other_models():
    for model in ("sc", "c11"):
        assert [each.kind for each in findings(HEAD + THREADS["mutex_deadlock"][1], model).findings] == ["hang"]


def test_a_deadlock_that_nobody_waits_for_is_no_hang():
    text = r"""
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
void *f(void *a) { pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m); return 0; }
void *g(void *a) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n); return 0; }
int main(void) { pthread_t t[2]; pthread_create(t, 0, f, 0); pthread_create(t + 1, 0, g, 0); return 0; }
"""
    assert findings(HEAD + text).findings == ()


def test_what_main_does_before_there_are_threads_is_where_they_begin():
    text = (
        "int x = 1, a[3]; int *p; atomic_int f; "
        "void *t(void *v) { *p = x + a[2]; f = 1; x = a[2] = 0; p = a; return v; }"
    )
    create = "pthread_create(&h, 0, t, 0); "
    left = program(HEAD + text + f"int main(void) {{ pthread_t h; a[2] = x++; p = a; {create}{create}}}")
    thread, _ = left.test.threads
    assert left.names == ("t", "t")
    assert {each.name: each.initial for each in left.test.locations} == {
        "a": 0,
        "a[8]": 1,
        "f": 0,
        "nowhere": 0,
        "p": Loc("a"),
        "x": 2,
    }
    assert not any(isinstance(ins, Barrier) for ins in thread.instructions)


def test_a_lock_of_the_library_is_told_at_the_line_that_takes_it(tmp_path):
    path = tmp_path / "deadlock.c"
    path.write_text(HEAD + THREADS["mutex_deadlock"][1])
    result = synth("check", path, "--unroll", 1)
    assert result.exit_code == 1
    assert "thread 1 (f) may go round for ever under fair" in result.output
    assert "deadlock.c:" in result.output and "library.c" not in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { return 0 }", "t.c:1:26: error: expected ';' after return statement"),
        ("int f(void);", "t.c: expected a function main"),
        ("#include <windows.h>\nint main(void) { }", "t.c:1:10: fatal error: 'windows.h' file not found"),
        ('#include "no.h"\nint main(void) { }', "t.c:1:10: fatal error: 'no.h' file not found"),
        ("#error no\nint main(void) { }", "t.c:1:2: error: no"),
        ("int main(void) {\n  goto out; }", "t.c:2:8: error: use of undeclared label 'out'"),
        ("int main(void) {\n  break; }", "t.c:2:3: error: 'break' statement not in loop"),
        ("int main(void) {\n  x = 1; }", "t.c:2:3: error: use of undeclared identifier 'x'"),
        ("struct p { int x; } q;\nint main(void) {\n  q.z = 1; }", "t.c:3:5: error: no member named 'z' in 'struct p'"),
        ("#include <stdatomic.h>\natomic_int x;\nint main(void) {\n"
         "  atomic_load_explicit(&x, memory_order_release); }", "t.c:4:28: error: memory order argument"),
        ("int main(void) { " + "(" * 5000 + "1" + ")" * 5000 + "; }", "fatal error: bracket nesting level exceeded"),
        ("int main(void) " + "{" * 5000 + "}" * 5000, "fatal error: bracket nesting level exceeded"),
        ("_Static_assert(sizeof(int) == 3, \"small\");\nint main(void) { }", "t.c:1:16: error: static assertion"),
        ("int main(void) {\n  frob(3); }", "t.c:2:3: frob has no code here"),
        ('int main(void) {\n  asm volatile("mfence"); }', "t.c:2:3: the assembly 'mfence' is not understood"),
        ("int f(int n) { return f(n + 1); }\nint main(void) { f(0); }", "t.c:1:23: more than 200 calls"),
        ("int a[999999999];\nint main(void) { return a[5]; }", "t.c:1:1: LLVM: a has 3,999,999,996 bytes"),
        ("int main(void) {\n  int a[1 << 24]; return a[5]; }", "t.c:2:1: an object of more than 4,194,304 bytes"),
        ("#include <stdlib.h>\nint main(void) { for (;;) malloc(8); }", "more than 64 objects of one call"),
    ],
)  # fmt: skip
def test_what_is_no_c_or_not_understood_is_named_with_its_place(text, message):
    assert message in refusal(program, text)


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ("", "union u { int a; unsigned char b[4]; } x;\n"
             "int main(void) { x.a = 0x01020304; assert(x.b[0] == 4 && x.b[3] == 1); }"),
        ("", "struct s { int a : 3; unsigned b : 5, : 0, c : 1; } x;\n"
             "int main(void) { x.a = 3; x.b = 33; x.c = 1; x.a++; assert(x.a == -4 && x.b == 1 && x.c == 1); }"),
        ("", "struct __attribute__((packed)) p { char a; int b; } x = { 1, 2 };\n"
             "int main(void) { assert(sizeof x == 5 && *((char *)&x + 1) == 2); }"),
        ("", "int main(void) { float f = 1; uint32_t u; memcpy(&u, &f, 4); assert(u == 0x3f800000); }"),
        ("", "int main(void) { int n = 3, s = 0; int a[n]; for (int i = 0; i < n; i++) a[i] = i; assert(a[2] == 2); }"),
        ("", "int main(void) { switch (3) { if (0) { case 3: return 0; } } assert(0); }"),
        ("", "enum e { LOW = -1, HIGH }; int main(void) { enum e x = LOW; assert(x < 0 && x + 1 == HIGH); }"),
        ("", "#if 1 << 9999999999\n#endif\nint main(void) { }"),
        ("", "int a[999999999];\nint main(void) { }"),
        ("", "int main(void) { // a comment \\\n assert(0);\n }"),
        ("uninitialised", "int main(void) {\n  int x;\n  if (x) return 1; }"),
        ("bounds", "int main(void) { int a[2][3] = { 0 }; volatile int i = 3; return a[0][i]; }"),
    ],
)  # fmt: skip
def test_what_clang_understands(kinds, text):
    answers = findings("#include <string.h>\n" + HEAD + text)
    assert {finding.kind for finding in answers.findings} == set(kinds.split())
    assert set(answers.answers.values()) <= {CheckAnswer.SAFE, CheckAnswer.FOUND}


@pytest.mark.parametrize("name", ["/etc/passwd", "../../../../../../../../etc/passwd", "/dev/zero", "/proc/self/maps"])
def test_files_elsewhere_are_not_included(tmp_path, name):
    path = tmp_path / "t.c"
    path.write_text(f'#include "{name}"\nint main(void) {{ return 0; }}\n')
    result = synth("check", path)
    assert result.exit_code == 2
    (line,) = result.output.splitlines()
    assert f"t.c:1:10: includes '{name}', which is in neither the file's folder nor one of -I" in line


def test_macros_that_grow_without_bound_end_with_the_memory_that_is_allowed(tmp_path):
    doubled = "#define A0 1\n" + "".join(f"#define A{n + 1} A{n} + A{n}\n" for n in range(60))
    path = tmp_path / "t.c"
    path.write_text(doubled + "int main(void) { return A60; }\n")
    result = synth("--memory", "1024", "check", path)
    assert result.exit_code in (2, 3)
    assert "more than --memory allows" in result.output and "Traceback" not in result.output


def test_headers_beside_the_file_are_read_and_told(tmp_path):
    (tmp_path / "lock.h").write_text("extern int x;\nstatic void put(void)\n{\n    x = 1;\n}\n")
    path = tmp_path / "main.c"
    path.write_text(
        '#include <pthread.h>\n#include "lock.h"\nint x;\nvoid *t(void *a) { put(); return a; }\n'
        "int main(void) { pthread_t h; pthread_create(&h, 0, t, 0); put(); return 0; }\n"
    )
    result = synth("check", path)
    assert result.exit_code == 1
    assert "lock.h:4: x = 1;" in result.output


LIST = """
struct node { int v; struct node *next; } nodes[2];
_Atomic(struct node *) head;
void *f(void *a)
{
    nodes[0].v = 1;
    nodes[1].next = &nodes[0];
    atomic_store_explicit(&head, &nodes[1], memory_order_ORDER);
    return a;
}
void *g(void *a)
{
    struct node *n = atomic_load_explicit(&head, memory_order_acquire);
    if (n) { n = n->next; assert(n->v == 1); }
    return a;
}
int main(void) { pthread_t t, u; pthread_create(&t, 0, f, 0); pthread_create(&u, 0, g, 0); return 0; }
"""


@pytest.mark.parametrize(("order", "race"), [("release", False), ("relaxed", True)])
def test_what_is_left_of_a_program_is_a_litmus_test_of_c(tmp_path, order, race):
    path, left = tmp_path / "list.c", tmp_path / "left.litmus"
    path.write_text(HEAD + LIST.replace("ORDER", order))
    assert synth("check", path, "--litmus", left).exit_code == int(race)
    test = parse_litmus(left.read_text())
    assert "nodes[25] = {0, 0," in left.read_text()
    (rc11,) = resolve_consistency_models(["rc11"])
    assert ("data-race" in judge_by_sat(test, rc11.model).flags) is race


def test_a_program_has_no_launch(tmp_path):
    path = tmp_path / "t.c"
    path.write_text("int x;\nint main(void) { x = 1; return 0; }\n")
    assert synth("check", path).output.startswith(f"{path}: main: SAFE under rc11")
    result = synth("check", path, "--grid", 2)
    assert result.exit_code != 0
    assert "a program of C has no launch" in result.output


def test_words_for_the_compiler_are_those_of_the_preprocessor(tmp_path):
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "names.h").write_text("#define ONE 1\n")
    path = tmp_path / "t.c"
    path.write_text(
        "#include <assert.h>\n#include <names.h>\nint main(void) { assert(N == ONE && M == 1); return 0; }\n"
    )
    includes = ("-X", f"-I{tmp_path}/include")
    assert synth("check", path, *includes, "-X", "-DN=1", "-X", "-DM").exit_code == 0
    assert synth("check", path, "-X", "-I", "-X", f"{tmp_path}/include", "-X", "-DN=2", "-X", "-DM").exit_code == 1
    result = synth("check", path, *includes)
    assert result.exit_code == 2
    assert "t.c:3:25: error: use of undeclared identifier 'N'" in result.output


@pytest.mark.parametrize(("order", "known"), [("acquire", True), ("relaxed", True), ("release", False)])
def test_an_order_that_is_computed_is_one_that_the_access_may_have(order, known):
    text = (
        f"atomic_int x; memory_order o = memory_order_{order};\n"
        "void *f(void *a) { x = 1; return a; }\n"
        "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return atomic_load_explicit(&x, o) - 1; }\n"
    )
    if known:
        assert findings(HEAD + text).findings == ()
    else:
        assert "an atomic access in an order that it may not have" in refusal(program, HEAD + text)
