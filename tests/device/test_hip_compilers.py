"""HIP programs compiled by the real clang for GPUs of several families, and their machine code held against LLVM's
tables of code sequences.
"""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from commands import synth
from hip_rows import LOCATIONS, PROGRAMS, SPACED, busy

from backends.hip.code import machine_codes
from backends.hip.compiler import OTHER_MODES, TARGETS, Clang, CodeTarget, HipCompiler, clangs, newest
from backends.hip.words import said_in_hip
from backends.registry import BACKENDS
from backends.shared.layout import Parameters, place
from backends.shared.toolchain import which
from corpus.code.amdgcn.reader import RowCheck, RowVerdict, held_against
from corpus.dialects.registry import read_litmus
from corpus.executions.sequences import SequenceTable, read_table
from corpus.laws.opencl import FETCHED
from corpus.litmus.instructions import Instruction, Rmw
from corpus.litmus.locations import Loc
from corpus.litmus.orders import Mode, Order, Place, Scope
from corpus.litmus.propositions import Atom, Condition, Quantifier
from corpus.litmus.test import LitmusTest
from corpus.litmus.threads import Thread
from corpus.progress.axb import Program
from corpus.progress.text import parse_axb

pytestmark = pytest.mark.device

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "memory"
SEQUENCES = ROOT / "examples" / "sequences"
KNOWN = list(csv.DictReader((ROOT / "tests" / "verdicts" / "hip_rows.csv").read_text("utf-8").splitlines()))
"""Where the code of a clang is not what a table says, with the reason."""
HIP = BACKENDS["hip"]
SPIN = parse_axb("THREAD 0\n0: if (Mem[0] == 0) goto 0;\nTHREAD 1\n0: Mem[0] = 1;\n")
THREE = parse_axb(
    "THREAD 0\n0: Mem[0] = 1;\n1: if (Mem[1] == 7) goto END;\n"
    "THREAD 1\n0: if (Mem[0] == 0) goto 0;\n1: Mem[1] = 3;\n"
    "THREAD 2\n0: if (Exch(Mem[1],2) == 3) goto END;\n1: if (Mem[0] == 0) goto 1;\n"
)
ROCM = Path("/usr/include/hip/hip_runtime.h")
"""HIP's own header, of Debian's libamdhip64-dev."""
FINE = (RowVerdict.SAME, RowVerdict.STRONGER)


def compiled(text: str, clang: Clang, target: CodeTarget, folder: Path) -> Path:
    """A program as assembly."""
    file, code = folder / "test.hip", folder / f"{target.chip}.s"
    file.write_text(text)
    done = HipCompiler(clang, (target,)).compile(file, code)
    assert done.ok, done.output
    return code


def program(test: LitmusTest) -> str:
    return HIP.memory(place(test, Parameters(instances=64, slots=64))).file("test")


@cache
def tables() -> list[SequenceTable]:
    return [read_table(file.read_text(), file.stem) for file in sorted(SEQUENCES.glob("*.seq"))]


def checks(test: LitmusTest, clang: Clang, target: CodeTarget, folder: Path) -> list[tuple[str, RowCheck]]:
    """The code of a test beside the rows of each table that is for its machine."""
    (code,) = machine_codes(compiled(program(test), clang, target, folder))
    said = said_in_hip(test)
    fitting = [table for table in tables() if table.machine == code.machine]
    assert fitting
    return [(table.path, check) for table in fitting for check in held_against(said, code, table)]


def known(clang: Clang, table: str, check: RowCheck) -> int | None:
    """The line of ``KNOWN`` that says a difference."""
    for number, line in enumerate(KNOWN):
        said = str(clang.number) in line["clang"].split() and line["verdict"] == check.verdict
        if said and fnmatchcase(table, line["table"]) and fnmatchcase(check.row, line["row"]):
            return number
    return None


def unknown(clang: Clang, found: list[tuple[str, RowCheck]]) -> list[tuple[str, RowCheck]]:
    return [(table, each) for table, each in found if each.verdict not in FINE and known(clang, table, each) is None]


def clang_here() -> Clang:
    """The newest clang here of those whose differences from the tables are known."""
    known_of = {int(number) for line in KNOWN for number in line["clang"].split()}
    clang = next((each for each in clangs() if each.number in known_of), None)
    if clang is None:
        pytest.skip(f"none of clang {', '.join(map(str, sorted(known_of)))} for GPUs of AMD is installed")
    return clang


@pytest.mark.parametrize("chip", ["gfx90a", "gfx1030"])
@pytest.mark.parametrize("name", ["updates-global", "loads-shared"])
def test_the_code_is_the_tables_sequence(name: str, chip: str, need: Callable[[str], None], tmp_path: Path) -> None:
    """Each order and scope of a kind of access, where every counter is busy before it."""
    need("hip")
    clang = clang_here()
    found = checks(busy(name), clang, CodeTarget(chip), tmp_path)
    rows = {check.row for _, check in found if check.row.startswith("rmw" if name == "updates-global" else "R.")}
    assert len(rows) == {"updates-global": 20, "loads-shared": 12}[name]
    assert not unknown(clang, found)


@pytest.mark.slow
@pytest.mark.parametrize("number", [15, 19, 22])
def test_all_rows_of_all_tables(number: int, tmp_path: Path) -> None:
    """Every row of every table for the GPUs that a clang knows: what differs is known, and what is known differs."""
    clang = next((each for each in clangs() if each.number == number), None)
    if clang is None:
        pytest.skip(f"clang {number} for GPUs of AMD is not installed")
    seen, used = set[tuple[str, str]](), set[int]()
    for target in (each for each in (*TARGETS, *OTHER_MODES) if clang.knows(each)):
        for name in (*PROGRAMS, *(SPACED if number >= 19 else ())):
            found = checks(busy(name), clang, target, tmp_path)
            assert not unknown(clang, found), (target, name)
            seen |= {(table, each.row) for table, each in found}
            used |= {
                at
                for table, each in found
                if each.verdict not in FINE and (at := known(clang, table, each)) is not None
            }
    own = {at for at, line in enumerate(KNOWN) if str(number) in line["clang"].split()}
    assert used == own, [KNOWN[at] for at in own - used]
    for table in tables():
        if any(path == table.path for path, _ in seen):
            rows = {key for key in table.rows if key.kind != "F" or number >= 19 or not key.space}
            assert len({row for path, row in seen if path == table.path} - {"barrier"}) == len(rows)


def test_every_operation_is_one_atomic(need: Callable[[str], None], tmp_path: Path) -> None:
    """In global and in shared memory, with and without a result; a subtraction is an addition of the negative.

    Up to 15, clang makes a store of an exchange whose result nobody uses (LLVM issue 60418), and the check says so.
    """
    need("hip")
    clang, relaxed = newest(), Mode(Order.RELAXED, Scope.GPU)
    assert clang is not None and HIP.check is not None
    code = list[Instruction]()
    for number, (operation, name) in enumerate(product((*FETCHED, "exch", "cas"), ("x", "y"))):
        operands = (0, 1) if operation == "cas" else (3,)
        code += [Rmw(operation, to, Loc(name), operands, relaxed) for to in (f"r{number}", None)]
    code.append(Rmw("cas", "s", Loc("x"), (0, 1), relaxed, success="t"))
    asked = Condition(Quantifier.EXISTS, Atom("eq", Loc("x"), 1))
    test = LitmusTest("every", (Thread(tuple(code), Place()),), LOCATIONS, asked)
    text = program(test)
    assert "__hip_atomic_fetch_add(&memory[at0], hidden(0u - 3u), " in text and "fetch_min((std::int32_t*)&" in text
    stores = {"x": "global_store", "y": "ds_store"} if clang.number < 16 else {}
    assert HIP.check.problems(test, compiled(text, clang, TARGETS[0], tmp_path)) == [
        f"gfx90a: P0: red.relaxed.gpu.exch {name}, 3: in the machine code it is {store}"
        for name, store in stores.items()
    ]


@pytest.mark.parametrize("placement", ["device", "subgroup"])
def test_each_instruction_of_a_progress_test_is_an_atomic(
    placement: str, need: Callable[[str], None], tmp_path: Path
) -> None:
    need("hip")
    clang, of = newest(), {"device": SPIN, "subgroup": THREE}[placement]
    assert clang is not None
    text = next(iter(HIP.progress_files("t", HIP.launch(of, "chunked", 4, placement)).values()))
    for target in (each for each in TARGETS if clang.knows(each)):
        lines = kernel(compiled(text, clang, target, tmp_path).read_text(), "test")
        atomics = [number for number, line in enumerate(lines) if re.match(r"\s+global_atomic_(swap|or)", line)]
        assert len(atomics) == sum(map(len, of.threads)), target
        assert any(start <= at < end for start, end in loops(lines) for at in atomics)


def kernel(assembly: str, name: str) -> list[str]:
    """The lines of a kernel."""
    return assembly.partition(f"\n{name}:")[2].partition("s_endpgm\n\t.section")[0].splitlines()


def loops(lines: list[str]) -> list[tuple[int, int]]:
    """From where to where each branch backwards goes."""
    labels = {line.partition(":")[0]: number for number, line in enumerate(lines) if line.startswith(".L")}
    jumps = ((re.search(r"\ts_c?branch\w* (\.L\w+)", line), number) for number, line in enumerate(lines))
    return [(labels[at[1]], number) for at, number in jumps if at and labels.get(at[1], number) < number]


def test_an_access_that_clang_drops_is_found(need: Callable[[str], None], tmp_path: Path) -> None:
    """Without marks, clang drops the first of two plain stores, and merges two loads."""
    need("hip")
    clang, test = newest(), read_litmus(EXAMPLES / "corr-weak.litmus")
    assert clang is not None and HIP.check is not None
    text = program(test)
    assert HIP.check.problems(test, compiled(text, clang, TARGETS[0], tmp_path)) == []
    merged = re.sub(r'(p1_r1 = memory\[at0\];) MARK\("end P1:0"\);\n\s+MARK\("begin P1:1"\);', r"\1", text)
    merged = merged.replace('MARK("end P1:1");', 'MARK("end P1:0");')
    assert merged != text
    (problem,) = HIP.check.problems(test, compiled(merged, clang, TARGETS[0], tmp_path))
    assert problem == "gfx90a: P1: ld r2, x: it is not in the machine code"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT", "__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT", "R.acquire.gpu"),
        ("__ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT", "__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT", "W.release.gpu"),
        ("__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT", "__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP", "R.acquire"),
    ],
)
def test_a_program_with_another_order_is_found(
    old: str, new: str, complaint: str, need: Callable[[str], None], tmp_path: Path
) -> None:
    """What a compiler would have made that relaxes one order."""
    need("hip")
    clang, test = newest(), read_litmus(EXAMPLES / "amdgpu" / "mp-agent.litmus")
    assert clang is not None
    text = program(test)
    assert text.count(old) == 1
    (code,) = machine_codes(compiled(text.replace(old, new), clang, TARGETS[0], tmp_path))
    (table,) = (each for each in tables() if each.machine == "gfx90a")
    (found,) = (each for each in held_against(said_in_hip(test), code, table) if each.verdict not in FINE)
    assert found.verdict is RowVerdict.DIFFERENT and found.row.startswith(complaint)


def test_the_command_names_rows_and_runs_the_machine(need: Callable[[str], None], tmp_path: Path) -> None:
    """``isa2-wider`` is forbidden by amdgpu, and GFX90A's table, which the code is, allows it on the machine."""
    need("hip")
    words = ["--backend", "hip", "--check", "--sequences", SEQUENCES / "gfx90a.seq", "-m", "amdgpu", "-o"]
    done = synth("compile", EXAMPLES / "amdgpu" / "isa2-wider.litmus", *words, tmp_path / "isa2")
    assert done.exit_code == 1 and "gfx90a: the machine can do with this code what amdgpu forbids" in done.stderr
    assert "gfx90a: rows same: 6\n" in done.stderr
    row = "R.acquire.gpu @global              -> global_load glc=1; s_waitcnt vmcnt(0); buffer_wbinvl1_vol"
    text = (SEQUENCES / "gfx90a.seq").read_text()
    (tmp_path / "wrong.seq").write_text(text.replace(row, row.replace("buffer_wbinvl1_vol", "buffer_invl2")))
    words[4] = tmp_path / "wrong.seq"
    done = synth("compile", EXAMPLES / "amdgpu" / "mp-agent.litmus", *words, tmp_path / "mp")
    assert done.exit_code == 1 and "gfx90a: programs as amdgpu: 1\ngfx90a: rows different: 1\n" in done.stderr
    assert "gfx90a: P1: ld.acquire.gpu r0, y: different from R.acquire.gpu @global: " in done.stderr
    done = synth("compile", EXAMPLES / "mp-weak.litmus", *words[:2], *words[3:], tmp_path / "none")
    assert done.exit_code == 2 and "--sequences is for --backend hip with --check" in done.stderr


def test_the_code_object_is_the_assembly(need: Callable[[str], None], tmp_path: Path) -> None:
    """What llvm-objdump says of the linked code object has the instructions of ``clang -S`` one for one."""
    need("hip")
    clang = newest()
    assert clang is not None
    objdump = which(f"llvm-objdump-{clang.number}")
    if objdump is None or which(f"ld.lld-{clang.number}") is None:
        pytest.skip(f"llvm-objdump-{clang.number} and ld.lld-{clang.number} are not installed")
    text = program(read_litmus(EXAMPLES / "amdgpu" / "isa2-wider.litmus"))
    assembly = compiled(text, clang, TARGETS[0], tmp_path)
    headers = ROOT / "backends" / "hip" / "include"
    words = ["-x", "hip", "-std=c++17", "-O2", "-nogpuinc", "-nogpulib", "-isystem", headers, "--offload-arch=gfx90a"]
    made = ["--cuda-device-only", "--no-gpu-bundle-output", "-c", tmp_path / "test.hip", "-o", tmp_path / "code.o"]
    subprocess.run([*clang.command, *words, *made], check=True)
    said = subprocess.run([objdump, "-d", tmp_path / "code.o"], check=True, capture_output=True, text=True).stdout
    asked = r"^\s+((?:global|ds|buffer|flat|s_wait|s_barrier)\w*[^/;\n]*)"
    there = re.findall(asked, said, re.MULTILINE)
    written = re.findall(asked, assembly.read_text(), re.MULTILINE)
    assert len(there) > 30 and [each.split() for each in there] == [each.split() for each in written]


@pytest.mark.parametrize("of", [SPIN, "amdgpu/lds-flag"])
def test_the_host_is_hips(of: Program | str, need: Callable[[str], None], tmp_path: Path) -> None:
    """Both halves of a program compile with HIP's own header, where that is."""
    need("hip")
    clang = newest()
    assert clang is not None
    if not ROCM.is_file():
        pytest.skip("HIP's header is not installed (Debian: libamdhip64-dev)")
    file = tmp_path / "test.hip"
    files = HIP.progress_files("t", HIP.launch(of)) if isinstance(of, Program) else {}
    file.write_text(next(iter(files.values())) if files else program(read_litmus(EXAMPLES / f"{of}.litmus")))
    words = ["-x", "hip", "-std=c++17", "-O2", "-Wall", "-nogpuinc", "-nogpulib", "-D__HIP_PLATFORM_AMD__", file]
    subprocess.run([*clang.command, *words, "--cuda-host-only", "-fsyntax-only"], check=True)
    device = ["--cuda-device-only", "--offload-arch=gfx90a", "-S", "-o", tmp_path / "test.s"]
    subprocess.run([*clang.command, *words, *device], check=True)
