// Shows the answers of each task. Texts are inserted as text, never as HTML.
"use strict";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function isSpecial(token) {
  return token === "[CLS]" || token === "[SEP]";
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

// Returns bars for a list of [name, length from 0 to 1, whether it is first].
function bars(rows) {
  const made = element("div", { class: "bars" });
  for (const [name, share, isFirst] of rows) {
    const bar = element("div", { class: "bar" });
    bar.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    const weight = isFirst ? " first" : "";
    made.append(
      element("span", { class: `name${weight}` }, name),
      element("div", { class: "track", "aria-hidden": "true" }, bar),
      element("span", { class: `number${weight}` }, percent(share)));
  }
  return made;
}

function showMasks(target, found) {
  found.masks.forEach((entries, index) => {
    target.append(
      element("h2", {}, `${index + 1}. [MASK]`),
      bars(entries.map(({ token, probability }, rank) =>
        [token, probability, rank === 0])));
  });
  if (found.num_masks_cut) {
    target.append(element("p", { class: "faint" },
      `${found.num_masks_cut} more are beyond the model's length.`));
  }
}

function showNextSentence(target, { probability }) {
  target.append(bars([
    ["follows", probability, probability >= 0.5],
    ["does not", 1 - probability, probability < 0.5]]));
}

function showLabels(target, found) {
  if ("value" in found) {
    target.append(element("p", {}, "Value: ",
      element("strong", {}, String(found.value))));
    return;
  }
  const chosen = [].concat(found.label);
  const rows = Object.entries(found.probabilities)
    .sort((a, b) => b[1] - a[1])
    .map(([label, share]) => [label, share, chosen.includes(label)]);
  target.append(bars(rows));
}

function showPieces(target, { tokens, num_wordpieces: count }) {
  const pieces = element("div", { class: "pieces" });
  for (const token of tokens) {
    pieces.append(isSpecial(token)
      ? element("span", { class: "special" }, token)
      : element("span", {}, token));
  }
  target.append(element("h2", {}, "The WordPieces that the model reads"), pieces);
  const read = tokens.filter((token) => !isSpecial(token)).length;
  if (read < count) {
    target.append(element("p", { class: "faint" },
      `${count - read} more WordPieces were cut off.`));
  }
}

// Cuts a text at the ends of spans: [begin, end, the spans around the piece].
function segments(length, spans) {
  const bounds = [...new Set([0, length, ...spans.flat()])]
    .filter((bound) => bound >= 0 && bound <= length).sort((a, b) => a - b);
  return bounds.slice(1).map((end, index) => {
    const begin = bounds[index];
    const around = spans.map(([from, to], rank) =>
      from <= begin && end <= to ? rank : -1).filter((rank) => rank >= 0);
    return [begin, end, around];
  });
}

// Positions count characters, but JavaScript's indexes count UTF-16 units.
function showAnswers(target, found, { context }) {
  const characters = [...context];
  const others = (found.n_best || []).filter(
    ({ start, end }) => start >= 0 &&
      !(start === found.start && end === found.end));
  const all = [found, ...others];
  const spans = all.map(({ start, end }) => [start, end]);
  const marks = [];
  const passage = element("p", { class: "passage" });
  for (const [begin, end, around] of segments(characters.length, spans)) {
    const text = characters.slice(begin, end).join("");
    if (!around.length) {
      passage.append(text);
      continue;
    }
    const mark = element("mark", {}, text);
    if (found.start >= 0 && around.includes(0)) mark.className = "best";
    marks.push([mark, around]);
    passage.append(mark);
  }
  const list = element("ol", { class: "answers" });
  all.forEach((answer, rank) => {
    const isNone = answer.start < 0;
    const shown = element("button", { type: "button" },
      element(rank ? "span" : "strong", {},
        isNone ? "no answer" : answer.answer),
      element("span", { class: "faint" }, `  ${percent(answer.probability)}`));
    const show = (is) => () => marks.forEach(([mark, around]) =>
      mark.classList.toggle("shown", is && around.includes(rank)));
    for (const name of ["mouseenter", "focus"]) {
      shown.addEventListener(name, show(true));
    }
    for (const name of ["mouseleave", "blur"]) {
      shown.addEventListener(name, show(false));
    }
    list.append(element("li", {}, shown));
  });
  target.append(passage, element("h2", {}, "Answer and runners-up"), list);
}

// Returns a hue for a type of entity. Equal types get equal hues.
function hueOf(type) {
  const known = ["PER", "LOC", "ORG", "MISC"].indexOf(type);
  if (known >= 0) return [210, 130, 30, 290][known];
  return [...type].reduce((sum, c) => sum * 31 + c.codePointAt(0), 7) % 360;
}

function showEntities(target, { entities }, { text }) {
  const characters = [...text];
  const passage = element("p", { class: "passage" });
  let place = 0;
  for (const { type, start, end } of entities) {
    const mark = element("mark", { class: "entity" },
      characters.slice(start, end).join(""), element("small", {}, type));
    mark.style.setProperty("--hue", hueOf(type));
    passage.append(characters.slice(place, start).join(""), mark);
    place = end;
  }
  passage.append(characters.slice(place).join(""));
  target.append(passage);
  if (!entities.length) {
    target.append(element("p", { class: "faint" }, "No names were found."));
  }
}

function cosine(a, b) {
  let dot = 0, aa = 0, bb = 0;
  a.forEach((value, i) => {
    dot += value * b[i];
    aa += value * value;
    bb += b[i] * b[i];
  });
  return dot / Math.sqrt(aa * bb || 1);
}

function showSimilarity(target, vectors, sentences) {
  const table = element("table");
  const cosines = vectors.map((a) => vectors.map((b) => cosine(a, b)));
  const least = Math.min(...cosines.flat());
  const head = element("tr", {}, element("th"));
  sentences.forEach((_, i) =>
    head.append(element("th", { scope: "col" }, `${i + 1}`)));
  table.append(head);
  sentences.forEach((sentence, i) => {
    const row = element("tr", {},
      element("th", { scope: "row" }, `${i + 1}. ${sentence}`));
    cosines[i].forEach((value) => {
      const cell = element("td", {}, value.toFixed(2));
      // A number in a darker cell would be hard to read.
      const share = Math.round(50 * (value - least) / (1 - least || 1));
      cell.style.setProperty("--share", `${share}%`);
      row.append(cell);
    });
    table.append(row);
  });
  target.append(element("div", { class: "scroll" }, table),
    element("p", { class: "faint" }, "Cosines of the sentences' vectors."));
}
