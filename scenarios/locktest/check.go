package locktest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"

	"github.com/redis/go-redis/v9/logging"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

var (
	replayFlag  = flag.String("locklab.replay", "", "play this `link` instead of searching")
	drawingFlag = flag.Int("locklab.drawing", 0,
		"draw random numbers as this `execution` of a search did; 0: as chance has it")
)

// go-redis logs what it returns as an error as well, here in each of thousands of executions.
func init() { logging.Disable() }

// Check searches everything that processes which run the code can come to within the bounds. finds names the verdicts
// that come about, each with one fault, or with as many as stand behind an @, and not with fewer: all others must not;
// "HOLDS": none. Without a name the test fails if anything is found, and prints it.
//
//	locktest.Check(t, bounds, lock, "OVERLAP STALE-WRITE LIE@0")
//
// client is called for every attempt of every process, very often, each time in a bubble of testing/synctest: it must
// keep its state in local variables, or in those of its package that it sets before it uses them, make its
// connections itself and close them.
//
// Check is not for parallel tests.
func Check(t *testing.T, b Bounds, client func(*Client), finds ...string) {
	t.Helper()
	if child.IsAgain() {
		answerApart(t, b, client)
		return
	}
	check := countCheck(t)
	p, err := newPlan(t, b, client)
	if err == nil {
		err = p.tryApart(check)
	}
	must(t, err)
	all := ready(p, finds)
	p.apart = apart{check: check, left: *apartFlag}
	if *replayFlag != "" {
		p.replay(*replayFlag)
		return
	}
	found, err := p.find(t.Context())
	if different := (*process.NondeterministicError)(nil); errors.As(err, &different) {
		p.report(&study.Checked{Unknown: tell("locktest.unknown.sampled")})
		t.Fatal(sampled(err) + p.tried(all))
	}
	if err != nil {
		p.report(&study.Checked{Unknown: tell("locktest.unknown.error")})
		t.Fatal(explain(err))
	}
	p.report(found.data)
	t.Log(found.brief())
	p.judge(found, finds, all)
	if !testing.Verbose() && !t.Failed() { // t.Log is silent then
		fmt.Println(language().Each(found.headline))
	}
	if p.run.leaks.N > 0 { // executions that have left goroutines behind: in production they stay as well
		t.Log(tell("locktest.leaks", "n", fmt.Sprint(p.run.leaks.N)))
	}
}

// findings are what a Check has found out.
type findings struct {
	data        *study.Checked
	of          func(verdict.Word) answer
	unanswered  string                   // why the search says nothing; "": it does
	headline    func(lang string) string // what was found, in one line
	certificate func(lang string) string // that, and what it covers and relies on
	assumed     func(lang string) string // in few words
}

// find searches the code, or proves it for any number of clients.
func (p *plan) find(ctx context.Context) (*findings, error) {
	if p.any {
		return p.findForAny(ctx)
	}
	s, err := p.searchAll(ctx)
	found := &findings{
		headline:    func(lang string) string { return headline(p, s, lang) },
		certificate: func(lang string) string { return p.certificate(s, lang) },
		assumed:     func(lang string) string { _, few := p.assumed(s, lang); return few },
	}
	if err == nil && s.Inconclusive() {
		found.unanswered = tell("locktest.judge.unanswered", "faults", strings.Join(s.Untriggered(), ", "))
	}
	if err == nil && *reportFlag != "" {
		found.data, err = p.examine(s)
	}
	found.of = func(word verdict.Word) (a answer) {
		if i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == word }); i >= 0 {
			return answer{witness: &s.Witnesses[i]}
		}
		return answer{open: !s.Complete}
	}
	return found, err
}

// must ends a test with an error about how it was called.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal("locktest: " + say(err))
	}
}

// ready plays one client alone, to see that it enters, and returns the claims.
func ready(p *plan, finds []string) []claim {
	t := p.t
	t.Helper()
	settle(t)
	if most := p.bounds.MaxBytes; most > 0 {
		debug.FreeOSMemory() // what earlier tests have left would be room for this one
		p.study.MaxBytes = explore.Memory() + most
		before := debug.SetMemoryLimit(p.study.MaxBytes)
		t.Cleanup(func() { debug.SetMemoryLimit(before) })
	}
	if err := errors.Join(p.alone(), p.checkLease()); err != nil {
		t.Fatal(explain(err))
	}
	all, err := p.claims(finds)
	must(t, err)
	return all
}

// settle makes t a test in which code can be searched.
func settle(t *testing.T) {
	t.Helper()
	must(t, seedable(t))
	processors := runtime.GOMAXPROCS(1) // the order of goroutines is then nearly always the same
	garbage := debug.SetGCPercent(300)  // much garbage beside little that lives
	t.Cleanup(func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(garbage)
	})
}

// seedable reports whether crypto/rand can be seeded for the test.
func seedable(t *testing.T) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = text.Errorf("locktest.parallel", "cause", r)
		}
	}()
	cryptotest.SetGlobalRandom(t, 0)
	return nil
}

// cutBy returns why a search is not complete; late: Bounds.MaxTime has ended it.
func (p *plan) cutBy(s *search.Search, late bool) i18n.Message {
	switch {
	case late:
		key := "locktest.cut.time"
		if p.Timed && s.Bounds.Attempts > 1 {
			key = "locktest.cut.time.timed"
		}
		return i18n.New(key, "time", p.bounds.MaxTime, "states", s.States)
	case s.OutOfMemory:
		return i18n.New("locktest.cut.memory", "bytes", p.bounds.MaxBytes, "states", s.States)
	case s.Bounds.Timing == search.AnyTiming && p.Dated:
		return i18n.New("locktest.cut.timed", "states", s.States)
	case s.Limit.IsZero():
		return i18n.New("locktest.cut", "states", s.Bounds.MaxStates)
	}
	return s.Limit
}

// replay plays the choices of a link.
func (p *plan) replay(link string) {
	trace, err := simulator.ParseLink(link)
	if err != nil {
		p.t.Fatal("-locklab.replay: " + say(err))
	}
	if trace.Lock != p.entry.ID {
		p.t.Skip(tell("locktest.replay.other", "is", trace.Lock, "want", p.entry.ID))
	}
	o, err := p.play(trace)
	if err != nil {
		p.t.Fatal(tell("locktest.replay.unfit", "cause", explain(err)))
	}
	p.t.Log("\n" + show(o) + tell("locktest.replay.done", "verdicts", words(o)))
}
