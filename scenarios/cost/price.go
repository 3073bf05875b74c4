package cost

import (
	"context"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Price is what one lock costs, and what it gets.
type Price struct {
	Strategy string      `json:"strategy"`
	Family   lock.Family `json:"family"`
	// Excludes: the lock keeps a second client out while nothing goes wrong, and has one holder
	// by design. Few races apply to others: they are not to be compared.
	Excludes bool `json:"excludes"`
	// Commands are the requests that servers execute for one acquisition and release of a
	// lock that is free; a script is one.
	Commands float64 `json:"commands"`
	// RoundTrips is the time that the client waits for them, in units of one network round
	// trip: requests to several servers at once take one.
	RoundTrips float64 `json:"round_trips"`
	// Contended are the Commands for each acquisition and release of two clients that want
	// the lock at the same time; see PriceSettings.
	Contended float64 `json:"commands_contended"`
	// Handover is the mean time between a holder's leaving and the entry of the client that waited
	// for it, over the moments at which that one began to wait; 0: it did not wait.
	Handover        time.Duration `json:"handover_mean_ns"`
	LongestHandover time.Duration `json:"handover_longest_ns"`
	Survived        int           `json:"races_survived"` // races without a failure: see verdict.Fails
	Races           int           `json:"races"`          // races that apply to the lock and were shown
}

// Share is the share of races survived; 0 if there is none.
func (p Price) Share() float64 {
	if p.Races == 0 {
		return 0
	}
	return float64(p.Survived) / float64(p.Races)
}

// FindPrices plays each lock in all races, and in calm runs in which it is counted. w and ctx
// are as for study.Matrix.
func FindPrices(ctx context.Context, locks []lock.Entry, w *share.Work) ([]Price, error) {
	cells, err := study.Matrix(ctx, locks, scenarios.All(), 0, func(*race.Outcome) {}, w)
	if err != nil {
		return nil, err
	}
	return PricesOf(ctx, locks, slices.Concat(cells...))
}

// PricesOf counts locks that have been played in races.
func PricesOf(ctx context.Context, locks []lock.Entry, played []*race.Outcome) ([]Price, error) {
	out := make([]Price, len(locks))
	for l, e := range locks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := Count(e)
		if err != nil {
			return nil, err
		}
		profile, err := race.ProfileOf(e)
		if err != nil {
			return nil, err
		}
		p.Excludes = profile.Excludes && !profile.Shares
		for _, o := range played {
			if o.Strategy.ID == e.ID {
				p.tally(o)
			}
		}
		out[l] = p
	}
	return out, nil
}

// PriceCells returns the number of tasks that FindPrices finishes, for progress.
func PriceCells(locks int) int { return locks * len(scenarios.All()) }

// tally adds a cell of the matrix, unless it says nothing.
func (p *Price) tally(o *race.Outcome) {
	if o.NotApplicable != "" || o.Scenario.ID == race.Calm.ID || !o.Reached ||
		slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous) {
		return
	}
	p.Races++
	if !verdict.Fails(o.Verdicts) {
		p.Survived++
	}
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

// Count counts what one lock costs, without its races. Alone, a client works for half a
// second. Of two, the first works for two seconds, and the second begins to wait in the
// first half of that.
func Count(e lock.Entry) (Price, error) {
	p := Price{Strategy: e.ID, Family: e.Family}
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
			p.LongestHandover = max(p.LongestHandover, gap)
		}
	}
	p.Contended = mean(shared, nil)
	p.Handover = time.Duration(mean(handovers, nil) * float64(time.Second)).Round(time.Microsecond)
	return p, nil
}

// play plays the clients without a fault.
func play(e lock.Entry, s race.Settings, clients ...race.ClientSpec) ([]history.Event, error) {
	s.Clients = len(clients)
	sc := race.Scenario{ID: "price", Settings: s, Clients: func(race.Settings) []race.ClientSpec { return clients }}
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
