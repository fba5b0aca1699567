"""What ``synth export`` writes, for one program with every kind of instruction."""

import pytest

from corpus.dialects.dartagnan.ptx import PTX
from corpus.dialects.dartagnan.vulkan import VULKAN
from corpus.progress.as_litmus import RELAXED, VULKAN_RELAXED, axb_test
from corpus.progress.text import parse_axb

TEXT = """
    THREAD 0
    0: if (Exch(Mem[0],1) == 1) goto 0;
    1: if (Mem[1] == 0) goto END;
    2: Mem[0] = 0;
    THREAD 1
    0: if (Exch(Mem[0],2) == 1) goto END;
    THREAD 2
    0: Mem[1] = 1;
"""


@pytest.mark.parametrize(("dialect", "mode"), [(PTX, RELAXED), (VULKAN, VULKAN_RELAXED)], ids=["ptx", "vulkan"])
def test_litmus(golden, dialect, mode):
    golden(f"export/{dialect.name}.litmus", dialect.print(axb_test(parse_axb(TEXT), "3x5-0001", mode)))
