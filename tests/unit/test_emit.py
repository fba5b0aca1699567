"""Files of a test: their names, and what all languages have in common."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.registry import BACKENDS
from backends.shared.backend import Backend
from backends.shared.files import distinct, file_stem, write_files
from backends.shared.layout import place
from backends.shared.main import SAYS
from backends.shared.renderer import program_text
from backends.shared.syntax import WGSL, C
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.progress.axb import Instruction, Program, instructions
from corpus.progress.text import parse_axb
from corpus.test import Test
from oracle.progress.lts import explore
from oracle.progress.system import NO_STEP

MUTEX = parse_axb(
    "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
    "THREAD 1\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
)


def compile_test(
    name: str, program: Program, backend: Backend, mapping: str = "plain", instances: int | None = None
) -> dict[str, str]:
    return backend.progress_files(name, backend.launch(program, mapping, instances))


@given(st.text(max_size=200))
def test_file_stems_are_safe(name: str) -> None:
    stem = file_stem(name)
    assert re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9._+-]{0,99}", stem)
    assert Path(stem).name == stem


@given(st.text(max_size=5), st.text(max_size=5))
def test_different_names_have_different_stems(one: str, other: str) -> None:
    assert (file_stem(one) == file_stem(other)) == (one == other)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "..", "", "-rf", "a\nb", "a*/ b", "x" * 300])
@pytest.mark.parametrize("backend", BACKENDS)
def test_names_stay_in_their_folder(name: str, backend: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_files(folder, compile_test(name, MUTEX, BACKENDS[backend]))
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert all(path.is_file() for path in folder.iterdir())


def test_safe_names_are_kept() -> None:
    assert file_stem("2x4-0017") == "2x4-0017"
    assert next(iter(compile_test("2x4-0017", MUTEX, BACKENDS["cuda"], "chunked"))) == "2x4-0017.chunked.cu"


def test_the_program_is_the_same_text_in_all_languages() -> None:
    """But for a choice between two values, which WGSL has a function for."""
    for mapping in ("plain", "round-robin", "chunked"):
        for backend in BACKENDS:
            text = program_text(MUTEX, WGSL if backend in ("wgsl", "web") else C)
            assert text in next(iter(compile_test("t", MUTEX, BACKENDS[backend], mapping).values()))


def test_opencl_comes_with_its_host() -> None:
    assert list(compile_test("t", MUTEX, BACKENDS["opencl"])) == ["t.plain.cl", "run_opencl.py"]


def test_two_tests_with_one_file_name() -> None:
    with pytest.raises(InputError, match="share a file name"):
        distinct([Test("a", "1", "THREAD 0"), Test("A", "2", "THREAD 1")])
    same = Test("a", "1", "THREAD 0")
    assert distinct([same, same]) == [same]


def test_too_many_groups() -> None:
    with pytest.raises(InputError, match="65536 work-groups"):
        compile_test("t", MUTEX, BACKENDS["glsl"], "chunked", 32768)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    value = st.integers(0, 3)
    return Program(
        tuple(
            tuple(
                draw(st.builds(Instruction, st.integers(0, 2), value, st.integers(0, length), st.none() | value))
                for _ in range(length)
            )
            for length in lengths
        )
    )


def step(text: str, tid: int, pc: int, memory: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """What the C text does at one program counter of one thread."""
    thread = re.split(r"^    case \d+u: \{$", text, flags=re.MULTILINE)[tid + 1]
    line = re.split(rf"^            case {pc}u: .*$", thread, flags=re.MULTILINE)[1].strip().splitlines()[0]
    access = re.search(r"(ADD|EXCHANGE)\(CELL\((\d+)u\), (\d+)u\)", line)
    assert access
    cell, value = int(access[2]), int(access[3])
    after = memory[cell] + value if access[1] == "ADD" else value
    branch = re.search(r"== (\d+)u \? (\d+)u : (\d+)u;$", line)
    if branch:
        target = int(branch[2] if memory[cell] == int(branch[1]) else branch[3])
    else:
        jump = re.search(r"; pc = (\d+)u;$", line)
        assert jump
        target = int(jump[1])
    return target, (*memory[:cell], after, *memory[cell + 1 :])


@given(programs())
def test_the_text_does_what_the_oracle_says(program: Program) -> None:
    text = program_text(program)
    lts = explore(program)
    for state, row in enumerate(lts.successors):
        for tid, after in enumerate(row):
            if after != NO_STEP:
                target, memory = step(text, tid, lts.counters[state][tid], lts.memories[state])
                assert (target, memory) == (lts.counters[after][tid], lts.memories[after])


@given(programs())
def test_one_atomic_an_instruction(program: Program) -> None:
    assert len(re.findall(r"(?:ADD|EXCHANGE)\(CELL", program_text(program))) == len(list(instructions(program)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_hosts_say_ready_at_once_and_only_when_set_up(backend: str) -> None:
    """What fails before is no hang, and what hangs after is no failure; so it must not wait in a buffer."""
    language = BACKENDS[backend]
    assert 'std::puts("ready");\n    std::fflush(stdout);\n' in SAYS  # what begin() does
    memory = read_litmus(Path(__file__).parents[2] / "examples" / "memory" / "mp-weak.litmus")
    for files in (compile_test("t", MUTEX, language), language.memory_files("t", place(memory))):
        for host in (text for text in files.values() if '"ready"' in text):
            said = r"""(\n\s+begin\(\);|print\("ready", flush=True\))"""
            before, *_ = re.split(said, host)
            assert len(re.findall(said, host)) == 1
            if backend == "cuda":  # the code is loaded before, or fails to be
                assert "check(cudaFuncGetAttributes(&attributes" in before
