"""What the authors of the proxies of PTX expect of stale reads through them (Lustig, Cooksey and Giroux, ISCA 2022).

Each row of the table is a store of 2 to a location and a load of it, generic or through the surface or the texture
proxy, in one thread, or in two that pass a message; fences of proxies stand after the store and before the load. With
aliases, the load is from another virtual address of the location. The verdict is on a load that misses the store, as
stated in the artifact of the paper.
"""

import csv
from pathlib import Path

import pytest

from constraints.executions import judge_by_sat
from corpus.dialects.registry import parse_litmus
from oracle.cat.syntax import shipped_models
from oracle.consistency import load_model
from oracle.executions.judge import judge

with Path(__file__).with_name("mixed_proxies.csv").open(encoding="utf-8", newline="") as file:
    TABLE = list(csv.DictReader(file))
MODELS = {name: load_model(shipped_models()[name], name) for name in ("ptx-7.5", "ptx")}
STORES = {"generic": "st.weak x, 2", "surface": "sust.weak s, 2"}
LOADS = {"generic": "ld.weak r1, y", "surface": "suld.weak r1, v", "texture": "tld.weak r1, t"}


def written(row):
    """The test of a row; y is x where there are no aliases."""
    aliased = "aliases" in row["shape"]
    before, after = ([f"fence.proxy.{kind}" for kind in row[side].split()] for side in ("before", "after"))
    load = LOADS[row["load"]] if aliased else LOADS[row["load"]].replace("y", "x").replace("v", "s")
    location = "y" if aliased else "x"
    first, second = [STORES[row["store"]], *before], [*after, load]
    scope = "cta" if "one CTA" in row["shape"] else "gpu"
    if row["shape"] == "one thread":
        columns, condition = [[*first, *second]], "P0:r1 == 0"
    else:
        columns = [[*first, f"st.release.{scope} f, 1"], [f"ld.acquire.{scope} r0, f", *second]]
        condition = "P1:r0 == 1 /\\ P1:r1 == 0"
    ctas = (0, 0) if scope == "cta" else (0, 1)
    rows = [
        " | ".join(column[number] if number < len(column) else "" for column in columns)
        for number in range(max(map(len, columns)))
    ]
    heading = " | ".join(f"P{thread}@cta {ctas[thread]},gpu 0" for thread in range(len(columns)))
    state = "x=0; f=0; s @ surface aliases x; y @ generic aliases x; "
    state += f"t @ texture aliases {location}; v @ surface aliases {location};"
    return parse_litmus(
        "\n".join(["PTX t", f"{{ {state} }}", *(f"{line} ;" for line in (heading, *rows)), f"exists ({condition})"])
    )


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: " ".join(row.values()).replace("NVlabs/mixedproxy ", ""))
def test_a_stale_read_is_what_its_authors_say(row, name):
    test = written(row)
    assert judge(test, MODELS[name]).answer == row["verdict"], row["source"]
    assert judge_by_sat(test, MODELS[name]).answer == row["verdict"]


def test_the_table_has_both_answers_and_each_shape():
    assert {row["verdict"] for row in TABLE} == {"ALLOWED", "FORBIDDEN"}
    assert len(TABLE) == len({tuple(row.values()) for row in TABLE}) > 100
    assert len({row["shape"] for row in TABLE}) == 5
