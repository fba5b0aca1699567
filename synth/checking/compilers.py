"""Files that are compiled before their kernels are read, and what answers about files depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from backends.kernel_compilers import KERNEL_COMPILERS
from backends.shared.inclusions import copies, including
from backends.shared.toolchain import problem
from corpus.code.registry import format_named, format_of
from corpus.errors import InputError
from corpus.files import LARGEST_TEXT, open_bytes
from corpus.private import private_folder


def source_digest(path: Path, options: Sequence[str]) -> str:
    """Return the digest of a file and of all files of the user that it includes, by which answers about it stay true.

    If one of these cannot be handed to a compiler, the digest is that of the complaint; the answer is then ERROR.
    """
    headers = including(options)
    digest = sha256()
    try:
        form = format_of(path)
        if form is not None and form.includes:
            every = [copy.data for copy in copies(path, headers.folders, headers.files)]
        else:
            with open_bytes(path) as file:
                every = [file.read(LARGEST_TEXT)]
    except (InputError, OSError) as error:
        every = [str(error).encode(errors="replace")]
    for data in every:
        digest.update(sha256(data).digest())
    return digest.hexdigest()


def compiled(path: Path, options: Sequence[str]) -> tuple[bytes, Mapping[str, str]]:
    """Return what the compiler of a file makes of it, and the paths of source files by the names that they have in it.

    Raises ``InputError`` where the compiler refuses the file, or is not there.
    """
    form = format_of(path)
    assert form is not None
    compiler, (suffix, *_) = KERNEL_COMPILERS[form.compiler], format_named(form.code).suffixes
    with private_folder("compile") as folder:
        code = Path(folder, f"kernel{suffix.end}")
        try:
            done = compiler.compile(path, code, options)
        except OSError as error:
            raise InputError(f"it is not compiled: {error}", str(path)) from None
        if not done.ok or not code.is_file():
            wrong = problem(done.output)
            advice = compiler.advice(wrong)
            raise InputError("; ".join(filter(None, (wrong or "it is not compiled", advice))), str(path))
        return code.read_bytes(), done.names
