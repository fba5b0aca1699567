"""The reader of LLVM: layouts, constants, known bytes, and each instruction beside what a processor does."""

import random
import subprocess
import sys
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import pytest
from programs import read_c
from refusals import refusal

from backends.llvm.compiler import compile_c
from corpus.code.launch.launch import KernelLaunch
from corpus.code.llvm.bitfields import with_neighbours
from corpus.code.llvm.blocks import body_of
from corpus.code.llvm.debugging import DebugInformation
from corpus.code.llvm.files import read
from corpus.code.llvm.module import module_of
from corpus.code.llvm.text import TextReader, TypeNames, bytes_of, tokens_of, unquoted
from corpus.code.llvm.types import ArrayType, FloatType, IntType, PointerType, StructType, layout_of
from corpus.code.program import program_of
from corpus.code.reading import CodeText
from corpus.errors import InputError
from oracle.consistency import resolve_consistency_models
from synth.checking.questions import check

LAYOUT = layout_of("e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128")


def kinds(module):
    (rc11,) = resolve_consistency_models(["rc11"])
    program = program_of(module, module.functions["main"], KernelLaunch())
    return {finding.kind for finding in check(program, rc11, "", 1, "fair").findings}


def module_of_text(text):
    return read(CodeText(text.encode(), "t.ll")).module


# layouts

SCALARS = {
    "char": IntType(8),
    "short": IntType(16),
    "int": IntType(32),
    "long": IntType(64),
    "float": FloatType("float"),
    "double": FloatType("double"),
    "long double": FloatType("x86_fp80"),
    "void *": PointerType(),
    "__int128": IntType(128),
}


def random_struct(rng, name, known):
    """A struct in C, and the type of LLVM that it is."""
    packed = rng.random() < 0.3
    members, types = [], []
    for number in range(rng.randint(1, 6)):
        word, type = rng.choice([*SCALARS.items(), *known])
        count = rng.choice([0, 0, 1, 3])
        members.append(f"{word} m{number}{f'[{count}]' if count else ''};")
        types.append(ArrayType(count, type) if count else type)
    words = f"struct {'__attribute__((packed)) ' if packed else ''}{name} {{ {' '.join(members)} }};"
    return words, StructType(tuple(types), packed)


def test_sizes_and_offsets_are_those_of_gcc(tmp_path):
    rng, known, text, expected = random.Random(4), [], "#include <stddef.h>\n#include <stdio.h>\n", []
    prints = []
    for number in range(60):
        words, type = random_struct(rng, f"s{number}", known)
        text += words + "\n"
        known.append((f"struct s{number}", type))
        prints.append(f'printf("%zu %zu", sizeof(struct s{number}), _Alignof(struct s{number}));')
        prints += [f'printf(" %zu", offsetof(struct s{number}, m{n}));' for n in range(len(type.fields))]
        prints.append('puts("");')
        expected.append([LAYOUT.bytes(type), LAYOUT.align(type), *LAYOUT.offsets(type)])
    (tmp_path / "t.c").write_text(text + "int main(void) {" + "\n".join(prints) + "}\n")
    subprocess.run(["gcc", "t.c", "-o", "t"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True)
    assert [list(map(int, line.split())) for line in done.stdout.splitlines()] == expected


def random_bit_fields(rng, name):
    """A struct in C, and of each bit field of it the number of its memory location (C11 3.14)."""
    members, location, found = [], 0, {}
    for number in range(rng.randint(2, 8)):
        kind = rng.random()
        if kind < 0.2:
            members.append(f"{rng.choice(['char', 'short', 'int', 'void *'])} m{number};")
            location += 1
        elif kind < 0.3:
            members.append(f"unsigned {rng.choice(['char', 'short', 'int', 'long'])} : 0;")
            location += 1
        else:
            word, width = rng.choice([("char", 8), ("short", 16), ("int", 32), ("long", 64)])
            members.append(f"unsigned {word} b{number} : {rng.randint(1, width)};")
            found[f"b{number}"] = location
    return f"struct {name} {{ {' '.join(members)} }};", found


def stored_fields(function, debug, names):
    """The fields of a struct of LLVM to which a function writes."""
    body = with_neighbours(body_of(function.body, function.line), debug, names)
    places = {line.result: int(line.words[-1]) for line in body.lines if line.name == "getelementptr"}
    stores = [line.words for line in body.lines if line.name == "store" and line.words[1] != "ptr"]
    return {places.get(words[words.index("ptr") + 1], 0) for words in stores}


def test_bit_fields_are_of_the_memory_locations_of_c(tmp_path):
    rng = random.Random(3)
    structs = [random_bit_fields(rng, f"s{number}") for number in range(120)]
    text = ""
    for number, (words, fields) in enumerate(structs):
        text += words + "".join(f"void f{number}{name}(struct s{number} *p) {{ p->{name} = 1; }}\n" for name in fields)
    (tmp_path / "t.c").write_text(text)
    assert compile_c(tmp_path / "t.c", tmp_path / "t.ll").ok
    module = module_of((tmp_path / "t.ll").read_text(), "t.ll")
    debug, pairs, joined = DebugInformation(module.metadata), 0, 0
    for number, (words, fields) in enumerate(structs):
        stored = {name: stored_fields(module.functions[f"f{number}{name}"], debug, module.names) for name in fields}
        for one, other in combinations(fields, 2):
            pairs += 1
            if fields[one] == fields[other]:
                assert stored[one] & stored[other], (words, one, other)
            joined += fields[one] != fields[other] and bool(stored[one] & stored[other])
    assert pairs > 500 and joined < pairs / 16  # a field of width 0 that moves nothing is not always told


# words and constants


def test_names_and_strings_are_without_their_quotes():
    assert unquoted('@"a\\20b"') == "a b" and unquoted("%x.y") == "x.y"
    assert bytes_of('c"a\\00\\FF\\5C"') == b"a\0\xff\\"
    assert tokens_of('store i32 -1, ptr @"a b", align 4 ; no')[:6] == ["store", "i32", "-1", ",", "ptr", '@"a b"']


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("i32 -1", [0xFFFFFFFF]),
        ("i1 true", [1]),
        ("<4 x i8> splat (i8 3)", [3, 3, 3, 3]),
        ("{ i8, [2 x i16] } { i8 1, [2 x i16] [i16 2, i16 3] }", [1, 2, 3]),
        ("[3 x i8] zeroinitializer", [0, 0, 0]),
        ('[3 x i8] c"ab\\00"', [97, 98, 0]),
        ("<{ i8, i32 }> <{ i8 1, i32 2 }>", [1, 2]),
    ],
)
def test_constants(text, values):
    operand = TextReader(tokens_of(text), TypeNames({}, LAYOUT)).typed()
    assert [part.value for part in operand.parts or (operand.operand,)] == values


# known bytes


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_are_written_in_any_sizes_are_read_in_any_other(seed):
    rng, memory, text = random.Random(seed), bytearray(24), ""
    for _ in range(40):
        size = rng.choice([1, 2, 4, 8])
        place = rng.randrange(24 - size + 1)
        if rng.random() < 0.6:
            value = rng.getrandbits(8 * size)
            memory[place : place + size] = value.to_bytes(size, "little")
            text += f"  put{size}(x + {place}, {value}u);\n" if size < 8 else f"  put8(x + {place}, {value}ull);\n"
        else:
            value = int.from_bytes(memory[place : place + size], "little")
            text += f"  assert(get{size}(x + {place}) == {value}u{'ll' if size == 8 else ''});\n"
    head = "#include <assert.h>\n#include <stdint.h>\n#include <string.h>\nstatic unsigned char x[24];\n"
    for size in (1, 2, 4, 8):
        form = f"uint{8 * size}_t"
        head += f"static void put{size}(void *p, {form} v) {{ memcpy(p, &v, {size}); }}\n"
        head += f"static {form} get{size}(void *p) {{ {form} v; memcpy(&v, p, {size}); return v; }}\n"
    assert kinds(read_c(f"{head}int main(void) {{\n{text}  return 0; }}\n")) == set()
    assert kinds(read_c(f"{head}int main(void) {{\n{text}  assert(x[3] == {memory[3] ^ 1}); return 0; }}\n")) == {
        "trap"
    }


# instructions

CASES = {
    "add": "%r = add i32 %five, 7",
    "sub": "%r = sub i32 %five, 7",
    "mul": "%r = mul i32 %five, -7",
    "udiv": "%r = udiv i32 -1, %five",
    "sdiv": "%n = sub i32 0, 17\n%r = sdiv i32 %n, %five",
    "urem": "%r = urem i32 -1, 7",
    "srem": "%n = sub i32 0, 17\n%r = srem i32 %n, %five",
    "shl": "%r = shl i32 %five, 30",
    "lshr": "%n = sub i32 0, %five\n%r = lshr i32 %n, 3",
    "ashr": "%n = sub i32 0, %five\n%r = ashr i32 %n, 1",
    "and": "%r = and i32 %five, 6",
    "or": "%r = or i32 %five, 8",
    "xor": "%r = xor i32 %five, -1",
    "narrow": "%a = trunc i32 %five to i8\n%b = mul i8 %a, 100\n%r = sext i8 %b to i32",
    "zext": "%a = trunc i32 -3 to i16\n%r = zext i16 %a to i32",
    "zext of one bit": "%a = icmp eq i32 %five, 5\n%r = zext i1 %a to i32",
    "sext of one bit": "%a = icmp eq i32 %five, 5\n%r = sext i1 %a to i32",
    "odd bits": "%a = trunc i32 %five to i3\n%b = add i3 %a, 6\n%r = sext i3 %b to i32",
    "icmp slt": "%n = sub i32 0, 1\n%a = icmp slt i32 %n, %five\n%r = zext i1 %a to i32",
    "icmp ult": "%n = sub i32 0, 1\n%a = icmp ult i32 %n, %five\n%r = zext i1 %a to i32",
    "select": "%a = icmp sgt i32 %five, 4\n%r = select i1 %a, i32 11, i32 12",
    "freeze": "%r = freeze i32 %five",
    "fadd": "%a = sitofp i32 %five to double\n%b = fadd double %a, 1.5\n%c = fmul double %b, -2.0\n"
            "%r = fptosi double %c to i32",
    "fdiv": "%a = uitofp i32 %five to float\n%b = fdiv float %a, 2.0\n%r = bitcast float %b to i32",
    "fneg": "%a = sitofp i32 %five to float\n%b = fneg float %a\n%r = fptosi float %b to i32",
    "fpext": "%a = sitofp i32 %five to float\n%b = fpext float %a to double\n%c = fptrunc double %b to float\n"
             "%r = fptoui float %c to i32",
    "fcmp olt": "%a = sitofp i32 %five to float\n%b = fcmp olt float %a, 6.0\n%r = zext i1 %b to i32",
    "fcmp une": "%a = sitofp i32 %five to float\n%b = fcmp une float %a, 5.0\n%r = zext i1 %b to i32",
    "fcmp uno": "%a = sitofp i32 %five to float\n%b = fcmp uno float %a, 0x7FF8000000000000\n%r = zext i1 %b to i32",
    "memory": "%p = alloca [4 x i16]\n%q = getelementptr [4 x i16], ptr %p, i64 0, i64 2\n"
              "store i32 70000, ptr %q, align 2\n%a = load i16, ptr %q\n%r = zext i16 %a to i32",
    "gep": "%p = alloca { i8, [3 x i32] }\n%q = getelementptr { i8, [3 x i32] }, ptr %p, i32 0, i32 1, i32 2\n"
           "%a = ptrtoint ptr %q to i64\n%b = ptrtoint ptr %p to i64\n%c = sub i64 %a, %b\n%r = trunc i64 %c to i32",
    "gep back": "%p = alloca [4 x i32]\n%q = getelementptr i32, ptr %p, i64 3\n%s = getelementptr i32, ptr %q, i32 -2\n"
                "store i32 8, ptr %s\n%t = getelementptr i8, ptr %p, i64 4\n%r = load i32, ptr %t",
    "aggregates": "%a = insertvalue { i8, { i32, i16 } } undef, i32 %five, 1, 0\n"
                  "%b = insertvalue { i8, { i32, i16 } } %a, i16 9, 1, 1\n"
                  "%c = extractvalue { i8, { i32, i16 } } %b, 1\n%r = extractvalue { i32, i16 } %c, 0",
    "vectors": "%a = insertelement <4 x i32> splat (i32 2), i32 %five, i32 1\n%b = add <4 x i32> %a, %a\n"
               "%c = shufflevector <4 x i32> %b, <4 x i32> splat (i32 1), <2 x i32> <i32 1, i32 7>\n"
               "%d = extractelement <2 x i32> %c, i32 0\n%e = extractelement <2 x i32> %c, i32 1\n"
               "%r = shl i32 %d, %e",
    "atomicrmw": "%p = alloca i32\nstore i32 %five, ptr %p\n%a = atomicrmw sub ptr %p, i32 7 seq_cst\n"
                 "%b = atomicrmw umax ptr %p, i32 3 monotonic\n%c = load atomic i32, ptr %p acquire, align 4\n"
                 "%d = mul i32 %a, 100\n%r = add i32 %c, %d",
    "atomicrmw nand": "%p = alloca i32\nstore i32 %five, ptr %p\n%a = atomicrmw nand ptr %p, i32 7 seq_cst\n"
                      "%r = load i32, ptr %p",
    "atomicrmw min": "%p = alloca i32\nstore i32 -5, ptr %p\n%a = atomicrmw min ptr %p, i32 %five seq_cst\n"
                     "%r = load i32, ptr %p",
    "cmpxchg": "%p = alloca i32\nstore i32 %five, ptr %p\n"
               "%a = cmpxchg ptr %p, i32 5, i32 6 acq_rel monotonic\n"
               "%b = cmpxchg ptr %p, i32 5, i32 7 seq_cst seq_cst\n"
               "%c = extractvalue { i32, i1 } %b, 0\n%d = extractvalue { i32, i1 } %b, 1\n%e = zext i1 %d to i32\n"
               "%f = shl i32 %e, 8\n%r = or i32 %c, %f",
    "overflow": "%a = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 2147483647, i32 %five)\n"
                "%b = extractvalue { i32, i1 } %a, 1\n%r = zext i1 %b to i32",
    "overflow of another type": "%n = zext i32 %five to i64\n"
                "%a = call { i64, i1 } @llvm.umul.with.overflow.i64(i64 4611686018427387904, i64 %n)\n"
                "%b = extractvalue { i64, i1 } %a, 1\n%c = zext i1 %b to i32\n%d = extractvalue { i64, i1 } %a, 0\n"
                "%e = lshr i64 %d, 40\n%f = trunc i64 %e to i32\n%r = or i32 %f, %c",
    "no overflow": "%a = call { i32, i1 } @llvm.usub.with.overflow.i32(i32 %five, i32 5)\n"
                   "%b = extractvalue { i32, i1 } %a, 1\n%r = zext i1 %b to i32",
    "smax": "%n = sub i32 0, 9\n%r = call i32 @llvm.smax.i32(i32 %n, i32 %five)",
    "umin": "%n = sub i32 0, 9\n%r = call i32 @llvm.umin.i32(i32 %n, i32 %five)",
    "abs": "%n = sub i32 0, 9\n%r = call i32 @llvm.abs.i32(i32 %n, i1 true)",
    "ctpop": "%n = sub i32 0, 9\n%r = call i32 @llvm.ctpop.i32(i32 %n)",
    "ctlz": "%r = call i32 @llvm.ctlz.i32(i32 %five, i1 true)",
    "cttz": "%n = shl i32 %five, 4\n%r = call i32 @llvm.cttz.i32(i32 %n, i1 true)",
    "bswap": "%r = call i32 @llvm.bswap.i32(i32 %five)",
    "abs of the least": "%n = shl i32 %five, 31\n%r = call i32 @llvm.abs.i32(i32 %n, i1 false)",
    "abs of 64 bits": "%n = sext i32 %five to i64\n%m = sub i64 2, %n\n%a = call i64 @llvm.abs.i64(i64 %m, i1 true)\n"
                      "%r = trunc i64 %a to i32",
    "ctlz of 0": "%n = sub i32 5, %five\n%r = call i32 @llvm.ctlz.i32(i32 %n, i1 false)",
    "ctlz of 64 bits": "%n = zext i32 %five to i64\n%m = shl i64 %n, 40\n"
                       "%a = call i64 @llvm.ctlz.i64(i64 %m, i1 true)\n%r = trunc i64 %a to i32",
    "ctlz of 8 bits": "%n = trunc i32 %five to i8\n%a = call i8 @llvm.ctlz.i8(i8 %n, i1 true)\n%r = zext i8 %a to i32",
    "cttz of 0": "%n = sub i32 5, %five\n%r = call i32 @llvm.cttz.i32(i32 %n, i1 false)",
    "cttz of 64 bits": "%n = zext i32 %five to i64\n%m = shl i64 %n, 40\n"
                       "%a = call i64 @llvm.cttz.i64(i64 %m, i1 true)\n%r = trunc i64 %a to i32",
    "ctpop of 64 bits": "%n = sext i32 %five to i64\n%m = sub i64 0, %n\n%a = call i64 @llvm.ctpop.i64(i64 %m)\n"
                        "%r = trunc i64 %a to i32",
    "bswap of 16 bits": "%n = trunc i32 %five to i16\n%a = call i16 @llvm.bswap.i16(i16 %n)\n%r = sext i16 %a to i32",
    "bswap of 64 bits": "%n = zext i32 %five to i64\n%m = mul i64 %n, 72623859790382856\n"
                        "%a = call i64 @llvm.bswap.i64(i64 %m)\n%b = lshr i64 %a, 17\n%r = trunc i64 %b to i32",
    "fshl": "%n = mul i32 %five, 286331153\n%r = call i32 @llvm.fshl.i32(i32 %n, i32 -19088744, i32 %five)",
    "fshl by 0": "%n = sub i32 5, %five\n%r = call i32 @llvm.fshl.i32(i32 %five, i32 -19088744, i32 %n)",
    "fshl by more": "%n = add i32 %five, 96\n%r = call i32 @llvm.fshl.i32(i32 %five, i32 -19088744, i32 %n)",
    "fshl of 8 bits": "%n = trunc i32 %five to i8\n%a = call i8 @llvm.fshl.i8(i8 %n, i8 %n, i8 7)\n"
                      "%r = zext i8 %a to i32",
    "fshr": "%n = mul i32 %five, 286331153\n%r = call i32 @llvm.fshr.i32(i32 %n, i32 -19088744, i32 %five)",
    "fshr by 0": "%n = sub i32 5, %five\n%r = call i32 @llvm.fshr.i32(i32 %five, i32 -19088744, i32 %n)",
    "fshr of 64 bits": "%n = zext i32 %five to i64\n%m = mul i64 %n, 72623859790382856\n"
                       "%a = call i64 @llvm.fshr.i64(i64 %m, i64 %m, i64 %n)\n%r = trunc i64 %a to i32",
    "sadd.sat": "%r = call i32 @llvm.sadd.sat.i32(i32 2147483644, i32 %five)",
    "sadd.sat of 8 bits": "%n = trunc i32 %five to i8\n%a = call i8 @llvm.sadd.sat.i8(i8 124, i8 %n)\n"
                          "%r = zext i8 %a to i32",
    "uadd.sat": "%r = call i32 @llvm.uadd.sat.i32(i32 -3, i32 %five)",
    "uadd.sat below": "%r = call i32 @llvm.uadd.sat.i32(i32 -9, i32 %five)",
    "ssub.sat": "%r = call i32 @llvm.ssub.sat.i32(i32 -2147483645, i32 %five)",
    "usub.sat": "%r = call i32 @llvm.usub.sat.i32(i32 %five, i32 7)",
    "usub.sat above": "%r = call i32 @llvm.usub.sat.i32(i32 %five, i32 3)",
    "memset": "%p = alloca i32\ncall void @llvm.memset.p0.i64(ptr %p, i8 3, i64 4, i1 false)\n%r = load i32, ptr %p",
    "memcpy": "%p = alloca [8 x i8]\nstore i64 1108152157446, ptr %p\n%q = getelementptr i8, ptr %p, i64 2\n"
              "call void @llvm.memmove.p0.p0.i64(ptr %q, ptr %p, i64 5, i1 false)\n%r = load i32, ptr %q, align 2",
    "phi": "%a = icmp eq i32 %five, 5\nbr i1 %a, label %x, label %y\nx:\nbr label %z\ny:\nbr label %z\nz:\n"
           "%r = phi i32 [ 21, %x ], [ 22, %y ]",
    "switch": "switch i32 %five, label %x [ i32 4, label %y i32 5, label %z ]\nx:\nbr label %w\ny:\nbr label %w\n"
              "z:\nbr label %w\nw:\n%r = phi i32 [ 1, %x ], [ 2, %y ], [ 3, %z ]",
    "phis at once": "br label %x\nx:\n%i = phi i32 [ 0, %0 ], [ %j, %x ]\n%a = phi i32 [ 1, %0 ], [ %b, %x ]\n"
                    "%b = phi i32 [ 2, %0 ], [ %a, %x ]\n%j = add i32 %i, 1\n%c = icmp ult i32 %j, %five\n"
                    "br i1 %c, label %x, label %y\ny:\n%d = mul i32 %a, 10\n%r = add i32 %d, %b",
    "global": "%q = getelementptr i8, ptr @g, i64 8\n%p = load ptr, ptr %q\n%r = load i32, ptr %p",
    "call": "%f = select i1 true, ptr @twice, ptr null\n%r = call i32 %f(i32 %five)",
}  # fmt: skip

HEAD = """target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-musl"
@k = global [2 x i32] [i32 40, i32 41]
@g = global { i32, ptr } { i32 1, ptr getelementptr inbounds (i8, ptr @k, i64 4) }
define i32 @twice(i32 %n) {
  %m = add i32 %n, %n
  ret i32 %m
}
declare void @abort()
declare i32 @printf(ptr, ...)
@form = constant [4 x i8] c"%d\\0A\\00"
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
declare { i64, i1 } @llvm.umul.with.overflow.i64(i64, i64)
declare { i32, i1 } @llvm.usub.with.overflow.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.abs.i32(i32, i1)
declare i64 @llvm.abs.i64(i64, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.ctpop.i64(i64)
declare i8 @llvm.ctlz.i8(i8, i1)
declare i32 @llvm.ctlz.i32(i32, i1)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i64 @llvm.cttz.i64(i64, i1)
declare i16 @llvm.bswap.i16(i16)
declare i32 @llvm.bswap.i32(i32)
declare i64 @llvm.bswap.i64(i64)
declare i8 @llvm.fshl.i8(i8, i8, i8)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.fshr.i32(i32, i32, i32)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i8 @llvm.sadd.sat.i8(i8, i8)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare i32 @llvm.uadd.sat.i32(i32, i32)
declare i32 @llvm.ssub.sat.i32(i32, i32)
declare i32 @llvm.usub.sat.i32(i32, i32)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""


def case_function(name, code):
    lines = code.splitlines()
    return f"define i32 @{name}(i32 %five) {{\n" + "\n".join(lines) + "\nret i32 %r\n}\n"


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a processor gives for each case: all are one program."""
    folder = tmp_path_factory.mktemp("cases")
    text, calls = HEAD, ""
    for number, code in enumerate(CASES.values()):
        text += case_function(f"case{number}", code)
        calls += f"%v{number} = call i32 @case{number}(i32 5)\n"
        calls += f"call i32 (ptr, ...) @printf(ptr @form, i32 %v{number})\n"
    (folder / "t.ll").write_text(f"{text}define i32 @main() {{\n{calls}ret i32 0\n}}\n")
    words = ("-m", "ziglang", "cc", "-target", "x86_64-linux-musl", "-static", "-w", "t.ll", "-o", "t")
    subprocess.run([sys.executable, *words], cwd=folder, check=True)
    done = subprocess.run([Path(folder, "t")], capture_output=True, text=True, check=True)
    return dict(zip(CASES, map(int, done.stdout.split()), strict=True))


def judged(code, value):
    main = f"""define i32 @main() {{
  %v = call i32 @case(i32 5)
  %same = icmp eq i32 %v, {value}
  br i1 %same, label %good, label %bad
good:
  ret i32 0
bad:
  call void @abort()
  unreachable
}}
"""
    return kinds(module_of_text(HEAD + case_function("case", code) + main))


@pytest.mark.parametrize("name", CASES)
def test_an_instruction_does_what_a_processor_does(seen, name):
    assert judged(CASES[name], seen[name]) == set()
    assert judged(CASES[name], seen[name] ^ 1) == {"trap"}


READ = [name for name, code in CASES.items() if "%five" in code and "llvm." in code and "llvm.mem" not in code]


@pytest.mark.parametrize("name", READ)
def test_an_intrinsic_does_the_same_to_what_memory_gives(seen, name):
    """5 is all that a thread may read, which another one writes."""
    main = """@x = global i32 5
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
define ptr @other(ptr %p) {
  store atomic i32 5, ptr @x monotonic, align 4
  ret ptr null
}
define i32 @main() {
  %t = alloca i64
  call i32 @pthread_create(ptr %t, ptr null, ptr @other, ptr null)
  %five = load atomic i32, ptr @x monotonic, align 4
  %v = call i32 @case(i32 %five)
  %same = icmp eq i32 %v, VALUE
  br i1 %same, label %good, label %bad
good:
  ret i32 0
bad:
  call void @abort()
  unreachable
}
"""
    text = HEAD + case_function("case", CASES[name])
    assert kinds(module_of_text(text + main.replace("VALUE", str(seen[name])))) == set()
    assert kinds(module_of_text(text + main.replace("VALUE", str(seen[name] ^ 1)))) == {"trap"}


@pytest.mark.parametrize(
    "code",
    [
        "%n = sub i32 5, %five\n%r = call i32 @llvm.ctlz.i32(i32 %n, i1 true), !dbg !9",
        "%n = sub i32 5, %five\n%r = call i32 @llvm.cttz.i32(i32 %n, i1 true), !dbg !9",
        "%n = shl i32 %five, 31\n%r = call i32 @llvm.abs.i32(i32 %n, i1 true), !dbg !9",
    ],
)
def test_an_intrinsic_of_what_it_may_not_be_of_is_found(code):
    main = "define i32 @main() {\n%v = call i32 @case(i32 5)\nret i32 0\n}\n"
    places = '!1 = !DIFile(filename: "t.c", directory: "")\n!9 = !DILocation(line: 3, column: 1, scope: !1)\n'
    assert kinds(module_of_text(HEAD + case_function("case", code) + main + places)) == {"trap"}


def test_nand_of_what_others_access_is_refused():
    text = """#include <pthread.h>
int x;
void *f(void *a) { __atomic_fetch_nand(&x, 3, __ATOMIC_RELAXED); return a; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return __atomic_load_n(&x, __ATOMIC_RELAXED); }
"""
    assert "nand of what other threads access is not understood" in refusal(kinds, read_c(text))


# what is no LLVM


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("%r = frob i32 1, 2", "the instruction frob is not understood"),
        ("%r = load i32, ptr @k, !dbg !x\n%s = add i32 %r", "expected"),
        ("%r = add i32 1, zork", "the constant zork is not understood"),
        ("%r = load <vscale x 4 x i32>, ptr @k", "vectors whose length the processor says are not understood"),
        ("%r = load atomic i32, ptr @k", "expected an order of an atomic access"),
        ('%r = load atomic i32, ptr @k syncscope("agent") acquire', "the scope agent is not understood"),
        ("%r = call i32 @nobody()", "nobody has no code here"),
        ("%r = va_arg ptr @k, i32", "the instruction va_arg is not understood"),
    ],
)
def test_an_instruction_that_is_not_known_is_refused_with_its_line(code, message):
    text = f"{HEAD}define i32 @main() {{\n  {code}\n  ret i32 0\n}}\n"
    said = refusal(lambda: kinds(module_of_text(text)))
    assert message in said and said.startswith("t.ll:")


def test_what_has_no_line_of_the_source_is_told_by_that_of_the_compiled_code():
    for code, message in (
        ("%r = frob i32 1", "t.c: the instruction frob is not understood, at line 2 of the compiled code"),
        ("%r = load i32, ptr @big", "t.c: LLVM: big has 4,000,000,000 bytes"),
    ):
        text = f"define i32 @main() {{\n  {code}\n  ret i32 0\n}}\n@big = global [1000000000 x i32] zeroinitializer\n"
        compiled = CodeText(text.encode(), "t.c", "int main(void) {}", {"t.c": "t.c"})
        assert message in refusal(lambda compiled=compiled: kinds(read(compiled).module))


@pytest.mark.parametrize("seed", range(3))
def test_mutants_are_read_or_refused_in_one_line(seed):
    rng = random.Random(seed)
    text = HEAD + "".join(case_function(f"case{n}", code) for n, code in enumerate(CASES.values()))
    text += "define i32 @main() {\n" + "".join(f"%v{n} = call i32 @case{n}(i32 5)\n" for n in range(len(CASES)))
    text += "ret i32 0\n}\n"
    words = ["i32", "ptr", "%r", "@k", ",", "(", ")", "{", "}", "[", "label", "5", "-1", "!dbg !9", "undef", "0x", '"']
    for _ in range(60):
        lines = text.splitlines()
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(lines))
            tokens = lines[place].split(" ")
            match rng.randrange(4):
                case 0:
                    del lines[place]
                case 1:
                    tokens[rng.randrange(len(tokens))] = rng.choice(words)
                    lines[place] = " ".join(tokens)
                case 2:
                    lines[place] = lines[place][: rng.randrange(len(lines[place]) + 1)]
                case 3:
                    del tokens[rng.randrange(len(tokens))]
                    lines[place] = " ".join(tokens)
        with suppress(InputError):
            kinds(module_of_text("\n".join(lines)))
