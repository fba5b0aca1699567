"""The GPUs of a Mac, through the host that PyObjC drives.

pyobjc-framework-Metal is of the ``metal`` extra (PyPI), for macOS alone. macOS ends a kernel that takes some seconds,
which the host reports as a hang.
"""

from __future__ import annotations

import platform
from pathlib import Path

from backends.metal.progress import Metal
from backends.shared.hosted import PROBE_SIZES, Host
from backends.shared.syntax import C

_PROBE = f"""\
#include <metal_stdlib>
using namespace metal;
{chr(10).join(C.definitions(PROBE_SIZES.items(), ()))}
{Metal.header} {{
    if (atomic_load_explicit(&memory[3], memory_order_relaxed) != 0u) return;
    while (atomic_fetch_add_explicit(&memory[0], 1u, memory_order_relaxed) != SIZE) {{
        atomic_fetch_add_explicit(&memory[2], 1u, memory_order_relaxed);
    }}
}}
"""

HOST = Host(
    title="Metal device",
    package="Metal",
    install="macOS, and pip install 'synth-litmus[metal]'",
    script=Path(__file__).with_name("host.py"),
    suffix=".metal",
    trial=_PROBE,
    compiler=lambda: f"Metal of macOS {platform.mac_ver()[0]}",
)
