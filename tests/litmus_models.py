"""Models to judge random litmus tests under: those that ship, and odd ones, for the sake of the language."""

from dataclasses import replace
from functools import cache

import pytest

from oracle.cat.interpreter import Model
from oracle.cat.syntax import parse_cat, shipped_models

LARGE = dict.fromkeys(("amdgpu", "opencl", "vulkan", "webgpu"), pytest.mark.slow)
"""Models whose suites, or mutants, take too long for a fast test."""

ODD = {
    "mutual-recursion": """
        let rec there = po-loc | (back; rf) and back = fr | (there; co) | [R]; rmw
        let rec chain = 0 | [W & RMW] | (chain; rfe; rmw)
        acyclic there | back as there-and-back
        irreflexive chain; rf; po as chain
        flag ~empty chain & ext as long-chain""",
    "functions": """
        let between(s, r) = r; [s]; r
        let both(s) = s * s
        let ends(r) = domain(r) | range(r)
        let co = co+
        let unread = W \\ domain(rf)
        let fence(s) = between(F & s, po) & ~(both(IW))
        acyclic WW(po-loc) | RW(po-loc) | co | rf | fr as coherence
        acyclic fence(SC | ACQ_REL) | fence(~SC) & (R * M) | rfe | fre | coe as fences
        flag ~empty unread \\ IW as unread-write
        flag empty ends(rf & ext) as no-one-looks""",
    "complements": """
        let racing = (~(po | po^-1) & ext & loc & ((W * M) | (M * W))) \\ (IW * _ | _ * IW)
        let strange = ~(rf; rf^-1) \\ ~(co | co^-1 | id)
        ~irreflexive racing | id as never-both
        empty ~(_ * _) as everything
        acyclic strange & co | fr | po & ~(W * R) as store-to-load
        irreflexive ~(int | ext) & (_ \\ IW) * (_ \\ IW) as apart
        flag ~acyclic po | rf | co | fr as weak
        flag ~empty racing as race""",
    "closures": """
        let near = scta | swg | (sgpu & [_]?) | ext & sr*
        let order = (addr | data | ctrl | rmw)* ; rf? ; (co | fr)^* ; po-loc?
        acyclic order \\ id as order
        empty [R]^+ & rf^? & [R \\ (R & W)]? & (rf^*; [IW]) & ext as oddments
        acyclic (near & (rf | co | fr))^-1 | po-loc^-1 as near
        flag ~empty range(rf^*) & domain(co^+) & VOL as volatile-seen""",
    "partial": """
        with co from partial-co
        let strong = _ \\ WEAK
        let racing = loc & (strong * strong) & (W * W) & sr
        empty racing \\ (co | co^-1 | id) as strong-writes-are-ordered
        acyclic (sync_fence | po & (F * M | M * F) | rf | co | fr) as fence-order
        acyclic po-loc & (R * W | W * R) | rf | co as coherence
        empty rmw & ((fr \\ co); co) as atomicity
        flag ~empty (W * W) & loc & ext \\ (co | co^-1 | IW * W | W * IW) as unordered""",
    "barriers": """
        let bar = po; syncbar; po
        let rec hb = bar | (po & (_ * (REL | SC))) | rfe & (_ * (ACQ | SC)) | (hb; hb)
        acyclic hb | po-loc | co | fr as hb
        empty rmw & (fre; coe) as atomicity
        flag ~empty syncbar \\ scta as barrier-of-others""",
}


def choosing(partial=False, fences=False):
    """A model that allows everything, of which executions choose as little or as much as is said.

    It speaks of asynchronous operations, too.
    """
    text = "with co from partial-co\n" * partial + "let order = sync_fence\n" * fences + "let any = ASYNCHRONOUS\n"
    return Model("anything", parse_cat(text, "anything.cat"))


def shipped():
    """The models that ship, by name."""
    return {name: _model(name, f'include "{name}.cat"') for name in shipped_models()}


def odd():
    """The others."""
    return {name: _model(name, text) for name, text in ODD.items()}


def grounded(model):
    """The model, for executions in which no value, nor what a thread does, justifies itself."""
    check = parse_cat("acyclic rf | addr | data | ctrl as grounded", "grounded.cat").statements
    return Model(model.name, replace(model.syntax, statements=(*model.syntax.statements, *check)))


@cache
def _model(name, text):
    return Model(name, parse_cat(text, f"{name}.cat"))
