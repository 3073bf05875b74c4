package history

import "testing"

func TestRecountText(t *testing.T) {
	for _, c := range [][2]string{
		{"/locks/k/_c_c1.9-lock-0000000009", "/locks/k/_c_c1.10-lock-0000000010"},
		{"[_c_c2.1-read-0000000000, a-0000000999/b-0000000007]",
			"[_c_c2.2-read-0000000001, a-0000001000/b-0000000008]"},
		{`delete "/locks/lock-0000000001": broken`, `delete "/locks/lock-0000000002": broken`},
		{"lock-000000001 lock-00000000001 lock-9999999999 c9.1 -",
			"lock-000000001 lock-00000000001 lock-9999999999 c9.1 -"},
		{"", ""},
	} {
		text, want := c[0], c[1]
		more := Recount(func(_ Counter, n int64, _ bool) int64 { return n + 1 })
		if is := more.Text(text); is != want {
			t.Errorf("%q becomes %q", text, is)
		}
	}
}

func TestRanks(t *testing.T) {
	all, counted, far := NoNumbers(), NoNumbers(), false
	note := all.Note(&counted, &far)
	for _, n := range []int64{3, 7, 12} {
		note(Places, n, false)
	}
	note(Places, 20, true)
	for n, want := range map[int64]int64{0: 0, 3: 1, 5: 1, 7: 2, 12: 3, 20: 3, 80: 3} {
		if is := all.Ranks(Places, n, false); is != want || far {
			t.Errorf("the rank of %d is %d", n, is)
		}
	}
	few, none := NoNumbers(), NoNumbers()
	few[Places] |= 1 << 3
	if all.Keep(&few) || !all.Keep(&none) || all.Keep(&counted) {
		t.Error("what Ranks changes is said to be kept, or what it keeps not to be")
	}
	if note(Tokens+1, 64, false); !far {
		t.Error("a number that has no place in a set is not noticed")
	}
}
