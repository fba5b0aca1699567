"""Addresses in programs of C: where those from memory lead to, memory that is given back, and what others see of it."""

import pytest
from programs import read_c

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import check

HEAD = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#define relaxed memory_order_relaxed
#define acquire memory_order_acquire
#define release memory_order_release
#define get(x, order) atomic_load_explicit(&x, order)
#define put(x, value, order) atomic_store_explicit(&x, value, order)
"""
MAIN = """
int main(void)
{
    pthread_t a, b;
    BEGIN
    pthread_create(&a, 0, t0, 0);
    pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    END
    return 0;
}
"""


def answers(text, begin="", end="", main=MAIN):
    module = read_c(HEAD + text + main.replace("BEGIN", begin).replace("END", end), "t.c")
    program = program_of(module, module.functions["main"], KernelLaunch())
    (model,) = resolve_consistency_models(["rc11"])
    return check(program, model, "", 1, "fair")


def worst(found):
    return {str(answer) for answer in found.answers.values()} - {"SAFE"}


def kinds(found):
    return {finding.kind for finding in found.findings}


def test_an_address_that_is_computed_with_as_a_number_gives_no_answer():
    """Executions in which a product of addresses decides something have no meaning, and are not those that are none."""
    found = answers(
        """
        int node; _Atomic(uintptr_t) top;
        void *t0(void *a) { put(top, (uintptr_t)&node, relaxed); return 0; }
        void *t1(void *a) { uintptr_t t = get(top, relaxed); assert(!(t & 4)); return 0; }
        """
    )
    assert worst(found) == {"UNKNOWN"}


def test_an_access_of_another_size_than_its_location_gives_no_answer():
    found = answers(
        """
        struct pair { int a, b; } s = { 1, 2 }; _Atomic(long *) p;
        void *t0(void *a) { s.b = 3; put(p, (long *)&s, release); return 0; }
        void *t1(void *a) { long *q = get(p, acquire); if (q) assert(*q == 0x200000001); return 0; }
        """
    )
    assert worst(found) == {"UNKNOWN"}


NODES = """
struct node { int value; struct node *next; };
_Atomic(struct node *) top; atomic_int taken;
void *t0(void *a)
{
    struct node *n = malloc(sizeof *n);
    n->value = 1; n->next = 0;
    put(top, n, PUBLISHED);
    return 0;
}
void *t1(void *a)
{
    struct node *n = get(top, acquire);
    if (n) { int value = n->value; free(n); USE }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("use", "order", "wanted"),
    [
        ("assert(value == 1);", "release", set()),
        ("n->value = 2;", "release", {"bounds"}),
        ("value = n->next != 0;", "release", {"bounds"}),
        ("free(n);", "release", {"bounds"}),
        ("assert(value == 1);", "relaxed", {"race", "uninitialised", "trap"}),
    ],
)
def test_a_node_that_another_thread_has_published(use, order, wanted):
    found = answers(NODES.replace("PUBLISHED", order).replace("USE", use))
    assert kinds(found) == wanted


STACK = """
_Atomic(int *) p; atomic_int done;
static void show(void) { int x = 1; put(p, &x, release); WAIT }
void *t0(void *a) { show(); return 0; }
void *t1(void *a) { int *q; while (!(q = get(p, acquire))) ; *q = 2; put(done, 1, DONE); return 0; }
"""


@pytest.mark.parametrize(
    ("wait", "done", "wanted"),
    [
        ("while (!get(done, acquire)) ;", "release", set()),
        ("while (!get(done, acquire)) ;", "relaxed", {"race"}),
        ("", "release", {"race"}),
    ],
)
def test_a_variable_of_the_stack_that_others_write(wait, done, wanted):
    assert kinds(answers(STACK.replace("WAIT", wait).replace("DONE", done))) - {"trap"} == wanted


SERVER = """
int x; atomic_int request, reply;
void *serve(void *a)
{
    for (;;) {
        while (!get(request, acquire)) ;
        put(request, 0, relaxed);
        x = 1;
        put(reply, 1, ORDER);
    }
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, serve, 0);
    put(request, 1, release);
    while (!get(reply, acquire)) ;
    assert(x == 1);
    LEAVE
}
"""


@pytest.mark.parametrize(("leave", "hang"), [("return 0;", "TERMINATES"), ("pthread_exit(0);", "MAY_HANG")])
def test_a_program_ends_where_its_first_thread_does(leave, hang):
    found = answers(SERVER.replace("LEAVE", leave).replace("ORDER", "release"), main="")
    assert found.hang["fair"] == hang


@pytest.mark.parametrize(("order", "wanted"), [("release", set()), ("relaxed", {"race", "trap"})])
def test_what_a_server_does_that_nobody_waits_for_is_seen(order, wanted):
    """It never comes to its end, and the program does: it is stopped wherever it is then."""
    found = answers(SERVER.replace("LEAVE", "return 0;").replace("ORDER", order), main="")
    assert kinds(found) == wanted
    assert worst(found) == ({"FOUND", "UNKNOWN"} if wanted else set())


@pytest.mark.parametrize(
    ("index", "wanted"),
    [("get(i, relaxed) & 1", set()), ("get(i, relaxed)", {"bounds"}), ("1 - get(i, relaxed)", {"bounds"})],
)
def test_an_index_that_memory_gives(index, wanted):
    found = answers(
        f"""
        atomic_int i; struct {{ int before; _Atomic int data[2]; int behind; }} s;
        void *t0(void *a) {{ put(i, 2, relaxed); return 0; }}
        void *t1(void *a) {{ atomic_store_explicit(&s.data[{index}], 1, relaxed); return 0; }}
        """
    )
    assert kinds(found) == wanted


@pytest.mark.parametrize(("length", "wanted"), [(2, set()), (1, {"bounds"})])
def test_an_address_in_memory_that_is_moved(length, wanted):
    take = "{ int *p = atomic_fetch_add(&next, 1); *p = 1; return 0; }"
    found = answers(
        f"int data[{length}]; _Atomic(int *) next = data; void *t0(void *a) {take} void *t1(void *a) {take}"
    )
    assert kinds(found) == wanted
    assert worst(found) == ({"FOUND"} if wanted else set())


@pytest.mark.parametrize(("member", "wanted"), [("x.c", {"race"}), ("y.d", set())])
def test_a_struct_is_copied_while_a_member_of_it_is_written(member, wanted):
    found = answers(
        f"""
        struct s {{ int a; long b; char c; }} x; struct {{ struct s s; char d; }} y;
        void *t0(void *a) {{ y.s = x; return 0; }}
        void *t1(void *a) {{ {member} = 1; return 0; }}
        """
    )
    assert kinds(found) == wanted


def test_names_of_places_are_those_of_the_source():
    found = answers(
        """
        struct { int head; struct { int x, y; } items[2]; } ring;
        void *t0(void *a) { ring.items[1].y = 1; return 0; }
        void *t1(void *a) { ring.items[1].y = 2; return 0; }
        """
    )
    (race,) = found.findings
    assert "ring.items[1].y" in race.text
    assert {event.location for event in race.execution.events} >= {"ring.items[1].y"}


LITERALS = """
struct s { int a, b; };
int sum(struct s *p) { return p->a + p->b; }
int main(void)
{
    struct s *q = &(struct s){1, 2}, v = (struct s){3, 4};
    BODY
    return sum(&(struct s){1, 2}) + q->a + v.a;
}
"""


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("", False),
        ("if (q->a) v = (struct s){5, 6};", False),
        ("if (q->a) { v.a = ((struct s){5, 6}).a; }", False),
        ("if (q->a) { q = &(struct s){5, 6}; }", True),
        ("{ int *p = &((struct s){5, 6}).b; *p = 1; }", True),
        ("if (q->a) v.a = sum(&(struct s){5, 6});", True),
        ("while (q->b--) q = &(struct s){5, 6};", True),
    ],
)
def test_a_compound_literal_is_said_to_be_used_in_its_block(body, kept):
    module = read_c(LITERALS.replace("BODY", body), "t.c")
    program = program_of(module, module.functions["main"], KernelLaunch())
    note = "the compound literal of line 7 is used in its block only"
    assert [said for said in program.assumed if "literal" in said] == [note] * kept
