"""``synth check`` says which accesses nvcc has removed, and judges those as well where it is asked to.

Each line whose access is removed ends with a comment that says of what kind it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import synth
from schemas import read_sarif

SHARED = """\
__global__ void race()
{
  __shared__ int s;
  s = threadIdx.x;  // removed: write
}
"""
"""All threads write one variable that nobody reads."""

OUTSIDE = """\
__global__ void outside(int *out, int n)
{
  __shared__ int s[4];
  s[n] = 1;  // removed: write
  out[0] = 1;
}
"""
"""An access outside of its array, which is gone."""

KERNELS = """\
struct Pair { int first; int second; };
__device__ __noinline__ void bump(int *p, int by) { p[by & 1] += by; }
static __device__ int counted;

__global__ void dead_in_a_loop(int *out)
{
  __shared__ int s[2];
  for (int i = 0; i < 2; ++i)
    s[i] = i;  // removed: write
  out[threadIdx.x + 2 * blockIdx.x] = 1;
}

__global__ void unused(int *in, int *out)
{
  int x = in[0];  // removed: read
  out[threadIdx.x + 2 * blockIdx.x] = 1;
}

__global__ void overwritten(int *data)
{
  data[0] = 1;  // removed: write
  data[0] = 2;
}

__global__ void forwarded(int *data, int *out)
{
  data[0] = 1;
  out[0] = data[0];  // removed: read
}

__global__ void last_round(int *data)
{
  for (int i = 0; i < 3; ++i)
    data[0] = i;
}

__global__ void again(int *__restrict__ data, int *out)
{
  int x = data[0];
  x += data[0];
  if (x > 3)
    x -= 2 * data[0];
  __threadfence();
  out[threadIdx.x] = x +
    data[0];  // removed: read
}

__global__ void constant(int *data, int *out)
{
  Pair pair = {1, 2};
  if (pair.first == 2)
    data[0] = 1;
  out[threadIdx.x + 2 * blockIdx.x] = pair.second;
}

namespace {
__global__ void joined(int *data, int *flag)
{
  if (flag[0] == 1)
    data[0] = 1;
  else
    data[0] = 2;
  counted = 1;
}
}

__global__ void own(int *out)
{
  int local[2] = {1, 2};
  Pair pair = {3, 4};
  bump(local, threadIdx.x);
  bump(&pair.first, 1);
  out[threadIdx.x + 2 * blockIdx.x] = local[0] + pair.second;
}

__global__ void leader(int *out)
{
  unsigned some = __ballot_sync(3, threadIdx.x);
  if (threadIdx.x)
    out[blockIdx.x] = __shfl_sync(some, 5, __ffs(some) - 1);
}

__global__ void right(volatile int *data, int4 *wide, int *out)
{
  __shared__ int s[2];
  int x = data[0];
  data[1] = 1;
  data[1] = 2;
  s[threadIdx.x] = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0)
    wide[0] = wide[1];
  atomicAdd(out, s[1 - threadIdx.x]);
}
"""
NAMES = re.findall(r"void (\w+)\(", KERNELS.partition("counted;")[2])


def checked(folder: Path, text: str, *options: str, code: int) -> list[dict[str, Any]]:
    path = folder / "kernel.cu"
    path.write_text(text)
    result = synth("check", path, *options, "--json")
    assert result.exit_code == code, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def marked(text: str, kernel: str) -> set[tuple[str, int]]:
    """The kinds and lines of removed accesses of a kernel that comments name."""
    start = text.index(f"void {kernel}(")
    end = text.index("\n}", start)
    matches = re.finditer("// removed: (.*)", text)
    return {(each[1], text.count("\n", 0, each.start()) + 1) for each in matches if start < each.start() < end}


@pytest.mark.device
def test_an_access_outside_of_its_array_that_the_compiler_removes(need: Callable[..., Any], tmp_path: Path) -> None:
    need("cuda")
    (found,) = checked(tmp_path, OUTSIDE, "--block", "1", "--arg", "n=4", code=0)
    assert [(each["kind"], each["line"]) for each in found["removed"]] == [("write", 4)]
    (found,) = checked(tmp_path, OUTSIDE, "--block", "1", "--arg", "n=4", "--as-written", code=1)
    assert found["answers"]["bounds"] == "FOUND"


@pytest.mark.device
def test_a_race_that_the_compiler_removes(need: Callable[..., Any], tmp_path: Path) -> None:
    need("cuda")
    (found,) = checked(tmp_path, SHARED, "--block", "2", code=0)
    place = {"file": str(tmp_path / "kernel.cu"), "line": 4, "column": 3}
    assert found["answers"]["race"] == "SAFE" and found["removed"] == [{"kind": "write", **place}]
    (found,) = checked(tmp_path, SHARED, "--block", "2", "--as-written", code=1)
    assert found["answers"]["race"] == "FOUND" and found["removed"] == []
    assert found["findings"][0]["lines"] == [place]


@pytest.mark.device
def test_each_form_says_what_is_removed(need: Callable[..., Any], tmp_path: Path) -> None:
    need("cuda")
    path = tmp_path / "kernel.cu"
    path.write_text(SHARED)
    said = "removed by the compiler: the compiled code has not the write of kernel.cu:4; --as-written judges it"
    assert f"  {said}\n" in synth("check", path, "--block", "2").stdout
    assert "kernel.cu:4," in synth("check", path, "--block", "2", "--format", "csv").stdout
    sarif = read_sarif(synth("check", path, "--block", "2", "--format", "sarif").stdout)
    (note,) = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert note["level"] == "note" and said in note["message"]["text"]


@pytest.mark.device
def test_only_what_is_removed_is_listed(need: Callable[..., Any], tmp_path: Path) -> None:
    need("cuda")
    found = checked(tmp_path, KERNELS, "--grid", "2", "--block", "2", code=1)
    assert [each["kernel"] for each in found] == NAMES or sorted(each["kernel"] for each in found) == sorted(NAMES)
    for each in found:
        listed = {(access["kind"], access["line"]) for access in each["removed"]}
        assert listed == marked(KERNELS, each["kernel"]), each["kernel"]


@pytest.mark.device
def test_a_comparison_that_cannot_be_made_is_said(need: Callable[..., Any], tmp_path: Path) -> None:
    need("cuda")
    (found,) = checked(tmp_path, SHARED, "--block", "2", "-X", "-Xcicc", "-X", "-O1", code=0)
    assert found["removed"] is None
    assert any("the compiler has removed no access, which is not known: " in each for each in found["assumed"])


UNUSED = """\
__global__ void k(int *data, int *out)
{
  out[threadIdx.x] = data[0];
  __syncthreads();
  int again = data[0];
  if (threadIdx.x == 0)
    data[0] = 1;
}
"""


@pytest.mark.device
def test_a_load_into_a_variable_that_nobody_uses_races_as_written(need: Callable[..., None], tmp_path: Path) -> None:
    """Without ``-g`` nvcc's front end drops the load, whatever its optimiser is asked for."""
    need("cuda")
    path = tmp_path / "k.cu"
    path.write_text(UNUSED)
    optimised = synth("check", path, "--block", "2")
    assert optimised.exit_code == 0 and "has not the read of k.cu:5" in optimised.stdout
    written = synth("check", path, "--block", "2", "--as-written")
    assert written.exit_code == 1 and "FOUND race" in written.stdout


PROMISES = """\
#include "own.h"
__global__ void promised(int *p, int n)
{
  PROMISED(n < 2);
  p[threadIdx.x] = 1;
}
"""


@pytest.mark.device
def test_what_a_program_promises_is_assumed(need: Callable[..., Any], tmp_path: Path) -> None:
    need("cuda")
    (tmp_path / "own.h").write_text("#define PROMISED(c) __builtin_assume(c)\n")
    (found,) = checked(tmp_path, PROMISES, "--block", "2", "--arg", "n=2", code=0)
    assert "what is promised by __builtin_assume is so" in found["assumed"]
    (found,) = checked(tmp_path, OUTSIDE, "--block", "1", "--arg", "n=3", code=0)
    assert not any("promise" in each for each in found["assumed"])
