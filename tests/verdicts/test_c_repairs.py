"""Repairs of programs in C: the orders that ``synth fix`` asks for are those with which the program is right."""

import json
import re
from pathlib import Path

import pytest
from commands import synth

PROGRAMS = Path(__file__).parents[2] / "examples" / "c"

REPAIRS = {
    "treiber-stack-relaxed": "23: make this atomic release (memory_order_release)",
    "ticket-lock-relaxed": "27: make this store release (memory_order_release)",
    "rw-lock-relaxed": "25: make this atomic release (memory_order_release)",
}
"""What is repaired by one order, and which that is, by the bug that docs/c.md tells."""


@pytest.mark.parametrize("name", REPAIRS)
def test_a_repaired_program_is_right(name, tmp_path):
    result = synth("fix", PROGRAMS / f"{name}.c", "--json")
    assert result.exit_code == 0, result.output
    row = json.loads(result.stdout)
    changes = [change["change"] for change in row["repairs"][0]["changes"]]
    lines = (PROGRAMS / f"{name}.c").read_text().splitlines()
    assert changes == [f"{name}.c:{REPAIRS[name]}"]
    for change in changes:
        line, kind, order = re.fullmatch(r".*\.c:(\d+): make this (\w+) \w+ \((memory_order_\w+)\)", change).groups()
        assert "memory_order_relaxed" in lines[int(line) - 1], kind
        lines[int(line) - 1] = lines[int(line) - 1].replace("memory_order_relaxed", order, 1)
    repaired = tmp_path / "repaired.c"
    repaired.write_text("\n".join(lines) + "\n")
    assert synth("check", repaired, "--jobs", 1).exit_code == 0


def test_what_is_right_needs_no_change():
    result = synth("fix", PROGRAMS / "ttas-lock.c")
    assert result.exit_code == 0
    assert "nothing to change" in result.stdout


def test_what_orders_do_not_repair_is_told(tmp_path):
    program = tmp_path / "freed.c"
    program.write_text(
        "#include <pthread.h>\n#include <stdlib.h>\nint *x;\n"
        "void *use(void *a) { free(x); *x = 1; return 0; }\n"
        "int main(void) { pthread_t t; x = malloc(4); pthread_create(&t, 0, use, 0); *&x; return 0; }\n"
    )
    result = synth("fix", program)
    assert result.exit_code == 1
    assert "no repair: no allowed change of orders, scopes, fences and barriers does it" in result.stdout
