package simulator

import (
	"testing"

	"locklab/simulator/internal/clock"
)

// What the tests from outside the package need of its inside. They stand
// outside to use faults and algorithms, which import this package or must not
// be known to it.

// Forgetful makes l the dumb twin: code is run from its beginning for every
// observation, every state of a server is built anew for every command.
func Forgetful(l *Simulator) {
	l.noMemo = true
	l.table.engine.noMemo = true
}

// SetLimit sets the number of table entries from which on NewWorld clears them.
func SetLimit(l *Simulator, n int) { l.limit = n }

// SetIDs has the lab run out of numbers for the entries of its tables, SetMaxLate of
// places for late requests.
func SetIDs(l *Simulator, n int)     { l.room.IDs = n }
func SetMaxLate(l *Simulator, n int) { l.lates.max = n }

const MaxLate = maxLate

const EndOfTime = clock.EndOfTime

const MaxPPM = clock.MaxPPM

// mustLab makes a lab for the length of a test.
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
