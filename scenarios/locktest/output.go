package locktest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/certificate"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/database"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// broken returns what a test prints of a verdict that it did not expect.
func (p *plan) broken(w search.Witness, why string) string {
	out := tell("locktest.broken", "verdict", string(w.Verdict), "faults", faultsOf(w), "why", why) + "\n" +
		language().Each(func(lang string) string { return reports.Meaning(w.Verdict, lang) }) + "\n\n"
	o, err := p.play(w.Trace)
	if err != nil {
		return out + tell("locktest.unplayable", "cause", explain(err))
	}
	return out + show(o) + "\n" + again(p.t.Name(), w.Trace, p.Drawing)
}

// again returns the commands that play a trace once more, and against another lock.
func again(test string, trace simulator.Trace, drawing int) string {
	folder, _ := os.Getwd() // of the package, which need not be where go test was typed
	return tell("locktest.again") + "\n  " + study.Replay(folder, test, trace, drawing) + "\n" +
		certificate.Against(trace, tell)
}

// detailsFlag has tests print whole certificates.
var detailsFlag = flag.Bool("locklab.details", false,
	"print what was searched and assumed in full, in place of its first line")

// brief is a certificate as tests print it: in full with -locklab.details, else what was found and, briefly, assumed.
func (f *findings) brief() string {
	var out strings.Builder
	out.WriteString("\n")
	to := language().To(&out, 100) // go test indents it
	for _, lang := range to.Langs() {
		lines := []string{f.headline(lang), f.assumed(lang), text.Say(lang, "locktest.details")}
		if *detailsFlag {
			lines = strings.Split(f.certificate(lang), "\n")
		}
		for _, line := range lines {
			label := ""
			for _, r := range line {
				if !strings.HasPrefix(line, "  ") || label == "  - " || layout.Width(label) == carriedAt {
					break
				}
				label += string(r)
			}
			to.Wrap(label, line[len(label):])
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// carriedAt is where the lines of a certificate begin, behind their names.
const carriedAt = 15

// headOf returns the first line of a certificate.
func headOf(certificate string) string {
	head, _, _ := strings.Cut(certificate, "\n")
	return head
}

// headline returns in a line what a search has found, and why it has not searched all.
func headline(p *plan, s *search.Search, lang string) string {
	head := headOf(certificate.Of(s, lang))
	if p.aside != nil {
		head += " " + text.Say(lang, "locktest.carried.aside", "cause", unprefixed(text.SayError(lang, p.aside)))
	}
	return head
}

// certificate returns what a search covered, and what it relies on.
func (p *plan) certificate(s *search.Search, lang string) string {
	_, covered, _ := strings.Cut(certificate.Of(s, lang), "\n")
	carried := []string{p.apart.said(lang)}
	if p.Ensemble {
		carried = append(carried, text.Say(lang, "locktest.carried.zookeeper"))
	}
	if d := p.bounds.Database; d != nil {
		carried = append(carried,
			text.Say(lang, "locktest.carried.database", "dialect", d.Dialect.String(), "idle", d.Idle.String()))
	}
	assumed, _ := p.assumed(s, lang)
	out := headline(p, s, lang) + assumed + "\n" + covered
	name := text.Say(lang, "locktest.carried.name")
	for _, line := range carried {
		out += "\n  " + text.Pad(name, 12) + " " + line
		name = ""
	}
	return out
}

// assumed ends the first line of a search's certificate: what is taken for granted of the code; and the same briefly.
func (p *plan) assumed(s *search.Search, lang string) (said, few string) {
	n, all, times := fmt.Sprint(p.apart.again), fmt.Sprint(p.apart.known), fmt.Sprint(p.apart.times)
	twice, clock := "", "untimed"
	if p.apart.again == 0 {
		twice = ".twice"
	}
	switch {
	case s.Measures: // and nothing else with its clock
		clock = "measures"
	case p.Timed:
		clock = "timed"
	}
	b := s.Bounds
	b.Attempts = min(b.Attempts, p.bounds.Attempts) // a proof for any number has more, of one client
	pairs := []string{"attempts", certificate.Attempts(b, lang), "processes", fmt.Sprint(p.apart.done),
		"runs", text.Say(lang, "locktest.assumed.runs"+twice, "n", n, "all", all, "times", times)}
	epoch := simulator.Epoch.Format(time.DateTime + " MST")
	few = text.Say(lang, "locktest.few", "clock", text.Say(lang, "locktest.few."+clock, "epoch", epoch))
	if clock == "untimed" {
		clock += twice
	}
	said = " " + text.Say(lang, "locktest.assumed", append(pairs, "clock",
		text.Say(lang, "locktest.assumed."+clock, "times", times, "epoch", epoch))...)
	drawn, quiet := p.Drawn.Where(), ""
	if len(p.Branches) > 0 {
		quiet = fmt.Sprint(p.Branches.Quiet())
	}
	for _, more := range []struct {
		is         bool
		key, value string
	}{
		{p.numbered.Load(), "numbered", fmt.Sprint("c", p.bounds.Clients)},
		{p.orders > 0, "orders", fmt.Sprint(p.orders)},
		{quiet != "", "branches", quiet},
		{p.Drawing > 0, "drawing", ""},
		{drawn != "", "drawn", drawn},
	} {
		if more.is {
			said += " " + text.Say(lang, "locktest.assumed."+more.key, "value", more.value)
			few += " " + text.Say(lang, "locktest.few."+more.key)
		}
	}
	return said, few
}

// faultsOf names the faults of a witness.
func faultsOf(w search.Witness) string {
	if names := search.InjectedFaults(w.Choices); names != "" {
		return tell("locktest.faults", "par", fmt.Sprint(w.Par), "names", names, "steps", fmt.Sprint(w.Steps))
	}
	return tell("locktest.faults.none", "steps", fmt.Sprint(w.Steps))
}

// show returns a run as text: its lanes, and the lines of the code that asked for each step.
func show(o *race.Outcome) string {
	var out strings.Builder
	look := reports.Look{Width: width, Lang: language().Lang, Brief: true}
	reports.Lanes(&out, o.History, o.Judgement, look)
	out.WriteString("\n" + tell("locktest.steps") + "\n" + reports.Calls(o.History, language()))
	return out.String()
}

// explain returns an error of a search in words for the author of the code, with the run that has led to it.
func explain(err error) string { return reason(err) + until(err) }

// until returns the run that has led to an error; "": none is known.
func until(err error) string {
	at := (*runError)(nil)
	if !errors.As(err, &at) || len(at.run.History.Events) == 0 {
		return ""
	}
	next := tell("locktest.schedule.next", "choice", at.next)
	return "\n" + tell("locktest.schedule") + "\n" + show(at.run) + next + "\n"
}

// reason returns an error in words.
func reason(err error) string {
	var (
		stall    *bubble.StallError
		panicked *bubble.PanicError
		endless  *bubble.EndlessError
		limit    *simulator.LimitError
		unknown  *database.StatementError
	)
	switch {
	case errors.As(err, &unknown):
		return "locktest: " + tell("locktest.statement", "why", unknown.Why) + "\n  " +
			strings.TrimSpace(unknown.Line+" "+strings.Join(strings.Fields(unknown.Statement), " "))
	case errors.As(err, &stall):
		return "locktest: " + tell("locktest.stall.head") + "\n" + stalled(err, stall) + "\n" + stall.Stack + "\n" +
			tell("locktest.stall.rule")
	case errors.As(err, &panicked):
		said := tell("locktest.panicked", "client", nameOf(err, panicked.Client), "value", fmt.Sprint(panicked.Value))
		return "locktest: " + said + "\n" + panicked.Stack
	case errors.As(err, &endless):
		key := map[bool]string{true: "locktest.endless.ended", false: "locktest.endless"}[endless.Ended]
		return "locktest: " + tell(key, "client", nameOf(err, endless.Client), "n", fmt.Sprint(endless.Asks))
	case errors.As(err, &limit):
		return "locktest: " + tell("locktest.incomplete", "cause", say(limit))
	}
	return "locktest: " + unprefixed(say(err))
}

// unprefixed is an error without the names of the lab's packages.
func unprefixed(said string) string {
	return strings.TrimPrefix(strings.TrimPrefix(said, "explore: "), "simulator: ")
}

// stalled returns why code cannot be carried that does not wait as it should; err has the run.
func stalled(err error, e *bubble.StallError) string {
	key := "locktest.stall.waits"
	switch {
	case e.Stuck:
		key = "locktest.stall.stuck"
	case e.State == "":
		key = "locktest.stall.runs"
	}
	return tell(key, "client", nameOf(err, e.Client), "state", e.State, "after", e.After.String())
}

// nameOf is the name of a client that an error is about; the probe's says what it is.
func nameOf(err error, client int) string {
	at := (*runError)(nil)
	if errors.As(err, &at) && at.run.History.Probe == client {
		return tell("locktest.probe", "client", fmt.Sprint("c", client))
	}
	return fmt.Sprint("c", client)
}

// sampled returns what a test says of code that is not deterministic, before what random schedules show of it.
func sampled(err error) string {
	different := (*process.NondeterministicError)(nil)
	errors.As(err, &different)
	why := tell("locktest.sampled.why")
	if aSleep.ReplaceAllString(different.Was, "") == aSleep.ReplaceAllString(different.Is, "") {
		why = tell("locktest.sampled.sleep") + "\n" + why
	}
	return fmt.Sprintf("locktest: %s\n  %s\n%s\n  %s\n%s\n%s",
		tell("locktest.sampled", "client", nameOf(err, different.Client)), different.Was,
		tell("locktest.sampled.then"), different.Is, why, until(err))
}

// aSleep finds how long a thread sleeps in what it does.
var aSleep = regexp.MustCompile(`sleep \S+`)

// tried is what random schedules show of claims.
func (p *plan) tried(claims []claim) (out string) {
	found, n, err := p.sample()
	if err != nil {
		return explain(err)
	}
	var none []verdict.Word
	for _, c := range claims {
		if o := found[c.word]; o != nil {
			out += "\n" + tell("locktest.sample.found", "verdict", string(c.word), "n", fmt.Sprint(n)) + "\n" + show(o)
		} else {
			none = append(none, c.word)
		}
	}
	return out + "\n" + tell("locktest.sample.none", "verdicts", reports.Words(none), "n", fmt.Sprint(n)) + "\n"
}
