// The script of a lesson. All slides are in the page; this shows one at a time and plays the runs. The address has
// the slide, "#3", with "!" once its answer is shown, or the name of a view for paper, "#worksheet".
const steps = [...document.querySelectorAll(".step")];
const VIEWS = ["slides", "handout", "worksheet", "key"];
let DATA = { texts: {}, book: { runs: {}, listings: [] }, view: "slides" };
const message = document.getElementById("message");
const damaged = () => { message.textContent = document.getElementById("damaged").textContent; };
try {
  const read = JSON.parse(document.getElementById("data").textContent);
  if (!read.book || !read.book.runs || !read.texts) throw new Error("incomplete");
  DATA = read;
} catch {
  damaged();
}
const state = { at: 0, answered: false, view: "slides", moving: null };

// play puts the run of a slide on it, at its beginning. One that cannot be played is shown as a picture.
function play(step) {
  state.moving = null;
  if (!step.dataset.run || step.classList.contains("unplayable")) return;
  const place = step.querySelector(".player");
  try {
    const run = DATA.book.runs[step.dataset.run];
    if (!run) throw new Error("missing");
    const moving = motion(run, { listings: DATA.book.listings });
    place.replaceChildren(moving);
    moving.goTo(step.classList.contains("quiz") ? 1 : 0);
    state.moving = moving;
  } catch {
    place.replaceChildren();
    step.classList.add("unplayable");
    damaged();
  }
}

// go shows a slide, with its answer or without.
function go(at, answered = false) {
  location.hash = (Math.max(0, Math.min(at, steps.length - 1)) + 1) + (answered ? "!" : "");
}

const hidden = (step) => !state.answered && step.querySelector(".answer");
function next() { hidden(steps[state.at]) ? go(state.at, true) : state.at + 1 < steps.length && go(state.at + 1); }
function back() { state.answered ? go(state.at) : state.at > 0 && go(state.at - 1); }

// arrive shows what the address names. One that names nothing leaves the slide that is shown.
function arrive() {
  const name = location.hash.slice(1), slide = /^(\d+)(!?)$/.exec(name);
  const view = VIEWS.includes(name) ? name : name === "" ? DATA.view : "slides";
  if (name && !slide && !VIEWS.includes(name) || slide && !steps[slide[1] - 1]) {
    message.textContent = say("lesson.nowhere");
  } else if (slide) {
    message.textContent = message.textContent === say("lesson.nowhere") ? "" : message.textContent;
    state.at = slide[1] - 1;
    state.answered = slide[2] === "!";
  }
  const moved = state.shown !== state.at || state.view !== view;
  state.view = view;
  document.body.className = view + (state.notes ? " notes-on" : "");
  steps.forEach((s, i) => { s.classList.toggle("now", i === state.at); s.classList.toggle("answered", i === state.at && state.answered); });
  if (view === "slides" && moved) { play(steps[state.at]); state.shown = state.at; scrollTo(0, 0); }
  if (state.answered && view === "slides") state.moving?.goTo(1);
  draw();
}

function draw() {
  const views = VIEWS.map((v) => {
    const b = sign(say("lesson.view." + v), say("lesson.view." + v), () => { v === "slides" ? go(state.at, state.answered) : (location.hash = v); });
    if (state.view === v) b.setAttribute("aria-current", "page");
    return b;
  });
  const answers = hidden(steps[state.at]), notesOn = sign(say("lesson.notes.short"), say("lesson.notes"), notes);
  notesOn.setAttribute("aria-pressed", String(Boolean(state.notes)));
  const slides = state.view !== "slides" ? [] : [
    sign("◀", say("lesson.back"), back), el("output", `${state.at + 1} / ${steps.length}`),
    sign(answers ? say("lesson.answer") : "▶", say(answers ? "lesson.answer" : "lesson.forward"), next), notesOn];
  document.getElementById("bar").replaceChildren(...slides, ...views, sign(say("lesson.print"), say("lesson.print"), () => print()));
}

function notes() { state.notes = !state.notes; arrive(); }

steps.forEach((step, n) => step.querySelectorAll(".choices li").forEach((li) => {
  li.querySelector("button").onclick = () => { // what was chosen stays marked, and the answers are shown
    step.querySelectorAll(".chosen").forEach((o) => o.classList.remove("chosen"));
    li.classList.add("chosen");
    if (state.view === "slides") go(n, true);
  };
}));

addEventListener("keydown", (e) => {
  if (state.view !== "slides" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const choice = /^[1-4]$/.test(e.key) && steps[state.at].querySelectorAll(".choices button")[e.key - 1];
  if (["ArrowRight", "PageDown"].includes(e.key)) next();
  else if (["ArrowLeft", "PageUp"].includes(e.key)) back();
  else if (e.key === "Home") go(0);
  else if (e.key === "End") go(steps.length - 1);
  else if (e.key === "n" || e.key === "N") notes();
  else if (choice) choice.click();
  else if (e.key === " " && e.target.tagName !== "BUTTON" && (state.answered || !state.moving)) next();
  else if (![" ", ",", "."].includes(e.key) || !state.moving?.key(e)) return;
  e.preventDefault();
});
addEventListener("hashchange", arrive);
arrive();
