package chart

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// Theorems is the table of what is proved of locks for any number of clients, and what breaks them.
type Theorems struct{ study.Theorems }

// Name is that of Result, and so are the next ones.
func (c *Theorems) Name() string { return "theorems" }

// Assumptions say what the searches covered.
func (c *Theorems) Assumptions(lang string) string {
	all, b := study.TheoremWords(), search.DefaultBounds()
	return say(lang, "theorems.bounds", "budgets", text.Join(lang, "chart.list", c.Budgets), "ttl", length(b.TTL),
		"step", length(b.Step()), "n", inWords(lang, len(all)),
		"verdicts", text.Join(lang, "chart.list", worded(lang, all...)))
}

// Inconclusive reports whether something was not computed.
func (c *Theorems) Inconclusive() bool {
	return slices.ContainsFunc(c.All, func(t study.Theorem) bool { return t.Extent == study.Undecided && t.Why == "" })
}

// Notes implements Result: why there is no proof for any number, and which lemmas hold proofs up.
func (c *Theorems) Notes(lang string) []string {
	note := say(lang, "theorems.note", "two", marks[study.Bounded])
	notes := []string{note, c.because(lang, "theorems.", func(t *study.Theorem) []string {
		return lists.Pick([]string{t.Why}, func(why string) bool { return why != "" })
	})}
	held := c.because(lang, "prove.lemma.", func(t *study.Theorem) []string { return t.Lemmas })
	if held != "" {
		notes = append(notes, say(lang, "theorems.lemmas", "lemmas", held))
	}
	return notes
}

// because says for each of some texts about which locks it is, and under which budgets, unless that is all.
func (c *Theorems) because(lang, prefix string, keys func(*study.Theorem) []string) string {
	type keyed struct{ key, lock, budget string }
	var all []keyed
	for i := range c.All {
		for _, key := range keys(&c.All[i]) {
			if one := (keyed{key, c.All[i].Lock, head(c.All[i].Budget)}); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	groups := lists.Gather(all, func(a, b keyed) bool { return a.key == b.key })
	return text.Join(lang, "part.sentences", lists.Each(groups, func(g []keyed) string {
		byLock := lists.Gather(g, func(a, b keyed) bool { return a.lock == b.lock })
		locks := lists.Each(byLock, func(of []keyed) string {
			if len(of) == len(c.Budgets) {
				return of[0].lock
			}
			budgets := lists.Each(of, func(k keyed) string { return k.budget })
			return of[0].lock + " (" + text.Join(lang, "chart.list", budgets) + ")"
		})
		return say(lang, "chart.of", "of", text.Join(lang, "chart.list", locks), "is", say(lang, prefix+g[0].key))
	}))
}

// head is a budget as the head of a column: without how often.
func head(budget string) string {
	return cmp.Or(strings.ReplaceAll(onceOrAny.ReplaceAllString(budget, ""), ",", " + "), "-")
}

var onceOrAny = regexp.MustCompile(`=(any|1)\b`)

// heads are those of budgets, by the names of their faults.
func heads(budgets []string, lang string) []string {
	return lists.Each(budgets, func(b string) string { return text.Named(head(b), lang) })
}

// marks are the extents in signs: of proofs a tick, of a search its clients; what fails has its verdict's own.
var marks = map[study.Extent]string{study.Unbounded: "✓n", study.OneAttempt: "✓1", study.Bounded: "-",
	study.Undecided: "?"}

// Table has one row for each lock, budget and verdict. clients and par are those of a run that comes to it.
func (c *Theorems) Table() *Table {
	return tableOf("lock budget verdict extent clients par trace why lemmas", lists.Indices(c.All), func(i int) []any {
		t := &c.All[i]
		row := []any{t.Lock, t.Budget, t.Verdict, t.Extent, nil, nil, t.Trace, t.Why, strings.Join(t.Lemmas, " ")}
		if t.Extent == study.Fails {
			row[4], row[5] = t.Clients, t.Par
		}
		return row
	})
}

// free are the locks of which nothing can happen under a budget, for any number of clients; once: taken once each.
func (c *Theorems) free(k int) (locks, once []string) {
	for l, e := range c.Locks {
		extent := func(n int) study.Extent { return c.At(l, k, n).Extent }
		extents := lists.Each(lists.Indices(study.TheoremWords()), extent)
		most := slices.MaxFunc(extents, func(a, b study.Extent) int { return place(a) - place(b) })
		if place(most) <= place(study.OneAttempt) {
			locks = append(locks, e.ID)
		}
		if most == study.OneAttempt {
			once = append(once, e.ID)
		}
	}
	return locks, once
}

// Finding says under which budget which locks are proved free of all verdicts: that under which most are.
func (c *Theorems) Finding(lang string) string {
	most, limited, budget, key := []string(nil), []string(nil), "", "theorems.finding.0"
	for k, b := range c.Budgets {
		if free, once := c.free(k); budget == "" || len(free) > len(most) {
			most, limited, budget = free, once, b
		}
	}
	if most != nil {
		key = "theorems.finding"
	}
	if with := "theorems.with." + strings.ReplaceAll(budget, "=", "."); text.In(lang).Has(with) {
		budget = say(lang, with)
	}
	names := lists.Each(most, func(lock string) string {
		if slices.Contains(limited, lock) {
			return say(lang, "theorems.finding.once", "lock", lock)
		}
		return lock
	})
	if most == nil {
		names = lists.Each(c.Locks, func(e lock.Entry) string { return e.ID })
	}
	return say(lang, key, "budget", budget, "verdicts", inWords(lang, len(study.TheoremWords())),
		"locks", firstNames(lang, names, titleLocks))
}

// inWords writes a small number as a word.
func inWords(lang string, n int) string {
	words := strings.Split(say(lang, "chart.numbers"), "/")
	if n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// viewTheorems has a line for each lock and budget, and a verdict a column: for whom it is impossible.
func viewTheorems(c *Chart, lang string) *Table {
	return across(c.Table.records(), []string{"lock", "budget"}, "verdict", func(of []record) any {
		return cmp.Or(marks[study.Extent(of[0].text("extent"))], say(lang, "theorems.extent.fails"))
	})
}

// drawTheorems has a lock a line and a budget a column: the gravest verdict that can happen, or for whom none can.
func drawTheorems(c *Chart, lang string) frame {
	all := c.Table.records()
	locks, budgets := by("lock", all), values("budget", all)
	f := c.boxes(lang, values("lock", all), heads(budgets, lang), func(l, k int) (at cell) {
		of := by("budget", locks[l])[k]
		is := func(e study.Extent) func(r record) bool {
			return func(r record) bool { return r.text("extent") == string(e) }
		}
		waits := func(r record) bool { return is(study.Fails)(r) && r.text("verdict") == string(verdict.Orphan) }
		fail, orphan := lists.Pick(of, is(study.Fails)), slices.ContainsFunc(of, waits)
		if len(fail) > 1 || fail != nil && !orphan {
			if at = at.worst(lang, fail); slices.ContainsFunc(of, is(study.Undecided)) {
				at.glyph, at.words = at.glyph+map[bool]string{true: "?"}[c.narrow], at.words+" ?"
			}
			return at
		} else if orphan { // a wait that ends is no failure
			of = slices.DeleteFunc(slices.Clone(of), waits)
		}
		narrowest := slices.MaxFunc(of, func(a, b record) int {
			return place(study.Extent(a.text("extent"))) - place(study.Extent(b.text("extent")))
		}).text("extent")
		at = at.like(LookOf(verdict.Unknown))
		if extent := study.Extent(narrowest); extent == study.Unbounded || extent == study.OneAttempt {
			at = at.like(LookOf(verdict.Holds))
		}
		at.glyph, at.words, at.quiet = marks[study.Extent(narrowest)], say(lang, "theorems.extent."+narrowest), true
		if orphan {
			at.glyph, at.words = LookOf(verdict.Orphan).Glyph+at.glyph, say(lang, "theorems.orphan")
		}
		return at
	})
	f.below = []string{say(lang, "theorems.below", "two", marks[study.Bounded])}
	return f
}

// place is that of an extent among all, the widest first.
func place(e study.Extent) int { return slices.Index(study.Extents(), e) }
