package history

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// MaxClients is the number of client processes that a run may have.
const MaxClients = 8

// A ClientSet is a set of clients, which count from 1.
type ClientSet uint8

// AllClients is every client.
const AllClients = ^ClientSet(0)

// Only is the set of client c alone; it is empty for client 0.
func Only(c uint8) ClientSet { return ClientSet(1) << (c - 1) }

// Has reports whether client c is in the set.
func (s ClientSet) Has(c uint8) bool { return s&Only(c) != 0 }

// Add puts client c into the set.
func (s *ClientSet) Add(c uint8) { *s |= Only(c) }

// Remove takes client c out of the set.
func (s *ClientSet) Remove(c uint8) { *s &^= Only(c) }

// First is the lowest client of a set that is not empty.
func (s ClientSet) First() uint8 { return uint8(bits.TrailingZeros8(uint8(s)) + 1) }

// Len is the number of clients in the set.
func (s ClientSet) Len() int { return bits.OnesCount8(uint8(s)) }

// AppendTo appends the clients, the lowest first.
func (s ClientSet) AppendTo(list []int) []int {
	for ; s != 0; s &= s - 1 {
		list = append(list, int(s.First()))
	}
	return list
}

// Renamed is the set with the clients renamed.
func (s ClientSet) Renamed(to *Names) (renamed ClientSet) {
	for ; s != 0; s &= s - 1 {
		renamed.Add(to[s.First()])
	}
	return renamed
}

// Names rename clients: client c becomes Names[c]. Names[0] is not used. Where clients run
// the same code, a state and a renamed one have the same futures.
type Names [MaxClients + 1]uint8

// Swap is two clients in each other's place, and all others in their own.
func Swap(a, b uint8) *Names {
	to := Same()
	to[a], to[b] = b, a
	return &to
}

// Same returns the names that leave every client its own.
func Same() (to Names) {
	for c := range to {
		to[c] = uint8(c)
	}
	return to
}

// nextName is the place of the next name of a client in a text from a place on: c2. and the like (see
// process.Code.Token), with its dot, which begins a word. Below 0: none. A token cut short or hashed is not found.
func nextName(s string, from int) int {
	for i := from; i+2 < len(s); i++ {
		if s[i] == 'c' && s[i+1] >= '1' && s[i+1] <= '8' && s[i+2] == '.' && (i == 0 || !isWord(s[i-1])) {
			return i
		}
	}
	return -1
}

// Rename renames the clients in the tokens that a text holds.
func (to *Names) Rename(s string) string {
	var b []byte
	for i := nextName(s, 0); i >= 0; i = nextName(s, i+1) {
		if name := to[s[i+1]-'0']; name != 0 && name != s[i+1]-'0' {
			if b == nil {
				b = []byte(s)
			}
			b[i+1] = '0' + name
		}
	}
	if b == nil {
		return s
	}
	return string(b)
}

// Later gives client c in a text, or all (0), the tokens that it draws after so many more: c2.1 becomes c2.4.
func Later(s string, c int, drawn int) string {
	return renumbered(s, func(client, n int) (int, int) {
		if c == 0 || client == c {
			n += drawn
		}
		return client, n
	})
}

// OfOne gives all but some clients in a text names that c never had, each others: as if it named other attempts of c.
func OfOne(s string, c int, but ClientSet) string {
	return renumbered(s, func(client, n int) (int, int) {
		if client == c || but.Has(uint8(client)) {
			return client, n
		}
		return c, n + 1000*client
	})
}

// Named are the clients that a text names.
func Named(s string) (named ClientSet) {
	for i := nextName(s, 0); i >= 0; i = nextName(s, i+1) {
		named.Add(s[i+1] - '0')
	}
	return named
}

// renumbered gives each token in a text another client and number.
func renumbered(s string, to func(client, n int) (int, int)) string {
	var b strings.Builder
	done := 0
	for i := nextName(s, 0); i >= 0; i = nextName(s, i+1) {
		end := i + 3
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(s[i+3 : end]); err == nil {
			client, n := to(int(s[i+1]-'0'), n)
			fmt.Fprintf(&b, "%sc%d.%d", s[done:i], client, n)
			done = end
		}
	}
	return b.String() + s[done:]
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }
