"""``memory_order_consume``: acquire, as C++26 has it (P3475R2) and compilers had before, and kept as it is written."""

import pytest

from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from corpus.dialects.registry import DIALECTS, parse_litmus, printed, translate
from corpus.errors import InputError
from corpus.laws.c11 import CONSUME
from corpus.litmus.orders import Order
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import judge

MP = """C mp
{ x = 0; y = 0; }
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  READ
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0 = 1 /\\ 1:r1 = 0)
"""
READS = {
    "load": "int r0 = atomic_load_explicit(y, memory_order_consume);",
    "rmw": "int r0 = atomic_exchange_explicit(y, 2, memory_order_consume);",
    "fence": "int r0 = atomic_load_explicit(y, memory_order_relaxed); atomic_thread_fence(memory_order_consume);",
}
CAS = "int r0 = 2; atomic_compare_exchange_strong_explicit(y, &r0, 3, memory_order_consume, memory_order_consume);"


def mp(read):
    return parse_litmus(MP.replace("READ", read))


@pytest.mark.parametrize("kind", READS)
def test_it_orders_as_acquire_and_is_printed_as_it_was(kind):
    test = mp(READS[kind])
    (mode,) = {ins.mode for ins in test.threads[1].instructions if ins.mode.tags}
    assert (mode.order, mode.tags) == (Order.ACQUIRE, (CONSUME,))
    text = translate(test, DIALECTS["c"])
    assert "memory_order_consume" in text and "acquire" not in text
    for model in ("c11", "rc11"):
        assert judge(test, load_model(shipped_models()[model], model)).answer == "FORBIDDEN"


def test_where_an_exchange_fails_it_is_acquire():
    test = mp(CAS)
    assert "memory_order_consume, memory_order_acquire" in translate(test, DIALECTS["c"])
    assert judge(test, load_model(shipped_models()["rc11"], "rc11")).answer == "FORBIDDEN"


@pytest.mark.parametrize(
    ("kind", "said", "answer"),
    [
        ("rmw", "R & CON & ACQ", "FORBIDDEN"),
        ("rmw", "R & CONSUME & RMW", "FORBIDDEN"),
        ("rmw", "W & CON", "ALLOWED"),
        ("fence", "F & CON", "FORBIDDEN"),
        ("fence", "R & CON", "ALLOWED"),
    ],
)
def test_models_tell_it_by_a_set_of_reads_and_fences(tmp_path, kind, said, answer):
    """``CON``, as herd's models of C have it."""
    model = tmp_path / "con.cat"
    model.write_text(f"empty {said} as none\n")
    assert judge(mp(READS[kind]), load_model(str(model))).answer == answer


def test_other_languages_have_no_word_for_it():
    test = mp(READS["load"])
    for name in ("opencl", "ptx", "gpu-ptx", "lisa"):
        with pytest.raises(InputError, match="consume"):
            printed(test, DIALECTS[name])
    with pytest.raises(InputError, match="expected memory_order_relaxed or memory_order_acquire or"):
        parse_litmus(
            "OPENCL t\n{ x = 0; }\nP0@wg 0, dev 0 (global atomic_int* x) {\n"
            "  int r0 = atomic_load_explicit(x, memory_order_consume);\n}\nexists (0:r0 = 0)\n"
        )


@pytest.mark.parametrize("kind", READS)
def test_cpp_has_it_and_other_back_ends_have_not(kind):
    shape = place(mp(READS[kind]), Parameters(instances=64))
    (text, *_) = BACKENDS["cpp"].memory_files("t", shape).values()
    assert "std::memory_order_consume" in text
    for name in ("opencl", "cuda", "glsl"):
        with pytest.raises(InputError, match="consume"):
            BACKENDS[name].memory_files("t", shape)
