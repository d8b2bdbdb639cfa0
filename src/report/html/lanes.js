// Storages from birth to death, one bar each; by address the bars are as tall as they are large, so that holes show.
const DARK_TEXT = ["optimizer_state", "temporaries", "inputs", "buffers", "workspace"];  // light bars
const lanes = {
  needs: ["time", "view", "filter", "chosen", "hover"],
  key: "", rows: [], places: null,

  // The storages shown, in order of rows: those alive in view; "of the step" leaves out what is there throughout.
  choose(step) {
    const order = $("order").value, which = $("most").value, most = Number(which.replace("s", ""));
    const key = [state.rank, state.from, state.to, order, which, state.filter, state.least, [...state.hidden].join()].join("|");
    if (key === this.key && this.step === step) return;
    this.key = key;
    this.step = step;
    const {born, dies, bytes, module} = step.lives, match = filterTest(step), changing = which.startsWith("s");
    const keep = i => born[i] < state.to && dies[i] > state.from && (!changing || born[i] >= 0 || dies[i] < step.events) && match(i);
    let rows = [];
    for (let i = 0; i < step.count; ++i) {
      if (keep(i)) rows.push(i);
    }
    this.left = rows.length;
    if (most > 0 && rows.length > most) rows = rows.sort((a, b) => bytes[b] - bytes[a] || a - b).slice(0, most);
    const sorts = {
      birth: (a, b) => born[a] - born[b] || dies[b] - dies[a] || a - b,
      size: (a, b) => bytes[b] - bytes[a] || born[a] - born[b] || a - b,
      module: (a, b) => module[a] - module[b] || born[a] - born[b] || a - b,
      address: (a, b) => a - b,
    };
    this.rows = rows.sort(sorts[order]);
    this.places = order === "address" ? addressPlaces(step) : null;
    this.rowOf = new Map(this.rows.map((life, row) => [life, row]));
  },

  rowHeight(h) {
    const chosen = Number($("height").value);
    return chosen > 0 ? chosen : Math.max(.15, Math.min(15, h / Math.max(1, this.rows.length)));
  },

  draw() {
    const step = state.step;
    $("lanes-section").hidden = !step.complete;
    if (!step.complete) return;
    this.choose(step);
    const scroll = $("lanes-scroll"), shown = scroll.clientHeight;
    const rowHeight = this.rowHeight(shown);
    $("lanes-space").style.height = (this.places ? shown : Math.max(shown, this.rows.length * rowHeight)) + "px";
    const view = canvasOf("lanes"), {g, w, h} = view, c = colors();
    const clip = new Path2D();
    clip.rect(LEFT, 0, w - LEFT - RIGHT, h);
    g.save();
    g.clip(clip);
    if (this.places) this.byAddress(step, view);
    else this.byRow(step, view, rowHeight, scroll.scrollTop);
    this.cursor(g, w, h, c);
    g.restore();
    const which = $("most").value.startsWith("s") ? " storages made or dropped in the step" : " storages";
    $("lanes-note").textContent = (this.rows.length < this.left ? `the ${grouped(this.rows.length)} largest of ` : "") + grouped(this.left) + which +
      (state.filter || state.least ? " that match the filter" : "") + (state.to - state.from < step.events ? ", alive in view" : "");
  },

  byRow(step, {g, w, h}, rowHeight, top) {
    const {born, dies} = step.lives, c = colors();
    const first = Math.floor(top / rowHeight), last = Math.min(this.rows.length, Math.ceil((top + h) / rowHeight));
    const paths = CATEGORIES.map(() => new Path2D()), tall = Math.max(1, rowHeight - (rowHeight >= 3 ? 1 : 0));
    const labels = [];
    for (let row = first; row < last; ++row) {
      const life = this.rows[row];
      if (dies[life] <= state.from || born[life] >= state.to) continue;
      const x0 = Math.max(LEFT, xOf(Math.max(0, born[life]), w)), x1 = Math.min(w - RIGHT, xOf(dies[life], w)), y = row * rowHeight - top;
      paths[step.categoryOf(life, Math.min(dies[life], state.to) - 1)].rect(x0, y, Math.max(1, x1 - x0), tall);
      if (rowHeight >= 13) labels.push([life, x0, x1, y + tall / 2]);
    }
    CATEGORIES.forEach((name, i) => {
      g.fillStyle = c[name];
      g.fill(paths[i]);
    });
    g.textAlign = "left";
    for (const [life, x0, x1, y] of labels) this.label(g, step, life, x0, x1, y, w, c);
    const chosen = this.rowOf.get(state.chosen);
    if (chosen !== undefined) this.outline(g, step, state.chosen, chosen * rowHeight - top, Math.max(3, tall), w, c);
  },

  // Inside the bar in the page's colour where it fits, else beside it.
  label(g, step, life, x0, x1, y, w, c) {
    const {name, module} = step.text(life), text = name + "  " + bytesText(step.lives.bytes[life]) + (module && !name.startsWith(module) ? "  " + module : "");
    const inside = fitted(g, text, x1 - x0 - 8), beside = x1 - x0 < 120 ? fitted(g, text, w - RIGHT - x1 - 8) : "";
    g.fillStyle = beside ? c.muted : DARK_TEXT.includes(CATEGORIES[step.lives.category[life]]) ? "#101418" : "#fff";
    if (beside) g.fillText(beside, x1 + 4, y);
    else if (inside) g.fillText(inside, x0 + 4, y);
  },

  outline(g, step, life, y, tall, w, c) {
    const x0 = xOf(Math.max(0, step.lives.born[life]), w), x1 = xOf(step.lives.dies[life], w);
    g.strokeStyle = c.fg;
    g.lineWidth = 2;
    g.strokeRect(x0, y, Math.max(2, x1 - x0), tall);
  },

  byAddress(step, {g, w, h}) {
    const {born, dies, bytes, address} = step.lives, c = colors(), places = this.places, scale = h / places.total;
    g.fillStyle = c.soft;
    for (const span of places.reserved) {
      const x0 = Math.max(LEFT, xOf(span.from, w)), x1 = Math.min(w - RIGHT, xOf(span.to, w));
      if (x1 > x0) g.fillRect(x0, span.at * scale, x1 - x0, Math.max(.5, span.bytes * scale));
    }
    const paths = CATEGORIES.map(() => new Path2D());
    for (const life of this.rows) {
      if (address[life] < 0 || dies[life] <= state.from || born[life] >= state.to) continue;
      const x0 = Math.max(LEFT, xOf(Math.max(0, born[life]), w)), x1 = Math.min(w - RIGHT, xOf(dies[life], w));
      const y = places.of(address[life]) * scale, tall = bytes[life] * scale;
      paths[step.categoryOf(life, Math.min(dies[life], state.to) - 1)].rect(x0, y, Math.max(.7, x1 - x0), Math.max(.4, tall - (tall > 3 ? .6 : 0)));
    }
    CATEGORIES.forEach((name, i) => {
      g.fillStyle = c[name];
      g.fill(paths[i]);
    });
    if (state.chosen >= 0 && address[state.chosen] >= 0)
      this.outline(g, step, state.chosen, places.of(address[state.chosen]) * scale, Math.max(3, bytes[state.chosen] * scale), w, c);
  },

  cursor(g, w, h, c) {
    const line = (t, style) => {
      g.fillStyle = style;
      g.fillRect(xOf(t + .5, w) - .5, 0, 1, h);
    };
    line(state.t, c.accent);
    if (state.hover >= 0) line(state.hover, c.muted);
  },

  // The storage at a point; -1 if there is none.
  hit(x, y) {
    const canvas = $("lanes"), t = tOf(x, canvas.clientWidth), step = state.step, {born, dies, bytes, address} = step.lives;
    const slack = 2 * (state.to - state.from) / canvas.clientWidth, alive = life => born[life] <= t + slack && dies[life] > t - slack;
    if (this.places) {
      const at = y / canvas.clientHeight * this.places.total;
      const found = this.rows.find(life => {
        if (address[life] < 0 || !alive(life)) return false;
        const begin = this.places.of(address[life]);
        return begin <= at && at < begin + bytes[life];
      });
      return found === undefined ? -1 : found;
    }
    const rowHeight = this.rowHeight(canvas.clientHeight), row = Math.floor((y + $("lanes-scroll").scrollTop) / rowHeight);
    const reach = Math.max(1, Math.ceil(2 / rowHeight));
    for (let by = 0; by < reach; ++by) {
      for (const near of [row - by, row + by]) {
        if (near >= 0 && near < this.rows.length && alive(this.rows[near])) return this.rows[near];
      }
    }
    return -1;
  },

  listen() {
    const canvas = $("lanes"), at = event => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointermove", event => {
      const life = this.hit(...at(event)), t = Math.floor(tOf(at(event)[0], canvas.clientWidth));
      if (life >= 0) showTip(event, ...storageTip(state.step, life, Math.min(t, state.step.lives.dies[life] - 1)));
      else hideTip();
      state.hover = t >= 0 && t < state.step.events ? t : -1;
      changed("hover");
    });
    canvas.addEventListener("pointerleave", () => {
      state.hover = -1;
      hideTip();
      changed("hover");
    });
    canvas.addEventListener("click", event => {
      state.chosen = this.hit(...at(event));
      setTime(tOf(at(event)[0], canvas.clientWidth));
      changed("chosen");
    });
    $("lanes-scroll").addEventListener("scroll", () => changed("view"));
    for (const id of ["order", "most", "height"]) $(id).addEventListener("change", () => changed("filter"));
    wheelZoom(canvas);
  },
};
parts.push(lanes);

// All segments of the step one below the other, without the gaps between them: {total, of(address), reserved: spans in time}.
function addressPlaces(step) {
  const s = step.segments, most = new Map(), history = new Map();
  s.event.forEach((event, i) => {
    most.set(s.address[i], Math.max(most.get(s.address[i]) || 0, s.bytes[i]));
    if (!history.has(s.address[i])) history.set(s.address[i], []);
    history.get(s.address[i]).push([Math.max(0, event), s.bytes[i]]);
  });
  const starts = [...most.keys()].sort((a, b) => a - b), at = [];
  let total = 0;
  for (const start of starts) {
    at.push(total);
    total += most.get(start);
  }
  const reserved = [];
  starts.forEach((start, i) => {
    const list = history.get(start);
    list.forEach(([event, bytes], k) => {
      if (bytes > 0) reserved.push({from: event, to: k + 1 < list.length ? list[k + 1][0] : step.events, at: at[i], bytes});
    });
  });
  return {total: Math.max(1, total), reserved, of(address) {
    const i = Math.max(0, lastAtMost(starts, address));
    return at[i] + address - starts[i];
  }};
}
