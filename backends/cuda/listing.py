"""Prints the GPUs that this process can see. A line is "devices" and JSON, with a row each of name, compute capability
and driver.

By the driver itself, libcuda, in the order in which a program numbers them. Run in a process of its own, for a driver
may fail, or hang, as soon as it is loaded.
"""

from __future__ import annotations

import ctypes
import json
import sys

CAPABILITY = (75, 76)
"""The attributes CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR of a device."""


class DriverError(Exception):
    """An error that says, in the driver's words, why a call failed."""


def main() -> int:
    """Print the GPUs; exit code 2 and a line on stderr where there is no driver, or it has none."""
    name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        driver = ctypes.CDLL(name)
    except OSError:
        print(f"error: no driver of NVIDIA ({name})", file=sys.stderr)
        return 2
    try:
        print("devices", json.dumps(rows(driver)))
    except DriverError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def rows(driver: ctypes.CDLL) -> list[tuple[str, int, str]]:
    """Return a row for each GPU: name, compute capability and driver. Raises ``DriverError``."""
    call(driver, "cuInit", 0)
    version = number(driver, "cuDriverGetVersion")
    words = f"CUDA {version // 1000}.{version % 1000 // 10}"
    found = []
    for ordinal in range(number(driver, "cuDeviceGetCount")):
        device = number(driver, "cuDeviceGet", ordinal)
        name = ctypes.create_string_buffer(256)
        call(driver, "cuDeviceGetName", name, len(name), device)
        major, minor = (number(driver, "cuDeviceGetAttribute", attribute, device) for attribute in CAPABILITY)
        found.append((name.value.decode("utf-8", "replace"), 10 * major + minor, words))
    return found


def number(driver: ctypes.CDLL, function: str, *arguments: int) -> int:
    """Return what a function of the driver writes to its first argument, an int."""
    result = ctypes.c_int()
    call(driver, function, ctypes.byref(result), *arguments)
    return result.value


def call(driver: ctypes.CDLL, function: str, *arguments: object) -> None:
    """Call a function of the driver. Raises ``DriverError`` where the call failed."""
    code = getattr(driver, function)(*arguments)
    if code == 0:
        return
    words = ctypes.c_char_p()
    driver.cuGetErrorString(code, ctypes.byref(words))
    raise DriverError(f"{function}: {words.value.decode('utf-8', 'replace') if words.value else f'error {code}'}")


if __name__ == "__main__":
    sys.exit(main())
