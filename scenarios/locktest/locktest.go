package locktest

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/database"
	"locklab/simulator/explore"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// Bounds say what is searched.
type Bounds struct {
	Clients  int    // processes that run the code, 1 to 6, or Any
	Attempts int    // how often each runs it, 1 to 9; 0: 2; with Any 1
	Budget   string // faults that may happen, as in "crash=1,pause=1"; "": none; with Any also "crash=any"
	Servers  int    // Redis servers: 1, or 3 to 7; 0: 1
	// Database is the server of code on database/sql, with the tables that there are when it begins; nil: a Redis or a ZooKeeper. See the package.
	Database *database.Contents
	TTL      time.Duration // the lease that the code asks for, a multiple of 10ms
	// Key is the key that the code locks: its value is the holder for the judges.
	// "": the only key that the code writes.
	Key string
	// AnyTiming has Check search every timing, as locklab explore --timing any does: clients come
	// and work when they like, messages and timers take up to a twelfth of TTL (messages of
	// several servers none), pauses strike before a request is sent as well. false: lockstep, one
	// schedule, in which only the order and the moments of faults are free, and every timing beside
	// it, as far as Beside goes: the first line of the certificate names both if that was all. Code that looks at its
	// clock takes many states at any timing, and has none beside lockstep: give it one attempt.
	AnyTiming bool
	Fenced    bool // the resource refuses fencing tokens below the highest it has seen
	// Slow has Check look for SLOW: an attempt that lasts longer from the call of the code to Client.Critical, or to its return without that;
	// pauses of its process do not count. Noisy has it look for NOISY: a client that sends more requests to servers within one
	// second while it waits. Noisy is for lockstep; neither is for Any. 0: it looks for neither.
	Slow      time.Duration
	Noisy     int
	MaxStates int // ends a search; 0: 5 million
	Beside    int // ends the search at any timing beside one in lockstep, in states; 0: 250,000; below 0: there is none
	// MaxTime ends a search for which processors have worked so long, which then proves nothing; 0: as -locklab.time says, a minute; below 0: it
	// has no end. With Clients: Any it plays no part.
	MaxTime time.Duration
	// MaxBytes ends a search before the program of the test uses so much more memory than before; 0: 1 GB (1 << 30), below 0: any amount.
	MaxBytes  int64
	Schedules int // how many Sample plays; 0: 1000
}

func (b Bounds) filled() Bounds {
	b.Attempts = cmp.Or(b.Attempts, 2)
	b.Servers = cmp.Or(b.Servers, 1)
	b.MaxStates = cmp.Or(b.MaxStates, 5_000_000)
	b.Beside = cmp.Or(b.Beside, 250_000)
	b.MaxTime, b.MaxBytes = cmp.Or(b.MaxTime, *timeFlag), cmp.Or(b.MaxBytes, 1<<30)
	b.Schedules = cmp.Or(b.Schedules, 1000)
	return b
}

// Any in place of a number of Bounds.Clients has Check prove the code for any number of processes, as locklab prove does a lock
// of the lab.
const Any = math.MinInt32

// A Claim is what a test says of its lock.
type Claim struct {
	word   verdict.Word
	breaks bool
	par    int
	causes []cause
	others bool // of all verdicts without a claim: they do not come about
}

// Claims are those of Breaks, of which By says more.
type Claims []Claim

// cause is a fault on the way to a verdict, and its victim: one of these; none: whoever it is.
type cause struct {
	fault   string
	victims []Victim
}

// A Victim is where a process was in its use of the lock when a fault struck it.
type Victim = explore.Victim

// The victims of By.
const (
	Waiter = explore.Waiter // it had asked for the lock and had no answer
	Holder = explore.Holder // it was in Client.Critical, or gave the lock back
)

// Holds claims that none of the verdicts comes about, whatever happens within the
// bounds.
func Holds(words ...string) []Claim {
	var claims []Claim
	for _, w := range words {
		claims = append(claims, Claim{word: verdict.Word(w)})
	}
	return claims
}

// Breaks claims that the verdict comes about with so many faults, and not with fewer.
func Breaks(word string, par int) Claims {
	return Claims{{word: verdict.Word(word), breaks: true, par: par}}
}

// By claims besides that it can come about so by this fault of the budget, which strikes one of these victims; none: whoever
// it strikes. Each call of By is about another one of the faults. It takes a search of its own.
//
//	locktest.Breaks("OVERLAP", 1).By("expire-session", locktest.Waiter)
func (c Claims) By(fault string, victims ...Victim) Claims {
	c = slices.Clone(c)
	for i := range c {
		c[i].causes = append(slices.Clone(c[i].causes), cause{fault, victims})
	}
	return c
}

// Finds claims that these verdicts come about, each with one fault, or with as many as stand behind an @, and not with fewer; and that
// no other does.
//
//	locktest.Finds("OVERLAP STALE-WRITE LIE@0")
func Finds(verdicts string) []Claim {
	claims := []Claim{{others: true}}
	for _, v := range strings.Fields(verdicts) {
		word, number, counted := strings.Cut(v, "@")
		par, err := strconv.Atoi(number)
		switch {
		case !counted:
			par = 1
		case err != nil:
			word = v // which is refused
		}
		claims = append(claims, Breaks(word, par)...)
	}
	return claims
}

var (
	replayFlag = flag.String("locklab.replay", "", "play this `link` instead of searching")
	keepFlag   = flag.Bool("locklab.keep", false, "keep the witnesses of failed tests in testdata/locklab; they are played first from then on")
)

// Check searches everything that processes which run the code can come to within the
// bounds, and compares with the claims. Without a claim the lock must hold against all
// verdicts of a search.
//
// client is called for every attempt of every process, very often, each time in a bubble
// of testing/synctest: it must keep its state in local variables, or in those of its package that it sets before it uses them, make its
// connections itself and close them.
//
// Check is not for parallel tests.
func Check(t *testing.T, b Bounds, client func(*Client), claims ...[]Claim) {
	t.Helper()
	if isApart() {
		answerApart(t, b, client)
		return
	}
	check := countCheck(t)
	skipOthers(t)
	turns, err := tryApart(t, check, client)
	if err != nil {
		t.Fatal("locktest: " + say(err))
	}
	p, err := newPlan(t, b, client)
	if err != nil {
		t.Fatal("locktest: " + say(err))
	}
	p.turn = turns
	all := ready(p, claims)
	p.apart = apart{check: check, left: *apartFlag}
	if *replayFlag != "" {
		p.replay(*replayFlag)
		return
	}
	if p.playKept(all) && *reportFlag == "" {
		return
	}
	if p.any != nil {
		p.any.check(all)
		return
	}
	began, before := time.Now(), bubble.Worked()
	s, err := p.search(t.Context())
	if err == nil {
		err = searchBeside(t.Context(), p, s, before)
	}
	if err == nil && *reportFlag != "" {
		var found *study.Checked
		if found, err = p.examine(s, time.Since(began)); err == nil {
			p.report(found)
		}
	}
	if different := (*process.NondeterministicError)(nil); errors.As(err, &different) {
		p.unknown("locktest.unknown.sampled")
		t.Errorf("%s", p.sampled(err, all))
		return
	}
	if err != nil {
		p.unknown("locktest.unknown.error")
		t.Fatal(explain(err))
	}
	for _, c := range all {
		t.Run(string(c.word), func(t *testing.T) { p.judge(t, s, c) })
	}
	t.Log(brief(func(lang string) string { return p.certificate(s, lang) }))
	p.reportLeaks()
}

// prepare makes the plan of a test, and readies it.
func prepare(t *testing.T, b Bounds, client func(*Client), claims [][]Claim) (*plan, []Claim) {
	t.Helper()
	p, err := newPlan(t, b, client)
	if err != nil {
		t.Fatal("locktest: " + say(err))
	}
	return p, ready(p, claims)
}

// ready plays one client alone, to see that it enters, and returns the claims.
func ready(p *plan, claims [][]Claim) []Claim {
	t := p.t
	t.Helper()
	all := slices.Concat(claims...)
	if err := cmp.Or(checkBounded(all, p), checkClaims(all, claimable(p)), checkCauses(all, p)); err != nil {
		t.Fatal("locktest: " + say(err))
	}
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
	if i := slices.IndexFunc(all, func(c Claim) bool { return c.word == verdict.Lie }); i >= 0 && !p.says.Load() {
		t.Fatal("locktest: " + tell("locktest.claim.silent"))
	}
	if all == nil {
		all = []Claim{{others: true}}
	}
	return withOthers(all, slices.DeleteFunc(slices.Clone(claimable(p)), func(w verdict.Word) bool { return w == verdict.Lie && !p.says.Load() }))
}

// withOthers returns claims, with one about each of words that has none if the others are claimed not to come about.
func withOthers(claims []Claim, words []verdict.Word) []Claim {
	all := slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.others })
	if len(all) == len(claims) {
		return claims
	}
	for _, w := range words {
		if !slices.ContainsFunc(all, func(c Claim) bool { return c.word == w }) {
			all = append(all, Claim{word: w})
		}
	}
	return all
}

// settle makes t a test in which code can be searched.
func settle(t *testing.T) {
	t.Helper()
	skipOthers(t)
	if err := seedable(t); err != nil {
		t.Fatal("locktest: " + say(err))
	}
	processors := runtime.GOMAXPROCS(1) // the order of goroutines is then nearly always the same
	garbage := debug.SetGCPercent(300)  // much garbage beside little that lives
	t.Cleanup(func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(garbage)
	})
}

// shardVariable names a share of the tests, such as 3/16.
const shardVariable = "LOCKLAB_SHARD"

// skipOthers skips a test that is not of the share.
func skipOthers(t *testing.T) {
	t.Helper()
	value := os.Getenv(shardVariable)
	if value == "" {
		return
	}
	part, err := share.ParsePart(value)
	if err != nil {
		t.Fatalf("locktest: %s: %s", shardVariable, text.SayError("en", err))
	}
	if !part.Has(t.Name()) {
		t.Skipf("not of share %s (%s)", part, shardVariable)
	}
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

// checkClaims returns what is wrong with claims, each about one of words.
func checkClaims(claims []Claim, words []verdict.Word) error {
	for i, c := range claims {
		if !c.others && !slices.Contains(words, c.word) {
			var all []string
			for _, w := range words {
				all = append(all, string(w))
			}
			return text.Errorf("locktest.claim.word", "verdict", fmt.Sprintf("%q", c.word), "verdicts", strings.Join(all, ", "))
		}
		if c.breaks && c.par < 0 {
			return text.Errorf("locktest.claim.par", "verdict", c.word, "par", c.par)
		}
		for _, d := range claims[:i] {
			if d.word == c.word {
				return text.Errorf("locktest.claim.twice", "verdict", c.word)
			}
		}
	}
	return nil
}

// checkBounded returns an error if a claim is about a verdict that is looked for only within a bound, which p does not have.
func checkBounded(claims []Claim, p *plan) error {
	for _, c := range claims {
		if p.any == nil && (c.word == verdict.Slow && p.bounds.Slow == 0 || c.word == verdict.Noisy && p.bounds.Noisy == 0) {
			return text.Errorf("locktest.claim.bound", "verdict", c.word)
		}
	}
	return nil
}

// judge compares a search with one claim.
func (p *plan) judge(t *testing.T, s *search.Search, c Claim) {
	i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == c.word })
	switch {
	case i < 0 && !s.Complete:
		t.Error(tell("locktest.judge.cut", "verdict", string(c.word), "limit", p.cutBy(s))) // the certificate stands below
	case i < 0 && c.breaks:
		t.Error(tell("locktest.judge.holds", "verdict", string(c.word), "par", fmt.Sprint(c.par)))
	case i < 0:
	case !c.breaks:
		t.Error(p.broken(s.Witnesses[i], tell("locktest.judge.breaks")))
		keep(t, p.t.Name(), s.Witnesses[i])
	case s.Witnesses[i].Par != c.par:
		t.Error(p.broken(s.Witnesses[i], tell("locktest.judge.par", "claim", fmt.Sprint(c.par), "verdict", string(c.word), "par", fmt.Sprint(s.Witnesses[i].Par))))
		keep(t, p.t.Name(), s.Witnesses[i])
	case c.causes != nil:
		if why := contradictedByCauses(t.Context(), p, s.FoundBy(s.Witnesses[i]), c); why != "" {
			t.Error(p.broken(s.Witnesses[i], why))
		}
	}
}

// cutBy returns why a search is not complete.
func (p *plan) cutBy(s *search.Search) string {
	switch {
	case p.late:
		return tell("locktest.cut.time", "time", p.bounds.MaxTime.String(), "states", fmt.Sprint(s.States))
	case s.OutOfMemory:
		return tell("locktest.cut.memory", "bytes", fmt.Sprint(p.bounds.MaxBytes), "states", fmt.Sprint(s.States))
	case s.Bounds.Timing == search.AnyTiming && p.dated:
		return tell("locktest.cut.timed", "states", fmt.Sprint(s.States))
	case s.Limit.IsZero():
		return tell("locktest.cut", "states", fmt.Sprint(s.Bounds.MaxStates))
	}
	return language().Message(s.Limit)
}

// reportLeaks logs the number of executions that have left goroutines behind: in production they stay as well.
func (p *plan) reportLeaks() {
	if p.leaks.N > 0 {
		p.t.Log(tell("locktest.leaks", "n", fmt.Sprint(p.leaks.N)))
	}
}

// replay plays the choices of a link.
func (p *plan) replay(link string) {
	trace, err := simulator.ParseLink(link)
	if err != nil {
		p.t.Fatal("-locklab.replay: " + say(err))
	}
	if trace.Lock != p.entry.ID || !p.isOwn(trace) {
		p.t.Skip(tell("locktest.replay.other", "is", trace.Lock, "bounds", trace.Settings, "want", p.entry.ID, "own", p.study.String()))
	}
	o, err := p.play(trace)
	if err != nil {
		p.t.Fatal(tell("locktest.replay.unfit", "cause", explain(err)))
	}
	p.t.Log("\n" + show(o))
}
