// Modules at the chosen instant as an icicle: parents above children, as wide as what they hold; a strip shows the categories.
const ROW = 26;

function moduleTree(step, t) {
  const root = {name: "", path: "", bytes: 0, count: 0, by: new Float64Array(CATEGORIES.length), children: new Map()};
  const add = (node, bytes, category) => {
    node.bytes += bytes;
    node.count += 1;
    node.by[category] += bytes;
  };
  const place = (path, bytes, category) => {
    let node = root;
    add(node, bytes, category);
    for (const name of path ? path.split(".") : ["(outside of modules)"]) {
      if (!node.children.has(name)) {
        const below = node.path ? node.path + "." + name : name;
        node.children.set(name, {name, path: below, bytes: 0, count: 0, by: new Float64Array(CATEGORIES.length), children: new Map()});
      }
      node = node.children.get(name);
      add(node, bytes, category);
    }
  };
  if (step.complete) {
    const l = step.lives;
    for (const life of step.liveAt(t, life => l.seen[life] !== 1 && !state.hidden.has(CATEGORIES[l.category[life]])))
      place(step.strings[l.module[life]], l.bytes[life], step.categoryOf(life, t));
  } else {
    for (const row of step.device.top_modules) place(row.module, row.bytes, CATEGORIES.indexOf("activations"));
  }
  return root;
}

// Links with one child and nothing of their own are one row: "model.model".
function folded(node) {
  let name = node.name, at = node;
  while (at.children.size === 1) {
    const [child] = at.children.values();
    if (child.bytes !== at.bytes) break;
    name = name ? name + "." + child.name : child.name;
    at = child;
  }
  return {...at, name, children: [...at.children.values()].map(folded).sort((a, b) => b.bytes - a.bytes)};
}

const modules = {
  needs: ["time", "filter", "modules"],
  zoomed: "", cells: [], hover: null,

  draw() {
    const step = state.step, tree = folded(moduleTree(step, state.t)), root = this.find(tree, this.zoomed) || tree;
    const at = state.t === step.peak ? "at the peak" : "at event " + grouped(state.t);
    $("modules-title").textContent = "Modules " + (step.complete ? at : "at the peak");
    this.crumbs(tree, root);
    $("modules").dataset.root = root.path;
    const depth = Math.min(9, this.depth(root));
    $("modules").style.height = depth * ROW + 2 + "px";
    const {g, w} = canvasOf("modules");
    this.cells = [];
    this.cell(g, root, 0, w, 0, tree.bytes);
  },

  depth(node) { return 1 + Math.max(0, ...node.children.map(child => this.depth(child))); },

  find(node, path) {
    if (node.path === path) return node;
    for (const child of node.children) {
      if (path === child.path || path.startsWith(child.path + ".")) return this.find(child, path);
    }
    return null;
  },

  cell(g, node, x, w, level, whole) {
    if (w < .5 || level >= 9) return;
    const c = colors(), y = level * ROW;
    this.cells.push({node, x, w, y});
    const on = this.hover === node.path && node.path !== "";
    g.fillStyle = on ? c.line : level % 2 ? c.panel : c.soft;
    g.fillRect(x, y, Math.max(.5, w - 1), ROW - 1);
    let at = x;
    for (const name of STACK) {
      const part = node.by[CATEGORIES.indexOf(name)] / node.bytes * Math.max(.5, w - 1);
      g.fillStyle = c[name];
      g.fillRect(at, y + ROW - 6, part, 5);
      at += part;
    }
    g.fillStyle = c.fg;
    g.textAlign = "left";
    const name = node.name || "everything", full = name + "  " + bytesText(node.bytes);
    const label = g.measureText(full).width <= w - 8 ? full : fitted(g, name, w - 6);
    if (label) g.fillText(label, x + 4, y + 10);
    let below = x;
    for (const child of node.children) {
      const wide = child.bytes / node.bytes * w;
      this.cell(g, child, below, wide, level + 1, whole);
      below += wide;
    }
  },

  crumbs(tree, root) {
    const list = [el("button", {}, "everything")];
    list[0].addEventListener("click", () => this.zoom(""));
    if (root !== tree) list.push(el("span", {class: "muted"}, root.path));
    $("crumbs").replaceChildren(...list);
    $("crumbs").hidden = root === tree;
  },

  zoom(path) {
    this.zoomed = this.zoomed === path ? "" : path;
    changed("modules");
  },

  hit(event) {
    const box = $("modules").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    return this.cells.find(cell => x >= cell.x && x < cell.x + cell.w && y >= cell.y && y < cell.y + ROW);
  },

  listen() {
    const canvas = $("modules");
    canvas.addEventListener("pointermove", event => {
      const cell = this.hit(event), path = cell ? cell.node.path : null;
      if (path !== this.hover) {
        this.hover = path;
        changed("modules");
      }
      if (!cell) return hideTip();
      const {node} = cell, by = [...STACK].reverse().filter(name => node.by[CATEGORIES.indexOf(name)] > 0);
      showTip(event, el("b", {}, node.path || "everything"), el("div", {class: "sub"}, bytesText(node.bytes) + ", " + percent(node.bytes,
        this.cells[0].node.bytes) + " of this view, " + grouped(node.count) + (node.count === 1 ? " storage" : " storages")),
      el("table", {}, ...by.map(name => el("tr", {}, el("td", {}, swatch(name), words(name)), el("td", N, bytesText(node.by[CATEGORIES.indexOf(name)]))))));
    });
    canvas.addEventListener("pointerleave", () => {
      this.hover = null;
      hideTip();
      changed("modules");
    });
    canvas.addEventListener("click", event => {
      const cell = this.hit(event);
      if (cell) this.zoom(cell.node.path);
    });
    canvas.addEventListener("keydown", event => {
      if (event.key === "Escape") this.zoom("");
    });
  },
};
parts.push(modules);
