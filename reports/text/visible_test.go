package text

import "testing"

func TestVisible(t *testing.T) {
	for from, want := range map[string]string{
		"plain 锁 ~/a b.txt": "plain 锁 ~/a b.txt",
		"\x1b[31mred\a":     `\x1b[31mred\a`,
		"a\r\nb\tc":         `a\r\nb\tc`,
		"\u202egnp.exe":     `\u202egnp.exe`,
		"\u009b1m\u2028":    `\u009b1m\u2028`,
		"\xff\x1b":          `\xff\x1b`,
		"\uFFFD":            "\uFFFD",
	} {
		if got := Visible(from); got != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}
