// motion(run, o) is a picture of a run that moves, as an element. It reads the data of package motion and nothing else.
//
//	o.listings        the code that run.calls name
//	o.part            which part of the page's width there is for it; 1 without
//	o.board           the lock in a few lines: clients stand at them, and the code that run.calls name is shown on request
//	o.code            the element in which the code is shown; without, it stands beside the lines
//	o.still           the end of the run, without anything to play it with
//	o.fold            the lines of the run are shown on request
//	o.verdict         it opens at its verdict, and not at its end
//	o.acts            what can happen next, as {client, node, message, said, fault, go}: a click on
//	                  what it acts on calls go
//	o.onward()        is called when it is played beyond its end, and o.halt() when it is stopped
//	o.speed           how fast it plays, and o.onspeed(speed) when that is changed
//	o.sizes, o.set    what can be dragged: {pause, skew, jump, drift} in ns; set(name, ns) when it was
//
// The element has the methods key(event), which says whether it has used a key, toggle(), where() and goTo(share), and
// playFrom(event). Where events stand, what is folded, and where time is cut, the data say.
const MOTION = {
  clients: [], // their colours, which package motion adds
  bar: 24, node: 30, gap: 46, left: 80, top: 58, right: 24,
};

// paint is the colour of a client, in the picture, the cards and the lines.
const paint = (client) => MOTION.clients[(client - 1) % MOTION.clients.length];

// tone is the class in which verdicts are written: harm; mild for a wait that ends; calm for an overlap after which
// no data was lost; quiet where nothing was tested; none for HOLDS.
function tone(verdicts) {
  const only = (...words) => verdicts.every((v) => words.includes(v));
  if (only("HOLDS")) return "";
  if (only("VACUOUS", "UNKNOWN", "N/A")) return "quiet";
  if (only("ORPHAN", "BLOCKED", "HOLDS")) return "mild";
  return verdicts.includes("FENCED") && only("OVERLAP", "FENCED", "ORPHAN", "BLOCKED") ? "calm" : "harm";
}

const widthOf = (text, letter) => [...text].reduce((sum, c) => sum + (c > "\u2e80" ? 2 : 1) * letter, 0); // Chinese letters are wide
const ms = (us) => (Math.round(us / 100) / 10).toLocaleString("en", { useGrouping: false });

function motion(run, o = {}) {
  const node = (name, attributes = {}, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const k in attributes) e.setAttribute(k, attributes[k]);
    e.append(...children);
    return e;
  };
  // ---- instants and places ---------------------------------------------------------
  let sum = 0;
  const T = run.at.map((d) => (sum += d)); // when event i happens
  const live = Boolean(o.acts); // the run goes on: from now, which may be after its last event
  if (run.end > sum) T.push(run.end);
  const last = T.length - 1, X = run.x.slice(0, T.length);
  const room = Math.max(560, Math.min(parseFloat(getComputedStyle(document.body).maxWidth) || 1190, document.documentElement.clientWidth - 60) * (o.part ?? 1) / (document.body.classList.contains("large") ? 1.25 : 1));
  const stretch = Math.max(1, Math.min(4, (room - MOTION.left - MOTION.right) / Math.max(X[last] ?? 0, 1))); // a short run fills the page
  X.forEach((x, i) => { X[i] = x * stretch; });
  const right = live ? 96 : MOTION.right;
  const total = Math.max(MOTION.left + X[last] + right, live ? room / 1.15 : 0), edgeX = total - MOTION.left;
  const limit = live ? edgeX : X[last] + MOTION.right; // of labels
  // xOf is where an instant is; between two events time runs evenly.
  const xOf = (t) => {
    let i = T.findIndex((u) => u >= t);
    if (i < 0) return X[last];
    if (T[i] === t || i === 0) return X[i];
    return X[i - 1] + ((t - T[i - 1]) / (T[i] - T[i - 1])) * (X[i] - X[i - 1]);
  };
  const eventAt = (x) => { let i = 0; while (i < last && X[i + 1] <= x + 1e-6) i++; return i; };
  const timeAt = (x) => {
    const i = eventAt(x);
    return i === last || X[i + 1] === X[i] ? T[i] : T[i] + ((x - X[i]) / (X[i + 1] - X[i])) * (T[i + 1] - T[i]);
  };
  const stateAt = (event) => run.states.findLast((s) => s.e <= event) ?? run.states[0];
  const ends = run.states.map((s, n) => (n + 1 < run.states.length ? X[run.states[n + 1].e] : X[last]));

  // ---- lanes: half of the clients above the servers, the others below --------------------
  const shown = [];
  for (let c = 1; c <= run.clients; c++) {
    if (c !== run.probe || run.states.some((s) => s.c[c - 1] !== "idle")) shown.push(c);
  }
  const above = shown.slice(0, Math.ceil(shown.length / 2)), below = shown.slice(above.length);
  const laneOf = {}, nodeOf = {};
  let y = MOTION.top;
  for (const c of above) { y += 18; laneOf[c] = y; y += MOTION.bar + 8; }
  y += MOTION.gap - 22;
  const each = run.bands.length > 3 ? 18 : MOTION.node;
  for (const b of run.bands) { for (const n of b.n) nodeOf[n] = y; y += each + 5; }
  y += MOTION.gap - 22;
  for (const c of below) { laneOf[c] = y; y += MOTION.bar + 22; }
  const axis = y + 16, height = axis + 22; // above the axis stand the lengths of overlaps

  const svg = node("svg", { class: "motion-picture", role: "img", "aria-label": `${run.lock}: ${run.verdicts.join(" ")}` });
  const all = node("g", { transform: `translate(${MOTION.left} 0)` });
  const put = (name, attributes, ...children) => { const e = node(name, attributes, ...children); all.append(e); return e; };
  const label = (x, yy, text, className, anchor = "start") => put("text", { x, y: yy, class: className, "text-anchor": anchor }, text);
  const id = "m" + Math.random().toString(36).slice(2, 8), beginOf = (m) => Math.max(xOf(m.f), ...[m, ...run.faults ?? []].filter((f) => T[f.e] === m.f && f.e <= m.e).map((f) => X[f.e])); // at the event, of several at one instant
  svg.append(node("defs", {},
    node("pattern", { id: id + "p", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      node("rect", { width: 7, height: 7, class: "motion-hatch-ground" }), node("rect", { width: 2.6, height: 7, class: "motion-hatch" }))), all);

  // ---- overlap: under everything, in red --------------------------------------------------
  for (const m of run.marks ?? []) {
    for (const c of m.c ?? []) if (laneOf[c]) put("rect", { x: beginOf(m), y: laneOf[c] - 4, width: Math.max(0, xOf(m.t) - beginOf(m)), height: MOTION.bar + 8, class: "motion-overlap" });
    if (m.w !== "OVERLAP" || m.t <= m.f) continue;
    const a = beginOf(m), b = xOf(m.t);
    put("rect", { x: a, y: MOTION.top - 4, width: b - a, height: axis - MOTION.top + 4, class: "motion-overlap" });
    if (b - a > 60) label((a + b) / 2, axis - 5, `${m.w} ${ms((m.t - m.f) / 1e3)} s`, "motion-harm motion-small", "middle");
  }

  // ---- clients ---------------------------------------------------------------------------
  const grips = []; // the ends of pauses
  const indexAt = (x) => X.findIndex((y) => y >= x - 1e-6);
  for (const c of shown) {
    const yy = laneOf[c];
    put("line", { x1: 0, x2: live ? edgeX : X[last], y1: yy + MOTION.bar / 2, y2: yy + MOTION.bar / 2, class: "motion-rail" });
    let from = 0;
    run.states.forEach((s, n) => {
      const what = s.c[c - 1], next = run.states[n + 1]?.c[c - 1];
      if (next === what) return;
      const first = from, a = X[run.states[from].e], b = ends[n];
      from = n + 1;
      if (what === "idle" || what === "veiled" || b <= a) return;
      const [stage, paused] = what.split("/");
      const inside = stage === "inside" || stage === "leaving";
      const bar = put("rect", { x: a, y: yy, width: b - a, height: MOTION.bar, rx: 3, class: "motion-bar motion-" + stage });
      if (inside) { bar.style.fill = paint(c); }
      if (stage !== "dead") bar.style.stroke = paint(c);
      if (paused) put("rect", { x: a, y: yy, width: b - a, height: MOTION.bar, rx: 3, fill: `url(#${id}p)`, class: "motion-paused" });
      const text = stage === "dead" ? "✕ " + say("motion.stage.dead") : say(paused ? "motion.paused" : "motion.stage." + stage);
      if (paused && o.sizes?.pause) grips.push({ a, b, yy, lasts: T[indexAt(b)] - T[run.states[first].e] });
      if (b - a > widthOf(text, 6.5) + 8) {
        label(a + 5, yy + MOTION.bar / 2 + 4, text, "motion-inbar" + (inside && !paused ? " motion-onpaint" : ""));
      }
    });
  }

  // ---- servers: whose the key is, and how much of its lease is left ---------------------------
  const sharp = [...run.faults ?? [], ...run.marks ?? []].map((f) => f.e); // instants that the axis names
  for (const { n: [n] } of run.bands) {
    const yy = nodeOf[n];
    put("rect", { x: 0, y: yy, width: live ? edgeX : X[last], height: each, class: "motion-node" });
    if (n > 0) run.states.forEach((s, i) => {
      const k = s.k[n - 1], a = X[s.e], b = ends[i];
      if (b <= a) return;
      if (k.d) { put("rect", { x: a, y: yy, width: b - a, height: each, fill: `url(#${id}p)`, class: "motion-down" }); return; }
      if (!k.h) return;
      const left = (x) => (k.u < 0 ? 1 : Math.max(0, Math.min(1, (k.u - timeAt(x)) / (run.ttl || 1))));
      const points = [[a, yy + each]];
      for (const x of [a, ...X.filter((x) => x > a && x < b), b - 1e-3]) points.push([x, yy + each * (1 - 0.92 * left(x))]);
      points.push([b, yy + each]);
      const lease = put("polygon", { points: points.map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), class: "motion-lease" });
      lease.style.fill = k.o ? paint(k.o) : "var(--faint)";
      const before = run.states[i - 1]?.k[n - 1];
      if (k.u >= 0 && T[run.states[i + 1]?.e] === k.u) {
        sharp.push(run.states[i + 1].e);
        put("line", { x1: b, x2: b, y1: yy, y2: yy + each, class: "motion-expiry" });
        if (each > 20 && b - a > 70) label(b - 4, yy + 13, say("motion.expiry"), "motion-small", "end");
      }
      if (each > 20 && (!before || before.o !== k.o || !before.h) && X[last] - a > 30) label(a + 4, yy + each - 6, k.o ? "c" + k.o : "?", "motion-inbar motion-owner");
    });
  }

  // ---- messages ------------------------------------------------------------------------------
  const latest = {}, free = {}; // by lane, where the next label may begin
  let before = ""; // what the label before says
  for (const m of run.messages) if (m.n > 0) (m.round = latest[m.c] = latest[m.c]?.every((o) => o.w === m.w && o.n !== m.n) ? latest[m.c] : []).push(m);
  const flying = []; // messages that are on their way: where they began, and from which height to which
  const actsOn = (what) => (o.acts ?? []).filter((a) => Object.entries(what).every(([k, v]) => a[k] === v));
  for (const m of run.messages) {
    const to = nodeOf[m.n], from = laneOf[m.c];
    if (from === undefined) continue;
    const up = above.includes(m.c), out = m.s < 0 ? m.a : m.s;
    const stored = m.n < 0 && m.a >= 0;
    const round = m.round ?? [], won = round.find((o) => !["nil", "0", undefined].includes(o.p))?.p;
    const votes = round.some((o) => o.p !== m.p) && won ? say("motion.votes", { n: round.filter((o) => o.p === won).length, of: round.length, reply: won }) : m.p ?? "";
    const tip = plain(m.h > m.k && m.k ? say("motion.fenced", { token: m.k, newest: m.h })
      : m.k && m.w === "WRITE" ? say("motion.token", { reply: m.p, token: m.k })
      : m.n < 0 ? `${say("motion." + m.w.toLowerCase())} ${m.p === "refused" ? say("motion.refused") : m.p ?? "…"}`
      : (m.r >= 0 ? `${m.w} → ${votes}` : `${m.w} ${m.l ? "✕" : "…"}`) + (m.x ? ` ×${m.x}` : ""));
    if (to !== undefined) {
      const edge = up ? from + MOTION.bar : from, target = up ? to : to + each;
      const arrow = (x1, y1, x2, y2, className) => {
        const line = put("line", { x1, y1, x2, y2, class: "motion-message " + className }, node("title", {}, tip));
        line.style.stroke = paint(m.c);
        const turn = Math.atan2(y2 - y1, x2 - x1), p = (d) => `${x2 - 6 * Math.cos(turn + d)},${y2 - 6 * Math.sin(turn + d)}`;
        const head = put("polygon", { points: `${x2},${y2} ${p(0.4)} ${p(-0.4)}` });
        head.style.fill = paint(m.c);
      };
      const cross = (x, yy) => label(x, yy + 4, "✕", "motion-harm motion-small", "middle");
      const middle = (edge + target) / 2;
      if (m.s >= 0 && m.a >= 0) arrow(X[m.s], edge, X[m.a], target, "");
      else if (live && m.s >= 0 && !m.l) flying.push([m, X[m.s], edge, target]);
      else if (m.s >= 0) { put("line", { x1: X[m.s], y1: edge, x2: X[m.s] + 6, y2: middle, class: "motion-message" }).style.stroke = paint(m.c); if (m.l) cross(X[m.s] + 7, middle); }
      if (m.a >= 0 && m.r >= 0) arrow(X[m.a], target, X[m.r], edge, "motion-reply");
      else if (live && m.a >= 0 && actsOn({ message: m.i }).length) flying.push([m, X[m.a], target, edge]);
      else if (m.a >= 0 && m.l) { put("line", { x1: X[m.a], y1: target, x2: X[m.a] + 6, y2: middle, class: "motion-message motion-reply" }).style.stroke = paint(m.c); cross(X[m.a] + 7, middle); }
    }
    if (out < 0) continue;
    const lane = m.n < 0 ? -1 : m.c, x = X[stored ? m.a : out], at = stored ? x + 7 : x;
    const place = (text) => { const long = widthOf(text, 5.6), end = at + long > limit; return { text, long, end, begin: end ? at - long : at }; };
    const next = stored ? Math.min(...run.messages.filter((o) => o.n < 0 && o.a > m.a).map((o) => X[o.a])) - 6 : Infinity;
    const shown = [tip, ...(stored && m.p ? [m.p] : [])].map(place).find((l) => l.begin >= (free[lane] ?? -1e9) && l.begin + l.long < next);
    const yy = stored ? nodeOf[-1] + each / 2 + 4 : up ? from - 7 : from + MOTION.bar + 12;
    if (stored) put("circle", { cx: x, cy: yy - 4, r: 3.4, class: m.p === "refused" ? "motion-refused" : m.w === "WRITE" ? "motion-write" : "motion-read" });
    if (m.n < 0 && !stored || !shown || m.n > 0 && !m.x && before === m.c + tip) continue;
    before = m.c + tip; // a label where there is room for one, and for what it is about
    free[lane] = shown.begin + shown.long + 10;
    label(shown.end ? x - 7 : at, yy, shown.text, m.p === "refused" ? "motion-calm motion-small" : "motion-small", shown.end ? "end" : "start");
  }

  // ---- faults and verdicts -----------------------------------------------------------------------
  const rows = [-1e9, -1e9, -1e9];
  const clocks = []; // what says that a clock is off, with its text
  const news = node("g"); // flags stand above the cover, and what is still to come is pale
  const raise = (e, x) => { e.dataset.x = x; news.append(e); return e; };
  const flags = [...(run.faults ?? []).map((f) => ({ e: f.e, fault: true, clock: /clock/.test(f.w), text: "⚡ " + plain(f.s) })),
    ...(run.marks ?? []).map((m) => ({ e: m.e, calm: m.now || m.w === "FENCED", text: plain(m.s).replace(/^!! /, "") }))].sort((a, b) => a.e - b.e);
  for (const f of flags) {
    const x = X[f.e], long = widthOf(f.text, 8.3) + 6;
    const end = x + long > limit && x > long; // near the right edge it stands before its line
    const from = end ? x - long : x;
    let row = rows.findIndex((r) => from >= r);
    raise(node("line", { x1: x, x2: x, y1: row < 0 ? MOTION.top - 6 : 6 + 17 * row, y2: axis, class: f.fault ? "motion-fault-line" : f.calm ? "motion-calm-line" : "motion-mark-line" }, node("title", {}, f.text)), x);
    if (row < 0) continue;
    rows[row] = from + long;
    const flag = raise(label(end ? x - 4 : x + 4, 16 + 17 * row, f.text, f.fault ? "motion-fault" : f.calm ? "motion-calm" : "motion-harm", end ? "end" : "start"), x);
    flag.dataset.long = end ? 0 : long;
    if (f.clock) clocks.push([flag, f.text]);
  }

  // ---- the axis, with a wave where time is cut short --------------------------------------------
  put("line", { x1: 0, x2: X[last], y1: axis, y2: axis, class: "motion-axis" });
  const told = [];
  for (const i of [0, ...sharp, ...T.keys()]) {
    const text = ms(T[i]), wide = 3.5 * text.length + 7;
    if (told.some((o) => o.text === text || Math.abs(o.x - X[i]) < o.wide + wide)) continue;
    told.push({ text, wide, x: X[i] });
    label(X[i], axis + 15, text, "motion-small motion-time", i ? "middle" : "start");
    put("line", { x1: X[i], x2: X[i], y1: axis, y2: axis + 4, class: "motion-axis" });
  }
  T.forEach((t, i) => {
    if (run.cuts?.includes(i)) {
      const x = (X[i] + X[i - 1]) / 2;
      put("path", { d: `M${x - 6} ${axis} q3 -5 6 0 t6 0`, class: "motion-cut" }, node("title", {}, ms(t - T[i - 1]) + " ms"));
    }
  });
  label(-8, axis + 15, "ms", "motion-small motion-time", "end");

  // ---- the part that is still to come, and the names, which stay in sight ---------------------------
  const cover = put("rect", { y: 0, width: 0, height, class: "motion-cover" });
  all.append(news);
  const hand = put("g", { class: "motion-hand" }, node("line", { x1: 0, x2: 0, y1: 0, y2: axis }), node("circle", { cx: 0, cy: axis, r: 5 }));
  const names = node("g", { class: "motion-names" }, node("rect", { x: 0, y: 0, width: MOTION.left - 8, height, class: "motion-ground" }));
  const name = (yy, text, color, tip) => {
    const t = node("text", { x: 4, y: yy, class: "motion-name" }, text, ...(tip ? [node("title", {}, tip)] : []));
    if (color) t.style.fill = color;
    names.append(t);
  };
  for (const c of shown) name(laneOf[c] + MOTION.bar / 2 + 5, "c" + c + (c === run.probe ? "*" : ""), paint(c), c === run.probe ? say("motion.probe") : "");
  for (const b of run.bands) name(nodeOf[b.n[0]] + each / 2 + 5, b.w ? (b.w.length > 8 ? "…" + b.w.slice(-7) : b.w) : say("motion.storage"));
  (run.skews ?? []).forEach((d, i) => {
    if (!d || !laneOf[i + 1]) return;
    const text = `◷ ${d > 0 ? "+" : "−"}${ms(Math.abs(d))}`;
    const t = node("text", { x: 4, y: laneOf[i + 1] + MOTION.bar + 11, class: "motion-small motion-fault" }, text);
    names.append(t);
    clocks.push([t, text]);
  });
  svg.append(names);

  // ---- around the picture ----------------------------------------------------------------------------
  const box = el("div.motion-box", svg);
  const who = el("div.motion-who"), now = el("div.motion-now"), code = o.code ?? el("div.motion-code"), table = lanesOf(run, (i) => { stop(); place(X[run.rows[i].e], true); });
  const element = el("div.motion"), menu = el("div.motion-menu", { hidden: true });
  const state = { x: X[last] ?? 0, playing: 0, speed: o.speed ?? 1 };
  const telltale = (run.marks ?? []).find((m) => m.w === run.verdicts[0]) ?? run.marks?.[0];
  // pace is how far a second goes: an overlap comes within six, and nothing else faster than one can read
  const pace = live || !telltale ? 70 : Math.max(70, Math.min(X[telltale.e] / 5.5, telltale.w === "OVERLAP" ? Infinity : 280));
  box.tabIndex = 0; // it scrolls, and gets the focus after a click, so that space plays; not one that Tab and a key have pressed
  box.ariaLabel = say("motion.picture");
  box.setAttribute("role", "group");
  table.element.tabIndex = 0;
  const toPicture = () => box.focus({ preventScroll: true });
  const press = (text, title, what) => sign(text, title, (e) => { what(); if (e.detail) toPicture(); });
  const play = press("▶", say("motion.play"), () => toggle());
  const scrub = el("input.motion-scrub", { type: "range", min: 0, max: 1000, step: 1, value: 1000, ariaLabel: say("motion.scrub"),
    oninput: () => { stop(); place((scrub.value / 1000) * X[last], true); }, onpointerup: toPicture });
  const speed = select([0.25, 0.5, 1, 2, 4].map((s) => [s, s + "×"]), state.speed, (s) => { state.speed = Number(s); o.onspeed?.(state.speed); toPicture(); });
  Object.assign(speed, { title: say("motion.speed"), ariaLabel: say("motion.speed") });
  const clock = el("output.motion-clock");
  const controls = el("div.motion-controls", press("|◀", say("motion.begin"), () => { stop(); place(0, true); }), press("◀", say("motion.back"), () => step(-1)), play,
    press("▶|", say("motion.step"), () => step(1)), speed, scrub, clock);
  const lines = o.fold ? el("details", el("summary", say("motion.lines")), table.element) : table.element;
  const probed = shown.includes(run.probe) && el("p.motion-note", `c${run.probe}* ${say("motion.probe")}`);
  element.append(...(o.still ? [box, lines] : [who, box, probed, menu, controls, now, el("div.motion-below", ...(o.code ? [] : [code]), lines)]).filter(Boolean));

  let spare = 0; // how high no flag stands
  // layout lets the picture fill the page, and scroll where letters would become too small.
  function layout() {
    const phone = box.clientWidth < 500;
    spare = phone ? 17 * rows.filter((r) => r < 0).length : 0;
    const [least, most] = document.body.classList.contains("large") ? [1.25, 2] : [phone ? 0.9 : 0.75, 1.15]; // letters that one can read
    svg.setAttribute("viewBox", `0 ${spare} ${total} ${height - spare}`);
    svg.style.width = total * Math.max(least, Math.min(most, (box.clientWidth || 900) / total)) + "px";
    keepNames();
  }
  const zoom = () => (svg.getBoundingClientRect().width || 1) / total;
  function keepNames() { // and the flags that would be cut off
    const left = box.scrollLeft / zoom();
    names.setAttribute("transform", `translate(${left} 0)`);
    for (const flag of news.querySelectorAll("text")) {
      const by = left - flag.getAttribute("x");
      flag.setAttribute("transform", `translate(${by > 0 && by < flag.dataset.long ? by : 0} ${spare})`);
    }
  }
  box.addEventListener("scroll", keepNames);

  // place shows the run as it is at x.
  function place(x, follow) {
    state.x = Math.max(0, Math.min(x, X[last]));
    const event = eventAt(state.x), t = timeAt(state.x), s = stateAt(event);
    hand.setAttribute("transform", `translate(${state.x} 0)`);
    cover.setAttribute("x", state.x);
    cover.setAttribute("width", state.x < X[last] ? X[last] - state.x + MOTION.right : 0);
    for (const e of news.children) e.classList.toggle("later", e.dataset.x > state.x + 1e-6);
    if (o.still) return;
    scrub.value = X[last] ? (1000 * state.x) / X[last] : 1000;
    clock.textContent = ms(t) + " ms";
    const inside = shown.filter((c) => s.c[c - 1].startsWith("inside") && c !== run.probe);
    const stuck = (run.marks ?? []).some((m) => m.w === "DEADLOCK" && m.e <= event), harmful = (run.marks ?? []).some((m) => m.w === "OVERLAP" && m.f <= t && t < m.t);
    who.replaceChildren(...shown.map((c) => {
      const [stage, paused] = s.c[c - 1].split("/");
      const acts = live && state.x >= X[last] ? actsOn({ client: c }) : [];
      const card = el(acts.length ? "button" : "div", { type: acts.length ? "button" : undefined, onclick: acts.length ? (e) => offer(acts, e) : null, className: `motion-card ${acts.length ? "motion-act " : ""}${stage}${paused ? " paused" : ""}${harmful && inside.includes(c) ? " overlap" : ""}` }, el("b", "c" + c + (c === run.probe ? "*" : "")), " " + say(c === run.probe && stage === "idle" && stuck ? "motion.refused" : "motion.stage." + stage) + (paused ? say("motion.stage.paused") : ""));
      card.style.setProperty("--client", paint(c));
      return card;
    }), ...alike(s.k).map(([k, name]) => el("div.motion-card.key", el("b", name || run.key), " ", keyOf(k, t, run))));
    const row = run.rows.findLastIndex((r) => X[r.e] <= state.x + 1e-6);
    table.current(row);
    const r = run.rows[row];
    now.replaceChildren(...(r ? [...r.l.map((l, i) => [l, "c" + (i + 1)]), [r.s, say("motion.server")]].filter(([l]) => own(l)).map(([l, w]) => el("p", el("b", w + " "), plain(l))) : []),
      ...(r?.m ?? []).map((m) => el("p.motion-verdict" + (/ FENCED/.test(own(m)) ? " calm" : ""), own(m))));
    drawCode(event);
    if (follow) intoSight();
  }
  function intoSight() {
    const at = (MOTION.left + state.x) * zoom();
    if (at > box.scrollLeft + box.clientWidth - 60 || at < box.scrollLeft + MOTION.left * zoom() + 10) box.scrollLeft = at - box.clientWidth * 0.4;
  }

  // drawCode shows the code with the line at which each client is.
  let drawn = null;
  const tags = (clients) => el("i", clients.map((c, n) => [n ? " " : "", el("b.motion-tag", { style: `--client:${paint(c)}` }, "c" + c)]));
  function drawCode(event) {
    if (!run.calls?.length || !o.listings) return;
    const at = {}; // by client, the call that it is in
    let latest = null;
    for (const c of run.calls) { if (c.e > event) break; at[c.c] = c; latest = c; }
    const s = stateAt(event);
    for (const c in at) if (/^(idle|dead|inside|waiting)/.test(s.c[c - 1])) delete at[c]; // outside of the lock's code
    const key = JSON.stringify([latest?.e, Object.values(at).map((c) => c.e)]);
    if (key === drawn) return;
    drawn = key;
    const focus = latest ?? run.calls[0], listings = [...new Set(focus.l.map(([n]) => n))];
    for (const n of [...listings]) if (o.listings[n + 1] && /NewScript/.test(o.listings[n + 1].t.split("\n")[0]) && run.calls.some((c) => c.l.some(([b]) => b === n))) listings.push(n + 1);
    const unfolded = code.querySelector("details")?.open ?? Boolean(o.code); // what lies below the lock's own code
    const [top, ...below] = listings.map((n) => {
      const l = o.listings[n];
      return el("div", el("small", l.f), el("pre", { tabIndex: 0 }, l.t.split("\n").map((text, i) => {
        const here = Object.values(at).filter((c) => c.l.some(([b, line]) => b === n && line === i)).map((c) => c.c);
        return el("span.line" + (here.length ? " here" : "") + (latest && latest.l.some(([b, k]) => b === n && k === i) ? " latest" : ""), tags(here), text || " ");
      })));
    });
    if (o.board) below.unshift(top);
    code.replaceChildren(el("h3", say("motion.code")), o.board ? drawBoard(s, event) : top, ...(below.length ? [el("details", { open: unfolded }, el("summary", say(o.board ? "motion.go" : "motion.below")), below)] : []));
    for (const pre of code.querySelectorAll("pre")) {
      const line = pre.querySelector(".latest");
      if (line) pre.scrollTop = line.offsetTop - pre.clientHeight / 2;
    }
  }

  // drawBoard shows the few lines of a lock, with who is where: inside at work(), before or behind it at the line that names
  // the command that was sent last.
  function drawBoard(s, event) {
    const lines = o.board.trimEnd().split("\n"), work = lines.findIndex((line) => /\bwork\(/.test(line));
    const at = shown.map((c) => {
      const [stage] = s.c[c - 1].split("/"), word = run.messages.findLast((m) => m.c === c && m.n > 0 && m.s >= 0 && m.s <= event)?.w.split(" ")[0];
      const from = { acquiring: 0, waiting: 0, inside: work, leaving: work, releasing: work + 1 }[stage] ?? lines.length;
      return Math.max(from, lines.findIndex((line, i) => i >= from && (i < work) === (from < work) && from !== work && line.includes(word)));
    });
    return el("pre", { tabIndex: 0 }, lines.map((line, i) => el("span.line" + (at.includes(i) ? ".here" : ""), tags(shown.filter((c, n) => at[n] === i)), line)));
  }

  // ---- playing ------------------------------------------------------------------------------------------
  let began = 0;
  function tick(when) {
    if (!state.playing || !element.isConnected) { state.playing = 0; return; }
    place(state.x + ((when - began) / 1000) * pace * state.speed, true);
    began = when;
    if (state.x >= X[last]) { rest(); return o.onward?.(); }
    state.playing = requestAnimationFrame(tick);
  }
  function toggle() {
    if (state.playing) return stop();
    if (state.x >= X[last] && o.onward) return o.onward();
    if (state.x >= X[last]) place(0, true);
    begin();
  }
  function begin() {
    [play.textContent, began, state.playing] = ["❚❚", performance.now(), requestAnimationFrame(tick)];
  }
  function rest() {
    cancelAnimationFrame(state.playing);
    [play.textContent, state.playing] = ["▶", 0];
  }
  function stop() { if (state.playing) o.halt?.(); rest(); }
  // step goes to the next or previous line of the run.
  function step(by) {
    stop();
    const places = [0, ...run.rows.map((r) => X[r.e])].sort((a, b) => a - b);
    const to = by > 0 ? places.find((x) => x > state.x + 0.01) : places.findLast((x) => x < state.x - 0.01);
    place(to ?? (by > 0 ? X[last] : 0), true);
  }
  const placeOf = (e) => (e.clientX - svg.getBoundingClientRect().left) / zoom() - MOTION.left;
  let pressed = null; // where the pointer went down
  function drag(e) {
    if (o.still || !(e.buttons & 1)) return;
    if (e.type === "pointerdown") pressed = e.clientX;
    if (e.target.closest(".motion-act") && Math.abs(e.clientX - pressed) < 5) return; // a click
    stop();
    place(placeOf(e), false);
  }
  svg.addEventListener("pointerdown", drag);
  svg.addEventListener("pointermove", drag);

  // ---- what a click on the picture does ----------------------------------------------------------------------
  menu.onkeydown = (e) => { if (e.key === "Escape") { e.stopPropagation(); menu.hidden = true; toPicture(); } };
  element.addEventListener("pointerdown", (e) => { if (!menu.contains(e.target)) menu.hidden = true; });

  // offer does the only act of a thing, and lets choose between several.
  function offer(acts, e) {
    if (acts.length === 1 && !acts[0].fault) return acts[0].go(); // a fault is asked about first
    menu.replaceChildren(...acts.map((a) => button(own(a.said), () => { menu.hidden = true; a.go(); }, a.fault ? ".fault" : "")));
    menu.hidden = false;
    const r = element.getBoundingClientRect();
    menu.style.left = Math.max(0, Math.min(e.clientX - r.left, r.width - menu.offsetWidth)) + "px";
    menu.style.top = e.clientY - r.top + 8 + "px";
    menu.firstChild.focus({ preventScroll: true });
  }
  // target makes a part of the picture one to click on.
  function target(e, name, acts, preferred) {
    if (!acts.length) return;
    e.classList.add("motion-act");
    e.dataset.act = name;
    e.append(node("title", {}, acts.map((a) => own(a.said)).join("\n")));
    e.addEventListener("click", (event) => { if (Math.abs(event.clientX - pressed) < 5) offer(preferred?.length ? preferred : acts, event); });
  }
  if (live) {
    const over = (yy, high) => put("rect", { x: -MOTION.left, y: yy, width: total, height: high, class: "motion-over" });
    for (const c of shown) target(over(laneOf[c] - 2, MOTION.bar + 4), "c" + c, actsOn({ client: c }));
    for (const b of run.bands) target(over(nodeOf[b.n[0]], each), "n" + b.n[0], b.n.flatMap((n) => actsOn({ client: 0, node: n })));
    target(over(axis - 6, 26), "time", actsOn({ kind: "pass" }));
    for (const [m, x, y1, y2] of flying) {
      const acts = actsOn({ message: m.i }), to = X[last] + 30, middle = y1 + (y2 - y1) * 0.6;
      const letter = put("g", { class: "motion-flying" }, node("line", { x1: x, y1, x2: to, y2: middle, class: "motion-message" }),
        node("circle", { cx: to, cy: middle, r: 10 }), node("text", { x: to, y: middle + 4, "text-anchor": "middle" }, "✉"));
      letter.style.stroke = paint(m.c);
      target(letter, "m" + m.i, acts, acts.filter((a) => /^lose-/.test(a.kind)));
    }
  }

  // ---- what can be dragged: the end of a pause, and a clock -------------------------------------------------------
  // tow lets a part of the picture be dragged. sizeAt says what a place of the pointer means; show draws that.
  function tow(e, name, sizeAt, show) {
    let from = null;
    e.classList.add("motion-grip");
    e.dataset.drag = name;
    e.append(node("title", {}, say("motion.drag")));
    e.addEventListener("pointerdown", (event) => { from = placeOf(event); e.setPointerCapture(event.pointerId); event.stopPropagation(); stop(); });
    e.addEventListener("pointermove", (event) => { if (from !== null) { show(sizeAt(placeOf(event), from), placeOf(event)); event.stopPropagation(); } });
    e.addEventListener("pointerup", (event) => {
      if (from === null) return;
      const to = placeOf(event), moved = Math.abs(to - from) > 2, size = sizeAt(to, from);
      from = null;
      if (moved) o.set(name, size);
    });
    e.addEventListener("lostpointercapture", () => { from = null; });
  }
  const beyond = (x) => (x <= X[last] ? timeAt(x) : T[last] + ((x - X[last]) / 84) * 1e6); // after the end 84 px are a second
  for (const { a, b, yy, lasts } of grips) {
    const grip = put("rect", { x: b - 5, y: yy - 3, width: 10, height: MOTION.bar + 6, rx: 3 }), now = put("text", { x: b + 15, y: yy + MOTION.bar / 2 + 4, class: "motion-fault" });
    const size = (x) => (o.sizes.pause * Math.max(0, beyond(x) - beyond(a))) / lasts; // as the setting, of which the pause may be a part
    tow(grip, "pause", size, (ns, x) => { grip.setAttribute("x", x - 12); now.setAttribute("x", x + 15); now.textContent = ms(ns / 1e3) + " ms"; });
  }
  const turned = ["skew", "jump", "drift"].find((name) => o.sizes?.[name] !== undefined);
  for (const [t, text] of turned ? clocks : []) {
    const size = (x, from) => o.sizes[turned] * Math.max(0.02, 1 + (x - from) / 80); // 80 px double it
    tow(t, turned, size, (ns) => { t.firstChild.nodeValue = `${text} → ${Math.round((100 * ns) / o.sizes[turned])} %`; });
  }

  Object.assign(element, {
    toggle,
    key(e) {
      if (o.still || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return false;
      if (e.key === " " && e.target.tagName === "BUTTON") return false; // it is pressed
      if (e.key === " ") toggle();
      else if (e.key === "ArrowRight" || e.key === ".") step(1);
      else if (e.key === "ArrowLeft" || e.key === ",") step(-1);
      else if (e.key === "Home") { stop(); place(0, true); }
      else if (e.key === "End") { stop(); place(X[last], true); }
      else return false;
      e.preventDefault();
      return true;
    },
    where: () => state.x / (X[last] || 1),
    goTo: (share) => { stop(); place(share * X[last], true); },
    playFrom: (event) => { place(X[Math.max(0, Math.min(event, last))], true); begin(); },
  });
  let seen = false; // the picture, by the browser
  new ResizeObserver(() => {
    layout();
    if (!seen && box.clientWidth) { seen = true; if (!o.still) intoSight(); }
  }).observe(box);
  layout();
  place(o.verdict && telltale ? X[telltale.e] : X[last], false);
  return element;
}

// alike are the keys of servers with their names. Neighbours with the same owner are one, with
// the lease that ends first.
function alike(keys) {
  const all = [];
  keys.forEach((k, i) => {
    const p = all.at(-1);
    if (p && p.k.h === k.h && p.k.o === k.o && p.k.d === k.d && (p.k.u < 0) === (k.u < 0)) {
      p.to = i;
      if ((k.u ?? 0) < (p.k.u ?? 0)) p.k = k;
    } else all.push({ k, from: i, to: i });
  });
  const name = (p) => (keys.length === 1 ? "" : p.from === p.to ? "n" + (p.from + 1) : `n${p.from + 1}–n${p.to + 1}`);
  return all.map((p) => [p.k, name(p)]);
}

// keyOf is the key on a server in words, with what is left of its lease.
function keyOf(k, t, run) {
  if (k.d) return say("motion.down");
  if (!k.h) return say("motion.free");
  const owner = k.o ? "c" + k.o : "?";
  if (k.u < 0) return say(k.v ? "motion.stamp" : run.zookeeper ? "motion.session" : "motion.forever", { owner, time: k.v && plain(k.v) });
  const left = Math.max(k.u - t, 0), width = Math.min(100, (100 * left) / (run.ttl || 1)) + "%";
  return el("span", owner + " ", el("span.motion-left", el("i", { style: `width:${width}; background:${k.o ? paint(k.o) : "var(--faint)"}` })), ` ${ms(left / 1e3)} s`);
}

// lanesOf is a run as lines: time, a column for each client, and the key. seek is called with
// the line that is clicked.
function lanesOf(run, seek) {
  const clients = Array.from({ length: run.clients }, (_, i) => i).filter((i) => i + 1 !== run.probe || run.states.some((s) => s.c[i] !== "idle"));
  const head = el("tr", el("th", say("motion.time")), ...clients.flatMap((i, n) => [el("th", "c" + (i + 1)), ...(n === 0 ? [el("th", run.key)] : [])]));
  const lines = [];
  const body = run.rows.flatMap((r, n) => {
    const s = run.states.findLast((x) => x.e <= r.e) ?? run.states[0];
    const inside = s.c.filter((c, i) => c.startsWith("inside") && i + 1 !== run.probe).length > 1;
    const cells = clients.map((i) => {
      const [stage, paused] = s.c[i].split("/");
      const cell = el("td", { className: `c ${stage}${paused ? " paused" : ""}${inside && stage === "inside" ? " overlap" : ""}` }, own(r.l[i]) || " ");
      cell.style.setProperty("--client", paint(i + 1));
      return cell;
    });
    const key = el("td.k", ...alike(s.k).map(([k, name]) => el("div", name ? name + " " : "", keyOf(k, r.t, run))));
    if (own(r.s)) key.append(el("small", own(r.s)));
    const line = el("tr.happening", el("td.t", ms(r.f) === ms(r.t) ? ms(r.t) : ms(r.f) + "–" + ms(r.t)), cells[0] ?? "", key, ...cells.slice(1));
    if (seek) line.onclick = () => seek(n);
    lines.push(line);
    return [line, ...(r.m ?? []).map((m) => el("tr.mark", el("td"), el("td", { colSpan: clients.length + 1 }, own(m))))];
  });
  const element = el("div.lanes-box", el("table.lanes", el("thead", head), el("tbody", ...body)));
  return { element, current(n) { lines.forEach((l, i) => { l.classList.toggle("now", i === n); l.classList.toggle("later", i > n); }); } };
}
