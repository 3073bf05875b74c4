package chart

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/scenarios/study"
	"locklab/simulator/history"
)

// A Doom draws how much of a run's future was lost after each of its steps.
type Doom struct {
	*study.Doom
	Lang string // of the picture; "": English
}

// deed is what step n was, in a few words.
func (d *Doom) deed(n int, lang string) string {
	if n == 0 {
		return ""
	}
	from, to := &d.Steps[n-1], &d.Steps[n]
	if from.Events == to.Events && from.At == to.At { // a program begins, and waits
		return say(lang, "doom.begins")
	}
	events := d.History.Events[from.Events:to.Events]
	quiet := func(e history.Event) bool { return e.Kind == history.Sleep || e.Kind == history.Wake }
	if from.At == to.At && len(events) > 0 && !slices.ContainsFunc(events, func(e history.Event) bool { return !quiet(e) }) {
		if events[0].Kind == history.Sleep {
			return say(lang, "doom.begins")
		}
		return say(lang, "doom.goes")
	}
	return reports.Summary(d.History, from.Events, to.Events, to.At-from.At, lang)
}

// shareText is a share in percent. What is not quite nothing, or everything, does
// not look like it.
func shareText(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "< 0.1 %"
	case share < 1 && share > 0.999:
		return "> 99.9 %"
	}
	return strings.TrimSuffix(strconv.FormatFloat(100*share, 'f', 1, 64), ".0") + " %"
}

// Title is what the chart asks.
func (d *Doom) Title(lang string) string {
	return say(lang, "doom.title", "lock", d.History.Strategy, "harm", string(d.Harm))
}

// Bounds says what is counted, and what is not.
func (d *Doom) Bounds(lang string) string {
	return say(lang, "doom.bounds", "states", thousands(d.States))
}

// Takeaway says how the faults changed the share, and from which step on nothing averts
// the harm.
func (d *Doom) Takeaway(lang string) string {
	if len(d.Steps) == 0 {
		return ""
	}
	first, last, faults := 0, 0, 0
	for n, s := range d.Steps {
		if s.Fault {
			if faults++; faults == 1 {
				first = n
			}
			last = n
		}
	}
	harm := string(d.Harm)
	text := ""
	switch {
	case faults == 0:
		text = say(lang, "doom.nofault", "before", shareText(d.Steps[0].Share), "harm", harm)
	case faults == 1:
		text = say(lang, "doom.fault", "before", shareText(d.Steps[first-1].Share), "after", shareText(d.Steps[last].Share), "harm", harm)
	default:
		text = say(lang, "doom.faults", "n", strconv.Itoa(faults),
			"before", shareText(d.Steps[first-1].Share), "after", shareText(d.Steps[last].Share), "harm", harm)
	}
	key := "doom.noreturn"
	if d.NoReturn < len(d.Steps)-1 && d.NoReturn == last && faults > 0 {
		key = "doom.noreturn.fault"
	}
	return say(lang, "grid.both", "first", text, "next", say(lang, key,
		"step", strconv.Itoa(d.NoReturn), "all", strconv.Itoa(len(d.Steps)-1), "what", d.deed(d.NoReturn, lang)))
}

// CSV writes one line a step. Shares have nine places; 1.000000000 is exact if
// no_return or a line above it says so.
func (d *Doom) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"step", "t_ms", "what", "fault", "share", "no_return"}}
	for n, s := range d.Steps {
		records = append(records, []string{strconv.Itoa(n), reports.Millis(s.At, reports.Decimals(d.History)), d.deed(n, "en"),
			strconv.FormatBool(s.Fault), strconv.FormatFloat(s.Share, 'g', -1, 64), strconv.FormatBool(n >= d.NoReturn)})
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing a doom curve: %w", err)
	}
	return nil
}

// doomBar is how many characters all of the future takes.
const doomBar = 20

// Text writes a step per line, with a bar as long as what is lost.
func (d *Doom) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	lang := out.Lang()
	for _, l := range out.Langs() {
		out.Put(d.Title(l), 0)
	}
	out.Put("", 0)
	s := layout.Sheet{Rows: [][]string{{say(lang, "doom.step"), "t/ms", say(lang, "doom.what"), say(lang, "doom.share"), ""}}, Right: map[int]bool{0: true, 1: true, 3: true}, Floor: 8}
	for n, step := range d.Steps {
		note := strings.Repeat("#", int(step.Share*doomBar+0.5))
		if n == d.NoReturn {
			note += "  " + say(lang, "lanes.noreturn")
		}
		what := d.deed(n, lang)
		if step.Fault {
			what = "! " + what
		}
		s.Rows = append(s.Rows, []string{strconv.Itoa(n), reports.Millis(step.At, reports.Decimals(d.History)), what, shareText(step.Share), note})
	}
	s.WriteOrList(out, 1)
	out.Put("", 0)
	for _, l := range out.Langs() {
		out.Put(d.Takeaway(l), 0)
		out.Put(d.Bounds(l), 0)
	}
	return out.Err()
}
