package history

import (
	"fmt"
	"regexp"
	"strconv"
)

// MaxClients is the number of client processes that a run may have.
const MaxClients = 8

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

// Rename renames the clients in the tokens that a text holds: c2.1 and the like
// (see process.Code.Token). A token that is cut short or hashed is not
// found.
func (to *Names) Rename(s string) string {
	var b []byte
	for i := 0; i+2 < len(s); i++ {
		if s[i] != 'c' || s[i+1] < '1' || s[i+1] > '8' || s[i+2] != '.' || i > 0 && isWord(s[i-1]) {
			continue
		}
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

var name = regexp.MustCompile(`\bc([1-8])\.([0-9]{1,9})`)

// Later gives client c in a text, or all of them (0), the tokens that it draws when it has drawn so many more: c2.1 becomes c2.4.
func Later(s string, c int, drawn int) string {
	return renumbered(s, func(client, n int) (int, int) {
		if c == 0 || client == c {
			n += drawn
		}
		return client, n
	})
}

// OfOne gives all clients in a text names that client c has never had, each others: as if the text named other attempts of it.
func OfOne(s string, c int) string {
	return renumbered(s, func(client, n int) (int, int) {
		if client != c {
			n += 1000 * client
		}
		return c, n
	})
}

// Named is the client that a text names first; 0: it names none.
func Named(s string) int {
	if at := name.FindStringIndex(s); at != nil {
		return int(s[at[0]+1] - '0')
	}
	return 0
}

func renumbered(s string, to func(client, n int) (int, int)) string {
	return name.ReplaceAllStringFunc(s, func(named string) string {
		n, err := strconv.Atoi(named[3:])
		if err != nil {
			return named
		}
		client, n := to(int(named[1]-'0'), n)
		return fmt.Sprintf("c%d.%d", client, n)
	})
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// NamesAny reports whether a text names a client.
func NamesAny(s string) bool {
	return (&Names{1: 2, 2: 1}).Rename(s) != s || (&Names{3: 4, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7}).Rename(s) != s
}
