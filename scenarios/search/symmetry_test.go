package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/translate"
	"locklab/simulator/verdict"
)

// queueing is a lock on a ZooKeeper whose places bear their clients' names. first says whether
// a place is the first of the children, in the order in which they were listed.
func queueing(first func(own string, children []string) bool) lock.Entry {
	root := func(string) string { return "/places" }
	e := own("queueing", func(env lock.Env) lock.Lock {
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			env.ZooKeeper.Create(ctx, root(key), lock.Persistent)
			path, err := env.ZooKeeper.Create(ctx, root(key)+"/"+env.Tokens.Token()+"-", lock.EphemeralSequential)
			if err != nil {
				return nil, err
			}
			leave := func(ctx context.Context) error { return env.ZooKeeper.Delete(ctx, path) }
			children, err := env.ZooKeeper.Children(ctx, root(key))
			if err == nil && len(children) > 0 && !first(strings.TrimPrefix(path, root(key)+"/"), children) {
				leave(ctx)
				err = lock.ErrNotAcquired
			}
			return reporting(leave), err
		})
	})
	e.Line, e.Expiry = root, lock.ExpirySession
	return e
}

// TestEnsembleAlike: an ensemble lets clients change places, whose names stand in paths and answers, unless code makes a
// difference of them. In either case the search finds what it finds without symmetry.
func TestEnsembleAlike(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	byNumber := func(a, b string) int { return strings.Compare(a[len(a)-10:], b[len(b)-10:]) }
	for name, test := range map[string]struct {
		first func(own string, children []string) bool
		alike bool // so that no two clients come in without a fault
	}{
		"the least number": {func(own string, all []string) bool { return slices.MinFunc(all, byNumber) == own }, true},
		"the least name":   {func(own string, all []string) bool { return slices.Min(all) == own }, false},
		"the first listed": {func(own string, all []string) bool { return all[0] == own }, false},
	} {
		for _, budget := range []string{"", "crash=1", "lose-reply=1", "expire-session=1"} {
			entry := queueing(test.first)
			b := small(entry, 2, 2, budget)
			got, want := searched(t, entry, b, nil), searched(t, entry, b, keep["symmetry"])
			if listed(prices(got)) != listed(prices(want)) {
				t.Errorf("%s, %s: found\n%s\nwithout symmetry\n%s", name, budget, listed(prices(got)), listed(prices(want)))
			}
			if got.Symmetry != test.alike || test.alike == (got.Asymmetry != nil && got.Asymmetry.Was != "") {
				t.Errorf("%s, %s: symmetry %v, given up for %+v", name, budget, got.Symmetry, got.Asymmetry)
			}
			if price, found := prices(want)[verdict.Overlap]; budget == "" && (found && price.par == 0) == test.alike {
				t.Errorf("%s: OVERLAP %v, %+v", name, found, price)
			}
		}
	}
}

// TestRepliesThatName: what a client has read may name the other one. Code that only compares it with its own name
// treats both alike; with three clients, what one has read of another keeps them apart.
func TestRepliesThatName(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	t.Parallel()
	for name, test := range map[string]struct {
		mine  func(holder, token string) bool
		alike bool
	}{
		"its own":     {func(holder, token string) bool { return holder == token }, true},
		"a lesser":    {func(holder, token string) bool { return holder < token }, false},
		"the first's": {func(holder, _ string) bool { return strings.HasPrefix(holder, "c1.") }, false},
	} {
		entry := otherwise("reads", func(ctx context.Context, env lock.Env, key, token string) bool {
			holder, _ := env.Nodes[0].Get(ctx, key).Result()
			return test.mine(holder, token)
		})
		for clients := 2; clients <= 3; clients++ {
			b := small(entry, clients, 4-clients, "crash=1")
			got, twin := searched(t, entry, b, nil), dumbly(t, entry, b, nil)
			if listed(prices(got)) != listed(twin.found) {
				t.Errorf("%s, %d clients: found\n%s\nits twin\n%s", name, clients, listed(prices(got)), listed(twin.found))
			}
			if alike := test.alike && clients == 2; got.Symmetry != alike {
				t.Errorf("%s, %d clients: symmetry %v, given up for %+v", name, clients, got.Symmetry, got.Asymmetry)
			}
			if clients == 3 && (got.Asymmetry == nil || got.Asymmetry.Reply == "") {
				t.Errorf("%s, 3 clients: symmetry given up for %+v, want a reply", name, got.Asymmetry)
			}
		}
	}
}

// TestRenamedWalks: two worlds in which two clients have each other's place, by the same
// choices but for these places, come to worlds of which the same is true. A third one, whose
// clients keep all that they have observed, goes through what the first goes through.
func TestRenamedWalks(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	entries := locks(t, "token", "thread-id", "watchdog", "reentrant")
	for _, e := range zookeeper.All() {
		e.Writer = nil // which would be one of the two
		entries = append(entries, patient(e, 3*time.Second))
	}
	seeds := uint64(10)
	if effort.Exhaustive() {
		seeds = 80
	}
	for _, entry := range entries {
		budget := "crash=1,pause=3,lose-reply=2,lose-request=1,delay=1"
		if entry.OnZooKeeper() {
			budget = "crash=2,pause=3@1m,lose-reply=2,expire-session=1,delay=1"
		}
		for _, timing := range []search.Mode{search.Lockstep, search.AnyTiming} {
			b := small(entry, 2, 2, budget)
			b.Timing = timing
			sim, opt := searchOf(t, entry, b)
			defer sim.Close()
			if opt.Symmetric != 2 {
				t.Fatalf("%s: %d clients are alike", entry.ID, opt.Symmetric)
			}
			sim.Assume(hypothesis.Set{Symmetric: 2, Creations: true, Rests: true})
			kept, _ := searchOf(t, entry, b)
			defer kept.Close()
			kept.Assume(hypothesis.Set{Creations: true})
			for seed := range seeds {
				renamedWalk(t, sim, kept, opt.Step, rand.New(rand.NewPCG(seed, 26)))
			}
		}
	}
}

func renamedWalk(t *testing.T, sim, kept *simulator.Simulator, step time.Duration, rng *rand.Rand) {
	t.Helper()
	var swap history.Names
	for c := range swap {
		swap[c] = uint8(c)
	}
	swap[1], swap[2] = 2, 1
	w, v, k := sim.NewWorld(), sim.NewWorld(), kept.NewWorld()
	var last simulator.Choice
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 300 {
		enabled := sim.Enabled(&w, nil)
		if len(enabled) == 0 {
			return
		}
		c := enabled[rng.IntN(len(enabled))]
		if c.Verb >= simulator.FaultVerb && rng.IntN(4) > 0 {
			c = enabled[0]
		}
		if last.Verb >= simulator.FaultVerb && last.Client > 0 { // and the same to the other one, at the same moment
			last.Client = int8(swap[last.Client])
			if slices.Contains(enabled, last) {
				c = last
			}
		}
		last = c
		if c.Verb == simulator.Pass && step > 0 {
			c.D = min(c.D, step)
		}
		other := c
		other.Client = int8(swap[c.Client])
		if c.Verb == simulator.Orphaned {
			part := sim.Parts().Rest(&w)
			at, err := sim.Parts().PlaceInPart(&w, int(c.Thread))
			must(err)
			at, err = sim.Parts().PlaceInWorld(&v, &part, at, &swap)
			must(err)
			other.Thread = int8(at)
		}
		events, err := sim.Step(&w, c)
		happened := said(events, nil)
		events, keptErr := kept.Step(&k, c)
		if was := said(events, nil); was != happened {
			t.Fatalf("%s:\n%s\nand where all is remembered\n%s", sim.Describe(c), happened, was)
		}
		mattered := said(judged(events), &swap)
		events, otherErr := sim.Step(&v, other)
		if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) && errors.As(otherErr, &limit) {
			return
		}
		must(errors.Join(err, keptErr, otherErr))
		if was := said(judged(events), nil); was != mattered {
			t.Fatalf("%s:\n%s\nand where clients have changed places\n%s", sim.Describe(c), mattered, was)
		}
		for from := 1; from <= 2; from++ {
			part, err := sim.Symmetry().Client(sim.Parts().Client(&w, from), from, 3-from)
			must(err)
			if got := sim.Parts().Client(&v, 3-from); got != part {
				t.Fatalf("after %s client %d is\n%+v\nand in the other's place\n%+v", sim.Describe(c), from, part, got)
			}
		}
		for n := range sim.Config().Nodes {
			part, err := sim.Symmetry().Node(sim.Parts().Node(&w, n+1), translate.Rename(&swap))
			must(err)
			if got := sim.Parts().Node(&v, n+1); got != part {
				t.Fatalf("after %s server %d is\n%+v\nand where clients have changed places\n%+v", sim.Describe(c), n+1, part, got)
			}
		}
		rest, err := sim.Symmetry().Rest(sim.Parts().Rest(&w), translate.Rename(&swap))
		must(err)
		if got := sim.Parts().Rest(&v); got != rest {
			t.Fatalf("after %s the rest is\n%+v\nand where clients have changed places\n%+v", sim.Describe(c), rest, got)
		}
	}
}

// judged is the events that some judge needs.
func judged(events []history.Event) []history.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e history.Event) bool { return !verdict.Matters(e.Kind) })
}

// said is what happened, a line each; as: the clients have changed places.
func said(events []history.Event, as *history.Names) (lines string) {
	for _, e := range events {
		if as != nil {
			e.Client = int(as[e.Client])
		}
		line := fmt.Sprintln(e.At, e.Kind, e.Client, e.Node, e.Key, e.Lease, e.OK, e.Note)
		if as != nil {
			line = as.Rename(line)
		}
		lines += line
	}
	return lines
}
