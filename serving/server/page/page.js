// Shows a tab with a form for each task, and sends the requests to the server.
"use strict";

// Fields of the form of each task: [field, label, rows of text, example].
const TASKS = {
  "fill-mask": {
    title: "Fill the gap",
    fields: [["text", "Text with [MASK]", 2,
      "[MASK] light of the harbour can be seen when the air is clear [MASK]"]],
    show: showMasks,
  },
  "next-sentence": {
    title: "Next sentence",
    fields: [
      ["text_a", "First sentence", 2, "In winter the wind blows for weeks."],
      ["text_b", "Does this one follow?", 2, "The boats stay at home."]],
    show: showNextSentence,
  },
  "classify": {
    title: "Classify",
    fields: [
      ["text_a", "Text", 2, "The market in Ostrel is held on Sunday."],
      ["text_b", "Second text, if the model compares two", 2,
        "Sunday is market day in Ostrel."]],
    async show(target, found, asked, model) {
      showLabels(target, found);
      if (model.tasks.includes("tokenize")) {
        showPieces(target, await ask(model.name, "tokenize", asked));
      }
    },
  },
  "answer": {
    title: "Question",
    fields: [
      ["context", "Passage", 6, "The Old Lamp is a small boat from Ivelle. " +
        "She is used to catch eels. Her owner is a retired teacher."],
      ["question", "Question", 1, "What does the Old Lamp catch?"]],
    show: showAnswers,
  },
  "tag": {
    title: "Names",
    fields: [["text", "Text", 4,
      "Anna Berg took the boat from Oslo to Copenhagen for Maersk."]],
    show: showEntities,
  },
  "embed": {
    title: "Similarity",
    fields: [["text", "Sentences, one a line", 5,
      "The boat left the harbour.\nA ship sailed out of the port.\n" +
      "She bakes bread on Sundays."]],
    vectors: true,
  },
};
// Maximum number of sentences that are compared.
const MOST_SENTENCES = 12;

const tokenField = document.querySelector("#token input");

async function fetchJson(path, body) {
  const headers = { "Content-Type": "application/json" };
  if (tokenField.value) headers.Authorization = `Bearer ${tokenField.value}`;
  let response;
  try {
    response = await fetch(path, body === undefined ? { headers }
      : { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("the server cannot be reached; is it still running?");
  }
  if (response.status === 401) {
    document.querySelector("#token").hidden = false;
    tokenField.focus();
    throw new Error("the server needs a token; enter it at the page's top");
  }
  const text = await response.text();
  let found = null;
  try {
    found = JSON.parse(text);
  } catch {
    // A proxy, or a server with too many connections, replies with plain text.
  }
  if (!response.ok || found === null) {
    throw new Error((found && found.error) ||
      `the server answered ${response.status}: ${text.slice(0, 200)}`);
  }
  return found;
}

function ask(model, task, request) {
  return fetchJson(
    `api/models/${encodeURIComponent(model)}/${task}`, request);
}

async function answerVectors(target, asked, model, kind) {
  const sentences = asked.text.split("\n").map((line) => line.trim())
    .filter(Boolean);
  if (sentences.length < 2 || sentences.length > MOST_SENTENCES) {
    throw new Error(`enter 2 to ${MOST_SENTENCES} sentences, one per line`);
  }
  const found = await Promise.all(
    sentences.map((text) => ask(model.name, "embed", { text })));
  showSimilarity(target, found.map((one) => one[kind]), sentences);
}

// Returns a select element and its label. The options are [value, text].
function chooser(label, choices) {
  const select = element("select", {}, ...choices.map(
    ([value, text]) => element("option", { value }, text)));
  return { select, label: element("label", {}, label, select) };
}

function createPanel(name, models) {
  const task = TASKS[name];
  const inputs = {};
  const form = element("form", { autocomplete: "off" });
  const model = chooser("Model", models.map((one, index) =>
    [index, `${one.name}, version ${one.version}`]));
  form.append(model.label);
  for (const [field, label, rows, example] of task.fields) {
    inputs[field] = rows > 1
      ? element("textarea", { rows, name: field, maxlength: 200000 })
      : element("input", { name: field, maxlength: 200000 });
    inputs[field].value = example;
    form.append(element("label", {}, label, inputs[field]));
  }
  const kind = chooser("Vector", [
    ["mean", "mean of the WordPieces' vectors"],
    ["pooled", "pooled output, of [CLS]"]]);
  if (task.vectors) form.append(kind.label);
  const button = element("button", { class: "ask" }, "Ask");
  const note = element("span", { class: "faint" }, "Ctrl + Enter asks, too");
  form.append(element("div", { class: "row" }, button, note));
  const answer = element("section",
    { class: "answer", "aria-live": "polite", "aria-label": "Answer" });
  answer.hidden = true;

  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    const asked = Object.fromEntries(Object.entries(inputs).map(
      ([field, input]) => [field, input.value]));
    const chosen = models[model.select.value];
    const made = element("div");
    const began = performance.now();
    try {
      if (task.vectors) {
        await answerVectors(made, asked, chosen, kind.select.value);
      } else {
        const found = await ask(chosen.name, name, asked);
        await task.show(made, found, asked, chosen);
      }
      note.textContent = `answered in ${
        Math.round(performance.now() - began)} ms`;
    } catch (error) {
      made.replaceChildren(
        element("p", { class: "error", role: "alert" }, error.message));
      note.textContent = "";
    }
    answer.replaceChildren(made);
    answer.hidden = false;
    button.disabled = false;
  });
  return element("div", {
    role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`,
  }, form, answer);
}

function createTabs(models) {
  const nav = document.querySelector("nav");
  const names = Object.keys(TASKS).filter(
    (name) => models.some((model) => model.tasks.includes(name)));
  const panels = {}, tabs = {};
  const main = document.querySelector("main");

  function choose(name, isFocused) {
    for (const other of names) {
      const isChosen = other === name;
      tabs[other].setAttribute("aria-selected", String(isChosen));
      tabs[other].tabIndex = isChosen ? 0 : -1;
      panels[other].hidden = !isChosen;
    }
    tabs[name].scrollIntoView({ block: "nearest", inline: "nearest" });
    history.replaceState(null, "", `#${name}`);
    if (isFocused) tabs[name].focus();
  }

  names.forEach((name, index) => {
    panels[name] = createPanel(name,
      models.filter((model) => model.tasks.includes(name)));
    tabs[name] = element("button", {
      type: "button", role: "tab", id: `tab-${name}`,
      "aria-controls": `panel-${name}`,
    }, TASKS[name].title);
    tabs[name].addEventListener("click", () => choose(name));
    tabs[name].addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(names.at((index + step) % names.length), true);
    });
    nav.append(tabs[name]);
    main.append(panels[name]);
  });
  const wanted = location.hash.slice(1);
  if (names.length) choose(names.includes(wanted) ? wanted : names[0]);
  return names.length;
}

async function start() {
  const status = document.querySelector("#status");
  try {
    const { models } = await fetchJson("api/models");
    status.hidden = createTabs(models) > 0;
    status.textContent = "No model here takes text; export with --vocab_file.";
  } catch (error) {
    status.textContent = error.message;
  }
}

tokenField.addEventListener("change", () => {
  if (!document.querySelector("nav").children.length) start();
});
start();
