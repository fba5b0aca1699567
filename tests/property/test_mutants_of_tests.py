"""Whatever is done to a test or a list of edges, reading it gives a test or one line: no traceback, and nothing raw."""

from pathlib import Path
from random import Random

import pytest

from corpus.cycles.edges import parse_edges
from corpus.dialects.registry import DIALECTS, parse_litmus, translate
from corpus.errors import InputError
from corpus.litmus.normal import litmus_digest
from corpus.progress.text import parse_axb

EXAMPLES = Path(__file__).parents[2] / "examples"
LITMUS = [path.read_text(encoding="utf-8") for path in sorted((EXAMPLES / "memory").glob("*.litmus"))]
AXB = [path.read_text(encoding="utf-8") for path in sorted((EXAMPLES / "progress").glob("*.axb"))]
EDGES = ["PodWW [Rfe,PodRR] Fre|Coe Rlx.gpu RfeRel.gpuAcq.gpu MembarGldWW # a comment"]

PIECES = [
    *("(", "{", "~(", "[", "-", "*", "&", "1+", "if (1) ", "while (1) ", "do ", "(cta ", "(system (gpu ", "not "),
    *("x = 1 \\/ ", "x = 1 /\\ (", "9" * 4000, "0x", "P", "P0:", "@", "@01", "T0", "exists", "|", "||", "%"),
    *("//", "(*", "/*", '"', "\ud800", "\x1b[2J", "\0", "é", "\t", "\r"),
]


def mutant(rng, texts):
    """A text with a piece of it gone, another put in, perhaps very often."""
    text = rng.choice(texts)
    start = rng.randrange(len(text))
    end = start + (rng.randrange(40) if rng.random() < 0.3 else 0)
    return text[:start] + rng.choice(PIECES) * rng.choice([1, 1, 2, 60, 400, 3000]) + text[end:]


def read(parse, text):
    """What a text is; None where it is refused, in one line that a terminal can show."""
    refused = None
    try:
        return parse(text)
    except InputError as error:
        refused = str(error)
    assert refused.isprintable(), refused
    return None


def survives(seed, count):
    rng = Random(seed)
    for _ in range(count):
        test = read(parse_litmus, mutant(rng, LITMUS))
        if test:
            digest = litmus_digest(test)
            for dialect in DIALECTS.values():
                text = read(lambda given: translate(given, dialect), test)  # noqa: B023 - called at once
                assert text is None or litmus_digest(parse_litmus(text)) == digest
        read(parse_axb, mutant(rng, AXB))
        read(parse_edges, mutant(rng, EDGES))


@pytest.mark.parametrize("seed", range(4))
def test_mutants(seed):
    survives(seed, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_mutants(seed):
    survives(seed, 500)
