"""The operational models of Sorensen 2013 once more: the rules of its section 4.2 one by one, nothing reduced.

For straight-line programs of loads, stores of constants and fences. Slower by orders of magnitude than
``oracle.operational.explore``, and independent of it: the judge that the reductions there are held to.

A thread is ``(counter, queues, pool)``, a copy of memory ``(data, b, ls, gs)`` for each location. All queues are there,
also those of locations that a thread never touches.
"""

from itertools import product

from corpus.litmus.instructions import Fence, Load
from corpus.litmus.locations import Loc, Region
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import FinalRegister


def finals(test, strong):
    """The final states, as ``oracle.operational`` gives them, with the stale copies of the weak model left out."""
    return _Reference(test, strong).explore()


class _Reference:
    def __init__(self, test, strong):
        self.strong = strong
        self.threads = range(len(test.threads))
        self.code = [thread.instructions for thread in test.threads]
        self.names = [location.name for location in test.locations]
        self.region = [location.region for location in test.locations]
        self.block = [thread.place[: Scope.CTA.value] for thread in test.threads]
        self.loads = [(t, ins.target) for t in self.threads for ins in self.code[t] if isinstance(ins, Load)]
        assert len(set(self.loads)) == len(self.loads)
        self.initial = [location.initial for location in test.locations]
        terms = set(test.condition.observed)
        registers = sorted(term for term in terms if isinstance(term, FinalRegister))
        self.terms = (*registers, *sorted(term for term in terms if isinstance(term, Loc)))

    # A holder of copies: the thread itself, or in the strong model the first thread of its block.
    def holder(self, t):
        return self.block.index(self.block[t]) if self.strong else t

    def holders(self):
        return sorted({self.holder(t) for t in self.threads})

    def explore(self):
        queues = ((),) * len(self.names)
        start = (
            ((0, queues, frozenset()),) * len(self.code),
            tuple(tuple((value, False, True, True) for value in self.initial) for _ in self.threads),
            (None,) * len(self.loads),
        )
        seen, todo, found = {start}, [start], set()
        while todo:
            state = todo.pop()
            after = list(self.steps(*state))
            if not after:
                found.add(self.final(*state))
            for new in after:
                if new not in seen:
                    seen.add(new)
                    todo.append(new)
        return frozenset(found)

    def final(self, threads, memory, registers):
        assert all(counter == len(self.code[t]) for t, (counter, _, _) in enumerate(threads))
        values = dict(zip(self.loads, registers, strict=True))
        final = []
        for term in self.terms:
            if isinstance(term, FinalRegister):
                final.append(values[term.thread, term.register])
                continue
            a = self.names.index(term.name)
            copies = {memory[h][a][0] for h in self.holders() if not memory[h][a][1] and self.sees(h, a)}
            assert len(copies) == 1, "copies that are not borrowed agree in the end"
            final.append(copies.pop())
        return tuple(final)

    def sees(self, t, a):
        """Whether a location is visible to a thread; a shared one is where the test says, at the block that uses it."""
        if self.region[a] is Region.GLOBAL:
            return True
        users = [
            u
            for u in self.threads
            for ins in self.code[u]
            if not isinstance(ins, Fence) and ins.address == Loc(self.names[a])
        ]
        return not users or self.block[users[0]] == self.block[t]

    def steps(self, threads, memory, registers):
        for t in self.threads:
            counter, queues, pool = threads[t]
            if counter < len(self.code[t]):
                yield self.with_thread(threads, t, self.fired(t, *threads[t])), memory, registers
            for a in range(len(self.names)):
                if queues[a]:
                    yield from self.drained(threads, memory, registers, t, a)
            for load in pool:
                for value, copies in self.loaded(memory, t, load[0]):
                    rest = (counter, queues, pool - {load})
                    yield self.with_thread(threads, t, rest), copies, self.with_register(registers, t, load, value)
            heads = {queue[0] if queue else None for queue in queues}
            if not pool and heads in ({"TFB"}, {"TF"}):
                rest = (counter, tuple(queue[1:] for queue in queues), pool)
                yield self.with_thread(threads, t, rest), self.fenced(memory, t, heads.pop()), registers
        for h in self.holders():
            for a in range(len(self.names)):
                yield from ((threads, copies, registers) for copies in self.shared(memory, h, a))

    def with_thread(self, threads, t, new):
        return (*threads[:t], new, *threads[t + 1 :])

    def with_register(self, registers, t, load, value):
        at = self.loads.index((t, load[1]))
        return (*registers[:at], value, *registers[at + 1 :])

    def with_copy(self, memory, t, a, copy):
        return (*memory[:t], (*memory[t][:a], copy, *memory[t][a + 1 :]), *memory[t + 1 :])

    def fired(self, t, counter, queues, pool):
        ins = self.code[t][counter]
        if isinstance(ins, Fence):
            name = "TFB" if ins.mode.scope is Scope.CTA else "TF"
            return counter + 1, tuple((*queue, name) for queue in queues), pool
        a = self.names.index(ins.address.name)
        item = ("load", a, ins.target) if isinstance(ins, Load) else ("store", a, ins.value)
        return counter + 1, (*queues[:a], (*queues[a], item), *queues[a + 1 :]), pool

    def drained(self, threads, memory, registers, t, a):
        counter, queues, pool = threads[t]
        head, *rest = queues[a]
        if head in ("TF", "TFB"):
            return
        kind, _, what = head
        queues = (*queues[:a], tuple(rest), *queues[a + 1 :])
        if kind == "load" and self.strong:
            value = memory[self.holder(t)][a][0]
            after = self.with_thread(threads, t, (counter, queues, pool))
            yield after, memory, self.with_register(registers, t, (a, what), value)
        elif kind == "load":
            yield self.with_thread(threads, t, (counter, queues, pool | {(a, what)})), memory, registers
        elif not any(load[0] == a for load in pool):
            is_global = self.region[a] is Region.GLOBAL
            copy = (what, False, False, not is_global)
            after = self.with_copy(memory, self.holder(t), a, copy)
            yield self.with_thread(threads, t, (counter, queues, pool)), after, registers

    def loaded(self, memory, t, a):
        yield memory[t][a][0], memory
        if memory[t][a][1]:
            return
        for other in self.threads:
            value, _, ls, gs = memory[other][a]
            if other == t or not self.sees(other, a):
                continue
            if not (ls if self.block[other] == self.block[t] else gs):
                yield value, self.with_copy(memory, t, a, (value, True, True, True))

    def merged(self, memory, h, a, everywhere):
        value, _, ls, gs = memory[h][a]
        for other in self.holders():
            inside = self.block[other] == self.block[h]
            if other == h or not (inside or everywhere) or not self.sees(other, a):
                continue
            if not ls or not (gs or inside):
                memory = self.with_copy(memory, other, a, (value, False, True, True))
        return memory

    def fenced(self, memory, t, name):
        h = self.holder(t)
        for a in range(len(self.names)):
            memory = self.merged(memory, h, a, name == "TF")
            value, borrowed, _, gs = memory[h][a]
            memory = self.with_copy(memory, h, a, (value, borrowed, True, gs or name == "TF"))
        return memory

    def shared(self, memory, h, a):
        value, _, ls, gs = memory[h][a]
        if not ls or not gs:
            after = self.merged(memory, h, a, True)
            yield self.with_copy(after, h, a, (value, False, True, True))


def all_placements(count):
    """Every way to put ``count`` threads into blocks: tuples of block numbers, first mentions in order."""
    for blocks in product(range(count), repeat=count):
        if all(block <= max(blocks[:at], default=-1) + 1 for at, block in enumerate(blocks)):
            yield blocks
