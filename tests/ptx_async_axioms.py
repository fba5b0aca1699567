"""What PTX says of asynchronous operations a second way: axioms written by hand over plain sets, from the sentences of
the ISA, and not from ``ptx-async.cat``.

``allowed`` decides on one candidate execution of ``reference_herd``. A rule is a loop over events; the sections are
those of PTX ISA 9.1.
"""

from __future__ import annotations

from itertools import product

from reference_herd import compose, transitive

STRONG_FENCES = {"ACQ", "REL", "ACQ_REL", "SC"}
PROXIES = ("TEXTURE", "SURFACE", "CONSTANT", "ASYNC", "TENSORMAP", "ALIAS")


class Axioms:
    """The relations of one execution."""

    def __init__(self, execution):
        self.events = execution.events
        self.every = range(len(execution.events))
        names = "po rf co fr rmw loc vloc sr scta asked within retired addr data ctrl sync_fence syncbar"
        for name in names.split():
            setattr(self, name, execution.relation(name))

    def has(self, event, *tags):
        """Whether an event is in a set."""
        return any(tag in self.events[event].tags for tag in tags)

    def of(self, *tags):
        """The events of a set."""
        return [event for event in self.every if self.has(event, *tags)]

    def proxy(self, event):
        """8.6: an access, or a fence, is of one proxy."""
        return next((proxy for proxy in PROXIES if self.has(event, proxy)), "GENERIC")

    def strong(self, event):
        """8.4: accesses with an order, and memory fences; those of one kind of objects are none."""
        if self.has(event, "F"):
            return self.has(event, *STRONG_FENCES) and not self.has(event, "INIT", "ONE-WAY")
        return self.has(event, "RLX") or self.has(event, "ACQ" if self.has(event, "R") else "REL")

    def morally_strong(self, a, b):
        """8.7."""
        if a == b or self.proxy(a) != self.proxy(b) or self.has(a, "ALIAS") or self.has(b, "ALIAS"):
            return False
        if self.has(a, "M") and self.has(b, "M") and (a, b) not in self.vloc:
            return False
        if (a, b) in self.po or (b, a) in self.po:
            return True
        return (a, b) in self.sr and self.strong(a) and self.strong(b)

    def atomic_object(self, a, b):
        """9.7.13.15: operations on an mbarrier are atomic, but for its initialisation."""
        return all(self.has(e, "MBARRIER") and not self.has(e, "INIT") for e in (a, b)) and (a, b) in self.loc

    def observation(self):
        """8.9.2."""
        direct = {(w, r) for w, r in self.rf if self.morally_strong(w, r) or self.atomic_object(w, r)}
        found = set(direct)
        while more := {(w, z) for w, r in found for s, u in self.rmw if s == r for v, z in direct if v == u} - found:
            found |= more
        return found

    def releases(self, fences):
        """8.8: the first operation and the write of each release pattern that begins with a release or a fence."""
        writes = [w for w in self.of("W") if self.strong(w)]
        for w in writes:
            yield from ((w, w) for _ in [0] if self.has(w, "REL"))
            for first in self.every:
                if (first, w) in self.po and (
                    (self.has(first, "W") and self.has(first, "REL") and (first, w) in self.vloc) or fences(first)
                ):
                    yield first, w

    def acquires(self, fences):
        """8.8: the read and the last operation of each acquire pattern."""
        for r in self.of("R"):
            if not self.strong(r) or self.has(r, "NORET"):
                continue
            if self.has(r, "ACQ"):
                yield r, r
            for last in self.every:
                if (r, last) in self.po and (
                    (self.has(last, "R") and self.has(last, "ACQ") and (r, last) in self.vloc) or fences(last)
                ):
                    yield r, last

    def released(self, event):
        """A fence that releases all that was before it."""
        return self.has(event, "F") and self.has(event, "REL", "ACQ_REL", "SC") and self.strong(event)

    def acquired(self, event):
        """A fence that acquires for all that is after it."""
        return self.has(event, "F") and self.has(event, "ACQ", "ACQ_REL", "SC") and self.strong(event)

    def pairs(self, first, last, releases, acquires):
        """The first and last operations of patterns of which the one is observed by the other."""
        observed = self.observation()
        return {
            (a, d)
            for (a, w), (r, d) in product(list(releases), list(acquires))
            if (w, r) in observed and first(a) and last(d)
        }

    def known(self):
        """8.9.4 and 8.9.5: base causality order, among what threads do and completions."""
        met = self.pairs(lambda a: True, lambda d: True, self.releases(self.released), self.acquires(self.acquired))
        synchronised = {(a, d) for a, d in met if self.morally_strong(a, d)} | set(self.sync_fence) | set(self.syncbar)
        return set(transitive(frozenset(set(self.po) | synchronised)))


def allowed(execution):
    """Whether the execution is one of PTX's, under every reading of what the ISA leaves open."""
    x = Axioms(execution)
    known = x.known()
    asynchronous = set(x.of("ASYNCHRONOUS"))
    accesses = {e for e in asynchronous if not x.has(e, "MBARRIER")}
    completions = asynchronous - accesses
    # 8.9.1.1: an operation is ordered after what its thread has done before, for itself alone.
    asks = {(a, b) for a, b in x.asked if a not in asynchronous and b in asynchronous}
    into = asks | compose(frozenset(known), frozenset(asks))
    # Its completion comes after its accesses; an arrival that tracks cp.async after all of these that were asked for.
    ends = {(a, c) for a, c in x.within if a in accesses and c in completions} | set(x.retired)
    ends |= {
        (a, c) for a, c in x.asked if a in accesses and x.proxy(a) == "GENERIC" and c in completions and x.has(c, "CTA")
    }
    # 9.7.13.4: fence.mbarrier_init releases what initialises mbarriers.
    init = x.pairs(
        lambda a: x.has(a, "INIT") and x.has(a, "F"),
        lambda d: True,
        x.releases(lambda e: x.has(e, "F") and x.has(e, "INIT")),
        x.acquires(x.acquired),
    )
    told = {(w, d) for f, d in init if (f, d) in x.sr for w in x.of("W") if x.has(w, "INIT") and (w, f) in x.po}
    out = ends | told
    out |= compose(frozenset(out), frozenset(known))
    base = known | into | out | compose(frozenset(out), frozenset(asks))

    def covers(fence, access):
        return any(x.has(fence, space) and x.has(access, space) for space in ("GLOBAL", "SHARED"))

    # 9.7.9.25.2 and Lustig et al. 2022: what proxy fences link. A completion has a fence for results with it.
    fences = [f for f in x.of("F") if x.proxy(f) != "GENERIC" and not x.has(f, "ONE-WAY")]
    starts = {(m, m) for m in x.of("M") if x.proxy(m) == "GENERIC"}
    stops = set(starts)
    for m, f in product(x.of("M"), fences):
        if x.proxy(m) == x.proxy(f) != "ALIAS" and covers(f, m) and (m, f) in x.scta:
            starts |= {(m, f)} if (m, f) in base else set()
            stops |= {(f, m)} if (f, m) in base else set()
    for m, e in ends:
        if x.proxy(m) == "ASYNC" and (x.has(m, "W") or (m, e) in x.retired):
            starts.add((m, e))
    linked = compose(compose(frozenset(starts), frozenset(base)), frozenset(stops))
    # Fences from the generic to the async proxy alone: one that releases, and one that acquires.
    one_way = x.pairs(
        lambda a: x.has(a, "ONE-WAY"),
        lambda d: x.has(d, "ONE-WAY"),
        x.releases(lambda e: x.has(e, "ONE-WAY") and x.has(e, "REL")),
        x.acquires(lambda e: x.has(e, "ONE-WAY") and x.has(e, "ACQ")),
    )
    handed = {(a, d) for a, d in one_way if (a, d) in x.sr}
    for a, d in product(x.of("ONE-WAY"), repeat=2):
        if x.has(a, "REL") and x.has(d, "ACQ") and ((a, d) in known or (a, d) in handed):
            before = [m for m in x.of("M") if (m, a) in x.po and x.proxy(m) == "GENERIC" and x.has(m, "SHARED")]
            after = [m for m in accesses if (d, m) in into and x.proxy(m) == "ASYNC" and x.has(m, "SHARED")]
            linked |= set(product(before, after))
    # 8.9.5: proxy-preserved base causality order, and causality order.
    preserved = {
        (a, b)
        for a, b in base | linked
        if x.has(a, "M")
        and x.has(b, "M")
        and (a, b) in x.vloc
        and ((a, b) in linked or ((a, b) in base and x.proxy(a) == x.proxy(b) and (a, b) in x.scta))
    }
    aliases = [f for f in x.of("F") if x.has(f, "ALIAS")]
    for f in aliases:
        before = compose(frozenset(starts), frozenset((a, b) for a, b in base if b == f))
        after = compose(frozenset((a, b) for a, b in base if a == f), frozenset(stops))
        preserved |= compose(before, after) & x.loc
    cause = preserved | compose(frozenset(x.observation()), frozenset(preserved))

    def ordered(w, v):
        return (w, v) in x.co or (v, w) in x.co

    writes = x.of("W")
    strong = {(a, b) for a, b in product(x.every, repeat=2) if x.morally_strong(a, b)}
    one = {(a, b) for a, b in x.loc if x.has(a, "MBARRIER") and x.has(b, "MBARRIER")}
    communication = set(x.rf) | set(x.co) | set(x.fr)
    rules = (
        # 8.10.1, Coherence, and the order of what is done to an mbarrier.
        all(ordered(w, v) for w, v in product(writes, repeat=2) if w != v and ((w, v) in strong or (w, v) in one)),
        all((w, v) in x.co for w, v in cause if w in writes and v in writes and (w, v) in x.loc),
        # 8.10.2, FenceSC.
        not any((b, a) in base for a, b in x.sync_fence),
        # 8.10.3, Atomicity.
        *(
            not any((r, v) in x.fr and (v, w) in x.co and {(r, v), (v, w)} <= pairs for v in writes)
            for r, w in x.rmw
            for pairs in (strong, one)
        ),
        # 8.10.4, No Thin Air.
        is_acyclic(set(x.rf) | set(x.addr) | set(x.data) | set(x.ctrl)),
        # 8.10.5, Sequential Consistency Per Location.
        is_acyclic(strong & (communication | (set(x.po) & x.vloc))),
        is_acyclic(one & (communication | set(x.po))),
        # 8.10.6, Causality.
        not any((b, a) in cause for a, b in set(x.rf) | set(x.fr)),
    )
    return all(rules)


def is_acyclic(pairs):
    """Whether nothing comes before itself."""
    return not any(a == b for a, b in transitive(frozenset(pairs)))
