// The script of a lesson. All slides are in the page; this shows one at a time, and then its answer. The address has the
// slide, "#3", with "!" once its answer is shown, or the name of a view for paper, "#worksheet".
const steps = [...document.querySelectorAll(".step")];
const VIEWS = ["slides", "handout", "worksheet", "key"];
const DATA = JSON.parse(document.getElementById("data").textContent);
const message = document.getElementById("message"), bar = document.getElementById("bar");
let presenter = null, begun = 0;
const state = { at: 0, answered: false, view: "slides", notes: false };
const say = (key) => DATA.texts[key];

// go shows a slide, with its answer or without.
function go(at, answered = false) {
  location.hash = (Math.max(0, Math.min(at, steps.length - 1)) + 1) + (answered ? "!" : "");
}

const hidden = () => !state.answered && steps[state.at].querySelector(".answer:not(.later)"); // which the next slides are
const moving = () => steps[state.at].getAnimations({ subtree: true }).filter((a) => a.playState === "running");
function next() { moving().length ? moving().forEach((a) => a.finish()) : hidden() ? go(state.at, true) : state.at + 1 < steps.length && go(state.at + 1); }
function back() { state.answered ? go(state.at) : state.at > 0 && go(state.at - 1); }

// arrive shows what the address names. One that names nothing leaves the slide that is shown.
function arrive() {
  const name = location.hash.slice(1), slide = /^(\d+)(!?)$/.exec(name), known = slide && steps[slide[1] - 1];
  message.textContent = name && !known && !VIEWS.includes(name) ? say("lesson.nowhere") : "";
  if (known) {
    state.at = slide[1] - 1;
    state.answered = slide[2] === "!";
  }
  state.view = VIEWS.includes(name) ? name : name === "" ? DATA.view : "slides";
  draw();
}

function draw() {
  document.body.className = state.view + (state.notes ? " notes-on" : "");
  steps.forEach((s, i) => { s.classList.toggle("now", i === state.at); s.classList.toggle("answered", i === state.at && state.answered); });
  const views = VIEWS.map((v) => [say("lesson.view." + v), () => { v === "slides" ? go(state.at, state.answered) : (location.hash = v); }, state.view === v]);
  const slides = state.view !== "slides" ? [] : [
    ["◀", back, false, "lesson.back"], [`${state.at + 1} / ${steps.length}`],
    hidden() ? [say("lesson.answer"), next] : ["▶", next, false, "lesson.forward"], [say("lesson.notes.short"), notes, state.notes || presented(), "lesson.notes"], [say("lesson.full"), full]];
  bar.replaceChildren(...[...slides, ...views, [say("lesson.print"), () => print()]].map(([text, act, on, label]) => {
    const b = document.createElement(act ? "button" : "output");
    b.textContent = text;
    b.onclick = act;
    if (act) b.setAttribute("aria-pressed", String(Boolean(on)));
    if (label) b.title = say(label);
    return b;
  }));
  if (presented()) present();
  fill();
}

// fill chooses the size of letters, of which all other sizes are multiples, so that the slide fills the screen and
// nothing has to be scrolled.
function fill() {
  const root = document.documentElement;
  root.style.fontSize = "";
  let size = Math.min((state.notes ? 0.67 : 1) * innerWidth / 60, innerHeight / 34); // the notes stand beside it
  if (state.view === "slides" && innerWidth >= 700) do root.style.fontSize = (size -= size / 30) + "px"; while (size > 8 && root.scrollHeight > innerHeight);
  root.style.setProperty("--bar", bar.offsetHeight + "px");
}

// notes opens the presenter's window, which follows the slides, or closes it. Where there can be none, a panel has the notes.

const presented = () => presenter && !presenter.closed;
function notes() {
  if (presented()) presenter.close();
  else if (state.notes || innerWidth < 700 || !(presenter = open("", "", "popup,width=760,height=680"))) state.notes = !state.notes;
  else {
    presenter.document.head.append(document.querySelector("style").cloneNode(true));
    presenter.document.body.className = "presenter";
    presenter.addEventListener("keydown", key);
  }
  draw();
}

function present() {
  const [now, following] = [state.at, state.at + 1].map((n) => steps[n]);
  const parts = ["header", ".question", ".choices", ":scope > .answer", ".notes"].map((part) => now.querySelector(part));
  if (following) parts.push(Object.assign(document.createElement("p"), { textContent: say("lesson.following") }), following.querySelector("header"));
  const place = `${state.at + 1} / ${steps.length}`, clock = document.createElement("p"), time = document.createElement("button");
  clock.className = "clock";
  clock.append(place + " · ", time);
  time.title = say("lesson.clock");
  time.onclick = () => { begun = Date.now(); tick(); };
  presenter.document.title = `${place} · ${say("lesson.notes")}`;
  presenter.document.body.replaceChildren(clock, ...parts.filter(Boolean).map((e) => e.cloneNode(true)));
  tick();
  presenter.scrollTo(0, 0);
}

// tick shows how long the lesson takes, since the presenter has clicked.
function tick() {
  const time = presented() && presenter.document.querySelector(".clock button"), seconds = Math.floor((Date.now() - begun) / 1000);
  if (time) time.textContent = begun ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : say("lesson.clock");
}
setInterval(tick, 1000);

function full() { document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen(); }

steps.forEach((step, n) => step.querySelectorAll(".choices li").forEach((li) => {
  li.querySelector("button").onclick = () => { // what was chosen stays marked, and the answers are shown
    step.querySelectorAll(".chosen").forEach((o) => o.classList.remove("chosen"));
    li.classList.add("chosen");
    if (state.view === "slides") go(n, true);
  };
}));

function key(e) {
  if (state.view !== "slides" || e.ctrlKey || e.metaKey || e.altKey) return;
  const choice = /^[1-4]$/.test(e.key) && steps[state.at].querySelectorAll(".choices button")[e.key - 1];
  if (["ArrowRight", "PageDown", " "].includes(e.key)) next();
  else if (["ArrowLeft", "PageUp"].includes(e.key)) back();
  else if (e.key === "Home") go(0);
  else if (e.key === "End") go(steps.length - 1);
  else if (e.key === "n" || e.key === "N") notes();
  else if (e.key === "f" || e.key === "F") full();
  else if (choice) choice.click();
  else return;
  e.preventDefault();
}
addEventListener("keydown", key);
addEventListener("pagehide", () => presenter?.close());
addEventListener("hashchange", arrive);
addEventListener("resize", fill);
arrive();
