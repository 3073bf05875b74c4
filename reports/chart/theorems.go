package chart

import (
	"slices"
	"strconv"
	"strings"

	"locklab/reports/layout"
	"locklab/reports/text"
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
	return say(lang, "theorems.bounds", "budgets", text.Join(lang, "grid.join", c.Budgets))
}

// Title returns the question of the chart.
func (c *Theorems) Title(lang string) string { return say(lang, "theorems.title") }

// Inconclusive reports whether something was not computed.
func (c *Theorems) Inconclusive() bool {
	return slices.ContainsFunc(c.All, func(t study.Theorem) bool { return t.Extent == study.Undecided && t.Why == "" })
}

// Notes implements Table.
func (c *Theorems) Notes(lang string) []string {
	notes := []string{c.reasons(lang)}
	if held := c.lemmas(lang); held != "" {
		notes = append(notes, say(lang, "theorems.lemmas", "lemmas", held))
	}
	return append(notes, c.Assumptions(lang))
}

// reasons says of which locks there is no proof for any number, and why.
func (c *Theorems) reasons(lang string) string {
	groups := c.byLock(func(t *study.Theorem) []string {
		if t.Why == "" {
			return nil
		}
		return []string{t.Why}
	})
	return text.Join(lang, "part.sentences", lists.Each(groups, func(g []keyed) string {
		return say(lang, "theorems.reason", "lock", g[0].lock, "budgets", c.which(lang, g), "why", say(lang,
			"theorems."+g[0].key))
	}))
}

// lemmas says which lemmas hold proofs of which locks up.
func (c *Theorems) lemmas(lang string) string {
	groups := c.byLock(func(t *study.Theorem) []string { return t.Lemmas })
	byLemma := lists.Gather(groups, func(a, b []keyed) bool { return a[0].key == b[0].key })
	return text.Join(lang, "grid.join", lists.Each(byLemma, func(of [][]keyed) string {
		locks := lists.Each(of, func(g []keyed) string {
			return say(lang, "theorems.lemma.lock", "lock", g[0].lock, "budgets", c.which(lang, g))
		})
		return say(lang, "theorems.lemma", "lemma", say(lang, "prove.lemma."+of[0][0].key), "locks", text.Join(lang,
			"chart.list", locks))
	}))
}

// keyed is the key of a text that is about a lock under a budget.
type keyed struct{ key, lock, budget string }

// byLock returns the keys that theorems have, each once, those of a lock with the same key together.
func (c *Theorems) byLock(keys func(*study.Theorem) []string) [][]keyed {
	var all []keyed
	for i := range c.All {
		for _, key := range keys(&c.All[i]) {
			if one := (keyed{key, c.All[i].Strategy, head(c.All[i].Budget)}); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
	return lists.Gather(all, func(a, b keyed) bool { return a.key == b.key && a.lock == b.lock })
}

// which names the budgets of a group.
func (c *Theorems) which(lang string, g []keyed) string {
	if len(g) == len(c.Budgets) {
		return say(lang, "theorems.always")
	}
	return text.Join(lang, "chart.list", lists.Each(g, func(k keyed) string { return k.budget }))
}

// head is a budget as the head of a column: without how often.
func head(budget string) string {
	return strings.ReplaceAll(strings.ReplaceAll(budget, "=any", ""), "=1", "")
}

// marks are the extents in a letter; Fails has the verdict's own.
var marks = map[study.Extent]string{study.Unbounded: "*", study.OneAttempt: "1", study.Bounded: ".",
	study.Undecided: "?"}

func markOf(t *study.Theorem) string {
	if t.Extent == study.Fails {
		return LookOf(t.Verdict).Glyph
	}
	return marks[t.Extent]
}

// Table has one row for each lock, budget and verdict. clients and par are those of a run that comes to it.
func (c *Theorems) Table() *Table {
	names := "lock budget verdict extent clients par trace why lemmas"
	return tableOf(names, lists.Indices(c.All), func(i int) []any {
		t := &c.All[i]
		row := []any{t.Strategy, t.Budget, t.Verdict, t.Extent, nil, nil, t.Trace, t.Why, strings.Join(t.Lemmas, " ")}
		if t.Extent == study.Fails {
			row[4], row[5] = t.Clients, t.Par
		}
		return row
	})
}

// safe are the locks of which nothing can happen under a budget, for any number of clients.
func (c *Theorems) safe(k int) (locks []string) {
	for l, e := range c.Locks {
		if !slices.ContainsFunc(lists.Indices(study.TheoremWords()), func(n int) bool {
			extent := c.At(l, k, n).Extent
			return extent != study.Unbounded && extent != study.OneAttempt
		}) {
			locks = append(locks, e.ID)
		}
	}
	return locks
}

// Finding says under which budget how many locks are proved safe: that under which most are.
func (c *Theorems) Finding(lang string) string {
	most, budget := -1, ""
	for k, b := range c.Budgets {
		if n := len(c.safe(k)); n > most {
			most, budget = n, b
		}
	}
	return say(lang, "theorems.finding", "budget", budget, "n", strconv.Itoa(max(most, 0)), "all",
		strconv.Itoa(len(c.Locks)))
}

// drawTheorems has a lock a line and a budget a column: the gravest verdict that can happen, or for whom none can.
func drawTheorems(c *Chart, lang string) frame {
	all := c.Table.records()
	locks, budgets := by("lock", all), values("budget", all)
	f := boxes(values("lock", all), lists.Each(budgets, head), func(l, k int) (at cell) {
		of := by("budget", locks[l])[k]
		if fail := lists.Pick(of, func(r record) bool { return r.text("extent") == string(study.Fails) }); fail != nil {
			return at.worst(fail)
		}
		narrowest := slices.MaxFunc(of, func(a, b record) int { return rank(a) - rank(b) }).text("extent")
		at = at.like(LookOf(verdict.Holds))
		at.glyph, at.words = marks[study.Extent(narrowest)], say(lang, "theorems.extent."+narrowest)
		return at
	})
	f.below = []string{say(lang, "theorems.below")}
	return f
}

// rank is the place of a row's extent among all, the widest first.
func rank(r record) int { return slices.Index(study.Extents(), study.Extent(r.text("extent"))) }

// text has a lock a line and a kind of fault a column, with a letter for each verdict.
func (c *Theorems) text(out *layout.Lines) {
	table := crossing(layout.Sheet{Floor: 4}, sayAll(out, "theorems.head"), ids(c.Locks), lists.Each(c.Budgets, head),
		func(l, k int) string {
			var cell strings.Builder
			for n := range study.TheoremWords() {
				cell.WriteString(markOf(c.At(l, k, n)))
			}
			return cell.String()
		})
	show(out, saying(c.Title), table, func(lang string) []string {
		return append([]string{c.legend(lang), claim(c)(lang)}, c.Notes(lang)...)
	})
}

// legend explains the letters.
func (c *Theorems) legend(lang string) string {
	names := lists.Each(study.TheoremWords(), func(w verdict.Word) string { return LookOf(w).Glyph + " " + string(w) })
	return say(lang, "theorems.legend", "verdicts", text.Join(lang, "chart.list", names))
}
