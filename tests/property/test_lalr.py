"""The loop that runs lark's tables, held against lark itself: the same trees, tokens and places, or none."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

import lark
import pytest
from caches import forget
from lark.exceptions import UnexpectedInput
from mutants import mutants

from corpus import syntax
from corpus.dialects.c_like import code as c_like
from corpus.dialects.dartagnan import columns as dartagnan
from corpus.dialects.gpu_ptx import reader as gpu_ptx
from corpus.dialects.lisa import dialect as lisa
from corpus.dialects.registry import DIALECTS, parse_litmus
from corpus.errors import InputError
from corpus.lalr import Grammar, Tree
from corpus.litmus import condition
from corpus.progress.text import parse_axb
from corpus.tables import make
from oracle.cat.syntax import parse_cat, read_cat

ROOT = Path(__file__).parents[2]
LITMUS = sorted(ROOT.glob("examples/memory/**/*.litmus"))
MODELS = [path for folder in ("oracle", "examples/models") for path in sorted(ROOT.glob(f"{folder}/**/*.cat"))]
AXB = sorted(ROOT.glob("examples/progress/*.axb"))
READERS = (syntax, condition, lisa, gpu_ptx, dartagnan, c_like)


class Both:
    """A grammar read by both."""

    def __init__(self, grammar: str, start: str) -> None:
        text = syntax.grammar_text(grammar)
        self.own = Grammar(make(text, start))
        self.lark = lark.Lark(text, start=start, parser="lalr", propagate_positions=True)

    def parse(self, text: str) -> Tree | None:
        tree = self.own.parse(text)
        try:
            expected = self.lark.parse(text)
        except UnexpectedInput:
            assert tree is None
            return None
        assert tree is not None
        assert described(tree) == described(expected)
        return tree


def described(tree: Tree | lark.Tree[lark.Token]) -> list[object]:
    """All that readers may see of a tree, in one list, for it may be deep."""
    found: list[object] = []
    left: list[object] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, Tree | lark.Tree):
            where = node if isinstance(node, Tree) else node.meta
            found.append((str(node.data), getattr(where, "line", 0), getattr(where, "column", 0), len(node.children)))
            left += reversed(node.children)
        elif isinstance(node, str):
            found.append((node.type, str(node), node.line, node.column))
        else:
            found.append(node)
    return found


grammar = cache(Both)


def forget_texts():
    forget(*READERS)
    c_like.CCode.known.cache_clear()


@pytest.fixture(autouse=True)
def both(monkeypatch):
    monkeypatch.setattr(syntax, "grammar_of", grammar)
    forget_texts()
    yield
    forget_texts()


def test_what_ships_is_read_as_lark_reads_it(monkeypatch):
    seen = set()
    monkeypatch.setattr(syntax, "grammar_of", lambda *name: seen.update(name[0].split(" + ")) or grammar(*name))
    for path in LITMUS:
        test = parse_litmus(path.read_text(), str(path))
        with suppress(InputError):
            parse_litmus(DIALECTS["lisa"].print(test))
    for path in MODELS:
        parse_cat(path.read_text(), str(path))
    for path in AXB:
        parse_axb(path.read_text(), str(path))
    grammars = {path.stem for path in (*ROOT.glob("corpus/**/*.lark"), *ROOT.glob("oracle/**/*.lark"))}
    assert {name.rpartition(".")[2] for name in seen} == grammars


@pytest.mark.one_in(3)
@pytest.mark.parametrize("path", [*LITMUS[::12], *AXB[::12]], ids=lambda path: path.stem)
def test_mutants_are_read_or_refused_as_lark_does(path):
    read = parse_axb if path.suffix == ".axb" else parse_litmus
    refused = 0
    for mutant in mutants([path.read_bytes()], 20, path.stem):
        try:
            read(mutant.decode(errors="surrogateescape"), "it")
        except InputError:
            refused += 1
    assert refused


@pytest.mark.slow
def test_mutants_of_models_are_read_or_refused_as_lark_does(tmp_path):
    for path in MODELS:
        for number, mutant in enumerate(mutants([path.read_bytes()], 6, path.stem)):
            file = tmp_path / f"{number}.cat"
            file.write_bytes(mutant)
            with suppress(InputError):
                read_cat(str(file))
