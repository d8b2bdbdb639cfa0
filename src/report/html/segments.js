// The caching allocator at the chosen instant: segments laid out like lines of a text, blocks in their category's colour, holes hatched.
const segments = {
  needs: ["time", "chosen"],
  boxes: [],

  // [{segment, blocks: [life], holes: [[address, bytes]]}]
  layout(step, t) {
    const {address, bytes, slack} = step.lives;
    const blocks = step.liveAt(t, life => address[life] >= 0).sort((a, b) => address[a] - address[b]);
    let next = 0;
    return step.segmentsAt(t).map(segment => {
      const inside = [], holes = [], end = segment.address + segment.bytes;
      let at = segment.address;
      for (; next < blocks.length && address[blocks[next]] < end; ++next) {
        const life = blocks[next];
        if (address[life] > at) holes.push([at, address[life] - at]);
        inside.push(life);
        at = address[life] + bytes[life] + slack[life];
      }
      if (at < end) holes.push([at, end - at]);
      return {segment, blocks: inside, holes};
    });
  },

  draw() {
    const step = state.step;
    $("segments-section").hidden = !step.complete || !step.segments.event.length;
    if ($("segments-section").hidden) return;
    const list = this.layout(step, state.t), total = list.reduce((sum, s) => sum + s.segment.bytes, 0);
    this.note(step, list, total);
    const {g, w, h} = canvasOf("segments"), c = colors(), lines = Math.max(1, Math.floor(h / 20)), scale = lines * w / Math.max(1, total);
    this.boxes = [];
    const hatch = this.hatch(g, c);
    const paint = (from, bytes, style, life, hole) => {
      let x = from * scale;
      const end = (from + bytes) * scale;
      while (x < end) {
        const line = Math.min(lines - 1, Math.floor(x / w + 1e-9)), stop = Math.min(end, (line + 1) * w);
        if (stop <= x) break;
        const box = {x: x - line * w, y: line * 20, w: stop - x, life, hole};
        g.fillStyle = style;
        g.fillRect(box.x, box.y, Math.max(.3, box.w - (box.w > 3 ? .7 : 0)), 15);
        if (life === state.chosen && life >= 0) {
          g.strokeStyle = c.fg;
          g.lineWidth = 2;
          g.strokeRect(box.x, box.y, box.w, 15);
        }
        this.boxes.push(box);
        x = stop;
      }
    };
    let start = 0;
    for (const {segment, blocks, holes} of list) {
      for (const life of blocks)
        paint(start + step.lives.address[life] - segment.address, step.lives.bytes[life] + step.lives.slack[life], c[CATEGORIES[step.categoryOf(life, state.t)]], life);
      for (const [address, bytes] of holes) paint(start + address - segment.address, bytes, hatch, -1, bytes);
      const x = start * scale, line = Math.floor(x / w + 1e-9);
      g.fillStyle = c.fg;
      if (segment.bytes * scale > 3) g.fillRect(x - line * w, line * 20 - 1, 1, 17);
      start += segment.bytes;
    }
  },

  hatch(g, c) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 6;
    const p = tile.getContext("2d");
    p.fillStyle = c.bg;
    p.fillRect(0, 0, 6, 6);
    p.strokeStyle = c.muted;
    p.lineWidth = 1;
    p.beginPath();
    p.moveTo(0, 6);
    p.lineTo(6, 0);
    p.stroke();
    return g.createPattern(tile, "repeat");
  },

  note(step, list, total) {
    const holes = list.flatMap(s => s.holes.map(hole => hole[1])), free = holes.reduce((a, b) => a + b, 0), largest = Math.max(0, ...holes);
    const whole = list.filter(s => s.blocks.length === 0).reduce((sum, s) => sum + s.segment.bytes, 0);
    $("segments-title").textContent = "Allocator " + (state.t === step.peak ? "at the peak" : "at event " + grouped(state.t));
    $("segments-note").textContent = `${bytesText(total)} reserved in ${grouped(list.length)} segments, ${bytesText(total - free)} allocated; ` +
      `${bytesText(free)} free in ${grouped(holes.length)} holes, the largest ${bytesText(largest)}` +
      (whole > 0 ? `; ${bytesText(whole)} in empty segments, which the allocator can give back` : "");
  },

  listen() {
    const canvas = $("segments");
    const hit = event => {
      const at = canvas.getBoundingClientRect(), x = event.clientX - at.left, y = event.clientY - at.top;
      return this.boxes.find(box => x >= box.x && x < box.x + Math.max(1, box.w) && y >= box.y && y < box.y + 17);
    };
    canvas.addEventListener("pointermove", event => {
      const box = hit(event);
      if (!box) hideTip();
      else if (box.life < 0) showTip(event, "hole of " + bytesText(box.hole));
      else showTip(event, ...storageTip(state.step, box.life, state.t));
    });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("click", event => {
      const box = hit(event);
      state.chosen = box ? box.life : -1;
      changed("chosen");
    });
  },
};
parts.push(segments);
