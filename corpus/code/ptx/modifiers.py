"""The kinds of words behind the names of PTX's instructions, which rows name in capitals (PTX ISA 9.1, 9.7)."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code.table import Effect, Row
from corpus.code.thread import Meaning

_INTEGERS = "u16 u32 u64 s16 s32 s64"
_WGMMA = " ".join(f"m64n{n}k{k}" for k in (8, 16, 32, 256) for n in range(8, 257, 8))

MODIFIERS: Mapping[str, str] = {
    "TYPE": f"b8 b16 b32 b64 u8 s8 {_INTEGERS} f32 f64",
    "INTEGER": _INTEGERS,
    "SIGNED": "s16 s32 s64",
    "UNSIGNED": "u16 u32 u64",
    "MOVED": f"pred b16 b32 b64 {_INTEGERS} f16 bf16 f32 f64",
    "SELECTED": f"b16 b32 b64 {_INTEGERS} f32 f64",
    "BITS": "b16 b32 b64",
    "WHOLE": "b32 b64",
    "LOGICAL": "pred b16 b32 b64",
    "WORD": "u32 s32",
    "SHORT": "u16 u32 s16 s32",
    "LONG": "u32 u64 s32 s64",
    "REAL": "f32 f64",
    "HALF": "f16 bf16",
    "SIZE": "u32 u64",
    "FROM": f"u8 s8 {_INTEGERS} f16 bf16 f32 f64",
    "TO": f"u8 s8 {_INTEGERS} f16 bf16 f32 f64",
    "PAIR": "f16x2 bf16x2",
    "SMALLPAIR": "e4m3x2 e5m2x2 e2m1x2 e2m3x2 e3m2x2 ue8m0x2",
    "ROUND": "rn rz rm rp",
    "ROUNDCVT": "rn rz rm rp rni rzi rmi rpi",
    "HIGHLOW": "hi lo",
    "EQUAL": "eq ne",
    "SIGNEDLY": "eq ne lt le gt ge",
    "UNSIGNEDLY": "eq ne lt le gt ge lo ls hi hs",
    "REALLY": "eq ne lt le gt ge equ neu ltu leu gtu geu num nan",
    "MASK": "u32 s32 f32",
    "AND": "and or xor",
    "LOADED": "const global local param param::entry param::func shared shared::cta shared::cluster",
    "STORED": "global local param param::func shared shared::cta shared::cluster",
    "MEMORY": "global shared shared::cta shared::cluster",
    "CONVERTED": "const global local shared shared::cta shared::cluster param param::entry",
    "LOADCACHE": "ca cg cs lu cv",
    "STORECACHE": "wb cg cs wt",
    "NCCACHE": "ca cg cs",
    "NEARCACHE": "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate",
    "FARCACHE": "L2::evict_normal L2::evict_first L2::evict_last",
    "HINT": "L2::cache_hint",
    "AHEAD": "L2::64B L2::128B L2::256B",
    "VECTOR": "v2 v4 v8",
    "SHORTVECTOR": "v2 v4",
    "SCOPE": "cta cluster gpu sys",
    "NEAR": "cta cluster",
    "LOADORDER": "relaxed acquire",
    "STOREORDER": "relaxed release",
    "ORDER": "relaxed acquire release acq_rel",
    "FENCED": "sc acq_rel acquire release",
    "ATOMIC": "and or xor exch add inc dec min max",
    "REDUCED": "and or xor add inc dec min max",
    "WHOLENUMBER": "b32 b64 u32 u64 s32 s64",
    "BULKADDED": "b32 b64 u32 u64 s32 s64 f16 bf16 f32 f64",
    "PROXY": "alias async generic tensormap::generic",
    "OWNSHARED": "shared shared::cta",
    "VOTE": "all any uni",
    "SHUFFLE": "up down bfly idx",
    "RED": "and or",
    "BULKTO": "global shared::cta shared::cluster",
    "BULKFROM": "global shared::cta",
    "BYTES": "mbarrier::complete_tx::bytes",
    "MULTICAST": "multicast::cluster",
    "DIMENSION": "1d 2d 3d 4d 5d",
    "PERMUTE": "f4e b4e rc8 ecl ecr rc16",
    "WRAP": "clamp wrap",
    "LEFT": "l r",
    "TESTED": "finite infinite number notanumber normal subnormal",
    "PRIMARY": "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged",
    "SECONDARY": "L2::evict_first L2::evict_unchanged",
    "CACHE": "L1 L2",
    "GRID": "launch_dependents wait",
    "REGISTERS": "inc dec",
    "ATYPE": "f16 f32 s32 bf16 tf32 e4m3 e5m2 s8 u8 b1",
    "BTYPE": "f16 f32 s32 bf16 tf32 e4m3 e5m2 s8 u8 b1",
    "DTYPE": "f16 f32 s32",
    "WGMMA": _WGMMA,
}
"""The kinds of words, by their names."""


_WITH = {"c": "L2::cache_hint", "m": "multicast::cluster"}
"""The words that kinds of operands stand with."""


def ptx_row(names: str, effect: Effect, operands: str, meaning: Meaning, words: str = "") -> Row[Meaning]:
    """Return a row, whose words may be kinds of words."""
    given = (f"{kind}@{_WITH[kind]}" if kind in _WITH else kind for kind in operands.split())
    return Row(names, effect, " ".join(given), meaning, " ".join(map(_words_of, words.split())))


def _words_of(text: str) -> str:
    kind = text.rstrip("?")
    return "|".join(MODIFIERS.get(kind, kind).split()) + text[len(kind) :]
