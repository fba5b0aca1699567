"""Lists the languages of compiled tests, and the compilers whose code is read back."""

from __future__ import annotations

from collections.abc import Mapping

from backends.cuda.sass_compiler import PTXAS, SASS
from backends.shared.readback import CodeLanguage, TestCompiler

CODE_LANGUAGES: Mapping[str, CodeLanguage] = {SASS.name: SASS}
"""The languages of compiled tests, by name."""

TEST_COMPILERS: Mapping[str, tuple[TestCompiler, ...]] = {"cuda": PTXAS}
"""The compilers whose code is read back, by the back end (``backends.registry``) that makes their source text."""
