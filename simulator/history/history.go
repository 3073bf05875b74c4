// Package history is what happened in a run: one flat, ordered list of events,
// complete enough to be judged, drawn and told without playing the run again.
// It knows nothing of how runs are made, and imports the standard library only.
//
// Whoever plays a run writes the history; the judges, the texts and the
// pictures read it. Nobody changes an event once it is written.
package history

import "time"

// A History is one finished run.
type History struct {
	Strategy  string        `json:"strategy"`            // id of the lock that was played
	Scenario  string        `json:"scenario"`            // id of the scenario that was played
	Clients   int           `json:"clients"`             // how many clients; client i is called "c<i>", from 1
	Nodes     int           `json:"nodes"`               // how many servers; node i is called "n<i>", from 1
	Key       string        `json:"key"`                 // the key that is locked
	ZooKeeper bool          `json:"zookeeper,omitempty"` // the server is an ensemble of ZooKeeper, and no Redis
	TTL       time.Duration `json:"ttl_ns"`              // lease that the run asked for, on the clock the lock uses
	Guard     Guard         `json:"guard,omitempty"`     // what the resource does about a write that comes too late
	// Holders is with how many inside, itself counted, each client may be inside:
	// 1 is alone, AnyNumber is a reader among readers. Nil: each alone.
	Holders []int         `json:"holders,omitempty"`
	End     time.Duration `json:"end_ns"`  // true time at which the run was stopped
	Horizon bool          `json:"horizon"` // stopped by the clock, with work left; false: everybody was done
	Events  []Event       `json:"events"`  // in the order in which they happened; At never decreases
}

// A Guard is what the protected resource does about a write that comes too late.
type Guard string

const (
	Naive         Guard = ""                // nothing: it takes every write
	Fenced        Guard = "fenced"          // it refuses a fencing token lower than the highest it has seen
	CompareAndSet Guard = "compare-and-set" // it refuses a write that does not build on its newest version
)

// AnyNumber of clients may be inside together.
const AnyNumber = -1

// Resource is the Node of an event that concerns the protected resource and
// not a lock server.
const Resource = -1

// Disk is the Replica of a Change that a crash brought: what Node had on disk.
const Disk = 2

// Exception is the Note of a Leave by which the client's business died: no
// Release follows, though its process lives on.
const Exception = "exception"

// Forever is the Until of a key that has no time to live.
const Forever time.Duration = 1<<63 - 1

// An Event is one thing that happened at one instant. Which fields mean
// something depends on Kind; the others are zero.
type Event struct {
	At   time.Duration `json:"at_ns"` // true time since the start of the run
	Kind Kind          `json:"kind"`

	Client int           `json:"client,omitempty"`  // 1-based; 0: nobody's
	Thread int           `json:"thread,omitempty"`  // 0: the client's main thread; 1…: its timers (a watchdog)
	Skew   time.Duration `json:"skew_ns,omitempty"` // Client's own clock minus true time, at At
	Node   int           `json:"node,omitempty"`    // 1-based, or Resource; 0: none

	// Msg ties the Send, Apply, Answer (or Timeout, Lost…) of one request
	// together. It counts from 1 within a run; 0: no message.
	Msg int `json:"msg,omitempty"`
	// Cmd is the command as it was sent, name first (Send, Apply, Answer,
	// Timeout, Broken, LoseRequest, LoseReply, Delay, Reject, Stranger). Shared: do not change it.
	Cmd []string `json:"cmd,omitempty"`
	// Reply is the server's answer in redis-cli's notation: OK, (nil), 1,
	// "text", (error) … (Apply, Answer, Reject, Stranger, Push).
	Reply string `json:"reply,omitempty"`

	// A key's value before and after (Change, Expire). "" is a missing key;
	// a string is its text; other types are written out in one canonical line.
	Key    string `json:"key,omitempty"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Until is the true time from which the key is gone if nobody touches it
	// and no clock is stepped; Forever without a TTL (Change with After != "").
	Until time.Duration `json:"until_ns,omitempty"`

	// Token is the fencing token that came with a Read or Write, or that a
	// lease carries at Enter; 0: none.
	Token uint64 `json:"token,omitempty"`
	// Version counts the resource's accepted writes (Read: what was seen;
	// Write: what it has become, or still is when refused).
	Version int `json:"version,omitempty"`
	// Base is the version that the writer had read (Write).
	Base int `json:"base,omitempty"`
	// OK says: the resource accepted a Write; a Released call found the lock
	// still its own (see Claims).
	OK bool `json:"ok,omitempty"`
	// Claims says that the strategy's release reports whether the lock was
	// still its own, so that OK is a statement that can be false (Released).
	Claims bool `json:"claims,omitempty"`
	// Replica is which copy of Node's data it is: its replicas count from 0
	// (Replicate, Failover, Split; with a Change, what brought it).
	Replica int8 `json:"replica,omitempty"`

	// D is the length of a Pause or Sleep (0: a Pause that lasts until its
	// Resume), a Hang or Delay, and the size of a ClockStep.
	D time.Duration `json:"d_ns,omitempty"`
	// Note is an error's text (Refuse, Released, Timeout, Broken) or a short
	// plain remark.
	Note string `json:"note,omitempty"`

	// Code is where in Client's code a Send or a Sleep was asked for: "file.go:12",
	// the innermost call first. Only where the run was asked to look; it is no part
	// of what happened, and so not written out. Shared: do not change it.
	Code []string `json:"-"`
}

// Kind says what sort of thing happened.
type Kind uint8

// The kinds of event. A client's way is
// Acquire (Enter … Leave Release Released | Refuse), over and over, then Done.
const (
	_ Kind = iota

	Acquire  // Client asks its strategy for the lock
	Enter    // Acquire returned a lease: Client is inside the critical section from now on
	Refuse   // Acquire returned without a lease; Note says why
	Leave    // Client is outside again: its work is done, or died (Note: Exception)
	Release  // Client asks its strategy to give the lock back
	Released // Release returned; OK and Claims, Note on error
	Done     // Client's program has ended

	Send    // a request leaves Client for Node
	Apply   // Node executes it; the Changes it made follow directly
	Answer  // the reply reaches Client
	Timeout // Client gives up waiting for the reply; the request may still arrive
	Broken  // the connection broke under a waiting request (refused, reset)
	Change  // a command of Client changed Key at Node (After == "": removed it)
	Expire  // Key's time to live ended at Node

	Read  // the resource served Client's read
	Write // the resource took or refused Client's write

	Sleep // Client's thread sleeps for D of its own clock
	Wake  // …and goes on

	Crash       // Client's process is killed
	Pause       // Client's process stands still for D
	Resume      // …and goes on
	ClockStep   // Client's or Node's clock jumps by D
	LoseRequest // a request of Client is lost on its way to Node
	LoseReply   // Node's reply is lost on its way to Client
	Down        // Node is gone, with everybody's connections to it
	Up          // Node is back; Note says with what data
	Replicate   // a replica of Node has caught up with it
	Failover    // a replica of Node takes its place, with what it has

	// Node's old master lives on, cut off with Client (or joined by it), with what
	// it had; a replica takes its place for the others. Until the Heal the old
	// master goes by the number of Node plus that of all nodes.
	Split
	Heal // Node's old master gives up what it has, and becomes a replica

	Sync // Node's disk has caught up with it

	Hang  // Node stands still for D: what arrives waits
	Delay // Client's request, or the reply to it (Note says which), is held up for D

	Reject   // Node answers Client's request with an error (Reply) and does not execute it
	External // Node executes Cmd, which no client sent; Note says why. The Changes it made follow directly

	// At a ZooKeeper Key stands for a znode at which clients queue, and its value is
	// the name of the first in line, whose owner is the Client of the Change that
	// made it so. If the session of the first ends that is an Expire.

	SessionEnd // Node ends Client's session; Client does not know. The Expires and Changes it made follow directly
	Fire       // a watch of Client on Key fires at Node, and the news of it (Note) are on the way
	Reconnect  // Client has a connection to Node again; Note says if its session has ended

	Push // Node sends Client a message (Reply) that it has subscribed to; the Answer is when Client hears it
)

var kindNames = [...]string{
	Acquire: "acquire", Enter: "enter", Refuse: "refuse", Leave: "leave",
	Release: "release", Released: "released", Done: "done",
	Send: "send", Apply: "apply", Answer: "answer", Timeout: "timeout", Broken: "broken",
	Change: "change", Expire: "expire", Read: "read", Write: "write",
	Sleep: "sleep", Wake: "wake",
	Crash: "crash", Pause: "pause", Resume: "resume", ClockStep: "clock-step",
	LoseRequest: "lose-request", LoseReply: "lose-reply",
	Down: "down", Up: "up", Replicate: "replicate", Failover: "failover",
	Split: "split", Heal: "heal", Sync: "sync", Hang: "hang", Delay: "delay", Reject: "reject", External: "stranger",
	SessionEnd: "session-end", Fire: "fire", Reconnect: "reconnect", Push: "push",
}

// String gives the kind's name, as it stands in JSON.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "unknown"
}

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name; an unknown one is an error that names it.
func (k *Kind) UnmarshalText(b []byte) error {
	for i, n := range kindNames {
		if n != "" && n == string(b) {
			*k = Kind(i)
			return nil
		}
	}
	return &UnknownKindError{Name: string(b)}
}

// UnknownKindError is an event kind that this version does not know.
type UnknownKindError struct{ Name string }

func (e *UnknownKindError) Error() string { return "history: unknown event kind " + e.Name }

// Fault says whether events of this kind are somebody's misfortune rather than
// the ordinary course of things.
func (k Kind) Fault() bool {
	switch k {
	case Crash, Pause, ClockStep, LoseRequest, LoseReply, Down, Failover, Split, Hang, Delay, Reject, External:
		return true
	}
	return false
}
