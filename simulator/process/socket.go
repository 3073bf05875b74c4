package process

import (
	"net"
	"os"
	"syscall"
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
