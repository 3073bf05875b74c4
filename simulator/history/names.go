package history

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

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// NamesAny reports whether a text names a client.
func NamesAny(s string) bool {
	return (&Names{1: 2, 2: 1}).Rename(s) != s || (&Names{3: 4, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7}).Rename(s) != s
}
