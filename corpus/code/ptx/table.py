"""The instructions of PTX as a closed world (PTX ISA 9.1, 9.7): the words and operands of each, and what it does.

The words of ``LOADED? TYPE`` are a state space or none, and a type: words in capitals are kinds of words
(``corpus.code.ptx.modifiers``). They stand in any order, for ptxas takes most orders. What no row has is not
understood: no word means nothing because nobody knows it. ``corpus.code.ptx.operands`` has the kinds of operands.
"""

from __future__ import annotations

from collections.abc import Sequence

from corpus.code import ir
from corpus.code.arithmetic import compute_, move, select, set_mask, set_predicate, space_of
from corpus.code.calls import branch, branch_by_index, call, end, ret
from corpus.code.evaluation import evaluate, set_result
from corpus.code.meaning import nothing, trap
from corpus.code.ptx.matrices import multiply
from corpus.code.ptx.meeting import active, barrier, elect, fence, map_shared, match, reduce_, shuffle, vote
from corpus.code.ptx.memory import atomic, discard, load, reads_constants, store
from corpus.code.ptx.modifiers import ptx_row
from corpus.code.ptx.moving import copy, mbarrier, store_asynchronously
from corpus.code.ptx.operands import WidthOf, wrong_operand
from corpus.code.ptx.printing import print_formatted
from corpus.code.ptx.special import special
from corpus.code.ptx.words import SIZE_BY
from corpus.code.table import (
    BOTH,
    CONTROL,
    NOTHING,
    ORDERS,
    READS,
    REFUSED,
    WRITES,
    Lack,
    Row,
    Table,
    find,
    strange_words,
    table_of,
)
from corpus.code.thread import (
    ControlRules,
    FollowedThread,
    GroupExchange,
    KernelLanguage,
    LaunchRules,
    Meaning,
    MemoryRules,
    State,
)
from corpus.code.values import Unknown
from corpus.litmus.orders import EXCHANGED, RELAXED, Mode


def after_other_grids(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``griddepcontrol``: nothing, where a kernel begins when those before it have ended (9.7.13.13)."""
    thread.notes.assumed[
        "a kernel begins when those before it in its stream have ended, with griddepcontrol as well"
    ] = None
    return True


def untold(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    set_result(thread, state, ins.operands[0], Unknown(f"the result of {ins.opcode}"))
    return True


def is_in_space(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``isspacep``: whether a generic address is of a state space. What a launch gives is in global memory."""
    target, address = ins.operands
    value = evaluate(thread, state, address)
    space, wanted = space_of(value), ins.words[0].partition("::")[0]
    known = space is not None and ins.words[0] != "shared::cta"
    set_result(thread, state, target, int(space == wanted) if known else Unknown(f"the result of {ins.opcode}"))
    return True


_HINTS = "NEARCACHE? FARCACHE? HINT?"
_MMA = "mma_async sync aligned WGMMA satfinite? DTYPE ATYPE BTYPE"

_REFUSED = (
    *("dp2a", "dp4a", "szext", "bmsk", "fns", "addc", "subc", "madc", "istypep", "txq", "suq"),
    *("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset"),
    *(f"{name}{lanes}" for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset") for lanes in (2, 4)),
    *("tex", "tld4", "suld", "ldmatrix", "sust", "stmatrix"),
    *("sured", "multimem", "tensormap", "tcgen05", "clusterlaunchcontrol", "wmma"),
    *("mma", "movmatrix", "pmevent", "alloca", "stacksave", "stackrestore"),
)
"""The instructions of the ISA that are refused whatever words they have: the carry, textures and surfaces, matrices in
registers and in tensor memory, video instructions, and the stack are not followed."""

_ROWS: list[Row[Meaning]] = [
    ptx_row("mov", NOTHING, "d a", move, "MOVED"),
    ptx_row("mov", NOTHING, "d {}", move, "WHOLE"),
    ptx_row("mov", NOTHING, "{} a", move, "WHOLE"),
    ptx_row("cvta", NOTHING, "d a", move, "to? CONVERTED SIZE"),
    ptx_row("cvt", NOTHING, "d=room a=wide", compute_, "ROUNDCVT? ftz? sat? TO FROM"),
    ptx_row("cvt", NOTHING, "d=first a", compute_, "ROUND relu? satfinite? HALF f32"),
    ptx_row("cvt", NOTHING, "d=first a a", compute_, "ROUND relu? satfinite? PAIR f32"),
    ptx_row("cvt", NOTHING, "d=first a", compute_, "ROUND relu? satfinite? PAIR SMALLPAIR"),
    ptx_row("cvt", NOTHING, "d=first a", compute_, "ROUND relu? satfinite? SMALLPAIR PAIR"),
    ptx_row("cvt", NOTHING, "d=first a a", compute_, "ROUND relu? satfinite? SMALLPAIR f32"),
    ptx_row("cvt", NOTHING, "d=first a", compute_, "ROUND relu? satfinite? tf32 f32"),
    ptx_row("cvt", NOTHING, "d=first a", compute_, "rna satfinite? tf32 f32"),
    ptx_row("isspacep", NOTHING, "d=1 a=any", is_in_space, "CONVERTED"),
    ptx_row("add,sub", NOTHING, "d a a", compute_, "INTEGER"),
    ptx_row("add,sub", NOTHING, "d a a", compute_, "sat s32"),
    ptx_row("add,sub", NOTHING, "d a a", compute_, "cc LONG"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "ROUND? ftz? sat? f32"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "ROUND? f64"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "rn? ftz? sat? f16"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "rn? bf16"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "rn? ftz? sat? f16x2"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "rn? bf16x2"),
    ptx_row("add,sub,mul", NOTHING, "d a a", compute_, "ROUND? ftz? f32x2"),
    ptx_row("add", NOTHING, "d a a", compute_, "u16x2"),
    ptx_row("add", NOTHING, "d a a", compute_, "s16x2"),
    ptx_row("mul", NOTHING, "d a a", compute_, "HIGHLOW INTEGER"),
    ptx_row("mul", NOTHING, "d=2 a a", compute_, "wide SHORT"),
    ptx_row("mad", NOTHING, "d a a a", compute_, "HIGHLOW INTEGER"),
    ptx_row("mad", NOTHING, "d=2 a a a=2", compute_, "wide SHORT"),
    ptx_row("mad", NOTHING, "d a a a", compute_, "HIGHLOW cc LONG"),
    ptx_row("mad", NOTHING, "d a a a", compute_, "hi sat s32"),
    ptx_row("mad,fma", NOTHING, "d a a a", compute_, "ROUND ftz? sat? f32"),
    ptx_row("mad,fma", NOTHING, "d a a a", compute_, "ROUND f64"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "rn ftz? sat? f16"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "rn ftz? sat? f16x2"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "rn ftz? relu f16"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "rn ftz? relu f16x2"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "rn relu? bf16"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "rn relu? bf16x2"),
    ptx_row("fma", NOTHING, "d a a a", compute_, "ROUND ftz? f32x2"),
    ptx_row("mul24", NOTHING, "d a a", compute_, "HIGHLOW WORD"),
    ptx_row("mad24", NOTHING, "d a a a", compute_, "HIGHLOW WORD"),
    ptx_row("mad24", NOTHING, "d a a a", compute_, "hi sat s32"),
    ptx_row("sad", NOTHING, "d a a a", compute_, "INTEGER"),
    ptx_row("div,rem", NOTHING, "d a a", compute_, "INTEGER"),
    ptx_row("div", NOTHING, "d a a", compute_, "ROUND ftz? f32"),
    ptx_row("div", NOTHING, "d a a", compute_, "ROUND f64"),
    ptx_row("div", NOTHING, "d a a", compute_, "approx ftz? f32"),
    ptx_row("div", NOTHING, "d a a", compute_, "full ftz? f32"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "INTEGER"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "relu s32"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "relu? s16x2"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "u16x2"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "ftz? NaN? f32"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "ftz? NaN? xorsign abs f32"),
    ptx_row("min,max", NOTHING, "d a a a", compute_, "ftz? NaN? abs? f32"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "f64"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "ftz? NaN? f16"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "ftz? NaN? xorsign abs f16"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "ftz? NaN? f16x2"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "ftz? NaN? xorsign abs f16x2"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "NaN? HALF"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "NaN? xorsign abs HALF"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "NaN? bf16x2"),
    ptx_row("min,max", NOTHING, "d a a", compute_, "NaN? xorsign abs bf16x2"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "SIGNED"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "ftz? f32"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "f64"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "ftz? f16"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "ftz? f16x2"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "bf16"),
    ptx_row("abs,neg", NOTHING, "d a", compute_, "bf16x2"),
    ptx_row("not", NOTHING, "d a", compute_, "LOGICAL"),
    ptx_row("cnot", NOTHING, "d a", compute_, "BITS"),
    ptx_row("and,or,xor", NOTHING, "d a a", compute_, "LOGICAL"),
    ptx_row("shl,shr", NOTHING, "d a a=32", compute_, "BITS"),
    ptx_row("shr", NOTHING, "d a a=32", compute_, "INTEGER"),
    ptx_row("shf", NOTHING, "d a a a", compute_, "LEFT WRAP b32"),
    ptx_row("bfe", NOTHING, "d a a=32 a=32", compute_, "LONG"),
    ptx_row("bfi", NOTHING, "d a a a=32 a=32", compute_, "WHOLE"),
    ptx_row("prmt", NOTHING, "d a a a", compute_, "b32 PERMUTE?"),
    ptx_row("lop3", NOTHING, "d a a a #", compute_, "b32"),
    ptx_row("popc,clz", NOTHING, "d=32 a", compute_, "WHOLE"),
    ptx_row("brev", NOTHING, "d a", compute_, "WHOLE"),
    ptx_row("bfind", NOTHING, "d=32 a", compute_, "shiftamt? LONG"),
    ptx_row("sqrt", NOTHING, "d a", compute_, "ROUND ftz? f32"),
    ptx_row("rcp", NOTHING, "d a", untold, "ROUND ftz? f32"),
    ptx_row("sqrt", NOTHING, "d a", compute_, "ROUND f64"),
    ptx_row("rcp", NOTHING, "d a", untold, "ROUND f64"),
    ptx_row("sqrt", NOTHING, "d a", compute_, "approx ftz? f32"),
    ptx_row("rcp", NOTHING, "d a", untold, "approx ftz? f32"),
    ptx_row("rcp", NOTHING, "d a", untold, "approx ftz f64"),
    ptx_row("rsqrt", NOTHING, "d a", untold, "approx ftz? REAL"),
    ptx_row("sin,cos,lg2,ex2", NOTHING, "d a", untold, "approx ftz? f32"),
    ptx_row("ex2", NOTHING, "d a", untold, "approx f16"),
    ptx_row("ex2", NOTHING, "d a", untold, "approx f16x2"),
    ptx_row("ex2", NOTHING, "d a", untold, "approx ftz bf16"),
    ptx_row("ex2", NOTHING, "d a", untold, "approx ftz bf16x2"),
    ptx_row("tanh", NOTHING, "d a", untold, "approx HALF"),
    ptx_row("tanh", NOTHING, "d a", untold, "approx f32"),
    ptx_row("tanh", NOTHING, "d a", untold, "approx f16x2"),
    ptx_row("tanh", NOTHING, "d a", untold, "approx bf16x2"),
    ptx_row("copysign", NOTHING, "d a a", untold, "REAL"),
    ptx_row("testp", NOTHING, "d=1 a", untold, "TESTED REAL"),
    ptx_row("selp", NOTHING, "d a a p", select, "SELECTED"),
    ptx_row("slct", NOTHING, "d=first a=first a=first a=32", compute_, "SELECTED s32"),
    ptx_row("slct", NOTHING, "d=first a=first a=first a=32", compute_, "ftz? SELECTED f32"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "EQUAL BITS"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "SIGNEDLY SIGNED"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "UNSIGNEDLY UNSIGNED"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "REALLY ftz? f32"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "REALLY f64"),
    ptx_row("setp", NOTHING, "d=1 a a", set_predicate, "REALLY ftz? f16"),
    ptx_row("setp", NOTHING, "d=1 a a", set_predicate, "REALLY bf16"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "REALLY ftz? f16x2"),
    ptx_row("setp", NOTHING, "dp=1 a a", set_predicate, "REALLY bf16x2"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "EQUAL AND BITS"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "SIGNEDLY AND SIGNED"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "UNSIGNEDLY AND UNSIGNED"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "REALLY AND ftz? f32"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "REALLY AND f64"),
    ptx_row("setp", NOTHING, "d=1 a a p", set_predicate, "REALLY AND ftz? f16"),
    ptx_row("setp", NOTHING, "d=1 a a p", set_predicate, "REALLY AND bf16"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "REALLY AND ftz? f16x2"),
    ptx_row("setp", NOTHING, "dp=1 a a p", set_predicate, "REALLY AND bf16x2"),
    ptx_row("set", NOTHING, "d=first a a", set_mask, "EQUAL MASK BITS"),
    ptx_row("set", NOTHING, "d=first a a", set_mask, "SIGNEDLY MASK SIGNED"),
    ptx_row("set", NOTHING, "d=first a a", set_mask, "UNSIGNEDLY MASK UNSIGNED"),
    ptx_row("set", NOTHING, "d=first a a", set_mask, "REALLY ftz? MASK REAL"),
    ptx_row("createpolicy", NOTHING, "d a=any?", untold, "fractional PRIMARY SECONDARY? b64"),
    ptx_row("createpolicy", NOTHING, "d [] a=any a=any", untold, "range global? PRIMARY SECONDARY? b64"),
    ptx_row("createpolicy", NOTHING, "d a=any", untold, "cvt L2 b64"),
    ptx_row("mapa", NOTHING, "d=any a=any a=any", map_shared, "shared::cluster? SIZE"),
    ptx_row("getctarank", NOTHING, "d=any a=any", map_shared, "shared::cluster? SIZE"),
    ptx_row(
        "ld",
        READS,
        "D=wide [] c",
        load,
        f"weak? LOADED? LOADCACHE? {_HINTS} AHEAD? VECTOR? TYPE",
    ),
    ptx_row("ld", READS, "D=wide []", load, "volatile LOADED? AHEAD? VECTOR? TYPE"),
    ptx_row(
        "ld",
        READS,
        "D=wide [] c",
        load,
        f"LOADORDER SCOPE LOADED? {_HINTS} AHEAD? VECTOR? TYPE",
    ),
    ptx_row("ld", READS, "d=wide []", load, "mmio relaxed sys global? TYPE"),
    ptx_row(
        "ld",
        READS,
        "D=wide [] c",
        load,
        f"global nc NCCACHE? {_HINTS} AHEAD? VECTOR? TYPE",
    ),
    ptx_row("ldu", READS, "D=wide []", load, "global? SHORTVECTOR? TYPE"),
    ptx_row(
        "st",
        WRITES,
        "[] A=wide c",
        store,
        f"weak? STORED? STORECACHE? {_HINTS} VECTOR? TYPE",
    ),
    ptx_row("st", WRITES, "[] A=wide", store, "volatile STORED? VECTOR? TYPE"),
    ptx_row(
        "st",
        WRITES,
        "[] A=wide c",
        store,
        f"STOREORDER SCOPE STORED? {_HINTS} VECTOR? TYPE",
    ),
    ptx_row("st", WRITES, "[] a=wide", store, "mmio relaxed sys global? TYPE"),
    ptx_row("st", WRITES, "[] a=wide []", store_asynchronously, "async weak? cluster? shared::cluster? BYTES TYPE"),
    ptx_row("discard", WRITES, "[] #", discard, "global? L2"),
    ptx_row("applypriority", NOTHING, "[] #", nothing, "global? L2::evict_normal"),
    ptx_row("prefetch", NOTHING, "[]", nothing, "global? CACHE"),
    ptx_row("prefetch", NOTHING, "[]", nothing, "local CACHE"),
    ptx_row("prefetch", NOTHING, "[]", nothing, "global L2::evict_last"),
    ptx_row("prefetch", NOTHING, "[]", nothing, "global L2::evict_normal"),
    ptx_row("prefetch", NOTHING, "[]", nothing, "const? tensormap"),
    ptx_row("prefetch", NOTHING, "[]", nothing, "param tensormap"),
    ptx_row("prefetchu", NOTHING, "[]", nothing, "L1"),
    ptx_row("atom", BOTH, "d [] a c", atomic, "ORDER? SCOPE? MEMORY? ATOMIC HINT? WHOLENUMBER"),
    ptx_row("atom", BOTH, "d [] a c", atomic, "ORDER? SCOPE? MEMORY? add HINT? REAL"),
    ptx_row("atom", BOTH, "d [] a a c", atomic, "ORDER? SCOPE? MEMORY? cas HINT? WHOLE"),
    ptx_row("atom", BOTH, "d [] a a", atomic, "ORDER? SCOPE? MEMORY? cas b16"),
    ptx_row("atom", BOTH, "d [] a c", atomic, "ORDER? SCOPE? MEMORY? add noftz HINT? HALF"),
    ptx_row("red", BOTH, "[] a c", atomic, "STOREORDER? SCOPE? MEMORY? REDUCED HINT? WHOLENUMBER"),
    ptx_row("red", BOTH, "[] a c", atomic, "STOREORDER? SCOPE? MEMORY? add HINT? REAL"),
    ptx_row("red", BOTH, "[] a c", atomic, "STOREORDER? SCOPE? MEMORY? add noftz HINT? HALF"),
    ptx_row(
        "red",
        BOTH,
        "[] a []",
        store_asynchronously,
        "async relaxed? cluster? shared::cluster? BYTES REDUCED WHOLENUMBER",
    ),
    ptx_row("fence", ORDERS, "", fence, "FENCED? SCOPE"),
    ptx_row("fence", ORDERS, "", fence, "proxy PROXY global?"),
    ptx_row("fence", ORDERS, "", fence, "proxy async shared::cta"),
    ptx_row("fence", ORDERS, "", fence, "proxy async shared::cluster"),
    ptx_row("fence", ORDERS, "", fence, "proxy tensormap::generic release SCOPE"),
    ptx_row("fence", ORDERS, "[] #", fence, "proxy tensormap::generic acquire SCOPE"),
    ptx_row("fence", ORDERS, "", fence, "mbarrier_init release cluster"),
    ptx_row("membar", ORDERS, "", fence, "cta"),
    ptx_row("membar", ORDERS, "", fence, "gl"),
    ptx_row("membar", ORDERS, "", fence, "sys"),
    ptx_row("membar", ORDERS, "", fence, "proxy PROXY global?"),
    ptx_row("membar", ORDERS, "", fence, "proxy async shared::cta"),
    ptx_row("membar", ORDERS, "", fence, "proxy async shared::cluster"),
    ptx_row("bar", ORDERS, "a=any a=any?", barrier, "cta? sync aligned?"),
    ptx_row("bar", ORDERS, "a=any a=any", barrier, "cta? arrive aligned?"),
    ptx_row("bar", ORDERS, "d=any a=any p", barrier, "cta? red popc aligned? u32"),
    ptx_row("bar", ORDERS, "d=any a=any a=any p", barrier, "cta? red popc aligned? u32"),
    ptx_row("bar", ORDERS, "d=any a=any p", barrier, "cta? red RED aligned? pred"),
    ptx_row("bar", ORDERS, "d=any a=any a=any p", barrier, "cta? red RED aligned? pred"),
    ptx_row("bar", ORDERS, "a=any", barrier, "warp sync"),
    ptx_row("barrier", ORDERS, "a=any a=any?", barrier, "cta? sync aligned?"),
    ptx_row("barrier", ORDERS, "a=any a=any", barrier, "cta? arrive aligned?"),
    ptx_row("barrier", ORDERS, "d=any a=any p", barrier, "cta? red popc aligned? u32"),
    ptx_row("barrier", ORDERS, "d=any a=any a=any p", barrier, "cta? red popc aligned? u32"),
    ptx_row("barrier", ORDERS, "d=any a=any p", barrier, "cta? red RED aligned? pred"),
    ptx_row("barrier", ORDERS, "d=any a=any a=any p", barrier, "cta? red RED aligned? pred"),
    ptx_row("barrier", ORDERS, "", barrier, "cluster arrive STOREORDER? aligned?"),
    ptx_row("barrier", ORDERS, "", barrier, "cluster wait acquire? aligned?"),
    ptx_row("vote", ORDERS, "d=any p a=any?", vote, "sync? VOTE pred"),
    ptx_row("vote", ORDERS, "d=any p a=any?", vote, "sync? ballot b32"),
    ptx_row("match", ORDERS, "d=any a=any a=any", match, "any sync WHOLE"),
    ptx_row("match", ORDERS, "dp=any a=any a=any", match, "all sync WHOLE"),
    ptx_row("shfl", ORDERS, "dp=any a=any a=any a=any a=any?", shuffle, "sync? SHUFFLE b32"),
    ptx_row("redux", ORDERS, "d=any a=any a=any", reduce_, "sync REDUCED WORD"),
    ptx_row("redux", ORDERS, "d=any a=any a=any", reduce_, "sync AND b32"),
    ptx_row("redux", ORDERS, "d=any a=any a=any", reduce_, "sync REDUCED abs? NaN? f32"),
    ptx_row("activemask", NOTHING, "d=any", active, "b32"),
    ptx_row("elect", ORDERS, "dp=any a=any", elect, "sync"),
    ptx_row("mbarrier", BOTH, "[] a=any", mbarrier, "init OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "[]", mbarrier, "inval OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "[] a=any", mbarrier, "expect_tx relaxed? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "[] a=any", mbarrier, "expect_tx relaxed? NEAR? shared::cluster b64"),
    ptx_row("mbarrier", BOTH, "[] a=any", mbarrier, "complete_tx relaxed? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "[] a=any", mbarrier, "complete_tx relaxed? NEAR? shared::cluster b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any?", mbarrier, "arrive STOREORDER? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any?", mbarrier, "arrive STOREORDER? NEAR? shared::cluster b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any", mbarrier, "arrive expect_tx STOREORDER? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any", mbarrier, "arrive expect_tx STOREORDER? NEAR? shared::cluster b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any", mbarrier, "arrive noComplete release? cta? OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any?", mbarrier, "arrive_drop STOREORDER? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any?", mbarrier, "arrive_drop STOREORDER? NEAR? shared::cluster b64"),
    ptx_row("mbarrier", BOTH, "d=any [] a=any", mbarrier, "arrive_drop expect_tx STOREORDER? NEAR? OWNSHARED? b64"),
    ptx_row(
        "mbarrier", BOTH, "d=any [] a=any", mbarrier, "arrive_drop expect_tx STOREORDER? NEAR? shared::cluster b64"
    ),
    ptx_row("mbarrier", BOTH, "d=any [] a=any", mbarrier, "arrive_drop noComplete release? cta? OWNSHARED? b64"),
    ptx_row("mbarrier", READS, "d=any [] a=any", mbarrier, "test_wait parity? LOADORDER? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", READS, "d=any [] a=any a=any?", mbarrier, "try_wait parity? LOADORDER? NEAR? OWNSHARED? b64"),
    ptx_row("mbarrier", NOTHING, "d=any a=any", mbarrier, "pending_count b64"),
    ptx_row("cp", BOTH, "[] [] a=any a=any? c", copy, "async ca OWNSHARED global HINT? AHEAD?"),
    ptx_row("cp", BOTH, "[] [] a=any a=any? c", copy, "async cg OWNSHARED global HINT? AHEAD?"),
    ptx_row("cp", ORDERS, "", copy, "async commit_group"),
    ptx_row("cp", ORDERS, "#", copy, "async wait_group"),
    ptx_row("cp", ORDERS, "", copy, "async wait_all"),
    ptx_row("cp", BOTH, "[]", copy, "async mbarrier arrive noinc? OWNSHARED? b64"),
    ptx_row(
        "cp",
        BOTH,
        "[] [] a=any [] m c",
        copy,
        "async bulk BULKTO BULKFROM BYTES MULTICAST? HINT?",
    ),
    ptx_row("cp", BOTH, "[] [] a=any c", copy, "async bulk BULKTO BULKFROM bulk_group HINT?"),
    ptx_row("cp", ORDERS, "", copy, "async bulk commit_group"),
    ptx_row("cp", ORDERS, "#", copy, "async bulk wait_group read?"),
    ptx_row("cp", NOTHING, "[] a=any c", copy, "async bulk prefetch L2 global HINT?"),
    ptx_row("cp", NOTHING, "[t] c", copy, "async bulk prefetch tensor DIMENSION L2 global tile? HINT?"),
    ptx_row(
        "cp",
        BOTH,
        "[] [t] [] m c",
        copy,
        "async bulk tensor DIMENSION BULKTO BULKFROM tile? BYTES MULTICAST? HINT?",
    ),
    ptx_row(
        "cp",
        BOTH,
        "[t] [] c",
        copy,
        "async bulk tensor DIMENSION BULKTO BULKFROM tile? bulk_group HINT?",
    ),
    ptx_row("cp", BOTH, "[] [] a=any []", copy, "reduce async bulk BULKTO BULKFROM BYTES REDUCED BULKADDED"),
    ptx_row(
        "cp",
        BOTH,
        "[] [] a=any c",
        copy,
        "reduce async bulk BULKTO BULKFROM bulk_group HINT? REDUCED noftz? BULKADDED",
    ),
    ptx_row("wgmma", ORDERS, "", multiply, "fence sync aligned"),
    ptx_row("wgmma", ORDERS, "", multiply, "commit_group sync aligned"),
    ptx_row("wgmma", ORDERS, "#", multiply, "wait_group sync aligned"),
    ptx_row(
        "wgmma",
        READS,
        "v a=any a=any p # # # #",
        multiply,
        _MMA,
    ),
    ptx_row("wgmma", READS, "v v a=any p # # #", multiply, _MMA),
    ptx_row("wgmma", READS, "v a=any a=any p # #", multiply, _MMA),
    ptx_row("wgmma", READS, "v v a=any p # #", multiply, _MMA),
    ptx_row("wgmma", READS, "v a=any a=any p", multiply, _MMA),
    ptx_row("wgmma", READS, "v v a=any p", multiply, _MMA),
    ptx_row("griddepcontrol", ORDERS, "", after_other_grids, "GRID"),
    ptx_row("setmaxnreg", NOTHING, "#", nothing, "REGISTERS sync aligned u32"),
    ptx_row("nanosleep", NOTHING, "a", nothing, "u32"),
    ptx_row("bra", CONTROL, "l", branch, "uni?"),
    ptx_row("brx", CONTROL, "a=any l", branch_by_index, "idx uni?"),
    ptx_row("ret", CONTROL, "", ret, "uni?"),
    ptx_row("exit", CONTROL, "", end),
    ptx_row("trap", CONTROL, "", trap),
    ptx_row("brkpt", CONTROL, "", trap),
    Row("call", CONTROL, "any any*", call, "uni*", "is not understood"),  # what it has, it checks itself
]

_ROWS += [Row(n, REFUSED, "", nothing, why=f"is not understood: what {n} does is not followed") for n in _REFUSED]

TABLE: Table[Meaning] = table_of(_ROWS)
"""The instructions of PTX: their words and operands (``corpus.code.ptx.operands``), and what they do."""


def row_of(ins: ir.KernelInstruction, width_of: WidthOf) -> Row[Meaning] | str:
    """Return the row of an instruction, given the bits of registers by their names, or why it has none."""
    found = find(TABLE, ins.name, ins.operands, wrong_operand(ins.words, width_of), ins.words)
    if isinstance(found, Row):
        return found
    if found.own:
        return found.own
    match found.lack:
        case Lack.NAME:
            return "is not understood: PTX has no such instruction"
        case Lack.WORDS | Lack.TOGETHER:
            return f"is not understood: {_strange(ins.name, ins.words)}"
        case Lack.OPERANDS:
            return f"its operands are not understood: {found.misfit}"


def _strange(name: str, words: Sequence[str]) -> str:
    """Say which words no row has, or that they do not stand together."""
    strange = strange_words(TABLE[name], words)
    if strange:
        return f"{name} has no .{' and no .'.join(strange)}"
    twice = [word for place, word in enumerate(words) if word in words[:place]]
    return f".{twice[0]} stands twice" if twice and name != "cvt" else "its words are not those of one form"


EXCHANGE = GroupExchange(Mode(tags=(EXCHANGED,)), Mode(tags=(RELAXED,)))
"""How lanes of a warp exchange values: they order no other memory in doing so, for PTX does not say that they do."""

PTX = KernelLanguage(
    row_of,
    special,
    "ptx",
    "gpu-ptx",
    rules=LaunchRules(SIZE_BY, exits=True, clusters=True),
    control=ControlRules(ends=True, division_stops=True),
    memory=MemoryRules(parted=True, structures=True, reads_constants=reads_constants),
    exchange=EXCHANGE,
    functions={"vprintf": print_formatted},
)
"""The language of kernels of CUDA."""
