package record

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"locklab/algorithms/lock"
)

// A Recorder writes the lines of one process. Its instants never go backwards, whatever happens to
// the machine's clock. Goroutines may share it.
type Recorder struct {
	began time.Time

	mu  sync.Mutex
	out *bufio.Writer
	to  *json.Encoder
	err error
}

// NewRecorder writes to w. Close writes out what is left.
func NewRecorder(w io.Writer) *Recorder {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	return &Recorder{began: time.Now(), out: out, to: to}
}

// Now is the instant of the machine's clock when the recorder was made, and the time since then.
func (r *Recorder) Now() Instant { return InstantOf(r.began.Add(time.Since(r.began))) }

// Record writes a line. One without an instant happens now. The first error is kept for Close.
func (r *Recorder) Record(l Line) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.At.Known {
		l.At = r.Now()
	}
	if err := l.check(); err != nil && r.err == nil {
		r.err = err
	}
	if r.err == nil {
		r.err = r.to.Encode(l)
	}
}

// Close writes out what is left, and returns the first error. It does not close what is written to.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.out.Flush(); r.err == nil {
		r.err = err
	}
	return r.err
}

// Wrap records what the user of a lock sees: a client of that name, one thread of one process.
// What the client does inside is its own to record, as Read and Wrote. A strategy that can wait in line still
// can; what else it can do, such as Close, is for its owner to call on itself. Without a recorder it is the strategy.
func Wrap(s lock.Strategy, to *Recorder, client string) lock.Strategy {
	r := &recorded{s, to, client}
	q, queues := s.(lock.Queuer)
	switch {
	case to == nil:
		return s
	case queues:
		return &queue{r, q}
	}
	return r
}

type recorded struct {
	lock.Strategy
	to     *Recorder
	client string
}

var _ lock.Strategy = (*recorded)(nil)

// Acquire implements lock.Strategy.
func (r *recorded) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return r.call(key, func() (lock.Lease, error) { return r.Strategy.Acquire(ctx, key) })
}

// call records a call for the lock.
func (r *recorded) call(key string, acquire func() (lock.Lease, error)) (lock.Lease, error) {
	from := r.to.Now()
	inner, err := acquire()
	if err != nil {
		r.to.Record(Line{From: from, Client: r.client, Event: Refused, Key: key, Note: err.Error()})
		return nil, err
	}
	l := &recordedLease{inner, r, key}
	l.acquired(from)
	if _, ok := lock.As[lock.Renewer](inner); ok {
		return &renewing{l}, nil
	}
	return l, nil
}

// queue is a strategy that can wait in line.
type queue struct {
	*recorded
	inner lock.Queuer
}

var _ lock.Queuer = (*queue)(nil)

// Await implements lock.Queuer.
func (q *queue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	return q.call(key, func() (lock.Lease, error) { return q.inner.Await(ctx, key, patience) })
}

// A lease records its end. Its other powers are those of what it wraps, see lock.As.
type recordedLease struct {
	lock.Lease
	by  *recorded
	key string
}

// Unwrap returns the lease itself.
func (l *recordedLease) Unwrap() lock.Lease { return l.Lease }

func (l *recordedLease) acquired(from Instant) {
	line := Line{From: from, Client: l.by.client, Event: Acquired, Key: l.key}
	if f, ok := lock.As[lock.Fencer](l.Lease); ok {
		line.Token = f.FencingToken()
	}
	l.by.to.Record(line)
}

// Release implements lock.Lease.
func (l *recordedLease) Release(ctx context.Context) error {
	l.by.to.Record(Line{Client: l.by.client, Event: Leaving, Key: l.key})
	from := l.by.to.Now()
	err := l.Lease.Release(ctx)
	line := Line{From: from, Client: l.by.client, Event: Released, Key: l.key}
	_, reports := lock.As[lock.Reporter](l.Lease)
	line.OK, line.Note = Answer(err, reports)
	l.by.to.Record(line)
	return err
}

// Answer translates the error of a lock's release, renewal or check, as OK and Note of a line:
// states reports whether no error means that the lock was still the caller's.
func Answer(err error, states bool) (ok *bool, note string) {
	switch {
	case err == nil && states:
		return new(true), ""
	case errors.Is(err, lock.ErrNotHeld):
		return new(false), err.Error()
	case err != nil:
		return nil, err.Error()
	}
	return nil, ""
}

// renewing is a lease that can be renewed.
type renewing struct{ *recordedLease }

var _ lock.Renewer = (*renewing)(nil)

// Renew implements lock.Renewer.
func (l *renewing) Renew(ctx context.Context) error {
	r, _ := lock.As[lock.Renewer](l.Lease)
	from := l.by.to.Now()
	err := r.Renew(ctx)
	if ok, note := Answer(err, true); ok != nil {
		l.by.to.Record(Line{From: from, Client: l.by.client, Event: Renewed, Key: l.key, OK: ok, Note: note})
	}
	return err
}
