"""Reads and prints litmus tests in Dartagnan's PTX dialect, extended here. It covers PTX 6.0 with the proxies of 7.5
(Lustig et al. 2019, Fig. 3).

    PTX MP
    "message passing"
    { x=0; y=0; }
     P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
     st.weak x, 1         | ld.acquire.gpu r1, y ;
     st.release.gpu y, 1  | ld.weak r2, x        ;
    exists (P1:r1 == 1 /\\ P1:r2 == 0)

Loads are ``ld`` or, through a proxy, ``tld`` (texture), ``suld`` (surface) and ``cold`` (constant). Through the
surface proxy there are also ``sust``, ``suatom`` and ``sured``. The proxy is a tag of the access, what
``fence.proxy.alias`` and its like are for a tag of the fence. ``ld r, v`` without an order is a move. Each thread is
in a warp of its own.

What PTX has got since then and Dartagnan not: ``fence.acquire`` and ``fence.release``, asynchronous operations and
their fences (``corpus.dialects.asynchronous``), those of tensor cores (``corpus.dialects.dartagnan.matrices``), and the
scope ``.cluster``. Where a test has that scope,
headers may say clusters, ``P0@cta 0,cluster 0,gpu 0``; else each CTA is one of its own, as kernels are launched unless
they ask for more.

Gaps: an ``atom`` without order and scope is not read, for the dialect has none; Dartagnan's own ``z=x`` without ``&``
copies an initial value, and is not read either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, TypeGuard

from corpus.dialects.asynchronous import expect_operands, is_extended, read_asynchronous, write_asynchronous
from corpus.dialects.dartagnan.columns import CodeCell, Columns, Refuse, ThreadNames
from corpus.dialects.dartagnan.matrices import check_matrices, is_of_matrices, read_matrices, write_matrices
from corpus.errors import InputError
from corpus.laws.ptx import ATOM, CLUSTER_BARRIERS, FENCE, LOAD, ONE_SIDED, STORE, cluster_barrier
from corpus.litmus.describe import cannot_say
from corpus.litmus.instructions import Assign, Barrier, Fence, Instruction, Load, Rmw, Store, is_asynchronous
from corpus.litmus.locations import Operand, Region
from corpus.litmus.orders import CLUSTER, INIT, SCOPES, Mode, Order, Place, Scope
from corpus.litmus.test import LitmusTest
from corpus.litmus.text import Dialect, ForeignRunner, Source
from corpus.litmus.threads import has_clusters

_LOADS = {"": "ld", "texture": "tld", "surface": "suld", "constant": "cold"}
_STORES = {"": "st", "surface": "sust"}
_ATOMS = {"": "atom", "surface": "suatom"}
_REDUCTIONS = {"": "red", "surface": "sured"}
_PROXIES = {name: proxy for names in (_LOADS, _STORES, _ATOMS, _REDUCTIONS) for proxy, name in names.items()}
_ORDERS = {str(order): order for order in Order}
_UNREAD = ("async", "tensormap", INIT, "before-sync", "after-sync")  # fences that Dartagnan has not

_CLUSTER_WORDS = {barrier: words for words, barrier in CLUSTER_BARRIERS.items()}
_LOAD_ORDERS = (Order.WEAK, *LOAD.orders)
_STORE_ORDERS = (Order.WEAK, *STORE.orders)
_REDUCED = ("add", "sub", "mul", "div", "and", "or", "xor")


_UNSAID = -1
"""A cluster that a header does not name."""


class _Ptx(Columns):
    title = "the PTX dialect"
    language = "PTX"
    levels = ("cta", "gpu")
    more_levels = ("cta", CLUSTER, "gpu")
    scopes: ClassVar = {scope: word for word, scope in SCOPES.items()}
    proxies = ("generic", "texture", "surface", "constant")
    move = "ld"
    shared = True
    keywords = (
        "ld tld suld cold st sust atom suatom red sured fence bar sync arrive cta gpu sys weak relaxed acquire release "
        "acq_rel sc cas exch proxy generic constant surface texture alias"
    )

    def places(self, groups: Sequence[tuple[int, ...]]) -> list[Place]:
        threads: Counter[tuple[int, ...]] = Counter()
        places = []
        for group in groups:
            cta, *cluster, gpu = group
            places.append(Place(gpu, cluster[0] if cluster else _UNSAID, cta, threads[group]))
            threads[group] += 1
        return places

    def groups(self, places: Sequence[Place]) -> list[tuple[int, ...]]:
        for index, place in enumerate(places):
            for other, earlier in enumerate(places[:index]):
                if place == earlier:
                    raise InputError(f"P{other} and P{index} are in one warp: {self.title} has a warp for each thread")
                if place.gpu == earlier.gpu and place.queue != earlier.queue:
                    raise InputError(f"P{other} and P{index} are in two queues: {self.title} has one for each GPU")
        return [(place.cta, place.gpu) for place in places]

    def parse(self, source: Source) -> LitmusTest:
        test = super().parse(source)
        check_matrices(test)
        ctas = [thread.place._replace(warp=0) for thread in test.threads]
        numbers = {cta: number for number, cta in enumerate(dict.fromkeys(ctas))}
        if has_clusters(test.threads):  # a CTA is one of its own, unless the header says otherwise
            found = [cta._replace(queue=cta.cta) if cta.queue == _UNSAID else cta for cta in ctas]
        else:  # they make no difference
            found = [cta._replace(queue=0, cta=cta.cta if cta.queue == _UNSAID else numbers[cta]) for cta in ctas]
        threads = zip(test.threads, found, strict=True)
        placed = (replace(thread, place=cta._replace(warp=thread.place.warp)) for thread, cta in threads)
        return replace(test, threads=tuple(placed))

    def headers(self, test: LitmusTest) -> list[str]:
        if not has_clusters(test.threads):
            return super().headers(test)
        places = [thread.place for thread in test.threads]
        self.groups([place._replace(queue=0, cta=number) for number, place in enumerate(places)])
        return [f"cta {place.cta},cluster {place.queue},gpu {place.gpu}" for place in places]

    def read(self, cell: CodeCell) -> Instruction | tuple[Instruction, ...]:
        asynchronous = read_matrices(cell) or read_asynchronous(cell)
        if asynchronous is not None:
            return asynchronous
        name, *words = cell.opcode.split(".")
        if not words and name == "ld":
            expect_operands(cell, 2)
            return Assign(cell.register(0), "mov", (cell.value(1),))
        if name in _LOADS.values():
            expect_operands(cell, 2)
            return Load(cell.register(0), cell.location(1), self._mode(cell, words, _LOADS, _LOAD_ORDERS))
        if name in _STORES.values():
            expect_operands(cell, 2)
            return Store(cell.location(0), cell.value(1), self._mode(cell, words, _STORES, _STORE_ORDERS))
        if name in _ATOMS.values():
            return self._atom(cell, words)
        if name in _REDUCTIONS.values():
            expect_operands(cell, 2)
            mode = self._mode(cell, words[:-1], _REDUCTIONS, ATOM.orders)
            return Rmw(self._operation(cell, words, _REDUCED), None, cell.location(0), (cell.value(1),), mode)
        if name == "fence":
            expect_operands(cell, 0)
            return Fence(self._mode(cell, words, {"": "fence"}, FENCE.orders))
        if cell.opcode in ("bar.cta.sync", "bar.cta.arrive"):
            expect_operands(cell, 1, 3)
            return Barrier(cell.value(0), words[-1] == "arrive", cell.count(1), cell.count(2))
        barrier = cluster_barrier(str(cell.opcode))
        if barrier is not None:
            expect_operands(cell, 0)
            return barrier
        raise cell.error(f"expected an instruction of {self.title}, found {cell.opcode}")

    def _atom(self, cell: CodeCell, words: list[str]) -> Rmw:
        mode = self._mode(cell, words[:-1], _ATOMS, ATOM.orders)
        operation = self._operation(cell, words, ("exch", "cas", *_REDUCED))
        expect_operands(cell, 4 if operation == "cas" else 3)
        values = tuple(cell.value(index) for index in range(2, len(cell.operands)))
        return Rmw(operation, cell.register(0), cell.location(1), values, mode)

    def _operation(self, cell: CodeCell, words: list[str], operations: Sequence[str]) -> str:
        if words[-1] not in operations:
            raise cell.error(f"expected {' or '.join(operations)} at the end of {cell.opcode}")
        return words[-1]

    def _mode(self, cell: CodeCell, words: list[str], names: Mapping[str, str], orders: Sequence[Order]) -> Mode:
        """The mode that the words after the name say: the one whose spelling they are."""
        name = cell.opcode.split(".")[0]
        scopes = {word: scope for scope, word in self.scopes.items()} | {CLUSTER: Scope.QUEUE}
        order = next((_ORDERS[word] for word in words if word in _ORDERS), None)
        scope = next((scopes[word] for word in words if word in scopes), None)
        if order is None:
            raise cell.error(
                f"expected an order of {self.title} ({', '.join(orders)}) after {name}, found {cell.opcode}"
            )
        proxy = _PROXIES.get(name, "")
        tags = sorted(tag for tag in (proxy, CLUSTER if CLUSTER in words else "") if tag)
        mode = Mode(order, scope, tags=tuple(tags))
        spelled = self._spell(mode, names, orders, cell.error)
        if spelled != ".".join([name, *words]):
            raise cell.error(f"expected {spelled}, found {'.'.join([name, *words])}")
        return mode

    def _spell(self, mode: Mode, names: Mapping[str, str], orders: Sequence[Order], refuse: Refuse) -> str:
        self.check(mode, orders, (*names, CLUSTER), refuse)
        proxies = [tag for tag in mode.tags if tag != CLUSTER]
        if len(proxies) > 1:
            raise refuse(f"{self.title} has one proxy for an access")
        name = names["".join(proxies)]
        if mode.order is not Order.WEAK:
            return f"{name}.{mode.order}.{CLUSTER if CLUSTER in mode.tags else self.scope(mode, refuse)}"
        if mode.scope is not None:
            raise refuse(f"a weak access has no scope in {self.title}")
        return f"{name}.weak"

    def _address_of(self, refuse: Refuse, first: Operand, *more: Operand) -> str:
        if more:
            raise refuse(f"an operation of {self.title} moves one location")
        return self.address(first, refuse)

    def write(self, instruction: Instruction, names: ThreadNames, refuse: Refuse) -> str:
        if is_of_matrices(instruction):
            return write_matrices(instruction, names, partial(self.address, refuse=refuse), refuse)
        if is_extended(instruction):
            return write_asynchronous(instruction, names, partial(self._address_of, refuse), refuse)
        match instruction:
            case Load(target, address, mode):
                opcode = self._spell(mode, _LOADS, _LOAD_ORDERS, refuse)
                return f"{opcode} {names.register(target)}, {self.address(address, refuse)}"
            case Store(address, value, mode):
                opcode = self._spell(mode, _STORES, _STORE_ORDERS, refuse)
                return f"{opcode} {self.address(address, refuse)}, {names.value(value)}"
            case Rmw(operation, target, address, operands, mode):
                if instruction.failure is not None:
                    raise refuse(f"in {self.title} an exchange has one order, whether or not it fails")
                reduction = target is None
                opcode = self._spell(mode, _REDUCTIONS if reduction else _ATOMS, ATOM.orders, refuse)
                if operation not in (_REDUCED if reduction else ("exch", "cas", *_REDUCED)):
                    raise refuse(f"{self.title} has no {'reduction' if reduction else 'atom'} {operation}")
                values = [self.address(address, refuse), *map(names.value, operands)]
                return (
                    f"{opcode}.{operation} {', '.join(values if target is None else [names.register(target), *values])}"
                )
            case Fence(mode):
                return self._spell(mode, {"": "fence"}, FENCE.orders, refuse)
            case Barrier() if instruction in _CLUSTER_WORDS:
                return _CLUSTER_WORDS[instruction]
            case Barrier(arrive=arrive, mode=mode):
                self.check(mode, (Order.WEAK,), (), refuse)
                if mode.scope is not None:
                    raise refuse(f"barriers have no memory scope in {self.title}")
                return f"bar.cta.{'arrive' if arrive else 'sync'} {self.barrier(instruction, names, refuse)}"
            case _:
                raise refuse(f"{self.title} has no such instruction")


_Ordered = Load | Store | Rmw | Fence | Barrier
"""The instructions that have a mode."""


def _ordered(ins: Instruction) -> TypeGuard[_Ordered]:
    return isinstance(ins, _Ordered)


def _check_dartagnan(test: LitmusTest) -> None:
    """Raises ``InputError`` that names what Dartagnan does not read."""
    for location in test.locations:
        if location.region is not Region.GLOBAL:
            raise InputError(f"{location.name}: Dartagnan's PTX has no word for {location.region} memory")
    for number, ins in test.code:
        if is_asynchronous(ins):
            raise cannot_say(number, ins, "Dartagnan's PTX has it not")
        if not _ordered(ins):
            continue
        one_sided = isinstance(ins, Fence) and ins.mode.order in ONE_SIDED
        if one_sided or CLUSTER in ins.mode.tags or not set(_UNREAD).isdisjoint(ins.mode.tags):
            raise cannot_say(number, ins, "Dartagnan's PTX has it not")


_PTX = _Ptx()
PTX = Dialect(
    "ptx",
    _PTX.language,
    _PTX.parse,
    _PTX.print,
    runners=(ForeignRunner("dartagnan-ptx", check=_check_dartagnan),),
    asynchronous=True,
)
"""Dartagnan's dialect of litmus tests for PTX."""
