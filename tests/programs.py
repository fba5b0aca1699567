"""Programs in C and C++ as modules, as ``synth check`` reads them: compiled by clang, and read."""

from pathlib import Path
from tempfile import TemporaryDirectory

from backends.llvm.compiler import compile_c, compile_cpp
from backends.shared.toolchain import problem
from corpus.code.llvm.files import read
from corpus.code.reading import CodeText
from corpus.errors import InputError


def read_c(text, path="t.c", options=()):
    """The module of a program; of one in C++ where the path ends in ``.cpp``."""
    compiled = compile_cpp if path.endswith((".cpp", ".cc")) else compile_c
    with TemporaryDirectory() as folder:
        source, code = Path(folder, Path(path).name), Path(folder, "made.ll")
        source.write_text(text, encoding="utf-8")
        done = compiled(source, code, options)
        if not done.ok:
            raise InputError(problem(done.output), path)
        names = dict.fromkeys(done.names, path)
        return read(CodeText(code.read_bytes(), path, text, names)).module
