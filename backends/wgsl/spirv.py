"""Makes SPIR-V of WGSL: by naga or Tint, whichever program is on PATH, or by the naga that is in wgpu.

The programs are packaged by neither Debian nor PyPI: ``cargo install naga-cli`` builds naga, and Tint is of Dawn. wgpu
is on PyPI, and says what it makes where a driver of Mesa is there (``backends/wgsl/naga.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from backends.shared.handing import MADE, OPTIONS, SOURCE, Word, handed
from backends.shared.hosted import MESA
from backends.shared.toolchain import PROBE_TIMEOUT, TIMEOUT, Compilation, problem, which
from backends.wgsl.naga import NO_ZEROS, with_zeros
from corpus.errors import InputError
from corpus.extras import pip_install
from corpus.files import read_text
from corpus.private import private_folder

INSTALL = f"{pip_install('wgpu')}, and {MESA}; or cargo install naga-cli, or tint of Dawn, on PATH"

_SMALL = "@compute @workgroup_size(1) fn run() {}"


def compile_shader(file: Path, code: Path, options: Sequence[str] = (), entry_point: str = "") -> Compilation:
    """Compile a WGSL shader to SPIR-V, as ``code``.

    wgpu compiles one entry point alone, where a shader has several: ``entry_point``, or the only option. Raises
    ``InputError`` where no compiler is there.
    """
    naga, tint = which("naga"), which("tint")
    if naga:
        return _by_program(file, [naga, "--generate-debug-symbols", OPTIONS, SOURCE, MADE], code, options)
    if tint:
        return _by_program(file, [tint, "--format=spirv", OPTIONS, "-o", MADE, SOURCE], code, options)
    done = _by_wgpu(file, code, *options, *filter(None, [entry_point])) if find_spec("wgpu") else None
    if done is not None and (done.ok or not missing()):
        return done
    raise InputError(f"wgpu, naga or tint is needed for WGSL: {missing()[0]}", str(file))


@cache
def missing() -> list[str]:
    """Return what is missing to compile WGSL, with the way to get it, as a real compilation finds it."""
    if which("naga", "tint"):
        return []
    if find_spec("wgpu") is None:
        return [INSTALL]
    with private_folder("probe") as folder:
        file = Path(folder, "probe.wgsl")
        file.write_text(_SMALL, encoding="utf-8")
        done = _by_wgpu(file, file.with_suffix(".spv"), timeout=PROBE_TIMEOUT)
    return [] if done.ok else [f"{problem(done.output)}: {INSTALL}"]


def _by_program(file: Path, command: Sequence[Word], code: Path, options: Sequence[str]) -> Compilation:
    """Compile a shader by a program, which is handed the zeros of variables in loops, too."""
    text = read_text(file)
    given = with_zeros(text)
    done = handed(file, command, code, options=options, data=given.encode())
    if done.ok or given == text:
        return done
    plain = handed(file, command, code, options=options)  # so that an error is at its place
    return replace(plain, ok=False, output=NO_ZEROS) if plain.ok else plain


def _by_wgpu(file: Path, code: Path, *entry_point: str, timeout: float = TIMEOUT) -> Compilation:
    script = Path(__file__).with_name("naga.py")
    command: list[Word] = [sys.executable, script, SOURCE, MADE, OPTIONS]
    return handed(file, command, code, options=entry_point, timeout=timeout, title="wgpu")
