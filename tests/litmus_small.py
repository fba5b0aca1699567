"""All small litmus tests of plain loads, stores and membars: what models are compared on.

A test observes all registers, so that its set of outcomes is the set of its final states. Each store has a value of its
own; each thread's registers are ``r0, r1, ..``. Tests that are one up to names of locations and the order of threads
come once. Fences stand between accesses only, and never two in a row: elsewhere they order nothing.
"""

from itertools import combinations_with_replacement, pairwise, permutations, product

from litmus_code import CTA, GL, litmus_test
from reference_thesis import all_placements

from corpus.litmus.describe import describe
from corpus.litmus.instructions import Fence, Load, Store
from corpus.litmus.locations import Loc
from oracle.operational.explore import explore


def small_tests(threads=2, instructions=3, locations=2, memory=False):
    """Every test of ``threads`` threads, 1 to ``instructions`` instructions each, over up to ``locations`` locations.

    In every placement of its threads in CTAs, up to symmetry; with ``memory``, final memory is observed as well.
    Its name says its threads and placement: ``ld x, fence.sc.cta, st y | st x @ 01``. The order is fixed.
    """
    names = "xyzw"[:locations]
    alphabet = [("ld", name) for name in names] + [("st", name) for name in names] + [CTA, GL]
    bodies = [
        body
        for length in range(1, instructions + 1)
        for body in product(alphabet, repeat=length)
        if _fences_have_sides(body)
    ]
    ranks = {body: rank for rank, body in enumerate(bodies)}
    for columns in combinations_with_replacement(bodies, threads):
        for blocks in all_placements(threads):
            own = tuple((ranks[body], block) for body, block in zip(columns, blocks, strict=True))
            if all(own <= image for image in _images(columns, blocks, names, ranks)) and _uses_first(columns, names):
                yield _test(columns, blocks, memory)


def operational_outcomes(test, strong):
    """The final states of a test in ``thesis-strong`` or ``thesis-weak``: values in the order of what it observes."""
    outcomes = explore(test, strong)
    order = [outcomes.terms.index(term) for term in test.condition.observed]
    return frozenset(tuple(final[at] for at in order) for final in outcomes.finals)


def _fences_have_sides(body):
    fence = [isinstance(ins, Fence) for ins in body]
    return not fence[0] and not fence[-1] and not any(map(all, pairwise(fence)))


def _uses_first(columns, names):
    """Whether the locations in use are the first of the names."""
    used = {ins[1] for body in columns for ins in body if not isinstance(ins, Fence)}
    return used == set(names[: len(used)])


def _images(columns, blocks, names, ranks):
    """The test under every renaming of its locations and reordering of its threads."""
    for order in permutations(range(len(columns))):
        numbers = {}
        placed = [numbers.setdefault(blocks[thread], len(numbers)) for thread in order]
        for new in permutations(names):
            renaming = dict(zip(names, new, strict=True))
            yield tuple(
                (ranks[tuple(ins if isinstance(ins, Fence) else (ins[0], renaming[ins[1]]) for ins in body)], block)
                for body, block in zip((columns[thread] for thread in order), placed, strict=True)
            )


def _test(columns, blocks, memory):
    stored = 0
    threads = []
    for body in columns:
        thread = []
        for ins in body:
            if isinstance(ins, Fence):
                thread.append(ins)
            elif ins[0] == "ld":
                thread.append(Load(f"r{sum(isinstance(other, Load) for other in thread)}", Loc(ins[1])))
            else:
                stored += 1
                thread.append(Store(Loc(ins[1]), stored))
        threads.append(thread)
    told = [", ".join(describe(ins) if isinstance(ins, Fence) else " ".join(ins) for ins in body) for body in columns]
    name = f"{' | '.join(told)} @ {''.join(map(str, blocks))}"
    used = {ins[1] for body in columns for ins in body if not isinstance(ins, Fence)}
    return litmus_test(threads, blocks, observed=sorted(used) if memory else (), name=name)
