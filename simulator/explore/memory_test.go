package explore

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/hypothesis"
	"locklab/simulator/process"
)

type remembering struct {
	count  int
	name   string
	held   map[string]int
	maps   map[string]*int
	lists  map[string][]int
	list   []int
	next   *remembering
	shared *int
	any    any
	token  func() string
	draw   func() string
	then   func()
	tasks  func(...func())
	conn   *redis.Client
	mu     sync.Mutex
	at     time.Time
	signal chan int
}

func (r *remembering) own() string { return r.name }

func constant() string { return "constant" }

// memoryOf tells every change apart that a lock could go by, and knows what it cannot read.
func TestMemoryOf(t *testing.T) {
	client, other := &simulator.Client{Code: new(process.Code)}, &simulator.Client{Code: new(process.Code)}
	made := func() *remembering {
		r := &remembering{
			held: map[string]int{}, maps: map[string]*int{"lock": new(int)}, lists: map[string][]int{"lock": {0}},
			list: make([]int, 1, 4), next: &remembering{}, conn: redis.NewClient(&redis.Options{}),
			any: lock.ErrNotHeld, draw: constant,
		}
		r.shared, r.token = &r.next.count, r.own
		return r
	}
	for what, change := range map[string]func(r *remembering){
		"a number":                     func(r *remembering) { r.count++ },
		"a text":                       func(r *remembering) { r.name = "x" },
		"a key of a map":               func(r *remembering) { r.held["lock"] = 0 },
		"an element":                   func(r *remembering) { r.list[0] = 1 },
		"an element behind the end":    func(r *remembering) { r.list = append(r.list, 1)[:1] },
		"another length":               func(r *remembering) { r.list = r.list[:0] },
		"what is pointed to":           func(r *remembering) { r.next.count = 1 },
		"a cycle":                      func(r *remembering) { r.next.next = r },
		"another place, equal content": func(r *remembering) { r.shared = &new(remembering).count },
		"nothing":                      func(r *remembering) { r.next = nil },
		"another type":                 func(r *remembering) { r.any = &remembering{} },
		"another function":             func(r *remembering) { r.draw = client.Token },
		"another receiver":             func(r *remembering) { r.token = r.next.own },
		"a lock":                       func(r *remembering) { r.mu.Lock() },
		"a time":                       func(r *remembering) { r.at = r.at.Add(1) },
		"another connection": func(r *remembering) {
			r.conn = redis.NewClient(&redis.Options{Addr: "127.0.0.1:2"})
		},
		"what a map points to": func(r *remembering) { *r.maps["lock"] = 1 },
		"an element in a map":  func(r *remembering) { r.lists["lock"][0] = 1 },
		// A clock leads to the process.
		"a clock":                func(r *remembering) { r.any = new(process.Code).Clock() },
		"a method of its client": func(r *remembering) { r.tasks = client.Parallel },
	} {
		r := made()
		fresh, plain := memoryOf(client, r)
		if again, _ := memoryOf(client, r); !plain || again != fresh {
			t.Fatalf("a lock that has not changed: readable %t, the same %t", plain, again == fresh)
		}
		change(r)
		if now, plain := memoryOf(client, r); now == fresh || !plain {
			t.Errorf("%s: no change is seen, or it is said to be unreadable", what)
		}
	}
	calls := 0
	for what, change := range map[string]func(r *remembering){
		"a closure":              func(r *remembering) { r.then = func() { calls++ } },
		"a foreign method":       func(r *remembering) { r.token = (&remembering{}).own },
		"a channel":              func(r *remembering) { r.signal = make(chan int) },
		"a pointer as a key":     func(r *remembering) { r.any = map[*int]int{new(int): 1} },
		"another client":         func(r *remembering) { r.any = &simulator.Client{} },
		"another's method":       func(r *remembering) { r.tasks = other.Parallel },
		"a closure far away":     func(r *remembering) { r.next.any = []any{func() { calls++ }} },
		"more than anyone reads": func(r *remembering) { r.list = make([]int, maxMemory) },
	} {
		r := made()
		change(r)
		if _, plain := memoryOf(client, r); plain {
			t.Errorf("%s is said to be read", what)
		}
	}
}

// TestLookahead: workers change nothing. Every state, every way to it and every entry of the tables has
// the number that it has without them. A search that ends at a limit may have computed more by then than it has
// entered: one goroutine computes, while another one enters. So the tables are compared as far as both go.
func TestLookahead(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, id := range []string{"token", "getset", "zk-recheck"} {
		b := effectsOf(t, id, "crash=1,pause=1", Limits{MaxStates: 50_000})
		b.Attempts, b.Timing = 2, anyTiming(9*time.Second)
		with := searched(t, b)
		b.Plain.Workers = true
		without := searched(t, b)
		if len(with.ahead.workers) == 0 || len(without.ahead.workers) > 0 {
			t.Errorf("%s: %d workers, and %d without them", id, len(with.ahead.workers), len(without.ahead.workers))
		}
		if got, want := with.result(), without.result(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
		if !reflect.DeepEqual(with.visited.states, without.visited.states) {
			t.Errorf("%s: the states differ", id)
		}
		if !beginAlike(with.choices, without.choices) || !beginAlike(with.nodeTab.Keys, without.nodeTab.Keys) ||
			!beginAlike(with.judgeTab.Keys, without.judgeTab.Keys) {
			t.Errorf("%s: the tables differ", id)
		}
	}
}

// beginAlike reports whether two lists are the same as far as both go, and go nearly as far.
func beginAlike[E comparable](a, b []E) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n]) && 10*n >= 9*max(len(a), len(b))
}

// TestKnown: a worker leaves a state to the search where the tables lack something, and hides no other error.
func TestKnown(t *testing.T) {
	s := searched(t, effectsOf(t, "token", "", Limits{}))
	known := func(words []uint32, change func(by *successors)) (all bool, problem any) {
		defer func() { problem = recover() }()
		by := *newReader(s.successors)
		by.cur, by.next, by.out = make([]uint32, s.stride()), make([]uint32, s.stride()), &batch{width: s.stride()}
		change(&by)
		return known(&by, 0, words), nil
	}
	start, unmet := slices.Clone(s.visited.states.words(0)), slices.Clone(s.visited.states.words(0))
	unmet[s.judgeAt] = 1 << 20
	if all, problem := known(start, func(*successors) {}); !all || problem != nil {
		t.Errorf("the start: %t, %v", all, problem)
	}
	if all, problem := known(unmet, func(*successors) {}); all || problem != nil {
		t.Errorf("a state of which the tables know nothing: %t, %v", all, problem)
	}
	if _, problem := known(start, func(by *successors) { by.cur = by.cur[:1] }); problem == nil {
		t.Error("an index that is out of range was taken for something that the tables lack")
	}
}

// TestRefine: what refutes an assumption weakens it and, but for the memory of code that reads a clock, no
// other; another error weakens nothing.
func TestRefine(t *testing.T) {
	type assumed = hypothesis.Set
	strongest := assumptions{Set: hypothesis.Set{
		Symmetric: 3, Merging: hypothesis.MergeHistories, Measures: true, Creations: true, Rests: true,
	}}
	reads, measures := simulator.Traits{ReadsClock: true}, simulator.Traits{Measured: true}
	for _, test := range []struct {
		name           string
		counterexample error
		seen           simulator.Traits
		weaken         func(a *assumed)
	}{
		{"a time of day", &hypothesis.Refuted{Of: hypothesis.Measures}, measures,
			func(a *assumed) { a.Measures = false }},
		{"a split", &hypothesis.Refuted{Of: hypothesis.Merged}, simulator.Traits{}, func(*assumed) {}},
		{"the last split", &hypothesis.Refuted{Of: hypothesis.Merged, End: true}, simulator.Traits{},
			func(a *assumed) { a.Merging = hypothesis.MergeOrders }},
		{"an asymmetry", &hypothesis.Refuted{Of: hypothesis.Alike, Session: true}, simulator.Traits{},
			func(a *assumed) { a.Symmetric = 0 }},
		{"a clock is read", errNewTrait, reads,
			func(a *assumed) { a.Measures, a.Merging = false, hypothesis.MergeOrders }},
		{"a clock measures", errNewTrait, measures, func(a *assumed) { a.Merging = hypothesis.MergeOrders }},
		{"another trait", errNewTrait, simulator.Traits{SendsWait: true}, func(*assumed) {}},
	} {
		want := strongest.Set
		test.weaken(&want)
		got, refuted := strongest.refine(test.counterexample, test.seen)
		if !refuted || got.Set != want {
			t.Errorf("%s: %+v, refuted %t; want %+v", test.name, got.Set, refuted, want)
		}
	}
	got, refuted := strongest.refine(errors.New("the code panicked"), reads)
	if refuted || got.Set != strongest.Set {
		t.Errorf("an error that is about no assumption: %+v, refuted %t", got.Set, refuted)
	}
	if got, _ := strongest.refine(&hypothesis.Refuted{Of: hypothesis.Alike, Was: "GET"},
		reads); got.asymmetry.Was != "GET" {
		t.Errorf("why clients are not interchangeable is lost: %+v", got.asymmetry)
	}
}

func TestProperSubset(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want bool
	}{
		{nil, []string{"x"}, true}, {[]string{"x"}, []string{"x"}, false}, {[]string{"x"}, []string{"w", "x"}, true},
		{[]string{"x", "x"}, []string{"w", "x", "y"}, false}, {[]string{"x", "y"}, []string{"x"}, false},
	} {
		if got := properSubset(c.a, c.b); got != c.want {
			t.Errorf("properSubset(%q, %q) = %t", c.a, c.b, got)
		}
	}
}
