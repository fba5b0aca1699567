"""Renders a memory test as three kernels in a C-like language. This is the part that all languages share.

``reset`` gives every location its initial value, ``run`` runs the test once in every instance and keeps the registers
that its condition asks for, ``count`` counts the outcomes. The kernel boundaries order them. Only the histogram comes
back from the device: a table of outcomes and how often each was seen, in which an outcome's row is found by hashing.
The row belongs to the first instance that claims it with a compare-and-swap; others compare their values with this
owner's. So any values can be counted, and what finds no row is counted as other.

**The code of a test.** Registers are local variables of 32 bits, unsigned; comparisons, divisions, minima and maxima
convert to signed. Branches are ``if`` and ``while`` (``corpus.litmus.control_flow``). A location is an element of an
array and an address its index, so that what a test adds to an address is added in the code, and a dependency through it
(the ``and`` with 0x80000000 of Alglave et al. 2015, section 4.5) is one of the compiled code too. Where a thread has
barriers, its code is cut there, and all of its work-group meets at the barrier, which is at the top level.

**Nothing is approximated.** What a language has no words for is refused, by ``InputError`` that names the thread, the
instruction and the reason. A scope is what threads it includes: one that the language lacks is said with another
that, in this test and for this thread, includes the same threads (``Kernel.scope``), and refused otherwise.

**What a language states.** A subclass of ``Kernel`` sets the class attributes that have no default, and defines

- ``load``, ``store``, ``rmw``, ``fence``: one instruction of a thread as statements, with ``self.refuse`` for what it
  cannot say. Addresses come as ``Cell``: a region, and an lvalue in its array;
- ``barrier``: what a CTA's threads do at a barrier, as statements that the whole work-group executes;
- ``parts``: what ``text``, the whole file, has besides ``constants``, where that is more than the bodies that
  ``reset``, ``run`` and ``count`` give.

Where atomics are functions, ``backends.shared.atomics`` has all of these but the last, and a language has tables.

Drivers compile a kernel when it is first launched, so hosts launch all three once before the first iteration, with
``WARM_UP`` for the seed: ``run`` then ends at once, whatever loops the test has.

Bodies use the names ``memory``, ``results``, ``histogram`` (arrays in global memory), ``local_memory`` (the
work-group's), ``seed`` and, in ``run``, what ``group`` and ``item`` say; ``index`` is an instance in ``reset`` and
``count``, one thread each.

Refused in all languages: addresses in memory (a location or an observed register that holds one), a register that may
hold addresses of both regions, aliases of locations, barriers in branches or of which threads of a CTA have different
numbers, more than one launch can hold (``layout.place``), and an access that might be to no location of the test
(``reach``).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count, zip_longest
from string import Template
from typing import ClassVar

from backends.shared.addresses import address_targets, first_user, targets_of
from backends.shared.hosting import WARM_UP
from backends.shared.layout import EXPRESSIONS, HISTOGRAM_HEADER, MACROS, SPOT, STRESSER, WORKING, Layout
from backends.shared.reach import check_accesses
from backends.shared.syntax import C, LanguageSyntax
from corpus.errors import InputError
from corpus.litmus.condition import print_condition
from corpus.litmus.control_flow import DoWhile, If, Statement, While, negated, structured
from corpus.litmus.describe import cannot_say, describe
from corpus.litmus.instructions import (
    COMPARISONS,
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Comparison,
    Fence,
    GroupOperation,
    Instruction,
    Load,
    Rmw,
    Store,
    is_asynchronous,
)
from corpus.litmus.locations import Loc, Location, Operand, Reg, Region
from corpus.litmus.normal import without_predicates
from corpus.litmus.orders import Scope
from corpus.litmus.propositions import And, Atom, FinalRegister, Not, Or, Proposition, Term

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_HOMES = {Region.GLOBAL: "memory", Region.SHARED: "local_memory"}
_NAME = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class MemoryWord:
    """A word that an instruction accesses: the array it is in, and an lvalue of the language, ``memory[at_x]``;
    ``remote``: it is in the shared memory of another CTA of the cluster.
    """

    region: Region
    text: str
    remote: bool = False


class Kernel(ABC):
    """A memory test in one language. The instance holds the test and its layout; all methods are pure.

    Attributes of a language, strings in which ``{}``, ``{cell}`` and ``{value}`` are filled in:

    - ``text``: the whole file, in which ``file`` fills in names with a dollar sign; ``remark`` begins a comment in it;
    - ``syntax``: how it phrases declarations and the like; ``signed``, ``unsigned``: conversions of numbers;
    - ``group``, ``item``: the ids of a work-group and of a thread in it; ``largest_group``: how many threads a
      work-group may have;
    - ``arrays``: the name of each region's memory;
    - ``avoided``: letters that no identifier may contain;
    - ``unused``: what goes before the declaration of a variable that may remain unused;
    - ``meet``: a barrier of the whole work-group, which orders shared memory;
    - ``add``, ``claim``, ``peek``: an atomic addition; a compare-and-swap from 0 to ``value`` that gives the old value;
      a read: of a cell in global memory, relaxed and at device scope;
    - ``read``, ``write``: accesses to memory and histogram where no other thread is at work on the cell;
    - ``scratch_load``, ``scratch_store``: accesses to global memory that the compiler keeps;
    - ``weak_exchange``: whether there is a compare-exchange that may fail for no reason;
    - ``counts_barriers``: whether a barrier counts who comes, so that some of a work-group need not;
    - ``clusters``: whether there are clusters of work-groups, and asynchronous operations of PTX;
    - ``warm_up``: the first statement of ``run``.
    """

    title: ClassVar[str]
    text: ClassVar[str]
    remark: ClassVar[str] = "// "
    largest_group: ClassVar[int | None] = 1024
    syntax: ClassVar[LanguageSyntax] = C
    group: ClassVar[str]
    item: ClassVar[str]
    signed: ClassVar[str] = "int({})"
    unsigned: ClassVar[str] = "uint({})"
    avoided: ClassVar[str | None] = None
    unused: ClassVar[str] = ""
    arrays: ClassVar[Mapping[Region, str]] = _HOMES
    meet: ClassVar[str]
    claim: ClassVar[str]
    add: ClassVar[str]
    peek: ClassVar[str]
    read: ClassVar[str] = "{cell}"
    write: ClassVar[str] = "{cell} = {value}"
    scratch_load: ClassVar[str]
    scratch_store: ClassVar[str]
    weak_exchange: ClassVar[bool] = False
    counts_barriers: ClassVar[bool] = False
    clusters: ClassVar[bool] = False
    warm_up: ClassVar[str] = f"if (seed == {WARM_UP}u) {{ return; }} // launched to be compiled"
    buffers: ClassVar[Mapping[str, str]] = {}
    """Buffers in the order of their bindings, each with the constant that is its size in words; none where they are
    arguments of the kernels."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.test = without_predicates(layout.test)
        self._where = {location.name: location.region for location in self.test.locations}
        self._targets = address_targets(self.test)
        self._names = [_spelled(thread.names, self.avoided) for thread in self.test.threads]
        self._phases = [_phases(structured(*thread)) for thread in enumerate(self.test.threads)]
        if not self.clusters:
            self._check_without_clusters()
        self._check_barriers()
        check_accesses(self.test)
        if self.largest_group is not None and layout.group_size > self.largest_group:
            raise InputError(f"a work-group of {layout.group_size} threads: expected at most {self.largest_group}")

    # what a language states

    @abstractmethod
    def load(self, thread: int, ins: Load, target: str, cell: MemoryWord) -> str:
        """Return the statements that load a cell into a register: ``target = cell``."""

    @abstractmethod
    def store(self, thread: int, ins: Store, cell: MemoryWord, value: str) -> str:
        """Return the statements that store a value in a cell: ``cell = value``."""

    @abstractmethod
    def rmw(self, thread: int, ins: Rmw, target: str | None, cell: MemoryWord, values: Sequence[str]) -> str:
        """Return the statements of an rmw; ``values`` are its operands. ``target`` may also be among them."""

    @abstractmethod
    def fence(self, thread: int, ins: Fence) -> str:
        """Return the statements of a memory fence with its order and scope."""

    @abstractmethod
    def barrier(self, barriers: Mapping[int, Barrier]) -> str:
        """Return what a work-group executes where each of the threads of its CTA has come to the barrier of its own."""

    def asynchronous(self, thread: int, ins: Instruction) -> str:
        """Return the statements of an instruction of asynchronous operations or mbarriers, in a language that has
        these.
        """
        raise self.refuse(thread, ins, "has no asynchronous operations")

    def parts(self) -> Mapping[str, object]:
        """Return what ``text`` takes besides ``$name``, ``$test``, ``$constants`` and the constants themselves."""
        return {"reset": indented(self.reset()), "run": indented(self.run()), "count": indented(self.count())}

    # what languages use

    def file(self, name: str) -> str:
        """Return the text of the whole file. ``name`` is a safe file name without suffix
        (``backends.shared.files.file_stem``).
        """
        known = {"name": name, "test": self.comment(), "constants": self.constants()}
        launched = {**self.sizes(), "header": HISTOGRAM_HEADER, "warm_up": f"{WARM_UP}u"}
        return Template(self.text).substitute(known, **launched, **self.parts())

    def refuse(self, thread: int, ins: Instruction, reason: str) -> InputError:
        """Return the error for an instruction that the language has no words for: ``P0: ld.cg r1, x: the reason``."""
        return cannot_say(thread, ins, f"{self.title} {reason}")

    def scope(
        self,
        thread: int,
        ins: Load | Store | Rmw | Fence | Barrier,
        words: Mapping[Scope, str],
    ) -> str:
        """Return the word for the instruction's scope, or for a scope that includes the threads of the test that this
        one does.

        Raises ``InputError`` where there is none.
        """
        scope = ins.mode.scope
        if scope is None:
            raise self.refuse(thread, ins, "has a scope at every atomic, and this one has none")
        if scope in words:
            return words[scope]
        included = self.included(thread, scope)
        for other, word in words.items():
            if self.included(thread, other) == included:
                return word
        raise self.refuse(thread, ins, f"has no scope {scope.label}, nor another of the same threads here")

    def accessed(self, thread: int, address: Operand) -> frozenset[str]:
        """Return the locations that an address may be of; none where it is a number."""
        return targets_of(address, self._targets[thread])

    def home(self, location: str) -> int:
        """Return the CTA whose shared memory a location is in."""
        return self.layout.ctas[first_user(self.test, location)]

    def included(self, thread: int, scope: Scope) -> frozenset[int]:
        """Return the threads that a scope includes, at a thread."""
        threads = self.test.threads
        return frozenset(
            number for number, other in enumerate(threads) if other.place.shares(threads[thread].place, scope)
        )

    def constants(self) -> str:
        """Return the definitions of the sizes of the launch, and of where things are in memory."""
        return "\n".join(self.syntax.definitions(self.sizes().items(), MACROS.items()))

    def sizes(self) -> dict[str, int]:
        """Return the constants of the program: those of the launch, and what a language adds."""
        return self.layout.constants

    def comment(self) -> str:
        """Return the test in words, each line a comment, with a newline at the end."""
        lines = []
        for number, thread in enumerate(self.layout.test.threads):
            lines += [f"P{number}: {describe(ins)}" for ins in thread.instructions]
        lines += print_condition(self.layout.test.condition).splitlines()
        return "".join(f"{self.remark}{line}\n" for line in lines)

    # the three kernels

    def reset(self) -> list[str]:
        """Return the body of ``reset``, for the instance ``index``: initial values, and the counter of
        synchronisation.
        """
        return [
            *(
                f"{self.put(location, f'ADDRESS(index, {number}u)', initial(location))}; // {location.name}"
                for number, location in enumerate(self.layout.globals)
            ),
            f"{self.write.format(cell='memory[COUNTERS + index]', value='0u')};",
        ]

    def run(self) -> list[str]:
        """Return the body of ``run``, for the thread that ``group`` and ``item`` say."""
        once, every = list(EXPRESSIONS.items())[:2], list(EXPRESSIONS.items())[2:]
        body = [
            *(self.syntax.constant(name, text) for name, text in every),
            *self.locations(),
            *(line for thread in range(len(self.test.threads)) for line in self.registers(thread)),
            *self._shared_initial(),
            *self._stress_before(),
            *self._synchronise(),
            *self._test(),
            *self._shared_final(),
        ]
        return [
            self.warm_up,
            self.syntax.constant("group", self.group),
            self.syntax.constant("item", self.item),
            *(self.syntax.constant(name, text) for name, text in once),
            *self._stress(),
            *self._patience(),
            f"for ({self.syntax.variable('nth', '0u')} nth < PASSES; nth += 1u) {{",
            *("    " + line for line in body),
            "}",
        ]

    def count(self) -> list[str]:
        """Return the body of ``count``, for the instance ``index``: its outcome's row, found or claimed, and
        its count.
        """
        values = [self._final(number, term) for number, term in enumerate(self.layout.terms)]
        lines = [self.syntax.constant(f"value{number}", value) for number, value in enumerate(values)]
        holds = self.proposition(self.test.condition.proposition)
        if self.test.condition.filter is not None:
            holds = f"({self.proposition(self.test.condition.filter)}) && ({holds})"
        names = [f"value{number}" for number in range(len(values))]
        others = [self._final(number, term, "(owner - 1u)") for number, term in enumerate(self.layout.terms)]
        same = " && ".join(f"{name} == {other}" for name, other in zip(names, others, strict=True))
        row = f"{HISTOGRAM_HEADER}u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS"
        return [
            *lines,
            f"if ({holds}) {{ {self.add.format(cell='histogram[0]', value='1u')}; }}",
            self.syntax.variable("hash", "0u"),
            *(f"hash = (hash ^ {name}) * 2654435761u;" for name in names),
            self.syntax.variable("probe", "0u"),
            "for (; probe < ROWS; probe += 1u) {",
            f"    {self.syntax.constant('row', row)}",
            f"    {self.syntax.variable('owner', self.peek.format(cell='histogram[row]'))}",
            f"    if (owner == 0u) {{ owner = {self.claim.format(cell='histogram[row]', value='index + 1u')}; }}",
            "    if (owner == 0u) {",
            *(
                f"        {self.write.format(cell=f'histogram[row + {2 + number}u]', value=name)};"
                for number, name in enumerate(names)
            ),
            "        owner = index + 1u;",
            "    }",
            f"    if (owner == index + 1u || ({same or '1u == 1u'})) {{",
            f"        {self.add.format(cell='histogram[row + 1u]', value='1u')};",
            "        break;",
            "    }",
            "}",
            f"if (probe == ROWS) {{ {self.add.format(cell='histogram[1]', value='1u')}; }}",
        ]

    def proposition(self, proposition: Proposition) -> str:
        """Return a proposition over ``value0``, ``value1`` and so on, in the order of ``Layout.terms``."""
        match proposition:
            case Atom(operation, left, right):
                return self.compared(operation, self.term(left), self.term(right))
            case Not(body):
                return f"!({self.proposition(body)})"
            case And(parts):
                return " && ".join(f"({self.proposition(part)})" for part in parts) or "1u == 1u"
            case Or(parts):
                return " || ".join(f"({self.proposition(part)})" for part in parts) or "1u == 0u"

    def term(self, term: Term) -> str:
        """Return a term of a proposition as an expression: a number, or the ``value`` of its place in
        ``Layout.terms``.
        """
        return literal(term) if isinstance(term, int) else f"value{self.layout.terms.index(term)}"

    # parts of run

    def locations(self) -> list[str]:
        """Return the statements that say where each location of the instance is, as an index into its array."""
        shared = [
            f"{self._located(location, self.shared(number, 'slot'))} // {location.name}, shared"
            for number, location in enumerate(self.layout.shareds)
        ]
        return shared + [
            f"{self._located(location, f'ADDRESS(instance, {number}u)')} // {location.name}"
            for number, location in enumerate(self.layout.globals)
        ]

    def _located(self, location: Location, place: str) -> str:
        return f"{self.unused}{self.syntax.constant(self.address_variable(location.name), place)}"

    def address_variable(self, location: str) -> str:
        """Return the variable that holds a location's address."""
        return f"at{[known.name for known in self.test.locations].index(location)}"

    def registers(self, thread: int) -> list[str]:
        """Return the declarations of a thread's registers, with their initial values."""
        initial = dict(self.test.threads[thread].registers)
        return [
            self.unused + self.syntax.variable(self.register(thread, name), self.value(thread, initial.get(name, 0)))
            for name in sorted(self._names[thread])
        ]

    def register(self, thread: int, name: str) -> str:
        """Return the name of the variable for a register of a thread, ``p0_r1``."""
        return f"p{thread}_{self._names[thread][name]}"

    def phases(self, thread: int) -> tuple[tuple[list[str], Barrier | None], ...]:
        """Return the code of a thread up to each of its barriers, with it, and from the last one to the end."""
        return tuple(
            ([line for statement in code for line in self._lines(thread, statement)], barrier)
            for code, barrier in self._phases[thread]
        )

    def kept(self, thread: int) -> list[str]:
        """Return the statements that keep the registers of a thread that make the outcome."""
        return [
            f"results[RESULT(instance, {number}u)] = {self.register(thread, term.register)};"
            for number, term in enumerate(self.layout.terms)
            if isinstance(term, FinalRegister) and term.thread == thread
        ]

    def _stress(self) -> list[str]:
        if not self.layout.parameters.stress:
            return []
        return [
            "if (role >= CTAS) {",
            f"    {self.syntax.constant('stresser', STRESSER)}",
            f"    if (stresser < {WORKING}) {{",
            *("        " + line for line in self.hammering("stresser * GROUP_SIZE + item", "STRESS_ROUNDS")),
            "    }",
            "    return;",
            "}",
        ]

    def _stress_before(self) -> list[str]:
        if not self.layout.parameters.stress_before:
            return []
        return ["{", *("    " + line for line in self.hammering("group * GROUP_SIZE + item", "STRESS_BEFORE")), "}"]

    def hammering(self, number: str, rounds: str) -> list[str]:
        """Return the loop in which a thread, known by its number, loads from and stores to the scratch area, so many
        rounds.

        What is loaded is used, or no compiler would keep it: it says where to go on, or is stored at the end.
        """
        moves = self.layout.parameters.spread == 0
        word = "((number + loaded) * 2654435761u) >> 8u" if moves else "spot"
        cell = f"memory[SCRATCH + (({word}) & (SCRATCH_WORDS - 1u))]"
        load = f"loaded += {self.scratch_load.format(cell=cell)}{' & 63u' if moves else ''};"
        store = f"{self.scratch_store.format(cell=cell, value='rounds')};"
        return [
            self.syntax.constant("number", f"{number} + seed" if moves else number),
            *([] if moves else [self.syntax.constant("spot", SPOT)]),
            self.syntax.variable("loaded", "0u"),
            f"for ({self.syntax.variable('rounds', '0u')} rounds < {rounds}; rounds += 1u) {{",
            *("    " + line for line in self.accesses(load, store)),
            *(["    loaded += 1u;"] if moves else []),
            "}",
            f"{self.scratch_store.format(cell=cell, value='loaded')};",
        ]

    def accesses(self, load: str, store: str) -> list[str]:
        """Return the statements for one round of stress, a sequence of these two accesses."""
        return [load if access == "ld" else store for access in self.layout.parameters.sequence.split()]

    def _patience(self) -> list[str]:
        return [self.syntax.variable("patience", "SPIN")] if self.layout.parameters.spin else []

    def _synchronise(self) -> list[str]:
        if not self.layout.parameters.spin:
            return []
        playing = " || ".join(f"position == {position}u" for position in sorted(self.layout.positions))
        return [f"if ({playing}) {{", *("    " + line for line in self.waiting()), "}"]

    def waiting(self) -> list[str]:
        """Return the statements that count a thread in at the instance's counter, and wait for the others while
        ``patience`` lasts.
        """
        counter = "memory[COUNTERS + instance]"
        return [
            f"{self.add.format(cell=counter, value='1u')};",
            f"while (patience > 0u && {self.peek.format(cell=counter)} < THREADS) {{ patience -= 1u; }}",
        ]

    def _test(self) -> list[str]:
        threads = range(len(self.test.threads))
        phases = [self.phases(thread) for thread in threads]
        lines: list[str] = []
        for number in range(max(map(len, phases))):
            running = [thread for thread in threads if number < len(phases[thread])]
            lines.append("switch (position) {")
            for thread in running:
                code, barrier = phases[thread][number]
                lines.append(f"case {self.layout.positions[thread]}u: {{ // P{thread}")
                lines += ["    " + line for line in [*code, *(self.kept(thread) if barrier is None else []), "break;"]]
                lines.append("}")
            lines += ["default: { break; }", "}"]
            for cta in range(max(self.layout.ctas) + 1):
                members = [thread for thread in running if self.layout.ctas[thread] == cta]
                barriers = {thread: met for thread in members if (met := phases[thread][number][1]) is not None}
                if barriers:
                    lines.append(f"if (cta == {cta}u) {{ {self.barrier(barriers)} }}")
        return lines

    def _check_barriers(self) -> None:
        """The threads of a CTA meet: each of their barriers has the number of the others', and all have as many, unless
        those who come are counted.
        """
        for (one, mine), (other, theirs) in combinations(enumerate(self._phases), 2):
            if self.layout.ctas[one] == self.layout.ctas[other]:
                pairs = zip_longest(*([met and met.name for _, met in code] for code in (mine, theirs)))
                both = [pair for pair in pairs if not self.counts_barriers or None not in pair]
                if any(left != right for left, right in both):
                    raise InputError(f"P{one} and P{other} are in one CTA and do not come to the same barriers")

    def _check_without_clusters(self) -> None:
        for number, ins in self.test.code:
            if is_asynchronous(ins):
                raise self.refuse(number, ins, "has no asynchronous operations")
        if self.layout.cluster > 1:
            raise InputError(f"{self.title} has no clusters, and a cluster of this test has {self.layout.cluster} CTAs")

    def _shared_initial(self) -> list[str]:
        if not self.layout.shareds or self.layout.bare:
            return []
        return [
            "if (item < SLOTS) {",
            *(
                f"    {self.put(location, self.shared(number), initial(location))}; // {location.name}"
                for number, location in enumerate(self.layout.shareds)
            ),
            "}",
            *self.initialised(),
        ]

    def _shared_final(self) -> list[str]:
        lines = []
        names = [location.name for location in self.layout.shareds]
        if not names or self.layout.bare:
            return []
        for number, term in enumerate(self.layout.terms):
            if isinstance(term, Loc) and term.name in names:
                cta, place = self.home(term.name), names.index(term.name)
                value = self.take(self.layout.shareds[place], self.shared(place))
                cell = f"results[RESULT(INSTANCE(turn, nth, cta, item, seed), {number}u)]"
                lines.append(f"if (cta == {cta}u && item < SLOTS) {{ {cell} = {value}; }}")
        return [*self.completed(), *lines, f"{self.meet};"]

    def initialised(self) -> list[str]:
        """Return the statements after which every thread sees the initial values in shared memory."""
        return [f"{self.meet};"]

    def completed(self) -> list[str]:
        """Return the statements after which nothing that the instances of a pass do in shared memory goes on."""
        return [f"{self.meet};"]

    def shared(self, number: int, slot: str = "item") -> str:
        """Return where a slot has a location of shared memory, as an index."""
        return f"SHARED_ADDRESS(turn * PASSES + nth, {slot}, {number}u)"

    def _final(self, number: int, term: FinalRegister | Loc, instance: str = "index") -> str:
        names = [location.name for location in self.layout.globals]
        if isinstance(term, Loc) and term.name in names:
            place = names.index(term.name)
            return self.take(self.layout.globals[place], f"ADDRESS({instance}, {place}u)")
        return f"results[RESULT({instance}, {number}u)]"

    def put(self, location: Location, index: str, value: str) -> str:
        """Return the assignment of ``value`` to a location at an index into its array, where no other thread is at work
        on it.
        """
        return self.write.format(cell=f"{_HOMES[location.region]}[{index}]", value=value)

    def take(self, location: Location, index: str) -> str:
        """Return the value of a location at an index into its array, where no other thread is at work on it."""
        return self.read.format(cell=f"{_HOMES[location.region]}[{index}]")

    # statements

    def value(self, thread: int, operand: Operand) -> str:
        """Return an operand as an expression; an address is an index into its array."""
        if isinstance(operand, Reg):
            return self.register(thread, operand.name)
        return literal(operand) if isinstance(operand, int) else self.address_variable(operand.name)

    def compared(self, operation: str, left: str, right: str) -> str:
        """Return a comparison as a condition of the language, which compares signed numbers by size."""
        if operation in ("eq", "ne"):
            return f"{left} {_COMPARED[operation]} {right}"
        return f"{self.signed.format(left)} {_COMPARED[operation]} {self.signed.format(right)}"

    def _condition(self, thread: int, comparison: Comparison) -> str:
        sides = (self.value(thread, comparison.left), self.value(thread, comparison.right))
        return self.compared(comparison.operation, *sides)

    def _computed(self, operation: str, values: Sequence[str]) -> str:
        if operation == "mov":
            return values[0]
        left, right = values
        if operation in COMPARISONS:
            return self.syntax.choice(self.compared(operation, left, right), "1u", "0u")
        if operation in ("min", "max"):
            return self.syntax.choice(self.compared("lt" if operation == "min" else "gt", left, right), left, right)
        if operation == "div":
            if right in ("0u", literal(-1)):
                return "0u" if right == "0u" else f"0u - {left}"
            quotient = self.unsigned.format(f"{self.signed.format(left)} / {self.signed.format(right)}")
            whole = self.syntax.choice(f"{right} == {literal(-1)}", f"0u - {left}", quotient)
            return self.syntax.choice(f"{right} == 0u", "0u", whole)
        return f"{left} {_SIGNS[operation]} {right}"

    def _lines(self, thread: int, statement: Statement) -> Iterator[str]:
        match statement:
            case Load() | Store() | Rmw() | Assign() if is_asynchronous(statement):
                yield self.asynchronous(thread, statement)
            case AsyncOperation() | AsyncGroup():
                yield self.asynchronous(thread, statement)
            case If(condition, then, otherwise):
                holds = "0u == 1u" if condition is None else self._condition(thread, condition)
                yield f"if ({holds}) {{"
                yield from self._block(thread, then)
                if otherwise is not None:
                    yield "} else {"
                    yield from self._block(thread, otherwise)
                yield "}"
            case While(evaluated, condition, body):
                yield "for (;;) {"
                yield from self._block(thread, evaluated)
                if condition is not None:
                    yield f"    if ({self._condition(thread, negated(condition))}) {{ break; }}"
                yield from self._block(thread, body)
                yield "}"
            case DoWhile(body, condition):
                yield from self.syntax.do_while(self._block(thread, body), self._condition(thread, condition))
            case Load(target, address):
                yield self.load(thread, statement, self.register(thread, target), self.cell(thread, statement, address))
            case Store(address, value):
                yield self.store(thread, statement, self.cell(thread, statement, address), self.value(thread, value))
            case Rmw(target=result, address=address, operands=given):
                if statement.success is not None and not self.weak_exchange:
                    raise self.refuse(thread, statement, "has no exchange that may fail for no reason")
                name = None if result is None else self.register(thread, result)
                values = [self.value(thread, operand) for operand in given]
                yield self.rmw(thread, statement, name, self.cell(thread, statement, address), values)
            case Fence():
                yield self.fence(thread, statement)
            case Assign(target, operation, given):
                values = [self.value(thread, operand) for operand in given]
                yield f"{self.register(thread, target)} = {self._computed(operation, values)};"
            case GroupOperation():
                raise cannot_say(thread, statement, "kernels that are made have no operations of a subgroup")
            case _:
                raise cannot_say(thread, statement, "a barrier can only be where the whole work-group comes by")

    def _block(self, thread: int, statements: Sequence[Statement]) -> Iterator[str]:
        for statement in statements:
            for line in self._lines(thread, statement):
                yield "    " + line

    def cell(self, thread: int, ins: Instruction, address: Operand) -> MemoryWord:
        """Return the word that an instruction accesses. Raises ``InputError`` where its array is not known."""
        regions = {self._where[name] for name in self.accessed(thread, address)}
        if len(regions) != 1:
            found = "a number" if not regions else "in shared or in global memory"
            raise cannot_say(thread, ins, f"the address is {found}")
        (region,) = regions
        return MemoryWord(region, f"{self.arrays[region]}[{self.value(thread, address)}]")


def _phases(code: Sequence[Statement]) -> list[tuple[list[Statement], Barrier | None]]:
    """The code of a thread cut after each barrier at its top level."""
    phases: list[tuple[list[Statement], Barrier | None]] = [([], None)]
    for statement in code:
        if isinstance(statement, Barrier):
            phases[-1] = (phases[-1][0], statement)
            phases.append(([], None))
        else:
            phases[-1][0].append(statement)
    return phases


def initial(location: Location) -> str:
    """Return the initial value of a location, which is a number."""
    assert isinstance(location.initial, int)
    return literal(location.initial)


def literal(number: int) -> str:
    """Return a number as an unsigned constant of 32 bits."""
    return f"{number % (1 << 32)}u"


def indented(lines: Sequence[str], levels: int = 1) -> str:
    """Return lines as one text, each line indented by four spaces a level."""
    return "\n".join("    " * levels + line for line in lines)


def _spelled(registers: frozenset[str], avoided: str | None) -> dict[str, str]:
    """A part of an identifier for each register: its name where that will do."""

    def will_do(name: str) -> bool:
        return bool(_NAME.fullmatch(name)) and (avoided is None or avoided not in name)

    fresh = (name for index in count() if (name := f"x{index}") not in registers)
    return {name: name if will_do(name) else next(fresh) for name in sorted(registers)}
