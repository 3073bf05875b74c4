package record

import (
	"slices"

	"locklab/simulator/verdict"
)

// A caller is a client as the key has it, and its row of refusals up to its next lease. The rules of STARVED are those
// of package verdict: several leases of others between two refusals count once.
type caller struct {
	client string
	lease  *lease // its last one
	waits  bool
	passed bool    // another has entered since the last refusal
	rounds int     // refusals of one that was passed
	since  Instant // the first refusal
}

// mostRounds is the number of rounds that make STARVED.
const mostRounds = 10

// callerOf is a client of the key. If there are more than verdict.MaxClients nothing is kept of the others.
func (k *key) callerOf(client string) *caller {
	i := slices.IndexFunc(k.callers[:], func(c caller) bool { return c.client == client || c.client == "" })
	if i >= 0 {
		k.callers[i].client = client
		return &k.callers[i]
	}
	if !k.crowded {
		k.crowded = true
		k.judge.Crowded++
	}
	return &caller{client: client}
}

// refused is a refusal of a lease or of a renewal.
func (c *caller) refused(l *Entry) {
	if !c.waits {
		c.waits, c.since = true, l.At
	} else if c.passed {
		c.rounds++
	}
	c.passed = false
}

// overtakes is a new lease of a client: it has waited long enough, and all others are passed.
func (k *key) overtakes(c *caller, l *Entry) {
	k.served(c, l.At)
	for i := range k.callers {
		k.callers[i].passed = k.callers[i].waits
	}
}

// served ends the wait of a client, which is STARVED if it was overtaken too often.
func (k *key) served(c *caller, to Instant) {
	if c.rounds >= mostRounds && !k.crowded {
		last := k.recent[len(k.recent)-1]
		f := k.finding(verdict.Starved, last, last)
		f.Clients[0], f.From, f.To = c.client, c.since, to
		if k.blurred {
			k.doubt(f, Clocks)
		} else {
			k.claim(f)
		}
	}
	*c = caller{client: c.client, lease: c.lease}
}

// refuse is a refusal.
func (k *key) refuse(c *caller, l *Entry) {
	c.refused(l)
	if k.held() {
		k.endWait()
		return
	}
	if k.wait.Refused == 0 {
		k.wait = Wait{Key: k.name, Since: l.At, From: l.Place}
	}
	k.wait.Refused++
	k.wait.Until, k.wait.To = l.At, l.Place
}
