"""Lists every back end by its name. What a back end needs is imported when it is first looked at.

To add one, write its folder and add its line here. Tests and ``synth.inputs`` name languages too (docs/internals.md).
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import MutableMapping
from importlib import import_module
from typing import Any

from backends.shared.backend import Backend

_FOLDERS = (
    "cuda",
    "hip",
    "opencl",
    "glsl",
    "wgsl",
    "metal",
    "web",
    "cpp",
)


class _Folders(UserDict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = import_module(f"backends.{name}.backend").BACKEND
        return self.data[name]


BACKENDS: MutableMapping[str, Backend] = _Folders(dict.fromkeys(_FOLDERS))
"""The back ends by name, in the order in which they are listed to users."""
