"use strict";

// A device, and how the shaders of backends/wgsl are launched on it: the buffers and launches of backends/wgsl/host.py.
//
// A shader that hangs gives no answer, or the device is lost to a driver that gives up on it. Neither can be undone:
// the device is destroyed and another one asked for, which comes when the browser has ended the old one's process.
// That may take a minute, and after a second loss Chromium answers a page with no adapter for two minutes. So who asks
// waits, for as long as nobody stops it.

/** Milliseconds between two questions for an adapter, where the browser has said that there is none. */
const ASK_AGAIN = 500;

/** Milliseconds that building a shader may take. */
const BUILDING = 60000;

/** A device that is lost sooner than this, in milliseconds, may have gone for reasons of its own. */
const DRIVERS_PATIENCE = 1000;

/** The number of the launch before the first one, in which every thread ends at once: it has the shader compiled. */
const WARM_UP = 0xffffffff;

/** The sizes of a memory test's buffers, in the order of their bindings; the number of the launch comes last. */
const BINDINGS = ["WORDS", "PLAIN_WORDS", "RESULT_WORDS", "HISTOGRAM_WORDS"];

/** The run is over before its end: somebody has pressed Stop, or the message says why. */
class Stopped extends Error {}

/** A trial that could not be made: its shader does not compile, say. */
class Failure extends Error {}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What a shader says of itself: its constants, and the beginning of its trial in its last line. */
function described(shader) {
  const constants = {};
  for (const [, name, value] of shader.matchAll(/^const (\w+) = (\d+)u;$/gm)) constants[name] = Number(value);
  return { constants, trial: JSON.parse(/^\/\/ trial (.*)$/m.exec(shader)[1]) };
}

/** A message as results hold it. */
const oneLine = (message) => message.replace(/\s+/g, " ").trim();

/** The adapter in words, as results have it. */
function nameOf(info) {
  return [info.vendor, info.architecture, info.device, info.description].filter(Boolean).join(" ") || "unknown adapter";
}

/** The one device that tests run on; when it is lost, another of the same adapter takes its place. */
class Gpu {
  /** `waits(seconds)` is told that there is no device yet; `stop` resolves to "stop" when somebody stops the run. */
  constructor(waits) {
    this.waits = waits;
    this.stop = new Promise(() => {});
    this.adapter = null;
    this.device = null;
    this.asking = null;
  }

  /** What the adapter is called. */
  get name() {
    return nameOf(this.adapter.info);
  }

  /**
   * The device, however long it takes to get one. Throws Stopped; so too where `name` is given and the adapter is
   * another, for a browser whose GPU was lost too often may go on with a CPU.
   */
  async ready(name = this.adapter && this.name) {
    const since = performance.now();
    const ticks = setInterval(() => this.waits(Math.round((performance.now() - since) / 1000)), 1000);
    try {
      while (this.device === null) {
        this.asking ??= this.ask().finally(() => (this.asking = null));
        const found = await Promise.race([this.asking, this.stop]);
        if (!found) await Promise.race([sleep(ASK_AGAIN), this.stop]);
        if (found === "stop") throw new Stopped();
      }
    } finally {
      clearInterval(ticks);
    }
    if (name && name !== this.name) {
      throw new Stopped(`The adapter was ${name} and is ${this.name} now. Start the browser anew, or run on that one.`);
    }
    return this.device;
  }

  /** Ask for an adapter and a device once; whether there is one. */
  async ask() {
    try {
      const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
      if (adapter === null) return false;
      const device = await adapter.requestDevice();
      this.adapter = adapter;
      this.device = device;
      this.lost = device.lost.then((info) => {
        if (this.device !== device) return { lost: "it was given up" };
        this.device = null;
        return { lost: info.message || info.reason || "lost" };
      });
      return true;
    } catch (error) {
      return false;
    }
  }

  /** Whether the adapter is a CPU, which runs work-groups one after the other. */
  get isCpu() {
    const { info, isFallbackAdapter } = this.adapter; // where it is said has changed
    return (info.isFallbackAdapter ?? isFallbackAdapter) || /swiftshader|llvmpipe|lavapipe/i.test(this.name);
  }

  /** Give the device up: what still runs on it is not waited for. */
  discard() {
    const device = this.device;
    this.device = null;
    if (device !== null) device.destroy();
  }

  /**
   * What becomes of some work: `{value}`, `{error}`, `{lost}` with the reason, or `{late: true}` after so many
   * milliseconds. Throws Stopped, and then the device is given up.
   */
  async watch(work, milliseconds) {
    const lost = this.lost;
    const done = work.then(
      (value) => ({ value }),
      // Who waits for a lost device is told of an error, too, and which of both comes first is chance.
      async (error) => (await Promise.race([lost, sleep(100)])) || { error },
    );
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(() => resolve({ late: true }), milliseconds)));
    const outcome = await Promise.race([done, lost, late, this.stop]);
    clearTimeout(timer);
    if (outcome !== "stop") return outcome;
    this.discard();
    throw new Stopped();
  }

  /** A shader on the device: `launch(number)`, and `free()` for the end. Throws Failure or Stopped. */
  async build(shader) {
    for (let attempt = 0; ; attempt += 1) {
      const device = await this.ready();
      const built = await this.watch(builtOn(device, shader), BUILDING);
      if (built.value) return built.value;
      if (built.late) this.discard();
      if (built.lost && attempt === 0) continue; // it may have been lost before
      throw new Failure(built.late ? "the shader was not built in a minute" : built.lost || oneLine(built.error.message));
    }
  }
}

/** The launches of a shader on a device, and the end of its buffers. Rejects where the device refuses any of it. */
async function builtOn(device, shader) {
  device.pushErrorScope("out-of-memory");
  device.pushErrorScope("validation");
  const buffers = [];
  const allocate = (words, usage) => {
    buffers.push(device.createBuffer({ size: 4 * words, usage }));
    return buffers.at(-1);
  };
  const free = () => buffers.forEach((each) => each.destroy());
  let launch = null;
  let refused = null;
  try {
    const module = device.createShaderModule({ code: shader });
    const { messages } = await module.getCompilationInfo();
    const wrong = messages.find(({ type }) => type === "error");
    if (wrong) throw new Error(`line ${wrong.lineNum}: ${wrong.message}`);
    const { constants } = described(shader);
    launch = await ("ROWS" in constants ? memoryLaunch : progressLaunch)(device, module, constants, allocate);
    await launch(WARM_UP);
  } catch (error) {
    refused = error;
  }
  for (const error of [await device.popErrorScope(), await device.popErrorScope()]) refused ??= error;
  if (refused) {
    free();
    throw refused;
  }
  return { launch, free };
}

/** One launch of a pipeline, of so many work-groups. */
function dispatch(commands, pipeline, group, groups) {
  const pass = commands.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(groups);
  pass.end();
}

/** Have the commands executed, and read words that they have copied. A test that hangs stays here. */
async function finished(device, commands, copy) {
  device.queue.submit([commands.finish()]);
  await copy.mapAsync(GPUMapMode.READ);
  const words = new Uint32Array(copy.getMappedRange().slice(0));
  copy.unmap();
  return words;
}

/** How an iteration of a progress test is run: "T" where it terminated. */
async function progressLaunch(device, module, constants, allocate) {
  const usage = GPUBufferUsage;
  const memory = allocate(constants.FINISHED + constants.STRIDE, usage.STORAGE | usage.COPY_SRC | usage.COPY_DST);
  const copy = allocate(1, usage.MAP_READ | usage.COPY_DST);
  const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint: "test" } });
  const entries = [{ binding: 0, resource: { buffer: memory } }];
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const total = (constants.INSTANCES * constants.SIZE) % 2 ** 32;
  const groups = constants.GROUPS ?? constants.THREADS * constants.INSTANCES;
  return async (number) => {
    const expected = number === WARM_UP ? 0 : total;
    device.queue.writeBuffer(memory, 4 * (constants.FINISHED + 1), new Uint32Array([number === WARM_UP]));
    const commands = device.createCommandEncoder();
    commands.clearBuffer(memory, 0, 4 * (constants.FINISHED + 1));
    dispatch(commands, pipeline, group, groups);
    commands.copyBufferToBuffer(memory, 4 * constants.FINISHED, copy, 0, 4);
    const [sum] = await finished(device, commands, copy);
    if (sum !== expected) throw new Error(`threads were cut short: sum of counters ${sum}, not ${expected}`);
    return "T";
  };
}

/** How a launch of a memory test is run: its rows, each a count and the values of the terms, and how many had none. */
async function memoryLaunch(device, module, constants, allocate) {
  const usage = GPUBufferUsage;
  const storage = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST;
  const buffers = BINDINGS.map((size) => allocate(constants[size], storage));
  buffers.push(allocate(1, usage.UNIFORM | usage.COPY_DST));
  const copy = allocate(constants.HISTOGRAM_WORDS, usage.MAP_READ | usage.COPY_DST);
  const histogram = buffers[3];
  const seed = buffers[4];
  const types = ["storage", "storage", "storage", "storage", "uniform"];
  const layout = device.createBindGroupLayout({
    entries: types.map((type, binding) => ({ binding, visibility: GPUShaderStage.COMPUTE, buffer: { type } })),
  });
  const entries = buffers.map((each, binding) => ({ binding, resource: { buffer: each } }));
  const group = device.createBindGroup({ layout, entries });
  const pipelines = await Promise.all(
    ["reset", "run", "count"].map((entryPoint) =>
      device.createComputePipelineAsync({
        layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint },
      }),
    ),
  );
  const each = constants.INSTANCES / Math.min(256, constants.INSTANCES);
  return async (number) => {
    device.queue.writeBuffer(seed, 0, new Uint32Array([number]));
    const commands = device.createCommandEncoder();
    commands.clearBuffer(histogram);
    [each, constants.GROUPS, each].forEach((groups, n) => dispatch(commands, pipelines[n], group, groups));
    commands.copyBufferToBuffer(histogram, 0, copy, 0, copy.size);
    const table = await finished(device, commands, copy);
    const rows = [];
    for (let at = 2; at < table.length; at += constants.ROW_WORDS) {
      if (table[at]) rows.push([table[at + 1], ...new Int32Array(table.slice(at + 2, at + constants.ROW_WORDS))]);
    }
    return { rows, other: table[1] };
  };
}
