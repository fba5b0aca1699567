"""The resolution of names to progress models: built-in ones, a Python file, an installed plug-in.

A name means, in this order:

- ``hsa-weak``: a built-in model; ``hsa``: both readings of it;
- ``path.py``: a Python file that defines ``guarantee(running, stepped) -> int`` (bit masks over thread ids, see
  ``oracle.progress.models.Guarantee``) and may define ``NAME``, else it is called by the file's stem;
- ``mine`` or ``mine-weak``: an entry point of the group ``synth.progress_models``, which loads to such a function.

``@workgroup`` behind the guarantee, ``hsa@workgroup-weak`` or ``path.py@workgroup``, makes it one for the groups of
threads at that level of the execution hierarchy, where a test has any: ``device``, ``queuefamily``, ``workgroup``,
``subgroup`` or ``thread``, or another word of ``corpus.hierarchy``. A model of one level may be called by PTX's words,
``hsa@cta``; otherwise levels are called as Vulkan does. ``&`` between such names composes their promises
(``oracle.promises``), in the order of levels: ``hsa@workgroup & obe@subgroup``, and behind the last one the
reading, ``-weak`` or ``-strong``.

``& lockstep`` and its like behind it, ``hsa@cta & lockstep``, say how the lanes of one subgroup step
(``oracle.progress.stepping``).

A user's guarantee is not trusted: each answer must be a part of ``running``, and what it raises is reported as an
``InputError``. It must be a pure function: each pair of arguments is asked for once.

``ProgressModel.digest`` is SHA-256, in hexadecimal, of the Python file, or of the file of an entry point's module and
its distribution's version; files that such a file imports are not part of it.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, wraps
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

from corpus.errors import InputError, did_you_mean
from corpus.files import open_bytes
from corpus.hierarchy import LEVEL_WORDS, SHORT_WORDS, HierarchyLevel
from oracle.naming import model_name, names_apart, origins
from oracle.progress.models import (
    GUARANTEES,
    MODELS,
    Guarantee,
    ProgressModel,
    both_readings,
    nobody_alone,
    split_stepping,
)
from oracle.promises import LevelPromise

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "synth.progress_models"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")


def resolve_models(names: Sequence[str] = (), lanes: bool = False) -> list[ProgressModel]:
    """The models that ``names`` mean, in their order, each once; the twelve built-in ones where none is named.

    ``lanes``: they are asked about tests that have lanes of one subgroup, so that a name may have a stepping.

    Of two files whose models have one name, each is called by the folders, too, that tell them apart, as
    ``old/mine-weak``. Raises ``InputError`` where a name is unknown, with the nearest right ones, where one file is
    named in two ways, or a user's model cannot be loaded.
    """
    found: dict[tuple[str, str | Path], ProgressModel] = {}
    for origin, name in origins(names or list(GUARANTEES), ".py").items():
        for model in _stepped(name) if lanes else _at_level(name):
            found[model.name, origin if isinstance(origin, Path) else model.name] = model
    return [replace(model, name=name) for model, name in zip(found.values(), names_apart(list(found)), strict=True)]


AND = "&"
"""The text between the promises of a composed model."""

_READING = re.compile(r"(.*?)(?:-(weak|strong))?", re.DOTALL)


def _leveled(name: str) -> tuple[str, str, str]:
    """A name in three parts: what is before the level, the level, and the reading; without a level all is in the first
    part."""
    bare, _, level = name.rpartition("@")
    found = _READING.fullmatch(level)
    assert found is not None
    return (bare, found[1], found[2] or "") if bare and found[1] in LEVEL_WORDS else (name, "", "")


def is_progress_model(name: str) -> bool:
    """Whether a name, among those of models of all kinds, is meant for ``resolve_models``."""
    name, _ = split_stepping(name)
    return all(_is_promise(part.strip(), AND in name) for part in name.split(AND))


def _is_promise(name: str, leveled: bool) -> bool:
    bare, level, _ = _leveled(name)
    if leveled and not level:
        return False
    base, _, reading = bare.rpartition("-")
    bare = base if reading in ("weak", "strong") else bare
    return bare in GUARANTEES or bare.endswith(".py") or bare in _installed()


def shipped_model(name: str) -> ProgressModel | None:
    """The model of a full name that ships, or is composed of promises that ship; None for a user's."""
    parts = [_leveled(part.strip())[0] for part in name.split(AND)]
    if name not in MODELS and not all(part in GUARANTEES for part in parts):
        return None
    (model,) = resolve_models([name])
    return model


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # loaded late: it takes long to load, and is seldom needed

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _stepped(name: str) -> Sequence[ProgressModel]:
    bare, stepping = split_stepping(name)
    if not stepping:
        return _at_level(name)
    return [replace(model, name=f"{model.name} & {stepping}", stepping=stepping) for model in _at_level(bare)]


def _at_level(name: str) -> Sequence[ProgressModel]:
    if AND in name:
        return _composed(name)
    bare, word, reading = _leveled(name)
    if not word:
        return _models(name)
    level = LEVEL_WORDS[word]
    called = word if word in SHORT_WORDS else level.word
    return [
        replace(model, name=f"{base}@{called}-{read}", levels=(LevelPromise(level, model.guarantee),))
        for model in _models(bare)
        for base, _, read in [model.name.rpartition("-")]
        if reading in ("", read)
    ]


def _composed(name: str) -> Sequence[ProgressModel]:
    """The readings of a composed model. Raises ``InputError`` where a part has no level, or two have one."""
    found: dict[HierarchyLevel, tuple[str, LevelPromise, str]] = {}
    readings: list[str] = []
    parts = [part.strip() for part in name.split(AND)]
    if split_stepping(name)[1]:
        raise InputError(f"{name!r} says how lanes of a subgroup step, which is asked of litmus tests")
    if not all(parts):
        raise InputError(f"expected promises with {AND} between in {name!r}, as 'hsa@workgroup {AND} obe@subgroup'")
    if not _is_promise(parts[-1], leveled=False):
        what = "is asked of litmus tests; synth export --to dartagnan-ptx makes these of progress tests"
        raise InputError(f"{name!r} {what}")
    for part in parts:
        bare, word, reading = _leveled(part)
        if not word:
            raise InputError(f"{part!r} in {name!r} has no level; expected one, as in '{part}@workgroup'")
        level = LEVEL_WORDS[word]
        if level in found:
            raise InputError(f"two promises at the level of the {level.word} in {name!r}; expected one for each level")
        model, *others = _models(bare)
        if not others:
            raise InputError(f"expected the reading of {name!r} behind its last promise, found {part!r}")
        base = model.name.rpartition("-")[0]
        found[level] = f"{base}@{level.word}", LevelPromise(level, model.guarantee), model.digest
        readings += [reading] if reading else []
    if len(set(readings)) > 1:
        raise InputError(f"both -weak and -strong in {name!r}; expected one reading, behind the last promise")
    outermost_first = [found[level] for level in HierarchyLevel if level in found]
    base = f" {AND} ".join(called for called, _, _ in outermost_first)
    digest = AND.join(digest for _, _, digest in outermost_first if digest)
    levels = tuple(promise for _, promise, _ in outermost_first)
    return [
        replace(model, levels=levels)
        for model in both_readings(base, nobody_alone, digest)
        if not readings or model.strong == (readings[0] == "strong")
    ]


def _models(name: str) -> tuple[ProgressModel, ...]:
    if name in MODELS:
        return (MODELS[name],)
    if name in GUARANTEES:
        return MODELS[f"{name}-weak"], MODELS[f"{name}-strong"]
    if name.endswith(".py"):
        return _from_file(name)
    installed = _installed()
    if name in installed:
        return _from_entry_point(installed[name])
    base, _, reading = name.rpartition("-")
    if base in installed and reading in ("weak", "strong"):
        return (_from_entry_point(installed[base])[reading == "strong"],)
    raise InputError(_unknown(name, sorted(installed)))


def _unknown(name: str, installed: Sequence[str]) -> str:
    bare = [*GUARANTEES, *installed]
    read = [*bare, *(f"{base}-{reading}" for base in bare for reading in ("weak", "strong"))]
    known = f"known, each also with -weak or -strong: {', '.join(bare)}"
    from oracle.consistency import model_names  # the name of a consistency model is known, but not meant here

    if name.endswith(".cat") or name in model_names():
        kind = "a consistency model, for litmus tests (.litmus); progress tests (.axb) take progress models"
        return f"{name} is {kind}; {known}"
    return f"unknown progress model {name!r}; {did_you_mean(name, read, known)}"


@cache
def _from_file(path: str) -> tuple[ProgressModel, ProgressModel]:
    if not os.path.isfile(path):  # no error where the name is too long for a file
        what = "expected a Python file, found something else" if os.path.exists(path) else "no such progress model file"
        raise InputError(what, path)
    try:
        names = run_path(path)  # leaves no __pycache__ beside a user's file, as an import would
    except BaseException as error:  # a SystemExit of a library as well, and a KeyboardInterrupt of its own
        raise _failed("cannot be loaded", error, path) from None
    guarantee = names.get("guarantee")
    if not callable(guarantee):
        raise InputError("expected a function guarantee(running, stepped)", path)
    return _readings(names.get("NAME", model_name(path)), guarantee, path, _digest(Path(path)))


@cache
def _from_entry_point(entry: EntryPoint) -> tuple[ProgressModel, ProgressModel]:
    try:
        guarantee = entry.load()
    except BaseException as error:
        raise _failed(f"cannot load {entry.value}", error, entry.name) from None
    if not callable(guarantee):
        raise InputError(f"{entry.value} is not a function guarantee(running, stepped)", entry.name)
    source = getattr(sys.modules.get(entry.module), "__file__", None)
    version = entry.dist.version if entry.dist else ""
    return _readings(entry.name, guarantee, entry.name, _digest(Path(source) if source else None, version))


def _digest(source: Path | None, version: str = "") -> str:
    with open_bytes(source) if source else nullcontext(BytesIO()) as file:
        return sha256(version.encode() + file.read()).hexdigest()


def _readings(
    name: object, guarantee: Callable[..., Any], origin: str, digest: str
) -> tuple[ProgressModel, ProgressModel]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name for a model: expected letters, digits and _.+-", origin)
    if name in GUARANTEES:
        raise InputError(f"the name {name!r} is a built-in model's", origin)
    return both_readings(name, _checked(guarantee, origin), digest)


def _checked(guarantee: Callable[..., Any], origin: str) -> Guarantee:
    """The user's function, with its answers held to the contract."""

    @cache
    @wraps(guarantee)
    def checked(running: int, stepped: int) -> int:
        call = f"guarantee({running:#b}, {stepped:#b})"
        try:
            promised = guarantee(running, stepped)
        except (KeyboardInterrupt, MemoryError):  # Ctrl-C, or memory that the test or an earlier call filled
            raise
        except BaseException as error:
            raise _failed(f"{call} failed", error, origin) from None
        if not isinstance(promised, int):
            raise InputError(f"{call} returned {promised!r}, expected a bit mask of threads", origin)
        if promised & ~running:
            raise InputError(f"{call} returned {promised:#b}, which promises a thread that is not running", origin)
        return promised

    return checked


def _failed(what: str, error: BaseException, origin: str) -> InputError:
    """An error in a user's code, with the last line of that file that was involved."""
    own = str(Path(origin).absolute())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in (origin, own)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    reason = (str(error) or "no message").splitlines()[0]
    return InputError(f"{what}: {type(error).__name__}: {reason}", origin, line)
