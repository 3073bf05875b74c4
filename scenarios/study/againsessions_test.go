package study_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// TestAnyAttemptsOnZooKeeper: a search of any number of attempts finds all verdicts of searches of two, and of three where that is small, of
// each lock that lives on sessions. What it finds has a run that can be replayed. What goes on in the background of later attempts is named.
func TestAnyAttemptsOnZooKeeper(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks := []lock.Entry{racetest.Lock(t, "zk-naive"), racetest.Lock(t, "zk-protected"), racetest.Lock(t, "zk-write")}
	budgets, states := []string{"crash=1", "pause=1"}, 20_000
	if effort.Exhaustive() {
		locks, states = algorithms.OnZooKeeper(), 400_000
		budgets = []string{"", "crash=1", "pause=1", "lose-reply=1", "lose-request=1", "expire-session=1"}
	}
	for _, entry := range locks {
		for _, budget := range budgets {
			s, err := study.Explore(t.Context(), entry, again(entry, 2, budget))
			if err != nil || len(s.Open) > 0 {
				t.Fatalf("%s, %s: %v, open %v", entry.ID, budget, err, s.Open)
			}
			if !s.Complete {
				background := !slices.Contains([]string{"zk-naive", "zk-herd", "zk-recheck", "zk-protected"}, entry.ID) && budget != "" && budget != "crash=1"
				if !background || s.Limit.Key != "limit.again.busy" {
					t.Errorf("%s, %s: %v after %d states", entry.ID, budget, s.Limit, s.States)
				}
				continue
			}
			for _, w := range s.Witnesses {
				if o, err := study.ReplayOn(entry, w.Trace); err != nil || !slices.Contains(o.Verdicts, w.Verdict) {
					t.Errorf("%s, %s: the witness of %s comes to %v, %v", entry.ID, budget, w.Verdict, o, err)
				}
			}
			for attempts := 1; attempts <= 3; attempts++ {
				b := small(entry, 2, attempts, budget)
				b.Timing, b.Uses, b.MaxStates = study.AnyTiming, 0, states
				few, err := study.Explore(t.Context(), entry, b)
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range few.Witnesses {
					if !slices.Contains(wordsOf(s), w.Verdict) {
						t.Errorf("%s, %s: %d attempts come to %s, and any number of them only to %v", entry.ID, budget, attempts, w.Verdict, wordsOf(s))
					}
				}
				if few.Complete && attempts == 3 && len(wordsOf(few)) < len(wordsOf(s)) {
					t.Errorf("%s, %s: three attempts come to %v, and any number of them to %v", entry.ID, budget, wordsOf(few), wordsOf(s))
				}
			}
		}
	}
}

// placed is a queue in which a place that is not the first is let in, too, by the numbers of all places, of its token or of its attempts.
type placed struct {
	zk     lock.ZooKeeper
	tokens lock.Tokens
	letIn  string
}

// placesOf are those that processes have made, which no memory of a lock shows.
var placesOf = map[lock.ZooKeeper]int{}

// refused reports whether a place is not let in.
func (l *placed) refused(own int, all []int) bool {
	placesOf[l.zk]++
	first := slices.Min(all)
	last := func(number int) bool { return number%10 < own%10 }
	switch l.letIn {
	case "the fourth":
		return own != first && own != 3
	case "the hundredth":
		return own != first && own%100 != 99
	case "one far behind":
		return own != first && own < first+500
	case "by last digits":
		return slices.ContainsFunc(all, last)
	case "by its second token":
		return own != first && !strings.HasSuffix(l.tokens.Token(), ".2")
	case "in its second attempt":
		return own != first && placesOf[l.zk] != 2
	}
	return own != first
}

func (l *placed) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	path := "/locks/" + key
	for _, above := range []string{"/locks", path} {
		if _, err := l.zk.Create(ctx, above, lock.Persistent); err != nil && !errors.Is(err, lock.ErrNodeExists) {
			return nil, err
		}
	}
	own, err := l.zk.Create(ctx, path+"/lock-", lock.EphemeralSequential)
	if err != nil {
		return nil, err
	}
	names, err := l.zk.Children(ctx, path)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, name := range names {
		number, err := strconv.Atoi(strings.TrimPrefix(name, "lock-"))
		if err != nil {
			return nil, err
		}
		all = append(all, number)
	}
	number, err := strconv.Atoi(strings.TrimPrefix(own, path+"/lock-"))
	if err == nil && l.letIn == "after two" && l.refused(number, all) {
		for _, mark := range []string{"/locks/a", "/locks/b"} {
			if _, err := l.zk.Create(ctx, mark, lock.Persistent); err == nil {
				return nil, cmp.Or(l.zk.Delete(ctx, own), lock.ErrNotAcquired)
			}
		}
		return placedLease{l.zk, own}, nil
	}
	if err != nil || l.refused(number, all) {
		return nil, cmp.Or(err, l.zk.Delete(ctx, own), lock.ErrNotAcquired)
	}
	return placedLease{l.zk, own}, nil
}

type placedLease struct {
	zk   lock.ZooKeeper
	path string
}

func (l placedLease) Release(ctx context.Context) error { return l.zk.Delete(ctx, l.path) }

// TestAnyAttemptsOfNumbers: a lock on an ensemble that looks at more than the order of numbers is refused, and so is one that knows its
// earlier attempts.
func TestAnyAttemptsOfNumbers(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for letIn, want := range map[string]string{
		"": "", "the fourth": "limit.again.order", "the hundredth": "limit.again.order", "one far behind": "limit.again.order",
		"by last digits": "limit.again.order", "by its second token": "limit.again.order", "in its second attempt": "limit.again.rest",
	} {
		entry := racetest.Lock(t, "zk-recheck")
		entry.ID = "placed"
		entry.New = func(env lock.Env) lock.Strategy {
			placesOf[env.ZooKeeper] = 0
			return &placed{env.ZooKeeper, env.Tokens, letIn}
		}
		s, err := study.Explore(t.Context(), entry, again(entry, 2, "crash=1"))
		switch {
		case err != nil:
			t.Errorf("%q: %v", letIn, err)
		case s.Limit.Key != want || s.Complete != (want == ""):
			t.Errorf("%q: complete %t, %v, %v", letIn, s.Complete, s.Limit, wordsOf(s))
		}
	}
}

// TestAnyAttemptsOfSessions: faults that are never used up are refused where what attempts leave in sessions may pile up.
func TestAnyAttemptsOfSessions(t *testing.T) {
	entry := racetest.Lock(t, "zk-naive")
	for budget, want := range map[string]bool{
		"crash=any": true, "expire-session=any": true, "lose-reply=1": true, "lose-reply=any": false, "crash=any,pause=any": false,
	} {
		err := study.CheckSearch(entry, again(entry, 2, budget))
		said := i18n.Error(nil)
		if is := err == nil; is != want || !is && (!errors.As(err, &said) || said.Message().Key != "error.again.sessions") {
			t.Errorf("%s: %v", budget, err)
		}
	}
}

// TestAnyAttemptsOnZooKeeperAtTheThird: a lock that falls at the third attempt of one of two clients, and not before, is found to.
func TestAnyAttemptsOnZooKeeperAtTheThird(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry := racetest.Lock(t, "zk-recheck")
	entry.ID, entry.New = "placed", func(env lock.Env) lock.Strategy { return &placed{env.ZooKeeper, env.Tokens, "after two"} }
	for attempts, want := range map[int]bool{2: false, 3: true, study.AnyAttempts: true} {
		b := again(entry, 2, "")
		b.Attempts = attempts
		s, err := study.Explore(t.Context(), entry, b)
		if err != nil || !s.Complete || slices.Contains(wordsOf(s), verdict.Overlap) != want {
			t.Fatalf("%d attempts: %v, %v", attempts, err, s)
		}
		if attempts == study.AnyAttempts && (len(s.Ways) != 1 || s.Ways[0].Bounds.Attempts != 3) {
			t.Errorf("its witness is not of three attempts: %v", s.Ways)
		}
	}
}
