package cost

import (
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/history"
)

// A crashMeter plays runs of one lock: c1 uses it and crashes, and c2 asks for it once.
type crashMeter struct {
	settings race.Settings
	prepared *race.Prepared
	entered  time.Duration // when c1 enters; not known to FindRecovery
}

// crashRace returns the race of a crashMeter; holder is c1.
func crashRace(s race.Settings, holder race.ClientSpec) race.Race {
	return race.Race{
		ID: "crash", Settings: s, Budget: race.FixedBudget("crash=1"),
		Clients: func(race.Settings) []race.ClientSpec {
			return []race.ClientSpec{holder, {Run: (*race.ClientRun).TryOnce}}
		},
	}
}

func newCrashMeter(e lock.Entry, sc race.Race) (*crashMeter, error) {
	p, err := sc.Prepare(e, sc.Settings, nil)
	return &crashMeter{settings: sc.Settings, prepared: p}, err
}

func (m *crashMeter) close() { m.prepared.Close() }

// play plays a run up to a horizon, in which c2 asks at a time. The events are valid until
// the next run.
func (m *crashMeter) play(ask, horizon time.Duration, crash ...race.Trigger) ([]history.Event, error) {
	s := m.settings
	m.prepared.Clients[1].Start, s.Horizon = ask, horizon
	run, err := m.prepared.PlayWith(s, crash)
	if err != nil {
		return nil, err
	}
	return run.Events, nil
}

// entered returns the time at which a client is inside first; 0: it never is.
func entered(events []history.Event, client int) time.Duration {
	i := slices.IndexFunc(events, func(e history.Event) bool { return e.Kind == history.Enter && e.Client == client })
	if i < 0 {
		return 0
	}
	return events[i].At
}

// bisect returns the least x above low for which holds is true, or up to precision more. At
// high it is.
func bisect[T ~int64 | ~float64](low, high, precision T, holds func(x T) (bool, error)) (T, error) {
	for high-low > precision {
		middle := (low + high) / 2
		switch is, err := holds(middle); {
		case err != nil:
			return 0, err
		case is:
			high = middle
		default:
			low = middle
		}
	}
	return high, nil
}
