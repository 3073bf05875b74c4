package reports

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Doom is how much of a run's future was lost after each of its steps: the
// share of all that could follow that ends in a harm.
type Doom struct {
	Harm     verdict.Word
	History  *history.History
	Steps    []DoomStep // the first is the start, before anything has happened
	NoReturn int        // the first step after which everything ends in the harm, at least 0
	States   int        // that were looked at
}

// A DoomStep is what one step leaves.
type DoomStep struct {
	At     time.Duration // true time after it
	Events int           // of the history, up to and with it
	Strike bool          // of a fault
	Share  float64       // 0 to 1; 1 only if nothing averts the harm any more
}

// NoReturnEvent is the event of the history, from 1, beside which lanes show the
// point of no return; see Options.
func (d *Doom) NoReturnEvent() int {
	if d.NoReturn < 1 || d.NoReturn >= len(d.Steps) {
		return 1
	}
	events, before := d.Steps[d.NoReturn].Events, d.Steps[d.NoReturn-1].Events
	if events == before { // time has passed, and nobody has written anything
		events++
	}
	return min(max(events, 1), len(d.History.Events))
}

// deed is what step n was, in a few words.
func (d *Doom) deed(n int) string {
	if n == 0 {
		return ""
	}
	from, to := &d.Steps[n-1], &d.Steps[n]
	what, who := cell{}, ""
	for _, e := range d.History.Events[from.Events:to.Events] {
		if e.Client > 0 && e.Kind != history.Change {
			who = clientName(e.Client) + " "
		}
		if text := d.text(e, len(what.texts) > 0); text != "" {
			what.texts = append(what.texts, text)
		}
	}
	if to.At > from.At {
		who = span(to.At-from.At) + " pass"
		if len(what.texts) > 0 {
			who += ": "
		}
	}
	return who + what.text(0, 0)
}

// text is one event of a step; more says that it is not the first one told. What
// is sent is news only where it is all there is.
func (d *Doom) text(e history.Event, more bool) string {
	s := &step{Event: e}
	switch e.Kind {
	case history.Send:
		if more {
			return ""
		}
		if e.Node == history.Resource {
			return "asks the resource"
		}
		return "sends " + sent(d.History, s)
	case history.Apply:
		return sent(d.History, s) + " arrives"
	case history.Answer:
		if e.Node == history.Resource {
			return "hears the resource"
		}
	case history.Expire:
		return d.server(e.Node) + " key EXPIRES"
	case history.Refuse:
		return "refused"
	case history.Acquire, history.Released, history.Change:
		return ""
	case history.Done:
		if more {
			return ""
		}
		return "is done"
	}
	if text := cellText(d.History, s); text != "" {
		return text
	}
	return redisNote(d.History, s)
}

// server names a server where there are several.
func (d *Doom) server(n int) string {
	if d.History.Nodes > 1 {
		return nodeName(n)
	}
	return "the"
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

// Takeaway says what the strikes did to the future, and from where on nothing
// could avert the harm.
func (d *Doom) Takeaway(lang string) string {
	if len(d.Steps) == 0 {
		return ""
	}
	first, last, strikes := 0, 0, 0
	for n, s := range d.Steps {
		if s.Strike {
			if strikes++; strikes == 1 {
				first = n
			}
			last = n
		}
	}
	harm := string(d.Harm)
	text := ""
	switch {
	case strikes == 0:
		text = say(lang, "doom.unstruck", "before", shareText(d.Steps[0].Share), "harm", harm)
	case strikes == 1:
		text = say(lang, "doom.struck", "before", shareText(d.Steps[first-1].Share), "after", shareText(d.Steps[last].Share), "harm", harm)
	default:
		text = say(lang, "doom.struck.often", "n", strconv.Itoa(strikes),
			"before", shareText(d.Steps[first-1].Share), "after", shareText(d.Steps[last].Share), "harm", harm)
	}
	key := "doom.noreturn"
	if d.NoReturn < len(d.Steps)-1 && d.NoReturn == last && strikes > 0 {
		key = "doom.noreturn.strike"
	}
	return say(lang, "grid.both", "first", text, "next", say(lang, key,
		"step", strconv.Itoa(d.NoReturn), "all", strconv.Itoa(len(d.Steps)-1), "what", d.deed(d.NoReturn)))
}

// CSV writes one line a step. Shares have nine places; 1.000000000 is exact if
// no_return or a line above it says so.
func (d *Doom) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	records := [][]string{{"step", "t_ms", "what", "strike", "share", "no_return"}}
	for n, s := range d.Steps {
		records = append(records, []string{strconv.Itoa(n), millis(s.At, decimalsOf(d.History)), d.deed(n),
			strconv.FormatBool(s.Strike), strconv.FormatFloat(s.Share, 'g', -1, 64), strconv.FormatBool(n >= d.NoReturn)})
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("reports: writing a doom curve: %w", err)
	}
	return nil
}

// doomBar is how many characters all of the future takes.
const doomBar = 20

// Text writes a step per line, with a bar as long as what is lost.
func (d *Doom) Text(w io.Writer, o Options) error {
	out := newLines(w, o)
	lang := o.langs()[0]
	for _, l := range o.langs() {
		out.put(d.Title(l), 0)
	}
	out.put("", 0)
	s := sheet{rows: [][]string{{say(lang, "doom.step"), "t/ms", say(lang, "doom.what"), say(lang, "doom.share"), ""}}, right: map[int]bool{0: true, 1: true, 3: true}, floor: 8}
	for n, step := range d.Steps {
		note := strings.Repeat("#", int(step.Share*doomBar+0.5))
		if n == d.NoReturn {
			note += "  " + say(lang, "lanes.noreturn")
		}
		what := d.deed(n)
		if step.Strike {
			what = "! " + what
		}
		s.rows = append(s.rows, []string{strconv.Itoa(n), millis(step.At, decimalsOf(d.History)), what, shareText(step.Share), note})
	}
	if !s.write(out) {
		for _, row := range s.rows[1:] {
			out.put(oneLine(row), 2)
		}
	}
	out.put("", 0)
	for _, l := range o.langs() {
		out.put(d.Takeaway(l), 0)
		out.put(d.Bounds(l), 0)
	}
	return out.err
}
