"use strict";
// Filter, add up and divide the sums of the page. Pure functions, without the page.

function bytesOf(text) {
  return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
}

async function unpack(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const cube = JSON.parse(await new Response(stream).text());
  for (const table of [cube.flows, cube.balances]) {
    for (const key in table.codes) table.codes[key] = new Uint16Array(bytesOf(table.codes[key]).buffer);
    for (const name in table.sums) table.sums[name] = new Float64Array(bytesOf(table.sums[name]).buffer);
  }
  return cube;
}

function subjectOf(cube, question) {
  return cube.subjects.find((each) => each.name === question.subject);
}

// A question has a subject, `by` (a key or null), `only` (codes by key), and the first and last month (`from`, `to`).
// The answer has a row of each code with values: sums, and ratios of sums. A missing value makes its sum missing.
function answer(cube, question) {
  const subject = subjectOf(cube, question);
  const table = subject.isBalance ? cube.balances : cube.flows;
  const only = Object.entries(question.only).map(([key, codes]) => [table.codes[key], new Set(codes)]);
  const month = subject.isBalance ? null : table.codes.month;
  const names = subject.columns.filter((each) => !each.parts).map((each) => each.name);
  const sums = names.map((name) => table.sums[name]);
  const by = question.by === null ? null : table.codes[question.by];
  const rows = new Map();
  for (let row = 0; row < table.rows; row++) {
    if (month && (month[row] < question.from || month[row] > question.to)) continue;
    if (only.some(([codes, wanted]) => !wanted.has(codes[row]))) continue;
    const code = by ? by[row] : 0;
    let found = rows.get(code);
    if (!found) rows.set(code, (found = new Float64Array(names.length)));
    for (let place = 0; place < names.length; place++) found[place] += sums[place][row];
  }
  return [...rows].map(([code, found]) => ({ code, values: withRatios(subject, names, found) }));
}

function withRatios(subject, names, found) {
  const values = {};
  names.forEach((name, place) => (values[name] = Number.isNaN(found[place]) ? null : found[place]));
  for (const each of subject.columns) if (each.parts) values[each.name] = ratio(values, each.parts);
  return values;
}

function ratio(values, [part, whole]) {
  // A sum that is 0 can be a tiny fraction of a cent after adding up.
  const isKnown = values[part] !== null && values[whole] !== null && Math.abs(values[whole]) >= 0.000001;
  return isKnown ? values[part] / values[whole] : null;
}

// The sum of all rows of an answer.
function total(cube, question, rows = answer(cube, question)) {
  const subject = subjectOf(cube, question);
  const names = subject.columns.filter((each) => !each.parts).map((each) => each.name);
  const found = names.map((name) => rows.reduce((sum, { values }) => sum + (values[name] ?? NaN), 0));
  return withRatios(subject, names, found);
}

// The same question for earlier months; or why nothing is compared.
function earlier(cube, question, compared) {
  const back = compared === "year" ? 12 : question.to - question.from + 1;
  const months = cube.months.slice(question.from, question.to + 1);
  const then = { ...question, from: question.from - back, to: question.to - back };
  const part = months.find((each) => !each.whole) || cube.months.slice(Math.max(then.from, 0), then.to + 1).find((each) => !each.whole);
  if (then.from < 0) return { why: `Nothing is compared: the data begin in ${cube.months[0].name}.` };
  if (part) return { why: `Nothing is compared: only some days of ${part.name} are counted.` };
  return { question: then };
}

function format(value, unit) {
  if (value === null || value === undefined) return "–";
  const scaled = unit === "ratio" || unit === "points" ? value * 100 : value;
  const digits = { hours: 1, ratio: 1, points: 1, cents: 2 }[unit] || 0;
  // Sums of the same amounts in another order differ in their last digits.
  const text = Math.abs(Number(scaled.toPrecision(12))).toLocaleString("en", {
    minimumFractionDigits: digits, maximumFractionDigits: digits,
  });
  const isZero = !/[1-9]/.test(text);
  const sign = isZero ? "" : value < 0 ? "−" : unit === "points" ? "+" : "";
  if (isZero && unit !== "ratio" && unit !== "points") return "–";
  return sign + text + (unit === "ratio" ? "%" : unit === "points" ? " pts" : "");
}

function formatChange(now, then, unit) {
  if (now === null || then === null || then === undefined) return "–";
  if (unit === "ratio") return format(now - then, "points");
  if (!(then > 0)) return "–";
  const change = (100 * (now - then)) / then;
  if (Math.abs(change) >= 1000) return "n/a";
  return format(change / 100, "points").replace(" pts", "%");
}
