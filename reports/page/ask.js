// Ask me: the questions of an interview, one at a time. One says the answer aloud, looks, and marks oneself.

const marks = () => JSON.parse(keep.get("ask") ?? "{}"); // of questions, by their English titles: how well, as which mark
const lastOf = (all) => Math.max(0, ...Object.values(all).map((m) => m.at));
const unknown = (mark) => mark && mark.how !== "yes";

// interview is the questions of its lesson, each with its short answer and the run that proves it.
const interview = (said) => sections(said).filter((s) => /^\? /.test(s.title)).map(({ title, lines }) => {
  const [, lock, race, proves] = /locklab run (\S+) (\S+) = (.*)/.exec(lines.join("\n")) ?? [];
  return { title: heading(title), short: lines.find((line) => line.trim()).replace(/^.*?[:：] */, ""), lock, race, proves };
});

// askMe asks a question, from 1; without a number the one whose turn it is: what one did not know comes again after
// three others, then comes what was not asked yet.
async function askMe(number) {
  const { said } = await engine.ask({ do: "lesson", name: "interview" }), ids = interview(said.en).map((q) => q.title), of = marks();
  if (number !== undefined && !ids[number - 1]) throw everywhere("board.noasked", { number, n: ids.length });
  const last = lastOf(of), ring = ids.map((_, i) => (i + (state.asking?.number ?? 0)) % ids.length);
  const find = (fits) => ring.find((i) => fits(of[ids[i]], i));
  const due = [(m, i) => unknown(m) && last - m.at > 2 && i !== state.asking?.number - 1, (m) => !m, unknown].reduce((found, fits) => found ?? find(fits), undefined);
  return turn("ask", { asking: { said, ids, number: Number(number ?? (due ?? -1) + 1), open: false } }); // 0: all are known
}
const nextAsked = () => visit(() => askMe());

function marked(how, id = state.asking.ids[state.asking.number - 1]) {
  const of = marks(), at = lastOf(of) + 1;
  keep.set("ask", JSON.stringify({ ...of, [id]: { how, at } }));
  return nextAsked();
}

function openAnswer() {
  state.asking.open = true;
  redraw();
  document.getElementById("answer").focus({ preventScroll: true });
}

const HOW = ["yes", "half", "no"];

function askKey(key) {
  const { open, number } = state.asking;
  if (key === "Enter" && number) open ? nextAsked() : openAnswer();
  else if (open && HOW[key - 1]) marked(HOW[key - 1]);
  else return undefined;
  return "";
}

function drawAsk() {
  const { said, ids, number, open } = state.asking, q = interview(own(said))[number - 1], of = marks(), count = (how) => ids.filter((id) => of[id]?.how === how).length;
  const afresh = button(say("board.ask.afresh"), () => { keep.set("ask", "{}"); nextAsked(); });
  const head = el("p.faint", el("progress", { max: ids.length, value: count("yes"), ariaLabel: say("board.ask") }), " ",
    q ? say("board.ask.at", { n: number, of: ids.length }) + " · " : "", HOW.map((how) => `${say("board.knew." + how)} ${count(how)}`).join(" · "));
  if (!q) return show(head, el("h2.asked", say("board.ask.done")), afresh);
  const run = el("div"), shown = async () => run.replaceChildren(drawRun(await engine.ask({ do: "race", lock: q.lock, race: q.race }), { still: true }));
  show(head, el("h2.asked", q.title), open ? [
    el("p.answer", { id: "answer", tabIndex: -1 }, q.short),
    el("div.row", HOW.map((how, i) => button([el("kbd", String(i + 1)), " " + say("board.knew." + how)], () => marked(how), i ? "" : ".main"))),
    el("details", { ontoggle: (e) => e.target.open && work(shown, { loose: true }) }, el("summary", say("board.ask.run")),
      el("p", el("code", q.lock), ": ", link(`race.${q.lock}.${q.race}`, own(DATA.races.find((r) => r.id === q.race).title)), ". ", linked(q.proves)),
      el("p.faint", say("meaning." + /^\S+/.exec(q.proves)[0])), run)]
    : [el("p.faint", say("board.ask.aloud")), el("div.half-minute", el("i")), button(say("board.ask.show"), openAnswer, ".main")]);
}
