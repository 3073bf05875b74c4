package node

import "fmt"

// Names says how clients are to be called: client c becomes Names[c]. Names[0] is
// not used.
type Names [MaxClients + 1]uint8

// Swap is two clients in each other's place, and all others in their own.
func Swap(a, b uint8) *Names {
	var to Names
	for c := range to {
		to[c] = uint8(c)
	}
	to[a], to[b] = b, a
	return &to
}

// AsymmetricError says that clients cannot change places: something can tell which is
// which. Exactly one of its fields is set.
type AsymmetricError struct {
	Command []string // a server treats clients otherwise that differ in their names only
	Reply   string   // a reply names one of more than two clients, so that who reads it knows which is which
	Does    string   // what one client does and another one in its place would not do
	Session bool     // an ensemble knows clients by the numbers of their sessions
}

func (e *AsymmetricError) Error() string {
	switch {
	case e.Command != nil:
		return fmt.Sprintf("simulator: what a server does at %q depends on which client is which, so clients cannot change places", e.Command)
	case e.Reply != "":
		return fmt.Sprintf("simulator: the reply %s names a client, so clients cannot change places", e.Reply)
	case e.Does != "":
		return fmt.Sprintf("simulator: one client asks for %s, another in its place does not, so clients cannot change places", e.Does)
	}
	return "simulator: a server knows clients by their sessions, so they cannot change places"
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
