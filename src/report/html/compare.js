// A second report beside this one: what rose, what fell, by figure, category and module; its curve over this one's.

// The report in a JSON file or inside a page made by --format html.
function reportIn(text) {
  const trimmed = text.trimStart();
  if (trimmed.startsWith("{")) return JSON.parse(trimmed);
  const page = new DOMParser().parseFromString(text, "text/html"), data = page.getElementById("report");
  if (!data) throw new Error("neither a JSON report nor a page of memcrest");
  return JSON.parse(data.textContent);
}

async function compareWith(file) {
  try {
    const report = reportIn(await file.text());
    if (report.schema !== state.report.schema || !report.devices) throw new Error("not a report of schema " + state.report.schema);
    state.other = {name: file.name, report, step: new Step(report.devices[0])};
  } catch (error) {
    state.other = {name: file.name, error: error.message};
  }
  changed("data");
}

// Where event t of this step would be in the other one: phases of one name are laid over each other.
function otherEvent(step, other, t) {
  const i = Math.max(0, lastAtMost(step.phases.map(p => p.begin), t)), mine = step.phases[i];
  const nth = step.phases.slice(0, i).filter(p => p.name === mine.name).length;
  const theirs = other.phases.filter(p => p.name === mine.name)[nth];
  if (!theirs) return -1;
  return Math.min(other.events - 1, Math.floor(theirs.begin + (t - mine.begin) / (mine.end - mine.begin) * (theirs.end - theirs.begin)));
}

function drawOther(step, {g, w}, yOf, bottom) {
  if (!state.other || state.other.error) return;
  const c = colors(), other = state.other.step;
  g.beginPath();
  let open = false;
  for (let x = LEFT; x <= w - RIGHT; ++x) {
    const t = otherEvent(step, other, Math.min(step.events - 1, Math.max(0, Math.floor(tOf(x, w)))));
    if (t < 0) {
      open = false;
      continue;
    }
    const y = Math.min(bottom, Math.max(TOP, yOf(other.total[t])));
    if (open) g.lineTo(x, y);
    else g.moveTo(x, y);
    open = true;
  }
  for (const [style, width] of [[c.bg, 5], [c.accent, 2]]) {  // a rim keeps it apart from the areas
    g.strokeStyle = style;
    g.lineWidth = width;
    g.stroke();
  }
}

// Bytes at the peak by module; modules that differ in numbers only are one.
function patternBytes(device) {
  const sums = new Map();
  for (const row of device.top_modules) {
    const name = row.module.split(".").map(part => /^\d+$/.test(part) ? "*" : part).join(".");
    sums.set(name, (sums.get(name) || 0) + row.bytes);
  }
  return sums;
}

const comparison = {
  needs: [],
  draw() {
    const box = $("comparison"), other = state.other;
    box.hidden = !other;
    if (!other) return;
    const close = el("button", {}, "End comparison");
    close.addEventListener("click", () => {
      state.other = null;
      changed("data");
    });
    const title = el("div", {class: "bar"}, el("h2", {}, other.error ? `${other.name}: ${other.error}` : "Compared with " + other.name +
      " (its live tensors: the line over the curve)"), close);
    box.replaceChildren(title);
    if (!other.error) box.append(this.settings(other.report), el("div", {class: "grids"}, ...this.tables(other.report)));
  },

  settings(other) {
    const flat = report => ({...Object.fromEntries(Object.entries(report.job.bind || {}).map(([k, v]) => [k, String(v)])),
      ...Object.fromEntries(Object.entries(report.job).filter(([k]) => k !== "bind")), file: report.model.file.split("/").pop()});
    const a = flat(state.report), b = flat(other), names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(k => a[k] !== b[k]);
    return el("p", {class: "muted"}, names.length ? "different: " + names.map(k => `${words(k)} ${a[k] || "-"} here, ${b[k] || "-"} there`).join("; ")
      : "the jobs have the same settings");
  },

  tables(other) {
    const a = state.report.devices[state.rank], b = other.devices[0];
    const row = (name, x, y) => [name, [N, bytesText(x)], [N, bytesText(y)], [{class: "n " + (y > x ? "bad" : y < x ? "good" : "")}, y === x ? "=" : signed(y - x)]];
    const headOf = name => [name, [N, "here"], [N, "there"], [N, "difference"]];
    const figures = [["process", "process_bytes"], ["reserved", "reserved_bytes"]].map(([name, key]) => row(name, a[key], b[key]));
    figures.push(row("allocated", a.peak.allocated_bytes, b.peak.allocated_bytes), row("live tensors", a.peak.tensor_bytes, b.peak.tensor_bytes));
    const categories = CATEGORIES.filter(name => a.peak.by_category[name] || b.peak.by_category[name])
      .map(name => row(words(name), a.peak.by_category[name], b.peak.by_category[name]));
    const mine = patternBytes(a), theirs = patternBytes(b);
    const names = [...new Set([...mine.keys(), ...theirs.keys()])], change = name => Math.abs((theirs.get(name) || 0) - (mine.get(name) || 0));
    const changedModules = names.filter(name => change(name) > 0).sort((x, y) => change(y) - change(x)).slice(0, 12)
      .map(name => row(name || "(outside of modules)", mine.get(name) || 0, theirs.get(name) || 0));
    return [table(headOf(""), figures), table(headOf("at the peak"), categories), table(headOf("modules that differ most"), changedModules)];
  },
};
parts.push(comparison);
