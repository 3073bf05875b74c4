package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	"locklab/simulator/node"
)

// An Effect is what a batch does to a keyspace.
type Effect struct {
	To, Reply uint32
	Lives     []Lifetime // of the keys of To that expire, in their order
	Changes   []Change   // the keys that the batch has touched, in the order of their names
	// needs names what the effect depends on besides the keyspace and the batch. An effect with needs
	// in Executor.effects holds nothing else: Executor.exact has the rest.
	needs   needs
	stood   []string // the counters that stand still, but were written
	checked memo.Checked
}

// ReadsLeft reports whether the effect depends on how long keys have still to live, and ReadsClock
// whether it depends on the server's clock as well.
func (e *Effect) ReadsLeft() bool  { return e.needs >= needsTTLs }
func (e *Effect) ReadsClock() bool { return e.needs >= needsClock }

// A Lifetime is a key's: what was left of the key at place Keep, or, if that is negative, D in whole milliseconds.
type Lifetime struct {
	Keep int
	D    time.Duration
}

// A Change is a key that a batch has touched, if only by giving it the time to live that it had. Was and Is are its
// places among the keys that expire; -1: it does not, or is not there. A value "" is a missing key.
type Change struct {
	Key, Before, After string
	Was, Is            int
}

// diff lists the keys that a command touched, in the order of their names. lives are of the keys of to that expire.
func diff(from, to *keyspace, lives []Lifetime) (changes []Change) {
	var names []string
	for _, k := range slices.Concat(from.keys, to.keys) {
		names = append(names, k.name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, b, is := from.find(name), to.find(name), to.place(name)
		if a == nil || b == nil || !a.same(b) || is >= 0 && lives[is].Keep < 0 {
			changes = append(changes, Change{name, a.text(), b.text(), from.place(name), is})
		}
	}
	return changes
}

var readsClock = node.Length{Of: node.ClockReads}

// noted is called with each length when it is asked for the first time.
func (x *Executor) noted(l node.Length) node.Length {
	x.memo.ReadsClock = x.memo.ReadsClock || l.Of == node.ClockReads
	return l
}

// noteLives notes the lifetimes that a request has set. Of a command that looks at the
// time, what was left of some key before may be that of another one now (RENAME).
func (x *Executor) noteLives(eff *Effect, left []int64, request []string) {
	if eff.needs != needsNothing {
		x.asked.ID(node.Length{Of: node.Remainders, Request: request})
	}
	for _, l := range eff.Lives {
		kept := l.Keep >= 0 || eff.needs != needsNothing && slices.Contains(left, l.D.Milliseconds())
		if !kept && l.D > 0 {
			x.asked.ID(node.Length{Of: node.KeyLife, D: l.D, Request: request})
		}
	}
}

// Effect returns the effect of a request on a keyspace; 0 is the empty one. left is what is left of each
// key that expires, whole milliseconds, and now the server's clock since the epoch: they
// matter only if the Effect says so. Nil: the request does more than that, as WAIT, transactions and subscriptions.
func (x *Executor) Effect(keyspace uint32, left []time.Duration, now time.Duration, request uint32) (*Effect, error) {
	b := x.batches.At(request)
	if b.wait != nil || b.on.known || b.subscribe || b.transaction.ends || b.transaction.watches != nil {
		return nil, nil
	}
	d := Data{keyspace: keyspace}
	for i := range left {
		d.deadline[i] = clock.Millis(now) + left[i].Milliseconds()
	}
	e, err := x.look(&d, now, request)
	if err != nil {
		return nil, err
	}
	return e, x.memo.Room.Take()
}

// Drop returns a keyspace without the key at a place among those that expire, and the name of that key.
func (x *Executor) Drop(keyspace uint32, place int) (to uint32, key string, err error) {
	d := Data{keyspace: keyspace}
	key = x.drop(&d, place).name
	return d.keyspace, key, x.memo.Room.Take()
}

// Expiring returns the number of keys of a keyspace that expire.
func (x *Executor) Expiring(keyspace uint32) int { return len(x.keyspaces.At(keyspace).ttls) }

// RequestText returns a request as histories show it.
func (x *Executor) RequestText(request uint32) []string { return x.batches.At(request).text }

// ReplyText returns a reply as redis-cli shows it.
func (x *Executor) ReplyText(reply uint32) string { return x.replies.At(reply).text }
