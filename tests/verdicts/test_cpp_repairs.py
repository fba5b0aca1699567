"""Repairs of programs in C++: what ``synth fix`` says is put into the source, which is then right."""

import json
from pathlib import Path

import pytest
from commands import synth

PROGRAMS = Path(__file__).parents[2] / "examples" / "cpp"

EXAMPLES = {
    "ttas-lock-relaxed": {"12: make this atomic acquire (std::memory_order_acquire)"},
    "treiber-stack-relaxed": {"23: make this atomic release (std::memory_order_release)"},
    "lazy-singleton-relaxed": {"11: make this load acquire (std::memory_order_acquire)"},
    "rw-lock-relaxed": {"24: make this atomic release (std::memory_order_release)"},
    "peterson-release": {
        "10: make this store sc (std::memory_order_seq_cst)",
        "11: make this store sc (std::memory_order_seq_cst)",
    },
}
"""What is repaired, by the bugs that the names of the programs say."""

HEAD = "#include <atomic>\n#include <cassert>\n#include <thread>\n"

MESSAGE = """using namespace std;
atomic<int> flag;
int item;
int main()
{
    thread one{[] { item = 1; STORE; }};
    thread two{[] { if (LOAD) assert(item == 1); }};
    one.join(); two.join();
}
"""

SPELLED = {
    "plain": ("flag.store(1, memory_order_relaxed)", "flag.load()", "memory_order_release"),
    "enumeration": ("flag.store(1, memory_order::relaxed)", "flag", "memory_order::release"),
    "full": (
        "flag.store(1, std::memory_order_relaxed)",
        "flag.load(memory_order_acquire)",
        "std::memory_order_release",
    ),
    "lines": ("flag.store((1, 1),\n   memory_order_relaxed)", "flag.load()", "memory_order_release"),
    "function": ("atomic_store_explicit(&flag, 1, memory_order_relaxed)", "atomic_load(&flag)", "memory_order_release"),
    "reference": (
        "static int own; atomic_ref<int>(own).store(0); flag.store(1, memory_order::relaxed)",
        "flag == 1",
        "memory_order::release",
    ),
    "acquired": ("flag = 1", "flag.load(memory_order_relaxed)", "memory_order_acquire"),
    "added": ("flag++", "flag.fetch_add(0, memory_order_relaxed)", "memory_order_acquire"),
    "exchanged": ("flag |= 1", "flag.exchange(0, memory_order_relaxed)", "memory_order_acquire"),
}


def repaired(program, *options):
    result = synth("fix", program, "--json", *options)
    assert result.exit_code == 0, result.output
    (first, *_) = json.loads(result.stdout)["repairs"]
    return first["changes"]


def with_edits(text, changes):
    """Return a program with what is to stand at its places."""
    lines = text.splitlines()
    edits = [edit for change in changes for edit in change["edits"]]
    for edit in sorted(edits, key=lambda edit: (edit["line"], edit["column"]), reverse=True):
        line, start = lines[edit["line"] - 1], edit["column"] - 1
        assert line[start : start + len(edit["old"])] == edit["old"]
        lines[edit["line"] - 1] = line[:start] + edit["new"] + line[start + len(edit["old"]) :]
    return "\n".join(lines) + "\n"


def is_right(path, text):
    path.write_text(text, encoding="utf-8")
    result = synth("check", path, "--jobs", 1)
    assert result.exit_code in (0, 1), result.output
    return result.exit_code == 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_repaired_program_is_right(name, tmp_path):
    changes = repaired(PROGRAMS / f"{name}.cpp")
    assert {change["change"] for change in changes} == {f"{name}.cpp:{change}" for change in EXAMPLES[name]}
    assert is_right(tmp_path / "repaired.cpp", with_edits((PROGRAMS / f"{name}.cpp").read_text(), changes))


@pytest.mark.parametrize("name", SPELLED)
def test_orders_are_those_of_the_source(name, tmp_path):
    store, load, word = SPELLED[name]
    text = HEAD + MESSAGE.replace("STORE", store).replace("LOAD", load)
    program = tmp_path / "message.cpp"
    assert not is_right(program, text)
    (change,) = repaired(program)
    assert [edit["new"] for edit in change["edits"]] == [word]
    assert is_right(program, with_edits(text, [change]))


def test_a_fence_is_put_where_no_order_may_change(tmp_path):
    text = HEAD + MESSAGE.replace("STORE", "\nflag.store(1, memory_order_relaxed)").replace("LOAD", "flag.load()")
    program = tmp_path / "message.cpp"
    program.write_text(text, encoding="utf-8")
    (change,) = repaired(program, "--allow", "fences")
    words = "10: put a fence release before this store (std::atomic_thread_fence(std::memory_order_release))"
    assert change["change"] == f"message.cpp:{words}"
    assert is_right(program, text.replace("\nflag.", "\nstd::atomic_thread_fence(std::memory_order_release); flag."))


@pytest.mark.parametrize(
    ("before", "order"),
    [
        ("constexpr auto weak = std::memory_order_relaxed;\n", "weak"),
        ("template <std::memory_order O> void put(std::atomic<int>& x) { x.store(1, O); }\n", "O"),
        ("#define WEAK std::memory_order_relaxed\n", "WEAK"),
    ],
)
def test_an_order_of_another_name_stays(before, order, tmp_path):
    store = "put<memory_order_relaxed>(flag)" if order == "O" else f"flag.store(1, {order})"
    text = HEAD + before + MESSAGE.replace("STORE", store).replace("LOAD", "flag.load()")
    program = tmp_path / "message.cpp"
    program.write_text(text, encoding="utf-8")
    result = synth("fix", program, "--allow", "orders")
    assert result.exit_code == 1
    assert f"this store is not changed: its order is {order}, a name that others may have" in result.stdout


def test_operators_are_written_as_members_where_less_is_enough(tmp_path):
    text = HEAD + MESSAGE.replace("STORE", "flag = 1").replace("LOAD", "flag")
    program = tmp_path / "message.cpp"
    program.write_text(text, encoding="utf-8")
    changes = {change["change"] for change in repaired(program, "--weaken")}
    assert changes == {
        "message.cpp:9: make this store release (.store(.., std::memory_order_release))",
        "message.cpp:10: make this load acquire (.load(std::memory_order_acquire))",
    }
    text = text.replace("flag = 1", "flag.store(1, std::memory_order_release)")
    assert is_right(program, text.replace("if (flag)", "if (flag.load(std::memory_order_acquire))"))
