// The quiz. The second engine makes its questions, the next one while one reads. What a quiz is about is said as in its
// address: "lock=token,difficulty=easy".

const ABOUT = { lock: "locks", race: "races", lesson: "name", difficulty: "difficulty" }; // its words, with those of the engine
const aboutOf = (about) => new Map(about.split(",").filter(Boolean).map((one) => one.split("=")));

const random = () => 1 + Math.floor(Math.random() * 9999);
const question = (seed, number, about = state.about) => engine.ask({ do: "question", seed, number,
  ...Object.fromEntries([...aboutOf(about)].map(([word, name]) => [ABOUT[word], /^(lock|race)$/.test(word) ? [name] : name])) }, true);

async function ask(seed, number, about = state.about) {
  const quiz = seed + about, q = await question(seed, number, about);
  question(seed, number + 1, about).catch(() => {}); // the engine has it then
  return remember(turn("quiz", { question: q, number, seed, about, quiz, answers: state.quiz === quiz && state.answers || {} }));
}
const remember = (said) => { // score and place
  const { seed, number, answers, about, quiz } = state;
  return keep.set("quizzed", JSON.stringify({ seed, number, answers, about, quiz })) ?? said;
};

// quizAddress is quiz.SEED.NUMBER, and what was chosen: quiz.7.3.lock=token,difficulty=easy.
const quizAddress = () => ["quiz", state.seed, state.number + 1, state.about].filter((part) => part !== "").join(".");

// openQuiz asks the question of an address. What is wrong with it is said, and the quiz stays as it was.
async function openQuiz(address) {
  const [, seed, number = 1, about = ""] = /^(\d{1,15})(?:\.([1-9]\d{0,3}))?(?:\.([\w=,-]+))?$/.exec(address) ?? [];
  if (seed === undefined || ![...aboutOf(about)].every(([word, name]) => Object.hasOwn(ABOUT, word) && name)) throw everywhere("board.noquiz", { address });
  return ask(Number(seed), number - 1, about);
}

function startQuiz(seed, about = state.about) {
  ++state.visits;
  turn("quiz", { seed, about, quiz: "", number: 0, answers: {}, question: null }, null);
  return visit(() => ask(seed, 0));
}

const chosen = () => state.answers?.[state.number]?.chosen ?? -1; // which answer; -1: none so far

function choose(i) {
  if (chosen() >= 0) return;
  state.answers[state.number] = { chosen: i, right: state.question.answers[i].right, lock: state.question.lock };
  remember();
  redraw(wide() || scrollTo(0, 0));
}

const further = (n = state.number + 1) => (state.answers[n] ? further(n + 1) : ask(state.seed, n)); // one that is new

function quizKey(key) {
  const named = state.question?.answers.findIndex((a) => plain(a.said) === key) ?? -1, i = named >= 0 ? named : /[a-d]/.test(key) ? key.charCodeAt(0) - 97 : Number(key) - 1;
  if (state.question?.answers[i] && chosen() < 0) return choose(i) ?? "";
  return !/^(n|Enter)$/.test(key) || chosen() < 0 ? undefined : onlyHere(() => further());
}

function drawQuiz() {
  const { question: q, answers } = state, all = Object.values(answers), round = Object.keys(answers).filter((n) => Math.floor(n / 10) === Math.floor(state.number / 10)).map((n) => answers[n]), about = aboutOf(state.about);
  const choice = (label, word, options) => el("label", label + " ", select([["", say("board.quiz.usual")], ...options], about.get(word) ?? "",
    (name) => startQuiz(state.seed, [...about.set(word, name)].filter((one) => one[1]).map((one) => one.join("=")).join(","))));
  const head = el("details", el("summary", say("board.quiz.about")), el("div.row",
    choice(say("board.lock"), "lock", byFamily()), choice(say("board.inrace"), "race", titled()), choice(say("board.quiz.lesson"), "lesson", screens())));
  if (!q) return show(el("h2", say("board.quiz")), head, el("p", button(say("board.start"), () => startQuiz(state.seed))));
  const { moving } = q.run, { code } = DATA.levels.find((l) => l.lock === q.lock) ?? {}, mine = chosen(), asks = mine < 0, ten = !asks && all.length % 10 === 0 && all.slice(-10), mark = (a, i) => (asks ? "" : a.right ? ".right" : i === mine ? ".wrong" : "");
  show(el("h2", say("board.question", { n: state.number % 10 + 1 }), state.lang === "zh" ? "：" : ": ", el("span.code", q.lock), ", ", own(q.race), " ", round.length > 0 && el("small.faint", say("board.score", { right: round.filter((a) => a.right).length, all: round.length }))),
    el("div.play.quiz" + (asks ? ".asks" : ""), el("div.run", drawRun({ ...q.run, moving: { ...moving, states: asks || !q.shown ? moving.states : q.shown, marks: [...(moving.marks ?? []), { e: moving.at.length - 1, s: say("board.now"), now: true }] } }, { part: wide() ? 0.64 : 1 })), el("div", !wide() && el("p.faint.swipe", say("board.swipe")), el("p.faint.about", own(DATA.locks.find((l) => l.id === q.lock).title)), code && el("details.board", { open: wide() }, el("summary", say("board.code")), el("pre", { tabIndex: 0 }, own(code))), el("p.ask", own(q.ask)),
      el("ol.moves.answers", q.answers.map((a, i) => el("li", button([el("kbd", "abcd"[i]), el("span", own(a.said)), el("span"), asks ? null : el("small", own(a.why))], () => choose(i), mark(a, i))))),
      asks ? null : el("p.row", el("b", say(answers[state.number].right ? "board.right" : "board.wrong", { right: "abcd"[q.answers.findIndex((a) => a.right)] })), button(say(ten ? "board.quiz.on" : "board.more"), () => visit(() => further()), ".main"), link(q.link, say("board.run"))),
      ten && el("div.end", el("p", say("board.quiz.ten", { right: ten.filter((a) => a.right).length })), [...new Set(ten.map((a) => a.lock))].filter((l) => ten.filter((a) => a.lock === l && !a.right).length >= ten.filter((a) => a.lock === l && a.right).length).map((lock) => weak(lock))))), head);
}

// weak leads from the lock of a wrong answer to its level, or to its lesson.
const weak = (lock) => el("p", `${say("board.quiz.weak")} ${lock} → `, levelsOf(lock)[0] ?? link("lesson." + lock, say("board.explain")));
