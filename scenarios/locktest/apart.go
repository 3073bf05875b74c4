package locktest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/child"
	"locklab/simulator/process"
)

// In a search all processes are goroutines of one process of the operating system: they share the variables of
// packages, the process id and the start, and the first of them to run has run long ago. So histories of the code,
// 200 at most, are repeated after the search, each by an operating-system process of its own: the program of the
// test, run again for the one Check. Code that does something else there is not proved.

// apartFlag bounds the histories of a Check that are repeated so; of more, as many are drawn.
var apartFlag = flag.Int("locklab.apart", 200,
	"after a search, execute so many of its histories again, also in processes")

// apartLimit is the processor time that such a process may take.
const apartLimit = time.Minute

// A pastLife is a history that a process repeats, and what the code did in it.
type pastLife struct {
	Test    string // the Check: its test, and which of that it is, from 0
	Check   int
	Known   known // of the code when the search ended
	Process uint64
	Client  int
	Bounds  string
	History *simulator.WrittenHistory // nil: one client alone
	Does    []string                  // at each observation
}

// A sequel is what the code did in a process of its own.
type sequel struct {
	Was, Is string   // where it did something else; Was: as this process found
	At      int      // after which of its observations, from 0
	Problem string   // why it could not go on
	Sockets bool     // it has opened a connection that is none of Client.Dial
	Drew    []string // the values that it has named: see bubble.Drawn
}

// An apartError is code that does something else in a process of its own.
type apartError struct{ sequel }

func (e *apartError) Error() string {
	switch {
	case e.Sockets:
		return tell("locktest.apart.sockets")
	case e.Problem != "":
		return tell("locktest.apart.problem", "cause", e.Problem)
	}
	return tell("locktest.apart.differs") + "\n  " + e.Was + "\n" +
		tell("locktest.apart.differs.then") + "\n  " + e.Is + "\n" + tell("locktest.apart.differs.why")
}

// checks counts the calls of Check: an *atomic.Int32 by the name of a test.
var checks sync.Map

// countCheck returns which Check of its test this one is, from 0.
func countCheck(t *testing.T) int {
	n, known := checks.LoadOrStore(t.Name(), new(atomic.Int32))
	if !known {
		t.Cleanup(func() { checks.Delete(t.Name()) })
	}
	return int(n.(*atomic.Int32).Add(1)) - 1
}

// An apart is the histories of a plan that are repeated by processes of their own.
type apart struct {
	check int    // which of its test
	left  int    // histories that may be repeated still
	known int    // histories
	again int    // of these: executed again here
	times int    // so often, at the last: at each hour of a day, and many times where they are few, for rare chance
	done  int    // repeated by a process of its own
	why   string // they could not be repeated; "": they could
}

// A life is a history of a client, which is executed again.
type life struct {
	p      *plan
	client int
	of     *process.Process
	at     uint32
}

// repeatHistories executes histories that a search has found again, all or some that are drawn: several times here,
// and once each in a process of its own.
func repeatHistories(p *plan, bounds search.Bounds, sim *simulator.Simulator) error {
	var lives []life
	for c := 1; c <= len(sim.Config().Clients); c++ {
		p.orders += process.Tried(sim.Process(c))
		for _, at := range process.Longest(sim.Process(c)) {
			lives = append(lives, life{p, c, sim.Process(c), at})
		}
	}
	all := len(lives)
	if p.apart.known += all; p.apart.left <= 0 {
		return nil
	}
	rand.New(rand.NewPCG(1, 0)).Shuffle(all, func(i, j int) { lives[i], lives[j] = lives[j], lives[i] })
	lives = lives[:min(all, p.apart.left)]
	p.apart.times = min(max(32, 12_000/max(len(lives), 1)), 1000)
	for _, l := range lives {
		if err := l.here(); err != nil {
			return err
		}
	}
	p.apart.left -= len(lives)
	p.apart.again += len(lives)
	past := make([]*pastLife, len(lives))
	for i, l := range lives {
		past[i] = l.past(bounds, sim)
		past[i].Process = uint64(i + 1)
	}
	found, err := repeatAll(p.t.Context(), past)
	drawn := drawnTwice(found)
	differs := slices.IndexFunc(found, func(s sequel) bool { return s.Sockets || s.Problem != "" || s.Is != "" })
	switch {
	case p.t.Context().Err() != nil:
		return err
	case differs >= 0: // whether or not others could be repeated
		return lives[differs].chanceOr(found[differs])
	case drawn != "":
		return text.Errorf("locktest.apart.drawn", "value", fmt.Sprintf("%q", drawn))
	case err != nil:
		p.apart.why = say(err)
		return nil
	}
	p.apart.done += len(lives)
	return nil
}

// here executes the history at each hour of a day. Code that does something else there each time, and the same as
// before at the date of before, needs the time. One that does so by chance draws as in the execution that has shown
// it, or in the one that this was compared with.
func (l *life) here() (err error) {
	run := l.p.run
	defer func() { run.date = 0 }()
	for n := 0; n < l.p.apart.times && err == nil; n++ {
		run.dates++
		run.date = run.dates
		err = process.Again(l.of, l.at)
	}
	last, always := run.random.last, err != nil && !l.p.Timed
	for n := 0; n < 10 && always; n++ {
		always = process.Again(l.of, l.at) != nil
	}
	switch {
	case always:
		run.date = 0
		err = cmp.Or(process.ByChance(l.of, l.at), error(&bubble.NeedsTimeError{Client: l.client}))
	case err != nil && l.p.Drawing == 0:
		if l.p.Drawing = last; process.Again(l.of, l.at) == nil {
			last--
		}
		l.p.Drawing, run.random.last = 0, last
	}
	return err
}

// past is the history as another process can repeat it.
func (l *life) past(bounds search.Bounds, sim *simulator.Simulator) *pastLife {
	texts := sim.Writing(l.client)
	history := texts.History(l.at)
	past := &pastLife{
		Test: l.p.t.Name(), Check: l.p.apart.check, Known: *l.p.known,
		Client: l.client, Bounds: bounds.String(), History: &history,
	}
	_, way := process.History(l.of, l.at)
	for _, at := range way[1:] {
		state, did := texts.Does(at)
		past.Does = append(past.Does, state+did)
	}
	return past
}

// chanceOr is the error that the history goes on by chance, if so; else that it went on otherwise in another process.
func (l *life) chanceOr(other sequel) error {
	if _, way := process.History(l.of, l.at); other.Is != "" && other.At < len(way)-1 {
		at := way[other.At+1]
		other.Was = cmp.Or(other.Was, l.of.Describe(l.of.At(at)))
		if err := process.ByBranch(l.of, at, other.Is); err != nil {
			return err
		}
	}
	return cmp.Or(process.ByChance(l.of, l.at), error(&apartError{other}))
}

// repeatAll has each history repeated by a process of its own. The error says why not all were.
func repeatAll(ctx context.Context, past []*pastLife) (found []sequel, err error) {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(runtime.NumCPU())
	found = make([]sequel, len(past))
	for i, one := range past {
		all.Go(func() (err error) {
			found[i], _, err = one.repeat(ctx)
			return err
		})
	}
	return found, all.Wait()
}

// drawnTwice returns a value that two processes have drawn: so it is not drawn by chance, as one that counts in a
// variable of its package; "": there is none.
func drawnTwice(all []sequel) string {
	by := map[string]bool{}
	for _, s := range all {
		for _, value := range s.Drew {
			if by[value] {
				return value
			}
			by[value] = true
		}
	}
	return ""
}

// repeat has another process repeat a history, and returns what that printed. The error says why there is no sequel.
func (past *pastLife) repeat(ctx context.Context) (s sequel, printed string, err error) {
	printed, err = child.Again(ctx, study.Pattern(past.Test), past, &s, apartLimit)
	switch {
	case err == child.ErrSlow:
		s, err = sequel{Problem: say(text.Errorf("locktest.apart.slow", "after", apartLimit))}, nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		lines := strings.Split(strings.TrimSpace(printed), "\n")
		err = text.Errorf("locktest.apart.silent", "cause", err.Error(), "said", lines[len(lines)-1])
	}
	return s, printed, err
}

// answerApart repeats the history for which this process was started, if it is one of this Check.
func answerApart(t *testing.T, b Bounds, client func(*Client)) {
	t.Helper()
	past := pastLife{}
	must(t, child.Asked(&past))
	if t.Name() != past.Test || countCheck(t) != past.Check {
		return
	}
	var s sequel
	different := (*process.NondeterministicError)(nil)
	switch err := past.live(t, b, client, &s); {
	case errors.As(err, &different):
		s.Was, s.Is = different.Was, different.Is
	case err != nil:
		s.Problem = reason(err)
	}
	must(t, child.Answer(s))
	t.SkipNow()
}

// outside stands in the fatal error of the runtime when an execution uses a channel or timer that another has made.
const outside = "from outside bubble"

// tryApart runs one client alone in a process of its own, which ends if the code keeps in a variable of its package
// what one execution has made, and another one uses that. Executions then take turns, if it does not end so. The
// error names the line of code that uses such a thing even so, or says that it looks up a host.
func (p *plan) tryApart(check int) (err error) {
	if *apartFlag <= 0 {
		return nil
	}
	for _, p.Turns = range []bool{false, true} {
		past := &pastLife{Test: p.t.Name(), Check: check, Known: *p.known}
		_, printed, failed := past.repeat(p.t.Context())
		at := strings.Index(printed, outside)
		if failed == nil || at < 0 {
			return nil
		}
		stack := strings.SplitN(printed[at:], "\n\n", 3) // package net shares what it looks up a host with
		if len(stack) > 1 && strings.Contains(stack[1], "\nnet.(*Resolver).") {
			return text.Errorf("locktest.lookup")
		}
		err = text.Errorf("locktest.outside", "line", lineIn(printed[at:], p.run.folder))
	}
	return err
}

// lineIn returns the first line of a file in a folder that a stack names.
func lineIn(stack, folder string) string {
	for line := range strings.Lines(stack) {
		at, _, _ := strings.Cut(strings.TrimSpace(line), " +0x")
		if file, _, ok := strings.Cut(at, ".go:"); ok && filepath.Dir(file) == folder {
			return filepath.Base(at)
		}
	}
	return "?"
}

// live repeats the history on the code, or plays one client alone.
func (past *pastLife) live(t *testing.T, b Bounds, client func(*Client), s *sequel) error {
	before := sockets()
	p, err := newPlan(t, b, client)
	if err != nil {
		return err
	}
	settle(t)
	p.Turns = past.Known.Turns
	if past.History == nil {
		return p.alone()
	}
	drawn := p.Drawn
	*p.known, p.run.random.process = past.Known, past.Process
	p.Drawn = drawn
	p.Drawn.Add(past.Known.Drawn)
	if p.Ensemble {
		if err := p.onZooKeeper(); err != nil {
			return err
		}
	}
	bounds, err := search.ParseBounds(past.Bounds)
	if err != nil {
		return err
	}
	return p.simulate(bounds, false, func(again *simulation) error {
		defer func() { s.Drew = p.Drawn.Values() }()
		i, code, texts := 0, again.Simulator.Process(past.Client), again.Simulator.Writing(past.Client)
		_, err = texts.Replay(past.History, func(at uint32) bool {
			state, did := texts.Does(at)
			if i >= len(past.Does) || state+did != past.Does[i] {
				s.Is, s.At = code.Describe(code.At(at)), min(i, len(past.Does)-1)
				return false
			}
			s.Sockets = s.Sockets || sockets() > before
			i++
			return true
		})
		return err
	})
}

// sockets returns the number of sockets that this process has, where the system says so.
func sockets() (n int) {
	files, _ := filepath.Glob("/proc/self/fd/*")
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// said returns what the certificate says of the histories that were repeated.
func (a *apart) said(lang string) string {
	switch {
	case a.why != "":
		return text.Say(lang, "locktest.apart.shared", "why", a.why)
	case a.done == 0:
		return text.Say(lang, "locktest.apart.none")
	}
	return text.Say(lang, "locktest.apart.done", "n", fmt.Sprint(a.done), "all", fmt.Sprint(a.known))
}
