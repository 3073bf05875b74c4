package chart

import (
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Par draws the fewest faults with which each verdict comes about.
type Par struct{ study.ParTable }

// Title returns the question of the chart.
func (c *Par) Title(lang string) string { return say(lang, "par.title") }

// Bounds says what the searches covered.
func (c *Par) Bounds(lang string) string {
	return say(lang, "par.bounds", "clients", strconv.Itoa(c.Within.Clients), "attempts", strconv.Itoa(c.Within.Attempts), "ttl", reports.Span(c.Within.TTL),
		"budgets", text.Join(lang, "grid.join", c.Budgets))
}

// Inconclusive reports whether a search did not finish, so that something stays unknown.
func (c *Par) Inconclusive() bool {
	return slices.ContainsFunc(c.Pars, func(p study.Par) bool { return !p.Complete })
}

// Takeaway says for every verdict which faults bring it about, and to which locks. Verdicts
// that have the same said of them stand together.
func (c *Par) Takeaway(lang string) string {
	return aboutEach(lang, verdict.Names(c.Verdicts), func(n int) string { return c.sentence(lang, n) })
}

// sentence says of a verdict first what needs no fault, then fault by fault, then who is
// spared. Faults that harm the same locks stand together.
func (c *Par) sentence(lang string, n int) string {
	locks := func(which func(l int) bool) (ids []string) {
		for l, e := range c.Locks {
			if which(l) {
				ids = append(ids, e.ID)
			}
		}
		return ids
	}
	var parts []string
	add := func(key string, locks []string, last bool, pairs ...string) {
		if locks != nil {
			parts = append(parts, say(lang, key, append(pairs, "locks", named(lang, locks, len(c.Locks), last))...))
		}
	}
	add("par.with.none", locks(func(l int) bool { p := c.At(l, n); return p.Found && p.Par == 0 }), false)
	type harm struct {
		fault string
		locks []string
	}
	harms := slices.DeleteFunc(lists.Each(lists.Indices(c.Budgets), func(k int) harm {
		return harm{faultsOf(c.Budgets[k]), locks(func(l int) bool { p := c.Of(l, k, n); return p.Found && p.Par > 0 })}
	}), func(h harm) bool { return h.locks == nil })
	groups := lists.Gather(harms, func(a, b harm) bool { return slices.Equal(a.locks, b.locks) })
	slices.SortStableFunc(groups, func(a, b []harm) int { return len(b[0].locks) - len(a[0].locks) })
	for _, g := range groups {
		faults := lists.Each(g, func(h harm) string { return h.fault })
		add("par.by.faults", g[0].locks, false, "faults", text.Join(lang, "chart.list", faults))
	}
	untold := locks(func(l int) bool { p := c.At(l, n); return !p.Found && !p.Complete })
	unjudged := locks(func(l int) bool { return c.At(l, n).Unjudged })
	add("par.spared", locks(func(l int) bool { p := c.At(l, n); return !p.Found && p.Complete && !p.Unjudged }), untold == nil && unjudged == nil)
	add("par.unjudged", unjudged, untold == nil)
	add("par.untold", untold, true)
	return text.Join(lang, "grid.join", parts)
}

// Note says why locks on several servers fall here to what they survive in a race; "" if
// there is none that does.
func (c *Par) Note(lang string) string {
	n := slices.Index(c.Verdicts, verdict.Overlap)
	return fewServers(lang, c.Locks, func(l int) bool {
		return n >= 0 && slices.ContainsFunc(lists.Indices(c.Budgets), func(k int) bool {
			return strings.HasPrefix(c.Budgets[k], "failover") && c.Of(l, k, n).Found
		})
	})
}

// faultsOf is a budget as a head of a column: a single fault without its number.
func faultsOf(budget string) string {
	if budget == "" {
		return "-"
	}
	return strings.TrimSuffix(budget, "=1")
}

// parLabel is a par in a word: "1", "<= 1", "none", "?"; "" where nothing could show it.
func parLabel(lang string, p *study.Par) string {
	switch {
	case p.Unjudged:
		return ""
	case p.Found && p.Complete:
		return strconv.Itoa(p.Par)
	case p.Found:
		return say(lang, "par.atmost", "n", strconv.Itoa(p.Par))
	case p.Complete:
		return say(lang, "par.none")
	}
	return say(lang, "par.unknown")
}

// parWays are the faults, "pause, failover": one of them is enough.
func parWays(lang string, p *study.Par) string {
	if p.Par == 0 {
		return say(lang, "par.noluck")
	}
	return strings.Join(p.Ways, ", ")
}

// records has one line for each lock, budget and verdict. par, steps and trace are empty
// where nothing was found.
func (c *Par) records() [][]any {
	return csvLines("strategy budget verdict found complete par steps trace", lists.Indices(c.Each), func(i int) []any {
		p, budget := &c.Each[i], c.Budgets[i/len(c.Verdicts)%len(c.Budgets)]
		line := []any{p.Strategy, budget, p.Verdict, p.Found, p.Complete && !p.Unjudged, "", "", ""}
		if p.Found {
			line = append(line[:5], p.Par, p.Steps, p.Trace)
		}
		return line
	})
}

func (c *Par) data() object {
	return object{"takeaway", c.Takeaway("en"), "bounds", c.Bounds("en"), "pars", c.Pars}
}

// text has a lock per line and a verdict per column, and then the moves.
func (c *Par) text(out *layout.Lines) {
	lang := out.Lang()
	table := crossing(layout.Sheet{Floor: 4}, sayAll(out, "par.head"), ids(c.Locks), verdict.Names(c.Verdicts),
		func(l, n int) string { return parLabel(lang, c.At(l, n)) })
	show(out, saying(c.Title), table, nil)
	for i := range c.Pars {
		if p := &c.Pars[i]; p.Found {
			out.Put(say(lang, "par.by", "lock", layout.PadRight(p.Strategy, 13),
				"verdict", layout.PadRight(string(p.Verdict), 12), "ways", parWays(lang, p)), 30)
		}
	}
	out.Put("", 0)
	putEach(out, saying(c.Takeaway, c.Bounds, c.Note))
}

// The measures of the chart, in points.
const (
	parRow  vg.Length = 20 // at least
	parHead vg.Length = 20
	parChip vg.Length = 15 // a harm
	parGap  vg.Length = 10 // between two faults
	parFoot vg.Length = 8
)

// Finding says which faults let two clients into most locks; the title, if there are none.
func (c *Par) Finding(lang string) string {
	n, most := slices.Index(c.Verdicts, verdict.Overlap), 0
	falls := func(k int) (locks []string) {
		for l, e := range c.Locks {
			if n >= 0 && c.Of(l, k, n).Found {
				locks = append(locks, e.ID)
			}
		}
		return locks
	}
	var faults []string
	var locks []string
	for k, b := range c.Budgets {
		switch all := falls(k); {
		case len(all) > most:
			most, locks, faults = len(all), all, []string{faultsOf(b)}
		case len(all) == most && most > 0 && slices.Equal(all, locks):
			faults = append(faults, faultsOf(b))
		}
	}
	if most == 0 {
		return c.Title(lang)
	}
	who := text.Join(lang, "chart.list", locks)
	if len(locks) == len(c.Locks) && len(locks) > 1 {
		who = say(lang, "par.each", "n", strconv.Itoa(len(locks)))
	}
	return say(lang, "par.finding", "faults", text.Join(lang, "chart.or", faults), "locks", who)
}

// picture has, for each lock and fault, the harms that the fault can do.
func (c *Par) picture(f Format) picture {
	lang := f.Lang
	label, column := nameWidth(lang, c.Locks, 16), parChip*vg.Length(len(c.Verdicts))+parGap
	for _, b := range c.Budgets {
		column = max(column, strong.Width(faultsOf(b))+parGap)
	}
	locks := lockRows(lang, c.Locks, parRow, func(place draw.Canvas, l int, y vg.Length) {
		for k := range c.Budgets {
			for n := range c.Verdicts {
				drawPar(place, lang, c.Of(l, k, n), place.Min.X+label+column*vg.Length(k)+parChip*(vg.Length(n)+0.5), y)
			}
		}
	})
	heads := rows(1, parHead, func(place draw.Canvas, _ int, y vg.Length) {
		for k, b := range c.Budgets {
			write(place, strong, place.Min.X+label+column*vg.Length(k), y, faultsOf(b))
		}
	})
	meanings := lists.Each(c.Verdicts, func(w verdict.Word) caption { return captionOf(w, lang) })
	needs := label + column*vg.Length(len(c.Budgets))
	return f.fitted(c, []string{say(lang, "par.below")}, needs, func(vg.Length) []block {
		return []block{heads, locks, space(parFoot), captionsBlock(meanings)}
	})
}

// Notes implements Chart.
func (c *Par) Notes(lang string) []string {
	return []string{c.Note(lang), say(lang, "par.legend", "bounds", c.Bounds(lang))}
}

// drawPar draws one harm: a chip where it can happen, with its par unless that is 1; a dot
// where it was proved impossible; nothing where so few clients could not show it.
func drawPar(c draw.Canvas, lang string, par *study.Par, x, y vg.Length) {
	switch {
	case par.Found:
		drawChip(c, par.Verdict, par.Par, x, y)
	case par.Unjudged:
	case par.Complete:
		c.DrawGlyph(draw.GlyphStyle{Color: faintInk, Radius: 1.1, Shape: draw.CircleGlyph{}}, vg.Point{X: x, Y: y})
	default:
		write(c, aligned(writing(textSize, faintInk), draw.XCenter), x, y, say(lang, "par.unknown"))
	}
}

// drawChip draws a harm that can happen, with its par unless that is 1.
func drawChip(c draw.Canvas, of verdict.Word, par int, x, y vg.Length) {
	l := LookOf(of)
	fillBox(c, box(x-parChip/2+0.7, y-8, x+parChip/2-0.7, y+8), paints[l.Class].ground)
	glyph := l.Glyph
	if par != 1 {
		glyph += strconv.Itoa(par)
	}
	write(c, aligned(bold(writing(9, paints[l.Class].writing)), draw.XCenter), x, y+0.6, glyph)
}
