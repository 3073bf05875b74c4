// A lock in a race.
const races = new Map(); // runs that were shown, by address: Back needs no engine

const FIRST = ["setnx.crash-holding", "setnx-expire.crash-before-expire", "token.slow-work", "getset.client-skew", "watchdog.failover", "watchdog.gc-pause"]; // in which they break

// race plays a lock in a race with some settings of its own, as in "pause=9s,ttl=5s".
async function race(lock, name, settings = "") {
  const hash = `race.${lock}.${name}${settings ? "." + settings : ""}`;
  return showRace(races.get(hash) ?? await engine.ask({ do: "race", lock, race: name, settings }), hash, settings);
}
const playRace = (...about) => visit(() => race(...about));

function showRace(run, hash, settings = "") {
  if (races.size > 30) races.clear();
  races.set(hash, run);
  return turn("race", { race: run, hash, settings, link: run.race === "search" ? hash : "" });
}

// attack makes the same attack on another lock.
const attack = (lock) => (state.link ? visit(async () => showRace(await engine.ask({ do: "replay", link: state.link, lock }), state.link))
  : playRace(lock, state.race.race, state.settings));

// withSetting plays the race with one setting changed.
function withSetting(name, ns) {
  const { lock, race, settings } = state.race;
  state.slid = lock + race;
  return playRace(lock, race, settings.map((o) => [o.name, Math.max(1, Math.round((o.name === name ? ns : o.value_ns) / 1e6)), o.usual_ns / 1e6])
    .filter(([, now, usual]) => now !== usual).map(([name, now]) => `${name}=${now}ms`).join(","));
}

const seconds = (ns) => (ns < 5e7 ? `${Math.round(ns / 1e5) / 10} ms` : `${Math.round(ns / 1e7) / 100} s`);

// cure is what mends a race, from its lesson, which is asked for first.
function cure(race) {
  const told = lessons.get(race), title = say("label.race.mends");
  if (!told) engine.ask({ do: "lesson", name: race }, true).then((lesson) => { lessons.set(race, lesson); if (state.race?.race === race && state.view === "race") redraw(); }, () => {});
  const { lines = [] } = (told && sections(own(told.said)).find((s) => s.title === title)) ?? {};
  return lines.length > 0 && el("p.cure", el("b", title, " "), linked(lines.map((line) => line.trim()).join(ui.lang === "zh" ? "" : " ")));
}

// whenOf says of a mark of a run which verdict it is, who, and when.
const whenOf = ({ s, f, t } = {}) => s && el("b", say(t > f ? "board.when.till" : "board.when", { what: plain(s).replace("!! ", ""), from: seconds(f * 1e3), to: seconds(t * 1e3) }), " ");

function drawRace() {
  const r = state.race;
  if (!r) return show(el("p", say("board.loading")));
  const later = DATA.locks.find((l) => l.id === r.lock)?.next; // what was meant to mend it
  const [same, others] = rivals(r.lock, r.lock, attack), choose = el("div.row", same, later && button(`${say("play.fix")} ${later} →`, () => attack(later)),
    r.race !== "search" && el("label", say("board.inrace") + " ", select(titled(), r.race, (name) => playRace(r.lock, name))),
    button(say("board.link"), () => copy(r.link)), button(say(state.settings ? "board.explain.usual" : "board.explain"), () => read(r.race === "search" ? r.lock : `${r.lock} ${r.race}`)), others);
  const sliders = el("div.sliders", r.settings.map((s) => {
    const rate = s.name === "drift"; // of a clock: some of each second, so a share
    const most = rate ? 250e6 : Math.max(2 * s.usual_ns, s.value_ns), step = rate ? 5e6 : s.name === "ttl" ? 1e9 : s.usual_ns / 40;
    const size = rate ? (ns) => `${Math.round(ns / 1e6) / 10} %` : seconds;
    const value = el("output", size(s.value_ns));
    const slide = el("input", { type: "range", name: s.name, min: step, max: most, step, value: s.value_ns,
      oninput: () => { value.textContent = size(slide.value); }, onchange: () => withSetting(s.name, Number(slide.value)) });
    return el("label", el("span", say("board.setting." + s.name)), slide, value);
  }), state.settings ? button(say("board.usual"), () => playRace(r.lock, r.race)) : null);
  const sizes = Object.fromEntries(r.settings.map((s) => [s.name, s.value_ns]));
  show(el("p.faint", say("board.races.intro")), wide() && el("p.row.faint", say("board.races.first"), FIRST.map((of) => link("race." + of, of.replace(".", " ")))), el("h2", el("span.code", r.lock), ", ", own(r.title), ": ", verdictsOf(r)),
    r.vacuous && el("p", own(r.vacuous)), r.not_injected ? el("p.faint", r.not_injected.map(own).join(" ")) : null,
    wide() && choose,
    r.moving ? drawRun(r, { verdict: true, sizes, set: withSetting, board: own(DATA.levels.find((l) => l.lock === r.lock)?.code) }) : el("p.end", own(r.not_applicable)),
    wide() ? null : choose, r.settings.length ? sliders : null,
    r.moving && tone(r.verdicts) !== "quiet" ? r.verdicts.map((v) => el("p.why", whenOf(r.moving.marks?.find((m) => m.w === v)), say("meaning." + v))) : null,
    r.race !== "search" && /harm|mild/.test(tone(r.verdicts)) && cure(r.race), r.price ? el("p", linked(own(r.price))) : null,
    r.moving && told(r.moving));
}
