"""The table of what ptxas makes of PTX is held against ptxas, and machine code of real tests is read and judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backends.code_languages import CODE_LANGUAGES, TEST_COMPILERS
from backends.cuda.compiler import compile_sass, cuda_tool
from backends.cuda.optcheck import optcheck
from backends.cuda.ptxas import compiled_launch
from backends.registry import BACKENDS
from backends.shared.files import write_files
from backends.shared.layout import place
from backends.shared.toolchain import run
from corpus.code.sass.reader import read_sass
from corpus.code.sass.text import sass_functions
from corpus.code.sass.words import SILENT, TRANSLATION
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from oracle.consistency import resolve_consistency_models
from synth.translation.judging import TranslationVerdict, judge_translation

pytestmark = pytest.mark.device

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "memory").glob("*.litmus"))
FEW = {"c-mp-rel-acq": "-O0", "cas-sl+membar.gls": "-O3"}
STRONGER = {
    "c-operands": "operands of an expression have an order in machine code",
    "c-unsequenced": "operands of an expression have an order in machine code",
    **dict.fromkeys(
        ("coRR", "coRR-L2-L1", "coRR-L2-L1+membar.cta", "coRR-L2-L1+membar.gl", "coRR-L2-L1+membar.sys"),
        "accesses with cache operators are weak, and those of machine code strong",
    ),
    **dict.fromkeys(
        (
            "thesis-coherence-shared",
            "thesis-iriw-shared+membar.ctas",
            "thesis-iriw-shared+membar.gls",
            "thesis-weak-coherence-shared",
        ),
        "accesses to shared memory are weak, and those of machine code strong",
    ),
}
"""Examples whose machine code allows less, and why."""
CHIPS = {75: "before", 80: "before", 90: "since", 100: "since"}
SCOPES = {"gpu": "GPU", "sys": "SYS", "cluster": "GPU"}


def words_of(capability: int) -> Iterator[tuple[str, str, str]]:
    """Yield each instruction of PTX of the table, its state space, and what a chip should have for it."""
    for space, rows in TRANSLATION.items():
        for row in rows:
            expected = getattr(row, CHIPS[capability])
            scoped = row.words.endswith(".S")
            for scope, machine in SCOPES.items() if scoped else [("", "")]:
                if expected == "-" or (scope == "cluster" and capability < 90):
                    continue
                sequence = re.sub(r"\.S(?=;|$)", f".{machine}", expected)
                yield re.sub(r"\.S$", f".{scope}", row.words), space, sequence.removeprefix("nothing")


def kernel_of(number: int, words: str, space: str) -> str:
    """Return a kernel of PTX with one instruction, which marks where it ends."""
    kind, _, rest = words.partition(".")
    register = "%rd1" if space == "global" else "%r2"
    spaced = f".{space}" if space == "global" else ".shared::cta"
    cached = rest in ("ca", "cg", "cs", "lu", "cv", "wb", "wt")
    name = f"{kind}{spaced}.{rest}" if cached else f"{kind}.{rest}{spaced}"
    code = {
        "ld": f"{name}.u32 %r1, [{register}];",
        "st": f"{name}.u32 [{register}], %r3;",
        "atom": f"{name}.exch.b32 %r1, [{register}], %r3;",
        "red": f"{name}.add.u32 [{register}], %r3;",
    }.get(kind, f"{words};")
    return f""".visible .entry k{number}(.param .u64 p, .param .u64 q, .param .u32 s) {{
 .reg .b64 %rd<4>; .reg .b32 %r<4>;
 ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r2, [s]; mov.u32 %r3, %tid.x; mov.u32 %r1, 0;
 mul.wide.u32 %rd3, %r3, 4; add.s64 %rd1, %rd1, %rd3; mad.lo.u32 %r2, %r3, 4, %r2;
 {code}
 st.global.v2.u32 [%rd2], {{%r1, %r1}}; ret; }}
"""


@pytest.mark.parametrize("capability", CHIPS)
def test_the_table_is_what_ptxas_does(capability: int, need: Callable[[str], None], tmp_path: Path) -> None:
    need("cuda")
    rows = list(words_of(capability))
    head = f".version 8.7\n.target sm_{capability}\n.address_size 64\n"
    text = "".join(kernel_of(number, words, space) for number, (words, space, _) in enumerate(rows))
    (tmp_path / "words.ptx").write_text(head + text)
    code = tmp_path / "words.cubin"
    done = run(code, [cuda_tool("ptxas") or "", f"-arch=sm_{capability}", "-o", code, tmp_path / "words.ptx"])
    assert done.ok, done.output
    done = run(code, [cuda_tool("nvdisasm") or "", "-c", code])
    assert done.ok, done.output
    functions = sass_functions(done.output)
    for number, (words, space, expected) in enumerate(rows):
        found = []
        for ins in functions[f"k{number}"]:
            fence = ins.parts[0] in ("MEMBAR", "CCTL")
            if (ins.access or fence) and "64" not in ins.parts:
                parts = [part for part in ins.parts if part not in ("E", "EXCH", "ADD", "U", "SYS" * (not fence))]
                strong = ins.parts[ins.parts.index("STRONG") + 1 :][:1] if "STRONG" in ins.parts else []
                kept = [part for part in parts if part not in strong]
                head = ins.parts[0].rstrip("GS") if ins.access else ins.parts[0]
                scope = ["CTA" if each == "SM" else each for each in strong]
                found.append(".".join([head, *kept[1:], *scope]))
            assert ins.access or fence or ins.parts[0] in SILENT or not re.match("LD[^C]|ST|ATOM|RED", ins.parts[0])
        assert ";".join(found) == expected, f"{words} {space} sm_{capability}"


@pytest.mark.parametrize(
    ("file", "level"),
    [
        pytest.param(
            file, level, id=f"{file.stem}{level}", marks=[] if FEW.get(file.stem) == level else pytest.mark.slow
        )
        for file in EXAMPLES
        for level in ("-O0", "-O3")
    ],
)
def test_machine_code_allows_what_the_test_does(
    file: Path, level: str, need: Callable[[str], None], tmp_path: Path
) -> None:
    need("cuda")
    test = read_litmus(file)
    try:
        files = BACKENDS["cuda"].memory_files("test", place(test))
    except InputError:
        return
    write_files(tmp_path, files)
    (ptx,) = resolve_consistency_models(["ptx"])
    needed = 90 if "// Needs sm_90" in files["test.cu"] else 75
    for capability in {needed, 90}:
        done = compile_sass(tmp_path / "test.cu", tmp_path / "test.sass", capability, [level])
        assert done.ok, done.output
        text = (tmp_path / "test.sass").read_text(encoding="utf-8")
        judged = judge_translation(test, read_sass(text, compiled_launch(place(test))), (ptx, ptx))
        expected = TranslationVerdict.STRONGER if file.stem in STRONGER else TranslationVerdict.SAME
        assert judged.verdict is expected, judged
        if level == "-O3" and file.stem != "mp+membar.gl+addr-xor":
            assert optcheck(test, text) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("corr-weak", TranslationVerdict.STRONGER),  # one load is left
        ("c-mp-rel-acq", TranslationVerdict.SAME),
        *(
            pytest.param(file.stem, None, marks=pytest.mark.slow)
            for file in EXAMPLES
            if file.stem not in ("corr-weak", "c-mp-rel-acq")
        ),
    ],
)
def test_ptxas_changes_only_what_it_may(
    name: str, expected: TranslationVerdict | None, need: Callable[[str], None], tmp_path: Path
) -> None:
    """Without marks, ptxas merges, drops and moves accesses. What is left allows nothing that the test does not."""
    need("cuda")
    test = read_litmus(next(file for file in EXAMPLES if file.stem == name))
    (ptx,) = resolve_consistency_models(["ptx"])
    right = (TranslationVerdict.SAME, TranslationVerdict.STRONGER)
    for compiler in TEST_COMPILERS["cuda"]:
        if compiler.language != "sass":
            continue
        assert compiler.missing() == []
        try:
            compiled = compiler.compile(test, "-O3", tmp_path)
        except InputError:
            continue
        read = CODE_LANGUAGES[compiler.language].read(compiled)
        verdict = judge_translation(test, read, (ptx, ptx)).verdict
        assert verdict in right if expected is None else verdict is expected
