// What all pages share: their words, their elements, and what is told of a run below its picture. DATA is what Go gives
// the page: its texts by key, or by language and key, where one can choose the language; then ui.lang is the one chosen.
"use strict";
const ui = { lang: "" };

// say fills in a text of the page; of one that is missing, the last part of its key stands there.
function say(key, values = {}) {
  let text = (DATA.texts[ui.lang] ?? DATA.texts)[key] ?? key.replace(/^.*\./, "");
  for (const name in values) text = text.replaceAll("{" + name + "}", () => values[name]);
  return text;
}
// own is a text of the data, which has it in one language, or by language.
const own = (said) => (typeof said === "string" ? said : said?.[ui.lang || DATA.lang] ?? Object.values(said ?? {})[0] ?? "");

// plain is a text of a run without the signs of its lanes: who gets in and leaves, time stamps as what they say, lengths in seconds.
const plain = (said) => own(said).replace(/(\bc\d\*?)?\s*\[(ENTER|进入)( #\d+)?/g, (_, who, w, n, at) => (who ? " " + who + " " : at ? (w === "进入" ? "，" : ", ") : "") + say("motion.enters"))
  .replace(/ ?[(（](own|自己的时钟) (\d+)[)）]/g, (_, w, t) => say("motion.clock", { time: t / 1000 })).replace(/(EXIT|离开)\]( (?=\S))?/g, (_, w, more) => say("motion.leaves") + (more ? (w === "离开" ? "，" : ", ") : ""))
  .replace(/"?\b(1[78]\d{8})(\d{3})?\b"?/g, (all, s, ms = 0) => `t=${s - 1780000000 + ms / 1000}s`)
  .replace(/(\d+(?:\.\d+)?)(m?s)\b/g, (_, n, unit) => (unit === "ms" && n < 50 ? n + " ms" : Math.round(n / (unit === "ms" ? 100 : 0.1)) / 10 + " s"));

// el("div.card", {onclick}, ...children) is an element.
function el(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const e = document.createElement(tag);
  e.className = classes.join(" ");
  for (const r of rest.flat(Infinity)) {
    if (r === null || r === undefined || r === false) continue;
    if (typeof r === "object" && !(r instanceof Node)) Object.assign(e, r);
    else e.append(r);
  }
  return e;
}
// unzipped is what Go has packed: JSON as gzip as base64.
async function unzipped(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
const button = (label, onclick, kind = "", more = {}) => el("button" + kind, { type: "button", onclick, ...more }, label);
// sign is a button whose label is a sign, with the words that it stands for.
const sign = (label, title, onclick) => button(label, onclick, "", { title, ariaLabel: title });
// select is a choice between options [value, label], or groups [title, options]; go is called with the new one.
function select(options, value, go, ariaLabel = null) {
  const option = ([v, label]) => (Array.isArray(label) ? el("optgroup", { label: v }, label.map(option)) : el("option", { value: v }, label));
  const e = el("select", { ariaLabel }, options.map(option));
  e.value = value;
  if (go) e.onchange = () => go(e.value);
  return e;
}
// short is locks or races as options, by their numbers and names.
const short = (all) => all.map((o) => [o.id, [o.short, o.id].filter(Boolean).join(" ")]);

// told is what is told of a run: its story, and the commands that one types to see the same.
const told = (run, open = false) => [
  run.story && el("details", { open }, el("summary", say("motion.story")), el("ol.story", run.story.map((s) => el("li", s.t && el("time", s.t + " "), own(s.s))))),
  run.commands && el("details", el("summary", say("motion.commands")), el("pre.scroll", own(run.commands)))];
