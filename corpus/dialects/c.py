"""Reads and prints C litmus tests. Threads are functions over ``atomic_int`` and ``int`` locations.

    C MP
    { x = 0; y = 0; }
    P0 (int* x, atomic_int* y) { *x = 1; atomic_store_explicit(y, 1, memory_order_release); }
    P1 (int* x, atomic_int* y) { int r0 = atomic_load_explicit(y, memory_order_acquire); int r1 = *x; }
    exists (1:r0 = 1 /\\ 1:r1 = 0)

C says nothing of scopes: every atomic is of scope sys, every thread in a CTA of its own, all memory is global. What
herd and Dartagnan do not read (``do``, the comma operator, ``&r`` as a compare-exchange's expected value) is refused in
files for herd. There, what is at gpu scope is at system scope: with one GPU, they include the same threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from corpus.dialects.c_like.reader import read_c
from corpus.dialects.c_like.writer import CWriter, print_c
from corpus.dialects.herd import check_comparisons, check_terms, herd_name
from corpus.errors import InputError
from corpus.litmus.control_flow import DoWhile, If, Statement, While, structured
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Assign, Rmw, sides_of
from corpus.litmus.normal import map_modes, without_predicates
from corpus.litmus.orders import Mode, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner


def _of_one_gpu(test: LitmusTest) -> LitmusTest:
    """The test with system scope for gpu scope, where all its threads are on one GPU."""

    def widened(mode: Mode) -> Mode:
        return replace(mode, scope=Scope.SYS) if mode.scope is Scope.GPU else mode

    return map_modes(test, widened) if len({thread.place.gpu for thread in test.threads}) == 1 else test


def _check_herd(test: LitmusTest) -> None:
    """Raises where herd7's grammar (``lib/CParser.mly``) has no rule for what the printer writes."""
    check_comparisons(test.condition)
    check_terms(test)
    for number, thread in enumerate(without_predicates(test).threads):
        for ins in thread.instructions:
            if sides_of(ins):
                raise cannot_say(number, ins, "herd7 has no assignment within an expression")
            if isinstance(ins, Rmw) and ins.operation == "cas":
                raise cannot_say(number, ins, "herd7 takes the expected value from memory, not from a variable")
            if isinstance(ins, Rmw | Assign) and ins.operation in ("min", "max"):
                raise cannot_say(number, ins, f"herd7 has no {ins.operation}")
        _check_loops(number, structured(number, thread))


def _check_loops(number: int, statements: Sequence[Statement]) -> None:
    for statement in statements:
        match statement:
            case DoWhile():
                raise InputError(f"P{number}: herd7 has no do .. while")
            case While((_, *_)):
                raise InputError(f"P{number}: herd7 computes nothing in the condition of a loop")
            case While(body=body):
                _check_loops(number, body)
            case If(then=then, otherwise=otherwise):
                _check_loops(number, then + (otherwise or ()))


C = Dialect(
    "c",
    "C",
    read_c,
    print_c,
    c_comments=True,
    runners=(ForeignRunner("herd-c", herd_name, _of_one_gpu, _check_herd),),
    atomic_types=True,
    statement=lambda test, thread, ins: CWriter(test).statement(thread, ins),
)
"""C litmus tests, as herd reads them."""
