"""Programs that are not given, sampled: random models of their formula, and the candidate that the oracle lists."""

from itertools import islice

from litmus_models import choosing

from constraints.circuit import Circuit
from constraints.programs.choices import choose
from constraints.programs.relaxations import relaxations
from constraints.programs.skeleton import ProgramSkeleton, write_of
from constraints.solvers import open_solver
from corpus.executions.execution import INITIAL, OpKind
from corpus.executions.litmus import litmus_test
from corpus.executions.operations import of_object
from corpus.litmus.instructions import AsyncGroup
from corpus.litmus.orders import Order, Scope
from oracle.cat.interpreter import PreludeValues
from oracle.executions.candidates import candidates
from oracle.executions.events import OBJECT, SETS, VOCABULARY, EventKind
from oracle.executions.threads import unroll_threads


class Sampler:
    """Random models of the formula of all programs whose threads have so many events, with an outcome."""

    def __init__(self, words, sizes, partial=True):
        self.words = words
        self.circuit = Circuit()
        self.unknown = ProgramSkeleton(self.circuit, words, sizes)
        every = [self.circuit.true] * self.unknown.size
        self.final = self.unknown.last_writes()
        self.choices = choose(self.unknown, "", every, partial, self.final)
        self._names = []
        self._open = [
            number for name, number in self.circuit.formula.names() if name[0] not in ("and", "true", "fresh", "way")
        ]
        self._solver = open_solver("minisat22", self.circuit.formula.variables)
        self._solver.add(self.circuit.formula.clauses)
        self.view = self.unknown.view(self.choices, negative=False)
        self.relaxed = list(relaxations(self.unknown, self.view))  # gates alone, which are evaluated, not solved

    def model(self, rng):
        """A random model: of many wishes those are granted that the clauses and the earlier ones let be."""
        wishes = []
        for starts in self.unknown.starts:
            kind = rng.choice([kind for kind, _ in starts])
            wishes.append(rng.choice([literal.number for (other, _), literal in starts.items() if other is kind]))
        rng.shuffle(wishes)
        wishes += [number if rng.random() < 0.6 else -number for number in rng.sample(self._open, len(self._open))]
        granted = []
        for wish in wishes:
            if self._solver.solve([*granted, wish]):
                granted.append(wish)
        assert self._solver.solve(granted)
        return Held(self, [False, *(literal > 0 for literal in self._solver.model())])

    def with_outcome(self, execution):
        """A model that stands for this program with this outcome and coherence, None where there is none."""
        wanted = [literal.number for literal in self.said(execution)]
        for w, row in enumerate(self.choices.co):
            for v, literal in row.items():
                pair = (w, v) in {tuple(write_of(execution, each) for each in pair) for pair in execution.co}
                wanted.append(literal.number if pair else -literal.number)
        if not self._solver.solve(wanted):
            return None
        return Held(self, [False, *(literal > 0 for literal in self._solver.model())])

    def said(self, execution):
        """What the formula says of a program with its outcome."""
        yield from self.unknown.literals(execution)
        yield from self.unknown.sources(execution)
        yield from (self.final[write_of(execution, write)] for write in execution.final if write is not None)

    def gate(self, number):
        """The operands of the conjunction that a variable stands for."""
        self._names += [name for name, _ in islice(self.circuit.formula.names(), len(self._names), None)]
        kind, *operands = self._names[number - 1]
        assert kind == "and"
        return operands

    def close(self):
        """Frees the solver."""
        self._solver.close()


class Held:
    """What holds in a model."""

    def __init__(self, sampler, values):
        self._sampler, self._values = sampler, values
        self._known = dict(enumerate(values))

    def __call__(self, literal):
        return self._number(literal.number)

    def _number(self, number):
        if number < 0:
            return not self._number(-number)
        if number not in self._known:
            self._known[number] = all(map(self._number, self._sampler.gate(number)))
        return self._known[number]

    def pairs(self, rows):
        """The pairs of a relation."""
        return {(one, other) for one, row in enumerate(rows) for other, truth in row.items() if self(truth)}

    def events(self, found):
        """The events of a set."""
        return {event for event, truth in found.items() if self(truth)}

    def execution(self):
        """The execution that the model stands for."""
        unknown = self._sampler.unknown
        last = [w for w in unknown.events if self(self._sampler.final[w])]
        return unknown.execution(self._values, frozenset(self.pairs(self._sampler.choices.co)), last)

    def seen(self, view):
        """The view's events that happen, by what they are called: number in program order, or initial write's place."""
        happen = [e for e in range(view.size) if self(view.executed[e])]
        names = {e: number for number, e in enumerate(happen)}
        places = {}
        for e in happen:
            if self(view.loc[e][e]):
                first = next(f for f in happen if self(view.loc[f][e]))
                places.setdefault(first, len(places))
        if view.initial_writes:
            assert places.keys() == {e for e in range(view.size) if self(view.used[e])}
            names |= {view.size + first: ("init", place) for first, place in places.items()}
        return names


class Listed:
    """The candidate of an execution's litmus test that has its choices, as the oracle lists it."""

    def __init__(self, execution, partial, co, sync_fence):
        """``co`` and ``sync_fence``: pairs of events, numbered in program order. Reads of nothing read anything."""
        self.test = litmus_test(execution, "test", observed=False)
        firsts, e = [], 0
        for step in execution.steps:
            firsts.append(e)
            e += step.kind.events
        self.size = e
        rf = {}
        for i, source in enumerate(execution.rf):
            if source is not None:
                write = source != INITIAL and execution.steps[source].kind is OpKind.UPDATE
                rf[firsts[i]] = ("init", execution.steps[i].location) if source == INITIAL else firsts[source] + write
        for batch in candidates(self.test, unroll_threads(self.test, 0), choosing(partial, fences=True)):
            names = self._names(batch.base.events)
            if names is None:
                continue
            chosen = batch.valid
            chosen &= self._with(batch, names, "rf", {(write, read) for read, write in rf.items()}, set(rf))
            chosen &= self._with(batch, names, "co", co, set(range(e)), initial=False)
            chosen &= self._with(batch, names, "sync_fence", sync_fence, set(range(e)))
            if chosen:
                self.base, self.names, self.bit = batch.base, names, (chosen & -chosen).bit_length() - 1
                return
        raise AssertionError(f"no candidate of {execution} has these choices: {co}, {sync_fence}")

    def _names(self, events):
        """What events are called; None where a branch skips some."""
        program = [index for index, event in enumerate(events) if event.thread != -1 and is_step(event)]
        if len(program) != self.size:
            return None
        places = {location.name: number for number, location in enumerate(self.test.locations)}
        names = {index: ("init", places[event.location]) for index, event in enumerate(events) if event.thread == -1}
        return names | {index: number for number, index in enumerate(program)}

    @staticmethod
    def _with(batch, names, relation, pairs, targets, initial=True):
        """The candidates in which these are the pairs of a relation that lead to some events."""
        rows, chosen = batch.base.value(relation), batch.base.algebra.true
        for one, row in enumerate(rows):
            for other in names:
                if one not in names:
                    continue
                if names[other] in targets and (initial or isinstance(names[one], int)):
                    truth = row.get(other, 0)
                    chosen &= truth if (names[one], names[other]) in pairs else batch.base.algebra.true ^ truth
        return chosen

    def events(self, name):
        """The events of a set, by what they are called."""
        return {
            self.names[e]
            for e, truth in self.base.value(name).items()
            if truth >> self.bit & 1 and e in self.names
            if not (name in ("RMW", "NORET") and OBJECT in self.base.events[e].tags)
        }

    def pairs(self, name):
        """The pairs of a relation, likewise."""
        return {
            (self.names[one], self.names[other])
            for one, row in enumerate(self.base.relation(name))
            for other, truth in row.items()
            if truth >> self.bit & 1 and {one, other} <= self.names.keys()
        }


def is_step(event):
    """Whether an event is a step of an execution: what mbarriers held before, and groups, are not."""
    held = OBJECT in event.tags and event.kind is EventKind.READ and "RMW" in event.tags
    return not held and not (isinstance(event.group, AsyncGroup) and event.group.pending is None)


def called(execution, step, words):
    """What the clauses call a relaxation of an execution."""
    firsts = [sum(step.kind.events for step in execution.steps[:i]) for i in range(len(execution.steps))]
    kind = step.kind.value
    if kind in ("instruction", "order", "scope", "memory", "update"):
        i, e = step.instructions[0], firsts[step.instructions[0]]
        before = execution.steps[i]
        if before.kind is OpKind.BARRIER and kind == "instruction":
            thread = execution.thread_of[i]
            earlier = [j for j in range(i) if execution.thread_of[j] == thread]
            return f"barrier({thread}, {sum(execution.steps[j].kind is OpKind.BARRIER for j in earlier)})"
        if kind == "order":
            rank = words.lower_orders(before.kind, before.mode).index(step.mode)
            return f"{('order', 'other order', 'third order')[rank]}({e})"
        if kind == "memory":
            rank = words.less_memory(before.kind, before.mode).index(step.mode)
            return f"{('memory', 'other memory')[rank]}({e})"
        return f"{ {'instruction': 'remove', 'scope': 'scope', 'update': 'split'}[kind] }({e})"
    if kind == "dependency":
        dep = step.dependency
        if dep.kind == "ctrl":
            return f"branch({firsts[dep.source]})"
        half = dep.kind == "data" and execution.steps[dep.target].kind is OpKind.UPDATE
        return f"{dep.kind}({firsts[dep.source]}, {firsts[dep.target] + half})"
    if kind == "region":
        return f"shared({next(firsts[i] for i, each in enumerate(execution.steps) if each.location == step.location)})"
    if kind == "system":
        return f"ssw({step.threads[0]}, {step.threads[1]})"
    if kind == "address":
        events = (firsts[i] + half for i in step.instructions for half in range(execution.steps[i].kind.events))
        return f"address({tuple(events)})"
    moved = [t for t, (old, new) in enumerate(zip(execution.places, step.places, strict=True)) if old != new]
    old, new = execution.places[moved[0]], step.places[moved[0]]
    changed = next(depth for depth, pair in enumerate(zip(old, new, strict=True), 1) if pair[0] != pair[1])
    level = next(level for level in Scope if level.value == changed)
    return f"apart({level.label}, {tuple(moved)})"


def check_values(held, listed, names, execution, words, base_of):
    """Every set and relation of a base is the oracle's of the execution, with and without initial writes.

    ``base_of(initial_writes)`` is the base, ``held`` the solution that its literals are of, and ``names`` says which
    event of the base is which of ``listed``.
    """
    begins = [(i, half == 0) for i, step in enumerate(execution.steps) for half in range(step.kind.events)]
    orphans = {e for e, (i, first) in enumerate(begins) if first and execution.rf[i] is None}
    waits = {e for e, (i, _) in enumerate(begins) if of_object(execution.steps[i].mode)}
    of_c = any(step.mode.order is not Order.WEAK and step.mode.scope is None for step in execution.steps)
    unsaid = {"SYS", "sr"} if of_c else set()  # tests of C name the scope of the system
    unsaid |= {*words.unmade} & {"squeue"}  # those of PTX no clusters, where nothing has their scope
    for initial_writes in (True, False):
        base = PreludeValues(base_of(initial_writes))

        def told(event, initial_writes=initial_writes):
            return initial_writes or isinstance(event, int)

        for name in sorted(SETS - unsaid):
            expected = {event for event in listed.events(name) if told(event)}
            # Who fails to wait acquires nothing.
            failed = waits & orphans if name in ("ACQ", "RLX", "WAITED") else set()
            assert {names[event] for event in held.events(base.value(name))} - failed == expected - failed, name
        for name in sorted({*VOCABULARY.relations, "fr"} - unsaid):
            expected = {
                (one, other)
                for one, other in listed.pairs(name)
                if told(one) and told(other) and not (name == "rf" and other in orphans)
                if not (name == "fr" and one in orphans)
            }
            assert {(names[one], names[other]) for one, other in held.pairs(base.value(name))} == expected, name
