"""Makes SPIR-V of WGSL by naga or Tint, whichever program is on PATH.

Neither is packaged by Debian or PyPI: ``cargo install naga-cli`` builds naga, and Tint is of Dawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from backends.shared.toolchain import Compilation, run, which
from corpus.errors import InputError

INSTALL = "cargo install naga-cli, or tint of Dawn, on PATH"


def compile_shader(file: Path, code: Path, options: Sequence[str] = ()) -> Compilation:
    """Compile a WGSL shader to SPIR-V, as ``code``. Raises ``InputError`` where there is neither naga nor Tint."""
    naga, tint = which("naga"), which("tint")
    if naga:
        return run(file, [naga, "--generate-debug-symbols", *options, file, code])
    if tint:
        return run(file, [tint, "--format=spirv", *options, "-o", code, file])
    raise InputError(f"naga or tint is needed for WGSL: {INSTALL}", str(file))
