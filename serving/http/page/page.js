// Shows a form for a task of a model, asks the server, and shows the reply.
// Texts are inserted as text, never as HTML.
"use strict";

// {task: {title, fields: {field: [label, rows, example]}, show(target, reply,
// request)}}. A form shows those fields that the model has.
const TASKS = {
  "classify": {
    title: "classify",
    fields: {
      text_a: ["First text", 2, "The market in Ostrel is held on Sunday."],
      text_b: ["Second text", 2, "Sunday is market day in Ostrel."],
      text: ["Text", 3, ""],
    },
    show: showLabels,
  },
  "fill-mask": {
    title: "fill the gap",
    fields: { text: ["Text with [MASK]", 2, "[MASK] light of the harbour " +
      "can be seen when the air is clear [MASK]"] },
    show: showMasks,
  },
  "next-sentence": {
    title: "next sentence",
    fields: {
      text_a: ["First sentence", 2, "In winter the wind blows for weeks."],
      text_b: ["Does this one follow?", 2, "The boats stay at home."],
    },
    show: (target, { probability: p }) => target.append(bars([
      ["follows", p, p >= 0.5], ["does not follow", 1 - p, p < 0.5]])),
  },
  "answer": {
    title: "answer a question",
    fields: {
      context: ["Passage", 6, "The Old Lamp is a small boat from Ivelle. She " +
        "is used to catch eels. Her owner is a retired teacher."],
      question: ["Question", 1, "What does the Old Lamp catch?"],
    },
    show: showAnswers,
  },
  "tag": {
    title: "find names",
    fields: { text: ["Text", 4,
      "Anna Berg took the boat from Oslo to Copenhagen for Maersk."] },
    show: showEntities,
  },
  "embed": {
    title: "compare sentences",
    fields: { text: ["Sentences, one per line", 5, "The boat left the " +
      "harbour.\nA ship sailed out of the port.\nShe bakes bread on Sundays."],
    },
    show: showSimilarity,
  },
};

function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    created.setAttribute(key, value);
  }
  created.append(...children);
  return created;
}

const faint = (text) => element("p", { class: "faint" }, text);
const percent = (fraction) => `${(100 * fraction).toFixed(1)} %`;

// Returns bars for a list of [name, length from 0 to 1, whether it is chosen].
function bars(rows) {
  const list = element("div", { class: "bars" });
  for (const [name, fraction, isChosen] of rows) {
    const bar = element("div", { class: "bar" });
    bar.style.width = `${100 * Math.min(Math.max(fraction, 0), 1)}%`;
    const className = isChosen ? "chosen" : "";
    list.append(element("span", { class: className }, name),
      element("div", { class: "track", "aria-hidden": "true" }, bar),
      element("span", { class: className }, percent(fraction)));
  }
  return list;
}

function showLabels(target, { value, label, probabilities }) {
  if (value !== undefined) {
    target.append(element("p", {}, "Value: ",
      element("strong", {}, String(value))));
    return;
  }
  const chosen = [].concat(label);
  target.append(bars(Object.entries(probabilities)
    .sort((a, b) => b[1] - a[1])
    .map(([name, fraction]) => [name, fraction, chosen.includes(name)])));
}

function showMasks(target, { masks, num_masks_cut: numCut }) {
  masks.forEach((words, index) => target.append(
    element("h2", {}, `${index + 1}. [MASK]`),
    bars(words.map(({ token, probability }, rank) =>
      [token, probability, rank === 0]))));
  if (numCut) target.append(faint(`${numCut} more are beyond the length.`));
}

// Returns a passage, in which each of [start, end, mark] is marked. Positions
// count characters, but JavaScript's indexes count UTF-16 units.
function passage(text, marks) {
  const characters = [...text];
  const cut = (...ends) => characters.slice(...ends).join("");
  const paragraph = element("p", { class: "passage" });
  let place = 0;
  for (const [start, end, mark] of marks) {
    mark.prepend(cut(start, end));
    paragraph.append(cut(place, start), mark);
    place = end;
  }
  paragraph.append(cut(place));
  return paragraph;
}

function showAnswers(target, reply, { context }) {
  const list = element("ol");
  const mark = ({ start, end }) => passage(context,
    start < 0 ? [] : [[start, end, element("mark")]]);
  target.append(mark(reply), element("h2", {}, "Answers"), list);
  for (const candidate of reply.n_best || [reply]) {
    const isBest = candidate.start === reply.start &&
      candidate.end === reply.end;
    const button = element("button", { type: "button", class: "plain" },
      element(isBest ? "strong" : "span", {},
        candidate.start < 0 ? "no answer" : candidate.answer));
    button.addEventListener("click",
      () => target.querySelector(".passage").replaceWith(mark(candidate)));
    list.append(
      element("li", {}, button, " ", percent(candidate.probability)));
  }
}

function showEntities(target, { entities }, { text }) {
  target.append(passage(text, entities.map(({ start, end, type }) =>
    [start, end, element("mark", {}, element("small", {}, type))])));
  if (!entities.length) target.append(faint("No names were found."));
}

function showSimilarity(target, replies, { text: sentences }) {
  const vectors = replies.map((reply) => reply.mean_normalized);
  const table = element("table", {}, element("tr", {}, element("th"),
    ...sentences.map((_, i) => element("th", { scope: "col" }, `${i + 1}`))));
  vectors.forEach((a, i) => table.append(element("tr", {},
    element("th", { scope: "row" }, `${i + 1}. ${sentences[i]}`),
    ...vectors.map((b) => element("td", {},
      a.reduce((sum, value, j) => sum + value * b[j], 0).toFixed(2))))));
  target.append(element("div", { class: "scroll" }, table),
    faint("Cosines of the sentences' mean vectors."));
}

const tokenField = document.querySelector("#token input");
const statusLine = document.querySelector("#status");
const form = document.querySelector("form");
const select = form.querySelector("select");
const replySection = document.querySelector("#reply");
// [model, task] of each option of `select`.
let choices = [];

async function fetchJson(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (tokenField.value) headers.Authorization = `Bearer ${tokenField.value}`;
  let response, reply;
  try {
    response = await fetch(path, body === undefined ? { headers }
      : { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("the server cannot be reached; is it still running?");
  }
  if (response.status === 401) {
    document.querySelector("#token").hidden = false;
    tokenField.focus();
    throw new Error("the server needs a token; enter it above");
  }
  const text = await response.text();
  try {
    reply = JSON.parse(text);
  } catch {
    // A proxy, or a server with too many connections, replies with plain text.
    reply = { error: `the server replied ${response.status}: ` +
      text.slice(0, 200) };
  }
  if (!response.ok || reply.error) throw new Error(reply.error);
  return reply;
}

// Shows the fields of the chosen task, with examples of the model's kind.
function showForm() {
  const [model, name] = choices[select.value];
  const { fields } = TASKS[name];
  const keys = model.fields[name];
  const entries = Object.entries(fields).filter(([key]) => keys.includes(key));
  document.querySelector("#fields").replaceChildren(...entries.map(
    ([key, [label, rows, example]]) => {
      const field = element("textarea",
        { rows, name: key, placeholder: "A text" });
      // Whether the model compares two texts may be unknown.
      field.value = key === "text_b" && !model.num_texts ? "" : example;
      return element("label", {}, label, field);
    }));
  replySection.hidden = true;
}

async function ask(event) {
  event.preventDefault();
  const [model, name] = choices[select.value];
  const button = form.querySelector("button");
  const output = element("div");
  const request = Object.fromEntries(new FormData(form));
  if (name === "embed") {
    request.text = request.text.split("\n").filter((line) => line.trim());
  }
  const began = performance.now();
  button.disabled = true;
  try {
    const path = `api/models/${encodeURIComponent(model.name)}/${name}`;
    const reply = await fetchJson(path, request);
    // The reply to an empty text is empty.
    if (!Object.keys(reply).length) throw new Error("enter a text");
    TASKS[name].show(output, reply, request);
    document.querySelector("#note").textContent =
      `answered in ${Math.round(performance.now() - began)} ms`;
  } catch (error) {
    output.replaceChildren(
      element("p", { class: "error", role: "alert" }, error.message));
  }
  replySection.replaceChildren(output);
  replySection.hidden = button.disabled = false;
}

async function start() {
  try {
    const { models } = await fetchJson("api/models");
    choices = models.flatMap((model) => model.tasks
      .filter((name) => name in TASKS).map((name) => [model, name]));
    select.replaceChildren(...choices.map(([model, name], value) =>
      element("option", { value }, `${model.name}: ${TASKS[name].title}`)));
    statusLine.textContent = "";
    form.hidden = false;
    showForm();
  } catch (error) {
    statusLine.textContent = error.message;
  }
}

form.addEventListener("submit", ask);
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    form.requestSubmit();
  }
});
select.addEventListener("change", showForm);
tokenField.addEventListener("change", start);
start();
