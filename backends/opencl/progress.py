"""Renders progress tests in OpenCL C. All kernels of a folder share one Python host, ``run_opencl.py``.

The atomics with explicit order and scope are core in OpenCL C 2.0 and optional features in 3.0. Where a device lacks
them the kernel falls back on the old atomics, which are relaxed: good for one location (see
``backends.shared.renderer``).
"""

from __future__ import annotations

from backends.shared.renderer import Renderer


class OpenCl(Renderer):
    """A progress test as ``NAME.cl``, run as ``python run_opencl.py NAME.cl [iterations]``."""

    exchange = "atomic_exchange_at(&(cell), value)"
    add = "atomic_add_at(&(cell), value)"
    read = "atomic_read(&WARM_UP)"
    header = "__kernel void test(__global cell_t* const memory)"
    group = "(uint)get_group_id(0)"
    item = "(uint)get_local_id(0)"
    file = """\
// $name, mapping $mapping. Usage: python run_opencl.py NAME.cl; a test that hangs does not come back.
$pseudo_code
#if __OPENCL_C_VERSION__ == 200 || (defined(__opencl_c_atomic_order_acq_rel) && defined(__opencl_c_atomic_scope_device))
typedef atomic_uint cell_t;
#define atomic_exchange_at(p, v) atomic_exchange_explicit(p, v, memory_order_acq_rel, memory_scope_device)
#define atomic_add_at(p, v) atomic_fetch_add_explicit(p, v, memory_order_acq_rel, memory_scope_device)
#define atomic_read(p) atomic_load_explicit(p, memory_order_relaxed, memory_scope_device)
#else
typedef volatile uint cell_t;
#define atomic_exchange_at(p, v) atomic_xchg(p, v)
#define atomic_add_at(p, v) atomic_add(p, v)
#define atomic_read(p) (*(p))
#endif

$constants

$kernel
"""
