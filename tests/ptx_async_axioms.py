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
        """8.9.2; an mbarrier is observed by waits alone."""
        direct = {(w, r) for w, r in self.rf if self.morally_strong(w, r) and not self.atomic_object(w, r)}
        found = set(direct)
        while more := {(w, z) for w, r in found for s, u in self.rmw if s == r for v, z in direct if v == u} - found:
            found |= more
        return found | {(w, r) for r in self.of("WAITED") for w in self.waited_for(r)}

    def waited_for(self, wait):
        """9.7.13.15.16: a wait that succeeds is for what was done to the mbarrier during the phase that is complete."""
        before = {r: w for w, r in self.rf if self.atomic_object(w, r)}
        updates, passed = {u: r for r, u in self.rmw}, []
        write = before.get(wait)
        while write is not None and write not in passed:  # what goes round in a circle is forbidden anyway
            passed.append(write)
            if sum(self.has(each, "COMPLETES") for each in passed) == 1:
                yield write
            write = before.get(updates.get(write))

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

    def told_by(self, fences):
        """9.7.13.3: a fence before a relaxed arrival at the barrier of a cluster, and who waits there."""
        return {
            (f, b)
            for (a, b), f in product(self.syncbar, self.of("F"))
            if self.has(a, "RELAXED") and fences(f) and (f, a) in self.po and (f, b) in self.sr
        }

    def tracked(self):
        """9.7.16.6.2.1.1: what tcgen05.commit tracks, the operations of tcgen05 but ld and st."""
        return {
            (a, c)
            for a, c in self.asked
            if self.has(a, "TCGEN05")
            and self.has(a, "MMA", "CP")
            and self.has(c, "TCGEN05")
            and self.has(c, "MBARRIER")
        }

    def in_tensor_memory(self, asynchronous):
        """9.7.16.6: the accesses of tensor memory that are in order, and those of registers by tcgen05.ld."""
        tensor = {e for e in asynchronous if self.has(e, "TENSOR")}
        # 9.7.16.6.3: any strong write that a strong read observes, and barriers, order execution.
        turns = {(w, r) for w, r in self.observation() if (w, r) in self.sr and self.strong(w) and self.strong(r)}
        turns = {(w, r) for w, r in turns if not self.has(r, "NORET")} | set(self.syncbar)
        later = compose(frozenset(self.po), frozenset(turns))
        while more := compose(frozenset(turns), frozenset(later)) - turns:
            turns |= more
        to_fence = {(a, f) for a, f in compose(frozenset(turns), frozenset(self.po)) if self.has(f, "AFTER-SYNC")}
        before = {(b, a) for b, a in self.po if self.has(b, "BEFORE-SYNC")}
        handed = compose(frozenset(before), frozenset(to_fence))

        def asked_after(pairs):
            return {(a, e) for a, e in compose(frozenset(pairs), frozenset(self.asked)) if e in tensor}

        # 9.7.16.6.2 and 9.7.16.6.4: pipelines, and operations that have been waited for.
        def piped(a, b):
            return self.has(a, "MMA", "CP") and self.has(b, "MMA")

        own = {(a, b) for a, b in self.asked if a in tensor and b in tensor and piped(a, b)}
        asks = {(a, b) for a, b in self.asked if a in tensor}
        crossing = {(a, b) for a, b in asked_after(compose(frozenset(asks), frozenset(handed))) if piped(a, b)}
        waited = {(a, w) for a, w in self.retired if a in tensor}
        ready = compose(frozenset(waited), frozenset(self.po))
        completed = {(a, c) for a, c in self.tracked() if a in tensor and self.has(c, "W")}
        found = own | crossing | asked_after(waited) | asked_after(compose(frozenset(ready), frozenset(handed)))
        found |= asked_after(compose(frozenset(completed), frozenset(to_fence)))
        # 9.7.16.6.4.5: who uses a register after tcgen05.ld has what that gave.
        given = {e for e in asynchronous if self.has(e, "TCGEN05") and self.has(e, "REGISTER") and self.has(e, "W")}
        return found | {
            (a, r)
            for a, r in self.asked
            if a in given and r not in asynchronous and self.has(r, "R") and (a, r) in self.loc
        }

    def known(self):
        """8.9.4 and 8.9.5: base causality order, among what threads do and completions."""
        met = self.pairs(lambda a: True, lambda d: True, self.releases(self.released), self.acquires(self.acquired))
        synchronised = {(a, d) for a, d in met if self.morally_strong(a, d)} | set(self.sync_fence)
        synchronised |= {(a, b) for a, b in self.syncbar if not self.has(a, "RELAXED")} | self.told_by(self.released)
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
    ends |= x.tracked()
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
    init |= x.told_by(lambda e: x.has(e, "F") and x.has(e, "INIT"))
    told = {(w, d) for f, d in init if (f, d) in x.sr for w in x.of("W") if x.has(w, "INIT") and (w, f) in x.po}
    out = ends | told
    out |= compose(frozenset(out), frozenset(known))
    base = known | into | out | compose(frozenset(out), frozenset(asks))
    # 9.7.15.7.1: the accumulator is accessed in order by the operations of one shape that have it.
    sums = {e for e in accesses if x.has(e, "REGISTER") and x.has(e, "MMA") and x.has(e, "W", "RMW")}
    base |= {(a, b) for a, b in x.asked if a in sums and b in sums and (a, b) in x.loc}

    def covers(fence, access):
        return any(x.has(fence, space) and x.has(access, space) for space in ("GLOBAL", "SHARED", "REGISTER"))

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
            before = [m for m in x.of("M") if (m, a) in x.po and x.proxy(m) == "GENERIC" and covers(a, m)]
            after = [m for m in accesses if (d, m) in into and x.proxy(m) == x.proxy(d) and covers(d, m)]
            after = [m for m in after if (d, m) in x.scta and x.proxy(a) == x.proxy(d)]
            linked |= set(product(before, after))
    linked |= x.in_tensor_memory(asynchronous)
    # 8.9.5: proxy-preserved base causality order, and causality order.
    preserved = {
        (a, b)
        for a, b in base | linked
        if x.has(a, "M")
        and x.has(b, "M")
        and (a, b) in x.vloc
        and (
            (a, b) in linked
            or ((a, b) in base and x.proxy(a) == x.proxy(b) and (a, b) in x.scta and not x.has(a, "TENSOR"))
        )
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
