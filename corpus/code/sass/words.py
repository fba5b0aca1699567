"""States what ptxas makes of each memory instruction of PTX, and what its machine instructions are read as.

NVIDIA does not document what instructions of SASS mean. Their meaning here is by **ptxas' own translation**: each PTX
instruction was compiled alone, for sm_75, sm_80, sm_90 and sm_100, by ptxas 13.5, and ``TRANSLATION`` is what came out.
(Lustig et al. 2019 map C++ to PTX, and PTX to nothing.) If that translation is right, a sequence
is as strong as *each* PTX instruction that becomes it. So it is read as the strongest of these, which is sound in this
direction: what the reading forbids, the hardware has to forbid, or ptxas would translate single instructions wrongly.
What is checked by such a reading is that the optimisation of a whole program preserves it: that nothing is merged,
dropped, moved or made independent. Whether the translation of single instructions is right for the hardware is not.

Example: ``ld.relaxed.gpu`` becomes ``LDG.E.STRONG.GPU``, ``fence.acquire.gpu`` and ``fence.acquire.sys`` both become
``CCTL.IVALL``, and ``ld.acquire.gpu`` is one after the other. So ``CCTL.IVALL`` is read as ``fence.acquire.sys``, and
an acquire as a relaxed load and a fence.

What follows from the table:

- ``STRONG.S`` is relaxed at scope S; without ``STRONG``, an access to global memory is weak. ``volatile`` is relaxed at
  system scope (PTX ISA 9.1, ``ld``), and a cache operator an access of the scope of the cache;
- ``LDS``, ``STS`` and ``ATOMS`` are made of accesses of every strength, so they are relaxed at system scope;
- ``MEMBAR.ALL.S`` alone is ``fence.release.S``, and so is ``MEMBAR.SC.S``, which nothing alone becomes: with
  ``CCTL.IVALL`` behind it the first is ``fence.acq_rel.S``, and the second ``fence.sc.S``;
- within a CTA nothing is to be invalidated: ``MEMBAR.ALL.CTA`` is ``fence.acq_rel.cta``, ``MEMBAR.SC.CTA`` is
  ``fence.sc.cta``, and ``fence.acquire.cta`` is *no instruction at all*. So it stands behind every strong read
  (``IMPLIED``), and the reader puts it there where another thread of the CTA can tell;
- an update right behind a ``MEMBAR`` of its scope releases, and one right before a ``CCTL.IVALL`` acquires, as well as
  the fence: an ``atom.acq_rel`` passes on what it acquires, which a relaxed one between two fences does not;
- ``ERRBAR`` and ``CGAERRBAR`` come with each ``MEMBAR`` and say nothing of memory.

Before sm_90, PTX has no fences that acquire or release alone. There the same readings are taken, from the accesses that
acquire or release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from corpus.litmus.orders import Mode, Order, Scope


class TranslationRow(NamedTuple):
    """A row of ``TRANSLATION``: words of PTX, what sm_75 and sm_80 have for them, and what sm_90 and sm_100 have.

    ``S`` is ``gpu``, ``sys`` or, from sm_90 on, ``cluster``, which is the GPU in machine code. Opcodes are without the
    letter of the state space, without ``E``, for 64-bit addresses, without the operation of an atomic, and without the
    error barriers behind ``MEMBAR``; ``CTA`` stands for ``SM``, too. ``-``: PTX has no such words there.
    """

    words: str
    before: str
    since: str


_FENCES = """
fence.sc.cta            MEMBAR.SC.CTA                              MEMBAR.SC.CTA
fence.sc.S              MEMBAR.SC.S;CCTL.IVALL                     MEMBAR.SC.S;CCTL.IVALL
fence.acq_rel.cta       MEMBAR.ALL.CTA                             MEMBAR.ALL.CTA
fence.acq_rel.S         MEMBAR.ALL.S;CCTL.IVALL                    MEMBAR.ALL.S;CCTL.IVALL
fence.release.cta       -                                          MEMBAR.ALL.CTA
fence.release.S         -                                          MEMBAR.ALL.S
fence.acquire.cta       -                                          nothing
fence.acquire.S         -                                          CCTL.IVALL
"""
_GLOBAL = """
ld.weak                 LD                                         LD
ld.volatile             LD.STRONG.SYS                              LD.STRONG.SYS
ld.ca                   LD.STRONG.CTA                              LD.STRONG.CTA
ld.cg                   LD.STRONG.GPU                              LD.STRONG.GPU
ld.cv                   LD.STRONG.SYS                              LD.STRONG.SYS
ld.cs                   LD.EF                                      LD.EF
ld.lu                   LD.LU                                      LD.LU
ld.relaxed.cta          LD.STRONG.CTA                              LD.STRONG.CTA
ld.relaxed.S            LD.STRONG.S                                LD.STRONG.S
ld.acquire.cta          LD.STRONG.CTA                              LD.STRONG.CTA
ld.acquire.S            LD.STRONG.S;CCTL.IVALL                     LD.STRONG.S;CCTL.IVALL
st.weak                 ST                                         ST
st.volatile             ST.STRONG.SYS                              ST.STRONG.SYS
st.wb                   ST.STRONG.CTA                              ST.STRONG.CTA
st.cg                   ST.STRONG.GPU                              ST.STRONG.GPU
st.wt                   ST.STRONG.SYS                              ST.STRONG.SYS
st.cs                   ST.EF                                      ST.EF
st.relaxed.cta          ST.STRONG.CTA                              ST.STRONG.CTA
st.relaxed.S            ST.STRONG.S                                ST.STRONG.S
st.release.cta          MEMBAR.ALL.CTA;ST.STRONG.CTA               MEMBAR.ALL.CTA;ST.STRONG.CTA
st.release.S            MEMBAR.ALL.S;ST.STRONG.S                   MEMBAR.ALL.S;ST.STRONG.S
atom.relaxed.cta        ATOM.STRONG.CTA                            ATOM.STRONG.CTA
atom.relaxed.S          ATOM.STRONG.S                              ATOM.STRONG.S
atom.acquire.cta        ATOM.STRONG.CTA                            ATOM.STRONG.CTA
atom.acquire.S          ATOM.STRONG.S;CCTL.IVALL                   ATOM.STRONG.S;CCTL.IVALL
atom.release.cta        MEMBAR.ALL.CTA;ATOM.STRONG.CTA             MEMBAR.ALL.CTA;ATOM.STRONG.CTA
atom.release.S          MEMBAR.ALL.S;ATOM.STRONG.S                 MEMBAR.ALL.S;ATOM.STRONG.S
atom.acq_rel.cta        MEMBAR.ALL.CTA;ATOM.STRONG.CTA             MEMBAR.ALL.CTA;ATOM.STRONG.CTA
atom.acq_rel.S          MEMBAR.ALL.S;ATOM.STRONG.S;CCTL.IVALL      MEMBAR.ALL.S;ATOM.STRONG.S;CCTL.IVALL
red.relaxed.cta         RED.STRONG.CTA                             RED.STRONG.CTA
red.relaxed.S           RED.STRONG.S                               RED.STRONG.S
red.release.cta         MEMBAR.ALL.CTA;RED.STRONG.CTA              MEMBAR.ALL.CTA;RED.STRONG.CTA
red.release.S           MEMBAR.ALL.S;RED.STRONG.S                  MEMBAR.ALL.S;RED.STRONG.S
"""
_SHARED = """
ld.weak                 LD                                         LD
ld.volatile             LD                                         LD
ld.relaxed.cta          LD                                         LD
ld.relaxed.S            LD                                         LD
ld.acquire.cta          LD                                         LD
ld.acquire.S            LD                                         LD;CCTL.IVALL
st.weak                 ST                                         ST
st.volatile             ST                                         ST
st.relaxed.cta          ST                                         ST
st.relaxed.S            ST                                         ST
st.release.cta          MEMBAR.ALL.CTA;ST                          MEMBAR.ALL.CTA;ST
st.release.S            MEMBAR.ALL.S;ST                            MEMBAR.ALL.S;ST
atom.relaxed.cta        ATOM                                       ATOM
atom.relaxed.S          ATOM                                       ATOM
atom.acquire.cta        ATOM                                       ATOM
atom.acquire.S          ATOM                                       ATOM;CCTL.IVALL
atom.release.cta        MEMBAR.ALL.CTA;ATOM                        MEMBAR.ALL.CTA;ATOM
atom.release.S          MEMBAR.ALL.S;ATOM                          MEMBAR.ALL.S;ATOM
atom.acq_rel.cta        MEMBAR.ALL.CTA;ATOM                        MEMBAR.ALL.CTA;ATOM
atom.acq_rel.S          MEMBAR.ALL.S;ATOM                          MEMBAR.ALL.S;ATOM;CCTL.IVALL
"""


def _rows(text: str) -> tuple[TranslationRow, ...]:
    return tuple(TranslationRow(*line.split()) for line in text.strip().splitlines())


TRANSLATION: Mapping[str, tuple[TranslationRow, ...]] = {
    "": _rows(_FENCES),
    "global": _rows(_GLOBAL),
    "shared": _rows(_SHARED),
}
"""What ptxas makes of instructions of PTX, by the state space of the access; "" for fences."""

MACHINE_SCOPES: Mapping[str, Scope] = {"SM": Scope.CTA, "CTA": Scope.CTA, "GPU": Scope.GPU, "SYS": Scope.SYS}
"""The scopes of machine instructions."""

INVALIDATION = Mode(Order.ACQUIRE, Scope.SYS)
"""What ``CCTL.IVALL`` is read as."""

IMPLIED = Mode(Order.ACQUIRE, Scope.CTA)
"""The fence that is no instruction, and stands behind every strong read."""

SILENT = ("ERRBAR", "CGAERRBAR")
"""What comes with a ``MEMBAR`` and is read as nothing."""


def access_mode(space: str, parts: tuple[str, ...]) -> Mode | None:
    """Return how an access of machine code is done, by its state space and the parts of its opcode; None where the
    scope is not one of ``MACHINE_SCOPES``.
    """
    if space == "shared":
        return Mode(Order.RELAXED, Scope.SYS)
    if "STRONG" not in parts:
        return None if parts[0].startswith(("ATOM", "RED")) else Mode()
    scope = MACHINE_SCOPES.get(next(iter(parts[parts.index("STRONG") + 1 :]), ""))
    return None if scope is None else Mode(Order.RELAXED, scope)


def releasing(mode: Mode, space: str, fenced: Scope) -> Mode:
    """Return how an update is done right behind a ``MEMBAR``: it releases where the scope of that is no narrower."""
    if space == "shared":
        return replace(mode, order=Order.ACQ_REL if fenced is Scope.CTA else Order.RELEASE, scope=fenced)
    if mode.scope is None or fenced.value > mode.scope.value:
        return mode
    return replace(mode, order=Order.ACQ_REL if mode.scope is Scope.CTA else Order.RELEASE)


def acquiring(mode: Mode) -> Mode:
    """Return how an update is done right before a ``CCTL.IVALL``."""
    orders = {Order.RELAXED: Order.ACQUIRE, Order.RELEASE: Order.ACQ_REL}
    return replace(mode, order=orders.get(mode.order, mode.order))


def fence_mode(strength: str, scope: Scope, invalidated: bool) -> Mode:
    """Return what ``MEMBAR.strength.scope`` is read as, with or without an invalidation behind it."""
    whole = Order.SC if strength == "SC" else Order.ACQ_REL
    return Mode(whole if invalidated or scope is Scope.CTA else Order.RELEASE, scope)
