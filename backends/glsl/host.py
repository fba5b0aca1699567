"""Runs the shaders of an Amber script by Vulkan itself, again and again. Needs Python 3.11 and the package vulkan.

The script names the sizes; its shaders, compiled, lie beside it: ``SCRIPT.0.spv`` and so on. Prints "ready" once the
pipelines are built and were launched. Of a progress test, prints a line for each iteration that has terminated; of a
memory test, "iteration N" with its outcomes as JSON: a list of rows, the count first and then the final value of each
term, and last the number of instances that found no row. Exit codes: 0 every iteration terminated, 2 the shaders cannot
be built or launched, 3 threads were cut short, 124 the device was lost.

What the shaders need of a device: Vulkan 1.2 with vulkanMemoryModel, and those with device scope
vulkanMemoryModelDeviceScope. All buffers are memory that the host sees; a launch begins with the host's writes and ends
where the host may read.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from backends.shared import hosting as host

BUFFERS = ("WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS", "TOTALS_WORDS")
"""The sizes of a memory test's buffers, in the order of their bindings."""

ALL = (1 << 64) - 1
"""The whole of a buffer, or of time, in nanoseconds."""

KINDS = ("other", "integrated GPU", "GPU", "virtual GPU", "CPU")
"""VkPhysicalDeviceType, in order."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options that choose a device."""
    return host.device_options(__doc__, "the .amber file, its shaders compiled beside it")


def devices() -> list[tuple[str, str]]:
    """Return every device as a row of its name and its kind."""
    return [(name, kind) for name, kind, _ in found()]


@cache
def found() -> list[tuple[str, str, Any]]:
    """Return every device of Vulkan with its name and kind."""
    import vulkan as vk

    try:
        application = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 2, 0))
        instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
        return [(*described(device), device) for device in vk.vkEnumeratePhysicalDevices(instance)]
    except (vk.VkError, vk.VkException) as error:
        raise host.HostError(f"Vulkan: {str(error) or type(error).__name__}") from None


def run(arguments: argparse.Namespace, path: Path, iterations: int) -> tuple[int, str]:
    """Run the shaders of a script for so many iterations, and return the exit code and the last words."""
    import vulkan as vk

    @contextmanager
    def started(_: str, constant: dict[str, int], report: host.TrialReport) -> Iterator[host.Iterate]:
        named = [row for row in found() if arguments.device in row[0]]
        if not 0 <= arguments.number < len(named):
            raise host.HostError(f"no Vulkan device {arguments.number} named '{arguments.device}'")
        codes = [code.read_bytes() for code in sorted(path.parent.glob(f"{path.name}.*.spv"))]
        try:
            device = VulkanDevice.of(found().index(named[arguments.number]))
            if not device.has_device_scope and any(map(has_device_scope, codes)):
                name = named[arguments.number][0]
                raise host.HostError(f"{name} has no vulkanMemoryModelDeviceScope, and the test has device scope")
            with (memory if "ROWS" in constant else progress)(device, codes, constant) as iterate:
                yield iterate
        except (vk.VkError, vk.VkException) as error:
            raise host.HostError(error, host.LOST if isinstance(error, vk.VkErrorDeviceLost) else 2) from None

    return host.run_program(path, iterations, started)


def described(device: Any) -> tuple[str, str]:
    """Return a device in words, with its driver, and its kind."""
    import vulkan as vk

    driver = vk.VkPhysicalDeviceDriverProperties()
    properties = vk.VkPhysicalDeviceProperties2(pNext=driver)
    vk.vkGetPhysicalDeviceProperties2(device, properties)
    name = text(properties.properties.deviceName)
    words = ", ".join(filter(None, (name, text(driver.driverInfo) or text(driver.driverName), "Vulkan")))
    kind = properties.properties.deviceType
    return words, KINDS[kind] if kind < len(KINDS) else KINDS[0]


def text(characters: Any) -> str:
    """Return a string of C as text, or what the package made of it."""
    import vulkan as vk

    return characters if isinstance(characters, str) else vk.ffi.string(characters).decode("utf-8", "replace")


def has_device_scope(code: bytes) -> bool:
    """Return whether a shader says that it has device scope: OpCapability VulkanMemoryModelDeviceScope, in SPIR-V."""
    words = struct.unpack(f"<{len(code) // 4}I", code[: len(code) // 4 * 4])
    return any(pair == (2 << 16 | 17, 5346) for pair in pairwise(words))


class VulkanDevice:
    """A device with a queue, which all programs share that a host runs."""

    def __init__(self, physical: Any) -> None:
        import vulkan as vk

        family = next(
            number
            for number, family in enumerate(vk.vkGetPhysicalDeviceQueueFamilyProperties(physical))
            if family.queueFlags & vk.VK_QUEUE_COMPUTE_BIT
        )
        # Whatever a structure points to must be in a variable as long as the structure is used.
        there = vk.VkPhysicalDeviceVulkanMemoryModelFeatures()
        vk.vkGetPhysicalDeviceFeatures2(physical, vk.VkPhysicalDeviceFeatures2(pNext=there))
        self.has_device_scope = bool(there.vulkanMemoryModelDeviceScope)
        features = vk.VkPhysicalDeviceVulkanMemoryModelFeatures(
            vulkanMemoryModel=1, vulkanMemoryModelDeviceScope=int(self.has_device_scope)
        )
        queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, queueCount=1, pQueuePriorities=[1.0])
        wanted = vk.VkDeviceCreateInfo(pNext=features, pQueueCreateInfos=[queue])
        self.handle = vk.vkCreateDevice(physical, wanted, None)
        self.queue = vk.vkGetDeviceQueue(self.handle, family, 0)
        self.types = vk.vkGetPhysicalDeviceMemoryProperties(physical)
        self.family = family

    @classmethod
    @cache
    def of(cls, number: int) -> VulkanDevice:
        """Return the device of this number in ``found``."""
        return cls(found()[number][2])


class Launcher:
    """The buffers of a device at bindings 0, 1 and so on, and the launches that use them."""

    def __init__(self, device: VulkanDevice, words: Sequence[int]) -> None:
        import vulkan as vk

        self.vk = vk
        self.device, self.queue, self.types = device.handle, device.queue, device.types
        wanted = vk.VkCommandPoolCreateInfo(queueFamilyIndex=device.family)
        self.pool = vk.vkCreateCommandPool(self.device, wanted, None)
        self.fence = vk.vkCreateFence(self.device, vk.VkFenceCreateInfo(), None)
        self.pipelines = list[tuple[Any, Any]]()
        made = [self._buffer(4 * size) for size in words]
        self.buffers = made
        self.mapped = [mapped for _, _, mapped in made]
        self._bind([buffer for buffer, _, _ in made])

    def _buffer(self, size: int) -> tuple[Any, Any, Any]:
        vk = self.vk
        wanted = vk.VkBufferCreateInfo(
            size=size, usage=vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE
        )
        buffer = vk.vkCreateBuffer(self.device, wanted, None)
        needs = vk.vkGetBufferMemoryRequirements(self.device, buffer)
        flags = vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        kind = next(
            number
            for number in range(self.types.memoryTypeCount)
            if needs.memoryTypeBits >> number & 1 and self.types.memoryTypes[number].propertyFlags & flags == flags
        )
        allocation = vk.VkMemoryAllocateInfo(allocationSize=needs.size, memoryTypeIndex=kind)
        memory = vk.vkAllocateMemory(self.device, allocation, None)
        vk.vkBindBufferMemory(self.device, buffer, memory, 0)
        return buffer, memory, vk.vkMapMemory(self.device, memory, 0, size, 0)

    def _bind(self, buffers: Sequence[Any]) -> None:
        vk = self.vk
        storage = vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
        bindings = [
            vk.VkDescriptorSetLayoutBinding(
                binding=number, descriptorType=storage, descriptorCount=1, stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT
            )
            for number in range(len(buffers))
        ]
        layout = vk.vkCreateDescriptorSetLayout(
            self.device, vk.VkDescriptorSetLayoutCreateInfo(pBindings=bindings), None
        )
        self.set_layout = layout
        sizes = [vk.VkDescriptorPoolSize(type=storage, descriptorCount=len(buffers))]
        pool = vk.vkCreateDescriptorPool(self.device, vk.VkDescriptorPoolCreateInfo(maxSets=1, pPoolSizes=sizes), None)
        self.sets = pool
        wanted = vk.VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=[layout])
        (self.set,) = vk.vkAllocateDescriptorSets(self.device, wanted)
        infos = [[vk.VkDescriptorBufferInfo(buffer=buffer, offset=0, range=ALL)] for buffer in buffers]
        writes = [
            vk.VkWriteDescriptorSet(
                dstSet=self.set, dstBinding=number, descriptorCount=1, descriptorType=storage, pBufferInfo=info
            )
            for number, info in enumerate(infos)
        ]
        vk.vkUpdateDescriptorSets(self.device, len(writes), writes, 0, None)
        self.layout = vk.vkCreatePipelineLayout(self.device, vk.VkPipelineLayoutCreateInfo(pSetLayouts=[layout]), None)

    def commands(self, launches: Sequence[tuple[bytes, int]]) -> Any:
        """Return launches of compiled shaders, each of so many work-groups and after the one before, as one
        submission.
        """
        vk = self.vk
        wanted = vk.VkCommandBufferAllocateInfo(
            commandPool=self.pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1
        )
        commands = vk.vkAllocateCommandBuffers(self.device, wanted)[0]
        vk.vkBeginCommandBuffer(commands, vk.VkCommandBufferBeginInfo())
        compute = vk.VK_PIPELINE_BIND_POINT_COMPUTE
        for code, groups in launches:
            vk.vkCmdBindPipeline(commands, compute, self._pipeline(code))
            vk.vkCmdBindDescriptorSets(commands, compute, self.layout, 0, 1, [self.set], 0, None)
            vk.vkCmdDispatch(commands, groups, 1, 1)
            seen = vk.VkMemoryBarrier(
                srcAccessMask=vk.VK_ACCESS_SHADER_WRITE_BIT,
                dstAccessMask=vk.VK_ACCESS_SHADER_READ_BIT | vk.VK_ACCESS_SHADER_WRITE_BIT | vk.VK_ACCESS_HOST_READ_BIT,
            )
            after = vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | vk.VK_PIPELINE_STAGE_HOST_BIT
            vk.vkCmdPipelineBarrier(
                commands, vk.VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, after, 0, 1, [seen], 0, None, 0, None
            )
        vk.vkEndCommandBuffer(commands)
        return commands

    def _pipeline(self, code: bytes) -> Any:
        vk = self.vk
        module = vk.vkCreateShaderModule(self.device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
        stage = vk.VkPipelineShaderStageCreateInfo(stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName="main")
        wanted = [vk.VkComputePipelineCreateInfo(stage=stage, layout=self.layout)]
        pipeline = vk.vkCreateComputePipelines(self.device, None, 1, wanted, None)[0]
        self.pipelines.append((module, pipeline))
        return pipeline

    def run(self, commands: Any) -> None:
        """Submit launches and wait for their end, which a test that hangs does not have."""
        vk = self.vk
        vk.vkQueueSubmit(self.queue, 1, [vk.VkSubmitInfo(pCommandBuffers=[commands])], self.fence)
        vk.vkWaitForFences(self.device, 1, [self.fence], vk.VK_TRUE, ALL)
        vk.vkResetFences(self.device, 1, [self.fence])

    def close(self) -> None:
        """Give back everything that was allocated, for a host may run many tests."""
        vk = self.vk
        for module, pipeline in self.pipelines:
            vk.vkDestroyPipeline(self.device, pipeline, None)
            vk.vkDestroyShaderModule(self.device, module, None)
        vk.vkDestroyPipelineLayout(self.device, self.layout, None)
        vk.vkDestroyDescriptorPool(self.device, self.sets, None)
        vk.vkDestroyDescriptorSetLayout(self.device, self.set_layout, None)
        for buffer, memory, _ in self.buffers:
            vk.vkDestroyBuffer(self.device, buffer, None)
            vk.vkFreeMemory(self.device, memory, None)
        vk.vkDestroyFence(self.device, self.fence, None)
        vk.vkDestroyCommandPool(self.device, self.pool, None)


@contextmanager
def progress(device: VulkanDevice, codes: Sequence[bytes], constant: dict[str, int]) -> Iterator[host.Iterate]:
    """Return the function that runs an iteration of a progress test."""
    finished = 4 * host.finished_at(constant)
    size = finished + 4 * constant["STRIDE"]
    launcher = Launcher(device, [size // 4])
    (code,) = codes
    commands = launcher.commands([(code, host.groups_of(constant))])

    def iterate(iteration: int) -> str:
        launcher.mapped[0][:] = bytes(size)
        launcher.mapped[0][finished + 4 : finished + 8] = struct.pack("<I", iteration == host.WARM_UP)
        launcher.run(commands)
        (found,) = struct.unpack("<I", launcher.mapped[0][finished : finished + 4])
        return host.terminated(found, constant, iteration)

    try:
        yield iterate
    finally:
        launcher.close()


@contextmanager
def memory(device: VulkanDevice, codes: Sequence[bytes], constant: dict[str, int]) -> Iterator[host.Iterate]:
    """Return the function that runs a launch of a memory test; the shader that Amber's totals need is left out."""
    launcher = Launcher(device, [constant[name] for name in BUFFERS])
    groups = constant["INSTANCES"] // min(256, constant["INSTANCES"])
    commands = launcher.commands(list(zip(codes, (groups, constant["GROUPS"], groups), strict=False)))
    _, _, histogram, totals = launcher.mapped

    def iterate(iteration: int) -> str:
        histogram[:] = bytes(len(histogram))
        totals[:4] = struct.pack("<I", iteration)
        launcher.run(commands)
        table = struct.unpack(f"<{len(histogram) // 4}I", histogram[:])
        return host.outcomes(table, constant)

    try:
        yield iterate
    finally:
        launcher.close()


if __name__ == "__main__":
    sys.exit(host.hosted(parser(), run, devices))
