package process

import (
	"net"
	"os"
	"syscall"
)

// An Observation is what a thread learns when its operation ends.
type Observation struct {
	Thread uint8
	Kind   ObservationKind
	// Val is, Replied and Notified: the number of the answer; TimedOut: the message
	// that comes when the time is over, 0: none; Slept, after Idle or Branch: the way in which the
	// thread goes on; ClockRead: the reading; ListRead: the servers, bit n-1 for server n; of the resource: its answer.
	Val int64
}

// ObservationKind is a kind of observation.
type ObservationKind uint8

const (
	Started   ObservationKind = iota + 1 // the program begins
	Replied                              // the server answered
	TimedOut                             // no answer came in time
	Broken                               // the connection is gone
	Slept                                // the sleep is over
	ClockRead                            // the clock was read
	Notified                             // a watch has fired
	ListRead                             // the list of servers was read
)

// Err is how an observation that is no answer looks to code that reads or writes a
// socket: a *net.OpError; nil for any other observation. op is "read" or "write".
func (s Observation) Err(op string) error {
	switch s.Kind {
	case TimedOut:
		return &net.OpError{Op: op, Net: "tcp", Err: os.ErrDeadlineExceeded}
	case Broken:
		return &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNRESET}
	}
	return nil
}
