package verdict

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"locklab/simulator/history"
)

// The limits of a Monitor, which keep it a value of fixed size.
const (
	MaxClients = history.MaxClients
	MaxNodes   = 8
	maxCopies  = history.Disk + 1 // of one node's data
)

// A Case is what the judges must know about a run before it begins: the head of its history. It is not part of
// a Monitor, so that states do not carry it.
type Case struct{ history.History }

// CaseOf takes the Case from the head of a history; Events, End and Horizon may be missing. A run with no node is one
// with a single node. It panics if there are more than MaxClients clients or MaxNodes nodes.
func CaseOf(h *history.History) Case {
	if h.Clients > MaxClients || h.Nodes > MaxNodes {
		panic(fmt.Sprintf("verdict: %d clients and %d nodes, but there is room for %d and %d: "+
			"raise MaxClients or MaxNodes", h.Clients, h.Nodes, MaxClients, MaxNodes))
	}
	c := Case{*h}
	c.Nodes, c.Events = max(h.Nodes, 1), nil
	return c
}

// room returns the number of clients that may be inside together with a client, from 1, itself counted.
func (c *Case) room(client uint8) int {
	if int(client) > len(c.Holders) {
		return 1
	}
	switch room := c.Holders[client-1]; room {
	case history.AnyNumber, history.NoLock:
		return MaxClients
	default:
		return max(room, 1)
	}
}

// unlocked reports whether there is no lock: only what is written is judged.
func (c *Case) unlocked() bool { return slices.Contains(c.Holders, history.NoLock) }

// judgesWrites reports whether what a client writes is judged: it excludes all others, or there is no lock.
func (c *Case) judgesWrites(client uint8) bool { return c.unlocked() || c.room(client) == 1 }

// stamp returns how long a stamp in the key stands; 0: there are none, as in a ZooKeeper.
func (c *Case) stamp() time.Duration {
	if c.ZooKeeper {
		return 0
	}
	return c.TTL
}

// Rest returns what counts of the length of a sleep: half a lease, or nothing of a shorter one.
func (c *Case) Rest(d time.Duration) time.Duration {
	if d < c.TTL/2 {
		return 0
	}
	return c.TTL / 2
}

// holder returns who holds the lock, by the value of the key; "": it is free.
func (c *Case) holder(value string) string {
	if c.Holder == nil {
		return value
	}
	return c.Holder(value)
}

// turn returns what an event means for the lock.
func (c *Case) turn(e *history.Event) turn {
	switch {
	case e.Key != c.Key:
	case e.Kind == history.Expire:
		return turn{made: true, free: true}
	case e.Kind == history.Change:
		is := c.holder(e.After)
		return turn{made: c.holder(e.Before) != is, free: is == ""}
	}
	return turn{}
}

// A turn is what a Change or an Expire of the key means for the lock.
type turn struct {
	made bool // it makes or takes away a lock, and does not go on with the one that stands
	free bool // there is none after it
}

// majority reports whether the nodes in s are a quorum. Old masters that live on do not count.
func (c *Case) majority(s nodes) bool { return c.count(s) >= c.Quorum() }

// barring reports whether the nodes in s are so many that the others are no quorum. Of four nodes, two bar although
// they are no majority. Where a client asks one of several nodes, it is not known which one it would ask: one bars.
func (c *Case) barring(s nodes) bool { return c.count(s) > c.Asked()-c.Quorum() }

func (c *Case) count(s nodes) int { return bits.OnesCount8(uint8(s) & (1<<c.Nodes - 1)) }

// admit panics if e is of a client or node that the run does not have: the judges
// would blame the wrong one. The nodes that are split have a second number each.
func (c *Case) admit(i int, e *history.Event, split nodes) {
	client := e.Client >= 0 && e.Client <= c.Clients && (e.Client > 0 || !oneOf(ofClients, e.Kind))
	known := e.Node <= c.Nodes || split>>(e.Node-c.Nodes-1)&1 != 0
	node := known && (e.Node > 0 || !oneOf(ofNodes, e.Kind))
	replica := e.Replica >= 0 && e.Replica < maxCopies
	if !client || !node || !replica {
		panic(fmt.Sprintf("verdict: event %d (%s) is of client %d and node %d (copy %d), "+
			"but the run has %d and %d (copies 0 to %d)",
			i, e.Kind, e.Client, e.Node, e.Replica, c.Clients, c.Nodes, maxCopies-1))
	}
}

// The kinds of event that some judge needs.
const (
	ofClients = 1<<history.Acquire | 1<<history.Enter | 1<<history.Refuse | 1<<history.Leave |
		1<<history.Release | 1<<history.Released | 1<<history.Done | 1<<history.Crash | 1<<history.Return |
		1<<history.Apply | 1<<history.Read | 1<<history.Write
	ofNodes = 1<<history.Apply | 1<<history.Change | 1<<history.Expire |
		1<<history.Down | 1<<history.Up | 1<<history.Replicate | 1<<history.Failover |
		1<<history.Split | 1<<history.Heal | 1<<history.Sync
)

func oneOf(kinds uint64, k history.EventKind) bool { return kinds>>k&1 != 0 }

// Needs reports whether any judge of a search of this run needs events of kind k.
func (c *Case) Needs(k history.EventKind) bool {
	return Matters(k) || c.Slow > 0 && (k == history.Pause || k == history.Resume) || c.Noisy > 0 && k == history.Send
}

// Matters reports whether any judge of every search needs events of kind k.
func Matters(k history.EventKind) bool { return oneOf(ofClients|ofNodes, k) }
