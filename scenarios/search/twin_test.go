package search_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A twin is the plain search of package explore: it visits whole worlds one after the other, and relies only on
// what Enabled lists and Step does. It has no parts of worlds, no remembered effects, no symmetry and no
// reduction; its times are absolute, its clients keep all that they have observed, and its judges the
// whole history.
type twin struct {
	found             map[verdict.Word]price
	states, histories int // of the search, and those of observations that clients can have
}

// price is the cost of a verdict: its faults, and the choices with that many faults.
type price struct{ par, steps int }

// listed writes the verdicts found on one line.
func listed(found map[verdict.Word]price) string {
	var items []string
	for w, p := range found {
		items = append(items, fmt.Sprintf("%s@%d in %d steps", w, p.par, p.steps))
	}
	slices.Sort(items)
	return strings.Join(items, ", ")
}

func prices(r *explore.Result) map[verdict.Word]price {
	found := map[verdict.Word]price{}
	for _, f := range r.Found {
		found[f.Verdict] = price{f.Par, f.Steps}
	}
	return found
}

// rules are the rules of a search of a lock, with its simulator.
type rules struct {
	*explore.Rules
	entry  lock.Entry
	bounds search.Bounds
	sim    *simulator.Simulator
	probe  int
}

func rulesOf(t testing.TB, entry lock.Entry, b search.Bounds) *rules {
	t.Helper()
	sim, opt := ownSearchOf(t, entry, b)
	return &rules{explore.NewRules(sim, &opt), entry, b, sim, opt.Probe}
}

// play makes choices one after the other, each of which the rules must allow.
func (r *rules) play(choices []simulator.Choice) (p explore.Position, events []history.Event, words []verdict.Word,
	err error) {
	p = r.Start()
	for i, c := range choices {
		if !slices.Contains(r.Allowed(&p), c) {
			return p, events, words, fmt.Errorf("choice %d of %d, %s, is against the rules", i+1, len(choices),
				r.sim.Describe(c))
		}
		e, w, err := r.Step(&p, c)
		if err != nil {
			return p, events, words, err
		}
		events, words = append(events, e...), append(words, w...)
	}
	return p, events, words, nil
}

func dumbly(t testing.TB, entry lock.Entry, b search.Bounds,
	each func(r *rules, way []simulator.Choice, p *explore.Position)) *twin {
	t.Helper()
	r := rulesOf(t, entry, b)
	defer r.sim.Close()
	var visit func(way []simulator.Choice, p *explore.Position) error
	if each != nil {
		visit = func(way []simulator.Choice, p *explore.Position) error { each(r, way, p); return nil }
	}
	s := racetest.Must(searchPlainly(t.Context(), r, visit))(t)
	d := &twin{map[verdict.Word]price{}, s.states, s.histories}
	for w, found := range s.found {
		d.found[w] = price{found.par, len(found.choices)}
		if _, _, words, err := r.play(found.choices); err != nil || !slices.Contains(words, w) {
			t.Errorf("the way to %s comes to %v, %v", w, words, err)
		}
	}
	return d
}

// execute plays a whole way again: every step of a search lies on one that ends, or comes to a position that
// was visited before. A simulator without tables must give the same events, and then allow the same
// choices, as that of the search, which comes to the same position.
func execute(t testing.TB, r *rules, way []simulator.Choice, at *explore.Position) {
	t.Helper()
	again, want, _, err := r.play(way)
	if err != nil {
		t.Fatal(err)
	}
	if again != *at {
		t.Fatalf("played again, %v comes to another position", way)
	}
	bare := rulesOf(t, r.entry, r.bounds)
	defer bare.sim.Close()
	p, got, _, err := bare.play(way)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("executed once more, %v comes to\n%v\nbefore\n%v", way, got, want)
	}
	if got, want := bare.Allowed(&p), r.Allowed(at); !slices.Equal(got, want) {
		t.Fatalf("executed once more, after %v can follow\n%v\nbefore\n%v", way, got, want)
	}
}

// small are bounds that a twin can search.
func small(entry lock.Entry, clients, attempts int, budget string) search.Bounds {
	b := search.DefaultBounds()
	b.Clients, b.Attempts, b.Budget, b.Nodes = clients, attempts, faults.Budget(budget), search.FewServers(entry)
	return b
}

// searchOf is the simulator of a search, and its options.
func searchOf(t testing.TB, entry lock.Entry, b search.Bounds) (*simulator.Simulator, explore.Options) {
	t.Helper()
	search := racetest.Must(b.Model(entry))(t)
	sim, err := search.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	return sim, search.Options()
}

// searched is a complete search; change may change its options.
func searched(t testing.TB, entry lock.Entry, b search.Bounds, change func(*explore.Options)) *explore.Result {
	t.Helper()
	r := searchedUpTo(t, entry, b, change)
	if !r.Complete {
		t.Fatalf("the search of %v is not complete", b)
	}
	return r
}

// searchedUpTo is searched, complete or not.
func searchedUpTo(t testing.TB, entry lock.Entry, b search.Bounds, change func(*explore.Options)) *explore.Result {
	t.Helper()
	sim, opt := searchOf(t, entry, b)
	defer sim.Close()
	if change != nil {
		change(&opt)
	}
	r := racetest.Must(explore.Exhaust(t.Context(), sim, opt))(t)
	return r
}

// compare compares the search with its twin: the same verdicts, each with the same fewest
// faults and the same fewest steps; and, without symmetry, the same number of histories
// that a client can observe. Each witness keeps the rules of the twin, and can be played from its link.
func compare(t *testing.T, entry lock.Entry, b search.Bounds) {
	r := searched(t, entry, b, nil)
	d := dumbly(t, entry, b, nil)
	if got, want := observed(t, entry, b).Histories, d.histories; got != want {
		t.Errorf("clients observe %d histories, in the twin %d", got, want)
	}
	t.Logf("%d states, the twin has %d: %s", r.States, d.states, listed(d.found))
	if got, want := listed(prices(r)), listed(d.found); got != want {
		t.Errorf("the search finds\n%s, its twin\n%s", got, want)
	}
	if r.States >= d.states {
		t.Errorf("%d states, the twin without symmetry has %d", r.States, d.states)
	}
	rules := rulesOf(t, entry, b)
	defer rules.sim.Close()
	s := &search.Search{Lock: entry, Bounds: b.Settled(entry), Result: r}
	for _, w := range r.Found {
		s.Witnesses = append(s.Witnesses, search.Witness{Witness: w, Trace: s.Bounds.Trace(entry, w.Choices)})
		p, _, words, err := rules.play(w.Choices)
		if err != nil || !slices.Contains(words, w.Verdict) || p.Strikes() != w.Par {
			t.Errorf("the witness of %s by %d faults comes to %v by %d, %v", w.Verdict, w.Par, words, p.Strikes(), err)
		}
	}
	replays(t, s)
}

// observed is a search without symmetry in which clients keep all that they have observed.
func observed(t *testing.T, entry lock.Entry, b search.Bounds) *explore.Result {
	sim, opt := searchOf(t, entry, b)
	defer sim.Close()
	opt.Plain = explore.Plainest
	r := racetest.Must(explore.Exhaust(t.Context(), sim, opt))(t)
	return r
}

// TestDumbTwinExecutes: the twin uses the simulator's tables of what code and servers do.
// Here every run is executed once more, from its beginning, in a new simulator.
func TestDumbTwinExecutes(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	questions := map[string]string{
		"setnx setnx-expire getset token watchdog": "none crash=1", "redlock": "none", "sharded-token": "server-list=1",
	}
	if effort.Exhaustive() {
		questions["setnx setnx-expire getset token watchdog"] += " pause=1@5s lose-reply=1"
	}
	for ids, budgets := range questions {
		for _, entry := range locks(t, strings.Fields(ids)...) {
			for budget := range strings.FieldsSeq(budgets) {
				t.Run(entry.ID+"/"+budget, func(t *testing.T) {
					t.Parallel()
					runs := 0
					dumbly(t, entry, within(t, entry, "budget="+budget),
						func(r *rules, way []simulator.Choice, p *explore.Position) {
							runs++
							execute(t, r, way, p)
						})
					if runs == 0 {
						t.Error("nothing was executed")
					}
				})
			}
		}
	}
}

// A twin's clients are written here from the certificate, and share nothing with those of the
// search: a process makes one lock when it starts, and uses it for its whole life; between two
// attempts it only waits, and never rests.

// ownPrograms are such clients, for bounds without uses.
func ownPrograms(b *explore.Model) func(probe bool) simulator.ClientConfig {
	locks := func(c *simulator.Client) lock.Lock {
		env := b.Tokens.In(client.Environment(c, b.TTL, b.Nodes), c)
		if b.Fenced && !b.Entry.OnZooKeeper() {
			return lock.Fence(b.Entry.New(env), env)
		}
		return b.Entry.New(env)
	}
	user := func(c *simulator.Client) {
		l := locks(c)
		for i := range b.Attempts {
			if i > 0 {
				c.Clock().Sleep(b.Between())
			}
			lease, err := client.Try(c, l)
			for n := 0; err != nil && n < len(b.Retries); n++ {
				c.Clock().Sleep(b.Retries[n])
				lease, err = client.Try(c, l)
			}
			if err != nil {
				continue
			}
			base, err := c.Read(client.FencingToken(lease))
			c.Clock().Sleep(b.Work())
			if err == nil {
				_ = c.Write(base, client.FencingToken(lease)) // a refusal is recorded by the resource
				c.Clock().Sleep(0)
			}
			c.Record(history.Event{Kind: history.Leave})
			_ = client.Release(c, lease) // an error is recorded
		}
		c.Record(history.Event{Kind: history.Done})
	}
	probe := func(c *simulator.Client) {
		l := locks(c)
		for asked := 0; ; asked++ {
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := l.Acquire(context.Background(), client.Key)
			refused := errors.Is(err, lock.ErrNotAcquired)
			switch {
			case err == nil:
				c.Record(history.Event{Kind: history.Enter, Token: client.FencingToken(lease)})
				explore.LeaveAndRelease(c, lease)
				return
			case refused && asked > 0:
				c.Record(history.Event{Kind: history.Refuse, Claims: true, Note: explore.ProbeRefused})
				return
			case asked == 3:
				c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeFailed})
				return
			}
			c.Record(client.Refusal(err))
			c.Clock().Sleep(2*b.Between() + b.ClockJumps)
		}
	}
	return func(isProbe bool) simulator.ClientConfig {
		if isProbe {
			return simulator.ClientConfig{Program: probe, Near: true, List: b.Entry.Shards}
		}
		return simulator.ClientConfig{Program: user, Skews: b.Skews, List: b.Entry.Shards}
	}
}

// ownSearchOf is searchOf with the twin's own clients, in lockstep on Redis without uses.
func ownSearchOf(t testing.TB, entry lock.Entry, b search.Bounds) (*simulator.Simulator, explore.Options) {
	t.Helper()
	search := racetest.Must(b.Model(entry))(t)
	if search.Timing == nil && search.Uses == 0 && !entry.OnZooKeeper() {
		search.Code = ownPrograms(search)
		search.Contents = client.Servers(entry, search.TTL, simulator.NodeConfig{}, 1)[0].Contents // of a database
	}
	sim := racetest.Must(search.Simulator())(t)
	return sim, search.Options()
}
