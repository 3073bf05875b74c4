// Ask me: the questions of an interview, one at a time. One says the answer aloud, looks, and marks oneself.

const HOW = ["yes", "half", "no"];
const marks = () => JSON.parse(keep.get("ask") ?? "[]"); // questions by their English titles, each with how well; the last one last

// interview is the questions of its lesson, each with its short answer and the run that proves it.
const interview = (said) => sections(said).filter((s) => /^\? /.test(s.title)).map(({ title, lines }) => {
  const [, lock, race, proves] = /locklab run (\S+) (\S+) = (.*)/.exec(lines.join("\n")) ?? [];
  return { title: heading(title), short: lines.find((line) => line.trim()).replace(/^.*?[:：] */, ""), lock, race, proves };
});

// askMe asks a question, from 1; without a number the one that was asked last, until it is left; then the one whose turn it is: what one
// did not know comes again after three others, then comes what was not asked yet; 0: all are known.
async function askMe(number = Number(keep.get("asking"))) {
  const { said } = await engine.ask({ do: "lesson", name: "interview" }), ids = interview(said.en).map((q) => q.title);
  if (number && !ids[number - 1]) throw keep.set("asking", 0) ?? everywhere("board.noasked", { number, n: ids.length });
  const all = marks(), how = new Map(all), n = state.asking?.number ?? 0, ring = [...ids.slice(n), ...ids.slice(0, n)];
  const next = all.slice(0, -3).find(([id, how]) => how !== "yes" && id !== ids[n - 1])?.[0] ?? ring.find((id) => !how.has(id)) ?? ring.find((id) => how.get(id) !== "yes");
  const asking = { said, ids, number: Number(number || ids.indexOf(next) + 1), open: false };
  keep.set("asking", asking.number);
  return turn("ask", { asking });
}
const nextAsked = () => visit(() => askMe(0));
const marked = (how, now = state.asking.ids[state.asking.number - 1]) => nextAsked(keep.set("ask", JSON.stringify([...marks().filter(([id]) => id !== now), [now, how]])));
const openAnswer = () => { state.asking.open = true; redraw(); document.getElementById("answer").focus({ preventScroll: true }); };

function askKey(key) {
  const { open, number } = state.asking, how = open && HOW[key - 1];
  if (!how && (key !== "Enter" || !number)) return undefined;
  how ? marked(how) : open ? nextAsked() : openAnswer();
  return "";
}

function drawAsk() {
  const { said, ids, number, open } = state.asking, q = interview(own(said))[number - 1], count = (how) => marks().filter((m) => m[1] === how).length;
  const head = el("p.faint", el("progress", { max: ids.length, value: count("yes"), ariaLabel: say("board.ask") }), " ",
    q ? say("board.ask.at", { n: number, of: ids.length }) + " · " : "", HOW.map((how) => `${say("board.knew." + how)} ${count(how)}`).join(" · "));
  if (!q) return show(head, el("h2.asked", say("board.ask.done")), button(say("board.ask.afresh"), () => { keep.set("ask", "[]"); nextAsked(); }));
  const run = el("div"), shown = async () => run.replaceChildren(drawRun(await engine.ask({ do: "race", lock: q.lock, race: q.race }), { verdict: true, board: own(DATA.levels.find((l) => l.lock === q.lock)?.code) }));
  const before = new Map(marks()).get(ids[number - 1]);
  show(head, before && el("p.faint", say("board.ask.again", { how: say("board.knew." + before) })), el("h2.asked", q.title), open ? [el("p.answer", { id: "answer", tabIndex: -1 }, q.short),
    el("div.row", HOW.map((how, i) => button([el("kbd", String(i + 1)), " " + say("board.knew." + how)], () => marked(how)))),
    el("details", { ontoggle: (e) => e.target.open && work(shown, { loose: true }) }, el("summary", say("board.ask.run")),
      el("p", el("code", q.lock), ": ", link(`race.${q.lock}.${q.race}`, own(DATA.races.find((r) => r.id === q.race).title)), " → ", linked(q.proves)),
      el("p.faint", say("meaning." + /^[A-Z/-]+/.exec(q.proves)[0])), el("div.row", levelsOf(q.lock, q.race, q.proves)), run)]
    : [el("p.faint", say("board.ask.aloud")), el("div.half-minute", el("i")), button(say("board.ask.show"), openAnswer, ".main")]);
}
