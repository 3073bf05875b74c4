package bubble

import (
	"fmt"
	"time"
)

// NeedsTimeError is code whose actions depend on its clock, so that it has to be timed. It is no failure.
type NeedsTimeError struct{ Client int }

func (e *NeedsTimeError) Error() string {
	return fmt.Sprintf("simulator: what c%d does depends on its clock", e.Client)
}

// DrawnError is code that turned out to draw a value. It is a way to go on, not a failure: the Drawn of its host has
// that value now, so that everything can begin again.
type DrawnError struct{ Client int }

func (e *DrawnError) Error() string {
	return fmt.Sprintf("simulator: c%d draws values that it sends", e.Client)
}

// StallError is code that neither goes on nor waits for anything that the lab could give it.
type StallError struct {
	Client int
	Stuck  bool          // it waits for something of its own that will never come
	After  time.Duration // else the processor time within which it did not come to rest
	State  string        // of the goroutine: "sync.Mutex.Lock"; "": none was found
	Stack  string        // its stack
}

func (e *StallError) Error() string {
	if e.Stuck {
		return fmt.Sprintf("simulator: c%d waits for nothing that could come: [%s]\n%s", e.Client, e.State, e.Stack)
	}
	return fmt.Sprintf("simulator: c%d did not come to rest within %v of processor time: [%s]\n%s",
		e.Client, e.After, e.State, e.Stack)
}

// EndlessError is code that makes requests in a history without end.
type EndlessError struct {
	Client int
	Ended  bool // its program has ended, and a goroutine goes on; else no time passes between its requests
	Asks   int  // requests of that kind
}

func (e *EndlessError) Error() string {
	return fmt.Sprintf("simulator: c%d has asked %d times, its program has ended: %t", e.Client, e.Asks, e.Ended)
}

// PanicError is code that panicked.
type PanicError struct {
	Client int
	Value  any
	Stack  string
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("simulator: the code of c%d panicked: %v\n%s", e.Client, e.Value, e.Stack)
}
