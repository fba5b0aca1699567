"""What the declarations of a module may say: the decorations, execution modes, capabilities, extensions and other words
of which it is known what they change (SPIR-V 1.6, 3.2 to 3.31). A word that is in none of these tables is not
understood.

A row that is ``None`` is of a word with any operands; others name the operands that are understood, such as the one
mode of rounding that is computed with.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from corpus.code.spirv.module import Enumerant, Id, SpirvInstruction, SpirvInteger, SpirvModule, SpirvString


class DeclarationRefusal(NamedTuple):
    """A declaration that is not understood: the instruction, why, and the function that it is of, if of one alone."""

    at: SpirvInstruction
    why: str
    function: str | None = None


DECORATIONS: Mapping[str, tuple[str, ...] | None] = dict.fromkeys(
    (
        # of where memory is, and how it lies there
        *("SpecId", "Block", "BufferBlock", "ColMajor", "ArrayStride", "MatrixStride", "CPacked", "Offset"),
        *("BuiltIn", "Binding", "DescriptorSet", "Alignment", "AlignmentId"),
        # of how it is accessed
        *("Volatile", "Coherent"),
        # promises, hints and names, which change nothing
        *("Restrict", "Aliased", "RestrictPointer", "AliasedPointer", "NonWritable", "NonReadable", "Constant"),
        *("Uniform", "UniformId", "NonUniform", "Invariant", "NoContraction", "NoSignedWrap", "NoUnsignedWrap"),
        *("MaxByteOffset", "MaxByteOffsetId", "UserSemantic", "UserTypeGOOGLE", "CounterBuffer"),
        *("AliasScopeINTEL", "NoAliasINTEL"),
    )
) | {
    "FPRoundingMode": ("RTE",),
    "LinkageAttributes": ("Export", "Import", "LinkOnceODR"),
    # ByVal makes a variable of the function's own; the others are promises, and say how registers are passed
    "FuncParamAttr": ("Zext", "Sext", "ByVal", "Sret", "NoAlias", "NoCapture", "NoWrite", "NoReadWrite"),
}
"""The decorations (3.20)."""

EXECUTION_MODES: Mapping[str, tuple[str, ...] | None] = dict.fromkeys(
    (
        *("LocalSize", "LocalSizeId", "LocalSizeHint", "LocalSizeHintId", "VecTypeHint", "ContractionOff"),
        *("SubgroupUniformControlFlowKHR", "MaximallyReconvergesKHR", "SignedZeroInfNanPreserve", "DenormPreserve"),
        "RoundingModeRTE",
    )
)
"""The execution modes (3.6)."""

STORAGE_CLASSES = frozenset(
    (
        *("StorageBuffer", "PhysicalStorageBuffer", "CrossWorkgroup", "Workgroup", "Private", "Function", "Input"),
        *("Output", "PushConstant", "Uniform", "UniformConstant", "Generic"),
    )
)
"""The storage classes whose memory is understood (3.7)."""

MEMORY_OPERANDS = frozenset(
    (
        *("Volatile", "Aligned", "Nontemporal", "MakePointerAvailable", "MakePointerVisible", "NonPrivatePointer"),
        *("AliasScopeINTELMask", "NoAliasINTELMask"),
    )
)
"""The memory operands (3.26)."""

ADDRESSING = frozenset(("Logical", "Physical64", "PhysicalStorageBuffer64"))
"""The addressing models, whose addresses have 64 bits (3.4)."""

ALIASING = (
    *("WorkgroupMemoryExplicitLayoutKHR", "WorkgroupMemoryExplicitLayout8BitAccessKHR"),
    "WorkgroupMemoryExplicitLayout16BitAccessKHR",
)
"""The capabilities by which variables of a work-group share memory (SPV_KHR_workgroup_memory_explicit_layout)."""

CAPABILITIES = frozenset(
    (
        # of environments, memory models, addresses and modules
        *("Shader", "Kernel", "Matrix", "Linkage", "Addresses", "GenericPointer", "UntypedPointersKHR"),
        *("VulkanMemoryModel", "VulkanMemoryModelDeviceScope", "PhysicalStorageBufferAddresses", "DeviceGroup"),
        *("VariablePointers", "VariablePointersStorageBuffer", "CoreBuiltinsARM", "ShaderSMBuiltinsNV"),
        # of types, and of where these may be stored
        *("Vector16", "Float16Buffer", "Float16", "Float64", "Int8", "Int16", "Int64", "StorageBuffer16BitAccess"),
        *("UniformAndStorageBuffer16BitAccess", "StoragePushConstant16", "StorageInputOutput16"),
        *("StorageBuffer8BitAccess", "UniformAndStorageBuffer8BitAccess", "StoragePushConstant8"),
        *ALIASING,
        # of instructions that compute and of atomic ones
        *("BitInstructions", "ExpectAssumeKHR", "ShaderClockKHR", "Int64Atomics", "AtomicFloat16AddEXT"),
        *("AtomicFloat32AddEXT", "AtomicFloat64AddEXT", "AtomicFloat16MinMaxEXT", "AtomicFloat32MinMaxEXT"),
        *("AtomicFloat64MinMaxEXT", "DenormPreserve", "SignedZeroInfNanPreserve", "RoundingModeRTE"),
        # of groups
        *("Groups", "GroupUniformArithmeticKHR", "SubgroupDispatch", "SubgroupBallotKHR", "SubgroupVoteKHR"),
        *("GroupNonUniform", "GroupNonUniformVote", "GroupNonUniformArithmetic", "GroupNonUniformBallot"),
        *("GroupNonUniformShuffle", "GroupNonUniformShuffleRelative", "GroupNonUniformRotateKHR"),
        *("GroupNonUniformClustered", "GroupNonUniformQuad", "GroupNonUniformPartitionedEXT"),
        # of promises and hints
        *("UniformDecoration", "ShaderNonUniform", "MemoryAccessAliasingINTEL", "OptNoneEXT"),
        # of arrays of buffers and images, which are refused where they are accessed
        *("RuntimeDescriptorArray", "StorageBufferArrayDynamicIndexing", "UniformBufferArrayDynamicIndexing"),
        *("StorageBufferArrayNonUniformIndexing", "UniformBufferArrayNonUniformIndexing"),
        *("SampledImageArrayDynamicIndexing", "SampledImageArrayNonUniformIndexing"),
        *("StorageImageArrayDynamicIndexing", "StorageImageArrayNonUniformIndexing"),
        *("UniformTexelBufferArrayDynamicIndexing", "UniformTexelBufferArrayNonUniformIndexing"),
        *("StorageTexelBufferArrayDynamicIndexing", "StorageTexelBufferArrayNonUniformIndexing"),
        # of images, which are refused where they are accessed
        *("ImageBasic", "ImageReadWrite", "ImageMipmap", "LiteralSampler", "ImageQuery", "ImageGatherExtended"),
        *("Image1D", "Sampled1D", "ImageBuffer", "SampledBuffer", "ImageCubeArray", "SampledCubeArray", "MinLod"),
        *("ImageMSArray", "StorageImageMultisample", "StorageImageExtendedFormats", "Int64ImageEXT"),
        *("StorageImageReadWithoutFormat", "StorageImageWriteWithoutFormat"),
        # of other stages of graphics, which no kernel has
        *("Geometry", "Tessellation", "ClipDistance", "CullDistance", "SampleRateShading", "InputAttachment"),
        *("DerivativeControl", "InterpolationFunction", "MultiView", "DrawParameters"),
    )
)
"""The capabilities (3.31): each only allows words, which have rows of their own or are refused where a thread comes to
them, but for those of ``ALIASING``.
"""

EXTENSIONS = frozenset(
    (
        *("SPV_KHR_storage_buffer_storage_class", "SPV_KHR_vulkan_memory_model", "SPV_KHR_variable_pointers"),
        *("SPV_KHR_physical_storage_buffer", "SPV_EXT_physical_storage_buffer", "SPV_KHR_untyped_pointers"),
        *("SPV_KHR_workgroup_memory_explicit_layout", "SPV_KHR_8bit_storage", "SPV_KHR_16bit_storage"),
        *("SPV_KHR_device_group", "SPV_ARM_core_builtins", "SPV_NV_shader_sm_builtins", "SPV_KHR_linkonce_odr"),
        *("SPV_KHR_bit_instructions", "SPV_KHR_expect_assume", "SPV_KHR_shader_clock", "SPV_KHR_float_controls"),
        *("SPV_EXT_shader_atomic_float_add", "SPV_EXT_shader_atomic_float16_add"),
        *("SPV_EXT_shader_atomic_float_min_max", "SPV_KHR_terminate_invocation"),
        *("SPV_KHR_shader_ballot", "SPV_KHR_subgroup_vote", "SPV_KHR_subgroup_rotate"),
        *("SPV_KHR_uniform_group_instructions", "SPV_NV_shader_subgroup_partitioned"),
        *("SPV_EXT_shader_subgroup_partitioned", "SPV_KHR_subgroup_uniform_control_flow"),
        *("SPV_KHR_maximal_reconvergence", "SPV_KHR_no_integer_wrap_decoration", "SPV_EXT_descriptor_indexing"),
        *("SPV_INTEL_memory_access_aliasing", "SPV_INTEL_optnone", "SPV_EXT_optnone"),
        *("SPV_KHR_non_semantic_info", "SPV_KHR_relaxed_extended_instruction", "SPV_GOOGLE_decorate_string"),
        *("SPV_GOOGLE_hlsl_functionality1", "SPV_GOOGLE_user_type", "SPV_AMD_gpu_shader_half_float"),
        *("SPV_AMD_gpu_shader_int16", "SPV_AMD_shader_trinary_minmax", "SPV_EXT_shader_image_int64"),
        *("SPV_KHR_multiview", "SPV_KHR_shader_draw_parameters"),
    )
)
"""The extensions whose words are in these tables, or are refused where they stand."""

DEBUGGING = ("NonSemantic.", "OpenCL.DebugInfo.", "DebugInfo", "SPIRV.debug")
"""How the names of the sets begin whose instructions have no effect (SPV_KHR_non_semantic_info)."""

RELAXED = frozenset(
    (
        *("OpLoad", "OpIAdd", "OpISub", "OpIMul", "OpUDiv", "OpSDiv", "OpUMod", "OpSMod", "OpSRem", "OpSNegate"),
        *("OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic", "OpBitwiseAnd", "OpBitwiseOr"),
        *("OpBitwiseXor", "OpNot", "OpSelect", "OpBitcast"),
    )
)
"""The instructions that may have relaxed precision where they give numbers of 32 bits: any width from 16 bits on may be
the one that is computed with (2.14).
"""

SMALL = frozenset(("SubgroupLocalInvocationId", "SubgroupSize", "SubgroupId", "NumSubgroups"))
"""The built-in variables that may have relaxed precision: their numbers are below 32768, as no work-group has as many
threads.
"""

_OTHERS = frozenset(
    (
        *("OpSource", "OpSourceContinued", "OpSourceExtension", "OpModuleProcessed", "OpNop", "OpTypeForwardPointer"),
        *("OpLine", "OpNoLine"),
    )
)
"""The instructions without a result, outside of functions, that change nothing."""


def refusals(module: SpirvModule, sets: Container[str]) -> Iterator[DeclarationRefusal]:
    """Yield what a module declares that is not understood; ``sets`` are those of extended instructions that are."""
    relaxed = any(Enumerant("RelaxedPrecision") in ins.operands for ins in module.declared)
    results = {ins.result: ins for ins in module.instructions} if relaxed else {}
    for ins in module.declared:
        function = next(iter(ins.ids), None)
        for each in ins.operands:
            match ins.name, each:
                case "OpCapability", Enumerant(name) if name not in CAPABILITIES:
                    yield DeclarationRefusal(ins, f"the capability {name} is not understood")
                case "OpCapability", Enumerant(name):
                    if name in ALIASING and _shares(module):
                        yield DeclarationRefusal(
                            ins, "variables that share the memory of a work-group are not understood"
                        )
                case "OpExtension", SpirvString(name):
                    if name not in EXTENSIONS:
                        yield DeclarationRefusal(ins, f"the extension {name} is not understood")
                case "OpExtInstImport", SpirvString(name):
                    if name not in sets and not name.startswith(DEBUGGING):
                        yield DeclarationRefusal(ins, f"the set of instructions {name} is not understood")
                case "OpMemoryModel", Enumerant(name):
                    if each is ins.operands[0] and name not in ADDRESSING:
                        yield DeclarationRefusal(ins, f"the addressing model {name} is not understood")
                case (("OpExecutionMode" | "OpExecutionModeId"), Enumerant() as mode):
                    if (why := _unknown(EXECUTION_MODES, mode)) is not None:
                        yield DeclarationRefusal(ins, f"the execution mode {why}", function)
                case "OpDecorate", Enumerant("RelaxedPrecision"):
                    if function is None or not _is_of_numbers(module, function, results.get(function)):
                        yield DeclarationRefusal(ins, "the decoration RelaxedPrecision is not understood here")
                case _, Enumerant() as decoration:
                    if (why := _unknown(DECORATIONS, decoration)) is not None:
                        yield DeclarationRefusal(ins, f"the decoration {why}")
    for ins in module.others:
        if ins.name not in _OTHERS:
            yield DeclarationRefusal(ins, "is not understood")


def _unknown(rows: Mapping[str, tuple[str, ...] | None], word: Enumerant) -> str | None:
    """Return that a word is not understood, or its operands are not; None where it is."""
    if word.name not in rows:
        return f"{word.name} is not understood"
    allowed = rows[word.name]
    names = [parameter.name for parameter in word.parameters if isinstance(parameter, Enumerant)]
    if allowed is not None and not set(names) <= set(allowed):
        return f"{word.name} {' '.join(names)} is not understood"
    return None


def _is_of_numbers(module: SpirvModule, id: str, ins: SpirvInstruction | None) -> bool:
    """Return whether an id that has relaxed precision, the result of an instruction, is one of ``SMALL``, or of one of
    ``RELAXED``.
    """
    builtin = module.decoration(id, "BuiltIn")
    if builtin is not None and id in module.globals:
        return any(isinstance(which, Enumerant) and which.name in SMALL for which in builtin.parameters)
    type = module.globals.get(ins.type or "") if ins is not None and ins.name in RELAXED else None
    if type is not None and type.name == "OpTypeVector" and isinstance(type.operands[0], Id):
        type = module.globals.get(type.operands[0].name)
    return type is not None and type.name == "OpTypeInt" and type.operands[0] == SpirvInteger(32)


def _shares(module: SpirvModule) -> bool:
    """Return whether several variables may lie in the memory of a work-group at one place: blocks do."""
    found = 0
    for ins in module.globals.values():
        if ins.name == "OpVariable" and Enumerant("Workgroup") in ins.operands:
            found += 1
    return found > 1
