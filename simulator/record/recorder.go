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
	err error // the first
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
// What the client does inside is its own to record, as Read and Wrote. A lock that can wait in line still
// can; what else it can do, such as Close, is for its owner to call on itself. Without a recorder it is the lock.
func Wrap(s lock.Lock, to *Recorder, client string) lock.Lock {
	if to == nil {
		return s
	}
	r := &recorded{s, to, client}
	if q, queues := s.(lock.Queuer); queues {
		return &queue{r, q}
	}
	return r
}

type recorded struct {
	lock.Lock
	to     *Recorder
	client string
}

// Acquire implements lock.Lock.
func (r *recorded) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	return r.call(key, func() (lock.Lease, error) { return r.Lock.Acquire(ctx, key) })
}

// call records a call for the lock.
func (r *recorded) call(key string, acquire func() (lock.Lease, error)) (lock.Lease, error) {
	line := Line{From: r.to.Now(), Client: r.client, Event: Acquired, Key: key}
	inner, err := acquire()
	if err != nil {
		line.Event, line.Note = Refused, err.Error()
		r.to.Record(line)
		return nil, err
	}
	if f, ok := lock.As[lock.Fencer](inner); ok {
		line.Token = f.FencingToken()
	}
	r.to.Record(line)
	l := &recordedLease{inner, r, key}
	if _, ok := lock.As[lock.Renewer](inner); ok {
		return &renewing{l}, nil
	}
	return l, nil
}

// queue is a lock that can wait in line.
type queue struct {
	*recorded
	inner lock.Queuer
}

var _ lock.Queuer = (*queue)(nil)

// Await implements lock.Queuer.
func (q *queue) Await(ctx context.Context, key string, patience time.Duration) (lock.Lease, error) {
	return q.call(key, func() (lock.Lease, error) { return q.inner.Await(ctx, key, patience) })
}

// A recordedLease records its end. Its other powers are those of what it wraps, see lock.As.
type recordedLease struct {
	lock.Lease
	by  *recorded
	key string
}

// Unwrap returns the lease itself.
func (l *recordedLease) Unwrap() lock.Lease { return l.Lease }

// Release implements lock.Lease.
func (l *recordedLease) Release(ctx context.Context) error {
	l.by.to.Record(Line{Client: l.by.client, Event: Leaving, Key: l.key})
	_, states := lock.As[lock.Reporter](l.Lease)
	line := Line{From: l.by.to.Now(), Client: l.by.client, Event: Released, Key: l.key}
	err := l.Lease.Release(ctx)
	line.OK, line.Note = answer(err, states)
	l.by.to.Record(line)
	return err
}

// answer is the error of a lock's release or renewal as OK and Note of a line:
// states reports whether no error means that the lock was still the caller's.
func answer(err error, states bool) (ok *bool, note string) {
	switch {
	case errors.Is(err, lock.ErrNotHeld):
		return new(false), err.Error()
	case err != nil:
		return nil, err.Error()
	case states:
		return new(true), ""
	}
	return nil, ""
}

// renewing is a lease that can be renewed.
type renewing struct{ *recordedLease }

var _ lock.Renewer = (*renewing)(nil)

// Renew implements lock.Renewer. An answer that says nothing about the lock is no line.
func (l *renewing) Renew(ctx context.Context) error {
	r, _ := lock.As[lock.Renewer](l.Lease)
	line := Line{From: l.by.to.Now(), Client: l.by.client, Event: Renewed, Key: l.key}
	err := r.Renew(ctx)
	if line.OK, line.Note = answer(err, true); line.OK != nil {
		l.by.to.Record(line)
	}
	return err
}
