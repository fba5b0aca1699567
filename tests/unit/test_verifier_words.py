"""Words of verifiers in C, threads that stop early, and threads that nobody waits for."""

import pytest
from programs import read_c

from corpus.code.launch.launch import KernelLaunch
from corpus.code.program import program_of
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import check

HEAD = """\
#include <assert.h>
#include <genmc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
bool __VERIFIER_nondet_bool(void);
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
int plain; atomic_int x, y;
"""
TWO = """
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0);
    pthread_create(&b, 0, t1, 0);
    JOIN
    END
    return 0;
}
"""
BOTH = "pthread_join(a, 0); pthread_join(b, 0);"
SETS = "void *t1(void *_) { x = 1; return 0; }"


def answers(text, end="", join=BOTH, main=TWO):
    module = read_c(HEAD + text + main.replace("JOIN", join).replace("END", end), "t.c")
    program = program_of(module, module.functions["main"], KernelLaunch())
    (model,) = resolve_consistency_models(["rc11"])
    return check(program, model, "", 1, "fair")


def kinds(found):
    unknown = {"UNKNOWN"} & {str(answer) for answer in found.answers.values()}
    return {finding.kind for finding in found.findings} | unknown


@pytest.mark.parametrize(("value", "wanted"), [(1, set()), (0, {"trap"})])
def test_where_an_assumption_fails_nobody_goes_on(value, wanted):
    assumes = "void *t0(void *_) { __VERIFIER_assume(x == VALUE); return 0; }".replace("VALUE", str(value))
    assert kinds(answers(assumes + SETS, f"assert(x == {value});")) == wanted | set()


def test_others_go_on_where_an_assumption_fails():
    text = "void *t0(void *_) { __VERIFIER_assume(0); return 0; } void *t1(void *_) { assert(0); return 0; }"
    assert kinds(answers(text)) == {"trap"}


def test_an_assumption_that_never_holds_is_told():
    found = answers("void *t0(void *_) { __VERIFIER_assume(x == 2); return 0; }" + SETS)
    assert not kinds(found)
    assert any("in no execution" in note for note in found.program.assumed)


@pytest.mark.parametrize(("wanted", "more"), [(set(), 2), ({"trap"}, 1)])
def test_blocks_that_are_atomic_and_a_bit_that_may_be_either(wanted, more):
    text = (
        "void *t0(void *_) { __VERIFIER_atomic_begin(); plain++; __VERIFIER_atomic_end(); return 0; }\n#define t1 t0\n"
    )
    assert kinds(answers(text, f"if (__VERIFIER_nondet_bool()) assert(plain == {more});")) == wanted


@pytest.mark.parametrize("stops", ["abort();", "__VERIFIER_error();", "*(int *)0 = 1;"])
def test_who_joins_a_thread_that_stops_early_stops_as_well(stops):
    text = f"void __VERIFIER_error(void); void *t0(void *_) {{ if (x) {{ {stops} }} return 0; }}"
    found = answers(text + SETS, "y = x;")
    assert kinds(found) == {"bounds" if "int *" in stops else "trap"}
    assert found.hang["fair"] == "TERMINATES"


def test_threads_by_the_words_of_verifiers():
    text = "void *t0(void *_) { plain = 1; return (void *)7; }"
    main = """int main(void)
    {
        __VERIFIER_thread_t t = __VERIFIER_spawn(t0, 0);
        assert((long)__VERIFIER_join(t) == 7 && plain == WANTED);
        return 0;
    }"""
    for wanted, found in (("1", set()), ("2", {"trap"})):
        assert kinds(answers(text, main=main.replace("WANTED", wanted))) == found


@pytest.mark.parametrize(("value", "wanted"), [(0, {"trap"}), (2, set())])
def test_a_trap_beside_a_thread_that_never_ends_and_that_nobody_waits_for(value, wanted):
    text = (
        f"void *t0(void *_) {{ while (!y) ; return 0; }} void *t1(void *_) {{ if (x == {value}) abort(); return 0; }}"
    )
    found = answers(text, join="")
    assert kinds(found) == wanted
    assert any("never end" in note for note in found.program.assumed)


def test_names_of_the_library_are_not_those_of_a_program():
    text = "static int synth_self(void) { return 7; } void *t0(void *_) { pthread_mutex_t m; pthread_mutex_init(&m, 0);"
    text += ' assert("text" && synth_self() == 7); pthread_mutex_unlock(&m); return 0; }'
    assert kinds(answers(text + SETS)) == {"trap"}


def test_a_barrier_that_is_destroyed():
    text = "void *t0(void *_) { return 0; } pthread_barrier_t m;"
    end = "pthread_barrier_init(&m, 0, 1); pthread_barrier_wait(&m); pthread_barrier_destroy(&m);"
    assert not kinds(answers(text + SETS, end))
    assert kinds(answers(text + SETS, end + "pthread_barrier_wait(&m);")) == {"trap"}


@pytest.mark.parametrize("asks", ["malloc(-2)", "aligned_alloc(3, 9)"])
def test_memory_that_cannot_be_asked_for(asks):
    assert kinds(answers("void *t0(void *_) { return 0; }" + SETS, f"void *m = {asks};")) == {"trap"}
