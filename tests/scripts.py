"""The scripts of docs/, which are in no package, as modules."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[1] / "docs"


@cache
def script(name: str) -> ModuleType:
    """The module ``docs/NAME.py``."""
    found = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
