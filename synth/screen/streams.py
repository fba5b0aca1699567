"""Standard output and standard error, which show control characters as escapes, and what analyses tell meanwhile.

Names of tests and devices, and messages of compilers, are other people's texts. Some terminals obey a C1 control in
them, and a bidirectional control shows the following text in another order; both are written as escapes
(``corpus.errors.visible``). The colour codes of rich begin with ESC and pass. A bar that is shown makes room.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from corpus.awaited import show_reading
from corpus.errors import one_line, visible
from synth.screen.bars import shown_bar
from synth.watch import show_bars, show_remarks, step_aside, watched_lines


class _Visible:
    """A text stream that shows control characters as escapes and is otherwise its original."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text with its escapes; return the number of its characters, as any stream does."""
        step_aside()
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several lines, one after the other, with their escapes."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def print_remark(remark: str) -> None:
    """Print a remark of an analysis as a line on standard error."""
    click.echo(one_line(f"synth: {remark}"), err=True)


@contextmanager
def visible_output() -> Iterator[None]:
    """Replace standard output and standard error within the block by streams that escape control characters.

    From now on, bars show how far long work is, and remarks of analyses are lines on standard error.
    """
    show_reading(watched_lines)
    show_bars(shown_bar)
    show_remarks(print_remark)
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream if isinstance(stream, _Visible) else _Visible(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
