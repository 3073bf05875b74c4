package study_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/i18n"
)

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
	number := func(name string) int {
		n, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
		if err != nil {
			panic(err)
		}
		return n
	}
	var all []int
	for _, name := range names {
		all = append(all, number(name))
	}
	refused := l.refused(number(own), all)
	for _, mark := range []string{"/locks/a", "/locks/b"} {
		if refused && l.letIn == "after two" {
			_, err := l.zk.Create(ctx, mark, lock.Persistent)
			if err == nil {
				break
			}
			refused = mark == "/locks/a"
		}
	}
	if refused {
		return nil, cmp.Or(l.zk.Delete(ctx, own), lock.ErrNotAcquired)
	}
	return reporting(func(ctx context.Context) error { return l.zk.Delete(ctx, own) }), nil
}

// placing is a lock of such a queue.
func placing(letIn string) lock.Entry {
	entry, err := race.Strategy("zk-recheck")
	if err != nil {
		panic(err)
	}
	entry.ID, entry.New = "placed", func(env lock.Env) lock.Strategy {
		placesOf[env.ZooKeeper] = 0
		return &placed{env.ZooKeeper, env.Tokens, letIn}
	}
	return entry
}

// TestAnyAttemptsOfNumbers: a lock on an ensemble that looks at more than the order of numbers is refused, and so is one that knows its
// earlier attempts.
func TestAnyAttemptsOfNumbers(t *testing.T) {
	for letIn, want := range map[string]string{
		"": "", "the fourth": "limit.again.order", "the hundredth": "limit.again.order", "one far behind": "limit.again.order",
		"by last digits": "limit.again.order", "by its second token": "limit.again.order", "in its second attempt": "limit.again.rest",
	} {
		entry := placing(letIn)
		s := explored(t, entry, again(entry, 2, "crash=1"))
		if s.Limit.Key != want || s.Complete != (want == "") {
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
