package explore

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// doomed is a simulator of two clients that request a lease of nine seconds at once; one
// of them, if refused, requests it once more afterwards. The probe requests it when they
// are done.
func doomed(t *testing.T, id, budget string) (*simulator.Simulator, Options) {
	t.Helper()
	entry, ok := algorithms.ByName(id)
	if !ok {
		t.Fatalf("there is no lock %s", id)
	}
	allowed, err := faults.Budget(budget).Parse()
	if err != nil {
		t.Fatal(err)
	}
	const ttl = 9 * time.Second
	program := func(waits ...time.Duration) func(*simulator.Client) {
		return func(c *simulator.Client) {
			l := entry.New(lock.Env{Clock: c.Clock(), Tokens: c, TTL: ttl, Nodes: []redis.UniversalClient{c.Redis(1)}})
			for _, wait := range waits {
				if wait > 0 {
					c.Clock().Sleep(wait)
				}
				c.Record(history.Event{Kind: history.Acquire})
				lease, err := l.Acquire(context.Background(), "lock")
				switch {
				case errors.Is(err, lock.ErrNotAcquired):
					c.Record(history.Event{Kind: history.Refuse, Note: ProbeRefused}) // from the probe, which waits long enough
					continue
				case err != nil:
					continue
				}
				c.Record(history.Event{Kind: history.Enter})
				c.Clock().Sleep(4 * time.Second)
				c.Record(history.Event{Kind: history.Leave})
				_ = lease.Release(context.Background())
				return
			}
		}
	}
	setup := simulator.Config{Faults: allowed, Nodes: []simulator.NodeConfig{{}}}
	for _, p := range []func(*simulator.Client){program(0), program(0, 10*time.Second), program(3 * ttl)} {
		setup.Clients = append(setup.Clients, simulator.ClientConfig{Program: p})
	}
	sim, err := simulator.New(setup)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim, Options{Probe: 3, Case: history.History{Lock: id, Clients: 3, Nodes: 1, Key: "lock", TTL: ttl}}
}

// twin computes the share of a prefix as one would by hand: it makes every choice of
// every continuation, one after the other, keeps no results, judges the whole run each
// time, and counts in fractions.
type twin struct {
	t    *testing.T
	sim  *simulator.Simulator
	opt  Options
	harm verdict.Word
	ends int
}

func (tw *twin) share(w simulator.World, events []history.Event) *big.Rat {
	if tw.harmed(events) {
		tw.ends++
		return big.NewRat(1, 1)
	}
	next := tw.next(&w)
	if len(next) == 0 {
		tw.ends++
		return new(big.Rat)
	}
	sum := new(big.Rat)
	for _, c := range next {
		after, more := tw.step(w, c)
		sum.Add(sum, tw.share(after, slices.Concat(events, more)))
	}
	return sum.Quo(sum, big.NewRat(int64(len(next)), 1))
}

func (tw *twin) step(w simulator.World, c simulator.Choice) (simulator.World, []history.Event) {
	events, err := tw.sim.Step(&w, c)
	if err != nil {
		tw.t.Fatal(err)
	}
	return w, slices.Clone(events)
}

// next are the choices that may come next, without faults: the probe begins when all
// others are at their end, and time passes only when nothing else is ready.
func (tw *twin) next(w *simulator.World) (next []simulator.Choice) {
	others, probe := true, tw.sim.Parts().Client(w, tw.opt.Probe)
	for c := 1; c < tw.opt.Probe; c++ {
		part := tw.sim.Parts().Client(w, c)
		others = others && part.Finished()
	}
	if others && probe.Finished() {
		return nil
	}
	ready := false
	for _, c := range tw.sim.Enabled(w, nil) {
		switch {
		case c.Verb >= simulator.FaultVerb, int(c.Client) == tw.opt.Probe && c.Verb == simulator.Start && !others:
		case c.Verb == simulator.Pass && ready:
		default:
			next = append(next, c)
			ready = ready || c.Verb != simulator.Resume
		}
	}
	return next
}

func (tw *twin) harmed(events []history.Event) bool {
	for i := range events {
		if e := &events[i]; tw.harm == verdict.Deadlock && e.Client == tw.opt.Probe && e.Note == ProbeRefused {
			return true
		}
	}
	h := tw.opt.Case
	h.Events, h.Horizon = events, true
	j := verdict.Judge(&h)
	return slices.Contains(j.Verdicts, tw.harm) && (tw.harm.Safety() || tw.harm == verdict.Orphan)
}

// TestDoomTwin: the shares from the graph equal those from trying out every continuation,
// to the last digit of a float, for every step of every counterexample.
func TestDoomTwin(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	ends := 0
	for _, id := range []string{"setnx", "setnx-expire", "getset", "token", "watchdog"} {
		for _, budget := range []string{"crash=1", "pause=1", "pause=1@10s", "restart=1", "lose-reply=1"} {
			if id == "watchdog" && budget == "pause=1" {
				continue // thousands more ways than with a bound, and no others
			}
			sim, opt := doomed(t, id, budget)
			r, err := Exhaust(t.Context(), sim, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Found {
				d, err := DoomOf(t.Context(), sim, opt, f.Choices, f.Verdict)
				if err != nil {
					t.Fatalf("%s, %s, %s: %v", id, budget, f.Verdict, err)
				}
				ends += compareDoom(t, sim, opt, f, d)
			}
		}
	}
	if ends < 10_000 {
		t.Errorf("%d continuations in all: too few to mean anything", ends)
	}
}

func compareDoom(t *testing.T, sim *simulator.Simulator, opt Options, f Witness, d *Doom) int {
	t.Helper()
	tw := &twin{t: t, sim: sim, opt: opt, harm: f.Verdict}
	w, events := sim.NewWorld(), []history.Event(nil)
	one, first := big.NewRat(1, 1), -1
	for n := 0; n <= len(f.Choices); n++ {
		want := tw.share(w, events)
		if float, _ := want.Float64(); math.Abs(d.Shares[n]-float) > 1e-14 {
			t.Errorf("%s, %s after %d of %d choices: share %v, want %v", opt.Case.Lock, f.Verdict, n, len(f.Choices), d.Shares[n], want)
		}
		if (want.Cmp(one) == 0) != (d.Shares[n] == 1) || (want.Sign() == 0) != (d.Shares[n] == 0) {
			t.Errorf("%s, %s after %d choices: %v is not what %v is, certain or out of reach", opt.Case.Lock, f.Verdict, n, d.Shares[n], want)
		}
		if want.Cmp(one) == 0 && first < 0 {
			first = n
		}
		if n < len(f.Choices) {
			var more []history.Event
			w, more = tw.step(w, f.Choices[n])
			events = slices.Concat(events, more)
		}
	}
	if d.NoReturn != first {
		t.Errorf("%s, %s: no return after %d choices, want %d", opt.Case.Lock, f.Verdict, d.NoReturn, first)
	}
	return tw.ends
}

// TestDoomOfCircles: clients end, so their states form no cycles. If states do form
// cycles, the shares are those of a random walk.
func TestDoomOfCircles(t *testing.T) {
	for _, c := range []struct {
		name  string
		arcs  [][]uint32
		share []float64
		sure  []bool
	}{
		{"nothing follows", [][]uint32{{}}, []float64{0}, []bool{false}},
		{"for ever", [][]uint32{{1}, {0}}, []float64{0, 0}, []bool{false, false}},
		{"one way out, and it is the harm", [][]uint32{{0, lost}}, []float64{1}, []bool{true}},
		{"a coin", [][]uint32{{lost, 1}, {}}, []float64{0.5, 0}, []bool{false, false}},
		{"two steps to one state are two", [][]uint32{{1, 1, lost}, {}}, []float64{1. / 3, 0}, []bool{false, false}},
		{"round and out on either side", [][]uint32{{1, 2}, {0, lost}, {}}, []float64{1. / 3, 2. / 3, 0}, []bool{false, false, false}},
		{"into a circle without an end", [][]uint32{{1, lost}, {2}, {1}}, []float64{0.5, 0, 0}, []bool{false, false, false}},
		{"a circle before the harm", [][]uint32{{1, 1, 1}, {0, 2}, {lost}}, []float64{1, 1, 1}, []bool{true, true, true}},
	} {
		g := graph(c.arcs)
		for id, share := range g.shares() {
			if math.Abs(share-c.share[id]) > 1e-14 {
				t.Errorf("%s: share of state %d is %v, want %v", c.name, id, share, c.share[id])
			}
		}
		if sure := g.sure(); !slices.Equal(sure, c.sure) {
			t.Errorf("%s: sure %v, want %v", c.name, sure, c.sure)
		}
	}
}

// TestDoomRefuses: where there is no share, the error says why.
func TestDoomRefuses(t *testing.T) {
	sim, opt := doomed(t, "token", "pause=1")
	r, err := Exhaust(t.Context(), sim, opt)
	if err != nil || len(r.Found) == 0 {
		t.Fatal(r, err)
	}
	choices := r.Found[0].Choices
	if _, err := DoomOf(t.Context(), sim, opt, choices, verdict.Deadlock); !errors.Is(err, ErrNoHarm) {
		t.Errorf("a harm that does not come: %v", err)
	}
	if _, err := DoomOf(t.Context(), sim, opt, choices[:3], ""); !errors.Is(err, ErrNoHarm) {
		t.Errorf("a run without harm: %v", err)
	}
	if d, err := DoomOf(t.Context(), sim, opt, choices, ""); err != nil || d.Harm != r.Found[0].Verdict {
		t.Errorf("the harm at the end of the run: %+v, %v", d, err)
	}
	not := (*simulator.NotEnabledError)(nil)
	if _, err := DoomOf(t.Context(), sim, opt, choices[1:], ""); !errors.As(err, &not) {
		t.Errorf("a run that cannot be: %v", err)
	}
	opt.MaxStates = 10
	large := (*TooLargeError)(nil)
	if _, err := DoomOf(t.Context(), sim, opt, choices, ""); !errors.As(err, &large) || text.SayError("en", large) != "not computed: more than 10 states" {
		t.Errorf("more than may be: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	opt.MaxStates = 0
	if _, err := DoomOf(stopped, sim, opt, choices, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
