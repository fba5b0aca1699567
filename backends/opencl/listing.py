"""Prints the OpenCL devices that this process can see: a line "devices" and JSON.

A row for each device of each platform in the loader's order: the platform's name and version, the device's name, driver
version and type (CL_DEVICE_TYPE). Run in a process of its own, for a driver may fail, or hang, as soon as it is loaded.
"""

from __future__ import annotations

import json
import sys


def main() -> int:
    """Print the devices; the exit code is 2, with a line on stderr, where the loader itself fails."""
    try:
        import pyopencl as cl
    except ImportError as error:
        print(f"error: pyopencl: {error}", file=sys.stderr)
        return 2
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        if "PLATFORM_NOT_FOUND" not in str(error):
            print(f"error: {error}", file=sys.stderr)
            return 2
        platforms = []
    rows = []
    for platform in platforms:
        try:
            devices = platform.get_devices()
        except cl.Error:  # a driver without its hardware
            continue
        rows += [
            (platform.name, platform.version, device.name, device.driver_version, device.type) for device in devices
        ]
    print("devices", json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
