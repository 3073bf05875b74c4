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

// name is one where isWord ends, as Rename finds it.
var name = regexp.MustCompile(`(^|[^0-9A-Za-z])c([1-8])\.([0-9]{1,9})`)

// Later gives client c in a text, or all of them (0), the tokens that it draws when it has drawn so many more: c2.1 becomes c2.4.
func Later(s string, c int, drawn int) string {
	return renumbered(s, func(client, n int) (int, int) {
		if c == 0 || client == c {
			n += drawn
		}
		return client, n
	})
}

// Clients are some of them, by their numbers.
type Clients [MaxClients + 1]bool

// OfOne gives all clients in a text, but for some, names that client c has never had, each others: as if the text named other attempts
// of it.
func OfOne(s string, c int, but Clients) string {
	return renumbered(s, func(client, n int) (int, int) {
		if client == c || but[client] {
			return client, n
		}
		return c, n + 1000*client
	})
}

// Named are the clients that a text names.
func Named(s string) (named []int) {
	for _, m := range name.FindAllStringSubmatch(s, -1) {
		named = append(named, int(m[2][0]-'0'))
	}
	return named
}

func renumbered(s string, to func(client, n int) (int, int)) string {
	return name.ReplaceAllStringFunc(s, func(named string) string {
		m := name.FindStringSubmatch(named)
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return named
		}
		client, n := to(int(m[2][0]-'0'), n)
		return fmt.Sprintf("%sc%d.%d", m[1], client, n)
	})
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// NamesAny reports whether a text names a client.
func NamesAny(s string) bool {
	return (&Names{1: 2, 2: 1}).Rename(s) != s || (&Names{3: 4, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7}).Rename(s) != s
}
