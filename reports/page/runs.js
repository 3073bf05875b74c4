// A page of runs: each is drawn to what it is known for; the keys play the only one.
DATA.runs.forEach((run, i, all) => {
  const moving = motion(run, { listings: DATA.listings[i] ?? [], verdict: true });
  document.getElementById("part." + i).replaceChildren(el("div", moving, told(run, true)));
  if (all.length === 1) addEventListener("keydown", moving.key);
});
