package verdict

import (
	"math/bits"
	"time"

	"locklab/simulator/history"
)

// A Reading interprets the events of a run: where every client is, and whose the
// locked key is on every node. The judges share it, and so can other packages that
// goes through a history: feed it all events in order with Observe.
//
// The zero Reading is the start of a run. It is comparable and holds no pointers: a
// copy is a branch of the run.
type Reading struct {
	// Every client is in one of these sets, or idle; see Stage. One that takes its own
	// lock again is inside and acquiring.
	acquiring, inside, leaving, releasing, dead history.ClientSet

	keyChanged bool                        // the key was seen to change: the lock lives on it
	down       nodes                       // nodes that do not serve
	grant      [MaxNodes]grant             // of the key
	copied     [MaxNodes][maxCopies]holder // of the grants that the node's replicas have, and last its disk
	split      nodes                       // nodes whose old masters live on
	former     [MaxClients]uint8           // of a client whose process was started anew: the last lease of those before it
	made       [MaxClients]uint8           // of a client that is acquiring: the lease by which it has made the key itself; 0: none

	// lapse is the true time from which a grant without a time to live may
	// be taken over: Case.stamp after its value was made. 0: long ago.
	lapse [MaxNodes]time.Duration
}

// A Stage is where a client is in its use of the lock.
//
//	Acquire -> Acquiring; Refuse -> Idle; Enter -> Inside; Leave -> Leaving;
//	Release -> Releasing; Released -> Idle; Done -> Idle; Crash -> Dead; Return -> Idle
//
// A Leave with the note [history.Exception] makes it Idle as well, since mostly no
// Release follows; if one does, it is Releasing. A lock taken again by its holder is
// Acquire, Enter, Release, Released without a Leave; such a client is Inside
// throughout.
type Stage uint8

const (
	Idle      Stage = iota
	Acquiring       // it has asked and has no answer yet
	Inside          // in the critical section
	Leaving         // its work is done, and it has not begun to release
	Releasing       // it gives the lock back
	Dead            // its process was killed
)

// Stage returns the stage of a client, from 1.
func (r *Reading) Stage(client int) Stage {
	c := client8(client)
	switch {
	case r.dead.Has(c):
		return Dead
	case r.inside.Has(c):
		return Inside
	case r.releasing.Has(c):
		return Releasing
	case r.leaving.Has(c):
		return Leaving
	case r.acquiring.Has(c):
		return Acquiring
	}
	return Idle
}

// Owner returns the client that made the key's value on a node, from 1, or last replaced it; 0: none that
// is known; false: there is no key. Prolonging or shortening a key does not change its owner.
//
// While a node is split, the key on its old master is that of the node's number plus
// the number of all nodes.
func (r *Reading) Owner(node int) (client int, held bool) {
	if owner := r.grant[node-1].owner; owner != nobody {
		return int(owner), owner != 0
	}
	return 0, true
}

// Down reports whether a node, from 1, does not serve.
func (r *Reading) Down(node int) bool { return r.down>>(node-1)&1 != 0 }

// Free reports whether no client has the lock or is being granted it: no client is Inside,
// Leaving or Releasing, and none is Acquiring with a grant that a server has already
// given it.
func (r *Reading) Free() bool {
	if r.holders() != 0 {
		return false
	}
	for n := range r.grant {
		if g := r.grant[n]; !g.left && r.acquiring.Has(g.owner) {
			return false
		}
	}
	return true
}

// A grant is the key as it stands on one node; the zero grant is a missing key. It is left when its owner was
// refused, has given the lock back, had an exception or died, and else live. Each attempt believes in its own
// grants only: a stamp that a refused attempt left behind does not become live when its client tries again.
// A client that enters, or begins to release, believes in all its grants again.
type grant struct {
	holder
	left    bool
	forever bool // it has no time to live
	kept    bool // the probe has prolonged it
}

// A holder is the client that owns a grant, and by which lease.
type holder struct {
	owner client8
	lease uint8 // which of its owner's; 0: not known
	gone  bool  // the owner's process has died, and another one has come in its place
}

// client8 is a client's number in one byte; 0 is none.
type client8 = uint8

// no client owns a key that appeared without the command of a client.
const nobody client8 = 1<<8 - 1

// nodes is a set of nodes.
type nodes uint8

// Observe reads the next event of the run. It keeps nothing of e.
func (r *Reading) Observe(c *Case, e *history.Event) {
	switch e.Kind {
	case history.Change:
		if e.Key == c.key {
			r.change(c, e)
		}
	case history.Expire:
		if e.Key == c.key {
			r.remove(e.Node - 1)
		}
	case history.Down:
		r.down |= 1 << (e.Node - 1)
	case history.Sync:
		r.copied[e.Node-1][history.Disk] = r.grant[e.Node-1].holder
	case history.Up, history.Failover:
		r.down &^= 1 << (e.Node - 1)
	case history.Split:
		r.markSplit(c, e)
	case history.Heal:
		r.split &^= 1 << (e.Node - 1)
		r.remove(c.nodes + e.Node - 1)
	case history.Replicate:
		r.copied[e.Node-1][e.Replica] = r.grant[e.Node-1].holder
	default:
		r.moveClient(c, client8(e.Client), e)
	}
}

// markSplit gives the old master of a node, and the grant on it, a number of its own.
func (r *Reading) markSplit(c *Case, e *history.Event) {
	n, old := e.Node-1, c.nodes+e.Node-1
	if r.split&(1<<n) != 0 { // one more client is cut off
		return
	}
	r.split |= 1 << n
	r.grant[old], r.lapse[old] = r.grant[n], r.lapse[n]
}

// moveClient moves a client from one stage to the next.
func (r *Reading) moveClient(run *Case, c client8, e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		if r.leaving.Has(c) && e.Note == "" { // it never released
			r.idle(c)
		}
		r.acquiring.Add(c)
	case history.Enter:
		r.adopt(run, c, e.Lease)
		r.made[c-1] = 0
		r.acquiring.Remove(c)
		r.leaving.Remove(c)
		r.inside.Add(c)
		r.setLive(c, true)
	case history.Leave:
		r.inside.Remove(c)
		r.leaving.Add(c)
		if e.Note == history.Exception {
			r.idle(c)
		}
	case history.Release:
		r.leaving.Remove(c)
		r.releasing.Add(c)
		r.setLive(c, true)
	case history.Refuse, history.Released:
		r.made[c-1] = 0
		r.acquiring.Remove(c)
		r.releasing.Remove(c)
		if !r.inside.Has(c) {
			r.idle(c)
		}
	case history.Done:
		r.idle(c)
	case history.Crash:
		r.idle(c)
		r.dead.Add(c)
	case history.Return:
		r.dead.Remove(c)
		r.former[c-1] = uint8(e.Lease)
		r.disown(c)
	}
}

// ofFormer reports whether e is an action of a process of its client that has died, while another
// one is in its place.
func (r *Reading) ofFormer(e *history.Event) bool {
	return e.Client > 0 && e.Lease > 0 && e.Lease <= int(r.former[e.Client-1])
}

// disown says of all grants of c, whose process has died, that they are not those of the
// one that comes in its place.
func (r *Reading) disown(c client8) {
	for n := range r.grant {
		if g := &r.grant[n]; g.owner == c {
			g.gone = true
			r.lapse[n] = 0 // never live again
		}
		for i := range r.copied[n] {
			if h := &r.copied[n][i]; h.owner == c {
				h.gone = true
			}
		}
	}
}

// idle makes c Idle. Its grants are left.
func (r *Reading) idle(c client8) {
	r.made[c-1] = 0
	r.acquiring.Remove(c)
	r.inside.Remove(c)
	r.leaving.Remove(c)
	r.releasing.Remove(c)
	r.setLive(c, false)
}

// adopt makes the grants of c those of the lease on which it enters, if it has no quorum of
// that lease: it enters on what an earlier attempt has left, or a process that has died. A
// lease that has made the key itself does not: the server has lost it since.
func (r *Reading) adopt(run *Case, c client8, lease int) {
	if run.majority(r.granted(c, lease)) || lease != 0 && int(r.made[c-1]) == lease {
		return
	}
	for n := range r.grant {
		if g := &r.grant[n]; g.owner == c {
			g.lease, g.gone = uint8(lease), false
		}
	}
}

// setLive makes all grants of c live, or left.
func (r *Reading) setLive(c client8, live bool) {
	for n := range r.grant {
		if g := &r.grant[n]; g.owner == c && !g.gone {
			g.left = !live
		}
	}
}

// change is a change of the key on one node, by a command or by a loss of data.
func (r *Reading) change(c *Case, e *history.Event) {
	n := e.Node - 1
	r.keyChanged = true
	if !c.holds(e.After) {
		r.remove(n)
		return
	}
	g, forever := &r.grant[n], e.Until == history.Forever
	made := e.Before != e.After
	g.kept = !made && !g.forever && !forever && g.left && c.probe > 0 && e.Client == c.probe
	if made {
		g.holder = r.holderOf(e)
		g.left = g.gone || !r.active().Has(g.owner)
		if r.acquiring.Has(client8(e.Client)) && !g.gone {
			r.made[e.Client-1] = uint8(e.Lease)
		}
	}
	switch {
	case !forever:
		r.lapse[n] = 0
	case made && e.Client == 0:
		r.lapse[n] = 0 // nobody knows how old it is
	case made || !g.forever:
		r.lapse[n] = e.At + c.stamp
	}
	g.forever = forever
}

// holds reports whether somebody holds the lock, by the value of the key.
func (c *Case) holds(value string) bool {
	if c.held == nil {
		return value != ""
	}
	return c.held(value)
}

// KeptByAsking reports whether e, which r has not observed yet, refuses the probe, which by asking has prolonged the grants of those that
// are dead or do not believe in them: clients that ask more often than a lease lasts keep such a lock for ever.
func (r *Reading) KeptByAsking(c *Case, e *history.Event) bool {
	if e.Client != c.probe || e.Kind != history.Refuse || !e.Claims {
		return false
	}
	var kept nodes
	for n := range c.nodes {
		if r.grant[n].kept {
			kept |= 1 << n
		}
	}
	return c.barring(kept)
}

// holderOf says who owns the value that e has made. What two leases of one client have
// made belongs to both. What a replica brings at a failover, or a disk after a crash,
// belongs to the lease that owned it when the copy last caught up. A key that exists from
// the beginning (a Change of client 0) belongs to no client.
func (r *Reading) holderOf(e *history.Event) holder {
	if e.Client == 0 {
		if h := r.copied[e.Node-1][e.Replica]; h.owner != 0 {
			return h
		}
		return holder{owner: nobody}
	}
	h := holder{owner: client8(e.Client), lease: uint8(e.Lease), gone: r.ofFormer(e)}
	if old := r.grant[e.Node-1].holder; old.owner == h.owner && old.gone == h.gone && old.lease != h.lease {
		h.lease = 0
	}
	return h
}

func (r *Reading) remove(n int) {
	r.grant[n] = grant{}
	r.lapse[n] = 0
}

// rebase is Safety.Rebase.
func (r *Reading) rebase(now time.Duration) {
	for n := range r.lapse {
		if r.dead.Has(r.grant[n].owner) { // never live again
			r.lapse[n] = 0
		}
		r.lapse[n] = max(r.lapse[n]-now, 0)
	}
}

// holders are the clients that believe they have the lock.
func (r *Reading) holders() history.ClientSet { return r.inside | r.leaving | r.releasing }

// active are the clients that have the lock or are asking for it.
func (r *Reading) active() history.ClientSet { return r.holders() | r.acquiring }

// granted are the nodes on which the key is the grant of one lease of who, or (0) of any, by its
// present process.
func (r *Reading) granted(who client8, lease int) nodes {
	var s nodes
	for n := range r.grant {
		if g := r.grant[n]; g.owner == who && !g.gone && g.of(lease) {
			s |= 1 << n
		}
	}
	return s
}

// of reports whether a grant may be one of that lease of its owner.
func (g grant) of(lease int) bool { return g.lease == 0 || lease == 0 || int(g.lease) == lease }

// unhindered says that nothing stands in the way of the lock: no client has it, no key is
// left and no server is down, nor, if the lock does not live on the key, has a client died.
func (r *Reading) unhindered() bool {
	return r.holders() == 0 && r.down|r.leftovers() == 0 && (r.keyChanged || r.dead == 0)
}

// leftovers are the nodes on which the key is left.
func (r *Reading) leftovers() nodes {
	var s nodes
	for n := range r.grant {
		if r.grant[n].left {
			s |= 1 << n
		}
	}
	return s
}

// majority reports whether the nodes in s are a quorum. Old masters that live on
// do not count.
func (c *Case) majority(s nodes) bool { return c.count(s) >= c.quorum }

// barring reports whether the nodes in s are so many that the others are no quorum. Of
// four nodes, two bar although they are no majority. Where a client asks one of several nodes,
// it is not known which one it would ask: one bars.
func (c *Case) barring(s nodes) bool { return c.count(s) >= c.bars }

func (c *Case) count(s nodes) int { return bits.OnesCount8(uint8(s) & (1<<c.nodes - 1)) }
