"""The registry of code: what its rows name is there, and no other module has a list of its own."""

import ast
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import corpus.code.registry
from backends.code_languages import CODE_LANGUAGES
from backends.kernel_compilers import KERNEL_COMPILERS
from corpus.code.assembly.language import MachineLanguage
from corpus.code.registry import (
    FORMATS,
    PROCESSORS,
    certain_format_of,
    expected_formats,
    format_named,
    format_of,
    language_named,
    processor_named,
)
from corpus.code.thread import KernelLanguage
from corpus.dialects.registry import DIALECTS

ROOT = Path(__file__).parents[2]
ENDS = [suffix.end for form in FORMATS for suffix in form.suffixes]
ROWS = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)


@ROWS
def test_a_row_names_what_is_there(form):
    assert callable(form.read()) and form.is_binary(b"") is False
    assert bool(form.compiler) is bool(form.code) is not bool(form.languages)
    if form.compiler:
        assert form.compiler in KERNEL_COMPILERS and not format_named(form.code).compiler
    for name in form.languages:
        assert isinstance(language_named(name), KernelLanguage)


def test_names_are_of_one_row():
    names = [*ENDS, *(form.name for form in FORMATS), *(name for form in FORMATS for name in form.languages)]
    assert {name for name, times in Counter(names).items() if times > 1} == {".cpp", ".cc"}
    assert {form.compiler for form in FORMATS if form.compiler} == set(KERNEL_COMPILERS)


def test_a_processor_has_its_own_assembly():
    for name in PROCESSORS:
        assert isinstance(processor_named(name), MachineLanguage) and processor_named(name).name == name
        assert CODE_LANGUAGES[name].model == name


def test_what_is_left_of_a_kernel_has_a_dialect():
    assert {language_named(name).dialect for form in FORMATS for name in form.languages} <= set(DIALECTS)


@pytest.mark.parametrize(
    ("name", "format", "certain"),
    [
        ("a.cu", "CUDA C++", True),
        ("a.cc", "C++", False),
        ("a.spvasm", "SPIR-V", True),
        ("a.c", "C", False),
        ("a.h", None, False),
        ("a.CU", None, False),
        (".cu", None, False),
    ],
)
def test_a_file_is_what_its_name_says(name, format, certain):
    found = format_of(Path(name))
    assert (found and found.name) == format
    assert (certain_format_of(Path(name)) is not None) is certain


def test_a_file_of_two_formats_is_what_it_has(tmp_path):
    path = tmp_path / "a.cpp"
    for text, name in (("__global__ void k() {}", "CUDA C++"), ("int main() {}", "C++")):
        path.write_text(text)
        os.utime(path, (len(text), len(text)))
        assert format_of(path).name == name


def test_an_error_says_all_formats():
    assert expected_formats().startswith(
        "CUDA C++ (.cu), PTX (.ptx), GLSL (.comp), OpenCL C (.cl), HIP (.hip), WGSL (.wgsl), SPIR-V (.spv), C (.c)"
    )
    assert expected_formats().endswith(" or LLVM (.ll)")


def lists_of_suffixes(text):
    """The lines of a module where a display has several ends of names that are the registry's."""
    for node in ast.walk(ast.parse(text)):
        parts = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        if sum(isinstance(part, ast.Constant) and part.value in ENDS for part in parts) > 1:
            yield node.lineno


def test_there_is_no_second_list():
    own = Path(corpus.code.registry.__file__)
    for package in ("corpus", "oracle", "constraints", "backends", "synth"):
        for path in (ROOT / package).rglob("*.py"):
            assert path == own or not list(lists_of_suffixes(path.read_text(encoding="utf-8"))), path
    assert list(lists_of_suffixes("SUFFIXES = {'.cu': 1,\n '.ptx': 2}\nx = ('.spv', 1)\ny = ('.spv',\n'.c')")) == [1, 4]


def test_asking_what_a_file_is_reads_no_language():
    """Commands ask at their start; readers are imported when something is read."""
    text = (
        "import sys; from pathlib import Path; import corpus.code.registry as r; assert r.format_of(Path('a.c')).noun;"
        "print([name for name in sys.modules if name.startswith('corpus.code.')])"
    )
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ast.literal_eval(done.stdout) == ["corpus.code.registry"]
