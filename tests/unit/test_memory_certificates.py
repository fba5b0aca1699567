"""Certificates of memory suites: a whole one is accepted, and whatever is changed in it is refused and named."""

from __future__ import annotations

import json
import shutil
from itertools import islice
from pathlib import Path

import msgspec
import pytest
from certified import change_request, change_test, lines, refused, rewrite
from commands import synth

from constraints.circuit import Circuit
from constraints.cycles import CycleBounds, CycleEncoding, cycles
from constraints.programs.forbidden import Forbidden
from constraints.programs.skeleton import ProgramSkeleton
from constraints.proofs import prove_unsatisfiable
from corpus.cycles.cycle import cycle_text, parse_cycle
from corpus.cycles.edges import parse_edges
from corpus.errors import InputError
from corpus.executions.text import parse_execution
from corpus.executions.vocabulary import vocabulary
from corpus.journal import read_corpus
from corpus.litmus.locations import Region
from corpus.suite import write_corpus
from oracle.cat.syntax import shipped_models
from oracle.certificates.clauses import CertifiedFormula
from oracle.certificates.cycles import CycleClaim, lacks
from oracle.certificates.executions import can_happen, exclusions
from oracle.certificates.executions import lacks as lacks_execution
from oracle.certificates.refusal import RefusedError
from oracle.consistency import load_model
from synth.memory import certification, suites

EDGES = "PodWW PodRR PodWR Rfe Fre Coe RfeRel.gpuAcq.gpu Plain"
KINDS = {
    "suite": ("--from", "tso", "--events", "2..3", "--model", "sc"),
    "cycles": ("--edges", EDGES, "--size", "3..4", "--scopes", "cta", "--model", "sc", "--model", "ptx-6.0"),
}
UNIT = {"suite": "2.1", "cycles": "4"}
"""A unit of each with tests."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("certified")
    for kind, options in KINDS.items():
        assert synth("memory", *options, "--certify", "-j", 1, "-o", path / kind).exit_code == 0
    return path


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


@pytest.fixture
def corpus(made, kind, tmp_path) -> Path:
    return Path(shutil.copytree(made / kind, tmp_path / "c"))


def file(corpus: Path, kind: str, ending: str) -> Path:
    return corpus / "certificate" / f"{UNIT[kind]}{ending}"


# -- accepted --------------------------------------------------------------------------------------------------------


def test_a_whole_corpus_is_verified(made, kind):
    result = synth("verify", made / kind, "-j", 2)
    assert result.exit_code == 0, result.output
    assert "verified: " in result.output


@pytest.mark.parametrize(
    "options",
    [
        ("--from", "sc", "--events", "2..3", "--up-to", "program", "--mutants"),
        ("--from", "ptx-6.0", "--events", "2..3", "--axiom", "causality", "--vocabulary", "-sys -gpu -rmw -bar -F"),
        ("--from", "ptx", "--events", "2", "--vocabulary", "+alias -rmw -gpu -sys"),
        ("--from", "tso", "--events", "4", "--threads", "1..2"),
        ("--edges", "PodWW PosRR Rfe Fre Coe", "--size", "4..5", "--compositions"),
        ("--edges", f"{EDGES} [Rfi,PodRR] Rmw", "--size", "4", "--minimal", "--thread-accesses", "3", "-m", "sc"),
        ("--edges", "PodWW PodRR Rfe Fre", "--scopes", "cta,gpu", "--regions", "global,shared", "--threads", "2"),
    ],
)
def test_what_was_asked_is_what_is_verified(options, tmp_path):
    assert synth("memory", *options, "--certify", "-j", 1, "-o", tmp_path / "c").exit_code == 0
    result = synth("verify", tmp_path / "c", "-j", 1)
    assert result.exit_code == 0, result.output


def test_the_same_bytes_for_any_number_of_processes_and_beside_the_same_suite(made, kind, tmp_path):
    assert synth("memory", *KINDS[kind], "-o", tmp_path / "plain").exit_code == 0
    assert synth("memory", *KINDS[kind], "--certify", "-j", 2, "-o", tmp_path / "c").exit_code == 0
    for name in ("tests.jsonl", "manifest.json", "labels.csv"):
        assert (tmp_path / "plain" / name).read_bytes() == (made / kind / name).read_bytes()
    assert not (tmp_path / "plain" / "certificate").exists()
    for each in (made / kind / "certificate").iterdir():
        assert (tmp_path / "c" / "certificate" / each.name).read_bytes() == each.read_bytes()


def test_an_interrupted_search_is_certified_when_it_goes_on(kind, tmp_path):
    words = ("memory", *KINDS[kind], "--certify", "-j", 1, "-o", tmp_path / "c")
    assert synth(*words, "--max-tests", 2).exit_code == 0
    assert not (tmp_path / "c" / "certificate").exists()
    assert synth(*words).exit_code == 0
    assert synth("verify", tmp_path / "c", "-j", 1).exit_code == 0


@pytest.mark.parametrize(
    "options",
    [
        ("--from", "tso", "--criterion", "execution"),
        ("--edges", EDGES, "--distinguish", "ptx-6.0>sc"),
        ("--edges", EDGES, "--scopes", "cta", "--distinguish", ">sc"),
    ],
)
def test_what_cannot_be_certified_is_said_before_anything_is_written(options, tmp_path):
    result = synth("memory", *options, "--certify", "-o", tmp_path / "c")
    assert result.exit_code == 2
    assert "--certify" in result.output and result.output.count("\n") == 1
    assert not (tmp_path / "c").exists()


def test_a_unit_with_too_much_to_show_is_not_certified(tmp_path, monkeypatch):
    monkeypatch.setattr(certification, "MOST_ALLOWED", 0)
    words = ("memory", "--from", "tso", "--events", "4", "--threads", "1", "-j", 1, "-o", tmp_path / "c")
    result = synth(*words, "--certify")
    assert result.exit_code == 2
    assert "outcome/4 cannot be certified: more than 0 programs" in result.stderr.splitlines()[-1]
    assert synth(*words).exit_code == 0
    assert read_corpus(tmp_path / "c").complete and not (tmp_path / "c" / "certificate").exists()


# -- a search that loses something -----------------------------------------------------------------------------------


class Losing(Forbidden):
    """A search whose formula excludes all that has two threads of two events."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        if self.unknown.sizes == (2, 2):
            self.formula.add()


def test_a_search_that_loses_a_test_is_not_certified(tmp_path, monkeypatch):
    monkeypatch.setattr(suites, "Forbidden", Losing)
    words = ("memory", "--from", "sc", "--events", "4", "--threads", "2", "-j", 1, "-o", tmp_path / "c")
    with pytest.raises(RuntimeError, match=r"the search has left out a test: 0\.0\.0\.0: "):
        synth(*words, "--certify")
    assert not (tmp_path / "c" / "certificate").exists()


def test_a_search_that_loses_a_cycle_is_not_certified(tmp_path, monkeypatch):
    def losing(*arguments):
        return islice(cycles(*arguments), 1, None)

    monkeypatch.setattr(certification, "cycles", losing)
    words = ("memory", "--edges", "PodWW PodRR Rfe Fre", "--size", "4", "--certify", "-j", 1, "-o", tmp_path / "c")
    with pytest.raises(RuntimeError, match="the search has left out a cycle of 4 edges"):
        synth(*words)
    assert not (tmp_path / "c" / "certificate").exists()


def test_what_the_search_writes_is_not_asked(made, kind, monkeypatch):
    """Whatever ``constraints`` would write, verify says the same: its formulas are those of ``oracle.certificates``."""

    def fail(*arguments, **named):
        raise AssertionError("constraints were asked")

    functions = ((suites, "Forbidden"), (suites, "encoding_of"), (certification, "cycles"))
    makers = ((CycleEncoding, "__init__"), (ProgramSkeleton, "__post_init__"), (Circuit, "__init__"))
    for owner, name in (*functions, *makers):
        monkeypatch.setattr(owner, name, fail)
    assert synth("verify", made / kind, "-j", 1).exit_code == 0


# -- damaged: tests --------------------------------------------------------------------------------------------------


def test_a_test_that_is_removed_and_no_longer_promised(corpus):
    opened = read_corpus(corpus)
    gone = opened.tests[1]
    write_corpus(corpus, opened.tests[:1] + opened.tests[2:], opened.manifest)
    refused(corpus, f"not in the corpus, found by the search: {gone.name}")


def test_a_test_that_is_there_twice(corpus):
    opened = read_corpus(corpus)
    write_corpus(corpus, [*opened.tests, opened.tests[0]], opened.manifest)
    refused(corpus, f"tests.jsonl:{1 + len(opened.tests)}: {opened.tests[0].name}: two tests are one")


def test_a_test_that_nobody_found(corpus):
    opened = read_corpus(corpus)
    other = msgspec.structs.replace(opened.tests[0], name="other", digest="0" * 64)
    write_corpus(corpus, [*opened.tests, other], opened.manifest)
    refused(corpus, "other: is not among what was found")


def test_tests_in_another_order(corpus):
    opened = read_corpus(corpus)
    write_corpus(corpus, opened.tests[::-1], opened.manifest)
    refused(corpus, "not in their order")


def test_a_verdict_that_is_changed(corpus):
    def change(record):
        said = record["verdicts"]
        said.setdefault("ALLOWED", []).append(said["FORBIDDEN"].pop())
        return record

    name = change_test(corpus, 0, change)
    refused(corpus, f"{name}: FORBIDDEN under ", "where it says ALLOWED")


@pytest.mark.parametrize("field", ["text", "tags", "bound"])
def test_a_field_that_is_changed(corpus, field):
    values = {"text": "C other\n", "tags": ["axiom:none"], "bound": "2x9"}
    name = change_test(corpus, 0, lambda record: record | {field: values[field]})
    refused(corpus, f"{name}: its {field} is not as it should be")


def test_a_label_that_is_changed(corpus):
    text = (corpus / "labels.csv").read_text()
    (corpus / "labels.csv").write_text(text.replace("FORBIDDEN", "ALLOWED", 1))
    refused(corpus, "labels.csv:2: expected ", ", found ")


# -- damaged: certificates and manifests -----------------------------------------------------------------------------


def test_a_proof_that_is_cut(corpus, kind):
    proof = file(corpus, kind, "-0.lrat.gz")
    rewrite(proof, lines(proof)[:-1])
    refused(corpus, proof.name, "ends before the empty clause")
    proof.write_bytes(proof.read_bytes()[:-20])
    refused(corpus, proof.name, "damaged")
    proof.unlink()
    refused(corpus, proof.name, "No such file")


def test_a_clause_that_is_added(corpus, kind):
    own = file(corpus, kind, "-0.cnf.gz")
    text = lines(own)
    head = text[0].split()
    text[0] = f"p cnf {head[2]} {int(head[3]) + 1}"
    rewrite(own, [*text, "1 0"])
    refused(corpus, own.name, "the clauses are not those of: ")


def test_a_clause_that_is_shorter(corpus, kind):
    own = file(corpus, kind, "-0.cnf.gz")
    text = lines(own)
    number = next(n for n, line in enumerate(text) if not line.startswith(("c", "p")))
    text[number] = text[number].split(" ", 1)[1]
    rewrite(own, text)
    refused(corpus, own.name, "the clauses are not those of: ")


def test_what_is_blocked_no_longer_is_missed_by_the_proof(corpus, kind):
    own = file(corpus, kind, "-0.cnf.gz")
    text = lines(own)
    first = next(n for n, line in enumerate(text) if line.startswith("c blocks"))
    end = next((n for n in range(first + 1, len(text)) if text[n].startswith("c ")), len(text))
    _, _, variables, clauses = text[0].split()
    rewrite(own, [f"p cnf {variables} {int(clauses) - (end - first - 1)}", *text[1:first], *text[end:]])
    refused(corpus, f"{UNIT[kind]}-0.lrat.gz", "line")


def test_a_test_that_is_said_to_be_none(made, tmp_path):
    corpus = Path(shutil.copytree(made / "suite", tmp_path / "c"))
    own = file(corpus, "suite", "-0.cnf.gz")
    rewrite(own, [line.replace("c blocks", "c allowed") for line in lines(own)])
    refused(corpus, "which is said to be allowed", "is not among what was found")


def test_a_formula_that_is_changed(corpus, kind):
    formula = file(corpus, kind, ".cnf.gz")
    text = lines(formula)
    rewrite(formula, [*text, "1 0"])
    refused(corpus, formula.name, "not the formula of the shape")
    rewrite(formula, ["c another", *text[1:]])
    refused(corpus, formula.name, "line 1: not the formula of the shape")


@pytest.mark.parametrize("change", ["a clause goes", "a clause comes", "a literal turns", "a literal goes", "a name"])
def test_a_clause_of_the_formula_that_is_changed(corpus, kind, change):
    formula = file(corpus, kind, ".cnf.gz")
    text = lines(formula)
    first = next(n for n, line in enumerate(text) if not line.startswith("c"))
    at = (first + len(text)) // 2
    literal, rest = text[at].split(" ", 1)
    changed = {
        "a clause goes": [*text[:at], *text[at + 1 :]],
        "a clause comes": [*text[:at], "1 0", *text[at:]],
        "a literal turns": [*text[:at], f"{-int(literal)} {rest}", *text[at + 1 :]],
        "a literal goes": [*text[:at], rest, *text[at + 1 :]],
        "a name": [*text[: first - 1], f"{text[first - 1]}x", *text[first:]],
    }[change]
    rewrite(formula, changed)
    refused(corpus, f"{formula.name}: line {first if change == 'a name' else at + 1}: not the formula of the shape")


def test_a_formula_that_excludes_one_test_with_a_proof_that_goes_with_it(corpus, kind):
    """The first test is blocked by the formula, and not by the unit: nothing is left of either, and it is missing."""
    own, formula = file(corpus, kind, "-0.cnf.gz"), file(corpus, kind, ".cnf.gz")
    text, shape = lines(own), lines(formula)
    first = next(n for n, line in enumerate(text) if line.startswith("c blocks"))
    end = next((n for n in range(first + 1, len(text)) if text[n].startswith("c ")), len(text))
    kept = [text[0], *text[1:first], *text[end:]]
    shape += text[first + 1 : end]
    clauses = [[int(word) for word in line.split()[:-1]] for line in [*kept, *shape] if line[0] not in "cp"]
    rewrite(own, kept)
    rewrite(formula, shape)
    rewrite(file(corpus, kind, "-0.lrat.gz"), prove_unsatisfiable(clauses))
    opened = read_corpus(corpus)
    write_corpus(corpus, opened.tests[1:], opened.manifest)
    refused(corpus, f"{formula.name}: line {len(shape) - (end - first - 2)}: not the formula of the shape")


def test_a_file_that_is_missing(corpus, kind):
    file(corpus, kind, "-0.cnf.gz").unlink()
    refused(corpus, f"{UNIT[kind]}-0.cnf.gz: missing")


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ({"kind": "progress"}, "manifest.json: "),
        ({"threads": "two"}, "there is no request for memory tests"),
        ({"threads": [9, 9]}, ""),
        ({"model_digests": {}}, "the models have changed since"),
        ({"models": ["no-model"]}, "request.models"),
        ({"labelled_under": ["no-model"]}, "unknown consistency model"),
        ({"events": [2, 10**9], "sizes": [3, 10**9]}, ""),
        ({"regions": [7]}, "there is no request for memory tests"),
        ({"regions": ["nowhere"], "scopes": ["nowhere"], "threads": [7, 7]}, ""),
    ],
)
def test_a_request_that_is_changed(corpus, request_, named):
    change_request(corpus, request_)
    refused(corpus, named)


def test_counts_that_are_changed(corpus, kind):
    manifest = json.loads((corpus / "manifest.json").read_text())
    key, counts = ("cycles", 1) if kind == "cycles" else ("criteria", {"outcome": 1})
    manifest["counts"] |= {key: counts}
    (corpus / "manifest.json").write_text(json.dumps(manifest))
    refused(corpus, f"manifest.json: counts.{key}")


# -- derivations -----------------------------------------------------------------------------------------------------


class Open(dict):
    """A formula that has every variable that it is asked for."""

    def __contains__(self, name):
        return bool(self.setdefault(name, len(self) + 1))


def test_an_execution_is_excluded_in_the_places_of_all_threads_of_its_sizes():
    formula = CertifiedFormula(Open(), [])
    words = vocabulary("cpu")
    one = parse_execution("0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init | final x=0 y=1")
    found = {frozenset(clause) for clause in exclusions(formula, (2, 2), words, one)}
    names = {number: name for name, number in formula.variables.items()}
    assert len(found) == 2
    assert {frozenset(names[-each] for each in clause if each < 0 and "way" in names[-each]) for clause in found} == {
        frozenset({"way 0 W", "way 1 W", "way 2 R", "way 3 R"}),
        frozenset({"way 0 R", "way 1 R", "way 2 W", "way 3 W"}),
    }
    for clause in found:
        said = {names[abs(each)]: each < 0 for each in clause}
        assert [said[f"loc {e} {f}"] for e, f in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))] == [
            *(False, False, True, True, False, False),
        ]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("0.0.0.0: W x | final x=0", "its threads have"),
        ("0.0.0.0: W x; W y | 0.0.1.0: R y; R x<-init | final x=0 y=1", "does not say what every read reads"),
        ("0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init | final x=0", "does not say what every read reads"),
        ("0.0.0.0: W x; W y | 0.0.1.0: R y<-0; R x<-init | final x=0 y=1", "is no execution"),
        ("0.0.0.0: W x; W y | 0.0.1.0: R y<-2; R x<-init | final x=0 y=1", "is no execution"),
        ("0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init addr:0 | final x=0 y=1", "is no execution"),
        ("0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init | final x=1 y=1", "is no execution"),
        ("0.0.0.0: W x; W x | 0.0.1.0: R x<-1; R x<-init | co 0<1 1<0 | final x=1", "is no execution"),
    ],
)
def test_what_would_exclude_more_than_one_execution_is_refused(text, named):
    with pytest.raises(RefusedError, match=named):
        list(exclusions(CertifiedFormula(Open(), []), (2, 2), vocabulary("cpu"), parse_execution(text)))


MP = "0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init"


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init addr:2 | final x=0 y=1",  # no dependencies are said
        f"{MP.replace('0.0.1.0', '1.0.0.0')} | final x=0 y=1",  # nor GPUs
        f"{MP.replace('0.0.1.0', '0.1.0.0')} | final x=0 y=1",
        f"{MP.replace('0.0.1.0', '0.0.0.1')} | final x=0 y=1",
        f"{MP} | shared x | final x=0 y=1",  # nor kinds of memory
        f"{MP} | final x=0 y=1 | ssw 0<1",
        "0.0.0.0: W x; W x | 0.0.1.0: R x_1<-1; R x<-init | co 0<1 | final x=1",  # nor addresses
    ],
)
def test_what_a_formula_does_not_speak_of_is_refused(text):
    """Its clauses would exclude the program without it, of which nobody has shown anything."""
    words = vocabulary("cpu").without(["dep"])
    fine = parse_execution(f"{MP} | final x=0 y=1")
    assert len(list(exclusions(CertifiedFormula(Open(), []), (2, 2), words, fine))) == 2
    with pytest.raises(RefusedError, match="it says what the formula does not"):
        list(exclusions(CertifiedFormula(Open(), []), (2, 2), words, parse_execution(text)))


@pytest.mark.parametrize(
    "text",
    [
        f"{MP} | final x=-1 y=1",
        f"{MP} addr:-1 | final x=0 y=1",
        f"{MP} | co -1<0 | final x=0 y=1",
        f"{MP} | final x=0 y=1 | ssw -1<0",
        f"-1.{MP} | final x=0 y=1",
        "0.0.0.0: W x_-1 | final x=0",
        f"{MP} | final x=0 y={'9' * 5000}",
        f"{MP} addr:{'9' * 20} | final x=0 y=1",
    ],
)
def test_numbers_that_are_none(text):
    with pytest.raises(InputError, match="expected an execution in one line"):
        parse_execution(text)


def test_what_tso_says_of_executions():
    tso = load_model(shipped_models()["tso"], "tso")
    words = vocabulary("cpu")
    mp = parse_execution("0.0.0.0: W x; W y | 0.0.1.0: R y<-1; R x<-init | final x=0 y=1")
    sb = parse_execution("0.0.0.0: W x; R y<-init | 0.0.1.0: W y; R x<-init | final x=0 y=2")
    fenced = parse_execution("0.0.0.0: W x; F.sc.sys; W y | 0.0.1.0: R y<-2; R x<-init | final x=0 y=2")
    assert lacks_execution(mp, tso, words) == "" and not can_happen(mp, tso)
    assert "is not forbidden by tso" in lacks_execution(sb, tso, words)
    assert "P0's fence: removed" in lacks_execution(fenced, tso, words)


def asked(text: str, **changed) -> CycleClaim:
    known = {
        "levels": (),
        "regions": (Region.GLOBAL,),
        "threads": None,
        "thread_accesses": 2,
        "location_accesses": 3,
        "compositions": False,
    }
    return CycleClaim(parse_edges(text, ("gpu",)), **(known | changed))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_every_cycle_of_the_search_is_one_that_was_asked_for(size):
    text = f"{EDGES} PosWW PosRR Rfi [Fri,Rfe] Rmw Acq MembarGldWW DpAddrdR"
    bounds = CycleBounds(parse_edges(text, ("gpu",)), ("cta", "gpu"), (Region.GLOBAL, Region.SHARED))
    wanted = asked(text, levels=("cta", "gpu"), regions=(Region.GLOBAL, Region.SHARED))
    for number, cycle in zip(range(300), cycles(bounds, size), strict=False):
        assert lacks(wanted, size, cycle) == "", number
        assert parse_cycle(cycle_text(cycle)) == cycle


PLAIN4 = "Plain Plain Plain Plain | global global global global | 0.0.0.0 0.0.1.0"


@pytest.mark.parametrize(
    ("text", "changed", "named"),
    [
        (f"PodWW Rfe PodRR Fre | {PLAIN4}", {}, ""),
        (f"PodWW Rfe PodRR Fre | {PLAIN4}", {"threads": (3, 4)}, "2 threads"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4}", {"thread_accesses": 1}, "a thread has 2 accesses"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4}", {"location_accesses": 1}, "a location has 2 accesses"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('0.0.1', '0.0.0')}", {}, "scope tree"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('0.0.1', '1.0.0')}", {}, "scope tree"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('0.0.1', '0.1.1')}", {}, "scope tree"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('0.0.1', '0.0.7')}", {}, "scope tree"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('global', 'shared')}", {}, "regions"),
        (
            f"PodWW Rfe PodRR Fre | {PLAIN4.replace('global', 'shared')}",
            {"regions": (Region.SHARED,)},
            "shared memory is accessed by several CTAs",
        ),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('Plain', 'Rlx.gpu')}", {}, "not those that were asked for"),
        (f"PodWW Rfe PodRR Fre | {PLAIN4.replace('Plain', 'Acq.gpu', 1)}", {}, "not those that were asked for"),
        (f"PodWW Rfe PosRR Fre | {PLAIN4}", {}, "one edge alone leads to another location"),
        (f"PodWW Rfe DpAddrdR Fre | {PLAIN4}", {}, "not those that were asked for"),
        (f"PodWW Fre PodRR Fre | {PLAIN4}", {}, "do not meet"),
        (f"PosWW Coe Coe Coe | {PLAIN4} 0.0.2.0", {"location_accesses": 9}, "are one edge"),
        ("PosWW Coe | Plain Plain | global global | 0.0.0.0", {}, "it has 2 edges"),
    ],
)
def test_what_is_no_cycle_that_was_asked_for(text, changed, named):
    found = lacks(asked(EDGES, **changed), 4, parse_cycle(text))
    assert named in found and bool(named) == bool(found)


@pytest.mark.parametrize(
    "text",
    [
        f"Coe Coe Coe Coe | {PLAIN4} 0.0.2.0 0.0.3.0",
        "",
        "PodWW",
        f"PodWW Rfe PodRR | {PLAIN4}",
        f"Podww Rfe PodRR Fre | {PLAIN4}",
        f"Rfe PodRR Fre PodWW | {PLAIN4}",
    ],
)
def test_no_cycle(text):
    with pytest.raises(ValueError, match=r"cycle|unpack"):
        parse_cycle(text)
