package cost

import (
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// A Price is what a lock costs that is free.
type Price struct {
	// Commands are the requests that servers execute for one acquisition and release; a script is one.
	Commands int
	// RoundTrips is the time that the client waits for them, in network round trips: one for several servers at once.
	RoundTrips float64
}

// Count plays one client that acquires a lock and releases it, and counts.
func Count(e lock.Entry) (p Price, err error) {
	s := race.Standard()
	s.Latency, s.Clients = time.Millisecond, 1
	one := func(race.Settings) []race.ClientSpec { return []race.ClientSpec{{Work: s.TTL / 20}} }
	prepared, err := race.Race{ID: "price", Settings: s, Clients: one}.Prepare(e, s, nil)
	if err != nil {
		return p, err
	}
	defer prepared.Close()
	run, err := prepared.Play(s)
	if err != nil {
		return p, err
	}
	var since, waited time.Duration
	for _, e := range run.Events {
		switch e.Kind {
		case history.Acquire, history.Release:
			since = e.At
		case history.Enter, history.Released:
			waited += e.At - since
		case history.Send:
			if e.Node != history.Resource {
				p.Commands++
			}
		}
		if e.Kind == history.Released { // what a daemon sends later is not its price
			break
		}
	}
	p.RoundTrips = waited.Seconds() / (2 * s.Latency).Seconds()
	return p, nil
}
