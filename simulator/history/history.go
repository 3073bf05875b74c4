// Package history is what happened in a run: one flat, ordered list of events, complete enough to be judged, drawn and
// described without making the run again. It does not know how runs are made, and imports the standard library only.
//
// The simulator writes the history; judges, texts and pictures read it. An event is not changed once it is written.
package history

import "time"

// A History is one finished run.
type History struct {
	Lock      string        `json:"lock"`                // id of the lock that was played
	Race      string        `json:"race"`                // id of the race that was played
	Clients   int           `json:"clients"`             // how many clients; client i is called "c<i>", from 1
	Nodes     int           `json:"nodes"`               // how many servers; node i is called "n<i>", from 1
	Shards    bool          `json:"shards,omitempty"`    // the key is on one of the servers, which each client chooses
	Key       string        `json:"key"`                 // the key that is locked
	ZooKeeper bool          `json:"zookeeper,omitempty"` // the server is a ZooKeeper ensemble and not a Redis
	Database  bool          `json:"database,omitempty"`  // the server is a database
	Local     bool          `json:"local,omitempty"`     // the lock is inside one process: no server plays a part
	TTL       time.Duration `json:"ttl_ns"`              // the clients' lease, on the clock that the lock uses
	Guard     Guard         `json:"guard,omitempty"`     // what the resource does about a write that comes too late
	// Holders is, for each client, how many may be inside together with it, itself
	// counted: 1 for a lock that excludes, AnyNumber for a reader. Nil: 1 for each.
	Holders []int `json:"holders,omitempty"`
	// Holder returns who holds the lock, by the key's value, "" if it is missing; "": it is free. A value that names
	// the holder of the one before goes on with its lock. nil: a key that exists is held, and each value is a holder.
	Holder func(value string) string `json:"-"`
	// Slow is the longest that an Acquire may last, and Noisy the number of requests a second that a client
	// may send while it waits; 0: no verdict depends on it.
	Slow  time.Duration `json:"slow_ns,omitempty"`
	Noisy int           `json:"noisy,omitempty"`
	// Probe is the client that a search adds: it asks for the lock when all others are done,
	// to see whether it can still be had. 0: there is none.
	Probe int `json:"probe,omitempty"`
	// Open says that this is the beginning of a run that goes on: what a client does not do here it may do later.
	Open bool `json:"-"`
	// Veiled says that views leave out which clients are inside: a question asks for it.
	Veiled  bool          `json:"-"`
	End     time.Duration `json:"end_ns"`  // true time at which the run was stopped
	Horizon bool          `json:"horizon"` // stopped by the clock, with work left; false: all clients were done
	Events  []Event       `json:"events"`  // in the order in which they happened; At never decreases
}

// Asked returns the number of servers that a client asks for the key.
func (h *History) Asked() int {
	if h.Shards {
		return 1
	}
	return max(h.Nodes, 1)
}

// Quorum returns the number of servers whose keys make a client the lock's holder.
func (h *History) Quorum() int { return h.Asked()/2 + 1 }

// A Guard is what the protected resource does about a write that comes too late.
type Guard string

const (
	Naive         Guard = ""                // nothing: it takes every write
	Fenced        Guard = "fenced"          // it refuses a fencing token lower than the highest it has seen
	CompareAndSet Guard = "compare-and-set" // it refuses a write that is not based on its newest version
	Once          Guard = "once"            // it refuses all writes but the first
)

// In Holders: any number of clients may be inside together; or there is no lock, and only the data are judged.
const (
	AnyNumber = -1
	NoLock    = -2
)

// Resource is the Node of an event of the protected resource, which is no lock server.
const Resource = -1

// Disk is the Replica of a Change after a restart: the value is what Node had on disk.
const Disk = 2

// Exception is the Note of a Leave by an exception: the process lives on, but no Release follows.
const Exception = "exception"

// GaveUp is the Note of a Refuse by which a client itself gives up, at its own deadline: no server refused it.
const GaveUp = "gave up: context deadline exceeded"

// FromPause is the Note of a Wake by which a thread goes on that was paused alone.
const FromPause = "from its pause"

// Way forms the Note of a Wake by which code goes on in one of several ways, by chance: which, from 1, of how many.
const Way = "way %d of %d"

// FromStart is the Note of a ClockStep of a client whose program begins with it.
const FromStart = "start"

// Forever is the Until of a key without a time to live.
const Forever time.Duration = 1<<63 - 1

// An Event is one thing that happened at one instant. Which fields mean something depends on Kind; the others are zero.
type Event struct {
	At    time.Duration `json:"at_ns"` // true time since the start of the run
	Kind  EventKind     `json:"kind"`
	Fault string        `json:"fault,omitempty"` // which one it is, by name (Fault)

	Client int           `json:"client,omitempty"`  // 1-based; 0: none
	Thread int           `json:"thread,omitempty"`  // 0: the client's main thread; 1…: its timers (a watchdog)
	Skew   time.Duration `json:"skew_ns,omitempty"` // Client's own clock minus true time, at At
	Node   int           `json:"node,omitempty"`    // 1-based, or Resource; 0: none

	// Lease is which of Client's attempts the event belongs to, and with it the lease that the attempt was given:
	// attempts count from 1, and after 255 from 1 again. A request belongs to the attempt in which it was sent, also if
	// it arrives during a later one; a timer to the one in which it was armed. To ask once more while inside, or with a
	// Note (renew, check), is no new attempt. 0: not known (Client's own events, Read, Write, Change).
	Lease int `json:"lease,omitempty"`

	// Msg ties the Send, Apply, Answer (or Timeout, Lost…) of a request together, from 1 in a run; 0: no message.
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
	// Until is the true time from which the key is gone if no command changes it
	// and no clock is stepped; Forever without a TTL (Change with After != "").
	Until time.Duration `json:"until_ns,omitempty"`

	// Token is the fencing token that came with a Read or Write, or that a lease carries at Enter; 0: none.
	Token uint64 `json:"token,omitempty"`
	// Version counts the resource's accepted writes (Read: as seen; Write: what it has become, or still is if refused).
	Version int `json:"version,omitempty"`
	// Base is the version that the writer had read (Write).
	Base int `json:"base,omitempty"`
	// OK says that the resource accepted a Write, or that the lock was found to be still the
	// client's own (Released, and the Enter that answers a renewal or check; see Claims).
	OK bool `json:"ok,omitempty"`
	// Claims says that the lock makes a statement, which can be false: that the lock is or is not the client's own
	// (Released, and the Enter or Refuse that answers a renewal or check), or that another client has it (any other
	// Refuse). Without it the answer is that the outcome is not known.
	Claims bool `json:"claims,omitempty"`
	// Replica is which copy of Node's data it is, its replicas from 0 (Replicate,
	// Failover, Split; in a Change, the copy that the value came from).
	Replica int8 `json:"replica,omitempty"`

	// D is the length of a Pause (0: until its Resume), Sleep, Hang or Delay, and the size of a ClockStep or Fault.
	D time.Duration `json:"d_ns,omitempty"`
	// Note is the text of an error (Refuse, Released, Timeout, Broken) or a short remark.
	Note string `json:"note,omitempty"`

	// Rests says that its code has Client wait, and that none of its threads waits for an answer meanwhile (Sleep).
	Rests bool `json:"rests,omitempty"`

	// Code are the lines of Client's code that made the call of a Send or a Sleep: "file.go:12", the innermost call
	// first. Only if the run was to record it. Shared: do not change it.
	Code []string `json:"code,omitempty"`
}

// Name returns the name of the event: its kind, or the name of the fault that it is.
func (e *Event) Name() string {
	if e.Kind == Fault {
		return e.Fault
	}
	return e.Kind.String()
}

// EventKind says what sort of thing happened.
type EventKind uint8

// The kinds of event. Those of one client come in the order
// Acquire (Enter … Leave Release Released | Refuse), over and over, then Done.
const (
	_ EventKind = iota

	Acquire  // Client asks its lock for the lock
	Enter    // Acquire returned a lease: Client is inside the critical section from now on
	Refuse   // Acquire returned without a lease; Note says why
	Leave    // Client is outside again: its work is done, or failed (Note: Exception)
	Release  // Client asks its lock to give the lock back
	Released // Release returned; OK and Claims, Note on error
	Done     // Client's program has ended

	Send    // a request leaves Client for Node
	Apply   // Node executes it; the Changes it made follow directly
	Answer  // the reply reaches Client
	Timeout // Client gives up waiting for the reply; the request may still arrive
	Broken  // the connection broke under a waiting request (refused, reset)
	Change  // a command of Client changed Key at Node, its value or its Until (After == "": removed it)
	Expire  // Key's time to live ended at Node

	Read  // the resource served Client's read
	Write // the resource took or refused Client's write

	Sleep // Client's thread sleeps for D of its own clock
	Wake  // …and goes on

	Crash       // Client's process is killed
	Pause       // Client's process stands still for D
	Resume      // …and goes on
	ClockStep   // Client's or Node's clock jumps by D; with the note FromStart, it is off by D from the start
	LoseRequest // a request of Client is lost on its way to Node
	LoseReply   // Node's reply is lost on its way to Client
	Down        // Node is gone, with all connections to it
	Up          // Node is back; Note says with what data
	Replicate   // a replica of Node has caught up with it
	Failover    // a replica of Node takes its place, with what it has

	// Node's network splits. Its old master lives on with its data, and Client can reach only that one; a replica takes
	// its place for the others. Until the Heal the old master has the number of Node plus the number of all nodes. One
	// more Split of the same node cuts off one more Client.
	Split
	Heal // Node's old master drops its data and becomes a replica

	Sync // Node's disk has caught up with it

	Hang  // Node stands still for D: what arrives waits
	Delay // Client's request, or the reply to it (Note says which), is held up for D

	Reject   // Node answers Client's request with an error (Reply) and does not execute it
	External // Node executes Cmd, which no client sent; Note says why. The Changes it made follow directly

	// At a ZooKeeper Key stands for a znode at which clients queue. Its value is the name of the first in line, and the
	// Client of the Change that made it first is its owner. If the session of the first ends, that is an Expire.

	SessionEnd // Node ends Client's session; Client does not know. The Expires and Changes it made follow directly
	Fire       // a watch of Client on Key fires at Node, and its notification (Note) is on the way
	Reconnect  // Client has a connection to Node again; Note says if its session has ended

	Push // Node sends Client a message (Reply) that it has subscribed to; the Answer is when Client hears it

	// A fault without a kind of its own, which the field Fault names, befalls Client, Node
	// or none of them. The events of its effects follow. No judge looks at it.
	Fault

	Return // Client's process, which was killed, is started anew: another one, with none of what that one knew
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
	SessionEnd: "session-end", Fire: "fire", Reconnect: "reconnect", Push: "push", Fault: "fault", Return: "return",
}

// String gives the kind's name, as in JSON.
func (k EventKind) String() string {
	if int(k) < len(kindNames) && k > 0 {
		return kindNames[k]
	}
	return "unknown"
}

// MarshalText writes the kind's name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind's name; the error of an unknown one is an *UnknownKindError.
func (k *EventKind) UnmarshalText(b []byte) error {
	for i, n := range kindNames {
		if n != "" && n == string(b) {
			*k = EventKind(i)
			return nil
		}
	}
	return &UnknownKindError{Name: string(b)}
}

// An UnknownKindError is the name of a kind of event that this version does not know.
type UnknownKindError struct{ Name string }

func (e *UnknownKindError) Error() string { return "history: unknown event kind " + e.Name }

// Fault reports whether events of this kind are faults, or happen without one.
func (k EventKind) Fault() bool {
	switch k {
	case Crash, Pause, ClockStep, LoseRequest, LoseReply, Down, Failover, Split, Hang, Delay, Reject, External,
		Fault, Return:
		return true
	}
	return false
}
