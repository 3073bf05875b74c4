package cost

import (
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// A Price is what one lock costs.
type Price struct {
	// Commands are the requests that servers execute for one acquisition and release of a
	// lock that is free; a script is one.
	Commands float64
	// RoundTrips is the time that the client waits for them, in units of one network round
	// trip: requests to several servers at once take one.
	RoundTrips float64
	// Contended are the Commands for each acquisition and release of two clients that want
	// the lock at the same time; see PriceSettings.
	Contended float64
	// Handover is the mean time between a holder's leaving and the entry of the client that waited
	// for it, over the moments at which that one began to wait; 0: it did not wait.
	Handover time.Duration
}

// PriceSettings are the numbers of the runs in which a lock is counted: a lease of 10 s; a
// refused client asks again each second, unless the lock lets it wait in line; and each
// network round trip takes 2 ms.
func PriceSettings() race.Settings {
	s := race.Standard()
	s.Latency = time.Millisecond
	return s
}

// phases is the number of moments of a hold at which the second client begins to wait.
const phases = 10

// Count counts what one lock costs. Alone, a client works for half a
// second. Of two, the first works for two seconds, and the second begins to wait in the
// first half of that.
func Count(e lock.Entry) (Price, error) {
	p := Price{}
	s := PriceSettings()
	alone, err := play(e, s, race.ClientSpec{Work: s.Retry / 2})
	if err != nil {
		return p, err
	}
	p.Commands, p.RoundTrips = float64(commands(alone)), waited(alone).Seconds()/(2*s.Latency).Seconds()
	var shared, handovers []float64
	for i := range phases {
		start := s.Retry * time.Duration(2*i+1) / (2 * phases)
		run, err := play(e, s, race.ClientSpec{Work: 2 * s.Retry}, race.ClientSpec{Start: start, Work: s.Retry / 2, Patience: s.TTL})
		if err != nil {
			return p, err
		}
		shared = append(shared, float64(commands(run))/2)
		if gap, ok := handover(run); ok {
			handovers = append(handovers, gap.Seconds())
		}
	}
	p.Contended = mean(shared)
	p.Handover = time.Duration(mean(handovers) * float64(time.Second)).Round(time.Microsecond)
	return p, nil
}

// play plays the clients without a fault.
func play(e lock.Entry, s race.Settings, clients ...race.ClientSpec) ([]history.Event, error) {
	s.Clients = len(clients)
	sc := race.Race{ID: "price", Settings: s, Clients: func(race.Settings) []race.ClientSpec { return clients }}
	p, err := sc.Prepare(e, s, nil)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	run, err := p.Play(s)
	if err != nil {
		return nil, err
	}
	return slices.Clone(run.Events), nil
}

// commands are the requests to servers of locks, other than the resource, that clients
// send until they have released the lock.
func commands(events []history.Event) (n int) {
	released := map[int]bool{}
	for _, e := range events {
		switch {
		case e.Kind == history.Released:
			released[e.Client] = true
		case e.Kind == history.Send && e.Node != history.Resource && !released[e.Client]:
			n++
		}
	}
	return n
}

// waited returns the time that the only client waits to acquire and to release.
func waited(events []history.Event) (d time.Duration) {
	var since time.Duration
	for _, e := range events {
		switch e.Kind {
		case history.Acquire, history.Release:
			since = e.At
		case history.Enter, history.Released:
			d += e.At - since
		}
	}
	return d
}

// handover returns the time from c1's leaving to c2's entry; false: c2 does not enter after
// that.
func handover(events []history.Event) (time.Duration, bool) {
	left := time.Duration(-1)
	for _, e := range events {
		switch {
		case e.Kind == history.Leave && e.Client == 1 && left < 0:
			left = e.At
		case e.Kind == history.Enter && e.Client == 2:
			return e.At - left, left >= 0
		}
	}
	return 0, false
}
