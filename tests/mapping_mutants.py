"""Mutants of mappings: tables of a compiler with a few random slips.

A slip makes one rule weaker, by a step of ``synth.memory.translating.weakened`` (a fence left out, the next lower
order, the next narrower scope), or stronger: a fence more, an order or a scope above. Of a mutant that was only made
stronger, a sound table stays sound.

Run as a program, it says of a mapping file how many of how many mutants are refuted, by how many events and in what
time: ``python -m tests.mapping_mutants FILE MUTANTS EVENTS [SCOPES]``.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import median

from corpus.executions.execution import OpKind
from corpus.executions.translation import MappedOp, Translation, read_mapping
from corpus.executions.vocabulary import Vocabulary, spelled_mode
from corpus.litmus.orders import Mode, Order
from oracle.consistency import resolve_consistency_models
from synth.memory.refuting import search
from synth.memory.translating import Checked, checked, weakened
from synth.units import SearchRun, Until, Unwritten


@dataclass(frozen=True)
class Mutant:
    """A table with slips, what they are, and whether each made it stronger."""

    slips: tuple[str, ...]
    check: Checked
    stronger: bool


def strengthened(check: Checked) -> Iterator[tuple[str, Checked]]:
    """The mappings that are one step stronger, each with what the step is."""
    for (kind, mode), target in check.translation.targets.items():
        for said, stronger in _stronger(kind, target, check.target_words):
            targets = {**check.translation.targets, (kind, mode): stronger}
            yield f"{spelled_mode(kind, mode)}: {said}", replace(check, translation=Translation(targets))


def _stronger(kind: OpKind, target: MappedOp, words: Vocabulary) -> Iterator[tuple[str, MappedOp]]:
    for fence in words.modes.get(OpKind.FENCE, ()):
        if fence.order is Order.SC:
            word = spelled_mode(OpKind.FENCE, fence)
            if kind is OpKind.FENCE and target.itself is None:
                yield f"{word} for nothing", replace(target, itself=fence)
                continue
            yield f"{word} after", replace(target, after=(*target.after, fence))
            if kind is not OpKind.FENCE:
                yield f"{word} before", replace(target, before=(fence, *target.before))
    if target.itself is not None:
        own = target.kind(kind)
        for way in _above(own, target.itself, words):
            yield f"{spelled_mode(own, way)} for {spelled_mode(own, target.itself)}", replace(target, itself=way)


def _above(kind: OpKind, mode: Mode, words: Vocabulary) -> list[Mode]:
    return [way for way in words.modes[kind] if mode in (*words.lower_orders(kind, way), words.narrower(kind, way))]


def mutant(check: Checked, rng: Random, most: int = 3) -> Mutant:
    """A table with one to ``most`` slips."""
    slips, stronger = [], True
    for _ in range(rng.randint(1, most)):
        up = rng.random() < 0.4
        ways = list((strengthened if up else weakened)(check))
        if ways:
            said, check = rng.choice(ways)
            slips.append(said)
            stronger &= up
    return Mutant(tuple(slips), check, stronger)


def main(file: str, count: str, events: str, *scopes: str) -> None:
    written = read_mapping(Path(file).read_text(), file)
    names = [word.text if word else "" for word in written.models]
    names = [str(Path(file).parent / name) if name.endswith(".cat") else name for name in names]
    source, target = resolve_consistency_models(names)
    table = checked(written, source, target, (2, int(events)), None, scopes)
    refuted: Counter[int] = Counter()
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(int(count)):
        started = time.monotonic()
        found = search(mutant(table, Random(seed)).check, SearchRun(Unwritten(), "minisat22", 1, Until(1)))
        seconds[bool(found.bugs)].append(time.monotonic() - started)
        if found.bugs:
            refuted[found.bugs[0].source.size] += 1
    sizes = ", ".join(f"{number} by {size} events" for size, number in sorted(refuted.items()))
    print(f"{file}: {refuted.total()} of {count} mutants refuted ({sizes}), the others sound up to {events} events")
    for wrong, times in seconds.items():
        if times:
            print(f"  {'refuted' if wrong else 'sound'}: median {median(times):.2f} s, at most {max(times):.2f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
