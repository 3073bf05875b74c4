package locktest

import (
	"time"
)

// Bounds say what is searched.
type Bounds struct {
	Clients   int           // processes that run the code, 1 to 6
	Attempts  int           // how often each runs it, 1 to 9; 0: 2
	Budget    string        // faults that may happen, as in "crash=1,pause=1"; "": none
	Servers   int           // Redis servers: 1, or 3 to 7; 0: 1
	TTL       time.Duration // the lease that the code asks for
	Key       string        // the key that it locks; "": the one key that it writes
	Fenced    bool          // the resource refuses fencing tokens below the highest it has seen
	MaxStates int           // ends the search; 0: 5 million
}

func (b Bounds) filled() Bounds {
	if b.Attempts == 0 {
		b.Attempts = 2
	}
	if b.Servers == 0 {
		b.Servers = 1
	}
	if b.MaxStates == 0 {
		b.MaxStates = 5_000_000
	}
	return b
}
