"""Renders memory tests as texts for gpuweb/cts, the conformance suite of WebGPU.

The suite's helper (``shader/execution/memory_model/memory_model_setup.ts``) makes two shaders: ``buildTestShader`` from
the code of a test, ``buildResultShader`` from code that counts one instance as ``seq`` or ``weak``; a test fails where
any was weak. Many invocations run at once, and each plays thread 0 for one instance of the test, then thread 1 for
another. This is what its texts may name, and so what a test can be:

- ``x_K`` and ``y_K``, the two locations of the instance for which thread K is played, as indexes into
  ``test_locations.value`` (storage) or ``wg_test_locations`` (the workgroup's memory); all that a test has is atomic,
  or all is plain (``MemoryType``). Memory is 0 at first;
- ``id_K``, the instance; threads 0 and 1 are in two workgroups or in one (``TestType``). Further threads are placed
  here by the helper's ``permute_id`` and ``stripe_workgroup``, in the way of the first two;
- ``results.value[..].r0`` and ``.r1``, two words an instance, atomic and 0 at first; in the result shader ``r0`` and
  ``r1``, and ``mem_x_0`` and ``mem_y_0`` from ``test_locations``, into which workgroup memory is copied for it.

**Barriers** are calls that the whole workgroup comes by, so the code of the threads of a workgroup is cut at them:
first what each does up to its first barrier, then the barrier, and so on. A barrier before all or after all accesses
of a thread adds nothing to it; those of several workgroups come one workgroup after the other, so that none gets
another's.

A test of one location has its accesses by turns through ``x_K`` and ``y_K``, which are one place then
(``aliasedMemory``), for else a compiler would know that they are. Up to two observed registers have a word each; more
share the two, eight bits each.

Refused besides what WGSL cannot say: more than two locations, initial values that are not 0, atomic and plain locations
in one test, workgroup memory beside threads of another workgroup, loops (an invocation plays one thread after the
other and must not wait), more than eight observed registers, and ``forall``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from backends.shared.files import file_stem
from backends.shared.kernel import literal
from backends.shared.layout import place
from backends.wgsl.memory import WgslKernel
from corpus.errors import InputError
from corpus.litmus.control_flow import DoWhile, If, Statement, While
from corpus.litmus.instructions import Barrier, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Loc, Operand, Region
from corpus.litmus.normal import terms
from corpus.litmus.propositions import FinalRegister, Quantifier, Term
from corpus.litmus.test import LitmusTest

LETTERS = "xy"
"""The names that the helper gives to the locations of a test."""

WORDS = 2
"""Words that the helper keeps of each instance."""

BITS = 8
"""Bits of a register where several share a word."""

_OTHER = "~"
"""The end of the second name of a location."""

_FIRST = "local_invocation_id[0]"
_STRIDE = "stress_params.mem_stride * 2u"
_GROUP = "shuffled_workgroup * workgroupXSize"


@dataclass(frozen=True, slots=True)
class ConformanceTest:
    """A test for the suite: its texts, and the members of the helper's ``MemoryType`` and ``TestType`` that it has.

    ``aliased``: both names of a thread's locations are of one place. ``about`` is what the description says of it.
    """

    name: str
    memory_type: str
    test_type: str
    aliased: bool
    test_code: str
    result_code: str
    kind: str
    about: str = ""

    @property
    def shape(self) -> str:
        """The test of the suite that this is a case of: the shape that its name begins with, in letters it allows."""
        return re.sub(r"[^A-Za-z0-9]+", "_", re.split("[+@]", self.name)[0]).strip("_") or "test"


def conformance_test(test: LitmusTest, name: str) -> ConformanceTest:
    """Return a litmus test in the suite's terms.

    Raises ``InputError``, which names the instruction if it is one, where WGSL or the helper cannot say it.
    """
    if test.condition.quantifier is Quantifier.FORALL:
        raise InputError("a conformance test looks for one outcome, and forall is about all")
    kernel = _Kernel(test)
    return ConformanceTest(
        name if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+@-]*", name) else file_stem(name),
        kernel.memory_type,
        "InterWorkgroup" if kernel.is_across else "IntraWorkgroup",
        kernel.is_aliased,
        "\n".join(kernel.test_code()),
        "\n".join(kernel.result_code()),
        kernel.kind,
    )


class _Kernel(WgslKernel):
    """The parts of the text of one test of the conformance suite."""

    arrays: ClassVar[Mapping[Region, str]] = {
        Region.GLOBAL: "test_locations.value",
        Region.SHARED: "wg_test_locations",
    }
    plain = "{}"

    def __init__(self, test: LitmusTest) -> None:
        aliased = _aliased(test)
        self.is_aliased = aliased is not None
        super().__init__(place(aliased or test))
        names = [location.name for location in self.test.locations]
        self._letters = dict(zip(names, LETTERS, strict=False))
        self._in_workgroup = frozenset(location.name for location in self.layout.shareds)
        self.is_across = max(self.layout.ctas) > 0
        self._check(names)
        # The helper has its second thread in another workgroup wherever one is.
        others = range(1, len(self.test.threads))
        second = next((thread for thread in others if self.layout.ctas[thread] > 0), 1)
        self._cast = [0, *sorted(others, key=lambda thread: thread != second)]
        self._registers = [term for term in self.layout.terms if isinstance(term, FinalRegister)]
        self._check_registers()

    @property
    def memory_type(self) -> str:
        """The member of the helper's ``MemoryType`` for the locations of the test."""
        return f"{'NonAtomic' if self._plain else 'Atomic'}{'Workgroup' if self._in_workgroup else 'Storage'}Class"

    @property
    def kind(self) -> str:
        """What a test is about: of barriers, rmws, one location or several."""
        instructions = self.test.instructions
        if any(isinstance(ins, Barrier) for ins in instructions):
            return "barrier"
        if any(isinstance(ins, Rmw) for ins in instructions):
            return "atomicity"
        return "coherence" if self.is_aliased else "weak"

    def test_code(self) -> Iterator[str]:
        """What ``buildTestShader`` takes: the threads, one after the other up to each barrier, and the results."""
        yield from self._further_threads()
        if self._in_workgroup and self.layout.globals:
            yield f"let storage = {_GROUP} * {_STRIDE};"
        for thread in range(len(self.test.threads)):
            yield from self.registers(thread)
        for cta in range(max(self.layout.ctas) + 1):
            members = [thread for thread, other in enumerate(self.layout.ctas) if other == cta]
            for meeting in zip(*(self.phases(thread) for thread in members), strict=True):
                yield from (line for code, _ in meeting for line in code)
                met = {thread: barrier for thread, (_, barrier) in zip(members, meeting, strict=True) if barrier}
                if met:
                    yield self.barrier(met)
        yield from self._results()

    def result_code(self) -> Iterator[str]:
        """What ``buildResultShader`` takes, for a test of two behaviours: whether this instance was weak."""
        condition = self.test.condition
        weak = self.proposition(condition.proposition)
        if condition.filter is not None:
            weak = f"({self.proposition(condition.filter)}) && ({weak})"
        yield f"if ({weak}) {{"
        yield "    atomicAdd(&test_results.weak, 1u);"
        yield "} else {"
        yield "    atomicAdd(&test_results.seq, 1u);"
        yield "}"

    def value(self, thread: int, operand: Operand) -> str:
        if not isinstance(operand, Loc):
            return super().value(thread, operand)
        index = f"{self._letters[operand.name]}_{self._cast.index(thread)}"
        return f"storage + {index}" if self._in_workgroup and operand.name not in self._in_workgroup else index

    def term(self, term: Term) -> str:
        if isinstance(term, int):
            return literal(term)
        if isinstance(term, Loc):
            return f"mem_{self._letters[term.name]}_0"
        word, shift = self._field(term)
        return word if self._has_words else f"(({word} >> {shift}u) & {(1 << BITS) - 1}u)"

    @property
    def _has_words(self) -> bool:
        return len(self._registers) <= WORDS

    def _field(self, term: FinalRegister) -> tuple[str, int]:
        """The word that keeps a register, and where in it."""
        number = self._registers.index(term)
        return f"r{number % WORDS}", number // WORDS * BITS

    def _results(self) -> Iterator[str]:
        for term in self._registers:
            word, shift = self._field(term)
            instance = f"id_{self._cast.index(term.thread)}"
            cell = f"&results.value[{instance if self.is_across else f'{_GROUP} + {instance}'}].{word}"
            register = self.register(term.thread, term.register)
            if self._has_words:
                yield f"atomicStore({cell}, {register});"
            else:
                yield f"atomicOr({cell}, min({register}, {(1 << BITS) - 1}u) << {shift}u);"
        ends = [term.name for term in self.layout.terms if isinstance(term, Loc) and term.name in self._in_workgroup]
        if ends:
            yield "workgroupBarrier();"
        for name in ends:
            index = f"{self._letters[name]}_0"
            there, here = f"test_locations.value[{_GROUP} * {_STRIDE} + {index}]", f"wg_test_locations[{index}]"
            yield f"{there} = {here};" if self._plain else f"atomicStore(&{there}, atomicLoad(&{here}));"

    def _further_threads(self) -> Iterator[str]:
        """The instances and locations of threads beyond two, each of another invocation.

        Thread K of an instance in lane L is played by lane ``permute^-K(L)``. How far away the other workgroups are
        follows from ``permute^-1(L)`` alone, so that threads of one workgroup get one workgroup, and others get others.
        """
        lane = _FIRST
        for role, thread in enumerate(self._cast[1:], 1):
            before, lane = lane, f"lane_{role}"
            if len(self._cast) > 2:
                yield f"let {lane} = permute_id({before}, stress_params.permute_first, workgroupXSize);"
            if role < 2:
                continue
            apart = self.layout.ctas[thread] - self.layout.ctas[0]
            if self.is_across:
                away = before if apart == 1 else f"{before} + {apart - 1}u"
                group = f"stripe_workgroup(shuffled_workgroup, {away})" if apart else "shuffled_workgroup"
                yield f"let id_{role} = {group} * workgroupXSize + {lane};"
            else:
                yield f"let id_{role} = {lane};"
            start = "" if self.is_across or self._in_workgroup else f"{_GROUP} + "
            first, second = f"id_{role}", f"permute_id(id_{role}, stress_params.permute_second, total_ids)"
            if start:
                first, second = f"({start}{first})", f"({start}{second})"
            yield f"let x_{role} = {first} * {_STRIDE};"
            yield f"let y_{role} = {second} * {_STRIDE} + stress_params.location_offset;"

    def _check(self, names: Sequence[str]) -> None:
        if len(names) > len(LETTERS):
            raise InputError(f"the conformance suite has two locations a test, and this one has {', '.join(names)}")
        for location in self.test.locations:
            if location.initial != 0:
                raise InputError(f"{location.name}: in the conformance suite memory is 0 at first")
        accessed = {
            name
            for number, ins in self.test.code
            if isinstance(ins, Load | Store | Rmw)
            for name in self.accessed(number, ins.address)
        }
        if self._plain and accessed - self._plain:
            atomic, plain = (min(names).rstrip(_OTHER) for names in (accessed - self._plain, self._plain))
            both = f"{atomic} has atomic accesses and {plain} plain ones"
            if atomic == plain:
                both = f"{atomic} has atomic and plain accesses"
            raise InputError(f"{both}, and a test of the conformance suite has either")
        if self._in_workgroup and self.is_across:
            other = next(thread for thread, cta in enumerate(self.layout.ctas) if cta > 0)
            raise InputError(
                f"{min(self._in_workgroup)} is in a workgroup's memory, and P{other} in another workgroup than P0"
            )
        for number, phases in enumerate(self._phases):
            if any(_has_loop(code) for code, _ in phases):
                raise InputError(
                    f"P{number} has a loop: an invocation plays one thread after the other, and must not wait"
                )

    def _check_registers(self) -> None:
        if len(self._registers) > WORDS * 32 // BITS:
            raise InputError(f"{len(self._registers)} observed registers: the conformance suite keeps {WORDS} words")
        values = [term for term in terms(self.test.condition) if isinstance(term, int)]
        if not self._has_words and not all(0 <= value < (1 << BITS) - 1 for value in values):
            raise InputError(f"{len(self._registers)} observed registers, and values beyond {BITS} bits each")


def _aliased(test: LitmusTest) -> LitmusTest | None:
    """A test of one location with every second access of a thread by another name; None where it has several."""
    if len(test.locations) != 1:
        return None
    (location,) = test.locations
    other = replace(location, name=location.name + _OTHER)
    threads = []
    for thread in test.threads:
        body: list[Instruction] = []
        accesses = 0
        for ins in thread.instructions:
            if isinstance(ins, Load | Store | Rmw):
                turned = accesses % 2 == 1 and ins.address == Loc(location.name)
                body.append(replace(ins, address=Loc(other.name)) if turned else ins)
                accesses += 1
            else:
                body.append(ins)
        threads.append(replace(thread, instructions=tuple(body)))
    return replace(test, threads=tuple(threads), locations=(location, other))


def _has_loop(code: Sequence[Statement]) -> bool:
    return any(
        isinstance(statement, While | DoWhile)
        or (isinstance(statement, If) and (_has_loop(statement.then) or _has_loop(statement.otherwise or ())))
        for statement in code
    )
