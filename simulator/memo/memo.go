// Package memo holds what every kind of server does with what it computes, once for all of them. A [Table] numbers
// values (package intern), so that a server's state names them by number, equal values by equal ones; it renames the
// clients in them. A map remembers effects. [Effects.Check] checks that an effect commutes with translations.
package memo

import (
	"time"

	"locklab/simulator/intern"
)

// A Memo is the tables of all servers of a simulator, and what the simulator and they tell each other about them.
type Memo struct {
	Room *intern.Room
	// Symmetric has every effect checked when it is first used: so many clients, from the first, are interchangeable.
	// Where they are not, the step ends with a *hypothesis.Refuted. Below 2 nothing is checked.
	Symmetric uint8
	// Plain has everything computed anew each time. It is the simple implementation that tests compare with.
	Plain bool
	// Asymmetric: something tells clients apart, and they cannot change places at all.
	Asymmetric bool
	// ReadsClock: a request has read its server's clock so far. Waits: a client has had a server wait for its replicas
	// so far, so that it matters whose writes a replica lacks. Both are set by the kind, and stay so.
	ReadsClock, Waits bool
	// Grain above 0: time stamps in texts and numerals count from the present, by whole grains. What servers do must
	// then be the same at other times of day; where it is not, the step ends with a *hypothesis.Refuted.
	Grain time.Duration
	// Oldest above 0: stamps that are no later than this, since the Epoch, stand for all that are older still. What
	// servers do must be the same with those; where it is not, the step ends with a *hypothesis.Refuted.
	Oldest time.Duration
	// Most above 0: a counter that has counted so far stands for all that have counted further. What servers do must be
	// the same with those, but for the number; where it is not, the step ends with a *hypothesis.Refuted. Counts: one
	// has counted that far. Counted are the answers that are others if one has counted further, each with such another
	// one. The kind makes it, or nil.
	Most    int
	Counts  bool
	Counted *Table[[2]uint32, [2]uint32]
	// Attempts has every effect tried with the names that clients have in later attempts, and with those of other
	// attempts in the place of other clients; where it is not the same, the step ends with a *hypothesis.Refuted.
	Attempts bool
	// Drawn, if it is not nil, makes of a text with tokens one with values as code draws them. Every effect is tried
	// with those; where it is not the same, the step ends with a *hypothesis.Refuted.
	Drawn func(text string) string
	// OnClear is called after all entries were discarded.
	OnClear func()

	turn   int // see Further
	tables []emptied
	maps   []emptied
}

// New has no tables yet.
func New(r *intern.Room) *Memo { return &Memo{Room: r} }

type emptied interface {
	Len() int
	Clear()
}

// Len is the number of entries, those of maps included.
func (m *Memo) Len() (n int) {
	for _, t := range m.tables {
		n += t.Len()
	}
	for _, e := range m.maps {
		n += e.Len()
	}
	return n
}

// Clear discards all entries and keeps the memory. States that were made before mean nothing afterwards.
func (m *Memo) Clear() {
	for _, e := range m.maps {
		e.Clear()
	}
	for _, t := range m.tables {
		t.Clear()
	}
	if m.OnClear != nil {
		m.OnClear()
	}
}

// NewMap adds a map to those of m.
func NewMap[K comparable, V any](m *Memo) intern.Map[K, V] {
	t := intern.Map[K, V]{}
	m.maps = append(m.maps, t)
	return t
}
