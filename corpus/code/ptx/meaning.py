"""What each instruction of PTX does when a thread is specialised: a table of functions by name (PTX ISA 9.1, 9.7)."""

from __future__ import annotations

from collections.abc import Mapping

from corpus.code import ir
from corpus.code.arithmetic import move, set_mask, space_of
from corpus.code.evaluation import evaluate, set_result
from corpus.code.meaning import COMMON, nothing, trap
from corpus.code.ptx.instructions import unfit
from corpus.code.ptx.matrices import multiply
from corpus.code.ptx.meeting import active, barrier, elect, fence, map_shared, match, reduce_, shuffle, vote
from corpus.code.ptx.memory import atomic, discard, load, store
from corpus.code.ptx.moving import copy, mbarrier, store_asynchronously
from corpus.code.ptx.printing import print_formatted
from corpus.code.ptx.special import special
from corpus.code.thread import FollowedThread, GroupExchange, KernelLanguage, Meaning, State
from corpus.code.values import Unknown
from corpus.litmus.orders import EXCHANGED, RELAXED, Mode


def after_other_grids(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``griddepcontrol``: nothing, where a kernel begins when those before it have ended (9.7.13.13)."""
    thread.notes.assumed[
        "a kernel begins when those before it in its stream have ended, with griddepcontrol as well"
    ] = None
    return True


def untold(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """An instruction whose result is taken as unknown."""
    set_result(thread, state, ins.operands[0], Unknown(f"the result of {ins.opcode}"))
    return True


def is_in_space(thread: FollowedThread, state: State, ins: ir.KernelInstruction) -> bool:
    """``isspacep``: whether a generic address is of a state space. What a launch gives is in global memory."""
    target, address = ins.operands
    value = evaluate(thread, state, address)
    space, wanted = space_of(value), ins.words[0].partition("::")[0]
    known = space is not None and ins.words[0] != "shared::cta"
    set_result(thread, state, target, int(space == wanted) if known else Unknown(f"the result of {ins.opcode}"))
    return True


def or_later(at_once: Meaning) -> Meaning:
    """Return the meaning of an access that may be asynchronous."""
    return lambda thread, state, ins: (store_asynchronously if "async" in ins.words else at_once)(thread, state, ins)


MEANINGS: Mapping[str, Meaning] = {
    **COMMON,
    "cvta": move,
    "isspacep": is_in_space,
    "set": set_mask,
    "ld": load,
    "ldu": load,
    "discard": discard,
    "st": or_later(store),
    "atom": atomic,
    "red": or_later(atomic),
    "fence": fence,
    "membar": fence,
    "bar": barrier,
    "barrier": barrier,
    "mbarrier": mbarrier,
    "cp": copy,
    "wgmma": multiply,
    "griddepcontrol": after_other_grids,
    "mapa": map_shared,
    "getctarank": map_shared,
    "vote": vote,
    "shfl": shuffle,
    "redux": reduce_,
    "match": match,
    "activemask": active,
    "elect": elect,
    "brkpt": trap,
    **dict.fromkeys(("nanosleep", "prefetch", "prefetchu", "applypriority", "setmaxnreg"), nothing),
    **dict.fromkeys(("sin", "cos", "lg2", "ex2", "tanh", "rcp", "rsqrt", "copysign", "testp", "createpolicy"), untold),
}
"""The instructions that are understood, by their names."""

EXCHANGE = GroupExchange(Mode(tags=(EXCHANGED,)), Mode(tags=(RELAXED,)))
"""How lanes of a warp exchange values: they order no other memory in doing so, for PTX does not say that they do."""

PTX = KernelLanguage(
    MEANINGS,
    special,
    "ptx",
    exits=True,
    parted=True,
    clusters=True,
    exchange=EXCHANGE,
    unfit=unfit,
    ends=True,
    functions={"vprintf": print_formatted},
)
"""The language of kernels of CUDA."""
