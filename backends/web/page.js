// What is seen and clicked. Names and texts of tests are other people's: they are set as text, and never as HTML.

/** Milliseconds between two things that a screen reader is told, but for those that matter. */
const QUIET = 5000;

const byId = (id) => document.getElementById(id);

/** A text with an escape for each character that would reorder what is shown, or that no one can see: names of tests and
    devices are other people's (corpus/errors.py: visible). */
const visible = (text) => String(text).replace(/[\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** An element with text or other elements in it. */
function element(tag, ...content) {
  const made = document.createElement(tag);
  made.append(...content.map((each) => (each instanceof Node ? each : visible(each))));
  return made;
}

const cell = (...content) => element("td", ...content);

/** Seconds as people say them. */
function inWords(seconds) {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

/** The way in which a result was launched, in few words. */
function wayOf({ mapping, placement = "device", profile, stress }) {
  if (mapping) return placement === "device" ? mapping : `${mapping} in a ${placement}`;
  return profile || (stress ? "memory stress" : "no stress");
}

class Page {
  constructor(suite) {
    this.suite = suite;
    this.kept = new Kept(suite);
    const waiting = "Waiting for the browser to give a device, which may take minutes after a loss";
    this.gpu = new Gpu((seconds) => this.say(`${waiting}: ${seconds} s.`, false));
    this.rows = [];
    this.results = suite.tests.map(() => new Map()); // of each test, by trial
    this.made = new Set(); // trials with a result, which are not made again
    this.against = new Map(suite.models.map((model) => [model, { tests: [], silent: 0, shown: cell() }]));
    for (const { silent } of suite.tests) for (const [model] of silent) this.against.get(suite.models[model]).silent += 1;
    this.stop = null;
    this.spoken = -Infinity;
  }

  async open() {
    this.showSuite();
    this.showChoices();
    this.showDraws();
    this.showTests();
    this.showModels();
    this.describeDevice();
    this.listen();
    this.select(true);
    this.driver = await browserName();
    await this.kept.open();
    for (const line of this.kept.lines) this.enter(JSON.parse(line));
    if (this.kept.lines.length) this.say(`${this.kept.lines.length} results of before are here; Run makes what lacks.`);
    this.update();
    await this.showDevice();
    // A CPU knows how many work-groups it runs at once, and so how many passes it needs.
    if (this.suite.draws && this.gpu.adapter && this.gpu.isCpu) byId("of-passes").value = "";
    this.update();
  }

  showSuite() {
    const { tests, isMemory } = this.suite;
    byId("summary").textContent =
      `${tests.length} ${isMemory ? "memory" : "progress"} tests. ` +
      "Nothing leaves this machine but the file that you save.";
    byId("iterations").value = this.suite.iterations;
    byId("every-label").hidden = isMemory;
    byId("warning").textContent = isMemory
      ? ""
      : "Tests may hang, and a shader that hangs can freeze the display for some seconds, or until a restart: " +
        "save your work. The browser takes up to minutes to give another device; the run then goes on.";
    byId("models-caption").textContent = isMemory
      ? "A test contradicts a model that forbids an outcome that was seen."
      : "A test contradicts a model under which it terminates, if it hung, and again with 5 and 25 times the time-out.";
    byId("refused").hidden = !this.suite.refused.length;
    for (const { name, reason } of this.suite.refused) byId("refused-list").append(element("li", `${name}: ${reason}`));
  }

  showChoices() {
    for (const { name, values, chosen } of this.suite.choices) {
      const fieldset = element("fieldset", element("legend", name));
      fieldset.hidden = values.length === 1; // there is nothing to choose
      for (const value of values) {
        const box = document.createElement("input");
        Object.assign(box, { type: "checkbox", name, value, checked: chosen.includes(value) });
        fieldset.append(element("label", box, ` ${value}`));
      }
      byId("choices").append(fieldset);
    }
  }

  showDraws() {
    const { draws } = this.suite;
    if (!draws) return;
    Object.assign(byId("draws"), { hidden: false, disabled: false });
    byId("count").value = draws.count;
    byId("share").value = Math.round(100 * draws.share);
    for (const { name, values, pattern, expected } of draws.parameters) {
      const field = document.createElement("input");
      const each = `(${pattern})`;
      Object.assign(field, { id: `of-${name}`, name, value: values.join(", "), autocomplete: "off", spellcheck: false });
      Object.assign(field, { pattern: ` *(${each} *(, *${each} *)*)?`, title: `Expected: ${expected}; commas between` });
      const label = element("label", name);
      label.htmlFor = field.id;
      byId("parameters").append(element("dt", label), element("dd", field));
    }
    // Where something is wrong, the browser shows it, if it can be seen.
    byId("values").addEventListener("invalid", () => (byId("values").open = true), true);
  }

  /** The random profiles that are chosen. */
  async drawn() {
    const fields = [...byId("parameters").querySelectorAll("input")];
    const texts = (field) => field.value.split(",").map((text) => text.trim()).filter(Boolean);
    const values = Object.fromEntries(fields.map((field) => [field.name, texts(field).map(valueOf)]));
    const [count, seed, share] = ["count", "seed", "share"].map((name) => Number(byId(name).value));
    return drawnProfiles({ count, seed, share: share / 100 }, values);
  }

  showTests() {
    this.rows = this.suite.tests.map((test) => {
      const box = document.createElement("input");
      Object.assign(box, { type: "checkbox", checked: true, ariaLabel: visible(`Run ${test.name}`) });
      const details = element("details", element("summary", test.name));
      details.addEventListener("toggle", () => this.showDetails(test));
      const [state, seen, against] = [cell(), cell(), cell()];
      const row = element("tr", cell(box), cell(details), state, seen, against);
      return { row, box, details, state, seen, against };
    });
    byId("tests").append(...this.rows.map(({ row }) => row));
  }

  /** What there is to know of a test, made when somebody looks. */
  showDetails(test) {
    const { details } = this.rows[test.number];
    while (details.children.length > 1) details.lastChild.remove();
    if (!details.open) return;
    details.append(element("pre", test.text));
    if (!this.results[test.number].size) return;
    if (!this.suite.isMemory) {
      const names = test.terminating.map((model) => this.suite.models[model]);
      details.append(element("p", `It terminates under ${names.join(", ") || "none of the models"}.`));
    }
    const silent = Map.groupBy(test.silent, ([, reason]) => reason);
    for (const [reason, models] of silent) {
      const names = models.map(([model]) => this.suite.models[model]).join(", ");
      details.append(element("p", `${names}: no promise of this test, ${reason}.`));
    }
    for (const result of this.results[test.number].values()) {
      details.append(element("p", this.launched(result)));
      if (result.parameters) details.append(element("pre", result.parameters));
      if ("terms" in result && !("error" in result)) details.append(this.histogram(test, result));
    }
  }

  /** A result's outcomes, and those that some model allows and that were not seen. */
  histogram(test, result) {
    const heads = [...result.terms, "count", "asked for", "forbidden by"];
    const body = document.createElement("tbody");
    const seen = new Map(result.outcomes.map(([values, count]) => [String(values), count]));
    const others = test.outcomes.filter((values) => !seen.has(String(values)));
    for (const values of [...result.outcomes.map(([values]) => values), ...others]) {
      const count = seen.get(String(values)) ?? 0;
      const against = test.allowed.filter(([, allowed]) => !isAmong(values, test, allowed));
      const models = against.map(([model]) => this.suite.models[model]).join(", ");
      const asked = isAmong(values, test, test.asked) ? "yes" : "";
      const row = element("tr", ...values.map((value) => cell(String(value))), cell(count.toLocaleString("en")));
      row.append(cell(asked), cell(models));
      if (count && models) row.lastChild.className = "bad";
      body.append(row);
    }
    const head = element("tr", ...heads.map((text) => element("th", text)));
    return element("table", element("thead", head), body);
  }

  /** How a result came about, in a line. */
  launched(result) {
    const instances = `${result.instances.toLocaleString("en")} instance${result.instances === 1 ? "" : "s"}`;
    const words = [wayOf(result), instances, `time-out ${result.timeout} s`];
    return `${words.join(", ")}: ${this.seenOf(result)} (${result.device}, ${result.date})`;
  }

  /** What a result says was seen, in few words. */
  seenOf(result) {
    if ("error" in result) return `failed: ${result.error}`;
    const doubt = isConfirmed(result) ? "" : ", not confirmed";
    const slow = result.tries ? " with more time: the device was slow" : "";
    if ("mapping" in result) {
      const hung = [...result.outcomes].filter((letter) => letter === "H").length;
      return hung ? `${hung} of ${result.outcomes.length} hung${doubt}` : `${result.outcomes.length} terminated${slow}`;
    }
    const test = this.suite.testOf(result);
    const asked = result.outcomes.filter(([values]) => isAmong(values, test, test.asked));
    const total = asked.reduce((sum, [, count]) => sum + count, 0).toLocaleString("en");
    const all = (result.launches * result.instances).toLocaleString("en");
    return `asked for: ${total} of ${all}${result.hung ? `, then a hang${doubt}` : slow}`;
  }

  async showDevice() {
    if (!navigator.gpu) {
      this.refuse("This browser has no WebGPU, or not for this page: try another, or a page from https or a file.");
      return;
    }
    if (!(await this.gpu.ask())) {
      this.refuse("The browser has WebGPU and no adapter for it now. Run waits until there is one.");
      return;
    }
    this.describeDevice();
  }

  /** Tell of the device; before there is one too, so that nothing below moves under a pointer when it comes. */
  describeDevice() {
    const isKnown = this.gpu.adapter !== null;
    const facts = {
      Adapter: isKnown ? this.gpu.name : "not known yet",
      Kind: isKnown ? (this.gpu.isCpu ? "CPU" : "GPU") : "not known yet",
      Browser: this.driver ?? "not known yet",
      "User agent": navigator.userAgent,
    };
    const pairs = Object.entries(facts).flatMap(([name, value]) => [element("dt", name), element("dd", value)]);
    byId("device").replaceChildren(...pairs);
    byId("no-device").hidden = true;
  }

  refuse(text) {
    byId("no-device").textContent = visible(text);
    byId("no-device").hidden = false;
  }

  /** Enter a result that was made now or before. */
  enter(result) {
    const test = this.suite.testOf(result);
    if (!test) return;
    if (!("error" in result)) {
      this.made.add(keyOf(result));
      byId("models-told").hidden = false; // before a run nothing is contradicted, which would look like an answer
    }
    this.results[test.number].set(keyOf(result), result);
    this.showResults(test);
    for (const model of this.suite.contradicted(test, result)) {
      const { tests } = this.against.get(model);
      if (!tests.includes(test.name)) tests.push(test.name);
      this.showModel(model);
    }
  }

  showResults(test) {
    const { state, seen, against } = this.rows[test.number];
    const results = [...this.results[test.number].values()];
    const hung = results.some(hangs);
    const failed = results.some((result) => "error" in result);
    state.textContent = failed ? "failed" : hung ? "hung" : results.length ? "done" : "";
    state.className = failed || hung ? "bad" : "";
    seen.textContent = visible(results.map((result) => `${wayOf(result)}: ${this.seenOf(result)}`).join("\n"));
    const models = new Set(results.flatMap((result) => this.suite.contradicted(test, result)));
    against.textContent = visible([...models].join(", "));
    against.className = models.size ? "bad" : "";
    if (this.rows[test.number].details.open) this.showDetails(test);
  }

  /** Each model with the tests of which a result contradicts it. */
  showModels() {
    for (const [model, { shown }] of this.against) {
      const name = element("th", model);
      name.scope = "row";
      byId("models").append(element("tr", name, shown));
      this.showModel(model);
    }
  }

  showModel(model) {
    const { tests, silent, shown } = this.against.get(model);
    const first = tests.slice(0, 5).join(", ") + (tests.length > 5 ? ", .." : "");
    const said = tests.length ? `${tests.length}: ${first}` : "none";
    shown.textContent = visible(silent ? `${said}; it promises nothing of ${silent}` : said);
    shown.className = tests.length ? "bad" : "";
  }

  listen() {
    byId("settings").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    byId("stop").addEventListener("click", () => this.stop?.());
    byId("save").addEventListener("click", () => this.save());
    byId("discard").addEventListener("click", () => this.discard());
    byId("filter").addEventListener("input", () => this.filter());
    byId("all").addEventListener("click", () => this.select(true));
    byId("none").addEventListener("click", () => this.select(false));
    byId("tests").addEventListener("change", () => this.count());
  }

  filter() {
    const wanted = byId("filter").value.toLowerCase();
    this.suite.tests.forEach(({ name }, number) => {
      this.rows[number].row.hidden = !name.toLowerCase().includes(wanted);
    });
  }

  select(chosen) {
    for (const { row, box } of this.rows) if (!chosen || !row.hidden) box.checked = chosen;
    this.count();
  }

  count() {
    this.selected = this.rows.filter(({ box }) => box.checked).length;
    byId("selected").textContent = `${this.selected} of ${this.rows.length} selected`;
    this.update();
  }

  /** What can be clicked now. */
  update() {
    const running = this.stop !== null;
    byId("run").disabled = running || !navigator.gpu || !this.selected || !this.kept.isOpen;
    byId("stop").disabled = !running;
    byId("save").disabled = !this.kept.lines.length;
    byId("discard").disabled = running || !this.kept.lines.length;
  }

  /** Tell what happens; `always` where it matters, else not more often than anyone wants to be told. */
  say(text, always = true) {
    if (!always && performance.now() - this.spoken < QUIET) return;
    this.spoken = performance.now();
    byId("status").textContent = visible(text);
  }

  /** Something that people will want to look up later. */
  note(text) {
    byId("events").append(element("li", `${new Date().toLocaleTimeString()} ${text}`));
    this.say(text);
  }

  save() {
    const file = new Blob(this.kept.lines.map((line) => `${line}\n`), { type: "application/jsonl" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = "results.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    this.say("Saved as results.jsonl: synth import reads it.");
  }

  async discard() {
    if (!confirm(`Discard ${this.kept.lines.length} results for good?`)) return;
    const cleared = this.kept.clear();
    this.made.clear();
    byId("models-told").hidden = true;
    this.results.forEach((results) => results.clear());
    this.suite.tests.forEach((test) => this.showResults(test));
    for (const [model, each] of this.against) {
      each.tests = [];
      this.showModel(model);
    }
    this.update();
    await cleared;
    this.say("Discarded.");
  }

  /** What the form says. */
  settings() {
    const chosen = Object.fromEntries(this.suite.choices.map(({ name }) => [name, new Set()]));
    for (const box of byId("choices").querySelectorAll("input:checked")) chosen[box.name].add(box.value);
    return {
      chosen,
      iterations: Number(byId("iterations").value),
      timeout: Number(byId("timeout").value),
      every_iteration: byId("every").checked,
    };
  }

  /** The trials of the tests that are selected, in all ways that are chosen and all profiles that are drawn. */
  async trials(settings) {
    const { suite } = this;
    const { isCpu } = this.gpu;
    const ways = suite.waysOf(settings.chosen, isCpu).map((number) => ({
      label: suite.ways[number].profile,
      fits: (test) => test.programs[number] !== null,
      program: (test) => suite.program(test, number),
    }));
    const sizes = suite.draws ? [...settings.chosen.instances].map((text) => Number(text.replaceAll(",", ""))) : [];
    const profiles = suite.draws ? await this.drawn() : [];
    for (const profile of profiles) {
      for (const size of sizes) {
        const program = (test) => suite.drawnProgram(test, profile, size, isCpu);
        ways.push({ ...profile, fits: () => true, program });
      }
    }
    return suite.tests
      .filter((_, number) => this.rows[number].box.checked)
      .flatMap((test) => ways.filter((way) => way.fits(test)).map((way) => ({ test, way })));
  }

  async run() {
    this.gpu.stop = new Promise((resolve) => (this.stop = () => resolve("stop")));
    this.update();
    try {
      await this.gpu.ready(null);
      this.describeDevice();
      await this.runAll(this.settings());
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
      this.note(error.message || "Stopped. Run goes on with what lacks.");
    } finally {
      this.stop = null;
      this.update();
    }
  }

  async runAll(settings) {
    const told = { ...settings, device: this.gpu.name, driver: this.driver };
    const trials = await this.trials(settings);
    const since = performance.now();
    let made = 0;
    for (const [number, { test, way }] of trials.entries()) {
      const spent = (performance.now() - since) / 1000;
      const left = made ? `, about ${inWords((spent / made) * (trials.length - number))} left` : "";
      this.showProgress(number, trials.length, left);
      this.say(`Running ${test.name}, ${number + 1} of ${trials.length}${left}`, false);
      if (await this.runOne(test, way, told)) made += 1;
    }
    this.showProgress(trials.length, trials.length, "");
    const kept = this.kept.durable ? "" : " This browser keeps nothing after the page is closed: save the results.";
    this.note(trials.length ? `Done: ${trials.length} trials.${kept}` : "Nothing to run: choose tests and ways.");
  }

  /** Make a trial that has no result; whether it was made. */
  async runOne(test, way, settings) {
    let shader;
    try {
      shader = way.program(test);
    } catch (error) {
      if (!(error instanceof Unlaunchable)) throw error;
      this.note(`${test.name} cannot be launched as ${way.label}: ${error.message}`);
      return false;
    }
    const trial = trialOf(shader, way, settings);
    if (this.made.has(keyOf(trial))) return false;
    this.rows[test.number].state.textContent = "running";
    try {
      const confirms = this.suite.endsUnderSome(test);
      const result = await tried(this.gpu, shader, trial, confirms, (text) => this.note(`${test.name}: ${text}`));
      if ("error" in result) this.note(`${test.name} failed: ${result.error}`);
      await this.kept.add(visible(JSON.stringify(result)));
      this.enter(result);
    } finally {
      this.showResults(test);
      this.update();
    }
    return true;
  }

  showProgress(done, all, left) {
    Object.assign(byId("progress"), { value: done, max: all || 1 });
    byId("progress-text").textContent = `${done} of ${all}${left}`;
  }
}

new Page(new Suite(JSON.parse(byId("suite").textContent))).open();
