package database_test

import (
	"fmt"
	"strings"
	"testing"

	. "locklab/simulator/database"
)

// locksTable is the table of all tests, which has one row at first.
var locksTable = Table{
	Name:    "locks",
	Columns: []Column{{"name", Text}, {"owner", Text}, {"n", Integer}, {"expires", Timestamp}},
	Key:     []string{"name"},
	Rows:    [][]Value{{TextValue("m"), TextValue("x"), IntegerValue(7), {}}},
}

func newState(d Dialect) State {
	s := New(d, []Table{locksTable}, Options{Horizon: 3_600_000})
	for id := SessionID(1); id <= 3; id++ {
		s = s.Connect(id)
	}
	return s
}

func letter(id SessionID) string { return string('A' + rune(id-1)) }

// shown is a reply in the notation of transcripts: an error's code, the rows, or the number of affected ones.
func shown(r Reply) string {
	switch {
	case r.Waits:
		return "waits"
	case r.Code == NotCarried:
		return "not carried: " + r.Text
	case r.Code != OK:
		return "error " + r.Code.String()
	case r.Columns != nil:
		return fmt.Sprint(r.Rows)
	case r.Text != "":
		return r.Text
	}
	return fmt.Sprint(r.Affected)
}

// waitsFor is for whom a session waits.
func waitsFor(s State, id SessionID) string {
	all := ""
	if _, waits := s.Wait(id); waits {
		for _, o := range s.For(id) {
			all += " " + letter(o)
		}
	}
	return all
}

// do runs a line "A: statement" of a transcript, or one of the acts that are no statements: "A: (closes)",
// "A: (times out)", "A: (is cancelled)", "A: (looks for a deadlock)", "(500 ms)".
func do(t testing.TB, s State, line string) (State, string) {
	t.Helper()
	var d int64
	if n, _ := fmt.Sscanf(line, "(%d ms)", &d); n == 1 {
		return s.Shift(d), "0"
	}
	who, text, _ := strings.Cut(line, ": ")
	id := SessionID(who[0]-'A') + 1
	said := ""
	var woken []Woken
	switch text {
	case "(closes)":
		s, woken = s.Close(id)
		s = s.Connect(id)
	case "(times out)":
		s, woken = s.GiveUp(id, TimedOut)
	case "(is cancelled)":
		s, woken = s.GiveUp(id, Cancelled)
	case "(looks for a deadlock)":
		s, woken = s.CheckDeadlock(id)
	default:
		st, err := Parse(s.Dialect(), text)
		if err != nil {
			t.Fatal(err)
		}
		var r Reply
		s, r, woken = s.Apply(id, st, nil)
		if said = shown(r); r.Waits {
			said += waitsFor(s, id)
		}
	}
	if said == "" && woken == nil {
		said = "0"
	}
	for _, w := range woken {
		if said != "" {
			said += ", "
		}
		said += letter(w.Session) + " " + shown(w.Reply)
	}
	return s, said
}

// A transcript is one fact: lines "A: statement => reply, B reply of a statement that waited".
type transcript struct {
	dialect Dialect
	fact    string
	lines   string
}

func TestTranscripts(t *testing.T) {
	for _, c := range transcripts {
		t.Run(c.dialect.String()+"/"+strings.ReplaceAll(c.fact, " ", "_"), func(t *testing.T) {
			s := newState(c.dialect)
			for _, line := range c.split() {
				var got string
				if s, got = do(t, s, line[0]); got != line[1] {
					t.Errorf("%s\n\t=> %s\nwant\t=> %s", line[0], got, line[1])
				}
			}
		})
	}
}

func (c transcript) split() (lines [][2]string) {
	for line := range strings.Lines(c.lines) {
		if line = strings.TrimSpace(line); line != "" {
			step, want, _ := strings.Cut(line, " => ")
			lines = append(lines, [2]string{step, want})
		}
	}
	return lines
}
