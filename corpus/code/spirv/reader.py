"""The reader of SPIR-V, in either form: binary by its magic number, otherwise text."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code.spirv.binary import is_binary, read_binary
from corpus.code.spirv.module import SpirvModule
from corpus.code.spirv.text import read_assembly
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT


def read_spirv(data: bytes, path: str, files: Mapping[str, str] | None = None) -> SpirvModule:
    """Return the module that data denotes, whose compiler knew source ``files``, paths by name, by other names.

    Raises ``InputError``, of a text with line and column.
    """
    if len(data) > LARGEST_TEXT:
        raise InputError(f"cannot read: larger than {LARGEST_TEXT} bytes", path)
    if is_binary(data):
        return read_binary(data, path, files)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        raise InputError("expected the magic number of SPIR-V, or UTF-8 text", path, line, column) from None
    return read_assembly(text, path)
