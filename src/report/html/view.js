// What the parts of the page share: the state, the canvases, colours, the tip.
const state = {
  report: null, rank: 0, step: null,
  t: 0,                     // the chosen instant
  hover: -1,                // under the pointer, -1: none
  from: 0, to: 1,           // events in view
  hidden: new Set(),        // categories
  filter: "", least: 0,     // words; bytes
  chosen: -1,               // a storage
  other: null,              // the report compared with
};
const parts = [];           // {draw(), needs: set of what it depends on}

let pending = null;
// Redraws the parts that depend on one of `what`: "data", "time", "view", "hover", "filter", "chosen".
function changed(...what) {
  if (!pending) {
    pending = new Set();
    requestAnimationFrame(() => {
      const now = pending;
      pending = null;
      for (const part of parts) {
        if (now.has("data") || part.needs.some(need => now.has(need))) part.draw();
      }
    });
  }
  what.forEach(w => pending.add(w));
}

function color(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
let palette = null;
function colors() {
  if (!palette) {
    palette = {};
    for (const name of [...CATEGORIES, "bg", "fg", "muted", "line", "soft", "accent", "bad", "hole", "panel"]) palette[name] = color(name);
  }
  return palette;
}

const FONT = '12px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// A canvas cleared and scaled to the screen's pixels: {g, w, h}.
function canvasOf(id) {
  const canvas = $(id), scale = window.devicePixelRatio || 1;
  const w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * scale) || canvas.height !== Math.round(h * scale)) {
    canvas.width = Math.round(w * scale);
    canvas.height = Math.round(h * scale);
  }
  const g = canvas.getContext("2d");
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, w, h);
  g.font = FONT;
  g.textBaseline = "middle";
  return {g, w, h, scale};
}

// The text, cut in the middle to `width`; "" if nothing sensible fits.
function fitted(g, text, width) {
  if (width < 18) return "";
  if (g.measureText(text).width <= width) return text;
  const dots = "\u2026";
  let keep = Math.floor(text.length * width / g.measureText(text).width) - 1;
  for (; keep > 2; --keep) {
    const end = Math.ceil(keep * .7), cut = text.slice(0, keep - end) + dots + text.slice(text.length - end);
    if (g.measureText(cut).width <= width) return cut;
  }
  return "";
}

// Both time views share this left margin, so that they align.
const LEFT = 62, RIGHT = 8;
const xOf = (t, w) => LEFT + (t - state.from) / (state.to - state.from) * (w - LEFT - RIGHT);
const tOf = (x, w) => state.from + (x - LEFT) / (w - LEFT - RIGHT) * (state.to - state.from);

function setView(from, to) {
  const n = state.step.events, span = Math.min(n, Math.max(8, to - from));
  from = Math.max(0, Math.min(n - span, from));
  state.from = from;
  state.to = from + span;
  changed("view");
}

function zoom(factor, around) {
  const t = around === undefined ? (state.t >= state.from && state.t <= state.to ? state.t + .5 : (state.from + state.to) / 2) : around;
  setView(t - (t - state.from) * factor, t + (state.to - t) * factor);
}

function setTime(t) {
  state.t = Math.max(0, Math.min(state.step.events - 1, Math.round(t)));
  if (state.t < state.from || state.t >= state.to) {
    const half = (state.to - state.from) / 2;
    setView(state.t - half, state.t + half);
  }
  changed("time");
}

function showTip(event, ...children) {
  const tip = $("tip");
  tip.replaceChildren(...children);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 14 : event.clientX + 14;
  const y = Math.min(event.clientY + 14, innerHeight - box.height - 8);
  tip.style.left = Math.max(4, x) + "px";
  tip.style.top = Math.max(4, y) + "px";
}
const hideTip = () => { $("tip").hidden = true; };

// The storages that the filter leaves: words must all be in name, module or op; ">1MiB" is a size; hidden categories are out.
function filterTest(step) {
  const least = state.least, wanted = state.filter.toLowerCase().split(/\s+/).filter(Boolean), hidden = CATEGORIES.map(c => state.hidden.has(c));
  const lower = step.lowered || (step.lowered = step.strings.map(s => s.toLowerCase()));
  const l = step.lives;
  return life => {
    if (hidden[l.category[life]] || l.bytes[life] < least) return false;
    return wanted.every(w => lower[l.name[life]].includes(w) || lower[l.module[life]].includes(w) || lower[l.op[life]].includes(w));
  };
}

function storageTip(step, life, t) {
  const {name, module, op} = step.text(life), l = step.lives;
  return [
    el("b", {}, name), el("div", {class: "sub"}, bytesText(l.bytes[life]) + ", " + words(CATEGORIES[step.categoryOf(life, t)])),
    module ? el("div", {}, module) : null, op && !name.endsWith(op) ? el("div", {}, "made by " + op) : null,
    el("div", {class: "sub"}, "born: " + step.place(l.born[life])), el("div", {class: "sub"}, "dies: " + step.place(l.dies[life])),
    el("div", {}, step.why(life, t)),
  ].filter(Boolean);
}
