"""Compiles memory tests to the assembly of several processors, as compilers leave them at each level of optimisation.

    clang-19 --target=aarch64-linux-gnu -march=armv8.3-a -O2 -S ..      void P0(unsigned *memory, unsigned *results)

Each thread of a test is a function of its own, which compilers may change as the language lets them: plain accesses are
plain, and nothing is volatile. It is laid out as ``corpus.code.assembly.harness`` says. Atomics are the functions that
g++ and clang both have for those of C and C++ (``__atomic_load_n``), so that no header is needed, and so clang compiles
for processors whose libraries are not there.

Source: GCC manual, 6.55 *Built-in Functions for Memory Model Aware Atomic Operations*; Geeson and Smith, *Mix Testing*
and *Téléchat*, OOPSLA 2022 and CGO 2024, for the method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from backends.cpp.memory import CppKernel
from backends.shared.atomics import BUILTIN_ORDERS
from backends.shared.kernel import MemoryWord
from backends.shared.layout import single
from backends.shared.readback import CodeLanguage, CodeReader, CompiledTest, NotCompiledError, TestCompiler, refusal
from backends.shared.syntax import LanguageSyntax
from backends.shared.toolchain import run, version, which
from corpus.code.assembly.harness import APART, function_name, names_of
from corpus.code.assembly.reading import read_assembly
from corpus.code.registry import PROCESSORS, processor_named
from corpus.errors import InputError
from corpus.laws.c11 import FETCHED
from corpus.litmus.orders import Mode
from corpus.litmus.test import LitmusTest

LEVELS = ("-O0", "-O1", "-O2", "-O3")
"""The levels of optimisation."""
FLAGS = ("-S", "-xc++", "-std=c++20", "-ffreestanding", "-fno-asynchronous-unwind-tables", "-fno-stack-protector")
SOURCE = "c11"
"""The model of the tests: ``rc11`` forbids cycles of program order and reads-from, and no compiler keeps to that."""
TIMEOUT = 60.0
"""Seconds that a compiler may take."""


MACROS = f"""\
#define ADDRESS(instance, number) ((number) * {APART}u)
#define RESULT(instance, number) ((number) * {APART}u)
"""
"""Where locations and results are in the two arrays."""


class CompiledKernel(CppKernel):
    """The threads of a memory test as functions, one instance and nothing around it."""

    syntax = LanguageSyntax("unsigned")
    signed = "int({})"
    unsigned = "unsigned({})"
    plain = "{}"
    pointer = "&{}"
    expected = "&expected"
    order_prefix = ""
    functions: ClassVar[Mapping[str, str]] = {
        **{name: f"__atomic_{name}_n" for name in ("load", "store")},
        "exch": "__atomic_exchange_n",
        **dict.fromkeys(("cas", "weak cas"), "__atomic_compare_exchange_n"),
        **{name: f"__atomic_fetch_{name}" for name in FETCHED},
    }
    fenced = "__atomic_thread_fence({order})"
    text = f"// $name\n$test{MACROS}\n$threads\n"

    def order(self, mode: Mode) -> str:  # noqa: D102
        return BUILTIN_ORDERS[mode.order]

    def call(self, function: str, cell: MemoryWord, arguments: Sequence[str]) -> str:  # noqa: D102
        given = list(arguments)
        if function.endswith("cas"):
            given.insert(2, "true" if function == "weak cas" else "false")
        return f"{self.functions[function]}({', '.join([self.pointer.format(cell.text), *given])})"

    def __init__(self, test: LitmusTest, prefix: str = "") -> None:
        names_of(test)
        super().__init__(single(test))
        self._prefix = prefix

    def thread(self, thread: int) -> list[str]:
        """Return the function of one thread, whose name the prefix begins."""
        code, barrier = self.phases(thread)[0]
        if barrier is not None:
            self.barrier({thread: barrier})
        arguments = ", ".join(f"{self.syntax.word} *__restrict {name}" for name in ("memory", "results"))
        return [
            f'extern "C" void {function_name(thread, self._prefix)}({arguments}) {{',
            *("    " + line for line in [*self.locations(), *self.registers(thread), *code, *self.kept(thread)]),
            "}",
        ]

    def functions_of_threads(self) -> str:
        """Return the functions of all threads."""
        lines = [line for thread in range(len(self.test.threads)) for line in [*self.thread(thread), ""]]
        return "\n".join(lines).rstrip("\n")

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        return {"threads": self.functions_of_threads()}


@dataclass(frozen=True, slots=True)
class AssemblyTarget:
    """A compiler and the processor that it compiles for; ``processor`` is the name of its assembly and of its model.

    ``compilers`` are the programs that it may be, of which the first on PATH is called.
    """

    name: str
    processor: str
    compilers: tuple[str, ...]
    flags: tuple[str, ...] = ()

    def missing(self) -> list[str]:
        """Return what this machine lacks to call it."""
        return [] if which(*self.compilers) else [f"{self.compilers[0]} (Debian: apt install {self.compilers[0]})"]

    def compile(self, test: LitmusTest, level: str, folder: Path) -> CompiledTest:
        """Compile a test at a level of optimisation, in a folder.

        Raises ``InputError`` for what C++ cannot say, and ``NotCompiledError`` where the compiler refuses it.
        """
        text = CompiledKernel(test).file("test")
        return CompiledTest(test, self.assembly(text, level, folder), names_of(test), test.name, kernel="")

    def compile_all(self, tests: Sequence[LitmusTest], level: str, folder: Path) -> Sequence[CompiledTest | None]:
        """Compile tests in one file; None where that fails."""
        texts: dict[int, str] = {}
        for number, test in enumerate(tests):
            with suppress(InputError):
                texts[number] = CompiledKernel(test, _prefix(number)).functions_of_threads()
        try:
            code = self.assembly(f"{MACROS}\n" + "\n\n".join(texts.values()) + "\n", level, folder)
        except NotCompiledError:
            return [None] * len(tests)
        return [
            CompiledTest(test, code, names_of(test), test.name, kernel=_prefix(number)) if number in texts else None
            for number, test in enumerate(tests)
        ]

    def assembly(self, text: str, level: str, folder: Path) -> bytes:
        """Return the assembly of a program. Raises ``NotCompiledError`` where the compiler refuses it, is missing or
        takes too long.
        """
        compiler = which(*self.compilers)
        if compiler is None:
            raise NotCompiledError(f"no {self.missing()[0]}")
        source, output = Path(folder, "test.cpp"), Path(folder, "test.s")
        source.write_text(text, encoding="utf-8")
        output.unlink(missing_ok=True)
        command: list[str | Path] = [compiler, *self.flags, *FLAGS, level, "-o", output.name, source.name]
        done = run(source, command, folder, TIMEOUT)
        if not done.ok or not output.is_file():
            raise NotCompiledError(refusal(done, folder))
        return output.read_bytes()

    def version(self) -> str:
        """Return the version of the compiler, "" where there is none."""
        compiler = which(*self.compilers)
        return "" if compiler is None else version([compiler, "--version"], r"(\d+(?:\.\d+)+)")


def _prefix(number: int) -> str:
    """What the names of the functions of a test begin with where several are compiled together."""
    return f"t{number}_"


_CLANG = ("clang-19", "clang-15", "clang")


def _clang(name: str, processor: str, triple: str, *flags: str) -> AssemblyTarget:
    return AssemblyTarget(name, processor, _CLANG, (f"--target={triple}", *flags))


TARGETS: Mapping[str, AssemblyTarget] = {
    target.name: target
    for target in (
        AssemblyTarget("g++-x86-64", "x86", ("g++",), ("-fno-ipa-icf",)),
        _clang("clang-x86-64", "x86", "x86_64-linux-gnu"),
        _clang("clang-armv8", "armv8", "aarch64-linux-gnu", "-march=armv8-a", "-mno-outline-atomics"),
        _clang("clang-armv8.1", "armv8", "aarch64-linux-gnu", "-march=armv8.1-a"),
        _clang("clang-armv8.3", "armv8", "aarch64-linux-gnu", "-march=armv8.3-a"),
        _clang("clang-riscv64", "riscv", "riscv64-linux-gnu", "-march=rv64gc"),
        _clang("clang-powerpc64le", "power", "powerpc64le-linux-gnu"),
    )
}
"""The compilers and processors by name. g++ would make one function of two that are alike."""


def _reader(processor: str) -> CodeReader:
    def read(compiled: CompiledTest) -> LitmusTest:
        language = processor_named(processor)
        return read_assembly(language, compiled.text, compiled.test, compiled.names, compiled.path, compiled.kernel)

    return read


LANGUAGES = tuple(CodeLanguage(name, name, _reader(name)) for name in PROCESSORS)
"""The assembly of each processor, whose model has its name."""
COMPILERS = tuple(
    TestCompiler(target.name, target.processor, SOURCE, LEVELS, target.compile, target.missing, target.compile_all)
    for target in TARGETS.values()
)
"""The compilers whose assembly is read back."""
