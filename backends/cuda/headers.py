"""The packages of PyPI that bring headers of NVIDIA's, by how the names of headers begin: ``curand_kernel.h`` comes
with nvidia-curand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

PACKAGES: Mapping[str, str] = {
    "cuda_profiler_api.h": "nvidia-cuda-profiler-api",
    "cudaProfiler.h": "nvidia-cuda-profiler-api",
    "cub/": "nvidia-cuda-cccl",
    "cuda/": "nvidia-cuda-cccl",
    "nv/": "nvidia-cuda-cccl",
    "thrust/": "nvidia-cuda-cccl",
    "cublas": "nvidia-cublas",
    "cufft": "nvidia-cufft",
    "cupti": "nvidia-cuda-cupti",
    "curand": "nvidia-curand",
    "cusolver": "nvidia-cusolver",
    "cusparse": "nvidia-cusparse",
    "cute/": "nvidia-cutlass",
    "cutlass/": "nvidia-cutlass",
    "npp": "nvidia-npp",
    "nvJitLink.h": "nvidia-nvjitlink",
    "nvrtc.h": "nvidia-cuda-nvrtc",
    "nvtx3/": "nvidia-nvtx",
}

_MISSING = re.compile(r"error: ([\w./-]+): No such file")


def advice(complaint: str) -> str:
    """Return how to get the header that a complaint of nvcc says is missing; empty where it says no such thing."""
    missing = _MISSING.search(complaint)
    if missing is None:
        return ""
    package = next((package for start, package in PACKAGES.items() if missing[1].startswith(start)), None)
    return f"pip install {package}" if package else "-X -IFOLDER names the folder that it is in"
