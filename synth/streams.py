"""Standard output and standard error that hide nothing of what they are given, whoever writes to them.

Names of tests and devices, and what compilers say, are other people's texts. A C1 control in them is obeyed by some
terminals, and a bidirectional control shows what follows in another order; here both come out as escapes
(``corpus.errors.visible``). The codes for colours that rich writes begin with ESC and pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from corpus.errors import visible


class _Visible:
    """A text stream, but for what it writes."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text with its escapes; how many characters of it there were, as any stream says."""
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write one after the other."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Within the block, standard output and standard error are such streams."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (each if isinstance(each, _Visible) else _Visible(each) for each in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
