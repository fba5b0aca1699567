"""Where commands print their tables."""

from __future__ import annotations

from rich.console import Console


def table_console(width: int = 160) -> Console:
    """Standard output: as wide as the terminal, or ``width`` columns where it is none."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = width
    return console
