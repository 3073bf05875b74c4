// The page. One view at a time is drawn into #main, anew after each answer of the engine:
//
//	levels   the course                 free     a lock and faults of one's own choice
//	game     a position                 quiz     a question
//	race     a lock in a race           lessons  texts, with what they tell to be played
//	ask      a question of an interview help     words and keys
//
// state is all that the page knows; keep holds what outlives it (this browser only). Each view
// has an address, so that Back and Forward lead from view to view. A game is one entry of the
// browser's history, whatever its moves: they are taken back in the game.
"use strict";
const state = { get lang() { return ui.lang; }, set lang(lang) { ui.lang = lang; }, view: "levels", busy: false, ready: false, visits: 0, about: "" };
const keep = {
  get(name) { try { return localStorage.getItem("locklab." + name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem("locklab." + name, value); } catch { /* a file may have no storage */ } },
};

const link = (hash, ...label) => el("a", { href: "#" + hash }, ...label);
// byFamily is locks as options: those to start with, and then all under the titles of their families.
const asOption = (l) => [l.id, `${[l.short, l.id].filter(Boolean).join(" ")}: ${own(l.title)}`], grouped = (all) => [...new Set(all.map((o) => own(o.family)))].map((family) => [family, all.filter((o) => own(o.family) === family).map(asOption)]), byFamily = (all = DATA.locks) => [[say("board.start.here"), all.filter((o) => o.start).map(asOption)], ...grouped(all)];

// rivals offers locks for the same attack: what was meant to mend this one, the history that the same faults can strike from there on and back, the nearest
// first, and folded all others by family, with a filter, of which one is given to go.
function rivals(lock, value, go, chosen = go) {
  const of = (id) => DATA.locks.find((l) => l.id === id), { next, never } = of(lock), past = [...new Set(course.map((l) => l.lock))], at = past.indexOf(lock) + 1;
  const near = [...new Set([...past.slice(at), ...past.slice(0, at).reverse(), lock, value])].filter((id) => id !== next && (id !== lock || id === value) && (String(of(id).never) === String(never) || id === value)).map(of);
  const rest = grouped(DATA.locks.filter((l) => l.id !== next && l.id !== lock && !near.includes(l))).map(([family, all]) => el("details", el("summary", family), el("div.row", all.map(([id, label]) => button(label, () => go(id))))));
  const filter = el("input", { type: "search", placeholder: say("board.filter"), ariaLabel: say("board.filter"), oninput: () => rest.forEach((family) => {
    const all = [...family.querySelectorAll("button")].filter((b) => !(b.hidden = !b.textContent.toLowerCase().includes(filter.value.toLowerCase())));
    Object.assign(family, { hidden: !all.length, open: all.length && filter.value });
  }) });
  return [el("label", say("board.against") + " ", select([...(next ? [[say("play.fix"), [asOption(of(next))]]] : []), [say("board.history"), near.map(asOption)]], value, chosen)),
    el("details.others", el("summary", say("board.others")), filter, rest)];
}

function tell(text, bad = false) {
  const beside = text && (text === state.why || [state.at?.did, state.proved?.said].some((w) => text === plain(w))) && state.view === "game"; // the moves it stands
  Object.assign(document.getElementById("message"), { textContent: text, className: bad ? "bad" : beside ? "unseen" : "" });
}

// ---- the line of what was asked for --------------------------------------------------

// What needs the engine waits in line, and is done strictly in the order in which it was asked
// for. A key or a click means what it means when its turn has come.
const line = [];

// work puts something into the line. What goes wrong is said, and the view stays as it is; what
// it returns is said too.
function work(what, about = {}) {
  const done = new Promise((resolve) => line.push({ what, resolve, ...about }));
  if (!state.busy) serve();
  else drawLine();
  return done;
}

// visit is work that leads to another view; see turn. A way to yet another that takes long ends.
function visit(what, returning = false) {
  if (line[0]?.loose || line[0]?.visit) if (performance.now() - line[0].began > 400) leave();
  return work(what, { visit: ++state.visits, returning });
}

// onlyHere leads to another view, from inside of the line, if the one in which it was asked for is still shown.
function onlyHere(what) {
  line[0].visit = line[0].view === state.view ? ++state.visits : -1;
  return what();
}

async function serve() {
  state.busy = true;
  document.body.setAttribute("aria-busy", "true");
  const clock = setInterval(drawLine, 200), said = [];
  let bad = false;
  for (; line.length; line.shift().resolve()) {
    Object.assign(line[0], { began: performance.now(), from: state.visits });
    try {
      said.push(await line[0].what());
    } catch (error) {
      bad ||= error !== engine.left;
      said.push(error === engine.left ? line[0].from === state.visits && say("board.left") : line[0].returning && !error.page ? say("board.nowhere", { address: location.hash })
        : error.en ? own(error) : say("board.noengine", { why: String(error) }));
      if (line[0].returning) mark(true); // the address was a bad one
    }
    tell(said.filter(Boolean).slice(-3).join(" "), bad);
  }
  clearInterval(clock);
  state.busy = false;
  document.body.removeAttribute("aria-busy");
  drawLine();
}

// drawLine says for how long the engine has worked, and how much waits for it.
function drawLine() {
  const e = document.getElementById("line"), began = line[0]?.began, long = began ? performance.now() - began : 0;
  e.hidden = !(line.length > 1 || state.ready && long > 400); // how much of the engine has come is said already
  if (e.hidden) return;
  e.firstChild.textContent = [say(!state.ready ? "board.loading" : line[0].loose && long > 2000 ? "board.searching" : "board.busy"), long > 400 && state.ready ? ` ${(long / 1000).toFixed(1)} s` : "",
    line.length > 1 ? " · " + say("board.waiting", { n: line.length - 1 }) : ""].join("");
  Object.assign(e.lastChild, { textContent: say("board.leave"), hidden: !state.ready });
}

// leave ends what the engine works on; what waits for it goes on.
const leave = () => { if (state.busy && state.ready) engine.leave(); };

// ---- views and addresses ---------------------------------------------------------------

const VIEWS = { levels: drawLevels, race: drawRace, lessons: drawLessons, free: drawFree, game: drawGame, quiz: drawQuiz, ask: drawAsk, help: drawHelp };

// turn goes to a view, with what it shows. In the line it does so only if no other view was
// opened meanwhile; outside of it, what was said and what is searched for the view before ends.
function turn(view, values = {}, here = line[0]) {
  if (!here || here !== line[0]) tell(line[0]?.loose ? leave() ?? "" : "");
  Object.assign(state, values);
  if (here && here.visit !== state.visits) { drawFrame(); return say("board.there", { view: say(view === "race" ? "board.races" : "board." + view) }); }
  state.view = view;
  state.drawn = "";
  redraw();
  mark(here?.returning);
  if (document.activeElement === document.body) (document.querySelector("#main h2") ?? document.getElementById("main")).focus({ preventScroll: true });
  window.scrollTo(0, 0);
  return "";
}

// open shows a view that needs no engine, at once.
function open(view) {
  if (view === "quiz" && !state.question) return state.answers ? visit(() => ask(state.seed, state.number)) : startQuiz(state.seed ?? random());
  if (view === "ask" && !state.asking) return visit(() => askMe());
  if (view === "race" && !state.race) return playRace("token", "gc-pause");
  ++state.visits;
  turn(view, {}, null);
}

// redraw draws the view anew; a run stays where it was.
function redraw() {
  const where = state.moving?.isConnected && state.drawn === state.view ? state.moving.where() : null;
  state.moving = null;
  VIEWS[state.view]();
  state.drawn = state.view;
  if (where !== null && where < 1) state.moving?.goTo(where);
}

// show draws parts; what was reached by Tab keeps the focus.
function show(...parts) {
  const main = document.getElementById("main"), moves = () => [...main.querySelectorAll(".moves button")];
  const had = main.contains(document.activeElement) && document.activeElement.matches(":focus-visible, input") ? document.activeElement : null, move = moves().indexOf(had);
  main.replaceChildren(...parts.flat(Infinity).filter(Boolean));
  for (const h of main.querySelectorAll("h2")) h.tabIndex = -1;
  const same = had && [...main.querySelectorAll(had.tagName)].find((e) => e.textContent === had.textContent && e.ariaLabel === had.ariaLabel && e.name === had.name);
  (move >= 0 ? moves()[Math.min(move, moves().length - 1)] : same ?? (had && main.querySelector("h2")))?.focus({ preventScroll: had.tabIndex < 0 });
  drawFrame();
}

// loaded says how much of the engine has come, unless something is said that matters more.
const loaded = (got, all) => document.querySelector("#message.bad") ?? tell(say("board.loading") + ` ${(got / 1e6).toFixed(1)}${all ? " / " + (all / 1e6).toFixed(1) : ""} MB`);

// address is where the view can be found again.
function address() {
  switch (state.view) {
    case "game": return (state.level ? `level.${state.level.number}` : "") + (state.at.steps || !state.level ? (state.level ? "." : "") + state.at.link : "");
    case "race": return state.race ? state.hash : "race";
    case "quiz": return quizAddress();
    case "ask": return state.asking.number ? "ask." + state.asking.number : "ask";
    case "lessons": return state.lesson ? `lesson.${state.lesson.name.replaceAll(" ", ".")}${state.page ? "/" + (state.page + 1) : ""}` : "lessons";
  }
  return state.view;
}

// mark puts the view's address into the browser's history, or in the place of the last one.
function mark(again = false) {
  const hash = "#" + address(), { slid } = state; // what a slider does is one entry
  state.slid = null;
  if (location.hash === hash) return;
  try { history[again || slid && history.state === slid ? "replaceState" : "pushState"](slid, "", hash); } catch { /* not in every file:// */ }
}

// follow opens what the address names; of one that is damaged it says so, and nothing is lost.
function follow() {
  let hash = location.hash.slice(1);
  try { hash = decodeURIComponent(hash); } catch { /* it is no code of characters */ }
  if (["", "levels", "free", "help"].includes(hash)) {
    ++state.visits;
    return turn(hash || "levels", {}, { visit: state.visits, returning: true });
  }
  const [, kind, rest = ""] = /^(level|race|lessons?|quiz|ask|play)(?:\.(.*))?$/s.exec(hash) ?? [], words = rest.split(".");
  return visit(() => {
    if (line[0].visit !== state.visits) return ""; // gone on meanwhile
    switch (kind) {
      case "level": return openLevel(Number(words[0]), words[1]);
      case "race": return race(words[0] || "token", words[1] ?? "gc-pause", words.slice(2).join("."));
      case "lesson": case "lessons": return lesson(...rest.split("/"));
      case "quiz": return rest ? openQuiz(rest) : ask(state.seed ?? random(), state.number ?? 0);
      case "ask": return askMe(rest || undefined);
      case "play": return start(words[0], words[1] ?? state.budget ?? "pause=1");
    }
    return openAny(hash);
  }, true);
}

// ---- the frame, and help -----------------------------------------------------------------

function drawFrame() {
  document.documentElement.lang = state.lang;
  const { view, at, level, race, lesson } = state, about = { game: level ? `${level.number}. ${own(level.title)}` : at?.lock, race: race && `${race.lock} ${race.race}`, lessons: lesson?.name, levels: "" }[view];
  document.title = about === "" ? say("board.title") : `${about ?? say("board." + (view === "race" ? "races" : view))} - locklab`;
  Object.assign(document.getElementById("home"), { textContent: say("board.title"), onclick: () => open("levels") });
  Object.assign(document.getElementById("skip"), { textContent: say("board.skip"), onclick: (e) => { e.preventDefault(); document.getElementById("main").focus(); } });
  const tabs = ["levels", "race", "lessons", "free", "quiz", "ask"].map((view) => {
    const b = button(say(view === "race" ? "board.races" : "board." + view), () => (view === "lessons" ? openLessons() : open(view)));
    if (state.view === view) b.setAttribute("aria-current", "page");
    return b;
  });
  const rare = wide() ? [] : tabs.splice(3, 1); // a telephone has it under "more"
  if (state.at) tabs.splice(1, 0, Object.assign(button("▶ " + say("board.game"), () => open("game")), state.view === "game" ? { ariaCurrent: "page" } : {}));
  const row = document.getElementById("tabs"), here = row.replaceChildren(...tabs) ?? row.querySelector("[aria-current]"); // in sight, and so is most of the others
  row.classList.toggle("more", !row.classList.toggle("more", false) && row.scrollWidth > row.clientWidth);
  row.scrollLeft = here ? here.offsetLeft + here.offsetWidth + 36 - row.clientWidth : 0;
  const tools = Object.assign(document.getElementById("tools"), { onclick: () => tools.hidePopover?.() });
  Object.assign(document.getElementById("more"), { title: say("board.tools"), ariaLabel: say("board.tools") });
  tools.replaceChildren(...rare, ...[[say("board.language"), "language", language], ["◐", "theme", theme], ["A+", "large", large], ["?", "help", () => open("help")]].map(([label, key, what]) => sign(label, say("board." + key), what)));
  tools.children[2 + rare.length].setAttribute("aria-pressed", document.body.classList.contains("large"));
  document.getElementById("foot").textContent = say(ENGINE === "server" ? "board.native" : "board.works");
}

const MEANINGS = Object.keys(DATA.texts.en).filter((key) => key.startsWith("meaning.")).map((key) => key.slice("meaning.".length));

function drawHelp() {
  const words = (pairs) => el("dl", pairs.map(([word, meaning]) => [el("dt", word), el("dd", meaning)]));
  show(el("h2", say("board.help")), el("ol", say("board.how").split("//").map((how) => el("li", how))), words(["fault", "lease", "resource", "version", "lost", "c3"].map((w) => [say(`board.word.${w}`), say(`board.word.${w}.means`)])),
    el("h3", say("motion.picture")), words(["bar", "arrow", "wedge", "dot", "cut"].map((w) => [say(`board.word.${w}`), say(`board.word.${w}.means`)])), el("p", say("board.picture")), el("h3", say("board.word.keys")), ...say("board.keys").split("//").map((keys) => el("p", keys)),
    el("h3", say("term.timeline.name")), ...unsigned(say("term.timeline.text")).split("//").map((sign) => el("p", sign)),
    el("h3", say("board.verdicts")), words(MEANINGS.map((w) => [link("lesson." + w, el("b", { className: tone([w]) }, w)), say("meaning." + w)])));
}

function language() {
  keep.set("lang", state.lang = state.lang === "en" ? "zh" : "en");
  Object.assign(state, { why: "", judged: "" }); // they were said in the other one
  tell("");
  redraw();
}

function theme() {
  const root = document.documentElement;
  keep.set("theme", root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark");
}

function large() {
  keep.set("large", document.body.classList.toggle("large") ? "yes" : "");
  redraw(); // pictures are as large as letters
}

// ---- keys ------------------------------------------------------------------------------

// A key of a game or a quiz is looked up when its turn in the line comes.
const KEYS = { game: gameKey, quiz: quizKey, ask: askKey };

const press = (view, key) => KEYS[view]?.(key) ?? say("board.nokey", { key });

addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  if (e.key === "Escape") leave();
  else if (e.key === "l") language();
  else if (e.key === "t") theme();
  else if (e.key === "p") large();
  else if (/^([1-9uhgcnabd]|Enter)$/.test(e.key) && !(e.key === "Enter" && e.target.closest("button, a, summary")) && (KEYS[state.view] || line.some((one) => one.visit))) {
    const view = KEYS[state.view] ? state.view : undefined;
    work(() => press(view ?? state.view, e.key), { view, loose: /[hcg]/.test(e.key) });
  } else state.moving?.key(e);
});

// ---- the beginning -----------------------------------------------------------------------

// begin runs once all parts of the page are there.
function begin() {
  state.lang = keep.get("lang") ?? ((navigator.language || "en").startsWith("zh") ? "zh" : "en");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  (dark.onchange = () => { document.documentElement.dataset.theme = keep.get("theme") ?? (dark.matches ? "dark" : "light"); })();
  Object.assign(state, JSON.parse(keep.get("quizzed") ?? "{}")); // where it was left
  if (keep.get("large")) document.body.classList.add("large");
  document.getElementById("line").append(el("span"), button("", leave));
  redraw();
  tell(say("board.loading"));
  engine.started.then(() => {
    state.ready = true;
    if (!state.busy && !document.querySelector("#message.bad")) tell(say("board.ready"));
    state.seed ??= random();
    question(state.seed, 0).catch(() => {}); // while one looks around
  }, (why) => tell(say("board.noengine", { why: String(why) }), true));
  addEventListener("hashchange", follow);
  addEventListener("storage", () => { // another tab has set something
    state.lang = keep.get("lang") ?? state.lang;
    document.documentElement.dataset.theme = keep.get("theme") ?? document.documentElement.dataset.theme;
    redraw();
  });
  if (location.hash) follow();
}
