package search_test

import (
	"context"
	"slices"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// permits are semaphores of two that let a third in: with two clients nothing of that can be seen.
func permits() []lock.Entry {
	open := byScripts("open", `redis.call("SET", KEYS[1], "open") return 1`, `return 1`)
	offByOne := byScripts("off-by-one",
		`if redis.call("SCARD", KEYS[1]) > 2 then return 0 end redis.call("SADD", KEYS[1], ARGV[1]) return 1`,
		`return redis.call("SREM", KEYS[1], ARGV[1])`)
	open.Holders, offByOne.Holders = 2, 2
	return []lock.Entry{open, offByOne}
}

// TestTooFewClients: what two clients cannot show of a semaphore is not proved by them, and three show it.
func TestTooFewClients(t *testing.T) {
	t.Parallel()
	for _, e := range permits() {
		two, three := completed(t, e, small(e, 2, 1, "")), completed(t, e, small(e, 3, 1, ""))
		got := two.Unjudged()
		if !slices.Equal(got, []verdict.Word{verdict.Overlap}) || two.Enough() != 3 || !two.Complete {
			t.Errorf("%s: two clients cannot judge %v, three can: %d", e.ID, got, two.Enough())
		}
		if par, found := parsOf(three)[verdict.Overlap]; !found || par != 0 || three.Unjudged() != nil {
			t.Errorf("%s: three clients come to %v, and cannot judge %v", e.ID, three.Pars(), three.Unjudged())
		}
		p, err := search.Prove(t.Context(), e, search.ProofBounds())
		if err != nil || p.Refused != nil || slices.Contains(p.Proved(), verdict.Overlap) {
			t.Errorf("%s: %v, refused: %v, proved %v", e.ID, err, p.Refused, p.Proved())
		} else if s, _ := p.BrokenBy(verdict.Overlap); s == nil || s.Bounds.Clients != 3 {
			t.Errorf("%s: no search of three clients has found what views come to", e.ID)
		}
	}
}

// TestSemaphoreProved: a semaphore of two that names its holders admits no third one, of any number of clients: worlds
// of three clients are stepped. What is not judged where two may hold it is not proved, nor is anything of one that
// admits more than worlds can show.
func TestSemaphoreProved(t *testing.T) {
	t.Parallel()
	e := byScripts("two",
		`if redis.call("SCARD", KEYS[1]) >= 2 then return 0 end redis.call("SADD", KEYS[1], ARGV[1]) return 1`,
		`return redis.call("SREM", KEYS[1], ARGV[1])`)
	e.Holders = 2
	p, err := search.Prove(t.Context(), e, search.ProofBounds())
	if want := []verdict.Word{verdict.Overlap, verdict.Orphan, verdict.Deadlock}; err != nil || p.Refused != nil ||
		!slices.Equal(p.Proved(), want) {
		t.Errorf("%v, refused: %v, proved %v, want %v", err, p.Refused, p.Proved(), want)
	}
	e.Holders = explore.MostHolders + 1
	if p, err = search.Prove(t.Context(), e, search.ProofBounds()); err != nil || p.Refused == nil ||
		len(p.Proved()) > 0 {
		t.Errorf("of four: %v, refused: %v, proved %v", err, p.Refused, p.Proved())
	}
}

// TestReadersAmongWriters: of readers one client is a writer, so that a search has something to find.
func TestReadersAmongWriters(t *testing.T) {
	t.Parallel()
	read := racetest.Lock(t, "zk-read")
	right := completed(t, read, small(read, 2, 1, ""))
	if right.Unjudged() != nil || len(right.Found) > 0 || !right.Complete {
		t.Errorf("zk-read: %v, cannot judge %v", right.Pars(), right.Unjudged())
	}
	blind := read
	blind.New = func(lock.Env) lock.Lock { // it waits for nobody
		return acquiring(func(context.Context, string) (lock.Lease, error) {
			return reporting(func(context.Context) error { return nil }), nil
		})
	}
	if s := completed(t, blind, small(blind, 2, 1, "")); !slices.Contains(s.Pars(), "OVERLAP@0") {
		t.Errorf("a reader that does not see the writer: %v", s.Pars())
	}
	alone := read
	alone.Writer = nil
	if s := completed(t, alone, small(alone, 2, 1, "")); !slices.Equal(s.Unjudged(), []verdict.Word{verdict.Overlap}) ||
		s.Enough() != 0 {
		t.Errorf("readers alone: %v cannot be judged, enough are %d", s.Unjudged(), s.Enough())
	}
}

// TestMeansFree: whose the key of a pool is its last writer does not say. Its free token is no lock, and a missing key
// is one.
func TestMeansFree(t *testing.T) {
	t.Parallel()
	pool := byScripts("pool",
		`if redis.call("SETNX", "made", 1) == 1 then redis.call("LPUSH", KEYS[1], "free") return 0 end
		if redis.call("RPOP", KEYS[1]) then return 1 end return 0`, `return redis.call("LPUSH", KEYS[1], "free")`)
	if s := completed(t, pool, small(pool, 2, 2, "")); !slices.Contains(s.Verdicts(), verdict.WrongDel) {
		t.Errorf("a pool that does not say what its key means: %v", s.Pars())
	}
	pool.Holder = func(value string) string {
		if value == "" {
			return "taken"
		}
		return ""
	}
	if s := completed(t, pool, small(pool, 2, 2, "")); s.Found != nil {
		t.Errorf("a pool that does: %v", s.Pars())
	}
	if s := completed(t, pool, small(pool, 2, 1, "crash=1")); !slices.Equal(s.Pars(), []string{"DEADLOCK@1"}) {
		t.Errorf("whose holder dies: %v", s.Pars())
	}
}

// TestKeptByAsking: a lock that each refusal prolongs is kept for ever by two that ask, though a probe that waits for
// a lease gets it.
func TestKeptByAsking(t *testing.T) {
	t.Parallel()
	const take, release = `if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end `,
		`return redis.call("DEL", KEYS[1])`
	kept := byScripts("refresh-on-refusal", take+`redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 0`, release)
	s := completed(t, kept, small(kept, 2, 1, "crash=1"))
	if !slices.Contains(s.Pars(), "DEADLOCK@1") {
		t.Errorf("refusals that prolong: %v", s.Pars())
	}
	replays(t, s)
	left := byScripts("left", take+`return 0`, release)
	if s := completed(t, left, small(left, 2, 1, "crash=1")); slices.Contains(s.Verdicts(), verdict.Deadlock) {
		t.Errorf("refusals that do not: %v", s.Pars())
	}
	crashing := search.ProofBounds()
	crashing.Budget = "crash=1"
	p, err := search.Prove(t.Context(), kept, crashing)
	if err != nil || slices.Contains(p.Proved(), verdict.Deadlock) {
		t.Errorf("proved %v, %v", p.Proved(), err)
	}
}

const (
	takes    = ` return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) and 1 or 0`
	forces   = ` redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1 end`
	givesOwn = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
)

// TestScriptsAreRead: a script that forces its way in at a token, a counter, or a time to live that no search comes to
// is no lock. Whatever was tried, none of that is proved, and a search says on what condition it claims something.
// What compares a token, passes a counter on, or computes with a time is proved.
func TestScriptsAreRead(t *testing.T) {
	effort.OnlyPushed(t, "it proves for seconds; TestInsight reads the scripts")
	t.Parallel()
	for _, one := range []struct{ name, acquire, says string }{
		{"token-suffix", `if string.sub(ARGV[1], -2) == "17" then` + forces + takes, "looks"},
		{"holder-part", `local h = redis.call("GET", KEYS[1]) if h and string.sub(h, -2) == "17" then` + forces + takes,
			"looks"},
		{"every-4096th", `if redis.call("INCR", "n") % 4096 == 0 then` + forces + takes, "counts"},
	} {
		if one.says == "counts" && !effort.Exhaustive() {
			continue // as many views as may be, which takes half a minute
		}
		e := byScripts(one.name, one.acquire, givesOwn)
		p := racetest.Must(search.Prove(t.Context(), e, search.ProofBounds()))(t)
		if p.Proved() != nil || p.Refused == nil {
			t.Errorf("%s: proved %v", one.name, p.Proved())
		}
		if s := completed(t, e, small(e, 2, 1, "")); slices.Contains(s.If(), "looks") != (one.says == "looks") {
			t.Errorf("%s: a search claims %v if %v", one.name, s.Looked(), s.If())
		}
	}
	band := byScripts("pttl-band",
		`local left = redis.call("PTTL", KEYS[1]) if left > 8300 and left < 8900 then`+forces+
			takes, givesOwn)
	if p := racetest.Must(search.Prove(t.Context(), band,
		search.ProofBounds()))(t); p.Search.Scope() != search.ScopeInstants {
		t.Errorf("pttl-band: proved %v: %s", p.Proved(), p.Search.Scope())
	}
	right := byScripts("right", `if redis.call("GET", KEYS[1]) == ARGV[1] then return 0 end redis.call("INCR", "n") `+
		`local ms = ARGV[2] / 1000`+takes, givesOwn)
	if p := racetest.Must(search.Prove(t.Context(), right, search.ProofBounds()))(t); !slices.Contains(p.Proved(),
		verdict.Overlap) {
		t.Errorf("right: proved %v, refused: %v", p.Proved(), p.Refused)
	}
}
