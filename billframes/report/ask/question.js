// A question as it stands in the page's address after "#", such as
// #realization/by=matter/client=granite-mutual/2025-11..2026-10/with=year-before

const COMPARED = { year: "a year before", period: "the period before" };
// The key by which a row's parts are shown after a click on it.
const PARTS = {
  client: "matter", matter: "user", practice_area: "client", responsible: "client", user: "client", month: "client",
};

// Names as the address has them. Of equal names, each has the beginning of its id.
function tokensOf(names) {
  const dashed = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "");
  const plain = names.map((each) => dashed(each.name));
  const uses = new Map();
  for (const each of plain) uses.set(each, (uses.get(each) || 0) + 1);
  return plain.map((each, code) => (uses.get(each) === 1 ? each : "") || `${each}~${names[code].id.slice(0, 8)}`);
}

class Questions {
  constructor(cube) {
    this.cube = cube;
    this.last = cube.months.length - 1;
    this.tokens = {};
    for (const key in cube.names) this.tokens[key] = tokensOf(cube.names[key]);
  }

  // The question that is shown when nothing was asked.
  first(subject = this.cube.subjects[0].name) {
    const by = Object.keys(this.cube.names)[0];
    const from = Math.max(this.last - 11, 0);
    return { subject, by, only: {}, from, to: this.last, compared: "", sort: "", unknown: [] };
  }

  // The question of an address; null if it has none, as that of a section.
  read(hash) {
    const [subject, ...parts] = hash.replace(/^#/, "").split("/");
    if (!parts.length || !this.cube.subjects.some((each) => each.name === subject)) return null;
    const question = this.first(subject);
    for (const part of parts.filter(Boolean)) this.#take(question, ...part.split("="));
    if (subjectOf(this.cube, question).isBalance && question.by === "month") question.by = "client";
    return question;
  }

  #take(question, key, text = "") {
    const [from, to = from] = key.split("..").map((id) => this.cube.months.findIndex((each) => each.id === id));
    if (key === "by" && text in this.cube.keys) question.by = text;
    else if (key === "with") question.compared = text.replace("-before", "");
    else if (key === "sort") question.sort = text;
    else if (key in this.tokens) question.only[key] = text.split(",").flatMap((each) => this.#code(question, key, each));
    else if (from >= 0 && to >= from) Object.assign(question, { from, to });
    else question.unknown.push(decodeURIComponent(text || key));
  }

  // The code of a name, or of an id.
  #code(question, key, token) {
    const text = decodeURIComponent(token);
    const code = this.tokens[key].findIndex((each, place) => each === text || this.cube.names[key][place].id === text);
    if (code < 0) question.unknown.push(text);
    return code < 0 ? [] : [code];
  }

  address({ subject, by, only, from, to, compared, sort }) {
    const { months } = this.cube;
    const named = (key) => only[key].map((code) => encodeURIComponent(this.tokens[key][code])).join(",");
    const parts = [subject, `by=${by}`, ...Object.keys(only).filter((key) => only[key].length).map((key) => `${key}=${named(key)}`)];
    parts.push(`${months[from].id}..${months[to].id}`);
    if (compared) parts.push(`with=${compared}-before`);
    if (sort) parts.push(`sort=${sort}`);
    return `#${parts.join("/")}`;
  }

  // The same question only for one more value of a key, by the next key if its values were shown.
  narrowed(question, key, code) {
    const next = PARTS[key] in this.cube.keys ? PARTS[key] : question.by;
    const by = question.by === key ? next : question.by;
    if (key === "month") return { ...question, by, from: code, to: code, sort: "" };
    const codes = question.by === key ? [code] : [...new Set([...(question.only[key] || []), code])];
    return { ...question, by, only: { ...question.only, [key]: codes } };
  }

  days({ from, to }) {
    const { months } = this.cube;
    return from === to ? months[to].name : `${months[from].name} to ${months[to].name}`;
  }
}
