"""Lists the GPUs of NVIDIA, as their driver does, and says which nvcc builds programs for each: of a toolkit that the
driver can do with (``backends.cuda.toolkits``), for the GPU's own compute capability.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from backends.shared.gpus import Gpu
from backends.shared.toolchain import rows_of

INSTALL = "a GPU of NVIDIA with its driver"

VISIBLE = "CUDA_VISIBLE_DEVICES"


def cuda_of(gpu: Gpu) -> int | None:
    """Return the major version of CUDA that the driver of a GPU has, where the driver says it."""
    number = re.search(r"\d+", gpu.driver)
    return int(number[0]) if number else None


@cache
def gpus() -> tuple[Sequence[Gpu], str]:
    """Return every GPU that this process sees, in the order of its driver, and why there is none if there is not."""
    rows, reason = rows_of(Path(__file__).with_name("listing.py"), "listing the GPUs")
    found = [Gpu(name, str(capability), number, driver) for number, (name, capability, driver) in enumerate(rows)]
    return found, reason.removeprefix("error: ") or ("" if found else "the driver finds no GPU")
