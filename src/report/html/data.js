// The report's data made ready to draw. A Step answers: how much at an event, what is alive, what ran.

// The last index with list[index] <= value; -1 if there is none.
function lastAtMost(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

class Step {
  // `device`: an entry of the report's devices. Without its storages the thinned timeline serves.
  constructor(device) {
    this.device = device;
    this.complete = Boolean(device.step);
    if (this.complete) this.fromStep(device.step);
    else this.fromTimeline(device.timeline);
    this.total = new Float64Array(this.events);
    for (const name of CATEGORIES) {
      const bytes = this.curves[name];
      for (let t = 0; t < this.events; ++t) this.total[t] += bytes[t];
    }
    this.present = CATEGORIES.filter(name => this.curves[name].some(bytes => bytes > 0));
    this.peak = this.complete ? device.peak_event : this.total.indexOf(Math.max(...this.total));
  }

  fromTimeline(timeline) {
    this.events = timeline.event.length;
    this.curves = {};
    for (const name of CATEGORIES) this.curves[name] = Float64Array.from(timeline[name]);
    this.allocated = this.reserved = null;
    this.lives = {born: [], dies: [], bytes: [], category: []};
    this.count = 0;
    this.phases = [];
    timeline.phase.forEach((name, t) => {
      const last = this.phases[this.phases.length - 1];
      if (last && last.name === name) last.end = t + 1;
      else this.phases.push({name, begin: t, end: t + 1});
    });
    this.spans = {begin: []};
  }

  fromStep(step) {
    this.events = step.events;
    this.strings = step.strings;
    const l = step.lives;
    this.count = l.born.length;
    this.lives = {
      born: Int32Array.from(l.born), dies: Int32Array.from(l.dies), bytes: Float64Array.from(l.bytes), slack: Float64Array.from(l.slack),
      address: Float64Array.from(l.address), category: Uint8Array.from(l.category), seen: Uint8Array.from(l.seen),
      name: Int32Array.from(l.name), module: Int32Array.from(l.module), op: Int32Array.from(l.op),
    };
    this.changes = new Map();  // life -> [[event, category], ...]
    step.changes.life.forEach((life, i) => {
      if (!this.changes.has(life)) this.changes.set(life, []);
      this.changes.get(life).push([step.changes.event[i], step.changes.category[i]]);
    });
    this.spans = step.spans;
    this.segments = step.segments;
    if (step.clock && step.clock.event.length > 1) this.seconds = t => interpolated(step.clock.event, step.clock.nanoseconds, t) / 1e9;
    this.makeCurves();
    this.makePhases();
  }

  makeCurves() {
    const n = this.events, l = this.lives;
    const deltas = CATEGORIES.map(() => new Float64Array(n + 1));
    this.allocated = new Float64Array(n + 1);
    for (let i = 0; i < this.count; ++i) {
      const born = Math.max(0, l.born[i]), dies = l.dies[i];
      if (l.seen[i] !== 2) {
        this.allocated[born] += l.bytes[i] + l.slack[i];
        this.allocated[dies] -= l.bytes[i] + l.slack[i];
      }
      if (l.seen[i] === 1) continue;
      let category = l.category[i];
      deltas[category][born] += l.bytes[i];
      for (const [event, next] of this.changes.get(i) || []) {
        deltas[category][event] -= l.bytes[i];
        deltas[category = next][event] += l.bytes[i];
      }
      deltas[category][dies] -= l.bytes[i];
    }
    this.reserved = new Float64Array(n + 1);
    const size = new Map();
    this.segments.event.forEach((event, i) => {
      const address = this.segments.address[i];
      this.reserved[Math.max(0, event)] += this.segments.bytes[i] - (size.get(address) || 0);
      size.set(address, this.segments.bytes[i]);
    });
    this.curves = {};
    for (const [c, name] of CATEGORIES.entries()) this.curves[name] = summed(deltas[c], n);
    this.allocated = summed(this.allocated, n);
    this.reserved = summed(this.reserved, n);
  }

  makePhases() {
    this.phases = [];
    const s = this.spans;
    for (let i = 0; i < s.begin.length; ++i) {
      const last = this.phases[this.phases.length - 1];
      const name = PHASES[s.phase[i]], micro = s.micro[i];
      if (last && last.name === name && last.micro === micro) continue;
      if (last) last.end = s.begin[i];
      this.phases.push({name, micro, begin: last ? s.begin[i] : 0, end: this.events});
    }
  }

  categoryOf(life, t) {
    let category = this.lives.category[life];
    const changes = this.changes.get(life);
    for (const [event, next] of changes || []) {
      if (event <= t) category = next;
    }
    return category;
  }

  phaseAt(t) {
    const at = lastAtMost(this.phases.map(p => p.begin), t);
    return this.phases[Math.max(0, at)] || {name: "", begin: 0, end: 0};
  }

  // What ran at event t: {op, module, phase, recompute}.
  ranAt(t) {
    const i = lastAtMost(this.spans.begin, t);
    if (i < 0) return {op: "", module: "", phase: this.phaseAt(t).name, recompute: false};
    const s = this.spans;
    return {op: this.strings[s.op[i]], module: this.strings[s.module[i]], phase: PHASES[s.phase[i]], recompute: s.pass[i] === 2, begin: s.begin[i]};
  }

  // Storages alive at event t for which keep(life) holds, largest first.
  liveAt(t, keep) {
    const {born, dies, bytes} = this.lives, alive = [];
    for (let i = 0; i < this.count; ++i) {
      if (born[i] <= t && dies[i] > t && (!keep || keep(i))) alive.push(i);
    }
    return alive.sort((a, b) => bytes[b] - bytes[a] || a - b);
  }

  text(life) {
    const l = this.lives;
    return {name: this.strings[l.name[life]], module: this.strings[l.module[life]], op: this.strings[l.op[life]]};
  }

  // "backward of model.lm_head, _log_softmax"
  place(t) {
    if (t < 0) return "before the step";
    if (t >= this.events) return "after the step";
    const ran = this.ranAt(t);
    return (ran.recompute ? "recomputation" : ran.phase) + (ran.module ? " of " + ran.module : "") + (ran.op ? ", " + ran.op : "");
  }

  // Why a storage is alive for so long.
  why(life, t) {
    const {born, dies, seen} = this.lives, category = CATEGORIES[this.categoryOf(life, t)];
    if (category === "parameters" || category === "buffers") return "belongs to the model";
    if (category === "optimizer_state") return "optimizer state stays from step to step";
    if (dies[life] >= this.events) return "still referred to when the step ends";
    if (born[life] < 0) return "left by the step before; dropped in " + this.place(dies[life]);
    if (seen[life] === 1) return "a kernel's own scratch memory, seen by the allocator only";
    const from = this.ranAt(born[life]), to = this.ranAt(dies[life]);
    if (category === "gradients") return "a gradient until " + to.phase + " is done with it";
    if (from.phase === "forward" && to.phase === "backward") return "kept for backward of " + (to.module || to.op) + " (" + to.op + ")";
    if (from.phase === to.phase) return "needed until " + this.place(dies[life]);
    return "referred to until " + this.place(dies[life]);
  }

  // [{address, bytes, small}] at event t, by address.
  segmentsAt(t) {
    const s = this.segments, now = new Map();
    for (let i = 0; i < s.event.length && s.event[i] <= t; ++i) now.set(s.address[i], {address: s.address[i], bytes: s.bytes[i], small: s.small[i]});
    return [...now.values()].filter(segment => segment.bytes > 0).sort((a, b) => a.address - b.address);
  }
}

// ys at x, for xs that rise.
function interpolated(xs, ys, x) {
  const i = Math.max(0, Math.min(xs.length - 2, lastAtMost(xs, x))), share = (x - xs[i]) / (xs[i + 1] - xs[i]);
  return ys[i] + Math.max(0, Math.min(1, share)) * (ys[i + 1] - ys[i]);
}

function summed(deltas, n) {
  for (let t = 1; t < n; ++t) deltas[t] += deltas[t - 1];
  return deltas.subarray(0, n);
}
