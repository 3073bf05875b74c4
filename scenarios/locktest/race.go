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

	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/process"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// Race plays one of the lab's races with the code in place of a lock of the list:
// "gc-pause", or by its number "R18"; locklab list races names them. A race is one
// run: a script of faults and a timetable of clients, each of which calls client until
// it has entered. Its numbers are in parts of the lease that the code asks for, which is
// observed, as is the number of servers.
//
// Holds claims that a verdict does not come about in the race, Breaks that it does, with
// so many faults injected. Without a claim the run is logged, and nothing can fail. A
// race that wants what the code does not show, such as a renewal by hand, does not apply
// to it: then the test is skipped, with the reason, or fails if it claims something.
//
// For client the rules of [Check] hold, and Race is not for parallel tests either.
func Race(t *testing.T, client func(*Client), name string, claims ...[]Claim) {
	t.Helper()
	if isApart() {
		return
	}
	sc, err := scenarios.ByName(name)
	must(t, err)
	all := raceClaims(t, claims)
	r := newRacer(t, Bounds{}, client)
	o, err := r.play(sc)
	if err != nil {
		t.Fatal(explain(err))
	}
	if len(all) == 0 {
		r.log(t, o)
		return
	}
	for _, c := range all {
		t.Run(string(c.word), func(t *testing.T) { r.judge(t, o, c) })
	}
}

// Races plays all races of the lab, as [Race] does, each as a sub-test, and logs the
// table of what the code comes to. Claims can only be Holds, and are about every race.
// Races that do not apply are skipped.
func Races(t *testing.T, client func(*Client), claims ...[]Claim) {
	t.Helper()
	if isApart() {
		return
	}
	all := raceClaims(t, claims)
	for _, c := range all {
		if c.breaks {
			must(t, text.Errorf("locktest.races.breaks", "verdict", c.word))
		}
	}
	r := newRacer(t, Bounds{}, client)
	r.each = true
	table, err := r.playAll()
	if err != nil {
		t.Fatal(explain(err))
	}
	r.plan.report(&study.Checked{Races: runs(table)})
	for _, o := range table {
		t.Run(o.Race.ID, func(t *testing.T) {
			if o.NotApplicable != "" {
				t.Skip(whyNotApplicable(o))
			}
			for _, c := range all {
				if slices.Contains(o.Verdicts, c.word) {
					r.judge(t, o, c)
				}
			}
			if !t.Failed() {
				r.log(t, o)
			}
		})
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
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved,
}

// raceClaims returns claims about a race, and ends a test that makes others.
func raceClaims(t *testing.T, claims [][]Claim) []Claim {
	t.Helper()
	all := slices.Concat(claims...)
	must(t, check(all, raceWords))
	return withOthers(all, raceWords)
}

// A racer plays the races of one test.
type racer struct {
	plan   *plan
	runner race.Runner
	each   bool // every race is a sub-test
}

// newRacer plays the code alone and finds how many servers it asks, what it locks and for
// how long, as far as the bounds do not say so. A lock without a lease is played with the
// races' own numbers.
func newRacer(t *testing.T, known Bounds, client func(*Client)) *racer {
	t.Helper()
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
		if p.env.Load() && p.lease == briefly { // it asks for the lease that Env has
			p.lease = race.Standard().TTL
		}
		p.entry.TTL = cmp.Or(p.lease, race.Standard().TTL)
		p.bounds.TTL, p.Timed = p.entry.TTL, true
		r := &racer{plan: p}
		r.runner.Code = &race.Code{Key: p.bounds.Key, TTL: p.lease, Fences: p.fences, Contents: p.contents, Client: r.client}
		return r
	}
}

// briefly is a lease of which a holder works for two fifths, while it is observed: not
// longer than what the code really asks for.
const briefly = 10 * time.Millisecond

// client is a client of a race: it calls the code until that has entered.
func (r *racer) client(s race.Settings, spec race.ClientSpec) simulator.ClientConfig {
	config := r.plan.run.client(func(c *bubble.Handle) {
		does := section{work: spec.Work, tail: spec.Tail, fails: spec.Fails}
		for !r.plan.run.attempt(&Client{process: c, first: spec.First, section: does, timeout: s.Timeout}) && !spec.Once {
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
	its, err := s.With(trace.Settings)
	if err != nil {
		return nil, err
	}
	s.Epoch = its.Epoch
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

// judge compares a race with a claim.
func (r *racer) judge(t *testing.T, o *race.Outcome, c Claim) {
	t.Helper()
	if complaint := r.complaint(o, c); complaint != "" {
		t.Error(complaint)
	}
}

// complaint returns what is wrong with a claim about a race; "": nothing.
func (r *racer) complaint(o *race.Outcome, c Claim) string {
	faults := simulator.FaultsIn(o.Trace.Choices)
	found, what := slices.Contains(o.Verdicts, c.word), ""
	pairs := []string{"verdict", string(c.word), "race", o.Race.Code + " " + o.Race.ID, "n", fmt.Sprint(faults), "claim", fmt.Sprint(c.par)}
	switch {
	case o.NotApplicable != "":
		return tell("locktest.race.na", append(pairs, "why", whyNotApplicable(o))...)
	case found && !c.breaks:
		what = tell("locktest.race.broken", pairs...)
	case found && c.par != faults:
		what = tell("locktest.race.par", pairs...)
	case found:
		return ""
	case !o.Triggered:
		what = tell("locktest.race.vacuous", pairs...)
	case c.breaks:
		what = tell("locktest.race.holds", pairs...)
	default:
		return ""
	}
	return what + "\n" + r.showRace(o)
}

// log shows a race that nothing is claimed about.
func (r *racer) log(t *testing.T, o *race.Outcome) {
	t.Helper()
	if o.NotApplicable != "" {
		t.Skip(whyNotApplicable(o))
	}
	if testing.Verbose() { // it is not seen otherwise, and it takes as long as the race
		t.Log("\n" + r.showRace(o))
	}
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
	return raceHead(o) + "\n\n" + show(o) + "\n" + again(test, o.Trace)
}

// raceHead names a race and its verdicts.
func raceHead(o *race.Outcome) string {
	head := fmt.Sprintf("%s %s: %s", o.Race.Code, o.Race.ID, language().Each(func(lang string) string { return text.RaceTitle(o.Race.ID, lang) }))
	return head + "\n" + words(o)
}

// words are the verdicts of an outcome in one line.
func words(o *race.Outcome) string { return strings.Trim(fmt.Sprint(o.Verdicts), "[]") }

func whyNotApplicable(o *race.Outcome) string {
	return "N/A: " + language().Each(func(lang string) string { return text.Reason(lang, "na", string(o.NotApplicable)) })
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

var langFlag = flag.String("locklab.lang", "", "the `language` of what tests say: en, zh or both; else LOCKLAB_LANG, else the locale's")

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
