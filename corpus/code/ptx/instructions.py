"""The instructions of PTX as a closed world (PTX ISA 9.1, 9.7): the words and operands of each, and what it does.

A row is one form of an instruction: its name, what it does besides its result, its words, and its operands. The words
of ``ld reads: weak? LOADED? TYPE : d [] c?`` are ``weak`` or not, a state space or none, and a type. Words in capitals
are kinds of words; words stand in any order, for ptxas takes most orders. What no row has is not understood: no word
means nothing because nobody knows it.

    d     a register, or _: a result                     a     a register, a number, a symbol: a value
    d*    results, as many as the vector word says       a*    values, as many as the vector word says
    d|p   two results, or one                            p     a predicate, which may be negated
    []    memory at an address                           [t]   a tensor map with coordinates
    v     values in braces                               {}    two or four values in braces, which a type has room for
    l     a name: a label, a list                        #     a number
    =32   a register of so many bits: 32, 1 for a predicate, =2 for twice as many as the type; =first for those of the
          first type; =wide, =room for at least those of the type, of the first type; =any; else those of the type
    c     a policy for caches, with L2::cache_hint       m     the blocks of a multicast, with multicast::cluster
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from corpus.code.functions import registers_in
from corpus.code.ir import (
    Both,
    Float,
    KernelInstruction,
    MemoryOperand,
    Negated,
    Number,
    Operand,
    Register,
    SymbolRef,
    Vector,
)
from corpus.code.table import Effect
from corpus.litmus.ptx_arithmetic import WIDTHS, type_of

_INTEGERS = "u16 u32 u64 s16 s32 s64"
_WGMMA = " ".join(f"m64n{n}k{k}" for k in (8, 16, 32, 256) for n in range(8, 257, 8))

_KINDS: Mapping[str, str] = {
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

_ROWS = """
mov nothing: MOVED : d a
mov nothing: WHOLE : d {}
mov nothing: WHOLE : {} a
cvta nothing: to? CONVERTED SIZE : d a
cvt nothing: ROUNDCVT? ftz? sat? TO FROM : d=room a=wide
cvt nothing: ROUND relu? satfinite? HALF f32 : d=first a
cvt nothing: ROUND relu? satfinite? PAIR f32 : d=first a a
cvt nothing: ROUND relu? satfinite? PAIR SMALLPAIR : d=first a
cvt nothing: ROUND relu? satfinite? SMALLPAIR PAIR : d=first a
cvt nothing: ROUND relu? satfinite? SMALLPAIR f32 : d=first a a
cvt nothing: ROUND relu? satfinite? tf32 f32 : d=first a
cvt nothing: rna satfinite? tf32 f32 : d=first a
isspacep nothing: CONVERTED : d=1 a=any
add,sub nothing: INTEGER : d a a
add,sub nothing: sat s32 : d a a
add,sub nothing: cc LONG : d a a
add,sub,mul nothing: ROUND? ftz? sat? f32 : d a a
add,sub,mul nothing: ROUND? f64 : d a a
add,sub,mul nothing: rn? ftz? sat? f16 : d a a
add,sub,mul nothing: rn? bf16 : d a a
add,sub,mul nothing: rn? ftz? sat? f16x2 : d a a
add,sub,mul nothing: rn? bf16x2 : d a a
add,sub,mul nothing: ROUND? ftz? f32x2 : d a a
add nothing: u16x2 : d a a
add nothing: s16x2 : d a a
mul nothing: HIGHLOW INTEGER : d a a
mul nothing: wide SHORT : d=2 a a
mad nothing: HIGHLOW INTEGER : d a a a
mad nothing: wide SHORT : d=2 a a a=2
mad nothing: HIGHLOW cc LONG : d a a a
mad nothing: hi sat s32 : d a a a
mad,fma nothing: ROUND ftz? sat? f32 : d a a a
mad,fma nothing: ROUND f64 : d a a a
fma nothing: rn ftz? sat? f16 : d a a a
fma nothing: rn ftz? sat? f16x2 : d a a a
fma nothing: rn ftz? relu f16 : d a a a
fma nothing: rn ftz? relu f16x2 : d a a a
fma nothing: rn relu? bf16 : d a a a
fma nothing: rn relu? bf16x2 : d a a a
fma nothing: ROUND ftz? f32x2 : d a a a
mul24 nothing: HIGHLOW WORD : d a a
mad24 nothing: HIGHLOW WORD : d a a a
mad24 nothing: hi sat s32 : d a a a
sad nothing: INTEGER : d a a a
div,rem nothing: INTEGER : d a a
div nothing: ROUND ftz? f32 : d a a
div nothing: ROUND f64 : d a a
div nothing: approx ftz? f32 : d a a
div nothing: full ftz? f32 : d a a
min,max nothing: INTEGER : d a a
min,max nothing: relu s32 : d a a
min,max nothing: relu? s16x2 : d a a
min,max nothing: u16x2 : d a a
min,max nothing: ftz? NaN? f32 : d a a
min,max nothing: ftz? NaN? xorsign abs f32 : d a a
min,max nothing: ftz? NaN? abs? f32 : d a a a
min,max nothing: f64 : d a a
min,max nothing: ftz? NaN? f16 : d a a
min,max nothing: ftz? NaN? xorsign abs f16 : d a a
min,max nothing: ftz? NaN? f16x2 : d a a
min,max nothing: ftz? NaN? xorsign abs f16x2 : d a a
min,max nothing: NaN? HALF : d a a
min,max nothing: NaN? xorsign abs HALF : d a a
min,max nothing: NaN? bf16x2 : d a a
min,max nothing: NaN? xorsign abs bf16x2 : d a a
abs,neg nothing: SIGNED : d a
abs,neg nothing: ftz? f32 : d a
abs,neg nothing: f64 : d a
abs,neg nothing: ftz? f16 : d a
abs,neg nothing: ftz? f16x2 : d a
abs,neg nothing: bf16 : d a
abs,neg nothing: bf16x2 : d a
not nothing: LOGICAL : d a
cnot nothing: BITS : d a
and,or,xor nothing: LOGICAL : d a a
shl,shr nothing: BITS : d a a=32
shr nothing: INTEGER : d a a=32
shf nothing: LEFT WRAP b32 : d a a a
bfe nothing: LONG : d a a=32 a=32
bfi nothing: WHOLE : d a a a=32 a=32
prmt nothing: b32 PERMUTE? : d a a a
lop3 nothing: b32 : d a a a #
popc,clz nothing: WHOLE : d=32 a
brev nothing: WHOLE : d a
bfind nothing: shiftamt? LONG : d=32 a
sqrt,rcp nothing: ROUND ftz? f32 : d a
sqrt,rcp nothing: ROUND f64 : d a
sqrt,rcp nothing: approx ftz? f32 : d a
rcp nothing: approx ftz f64 : d a
rsqrt nothing: approx ftz? REAL : d a
sin,cos,lg2,ex2 nothing: approx ftz? f32 : d a
ex2 nothing: approx f16 : d a
ex2 nothing: approx f16x2 : d a
ex2 nothing: approx ftz bf16 : d a
ex2 nothing: approx ftz bf16x2 : d a
tanh nothing: approx HALF : d a
tanh nothing: approx f32 : d a
tanh nothing: approx f16x2 : d a
tanh nothing: approx bf16x2 : d a
copysign nothing: REAL : d a a
testp nothing: TESTED REAL : d=1 a
selp nothing: SELECTED : d a a p
slct nothing: SELECTED s32 : d=first a=first a=first a=32
slct nothing: ftz? SELECTED f32 : d=first a=first a=first a=32
setp nothing: EQUAL BITS : d|p=1 a a
setp nothing: SIGNEDLY SIGNED : d|p=1 a a
setp nothing: UNSIGNEDLY UNSIGNED : d|p=1 a a
setp nothing: REALLY ftz? f32 : d|p=1 a a
setp nothing: REALLY f64 : d|p=1 a a
setp nothing: REALLY ftz? f16 : d=1 a a
setp nothing: REALLY bf16 : d=1 a a
setp nothing: REALLY ftz? f16x2 : d|p=1 a a
setp nothing: REALLY bf16x2 : d|p=1 a a
setp nothing: EQUAL AND BITS : d|p=1 a a p
setp nothing: SIGNEDLY AND SIGNED : d|p=1 a a p
setp nothing: UNSIGNEDLY AND UNSIGNED : d|p=1 a a p
setp nothing: REALLY AND ftz? f32 : d|p=1 a a p
setp nothing: REALLY AND f64 : d|p=1 a a p
setp nothing: REALLY AND ftz? f16 : d=1 a a p
setp nothing: REALLY AND bf16 : d=1 a a p
setp nothing: REALLY AND ftz? f16x2 : d|p=1 a a p
setp nothing: REALLY AND bf16x2 : d|p=1 a a p
set nothing: EQUAL MASK BITS : d=first a a
set nothing: SIGNEDLY MASK SIGNED : d=first a a
set nothing: UNSIGNEDLY MASK UNSIGNED : d=first a a
set nothing: REALLY ftz? MASK REAL : d=first a a
createpolicy nothing: fractional PRIMARY SECONDARY? b64 : d a=any?
createpolicy nothing: range global? PRIMARY SECONDARY? b64 : d [] a=any a=any
createpolicy nothing: cvt L2 b64 : d a=any
mapa nothing: shared::cluster? SIZE : d=any a=any a=any
getctarank nothing: shared::cluster? SIZE : d=any a=any
ld reads: weak? LOADED? LOADCACHE? NEARCACHE? FARCACHE? HINT? AHEAD? VECTOR? TYPE : d*=wide [] c?
ld reads: volatile LOADED? AHEAD? VECTOR? TYPE : d*=wide []
ld reads: LOADORDER SCOPE LOADED? NEARCACHE? FARCACHE? HINT? AHEAD? VECTOR? TYPE : d*=wide [] c?
ld reads: mmio relaxed sys global? TYPE : d=wide []
ld reads: global nc NCCACHE? NEARCACHE? FARCACHE? HINT? AHEAD? VECTOR? TYPE : d*=wide [] c?
ldu reads: global? SHORTVECTOR? TYPE : d*=wide []
st writes: weak? STORED? STORECACHE? NEARCACHE? FARCACHE? HINT? VECTOR? TYPE : [] a*=wide c?
st writes: volatile STORED? VECTOR? TYPE : [] a*=wide
st writes: STOREORDER SCOPE STORED? NEARCACHE? FARCACHE? HINT? VECTOR? TYPE : [] a*=wide c?
st writes: mmio relaxed sys global? TYPE : [] a=wide
st writes: async weak? cluster? shared::cluster? BYTES TYPE : [] a=wide []
discard writes: global? L2 : [] #
applypriority nothing: global? L2::evict_normal : [] #
prefetch nothing: global? CACHE : []
prefetch nothing: local CACHE : []
prefetch nothing: global L2::evict_last : []
prefetch nothing: global L2::evict_normal : []
prefetch nothing: const? tensormap : []
prefetch nothing: param tensormap : []
prefetchu nothing: L1 : []
atom both: ORDER? SCOPE? MEMORY? ATOMIC HINT? WHOLENUMBER : d [] a c?
atom both: ORDER? SCOPE? MEMORY? add HINT? REAL : d [] a c?
atom both: ORDER? SCOPE? MEMORY? cas HINT? WHOLE : d [] a a c?
atom both: ORDER? SCOPE? MEMORY? cas b16 : d [] a a
atom both: ORDER? SCOPE? MEMORY? add noftz HINT? HALF : d [] a c?
red both: STOREORDER? SCOPE? MEMORY? REDUCED HINT? WHOLENUMBER : [] a c?
red both: STOREORDER? SCOPE? MEMORY? add HINT? REAL : [] a c?
red both: STOREORDER? SCOPE? MEMORY? add noftz HINT? HALF : [] a c?
red both: async relaxed? cluster? shared::cluster? BYTES REDUCED WHOLENUMBER : [] a []
fence orders: FENCED? SCOPE :
fence orders: proxy PROXY global? :
fence orders: proxy async shared::cta :
fence orders: proxy async shared::cluster :
fence orders: proxy tensormap::generic release SCOPE :
fence orders: proxy tensormap::generic acquire SCOPE : [] #
fence orders: mbarrier_init release cluster :
membar orders: cta :
membar orders: gl :
membar orders: sys :
membar orders: proxy PROXY global? :
membar orders: proxy async shared::cta :
membar orders: proxy async shared::cluster :
bar orders: cta? sync aligned? : a=any a=any?
bar orders: cta? arrive aligned? : a=any a=any
bar orders: cta? red popc aligned? u32 : d=any a=any p
bar orders: cta? red popc aligned? u32 : d=any a=any a=any p
bar orders: cta? red RED aligned? pred : d=any a=any p
bar orders: cta? red RED aligned? pred : d=any a=any a=any p
bar orders: warp sync : a=any
barrier orders: cta? sync aligned? : a=any a=any?
barrier orders: cta? arrive aligned? : a=any a=any
barrier orders: cta? red popc aligned? u32 : d=any a=any p
barrier orders: cta? red popc aligned? u32 : d=any a=any a=any p
barrier orders: cta? red RED aligned? pred : d=any a=any p
barrier orders: cta? red RED aligned? pred : d=any a=any a=any p
barrier orders: cluster arrive STOREORDER? aligned? :
barrier orders: cluster wait acquire? aligned? :
vote orders: sync? VOTE pred : d=any p a=any?
vote orders: sync? ballot b32 : d=any p a=any?
match orders: any sync WHOLE : d=any a=any a=any
match orders: all sync WHOLE : d|p=any a=any a=any
shfl orders: sync? SHUFFLE b32 : d|p=any a=any a=any a=any a=any?
redux orders: sync REDUCED WORD : d=any a=any a=any
redux orders: sync AND b32 : d=any a=any a=any
redux orders: sync REDUCED abs? NaN? f32 : d=any a=any a=any
activemask nothing: b32 : d=any
elect orders: sync : d|p=any a=any
mbarrier both: init OWNSHARED? b64 : [] a=any
mbarrier both: inval OWNSHARED? b64 : []
mbarrier both: expect_tx relaxed? NEAR? OWNSHARED? b64 : [] a=any
mbarrier both: expect_tx relaxed? NEAR? shared::cluster b64 : [] a=any
mbarrier both: complete_tx relaxed? NEAR? OWNSHARED? b64 : [] a=any
mbarrier both: complete_tx relaxed? NEAR? shared::cluster b64 : [] a=any
mbarrier both: arrive STOREORDER? NEAR? OWNSHARED? b64 : d=any [] a=any?
mbarrier both: arrive STOREORDER? NEAR? shared::cluster b64 : d=any [] a=any?
mbarrier both: arrive expect_tx STOREORDER? NEAR? OWNSHARED? b64 : d=any [] a=any
mbarrier both: arrive expect_tx STOREORDER? NEAR? shared::cluster b64 : d=any [] a=any
mbarrier both: arrive noComplete release? cta? OWNSHARED? b64 : d=any [] a=any
mbarrier both: arrive_drop STOREORDER? NEAR? OWNSHARED? b64 : d=any [] a=any?
mbarrier both: arrive_drop STOREORDER? NEAR? shared::cluster b64 : d=any [] a=any?
mbarrier both: arrive_drop expect_tx STOREORDER? NEAR? OWNSHARED? b64 : d=any [] a=any
mbarrier both: arrive_drop expect_tx STOREORDER? NEAR? shared::cluster b64 : d=any [] a=any
mbarrier both: arrive_drop noComplete release? cta? OWNSHARED? b64 : d=any [] a=any
mbarrier reads: test_wait parity? LOADORDER? NEAR? OWNSHARED? b64 : d=any [] a=any
mbarrier reads: try_wait parity? LOADORDER? NEAR? OWNSHARED? b64 : d=any [] a=any a=any?
mbarrier nothing: pending_count b64 : d=any a=any
cp both: async ca OWNSHARED global HINT? AHEAD? : [] [] a=any a=any? c?
cp both: async cg OWNSHARED global HINT? AHEAD? : [] [] a=any a=any? c?
cp orders: async commit_group :
cp orders: async wait_group : #
cp orders: async wait_all :
cp both: async mbarrier arrive noinc? OWNSHARED? b64 : []
cp both: async bulk BULKTO BULKFROM BYTES MULTICAST? HINT? : [] [] a=any [] m? c?
cp both: async bulk BULKTO BULKFROM bulk_group HINT? : [] [] a=any c?
cp orders: async bulk commit_group :
cp orders: async bulk wait_group read? : #
cp nothing: async bulk prefetch L2 global HINT? : [] a=any c?
cp nothing: async bulk prefetch tensor DIMENSION L2 global tile? HINT? : [t] c?
cp both: async bulk tensor DIMENSION BULKTO BULKFROM tile? BYTES MULTICAST? HINT? : [] [t] [] m? c?
cp both: async bulk tensor DIMENSION BULKTO BULKFROM tile? bulk_group HINT? : [t] [] c?
cp both: reduce async bulk BULKTO BULKFROM BYTES REDUCED BULKADDED : [] [] a=any []
cp both: reduce async bulk BULKTO BULKFROM bulk_group HINT? REDUCED noftz? BULKADDED : [] [] a=any c?
wgmma orders: fence sync aligned :
wgmma orders: commit_group sync aligned :
wgmma orders: wait_group sync aligned : #
wgmma reads: mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE : v a=any a=any p # # # #
wgmma reads: mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE : v v a=any p # # #
wgmma reads: mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE : v a=any a=any p # #
wgmma reads: mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE : v v a=any p # #
wgmma reads: mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE : v a=any a=any p
wgmma reads: mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE : v v a=any p
griddepcontrol orders: GRID :
setmaxnreg nothing: REGISTERS sync aligned u32 : #
nanosleep nothing: u32 : a
bra control: uni? : l
brx control: idx uni? : a=any l
ret control: uni? :
exit control: :
trap control: :
brkpt control: :
"""
"""The forms of instructions that are understood. What a call has are functions and lists, which it checks itself."""

REFUSED: Mapping[str, Effect] = {
    **dict.fromkeys(
        ("dp2a", "dp4a", "szext", "bmsk", "fns", "addc", "subc", "madc", "istypep", "txq", "suq"), Effect.NOTHING
    ),
    **dict.fromkeys(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"), Effect.NOTHING),
    **dict.fromkeys(
        tuple(
            f"{name}{lanes}"
            for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")
            for lanes in (2, 4)
        ),
        Effect.NOTHING,
    ),
    **dict.fromkeys(("tex", "tld4", "suld", "ldmatrix"), Effect.READS),
    **dict.fromkeys(("sust", "stmatrix"), Effect.WRITES),
    **dict.fromkeys(("sured", "multimem", "tensormap", "tcgen05", "clusterlaunchcontrol", "wmma"), Effect.BOTH),
    **dict.fromkeys(("mma", "movmatrix", "pmevent", "alloca", "stacksave", "stackrestore"), Effect.NOTHING),
}
"""The instructions of the ISA that are refused whatever words they have, and what they do: the carry, textures and
surfaces, matrices in registers and in tensor memory, video instructions, and the stack are not followed."""


class _Slot(NamedTuple):
    """A place of a row: the words that may stand there, or the kind of an operand; and whether it may be empty."""

    said: str
    words: frozenset[str]
    optional: bool


class PtxForm(NamedTuple):
    """One form of an instruction: its effect, the words that it takes, and the kinds of its operands."""

    effect: Effect
    words: tuple[_Slot, ...]
    operands: tuple[str, ...]
    least: int
    """The operands that are never left out."""


def _slot(text: str) -> _Slot:
    said = text.rstrip("?")
    return _Slot(said, frozenset(_KINDS.get(said, said).split()), said != text)


def _forms() -> dict[str, tuple[PtxForm, ...]]:
    found: dict[str, tuple[PtxForm, ...]] = {}
    for row in _ROWS.strip().splitlines():
        head, _, rest = row.partition(":")
        names, effect = head.split()
        words, _, operands = f"{rest} ".partition(" :")
        kinds = operands.split()
        least = len(kinds) - sum(each.endswith("?") for each in kinds)
        form = PtxForm(
            Effect(effect), tuple(map(_slot, words.split())), tuple(each.rstrip("?") for each in kinds), least
        )
        for name in names.split(","):
            found[name] = (*found.get(name, ()), form)
    return found


FORMS: Mapping[str, tuple[PtxForm, ...]] = _forms()
"""The forms of each instruction that is understood, by its name."""


WidthOf = Callable[[str], int | None]
"""The bits of a register by its name; None where none of this name is declared, 0 where it is a special one."""


def unfit(ins: KernelInstruction, width_of: WidthOf) -> str | None:
    """Return what is wrong with the words or operands of an instruction that no row has; None where a row has it."""
    if ins.name == "call":
        return None if set(ins.words) <= {"uni"} and ins.operands else "is not understood"
    if ins.name in REFUSED:
        return f"is not understood: what {ins.name} does is not followed"
    if ins.name not in FORMS:
        return "is not understood: PTX has no such instruction"
    forms = _spoken(ins.name, ins.words)
    if not forms:
        return f"is not understood: {_strange(ins.name, ins.words)}"
    wrong = min((_misfit(form, ins, width_of) for form in forms), key=lambda misfit: misfit.nearness)
    return f"its operands are not understood: {wrong.text}" if wrong.text else None


class _Misfit(NamedTuple):
    """What is wrong with operands, empty where nothing is, and how far off they are."""

    nearness: tuple[bool, int]
    text: str


def _misfit(form: PtxForm, ins: KernelInstruction, width_of: WidthOf) -> _Misfit:
    """Return what is wrong with the operands of an instruction, as one form has them."""
    least = form.least + sum(word in ins.words for word in _ASKED.values())
    kinds = [kind for kind in form.operands if kind not in _ASKED or _ASKED[kind] in ins.words]
    for number, (kind, operand) in enumerate(zip(kinds, ins.operands, strict=False)):
        said, _, wanted = kind.partition("=")
        if not _OPERANDS[said](operand, ins.words):
            return _Misfit((True, -number), f"operand {number + 1} is of another kind")
        if isinstance(operand, Float) and not any(_holds(word, operand) for word in ins.words):
            return _Misfit((True, -number), f"operand {number + 1} is a number of another format")
        wrong = _unfit_register(said, wanted, operand, ins.words, width_of)
        if wrong:
            return _Misfit((True, -number), wrong)
    if least <= len(ins.operands) <= len(kinds):
        return _Misfit((False, 0), "")
    many = str(least) if least == len(kinds) else f"{least} to {len(kinds)}"
    return _Misfit((True, -len(kinds)), f"expected {many} of them, found {len(ins.operands)}")


_ASKED = {"c": "L2::cache_hint", "m": "multicast::cluster"}
"""The words that ask for kinds of operands."""


@cache
def _spoken(name: str, words: tuple[str, ...]) -> tuple[PtxForm, ...]:
    """Return the forms of an instruction that have these words."""
    return tuple(form for form in FORMS[name] if _speaks(form, words))


def _speaks(form: PtxForm, words: Sequence[str]) -> bool:
    free = list(form.words)
    for word in words:
        slot = next((each for each in free if word in each.words), None)
        if slot is None:
            return False
        free.remove(slot)
    return all(each.optional for each in free)


def _strange(name: str, words: Sequence[str]) -> str:
    """Say which words no form has, or that they do not stand together."""
    every = {word for form in FORMS[name] for slot in form.words for word in slot.words}
    strange = [word for word in words if word not in every]
    if strange:
        return f"{name} has no .{' and no .'.join(strange)}"
    twice = [word for at, word in enumerate(words) if word in words[:at]]
    return f".{twice[0]} stands twice" if twice and name != "cvt" else "its words are not those of one form"


def _unfit_register(kind: str, wanted: str, operand: Operand, words: Sequence[str], width_of: WidthOf) -> str | None:
    """Return what is wrong with the registers of an operand: one that is not declared, or of another width."""
    types = [WIDTHS[word] for word in words if word in WIDTHS]
    full, first = (types[-1], types[0]) if types else (32, 32)
    for name in registers_in((operand,)):
        width = width_of(name) if name != "_" else 0
        if width is None:
            return f"{name} is not declared"
        if not width and name != "_" and kind in ("d", "d*", "d|p"):
            return f"{name} is not a register to write"
        if kind == "[]":
            near = any(word.partition("::")[0] in ("shared", "local", "const", "param") for word in words)
            fits = width == 64 or (near and width == 32)
        elif kind == "{}":
            fits = isinstance(operand, Vector) and width == full // len(operand.parts)
        elif kind == "p" or wanted == "1":
            fits = width == 1
        elif kind in ("c", "[t]", "v", "m") or wanted == "any":
            fits = True
        elif wanted in ("wide", "room"):
            fits = width >= max(16, full if wanted == "wide" else first)
        else:
            bits = {"": full, "2": 2 * full, "first": first, "32": 32}[wanted]
            fits = width == max(bits, 16 if bits > 1 else 1)
        if not fits and width:
            return f"{name} has {width} bits"
    return None


def _holds(word: str, number: Float) -> bool:
    """Decide whether a type is one of floating-point numbers of a format, or of bits as many."""
    return word in WIDTHS and word[0] in "fb" and WIDTHS[word] == number.width


def _is_value(operand: Operand) -> bool:
    return isinstance(operand, Register | Number | Float | SymbolRef) and operand != Register("_")


def _is_result(operand: Operand) -> bool:
    return isinstance(operand, Register)


def _is_predicate(operand: Operand) -> bool:
    return isinstance(operand.operand if isinstance(operand, Negated) else operand, Register | Number)


def _is_two(operand: Operand) -> bool:
    every = (operand.first, operand.second) if isinstance(operand, Both) else (operand,)
    return all(map(_is_result, every))


def _is_list(operand: Operand) -> bool:
    every = operand.parts if isinstance(operand, Vector) else ()
    return bool(every) and all(isinstance(each, Register | Number | Float | SymbolRef) for each in every)


def _is_tensor(operand: Operand) -> bool:
    match operand:
        case Vector((MemoryOperand(), coordinates)):
            return _is_list(coordinates)
    return False


def _as_many(kind: Callable[[Operand], bool], operand: Operand, words: Sequence[str]) -> bool:
    """Decide whether an operand is as many of a kind as the vector word says."""
    count = next((int(word[1:]) for word in words if word in ("v2", "v4", "v8")), 1)
    every = operand.parts if count > 1 and isinstance(operand, Vector) else (operand,)
    return len(every) == count and all(map(kind, every))


def _has_room(operand: Operand, words: Sequence[str]) -> bool:
    """Decide whether an operand is two or four values that a type has room for."""
    parts = operand.parts if isinstance(operand, Vector) else ()
    return len(parts) in (2, 4) and WIDTHS[type_of(words)] // len(parts) >= 8 and _is_list(operand)


_OPERANDS: Mapping[str, Callable[[Operand, Sequence[str]], bool]] = {
    "d": lambda operand, words: _is_result(operand),
    "a": lambda operand, words: _is_value(operand),
    "c": lambda operand, words: _is_value(operand),
    "m": lambda operand, words: _is_value(operand),
    "p": lambda operand, words: _is_predicate(operand),
    "d*": lambda operand, words: _as_many(_is_result, operand, words),
    "a*": lambda operand, words: _as_many(_is_value, operand, words),
    "d|p": lambda operand, words: _is_two(operand),
    "[]": lambda operand, words: isinstance(operand, MemoryOperand),
    "[t]": lambda operand, words: _is_tensor(operand),
    "v": lambda operand, words: _is_list(operand),
    "{}": _has_room,
    "l": lambda operand, words: isinstance(operand, SymbolRef) and not operand.offset,
    "#": lambda operand, words: isinstance(operand, Number),
}
"""Whether an operand is of a kind, given the words of the instruction."""
