package child

import (
	"strings"
	"testing"
	"time"
)

// A task is what this program is to do when it is run again.
type task struct {
	Spins, Silent bool
	Text          string
}

// TestAgain: a process of its own answers what it is asked, also texts that are no UTF-8; one that works without end is
// ended by the processor time that it has taken, whatever else the machine does, and one that says nothing is none.
func TestAgain(t *testing.T) {
	if IsAgain() {
		asked := task{}
		if err := Asked(&asked); err != nil {
			t.Fatal(err)
		}
		for n := 0; asked.Spins && n >= 0; n++ { // for centuries
		}
		if !asked.Silent {
			t.Error(Answer(asked.Text + " answered"))
		}
		t.Fatal("printed")
	}
	for _, c := range []struct {
		test    string
		asked   task
		limit   time.Duration
		want    string
		failure string
	}{
		{"TestAgain", task{Text: "\xff"}, time.Minute, "\xff answered", ""},
		{"TestAgain", task{Silent: true}, time.Minute, "", "exit status 1"},
		{"^TestNone$/^of these$", task{}, time.Minute, "", "<nil>"},
		{"TestAgain", task{Spins: true}, time.Second, "", ErrSlow.Error()},
	} {
		got := ""
		said, err := Again(t.Context(), c.test, c.asked, &got, c.limit)
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		if got != c.want || failed != c.failure || strings.Contains(said, "printed") != (c.test == "TestAgain" &&
			!c.asked.Spins) {
			t.Errorf("%+v: %q, %q, printed %q", c, got, failed, said)
		}
	}
}
