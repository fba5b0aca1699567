"""The words of PTX that are no instructions: directives, attributes, types, and options of a target, each with a row.

A word without a row is refused where it stands (PTX ISA 9.1, chapters 5, 11 and 12).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from corpus.code import ir

LINKAGE = (".visible", ".extern", ".weak", ".common")
"""Who may see a name (11.6). Of a ``.weak`` or ``.common`` one, the definition of the module is taken."""

MODULE_SPACES = ("const", "global", "shared")
"""The state spaces of variables of a module. Registers and local memory of a module have no place in the ABI (7.2),
``.tex`` is a texture (5.1.8), and ``.sreg`` is of registers that nobody declares (5.1.2)."""

SPACES = ("reg", "const", "global", "local", "param", "shared")
"""The state spaces of declarations in a function (5.1)."""

TYPES = frozenset(
    (
        *("b8", "b16", "b32", "b64", "b128", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"),
        *("f16", "f16x2", "f32", "f64", "bf16", "bf16x2", "tf32", "e4m3x2", "e5m2x2", "pred"),
        *ir.OPAQUE,
    )
)
"""The types of declarations: what an access of an opaque one holds is refused where it is asked for (5.2, 5.3)."""

VECTORS = ("v2", "v4", "v8")
"""The vectors of declarations (5.4.2)."""

ATTRIBUTES: Mapping[str, int] = {".managed": 0, ".unified": 2}
"""The attributes of variables and functions, with how many numbers they have: both say where memory may be accessed
from, and change nothing for a kernel alone (5.4.8, 5.5)."""

PRAGMAS = ("nounroll", "enable_smem_spilling", "frequency", "mma_throughput")
"""The strings of ``.pragma`` that change only how fast code is (chapter 12)."""

USED_BYTES = re.compile(r'"used_bytes_mask (0[xX][0-9a-fA-F]{1,8}|0|[1-9][0-9]{0,9})"\Z')
"""The string of ``.pragma`` before an ``ld``, which says by bits what bytes of it are used: others have any value."""

TARGET_OPTIONS = ("texmode_unified", "texmode_independent", "debug")
"""The options of ``.target`` that change nothing but textures and debugging. ``map_f64_to_f32`` changes what arithmetic
gives, and is none of them (11.1.2)."""

TARGET = re.compile(r"sm_\d+[af]?\Z")

DEBUG_SECTION = re.compile(r"\.(?:nv_)?debug_\w+\Z")
"""The sections that are DWARF (11.5.2)."""

HEADERS: Mapping[str, tuple[int, int]] = {
    # how many threads and blocks a launch may have (11.4, 11.7, 11.8)
    ".maxntid": (1, 3),
    ".reqntid": (1, 3),
    ".reqnctapercluster": (1, 3),
    ".maxclusterrank": (1, 1),
    ".explicitcluster": (0, 0),
    ".blocksareclusters": (0, 0),
    # that a function does not return
    ir.NORETURN: (0, 0),
    # how many registers and resources there are: how fast it is
    ".maxnreg": (1, 1),
    ".minnctapersm": (1, 1),
    ".maxnctapersm": (1, 1),
    ".abi_preserve": (1, 1),
    ".abi_preserve_control": (1, 1),
}
"""The directives behind the head of a function, with the least and most numbers that they have."""

SIZE_BY = ".reqntid"
"""What fixes the size of a block."""
