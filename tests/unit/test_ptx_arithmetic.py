"""Each row of ``COMPUTED`` against a second computation: the pseudo-code of the ISA, numpy, or exact fractions."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from corpus.litmus.ptx_arithmetic import COMPUTED, compare, computable, compute, operation_of, signed

TYPES = {f"{sign}{width}": width for sign in "us" for width in (16, 32, 64)}
FLOATS = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def run(opcode: str, *values: int) -> int:
    name, *words = opcode.split(".")
    assert computable(name, words, len(values))
    return compute(name, words, values)


def samples(width: int, count: int = 40) -> list[int]:
    """The edges of a width and some numbers between, the same on every run."""
    edges = {
        n + around & (1 << width) - 1 for n in (0, 1 << width - 1, 1 << width // 2) for around in (-2, -1, 0, 1, 2)
    }
    chance = random.Random(width)
    return [*sorted(edges), *(chance.getrandbits(width) for _ in range(count))]


def number(bits: int, kind: str) -> int:
    """The number that bits are: another way than ``signed``."""
    width = TYPES[kind]
    return bits - ((bits >> width - 1) << width) if kind[0] == "s" else bits


def bits_of(value: float, kind: str) -> int:
    form, whole = FLOATS[kind]
    return int(np.array(value, form).view(whole))


def real(bits: int, kind: str):
    form, whole = FLOATS[kind]
    return np.array(bits, whole).view(form)[()]


def reals(kind: str, count: int = 60) -> list[int]:
    """The bits of special numbers, of subnormal ones, and of some others of all sizes."""
    width = int(kind[1:])
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.0, 1 / 3, math.inf, -math.inf, math.nan, 100.5, -7.75]
    top = 1 << width - 1
    odd = [
        1,
        2,
        top | 1,
        bits_of(math.inf, kind) - 1,
        bits_of(math.inf, kind) | 1,
        bits_of(float(np.finfo(FLOATS[kind][0]).tiny), kind),
    ]
    chance = random.Random(kind)
    near = [bits_of(chance.uniform(-4, 4), kind) for _ in range(count // 2)]
    return [
        *(bits_of(value, kind) for value in special),
        *odd,
        *near,
        *(chance.getrandbits(width) for _ in range(count // 2)),
    ]


def same(found: int, wanted: int, kind: str) -> bool:
    """Whether two results are the same bits, or both no number."""
    return found == wanted or bool(np.isnan(real(found, kind)) and np.isnan(real(wanted, kind)))


PAIRS = [
    (kind, one, other) for kind, width in TYPES.items() for one in samples(width, 12) for other in samples(width, 12)
]


def each_pair(check) -> None:
    for kind, one, other in PAIRS:
        check(kind, TYPES[kind], one, other)


# Integers (9.7.1, 9.7.2)


def test_add_sub_and_saturation():
    """9.7.1.1, 9.7.1.2."""

    def check(kind, width, one, other):
        with np.errstate(over="ignore"):
            form = np.dtype(f"u{width // 8}").type
            assert run(f"add.{kind}", one, other) == int(form(one) + form(other))
            assert run(f"sub.{kind}", one, other) == int(form(one) - form(other))
        if kind == "s32":
            for name, exact in (
                ("add", number(one, kind) + number(other, kind)),
                ("sub", number(one, kind) - number(other, kind)),
            ):
                assert signed(run(f"{name}.sat.s32", one, other), 32) == int(np.clip(exact, -(2**31), 2**31 - 1))

    each_pair(check)


def test_mul_and_mad():
    """9.7.1.3, 9.7.1.4: the halves of a product are the product."""

    def check(kind, width, one, other):
        exact = number(one, kind) * number(other, kind)
        low, high = run(f"mul.lo.{kind}", one, other), run(f"mul.hi.{kind}", one, other)
        assert number(high, kind) * 2**width + low == exact
        assert run(f"mad.lo.{kind}", one, other, 7) == (low + 7) % 2**width
        assert run(f"mad.hi.{kind}", one, other, one) == (high + one) % 2**width
        if width < 64:
            assert run(f"mul.wide.{kind}", one, other) == exact % 4**width
            assert run(f"mad.wide.{kind}", one, other, 4**width - 1) == (exact - 1) % 4**width
        if kind == "s32":
            assert signed(run("mad.hi.sat.s32", one, other, one), 32) == int(
                np.clip(number(high, kind) + number(one, kind), -(2**31), 2**31 - 1)
            )

    each_pair(check)


def test_mul24_and_mad24():
    """9.7.1.5, 9.7.1.6."""
    for one, other in itertools.product(samples(32, 10), repeat=2):
        for sign in "us":
            left, right = (
                int(np.int32((v << 8) % 2**32 - ((v << 8) % 2**32 >> 31 << 32)) >> 8) if sign == "s" else v % 2**24
                for v in (one, other)
            )
            exact = left * right % 2**48
            assert run(f"mul24.lo.{sign}32", one, other) == exact % 2**32
            assert run(f"mul24.hi.{sign}32", one, other) == exact // 2**16
            assert run(f"mad24.lo.{sign}32", one, other, 5) == (exact + 5) % 2**32


def test_sad():
    """9.7.1.7."""
    each_pair(
        lambda kind, width, one, other: _equal(
            run(f"sad.{kind}", one, other, 3),
            (3 + max(number(one, kind), number(other, kind)) - min(number(one, kind), number(other, kind))) % 2**width,
        )
    )


def _equal(one, other) -> None:
    assert one == other


def test_div_and_rem():
    """9.7.1.8, 9.7.1.9: the quotient is cut towards 0, and the rest has the sign of the dividend."""

    def check(kind, width, one, other):
        left, right = number(one, kind), number(other, kind)
        if right:
            assert run(f"div.{kind}", one, other) == math.trunc(Fraction(left, right)) % 2**width
            assert number(run(f"rem.{kind}", one, other), kind) == left - right * math.trunc(Fraction(left, right))

    each_pair(check)


def test_abs_neg_min_and_max():
    """9.7.1.10 to 9.7.1.13."""

    def check(kind, width, one, other):
        left, right = number(one, kind), number(other, kind)
        assert run(f"min.{kind}", one, other) == (one if left < right else other)
        assert run(f"max.{kind}", one, other) == (one if left > right else other)
        if kind[0] == "s":
            assert run(f"abs.{kind}", one) == (-one % 2**width if one >> width - 1 else one)
            assert run(f"neg.{kind}", one) == (~one + 1) % 2**width

    each_pair(check)


@pytest.mark.parametrize("width", [32, 64])
def test_popc_clz_brev(width):
    """9.7.1.14, 9.7.1.15, 9.7.1.18."""
    for value in [*samples(width), *range(64), *(1 << n for n in range(width))]:
        digits = format(value, f"0{width}b")
        assert run(f"popc.b{width}", value) == digits.count("1")
        assert run(f"clz.b{width}", value) == len(digits) - len(digits.lstrip("0"))
        assert run(f"brev.b{width}", value) == int("".join(reversed(digits)), 2)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bfind(kind):
    """9.7.1.16, as its pseudo-code has it."""
    width = TYPES[kind]
    for value in [*samples(width), *range(64), *(1 << n for n in range(width))]:
        looked = value ^ 2**width - 1 if kind[0] == "s" and value >> width - 1 else value
        place = next((n for n in reversed(range(width)) if looked >> n & 1), -1)
        assert run(f"bfind.{kind}", value) == place % 2**32
        assert run(f"bfind.shiftamt.{kind}", value) == (width - 1 - place if place >= 0 else 2**32 - 1)


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bfe(kind):
    """9.7.1.19, as its pseudo-code has it, for every place and length."""
    width = TYPES[kind]
    top = width - 1
    for value in (0x8000000180000001, 0x123456789ABCDEF0, 0xFEDCBA9876543210):
        value %= 2**width
        for place, length in itertools.product((*range(0, width + 3, 3), top, width, 255), repeat=2):
            sign = 0 if kind[0] == "u" or not length else value >> min(place + length - 1, top) & 1
            wanted = sum(
                (value >> place + n & 1 if n < length and place + n <= top else sign) << n for n in range(width)
            )
            assert run(f"bfe.{kind}", value, place, length) == wanted
            assert run(f"bfe.{kind}", value, place + 256, length + 512) == wanted


@pytest.mark.parametrize("width", [32, 64])
def test_bfi(width):
    """9.7.1.20, as its pseudo-code has it."""
    for one, other in ((0xFEDCBA9876543210, 0x0F1E2D3C4B5A6978), (2**64 - 1, 0), (0, 2**64 - 1)):
        one, other = one % 2**width, other % 2**width
        for place, length in itertools.product((*range(0, width + 3, 3), width - 1, width, 255), repeat=2):
            wanted = other
            for n in range(length):
                if place + n < width:
                    wanted = wanted & ~(1 << place + n) | (one >> n & 1) << place + n
            assert run(f"bfi.b{width}", one, other, place, length) == wanted


# Logic and shifts (9.7.8)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_logic(width):
    """9.7.8.1 to 9.7.8.5."""
    for one, other in itertools.product(samples(width, 8), repeat=2):
        for name, table in (("and", (0, 0, 0, 1)), ("or", (0, 1, 1, 1)), ("xor", (0, 1, 1, 0))):
            wanted = sum(table[(one >> n & 1) * 2 + (other >> n & 1)] << n for n in range(width))
            assert run(f"{name}.b{width}", one, other) == wanted
        assert run(f"not.b{width}", one) == 2**width - 1 - one
        assert run(f"cnot.b{width}", one) == (1 if one == 0 else 0)


def test_logic_of_predicates():
    for one, other in itertools.product((0, 1), repeat=2):
        assert [run(f"{name}.pred", one, other) for name in ("and", "or", "xor")] == [
            one * other,
            max(one, other),
            abs(one - other),
        ]
        assert run("not.pred", one) == 1 - one


def test_lop3_with_every_table():
    """9.7.8.6: the tables of its operands are 0xF0, 0xCC and 0xAA."""
    for table in range(256):
        assert run("lop3.b32", 0xF0, 0xCC, 0xAA, table) & 0xFF == table
        wanted = sum(
            (table >> (a << 2 | b << 1 | c) & 1) << n for n, (a, b, c) in enumerate(itertools.product((0, 1), repeat=3))
        )
        one, other, third = (
            sum(bits[at] << n for n, bits in enumerate(itertools.product((0, 1), repeat=3))) for at in range(3)
        )
        assert run("lop3.b32", one, other, third, table) & 0xFF == wanted


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_shifts(kind):
    """9.7.8.8, 9.7.8.9: an amount above the width is the width."""
    width = TYPES[kind]
    for value in samples(width, 8):
        for count in (*range(width + 2), 255, 2**31, 2**32 - 1):
            assert run(f"shl.b{width}", value, count) == value * 2 ** min(count, width) % 2**width
            assert (
                run(f"shr.{kind}", value, count)
                == math.floor(Fraction(number(value, kind), 2 ** min(count, width))) % 2**width
            )
            assert run(f"shr.b{width}", value, count) == value // 2 ** min(count, width)


def test_shf():
    """9.7.8.7."""
    for low, high in itertools.product((0x12345678, 0xDEADBEEF, 0, 2**32 - 1), repeat=2):
        for count in (*range(36), 63, 64, 2**32 - 1):
            for mode, n in (("wrap", count % 32), ("clamp", min(count, 32))):
                digits = f"{high:032b}{low:032b}"
                assert run(f"shf.l.{mode}.b32", low, high, count) == int(digits[n : n + 32], 2)
                assert run(f"shf.r.{mode}.b32", low, high, count) == int(digits[32 - n : 64 - n], 2)


# Data movement (9.7.9)


def test_prmt_with_every_selector():
    """9.7.9.7."""
    one, other = 0x83020180, 0x87060504
    data = [0x80, 0x01, 0x02, 0x83, 0x04, 0x05, 0x06, 0x87]
    for selector in range(1 << 16):
        wanted = 0
        for at in range(4):
            nibble = selector >> 4 * at & 15
            byte = data[nibble & 7]
            wanted |= ((255 if byte > 127 else 0) if nibble & 8 else byte) << 8 * at
        if compute("prmt", ("b32",), (one, other, selector)) != wanted:
            raise AssertionError(hex(selector))


PERMUTED = {
    "f4e": ["3210", "4321", "5432", "6543"],
    "b4e": ["5670", "6701", "7012", "0123"],
    "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"],
    "ecr": ["0000", "1110", "2210", "3210"],
    "rc16": ["1010", "3232", "1010", "3232"],
}
"""The bytes of the result of ``prmt``, the highest first, in each mode for each selector (the table of 9.7.9.7)."""


@pytest.mark.parametrize(("mode", "rows"), PERMUTED.items())
def test_prmt_in_its_modes(mode, rows):
    for selector, row in enumerate(rows):
        wanted = int("".join(f"{0xA0 + int(digit):02x}" for digit in row), 16)
        for more in (0, 4, 0xFFFFFFFC):
            assert run(f"prmt.b32.{mode}", 0xA3A2A1A0, 0xA7A6A5A4, selector | more) == wanted


def test_mov_selp_and_slct():
    """9.7.9.1, 9.7.6.3, 9.7.6.4."""
    for value in samples(64, 4):
        assert run("mov.b64", value) == value
        assert (run("selp.b64", value, 5, 1), run("selp.b64", value, 5, 0)) == (value, 5)
    for chosen, wanted in ((0, 7), (1, 7), (2**31 - 1, 7), (2**31, 9), (2**32 - 1, 9)):
        assert run("slct.u64.s32", 7, 9, chosen) == wanted
    for chosen, wanted in ((0.0, 7), (-0.0, 7), (1.5, 7), (-1.5, 9), (math.inf, 7), (-math.inf, 9), (math.nan, 9)):
        assert run("slct.u32.f32", 7, 9, bits_of(chosen, "f32")) == wanted
    assert (run("slct.u32.f32", 7, 9, 0x80000001), run("slct.ftz.u32.f32", 7, 9, 0x80000001)) == (9, 7)


# Comparisons (9.3.1, 9.7.6)

INTEGER = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@pytest.mark.parametrize("name", [*INTEGER, *UNSIGNED])
def test_comparisons_of_integers(name):
    def check(kind, width, one, other):
        if name in UNSIGNED and kind[0] == "s":
            return
        form = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{width // 8}")
        left, right = (np.array(v, f"u{width // 8}").view(form) for v in (one, other))
        wanted = bool(INTEGER[UNSIGNED.get(name, name)](left, right))
        assert compare((name, kind), one, other) is wanted
        assert operation_of(f"setp.{name}.{kind}")(signed(one, width), signed(other, width)) == wanted

    each_pair(check)


@pytest.mark.parametrize("kind", ["b16", "b32", "b64"])
def test_bits_are_compared_without_a_sign(kind):
    width = int(kind[1:])
    assert compare(("eq", kind), 2**width - 1, 2**width - 1) and compare(("ne", kind), 2**width - 1, 0)


@pytest.mark.parametrize("kind", FLOATS)
def test_comparisons_of_floating_point_numbers(kind):
    """9.3.1.2: with NaN an ordered one is false, an unordered one true."""
    for one, other in itertools.product(reals(kind, 10), repeat=2):
        left, right = real(one, kind), real(other, kind)
        unordered = bool(np.isnan(left) or np.isnan(right))
        for name, ordered in INTEGER.items():
            wanted = bool(ordered(left, right)) and not unordered
            assert compare((name, kind), one, other) is wanted, (name, left, right)
            assert compare((f"{name}u", kind), one, other) is (wanted or unordered), (name, left, right)
        assert compare(("num", kind), one, other) is not unordered
        assert compare(("nan", kind), one, other) is unordered


def test_comparisons_that_flush_subnormal_numbers():
    assert not compare(("eq", "f32"), 1, 0) and compare(("eq", "ftz", "f32"), 1, 0x80000002)


# Floating point (9.7.3)


@pytest.mark.parametrize("kind", FLOATS)
def test_sums_products_and_quotients(kind):
    """9.7.3.3 to 9.7.3.8, rounded to nearest, as numpy rounds them."""
    for one, other in itertools.product(reals(kind, 30), repeat=2):
        left, right = real(one, kind), real(other, kind)
        wanted = {"add": left + right, "sub": left - right, "mul": left * right}
        for name, value in wanted.items():
            for mode in ("", ".rn"):
                assert same(run(f"{name}{mode}.{kind}", one, other), bits_of(value, kind), kind), (name, left, right)
        if kind != "f16":
            assert same(run(f"div.rn.{kind}", one, other), bits_of(left / right, kind), kind), (left, right)
            assert same(run(f"sqrt.rn.{kind}", one), bits_of(np.sqrt(left), kind), kind), left


def test_numbers_that_are_no_number_are_canonical():
    """9.7.3, 9.7.4."""
    nan = 0x7FC01234
    assert run("add.f32", nan, 0) == run("mul.f32", 0x7F800000, 0) == run("sqrt.rn.f32", 0xBF800000) == 0x7FFFFFFF
    assert run("add.f16", 0x7E01, 0) == run("add.bf16", 0x7FC1, 0) == 0x7FFF


def neighbours(bits: int, kind: str) -> tuple[float, float]:
    value = real(bits, kind)
    form = FLOATS[kind][0]
    return float(np.nextafter(value, form(-math.inf))), float(np.nextafter(value, form(math.inf)))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_rounding_modes(kind):
    """9.7.3: ``rz``, ``rm`` and ``rp`` give the next number towards 0, below and above what is exact."""
    given = [bits for bits in reals(kind, 24) if np.isfinite(real(bits, kind))]
    for one, other in itertools.product(given, repeat=2):
        left, right = Fraction(float(real(one, kind))), Fraction(float(real(other, kind)))
        exacts = {"add": left + right, "mul": left * right, "sub": left - right}
        exacts |= {"div": left / right} if right else {}
        for name, exact in exacts.items():
            below, above = (run(f"{name}.{mode}.{kind}", one, other) for mode in ("rm", "rp"))
            nearest, cut = (run(f"{name}.{mode}.{kind}", one, other) for mode in ("rn", "rz"))
            if not np.isfinite(real(nearest, kind)) or not exact:
                continue
            low, high = float(real(below, kind)), float(real(above, kind))
            assert low <= exact <= high
            assert low == high == exact or neighbours(below, kind)[1] == high
            assert cut == (below if exact > 0 else above) and nearest in (below, above)
            if low != high and math.isfinite(high - low):
                assert abs(Fraction(float(real(nearest, kind))) - exact) <= (Fraction(high) - Fraction(low)) / 2


def test_overflow_in_each_mode():
    most, infinity, sign = 0x7F7FFFFF, 0x7F800000, 1 << 31
    modes = {"rn": (infinity, infinity), "rz": (most, most), "rm": (most, infinity), "rp": (infinity, most)}
    for mode, (up, down) in modes.items():
        assert (
            run(f"add.{mode}.f32", most, most) == up and run(f"add.{mode}.f32", most | sign, most | sign) == down | sign
        )


def test_the_sign_of_a_zero():
    one, other = bits_of(1.5, "f32"), bits_of(-1.5, "f32")
    assert [run(f"add.{mode}.f32", one, other) for mode in ("rn", "rz", "rm", "rp")] == [0, 0, 1 << 31, 0]
    assert run("add.f32", 1 << 31, 1 << 31) == 1 << 31 and run("add.rm.f32", 0, 0) == 0
    assert run("mul.f32", 1 << 31, other) == 0 and run("mul.f32", 0, other) == 1 << 31
    assert run("fma.rn.f32", one, one, bits_of(-2.25, "f32")) == 0


@pytest.mark.parametrize("name", ["fma", "mad"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_fma_rounds_once(name, kind):
    """9.7.3.6, 9.7.3.7, against fractions; a float of Python is rounded to nearest, as a quotient of integers is."""
    given = [bits for bits in reals(kind, 16) if np.isfinite(real(bits, kind))]
    for one, other, more in itertools.product(given[::2], repeat=3):
        left, right, third = (Fraction(float(real(bits, kind))) for bits in (one, other, more))
        exact = left * right + third
        if kind == "f64" and exact:
            try:
                wanted = float(exact)
            except OverflowError:
                wanted = math.inf if exact > 0 else -math.inf
            assert run(f"{name}.rn.f64", one, other, more) == bits_of(wanted, kind)
        found = real(run(f"{name}.rn.{kind}", one, other, more), kind)
        if kind == "f32" and exact and np.isfinite(found):
            low, high = (Fraction(each) for each in neighbours(bits_of(found, kind), kind) if math.isfinite(each))
            assert (low + Fraction(float(found))) / 2 <= exact <= (high + Fraction(float(found))) / 2
    for one, other, more in itertools.product(reals(kind, 0), repeat=3):
        if not all(np.isfinite(real(bits, kind)) for bits in (one, other, more)):
            left, right, third = (real(bits, kind) for bits in (one, other, more))
            product = 0.0 if np.isfinite(left) and np.isfinite(right) else left * right
            wanted = bits_of(product + third, kind)
            assert same(run(f"{name}.rn.{kind}", one, other, more), wanted, kind), (left, right, third)


def test_flushing_and_saturation():
    """9.7.3: ``ftz`` takes and gives 0 for a subnormal number, with its sign; ``sat`` gives 0 to 1."""
    tiny, subnormal = 0x00800000, 0x807FFFFF
    assert run("add.ftz.f32", subnormal, 0x80000000) == 1 << 31 and run("add.f32", subnormal, 0) == subnormal
    assert run("mul.ftz.f32", tiny, bits_of(-0.5, "f32")) == 1 << 31
    assert run("abs.ftz.f32", subnormal) == 0 and run("neg.ftz.f32", subnormal) == 0
    for value, wanted in (
        (-1.0, 0.0),
        (-0.0, 0.0),
        (0.25, 0.25),
        (1.0, 1.0),
        (7.0, 1.0),
        (math.nan, 0.0),
        (math.inf, 1.0),
    ):
        assert run("add.sat.f32", bits_of(value, "f32"), 1 << 31) == bits_of(wanted, "f32")


@pytest.mark.parametrize("kind", FLOATS)
def test_abs_neg_min_and_max_of_floating_point_numbers(kind):
    """9.7.3.9 to 9.7.3.12: -0 is less than 0, and a number is taken before NaN, but with ``.NaN``."""
    top = 1 << int(kind[1:]) - 1
    for one in reals(kind, 10):
        assert run(f"abs.{kind}", one) == one % top and run(f"neg.{kind}", one) == one ^ top
        for other in reals(kind, 10):
            left, right = real(one, kind), real(other, kind)
            for name, nan in (("min", np.minimum), ("max", np.maximum)):
                found = run(f"{name}.{kind}", one, other)
                if left == right == 0:
                    assert found == (one | other if name == "min" else one & other)
                    continue
                wanted = other if np.isnan(left) else one if np.isnan(right) else bits_of(nan(left, right), kind)
                assert same(found, wanted, kind), (name, left, right)
                assert same(run(f"{name}.NaN.{kind}", one, other), bits_of(nan(left, right), kind), kind)


# Conversions (9.7.9.21)

EVERY = {**TYPES, "u8": 8, "s8": 8}


def limits(kind: str) -> tuple[int, int]:
    width = EVERY[kind]
    return (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if kind[0] == "s" else (0, 2**width - 1)


@pytest.mark.parametrize("to", EVERY)
@pytest.mark.parametrize("of", EVERY)
def test_conversions_of_integers(to, of):
    for bits in samples(64, 30):
        low = bits % 2 ** EVERY[of]
        value = low - 2 ** EVERY[of] if of[0] == "s" and low >= 2 ** (EVERY[of] - 1) else low
        assert run(f"cvt.{to}.{of}", bits) == value % 2 ** EVERY[to]
        assert run(f"cvt.sat.{to}.{of}", bits) == int(np.clip(np.array(value, object), *limits(to))) % 2 ** EVERY[to]


@pytest.mark.parametrize("of", FLOATS)
@pytest.mark.parametrize("to", EVERY)
def test_conversions_to_integers(to, of):
    """They saturate; NaN gives 0, but from f64 and to 64 bits the highest bit."""
    modes = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
    for bits in reals(of):
        value = real(bits, of)
        for mode, rounded in modes.items():
            if np.isnan(value):
                wanted = 2 ** (EVERY[to] - 1) if of == "f64" or EVERY[to] == 64 else 0
            elif np.isinf(value):
                wanted = limits(to)[int(value > 0)]
            else:
                wanted = min(max(int(rounded(value)), limits(to)[0]), limits(to)[1])
            assert run(f"cvt.{mode}.{to}.{of}", bits) == wanted % 2 ** EVERY[to], (mode, value)


@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize("to", ["f32", "f64"])
def test_conversions_of_integers_to_floating_point(to, of):
    """Rounded once: numpy converts an integer of 64 bits to either format in one step."""
    form = np.dtype(f"{'i' if of[0] == 's' else 'u'}{TYPES[of] // 8}")
    for bits in [*samples(TYPES[of]), 2 ** (TYPES[of] - 1) - 1, 0x4000004000000001 % 2 ** TYPES[of]]:
        value = np.array(bits, f"u{TYPES[of] // 8}").view(form)
        assert run(f"cvt.rn.{to}.{of}", bits) == int(value.astype(FLOATS[to][0]).view(FLOATS[to][1]))
        exact = number(bits, of)
        low, high = (int(real(run(f"cvt.{mode}.{to}.{of}", bits), to)) for mode in ("rm", "rp"))
        assert low <= exact <= high and int(real(run(f"cvt.rz.{to}.{of}", bits), to)) == (low if exact > 0 else high)


@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize("of", FLOATS)
def test_conversions_of_floating_point(to, of):
    for bits in reals(of):
        wanted = bits_of(real(bits, of).astype(FLOATS[to][0]), to)
        assert same(run(f"cvt.rn.{to}.{of}", bits), wanted, to), real(bits, of)


def test_conversions_of_bfloat16():
    """The upper half of a float; rounding is to nearest even."""
    for bits in [*reals("f32"), 0x3F808000, 0x3F818000, 0x3F808001, 0x3F807FFF]:
        if np.isnan(real(bits, "f32")):
            assert run("cvt.rn.bf16.f32", bits) == 0x7FFF
            continue
        assert run("cvt.rn.bf16.f32", bits) == bits + 0x7FFF + (bits >> 16 & 1) >> 16
        assert run("cvt.rz.bf16.f32", bits) == bits >> 16
        assert run("cvt.f32.bf16", bits >> 16) == bits >> 16 << 16


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_rounding_to_an_integer_in_the_format(kind):
    for bits in reals(kind):
        value = real(bits, kind)
        for mode, rounded in {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}.items():
            assert same(run(f"cvt.{mode}.{kind}.{kind}", bits), bits_of(rounded(value), kind), kind), (mode, value)
    assert (
        run("cvt.sat.f32.f32", bits_of(-3.0, "f32")) == 0 and run("cvt.sat.f32.f32", bits_of(3.0, "f32")) == 0x3F800000
    )


# Atomics (9.7.13.5)


def test_inc_and_dec():
    """Every old value and bound of a few bits, as ``(r >= s) ? 0 : r+1`` and ``(r==0 || r > s) ? s : r-1``."""
    for kind, width in (("u32", 32), ("u64", 64)):
        edges = [*range(10), 2**width - 2, 2**width - 1]
        for old, bound in itertools.product(edges, repeat=2):
            assert run(f"inc.{kind}", old, bound) == (0 if old >= bound else old + 1)
            assert run(f"dec.{kind}", old, bound) == (bound if old == 0 or old > bound else old - 1)


# What the residual program computes


def test_operations_are_on_signed_numbers():
    assert operation_of("shr.u32")(-1, 28) == 15 and operation_of("shr.s32")(-16, 2) == -4
    assert operation_of("add.s64")(2**63 - 1, 1) == -(2**63)
    assert operation_of("mul.wide.u32")(-1, -1) == -(2**33) + 1 and operation_of("mul.wide.s32")(-1, -1) == 1
    assert operation_of("mul.hi.u32")(-1, -1) == -2 and operation_of("mul.hi.s32")(-1, -1) == 0
    assert operation_of("min.u32")(-1, 1) == 1 and operation_of("max.u32")(-1, 1) == -1
    assert operation_of("cvt.u64.u32")(-1, 0) == 2**32 - 1 and operation_of("cvt.s64.s32")(-1, 0) == -1
    assert operation_of("cvt.s16.u32")(0x18000, 0) == -(2**15) and operation_of("div.u32")(-1, 2) == 2**31 - 1
    assert operation_of("setp.lo.u32")(1, -1) == 1 and operation_of("setp.lt.s32")(1, -1) == 0
    assert operation_of("inc.u32")(-1, -1) == 0 and operation_of("dec.u32")(0, -1) == -1
    assert operation_of("popc.b32")(-1, 0) == 32 and operation_of("clz.b64")(-1, 0) == 0
    assert operation_of("xor.pred")(0, 1) in (1, -1)


@pytest.mark.parametrize("opcode", ["add", "sub", "mul.lo", "mul.hi", "min", "max", "and", "or", "xor"])
def test_operations_agree_with_computation(opcode):
    for kind, width in TYPES.items():
        spelled = f"{opcode}.{kind}" if opcode not in ("and", "or", "xor") else f"{opcode}.b{width}"
        operation = operation_of(spelled)
        for one, other in itertools.product(samples(width, 4), repeat=2):
            found = operation(signed(one, width), signed(other, width))
            assert found % 2**width == run(spelled, one, other) and -(2 ** (width - 1)) <= found < 2 ** (width - 1)


@pytest.mark.parametrize(
    "opcode",
    [
        "add.f16x2", "add.u16x2", "min.s16x2", "max.relu.s32", "div.approx.f32", "div.full.f32", "sqrt.approx.f32",
        "cvt.rn.f16x2.f32", "cvt.rn.satfinite.e4m3x2.f32", "cvt.rna.tf32.f32", "cvt.pack.sat.u8.s32.b32",
        "min.xorsign.abs.f32", "fma.rn.bf16x2", "fma.rn.relu.f16", "setp.lt.f16x2", "add.b128", "and.f32",
    ],
)  # fmt: skip
def test_what_is_not_computed_exactly_is_not_computed(opcode):
    """A result that the table does not know exactly is unknown, never wrong."""
    name, *words = opcode.split(".")
    assert not computable(name, words, 2)


def test_every_row_is_computed_here():
    """No instruction of the table is without a test of this file."""
    text = Path(__file__).read_text()
    assert [name for name in COMPUTED if f'"{name}.' not in text and f'"{name}"' not in text] == []
