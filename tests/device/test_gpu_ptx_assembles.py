"""What the GPU_PTX printer writes is PTX: ptxas takes every column as a kernel, registers and types as declared.

A column becomes a kernel by what a test leaves out: ``%`` before registers, semicolons, memory, and ``mov`` for initial
values. Skipped without the CUDA toolkit; never on CI.
"""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from litmus_random import ALL, PTX_2015, PTX_2019, Profile, random_test

from backends.cuda.compiler import cuda_tool
from corpus.dialects.gpu_ptx.dialect import GPU_PTX
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.litmus.test import LitmusTest

pytestmark = pytest.mark.device

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))


def kernels(test: LitmusTest, name: str) -> list[str]:
    """One kernel a thread, none where the dialect cannot say the test."""
    try:
        text = GPU_PTX.print(test)
    except InputError:
        return []
    state, body = text[text.index("{") :].split("}", 1)
    rows = [line.strip().removesuffix(";").split("|") for line in body.split("ScopeTree")[0].strip().splitlines()]
    found = []
    for thread, column in enumerate(zip(*rows[1:], strict=True)):
        declared = re.findall(rf"\b{thread}:\.reg (\.\w+) (\w+)(?: = (-?\w+))?", state)
        registers = "|".join(register for _, register, _ in declared) or "(?!)"
        lines = [f".reg {kind} %{register};" for kind, register, _ in declared]
        lines += [f"mov{kind} %{register}, {initial};" for kind, register, initial in declared if initial]
        for cell in filter(None, map(str.strip, column)):
            lines.append(re.sub(rf"(?<![\w.])({registers})\b", r"%\1", cell) + ("" if cell.endswith(":") else ";"))
        found.append("\n".join([f".visible .entry {name}_{thread}() {{", *lines, "ret;", "}"]))
    return found


def assemble(tests: list[LitmusTest], folder: Path) -> int:
    """How many kernels ptxas takes, which is all of them."""
    ptxas = cuda_tool("ptxas")
    assert ptxas is not None
    names = sorted({location.name for test in tests for location in test.locations})
    code = [kernel for index, test in enumerate(tests) for kernel in kernels(test, f"t{index}")]
    memory = [f".global .align 8 .b64 {name};" for name in names]
    source = folder / "kernels.ptx"
    source.write_text("\n".join([".version 8.7", ".target sm_90", ".address_size 64", *memory, *code, ""]))
    command = [ptxas, "-arch=sm_90", source, "-o", folder / "kernels.cubin"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert answer.returncode == 0, answer.stderr
    return len(code)


def test_examples(need: Callable[[str], None], tmp_path: Path) -> None:
    need("cuda")
    assert assemble([read_litmus(path) for path in EXAMPLES], tmp_path) > 100


@pytest.mark.parametrize("profile", [PTX_2015, PTX_2019, ALL], ids=lambda profile: profile.name)
def test_random_tests(profile: Profile, need: Callable[[str], None], tmp_path: Path) -> None:
    need("cuda")
    rng = Random(f"assemble {profile.name}")
    assert assemble([random_test(rng, profile) for _ in range(150)], tmp_path) > 100
