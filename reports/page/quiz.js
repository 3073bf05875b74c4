// The quiz. The second engine makes its questions, the next one while one reads.

const random = () => 1 + Math.floor(Math.random() * 9999);
const questions = new Map(); // by seed, number and what they are about, as promises
function question(seed, number) {
  const key = JSON.stringify([seed, number, state.about]);
  if (!questions.has(key)) {
    const q = engine.ask({ do: "question", seed, number, ...state.about }, true);
    questions.set(key, q);
    q.catch(() => questions.delete(key)); // it was left
  }
  return questions.get(key);
}

async function ask(seed, number) {
  const quiz = [seed, aboutWords()].join(".");
  if (state.quiz !== quiz || !state.answers) Object.assign(state, { seed, quiz, answers: {} });
  const q = await question(seed, number);
  question(seed, number + 1).catch(() => {});
  return remember(turn("quiz", { question: q, number }));
}
// remember keeps score and place.
function remember(said) {
  const { seed, number, answers, about, quiz } = state;
  keep.set("quiz", JSON.stringify({ seed, number, answers, about, quiz }));
  return said;
}

// What a quiz may be about: the words of its address, with those of the engine.
const ABOUT = { lock: "locks", race: "races", lesson: "name", difficulty: "difficulty" };

const aboutWords = () => Object.keys(ABOUT).flatMap((word) => [state.about[ABOUT[word]] || []].flat().map((name) => `${word}=${name}`)).join(",");

// quizAddress is quiz.SEED.NUMBER, and what was chosen: quiz.7.3.lock=token,difficulty=easy.
const quizAddress = () => ["quiz", state.seed, state.number + 1, aboutWords()].filter((part) => part !== "").join(".");

// openQuiz asks the question of an address. What is wrong with it is said, and the quiz stays as it was.
async function openQuiz(address) {
  const [, seed, number = 1, rest = ""] = /^(\d{1,15})(?:\.([1-9]\d{0,3}))?(?:\.([\w=,-]+))?$/.exec(address) ?? [];
  const before = state.about, chosen = rest.split(",").filter(Boolean).map((one) => one.split("="));
  if (seed === undefined || !chosen.every(([word, name]) => Object.hasOwn(ABOUT, word) && name)) throw everywhere("board.noquiz", { address });
  state.about = Object.fromEntries(chosen.map(([word, name]) => [ABOUT[word], /^(lock|race)$/.test(word) ? [name] : name]));
  try {
    return await ask(Number(seed), number - 1);
  } catch (error) {
    state.about = before;
    throw error;
  }
}

function startQuiz(seed) {
  ++state.visits;
  turn("quiz", { seed, number: 0, answers: {}, question: null }, null);
  return visit(() => ask(seed, 0));
}

const chosen = () => state.answers?.[state.number]?.chosen ?? -1; // which answer; -1: none so far

function choose(i) {
  if (chosen() >= 0) return;
  state.answers[state.number] = { chosen: i, right: state.question.answers[i].right };
  remember();
  redraw();
}

const nextQuestion = () => visit(() => ask(state.seed, state.number + 1));

function quizKey(key) {
  const i = /[a-d]/.test(key) ? key.charCodeAt(0) - 97 : Number(key) - 1;
  if (state.question?.answers[i] && chosen() < 0) return choose(i) ?? "";
  if (key !== "n" || chosen() < 0) return undefined;
  return onlyHere(() => ask(state.seed, state.number + 1));
}

function drawQuiz() {
  const { question: q, answers } = state;
  const seed = el("input", { type: "number", min: 0, value: state.seed, style: "width:7rem", onchange: () => startQuiz(Math.abs(parseInt(seed.value, 10) || 0)) });
  const all = Object.values(answers), right = all.filter((a) => a.right).length;
  const { about } = state;
  const choice = (label, value, options, set) => el("label", label + " ", select(options, value ?? "", (v) => { state.about = { ...about, ...set(v) }; startQuiz(state.seed); }));
  const usual = ["", say("board.quiz.usual")];
  const head = el("details", el("summary", say("board.quiz.about")), el("div.row", choice(say("board.quiz.difficulty"), about.difficulty, ["", "easy", "medium", "hard"].map((d) => [d, say("board.quiz." + (d || "first"))]), (difficulty) => ({ difficulty })),
    choice(say("board.lock"), about.locks?.[0], [usual, ...byFamily()], (l) => ({ locks: l ? [l] : [] })),
    choice(say("board.inrace"), about.races?.[0], [usual, ...DATA.races.map((r) => [r.id, r.id])], (race) => ({ races: race ? [race] : [] })),
    choice(say("board.quiz.lesson"), about.name, [usual, ...screens()], (name) => ({ name })),
    el("label", say("board.seed") + " ", seed)));
  if (!q) return show(el("h2", say("board.quiz")), head, el("p", button(say("board.start"), () => startQuiz(state.seed))));
  const mine = chosen();
  const list = q.answers.map((a, i) => el("li", button(
    [el("kbd", "abcd"[i]), el("span", own(a.said)), el("span"), mine >= 0 ? el("small", own(a.why)) : null],
    () => choose(i), mine < 0 ? "" : a.right ? ".right" : i === mine ? ".wrong" : "")));
  show(
    el("h2", say("board.question", { n: state.number + 1 }), q.run ? [": ", el("span.code", q.lock), ", " + own(q.race)] : null, " ", el("small.faint", say("board.score", { right, all: all.length }))),
    el("p.ask", own(q.ask)),
    el(q.run ? "div.play" : "div", q.run ? el("div", drawRun(q.run)) : null, el("div", el("ol.moves.answers", list),
      mine >= 0 ? el("p.row", el("b", say(answers[state.number].right ? "board.right" : "board.wrong")), button(say("board.more"), nextQuestion, ".main"), button(say("board.run"), () => copy("locklab run " + q.link))) : null)), head);
}
