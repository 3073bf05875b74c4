package scenarios

import (
	"context"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

var OppositeOrder = race.Scenario{
	ID:       "opposite-order",
	Race:     "R46",
	Settings: race.Standard(),
	Needs: func(p race.Profile) race.Reason {
		if !p.LocksPerKey {
			return "second-key-assumed"
		}
		return ""
	},
	Clients: func(s race.Settings) []race.Client {
		return []race.Client{
			{Work: s.Retry * 2, Tail: s.Retry, Play: InOrder(client.Key, client.OtherKey)},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry, Play: InOrder(client.OtherKey, client.Key)},
		}
	},
	Triggered: func(h *history.History) bool {
		enters := func(e *history.Event) bool { return e.Kind == history.Enter }
		makesOther := func(e *history.Event) bool {
			return e.Kind == history.Change && e.Client == 2 && e.Key == client.OtherKey && e.Before == ""
		}
		return race.InOrderWithout(h, enters, race.CreatesKey(1), makesOther, race.Event(history.Refuse, 1), race.Event(history.Refuse, 2))
	},
}

// inOrder is a client that needs two locks and takes them in this order. It is
// inside when it has both.
func InOrder(keys ...string) func(a *race.ClientRun) {
	return func(a *race.ClientRun) {
		var judged lock.Lease
		var leases []lock.Lease
		ask := func() { a.Record(history.Event{Kind: history.Acquire}) }
		ask()
		for i, k := range keys {
			if i > 0 {
				a.Clock().Sleep(a.Def.Retry)
			}
			lease, err := a.Lock.Acquire(context.Background(), k)
			for err != nil {
				a.Record(history.Event{Kind: history.Refuse, Note: client.Note(err)})
				a.Clock().Sleep(a.Def.Retry)
				ask()
				lease, err = a.Lock.Acquire(context.Background(), k)
			}
			if k == client.Key {
				judged = lease
			} else {
				leases = append(leases, lease)
			}
		}
		a.Record(history.Event{Kind: history.Enter, Token: client.FencingToken(judged)})
		client.Work(a.Client, judged, a.Def.Section())
		for _, l := range leases {
			_ = l.Release(context.Background()) // only the lock is judged
		}
		client.Release(a.Client, judged)
	}
}
