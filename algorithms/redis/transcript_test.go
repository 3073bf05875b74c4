package redis_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
)

var update = flag.Bool("update", false, "write testdata/*.txt from what the strategies send")

// TestWire compares every command that a strategy sends with a transcript in testdata,
// one for each strategy; of one that sends what an earlier one does it names that. The sequence is always the same: A
// acquires, B is refused, A releases; A acquires again and dies, and B tries again after one lease.
func TestWire(t *testing.T) {
	first := map[string]string{} // strategies by what they send
	for _, e := range algorithms.OnRedis() {
		name, sent, _ := strings.Cut(transcript(t, e), "\n")
		if first[sent] == "" {
			first[sent] = e.ID
		}
		t.Run(e.ID, func(t *testing.T) {
			got := name + "\n" + sent
			if first[sent] != e.ID {
				got = name + "\nas " + first[sent] + "\n"
			}
			golden := filepath.Join("testdata", e.ID+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: go test -run TestWire -update writes it", err)
			}
			if got != string(want) {
				t.Errorf("%s differs: read the diff after go test -run TestWire -update\n%s", golden, got)
			}
		})
	}
}

func transcript(t *testing.T, e lock.Entry) string {
	var log strings.Builder
	name := e.ID
	if articles := e.Names()[1:]; len(articles) > 0 {
		name += " (" + strings.Join(articles, ", ") + ")"
	}
	fmt.Fprintf(&log, "# %s\n# TTL %v; clocks begin at %d ms\n", name, e.TTL, epoch.UnixMilli())
	s := newTestbed(t, e.Servers())
	a, b := s.process(t, e, "A"), s.process(t, e, "B")
	seen := map[string]bool{}
	for _, p := range []*process{a, b} {
		for i, c := range p.conns {
			margin := "  "
			if len(p.conns) > 1 {
				margin = fmt.Sprintf("  node %d  ", i+1)
			}
			c.AddHook(recorder{&log, margin, seen})
		}
	}
	acquire := func(what string, p *process) lock.Lease {
		fmt.Fprintf(&log, "\n%s\n", what)
		lease, err := p.Acquire(t.Context(), "lock")
		fmt.Fprintf(&log, "= %s\n", outcome(err, "acquired"))
		return lease
	}
	lease := acquire("A acquires", a)
	acquire("B acquires", b)
	fmt.Fprint(&log, "\nA releases\n")
	fmt.Fprintf(&log, "= %s\n", outcome(lease.Release(t.Context()), "released"))
	acquire("A acquires again, and dies", a)
	later := "one lease and a millisecond"
	switch d := s.lapse(e, b); {
	case d == e.TTL+time.Second:
		later = "one lease and a second"
	case d > e.TTL+time.Second: // the key has outlived it
		later = d.String()
	}
	acquire("B acquires, "+later+" later", b)
	return log.String()
}

func outcome(err error, done string) string {
	if err != nil {
		return err.Error()
	}
	return done
}

// A recorder records each command and its reply.
type recorder struct {
	log    *strings.Builder
	margin string
	seen   map[string]bool // scripts that the log has in full
}

func (s recorder) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s recorder) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			s.write(cmd, cmd.Err())
		}
		return err
	}
}

func (s recorder) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		s.write(cmd, err)
		return err
	}
}

func (s recorder) write(cmd redis.Cmder, err error) {
	if cmd.Name() != "hello" { // the connection's greeting, not the strategy's
		fmt.Fprintf(s.log, "%s%s -> %s\n", s.margin, s.words(cmd.Args()), reply(cmd, err))
	}
}

// words joins arguments as one would type them. A script is printed on lines of its
// own the first time, and not repeated.
func (s recorder) words(args []any) string {
	var typed []string
	for _, arg := range args {
		word := fmt.Sprint(arg)
		switch {
		case s.seen[word]:
			word = "[the same script]"
		case strings.Contains(word, "\n"):
			s.seen[word] = true
			lines := strings.Split(strings.TrimSpace(word), "\n")
			word = "[\n      " + strings.Join(lines, "\n      ") + "\n  ]"
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
