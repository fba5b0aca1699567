"""Defines GPU_PTX litmus tests, which are PTX with a scope tree and a memory map. Source: Alglave et al. 2015,
Fig. 12.

    GPU_PTX SB
    { 0:.reg .s32 r0; 0:.reg .s32 r2; 0:.reg .b64 r1 = x; 0:.reg .b64 r3 = y;
      1:.reg .s32 r0; 1:.reg .s32 r2; 1:.reg .b64 r1 = y; 1:.reg .b64 r3 = x; }
     T0                | T1                ;
     mov.s32 r0,1      | mov.s32 r0,1      ;
     st.cg.s32 [r1],r0 | st.cg.s32 [r1],r0 ;
     ld.cg.s32 r2,[r3] | ld.cg.s32 r2,[r3] ;
    ScopeTree(grid(cta(warp T0) (warp T1)))
    x: shared, y: global
    exists (0:r2=0 /\\ 1:r2=0)

Read besides, as the paper's other figures have it: instructions without types, locations and numbers as operands
(``st.cg [x],1``), and the spellings of PTX 6.0 and later (``ld.acquire.gpu``, ``fence.acq_rel.cta``).

- Initial state: registers as above, ``x=1``, ``global x=1``, ``x=y`` for the address of ``y``. What is not mentioned
  starts with 0. Types are read and not kept: values are numbers of 32 bits or addresses.
- A name is a register where its thread declares or writes it, and a location elsewhere. A region may stand in the
  initial state, in the memory map or at an access (``ld.shared``); they must agree, and what has none is global.
- ``membar.gl`` is ``fence.sc.gpu``; ``atom`` without an order is relaxed, without a scope at GPU scope; ``_`` as the
  target of ``atom`` means none, as in ``red``. A predicate is a register that is 0 or 1.
- The scope tree's levels are gpu (or device), grid (kernel) or cluster, cta (block) and warp; see
  ``corpus.dialects.scope_tree``.
- Asynchronous operations have the words of ``corpus.dialects.asynchronous`` with their types, ``mbarrier.init.b64
  [r1],1``; state spaces may stand where PTX has them. Whether a wait has succeeded is a predicate. A copy of several
  elements has all their addresses in brackets, ``[r1,r2],[r3,r4]``: each location is one element.

- What lanes of a warp do together is ``vote.any.pred p,q`` (``all``; ``ballot.b32`` of a register), ``shfl.idx.b32
  d,a,lane,31``, and with the lanes that must come ``vote.sync.any.pred p,q,mask``, ``shfl.sync.idx.b32
  d,a,lane,31,mask``, ``elect.sync p,mask`` (PTX has ``d|p``, and columns end at ``|``) and ``bar.warp.sync mask``.

The printer writes what ptxas and the tools of the paper take: registers declared with their types, every address in a
register of 64 bits, numbers stored from registers. Where a number is added to an address, ``cvt`` widens it first;
where the result of a comparison is a number, ``selp`` makes it one. Such helper registers are mentioned by two
instructions, one after the other, and disappear when they are read.

Gaps: ``atom.inc`` and ``dec``, vectors, offsets (``[r1+4]``) and other state spaces are not read.
"""

from __future__ import annotations

from corpus.dialects.gpu_ptx.reader import read_gpu_ptx
from corpus.dialects.gpu_ptx.writer import print_gpu_ptx
from corpus.litmus.text import Dialect

GPU_PTX = Dialect("gpu-ptx", "GPU_PTX", read_gpu_ptx, print_gpu_ptx, asynchronous=True)
"""The dialect of Alglave et al. 2015."""
