"""Lists every back end by its name.

To add one, write its folder and add its line here. Tests and ``synth.inputs`` name languages too (docs/internals.md).
"""

from __future__ import annotations

from importlib import import_module

from backends.shared.backend import Backend

_FOLDERS = (
    "cuda",
    "opencl",
    "glsl",
    "wgsl",
    "metal",
    "web",
    "cpp",
)

BACKENDS: dict[str, Backend] = {name: import_module(f"backends.{name}.backend").BACKEND for name in _FOLDERS}
"""The back ends by name, in the order in which they are listed to users."""
