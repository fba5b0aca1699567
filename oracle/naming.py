"""The naming of models that are files, so that no two models of a command have one name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from corpus.errors import InputError, printable


def model_name(path: str) -> str:
    """Return what the model in a file is called: the file's stem, with escapes where a name hides what it says."""
    return printable(Path(path).stem)


def origins(names: Sequence[str], suffix: str) -> dict[str | Path, str]:
    """The origin of each name, each once: the whole path of a file with that suffix, else the name itself.

    Raises ``InputError`` where two names mean one file.
    """
    found: dict[str | Path, str] = {}
    for name in names:
        known = found.setdefault(_whole(name) if name.endswith(suffix) else name, name)
        if known != name:
            raise InputError(f"the same file as {known}", name)
    return found


def names_apart(models: Sequence[tuple[str, str | Path]]) -> list[str]:
    """A distinct name for each model; each model comes with its name and origin (``origins``).

    Of files whose models have one name, each is led by as many folders above it as tell it apart: ``old/ptx`` and
    ``new/ptx``. A model that is no file keeps its name. Raises ``InputError`` for two models of one name in one folder.
    """
    called = []
    for name, path in models:
        others = [other for same, other in models if same == name and other != path]
        if isinstance(path, str) or not others:
            called.append(name)
            continue
        folders = {other.parent for other in others if isinstance(other, Path)}
        if path.parent in folders:
            raise InputError(f"two models are called {name!r}", str(path))
        own = path.parent.parts
        depth = next(
            depth for depth in range(1, len(own) + 1) if all(own[-depth:] != f.parts[-depth:] for f in folders)
        )
        called.append(printable("/".join([*own[-depth:], name])))
    return called


def _whole(name: str) -> Path:
    try:
        return Path(name).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a cycle of links, or a null character
        raise InputError(f"no such file: {error}", name) from None
