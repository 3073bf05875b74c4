// The report. A link "#run.LOCK.RACE" opens that run; the runs of a lock are unpacked when
// one of them is first opened.
const books = new Map();

// bookOf promises the runs of a lock.
const bookOf = (lock) => books.get(lock) ?? books.set(lock, unpack(document.getElementById("book." + lock).textContent)).get(lock);

async function unpack(text) {
  const { listings, races, fields } = await unzipped(text); // a list for each field of the runs
  const run = (i) => Object.fromEntries(Object.entries(fields).map(([name, all]) => [name, all[i]]).filter(([, value]) => value !== null));
  return { listings, runs: Object.fromEntries(races.map((race, i) => [race, run(i)])) };
}

const viewer = document.getElementById("viewer");
let moving = null;

// named is the run that the address names, as "token gc-pause"; a damaged address as it is;
// "" if the address names no run.
function named() {
  try {
    return /^#run\.([^.]+)\.(.+)$/.exec(decodeURIComponent(location.hash))?.slice(1).join(" ") ?? "";
  } catch {
    return location.hash;
  }
}

// show opens the run that the address names; an address that names none closes the viewer.
async function show() {
  const name = named(), [lock, ...rest] = name.split(" "), race = rest.join(" ");
  if (!name) { if (viewer.open) viewer.close(); return; }
  const known = document.getElementById("book." + lock);
  const book = known && (await bookOf(lock));
  if (!viewer.open) viewer.showModal();
  const run = book && Object.hasOwn(book.runs, race) && book.runs[race];
  moving = run && motion(run, { listings: book.listings, verdict: true });
  viewer.replaceChildren(...(run ? opened(run, lock, race) : [el("p", say("html.run.none", { run: name })), closing()]).flat(Infinity).filter(Boolean));
  viewer.scrollTop = 0;
}

// opened is the run of a lock in a race, with what is told of it.
function opened(run, lock, race) {
  const entry = DATA.locks.find((l) => l.id === lock), raced = DATA.races.find((r) => r.id === race);
  const choose = (label, all, value, address) => el("label", label + " ", select(short(all), value, (id) => location.replace(address(id))));
  const cells = (lock, race) => document.querySelector(`a[href="#run.${lock}.${race}"]`);
  const races = DATA.races.filter((r) => cells(lock, r.id)), locks = DATA.locks.filter((l) => cells(l.id, race));
  const verdicts = run.verdicts.map((v) => el("strong", { className: tone(run.verdicts) }, v + " "));
  return [
    el("header", el("h2", { id: "viewer-title" }, el("span.lock", lock), " ", el("small", own(entry?.title))), closing()),
    el("p", el("b", `${raced?.short ?? ""} ${race}: `), own(raced?.title), " ", verdicts),
    locks.length * races.length > 1 && el("p.filters", choose(say("html.run.against"), locks, lock, (id) => `#run.${id}.${race}`), choose(say("html.run.race"), races, race, (id) => `#run.${lock}.${id}`)),
    moving,
    told(run, true),
    run.replay && el("p.replay", say("html.run.replay") + " ", el("code", run.replay)),
    DATA.board && el("p", el("a", { href: `${DATA.board}#race.${lock}.${race}` }, say("html.run.board"))),
  ];
}

const closing = () => sign("✕", say("html.run.close"), () => viewer.close());

viewer.addEventListener("close", () => {
  moving = null;
  if (named()) history.replaceState(null, "", "#grid");
});
viewer.addEventListener("keydown", (e) => { moving?.key(e); });
addEventListener("hashchange", show);

// filter shows one race with its words.
const filters = document.getElementById("filters");
if (filters) {
  filters.hidden = false;
  const race = document.getElementById("race"), table = document.querySelector(".many");
  race.onchange = () => {
    const heads = [...table.tHead.rows[0].cells], only = heads.findIndex((h) => h.dataset.race === race.value);
    table.classList.toggle("one", only > 0);
    for (const row of table.rows) {
      [...row.cells].forEach((cell, i) => { if (i && !cell.classList.contains("group")) cell.hidden = only > 0 && i !== only; });
      const cell = only > 0 && row.cells[only];
      if (cell && cell.tagName === "TD") cell.firstElementChild.dataset.label = cell.title;
    }
  };
}
show();
