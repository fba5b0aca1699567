"""What ``synth fix`` makes of the kernels of ``examples/kernels`` that race or fail what is expected
(``kernels_repairs.csv``).

A repair is a row of changes: the line of the kernel, the instruction, and its order and scope; a ``new fence`` stands
before the line, a ``barrier`` between two lines. ``none``: orders, scopes, fences and barriers do not help, as where an
update is no atomic one. Kernels in which nothing is found have nothing to change.
"""

import csv
import json
import re
from pathlib import Path

import pytest
from commands import synth

from constraints.witnesses import ExecutionSearch
from synth.checking.questions import flagging
from synth.checking.sources import read_kernels
from synth.checking.tasks import tasks_of
from synth.repair.kernels import KernelRepairRequest, find_repairs
from synth.requests import read_launch

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "examples" / "kernels"
REPAIRED = ("race", "expectation", "trap", "bounds")
REFUSED = {"mixed-size": "of one place and size", "compaction-overflow": "outside of its array"}
QUICK = ("counter", "mp-barrier-missing", "mp-orders", "mp-plain-flag", "rw-lock-unfenced", "spinlock-exch-unfenced")


def table(name):
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VERDICTS = {(row["file"], row["kernel"], row["launch"]): row for row in table("kernels.csv")}
REPAIRS = {(row["file"], row["kernel"], row["launch"]): row["repair"] for row in table("kernels_repairs.csv")}
FILES = sorted({file for file, _, _ in VERDICTS if "/" not in file})


def test_a_kernel_has_a_repair_or_none_where_something_is_found():
    plain = {key: row for key, row in VERDICTS.items() if key[0] in FILES}
    found = {key for key, row in plain.items() if any(row[name] == "FOUND" for name in REPAIRED)}
    assert found == set(REPAIRS) | {("compaction-overflow", "compaction_overflow", "2x1")}


@pytest.mark.device
@pytest.mark.parametrize(
    "file",
    [pytest.param(each, marks=[] if each in QUICK else pytest.mark.slow) for each in FILES if each not in REFUSED],
)
def test_the_cheapest_repair(file, need):
    need("cuda")
    result = synth("fix", KERNELS / f"{file}.cu", "--json", "-j", 1)
    for line in result.stdout.splitlines():
        found = json.loads(line)
        repairs = found["repairs"]
        said = "; ".join(short(change["change"]) for change in repairs[0]["changes"]) if repairs else "none"
        assert said == REPAIRS.get((file, found["kernel"], found["launch"]), "")


def short(change):
    """A change in few words, as the table has it: ``9 load acquire gpu``."""
    where, _, what = change.partition(": ")
    if what.startswith("let all"):
        return " ".join(re.findall(r":(\d+)", where)) + " barrier"
    said = re.match(r"(?:make this|put a) (\w+) (\w+) at (\w+) scope", what)
    new = "new " * what.startswith("put")
    return f"{where.rpartition(':')[2]} {new}{' '.join(said.groups()) if said else what}"


@pytest.mark.device
@pytest.mark.parametrize(
    ("file", "allowed", "changes"),
    [
        (
            "cluster-arrive-cta-scope",
            "orders,scopes",
            [
                "28: make this wait at an mbarrier acquire at cluster scope (.acquire.cluster)",
                "26: make this arrival at an mbarrier release at cluster scope (.release.cluster)",
            ],
        ),
        pytest.param(
            "bulk-store-no-fence",
            "fences,orders,scopes",
            ["13: put a fence between the proxies before this copy (fence.proxy.async)"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_orders_at_mbarriers_and_fences_of_the_proxy(file, allowed, changes, need):
    need("cuda")
    result = synth("fix", KERNELS / "async" / f"{file}.cu", "--allow", allowed, "--json", "-j", 1)
    (found,) = map(json.loads, result.stdout.splitlines())
    assert [change["change"].rpartition(".cu:")[2] for change in found["repairs"][0]["changes"]] == changes


@pytest.mark.device
@pytest.mark.parametrize("file", ["mp-barrier-missing", "reduce-no-barrier", "spinlock-exch-unfenced"])
def test_a_repaired_kernel_comes_to_its_end_without_a_race(file, need):
    """Judged anew: it would not race either where a new barrier kept all threads waiting."""
    need("cuda")
    asked = KernelRepairRequest("ptx", False, ("orders", "scopes", "barriers"), "cuda", False, 2)
    model = flagging("ptx")
    for task in tasks_of(read_kernels(KERNELS / f"{file}.cu"), read_launch([])):
        found = find_repairs(task, asked, task.programs(model, 2), asked.allowed)
        search = ExecutionSearch(found.repairs[0].tests[0], model, 2)
        assert search.find([]) is not None
        assert all(search.find([flag]) is None for flag in search.executions.flags.values())
        assert search.find(search.question) is None, "what is expected holds"


@pytest.mark.device
def test_what_is_stronger_than_it_has_to_be(need):
    """Fences of both sides where one is enough, a scope that is too wide; and a kernel that is as weak as it can be."""
    need("cuda")
    result = synth("fix", "--weaken", KERNELS / "mp-orders.cu", KERNELS / "ticket-lock.cu", "--json", "-j", 2)
    found = {one["kernel"]: one["repairs"] for one in map(json.loads, result.stdout.splitlines())}
    changes = {
        name: [short(each["change"]) for each in repairs[0]["changes"]] for name, repairs in found.items() if repairs
    }
    assert result.exit_code == 1, "some of the file race, and nothing of these is made weaker"
    assert found["mp_relaxed"] == [] and changes["ticket_lock"] == changes["mp_release_acquire"] == []
    assert changes["mp_release_acquire_system"] == ["26 store release gpu", "26 load acquire gpu"]
    assert len(found["ticket_lock"][0]["kept"]) == 3


@pytest.mark.device
@pytest.mark.parametrize(("file", "why"), REFUSED.items())
def test_what_is_undefined_is_not_repaired(file, why, need):
    need("cuda")
    result = synth("fix", KERNELS / f"{file}.cu")
    assert result.exit_code == 2 and "UNKNOWN" in result.stdout and why in result.stdout
