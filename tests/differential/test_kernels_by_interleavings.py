"""What is left of a kernel has, under sequential consistency, the final memories that an interpreter of PTX finds."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from ptx_interleavings import TooManyStatesError, final_memories
from ptx_text import kernel_text

from corpus.code.launch.launch import ArrayArgument, KernelLaunch
from corpus.code.program import program_of
from corpus.code.ptx.reader import read_ptx
from corpus.code.refusals import NotUnderstoodError
from corpus.litmus.locations import Loc, element
from oracle.consistency import resolve_consistency_models
from oracle.executions.judge import outcomes_and_flags
from oracle.executions.steps import TooManyError

AROUND = """
.shared .align 4 .b32 s[4];
.const .align 4 .b32 table[4] = {5, -1, 7, 0};
.func (.param .b32 o) twice (.param .b32 a) {
  .reg .b32 %r<9>;
  .reg .pred %p<9>;
  .local .b32 kept[2];
  ld.param.b32 %r1, [a];
  st.local.u32 [kept+4], %r1;
  setp.lt.s32 %p1, %r1, 0;
  @%p1 bra N;
  ld.local.u32 %r2, [kept+4];
  add.s32 %r1, %r1, %r2;
  N:
  st.param.b32 [o], %r1;
  ret;
}
"""
ARRAYS = {"x": (4, (1, -2)), "z": (8, (0xFFFFFFFF,)), "h": (2, (-2, 7)), "out": (4, (0,) * 6)}
"""The arrays of every kernel here: the bytes of an element, and the initial values."""

CALL = "{{ .param .b32 p; .param .b32 q; st.param.b32 [p], {0}; call.uni (q), twice, (p); ld.param.b32 {1}, [q]; }}"


def left(module, launch):
    """The final memories under sc of what is left of a kernel, as rows of the values of ``ARRAYS``."""
    test = program_of(module, module.kernels[0], launch).test
    initial = {element(name, n): value for name, (_, values) in ARRAYS.items() for n, value in enumerate(values)}
    asked = tuple(Loc(each.name) for each in test.locations if each.name in initial)
    (model,) = resolve_consistency_models(["sc"])
    test = replace(test, condition=replace(test.condition, observed=asked))
    found, _ = outcomes_and_flags(test, model.model, unroll=1)
    return {tuple((initial | {term.name: value for term, value in outcome}).values()) for outcome in found}


def both_ways(body, grid, block, warp):
    """The final memories of a kernel, as the residual program and as the interpreter have them."""
    text = kernel_text(f"mov.u32 %r70, %tid.x; mov.u32 %r71, %ctaid.x;\n{body}", " ".join(ARRAYS), AROUND)
    module = read_ptx(text, "kernel.ptx")
    arguments = {name: ArrayArgument(values) for name, (_, values) in ARRAYS.items()}
    one = left(module, KernelLaunch((grid, 1, 1), (block, 1, 1), warp=warp, arguments=arguments))
    return one, final_memories(module, grid, block, warp, ARRAYS), text


KERNELS = {
    "a lost update": "ld.u32 %r1, [%x]; add.s32 %r1, %r1, 1; st.u32 [%x], %r1;",
    "a loop that counts": "mov.u32 %r1, 1; L: atom.add.u32 %r2, [%x], %r1; add.s32 %r1, %r1, 1; "
    "setp.lo.u32 %p1, %r1, 3; @%p1 bra L;",
    "a loop that waits": "add.s32 %r3, %r70, %r71; setp.eq.s32 %p1, %r3, 0; @%p1 bra W; L: ld.volatile.u32 %r1, [%x]; "
    "setp.eq.s32 %p2, %r1, 1; @%p2 bra L; ld.u64 %d1, [%z]; cvt.u32.u64 %r2, %d1; st.u32 [%out], %r2; ret; "
    "W: mov.u64 %d2, 4; st.u64 [%z], %d2; st.volatile.u32 [%x], 9;",
    "a lock": "L: atom.cas.b32 %r1, [%out], 0, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra L; ld.u32 %r2, [%x]; "
    "add.s32 %r2, %r2, 1; st.u32 [%x], %r2; st.volatile.u32 [%out], 0;",
    "a call": f"ld.u32 %r1, [%x]; {CALL.format('%r1', '%r2')} st.u32 [%x], %r2;",
    "private memory": ".local .b32 a[2]; ld.u32 %r1, [%x]; st.local.v2.u32 [a], {%r1, 3}; ld.local.u32 %r2, [a]; "
    "ld.local.u32 %r3, [a+4]; add.s32 %r2, %r2, %r3; st.u32 [%x], %r2;",
    "a predicate": "atom.add.u32 %r1, [%x], 1; setp.gt.s32 %p1, %r1, 1; @%p1 st.u32 [%x+4], %r1; "
    "@!%p1 st.u32 [%out], 7;",
    "a selection": "atom.add.u32 %r1, [%x], 1; setp.gt.s32 %p1, %r1, 1; selp.b32 %r2, 10, %r1, %p1; "
    "st.u32 [%x+4], %r2;",
    "an address that is selected": "atom.add.u32 %r1, [%x], 1; setp.gt.s32 %p1, %r1, 1; add.s64 %d1, %x, 4; "
    "selp.b64 %d2, %d1, %out, %p1; st.u32 [%d2], 7;",
    "64 bits": "atom.add.u64 %d1, [%z], 1; shr.u64 %d2, %d1, 32; cvt.u32.u64 %r1, %d2; st.u32 [%x], %r1;",
    "numbers without a sign": "ld.u32 %r1, [%x+4]; setp.hi.u32 %p1, %r1, 5; selp.u32 %r2, 1, 2, %p1; "
    "atom.max.u32 %r3, [%x+4], 7; st.u32 [%x], %r2;",
    "a vector": "ld.v2.u32 {%r1, %r2}, [%x]; st.v2.u32 [%x], {%r2, %r1};",
    "a table": "ld.u32 %r1, [%x]; ld.const.u32 %r2, [table+4]; add.s32 %r1, %r1, %r2; st.u32 [%x], %r1;",
    "shared memory": "mul.wide.u32 %d1, %r70, 4; mov.u64 %d2, s; add.s64 %d2, %d2, %d1; st.shared.u32 [%d2], %r70; "
    "atom.shared.add.u32 %r1, [s], 2; st.u32 [%x], %r1;",
}

MEETINGS = {
    "bar.sync": "add.s32 %r1, %r70, 5; mul.wide.u32 %d1, %r70, 4; add.s64 %d2, %x, %d1; st.u32 [%d2], %r1; bar.sync 0; "
    "ld.u32 %r2, [%x]; ld.u32 %r3, [%x+4]; add.s32 %r2, %r2, %r3; add.s64 %d3, %out, %d1; st.u32 [%d3], %r2;",
    "bar.sync of those that are left": "ld.u32 %r1, [%x]; atom.add.u32 %r2, [%x], 1; setp.eq.s32 %p1, %r70, 1; "
    "@%p1 ret; bar.sync 0; st.u32 [%x+4], %r1;",
    **{
        f"bar.red.{word}": f"mul.wide.u32 %d1, %r70, 4; add.s64 %d2, %x, %d1; atom.add.u32 %r1, [%x], 1; "
        f"setp.gt.s32 %p1, %r1, 1; bar.red.{word}.pred %p2, 0, %p1; selp.u32 %r2, 7, 8, %p2; st.u32 [%d2+4], %r2;"
        for word in ("and", "or")
    },
    "bar.red.popc": "atom.add.u32 %r1, [%x], 1; setp.gt.s32 %p1, %r1, 1; bar.red.popc.u32 %r2, 0, %p1; "
    "atom.add.u32 %r3, [%x+4], %r2;",
}

TOGETHER = {
    **{
        f"vote.{word}": f"atom.add.u32 %r1, [%x], 1; setp.gt.s32 %p1, %r1, 1; vote.sync.{word}.pred %p2, %p1, 3; "
        "selp.u32 %r2, 7, 8, %p2; atom.add.u32 %r3, [%x+4], %r2;"
        for word in ("all", "any", "uni")
    },
    "vote.ballot": "atom.add.u32 %r1, [%x], 1; setp.gt.s32 %p1, %r1, 1; vote.sync.ballot.b32 %r2, %p1, 3; "
    "atom.add.u32 %r3, [%x+4], %r2;",
    **{
        f"shfl.{mode} {by}": f"atom.add.u32 %r1, [%x], 1; shfl.sync.{mode}.b32 %r2, %r1, {by}, {bounds}, 3; "
        "mul.wide.u32 %d1, %r70, 4; add.s64 %d2, %out, %d1; st.u32 [%d2], %r2;"
        for mode, by, bounds in (
            ("up", 1, 0), ("down", 1, 31), ("bfly", 1, 31), ("idx", 0, 31), ("idx", 1, 31), ("idx", 32, 31)
        )
    },
    "redux.add": "atom.add.u32 %r1, [%x], 1; redux.sync.add.s32 %r2, %r1, 3; atom.add.u32 %r3, [%x+4], %r2;",
    "redux.min": "ld.u32 %r1, [%x+4]; add.s32 %r1, %r1, %r70; redux.sync.min.u32 %r2, %r1, 3; "
    "atom.add.u32 %r3, [%x+4], %r2;",
    "bar.warp.sync": "mul.wide.u32 %d1, %r70, 4; add.s64 %d2, %x, %d1; st.u32 [%d2], 5; bar.warp.sync 3; "
    "ld.u32 %r1, [%x]; ld.u32 %r2, [%x+4]; add.s32 %r1, %r1, %r2; st.u32 [%d2], %r1;",
}  # fmt: skip

WRITTEN = [
    *((name, (2, 1, 32)) for name in KERNELS),
    *((name, (1, 2, 1)) for name in (*KERNELS, *MEETINGS)),
    *((name, (1, 2, 32)) for name in (*MEETINGS, *TOGETHER)),
]


@pytest.mark.parametrize(("name", "shape"), WRITTEN)
def test_kernels_by_hand(name, shape):
    one, other, _ = both_ways((KERNELS | MEETINGS | TOGETHER)[name], *shape)
    assert one == other
    assert other


class _Code:
    """Random code that two threads have in common: few accesses, much that is computed."""

    def __init__(self, rng: Random, warps: bool, blocks: bool) -> None:
        self._rng, self._warps, self._blocks = rng, warps, blocks
        self._labels = 0
        self._accesses = 3
        self.lines = ["mad.lo.s32 %r1, %r71, 1, %r70; mov.u32 %r2, 3; mov.u32 %r3, -2; mov.u64 %d2, -3;"]
        self.lines += ["cvt.u64.u32 %d1, %r1; mov.u64 %d3, 5; setp.eq.s32 %p1, %r1, 0; setp.ne.s32 %p2, %r2, 3;"]
        self.lines += ["atom.global.add.u32 %r4, [%x], 1; mov.u32 %r5, %r4; .local .b32 own[2];"]
        self.lines += ["st.local.v2.u32 [own], {%r4, %r1};"]
        for _ in range(rng.randint(4, 9)):
            self._step(True)
        self.lines += ["mul.wide.u32 %d60, %r1, 12; add.s64 %d61, %out, %d60; cvt.u32.u64 %r60, %d3;"]
        self.lines += ["st.u32 [%d61], %r5; st.u32 [%d61+4], %r60;"]

    def _word(self) -> str:
        return f"%r{self._rng.choice((1, 2, 3, 4, 4, 5, 5))}"

    def _long(self) -> str:
        return f"%d{self._rng.choice((1, 2, 3, 3))}"

    def _target(self) -> str:
        return f"%r{self._rng.choice((2, 3, 4, 5, 5))}"

    def _either(self) -> str:
        return self._rng.choice((self._word(), self._word(), str(self._rng.choice((0, 1, 2, 7, 31, -1, 255)))))

    def _label(self) -> str:
        self._labels += 1
        return f"L{self._labels}"

    def _step(self, outermost: bool) -> None:
        rng = self._rng
        kinds = ["word"] * 4 + ["long"] * 2 + ["compare"] * 2 + ["select", "convert", "field", "private", "guarded"]
        kinds += ["call", "branch", "loop"] * outermost + ["warp"] * (outermost and self._warps)
        kinds += ["block"] * (outermost and self._blocks) + ["access"] * (2 if self._accesses else 0)
        say = self.lines.append
        match rng.choice(kinds):
            case "word":
                name = rng.choice(("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32", "min.s32",
                                   "max.u32", "min.u32", "max.s32", "shl.b32", "shr.u32", "shr.s32", "mul.hi.u32",
                                   "mul.hi.s32"))  # fmt: skip
                say(f"{name} {self._target()}, {self._word()}, {self._either()};")
            case "long":
                word, sign = rng.choice(("u32", "s32")), rng.choice("us")
                say(rng.choice((
                    f"mul.wide.{word} %d3, {self._word()}, {self._either()};",
                    f"mad.wide.{word} %d3, {self._word()}, {self._either()}, {self._long()};",
                    f"cvt.{sign}64.{word} {rng.choice(('%d2', '%d3'))}, {self._word()};",
                    f"add.s64 %d3, {self._long()}, {self._long()};",
                    f"shl.b64 %d3, {self._long()}, {rng.choice((1, 4, 33))};",
                    f"shr.{sign}64 %d3, {self._long()}, {rng.choice((1, 32))};",
                    f"max.{sign}64 %d3, {self._long()}, {self._long()};",
                    f"cvt.u32.u64 {self._target()}, {self._long()};",
                )))  # fmt: skip
            case "compare":
                test = rng.choice(("eq.s32", "ne.s32", "lt.s32", "ge.s32", "lo.u32", "hs.u32", "gt.u32", "le.u32"))
                joined = rng.choice(("", "", ".and", ".or", ".xor"))
                name, _, kind = test.partition(".")
                say(f"setp.{name}{joined}.{kind} %p{rng.randint(1, 2)}, {self._word()}, {self._either()}"
                    + (f", %p{rng.randint(1, 2)};" if joined else ";"))  # fmt: skip
                if rng.random() < 0.3:
                    say(f"setp.{name}.{kind[0]}64 %p1, {self._long()}, {self._long()}; and.pred %p2, %p1, %p2;")
            case "select":
                say(f"selp.b32 {self._target()}, {self._either()}, {self._word()}, %p{rng.randint(1, 2)};")
                say(f"selp.b64 %d3, {self._long()}, {self._long()}, %p{rng.randint(1, 2)};")
            case "convert":
                bits = rng.choice((8, 16))
                kinds = [f"{sign}{bits}" for sign in "us"]
                say(f"cvt.{rng.choice('us')}{bits}.u32 %h1, {self._word()};")
                say(f"cvt.{rng.choice('us')}32.{rng.choice(kinds)} {self._target()}, %h1;")
            case "field":
                name = rng.choice(("bfe.u32", "bfe.s32"))
                say(f"{name} {self._target()}, {self._word()}, {rng.choice((0, 3, 28, 40))}, {rng.choice((0, 4, 8))};")
                say(f"{rng.choice(('popc', 'clz'))}.b32 {self._target()}, {self._word()};")
            case "private":
                at = rng.choice(("", "+4"))
                say(f"st.local.u32 [own{at}], {self._word()};" if rng.random() < 0.5 else
                    f"ld.local.u32 {self._target()}, [own{at}];")  # fmt: skip
            case "guarded":
                guard = f"@{rng.choice('! ')}%p{rng.randint(1, 2)}".replace(" ", "")
                say(f"{guard} add.s32 {self._target()}, {self._word()}, {self._either()};")
            case "call":
                say(CALL.format(self._word(), self._target()))
            case "branch":
                label = self._label()
                say(f"@{rng.choice(('', '!'))}%p{rng.randint(1, 2)} bra {label};")
                for _ in range(rng.randint(1, 2)):
                    self._step(False)
                say(f"{label}:")
            case "loop":
                label = self._label()
                say(f"mov.u32 %r61, 0; {label}:")
                accesses, self._accesses = self._accesses, 0
                for _ in range(rng.randint(1, 2)):
                    self._step(False)
                self._accesses = accesses
                say(f"add.s32 %r61, %r61, 1; setp.lt.u32 %p61, %r61, {rng.choice((2, 3))}; @%p61 bra {label};")
            case "warp":
                say(rng.choice((
                    f"vote.sync.{rng.choice(('all', 'any', 'uni'))}.pred %p2, %p1, 3;",
                    f"vote.sync.ballot.b32 {self._target()}, %p1, 3;",
                    f"shfl.sync.{rng.choice(('bfly', 'down'))}.b32 {self._target()}, {self._word()}, 1, 31, 3;",
                    f"redux.sync.{rng.choice(('add.s32', 'max.u32'))} {self._target()}, {self._word()}, 3;",
                )))  # fmt: skip
            case "block":
                say(rng.choice(("bar.sync 0;", "bar.red.or.pred %p1, 0, %p2;", "bar.red.popc.u32 %r5, 0, %p1;")))
            case "access":
                self._access()

    def _access(self) -> None:
        rng = self._rng
        self._accesses -= 1
        word, place = self._word(), rng.choice(("%x", "%x+4"))
        wide = rng.choice(("add.u64", "min.s64", "max.u64", "exch.b64", "and.b64"))
        name = rng.choice(("add.u32", "inc.u32", "dec.u32", "min.s32", "max.u32", "exch.b32", "xor.b32"))
        self.lines.append(rng.choice((
            f"ld.u32 {self._target()}, [{place}];",
            f"ld.s32 %d3, [{place}];",
            f"ld.u32 %d3, [{place}];",
            "ld.v2.u32 {%r4, %r5}, [%x];",
            f"st.u32 [{place}], {word};",
            f"st.u64 [%z], {self._long()};",
            f"atom.{name} {self._target()}, [{place}], {word};",
            f"atom.cas.b32 {self._target()}, [{place}], {self._either()}, {word};",
            f"atom.{wide} %d3, [%z], {self._long()};",
            f"ld.{rng.choice('us')}16 %h2, [%h]; cvt.{rng.choice('us')}32.{rng.choice('us')}16 {self._target()}, %h2;",
            f"cvt.u16.u32 %h3, {word}; st.u16 [%h+2], %h3; ld.u16 {self._target()}, [%h+2];",
            f"red.{rng.choice(('add.u32', 'or.b32'))} [{place}], {word};",
            f"and.b32 %r62, {word}, 1; mul.wide.u32 %d62, %r62, 4; add.s64 %d62, %x, %d62; ld.u32 %r5, [%d62];",
        )))  # fmt: skip


def hold_both_agree(seeds):
    seen = Counter()
    for seed in seeds:
        rng = Random(f"interleavings {seed}")
        grid, block, warp = rng.choice(((2, 1, 32), (1, 2, 1), (1, 2, 32)))
        body = "\n".join(_Code(rng, block > 1 and warp > 1, block > 1).lines)
        try:
            one, other, text = both_ways(body, grid, block, warp)
        except (NotUnderstoodError, TooManyError, TooManyStatesError) as error:
            seen[type(error)] += 1
            continue
        assert one == other, (seed, (grid, block, warp), text)
        seen["kernels"] += 1
        seen["memories"] += len(one)
    return seen


def test_random_kernels():
    seen = hold_both_agree(range(80))
    assert seen["kernels"] >= 70
    assert seen["memories"] > 1.5 * seen["kernels"]


@pytest.mark.slow
def test_many_random_kernels():
    assert hold_both_agree(range(80, 1000))["kernels"] >= 800
