package reports

import (
	"strings"
	"testing"
	"testing/fstest"

	"locklab/simulator/history"
)

const lockCode = `package redis

func (l *keyLock) Acquire(ctx context.Context) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	return nil
}

func (l *keyLock) Release(ctx context.Context) error {
	return l.give(ctx)
}
`

const commandCode = `package redis

var compareAndDelete = redis.NewScript("return redis.call('DEL', KEYS[1])")

func set(ctx context.Context, node Node) error {
	reply := node.Do(ctx, "SET")
	return reply.Err()
}

func (l *keyLock) give(ctx context.Context) error {
	return changed(compareAndDelete.Eval(ctx, l.node))
}
`

// Each request stands beside the lines that made it, the caller above what it
// calls, and the script that a marked line names stands below it.
func TestCode(t *testing.T) {
	sources := fstest.MapFS{"redis/keylock.go": {Data: []byte(lockCode)}, "redis/commands.go": {Data: []byte(commandCode)}}
	acquire := []string{"redis/commands.go:6", "redis/keylock.go:4"}
	release := []string{"redis/commands.go:11", "redis/keylock.go:11"}
	h := &history.History{Clients: 1, Nodes: 1, Key: "lock"}
	ask := func(msg int, code []string, reply string, cmd ...string) {
		h.Events = append(h.Events,
			history.Event{Kind: history.Send, Client: 1, Node: 1, Msg: msg, Cmd: cmd, Code: code},
			history.Event{Kind: history.Apply, Client: 1, Node: 1, Msg: msg, Cmd: cmd, Reply: reply},
			history.Event{Kind: history.Answer, Client: 1, Node: 1, Msg: msg, Cmd: cmd, Reply: reply})
	}
	ask(1, acquire, "OK", "SET", "lock", "x", "NX", "PX", "1")
	ask(2, release, "1", "EVAL", "s", "1", "lock", "x")
	ask(3, nil, "1", "INCR", "counter") // not a request of the lock
	all, err := declarationsIn(sources, "*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := code(Look{Width: 120}.Lines(&b), h, all); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	at := 0
	for _, want := range []string{
		"1  0  c1  SET NX PX -> OK", "2  0  c1  EVAL", "-> 1",
		"redis/keylock.go:", "1 >     if err := l.take(", "redis/commands.go:", "1 >     reply := node.Do(",
		"redis/keylock.go:", "2 >     return l.give(", "redis/commands.go:", "2 >     return changed(", "var compareAndDelete = ",
	} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place:\n%s", want, got)
		}
		at += i
	}
	if strings.Contains(got, "INCR") {
		t.Errorf("a request that is not the lock's is shown:\n%s", got)
	}
	if n := strings.Count(got, " > "); n != 4 {
		t.Errorf("%d lines are marked, want 4:\n%s", n, got)
	}
}

// A history without code has nothing to show.
func TestNoCode(t *testing.T) {
	var b strings.Builder
	h := &history.History{Clients: 1, Nodes: 1, Events: []history.Event{{Kind: history.Send, Client: 1, Node: 1, Msg: 1, Cmd: []string{"GET", "x"}}}}
	if err := Code(&b, h, Look{}); err != nil || b.String() != "" {
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
