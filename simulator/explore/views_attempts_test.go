package explore_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"locklab/faults"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

var (
	made   sync.Map // how many attempts strategies have made
	seldom = func(ends string, f *asking, ctx context.Context, key string) (bool, error) {
		if strings.HasSuffix(f.token, ends) {
			return true, nil
		}
		return f.set(ctx, key)
	}
)

// laterAttempts fall in the second or third attempt of a process, by what is not in the memory of their strategies.
var laterAttempts = []struct {
	name, refused, once string // the key of the reason for which there is no proof, or one of one attempt
	budget              faults.Budget
	attempts            int
	timing              study.Mode
	code                code
}{
	{"token ends in 3", "prove.rest", "", "", 3, study.Lockstep, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		return seldom("3", f, ctx, key)
	}}},
	{"token ends in 3, for a script", "prove.names", "", "", 3, study.Lockstep, code{acquire: refused(byScript(`return string.sub(ARGV[1], -1) == '3' and 1 or 0`))}},
	{"the owner's token is of the same process", "prove.names", "", "lose-reply=1", 2, study.AnyTiming, code{acquire: refused(func(f *asking, ctx context.Context, key string) (bool, error) {
		mine, _, _ := strings.Cut(f.token, ".")
		who, err := f.node.Get(ctx, key).Result()
		return err == nil && strings.HasPrefix(who, mine+"."), nil
	})}},
	{"the owner's token is of the same process, for a script", "prove.names", "", "lose-reply=1", 2, study.AnyTiming, code{acquire: refused(byScript(
		`return string.sub(redis.call('GET', KEYS[1]), 1, 3) == string.sub(ARGV[1], 1, 3) and 1 or 0`))}},
	{"a map was made", "", "prove.once.memory", "", 2, study.Lockstep, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		was := f.marks != nil
		f.marks = map[string]bool{}
		if was {
			return true, nil
		}
		return f.set(ctx, key)
	}}},
	{"a global variable counts", "prove.rest", "", "", 2, study.Lockstep, code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		n, _ := made.LoadOrStore(f.falling, new(int))
		if *n.(*int)++; *n.(*int) > 1 {
			return true, nil
		}
		return f.set(ctx, key)
	}}},
}

// TestViewsOfLaterAttempts: what only a later attempt of a process does is found by a search of so many attempts, and is no secret of
// proofs for any number of them.
func TestViewsOfLaterAttempts(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, c := range laterAttempts {
		entry := fallingEntry(c.name, c.code)
		b := study.DefaultBounds()
		b.Retries, b.Nodes, b.Work, b.Budget, b.MaxStates = 0, 1, 3*time.Second, c.budget, 200_000
		b.Timing, b.Clients, b.Attempts = c.timing, 2, c.attempts
		if !comesTo(t, entry, b, verdict.Overlap) {
			t.Errorf("%s: 2 clients with %d attempts do not come to OVERLAP", c.name, c.attempts)
		}
		proof, refused := proofOf(t, entry, viewBounds(c.budget), false, 10_000)
		if refused != c.refused || proof.Once.Key != c.once && refused == "" {
			t.Errorf("%s: closed %t, once %v, %v", c.name, proof.Closed, proof.Once, proof.Refused)
		}
	}
}

// TestViewsJudgeAttemptsApart: a process that enters beside the key that its first attempt has left, and says in its second one that it was not
// its own, tells a LIE to a search of two attempts. To a proof the key is another client's: as its certificate says.
func TestViewsJudgeAttemptsApart(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := fallingEntry(t.Name(), code{acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		taken, err := f.set(ctx, key)
		switch {
		case err != nil:
			return false, f.node.Set(ctx, key+":lost", "x", 0).Err()
		case taken:
			return true, nil
		}
		n, err := f.node.Del(ctx, key+":lost").Result()
		return n == 1, err
	}})
	b := study.DefaultBounds()
	b.Retries, b.Nodes, b.Work, b.Budget, b.MaxStates = 0, 1, 3*time.Second, "lose-reply=1", 200_000
	b.Timing, b.Clients, b.Attempts = study.AnyTiming, 2, 2
	if !comesTo(t, entry, b, verdict.Lie) {
		t.Error("2 clients with 2 attempts do not come to LIE")
	}
	b.Clients = 2 + explore.Outsiders
	neverExcluded(t, entry, b, false, verdict.Overlap, true)
}
