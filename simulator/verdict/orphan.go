package verdict

import (
	"time"

	"locklab/simulator/history"
)

// ORPHAN: on a quorum of nodes the key is the grant of a living client that does not believe in it (it was refused, met
// an error, has given the lock back, or had an exception), and no other client believes that it has the lock. It lasts
// until the key is gone or another client's, until its owner enters after all, or the run ends. Clients: the owner.
//
// Rules:
//
//   - The key of a dead owner is not ORPHAN but BLOCKED: keys expire for this case.
//   - A release is over when it has been answered, and when its client sleeps for half a lease or longer.
//   - While a client is inside, leaving or releasing there is no orphan. The loser
//     of a GETSET race leaves its stamp over the winner's; as long as the winner
//     works, that key rightly keeps the others out.
//   - An orphan counts if it refused another client, or if it outlasts the run.
//     Otherwise every release that gives up on a slow answer would be one for the
//     milliseconds until its command arrives.
//   - It refused a client if a server on which it stood executed a request of that
//     client's attempt, and while it still stood the attempt either ended with the answer
//     that another has the lock (a Refuse with Claims) or began to wait (a Sleep with no
//     request under way). How long the client is willing to wait thus makes no difference.
//     An attempt that had its answer before there was an orphan, or that heard no answer,
//     was not refused by it; nor one that takes the orphan over without waiting.
//   - Forever: it outlasts the run, and has no time to live on a quorum.
type orphan struct {
	open     history.ClientSet         // whose orphans exist
	refusing history.ClientSet         // …and have refused another client
	since    [MaxClients]time.Duration // …and since when
}

// refuse notes that a client was refused by the orphans of others.
func (p *orphan) refuse(c uint8) { p.refusing |= p.open &^ history.Only(c) }

func (p *orphan) observe(in *input) {
	now := orphaned(in)
	for s := p.open &^ now; s != 0; s &= s - 1 {
		p.close(in, s.First())
	}
	for s := now &^ p.open; s != 0; s &= s - 1 {
		p.since[s.First()-1] = in.at
	}
	p.open = now
}

// meet notes whether the client of the event has met another's orphan.
func meet(in *input) {
	switch e, me := in.event, in.me(); e.Kind {
	case history.Apply:
		g, attempts := &in.reading.grant[e.Node-1], me.is(acquiring) && !me.is(asking) && !in.reading.ofFormer(e)
		others := attempts && e.Node <= in.run.Nodes && g.left && g.owner != in.client()
		if others && orphaned(in)&^history.Only(in.client()) != 0 {
			me.set(met)
		}
	case history.Acquire, history.Enter, history.Refuse, history.Done, history.Crash:
		me.unset(met)
	}
}

// forgetMet forgets the orphans that an event, which the reading has, has ended.
func forgetMet(in *input) {
	if in.reading.those(met) != 0 && orphaned(in) == 0 {
		for c := range in.reading.clients {
			in.reading.clients[c].unset(met)
		}
	}
}

// RefusedByOrphan reports whether e, which s has not observed yet, refuses a client because of another's orphan. s does
// not remember it: a search that has to know calls it for every event, also for a Sleep.
func (s *Safety) RefusedByOrphan(e *history.Event) bool {
	refuses := e.Kind == history.Refuse && e.Claims || e.Kind == history.Sleep && e.Rests
	return refuses && s.reading.those(met).Has(uint8(e.Client))
}

// close ends the orphan of c, and reports it if another client was refused.
func (p *orphan) close(in *input, c uint8) {
	if p.refusing.Has(c) {
		in.report(Finding{Verdict: Orphan, Clients: []int{int(c)}, From: p.since[c-1], To: in.at})
	}
	p.refusing.Remove(c)
	p.since[c-1] = 0
}

func (p *orphan) finish(in *input, l *leases) {
	for s := p.open; s != 0; s &= s - 1 {
		c := s.First()
		in.report(Finding{
			Verdict: Orphan, Clients: []int{int(c)}, From: p.since[c-1], To: in.at,
			Forever: in.run.majority(in.reading.granted(c, 0) & l.timeless()),
		})
	}
}

// orphaned returns the clients whose orphans exist now.
func orphaned(in *input) (owners history.ClientSet) {
	left := in.reading.leftovers()
	if left == 0 || in.reading.believing() != 0 {
		return 0
	}
	for n := range in.run.Nodes {
		if o := in.reading.grant[n].owner; in.run.majority(left & in.reading.granted(o, 0)) {
			owners.Add(o)
		}
	}
	return owners &^ in.reading.those(dead)
}
