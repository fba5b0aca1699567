"""A worker process that is killed in the midst of its work, once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def dies_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """``dies_once(module, name)``: the first process in which that generator comes to its end is killed there.

    With ``when``, the first in which it yields an item of which ``when(its first argument, item)`` holds, so many
    seconds later. The file that is returned is there once that has happened.
    """
    killed = tmp_path / "killed"

    def install(
        module: ModuleType, name: str, when: Callable[[Any, Any], object] | None = None, seconds: float = 0
    ) -> Path:
        work = getattr(module, name)

        def die() -> None:
            if not killed.exists():
                killed.touch()
                time.sleep(seconds)
                os.kill(os.getpid(), signal.SIGKILL)

        def dying(first: Any, *others: Any, **options: Any) -> Iterator[Any]:
            for item in work(first, *others, **options):
                yield item
                if when is not None and when(first, item):
                    die()
            if when is None:
                die()

        monkeypatch.setattr(module, name, dying)
        return killed

    return install
