"""What memory tests are for gpuweb/cts, and which are none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import synth

from backends.wgsl.conformance import ConformanceTest, conformance_test
from backends.wgsl.conformance_files import suite_files
from corpus.dialects.registry import parse_litmus
from corpus.errors import InputError

EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
RELAXED = "memory_order_relaxed, memory_scope_device"
TWO = "global atomic_int* x, global atomic_int* y"


def said(
    *threads: str, groups: tuple[int, ...] = (), given: str = TWO, asked: str = "x = 1", start: str = "x = 0; y = 0;"
) -> ConformanceTest:
    bodies = [
        f"P{number}@wg {groups[number] if groups else number}, dev 0 ({given}) {{ {body} }}"
        for number, body in enumerate(threads)
    ]
    text = "\n\n".join([f"OPENCL t\n{{ {start} }}", *bodies, f"exists ({asked})\n"])
    return conformance_test(parse_litmus(text), "t")


def store(name: str, value: int) -> str:
    return f"atomic_store_explicit({name}, {value}, {RELAXED});"


def load(register: str, name: str) -> str:
    return f"int {register} = atomic_load_explicit({name}, {RELAXED});"


def code(test: ConformanceTest) -> list[str]:
    return [line.strip() for line in test.test_code.splitlines() if not line.strip().startswith("var ")]


def test_one_thread_comes_after_the_other() -> None:
    test = said(store("x", 1) + store("y", 1), load("r0", "y") + load("r1", "x"), asked="1:r0 = 1 /\\ 1:r1 = 0")
    assert (test.memory_type, test.test_type, test.aliased) == ("AtomicStorageClass", "InterWorkgroup", False)
    assert test.kind == "weak" and code(test) == [
        "atomicStore(&test_locations.value[x_0], 1u);",
        "atomicStore(&test_locations.value[y_0], 1u);",
        "p1_r0 = atomicLoad(&test_locations.value[y_1]);",
        "p1_r1 = atomicLoad(&test_locations.value[x_1]);",
        "atomicStore(&results.value[id_1].r0, p1_r0);",
        "atomicStore(&results.value[id_1].r1, p1_r1);",
    ]
    assert test.result_code.startswith("if ((r0 == 1u) && (r1 == 0u)) {\n    atomicAdd(&test_results.weak, 1u);")


def test_barriers_cut_the_threads_of_a_workgroup_together() -> None:
    barrier = "barrier(CLK_GLOBAL_MEM_FENCE);"
    test = said(store("x", 1) + barrier + store("y", 1), load("r0", "y") + barrier + load("r1", "x"), groups=(0, 0))
    assert test.test_type == "IntraWorkgroup" and test.kind == "barrier"
    assert code(test) == [
        "atomicStore(&test_locations.value[x_0], 1u);",
        "p1_r0 = atomicLoad(&test_locations.value[y_1]);",
        "storageBarrier();",
        "atomicStore(&test_locations.value[y_0], 1u);",
        "p1_r1 = atomicLoad(&test_locations.value[x_1]);",
    ]


def test_workgroups_have_their_barriers_one_after_the_other() -> None:
    threads = (store("x", 1) + "barrier(CLK_GLOBAL_MEM_FENCE);" + store("y", 1), load("r0", "x") + load("r1", "y"))
    lines = code(said(*threads, *threads[:1], groups=(0, 1, 2)))
    kept = [line for line in lines if not line.startswith("let ")]
    assert [line.split("(")[0].split(" = ")[-1] for line in kept] == [
        *("atomicStore", "storageBarrier", "atomicStore"),
        *("atomicLoad", "atomicLoad"),
        *("atomicStore", "storageBarrier", "atomicStore"),
    ]


def test_one_location_has_two_names() -> None:
    test = said(store("x", 1), load("r0", "x") + load("r1", "x"), given="global atomic_int* x", start="x = 0;")
    assert test.aliased and test.kind == "coherence"
    assert [re.findall(r"[xy]_\d", line) for line in code(test)] == [["x_0"], ["x_1"], ["y_1"]]


def test_workgroup_memory_is_copied_for_the_outcome() -> None:
    given = "local int* x"
    barrier = "barrier(CLK_LOCAL_MEM_FENCE);"
    test = said("*x = 2;" + barrier, barrier + "*x = 1;", groups=(0, 0), given=given, start="x = 0;", asked="x = 2")
    assert test.memory_type == "NonAtomicWorkgroupClass"
    assert code(test)[-2:] == [
        "workgroupBarrier();",
        "test_locations.value[shuffled_workgroup * workgroupXSize * stress_params.mem_stride * 2u + x_0] = "
        "wg_test_locations[x_0];",
    ]


def test_three_registers_share_the_words() -> None:
    test = said(
        load("r0", "x") + load("r1", "x") + load("r2", "x"), store("x", 1), asked="0:r0 = 1 /\\ 0:r1 = 0 /\\ 0:r2 = 1"
    )
    assert code(test)[-1] == "atomicOr(&results.value[id_0].r0, min(p0_r2, 255u) << 8u);"
    assert "((r0 >> 8u) & 255u) == 1u" in test.result_code


@pytest.mark.parametrize(("groups", "lanes"), [((0, 1, 2), 256), ((0, 1, 1), 256), ((0, 1, 0, 2, 1), 128)])
def test_further_threads_are_where_the_scope_tree_has_them(groups: tuple[int, ...], lanes: int) -> None:
    """The emitted expressions, evaluated for every invocation: each instance has one player of each thread."""
    testing = 8
    test = said(*(store("x", number + 1) for number in range(len(groups))), groups=groups)
    lines = [line[4:].rstrip(";") for line in test.test_code.splitlines() if re.match(r"let (lane|id)_", line)]
    players: list[dict[int, int]] = [{} for _ in groups]
    cast = [0, *sorted(range(1, len(groups)), key=lambda thread: thread != groups.index(1))]

    def permute(lane: int, factor: int, mask: int) -> int:
        return lane * factor % mask

    def stripe(group: int, lane: int) -> int:
        return (group + 1 + lane % (testing - 1)) % testing

    for group in range(testing):
        for lane in range(lanes):
            names = {"permute_id": permute, "stripe_workgroup": stripe, "workgroupXSize": lanes, "local": lane}
            names |= {"shuffled_workgroup": group, "factor": 101, "id_0": group * lanes + lane}
            names["id_1"] = stripe(group, lane) * lanes + permute(lane, 101, lanes)
            for line in lines:
                name, _, value = line.partition(" = ")
                value = value.replace("local_invocation_id[0]", "local").replace(
                    "stress_params.permute_first", "factor"
                )
                names[name] = eval(re.sub(r"(\d)u\b", r"\1", value), {}, names)
            for role, thread in enumerate(cast):
                assert players[thread].setdefault(names[f"id_{role}"], group) == group
    for instance in range(testing * lanes):
        homes = [each[instance] for each in players]
        assert [homes.index(home) for home in homes] == [groups.index(group) for group in groups]


@pytest.mark.parametrize(
    ("threads", "options", "message"),
    [
        ((store("x", 1),), {"given": f"{TWO}, global atomic_int* z", "start": "x = 0; y = 0; z = 0;"}, "has x, y, z"),
        ((store("x", 1),), {"start": "x = 3; y = 0;"}, "x: in the conformance suite memory is 0 at first"),
        ((store("x", 1) + "*y = 1;",), {"given": "global atomic_int* x, global int* y"}, "y plain ones, and a test"),
        (
            ("*x = 1;", store("y", 1)),
            {"given": "local int* x, global atomic_int* y"},
            "y has atomic accesses and x plain ones",
        ),
        (("*x = 1;", "*y = 1;"), {"given": "local int* x, global int* y"}, "P1 in another workgroup than P0"),
        (
            (f"while (atomic_load_explicit(x, {RELAXED}) == 0) {{}}", store("x", 1)),
            {},
            "P0 has a loop",
        ),
        (
            (f"atomic_store_explicit(x, 1, {RELAXED.replace('relaxed', 'release')});",),
            {},
            "P0: st.release.gpu x, 1: WGSL",
        ),
    ],
)
def test_what_cannot_be_said_is_refused_by_name(
    threads: tuple[str, ...], options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        said(*threads, **options)


def test_forall_and_wide_values_are_refused() -> None:
    text = f"OPENCL t\n{{ x = 0; }}\n\nP0@wg 0, dev 0 (global atomic_int* x) {{ {store('x', 1)} }}\n\nforall (x = 1)\n"
    with pytest.raises(InputError, match="forall is about all"):
        conformance_test(parse_litmus(text), "t")
    asked = "0:r0 = 1 /\\ 0:r1 = 0 /\\ 0:r2 = 255"
    with pytest.raises(InputError, match="beyond 8 bits"):
        said(load("r0", "x") + load("r1", "x") + load("r2", "x"), store("x", 1), asked=asked)


def test_no_name_leaves_its_quotes() -> None:
    text = f"OPENCL t\n{{ x = 0; }}\n\nP0@wg 0, dev 0 (global atomic_int* x) {{ {store('x', 1)} }}\n\nexists (x = 2)\n"
    test = conformance_test(parse_litmus(text), "a'; alert(`${1}`)/*")
    made = suite_files([replace(test, about="`${1}` /\\ x")], "")["coherence.spec.ts"]
    assert re.search(r"test: '[A-Za-z0-9_.+@-]+',", made) and re.search(r"g\.test\('\w+'\)", made)
    assert r"    \`\${1}\` /\\ x" in made


def test_each_name_is_one_case() -> None:
    with pytest.raises(InputError, match="two tests are called t"):
        suite_files([said(store("x", 1)), said(store("x", 2))], "")


def exported(folder: Path, *words: str) -> tuple[int, str]:
    result = synth("export", *words, "--to", "webgpu-cts", "-o", folder)
    return result.exit_code, result.output


def test_only_what_is_forbidden_is_a_conformance_test(tmp_path: Path) -> None:
    exit_code, output = exported(tmp_path / "cts", str(EXAMPLES / "webgpu"))
    assert exit_code == 2 and "12 of 26 tests" in output
    assert "mp.litmus: webgpu allows its outcome, and a device that shows it conforms" in output
    assert "no-barrier.litmus: webgpu makes no promise: data-race" in output
    assert "storage-barrier-texture.litmus: P0: st.cta.av.sc2 x, 1: WGSL has memory of classes" in output
    names = {path.name for path in (tmp_path / "cts").iterdir()}
    assert names == {"atomicity.spec.ts", "barrier.spec.ts", "coherence.spec.ts", "memory_test.ts", "README.txt"}


def test_models_and_drops_are_for_litmus_files(tmp_path: Path) -> None:
    exit_code, output = exported(tmp_path / "cts", str(EXAMPLES / "webgpu" / "corr.litmus"), "--model", "sc")
    assert exit_code == 2 and "--model is for litmus files" in output


def test_a_file_of_tests(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    exported(
        tmp_path / "cts", *(str(EXAMPLES / "webgpu" / f"{name}.litmus") for name in ("mp-barrier", "both-barriers"))
    )
    golden("export/webgpu-cts.barrier.spec.ts", (tmp_path / "cts" / "barrier.spec.ts").read_text(encoding="utf-8"))
