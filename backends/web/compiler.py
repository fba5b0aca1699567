"""What compiles the shaders of a page on this machine, to see that they do: the compilers of WGSL.

What compiles them for a visitor is his browser's, which is not for us to probe.
"""

from __future__ import annotations

from backends.shared.toolchain import Compiler, Probed
from backends.wgsl.compiler import WgslCompiler


class WebCompiler(WgslCompiler):
    """That of WGSL, which ``synth devices`` lists as WGSL's alone."""

    def probe(self) -> list[Probed]:
        """Nothing of its own."""
        return []


COMPILER: Compiler = WebCompiler()
