package intern

import "sync/atomic"

// A Column is a function of the numbers of a table, as far as it is known; Unseen: not yet. While one goroutine sets
// values others may read copies of the column.
type Column []uint32

// Unseen is the value of a number whose value is not known. No entry of a table has this number.
const Unseen = ^uint32(0)

// At is the value of a number.
func (c Column) At(id uint32) uint32 {
	if int(id) < len(c) {
		return atomic.LoadUint32(&c[id])
	}
	return Unseen
}

// Set sets the value of a number.
func (c *Column) Set(id, to uint32) {
	for len(*c) <= int(id) {
		*c = append(*c, Unseen)
	}
	atomic.StoreUint32(&(*c)[id], to)
}

// A Map is a function as far as it is known. Its values can be computed again from their keys.
type Map[K comparable, V any] map[K]V

// Get returns the value of a key, which is computed the first time, and kept if there is no error.
func (m Map[K, V]) Get(key K, compute func() (V, error)) (v V, err error) {
	v, ok := m[key]
	if !ok {
		if v, err = compute(); err == nil {
			m[key] = v
		}
	}
	return v, err
}

// Len is the number of values that are known, and Clear discards them.
func (m Map[K, V]) Len() int { return len(m) }
func (m Map[K, V]) Clear()   { clear(m) }
