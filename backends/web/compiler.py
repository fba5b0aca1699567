"""What compiles the shaders of a page on this machine, to see that they do: the compilers of WGSL.

What compiles and runs them for a visitor is his browser's, which is not for us to probe.
"""

from __future__ import annotations

from backends.shared.toolchain import Compiler, Probed
from backends.wgsl.compiler import WgslCompiler
from backends.wgsl.device import HOST


class WebCompiler(WgslCompiler):
    """That of WGSL."""

    def probe(self) -> list[Probed]:
        """As ``Compiler.probe``: the same devices, which compile here and run nothing."""
        return HOST.probed("compile")


COMPILER: Compiler = WebCompiler()
