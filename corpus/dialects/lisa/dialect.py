"""Reads and prints LISA litmus tests with scopes. LISA is herd7's language for machines that it does not know.

    LISA mp
    { x=0; y=0; }
     P0            | P1                ;
     w[weak,cg] x 1 | r[weak,cg] r1 y  ;
     f[sc,cta]     | mov r3 (and r1 0) ;
     w[weak,cg] y 1 | r[weak] r2 x+r3  ;
    scopes: (system (gpu (cta P0) (cta P1)))
    regions: x: shared, y: global
    exists (1:r1=1 /\\ 1:r2=0)

The annotations are those of our bell file, ``corpus.dialects.lisa.bell``, or of the user's,
``corpus.dialects.lisa.own``. With ours, an access without any is weak, an rmw relaxed at GPU scope. ``rmw[..] r1 2 x``
is an exchange and ``rmw[..] r1 (add r1 2) x`` an addition: there the target stands for the old value. ``b[] r1 L`` is
taken where ``r1`` is not 0. ``x+r3`` as an address is an addition of its own.

Printing, predicates become branches, and other names for registers than ``r<digits>`` become such.

LISA computes add, and, xor, eq and ne, and no more; it has no compare-and-swap, no other atomic operations, no
barriers, and in conditions no comparison by size. All that is refused by name.

Source: herdtools7, ``lib/LISAParser.mly``, ``lib/scopeRules.mly``, ``lib/BellBase.ml``, ``herd/BellSem.ml``.
Gaps: ``call``, fences between labels, ``levels`` and symbolic constants (``&x``) are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import count

from corpus.dialects.herd import WORDS as RESERVED
from corpus.dialects.herd import check_comparisons, check_terms, herd_name, herd_text
from corpus.dialects.lisa.bell import CACHES, NO_RESULT, ORDERS, SCOPES, VOLATILE, bell_file
from corpus.dialects.lisa.own import Bell, bell_at, bell_beside
from corpus.dialects.scope_tree import print_groups, read_places
from corpus.errors import InputError
from corpus.lalr import Token, Tree
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import (
    Assign,
    AsyncGroup,
    AsyncOperation,
    Barrier,
    Branch,
    Comparison,
    Fence,
    GroupOperation,
    Instruction,
    Label,
    Load,
    Rmw,
    Store,
)
from corpus.litmus.locations import MEMORY_REGIONS, Loc, Location, Operand, Reg, Region
from corpus.litmus.normal import terms, without_predicates
from corpus.litmus.orders import DEFAULT_RMW, Mode, Order, Place, Scope
from corpus.litmus.processors import mode_of, word_of
from corpus.litmus.propositions import FinalRegister
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner, Source, columns, thread_columns
from corpus.litmus.threads import Thread
from corpus.syntax import BLANKS, error_at, leaves, number, parse, subtrees, wrapped

_GRAMMAR = "corpus.dialects.lisa.lisa"

_TERMINALS = {
    "NAME": "a name",
    "REGISTER": "a register",
    "NUMBER": "a number",
    "INT": "a thread",
    "THREAD": "a thread",
    "MEMBER": "a thread",
    "LEVEL": "a level of the scope tree",
    "WORD": "an annotation",
    "READ": "r",
    "WRITE": "w",
    "FENCE": "f",
    "RMW": "rmw",
    "MOV": "mov",
    "BRANCH": "b",
    "OPERATION": "add, and, xor, eq or neq",
    "SCOPES": "scopes",
    "REGIONS": "regions",
    "$END": "the final condition",
}

_LEVELS = {word: scope for scope, word in SCOPES.items()} | {"sys": Scope.SYS}
_OPERATIONS = {"add": "add", "and": "and", "xor": "xor", "eq": "eq", "neq": "ne"}
_WORDS = {operation: word for word, operation in _OPERATIONS.items()}
_ATOMIC = ("add", "and", "xor")
_KINDS = {"read": "R", "write": "W", "fence": "F", "rmw": "RMW"}
_INSTRUCTIONS = {"R": Load, "W": Store, "F": Fence, "RMW": Rmw}
_ANNOTATIONS = {*map(str, Order), VOLATILE, *CACHES, *_LEVELS}
_LETTERS = {"r", "w", "f", "b"}
_KEYWORDS = {"rmw", "mov", "call", "exch", "cas", "scopes", "levels", "regions", "ne"}.union(_OPERATIONS, RESERVED)
_REGISTER = re.compile(r"r[0-9]+")
_NAME = re.compile(r"(?![rP][0-9]+$)[A-Za-z][A-Za-z0-9_]*")


# Reading.


def _parse(source: Source) -> LitmusTest:
    bell = bell_beside(source.path) if source.bell is None else bell_at(source.bell)
    if bell is None:
        with suppress(InputError):  # which is to say where it is
            return _parse_known(source)
    return _parse_whole(source, bell)


def _parse_known(source: Source) -> LitmusTest:
    """The test, column by column, for columns come again in the tests of a suite.

    Raises ``InputError`` where it is wrong, at another place.
    """
    table, rest = columns(source.body)
    if [head for head, *_ in table] != [f"P{index}" for index in range(len(table))]:
        raise InputError("expected a column of each thread")
    codes = [_known_column(";".join(("P0", *cells, ""))) for _, *cells in table]
    places, regions = _known_places(rest, len(table))
    return _assembled(source, codes, places, regions, _known_state(source.state.strip(BLANKS), len(table)))


def _parse_whole(source: Source, bell: Bell | None) -> LitmusTest:
    body = parse(_GRAMMAR, "body", source.body, source.path, _TERMINALS)
    threads = thread_columns(body, "P", source.path)
    places, regions = _places(body, len(threads), bell, source.path)
    state = _state(source.state, source.path, len(threads))
    codes = (tuple(_Column(column, source.path, bell).instructions()) for column in threads)
    return _assembled(source, codes, places, regions, state)


def _assembled(
    source: Source,
    codes: Iterable[tuple[Instruction, ...]],
    places: Sequence[Place],
    regions: Mapping[str, Region],
    state: _State,
) -> LitmusTest:
    initial, registers = state
    names = dict.fromkeys([*initial, *regions])
    locations = [Location(name, initial.get(name, 0), regions.get(name, Region.GLOBAL)) for name in names]
    threads = [
        Thread(code, place, tuple(sorted((n, v) for n, v in values.items() if v != 0)))
        for code, place, values in zip(codes, places, registers, strict=True)
    ]
    return source.test(threads, locations)


def _places(
    body: Tree, threads: int, bell: Bell | None, path: str | None
) -> tuple[Sequence[Place], Mapping[str, Region]]:
    """Where the threads are, and the locations whose region is said."""
    places = [Place(cta=index) for index in range(threads)]
    levels = bell.levels if bell else _LEVELS
    for tree in subtrees(body, "scopes"):
        for word in (token for token in tree.tokens() if token.type == "LEVEL"):
            if word not in levels and bell and not levels:
                raise error_at(f"{bell.name} declares no scopes, found '{word}'", word, path)
            if word not in levels:
                raise error_at(f"expected {' or '.join(levels)}, found '{word}'", word, path)
        places = read_places(subtrees(tree), levels, threads, leaves(tree)[0], path)
    return places, dict(_region(item, path) for tree in subtrees(body, "regions") for item in subtrees(tree))


_State = tuple[Mapping[str, int | Loc], Sequence[Mapping[str, int | Loc]]]
"""Initial values of locations, and of each thread's registers."""


def _state(text: str, path: str | None, threads: int) -> _State:
    locations: dict[str, int | Loc] = {}
    registers: list[dict[str, int | Loc]] = [{} for _ in range(threads)]
    for item in subtrees(parse(_GRAMMAR, "state", text, path, _TERMINALS)):
        first, *others = leaves(item)
        value = next((_initial(leaves(tree)[0], path) for tree in subtrees(item)), 0)
        known, name = locations, first
        if item.data == "register":
            index = number(first.with_word(first.removeprefix("P")), path)
            if index >= threads:
                raise error_at(f"the test has no thread {first}", first, path)
            known, name = registers[index], others[0]
        if name in known:
            raise error_at(f"{name} is declared twice", name, path)
        known[str(name)] = value
    return locations, registers


@lru_cache(maxsize=1 << 12)
def _known_column(text: str) -> tuple[Instruction, ...]:
    """The code of the one thread of a body."""
    (column,) = thread_columns(parse(_GRAMMAR, "body", text, None, _TERMINALS), "P", None)
    return tuple(_Column(column, None, None).instructions())


@lru_cache(maxsize=1 << 12)
def _known_places(text: str, threads: int) -> tuple[Sequence[Place], Mapping[str, Region]]:
    return _places(parse(_GRAMMAR, "body", f"P0; {text}", None, _TERMINALS), threads, None, None)


@lru_cache(maxsize=1 << 12)
def _known_state(text: str, threads: int) -> _State:
    return _state(text, None, threads)


def _initial(token: Token, path: str | None) -> int | Loc:
    return wrapped(token, path) if token.type == "NUMBER" else Loc(str(token))


def _region(item: Tree, path: str | None) -> tuple[str, Region]:
    name, region = leaves(item)
    if str(region) not in MEMORY_REGIONS:
        raise error_at(f"expected {' or '.join(MEMORY_REGIONS)}, found {region}", region, path)
    return str(name), Region(str(region))


class _Column:
    """Reads the column of instructions of one thread."""

    def __init__(self, column: Sequence[Tree], path: str | None, bell: Bell | None) -> None:
        self._bell = bell
        tokens = [token for item in column for token in item.tokens()]
        mentioned = set(map(str, tokens))
        self._column = column
        self._path = path
        self._fresh = (name for number in count() if (name := f"r{number}") not in mentioned)
        self._mentions = Counter(str(token) for token in tokens if token.type == "REGISTER")

    def instructions(self) -> Iterator[Instruction]:
        """The neutral instructions; one of LISA may be several."""
        for item in self._column:
            match item.data:
                case "label":
                    yield Label(str(leaves(item)[0]))
                case "move":
                    yield self._move(item)
                case "jump":
                    yield self._jump(item)
                case "fence":
                    yield Fence(self._mode(item)[0])
                case _:
                    yield from self._access(item)

    def _move(self, item: Tree) -> Instruction:
        _, target = leaves(item)
        operation, values = self._operation(item)
        return Assign(str(target), operation, values)

    def _jump(self, item: Tree) -> Instruction:
        _, *registers, label = leaves(item)
        for annotation in leaves(subtrees(item, "annotations")[0]):
            raise error_at(f"a branch has no annotation {annotation}", annotation, self._path)
        condition = Comparison("ne", Reg(str(registers[0])), 0) if registers else None
        return Branch(str(label), condition)

    def _access(self, item: Tree) -> Iterator[Instruction]:
        base, *offset = map(self._value, subtrees(subtrees(item, "address")[0]))
        address = base
        if offset:
            address = Reg(next(self._fresh))
            yield Assign(address.name, "add", (base, *offset))
        elif isinstance(base, int):
            raise error_at(f"expected an address, found {base}", leaves(item)[0], self._path)
        mode, wanted = self._mode(item)
        match item.data:
            case "read":
                yield Load(str(leaves(item)[1]), address, mode)
            case "write":
                yield Store(address, self._value(subtrees(item, "value")[0]), mode)
            case _:
                yield from self._rmw(item, address, mode, wanted)

    def _rmw(self, item: Tree, address: Operand, mode: Mode, wanted: bool) -> Iterator[Instruction]:
        keyword, target = leaves(item)
        operation, values = self._operation(item)
        old = Reg(str(target))
        others = tuple(value for value in values if value != old)
        if not wanted and self._mentions[str(target)] > 1 + len(values) - len(others):
            raise error_at(f"expected no use of {target}, whose rmw is annotated {NO_RESULT}", target, self._path)
        result = str(target) if wanted else None
        if len(others) == len(values):
            if operation != "mov":
                computed = Reg(next(self._fresh))
                yield Assign(computed.name, operation, values)
                values = (computed,)
            yield Rmw("exch", result, address, values, mode)
        elif operation in _ATOMIC and len(others) == 1:
            yield Rmw(operation, result, address, others, mode)
        else:
            raise error_at(f"expected an rmw by {', '.join(_ATOMIC)} of {target} and a value", keyword, self._path)

    def _operation(self, item: Tree) -> tuple[str, tuple[Operand, ...]]:
        (tree,) = subtrees(item, "operation")
        values = tuple(map(self._value, subtrees(tree)))
        words = leaves(tree)
        return _OPERATIONS[str(words[0])] if words else "mov", values

    def _value(self, tree: Tree) -> Operand:
        (token,) = leaves(tree)
        if token.type == "NUMBER":
            return wrapped(token, self._path)
        return Reg(str(token)) if token.type == "REGISTER" else Loc(str(token))

    def _mode(self, item: Tree) -> tuple[Mode, bool]:
        """The mode that the annotations say, and whether an rmw's result is wanted."""
        keyword = leaves(item)[0]
        kind = _KINDS[str(item.data)]
        left = leaves(subtrees(item, "annotations")[0])
        if self._bell:
            return self._bell.mode(kind, left, keyword, self._path), True
        if left and (own := mode_of(_INSTRUCTIONS[kind], str(left[0]))) is not None:
            left.pop(0)
            unwanted = self._annotation(left, [NO_RESULT]) if kind == "RMW" else None
            for token in left:
                raise error_at(f"{keyword} has no annotation {token} here", token, self._path)
            return own, unwanted is None
        plain = kind in ("R", "W")
        order = self._annotation(left, [*ORDERS[kind], *([Order.WEAK, VOLATILE] if plain else [])])
        scope = self._annotation(left, list(_LEVELS)) if order not in (None, Order.WEAK, VOLATILE) else None
        cache = self._annotation(left, CACHES) if order == Order.WEAK else None
        unwanted = self._annotation(left, [NO_RESULT]) if kind == "RMW" else None
        for token in left:
            hint = "" if token in _ANNOTATIONS else "; a bell file of your own may declare it"
            raise error_at(f"{keyword} has no annotation {token} here{hint}", token, self._path)
        if order is None and kind == "F":
            raise error_at(f"expected {', '.join(ORDERS['F'])} as the annotation of a fence", keyword, self._path)
        if order is None and kind == "RMW":
            return DEFAULT_RMW, unwanted is None
        if order in (None, Order.WEAK, VOLATILE):
            return Mode(volatile=order == VOLATILE, cache=cache), True
        return Mode(Order(order), _LEVELS[scope] if scope else None), unwanted is None

    def _annotation(self, left: list[Token], words: Sequence[str]) -> str | None:
        """The next annotation, if it is one of ``words``."""
        return str(left.pop(0)) if left and left[0] in words else None


# Printing.


def _print(test: LitmusTest) -> str:
    test = without_predicates(test)
    for location in test.locations:
        letter = location.name in _LETTERS and location.region is not Region.GLOBAL
        if location.alias or letter or not _fits(location.name):
            what = "aliases" if location.alias else f"locations of that name in {location.region} memory"
            raise InputError(f"{location.name}: LISA has no {what}")
    check_comparisons(test.condition, "LISA")
    labels = [ins.name for ins in test.instructions if isinstance(ins, Label)]
    renamed = len(set(labels)) < len(labels) or any(name in _LETTERS or not _fits(name) for name in labels)
    columns = [_Writer(test, index, renamed) for index in range(len(test.threads))]
    code = [column.cells() for column in columns]  # which tell what registers are declared
    state = [f"{location.name}={_constant(location.initial)};" for location in test.locations]
    state += [line for column in columns for line in column.declarations()]
    places = [thread.place for thread in test.threads]
    more = [f"scopes: {print_groups(places, _levels(places), 'P')}"]
    apart = [location for location in test.locations if location.region is not Region.GLOBAL]
    if apart:
        more.append("regions: " + ", ".join(f"{location.name}: {location.region}" for location in apart))
    return herd_text(test, "LISA", state, code, lambda term: columns[term.thread].register(term.register), more)


def _fits(name: str) -> bool:
    """Whether herd7 reads a word as a name: of a location, or with more than one letter of a label."""
    return name not in _KEYWORDS and _NAME.fullmatch(name) is not None


def _levels(places: Sequence[Place]) -> dict[Scope, str]:
    """The words of the levels that matter; herd7 wants the system, a GPU and the CTAs to be there in any case.

    A level that is left out above CTAs is one around each in herd7, and one around all for us: so queues are said.
    """
    gpus, queues, ctas = (len({place[:level] for place in places}) for level in range(1, 4))
    unsaid = {Scope.WARP: len(set(places)) == len(places), Scope.QUEUE: gpus == queues == ctas}
    return {scope: word for scope, word in SCOPES.items() if not unsaid.get(scope)}


def _constant(value: Operand) -> str:
    return str(value) if isinstance(value, int) else value.name


class _Writer:
    """Prints one thread as a column of LISA instructions."""

    def __init__(self, test: LitmusTest, index: int, renamed: bool) -> None:
        observed = [term for term in terms(test.condition) if isinstance(term, FinalRegister) and term.thread == index]
        kept = {term.register for term in observed}
        self._thread = test.threads[index]
        self._index = index
        names = sorted(self._thread.names | kept)
        taken = {name for name in names if _REGISTER.fullmatch(name)}
        self._fresh = (name for number in count() if (name := f"r{number}") not in taken)
        self._names = {name: name if name in taken else next(self._fresh) for name in names}
        labels = [ins.name for ins in self._thread.instructions if isinstance(ins, Label)]
        self._labels = {name: f"L{index}_{place}" if renamed else name for place, name in enumerate(labels)}
        self._addresses: dict[str, str] = {}

    def register(self, name: str) -> str:
        """Return the name under which a register is printed."""
        return self._names[name]

    def declarations(self) -> list[str]:
        """The initial values of registers, once ``cells`` has been called."""
        initial = [(self._names[name], value) for name, value in self._thread.registers]
        initial += [(register, Loc(name)) for name, register in self._addresses.items()]
        return [f"{self._index}:{register}={_constant(value)};" for register, value in sorted(initial)]

    def cells(self) -> list[str]:
        """Return the instructions as they are printed, one cell each."""
        return [
            cell
            for ins in self._thread.instructions
            for cell in self._instruction(ins, partial(cannot_say, self._index, ins))
        ]

    def _instruction(self, ins: Instruction, refuse: Callable[[str], InputError]) -> list[str]:
        match ins:
            case Label(name):
                return [f"{self._labels[name]}:"]
            case Load(target, address, mode):
                annotations = _annotations(mode, "R", refuse)
                return [f"r[{annotations}] {self._names[target]} {self._address(address, refuse)}"]
            case Store(address, value, mode):
                annotations = _annotations(mode, "W", refuse)
                return [f"w[{annotations}] {self._address(address, refuse)} {self._stored(value)}"]
            case Fence(mode):
                return [f"f[{_annotations(mode, 'F', refuse)}]"]
            case Rmw():
                return [self._rmw(ins, refuse)]
            case Barrier():
                raise refuse("LISA has no barriers")
            case AsyncOperation() | AsyncGroup():
                raise refuse("LISA has no asynchronous operations")
            case GroupOperation():
                raise refuse("LISA has no operations of a subgroup")
            case Assign(target, operation, values):
                return [f"mov {self._names[target]} {self._operation(operation, values, refuse)}"]
            case Branch(label, None):
                return [f"b[] {self._labels[label]}"]
            case Branch(label, Comparison("ne", Reg(name), 0)):
                return [f"b[] {self._names[name]} {self._labels[label]}"]
            case Branch(label, condition):
                assert condition is not None
                result = next(self._fresh)
                return [
                    f"mov {result} {self._operation(condition.operation, (condition.left, condition.right), refuse)}",
                    f"b[] {result} {self._labels[label]}",
                ]

    def _rmw(self, ins: Rmw, refuse: Callable[[str], InputError]) -> str:
        if ins.operation not in ("exch", *_ATOMIC):
            raise refuse(f"LISA has no atomic {ins.operation}")
        if Reg(ins.target or "") in ins.operands:
            raise refuse("in an rmw of LISA the target stands for the old value")
        annotations = _annotations(ins.mode, "RMW", refuse) + (f",{NO_RESULT}" if ins.target is None else "")
        target = next(self._fresh) if ins.target is None else self._names[ins.target]
        (value,) = map(self._value, ins.operands)
        result = value if ins.operation == "exch" else f"({ins.operation} {target} {value})"
        return f"rmw[{annotations}] {target} {result} {self._address(ins.address, refuse)}"

    def _operation(self, operation: str, values: Sequence[Operand], refuse: Callable[[str], InputError]) -> str:
        if operation == "mov":
            return self._value(values[0])
        if operation not in _WORDS:
            raise refuse(f"LISA computes {', '.join(_OPERATIONS)} only")
        return f"({_WORDS[operation]} {' '.join(map(self._value, values))})"

    def _address(self, operand: Operand, refuse: Callable[[str], InputError]) -> str:
        if isinstance(operand, int):
            raise refuse("LISA takes addresses from names and registers")
        return self._value(operand)

    def _stored(self, operand: Operand) -> str:
        """The value of a store: no name of a location, but a register that starts with its address."""
        if not isinstance(operand, Loc):
            return self._value(operand)
        if operand.name not in self._addresses:
            self._addresses[operand.name] = next(self._fresh)
        return self._addresses[operand.name]

    def _value(self, operand: Operand) -> str:
        return self._names[operand.name] if isinstance(operand, Reg) else _constant(operand)


def _annotations(mode: Mode, kind: str, refuse: Callable[[str], InputError]) -> str:
    """The annotations of a mode, by commas."""
    if (word := word_of(mode)) is not None:
        return word
    if mode.tags:
        raise refuse(f"LISA has no annotation for {mode.tags[0]}")
    strong = mode.order is not Order.WEAK
    if (mode.order not in ORDERS[kind]) if strong else (kind not in ("R", "W") or mode.scope is not None):
        raise refuse(f"LISA has no such instruction with order {mode.order}")
    if (mode.cache is not None) + mode.volatile + strong > 1 or (mode.cache and mode.cache not in CACHES):
        raise refuse("LISA has one of an order, volatile and a cache operator")
    words = [VOLATILE if mode.volatile else str(mode.order)]
    words += [] if mode.scope is None else [SCOPES[mode.scope]]
    words += [] if mode.cache is None else [mode.cache]
    return ",".join(words)


def _check(test: LitmusTest) -> None:
    """Raise ``InputError`` where herd7 cannot run a test: words of processors are not in our bell file."""
    check_terms(test)
    for index, ins in test.code:
        if isinstance(ins, Load | Store | Rmw | Fence) and (word := word_of(ins.mode)) is not None:
            raise cannot_say(index, ins, f"herd7 has '{word}' in the assembly of its processor, and not in LISA")


LISA = Dialect(
    "lisa",
    "LISA",
    _parse,
    _print,
    runners=(ForeignRunner("herd-lisa", herd_name, check=_check),),
    companions=(("synth.bell", bell_file()),),
    older="BELL",
)
"""The language of herd7's generic tests, with the annotations of our bell file."""
