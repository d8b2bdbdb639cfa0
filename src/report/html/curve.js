// The curve: live tensors stacked by category, allocated and reserved as lines, phases, peak, cursor; seconds where known.
const TOP = 20;

// For each column of pixels the event in it with the most live bytes; repeats the last where columns outnumber events.
function columnEvents(step, width) {
  const events = new Int32Array(width), span = state.to - state.from;
  for (let x = 0; x < width; ++x) {
    const begin = Math.max(0, Math.floor(state.from + x / width * span));
    const end = Math.min(step.events, Math.max(begin + 1, Math.floor(state.from + (x + 1) / width * span)));
    let best = Math.min(begin, step.events - 1);
    for (let t = begin; t < end; ++t) {
      if (step.total[t] > step.total[best]) best = t;
    }
    events[x] = best;
  }
  return events;
}

// A step of an axis: 1, 2, 4 ... of a binary unit, at most `count` in `most`.
function binaryStep(most, count) {
  let step = 1;
  while (most / step > count) step *= 2;
  return step;
}
function decimalStep(most, count) {
  for (let step = 10 ** Math.floor(Math.log10(Math.max(1e-12, most)) - 2);; step *= 10) {
    for (const m of [1, 2, 5]) {
      if (most / (step * m) <= count) return step * m;
    }
  }
}

const curve = {
  needs: ["time", "view", "hover", "filter"],

  top(step) {
    const d = step.device;
    let most = Math.max(d.peak.tensor_bytes, d.peak.allocated_bytes);
    if (step.reserved) most = Math.max(most, d.reserved_bytes);
    if (d.capacity_bytes < most * 1.5) most = Math.max(most, d.capacity_bytes);
    return most * 1.04;
  },

  draw() {
    const step = state.step, view = canvasOf("curve"), {g, w, h} = view, c = colors();
    const most = this.top(step), bottom = h - (step.seconds ? 34 : 19), yOf = bytes => bottom - bytes / most * (bottom - TOP);
    Object.assign($("curve").dataset, {from: state.from, to: state.to});
    this.phases(step, view, bottom);
    const columns = Math.max(1, Math.round((w - LEFT - RIGHT) * Math.min(2, view.scale)));
    const events = columnEvents(step, columns), at = i => LEFT + i / columns * (w - LEFT - RIGHT);
    this.areas(step, g, events, at, yOf, c);
    this.axes(step, view, most, yOf, bottom);
    if (step.allocated) {
      g.globalAlpha = .75;
      this.line(g, events, at, yOf, step.allocated, c.fg, []);
      g.globalAlpha = 1;
      this.line(g, events, at, yOf, step.reserved, c.fg, [5, 3]);
    }
    this.limits(step, view, yOf, most);
    drawOther(step, view, yOf, bottom);
    this.cursors(step, view, bottom, yOf);
  },

  areas(step, g, events, at, yOf, c) {
    const base = new Float64Array(events.length), n = events.length;
    for (const name of STACK) {
      if (state.hidden.has(name) || !step.present.includes(name)) continue;
      const bytes = step.curves[name];
      g.beginPath();
      g.moveTo(at(0), yOf(base[0]));
      for (let i = 0; i < n; ++i) {
        g.lineTo(at(i), yOf(base[i] + bytes[events[i]]));
        g.lineTo(at(i + 1), yOf(base[i] + bytes[events[i]]));
      }
      for (let i = n - 1; i >= 0; --i) {
        g.lineTo(at(i + 1), yOf(base[i]));
        g.lineTo(at(i), yOf(base[i]));
        base[i] += bytes[events[i]];
      }
      g.closePath();
      g.fillStyle = c[name];
      g.fill();
    }
  },

  line(g, events, at, yOf, bytes, style, dash) {
    g.beginPath();
    for (let i = 0; i < events.length; ++i) {
      g.lineTo(at(i), yOf(bytes[events[i]]));
      g.lineTo(at(i + 1), yOf(bytes[events[i]]));
    }
    g.strokeStyle = style;
    g.setLineDash(dash);
    g.lineWidth = 1;
    g.stroke();
    g.setLineDash([]);
  },

  phases(step, {g, w}, bottom) {
    const c = colors();
    let right = -Infinity;
    step.phases.forEach((phase, i) => {
      const x0 = Math.max(LEFT, xOf(phase.begin, w)), x1 = Math.min(w - RIGHT, xOf(phase.end, w));
      if (x1 <= x0) return;
      if (i % 2 === 0) {
        g.fillStyle = c.soft;
        g.fillRect(x0, TOP, x1 - x0, bottom - TOP);
      }
      const label = phase.micro > 0 || (step.phases[i + 2] && step.phases[i + 2].micro > 0) ? phase.name + " " + (phase.micro + 1) : phase.name;
      const wide = g.measureText(label).width, x = Math.min(x0 + 2, w - wide - 2);
      if (x < right + 6 || wide > x1 - x0 + 40) return;
      g.fillStyle = c.muted;
      g.textAlign = "left";
      g.fillText(label, x, TOP - 9);
      right = x + wide;
    });
  },

  axes(step, {g, w, h}, most, yOf, bottom) {
    const c = colors(), size = binaryStep(most, 6);
    g.fillStyle = c.muted;
    g.textAlign = "right";
    for (let bytes = 0; bytes <= most; bytes += size) {
      const y = yOf(bytes);
      g.fillText(bytes === 0 ? "0" : bytesText(bytes).replace(/\.0+ /, " "), LEFT - 6, y);
      g.globalAlpha = .35;
      g.fillRect(LEFT, Math.round(y) - .5, w - LEFT - RIGHT, .5);
      g.globalAlpha = 1;
    }
    g.textAlign = "center";
    const tick = Math.max(1, decimalStep(state.to - state.from, Math.max(2, w / 110)));
    for (let t = Math.ceil(state.from / tick) * tick; t <= state.to; t += tick) {
      const x = xOf(t, w);
      if (x > LEFT + 16 && x < w - 24) g.fillText(grouped(t), x, bottom + 10);
    }
    g.textAlign = "left";
    g.fillText("events", 4, bottom + 10);
    this.seconds(step, g, w, h);
  },

  // The second axis: the clock's estimate at the same places.
  seconds(step, g, w, h) {
    if (!step.seconds) return;
    const count = Math.max(2, Math.floor(w / 130));
    g.fillText("time", 4, h - 8);
    g.textAlign = "center";
    for (let i = 0; i <= count; ++i) {
      const x = LEFT + (w - LEFT - RIGHT) * i / count;
      if (i > 0 && i < count) g.fillText(secondsText(step.seconds(Math.min(step.events - 1, Math.floor(tOf(x, w))))), x, h - 8);
    }
  },

  limits(step, {g, w}, yOf, most) {
    const capacity = step.device.capacity_bytes, c = colors();
    if (!capacity || capacity > most) return;
    g.strokeStyle = c.bad;
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(LEFT, yOf(capacity));
    g.lineTo(w - RIGHT, yOf(capacity));
    g.stroke();
    g.fillStyle = c.bad;
    g.textAlign = "right";
    g.fillText("device " + bytesText(capacity), w - RIGHT - 4, yOf(capacity) + 9);
  },

  cursors(step, {g, w}, bottom, yOf) {
    const c = colors();
    const mark = (t, style, dash) => {
      const x = xOf(t + .5, w);
      if (x < LEFT || x > w - RIGHT) return null;
      g.strokeStyle = style;
      g.setLineDash(dash);
      g.lineWidth = 1;
      g.beginPath();
      g.moveTo(x, TOP);
      g.lineTo(x, bottom);
      g.stroke();
      g.setLineDash([]);
      return x;
    };
    const peak = mark(step.peak, c.muted, [2, 3]);
    if (peak !== null) {
      g.fillStyle = c.fg;
      const y = yOf(step.total[step.peak]);
      g.beginPath();
      g.moveTo(peak, y);
      g.lineTo(peak - 5, y - 8);
      g.lineTo(peak + 5, y - 8);
      g.fill();
      const label = "peak " + bytesText(step.device.peak.tensor_bytes), wide = g.measureText(label).width;
      g.textAlign = "left";
      const x = Math.max(LEFT + 2, Math.min(w - RIGHT - wide - 2, peak + 8));
      g.fillStyle = c.bg;
      g.globalAlpha = .8;
      g.fillRect(x - 2, Math.max(TOP, y - 15), wide + 4, 13);
      g.globalAlpha = 1;
      g.fillStyle = c.fg;
      g.fillText(label, x, Math.max(TOP + 6, y - 8));
    }
    mark(state.t, c.accent, []);
    if (state.hover >= 0) mark(state.hover, c.fg, [1, 2]);
    if (this.drag) {
      g.fillStyle = c.accent;
      g.globalAlpha = .2;
      g.fillRect(Math.min(this.drag.x0, this.drag.x1), TOP, Math.abs(this.drag.x1 - this.drag.x0), bottom - TOP);
      g.globalAlpha = 1;
    }
  },

  // The event under x: the fullest of its pixel.
  eventAt(x, w) {
    const step = state.step, per = (state.to - state.from) / (w - LEFT - RIGHT);
    const begin = Math.max(0, Math.min(step.events - 1, Math.floor(tOf(x, w)))), end = Math.min(step.events, begin + Math.max(1, Math.ceil(per)));
    let best = begin;
    for (let t = begin; t < end; ++t) {
      if (step.total[t] > step.total[best]) best = t;
    }
    return best;
  },

  tip(event, t) {
    const step = state.step;
    const row = (name, bytes, key) => el("tr", {}, el("td", {}, key ? swatch(name) : null, words(name)), el("td", N, bytesText(bytes)));
    const rows = [...STACK].reverse().filter(name => step.curves[name][t] > 0).map(name => row(name, step.curves[name][t], true));
    rows.push(row("live tensors", step.total[t]));
    if (step.allocated) rows.push(row("allocated", step.allocated[t]), row("reserved", step.reserved[t]));
    const largest = step.complete ? step.liveAt(t, filterTest(step)).slice(0, 5) : [];
    showTip(event, el("b", {}, step.place(t)), el("table", {}, ...rows), largest.length ? el("div", {class: "sub"}, "largest") : "",
      ...largest.map(life => el("div", {}, bytesText(step.lives.bytes[life]) + "  " + step.text(life).name)));
  },

  listen() {
    const canvas = $("curve");
    const at = event => event.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("pointerdown", event => {
      if (event.button === 0) this.drag = {x0: at(event), x1: at(event)};
    });
    window.addEventListener("pointermove", event => {
      if (!this.drag) return;
      this.drag.x1 = at(event);
      changed("hover");
    });
    window.addEventListener("pointercancel", () => { this.drag = null; });
    window.addEventListener("pointerup", event => {
      if (!this.drag) return;
      const {x0} = this.drag, x1 = at(event), w = canvas.clientWidth;
      this.drag = null;
      if (Math.abs(x1 - x0) > 6) setView(tOf(Math.max(LEFT, Math.min(x0, x1)), w), tOf(Math.min(w - RIGHT, Math.max(x0, x1)), w));
      else setTime(this.eventAt(x1, w));
    });
    canvas.addEventListener("pointermove", event => {
      const t = this.eventAt(at(event), canvas.clientWidth);
      if (t !== state.hover) {
        state.hover = t;
        changed("hover");
      }
      if (event.pointerType !== "touch") this.tip(event, t);
    });
    canvas.addEventListener("pointerleave", () => {
      state.hover = -1;
      hideTip();
      changed("hover");
    });
    canvas.addEventListener("dblclick", () => setView(0, state.step.events));
    wheelZoom(canvas);
  },
};
parts.push(curve);

// Ctrl and the wheel zoom, Shift and the wheel or a sideways wheel pan; the plain wheel scrolls the page.
function wheelZoom(canvas) {
  canvas.addEventListener("wheel", event => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY), x = event.clientX - canvas.getBoundingClientRect().left;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), tOf(x, canvas.clientWidth));
    else if (event.shiftKey || sideways) {
      const by = (sideways ? event.deltaX : event.deltaY) / canvas.clientWidth * (state.to - state.from);
      setView(state.from + by, state.to + by);
    } else return;
    event.preventDefault();
  }, {passive: false});
}
