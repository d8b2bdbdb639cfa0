// Starts the page: reads the report, fills the controls, listens to keys.
function chooseRank(rank) {
  state.rank = Math.max(0, Math.min(state.report.devices.length - 1, rank));
  state.step = new Step(state.report.devices[state.rank]);
  state.chosen = state.hover = -1;
  state.from = 0;
  state.to = state.step.events;
  state.t = state.step.peak;
  $("most").value = state.step.count > 10000 ? "s2000" : "s400";
  $("rank").value = String(state.rank);
  changed("data");
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  palette = null;
  changed("data");
}

function move(event, by) {
  const large = Math.max(1, Math.round((state.to - state.from) / 50));
  setTime(state.t + by * (event.shiftKey ? large : 1));
}

const KEYS = {
  ArrowLeft: event => move(event, -1),
  ArrowRight: event => move(event, 1),
  "+": () => zoom(.5),
  "=": () => zoom(.5),
  "-": () => zoom(2),
  0: () => setView(0, state.step.events),
  p: () => setTime(state.step.peak),
  "[": () => chooseRank(state.rank - 1),
  "]": () => chooseRank(state.rank + 1),
  "/": () => $("filter").focus(),
  "?": () => $("help").click(),
  t: () => $("theme").click(),
  Escape: () => {
    state.chosen = -1;
    setFilter("");
    changed("chosen");
  },
};

function listenToKeys() {
  document.addEventListener("keydown", event => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
    const action = KEYS[event.key] || KEYS[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    if (typing) event.target.blur();
    action(event);
  });
}

function listenToDrops() {
  $("compare").addEventListener("click", () => $("other").click());
  $("other").addEventListener("change", () => {
    if ($("other").files[0]) compareWith($("other").files[0]);
    $("other").value = "";
  });
  document.addEventListener("dragover", event => {
    event.preventDefault();
    $("drop").hidden = false;
  });
  document.addEventListener("dragleave", event => {
    if (!event.relatedTarget) $("drop").hidden = true;
  });
  document.addEventListener("drop", event => {
    event.preventDefault();
    $("drop").hidden = true;
    if (event.dataTransfer.files[0]) compareWith(event.dataTransfer.files[0]);
  });
}

function listenToControls() {
  $("rank").append(...state.report.devices.map((d, i) => el("option", {value: i}, `${ranksText(d)}: ${bytesText(d.process_bytes)}`)));
  $("ranks").hidden = state.report.devices.length < 2;
  $("rank").addEventListener("change", () => chooseRank(Number($("rank").value)));
  $("zoom-in").addEventListener("click", () => zoom(.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("zoom-all").addEventListener("click", () => setView(0, state.step.events));
  $("to-peak").addEventListener("click", () => setTime(state.step.peak));
  $("filter").addEventListener("input", () => setFilter($("filter").value));
  $("by").addEventListener("change", () => changed("filter"));
  $("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  $("help").addEventListener("click", () => {
    $("keys").hidden = !$("keys").hidden;
    $("help").setAttribute("aria-expanded", String(!$("keys").hidden));
  });
}

function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  state.report = JSON.parse($("report").textContent);
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  listenToControls();
  listenToKeys();
  listenToDrops();
  for (const part of parts) {
    if (part.listen) part.listen();
  }
  let width = 0;  // heights change with what is drawn
  new ResizeObserver(() => {
    if (document.body.clientWidth !== width) changed("data");
    width = document.body.clientWidth;
  }).observe(document.body);
  let before = "light";
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    setTheme("light");
    parts.forEach(part => part.draw());
  });
  window.addEventListener("afterprint", () => setTheme(before));
  chooseRank(0);
}
start();
