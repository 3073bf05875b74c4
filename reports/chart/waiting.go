package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/cost"
)

// A WaitingChart draws what ways to wait cost, against the number of clients.
type WaitingChart struct {
	Load    cost.Load
	Results []cost.WaitingResult // by policy, then by number of clients
	Article []cost.ArticleRun    // article 000 beside our runs; nil: it was not asked for
	Lang    string               // of the pictures
}

// Title is what the chart asks.
func (c *WaitingChart) Title(lang string) string { return say(lang, "waiting.title") }

// Assumptions are the numbers of the runs.
func (c *WaitingChart) Assumptions(lang string) string {
	l := c.Load
	return say(lang, "waiting.assumptions", "service", l.Service.String(), "latency", l.Latency.String(), "hold", length(l.Hold),
		"poll", length(l.Poll), "cap", length(l.Cap), "base", (l.Poll / 8).String(), "rest", length(l.Rest))
}

// notes say what was not played, or not to its end.
func (c *WaitingChart) notes(lang string) (all []string) {
	var skipped, cut []string
	for _, r := range c.Results {
		one := say(lang, "waiting.at", "policy", r.Policy, "clients", thousands(r.Clients))
		switch {
		case r.Skipped:
			skipped = append(skipped, one)
		case r.Cut:
			cut = append(cut, one)
		}
	}
	if len(skipped) > 0 {
		all = append(all, say(lang, "waiting.skipped", "runs", text.Join(lang, "chart.list", skipped)))
	}
	if len(cut) > 0 {
		all = append(all, say(lang, "waiting.cut", "runs", text.Join(lang, "chart.list", cut), "most", thousands(c.Load.Most)))
	}
	return all
}

// policies are those of the results, in their order.
func (c *WaitingChart) policies() (ids []string) {
	for _, r := range c.Results {
		if !slices.Contains(ids, r.Policy) {
			ids = append(ids, r.Policy)
		}
	}
	return ids
}

func millis(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Microsecond).String()
}

func jain(r cost.WaitingResult) string {
	if r.Jain == nil {
		return "-"
	}
	return strconv.FormatFloat(*r.Jain, 'f', 2, 64)
}

// Text writes one policy with one number of clients per line.
func (c *WaitingChart) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	lang := out.Lang()
	for _, lang := range out.Langs() {
		out.Put(c.Title(lang), 0)
		out.Put(c.Assumptions(lang), 0)
		for _, id := range c.policies() {
			out.Put(say(lang, "waiting.policy", "id", id, "what", say(lang, "policy."+id)), 2)
		}
	}
	out.Put("", 0)
	c.table(lang).WriteOrList(out, 1)
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(c.Takeaway(lang), 0)
		for _, note := range c.notes(lang) {
			out.Put(note, 0)
		}
		out.Put(say(lang, "waiting.note"), 0)
	}
	if len(c.Article) > 0 {
		out.Put("", 0)
		for _, lang := range out.Langs() {
			out.Put(say(lang, "waiting.article"), 0)
		}
		c.article(lang).WriteOrList(out, 1)
		for _, lang := range out.Langs() {
			out.Put(say(lang, "waiting.article.note"), 0)
		}
	}
	return out.Err()
}

func (c *WaitingChart) table(lang string) *layout.Sheet {
	sheet := &layout.Sheet{Right: map[int]bool{}, Floor: 6}
	var head []string
	for i, key := range []string{"policy", "clients", "handover", "p99", "commands", "entry", "load", "jain", "overtaken", "herd"} {
		head = append(head, say(lang, "waiting.head."+key))
		sheet.Right[i] = i > 0
	}
	sheet.Rows = [][]string{head}
	for _, r := range c.Results {
		row := []string{r.Policy, strconv.Itoa(r.Clients)}
		if r.Skipped {
			row = append(row, "-", "-", "-", "-", "-", "-", "-", "-")
		} else {
			row = append(row, millis(r.Handover), millis(r.HandoverP99), strconv.FormatFloat(r.Commands, 'f', 0, 64), strconv.FormatFloat(r.PerEntry, 'f', 1, 64),
				percent(r.Load)+" %", jain(r), strconv.Itoa(r.Overtaken), strconv.FormatFloat(r.Herd, 'f', 1, 64))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	return sheet
}

// article sets our runs beside the figures of article 000.
func (c *WaitingChart) article(lang string) *layout.Sheet {
	sheet := &layout.Sheet{Right: map[int]bool{}, Floor: 6}
	var head []string
	for i, key := range []string{"load", "second", "article", "release", "article", "commands"} {
		head = append(head, say(lang, "waiting.article.head."+key))
		sheet.Right[i] = i > 0
	}
	sheet.Rows = [][]string{head}
	figure := func(given bool, value string) string {
		if !given {
			return "-"
		}
		return value
	}
	for _, r := range c.Article {
		load := say(lang, "waiting.article.load", "requests", thousands(r.Requests), "sleep", length(r.Sleep))
		if r.Sleep == 0 {
			load = say(lang, "waiting.article.load.none", "requests", thousands(r.Requests))
		}
		sheet.Rows = append(sheet.Rows, []string{load, figure(r.Requests > 1, strconv.FormatFloat(r.Result.Throughput, 'f', 0, 64)), figure(r.Throughput > 0, decimal(r.Throughput)),
			millis(r.Result.Release), figure(r.Release > 0, r.Release.String()), strconv.FormatFloat(r.Result.Commands, 'f', 0, 64)})
	}
	return sheet
}

// CSV writes one line for each policy and number of clients, and those of article 000.
func (c *WaitingChart) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"policy", "clients", "entries", "handover_mean_s", "handover_p99_s", "release_mean_s", "entries_per_second", "commands_per_second",
		"commands_per_entry", "server_load", "jain_index", "longest_overtaking", "herd_size", "article_per_second", "article_release_s"}}
	line := func(name string, r cost.WaitingResult, article ...string) {
		if r.Skipped {
			return
		}
		records = append(records, append([]string{name, strconv.Itoa(r.Clients), strconv.Itoa(r.Entries), significant(r.Handover), significant(r.HandoverP99), significant(r.Release), significant(r.Throughput),
			significant(r.Commands), significant(r.PerEntry), significant(r.Load), strings.ReplaceAll(jain(r), "-", ""), strconv.Itoa(r.Overtaken), significant(r.Herd)}, article...))
	}
	for _, r := range c.Results {
		line(r.Policy, r, "", "")
	}
	for _, r := range c.Article {
		line(fmt.Sprintf("article 000, sleep=%v, requests=%d", r.Sleep, r.Requests), r.Result, significant(r.Throughput), significant(r.Release.Seconds()))
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing ways to wait: %w", err)
	}
	return nil
}

// Takeaway compares the policies where most clients wait.
func (c *WaitingChart) Takeaway(lang string) string {
	most := 0
	for _, r := range c.Results {
		if !r.Skipped {
			most = max(most, r.Clients)
		}
	}
	var at []cost.WaitingResult
	for _, r := range c.Results {
		if r.Clients == most && !r.Skipped {
			at = append(at, r)
		}
	}
	if len(at) == 0 {
		return say(lang, "waiting.nothing")
	}
	pick := func(by func(r cost.WaitingResult) float64) (low, high cost.WaitingResult) {
		low, high = at[0], at[0]
		for _, r := range at {
			if by(r) < by(low) {
				low = r
			}
			if by(r) > by(high) {
				high = r
			}
		}
		return low, high
	}
	quick, slow := pick(func(r cost.WaitingResult) float64 { return r.Handover })
	cheap, dear := pick(func(r cost.WaitingResult) float64 { return r.PerEntry })
	return say(lang, "waiting.takeaway", "clients", thousands(most), "quick", quick.Policy, "quickest", millis(quick.Handover), "slow", slow.Policy, "slowest", millis(slow.Handover),
		"cheap", cheap.Policy, "least", strconv.FormatFloat(cheap.PerEntry, 'f', 1, 64), "dear", dear.Policy, "most", strconv.FormatFloat(dear.PerEntry, 'f', 0, 64))
}
