package locktest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/child"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/process"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// Race plays one of the lab's races with the code in place of a lock of the list: "gc-pause", or by its number "R18";
// locklab list races names them. A race is one run: a script of faults and a timetable of clients, each calling client
// until it enters. Its numbers are in parts of the lease that the code asks for, observed like the number of servers.
//
// finds names the verdicts that the race comes to, and no other: without it the test fails if there is a failure. A
// race that wants what the code does not show, such as a renewal by hand, does not apply to it: then the test is
// skipped, with the reason, or fails if it says something. For client the rules of [Check] hold.
func Race(t *testing.T, client func(*Client), name string, finds ...string) {
	t.Helper()
	if child.IsAgain() {
		return
	}
	sc, err := scenarios.ByName(name)
	must(t, err)
	r := newRacer(t, Bounds{}, client, finds...)
	o, err := r.play(sc)
	if err != nil {
		t.Fatal(explain(err))
	}
	data := &study.Checked{Races: runs([]*race.Outcome{o})}
	if complaint := r.complaint(o); complaint != "" {
		data.Wrong = []string{headOf(complaint)}
	}
	r.plan.report(data)
	r.judge(t, o)
}

// Races plays all races of the lab, as [Race] does, each as a sub-test, and logs the table of what the code comes to.
// No race may come to other verdicts than finds names. Races that do not apply are skipped.
func Races(t *testing.T, client func(*Client), finds ...string) {
	t.Helper()
	if child.IsAgain() {
		return
	}
	r := newRacer(t, Bounds{}, client, finds...)
	r.each = true
	table, err := r.playAll()
	if err != nil {
		t.Fatal(explain(err))
	}
	r.plan.report(&study.Checked{Races: runs(table)})
	for _, o := range table {
		t.Run(o.Race.ID, func(t *testing.T) { r.judge(t, o) })
	}
	t.Log("\n" + raceTable(table))
}

// playAll plays all races; with -locklab.replay only the one of the link.
func (r *racer) playAll() (table []*race.Outcome, err error) {
	all := scenarios.All()
	if trace, err := simulator.ParseLink(*replayFlag); *replayFlag != "" && err == nil {
		all = lists.Pick(all, func(sc race.Race) bool { return sc.ID == trace.Race })
	}
	for _, sc := range all {
		o, err := r.play(sc)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", sc.Code, sc.ID, err)
		}
		table = append(table, o)
	}
	return table, nil
}

// raceWords are the verdicts that a race can come to.
var raceWords = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel,
	verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved,
}

// A racer plays the races of one test.
type racer struct {
	plan   *plan
	runner race.Runner
	each   bool    // every race is a sub-test
	claims []claim // nil: the test says nothing
}

// newRacer plays the code alone and finds how many servers it asks, what it locks and for how long, as far as the
// bounds do not say so. A lock without a lease is played with the races' own numbers.
func newRacer(t *testing.T, known Bounds, client func(*Client), finds ...string) *racer {
	t.Helper()
	r := &racer{}
	if finds != nil {
		var err error
		r.claims, err = claimed(finds, raceWords)
		must(t, err)
	}
	settle(t)
	servers := max(known.Servers, 1)
	for {
		p, err := newPlan(t, Bounds{Clients: 2, TTL: briefly, Servers: servers, Key: known.Key}, client)
		if err == nil {
			err = p.alone()
		}
		if n := int(p.wanted.Load()); n > servers && n <= simulator.MaxNodes {
			servers = max(n, 3) // two are no quorum of more than one
			continue
		}
		if err != nil {
			t.Fatal(explain(err))
		}
		p.entry.TTL = cmp.Or(p.lease, race.Standard().TTL)
		p.bounds.TTL, p.Timed = p.entry.TTL, true
		r.plan = p
		r.runner.Code = &race.Code{Key: p.bounds.Key, TTL: p.lease, Fences: p.fences, Contents: p.contents,
			Client: r.client}
		return r
	}
}

// briefly is a lease of which a holder works for two fifths, while observed: not longer than the code really asks for.
const briefly = 10 * time.Millisecond

// client is a client of a race: it calls the code until that has entered.
func (r *racer) client(_ race.Settings, spec race.ClientSpec) simulator.ClientConfig {
	config := r.plan.run.client(func(c *bubble.Handle) {
		does := section{work: spec.Work, tail: spec.Tail, fails: spec.Fails}
		for !r.plan.run.attempt(&Client{process: c, first: spec.First, section: does}) && !spec.Once {
			c.AskBetween(process.Op{Kind: process.Sleep, D: spec.Retry})
		}
		c.Record(history.Event{Kind: history.Done})
	})
	config.Branches = nil // a race is one run
	return config
}

// play plays a race, or the link that the test is to play.
func (r *racer) play(sc race.Race) (*race.Outcome, error) {
	s := r.runner.Code.Settings(sc)
	if *replayFlag != "" {
		return r.replay(sc, s)
	}
	o, err := r.runner.Play(r.plan.entry, sc, s)
	for r.plan.run.draws(err) || r.plan.run.drawsMore(err) {
		r.runner = race.Runner{Code: r.runner.Code}
		o, err = r.runner.Play(r.plan.entry, sc, s)
	}
	if different := (*process.NondeterministicError)(nil); errors.As(err, &different) {
		r.plan.run.once, r.runner = true, race.Runner{Code: r.runner.Code} // one run of several
		return r.runner.Play(r.plan.entry, sc, s)
	}
	return o, err
}

// replay plays the choices of -locklab.replay if they are of this race.
func (r *racer) replay(sc race.Race, s race.Settings) (*race.Outcome, error) {
	trace, err := simulator.ParseLink(*replayFlag)
	if err != nil {
		return nil, err
	}
	if trace.Race != sc.ID {
		return nil, text.Errorf("locktest.replay.race", "is", trace.Race, "want", sc.ID)
	}
	if s, err = s.With(trace.Settings); err != nil {
		return nil, err
	}
	p, err := sc.Prepare(r.plan.entry, s, r.runner.Code)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	run, err := schedule.Replay(p.Simulator, trace.Choices)
	if err != nil {
		return nil, err
	}
	return p.Outcome(run, s), nil
}

// judge compares a race with what the test says of it.
func (r *racer) judge(t *testing.T, o *race.Outcome) {
	t.Helper()
	switch complaint := r.complaint(o); {
	case complaint != "":
		t.Error(complaint)
	case o.NotApplicable != "":
		t.Skip(whyNotApplicable(o))
	case testing.Verbose(): // it is not seen otherwise, and it takes as long as the race
		t.Log("\n" + r.showRace(o))
	}
}

// complaint returns what is wrong with what the test says of a race; "": nothing.
func (r *racer) complaint(o *race.Outcome) string {
	differs := func(c claim) bool {
		found := slices.Contains(o.Verdicts, c.word)
		return found && c.par == never || !found && c.par != never && !r.each
	}
	pairs := []string{"race", o.Race.Code + " " + o.Race.ID, "verdicts", words(o)}
	switch {
	case r.claims == nil && !r.each && verdict.Fails(o.Verdicts):
		return tell("locktest.race.unclaimed", pairs...) + "\n" + r.showRace(o)
	case r.claims == nil, r.each && o.NotApplicable != "":
		return ""
	case o.NotApplicable != "":
		return tell("locktest.race.na", append(pairs, "why", whyNotApplicable(o))...)
	case !r.each && slices.Contains(o.Verdicts, verdict.Vacuous):
		return tell("locktest.race.vacuous", pairs...) + "\n" + r.showRace(o)
	case slices.ContainsFunc(r.claims, differs):
		return tell("locktest.race.differs", pairs...) + "\n" + r.showRace(o)
	}
	return ""
}

// showRace is a race as text: what it is, its run and verdicts, and how to play it again.
// It plays it once more, to note the lines of the code.
func (r *racer) showRace(o *race.Outcome) string {
	r.plan.run.watch = true
	if again, err := r.play(o.Race); err == nil && slices.Equal(again.Trace.Choices, o.Trace.Choices) {
		o = again
	}
	r.plan.run.watch = false
	test := r.plan.t.Name()
	if r.each {
		test += "/" + o.Race.ID
	}
	title := language().Each(func(lang string) string { return text.RaceTitle(o.Race.ID, lang) })
	head := fmt.Sprintf("%s %s: %s\n%s\n\n", o.Race.Code, o.Race.ID, title, words(o))
	return head + show(o) + "\n" + again(test, o.Trace, r.plan.Drawing)
}

// words are the verdicts of an outcome in one line.
func words(o *race.Outcome) string { return reports.Words(o.Verdicts) }

func whyNotApplicable(o *race.Outcome) string {
	reason := func(lang string) string { return text.Reason(lang, "na", string(o.NotApplicable)) }
	return "N/A: " + language().Each(reason)
}

// raceTable is a line for each race.
func raceTable(all []*race.Outcome) string {
	var b strings.Builder
	for _, o := range all {
		result := words(o)
		if o.NotApplicable != "" {
			result = whyNotApplicable(o)
		}
		fmt.Fprintf(&b, "%-4s %-20s %s\n", o.Race.Code, o.Race.ID, result)
	}
	return b.String()
}

var langFlag = flag.String("locklab.lang", "",
	"the `language` of what tests say: en, zh or both; else LOCKLAB_LANG, else the locale's")

// language returns the printer of the reader's language.
func language() *text.Printer {
	return &text.Printer{Lang: cmp.Or(*langFlag, os.Getenv("LOCKLAB_LANG"), text.OfLocale(os.Getenv)), Width: width}
}

// width is how wide a test prints, in cells.
const width = 120

// tell returns a text of the catalogues in the reader's language.
func tell(key string, pairs ...string) string { return language().Say(key, pairs...) }

// say is an error in the reader's language.
func say(err error) string { return language().Error(err) }
