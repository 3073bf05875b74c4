package explore

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// doomed is a simulator of two clients that ask for a lock, and once more if they are refused.
func doomed(t *testing.T, id string, budget faults.Budget) (*simulator.Simulator, Options) {
	t.Helper()
	m := effectsOf(t, id, budget, Limits{})
	m.Retries = []time.Duration{10 * time.Second}
	sim, err := m.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim, m.Options()
}

// twin computes the share of a position as one would by hand: it makes every choice of every continuation by the rules
// of the plain search, one after the other, and counts in fractions.
type twin struct {
	t      *testing.T
	rules  *Rules
	harm   verdict.Word
	shares map[Position]*big.Rat
}

func (tw *twin) share(p Position) *big.Rat {
	if known := tw.shares[p]; known != nil {
		return known
	}
	sum, n := new(big.Rat), int64(0)
	for _, c := range tw.rules.Allowed(&p) {
		if c.Verb >= simulator.FaultVerb {
			continue
		}
		n++
		if after, harmed := tw.step(p, c); harmed {
			sum.Add(sum, big.NewRat(1, 1))
		} else {
			sum.Add(sum, tw.share(after))
		}
	}
	if n > 0 {
		sum.Quo(sum, big.NewRat(n, 1))
	}
	tw.shares[p] = sum
	return sum
}

func (tw *twin) step(p Position, c simulator.Choice) (after Position, harmed bool) {
	_, words, err := tw.rules.Step(&p, c)
	if err != nil {
		tw.t.Fatal(err)
	}
	return p, slices.Contains(words, tw.harm)
}

// TestDoomTwin: the shares from the graph equal those from trying out every continuation,
// to the last digit of a float, for every step of every counterexample.
func TestDoomTwin(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	positions := 0
	for _, id := range []string{"setnx", "setnx-expire", "getset", "token", "watchdog"} {
		for _, budget := range []faults.Budget{"crash=1", "pause=1", "pause=1@10s", "restart=1", "lose-reply=1"} {
			if id == "watchdog" && budget == "pause=1" {
				continue // thousands more ways than with a bound, and no others
			}
			sim, opt := doomed(t, id, budget)
			r, err := Exhaust(t.Context(), sim, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Found {
				positions += compareDoom(t, sim, opt, f)
			}
		}
	}
	if t.Logf("%d positions", positions); positions < 10_000 {
		t.Errorf("%d positions in all: too few to mean anything", positions)
	}
}

// compareDoom compares the shares of a counterexample with its twin's, and returns the number of positions.
func compareDoom(t *testing.T, sim *simulator.Simulator, opt Options, f Witness) int {
	t.Helper()
	d, err := DoomOf(t.Context(), sim, opt, f.Choices, f.Verdict)
	if err != nil {
		t.Fatalf("%s, %s: %v", opt.Case.Lock, f.Verdict, err)
	}
	tw := &twin{t: t, rules: NewRules(sim, &opt), harm: f.Verdict, shares: map[Position]*big.Rat{}}
	p, one, first := tw.rules.Start(), big.NewRat(1, 1), -1
	for n, harmed := 0, false; n < len(d.Shares); n++ {
		want := one
		if !harmed {
			want = tw.share(p)
		}
		if float, _ := want.Float64(); math.Abs(d.Shares[n]-float) > 1e-14 {
			t.Errorf("%s, %s after %d choices: share %v, want %v", opt.Case.Lock, f.Verdict, n, d.Shares[n], want)
		}
		if (want.Cmp(one) == 0) != (d.Shares[n] == 1) || (want.Sign() == 0) != (d.Shares[n] == 0) {
			t.Errorf("%s, %s after %d choices: %v is not what %v is, certain or out of reach",
				opt.Case.Lock, f.Verdict, n, d.Shares[n], want)
		}
		if want.Cmp(one) == 0 && first < 0 {
			first = n
		}
		if n < len(f.Choices) && !harmed {
			p, harmed = tw.step(p, f.Choices[n])
		}
	}
	if d.NoReturn != first || len(d.Shares) != len(f.Choices)+1 {
		t.Errorf("%s, %s: no return after %d choices, want %d", opt.Case.Lock, f.Verdict, d.NoReturn, first)
	}
	return len(tw.shares)
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
		{"round and out on either side", [][]uint32{{1, 2}, {0, lost}, {}}, []float64{1. / 3, 2. / 3, 0},
			[]bool{false, false, false}},
		{"into a circle without an end", [][]uint32{{1, lost}, {2}, {1}}, []float64{0.5, 0, 0},
			[]bool{false, false, false}},
		{"a circle before the harm", [][]uint32{{1, 1, 1}, {0, 2}, {lost}}, []float64{1, 1, 1},
			[]bool{true, true, true}},
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
	for _, c := range []struct {
		choices []simulator.Choice
		harm    verdict.Word
		want    error
	}{
		{choices, verdict.Deadlock, ErrNoHarm}, // a harm that does not come
		{choices[:3], "", ErrNoHarm},           // a run without harm
		{choices, "", nil},
	} {
		d, err := DoomOf(t.Context(), sim, opt, c.choices, c.harm)
		if !errors.Is(err, c.want) || err == nil && d.Harm != r.Found[0].Verdict {
			t.Errorf("%d choices, %q: %+v, %v", len(c.choices), c.harm, d, err)
		}
	}
	not := (*simulator.NotEnabledError)(nil)
	if _, err := DoomOf(t.Context(), sim, opt, choices[1:], ""); !errors.As(err, &not) {
		t.Errorf("a run that cannot be: %v", err)
	}
	opt.MaxStates = 10
	large := (*TooLargeError)(nil)
	if _, err := DoomOf(t.Context(), sim, opt, choices, ""); !errors.As(err, &large) || large.States != 10 {
		t.Errorf("more than may be: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	opt.MaxStates = 0
	if _, err := DoomOf(stopped, sim, opt, choices, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
