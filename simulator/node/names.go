package node

// Names says how clients are to be called: client c becomes Names[c]. Names[0] is
// not used.
type Names [MaxClients + 1]uint8

// Rename renames the clients in the tokens that a text holds: c2.1 and the like
// (see process.Process.NextToken). A token that is cut short or hashed is not
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

// NamesAny says whether a text names a client.
func NamesAny(s string) bool {
	return (&Names{1: 2, 2: 1}).Rename(s) != s || (&Names{3: 4, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7}).Rename(s) != s
}
