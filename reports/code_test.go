package reports

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/simulator/history"
)

// lineOf finds a line of a lock's code by what stands in it.
func lineOf(t *testing.T, file, text string) string {
	t.Helper()
	source, err := fs.ReadFile(algorithms.Sources(), file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(source), "\n") {
		if strings.Contains(line, text) {
			return file + ":" + strconv.Itoa(i+1)
		}
	}
	t.Fatalf("%s has no line with %q", file, text)
	return ""
}

// Each request stands beside the lines that made it, the caller above what it
// calls, and the script that a marked line names stands below it.
func TestCode(t *testing.T) {
	acquire := []string{lineOf(t, "redis/commands.go", "reply := node.Do("), lineOf(t, "redis/create.go", `"NX", "PX", ttl.Milli`), lineOf(t, "redis/keylock.go", "s.create(ctx")}
	release := []string{lineOf(t, "redis/delete.go", "compareAndDeleteScript.Eval("), lineOf(t, "redis/keylock.go", "release.send(ctx")}
	h := &history.History{Clients: 1, Nodes: 1, Key: "lock"}
	ask := func(msg int, code []string, reply string, cmd ...string) {
		h.Events = append(h.Events,
			history.Event{Kind: history.Send, Client: 1, Node: 1, Msg: msg, Cmd: cmd, Code: code},
			history.Event{Kind: history.Apply, Client: 1, Node: 1, Msg: msg, Cmd: cmd, Reply: reply},
			history.Event{Kind: history.Answer, Client: 1, Node: 1, Msg: msg, Cmd: cmd, Reply: reply})
	}
	ask(1, acquire, "OK", "SET", "lock", "x", "NX", "PX", "1")
	ask(2, release, "1", "EVAL", "s", "1", "lock", "x")
	ask(3, nil, "1", "INCR", "counter") // the lock has not asked for this
	var b strings.Builder
	if err := Code(&b, h, Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	at := 0
	for _, want := range []string{
		"1  0  c1  SET NX PX -> OK", "2  0  c1  EVAL", "-> 1",
		"keylock.go:", "1 >     if err := s.create(", "create.go:", `1 >     return sendSET(`, "commands.go:", "1 >     reply := node.Do(",
		"2 >     return l.lock.release.send(", "delete.go:", "2 >     return notHeldIfZero(", "var compareAndDeleteScript = ", `return redis.call("DEL", KEYS[1])`,
	} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place:\n%s", want, got)
		}
		at += i
	}
	if strings.Contains(got, "INCR") {
		t.Errorf("what the lock has not asked for is told:\n%s", got)
	}
	if n := strings.Count(got, " > "); n != 5 {
		t.Errorf("%d lines are marked, want 5:\n%s", n, got)
	}
}

// A history that nobody watched has nothing to show.
func TestNoCode(t *testing.T) {
	var b strings.Builder
	h := &history.History{Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Send, Client: 1, Node: 1, Msg: 1, Cmd: []string{"GET", "x"}}}}
	if err := Code(&b, h, Options{}); err != nil || b.String() != "" {
		t.Errorf("%v, %q", err, b.String())
	}
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{"1": {1}, "1-3,7": {1, 2, 3, 7}, "2,4-5": {2, 4, 5}, "1-2": {1, 1, 2}} {
		if got := ranges(numbers); got != want {
			t.Errorf("%v: %s, want %s", numbers, got, want)
		}
	}
}
