// Lessons: texts of the engine, cut into pages. Commands, verdicts and the names of races in them are links.

const lessons = new Map(); // those that were read, by name
const PATH = 10; // screens of the path
const screens = () => Array.from({ length: PATH }, (_, i) => [String(i + 1), String(i + 1)]);
const titled = () => byFamily(DATA.races);
const PAGE = 42; // lines of a page, as far as its sections end there

// read opens a lesson; one that was read needs no engine.
const read = (name, page = 0) => (lessons.has(name) ? turn("lessons", { lesson: lessons.get(name), page, visits: state.visits + 1 }, null)
  : visit(() => lesson(name.replaceAll(" ", "."), page + 1)));

async function lesson(address, page = 1) {
  let name = address.replaceAll(".", " ").trim();
  if (!name || name === "path") name = "path 1";
  if (!lessons.has(name)) lessons.set(name, await engine.ask({ do: "lesson", name }));
  const most = pages(lessons.get(name).said).length;
  return turn("lessons", { lesson: lessons.get(name), page: Math.min(most, Math.max(1, Number(page) || 1)) - 1 })
    || (page > most ? say("board.nowhere", { address: `#lesson.${address}/${page}` }) : "");
}

// openLessons shows where lessons begin: the first screen of the path, or what there is while the engine is busy.
const openLessons = () => (lessons.has("path 1") || !state.busy ? read("path 1") : open("lessons", state.lesson = null));

// A line of a lesson that is set in columns, and so not folded.
const inColumns = (line) => /\S {2,}\S/.test(line) || /^\s*(\d+ )?[|>]/.test(line) || /[{};]$|^\s*\/\/|^\t/.test(line) || /^\s+(# |[\d.]+:\d+> |\(integer\)|OK$|\(nil\)$)/.test(line) || (/ :?= /.test(line) && !/locklab /.test(line));
const deep = (line) => /^ */.exec(line)[0].length, columns = (text) => text.length + (text.match(/[\u3000-\uffef]/g) ?? []).length, unsigned = (text) => text.replace(/(\[(?:ENTER|进入)|(?:EXIT|离开)\])(.*?)( {2,}|$)/g, (all, sign, more, room, at, of, said = say(sign[0] === "[" ? "motion.enters" : "motion.leaves") + unsigned(more)) =>
  said + " ".repeat(room && Math.max(1, columns(all) - columns(said)))); // without the signs of lanes, its columns where they were

const heading = (title) => title.replace(/^\? (\d+\/\d+ [\w-]+: )?|[:：]$/g, "");

// sections are the parts of a lesson: a line that is not indented, and what stands under it.
function sections(said) {
  const all = [];
  let before = false; // the line before was a title too: what follows it is none
  for (const line of said.split("\n")) {
    const title = line.trim() !== "" && deep(line) === 0 && (!all.length || !inColumns(line));
    if (title && (!before || /^\? /.test(line))) all.push({ title: line.trim(), lines: [] });
    else if (all.length) all.at(-1).lines.push(line);
    before = title;
  }
  return all;
}

// pages are sections together, as many as fit: the same in each language.
function pages(said) {
  const mine = sections(own(said)), english = sections(said.en), cut = english.length === mine.length ? english : mine, all = [];
  let high = 0;
  mine.forEach((section, i) => {
    const more = cut[i].lines.reduce((sum, line) => sum + Math.ceil(line.length / 90), 2);
    if (!all.length || high + more > PAGE && high > 6) { all.push([]); high = 0; }
    all.at(-1).push(section);
    high += more;
  });
  return all;
}

const COMMAND = /(locklab (?:run|explain|play|replay) [^,.;:()"（）。，；：「」=]*[^,.;:()"（）。，；：「」=\s])/;
const NAME = new RegExp(`(?<![\\w-])(${[...MEANINGS].sort((a, b) => b.length - a.length).join("|")}|R\\d\\d[A-Z]?)(?![\\w-])`);

// cited finds what a text says of a run, as "OVERLAP: token in gc-pause", by language.
const CITED = {}, cited = () => CITED[ui.lang] ??= ((word) => new RegExp(say("explain.source", { verdict: `(${word}(?:[,、 ]+${word})*)`, lock: "([a-z][\\w-]*)", race: "([a-z][\\w-]*)(?: --set ([\\w=.]+\\w))?" })))(
  `(?:${MEANINGS.flatMap((w) => [`${w} ${say("word." + w)}`, say("word." + w), w]).join("|")})`);

// linked is a line with its commands and its names as links, and with what it says of a run as one to that run.
function linked(line) {
  return line.split(cited()).flatMap((text, at, all) => (at % 5 > 1 ? [] : at % 5 ? ran(...all.slice(at, at + 4)) : text.split(COMMAND).flatMap((part, i) => (i % 2 ? command(part, !/^\s*locklab \S|locklab run.*locklab run/.test(line))
    : part.split(NAME).map((word, n) => (n % 2 ? link("lesson." + word, word) : word))))));
}

// ran is a link to a run that a text cites.
function ran(verdict, lock, race, settings) {
  const title = say("explain.source", { verdict, lock, race });
  return Object.assign(link(["race", lock, race, settings].filter(Boolean).join("."), "▶ " + lock), { className: "code cited", title, ariaLabel: title });
}

// levelsWith is links to some levels, those with the fault of a race first; levelsOf to those of a lock, about a verdict of its run.
const levelsWith = (wants, race = "") => DATA.levels.filter(wants).sort((a, b) => race.includes(b.budget.split("=")[0]) - race.includes(a.budget.split("=")[0]))
  .slice(0, race ? 2 : 4).map((l) => link("level." + l.number, say("board.level", { n: l.number, title: own(l.title) })));
const levelsOf = (lock, race, verdicts) => levelsWith((l) => l.lock === lock && (!verdicts || verdicts.includes(l.harm)), race);

// played is the levels of what a lesson is about: a question, or one lock, in one race or in all.
function played({ name, said }) {
  const about = name.split(" "), run = DATA.locks.some((l) => l.id === about[0]) ? about : /locklab run (\S+) (\S+)/.exec(said.en)?.slice(1) ?? [];
  const all = about[0] === "interview" ? levelsWith((l) => l.topic && l.topic === about[1]) : /^(debate|glossary)$/.test(name) ? []
    : levelsOf(...run, run[1] && /(?:= |Verdict: )([A-Z][A-Z -]+)/.exec(said.en)?.[1]);
  return all.length > 0 && el("div.row", say("board.lesson.levels"), all);
}

function command(text, alone) {
  const [, verb, rest] = /^locklab (\w+) (.*)$/.exec(text), words = rest.split(" --")[0].trim().split(/\s+/).filter(Boolean);
  const level = /^--level (\d+)/.exec(rest)?.[1];
  const hash = {
    run: words.length > 1 && `race.${words[0]}.${words[1]}`, explain: `lesson.${words.join(".")}`, replay: words[0],
    play: level ? "level." + level : words[0] === "quiz" ? "quiz" : words[0] && "play." + words[0],
  }[verb], said = { run: alone ? say("board.lesson.play") : words.join(", "), explain: /^path \d+$/.test(rest) ? say("board.lesson.next", { n: words[1], of: PATH }) : /^(interview|debate|glossary)$/.test(rest) ? say("board.lesson." + rest) : rest, play: rest === "quiz" && say("board.quiz") }[verb] || text.replace("locklab ", "");
  return hash ? Object.assign(link(hash, (verb === "explain" ? "" : "▶ ") + said), { className: "code inline" }) : el("code", text);
}

function drawLessons() {
  const of = (label, all) => select([["", label], ...all], "", (id) => id && read(id), label);
  const menu = el("div.row", ["path", "interview", "debate", "glossary"].map((n) => link("lesson." + n, say("board.lesson." + n))), of(say("board.lesson.lock"), byFamily()), of(say("board.lesson.race"), titled()));
  if (!state.lesson) return show(el("h2", say("board.lessons")), menu, el("p.faint", say("board.lessons.intro")));
  const { name, said } = state.lesson, all = pages(said), screen = Number(/^path (\d+)$/.exec(name)?.[1] ?? 0);
  const page = state.page = Math.min(state.page, all.length - 1), [at, most] = screen ? [screen, PATH] : [page + 1, all.length];
  const to = (n) => (screen ? `lesson.path.${n}` : `lesson.${name.replaceAll(" ", ".")}${n > 1 ? "/" + n : ""}`);
  const turns = (of = "nav") => most > 1 && el(of + ".pages", of === "nav" ? { ariaLabel: say("board.pages") } : {}, at > 1 ? link(to(at - 1), "← " + say("board.before")) : el("span"),
    el("span.faint", say("board.page", { n: at, of: most })), at < most ? link(to(at + 1), say("board.after") + " →") : el("span"));
  const contents = !screen && most > 1 && el("details", el("summary", say("board.contents")),
    el("ol", all.flatMap((one, n) => one.map((s) => el("li", link(to(n + 1), heading(s.title)))))));
  show(menu, screen === 1 && el("p.faint", say("board.lessons.intro")), contents, turns(), el("article.lesson", (screen ? all.flat() : all[page] ?? []).flatMap((s, i) => [
    el(page === 0 && i === 0 ? "h2" : "h3", linked(heading(s.title))), ...paragraphs(s.lines)])),
    played(state.lesson), screen > 0 && button(say("board.quiz.this"), () => startQuiz(random(), "lesson=" + screen)), turns("div"));
}

// paragraphs are the lines under a title: those in columns as they are, the others folded.
function paragraphs(lines) {
  const out = [];
  for (let i = 0; i < lines.length;) {
    if (inColumns(lines[i])) {
      const block = [];
      while (i < lines.length && (inColumns(lines[i]) || (lines[i].startsWith("    ") && lines[i].trim() !== ""))) block.push(lines[i++]);
      out.push(el("div.scroll", { tabIndex: 0 }, el("pre", block.flatMap((l) => [...linked(unsigned(l)), "\n"]))));
      continue;
    }
    const line = lines[i++];
    if (line.trim()) out.push(el("p.said", { style: `margin-left:${Math.max(0, deep(line) / 2 - 1)}em` }, linked(line.trim())));
  }
  return out;
}
