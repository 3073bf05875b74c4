// Package memo holds what every kind of server does with what it has computed, once for all of
// them. A [Table] numbers values (interning, also called hash consing), so that the state of a
// server names them by their numbers, equal values by equal ones; it renames the clients in them.
// A [Map] remembers effects, which can be computed again from their keys.
// [Memo.Check] checks that an effect does not depend on which client is which.
package memo

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A Memo is the tables of all servers of a simulator, and what the simulator and they tell each
// other about them.
type Memo struct {
	Room *table.Room
	// Symmetric has every effect checked when it is first used: so many clients, from the first, are
	// interchangeable. Where they are not, the step ends with a *node.AsymmetricError. Below 2
	// nothing is checked.
	Symmetric uint8
	// Plain has everything computed anew each time. It is the simple implementation that tests
	// compare with.
	Plain bool
	// Asymmetric: something tells clients apart, and they cannot change places at all.
	Asymmetric bool
	// ReadsClock: a request has read its server's clock so far. Waits: a client has had a server
	// wait for its replicas so far, so that it matters whose writes a replica lacks. Both are set by
	// the kind, and stay so.
	ReadsClock, Waits bool
	// Grain above 0: time stamps in texts and numerals count from the present, by whole grains. What servers do must then be the same
	// at other times of day; where it is not, the step ends with a *node.StampError.
	Grain time.Duration
	// Oldest above 0: stamps that are no later than this, since the Epoch, stand for all that are older still. What servers do must be
	// the same with those; where it is not, the step ends with a *node.StampError.
	Oldest time.Duration
	// Most above 0: a counter that has counted so far stands for all that have counted further. What servers do must be
	// the same with those, but for the number; where it is not, the step ends with a *node.CountError. Counts: one has counted that far.
	// Counted are the answers that are others if one has counted further, each with such another one. The kind makes it, or nil.
	Most    int
	Counts  bool
	Counted *Table[[2]uint32, [2]uint32]
	// Attempts has every effect tried with the names that clients have in later attempts, and with those of other attempts in the place of
	// other clients; where it is not the same, the step ends with a *node.AsymmetricError.
	Attempts bool
	// OnClear is called after all entries were discarded.
	OnClear func()

	turn   int // see Further
	tables []emptied
	maps   []emptied
}

// New has no tables yet.
func New(r *table.Room) *Memo { return &Memo{Room: r} }

type emptied interface {
	Len() int
	clear()
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

// StampShifts are the shifts with which an effect is tried, of a request and of data with these time stamps: to the Epoch and to other times of day;
// and where data holds ancient ones, to more ancient ones. nil: it need not be.
func (m *Memo) StampShifts(asked, kept clock.Stamps) []clock.Shift {
	first := min(asked.First, kept.First)
	if m.Grain == 0 || first == clock.Never {
		return nil
	}
	stride := process.Stride.Truncate(m.Grain)
	shifts := []clock.Shift{{By: -clock.Floor(first, m.Grain)}, {By: stride}, {By: process.Strides * stride}}
	if kept.First <= m.Oldest {
		shifts = append(shifts, clock.MoreAncient(m.Oldest)...)
	}
	return shifts
}

// Clear discards all entries and keeps the memory. States that were made before mean nothing
// afterwards.
func (m *Memo) Clear() {
	for _, e := range m.maps {
		e.clear()
	}
	for _, t := range m.tables {
		t.clear()
	}
	if m.OnClear != nil {
		m.OnClear()
	}
}

// A Map remembers values that can be computed again from their keys.
type Map[K comparable, V any] map[K]V

// NewMap adds a map to those of m.
func NewMap[K comparable, V any](m *Memo) Map[K, V] {
	t := Map[K, V]{}
	m.maps = append(m.maps, t)
	return t
}

// Get returns the value of a key, which is computed the first time.
func (t Map[K, V]) Get(key K, compute func() (V, error)) (v V, err error) {
	v, ok := t[key]
	if !ok {
		if v, err = compute(); err == nil {
			t[key] = v
		}
	}
	return v, err
}

// Len is the number of entries.
func (t Map[K, V]) Len() int { return len(t) }

func (t Map[K, V]) clear() { clear(t) }

// An Orbit says how the renamed forms of an act are found and compared.
type Orbit[X any] struct {
	// Checked is the number of clients, from the first, that were found interchangeable in the
	// effect of x.
	Checked func(x X) *uint8
	// Renamed is x with the clients renamed, and its effect.
	Renamed func(x X, to *history.Names) (X, error)
	// Commutes reports whether the effect of y, which is x renamed, is the renamed effect of x.
	Commutes func(x, y X, to *history.Names) bool
	Text     func(x X) []string // of x in an error
}

// Check checks that an act does not depend on which of the m.Symmetric first clients is which: if they
// are renamed in the data and the act, the new data and the answer are the same, renamed. A script
// that compares, sorts, cuts or hashes tokens, or contains one, can break this; so can a command
// that orders by name what is equal otherwise (ZRANK, ZRANGE). So every effect is checked by its
// results, when it is used for the first time.
//
// The orbit of an act is the set of all its renamed forms, each with its own effect. For every
// element of the orbit and every swap of two neighbouring clients, the effect of the renamed
// element must be the renamed effect. Every permutation is a sequence of such swaps and the orbit
// contains every element on the way, so the same holds for every permutation. It would not suffice
// to check the swaps of one element: a script that knows one order of three tokens depends on
// names, but no single swap of another order need show it.
//
// The check computes at most what a search without symmetry computes.
func Check[X any](m *Memo, x X, o *Orbit[X]) error {
	orbit := []X{x}
	*o.Checked(x) = m.Symmetric
	err := o.close(&orbit, m.Symmetric)
	if err != nil {
		for _, x := range orbit { // the next search must find that again
			*o.Checked(x) = 0
		}
	}
	return err
}

// close adds to the orbit what follows from it by renaming, and checks each pair.
func (o *Orbit[X]) close(orbit *[]X, clients uint8) error {
	for i := 0; i < len(*orbit); i++ {
		x := (*orbit)[i]
		for c := uint8(1); c < clients; c++ {
			swap := history.Swap(c, c+1)
			y, err := o.Renamed(x, swap)
			if err != nil {
				return err
			}
			if !o.Commutes(x, y, swap) {
				return &node.AsymmetricError{Command: o.Text(x)}
			}
			if checked := o.Checked(y); *checked < clients {
				*checked = clients
				*orbit = append(*orbit, y)
			}
		}
	}
	return nil
}
