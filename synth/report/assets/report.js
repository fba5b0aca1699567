"use strict";
// Draws the views of a report from the data in the page. Texts are set as texts, never as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);
const MAIN = document.getElementById("main");
const STATES = ["contradicted", "consistent", "weaker", "silent"];
const MARKS = ["✕", "✓", "○", "–"];
const ROW = 30, PRINTED = 20000;
const number = new Intl.NumberFormat("en-US");
const natural = new Intl.Collator("en", { numeric: true }).compare;

// Elements

/** A text with an escape for each character that would reorder what is shown, or that no one can see: names of tests and
    devices are other people's (corpus/errors.py: visible). */
const visible = (text) => String(text).replace(/[\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
  (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

function el(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, visible(value));
  }
  made.append(...children.flat().filter((child) => child != null && child !== false)
    .map((child) => (child instanceof Node ? child : visible(child))));
  return made;
}

const card = (title, note, ...rest) =>
  el("section", { class: "card" }, el("h2", {}, title), note && el("p", { class: "muted small" }, note), ...rest);
const wide = (...rest) => el("div", { class: "wide" }, ...rest);
const plural = (count, word) => `${number.format(count)} ${word}${count === 1 ? "" : "s"}`;
const share = (value) => (value === 0 ? "0" : value >= 0.001 ? String(+value.toPrecision(2)) : value.toExponential(1));

function table(heads, rows, numeric = []) {
  const look = (at) => ({ class: numeric.includes(at) && "number" });
  return wide(
    el("table", {},
      el("thead", {}, el("tr", {}, heads.map((head, at) => el("th", { scope: "col", ...look(at) }, head)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, at) => el("td", look(at), cell ?? ""))))),
    ),
  );
}

// Families: what is looked up often, made once

const FAMILIES = new Map(DATA.families.map((family) => [family.key, prepared(family)]));

function prepared(family) {
  family.title = family.key === "progress" ? "Progress tests" : "Memory tests";
  const named = ({ device, way }) => ({
    label: [DATA.devices[device].label, way].filter(Boolean).join(", "), device: DATA.devices[device], cells: new Map(),
  });
  family.levels = { way: family.columns.map(named), device: family.levels.map(named) };
  family.trialsOf = new Map();
  for (const trial of family.trials) {
    const [test, column] = trial;
    if (!family.trialsOf.has(test)) family.trialsOf.set(test, []);
    family.trialsOf.get(test).push(trial);
    add(family.levels.way[column].cells, trial);
  }
  family.levels.way.forEach((way, column) => {
    for (const [test, cell] of way.cells) {
      [cell.low, cell.high] = family.intervals[`${cell.seen}/${cell.runs}`] ?? [0, 1];
      const { cells } = family.levels.device[family.columns[column].level];
      cells.set(test, worse(cells.get(test), { ...cell, way: family.columns[column].way, ways: [cell] }));
    }
  });
  family.byDigest = new Map(family.digests.map((digest, at) => [digest, at]));
  family.order = [...family.names.keys()].sort((a, b) => natural(family.names[a], family.names[b]));
  family.rank = new Uint32Array(family.names.length);
  family.order.forEach((test, at) => (family.rank[test] = at));
  return family;
}

function add(cells, [test, , , seen, runs, what, unusual]) {
  const cell = cells.get(test) ?? { seen: 0, runs: 0, failed: 0, against: new Set() };
  for (const [, models] of unusual?.forbidden ?? []) for (const model of models) cell.against.add(model);
  cell.seen += seen;
  cell.runs += runs;
  cell.failed += what === null;
  cells.set(test, cell);
}

/** What a device did in two ways: the rate of the way with the higher one, so that a test that always hangs in one
    mapping does not look like one that hangs now and then in all. */
function worse(cell, other) {
  if (!cell) return other;
  const rate = ({ seen, runs }) => (runs ? seen / runs : -1);
  return { ...(rate(other) > rate(cell) ? other : cell), failed: cell.failed + other.failed,
    against: new Set([...cell.against, ...other.against]), ways: [...cell.ways, ...other.ways] };
}

function haystack(family) {
  family.hay ??= family.names.map((name, at) =>
    [name, family.tags[at], family.digests[at], family.texts[at]].join("\n").toLowerCase());
  return family.hay;
}

const against = (family, cell) => (cell ? family.models.filter((_, model) => cell.against.has(model)) : []);

// The place in the page: #view?key=value

function place() {
  const [view, query] = location.hash.slice(1).split("?");
  return { view: view || "overview", query: new URLSearchParams(query ?? "") };
}

function link(view, query) {
  const words = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value)).toString();
  return `#${view}${words && `?${words}`}`;
}

const testLink = (family, test) => link("test", { family: family.key, test: family.digests[test] });

// Overview

function state(standing, attributes) {
  const [status, forbidden, contradicting, allowed, observed, unknown] = standing;
  const count = status === 0 ? `${contradicting}/${forbidden}` : status === 3 || !allowed ? "" : `${observed}/${allowed}`;
  const told = `${DATA.states[status]}: of ${forbidden} tests that it forbids ${contradicting} seen, ` +
    `of ${allowed} that it allows ${observed}${unknown ? `, of ${unknown} it promises nothing` : ""}`;
  return el(attributes.href ? "a" : "span",
    { class: `state ${STATES[status]}`, title: told, ...attributes },
    el("i", { "aria-hidden": "true" }, MARKS[status]), count,
    el("span", { class: "hidden" }, ` ${told}`));
}

function modelHeads(family, before) {
  const guarantees = [...new Set(family.models.map((model) => model.replace(/-(weak|strong)$/, "")))];
  const paired = guarantees.every((each) => ["weak", "strong"].every((how) => family.models.includes(`${each}-${how}`)));
  const blank = before.map((head) => el("th", { scope: "col", rowspan: paired && 2, class: "left" }, head));
  if (!paired || family.models.length !== 2 * guarantees.length)
    return el("thead", {}, el("tr", {}, blank, family.models.map((model) => el("th", { scope: "col" }, model))));
  return el("thead", {},
    el("tr", {}, blank, guarantees.map((each) => el("th", { scope: "colgroup", colspan: 2, class: "group" }, each))),
    el("tr", {}, guarantees.flatMap(() => [el("th", { scope: "col" }, "weak"), el("th", { scope: "col" }, "strong")])));
}

function legend(family) {
  const words = family.key === "progress"
    ? ["tests hung that terminate under the model", "tests that may hang under it did", "none of these did: a fairer model would do"]
    : ["outcomes were seen that the model forbids", "outcomes that tests ask about and it allows were seen", "none of these was: a stronger model would do"];
  return el("div", { class: "legend" }, words.map((word, at) =>
    el("span", {}, el("span", { class: `state ${STATES[at]}` }, MARKS[at]), DATA.states[at], ": ", word)));
}

function matrix(family) {
  const rows = family.standings.map((standings, at) => {
    const { label, device } = family.levels.device[at];
    return el("tr", {}, deviceHead(label, device),
      standings.map((standing, model) => el("td", {}, state(standing, {
        href: standing[0] === 3 ? null : link("tests", {
          family: family.key, device: label, model: family.models[model],
          ...[{ show: "contradictions" }, { verdict: "2", show: "seen" }, { verdict: "2" }][standing[0]],
        }) }))));
  });
  const title = family.key === "progress" ? "Progress models and devices" : "Memory models and devices";
  return card(title, "How each model stands to what was seen on each device. A cell leads to its tests.",
    wide(el("table", { class: "matrix" }, modelHeads(family, ["device"]), el("tbody", {}, rows))), legend(family));
}

function fairness(family) {
  let before = null;
  const rows = family.fairness.map((row, at) => {
    const column = family.columns[row.column];
    const same = family.fairness.filter((other) => family.columns[other.column].device === column.device);
    const name = column.device !== before && deviceHead(DATA.devices[column.device].label, DATA.devices[column.device], same.length);
    const first = column.device !== before && at > 0;
    before = column.device;
    const ran = [...family.levels.way[row.column].cells.values()].filter(({ runs }) => runs);
    const [hung, always] = [ran.filter(({ seen }) => seen), ran.filter(({ seen, runs }) => seen === runs)];
    return el("tr", { class: first && "first" }, name, el("td", { class: "way small" }, column.way),
      el("td", { class: "way small" }, `${number.format(hung.length)} / ${number.format(always.length)}`),
      row.standings.map((standing, model) => el("td", {}, promise(standing, row.best.includes(family.models[model])))),
      el("td", { class: "way" }, row.best.length
        ? row.best.map((model) => el("span", { class: "pill good" }, model))
        : el("span", { class: "pill bad" }, "none")));
  });
  const heads = modelHeads(family, ["device", "mapping, placement", "hung / always"]);
  heads.rows[0].append(el("th", { class: "left", scope: "col", rowspan: heads.rows.length }, "fairest not contradicted"));
  return card("Which fairness each device gives",
    "hung: tests that did not end in some iteration; always: tests that ended in none. " +
    "Of the tests that terminate under a model, so many hung: any shows that the device does not give that fairness. " +
    "That none did shows little. The fairest models that nothing contradicts, framed, are the most that the device may give.",
    wide(el("table", { class: "matrix" }, heads, el("tbody", {}, rows))));
}

function promise([, forbidden, contradicting], best) {
  const told = `${contradicting} hung of ${forbidden} tests that terminate under it`;
  return el("span", { class: `state ${contradicting ? "contradicted" : forbidden ? "kept" : ""}${best ? " best" : ""}`, title: told },
    contradicting > 0 && el("i", { "aria-hidden": "true" }, MARKS[0]), forbidden ? `${contradicting}/${forbidden}` : "–",
    el("span", { class: "hidden" }, best ? ", the fairest that nothing contradicts" : ""));
}

function deviceHead(label, device, rows) {
  return el("th", { scope: rows > 1 ? "rowgroup" : "row", rowspan: rows > 1 && rows, title: device.name }, label);
}

function verdictBars(family) {
  const total = family.names.length;
  const rows = family.models.flatMap((model, at) => {
    const counts = family.counts[at];
    const told = counts.map((count, side) => `${number.format(count)} ${family.sides[side]}`).join(", ");
    return [
      el("span", { class: "mono" }, model),
      el("span", { class: "stack", role: "img", "aria-label": told },
        counts.map((count) => el("span", { style: `width:${(100 * count) / total}%` }))),
      el("span", { class: "small" }, counts.flatMap((count, side) => [side ? " · " : "",
        el("a", { href: link("tests", { family: family.key, model, verdict: String(side + 1) }) },
          `${number.format(count)} ${family.sides[side].toLowerCase().replace("_", " ")}`)])),
    ];
  });
  return card(`${family.title} and models`, `What each model says of ${plural(total, "test")}.`,
    el("div", { class: "bars" }, rows));
}

function drawing(svg, title) {
  return el("div", { class: "drawing", tabindex: "0", role: "group", "aria-label": title },
    el("img", { alt: title, src: `data:image/svg+xml,${encodeURIComponent(svg)}` }));
}

function overview() {
  const families = [...FAMILIES.values()];
  const sum = (of) => families.reduce((total, family) => total + of(family), 0);
  const failed = DATA.devices.reduce((total, device) => total + device.failed, 0);
  const tests = (family, test) => family.levels.device.some((column) => test(column.cells));
  const count = (holds) => sum((family) => family.names.reduce((total, _, at) =>
    total + tests(family, (cells) => holds(cells.get(at))), 0));
  const figure = (value, word, href, bad) =>
    el(href ? "a" : "div", { class: `figure${bad ? " bad" : ""}`, href }, el("b", {}, number.format(value)), el("span", {}, word));
  const first = (show) => link("tests", { family: families[0]?.key, show });
  const ran = DATA.devices.length > 0;
  const contradicting = ran ? count((cell) => cell?.against.size > 0) : 0;
  const parts = [
    el("div", {}, el("h1", {}, DATA.title),
      el("div", { class: "muted" }, ran
        ? `${plural(sum((f) => f.names.length), "test")} on ${plural(DATA.devices.length, "device")}, ${plural(sum((f) => f.trials.length), "trial")}`
        : `${plural(sum((f) => f.names.length), "test")}, not run yet`)),
    (ran || families.length > 1) && el("div", { class: "cards" },
      families.map((family) => figure(family.names.length, family.kind, link("tests", { family: family.key }))),
      ran && [
        figure(contradicting, "tests contradict a model", first("contradictions"), contradicting > 0),
        figure(count((cell) => cell?.seen > 0), "tests hung or showed their outcome", first("seen")),
        figure(failed, "trials failed", failed ? first("failed") : null),
      ]),
  ];
  if (DATA.findings.length)
    parts.push(card("In short", "", el("ul", { class: "findings" }, DATA.findings.map(([text, bad]) =>
      el("li", { class: bad && "bad" }, text)))));
  for (const family of families) {
    if (family.columns.length && family.models.length) parts.push(matrix(family));
    if (family.fairness.length && family.models.length) parts.push(fairness(family));
    if (!family.columns.length && family.models.length) {
      parts.push(verdictBars(family));
      if (family.spread) parts.push(card(`How the ${family.kind} spread`, "", drawing(family.spread, `How the ${family.kind} spread`)));
    }
  }
  const charts = document.getElementById("charts").content;
  if (charts.children.length) parts.push(el("div", { class: "charts" }, charts.cloneNode(true)));
  for (const extra of DATA.tables) parts.push(card(extra.title, extra.note, table(extra.heads, extra.rows)));
  if (ran)
    parts.push(el("div", { class: "devices" }, card("Devices", "", table(
      ["", "back end", "device", "driver", "compiler", "tests", "trials", "failed", "date"],
      DATA.devices.map((device) => [el("b", {}, device.label), device.backend, device.name, device.driver, device.compiler,
        number.format(device.tests), number.format(device.trials), number.format(device.failed),
        [...new Set(device.dates)].join(" to ")]), [5, 6, 7]))));
  if (DATA.notes.length) parts.push(el("ul", { class: "notes" }, DATA.notes.map((note) => el("li", {}, note))));
  return parts.filter(Boolean);
}

// Tests

const SHOWS = {
  contradictions: "contradict a model", seen: "hung, or outcome seen", unseen: "run, and not seen", failed: "failed", missing: "not run",
};
const VERDICTS = (family) => [["1", family.headings[0].replace("by", "").trim()], ["2", family.headings[1].replace("by", "").trim()], ["0", "no verdict"]];
const LIMIT_COLUMNS = 8;

function level(family, query) {
  return query.get("by") ?? (family.levels.way.length <= LIMIT_COLUMNS ? "way" : "device");
}

function shown(family, query) {
  const words = (query.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const hay = words.length ? haystack(family) : null;
  const columns = family.levels[level(family, query)];
  const name = query.get("device");
  const named = name ? [...family.levels.device, ...family.levels.way].filter((column) => column.label === name) : [];
  const looked = named.length ? named.slice(0, 1) : family.levels.device;
  const model = family.models.indexOf(query.get("model"));
  const verdict = query.get("verdict"), tag = query.get("tag"), bound = query.get("bound"), show = query.get("show");
  const holds = {
    contradictions: (cell) => (model < 0 ? cell?.against.size : cell?.against.has(model)),
    seen: (cell) => cell?.seen,
    failed: (cell) => cell?.failed,
  }[show];
  const rows = family.order.filter((at) => {
    if (hay && !words.every((word) => hay[at].includes(word))) return false;
    if (bound && family.bounds[at] !== bound) return false;
    if (tag && !family.tags[at].split(" ").includes(tag)) return false;
    if (verdict && model >= 0 && family.verdicts[at][model] !== verdict) return false;
    if (verdict && model < 0 && !family.verdicts[at].includes(verdict)) return false;
    const cells = looked.map((column) => column.cells.get(at));
    if (show === "missing") return cells.some((cell) => !cell);
    if (show === "unseen") return cells.some((cell) => cell?.runs) && !cells.some((cell) => cell?.seen);
    return !holds || cells.some((cell) => holds(cell));
  });
  const [key, down] = [(query.get("sort") ?? "").replace(/^-/, ""), (query.get("sort") ?? "").startsWith("-")];
  const sign = down ? -1 : 1;
  const by = {
    name: null,
    bound: (at) => family.bounds[at],
    tags: (at) => family.tags[at],
    verdicts: (at) => family.verdicts[at],
    program: (at) => inBrief(family, at),
  }[key];
  const column = columns.find((each) => each.label === key);
  if (column) {
    const value = (at) => { const cell = column.cells.get(at); return !cell ? -2 : !cell.runs ? -1 : cell.seen / cell.runs; };
    const values = new Map(rows.map((at) => [at, value(at)]));
    rows.sort((a, b) => sign * (values.get(a) - values.get(b)) || family.rank[a] - family.rank[b]);
  } else if (by) {
    const values = new Map(rows.map((at) => [at, by(at)]));
    rows.sort((a, b) => sign * natural(values.get(a), values.get(b)) || family.rank[a] - family.rank[b]);
  } else if (down) rows.reverse();
  return rows;
}

function levelOf(family, cell) {
  const rate = cell.seen / cell.runs;
  if (family.key === "progress") return Math.max(1, Math.ceil(rate * 6));
  return Math.max(1, Math.min(6, 7 + Math.floor(Math.log10(rate) + 1e-9)));
}

function cellText(family, { seen, runs }) {
  if (!runs) return "failed";
  if (!seen) return "0";
  return family.key !== "progress" ? share(seen / runs) : seen === runs ? "always" : `${seen}/${runs}`;
}

function rateCell(family, test, cell, column) {
  if (!cell) return el("span", { role: "gridcell", class: "rate none", title: `${column.label}: not run` }, "");
  const models = against(family, cell);
  const interval = cell.runs ? `, 95 %: ${share(cell.low)} to ${share(cell.high)}` : "";
  const way = cell.ways?.length > 1 && cell.runs ? ` with ${cell.way || "neither profile nor stress"}, the most of ${cell.ways.length} ways` : "";
  const told = `${column.label}: ${family.outcome} in ${number.format(cell.seen)} of ${number.format(cell.runs)}${way}${interval}` +
    `${cell.failed ? `, ${cell.failed} failed` : ""}${models.length ? `; contradicts ${models.join(", ")}` : ""}`;
  const text = cellText(family, cell);
  const look = !cell.runs ? " failed" : models.length ? " against" : "";
  return el("span", { role: "gridcell", class: `rate${look}${cell.runs && !cell.seen ? " none" : ""}`, title: told,
    "data-level": cell.seen ? levelOf(family, cell) : null },
    text, models.length > 0 && el("span", { class: "hidden" }, " contradicts a model"));
}

function strip(family, test, contradicted) {
  const said = [...family.verdicts[test]];
  const words = ["no verdict", ...family.sides];
  const groups = words.map((word, code) => [word, family.models.filter((_, at) => said[at] === String(code))]);
  const told = groups.filter(([, models]) => models.length).map(([word, models]) => `${word}: ${models.join(", ")}`).join("; ");
  return el("span", { role: "gridcell", title: told, "aria-label": told }, el("span", { class: "strip", "aria-hidden": "true" },
    said.map((code, at) => el("i", {
      class: (contradicted.has(at) ? "x" : code === "1" ? "f" : code === "0" ? "u" : "") +
        (at && family.models[at].replace(/-\w+$/, "") !== family.models[at - 1].replace(/-\w+$/, "") && family.key === "progress" ? " s" : ""),
    }))));
}

/** What the squares and the colours of the list say: each square is a model, in the order of their names. */
function listLegend(family) {
  const progress = family.key === "progress", square = (...looks) => el("span", { class: "strip", "aria-hidden": "true" },
    looks.map((look) => el("i", { class: look })));
  const [promised, open] = family.sides.map((side) => side.toLowerCase().replace("_", " "));
  const told = (mark, ...text) => el("span", {}, mark, ...text);
  const rate = (text, look) => el("span", { class: `rate ${look}`, "data-level": look === "failed" ? null : "3", "aria-hidden": "true" }, text);
  const guarantees = [...new Set(family.models.map((model) => model.replace(/-(weak|strong)$/, "")))];
  const paired = 2 * guarantees.length === family.models.length;
  return el("div", { class: "legend noprint" },
    family.models.length > 0 && [
      el("span", {}, "Squares, from the left: ", (paired ? guarantees : family.models).join(", "), paired && ", each weak and strong"),
      told(square("f"), promised), told(square(""), open), told(square("u"), "no verdict"),
      told(square("x"), progress ? "terminates, but it hung: contradicted" : "forbidden, but it was seen: contradicted")],
    family.columns.length > 0 && [
      told(rate("3/20", ""), progress ? "iterations that hung; " : "instances with the outcome; ", "darker is more often"),
      told(rate("3/20", "against"), "contradicts a model"), told(rate("", "failed"), "the trial failed")]);
}

function inBrief(family, test) {
  const text = family.texts[test].trimEnd();
  if (family.key !== "progress") return text.slice(text.lastIndexOf("\n") + 1);
  return text.split(/^THREAD \d+$/m).slice(1).map((part) => part.trim().replaceAll("\n", " ")).join("  ‖  ");
}

/** All rows as a plain table, which a printer lays out in a tenth of the time that a grid of elements takes. The models
    of a row are one text: a box is filled where the model promises that the test ends, or forbids its outcome. */
function paper(family, rows, columns, heads) {
  const glyphs = ["·", "■", "□"];
  const models = (test) => {
    const contradicted = new Set(columns.flatMap((column) => [...(column.cells.get(test)?.against ?? [])]));
    return [...family.verdicts[test]].map((code, at) => (contradicted.has(at) ? "✕" : glyphs[code])).join("");
  };
  const texts = {
    name: (test) => family.names[test], tags: (test) => family.tags[test], bound: (test) => family.bounds[test],
    verdicts: models, program: (test) => inBrief(family, test),
  };
  const rate = (cell) => !cell ? el("td") : el("td", { class: cell.against.size > 0 && "against" }, cellText(family, cell));
  const shownRows = rows.slice(0, PRINTED);
  const longest = (text) => shownRows.reduce((most, test) => Math.max(most, text(test).length), 0);
  const widths = heads.map(([key]) => key !== "program" && `${Math.min(36, Math.max(6, longest(texts[key]))) + 1.5}ch`);
  return el("div", { class: "paper" },
    el("table", {},
      el("colgroup", {}, widths.map((width) => el("col", { style: width && `width:${width}` })), columns.map(() => el("col"))),
      el("thead", {}, el("tr", {}, heads.map(([, text]) => el("th", {}, text)), columns.map(({ label }) => el("th", {}, label)))),
      el("tbody", {}, shownRows.map((test) => el("tr", {},
        heads.map(([key]) => el("td", { class: key }, texts[key](test))), columns.map(({ cells }) => rate(cells.get(test))))))),
    el("p", {}, family.models.length ? `Models: ${family.models.join(", ")}. ■ ${family.sides[0].toLowerCase()}, ` +
      `□ ${family.sides[1].toLowerCase().replace("_", " ")}, · no verdict, ✕ contradicted.` : ""),
    rows.length > PRINTED && el("p", {}, `and ${number.format(rows.length - PRINTED)} more tests`));
}

let LAST = null; // the list that a test was opened from

function tests(query) {
  const family = FAMILIES.get(query.get("family")) ?? [...FAMILIES.values()][0];
  if (!family) return [el("p", {}, "There are no tests.")];
  query.set("family", family.key);
  const columns = family.levels[level(family, query)];
  const said = el("span", { class: "muted small", "aria-live": "polite" });
  const heads = [["name", "test"], ["tags", family.key === "progress" ? "idiom" : "shape"], ["bound", "bound"]];
  if (family.models.length) heads.push(["verdicts", "models"]);
  const longest = family.names.reduce((most, name) => Math.max(most, name.length), 0);
  const longestTags = family.tags.reduce((most, tags) => Math.max(most, tags.length), 0);
  const widths = [[Math.min(640, Math.max(130, longest * 8 + 16)), "1fr"], [Math.min(480, Math.max(72, longestTags * 8 + 12)), "0.4fr"], [58, "58px"]];
  if (family.models.length) widths.push([...Array(2)].fill(Math.max(64, family.models.length * 11 + 30)));
  const brief = !columns.length; // nothing was run: room for the program
  if (brief) widths.push([260, "2.4fr"]);
  const every = [...widths, ...columns.map(() => [84, "150px"])];
  const least = every.reduce((sum, [width]) => sum + width + 3, 20);
  const tracks = every.map(([width, most]) => `minmax(${width}px, ${typeof most === "number" ? `${most}px` : most})`);
  const line = { style: `--columns: ${tracks.join(" ")}; --least: ${least}px` };

  const body = el("div", { class: "body", role: "rowgroup" });
  const grid = el("div", { class: "grid", role: "grid", tabindex: "0", ...line, "aria-label": `${family.title}: arrow keys move, Enter opens a test`,
    "aria-colcount": widths.length + columns.length });
  const head = el("div", { class: "line head", role: "row", "aria-rowindex": 1 });
  grid.append(head, body);

  let rows = [], active = 0, first = -1, last = -1;
  const visible = () => Math.ceil(grid.clientHeight / ROW);

  function rowOf(at) {
    const test = rows[at];
    const contradicted = new Set(columns.flatMap((column) => [...(column.cells.get(test)?.against ?? [])]));
    return el("div", { class: "line", role: "row", id: `row-${at}`, "aria-rowindex": at + 2, "aria-selected": String(at === active),
      style: `top:${at * ROW}px`, "data-at": at },
      el("span", { role: "gridcell", class: "name", title: family.names[test] }, family.names[test]),
      el("span", { role: "gridcell", class: "muted", title: family.tags[test] }, family.tags[test]),
      el("span", { role: "gridcell", class: "muted" }, family.bounds[test]),
      family.models.length ? strip(family, test, contradicted) : null,
      brief ? el("span", { role: "gridcell", class: "muted mono" }, inBrief(family, test)) : null,
      columns.map((column) => rateCell(family, test, column.cells.get(test), column)));
  }

  function draw() {
    const top = Math.max(0, grid.scrollTop - head.offsetHeight);
    const from = Math.max(0, Math.floor(top / ROW) - 10);
    const to = Math.min(rows.length, Math.ceil(top / ROW) + visible() + 10);
    if (from === first && to === last) return;
    [first, last] = [from, to];
    body.replaceChildren(...Array.from({ length: to - from }, (_, at) => rowOf(from + at)));
  }

  function move(to) {
    if (!rows.length) return;
    active = Math.max(0, Math.min(rows.length - 1, to));
    const top = active * ROW, room = grid.clientHeight - head.offsetHeight - ROW;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top > grid.scrollTop + room) grid.scrollTop = top - room;
    first = -1;
    draw();
    grid.setAttribute("aria-activedescendant", `row-${active}`);
  }

  function open(at) {
    LAST = { family, rows, hash: location.hash, at };
    location.hash = testLink(family, rows[at]);
  }

  function refresh(keep) {
    rows = shown(family, query);
    said.textContent = `${number.format(rows.length)} of ${plural(family.names.length, "test")}`;
    body.style.height = `${rows.length * ROW}px`;
    grid.style.setProperty("--rows", Math.max(4, rows.length));
    grid.setAttribute("aria-rowcount", rows.length + 1);
    head.replaceChildren(...[...heads, ...(brief ? [["program", family.key === "progress" ? "program" : "condition"]] : []),
      ...columns.map((column) => [column.label, column.label, column.device.name])].map(([key, text, title]) => {
      const sort = query.get("sort") ?? "name";
      const way = sort === key ? "ascending" : sort === `-${key}` ? "descending" : null;
      return el("span", { role: "columnheader", "aria-sort": way },
        el("button", { type: "button", title: title ?? `sort by ${text}`, "data-sort": key, onclick: () => sortBy(key, way) }, text));
    }));
    if (!keep) { grid.scrollTop = 0; active = 0; }
    grid.removeAttribute("aria-activedescendant");
    first = -1;
    if (!rows.length) body.replaceChildren(el("p", { class: "empty" }, "No test is as the filters say."));
    else draw();
  }

  function sortBy(key, way) {
    const words = heads.some(([each]) => each === key); // from the first on; rates from the highest
    query.set("sort", way === "ascending" || (way === null && !words) ? `-${key}` : key);
    changed();
    [...head.querySelectorAll("button")].find((each) => each.dataset.sort === key)?.focus();
  }

  function changed() {
    history.replaceState(null, "", link("tests", Object.fromEntries(query)));
    refresh();
  }

  const set = (key) => (event) => { query.set(key, event.target.value); if (!event.target.value) query.delete(key); changed(); };
  function pick(key, text, options, none = "any") {
    if (!options.length) return null;
    const select = el("select", { onchange: set(key), "data-filter": key, "aria-label": text },
      el("option", { value: "" }, none), options.map(([value, word]) => el("option", { value }, word)));
    select.value = query.get(key) ?? "";
    return el("label", {}, text, select);
  }
  const distinct = (values) => [...new Set(values)].sort(natural).map((value) => [value, value]);
  const search = el("input", { type: "search", placeholder: "name, idiom, digest or words of the program", "aria-label": "Search tests",
    value: query.get("q") ?? "", oninput: set("q"), onkeydown: (event) => { if (event.key === "ArrowDown" || event.key === "Enter") grid.focus(); } });
  const ways = family.levels.way.length > family.levels.device.length;
  const filters = el("div", { class: "filters card", role: "search" }, search,
    family.columns.length > 0 && pick("show", "show", Object.entries(SHOWS), "all"),
    pick("device", "on", [...family.levels.device, ...(ways ? family.levels.way : [])].map((each) => [each.label, each.label]), "any device"),
    pick("model", "model", family.models.map((model) => [model, model])),
    family.models.length > 0 && pick("verdict", "verdict", VERDICTS(family)),
    pick("tag", heads[1][1], distinct(family.tags.flatMap((tags) => tags.split(" ").filter(Boolean)))),
    pick("bound", "bound", distinct(family.bounds)),
    ways && el("label", {}, "columns", (() => {
      const select = el("select", { onchange: (event) => { query.set("by", event.target.value); location.replace(link("tests", Object.fromEntries(query))); }, "data-filter": "by" },
        el("option", { value: "device" }, "devices"), el("option", { value: "way" }, "devices and ways"));
      select.value = level(family, query);
      return select;
    })()),
    said);

  body.addEventListener("click", (event) => {
    const row = event.target.closest("[data-at]");
    if (row) open(Number(row.dataset.at));
  });
  grid.addEventListener("scroll", () => draw(), { passive: true });
  grid.addEventListener("keydown", (event) => {
    if (event.target !== grid) return; // a head of a column
    const to = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + visible() - 2, PageUp: active - visible() + 2, Home: 0, End: rows.length - 1 }[event.key];
    if (event.key === "Enter" && rows.length) open(active);
    else if (to === undefined) return;
    else move(to);
    event.preventDefault();
  });
  grid.addEventListener("focus", () => { if (rows.length && grid.matches(":focus-visible")) move(active); });
  printing = () => paper(family, rows, columns, [...heads, ...(brief ? [["program", "program"]] : [])]);
  resizing = draw;
  afterwards = () => {
    refresh();
    if (LAST?.family === family && LAST.hash === location.hash) { active = LAST.at; move(active); grid.focus({ preventScroll: true }); }
  };
  return [filters, listLegend(family), grid, el("p", { class: "muted small noprint" }, "/ searches, arrow keys move, Enter opens a test.")];
}

// One test

function program(family, test) {
  const text = family.texts[test];
  const parts = family.key === "progress" ? text.split(/^(?=THREAD \d+$)/m) : [];
  if (!parts.length || !parts.every((part) => part.startsWith("THREAD"))) return el("pre", { class: "box", tabindex: "0" }, text);
  return el("div", { class: "threads", tabindex: "0" }, parts.map((part) => {
    const [head, ...lines] = part.trimEnd().split("\n");
    return el("div", {}, el("h4", {}, head), el("pre", {}, lines.join("\n")));
  }));
}

function interval(family, cell) {
  const log = (value) => family.key === "progress" ? 100 * value : value <= 1e-9 ? 0 : (100 * (Math.log10(value) + 9)) / 9;
  const [low, high, at] = [log(cell.low), log(cell.high), log(cell.seen / cell.runs)];
  return el("span", { class: "span", role: "img", "aria-label": `between ${share(cell.low)} and ${share(cell.high)}`, title: family.key === "progress" ? "95 % interval, from 0 to 1" : "95 % interval, from 1e-9 to 1 on a logarithmic scale" },
    el("i", { style: `left:${low}%;width:${Math.max(0, high - low)}%` }), cell.seen > 0 && el("b", { style: `left:${at}%` }));
}

function observed(family, test) {
  const rows = family.levels.way.flatMap((column) => {
    const cell = column.cells.get(test);
    if (!cell) return [];
    const models = against(family, cell);
    return [[column.label, `${number.format(cell.seen)} of ${number.format(cell.runs)}`, cell.runs ? share(cell.seen / cell.runs) : "",
      cell.runs ? el("span", { class: "spanned" }, interval(family, cell), el("span", { class: "muted small" }, `${share(cell.low)} to ${share(cell.high)}`)) : "",
      models.length ? models.map((model) => el("span", { class: "pill bad" }, model)) : cell.failed ? `${cell.failed} failed` : ""]];
  });
  if (!rows.length) return null;
  const seen = card("What was seen", "", table(["device", family.outcome, "rate", "95 % interval", "contradicts"], rows, [1, 2]));
  seen.classList.add("seen");
  return seen;
}

/** What the trial gave that was made again, alone and with more time, where it hung. */
function again({ tries, unconfirmed } = {}) {
  if (!tries) return unconfirmed ? "The hang is not confirmed, and contradicts nothing." : "";
  const told = `Made again with ${DATA.again.slice(0, tries.length - 1).join(" and ")} times the time-out: ${tries.slice(1).join(", ")}`;
  return tries.at(-1) === "H" ? told : `${told}. It had hung (${tries[0]}): the device was slow.`;
}

function trials(family, test) {
  const mine = family.trialsOf.get(test) ?? [];
  if (!mine.length) return null;
  const letter = (look, text) => el("span", {}, el("span", { class: "letters", "aria-hidden": "true" }, el("i", { class: look })), text);
  const legend = family.key === "progress" && el("div", { class: "legend" }, letter("", "an iteration that terminated"), letter("h", "one that hung"));
  return card("Trials", "Each way in which the test was launched.", legend, mine.map(([, column, launch, seen, runs, what, unusual]) => {
    const [instances, iterations, timeout, date, terms] = family.launches[launch];
    const times = `${number.format(iterations)} ${family.key === "progress" ? "iteration" : "launch"}${iterations === 1 ? "" : family.key === "progress" ? "s" : "es"}`;
    const facts = [plural(instances, "instance"), times, timeout === null ? "time-out measured" : `${timeout} s`, date].filter(Boolean).join(" · ");
    const letters = typeof what === "string";
    const head = el("summary", {}, el("b", {}, family.levels.way[column].label), el("span", { class: "muted small" }, facts),
      what === null ? el("span", { class: "pill bad" }, "failed")
        : letters ? el("span", { class: "letters", role: "img", "aria-label": `${seen} of ${runs} iterations hung` },
          [...what.slice(0, 200)].map((letter) => el("i", { class: letter === "H" && "h" })))
        : el("span", { class: "small" }, `${number.format(seen)} of ${number.format(runs)}`, unusual?.hung ? ", then a launch did not end" : unusual?.tries ? ", with more time: the device was slow" : ""));
    const inside = what === null ? el("pre", { class: "small" }, unusual.error)
      : letters ? el("pre", { class: "small muted" }, [what, "T terminated, H did not within the time-out", again(unusual)].filter(Boolean).join("\n"))
      : histogram(family, what, unusual ?? {}, terms);
    return el("details", { open: family.key === "memory" && mine.length <= 4 && what !== null }, head, inside);
  }));
}

function histogram(family, rows, { asked = [], forbidden = [], other = 0 }, terms) {
  const forbidding = new Map(forbidden.map(([at, models]) => [at, models.map((model) => family.models[model])]));
  const known = rows.map((row, at) => ({
    values: row.slice(0, -1), count: row.at(-1), asked: asked.includes(at), against: forbidding.get(at) ?? [] }));
  const most = Math.max(1, ...known.map((row) => row.count));
  known.sort((a, b) => b.count - a.count);
  return [wide(el("table", { class: "histogram" },
    el("thead", {}, el("tr", {}, [...terms, "count", "", "", forbidding.size ? "forbidden by" : ""].map((head, at) =>
      el("th", { scope: "col", class: at === terms.length && "number" }, head)))),
    el("tbody", {}, known.map((row) =>
      el("tr", { class: [row.asked && "asked", row.against.length && "against"].filter(Boolean).join(" ") },
        row.values.map((value) => el("td", { class: "mono" }, value)), el("td", { class: "number" }, number.format(row.count)),
        el("td", { class: "bar-cell" }, el("i", { style: `width:${Math.max(0.5, (100 * Math.log10(row.count + 1)) / Math.log10(most + 1))}%` })),
        el("td", {}, row.asked ? el("span", { class: "pill" }, "asked for") : ""), el("td", { class: "small" }, row.against.join(", "))))))),
  el("p", { class: "muted small" }, "Bars are on a logarithmic scale.",
    other ? ` ${number.format(other)} instances ended in still other ways.` : "")];
}

function verdictsOf(family, test) {
  if (!family.models.length) return null;
  const detail = family.details[test];
  const silent = family.silent[test] ?? {};
  const contradicted = new Set(family.levels.way.flatMap((column) => against(family, column.cells.get(test))));
  const word = (code) => ["no verdict", ...family.sides][code];
  const badge = (verdict, models) => el("span", { class: `pill ${models.some((model) => contradicted.has(model)) ? "bad" : verdict === family.sides[0] ? "" : "plain"}` },
    verdict.toLowerCase().replace("_", " "));
  const told = new Set((detail?.reasons ?? []).flatMap(([models]) => models));
  const reasons = detail?.reasons ?? [];
  const first = Math.max(0, reasons.findIndex(([models]) => models.some((model) => contradicted.has(model))));
  const why = (models) => models.filter((model) => silent[model]).map((model) =>
    el("p", { class: "muted small" }, `${model} promises nothing of this test: ${silent[model]}`));
  const rows = reasons.map(([models, verdict, text], at) =>
    el("details", { open: at === first }, el("summary", {}, el("b", { class: "mono" }, models.join(", ")), badge(verdict, models)),
      el("pre", { class: "small", tabindex: "0" }, text), why(models)));
  const rest = family.models.map((model, at) => [model, Number(family.verdicts[test][at])]).filter(([model]) => !told.has(model));
  const plain = rest.length ? table(["model", "verdict", ""], rest.map(([model, code]) =>
    [el("span", { class: "mono" }, model), badge(word(code), [model]), el("span", { class: "muted small" }, silent[model] ?? "")])) : null;
  const note = detail ? (detail.problem ? `Some could not be explained: ${detail.problem}` : "")
    : `Not explained here. synth explain … --where '${family.names[test]}' -m ${family.models[0]} says why.`;
  return card("What each model says, and why", note, rows, plain);
}

function one(query) {
  const family = FAMILIES.get(query.get("family"));
  const test = family?.byDigest.get(query.get("test"));
  if (test === undefined) return [el("p", {}, "There is no such test. ", el("a", { href: "#tests" }, "All tests"))];
  const rows = LAST?.family === family ? LAST.rows : family.order;
  const at = rows.indexOf(test);
  const step = (by, text, key) => {
    const to = rows[at + by];
    return el("button", { type: "button", disabled: to === undefined, title: `${text} (${key})`, "data-step": by,
      onclick: () => { if (LAST) LAST.at = at + by; location.hash = testLink(family, to); } }, by < 0 ? "←" : "→");
  };
  const detail = family.details[test];
  const figures = (detail?.figures ?? []).map(([model, verdict, svg]) =>
    card(`${model}: ${verdict.toLowerCase().replace("_", " ")}`, "", drawing(svg, `${family.names[test]} under ${model}`)));
  const back = LAST?.family === family ? LAST.hash : link("tests", { family: family.key });
  return [
    el("div", { class: "title" },
      el("a", { href: back, "data-back": true }, `‹ ${family.title}`), el("h1", {}, family.names[test]),
      family.tags[test].split(" ").filter(Boolean).map((tag) => el("span", { class: "pill" }, tag)), el("span", { class: "pill plain" }, family.bounds[test]),
      el("span", { class: "steps" }, at >= 0 && el("span", { class: "muted small" }, `${number.format(at + 1)} of ${number.format(rows.length)}`), step(-1, "previous", "k"), step(1, "next", "j"))),
    el("div", { class: "two" },
      card("Program", "", program(family, test), el("p", { class: "muted small mono" }, `digest ${family.digests[test].slice(0, 16)}`)),
      observed(family, test) ?? el("span")),
    figures.length ? el("div", { class: "two" }, figures) : null,
    el("div", { class: "two" }, [verdictsOf(family, test), trials(family, test)].filter(Boolean)),
    mutants(family, test),
  ].filter(Boolean);
}

function mutants(family, test) {
  const mine = family.mutants[test];
  if (!mine) return null;
  return card("Mutants", "What a relaxation of the test allows. Where none is killed, the test could not have shown its bug.",
    table(["mutant", "relaxation", "takes", "", "seen"], mine.map(([name, relaxation, takes, killed, kills]) => [
      el("span", { class: "mono" }, name), relaxation, takes,
      kills.length ? el("span", { class: `pill ${killed ? "good" : "plain"}` }, killed ? "killed" : "survived") : "not run",
      kills.map((each) => el("div", { class: "small" }, each))])));
}

// What is shown

let printing = null, resizing = null, afterwards = null, view = "";

function navigation(now) {
  const item = (href, text, count, current) =>
    el("a", { href, "aria-current": current && "page" }, text, count != null && el("span", { class: "count" }, number.format(count)));
  document.getElementById("nav").replaceChildren(item("#overview", "Overview", null, now.view === "overview"),
    ...[...FAMILIES.values()].map((family) => item(link("tests", { family: family.key }), family.title, family.names.length,
      now.view !== "overview" && now.query.get("family") === family.key)));
}

function show() {
  const now = place();
  printing = resizing = afterwards = null;
  const parts = now.view === "tests" ? tests(now.query) : now.view === "test" ? one(now.query) : overview();
  MAIN.replaceChildren(...parts);
  navigation(now);
  document.title = MAIN.querySelector("h1")?.textContent ?? visible(DATA.title);
  scrollTo({ top: 0, behavior: "instant" });
  if (view && now.view !== "tests") MAIN.focus({ preventScroll: true });
  view = now.view;
  afterwards?.();
}

addEventListener("hashchange", show);
addEventListener("beforeprint", () => printing && MAIN.append(printing()));
addEventListener("afterprint", () => MAIN.querySelector(".paper")?.remove());
addEventListener("resize", () => resizing?.());
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const press = (selector) => MAIN.querySelector(selector)?.click();
  if (event.key === "/") {
    if (view !== "tests") location.hash = link("tests", { family: place().query.get("family") });
    setTimeout(() => MAIN.querySelector("input[type=search]")?.focus());
  } else if (event.key === "Escape") press("[data-back]");
  else if (event.key === "j") press("[data-step='1']");
  else if (event.key === "k") press("[data-step='-1']");
  else return;
  event.preventDefault();
});

document.querySelector(".skip").addEventListener("click", (event) => { // its address would be a view's
  event.preventDefault();
  MAIN.focus();
});

// Light and dark

const THEMES = ["auto", "light", "dark"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");
let theme = "auto";
try { theme = THEMES.includes(localStorage.synthTheme) ? localStorage.synthTheme : "auto"; } catch { /* no storage for files here */ }

function paint() {
  document.documentElement.dataset.theme = theme;
  document.documentElement.toggleAttribute("data-dark", theme === "dark" || (theme === "auto" && dark.matches));
  button.textContent = theme;
  button.setAttribute("aria-label", `Colours: ${theme}`);
}
button.addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % 3];
  try { localStorage.synthTheme = theme; } catch { /* as above */ }
  paint();
});
dark.addEventListener("change", paint);
paint();
show();
