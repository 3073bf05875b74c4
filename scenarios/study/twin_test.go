package study_test

import (
	"context"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A twin is the simplest exhaustive search. It visits whole worlds one after the other,
// and relies only on what Enabled lists and Step does. It has no parts of worlds, no
// remembered effects, no symmetry and no reduction; its times are absolute, its clients keep
// all that they have observed, and its judges the whole history.
type twin struct {
	*rules
	again bool // every run is executed once more
	seen  map[uint64]bool
	seed  maphash.Seed // a hash identifies a state, which would take kilobytes
	found map[verdict.Word]price
	runs  int // executed once more
	// histories is the number of histories of observations that clients can have
	histories int
}

// price is the cost of a verdict: its faults, and the choices with that many faults.
type price struct{ par, steps int }

func (p price) less(q price) bool { return p.par < q.par || p.par == q.par && p.steps < q.steps }

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

// rules are the rules of a search, on whole worlds.
type rules struct {
	entry  lock.Entry
	bounds study.Bounds
	sim    *simulator.Simulator
	judge  verdict.Case
	probe  int
	tick   time.Duration // above 0: any timing
}

func rulesOf(t testing.TB, entry lock.Entry, b study.Bounds) *rules {
	t.Helper()
	sim, opt := ownSearchOf(t, entry, b)
	return &rules{entry, b, sim, verdict.CaseOf(&opt.Case), opt.Probe, opt.Step}
}

// position is a world with its judges, and the clients that are at their end.
type position struct {
	w       simulator.World
	judges  verdict.Safety
	ended   uint16 // clients that are done or dead, bit c
	begun   uint16 // clients whose programs have begun
	strikes uint8
}

func (r *rules) start() position { return position{w: r.sim.NewWorld()} }

// lawful lists the choices that the rules allow in a position. In lockstep time passes only
// if nothing else can happen, except the end of a pause without a fixed length; at any
// timing it passes by a tick, or to the next deadline, also so that what ends then still stands, and
// only what has no bounds happens first. The probe begins when all other clients are at their end, no request is under
// way and every server runs; no fault is injected into it, and none at all once it has
// begun. A client that waits for an answer does not begin another attempt. If clients wait
// for their turn and nothing is left to happen but faults, the probe begins all the same,
// and nothing follows: that is a DEADLOCK.
func (r *rules) lawful(p *position) (allowed []simulator.Choice) {
	alone := r.settled(p) && r.allEnded(p)
	probing := p.begun&(1<<r.probe) != 0
	if alone && p.ended&(1<<r.probe) != 0 || probing && !r.allEnded(p) {
		return nil
	}
	var begins simulator.Choice // of the probe
	idle := true                // nothing has to happen before time moves
	for _, c := range r.sim.Enabled(&p.w, nil) {
		mine := int(c.Client) == r.probe
		if mine && c.Verb == simulator.Start {
			begins = c
		}
		switch {
		case mine && (c.Verb == simulator.Start && !alone || c.Verb >= simulator.FaultVerb):
			continue
		case c.Verb >= simulator.FaultVerb && p.begun&(1<<r.probe) != 0:
			continue
		case c.Verb == simulator.Start && r.waits(p, int(c.Client)):
			continue
		case c.Verb == simulator.Pass:
			if !idle {
				continue
			}
			if r.tick > 0 {
				c.D = min(c.D, r.tick)
				allowed = append(allowed, simulator.Choice{Verb: c.Verb, D: c.D, Thread: simulator.Pending})
			}
		case c.Verb != simulator.Resume && c.Verb < simulator.FaultVerb:
			idle = idle && r.tick > 0 && !(c.Verb == simulator.Start && p.begun&(1<<c.Client) == 0)
		}
		allowed = append(allowed, c)
	}
	stuck := !probing && r.settled(p) && !slices.ContainsFunc(allowed, func(c simulator.Choice) bool { return c.Verb < simulator.FaultVerb })
	if stuck && begins.Verb != 0 {
		allowed = append(allowed, begins)
	}
	return allowed
}

// settled says whether no request is under way whose sender no longer waits, and every
// server runs.
func (r *rules) settled(p *position) bool {
	settled := r.sim.Orphans(&p.w) == 0
	for n := range r.sim.Config().Nodes {
		settled = settled && !p.w.Down(n+1) && !p.w.Hung(n+1)
	}
	return settled
}

// allEnded says whether all clients but the probe are at their end.
func (r *rules) allEnded(p *position) bool {
	for c := 1; c < r.probe; c++ {
		if p.ended&(1<<c) == 0 || p.w.Paused(c) {
			return false
		}
	}
	return true
}

// waits says whether a client waits for an answer of a server.
func (r *rules) waits(p *position, c int) bool {
	part := r.sim.Parts().Client(&p.w, c)
	return r.sim.Parts().WaitsOn(c, &part) != 0
}

// step makes a choice and returns what happened, until the next step, and what the judges
// found.
func (r *rules) step(p *position, c simulator.Choice) (events []history.Event, words []verdict.Word, err error) {
	if events, err = r.sim.Step(&p.w, c); err != nil {
		return nil, nil, err
	}
	switch {
	case c.Verb >= simulator.FaultVerb:
		p.strikes++
	case c.Verb == simulator.Start, c.Verb == simulator.Choose: // with a clock that is off
		p.begun |= 1 << c.Client
	}
	return events, r.hear(p, events), nil
}

// hear passes the events to the judges.
func (r *rules) hear(p *position, events []history.Event) (words []verdict.Word) {
	for i := range events {
		e := &events[i]
		if p.judges.RefusedByOrphan(&r.judge, e) {
			words = append(words, verdict.Orphan)
		}
		p.judges.Observe(&r.judge, i, e, func(f verdict.Finding) { words = append(words, f.Verdict) })
		stuck := e.Client == r.probe && e.Kind == history.Refuse && (e.Note == explore.ProbeRefused || e.Note == explore.ProbeFailed)
		if stuck || e.Client == r.probe && e.Kind == history.Acquire && !r.allEnded(p) {
			words = append(words, verdict.Deadlock)
		}
		if e.Kind == history.Done || e.Kind == history.Crash || stuck || e.Client == r.probe && e.Kind == history.Released {
			p.ended |= 1 << e.Client
		}
		if e.Kind == history.Return {
			p.ended &^= 1 << e.Client
		}
	}
	return append(words, p.judges.Words()...)
}

// play makes choices one after the other, each of which the rules must allow.
func (r *rules) play(choices []simulator.Choice) (p position, events []history.Event, words []verdict.Word, err error) {
	p = r.start()
	for i, c := range choices {
		if !slices.Contains(r.lawful(&p), c) {
			return p, events, words, fmt.Errorf("choice %d of %d, %s, is against the rules", i+1, len(choices), r.sim.Describe(c))
		}
		e, w, err := r.step(&p, c)
		if err != nil {
			return p, events, words, err
		}
		events, words = append(events, e...), append(words, w...)
	}
	return p, events, words, nil
}

// visit is a position with the way to it.
type visit struct {
	position
	before *visit
	via    simulator.Choice
	events []history.Event
}

func dumbly(t testing.TB, entry lock.Entry, b study.Bounds, again bool) *twin {
	t.Helper()
	d := &twin{rules: rulesOf(t, entry, b), again: again, seen: map[uint64]bool{}, found: map[verdict.Word]price{}}
	defer d.sim.Close()
	d.sim.Assume(simulator.Assumptions{})
	d.seed = maphash.MakeSeed()
	d.search(t)
	d.histories = d.sim.Histories()
	return d
}

// search visits every position, in the order of the number of steps to it.
func (d *twin) search(t testing.TB) {
	level := []*visit{{position: d.start()}}
	var p position // outside of the loop: it is large, and most are known
	for depth := 1; len(level) > 0; depth++ {
		var next []*visit
		for _, v := range level {
			choices := d.lawful(&v.position)
			if len(choices) == 0 {
				d.execute(t, v)
			}
			for _, c := range choices {
				p = v.position
				events, words, err := d.step(&p, c)
				if err != nil {
					t.Fatalf("%s: %v", d.sim.Describe(c), err)
				}
				for _, w := range words {
					cost := price{int(p.strikes), depth}
					if old, ok := d.found[w]; !ok || cost.less(old) {
						d.found[w] = cost
					}
				}
				fresh := d.fresh(&p)
				if !fresh && !d.again {
					continue
				}
				to := &visit{position: p, via: c}
				if d.again {
					to.before, to.events = v, slices.Clone(events)
				}
				if fresh {
					next = append(next, to)
				} else {
					d.execute(t, to)
				}
			}
		}
		level = next
	}
}

func (d *twin) fresh(p *position) bool {
	key := maphash.Comparable(d.seed, *p)
	if d.seen[key] {
		return false
	}
	d.seen[key] = true
	return true
}

// execute plays the whole way to v again, where v is the end of a run or a position that
// was visited before: every step of the search lies on such a way. A simulator without
// tables must give the same events, and then allow the same choices.
func (d *twin) execute(t testing.TB, v *visit) {
	if !d.again {
		return
	}
	d.runs++
	var way []*visit
	for at := v; at.before != nil; at = at.before {
		way = append(way, at)
	}
	slices.Reverse(way)
	var choices []simulator.Choice
	var want []history.Event
	for _, at := range way {
		choices, want = append(choices, at.via), append(want, at.events...)
	}
	bare := rulesOf(t, d.entry, d.bounds)
	defer bare.sim.Close()
	p, got, _, err := bare.play(choices)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("executed once more, %v comes to\n%v\nbefore\n%v", choices, got, want)
	}
	if got, want := bare.lawful(&p), d.lawful(&v.position); !slices.Equal(got, want) {
		t.Fatalf("executed once more, after %v can follow\n%v\nbefore\n%v", choices, got, want)
	}
}

// small are bounds that a twin can search.
func small(entry lock.Entry, clients, attempts int, budget string) study.Bounds {
	b := study.DefaultBounds()
	b.Clients, b.Attempts, b.Budget, b.Nodes = clients, attempts, budget, min(entry.Nodes, 3)
	return b
}

// The budgets of a single fault: faults of clients and their messages, and faults of
// servers and clocks.
var (
	clientFaults = []string{"", "crash=1", "pause=1", "pause=1@5s", "lose-reply=1", "lose-request=1"}
	serverFaults = []string{"restart=1", "failover=1", "node-clock=1@10s", "client-clock=1@10s"}
)

// oneServer are the locks that use one server.
func oneServer() []lock.Entry {
	return slices.DeleteFunc(algorithms.Milestones(), func(e lock.Entry) bool { return e.Nodes > 1 })
}

// tooMany are bounds for which the twin needs seconds, with hundreds of thousands of
// states.
var tooMany = []string{"redlock/2x1/failover=1", "watchdog/2x2/pause=1"}

// large are bounds that take most of the time of their tests: only exhaustive tests
// search within them.
var large = []string{
	"redlock/2x1/client-clock=1@10s", "redlock/2x1/node-clock=1@10s",
	"watchdog/2x2/crash=1,pause=1@5s", "watchdog/2x2/failover=1,lose-reply=1",
	"getset/2x2/crash=1,pause=1@5s", "getset/2x2/failover=1,lose-reply=1",
	"watchdog/2x2/pause=1@5s", "watchdog/2x2/crash=1", "watchdog/2x2/lose-reply=1", "watchdog/2x2/lose-request=1",
}

// atSize calls test for every lock and budget, in a subtest of their name, all
// side by side.
func atSize(t *testing.T, locks []lock.Entry, clients, attempts int, budgets []string, test func(t *testing.T, entry lock.Entry, b study.Bounds)) {
	for _, entry := range locks {
		for _, budget := range budgets {
			b := small(entry, clients, attempts, budget)
			name := fmt.Sprintf("%s/%dx%d/%s", entry.ID, clients, attempts, b.Faults())
			if slices.Contains(tooMany, name) || slices.Contains(large, name) && !effort.Exhaustive() {
				continue
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, entry, b)
			})
		}
	}
}

// searchOf is the simulator of a search, and its options.
func searchOf(t testing.TB, entry lock.Entry, b study.Bounds) (*simulator.Simulator, explore.Options) {
	t.Helper()
	search, err := b.Model(entry)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := search.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	return sim, search.Options()
}

// searched is a complete search; change may change its options.
func searched(t testing.TB, entry lock.Entry, b study.Bounds, change func(*explore.Options)) *explore.Result {
	t.Helper()
	r := searchedUpTo(t, entry, b, change)
	if !r.Complete {
		t.Fatalf("the search of %v is not complete", b)
	}
	return r
}

// searchedUpTo is searched, complete or not.
func searchedUpTo(t testing.TB, entry lock.Entry, b study.Bounds, change func(*explore.Options)) *explore.Result {
	t.Helper()
	sim, opt := searchOf(t, entry, b)
	defer sim.Close()
	if change != nil {
		change(&opt)
	}
	r, err := explore.Exhaust(t.Context(), sim, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// compare compares the search with its twin: the same verdicts, each with the same fewest
// faults and the same fewest steps; and, without symmetry, the same number of histories
// that a client can observe.
func compare(t *testing.T, entry lock.Entry, b study.Bounds) {
	r := searched(t, entry, b, nil)
	d := dumbly(t, entry, b, false)
	if got, want := observed(t, entry, b).Histories, d.histories; got != want {
		t.Errorf("clients observe %d histories, in the twin %d", got, want)
	}
	t.Logf("%d states, the twin has %d: %s", r.States, len(d.seen), listed(d.found))
	if got, want := listed(prices(r)), listed(d.found); got != want {
		t.Errorf("the search finds\n%s, its twin\n%s", got, want)
	}
	if r.States >= len(d.seen) {
		t.Errorf("%d states, the twin without symmetry and reduction has %d", r.States, len(d.seen))
	}
}

// observed is a search without symmetry in which clients keep all that they have observed.
func observed(t *testing.T, entry lock.Entry, b study.Bounds) *explore.Result {
	sim, opt := searchOf(t, entry, b)
	defer sim.Close()
	opt.Plain = explore.Plainest
	opt.Plain.Order, opt.Plain.Rests = false, true
	r, err := explore.Exhaust(t.Context(), sim, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDumbTwin covers two clients with one attempt each, for every lock under
// every single fault (Redlock with three servers of its five); and for locks of
// one server two attempts under the faults of clients and messages, and three
// clients under a crash or a pause.
func TestDumbTwin(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	atSize(t, algorithms.Milestones(), 2, 1, slices.Concat(clientFaults, serverFaults), compare)
	atSize(t, oneServer(), 2, 2, clientFaults, compare)
	atSize(t, oneServer(), 3, 1, []string{"crash=1", "pause=1@5s"}, compare)
}

// TestDumbTwinExecutes: the twin uses the simulator's tables of what code and servers do.
// Here every run is executed once more, from its beginning, in a new simulator.
func TestDumbTwinExecutes(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	execute := func(t *testing.T, entry lock.Entry, b study.Bounds) {
		if d := dumbly(t, entry, b, true); d.runs == 0 {
			t.Error("nothing was executed")
		}
	}
	budgets := []string{"crash=1", "pause=1@5s", "lose-reply=1"}
	if !effort.Exhaustive() {
		budgets = budgets[:1]
	}
	atSize(t, oneServer(), 2, 1, budgets, execute)
	atSize(t, algorithms.Milestones(), 2, 1, []string{""}, execute)
}

// TestDumbTwinOfOddities: a resource that fences, a clock that jumps by a part
// of a millisecond to before its epoch, and a server that reads its clock.
func TestDumbTwinOfOddities(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	token := racetest.Lock(t, "token")
	fenced := small(token, 2, 2, "pause=1")
	fenced.Fenced = true
	compare(t, token, fenced)
	compare(t, token, small(token, 2, 2, "node-clock=1@9000500us"))

	// The lease is in the value, and the server compares it with its own clock: the TTL
	// does not show how much of the lease is left.
	stamped := own("stamped", func(env lock.Env) lock.Strategy {
		script := `local now = redis.call("TIME") now = now[1] * 1000 + math.floor(now[2] / 1000)
if now < tonumber(redis.call("GET", KEYS[1]) or 0) then return 0 end
redis.call("SET", KEYS[1], now + ARGV[1]) return now + ARGV[1]`
		return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
			n, err := env.Nodes[0].Eval(ctx, script, []string{key}, env.TTL.Milliseconds()).Int64()
			if err == nil && n == 0 {
				err = lock.ErrNotAcquired
			}
			return reporting(func(ctx context.Context) error { return lost(env.Nodes[0].Del(ctx, key).Result()) }), err
		})
	})
	b := small(stamped, 2, 2, "crash=1,pause=1@5s")
	compare(t, stamped, b)
	if !searched(t, stamped, b, nil).ReadsClock {
		t.Error("the time of day was not part of the state")
	}
}

// own is a lock that only a test uses.
func own(id string, create maker) lock.Entry {
	return lock.Entry{ID: id, Nodes: 1, Unit: time.Millisecond, New: create}
}
