// The page. One view at a time is drawn into #main, anew after each answer of the engine:
//
//	levels   the course                 free   a lock and faults of one's own choice
//	game     a position                 quiz   a question
//
// state is all that the page knows; keep holds what outlives it (this browser only).
"use strict";
const state = { view: "levels", lang: "en", busy: false, ready: false };
const keep = {
  get(name) { try { return localStorage.getItem("locklab." + name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem("locklab." + name, value); } catch { /* a file may have no storage */ } },
};

// ---- words -------------------------------------------------------------------------

function say(key, values = {}) {
  let text = DATA.texts[state.lang][key] ?? key;
  for (const name in values) text = text.replaceAll("{" + name + "}", values[name]);
  return text;
}
const own = (words) => (words ? words[state.lang] ?? words.en : "");
const ms = (ns) => String(Math.round(ns / 1e5) / 10);

// el("div.card", {onclick}, ...children) is an element.
function el(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const e = document.createElement(tag);
  e.className = classes.join(" ");
  for (const r of rest.flat()) {
    if (r === null || r === undefined || r === false) continue;
    if (typeof r === "object" && !(r instanceof Node)) Object.assign(e, r);
    else e.append(r);
  }
  return e;
}
const button = (label, onclick, kind = "") => el("button" + kind, { type: "button", onclick }, label);

function tell(text, bad = false) {
  const m = document.getElementById("message");
  m.textContent = text;
  m.className = bad ? "bad" : "";
}

// ---- the engine --------------------------------------------------------------------

// work does one thing that asks the engine; while it does, nothing else is begun. What goes
// wrong is said, and the view stays as it is.
async function work(what) {
  if (state.busy) return;
  state.busy = true;
  tell(state.ready ? say("board.busy") : say("board.loading"));
  document.body.setAttribute("aria-busy", "true");
  try {
    tell((await what()) || "");
  } catch (error) {
    tell(error.en ? own(error) : say("board.noengine", { why: String(error) }), true);
  }
  state.busy = false;
  document.body.removeAttribute("aria-busy");
}

const redraw = () => { VIEWS[state.view](); };

// ---- levels ------------------------------------------------------------------------

const best = (level) => JSON.parse(keep.get("level." + level.id) ?? "null");

function drawLevels() {
  const list = DATA.levels.map((l) => {
    const b = best(l);
    const tick = b && el("span.tick", l.possible ? say("board.best", b) : say("board.done"));
    const goal = l.harm + " · " + (l.possible ? say("board.par", { par: l.par }) : say("board.impossible"));
    return el("li", button([el("span", String(l.number)), el("b", own(l.title)), tick || el("span"),
      el("small", el("span.code", l.lock), " · ", goal)], () => playLevel(l.number)));
  });
  show(el("p.faint", say("board.intro")), el("ol.levels", list),
    el("h2", say("board.race", { lock: DATA.shown.lock })), drawRun(DATA.shown));
}

function playLevel(number) {
  return work(async () => {
    const level = DATA.levels[number - 1];
    const at = await engine.ask({ do: "level", number });
    begin(at, level.harm, { par: level.par, steps: level.steps, states: level.states, possible: level.possible, complete: true }, level);
  });
}

// ---- a lock of one's own choice ----------------------------------------------------

function drawFree() {
  const lock = el("select", DATA.locks.map((l) => el("option", { value: l.id }, l.id + ": " + own(l.title))));
  lock.value = state.lock ?? "token";
  const budget = el("select", DATA.budgets.map((b) => el("option", { value: b }, b || say("play.nofaults"))));
  budget.value = state.budget ?? "pause=1";
  const link = el("input", { placeholder: "locklab2-…", size: 30 });
  show(
    el("h2", say("board.free")),
    el("div.row", el("label", say("board.lock") + " ", lock), el("label", say("board.budget") + " ", budget),
      button(say("board.start"), () => { state.lock = lock.value; state.budget = budget.value; playFree(lock.value, budget.value); }, ".main")),
    el("h2", say("board.open")),
    el("div.row", link, button(say("board.start"), () => openLink(link.value.trim()))));
}

const playFree = (lock, budget) => work(async () => findGoal(await engine.ask({ do: "start", lock, budget })));
const openLink = (link, harm = "") => work(async () => findGoal(await engine.ask({ do: "at", link }), harm));

async function findGoal(at, harm = "") {
  const goal = await engine.ask({ do: "goal", link: at.link, harm });
  begin(at, goal.harm, goal, null);
}

// ---- a game ------------------------------------------------------------------------

function begin(at, harm, goal, level) {
  Object.assign(state, { view: "game", at, harm, goal, level, hinted: -1, mended: null, gaveUp: false });
  arrived();
  window.scrollTo(0, 0);
}

// arrived draws a new position, keeps it in the address and asks how much is lost.
function arrived() {
  state.hinted = -1;
  state.share = null;
  const won = state.at.verdicts.includes(state.harm);
  if (won && state.level && !state.gaveUp) {
    const used = total(state.at), b = best(state.level);
    if (!b || used < b.faults || (used === b.faults && state.at.steps < b.steps)) {
      keep.set("level." + state.level.id, JSON.stringify({ faults: used, steps: state.at.steps }));
    }
  }
  if (state.level && !state.level.possible && state.at.moves.length === 0) {
    keep.set("level." + state.level.id, JSON.stringify({ faults: total(state.at), steps: state.at.steps }));
  }
  try { history.replaceState(null, "", "#" + state.at.link); } catch { /* not in every file:// */ }
  redraw();
  if (!state.harm) return;
  const link = state.at.link;
  engine.ask({ do: "doom", link, harm: state.harm }).then((d) => {
    if (state.view !== "game" || state.at.link !== link) return;
    state.share = d.known ? d.share : null;
    const bar = document.getElementById("doom");
    if (bar) bar.replaceWith(drawDoom());
  }, () => {});
}

const total = (at) => at.faults.reduce((n, f) => n + f.used, 0);

const go = (request) => work(async () => {
  state.at = await engine.ask({ link: state.at.link, harm: state.harm, ...request });
  arrived();
});
const move = (number) => { state.mended = null; return go({ do: "move", number }); };
const undo = () => { state.mended = null; state.gaveUp = false; return go({ do: "undo" }); };
const giveUp = () => { state.gaveUp = true; return go({ do: "way" }); };
const hint = () => work(async () => {
  const h = await engine.ask({ do: "hint", link: state.at.link, harm: state.harm });
  state.hinted = h.move;
  redraw();
  return say("play.hint", { n: h.move + 1, what: own(state.at.moves[h.move].said), harm: state.harm, left: h.left });
});
const again = () => (state.level ? playLevel(state.level.number) : playFree(state.at.lock, budgetOf(state.at)));
const mend = (lock) => work(async () => {
  state.mended = await engine.ask({ do: "mend", link: state.at.link, harm: state.harm, lock });
  redraw();
});
const budgetOf = (at) => (/budget=([^,]*)/.exec(at.bounds)?.[1] ?? "").replaceAll("+", ",");

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell(say("board.copied"));
  } catch {
    tell(text); // to be copied by hand
  }
}

function drawGame() {
  const { at, level, goal, harm } = state;
  const won = harm && at.verdicts.includes(harm);
  const n = level && level.number;
  const target = !harm ? say("play.holds", { states: goal.states })
    : goal.possible ? say("play.goal", { harm, meaning: say("meaning." + harm), par: say("play.par", { faults: goal.par, steps: goal.steps }) })
    : goal.complete ? say("play.impossible", { harm, meaning: say("meaning." + harm), states: goal.states })
    : say("play.unknown", { states: goal.states });
  show(
    el("h2", level ? `${n}. ${own(level.title)} ` : "", el("span.code", at.lock), level ? "" : ": " + own(at.title)),
    el("p.goal", target),
    el("div.score", el("span", say("board.used", { used: at.faults.map((f) => `${f.name} ${f.used}/${f.most}`).join(", ") || say("play.nofaults") })),
      el("span", say("board.steps", { steps: at.steps })), harm ? drawDoom() : null,
      at.verdicts.length ? el("span.harm", at.verdicts.join(" ")) : null),
    drawWho(at),
    el("div.play",
      el("div", won ? drawEnd() : null, state.mended ? drawMended() : null, el("h3", say("board.sofar")), drawRun(at)),
      el("div.side",
        el("h3", say("board.choices")), drawMoves(at),
        el("div.row", { style: "margin-top:.8rem" }, button(say("board.undo"), undo), harm && !won && goal.possible ? button(say("board.hint"), hint) : null,
          harm && !won && goal.possible ? button(say("board.giveup"), giveUp) : null, button(say("board.restart"), again), button(say("board.link"), () => copy(state.at.link))),
        at.steps ? drawMend(at) : null)));
}

function drawDoom() {
  const share = state.share;
  const text = share === null ? "…" : share > 0 && share < 0.001 ? "<0.1 %" : (100 * share).toFixed(1) + " %";
  return el("span", { id: "doom", title: say("board.doomhelp", { harm: state.harm }) }, say("board.doom") + " ",
    el("span.bar", el("i", { style: `width:${share === null ? 0 : 100 * share}%` })), " ", el("b", text));
}

// overlap says which clients are inside together.
function overlap(clients) {
  const inside = clients.map((c) => c.stage === "inside" && !c.probe);
  return inside.filter(Boolean).length > 1 ? inside : [];
}

function drawWho(at) {
  const both = overlap(at.clients);
  const cards = at.clients.map((c, i) => (c.probe && c.stage === "idle" ? null
    : el(`div.${c.stage}${c.paused ? ".paused" : ""}${both[i] ? ".overlap" : ""}`, c.probe ? { title: say("board.probe", { n: i + 1 }) } : {},
      el("b", "c" + (i + 1)), say("board.stage." + c.stage), c.paused ? ", " + say("board.paused") : "")));
  const keys = at.keys.map((k, i) => el("div", el("b", at.keys.length > 1 ? `n${i + 1} ${at.key}` : at.key), drawKey(k, at.now_ns, at)));
  return el("div.who", cards, keys);
}

function drawKey(key, now, run) {
  if (key.down) return say("board.down");
  if (!key.held) return say("board.free.key");
  const owner = key.owner ? "c" + key.owner : "?";
  if (key.forever) return owner + ", " + say(run.zookeeper ? "board.session" : "board.forever");
  const left = Math.max(key.until_ns - now, 0);
  return el("span", owner + " ", el("span.bar.lease", el("i", { style: `width:${Math.min(100, (100 * left) / run.ttl_ns)}%` })), ` ${ms(left)} ms`);
}

// drawRun draws rows as lanes: time, a column for each client and the key, each cell with
// the state that it leaves behind.
function drawRun(run) {
  const clients = run.clients.map((c, i) => i).filter((i) => !run.clients[i].probe || run.rows.some((r) => r.clients[i].stage !== "idle"));
  const names = clients.map((i) => el("th", { title: run.clients[i].probe ? say("board.probe", { n: i + 1 }) : "" }, "c" + (i + 1)));
  const head = el("tr", el("th", say("board.time")), names[0], el("th", run.key), names.slice(1));
  const body = run.rows.flatMap((r) => {
    const both = overlap(r.clients);
    const cells = clients.map((i) => {
      const c = r.clients[i];
      return el(`td.c.${c.stage}${c.paused ? ".paused" : ""}${both[i] ? ".overlap" : ""}`, own(r.lanes[i]) || " ");
    });
    const when = ms(r.from_ns) === ms(r.to_ns) ? ms(r.to_ns) : ms(r.from_ns) + "–" + ms(r.to_ns);
    const keys = r.keys.map((k, i) => el("div", r.keys.length > 1 ? `n${i + 1} ` : "", drawKey(k, r.to_ns, run)));
    const line = el("tr", el("td.t", when), cells[0], el("td.k", keys, own(r.servers) ? el("small", own(r.servers)) : null), cells.slice(1));
    return [line, ...(r.marks ?? []).map((m) => el("tr.mark", el("td"), el("td", { colSpan: clients.length + 1 }, own(m))))];
  });
  return el("div.scroll", el("table.lanes", el("thead", head), el("tbody", body)));
}

function drawMoves(at) {
  if (!at.moves.length) return el("p", say("board.over"));
  return el("ol.moves", at.moves.map((m, i) => el("li",
    button([el("kbd", String(i + 1)), el("span", own(m.said)), el("small", m.fault ? say("board.fault") : "")], () => move(i),
      (m.fault ? ".fault" : "") + (i === state.hinted ? ".hinted" : "")))));
}

function drawEnd() {
  const { level, goal, harm, at } = state;
  const words = state.gaveUp ? say("play.gaveup", { harm, faults: total(at), steps: at.steps })
    : say("play.reached", { harm, faults: total(at), steps: at.steps, par: goal.possible ? goal.par : "?" });
  return el("div.end.harmful", el("p", words),
    level ? [el("p", el("b", say("play.learn") + " "), own(level.learn)), el("p", el("b", say("play.question") + " "), own(level.question)),
      el("p.faint.code", "locklab explain interview " + level.topic)] : null,
    level && level.number < DATA.levels.length ? button(say("board.next"), next, ".main") : null);
}

const next = () => state.level && state.level.number < DATA.levels.length && playLevel(state.level.number + 1);

function drawMend(at) {
  const lock = el("select", DATA.locks.filter((l) => l.id !== at.lock).map((l) => el("option", { value: l.id }, l.id)));
  lock.value = DATA.locks.find((l) => l.id === at.lock)?.next || "watchdog";
  return el("div", el("h3", say("board.mend")), el("div.row", lock, button(say("board.try"), () => mend(lock.value))));
}

function drawMended() {
  const m = state.mended, found = m.goal.possible;
  const about = { lock: m.lock, harm: m.goal.harm, faults: m.budget || say("play.nofaults"), states: m.goal.states, found: m.found.join(", ") };
  const key = found ? "still" : !m.goal.complete ? "unknown" : m.found.length ? "other" : "holds";
  return el("div.end" + (found ? ".harmful" : ""),
    el("p", say("play.mend.same", { lock: m.lock, same: m.same, all: m.of, verdict: m.verdicts[0] ?? "HOLDS" })),
    drawRun(m), el("p", say("play.mend." + key, about)),
    button(say("board.start") + ": " + m.lock, () => openLink(m.way || m.link, m.goal.harm)));
}

// ---- the quiz ----------------------------------------------------------------------

function ask(number) {
  return work(async () => {
    state.question = await engine.ask({ do: "question", seed: state.seed, number });
    Object.assign(state, { view: "quiz", number, chosen: -1 });
    redraw();
  });
}

function startQuiz(seed) {
  Object.assign(state, { view: "quiz", seed, right: 0, asked: 0, question: null });
  redraw();
  return ask(0);
}

function choose(i) {
  if (state.chosen >= 0) return;
  state.chosen = i;
  state.asked++;
  if (state.question.answers[i].right) state.right++;
  redraw();
}

function drawQuiz() {
  const q = state.question;
  const seed = el("input", { type: "number", min: 0, value: state.seed, style: "width:7rem", onchange: () => startQuiz(Math.abs(parseInt(seed.value, 10) || 0)) });
  const head = el("div.row", el("span", say("board.score", { right: state.right, all: state.asked })), el("label", say("board.seed") + " ", seed));
  if (!q) return show(el("h2", say("board.quiz")), head);
  const answers = q.answers.map((a, i) => el("li", button(
    [el("kbd", String(i + 1)), el("span", own(a.said)), el("span"), state.chosen >= 0 ? el("small", own(a.why)) : null],
    () => choose(i), state.chosen < 0 ? "" : a.right ? ".right" : i === state.chosen ? ".wrong" : "")));
  show(
    el("h2", say("board.question", { n: state.number + 1 }), q.run ? [": ", el("span.code", q.lock), ", " + own(q.race)] : null), head,
    q.run ? drawRun(q.run) : null,
    el("h3", own(q.ask)), el("ol.moves.answers", answers),
    state.chosen >= 0 ? el("p.row", button(say("board.more"), () => ask(state.number + 1), ".main"), button(say("board.run"), () => copy("locklab replay " + q.link))) : null);
}

// ---- help, and the frame -----------------------------------------------------------

function drawHelp() {
  show(el("h2", say("board.help")), el("p", say("board.keys")), el("p", say(ENGINE === "server" ? "board.native" : "board.works")),
    el("h3", say("board.clients")), el("p", say("board.probe", { n: 3 })),
    el("ul", DATA.levels.reduce((seen, l) => (seen.some((s) => s.harm === l.harm) ? seen : [...seen, l]), [])
      .map((l) => el("li", el("b.harm", l.harm), " ", own(l.meaning)))));
}

const VIEWS = { levels: drawLevels, free: drawFree, game: drawGame, quiz: drawQuiz, help: drawHelp };

function show(...parts) {
  document.getElementById("main").replaceChildren(...parts.filter(Boolean));
  drawFrame();
}

function open(view) {
  if (state.busy) return;
  if (view === "quiz" && !state.question) { startQuiz(1 + Math.floor(Math.random() * 9999)); return; }
  state.view = view;
  tell("");
  redraw();
}

function drawFrame() {
  document.documentElement.lang = state.lang;
  document.title = say("board.title");
  const home = document.getElementById("home");
  home.textContent = say("board.title");
  home.onclick = () => open("levels");
  const tabs = ["levels", "free", "quiz", "help"].map((view) => {
    const b = button(say("board." + view), () => open(view));
    if (state.view === view) b.setAttribute("aria-current", "page");
    return b;
  });
  if (state.at && state.view !== "game") tabs.push(button(`▶ ${state.at.lock}`, () => open("game")));
  document.getElementById("tabs").replaceChildren(...tabs);
  document.getElementById("tools").replaceChildren(
    button(say("board.language"), language), button("◐", theme), button("A+", large));
  for (const [i, key] of ["language", "theme", "large"].entries()) {
    document.getElementById("tools").children[i].title = say("board." + key);
    document.getElementById("tools").children[i].setAttribute("aria-label", say("board." + key));
  }
  document.getElementById("foot").textContent = say(ENGINE === "server" ? "board.native" : "board.works");
}

function language() {
  state.lang = state.lang === "en" ? "zh" : "en";
  keep.set("lang", state.lang);
  tell("");
  redraw();
}

function theme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  keep.set("theme", root.dataset.theme);
}

function large() {
  document.body.classList.toggle("large");
  keep.set("large", document.body.classList.contains("large") ? "yes" : "");
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const digit = /^[1-9]$/.test(e.key) ? Number(e.key) - 1 : -1;
  const game = state.view === "game", quiz = state.view === "quiz" && state.question;
  if (e.key === "l") language();
  else if (e.key === "t") theme();
  else if (game && digit >= 0 && digit < state.at.moves.length) move(digit);
  else if (game && e.key === "u") undo();
  else if (game && e.key === "h" && state.harm && state.goal.possible) hint();
  else if (game && e.key === "g" && state.harm && state.goal.possible) giveUp();
  else if (game && e.key === "n") next();
  else if (quiz && digit >= 0 && digit < state.question.answers.length) choose(digit);
  else if (quiz && e.key === "n" && state.chosen >= 0) ask(state.number + 1);
});

state.lang = keep.get("lang") ?? ((navigator.language || "en").startsWith("zh") ? "zh" : "en");
document.documentElement.dataset.theme = keep.get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
if (keep.get("large")) document.body.classList.add("large");
redraw();
tell(say("board.loading"));
engine.started.then(() => {
  state.ready = true;
  tell(say("board.ready"));
  if (state.view === "levels") redraw();
}, (why) => tell(say("board.noengine", { why: String(why) }), true));
const saved = decodeURIComponent(location.hash.slice(1));
if (saved) openLink(saved);
