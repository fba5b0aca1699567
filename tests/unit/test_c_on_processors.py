"""Programs of C under the models of processors: the orders of C are what compilers make of them there."""

import pytest
from programs import read_c

from corpus.code.launch.launch import KernelLaunch
from corpus.code.mapped import MAPPINGS
from corpus.code.program import program_of
from corpus.executions.translation import read_mapping
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.orders import Order
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import check

BUFFERED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y; int r0, r1;
void *t0(void *a) { atomic_store_explicit(&x, 1, STORE); FENCE r0 = atomic_load_explicit(&y, LOAD); return 0; }
void *t1(void *a) { atomic_store_explicit(&y, 1, STORE); FENCE r1 = atomic_load_explicit(&x, LOAD); return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(r0 || r1);
}
"""
PASSED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int data, flag;
void *t0(void *a) { atomic_store_explicit(&data, 1, memory_order_relaxed); FENCE atomic_store_explicit(&flag, 1, STORE); return 0; }
void *t1(void *a) { if (atomic_load_explicit(&flag, LOAD)) assert(atomic_load_explicit(&data, memory_order_relaxed)); return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0); pthread_join(b, 0);
}
"""  # noqa: E501

EXCHANGED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int data, flag;
void *t0(void *a)
{
    atomic_store_explicit(&data, 1, memory_order_relaxed);
    atomic_store_explicit(&flag, 2, memory_order_release);
    return 0;
}
void *t1(void *a)
{
    int found = 5;
    if (!EXCHANGE(&flag, &found, 3, STORE, LOAD) && found == 2)
        assert(atomic_load_explicit(&data, memory_order_relaxed));
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0); pthread_join(b, 0);
}
"""
"""Behind an exchange that fails."""
DONE = EXCHANGED.replace("found = 5", "found = 2").replace("(!EXCHANGE", "(EXCHANGE")
"""Behind an exchange that is done."""
AROUND = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y, d0, d1; int r0, r1;
void *t0(void *a)
{
    int e = 0;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    EXCHANGE(&d0, &e, 1, STORE, LOAD);
    r0 = atomic_load_explicit(&y, memory_order_relaxed);
    return 0;
}
void *t1(void *a)
{
    int e = 0;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    EXCHANGE(&d1, &e, 1, STORE, LOAD);
    r1 = atomic_load_explicit(&x, memory_order_relaxed);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(r0 || r1);
}
"""
"""Around an exchange of what nobody else accesses."""

FAILS = {
    # store, load, fence: the models under which the assertion may fail
    (BUFFERED, "seq_cst", "seq_cst", ""): "",
    (BUFFERED, "relaxed", "relaxed", "seq_cst"): "",
    (BUFFERED, "release", "acquire", ""): "rc11 x86 power riscv",  # stlr before ldar is kept in order
    (BUFFERED, "relaxed", "relaxed", ""): "rc11 x86 power riscv armv8",
    (PASSED, "release", "acquire", ""): "",
    (PASSED, "relaxed", "acquire", "release"): "",
    (PASSED, "relaxed", "acquire", ""): "rc11 power riscv armv8",
    (PASSED, "release", "relaxed", ""): "rc11 power riscv armv8",
    # the orders of an exchange that is done and of one that fails: Power has its isync only behind the one that
    # acquires (Sewell's table), lr.aq and ldaxr acquire whether the store is done or not
    (EXCHANGED, "acquire", "acquire", ""): "",
    (EXCHANGED, "acquire", "relaxed", ""): "rc11 power",
    (EXCHANGED, "relaxed", "acquire", ""): "",
    (EXCHANGED, "seq_cst", "relaxed", ""): "rc11 power",
    (EXCHANGED, "relaxed", "relaxed", ""): "rc11 power riscv armv8",
    (DONE, "acquire", "relaxed", ""): "",
    (DONE, "relaxed", "acquire", ""): "rc11 power",
    # ldaxr and stlxr, and lr.aq and sc.rl, are no full barrier; lr.aqrl is, with what is behind it
    (AROUND, "acq_rel", "acquire", ""): "rc11 power riscv armv8",
    (AROUND, "seq_cst", "seq_cst", ""): "rc11 armv8",
}


@pytest.mark.parametrize("model", ["rc11", *MAPPINGS])
@pytest.mark.parametrize(("program", "store", "load", "fence"), FAILS)
def test_a_shape_under_a_model(program, store, load, fence, model):
    text = program.replace("STORE", f"memory_order_{store}").replace("LOAD", f"memory_order_{load}")
    text = text.replace("EXCHANGE", "atomic_compare_exchange_strong_explicit")
    text = text.replace("FENCE", f"atomic_thread_fence(memory_order_{fence});" if fence else "")
    module = read_c(text, "t.c")
    (judge,) = resolve_consistency_models([model])
    found = check(program_of(module, module.functions["main"], KernelLaunch()), judge, "", 1, "fair")
    fails = model in FAILS[program, store, load, fence].split()
    assert {finding.kind for finding in found.findings} == ({"trap"} if fails else set())


FILES = {"armv8": "c11-to-armv8", "power": "c11-to-power-leading", "riscv": "c11-to-riscv"}
KINDS = {"R": Load, "W": Store, "rmw": Rmw, "F": Fence}


@pytest.mark.parametrize("model", FILES)
def test_a_mapping_is_that_of_its_file(model, request):
    """``synth map`` proves the files; what programs are judged by is the same."""
    path = request.config.rootpath / "examples" / "mappings" / f"{FILES[model]}.map"
    for word, sequence in read_mapping(path.read_text(), str(path)).rules:
        kind, _, order = word.text.partition(".")
        rule = MAPPINGS[model].get((KINDS[kind], Order(order or "weak")))
        words = [each.text for each in sequence if each.text != ";"]
        own = [rule.word] if rule and kind != "F" else []
        wanted = [] if rule is None else [
            *(f"F.{fence}" for fence in rule.before),
            *([".".join(filter(None, (kind, *own)))] if kind != "F" else []),
            *(["ctrl"] if rule.branches else []),
            *(f"F.{fence}" for fence in rule.after),
        ]  # fmt: skip
        assert words == (wanted or [kind]), word.text


COMPUTED = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y; int r0, r1;
void *t0(void *a)
{
    int read = r0 = atomic_load_explicit(&x, memory_order_relaxed), found = COMPUTED;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return 0;
}
void *t1(void *a)
{
    int read = r1 = atomic_load_explicit(&y, memory_order_relaxed), found = COMPUTED;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(!r0 || !r1);
}
"""


@pytest.mark.parametrize("computed", ["0", "read + 1", "7 / (read + 2)", "1 << read", "(int)(read * 1.5f)"])
def test_what_is_asked_of_a_number_orders_nothing(computed):
    (model,) = resolve_consistency_models(["armv8"])
    module = read_c(COMPUTED.replace("COMPUTED", computed))
    found = check(program_of(module, module.kernels[0], KernelLaunch()), model, "", 2, "fair")
    assert {finding.kind for finding in found.findings} == {"trap"}


CHOSEN = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int x, y; int r0, r1;
void *t0(void *a)
{
    int read = r0 = atomic_load_explicit(&x, memory_order_relaxed), found = CHOSEN;
    atomic_store_explicit(&y, STORED, memory_order_relaxed);
    return 0;
}
void *t1(void *a)
{
    int read = r1 = atomic_load_explicit(&y, memory_order_relaxed), found = CHOSEN;
    atomic_store_explicit(&x, STORED, memory_order_relaxed);
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, t0, 0); pthread_create(&b, 0, t1, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(!r0 || !r1);
}
"""
CHOICES = ("read ? 1 : 0", "read ? 0 : 1", "read ? 5 : 7", "read > 0 ? -1 : 1", "(char)(read ? -5 : 7)")


@pytest.mark.parametrize("model", ["armv8", "power", "riscv"])
@pytest.mark.parametrize("stored", ["1", "1 + (found & 8)"])
@pytest.mark.parametrize("chosen", CHOICES)
def test_what_is_chosen_orders_only_where_it_goes(chosen, stored, model):
    """clang has ``select`` for one of two constants: no branch, so a store of what is not chosen is not ordered."""
    (judge,) = resolve_consistency_models([model])
    module = read_c(CHOSEN.replace("CHOSEN", chosen).replace("STORED", stored))
    found = check(program_of(module, module.kernels[0], KernelLaunch()), judge, "", 2, "fair")
    assert {finding.kind for finding in found.findings} == ({"trap"} if stored == "1" else set())
