package explore_test

import (
	"context"
	"slices"
	"testing"

	"locklab/faults"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// nameless is a lock whose key names no client. Of views of one client any two can be inside: a third one gives the lock back, and what is
// shared does not say whose it was.
var nameless = code{
	acquire: func(f *asking, ctx context.Context, key string) (bool, error) {
		return f.node.SetNX(ctx, key+":taken", "x", 0).Result()
	},
	release: func(f *asking, ctx context.Context, key string) error {
		return f.node.Del(ctx, key+":taken").Err()
	},
}

// TestPairs: pairs exclude what only views of one client come to, and nothing that a search finds.
func TestPairs(t *testing.T) {
	entry := fallingEntry("nameless", nameless)
	excluded := []verdict.Word{verdict.Overlap, verdict.StaleWrite}
	for budget, safe := range map[faults.Budget]bool{"": true, "crash=1": true, "lose-reply=1": true, "pause=1@2s": true, "restart=1": false} {
		views, _ := proofOf(t, entry, viewBounds(budget), false, 20_000)
		proof, err := explore.ProvePairs(t.Context(), modelOf(t, entry, viewBounds(budget)), false, views)
		switch {
		case err != nil:
			t.Fatal(err)
		case safe && (!slices.Equal(proof.Paired, excluded) || proof.Pairs == 0 || proof.Triples == 0):
			t.Errorf("%q: pairs exclude %v, with %d pairs and %d worlds of three", budget, proof.Paired, proof.Pairs, proof.Triples)
		case !safe && (len(proof.Paired) > 0 || !slices.Contains(proof.Harms, verdict.Overlap)):
			t.Errorf("%q: pairs exclude %v, and not %v", budget, proof.Paired, proof.Harms)
		}
		b := viewBounds(budget)
		b.Clients, b.Attempts = 2, 1
		found, err := explore.Search(t.Context(), modelOf(t, entry, b))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range found.Found {
			if slices.Contains(proof.Paired, w.Verdict) {
				t.Errorf("%q: %s is excluded, and found", budget, w.Verdict)
			}
		}
	}
}

// TestPairsCover: each two clients of every state of two, three and four clients are a pair. Without some of the pairs the test fails.
func TestPairsCover(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes pairs for seconds; one goroutine searches")
	covered := func(m *explore.Model, without int) []explore.Covering {
		t.Helper()
		list, err := explore.UncoveredPairs(t.Context(), m, false, 20_000, []int{2, 3, 4}, 1500, without)
		if err != nil || list == nil {
			t.Fatalf("no pairs: %v", err)
		}
		return list
	}
	models := map[string]*explore.Model{}
	for _, budget := range []faults.Budget{"", "crash=1", "restart=1", "lose-reply=1", "pause=1@2s"} {
		models["nameless, "+string(budget)] = modelOf(t, fallingEntry("nameless", nameless), viewBounds(budget))
		for _, id := range []string{"setnx", "token", "thread-id"} {
			models[id+", "+string(budget)] = modelOf(t, lockOf(t, id), viewBounds(budget))
		}
	}
	for name, m := range models {
		for _, c := range covered(m, 0) {
			if c.Missing > 0 {
				t.Errorf("%s: two clients are no pair: %+v", name, c)
			}
		}
	}
	if list := covered(modelOf(t, lockOf(t, "token"), viewBounds("crash=1")), 7); list[0].Missing == 0 {
		t.Errorf("without every seventh pair: %+v", list)
	}
}
