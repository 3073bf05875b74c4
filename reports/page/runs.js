// A page of runs: each is drawn, and stands at its first verdict; the keys play the only one.
DATA.runs.forEach((run, i, all) => {
  const moving = motion(run, { listings: DATA.listings[i] ?? [], verdict: true });
  document.getElementById("part." + i).replaceChildren(el("div", moving, told(run, true)));
  if (all.length === 1) addEventListener("keydown", moving.key);
});
