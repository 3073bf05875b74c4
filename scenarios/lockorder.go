package scenarios

import (
	"context"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// oppositeOrder: the classical deadlock of two locks. Only the first lock is judged.
var oppositeOrder = race.Race{
	ID: "opposite-order", Code: "R46", Group: "use",
	Settings: race.Standard(),
	Needs:    needs{race.LockPerKey},
	Clients: func(s settings) clients {
		return clients{
			{Work: s.Retry * 2, Tail: s.Retry, Run: takeInOrder(client.Key, client.OtherKey)},
			{Start: s.Retry / 2, Work: s.Retry * 2, Tail: s.Retry, Run: takeInOrder(client.OtherKey, client.Key)},
		}
	},
	Triggered: func(h *history.History) bool {
		createsOther := func(e *history.Event) bool {
			return e.Kind == history.Change && e.Client == 2 && e.Key == client.OtherKey && e.Before == ""
		}
		enters := race.AnyEvent(history.Enter)
		return race.InOrderWithout(h, enters, race.CreatesKey(1), createsOther, c1Refused, c2Refused) ||
			race.InOrderWithout(h, enters, race.CreatesKey(1), createsOther, // or c1's request took its own key
				race.DeletesKey(1), c1Refused, race.CreatesKey(2))
	},
}

// takeInOrder is a client that takes several locks in this order. It is inside when it has all of them.
func takeInOrder(keys ...string) func(a *race.ClientRun) {
	return func(a *race.ClientRun) {
		var judged lock.Lease
		var leases []lock.Lease
		ask := func() { a.Record(history.Event{Kind: history.Acquire}) }
		ask()
		for i, k := range keys {
			if i > 0 {
				a.Clock().Sleep(a.Spec.Retry)
			}
			lease, err := a.Lock.Acquire(context.Background(), k)
			for err != nil {
				a.Record(client.Refusal(err))
				a.Clock().Sleep(a.Spec.Retry)
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
		client.Work(a.Client, judged, a.Spec.Section())
		for _, l := range leases {
			_ = l.Release(context.Background()) // only the lock is judged
		}
		client.Release(a.Client, judged)
	}
}
