"""The generated text of two tests in every language and mapping; ``pytest --promote`` accepts a change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from program_parts import PARTS

from backends.registry import BACKENDS
from corpus.progress.text import parse_axb

FILED = [name for name, each in BACKENDS.items() if each.bundle is None]  # the web page has the shaders of WGSL
MUTEX = parse_axb(
    "THREAD 0\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
    "THREAD 1\n0: if (Exch(Mem[0],1) == 1) goto 0;\n1: Mem[0] = 0;\n"
)
THREE_THREADS_TWO_LOCATIONS = parse_axb(
    "THREAD 0\n0: Mem[0] = 1;\n"
    "THREAD 1\n0: if (Mem[0] == 0) goto 0;\n1: Mem[1] = 3;\n"
    "THREAD 2\n0: if (Exch(Mem[1],2) == 3) goto END;\n1: if (Mem[0] == 0) goto 1;\n"
)


@pytest.mark.parametrize("backend", FILED)
@pytest.mark.parametrize(
    ("name", "mapping"), [("mutex", "plain"), ("mutex", "round-robin"), ("three-threads", "chunked")]
)
def test_text(name: str, mapping: str, backend: str, golden: Callable[..., None]) -> None:
    program = MUTEX if name == "mutex" else THREE_THREADS_TWO_LOCATIONS
    language = BACKENDS[backend]
    file, text = next(iter(language.progress_files(name, language.launch(program, mapping, 4)).items()))
    golden(f"backends/{file}", text, PARTS)


@pytest.mark.parametrize("backend", [name for name in FILED if BACKENDS[name].progress.item])
@pytest.mark.parametrize(
    ("name", "mapping", "placement"), [("mutex", "round-robin", "workgroup"), ("three-threads", "chunked", "subgroup")]
)
def test_text_within_groups(name: str, mapping: str, placement: str, backend: str, golden: Callable[..., None]) -> None:
    program = MUTEX if name == "mutex" else THREE_THREADS_TWO_LOCATIONS
    language = BACKENDS[backend]
    file, text = next(iter(language.progress_files(name, language.launch(program, mapping, 4, placement)).items()))
    assert file == f"{name}.{mapping}.{placement}{language.suffix}"
    golden(f"backends/{file}", text, PARTS)
