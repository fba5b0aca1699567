"""Writes the SPIR-V that wgpu makes of an entry point of a WGSL shader: ``python naga.py FILE CODE [ENTRY_POINT]``.

naga, the compiler in wgpu, hands its code to the Vulkan driver alone. Mesa's drivers write what they are handed into
the folder that ``MESA_SPIRV_DUMP_PATH`` names (Mesa, Environment Variables). Exit code 2: there is no code, and why.

naga adds to what the source says: each loop counts its rounds to 2^64, so that no two rounds are alike, and an index
outside of an array is another one. Where wgpu can leave both out, the code is that of the source.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

_ENTRY_POINT = re.compile(r"@compute\b[^{;]*?\bfn\s+(\w+)")
_WRONG = re.compile(r"error: ([^\n]*)\s*┌─ wgsl:(\d+):(\d+)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

_LOOP = re.compile(r"\b(?:for|while|loop)\b")
_ZERO = re.compile(r"\bvar(\s*<\s*function\s*>\s*|\s+)(\w+)\s*:\s*(?!texture_|sampler)([^=;{}]+?)\s*;")


NO_ZEROS = "the zeros of a variable in a loop are not understood: give it a value"
"""Why a shader is refused that compiles, but not with the zeros of its variables."""


def with_zeros(text: str) -> str:
    """Return a shader in which variables of functions without a value have the zero value that they begin with (WGSL,
    7.3): naga gives it to them once, and not in each round of a loop.
    """

    def zero(found: re.Match[str]) -> str:
        space, name, type = found.groups()
        return f"var{space}{name}: {type} = {' '.join(type.split())}();"  # on the same lines

    return _ZERO.sub(zero, text) if _LOOP.search(text) else text


def chosen(text: str, entry: Sequence[str]) -> str:
    """Return the entry point of a shader, the one asked for or the only one. Raises ``LookupError``."""
    names = _ENTRY_POINT.findall(_COMMENT.sub(" ", text))
    if entry and entry[0] in names:
        return entry[0]
    if entry or len(names) != 1:
        raise LookupError(f"name one of the entry points, as in -X NAME: {', '.join(names) or 'there is none'}")
    return str(names[0])


def codes_of(text: str, entries: Sequence[str]) -> list[bytes]:
    """Return entry points of a shader as SPIR-V.

    Raises ``RuntimeError`` where no driver writes it, and wgpu's ``GPUError`` where naga refuses the shader.
    """
    with TemporaryDirectory() as dumped:
        os.environ["MESA_SPIRV_DUMP_PATH"] = dumped  # before the drivers are loaded
        import wgpu
        from wgpu.backends.wgpu_native import _api
        from wgpu.backends.wgpu_native.extras import set_instance_extras

        trusted = getattr(_api.libf, "wgpuDeviceCreateShaderModuleTrusted", None)
        if trusted is not None:  # wgpu.h of wgpu-native: WGPUShaderRuntimeChecks_None is 0
            _api.libf.wgpuDeviceCreateShaderModule = lambda device, shader: trusted(device, shader, 0)
        set_instance_extras(backends=("Vulkan",), flags=("Debug",))  # with the names and lines of the source
        for adapter in wgpu.gpu.enumerate_adapters_sync():
            if "Mesa" not in adapter.info["description"]:
                continue
            device = adapter.request_device_sync()
            try:
                module = device.create_shader_module(code=with_zeros(text))
            except wgpu.GPUError:
                device.create_shader_module(code=text)  # so that an error is at its place
                raise RuntimeError(NO_ZEROS) from None
            codes = list[bytes]()
            for entry in entries:
                before = set(os.listdir(dumped))  # wgpu has shaders of its own
                device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": entry})
                written = sorted(set(os.listdir(dumped)) - before)
                codes += [Path(dumped, name).read_bytes() for name in written[:1]]
            if len(codes) == len(entries):
                return codes
    raise RuntimeError("no driver of Mesa that writes the SPIR-V it is given")


def main() -> int:
    """Write the code of the shader that the command line names."""
    file, code, *entry = sys.argv[1:]
    try:
        text = Path(file).read_text(encoding="utf-8")
        Path(code).write_bytes(codes_of(text, [chosen(text, entry)])[0])
    except Exception as error:  # wgpu has its own, which are known only where it is
        wrong = _WRONG.search(str(error))
        print(f"{file}:{wrong[2]}:{wrong[3]}: error: {wrong[1]}" if wrong else error)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
