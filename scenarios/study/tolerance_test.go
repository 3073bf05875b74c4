package study_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// What theory predicts for a lease of sixty parts and work of 24. A lease that is not
// renewed ends 36 parts after the work: a pause of its holder at the end of the work,
// or a jump of a clock then, must be as long. A lease that is renewed every third of a
// lease has two thirds left when the next renewal is due, 40 parts and the time of a message.
// A clock that the lock does not use cannot harm it, and a lock without a lease does not
// end; but any server that loses its data lets a second client in.
var theory = map[string]map[string]int{ // 0: falls at no size
	"setnx":        {"pause": 0, "client-clock": 0, "node-clock": 0, "failover": 1, "restart": 1},
	"setnx-expire": {"pause": 36, "client-clock": 0, "node-clock": 36, "failover": 1, "restart": 1},
	"getset":       {"pause": 36, "client-clock": 36, "node-clock": 0, "failover": 1, "restart": 1},
	"token":        {"pause": 36, "client-clock": 0, "node-clock": 36, "failover": 1, "restart": 1},
	"watchdog":     {"pause": 41, "client-clock": 0, "node-clock": 41, "failover": 1, "restart": 1},
}

// The debate of Kleppmann and antirez, by search: a majority of servers tolerates no
// longer pause than one server, and no larger jump of one server's clock. Since the lock
// reads the client's clock twice, it tolerates jumps of that one.
var debate = map[string]int{"pause": 36, "client-clock": 0, "node-clock": 36, "failover": 1, "restart": 1}

// TestTolerance: what search finds is what theory predicts.
func TestTolerance(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for id, want := range theory {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			checkFrontier(t, locks(t, id), want)
		})
	}
}

// TestToleranceDebate searches only the sizes next to the limit.
func TestToleranceDebate(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, h := range study.Hazards() {
		t.Run(h.Fault, func(t *testing.T) {
			t.Parallel()
			// Each size says whether it falls.
			limit, sizes := debate[h.Fault], map[int]bool{debate[h.Fault] - 1: false, debate[h.Fault]: true}
			switch {
			case !h.Sized:
				sizes = map[int]bool{0: true}
			case limit == 0:
				sizes = map[int]bool{study.LeaseParts: false, study.MaxParts: false}
			}
			for size, falls := range sizes {
				s := racetest.Must(study.UsualRivals().Search(t.Context(), racetest.Lock(t, "redlock"), h, size))(t)
				if fell := s.Trace != ""; fell != falls || !fell && !s.Complete {
					t.Errorf("%s of %d: falls %t, want %t; complete: %t", h.Fault, size, fell, falls, s.Complete)
				}
			}
		})
	}
}

// checkFrontier compares the limits of a lock with those that are wanted.
func checkFrontier(t *testing.T, entry []lock.Entry, want map[string]int) {
	found := racetest.Must(study.FindTolerance(t.Context(), entry, nil))(t)
	for i, h := range study.Hazards() {
		got, falls := found.Limits[i], want[h.Fault]
		if falls > 0 {
			if o, err := replay(t, got.Trace); err != nil || !slices.Contains(o.Verdicts, verdict.Overlap) {
				t.Errorf("%s: the trace of the fall does not show it: %v", h.Fault, err)
			}
			got.Trace = ""
		}
		got.States = 0
		limit := study.Limit{Lock: entry[0].ID, Fault: h.Fault}
		switch {
		case !h.Sized && falls > 0:
			limit.Answer = study.FallsOnce
		case !h.Sized:
			limit.Answer = study.HoldsOnce
		case falls == 0:
			limit.Answer, limit.Holds = study.NoLimit, study.MaxLeases
		default:
			limit.Answer, limit.Holds, limit.Falls = study.Limited, leases(falls-1), leases(falls)
			// The work and the pause end with the lease, at one instant. To a clock that is ahead the
			// millisecond counts that the rival asks later. By getset's stamp a lease ends a millisecond
			// sooner than a key of Redis does.
			limit.Boundary = falls == 36 && h.Fault != "client-clock" && limit.Lock != "getset"
		}
		if got != limit {
			t.Errorf("%s: %+v, want %+v", h.Fault, got, limit)
		}
	}
}

// leases is the size of so many parts of a lease.
func leases(parts int) float64 { return float64(parts) / study.LeaseParts }

// replay plays the trace of a link.
func replay(t *testing.T, link string) (*race.Outcome, error) {
	t.Helper()
	trace := racetest.Must(simulator.ParseLink(link))(t)
	return search.Replay(trace)
}

// TestToleranceBySizes: bisection assumes that a larger fault is no less harmful. That is true for these: the
// search of every size agrees with the limit.
func TestToleranceBySizes(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	r := study.UsualRivals()
	for _, c := range []struct{ lock, fault string }{{"token", "pause"}, {"getset", "client-clock"},
		{"watchdog", "node-clock"}, {"setnx-expire", "node-clock"}} {
		entry := racetest.Lock(t, c.lock)
		for _, size := range sizes(theory[c.lock][c.fault]) {
			s := racetest.Must(r.Search(t.Context(), entry, study.Hazard{c.fault, true}, size))(t)
			if limit, fell := theory[c.lock][c.fault], s.Trace != ""; fell != (size >= limit) {
				t.Errorf("%s, %s of %d: falls %t; the limit is %d", c.lock, c.fault, size, fell, limit)
			}
		}
	}
}

// sizes are the sizes to test for a lock with this limit: those around it and at both
// ends, or all if tests are exhaustive.
func sizes(limit int) (sizes []int) {
	for size := 1; size <= study.MaxParts; size++ {
		if effort.Exhaustive() || size == 1 || size == study.MaxParts || limit-1 <= size && size <= limit {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// TestToleranceAskingMore: a rival that requests in every twentieth of a lease does not get in sooner.
func TestToleranceAskingMore(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	t.Parallel()
	often := study.UsualRivals()
	often.Code = func(m *explore.Model) {
		m.Retries = slices.Repeat([]time.Duration{often.TTL / 20}, 48)
		m.Retries[0] += time.Millisecond
	}
	for _, c := range []struct{ lock, fault string }{{"token", "pause"}, {"token", "node-clock"},
		{"getset", "client-clock"}} {
		l, err := often.Limit(t.Context(), racetest.Lock(t, c.lock), study.Hazard{c.fault, true})
		if err != nil || l.Falls != leases(theory[c.lock][c.fault]) {
			t.Errorf("%s, %s: %+v, %v, want to fall at %d", c.lock, c.fault, l, err, theory[c.lock][c.fault])
		}
	}
}

// TestToleranceBesideRuns: the least pause that breaks seeded runs, and the least jump of clocks that breaks one, break
// a search of that size too. The runs know nothing of when a rival of a search asks.
func TestToleranceBesideRuns(t *testing.T) {
	t.Parallel()
	const tenth = study.LeaseParts / 10
	for _, e := range locks(t, "token", "lock-delay", "watchdog", "client-expiry", "redlock", "zk-protected") {
		least := map[string]int{} // in parts of a lease
		paused := swept(t, ordered(t, 20, "pause/ttl=0.1:2:0.1"), "", e).Series[0].Points
		for size := study.MaxParts; size > 0; size -= tenth {
			if paused[size/tenth-1].K > 0 {
				least["pause"] = size
			}
			sc := racetest.Race("clock-jump")
			sc.Settings.Jump = sc.Settings.TTL * time.Duration(size) / study.LeaseParts
			if slices.Contains(racetest.PlayListed(t, e, sc, sc.Settings).Verdicts, verdict.Overlap) {
				least["node-clock"] = size
			}
		}
		if least["pause"] == 0 {
			t.Errorf("%s: no pause breaks a run", e.ID)
		}
		for fault, size := range least {
			found := racetest.Must(study.UsualRivals().Search(t.Context(), e, study.Hazard{fault, true}, size))(t)
			if found.Trace == "" {
				t.Errorf("%s: runs with %s of %d/60 of a lease overlap, and a search finds none", e.ID, fault, size)
			}
		}
	}
}

func TestFindPars(t *testing.T) {
	t.Parallel()
	locks := locks(t, "setnx", "token")
	table := racetest.Must(study.FindPars(t.Context(), locks, search.DefaultBounds(), study.SingleFaults(), nil))(t)
	// A lock without a lease is lost if its holder never releases it, but no pause takes it away from the holder; with
	// a lease it is the other way round.
	want := map[verdict.Word][2]string{
		verdict.Overlap:    {"restart failover", "pause restart failover"},
		verdict.StaleWrite: {"restart failover", "pause restart failover"},
		verdict.WrongDel:   {"restart failover", ""},
		verdict.Deadlock:   {"crash pause lose-reply lose-request failover", ""},
	}
	for l, e := range locks {
		for n, w := range table.Verdicts {
			var ways []string
			for k, budget := range table.Budgets {
				p := &table.Rows[(l*len(table.Budgets)+k)*len(table.Verdicts)+n]
				if !p.Complete || p.Found && p.Par != 1 || p.Budget != budget {
					t.Errorf("%+v", p)
				}
				if !p.Found {
					continue
				}
				ways = append(ways, strings.TrimSuffix(budget, "=1"))
				if o, err := replay(t, p.Trace); err != nil || !slices.Contains(o.Verdicts, p.Verdict) {
					t.Errorf("%s: the trace to %s comes to %v, %v", e.ID, p.Verdict, o, err)
				}
			}
			if got := strings.Join(ways, " "); got != want[w][l] {
				t.Errorf("%s, %s: by one of %s, want %s", e.ID, w, got, want[w][l])
			}
		}
	}
	semaphore := locks[1]
	semaphore.Holders = 3
	few := racetest.Must(study.FindPars(t.Context(), []lock.Entry{semaphore}, search.DefaultBounds(),
		[]string{"crash=1"}, nil))(t)
	if !few.Rows[0].Unjudged {
		t.Errorf("of a semaphore of three, three clients say %+v", few.Rows[0])
	}
}

// TestFindParsLate: what lockstep does not come to is searched at any timing, with a client more, and says so.
func TestFindParsLate(t *testing.T) {
	t.Parallel()
	table := racetest.Must(study.FindPars(t.Context(), locks(t, "getset", "token"), search.DefaultBounds(),
		[]string{"crash=1"}, nil))(t)
	for _, p := range table.Rows {
		late := p.Lock == "getset" && (p.Verdict == verdict.WrongDel || p.Verdict == verdict.Lie)
		if p.Found != late || !p.Complete || p.Late != 3 {
			t.Errorf("%+v", p)
		}
		if late {
			if o, err := replay(t, p.Trace); err != nil || !slices.Contains(o.Verdicts, p.Verdict) {
				t.Errorf("%s: the trace comes to %v, %v", p.Verdict, o, err)
			}
		}
	}
}

// TestToleranceOfOwnCode: of code that takes a lock by force where its token ends in 7, which no search draws, a
// tolerance gives no answer; of one that only passes its token on it does.
func TestToleranceOfOwnCode(t *testing.T) {
	t.Parallel()
	for end, answered := range map[string]bool{"7": false, "x": true} {
		e := racetest.Lock(t, "token")
		token := e.New
		e.New = func(env lock.Env) lock.Lock {
			return acquiring(func(ctx context.Context, key string) (lock.Lease, error) {
				if strings.HasSuffix(env.Tokens.Token(), end) {
					env.Nodes[0].Del(ctx, key)
				}
				return token(env).Acquire(ctx, key)
			})
		}
		limit := racetest.Must(study.UsualRivals().Limit(t.Context(), e,
			study.Hazard{Fault: "client-clock", Sized: true}))(t)
		if (limit.Answer != study.NoAnswer) != answered {
			t.Errorf("a token that ends in %s: when a clock jumps: %s", end, limit.Answer)
		}
	}
}

// acquiring is a lock made of a function.
type acquiring func(ctx context.Context, key string) (lock.Lease, error)

// Acquire implements lock.Lock.
func (s acquiring) Acquire(ctx context.Context, key string) (lock.Lease, error) { return s(ctx, key) }

// TestFindParsGivenUp: nothing is known of what was given up, or not finished.
func TestFindParsGivenUp(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	b, budgets := search.DefaultBounds(), []string{"crash=1", "pause=1"}
	b.MaxStates = 50
	for ctx, want := range map[context.Context]error{t.Context(): nil, cancelled: context.Canceled} {
		table, err := study.FindPars(ctx, locks(t, "setnx", "token"), b, budgets, nil)
		if !errors.Is(err, want) || len(table.Rows) != 2*len(budgets)*len(study.ParWords()) {
			t.Fatalf("%v, %v", table.Rows, err)
		}
		for i, p := range table.Rows {
			if p.Complete || p.Found || p.Lock == "" || p.Verdict != study.ParWords()[i%len(study.ParWords())] {
				t.Errorf("%+v after 50 states", p)
			}
		}
	}
	tolerance, err := study.FindTolerance(cancelled, locks(t, "token"), nil)
	if !errors.Is(err, context.Canceled) || len(tolerance.Limits) != len(study.Hazards()) {
		t.Fatalf("%v, %v", tolerance.Limits, err)
	}
	for n, h := range study.Hazards() {
		if l := tolerance.Limits[n]; l != (study.Limit{Lock: "token", Fault: h.Fault, Answer: study.NoAnswer}) {
			t.Errorf("%+v", l)
		}
	}
}
