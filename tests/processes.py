"""The processes that a process has started, by Linux's ``/proc``."""

from __future__ import annotations

from pathlib import Path


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have; none where it has ended."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        mine = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return [*mine, *(other for child in mine for other in descendants(child))]


def is_alive(pid: int) -> bool:
    """Whether a process is at work: there, and not only waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "XZ"
    except OSError:
        return False
