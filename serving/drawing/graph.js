/** Search, levels, the panel with a report or an entity, and the pointer. */

const LISTED = 300;
const panel = at("panel");
const search = at("search");
const fold = (text) => text.normalize("NFKC").toLowerCase();
const titleOf = ({ kind, index }) => (kind === "entity" ? entities : communities)[index].title;
const keyOf = ({ kind, index }) => (kind === "entity" ? "e" : "c") + index;

/** Open a community's report or an entity, and bring it into view unless it was clicked there. */
function select(thing, move = true) {
  selected = thing;
  panel.hidden = !thing;
  panel.replaceChildren();
  if (thing) {
    const close = make("button", { className: "close", title: "Close (Esc)", type: "button" }, "×");
    close.addEventListener("click", () => select(null));
    panel.append(close, ...(thing.kind === "entity" ? aboutEntity : aboutCommunity)(thing.index));
    panel.scrollTop = 0;
  }
  history.replaceState(null, "", thing ? `#${keyOf(thing)}` : location.pathname);
  for (const button of document.querySelectorAll("#found button"))
    button.setAttribute("aria-current", thing !== null && button.value === keyOf(thing));
  resize();
  if (thing && move) moveTo(thing);
}

function moveTo({ kind, index }) {
  const one = (kind === "entity" ? entities : communities)[index];
  if (kind === "community" && one.level > view.level) setLevel(one.level);
  const r = kind === "entity" ? Math.max(one.r * 14, 60) : one.r * 1.15;
  show(one.x - r, one.y - r, one.x + r, one.y + r);
}

function link(kind, index, className = "link") {
  const thing = { kind, index };
  const button = make("button", { className, type: "button", value: keyOf(thing) }, titleOf(thing));
  button.addEventListener("click", () => select(thing));
  return button;
}

/** A paragraph, in which GraphRAG's references to its records stand back. */
function paragraph(text) {
  const made = make("p");
  for (const part of String(text ?? "").split(/(\[Data:[^\]]*\])/))
    made.append(part.startsWith("[Data:") ? make("span", { className: "refs" }, part) : part);
  return made;
}

function aboutCommunity(index) {
  const one = communities[index];
  const rank = one.rank == null ? "" : ` · importance ${one.rank} of 10`;
  const parts = [
    make("h2", {}, one.title),
    make("p", { className: "facts" },
      `Community ${one.number} · level ${one.level} · ${one.members.length} entities${rank}`),
  ];
  if (!one.reported) parts.push(make("p", { className: "facts" }, "There is no report of it."));
  if (one.summary) parts.push(paragraph(one.summary));
  if (one.why) parts.push(make("p", { className: "facts" }, one.why));
  for (const [summary, explanation] of one.findings || []) {
    if (summary) parts.push(make("h3", {}, summary));
    parts.push(paragraph(explanation));
  }
  const children = communities.flatMap((child, place) => child.parent === index ? [place] : []);
  if (one.parent >= 0) parts.push(...linked("Part of", "community", [one.parent]));
  if (children.length) parts.push(...linked("Made of", "community", children));
  const members = [...one.members].sort((a, b) => entities[b].degree - entities[a].degree);
  return [...parts, ...linked("Entities", "entity", members)];
}

function linked(heading, kind, places) {
  const tags = make("div", { className: "tags" }, ...places.map((place) => link(kind, place)));
  return [make("h3", {}, heading), tags];
}

function aboutEntity(index) {
  const one = entities[index];
  const kind = one.type ? `${one.type} · ` : "";
  const parts = [
    make("h2", {}, one.title),
    make("p", { className: "facts" }, `${kind}${neighbours[index].length} relationships`),
    paragraph(one.text),
  ];
  const around = [];
  for (let place = one.home; place >= 0; place = communities[place].parent) around.push(place);
  if (around.length) parts.push(...linked("Communities", "community", around));
  const list = make("ul");
  for (const edge of neighbours[index]) {
    const [source, target, text] = edges[edge];
    const other = source === index ? target : source;
    const end = typeof other === "number" ? link("entity", other) : make("b", {}, other);
    list.append(make("li", {}, source === index ? "→ " : "← ", end, paragraph(text)));
  }
  return [...parts, make("h3", {}, "Relationships"), list];
}

function setLevel(level) {
  view.level = level;
  for (const button of at("levels").querySelectorAll("button"))
    button.setAttribute("aria-pressed", Number(button.value) === level);
  if (!search.value.trim()) list();
  redraw();
}

function levelButtons() {
  at("levels").append(make("span", {}, "Levels"));
  for (let level = 0; level <= deepest; level++) {
    const count = communities.filter((one) => one.level <= level).length;
    const button = make("button",
      { type: "button", value: level, title: `${count} communities` },
      level === 0 ? "0" : `0–${level}`);
    button.addEventListener("click", () => setLevel(level));
    at("levels").append(button);
  }
}

/** What was searched for, else the communities shown, each below the one it is part of. */
function list() {
  const words = fold(search.value).split(/\s+/).filter(Boolean);
  const things = words.length ? matching(words) : outline();
  at("found").replaceChildren(
    ...things.slice(0, LISTED).map((thing) => {
      const depth = words.length || thing.kind === "entity" ? 0 : communities[thing.index].level;
      const button = link(thing.kind, thing.index, `in${Math.min(depth, 3)}`);
      if (words.length) button.append(make("div", { className: "kind" }, kindOf(thing)));
      return button;
    }),
    ...(things.length > LISTED ? [make("p", {}, `${things.length - LISTED} more`)] : []),
    ...(things.length ? [] : [make("p", {}, "Nothing is called so.")]));
  return things;
}

const kindOf = ({ kind, index }) => kind === "entity"
  ? entities[index].type || "entity" : `report, level ${communities[index].level}`;

function matching(words) {
  const matches = (title) => { const text = fold(title); return words.every((w) => text.includes(w)); };
  const found = (kind, all) => all.flatMap((one, index) => matches(one.title) ? [{ kind, index }] : []);
  const hits = found("entity", entities).sort((a, b) => entities[b.index].degree - entities[a.index].degree);
  return [...hits, ...found("community", communities)];
}

function outline() {
  const below = new Map();
  communities.forEach((one, index) => {
    if (one.level > view.level) return;
    below.set(one.parent, [...(below.get(one.parent) || []), index]);
  });
  const listed = [];
  const visit = (index) => {
    listed.push({ kind: "community", index });
    (below.get(index) || []).forEach(visit);
  };
  (below.get(-1) || []).sort((a, b) => communities[b].members.length - communities[a].members.length)
    .forEach(visit);
  return listed;
}

function pointAt(thing, x, y) {
  const changed = JSON.stringify(thing) !== JSON.stringify(hovered);
  hovered = thing;
  const tip = at("tip");
  tip.hidden = !thing;
  if (thing) {
    tip.textContent = titleOf(thing);
    tip.style.left = `${Math.min(x + 14, Math.max(view.width - 330, 0))}px`;
    tip.style.top = `${y + 16}px`;
  }
  canvas.classList.toggle("pointing", Boolean(thing));
  if (changed) redraw();
}

let dragged = null;
canvas.addEventListener("pointerdown", (event) => {
  dragged = { x: event.offsetX, y: event.offsetY, far: 0 };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (!dragged) return pointAt(under(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
  view.x += event.offsetX - dragged.x;
  view.y += event.offsetY - dragged.y;
  dragged.far += Math.abs(event.offsetX - dragged.x) + Math.abs(event.offsetY - dragged.y);
  [dragged.x, dragged.y] = [event.offsetX, event.offsetY];
  redraw();
});
canvas.addEventListener("pointerup", (event) => {
  const clicked = dragged && dragged.far < 5;
  dragged = null;
  if (clicked) select(under(event.offsetX, event.offsetY), false);
});
canvas.addEventListener("pointerleave", () => pointAt(null));
canvas.addEventListener("dblclick", (event) => {
  const thing = under(event.offsetX, event.offsetY);
  if (thing) moveTo(thing);
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  zoom(Math.exp(-event.deltaY * .0015), event.offsetX, event.offsetY);
}, { passive: false });
canvas.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (step[event.key]) {
    view.x += step[event.key][0];
    view.y += step[event.key][1];
    redraw();
  } else if (event.key === "+" || event.key === "=") zoom(1.3);
  else if (event.key === "-") zoom(1 / 1.3);
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") select(null);
  if (event.key === "/" && document.activeElement !== search) {
    event.preventDefault();
    search.focus();
  }
});
search.addEventListener("input", list);
search.addEventListener("keydown", (event) => {
  const first = event.key === "Enter" && list()[0];
  if (first) select(first);
});
at("in").addEventListener("click", () => zoom(1.4));
at("out").addEventListener("click", () => zoom(1 / 1.4));
at("fit").addEventListener("click", showAll);

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
at("facts").textContent = [
  count(communities.length, "community", "communities"),
  count(entities.length, "entity", "entities"),
  count(edges.length, "relationship", "relationships"),
].join(" · ");
levelButtons();
readColors();
themed.push(() => { readColors(); redraw(); });
resize();
new ResizeObserver(resize).observe(canvas.parentElement);
setLevel(deepest);
showAll();
const asked = /^#([ce])(\d+)$/.exec(location.hash);
if (asked && (asked[1] === "e" ? entities : communities)[asked[2]])
  select({ kind: asked[1] === "e" ? "entity" : "community", index: Number(asked[2]) });
