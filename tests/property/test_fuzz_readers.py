"""Whatever is done to a file that synth reads: a value or one line, in bounded time and memory, and never a traceback.

The mutants (``tests/mutants.py``) are the same on every run. Most are given to the reader itself, some to a command.
"""

from __future__ import annotations

import resource
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import commands
import pytest
from mutant_suites import write_suite
from mutants import mutants
from programs import read_c
from spirv_samples import CODES, TEXT, binary

from backends.glsl.amber import shaders
from backends.registry import BACKENDS
from backends.shared.outcomes import outcomes
from backends.shared.process import Run, RunError
from backends.shared.results import open_results, read_results, read_times
from corpus.code.launch.launch import KernelLaunch
from corpus.code.llvm.files import read as read_llvm
from corpus.code.program import program_of as created_program
from corpus.code.reading import CodeText
from corpus.code.spirv.annotations import read_annotations
from corpus.code.spirv.files import read_spirv
from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import DIALECTS, parse_litmus, read_litmus, translate
from corpus.errors import InputError
from corpus.files import read_text
from corpus.journal import Journal, read_corpus
from corpus.links import read_links
from corpus.litmus.condition import parse_condition
from corpus.litmus.normal import litmus_digest
from corpus.litmus.verdict_table import read_verdicts
from corpus.progress.text import parse_axb, print_axb, program_of, read_axb
from corpus.suite import JOURNAL, MANIFEST, TESTS
from oracle.consistency import load_model, resolve_consistency_models
from oracle.progress.plugins import resolve_models
from synth.families.interface import family
from synth.inputs import expand, family_in
from synth.requests import parse_filter
from synth.screen.counts import count_tables

ROOT = Path(__file__).parents[2]
SECONDS, BYTES = 60, 2**30
"""What a mutant may take at most. They take milliseconds; the machine may be busy."""


@dataclass(frozen=True)
class Reader:
    """A file that is read: what it may hold, how it is read, and commands that read it.

    ``read`` is called, and the commands run, in a folder that holds ``file``, the mutant, and ``around``. In a command
    ``WORD`` is the mutant itself. A reader that is quick gets so many ``times`` the mutants.
    """

    file: str
    seeds: Sequence[bytes]
    read: Callable[[Path], object]
    commands: Sequence[str] = ()
    around: Mapping[str, bytes] = field(default_factory=dict)
    times: int = 1


def examples(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(ROOT.glob(pattern))]


SB = b"C SB\n{}\nP0 (atomic_int* x, atomic_int* y) { atomic_store(x, 1); int r0 = atomic_load(y); }\n"
SB += b"P1 (atomic_int* x, atomic_int* y) { atomic_store(y, 1); int r0 = atomic_load(x); }\n"
SB += b"exists (0:r0 = 0 /\\ 1:r0 = 0)\n"
C_PROGRAM = b"""#include <assert.h>
#include <pthread.h>
#define READY 1
struct cell { int value; struct cell *next; } cells[2] = { { .value = 3, &cells[1] }, { 4 } };
static _Atomic int flag; enum { A, B = 5 };
static void *run(void *word) { struct cell *c = word;
    for (int i = A; i < 2; i++) { if (i % 2) continue; c->value += B; }
    switch (c->value) { case 8: break; default: return NULL; } flag++; return c; }
int main(void) { pthread_t t; pthread_create(&t, NULL, run, &cells[0]); while (flag != READY) ;
    pthread_join(t, NULL); assert(cells[0].value == 8 && cells[0].next->value == 4 ? 1 : 0); return 0; }
"""
LLVM_PROGRAM = b"""target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-musl"
%struct.cell = type { i32, ptr }
@cells = global [2 x %struct.cell] [%struct.cell { i32 3, ptr getelementptr (i8, ptr @cells, i64 16) }, \
%struct.cell { i32 4, ptr null }], align 16, !dbg !6
@flag = internal global i32 0, align 4
@.str = private unnamed_addr constant [4 x i8] c"%d\\0A\\00", align 1
define ptr @run(ptr noundef %word) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %old = load i32, ptr %word, align 8
  %sum = add nsw i32 %old, %i
  store i32 %sum, ptr %word, align 8
  %next = add nuw i32 %i, 1
  %more = icmp ult i32 %next, 2
  br i1 %more, label %loop, label %done
done:
  %was = atomicrmw add ptr @flag, i32 1 release, align 4
  %chosen = select i1 %more, ptr null, ptr %word
  ret ptr %chosen
}
define i32 @main() !dbg !4 {
  %t = alloca i64, align 8
  %made = call i32 @pthread_create(ptr %t, ptr null, ptr @run, ptr @cells), !dbg !5
  %seen = load atomic i32, ptr @flag acquire, align 4
  %tried = cmpxchg weak ptr @flag, i32 1, i32 2 seq_cst monotonic, align 4
  %ok = extractvalue { i32, i1 } %tried, 1
  fence syncscope("singlethread") seq_cst
  %name = load i64, ptr %t, align 8
  %joined = call i32 @pthread_join(i64 %name, ptr null)
  %next = getelementptr inbounds %struct.cell, ptr @cells, i64 0, i32 1
  %other = load ptr, ptr %next, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %next, ptr align 8 %next, i64 8, i1 false)
  switch i32 %seen, label %bad [ i32 0, label %good i32 1, label %good ]
good:
  %said = call i32 (ptr, ...) @printf(ptr @.str, i32 %seen)
  ret i32 0
bad:
  call void @abort()
  unreachable
}
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
declare i32 @printf(ptr, ...)
declare void @abort()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
!1 = !DIFile(filename: "p.c", directory: "")
!2 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!3 = distinct !DIGlobalVariable(name: "cells", file: !1, line: 2, type: !7)
!4 = distinct !DISubprogram(name: "main", file: !1, line: 9)
!5 = !DILocation(line: 11, column: 3, scope: !4)
!6 = !DIGlobalVariableExpression(var: !3, expr: !DIExpression())
!7 = !DICompositeType(tag: DW_TAG_array_type, baseType: !2, size: 256, elements: !8)
!8 = !{!9}
!9 = !DISubrange(count: 8)
"""
LLVM_NUMBERS = b"""define { i8, [2 x i32] } @pair(i32 %n, ptr byval({ i32, i64 }) %p) {
  %a = insertvalue { i8, [2 x i32] } poison, i32 %n, 1, 0
  %b = insertvalue { i8, [2 x i32] } %a, i8 7, 0
  ret { i8, [2 x i32] } %b
}
define i32 @main() {
  %v = alloca { i32, i64 }, align 8
  store { i32, i64 } { i32 5, i64 -1 }, ptr %v, align 8
  %p = call { i8, [2 x i32] } @pair(i32 9, ptr byval({ i32, i64 }) %v)
  %n = extractvalue { i8, [2 x i32] } %p, 1, 0
  %x = insertelement <2 x i32> splat (i32 2), i32 %n, i32 1
  %y = shufflevector <2 x i32> %x, <2 x i32> zeroinitializer, <2 x i32> <i32 1, i32 2>
  %z = extractelement <2 x i32> %y, i32 0
  %f = sitofp i32 %z to double
  %g = fadd fast double %f, 0x3FF8000000000000
  %h = fcmp olt double %g, 1.050000e+01
  %s = call i32 @llvm.fshl.i32(i32 %z, i32 %n, i32 3)
  %c = call i32 @llvm.cttz.i32(i32 %s, i1 true)
  %o = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %c, i32 2147483647)
  %q = extractvalue { i32, i1 } %o, 1
  %w = zext i1 %q to i64
  %t = trunc i64 %w to i3
  %u = sext i3 %t to i32
  %d = sdiv exact i32 %u, 1
  ret i32 %d
}
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.cttz.i32(i32, i1)
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32)
"""
MUTEX = (ROOT / "examples/progress/mutex.axb").read_bytes()
LITMUS = ["mp-weak", "c-sb-sc", "cl-mp-wg-scope", "sb-shared-global", "coRR", "mp+membar.gl+addr-xor", "cas-sl"]
GUARANTEE = b'NAME = "last"\n\ndef guarantee(running, stepped):\n    return running & -running | stepped & running\n'
TABLE = b"file,model,verdict,condition,flags\nSB.litmus,sc,FORBIDDEN,false,\nSB.litmus,tso,ALLOWED,true,data-race\n"
TABLE += b'"MP+a,b.litmus",sc,FORBIDDEN,false,\nMP+a,b.litmus,tso,UNKNOWN,,\n'
RESULTS = (
    b'{"test":"SB","digest":"0","backend":"cpp","device":"a CPU","instances":64,"iterations":2,"timeout":1.0,'
    b'"stress":false,"terms":["P0:r0","P1:r0"],"outcomes":[[[0,1],100],[[1,1],28]],"other":0,"launches":2,"hung":false}\n'
    b'{"test":"2x2-0001","digest":"0","backend":"cpp","device":"a CPU","mapping":"plain","instances":8,"iterations":2,'
    b'"timeout":1.0,"every_iteration":false,"outcomes":"TH"}\n'
)


CORPORA = {
    "progress": "progress -t 2 -n 2",
    "progress stopped": "progress -t 2 -n 3 --max-tests 2",
    "memory": "memory -e 'PodWW PodRR PodWR Rfe Fre' -m sc -m tso",
    "memory stopped": "memory -e 'PodWW PodRR PodWR Rfe Fre' -m sc --max-tests 1",
}
"""How a corpus of each family is made, complete and stopped early."""


def dump() -> bytes:
    """What Amber writes of a run of SB."""
    from backends.glsl.memory import ROWS, TOTALS

    words = [0] * TOTALS + [0] * (3 * ROWS)
    words[:4] = [1, 64, 0, 0]
    words[TOTALS : TOTALS + 3] = [64, 0, 1]
    data = b"".join(word.to_bytes(4, "little") for word in words)
    rows = (data[at : at + 16] for at in range(0, len(data), 16))
    return b"0:3\n" + b"".join(b" " + row.hex(" ").encode() + b"\n" for row in rows)


def suite_with_mutants(folder: Path) -> dict[str, bytes]:
    """The files of a suite whose mutants were run."""
    write_suite(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def corpora(folder: Path) -> dict[str, dict[str, bytes]]:
    """A corpus of each family, complete and stopped early, each by the names of its files."""
    found = {}
    for name, line in CORPORA.items():
        assert synth(f"{line} -j 1 -o '{folder / name}'").exit_code == 0
        found[name] = {path.name: path.read_bytes() for path in (folder / name).iterdir()}
    return found


def labels(folder: Path) -> dict[str, bytes]:
    """A test and its labels in a file."""
    folder.mkdir()
    (folder / "t.axb").write_bytes(MUTEX)
    with chdir(folder):
        assert synth("label t.axb -m obe -o labels.csv -j 1").exit_code == 0
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def synth(line: str, data: bytes = b""):
    word = data.decode("utf-8", "surrogateescape").replace("\0", "")
    arguments = [word if part == "WORD" else part for part in shlex.split(line)]
    return commands.synth(*arguments)


# What reads each of them, and what must hold of what it says


def axb(folder: Path) -> None:
    program = read_axb(folder / "t.axb")
    assert parse_axb(print_axb(program)) == program


def litmus(folder: Path) -> None:
    test = read_litmus(folder / "t.litmus")
    digest = litmus_digest(test)
    for dialect in DIALECTS.values():
        try:
            text = translate(test, dialect)
        except InputError as error:
            one_line(error)
        else:
            assert litmus_digest(parse_litmus(text)) == digest


def condition(folder: Path) -> None:
    parse_condition(read_text(folder / "condition"), "condition", lambda term, token: None)


def index(folder: Path) -> None:
    for given in expand([str(folder)]):
        given.litmus()


def corpus(folder: Path) -> None:
    opened = read_corpus(folder)
    kind = family(family_in(opened.manifest))
    counts = kind.counted(opened)
    counts.summary()
    list(count_tables(counts))
    list(counts.lines())
    for given in expand([str(folder)]):
        try:
            given.litmus() if kind.kind == "litmus tests" else program_of(given.axb())
        except InputError as error:
            one_line(error)


def resumed(folder: Path) -> None:
    corpus(folder)
    manifest = read_corpus(folder).manifest
    with Journal.resume(folder, manifest.get("request", {})):
        pass


def results(folder: Path) -> None:
    with open_results(folder / "results.jsonl") as found:
        assert all(found.find(trial) == result for trial, result in found.results.items())


def spirv(folder: Path) -> None:
    read_annotations(read_spirv((folder / "m.spv").read_bytes(), "m.spv"))


def program_of_c(folder: Path) -> None:
    module = read_c(read_text(folder / "p.c"), "p.c")
    created_program(module, module.functions["main"], KernelLaunch())


def llvm(folder: Path) -> None:
    """A thread is followed where a module is read."""
    module = read_llvm(CodeText((folder / "p.ll").read_bytes(), "p.ll")).module
    created_program(module, module.functions["main"], KernelLaunch())


def timed(folder: Path) -> None:
    file = folder / "results.jsonl"
    assert len(read_times(file)) == len(read_results(file))


def dumped(folder: Path) -> None:
    BACKENDS["glsl"].decode(read_text(folder / "dump.txt"), parse_litmus(SB.decode()))


def said(folder: Path) -> None:
    """What a program said of its launches."""
    lines = read_text(folder / "said").split("\n")
    with suppress(RunError):
        assert all(isinstance(count, int) for count in outcomes(Run("T", (1.0,), tuple(lines))).counts.values())


def word(read: Callable[[str], object]) -> Callable[[Path], object]:
    """A reader of a word of the command line, which is in a file here."""
    return lambda folder: read((folder / "word").read_bytes().decode("utf-8", "surrogateescape").replace("\0", ""))


def guarantees(folder: Path) -> None:
    for model in resolve_models([str(folder / "m.py")]):
        for running in range(4):
            model.guarantee(running, running & 1)


def readers(
    suites: Mapping[str, Mapping[str, bytes]], labelled: Mapping[str, bytes], scored: Mapping[str, bytes]
) -> dict[str, Reader]:
    conditions = b"exists (0:r0 = 0 /\\ 1:r0 = 0)", b"locations [x; P0:r1;] filter (x != -4) ~exists (not (y = 1))"
    languages: dict[str, list[bytes]] = {name: [] for name in DIALECTS}
    words = {dialect.language: name for name, dialect in DIALECTS.items()}
    for text in [*examples("examples/memory/*.litmus"), *examples("tests/golden/export/*.litmus"), SB]:
        languages[words[text.split()[0].decode()]].append(text)
    for text in [SB, *(text for texts in list(languages.values()) for text in texts)]:  # what no example is in
        for name, dialect in DIALECTS.items():
            if len(languages[name]) < 6:
                try:
                    languages[name].append(translate(parse_litmus(text.decode()), dialect).encode())
                except InputError:
                    continue
    found = {
        f"litmus {name}": Reader(
            "t.litmus",
            texts,
            litmus,
            [
                "label t.litmus -m sc -m rc11-scoped --timeout 20 -j 1 --format csv",
                "explain t.litmus -m sc",
                f"convert t.litmus --to {name} -o out.litmus",
                "compile t.litmus --backend cuda -o out",
            ],
        )
        for name, texts in languages.items()
    }
    found |= {
        "axb": Reader(
            "t.axb",
            examples("examples/progress/*.axb"),
            axb,
            [
                "label t.axb -m obe -j 1 --timeout 20",
                "explain t.axb -m hsa-weak",
                "export t.axb --to dartagnan-ptx -o out",
                "compile t.axb --backend opencl -o out",
            ],
            times=6,
        ),
        "condition": Reader("condition", conditions, condition),
        "cat": Reader(
            "m.cat",
            [*examples("oracle/models/*.cat"), *examples("examples/models/*.cat")],
            lambda folder: load_model(str(folder / "m.cat")),
            ["label t.litmus -m m.cat -j 1 --timeout 20", "explain t.litmus -m m.cat"],
            {"t.litmus": SB, **{path.name: path.read_bytes() for path in ROOT.glob("examples/models/*.cat")}},
        ),
        "edges": Reader(
            "edges",
            [*examples("examples/*.edges"), b"PodWW [Rfe,PodRR] Fre|Coe Rlx.gpu RfeRel.gpuAcq.gpu MembarGldWW # why"],
            lambda folder: parse_edges(read_text(folder / "edges"), ("cta", "gpu"), "edges"),
            ["memory --edges @edges -m sc --size 4 --max-tests 3 --time-limit 10 -j 1 -o out"],
            times=6,
        ),
        "index": Reader(
            "@all",
            [b"SB.litmus\nsub/SB.litmus # the same\n\n@more\n"],
            index,
            ["label . -m sc -j 1", "convert @all --to c -o out", "export . --to litmus -o out"],
            {"SB.litmus": SB, "sub/SB.litmus": SB, "@more": b"SB.litmus\n"},
        ),
        "labels beside tests": Reader(
            "labels.csv",
            [TABLE],
            lambda folder: read_verdicts(folder / "labels.csv"),
            ["export . --to litmus -o out"],
            {"SB.litmus": SB},
        ),
        "results.jsonl": Reader(
            "results.jsonl",
            [RESULTS],
            results,
            ["run SB.litmus --backend glsl --decode dump.txt -m sc -o results.jsonl"],
            {"SB.litmus": SB, "dump.txt": dump()},
        ),
        "results.times.jsonl": Reader(
            "results.times.jsonl",
            [b'{"test":"SB","backend":"cpp","instances":64,"seconds":[0.1,0.2]}\n'],
            results,
            ["run SB.litmus --backend glsl --decode dump.txt -m sc -o results.jsonl"],
            {"SB.litmus": SB, "dump.txt": dump(), "results.jsonl": RESULTS},
        ),
        "outcomes of Amber": Reader(
            "dump.txt",
            [dump()],
            dumped,
            ["run SB.litmus --backend glsl --decode dump.txt -m sc"],
            {"SB.litmus": SB},
        ),
        "script of Amber": Reader(
            "t.amber", examples("tests/golden/*/*.amber"), lambda folder: shaders(read_text(folder / "t.amber"))
        ),
        "binary of SPIR-V": Reader("m.spv", [binary(*CODES), binary(*CODES, order=">")], spirv),
        "text of SPIR-V": Reader("m.spv", [b"; @Output: forall (%3[0] == 1)\n" + TEXT.encode()], spirv),
        "program of C": Reader(
            "p.c",
            [C_PROGRAM, *((ROOT / f"examples/c/{name}.c").read_bytes() for name in ("clh-lock", "treiber-stack"))],
            program_of_c,
            ["check p.c --unroll 0 -j 1 --timeout 20"],
        ),
        "program of LLVM": Reader(
            "p.ll",
            [LLVM_PROGRAM, LLVM_NUMBERS],
            llvm,
            ["check p.ll --unroll 0 -j 1 --timeout 20", "check p.ll --unroll 0 -j 1 --timeout 20 --litmus left.litmus"],
            times=3,
        ),
        "guarantees": Reader(
            "m.py",
            [GUARANTEE],
            guarantees,
            ["label t.axb -m m.py -j 1 --timeout 20", "explain t.axb -m m.py"],
            {"t.axb": MUTEX},
        ),
    }
    for name, read in (("mutants/links.csv", read_links), ("results.jsonl", timed), ("results.times.jsonl", timed)):
        around = {file: data for file, data in scored.items() if file != name}
        commands = ["score .", "select . --score --budget 1"]
        found[f"scored: {name}"] = Reader(name, [scored[name]], read, commands, around)
    found["said by a program"] = Reader("said", [b"iteration 0 [[[3,0,1],[5,4294967295,0]],2]"], said)
    filters = [b"shape=MP", b"size=2..4|6", b"threads!=2", b"scope=gpu", b"sc=forbidden", b"tag!=mutex"]
    words: dict[str, tuple[list[bytes], Callable[[str], object], list[str]]] = {
        "--where": (filters, parse_filter, ["show . --where WORD", "label . --where WORD -m sc -j 1"]),
        "--where of names": (
            [b"SB", b"MP*", b"[!a]?-0001"],
            parse_filter,
            ["show . --where WORD", "export . --where WORD --to litmus -o o"],
        ),
        "--model": (
            [b"sc", b"ptx-6.0", b"thesis-weak", b"m.cat", b"a/b/m.cat"],
            lambda text: resolve_consistency_models([text]),
            ["label . -m WORD -j 1", "explain SB.litmus -m WORD"],
        ),
        "--model of progress": (
            [b"hsa", b"lobe-weak", b"hsa+obe", b"m.py"],
            lambda text: resolve_models([text]),
            ["label t.axb -m WORD -j 1", "progress -t 2 -n 2 --distinguish WORD -o out -j 1 --time-limit 5"],
        ),
        "--edges": (
            [b"PodWW [Rfe,PodRR] Fre|Coe Rlx.gpu RfeRel.gpuAcq.gpu MembarGldWW"],
            parse_edges,
            ["memory -e WORD -m sc --max-tests 2 --time-limit 5 -j 1 -o out"],
        ),
        "--size": (
            [b"4", b"2..4"],
            str,
            ["memory -e 'PodWR Fre' --size WORD --time-limit 2 --max-tests 2 -j 1 -o out"],
        ),
        "paths": (
            [b"SB.litmus", b"@all", b"../x.axb"],
            str,
            ["label WORD -j 1 --timeout 20", "show WORD", "explain WORD"],
        ),
    }
    for name, (seeds, read, commands) in words.items():
        around = {**suites["memory"], "SB.litmus": SB, "t.axb": MUTEX}
        found[f"words: {name}"] = Reader("word", seeds, word(read), commands, around)
    for file in ("labels.csv", "labels.csv.request.json"):
        around = {name: data for name, data in labelled.items() if name != file}
        line = "label t.axb -m obe -o labels.csv -j 1"
        found[f"resume: {file}"] = Reader(file, [labelled[file]], nothing, [line], around)
    for name, files in suites.items():
        commands = ["show . --tests", "show . --json", "label . -j 1 --timeout 20", "select . --separate-models"]
        commands += ["export . --to axb -o out" if "progress" in name else "export . --to litmus -o out"]
        if "stopped" in name:
            commands.append(f"{CORPORA[name]} -j 1 -o .")
        for file in (MANIFEST, TESTS, JOURNAL):
            if file in files:
                around = {other: data for other, data in files.items() if other != file}
                if file == JOURNAL:  # the others are derived from it
                    around = {other: data for other, data in around.items() if other == MANIFEST}
                read = resumed if file == JOURNAL else corpus
                found[f"{name}: {file}"] = Reader(file, [files[file]], read, commands, around)
    return found


def nothing(folder: Path) -> None:
    """Nothing reads it but a command."""


# The checks


class Exceeded(BaseException):
    """Too slow."""


@contextmanager
def bounded() -> Iterator[None]:
    """A block that must not take too long or too much memory."""
    exceeded = False

    def stop(*_: object) -> None:
        nonlocal exceeded
        exceeded = True
        raise Exceeded

    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    handler = signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_DATA, (held + BYTES, limits[1]))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, limits)
        signal.signal(signal.SIGALRM, handler)
        assert not exceeded, f"more than {SECONDS} s"  # a reader may have caught it


def one_line(error: InputError) -> None:
    text = str(error)
    assert text.isprintable() and len(text) < 2000, text[:3000]


def laid_out(folder: Path, reader: Reader, data: bytes) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in {**reader.around, reader.file: data}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def check_reader(reader: Reader, data: bytes, folder: Path) -> None:
    laid_out(folder, reader, data)
    with bounded():
        try:
            reader.read(folder)
        except InputError as error:
            one_line(error)


def check_command(reader: Reader, line: str, data: bytes, folder: Path) -> None:
    laid_out(folder, reader, data)
    with bounded():
        result = synth(line, data)
    lines = result.stderr.splitlines()
    assert result.exit_code in (0, 1, 2)
    assert all(one.startswith("synth") and one.isprintable() and len(one) < 2000 for one in lines), result.stderr[:3000]
    assert lines or result.exit_code != 2


NAMES = [
    *(f"litmus {name}" for name in DIALECTS),
    *(f"words: --{name}" for name in ("where", "where of names", "model", "model of progress", "edges", "size")),
    *("words: paths", "said by a program", "axb", "condition", "cat", "edges", "index", "guarantees"),
    *(
        "binary of SPIR-V",
        "program of C",
        "program of LLVM",
        "text of SPIR-V",
        "results.jsonl",
        "results.times.jsonl",
        "outcomes of Amber",
        "script of Amber",
    ),
    *(f"scored: {file}" for file in ("mutants/links.csv", "results.jsonl", "results.times.jsonl")),
    *("resume: labels.csv", "resume: labels.csv.request.json"),
    "labels beside tests",
    *(f"{kind}: {file}" for kind in ("progress", "memory") for file in (MANIFEST, TESTS)),
    *(f"{kind} stopped: {file}" for kind in ("progress", "memory") for file in (MANIFEST, TESTS, JOURNAL)),
]


@pytest.fixture(scope="module")
def every(tmp_path_factory) -> dict[str, Reader]:
    folder = tmp_path_factory.mktemp("corpora")
    found = readers(corpora(folder), labels(folder / "labels"), suite_with_mutants(folder / "scored"))
    assert sorted(found) == sorted(NAMES)
    return found


def fuzz(every, name, monkeypatch, tmp_path, count, command_every):
    reader = every[name]
    folder = tmp_path / "f"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    for number, data in enumerate(mutants(reader.seeds, count * reader.times, f"{name} {count}")):
        try:
            check_reader(reader, data, folder)
            if reader.commands and number % command_every == 0:
                with monkeypatch.context() as patch:
                    patch.chdir(folder)
                    check_command(reader, reader.commands[number // command_every % len(reader.commands)], data, folder)
        except BaseException as error:
            error.add_note(f"mutant {number} of {name}: {data[:2000]!r}")
            raise


@pytest.mark.one_in(1)  # each reader is tried
@pytest.mark.parametrize("name", NAMES)
def test_mutants(every, name, monkeypatch, tmp_path):
    fuzz(every, name, monkeypatch, tmp_path, 40, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_mutants(every, name, monkeypatch, tmp_path):
    fuzz(every, name, monkeypatch, tmp_path, 1200, 20)
