"""pyopencl with a broken PoCL, put before the real one by ``PYTHONPATH=tests/fakes``.

PoCL of PyPI lists itself as ever, but its compiler answers every kernel with an error, as its LLVM does on a CPU that
it does not know; with ``FAKE_POCL=hangs`` it never answers. Every other driver is as it is. The whole program can be
run so: ``PYTHONPATH=$PWD/tests/fakes make demo``, and ``make test`` likewise.
"""

import os
import sys
import time
from importlib import import_module, metadata
from pathlib import Path

folder = str(Path(__file__).parents[1])
while folder in sys.path:
    sys.path.remove(folder)
del sys.modules[__name__]
cl = import_module(__name__)  # the real one; this module is forgotten

PLATFORM = f"PoCL {metadata.version('pocl-binary-distribution')}"
build = cl.Program.build


def broken_build(program, *arguments, **options):
    """What PoCL says of a kernel that nothing is wrong with."""
    if PLATFORM not in program._context.devices[0].platform.version:
        return build(program, *arguments, **options)
    if os.environ.get("FAKE_POCL") == "hangs":
        time.sleep(3600)
    text = "clBuildProgram failed: BUILD_PROGRAM_FAILURE\n\nBuild on PoCL:\n\nerror: unknown target CPU 'generic'\n"
    record = cl._cl._ErrorRecord(msg=text, code=cl.status_code.BUILD_PROGRAM_FAILURE, routine="clBuildProgram")
    raise cl.RuntimeError(record)


cl.Program.build = broken_build
