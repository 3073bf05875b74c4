package locktest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/process"
)

// subscribing is a lock that subscribes to its release after it was refused, without another try: it waits for the
// message as long as a lease.
func subscribing(c *Client) {
	rdb := dial(c)
	defer rdb.Close()
	token := c.Token()
	try := func() bool {
		ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result()
		return ok && err == nil
	}
	if !try() {
		messages := rdb.Subscribe(c.Context(), "freed")
		defer messages.Close()
		ctx, cancel := context.WithTimeout(c.Context(), ttl)
		defer cancel()
		if _, err := messages.ReceiveMessage(ctx); err != nil || !try() {
			return
		}
	}
	c.Critical(work)
	compareAndDelete.Run(c.Context(), rdb, []string{"k"}, token)
	rdb.Publish(c.Context(), "freed", "1")
}

// TestSubscribed: a pause between the refusal and the subscription makes the client miss the message of the release.
// After one while it waits the message arrives as the time is over; such a history, too, is read as it was written, so
// that another process can repeat it.
func TestSubscribed(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	b := Bounds{Clients: 2, Attempts: 1, Budget: "pause=1", TTL: ttl, Slow: ttl * 9 / 10, Beside: -1}
	Check(t, b, subscribing, "ORPHAN SLOW")
	if child.IsAgain() {
		return
	}
	p, _ := prepare(t, b, subscribing)
	late := 0 // histories in which a message arrives as the time is over
	reread := func(sim *simulator.Simulator) error {
		for c := range sim.Config().Clients {
			texts := sim.Writing(c + 1)
			for _, at := range process.Longest(sim.Process(c + 1)) {
				w := texts.History(at)
				if got, err := texts.Replay(&w, func(uint32) bool { return true }); err != nil || got != at {
					t.Fatalf("history %d of c%d is read as %d, %v", at, c+1, got, err)
				}
				if slices.ContainsFunc(w.Seen, func(s simulator.WrittenSeen) bool {
					return s.Answer != nil && s.Seen["Kind"] == fmt.Sprint(process.TimedOut)
				}) {
					late++
				}
			}
		}
		return nil
	}
	err := p.run.untilKnown(func() error {
		model, err := p.within(p.study)
		if err != nil {
			return err
		}
		model.Afterwards = reread
		_, err = explore.Search(t.Context(), model)
		return err
	})
	if err != nil || late == 0 {
		t.Errorf("%d histories in which a message arrives as the time is over, %v", late, err)
	}
}
