"""C litmus tests, ``C name``: threads as functions over ``atomic_int`` and ``int`` locations, read and printed.

    C MP
    { x = 0; y = 0; }
    P0 (int* x, atomic_int* y) { *x = 1; atomic_store_explicit(y, 1, memory_order_release); }
    P1 (int* x, atomic_int* y) { int r0 = atomic_load_explicit(y, memory_order_acquire); int r1 = *x; }
    exists (1:r0 = 1 /\\ 1:r1 = 0)

C says nothing of scopes: every atomic is of scope sys, every thread in a CTA of its own, all memory is global. What
herd and Dartagnan do not read: ``do``, the comma operator, and ``&r`` as a compare-exchange's expected value.
"""

from __future__ import annotations

from corpus.dialects.c_like.reader import read_c
from corpus.dialects.c_like.writer import print_c
from corpus.litmus.text import Dialect

C = Dialect("c", "C", read_c, print_c)
"""C litmus tests, as herd reads them."""
