package intern

import "hash/maphash"

// An Index finds numbers by tags, bits of the hashes of what has them: open addressing. It has 1, 2, 4, 8 ... places.
type Index []Slot

// A Slot is a number plus one, with its tag. The last bits of this say where the index has the number, the others tell
// most of what has other numbers apart without a look at it.
type Slot struct{ ID, Tag uint32 }

// At returns the place at which the index has a tag, or would have it, unless there is another in its place.
func (x Index) At(tag uint32) uint32 { return tag & uint32(len(x)-1) }

// After is the place that follows.
func (x Index) After(at uint32) uint32 { return x.At(at + 1) }

// Full reports whether an index with so many numbers is to grow.
func (x Index) Full(n int) bool { return n*5 > len(x)*4 }

// Grown is x with twice the places. It looks at nothing that has a number: where the index has that depends on its tag.
func (x Index) Grown() Index {
	to := make(Index, 2*len(x))
	for _, there := range x {
		if there.ID == 0 {
			continue
		}
		at := to.At(there.Tag)
		for to[at].ID != 0 {
			at = to.After(at)
		}
		to[at] = there
	}
	return to
}

// A Table numbers keys, equal ones by the same number, from 0 on, and has a value for each.
type Table[K comparable, V any] struct {
	Room   *Room
	Keys   []K // by number, as the values; to be read only
	Values []V

	what  string    // its entries, as in Room.Next
	value func(K) V // of a new key, for ID
	seed  maphash.Seed
	index Index // a map would have each key once more
}

// NewTable makes a table without entries, which are called what in errors; see Room.Next. value makes the value of a
// new key for ID; nil: ID is not called.
func NewTable[K comparable, V any](r *Room, what string, value func(K) V) Table[K, V] {
	return Table[K, V]{Room: r, what: what, value: value, seed: maphash.MakeSeed(), index: make(Index, 1<<4)}
}

// find returns the tag of a key, and where the index has it, or would.
func (t *Table[K, V]) find(k K) (tag, at uint32) {
	tag = uint32(maphash.Comparable(t.seed, k))
	at = t.index.At(tag)
	for t.index[at].ID != 0 && (t.index[at].Tag != tag || t.Keys[t.index[at].ID-1] != k) {
		at = t.index.After(at)
	}
	return tag, at
}

// Find is the number of a key, if it has one.
func (t *Table[K, V]) Find(k K) (id uint32, ok bool) {
	_, at := t.find(k)
	id = t.index[at].ID
	return id - 1, id != 0
}

// Number is the number of a key, and whether it is new, with the zero value. If there is no number left, that is noted
// as a limit, and the number is 0.
func (t *Table[K, V]) Number(k K) (id uint32, fresh bool) {
	tag, at := t.find(k)
	if there := t.index[at].ID; there != 0 {
		return there - 1, false
	}
	t.Room.Lacking()
	if id, fresh = t.Room.Next(len(t.Keys), t.what); fresh {
		t.index[at] = Slot{id + 1, tag}
		t.Keys, t.Values = append(t.Keys, k), append(t.Values, *new(V))
		if t.index.Full(len(t.Keys)) {
			t.index = t.index.Grown()
		}
	}
	return id, fresh
}

// ID is the number of a key.
func (t *Table[K, V]) ID(k K) uint32 {
	id, fresh := t.Number(k)
	if fresh {
		t.Values[id] = t.value(k)
	}
	return id
}

// Image is the number of f of a key, which is computed once and kept in a column.
func (t *Table[K, V]) Image(in *Column, id uint32, f func(K) K) uint32 {
	to := in.At(id)
	if to == Unseen {
		t.Room.Lacking()
		to = t.ID(f(t.Keys[id]))
		in.Set(id, to)
	}
	t.Room.Has(to, len(t.Keys))
	return to
}

// At is the value with a number. It is good until another key is numbered, and must not be changed.
func (t *Table[K, V]) At(id uint32) *V { return &t.Values[id] }

// Len is the number of entries.
func (t *Table[K, V]) Len() int { return len(t.Keys) }

// Clear discards all entries and keeps the memory.
func (t *Table[K, V]) Clear() {
	clear(t.index)
	t.Keys, t.Values = Emptied(t.Keys), Emptied(t.Values)
}
