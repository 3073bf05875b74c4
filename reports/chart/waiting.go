package chart

import (
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/lists"
)

// A WaitingChart draws what ways to wait cost, against the number of clients.
type WaitingChart struct {
	Load    cost.Load
	Results []cost.WaitingResult // by policy, then by number of clients
}

// Title returns the question of the chart.
func (c *WaitingChart) Title(lang string) string { return say(lang, "waiting.title") }

// Assumptions are the numbers of the runs.
func (c *WaitingChart) Assumptions(lang string) string {
	l := c.Load
	return say(lang, "waiting.assumptions", "service", l.Service.String(), "latency", l.Latency.String(), "hold", length(l.Hold),
		"poll", length(l.Poll), "cap", length(l.Cap), "base", (l.Poll / 8).String(), "rest", length(l.Rest))
}

// Takeaway compares the policies where most clients wait.
func (c *WaitingChart) Takeaway(lang string) string {
	most, played := crowded(c.Results)
	if len(played) == 0 {
		return say(lang, "waiting.nothing")
	}
	quick, slow := extremes(played, func(r cost.WaitingResult) float64 { return r.Handover })
	cheap, dear := extremes(played, func(r cost.WaitingResult) float64 { return r.PerEntry })
	return say(lang, "waiting.takeaway", "clients", thousands(most), "quick", quick.Policy, "quickest",
		millis(quick.Handover),
		"slow", slow.Policy, "slowest", millis(slow.Handover), "cheap", cheap.Policy, "least", rounded(cheap.PerEntry, 1),
		"dear", dear.Policy, "most", rounded(dear.PerEntry, 0))
}

// crowded are the results that were played with most clients, and how many those are.
func crowded(all []cost.WaitingResult) (clients int, of []cost.WaitingResult) {
	for _, r := range all {
		if !r.Skipped {
			clients = max(clients, r.Clients)
		}
	}
	return clients, lists.Pick(all, func(r cost.WaitingResult) bool { return !r.Skipped && r.Clients == clients })
}

// notes say what was not played, or not to its end.
func (c *WaitingChart) notes(lang string) []string {
	list := func(key string, which func(cost.WaitingResult) bool) string {
		runs := lists.Each(lists.Pick(c.Results, which), func(r cost.WaitingResult) string {
			return say(lang, "waiting.at", "policy", r.Policy, "clients", thousands(r.Clients))
		})
		if runs == nil {
			return ""
		}
		return say(lang, key, "runs", text.Join(lang, "chart.list", runs), "most", thousands(c.Load.Most))
	}
	return []string{
		list("waiting.skipped", func(r cost.WaitingResult) bool { return r.Skipped }),
		list("waiting.cut", func(r cost.WaitingResult) bool { return r.Cut && !r.Skipped }),
		say(lang, "waiting.note"),
	}
}

// byPolicy are the results of each policy.
func (c *WaitingChart) byPolicy() [][]cost.WaitingResult {
	return lists.Gather(c.Results, func(a, b cost.WaitingResult) bool { return a.Policy == b.Policy })
}

// policies say what each policy is.
func (c *WaitingChart) policies(lang string) []string {
	return lists.Each(c.byPolicy(), func(of []cost.WaitingResult) string {
		return say(lang, "waiting.policy", "id", of[0].Policy, "what", say(lang, "policy."+of[0].Policy))
	})
}

func jain(index *float64) string {
	if index == nil {
		return "-"
	}
	return rounded(*index, 2)
}

// text has one policy with one number of clients per line.
func (c *WaitingChart) text(out *layout.Lines) {
	names := "policy clients handover p99 commands entry load jain overtaken herd"
	table := listing(1, 6, "waiting.head.", names, c.Results,
		func(r cost.WaitingResult) []string {
			if r.Skipped {
				return append([]string{r.Policy, strconv.Itoa(r.Clients)}, slices.Repeat([]string{"-"}, 8)...)
			}
			return []string{r.Policy, strconv.Itoa(r.Clients), millis(r.Handover), millis(r.HandoverP99), rounded(r.Commands, 0),
				rounded(r.PerEntry, 1), percent(r.Load) + " %", jain(r.Jain), strconv.Itoa(r.Overtaken), rounded(r.Herd, 1)}
		})
	for _, lang := range out.Langs() {
		out.Put(c.Title(lang), 0)
		out.Put(c.Assumptions(lang), 0)
		for _, policy := range c.policies(lang) {
			out.Put(policy, 2)
		}
	}
	show(out, saying(), table, func(lang string) []string { return append([]string{c.Takeaway(lang)}, c.notes(lang)...) })
}

// records has one line for each policy and number of clients.
func (c *WaitingChart) records() [][]any {
	rows := [][]any{header("policy clients entries handover_mean_s handover_p99_s release_mean_s entries_per_second " +
		"commands_per_second commands_per_entry server_load jain_index longest_overtaking herd_size")}
	for _, r := range c.Results {
		if !r.Skipped {
			rows = append(rows, []any{r.Policy, r.Clients, r.Entries, r.Handover, r.HandoverP99, r.Release, r.Throughput,
				r.Commands, r.PerEntry, r.Load, strings.Trim(jain(r.Jain), "-"), r.Overtaken, r.Herd})
		}
	}
	return rows
}

func (c *WaitingChart) data() object {
	return object{"takeaway", c.Takeaway("en"), "assumptions", c.Assumptions("en"), "results", c.Results}
}

// A waitingMeasure is one panel.
type waitingMeasure struct {
	key string // of its title, which has the unit
	of  func(r cost.WaitingResult) float64
}

// waitingMeasures are those of the picture: the rest is in the CSV.
var waitingMeasures = []waitingMeasure{
	{"handover", func(r cost.WaitingResult) float64 { return r.Handover * 1000 }},
	{"overtaken", func(r cost.WaitingResult) float64 { return float64(r.Overtaken) }},
	{"entry", func(r cost.WaitingResult) float64 { return r.PerEntry }},
}

// waitingPanel is the least height of a panel.
const waitingPanel vg.Length = 130

// usualPolicies are shown where there are too many: polling, messages, a line.
var usualPolicies = []string{"fixed", "pubsub", "line"}

// shown are the results that a picture has: of one policy of each kind, where there are too many.
func (c *WaitingChart) shown() []cost.WaitingResult {
	if len(c.byPolicy()) <= maxSeries {
		return c.Results
	}
	return lists.Pick(c.Results, func(r cost.WaitingResult) bool { return slices.Contains(usualPolicies, r.Policy) })
}

// Finding compares what an entry costs where most clients wait.
func (c *WaitingChart) Finding(lang string) string {
	most, played := crowded(c.shown())
	if len(played) == 0 {
		return say(lang, "waiting.nothing")
	}
	quick, slow := extremes(played, func(r cost.WaitingResult) float64 { return r.Handover })
	return say(lang, "waiting.finding", "clients", thousands(most), "quick", quick.Policy, "least", rounded(1000*quick.Handover, 1),
		"slow", slow.Policy, "most", rounded(1000*slow.Handover, 0))
}

// picture has a panel for each measure, against the number of clients.
func (c *WaitingChart) picture(f Format) picture {
	lang, shown := f.Lang, &WaitingChart{Load: c.Load, Results: c.shown()}
	policies := lists.Each(shown.byPolicy(), func(of []cost.WaitingResult) string { return of[0].Policy })
	measures := panels(len(waitingMeasures), len(waitingMeasures), waitingPanel, func(place draw.Canvas, i int) {
		m := waitingMeasures[i]
		write(place, strong, place.Min.X, place.Max.Y-9, say(lang, "waiting.panel."+m.key))
		shown.panel(draw.Crop(place, rateLeft, -8, waitingBelow, -24), m, say(lang, "waiting.axis"))
	})
	key := legend(lists.Each(policies, func(p string) string {
		return say(lang, "waiting.policy", "id", p, "what", say(lang, "policy.short."+p))
	}), 24, 11,
		func(c draw.Canvas, i int, x, y vg.Length) { sample(c, styleAt(i), x, x+20, y) })
	return f.fitted(c, []string{c.Assumptions(lang)}, 0, func(vg.Length) []block { return []block{key, measures} })
}

// Notes implements Chart.
func (c *WaitingChart) Notes(lang string) []string {
	return slices.Concat([]string{seriesLeft(lang, len((&WaitingChart{Results: c.shown()}).byPolicy()), len(c.byPolicy())), c.Assumptions(lang)}, c.policies(lang), c.notes(lang))
}

const waitingBelow vg.Length = 34

func (c *WaitingChart) panel(f draw.Canvas, m waitingMeasure, axis string) {
	last := 4
	var values []float64
	for _, r := range c.Results {
		last = max(last, r.Clients)
		if v := m.of(r); v > 0 && !r.Skipped {
			values = append(values, v)
		}
	}
	above := f
	if slices.ContainsFunc(c.Results, func(r cost.WaitingResult) bool { return m.of(r) == 0 && !r.Skipped }) {
		above.Min.Y += rateZero
		rulesY(f, small, f.Y, []plot.Tick{{Value: 0, Label: "0"}})
	}
	low, high := withinDecades(values)
	scale := logarithmic(above.Y, low, high)
	y := func(v float64) vg.Length {
		if v == 0 {
			return f.Min.Y
		}
		return scale(v)
	}
	rulesY(f, small, y, decades(low, high, 1, places(4)))
	x := logarithmic(f.X, 2, float64(last))
	for _, of := range lists.Gather(c.Results, func(a, b cost.WaitingResult) bool { return a.Clients == b.Clients }) {
		write(f, aligned(small, draw.XCenter), x(float64(of[0].Clients)), f.Min.Y-9, thousands(of[0].Clients))
	}
	write(f, aligned(faint, draw.XRight), f.Max.X, f.Min.Y-20, axis)
	for i, of := range c.byPolicy() {
		of = lists.Pick(of, func(r cost.WaitingResult) bool { return !r.Skipped })
		curve(f, styleAt(i), 1.5, 2.2, lists.Each(of, func(r cost.WaitingResult) vg.Point {
			return vg.Point{X: x(float64(r.Clients)), Y: y(m.of(r))}
		}))
	}
}
