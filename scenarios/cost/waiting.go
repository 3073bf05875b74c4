package cost

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator/client"
	"locklab/simulator/redisnode"
)

// A Load is the work of the clients, and the speed of the server.
type Load struct {
	Service time.Duration // of one command; a script is one
	Latency time.Duration // of one message, on average
	Hold    time.Duration // the time for which a client works inside
	Inside  int           // commands that it sends to the same server meanwhile, one after the other
	Poll    time.Duration // pause of those who poll; the first one of those who back off is an eighth
	Cap     time.Duration // longest pause of those who back off
	TTL     time.Duration
	// Rest is the mean pause of a client between a release and its next request: half of it to one
	// and a half; 0: there is no pause.
	Rest time.Duration
	// Entries is the number of acquisitions after which the run ends; 0: each client acquires the
	// lock once.
	Entries int
	// Most ends a run after so many commands, if the lock was acquired LeastEntries times;
	// 0: none does.
	Most int
}

// LeastEntries are made in every run that goes on.
const LeastEntries = 20

// UsualLoad is a server of a hundred thousand commands in five seconds, in a data centre.
func UsualLoad() Load {
	return Load{Service: 50 * time.Microsecond, Latency: 100 * time.Microsecond, Hold: 5 * time.Millisecond,
		Poll: 100 * time.Millisecond, Cap: time.Second, TTL: 30 * time.Second, Rest: 100 * time.Millisecond, Entries: 2 * MaxClients, Most: 20_000}
}

// A Policy is a way to wait. Its texts are in the catalogues, as policy.<ID>.
type Policy struct {
	ID   string
	Lock string // of the list
	Most int    // clients; more are not played: each change wakes all of them. 0: any number
	// rest returns the pause of a client after a refusal; nil: it waits in the lock's line.
	rest func(a attempt) time.Duration
}

// An attempt is one that was refused.
type attempt struct {
	load   Load
	number int // from 0
	random *rand.Rand
	redis  redis.Cmdable
}

// Policies are all of them.
func Policies() []Policy {
	return []Policy{
		{ID: "none", Lock: "token", rest: func(attempt) time.Duration { return 0 }},
		{ID: "fixed", Lock: "token", rest: func(a attempt) time.Duration { return a.load.Poll }},
		{ID: "jitter", Lock: "token", rest: func(a attempt) time.Duration {
			return a.load.Poll/2 + time.Duration(a.random.Int64N(int64(a.load.Poll)))
		}},
		{ID: "backoff", Lock: "token", rest: func(a attempt) time.Duration {
			return min(a.load.Poll/8<<min(a.number, 20), a.load.Cap)
		}},
		{ID: "pttl", Lock: "token", rest: func(a attempt) time.Duration {
			left, err := a.redis.PTTL(context.Background(), client.Key).Result()
			if err != nil || left < 0 {
				return 0 // gone meanwhile
			}
			return left + time.Millisecond
		}},
		{ID: "pubsub", Lock: "redisson-lock"},
		{ID: "queue", Lock: "queue", rest: func(a attempt) time.Duration { return a.load.Poll }},
		{ID: "herd", Lock: "zk-herd", Most: 50},
		{ID: "line", Lock: "zk-recheck"},
	}
}

// A WaitingResult is the result of one policy with a number of clients.
type WaitingResult struct {
	Policy  string `json:"policy"`
	Clients int    `json:"clients"`
	// Skipped: so many clients were not played. Then all else is empty.
	Skipped bool `json:"skipped,omitempty"`
	Entries int  `json:"entries"`       // how often the lock was acquired
	Cut     bool `json:"cut,omitempty"` // Load.Most ended the run
	// Handover is the mean time between a holder's leaving and the next entry, where a client
	// waited.
	Handover    float64 `json:"handover_mean_s"`
	HandoverP99 float64 `json:"handover_p99_s"`
	Release     float64 `json:"release_mean_s"` // until the server has answered
	Throughput  float64 `json:"entries_per_second"`
	Commands    float64 `json:"commands_per_second"`
	PerEntry    float64 `json:"commands_per_entry"`
	Load        float64 `json:"server_load"` // share of the time in which the server works
	// Jain is Jain's index of how often each client got the lock: 1 if all equally often, 1/n
	// if only one did. Nil: the lock was acquired less than twice for each client.
	Jain *float64 `json:"jain_index"`
	// Overtaken is the largest number of clients that came later than one and entered before it.
	Overtaken int `json:"longest_overtaking"`
	// Herd is the mean number of clients that a release wakes, by messages or watches.
	Herd float64 `json:"herd_size"`
}

// A waiter is one client.
type waiter struct {
	process
	redis     *redis.Client // nil: on ZooKeeper
	lock      lock.Lock
	policy    Policy
	since     int // entries of all clients when it began to wait; -1: it does not wait
	overtakes int // since then
}

// MaxClients is the largest number of clients.
const MaxClients = 2000

// FindWaiting plays each policy with each number of clients: by policy, then by number. w and
// ctx are as for study.Matrix. What was not finished is left out.
func FindWaiting(ctx context.Context, policies []Policy, sizes []int, l Load, w *share.Work) (all []WaitingResult, err error) {
	at := func(i int) (Policy, int) { return policies[i/len(sizes)], sizes[i%len(sizes)] }
	tasks := make([]share.Task, len(policies)*len(sizes))
	for i := range tasks {
		_, n := at(i)
		tasks[i] = share.Task{Cost: 5e-3 * float64(n)}
	}
	results, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (WaitingResult, error) {
		p, n := at(i)
		return PlayWaiting(ctx, p, n, l)
	})
	for _, r := range results {
		if r != nil {
			all = append(all, *r)
		}
	}
	return all, err
}

// PlayWaiting plays one policy. The error is ctx's, or about what the simulation does not support.
func PlayWaiting(ctx context.Context, p Policy, clients int, l Load) (WaitingResult, error) {
	out := WaitingResult{Policy: p.ID, Clients: clients}
	if p.Most > 0 && clients > p.Most {
		out.Skipped = true
		return out, nil
	}
	e, ok := algorithms.ByName(p.Lock)
	if !ok {
		return out, fmt.Errorf("waiting: there is no lock %s", p.Lock)
	}
	r, err := newRun(l, clients, p, e)
	if err != nil {
		return out, err
	}
	defer r.close()
	wanted := clients
	if l.Entries > 0 {
		wanted = l.Entries
		if l.Most > 0 {
			wanted = min(l.Entries, max(2*clients, 10*LeastEntries))
		}
	}
	err = r.play(ctx, func() bool {
		out.Cut = l.Most > 0 && r.served >= l.Most && r.entries >= LeastEntries
		return r.entries >= wanted && (l.Entries > 0 || len(r.releases) == wanted) || out.Cut
	})
	switch {
	case err != nil:
		return out, err
	case r.together+r.lost > 0:
		return out, errors.New("waiting: two clients inside at once")
	}
	r.fill(&out)
	return out, nil
}

// A run is a simulation with its clients and what they have come to.
type run struct {
	*simulation
	load      Load
	waiters   []*waiter
	entries   int
	counts    []float64     // of entries, by client
	inside    int           // clients
	left      time.Duration // when the last holder left; below 0: none has
	handovers []float64
	releases  []float64
	together  int // entries while another client was inside
	lost      int // releases of a lock that was gone
	overtaken int
}

// newRun returns a run of some clients, which wait for a lock in one way.
func newRun(l Load, clients int, p Policy, e lock.Entry) (*run, error) {
	b, err := newSimulation(l.Service, l.Latency)
	if err != nil {
		return nil, err
	}
	r := &run{simulation: b, load: l, counts: make([]float64, clients), left: -1}
	if e.OnZooKeeper() {
		r.ensemble = client.QueuedAt(e.Line(client.Key)) // as in the simulator's runs
	}
	for i := range clients {
		r.add(i, p, e)
	}
	return r, nil
}

// play plays the run until it is over. The error is ctx's, or the reason why it cannot go on.
func (r *run) play(ctx context.Context, over func() bool) error {
	steps := 0
	err := r.run(func() bool {
		steps++
		return over() || steps%4096 == 0 && ctx.Err() != nil
	})
	return errors.Join(err, ctx.Err())
}

// add starts a client at a random moment of the first hold.
func (r *run) add(i int, p Policy, e lock.Entry) {
	w := &waiter{policy: p, since: -1, process: process{simulation: r.simulation, id: i + 1, rng: race.Stream(uint64(i+1), "waiting")}}
	c := &w.process
	env := lock.Env{Clock: clientClock{c}, Tokens: c, TTL: r.load.TTL, Thread: "1"}
	if e.OnZooKeeper() {
		env.ZooKeeper = client.Session{Requester: newSession(c)}
	} else {
		w.redis = redis.NewClient(redisnode.ClientOptions(1, func() net.Conn { return &conn{process: c} }))
		env.Nodes = []redis.UniversalClient{w.redis}
	}
	w.lock = e.New(env)
	r.waiters = append(r.waiters, w)
	c.start(time.Duration(c.rng.Int64N(int64(r.load.Hold)+1)), func() {
		for r.broken == nil {
			r.use(w)
			if r.load.Entries == 0 {
				return
			}
			if d := r.load.Rest; d > 0 {
				w.sleep(d/2 + time.Duration(w.rng.Int64N(int64(d))))
			}
		}
	})
}

// close ends the clients and the simulation.
func (r *run) close() {
	defer r.simulation.redis.Close()
	for _, w := range r.waiters {
		w.stop()
		if w.redis != nil {
			w.redis.Close()
		}
	}
}

// use acquires, works and releases.
func (r *run) use(w *waiter) {
	ctx := context.Background()
	w.since = r.entries
	lease, err := w.policy.await(ctx, w.lock, clientClock{&w.process}, attempt{load: r.load, random: w.rng, redis: w.redis})
	if err == nil {
		r.enter(w)
		w.sleep(r.load.Hold)
		for range r.load.Inside {
			err = errors.Join(err, w.redis.Get(ctx, client.OtherKey).Err())
		}
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		r.inside--
		left := r.now
		r.left = left
		if !slices.ContainsFunc(r.waiters, func(o *waiter) bool { return o.since >= 0 }) {
			r.left = -1 // no client waits for it
		}
		if failed := lease.Release(ctx); errors.Is(failed, lock.ErrNotHeld) {
			r.lost++
		} else {
			err = errors.Join(err, failed)
		}
		r.releases = append(r.releases, (r.now - left).Seconds())
	}
	if err != nil && r.broken == nil {
		r.broken = fmt.Errorf("waiting: c%d: %w", w.id, err)
	}
}

// await acquires a lock, and waits in this way until it gets it. The error is one of Acquire, but for lock.ErrNotAcquired.
func (p Policy) await(ctx context.Context, s lock.Lock, clock lock.Clock, a attempt) (lock.Lease, error) {
	if p.rest == nil {
		q, ok := s.(lock.Queuer)
		if !ok {
			return nil, fmt.Errorf("waiting: %s has no line", p.Lock)
		}
		return q.Await(ctx, client.Key, lock.Forever)
	}
	for ; ; a.number++ {
		lease, err := s.Acquire(ctx, client.Key)
		if !errors.Is(err, lock.ErrNotAcquired) {
			return lease, err
		}
		if d := p.rest(a); d > 0 {
			clock.Sleep(d)
		}
	}
}

// enter notes that a client is inside.
func (r *run) enter(w *waiter) {
	if r.inside++; r.inside > 1 {
		r.together++
	}
	if r.left >= 0 {
		r.handovers = append(r.handovers, (r.now - r.left).Seconds())
	}
	since := w.since
	w.since = -1
	r.counts[w.id-1]++
	r.entries++
	for _, o := range r.waiters { // who waits since before this one did is overtaken
		if o.since >= 0 && o.since < since {
			o.overtakes++
			r.overtaken = max(r.overtaken, o.overtakes)
		}
	}
	w.overtakes = 0
}

func (r *run) fill(out *WaitingResult) {
	out.Entries, out.Jain, out.Overtaken = r.entries, jain(r.counts), r.overtaken
	out.Handover, out.HandoverP99 = mean(r.handovers, nil), p99(r.handovers)
	out.Release = mean(r.releases, nil)
	woken := 0
	for _, w := range r.waiters {
		woken += w.woken
	}
	seconds := r.now.Seconds()
	out.Throughput, out.Commands = float64(r.entries)/seconds, float64(r.served)/seconds
	out.PerEntry = float64(r.served) / float64(max(r.entries, 1))
	out.Load = min(out.Commands*r.load.Service.Seconds(), 1)
	out.Herd = float64(woken) / float64(max(r.entries, 1))
}

// p99 returns the smallest of some numbers that 99 % of them do not exceed; 0 if there is none.
func p99(x []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[int(math.Ceil(0.99*float64(len(x))))-1]
}

// mean returns the mean of numbers, each with its weight (nil: of the same); 0 if there is none.
func mean(x, weights []float64) float64 {
	sum, all := 0.0, 0.0
	for i := range x {
		w := 1.0
		if weights != nil {
			w = weights[i]
		}
		sum, all = sum+w*x[i], all+w
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// jain returns Jain's index of counts: 1 if all are equal, 1/n if all but one are 0. Nil: on
// average they are less than two.
func jain(counts []float64) *float64 {
	total, squares, n := 0.0, 0.0, float64(len(counts))
	for _, c := range counts {
		total, squares = total+c, squares+c*c
	}
	if total < 2*n {
		return nil
	}
	index := total * total / (n * squares)
	return &index
}
