package record_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// A fake is a lock in memory that says what it is told to.
type fake struct {
	taken *fakeLease
	fails error
}

type fakeLease struct {
	of    *fake
	says  error
	token uint64
}

func (f *fake) Acquire(context.Context, string) (lock.Lease, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	f.taken = &fakeLease{of: f, token: 7}
	return f.taken, nil
}

func (f *fake) Await(ctx context.Context, key string, _ time.Duration) (lock.Lease, error) {
	return f.Acquire(ctx, key)
}

func (l *fakeLease) Release(context.Context) error { return l.says }
func (l *fakeLease) Renew(context.Context) error   { return l.says }
func (l *fakeLease) FencingToken() uint64          { return l.token }
func (l *fakeLease) Reports()                      {}

// What the user of a lock sees becomes lines that the judges read, and the lock is what it was.
func TestWrap(t *testing.T) {
	var out bytes.Buffer
	to := NewRecorder(&out)
	f := &fake{}
	s := Wrap(f, to, "c1")
	if _, queues := s.(lock.Queuer); !queues {
		t.Error("it cannot wait in line any more")
	}
	if Wrap(f, nil, "c1") != lock.Strategy(f) {
		t.Error("without a recorder it is another lock")
	}
	ctx := t.Context()
	lease, err := s.Acquire(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	if fencer, ok := lock.As[lock.Fencer](lease); !ok || fencer.FencingToken() != 7 {
		t.Error("the token is lost")
	}
	renewer, ok := lock.As[lock.Renewer](lease)
	if !ok {
		t.Fatal("it cannot be renewed any more")
	}
	for _, says := range []error{nil, lock.ErrNotHeld, errors.New("timeout")} {
		f.taken.says = says
		if err := renewer.Renew(ctx); err != says {
			t.Errorf("%v becomes %v", says, err)
		}
	}
	if err := lease.Release(ctx); err != f.taken.says {
		t.Error(err)
	}
	f.fails = lock.ErrNotAcquired
	if _, err := s.(lock.Queuer).Await(ctx, "k", time.Second); err != lock.ErrNotAcquired {
		t.Error(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		l, err := Parse([]byte(line))
		if err != nil || l.Client != "c1" || l.Key != "k" || l.From.Known == (l.Event == Leaving) {
			t.Errorf("%s: %v", line, err)
		}
		word := string(l.Event)
		if l.OK != nil {
			word += map[bool]string{true: " yes", false: " no"}[*l.OK]
		}
		got = append(got, word)
	}
	if want := "acquired, renewed yes, renewed no, leaving, released, refused"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if r := judged(t, out.String()); r.Verdicts[0] != verdict.Holds || r.Acquired != 1 {
		t.Errorf("%+v", r)
	}
}

// A line that no reader takes is an error of its writer.
func TestRecorderRefuses(t *testing.T) {
	to := NewRecorder(&bytes.Buffer{})
	to.Record(Line{Event: Acquired, Key: "k"})
	if err := to.Close(); err == nil || !strings.Contains(err.Error(), "client") {
		t.Error(err)
	}
}
