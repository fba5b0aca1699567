"""What a test needs and a machine has not."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(message: str) -> NoReturn:
    """Skips the test, and says why; on CI, which has all that can be installed, it fails."""
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
