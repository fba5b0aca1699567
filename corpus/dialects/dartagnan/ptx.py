"""Litmus tests in Dartagnan's PTX dialect, of PTX 6.0 with the proxies of 7.5 (Lustig et al. 2019, Fig. 3).

    PTX MP
    "message passing"
    { x=0; y=0; }
     P0@cta 0,gpu 0       | P1@cta 1,gpu 0       ;
     st.weak x, 1         | ld.acquire.gpu r1, y ;
     st.release.gpu y, 1  | ld.weak r2, x        ;
    exists (P1:r1 == 1 /\\ P1:r2 == 0)

Loads are ``ld`` or, through a proxy, ``tld`` (texture), ``suld`` (surface) and ``cold`` (constant); ``sust``,
``suatom`` and ``sured`` likewise. The proxy is a tag of the access, ``fence.proxy.alias`` and its like are tags of a
fence. ``ld r, v`` without an order is a move. Each thread is in a warp of its own.

Gaps: an ``atom`` without order and scope is not read, for the dialect has none; Dartagnan's own ``z=x`` without ``&``
copies an initial value, and is not read either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from corpus.dialects.dartagnan.columns import CodeCell, Columns, Names, Refuse
from corpus.errors import InputError
from corpus.laws.ptx import ATOM, FENCE, LOAD, STORE
from corpus.litmus.test import (
    SCOPES,
    Assign,
    Barrier,
    Fence,
    Instruction,
    Load,
    Mode,
    Order,
    Place,
    Rmw,
    Store,
)
from corpus.litmus.text import Dialect, Runner

_LOADS = {"": "ld", "texture": "tld", "surface": "suld", "constant": "cold"}
_STORES = {"": "st", "surface": "sust"}
_ATOMS = {"": "atom", "surface": "suatom"}
_REDUCTIONS = {"": "red", "surface": "sured"}
_PROXIES = {name: proxy for names in (_LOADS, _STORES, _ATOMS, _REDUCTIONS) for proxy, name in names.items()}
_ORDERS = {str(order): order for order in Order}
_FENCES = tuple(f"fence.proxy.{proxy}" for proxy in ("generic", "constant", "surface", "texture", "alias"))
_ONE_SIDED = (Order.ACQUIRE, Order.RELEASE)  # fences that PTX has since 8.6, and the dialect has not

_LOAD_ORDERS = (Order.WEAK, *LOAD.orders)
_STORE_ORDERS = (Order.WEAK, *STORE.orders)
_FENCE_ORDERS = tuple(order for order in FENCE.orders if order not in _ONE_SIDED)
_REDUCED = ("add", "sub", "mul", "div", "and", "or", "xor")


class _Ptx(Columns):
    title = "the PTX dialect"
    language = "PTX"
    levels = ("cta", "gpu")
    scopes: ClassVar = {scope: word for word, scope in SCOPES.items()}
    proxies = ("generic", "texture", "surface", "constant")
    move = "ld"
    keywords = (
        "ld tld suld cold st sust atom suatom red sured fence bar sync arrive cta gpu sys weak relaxed acquire release "
        "acq_rel sc cas exch proxy generic constant surface texture alias"
    )

    def places(self, groups: Sequence[tuple[int, ...]]) -> list[Place]:
        threads: Counter[tuple[int, ...]] = Counter()
        places = []
        for group in groups:
            cta, gpu = group
            places.append(Place(gpu, 0, cta, threads[group]))
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

    def read(self, cell: CodeCell) -> Instruction:
        name, *words = cell.opcode.split(".")
        if not words and name == "ld":
            cell.expects(2)
            return Assign(cell.register(0), "mov", (cell.value(1),))
        if name in _LOADS.values():
            cell.expects(2)
            return Load(cell.register(0), cell.location(1), self._mode(cell, words, _LOADS, _LOAD_ORDERS))
        if name in _STORES.values():
            cell.expects(2)
            return Store(cell.location(0), cell.value(1), self._mode(cell, words, _STORES, _STORE_ORDERS))
        if name in _ATOMS.values():
            return self._atom(cell, words)
        if name in _REDUCTIONS.values():
            cell.expects(2)
            mode = self._mode(cell, words[:-1], _REDUCTIONS, ATOM.orders)
            return Rmw(self._operation(cell, words, _REDUCED), None, cell.location(0), (cell.value(1),), mode)
        if name == "fence":
            cell.expects(0)
            if cell.opcode in _FENCES:
                return Fence(Mode(tags=(str(cell.opcode),)))
            return Fence(self._mode(cell, words, {"": "fence"}, _FENCE_ORDERS))
        if cell.opcode in ("bar.cta.sync", "bar.cta.arrive"):
            cell.expects(1, 3)
            return Barrier(cell.value(0), words[-1] == "arrive", cell.count(1), cell.count(2))
        raise cell.error(f"expected an instruction of {self.title}, found {cell.opcode}")

    def _atom(self, cell: CodeCell, words: list[str]) -> Rmw:
        mode = self._mode(cell, words[:-1], _ATOMS, ATOM.orders)
        operation = self._operation(cell, words, ("exch", "cas", *_REDUCED))
        cell.expects(4 if operation == "cas" else 3)
        values = tuple(cell.value(index) for index in range(2, len(cell.operands)))
        return Rmw(operation, cell.register(0), cell.location(1), values, mode)

    def _operation(self, cell: CodeCell, words: list[str], operations: Sequence[str]) -> str:
        if words[-1] not in operations:
            raise cell.error(f"expected {' or '.join(operations)} at the end of {cell.opcode}")
        return words[-1]

    def _mode(self, cell: CodeCell, words: list[str], names: Mapping[str, str], orders: Sequence[Order]) -> Mode:
        """The mode that the words after the name say: the one whose spelling they are."""
        name = cell.opcode.split(".")[0]
        scopes = {word: scope for scope, word in self.scopes.items()}
        order = next((_ORDERS[word] for word in words if word in _ORDERS), None)
        scope = next((scopes[word] for word in words if word in scopes), None)
        if order is None:
            raise cell.error(
                f"expected an order of {self.title} ({', '.join(orders)}) after {name}, found {cell.opcode}"
            )
        proxy = _PROXIES.get(name, "")
        mode = Mode(order, scope, tags=(proxy,) if proxy else ())
        spelled = self._spell(mode, names, orders, cell.error)
        if spelled != ".".join([name, *words]):
            raise cell.error(f"expected {spelled}, found {'.'.join([name, *words])}")
        return mode

    def _spell(self, mode: Mode, names: Mapping[str, str], orders: Sequence[Order], refuse: Refuse) -> str:
        self.check(mode, orders, names, refuse)
        if len(mode.tags) > 1:
            raise refuse(f"{self.title} has one proxy for an access")
        name = names["".join(mode.tags)]
        if mode.order is not Order.WEAK:
            return f"{name}.{mode.order}.{self.scope(mode, refuse)}"
        if mode.scope is not None:
            raise refuse(f"a weak access has no scope in {self.title}")
        return f"{name}.weak"

    def write(self, instruction: Instruction, names: Names, refuse: Refuse) -> str:
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
            case Fence(Mode(order=Order.WEAK, tags=(tag,)) as mode) if mode == Mode(tags=(tag,)) and tag in _FENCES:
                return tag
            case Fence(mode):
                return self._spell(mode, {"": "fence"}, _FENCE_ORDERS, refuse)
            case Barrier(arrive=arrive, mode=mode):
                self.check(mode, (Order.WEAK,), (), refuse)
                if mode.scope is not None:
                    raise refuse(f"barriers have no memory scope in {self.title}")
                return f"bar.cta.{'arrive' if arrive else 'sync'} {self.barrier(instruction, names, refuse)}"
            case _:
                raise refuse(f"{self.title} has no such instruction")


_PTX = _Ptx()
PTX = Dialect("ptx", _PTX.language, _PTX.parse, _PTX.print, runners=(Runner("dartagnan-ptx"),))
"""Dartagnan's PTX dialect."""
