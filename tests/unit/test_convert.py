"""``synth convert``: one file, folders and indexes, what a dialect cannot say, what may be dropped."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from commands import synth
from litmus_random import PTX_2019, SCOPED_C, random_test

from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.dialects.storage_classes import with_classes, without_classes
from corpus.litmus.instructions import Load, Rmw, Store
from corpus.litmus.locations import Loc, Region
from corpus.litmus.normal import litmus_digest
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.text import Dialect
from oracle.consistency import resolve_consistency_models
from synth.inputs import expand

WEAK, RELAXED, ACQUIRE, RELEASE, ACQ_REL, _ = Order
ACCESSES = Load | Store | Rmw
EXAMPLES = Path(__file__).parents[2] / "examples" / "memory"
PLAIN = """\
PTX MP
"message passing"
{ x=0; y=0; }
 P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
 st.weak x, 1   | ld.weak r1, y  ;
 st.weak y, 1   | ld.weak r2, x  ;
exists (P1:r1 == 1 /\\ P1:r2 == 0)
"""
SCOPED = PLAIN.replace("st.weak y, 1", "st.release.cta y, 1").replace("PTX MP", "PTX MP+rel")
CACHED = """\
GPU_PTX MP
{ 0:.reg .b64 r0 = x; 1:.reg .b64 r0 = x; 1:.reg .s32 r1; }
 T0                      | T1                      ;
 st.cg.s32 [r0], 1       | ld.ca.s32 r1, [r0]      ;
 st.volatile.s32 [r0], 2 | ld.volatile.s32 r1,[r0] ;
ScopeTree(grid(cta(warp T0)) (cta(warp T1)))
x: global
exists (1:r1 = 1)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"plain": PLAIN, "scoped": SCOPED, "cached": CACHED, "cut": PLAIN[: len(PLAIN) // 2]}.items():
        (tmp_path / f"{name}.litmus").write_text(text)
    return tmp_path


def test_one_file_goes_to_standard_output(folder):
    result = synth("convert", "plain.litmus", "--to", "gpu-ptx")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("GPU_PTX MP\n")
    assert litmus_digest(parse_litmus(result.stdout)) == litmus_digest(parse_litmus(PLAIN))


def test_one_file_goes_to_a_file_or_into_a_folder(folder):
    assert synth("convert", "plain.litmus", "--to", "c", "-o", "out.litmus").exit_code == 0
    assert (folder / "out.litmus").read_text().startswith("C MP\n")
    (folder / "empty").mkdir()
    assert synth("convert", "plain.litmus", "--to", "c", "-o", "empty").exit_code == 0
    assert (folder / "empty" / "plain.litmus").read_text() == (folder / "out.litmus").read_text()
    assert (folder / "empty" / "@all").read_text() == "plain.litmus\n"


@pytest.mark.parametrize("name", sorted({*DIALECTS} - {"vulkan"}))  # whose accesses have storage classes
def test_there_and_back_is_the_same_text(folder, name):
    assert synth("convert", "plain.litmus", "--to", name, "-o", "there.litmus").exit_code == 0
    back = synth("convert", "there.litmus", "--to", "ptx").stdout
    assert litmus_digest(parse_litmus(back)) == litmus_digest(parse_litmus(PLAIN))


def test_a_folder_of_lisa_has_the_bell_file(folder):
    assert synth("convert", "plain.litmus", "scoped.litmus", "--to", "lisa", "-o", "out").exit_code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        "@all",
        "plain.litmus",
        "scoped.litmus",
        "synth.bell",
    ]
    assert "enum scopes" in (folder / "out" / "synth.bell").read_text()


def test_several_files_need_a_new_folder(folder):
    refused = synth("convert", "plain.litmus", "scoped.litmus", "--to", "ptx")
    assert refused.exit_code == 2 and "several files need -o FOLDER" in refused.stderr
    done = synth("convert", "scoped.litmus", "plain.litmus", "--to", "ptx", "-o", "out")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "2 of 2 tests in out\n", "")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["@all", "plain.litmus", "scoped.litmus"]
    assert (folder / "out" / "@all").read_text() == "scoped.litmus\nplain.litmus\n"
    again = synth("convert", "scoped.litmus", "plain.litmus", "--to", "ptx", "-o", "out")
    assert again.exit_code == 2 and "out: the output exists and is not an empty folder" in again.stderr


def test_what_a_dialect_cannot_say_is_one_line_and_the_others_are_converted(folder):
    one = synth("convert", "scoped.litmus", "--to", "c")
    assert one.exit_code == 2 and one.stdout == ""
    assert one.stderr.startswith("synth: scoped.litmus: P0: st.release.cta y, 1: ") and one.stderr.count("\n") == 1
    batch = synth("convert", ".", "--to", "c", "-o", "out")
    assert batch.exit_code == 2
    lines = batch.stderr.splitlines()
    assert [line.split(": ")[1].split(":")[0] for line in lines[:-1]] == [
        "cached.litmus",
        "cut.litmus",
        "scoped.litmus",
    ]
    assert lines[-1] == "1 of 4 tests in out"
    assert (folder / "out" / "@all").read_text() == "plain.litmus\n"
    assert (folder / "out" / "plain.litmus").read_text().startswith("C MP\n")


def test_a_batch_of_which_nothing_can_be_said_leaves_nothing(folder):
    result = synth("convert", "scoped.litmus", "cut.litmus", "--to", "c", "-o", "out")
    assert result.exit_code == 2 and result.stderr.endswith("\n0 of 2 tests in out\n")
    assert not (folder / "out").exists()


def test_caches_and_volatile_are_dropped_on_demand_only(folder):
    refused = synth("convert", "cached.litmus", "--to", "ptx")
    assert refused.exit_code == 2 and "P0: st.cg x, 1: the PTX dialect has no cache operators" in refused.stderr
    half = synth("convert", "cached.litmus", "--to", "ptx", "--drop", "cache")
    assert half.exit_code == 2 and "P0: st.volatile x, 2: the PTX dialect has no volatile accesses" in half.stderr
    result = synth("convert", "cached.litmus", "--to", "ptx", "--drop", "cache", "--drop", "volatile")
    assert result.exit_code == 0
    modes = {
        ins.mode
        for thread in parse_litmus(result.stdout).threads
        for ins in thread.instructions
        if isinstance(ins, Load | Store)
    }
    assert modes == {Mode(), Mode(Order.RELAXED, Scope.SYS)}


def test_two_files_of_one_name_are_refused(folder):
    (folder / "other").mkdir()
    (folder / "other" / "plain.litmus").write_text(PLAIN)
    result = synth("convert", "plain.litmus", "other", "--to", "ptx", "-o", "out")
    assert result.exit_code == 2
    assert "plain.litmus and other/plain.litmus would be one file, plain.litmus" in result.stderr


def test_indexes_name_files_and_indexes(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "@all").write_text("../scoped.litmus # a comment\n")
    (folder / "@some").write_text("# nothing\n\nplain.litmus\nsub/@all\n")
    assert list(map(str, expand(["@some"]))) == ["plain.litmus", "sub/../scoped.litmus"]
    assert list(map(str, expand(["sub"]))) == ["sub/../scoped.litmus"]
    done = synth("convert", "@some", "--to", "ptx", "-o", "out")
    assert done.exit_code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["@all", "plain.litmus", "scoped.litmus"]


def test_inputs_that_are_none(folder):
    (folder / "hollow").mkdir()
    (folder / "@loop").write_text("@loop\n")
    (folder / "@lost").write_text("gone.litmus\n")
    (folder / "@bytes").write_bytes(b"plain.litmus\na\0b\n")
    for given, message in {
        "hollow": "hollow: the folder is no corpus and holds no .axb file, no .litmus file and no index @all",
        "@loop": "@loop: the index names itself",
        "@lost": "gone.litmus: cannot read: No such file or directory",
        "@bytes": "@bytes:2:1: expected the name of a file, found 'a\\x00b'",
        "@none": "@none: cannot read: No such file or directory",
        "gone.litmus": "gone.litmus: cannot read: No such file or directory",
    }.items():
        result = synth("convert", given, "--to", "ptx", "-o", "out")
        assert result.exit_code == 2 and message in result.stderr, result.stderr
        assert not (folder / "out").exists()


def test_a_dialect_that_loses_something_is_not_believed():
    lossy = Dialect("lossy", "PTX", DIALECTS["ptx"].parse, lambda test: PLAIN)
    assert translate(parse_litmus(PLAIN), lossy) == PLAIN
    with pytest.raises(Exception, match="lossy would make it another test"):
        translate(parse_litmus(SCOPED), lossy)


def test_the_help_has_a_line_for_every_dialect(folder):
    lines = synth("convert", "--help").stdout.splitlines()
    for name in DIALECTS:
        assert any(line.startswith(f"  {name} ") for line in lines), name


def verdict(text, model):
    (judge,) = resolve_consistency_models([model])
    return judge.judge(parse_litmus(text)).answer


@pytest.mark.parametrize("name", ["c-mp-rel-acq", "c-mp-rlx", "c-mp-fences", "c-corr-rlx", "c-atomicity", "c-lb-rlx"])
def test_c_in_vulkan_is_as_it_was(name):
    text = synth("convert", EXAMPLES / f"{name}.litmus", "--to", "vulkan", "--storage", "sc2").stdout
    assert verdict(text, "vulkan") == verdict((EXAMPLES / f"{name}.litmus").read_text(), "rc11-scoped")


@pytest.mark.parametrize("name", ["cl-mp-dev-scope", "cl-mp-wg-scope", "cl-mp-wg-scope-same-wg"])
def test_scopes_of_opencl_in_vulkan_are_as_they_were(name):
    text = synth("convert", EXAMPLES / f"{name}.litmus", "--to", "vulkan", "--storage", "sc0").stdout
    assert verdict(text, "vulkan") == verdict((EXAMPLES / f"{name}.litmus").read_text(), "rc11-scoped")


@pytest.mark.parametrize("profile", [PTX_2019, SCOPED_C], ids=lambda profile: profile.name)
def test_to_vulkan_and_back_is_the_same_test(profile):
    orders = {"loads": (WEAK, RELAXED, ACQUIRE), "stores": (WEAK, RELAXED, RELEASE), "fences": (ACQ_REL,)}
    plain = replace(profile, **orders, rmws=(RELAXED, ACQ_REL), scopes=(Scope.CTA, Scope.GPU), levels=(Scope.CTA,))
    for number in range(100):
        test = random_test(Random(f"{profile.name} {number}"), plain)
        there = with_classes(test, ("sc0", "sc1"))
        used = {ins.address for thread in there.threads for ins in thread.instructions if isinstance(ins, ACCESSES)}
        unused = [location for location in test.locations if Loc(location.name) not in used]
        if not any(location.region is Region.SHARED for location in unused):  # of which nothing says where they are
            assert litmus_digest(without_classes(there, ("sc0", "sc1"))) == litmus_digest(test)


VULKAN = """\
VULKAN t
{{ x=0; y=0; }}
 P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0     ;
 {}                | ld.atom.dv.sc0 r1, y  ;
exists (P1:r1 == 0)
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("st.sc0 x, 1", "other languages have no private accesses"),
        ("st.av.wg.sc0 x, 1", "it is made available or visible to a part of the threads alone"),
        ("st.atom.dv.sc1 x, 1", "no memory is known for sc1; --storage names sc0"),
        ("avdevice", "other languages have no operations of the device"),
        ("membar.acq.dv.semsc1", "an order of another language speaks for semsc0"),
        ("cbar.wg 0", "barriers of other languages order memory"),
        ("cbar.acq.wg.semsc0 0", "barriers of other languages acquire and release for all who meet"),
        ("cbar.acq_rel.sg.semsc0 0", "barriers of other languages acquire and release for all who meet"),
    ],
)
def test_what_only_vulkan_says_is_refused_by_name(folder, line, reason):
    (folder / "v.litmus").write_text(VULKAN.format(line))
    result = synth("convert", "v.litmus", "--to", "opencl", "--storage", "sc0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("synth: v.litmus: P0: ") and result.stderr.endswith(f": {reason}\n")


def test_what_makes_nothing_available_is_refused_where_something_needs_it(folder):
    text = VULKAN.format("st.nonpriv.sc0 x, 1").replace("ld.atom.dv.sc0", "ld.atom.acq.dv.sc0.semsc0")
    (folder / "v.litmus").write_text(text)
    result = synth("convert", "v.litmus", "--to", "ptx", "--storage", "sc0")
    assert "without semvis it is weaker than in other languages" in result.stderr
    (folder / "v.litmus").write_text(text.replace("st.nonpriv", "st.av.dv"))
    assert synth("convert", "v.litmus", "--to", "ptx", "--storage", "sc0").exit_code == 0


def test_shared_memory_is_a_class_of_its_own(folder):
    given = ("convert", EXAMPLES / "sb-shared-global.litmus", "--to", "vulkan", "--drop", "cache", "--storage")
    one = synth(*given, "sc0")
    assert one.exit_code == 2 and "is in shared memory, which needs a second storage class" in one.stderr
    two = synth(*given, "sc0,sc3")
    assert two.exit_code == 0 and "st.nonpriv.sc3 x, 1" in two.stdout and "st.nonpriv.sc0 y, 1" in two.stdout


def test_aliases_do_not_go_from_one_language_to_another(folder):
    (folder / "v.litmus").write_text(VULKAN.format("st.atom.dv.sc0 z, 1").replace("y=0;", "y=0; z aliases x;"))
    result = synth("convert", "v.litmus", "--to", "ptx", "--storage", "sc0")
    assert "z is another reference to x" in result.stderr


@pytest.mark.parametrize("classes", ["sc4", "sc0,sc0", "sc0,sc1,sc2", ""])
def test_storage_classes_that_are_none(folder, classes):
    result = synth("convert", "plain.litmus", "--to", "vulkan", "--storage", classes)
    assert result.exit_code == 2


def test_a_scope_of_all_threads_is_that_of_the_system_in_c(folder):
    (folder / "t.litmus").write_text(SCOPED.replace("release.cta", "release.gpu"))
    assert "memory_order_release" in synth("convert", "t.litmus", "--to", "c").stdout
    assert synth("convert", "scoped.litmus", "--to", "c").exit_code == 2
