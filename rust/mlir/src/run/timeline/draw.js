// The picture of one run. Data comes as arrays (see `fields` in it); here they become objects once,
// are cut into rows, and are drawn on one canvas. Only what is in view is drawn, and what falls into
// a pixel that is painted already is left out, so a frame costs what can be seen.
"use strict";

const run = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const canvas = byId("picture");
const pen = canvas.getContext("2d");

const GUTTER = 84; // pixels for names
const RULER = 22;
const ENGINE_ROW = 20;
const GAP = 8;

// ---- Data ----------------------------------------------------------------------------------------

const rectOf = ([bank, p0, p1, b0, b1]) => ({ bank, p0, p1, b0, b1 });
const events = run.events.map(
  ([site, repetition, engine, start, end, flags, group, region, reads, writes, after], number) => ({
    number, site, repetition, engine, start, end, flags, group, after,
    region: region && { first: region[0], last: region[1], p0: region[2], p1: region[3] },
    reads: reads.map(rectOf), writes: writes.map(rectOf),
  }));
const spans = run.spans.map(
  ([bank, p0, p1, b0, b1, state, clobbered, group, from, lastUse, start, used, end]) => ({
    bank, p0, p1, b0, b1, state, clobbered, group, from, lastUse, start, used, end,
  })).sort((a, b) => a.start - b.start);
const problems = run.problems.map(([severity, tag, message, event, earlier]) => ({
  severity, tag, message, event, earlier: earlier.map(([number, text]) => ({ number, text })),
}));

// Who waits for an event: the reverse of `after`.
const before = events.map(() => []);
for (const event of events) for (const [on] of event.after) before[on].push(event.number);

// ---- Rows: engines that do something, then banks that hold something ------------------------------

const rows = run.engines
  .map((name, engine) => ({ name, list: events.filter((event) => event.engine === engine) }))
  .filter((row) => row.list.length > 0)
  .map((row) => ({ ...row, kind: "engine" }));
for (let bank = 0; bank < run.banks; bank++) {
  const list = spans.filter((span) => span.bank === bank);
  // Quadrants are told apart where something does not take all partitions alike.
  const isSplit = list.some((span) => span.p0 > 0 || span.p1 < run.partitions);
  const parts = isSplit ? run.partitions / run.quadrant : 1;
  if (list.length > 0) rows.push({ kind: "bank", name: `bank ${bank}`, bank, list, parts });
}

const view = { from: 0, to: Math.max(run.cycles, 1), width: 1, height: 1 };
let selected = null; // number of an event
let hovered = null;
let problem = null; // the hazard that was chosen

function layOut() {
  const ratio = window.devicePixelRatio || 1;
  const box = canvas.getBoundingClientRect();
  view.width = Math.max(box.width, GUTTER + 50);
  view.height = Math.max(box.height, 50);
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const engineRows = rows.filter((row) => row.kind === "engine");
  const parts = rows.reduce((sum, row) => sum + (row.parts || 0), 0);
  const fixed = RULER + engineRows.length * ENGINE_ROW + (rows.length - engineRows.length + 1) * GAP;
  const part = Math.min(Math.max((view.height - fixed) / Math.max(parts, 1), 6), 160);
  let y = RULER;
  for (const row of rows) {
    if (row.kind === "bank") y += GAP;
    row.y = y;
    row.height = row.kind === "engine" ? ENGINE_ROW : row.parts * part;
    y += row.height;
  }
  requestDraw();
}

const scale = () => (view.width - GUTTER) / (view.to - view.from);
const xOf = (time) => GUTTER + (time - view.from) * scale();
const timeOf = (x) => view.from + (x - GUTTER) / scale();
const bankRow = (bank) => rows.find((row) => row.kind === "bank" && row.bank === bank);

/** Calls `paint(y, height)` for each part of `row` that partitions p0..p1 and bytes b0..b1 meet. */
function forEachPart(row, { p0, p1, b0, b1 }, paint) {
  const height = row.height / row.parts;
  const partitions = run.partitions / row.parts;
  for (let part = Math.floor(p0 / partitions); part * partitions < p1; part++) {
    const y = row.y + part * height;
    paint(y + (b0 / run.bankBytes) * height, ((b1 - b0) / run.bankBytes) * height);
  }
}

// ---- Drawing -------------------------------------------------------------------------------------

const colours = {};
function readColours() {
  const probe = document.createElement("i");
  document.body.append(probe);
  for (const name of ["ground", "band", "line", "text", "quiet", "accent", "bad", "plain", "lightness"]) {
    probe.style.color = `var(--${name})`;
    colours[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  colours.isDark = colours.lightness.includes("255");
}

/** Groups next to each other in time get hues far from each other. */
function groupColour(group) {
  if (group === null || group === undefined) return colours.plain;
  return `hsl(${(group * 137.508 + 210) % 360} 62% ${colours.isDark ? 62 : 45}%)`;
}

let isDrawRequested = false;
function requestDraw() {
  if (isDrawRequested) return;
  isDrawRequested = true;
  requestAnimationFrame(() => { isDrawRequested = false; draw(); });
}

function draw() {
  pen.fillStyle = colours.ground;
  pen.fillRect(0, 0, view.width, view.height);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  drawRuler();
  pen.save();
  pen.beginPath();
  pen.rect(GUTTER, RULER, view.width - GUTTER, view.height - RULER);
  pen.clip();
  for (const row of rows) (row.kind === "engine" ? drawEngine : drawBank)(row);
  drawStarts();
  const shown = hovered ?? selected;
  if (selected !== null) drawChosen(events[selected]);
  if (shown !== null && shown !== selected) drawChosen(events[shown]);
  drawProblems();
  pen.restore();
  drawNames();
}

function drawRuler() {
  const steps = [1, 2, 5].flatMap((step) => [...Array(13).keys()].map((power) => step * 10 ** power));
  const step = steps.sort((a, b) => a - b).find((cycles) => cycles * scale() >= 90) ?? view.to;
  pen.fillStyle = colours.quiet;
  pen.strokeStyle = colours.line;
  pen.lineWidth = 1;
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const x = Math.round(xOf(time)) + 0.5;
    pen.beginPath();
    pen.moveTo(x, RULER - 5);
    pen.lineTo(x, view.height);
    pen.stroke();
    pen.fillText(time.toLocaleString("en"), x + 4, RULER / 2);
  }
}

function drawNames() {
  pen.fillStyle = colours.ground;
  pen.fillRect(0, 0, GUTTER, view.height);
  pen.fillStyle = colours.quiet;
  pen.fillText("cycles", 12, RULER / 2);
  for (const row of rows) {
    pen.fillStyle = colours.text;
    pen.fillText(row.name, 12, row.y + row.height / 2);
    if (row.parts > 1) {
      pen.fillStyle = colours.quiet;
      const height = row.height / row.parts;
      if (height >= 11)
        for (let part = 0; part < row.parts; part++)
          pen.fillText(String((part * run.partitions) / row.parts), GUTTER - 26, row.y + (part + 0.5) * height);
    }
  }
}

/** The first index of `list`, sorted by start and without overlaps, that ends after `time`. */
function firstAfter(list, time) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].end > time) high = middle; else low = middle + 1;
  }
  return low;
}

function drawEngine(row) {
  let painted = -1;
  for (let index = firstAfter(row.list, view.from); index < row.list.length; index++) {
    const event = row.list[index];
    if (event.start > view.to) break;
    const x = xOf(event.start);
    const end = Math.max(xOf(event.end), x + 1.5);
    if (end < painted + 0.5) continue;
    painted = end;
    pen.fillStyle = groupColour(event.group);
    pen.fillRect(x, row.y + 2, Math.max(end - x - 0.5, 1), row.height - 4);
  }
}

function drawBank(row) {
  pen.fillStyle = colours.band;
  pen.fillRect(GUTTER, row.y, view.width - GUTTER, row.height);
  pen.strokeStyle = colours.line;
  for (let part = 1; part < row.parts; part++) {
    const y = Math.round(row.y + (part * row.height) / row.parts) + 0.5;
    pen.beginPath();
    pen.moveTo(GUTTER, y);
    pen.lineTo(view.width, y);
    pen.stroke();
  }
  for (const span of row.list) {
    if (span.start > view.to) break;
    if (span.end >= view.from) drawSpan(row, span);
  }
}

function drawSpan(row, span) {
  const x = xOf(span.start);
  const end = Math.max(xOf(span.end), x + 1);
  if (span.state === "pending") {
    // Contents that nobody uses any more may be hit.
    const colour = span.clobbered && span.lastUse !== null ? colours.bad : groupColour(events[span.from].group);
    forEachPart(row, span, (y, height) => hatch(x, y, end - x, height, colour));
    return;
  }
  pen.fillStyle = groupColour(span.group);
  const used = span.used === null ? x : Math.min(Math.max(xOf(span.used), x + 1), end);
  const alpha = span.state === "open" ? 0.95 : 0.6;
  forEachPart(row, span, (y, height) => {
    const inner = Math.max(height - 0.5, 0.5);
    pen.globalAlpha = alpha;
    if (used > x) pen.fillRect(x, y, used - x, inner);
    pen.globalAlpha = 0.18;
    if (end > used) pen.fillRect(used, y, end - used, inner);
    pen.globalAlpha = 1;
  });
}

const hatches = new Map();
function hatch(x, y, width, height, colour) {
  if (!hatches.has(colour)) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const brush = tile.getContext("2d");
    brush.strokeStyle = colour;
    brush.lineWidth = 1.5;
    for (const shift of [-8, 0, 8]) {
      brush.beginPath();
      brush.moveTo(shift - 1, 9);
      brush.lineTo(shift + 9, -1);
      brush.stroke();
    }
    hatches.set(colour, pen.createPattern(tile, "repeat"));
  }
  pen.fillStyle = width < 3 ? colour : hatches.get(colour);
  pen.fillRect(x, y, width, Math.max(height - 0.5, 0.5));
}

/** A bar at each START and ACCUMULATE, over the cells of its region. */
function drawStarts() {
  let painted = -10;
  for (const event of events) {
    if (!event.region || event.end < view.from || event.start > view.to) continue;
    const x = xOf(event.start);
    if (x - painted < 0.7 && events.length > 2000) continue;
    painted = x;
    pen.fillStyle = colours.text;
    forEachOfRegion(event, (y, height) => pen.fillRect(x - 1, y, 2, height));
  }
}

function forEachOfRegion({ region }, paint) {
  for (let bank = region.first; bank <= region.last; bank++) {
    const row = bankRow(bank);
    if (row) forEachPart(row, { p0: region.p0, p1: region.p1, b0: 0, b1: run.bankBytes }, paint);
  }
}

const rowOfEngine = (event) => rows.find((row) => row.name === run.engines[event.engine]);
const middleOf = (event) => {
  const row = rowOfEngine(event);
  return [xOf((event.start + event.end) / 2), row.y + row.height / 2];
};

function dot(x, y, isFilled) {
  pen.beginPath();
  pen.arc(x, y, 5, 0, 7);
  pen.fillStyle = isFilled ? colours.bad : colours.ground;
  pen.fill();
  pen.lineWidth = 2;
  pen.strokeStyle = isFilled ? colours.ground : colours.bad;
  pen.stroke();
}

function line([x0, y0], [x1, y1], colour, width) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.quadraticCurveTo((x0 + x1) / 2, Math.min(y0, y1) - 12, x1, y1);
  pen.stroke();
}

function drawProblems() {
  for (const found of problems) {
    if (found.event === null) continue;
    const at = middleOf(events[found.event]);
    for (const { number } of found.earlier) {
      const from = middleOf(events[number]);
      line(from, at, colours.bad, found === problem ? 2.5 : 1);
      dot(...from, false);
    }
    dot(...at, true);
  }
}

/** The chosen instruction: outline, cells, region, what it waits for. */
function drawChosen(event) {
  const row = rowOfEngine(event);
  const x = xOf(event.start);
  const width = Math.max(xOf(event.end) - x, 2);
  pen.strokeStyle = colours.accent;
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, row.y + 1, width + 2, row.height - 2);
  if (event.region) forEachOfRegion(event, (y, height) => pen.strokeRect(x - 1, y, width + 2, height));
  pen.setLineDash([4, 3]);
  for (const rect of [...event.reads, ...event.writes]) {
    const bank = bankRow(rect.bank);
    if (bank) forEachPart(bank, rect, (y, height) => pen.strokeRect(x - 1, y, width + 2, Math.max(height, 2)));
  }
  pen.setLineDash([]);
  for (const [on] of event.after) line(middleOf(events[on]), middleOf(event), colours.accent, 1);
  for (const number of before[event.number].slice(0, 50))
    line(middleOf(event), middleOf(events[number]), colours.quiet, 1);
}
