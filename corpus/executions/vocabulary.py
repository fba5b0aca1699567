"""Defines vocabularies of executions. The vocabulary of a dialect is the instructions, scope trees and dependencies
that executions may have.

A vocabulary lists the ways in which each kind of instruction can be done, after what an architecture or language lets
an access say (``corpus.laws``). What a model cannot tell apart is taken out of it (``oracle.executions.vocabulary``).

*Optional* words are left out unless they are asked for, since they make many more programs: with proxies, aliases
(several virtual addresses of a location, and fences of aliases), constant accesses, which PTX orders as it does those
of textures, and the scope of a cluster; in PTX barriers that do not wait; in Vulkan aliases (several references), and
threads that synchronise by the system.

What is left out, everywhere: exclusive accesses, barriers that have a quorum, or several names, or order one memory
alone, several storage classes of Vulkan, scopes below a work-group, and operations of an rmw other than exchange. With
proxies, and in Vulkan, there are no dependencies, for which the dialects have no words.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from corpus.errors import InputError
from corpus.executions import operations
from corpus.executions.execution import DEPENDENCIES, OpKind
from corpus.laws import c11, opencl, ptx, vulkan
from corpus.litmus import processors
from corpus.litmus.instructions import Fence, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import CLUSTER, DEFAULT_RMW, FENCED, ONE_WAY, PLAIN, Mode, Order, Scope

_BELOW: Mapping[Order, tuple[Order, ...]] = {
    Order.SC: (Order.ACQ_REL,),
    Order.ACQ_REL: (Order.ACQUIRE, Order.RELEASE),
    Order.ACQUIRE: (Order.RELAXED,),
    Order.RELEASE: (Order.RELAXED,),
    Order.RELAXED: (Order.WEAK,),
    Order.WEAK: (),
}
"""The orders that are one step below each order."""


def _is_below(one: Order, other: Order) -> bool:
    return any(one is lower or _is_below(one, lower) for lower in _BELOW[other])


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary of executions. ``modes[kind]`` are the ways to do instructions of a kind, none where the kind is
    missing.

    ``levels`` are those of the scope tree at which threads may be together or apart, the widest first; at the levels
    above they are together, below CTAs and at these apart. A model that asks for a relation in ``unmade`` asks for what
    programs of the vocabulary cannot show. ``dependencies`` are of ``DEPENDENCIES``. ``interchangeable``: the model
    does not tell kinds of dependencies apart, so that one is enough, of data to a write and of an address to a read.
    ``aliases``: a location may have several addresses. ``synchronises``: threads may by the system. ``asynchronous``:
    there are asynchronous operations, which reach the shared memory of other CTAs, as arrivals at mbarriers do.

    ``more``: which of the ``optional`` words there are.
    """

    name: str
    modes: Mapping[OpKind, tuple[Mode, ...]]
    levels: tuple[Scope, ...] = ()
    regions: tuple[Region, ...] = (Region.GLOBAL,)
    dependencies: tuple[str, ...] = DEPENDENCIES
    interchangeable: bool = False
    unmade: tuple[str, ...] = ("vloc", "swarp", "squeue")
    aliases: bool = False
    synchronises: bool = False
    asynchronous: bool = False
    optional: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def spelled(self) -> tuple[str, ...]:
        """The vocabulary as words, such as ``R.acquire.gpu``, for people and for manifests."""
        words = [spelled_mode(kind, mode) for kind in OpKind for mode in self.modes.get(kind, ())]
        words += [f"{self.level_word(level)}s" for level in self.levels]
        words += [region.value for region in self.regions if self.regions != (Region.GLOBAL,)]
        words += ["aliases"] * self.aliases + ["ssw"] * self.synchronises
        return (*words, *(("dep",) if self.interchangeable and self.dependencies else self.dependencies))

    def level_word(self, level: Scope) -> str:
        """Return the word for a group of a level: where PTX has a cluster, Vulkan has a queue family."""
        clusters = level is Scope.QUEUE and any(CLUSTER in mode.tags for ways in self.modes.values() for mode in ways)
        return CLUSTER if clusters else level.label

    @property
    def summary(self) -> str:
        """The vocabulary on a line: ``R W rmw (relaxed acquire; cta gpu), F (sc; cta gpu); ctas gpus; addr
        data``.
        """
        kinds: dict[tuple[str, ...], list[str]] = {}
        for kind, ways in self.modes.items():
            modes = [mode for mode in ways if operations.KEPT.isdisjoint(mode.tags)]
            orders = dict.fromkeys(_order_word(mode) for mode in modes if _order_word(mode))
            orders |= dict.fromkeys(tag for mode in modes for tag in mode.tags if tag in FENCED)
            scopes = dict.fromkeys(scope_word(mode) for mode in modes if mode.scope is not None)
            plain = any(mode.order is Order.WEAK and not processors.word_of(mode) for mode in modes) and len(modes) > 1
            named = " ".join(["plain"] * plain + list(orders) * (len(modes) > 1))
            many = len(scopes) > 1
            inside = "; ".join(part for part in (named, " ".join(scopes) if many else "") if part)
            kinds.setdefault((inside,), []).append(KIND_WORDS[kind])
        parts = [" ".join(words) + (f" ({inside})" if inside else "") for (inside,), words in kinds.items()]
        words = self.spelled
        rest = [word for word in words if not any(word.split(".")[0] == known for known in KIND_WORDS.values())]
        every = {mode for ways in self.modes.values() for mode in ways}
        rest += [word for word, mode in operations.WORDS.items() if mode in every]
        rest += ["mbarriers"] * any(map(operations.of_object, every))
        return "; ".join([", ".join(parts), *([" ".join(rest)] if rest else [])])

    def lower_orders(self, kind: OpKind, mode: Mode) -> tuple[Mode, ...]:
        """Return the ways of this kind with the next lower orders; the scope is kept where the way has one.

        Of a weak access, those that say less of availability and visibility (Vulkan). The proxy stays: through another
        one, an access is not ordered any less. Who waits for what bulk copies read waits for less.
        """
        if kind is OpKind.FENCE and (word := processors.word_of(mode)) is not None:
            lower_words = processors.WEAKER.get(word, ())
            return tuple(way for way in self.modes[kind] if processors.word_of(way) in lower_words)
        if operations.is_asynchronous(mode) or (kind is OpKind.FENCE and mode.order is Order.WEAK):
            return tuple(way for way in self.modes[kind] if (mode, way) == (operations.WAIT, operations.WAIT_READ))
        if kind is OpKind.BARRIER and mode.order is Order.WEAK:
            arriving = replace(mode, tags=(ptx.ARRIVE, *mode.tags))
            return tuple(way for way in self.modes[kind] if way == arriving)

        def implied_tags(way: Mode) -> frozenset[str]:
            own = processors.word_of(way)
            return vulkan.implied(() if own else way.tags, way.order, kind is OpKind.WRITE)

        def lower(order: Order) -> list[Mode]:
            """Return the ways with an order that say no more than ``mode`` does: tags that say what an order is about
            go.
            """
            wanted = replace(mode, order=order, tags=())
            ways = [way for way in self.modes[kind] if replace(way, tags=(), scope=mode.scope) == wanted]
            ways = [way for way in ways if way.scope is mode.scope or (order is Order.WEAK and way.scope is None)]
            ways = [way for way in ways if _unchanged(way) == _unchanged(mode)]
            return [way for way in ways if way != mode and implied_tags(way) <= implied_tags(mode)]

        found: list[Mode] = []
        waiting = list(_BELOW[mode.order]) or [mode.order]
        while waiting:
            order = waiting.pop(0)
            ways = lower(order)
            if ways:
                found.append(max(ways, key=lambda way: len(implied_tags(way))))
            else:
                waiting += _BELOW[order]
        highest = [way for way in found if not any(_is_below(way.order, other.order) for other in found)]
        return tuple(dict.fromkeys(highest))

    def narrower(self, kind: OpKind, mode: Mode) -> Mode | None:
        """Return the way of this kind with the next narrower scope and an equal order, if there is one."""
        if mode.scope is None:
            return None
        narrower = [way for way in self.modes[kind] if way.scope and way.scope.value > mode.scope.value]
        same = [way for way in narrower if _less_scope(way) == _less_scope(mode)]
        return min(same, key=lambda way: 0 if way.scope is None else way.scope.value, default=None)

    def less_memory(self, kind: OpKind, mode: Mode) -> tuple[Mode, ...]:
        """Return the ways of this kind that order one memory alone, for a way that orders all."""
        if not set(mode.tags).isdisjoint(opencl.FENCED):
            return ()
        ways = (replace(mode, tags=tuple(sorted((*mode.tags, tag)))) for tag in opencl.FENCED)
        return tuple(way for way in ways if way in self.modes[kind])

    def half(self, kind: OpKind, mode: Mode) -> Mode:
        """Return how a read or write is done that was half of an update done in this way: as that half, or weaker."""
        read, write = c11.HALVES[mode.order]
        order = read if kind is OpKind.READ else write
        ways = self.modes[kind]
        waiting = [order]
        while waiting:
            order = waiting.pop(0)
            scope = None if order is Order.WEAK else mode.scope
            fitting = [way for way in ways if way.order is order and (way.scope is scope or scope is None)]
            if fitting:
                return fitting[0]
            waiting += _BELOW[order]
        return ways[0]

    def without(self, words: Iterable[str]) -> Vocabulary:
        """Return the vocabulary without some words: kinds, orders, scopes, ``shared``, dependencies, or
        ``R.acquire.gpu``.

        ``plain`` and ``R.plain`` are weak accesses, and neither volatile nor of a cache. Raises ``InputError`` where a
        word is none of it, or where what is left has no writes, or an rmw without the accesses that it falls apart to.
        """
        left = self
        for word in words:
            smaller = left._less(word)
            if smaller == left:
                raise InputError(f"the vocabulary {self.name} has no '{word}'; it has {' '.join(left.spelled)}")
            left = smaller
        lost = [KIND_WORDS[kind] for kind in (OpKind.READ, OpKind.WRITE) if kind not in left.modes]
        if lost and OpKind.UPDATE in left.modes:
            raise InputError(f"an rmw is made of R and W, and no {lost[0]} is left; leave out rmw as well")
        if OpKind.WRITE not in left.modes:
            raise InputError("without W, nothing happens that a model could forbid")
        return left

    def within(self, scopes: Container[Scope]) -> Vocabulary:
        """Return the vocabulary with these scopes alone, for kinds that are done at several, and with their levels."""
        modes = {
            kind: tuple(mode for mode in ways if mode.scope is None or mode.scope in scopes) if _scoped(ways) else ways
            for kind, ways in self.modes.items()
        }
        return replace(
            self,
            modes={kind: ways for kind, ways in modes.items() if ways},
            levels=tuple(level for level in self.levels if level in scopes),
        )

    def _less(self, word: str) -> Vocabulary:
        def named(kind: OpKind, mode: Mode) -> bool:
            spelled = spelled_mode(kind, mode)
            plain = ("plain", f"{KIND_WORDS[kind]}.plain") if _is_plain(kind, mode) else ()
            return word in (spelled, *spelled.split("."), *plain)

        modes = {kind: tuple(mode for mode in ways if not named(kind, mode)) for kind, ways in self.modes.items()}
        return replace(
            self,
            modes={kind: ways for kind, ways in modes.items() if ways},
            levels=tuple(level for level in self.levels if word.removesuffix("s") != self.level_word(level)),
            regions=tuple(region for region in self.regions if region.value != word or region is Region.GLOBAL),
            dependencies=tuple(kind for kind in self.dependencies if word not in (kind, "dep")),
            aliases=self.aliases and word not in ("alias", "aliases"),
            synchronises=self.synchronises and word != "ssw",
        )


def _is_plain(kind: OpKind, mode: Mode) -> bool:
    access = kind in (OpKind.READ, OpKind.WRITE)
    return access and mode.order is Order.WEAK and not (mode.volatile or mode.cache or operations.is_asynchronous(mode))


def _order_word(mode: Mode) -> str:
    """The word for the order of an instruction, empty where it has none."""
    return processors.word_of(mode) or ("" if mode.order is Order.WEAK else mode.order.value)


def scope_word(mode: Mode) -> str:
    """Return the spelling of a mode's scope; the scope of a cluster is at the level of Vulkan's queue families."""
    return CLUSTER if CLUSTER in mode.tags else mode.scope.label if mode.scope else ""


def _unchanged(mode: Mode) -> frozenset[str]:
    """The proxy that an access is through, or that a fence is of, and what sets apart who uses an mbarrier."""
    return frozenset(mode.tags).intersection((*FENCED, *operations.KEPT, ONE_WAY))


def _less_scope(mode: Mode) -> Mode:
    return replace(mode, scope=None, tags=tuple(tag for tag in mode.tags if tag != CLUSTER))


def _scoped(ways: Iterable[Mode]) -> bool:
    """Decide whether ways to do an instruction name more than one scope."""
    return len({mode.scope for mode in ways if mode.scope is not None}) > 1


KIND_WORDS = {OpKind.READ: "R", OpKind.WRITE: "W", OpKind.UPDATE: "rmw", OpKind.FENCE: "F", OpKind.BARRIER: "bar"}
"""The kinds of instructions, as vocabularies and texts spell them."""


def spelled_mode(kind: OpKind, mode: Mode) -> str:
    """Return the spelling of a way to do an instruction, as ``R.acquire.gpu``. Plain accesses and barriers are ``R``,
    ``W``, ``bar``; the parts of asynchronous operations have words of their own, and so have processors.
    """
    own = next((word for word, way in operations.WORDS.items() if way == mode), processors.word_of(mode))
    if own is not None:
        return f"{KIND_WORDS[kind]}.{own}"
    parts = [KIND_WORDS[kind]]
    parts += [mode.order.value] if mode.order is not Order.WEAK else []
    parts += [scope_word(mode)] if mode.scope else []
    parts += ["volatile"] * mode.volatile + ([mode.cache] if mode.cache else [])
    return ".".join([*parts, *(tag for tag in mode.tags if tag != CLUSTER)])


def _modes(orders: Iterable[Order], scopes: Iterable[Scope | None]) -> tuple[Mode, ...]:
    scopes = tuple(scopes)
    return tuple(Mode(order, scope) for order in orders for scope in scopes)


_TREE = (Scope.GPU, Scope.CTA)
_SCOPES = (Scope.GPU, Scope.CTA, Scope.SYS)
"""The scopes, first the one that stands for all where a model does not tell them apart."""
_BOTH = (Region.GLOBAL, Region.SHARED)


def _ptx() -> Vocabulary:
    def access(kind: ptx.AccessRule) -> tuple[Mode, ...]:
        caches = tuple(Mode(cache=cache) for cache in kind.caches)
        return (PLAIN, *_modes(kind.orders, _SCOPES), Mode(volatile=True), *caches)

    modes = {
        OpKind.READ: access(ptx.LOAD),
        OpKind.WRITE: access(ptx.STORE),
        OpKind.UPDATE: _modes(ptx.ATOM.orders, _SCOPES),
        OpKind.FENCE: _modes((Order.ACQ_REL, Order.SC), _SCOPES),  # PTX 6.0 has no others
        OpKind.BARRIER: (PLAIN, Mode(tags=(ptx.ARRIVE,))),
    }
    return Vocabulary("ptx", modes, _TREE, _BOTH, optional=(ptx.ARRIVE,))


def _ptx_proxies() -> Vocabulary:
    plain = _ptx()

    def through(*proxies: str) -> tuple[Mode, ...]:
        return tuple(Mode(tags=(proxy,)) for proxy in proxies)

    def clustered(*orders: Order) -> tuple[Mode, ...]:
        return tuple(Mode(order, Scope.QUEUE, tags=(CLUSTER,)) for order in orders)

    fences = ptx.FENCE.orders
    modes = {
        **plain.modes,
        OpKind.READ: (
            *plain.modes[OpKind.READ],
            *through("surface", "texture", "constant"),
            *clustered(*ptx.LOAD.orders),
        ),
        OpKind.WRITE: (*plain.modes[OpKind.WRITE], *through("surface"), *clustered(*ptx.STORE.orders)),
        OpKind.UPDATE: (*plain.modes[OpKind.UPDATE], *clustered(*ptx.ATOM.orders)),
        OpKind.FENCE: (
            *_modes(fences, _SCOPES),
            *through("surface", "texture", "constant", "alias"),
            *clustered(*fences),
        ),
    }
    return replace(
        plain,
        name="ptx-proxies",
        modes=modes,
        levels=(Scope.GPU, Scope.QUEUE, Scope.CTA),
        regions=(Region.GLOBAL,),
        dependencies=(),
        unmade=("swarp", "squeue"),
        aliases=True,
        optional=("alias", ptx.ARRIVE, CLUSTER, "constant"),
    )


_ONE_WAY = (
    "release.sync_restrict::shared::cta.cluster",
    "acquire.sync_restrict::shared::cluster.cluster",
)
"""The words of fences from the generic to the async proxy alone."""


def _ptx_async() -> Vocabulary:
    scopes = (Scope.GPU, Scope.CTA)

    def of_mbarrier(*orders: Order) -> tuple[Mode, ...]:
        clustered = (Mode(order, Scope.QUEUE, tags=(CLUSTER,)) for order in orders)
        return tuple(map(ptx.of_mbarrier, (*_modes(orders, (Scope.CTA,)), *clustered)))

    copied = (operations.BULK, operations.BULK_GROUP, operations.COPY)
    words = (
        "",
        ".global",
        ".shared::cta",
        *(f"::generic.{proxy}" for proxy in _ONE_WAY),
    )  # .shared::cluster is as ::cta
    proxies = (ptx.PROXY_FENCES[f"fence.proxy.async{word}"] for word in words)
    waits = (operations.WAIT, operations.WAIT_READ, operations.WAIT_COPIES)
    modes = {
        OpKind.READ: (
            PLAIN,
            *_modes(ptx.LOAD.orders, scopes),
            *copied,
            *of_mbarrier(Order.RELAXED, Order.ACQUIRE),
        ),
        OpKind.WRITE: (
            PLAIN,
            *_modes(ptx.STORE.orders, scopes),
            *copied,
            operations.COMPLETE,
            *of_mbarrier(Order.RELAXED, Order.RELEASE),
        ),
        OpKind.UPDATE: _modes(ptx.ATOM.orders, scopes),
        OpKind.FENCE: (*_modes(ptx.FENCE.orders, scopes), *proxies, *waits),
        OpKind.BARRIER: (PLAIN, Mode(tags=(ptx.ARRIVE,))),
    }
    return Vocabulary(
        "ptx-async",
        modes,
        (Scope.CTA,),
        _BOTH,
        (),
        unmade=("swarp", "squeue"),
        optional=(ptx.ARRIVE,),
        asynchronous=True,
    )


def _c_like(name: str, scopes: tuple[Scope | None, ...]) -> Vocabulary:
    legal = c11.LEGAL_ORDERS
    fences = tuple(order for order in legal[Fence] if order is not Order.RELAXED)
    modes = {
        OpKind.READ: (PLAIN, *_modes(legal[Load], scopes)),
        OpKind.WRITE: (PLAIN, *_modes(legal[Store], scopes)),
        OpKind.UPDATE: _modes(legal[Rmw], scopes),
        OpKind.FENCE: _modes(fences, scopes),
    }
    return Vocabulary(name, modes)


def _opencl() -> Vocabulary:
    plain = _c_like("opencl", _SCOPES)
    memory = ((), *((tag,) for tag in opencl.FENCED))
    fences = tuple(replace(mode, tags=tags) for tags in memory for mode in plain.modes[OpKind.FENCE])
    modes = {**plain.modes, OpKind.FENCE: fences, OpKind.BARRIER: (PLAIN,)}
    # Each work-item is a sub-group of its own, and all are of one queue.
    return replace(plain, modes=modes, levels=_TREE, regions=_BOTH, unmade=("vloc",))


def _cpu() -> Vocabulary:
    modes = {
        OpKind.READ: (PLAIN,),
        OpKind.WRITE: (PLAIN,),
        OpKind.UPDATE: (DEFAULT_RMW,),
        OpKind.FENCE: (Mode(Order.SC, Scope.SYS),),
    }
    return Vocabulary("cpu", modes)


def _processor(name: str) -> Vocabulary:
    modes = {
        OpKind.READ: (PLAIN, *processors.modes_of(name, Load)),
        OpKind.WRITE: (PLAIN, *processors.modes_of(name, Store)),
        OpKind.UPDATE: (DEFAULT_RMW, *processors.modes_of(name, Rmw)),
        OpKind.FENCE: tuple(processors.modes_of(name, Fence)),
    }
    return Vocabulary(name, modes)


def _vulkan(*scopes: Scope) -> Vocabulary:

    def tagged(mode: Mode, *tags: str) -> Mode:
        return replace(mode, tags=tuple(sorted(tags)))

    def strong(orders: Iterable[Order], *semantics: str) -> tuple[Mode, ...]:
        return tuple(tagged(mode, "sc0", "semsc0", *semantics) for mode in _modes(orders, scopes))

    plain = (tagged(PLAIN, "sc0"), tagged(PLAIN, "sc0", "nonpriv"))
    relaxed = tuple(tagged(mode, "sc0") for mode in _modes((Order.RELAXED,), scopes))

    def available(word: str) -> tuple[Mode, ...]:
        return tuple(tagged(mode, "sc0", word) for mode in _modes((Order.WEAK,), scopes))

    fences = (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL)
    modes = {
        OpKind.READ: (*plain, *available("vis"), *relaxed, *strong((Order.ACQUIRE,), "semvis")),
        OpKind.WRITE: (*plain, *available("av"), *relaxed, *strong((Order.RELEASE,), "semav")),
        OpKind.UPDATE: (*relaxed, *strong(fences, "semav", "semvis")),
        OpKind.FENCE: tuple(tagged(mode, "semav", "semsc0", "semvis") for mode in _modes(fences, scopes)),
        OpKind.BARRIER: (
            Mode(scope=Scope.CTA),
            *(tagged(mode, "semav", "semsc0", "semvis") for mode in _modes((Order.ACQ_REL,), scopes)),
        ),
    }
    name, levels = ("vulkan", (Scope.CTA,)) if len(scopes) == 2 else ("vulkan-scopes", scopes[1:])
    return Vocabulary(  # the dialect has one device, and no "and"
        name,
        modes,
        levels,
        dependencies=(),
        unmade=(),
        aliases=True,
        synchronises=True,
        optional=("alias", "ssw"),
    )


def _amdgpu() -> Vocabulary:
    """LLVM's in the words of Vulkan: nothing is private, and an order may make nothing available or visible."""
    plain = _vulkan(Scope.GPU, Scope.CTA)

    def more(kind: OpKind, ways: Iterable[Mode]) -> tuple[Mode, ...]:
        """Return the ways without private ones, and those of ordered ones that make nothing available or visible."""
        kept = [way for way in ways if kind is OpKind.BARRIER or way.tags != ("sc0",) or way.order is not Order.WEAK]
        bare = [replace(way, tags=tuple(tag for tag in way.tags if tag not in ("semav", "semvis"))) for way in kept]
        return tuple(dict.fromkeys((*kept, *bare)))

    modes = {kind: more(kind, ways) for kind, ways in plain.modes.items()}
    return replace(plain, name="amdgpu", modes=modes, aliases=False, synchronises=False, optional=())


def _webgpu() -> Vocabulary:
    """WGSL's in the words of OpenCL: its barriers order storage, workgroup memory, or both."""
    relaxed = Mode(Order.RELAXED, Scope.GPU)
    barriers = (PLAIN, *(Mode(tags=(tag,)) for tag in opencl.FENCED))
    modes = {
        OpKind.READ: (PLAIN, relaxed),
        OpKind.WRITE: (PLAIN, relaxed),
        OpKind.UPDATE: (relaxed,),
        OpKind.BARRIER: barriers,
    }
    return Vocabulary("webgpu", modes, (Scope.CTA,), _BOTH, unmade=())


_MAKERS: Mapping[str, Callable[[], Vocabulary]] = {
    "amdgpu": _amdgpu,
    "armv8": lambda: _processor("armv8"),
    "c": lambda: _c_like("c", (None,)),
    "cpu": _cpu,
    "opencl": _opencl,
    "power": lambda: _processor("power"),
    "ptx": _ptx,
    "ptx-async": _ptx_async,
    "ptx-proxies": _ptx_proxies,
    "riscv": lambda: _processor("riscv"),
    "vulkan": lambda: _vulkan(Scope.GPU, Scope.CTA),
    "vulkan-scopes": lambda: _vulkan(Scope.GPU, Scope.QUEUE, Scope.CTA, Scope.WARP),
    "webgpu": _webgpu,
    "x86": lambda: _processor("x86"),
}
VOCABULARIES = tuple(_MAKERS)
"""The names of the vocabularies that ``vocabulary`` takes."""


def optional_words() -> dict[str, tuple[str, ...]]:
    """Return the words that may be added to a vocabulary, keyed by its name."""
    return {name: words for name in VOCABULARIES if (words := _MAKERS[name]().optional)}


@cache
def vocabulary(name: str, more: tuple[str, ...] = ()) -> Vocabulary:
    """Return the vocabulary of a dialect with some of its optional words.

    Raises ``InputError`` where no vocabulary has that name, or where it has no such word.
    """
    if name not in _MAKERS:
        raise InputError(f"unknown vocabulary '{name}'; expected one of {', '.join(VOCABULARIES)}")
    whole = _MAKERS[name]()
    for word in more:
        if word not in whole.optional:
            words = f"what may be added is {', '.join(whole.optional)}" if whole.optional else "nothing may be added"
            raise InputError(f"the vocabulary {name} has no '{word}' to add; {words}")
    return replace(whole.without(word for word in whole.optional if word not in more), more=tuple(sorted({*more})))
