package simulator

import (
	"testing"

	"locklab/simulator/internal/clock"
)

// What the tests from outside the package need of its inside. They stand
// outside to use faults and algorithms, which import this package or must not
// be known to it.

// NoMemo makes s the simple implementation: code is run from its beginning for every
// observation, every state of a server is built anew for every command.
func NoMemo(s *Simulator) {
	for _, p := range s.procs {
		p.NoMemo()
	}
	s.servers.NoMemo()
}

// SetLimit sets the number of table entries from which on NewWorld clears them.
func SetLimit(s *Simulator, n int) { s.limit = n }

// SetIDs has the simulator run out of numbers for the entries of its tables,
// SetMaxOrphans of places for orphaned requests.
func SetIDs(s *Simulator, n int)        { s.room.IDs = n }
func SetMaxOrphans(s *Simulator, n int) { s.orphans.max = n }

const MaxOrphans = maxOrphans

const EndOfTime = clock.EndOfTime

const MaxPPM = clock.MaxPPM

// mustLab makes a simulator for the length of a test.
func mustLab(t testing.TB, s Config) *Simulator {
	t.Helper()
	l, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// MustLab is mustLab for the tests outside.
var MustLab = mustLab
