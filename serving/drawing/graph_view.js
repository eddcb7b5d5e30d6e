/** Draws the graph on the canvas: what is where, which labels fit, what is under the pointer. */

const graph = JSON.parse(at("data").textContent);
const { communities, entities, edges } = graph;
const canvas = at("canvas");
const pen = canvas.getContext("2d");
const deepest = communities.reduce((level, one) => Math.max(level, one.level), 0);
const LABELS = 160;
const FONT = getComputedStyle(root).getPropertyValue("--font");
const WORDS = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+|\s+/g;

const view = { scale: 1, x: 0, y: 0, width: 1, height: 1, level: deepest };
/** What is selected and what is under the pointer: {kind: "community" | "entity", index}. */
let selected = null;
let hovered = null;
let colors = {};

const drawnFirst = communities.map((_, index) => index)
  .sort((a, b) => communities[a].level - communities[b].level);
const labelledFirst = entities.map((_, index) => index)
  .sort((a, b) => entities[b].degree - entities[a].degree);
const neighbours = entities.map(() => []);
edges.forEach(([source, target], index) => {
  for (const end of new Set([source, target]))
    if (typeof end === "number") neighbours[end].push(index);
});

/** The hue of a community is that of the outermost one around it. */
const hues = communities.map(() => null);
let turn = 0;
function hueOf(index) {
  if (index < 0) return null;
  if (hues[index] === null) {
    const parent = communities[index].parent;
    hues[index] = parent < 0 ? (turn++ * 137.5 + 200) % 360 : hueOf(parent);
  }
  return hues[index];
}
[...drawnFirst].sort((a, b) => communities[b].r - communities[a].r).forEach(hueOf);

function readColors() {
  const style = getComputedStyle(root);
  const named = (name) => style.getPropertyValue(name).trim();
  const dark = root.dataset.theme === "dark";
  colors = {
    dark, text: named("--text"), faint: named("--faint"), halo: named("--halo"),
    accent: named("--accent"), back: named("--back"),
    fill: (hue) => dark ? `hsl(${hue} 45% 60% / .10)` : `hsl(${hue} 55% 50% / .10)`,
    edge: (hue) => dark ? `hsl(${hue} 40% 60% / .55)` : `hsl(${hue} 45% 45% / .5)`,
    dot: (hue) => hue === null ? named("--faint")
      : dark ? `hsl(${hue} 50% 62%)` : `hsl(${hue} 50% 45%)`,
  };
}

const toScreen = (x, y) => [x * view.scale + view.x, y * view.scale + view.y];
const isSelected = (kind, index) => selected?.kind === kind && selected.index === index;
const isHovered = (kind, index) => hovered?.kind === kind && hovered.index === index;
const onScreen = (x, y, r) =>
  x + r > 0 && y + r > 0 && x - r < view.width && y - r < view.height;

let waiting = false;
/** Draw at the next frame, however often it is asked for. */
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function draw() {
  const ratio = devicePixelRatio || 1;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  drawCommunities();
  drawEdges();
  drawEntities();
  drawLabels();
}

function circle(x, y, r) {
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
}

function drawCommunities() {
  for (const index of drawnFirst) {
    const one = communities[index];
    if (one.level > view.level) continue;
    const [x, y] = toScreen(one.x, one.y);
    const r = one.r * view.scale;
    if (!onScreen(x, y, r)) continue;
    const strong = isSelected("community", index) || isHovered("community", index);
    circle(x, y, r);
    pen.fillStyle = colors.fill(hues[index]);
    pen.fill();
    pen.lineWidth = strong ? 2.5 : 1;
    pen.strokeStyle = strong ? colors.accent : colors.edge(hues[index]);
    pen.stroke();
  }
}

function line([source, target]) {
  if (typeof source !== "number" || typeof target !== "number") return;
  const [a, b] = [entities[source], entities[target]];
  pen.moveTo(...toScreen(a.x, a.y));
  pen.lineTo(...toScreen(b.x, b.y));
}

function drawEdges() {
  pen.lineWidth = Math.min(1, Math.max(.4, view.scale * .5));
  pen.strokeStyle = colors.text;
  pen.globalAlpha = edges.length > 4000 ? .03 : colors.dark ? .11 : .09;
  pen.beginPath();
  edges.forEach(line);
  pen.stroke();
  const near = highlighted();
  pen.globalAlpha = .75;
  pen.lineWidth = 1.3;
  pen.strokeStyle = colors.accent;
  pen.beginPath();
  near.forEach((index) => line(edges[index]));
  pen.stroke();
  pen.globalAlpha = 1;
}

/** Edges of the entity, or between members of the community, that is selected or pointed at. */
function highlighted() {
  const shown = new Set();
  for (const one of [selected, hovered]) {
    if (one?.kind === "entity") neighbours[one.index].forEach((index) => shown.add(index));
    if (one?.kind === "community") {
      const members = new Set(communities[one.index].members);
      for (const member of members)
        for (const index of neighbours[member])
          if (members.has(edges[index][0]) && members.has(edges[index][1])) shown.add(index);
    }
  }
  return shown;
}

function drawEntities() {
  entities.forEach((one, index) => {
    const [x, y] = toScreen(one.x, one.y);
    const r = Math.max(one.r * view.scale, 1);
    if (!onScreen(x, y, r)) return;
    circle(x, y, r);
    pen.fillStyle = colors.dot(hueOf(one.home));
    pen.fill();
    if (isSelected("entity", index) || isHovered("entity", index)) {
      pen.lineWidth = 2.5;
      pen.strokeStyle = colors.accent;
      pen.stroke();
    }
  });
}

/** Labels by weight, each where nothing else is written yet. */
function drawLabels() {
  const taken = [];
  const write = (...label) => { if (taken.length < LABELS) writeLabel(taken, ...label); };
  if (selected?.kind === "entity") labelEntity(selected.index, write, true);
  if (selected?.kind === "community") labelCommunity(selected.index, write, true);
  for (const index of drawnFirst)
    if (communities[index].level <= view.level) labelCommunity(index, write, false);
  for (const index of labelledFirst) {
    if (taken.length >= LABELS) break;
    labelEntity(index, write, false);
  }
}

function labelCommunity(index, write, always) {
  const one = communities[index];
  const [x, y] = toScreen(one.x, one.y);
  const r = one.r * view.scale;
  if (!onScreen(x, y, r) || (r < 26 && !always)) return;
  const size = Math.max(11, Math.min(17, r / 5));
  const large = r > Math.min(view.width, view.height) * .3;
  const width = large ? Math.min(320, r) : Math.max(r * 1.75, 60);
  write(one.title, x, large ? Math.max(y - r + 8 + size, 12 + size) : null, y, width, size, 600, 3);
}

function labelEntity(index, write, always) {
  const one = entities[index];
  const [x, y] = toScreen(one.x, one.y);
  const r = one.r * view.scale;
  if (!onScreen(x, y, r) || (r < 5 && !always)) return;
  const size = Math.max(10, Math.min(14, r * .9));
  write(one.title, x, y + r + size, null, Math.max(110, r * 4), size, 400, 2);
}

const wraps = new Map();
/** The lines of a label that is at most `width` wide, the last one cut. */
function wrapped(text, width, most) {
  const key = `${pen.font}|${Math.round(width / 8)}|${most}|${text}`;
  if (wraps.has(key)) return wraps.get(key);
  const lines = [""];
  for (const word of text.slice(0, 200).match(WORDS) || []) {
    const longer = lines.at(-1) + word;
    if (!lines.at(-1).trim() || pen.measureText(longer.trim()).width <= width)
      lines[lines.length - 1] = longer;
    else lines.push(word.trimStart());
  }
  const kept = lines.map((one) => one.trim()).filter(Boolean);
  const shown = kept.slice(0, most);
  if (kept.length > most) shown[most - 1] += "…";
  const made = shown.map((one) => {
    let cut = one;
    while (cut.length > 2 && pen.measureText(cut).width > width * 1.15)
      cut = cut.slice(0, -2).trimEnd() + "…";
    return [cut, pen.measureText(cut).width];
  });
  if (wraps.size > 5000) wraps.clear();
  wraps.set(key, made);
  return made;
}

/** Write a label from the line at `top`, or centred at `middle`, unless it would cover another. */
function writeLabel(taken, text, x, top, middle, width, size, weight, most) {
  pen.font = `${weight} ${Math.round(size)}px ${FONT}`;
  const lines = wrapped(text, width, most);
  if (!lines.length) return;
  const height = Math.round(size) * 1.2;
  const first = top ?? middle - (lines.length - 1) * height / 2 + size * .35;
  const half = Math.max(...lines.map(([, wide]) => wide)) / 2 + 3;
  const box = [x - half, first - size - 1, x + half, first + (lines.length - 1) * height + 4];
  if (taken.some((other) => box[0] < other[2] && box[2] > other[0]
    && box[1] < other[3] && box[3] > other[1])) return;
  taken.push(box);
  pen.textAlign = "center";
  pen.lineJoin = "round";
  pen.lineWidth = 3.5;
  pen.strokeStyle = colors.halo;
  pen.fillStyle = colors.text;
  lines.forEach(([one], place) => pen.strokeText(one, x, first + place * height));
  lines.forEach(([one], place) => pen.fillText(one, x, first + place * height));
}

/** What stands at a point of the canvas: an entity, else the finest community shown, else null. */
function under(px, py) {
  let nearest = null;
  let reach = Infinity;
  entities.forEach((one, index) => {
    const [x, y] = toScreen(one.x, one.y);
    const distance = Math.hypot(px - x, py - y) - Math.max(one.r * view.scale, 4);
    if (distance < Math.min(reach, 2)) [nearest, reach] = [{ kind: "entity", index }, distance];
  });
  if (nearest) return nearest;
  for (const index of drawnFirst) {
    const one = communities[index];
    const [x, y] = toScreen(one.x, one.y);
    if (one.level <= view.level && Math.hypot(px - x, py - y) <= one.r * view.scale)
      nearest = { kind: "community", index };
  }
  return nearest;
}

/** Bring a rectangle of the picture to the middle of the canvas. */
function show(left, top, right, bottom) {
  const room = .92;
  view.scale = Math.min(
    view.width * room / Math.max(right - left, 1),
    view.height * room / Math.max(bottom - top, 1), 12);
  view.x = view.width / 2 - (left + right) / 2 * view.scale;
  view.y = view.height / 2 - (top + bottom) / 2 * view.scale;
  redraw();
}

function showAll() {
  const all = [...communities, ...entities];
  if (!all.length) return;
  const edge = (pick, sign) => all.reduce((far, one) => pick(far, sign(one)), sign(all[0]));
  show(edge(Math.min, (one) => one.x - one.r), edge(Math.min, (one) => one.y - one.r),
    edge(Math.max, (one) => one.x + one.r), edge(Math.max, (one) => one.y + one.r));
}

function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const scale = Math.max(.02, Math.min(40, view.scale * factor));
  view.x = x - (x - view.x) * scale / view.scale;
  view.y = y - (y - view.y) * scale / view.scale;
  view.scale = scale;
  redraw();
}

function resize() {
  const ratio = devicePixelRatio || 1;
  const box = canvas.parentElement.getBoundingClientRect();
  // What was in the middle stays there.
  view.x += (box.width - view.width) / 2;
  view.y += (box.height - view.height) / 2;
  [view.width, view.height] = [box.width, box.height];
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  redraw();
}
