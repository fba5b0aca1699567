"""Shaders that glslang is given together, and that are cut apart, are those that it makes of each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from backends.glsl.amber import shaders
from backends.glsl.batch import apart, of_one_kind, together
from backends.glsl.memory import GlslKernel
from backends.glsl.progress import Glsl
from backends.glsl.spirv import glslang, libraries, spirv_val
from backends.shared.layout import place
from backends.shared.mapping import launch
from backends.shared.toolchain import run
from corpus.dialects.registry import parse_litmus
from corpus.progress.text import parse_axb

ROOT = Path(__file__).parents[2]

SHARED = """\
GPU_PTX {name}
{{
0:.reg .s32 r0; 0:.reg .b64 r1 = x; 1:.reg .s32 r0; 1:.reg .b64 r1 = x;
}}
 T0              | T1              ;
 mov.s32 r0,{number}  | ld.s32 r0,[r1] ;
 st.s32 [r1],r0 |                 ;
ScopeTree(grid (cta (warp T0) (warp T1)))
x: shared
exists (1:r0 = {number})
"""


def texts() -> list[str]:
    """Shaders of memory tests with and without shared memory, and of progress tests in two placements."""
    tests = [parse_litmus(SHARED.format(name=f"t{number}", number=number)) for number in (1, 2)]
    scripts = [GlslKernel(place(test)).file(test.name) for test in tests]
    program = parse_axb((ROOT / "examples" / "progress" / "mutex.axb").read_text(encoding="utf-8"), "mutex")
    places = ("device", "workgroup")
    scripts += [Glsl.render("mutex", launch(program, "round-robin", 4, placement=each)) for each in places]
    return list(dict.fromkeys(text for script in scripts for text in shaders(script)))


def test_each_is_what_it_is_by_itself(need: Callable[[str], None], tmp_path: Path) -> None:
    need("glsl")
    kinds: dict[str, list[str]] = {}
    for text in texts():
        kinds.setdefault(of_one_kind(text), []).append(text)
    for kind in kinds.values():
        codes = apart(compiled(together(kind), tmp_path), kind)
        assert len(set(codes)) == len(codes) == len(kind) > 1
        for text, code in zip(kind, codes, strict=True):
            (tmp_path / "cut.spv").write_bytes(code)
            validator = spirv_val()
            assert validator is not None
            command = [validator, "--target-env", "vulkan1.2", tmp_path / "cut.spv"]
            assert run(tmp_path, command, None, 60, libraries(validator)).output == ""
            assert operations(code) == operations(compiled(text, tmp_path))
            size = re.search(r"local_size_x = (\d+)", text)
            assert size is not None and threads(code) == int(size[1])


def compiled(text: str, folder: Path) -> bytes:
    """What glslang makes of a shader."""
    compiler = glslang()
    assert compiler is not None
    source, code = folder / "shader.comp", folder / "shader.spv"
    source.write_text(text, encoding="utf-8")
    command = [compiler, "-V", "--quiet", "--target-env", "spirv1.5", source, "-o", code]
    done = run(source, command, None, 60, libraries(compiler))
    assert done.ok, done.output
    return code.read_bytes()


def words(module: bytes) -> list[list[int]]:
    """The instructions of a module."""
    left = [int.from_bytes(module[at : at + 4], "little") for at in range(20, len(module), 4)]
    found = []
    while left:
        found.append(left[: left[0] >> 16])
        left = left[left[0] >> 16 :]
    return found


def operations(module: bytes) -> list[int]:
    """What the function of a module does, without the numbers of things."""
    every = [each[0] for each in words(module)]
    return every[[each & 0xFFFF for each in every].index(54) :]


def threads(module: bytes) -> int:
    """Threads of a work-group."""
    return next(each[3] for each in words(module) if each[0] & 0xFFFF == 16)
