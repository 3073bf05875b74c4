package history

import "testing"

// TestNumbers: the numbers of tokens are changed in whole names only.
func TestNumbers(t *testing.T) {
	for text, want := range map[string][3]string{ // later for client 2, later for all, and of client 2 alone
		"c2.1":                 {"c2.4", "c2.4", "c2.1"},
		"c1.12 c2.9:lock c2.":  {"c1.12 c2.12:lock c2.", "c1.15 c2.12:lock c2.", "c2.1012 c2.9:lock c2."},
		"me_c2.1":              {"me_c2.4", "me_c2.4", "me_c2.1"},
		"abc2.1 c9.1 c0.1 c21": {"abc2.1 c9.1 c0.1 c21", "abc2.1 c9.1 c0.1 c21", "abc2.1 c9.1 c0.1 c21"},
		"{\"c3.1\":1}":         {"{\"c3.1\":1}", "{\"c3.4\":1}", "{\"c2.3001\":1}"},
	} {
		if got := [3]string{Later(text, 2, 3), Later(text, 0, 3), OfOne(text, 2, 0)}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]ClientSet{"lock c3.1 c2.1": Only(2) | Only(3), "lock abc2.1": 0, "": 0,
		"owner_c4.1": Only(4)} {
		if got := Named(text); got != want {
			t.Errorf("%q names %v, want %v", text, got, want)
		}
	}
}
