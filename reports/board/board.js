// The page. One view at a time is drawn into #main, anew after each answer of the engine:
//
//	levels   the course                 free     a lock and faults of one's own choice
//	game     a position                 quiz     a question
//	race     a lock in a race           lessons  texts, with what they tell to be played
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
const own = (words) => (!words ? "" : typeof words === "string" ? words : words[state.lang] ?? words.en ?? "");
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

// redraw draws the view anew; a run stays where it was.
function redraw() {
  const where = state.moving?.isConnected && state.drawn === state.view ? state.moving.where() : null;
  state.moving = null;
  VIEWS[state.view]();
  state.drawn = state.view;
  if (where !== null && where < 1) state.moving?.goTo(where);
}

// moving is a run as a timeline that moves; it gets the keys.
function moving(run, listings, part = 1) {
  state.moving = motion(run, { say, own }, { listings, part });
  return state.moving;
}
const address = (hash) => { try { history.replaceState(null, "", "#" + hash); } catch { /* not in every file:// */ } };

// ---- levels ------------------------------------------------------------------------

const best = (level) => JSON.parse(keep.get("level." + level.id) ?? "null");

function drawLevels() {
  const list = DATA.levels.map((l) => {
    const b = best(l);
    const tick = b && el("span.tick", b.proved ? say("board.done") : say("board.best", b));
    return el("li", button([el("span", String(l.number)), el("b", own(l.title)), tick || el("span"),
      el("small", el("span.code", l.lock), " · ", l.harm)], () => playLevel(l.number)));
  });
  show(el("p.faint", say("board.intro")), el("ol.levels", list),
    el("h2", say("board.race", { lock: DATA.shown.lock })), drawRun(DATA.shown));
}

function playLevel(number) {
  return work(async () => {
    const level = DATA.levels[number - 1];
    const at = await engine.ask({ do: "level", number });
    begin(at, level.harm, { complete: true }, level);
  });
}

// ---- a lock of one's own choice ----------------------------------------------------

function drawFree() {
  const lock = el("select", DATA.locks.map((l) => el("option", { value: l.id }, l.id + ": " + own(l.title))));
  lock.value = state.lock ?? "token";
  const budget = el("select", DATA.budgets.map((b) => el("option", { value: b }, b || say("play.nofaults"))));
  budget.value = state.budget ?? "pause=1";
  const option = (value, label) => el("option", { value }, label);
  const timing = el("select", ["lockstep", "any"].map((t) => option(t, say("board.timing." + t))));
  timing.value = state.timing ?? "lockstep";
  const nodes = el("select", option("0", say("board.nodes.few")), [1, 2, 3, 4, 5].map((n) => option(String(n), String(n))));
  nodes.value = state.nodes ?? "0";
  const fenced = el("input", { type: "checkbox", checked: state.fenced ?? false });
  const link = el("input", { placeholder: "locklab2-…", size: 30 });
  show(
    el("h2", say("board.free")),
    el("div.row", el("label", say("board.lock") + " ", lock), el("label", say("board.budget") + " ", budget),
      el("label", say("board.timing") + " ", timing), el("label", say("board.nodes") + " ", nodes), el("label", fenced, " " + say("board.fenced")),
      button(say("board.start"), () => {
        Object.assign(state, { lock: lock.value, budget: budget.value, timing: timing.value, nodes: nodes.value, fenced: fenced.checked });
        playFree(lock.value, budget.value, { timing: timing.value, nodes: Number(nodes.value), fenced: fenced.checked });
      }, ".main")),
    el("h2", say("board.open")),
    el("div.row", link, button(say("board.start"), () => openLink(link.value.trim()))));
}

const playFree = (lock, budget, bounds = {}) => work(async () => findGoal(await engine.ask({ do: "start", lock, budget, ...bounds })));
// openLink opens a position of a game, or the run of a race.
const openLink = (link, harm = "") => work(async () => {
  let at;
  try {
    at = await engine.ask({ do: "at", link });
  } catch (error) {
    try { return showRace(await engine.ask({ do: "replay", link }), link); } catch { throw error; }
  }
  return findGoal(at, harm);
});

async function findGoal(at, harm = "") {
  const goal = await engine.ask({ do: "goal", link: at.link, harm });
  begin(at, goal.harm, goal, null);
}

// ---- a race ------------------------------------------------------------------------

// playRace plays a lock in a race with some settings of its own, as in "pause=9s,ttl=5s".
const playRace = (lock, race, settings = "") => work(async () =>
  showRace(await engine.ask({ do: "race", lock, race, settings }), `race.${lock}.${race}${settings ? "." + settings : ""}`, settings));

function showRace(run, hash, settings = "") {
  Object.assign(state, { view: "race", race: run, settings, link: "" });
  if (run.race === "search") state.link = hash;
  address(hash);
  redraw();
}

const seconds = (ns) => `${Math.round(ns / 1e7) / 100}s`;

function drawRace() {
  const r = state.race;
  if (!r) { if (state.ready) playRace("token", "gc-pause"); return show(el("p", say("board.loading"))); }
  const pick = (all, value, go) => {
    const select = el("select", all.map((o) => el("option", { value: o.id }, [o.short, o.id].filter(Boolean).join(" "))));
    select.value = value;
    select.onchange = () => go(select.value);
    return select;
  };
  const attack = (lock) => (state.link ? work(async () => showRace(await engine.ask({ do: "replay", link: state.link, lock }), state.link)) : playRace(lock, r.race, state.settings));
  const choose = el("div.row", el("label", say("board.against") + " ", pick(DATA.locks, r.lock, attack)),
    r.race !== "search" && el("label", say("board.inrace") + " ", pick(DATA.races, r.race, (race) => playRace(r.lock, race))),
    button(say("board.link"), () => copy(r.link)), button(say("board.explain"), () => read(r.race === "search" ? r.lock : `${r.lock} ${r.race}`)));
  const sliders = el("div.sliders", r.settings.map((s) => {
    const rate = s.name === "drift"; // of a clock: some of each second, so a share
    const most = rate ? 250e6 : 2 * s.usual_ns, step = rate ? 5e6 : s.name === "ttl" ? 1e9 : s.usual_ns / 40;
    const told = rate ? (ns) => `${Math.round(ns / 1e6) / 10} %` : seconds;
    const value = el("output", told(s.value_ns));
    const slide = el("input", { type: "range", min: step, max: most, step, value: s.value_ns,
      oninput: () => { value.textContent = told(slide.value); },
      onchange: () => playRace(r.lock, r.race, r.settings.map((o) => [o.name, o === s ? Number(slide.value) : o.value_ns, o.usual_ns])
        .filter(([, now, usual]) => now !== usual).map(([name, now]) => `${name}=${Math.round(now)}ns`).join(",")) });
    return el("label", el("span", say("board.setting." + s.name)), slide, value);
  }), state.settings ? button(say("board.usual"), () => playRace(r.lock, r.race)) : null);
  const told = r.run?.story ? el("details", el("summary", say("board.story")), el("ol", r.run.story.map((one) => el("li", one.t ? el("span.faint", one.t + " ") : null, own(one.s))))) : null;
  const typed = r.run?.commands ? el("details", el("summary", say("board.commands")), el("div.scroll", el("pre", own(r.run.commands)))) : null;
  show(el("h2", el("span.code", r.lock), ", ", own(r.title), ": ", verdictsOf(r)),
    tone(r.verdicts) === "quiet" && r.run ? el("p.faint", say("board.vacuous")) : null,
    choose, r.settings.length ? sliders : null,
    r.not_injected ? el("p.faint", r.not_injected.map(own).join(" ")) : null,
    r.run ? moving(r.run, r.listings) : el("p.end", own(r.not_applicable)), told, typed);
}

// ---- lessons -----------------------------------------------------------------------

const read = (name) => work(async () => {
  state.lesson = await engine.ask({ do: "lesson", name });
  Object.assign(state, { view: "lessons" });
  address("lesson." + name.replaceAll(" ", "."));
  redraw();
  window.scrollTo(0, 0);
});

// A line of a lesson that is set in columns, and so not folded.
const inColumns = (line) => /\S {2,}\S/.test(line) || /^\s*(\d+ )?[|>]/.test(line) || /[{};]$|^\s*\/\/|^\t| :?= /.test(line);

// commanded is a line with its commands as buttons.
function commanded(line) {
  const parts = line.split(/(locklab (?:run|explain|play|replay) [^,.;:()（）。，；]*[^,.;:()（）。，；\s])/);
  return parts.map((part) => {
    const [, verb, rest] = /^locklab (run|explain|play|replay) (.*)$/.exec(part) ?? [];
    if (!verb) return part;
    const words = rest.split(" --")[0].trim().split(/\s+/);
    const go = { run: () => playRace(words[0], words[1]), explain: () => read(words.join(" ")), replay: () => openLink(words[0]),
      play: () => playFree(words[0], state.budget ?? "pause=1") }[verb];
    if (!go || (verb === "run" && words.length < 2)) return el("code", part);
    return button([verb === "explain" ? "" : "▶ ", part.replace("locklab ", "")], go, ".inline");
  });
}

function drawLessons() {
  const open = (name) => read(name);
  const of = (label, all) => {
    const select = el("select", el("option", { value: "" }, label), all.map((a) => el("option", { value: a.id }, [a.short, a.id].filter(Boolean).join(" ") + ": " + own(a.title))));
    select.onchange = () => select.value && open(select.value);
    return select;
  };
  const menu = el("div.row", ["path", "interview", "glossary"].map((n) => button(say("board.lesson." + n), () => open(n))), of(say("board.lesson.lock"), DATA.locks), of(say("board.lesson.race"), DATA.races));
  if (!state.lesson) return show(el("h2", say("board.lessons")), menu, el("p.faint", say("board.lessons.intro")));
  const lines = own(state.lesson.said).split("\n"), text = [];
  for (let i = 0; i < lines.length;) {
    const block = [];
    if (i > 0 && inColumns(lines[i])) {
      while (i < lines.length && (inColumns(lines[i]) || (lines[i].startsWith("    ") && lines[i].trim() !== ""))) block.push(lines[i++]);
      text.push(el("div.scroll", el("pre", block.flatMap((l) => [...commanded(l), "\n"]))));
      continue;
    }
    const line = lines[i++];
    if (line.trim() === "") continue;
    const deep = /^ */.exec(line)[0].length;
    text.push(el(deep === 0 ? (i === 1 ? "h2" : "p.lead") : "p.said", { style: `margin-left:${Math.max(0, deep / 2 - 1)}em` }, commanded(line.trim())));
  }
  show(menu, el("article.lesson", text));
}

// ---- a game ------------------------------------------------------------------------

function begin(at, harm, goal, level) {
  Object.assign(state, { view: "game", at, harm, goal, level, hinted: -1, mended: null, gaveUp: false, proved: null });
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
  address(state.at.link);
  state.drawn = ""; // a new position is shown at its end
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

const over = () => state.harm && state.at.verdicts.includes(state.harm);
const total = (at) => at.faults.reduce((n, f) => n + f.used, 0);

const go = (request) => work(async () => {
  state.at = await engine.ask({ link: state.at.link, harm: state.harm, ...request });
  arrived();
});
const move = (number) => { state.mended = null; return go({ do: "move", number }); };
const undo = () => { state.mended = null; state.gaveUp = false; return go({ do: "undo" }); };
const giveUp = () => work(async () => {
  const end = await engine.ask({ do: "way", link: state.at.link, harm: state.harm });
  state.gaveUp = true;
  if (!end.link) return proved(end); // there is no way
  state.at = end;
  arrived();
});
const hint = () => work(async () => {
  const h = await engine.ask({ do: "hint", link: state.at.link, harm: state.harm });
  state.hinted = h.move;
  state.why = say("play.hint", { why: own(h.why), n: h.move + 1, what: own(state.at.moves[h.move].said) });
  redraw(); // it stands above the moves
});
// cannot answers that the goal cannot be reached; it is judged.
const cannot = () => work(async () => {
  const judged = await engine.ask({ do: "cannot", link: state.at.link, harm: state.harm });
  return judged.right ? proved(judged) : own(judged.said);
});

function proved(judged) {
  state.proved = judged;
  if (state.level && !state.gaveUp) keep.set("level." + state.level.id, JSON.stringify({ proved: true }));
  redraw();
  return own(judged.said);
}
const again = () => (state.level ? playLevel(state.level.number) : work(async () => findGoal(await engine.ask({ do: "again", link: state.at.link }), state.harm)));
const mend = (lock) => work(async () => {
  state.mended = await engine.ask({ do: "mend", link: state.at.link, harm: state.harm, lock });
  redraw();
});

const verdictsOf = (of) => el(["span", tone(of.verdicts)].filter(Boolean).join("."), of.verdicts.join(" "));

// boundsOf says what is not usual about the bounds of a game.
function boundsOf(at) {
  const bound = (name) => new RegExp(`(?:^|,)${name}=([^,]*)`).exec(at.bounds)?.[1];
  return [bound("timing") === "any" && say("play.bounds.any"), Number(bound("nodes")) > 1 && say("play.bounds.nodes", { nodes: bound("nodes") }),
    bound("fenced") === "true" && say("play.bounds.fenced")].filter(Boolean).join(" ");
}

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
  const target = harm ? say("play.goal", { harm, meaning: say("meaning." + harm) })
    : say(goal.complete ? "play.goal.any" : "play.unfound", { states: goal.states });
  show(
    el("h2", level ? `${n}. ${own(level.title)} ` : "", el("span.code", at.lock), level ? "" : ": " + own(at.title)),
    el("p.goal", target, boundsOf(at) ? el("span.faint", " ", boundsOf(at)) : null),
    el("div.score", el("span", say("board.used", { used: at.faults.map((f) => `${f.name} ${f.used}/${f.most}`).join(", ") || say("play.nofaults") })),
      el("span", say("board.steps", { steps: at.steps })), harm ? drawDoom() : null,
      at.verdicts.length ? verdictsOf(at) : null),
    el("div.play",
      el("div", won || state.proved ? drawEnd() : null, state.mended ? drawMended() : null, drawRun(at)),
      el("div.side",
        el("h3", say("board.choices")), state.hinted >= 0 ? el("p.hint", state.why) : null, drawMoves(at),
        el("div.row", { style: "margin-top:.8rem" }, button(say("board.undo"), undo), won ? null : button(say("board.hint"), hint),
          won ? null : button(say("board.cannot"), cannot), won ? null : button(say("board.giveup"), giveUp), button(say("board.restart"), again), button(say("board.link"), () => copy(state.at.link))),
        at.steps ? drawMend(at) : null)));
}

function drawDoom() {
  const share = state.share;
  const text = share === null ? "…" : share > 0 && share < 0.001 ? "<0.1 %" : (100 * share).toFixed(1) + " %";
  return el("span", { id: "doom", title: say("board.doomhelp", { harm: state.harm }) }, say("board.doom") + " ",
    el("span.bar", el("i", { style: `width:${share === null ? 0 : 100 * share}%` })), " ", el("b", text));
}

const wide = () => document.documentElement.clientWidth > 736;
const drawRun = (run) => moving(run.moving, null, state.view === "game" && wide() ? 0.64 : 1);

function drawMoves(at) {
  if (!at.moves.length) return el("p", say("board.over"));
  return el("ol.moves", at.moves.map((m, i) => el("li",
    button([el("kbd", String(i + 1)), el("span", own(m.said)), el("small", m.fault ? say("board.fault") : "")], () => move(i),
      (m.fault ? ".fault" : "") + (i === state.hinted ? ".hinted" : "")))));
}

function drawEnd() {
  const { level, harm, at } = state;
  const words = state.proved ? own(state.proved.said) : state.gaveUp ? say("play.gaveup", { harm, faults: total(at), steps: at.steps })
    : say("play.reached", { harm, faults: total(at), steps: at.steps, par: at.goal ? at.goal.par : "?" });
  return el(state.proved ? "div.end" : "div.end.harmful", el("p", words),
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
  const about = { lock: m.lock, harm: m.goal.harm, faults: m.budget || say("play.nofaults"), states: m.goal.states, clients: m.clients, attempts: m.attempts, found: m.found.join(", ") };
  const key = found ? "still" : !m.goal.complete ? "unknown" : m.found.length ? "other" : "holds";
  return el("div.end" + (found ? ".harmful" : ""),
    el("p", say("play.mend.same", { lock: m.lock, same: m.same, all: m.of, verdict: m.verdicts[0] ?? "HOLDS" })),
    motion(m.moving, { say, own }, { still: true, part: wide() ? 0.6 : 1 }), el("p", say("play.mend." + key, about)),
    button(say("board.start") + ": " + m.lock, () => openLink(m.way || m.link, m.goal.harm)));
}

// ---- the quiz ----------------------------------------------------------------------

function ask(number) {
  return work(async () => {
    state.question = await engine.ask({ do: "question", seed: state.seed, number, ...state.about });
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
  const about = state.about ?? {};
  const choice = (label, value, all, set) => {
    const select = el("select", all.map(([id, words]) => el("option", { value: id }, words)));
    select.value = value ?? "";
    select.onchange = () => { state.about = { ...about, ...set(select.value) }; startQuiz(state.seed); };
    return el("label", label + " ", select);
  };
  const names = (all) => [["", say("board.quiz.usual")], ...all.map((o) => [o.id, o.id])];
  const head = el("div.row", el("span", say("board.score", { right: state.right, all: state.asked })),
    choice(say("board.quiz.difficulty"), about.difficulty, ["", "easy", "medium", "hard"].map((d) => [d, say("board.quiz." + (d || "first"))]), (difficulty) => ({ difficulty })),
    choice(say("board.lock"), about.locks?.[0], names(DATA.locks), (l) => ({ locks: l ? [l] : [] })),
    choice(say("board.inrace"), about.races?.[0], names(DATA.races), (race) => ({ races: race ? [race] : [] })),
    el("label", say("board.seed") + " ", seed));
  if (!q) return show(el("h2", say("board.quiz")), head);
  const answers = q.answers.map((a, i) => el("li", button(
    [el("kbd", "abcd"[i]), el("span", own(a.said)), el("span"), state.chosen >= 0 ? el("small", own(a.why)) : null],
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

const VIEWS = { levels: drawLevels, race: drawRace, lessons: drawLessons, free: drawFree, game: drawGame, quiz: drawQuiz, help: drawHelp };

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
  const tabs = ["levels", "race", "lessons", "free", "quiz", "help"].map((view) => {
    const b = button(say(view === "race" ? "board.races" : "board." + view), () => open(view));
    if (state.view === view) b.setAttribute("aria-current", "page");
    return b;
  });
  if (state.at && state.view !== "game") tabs.push(button(`▶ ${state.at.lock}`, () => open("game")));
  document.getElementById("tabs").replaceChildren(...tabs);
  document.getElementById("tools").replaceChildren(
    button(say("board.language"), language), button("◐", theme), button("A+", large));
  document.getElementById("tools").children[2].setAttribute("aria-pressed", document.body.classList.contains("large"));
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
  redraw(); // pictures are as large as letters
}

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const digit = /^[1-9]$/.test(e.key) ? Number(e.key) - 1 : -1;
  const game = state.view === "game", quiz = state.view === "quiz" && state.question;
  if (e.key === "l") language();
  else if (e.key === "t") theme();
  else if (e.key === "p") large();
  else if (game && digit >= 0 && digit < state.at.moves.length) move(digit);
  else if (game && e.key === "u") undo();
  else if (game && e.key === "h" && !over()) hint();
  else if (game && e.key === "c" && !over()) cannot();
  else if (game && e.key === "g" && !over()) giveUp();
  else if (game && e.key === "n") next();
  else if (quiz && digit >= 0 && digit < state.question.answers.length) choose(digit);
  else if (quiz && /^[a-d]$/.test(e.key) && e.key.charCodeAt(0) - 97 < state.question.answers.length) choose(e.key.charCodeAt(0) - 97);
  else if (quiz && e.key === "n" && state.chosen >= 0) ask(state.number + 1);
  else state.moving?.key(e);
});

state.lang = keep.get("lang") ?? ((navigator.language || "en").startsWith("zh") ? "zh" : "en");
document.documentElement.dataset.theme = keep.get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
if (keep.get("large")) document.body.classList.add("large");
redraw();
tell(say("board.loading"));
engine.started.then(() => {
  state.ready = true;
  tell(say("board.ready"));
  if (["levels", "race"].includes(state.view)) redraw();
}, (why) => tell(say("board.noengine", { why: String(why) }), true));

// follow opens what the address names: a race, a lesson, or a link. Of one that is damaged the
// engine says so.
function follow() {
  let saved = location.hash.slice(1);
  try { saved = decodeURIComponent(saved); } catch { /* it is no code of characters */ }
  const [, kind, first, rest] = /^(race|lesson)\.([^.]*)\.?(.*)$/.exec(saved) ?? [];
  if (kind === "race") { const [race, ...settings] = rest.split("."); playRace(first, race, settings.join(".")); }
  else if (kind === "lesson") read([first, ...rest.split(".")].join(" ").trim());
  else if (saved) openLink(saved);
}
addEventListener("hashchange", follow);
follow();
