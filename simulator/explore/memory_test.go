package explore

import (
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/simulator"
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
	conn   *redis.Client
	mu     sync.Mutex
	at     time.Time
	signal chan int
}

func (r *remembering) own() string { return r.name }

func constant() string { return "constant" }

// memoryOf tells every change apart that a lock could go by, and knows what it cannot read.
func TestMemoryOf(t *testing.T) {
	client := &simulator.Client{}
	made := func() *remembering {
		r := &remembering{held: map[string]int{}, maps: map[string]*int{"lock": new(int)}, lists: map[string][]int{"lock": {0}}, list: make([]int, 1, 4), next: &remembering{}, conn: redis.NewClient(&redis.Options{}), any: lock.ErrNotHeld, draw: constant}
		r.shared, r.token = &r.next.count, r.own
		r.then = nil
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
		"another place, equal content": func(r *remembering) { r.shared = &r.next.next2().count },
		"nothing":                      func(r *remembering) { r.next = nil },
		"another type":                 func(r *remembering) { r.any = &remembering{} },
		"another function":             func(r *remembering) { r.draw = client.Token },
		"another receiver":             func(r *remembering) { r.token = r.next.own },
		"a lock":                       func(r *remembering) { r.mu.Lock() },
		"a time":                       func(r *remembering) { r.at = r.at.Add(1) },
		"another connection":           func(r *remembering) { r.conn = redis.NewClient(&redis.Options{Addr: "127.0.0.1:2"}) },
		"what a map points to":         func(r *remembering) { *r.maps["lock"] = 1 },
		"an element in a map":          func(r *remembering) { r.lists["lock"][0] = 1 },
	} {
		r := made()
		fresh, plain := memoryOf(client, r)
		if again, _ := memoryOf(client, r); !plain || again != fresh {
			t.Fatalf("a lock that has not changed: readable %t, the same %t", plain, again == fresh)
		}
		change(r)
		if now, _ := memoryOf(client, r); now == fresh {
			t.Errorf("%s: no change is seen", what)
		}
	}
	calls := 0
	for what, change := range map[string]func(r *remembering){
		"a closure":              func(r *remembering) { r.then = func() { calls++ } },
		"a foreign method":       func(r *remembering) { r.token = (&remembering{}).own },
		"a channel":              func(r *remembering) { r.signal = make(chan int) },
		"a pointer as a key":     func(r *remembering) { r.any = map[*int]int{new(int): 1} },
		"another client":         func(r *remembering) { r.any = &simulator.Client{} },
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

// What the simulator gives to a client is read by its name: a clock leads to the whole process.
func TestMemoryOfClock(t *testing.T) {
	r := &remembering{any: new(process.Code).Clock()}
	if _, plain := memoryOf(&simulator.Client{}, r); !plain {
		t.Error("a lock with a clock is said to be unreadable")
	}
}

// A lock that keeps a method of its client can be read, and one that keeps another client's cannot.
func TestMemoryOfMethods(t *testing.T) {
	type keeping struct{ parallel func(tasks ...func()) }
	client, other := &simulator.Client{Code: new(process.Code)}, &simulator.Client{Code: new(process.Code)}
	for _, c := range []*simulator.Client{client, other} {
		if _, plain := memoryOf(client, &keeping{c.Parallel}); plain != (c == client) {
			t.Errorf("a method of its own client %t: read %t", c == client, plain)
		}
	}
}

// next2 is another place with the same content.
func (r *remembering) next2() *remembering { return &remembering{} }
