"""Puts many tests in one OpenCL kernel. It is for CPUs, on which each kernel costs a tenth of a second or more to
build.

The text of each test stays as it is (``backends.opencl.memory``) but for the names of its kernels, which become
functions that one kernel calls: that of ``which``, three times the number of the test, plus 0 for reset, 1 for run and
2 for count. All of its launches have work-groups of the size of the tests, which is one for all of them.

``of_one_kind`` says which tests go together. Not those that have shared memory or barriers, which are at the top level
of a kernel; nor those whose instances do not fill work-groups of that size.

Progress tests (``backends.opencl.progress``) go together too, where their work-groups have one size; ``which`` is the
number of the test, and what comes before its constants, the type of a cell and its atomics, is one text in all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.opencl.progress import OpenCl
from backends.shared.layout import Layout
from backends.shared.mapping import Launch
from backends.shared.syntax import C
from corpus.litmus.instructions import Barrier

_DEFINED = re.compile(r"^#define (\w+)", re.MULTILINE)
_TYPES = "#endif\n"
"""The last line of the text that all progress tests share."""
_LOCAL = "    __local volatile uint local_memory[SHARED_WORDS];\n"
_KERNELS = {
    "reset": ("__kernel void reset(", "memory"),
    "run": ("__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))\nvoid run(", "memory, results, seed"),
    "count": ("__kernel void count(", "memory, results, histogram"),
}


def of_one_kind(layout: Launch | Layout) -> object:
    """Return what tests of one kernel have in common, or ``None`` where a test needs a kernel of its own."""
    if isinstance(layout, Launch):
        return layout.group_size
    barriers = any(isinstance(ins, Barrier) for thread in layout.test.threads for ins in thread.instructions)
    if layout.shareds or barriers or layout.instances % layout.group_size:
        return None
    return layout.group_size, layout.groups


def together(texts: Sequence[str], shape: Launch | Layout) -> str:
    """Return the text of a kernel of several tests of one kind; ``shape`` is the launch of one."""
    return _progress(texts) if isinstance(shape, Launch) else _memory(texts, shape.group_size)


def _progress(texts: Sequence[str]) -> str:
    parts, cases = [texts[0].partition(_TYPES)[0], _TYPES], list[str]()
    for number, text in enumerate(texts):
        own = text.partition(_TYPES)[2]
        assert OpenCl.header in own
        parts.append(own.replace(OpenCl.header, f"static void test{number}(__global cell_t* const memory)"))
        parts += [f"#undef {name}\n" for name in _DEFINED.findall(own)]
        cases.append(f"    case {number}u: {{ test{number}(memory); break; }}\n")
    parts += ["__kernel void every(__global cell_t* const memory, const uint which) {\n    switch (which) {\n"]
    return "".join([*parts, *cases, "    default: { break; }\n    }\n}\n"])


def _memory(texts: Sequence[str], group_size: int) -> str:
    parts, cases = list[str](), list[str]()
    for number, text in enumerate(texts):
        own = text.replace(_LOCAL, "")
        for phase, (name, (start, arguments)) in enumerate(_KERNELS.items()):
            assert start in own
            own = own.replace(start, f"static void {name}{number}(")
            cases.append(f"case {3 * number + phase}u: {{ {name}{number}({arguments}); break; }}")
        parts.append(own + "".join(f"#undef {name}\n" for name in _DEFINED.findall(own)))
    parts += C.definitions([("GROUP_SIZE", group_size)], ())
    parts.append("""
__kernel __attribute__((reqd_work_group_size(GROUP_SIZE, 1, 1)))
void every(volatile __global uint* const memory, __global uint* const results, volatile __global uint* const histogram,
           const uint seed, const uint which) {
    switch (which) {""")
    return "\n".join([*parts, *("    " + case for case in cases), "    default: { break; }", "    }", "}", ""])
