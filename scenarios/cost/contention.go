package cost

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/gonum/stat"

	"locklab/algorithms/lock"
)

// A Contender is a lock, and a way to wait for it.
type Contender struct {
	Policy Policy
	Lock   lock.Entry // on one Redis
}

// A Contention is a load of requests by clients: each client makes a request as soon as its
// last one has ended, until all are made. A request waits for the lock, works inside and
// releases it, or gives up.
type Contention struct {
	Clients  int
	Requests int
	Load     Load // Patience is above 0; Rest, Entries and Most are not used
}

// Measures are the result of a contention.
type Measures struct {
	Acquired int `json:"acquired"` // requests that got the lock
	GaveUp   int `json:"gave_up"`  // and those that did not
	// Together counts the entries while another client was inside, and Lost the releases that
	// found the lock gone.
	Together int       `json:"together"`
	Lost     int       `json:"lost"`
	Acquire  Quantiles `json:"acquire_s"` // of the requests that got the lock
	Release  Quantiles `json:"release_s"`
	// Throughput is the number of requests a second that got the lock.
	Throughput float64 `json:"acquired_per_second"`
	// Commands counts the commands that the server has executed, those of scripts included, by
	// their names in small letters.
	Commands map[string]int `json:"commands"`
	// Jain is Jain's index of how often each client got the lock; nil: less than twice for
	// each client.
	Jain *float64 `json:"jain_index"`
}

// Quantiles of times, in seconds.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// ByClient are the measures of a contention, of which a client got the lock so many times, and
// so long each took, in seconds. Commands and Throughput are left to fill in.
func (c Contention) ByClient(acquired []float64, acquires, releases []float64) Measures {
	return Measures{Acquired: len(acquires), Acquire: quantiles(acquires), Release: quantiles(releases), Jain: jain(acquired)}
}

func quantiles(x []float64) Quantiles {
	if len(x) == 0 {
		return Quantiles{}
	}
	x = slices.Clone(x)
	slices.Sort(x)
	at := func(p float64) float64 { return stat.Quantile(p, stat.Empirical, x, nil) }
	return Quantiles{at(0.5), at(0.9), at(0.99), x[len(x)-1]}
}

// Total is the number of all commands.
func (m Measures) Total() (n int) {
	for _, k := range m.Commands {
		n += k
	}
	return n
}

// Check returns an error if a request is lost or counted twice.
func (c Contention) Check(m Measures) error {
	if m.Acquired+m.GaveUp != c.Requests {
		return fmt.Errorf("waiting: %d requests were made, %d got the lock and %d gave up", c.Requests, m.Acquired, m.GaveUp)
	}
	return nil
}

// Predict plays a contention in the simulation. The error is ctx's, or about what the simulation
// does not support.
func (c Contention) Predict(ctx context.Context, who Contender) (Measures, error) {
	l := c.Load
	l.Entries, l.Rest, l.Most = c.Requests, 0, 0
	r, err := newRun(l, c.Clients, who.Policy, who.Lock)
	if err != nil {
		return Measures{}, err
	}
	defer r.close()
	r.requests = c.Requests
	if err := r.play(ctx, func() bool { return len(r.releases)+r.gaveUp == c.Requests }); err != nil {
		return Measures{}, err
	}
	m := c.ByClient(r.counts, r.acquires, r.releases)
	m.GaveUp, m.Together, m.Lost = r.gaveUp, r.together, r.lost
	m.Throughput, m.Commands = float64(m.Acquired)/r.ended.Seconds(), maps.Clone(r.kinds)
	return m, c.Check(m)
}
