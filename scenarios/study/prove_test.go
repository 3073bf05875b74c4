package study_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestEndlessBudget: either all faults strike any number of times, or none.
func TestEndlessBudget(t *testing.T) {
	for written, want := range map[string]faults.Budget{"crash=2": "crash=2", "": "", "crash=any": "crash=1", "crash=any,pause=any@2s": "crash=1,pause=1@2s"} {
		got, endless, err := study.EndlessBudget(written)
		if err != nil || got != want || endless != (got != faults.Budget(written)) {
			t.Errorf("%q: %q, %t, %v", written, got, endless, err)
		}
	}
	for _, mixed := range []string{"crash=any,pause=1", "crash=1,pause=any@2s", "crash=any,pause=anything"} {
		if got, _, err := study.EndlessBudget(mixed); err == nil {
			t.Errorf("%q is read as %q", mixed, got)
		}
	}
}

// TestProve: a proof says what is impossible, what breaks with which clients, and nothing where a fault strikes nowhere.
func TestProve(t *testing.T) {
	effort.OnlyExhaustive(t, "it proves twenty locks; one goroutine searches")
	for _, c := range []struct {
		budget  string
		proved  []verdict.Word
		par     int // of OVERLAP; 0: it is proved impossible, or nothing is said
		refused bool
	}{
		{"crash=any", explore.Provable, 0, false},
		{"restart=1", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock}, 1, false},
		{"pause=any@1s", []verdict.Word{verdict.WrongDel, verdict.Lie, verdict.Deadlock}, 4, false}, // one is too short, and no two
		{"expire-session=1", nil, 0, true},
	} {
		budget, endless, err := study.EndlessBudget(c.budget)
		if err != nil {
			t.Fatal(err)
		}
		b := study.DefaultBounds()
		b.Budget = budget
		p, err := study.Prove(t.Context(), racetest.Lock(t, "token"), b, endless)
		if err != nil {
			t.Fatal(err)
		}
		par := 0
		for _, s := range p.Broken {
			for _, w := range s.Witnesses {
				if w.Verdict == verdict.Overlap {
					par = w.Par
				}
			}
		}
		if !slices.Equal(p.Proved(), c.proved) || par != c.par || (p.Refused != nil) != c.refused || p.Closed && len(p.Open) > 0 {
			t.Errorf("%s: proved %v, OVERLAP by %d faults, refused %v, open %v", c.budget, p.Proved(), par, p.Refused, p.Open)
		}
	}
}

// TestProveOfOneAttempt: what a second attempt comes to is not proved, although each client takes the lock once; and where there is
// no proof, searches still find what breaks.
func TestProveOfOneAttempt(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	b := study.DefaultBounds()
	b.Budget = "crash=1"
	p, err := study.Prove(t.Context(), racetest.Lock(t, "reentrant"), b, true)
	if err != nil {
		t.Fatal(err)
	}
	if p.Once.IsZero() || !p.Closed || slices.Contains(p.Proved(), verdict.Overlap) || !slices.Contains(p.Proved(), verdict.WrongDel) {
		t.Errorf("reentrant: closed %t, once %v, proved %v", p.Closed, p.Once, p.Proved())
	}
	b.Budget = "pause=1"
	if p, err = study.Prove(t.Context(), racetest.Lock(t, "queue"), b, false); err != nil {
		t.Fatal(err)
	}
	if p.Refused == nil || p.Proved() != nil || len(p.Broken) == 0 || slices.Contains(p.Open, verdict.Overlap) {
		t.Errorf("queue: refused %v, proved %v, open %v, %d searches", p.Refused, p.Proved(), p.Open, len(p.Broken))
	}
}

// nameless is a lock whose key names no client.
type nameless struct{ env lock.Env }

func (n *nameless) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	taken, err := n.env.Nodes[0].SetNX(ctx, key+":taken", "x", 0).Result()
	if err == nil && !taken {
		err = lock.ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return &namelessLease{n.env.Nodes[0], key + ":taken"}, nil
}

type namelessLease struct {
	node redis.UniversalClient
	key  string
}

func (l *namelessLease) Release(ctx context.Context) error { return l.node.Del(ctx, l.key).Err() }

// TestProveLeavesOpen: what two views come to and no search finds is neither proved nor broken, also on its way between machines.
func TestProveLeavesOpen(t *testing.T) {
	entry := lock.Entry{ID: "nameless", Nodes: 1, New: func(env lock.Env) lock.Strategy { return &nameless{env} }}
	p, err := study.Prove(t.Context(), entry, study.ProofBounds(), false)
	if err != nil {
		t.Fatal(err)
	}
	open := []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Deadlock}
	if !slices.Equal(p.Open, open) || slices.Contains(p.Proved(), verdict.Overlap) || !slices.Contains(p.Proved(), verdict.WrongDel) || p.Broken != nil {
		t.Errorf("open are %v, proved %v, broken %v", p.Open, p.Proved(), p.Broken)
	}
	if views, move := p.Culprit(verdict.Overlap); views[0].Stage != "inside" && views[1].Stage != "inside" || move == "" {
		t.Errorf("the step %q of %v comes to an OVERLAP", move, views)
	}
	sent, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got study.Proof
	if err := json.Unmarshal(sent, &got); err != nil || !slices.Equal(got.Open, open) {
		t.Errorf("read again, open are %v: %v", got.Open, err)
	}
}
