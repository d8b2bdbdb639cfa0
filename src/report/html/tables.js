// Everything that is text: the answer, the device's bar, legend, list of what is alive, assumptions.
const ranksText = d => d.ranks.length <= 1 ? "rank " + (d.ranks[0] || 0)
  : d.ranks[d.ranks.length - 1] - d.ranks[0] + 1 === d.ranks.length ? `ranks ${d.ranks[0]}-${d.ranks[d.ranks.length - 1]}` : "ranks " + d.ranks.join(",");
const placeText = (phase, module) => module ? phase + " of " + module : phase;

function verdict(d) {
  const free = d.capacity_bytes - d.process_bytes;
  return d.fits ? `fits, ${bytesText(Math.max(0, free))} free` : free < 0 ? `does not fit, ${bytesText(-free)} too much` : "does not fit";
}

const head = {
  needs: [],
  draw() {
    const report = state.report, d = report.devices[state.rank], m = report.model;
    $("answer").replaceChildren(`peak ${bytesText(d.process_bytes)} of ${bytesText(d.capacity_bytes)} on ${ranksText(d)}, ` +
      placeText(d.peak.phase, d.peak.module) + ": ", el("span", {class: d.fits ? "good" : "bad"}, verdict(d)));
    $("break").textContent = d.breaks ? `it breaks in ${placeText(d.breaks.phase, d.breaks.module)} (${d.breaks.op}), asking for ` +
      `${bytesText(d.breaks.requested_bytes)} with ${bytesText(d.breaks.allocated_bytes)} in use` : "";
    const job = Object.entries(report.job).flatMap(([name, value]) => name === "bind"
      ? Object.entries(value).map(([dim, size]) => `${dim}=${size}`) : [`${words(name)} ${value}`]);
    $("job").textContent = [m.file.split("/").pop(), grouped(m.parameter_count) + " parameters", ...job, d.device].join(" \u00b7 ");
    document.title = "memcrest: " + m.file.split("/").pop();
    this.capacity(d);
  },

  capacity(d) {
    const whole = Math.max(d.capacity_bytes, d.process_bytes), meter = el("div", {class: "meter"});
    const piece = (bytes, title, style, name) => {
      if (bytes <= 0) return;
      const span = el("span", {title: `${title}: ${bytesText(bytes)}`, class: name});
      span.style.width = 100 * bytes / whole + "%";
      if (style) span.style.background = style;
      meter.append(span);
    };
    for (const name of STACK) piece(d.peak.by_category[name], words(name), `var(--${name})`);
    piece(d.peak.allocated_bytes - d.peak.tensor_bytes, "workspaces and kernels' scratch memory", "var(--workspace)");
    piece(d.reserved_bytes - d.peak.allocated_bytes, "reserved, not allocated at the peak", null, "lost");
    piece(d.process_bytes - d.reserved_bytes, "outside the allocator", null, "context");
    const figure = (name, bytes, title) => el("span", {title}, name, el("b", {"data-figure": name, "data-bytes": bytes}, bytesText(bytes)));
    const rest = [...d.process_parts.map(p => figure(p.name, p.likely_bytes, `${bytesText(p.low_bytes)} to ${bytesText(p.high_bytes)}`))];
    if (d.host_bytes > 0) rest.push(figure("host", d.host_bytes, "pinned or offloaded"));
    if (d.step_seconds > 0) rest.push(el("span", {}, "step", el("b", {}, secondsText(d.step_seconds))));
    $("capacity").replaceChildren(meter, el("div", {class: "figures"},
      figure("live tensors", d.peak.tensor_bytes, "storages at the peak, as a dispatcher counts them"),
      figure("allocated", d.peak.allocated_bytes, "torch.cuda.max_memory_allocated"),
      figure("reserved", d.reserved_bytes, "torch.cuda.max_memory_reserved"), figure("process", d.process_bytes, "nvidia-smi"), ...rest,
      ...Object.entries(d.phases).map(([name, live]) => figure(name + " peak", live.allocated_bytes, `live tensors ${bytesText(live.tensor_bytes)}`))));
  },
};
parts.push(head);

const instant = {
  needs: ["time", "filter"],
  draw() {
    const step = state.step, t = state.t;
    $("instant").textContent = (t === step.peak ? "At the peak" : "At event " + grouped(t)) + ": " + bytesText(step.total[t]) + " live";
    $("instant").dataset.bytes = step.total[t];
    $("instant").dataset.event = t;
    $("where").textContent = step.place(t) + (step.seconds ? ", after " + secondsText(step.seconds(t)) : "");
    const entries = [...STACK].reverse().filter(name => step.present.includes(name)).map(name => {
      const button = el("button", {"aria-pressed": String(!state.hidden.has(name)), "data-category": name, "data-bytes": step.curves[name][t]},
        swatch(name), el("span", {}, words(name)), el("span", {}, bytesText(step.curves[name][t])));
      button.addEventListener("click", () => {
        if (!state.hidden.delete(name)) state.hidden.add(name);
        changed("filter");
      });
      return button;
    });
    const line = (name, bytes) => el("div", {class: "muted"}, el("span", {}, name), el("span", {}, bytesText(bytes)));
    if (step.allocated) entries.push(line("allocated (line)", step.allocated[t]), line("reserved (dashed)", step.reserved[t]));
    $("legend").replaceChildren(...entries);
  },
};
parts.push(instant);

const LISTED = 300;
const list = {
  needs: ["time", "filter", "chosen"],

  draw() {
    const step = state.step;
    this.chosen(step);
    if (!step.complete) return this.fromPeak(step);
    const lives = step.liveAt(state.t, filterTest(step)), by = $("by").value;
    if (by === "tensor") this.tensors(step, lives);
    else this.groups(step, lives, by);
  },

  // Reports without storages: the largest tensors at the peak.
  fromPeak(step) {
    $("list").replaceChildren(table([["", "at the peak"], [N, "bytes"]], step.device.top_tensors.map(row =>
      [["", el("span", {}, swatch(row.category), row.name, el("div", {class: "sub"}, row.module))], [N, bytesText(row.bytes)]])));
  },

  tensors(step, lives) {
    const l = step.lives;
    const rows = lives.slice(0, LISTED).map(life => {
      const {name, module, op} = step.text(life);
      const row = el("tr", {"data-life": life, "data-bytes": l.bytes[life], class: life === state.chosen ? "on" : undefined},
        el("td", {}, swatch(CATEGORIES[step.categoryOf(life, state.t)]), name, el("div", {class: "sub"}, [module && !name.startsWith(module) ? module : "",
          op && !name.endsWith(op) && op !== "init" ? op : "", step.why(life, state.t)].filter(Boolean).join("; "))),
        el("td", N, bytesText(l.bytes[life])));
      row.addEventListener("click", () => {
        state.chosen = life;
        changed("chosen");
      });
      return row;
    });
    const sum = lives.reduce((bytes, life) => bytes + l.bytes[life], 0);
    this.show([grouped(lives.length) + " alive" + (lives.length > LISTED ? `, the ${LISTED} largest` : ""), bytesText(sum)], rows);
  },

  groups(step, lives, by) {
    const l = step.lives, groups = new Map();
    for (const life of lives) {
      const name = step.strings[by === "op" ? l.op[life] : l.module[life]];
      const group = groups.get(name) || {name, bytes: 0, count: 0};
      group.bytes += l.bytes[life];
      group.count += 1;
      groups.set(name, group);
    }
    const rows = [...groups.values()].sort((a, b) => b.bytes - a.bytes).slice(0, LISTED).map(group => {
      const row = el("tr", {"data-life": "", title: "filter by it"}, el("td", {}, group.name || "(outside of modules)", el("div", {class: "sub"},
        grouped(group.count) + (group.count === 1 ? " storage" : " storages"))), el("td", N, bytesText(group.bytes)));
      row.addEventListener("click", () => setFilter(group.name));
      return row;
    });
    this.show([grouped(groups.size) + (by === "op" ? " operators" : " modules"), ""], rows);
  },

  show([left, right], rows) {
    $("list").replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, left), el("th", N, right))), el("tbody", {}, ...rows)));
  },

  chosen(step) {
    const box = $("chosen"), life = state.chosen;
    box.hidden = life < 0 || !step.complete;
    if (box.hidden) return;
    const t = Math.max(0, Math.min(step.lives.dies[life] - 1, Math.max(step.lives.born[life], state.t)));
    const close = el("button", {title: "Esc"}, "Close");
    close.addEventListener("click", () => {
      state.chosen = -1;
      changed("chosen");
    });
    box.replaceChildren(close, ...storageTip(step, life, t));
  },
};
parts.push(list);

function setFilter(text) {
  $("filter").value = text;
  const sizes = text.split(/\s+/).filter(word => word.startsWith(">"));
  state.least = Math.max(0, ...sizes.map(word => parseBytes(word.slice(1)) || 0));
  state.filter = text.split(/\s+/).filter(word => !word.startsWith(">")).join(" ");
  changed("filter");
}

const notes = {
  needs: [],
  draw() {
    const report = state.report, sections = [];
    const section = (title, ...children) => sections.push(el("section", {}, el("h2", {}, title), ...children));
    if (report.assumptions.length) {
      section("Assumed", el("ul", {}, ...report.assumptions.map(a => el("li", {}, el("b", {}, a.code), " " + a.message +
        (a.bytes ? ` (${bytesText(a.bytes)})` : "")))));
    }
    if (report.unknown_ops.length) {
      section("Operators without a rule", el("p", {class: "muted"}, "their inputs and output are assumed saved"),
        table(["operator", [N, "times"], [N, "at the peak"]], report.unknown_ops.map(op => [op.op, [N, grouped(op.count)], [N, bytesText(op.bytes)]])));
    } else section("Operators without a rule", el("p", {class: "muted"}, "none"));
    if (report.devices.length > 1) this.devices(report, section);
    $("notes").replaceChildren(...sections);
  },

  devices(report, section) {
    section("All devices", table(["", [N, "allocated"], [N, "reserved"], [N, "process"], ""], report.devices.map(d =>
      [ranksText(d), [N, bytesText(d.peak.allocated_bytes)], [N, bytesText(d.reserved_bytes)], [N, bytesText(d.process_bytes)], verdict(d)])));
  },
};
parts.push(notes);
