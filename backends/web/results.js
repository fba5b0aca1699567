// What was seen: lines of results as backends/shared/results.py has them, what models say of them, and where they are
// kept while the page is open and after.

/** Time-outs, as multiples of the first one, of the tries after one that hung (backends/shared/results.py). */
const AGAIN = [5, 25];

/** How often a try is made, at least, that does not hang (synth/hangs.py). */
const RUNS = 10;

/** Whether a result has a hang, and each time that it was made again. */
const hangs = ({ hung, outcomes }) => hung || (typeof outcomes === "string" && outcomes.includes("H"));
const isConfirmed = (result) => hangs(result) && result.tries?.length > AGAIN.length;

/** The suite of the page. Programs are put together from pieces, which are numbers of lines (backends/web/page.py). */
class Suite {
  constructor(data) {
    Object.assign(this, data);
    this.tests.forEach((test, number) => (test.number = number));
    this.byName = new Map(this.tests.map((test) => [`${test.name} ${test.digest}`, test]));
  }

  /** The test of a result, if it is one of these. */
  testOf(result) {
    return this.byName.get(`${result.test} ${result.digest}`);
  }

  get isMemory() {
    return this.family === "memory";
  }

  /** The text of a test's program for a way, or null where it cannot be launched so. */
  program(test, way) {
    return test.programs[way] && this.text(test.programs[way]);
  }

  text(pieces) {
    return pieces.map((piece) => this.pieces[piece].map((line) => this.lines[line]).join("\n")).join("\n");
  }

  /** The text of a test's program launched as a drawn profile. Throws Unlaunchable. */
  drawnProgram(test, profile, instances, isCpu) {
    return launchedAs(this.text(test.template), profile, this.draws, instances, isCpu);
  }

  /** The numbers of the ways that are chosen, `chosen` having a set of values for each choice. */
  waysOf(chosen, isCpu) {
    const fits = ([name, value]) => chosen[name].has(value);
    return this.ways.flatMap(({ choices, cpu }, number) =>
      Object.entries(choices).every(fits) && (cpu === null || cpu === isCpu) ? [number] : [],
    );
  }

  /**
   * The models that a result contradicts: those that promise the end of a test that hung, which is confirmed, or forbid
   * what was seen. A model that promises nothing of a test (synth/conformance.py) is not in its `allowed`.
   */
  contradicted(test, result) {
    if ("error" in result) return [];
    const wrong = this.isMemory
      ? test.allowed.filter(([, allowed]) => result.outcomes.some(([values]) => !isAmong(values, test, allowed)))
      : isConfirmed(result) && test.terminating.map((model) => [model]);
    return (wrong || []).map(([model]) => this.models[model]);
  }

  /** Whether a hang of a test contradicts a model, if it is confirmed. A memory test is to end under each. */
  endsUnderSome(test) {
    return this.isMemory || test.terminating.length > 0;
  }
}

/** Whether values are one of the outcomes of a test with these numbers. */
function isAmong(values, test, numbers) {
  return numbers.some((number) => String(test.outcomes[number]) === String(values));
}

/** The iterations of a shader, one after the other: what each gave, or null for one that hung; `told` of losses. */
async function* iterated(gpu, shader, { iterations, timeout, every_iteration: every }, told) {
  let built = null;
  try {
    for (let number = 0, again = false; number < iterations; ) {
      built ??= await gpu.build(shader);
      const since = performance.now();
      const outcome = await gpu.watch(built.launch(number), 1000 * timeout);
      if (outcome.error) throw new Failure(oneLine(outcome.error.message));
      if ("value" in outcome) {
        yield outcome.value;
      } else {
        told(outcome.late ? `no end in ${timeout} s: a hang` : `the device was lost: ${outcome.lost}`);
        gpu.discard();
        built = null;
        if (outcome.lost && !again && performance.now() - since < DRIVERS_PATIENCE) {
          again = true;
          continue;
        }
        yield null;
        if (!every) return;
      }
      again = false;
      number += 1;
    }
  } finally {
    if (built !== null) built.free();
  }
}

/** What is asked: the trial of a shader with the settings of the run. Its names are in the order of every line. */
function trialOf(shader, way, settings) {
  const { trial } = described(shader);
  const { iterations, timeout, every_iteration, device, driver } = settings;
  const asked = { ...trial, device, driver, iterations, timeout };
  if ("mapping" in trial) return { ...asked, every_iteration };
  const { label, text } = way;
  return { ...asked, ...(label && { profile: label }), ...(text && { parameters: text }) };
}

/** The trial of a result, as text: results of one trial have one. */
function keyOf({ outcomes, other, launches, hung, error, date, parameters, tries, ...trial }) {
  return JSON.stringify(trial);
}

/**
 * Make a trial: its result, or a failure. With `confirms`, one that hangs is made again with more time. Throws Stopped.
 */
async function tried(gpu, shader, trial, confirms, told) {
  const count = "terms" in trial ? countedOutcomes : lettersOf;
  const seenIn = (timeout, every) => count(iterated(gpu, shader, { ...trial, timeout, every_iteration: every }, told));
  let seen;
  try {
    seen = await seenIn(trial.timeout, trial.every_iteration);
    if (hangs(seen) && confirms) seen = await confirmed(seen, trial.timeout, (timeout) => seenIn(timeout, false));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (seen) told(`it could not be run again: ${error.message}`);
    else seen = { error: error.message };
  }
  return { ...trial, ...seen, date: new Date().toISOString().replace(/\.\d+Z$/, "Z") };
}

/** What counts of a trial that hung: the same where it hangs each time that it is made again, else what ended. */
async function confirmed(first, timeout, seenIn) {
  const { outcomes, launches, hung } = first;
  const tries = [hung ? `${"T".repeat(launches)}H` : outcomes];
  for (const factor of AGAIN) {
    const until = performance.now() + 1000 * factor * timeout;
    let ended = null;
    let seen;
    for (let runs = 0; !(seen && hangs(seen)) && (runs < RUNS || performance.now() < until); runs++) {
      seen = await seenIn(factor * timeout);
      ended ??= seen;
    }
    tries.push(hangs(seen) ? "H" : "T");
    if (!hangs(seen)) return { ...ended, tries };
  }
  return { ...first, tries };
}

/** A letter for each iteration of a progress test: T terminated, H did not. */
async function lettersOf(iterations) {
  let outcomes = "";
  for await (const letter of iterations) outcomes += letter ?? "H";
  return { outcomes };
}

/** The outcomes of all launches of a memory test with their counts, by value. */
async function countedOutcomes(iterations) {
  const counts = new Map();
  const seen = { other: 0, launches: 0, hung: false };
  for await (const launch of iterations) {
    if (launch === null) {
      seen.hung = true;
      break;
    }
    seen.launches += 1;
    seen.other += launch.other;
    for (const [count, ...values] of launch.rows) counts.set(String(values), (counts.get(String(values)) ?? 0) + count);
  }
  const outcomes = [...counts].map(([values, count]) => [values === "" ? [] : values.split(",").map(Number), count]);
  return { outcomes: outcomes.sort(([a], [b]) => byValue(a, b)), ...seen };
}

function byValue(a, b) {
  const at = a.findIndex((value, n) => value !== b[n]);
  return at < 0 ? 0 : a[at] - b[at];
}

/** The browser in words, as exactly as it tells. */
async function browserName() {
  const data = navigator.userAgentData;
  if (!data) return navigator.userAgent;
  const { fullVersionList, platform } = await data.getHighEntropyValues(["fullVersionList", "platform"]);
  const brands = fullVersionList.filter(({ brand }) => !/not.*brand/i.test(brand));
  const own = brands.filter(({ brand }) => brand !== "Chromium");
  return [...(own.length ? own : brands).map(({ brand, version }) => `${brand} ${version}`), platform].join(", ");
}

/** The store of all pages' results, by suite and number. */
const STORE = "results";

/** What becomes of a request or a transaction of IndexedDB, which tells its end by events of these names. */
const ended = (asked, done) =>
  new Promise((resolve, reject) => {
    asked[done] = () => resolve(asked.result);
    asked.onerror = asked.onabort = () => reject(asked.error);
  });

/**
 * The results of this suite, which outlive the page where the browser lets it keep anything. They are in IndexedDB, for
 * what Chromium's localStorage has taken may be lost when the page is loaded again.
 */
class Kept {
  constructor(suite) {
    this.suite = suite.suite;
    this.lines = [];
    this.isOpen = false;
    this.durable = false;
    this.store = null;
  }

  /** Read what was kept before. */
  async open() {
    try {
      const opening = indexedDB.open("synth", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
      this.store = await ended(opening, "onsuccess");
      this.lines = await ended(this.store.transaction(STORE).objectStore(STORE).getAll(this.all), "onsuccess");
      this.durable = true;
    } catch (error) {
      // There is no leave: what is seen lives as long as the page.
    }
    this.isOpen = true;
  }

  /** The keys of this suite's results. */
  get all() {
    return IDBKeyRange.bound([this.suite, 0], [this.suite, Infinity]);
  }

  /** Add a result; when this has ended it is on disk, if anything is. */
  async add(line) {
    this.lines.push(line);
    await this.change((results) => results.put(line, [this.suite, this.lines.length - 1]));
  }

  async clear() {
    this.lines = [];
    await this.change((results) => results.delete(this.all));
  }

  async change(what) {
    try {
      const transaction = this.store.transaction(STORE, "readwrite", { durability: "strict" });
      what(transaction.objectStore(STORE));
      await ended(transaction, "oncomplete");
    } catch (error) {
      this.durable = false; // there is no room, or no leave
    }
  }
}
