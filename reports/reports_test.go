package reports

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locklab/reports/internal/samples"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// views are the texts of one run.
var views = []struct {
	name string
	text func(io.Writer, *history.History, verdict.Judgement, Look) error
}{
	{"lanes", Lanes}, {"redis-cli", RedisCLI}, {"story", Story}, {"timeline", Notation},
}

func TestTexts(t *testing.T) {
	for _, s := range handmade {
		h, j := s.Make()
		for _, v := range views {
			t.Run(s.Name+"/"+v.name, func(t *testing.T) {
				samples.Golden(t, s.Name+"."+v.name+".txt", func(w io.Writer) error {
					return v.text(w, h, j, Look{Width: NarrowWidth, Lang: "both"})
				})
			})
		}
		t.Run(s.Name+"/narrow", func(t *testing.T) {
			samples.Golden(t, s.Name+".narrow.txt", func(w io.Writer) error { return Lanes(w, h, j, Look{Width: 80}) })
		})
	}
}

// The point of no return stands beside its own event, in a row that may have been folded.
func TestNoReturn(t *testing.T) {
	h, j := gcPause()
	for n, e := range h.Events {
		lanes := samples.Written(t, func(w io.Writer) error {
			return Lanes(w, h, j,
				Look{Width: NarrowWidth, NoReturn: n + 1})
		})
		var marked []string
		for line := range strings.Lines(lanes) {
			if strings.Contains(line, "point of no return") {
				marked = append(marked, line)
			}
		}
		want := map[history.EventKind]string{history.Pause: "PAUSE", history.Expire: "EXPIRED"}[e.Kind]
		if len(marked) != 1 || !strings.Contains(marked[0], want) {
			t.Errorf("event %d: %q, want one mark, beside %q, in\n%s", n+1, marked, want, lanes)
		}
	}
}

// Whatever the width, no line is wider.
func TestWidth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		o := Look{Width: 2 + random.IntN(150), Lang: []string{"en", "zh", "both"}[random.IntN(3)]}
		for _, s := range handmade {
			h, j := s.Make()
			for _, v := range views {
				o.Fold = true // see TestTypedWhole
				samples.CheckWidth(t, s.Name+" "+v.name, o.Width, func(w io.Writer) error { return v.text(w, h, j, o) })
			}
		}
	}
}

// A redis-cli session has each command on one line, however long its script is, and only its
// comments are folded; every part of one is a comment.
func TestTypedWhole(t *testing.T) {
	for _, s := range handmade {
		h, j := s.Make()
		commands := func(width int) (lines []string) {
			for line := range strings.Lines(samples.Written(t,
				func(w io.Writer) error { return RedisCLI(w, h, j, Look{Width: width}) })) {
				if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
					lines = append(lines, line)
				} else if width > 0 && len(line) > width {
					t.Errorf("%s: wider than %d: %s", s.Name, width, line)
				}
			}
			return lines
		}
		if diff := cmp.Diff(commands(0), commands(40)); diff != "" {
			t.Errorf("%s (-as wide as need be +40 cells):\n%s", s.Name, diff)
		}
	}
}

// Paint repeats what the text says: without it, every character is the same.
func TestColorTakesNoRoom(t *testing.T) {
	ansi := regexp.MustCompile("\x1b\\[[0-9]+m")
	for _, s := range handmade {
		h, j := s.Make()
		var plain, painted strings.Builder
		if err := Lanes(&plain, h, j, Look{Width: NarrowWidth}); err != nil {
			t.Fatal(err)
		}
		if err := Lanes(&painted, h, j, Look{Width: NarrowWidth, Color: true}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(painted.String(), "\x1b[31m!! OVERLAP") {
			t.Errorf("%s: the verdict is not painted", s.Name)
		}
		if diff := cmp.Diff(plain.String(), ansi.ReplaceAllString(painted.String(), "")); diff != "" {
			t.Errorf("%s (-plain +painted):\n%s", s.Name, diff)
		}
	}
}

// An empty history and one without events are drawn without a panic.
func TestNothingHappened(t *testing.T) {
	for _, h := range []*history.History{{}, {Clients: 2, Nodes: 3, Key: "lock"}} {
		for _, v := range views {
			if err := v.text(io.Discard, h, verdict.Judgement{}, Look{Width: 80}); err != nil {
				t.Errorf("%s: %v", v.name, err)
			}
		}
	}
}

// lanesOf draws a script with some findings.
func lanesOf(t *testing.T, s *script, findings ...verdict.Finding) string {
	t.Helper()
	return samples.Written(t, func(w io.Writer) error {
		return Lanes(w, s.H, verdict.Judgement{Findings: findings},
			Look{})
	})
}

func wantLines(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile("(?m)" + p).MatchString(text) {
			t.Errorf("no line matches %q in\n%s", p, text)
		}
	}
}

// A script that the server does not know is sent again in full: one command.
// Where it is not, the error is the story.
func TestLanesUnknownScript(t *testing.T) {
	unknown := "(error) NOSCRIPT No matching script."
	s := newScript("token", "noscript", 1, 1, time.Second)
	s.Command(1, 1, "EVALSHA 0123456789abcdef 1 lock a", unknown)
	s.At(ms).Command(1, 1, "EVAL return 1 lock a", "1")
	s.At(2*ms).Command(1, 1, "EVALSHA 0123456789abcdef 1 lock a", unknown)
	text := lanesOf(t, s)
	if n := strings.Count(text, "NOSCRIPT"); n != 1 {
		t.Errorf("%d NOSCRIPT, want the last one only:\n%s", n, text)
	}
}

// Faults of messages and servers are in the lane or column that they concern; the old master of a split goes by the
// number behind the last. Late answers, folded polls and sessions are in the transcripts of package scenarios.
func TestLanesOfOddFaults(t *testing.T) {
	s := newScript("token", "odd", 2, 1, time.Second)
	set := strings.Fields("SET lock b NX PX 1000")
	s.Client(1, history.Acquire).Command(1, 1, "SET lock a NX PX 1000", "OK",
		changeTo("", "a", time.Second)).Client(1, history.Enter)
	s.At(100 * ms).Add(history.Event{Kind: history.Split, Client: 1, Node: 1})
	s.Add(history.Event{Kind: history.Change, Node: 1, Key: "lock", Before: "a"})
	s.At(200*ms).Client(2, history.Acquire).Add(history.Event{Kind: history.Delay, Client: 2, Node: 1, Cmd: set, D: ms,
		Note: "request"})
	s.At(300 * ms).Add(history.Event{Kind: history.Delay, Client: 2, Node: 1, Cmd: set, D: ms, Note: "reply"})
	s.At(400 * ms).Add(history.Event{Kind: history.Reject, Client: 2, Node: 1, Cmd: set, Reply: "(error) BUSY"})
	s.At(500 * ms).Add(history.Event{Kind: history.Hang, Node: 1, D: 2 * time.Second})
	s.At(600 * ms).Add(history.Event{Kind: history.External, Node: 1, Cmd: []string{"FLUSHALL"}, Reply: "OK",
		Note: "by a stranger's hand"})
	s.At(700 * ms).Add(history.Event{Kind: history.Expire, Node: 2, Key: "lock", Before: "a"})
	s.At(800 * ms).Add(history.Event{Kind: history.Heal, Node: 1})
	s.At(900 * ms).Add(history.Event{Kind: history.Change, Node: 1, Key: "lock", Before: "a"})
	wantLines(t, lanesOf(t, s),
		`^ +100 +\|  CUT OFF with the old master +-   SPLIT`,
		`^ +200 .*SET NX PX HELD UP 1ms$`,
		`^ +300 .*SET NX PX reply HELD UP 1ms$`,
		`^ +400 .*SET NX PX FAILS, not executed$`,
		`^ +500 .*HANGS 2s`,
		`^ +600 .*FLUSHALL \(by another program\)`,
		`^ +700 .*n2 EXPIRED`,
		`^ +800 .*HEALED`,
		`^ +900 .*somebody's change lands +~$`)
}

// A fault without a kind of its own is called by its name where nothing else is said of
// it, in every view.
func TestNamelessFault(t *testing.T) {
	s := newScript("token", "odd", 2, 2, time.Second)
	s.At(100 * ms).Add(history.Event{Kind: history.Fault, Fault: "odd-one", Client: 2, Note: "memory is short"})
	s.At(200 * ms).Add(history.Event{Kind: history.Fault, Fault: "odd-one", Node: 2})
	s.At(300 * ms).Add(history.Event{Kind: history.Fault, Fault: "odd-one"})
	for _, c := range []struct {
		view  func(io.Writer, *history.History, verdict.Judgement, Look) error
		lang  string
		lines []string
	}{
		{Lanes, "en", []string{`^ *100  \.  +-  - +FAULT odd-one \(memory is short\)$`,
			`^ *200  \. +-  - +n2 FAULT odd-one  \.$`, `^ *300  \. +-  - +FAULT odd-one +\.$`}},
		{Notation, "en", []string{`^ *100  c2 +FAULT odd-one \(memory is short\)$`, `^ *200  n2 +FAULT odd-one$`}},
		{RedisCLI, "en", []string{`^# 100 ms: c2: FAULT odd-one \(memory is short\)$`, `^# 200 ms: n2: FAULT odd-one$`,
			`^# 300 ms: FAULT odd-one$`}},
		{Story, "en",
			[]string{`^ *100 ms  A fault hits c2: odd-one\.$`, `^ *200 ms  A fault hits a server: odd-one\.$`}},
		{Lanes, "zh", []string{`^ *100 .* 故障 odd-one（内存不足）$`}},
		{Story, "zh", []string{`^ *100 ms  c2 发生故障：odd-one。$`, `^ *300 ms  发生故障：odd-one。$`}},
	} {
		var b strings.Builder
		if err := c.view(&b, s.H, verdict.Judgement{}, Look{Lang: c.lang}); err != nil {
			t.Fatal(err)
		}
		wantLines(t, b.String(), c.lines...)
	}
}

// A stretch of time is marked where it begins, an instant on its event, even if
// that event would otherwise go unseen.
func TestLanesPlacesFindings(t *testing.T) {
	s := newScript("token", "places", 2, 1, time.Second)
	s.Client(1, history.Acquire).Command(1, 1, "SET lock a NX PX 1000", "OK",
		changeTo("", "a", time.Second)).Client(1, history.Enter)
	s.At(100*ms).Client(1, history.Leave, history.Release)
	s.Add(history.Event{Kind: history.Released, Client: 1, OK: true, Claims: true})
	lie := verdict.Finding{Verdict: verdict.Lie, Clients: []int{1}, From: s.Now, To: s.Now, Event: s.Last()}
	s.At(200 * ms).Add(history.Event{Kind: history.Crash, Client: 1})
	s.At(300*ms).Client(2, history.Acquire).Command(2, 1, "SET lock b NX PX 1000", "(nil)").Client(2, history.Refuse)
	s.At(1000*ms).Expire(1, "a")
	blocked := verdict.Finding{Verdict: verdict.Blocked, Clients: []int{1, 2}, From: 200 * ms, To: time.Second,
		Event: s.Last()}
	wantLines(t, lanesOf(t, s, lie, blocked),
		`^ +100 +EXIT\] released: "still mine" .*!! LIE to c1$`,
		`^ +200 +CRASH .*!! BLOCKED c1,c2 800ms$`)
}

// A story has an upper length, and keeps its beginning and its moral.
func TestStoryStaysShort(t *testing.T) {
	s := newScript("token", "long", 2, 1, time.Second)
	for i := range 40 {
		s.At(time.Duration(i)*time.Second).Read(1, i).Write(1, i, i+1)
	}
	told := Sentences("en", s.H, verdict.Judgement{Verdicts: []verdict.Word{verdict.Holds}})
	if len(told) != maxSentences {
		t.Errorf("%d sentences, want %d", len(told), maxSentences)
	}
	if last := told[len(told)-1].Text; !strings.HasPrefix(last, "HOLDS means") {
		t.Errorf("the story ends with %q", last)
	}
}

func TestShortCommand(t *testing.T) {
	for _, c := range []struct{ command, want string }{
		{"set lock token ex 10 nx", "SET EX NX"},
		{"SETNX lock nx", "SETNX"},
		{"INCR lock:fence", "INCR lock:fence"},
		{"WAIT 1 100", "WAIT 1"},
		{"MULTI ; DEL lock ; EXEC", "MULTI DEL EXEC"},
		{"SET lock t NX PX 1 ; WAIT 1 100", "SET NX PX; WAIT 1"},
		{"EVAL return 1 lock a", "EVAL " + scriptID([]string{"eval", "return"})},
		{"EVALSHA 0123456789abcdef 1 lock a", "EVALSHA 01234567"},
		{"EVALSHA 0123456789abcdef 1 other a", "EVALSHA 01234567 other"},
		{"CREATE /locks/lock/lock- EPHEMERAL_SEQUENTIAL", "CREATE lock-"},
		{"DELETE /locks/lock/lock-0000000012", "DELETE lock-12"},
	} {
		if got := Command(strings.Fields(c.command), "lock"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.command, got, c.want)
		}
	}
}

func TestShortReply(t *testing.T) {
	for reply, want := range map[string]string{
		"OK": "OK", "(nil)": "nil", "(error) NONODE no such node": "-NONODE",
		"/locks/lock/lock-0000000000":                "lock-0",
		"[lock-0000000011, _c_c2.1-lock-0000000002]": "[11, 2]",
		"[a, b]": "[a, b]", "[": "[",
	} {
		if got := Reply(reply); got != want {
			t.Errorf("%s: got %q, want %q", reply, got, want)
		}
	}
}

const ms = time.Millisecond

// Pages read all lists of a run, also of one without servers, as of a log: none is null.
func TestRunWithoutServers(t *testing.T) {
	run, _ := RunOf(&history.History{Clients: 1}, verdict.Judgement{}, nil, []string{"en"}, false)
	said, err := json.Marshal(run)
	if err != nil || strings.Contains(string(said), ":null") {
		t.Errorf("%s, %v", said, err)
	}
}
