// A page of runs: each is drawn to its end, and is played when one asks for it. The keys play the only one.
const all = DATA.runs.map((run, i) => {
  const moving = motion(run, { listings: DATA.listings[i] ?? [] });
  document.getElementById("part." + i).replaceChildren(el("div", moving, told(run, true)));
  return moving;
});
if (all.length === 1) addEventListener("keydown", (e) => all[0].key(e));
