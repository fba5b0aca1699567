"""Metal as a back end: compiled by Apple's compiler, run by the GPUs of a Mac, through the host that PyObjC drives.

The compiler, ``xcrun metal``, is part of Xcode. pyobjc-framework-Metal is of the ``metal`` extra (PyPI), for macOS
alone. macOS ends a kernel that takes some seconds, which the host reports as a hang.
"""

from __future__ import annotations

import platform
from functools import partial
from pathlib import Path

from backends.metal.memory import MetalKernel
from backends.metal.progress import Metal
from backends.shared.backend import Backend
from backends.shared.files import shipped
from backends.shared.handing import MADE, SOURCE, Word, handed
from backends.shared.hosted import PROBE_SIZES, Host, HostedDevice
from backends.shared.log import as_comment
from backends.shared.syntax import C
from backends.shared.toolchain import TIMEOUT, Compilation, Probed, tried, version, which
from corpus.extras import pip_install

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
    install=f"macOS, and {pip_install('metal')}",
    script=Path(__file__).with_name("host.py"),
    suffix=".metal",
    trial=_PROBE,
    compiler=lambda: f"Metal of macOS {platform.mac_ver()[0]}",
)


INSTALL = "macOS with Xcode"
_METAL = ("xcrun", "-sdk", "macosx", "metal")
_STANDARD = "-std=metal3.2"


class MetalCompiler:
    """The compiler of Metal tests: ``xcrun metal``, which only a Mac has."""

    def missing(self) -> list[str]:
        """Name ``xcrun metal`` with the way to install it, if ``xcrun`` is not on PATH."""
        return [] if which(_METAL[0]) else [f"xcrun metal: {INSTALL}"]

    def compile(self, file: Path, binary: Path | None = None, timeout: float = TIMEOUT) -> Compilation:
        """Compile a Metal test into AIR, Apple's intermediate code, which is kept if ``binary`` is named."""
        command: list[Word] = [*_METAL, _STANDARD, "-c", SOURCE, "-o", MADE]
        return handed(file, command, binary, timeout=timeout, title="xcrun metal")

    def probe(self) -> list[Probed]:
        """Report on the compiler, and then on the devices."""
        purpose = "compile (--check)"
        if self.missing():
            found = Probed("xcrun metal", "", purpose, "not installed", INSTALL)
        else:
            words = version([*_METAL, "--version"], r"version (\S+)")
            found = Probed("xcrun metal", words, purpose, tried(self, Metal, ".metal"), INSTALL)
        return [found, *HOST.probed("run")]


BACKEND = Backend(
    name="metal",
    suffix=".metal",
    progress=Metal,
    memory=MetalKernel,
    files="TEST.metal, run_metal.py",
    usage="python run_metal.py TEST.metal",
    compiler=MetalCompiler(),
    device=partial(HostedDevice, HOST),
    embed=as_comment,
    companions={"run_metal.py": shipped("backends.metal", "host.py")},
)
