"""A thread that is followed: what is fixed while it is, where it is, and what it tells of its launch.

    thread    the module, the kernel, the launch, the thread's ids, the language, facts about the launch
    state     a place in the code, the calls around it, and what is known there
    thread.out, thread.notes, thread.exploration     what is left of it, what was learned, which places were met

A meaning, which a language gives to an instruction, takes a thread, a state and the instruction: it changes the state,
and appends what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from corpus.code import ir
from corpus.code.functions import FunctionShape
from corpus.code.launch.launch import KernelLaunch, ThreadIds
from corpus.code.launch.limits import LaunchLimits, limits_of
from corpus.code.places import Array, Cell, Home, RegisterHome
from corpus.code.residual import Access, ResidualWriter
from corpus.code.table import Row
from corpus.code.values import ArrayAddress, Value
from corpus.litmus.locations import Operand
from corpus.litmus.orders import PLAIN, Mode, Scope

MOST_STEPS = 200_000
"""The most instructions that are followed."""

KNOWN_AT_ONCE = 64
"""What is known that takes as long to look through as an instruction to follow."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A call that is not over: its caller and that one's name, where it goes on, and the variables for the results."""

    function: ir.KernelFunction = field(compare=False)
    name: str
    after: int
    results: tuple[str, ...]


@dataclass
class State:
    """A place in the code with what is known there. ``machine``: a function has the registers of its caller."""

    function: ir.KernelFunction
    place: int = 0
    frames: tuple[Frame, ...] = ()
    known: dict[Home, Value] = field(default_factory=dict)
    machine: bool = False

    @property
    def depth(self) -> int:
        """The number of calls that are not over."""
        return len(self.frames)

    def moved_to(self, place: int) -> State:
        """Return the state at another place of the function."""
        return replace(self, place=place, known=dict(self.known))

    def home(self, register: str) -> RegisterHome:
        """Return where a register of the function that is followed is known."""
        return RegisterHome(0 if self.machine else len(self.frames), register)

    def cells_of(self, array: Array) -> list[Cell]:
        """Return where parts of an array of the thread's own are known."""
        owner, name = array.owner, array.name
        return [home for home in self.known if isinstance(home, Cell) and home.name == name and home.depth == owner]


GroupSite = tuple[int, int, int]
"""A place of the code, by a number, where threads of a group do something together, with their block and group."""

BarrierKey = tuple[Operand, Scope]
"""The name of a barrier that waits for all threads of a group, and the level of the group."""

Parts = Mapping[Array, Sequence[tuple[int, int, int]]]
"""Where accesses of an array overlap that are of several sizes: begin, end, and the bytes of the parts of all there."""

AccessedPlaces = Mapping[Array, Sequence[tuple[int, int]]]
"""The places of accesses in each array, in bytes, and their sizes."""


@dataclass(frozen=True)
class LaunchFacts:
    """What is known of a launch while one of its threads is followed, from following all of them.

    ``grains``: the bytes of an element of arrays that are copied asynchronously, where they are not those of a word.
    ``accessed``: the places and sizes of accesses of arrays, for operations on whole matrices. ``comers``: the threads
    of a group that come to a place where they do something together, where these are not all. ``aligns``: who comes to
    an aligned barrier waits for the others of its warp at that very instruction. ``owed``: how often the thread has to
    have come to barriers at its end, which are then counted on each way. ``contested``: the bytes of arrays that one
    thread writes and another accesses (None: any may be one); ``shown``: objects whose addresses several threads have;
    ``claimed``: threads that several threads join or detach. ``tables``: the tables of virtual functions whose
    addresses are written to memory that others may see, with the array and place, ``ANYWHERE`` of an address from
    memory. ``exceptions``: those that are kept, with their types.
    """

    grains: Mapping[Array, int] = field(default_factory=dict)
    accessed: AccessedPlaces = field(default_factory=dict)
    comers: Mapping[GroupSite, frozenset[int]] = field(default_factory=dict)
    parts: Parts = field(default_factory=dict)
    aligns: bool = False
    owed: Mapping[BarrierKey, int] = field(default_factory=dict)
    contested: frozenset[tuple[Array, int]] | None = frozenset()
    shown: frozenset[Array] = frozenset()
    claimed: frozenset[int] = frozenset()
    tables: frozenset[tuple[Array, int, ArrayAddress]] = frozenset()
    exceptions: frozenset[tuple[Array, ArrayAddress]] = frozenset()

    def about(self, array: Array) -> tuple[object, ...]:
        """Return all that is known of an array."""
        return self.grains.get(array), self.parts.get(array), self.accessed.get(array)


@dataclass
class ThreadNotes:
    """What a thread tells of its launch while it is followed.

    ``assumed``: what was taken for granted, once each. ``came``: the places where a group does something together,
    with the threads that were taken to come there. ``choices``: what the system may do in several ways, with how many
    there are. ``uniform``: the ways of branches that a warp is said to take together. ``reduced``: the barriers at
    which values are exchanged. ``asks_for_accesses``: what is left depends on which places of arrays are accessed.
    ``arrays``: those about which facts were asked; ``met_aligned``: it came to an aligned barrier of its block.
    """

    assumed: dict[str, None] = field(default_factory=dict)
    came: dict[GroupSite, frozenset[int]] = field(default_factory=dict)
    choices: dict[str, int] = field(default_factory=dict)
    uniform: dict[ir.KernelInstruction, list[int]] = field(default_factory=dict)
    reduced: set[BarrierKey] = field(default_factory=set)
    asks_for_accesses: bool = False
    arrays: set[Array] = field(default_factory=set)
    met_aligned: bool = False


@dataclass
class Exploration:
    """The places of a thread's code that have been met: their labels, by what is known there, how many there are of
    each, and those that are still to be followed. ``steps`` instructions have been followed, of ``most``.
    """

    most: int = MOST_STEPS
    steps: int = 0
    labels: dict[tuple[object, ...], str] = field(default_factory=dict)
    variants: dict[tuple[str, int], int] = field(default_factory=dict)
    waiting: list[tuple[str, State]] = field(default_factory=list)

    def look_through(self, state: State) -> None:
        """Count that all that is known is looked through as instructions to follow, where it is much."""
        self.steps += len(state.known) // KNOWN_AT_ONCE


class FollowAgainError(Exception):
    """The error for a way after which the places that are still to be followed are others, and what is left as well."""


class PlaceRule(NamedTuple):
    """How a language follows places where ways meet: what gives the label of a state, and whether it is new and to be
    followed at once; and what gives the state that is followed next, with its label.
    """

    label: Callable[[FollowedThread, State], tuple[str, bool]]
    following: Callable[[FollowedThread], tuple[str, State] | None]


class ThreadStart(NamedTuple):
    """A thread of a launch: its place, its function, and its arguments.

    ``waits``: it begins when the thread that creates it, which has done something before, says so. ``given`` are the
    objects that it gets from that thread, which has no use for them any more, with what they hold. ``before`` has what
    is known of memory that several threads may access when it is created.
    """

    ids: ThreadIds
    function: ir.KernelFunction
    arguments: tuple[Value, ...] = ()
    waits: bool = False
    given: Mapping[Array, Mapping[Cell, Value]] = {}
    before: Mapping[Cell, Value] = {}


class Moment(NamedTuple):
    """When a thread does something: which threads it has joined, and the number of the next that it creates."""

    joined: frozenset[int]
    following: int


@dataclass
class Creation:
    """What a thread knows of threads that are created and of objects that are made.

    ``alone``: no other thread is there yet, so that all memory is known; ``image`` is what it holds when others come,
    by its cells. ``started`` are the threads that it creates, the first of which has the number
    ``following``. ``shown``: the arrays of the thread's own whose addresses others may have. ``sizes`` has the bytes of
    arrays that the thread has made, ``moves`` how far addresses from memory are moved, in bytes, and ``whole`` the
    arrays of whose computed places addresses are kept: where these begin, how far they are apart, and where
    they end (0: with the array). ``zeroed`` are arrays that begin as zeros, ``made_by`` has
    what objects were made by, ``origins`` where in the code
    arrays are made. ``outlived``: the first thread ends, and the program goes on.

    ``aligned`` has what addresses of objects are multiples of, in bytes, where that is asked for. ``private`` are
    objects of which no other thread has the address. ``reads`` are reads of what others could write
    that left nothing, as nobody does, and ``kept`` the places of such reads with their sizes. ``writes`` has when
    places are written, ``ends`` how many threads were created on ways to the end, each with an instruction there.
    ``claims`` are the threads that it joins or detaches, ``besides`` the places of numbers of the library's beside
    objects, and ``returned`` variables that were given back and may be there once more. ``chooses``: one of two numbers
    was computed, as memory decides which; ``parts``: a way is followed for each instead. ``exceptions`` are those that
    are kept, with their types.
    """

    alone: bool = False
    following: int = 0
    shown: Mapping[Array, Array] = field(default_factory=dict)
    started: list[ThreadStart] = field(default_factory=list)
    image: dict[Cell, Value] = field(default_factory=dict)
    sizes: dict[Array, int] = field(default_factory=dict)
    moves: set[int] = field(default_factory=set)
    whole: dict[Array, set[tuple[int, int, int]]] = field(default_factory=dict)
    zeroed: set[Array] = field(default_factory=set)
    made_by: dict[Array, str] = field(default_factory=dict)
    origins: dict[Array, str] = field(default_factory=dict)
    outlived: bool = False
    kept: set[tuple[Array, int, int]] = field(default_factory=set)
    aligned: dict[Array, int] = field(default_factory=dict)
    private: set[Array] = field(default_factory=set)
    reads: set[Access] = field(default_factory=set)
    writes: dict[Access, set[Moment]] = field(default_factory=dict)
    ends: dict[int, ir.KernelInstruction | None] = field(default_factory=dict)
    claims: set[int] = field(default_factory=set)
    besides: dict[Array, set[int]] = field(default_factory=dict)
    returned: set[Array] = field(default_factory=set)
    chooses: bool = False
    parts: bool = False
    exceptions: dict[Array, ArrayAddress] = field(default_factory=dict)


@dataclass(frozen=True)
class FollowedThread:
    """A thread of a launch while it is followed: what is fixed, and where what is found goes.

    ``shapes`` has what is known of functions before they are followed, by name.
    """

    module: ir.Module
    kernel: ir.KernelFunction
    launch: KernelLaunch
    ids: ThreadIds
    language: KernelLanguage
    out: ResidualWriter
    facts: LaunchFacts = field(default_factory=LaunchFacts)
    exploration: Exploration = field(default_factory=Exploration)
    notes: ThreadNotes = field(default_factory=ThreadNotes)
    creation: Creation = field(default_factory=Creation)
    shapes: dict[str, FunctionShape] = field(default_factory=dict)

    @property
    def block(self) -> int:
        """The number of the thread's block in the grid."""
        return self.launch.block_number(self.ids)

    @property
    def number(self) -> int:
        """The number of the thread in its block."""
        return self.launch.thread_number(self.ids)

    @property
    def lane(self) -> int:
        """The number of the thread in its warp."""
        return self.number % self.launch.warp

    @property
    def grows(self) -> bool:
        """Whether threads create others, to which they show memory."""
        return self.language.control.grows

    def asks_about(self, array: Array) -> LaunchFacts:
        """Return the facts of the launch, and note that what is left depends on those about an array."""
        self.notes.arrays.add(array)
        return self.facts

    def shape(self, function: ir.KernelFunction) -> FunctionShape:
        """Return what is known of a function before it is followed."""
        if function.name not in self.shapes:
            self.shapes[function.name] = FunctionShape.of(function)
        return self.shapes[function.name]


def new_thread(
    module: ir.Module,
    kernel: ir.KernelFunction,
    launch: KernelLaunch,
    ids: ThreadIds,
    language: KernelLanguage,
    facts: LaunchFacts | None = None,
    creation: Creation | None = None,
    shapes: dict[str, FunctionShape] | None = None,
    most: int = MOST_STEPS,
) -> FollowedThread:
    """Return a thread of a launch of which nothing has been followed."""
    number = (launch.block_number(ids) << 10) + launch.thread_number(ids)
    out = ResidualWriter(module, number, language.control.grows)
    exploration = Exploration(most)
    made = Creation() if creation is None else creation
    known = {} if shapes is None else shapes
    return FollowedThread(
        module,
        kernel,
        launch,
        ids,
        language,
        out,
        facts or LaunchFacts(),
        exploration=exploration,
        creation=made,
        shapes=known,
    )


Meaning = Callable[[FollowedThread, State, ir.KernelInstruction], bool]
"""What an instruction does: it changes what is known and appends what stays; false where the thread ends."""


RowOf = Callable[[ir.KernelInstruction, Callable[[str], int | None]], Row[Meaning] | str]
"""The row of an instruction, given the bits of registers by their names; or why it has none."""


SystemFunction = Callable[[FollowedThread, State, Sequence[ir.Operand]], Value]
"""What a function of the system does with its arguments, and what it gives."""


class GroupExchange(NamedTuple):
    """How threads exchange values when they do one operation together: the mode of their accesses to the array by
    which they do, that of the barriers around these, and what that takes for granted.
    """

    access: Mode
    barrier: Mode
    assumed: str = ""


PLAIN_EXCHANGE = GroupExchange(PLAIN, PLAIN)
"""An exchange by plain accesses and barriers."""


class LaunchRules(NamedTuple):
    """What holds of the launches of a language. ``size_by`` says what fixes the size of a block. ``exits``: a thread
    that has ended is not waited for at barriers. ``clusters``: blocks are in clusters; otherwise all are in one queue.
    """

    size_by: str = "LocalSize"
    exits: bool = False
    clusters: bool = False

    def limits(self, kernel: ir.KernelFunction) -> LaunchLimits:
        """Return what a kernel asks of its launches."""
        return limits_of(kernel, self.size_by)


ANY_LAUNCH = LaunchRules()
"""The rules of a language that says the size of blocks alone."""


class ControlRules(NamedTuple):
    """How the code of a language goes on.

    ``grows``: a kernel begins as one thread, which creates the others. ``ends``: a body ends by instructions that say
    so. ``machine``: it is code of a machine, whose functions have one set of registers, and whose predicates stand for
    branches: one that memory decides is known on each way that it leads to. ``division_stops``: a thread stops at a
    division of integers by zero. ``places``: how places are followed, where they have no variants.
    """

    grows: bool = False
    ends: bool = False
    machine: bool = False
    division_stops: bool = False
    places: PlaceRule | None = None


class MemoryRules(NamedTuple):
    """What holds of the memory of a language.

    ``parted``: weak accesses of several sizes mean what their parts do, where they do not race. ``structures``: the
    type of a parameter says whether it is a structure, of whose fields more may be known, and functions may have it by
    its address. ``reads_constants`` decides whether a load is of memory that nothing may write while the kernel runs.
    """

    parted: bool = False
    structures: bool = False
    reads_constants: Callable[[ir.KernelInstruction], bool] | None = None


ANY_CONTROL, ANY_MEMORY = ControlRules(), MemoryRules()
"""The rules of a language that has nothing peculiar."""


@dataclass(frozen=True)
class KernelLanguage:
    """A language of kernels: the row of an instruction, given the bits of registers by their names, or why it has none;
    and what its special registers hold (None where there is none of a name).

    ``model`` is the consistency model that it has unless another is asked for, and ``dialect`` that of litmus tests in
    which what is left of its kernels is written. ``rules`` are those of its launches. ``exchange``: how threads of a
    group exchange values. ``functions`` are those of the system that threads go on behind.
    """

    row_of: RowOf
    special: Callable[[FollowedThread, str], Value | None]
    model: str
    dialect: str = "c"
    rules: LaunchRules = ANY_LAUNCH
    control: ControlRules = ANY_CONTROL
    memory: MemoryRules = ANY_MEMORY
    exchange: GroupExchange = PLAIN_EXCHANGE
    functions: Mapping[str, SystemFunction] = field(default_factory=dict)
