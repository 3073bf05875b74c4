package history

import (
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
)

// A Counter is something of a run that counts, and whose numbers are only compared.
type Counter int

const (
	Creations Counter                   = iota // the transactions of an ensemble that create a znode
	Changes                                    // of a znode
	Places                                     // the children of a znode, by the numbers at the ends of their names
	Tokens                                     // of client c: Tokens + c
	Leases    = Tokens + MaxClients + 1        // of client c: Leases + c
	Counters  = Leases + MaxClients + 1
)

// A Recount gives a number of a counter another one. last: it is that of the counter itself, the last one that it has
// counted, and need not be mentioned anywhere else.
type Recount func(of Counter, n int64, last bool) int64

// Numbers are sets of numbers below 64, by counter: bit n for n. Each has 0, which says that nothing was counted.
type Numbers [Counters]uint64

// NoNumbers are none.
func NoNumbers() (all Numbers) {
	for of := range all {
		all[of] = 1
	}
	return all
}

// Note adds all mentioned numbers, and those of counters to counted; far is set if a mentioned one fits no set.
func (all *Numbers) Note(counted *Numbers, far *bool) Recount {
	return func(of Counter, n int64, last bool) int64 {
		switch {
		case last:
			counted[of] |= 1 << min(n, 63)
		case n < 0 || n > 63:
			*far = true
		default:
			all[of] |= 1 << n
		}
		return n
	}
}

// Further gives all numbers of a counter from one on others that are higher by so much.
func Further(counter Counter, from, by int64) Recount {
	return func(of Counter, n int64, _ bool) int64 {
		if of == counter && n >= from {
			n += by
		}
		return n
	}
}

// Add adds the numbers of another set.
func (all *Numbers) Add(more *Numbers) {
	for of, set := range more {
		all[of] |= set
	}
}

// Ranks gives the numbers of a set the smallest ones in the same order. A counter goes back to the greatest in the set.
func (all *Numbers) Ranks(of Counter, n int64, _ bool) int64 {
	return int64(bits.OnesCount64(all[of]&(2<<min(max(n, 0), 63)-1))) - 1
}

// Keep reports whether Ranks gives the numbers of a set themselves, among those of all.
func (all *Numbers) Keep(some *Numbers) bool {
	for of, set := range some {
		if greatest := int64(bits.Len64(set) - 1); all.Ranks(Counter(of), greatest, false) != greatest {
			return false
		}
	}
	return true
}

// ofPlace is the number that an ensemble appends to the name of a sequential znode.
var ofPlace = regexp.MustCompile(`[0-9]+`)

// Text gives the tokens of clients in a text, and the numbers at the ends of sequential znodes' names, others.
func (f Recount) Text(s string) string {
	s = renumbered(s, func(c, n int) (int, int) { return c, int(f(Tokens+Counter(c), int64(n), false)) })
	return ofPlace.ReplaceAllStringFunc(s, func(digits string) string {
		n, err := strconv.ParseInt(digits, 10, 32)
		if len(digits) != 10 || err != nil {
			return digits
		}
		return fmt.Sprintf("%010d", f(Places, n, false))
	})
}
