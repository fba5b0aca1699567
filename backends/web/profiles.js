// Random profiles, drawn here from the values that the visitor gives, and the shaders of tests that are launched so.

/** A profile that a test cannot be launched as, and why. */
class Unlaunchable extends Error {}

/** Numbers from 0 to 1 that a text begins, always the same ones (FNV-1a, then mulberry32). */
function chance(text) {
  let state = 2166136261;
  for (const each of new TextEncoder().encode(text)) state = Math.imul(state ^ each, 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A value of a profile from its text. */
function valueOf(text) {
  if (/^\d+$/.test(text)) return Number(text);
  return text === "true" || (text === "false" ? false : text);
}

/**
 * The profiles of a seed: `share` of the parameters are drawn in each, from `values[parameter]`.
 *
 * What is drawn of one parameter does not depend on the values of another, nor on how many profiles are drawn.
 */
async function drawnProfiles({ seed, count, share }, values) {
  const profiles = [];
  for (let number = 1; number <= count; number += 1) {
    const chosen = {};
    for (const [parameter, each] of Object.entries(values)) {
      const next = chance(`${seed} ${number} ${parameter}`);
      if (next() < share && each.length) chosen[parameter] = each[Math.floor(next() * each.length)];
    }
    profiles.push(await profileOf(`drawn-${seed}.${number}`, chosen));
  }
  return profiles;
}

/** A profile: what is chosen, its label in results, and its text, as backends/shared/profiles.py has them. */
async function profileOf(name, chosen) {
  const pythons = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : value);
  const keys = Object.keys(chosen).sort();
  const digested = keys.map((key) => `${key}=${pythons(chosen[key])}`).join(",");
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(digested)));
  const start = Array.from(digest.slice(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const lines = Object.entries({ name, ...chosen }).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  return { label: `${name}#${start}`, text: lines.join(""), chosen };
}

/** The smallest power of two that is not smaller. */
function power(number) {
  let found = 1; // logarithms are not exact in every browser
  while (found < number) found *= 2;
  return found;
}

/**
 * The parameters of a launch: the device's own, and those that are chosen in their stead. A CPU plays all blocks in one
 * pass after another, and knows how many; on any other device a thread plays each role of the test in turn
 * (cpu_parameters and gpu_parameters in backends/shared/layout.py).
 */
function parametersOf(own, chosen, fixed, instances, isCpu) {
  if (!isCpu) {
    const { CTAS, WARPS, LANES } = fixed;
    const passes = power(CTAS * WARPS * LANES);
    const slots = Math.min(own.group / (WARPS * LANES), power(Math.ceil(instances / passes)));
    return { ...own.gpu, slots: Math.max(own.warp, power(Math.floor(slots / 2) + 1)), passes, ...chosen, instances };
  }
  const passes = power(Math.ceil(instances / (chosen.slots ?? own.cpu.slots)));
  return { ...own.cpu, passes, spin: fixed.CTAS > 1 ? own.cpu.spin : 0, ...chosen, instances };
}

/**
 * The constants of a launch that come of its parameters (Layout.constants in backends/shared/layout.py); `fixed` are
 * those of the test. Throws Unlaunchable, as Python's does.
 */
function laidOut(p, fixed, limits) {
  const refuse = (reason) => {
    throw new Unlaunchable(reason);
  };
  if (p.spread > p.regions) refuse(`a spread of ${p.spread}, and ${p.regions} regions`);
  if (p.offset + (p.regions - 1) * p.patch >= fixed.SCRATCH_WORDS) refuse("regions outside the scratch area");
  const apart = (stride) => (p.conflicts ? Math.ceil(stride / limits.banks) * limits.banks : stride);
  const blocks = Math.max(power(Math.ceil(p.instances / p.slots)), p.passes);
  const turns = blocks / p.passes;
  const instances = blocks * p.slots;
  const roles = fixed.CTAS + p.stress;
  const counters = instances * fixed.GLOBALS * apart(p.stride);
  const scratch = counters + instances;
  const constants = {
    PLAIN_WORDS: fixed.PLAIN_WORDS > 1 ? counters : 1,
    ROLES: roles,
    SLOTS: p.slots,
    BLOCKS: blocks,
    PASSES: p.passes,
    TURNS: turns,
    INSTANCES: instances,
    CTA_STEP: p.interleaved ? 1 : turns,
    TURN_STEP: p.interleaved ? roles : 1,
    SHUFFLE: Number(p.shuffle),
    SHUFFLE_BLOCKS: Number(p.shuffle_blocks),
    SCATTER: Number(p.scatter),
    STRIPE: Number(p.stripe),
    STRIPES: Math.max(1, turns - 1),
    PERMUTE_LOCATIONS: Number(p.permute_locations),
    ROTATE: Number(p.rotate),
    CONFLICTS: Number(p.conflicts),
    GROUPS: roles * turns,
    GROUP_SIZE: fixed.WARPS * fixed.LANES * p.slots,
    STRIDE: apart(p.stride),
    SHARED_STRIDE: apart(p.shared_stride),
    SHARED_WORDS: Math.max(1, p.slots * fixed.SHAREDS * apart(p.shared_stride)),
    COUNTERS: counters,
    SPIN: p.spin,
    SCRATCH: scratch,
    STRESS: p.stress,
    STRESSERS: p.stress * turns,
    STRESS_ROUNDS: p.stress_rounds,
    STRESS_BEFORE: p.stress_before,
    VARY: Number(p.vary),
    SPREAD: p.spread,
    PATCH: p.patch,
    REGIONS: p.regions,
    OFFSET: p.offset,
    WORDS: scratch + fixed.SCRATCH_WORDS,
    RESULT_WORDS: Math.max(1, fixed.TERMS * instances),
  };
  if (constants.GROUPS > limits.groups) refuse(`${constants.GROUPS} work-groups, and WebGPU has ${limits.groups}`);
  const bytes = 4 * Math.max(constants.WORDS, constants.RESULT_WORDS);
  if (bytes > limits.bytes) refuse(`${bytes} bytes of memory, and WebGPU has ${limits.bytes}`);
  if (constants.GROUP_SIZE > limits.threads) {
    refuse(`a work-group of ${constants.GROUP_SIZE} threads, and WebGPU has ${limits.threads}`);
  }
  return constants;
}

/** The shader of a test, from its template (backends/web/template.py), launched as a profile says. */
function launchedAs(template, { chosen }, { own, limits }, instances, isCpu) {
  const { constants: fixed, trial } = described(template);
  const parameters = parametersOf(own, chosen, fixed, instances, isCpu);
  const constants = laidOut(parameters, fixed, limits);
  const accesses = parameters.sequence.split(" ");
  const given = { ...trial, instances: constants.INSTANCES, stress: parameters.stress > 0 };
  const source = template.split("\n");
  const kept = [true];
  const lines = [];
  for (let at = 0; at < source.length; at += 1) {
    const [mark, name] = source[at].trim().split(" ");
    if (mark === "//?") {
      const there = name[0] === "!" ? !constants[name.slice(1)] : constants[name] > 0;
      kept.push(kept.at(-1) && there);
    } else if (mark === "//.") {
      kept.pop();
    } else if (kept.at(-1) && mark === "//+") {
      const [load, store] = [source[at + 1], source[at + 2]];
      lines.push(...accesses.map((access) => (access === "ld" ? load : store)));
      at += 2;
    } else if (kept.at(-1)) {
      lines.push(
        source[at]
          .replace(/^const (\w+) = \d+u;$/, (whole, each) => `const ${each} = ${constants[each] ?? fixed[each]}u;`)
          .replace(/^(@compute @workgroup_size)\(\d+\)$/, `$1(${Math.min(256, constants.INSTANCES)})`)
          .replace(/^\/\/ trial .*$/, () => `// trial ${asAscii(given)}`),
      );
    }
  }
  return lines.join("\n");
}

/** JSON without any character that may end a line. */
function asAscii(value) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, escaped);
}
