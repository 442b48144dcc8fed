// Draws attention: pictures of all heads of all layers, and lines for one head.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LINE_HEIGHT = 20;
// Lines of smaller weights are not drawn.
const LEAST = 0.02;

function isSpecial(token) {
  return token === "[CLS]" || token === "[SEP]";
}

function svgElement(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    element.setAttribute(key, value);
  }
  if (text !== undefined) element.textContent = text;
  return element;
}

// Draws the weights [from][to] as a picture. The first token is at its corner.
function drawMap(canvas, weights) {
  const size = weights.length;
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  const color = getComputedStyle(document.documentElement)
    .getPropertyValue("--accent").trim();
  context.fillStyle = color;
  weights.forEach((row, from) => row.forEach((weight, to) => {
    // Draw square roots, so that weak attention is visible too.
    context.globalAlpha = Math.sqrt(Math.min(weight, 1));
    context.fillRect(to, from, 1, 1);
  }));
}

// Draws the lines of one head, or only of one token if the token is chosen.
function drawLines(svg, tokens, weights, chosen, choose) {
  svg.replaceChildren();
  const longest = Math.max(...tokens.map((token) => token.length));
  const side = Math.min(Math.max(longest * 8 + 16, 80), 220);
  const width = 2 * side + 200;
  svg.setAttribute("viewBox",
    `0 0 ${width} ${(tokens.length + 0.5) * LINE_HEIGHT}`);
  const middle = (index) => (index + 0.75) * LINE_HEIGHT;
  weights.forEach((row, from) => row.forEach((weight, to) => {
    if (weight < LEAST || (chosen !== null && from !== chosen)) return;
    svg.append(svgElement("line", {
      x1: side, y1: middle(from), x2: width - side, y2: middle(to),
      "stroke-opacity": weight.toFixed(3),
    }));
  }));
  tokens.forEach((token, index) => {
    for (const isFrom of [true, false]) {
      const text = svgElement("text", {
        x: isFrom ? side - 6 : width - side + 6, y: middle(index) + 4,
        "text-anchor": isFrom ? "end" : "start",
      }, token);
      const classes = isSpecial(token) ? ["special"] : [];
      if (isFrom) {
        if (index === chosen) classes.push("chosen");
        text.setAttribute("tabindex", "0");
        text.setAttribute("role", "button");
        text.setAttribute("aria-pressed", String(index === chosen));
        text.addEventListener("click", () => choose(index));
        text.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            choose(index);
          }
        });
      } else if (chosen !== null && weights[chosen][index] >= LEAST) {
        text.textContent += ` ${weights[chosen][index].toFixed(2)}`;
      }
      text.setAttribute("class", classes.join(" "));
      svg.append(text);
    }
  });
}

// Shows {tokens, attention} in an element. The weights are
// attention[layer][head][from][to].
function showAttention(target, found) {
  const { tokens, attention } = found;
  const heads = document.createElement("div");
  heads.className = "heads";
  heads.style.setProperty("--heads", attention[0].length);
  const title = document.createElement("h2");
  const hint = document.createElement("p");
  hint.className = "faint";
  hint.textContent = "Choose a head above, and a token on the left to see " +
    "what it alone attends to.";
  const svg = svgElement("svg", { class: "lines", role: "group" });
  let layer = 0, head = 0, chosen = null;
  const buttons = [];

  function draw(focused) {
    title.textContent = `Layer ${layer + 1}, head ${head + 1}`;
    svg.setAttribute("aria-label", `Attention of layer ${layer + 1}, head ` +
      `${head + 1}, from the tokens on the left to those on the right`);
    for (const { button, at } of buttons) {
      button.setAttribute("aria-pressed",
        String(at[0] === layer && at[1] === head));
    }
    drawLines(svg, tokens, attention[layer][head], chosen, (index) => {
      chosen = chosen === index ? null : index;
      draw(index);
    });
    if (focused !== undefined) {
      svg.querySelectorAll("text[tabindex]")[focused].focus();
    }
  }

  attention.forEach((maps, i) => {
    const name = document.createElement("span");
    name.textContent = i + 1;
    heads.append(name);
    maps.forEach((weights, j) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = `layer ${i + 1}, head ${j + 1}`;
      button.setAttribute("aria-label", button.title);
      const canvas = document.createElement("canvas");
      drawMap(canvas, weights);
      button.append(canvas);
      button.addEventListener("click", () => { layer = i; head = j; draw(); });
      heads.append(button);
      buttons.push({ button, at: [i, j] });
    });
  });
  const scroll = document.createElement("div");
  scroll.className = "scroll";
  scroll.append(heads);
  const overview = document.createElement("h2");
  overview.textContent = "Every layer, from top to bottom, and its heads";
  target.replaceChildren(overview, scroll, title, hint, svg);
  draw();
}
