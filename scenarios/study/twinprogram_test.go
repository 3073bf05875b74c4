package study_test

import (
	"context"
	"errors"
	"testing"

	"locklab/algorithms/lock"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/history"
)

// A twin's clients are written here from the certificate, and share nothing with those of the
// search: a process makes one lock when it starts, and uses it for its whole life; between two
// attempts it only waits, and never rests.

// ownPrograms are such clients, for bounds without uses.
func ownPrograms(b *explore.Model) func(probe bool) simulator.ClientConfig {
	locks := func(c *simulator.Client) lock.Strategy {
		env := b.Tokens.In(client.Environment(c, b.TTL, b.Nodes), c)
		if b.Fenced && !b.Entry.OnZooKeeper() {
			return lock.Fence(b.Entry.New(env), env)
		}
		return b.Entry.New(env)
	}
	user := func(c *simulator.Client) {
		strategy := locks(c)
		for i := range b.Attempts {
			if i > 0 {
				c.Clock().Sleep(b.Between())
			}
			lease, err := client.Try(c, strategy)
			for n := 0; err != nil && n < len(b.Retries); n++ {
				c.Clock().Sleep(b.Retries[n])
				lease, err = client.Try(c, strategy)
			}
			if err != nil {
				continue
			}
			base, err := c.Read(client.FencingToken(lease))
			c.Clock().Sleep(b.Work())
			if err == nil {
				_ = c.Write(base, client.FencingToken(lease)) // a refusal is recorded by the resource
				c.Clock().Sleep(0)
			}
			c.Record(history.Event{Kind: history.Leave})
			_ = client.Release(c, lease) // an error is recorded
		}
		c.Record(history.Event{Kind: history.Done})
	}
	probe := func(c *simulator.Client) {
		strategy := locks(c)
		for asked := 0; ; asked++ {
			c.Record(history.Event{Kind: history.Acquire})
			lease, err := strategy.Acquire(context.Background(), client.Key)
			refused := errors.Is(err, lock.ErrNotAcquired)
			switch {
			case err == nil:
				c.Record(history.Event{Kind: history.Enter, Token: client.FencingToken(lease)})
				explore.LeaveAndRelease(c, lease)
				return
			case refused && asked > 0:
				c.Record(history.Event{Kind: history.Refuse, Claims: true, Note: explore.ProbeRefused})
				return
			case asked == 3:
				c.Record(history.Event{Kind: history.Refuse, Note: explore.ProbeFailed})
				return
			}
			c.Record(client.Refusal(err))
			c.Clock().Sleep(2*b.Between() + b.ClockJumps)
		}
	}
	return func(isProbe bool) simulator.ClientConfig {
		if isProbe {
			return simulator.ClientConfig{Program: probe, Near: true, List: b.Entry.Shards}
		}
		return simulator.ClientConfig{Program: user, Skews: b.Skews, List: b.Entry.Shards}
	}
}

// ownSearchOf is searchOf with the twin's own clients, in lockstep on Redis without uses.
func ownSearchOf(t testing.TB, entry lock.Entry, b study.Bounds) (*simulator.Simulator, explore.Options) {
	t.Helper()
	search, err := b.Model(entry)
	if err != nil {
		t.Fatal(err)
	}
	if search.Timing == nil && search.Uses == 0 && !entry.OnZooKeeper() {
		search.Code = ownPrograms(search)
		search.Contents = client.Servers(entry, search.TTL, simulator.NodeConfig{}, 1)[0].Contents // of a database
	}
	sim, err := search.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	return sim, search.Options()
}
