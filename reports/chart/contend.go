package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/scenarios/cost"
)

// A ContendChart shows what clients that contend for a lock get of a real server, beside what
// the simulation predicts.
type ContendChart struct {
	Contention cost.Contention // Load.Service and Load.Latency are those that were measured
	Version    string          // of redis-server
	Results    []Contended
	Lang       string // of the pictures
}

// Contended is what came of one lock and one way to wait for it.
type Contended struct {
	Policy string        `json:"policy"`
	Lock   string        `json:"lock"`
	Real   cost.Measures `json:"real"`
	Lab    cost.Measures `json:"lab"`
}

func (r Contended) name() string { return r.Policy + " " + r.Lock }

// Title is what the chart asks.
func (c *ContendChart) Title(lang string) string { return say(lang, "contend.title") }

// Assumptions are the numbers of the runs.
func (c *ContendChart) Assumptions(lang string) string {
	l := c.Contention.Load
	return say(lang, "contend.assumptions", "version", c.Version, "clients", thousands(c.Contention.Clients), "requests", thousands(c.Contention.Requests), "hold", length(l.Hold),
		"poll", length(l.Poll), "cap", length(l.Cap), "base", (l.Poll / 8).String(), "ttl", length(l.TTL), "patience", length(l.Patience),
		"service", l.Service.String(), "latency", l.Latency.String())
}

// Text writes two lines for each lock and way to wait, and the commands by kind.
func (c *ContendChart) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	lang := out.Lang()
	for _, lang := range out.Langs() {
		out.Put(c.Title(lang), 0)
		out.Put(c.Assumptions(lang), 0)
	}
	out.Put("", 0)
	c.table(lang).WriteOrList(out, 1)
	out.Put("", 0)
	out.Put(say(lang, "contend.kinds"), 0)
	for _, r := range c.Results {
		out.Put(say(lang, "contend.kinds.row", "name", r.name(), "real", kinds(r.Real), "lab", kinds(r.Lab)), 2)
	}
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(c.Takeaway(lang), 0)
		for _, r := range c.Results {
			if m := r.Real; m.Together+m.Lost > 0 {
				out.Put(say(lang, "contend.broken", "name", r.name(), "together", thousands(m.Together), "lost", thousands(m.Lost)), 0)
			}
		}
		out.Put(say(lang, "contend.note"), 0)
	}
	return out.Err()
}

// kinds are the commands of a measurement, the most frequent first.
func kinds(m cost.Measures) string {
	names := slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(m.Commands))), func(a, b string) int { return m.Commands[b] - m.Commands[a] })
	var all []string
	for _, name := range names {
		all = append(all, name+" "+thousands(m.Commands[name]))
	}
	return strings.Join(all, ", ")
}

// perRequest is how many commands a request costs.
func perRequest(m cost.Measures) float64 {
	return float64(m.Total()) / float64(max(1, m.Acquired+m.GaveUp))
}

func (c *ContendChart) table(lang string) *layout.Sheet {
	sheet := &layout.Sheet{Right: map[int]bool{}, Floor: 5}
	var head []string
	for i, key := range []string{"name", "side", "p50", "p90", "p99", "max", "release", "release99", "second", "commands", "jain", "gaveup"} {
		head = append(head, say(lang, "contend.head."+key))
		sheet.Right[i] = i > 1
	}
	sheet.Rows = [][]string{head}
	for _, r := range c.Results {
		for i, m := range []cost.Measures{r.Real, r.Lab} {
			name, side := r.name(), "real"
			if i > 0 {
				name, side = "", "lab"
			}
			sheet.Rows = append(sheet.Rows, []string{name, say(lang, "contend."+side), millis(m.Acquire.P50), millis(m.Acquire.P90), millis(m.Acquire.P99), millis(m.Acquire.Max), millis(m.Release.P50), millis(m.Release.P99),
				strconv.FormatFloat(m.Throughput, 'f', 0, 64), strconv.FormatFloat(perRequest(m), 'f', 1, 64), jain(cost.WaitingResult{Jain: m.Jain}), strconv.Itoa(m.GaveUp)})
		}
	}
	return sheet
}

// CSV writes a line for each lock, way to wait and side, and one for each kind of command.
func (c *ContendChart) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"policy", "lock", "side", "clients", "requests", "acquired", "gave_up", "together", "lost",
		"acquire_p50_s", "acquire_p90_s", "acquire_p99_s", "acquire_max_s", "release_p50_s", "release_p90_s", "release_p99_s", "release_max_s",
		"acquired_per_second", "commands_per_request", "jain_index", "commands"}}
	for _, r := range c.Results {
		for i, m := range []cost.Measures{r.Real, r.Lab} {
			row := []string{r.Policy, r.Lock, []string{"real", "lab"}[i]}
			for _, n := range []int{c.Contention.Clients, c.Contention.Requests, m.Acquired, m.GaveUp, m.Together, m.Lost} {
				row = append(row, strconv.Itoa(n))
			}
			for _, q := range []cost.Quantiles{m.Acquire, m.Release} {
				row = append(row, significant(q.P50), significant(q.P90), significant(q.P99), significant(q.Max))
			}
			row = append(row, significant(m.Throughput), significant(perRequest(m)), "")
			if m.Jain != nil {
				row[len(row)-1] = significant(*m.Jain)
			}
			var commands []string
			for _, name := range slices.Sorted(maps.Keys(m.Commands)) {
				commands = append(commands, fmt.Sprintf("%s=%d", name, m.Commands[name]))
			}
			records = append(records, append(row, strings.Join(commands, " ")))
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing contentions: %w", err)
	}
	return nil
}

// Takeaway says what differs most, and how well the simulation predicts it.
func (c *ContendChart) Takeaway(lang string) string {
	if len(c.Results) == 0 {
		return say(lang, "waiting.nothing")
	}
	pick := func(by func(r Contended) float64) (low, high Contended) {
		compare := func(a, b Contended) int {
			if by(a) < by(b) {
				return -1
			}
			return 1
		}
		return slices.MinFunc(c.Results, compare), slices.MaxFunc(c.Results, compare)
	}
	// factor is how far the simulation is off at most, for one measure.
	factor := func(of func(m cost.Measures) float64) string {
		worst := 1.0
		for _, r := range c.Results {
			if a, b := of(r.Real), of(r.Lab); a > 0 && b > 0 {
				worst = max(worst, a/b, b/a)
			}
		}
		return strconv.FormatFloat(worst, 'f', 1, 64)
	}
	slow, quick := pick(func(r Contended) float64 { return r.Real.Throughput })
	cheap, dear := pick(func(r Contended) float64 { return perRequest(r.Real) })
	second := func(r Contended) string { return strconv.FormatFloat(r.Real.Throughput, 'f', 0, 64) }
	return say(lang, "contend.takeaway", "slow", slow.name(), "slowest", second(slow), "quick", quick.name(), "quickest", second(quick),
		"cheap", cheap.name(), "least", strconv.FormatFloat(perRequest(cheap.Real), 'f', 1, 64), "dear", dear.name(), "most", strconv.FormatFloat(perRequest(dear.Real), 'f', 0, 64),
		"throughput", factor(func(m cost.Measures) float64 { return m.Throughput }), "commands", factor(perRequest))
}
