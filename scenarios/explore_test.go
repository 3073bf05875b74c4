package scenarios

import (
	"reflect"
	"runtime"
	"testing"
)

// A search works out what follows on one core and enters it on another. What
// comes of it must not depend on who is faster, even where it is cut short.
func TestSearchOnTwoCores(t *testing.T) {
	b := DefaultBounds()
	b.Clients, b.Budget, b.MaxStates = 3, "crash=1,pause=1,failover=1", 40_000
	var first *Search
	for _, cores := range []int{1, 2, 4} {
		before := runtime.GOMAXPROCS(cores)
		s, err := Explore(t.Context(), one(t, "token")[0], b)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = s
			if s.Result.Complete || s.Result.States < b.MaxStates || len(s.Witnesses) == 0 {
				t.Fatalf("the search was to be cut short with something found: %+v", s.Result)
			}
		}
		if got, want := s.Certificate(), first.Certificate(); got != want {
			t.Errorf("on %d cores:\n%s\non 1:\n%s", cores, got, want)
		}
		if !reflect.DeepEqual(s.Witnesses, first.Witnesses) {
			t.Errorf("on %d cores the witnesses differ", cores)
		}
	}
}
