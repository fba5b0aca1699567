"""Names the libraries that only some commands need, and the extra that brings each.

They are imported where they are used. Where one is not installed, ``missing`` says in one line how to have it; a
command that would find out late, or in a process of its own, asks ``need`` first.
"""

from __future__ import annotations

from importlib.util import find_spec

from corpus.errors import InputError

DISTRIBUTION = "synth-litmus"
"""The name under which package indexes have this distribution; it is also in ``pyproject.toml``."""

EXTRAS = {
    "distributed": "cluster",
    "matplotlib": "report",
    "pygraphviz": "report",
    "pyopencl": "opencl",
    "scipy": "report",
    "typst": "report",
    "vulkan": "vulkan",
    "wgpu": "wgpu",
    "z3": "smt",
}
"""Library, by the name under which it is imported -> extra."""


def missing(error: ModuleNotFoundError) -> InputError | None:
    """Return what to say where a library of an extra is not there, or None where no extra brings it."""
    library = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(library)
    return InputError(f"this needs {library}: pip install '{DISTRIBUTION}[{extra}]'") if extra else None


def need(library: str) -> None:
    """Raise ``InputError`` where a library of an extra is not installed. The library is not imported."""
    if find_spec(library) is None:
        error = missing(ModuleNotFoundError(name=library))
        assert error is not None, library
        raise error
