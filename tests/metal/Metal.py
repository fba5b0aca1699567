"""Metal on a machine that has none, as far as ``backends.metal.host`` uses it: what PyObjC calls ``Metal``, in Python.

Kernels are C++ to g++ (``metal_stdlib`` beside this file), and their threads are threads: all at once for a progress
test, a threadgroup at a time for others, which so can share one memory. As on macOS, a kernel that takes more than
``PATIENCE`` seconds is given up.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from itertools import product
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

PATIENCE = 2.0
MTLResourceStorageModeShared = 0
FLAGS = ["-std=c++14", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-attributes", "-Wno-unused"]
BUFFERS = {"test": (0,), "reset": (0,), "run": (0, 1, 3), "count": (0, 1, 2)}
"""The indices of the buffers that each kernel has, in order; then come its ids."""
BARRIER = """
static pthread_barrier_t barrier;
extern "C" void begin(unsigned size) { pthread_barrier_init(&barrier, nullptr, size); }
void metal::threadgroup_barrier(mem_flags) { pthread_barrier_wait(&barrier); }
"""


def MTLSizeMake(width: int, height: int, depth: int) -> int:
    return width * height * depth


def MTLCopyAllDevices() -> list[Any]:
    return [Device()]


class Error:
    def __init__(self, words: str, code: int = 1) -> None:
        self.localizedDescription = lambda: words
        self.code = lambda: code


class Device:
    def name(self) -> str:
        return "Threads"

    def isLowPower(self) -> bool:
        return False

    def newLibraryWithSource_options_error_(self, text: str, options: object, error: object) -> tuple[Any, Any]:
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
            # What a threadgroup shares is nobody's own.
            shared = text.replace("threadgroup volatile uint", "static volatile uint")
            source.write_text(f"#include <pthread.h>\n{shared}{BARRIER}", encoding="utf-8")
            command = ["g++", *FLAGS, "-shared", "-fPIC", "-I", Path(__file__).parent, source, "-o", library]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return (None, Error(done.stderr)) if done.returncode else (Library(ctypes.CDLL(str(library))), None)

    def newCommandQueue(self) -> Any:
        return SimpleNamespace(commandBuffer=Commands)

    def newBufferWithLength_options_(self, size: int, options: int) -> Buffer:
        return Buffer(size)

    def newComputePipelineStateWithFunction_error_(self, kernel: Any, error: object) -> tuple[Any, None]:
        return kernel, None


class Library:
    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def newFunctionWithName_(self, name: str) -> Any:
        most = SimpleNamespace(maxTotalThreadsPerThreadgroup=lambda: 1024)
        return SimpleNamespace(name=name, library=self.library, call=getattr(self.library, name), **vars(most))


class Buffer:
    def __init__(self, size: int) -> None:
        self.memory = ctypes.create_string_buffer(size)
        self.length = lambda: size

    def contents(self) -> Any:
        return SimpleNamespace(as_buffer=lambda size: memoryview(self.memory).cast("B")[:size])


class Commands:
    """A command buffer, and the one encoder that it has at a time."""

    def __init__(self) -> None:
        self.launches: list[tuple[Any, dict[int, Buffer], int, int]] = []
        self.late = False

    def computeCommandEncoder(self) -> Commands:
        self.buffers: dict[int, Buffer] = {}
        return self

    def setComputePipelineState_(self, kernel: Any) -> None:
        self.kernel = kernel

    def setBuffer_offset_atIndex_(self, buffer: Buffer, offset: int, index: int) -> None:
        assert offset == 0
        self.buffers[index] = buffer

    def dispatchThreadgroups_threadsPerThreadgroup_(self, groups: int, size: int) -> None:
        self.launches.append((self.kernel, self.buffers, groups, size))

    def endEncoding(self) -> None: ...

    def commit(self) -> None: ...

    def waitUntilCompleted(self) -> None:
        for kernel, buffers, groups, size in self.launches:
            given = [buffers[index].memory for index in BUFFERS[kernel.name]]
            if kernel.name in ("reset", "count"):
                for index in range(groups * size):
                    kernel.call(*given, index)
                continue
            every = list(product(range(groups), range(size)))
            together = (
                [every]
                if kernel.name == "test"
                else [[each for each in every if each[0] == group] for group in range(groups)]
            )
            for ids in together:
                kernel.library.begin(size)
                threads = [Thread(target=kernel.call, args=(*given, *each), daemon=True) for each in ids]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join(PATIENCE)
                    if thread.is_alive():
                        self.late = True
                        return

    def error(self) -> Error | None:
        return Error("Caused GPU Timeout Error", 2) if self.late else None
