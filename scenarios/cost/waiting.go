package cost

import (
	"cmp"
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
	Work    time.Duration // for which a client is inside
	Poll    time.Duration // pause of those who poll; the first one of those who back off is an eighth
	Cap     time.Duration // longest pause of those who back off
	TTL     time.Duration
	Rest    time.Duration // mean pause between a release and the next request: half of it to one and a half
	// Most ends a run after so many commands, if the lock was acquired leastEntries times.
	Most int
}

// A run ends when each client has acquired the lock twice on average, and it usualEntries times.
const (
	usualEntries = 200
	leastEntries = 20
)

// UsualLoad is a server of a hundred thousand commands in five seconds, in a data centre.
func UsualLoad() Load {
	return Load{Service: 50 * time.Microsecond, Latency: 100 * time.Microsecond, Work: 5 * time.Millisecond,
		Poll: 100 * time.Millisecond, Rest: 100 * time.Millisecond, Cap: time.Second, TTL: 5 * time.Second,
		Most: 20_000}
}

// A Policy is a way to wait. Its texts are in the catalogues, as policy.<ID>.
type Policy struct {
	ID   string
	Lock string // of the list
	// rest returns the pause of a client after its n-th refusal, from 0; nil: it waits in the lock's line.
	rest func(w *waiter, n int) time.Duration
}

// Policies are all of them.
func Policies() []Policy {
	fixed := func(w *waiter, _ int) time.Duration { return w.load.Poll }
	return []Policy{
		{"none", "token", func(*waiter, int) time.Duration { return 0 }},
		{"fixed", "token", fixed},
		{"jitter", "token", func(w *waiter, _ int) time.Duration { return around(w.load.Poll, w.random) }},
		{"backoff", "token",
			func(w *waiter, n int) time.Duration { return min(w.load.Poll/8<<min(n, 20), w.load.Cap) }},
		{"pttl", "token", func(w *waiter, _ int) time.Duration {
			left, err := w.redis.PTTL(context.Background(), client.Key).Result()
			if err != nil || left < 0 {
				return 0 // gone meanwhile
			}
			return left + time.Millisecond
		}},
		{"pubsub", "redisson-lock", nil},
		{"queue", "queue", fixed},
		{"herd", "zk-herd", nil},
		{"line", "zk-recheck", nil},
	}
}

// around draws a duration from half of d to one and a half.
func around(d time.Duration, random *rand.Rand) time.Duration {
	return d/2 + time.Duration(random.Int64N(int64(d)))
}

// A Waiting is what runs of one policy with a number of clients come to.
type Waiting struct {
	Policy  string `json:"policy"`
	Clients int    `json:"clients"`
	Runs    int    `json:"runs"`      // each with random numbers of its own
	Entries int    `json:"entries"`   // how often the lock was acquired, in all of them
	Cut     bool   `json:"truncated"` // Load.Most ended one of them
	// The time from a holder's leaving, while a client waits, to the next entry, if it is another client's: nine of ten
	// lie between Quick and Slow, and the means of the runs between Least and Most. 0: there was none.
	Handovers int           `json:"handovers"`
	Handover  time.Duration `json:"handover_mean_ns,omitzero"`
	Least     time.Duration `json:"handover_least_run_ns,omitzero"`
	Most      time.Duration `json:"handover_largest_run_ns,omitzero"`
	Quick     time.Duration `json:"handover_p5_ns,omitzero"`
	Slow      time.Duration `json:"handover_p95_ns,omitzero"`
	Commands  float64       `json:"commands_per_second"`
	PerEntry  float64       `json:"commands_per_entry"`
	Load      float64       `json:"server_load"`  // share of the time in which the server works
	Served    float64       `json:"share_served"` // share of the clients that got the lock at all
	// Jain is Jain's index of how often each client got the lock: 1 if all equally often, 1/n if only one did. Nil: the
	// lock was acquired less than twice for each client.
	Jain *float64 `json:"jain_index"`
	// Overtaken is the largest number of clients that came later than one and entered before it.
	Overtaken int     `json:"longest_overtaking"`
	Herd      float64 `json:"herd_size"` // mean number of clients that a release wakes, by messages or watches
}

// WaitingRuns is how often each policy is played with each number of clients.
const WaitingRuns = 5

// MaxClients is the largest number of clients.
const MaxClients = 2000

// FindWaiting plays each policy with each number of clients: by policy, then by number. w and ctx are as for
// study.Matrix. What was not finished is left out.
func FindWaiting(ctx context.Context, all []Policy, sizes []int, l Load, w *share.Work) (found []Waiting, err error) {
	tasks := make([]share.Task, len(all)*len(sizes))
	for i := range tasks {
		tasks[i].Cost = 5e-3 * float64(sizes[i%len(sizes)])
	}
	results, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (Waiting, error) {
		return PlayWaiting(ctx, all[i/len(sizes)], sizes[i%len(sizes)], l)
	})
	for _, r := range results {
		if r != nil {
			found = append(found, *r)
		}
	}
	return found, err
}

// PlayWaiting plays one policy, WaitingRuns times. The error is ctx's, or about what the simulation does not support.
func PlayWaiting(ctx context.Context, p Policy, clients int, l Load) (out Waiting, err error) {
	e, ok := algorithms.ByName(p.Lock)
	if !ok {
		return out, fmt.Errorf("waiting: there is no lock %s", p.Lock)
	}
	runs := make([]*run, WaitingRuns)
	for seed := range runs {
		if runs[seed], err = playRun(ctx, p, e, clients, seed, l); err != nil {
			return out, err
		}
	}
	return waitingOf(p, clients, runs), nil
}

// playRun plays one run, whose random numbers are those of a seed.
func playRun(ctx context.Context, p Policy, e lock.Entry, clients, seed int, l Load) (*run, error) {
	s, err := newSimulation(l.Service, l.Latency)
	if err != nil {
		return nil, err
	}
	r := &run{simulation: s, load: l, left: -1}
	defer r.close()
	if e.OnZooKeeper() {
		r.ensemble = client.QueuedAt(e.Line(client.Key)) // as in the simulator's runs
	}
	for i := range clients {
		r.add(i, p, e, race.Stream(uint64(seed)<<32+uint64(i+1), "waiting"))
	}
	wanted, steps := max(2*clients, usualEntries), 0
	err = r.play(func() bool {
		steps++
		r.cut = r.served >= l.Most && r.entries >= leastEntries
		return r.cut || r.entries >= wanted || steps%4096 == 0 && ctx.Err() != nil
	})
	return r, errors.Join(err, ctx.Err())
}

// A run is a simulation with its clients and what they have come to.
type run struct {
	*simulation
	load      Load
	waiters   []*waiter
	entries   int
	inside    int           // clients
	cut       bool          // Load.Most ended it
	last      *waiter       // the last holder
	left      time.Duration // when it left; below 0: none has, or no client waited then
	handovers []time.Duration
	overtaken int
}

// A waiter is one client.
type waiter struct {
	process
	load      Load
	redis     *redis.Client // nil: on ZooKeeper
	lock      lock.Lock
	policy    Policy
	entries   int
	since     int // entries of all clients when it began to wait; -1: it does not wait
	overtakes int // since then
}

// add starts a client at a random moment of the first hold.
func (r *run) add(i int, p Policy, e lock.Entry, random *rand.Rand) {
	w := &waiter{policy: p, load: r.load, since: -1,
		process: process{simulation: r.simulation, id: i + 1, random: random}}
	env := lock.Env{Clock: clientClock{&w.process}, Tokens: &w.process, TTL: r.load.TTL, Thread: "1"}
	if e.OnZooKeeper() {
		env.ZooKeeper = client.Session{Requester: newSession(&w.process)}
	} else {
		w.redis = redis.NewClient(redisnode.ClientOptions(1, func() net.Conn { return &conn{process: &w.process} }))
		env.Nodes = []redis.UniversalClient{w.redis}
	}
	w.lock = e.New(env)
	r.waiters = append(r.waiters, w)
	w.start(time.Duration(random.Int64N(int64(r.load.Work)+1)), func() {
		for r.broken == nil {
			if err := r.use(w); err != nil {
				r.broken = cmp.Or(r.broken, fmt.Errorf("waiting: c%d: %w", w.id, err))
			}
			w.sleep(around(r.load.Rest, random))
		}
	})
}

// close ends the clients and the simulation.
func (r *run) close() {
	defer r.redis.Close()
	for _, w := range r.waiters {
		w.stop()
		if w.redis != nil {
			w.redis.Close()
		}
	}
}

// use acquires, works and releases.
func (r *run) use(w *waiter) error {
	w.since = r.entries
	lease, err := w.await()
	if err != nil {
		return err
	}
	if err := r.enter(w); err != nil {
		return err
	}
	w.sleep(r.load.Work)
	r.inside--
	r.last, r.left = w, -1
	if slices.ContainsFunc(r.waiters, func(o *waiter) bool { return o.since >= 0 }) {
		r.left = r.now
	}
	return lease.Release(context.Background())
}

// await acquires the lock, and waits for it in the policy's way. Its errors are Acquire's without lock.ErrNotAcquired.
func (w *waiter) await() (lock.Lease, error) {
	ctx := context.Background()
	if w.policy.rest == nil {
		q, ok := w.lock.(lock.Queuer)
		if !ok {
			return nil, fmt.Errorf("%s has no line", w.policy.Lock)
		}
		return q.Await(ctx, client.Key, lock.Forever)
	}
	for n := 0; ; n++ {
		lease, err := w.lock.Acquire(ctx, client.Key)
		if !errors.Is(err, lock.ErrNotAcquired) {
			return lease, err
		}
		if d := w.policy.rest(w, n); d > 0 {
			w.sleep(d)
		}
	}
}

// enter notes that a client is inside.
func (r *run) enter(w *waiter) error {
	if r.inside++; r.inside > 1 {
		return errors.New("two clients inside at once")
	}
	if r.left >= 0 && r.last != w { // it hands the lock over to no client but another
		r.handovers = append(r.handovers, r.now-r.left)
	}
	for _, o := range r.waiters { // who waits since before this one did is overtaken
		if o.since >= 0 && o.since < w.since {
			o.overtakes++
			r.overtaken = max(r.overtaken, o.overtakes)
		}
	}
	w.since, w.overtakes = -1, 0
	w.entries++
	r.entries++
	return nil
}

// handover is the mean of the handovers; 0: there was none.
func (r *run) handover() (mean time.Duration) {
	for _, d := range r.handovers {
		mean += d
	}
	return mean / time.Duration(max(len(r.handovers), 1))
}

// waitingOf puts runs of a policy together: handovers are those of all, and what is counted is the mean of the runs.
func waitingOf(p Policy, clients int, runs []*run) Waiting {
	out, fair, all := Waiting{Policy: p.ID, Clients: clients, Runs: len(runs)}, 0.0, &run{}
	for _, r := range runs {
		total, squares, woken, n := float64(r.entries), 0.0, 0, float64(len(runs))
		for _, w := range r.waiters {
			squares, woken = squares+float64(w.entries*w.entries), woken+w.woken
			out.Served += float64(min(w.entries, 1)) / float64(clients*len(runs))
		}
		if mean := r.handover(); mean > 0 {
			if out.Least == 0 || mean < out.Least {
				out.Least = mean
			}
			out.Most = max(out.Most, mean)
		}
		all.handovers = append(all.handovers, r.handovers...)
		out.Entries, out.Overtaken, out.Cut = out.Entries+r.entries, max(out.Overtaken, r.overtaken), out.Cut || r.cut
		out.Commands += float64(r.served) / r.now.Seconds() / n
		out.PerEntry += float64(r.served) / max(total, 1) / n
		out.Herd += float64(woken) / max(total, 1) / n
		if total < float64(2*clients) {
			fair = math.NaN()
		}
		fair += total * total / (float64(clients) * squares) / n
	}
	if slices.Sort(all.handovers); len(all.handovers) > 0 {
		n := len(all.handovers)
		out.Handovers = n
		out.Handover, out.Quick, out.Slow = all.handover(), all.handovers[n/20], all.handovers[n-1-n/20]
	}
	if !math.IsNaN(fair) {
		out.Jain = &fair
	}
	out.Load = min(out.Commands*runs[0].load.Service.Seconds(), 1)
	return out
}
