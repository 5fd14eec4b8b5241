// What people see: the choices, the answer, and its chart.

const MOST_ROWS = 200;
const ABOVE_ZERO = 0.005;

function element(tag, values = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(values)) {
    if (/^(aria-.*|role|style|scope)$/.test(name)) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

// A name may be in a right-to-left script.
const bdi = (text) => element("bdi", { textContent: text });
const inSentence = (title) => (/^[A-Z][a-z]/.test(title) ? title[0].toLowerCase() + title.slice(1) : title);
const exact = (value) => (typeof value === "number" ? String(Number(value.toFixed(6))) : "");
const isLow = (column, value) => column.floor !== null && value !== null && value !== undefined && value < column.floor;

// An answer with what is shown of it: rows that are not 0 throughout in their order, the total, and earlier values.
function shownAnswer(cube, question) {
  const subject = subjectOf(cube, question);
  // Of a figure that is missing throughout, as amounts are where rates are hidden, a row tells nothing.
  const sums = subject.columns.filter((each) => !each.parts && !each.missing);
  const isNothing = ({ values }) => sums.every(({ name }) => values[name] !== null && Math.abs(values[name]) < ABOVE_ZERO);
  const names = question.by === "month" ? cube.months : cube.names[question.by];
  const sort = subject.columns.find((each) => each.name === question.sort) || subject.columns[0];
  const size = ({ values }) => values[sort.name] ?? -Infinity;
  const bySize = (one, other) => size(other) - size(one) || names[one.code].name.localeCompare(names[other.code].name);
  const isByTime = question.by === "month" && !question.sort;
  const all = answer(cube, question);
  const rows = all.filter((each) => !isNothing(each));
  const largest = [...rows].sort(bySize)[0];
  rows.sort(isByTime ? (one, other) => one.code - other.code : bySize);
  const then = question.compared in COMPARED && !subject.isBalance ? earlier(cube, question, question.compared) : {};
  const before = then.question && {
    total: total(cube, then.question),
      rows: new Map(answer(cube, then.question).map(({ code, values }) => [code + (question.by === "month" ? question.from - then.question.from : 0), values])),
  };
  const lead = subject.columns.find((each) => each.parts) || subject.columns[0];
  return { subject, lead, sort, isByTime, names, rows, largest, total: total(cube, question, all), before, why: then.why };
}

class Ask {
  constructor(root, cube) {
    Object.assign(this, { root, cube, questions: new Questions(cube) });
    this.#build();
    this.#linkFigures();
    addEventListener("hashchange", () => this.#read());
    this.#read();
  }

  ask(changes) {
    location.hash = this.questions.address({ ...this.question, ...changes });
  }

  #read() {
    const found = this.questions.read(location.hash);
    // The address of a section is not a question, and leaves the answer as it is.
    if (!found && this.question && location.hash) return;
    this.question = found || this.questions.first();
    this.#showChoices();
    this.acts.hidden = !found;
    this.out.replaceChildren(...(found ? this.#answer() : [this.#starts()]));
    if (found) this.root.scrollIntoView();
  }

  #build() {
    const { cube } = this;
    const last = cube.months.length - 1;
    const select = (label, options, use) => {
      const made = element("select", { onchange: () => use(made.value) });
      made.append(...options.map(([value, text]) => new Option(text, value)));
      return [made, element("label", {}, `${label} `, made, " ")];
    };
    const range = (label, use) => {
      const made = element("input", { type: "range", min: 0, max: last, "aria-label": label });
      made.onchange = () => this.ask(use(made.valueAsNumber));
      return made;
    };
    const button = (textContent, onclick) => element("button", { type: "button", textContent, onclick });
    const subjects = cube.subjects.map((each) => [each.name, each.title]);
    const compared = [["", "nothing"], ...Object.entries(COMPARED)];
    const span = (text) => ({ from: Number(text.split("-")[0]), to: Number(text.split("-")[1]) });
    const labels = [];
    const choice = (label, options, use) => {
      const [made, labelled] = select(label, options, (value) => this.ask(use(value)));
      labels.push(labelled);
      return made;
    };
    this.choices = {
      subject: choice("Show", subjects, (subject) => ({ subject, sort: "" })),
      by: choice("by", Object.entries(cube.keys), (by) => ({ by })),
      period: choice("for", [], span),
      compared: choice("compared with", compared, (value) => ({ compared: value })),
      from: range("from", (month) => ({ from: Math.min(month, this.question.to) })),
      to: range("to", (month) => ({ to: Math.max(month, this.question.from) })),
      find: element("input", { type: "search", placeholder: "Find a name", "aria-label": "Show only" }),
    };
    const { find, from, to } = this.choices;
    find.oninput = () => this.#showFound(find.value);
    this.found = element("ul", { className: "found" });
    this.chips = element("p", { className: "chips" });
    this.out = element("div", { className: "answer" });
    this.status = element("span", { role: "status" });
    this.acts = element("p", { className: "acts" },
      button("Copy link", () => this.#copy(location.href)), button("Copy", () => this.#copy(this.text("\t"))),
      button("CSV", () => this.#save()), button("Print", () => print()), this.status);
    const controls = element("div", { className: "controls" }, find, this.found,
      element("p", { className: "choices" }, ...labels), element("p", { className: "range" }, "from ", from, " to ", to));
    this.root.querySelector(".state").replaceWith(controls, this.chips, this.out, this.acts);
  }

  // The tiles and key points of page one lead to their question about the month.
  #linkFigures() {
    this.starts = [];
    const month = this.cube.months.at(-1).id;
    for (const figure of document.querySelectorAll("[data-ask]")) {
      const asked = this.questions.read(`#${figure.dataset.ask}/${month}`);
      if (!asked || asked.unknown.length) continue;
      const question = asked.only.client ? { ...asked, by: "matter" in this.cube.keys ? "matter" : asked.by } : asked;
      const href = this.questions.address(question);
      this.starts.push([question, href]);
      const link = element("a", { className: "to-ask", href });
      const detail = figure.querySelector("span");
      // The detail of a key point is the link; a tile has no room but for a word.
      link.textContent = detail ? detail.textContent : "Ask";
      if (detail) detail.replaceChildren(link);
      else figure.append(" ", link);
    }
  }

  #showChoices() {
    const { cube, question, choices, questions } = this;
    const { isBalance } = subjectOf(cube, question);
    const { last } = questions;
    const spans = [[question.from, question.to], [last, last], [cube.yearStart, last], [Math.max(last - 11, 0), last], [0, last]];
    const named = new Map(spans.map(([from, to]) => [`${from}-${to}`, questions.days({ from, to })]));
    choices.period.replaceChildren(...[...named].map(([value, text]) => new Option(text, value)));
    for (const name of ["subject", "by", "compared", "from", "to"]) choices[name].value = question[name];
    choices.period.value = `${question.from}-${question.to}`;
    for (const name of ["period", "compared", "from", "to"]) choices[name].disabled = isBalance;
    for (const name of ["from", "to"]) choices[name].setAttribute("aria-valuetext", cube.months[question[name]].name);
    for (const option of choices.by.options) option.disabled = isBalance && option.value === "month";
    choices.find.value = "";
    this.#showFound("");
    this.chips.replaceChildren(...Object.entries(question.only).flatMap(([key, codes]) => codes.map((code) => this.#chip(key, code))));
  }

  #chip(key, code) {
    const { name } = this.cube.names[key][code];
    const rest = this.question.only[key].filter((each) => each !== code);
    const onclick = () => this.ask({ only: { ...this.question.only, [key]: rest } });
    const remove = element("button", { type: "button", textContent: "×", "aria-label": `Remove ${name}`, onclick });
    return element("span", { className: "chip" }, element("small", { textContent: this.cube.keys[key] }), bdi(name), remove);
  }

  #showFound(text) {
    const sought = text.trim().toLowerCase();
    const place = ({ name }) => name.toLowerCase().indexOf(sought);
    const all = Object.entries(this.cube.names).flatMap(([key, names]) => names.map(({ name }, code) => ({ key, code, name })));
    const found = sought ? all.filter((each) => place(each) >= 0).sort((one, other) => place(one) - place(other)) : [];
    this.found.replaceChildren(...found.slice(0, 12).map(({ key, code, name }) => {
      const onclick = () => this.ask(this.questions.narrowed(this.question, key, code));
      const kind = element("small", { textContent: this.cube.keys[key] });
      return element("li", {}, element("button", { type: "button", onclick }, bdi(name), " ", kind));
    }));
  }

  // At rest: the questions of the key points about one client.
  #starts() {
    const links = this.starts.filter(([question]) => question.only.client).flatMap(([question, href]) => {
      const { name } = this.cube.names.client[question.only.client[0]];
      const title = inSentence(subjectOf(this.cube, question).title);
      return [element("a", { href }, bdi(name), `, ${title}`), " · "];
    });
    return element("p", { className: "why" }, ...(links.length ? ["Or start from page one: ", ...links.slice(0, -1)] : []));
  }

  #answer() {
    this.shown = shownAnswer(this.cube, this.question);
    const { subject, rows, why } = this.shown;
    const remarks = this.question.unknown.map((each) => `This page has nothing named “${each}”.`);
    if (why) remarks.push(why);
    for (const { title, missing } of subject.columns) if (missing) remarks.push(`${title}: ${missing}`);
    const { since } = subject;
    if (since > this.cube.months[this.question.from].id) {
      remarks.push(`${subject.title} is known from ${this.cube.months.find((each) => each.id >= since).name}.`);
    }
    if (subject.isBalance) remarks.push(`Balances are those of ${this.cube.day}; months are not applied.`);
    return [
      element("h3", { className: "finding" }, ...this.#finding()),
      element("p", { className: "cause" }, ...this.#cause()),
      ...remarks.map((textContent) => element("p", { className: "why", textContent })),
      ...(rows.length ? [...this.#chart(), ...this.#table()] : []),
      this.#definitions(),
    ];
  }

  #finding() {
    const { cube, question } = this;
    const { subject, lead, rows, total: all, before } = this.shown;
    const named = Object.entries(question.only).flatMap(([key, codes]) => codes.map((code) => bdi(cube.names[key][code].name)));
    const who = named.length ? named.flatMap((each, place) => (place ? [", ", each] : [each])) : ["All"];
    const within = question.from === question.to ? "in" : "from";
    const when = subject.isBalance ? `on ${cube.day}` : `${within} ${this.questions.days(question)}`;
    if (!rows.length) return [...who, `: no ${inSentence(subject.title)} ${when}.`];
    const unit = { money: ` ${cube.currency}`, rate: ` ${cube.currency}`, hours: " h" }[lead.unit] || "";
    const change = before ? formatChange(all[lead.name], before.total[lead.name], lead.unit) : "";
    const than = /\d/.test(change) ? `, ${change.slice(1)} ${change[0] === "−" ? "less" : "more"} than ${COMPARED[question.compared]}` : "";
    return [...who, `: ${inSentence(lead.title)} ${format(all[lead.name], lead.unit)}${unit.trimEnd()} ${when}${than}.`];
  }

  // The largest row's part, and the ratio without it if it would be better.
  #cause() {
    const { lead, sort, names, rows, largest, total: all } = this.shown;
    const part = largest && largest.values[sort.name];
    if (rows.length < 2 || sort.parts || !(part > 0) || !(all[sort.name] > 0)) return [];
    const rest = {};
    for (const each in all) rest[each] = all[each] === null || largest.values[each] === null ? null : all[each] - largest.values[each];
    const without = lead.parts ? ratio(rest, lead.parts) : null;
    const then = without === null || without <= all[lead.name] ? "." : `; without it, ${inSentence(lead.title)} would be ${format(without, lead.unit)}.`;
    const [one, whole] = [part, all[sort.name]].map((each) => format(each, sort.unit));
    const of = sort === lead ? "it" : `the ${whole} ${inSentence(sort.title)}`;
    return [bdi(names[largest.code].name), ` has ${one} of ${of}`, then];
  }

  #chart() {
    const { cube, question } = this;
    const { subject, lead } = this.shown;
    if (subject.isBalance) return [];
    const from = Math.max(Math.min(question.from, question.to - 11), 0);
    const months = cube.months.slice(from, question.to + 1);
    const line = (back) => {
      const found = answer(cube, { ...question, by: "month", from: from - back, to: question.to - back });
      const values = new Map(found.map(({ code, values: each }) => [code + back - from, each[lead.name]]));
      return months.map((_, place) => values.get(place) ?? (lead.parts || from + place < back ? null : 0));
    };
    const lines = [line(0), ...(question.compared === "year" ? [line(12)] : [])];
    const known = [...lines.flat(), lead.floor, lead.parts ? null : 0].filter((each) => each !== null);
    if (lines[0].filter((each) => each !== null).length < 3) return [];
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const height = (value) => (high > low ? 100 * (1 - (value - low) / (high - low)) : 50).toFixed(2);
    const x = (place) => ((100 * place) / (months.length - 1)).toFixed(2);
    const points = (values) => values.map((each, place) => (each === null ? "" : `${x(place)},${height(each)}`)).join(" ");
    const drawn = lines.map((each, place) => `<polyline class="${place ? "before" : "now"}" points="${points(each)}"/>`).reverse().join("");
    const floor = lead.floor === null ? "" : `<line x1="0" x2="100" y1="${height(lead.floor)}" y2="${height(lead.floor)}"/>`;
    const label = months.map((each, place) => `${each.name} ${format(lines[0][place], lead.unit)}`).join(", ");
    const plot = element("div", { className: "plot", role: "img", "aria-label": `${lead.title} by month: ${label}` });
    plot.innerHTML = `<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${floor}${drawn}</svg>`;
    const beside = (tag, value) => element(tag, { style: `top:${height(value)}%;--at:100%`, textContent: format(value, lead.unit) });
    plot.append(beside("em", high), beside("em", low), beside("s", lines[0].at(-1) ?? low));
    const notes = [`${lead.title} by month, ${this.questions.days({ from, to: question.to })}`];
    if (question.compared === "year") notes.push(`grey: ${COMPARED.year}`);
    if (lead.floor !== null) notes.push(`dashed: floor ${format(lead.floor, lead.unit)}`);
    return [element("figure", {}, element("figcaption", { textContent: notes.join(" · ") }), plot)];
  }

  headings() {
    const { subject, lead, before } = this.shown;
    const titles = subject.columns.map((each) => each.title);
    return before ? [...titles, `${lead.title} ${COMPARED[this.question.compared]}`, "Change"] : titles;
  }

  // The texts and values of a row: the subject's columns; with a comparison, the lead figure then and its change.
  cells(values, then) {
    const { subject, lead, before } = this.shown;
    const cells = subject.columns.map((each) => {
      const value = values[each.name];
      return { text: format(value, each.unit), value, isLow: isLow(each, value) };
    });
    if (!before) return cells;
    const old = then ? then[lead.name] : lead.parts ? null : 0;
    return [...cells, { text: format(old, lead.unit), value: old }, { text: formatChange(values[lead.name], old, lead.unit) }];
  }

  #table() {
    const { cube, question } = this;
    const { subject, sort, isByTime, names, rows, total: all, before } = this.shown;
    const most = Math.max(...rows.map(({ values }) => values[sort.name] ?? 0), ABOVE_ZERO);
    const width = (value) => Math.max(0, (100 * (value ?? 0)) / most).toFixed(1);
    const heading = (text, place) => {
      const column = subject.columns[place];
      if (!column) return element("th", { scope: "col", textContent: text });
      const onclick = () => this.ask({ sort: column.name });
      const order = column === sort && !isByTime ? "descending" : "none";
      return element("th", { scope: "col", "aria-sort": order }, element("button", { type: "button", textContent: text, title: column.meaning, onclick }));
    };
    const cell = ({ text, value, isLow: low }) => element("td", { textContent: low ? `▼ ${text}` : text, title: exact(value), className: low ? "low" : "" });
    // The bar stands beside the figure by which the rows are sorted.
    const withBar = (cells, bar) => cells.flatMap((each, place) => (subject.columns[place] === sort ? [each, bar] : [each]));
    const line = (label, cells, bar) => element("tr", {}, element("th", { scope: "row" }, label), ...withBar(cells.map(cell), element("td", { className: "bar" }, ...bar)));
    const row = ({ code, values }) => line(
      element("a", { href: this.questions.address(this.questions.narrowed(question, question.by, code)) }, bdi(names[code].name)),
      this.cells(values, before && before.rows.get(code)), [element("i", { style: `width:${width(values[sort.name])}%` })]);
    const key = cube.keys[question.by];
    const head = element("tr", {}, element("th", { scope: "col", textContent: key[0].toUpperCase() + key.slice(1) }), ...withBar(this.headings().map(heading), element("th", { className: "bar" })));
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows.slice(0, MOST_ROWS).map(row)),
      element("tfoot", {}, line("Total", this.cells(all, before && before.total), [])));
    const more = rows.length - MOST_ROWS;
    const note = more > 0 ? [element("p", { className: "why", textContent: `${more} more rows are in the total, and in the CSV.` })] : [];
    return [element("div", { className: "scroll", role: "region", "aria-label": "Answer", tabIndex: 0 }, table), ...note];
  }

  #definitions() {
    const terms = this.shown.subject.columns.flatMap(({ title, meaning }) => [
      element("dt", { textContent: title }), element("dd", { textContent: meaning })]);
    return element("details", { className: "about" }, element("summary", { textContent: "What this counts" }),
      element("dl", {}, ...terms), element("p", { textContent: this.cube.about }));
  }

  // The table as text, with exact values. A spreadsheet would take a name that begins with "=" as a formula.
  text(separator) {
    const { names, rows, total: all, before } = this.shown;
    const field = (text) => {
      const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
      return separator === "," ? `"${safe.replaceAll('"', '""')}"` : safe.replace(/[\t\r\n]/g, " ");
    };
    const line = (label, values, then) => [field(label), ...this.cells(values, then).map((each) => ("value" in each ? exact(each.value) : field(each.text)))];
    const lines = [[this.cube.keys[this.question.by], ...this.headings()].map(field)];
    for (const { code, values } of rows) lines.push(line(names[code].name, values, before && before.rows.get(code)));
    lines.push(line("Total", all, before && before.total));
    return lines.map((each) => `${each.join(separator)}\r\n`).join("");
  }

  async #copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = element("textarea", { value: text });
      this.root.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    this.status.textContent = "Copied.";
  }

  #save() {
    const href = URL.createObjectURL(new Blob(["\ufeff", this.text(",")], { type: "text/csv" }));
    element("a", { href, download: `${this.question.subject}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }
}

async function start(root) {
  const state = root.querySelector(".state");
  if (!("DecompressionStream" in window)) {
    state.textContent = "This browser can’t unpack the sums behind Ask. The page is complete without them.";
    return;
  }
  window.ask = new Ask(root, await unpack(document.getElementById("ask-sums").textContent));
}

start(document.getElementById("ask"));
