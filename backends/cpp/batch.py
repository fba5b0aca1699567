"""Puts many tests in one C++ program. So g++ reads the headers of its library, its longest work, only once.

The text of each test stays as it is (``backends.cpp.memory``, ``backends.cpp.progress``), in a namespace of its own; so
a test is compiled as it would be by itself, but for its place in memory. The program runs the test whose number is its
first argument, with the others as if they were its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from backends.cpp.memory import ITS_OWN
from backends.cpp.progress import HEADERS

_DEFINED = re.compile(r"^#define (\w+)", re.MULTILINE)


def together(texts: Sequence[str]) -> str:
    """Return the text of a program of several tests of one family; there must be one test at least."""
    common = ITS_OWN if ITS_OWN in texts[0] else HEADERS
    head, _, _ = texts[0].partition(common)
    parts = [head + common]
    for number, text in enumerate(texts):
        own = text.partition(common)[2]
        forgotten = "".join(f"#undef {name}\n" for name in _DEFINED.findall(own))
        parts.append(f"namespace test{number} {{\n{own}}}\n{forgotten}")
    cases = "".join(
        f"    case {number}: return test{number}::main(argc - 1, argv + 1);\n" for number in range(len(texts))
    )
    parts.append(
        "int main(int argc, char** argv) {\n"
        f"    switch (argc > 1 ? std::strtol(argv[1], nullptr, 10) : -1) {{\n{cases}    }}\n"
        "    return 2;\n}\n"
    )
    return "".join(parts)
