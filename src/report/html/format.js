// Texts: figures as the text report writes them, and elements without innerHTML (names come from users' files).
const CATEGORIES = ["parameters", "buffers", "inputs", "gradients", "optimizer_state", "activations", "temporaries", "communication",
  "workspace"];
// From the bottom of the stack: what stays, then what comes and goes.
const STACK = ["parameters", "buffers", "optimizer_state", "gradients", "inputs", "communication", "activations", "workspace", "temporaries"];
const PHASES = ["init", "forward", "backward", "optimizer", "evaluation"];
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

function bytesText(bytes) {
  if (bytes < 0) return "-" + bytesText(-bytes);
  if (bytes < 1024) return bytes + " B";
  let unit = 0;
  while (bytes >= 1023.95 && unit + 1 < UNITS.length) {
    bytes /= 1024;
    ++unit;
  }
  return bytes.toFixed(bytes < 10 ? 2 : 1) + " " + UNITS[unit];
}

const signed = bytes => (bytes > 0 ? "+" : "") + bytesText(bytes);
const grouped = n => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const percent = (part, whole) => whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "";
const words = name => name.replace(/_/g, " ");

// Three digits that count: "1.20 s", "214 ms".
function secondsText(s) {
  const [value, unit] = s >= 1 ? [s, " s"] : s >= 1e-3 ? [s * 1e3, " ms"] : [s * 1e6, " us"];
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + unit;
}

// "1.5 GiB", "200 MB", ">4k" -> bytes; NaN if it is not a size.
function parseBytes(text) {
  const m = /^([\d.]+)\s*([kmgt]?)i?b?$/i.exec(text.trim());
  return m ? Number(m[1]) * 1024 ** " kmgt".indexOf((m[2] || " ").toLowerCase()) : NaN;
}

const $ = id => document.getElementById(id);

// el("td", {class: "n"}, "text", child ...)
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

function swatch(category) {
  const key = el("span", {class: "key"});
  key.style.background = `var(--${category})`;
  return key;
}

function table(head, rows) {
  const cells = (tag, row) => el("tr", {}, ...row.map(cell => el(tag, typeof cell === "string" ? {} : cell[0],
    typeof cell === "string" ? cell : cell[1])));
  return el("table", {}, el("thead", {}, cells("th", head)), el("tbody", {}, ...rows.map(row => cells("td", row))));
}
const N = {class: "n"};
