"""The tables of the grammars that ship: what lark makes of the grammars now; ``pytest --promote`` writes them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from caches import forget

from corpus.syntax import grammar_text, tables_file
from corpus.tables import make, written

ROOT = Path(__file__).parents[2]
STARTS = {
    "corpus.dialects.c_like.c": ["state", "threads"],
    "corpus.dialects.dartagnan.dartagnan": ["state", "body"],
    "corpus.dialects.gpu_ptx.gpu_ptx": ["state", "body"],
    "corpus.dialects.lisa.lisa": ["state", "body"],
    "corpus.litmus.condition": ["condition"],
    "corpus.progress.axb": ["program"],
    "oracle.cat.terms": ["model"],
    "oracle.cat.terms + oracle.cat.language": ["model"],
}
TABLES = [(grammar, start) for grammar, starts in STARTS.items() for start in starts]


@pytest.mark.parametrize(("grammar", "start"), TABLES)
def test_the_tables_that_ship_are_of_the_grammar(grammar, start, request):
    path = tables_file(grammar, start)
    made = written(make(grammar_text(grammar), start))
    if request.config.getoption("--promote"):
        path.write_text(made, encoding="utf-8")
    assert path.is_file() and path.read_text(encoding="utf-8") == made, "if it should, run pytest --promote"


def test_there_are_no_other_tables_and_no_other_grammars():
    grammars = {path for folder in ("corpus", "oracle") for path in (ROOT / folder).rglob("*.lark")}
    tables = {path for grammar in grammars for path in grammar.parent.glob("*.*.json")}
    assert tables == {tables_file(*each) for each in TABLES}
    assert {path.stem for path in grammars} == {name.split(".")[-1] for name in STARTS}


def test_tables_do_not_depend_on_the_order_of_sets():
    grammar = "oracle.cat.terms"
    code = f"from corpus.tables import *; from corpus.syntax import *; print(make(grammar_text({grammar!r}), 'model'))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout == f"{make(grammar_text(grammar), 'model')}\n"


def test_tables_of_another_grammar_are_made_anew(monkeypatch):
    from corpus import syntax

    monkeypatch.setattr(syntax, "grammar_text", lambda name: 'program: "a" | "b"')
    forget(syntax)
    try:
        assert syntax.grammar_of("corpus.progress.axb", "program").parse("b")
        assert not syntax.grammar_of("corpus.progress.axb", "program").parse("c")
    finally:
        forget(syntax)
