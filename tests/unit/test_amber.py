"""Scripts as Amber reads them, by the rules of its own parser, and what it writes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from amber_buffers import dump, totals
from hypothesis import given
from hypothesis import strategies as st
from strategies import programs

from backends.glsl.amber import read_buffer, shaders
from backends.glsl.memory import GATHER, GlslKernel, decode
from backends.registry import BACKENDS
from backends.shared.layout import Parameters, cpu_parameters, place
from backends.shared.mapping import MAPPINGS
from backends.shared.profiles import DEFAULT
from backends.shared.renderer import program_text
from corpus.dialects.registry import read_litmus
from corpus.errors import InputError
from corpus.litmus.instructions import Load
from corpus.litmus.locations import Loc, Location
from corpus.progress.axb import Program

GLSL = BACKENDS["glsl"]
MP = Path(__file__).parents[2] / "examples" / "memory" / "mp-acq-rel-cta.litmus"


def script(shader: str, after: str = "") -> str:
    return f"#!amber\n# END of nothing\nSHADER compute t GLSL TARGET_ENV spv1.5\n{shader}END{after}\n\nRUN t 1 1 1\n"


def test_a_shader_ends_at_the_first_end_wherever_it_stands() -> None:
    """``ExtractToNext("END")`` searches the text for three letters, whatever is around them."""
    assert shaders(script("void main() {}\n")) == ["void main() {}\n"]
    assert shaders(script("void main() {}\n", " # what follows is a comment")) == ["void main() {}\n"]
    for shader in ("// goto END;\nvoid main() {}\n", "int xENDx;\n", "/* END. */\n"):
        with pytest.raises(InputError, match="extra parameters after END: ") as error:
            shaders(script(shader))
        assert error.value.line == 4
    with pytest.raises(InputError, match="unknown token: void"):
        shaders(script("// END\nvoid main() {}\n"))
    with pytest.raises(InputError, match="missing END"):
        shaders("SHADER compute t GLSL\nvoid main() {}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("REPEAT 2\nRUN t 1 1 1\n", "missing END for REPEAT"),
        ("REPEAT 2\nSET x\nEND\n", "unknown token: SET"),
        ("PIPELINE compute t\n  ATTACH s\nEND more\n", "extra parameters after END: more"),
        ("nonsense\n", "unknown token: nonsense"),
    ],
)
def test_other_commands(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        shaders(text)


@given(programs(), st.sampled_from(sorted(MAPPINGS)))
def test_every_progress_test_survives(program: Program, mapping: str) -> None:
    text = next(iter(GLSL.progress_files("t", GLSL.launch(program, mapping, 2)).values()))
    (shader,) = shaders(text)
    assert shader.startswith("#version 450\n") and shader.endswith("}\n")
    assert program_text(program).replace("END", "End") in shader


def test_names_in_memory_tests_end_no_shader() -> None:
    test = read_litmus(MP)
    thread = replace(test.threads[0], instructions=(Load("rEND", Loc("END")), Load("rEnd", Loc("END"))))
    odd = replace(test, threads=(thread, *test.threads[1:]), locations=(*test.locations, Location("END")))
    texts = shaders(GlslKernel(place(odd)).file("t"))
    assert len(texts) == 4 and all(text.endswith("}\n") for text in texts)
    assert "// End" in texts[0] and "uint p0_x0 =" in texts[1] and "uint p0_rEnd =" in texts[1]


def test_launches_are_repeated_each_with_a_seed_of_its_own() -> None:
    text = GlslKernel(place(read_litmus(MP), GLSL.launched(read_litmus(MP), 64, DEFAULT, 7))).file("t")
    assert "\nREPEAT 7\n" in text and "const uint seed = totals[0];" in text and "#define SPIN 1024u" in text
    assert "patience > 0u" in text
    with pytest.raises(InputError, match="2\\^32"):
        GlslKernel(place(read_litmus(MP), Parameters(iterations=1 << 18)))


def test_on_a_cpu_each_thread_plays_a_cta() -> None:
    test = read_litmus(MP)
    ctas = len({thread.place[:3] for thread in test.threads})
    assert place(test, cpu_parameters(test, 4096)).groups == ctas
    assert place(test, cpu_parameters(test, 4096)).instances == 4096


def test_what_amber_wrote_is_read_back() -> None:
    test = read_litmus(MP)
    assert len(place(test).terms) == 2
    instances, seen = decode(dump(totals([100, 0, 1], [27, 2**32 - 1, 0], other=1), "run_pipeline:0:3"), test)
    assert (instances, seen.launches, seen.other, seen.hung) == (64, 2, 1, False)
    assert seen.counts == {(-1, 0): 27, (0, 1): 100}
    both = dump([1, 2, 3], "2") + dump(totals([128, 0, 0]))
    assert decode(both, test)[1].counts == {(0, 0): 128}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no buffer of binding 3"),
        ("2\n 00 01 02 03\n", "no buffer of binding 3"),
        ("3\n 00 01 02\n", "no buffer of binding 3"),
        ("3\n 00 01 02 03\n", "expected the totals of this test, 772 words, found 1"),
        ("ready\n", "expected the name of a buffer"),
        (" 00 00\n", "expected up to 16 bytes"),
        ("3\n 0x12\n", "expected up to 16 bytes"),
        (dump(totals([100, 0, 1])), "the counts do not add up to 2 launches of 64 instances"),
    ],
)
def test_what_amber_did_not_write(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        decode(text, read_litmus(MP))


def test_words_have_their_lowest_byte_first() -> None:
    assert read_buffer(dump([1, 0x01020304]), 3) == (1, 0x01020304)


@pytest.mark.device
def test_gathering_adds_up_launches(need: Callable[[str], None], tmp_path: Path) -> None:
    """The shader that sums up is C as well: run with histograms of three launches, of which the last has a row more
    than the totals can hold."""
    need("cpp")
    source = tmp_path / "gather.cpp"
    source.write_text(
        "#include <cstdio>\nusing uint = unsigned;\n"
        "const uint INSTANCES = 64, ROWS = 3, TERMS = 2, ROW_WORDS = 4, HISTOGRAM_WORDS = 2 + 4 * ROWS;\n"
        "const uint TOTALS_WORDS = 4 + 3 * ROWS;\n"
        "uint histogram[HISTOGRAM_WORDS], totals[TOTALS_WORDS];\n"
        f"void gather() {{\n{GATHER}}}\n"
        "int main() {\n"
        "    const uint launches[3][HISTOGRAM_WORDS] = {\n"
        "        {5, 1, 9, 40, 0, 0, 0, 0, 0, 0, 7, 23, 0, 1},\n"
        "        {6, 0, 1, 30, 0, 1, 2, 4, 1, 1, 3, 30, 0, 0},\n"
        "        {7, 0, 1, 60, 1, 1, 2, 4, 8, 8, 0, 0, 0, 0}};\n"
        "    for (const auto& launch : launches) {\n"
        "        for (uint i = 0; i < HISTOGRAM_WORDS; ++i) histogram[i] = launch[i];\n"
        "        gather();\n"
        "        for (uint word : histogram) if (word) return 1;\n"
        "    }\n"
        '    for (uint word : totals) std::printf("%u ", word);\n'
        "}\n"
    )
    subprocess.run(["g++", "-o", tmp_path / "gather", source], check=True)
    said = subprocess.run([tmp_path / "gather"], check=True, capture_output=True, text=True).stdout
    assert list(map(int, said.split())) == [3, 64, 18, 5, 70, 0, 0, 53, 0, 1, 64, 1, 1]
