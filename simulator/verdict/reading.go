package verdict

import (
	"time"

	"locklab/simulator/history"
)

// A Reading interprets the events of a run: where every client is, and whose the locked key is on every node. The
// judges share it, and so can other packages that goes through a history: feed it all events in order with Observe.
//
// The zero Reading is the start of a run. It is comparable and holds no pointers: a copy is a branch of the run.
type Reading struct {
	clients [MaxClients]client

	keyChanged bool                        // the key was seen to change: the lock lives on it
	down       nodes                       // nodes that do not serve
	split      nodes                       // nodes whose old masters live on
	grant      [MaxNodes]grant             // of the key
	copied     [MaxNodes][maxCopies]holder // of the grants that the node's replicas have, and last its disk
}

// A Stage is where a client is in its use of the lock.
//
//	Acquire -> Acquiring; Refuse -> Idle; Enter -> Inside; Leave -> Leaving;
//	Release -> Releasing; Released -> Idle; Done -> Idle; Crash -> Dead; Return -> Idle
//
// A Leave with note [history.Exception] makes it Idle too, as mostly no Release follows; if one does, it is Releasing.
// A lock taken again by its holder is Acquire, Enter, Release, Released without a Leave; it is Inside throughout.
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
	for _, s := range [...]struct {
		fact facts
		Stage
	}{{dead, Dead}, {inside, Inside}, {releasing, Releasing}, {leaving, Leaving}, {acquiring, Acquiring}} {
		if r.clients[client-1].is(s.fact) {
			return s.Stage
		}
	}
	return Idle
}

// Owner returns the client that made the key's value on a node, from 1, or last replaced it; 0: none that
// is known; false: there is no key. Prolonging or shortening a key does not change its owner.
//
// While a node is split, the key on its old master is that of the node's number plus the number of all nodes.
func (r *Reading) Owner(node int) (client int, held bool) {
	if owner := r.grant[node-1].owner; owner != noClient {
		return int(owner), owner != 0
	}
	return 0, true
}

// Down reports whether a node, from 1, does not serve.
func (r *Reading) Down(node int) bool { return r.down>>(node-1)&1 != 0 }

// believing are the clients that believe that they have the lock: not those that have resigned.
func (r *Reading) believing() history.ClientSet {
	believing := r.those(holding)
	for _, g := range r.grant {
		if g.left && !g.gone && g.isClient() && r.clients[g.owner-1].is(releasing) {
			believing.Remove(g.owner)
		}
	}
	return believing
}

// free reports whether no client has the lock or is being granted it: no client is Inside, Leaving or Releasing, and
// none is Acquiring with a grant that a server has already given it.
func (r *Reading) free() bool {
	asking := r.those(acquiring)
	return r.those(holding) == 0 && r.where(func(g *grant) bool { return !g.left && asking.Has(g.owner) }) == 0
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
	// lapse is the true time from which a grant without a time to live may be taken over: the time that a stamp
	// stands after its value was made. 0: long ago.
	lapse time.Duration
}

// A holder is the client that owns a grant, and by which lease.
type holder struct {
	owner uint8 // from 1; 0: none
	lease uint8 // which of its owner's; 0: not known
	gone  bool  // the owner's process has died, and another one has come in its place
}

// noClient owns a key that appeared without the command of a client. It is in no set of clients.
const noClient uint8 = 1<<8 - 1

func (h *holder) isClient() bool { return h.owner != 0 && h.owner != noClient }

// isOf reports whether a holder may be that lease of a client; 0: any, by its present process.
func (h *holder) isOf(client uint8, lease int) bool {
	return h.owner == client && !h.gone && (h.lease == 0 || lease == 0 || int(h.lease) == lease)
}

// nodes is a set of nodes.
type nodes uint8

// where are the nodes of whose grants something is true.
func (r *Reading) where(is func(*grant) bool) (s nodes) {
	for n := range r.grant {
		if is(&r.grant[n]) {
			s |= 1 << n
		}
	}
	return s
}

// Observe reads the next event of the run. It keeps nothing of e.
func (r *Reading) Observe(c *Case, e *history.Event) {
	n := e.Node - 1
	switch e.Kind {
	case history.Change:
		if e.Key == c.Key {
			r.change(c, e)
		}
	case history.Expire:
		if e.Key == c.Key {
			r.grant[n] = grant{}
		}
	case history.Down:
		r.down |= 1 << n
	case history.Up, history.Failover:
		r.down &^= 1 << n
	case history.Sync:
		r.copied[n][history.Disk] = r.grant[n].holder
	case history.Replicate:
		r.copied[n][e.Replica] = r.grant[n].holder
	case history.Split: // the old master, and the grant on it, get a number of their own
		if r.split>>n&1 == 0 { // or one more client is cut off
			r.grant[c.Nodes+n] = r.grant[n]
		}
		r.split |= 1 << n
	case history.Heal:
		r.split &^= 1 << n
		r.grant[c.Nodes+n] = grant{}
	default:
		if e.Client > 0 {
			r.moveClient(c, uint8(e.Client), e)
		}
	}
}

// moveClient moves a client from one stage to the next.
func (r *Reading) moveClient(run *Case, c uint8, e *history.Event) {
	me := &r.clients[c-1]
	switch e.Kind {
	case history.Acquire:
		if me.is(leaving) && e.Note == "" { // it never released
			r.idle(c)
		}
		me.set(acquiring)
	case history.Enter:
		r.adopt(run, c, e.Lease)
		me.made = 0
		me.turn(acquiring|leaving, inside)
		r.setLive(c, true)
	case history.Leave:
		me.turn(inside, leaving)
		if e.Note == history.Exception {
			r.idle(c)
		}
	case history.Release:
		me.turn(leaving, releasing)
		r.setLive(c, true)
	case history.Refuse, history.Released:
		me.made = 0
		if me.unset(acquiring | releasing); !me.is(inside) {
			r.idle(c)
		}
	case history.Done:
		r.idle(c)
	case history.Sleep:
		if r.resigns(run, e) {
			r.setLive(c, false)
		}
	case history.Crash:
		r.idle(c)
		me.set(dead)
	case history.Return: // no grant of the process that has died is one of that which comes in its place
		me.unset(dead)
		me.former = uint8(e.Lease)
		r.eachHolder(func(h *holder) { h.gone = h.gone || h.owner == c })
		r.eachGrant(c, func(g *grant) { g.lapse = 0 }) // never live again
	}
}

// ofFormer reports whether e is an action of a process of its client that has died, while another one is in its place.
func (r *Reading) ofFormer(e *history.Event) bool {
	return e.Client > 0 && e.Lease > 0 && e.Lease <= int(r.clients[e.Client-1].former)
}

// resigns reports whether e, which r has not observed yet, says that a release has come to nothing more: its client
// sleeps for half a lease or longer, with no request under way. What is not released is then left.
func (r *Reading) resigns(c *Case, e *history.Event) bool {
	return e.Kind == history.Sleep && e.Rests && c.Rest(e.D) > 0 && r.clients[e.Client-1].is(releasing)
}

// eachGrant calls f for the grants of client c.
func (r *Reading) eachGrant(c uint8, f func(*grant)) {
	for n := range r.grant {
		if g := &r.grant[n]; g.owner == c {
			f(g)
		}
	}
}

// idle makes c Idle. Its grants are left.
func (r *Reading) idle(c uint8) {
	r.clients[c-1].made = 0
	r.clients[c-1].unset(active)
	r.setLive(c, false)
}

// adopt makes c's grants those of the lease on which it enters, if it has no quorum of that lease: it enters on what an
// earlier attempt or a dead process has left. A lease that has made the key itself does not: the server has lost it.
func (r *Reading) adopt(run *Case, c uint8, lease int) {
	if !run.majority(r.granted(c, lease)) && (lease == 0 || int(r.clients[c-1].made) != lease) {
		r.eachGrant(c, func(g *grant) { g.lease, g.gone = uint8(lease), false })
	}
}

// setLive makes all grants of c live, or left.
func (r *Reading) setLive(c uint8, live bool) {
	r.eachGrant(c, func(g *grant) {
		if !g.gone {
			g.left = !live
		}
	})
}

// change is a change of the key on one node, by a command or by a loss of data.
func (r *Reading) change(c *Case, e *history.Event) {
	g, forever, turn := &r.grant[e.Node-1], e.Until == history.Forever, c.turn(e)
	made := turn.made
	r.keyChanged = true
	if turn.free {
		*g = grant{}
		return
	}
	g.kept = !made && !g.forever && !forever && g.left && c.Probe > 0 && e.Client == c.Probe
	if made {
		g.holder = r.holderOf(e)
		g.left = g.gone || !r.those(active).Has(g.owner)
		if e.Client > 0 && r.clients[e.Client-1].is(acquiring) && !g.gone {
			r.clients[e.Client-1].made = uint8(e.Lease)
		}
	}
	switch {
	case !forever:
		g.lapse = 0
	case made && e.Client == 0:
		g.lapse = 0 // its age is unknown
	case e.Before != e.After || !g.forever:
		g.lapse = e.At + c.stamp()
	}
	g.forever = forever
}

// holderOf says who owns the value that e has made. What two leases of one client have made belongs to both. What a
// replica brings at a failover, or a disk after a crash, belongs to the lease that owned it when the copy last caught
// up. A key that exists from the beginning (a Change of client 0) belongs to no client.
func (r *Reading) holderOf(e *history.Event) holder {
	if e.Client == 0 {
		if h := r.copied[e.Node-1][e.Replica]; h.owner != 0 {
			return h
		}
		return holder{owner: noClient}
	}
	h := holder{owner: uint8(e.Client), lease: uint8(e.Lease), gone: r.ofFormer(e)}
	if old := r.grant[e.Node-1].holder; old.owner == h.owner && old.gone == h.gone && old.lease != h.lease {
		h.lease = 0
	}
	return h
}

// KeptByAsking reports whether e, not yet observed by r, refuses the probe, which by asking has prolonged the grants of
// those that are dead or do not believe in them: clients that ask more than once a lease keep such a lock for ever.
func (r *Reading) KeptByAsking(c *Case, e *history.Event) bool {
	kept := func(g *grant) bool { return g.kept }
	return e.Client == c.Probe && e.Kind == history.Refuse && e.Claims && c.barring(r.where(kept))
}

// granted are the nodes on which the key is the grant of one lease of a client, or (0) of any, by its present process.
func (r *Reading) granted(client uint8, lease int) nodes {
	return r.where(func(g *grant) bool { return g.isOf(client, lease) })
}

// leftovers are the nodes on which the key is left.
func (r *Reading) leftovers() nodes { return r.where(func(g *grant) bool { return g.left }) }

// barred reports whether so many nodes are down, or have a key that is left, that the others are no quorum.
func (r *Reading) barred(c *Case) bool { return c.barring(r.down | r.leftovers()) }

// unhindered says that nothing stands in the way of the lock: no client has it, no key is
// left and no server is down, nor, if the lock does not live on the key, has a client died.
func (r *Reading) unhindered() bool {
	return r.those(holding) == 0 && r.down|r.leftovers() == 0 && (r.keyChanged || r.those(dead) == 0)
}
