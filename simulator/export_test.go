package simulator

import (
	"testing"

	"locklab/simulator/internal/clock"
)

// Internals that external tests of the package need. These tests are external because
// they use faults and algorithms, which import this package or must not be known to it.

// NoMemo makes s the simple implementation: it runs code from its beginning for every
// observation, and builds every state of a server anew for every command.
func NoMemo(s *Simulator) {
	for _, p := range s.clients.procs {
		p.NoMemo()
	}
	s.memo.Plain = true
}

// Executions says how often the program of client c, from 1, has been started:
// everything else came out of its table.
func (s *Simulator) Executions(c int) int { return s.clients.procs[c-1].Starts() }

// SetLimit sets the number of table entries from which on NewWorld clears them.
func SetLimit(s *Simulator, n int) { s.limit = n }

// SetIDs limits the numbers that the simulator has for the entries of its tables,
// SetMaxOrphans the places for orphaned requests.
func SetIDs(s *Simulator, n int)        { s.room.IDs = n }
func SetMaxOrphans(s *Simulator, n int) { s.mostOrphans = n }

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

// MustLab is mustLab for external tests.
var MustLab = mustLab
