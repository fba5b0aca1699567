"""Certificates of progress suites: a whole one is accepted, and whatever is changed in it is refused and named."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest
from certified import change_request, change_test, lines, refused, rewrite
from commands import synth

from constraints.progress import ProgramShape as EncodedShape
from constraints.progress import ProgressEncoding
from constraints.proofs import prove_unsatisfiable
from corpus.journal import read_corpus
from corpus.progress.axb import Instruction, Program, instructions, rename_locations
from corpus.progress.certificates import numbers_word, program_word, read_program, read_state, state_word
from corpus.progress.text import program_of
from corpus.suite import write_corpus
from oracle.certificates.lrat import check_proof
from oracle.certificates.progress_formulas import check_formula
from oracle.certificates.refusal import RefusedError
from oracle.certificates.units import UnitShape, check_cases, check_clauses, read_formula
from oracle.progress.lts import explore
from synth.progress.certification import shape_lines

PIGEONS = [[1, 2], [3, 4], [5, 6], [-1, -3], [-1, -5], [-3, -5], [-2, -4], [-2, -6], [-4, -6]]
"""Three pigeons, two holes."""


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """All tests of 2x3: one unit."""
    path = tmp_path_factory.mktemp("certified") / "c"
    assert synth("progress", "-t", 2, "-n", 3, "--all", "--certify", "-j", 1, "-o", path).exit_code == 0
    return path


@pytest.fixture
def corpus(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "c"))


def clauses_file(corpus: Path) -> Path:
    return corpus / "certificate" / "1.2-0.cnf.gz"


def proof_file(corpus: Path) -> Path:
    return corpus / "certificate" / "1.2-0.lrat.gz"


def drop_group(text: list[str], start: str) -> list[str]:
    """A unit's clauses without the first group of a kind, the head corrected."""
    first = next(n for n, line in enumerate(text) if line.startswith(start))
    end = next(n for n in range(first + 1, len(text)) if text[n].startswith("c "))
    _, _, variables, clauses = text[0].split()
    head = f"p cnf {variables} {int(clauses) - (end - first - 1)}"
    return [head, *text[1:first], *text[end:]]


# -- accepted --------------------------------------------------------------------------------------------------------


def test_a_whole_corpus_is_verified(made):
    result = synth("verify", made)
    assert result.exit_code == 0
    assert "162 tests, and no other; 1 units, 81 programs found" in result.output


@pytest.mark.parametrize(
    "options",
    [
        ("-t", 2, "-n", 3),
        ("-t", 3, "-n", 3, "--symmetric-threads"),
        ("-t", 2, "-n", 3, "--distinguish", "hsa-strong>unfair-strong"),
        ("-t", 2, "-n", 2, "--all", "--locs", 1, "--values", 3),
        ("-t", 3, "-n", 3, "--all", "--up-to", "behaviour", "--symmetric-threads"),
        ("-t", 1, "-n", 2),
    ],
)
def test_what_was_asked_is_what_is_verified(options, tmp_path):
    assert synth("progress", *options, "--certify", "-j", 1, "-o", tmp_path / "c").exit_code == 0
    result = synth("verify", tmp_path / "c", "-j", 1)
    assert result.exit_code == 0, result.output


def test_the_same_bytes_with_any_solver_and_beside_the_same_suite(made, tmp_path):
    assert synth("progress", "-t", 2, "-n", 3, "--all", "-o", tmp_path / "plain").exit_code == 0
    assert (tmp_path / "plain" / "tests.jsonl").read_bytes() == (made / "tests.jsonl").read_bytes()
    assert not (tmp_path / "plain" / "certificate").exists()
    for path in ("a", "b"):
        words = ("progress", "-t", 2, "-n", 3, "--all", "--certify", "-o", tmp_path / path)
        assert synth(*words, "-j", 1 if path == "a" else 2).exit_code == 0
        for file in sorted((made / "certificate").iterdir()):
            assert (tmp_path / path / "certificate" / file.name).read_bytes() == file.read_bytes()


def test_an_interrupted_search_is_certified_when_it_goes_on(tmp_path):
    words = ("progress", "-t", 2, "-n", 3, "--all", "--certify", "-j", 1, "-o", tmp_path / "c")
    assert synth(*words, "--max-tests", 10).exit_code == 0
    assert not (tmp_path / "c" / "certificate").exists()
    assert synth(*words).exit_code == 0
    assert synth("verify", tmp_path / "c", "-j", 1).exit_code == 0


# -- damaged: tests --------------------------------------------------------------------------------------------------


def test_a_test_that_is_removed_and_no_longer_promised(corpus):
    opened = read_corpus(corpus)
    gone = opened.tests[17]
    write_corpus(corpus, opened.tests[:17] + opened.tests[18:], opened.manifest)
    refused(corpus, "not in the corpus, found in 1.2/0", program_word(program_of(gone)))


def test_a_line_that_is_removed(corpus):
    tests = (corpus / "tests.jsonl").read_text().splitlines(keepends=True)
    (corpus / "tests.jsonl").write_text("".join(tests[1:]))
    refused(corpus, "161 tests, all intact, where the manifest promises 162")


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("digest", "0" * 16, "its digest"),
        ("behaviour", "0" * 16, "its behaviour"),
        ("tags", ["mutex"], "its tags"),
        ("text", "THREAD 0\n0: Mem[0] = 1;\nTHREAD 1\n0: Mem[0] = 1;\n1: Mem[0] = 0;\n", "is not well formed"),
        ("text", "THREAD 0\n0: Mem[0] = 1;\n", "of the bound 1x1, where 2x3 was asked for"),
        ("text", "THREAD 0\n0: nothing\n", "the text is no program"),
    ],
)
def test_a_test_that_is_not_what_it_says(corpus, field, value, named):
    change_test(corpus, 3, lambda record: record | {field: value})
    refused(corpus, "2x3-0004", named)


def test_a_verdict_that_is_changed(corpus):
    def change(record):
        said = record["verdicts"]
        said["TERMINATES"].append(said["MAY_HANG"].pop())
        return record

    change_test(corpus, 5, change)
    refused(corpus, "2x3-0006: MAY_HANG under", "where it says TERMINATES")


def test_a_label_that_is_changed(corpus):
    text = (corpus / "labels.csv").read_text()
    (corpus / "labels.csv").write_text(text.replace("MAY_HANG", "TERMINATES", 1))
    refused(corpus, "labels.csv:2: expected ", ", found ")


def test_a_test_that_is_there_twice(corpus):
    opened = read_corpus(corpus)
    write_corpus(corpus, [*opened.tests, opened.tests[0]], opened.manifest)
    refused(corpus, "tests.jsonl:163: 2x3-0001: two tests are one", "the test here is called 2x3-0163")


def test_a_test_that_is_not_minimal(tmp_path):
    assert synth("progress", "-t", 2, "-n", 3, "--all", "--certify", "-j", 1, "-o", tmp_path / "c").exit_code == 0
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text())
    manifest["request"]["minimal"] = True
    (tmp_path / "c" / "manifest.json").write_text(json.dumps(manifest))
    refused(tmp_path / "c", "is not minimal")


@pytest.mark.parametrize(
    ("request_", "named"),
    [
        ({"kind": "select"}, 'request.kind: expected "progress", found "select"'),
        ({"kind": "memory"}, "there is no request for memory tests"),
        ({"instrs": None}, "how many threads and instructions"),
        ({"instrs": 10**9}, "too large"),
        ({"instrs": 4}, "missing"),
        ({"distinguish": ["no-model"]}, "a model that there is not"),
    ],
)
def test_a_request_that_is_changed(corpus, request_, named):
    change_request(corpus, request_)
    refused(corpus, named)


# -- damaged: certificates -------------------------------------------------------------------------------------------


def test_a_proof_that_is_cut(corpus):
    rewrite(proof_file(corpus), lines(proof_file(corpus))[:-1])
    refused(corpus, "1.2-0.lrat.gz", "ends before the empty clause")
    proof_file(corpus).write_bytes(proof_file(corpus).read_bytes()[:-20])
    refused(corpus, "1.2-0.lrat.gz", "damaged")
    proof_file(corpus).unlink()
    refused(corpus, "1.2-0.lrat.gz", "No such file")


def test_a_proof_that_starts_at_its_end(corpus):
    last = lines(proof_file(corpus))[-1]
    rewrite(proof_file(corpus), [last])
    refused(corpus, "1.2-0.lrat.gz", "line 1 names clause")


def test_a_clause_that_is_changed(corpus):
    text = lines(clauses_file(corpus))
    number = next(n for n, line in enumerate(text) if line.startswith("c blocks"))
    text[number + 1] = text[number + 1].split(" ", 1)[1]  # a literal less: it excludes more
    rewrite(clauses_file(corpus), text)
    refused(corpus, "1.2-0.cnf.gz", f"line {number + 1}: the clauses are not those of: blocks")


@pytest.mark.parametrize("kind", ["entry", "exit"])
def test_a_set_of_states_that_is_changed(corpus, kind):
    text = lines(clauses_file(corpus))
    number = next(n for n, line in enumerate(text) if line.startswith(f"c {kind}"))
    text[number] = f"c {kind} 1.1/0.1"
    rewrite(clauses_file(corpus), text)
    refused(corpus, "1.2-0.cnf.gz", f"line {number + 1}: the clauses are not those of: {kind}")


@pytest.mark.parametrize("kind", ["blocks", "entry"])
def test_a_clause_that_is_removed_is_missed_by_the_proof(corpus, kind):
    rewrite(clauses_file(corpus), drop_group(lines(clauses_file(corpus)), f"c {kind}"))
    refused(corpus, "1.2-0.lrat.gz", "line")


def test_a_second_case_would_make_anything_unsatisfiable(corpus):
    text = lines(clauses_file(corpus))
    head = text[0].split()
    text[0] = f"p cnf {head[2]} {int(head[3]) + 1}"
    formula = lines(corpus / "certificate" / "1.2.cnf.gz")
    variable = next(line.split()[1] for line in formula if line.endswith(" jump 0 0 0"))
    rewrite(clauses_file(corpus), [*text, "c case 0.0.0", f"{variable} 0"])
    refused(corpus, "1.2-0.cnf.gz", "one case")


def test_a_formula_with_one_more_clause(corpus):
    file = corpus / "certificate" / "1.2.cnf.gz"
    rewrite(file, [*lines(file), "1 0"])
    refused(corpus, "1.2.cnf.gz", "none that every test satisfies: jump 0 0 0")


def test_a_file_that_is_missing(corpus):
    clauses_file(corpus).unlink()
    refused(corpus, "1.2-0.cnf.gz: missing")


def test_a_corpus_without_a_certificate_is_another_matter(corpus):
    shutil.rmtree(corpus / "certificate")
    result = synth("verify", corpus)
    assert result.exit_code == 2
    assert "there is no certificate; --certify of synth progress and synth memory makes one" in result.output
    assert synth("verify", corpus / "nowhere").exit_code == 2


def test_bounds_that_grow_are_not_certified(tmp_path):
    words = ("progress", "--distinguish", "obe-strong>hsa-strong", "--certify", "-o", tmp_path / "c")
    assert synth(*words).exit_code == 2
    assert not (tmp_path / "c").exists()


# -- derivations -----------------------------------------------------------------------------------------------------


def formula_12():
    shape = UnitShape((1, 2), 2, 2)
    return read_formula(shape, list(shape_lines(ProgressEncoding(EncodedShape((1, 2), 2, 2)))))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (["c case", "c entry 0.0/0.0", "1 0"], "that has the start"),
        (["c case", "c exit 0.0/1.2", "1 0"], "that has an end"),
        (["c case", "c entry 0.0/7.7", "1 0"], "has no variable"),
        (["c case", "c entry nowhere", "1 0"], "expected where clauses come from"),
        (["c case", "c because", "1 0"], "expected where clauses come from"),
        (["c case", "1 0", "c because"], "are not those of: case"),
        (["1 0"], "where the clause comes from"),
        (["c case", "c blocks 0,0,0,-1"], "not of the shape"),
        (["c case", "c blocks 0,9,0,-1 | 0,0,0,-1 0,0,0,-1"], "not of the shape"),
        (["c case", "c blocks 0,0,0,-1 | 0,0,0,-1 0,0,-1,-1"], "expected where clauses come from"),
        (["c case -1.0.0", "1 0"], "expected where clauses come from"),
        (["c case 0.0.7", "1 0"], "has no variable"),
        (["c case", "1 two 0"], "expected a clause"),
        (["c case", "99999 0"], "variables 1 to"),
        (["c blocks 0,0,0,-1 | 0,0,0,-1 0,0,0,-1", "1 0"], "one case"),
        ([], "line 1: expected p cnf"),
    ],
)
def test_what_a_unit_must_not_add(text, named):
    with pytest.raises(RefusedError, match=named):
        check_clauses(formula_12(), ["p cnf 1 1", *text])


def test_cases_cover_every_program():
    shape = UnitShape((1, 1), 2, 2)
    check_cases(shape, [{(1, 0): 0}, {(1, 0): 1}])
    check_cases(shape, [{}])
    for cases in ([{(1, 0): 0}], [{(1, 0): 0}, {(0, 0): 1}], [{(1, 1): 0}]):
        with pytest.raises(RefusedError):
            check_cases(shape, cases)


def test_words_are_read_as_written():
    program = Program(((Instruction(0, 0, 1, 1),), (Instruction(0, 1, 0, None), Instruction(1, 0, 0, 0))))
    assert program_word(program) == "0,0,1,1 | 0,1,0,-1 1,0,0,0"
    assert read_program(program_word(program)) == program
    assert read_state("0.1/2.0") == ((0, 1), (2, 0))
    assert state_word(((0, 1), (2, 0))) == "0.1/2.0"


# -- formulas --------------------------------------------------------------------------------------------------------


SHAPES = [((1, 2), 2, 2), ((2, 2), 2, 2), ((1, 1, 2), 2, 2), ((1, 2), 2, 3), ((3,), 1, 2), ((1, 1, 1, 1), 2, 2)]


def formula_of(lengths, locations, values):
    encoding = ProgressEncoding(EncodedShape(lengths, locations, values))
    return read_formula(UnitShape(lengths, locations, values), shape_lines(encoding))


@pytest.mark.parametrize(("lengths", "locations", "values"), SHAPES)
def test_what_the_search_asks_holds_for_every_test(lengths, locations, values):
    check_formula(formula_of(lengths, locations, values))


def fields(thread):
    """What threads of one length are ordered by."""
    return [field for ins in thread for field in (ins.jump, -1 if ins.exchange is None else ins.exchange, ins.check)]


def meaning(program: Program, shape: UnitShape) -> set[str]:
    """What variables mean of a program in order (``oracle.certificates.progress_formulas``), by the explicit system."""
    lts = explore(program)
    unused = (0,) * (shape.locations - program.locations)
    words = [
        state_word((memory + unused, counters)) for memory, counters in zip(lts.memories, lts.counters, strict=True)
    ]
    endless = set(range(len(words)))
    while left := {s for s in endless if not any(after in endless for after in lts.successors[s])}:
        endless -= left
    true = {f"reach {word}" for word in words} | {f"turns {words[s]}" for s in endless}
    for s, row in enumerate(lts.successors):
        memory = numbers_word(lts.memories[s] + unused)
        for t, after in enumerate(row):
            i = lts.counters[s][t]
            if i == len(program.threads[t]):
                continue
            true |= {f"turn {words[s]} {t}"} if after in endless else set()
            true |= {f"support {words[s]} {t} {words[after]}", f"visits {t} {i} {memory}"}
            ins = program.threads[t][i]
            true.add(f"{'holds' if lts.memories[s][ins.location] == ins.check else 'fails'} {t} {i} {memory}")
            true |= {f"changes {t} {i} {memory}"} if lts.memories[after] != lts.memories[s] else set()
    for t, i, ins in instructions(program):
        write = -1 if ins.exchange is None else ins.exchange
        true |= {f"location {t} {i} {ins.location}", f"check {t} {i} {ins.check}"}
        true |= {f"write {t} {i} {write}", f"jump {t} {i} {ins.jump}"}
        true |= {f"tests {t} {i} {ins.location}"} if ins.branches(i) else set()
        for memory in product(range(shape.values), repeat=shape.locations):
            before, after = numbers_word(memory), list(memory)
            after[ins.location] = memory[ins.location] if write < 0 else write
            jump = ins.jump if memory[ins.location] == ins.check else i + 1
            true |= {f"equal {t} {i} {before}"} if memory[ins.location] == ins.check else set()
            true |= {f"goes {t} {i} {before} {jump}", f"leaves {t} {i} {before} {numbers_word(after)}"}
            true.add(f"step {t} {i} {before} {jump} {numbers_word(after)}")
    for t in range(len(program.threads) - 1):
        keys = list(map(fields, program.threads[t : t + 2]))
        for n, field in enumerate(("jump", "write", "check") * len(program.threads[t])):
            if keys[0][: n + 1] == keys[1][: n + 1]:
                true.add(f"equal so far {t} {n // 3} {field}")
    return true


def meanings(corpus: Path, shape: UnitShape) -> list[set[str]]:
    """Those of the tests of a corpus that are of a shape, in order."""
    images = (
        rename_locations(Program(tuple(sorted(program.threads, key=lambda thread: (len(thread), fields(thread))))))
        for program in map(program_of, read_corpus(corpus).tests)
    )
    shaped = [image for image in dict.fromkeys(images) if tuple(map(len, image.threads)) == shape.lengths]
    return [meaning(image, shape) for image in shaped[:100]]


def holds(clause, formula, true) -> bool:
    return any((formula.names[abs(literal)] in true) == (literal > 0) for literal in clause)


@pytest.mark.parametrize("lengths", [(1, 1, 1), pytest.param((2, 2), marks=pytest.mark.slow)])
def test_the_meaning_of_each_test_satisfies_the_formula(lengths, tmp_path):
    words = ("progress", "-t", len(lengths), "-n", sum(lengths), "--all", "-j", 1, "-o", tmp_path / "c")
    assert synth(*words).exit_code == 0
    shape, formula = UnitShape(lengths, 2, 2), formula_of(lengths, 2, 2)
    found = meanings(tmp_path / "c", shape)
    assert len(found) > 10
    for true in found:
        assert all(holds(clause, formula, true) for clause in formula.clauses)


def test_a_clause_that_asks_more_is_refused_or_holds_all_the_same(made):
    """Clauses without a literal that they have."""
    shape, formula = UnitShape((1, 2), 2, 2), formula_of((1, 2), 2, 2)
    found = meanings(made, shape)
    clauses = [
        tuple(each for each in clause if each != literal)
        for clause in formula.clauses
        for literal in clause
        if len(clause) > 1
    ]
    accepted = 0
    for clause in Random(1).sample(clauses, 150):
        try:
            check_formula(replace(formula, clauses=[clause]))
        except RefusedError:
            continue
        accepted += 1
        assert all(holds(clause, formula, true) for true in found)
    assert accepted < 15


# -- proofs ----------------------------------------------------------------------------------------------------------


def test_a_proof_of_the_solver_is_one():
    proof = prove_unsatisfiable(PIGEONS)
    assert check_proof(PIGEONS, proof) == len(proof)
    assert proof == prove_unsatisfiable(PIGEONS)


def test_no_proof_where_there_is_a_model():
    with pytest.raises(ValueError, match="have a model"):
        prove_unsatisfiable(PIGEONS[:-1])


@pytest.mark.parametrize("missing", range(len(PIGEONS)))
def test_a_proof_needs_every_clause(missing):
    weaker = [[1, -1] if n == missing else clause for n, clause in enumerate(PIGEONS)]
    with pytest.raises(RefusedError, match="line"):
        check_proof(weaker, prove_unsatisfiable(PIGEONS))


@pytest.mark.parametrize(
    ("proof", "named"),
    [
        ([], "ends before"),
        (["4 0 3 1 0"], "leaves 2 literals open"),
        (["4 2 0 1 0"], "can all be true"),
        (["4 2 0 1 2 0", "5 0 4 9 0"], "names clause 9"),
        (["4 2 0 1 2 0", "4 d 3 0", "5 0 4 3 0"], "names clause 3"),
        (["3 2 0 1 2 0"], "not one of a proof"),
        (["4 2 0 1 2"], "not one of a proof"),
        (["4 2 0 x 2 0"], "not one of a proof"),
        ([""], "not one of a proof"),
    ],
)
def test_a_proof_that_does_not_hold(proof, named):
    clauses = [[1, 2], [-1, 2], [-2, 3]]
    with pytest.raises(RefusedError, match=named):
        check_proof(clauses, proof)


def test_a_proof_by_hand():
    assert check_proof([[1, 2], [-1, 2], [-2, 3], [-3]], ["5 2 0 1 2 0", "5 d 1 0", "6 0 5 3 4 0"]) == 2
