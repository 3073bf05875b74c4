package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/history"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// logged is lines of JSON about one key: "5 x acquired from=4 | 6 y refused".
func logged(text string) (log string) {
	for line := range strings.SplitSeq(text, "|") {
		words := strings.Fields(line)
		log += fmt.Sprintf(`{"at":%s,"client":"%s","event":"%s"`, words[0], words[1], words[2])
		for _, more := range words[3:] {
			name, value, _ := strings.Cut(more, "=")
			log += fmt.Sprintf(`,"%s":%s`, name, value)
		}
		if words[2] != "ended" {
			log += `,"key":"k"`
		}
		log += "}\n"
	}
	return log
}

// TestJudge: what is claimed of small logs, and what is UNKNOWN and why.
func TestJudge(t *testing.T) {
	turn := "1 b acquired | 1 a refused | 1 b leaving | "
	ten := strings.Repeat(turn, 11) + "2 a acquired | 3 a leaving"
	crowd := "0 c refused | 0 d refused | 0 e refused | 0 f refused | 0 g refused | 0 h refused | 0 i refused | "
	short := ""
	for i := range 9 {
		short += fmt.Sprintf(" | %d x%d acquired | %d x%d leaving", 21+2*i, i, 22+2*i, i)
	}
	for _, c := range []struct{ rule, log, want string }{
		{"what ends at the instant at which another begins shares none with it",
			"1 x acquired | 5 y acquired | 5 x leaving | 6 y leaving", ""},
		{"a release says that it was still inside, and another had acquired the lock since",
			"1 x acquired | 5 y acquired from=4 | 6 x released ok=true from=6 | 7 y leaving",
			"OVERLAP, UNKNOWN LIE either"},
		{"that other had asked before this one was inside: its answer may have been on its way",
			"1 x acquired | 5 y acquired from=0 | 6 x released ok=true from=6 | 7 y leaving", "OVERLAP"},
		{"the other acquired it after the call",
			"1 x acquired | 5 y acquired from=5 | 6 x released ok=true from=4 | 7 y leaving", ""},
		{"when the release was called is not known",
			"-9 x acquired | -7 y acquired from=-8 | -6 x released ok=true | -5 y leaving", "UNKNOWN OVERLAP release"},
		{"who has left does not take the lock from who acquired it last",
			"1 x acquired | 2 y acquired | 3 x leaving | 4 y wrote ok=false | 5 y leaving", "OVERLAP"},
		{"the lease has not ended before its until",
			"1 x acquired until=10 | 10 x read | 12 y acquired | 13 y leaving", ""},
		{"a line shows that it has not ended by itself",
			"1 x acquired until=10 | 11 x read | 12 y acquired | 13 y leaving", "UNKNOWN OVERLAP silent"},
		{"a clock that is far off, and sections that ended before many others",
			"9 y refused within=30 | 10 x acquired | 20 x leaving" + short +
				" | 40 y acquired within=30 | 80 y leaving",
			strings.Repeat("UNKNOWN OVERLAP clocks, ", 9) + "UNKNOWN OVERLAP clocks"},
		{"a read of what the last write made",
			"1 x acquired | 2 y wrote version=1 base=0 | 3 x read version=1 | 4 x leaving", ""},
		{"a read of what was before the last write",
			"1 x acquired | 2 y wrote version=1 base=0 | 3 x read version=0 | 4 x leaving",
			"UNKNOWN STALE-WRITE clocks"},
		{"a refused write with the highest token is not late",
			"1 x acquired | 2 x wrote version=1 base=0 token=5 | 3 x wrote ok=false token=5 | 4 x leaving", ""},
		{"one with a lower token is",
			"1 x acquired | 2 x wrote version=1 base=0 token=5 | 3 x wrote ok=false token=4 | 4 x leaving", "FENCED"},
		{"when the writer had left is not known",
			"1 x acquired | 2 x released | 3 x wrote ok=false from=3", "UNKNOWN FENCED either"},
		{"a client that has lost the lock writes late",
			"1 y acquired | 1 y read version=0 | 2 x acquired | 3 x lost | " +
				"4 x wrote version=1 base=0 from=4 | 5 y read version=1 | 6 y leaving", "OVERLAP, STALE-WRITE"},
		{"a write is stale to a section only after a read of that, and who has read first is not certain",
			"3 x acquired | 4 y acquired | 5 x wrote version=1 base=0 from=5 | 6 y leaving | " +
				"7 y read version=1 from=7 | 9 y wrote version=2 base=1 from=9 within=1 | " +
				"9 x read version=2 from=9 | 11 x leaving",
			"OVERLAP, UNKNOWN STALE-WRITE clocks"},
		{"overtaken ten times", ten, "STARVED"},
		{"on a key of more than eight clients", crowd + ten, ""},
		{"a contradiction there",
			crowd + "1 x acquired | 5 y acquired from=4 | 6 x released ok=true from=6 | 7 y leaving",
			"OVERLAP, UNKNOWN LIE either"},
		{"and a write that falls into the section of one of many",
			crowd + "1 x acquired | 2 x read version=0 | 3 y acquired | 4 z acquired | 5 y wrote version=1 base=0 | " +
				"6 x leaving | 7 y leaving | 8 z leaving", "OVERLAP, OVERLAP, OVERLAP, UNKNOWN STALE-WRITE either"},
	} {
		r, err := tried(logged(c.log))
		if err != nil {
			t.Fatal(c.rule, err)
		}
		var got []string
		for _, f := range r.Findings {
			got = append(got, strings.TrimSpace(fmt.Sprint(f.Verdict, " ", f.May, " ", f.Why)))
		}
		if slices.Sort(got); strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

// TestVictim: a late write falls into the section of the client that acquired last, if it has read; else into that of
// the first of those that have.
func TestVictim(t *testing.T) {
	for readers, want := range map[string]string{"a b c": "c", "b": "b", "b a": "a"} {
		log := "1 w acquired | 2 w lost | 3 a acquired | 4 b acquired | 5 c acquired"
		for client := range strings.FieldsSeq(readers) {
			log += " | 6 " + client + " read version=0"
		}
		r := judged(t, logged(log+" | 7 w wrote version=1 base=0 from=7 | 8 a leaving | 8 b leaving | 8 c leaving"))
		i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Verdict == verdict.StaleWrite })
		if i < 0 || fmt.Sprint(r.Findings[i].Clients) != "[w "+want+"]" {
			t.Errorf("%s have read: %+v", readers, r.Findings)
		}
	}
}

// TestWindow: in the lines around a finding, who is inside since before them is seen to have entered.
func TestWindow(t *testing.T) {
	waits := strings.Repeat(" | 3 d refused", 9)
	r := judged(t,
		logged("1 a acquired | 1 c acquired | 1 a read version=0 | 2 b acquired | 2 b wrote version=1 base=0"+
			waits+" | 4 a wrote version=2 base=0 | 5 a leaving | 5 b leaving | 5 c leaving"))
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Verdict == verdict.StaleWrite })
	h, j, clients, _ := r.Findings[i].Window()
	var entered []string
	for _, e := range h.Events {
		if e.Kind == history.Enter {
			entered = append(entered, clients[e.Client-1])
		}
	}
	if got, e := fmt.Sprint(entered), h.Events[j.Findings[0].Event]; got != "[a b]" || e.Kind != history.Write {
		t.Errorf("%s have entered, and the finding is at %s, want [a b] and the late write", got, e.Kind)
	}
}

// TestCounted: what is missing in a log is counted, and what is not is not.
func TestCounted(t *testing.T) {
	for log, want := range map[string]string{
		"1 x refused": "0 0", "1 x refused | 2 y refused": "0 2",
		"1 x acquired | 2 x leaving | 3 x released from=2 ok=true":                               "0 0",
		"1 x acquired | 2 x leaving | 3 x released from=2 ok=true | 4 x released from=4 ok=true": "1 0",
	} {
		r := judged(t, logged(log))
		if r.Wait == nil {
			r.Wait = &Wait{}
		}
		if got := fmt.Sprint(r.NoEntry, r.Wait.Refused); got != want {
			t.Errorf("%s: %s ends without an entry and refusals in a row, want %s", log, got, want)
		}
	}
	if _, err := tried(logged("1 x refused seq=2 | 2 x refused seq=2")); err == nil {
		t.Error("two lines have one seq")
	}
	log := logged("30 x refused" + strings.Repeat(" | 12 x refused | 30 x refused", 11))
	r := NewReader(20, Source{Name: "a", From: strings.NewReader(log)})
	if err := observe(r, NewJudge(9), func() {}); err != nil || len(r.Backwards) != 10 || r.BackCount != 11 {
		t.Errorf("%d lines run backwards, and %d of them are named: %v", r.BackCount, len(r.Backwards), err)
	}
}

// A lock that its holder takes again is one lease: only the outermost calls are lines.
func TestOfReentrant(t *testing.T) {
	h := &history.History{Clients: 1, Nodes: 1, Key: "k"}
	for _, kind := range []history.EventKind{
		history.Acquire, history.Enter, history.Acquire, history.Enter,
		history.Release, history.Released, history.Leave, history.Release, history.Released,
	} {
		h.Events = append(h.Events, history.Event{Kind: kind, Client: 1})
	}
	var got []Event
	for _, l := range Of(h) {
		got = append(got, l.Event)
	}
	if want := []Event{Acquired, Leaving, Released}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
