"""Lists the languages of compiled tests, and the compilers whose code is read back."""

from __future__ import annotations

from collections.abc import Mapping

from backends.shared.readback import CodeLanguage, TestCompiler

CODE_LANGUAGES: Mapping[str, CodeLanguage] = {}
"""The languages of compiled tests, by name."""

TEST_COMPILERS: Mapping[str, tuple[TestCompiler, ...]] = {}
"""The compilers whose code is read back, by the back end (``backends.registry``) that makes their source text."""
