"""Renders memory tests in GLSL, with Vulkan's scoped atomics. A test is three compute shaders in an Amber script.

- Scopes: ``gl_ScopeWorkgroup``, ``gl_ScopeQueueFamily`` and ``gl_ScopeDevice`` for CTA, queue and GPU; a wider one is
  said with these where it includes the same threads. Subgroups have no portable size, and are not used.
- Orders: relaxed, acquire, release, both; an acquire is for what reads and a release for what writes, as the language
  has it. There is no sequential consistency.
- An order speaks for the memory that the test uses, buffer or shared, or that an OpenCL fence's tag names. A release
  makes what came before available and an acquire makes what follows visible (``gl_SemanticsMakeAvailable``,
  ``gl_SemanticsMakeVisible``), as orders do in the other languages.
- Weak accesses are plain, of a buffer that is ``nonprivate``, so that orders apply to them. Shared memory is coherent
  in its work-group. Compilers may merge or move them as the model allows, and no tool here looks after it.
- Every barrier is of the whole work-group, orders all memory, and has no number.

**Vulkan's own tests** say all of this themselves, and are written as they are said: class ``sc0`` is the buffer and
``sc1`` shared memory; an order speaks for the classes that it names (``sc2`` images, ``sc3`` output), makes available
and visible where it says so; a control barrier orders memory as its semantics say, or not at all. The buffer is
declared once for each way of a weak access: private, ``nonprivate``, and coherent at a scope for ``av`` and ``vis``.
These are one reference, for a reference is the descriptor. Shared memory is coherent in its work-group whatever is
said, so that a weak access to it makes available or visible at that scope, or is refused.

The script asks for ``vulkanMemoryModelDeviceScope`` where the test has device scope: what is about the test is of one
queue, and not all devices have that feature. It launches the test ``Parameters.iterations`` times, with the number of
the launch as seed. After each, a fourth shader adds the histogram to ``totals`` and clears it. The script ends with
checks: that every outcome has a row; and, where the condition is ``~exists`` or ``forall`` without a filter, what it
claims. ``amber -b FILE -B 3`` writes the totals, also where a check fails, and ``decode`` reads them.

Gaps: images and output have no memory here, nor has a second reference to a location; operations of the device, and
threads that synchronise by the system, are of several launches. A device may have smaller work-groups or less shared
memory than the launch asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import Template
from typing import ClassVar

from backends.glsl.amber import read_buffer, shader_text
from backends.shared.atomics import Access
from backends.shared.kernel import MemoryWord, indented
from backends.shared.layout import HISTOGRAM_HEADER, ROWS, Layout, outcome_terms
from backends.shared.outcomes import SeenOutcomes, signed
from backends.shared.shaders import ShaderAtomics
from corpus.errors import InputError
from corpus.laws.c11 import failure_order
from corpus.laws.vulkan import FENCE, LOAD, RMW, SEMANTICS, STORE, VulkanRule
from corpus.litmus.instructions import Barrier, Fence, Instruction, Load, Rmw, Store
from corpus.litmus.locations import Region
from corpus.litmus.orders import Mode, Order, Scope
from corpus.litmus.propositions import Quantifier
from corpus.litmus.test import LitmusTest

_STORAGE = {Region.GLOBAL: "gl_StorageSemanticsBuffer", Region.SHARED: "gl_StorageSemanticsShared"}
_SPOKEN = dict(
    zip(SEMANTICS, (*_STORAGE.values(), "gl_StorageSemanticsImage", "gl_StorageSemanticsOutput"), strict=True)
)
_MADE = {"semav": "gl_SemanticsMakeAvailable", "semvis": "gl_SemanticsMakeVisible"}
_DEVICE = "memory_device"
_BLOCKS = {
    "": ("memory_private", ""),
    "nonpriv": ("memory", "nonprivate "),
    "gl_ScopeDevice": (_DEVICE, "devicecoherent "),
    "gl_ScopeQueueFamily": ("memory_queue_family", "queuefamilycoherent "),
    "gl_ScopeWorkgroup": ("memory_workgroup", "workgroupcoherent "),
}
"""The name and the declaration of the buffer, for each way of a weak access."""
_FENCED = {"global-fence": (Region.GLOBAL,), "local-fence": (Region.SHARED,)}
_SEMANTICS = {
    Order.ACQUIRE: "gl_SemanticsAcquire | gl_SemanticsMakeVisible",
    Order.RELEASE: "gl_SemanticsRelease | gl_SemanticsMakeAvailable",
    Order.ACQ_REL: "gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible",
}
_RULES: Mapping[type[Instruction], VulkanRule] = {Load: LOAD, Store: STORE, Rmw: RMW, Fence: FENCE}
_RELAXED = "gl_ScopeQueueFamily, 0, 0"
_ALL = f"{' | '.join(_STORAGE.values())}, {_SEMANTICS[Order.ACQ_REL]}"

LAUNCHES, INSTANCES, HOLDING, OTHER, TOTALS = range(5)
"""Words of the buffer ``totals``: launches that came to their end, instances of each, instances of all of them that
the condition holds of, and those with an outcome that found no row. Then the rows: a count, and the value of each term.
"""
BINDING = 3
"""The binding at which the buffer ``totals`` is."""

_SHADER = Template("""\
SHADER compute $shader GLSL TARGET_ENV spv1.5
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
$constants
layout(local_size_x = $size) in;
layout(set = 0, binding = 0) nonprivate buffer Memory { uint memory[]; };
${references}layout(set = 0, binding = 1) buffer Results { uint results[]; };
layout(set = 0, binding = 2) buffer Histogram { uint histogram[]; };
layout(set = 0, binding = 3) buffer Totals { uint totals[]; };
shared uint local_memory[SHARED_WORDS];

void main() {
$body
}
END
""")

GATHER = f"""\
++totals[{LAUNCHES}];
totals[{INSTANCES}] = INSTANCES;
totals[{HOLDING}] += histogram[0];
totals[{OTHER}] += histogram[1];
for (uint row = {HISTOGRAM_HEADER}u; row < HISTOGRAM_WORDS; row += ROW_WORDS) {{
    const uint seen = histogram[row + 1u];
    uint total = seen == 0u ? TOTALS_WORDS : {TOTALS}u;
    for (; total < TOTALS_WORDS; total += 1u + TERMS) {{
        bool same = true;
        for (uint term = 0u; term < TERMS; ++term)
            if (totals[total + 1u + term] != histogram[row + 2u + term]) same = false;
        if (!same && totals[total] != 0u) continue;
        for (uint term = 0u; term < TERMS; ++term) totals[total + 1u + term] = histogram[row + 2u + term];
        totals[total] += seen;
        break;
    }}
    if (seen != 0u && total >= TOTALS_WORDS) totals[{OTHER}] += seen;
}}
for (uint word = 0u; word < HISTOGRAM_WORDS; ++word) histogram[word] = 0u;
"""
"""The code that one thread runs after each launch: it adds the histogram to ``totals``, and clears it."""

_PIPELINE = Template("""\
PIPELINE compute ${shader}_pipeline
  ATTACH $shader
  BIND BUFFER memory AS storage DESCRIPTOR_SET 0 BINDING 0
  BIND BUFFER results AS storage DESCRIPTOR_SET 0 BINDING 1
  BIND BUFFER histogram AS storage DESCRIPTOR_SET 0 BINDING 2
  BIND BUFFER totals AS storage DESCRIPTOR_SET 0 BINDING 3
END
""")


class GlslKernel(ShaderAtomics):
    """A memory test as an Amber script, ``NAME.amber``, that is run as ``amber NAME.amber``."""

    title = "GLSL"
    interface = "Vulkan"
    buffers: ClassVar[Mapping[str, str]] = {
        "memory": "WORDS",
        "results": "RESULT_WORDS",
        "histogram": "HISTOGRAM_WORDS",
        "totals": "TOTALS_WORDS",
    }
    avoided = "END"
    group = "gl_WorkGroupID.x"
    item = "gl_LocalInvocationID.x"
    meet = f"controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, {_ALL})"
    add = f"atomicAdd({{cell}}, {{value}}, {_RELAXED})"
    claim = "atomicCompSwap({cell}, 0u, {value}, gl_ScopeQueueFamily, 0, 0, 0, 0)"
    peek = f"atomicLoad({{cell}}, {_RELAXED})"
    scratch_load = peek
    scratch_store = f"atomicStore({{cell}}, {{value}}, {_RELAXED})"
    functions: ClassVar = {**ShaderAtomics.functions, "cas": "atomicCompSwap"}
    scopes: ClassVar = {
        Scope.GPU: "gl_ScopeDevice",
        Scope.QUEUE: "gl_ScopeQueueFamily",
        Scope.CTA: "gl_ScopeWorkgroup",
    }
    no_word = "has no word for {} here"
    no_volatile = "has no volatile accesses as PTX has them"
    group_barriers = "has only barriers of a work-group here, which order all its memory"
    remark = "# "
    text = """\
#!amber
# $name. Usage: amber -b outcomes.txt -B 3 NAME.amber; add -d where there are no validation layers.
$test
DEVICE_FEATURE VulkanMemoryModelFeatures.$feature

$shaders
BUFFER memory DATA_TYPE uint32 SIZE $WORDS FILL 0
BUFFER results DATA_TYPE uint32 SIZE $RESULT_WORDS FILL 0
BUFFER histogram DATA_TYPE uint32 SIZE $HISTOGRAM_WORDS FILL 0
BUFFER totals DATA_TYPE uint32 SIZE $TOTALS_WORDS FILL 0

$pipelines
REPEAT $iterations
  RUN reset_pipeline $instance_groups 1 1
  RUN run_pipeline $GROUPS 1 1
  RUN count_pipeline $instance_groups 1 1
  RUN gather_pipeline 1 1 1
END

$expected
"""

    def check_launch(self, layout: Layout) -> None:  # noqa: D102
        super().check_launch(layout)
        if layout.instances * layout.parameters.iterations >= 1 << 32:
            raise InputError("instances of all launches need 2^32 or more to count them: ask for fewer")

    def sizes(self) -> dict[str, int]:  # noqa: D102
        return {"TOTALS_WORDS": TOTALS + ROWS * (1 + len(self.layout.terms)), **super().sizes()}

    def exchange(self, thread: int, ins: Rmw, kept: str, cell: MemoryWord, values: Sequence[str]) -> str:  # noqa: D102
        failure = failure_order(ins)
        if failure is Order.SC:
            raise self.refuse(thread, ins, "has no order sc")
        acquire = replace(ins.mode, order=Order.ACQUIRE, tags=tuple(tag for tag in ins.mode.tags if tag != "semav"))
        failed = f"{self._storage(acquire)}, {self._semantics(acquire)}" if failure is Order.ACQUIRE else "0, 0"
        return f"{kept}{self.call('cas', cell, [*values, *self.ordering(thread, ins), failed])};"

    def fence(self, thread: int, ins: Fence) -> str:  # noqa: D102
        self.check_words(thread, ins, ins.mode.tags if self._own else _FENCED)
        if ins.mode.order is Order.WEAK:
            raise self.refuse(thread, ins, "has no such fence")
        return f"memoryBarrier({', '.join(self.ordering(thread, ins))});"

    def barrier(self, barriers: Mapping[int, Barrier]) -> str:  # noqa: D102
        for thread, ins in barriers.items():
            self.check_barrier(thread, ins, (None, *Scope) if self._own else (None, Scope.CTA))
            if not self._own and not set(ins.mode.tags) <= set(_FENCED):
                raise self.refuse(thread, ins, self.group_barriers)
        return self._control_barrier(barriers) if self._own else f"{self.meet};"

    def _control_barrier(self, barriers: Mapping[int, Barrier]) -> str:
        """A barrier of Vulkan's own, with the memory semantics that it says."""
        (thread, ins), *others = barriers.items()
        for other, barrier in others:
            if barrier.mode != ins.mode:
                raise self.refuse(other, barrier, "has one barrier for all threads of a work-group, done in one way")
        if ins.mode.order is Order.WEAK:
            return "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, 0, 0);"
        self._check_made(thread, ins)
        scope = self.scope(thread, ins, self.scopes)
        return f"controlBarrier(gl_ScopeWorkgroup, {scope}, {self._storage(ins.mode)}, {self._semantics(ins.mode)});"

    def weak(self, thread: int, ins: Access, cell: MemoryWord) -> str:
        """Return the lvalue of a weak access, in the buffer as it is declared for such."""
        if not self._own:
            return cell.text
        flow = next((tag for tag in ins.mode.tags if tag in ("nonpriv", "av", "vis")), "")
        way = flow if flow in ("", "nonpriv") else self.scope(thread, ins, self.scopes)
        if cell.region is Region.SHARED:
            if way not in self.scopes.values():
                raise self.refuse(thread, ins, "has shared memory that is coherent in its work-group")
            return cell.text
        return cell.text.replace(self.arrays[Region.GLOBAL], _BLOCKS[way][0], 1)

    def _references(self) -> str:
        """The buffer once more for each way of a weak access that there is, but for the one that is always there."""
        if not self._own:
            return ""
        return "".join(
            f"layout(set = 0, binding = 0) {qualifier}buffer {name.title().replace('_', '')} {{ uint {name}[]; }};\n"
            for name, qualifier in _BLOCKS.values()
            if name != self.arrays[Region.GLOBAL]
        )

    def parts(self) -> Mapping[str, object]:  # noqa: D102
        layout = self.layout
        size = min(256, layout.instances)
        index = "const uint index = gl_GlobalInvocationID.x;"
        bodies = {
            "reset": (size, [index, *self.reset()]),
            "run": (layout.group_size, [f"const uint seed = totals[{LAUNCHES}];", *self.run()]),
            "count": (size, [index, *self.count()]),
            "gather": (1, GATHER.splitlines()),
        }
        shaders = [
            _SHADER.substitute(
                shader=shader,
                constants=self.constants(),
                size=number,
                body=shader_text(indented(body)),
                references=self._references() if shader == "run" else "",
            )
            for shader, (number, body) in bodies.items()
        ]
        body = "\n".join(bodies["run"][1])
        of_device = self.scopes[Scope.GPU] in body or f"{_DEVICE}[" in body
        return {
            "feature": "vulkanMemoryModelDeviceScope" if of_device else "vulkanMemoryModel",
            "shaders": "\n".join(shaders),
            "pipelines": "\n".join(_PIPELINE.substitute(shader=shader) for shader in bodies),
            "iterations": layout.parameters.iterations,
            "instance_groups": layout.instances // size,
            "expected": "\n".join(self._expected()),
        }

    def _expected(self) -> list[str]:
        condition = self.layout.test.condition
        instances = self.layout.instances * self.layout.parameters.iterations
        lines = ["# Instances with an outcome that found no row.", f"EXPECT totals IDX {4 * OTHER} EQ 0"]
        if condition.quantifier is not Quantifier.EXISTS and condition.filter is None:
            number = 0 if condition.quantifier is Quantifier.NOT_EXISTS else instances
            lines += ["# Instances that the condition holds of.", f"EXPECT totals IDX {4 * HOLDING} EQ {number}"]
        return lines

    def ordering(self, thread: int, ins: Access | Fence) -> list[str]:
        """Return scope, storage and semantics of an operation."""
        scope = self.scope(thread, ins, self.scopes)
        if ins.mode.order is Order.RELAXED and not isinstance(ins, Fence):
            return [scope, "0", "0"]
        if ins.mode.order is Order.SC:
            raise self.refuse(thread, ins, "has no order sc, nor has the memory model of Vulkan")
        orders = _RULES[type(ins)].orders
        if ins.mode.order not in orders:
            legal = (order for order in orders if order is not Order.WEAK)
            raise self.refuse(thread, ins, f"takes {', '.join(legal)} here")
        self._check_made(thread, ins)
        return [scope, self._storage(ins.mode), self._semantics(ins.mode)]

    def _check_made(self, thread: int, ins: Access | Fence | Barrier) -> None:
        """What makes available releases, and what makes visible acquires (SPIR-V 1.6, 3.32, Memory Semantics)."""
        for tag, order in (("semav", Order.RELEASE), ("semvis", Order.ACQUIRE)):
            if self._own and tag in ins.mode.tags and ins.mode.order not in (order, Order.ACQ_REL):
                raise self.refuse(thread, ins, f"has {tag} with {order} and {Order.ACQ_REL} alone")

    def _semantics(self, mode: Mode) -> str:
        """The order of an operation, and whether it makes available or visible."""
        if not self._own:
            return _SEMANTICS[mode.order]
        return " | ".join(
            [_SEMANTICS[mode.order].split(" | ")[0], *(word for tag, word in _MADE.items() if tag in mode.tags)]
        )

    def _storage(self, mode: Mode) -> str:
        """The memory that an operation orders: what its tags name, or all that the test has."""
        if self._own:
            return " | ".join(word for tag, word in _SPOKEN.items() if tag in mode.tags)
        named = [region for tag in mode.tags for region in _FENCED[tag]]
        used = {location.region for location in self.test.locations}
        return " | ".join(_STORAGE[region] for region in Region if region in (named or used))

    def is_atomic(self, thread: int, ins: Access, cell: MemoryWord) -> bool:  # noqa: D102
        self.check_words(thread, ins, ins.mode.tags if self._own else ())
        return ins.mode.order is not Order.WEAK and bool(self.ordering(thread, ins))


def decode(dump: str, test: LitmusTest) -> tuple[int, SeenOutcomes]:
    """Return the instances of a launch, and the outcomes, that ``amber -b FILE -B 3`` wrote of a script of this
    test.

    Raises ``InputError`` where the text is something else, or of a script of another test.
    """
    words = read_buffer(dump, BINDING)
    width = 1 + len(outcome_terms(test))
    if len(words) != TOTALS + ROWS * width:
        raise InputError(f"expected the totals of this test, {TOTALS + ROWS * width} words, found {len(words)}")
    rows = [words[start : start + width] for start in range(TOTALS, len(words), width)]
    counts = {tuple(map(signed, values)): count for count, *values in rows if count}
    if sum(counts.values()) + words[OTHER] != words[LAUNCHES] * words[INSTANCES]:
        raise InputError(f"the counts do not add up to {words[LAUNCHES]} launches of {words[INSTANCES]} instances")
    return words[INSTANCES], SeenOutcomes(dict(sorted(counts.items())), words[OTHER], words[LAUNCHES], hung=False)
