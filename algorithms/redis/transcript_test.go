package redis_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	onredis "locklab/algorithms/redis"
)

var update = flag.Bool("update", false, "write testdata/wire.txt from what the locks send")

// TestWire compares every command that a lock sends with its part of testdata/wire.txt. The sequence is always the
// same: A acquires, B is refused, A releases; A acquires again and dies, and B tries again after one lease. A script
// stands before the first lock that sends it. A lock that sends the same as an earlier one only names it.
func TestWire(t *testing.T) {
	const file = "testdata/wire.txt"
	scripts, same := map[string]string{}, map[string]string{}
	got := fmt.Sprintf("# What each lock sends. The clocks begin at %d ms.\n", epoch.UnixMilli())
	parts := map[string]string{}
	for _, e := range onredis.All() {
		r := &recorder{name: e.ID, scripts: scripts}
		sent := transcript(t, e, r)
		head := fmt.Sprintf("== %s: TTL %v\n", strings.Join(e.Names(), " "), e.TTL)
		if first := same[sent]; first != "" {
			sent = "as " + first + "\n"
		} else {
			same[sent] = e.ID
		}
		parts[e.ID] = r.written + head + sent
		got += "\n" + parts[e.ID]
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v: go test -run TestWire -update writes it", err)
	}
	if got == string(want) {
		return
	}
	for _, e := range onredis.All() {
		if !strings.Contains(string(want), "\n"+parts[e.ID]) {
			t.Errorf("%s does not have this: read the diff after go test -run TestWire -update\n%s", file, parts[e.ID])
		}
	}
	if !t.Failed() {
		t.Errorf("%s has more, or another order: read the diff after go test -run TestWire -update", file)
	}
}

func transcript(t *testing.T, e lock.Entry, r *recorder) (all string) {
	s := newTestbed(t, e.Servers())
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	for _, p := range []*process{a, b} {
		for i, c := range p.conns {
			node := ""
			if len(p.conns) > 1 {
				node = fmt.Sprint(i + 1)
			}
			c.AddHook(hook{recorder: r, node: node})
		}
	}
	step := func(what, outcome string) { all += what + ": " + outcome + "\n" + r.taken() }
	acquire := func(what string, p *process) lock.Lease {
		lease, err := p.Acquire(t.Context(), "lock")
		step(what, outcome(err, "acquired"))
		return lease
	}
	lease := acquire("A acquires", a)
	acquire("B acquires", b)
	step("A releases", outcome(lease.Release(t.Context()), "released"))
	acquire("A acquires again, and dies", a)
	later := "one lease and a millisecond"
	switch d := s.lapse(e, b); {
	case d == e.TTL+time.Second:
		later = "one lease and a second"
	case d > e.TTL+time.Second: // the key has outlived it
		later = d.String()
	}
	acquire("B acquires, "+later+" later", b)
	return all
}

func outcome(err error, done string) string {
	if err != nil {
		return err.Error()
	}
	return done
}

// A recorder records the commands of a lock and their replies.
type recorder struct {
	name    string            // the lock's
	scripts map[string]string // a name for each script that a lock has sent
	written string            // the scripts that this one was the first to send
	sent    []sent
}

// A sent is a command and its reply, or the same ones of several servers in a row.
type sent struct{ nodes, text string }

// taken returns what was sent since it was last called, as lines.
func (r *recorder) taken() string {
	var b strings.Builder
	for _, s := range r.sent {
		fmt.Fprintf(&b, "  %s%s\n", s.nodes, s.text)
	}
	r.sent = nil
	return b.String()
}

// A hook records what one connection sends.
type hook struct {
	noHook
	*recorder
	node string // its server, where there are several
}

func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			h.write(cmd, cmd.Err())
		}
		return err
	}
}

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		h.write(cmd, err)
		return err
	}
}

func (h hook) write(cmd redis.Cmder, err error) {
	if cmd.Name() == "hello" { // the connection's greeting, not the lock's
		return
	}
	text := fmt.Sprintf("  %s -> %s", h.words(cmd.Args()), reply(cmd, err))
	if last := len(h.sent) - 1; last >= 0 && h.node != "" && h.sent[last].text == text {
		h.sent[last].nodes += h.node
		return
	}
	node := ""
	if h.node != "" {
		node = "node " + h.node
	}
	h.sent = append(h.sent, sent{node, text})
}

// words joins arguments as one would type them. A script has a name, and is written down the first time.
func (r *recorder) words(args []any) string {
	var typed []string
	for _, arg := range args {
		word := fmt.Sprint(arg)
		if strings.Contains(word, "\n") {
			if r.scripts[word] == "" {
				r.scripts[word] = fmt.Sprintf("[%s %d]", r.name, strings.Count(r.written, "["+r.name+" ")+1)
				lines := strings.ReplaceAll(strings.TrimSpace(word), "\n", "\n  ")
				r.written += r.scripts[word] + "\n  " + lines + "\n\n"
			}
			word = r.scripts[word]
		}
		typed = append(typed, word)
	}
	return strings.Join(typed, " ")
}

// reply returns what the server answered, in words.
func reply(cmd redis.Cmder, err error) string {
	switch {
	case errors.Is(err, redis.Nil):
		return "nil"
	case err != nil:
		return err.Error()
	}
	// Every command prints itself as "name arg …: reply".
	text := cmd.String()
	text = text[strings.LastIndex(text, ": ")+2:]
	// go-redis turns the 1 and 0 of some commands into these.
	return strings.NewReplacer("true", "1", "false", "0").Replace(text)
}
