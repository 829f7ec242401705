// Everything about the picture that is not the picture: what instructions say, the list of hazards,
// keys and mouse. Shares one scope with `draw.js`, which comes first.

// ---- Words ---------------------------------------------------------------------------------------

function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

const cellsText = ({ bank, p0, p1, b0, b1 }) => `bank ${bank}, partitions ${p0}-${p1 - 1}, bytes ${b0}-${b1 - 1}`;
const titleOf = (event) => `#${event.number} ${run.sites[event.site][1]}`;

function facts(event) {
  const [text, , location] = run.sites[event.site];
  const list = [["location", location || "none"], ["engine", run.engines[event.engine]],
    ["cycles", `${event.start}-${event.end}`]];
  if (event.repetition > 0) list.push(["repetition", `number ${event.repetition + 1} of this instruction`]);
  if (event.flags !== null) list.push(["flags", run.words[event.flags]]);
  if (event.group !== null) list.push(["group", String(event.group)]);
  if (event.reads.length) list.push(["reads", event.reads.map(cellsText).join("; ")]);
  if (event.writes.length) list.push(["writes", event.writes.map(cellsText).join("; ")]);
  return { text, list };
}

function describe(event) {
  const { text, list } = facts(event);
  const box = byId("details");
  const terms = element("dl");
  for (const [name, value] of list) terms.append(element("dt", name), element("dd", value));
  const waits = element("dd");
  for (const [on, why] of event.after) {
    const link = element("button", `${titleOf(events[on])} (${why})`, { type: "button", class: "link" });
    link.addEventListener("click", () => select(on));
    waits.append(link, element("br"));
  }
  if (event.after.length) terms.append(element("dt", "waits for"), waits);
  box.replaceChildren(element("strong", titleOf(event)), element("br"), element("code", text), terms);
}

function fillPage() {
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const left = run.leftOut ? `, ${plural(run.leftOut, "more")} not shown` : "";
  byId("summary").textContent = [run.target, plural(events.length, "instruction") + left,
    plural(run.cycles, "cycle"), plural(run.groups, "group"), plural(problems.length, "hazard")].join(" \u00b7 ");
  const list = byId("hazards");
  if (!problems.length) list.append(element("li", "none"));
  for (const found of problems) {
    const button = element("button", found.tag, { type: "button", class: found.severity });
    button.append(element("small", found.message));
    for (const { number, text } of found.earlier)
      button.append(element("small", `${text}: ${titleOf(events[number])}`));
    const choose = () => {
      problem = found;
      for (const other of list.querySelectorAll("button")) other.removeAttribute("aria-current");
      button.setAttribute("aria-current", "true");
      if (found.event !== null) select(found.event);
    };
    button.addEventListener("focus", choose);
    button.addEventListener("click", choose);
    const item = element("li");
    item.append(button);
    list.append(item);
  }
}

// ---- Keys and mouse ------------------------------------------------------------------------------

function select(number) {
  selected = number;
  document.body.dataset.selected = number ?? "";
  if (number !== null) {
    const event = events[number];
    if (event.end < view.from || event.start > view.to) {
      const width = view.to - view.from;
      show(event.start - width / 2, event.start + width / 2);
    }
    describe(event);
  }
  requestDraw();
}

function show(from, to) {
  const whole = Math.max(run.cycles, 1);
  const width = Math.min(Math.max(to - from, 4), whole * 1.02);
  view.from = Math.min(Math.max(from, 0), Math.max(whole * 1.02 - width, 0));
  view.to = view.from + width;
  requestDraw();
}

function zoom(factor, x) {
  const middle = selected !== null && x === undefined ? events[selected].start : undefined;
  const at = x !== undefined ? timeOf(x) : middle ?? (view.from + view.to) / 2;
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

const fit = () => show(0, Math.max(run.cycles, 1) * 1.02);

/** The event at a place of the canvas: of an engine, or the one that put cells into their state. */
function eventAt(x, y) {
  const row = rows.find((one) => y >= one.y && y < one.y + one.height);
  if (!row || x < GUTTER) return null;
  const time = timeOf(x);
  if (row.kind === "engine") {
    const slack = 2 / scale();
    const event = row.list[firstAfter(row.list, time - slack)];
    return event && event.start <= time + slack ? event.number : null;
  }
  const found = row.list.filter((span) => span.start <= time && time < span.end);
  const hit = found.find((span) => {
    let isHit = false;
    forEachPart(row, span, (top, height) => { isHit ||= y >= top && y < top + height; });
    return isHit;
  });
  return hit ? hit.from : null;
}

function step(direction, isOnEngine) {
  if (selected === null) return events.length ? select(direction > 0 ? 0 : events.length - 1) : undefined;
  let next = selected + direction;
  while (isOnEngine && events[next] && events[next].engine !== events[selected].engine) next += direction;
  if (events[next]) select(next);
}

function toggleTheme() {
  document.documentElement.style.colorScheme = colours.isDark ? "light" : "dark";
  hatches.clear();
  readColours();
  requestDraw();
}

const quarter = () => (view.to - view.from) / 4;
const keys = {
  ArrowLeft: (event) => (event.shiftKey ? show(view.from - quarter(), view.to - quarter()) : step(-1)),
  ArrowRight: (event) => (event.shiftKey ? show(view.from + quarter(), view.to + quarter()) : step(1)),
  ArrowUp: () => step(-1, true),
  ArrowDown: () => step(1, true),
  Home: () => events.length && select(0),
  End: () => events.length && select(events.length - 1),
  "+": () => zoom(0.5),
  "=": () => zoom(0.5),
  "-": () => zoom(2),
  0: fit,
  t: toggleTheme,
  "?": () => byId("keys").showModal(),
  Escape: () => { select(null); byId("details").replaceChildren(); },
};

document.addEventListener("keydown", (event) => {
  if (byId("keys").open || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key](event);
});

let drag = null;
canvas.addEventListener("pointerdown", (event) => {
  drag = { x: event.offsetX, from: view.from, to: view.to, hasMoved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  if (drag) {
    const by = (drag.x - event.offsetX) / scale();
    drag.hasMoved ||= Math.abs(drag.x - event.offsetX) > 3;
    if (drag.hasMoved) show(drag.from + by, drag.to + by);
    return;
  }
  hovered = eventAt(event.offsetX, event.offsetY);
  tell(hovered, event);
  requestDraw();
});
canvas.addEventListener("pointerup", (event) => {
  if (drag && !drag.hasMoved) select(eventAt(event.offsetX, event.offsetY));
  drag = null;
});
canvas.addEventListener("pointerleave", () => { hovered = null; tell(null); requestDraw(); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (event.shiftKey) show(view.from + event.deltaY / scale(), view.to + event.deltaY / scale());
  else zoom(event.deltaY > 0 ? 1.25 : 0.8, event.offsetX);
}, { passive: false });

/** What is under the mouse, beside it. */
function tell(number, at) {
  const tip = byId("tip");
  tip.hidden = number === null;
  if (number === null) return;
  const { text, list } = facts(events[number]);
  tip.replaceChildren(element("strong", titleOf(events[number])), element("br"), element("code", text),
    ...list.map(([name, value]) => element("small", `${name}: ${value}`)));
  const left = Math.min(at.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(left, 0)}px`;
  tip.style.top = `${Math.max(Math.min(at.clientY + 16, window.innerHeight - tip.offsetHeight - 8), 0)}px`;
}

byId("zoom-in").addEventListener("click", () => zoom(0.5));
byId("zoom-out").addEventListener("click", () => zoom(2));
byId("fit").addEventListener("click", fit);
byId("theme").addEventListener("click", toggleTheme);
byId("help").addEventListener("click", () => byId("keys").showModal());
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  hatches.clear();
  readColours();
  requestDraw();
});

readColours();
fillPage();
fit();
new ResizeObserver(layOut).observe(canvas);
layOut();
