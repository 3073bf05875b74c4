package search_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/simulator/effort"
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
