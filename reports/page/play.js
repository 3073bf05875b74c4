// Games: the course, a lock of one's own choice, a position.

// ---- levels ------------------------------------------------------------------------

const best = (level) => JSON.parse(keep.get("level." + level.id) ?? "null");
const wrong = (level) => Number(keep.get("wrong." + level.id)); // how often it was said in vain that it cannot be done
const course = DATA.levels.filter((l) => !l.more);

function drawLevels() {
  const one = (l) => el("li", button([el("span", String(l.number)), el("b", own(l.title)), el("span.tick", best(l) ? (best(l).helped ? "✓ " + say("board.helped") : "✓") : keep.get("seen." + l.id) ? say("board.seen") : ""), el("small.code", l.lock)], () => playLevel(l.number)));
  const solved = course.filter(best).length, helps = course.filter((l) => best(l)?.helped).length, goes = state.level && state.at.steps > 0 && !over(), ahead = goes ? state.level : course.find((l) => !best(l)) ?? course[0], costs = DATA.levels.reduce((n, l) => n + wrong(l), 0);
  show(el("div.hero", el("div", el("h2", say("board.hero")), el("p", say("board.intro")),
    button(say(solved || goes ? "board.goon" : "board.begin", { n: ahead.number }), () => (goes ? open("game") : playLevel(ahead.number)), ".main"),
    el("p", el("progress", { max: course.length, value: solved, ariaLabel: say("board.levels") }), " ", say("board.progress", { n: solved, of: course.length, more: DATA.levels.length - course.length }), helps ? " " + say("board.helps", { n: helps }) : "", costs ? " " + say("board.wrongs", { n: costs }) : ""), el("p.faint", say("board.then"))),
  el("figure", drawRun(DATA.shown, { part: wide() ? 0.55 : 1 }), el("figcaption.faint", say("board.race")))),
  el("h2", say("board.levels")), el("ol.levels", course.map(one)),
  el("details", el("summary", say("board.levels.more")), el("ol.levels", DATA.levels.filter((l) => l.more).map(one))));
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) state.moving.playFrom(0);
}

const playLevel = (number) => visit(() => openLevel(number));

// openLevel opens a level at its start, or at a position of it.
async function openLevel(number, position = "") {
  const level = DATA.levels[number - 1];
  if (!level) throw everywhere("board.nolevel", { number, n: DATA.levels.length });
  if (position && position === state.at?.link && level === state.level) return turn("game"); // it is at hand
  let bad = null;
  const fresh = (why) => { if (why && (why === engine.left || state.at)) throw why; bad = why; return engine.ask({ do: "level", number }); };
  const at = await (position ? engine.ask({ do: "at", link: position, harm: level.harm }).catch(fresh) : fresh());
  if (at.lock !== level.lock) throw everywhere("board.otherlevel", { n: number, lock: at.lock });
  const said = play(at, level, level);
  return bad ? Promise.reject({ ...bad, page: true }) : said; // of a damaged position the level is shown, unless a game is at hand
}
// everywhere is a text in each language, as an error of the engine is.
function everywhere(key, values) {
  const { lang } = ui, all = {};
  for (ui.lang of Object.keys(DATA.texts)) all[ui.lang] = say(key, values);
  ui.lang = lang;
  return { ...all, page: true };
}

// ---- a lock of one's own choice ----------------------------------------------------

function drawFree() {
  const lock = select(byFamily(), state.lock ?? "token", () => { chosen(); redraw(); });
  const never = DATA.locks.find((l) => l.id === lock.value)?.never ?? [], budgets = DATA.budgets.filter(([b]) => !never.some((f) => b.includes(f + "=")));
  const budget = select(budgets.map(([b, said]) => [b, own(said)]), budgets.some(([b]) => b === state.budget) ? state.budget : "pause=1");
  const timing = select(["lockstep", "any"].map((t) => [t, say("board.timing." + t)]), state.timing ?? "lockstep");
  const nodes = select([["0", say("board.nodes.few")], ...[1, 2, 3, 4, 5].map((n) => [String(n), String(n)])], state.nodes ?? "0");
  const fenced = el("input", { type: "checkbox", checked: state.fenced ?? false });
  const chosen = () => Object.assign(state, { lock: lock.value, budget: budget.value, timing: timing.value, nodes: nodes.value, fenced: fenced.checked });
  const given = el("input", { placeholder: "locklab2-…", size: 30, ariaLabel: say("board.open"), onkeydown: (e) => e.key === "Enter" && openLink(given.value.trim()) });
  show(
    el("h2", say("board.free")), el("p.faint", say("board.free.intro")),
    el("div.row", el("label", say("board.lock") + " ", lock), el("label", say("list.faults") + " ", budget),
      el("label", say("board.timing") + " ", timing), el("label", say("board.nodes") + " ", nodes), el("label", fenced, " " + say("board.fenced")),
      button(say("board.start"), () => {
        chosen();
        playFree(lock.value, budget.value, { timing: timing.value, nodes: Number(nodes.value), fenced: fenced.checked });
      }, ".main")),
    el("h2", say("board.open")), el("p.faint", say("board.open.means")),
    el("div.row", given, button(say("board.start"), () => openLink(given.value.trim()))));
}

const start = async (lock, budget, bounds = {}) => findGoal(await engine.ask({ do: "start", lock, budget, ...bounds }));
const playFree = (...about) => visit(() => start(...about));

// openAny opens a position of a game, or the run of a race.
async function openAny(link, harm = "") {
  if (link === state.at?.link && !state.level) return turn("game");
  let at;
  try {
    at = await engine.ask({ do: "at", link });
  } catch (error) {
    if (error === engine.left) throw error;
    try { return showRace(await engine.ask({ do: "replay", link }), link); } catch { throw error; }
  }
  return findGoal(at, harm);
}
const openLink = (link, harm = "") => visit(() => openAny(link, harm));

const goals = new Map(); // by game and harm
// findGoal shows a position, and seeks beside it what can be brought about.
async function findGoal(at, harm = "") {
  const game = [at.lock, at.bounds, harm].join(" "), known = goals.get(game);
  if (!known) engine.ask({ do: "goal", link: at.link, harm }, true).then((goal) => {
    goals.set(game, Object.assign(goal, { found: !harm && goal.harm }));
    if (state.level || [state.at.lock, state.at.bounds, harm].join(" ") !== game) return;
    Object.assign(state, { goal, harm: goal.harm });
    if (state.view === "game") redraw();
    askLost();
  }, () => {});
  return play(at, known ?? { harm, said: everywhere("board.seeking") }, null);
}

// ---- a game ------------------------------------------------------------------------

const ends = new Map(); // how games came to their ends, by link

// play begins a game at a position, with what is to be brought about: a goal, or a level. It keeps no result: one that was at its
// end is as it was left, and of a link nobody knows who solved it.
function play(at, goal, level) {
  Object.assign(state, { at, goal, harm: goal.harm, level, idea: null, hinted: -1, why: "", judged: "", mended: null, gaveUp: null, helped: false, flow: false, lost: null, proved: null, came: performance.now() });
  if (over()) Object.assign(state, ends.get(at.link) ?? (level && { gaveUp: everywhere(best(level) ? "board.was" : "board.linked"), helped: true }));
  state.share = askLost();
  return turn("game");
}

// step makes a request about the position, whose answer is the next one.
async function step(request) {
  const before = state.at.moving.at.length, at = await engine.ask({ link: state.at.link, harm: state.harm, ...request });
  if (!at.link) { state.gaveUp = at.said; return proved(at); } // there is no way
  if (request.do === "way") Object.assign(state, { gaveUp: at.end, helped: true });
  Object.assign(state, { mended: null, at, idea: null, hinted: -1, why: "", judged: "", lost: null, came: performance.now() });
  if (over()) ends.set(at.link, { gaveUp: state.gaveUp, helped: state.helped });
  reached();
  if (state.view === "game") {
    state.drawn = ""; // a new position is shown at its end
    redraw();
    mark(true);
    if (state.flow) state.moving.playFrom(before - 1);
  } else drawFrame();
  state.share = askLost();
  return plain(at.did); // it is announced
}

// reached keeps a result that is better than the best.
function reached() {
  const { at, level, harm } = state;
  if (!level) return;
  if (!at.moves.length || over() || total(at)) keep.set("tried." + level.id, "yes");
  const used = total(at), b = best(level), won = at.verdicts.includes(harm) && !state.gaveUp;
  const { helped } = state, same = helped === Boolean(b?.helped), better = !b || !helped && b.helped || same && (used < b.faults || (used === b.faults && at.steps < b.steps));
  if (won && better) keep.set("level." + level.id, JSON.stringify({ faults: used, steps: at.steps, helped }));
}

// askLost asks the second engine whether the game is lost. After a move that it does not answer for at once the page says so.
async function askLost() {
  const { link, steps } = state.at, note = say("board.checking"), lasts = () => steps && state.at.link === link && state.view === "game" && !over();
  const late = setTimeout(() => lasts() && tell(note), 500);
  const lost = state.harm && await engine.ask({ do: "lost", link, harm: state.harm }, true).catch(() => null);
  clearTimeout(late);
  if (document.getElementById("message").textContent === note) tell("");
  if (state.at.link !== link || !lost?.said) return;
  state.lost = lost;
  if (state.level) keep.set("tried." + state.level.id, "yes");
  if (state.view === "game") redraw();
}

const total = (at) => at.faults.reduce((n, f) => n + f.used, 0);
const over = () => Boolean(state.proved || state.harm && state.at.verdicts.includes(state.harm));

const back = () => { Object.assign(state, { gaveUp: null, flow: false }); return step({ do: "undo" }); };
const shortest = () => { state.flow = false; if (state.level) keep.set("seen." + state.level.id, "yes"); return step({ do: "way" }); };
// advice is the idea of a hint, and, asked for again, the move.
async function advice() {
  const { link } = state.at, first = !state.idea;
  state.idea ??= await engine.ask({ do: "hint", link, harm: state.harm }).catch((why) => { if (!why.en || why === engine.left) throw why; return { move: -1, idea: why, said: why }; });
  const { move, idea, said } = state.idea;
  Object.assign(state, { sure: "", judged: "", hinted: first ? -1 : move, helped: state.helped || !first && move >= 0, why: plain(first ? idea : said) });
  if (state.view === "game") { redraw(); document.querySelector(".hint")?.scrollIntoView({ block: "nearest" }); }
  return state.why;
}
// cannot answers that the goal cannot be reached, which needs a game that was played to its end; it is judged.
async function cannot() {
  const { level } = state, tried = !level || keep.get("tried." + level.id);
  const judged = tried && await engine.ask({ do: "cannot", link: state.at.link, harm: state.harm });
  if (judged?.right) return proved(judged);
  state.judged = tried ? own(judged.said) : say("board.tryfirst");
  if (tried && level && !state.lost) keep.set("wrong." + level.id, wrong(level) + 1);
  if (state.view === "game") { redraw(); document.querySelector(".judged")?.scrollIntoView({ block: "nearest" }); }
  return judged ? state.judged : ""; // else it stands below
}

function proved(judged) {
  if (state.level && !state.gaveUp) keep.set("level." + state.level.id, JSON.stringify({ proved: true }));
  if ((state.proved = judged) && state.view === "game") redraw();
  return own(judged.said);
}
const [undo, giveUp, hint, never] = [back, shortest, advice, cannot].map((what) => () => work(what, { loose: what !== back }));
const sure = () => (state.sure === state.at.link ? giveUp() : (state.sure = state.at.link, redraw())); // it is asked first
const next = () => state.level && state.level.number < DATA.levels.length && playLevel(state.level.number + 1);
const again = () => (state.level ? playLevel(state.level.number) : visit(async () => findGoal(await engine.ask({ do: "again", link: state.at.link }), state.harm)));
const mend = (lock) => work(async () => {
  state.rival = lock;
  state.mended = await engine.ask({ do: "mend", link: state.at.link, harm: state.harm, lock });
  if (state.view === "game") redraw();
}, { loose: true });

// take makes a move of the position that is shown, once: a second click at the same place may meet another move.
const take = (m) => window.event?.detail && performance.now() - state.came < 350 ? "" : work(() => {
  state.flow = false;
  const number = state.at.moves.indexOf(m); // of another position: it was clicked on twice
  return number < 0 ? "" : step({ do: "move", number });
});
const regain = () => step({ do: "at", link: state.lost.link }); // before the game was lost

// gameKey does what a key means in the position that it meets; undefined: it means nothing there.
function gameKey(key) {
  const number = Number(key) - 1;
  state.flow = false;
  if (number >= 0) return state.at.moves[number] ? step({ do: "move", number }) : undefined;
  if (key === "u") return state.at.steps ? back() : undefined;
  if ("hcg".includes(key)) return over() ? undefined : { h: advice, c: cannot, g: () => (state.sure === state.at.link ? shortest() : sure() ?? say("board.giveup.sure")) }[key]();
  if (key === "b") return state.share.then(() => (state.lost?.link ? regain() : say("board.nokey", { key })));
  if (key !== "n" || !over() || !state.level || state.level.number >= DATA.levels.length) return undefined;
  return onlyHere(() => openLevel(state.level.number + 1));
}

// onward lets time flow: the only move that is no fault makes itself, until there is a choice.
function onward() {
  state.flow = true;
  return work(() => {
    const usual = state.at.moves.filter((m) => !m.fault);
    if (!state.flow || state.view !== "game") return "";
    if (usual.length === 1) return step({ do: "move", number: state.at.moves.indexOf(usual[0]) });
    state.flow = false;
    return say(usual.length ? "board.yours" : "board.over");
  });
}

// copy copies a text, or shows it, to be copied by hand.
const copy = async (text) => tell(await Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => say("board.copied"), () => text));

// moving is a run as a timeline that moves; it gets the keys.
function moving(run, o = {}) {
  state.moving = motion(run, { part: 1, speed: Number(keep.get("speed")) || 1, onspeed: (s) => keep.set("speed", s), ...o });
  return state.moving;
}
const wide = () => document.documentElement.clientWidth > 736;
const drawRun = (run, o = {}) => moving(run.moving, { listings: run.listings, fold: true, ...o });
const verdictsOf = (of) => el(["span", tone(of.verdicts)].filter(Boolean).join("."), of.verdicts.map((v, i) => [i ? " " : "", link("lesson." + v, v)]));

function drawGame() {
  const { at, level, goal, harm } = state, lost = !over() && state.lost, board = level ?? DATA.levels.find((l) => l.lock === at.lock);
  const won = harm && at.verdicts.includes(harm);
  const code = el("div.motion-code");
  const acts = at.moves.map((m) => ({ client: 0, node: 0, message: 0, ...m, said: plain(m.said), go: () => take(m) }));
  const times = (n) => say(n === 1 ? "play.one.time" : "play.many.time", { n });
  const tools = at.faults.map((f) => say(f.used < f.most ? "board.tool" : "board.tool.used", { tool: own(f.title), left: times(f.most - f.used) }) + " ");
  const marks = lost?.link ? [...(at.moving.marks ?? []), { e: Math.min(lost.event, at.moving.at.length - 1), s: say("board.lost") }] : at.moving.marks;
  show(
    el("h2", level ? `${level.number}. ${own(level.title)} ` : "", el("span.code", at.lock), level ? "" : ": " + own(at.title)),
    el("p.goal", own(goal.said)),
    board && el("details.board", { open: state.folded === undefined ? wide() : !state.folded }, el("summary", { onclick: (e) => { state.folded = e.target.parentNode.open; } }, say("board.code")), el("pre", { tabIndex: 0 }, own(board.code))),
    el("p.rules", tools.length ? tools : say("board.tool.none") + " ", el("span.faint", own(at.rules)), " ", at.verdicts.length ? [say("board.sofar") + " ", verdictsOf(at)] : null),
    over() ? null : el("p.did", at.steps ? plain(at.did) : say("board.first")), won || state.proved ? drawEnd() : lost ? drawLost(lost) : null,
    el(at.steps ? "div.play.begun" : "div.play", el("div.picture", state.mended ? drawMended() : null,
        drawRun({ ...at, moving: { ...at.moving, marks } }, { acts, onward, halt: () => { state.flow = false; }, code, part: wide() ? 0.64 : 1 })),
      el("div.side",
        lost?.link && level ? at.moves.length > 0 && el("details", el("summary", say("board.playon")), drawMoves(at)) : [el("h3.choices", say("board.choices")), state.why && el("p.hint", state.why), drawMoves(at)],
        el("div.row", button(say("board.undo"), undo), over() ? null : [button(say(state.idea ? "board.hint.move" : "board.hint"), hint),
          goal.found ? null : button(say("board.cannot"), never), button(say(state.sure === at.link ? "board.giveup.sure" : "board.giveup"), sure)], button(say("board.restart"), again)),
        lost && state.why && el("p.hint", state.why), state.judged && el("p.judged", state.judged, lost?.link ? " " + say("board.back.there", { back: say("board.back") }) : ""),
        el("details", { open: state.coded ?? (!board && at.steps > 0), ontoggle: (e) => { state.coded = e.target.open; } }, el("summary", say("board.realcode")), code))));
}

const following = () => state.level && DATA.levels[state.level.number], nextTitle = () => say("board.next", { title: own(following().title) });
// drawLost says which move lost and why, and leads back to before it.
const drawLost = (lost) => el("div.end.harmful", el("p", plain(lost.said)), el("p", el("b", say("play.learn") + " "), own(lost.remember)),
  el("div.row", lost.link && button(say("board.back"), () => work(regain), ".main")));

function drawMoves(at) {
  if (!at.moves.length) return el("p", say(over() && !state.gaveUp ? "board.solved" : "board.over"), over() && following() ? [" ", button(nextTitle(), next)] : "");
  return el("ol.moves", at.moves.map((m, i) => el("li",
    button([el("kbd", String(i + 1)), el("span", plain(m.said)), el("small", m.fault ? say("board.fault") : "")], () => take(m),
      (m.fault ? ".fault" : "") + (i === state.hinted ? ".hinted" : "")))));
}

function drawEnd() {
  const { level } = state;
  return el(state.gaveUp ? "div.end.given" : "div.end.won", el("p", plain(state.proved?.said ?? state.gaveUp ?? state.at.end)), state.proved && el("details", el("summary", say("play.assumed.title")), el("p", say("play.assumed"))),
    !state.proved && (state.gaveUp ? el("p", say("board.gaveup.step", { back: "◀", on: "▶" }), " ", button(say("board.alone"), again)) : state.helped && el("p", say("board.helped.end"))),
    level && el("p", el("b", say("play.learn") + " "), own(level.learn)),
    following() && button(nextTitle(), next, ".main"), level?.number % 4 === 0 && el("p", link("quiz", say("board.quiz.now"))),
    level?.number === course.length && el("p", say("board.own"), " ", el("code", "locklab check ./mylock")),
    el("details", { open: state.mended }, el("summary", say("board.further")),
      level && el("p", el("b", say("play.question") + " "), own(level.question), " ", link(["lesson.interview", level.topic].filter(Boolean).join("."), say("board.explain"))),
      state.proved ? null : drawMend(state.at)));
}

function drawMend(at) {
  const usual = DATA.locks.find((l) => l.id === at.lock)?.next || "watchdog", value = state.rival && state.rival !== at.lock ? state.rival : usual;
  const [same, others] = rivals(at.lock, value, mend, (id) => { state.rival = id; });
  return el("div.row", same, button(say("board.try"), () => mend(same.querySelector("select").value)), others);
}

function drawMended() {
  const m = state.mended, [same, found] = m.said;
  return el("div.end" + (m.possible ? ".harmful" : ""), el("p", own(same)), motion(m.moving, { still: true, part: wide() ? 0.6 : 1 }), el("p", own(found)),
    button(say("board.start") + ": " + m.lock, () => openLink(m.way, state.harm)));
}
