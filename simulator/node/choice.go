package node

import (
	"fmt"
	"time"
)

// A Verb is what a Choice does. Its numbers stand in traces and never change.
type Verb uint8

// The ordinary course of things. Faults use verbs of their own, from FaultVerb on; see simulator.Fault.
const (
	Pass      Verb = 1  // true time moves on by D; Thread is Pending, or 0
	Arrive    Verb = 2  // the request of Client's Thread reaches its server
	Answer    Verb = 3  // the reply reaches Client's Thread
	Wake      Verb = 4  // the sleep of Client's Thread is over
	GiveUp    Verb = 5  // Client's Thread has waited long enough for its reply
	Resume    Verb = 6  // Client's pause ends, or its thread's (Thread is 1 more; 0: the process's), or Node's outage
	Orphaned  Verb = 7  // an orphaned request of Client arrives; Thread is its place
	Replicate Verb = 8  // Node's replica or disk catches up; Thread: the replica, from 0, or behind them the disk
	Start     Verb = 9  // Client's program begins
	Unblock   Verb = 10 // the server answers the WAIT of Client's Thread, or sends it a message
	Heal      Verb = 11 // the network of Node, which is split, heals
	Deliver   Verb = 12 // a notification reaches Client's Thread, which waits for it
	Reconnect Verb = 13 // Client's library makes the connection of its session again
	Survive   Verb = 14 // the reply reaches Client's Thread although its connection has broken
	Choose    Verb = 15 // Client's Thread, which may wake, goes on in way Node, from 1, or begins with a wrong clock
	End       Verb = 16 // what still stands at Node ends: Client's session, or Thread; Node 0: all, at all servers

	FaultVerb Verb = 32
)

// Pending as the Thread of a Pass, or of a jump of a server's clock: what ends at the instant to which
// it leads still stands there, until an End ends it, or time passes on. Without it all of that has ended.
const Pending = 1

var verbNames = map[Verb]string{
	Pass: "pass", Arrive: "arrive", Answer: "answer", Wake: "wake", GiveUp: "give-up",
	Resume: "resume", Orphaned: "orphaned", Replicate: "replicate", Start: "start", Unblock: "unblock", Heal: "heal",
	Deliver: "deliver", Reconnect: "reconnect", Survive: "survive", Choose: "choose", End: "end",
}

// A Choice is one thing that may happen next. It is comparable.
type Choice struct {
	Verb   Verb
	Client int8          // from 1
	Thread int8          // 0: the main one; Orphaned: the place; Replicate, Failover, Split: the replica; Pass: Pending
	Node   int8          // from 1; Choose: the way
	D      time.Duration // Pass, and faults that have a length or size
}

// String gives the choice for error messages. Faults print as their number; Simulator.Describe knows their names.
func (c Choice) String() string { return c.Text(verbNames[c.Verb]) }

// Text is String with another word for the verb; "": its number.
func (c Choice) Text(verb string) string {
	if verb == "" {
		verb = fmt.Sprintf("verb %d", c.Verb)
	}
	s := verb
	if c.Client != 0 {
		s += fmt.Sprintf(" c%d", c.Client)
	}
	if c.Thread != 0 && c.Verb != Pass {
		s += fmt.Sprintf(".%d", c.Thread)
	}
	if c.Verb == Choose {
		s += fmt.Sprintf(" way %d", c.Node)
	} else if c.Node != 0 {
		s += fmt.Sprintf(" n%d", c.Node)
	}
	if c.D != 0 {
		s += " " + c.D.String()
	}
	if c.Verb == Pass && c.Thread == Pending {
		s += " standing"
	}
	return s
}

// Anonymous is the choice without who and where, for what is said of a kind of choice.
func (c Choice) Anonymous() Choice { return Choice{Verb: c.Verb, D: c.D} }
