"""What the conformance tests of WebGPU call weak, and so a failure of the device (gpuweb/cts, execution/memory_model).

Each row is a pair of invocations as one of its tests makes them: storage, workgroup memory or a texture, atomic or
plain accesses, or plain ones of neighbouring f16 values, in one workgroup or two. A ``barrier`` is that of the memory.
There, each invocation does the first's part for one pair of locations and then the second's for another pair; of that,
barriers alone are left here. ``weak`` is the outcome that a device must not show, ``others`` are those that it may.
"""

import csv
from pathlib import Path

import pytest

from constraints.executions import judge_by_sat
from corpus.dialects.registry import parse_litmus
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import Answer, judge

with Path(__file__).with_name("webgpu_cts.csv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file))
WEBGPU = load_model(shipped_models()["webgpu"], "webgpu")
CLASSES = {"storage": "sc0", "workgroup": "sc1", "texture": "sc2"}


def instruction(statement, atomic, storage):
    """A statement of the table in the words of Vulkan that WGSL compiles to."""
    scope = "wg" if storage != "sc0" else "qf"
    match statement.split():
        case ["barrier"]:
            return f"cbar.acq_rel.wg.sem{storage} 0"
        case ["exchange", location, value]:
            return f"rmw.atom.{scope}.{storage} r9, {location}, {value}"
        case [register, "=", "add", location, value]:
            return f"rmw.atom.{scope}.{storage}.add {register}, {location}, {value}"
        case [location, "=", value] if value.isdecimal():
            return f"st.{f'atom.{scope}' if atomic else 'av.wg'}.{storage} {location}, {value}"
        case [register, "=", location]:
            return f"ld.{f'atom.{scope}' if atomic else 'vis.wg'}.{storage} {register}, {location}"
    raise ValueError(statement)


def written(row, outcome):
    """The test of a row that asks about an outcome."""
    how, memory = row["memory"].split()
    columns, owner = [], {}
    for thread, body in enumerate(filter(None, (row["first"], row["second"]))):
        statements = body.split("; ")
        owner |= {statement.split()[0]: f"P{thread}:" for statement in statements if statement[0] == "r"}
        columns.append([instruction(statement, how == "atomic", CLASSES[memory]) for statement in statements])
    rows = [
        " | ".join(column[number] if number < len(column) else "" for column in columns)
        for number in range(max(map(len, columns)))
    ]
    places = [
        f"P{thread}@sg {thread},wg {thread if row['groups'] == 'two' else 0},qf 0" for thread in range(len(columns))
    ]
    values = [part.split("=") for part in outcome.split()]
    asked = " /\\ ".join(f"{owner.get(name, '')}{name} == {value}" for name, value in values)
    lines = [f"{line} ;" for line in (" | ".join(places), *rows)]
    return parse_litmus("\n".join(["VULKAN t", "{ x=0; y=0; z=0; }", *lines, f"exists ({asked})"]))


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row['test']}-{row['memory']}-{row['groups']}")
def test_what_is_weak_is_forbidden_and_nothing_else(row):
    outcomes = {row["weak"]: Answer.FORBIDDEN} | dict.fromkeys(row["others"].split("|"), Answer.ALLOWED)
    for outcome, answer in outcomes.items():
        test = written(row, outcome)
        judgement = judge(test, WEBGPU)
        assert judgement.answer is answer, (outcome, row["source"])
        assert judgement.flags == (), "conformance tests do not race, and speak WGSL"
    assert judge_by_sat(written(row, row["weak"]), WEBGPU).answer is Answer.FORBIDDEN


def test_the_table_has_each_test_in_each_memory():
    assert len(TABLE) == len({tuple(row.values()) for row in TABLE}) == 57
    assert len({row["test"] for row in TABLE}) == 17
    every = {f"{how} {memory}" for how in ("atomic", "plain") for memory in CLASSES}
    assert {row["memory"] for row in TABLE} == every - {"atomic texture"} | {"f16 storage", "f16 workgroup"}
