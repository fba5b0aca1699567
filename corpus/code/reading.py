"""What a reader of code is given, and what it gives: a module, and what is known of its kernels besides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from corpus.code.ir import KernelFunction, Module
from corpus.code.launch.fields import DescribedArray
from corpus.code.launch.launch import Argument, KernelLaunch
from corpus.code.places import Array


class CodeText(NamedTuple):
    """Code that is to be read, and the path of its file.

    ``source`` is the text of the file where a compiler has made the code of it, which knew source ``files``, paths by
    name, by other names. ``options`` are those of a compiler, for a reader that is one.
    """

    data: bytes
    path: str
    source: str = ""
    files: Mapping[str, str] = {}
    options: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The code as text in UTF-8, with U+FFFD in place of bytes that are none."""
        return self.data.decode("utf-8", "replace")


class FinalClaim(Protocol):
    """What code claims of the end of its kernel."""

    def text(self, names: Mapping[tuple[Array, int], str]) -> str:
        """Return the claim as an expectation of a program, which has these names for places in arrays."""


@dataclass(frozen=True, slots=True)
class ReadCode:
    """A module, and what is known of its kernels.

    ``names`` are those that the source has for the parameters of kernels, by kernel, and ``sizes`` the bytes of what
    these point to, where the source says so plainly. ``arrays``: what memory is made of, where that is known.
    ``given`` are the arguments that the code gives, ``claim`` what it claims of the end, and ``launch`` the launch that
    it asks for. ``specialise`` returns the code with the constants that a launch gives to a kernel; None where it gives
    none.
    """

    module: Module
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    arrays: tuple[DescribedArray, ...] = ()
    given: Mapping[str, Argument] = field(default_factory=dict)
    claim: FinalClaim | None = None
    launch: KernelLaunch | None = None
    specialise: Callable[[KernelFunction, KernelLaunch], ReadCode | None] | None = None


CodeReader = Callable[[CodeText], ReadCode]
"""What reads a language. Raises ``InputError``, of a text with line and column."""
