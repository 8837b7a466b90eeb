// What moves in a report: the colours' button, sorting and searching tables, timelines, boxes on
// pictures. Everything else is there without it. Texts of the page are only ever set as textContent.
"use strict";

const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

// ---- Colours: the system's choice until the button is pressed; printing is always light.
function startColours() {
  const sheet = document.getElementById("dark");
  const night = window.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("colours");
  let wish = null;  // null: the system's
  const isDark = () => (wish === null ? night.matches : wish === "dark");
  const show = () => {
    sheet.media = wish === null ? "screen and (prefers-color-scheme: dark)" : wish === "dark" ? "screen" : "not all";
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Show in light colours" : "Show in dark colours");
    document.dispatchEvent(new Event("colours"));
  };
  button.hidden = false;
  button.addEventListener("click", () => { wish = isDark() ? "light" : "dark"; show(); });
  night.addEventListener("change", show);
  show();
}

// ---- Tables
function startTable(card) {
  const table = card.querySelector("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const order = new Map(rows.map((row, i) => [row, i]));
  const heads = all("thead th", table);
  // A cell's own value where it has one, else its text; what has none comes last, up or down.
  const value = (row, column) => {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent.trim();
  };
  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), undefined, { numeric: true });
  };
  function sort(column, direction) {
    const numbers = heads[column].classList.contains("n");
    const missing = (v) => v === "" || v === "\u2013" || Number.isNaN(v) || (numbers && typeof v !== "number");
    rows.sort((x, y) => {
      const a = value(x, column), b = value(y, column);
      if (missing(a) || missing(b)) return missing(a) - missing(b) || order.get(x) - order.get(y);
      return direction * compare(a, b) || order.get(x) - order.get(y);
    });
    body.append(...rows);
  }
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = head.classList.contains("n") ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const now = head.getAttribute("aria-sort");
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      if (now === second) {  // the third press gives back the order it came in
        rows.sort((x, y) => order.get(x) - order.get(y));
        body.append(...rows);
        return;
      }
      const next = now === first ? second : first;
      head.setAttribute("aria-sort", next);
      sort(column, next === "ascending" ? 1 : -1);
    });
  });
  const search = card.querySelector(".search");
  if (search) {
    const count = card.querySelector(".shown");
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    search.hidden = false;
    search.addEventListener("input", () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((w) => texts.get(row).includes(w));
        if (!row.hidden) ++shown;
      }
      count.textContent = shown === rows.length ? `${rows.length} rows` : `${shown} of ${rows.length} rows`;
    });
  }
}

// ---- Timelines
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];
function unitOf(ns) { return UNITS.find(([size]) => ns >= size) || UNITS[3]; }
function duration(ns) {
  const [size, name] = unitOf(ns);
  const v = ns / size;
  return `${v.toFixed(v >= 100 ? 1 : v >= 10 ? 2 : 3)} ${name}`;
}

class Timeline {
  constructor(figure) {
    this.figure = figure;
    this.data = JSON.parse(figure.querySelector(".data").textContent);
    this.rows = figure.querySelector(".rows");
    this.tell = figure.querySelector(".tell");
    this.canvases = all(".track canvas", figure);  // [0] is the axis
    this.end = this.data.end || 1;
    this.from = 0;
    this.to = this.end;
    this.chosen = -1;  // a task
    this.tracks = this.data.tracks.map((spans) => {
      let longest = 0;
      for (let i = 1; i < spans.length; i += 5) longest = Math.max(longest, spans[i]);
      return { spans, count: spans.length / 5, longest };
    });
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.rows);
    document.addEventListener("colours", () => this.draw());
    this.hint = this.tell.textContent;
  }

  colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  context(canvas) {
    const scale = window.devicePixelRatio || 1;
    const box = canvas.getBoundingClientRect();
    const width = Math.round(box.width * scale), height = Math.round(box.height * scale);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    const c = canvas.getContext("2d");
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.clearRect(0, 0, box.width, box.height);
    return [c, box.width, box.height];
  }

  // Index of the first span that may reach past `time`.
  first(track, time) {
    let low = 0, high = track.count;
    const start = time - track.longest;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (track.spans[middle * 5] < start) low = middle + 1; else high = middle;
    }
    return low;
  }

  draw() {
    this.drawAxis();
    this.tracks.forEach((track, i) => this.drawTrack(track, i));
  }

  drawAxis() {
    const [c, width, height] = this.context(this.canvases[0]);
    if (!width) return;
    const span = this.to - this.from;
    const most = Math.max(2, Math.floor(width / 76));
    let step = Math.pow(10, Math.floor(Math.log10(span / most)));
    for (const f of [1, 2, 5, 10]) {
      if (span / (step * f) <= most) { step *= f; break; }
    }
    const [size, name] = unitOf(this.to);
    const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / size) + 1e-9)));
    c.font = "12px system-ui, sans-serif";
    c.fillStyle = this.colour("--quiet");
    c.strokeStyle = this.colour("--line");
    c.textBaseline = "middle";
    let taken = -1;  // up to where labels are
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = (t - this.from) / span * width;
      const text = `${(t / size).toFixed(digits)} ${name}`;
      const wide = c.measureText(text).width;
      const left = Math.min(Math.max(0, x + (x < 2 ? 0 : 4)), width - wide);
      if (left > taken) {
        c.fillText(text, left, height / 2);
        taken = left + wide + 6;
      }
      c.beginPath(); c.moveTo(x + 0.5, 2); c.lineTo(x + 0.5, height); c.stroke();
    }
  }

  drawTrack(track, index) {
    const [c, width, height] = this.context(this.canvases[index + 1]);
    if (!width) return;
    const hue = this.colour(`--${this.data.hues[index]}`);
    const chosen = this.colour("--link"), paper = this.colour("--surface"), text = this.colour("--text");
    const { spans } = track;
    const scale = width / (this.to - this.from);
    const thin = new Float32Array(Math.ceil(width) + 1);  // how full a pixel is of spans too short to see
    const chosenThin = new Uint8Array(thin.length);
    c.font = "11.5px system-ui, sans-serif";
    c.textBaseline = "middle";
    for (let i = this.first(track, this.from); i < track.count; ++i) {
      const start = spans[i * 5], length = spans[i * 5 + 1], name = spans[i * 5 + 2], task = spans[i * 5 + 3];
      if (start > this.to) break;
      const x0 = (start - this.from) * scale, x1 = x0 + length * scale;
      if (x1 < 0) continue;
      const on = this.chosen >= 0 && task === this.chosen;
      if (x1 - x0 < 1.5) {
        const p = Math.max(0, Math.floor(x0));
        if (p < thin.length) {
          thin[p] += Math.max(x1 - x0, 0.06);
          if (on) chosenThin[p] = 1;
        }
        continue;
      }
      const left = Math.max(0, x0), right = Math.min(width, x1);
      const gap = right - left > 4 ? 1 : 0;
      // Full where the track worked all along; paler where an aggregated stretch was partly idle.
      c.globalAlpha = (this.chosen >= 0 && !on ? 0.35 : 1) * (0.25 + 0.75 * spans[i * 5 + 4]) * (task & 1 ? 0.72 : 1);
      c.fillStyle = on ? chosen : hue;
      c.fillRect(left, 1, right - left - gap, height - 2);
      c.globalAlpha = 1;
      if (right - left > 46) this.write(c, this.data.names[name], left + 5, right - 5, height, paper, text);
    }
    for (let p = 0; p < thin.length; ++p) {
      if (!thin[p]) continue;
      c.globalAlpha = Math.max(0.2, Math.min(1, thin[p])) * (this.chosen >= 0 && !chosenThin[p] ? 0.4 : 1);
      c.fillStyle = chosenThin[p] ? chosen : hue;
      c.fillRect(p, 1, 1, height - 2);
    }
    c.globalAlpha = 1;
  }

  // A name on a plate of paper, so that it reads on every colour.
  write(c, text, left, right, height, paper, colour) {
    let shown = text;
    const room = right - left;
    let wide = c.measureText(shown).width;
    if (wide > room) {
      const keep = Math.floor(shown.length * (room - 10) / wide);
      if (keep < 3) return;
      shown = shown.slice(0, keep) + "\u2026";
      wide = c.measureText(shown).width;
    }
    c.globalAlpha = 0.86;
    c.fillStyle = paper;
    c.fillRect(left - 3, 3.5, wide + 6, height - 7);
    c.globalAlpha = 1;
    c.fillStyle = colour;
    c.fillText(shown, left, height / 2 + 0.5);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    const least = Math.max(this.end / 1e6, 5);
    const span = Math.min(this.end, Math.max(least, (this.to - this.from) * factor));
    const share = (at - this.from) / (this.to - this.from);
    this.show(at - share * span, span);
  }
  show(from, span) {
    this.from = Math.max(0, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.draw();
  }
  pan(share) { this.show(this.from + share * (this.to - this.from), this.to - this.from); }

  box() { return this.canvases[0].getBoundingClientRect(); }
  timeAt(clientX) {
    const box = this.box();
    return this.from + (clientX - box.left) / box.width * (this.to - this.from);
  }

  // The span under a point: [track, index] or null. A short one counts when it is within 3 pixels.
  spanAt(clientX, clientY) {
    const row = this.canvases.findIndex((canvas) => {
      const box = canvas.parentElement.getBoundingClientRect();
      return clientY >= box.top && clientY < box.bottom;
    });
    if (row < 1) return null;
    const track = this.tracks[row - 1], time = this.timeAt(clientX);
    const slack = 3 * (this.to - this.from) / this.box().width;
    let best = null, distance = slack;
    for (let i = this.first(track, time - slack); i < track.count; ++i) {
      const start = track.spans[i * 5], end = start + track.spans[i * 5 + 1];
      if (start > time + slack) break;
      const d = time < start ? start - time : time > end ? time - end : 0;
      if (d <= distance) { best = [row - 1, i]; distance = d; }
    }
    return best;
  }

  say(hit) {
    this.tell.textContent = "";
    if (!hit) { this.tell.textContent = this.hint; return; }
    const [track, i] = hit, s = this.tracks[track].spans;
    const busy = s[i * 5 + 4];
    this.tell.append(make("b", "", this.data.names[s[i * 5 + 2]]), document.createElement("br"),
      `${this.data.labels[track]}: ${duration(s[i * 5 + 1])} from ${duration(s[i * 5])}` +
      (busy < 0.9995 ? `, busy ${(100 * busy).toFixed(1)} % of it` : "") + ` (${this.data.kind})`);
  }

  choose(hit) {
    this.chosen = hit ? this.tracks[hit[0]].spans[hit[1] * 5 + 3] : -1;
    this.say(hit);
    this.draw();
    all("tr.marked").forEach((row) => row.classList.remove("marked"));
    if (this.chosen >= 0 && this.figure.id) {
      all(`tr[data-of="${this.figure.id}"][data-task="${this.chosen}"]`).forEach((row) => row.classList.add("marked"));
    }
  }

  // Goes through the spans of the first track.
  step(by) {
    const track = this.tracks[0];
    let i = -1;
    for (let k = 0; k < track.count; ++k) if (track.spans[k * 5 + 3] === this.chosen) { i = k; break; }
    i = Math.max(0, Math.min(track.count - 1, i < 0 && by < 0 ? track.count - 1 : i + by));
    if (track.count === 0) return;
    const start = track.spans[i * 5], length = track.spans[i * 5 + 1];
    if (start < this.from || start + length > this.to) this.show(start + length / 2 - (this.to - this.from) / 2, this.to - this.from);
    this.choose([0, i]);
  }

  listen() {
    const { rows } = this;
    const points = new Map();
    let moved = 0, apart = 0;
    rows.addEventListener("pointerdown", (e) => {
      points.set(e.pointerId, e.clientX);
      moved = points.size > 1 ? 99 : 0;
      if (points.size === 2) { const [a, b] = points.values(); apart = Math.abs(a - b); }
    });
    rows.addEventListener("pointermove", (e) => {
      if (!points.has(e.pointerId)) { if (this.chosen < 0) this.say(this.spanAt(e.clientX, e.clientY)); return; }
      const by = e.clientX - points.get(e.pointerId);
      points.set(e.pointerId, e.clientX);
      moved += Math.abs(by);
      if (points.size === 2) {
        const [a, b] = points.values();
        const now = Math.max(20, Math.abs(a - b));
        if (apart) this.zoom(Math.max(20, apart) / now, this.timeAt((a + b) / 2));
        apart = now;
      } else if (moved > 4) {
        if (!rows.hasPointerCapture(e.pointerId)) rows.setPointerCapture(e.pointerId);
        rows.classList.add("moving");
        this.pan(-by / this.box().width);
      }
    });
    const up = (e) => {
      const known = points.delete(e.pointerId);
      rows.classList.remove("moving");
      if (known && e.type === "pointerup" && moved <= 4) this.choose(this.spanAt(e.clientX, e.clientY));
    };
    rows.addEventListener("pointerup", up);
    rows.addEventListener("pointercancel", up);
    rows.addEventListener("pointerleave", () => { if (this.chosen < 0) this.say(null); });
    rows.addEventListener("dblclick", (e) => this.zoom(0.4, this.timeAt(e.clientX)));
    rows.addEventListener("wheel", (e) => {
      if (e.ctrlKey || e.metaKey) {
        e.preventDefault();
        this.zoom(Math.exp(Math.max(-50, Math.min(50, e.deltaY)) / 120), this.timeAt(e.clientX));
      } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
        e.preventDefault();
        this.pan(e.deltaX / this.box().width);
      }
    }, { passive: false });
    rows.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      const act = {
        ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15),
        "+": () => this.zoom(0.6), "=": () => this.zoom(0.6), "-": () => this.zoom(1 / 0.6),
        0: () => this.show(0, this.end), Home: () => this.show(0, this.end),
        n: () => this.step(1), p: () => this.step(-1), Escape: () => this.choose(null),
      }[e.key];
      if (act) { e.preventDefault(); act(); }
    });
    const [out, into, fit] = all(".tools button", this.figure);
    out.addEventListener("click", () => this.zoom(1 / 0.5));
    into.addEventListener("click", () => this.zoom(0.5));
    fit.addEventListener("click", () => this.show(0, this.end));
  }
}

// ---- Pictures: a box and its line light up together.
function startPicture(figure) {
  const svg = figure.querySelector("svg"), said = figure.querySelector(".said");
  const boxes = all(".box", figure), lines = all(".lines li", figure);
  const { width, height } = svg.viewBox.baseVal;
  new ResizeObserver(() => {
    const box = svg.getBoundingClientRect();
    svg.style.setProperty("--unit", String(Math.max(width / Math.max(1, box.width), height / Math.max(1, box.height))));
  }).observe(svg);
  let kept = -1;
  const show = (i) => {
    boxes.forEach((b, k) => b.classList.toggle("on", k === i));
    lines.forEach((l, k) => l.classList.toggle("on", k === i));
    said.textContent = i < 0 ? "" : lines[i].querySelector("bdi").textContent;
  };
  const keep = (i) => { kept = kept === i ? -1 : i; show(kept); };
  boxes.forEach((box, i) => {
    box.addEventListener("pointerenter", () => show(i));
    box.addEventListener("pointerleave", () => show(kept));
    box.addEventListener("click", () => keep(i));
  });
  lines.forEach((line, i) => {
    const button = line.querySelector("button");
    button.addEventListener("pointerenter", () => show(i));
    button.addEventListener("pointerleave", () => show(kept));
    button.addEventListener("focus", () => show(i));
    button.addEventListener("blur", () => show(kept));
    button.addEventListener("click", () => keep(i));
  });
}

document.addEventListener("DOMContentLoaded", () => {
  startColours();
  all(".table").forEach(startTable);
  all(".timeline").forEach((figure) => new Timeline(figure));
  all(".picture").forEach(startPicture);
  window.addEventListener("beforeprint", () => all("details").forEach((d) => { d.open = true; }));
});
