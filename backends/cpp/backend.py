"""C++ as a back end: run by the threads of this machine."""

from __future__ import annotations

from backends.cpp.compiler import COMPILER
from backends.cpp.device import CppDevice, thread_parameters
from backends.cpp.memory import CppKernel
from backends.cpp.progress import Cpp
from backends.shared.backend import Backend
from backends.shared.log import as_string

BACKEND = Backend(
    name="cpp",
    suffix=".cpp",
    progress=Cpp,
    memory=CppKernel,
    files="TEST.cpp",
    usage="g++ -std=c++20 -O2 -pthread -o t TEST.cpp; timeout 20 ./t",
    compiler=COMPILER,
    launched=thread_parameters,
    device=lambda options: CppDevice(options.subscribe, options.instances),
    embed=as_string,
)
