"""Runs kernels on a machine: lines of JSON on standard input, each answered by a line with the memory at the end.

``machine_host.py opencl`` runs kernels of OpenCL C on PoCL, ``machine_host.py vulkan`` shaders on a device of Vulkan::

    {"code": "kernel void k ..", "kernels": [{"name": "k", "blocks": 2, "threads": 1, "arrays": ["00ff"]}]}
    {"memory": [["00fe"]]}

An answer may be {"problem": "why"}. A process of its own, for a compiler of a device may take it down.
"""

import base64
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def opencl():
    """What runs the kernels of a text on PoCL."""
    from backends.opencl.platforms import POCL, choose

    device = choose(POCL)
    os.environ.update(device.environment)
    import numpy
    import pyopencl as cl

    platform = next(each for each in cl.get_platforms() if each.name == POCL)
    context = cl.Context(platform.get_devices()[:1])
    queue, flags = cl.CommandQueue(context), cl.mem_flags

    def run(code, kernels):
        built = cl.Program(context, code).build(["-cl-std=CL3.0", "-w"])
        found = []
        for each in kernels:
            data = [numpy.frombuffer(bytearray.fromhex(text), dtype=numpy.uint8) for text in each["arrays"]]
            own = [cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array) for array in data]
            size = (each["blocks"] * each["threads"],)
            getattr(built, each["name"])(queue, size, (each["threads"],), *own)
            for array, buffer in zip(data, own, strict=True):
                cl.enqueue_copy(queue, array, buffer)
            queue.finish()
            found.append([array.tobytes().hex() for array in data])
        return found

    return run


def vulkan():
    """What runs a shader on the first device of Vulkan, with numbers of all widths."""
    import vulkan as vk

    from backends.glsl.host import Launcher, found

    class Device:
        def __init__(self, physical):
            family = next(
                number
                for number, each in enumerate(vk.vkGetPhysicalDeviceQueueFamilyProperties(physical))
                if each.queueFlags & vk.VK_QUEUE_COMPUTE_BIT
            )
            newer = vk.VkPhysicalDeviceVulkan12Features(
                vulkanMemoryModel=1,
                vulkanMemoryModelDeviceScope=1,
                shaderInt8=1,
                storageBuffer8BitAccess=1,
                scalarBlockLayout=1,
                bufferDeviceAddress=0,
            )
            older = vk.VkPhysicalDeviceVulkan11Features(storageBuffer16BitAccess=1, pNext=newer)
            features = vk.VkPhysicalDeviceFeatures(shaderInt64=1, shaderInt16=1, shaderFloat64=1)
            queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=family, queueCount=1, pQueuePriorities=[1.0])
            wanted = vk.VkDeviceCreateInfo(pNext=older, pQueueCreateInfos=[queue], pEnabledFeatures=features)
            self.handle = vk.vkCreateDevice(physical, wanted, None)
            self.queue = vk.vkGetDeviceQueue(self.handle, family, 0)
            self.types = vk.vkGetPhysicalDeviceMemoryProperties(physical)
            self.family = family

    device = Device(found()[0][2])

    def run(code, kernels):
        found = []
        for each in kernels:
            data = [bytes.fromhex(text) for text in each["arrays"]]
            launcher = Launcher(device, [len(one) // 4 for one in data])
            commands = launcher.commands([(base64.b64decode(code), each["blocks"])])
            for mapped, one in zip(launcher.mapped, data, strict=True):
                mapped[:] = one
            launcher.run(commands)
            found.append([bytes(mapped[:]).hex() for mapped in launcher.mapped])
            launcher.close()
        return found

    return run


def main():
    run = {"opencl": opencl, "vulkan": vulkan}[sys.argv[1]]()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"memory": run(asked["code"], asked["kernels"])}
        except Exception as error:  # whatever a driver says
            answer = {"problem": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
